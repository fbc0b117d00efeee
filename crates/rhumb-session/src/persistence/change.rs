//! What has changed in a session since it was last kept. Asked a few times a second at most, and answered by comparing lengths and
//! small values: a long transcript is not read for it.

use std::borrow::Borrow as _;

use serde::{Deserialize, Serialize};

use super::super::connect::Connection;
use super::super::request::chat_files::ChatFile;
use super::super::request::history_summary::HistorySummary;
use super::super::state::Session;
use super::super::transcript::{Entry, EntryVersion};
use super::PersistenceEffect;
use crate::context::{Mode, PassagePlace, Said};
use rhumb_edit::review::Review;
use rhumb_llm::models::Ledger;

/// What the user has chosen, in so far as it belongs to the session and not to the program.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Choices {
    /// How messages are meant.
    #[serde(default)]
    pub mode: Mode,
    /// The model that answered last; empty for none.
    #[serde(default)]
    pub model: String,
    /// The budget of the map, if one was chosen.
    #[serde(default)]
    pub map_tokens: Option<usize>,
    /// Files that come first in the map.
    #[serde(default)]
    pub pinned: Vec<String>,
    /// Files that the map never shows.
    #[serde(default)]
    pub banned: Vec<String>,
    /// Turns so far.
    #[serde(default)]
    pub turns: u64,
}

/// A review to keep. Two are equal when one was made from the other without a change.
#[derive(Debug, Clone)]
pub struct SavedReview {
    /// The review.
    pub review: Review,
    /// The request behind it.
    pub request: String,
    sign: u64,
}

impl PartialEq for SavedReview {
    fn eq(&self, other: &Self) -> bool {
        (self.sign, &self.request) == (other.sign, &other.request)
    }
}

/// What has changed since the last time. What is `None` has not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnsavedChanges {
    /// Whether there is something in the session that is worth a place of its own. Until then only inputs are kept.
    pub is_worth: bool,
    /// What the user calls it.
    pub name: Option<String>,
    /// The first line of its first message.
    pub opening: Option<String>,
    /// Messages of the user.
    pub messages: usize,
    /// Entries that are new or others now, by their place.
    pub entries: Vec<(usize, Entry)>,
    /// How many entries there are.
    pub length: usize,
    /// Files in the chat.
    pub files: Option<Vec<ChatFile>>,
    /// What was chosen.
    pub choices: Option<Choices>,
    /// What was spent.
    pub ledger: Option<Ledger>,
    /// What is under review.
    pub review: Option<SavedReview>,
    /// What was said of hunks that left the review since the last message about it.
    pub said: Option<Vec<Said>>,
    /// What stands for the beginning of the conversation.
    pub(crate) folded: Option<HistorySummary>,
    /// The passages of the repository, by place.
    pub passages: Option<Vec<PassagePlace>>,
    /// The message being written.
    pub draft: Option<String>,
    /// What was typed, the oldest first.
    pub inputs: Vec<String>,
}

/// What is kept already.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The version of each entry.
    versions: Vec<EntryVersion>,
    is_worth: bool,
    name: String,
    opening: String,
    files: Vec<ChatFile>,
    choices: Choices,
    ledger: Ledger,
    /// The sign of the review, and its request.
    review: Option<(u64, String)>,
    said: Vec<Said>,
    folded: HistorySummary,
    passages: Vec<PassagePlace>,
    draft: String,
}

/// Letters of the first message that stand for the session in lists.
const OPENING: usize = 120;

impl Session {
    /// What has changed since this was last asked; `None` for nothing, or when nothing is kept.
    pub fn kept_changes(&mut self) -> Option<PersistenceEffect> {
        if !self.persistence.on {
            return None;
        }
        let is_worth = self.persistence.kept.is_worth || self.is_worth_keeping();
        let inputs = std::mem::take(&mut self.persistence.new_inputs);
        let mut change = UnsavedChanges { is_worth, inputs, ..UnsavedChanges::default() };
        let anything = is_worth && self.compare(&mut change);
        (anything || !change.inputs.is_empty()).then(|| PersistenceEffect::Change(Box::new(change)))
    }

    /// All of the session is to be kept once more.
    pub(super) fn forget_kept(&mut self) {
        self.persistence.kept = Kept::default();
        self.persistence.number = None;
    }

