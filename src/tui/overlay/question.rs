//! Questions with their full text, answered by a letter: those of the session, and confirmations of commands that lose or
//! change much. A confirmation describes the effect, what is kept, and how to undo it.

use rhumb_session::context::Mode;
use rhumb_session::{Choice, LookupEffect, LookupResponse, Question, name_some};
use rhumb_workspace::Direction;

use super::{ConnectBox, Overlay, OverlayContext, Reply, centred, inner_area, scroll_by, window};
use crate::tui::prelude::*;

#[derive(Debug)]
pub struct AskBox {
    title: String,
    text: String,
    choices: Vec<Choice>,
    offset: usize,
    /// Whether choices other than the harmless one are disabled until the end of the text was visible.
    unread: bool,
    pub asked: Question,
}

impl AskBox {
    pub fn new(question: &Question) -> Self {
        let visible = |text: &str| sanitize::visible(text).into_owned();
        Self {
            title: visible(&question.title),
            text: visible(&question.text),
            choices: question.choices.clone(),
            offset: 0,
            unread: true,
            asked: question.clone(),
        }
    }

    fn sheet(&self, screen: Rect, theme: &Theme) -> Sheet<'_> {
        let width = screen.width.min(90);
        let columns = usize::from(width.saturating_sub(4)).max(8);
        let wrapped =
            |text: &str| -> Vec<String> { text.lines().flat_map(|line| wrap::hanging(line, columns)).collect() };
        let (head, text) = (wrapped(&self.title), wrapped(&self.text));
        let available = usize::from(width.saturating_sub(2));
        let mut foot: Vec<Line<'_>> =
            self.choices.iter().map(|choice| row(&choice.key.to_string(), &choice.label, available, theme)).collect();
        let hint = if self.unread {
            " PageDown shows the rest; then it can be answered"
        } else {
            " Esc leaves the question open"
        };
        foot.push(Line::styled(hint, theme.style(Role::Muted)));
        let area = centred(screen, width, cells(head.len() + text.len() + foot.len() + 4));
        Sheet { area, title: " a question ", head_rows: head.len() + 1, head, text, foot, spaced: false }
    }
}

impl Overlay for AskBox {
    fn key(&mut self, key: KeyEvent) -> Reply {
        // Esc and a letter that arrive together are parsed as a letter with Alt. The user meant Esc.
        let plain = (key.modifiers - KeyModifiers::SHIFT).is_empty();
        match key.code {
            KeyCode::Esc => return Reply::Close,
            KeyCode::Down | KeyCode::Up | KeyCode::PageDown | KeyCode::PageUp => {
                self.offset = scrolled(self.offset, &key::name(key.code.into()), 10);
            }
            KeyCode::Char(letter) if plain && self.choices.iter().any(|choice| choice.key == letter) => {
                let waits = self.unread && !self.asked.is_harmless(letter);
                return if waits { Reply::Stay } else { Reply::Answer(letter) };
            }
            _ => {}
        }
        Reply::Stay
    }

    fn fit(&mut self, screen: Rect, theme: &Theme, _: &Previews) {
        let (offset, height, lines) = self.sheet(screen, theme).fit(self.offset);
        self.offset = offset;
        self.unread &= offset + height < lines;
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        self.sheet(screen, theme).draw(self.offset, frame, theme);
    }
}

/// The contents of a box for an answer: a text that scrolls between a heading and the choices.
struct Sheet<'a> {
    area: Rect,
    title: &'a str,
    head: Vec<String>,
    head_rows: usize,
    text: Vec<String>,
    foot: Lines,
    /// Whether a row stays free above the choices if there is space.
    spaced: bool,
}

