//! The saved parts of a session: the changes since the last save, their form in the database, and the loaded session.
//!
//! A session is stored as rows of text: each entry of the transcript and each other part is JSON. A part that cannot be read is
//! reported, and the rest is used: a partly restored session is better than none.

use crate::context::{ChunkLocation, HunkFeedback, Mode};
use crate::request::history_summary::HistorySummary;
use crate::{ChatFile, Connection, Entry, EntryVersion, Level, PersistenceEffect, Session};
use rhumb_edit::review::Review;
use rhumb_llm::models::Ledger;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow as _;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionLine {
    /// The number.
    pub number: i64,
    /// The session from which it was branched.
    pub parent: Option<i64>,
    /// The name; empty without one.
    pub name: String,
    /// The first line of the first message; empty without one.
    pub opening: String,
    /// The number of messages of the user.
    pub messages: usize,
    /// The creation time, in local time: `2026-11-22 08:40`.
    pub begun: String,
    /// The time of the last change, in local time.
    pub changed: String,
    /// Whether a process has it open.
    pub live: bool,
}

impl SessionLine {
    /// The name, or else the first message.
    pub fn title(&self) -> &str {
        match (self.name.as_str(), self.opening.as_str()) {
            ("", "") => "(nothing sent yet)",
            ("", opening) => opening,
            (name, _) => name,
        }
    }

    /// Whether the name, the first message or the dates contain every word of a query.
    pub fn matches(&self, query: &str) -> bool {
        let text = format!("{} {} {} {}", self.name, self.opening, self.begun, self.changed).to_lowercase();
        query.to_lowercase().split_whitespace().all(|word| text.contains(word))
    }
}

/// The changes of a session since it was last written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionChange {
    /// The name, if it changed.
    pub name: Option<String>,
    /// The first message, if it changed.
    pub opening: Option<String>,
    /// The number of messages of the user.
    pub messages: usize,
    /// New or changed entries, by their position in the transcript.
    pub entries: Vec<(usize, String)>,
    /// The number of entries. Later entries are deleted.
    pub length: usize,
    /// Changed parts. An empty part is deleted.
    pub parts: Vec<(&'static str, String)>,
}

/// A session as rows of the database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredSession {
    /// The number.
    pub number: i64,
    /// The session from which it was branched.
    pub parent: Option<i64>,
    /// The name; empty without one.
    pub name: String,
    /// The transcript.
    pub entries: Vec<String>,
    /// Everything else.
    pub parts: BTreeMap<String, String>,
}

/// The names of the parts in the database.
const FILES: &str = "files";
const CHOICES: &str = "choices";
const LEDGER: &str = "ledger";
const REVIEW: &str = "review";
const SUMMARY: &str = "folded";
const DRAFT: &str = "draft";
const PASSAGES: &str = "passages";
const FEEDBACK: &str = "comments";

/// The user's choices that belong to the session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SavedChoices {
    /// The mode.
    #[serde(default)]
    pub mode: Mode,
    /// The model that answered last; empty without one.
    #[serde(default)]
    pub model: String,
    /// The token budget of the map, if one was chosen.
    #[serde(default)]
    pub map_tokens: Option<usize>,
    /// The files that come first in the map.
    #[serde(default)]
    pub pinned: Vec<String>,
    /// The files that the map never shows.
    #[serde(default)]
    pub banned: Vec<String>,
    /// The number of turns so far.
    #[serde(default)]
    pub turns: u64,
}

/// A review to save. Two are equal if their fingerprints and requests are.
#[derive(Debug, Clone)]
pub struct SavedReview {
    /// The review.
    pub review: Review,
    /// The request behind it.
    pub request: String,
    revision: u64,
}

impl PartialEq for SavedReview {
    fn eq(&self, other: &Self) -> bool {
        (self.revision, &self.request) == (other.revision, &other.request)
    }
}

