//! The help, made from the tables of actions and commands.

use std::fmt::Write as _;

use crate::session::{COMMANDS, CustomCommands, Group, origin};
use crate::tui::action::{ACTIONS, Pane, Scope};

/// Keys as text; the section of `pane` comes first.
pub fn keys(pane: Pane) -> String {
    let mut sections: Vec<Scope> = Vec::from([Scope::Pane(pane)]);
    sections.extend([Scope::Reading, Scope::Lists, Scope::Global]);
    sections.extend(Pane::ALL.into_iter().filter(|other| *other != pane).map(Scope::Pane));
    let mut text = String::new();
    for scope in sections {
        let _ = writeln!(text, "{}", heading(scope).to_uppercase());
        for info in ACTIONS.iter().filter(|info| info.scope == scope) {
            let _ = writeln!(text, "  {:<24} {}", info.keys.join("  "), info.help.trim());
        }
        text.push('\n');
    }
    text
}

/// Keys and commands as text, those of files too; the section of `pane` comes first.
pub fn text(pane: Pane, own: &CustomCommands) -> String {
    let mut text = keys(pane);
    for group in Group::ALL {
        let _ = writeln!(text, "COMMANDS: {}", group.title().to_uppercase());
        for info in COMMANDS.iter().filter(|info| info.group == group) {
            let _ = writeln!(text, "  {:<24} {}", format!("/{} {}", info.name, info.arguments), info.help);
        }
        text.push('\n');
    }
    if own.usable().next().is_some() {
        let _ = writeln!(text, "COMMANDS: FILES OF YOURS AND OF THE REPOSITORY");
    }
    for command in own.usable() {
        let usage = format!("/{} {}", command.name, command.arguments);
        let _ = writeln!(text, "  {usage:<24} {} ({}, {})", command.description, origin(command.level), command.path);
    }
    text
}

fn heading(scope: Scope) -> &'static str {
    match scope {
        Scope::Global => "everywhere",
        Scope::Lists => "in map, context and review",
        Scope::Reading => "reading in the chat",
        Scope::Pane(pane) => pane.title(),
    }
}
