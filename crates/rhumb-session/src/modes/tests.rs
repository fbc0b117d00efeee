//! Modes: what is asked in each, and what comes of the answers.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::*;
use crate::context::Mode;
use rhumb_edit::{FormatChoice, Status, parse, propose};
use rhumb_llm::{Completion, Finish, LlmError, StreamEvent};

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

fn asked(effects: &[Effect]) -> RequestSpec {
    let order = effects.iter().find_map(|effect| match effect {
        Effect::Ask(order) => Some((**order).clone()),
        _ => None,
    });
    order.unwrap_or_else(|| panic!("{effects:?}"))
}

fn answer(session: &mut Session, text: &str) -> Vec<Effect> {
    let turn = session.turns.current().map(|turn| turn.number).unwrap();
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    session.handle(Response::Ended { turn, result: Ok(Completion { finish: Finish::Stop, usage: None }) })
}

/// Answers what was asked about the tokens of files.
fn weighed(session: &mut Session, effects: &[Effect]) -> Vec<String> {
    let order = effects.iter().find_map(|effect| match effect {
        Effect::Mention(MentionEffect::Weigh { number, paths }) => Some((*number, paths.clone())),
        _ => None,
    });
    let Some((number, paths)) = order else { panic!("{effects:?}") };
    let tokens = paths.iter().map(|path| (path.clone(), Some(7))).collect();
    session.handle(Response::Mention(MentionResponse::Weighed { number, tokens }));
    paths
}

fn title(session: &Session) -> &str {
    session.questions.first().map_or("", |question| &question.title)
}

#[test]
fn a_message_in_a_mode_leaves_the_mode_of_the_session() {
    let mut session = session();
    let order = asked(&command(&mut session, "/ask what is it?"));
    assert_eq!((order.mode, session.modes.mode), (Mode::Ask, Mode::Code));
    assert!(!answer(&mut session, EDIT).iter().any(|effect| matches!(effect, Effect::Propose { .. })));
    let order = asked(&session.send("do it").1);
    assert_eq!((order.mode, order.history.len()), (Mode::Code, 2), "questions are history too");
    assert!(answer(&mut session, EDIT).iter().any(|effect| matches!(effect, Effect::Propose { .. })));
}

#[test]
fn a_mode_without_a_message_is_meant_for_good() {
    let mut session = session();
    command(&mut session, "/ask");
    assert_eq!((session.modes.mode, session.composing()), (Mode::Ask, Mode::Ask));
    assert_eq!(asked(&session.send("why?").1).mode, Mode::Ask);
    answer(&mut session, "so");
    assert_eq!(asked(&command(&mut session, "/code do it")).mode, Mode::Code);
    let turn = session.turns.current().unwrap().number;
    let result = Err(AskError::Provider(LlmError::Interrupted { cause: "no network".into() }));
    session.handle(Response::Ended { turn, result });
    assert_eq!(session.returned_draft(), Some("/code do it"), "it comes back as it was meant");
    assert_eq!(asked(&session.retry()).mode, Mode::Code);
}

#[test]
fn a_message_that_has_to_wait_keeps_its_mode() {
    let mut session = session();
    session.send("first");
    assert!(command(&mut session, "/ask second").is_empty());
    let waiting = session.turns.queue().waiting();
    assert_eq!((waiting[0].text.as_str(), waiting[0].mode), ("second", Mode::Ask));
}

#[test]
fn a_plan_goes_to_the_editor_model_alone() {
    let mut session = session();
    session.model.set_editor("small".into());
    session.add_files(&["a.py".into()], false);
    session.send("before");
    answer(&mut session, "ok");
    assert_eq!(asked(&command(&mut session, "/architect make it new")).who, ModelRole::Main);
    assert!(!answer(&mut session, "Turn old into new.").iter().any(|effect| matches!(effect, Effect::Ask(_))));
    assert!(title(&session).contains("plan is ready"));
    let order = asked(&session.answer('y'));
    assert_eq!((order.mode, order.who), (Mode::Editor, ModelRole::Editor(Some("small".into()))));
    assert_eq!((order.draft.as_str(), order.history.len(), order.files.len()), ("Turn old into new.", 0, 1));
    let effects = answer(&mut session, EDIT);
    let request = effects.iter().find_map(|effect| match effect {
        Effect::Propose { request, .. } => Some(request.as_str()),
        _ => None,
    });
    assert_eq!(request, Some("make it new"), "the commit speaks of the request");
    let order = asked(&session.send("next").1);
    let said: Vec<&str> = order.history.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(said, ["before", "ok", "make it new", "Turn old into new.", "Carry the plan out.", EDIT]);
}

