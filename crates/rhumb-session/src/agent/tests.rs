//! The agent loop with a scripted model and a scripted host.

use super::*;
use crate::{
    AskEvent, Attachment, Command, Connection, EffectKind, LookedUp, MentionResponse, Response, Subject, Summarized,
    parse_command,
};
use rhumb_edit::review::HunkMark;
use rhumb_edit::{FileChange, FileProposal};
use rhumb_llm::{Finish, Role, StreamEvent};

fn session() -> Session {
    Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0
}

/// Starts a loop. Its search for passages has found nothing.
fn start(session: &mut Session, message: &str) -> RequestSpec {
    let (sent, effects) = session.send_in_mode(message, Mode::Agent);
    assert!(sent);
    let searches = effects.iter().any(|effect| effect.kind() == EffectKind::Codebase);
    assert!(searches, "{effects:?}");
    let turn = session.turn().unwrap().number;
    let found = crate::CodebaseResponse::Found { turn, found: crate::FoundPassages::default() };
    asked(session.handle(Response::Codebase(found)))
}

fn asked(effects: Vec<Effect>) -> RequestSpec {
    let found = effects.into_iter().find_map(|effect| match effect {
        Effect::Ask(spec) => Some(*spec),
        _ => None,
    });
    found.expect("a request")
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), ..ToolCall::default() }
}

