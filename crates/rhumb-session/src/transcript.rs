//! The transcript: messages of the user, answers of the model, and status messages of the program.

use crate::context::Mode;
use crate::processes::CommandRun;
use rhumb_edit::review::EditRecord;
use rhumb_llm::{Message, Role, ToolCall};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The state of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerState {
    /// Text is still arriving.
    Streaming,
    /// The model ended it.
    Complete,
    /// It ended early, for this reason.
    Incomplete(String),
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Its text so far.
    pub text: String,
    /// The reasoning of the model, if the provider sends it.
    pub reasoning: String,
    /// Its state.
    pub state: AnswerState,
    /// Its edits in the order of the text, once they were located.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditRecord>,
    /// The thinking in the form in which the API wants it back, with tool calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinking: Vec<serde_json::Value>,
}

/// The state of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolState {
    /// It waits for calls before it, or for the user.
    Waiting,
    /// It runs.
    Running,
    /// It succeeded.
    Done,
    /// It failed; its result says why.
    Failed,
    /// It was not run, or did not end, because the loop was stopped.
    Stopped,
}

/// A tool call of the model in agent mode, and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolUse {
    /// Its number in the session, from 1. `result:N` names its result.
    pub number: usize,
    /// The step of the loop, from 1. The calls of one answer are one step.
    pub step: usize,
    /// The call.
    pub call: ToolCall,
    /// Its state.
    pub state: ToolState,
    /// The result that is sent to the model; empty before it ended.
    pub result: String,
    /// The result in a few words, for display: `212 lines`, `exit code 1`.
    pub outcome: String,
    /// The tokens of the result.
    pub tokens: usize,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// Whether requests contain one line in place of the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_dropped: bool,
    /// Whether the user wants the result to stay in requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pinned: bool,
}

impl ToolUse {
    /// The name of the tool and its arguments in one line.
    pub fn description(&self) -> (String, String) {
        rhumb_agent::tools::describe(&self.call)
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        !matches!(self.state, ToolState::Waiting | ToolState::Running)
    }
}

/// The level of a status message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Information.
    Info,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

/// A status message of the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusMessage {
    /// Its level.
    pub level: Level,
    /// What happened.
    pub text: String,
    /// What to do next.
    pub hint: String,
}

/// One entry of the transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// A message of the user. Unanswered messages are not part of the history.
    User {
        /// Its text.
        text: String,
        /// Its mode.
        mode: Mode,
        /// Whether the model answered it.
        answered: bool,
    },
    /// A message of the program to the model that continues the same request, for instance about edits that could not be located.
    #[serde(rename = "again")]
    FollowUp {
        /// Its text.
        text: String,
        /// The 1-based number of the follow-up.
        round: usize,
        /// The maximum number of follow-ups.
        of: usize,
        /// Whether the model answered it.
        answered: bool,
    },
    /// An answer of the model.
    Answer(Answer),
    /// A status message; never sent.
    #[serde(rename = "notice")]
    Status(StatusMessage),
    /// A text that the user shared with the model, such as the output of a command or a page. Later requests contain it.
    Shared {
        /// Its title, one line.
        title: String,
        /// The text that is sent.
        text: String,
        /// The file that contains the whole text, if `text` is cut.
        whole: Option<PathBuf>,
    },
    /// A command that ran or runs; never sent.
    Ran(CommandRun),
    /// A tool call of the model in agent mode, after the answer that made it.
    Tool(ToolUse),
    /// A message that the user sent while the agent loop ran. It follows the results of a step.
    Steering {
        /// Its text.
        text: String,
    },
    /// The conversation before this entry is no longer sent.
    Cleared,
}

impl Entry {
    pub(super) fn is_message(&self) -> bool {
        matches!(self, Self::User { .. } | Self::FollowUp { .. })
    }

    /// The length in bytes of the text and the reasoning of an answer; 0 for other entries.
    pub(super) fn answer_len(&self) -> usize {
        match self {
            Self::Answer(answer) => answer.text.len() + answer.reasoning.len(),
            _ => 0,
        }
    }

    /// Whether it is an answer that is still arriving.
    pub(super) fn is_streaming(&self) -> bool {
        matches!(self, Self::Answer(answer) if answer.state == AnswerState::Streaming)
    }

    /// Whether it is an answer of which no text has arrived.
    pub(super) fn is_empty_answer(&self) -> bool {
        matches!(self, Self::Answer(answer) if answer.text.is_empty() && answer.state == AnswerState::Streaming)
    }