#[test]
fn a_plan_can_be_changed_left_or_carried_out_without_a_look() {
    let mut session = session();
    command(&mut session, "/architect make it new");
    answer(&mut session, "Turn old into new.");
    session.answer('e');
    assert_eq!((session.returned_draft(), session.composing()), (Some("Turn old into new."), Mode::Editor));
    session.forget_returned_draft();
    session.draft_changed("Turn old into newer.");
    let order = asked(&session.send("Turn old into newer.").1);
    assert_eq!((order.mode, order.draft.as_str()), (Mode::Editor, "Turn old into newer."));
    answer(&mut session, EDIT);

    command(&mut session, "/architect again");
    answer(&mut session, "Plan.");
    session.answer('n');
    assert!(!session.turns.is_running() && session.questions.is_empty());

    session.modes.rules.accept_plan = true;
    command(&mut session, "/architect once more");
    assert_eq!(asked(&answer(&mut session, "Plan.")).mode, Mode::Editor);
}

#[test]
fn a_plan_taken_out_of_the_composer_is_asked_about_again() {
    let mut session = session();
    command(&mut session, "/architect make it new");
    answer(&mut session, "Plan.");
    session.answer('e');
    session.draft_changed("");
    assert!(session.composing() == Mode::Code && title(&session).contains("plan is ready"));
    session.send("no, explain");
    assert!(session.questions.is_empty(), "another message settles it");
}

#[test]
fn a_plan_that_was_not_carried_out_is_asked_about_again() {
    let mut session = session();
    command(&mut session, "/architect make it new");
    answer(&mut session, "Plan.");
    session.answer('y');
    session.cancel();
    assert!(title(&session).contains("plan is ready") && session.returned_draft().is_none());
    let order = asked(&session.retry());
    assert_eq!((order.mode, order.draft.as_str()), (Mode::Editor, "Plan."));
}

#[test]
fn edits_of_a_plan_that_found_no_place_go_back_to_the_editor_model() {
    let mut session = session();
    session.proposals.set_max_retries(3);
    command(&mut session, "/architect make it new");
    answer(&mut session, "Plan.");
    session.answer('y');
    answer(&mut session, EDIT);
    let proposal = propose(&parse(EDIT, FormatChoice::Auto), &NoFiles);
    assert!(proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused), "{proposal:?}");
    let effects = session.handle(Response::Proposed { request: "make it new".into(), proposal });
    let order = asked(&effects);
    assert_eq!((order.mode, order.who, order.history.len()), (Mode::Editor, ModelRole::Editor(None), 0));
    assert_eq!(order.exchange.first().map(|message| message.content.as_str()), Some("Plan."));
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
fn the_files_of_a_task_are_asked_for_until_they_stand() {
    let mut session = session();
    let order = asked(&command(&mut session, "/context make it new"));
    assert_eq!((order.mode, order.files.len()), (Mode::Context, 0));
    let order = asked(&answer(&mut session, "- b.py — it\n- lib/c.py — that"));
    let files: Vec<&str> = order.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((files, order.mode), (vec!["b.py", "lib/c.py"], Mode::Context));
    assert_eq!(order.exchange.len(), 2);
    let order = asked(&answer(&mut session, "```\nb.py\na.py\n```"));
    assert_eq!(order.files.len(), 2, "what is not named any more is not sent any more");
    let effects = answer(&mut session, "b.py, a.py");
    assert_eq!(weighed(&mut session, &effects), ["b.py", "a.py"]);
    assert_eq!(title(&session), "The task needs 2 files (14 tokens).");
    let order = asked(&session.answer('c'));
    assert_eq!((order.mode, order.draft.as_str(), order.files.len()), (Mode::Code, "make it new", 2));
}

#[test]
fn a_list_that_never_stands_is_asked_for_three_times() {
    let mut session = session();
    command(&mut session, "/context make it new");
    answer(&mut session, "a.py");
    answer(&mut session, "b.py");
    let effects = answer(&mut session, "lib/c.py");
    assert!(!session.turns.is_running());
    assert_eq!(weighed(&mut session, &effects), ["lib/c.py"]);
    session.answer('r');
    assert_eq!(session.chat_files.files(), [ChatFile { path: "lib/c.py".into(), read_only: true }]);
}

