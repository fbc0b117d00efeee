//! A session as a text to read elsewhere: Markdown for people, JSON for programs.

use std::fmt::Write as _;

use serde_json::json;

use super::super::request::chat_files::ChatFile;
use super::super::state::Session;
use super::super::transcript::{Answer, AnswerState, Entry, Level, StatusMessage};
use super::{Effect, PersistenceEffect, SavedSession, TextFile};

/// How a session is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people.
    Markdown,
    /// For programs.
    Json,
}

/// What is written of a session.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'a> {
    /// Its number, if it has one.
    pub number: Option<i64>,
    /// Its name, or how it begins.
    pub title: &'a str,
    /// Files in the chat.
    pub files: &'a [ChatFile],
    /// What was said.
    pub entries: &'a [Entry],
}

impl<'a> Exported<'a> {
    /// A session that was kept.
    pub fn of(session: &'a SavedSession) -> Self {
        Self {
            number: Some(session.number),
            title: session.title(),
            files: &session.files,
            entries: &session.transcript,
        }
    }
}

/// Longest title in the name of a file, in characters.
const STEM: usize = 40;

impl Session {
    /// Writes the session to a file; without a name to one that is called after it.
    pub fn export(&mut self, name: Option<String>) -> Vec<Effect> {
        if !self.was_spoken_in() {
            self.report(Level::Warning, "There is nothing to write yet.", "");
            return Vec::new();
        }
        let title = if self.persistence.name.is_empty() { self.opening() } else { self.persistence.name.clone() };
        let path = name.unwrap_or_else(|| format!("{}-", stem(&title)));
        let format = match path.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()) {
            Some(ending) if ending == "json" => ExportFormat::Json,
            Some(ending) if ending == "md" => ExportFormat::Markdown,
            _ if path.ends_with('-') => ExportFormat::Markdown,
            _ => {
                let text = format!("{path} is not written: its name says neither Markdown nor JSON.");
                self.report(Level::Error, text, "Name a file that ends in .md or .json.");
                return Vec::new();
            }
        };
        let exported = Exported {
            number: self.persistence.number,
            title: &title,
            files: self.chat_files.files(),
            entries: &self.transcript,
        };
        let text = export(&exported, format);
        vec![Effect::Persist(PersistenceEffect::Write(TextFile {
            path,
            text,
            what: "The session".into(),
            over: false,
        }))]
    }
}

/// The title as a part of a file name.
fn stem(title: &str) -> String {
    let mut stem = String::new();
    for c in title.chars().take(STEM) {
        if c.is_alphanumeric() {
            stem.extend(c.to_lowercase());
        } else if !stem.is_empty() && !stem.ends_with('-') {
            stem.push('-');
        }
    }
    let stem = stem.trim_matches('-');
    if stem.is_empty() { "session".to_owned() } else { stem.to_owned() }
}

/// The session in that format.
pub fn export(session: &Exported<'_>, format: ExportFormat) -> String {
    match format {
        ExportFormat::Markdown => markdown(session),
        ExportFormat::Json => {
            let Exported { number, title, files, entries } = session;
            let value = json!({"number": number, "title": title, "files": files, "entries": entries});
            serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
        }
    }
}

fn markdown(session: &Exported<'_>) -> String {
    let title = if session.title.is_empty() { "session" } else { session.title };
    let mut text = format!("# {title}\n");
    for file in session.files {
        let kind = if file.read_only { " (read-only)" } else { "" };
        let _ = write!(text, "\n- `{}`{kind}", file.path);
    }
    if !session.files.is_empty() {
        text.push('\n');
    }
    session.entries.iter().for_each(|entry| push(&mut text, entry));
    text
}

fn push(into: &mut String, entry: &Entry) {
    let _ = match entry {
        Entry::User { text, mode, .. } => write!(into, "\n## You ({mode})\n\n{}\n", text.trim_end()),
        Entry::FollowUp { text, round, of, .. } => {
            write!(into, "\n## rhumb, asking again ({round} of {of})\n\n{}\n", text.trim_end())
        }
        Entry::Answer(Answer { text, state, .. }) => {
            let cut = match state {
                AnswerState::Complete => String::new(),
                AnswerState::Streaming => "\n*(still arriving)*\n".to_owned(),
                AnswerState::Incomplete(reason) => format!("\n*(incomplete: {reason})*\n"),
            };
            write!(into, "\n## Model\n\n{}\n{cut}", text.trim_end())
        }
        Entry::Status(StatusMessage { text, hint, .. }) => {
            let said = if hint.is_empty() { text.clone() } else { format!("{text} {hint}") };
            write!(into, "\n{}\n", said.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"))
        }
        Entry::Shared { title, text, .. } => {
            let fence = "`".repeat(longest_run(text).max(2) + 1);
            write!(into, "\n## Shared: {title}\n\n{fence}\n{}\n{fence}\n", text.trim_end())
        }
        Entry::Ran(ran) => {
            let said = ran.excerpt("");
            let fence = "`".repeat(longest_run(&said).max(2) + 1);
            let how = ran.state.words(ran.seconds);
            write!(into, "\n## Ran: {} ({how})\n\n{fence}\n{said}\n{fence}\n", ran.line)
        }
        Entry::Cleared => write!(into, "\n---\n"),
    };
}

/// The longest run of backticks in a text.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Mode;

    #[test]
    fn a_name_becomes_a_part_of_a_file_name() {
        assert_eq!(stem("Split the /etc/Parser, please!"), "split-the-etc-parser-please");
        assert_eq!(stem("../.."), "session");
        assert_eq!(stem(&"ö".repeat(99)).chars().count(), STEM);
    }

    #[test]
    fn a_session_reads_as_markdown() {
        let entries = [
            Entry::User { text: "why?\n".into(), mode: Mode::Ask, answered: true },
            Entry::Answer(Answer {
                text: "Because.".into(),
                reasoning: "hm".into(),
                state: AnswerState::Incomplete("cancelled".into()),
                edits: Vec::new(),
            }),
            Entry::status(Level::Info, "a\nb", "c"),
            Entry::Shared { title: "ls".into(), text: "```\n".into(), whole: None },
            Entry::Cleared,
        ];
        let files = [ChatFile { path: "a.rs".into(), read_only: true }];
        let session = Exported { number: Some(3), title: "reasons", files: &files, entries: &entries };
        let text = export(&session, ExportFormat::Markdown);
        let wanted = "# reasons\n\n- `a.rs` (read-only)\n\n## You (ask)\n\nwhy?\n\n## Model\n\nBecause.\n\n\
                      *(incomplete: cancelled)*\n\n> a\n> b c\n\n## Shared: ls\n\n````\n```\n````\n\n---\n";
        assert_eq!(text, wanted);
        let json: serde_json::Value = serde_json::from_str(&export(&session, ExportFormat::Json)).unwrap();
        assert_eq!((&json["number"], &json["entries"][0]["user"]["text"]), (&json!(3), &json!("why?\n")));
    }
}