    /// Creates a status message.
    pub fn status(level: Level, text: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Status(StatusMessage { level, text: text.into(), hint: hint.into() })
    }
}

/// The entries of a conversation, oldest first.
///
/// Each entry has a fixed id and a revision that is replaced whenever the entry changes. Code that caches or saves entries compares
/// these numbers instead of texts.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    entries: Vec<Entry>,
    versions: Vec<EntryVersion>,
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

    /// The revision of the transcript, which changes with each change.
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

    /// Removes all entries after the first `length`.
    pub(super) fn truncate(&mut self, length: usize) {
        self.next_revision();
        self.versions.truncate(length);
        self.entries.truncate(length);
    }

    /// The entry at index `at`, which gets a new revision.
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

    /// The last entry that fulfils a condition, which gets a new revision.
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

/// The message to the model after an incomplete answer. The answer is sent because the next message of the user often refers to
/// it ("not like that"). Without this message, the model would take it as complete and build on half an edit.
const INCOMPLETE_MARK: &str = "[Your answer above ends in the middle: it was stopped or cut off there. It is not whole, and edits in it \
     do not count as made.]";

impl Answer {
    /// The messages of the history that the answer contributes: its text, followed by a mark if it is incomplete. None if it is empty.
    fn messages(&self) -> impl Iterator<Item = (Role, &str)> + Clone {
        let has_text = !self.text.is_empty();
        let is_cut = has_text && matches!(self.state, AnswerState::Incomplete(_));
        let text = has_text.then_some((Role::Assistant, self.text.as_str()));
        text.into_iter().chain(is_cut.then_some((Role::User, INCOMPLETE_MARK)))
    }
}

/// The messages of the conversation that the next request contains as history. Nothing is copied, because a long conversation has
/// megabytes and the history is needed after each key.
pub(super) fn history(transcript: &[Entry]) -> impl Iterator<Item = (Role, &str)> + Clone {
    let start = transcript.iter().rposition(|entry| *entry == Entry::Cleared).map_or(0, |index| index + 1);
    let mut is_included = false;
    let messages = transcript[start..].iter().filter_map(move |entry| match entry {
        // Questions about the program are irrelevant to code.
        Entry::User { mode: Mode::Help, .. } => {
            is_included = false;
            None
        }
        Entry::User { text, answered, .. } | Entry::FollowUp { text, answered, .. } => {
            is_included = *answered;
            is_included.then_some((Some((Role::User, text.as_str())), None))
        }
        Entry::Shared { text, .. } => Some((Some((Role::User, text.as_str())), None)),
        // After a connection error, the message counts as unanswered, and its partial answer is omitted too.
        Entry::Answer(answer) => is_included.then(|| (None, Some(answer.messages()))),
        // Agent mode sends its calls with their results; later turns in other modes need only the answers.
        Entry::Steering { text } => is_included.then_some((Some((Role::User, text.as_str())), None)),
        Entry::Status(_) | Entry::Ran(_) | Entry::Tool(_) | Entry::Cleared => None,
    });
    messages.flat_map(|(message, answer)| message.into_iter().chain(answer.into_iter().flatten()))
}

/// The answered questions about the program, with their answers.
pub(super) fn help_history(transcript: &[Entry]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut is_included = false;
    for entry in transcript {
        match entry {
            Entry::User { text, mode, answered } => {
                is_included = *answered && *mode == Mode::Help;
                messages.extend(is_included.then(|| Message::new(Role::User, text)));
            }
            Entry::Answer(answer) if is_included => {
                messages.extend(answer.messages().map(|(role, text)| Message::new(role, text)));
            }
            Entry::Cleared => messages.clear(),
            _ => {}
        }
    }
    messages
}

/// The number of messages at the end of the history that were shared since the last answered message. They belong to the next one.
pub(super) fn shared_since_answer(transcript: &[Entry]) -> usize {
    let is_answered = |entry: &Entry| {
        matches!(entry, Entry::User { answered: true, .. } | Entry::FollowUp { answered: true, .. } | Entry::Cleared)
    };
    let later = &transcript[transcript.iter().rposition(is_answered).map_or(0, |at| at + 1)..];
    let next = later.iter().position(|entry| matches!(entry, Entry::User { .. })).unwrap_or(later.len());
    // What stands before the answer was sent with the answered message.
    let answer = later[..next].iter().rposition(|entry| matches!(entry, Entry::Answer(_))).unwrap_or(0);
    later[answer..].iter().filter(|entry| matches!(entry, Entry::Shared { .. })).count()
}

