//! Tests of the modes.

use crate::context::Mode;
use crate::*;
use proptest::prelude::*;
use rhumb_edit::{FormatChoice, Status, parse, propose};
use rhumb_llm::{Completion, Finish, LlmError, StreamEvent};
use std::sync::Arc;

const EDIT: &str = "a.py\n```python\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n";

fn session() -> Session {
    let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
    let paths = ["a.py", "b.py", "lib/c.py"].map(str::to_owned);
    session.handle(Response::Listed(Arc::new(paths.to_vec())));
    session.handle(Response::Symbols(Arc::default()));
    session
}

fn command(session: &mut Session, line: &str) -> Vec<Effect> {
    session.command(parse_command(line).unwrap())
}

fn requested(effects: &[Effect]) -> RequestSpec {
    let spec = effects.iter().find_map(|effect| match effect {
        Effect::Ask(spec) => Some((**spec).clone()),
        _ => None,
    });
    spec.unwrap_or_else(|| panic!("{effects:?}"))
}

fn answer(session: &mut Session, text: &str) -> Vec<Effect> {
    let turn = session.turns.current().map(|turn| turn.number).unwrap();
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    session.handle(Response::Ended { turn, result: Ok(Completion::new(Finish::Stop, None)) })
}

/// Reports seven tokens for each file that effects ask about. Returns the files.
fn report_tokens(session: &mut Session, effects: &[Effect]) -> Vec<String> {
    let spec = effects.iter().find_map(|effect| match effect {
        Effect::Mention(MentionEffect::CountTokens { number, paths }) => Some((*number, paths.clone())),
        _ => None,
    });
    let Some((number, paths)) = spec else { panic!("{effects:?}") };
    let tokens = paths.iter().map(|path| (path.clone(), Some(7))).collect();
    session.handle(Response::Mention(MentionResponse::TokensCounted { number, tokens }));
    paths
}

fn title(session: &Session) -> &str {
    session.questions.first().map_or("", |question| &question.title)
}

#[test]
fn a_message_in_a_mode_does_not_change_the_mode_of_the_session() {
    let mut session = session();
    let spec = requested(&command(&mut session, "/ask what is it?"));
    assert_eq!((spec.mode, session.modes.mode), (Mode::Ask, Mode::Code));
    assert!(!answer(&mut session, EDIT).iter().any(|effect| matches!(effect, Effect::Propose { .. })));
    let spec = requested(&session.send("do it").1);
    assert_eq!((spec.mode, spec.history.len()), (Mode::Code, 2), "questions are history too");
    assert!(answer(&mut session, EDIT).iter().any(|effect| matches!(effect, Effect::Propose { .. })));
}

#[test]
fn a_mode_command_without_a_message_changes_the_mode_of_the_session() {
    let mut session = session();
    command(&mut session, "/ask");
    assert_eq!((session.modes.mode, session.input_mode()), (Mode::Ask, Mode::Ask));
    assert_eq!(requested(&session.send("why?").1).mode, Mode::Ask);
    answer(&mut session, "so");
    assert_eq!(requested(&command(&mut session, "/code do it")).mode, Mode::Code);
    let turn = session.turns.current().unwrap().number;
    let result = Err(AskError::Provider(LlmError::Interrupted("no network".into())));
    session.handle(Response::Ended { turn, result });
    assert_eq!(session.returned_draft(), Some("/code do it"), "it keeps its mode");
    assert_eq!(requested(&session.retry()).mode, Mode::Code);
}

#[test]
fn a_queued_message_keeps_its_mode() {
    let mut session = session();
    session.send("first");
    assert!(command(&mut session, "/ask second").is_empty());
    let waiting = session.turns.queue().waiting();
    assert_eq!((waiting[0].text.as_str(), waiting[0].mode), ("second", Mode::Ask));
}

#[test]
fn an_accepted_plan_is_sent_to_the_editor_model_without_history() {
    let mut session = session();
    session.next_request.overrides_mut().editor_model = Some("small".into());
    session.add_files(&["a.py".into()], false);
    session.send("before");
    answer(&mut session, "ok");
    assert_eq!(requested(&command(&mut session, "/architect make it new")).role, ModelRole::Main);
    assert!(!answer(&mut session, "Turn old into new.").iter().any(|effect| matches!(effect, Effect::Ask(_))));
    assert!(title(&session).contains("plan is ready"));
    let spec = requested(&session.answer('y'));
    assert_eq!((spec.mode, spec.role), (Mode::Editor, ModelRole::Editor));
    assert_eq!(spec.overrides.editor_model.as_deref(), Some("small"));
    assert_eq!((spec.draft.as_str(), spec.history.len(), spec.files.len()), ("Turn old into new.", 0, 1));
    let effects = answer(&mut session, EDIT);
    let request = effects.iter().find_map(|effect| match effect {
        Effect::Propose { request, .. } => Some(request.as_str()),
        _ => None,
    });
    assert_eq!(request, Some("make it new"), "the commit message describes the request");
    let spec = requested(&session.send("next").1);
    let texts: Vec<&str> = spec.history.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(texts, ["before", "ok", "make it new", "Turn old into new.", "Carry the plan out.", EDIT]);
}