    /// Takes the session as it is for what is kept.
    pub(super) fn take_as_kept(&mut self) {
        let on = std::mem::replace(&mut self.persistence.on, true);
        self.kept_changes();
        self.persistence.on = on;
    }

    /// Whether something was said, shared, drafted, named or proposed. What the program says of itself is no reason.
    pub(super) fn is_worth_keeping(&self) -> bool {
        self.was_spoken_in()
            || !self.persistence.name.is_empty()
            || !self.drafts.text().trim().is_empty()
            || !self.proposals.review().is_empty()
    }

    /// Whether there is more in the transcript than words of the program.
    pub(super) fn was_spoken_in(&self) -> bool {
        self.transcript.iter().any(|entry| !matches!(entry, Entry::Status(_) | Entry::Cleared))
    }

    /// Notes in `change` what is another than what is kept, and takes it as kept. Whether there is anything.
    fn compare(&mut self, change: &mut UnsavedChanges) -> bool {
        let versions = self.transcript.versions();
        let kept = &mut self.persistence.kept;
        let is_new = |at: &usize| kept.versions.get(*at) != versions.get(*at);
        change.entries = (0..versions.len()).filter(is_new).map(|at| (at, self.transcript[at].clone())).collect();
        change.length = versions.len();
        change.messages = self.transcript.iter().filter(|entry| matches!(entry, Entry::User { .. })).count();
        let mut anything = !change.entries.is_empty() || kept.versions.len() != versions.len() || !kept.is_worth;
        (kept.versions, kept.is_worth) = (versions.to_vec(), true);
        let choices = self.saved_choices();
        let opening = self.opening();
        let unsent = self.drafts.text().to_owned();
        let kept = &mut self.persistence.kept;
        change.name = newer(&mut kept.name, &self.persistence.name);
        change.opening = newer(&mut kept.opening, &opening);
        change.files = newer(&mut kept.files, self.chat_files.files());
        change.choices = newer(&mut kept.choices, &choices);
        change.ledger = newer(&mut kept.ledger, self.spending.ledger());
        change.folded = newer(&mut kept.folded, self.history.summary());
        change.passages = newer(&mut kept.passages, &*self.codebase.places);
        change.draft = newer(&mut kept.draft, &unsent);
        change.said = newer(&mut kept.said, self.proposals.feedback());
        let sign = (!self.proposals.review().is_empty())
            .then(|| (self.proposals.review().fingerprint(), self.proposals.request().to_owned()));
        if kept.review != sign {
            let (sign, request) = sign.unwrap_or_default();
            change.review = Some(SavedReview { review: self.proposals.review().without_history(), request, sign });
            kept.review = (!self.proposals.review().is_empty()).then(|| (sign, self.proposals.request().to_owned()));
        }
        anything |= change.name.is_some() || change.opening.is_some() || change.files.is_some();
        anything |= change.choices.is_some() || change.ledger.is_some() || change.folded.is_some();
        anything |= change.passages.is_some() || change.said.is_some();
        anything || change.draft.is_some() || change.review.is_some()
    }

    fn saved_choices(&self) -> Choices {
        let model = match self.model.connection() {
            Connection::Remote { model, .. } => model.clone(),
            Connection::None | Connection::Demo => String::new(),
        };
        Choices {
            mode: self.modes.mode(),
            model,
            map_tokens: self.next_request.map().tokens,
            pinned: self.next_request.map().pinned.iter().cloned().collect(),
            banned: self.next_request.map().banned.iter().cloned().collect(),
            turns: self.turns.count(),
        }
    }

    /// The first line of the first message.
    pub(super) fn opening(&self) -> String {
        let first = self.transcript.iter().find_map(|entry| match entry {
            Entry::User { text, .. } => text.lines().map(str::trim).find(|line| !line.is_empty()),
            _ => None,
        });
        first.unwrap_or_default().chars().take(OPENING).collect()
    }
}

/// The value, if it is another than the one that is kept; it is kept then.
fn newer<T: ToOwned + PartialEq + ?Sized>(kept: &mut T::Owned, now: &T) -> Option<T::Owned> {
    if (*kept).borrow() == now {
        return None;
    }
    *kept = now.to_owned();
    Some(now.to_owned())
}
