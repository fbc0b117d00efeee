//! What was said, in order: the developer, the model, and the program itself.

use std::path::PathBuf;

use super::processes::CommandRun;
use crate::context::Mode;
use rhumb_edit::review::EditRecord;
use rhumb_llm::{Message, Role};
use serde::{Deserialize, Serialize};

/// How an answer stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerState {
    /// Text is still arriving.
    Streaming,
    /// It ended as the model meant it to.
    Complete,
    /// It ended early, for this reason; what arrived is kept.
    Incomplete(String),
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Its text so far.
    pub text: String,
    /// What the model thought aloud before it, where the provider sends that.
    pub reasoning: String,
    /// How it stands.
    pub state: AnswerState,
    /// Its edits, once they were looked for, in the order of the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditRecord>,
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Good to know.
    Info,
    /// Something is off.
    Warning,
    /// Something failed.
    Error,
}

/// A word of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusMessage {
    /// How much it matters.
    pub level: Level,
    /// What happened, and to what.
    pub text: String,
    /// What to do next.
    pub hint: String,
}

/// One entry of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A message of the developer. Unanswered ones do not go into the history.
    User {
        /// What was said.
        text: String,
        /// How it was meant.
        mode: Mode,
        /// Whether the model answered it.
        answered: bool,
    },
    /// A message of the program to the model, about edits that found no place. Like a message of the developer in all else.
    Again {
        /// What was said.
        text: String,
        /// Which round it is, 1-based.
        round: usize,
        /// How many there may be.
        of: usize,
        /// Whether the model answered it.
        answered: bool,
    },
    /// An answer.
    Answer(Answer),
    /// A word of the program; never sent.
    #[serde(rename = "notice")]
    Status(StatusMessage),
    /// What the developer shared with the model: the output of a command, a page. It goes with every later request.
    Shared {
        /// What it is, in a line.
        title: String,
        /// It, as the model sees it.
        text: String,
        /// The file that holds all of it, where the text is cut.
        whole: Option<PathBuf>,
    },
    /// A command that ran, or runs; never sent.
    Ran(CommandRun),
    /// The conversation before this line is not sent any more.
    Cleared,
}

impl Entry {
    /// Whether it is a message to the model.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self, Self::User { .. } | Self::Again { .. })
    }

    /// A message of the program.
    pub fn status(level: Level, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Status(StatusMessage { level, text: text.into(), hint: hint.into() })
    }
}

/// The conversation so far: messages, answers, notices, in order.
///
/// Each entry has an id, which it keeps, and a revision, which is replaced whenever the entry changes. Code that caches or saves
/// entries compares these numbers instead of texts.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    entries: Vec<Entry>,
    versions: Vec<EntryVersion>,
    /// The latest revision that was assigned.
    latest: u64,
}

/// The identity and the state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryVersion {
    /// Unique in the session; does not change when the entry changes or moves.
    pub id: u64,
    /// Unique in the session; replaced whenever the entry changes.
    pub revision: u64,
}

impl Transcript {
    /// The version of each entry, in the order of the entries.
    pub fn versions(&self) -> &[EntryVersion] {
        &self.versions
    }

    /// The revision of the whole: it changes with every change.
    pub fn revision(&self) -> u64 {
        self.latest
    }

    fn next_revision(&mut self) -> u64 {
        self.latest += 1;
        self.latest
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: Entry) {
        self.insert(self.entries.len(), entry);
    }

    /// Inserts an entry before the entry at index `at`.
    pub(super) fn insert(&mut self, at: usize, entry: Entry) {
        let revision = self.next_revision();
        self.entries.insert(at, entry);
        self.versions.insert(at, EntryVersion { id: revision, revision });
    }

    /// Inserts entries before the entry at index `at`, in their order.
    pub(super) fn insert_all(&mut self, at: usize, entries: impl IntoIterator<Item = Entry>) {
        entries.into_iter().enumerate().for_each(|(offset, entry)| self.insert(at + offset, entry));
    }

    /// Removes the entry at index `at`.
    pub fn remove(&mut self, at: usize) -> Entry {
        self.next_revision();
        self.versions.remove(at);
        self.entries.remove(at)
    }

