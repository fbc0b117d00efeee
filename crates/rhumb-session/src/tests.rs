//! Tests of the session: methods in, effects out.

use super::*;
use rhumb_edit::review::{Decision, HunkMark};
use rhumb_edit::{FileChange, FileProposal, Flag, Proposal};
use rhumb_index::lexical::Depth;
use rhumb_index::repo_map::{Digest, History, MapFile, MapIndex, TagGraph, Weights};
use rhumb_llm::Role;
use rhumb_llm::{Completion, Finish, LlmError, StreamEvent};
use rhumb_syntax::{Language, tags};
use rhumb_workspace::Direction;
use std::sync::Arc;

/// The files, each a path with its text, as files of a map.
pub(crate) fn map_files(files: &[(&str, &str)]) -> Vec<MapFile> {
    let file = |(path, text): &(&str, &str)| {
        let tags = tags(Language::for_path(path).unwrap(), text);
        let digest = Arc::new(Digest::new(text, &tags, Depth::Whole));
        MapFile { path: (*path).to_owned(), tags: Arc::new(tags), digest }
    };
    files.iter().map(file).collect()
}

/// The definitions of the files.
pub(crate) fn graph_of(files: &[(&str, &str)]) -> Arc<TagGraph> {
    let index = Arc::new(MapIndex::of(&map_files(files)));
    Arc::new(TagGraph::new(index, &History::default(), &Weights::default()))
}

fn connected() -> Session {
    Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0
}

/// Sends a message and returns the number of its turn.
fn send(session: &mut Session, text: &str) -> u64 {
    let (sent, effects) = session.send(text);
    assert!(sent);
    match effects.as_slice() {
        [Effect::Ask(spec)] => spec.generation,
        other => panic!("{other:?}"),
    }
}

fn stream(session: &mut Session, turn: u64, text: &str) {
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
}

fn finish(session: &mut Session, turn: u64, finish: Finish) -> Vec<Effect> {
    session.handle(Response::Ended { turn, result: Ok(Completion::new(finish, None)) })
}

fn failure() -> Failure {
    Failure { message: "no network.".into(), hint: "check it".into() }
}

fn interrupted() -> AskError {
    AskError::Provider(LlmError::Interrupted("no network".into()))
}

fn proposal(base: &str, proposed: &str) -> Proposal {
    let file = FileProposal {
        path: "a".into(),
        change: FileChange::Modify,
        base: Some(Arc::from(base)),
        proposed: Some(Arc::from(proposed)),
    };
    Proposal { files: vec![file], ..Proposal::default() }
}

fn last_status(session: &Session) -> &StatusMessage {
    let status = session.transcript.iter().rev().find_map(|entry| match entry {
        Entry::Status(status) => Some(status),
        _ => None,
    });
    status.expect("a status message")
}

#[test]
fn retracted_text_becomes_reasoning() {
    let mut session = connected();
    let turn = send(&mut session, "hello");
    stream(&mut session, turn, "Perhaps:\n\na.py\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n");
    assert_eq!(session.turns.current().map(|turn| turn.edits.len()), Some(1));
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Retract) });
    stream(&mut session, turn, "No.");
    assert_eq!(session.turns.current().map(|turn| turn.edits.len()), Some(0));
    let Some(Entry::Answer(answer)) = session.transcript.last() else { panic!("no answer") };
    assert_eq!(answer.text, "No.");
    assert!(answer.reasoning.starts_with("Perhaps:"));
}

#[test]
fn without_a_model_no_message_is_sent() {
    let (mut session, _) = Session::start(Connection::None);
    let (sent, effects) = session.send("hello");
    assert!(!sent && effects.is_empty());
    assert!(last_status(&session).hint.contains("/paste"));
}

#[test]
fn the_edits_of_a_complete_answer_are_located() {
    let mut session = connected();
    let turn = send(&mut session, "do it");
    stream(&mut session, turn, "some ");
    stream(&mut session, turn, "text");
    let effects = finish(&mut session, turn, Finish::Stop);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { reply, .. } if reply == "some text")));
    assert!(!session.turns.is_running());
}

