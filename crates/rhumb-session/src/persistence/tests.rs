use super::*;
use crate::context::{ChunkLocation, Mode};
use crate::*;
use proptest::prelude::*;
use rhumb_edit::review::{Decision, EditState, HunkId};
use rhumb_edit::{FileChange, FileProposal, Files, FormatChoice, ParsedReply, Proposal};
use rhumb_llm::{Completion, Finish, StreamEvent};
use rhumb_workspace::Direction;
use std::collections::BTreeMap;
use std::sync::Arc;

fn session() -> Session {
    let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
    session.handle(Response::Persisted(PersistenceResponse::Opened(Vec::new())));
    session
}

fn stream(session: &mut Session, turn: u64, text: &str) {
    session.handle(Response::Asked { turn, event: AskEvent::Stream(StreamEvent::Text(text.into())) });
}

fn end(session: &mut Session, turn: u64) {
    session.handle(Response::Ended { turn, result: Ok(Completion::new(Finish::Stop, None)) });
    session.handle(Response::NotProposed(None));
}

fn talk(session: &mut Session, question: &str) {
    session.send(question);
    let turn = session.turns.count();
    stream(session, turn, &format!("about {question}"));
    end(session, turn);
}

fn propose(session: &mut Session) {
    let text = |text: &str| Some(Arc::from(text));
    let (change, base, proposed) = (FileChange::Modify, text("a\nb\nc\n"), text("a\nB\nc\n"));
    let files = vec![FileProposal { path: "x".into(), change, base, proposed }];
    session.handle(Response::Proposed { request: "ask".into(), proposal: Proposal { files, ..Proposal::default() } });
}

/// A fake database.
#[derive(Debug, Default)]
struct Disk {
    stored: StoredSession,
    changes: usize,
}

impl Disk {
    /// Saves the changes. Returns whether there were any.
    fn save(&mut self, session: &mut Session) -> bool {
        let Some(PersistenceEffect::Save(change)) = session.unsaved_changes() else { return false };
        if !change.is_worth_saving {
            return false;
        }
        self.changes += 1;
        let stored = change.stored(str::to_owned);
        stored.name.into_iter().for_each(|name| self.stored.name = name);
        for (position, body) in stored.entries {
            self.stored.entries.resize(self.stored.entries.len().max(position + 1), String::new());
            self.stored.entries[position] = body;
        }
        self.stored.entries.truncate(stored.length);
        for (name, body) in stored.parts {
            self.stored.parts.insert(name.to_owned(), body);
        }
        true
    }

    fn read(&self) -> SavedSession {
        SavedSession::from(self.stored.clone())
    }

    fn resumed(&self) -> Session {
        let mut session = session();
        session
            .handle(Response::Persisted(PersistenceResponse::Resumed { session: Box::new(self.read()), fork: false }));
        session
    }
}

fn texts(session: &Session) -> Vec<String> {
    let messages = session.transcript.iter().filter_map(|entry| match entry {
        Entry::User { text, .. } => Some(text.clone()),
        Entry::Answer(answer) => Some(answer.text.clone()),
        _ => None,
    });
    messages.collect()
}

fn last_status(session: &Session) -> &StatusMessage {
    let message = session.transcript.iter().rev().find_map(|entry| match entry {
        Entry::Status(message) => Some(message),
        _ => None,
    });
    message.expect("a status message")
}

#[test]
fn passages_are_saved_until_the_conversation_is_cleared() {
    let (mut session, mut disk) = (session(), Disk::default());
    talk(&mut session, "ropes?");
    let place = ChunkLocation { path: "a.py".into(), line: 3, end_line: 9, anchor: None, turn: 1, rank: 0, hash: 7 };
    session.codebase.locations = std::sync::Arc::new(vec![place]);
    assert!(disk.save(&mut session));
    assert_eq!(disk.resumed().codebase.locations, session.codebase.locations);
    session.clear_history();
    assert!(disk.save(&mut session));
    assert!(disk.resumed().codebase.locations.is_empty());
}