#[test]
fn a_plan_can_be_edited_refused_or_accepted_by_a_setting() {
    let mut session = session();
    command(&mut session, "/architect make it new");
    answer(&mut session, "Turn old into new.");
    session.answer('e');
    assert_eq!((session.returned_draft(), session.input_mode()), (Some("Turn old into new."), Mode::Editor));
    session.forget_returned_draft();
    session.draft_changed("Turn old into newer.");
    let spec = requested(&session.send("Turn old into newer.").1);
    assert_eq!((spec.mode, spec.draft.as_str()), (Mode::Editor, "Turn old into newer."));
    answer(&mut session, EDIT);

    command(&mut session, "/architect again");
    answer(&mut session, "Plan.");
    session.answer('n');
    assert!(!session.turns.is_running() && session.questions.is_empty());

    session.modes.rules_mut().accept_plan = true;
    command(&mut session, "/architect once more");
    assert_eq!(requested(&answer(&mut session, "Plan.")).mode, Mode::Editor);
}

#[test]
fn clearing_a_plan_from_the_input_asks_about_it_again() {
    let mut session = session();
    command(&mut session, "/architect make it new");
    answer(&mut session, "Plan.");
    session.answer('e');
    session.draft_changed("");
    assert!(session.input_mode() == Mode::Code && title(&session).contains("plan is ready"));
    session.send("no, explain");
    assert!(session.questions.is_empty(), "another message withdraws the question");
}

#[test]
fn cancelling_the_editor_model_asks_about_the_plan_again() {
    let mut session = session();
    command(&mut session, "/architect make it new");
    answer(&mut session, "Plan.");
    session.answer('y');
    session.cancel();
    assert!(title(&session).contains("plan is ready") && session.returned_draft().is_none());
    let spec = requested(&session.retry());
    assert_eq!((spec.mode, spec.draft.as_str()), (Mode::Editor, "Plan."));
}

#[test]
fn unlocated_edits_of_a_plan_are_sent_back_to_the_editor_model() {
    let mut session = session();
    session.proposals.set_max_retries(3);
    command(&mut session, "/architect make it new");
    answer(&mut session, "Plan.");
    session.answer('y');
    answer(&mut session, EDIT);
    let proposal = propose(&parse(EDIT, FormatChoice::Auto), &NoFiles);
    assert!(proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused), "{proposal:?}");
    let effects = session.handle(Response::Proposed { request: "make it new".into(), proposal });
    let spec = requested(&effects);
    assert_eq!((spec.mode, spec.role, spec.history.len()), (Mode::Editor, ModelRole::Editor, 0));
    assert_eq!(spec.exchange.first().map(|message| message.content.as_str()), Some("Plan."));
}

struct NoFiles;

impl rhumb_edit::Files for NoFiles {
    fn paths(&self) -> Vec<String> {
        vec!["a.py".into()]
    }

    fn exists(&self, path: &str) -> bool {
        path == "a.py"
    }

    fn read(&self, _: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        Ok(Some("something else\n".into()))
    }

    fn in_chat(&self, path: &str) -> bool {
        path == "a.py"
    }

    fn is_ignored(&self, _: &str) -> bool {
        false
    }

    fn root(&self) -> Option<String> {
        None
    }
}

#[test]
fn the_files_of_a_task_are_requested_until_the_list_is_unchanged() {
    let mut session = session();
    let spec = requested(&command(&mut session, "/context make it new"));
    assert_eq!((spec.mode, spec.files.len()), (Mode::Context, 0));
    let spec = requested(&answer(&mut session, "- b.py — it\n- lib/c.py — that"));
    let files: Vec<&str> = spec.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((files, spec.mode), (vec!["b.py", "lib/c.py"], Mode::Context));
    assert_eq!(spec.exchange.len(), 2);
    let spec = requested(&answer(&mut session, "```\nb.py\na.py\n```"));
    assert_eq!(spec.files.len(), 2, "files that are no longer named are no longer sent");
    let effects = answer(&mut session, "b.py, a.py");
    assert_eq!(report_tokens(&mut session, &effects), ["b.py", "a.py"]);
    assert_eq!(title(&session), "The task needs 2 files (14 tokens).");
    let spec = requested(&session.answer('c'));
    assert_eq!((spec.mode, spec.draft.as_str(), spec.files.len()), (Mode::Code, "make it new", 2));
}

#[test]
fn a_list_that_keeps_changing_is_requested_three_times() {
    let mut session = session();
    command(&mut session, "/context make it new");
    answer(&mut session, "a.py");
    answer(&mut session, "b.py");
    let effects = answer(&mut session, "lib/c.py");
    assert!(!session.turns.is_running());
    assert_eq!(report_tokens(&mut session, &effects), ["lib/c.py"]);
    session.answer('r');
    assert_eq!(session.chat_files.files(), [ChatFile { path: "lib/c.py".into(), read_only: true }]);
}