#[test]
fn the_edits_of_an_incomplete_answer_are_located_on_request() {
    let mut session = connected();
    let turn = send(&mut session, "do it");
    stream(&mut session, turn, "half");
    let effects = finish(&mut session, turn, Finish::Length);
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Propose { .. })));
    assert!(last_status(&session).text.contains("incomplete"));
    assert!(matches!(session.review_last_answer().as_slice(), [Effect::Propose { reply, .. }] if reply == "half"));
}

#[test]
fn a_failure_before_the_first_word_returns_the_message() {
    let mut session = connected();
    let turn = send(&mut session, "precious words");
    session.handle(Response::Ended { turn, result: Err(interrupted()) });
    assert_eq!(session.returned_draft(), Some("precious words"));
    assert!(!session.transcript.iter().any(|entry| matches!(entry, Entry::Answer(_))));
    assert_eq!(last_status(&session).text, "the answer ended before it was complete: no network.");
}

#[test]
fn an_unanswered_message_is_not_part_of_the_history() {
    let mut session = connected();
    let turn = send(&mut session, "first");
    session.handle(Response::Ended { turn, result: Err(interrupted()) });
    let (_, effects) = session.send("second");
    assert!(matches!(effects.as_slice(), [Effect::Ask(spec)] if spec.history.is_empty() && spec.draft == "second"));
}

#[test]
fn an_interrupted_answer_is_not_part_of_the_history() {
    let mut session = connected();
    let turn = send(&mut session, "first");
    stream(&mut session, turn, "half");
    session.handle(Response::Ended { turn, result: Err(interrupted()) });
    assert!(format!("{:?}", &session.transcript[..]).contains("half"), "it stays in the transcript");
    let (_, effects) = session.send("first");
    assert!(matches!(effects.as_slice(), [Effect::Ask(spec)] if spec.history.is_empty()));
}

#[test]
fn text_of_an_earlier_turn_is_dropped() {
    let mut session = connected();
    let old = send(&mut session, "first");
    session.cancel();
    let new = send(&mut session, "second");
    stream(&mut session, old, "late");
    session.handle(Response::Ended { turn: old, result: Err(interrupted()) });
    assert_eq!(session.turns.current().map(|turn| turn.number), Some(new));
    assert!(!format!("{:?}", &session.transcript[..]).contains("late"));
}

#[test]
fn a_cancelled_answer_keeps_its_text() {
    let mut session = connected();
    let turn = send(&mut session, "go");
    stream(&mut session, turn, "so far");
    assert!(session.cancel().contains(&Effect::Cancel));
    let is_kept = session.transcript.iter().any(|entry| {
        matches!(entry, Entry::Answer(answer) if answer.text == "so far" && answer.state == AnswerState::Incomplete("cancelled".into()))
    });
    assert!(is_kept && session.returned_draft().is_none());
}

#[test]
fn the_history_marks_a_cancelled_answer() {
    let mut session = connected();
    let turn = send(&mut session, "go");
    stream(&mut session, turn, "so far");
    session.cancel();
    let (_, effects) = session.send("not like that");
    let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
    let messages: Vec<_> = spec.history.iter().map(|message| (message.role, message.content.as_str())).collect();
    let [(Role::User, "go"), (Role::Assistant, "so far"), (Role::User, mark)] = messages.as_slice() else {
        panic!("{messages:?}")
    };
    assert!(mark.contains("not whole"), "{mark}");
}

#[test]
fn the_history_contains_an_answer_that_reached_the_output_limit() {
    let mut session = connected();
    let turn = send(&mut session, "go");
    stream(&mut session, turn, "half");
    finish(&mut session, turn, Finish::Length);
    assert!(last_status(&session).hint.contains("Later requests contain it"), "{}", last_status(&session).hint);
    let (_, effects) = session.send("and then?");
    assert!(matches!(effects.as_slice(), [Effect::Ask(spec)] if spec.history.len() == 3));
}

