//! Changes of settings while the app runs: for this session, or in the user's file for later sessions.

use rhumb_session::{ModelRole, SettingKind, SettingRow, parse_command};
use toml::Value;

use crate::config::{ComposerKeys, DiffView, LayoutChoice, typed_value};
use crate::host::KEYS;
use crate::tui::overlay::{Confirm, ConfirmedAction, LineBox, LineFor, Menu, SettingsList, TextView};
use crate::tui::prelude::*;

/// Origin that is shown for settings that were changed in the app.
const THIS_SESSION: &str = "this session";

impl App {
    /// Opens the settings. Changes of this session replace their values.
    pub(crate) fn show_settings(&mut self, mut rows: Vec<SettingRow>, query: &str) {
        for row in &mut rows {
            if let Some(value) = self.environment.changed_settings.get(&row.name) {
                (row.value, row.origin) = (value.clone(), THIS_SESSION.to_owned());
            }
        }
        // Names of commands have hyphens where those of settings have underscores.
        self.overlays.show(SettingsList::new(rows, &query.trim().replace('-', "_")));
    }

    /// Handles Enter on a setting: toggles a switch, selects the next choice, or opens an input.
    pub(crate) fn change_setting(&mut self, row: &SettingRow) -> Vec<Task> {
        let next = match row.kind {
            SettingKind::Switch => Some((row.value != "true").to_string()),
            SettingKind::OneOf(words) => next_word(words, &row.value).map(|word| format!("\"{word}\"")),
            _ => None,
        };
        match next {
            Some(value) => self.set(row, &value),
            None if row.kind == SettingKind::Tables => {
                self.say(format!("{} is a table: it is written in the file", row.name))
            }
            None => {
                let text = [row.help.clone(), format!("It takes {}.", row.kind.expected())];
                let start = row.value.trim_matches('"').to_owned();
                let what = LineFor::Setting(row.name.clone());
                self.overlays.push(LineBox::new(&row.name, text, &start, what));
                Vec::new()
            }
        }
    }

    /// Handles a typed value. An invalid value is reported in the input.
    pub(crate) fn setting_typed(&mut self, name: &str, text: &str) -> Vec<Task> {
        let Some(list) = self.overlays.top_as::<SettingsList>() else { return Vec::new() };
        let Some(row) = list.row(name).cloned() else { return Vec::new() };
        match typed_value(name, text) {
            Ok(value) => self.set(&row, &value),
            Err(why) => {
                let help = [row.help.clone(), format!("It takes {}.", row.kind.expected())];
                let mut line = LineBox::new(name, help, text, LineFor::Setting(name.to_owned()));
                line.refuse(&format!("That is not taken: {why}."));
                self.overlays.push(line);
                Vec::new()
            }
        }
    }

    /// Sets a setting for this session. One that takes effect at the next start is saved instead, after a confirmation.
    fn set(&mut self, row: &SettingRow, value: &str) -> Vec<Task> {
        let Some(tasks) = self.apply_setting(&row.name, value) else {
            self.confirm_keeping(row, value, "It counts from the next start on.");
            return Vec::new();
        };
        self.environment.changed_settings.insert(row.name.clone(), value.to_owned());
        if let Some(list) = self.overlays.top_as_mut::<SettingsList>() {
            list.change(&row.name, value, THIS_SESSION);
        }
        self.hint.set(format!("{} = {value}, until you leave", row.name));
        tasks
    }

    /// Asks whether to save the current value of a setting.
    pub(crate) fn confirm_keeping_current(&mut self, row: &SettingRow) {
        if row.kind == SettingKind::Tables || row.value.is_empty() || row.kind == SettingKind::List {
            return self.hint.set(format!("{}: nothing to keep here; it is written in the file", row.name));
        }
        // A value from the model or a server is not TOML.
        match typed_value(&row.name, &row.value) {
            Ok(value) => self.confirm_keeping(row, &value, ""),
            Err(why) => self.hint.set(format!("{}: {why}", row.name)),
        }
    }

    fn confirm_keeping(&mut self, row: &SettingRow, value: &str, when: &str) {
        if row.location.is_empty() {
            return self
                .hint
                .set(format!("{} cannot be changed here: no settings are written in this session", row.name));
        }
        let how = if row.is_saved { "in place of the value there" } else { "as a new line" };
        let text = [
            format!("{} = {value}", row.name),
            format!("is written to {}, {how}. All else in the file stays as it is, comments too.", row.location),
            when.to_owned(),
        ];
        let confirmed_action = ConfirmedAction::Keep(row.name.clone(), Some(value.to_owned()));
        let question =
            Confirm::new("keep the setting?", text).way('y', "write it", confirmed_action).stay("writes nothing");
        self.overlays.push(question);
    }