    /// Replaces all entries and returns the old ones. Versions are not assigned twice.
    pub(super) fn replace(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let old = std::mem::take(&mut self.entries);
        self.truncate(0);
        self.extend(entries);
        old
    }

    /// Drops all entries after the first `length`.
    pub(super) fn truncate(&mut self, length: usize) {
        self.next_revision();
        self.versions.truncate(length);
        self.entries.truncate(length);
    }

    /// The entry at index `at`, to be changed; it gets a new revision.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Entry> {
        let revision = self.next_revision();
        self.versions.get_mut(at)?.revision = revision;
        self.entries.get_mut(at)
    }

    /// Passes the edits of each answer to `change`. Answers whose edits are different afterwards get a new revision.
    pub(super) fn change_edits(&mut self, mut change: impl FnMut(&mut Vec<EditRecord>)) {
        for at in 0..self.entries.len() {
            let Some(Entry::Answer(answer)) = self.entries.get_mut(at) else { continue };
            let before = answer.edits.clone();
            change(&mut answer.edits);
            if answer.edits != before {
                self.get_mut(at);
            }
        }
    }

    /// The last entry that fulfils a condition, to be changed.
    pub fn rfind_mut(&mut self, is_wanted: impl Fn(&Entry) -> bool) -> Option<&mut Entry> {
        let at = self.entries.iter().rposition(is_wanted)?;
        self.get_mut(at)
    }
}

impl std::ops::Deref for Transcript {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.entries
    }
}

impl Extend<Entry> for Transcript {
    fn extend<I: IntoIterator<Item = Entry>>(&mut self, entries: I) {
        entries.into_iter().for_each(|entry| self.push(entry));
    }
}

impl FromIterator<Entry> for Transcript {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let mut transcript = Self::default();
        transcript.extend(entries);
        transcript
    }
}

/// What the model is told after an answer that is not whole. The answer goes along, because what the developer says next is
/// often about it ("not like that"), and a model that took it for its last word would build on half an edit.
const NOT_WHOLE: &str = "[Your answer above ends in the middle: it was stopped or cut off there. It is not whole, and edits in it \
     do not count as made.]";

impl Answer {
    /// It as a part of the history, with the mark where it is not whole; nothing if it is without a word.
    fn said(&self) -> impl Iterator<Item = (Role, &str)> + Clone {
        let spoke = !self.text.is_empty();
        let is_cut = spoke && matches!(self.state, AnswerState::Incomplete(_));
        let text = spoke.then_some((Role::Assistant, self.text.as_str()));
        text.into_iter().chain(is_cut.then_some((Role::User, NOT_WHOLE)))
    }
}

/// What the next request carries as history: who spoke, and what was said. A long conversation is megabytes, and this is asked for at
/// every key, so nothing is copied.
pub(super) fn said(transcript: &[Entry]) -> impl Iterator<Item = (Role, &str)> + Clone {
    let start = transcript.iter().rposition(|entry| *entry == Entry::Cleared).map_or(0, |index| index + 1);
    let mut counts = false;
    let spoken = transcript[start..].iter().filter_map(move |entry| match entry {
        // What the manual says is of no use for code.
        Entry::User { mode: Mode::Help, .. } => {
            counts = false;
            None
        }
        Entry::User { text, answered, .. } | Entry::Again { text, answered, .. } => {
            counts = *answered;
            counts.then_some((Some((Role::User, text.as_str())), None))
        }
        Entry::Shared { text, .. } => Some((Some((Role::User, text.as_str())), None)),
        // An answer goes with its message: one that the connection broke off is asked for again.
        Entry::Answer(answer) if counts => Some((None, Some(answer.said()))),
        _ => None,
    });
    spoken.flat_map(|(message, answer)| message.into_iter().chain(answer.into_iter().flatten()))
}