fn read(id: &str, path: &str) -> ToolCall {
    call(id, "read_file", &format!(r#"{{"path":"{path}"}}"#))
}

/// Ends the running request with these calls, or with the text alone.
fn answer(session: &mut Session, text: &str, calls: Vec<ToolCall>) -> Vec<Effect> {
    let turn = session.turn().unwrap().number;
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    let finish = if calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
    let completion = Completion { tool_calls: calls, ..Completion::new(finish, None) };
    session.handle(Response::Ended { turn, result: Ok(completion) })
}

fn performed(effects: &[Effect]) -> Vec<PendingCall> {
    let calls = effects.iter().filter_map(|effect| match effect {
        Effect::Agent(AgentEffect::Perform { calls, .. }) => Some(calls.clone()),
        _ => None,
    });
    calls.flatten().collect()
}

fn done(session: &mut Session, number: usize, outcome: ToolOutcome) -> Vec<Effect> {
    let turn = session.turn().map_or(0, |turn| turn.number);
    session.handle(Response::Agent(AgentResponse::Done { turn, number, outcome: Box::new(outcome) }))
}

fn result(text: &str) -> ToolOutcome {
    ToolOutcome { ok: true, text: text.into(), tokens: 100, summary: "1 line".into(), ..ToolOutcome::default() }
}

fn edited(base: &str, proposed: &str) -> ToolOutcome {
    let file = FileProposal {
        path: "a.py".into(),
        change: FileChange::Modify,
        base: Some(base.into()),
        proposed: Some(proposed.into()),
    };
    let proposal = Proposal { files: vec![file], ..Proposal::default() };
    ToolOutcome { proposal: Some(proposal), ..result("a.py: edited") }
}

/// The result of an edit that leaves the file on disk unchanged.
fn taken_back() -> ToolOutcome {
    let files = std::collections::BTreeMap::from([("a.py".to_owned(), b"1\n".to_vec())]);
    let edit = rhumb_edit::Edit::replace("a.py", "2", "1");
    let reply = rhumb_edit::ParsedReply { edits: vec![edit], ..rhumb_edit::ParsedReply::default() };
    let pending = PendingFile {
        file: FileProposal {
            path: "a.py".into(),
            change: FileChange::Modify,
            base: Some("1\n".into()),
            proposed: Some("2\n".into()),
        },
        commented: Vec::new(),
    };
    let pending = rhumb_edit::PendingChanges { files: vec![pending], refused: Vec::new() };
    ToolOutcome { proposal: Some(rhumb_edit::propose_all(&pending, &[reply], &files)), ..result("edited") }
}

fn edit(id: &str) -> ToolCall {
    call(id, "edit", r#"{"path":"a.py","search":"1","replace":"2"}"#)
}

fn tools(session: &Session) -> Vec<(usize, ToolState)> {
    let tool = |entry: &Entry| match entry {
        Entry::Tool(tool) => Some((tool.number, tool.state)),
        _ => None,
    };
    session.transcript().iter().filter_map(tool).collect()
}

#[test]
fn a_call_is_performed_and_its_result_is_part_of_the_next_request() {
    let mut session = session();
    let first = start(&mut session, "fix it");
    assert_eq!((first.draft.as_str(), first.exchange.len(), first.mode), ("fix it", 0, Mode::Agent));
    assert!(first.tools.is_some_and(|tools| tools.run && tools.edits));
    let calls = performed(&answer(&mut session, "Let me look.", vec![read("c1", "a.py")]));
    assert_eq!(calls.len(), 1);
    let next = asked(done(&mut session, 1, result("one\ntwo")));
    assert!(next.draft.is_empty());
    let [message, step, results] = next.exchange.as_slice() else { panic!("{:?}", next.exchange) };
    assert_eq!((message.role, message.content.as_str()), (Role::User, "fix it"));
    assert_eq!((step.content.as_str(), step.tool_calls[0].id.as_str()), ("Let me look.", "c1"));
    assert_eq!((results.role, results.tool_results[0].content.as_str()), (Role::User, "one\ntwo"));
    answer(&mut session, "Done.", Vec::new());
    assert!(session.turn().is_none() && session.agent_end() == Some(&AgentEnd::Finished));
}

#[test]
fn calls_that_read_run_together_and_others_one_at_a_time() {
    let mut session = session();
    start(&mut session, "go");
    let calls = vec![read("1", "a"), read("2", "b"), edit("3"), edit("4"), read("5", "c")];
    let numbers = |effects: &[Effect]| performed(effects).iter().map(|call| call.number).collect::<Vec<_>>();
    let effects = answer(&mut session, "", calls);
    assert_eq!(numbers(&effects), [1, 2]);
    assert!(done(&mut session, 2, result("b")).is_empty(), "the first read still runs");
    let effects = done(&mut session, 1, result("a"));
    assert_eq!(numbers(&effects), [3]);
    let effects = done(&mut session, 3, edited("1\n", "2\n"));
    assert_eq!(numbers(&effects), [4]);
    let Some(Effect::Agent(AgentEffect::Perform { view, .. })) = effects.first() else { panic!("{effects:?}") };
    assert_eq!(view.pending[0].file.proposed.as_deref(), Some("2\n"), "the next edit sees the one before");
    let effects = done(&mut session, 4, result("x"));
    assert_eq!(numbers(&effects), [5]);
    let next = asked(done(&mut session, 5, result("c")));
    assert_eq!(next.exchange.last().unwrap().tool_results.len(), 5, "all results are in one message");
}

#[test]
fn a_call_with_wrong_arguments_is_answered_with_what_the_tool_takes() {
    let mut session = session();
    start(&mut session, "go");
    let next =
        asked(answer(&mut session, "", vec![call("1", "read_file", r#"{"nothing":1}"#), call("2", "fly", "{}")]));
    let results = &next.exchange.last().unwrap().tool_results;
    assert!(results[0].is_error && results[0].content.contains("path"), "{results:?}");
    assert!(results[1].is_error && results[1].content.contains("fly"), "{results:?}");
}

#[test]
fn what_the_user_says_meanwhile_goes_with_the_next_result() {
    let mut session = session();
    start(&mut session, "go");
    answer(&mut session, "", vec![read("1", "a")]);
    assert!(session.send("not that file").0);
    assert_eq!(session.steering(), ["not that file"]);
    let next = asked(done(&mut session, 1, result("a")));
    let last = next.exchange.last().unwrap();
    assert_eq!((last.tool_results.len(), last.content.as_str()), (1, "not that file"));
    // And after an answer without calls, the loop goes on with it.
    session.send("one more thing");
    let next = asked(answer(&mut session, "Done.", Vec::new()));
    assert_eq!(next.exchange.last().unwrap().content, "one more thing");
    answer(&mut session, "Done too.", Vec::new());
    assert!(session.turn().is_none());
}

#[test]
fn the_first_interruption_pauses_after_the_step_and_the_second_stops() {
    let mut session = session();
    start(&mut session, "go");
    answer(&mut session, "", vec![read("1", "a")]);
    assert!(session.interrupt().is_empty());
    assert!(session.agent_status().unwrap().is_pausing);
    done(&mut session, 1, result("a"));
    assert!(session.turn().is_none() && session.agent_end() == Some(&AgentEnd::Paused));
    let next = asked(session.command(Command::Continue));
    assert_eq!(next.exchange.last().unwrap().tool_results[0].content, "a");
    answer(&mut session, "", vec![read("2", "b"), read("3", "c")]);
    session.interrupt();
    let effects = session.interrupt();
    assert!(effects.contains(&Effect::Cancel), "{effects:?}");
    assert_eq!(tools(&session)[1..], [(2, ToolState::Stopped), (3, ToolState::Stopped)]);
    assert!(done(&mut session, 2, result("late")).is_empty(), "a late result is ignored");
    let next = asked(session.command(Command::Continue));
    assert!(next.exchange.last().unwrap().tool_results[0].content.contains("stopped"));
}

#[test]
fn caps_and_repetitions_end_the_loop_and_keep_its_work() {
    let mut session = session();
    session.set_agent_rules(AgentRules { caps: Caps { steps: Some(2), ..Caps::default() }, ..AgentRules::default() });
    start(&mut session, "go");
    for number in 1..=2 {
        answer(&mut session, "", vec![edit(&number.to_string())]);
        done(&mut session, number, edited("1\n", &format!("{}\n", number + 1)));
    }
    assert_eq!(session.agent_end(), Some(&AgentEnd::Stopped(Stop::Steps(2))));
    assert_eq!(session.review().files[0].proposed.as_deref(), Some("3\n"));
    // The user raises the cap while it stands, and goes on.
    session.command(parse_command("/cap steps 50").unwrap());
    asked(session.command(Command::Continue));
    for number in 3.. {
        let effects = answer(&mut session, "", vec![read(&number.to_string(), "same")]);
        assert!(!performed(&effects).is_empty());
        done(&mut session, number, result("same"));
        if session.turn().is_none() {
            assert_eq!(session.agent_end(), Some(&AgentEnd::Stopped(Stop::Repeated(3))), "after {number}");
            break;
        }
        assert!(number < 20, "the repetition is not noticed");
    }
}

#[test]
fn a_step_can_be_taken_back_with_the_proposal_of_its_time() {
    let mut session = session();
    start(&mut session, "go");
    answer(&mut session, "", vec![edit("1")]);
    done(&mut session, 1, edited("1\n", "2\n"));
    answer(&mut session, "", vec![edit("2")]);
    done(&mut session, 2, edited("1\n", "3\n"));
    answer(&mut session, "Done.", Vec::new());
    assert_eq!(session.review().files[0].proposed.as_deref(), Some("3\n"));
    session.command(parse_command("/rewind step 1").unwrap());
    assert_eq!(session.review().files[0].proposed.as_deref(), Some("2\n"));
    assert_eq!(tools(&session), [(1, ToolState::Done)]);
    let next = asked(session.command(Command::Continue));
    assert_eq!(next.exchange.len(), 3);
    session.cancel();
    session.command(parse_command("/rewind step 0").unwrap());
    assert!(session.review().is_empty() && tools(&session).is_empty());
}

#[test]
fn a_step_before_a_write_is_taken_back_without_its_proposal() {
    let mut session = session();
    start(&mut session, "go");
    for (number, id) in [(1, "1"), (2, "2")] {
        answer(&mut session, "", vec![edit(id)]);
        done(&mut session, number, edited("1\n", &format!("{}\n", number + 1)));
    }
    answer(&mut session, "Done.", Vec::new());
    session.forget_snapshots();
    session.command(parse_command("/rewind step 1").unwrap());
    assert_eq!(session.review().files[0].proposed.as_deref(), Some("3\n"), "the files have changed since");
    assert!(
        session
            .transcript()
            .iter()
            .any(|entry| matches!(entry, Entry::Status(status) if status.text.contains("not kept")))
    );
}

#[test]
fn hunks_name_their_step_and_the_command_that_ran_on_them() {
    let mut session = session();
    start(&mut session, "go");
    answer(&mut session, "", vec![edit("1")]);
    done(&mut session, 1, edited("1\n", "2\n"));
    answer(&mut session, "", vec![call("2", "run", r#"{"command":"make test"}"#)]);
    done(&mut session, 2, ToolOutcome { ok: false, run: Some(("make test".into(), false)), ..result("exit 1") });
    let ran = |passed| HunkMark::Ran { command: "make test".into(), passed };
    assert_eq!(session.review().files[0].hunks[0].marks, [HunkMark::Step(1), ran(false)]);
    answer(&mut session, "", vec![call("3", "run", r#"{"command":"make test"}"#)]);
    done(&mut session, 3, ToolOutcome { run: Some(("make test".into(), true)), ..result("exit 0") });
    assert_eq!(session.review().files[0].hunks[0].marks, [HunkMark::Step(1), ran(true)]);
}

#[test]
fn an_edit_that_takes_a_change_back_leaves_nothing_to_review() {
    let mut session = session();
    start(&mut session, "go");
    answer(&mut session, "", vec![edit("1")]);
    done(&mut session, 1, edited("1\n", "2\n"));
    assert_eq!(session.review().files.len(), 1);
    answer(&mut session, "", vec![edit("2")]);
    done(&mut session, 2, taken_back());
    assert!(session.review().is_empty(), "{:?}", session.review());
}

#[test]
fn a_command_that_needs_consent_waits_for_the_answer() {
    let mut session = session();
    start(&mut session, "go");
    answer(&mut session, "", vec![call("1", "run", r#"{"command":"curl x","network":true}"#)]);
    let turn = session.turn().unwrap().number;
    let needs = |number| {
        let (command, reason) = ("curl x".to_owned(), "It asks for the network.".to_owned());
        Response::Agent(AgentResponse::NeedsApproval { turn, number, command, reason })
    };
    session.handle(needs(1));
    assert!(matches!(&session.questions().first().unwrap().subject, Subject::Agent(AgentQuestion::Run(1, _))));
    let next = asked(session.answer('n'));
    assert!(next.exchange.last().unwrap().tool_results[0].content.contains("did not allow"));
    answer(&mut session, "", vec![call("2", "run", r#"{"command":"curl x","network":true}"#)]);
    session.handle(needs(2));
    let calls = performed(&session.answer('y'));
    assert!(calls[0].is_approved && calls[0].number == 2);
}

#[test]
fn a_command_of_several_lines_must_be_read_before_it_can_be_approved() {
    let mut session = session();
    start(&mut session, "go");
    for (number, command, must) in [(1, "curl x", false), (2, "curl x\nrm y", true)] {
        answer(&mut session, "", vec![call(&number.to_string(), "run", r#"{"command":"curl x"}"#)]);
        let (turn, command) = (session.turn().unwrap().number, command.to_owned());
        session.handle(Response::Agent(AgentResponse::NeedsApproval { turn, number, command, reason: String::new() }));
        assert_eq!(session.questions().first().unwrap().must_be_read(), must);
        session.answer('n');
    }
}

#[test]
fn a_long_address_must_be_read_before_it_can_be_fetched() {
    let mut session = session();
    start(&mut session, "go");
    for (number, path, must) in [(1, "a".to_owned(), false), (2, "a".repeat(500), true)] {
        let arguments = format!(r#"{{"url":"https://example.com/{path}"}}"#);
        answer(&mut session, "", vec![call(&number.to_string(), "fetch_url", &arguments)]);
        let question = session.questions().first().unwrap();
        assert!(question.title.starts_with("Fetch https://example.com/a"), "{}", question.title);
        assert_eq!(question.must_be_read(), must);
        session.answer('n');
    }
}

#[test]
fn a_question_of_the_model_is_answered_by_a_key_or_in_words() {
    let mut session = session();
    start(&mut session, "go");
    let ask = |id: &str| call(id, "ask_user", r#"{"question":"Which?","options":["left","right"]}"#);
    answer(&mut session, "", vec![ask("1")]);
    let next = asked(session.answer('2'));
    assert_eq!(next.exchange.last().unwrap().tool_results[0].content, "right");
    answer(&mut session, "", vec![ask("2")]);
    session.send("neither, go straight on");
    assert!(session.questions().is_empty());
    assert_eq!(tools(&session)[1], (2, ToolState::Done));
}

#[test]
fn a_page_that_the_user_has_not_named_needs_consent() {
    let mut session = session();
    session.note_addresses("see https://example.com/a, please");
    start(&mut session, "see https://example.com/a, please");
    let fetch = |id: &str, url: &str| call(id, "fetch_url", &format!(r#"{{"url":"{url}"}}"#));
    let effects = answer(&mut session, "", vec![fetch("1", "https://example.com/a")]);
    assert_eq!(performed(&effects).len(), 1);
    done(&mut session, 1, result("page"));
    answer(&mut session, "", vec![fetch("2", "https://example.com/?secret")]);
    assert!(matches!(&session.questions().first().unwrap().subject, Subject::Agent(AgentQuestion::Fetch(2, _))));
    let next = asked(session.answer('n'));
    assert!(next.exchange.last().unwrap().tool_results[0].is_error);
}

#[test]
fn the_plan_is_that_of_the_last_call() {
    let mut session = session();
    start(&mut session, "go");
    let plan = r#"{"items":[{"text":"read","state":"completed"},{"text":"edit","state":"in_progress"}]}"#;
    answer(&mut session, "", vec![call("1", "plan", plan)]);
    let items: Vec<String> = session.agent_plan().into_iter().map(|item| item.text).collect();
    assert_eq!(items, ["read", "edit"]);
}

#[test]
fn a_server_without_tool_calls_gets_them_as_text() {
    let mut session = session();
    start(&mut session, "go");
    let turn = session.turn().unwrap().number;
    let error = AskError::Provider(LlmError::NoTools { message: "no".into() });
    let again = asked(session.handle(Response::Ended { turn, result: Err(error) }));
    assert!(again.text_protocol && again.draft == "go" && again.exchange.is_empty(), "{again:?}");
    let text = format!("Look:\n\n{}", protocol::render_call("read_file", &serde_json::json!({"path": "a.py"})));
    let effects = answer(&mut session, &text, Vec::new());
    assert_eq!(performed(&effects).len(), 1, "{effects:?}");
    let next = asked(done(&mut session, 1, result("one")));
    assert_eq!(next.exchange[1].content, "Look:");
}

#[test]
fn a_failed_request_keeps_the_steps_and_can_be_continued() {
    let mut session = session();
    start(&mut session, "go");
    let turn = session.turn().unwrap().number;
    answer(&mut session, "", vec![read("1", "a")]);
    done(&mut session, 1, result("a"));
    let error = AskError::Provider(LlmError::Idle(9));
    session.handle(Response::Ended { turn, result: Err(error) });
    assert!(session.turn().is_none() && session.agent_end() == Some(&AgentEnd::Failed));
    let next = asked(session.command(Command::Continue));
    assert_eq!(next.exchange.last().unwrap().tool_results[0].content, "a");
}

#[test]
fn each_request_of_a_loop_begins_with_the_one_before() {
    let mut session = session();
    session.send_in_mode("fix @lamp", Mode::Agent);
    let turn = session.turn().unwrap().number;
    let found = crate::CodebaseResponse::Found { turn, found: crate::FoundPassages::default() };
    session.handle(Response::Codebase(found));
    let lamp = Attachment { title: "lamp".into(), text: "def lamp():".into(), whole: None };
    let found = LookedUp { turn, attached: vec![lamp], ..LookedUp::default() };
    let first = asked(session.handle(Response::Mention(MentionResponse::LookedUp(found))));
    assert_eq!((first.draft.as_str(), first.exchange.len()), ("fix @lamp\n\ndef lamp():", 0));
    answer(&mut session, "", vec![read("1", "a")]);
    let second = asked(done(&mut session, 1, result("a")));
    assert_eq!(second.exchange[0], Message::new(Role::User, first.draft), "the attachment is sent once");
    answer(&mut session, "", vec![read("2", "b")]);
    let third = asked(done(&mut session, 2, result("b")));
    assert!(third.exchange.starts_with(&second.exchange), "{:?}", third.exchange);
    session.cancel();
    let fourth = asked(session.command(Command::Continue));
    assert!(fourth.exchange.starts_with(&third.exchange), "{:?}", fourth.exchange);
    assert!([&second, &third, &fourth].iter().all(|later| later.history == first.history));
}

#[test]
fn a_loop_that_failed_before_its_first_answer_is_continued_with_one_copy_of_its_message() {
    let mut session = session();
    start(&mut session, "go");
    let turn = session.turn().unwrap().number;
    let error = AskError::Provider(LlmError::Idle(9));
    session.handle(Response::Ended { turn, result: Err(error) });
    let next = asked(session.command(Command::Continue));
    assert_eq!((next.draft.as_str(), next.exchange.as_slice()), ("", &[Message::new(Role::User, "go")][..]));
}

#[test]
fn a_summary_replaces_what_precedes_the_turns_of_the_agent() {
    let mut session = session();
    session.send("how?");
    answer(&mut session, &"The tide rises and falls with the moon. ".repeat(40), Vec::new());
    start(&mut session, "fix it");
    answer(&mut session, "Let me look.", vec![read("1", "a")]);
    done(&mut session, 1, result("a"));
    answer(&mut session, "Done.", Vec::new());
    let effects = session.command(parse_command("/compact").unwrap());
    let [Effect::Summarize { history, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(history.len(), 2);
    let summary = vec![Message::new(Role::User, "summary")];
    let result = Ok(Summarized { messages: summary.clone(), before: 400, after: 4 });
    session.handle(Response::Summarized { history: history.clone(), result });
    let next = start(&mut session, "and the test");
    let contents: Vec<&str> = next.exchange.iter().map(|message| message.content.as_str()).collect();
    assert_eq!((&*next.history, contents), (&summary, vec!["fix it", "Let me look.", "", "Done."]));
    answer(&mut session, "Done too.", Vec::new());
    assert!(session.command(parse_command("/compact").unwrap()).is_empty());
    let is_refusal =
        |entry: &Entry| matches!(entry, Entry::Status(status) if status.text.contains("turns of the agent"));
    assert!(session.transcript().iter().any(is_refusal));
}

#[test]
fn a_one_shot_turn_can_be_handed_to_the_agent() {
    let mut session = session();
    session.send("change it");
    session.command(Command::TakeOver);
    assert!(session.turn().unwrap().becomes_agent());
    answer(&mut session, "Here is a plan.", Vec::new());
    let turn = session.turn().expect("the agent runs");
    assert_eq!(turn.mode, Mode::Agent);
}

#[test]
fn thinking_is_sent_back_unchanged() {
    let mut session = session();
    start(&mut session, "go");
    let turn = session.turn().unwrap().number;
    let thinking = vec![serde_json::json!({"type": "thinking", "thinking": "hm", "signature": "s"})];
    let completion = Completion {
        tool_calls: vec![read("1", "a")],
        thinking: thinking.clone(),
        ..Completion::new(Finish::ToolCalls, None)
    };
    session.handle(Response::Ended { turn, result: Ok(completion) });
    let next = asked(done(&mut session, 1, result("a")));
    assert_eq!(next.exchange[1].thinking, thinking);
}

#[test]
fn dropped_and_pinned_results_are_the_users_choice() {
    let mut session = session();
    start(&mut session, "go");
    answer(&mut session, "", vec![read("1", "a")]);
    done(&mut session, 1, result("the text"));
    answer(&mut session, "", vec![read("2", "b")]);
    session.toggle_result(1);
    let next = asked(done(&mut session, 2, result("b")));
    let dropped = &next.exchange[2].tool_results[0].content;
    assert!(dropped.contains("dropped") && !dropped.contains("the text"), "{dropped}");
    answer(&mut session, "", vec![read("3", "c")]);
    session.toggle_result(1);
    let next = asked(done(&mut session, 3, result("c")));
    assert_eq!(next.exchange[2].tool_results[0].content, "the text");
}

#[test]
fn edits_in_the_last_answer_are_located_if_the_loop_has_made_none() {
    let mut session = session();
    start(&mut session, "go");
    let text = "a.py\n```python\n<<<<<<< SEARCH\n1\n=======\n2\n>>>>>>> REPLACE\n```\n";
    let effects = answer(&mut session, text, Vec::new());
    assert!(effects.iter().any(|effect| effect.kind() == EffectKind::Propose), "{effects:?}");
}