#[test]
fn an_empty_session_is_not_saved_but_its_inputs_are() {
    let (mut session, mut disk) = (session(), Disk::default());
    session.report(Level::Info, "welcome", "");
    assert!(!disk.save(&mut session));
    session.remember_input("/ls");
    let Some(PersistenceEffect::Save(change)) = session.unsaved_changes() else { panic!("the input is not saved") };
    assert_eq!((change.is_worth_saving, change.inputs.as_slice()), (false, ["/ls".to_owned()].as_slice()));
    session.draft_changed("hm");
    assert!(disk.save(&mut session));
    assert!(!disk.save(&mut session), "nothing has changed since");
    assert_eq!(disk.read().draft, "hm");
}

#[test]
fn without_a_database_nothing_is_saved() {
    let mut session = Session::start(Connection::Demo).0;
    session.send("x");
    assert_eq!(session.unsaved_changes(), None);
    session.handle(Response::Persisted(PersistenceResponse::Opened(Vec::new())));
    assert!(session.unsaved_changes().is_some());
    session.handle(Response::Persisted(PersistenceResponse::Off(None)));
    session.draft_changed("more");
    assert_eq!(session.unsaved_changes(), None);
}

#[test]
fn only_changes_are_saved() {
    let mut session = session();
    talk(&mut session, "one");
    session.unsaved_changes();
    session.send("two");
    let turn = session.turns.count();
    stream(&mut session, turn, "a");
    session.unsaved_changes();
    stream(&mut session, turn, "b");
    let Some(PersistenceEffect::Save(change)) = session.unsaved_changes() else { panic!("the answer has changed") };
    assert_eq!(change.entries.iter().map(|(position, _)| *position).collect::<Vec<_>>(), [3]);
    assert!(change.files.is_none() && change.review.is_none() && change.ledger.is_none());
}

#[test]
fn an_interrupted_answer_can_be_continued_after_a_restart() {
    let (mut first, mut disk) = (session(), Disk::default());
    first.send("write a poem");
    stream(&mut first, 1, "Roses");
    disk.save(&mut first);
    let mut session = disk.resumed();
    let interrupted = Entry::Answer(Answer {
        text: "Roses".into(),
        reasoning: String::new(),
        state: AnswerState::Incomplete("rhumb was stopped".into()),
        edits: Vec::new(),
        thinking: Vec::new(),
    });
    assert!(session.transcript.contains(&interrupted), "{:?}", session.transcript);
    let effects = session.continue_answer();
    assert!(matches!(effects.as_slice(), [Effect::Ask(spec)] if spec.partial == "Roses"), "{effects:?}");
    assert!(matches!(disk.resumed().retry().as_slice(), [Effect::Ask(_)]));
}

#[test]
fn a_message_without_an_answer_becomes_the_draft_again() {
    let (mut first, mut disk) = (session(), Disk::default());
    first.send("write a poem");
    disk.save(&mut first);
    let session = disk.resumed();
    assert_eq!(session.returned_draft(), Some("write a poem"));
    assert_eq!(texts(&session), ["write a poem"], "the empty answer is removed");
}

#[test]
fn choices_files_review_and_draft_are_restored() {
    let (mut first, mut disk) = (session(), Disk::default());
    talk(&mut first, "one");
    first.chat_files.add("docs/api.md", true);
    first.modes.set_mode(Mode::Ask);
    first.set_map_tokens(Some(512));
    first.toggle_pin("x");
    first.rename("poem".into());
    propose(&mut first);
    first.review_mut().decide_all(Decision::Accepted);
    first.draft_changed("and then");
    disk.save(&mut first);
    let mut session = disk.resumed();
    assert_eq!(
        (&session.chat_files.files(), session.modes.mode(), session.map().tokens),
        (&first.chat_files.files(), Mode::Ask, Some(512))
    );
    assert_eq!((&session.map().pinned, &session.persistence.name), (&first.map().pinned, &first.persistence.name));
    assert_eq!(
        (&session.proposals.review().files, session.proposals.request()),
        (&first.proposals.review().files, first.proposals.request())
    );
    assert_eq!(session.returned_draft(), Some("and then"));
    assert_eq!(session.proposals.count(), 1, "the review pane shows it");
    assert!(matches!(session.write_accepted().as_slice(), [Effect::Write { .. }]));
}

