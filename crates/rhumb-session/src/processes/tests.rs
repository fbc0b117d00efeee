use super::*;
use crate::context::Mode;
use crate::{AskEvent, Connection, PendingWrite, Question, Response, TrialCommand, Written};
use rhumb_llm::{Completion, Finish, StreamEvent};

fn session() -> Session {
    let (mut session, _) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
    session.processes.max_rounds = 2;
    session.processes.offers_suggestions = true;
    session
}

fn job_of(effects: &[Effect]) -> u64 {
    let found = effects.iter().find_map(|effect| match effect {
        Effect::Run(RunEffect::Command { job, .. } | RunEffect::Check { job, .. }) => Some(*job),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no job in {effects:?}"))
}

fn respond(session: &mut Session, response: RunResponse) -> Vec<Effect> {
    session.handle(Response::Ran(response))
}

fn shared(text: &str) -> SharedText {
    SharedText { title: "`make` failed (exit code 2).".into(), text: text.into(), tokens: 3, whole: None }
}

fn failed(text: &str) -> JobOutcome {
    JobOutcome { shared: Some(shared(text)), failed: true, files: vec!["a.py".into()], ..JobOutcome::default() }
}

/// Sends a request and writes the edits of its answer. Returns the job of the check after the write.
fn written(session: &mut Session) -> u64 {
    session.send("do it");
    let turn = session.turns.current().unwrap().number;
    answer(session, turn, "done");
    session.proposals.set_request("do it");
    write(session)
}

fn write(session: &mut Session) -> u64 {
    job_of(&session.handle(Response::Wrote(Written { paths: vec!["a.py".into()], ..Written::default() })))
}

fn answer(session: &mut Session, turn: u64, text: &str) -> Vec<Effect> {
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    session.handle(Response::Ended { turn, result: Ok(Completion::new(Finish::Stop, None)) })
}

fn asked(effects: &[Effect]) -> Option<&crate::RequestSpec> {
    effects.iter().find_map(|effect| if let Effect::Ask(spec) = effect { Some(&**spec) } else { None })
}

fn title(session: &Session) -> &str {
    session.questions.first().map_or("", |question: &Question| question.title.as_str())
}

#[test]
fn the_card_and_the_log_follow_a_command_and_its_output_is_offered() {
    let mut session = session();
    let job = job_of(&session.run_line("make".into()));
    respond(&mut session, RunResponse::Started { job, run: 7, line: "make".into() });
    let live = LiveOutput { text: "one\ntwo\n".into(), ..LiveOutput::default() };
    respond(&mut session, RunResponse::Output { run: 7, live, seconds: 2 });
    let Some(Entry::Ran(card)) = session.transcript.last() else { panic!("{:?}", session.transcript) };
    assert_eq!((card.tail.as_str(), card.state.words(card.seconds).as_str()), ("one\ntwo", "running · 2 s"));
    assert_eq!(session.processes.status().as_deref(), Some("running make, 2 s"));
    respond(&mut session, RunResponse::Ended { run: 7, end: Ok(End::Exit(2)), output: Arc::from("all\n"), seconds: 3 });
    respond(&mut session, RunResponse::Done { job, outcome: failed("the output") });
    assert_eq!(session.processes.logs[0].state, RunState::Ended(End::Exit(2)));
    assert!(!session.processes.is_running() && title(&session).contains("(3 tokens)"), "{}", title(&session));
    session.answer('y');
    assert!(matches!(session.transcript.last(), Some(Entry::Shared { text, .. }) if text == "the output"));
    assert_eq!(session.history_messages().last().unwrap().content, "the output");
}

#[test]
fn a_note_of_a_job_is_shown_while_it_runs() {
    let mut session = session();
    let job = job_of(&session.run_line("make".into()));
    respond(&mut session, RunResponse::Note(crate::Failure::new("Not isolated.", "See rhumb doctor.")));
    assert!(
        matches!(session.transcript.last(), Some(Entry::Status(message)) if message.text.contains("Not isolated."))
    );
    assert_eq!(session.stop_command(), [Effect::Run(RunEffect::Stop(job))], "it goes on");
}

#[test]
fn the_output_of_git_is_not_offered() {
    let mut session = session();
    let effects = session.run_git(vec!["log".into()]);
    assert!(matches!(&effects[0], Effect::Run(RunEffect::Command { line: CommandLine::Program(words), .. })
        if words == &["git", "--no-pager", "log"]));
    respond(&mut session, RunResponse::Done { job: job_of(&effects), outcome: failed("secret history") });
    assert!(session.questions.is_empty());
}

#[test]
fn the_latest_job_is_stopped_first() {
    let mut session = session();
    let (first, second) = (job_of(&session.run_line("a".into())), job_of(&session.run_line("b".into())));
    assert_eq!(session.stop_command(), [Effect::Run(RunEffect::Stop(second))]);
    assert_eq!(session.stop_command(), [Effect::Run(RunEffect::Stop(first))]);
    assert!(session.stop_command().is_empty());
}

#[test]
fn findings_are_sent_without_a_question_a_limited_number_of_times() {
    let mut session = session();
    let mut job = written(&mut session);
    for round in 1..=2 {
        let effects = respond(&mut session, RunResponse::Done { job, outcome: failed("it broke") });
        let spec = asked(&effects).unwrap();
        assert_eq!((spec.draft.as_str(), spec.mode), ("it broke", Mode::Code));
        assert_eq!(spec.files[0].path, "a.py", "the model has to see what it fixes");
        assert!(
            session
                .transcript
                .iter()
                .any(|entry| matches!(entry, Entry::FollowUp { round: at, of: 2, .. } if *at == round))
        );
        let turn = spec.generation;
        answer(&mut session, turn, "fixed");
        job = write(&mut session);
    }
    let effects = respond(&mut session, RunResponse::Done { job, outcome: failed("it broke") });
    assert!(asked(&effects).is_none() && title(&session).contains("Send it to the model?"), "{effects:?}");
    assert_eq!(asked(&session.answer('y')).unwrap().draft, "it broke", "the user may send it once more");
}

#[test]
fn every_round_is_compared_with_the_files_before_the_request() {
    let mut session = session();
    let write = |path: &str, text: &str| PendingWrite {
        path: path.into(),
        expected: Some(Arc::from(text)),
        content: Some("…".into()),
        renamed_from: None,
    };
    let checked = |effects: &[Effect]| {
        effects.iter().find_map(|effect| match effect {
            Effect::Run(RunEffect::Check { check, .. }) => Some(check.files.clone()),
            _ => None,
        })
    };
    let wrote = |path: &str| Response::Wrote(Written { paths: vec![path.into()], ..Written::default() });
    session.before_write(&[write("a.py", "whole")]);
    let job = written(&mut session);
    respond(&mut session, RunResponse::Done { job, outcome: failed("it broke") });
    session.before_write(&[write("a.py", "broken"), write("b.py", "beside")]);
    let files = checked(&session.handle(wrote("b.py"))).unwrap();
    let known = |path: &str| files.iter().find(|(own, _)| own == path).and_then(|(_, base)| base.clone());
    assert_eq!((known("a.py").as_deref(), known("b.py").as_deref()), (Some("whole"), Some("beside")));

    *session.proposals.retries_mut() = crate::proposal::edit_retries::EditRetries::default();
    session.before_write(&[write("b.py", "later")]);
    let files = checked(&session.handle(wrote("b.py"))).unwrap();
    assert_eq!(files, [("b.py".to_owned(), Some(Arc::from("later")))], "a new request has new bases");
}

#[test]
fn a_new_request_has_its_own_rounds() {
    let mut session = session();
    session.processes.max_rounds = 1;
    for _ in 0..2 {
        let job = written(&mut session);
        let effects = respond(&mut session, RunResponse::Done { job, outcome: failed("it broke") });
        let turn = asked(&effects).unwrap().generation;
        answer(&mut session, turn, "fixed");
    }
}

#[test]
fn findings_are_offered_without_rounds_or_when_something_else_began() {
    type Begin = fn(&mut Session);
    let cases: [Begin; 4] = [
        |session| session.processes.max_rounds = 0,
        |session| drop(session.draft_changed("and now")),
        |session| {
            session.send("next");
        },
        |session| session.set_connection(Connection::None),
    ];
    for begin in cases {
        let mut session = session();
        let job = written(&mut session);
        begin(&mut session);
        let effects = respond(&mut session, RunResponse::Done { job, outcome: failed("it broke") });
        assert!(asked(&effects).is_none(), "{effects:?}");
        assert!(title(&session).contains("Send it to the model?"));
        session.answer('n');
        assert!(session.questions.is_empty());
    }
}

#[test]
fn a_stopped_or_passed_check_asks_nothing() {
    for outcome in [JobOutcome::default(), JobOutcome { stopped: true, ..failed("half") }] {
        let mut session = session();
        let job = written(&mut session);
        let before = session.transcript.len();
        assert!(respond(&mut session, RunResponse::Done { job, outcome }).is_empty());
        assert!(session.questions.is_empty() && session.transcript.len() == before);
    }
}

#[test]
fn a_suggested_command_runs_when_it_is_approved_and_only_then() {
    let mut session = session();
    session.send("do it");
    answer(&mut session, 1, "Then:\n\n```sh\npip install tide\nrm -rf /\n```\n");
    assert_eq!(session.questions.len(), 2);
    assert!(title(&session).contains("Run it? pip install tide"), "{}", title(&session));
    let effects = session.answer('y');
    let [Effect::Run(RunEffect::Command { line: CommandLine::Shell(line), origin: Origin::Model, .. })] =
        effects.as_slice()
    else {
        panic!("{effects:?}")
    };
    assert_eq!(line, "pip install tide");
    assert!(session.answer('n').is_empty() && session.questions.is_empty());
}

#[test]
fn a_suggested_command_runs_in_a_trial_instead_if_the_user_says_so() {
    let mut session = session();
    session.send("do it");
    answer(&mut session, 1, "Then:\n\n```sh\nmake test\n```\n");
    let effects = session.answer('t');
    let [Effect::Run(RunEffect::Try { trial, .. })] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(trial.command, TrialCommand::Line("make test".to_owned()));
}

#[test]
fn allowed_commands_run_in_a_trial_without_a_question_and_after_the_edits_are_located() {
    let tried = |effects: &[Effect]| -> Vec<String> {
        let line = |effect: &Effect| match effect {
            Effect::Run(RunEffect::Try { trial: TrialRequest { command: TrialCommand::Line(line), .. }, .. }) => {
                Some(line.clone())
            }
            _ => None,
        };
        effects.iter().filter_map(line).collect()
    };
    let mut session = session();
    session.processes.allowed = vec!["make *".to_owned()];
    session.send("do it");
    let effects = answer(&mut session, 1, "Then:\n\n```sh\nmake test\nmake test && rm x\n```\n");
    assert_eq!((tried(&effects), session.questions.len()), (vec!["make test".to_owned()], 1));
    session.answer('n');
    session.send("again");
    let edit = "a.txt\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n\nThen:\n\n```sh\nmake test\n```\n";
    let effects = answer(&mut session, 2, edit);
    assert!(tried(&effects).is_empty(), "{effects:?}");
    let proposed = Response::Proposed { request: "again".into(), proposal: rhumb_edit::Proposal::default() };
    assert_eq!(tried(&session.handle(proposed)), ["make test"]);
}

#[test]
fn commands_are_offered_only_in_code_mode_and_when_enabled() {
    for (mode, suggestions) in [(Mode::Ask, true), (Mode::Code, false)] {
        let mut session = session();
        session.processes.offers_suggestions = suggestions;
        session.modes.set_mode(mode);
        session.send("how?");
        answer(&mut session, 1, "```sh\nmake\n```\n");
        assert!(session.questions.is_empty(), "{mode}");
    }
}

#[test]
fn a_long_command_must_be_read_before_it_can_be_approved() {
    for (line, must) in
        [("make", false), ("echo a\\\n && rm b", true), (&*format!("echo {}", "x".repeat(10_000)), true)]
    {
        let mut session = session();
        session.send("do it");
        answer(&mut session, 1, &format!("```sh\n{line}\n```\n"));
        let question = session.questions.first().unwrap();
        assert_eq!(question.must_be_read(), must);
        assert!(question.text.starts_with(line) && question.title.len() < 200);
    }
}

#[test]
fn a_check_without_files_says_so() {
    let mut session = session();
    let job = job_of(&session.lint(&[]));
    respond(&mut session, RunResponse::Done { job, outcome: JobOutcome::default() });
    assert!(
        matches!(session.transcript.last(), Some(Entry::Status(message)) if message.text.contains("nothing to check"))
    );
}

#[test]
fn a_fault_of_the_first_write_is_still_found_after_the_second() {
    let mut session = session();
    let writes = |base: &str| {
        let path = "a.py".to_owned();
        vec![PendingWrite { path, expected: Some(base.into()), content: Some(String::new()), renamed_from: None }]
    };
    session.before_write(&writes("whole"));
    let job = written(&mut session);
    respond(&mut session, RunResponse::Done { job, outcome: failed("a.py does not parse") });
    let turn = session.turns.current().unwrap().number;
    answer(&mut session, turn, "fixed");
    session.before_write(&writes("broken"));
    let effects = session.handle(Response::Wrote(Written { paths: vec!["a.py".into()], ..Written::default() }));
    let files = effects.iter().find_map(|effect| match effect {
        Effect::Run(RunEffect::Check { check, .. }) => Some(check.files.clone()),
        _ => None,
    });
    assert_eq!(files, Some(vec![("a.py".to_owned(), Some("whole".into()))]));
}

#[test]
fn files_named_by_the_tests_are_added_for_the_fix() {
    let mut session = session();
    session.repository.set_paths(Arc::new(vec!["src/calc.ts".into(), "test.js".into()]));
    let effects = session.test(Some("node test.js".into()));
    let outcome = JobOutcome { files: Vec::new(), ..failed("FAIL src/calc.ts:2 expected 6, got 5") };
    respond(&mut session, RunResponse::Done { job: job_of(&effects), outcome });
    assert!(title(&session).ends_with("(3 tokens, and src/calc.ts)"), "{}", title(&session));
    let effects = session.answer('y');
    assert!(
        asked(&effects).is_some() && session.chat_files.files().iter().any(|file| file.path == "src/calc.ts"),
        "{effects:?}"
    );
}

/// The command that the check after a write runs again.
fn rerun_command(effects: &[Effect]) -> Option<String> {
    effects.iter().find_map(|effect| match effect {
        Effect::Run(RunEffect::Check { check, .. }) => check.rerun.clone(),
        _ => None,
    })
}

fn last_status(session: &Session) -> &str {
    let message = session.transcript.iter().rev().find_map(|entry| match entry {
        Entry::Status(message) => Some(message.text.as_str()),
        _ => None,
    });
    message.unwrap_or_default()
}

/// Fails a job and sends its output for a fix. Returns the turn of the fix.
fn send_for_a_fix(session: &mut Session, job: u64, key: char) -> u64 {
    respond(session, RunResponse::Done { job, outcome: failed("it broke") });
    asked(&session.answer(key)).unwrap().generation
}

fn wrote(session: &mut Session) -> Vec<Effect> {
    session.handle(Response::Wrote(Written { paths: vec!["a.py".into()], ..Written::default() }))
}

#[test]
fn a_failed_command_runs_again_after_each_write_of_the_fix_until_it_passes() {
    type Begin = fn(&mut Session) -> Vec<Effect>;
    let cases: [(Begin, char); 2] =
        [(|session| session.test(Some("make".into())), 'y'), (|session| session.run_line("make".into()), 'f')];
    for (begin, key) in cases {
        let mut session = session();
        // Rounds of an earlier request do not count.
        session.proposals.retries_mut().repairs = 2;
        let job = job_of(&begin(&mut session));
        let turn = send_for_a_fix(&mut session, job, key);
        answer(&mut session, turn, "fixed");
        let effects = wrote(&mut session);
        assert_eq!(rerun_command(&effects).as_deref(), Some("make"));
        assert_eq!(last_status(&session), "`make` runs again after round 1 of 2.");
        let effects = respond(&mut session, RunResponse::Done { job: job_of(&effects), outcome: failed("it broke") });
        answer(&mut session, asked(&effects).unwrap().generation, "fixed");
        let effects = wrote(&mut session);
        assert_eq!(last_status(&session), "`make` runs again after round 2 of 2.");
        respond(&mut session, RunResponse::Done { job: job_of(&effects), outcome: JobOutcome::default() });
        assert_eq!(last_status(&session), "`make` passes after 2 rounds.");
        assert_eq!(rerun_command(&wrote(&mut session)), None, "it has passed");
    }
}

#[test]
fn a_command_that_still_fails_after_the_last_round_is_reported_and_offered() {
    let mut session = session();
    session.processes.max_rounds = 1;
    let job = job_of(&session.test(Some("make".into())));
    let turn = send_for_a_fix(&mut session, job, 'y');
    answer(&mut session, turn, "fixed");
    let job = job_of(&wrote(&mut session));
    let effects = respond(&mut session, RunResponse::Done { job, outcome: failed("it broke") });
    assert!(asked(&effects).is_none() && title(&session).contains("Send it to the model?"));
    assert_eq!(last_status(&session), "`make` still fails after 1 round.");
    // The command is also repeated in a round that the user asked for.
    let turn = asked(&session.answer('y')).unwrap().generation;
    answer(&mut session, turn, "fixed");
    assert_eq!(rerun_command(&wrote(&mut session)).as_deref(), Some("make"));
}

#[test]
fn a_shared_failure_is_repeated_for_the_next_message_only() {
    let mut session = session();
    let job = job_of(&session.test(Some("make".into())));
    respond(&mut session, RunResponse::Done { job, outcome: failed("it broke") });
    session.answer('s');
    for expected in [Some("make".to_owned()), None] {
        session.send("fix it, and keep the API");
        let turn = session.turns.current().unwrap().number;
        answer(&mut session, turn, "done");
        let effects = wrote(&mut session);
        assert_eq!(rerun_command(&effects), expected);
        respond(
            &mut session,
            RunResponse::Done { job: job_of(&effects), outcome: JobOutcome { stopped: true, ..JobOutcome::default() } },
        );
    }
}