#[test]
fn a_message_during_a_turn_is_queued() {
    let mut session = connected();
    send(&mut session, "first");
    let (is_queued, effects) = session.send("second");
    assert!(is_queued && effects.is_empty());
    assert_eq!(session.turns.queue().waiting()[0].text, "second");
}

#[test]
fn only_accepted_hunks_are_written() {
    let mut session = connected();
    session.handle(Response::Proposed { request: "do it".into(), proposal: proposal("a\nb\nc\n", "A\nb\nC\n") });
    assert!(session.write_accepted().is_empty());
    let ids: Vec<_> = session.proposals.review().ids().collect();
    session.review_mut().decide(ids[0], Decision::Accepted);
    session.review_mut().decide(ids[1], Decision::Rejected);
    let effects = session.write_accepted();
    let [Effect::Write { files, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(files[0].content.as_deref(), Some("A\nb\nc\n"));
    assert_eq!(files[0].expected.as_deref(), Some("a\nb\nc\n"));
    assert!(session.write_accepted().is_empty(), "a second write waits for the first");
}

#[test]
fn the_commit_names_the_request_of_the_proposal() {
    let mut session = connected();
    session.handle(Response::Proposed { request: "Add a cache".into(), proposal: proposal("a\n", "b\n") });
    let turn = send(&mut session, "what does hunk 1 do?");
    stream(&mut session, turn, "It adds a cache.");
    finish(&mut session, turn, Finish::Stop);
    session.handle(Response::Proposed { request: "what does hunk 1 do?".into(), proposal: Proposal::default() });
    session.review_mut().decide_all(Decision::Accepted);
    assert!(
        matches!(session.write_accepted().as_slice(), [Effect::Write { commit, .. }] if commit.request == "Add a cache")
    );
}

#[test]
fn no_reply_can_be_pasted_during_a_turn() {
    let mut session = connected();
    let turn = send(&mut session, "go");
    stream(&mut session, turn, "first");
    assert!(session.take_reply("pasted".into()).is_empty());
    let effects = finish(&mut session, turn, Finish::Stop);
    assert!(effects.iter().any(|effect| matches!(effect, Effect::Propose { reply, .. } if reply == "first")));
}

#[test]
fn a_request_waits_for_files_that_are_not_listed_yet() {
    let mut session = connected();
    session.add_files(&["b.rs".into()], false);
    let (sent, effects) = session.send("go");
    assert!(sent && effects.is_empty());
    let effects = session.handle(Response::Listed(Arc::new(vec!["src/b.rs".into()])));
    let spec = effects.iter().find_map(|effect| match effect {
        Effect::Ask(spec) => Some(spec),
        _ => None,
    });
    let spec = spec.expect("a request");
    assert_eq!((spec.draft.as_str(), spec.files[0].path.as_str()), ("go", "src/b.rs"));
    assert_eq!(session.turns.current().map(|turn| turn.number), Some(spec.generation));
}

#[test]
fn unlocated_edits_can_be_abandoned() {
    let mut session = connected();
    session.handle(Response::Proposed { request: String::new(), proposal: proposal("a\n", "b\n") });
    session.review_mut().rebase("a", None);
    assert!(session.proposals.review().files.is_empty() && !session.proposals.review().is_empty());
    session.abandon_review();
    assert!(session.proposals.review().is_empty());
    assert_eq!(last_status(&session).text, "The edits without a location were put away.");
}

#[test]
fn an_empty_answer_returns_the_message() {
    let mut session = connected();
    let turn = send(&mut session, "go");
    finish(&mut session, turn, Finish::Stop);
    assert_eq!(session.returned_draft(), Some("go"));
    assert!(last_status(&session).text.contains("empty answer"));
}

#[test]
fn hunks_that_stay_pending_keep_their_marks() {
    let mut session = connected();
    session.handle(Response::Proposed { request: String::new(), proposal: proposal("a\nb\nc\n", "A\nb\nC\n") });
    session.review_mut().files[0].hunks[1].marks = vec![HunkMark::Flag(Flag::OutsideChat)];
    let first = session.proposals.review().ids().next().unwrap();
    session.review_mut().decide(first, Decision::Accepted);
    session.write_accepted();
    session.handle(Response::Wrote(Written { paths: vec!["a".into()], ..Written::default() }));
    assert_eq!(session.proposals.review().files[0].hunks[0].marks, [HunkMark::Flag(Flag::OutsideChat)]);
}

#[test]
fn a_write_ends_the_review_and_is_reported() {
    let mut session = connected();
    session.handle(Response::Proposed { request: "do it".into(), proposal: proposal("a\n", "b\n") });
    session.review_mut().decide_all(Decision::Accepted);
    session.write_accepted();
    let written = Written { paths: vec!["a".into()], commit: Some("abc1234".into()), ..Written::default() };
    session.handle(Response::Wrote(written));
    assert!(session.proposals.review().is_empty() && !session.proposals.is_writing());
    assert!(last_status(&session).text.contains("Wrote 1 hunk: a. Committed as abc1234."));
}

#[test]
fn undo_rereads_files_under_review() {
    let mut session = connected();
    session.handle(Response::Proposed { request: "do it".into(), proposal: proposal("a\nb\nc\n", "A\nb\nC\n") });
    assert_eq!(session.undo_or_redo(Direction::Undo), [Effect::Undo(Direction::Undo)]);
    assert!(session.undo_or_redo(Direction::Undo).is_empty(), "one after the other");
    session.review_mut().decide_all(Decision::Accepted);
    assert!(session.write_accepted().is_empty(), "no write meanwhile");
    let written = Written { paths: vec!["a".into(), "elsewhere".into()], ..Written::default() };
    let effects = session.handle(Response::Undone { direction: Direction::Undo, result: Ok(written) });
    assert!(effects.contains(&Effect::Survey) && effects.contains(&Effect::Reread(vec!["a".into()])), "{effects:?}");
    assert_eq!(last_status(&session).text, "Undid the last write: a, elsewhere.");
    assert_eq!(session.write_accepted().len(), 1);
}

#[test]
fn a_stale_file_is_reread_and_its_hunks_are_relocated() {
    let mut session = connected();
    session.handle(Response::Proposed { request: "do it".into(), proposal: proposal("a\nb\nc\nd\n", "a\nb\nc\nD\n") });
    session.review_mut().decide_all(Decision::Accepted);
    session.write_accepted();
    let effects = session.handle(Response::NotWritten { failure: failure(), stale: vec!["a".into()] });
    assert_eq!(effects, [Effect::Reread(vec!["a".into()])]);
    session.handle(Response::Reread { path: "a".into(), text: Some(Arc::from("new\na\nb\nc\nd\n")) });
    let effects = session.write_accepted();
    let [Effect::Write { files, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(files[0].content.as_deref(), Some("new\na\nb\nc\nD\n"));
}

#[test]
fn a_newer_proposal_keeps_other_files_under_review() {
    let mut session = connected();
    session.handle(Response::Proposed { request: "do it".into(), proposal: proposal("a\n", "b\n") });
    let mut other = proposal("x\n", "y\n");
    other.files[0].path = "b".into();
    session.handle(Response::Proposed { request: "do it".into(), proposal: other });
    let paths: Vec<_> = session.proposals.review().files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a", "b"]);
}

#[test]
fn the_edits_of_a_pasted_reply_are_located() {
    let (mut session, _) = Session::start(Connection::None);
    session.draft_changed("please");
    let effects = session.take_reply("the reply".into());
    assert!(matches!(effects.as_slice(), [Effect::Propose { reply, .. }] if reply == "the reply"));
    assert!(matches!(session.transcript[0], Entry::User { ref text, answered: true, .. } if text == "please"));
}

#[test]
fn pasted_replies_without_a_draft_alternate_with_messages() {
    let (mut session, _) = Session::start(Connection::None);
    session.take_reply("one".into());
    session.take_reply("two".into());
    let roles: Vec<_> = super::transcript::history(&session.transcript).map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
}

/// A proposal of two edits of `a.py`, of which one could not be located.
fn half_located() -> Proposal {
    struct OneFile;
    impl rhumb_edit::Files for OneFile {
        fn paths(&self) -> Vec<String> {
            vec!["a.py".into()]
        }
        fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
            Ok((path == "a.py").then(|| "one\ntwo\nthree\n".to_owned()))
        }
        fn in_chat(&self, _: &str) -> bool {
            true
        }
        fn root(&self) -> Option<String> {
            None
        }
    }
    let block =
        |from: &str, to: &str| format!("a.py\n```\n<<<<<<< SEARCH\n{from}\n=======\n{to}\n>>>>>>> REPLACE\n```\n");
    let reply = block("one", "eins") + &block("no such line", "drei");
    rhumb_edit::propose(&rhumb_edit::parse(&reply, rhumb_edit::FormatChoice::Auto), &OneFile)
}

/// The same with another quote that could not be located.
fn half_located_with(quote: &str) -> Proposal {
    let mut proposal = half_located();
    proposal.outcomes[1].quote = format!("{quote}\n");
    proposal
}

/// Ends the running turn with an answer whose edits are located as in `proposal`.
fn answer(session: &mut Session, turn: u64, text: &str, proposal: Proposal) -> (Vec<Effect>, Vec<Effect>) {
    stream(session, turn, text);
    let ended = finish(session, turn, Finish::Stop);
    let proposed = session.handle(Response::Proposed { request: "do it".into(), proposal });
    (ended, proposed)
}

const AN_EDIT: &str = "a.py\n```\n<<<<<<< SEARCH\none\n=======\neins\n>>>>>>> REPLACE\n```\n";

#[test]
fn unlocated_edits_are_sent_back_up_to_the_limit() {
    let mut session = connected();
    session.proposals.set_max_retries(2);
    session.draft_changed("typed meanwhile");
    let mut turn = send(&mut session, "do it");
    for round in 1..=2 {
        let (ended, proposed) =
            answer(&mut session, turn, AN_EDIT, half_located_with(&format!("no such line {round}")));
        let located = ended.iter().find_map(|effect| match effect {
            Effect::Propose { earlier, request, .. } => Some((earlier.len(), request.as_str())),
            _ => None,
        });
        assert_eq!(located, Some((round - 1, "do it")));
        let [Effect::Ask(spec)] = proposed.as_slice() else { panic!("{proposed:?}") };
        assert!(
            spec.draft.contains("no such line") && spec.exchange.len() == 2 * round && spec.history.is_empty(),
            "{spec:?}"
        );
        turn = spec.generation;
        let round_and_limit = session.transcript.iter().rev().find_map(|entry| match entry {
            Entry::FollowUp { round, of, .. } => Some((*round, *of)),
            _ => None,
        });
        assert_eq!(round_and_limit, Some((round, 2)));
    }
    let (_, proposed) = answer(&mut session, turn, AN_EDIT, half_located_with("no such line 3"));
    assert_eq!(proposed, []);
    assert_eq!((session.proposals.review().counts().total(), session.proposals.review().refused.len()), (1, 1));
    assert!(!session.turns.is_running() && session.returned_draft().is_none());
    assert!(!last_status(&session).text.contains("not asked again"), "{:?}", last_status(&session));
}

#[test]
fn edits_that_come_back_unchanged_are_not_sent_back_again() {
    let mut session = connected();
    session.proposals.set_max_retries(3);
    let mut turn = send(&mut session, "do it");
    for quote in ["no such line", "another line"] {
        let (_, proposed) = answer(&mut session, turn, AN_EDIT, half_located_with(quote));
        let [Effect::Ask(spec)] = proposed.as_slice() else { panic!("{quote}: {proposed:?}") };
        turn = spec.generation;
        assert!(!last_status(&session).text.contains("not asked again"), "{:?}", last_status(&session));
    }
    let (_, proposed) = answer(&mut session, turn, AN_EDIT, half_located_with("another line"));
    assert_eq!(proposed, []);
    let status = last_status(&session);
    assert!(status.text.contains("found no location") && status.text.contains("not asked again"), "{status:?}");
    // A new request has new retries.
    let turn = send(&mut session, "do it");
    let (_, proposed) = answer(&mut session, turn, AN_EDIT, half_located_with("another line"));
    assert!(matches!(proposed.as_slice(), [Effect::Ask(_)]), "{proposed:?}");
}

#[test]
fn feedback_on_a_review_applies_to_the_pending_changes() {
    let mut session = connected();
    session.repository.set_paths(Arc::new(vec!["a.py".into(), "b.py".into()]));
    let turn = send(&mut session, "do it");
    answer(&mut session, turn, AN_EDIT, half_located());
    session.review_mut().comment(rhumb_edit::review::CommentTarget::File(0), "in French");
    let message = session.feedback().unwrap();
    let (sent, effects) = session.send_feedback(&message);
    let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
    let chat: Vec<&str> = spec.files.iter().map(|file| file.path.as_str()).collect();
    assert!(sent && chat == ["a.py"], "the file with the comment is added: {chat:?}");
    stream(&mut session, spec.generation, AN_EDIT);
    let ended = finish(&mut session, spec.generation, Finish::Stop);
    let located = ended.into_iter().find_map(|effect| match effect {
        Effect::Propose { pending, earlier, .. } => Some((pending, earlier)),
        _ => None,
    });
    let (pending, earlier) = located.unwrap();
    assert_eq!((pending.files, pending.refused.len()), (session.proposals.review().pending_changes(), 1));
    assert_eq!(earlier, [""; 0]);
}

#[test]
fn an_answer_without_edits_ends_the_retries() {
    let mut session = connected();
    session.proposals.set_max_retries(3);
    let turn = send(&mut session, "do it");
    let (_, proposed) = answer(&mut session, turn, AN_EDIT, half_located());
    let [Effect::Ask(spec)] = proposed.as_slice() else { panic!("{proposed:?}") };
    let turn = spec.generation;
    assert_eq!(answer(&mut session, turn, "I cannot.", half_located()).1, []);
}

#[test]
fn pasted_replies_and_a_limit_of_zero_have_no_retries() {
    let mut session = connected();
    let turn = send(&mut session, "do it");
    assert_eq!(answer(&mut session, turn, AN_EDIT, half_located()).1, []);
    session.proposals.set_max_retries(3);
    session.take_reply(AN_EDIT.into());
    assert_eq!(session.handle(Response::Proposed { request: String::new(), proposal: half_located() }), []);
}

#[test]
fn cancelling_a_retry_does_not_change_the_draft() {
    let mut session = connected();
    session.proposals.set_max_retries(3);
    let turn = send(&mut session, "do it");
    answer(&mut session, turn, AN_EDIT, half_located());
    session.draft_changed("my own words");
    session.cancel();
    assert!(session.returned_draft().is_none() && !session.turns.is_running());
    assert_eq!(session.proposals.review().counts().total(), 1);
}

#[test]
fn sending_twice_confirms_a_request_that_may_exceed_the_window() {
    use crate::context::{Prompt, Window};
    let mut session = connected();
    let prompt = Prompt { tokens: 9_000, window: Window { tokens: 8_000, known: false }, ..Prompt::default() };
    session.next_request.set_view(ContextView {
        map: None,
        provisional: false,
        prompt: Arc::new(prompt),
        unreadable: Vec::new(),
    });
    let (sent, effects) = session.send("do it");
    assert!(!sent && effects.is_empty());
    assert!(last_status(&session).text.contains("9000"), "{:?}", last_status(&session));
    assert!(!session.send("do something else").0, "another message must be confirmed too");
    assert!(session.send("do something else").0);
    session.cancel();
    assert!(session.send("and now this").0, "a request of that size was confirmed before");
}
