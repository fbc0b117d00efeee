//! The palette: every action and command in one list, with description, keys, and the reason when it is unavailable. A
//! slash and the name of an action runs it, too.

use rhumb_session::{
    Argument, COMMANDS, CommandInfo, Completer, CompletionItem, Connection, SurveyState, completion_target, origin,
};

use crate::tui::action::{ACTIONS, Action, ActionInfo, Pane, Scope};
use crate::tui::app::{App, Task};
use crate::tui::overlay::{LineBox, LineFor, Menu, MenuRow};

/// Columns of the names; the description of each row follows.
const NAME_COLUMNS: usize = 24;

/// On a screen with fewer columns the rows have neither names nor keys, but only descriptions.
const MIN_NAME_COLUMN_WIDTH: u16 = 50;

/// Most recently run entries that are listed first.
const MAX_RECENT: usize = 8;

impl App {
    pub(crate) fn open_palette(&mut self) {
        let mut rows = Vec::new();
        let is_narrow = (1..MIN_NAME_COLUMN_WIDTH).contains(&self.layout.screen().0);
        let row = |name: &str, usage: &str, help: &str, detail: String, enabled: bool| {
            let shown = format!("{name} {usage}");
            let (shown, help) = (shown.trim(), help.trim());
            match is_narrow {
                true => MenuRow {
                    command: name.to_owned(),
                    label: format!("{name} · {help}"),
                    detail: String::new(),
                    enabled,
                },
                false => MenuRow {
                    command: name.to_owned(),
                    label: format!("{shown:<NAME_COLUMNS$} {help}"),
                    detail,
                    enabled,
                },
            }
        };
        for info in COMMANDS {
            rows.push(row(&format!("/{}", info.name), info.arguments, info.help, String::new(), true));
        }
        for own in self.session.lookups().commands.usable() {
            let detail = origin(own.source).to_owned();
            rows.push(row(&format!("/{}", own.name), &own.arguments, &own.description, detail, true));
        }
        let mut actions: Vec<(&ActionInfo, Option<&str>)> = self.palette_actions();
        actions.sort_by_key(|(info, why)| (why.is_some(), info.scope != Scope::Pane(self.focus)));
        for (info, why) in actions {
            let keys = self.keys.of(info.action).join("  ");
            let detail = why.map_or_else(|| keys.clone(), |why| format!("{why}  {keys}"));
            rows.push(row(info.name, "", info.help, detail, why.is_none()));
        }
        let recent = self.recently_run();
        let place = |name: &str| recent.iter().position(|known| known == name).unwrap_or(usize::MAX);
        // Unavailable entries are not listed first.
        rows.sort_by_key(|row| if row.enabled { place(&row.command) } else { usize::MAX });
        self.overlays.show(Menu::commands("what to do", rows));
    }

