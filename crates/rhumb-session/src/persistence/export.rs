//! Text files of the repository: the session exported as Markdown or JSON, and files of commands.

use crate::{
    Answer, AnswerState, ChatFile, Command, Effect, Entry, Level, Notice, PersistenceEffect, SavedSession, Session,
    StatusMessage, TextFile, parse_command,
};
use rhumb_text::count;
use serde_json::json;
use std::fmt::Write as _;

/// The format of an exported session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// For people.
    Markdown,
    /// For programs.
    Json,
}

/// A session to export.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'a> {
    /// The number, if it has one.
    pub number: Option<i64>,
    /// The name, or the first line of the first message.
    pub title: &'a str,
    /// The files in the chat.
    pub files: &'a [ChatFile],
    /// The transcript.
    pub entries: &'a [Entry],
}

impl<'a> Exported<'a> {
    /// A saved session.
    pub fn of(session: &'a SavedSession) -> Self {
        Self {
            number: Some(session.number),
            title: session.title(),
            files: &session.files,
            entries: &session.transcript,
        }
    }
}

/// Maximum length of a title in a file name, in characters.
const MAX_STEM_CHARS: usize = 40;

impl Session {
    /// Exports the session to a file. Without a name the file is named after the session.
    pub fn export(&mut self, name: Option<String>) -> Vec<Effect> {
        if !self.has_conversation() {
            self.report(Level::Warning, "There is nothing to export yet.", "");
            return Vec::new();
        }
        let title = self.title();
        let path = name.unwrap_or_else(|| format!("{}-", stem(&title)));
        let format = match path.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()) {
            Some(extension) if extension == "json" => ExportFormat::Json,
            Some(extension) if extension == "md" => ExportFormat::Markdown,
            _ if path.ends_with('-') => ExportFormat::Markdown,
            _ => {
                let text = format!("{path} was not written: its extension is neither .md nor .json.");
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
        write_text(path, export(&exported, format), "The session")
    }

    /// Writes a file of commands that adds the files in the chat.
    pub fn save_files(&mut self, path: String) -> Vec<Effect> {
        if self.chat_files.files().is_empty() {
            self.report(Level::Warning, "No file is in the chat, so there is nothing to save.", "/add FILE adds one.");
            return Vec::new();
        }
        let line = |file: &ChatFile| {
            let command = if file.read_only { "/read-only" } else { "/add" };
            format!("{command} {}\n", shell_words::quote(&file.path))
        };
        let text = self.chat_files.files().iter().map(line).collect();
        write_text(path, text, "The list of files")
    }

    /// Runs the commands of a file.
    pub fn load_commands(&self, path: String) -> Vec<Effect> {
        vec![Effect::Persist(PersistenceEffect::Read(path))]
    }

    /// Runs the commands of a file, one per line, in their order. Skips and reports lines that are not commands, and commands that a
    /// file may not run: the file may come from an untrusted source.
    pub(super) fn run_command_file(&mut self, path: &str, text: &str) {
        let mut running = 0;
        for (number, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let location = format!("line {} of {path}", number + 1);
            if !line.starts_with('/') {
                self.report(Level::Warning, format!("Skipped {location}: it is not a command."), "");
                continue;
            }
            match parse_command(line) {
                Ok(command) if is_allowed_in_file(&command) => {
                    self.notices.push(Notice::Run(command));
                    running += 1;
                }
                Ok(_) => {
                    let name = line.split_whitespace().next().unwrap_or_default();
                    let text = format!("Skipped {location}: a file must not run {name}.");
                    self.report(Level::Warning, text, "Type the command to run it.");
                }
                Err(error) => self.report(Level::Warning, format!("Skipped {location}: {error}"), ""),
            }
        }
        self.report(Level::Info, format!("Running {} of {path}.", count(running, "command")), "");
    }
}

fn write_text(path: String, text: String, what: &str) -> Vec<Effect> {
    vec![Effect::Persist(PersistenceEffect::Write(TextFile { path, text, what: what.into(), overwrite: false }))]
}

/// Whether a file of commands may contain the command. It must not run a program, use the network, do anything that cannot be undone,
/// or load another file.
fn is_allowed_in_file(command: &Command) -> bool {
    !matches!(
        command,
        Command::Run(_)
            | Command::Test(_)
            | Command::Try(_)
            | Command::Lint(_)
            | Command::Git(_)
            | Command::Commit(_)
            | Command::Web(_)
            | Command::Index(_)
            | Command::Watch(_)
            | Command::Voice
            | Command::Editor(_)
            | Command::Paste(_)
            | Command::Undo
            | Command::Redo
            | Command::Load(_)
            | Command::Quit
    )
}

/// The title as a part of a file name.
fn stem(title: &str) -> String {
    let mut stem = String::new();
    for c in title.chars().take(MAX_STEM_CHARS) {
        if c.is_alphanumeric() {
            stem.extend(c.to_lowercase());
        } else if !stem.is_empty() && !stem.ends_with('-') {
            stem.push('-');
        }
    }
    let stem = stem.trim_matches('-');
    if stem.is_empty() { "session".to_owned() } else { stem.to_owned() }
}

/// The session as text in this format.
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
    session.entries.iter().for_each(|entry| push_entry(&mut text, entry));
    text
}

fn push_entry(into: &mut String, entry: &Entry) {
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
            let message = if hint.is_empty() { text.clone() } else { format!("{text} {hint}") };
            write!(into, "\n{}\n", message.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"))
        }
        Entry::Shared { title, text, .. } => {
            let fence = fence(text);
            write!(into, "\n## Shared: {title}\n\n{fence}\n{}\n{fence}\n", text.trim_end())
        }
        Entry::Ran(ran) => {
            let output = ran.excerpt("");
            let fence = fence(&output);
            let state = ran.state.words(ran.seconds);
            write!(into, "\n## Ran: {} ({state})\n\n{fence}\n{output}\n{fence}\n", ran.line)
        }
        Entry::Tool(tool) => {
            let (name, summary) = tool.description();
            let fence = fence(&tool.result);
            let head = format!("### {}. {name} {summary}", tool.step);
            write!(into, "\n{}\n\n{fence}\n{}\n{fence}\n", head.trim_end(), tool.result.trim_end())
        }
        Entry::Steering { text } => write!(into, "\n## You, while it ran\n\n{}\n", text.trim_end()),
        Entry::Cleared => write!(into, "\n---\n"),
    };
}

/// A fence of backticks that is longer than every run of backticks in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Mode;

    #[test]
    fn a_title_becomes_a_part_of_a_file_name() {
        assert_eq!(stem("Split the /etc/Parser, please!"), "split-the-etc-parser-please");
        assert_eq!(stem("../.."), "session");
        assert_eq!(stem(&"ö".repeat(99)).chars().count(), MAX_STEM_CHARS);
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
                thinking: Vec::new(),
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
