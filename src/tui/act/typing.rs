//! The composer where its keys are those of vi, and pastes that are opened again.

use crossterm::event::{KeyCode, KeyEvent};

use crate::config::ComposerKeys;
use crate::session::{Effect, FetchOrder, is_command};
use crate::tui::app::{App, Task, run};
use crate::tui::composer::dropped::{Dropped, dropped, named};
use crate::tui::composer::vi::{Mode, Outcome};

impl App {
    /// Takes a key that means something to vi; `None` where the composer has other keys, or the key means nothing to it.
    pub(crate) fn vi_key(&mut self, name: &str, key: KeyEvent) -> Option<Vec<Task>> {
        self.composer.set_vi(self.display.composer_keys == ComposerKeys::Vi);
        let (mode, typed) = self.composer.vi_mode()?;
        let is_idle = mode == Mode::Normal && typed.is_empty();
        let upwards = matches!(name, "k" | "Up");
        if is_idle && (upwards || matches!(name, "j" | "Down")) && self.recalls(if upwards { "Up" } else { "Down" }) {
            let tasks = self.recall(upwards);
            self.composer.be_normal();
            return Some(tasks);
        }
        if is_idle && name == "/" && self.composer.is_empty() {
            // A command begins here.
            self.composer.with_vi(KeyEvent::from(KeyCode::Char('i')));
            return Some(self.typed(|app| app.composer.input(key)));
        }
        if mode == Mode::Insert && key.code != KeyCode::Esc {
            return None;
        }
        let before = self.composer.text();
        let outcome = self.composer.with_vi(key);
        match outcome {
            Outcome::Taken if self.composer.text() != before => Some(self.typed(|_| {})),
            Outcome::Taken => Some(Vec::new()),
            Outcome::Typed | Outcome::Other => None,
        }
    }

    /// Takes files that were dropped on the terminal; `None` if the pasted text says something else, or only of files elsewhere.
    pub(crate) fn take_dropped(&mut self, text: &str) -> Option<Vec<Task>> {
        if self.folder.as_os_str().is_empty() {
            return None;
        }
        let dropped = dropped(text, &self.folder, &self.session.paths)?;
        let elsewhere = dropped.iter().filter(|path| matches!(path, Dropped::Elsewhere(_))).count();
        if elsewhere > 0 {
            let noun = if elsewhere == 1 { "path is" } else { "paths are" };
            self.hint = format!("{elsewhere} {noun} outside the repository, so that it goes as plain text");
        }
        if elsewhere == dropped.len() {
            return None;
        }
        let in_command = is_command(&self.composer.text());
        let mut tasks = Vec::new();
        let mut words = Vec::new();
        for path in dropped {
            match path {
                Dropped::Known(path) => words.push(named(&path, in_command)),
                Dropped::Elsewhere(path) => words.push(shell_words::quote(&path).into_owned()),
                Dropped::Picture(path) => {
                    tasks.extend(run(vec![Effect::Fetch(FetchOrder::Picture { path, pasted: true })]));
                }
            }
        }
        if !words.is_empty() {
            tasks.extend(self.typed(|app| app.composer.insert_words(&format!("{} ", words.join(" ")))));
        }
        Some(tasks)
    }

    /// Puts the text of a pasted chip in its place.
    pub(crate) fn open_paste(&mut self) -> Vec<Task> {
        if !self.composer.open_chip() {
            self.hint = "the cursor is not on a folded paste".into();
        }
        self.typed(|_| {})
    }

    /// The mode of the composer's keys, for its edge; `None` where they have none.
    pub(crate) fn composer_mode(&self) -> Option<String> {
        if self.display.composer_keys != ComposerKeys::Vi {
            return None;
        }
        let (mode, typed) = self.composer.vi_mode().unwrap_or_default();
        Some(if typed.is_empty() { mode.name().to_owned() } else { format!("{} {typed}", mode.name()) })
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::session::{Connection, Session};
    use crate::tui::action::Pane;
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};

    fn app() -> App {
        let (mut session, effects) = Session::start(Connection::None);
        session.remember_input("earlier");
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.display.composer_keys = ComposerKeys::Vi;
        app
    }

    fn press(app: &mut App, keys: &str) -> String {
        for key in keys.split(' ').filter_map(key::parse) {
            app.event(Event::Key(key));
        }
        app.composer.text()
    }

    #[test]
    fn keys_type_until_esc_and_then_command() {
        let mut app = app();
        assert_eq!(press(&mut app, "o n e Space t w o Esc b d w u"), "one two");
        assert_eq!(app.composer_mode().as_deref(), Some("normal"));
        assert_eq!(press(&mut app, "2 d"), "one two");
        assert_eq!(app.composer_mode().as_deref(), Some("normal 2d"));
        assert_eq!(press(&mut app, "Esc x"), "one wo");
        assert_eq!(press(&mut app, "u Ctrl-r"), "one wo", "and no search opens");
        assert!(app.overlay.is_none());
    }

    #[test]
    fn esc_in_normal_mode_is_the_apps_and_tab_goes_on() {
        let mut app = app();
        app.chat.from_bottom = 5;
        press(&mut app, "a Esc");
        assert_eq!(app.chat.from_bottom, 5);
        press(&mut app, "Esc");
        assert_eq!(app.chat.from_bottom, 0);
        press(&mut app, "Tab");
        assert_eq!(app.focus, Pane::Map);
    }

    #[test]
    fn k_brings_earlier_inputs_and_a_slash_begins_a_command() {
        let mut app = app();
        assert_eq!(press(&mut app, "Esc k"), "earlier");
        assert_eq!(press(&mut app, "j"), "");
        assert_eq!(press(&mut app, "/ a"), "/a");
    }

    #[test]
    fn dropped_files_are_mentioned_in_a_message_and_arguments_of_a_command() {
        let mut app = app();
        app.folder = "/home/mira/harbour".into();
        app.session.paths = std::sync::Arc::new(vec!["src/a b.rs".into(), "src/c.rs".into()]);
        press(&mut app, "s e e");
        app.event(Event::Paste("'/home/mira/harbour/src/a b.rs' /home/mira/harbour/src/c.rs".into()));
        assert_eq!(app.composer.text(), "see @\"src/a b.rs\" @src/c.rs ");
        app.composer.set("/add");
        app.event(Event::Paste("'/home/mira/harbour/src/a b.rs'".into()));
        assert_eq!(app.composer.text(), "/add 'src/a b.rs' ");
        app.composer.clear();
        app.event(Event::Paste("/tmp/other/file.txt".into()));
        assert_eq!(app.composer.text(), "/tmp/other/file.txt");
        assert!(app.hint.contains("outside"), "{}", app.hint);
        let tasks = app.event(Event::Paste("/home/mira/harbour/src/c.rs /tmp/a/shot.png".into()));
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Fetch(FetchOrder::Picture { .. })))));
    }

    #[test]
    fn a_chip_is_one_letter_to_vi_and_can_be_opened() {
        let mut app = app();
        let paste = "line\n".repeat(60);
        press(&mut app, "a");
        app.event(Event::Paste(paste.clone()));
        assert_eq!(press(&mut app, "b Esc h"), format!("a{paste}b"));
        assert_eq!(press(&mut app, "x"), "ab");
        assert_eq!(press(&mut app, "u"), format!("a{paste}b"));
        assert_eq!(press(&mut app, "Alt-o"), format!("a{}b", paste.trim_end()));
        app.display.composer_keys = ComposerKeys::Emacs;
        assert_eq!(press(&mut app, "!").matches('!').count(), 1);
    }
}
