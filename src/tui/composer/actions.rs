//! Actions of the composer: vi keys, pastes and dropped paths, earlier input, and the external editor.

use std::path::Path;

use rhumb_session::context::Mode;
use rhumb_session::{FetchEffect, is_command, is_image_path};

use super::vi::{self, ViOutcome};
use crate::config::ComposerKeys;
use crate::tui::handlers::is_long_command;
use crate::tui::overlay::Menu;
use crate::tui::prelude::*;

impl App {
    /// Handles a vi key. `None` if vi keys are off or the key has no vi meaning.
    pub(crate) fn vi_key(&mut self, name: &str, key: KeyEvent) -> Option<Vec<Task>> {
        self.composer.set_vi(self.display.composer_keys == ComposerKeys::Vi);
        let (mode, typed) = self.composer.vi_mode()?;
        let is_idle = mode == vi::Mode::Normal && typed.is_empty();
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
        if mode == vi::Mode::Insert && key.code != KeyCode::Esc {
            return None;
        }
        let before = self.composer.text();
        let outcome = self.composer.with_vi(key);
        match outcome {
            ViOutcome::Taken if self.composer.text() != before => Some(self.typed(|_| {})),
            ViOutcome::Taken => Some(Vec::new()),
            ViOutcome::Typed | ViOutcome::Other => None,
        }
    }

