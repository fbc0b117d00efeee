//! A session as rows of text, in which form it is stored.

use std::collections::BTreeMap;

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

/// A saved session.
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