/// A repository of one file.
struct OneFile;

impl Files for OneFile {
    fn paths(&self) -> Vec<String> {
        vec!["x".into()]
    }
    fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        Ok((path == "x").then(|| "a\nb\nc\nd\ne\n".to_owned()))
    }
    fn in_chat(&self, _: &str) -> bool {
        true
    }
    fn root(&self) -> Option<String> {
        None
    }
}

/// A session with an edit of each kind: two that are located, one that cannot be located, one that is sent twice, and one that is
/// incomplete.
fn with_edits() -> Session {
    let block =
        |old: &str, new: &str| format!("x\n```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n\n");
    let blocks = [block("b", "B"), block("d", "D"), block("zebra", "Z"), block("b", "B")].concat();
    let reply = format!("{blocks}x\n```\n<<<<<<< SEARCH\ne\n=======\nE\n");
    let mut session = session();
    session.proposals.set_max_retries(0);
    session.send("ask");
    let turn = session.turns.count();
    stream(&mut session, turn, &reply);
    session.handle(Response::Ended { turn, result: Ok(Completion::new(Finish::Stop, None)) });
    let parsed = ParsedReply { answer: Some(0), ..rhumb_edit::parse(&reply, FormatChoice::Auto) };
    let proposal = rhumb_edit::propose(&parsed, &OneFile);
    session.handle(Response::Proposed { request: "ask".into(), proposal });
    session
}

fn states(session: &Session) -> Vec<EditState> {
    let answers = session.transcript.iter().filter_map(|entry| match entry {
        Entry::Answer(answer) => Some(answer),
        _ => None,
    });
    answers.flat_map(|answer| &answer.edits).map(|record| session.edit_state(record)).collect()
}

#[test]
fn the_state_of_each_edit_is_restored() {
    use EditState::{Accepted, Dismissed, Incomplete, Pending, Rejected, Repeated, Undone, Unplaced, Written};
    let (mut session, mut disk) = (with_edits(), Disk::default());
    let mut check = |session: &mut Session, wanted: [EditState; 5]| {
        assert_eq!(states(session), wanted);
        disk.save(session);
        let resumed = disk.resumed();
        assert_eq!(states(&resumed), wanted, "after a restart");
    };
    check(&mut session, [Pending, Pending, Unplaced, Repeated, Incomplete]);
    session.review_mut().decide(HunkId { file: 0, hunk: 0 }, Decision::Accepted);
    session.review_mut().decide(HunkId { file: 0, hunk: 1 }, Decision::Rejected);
    check(&mut session, [Accepted, Rejected, Unplaced, Repeated, Incomplete]);
    let zebra = session.proposals.review().refused.iter().position(|outcome| outcome.quote.contains("zebra")).unwrap();
    session.review_mut().dismiss(zebra);
    check(&mut session, [Accepted, Rejected, Dismissed, Repeated, Incomplete]);
    let written = || crate::Written { paths: vec!["x".into()], ..crate::Written::default() };
    session.handle(Response::Wrote(written()));
    check(&mut session, [Written, Rejected, Dismissed, Repeated, Incomplete]);
    let direction = Direction::Undo;
    session.handle(Response::Undone { direction, result: Ok(written()) });
    check(&mut session, [Undone, Rejected, Dismissed, Repeated, Incomplete]);
    session.handle(Response::Undone { direction: Direction::Redo, result: Ok(written()) });
    check(&mut session, [Written, Rejected, Dismissed, Repeated, Incomplete]);
}