/// The questions about the program so far, and their answers.
pub(super) fn help_history(transcript: &[Entry]) -> Vec<Message> {
    let mut said = Vec::new();
    let mut counts = false;
    for entry in transcript {
        match entry {
            Entry::User { text, mode, answered } => {
                counts = *answered && *mode == Mode::Help;
                said.extend(counts.then(|| Message::new(Role::User, text)));
            }
            Entry::Answer(answer) if counts => said.extend(answer.said().map(|(role, text)| Message::new(role, text))),
            Entry::Cleared => said.clear(),
            _ => {}
        }
    }
    said
}

/// How many messages at the end of the history were shared since the last message that was answered: they belong to the one
/// that comes.
pub(super) fn fresh(transcript: &[Entry]) -> usize {
    let is_past = |entry: &&Entry| {
        matches!(entry, Entry::User { answered: true, .. } | Entry::Again { answered: true, .. } | Entry::Cleared)
    };
    let since = transcript.iter().rev().take_while(|entry| !is_past(entry));
    since.filter(|entry| matches!(entry, Entry::Shared { .. })).count()
}

/// How many messages at the end of the history belong to the request that is being mended: the latest message of the
/// developer and all that was said after it.
pub(super) fn exchange(transcript: &[Entry]) -> usize {
    let request = transcript.iter().rposition(|entry| matches!(entry, Entry::User { .. })).unwrap_or(0);
    said(&transcript[request..]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_starts_after_the_last_clear_and_skips_what_got_no_answer() {
        let answer =
            Answer { text: "a".into(), reasoning: "r".into(), state: AnswerState::Complete, edits: Vec::new() };
        let user = |text: &str, answered| Entry::User { text: text.into(), mode: Mode::Code, answered };
        let transcript = [
            user("old", true),
            Entry::Cleared,
            user("lost", false),
            Entry::status(Level::Error, "no network", ""),
            user("q", true),
            Entry::Answer(answer),
        ];
        let said: Vec<_> = said(&transcript).map(|(_, text)| text).collect();
        assert_eq!(said, ["q", "a"]);
    }

    #[test]
    fn an_answer_that_is_not_whole_is_said_with_a_mark() {
        let state = AnswerState::Incomplete("cancelled".into());
        let cut = || {
            Entry::Answer(Answer {
                text: "half".into(),
                reasoning: String::new(),
                state: state.clone(),
                edits: Vec::new(),
            })
        };
        let user = |mode| Entry::User { text: "q".into(), mode, answered: true };
        let transcript = [user(Mode::Code), cut()];
        let roles_and_words: Vec<_> = said(&transcript).collect();
        let expected = [(Role::User, "q"), (Role::Assistant, "half"), (Role::User, NOT_WHOLE)];
        assert_eq!(roles_and_words, expected);
        let help = help_history(&[user(Mode::Help), cut()]);
        assert_eq!(help.last().map(|message| message.content.as_str()), Some(NOT_WHOLE));
    }

    #[test]
    fn what_was_shared_last_belongs_to_the_message_that_comes() {
        let user = |answered| Entry::User { text: "q".into(), mode: Mode::Code, answered };
        let shared = || Entry::Shared { title: "t".into(), text: "s".into(), whole: None };
        let answer = || {
            Entry::Answer(Answer {
                text: "a".into(),
                reasoning: String::new(),
                state: AnswerState::Complete,
                edits: Vec::new(),
            })
        };
        assert_eq!(fresh(&[shared(), user(true), answer(), shared(), user(false), shared()]), 2);
        assert_eq!(fresh(&[shared(), user(true), answer()]), 0);
        assert_eq!(fresh(&[shared(), Entry::Cleared]), 0);
    }

    #[test]
    fn a_request_that_is_mended_begins_with_the_developers_message() {
        let answer = || {
            Entry::Answer(Answer {
                text: "a".into(),
                reasoning: String::new(),
                state: AnswerState::Complete,
                edits: Vec::new(),
            })
        };
        let user = |text: &str| Entry::User { text: text.into(), mode: Mode::Code, answered: true };
        let again = Entry::Again { text: "mend it".into(), round: 1, of: 3, answered: true };
        let transcript = [user("old"), answer(), user("new"), answer(), again, answer()];
        assert_eq!((said(&transcript).count(), exchange(&transcript)), (6, 4));
        assert_eq!((exchange(&transcript[..4]), exchange(&[])), (2, 0));
    }
}
