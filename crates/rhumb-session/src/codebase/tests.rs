//! Tests of questions about the whole repository: searches, requests, and the passages that the conversation keeps.

use super::super::*;
use crate::context::{ChunkLocation, Mode};
use rhumb_index::retrieval::ContextRequest;
use rhumb_llm::{Completion, Finish, StreamEvent};
use std::sync::Arc;

const BLOCK: &str = "Not enough.\n\n```rhumb-search\nsearch: tides\nread: b.py:1-9\n```\n";

fn session() -> Session {
    let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
    *session.modes.rules_mut() = ModeRules { more: ContextRequestPolicy::Ask, more_rounds: 2, ..ModeRules::default() };
    session.handle(Response::Listed(Arc::new(vec!["a.py".into(), "b.py".into()])));
    session.handle(Response::Symbols(Arc::default()));
    session.handle(Response::Surveyed { note: None });
    session
}

fn place(path: &str, line: u32, turn: u64) -> ChunkLocation {
    ChunkLocation { path: path.into(), line, end_line: line + 9, anchor: None, turn, rank: 0, hash: 0 }
}

#[track_caller]
fn searched(effects: &[Effect]) -> CodebaseSearch {
    let [Effect::Codebase(order)] = effects else { panic!("{effects:?}") };
    order.clone()
}

#[track_caller]
fn asked(effects: &[Effect]) -> RequestSpec {
    let [Effect::Ask(order)] = effects else { panic!("{effects:?}") };
    (**order).clone()
}

fn found(session: &mut Session, turn: u64, places: Vec<ChunkLocation>) -> Vec<Effect> {
    let found = FoundPassages { locations: places, summary: vec!["Searched.".into()], ..FoundPassages::default() };
    session.handle(Response::Codebase(CodebaseResponse::Found { turn, found }))
}

fn answer(session: &mut Session, text: &str) -> Vec<Effect> {
    let turn = session.turns.current().map(|turn| turn.number).expect("a turn");
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
    let mut effects = session.handle(Response::Ended { turn, result: Ok(Completion::new(Finish::Stop, None)) });
    effects.retain(|effect| !matches!(effect, Effect::Measure(_)));
    effects
}

/// A session whose request with one passage was sent.
fn out() -> Session {
    let mut session = session();
    let order = searched(&session.send("@codebase how do ships moor?").1);
    found(&mut session, order.turn, vec![place("a.py", 1, order.turn)]);
    session
}

fn notices(session: &Session) -> Vec<&str> {
    let told = session.transcript.iter().filter_map(|entry| match entry {
        Entry::Status(notice) => Some(notice.text.as_str()),
        _ => None,
    });
    told.collect()
}

#[test]
fn a_message_waits_for_the_search_and_goes_out_with_what_was_found() {
    let mut session = session();
    let order = searched(&session.send("@codebase how do ships moor?").1);
    assert_eq!(order.goal, SearchGoal::Question("how do ships moor?".into()));
    assert_eq!(session.turns.current().unwrap().status, TurnStatus::Searching(SearchStep::Searching));
    let sent = asked(&found(&mut session, order.turn, vec![place("a.py", 1, order.turn)]));
    assert_eq!(sent.draft, "@codebase how do ships moor?");
    assert_eq!((sent.passages.len(), sent.codebase), (1, CodebaseQuestion::MayRequestMore));
    assert_eq!(notices(&session), ["Searched."]);
}

#[test]
fn follow_ups_keep_the_passages_and_another_question_adds_to_them() {
    let mut session = out();
    answer(&mut session, "By ropes (`a.py:3`).");
    session.handle(Response::NotProposed(None));
    let follow_up = asked(&session.send("and who unties them?").1);
    assert_eq!((follow_up.passages.len(), follow_up.codebase), (1, CodebaseQuestion::No), "nothing is searched for it");
    answer(&mut session, "Nobody.");
    session.handle(Response::NotProposed(None));
    let order = searched(&session.send("and tides, @codebase?").1);
    let sent = asked(&found(&mut session, order.turn, vec![place("b.py", 5, order.turn)]));
    let paths: Vec<_> = sent.passages.iter().map(|place| place.path.as_str()).collect();
    assert_eq!(paths, ["a.py", "b.py"], "what was there stays before what is new");
    session.cancel();
    session.clear_history();
    assert!(asked(&session.send("and now?").1).passages.is_empty());
}

#[test]
fn a_mark_without_a_question_sends_nothing_and_stays_in_the_composer() {
    let mut session = session();
    let (sent, effects) = session.send("@codebase");
    assert!(!sent && effects.is_empty() && !session.turns.is_running());
    assert!(notices(&session)[0].starts_with("The message has no question"));
    assert!(session.command(parse_command("/codebase how?").unwrap()).len() == 1, "the command is the same");
}

#[test]
fn where_nothing_is_found_the_message_goes_out_and_that_is_told() {
    let mut session = session();
    let order = searched(&session.send("@codebase what is love?").1);
    let sent = asked(&found(&mut session, order.turn, Vec::new()));
    assert!(sent.passages.is_empty() && sent.codebase != CodebaseQuestion::No);
    assert!(notices(&session).iter().any(|text| text.starts_with("No passage")));
}