#[test]
fn conflicts_and_replaced_edits_are_restored() {
    use EditState::{Conflict, Incomplete, Pending, Repeated, Replaced, Unplaced};
    let (mut session, mut disk) = (with_edits(), Disk::default());
    let text = Some(Arc::from("a\nmine\nc\nd\ne\n"));
    session.handle(Response::Reread { path: "x".into(), text });
    let wanted = [Conflict, Pending, Unplaced, Repeated, Incomplete];
    assert_eq!(states(&session), wanted);
    disk.save(&mut session);
    assert_eq!(states(&disk.resumed()), wanted);
    let mut session = with_edits();
    let mut disk = Disk::default();
    propose(&mut session);
    assert_eq!(states(&session)[2..], [Replaced, Repeated, Replaced]);
    disk.save(&mut session);
    assert_eq!(states(&disk.resumed()), states(&session));
}

#[test]
fn feedback_on_written_hunks_is_restored() {
    let (mut first, mut disk) = (session(), Disk::default());
    talk(&mut first, "ask");
    propose(&mut first);
    let id = rhumb_edit::review::HunkId::default();
    first.review_mut().decide_all(Decision::Accepted);
    first.review_mut().comment(rhumb_edit::review::CommentTarget::Hunk(id), "mind the docs");
    disk.save(&mut first);
    first.handle(Response::Wrote(Written { paths: vec!["x".into()], ..Written::default() }));
    assert!(disk.save(&mut first) && !disk.save(&mut first));
    let second = disk.resumed();
    let message = second.feedback().expect("feedback");
    assert!(message.contains("mind the docs") && message.contains("written"), "{message}");
}

#[test]
fn hunks_in_changed_lines_are_in_conflict_after_a_restart() {
    let (mut first, mut disk) = (session(), Disk::default());
    talk(&mut first, "one");
    propose(&mut first);
    disk.save(&mut first);
    let mut saved = disk.read();
    saved.stale = vec![("x".into(), Some(Arc::from("a\nbb\nc\n")))];
    let mut session = session();
    session.handle(Response::Persisted(PersistenceResponse::Resumed { session: Box::new(saved), fork: false }));
    assert!(session.proposals.review().files.is_empty());
    assert_eq!(session.proposals.review().refused.len(), 1);
    assert!(last_status(&session).text.contains("x was read again"), "{:?}", last_status(&session));
}

#[test]
fn secrets_are_masked_and_a_review_with_a_secret_is_not_saved() {
    let mut session = session();
    talk(&mut session, "is hunter2 good?");
    session.rename("hunter2".into());
    session.draft_changed("hunter2!");
    propose(&mut session);
    session.proposals.set_request("hunter2");
    let Some(PersistenceEffect::Save(change)) = session.unsaved_changes() else { panic!("nothing to save") };
    let stored = change.stored(|text| text.replace("hunter2", "[key]"));
    assert!(!format!("{stored:?}").contains("hunter2"));
    let parts = stored.parts.into_iter().map(|(name, body)| (name.to_owned(), body)).collect::<BTreeMap<_, _>>();
    let saved = SavedSession::from(StoredSession { parts, ..StoredSession::default() });
    assert!(saved.review.is_empty());
    assert_eq!(saved.unreadable, ["The review was not saved, because it contained a key."]);
}

#[test]
fn a_session_is_not_resumed_during_a_turn() {
    let mut session = session();
    session.send("one");
    assert!(session.resume(None).is_empty());
    let effects =
        session.handle(Response::Persisted(PersistenceResponse::Resumed { session: Box::default(), fork: false }));
    assert_eq!(effects, [Effect::Persist(PersistenceEffect::CancelResume)]);
    assert_eq!(texts(&session)[0], "one");
}

