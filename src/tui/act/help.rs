//! The help of the moment: what can be done now, all keys in force, all commands.

use crate::session::{COMMANDS, Connection, Group, origin};
use crate::tui::action::{ACTIONS, Action, ActionInfo, Pane, Scope};
use crate::tui::app::App;
use crate::tui::overlay::{HelpRow, HelpSection, Overlay};

impl App {
    /// Opens the help: what can be done here, keys, and commands unless only keys are wanted.
    pub(in crate::tui) fn open_help(&mut self, with_commands: bool) {
        let mut sections = vec![self.what_now()];
        let mut scopes = vec![Scope::Pane(self.focus)];
        scopes.push(if self.focus == Pane::Chat { Scope::Reading } else { Scope::Lists });
        scopes.push(Scope::Global);
        sections.extend(scopes.iter().map(|scope| self.keys_of(*scope)));
        if with_commands {
            sections.extend(self.commands_of_all());
        }
        let others = [Scope::Lists, Scope::Reading].into_iter().chain(Pane::ALL.into_iter().map(Scope::Pane));
        sections.extend(others.filter(|scope| !scopes.contains(scope)).map(|scope| self.keys_of(scope)));
        let closes =
            [Action::Help, Action::HelpHere].into_iter().flat_map(|action| self.keys.of(action).iter().cloned());
        let title = if with_commands { "keys and commands" } else { "keys" };
        self.overlay = Some(Overlay::help(title, sections, closes.collect()));
    }

    /// The first page: what the pane is for, and what is likely wanted.
    fn what_now(&self) -> HelpSection {
        let wanted: &[Action] = match self.focus {
            Pane::Chat => &[
                Action::Send,
                Action::Newline,
                Action::PickFile,
                Action::FocusReview,
                Action::ViewPrompt,
                Action::Palette,
            ],
            Pane::Map => &[Action::Expand, Action::MapAdd, Action::MapPin, Action::MapMore, Action::Leave],
            Pane::Context => {
                &[Action::ContextView, Action::ContextDrop, Action::ContextAdd, Action::ViewPrompt, Action::Leave]
            }
            Pane::Review => {
                &[Action::Accept, Action::Reject, Action::NextHunk, Action::Undo, Action::Write, Action::Leave]
            }
        };
        let infos = wanted.iter().filter_map(|action| action.info());
        let rows = infos.filter(|info| self.why_not(info).is_none() || info.action == Action::Send);
        HelpSection {
            title: format!("now, in the {}", self.focus.title()),
            intro: self.situation(),
            rows: rows.map(|info| self.key_row(info)).collect(),
        }
    }

    /// How things stand, in a sentence or two.
    fn situation(&self) -> String {
        let key = |action: Action, command: &str| match self.keys.first(action) {
            "" => command.to_owned(),
            key => key.to_owned(),
        };
        let counts = self.session.review.counts();
        match self.focus {
            Pane::Chat if self.session.turn.is_some() => {
                format!(
                    "The model answers; {} stops it. What you send meanwhile waits.",
                    key(Action::Escape, "/cancel")
                )
            }
            Pane::Chat if !self.session.questions.is_empty() => {
                "A question waits above the composer; Alt with the letter \
                 of a choice answers it."
                    .into()
            }
            Pane::Chat if self.session.connection == Connection::None => format!(
                "No model is connected. {} looks for a server on this machine; {} copies the prompt for a chat elsewhere, and {} \
                 takes the reply.",
                key(Action::FindServers, "/servers"),
                key(Action::CopyPrompt, "/copy-context"),
                key(Action::PasteReply, "/paste")
            ),
            Pane::Chat => {
                "Ask, or say what to change. @ names a file or symbol, / is a command, ! runs one of the shell.".into()
            }
            Pane::Map => "The files that matter for your message, best first. Those above the line go along.".into(),
            Pane::Context => "What the next request is made of, and what each part weighs.".into(),
            Pane::Review if counts.pending + counts.accepted + counts.rejected == 0 => {
                "What the model proposes is decided here, hunk by hunk.".into()
            }
            Pane::Review => format!(
                "{} pending, {} accepted, {} rejected. Nothing is on disk before {}.",
                counts.pending,
                counts.accepted,
                counts.rejected,
                key(Action::Write, "/write")
            ),
        }
    }

    fn keys_of(&self, scope: Scope) -> HelpSection {
        let title = match scope {
            Scope::Global => "everywhere".to_owned(),
            Scope::Lists => "in map, context and review".to_owned(),
            Scope::Reading => "in the chat, while one reads".to_owned(),
            Scope::Pane(pane) => format!("in the {}", pane.title()),
        };
        let rows = ACTIONS.iter().filter(|info| info.scope == scope).map(|info| self.key_row(info)).collect();
        HelpSection { title, rows, ..HelpSection::default() }
    }

    fn key_row(&self, info: &ActionInfo) -> HelpRow {
        let keys = self.keys.of(info.action).join("  ");
        // What has no key can be typed.
        let keys = if keys.is_empty() { format!("/{}", info.name) } else { keys };
        HelpRow { keys, name: info.name.to_owned(), text: info.help.trim().to_owned(), why: self.why_not(info) }
    }

    fn commands_of_all(&self) -> Vec<HelpSection> {
        let row =
            |usage: String, text: String| HelpRow { keys: usage.trim_end().to_owned(), text, ..HelpRow::default() };
        let section = |group: &Group| {
            let infos = COMMANDS.iter().filter(|info| info.group == *group);
            let rows = infos.map(|info| row(format!("/{} {}", info.name, info.arguments), info.help.to_owned()));
            HelpSection {
                title: format!("commands: {}", group.title()),
                rows: rows.collect(),
                ..HelpSection::default()
            }
        };
        let mut sections: Vec<HelpSection> = Group::ALL.iter().map(section).collect();
        let own: Vec<HelpRow> = self
            .session
            .known
            .commands
            .usable()
            .map(|own| {
                let text = format!("{} ({}, {})", own.description, origin(own.level), own.path);
                row(format!("/{} {}", own.name, own.arguments), text)
            })
            .collect();
        if !own.is_empty() {
            let title = "commands: files of yours and of the repository".to_owned();
            sections.push(HelpSection { title, rows: own, ..HelpSection::default() });
        }
        sections
    }
}