impl Sheet<'_> {
    /// The areas of heading, text and choices, in the space inside the frame.
    fn areas(&self, inner: Rect) -> [Rect; 3] {
        let gap = u16::from(self.spaced && usize::from(inner.height) > self.text.len() + self.foot.len());
        let foot = cells(self.foot.len());
        let parts = [Constraint::Length(cells(self.head_rows)), Constraint::Fill(1), Constraint::Length(gap + foot)];
        let [head, body, choices] = Layout::vertical(parts).areas(inner);
        let gap = gap.min(choices.height);
        [head, body, Rect { y: choices.y + gap, height: choices.height - gap, ..choices }]
    }

    /// The scroll position within its limits, and the rows and lines of the text.
    fn fit(&self, offset: usize) -> (usize, usize, usize) {
        let height = usize::from(self.areas(inner_area(self.area))[1].height);
        (offset.min(self.text.len().saturating_sub(height)), height, self.text.len())
    }

    fn draw(self, offset: usize, frame: &mut Frame<'_>, theme: &Theme) {
        let [head, body, choices] = self.areas(window(frame, self.area, self.title, theme));
        let styled = |lines: Vec<String>, role: Role| {
            let lines = lines.into_iter().map(|line| Line::styled(format!(" {line}"), theme.style(role)));
            Paragraph::new(lines.collect::<Vec<_>>())
        };
        frame.render_widget(styled(self.head, Role::Warning), head);
        let shown = self.text.into_iter().skip(offset).take(usize::from(body.height)).collect();
        frame.render_widget(styled(shown, Role::Text), body);
        frame.render_widget(Paragraph::new(self.foot), choices);
    }
}

/// Largest width, borders included, in columns.
const MAX_WIDTH: u16 = 76;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfirmedAction {
    Abandon,
    Run(Box<Command>),
    Quit,
    DeleteSession(i64),
    /// Save a setting: its name, and its value as TOML; without a value, remove it.
    Keep(String, Option<String>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Way {
    key: char,
    label: String,
    confirmed_action: ConfirmedAction,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Confirm {
    title: String,
    text: Vec<String>,
    ways: Vec<Way>,
    /// The effect of Esc.
    stay: String,
    /// Additional keys of the first answer: those that opened the question.
    again: Vec<String>,
    offset: usize,
    /// Whether the text is longer than its area.
    is_long: bool,
}

impl Confirm {
    /// `text` is a list of paragraphs.
    pub fn new(title: &str, text: impl IntoIterator<Item = String>) -> Self {
        let safe = |text: &str| sanitize::visible_line(text).into_owned();
        let text = text.into_iter().filter(|line| !line.is_empty()).map(|line| safe(&line)).collect();
        Self { title: format!(" {} ", safe(title)), text, stay: "cancels".to_owned(), ..Self::default() }
    }

    pub fn way(mut self, key: char, label: &str, confirmed_action: ConfirmedAction) -> Self {
        let label = sanitize::visible_line(label).into_owned();
        self.ways.push(Way { key, label, confirmed_action });
        self
    }

    /// Sets the description of Esc, as the rest of a sentence that begins with Esc.
    pub fn stay(mut self, words: &str) -> Self {
        self.stay = words.to_owned();
        self
    }

    /// Adds keys that mean the first answer.
    pub fn again(mut self, keys: &[String]) -> Self {
        self.again = keys.to_vec();
        self
    }

    fn sheet(&self, screen: Rect, theme: &Theme) -> Sheet<'_> {
        let width = screen.width.min(MAX_WIDTH);
        let columns = usize::from(width.saturating_sub(4)).max(8);
        let pieces = |text: &'_ String| {
            wrap::wrap(text, columns).into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>()
        };
        let text: Vec<String> = self.text.iter().flat_map(pieces).collect();
        let mut foot: Vec<Line<'_>> =
            self.ways.iter().map(|way| row(&way.key.to_string(), &way.label, columns, theme)).collect();
        foot.push(row("Esc", &self.stay, columns, theme));
        let area = centred(screen, width, cells(text.len() + foot.len() + 3));
        Sheet { area, title: &self.title, head: Vec::new(), head_rows: 0, text, foot, spaced: true }
    }
}

impl Overlay for Confirm {
    /// Handles a key: the letter of an answer, or an arrow to scroll; Esc, Enter, n and q cancel. Any other character
    /// was meant for another pane and is reported as such; other keys do nothing.
    fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let mut letters = name.chars();
        let letter = letters.next().filter(|_| letters.next().is_none());
        let repeated = || self.ways.first().filter(|_| self.again.contains(&name));
        if let Some(way) = self.ways.iter().find(|way| Some(way.key) == letter).or_else(repeated) {
            return Reply::Confirmed(way.confirmed_action.clone());
        }
        match name.as_str() {
            "Esc" | "Enter" | "n" | "q" => return Reply::Close,
            "j" | "k" if !self.is_long => return Reply::Typed(key),
            "j" | "k" | "Down" | "Up" | "PageDown" | "PageUp" => self.offset = scrolled(self.offset, &name, 5),
            _ if types(key) => return Reply::Typed(key),
            _ => {}
        }
        Reply::Stay
    }

    fn fit(&mut self, screen: Rect, theme: &Theme, _: &Previews) {
        let (offset, height, lines) = self.sheet(screen, theme).fit(self.offset);
        (self.offset, self.is_long) = (offset, lines > height);
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        self.sheet(screen, theme).draw(self.offset, frame, theme);
    }
}