#[test]
fn unsaved_changes_are_saved_before_another_session_is_resumed() {
    let mut session = session();
    talk(&mut session, "one");
    let effects =
        session.handle(Response::Persisted(PersistenceResponse::Resumed { session: Box::default(), fork: true }));
    let Effect::Persist(PersistenceEffect::Save(change)) = &effects[0] else { panic!("{effects:?}") };
    assert_eq!(change.messages, 1);
    assert_eq!(effects[1], Effect::Persist(PersistenceEffect::Branch { from: Some(0) }));
}

#[test]
fn files_and_status_messages_of_the_start_stay_when_a_session_is_resumed() {
    let (mut first, mut disk) = (session(), Disk::default());
    talk(&mut first, "one");
    first.chat_files.add("a", false);
    disk.save(&mut first);
    let mut session = session();
    session.report(Level::Warning, "no git here", "");
    session.chat_files.add("b", false);
    session.handle(Response::Persisted(PersistenceResponse::Resumed { session: Box::new(disk.read()), fork: false }));
    let paths: Vec<&str> = session.chat_files.files().iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a", "b"]);
    assert!(
        session.transcript.iter().any(|entry| matches!(entry, Entry::Status(notice) if notice.text == "no git here"))
    );
}

#[test]
fn a_fork_ends_with_its_turn_and_the_previous_session_keeps_the_rest() {
    let (mut session, mut disk) = (session(), Disk::default());
    for text in ["one", "two", "three"] {
        talk(&mut session, text);
    }
    session.handle(Response::Persisted(PersistenceResponse::Numbered(7)));
    propose(&mut session);
    disk.save(&mut session);
    assert!(session.fork(Some(4)).is_empty() && last_status(&session).text.contains("3 turns"));
    let effects = session.fork(Some(2));
    assert!(effects.contains(&Effect::Persist(PersistenceEffect::Branch { from: None })), "{effects:?}");
    assert_eq!(texts(&session), ["one", "about one", "two", "about two"]);
    assert!(session.proposals.review().is_empty(), "it belongs to the third turn");
    assert!(last_status(&session).hint.contains("/resume 7"));
    let mut other = Disk::default();
    assert!(other.save(&mut session));
    assert_eq!(other.read().transcript.len(), session.transcript.len(), "all of it is saved, not only new entries");
    assert_eq!(disk.read().transcript.iter().filter(|entry| entry.is_message()).count(), 3);
}

#[test]
fn a_rewind_removes_the_turn_and_all_later_ones() {
    let mut session = session();
    for text in ["one", "two", "three"] {
        talk(&mut session, text);
    }
    session.rewind(Some(2));
    assert_eq!(session.returned_draft(), Some("two"));
    assert_eq!(texts(&session), ["one", "about one"]);
    session.rewind(None);
    assert_eq!(session.returned_draft(), Some("one"));
    assert!(session.rewind(None).is_empty());
}

#[test]
fn a_rewind_discards_the_review_only_if_it_is_saved() {
    let mut session = Session::start(Connection::Demo).0;
    talk(&mut session, "one");
    propose(&mut session);
    session.rewind(Some(1));
    assert!(!session.proposals.review().is_empty());
}

#[test]
fn a_session_that_is_open_elsewhere_is_forked_after_a_yes() {
    let mut session = session();
    session.handle(Response::Persisted(PersistenceResponse::OpenElsewhere { number: 4, title: "poem".into() }));
    let selector = SessionSelector::Named("4".into());
    assert_eq!(session.answer('f'), [Effect::Persist(PersistenceEffect::Resume { selector, fork: true })]);
    session.handle(Response::Persisted(PersistenceResponse::OpenElsewhere { number: 4, title: "poem".into() }));
    assert!(session.answer('n').is_empty());
}