#[test]
fn a_search_that_is_stopped_gives_the_message_back_and_comes_too_late() {
    let mut session = session();
    let order = searched(&session.send("@codebase how do ships moor?").1);
    assert!(session.cancel().contains(&Effect::Cancel));
    assert_eq!(session.returned_draft(), Some("@codebase how do ships moor?"));
    assert!(found(&mut session, order.turn, vec![place("a.py", 1, 1)]).is_empty());
    assert!(session.codebase.locations.is_empty());
}

#[test]
fn a_search_that_waits_for_the_repository_says_how_far_that_is() {
    let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
    searched(&session.send("@codebase how?").1);
    let status = |session: &Session| session.turns.current().map(|turn| turn.status.to_string()).unwrap_or_default();
    assert_eq!(status(&session), "waiting until the repository is read");
    session.handle(Response::SurveyProgress { done: 3, total: 9 });
    assert_eq!(status(&session), "waiting until the repository is read: 3 of 9 files");
    let status_now = CodebaseResponse::Status { turn: 1, step: SearchStep::Planning };
    session.handle(Response::Codebase(status_now));
    session.handle(Response::SurveyProgress { done: 9, total: 9 });
    assert_eq!(status(&session), "planning the search");
}

#[test]
fn the_model_may_ask_for_more_as_often_as_the_settings_say() {
    let mut session = out();
    assert!(answer(&mut session, BLOCK).is_empty());
    let question = session.questions.first().expect("a question");
    assert_eq!(question.text, "search: tides\nread: b.py:1-9");
    let order = searched(&session.answer('a'));
    let wants = vec![
        ContextRequest::Search("tides".into()),
        ContextRequest::Read { path: "b.py".into(), line: 1, end_line: 9 },
    ];
    assert_eq!(order.goal, SearchGoal::Requests(wants));
    let round = asked(&found(&mut session, order.turn, vec![place("b.py", 1, order.turn)]));
    assert!(round.draft.contains("`b.py:1-10`") && round.exchange.len() == 2, "{round:?}");
    assert_eq!((round.passages.len(), round.codebase), (2, CodebaseQuestion::MayRequestMore));
    let order = searched(&answer(&mut session, BLOCK));
    let last = asked(&found(&mut session, order.turn, Vec::new()));
    assert_eq!((last.codebase, last.exchange.len()), (CodebaseQuestion::Final, 4), "no further round is offered");
    assert!(last.draft.starts_with("Nothing was found"));
    assert!(answer(&mut session, BLOCK).is_empty() && session.questions.is_empty() && !session.turns.is_running());
    assert!(notices(&session).iter().any(|text| text.contains("after 2 rounds")));
}

#[test]
fn more_is_refused_by_a_key_or_by_the_settings() {
    let mut session = out();
    answer(&mut session, BLOCK);
    assert!(session.answer('n').is_empty() && !session.turns.is_running());
    let mut session = out();
    session.modes.rules_mut().more = ContextRequestPolicy::Never;
    answer(&mut session, BLOCK);
    assert!(session.questions.is_empty());
    let mut follow_up = out();
    answer(&mut follow_up, "Yes.");
    follow_up.send("and?");
    answer(&mut follow_up, BLOCK);
    assert!(follow_up.questions.is_empty(), "a message that asked nothing of the repository");
}

#[test]
fn a_round_that_is_stopped_while_it_searches_leaves_the_answer_as_it_is() {
    let mut session = out();
    answer(&mut session, BLOCK);
    let order = searched(&session.answer('y'));
    session.cancel();
    assert!(found(&mut session, order.turn, vec![place("b.py", 1, 2)]).is_empty());
    assert_eq!(session.returned_draft(), None, "nobody typed the message of a round");
    assert!(matches!(session.transcript.last(), Some(Entry::Answer(_))));
}

#[test]
fn passages_are_listed_and_dropped_by_place() {
    let mut session = out();
    answer(&mut session, "By ropes.");
    std::sync::Arc::make_mut(&mut session.codebase.locations).push(place("b.py", 30, 1));
    let drop = |session: &mut Session, words: &str| session.command(parse_command(words).unwrap()).len();
    assert_eq!(drop(&mut session, "/passages"), 0);
    assert!(notices(&session).last().unwrap().contains("\nb.py:30-39"));
    assert_eq!(drop(&mut session, "/passages drop c.py"), 0);
    assert_eq!((drop(&mut session, "/passages drop b.py:33"), session.codebase.locations.len()), (1, 1));
    assert_eq!((drop(&mut session, "/passages drop"), session.codebase.locations.len()), (1, 0));
    assert!(parse_command("/passages keep").is_err());
}

#[test]
fn help_and_plans_search_nothing() {
    let mut session = session();
    let effects = session.command(Command::Mode { mode: Mode::Help, message: "@codebase how?".into() });
    assert!(matches!(effects[..], [Effect::Ask(_)]), "{effects:?}");
}