    /// Handles dropped files. `None` if the pasted text is not a list of paths, or only of paths elsewhere.
    pub(crate) fn paste_dropped_paths(&mut self, text: &str) -> Option<Vec<Task>> {
        if self.environment.folder.as_os_str().is_empty() {
            return None;
        }
        let dropped = dropped(text, &self.environment.folder, self.session.paths())?;
        let elsewhere = dropped.iter().filter(|path| matches!(path, Dropped::Elsewhere(_))).count();
        if elsewhere > 0 {
            let noun = if elsewhere == 1 { "path is" } else { "paths are" };
            self.hint.set(format!("{elsewhere} {noun} outside the repository, so that it goes as plain text"));
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
                    tasks.extend(run(vec![Effect::Fetch(FetchEffect::Image { path, pasted: true })]));
                }
            }
        }
        if !words.is_empty() {
            tasks.extend(self.typed(|app| app.composer.insert_words(&format!("{} ", words.join(" ")))));
        }
        Some(tasks)
    }

    /// Replaces a chip with its text.
    pub(crate) fn open_paste(&mut self) -> Vec<Task> {
        if !self.composer.open_chip() {
            self.hint.set("the cursor is not on a folded paste");
        }
        self.typed(|_| {})
    }

    /// The vi mode, for the border of the composer. `None` if vi keys are off.
    pub(crate) fn composer_mode(&self) -> Option<String> {
        if self.display.composer_keys != ComposerKeys::Vi {
            return None;
        }
        let (mode, typed) = self.composer.vi_mode().unwrap_or_default();
        Some(if typed.is_empty() { mode.name().to_owned() } else { format!("{} {typed}", mode.name()) })
    }

    /// Puts a message that was not answered back into the composer. If the composer has a newer draft, the message is added to
    /// the earlier inputs instead.
    pub(crate) fn restore_draft(&mut self, draft: &str) {
        if draft.trim().is_empty() {
            return;
        }
        if self.composer.is_empty() {
            match self.session.input_mode() {
                // A plan is meant to be edited.
                Mode::Editor => self.composer.open(draft),
                _ => self.composer.set(draft),
            }
        } else if self.composer.text() != draft {
            self.session.remember_input(draft);
            let key = self.keys.first(Action::HistoryBack);
            self.hint.set(format!("the message is among the earlier inputs now ({key})"));
        }
    }

    /// Tells the session about a command that is being typed, which is saved like a message.
    pub(crate) fn note_command(&mut self) {
        let text = if self.composer.may_be_command() { self.composer.text() } else { String::new() };
        self.session.command_drafted(if is_long_command(&text) { &text } else { "" });
    }

    /// Adds the draft to the earlier inputs before another text replaces it. Returns `false` if it is already among them.
    pub(crate) fn keep_draft(&mut self) -> bool {
        let draft = self.composer.text();
        let is_new = !draft.trim().is_empty() && !self.session.persistence().inputs.contains(&draft);
        if is_new {
            self.session.remember_input(&draft);
        }
        is_new
    }

    /// Applies the text that the user's editor saved.
    pub(crate) fn edited(&mut self, what: &Editing, text: &str) -> Vec<Task> {
        match what {
            // The file watcher reports a changed file of the repository.
            Editing::File { path, .. } => self.recheck_file(path),
            Editing::Review(draft) => self.review_edited(draft, text),
            Editing::Message(_) => {
                self.focus = Pane::Chat;
                // The user has just edited the whole text, so it is not folded, unless it is too long to be wrapped at
                // each key. Line ends at the end of a message have no meaning.
                let text = text.trim_end_matches(['\n', '\r']);
                let opens = text.lines().count() <= MAX_UNFOLDED_LINES;
                self.typed(|app| if opens { app.composer.open(text) } else { app.composer.set(text) })
            }
        }
    }

    pub(crate) fn edit_failed(&mut self, message: String) -> Vec<Task> {
        let hint = "The setting editor names another one; so do VISUAL and EDITOR.";
        self.session.report(Level::Error, message, hint);
        Vec::new()
    }

    /// Whether Up and Down recall earlier inputs: the composer is empty, or holds an unchanged earlier input.
    pub(crate) fn recalls(&self, key: &str) -> bool {
        let is_unchanged = || self.composer.history.at.as_ref().is_some_and(|(_, text)| *text == self.composer.text());
        let is_history = !self.session.persistence().inputs.is_empty();
        matches!(key, "Up" | "Down") && is_history && (self.composer.is_empty() || is_unchanged())
    }

    /// Recalls the previous or the next input.
    pub(crate) fn recall(&mut self, back: bool) -> Vec<Task> {
        let text = self.composer.text();
        let inputs = &self.session.persistence().inputs;
        let at = self
            .composer
            .history
            .at
            .take()
            .filter(|(at, shown)| *shown == text && *at < inputs.len())
            .map(|(at, _)| at);
        let to = match (at, back) {
            (None, true) => inputs.len().checked_sub(1),
            (Some(at), true) => Some(at.saturating_sub(1)),
            (Some(at), false) => Some(at + 1),
            (None, false) => None,
        };
        if at.is_none() {
            self.composer.history.before = text;
        }
        let Some(to) = to else { return Vec::new() };
        let recalled = inputs.get(to).cloned();
        let shown = recalled.clone().unwrap_or_else(|| std::mem::take(&mut self.composer.history.before));
        self.completion.is_suppressed = true;
        let tasks = self.typed(|app| app.composer.set(&shown));
        // The text of the composer, which may have made a control character visible.
        self.composer.history.at = recalled.map(|_| (to, self.composer.text()));
        tasks
    }

    pub(crate) fn search_inputs(&mut self) {
        if self.session.persistence().inputs.is_empty() {
            return self.hint.set("there are no earlier inputs yet");
        }
        self.overlays.show(Menu::inputs(&self.session.persistence().inputs));
    }
}

/// Lines of a message from the editor up to which it is not folded.
const MAX_UNFOLDED_LINES: usize = 200;

/// The position in the earlier inputs.
#[derive(Debug, Default)]
pub struct InputHistory {
    /// The index of the recalled input, and its text.
    at: Option<(usize, String)>,
    /// The draft from before, which follows the newest input.
    before: String,
    /// The most recent last.
    pub recent: Vec<String>,
    /// The text that the app last copied.
    copied: Option<String>,
}

impl InputHistory {
    pub fn note_run(&mut self, name: &str) {
        self.recent.retain(|known| known != name);
        self.recent.push(name.to_owned());
    }

    pub fn note_copied(&mut self, text: &str) {
        self.copied = Some(text.to_owned());
    }