    /// Asks whether to remove a setting from the user's file.
    pub(crate) fn confirm_forgetting(&mut self, row: &SettingRow) {
        if !row.is_saved || row.location.is_empty() || row.kind == SettingKind::Tables {
            return self.hint.set(format!("{} is not in a file of yours that can be changed here", row.name));
        }
        let default =
            if row.default.is_empty() { "nothing is set".to_owned() } else { format!("it is {}", row.default) };
        let text = [
            format!("{} = {} is taken out of {}.", row.name, row.value, row.location),
            format!("From the next start on {default}, unless something else sets it."),
        ];
        let question = Confirm::new("back to the default?", text)
            .way('y', "take it out", ConfirmedAction::Keep(row.name.clone(), None))
            .stay("leaves it there");
        self.overlays.push(question);
    }

    /// Saves or removes a setting, and applies it if possible.
    pub(crate) fn keep_setting(&mut self, name: String, value: Option<String>) -> Vec<Task> {
        let mut tasks = value.as_ref().and_then(|value| self.apply_setting(&name, value)).unwrap_or_default();
        self.environment.changed_settings.remove(&name);
        if let Some(list) = self.overlays.top_as_mut::<SettingsList>()
            && let Some(row) = list.row(&name).cloned()
        {
            let origin = if value.is_some() { row.location.as_str() } else { "default" };
            list.change(&name, value.as_deref().unwrap_or(&row.default), origin);
        }
        tasks.extend(run(self.session.save_setting(name, value)));
        tasks
    }

    /// Applies a value. `None` if it takes effect at the next start.
    fn apply_setting(&mut self, name: &str, value: &str) -> Option<Vec<Task>> {
        let value = format!("v = {value}").parse::<toml::Table>().ok()?.remove("v")?;
        if let Some(command) = command_for(name, &value) {
            return Some(self.command(parse_command(&command).ok()?));
        }
        let (word, on) = (value.as_str().unwrap_or_default(), value.as_bool().unwrap_or_default());
        match name {
            "layout" => self.display.layout = LayoutChoice::named(word).unwrap_or_default(),
            "diff_view" => {
                self.display.diff_view = match word {
                    "unified" => DiffView::Unified,
                    "side-by-side" => DiffView::SideBySide,
                    _ => DiffView::Auto,
                }
            }
            "composer_keys" => {
                self.display.composer_keys = if word == "vi" { ComposerKeys::Vi } else { ComposerKeys::Emacs }
            }
            "mouse" => self.display.mouse = on,
            "animations" => self.display.animations = on,
            "diff_words" => self.display.diff_words = on,
            "fold_decided" => self.display.fold_decided = on,
            name => return self.session.apply_setting(name, &value).then(Vec::new),
        }
        Some(Vec::new())
    }

    pub(crate) fn view_map(&mut self) {
        let Some(map) = self.session.view().and_then(|view| view.map.as_ref()) else {
            self.session.report(Level::Info, "There is no map yet: the repository is still being read.", "");
            return;
        };
        if map.text.trim().is_empty() {
            let hint = "/map-tokens N gives it tokens.";
            self.session.report(
                Level::Info,
                "The map is empty: it has no tokens, or no file has anything to show.",
                hint,
            );
            return;
        }
        let title = format!("repo map · {} of {} tokens", map.tokens, map.budget);
        self.overlays.show(TextView::new(&title, &map.text));
    }

    pub(crate) fn open_models(&mut self, part: ModelRole, query: &str) {
        let models = &self.session.lookups().models;
        if models.is_empty() {
            let hint = "rhumb models lists those that are known; /model NAME asks one by its name.";
            self.session.report(Level::Info, "The server has no list of its models.", hint);
        } else {
            self.overlays.show(Menu::models(models, part, query));
        }
    }

    /// Properties of the terminal, for doctor and reports.
    pub(crate) fn terminal_facts(&self) -> Vec<(String, String)> {
        let (width, height) = self.layout.screen;
        let own = [("screen", format!("{width}×{height}")), ("theme", self.theme().name.to_owned())];
        let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
        let (_, problems) = KeyMap::with(&self.display.keys);
        let keys =
            problems.into_iter().map(|problem| (KEYS.to_owned(), format!("{}: {}.", problem.name, problem.text)));
        self.environment.terminal.iter().cloned().chain(own).chain(keys).collect()
    }
}

/// The command that applies a setting, if there is one.
fn command_for(name: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some(match name {
        "theme" => format!("/theme {text}"),
        "model" => format!("/model {text}"),
        "weak_model" => format!("/weak-model {text}"),
        "editor_model" => format!("/editor-model {text}"),
        "edit_format" => format!("/edit-format {text}"),
        "map_tokens" => format!("/map-tokens {text}"),
        "map_refresh" => format!("/map-refresh {text}"),
        "thinking" if value.is_integer() => format!("/think-tokens {text}"),
        "thinking" => format!("/reasoning-effort {text}"),
        "watch" => format!("/watch {}", if text == "true" { "on" } else { "off" }),
        _ => return None,
    })
}