/// The first shown line after a key that scrolls.
fn scrolled(offset: usize, key: &str, page: usize) -> usize {
    offset.saturating_add_signed(scroll_by(key, page).unwrap_or(0))
}

fn types(key: KeyEvent) -> bool {
    matches!(key.code, KeyCode::Char(_)) && (key.modifiers - KeyModifiers::SHIFT).is_empty()
}

fn row(key: &str, label: &str, columns: usize, theme: &Theme) -> Line<'static> {
    let label = sanitize::visible_line(label);
    let label = width::clip(&label, columns.saturating_sub(key.len() + 1)).into_owned();
    Line::from(vec![
        Span::styled(format!(" {key} "), theme.style(Role::Key)),
        Span::styled(label, theme.style(if key == "Esc" { Role::Muted } else { Role::Text })),
    ])
}

impl App {
    /// Runs a command, after a confirmation if it loses data.
    pub(crate) fn run_user_command(&mut self, command: Command) -> Vec<Task> {
        // The question names its subject, which is read from the disk.
        match command {
            Command::Undo => return run(vec![Effect::Lookup(LookupEffect::LastWrite(Direction::Undo))]),
            Command::Redo => return run(vec![Effect::Lookup(LookupEffect::LastWrite(Direction::Redo))]),
            _ => {}
        }
        match self.confirmation_for(&command) {
            Some(question) => {
                self.overlays.push(question);
                Vec::new()
            }
            None => self.command(command),
        }
    }

    /// Asks before the last write is undone or redone, as soon as the effect is known. Without such a write, asks nothing.
    pub(crate) fn confirm_undo(&mut self, report: &Response) -> Vec<Task> {
        let Response::LookedUp(LookupResponse::LastWrite(direction, preview)) = report else { return Vec::new() };
        let (command, verb) = match direction {
            Direction::Undo => (Command::Undo, "undo"),
            Direction::Redo => (Command::Redo, "redo"),
        };
        let Some(preview) = preview else { return self.command(command) };
        if !self.overlays.is_empty() {
            return self.say(format!("nothing was changed: close what is open, then run /{verb} again"));
        }
        let (files, names) = (count(preview.paths.len(), "file"), name_some(&preview.paths));
        let text = [
            match direction {
                Direction::Undo => format!("The text from before the last write comes back in {files}: {names}."),
                Direction::Redo => format!("What was undone last is written again to {files}: {names}."),
            },
            preview.commit_text(),
            "If a file was changed since then, nothing is changed.".to_owned(),
        ];
        let title = format!("{verb} the last write?");
        let question = Confirm::new(&title, text).way(
            'y',
            &format!("{verb} it in {files}"),
            ConfirmedAction::Run(Box::new(command)),
        );
        self.overlays.show(question);
        Vec::new()
    }

    /// Whether a key that is not an answer belongs to the composer: a question opened while the user was typing.
    pub(crate) fn typing_continues(&self) -> bool {
        let is_over_composer = self.focus == Pane::Chat && !self.chat.reading.on && self.overlays.len() <= 1;
        is_over_composer
            && (self.overlays.is_top::<Confirm>() || self.overlays.top_as().is_some_and(ConnectBox::leaves_typing))
    }