    /// Whether the app itself copied this text.
    pub fn has_copied(&self, text: &str) -> bool {
        self.copied.as_deref() == Some(text)
    }
}

/// Maximum size in bytes of a list of dropped paths.
const MAX_BYTES: usize = 65_536;
const MAX_PATHS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// A file or folder of the repository, relative to the root. A folder ends with a slash.
    Known(String),
    /// A picture, by its absolute path.
    Picture(String),
    /// Any other file, by its absolute path.
    Elsewhere(String),
}

/// The paths of a pasted text; `None` if it contains anything else. `known` are the files of the repository in `root`.
pub(crate) fn dropped(text: &str, root: &Path, known: &[String]) -> Option<Vec<Dropped>> {
    let text = text.trim();
    let begins = ["/", "'/", "\"/", "file://", "'file://"].iter().any(|start| text.starts_with(start));
    if !begins || text.len() > MAX_BYTES {
        return None;
    }
    let words = shell_words::split(text).ok().filter(|words| words.len() <= MAX_PATHS)?;
    words.iter().map(|word| one(word, root, known)).collect()
}

fn one(word: &str, root: &Path, known: &[String]) -> Option<Dropped> {
    let path = if word.starts_with("file://") {
        url::Url::parse(word).ok()?.to_file_path().ok()?.to_str()?.to_owned()
    } else {
        word.to_owned()
    };
    // A word with one slash may be a command.
    if !path.starts_with('/') || path.trim_matches('/').split('/').count() < 2 || path.contains(char::is_control) {
        return None;
    }
    let under =
        Path::new(&path).strip_prefix(root).ok().and_then(Path::to_str).map(|under| under.trim_end_matches('/'));
    let folder = under.filter(|under| !under.is_empty()).map(|under| format!("{under}/"));
    if let Some(under) = under.filter(|under| known.iter().any(|path| path == under)) {
        return Some(Dropped::Known(under.to_owned()));
    }
    if let Some(folder) = folder.filter(|folder| known.iter().any(|path| path.starts_with(folder.as_str()))) {
        return Some(Dropped::Known(folder));
    }
    Some(if is_image_path(&path) { Dropped::Picture(path) } else { Dropped::Elsewhere(path) })
}

/// A path as written in a message or as an argument of a command.
pub(crate) fn named(path: &str, in_command: bool) -> String {
    let has_blank = path.contains(char::is_whitespace);
    match (in_command, has_blank) {
        (true, _) => shell_words::quote(path).into_owned(),
        (false, true) => format!("@\"{path}\""),
        (false, false) => format!("@{path}"),
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::action::Pane;
    use crate::tui::theme::ColorDepth;
    use crate::tui::theme::Theme;
    use rhumb_session::Connection;
    use rhumb_session::Session;

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
        assert!(app.overlays.is_empty());
    }

    #[test]
    fn esc_in_normal_mode_is_the_apps_and_tab_goes_on() {
        let mut app = app();
        app.chat.scroll_up(5);
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
        app.environment.folder = "/home/mira/harbour".into();
        app.session
            .handle(rhumb_session::Response::Listed(std::sync::Arc::new(vec!["src/a b.rs".into(), "src/c.rs".into()])));
        press(&mut app, "s e e");
        app.event(Event::Paste("'/home/mira/harbour/src/a b.rs' /home/mira/harbour/src/c.rs".into()));
        assert_eq!(app.composer.text(), "see @\"src/a b.rs\" @src/c.rs ");
        app.composer.set("/add");
        app.event(Event::Paste("'/home/mira/harbour/src/a b.rs'".into()));
        assert_eq!(app.composer.text(), "/add 'src/a b.rs' ");
        app.composer.clear();
        app.event(Event::Paste("/tmp/other/file.txt".into()));
        assert_eq!(app.composer.text(), "/tmp/other/file.txt");
        assert!(app.hint.text().contains("outside"), "{}", app.hint.text());
        let tasks = app.event(Event::Paste("/home/mira/harbour/src/c.rs /tmp/a/shot.png".into()));
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Fetch(FetchEffect::Image { .. })))));
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

