//! A session as it is written: each entry and each part as JSON, and back. What cannot be read any more is told, and the rest is
//! used: a session that comes back in part is worth more than none.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::super::request::chat_files::ChatFile;
use super::super::request::history_summary::HistorySummary;
use super::super::transcript::{Entry, Level};
use super::change::{Choices, UnsavedChanges};
use crate::context::{ChunkLocation, HunkFeedback};
use crate::{SessionChange, StoredSession};
use rhumb_edit::review::Review;
use rhumb_llm::models::Ledger;

/// The names of the parts.
const FILES: &str = "files";
const CHOICES: &str = "choices";
const LEDGER: &str = "ledger";
const REVIEW: &str = "review";
const FOLDED: &str = "folded";
const DRAFT: &str = "draft";
const PASSAGES: &str = "passages";
const SAID: &str = "comments";

/// A session as it was kept.
#[derive(Debug, Clone, Default)]
pub struct SavedSession {
    /// Its number.
    pub number: i64,
    /// What the user calls it; empty for nothing.
    pub name: String,
    /// What was said.
    pub transcript: Vec<Entry>,
    /// Files in the chat.
    pub files: Vec<ChatFile>,
    /// What was chosen.
    pub choices: Choices,
    /// What was spent.
    pub ledger: Ledger,
    /// What is under review.
    pub review: Review,
    /// The request behind it.
    pub request: String,
    /// What was said of hunks that left the review since the last message about it.
    pub said: Vec<HunkFeedback>,
    pub(crate) folded: HistorySummary,
    /// The passages of the repository, by place.
    pub passages: Vec<ChunkLocation>,
    /// The message being written.
    pub draft: String,
    /// What there was that could not be read, in words.
    pub lost: Vec<String>,
    /// Files under review that are not as they were, and what they say now; `None` where that is no text any more.
    pub stale: Vec<(String, Option<Arc<str>>)>,
}

impl SavedSession {
    /// The parts that tell what waits for the user in a session.
    pub const UNFINISHED: [&str; 2] = [DRAFT, REVIEW];

    /// What to call it: its name, else the first line of its first message.
    pub fn title(&self) -> &str {
        let opening = self.transcript.iter().find_map(|entry| match entry {
            Entry::User { text, .. } => text.lines().next(),
            _ => None,
        });
        if self.name.is_empty() { opening.unwrap_or_default() } else { &self.name }
    }
}

/// A review as it is written.
#[derive(Serialize, Deserialize)]
struct WrittenReview {
    request: String,
    /// Absent where the review held something secret.
    review: Option<Review>,
}

impl UnsavedChanges {
    /// The change as it is written. `masked` takes out what is secret.
    pub fn stored(&self, masked: impl Fn(&str) -> String) -> SessionChange {
        let safe = |value: &dyn ErasedJson| masked(&value.json());
        let mut parts: Vec<(&'static str, String)> = Vec::new();
        let mut part = |name, body: Option<String>| parts.extend(body.map(|body| (name, body)));
        part(FILES, self.files.as_ref().map(|files| if files.is_empty() { String::new() } else { safe(files) }));
        part(CHOICES, self.choices.as_ref().map(|choices| safe(choices)));
        part(LEDGER, self.ledger.as_ref().map(|ledger| safe(ledger)));
        part(FOLDED, self.folded.as_ref().map(|folded| if folded.is_empty() { String::new() } else { safe(folded) }));
        let list = |places: &Vec<ChunkLocation>| if places.is_empty() { String::new() } else { safe(places) };
        part(PASSAGES, self.passages.as_ref().map(list));
        part(SAID, self.said.as_ref().map(|said| if said.is_empty() { String::new() } else { safe(said) }));
        part(DRAFT, self.draft.as_ref().map(|draft| masked(draft)));
        part(
            REVIEW,
            self.review.as_ref().map(|kept| {
                if kept.review.is_empty() {
                    return String::new();
                }
                let written = |review| WrittenReview { request: kept.request.clone(), review }.json();
                let whole = written(Some(kept.review.clone()));
                // A text with a word in place of a key must never be written to a file.
                let text = masked(&whole);
                if text == whole { text } else { masked(&written(None)) }
            }),
        );
        SessionChange {
            name: self.name.as_deref().map(&masked),
            opening: self.opening.as_deref().map(&masked),
            messages: self.messages,
            entries: self.entries.iter().map(|(place, entry)| (*place, safe(entry))).collect(),
            length: self.length,
            parts,
        }
    }
}

impl From<StoredSession> for SavedSession {
    fn from(stored: StoredSession) -> Self {
        let mut lost = Vec::new();
        let unreadable = || Entry::status(Level::Warning, "An entry of the session could not be read.", "");
        let entry = |body: &String| serde_json::from_str(body).unwrap_or_else(|_| unreadable());
        let mut session = Self {
            number: stored.number,
            name: stored.name.clone(),
            transcript: stored.entries.iter().map(entry).collect(),
            files: read(&stored, FILES, &mut lost),
            choices: read(&stored, CHOICES, &mut lost),
            ledger: read(&stored, LEDGER, &mut lost),
            folded: read(&stored, FOLDED, &mut lost),
            passages: read(&stored, PASSAGES, &mut lost),
            said: read(&stored, SAID, &mut lost),
            draft: stored.parts.get(DRAFT).cloned().unwrap_or_default(),
            ..Self::default()
        };
        if let Some(written) = read::<Option<WrittenReview>>(&stored, REVIEW, &mut lost) {
            session.request = written.request;
            match written.review {
                Some(review) => session.review = review,
                None => lost.push("The review was not kept, because it held a key.".into()),
            }
        }
        let unsound = session.review.drop_inconsistent();
        lost.extend(unsound.iter().map(|path| format!("The review of {path} could not be read.")));
        Self { lost, ..session }
    }
}

/// A part, or nothing where it is absent or cannot be read.
fn read<T: DeserializeOwned + Default>(stored: &StoredSession, name: &str, lost: &mut Vec<String>) -> T {
    let Some(body) = stored.parts.get(name) else { return T::default() };
    serde_json::from_str(body).unwrap_or_else(|_| {
        lost.push(format!("The {name} of the session could not be read."));
        T::default()
    })
}

/// Something that can be written as JSON.
trait ErasedJson {
    fn json(&self) -> String;
}

impl<T: Serialize> ErasedJson for T {
    /// Nothing that is kept can fail here but a path that is no text: it is not kept then.
    fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