/// The changes since the last save. Fields that did not change are `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnsavedChanges {
    /// Whether the session has contents to save. If not, only the inputs are saved.
    pub is_worth_saving: bool,
    /// The name that the user gave it.
    pub name: Option<String>,
    /// The first line of its first message.
    pub opening: Option<String>,
    /// The number of messages of the user.
    pub messages: usize,
    /// New or changed entries, by their position in the transcript.
    pub entries: Vec<(usize, Entry)>,
    /// The number of entries.
    pub length: usize,
    /// The files in the chat.
    pub files: Option<Vec<ChatFile>>,
    /// The user's choices.
    pub choices: Option<SavedChoices>,
    /// The cost so far.
    pub ledger: Option<Ledger>,
    /// The review.
    pub review: Option<SavedReview>,
    /// Feedback on hunks that left the review since the last message about it.
    pub feedback: Option<Vec<HunkFeedback>>,
    pub(crate) summary: Option<HistorySummary>,
    /// The passages of `@codebase` questions.
    pub passages: Option<Vec<ChunkLocation>>,
    /// The message being written.
    pub draft: Option<String>,
    /// New inputs, the oldest first.
    pub inputs: Vec<String>,
}

/// The last saved state, for comparison.
#[derive(Debug, Default)]
pub(super) struct SavedState {
    versions: Vec<EntryVersion>,
    /// The length of the streaming answer, in bytes.
    streamed: usize,
    is_worth_saving: bool,
    name: String,
    opening: String,
    files: Vec<ChatFile>,
    choices: SavedChoices,
    ledger: Ledger,
    /// The revision of the review, and its request.
    review: Option<(u64, String)>,
    feedback: Vec<HunkFeedback>,
    summary: HistorySummary,
    passages: Vec<ChunkLocation>,
    draft: String,
}

/// Maximum length of the first message in lists of sessions, in characters.
const MAX_OPENING_CHARS: usize = 120;

/// Minimum length in bytes of a streaming answer that is not saved after every change.
const MIN_DEFERRED_BYTES: usize = 4096;

impl Session {
    /// The changes since the last call, to be saved. `None` if nothing changed or sessions are not saved.
    ///
    /// Compares versions, lengths and small values. A long transcript is not read.
    pub fn unsaved_changes(&mut self) -> Option<PersistenceEffect> {
        if !self.persistence.is_on {
            return None;
        }
        let is_worth_saving = self.persistence.saved.is_worth_saving || self.is_worth_saving();
        let inputs = std::mem::take(&mut self.persistence.new_inputs);
        let mut changes = UnsavedChanges { is_worth_saving, inputs, ..UnsavedChanges::default() };
        let has_changed = is_worth_saving && self.collect_changes(&mut changes);
        (has_changed || !changes.inputs.is_empty()).then(|| PersistenceEffect::Save(Box::new(changes)))
    }

    /// Has the whole session saved again, as a new one.
    pub(super) fn mark_unsaved(&mut self) {
        self.persistence.saved = SavedState::default();
        self.persistence.number = None;
    }

    /// Takes the current state as the saved one.
    pub(super) fn mark_saved(&mut self) {
        let is_on = std::mem::replace(&mut self.persistence.is_on, true);
        self.unsaved_changes();
        self.persistence.is_on = is_on;
    }

    /// Whether the session has a conversation, a draft, a name or a review. Status messages alone are not saved.
    pub(super) fn is_worth_saving(&self) -> bool {
        self.has_conversation()
            || !self.persistence.name.is_empty()
            || !self.drafts.text().trim().is_empty()
            || !self.proposals.review().is_empty()
    }

    /// Whether the transcript contains more than status messages.
    pub(super) fn has_conversation(&self) -> bool {
        self.transcript.iter().any(|entry| !matches!(entry, Entry::Status(_) | Entry::Cleared))
    }