    /// The most recent commands and actions, the newest first.
    fn recently_run(&self) -> Vec<String> {
        let typed = self.session.persistence().inputs.iter().rev().filter(|text| text.starts_with('/'));
        let typed = typed.filter_map(|text| text.split_whitespace().next()).map(str::to_owned);
        let mut names: Vec<String> = Vec::new();
        for name in self.composer.history.recent().iter().rev().cloned().chain(typed) {
            if names.len() == MAX_RECENT {
                break;
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Asks for the argument of a command, above the palette, if it is a word or a line. Returns whether it asks. Messages and
    /// files are typed in the composer, which completes them.
    pub(crate) fn ask_arguments(&mut self, name: &str) -> bool {
        let Some(info) = name.strip_prefix('/').and_then(|name| COMMANDS.iter().find(|info| info.name == name)) else {
            return false;
        };
        match info.takes {
            Argument::Effort | Argument::EditFormat | Argument::Refresh | Argument::Turn => {
                let words = completion_target(&format!("{name} "))
                    .map(|target| Completer::default().completions(&target, &self.session, &[]));
                let row = |word: CompletionItem| MenuRow {
                    command: format!("{name} {}", word.insert.trim()),
                    label: format!("{:<NAME_COLUMNS$} {}", word.label, word.help),
                    detail: String::new(),
                    enabled: true,
                };
                let rows: Vec<_> = words.into_iter().flatten().map(row).collect();
                if rows.is_empty() {
                    return false;
                }
                self.overlays.push(Menu::commands(name, rows));
            }
            Argument::Tokens | Argument::Text | Argument::Url if is_asked_for(info) => {
                let usage = format!("{name} {}", info.arguments);
                let text = [format!("{}.", info.help), format!("For example: {}", info.example)];
                let line = LineBox::new(&usage, text, "", LineFor::Arguments(name.to_owned()));
                let line = if info.arguments.starts_with('[') { line.may_be_blank() } else { line };
                self.overlays.push(line);
            }
            _ => return false,
        }
        true
    }

    /// The actions, with the reason why each is unavailable.
    fn palette_actions(&self) -> Vec<(&'static ActionInfo, Option<&'static str>)> {
        let others = ACTIONS.iter().filter(|info| info.action != Action::Palette);
        others.map(|info| (info, self.why_not(info))).collect()
    }

    /// The reason why an action is unavailable. `None` if it is available.
    pub(crate) fn why_not(&self, info: &ActionInfo) -> Option<&'static str> {
        let session = &self.session;
        if let Some(why) = self.review_why_not(info.action) {
            return Some(why);
        }
        match info.action {
            Action::Send if self.composer.is_empty() => Some("there is no message"),
            Action::SendQueued | Action::TakeBackQueued if session.queue().waiting().is_empty() => {
                Some("no message is waiting")
            }
            Action::PickSymbol if session.symbols().is_none() => Some("the repository is still being read"),
            Action::OpenPaste if !self.composer.has_chips() => Some("the message has no folded paste"),
            Action::ToggleThoughts if !self.enabled(info.action) => Some("no answer has reasoning"),
            Action::CopyPrompt | Action::ViewPrompt if session.view().is_none() => Some("nothing is measured yet"),
            Action::FindServers if *session.connection() == Connection::Demo => Some("this is the demo"),
            Action::DropPassages if session.codebase().locations.is_empty() => Some("no passages are sent"),
            Action::NextMatch | Action::PreviousMatch if !self.chat.is_searching() => Some("no search is active"),
            Action::NextLink | Action::PreviousLink if !self.chat.has_citations() => {
                Some("no answer names a place in the code")
            }
            Action::ReadTranscript | Action::SearchTranscript if session.transcript().is_empty() => {
                Some("there are no messages yet")
            }
            Action::StopReading if !matches!(session.survey(), SurveyState::Reading(..)) => {
                Some("nothing is being read")
            }
            Action::StopReading if session.is_stopping() => Some("it is already stopping"),
            Action::ReadOn if matches!(session.survey(), SurveyState::Reading(..)) => Some("it is still being read"),
            Action::ReadOn if !matches!(session.survey(), SurveyState::Partial(..)) => Some("no file was left out"),
            Action::BuildIndex if session.index().is_building() => Some("the index is already being built"),
            Action::PauseIndex | Action::CancelIndex if !session.index().is_building() => {
                Some("no index is being built")
            }
            Action::Zoom | Action::ZoomHere if self.is_alone() => Some("the pane already has the whole screen"),
            Action::GrowPane | Action::ShrinkPane if self.layout.places().borders.is_empty() => {
                Some("there is no border")
            }
            Action::ResetBorders if self.layout.borders().is_empty() => Some("no border has been moved"),
            _ => match info.scope {
                Scope::Pane(Pane::Review) if !self.reviewing() => self.review_why_not(Action::Accept),
                Scope::Pane(Pane::Map) => self.why_not_map(info.action),
                Scope::Reading if session.transcript().is_empty() => Some("there are no messages yet"),
                Scope::Lists if self.focus == Pane::Chat && !self.chat.is_reading() => {
                    Some("works in map, context and review only")
                }
                Scope::Pane(Pane::Context) => self.why_not_context(info.action),
                _ => None,
            },
        }
    }

    /// Runs an entry chosen in the palette: an action by its name, a command by its name with a slash. A command that needs an
    /// argument is put into the composer.
    pub(crate) fn run_chosen(&mut self, name: &str) -> Vec<Task> {
        let Some(command) = name.strip_prefix('/') else {
            let action = ACTIONS.iter().find(|info| info.name == name);
            return action.map_or_else(Vec::new, |info| self.run_action(info));
        };
        let takes = COMMANDS
            .iter()
            .find(|info| info.name == command)
            .map(|info| if opens_a_list(info) { "" } else { info.arguments });
        let own = self.session.lookups().commands.named(command).map(|own| own.arguments.as_str());
        if takes.or(own).is_some_and(|arguments| !arguments.is_empty()) {
            self.focus = Pane::Chat;
            let text = format!("{name} ");
            self.keep_draft();
            return self.typed(|app| app.composer.set(&text));
        }
        // The line was not typed, so the composer may contain another text.
        let draft = self.composer.text();
        let mut tasks = self.run_line(name);
        if self.composer.is_empty() && !draft.trim().is_empty() {
            tasks.extend(self.typed(|app| app.composer.set(&draft)));
        }
        tasks
    }

    /// Runs an action in its pane.
    pub(crate) fn run_action(&mut self, info: &ActionInfo) -> Vec<Task> {
        if let Some(why) = self.why_not(info) {
            return self.say(format!("{}: {why}", info.name));
        }
        if let Scope::Pane(pane) = info.scope {
            self.focus = pane;
        }
        if info.scope == Scope::Reading {
            self.start_reading();
        }
        self.act(info.action)
    }
}

fn opens_a_list(info: &CommandInfo) -> bool {
    let is_list = matches!(info.takes, Argument::Model | Argument::Theme);
    is_list || ["sessions", "models", "settings"].contains(&info.name)
}

/// Whether the palette asks for the argument of a command.
fn is_asked_for(info: &CommandInfo) -> bool {
    !opens_a_list(info) && !["watch", "paste", "editor"].contains(&info.name)
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_session::{Connection, Session};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn typed(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    #[test]
    fn every_action_and_command_is_in_the_palette() {
        let mut app = app();
        typed(&mut app, "Alt-x");
        let menu = app.overlays.top_as::<Menu>().expect("the palette");
        assert_eq!(menu.picker().match_count(), ACTIONS.len() - 1 + COMMANDS.len());
    }

    #[test]
    fn a_command_that_needs_something_goes_to_the_composer_and_others_run() {
        let mut app = app();
        app.run_chosen("/add");
        assert_eq!(app.composer.text(), "/add ");
        assert_eq!(app.run_chosen("/quit"), [Task::Quit]);
        app.run_chosen("focus-map");
        assert_eq!(app.focus, Pane::Map);
    }

    #[test]
    fn what_was_run_lately_stands_first_and_what_cannot_be_done_never_does() {
        let mut app = app();
        ["accept", "focus-map"].iter().for_each(|name| app.composer.history.note_run(name));
        app.session.remember_input("/cost");
        app.session.remember_input("/tokens now");
        typed(&mut app, "Alt-x");
        let menu = app.overlays.top_as::<Menu>().expect("the palette");
        let first: Vec<String> = menu.picker().listed().take(3).collect();
        let names: Vec<&str> = first.iter().filter_map(|item| item.split(' ').next()).collect();
        assert_eq!(names, ["focus-map", "/tokens", "/cost"]);
    }

    #[test]
    fn what_a_command_takes_is_asked_for_over_the_palette_which_comes_back() {
        let mut app = app();
        typed(&mut app, "Alt-x m a p - t o k e n s Enter");
        assert!(app.overlays.is_top::<LineBox>());
        typed(&mut app, "Esc");
        assert!(app.overlays.is_top::<Menu>());
        typed(&mut app, "Enter 2 0 4 8 Enter");
        assert_eq!((app.session.map().tokens, app.overlays.is_empty()), (Some(2_048), true));
        typed(&mut app, "Alt-x e d i t - f o r m a t Enter w h o l e Enter");
        assert!(app.overlays.is_empty() && app.session.overrides().settings()[0].1 == "\"whole\"");
    }

    #[test]
    fn of_two_of_one_name_the_one_that_can_be_done_comes_first() {
        let mut app = app();
        typed(&mut app, "Alt-x u n d o");
        let menu = app.overlays.top_as::<Menu>().expect("the palette");
        let first = menu.picker().listed().next().unwrap();
        assert!(first.starts_with("/undo "), "{first}, while nothing is under review");
    }

    #[test]
    fn what_cannot_be_done_says_why_and_is_not_done() {
        let mut app = app();
        app.run_chosen("accept-all");
        assert_eq!((app.hint.text(), app.focus), ("accept-all: nothing is under review", Pane::Chat));
        typed(&mut app, "Alt-x a c c e p t - a l l Enter");
        assert!(!app.overlays.is_empty(), "it stays open");
    }
}