#[test]
fn a_file_is_replaced_only_after_a_yes() {
    let mut session = session();
    talk(&mut session, "Why, oh why?");
    let effects = session.export(None);
    let [Effect::Persist(PersistenceEffect::Write(file))] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!((file.path.as_str(), file.overwrite), ("why-oh-why-", false));
    session.handle(Response::Persisted(PersistenceResponse::Exists(file.clone())));
    assert!(session.answer('k').is_empty());
    session.handle(Response::Persisted(PersistenceResponse::Exists(file.clone())));
    assert_eq!(
        session.answer('r'),
        [Effect::Persist(PersistenceEffect::Write(TextFile { overwrite: true, ..file.clone() }))]
    );
    assert!(session.export(Some("talk.txt".into())).is_empty());
}

#[test]
fn a_file_of_commands_may_not_run_programs() {
    let mut session = session();
    session.chat_files.add("a b.rs", false);
    session.chat_files.add("docs.md", true);
    let effects = session.save_files("chat.rhumb".into());
    let [Effect::Persist(PersistenceEffect::Write(file))] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(file.text, "/add 'a b.rs'\n/read-only docs.md\n");
    let text = format!("# mine\n{}\n/run rm -rf x\n!ls\n/git push\n/zebra\n/load chat.rhumb\n", file.text);
    session.handle(Response::Persisted(PersistenceResponse::Commands { path: "chat.rhumb".into(), text }));
    assert_eq!(session.notices().filter(|notice| matches!(notice, Notice::Run(_))).count(), 2);
    let messages_with = |word: &str| {
        let contains = |entry: &&Entry| matches!(entry, Entry::Status(message) if message.text.contains(word));
        session.transcript.iter().filter(contains).count()
    };
    assert_eq!(
        (messages_with("Skipped line"), messages_with("/git"), messages_with("Running 2 commands of chat.rhumb")),
        (5, 1, 1)
    );
}

#[test]
fn after_a_damaged_database_the_whole_session_is_saved_again() {
    let (mut session, mut disk) = (session(), Disk::default());
    talk(&mut session, "one");
    disk.save(&mut session);
    session.handle(Response::Persisted(PersistenceResponse::DatabaseReplaced("/s/sessions.db.damaged".into())));
    assert!(last_status(&session).text.contains("/s/sessions.db.damaged"));
    let mut new_disk = Disk::default();
    new_disk.save(&mut session);
    assert_eq!(new_disk.read().transcript[..], session.transcript[..]);
}

#[test]
fn unreadable_parts_are_reported_and_the_others_are_used() {
    let (mut session, mut disk) = (session(), Disk::default());
    talk(&mut session, "one");
    session.chat_files.add("a", false);
    disk.save(&mut session);
    disk.stored.entries[1] = r#"{"hologram":{}}"#.into();
    disk.stored.parts.insert("ledger".into(), "?".into());
    let saved = disk.read();
    assert_eq!((saved.files.len(), saved.transcript.len()), (1, session.transcript.len()));
    assert_eq!(saved.unreadable, ["The ledger of the session could not be read."]);
}

#[derive(Debug, Clone)]
enum Step {
    Send(String),
    Stream(String),
    End,
    Cancel,
    Draft(String),
    File(u8, bool),
    Mode(usize),
    Tell(String),
    Clear,
    Pin(u8),
    Propose,
    Decide(bool),
    Rename(String),
    Retry,
    Rewind,
    Save,
}

fn step() -> impl Strategy<Value = Step> {
    let text = || "[a-z \n]{0,12}";
    prop_oneof![
        3 => "[a-z]{1,9}".prop_map(Step::Send),
        5 => text().prop_map(Step::Stream),
        2 => Just(Step::End),
        1 => Just(Step::Cancel),
        1 => text().prop_map(Step::Draft),
        1 => (0u8..4, any::<bool>()).prop_map(|(file, read_only)| Step::File(file, read_only)),
        1 => (0usize..5).prop_map(Step::Mode),
        1 => text().prop_map(Step::Tell),
        1 => Just(Step::Clear),
        1 => (0u8..4).prop_map(Step::Pin),
        1 => Just(Step::Propose),
        1 => any::<bool>().prop_map(Step::Decide),
        1 => "[a-z]{0,4}".prop_map(Step::Rename),
        1 => Just(Step::Retry),
        1 => Just(Step::Rewind),
        3 => Just(Step::Save),
    ]
}