    /// Adds everything that differs from the saved state to `changes`, and updates the saved state. Returns whether anything differs.
    fn collect_changes(&mut self, changes: &mut UnsavedChanges) -> bool {
        let versions = self.transcript.versions();
        let saved = &mut self.persistence.saved;
        let streamed = self.transcript.last().filter(|entry| entry.is_streaming()).map_or(0, Entry::answer_len);
        // A long answer is saved again when it has grown by an eighth, so that copying it while it streams takes linear time.
        let waits = streamed >= MIN_DEFERRED_BYTES && streamed < saved.streamed + saved.streamed / 8;
        let mut new_versions = versions.to_vec();
        if waits && let (Some(last), Some(known)) = (new_versions.last_mut(), saved.versions.get(versions.len() - 1)) {
            *last = *known;
        } else {
            saved.streamed = streamed;
        }
        let is_new = |at: &usize| saved.versions.get(*at) != new_versions.get(*at);
        changes.entries = (0..new_versions.len()).filter(is_new).map(|at| (at, self.transcript[at].clone())).collect();
        changes.length = versions.len();
        changes.messages = self.transcript.iter().filter(|entry| matches!(entry, Entry::User { .. })).count();
        let mut has_changed =
            !changes.entries.is_empty() || saved.versions.len() != versions.len() || !saved.is_worth_saving;
        (saved.versions, saved.is_worth_saving) = (new_versions, true);
        let choices = self.choices_to_save();
        let opening = self.opening();
        let draft = self.drafts.text().to_owned();
        let review = self.proposals.review();
        let review_key =
            (!review.is_empty()).then(|| (self.proposals.review_revision(), self.proposals.request().to_owned()));
        let saved = &mut self.persistence.saved;
        changes.name = updated(&mut saved.name, &self.persistence.name, &mut has_changed);
        changes.opening = updated(&mut saved.opening, &opening, &mut has_changed);
        changes.files = updated(&mut saved.files, self.chat_files.files(), &mut has_changed);
        changes.choices = updated(&mut saved.choices, &choices, &mut has_changed);
        changes.ledger = updated(&mut saved.ledger, self.spending.ledger(), &mut has_changed);
        changes.summary = updated(&mut saved.summary, self.history.summary(), &mut has_changed);
        changes.passages = updated(&mut saved.passages, &*self.codebase.locations, &mut has_changed);
        changes.draft = updated(&mut saved.draft, &draft, &mut has_changed);
        changes.feedback = updated(&mut saved.feedback, self.proposals.feedback(), &mut has_changed);
        changes.review = updated(&mut saved.review, &review_key, &mut has_changed).map(|key| {
            let (revision, request) = key.unwrap_or_default();
            SavedReview { review: review.without_history(), request, revision }
        });
        has_changed
    }

    fn choices_to_save(&self) -> SavedChoices {
        let model = match self.model.connection() {
            Connection::Remote { model, .. } => model.clone(),
            Connection::None | Connection::Demo => String::new(),
        };
        let map = self.next_request.map();
        SavedChoices {
            mode: self.modes.mode(),
            model,
            map_tokens: map.tokens,
            pinned: map.pinned.iter().cloned().collect(),
            banned: map.banned.iter().cloned().collect(),
            turns: self.turns.count(),
        }
    }

    /// The first line of the first message.
    pub(super) fn opening(&self) -> String {
        let first = self.transcript.iter().find_map(|entry| match entry {
            Entry::User { text, .. } => text.lines().map(str::trim).find(|line| !line.is_empty()),
            _ => None,
        });
        first.unwrap_or_default().chars().take(MAX_OPENING_CHARS).collect()
    }

    /// The name of the session, or else the first line of its first message.
    pub(super) fn title(&self) -> String {
        if self.persistence.name.is_empty() { self.opening() } else { self.persistence.name.clone() }
    }
}

/// Updates `saved` and returns the new value, if it differs.
fn updated<T: ToOwned + PartialEq + ?Sized>(saved: &mut T::Owned, now: &T, has_changed: &mut bool) -> Option<T::Owned> {
    if (*saved).borrow() == now {
        return None;
    }
    *has_changed = true;
    *saved = now.to_owned();
    Some(now.to_owned())
}

/// A loaded session.
#[derive(Debug, Clone, Default)]
pub struct SavedSession {
    /// The number.
    pub number: i64,
    /// The name that the user gave it; empty without one.
    pub name: String,
    /// The transcript.
    pub transcript: Vec<Entry>,
    /// The files in the chat.
    pub files: Vec<ChatFile>,
    /// The user's choices.
    pub choices: SavedChoices,
    /// The cost so far.
    pub ledger: Ledger,
    /// The review.
    pub review: Review,
    /// The request behind the review.
    pub request: String,
    /// Feedback on hunks that left the review since the last message about it.
    pub feedback: Vec<HunkFeedback>,
    pub(crate) summary: HistorySummary,
    /// The passages of `@codebase` questions.
    pub passages: Vec<ChunkLocation>,
    /// The message being written.
    pub draft: String,
    /// Messages about the parts that could not be read.
    pub unreadable: Vec<String>,
    /// Files under review that changed since, with their current text; `None` if that is not a text file any more.
    pub stale: Vec<(String, Option<Arc<str>>)>,
}

impl SavedSession {
    /// The parts that contain unfinished work.
    pub const UNFINISHED: [&str; 2] = [DRAFT, REVIEW];

    /// The name, or else the first line of the first message.
    pub fn title(&self) -> &str {
        let opening = self.transcript.iter().find_map(|entry| match entry {
            Entry::User { text, .. } => text.lines().next(),
            _ => None,
        });
        if self.name.is_empty() { opening.unwrap_or_default() } else { &self.name }
    }
}