#[test]
fn help_questions_have_a_history_of_their_own() {
    let mut session = session();
    session.send("do it");
    answer(&mut session, "done");
    let spec = requested(&command(&mut session, "/help how do I undo?"));
    assert_eq!((spec.mode, spec.history.len()), (Mode::Help, 0));
    answer(&mut session, "/undo");
    assert_eq!(requested(&command(&mut session, "/help and redo?")).history.len(), 2);
    answer(&mut session, "/redo");
    let spec = requested(&session.send("go on").1);
    assert_eq!(spec.history.len(), 2, "code turns do not contain them");
}

#[test]
fn retry_withdraws_the_plan_and_its_offers() {
    let mut session = session();
    session.modes.rules_mut().accept_plan = true;
    command(&mut session, "/architect plan it");
    let effects = answer(&mut session, "See lib/c.py.");
    let retried = requested(&session.retry());
    report_tokens(&mut session, &effects);
    assert!(session.questions.is_empty(), "the offer belongs to the previous answer");
    assert_eq!(session.turns.current().map(|turn| turn.number), Some(retried.generation));
}

/// An action of the user or a response of the host.
#[derive(Debug, Clone)]
enum Event {
    Send(&'static str),
    Command(&'static str),
    Type(&'static str),
    Answer(&'static str),
    Fail,
    Cancel,
    Key(char),
    Respond,
    Retry,
    GoOn,
}

fn event() -> impl Strategy<Value = Event> {
    use Event::*;
    prop_oneof![
        prop::sample::select(vec!["do it", "fix a.py", "see @diff and @b.py", "b.py, lib/c.py"]).prop_map(Send),
        prop::sample::select(vec![
            "/ask", "/code", "/architect", "/context", "/architect plan it", "/context find it", "/help me"
        ])
        .prop_map(Command),
        prop::sample::select(vec!["", "typing"]).prop_map(Type),
        prop::sample::select(vec!["ok", "see lib/c.py", "a.py and b.py", EDIT, ""]).prop_map(Answer),
        Just(Fail),
        Just(Cancel),
        prop::sample::select(vec!['y', 'n', 'e', 's', 'x', 'r', 'c']).prop_map(Key),
        Just(Respond),
        Just(Retry),
        Just(GoOn),
    ]
}

/// Applies an event; `pending` has the effects about mentions without a response.
fn apply(session: &mut Session, event: Event, pending: &mut Vec<MentionEffect>) -> Vec<Effect> {
    let turn = session.turns.current().map(|turn| turn.number);
    match (event, turn) {
        (Event::Send(text), _) => session.send(text).1,
        (Event::Command(line), _) => command(session, line),
        (Event::Type(text), _) => session.draft_changed(text),
        (Event::Answer(text), Some(_)) => answer(session, text),
        (Event::Fail, Some(turn)) => {
            let result = Err(AskError::Provider(LlmError::Interrupted("gone".into())));
            session.handle(Response::Ended { turn, result })
        }
        (Event::Cancel, _) => session.cancel(),
        (Event::Key(key), _) => session.answer(key),
        (Event::Retry, _) => session.retry(),
        (Event::GoOn, _) => session.continue_answer(),
        (Event::Respond, _) => match pending.pop() {
            Some(MentionEffect::CountTokens { number, paths }) => {
                let tokens = paths.into_iter().map(|path| (path, None)).collect();
                session.handle(Response::Mention(MentionResponse::TokensCounted { number, tokens }))
            }
            Some(MentionEffect::LookUp { turn, names, .. }) => {
                let found = LookedUp { turn, files: names, ..LookedUp::default() };
                session.handle(Response::Mention(MentionResponse::LookedUp(found)))
            }
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

proptest! {
    #[test]
    fn after_any_events_one_turn_runs_and_it_is_the_one_that_was_requested(
        events in prop::collection::vec(event(), 0..40),
        accept_plan: bool,
        mentions in prop::sample::select(vec![MentionPolicy::Ask, MentionPolicy::Add, MentionPolicy::Ignore]),
    ) {
        let mut session = session();
        *session.modes.rules_mut() = ModeRules { mentions, accept_plan, ..ModeRules::default() };
        let mut pending = Vec::new();
        for event in events {
            let effects = apply(&mut session, event.clone(), &mut pending);
            session.forget_returned_draft();
            let is_streaming = |entry: &&Entry| matches!(entry, Entry::Answer(answer) if answer.state == AnswerState::Streaming);
            let streaming = session.transcript.iter().filter(is_streaming).count();
            prop_assert_eq!(streaming, usize::from(session.turns.is_running()), "{:?}", event);
            for effect in effects {
                match effect {
                    Effect::Ask(spec) => {
                        let turn = session.turns.current().map(|turn| (turn.number, turn.mode));
                        prop_assert_eq!(turn, Some((spec.generation, spec.mode)), "{:?}", event);
                        prop_assert_eq!(spec.mode == Mode::Editor, spec.role != ModelRole::Main);
                    }
                    Effect::Mention(effect) => pending.push(effect),
                    _ => {}
                }
            }
        }
    }
}