fn take(session: &mut Session, step: Step) {
    let turn = session.turns.count();
    match step {
        Step::Send(text) => drop(session.send(&text)),
        Step::Stream(text) => stream(session, turn, &text),
        Step::End => end(session, turn),
        Step::Cancel => drop(session.cancel()),
        Step::Draft(text) => drop(session.draft_changed(&text)),
        Step::File(file, read_only) => session.chat_files.add(&format!("f{file}"), read_only),
        Step::Mode(mode) => session.modes.set_mode(Mode::CHOICES[mode]),
        Step::Tell(text) => session.report(Level::Info, text, "hint"),
        Step::Clear => drop(session.clear_history()),
        Step::Pin(file) => drop(session.toggle_pin(&format!("f{file}"))),
        Step::Propose => propose(session),
        Step::Decide(yes) => {
            session.review_mut().decide_all(if yes { Decision::Accepted } else { Decision::Rejected });
        }
        Step::Rename(name) => session.persistence.name = name,
        Step::Retry => drop(session.retry()),
        // The test itself handles these.
        Step::Rewind | Step::Save => {}
    }
}

proptest! {
    #[test]
    fn the_saved_session_equals_the_session(steps in prop::collection::vec(step(), 1..40)) {
        let (mut session, mut disk) = (session(), Disk::default());
        for step in steps {
            match step {
                Step::Save => drop(disk.save(&mut session)),
                Step::Rewind if !session.rewind(None).is_empty() => disk = Disk::default(),
                step => take(&mut session, step),
            }
        }
        disk.save(&mut session);
        prop_assume!(disk.changes > 0);
        let saved = disk.read();
        prop_assert!(saved.unreadable.is_empty(), "{:?}", saved.unreadable);
        prop_assert_eq!(&saved.transcript[..], &session.transcript[..]);
        prop_assert_eq!(&saved.files, &session.chat_files.files());
        prop_assert_eq!((saved.draft.as_str(), &saved.name), (session.drafts.message(), &session.persistence.name));
        prop_assert_eq!(&saved.review.files, &session.proposals.review().files);
        prop_assert_eq!((saved.choices.mode, saved.choices.turns), (session.modes.mode(), session.turns.count()));
        prop_assert_eq!(&saved.summary, session.history.summary());
        prop_assert!(disk.resumed().history_messages() == session.history_messages() || session.turns.is_running());
    }
}

#[test]
fn queued_messages_are_held_when_another_session_is_resumed() {
    let (mut first, mut disk) = (session(), Disk::default());
    talk(&mut first, "one");
    disk.save(&mut first);
    let mut session = session();
    session.handle(Response::Listed(Arc::new(vec!["a.py".into()])));
    session.handle(Response::Symbols(Arc::default()));
    session.send("one more");
    session.send("fix a.py");
    session.cancel();
    let saved = Box::new(disk.read());
    session.handle(Response::Persisted(PersistenceResponse::Resumed { session: saved, fork: false }));
    assert!(session.questions.is_empty() && session.next_queued().is_empty());
    assert!(session.turns.queue().is_held());
    assert_eq!(session.take_back_queued().as_deref(), Some("fix a.py"), "the message is not lost");
}

#[test]
fn a_session_is_not_resumed_while_edits_are_being_located() {
    let mut disk = Disk::default();
    let mut first = session();
    talk(&mut first, "one");
    disk.save(&mut first);
    let mut session = session();
    session.send("two");
    let turn = session.turns.count();
    stream(&mut session, turn, "about two");
    session.handle(Response::Ended { turn, result: Ok(Completion::new(Finish::Stop, None)) });
    let saved = Box::new(disk.read());
    let effects = session.handle(Response::Persisted(PersistenceResponse::Resumed { session: saved, fork: false }));
    assert_eq!(effects, [Effect::Persist(PersistenceEffect::CancelResume)]);
    assert_eq!(texts(&session), ["two", "about two"]);
}