    pub(crate) fn confirmed(&mut self, confirmed_action: ConfirmedAction) -> Vec<Task> {
        match confirmed_action {
            ConfirmedAction::Abandon => {
                self.session.abandon_review();
                Vec::new()
            }
            ConfirmedAction::Run(command) => self.command(*command),
            ConfirmedAction::Quit => vec![Task::Quit],
            ConfirmedAction::DeleteSession(number) => run(self.session.delete_session(number)),
            ConfirmedAction::Keep(name, value) => self.keep_setting(name, value),
        }
    }

    pub(crate) fn confirm_abandoning(&mut self) {
        let review = self.session.review();
        let counts = review.counts();
        let what = format!("{} of {}", count(counts.total(), "hunk"), count(review.files.len(), "file"));
        let decided = format!(
            "{} accepted and not written, {} rejected, {} pending.",
            counts.accepted, counts.rejected, counts.pending
        );
        let conflicts = review.conflicts();
        let homeless = review.refused.len() - conflicts;
        let without = [(conflicts, "conflict", ""), (homeless, "edit", " without a location")];
        let without = without.into_iter().filter(|(number, ..)| *number > 0);
        let without: Vec<String> = without.map(|(number, what, how)| count(number, what) + how).collect();
        let also =
            if without.is_empty() { String::new() } else { format!(" Also abandoned: {}.", without.join(" and ")) };
        let text = [
            format!("The review of {what} is abandoned: {decided}{also}"),
            "Nothing is written. The answer stays in the chat, and /review finds its edits again. The decisions are lost.".to_owned(),
        ];
        let question = Confirm::new("abandon the review?", text)
            .way('y', &format!("abandon {what}"), ConfirmedAction::Abandon)
            .stay("keeps it");
        self.overlays.push(question);
    }

    /// Quits, after a confirmation if something would be lost or is running.
    pub(crate) fn leave(&mut self) -> Vec<Task> {
        let lines = self.losses_of_leaving();
        if lines.is_empty() {
            return vec![Task::Quit];
        }
        let question = Confirm::new("leave?", lines)
            .way('y', "leave", ConfirmedAction::Quit)
            .stay("stays")
            .again(self.keys.of(Action::Quit));
        self.overlays.push(question);
        Vec::new()
    }

    /// One sentence for each thing that would be lost or stopped.
    fn losses_of_leaving(&self) -> Vec<String> {
        let session = &self.session;
        let is_kept = session.is_saved();
        let mut lines = Vec::new();
        if session.turn().is_some() {
            let kept = if is_kept { "what has arrived is kept" } else { "what has arrived is lost" };
            lines.push(format!("The model is still answering: that stops, and {kept}."));
        }
        let running = session.processes().logs().iter().filter(|log| log.state == rhumb_session::RunState::Running);
        lines.extend(running.map(|log| format!("Still running, and stopped by leaving: {}", log.line.trim())));
        let counts = session.review().counts();
        let open = counts.pending + counts.accepted;
        if open > 0 {
            let what = match (counts.pending, counts.accepted) {
                (pending, 0) => format!("{} not decided", count(pending, "hunk")),
                (0, accepted) => format!("{} accepted and not written", count(accepted, "hunk")),
                (pending, accepted) => {
                    format!("{} not decided and {accepted} accepted and not written", count(pending, "hunk"))
                }
            };
            let kept = if is_kept { "kept with the session, for /resume" } else { "lost, as sessions are not kept" };
            lines.push(format!("{what}: {kept}."));
        }
        let waiting = session.queue().waiting().len();
        if waiting > 0 {
            lines.push(format!("{} not sent yet: lost.", count(waiting, "message")));
        }
        if !is_kept && !self.composer.text().trim().is_empty() {
            lines.push("What you are writing: lost, as sessions are not kept.".to_owned());
        }
        lines
    }