#[test]
fn questions_about_the_program_stay_among_themselves() {
    let mut session = session();
    session.send("do it");
    answer(&mut session, "done");
    let order = asked(&command(&mut session, "/help how do I undo?"));
    assert_eq!((order.mode, order.history.len()), (Mode::Help, 0));
    answer(&mut session, "/undo");
    assert_eq!(asked(&command(&mut session, "/help and redo?")).history.len(), 2);
    answer(&mut session, "/redo");
    let order = asked(&session.send("go on").1);
    assert_eq!(order.history.len(), 2, "code turns know nothing of them");
}

#[test]
fn a_message_asked_again_takes_its_plan_along() {
    let mut session = session();
    session.modes.rules.accept_plan = true;
    command(&mut session, "/architect plan it");
    let effects = answer(&mut session, "See lib/c.py.");
    let retried = asked(&session.retry());
    weighed(&mut session, &effects);
    assert!(session.questions.is_empty(), "the answer that named the file is gone");
    assert_eq!(session.turns.current().map(|turn| turn.number), Some(retried.generation));
}

/// Something that happens to a session.
#[derive(Debug, Clone)]
enum Happening {
    Send(&'static str),
    Command(&'static str),
    Type(&'static str),
    Answer(&'static str),
    Fail,
    Cancel,
    Key(char),
    Found,
    Retry,
    GoOn,
}

fn happening() -> impl Strategy<Value = Happening> {
    use Happening::*;
    prop_oneof![
        prop::sample::select(vec!["do it", "mend a.py", "see @diff and @b.py", "b.py, lib/c.py"]).prop_map(Send),
        prop::sample::select(vec![
            "/ask", "/code", "/architect", "/context", "/architect plan it", "/context find it", "/help me"
        ])
        .prop_map(Command),
        prop::sample::select(vec!["", "typing"]).prop_map(Type),
        prop::sample::select(vec!["ok", "see lib/c.py", "a.py and b.py", EDIT, ""]).prop_map(Answer),
        Just(Fail),
        Just(Cancel),
        prop::sample::select(vec!['y', 'n', 'e', 's', 'x', 'r', 'c']).prop_map(Key),
        Just(Found),
        Just(Retry),
        Just(GoOn),
    ]
}

/// Lets it happen; `owed` are the orders about names that have no report yet.
fn happen(session: &mut Session, happening: Happening, owed: &mut Vec<MentionEffect>) -> Vec<Effect> {
    let turn = session.turns.current().map(|turn| turn.number);
    match (happening, turn) {
        (Happening::Send(text), _) => session.send(text).1,
        (Happening::Command(line), _) => command(session, line),
        (Happening::Type(text), _) => session.draft_changed(text),
        (Happening::Answer(text), Some(_)) => answer(session, text),
        (Happening::Fail, Some(turn)) => {
            let result = Err(AskError::Provider(LlmError::Interrupted { cause: "gone".into() }));
            session.handle(Response::Ended { turn, result })
        }
        (Happening::Cancel, _) => session.cancel(),
        (Happening::Key(key), _) => session.answer(key),
        (Happening::Retry, _) => session.retry(),
        (Happening::GoOn, _) => session.go_on(),
        (Happening::Found, _) => match owed.pop() {
            Some(MentionEffect::Weigh { number, paths }) => {
                let tokens = paths.into_iter().map(|path| (path, None)).collect();
                session.handle(Response::Mention(MentionResponse::Weighed { number, tokens }))
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
    fn whatever_happens_one_turn_runs_and_is_the_one_that_is_asked(
        happenings in prop::collection::vec(happening(), 0..40),
        accept_plan: bool,
        mentions in prop::sample::select(vec![MentionPolicy::Ask, MentionPolicy::Add, MentionPolicy::Ignore]),
    ) {
        let mut session = session();
        session.modes.rules = ModeRules { mentions, accept_plan, ..ModeRules::default() };
        let mut owed = Vec::new();
        for happening in happenings {
            let effects = happen(&mut session, happening.clone(), &mut owed);
            session.forget_returned_draft();
            let is_streaming = |entry: &&Entry| matches!(entry, Entry::Answer(answer) if answer.state == AnswerState::Streaming);
            let streaming = session.transcript.iter().filter(is_streaming).count();
            prop_assert_eq!(streaming, usize::from(session.turns.is_running()), "{:?}", happening);
            for effect in effects {
                match effect {
                    Effect::Ask(order) => {
                        let turn = session.turns.current().map(|turn| (turn.number, turn.mode));
                        prop_assert_eq!(turn, Some((order.generation, order.mode)), "{:?}", happening);
                        prop_assert_eq!(order.mode == Mode::Editor, order.who != ModelRole::Main);
                    }
                    Effect::Mention(order) => owed.push(order),
                    _ => {}
                }
            }
        }
    }
}