/// The number of messages at the end of the history that belong to the last request of the user: the last message of the user and
/// all later ones.
pub(super) fn exchange_len(transcript: &[Entry]) -> usize {
    let request = transcript.iter().rposition(|entry| matches!(entry, Entry::User { .. })).unwrap_or(0);
    history(&transcript[request..]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_starts_after_the_last_clear_and_skips_unanswered_messages() {
        let answer = Answer {
            text: "a".into(),
            reasoning: "r".into(),
            state: AnswerState::Complete,
            edits: Vec::new(),
            thinking: Vec::new(),
        };
        let user = |text: &str, answered| Entry::User { text: text.into(), mode: Mode::Code, answered };
        let transcript = [
            user("old", true),
            Entry::Cleared,
            user("lost", false),
            Entry::status(Level::Error, "no network", ""),
            user("q", true),
            Entry::Answer(answer),
        ];
        let texts: Vec<_> = history(&transcript).map(|(_, text)| text).collect();
        assert_eq!(texts, ["q", "a"]);
    }

    #[test]
    fn an_incomplete_answer_is_followed_by_a_mark() {
        let state = AnswerState::Incomplete("cancelled".into());
        let cut = || {
            Entry::Answer(Answer {
                text: "half".into(),
                reasoning: String::new(),
                state: state.clone(),
                edits: Vec::new(),
                thinking: Vec::new(),
            })
        };
        let user = |mode| Entry::User { text: "q".into(), mode, answered: true };
        let transcript = [user(Mode::Code), cut()];
        let messages: Vec<_> = history(&transcript).collect();
        let expected = [(Role::User, "q"), (Role::Assistant, "half"), (Role::User, INCOMPLETE_MARK)];
        assert_eq!(messages, expected);
        let help = help_history(&[user(Mode::Help), cut()]);
        assert_eq!(help.last().map(|message| message.content.as_str()), Some(INCOMPLETE_MARK));
    }

    #[test]
    fn texts_shared_since_the_last_answer_belong_to_the_next_message() {
        let user = |answered| Entry::User { text: "q".into(), mode: Mode::Code, answered };
        let shared = || Entry::Shared { title: "t".into(), text: "s".into(), whole: None };
        let answer = || {
            Entry::Answer(Answer {
                text: "a".into(),
                reasoning: String::new(),
                state: AnswerState::Complete,
                edits: Vec::new(),
                thinking: Vec::new(),
            })
        };
        assert_eq!(shared_since_answer(&[shared(), user(true), answer(), shared(), user(false), shared()]), 2);
        assert_eq!(shared_since_answer(&[shared(), user(true), answer()]), 0);
        assert_eq!(shared_since_answer(&[user(true), shared(), answer(), shared()]), 1);
        assert_eq!(shared_since_answer(&[shared(), Entry::Cleared]), 0);
    }

    #[test]
    fn an_exchange_begins_with_the_last_message_of_the_user() {
        let answer = || {
            Entry::Answer(Answer {
                text: "a".into(),
                reasoning: String::new(),
                state: AnswerState::Complete,
                edits: Vec::new(),
                thinking: Vec::new(),
            })
        };
        let user = |text: &str| Entry::User { text: text.into(), mode: Mode::Code, answered: true };
        let follow_up = Entry::FollowUp { text: "fix it".into(), round: 1, of: 3, answered: true };
        let transcript = [user("old"), answer(), user("new"), answer(), follow_up, answer()];
        assert_eq!((history(&transcript).count(), exchange_len(&transcript)), (6, 4));
        assert_eq!((exchange_len(&transcript[..4]), exchange_len(&[])), (2, 0));
    }

    #[test]
    fn the_saved_form_of_entries_keeps_the_old_names() {
        let follow_up = Entry::FollowUp { text: "t".into(), round: 1, of: 3, answered: true };
        let saved = serde_json::to_string(&[follow_up, Entry::status(Level::Info, "t", "h")]).unwrap();
        let expected = r#"[{"again":{"text":"t","round":1,"of":3,"answered":true}},{"notice":{"level":"info","text":"t","hint":"h"}}]"#;
        assert_eq!(saved, expected);
    }
}
