//! The sessions of before as things to look at, name and throw away, without going on with one.

use super::super::effect::Effect;
use super::super::state::Session;
use super::super::transcript::Entry;
use super::{PersistenceEffect, SessionSelector};

/// Entries that a look at a session shows.
const LAST: usize = 12;
/// Characters of each.
const MOST: usize = 600;

/// ModelRole said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The developer.
    You,
    /// The model.
    Model,
}

impl Session {
    /// Whether what happens is kept, so that it can be gone on with.
    pub fn is_kept(&self) -> bool {
        self.persistence.on
    }

    /// Asks what was said last in a session.
    pub fn peek_session(&self, number: i64) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Peek(number))]
    }

    /// Deletes an earlier session. The one that is open stays.
    pub fn delete_session(&self, number: i64) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Delete(number))]
    }

    /// Calls an earlier session something else.
    pub fn rename_session(&self, number: i64, name: String) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Rename(number, name))]
    }

    /// Begins a new session with what is in an earlier one, which stays as it is.
    pub fn fork_session(&mut self, number: i64) -> Vec<Effect> {
        if self.must_not_move() {
            return Vec::new();
        }
        vec![Effect::Persist(PersistenceEffect::Resume {
            wanted: SessionSelector::Named(number.to_string()),
            fork: true,
        })]
    }

    /// The files that leave the chat when all are dropped: not those that every chat begins with.
    pub fn files_to_drop(&self) -> Vec<&str> {
        let stays = |file: &super::super::ChatFile| file.read_only && self.chat_files.is_initial(&file.path);
        self.chat_files.files().iter().filter(|file| !stays(file)).map(|file| file.path.as_str()).collect()
    }
}

/// What was said last, for a look at it: the end of the conversation, each entry cut.
pub fn last_said(transcript: &[Entry]) -> Vec<(Speaker, String)> {
    let said = |entry: &Entry| match entry {
        Entry::User { text, .. } => Some((Speaker::You, cut(text))),
        Entry::Answer(answer) if !answer.text.trim().is_empty() => Some((Speaker::Model, cut(&answer.text))),
        _ => None,
    };
    let mut last: Vec<(Speaker, String)> = transcript.iter().rev().filter_map(said).take(LAST).collect();
    last.reverse();
    last
}

fn cut(text: &str) -> String {
    let text = text.trim();
    let short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() { short + " …" } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Mode;

    #[test]
    fn a_look_shows_the_end_of_what_was_said() {
        let user = |text: String| Entry::User { text, mode: Mode::Code, answered: true };
        let mut transcript: Vec<Entry> = (0..20).map(|number| user(format!("message {number}"))).collect();
        transcript.push(Entry::Cleared);
        transcript.push(user("x".repeat(MOST + 1)));
        let said = last_said(&transcript);
        assert_eq!((said.len(), said[0].1.as_str()), (LAST, "message 9"));
        assert!(said[LAST - 1].1.ends_with("x …"));
    }
}