fn next_word(words: &[&'static str], value: &str) -> Option<&'static str> {
    let at = words.iter().position(|word| format!("\"{word}\"") == value);
    let next = at.map_or(0, |at| (at + 1) % words.len().max(1));
    words.get(next).copied()
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_session::{Connection, Effect, LookupEffect, LookupResponse, Response, Session};

    fn row(name: &str, value: &str) -> SettingRow {
        let setting = crate::config::setting(name).unwrap();
        SettingRow {
            name: name.into(),
            kind: setting.kind,
            value: value.into(),
            origin: "default".into(),
            default: setting.default.into(),
            help: setting.help.into(),
            location: "/home/me/rhumb.toml:3".into(),
            is_saved: false,
        }
    }

    fn app(rows: Vec<SettingRow>) -> App {
        let (session, effects) = Session::start(Connection::None);
        let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
        let mut app = App::start(session, effects, theme, "root".into()).0;
        app.handle_response(Response::LookedUp(LookupResponse::Settings(rows, String::new())));
        app
    }

    fn press(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    #[test]
    fn enter_switches_for_this_session_and_the_list_stays() {
        let mut app = app(vec![row("diff_words", "true"), row("layout", "\"auto\"")]);
        press(&mut app, "Enter Down Enter");
        assert!(!app.display.diff_words && app.display.layout == LayoutChoice::Columns);
        let list = app.overlays.top_as::<SettingsList>().expect("the list");
        assert_eq!(list.row("layout").unwrap().origin, "this session");
    }

    #[test]
    fn what_counts_only_from_the_start_is_asked_for_and_written() {
        let mut app = app(vec![row("test", "false")]);
        press(&mut app, "Enter");
        assert!(app.overlays.is_top::<Confirm>());
        let tasks = press(&mut app, "y");
        let order = LookupEffect::SaveSetting("test".into(), Some("true".into()));
        assert_eq!(tasks, [Task::Run(Effect::Lookup(order))]);
        assert!(app.overlays.is_top::<SettingsList>(), "back where one was");
    }

    #[test]
    fn a_wrong_value_is_told_where_it_was_typed() {
        let mut app = app(vec![row("verify_rounds", "3")]);
        press(&mut app, "Enter Backspace x Enter");
        assert!(app.overlays.is_top::<LineBox>());
        press(&mut app, "Backspace 5 Enter");
        assert_eq!(app.session.processes().max_rounds(), 5);
    }

    #[test]
    fn nothing_is_written_without_a_yes_or_where_no_file_is_meant() {
        let mut app = app(vec![SettingRow { location: String::new(), ..row("test", "false") }]);
        assert_eq!(press(&mut app, "Enter y"), []);
        assert!(app.overlays.is_top::<SettingsList>());
    }
}

#[cfg(test)]
mod showing_tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::overlay::PasteBox;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_session::{Connection, LookupResponse, ModelRole, ModelRow, Page, Response, Session};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
        App::start(session, effects, theme, "root".into()).0
    }

    fn press(app: &mut App, keys: &str) {
        keys.split(' ').filter_map(key::parse).for_each(|key| drop(app.event(Event::Key(key))));
    }

    #[test]
    fn the_colours_change_while_one_chooses_and_come_back_on_the_way_out() {
        for way_out in ["Esc", "Ctrl-c"] {
            let mut app = app();
            app.change_theme(None);
            press(&mut app, "Down");
            assert_ne!(app.theme().name.as_str(), "rhumb-dark");
            press(&mut app, way_out);
            assert_eq!((app.theme().name.as_str(), app.overlays.is_empty()), ("rhumb-dark", true));
        }
        let mut app = app();
        app.change_theme(None);
        press(&mut app, "l i g h t Enter");
        assert_eq!(app.theme().name.as_str(), "rhumb-light");
    }

    #[test]
    fn a_page_waits_until_the_open_overlay_closes() {
        let mut app = app();
        press(&mut app, "F4");
        app.handle_response(Response::LookedUp(LookupResponse::Page(Page {
            title: "doctor".into(),
            text: "✓ all".into(),
        })));
        assert!(app.overlays.is_top::<PasteBox>());
        press(&mut app, "Esc");
        assert!(app.overlays.is_top::<TextView>());
    }

    #[test]
    fn models_are_chosen_from_a_list() {
        let mut app = app();
        let row = |name: &str| ModelRow { name: name.into(), detail: "200k".into(), has_key: true };
        let rows = vec![row("tide-7b"), row("ebb-3b")];
        app.session.set_connection(Connection::Remote { model: "x".into(), host: "h".into() });
        app.handle_response(Response::LookedUp(LookupResponse::Models {
            rows,
            choose: Some((ModelRole::Weak, "ebb".into())),
        }));
        press(&mut app, "Enter");
        assert_eq!(app.session.overrides().weak_model.as_deref(), Some("ebb-3b"));
    }
}
