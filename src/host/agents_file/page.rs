//! The text of a first `AGENTS.md`.

use super::commands::Command;
use rhumb_text::count;

/// A folder at the top of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder {
    /// Its name.
    pub(super) name: String,
    /// How many files are in it.
    pub(super) files: usize,
    /// Files of it that matter most.
    pub(super) named: Vec<String>,
}

/// What was found of a repository.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Languages, with the number of their files.
    pub(super) languages: Vec<(String, usize)>,
    /// Folders at the top.
    pub(super) folders: Vec<Folder>,
    /// Commands that build, test and check.
    pub(super) commands: Vec<Command>,
    /// Files that say how code is to look, and what each is about.
    pub(super) conventions: Vec<(String, String)>,
}

/// The text of the file.
pub(super) fn page(facts: &Facts) -> String {
    let mut text = "# AGENTS.md\n\nNotes for coding agents that work in this repository. rhumb wrote this first version from the files that it \
                    found.\nCorrect what is wrong, and add what the files do not say.\n"
        .to_owned();
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines: String = lines.into_iter().map(|line| format!("- {line}\n")).collect();
            text.push_str(&format!("\n## {title}\n\n{lines}"));
        }
    };
    let languages: Vec<String> =
        facts.languages.iter().map(|(name, files)| format!("{name} ({})", count(*files, "file"))).collect();
    let mut layout: Vec<String> =
        (!languages.is_empty()).then(|| format!("Languages: {}", languages.join(", "))).into_iter().collect();
    layout.extend(facts.folders.iter().map(|folder| {
        let named: Vec<String> = folder.named.iter().map(|path| code(path)).collect();
        let such_as = if folder.files > named.len() { ", such as" } else { ":" };
        format!("{}: {}{such_as} {}", code(&format!("{}/", folder.name)), count(folder.files, "file"), named.join(", "))
    }));
    section("Layout", layout);
    let commands = facts.commands.iter();
    section(
        "Commands",
        commands
            .map(|command| format!("{}: {} (from {})", command.purpose, code(&command.line), code(&command.source)))
            .collect(),
    );
    section("Conventions", facts.conventions.iter().map(|(path, what)| format!("{}: {what}", code(path))).collect());
    text
}

/// A text as a code span, whatever backticks and line ends are in it.
fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}