#[cfg(test)]
mod past_tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::theme::ColorDepth;
    use crate::tui::theme::Theme;
    use rhumb_session::Connection;
    use rhumb_session::Session;

    fn app(inputs: &[&str]) -> App {
        let (mut session, effects) = Session::start(Connection::None);
        inputs.iter().for_each(|input| session.remember_input(input));
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn pressed(app: &mut App, keys: &str) -> String {
        for key in keys.split(' ').filter_map(key::parse) {
            app.event(Event::Key(key));
        }
        app.composer.text()
    }

    #[test]
    fn up_and_down_go_through_what_was_typed() {
        let mut app = app(&["one", "two", "three"]);
        assert_eq!(pressed(&mut app, "Up"), "three");
        assert_eq!(pressed(&mut app, "Up Up Up"), "one");
        assert_eq!(pressed(&mut app, "Down"), "two");
        assert_eq!(pressed(&mut app, "Down Down"), "");
        assert_eq!(pressed(&mut app, "Down"), "");
    }

    #[test]
    fn an_input_that_is_being_changed_is_not_swept_away() {
        let mut app = app(&["one", "two"]);
        assert_eq!(pressed(&mut app, "Up ! Up Up"), "two!");
        assert_eq!(pressed(&mut app, "Alt-Up Alt-Up"), "one");
        assert_eq!(pressed(&mut app, "Alt-Down Alt-Down"), "two!", "what was being written comes back");
    }

    #[test]
    fn an_input_is_found_by_its_words() {
        let mut app = app(&["mend the sail", "hoist", "row"]);
        assert_eq!(pressed(&mut app, "Ctrl-r s a i l Enter"), "mend the sail");
        assert!(app.overlays.is_empty());
    }

    #[test]
    fn what_is_typed_twice_is_remembered_once() {
        let mut app = app(&["one", "two", "one", "one"]);
        assert_eq!(app.session.persistence().inputs, ["two", "one"]);
        assert_eq!(pressed(&mut app, "Up Up"), "two");
    }
}

#[cfg(test)]
mod dropped_paths_tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str) -> Option<Vec<Dropped>> {
        let known = ["src/a.rs", "my notes/tide table.md"].map(str::to_owned);
        dropped(text, Path::new("/home/mira/harbour"), &known)
    }

    fn known(path: &str) -> Dropped {
        Dropped::Known(path.into())
    }

    #[test]
    fn paths_are_known_however_the_terminal_writes_them() {
        let table = known("my notes/tide table.md");
        for text in [
            "'/home/mira/harbour/my notes/tide table.md'",
            "/home/mira/harbour/my\\ notes/tide\\ table.md ",
            "\"/home/mira/harbour/my notes/tide table.md\"\n",
            "file:///home/mira/harbour/my%20notes/tide%20table.md",
        ] {
            assert_eq!(of(text), Some(vec![table.clone()]), "{text}");
        }
        let several = "/home/mira/harbour/src/a.rs '/home/mira/harbour/my notes' /home/mira/harbour/src/";
        assert_eq!(of(several), Some(vec![known("src/a.rs"), known("my notes/"), known("src/")]));
    }

    #[test]
    fn what_lies_elsewhere_is_told_from_pictures() {
        let found = of("/tmp/notes.txt /tmp/shot.png").unwrap();
        assert_eq!(found, [Dropped::Elsewhere("/tmp/notes.txt".into()), Dropped::Picture("/tmp/shot.png".into())]);
    }

    #[test]
    fn other_texts_are_texts() {
        for text in ["/help", "src/a.rs", "/add src/a.rs", "see /tmp/x", "/tmp/x is full", "'/tmp/x", "", "file://"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[/'\" a-z%:\\\\\n.]{0,40}") {
            let _ = of(&format!("/{text}"));
            let _ = of(&format!("file://{text}"));
        }
    }
}