#[derive(Serialize, Deserialize)]
struct StoredReview {
    request: String,
    /// Absent if the review contained a secret.
    review: Option<Review>,
}

impl UnsavedChanges {
    /// The changes in the form of the database. `masked` replaces secrets in a text.
    pub fn stored(&self, masked: impl Fn(&str) -> String) -> SessionChange {
        let parts = [
            (FILES, part(&self.files, Vec::is_empty, &masked)),
            (CHOICES, part(&self.choices, |_| false, &masked)),
            (LEDGER, part(&self.ledger, |_| false, &masked)),
            (SUMMARY, part(&self.summary, HistorySummary::is_empty, &masked)),
            (PASSAGES, part(&self.passages, Vec::is_empty, &masked)),
            (FEEDBACK, part(&self.feedback, Vec::is_empty, &masked)),
            (DRAFT, self.draft.as_deref().map(&masked)),
            (REVIEW, self.review.as_ref().map(|review| review.stored(&masked))),
        ];
        SessionChange {
            name: self.name.as_deref().map(&masked),
            opening: self.opening.as_deref().map(&masked),
            messages: self.messages,
            entries: self.entries.iter().map(|(position, entry)| (*position, masked(&json(entry)))).collect(),
            length: self.length,
            parts: parts.into_iter().filter_map(|(name, body)| Some((name, body?))).collect(),
        }
    }
}

impl SavedReview {
    /// The JSON of the review; empty for an empty one. A review that contains a secret is left out: its texts will be written to files,
    /// and a masked secret must not.
    fn stored(&self, masked: impl Fn(&str) -> String) -> String {
        if self.review.is_empty() {
            return String::new();
        }
        let stored = |review| json(&StoredReview { request: self.request.clone(), review });
        let whole = stored(Some(self.review.clone()));
        if masked(&whole) == whole { whole } else { masked(&stored(None)) }
    }
}

/// The masked JSON of a part that changed; empty for an empty part.
fn part<T: Serialize>(
    value: &Option<T>,
    is_empty: impl Fn(&T) -> bool,
    masked: impl Fn(&str) -> String,
) -> Option<String> {
    value.as_ref().map(|value| if is_empty(value) { String::new() } else { masked(&json(value)) })
}

/// The JSON of a value. Serialization fails only for a path that is not valid Unicode; the value is not saved then.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

impl From<StoredSession> for SavedSession {
    fn from(stored: StoredSession) -> Self {
        let mut unreadable = Vec::new();
        let placeholder = || Entry::status(Level::Warning, "An entry of the session could not be read.", "");
        let entry = |body: &String| serde_json::from_str(body).unwrap_or_else(|_| placeholder());
        let mut session = Self {
            number: stored.number,
            name: stored.name.clone(),
            transcript: stored.entries.iter().map(entry).collect(),
            files: read_part(&stored, FILES, &mut unreadable),
            choices: read_part(&stored, CHOICES, &mut unreadable),
            ledger: read_part(&stored, LEDGER, &mut unreadable),
            summary: read_part(&stored, SUMMARY, &mut unreadable),
            passages: read_part(&stored, PASSAGES, &mut unreadable),
            feedback: read_part(&stored, FEEDBACK, &mut unreadable),
            draft: stored.parts.get(DRAFT).cloned().unwrap_or_default(),
            ..Self::default()
        };
        if let Some(review) = read_part::<Option<StoredReview>>(&stored, REVIEW, &mut unreadable) {
            session.request = review.request;
            match review.review {
                Some(review) => session.review = review,
                None => unreadable.push("The review was not saved, because it contained a key.".into()),
            }
        }
        let inconsistent = session.review.drop_inconsistent();
        unreadable.extend(inconsistent.iter().map(|path| format!("The review of {path} could not be read.")));
        Self { unreadable, ..session }
    }
}

/// A part; the default if it is absent or cannot be read.
fn read_part<T: DeserializeOwned + Default>(stored: &StoredSession, name: &str, unreadable: &mut Vec<String>) -> T {
    let Some(body) = stored.parts.get(name) else { return T::default() };
    serde_json::from_str(body).unwrap_or_else(|_| {
        let name = if name == SUMMARY { "history summary" } else { name };
        unreadable.push(format!("The {name} of the session could not be read."));
        T::default()
    })
}