    /// The confirmation of a command. `None` if nothing would be lost.
    fn confirmation_for(&self, command: &Command) -> Option<Confirm> {
        let asked = |title: &str, text: Vec<String>, label: &str| {
            Some(Confirm::new(title, text).way('y', label, ConfirmedAction::Run(Box::new(command.clone()))))
        };
        let session = &self.session;
        match command {
            Command::Clear => {
                let said = self.messages_since_clear();
                let text = vec![
                    format!("{} and the answers to them will not be sent any more.", count(said, "message")),
                    "They stay on the screen and in the session; files stay in the chat.".to_owned(),
                ];
                if said == 0 { None } else { asked("clear the conversation?", text, "clear it") }
            }
            Command::Reset => {
                let (said, files) = (self.messages_since_clear(), session.files().len());
                let text = vec![
                    format!("{} and their answers will not be sent any more.", count(said, "message")),
                    format!("{} will be taken out of the chat. Nothing is changed on disk.", count(files, "file")),
                ];
                if said + files == 0 { None } else { asked("reset the chat?", text, "reset it") }
            }
            Command::Rewind(turn) => {
                let turns = self.messages();
                let number = turn.unwrap_or(turns.len());
                let at = *turns.get(number.checked_sub(1)?)?;
                // The session reports the reason itself.
                if session.is_busy() {
                    return None;
                }
                let out = turns.len() - number + 1;
                let way_back = if session.is_saved() {
                    "The current session is kept as a separate one; /sessions lists it."
                } else {
                    "Sessions are not kept here, so there is no way back."
                };
                let text = vec![
                    format!("Back to before: {}", excerpt(session.transcript().get(at)?)),
                    format!(
                        "{} and all that came after leave the conversation. Files on disk stay as they are.",
                        count(out, "message")
                    ),
                    way_back.to_owned(),
                ];
                asked(&format!("rewind to turn {number}?"), text, "take it back into the composer")
            }
            _ => None,
        }
    }

    fn messages(&self) -> Vec<usize> {
        let entries = self.session.transcript().iter().enumerate();
        entries.filter_map(|(at, entry)| matches!(entry, Entry::User { .. }).then_some(at)).collect()
    }

    fn messages_since_clear(&self) -> usize {
        let since = self.session.transcript().iter().rev().take_while(|entry| **entry != Entry::Cleared);
        since.filter(|entry| matches!(entry, Entry::User { .. } | Entry::Shared { .. })).count()
    }
}

fn excerpt(entry: &Entry) -> String {
    let Entry::User { text, mode, .. } = entry else { return String::new() };
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(100).collect();
    let more = if short.len() < text.trim_end().len() { " …" } else { "" };
    let mode = if *mode == Mode::Code { String::new() } else { format!("({}) ", mode.name()) };
    format!("{mode}{short}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn confirm() -> Confirm {
        let text = ["Seven hunks are pending.", "Nothing of them will be written."].map(str::to_owned);
        Confirm::new("abandon?", text).way('y', "abandon 7 hunks", ConfirmedAction::Abandon)
    }

    #[test]
    fn only_its_letter_does_it_and_enter_never_does() {
        let press = |name: &str| confirm().key(key::parse(name).unwrap());
        assert_eq!(press("y"), Reply::Confirmed(ConfirmedAction::Abandon));
        for back in ["Esc", "Enter", "n", "q"] {
            assert_eq!(press(back), Reply::Close, "{back}");
        }
        for other in ["Alt-y", "Ctrl-y", "Tab"] {
            assert_eq!(press(other), Reply::Stay, "{other}");
        }
        for typed in ["a", "j", "Y", "Space"] {
            assert_eq!(press(typed), Reply::Typed(key::parse(typed).unwrap()), "{typed}");
        }
    }

    #[test]
    fn the_key_that_led_here_means_yes_when_pressed_again() {
        let mut confirm = confirm().again(&["Ctrl-q".to_owned()]);
        assert_eq!(confirm.key(key::parse("Ctrl-q").unwrap()), Reply::Confirmed(ConfirmedAction::Abandon));
    }

    #[test]
    fn what_to_press_is_always_in_view() {
        for (width, height) in [(80, 24), (40, 10), (20, 4)] {
            let mut screen = Terminal::new(TestBackend::new(width, height)).unwrap();
            let draw = |frame: &mut Frame<'_>| crate::tui::overlay::render(&mut confirm(), frame);
            screen.draw(draw).unwrap();
            let shown = screen.backend().to_string();
            assert!(shown.contains("y abandon 7") && shown.contains("Esc cancels"), "{shown}");
        }
    }
}

