//! The help: the actions that are available now, all key bindings, all commands.

use rhumb_edit::review::EditState;
use rhumb_session::{COMMANDS, Connection, Group, origin};

use crate::tui::action::{ACTIONS, Action, ActionInfo, Pane, Scope};
use crate::tui::app::App;
use crate::tui::overlay::{HelpRow, HelpSection, HelpView};

impl App {
    /// Opens the help: the current situation, the available keys, the commands (if `with_commands`), and all other
    /// keys.
    pub(crate) fn open_help(&mut self, with_commands: bool) {
        let of_chat = self.chat.is_reading().then_some(Scope::Reading);
        let beside = if self.focus == Pane::Chat { of_chat } else { Some(Scope::Lists) };
        let here: Vec<Scope> =
            [Some(Scope::Pane(self.focus)), beside, Some(Scope::Global)].into_iter().flatten().collect();
        let elsewhere = [Scope::Lists, Scope::Reading].into_iter().chain(Pane::ALL.into_iter().map(Scope::Pane));
        let elsewhere: Vec<Scope> = elsewhere.filter(|scope| !here.contains(scope)).collect();
        let mut sections = vec![self.what_now()];
        sections.extend(here.iter().filter_map(|scope| self.keys_that_work(*scope)));
        if with_commands {
            sections.extend(self.commands_of_all());
        }
        sections.extend(elsewhere.iter().filter_map(|scope| self.keys_that_work(*scope)));
        sections.extend(here.iter().chain(&elsewhere).flat_map(|scope| self.keys_that_wait(*scope)));
        let closes =
            [Action::Help, Action::HelpHere].into_iter().flat_map(|action| self.keys.of(action).iter().cloned());
        let title = if with_commands { "keys and commands" } else { "keys" };
        self.overlays.show(HelpView::new(title, sections, closes.collect()));
    }

    /// The first section: the purpose of the pane and the likely actions.
    fn what_now(&self) -> HelpSection {
        if let Some(outcome) = self.refused_here().and_then(|index| self.session.review().refused.get(index))
            && self.focus == Pane::Review
        {
            return self.what_now_without_a_place(EditState::of_refused(outcome), &outcome.path);
        }
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
        let infos = wanted.iter().map(|action| action.info());
        let rows = infos.filter(|info| self.why_not(info).is_none() || info.action == Action::Send);
        HelpSection {
            title: format!("now, in the {}", self.focus.title()),
            intro: self.situation(),
            rows: rows.map(|info| self.key_row(info)).collect(),
            why: None,
        }
    }

    /// The first section while the cursor is on an unplaced edit.
    fn what_now_without_a_place(&self, state: EditState, path: &str) -> HelpSection {
        let path = if path.is_empty() { "the file" } else { path };
        let (intro, open) = match state {
            EditState::Conflict => (
                format!("{path} changed on disk where this hunk was to go. It blocks the write of that file."),
                "Compare both versions and choose what the file is to say.",
            ),
            EditState::AlreadyApplied => {
                (format!("{path} already has this change. There is nothing to do."), "Show the edit beside the file.")
            }
            EditState::Incomplete => (
                "The answer ended inside this edit. It cannot be accepted.".to_owned(),
                "Place what has arrived by hand, at one of the nearest places or with the editor.",
            ),
            _ => (
                format!("This edit matches no place in {path}. It cannot be accepted until it has one."),
                "Place it by hand, at one of the nearest places or with the editor.",
            ),
        };
        let wanted = [
            (Action::OpenHere, Some(open)),
            (Action::Reask, Some("Ask the model again for this edit.")),
            (Action::ReaskAll, Some("Ask the model again for all edits without a place.")),
            (Action::Dismiss, Some("Put it away. Undo brings it back.")),
            (Action::NextHunk, None),
            (Action::PreviousHunk, None),
            (Action::Undo, None),
            (Action::Write, None),
            (Action::Leave, None),
        ];
        let rows = wanted.into_iter().filter_map(|(action, text)| {
            let row = self.key_row(Some(action.info()).filter(|info| self.why_not(info).is_none())?);
            Some(HelpRow { text: text.map_or(row.text, str::to_owned), ..row })
        });
        let title = format!("now, on an edit: {}", state.label());
        HelpSection { title, intro, rows: rows.collect(), why: None }
    }