#[test]
fn a_restored_message_has_its_mode() {
    let (mut first, mut disk) = (session(), Disk::default());
    first.command(Command::Mode { mode: Mode::Ask, message: "why?".into() });
    disk.save(&mut first);
    assert_eq!(disk.resumed().returned_draft(), Some("/ask why?"), "after a crash");
    first.cancel();
    first.rewind(None);
    assert_eq!(first.returned_draft(), Some("/ask why?"), "after a rewind");
}

#[test]
fn a_running_command_does_not_change_the_cards_of_another_session() {
    let began = |line: &str| RunResponse::Started { job: 1, run: 1, line: line.into() };
    let (mut first, mut disk) = (session(), Disk::default());
    first.run_line("echo one".into());
    first.handle(Response::Ran(began("echo one")));
    disk.save(&mut first);
    let mut session = session();
    session.run_line("sleep 9".into());
    session.handle(Response::Ran(began("sleep 9")));
    let saved = Box::new(disk.read());
    session.handle(Response::Persisted(PersistenceResponse::Resumed { session: saved, fork: false }));
    let end = RunResponse::Ended { run: 1, end: Err("gone".into()), output: std::sync::Arc::from(""), seconds: 9 };
    session.handle(Response::Ran(end));
    let lines: Vec<&str> = session
        .transcript
        .iter()
        .filter_map(|entry| match entry {
            Entry::Ran(ran) => Some(ran.line.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(lines, ["echo one"]);
}

#[test]
fn findings_of_a_check_are_not_sent_in_another_session() {
    let (mut first, mut disk) = (session(), Disk::default());
    talk(&mut first, "one");
    disk.save(&mut first);
    let mut session = session();
    session.processes.set_max_rounds(3);
    talk(&mut session, "two");
    let effects = session.check_written(&["x".to_owned()], CheckMode::FromSettings);
    assert!(matches!(effects.as_slice(), [Effect::Run(RunEffect::Check { job: 1, .. })]), "{effects:?}");
    let saved = Box::new(disk.read());
    session.handle(Response::Persisted(PersistenceResponse::Resumed { session: saved, fork: false }));
    let shared = SharedText { title: "x".into(), text: "wrong".into(), tokens: 1, whole: None };
    let outcome = JobOutcome { shared: Some(shared), failed: true, ..JobOutcome::default() };
    let effects = session.handle(Response::Ran(RunResponse::Done { job: 1, outcome }));
    assert!(effects.is_empty() && !session.turns.is_running(), "{effects:?}");
    assert_eq!(session.questions.len(), 1, "it is offered");
}

#[test]
fn a_long_streaming_answer_is_saved_with_linear_copying_and_completely_at_its_end() {
    const PIECE: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    const LENGTH: usize = 1 << 20;
    let mut session = session();
    session.send("write");
    let turn = session.turns.count();
    let mut disk = Disk::default();
    let mut copied = 0;
    for written in (0..LENGTH).step_by(PIECE.len()) {
        stream(&mut session, turn, PIECE);
        let Some(PersistenceEffect::Save(changes)) = session.unsaved_changes() else { continue };
        copied += changes.entries.iter().map(|(_, entry)| entry.answer_len()).sum::<usize>();
        if let Some((_, entry)) = changes.entries.last() {
            let saved = entry.answer_len();
            assert_eq!(saved, written + PIECE.len(), "what is saved is complete");
        }
    }
    assert!(copied < 12 * LENGTH, "{copied} bytes were copied");
    end(&mut session, turn);
    assert!(disk.save(&mut session));
    let answer = session.transcript.last().map_or(0, Entry::answer_len);
    assert_eq!(answer, LENGTH);
    assert!(!disk.save(&mut session), "everything is saved");
}