#[cfg(test)]
mod confirm_tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::theme::ColorDepth;
    use crate::tui::theme::Theme;
    use rhumb_session::CommitPlan;
    use rhumb_session::Connection;
    use rhumb_session::Session;
    use rhumb_session::UndoPreview;

    /// An app in which `/undo` was run and asks for confirmation.
    fn asked(write: Option<UndoPreview>) -> (App, Vec<Task>) {
        asked_by("/undo", Direction::Undo, write)
    }

    fn asked_by(command: &str, direction: Direction, write: Option<UndoPreview>) -> (App, Vec<Task>) {
        let (session, effects) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.event(Event::Paste(command.into()));
        let tasks = app.event(Event::Key(key::parse("Enter").unwrap()));
        let looks = |task: &Task| matches!(task, Task::Run(Effect::Lookup(LookupEffect::LastWrite(asked))) if *asked == direction);
        assert!(tasks.iter().any(looks), "{tasks:?}");
        let tasks = app.handle_response(Response::LookedUp(LookupResponse::LastWrite(direction, write)));
        (app, tasks)
    }

    fn last_write() -> Option<UndoPreview> {
        let paths = ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"].map(str::to_owned).to_vec();
        let commit = CommitPlan::Drop("0123456789".into());
        Some(UndoPreview { direction: Direction::Undo, paths, subject: Some("Say hello".into()), commit })
    }

    #[test]
    fn redo_asks_as_undo_does() {
        let restore = CommitPlan::Restore("0123456789".into());
        let write = last_write().map(|write| UndoPreview { direction: Direction::Redo, commit: restore, ..write });
        let (mut app, _) = asked_by("/redo", Direction::Redo, write);
        let question = app.overlays.top_as::<Confirm>().expect("a question");
        let asked = format!("{question:?}");
        assert!(asked.contains("redo the last write?") && asked.contains("Commit 0123456 "), "{asked}");
        let tasks = app.event(Event::Key(key::parse("y").unwrap()));
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(Direction::Redo)))), "{tasks:?}");
    }

    #[test]
    fn undo_names_the_files_and_the_commit_before_it_is_done() {
        let (mut app, _) = asked(last_write());
        let question = app.overlays.top_as::<Confirm>().expect("a question");
        let asked = format!("{question:?}");
        assert!(asked.contains("5 files: a.rs, b.rs, c.rs and 2 more") && asked.contains("Say hello"), "{asked}");
        assert!(asked.contains("Commit 0123456") && asked.contains("is dropped from the branch"), "{asked}");
        let tasks = app.event(Event::Key(key::parse("y").unwrap()));
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(_)))), "{tasks:?}");
    }

    #[test]
    fn with_nothing_to_undo_nothing_is_asked() {
        let (app, tasks) = asked(None);
        assert!(app.overlays.is_empty());
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(_)))), "{tasks:?}");
    }

    #[test]
    fn who_types_on_says_no_and_loses_no_letter() {
        let (mut app, _) = asked(last_write());
        let mut tasks = Vec::new();
        for letter in "Add a mode".chars() {
            let name = if letter == ' ' { "Space".to_owned() } else { letter.to_string() };
            tasks.extend(app.event(Event::Key(key::parse(&name).unwrap())));
            assert!(letter != 'A' || app.hint.text().contains("closed unanswered"), "{}", app.hint.text());
        }
        assert_eq!((app.composer.text().as_str(), app.overlays.is_empty()), ("Add a mode", true));
        assert!(!tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(_)))), "{tasks:?}");
        let (mut app, _) = asked(last_write());
        app.event(Event::Paste("a page".into()));
        assert_eq!((app.composer.text().as_str(), app.overlays.is_empty()), ("a page", true));
    }

    #[test]
    fn in_another_pane_a_letter_that_is_no_answer_does_nothing() {
        let (mut app, _) = asked(last_write());
        app.focus = Pane::Map;
        app.event(Event::Key(key::parse("A").unwrap()));
        assert!(!app.overlays.is_empty() && app.composer.is_empty());
    }
}