    /// The current situation in one or two sentences.
    fn situation(&self) -> String {
        let key = |action: Action, command: &str| match self.keys.first(action) {
            "" => command.to_owned(),
            key => key.to_owned(),
        };
        let counts = self.session.review().counts();
        match self.focus {
            Pane::Chat if self.session.turn().is_some() => {
                format!(
                    "The model is answering. {} stops it. Messages that you send now wait.",
                    key(Action::Escape, "/cancel")
                )
            }
            Pane::Chat if !self.session.questions().is_empty() => {
                "A question waits above the composer. Alt and the letter of a choice answer it.".into()
            }
            Pane::Chat if *self.session.connection() == Connection::None => format!(
                "No model is connected. {} looks for a server on this machine. {} copies the prompt for another chat, and {} \
                 takes the reply.",
                key(Action::FindServers, "/servers"),
                key(Action::CopyPrompt, "/copy-context"),
                key(Action::PasteReply, "/paste")
            ),
            Pane::Chat => {
                "Ask a question, or describe a change. @ completes a file or symbol, / a command, ! runs a shell command.".into()
            }
            Pane::Map => "The files that matter for your message, best first. Those above the line are sent.".into(),
            Pane::Context => "The parts of the next request, and the tokens of each.".into(),
            Pane::Review if counts.pending + counts.accepted + counts.rejected == 0 => {
                "Proposed changes are reviewed here, hunk by hunk.".into()
            }
            Pane::Review => format!(
                "{} pending, {} accepted, {} rejected. Nothing is written before {}.",
                counts.pending,
                counts.accepted,
                counts.rejected,
                key(Action::Write, "/write")
            ),
        }
    }

    /// The available keys of a scope. `None` if no key is available.
    fn keys_that_work(&self, scope: Scope) -> Option<HelpSection> {
        let infos = ACTIONS.iter().filter(|info| info.scope == scope && self.why_not(info).is_none());
        let rows: Vec<HelpRow> = infos.map(|info| self.key_row(info)).collect();
        let (title, intro) = (title_of(scope), String::new());
        (!rows.is_empty()).then_some(HelpSection { title, intro, rows, why: None })
    }

    /// The unavailable keys of a scope, a section for each reason.
    fn keys_that_wait(&self, scope: Scope) -> Vec<HelpSection> {
        let mut sections: Vec<HelpSection> = Vec::new();
        for info in ACTIONS.iter().filter(|info| info.scope == scope) {
            let Some(why) = self.why_not(info) else { continue };
            match sections.iter_mut().find(|section| section.why == Some(why)) {
                Some(section) => section.rows.push(self.key_row(info)),
                None => sections.push(HelpSection {
                    title: title_of(scope),
                    intro: String::new(),
                    rows: vec![self.key_row(info)],
                    why: Some(why),
                }),
            }
        }
        sections
    }

    fn key_row(&self, info: &ActionInfo) -> HelpRow {
        let keys = self.keys.of(info.action).join("  ");
        // An action without a key can be typed.
        let keys = if keys.is_empty() { format!("/{}", info.name) } else { keys };
        HelpRow { keys, name: info.name.to_owned(), text: info.help.trim().to_owned() }
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
            .lookups()
            .commands
            .usable()
            .map(|own| {
                let text = format!("{} ({}, {})", own.description, origin(own.source), own.path);
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

fn title_of(scope: Scope) -> String {
    match scope {
        Scope::Global => "everywhere".to_owned(),
        Scope::Lists => "in map, context and review".to_owned(),
        Scope::Reading => "while reading the chat".to_owned(),
        Scope::Pane(pane) => format!("in the {}", pane.title()),
    }
}
