//! The help: available actions, key bindings and commands, filtered while the user types.

use rhumb_edit::review::EditState;
use rhumb_session::{COMMANDS, Group, origin};

use super::{Overlay, OverlayContext, Reply, centred, inner_area, window};
use crate::tui::prelude::*;

/// With at least this many columns the names of actions have a column.
const MIN_NAMED_COLUMNS: usize = 96;
/// Columns of the names, where they have a column.
const NAME_COLUMNS: usize = 20;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HelpRow {
    /// Its keys, or the usage of the command.
    pub keys: String,
    /// The name in the settings; empty for commands.
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HelpSection {
    pub title: String,
    /// May be empty.
    pub intro: String,
    pub rows: Vec<HelpRow>,
    /// The reason why all rows are unavailable.
    pub why: Option<&'static str>,
}

type Piece = (String, Role);

#[derive(Debug, Default)]
pub struct HelpView {
    title: String,
    sections: Vec<HelpSection>,
    /// Keys that close the help while no query is typed.
    closes: Vec<String>,
    query: LineInput,
    /// The lines for the width and query of `made_for`.
    lines: Vec<Vec<Piece>>,
    made_for: Option<(usize, String)>,
    window: ListWindow,
}

impl HelpView {
    pub fn new(title: &str, sections: Vec<HelpSection>, closes: Vec<String>) -> Self {
        Self { title: format!(" {title} "), sections, closes, ..Self::default() }
    }

    fn area(screen: Rect) -> Rect {
        let margin = if screen.width < 60 { 0 } else { 4 };
        centred(screen, screen.width.saturating_sub(margin).min(124), screen.height.saturating_sub(margin / 2))
    }

    fn parts(inner: Rect) -> [Rect; 3] {
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)]).areas(inner)
    }

    /// Renders the lines again if the width or the query has changed.
    fn make(&mut self, columns: usize) {
        let wanted = (columns, self.query.text().to_owned());
        if self.made_for.as_ref() == Some(&wanted) {
            return;
        }
        let has_new_query = self.made_for.as_ref().is_none_or(|(_, query)| *query != wanted.1);
        let words: Vec<String> =
            wanted.1.to_lowercase().split_whitespace().map(|word| word.trim_start_matches('/').to_owned()).collect();
        self.lines.clear();
        for section in &self.sections {
            let is_whole = matches(&words, &[&section.title]);
            let found: Vec<&HelpRow> = section
                .rows
                .iter()
                .filter(|row| is_whole || matches(&words, &[&row.keys, &row.name, &row.text]))
                .collect();
            let is_read = words.is_empty() && !section.intro.is_empty();
            if found.is_empty() && !is_read {
                continue;
            }
            if !self.lines.is_empty() {
                self.lines.push(Vec::new());
            }
            self.lines.push(vec![(section.title.to_uppercase(), Role::Title)]);
            if words.is_empty() && !section.intro.is_empty() {
                let intro = wrap::wrap(&section.intro, columns.saturating_sub(2).max(1)).into_iter();
                self.lines.extend(intro.map(|range| vec![(format!("  {}", &section.intro[range]), Role::Text)]));
            }
            if let Some(why) = section.why {
                let why = format!("  not now: {why}");
                self.lines.push(vec![(width::clip(&why, columns).into_owned(), Role::Muted)]);
            }
            found.iter().for_each(|row| self.lines.extend(row.lines(columns, &words, section.why.is_none())));
        }
        if self.lines.is_empty() {
            self.lines.push(vec![("  nothing matches".to_owned(), Role::Muted)]);
        }
        self.window.set_len(self.lines.len());
        if has_new_query {
            self.window.scroll(isize::MIN / 2);
        }
        self.made_for = Some(wanted);
    }
}

impl Overlay for HelpView {
    /// Arrows and pages scroll; other keys edit the query.
    fn key(&mut self, key: KeyEvent) -> Reply {
        let page = self.window.visible().len().saturating_sub(1).max(1) as isize;
        let name = key::name(key);
        let is_blank = self.query.text().is_empty();
        match name.as_str() {
            "Down" | "Ctrl-n" => self.window.scroll(1),
            "Up" | "Ctrl-p" => self.window.scroll(-1),
            "PageDown" => self.window.scroll(page),
            "PageUp" => self.window.scroll(-page),
            "Home" if is_blank => self.window.scroll(isize::MIN / 2),
            "End" if is_blank => self.window.scroll(isize::MAX / 2),
            "Esc" | "Enter" if is_blank => return Reply::Close,
            "Esc" => self.query = LineInput::default(),
            "/" if is_blank => {}
            name if self.closes.iter().any(|own| own == name) && (is_blank || name.chars().count() > 1) => {
                return Reply::Close;
            }
            _ => {
                self.query.key(key);
            }
        }
        Reply::Stay
    }

    fn paste(&mut self, text: &str) {
        self.query.insert(text);
    }

    fn wheel(&mut self, by: isize) {
        self.window.scroll(by);
    }

    fn fit(&mut self, screen: Rect, _: &Theme, _: &Previews) {
        let [_, list, _] = Self::parts(inner_area(Self::area(screen)));
        self.make(usize::from(list.width));
        self.window.set_height(usize::from(list.height));
    }

    fn draw(&self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme, _: OverlayContext<'_>) {
        let [query, list, hint] = Self::parts(window(frame, Self::area(screen), &self.title, theme));
        self.query.draw(frame, query, "type to search", theme);
        let shown = self.lines.get(self.window.visible()).unwrap_or_default();
        let span = |(text, role): &Piece| Span::styled(text.clone(), theme.style(*role));
        let lines: Vec<Line<'_>> = shown.iter().map(|line| Line::from_iter(line.iter().map(span))).collect();
        frame.render_widget(Paragraph::new(lines), list);
        let leave = if self.query.text().is_empty() { "Esc closes" } else { "Esc shows all" };
        let end = self.window.visible().end;
        let text = format!("↑↓ scroll · {leave} · {end} of {} lines", self.lines.len());
        frame.render_widget(clipped(&text, hint.width, theme.style(Role::Muted)), hint);
    }
}

impl HelpRow {
    /// The row as lines: its keys at the left, its text beside or below them. Dimmed unless it `works` now.
    fn lines(&self, columns: usize, words: &[String], works: bool) -> Vec<Vec<Piece>> {
        let safe = |text: &str| sanitize::visible_line(text).into_owned();
        let (key_role, text_role) = if works { (Role::Key, Role::Text) } else { (Role::Muted, Role::Muted) };
        let has_names = columns >= MIN_NAMED_COLUMNS;
        let keys_wide = if columns < 60 { 12 } else { 24 };
        let left = 2 + keys_wide + if has_names { NAME_COLUMNS + 2 } else { 0 } + 1;
        let keys = safe(&self.keys);
        let mut lines: Vec<Vec<Piece>> = Vec::new();
        let mut head = vec![("  ".to_owned(), text_role)];
        head.extend(marked(&width::clip(&keys, columns.saturating_sub(2)), words, key_role));
        let used = width::columns(&keys);
        let is_beside = used <= keys_wide;
        if is_beside {
            head.push((" ".repeat(keys_wide - used + 1), text_role));
        } else {
            lines.push(std::mem::replace(&mut head, vec![(" ".repeat(2 + keys_wide + 1), text_role)]));
        }
        if has_names {
            let name = width::clip(&self.name, NAME_COLUMNS).into_owned();
            let pad = NAME_COLUMNS + 2 - width::columns(&name);
            head.extend(marked(&name, words, Role::Muted));
            head.push((" ".repeat(pad), text_role));
        }
        let text = safe(&self.text);
        let mut pieces = wrap::wrap(&text, columns.saturating_sub(left).max(8)).into_iter();
        head.extend(marked(pieces.next().map_or("", |range| &text[range]), words, text_role));
        lines.push(head);
        let below = |range: std::ops::Range<usize>| {
            let mut line = vec![(" ".repeat(left), text_role)];
            line.extend(marked(&text[range], words, text_role));
            line
        };
        lines.extend(pieces.map(below));
        lines
    }
}

/// Whether each word occurs in one of the texts.
fn matches(words: &[String], texts: &[&str]) -> bool {
    words.iter().all(|word| texts.iter().any(|text| text.to_lowercase().contains(word.as_str())))
}

/// A text with the searched words in another role.
fn marked(text: &str, words: &[String], role: Role) -> Vec<Piece> {
    let lower = text.to_ascii_lowercase();
    let mut hits = vec![false; text.len()];
    for word in words.iter().filter(|word| !word.is_empty()) {
        for (at, found) in lower.match_indices(word.as_str()) {
            hits.iter_mut().skip(at).take(found.len()).for_each(|hit| *hit = true);
        }
    }
    let mut pieces: Vec<(String, Role)> = Vec::new();
    for (at, letter) in text.char_indices() {
        let role = if hits.get(at) == Some(&true) { Role::Match } else { role };
        match pieces.last_mut() {
            Some((piece, before)) if *before == role => piece.push(letter),
            _ => pieces.push((letter.to_string(), role)),
        }
    }
    pieces
}

impl App {
    /// Opens the help: the current situation, the available keys, the commands (if `with_commands`), and all other
    /// keys.
    pub(crate) fn open_help(&mut self, with_commands: bool) {
        let of_chat = self.chat.reading.on.then_some(Scope::Reading);
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
                format!("This edit matches no location in {path}. It cannot be accepted until it has one."),
                "Place it by hand, at one of the nearest places or with the editor.",
            ),
        };
        let wanted = [
            (Action::OpenHere, Some(open)),
            (Action::Reask, Some("Ask the model again for this edit.")),
            (Action::ReaskAll, Some("Ask the model again for all edits without a location.")),
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
        let (title, intro) = (scope.place(), String::new());
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
                    title: scope.place(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn view() -> HelpView {
        let row = |keys: &str, text: &str| HelpRow { keys: keys.into(), name: String::new(), text: text.into() };
        let review = HelpSection {
            title: "review".into(),
            intro: "Nothing is written yet.".into(),
            rows: vec![row("]", "Go to the next hunk.")],
            why: None,
        };
        let all =
            HelpSection { title: "everywhere".into(), rows: vec![row("F1", "Show keys.")], ..HelpSection::default() };
        let waits = HelpSection {
            title: "review".into(),
            rows: vec![row("y", "Accept the hunk."), row("n", "Reject the hunk.")],
            why: Some("nothing is under review"),
            ..HelpSection::default()
        };
        HelpView::new("help", vec![review, all, waits], vec!["F1".into(), "?".into()])
    }

    fn shown(view: &mut HelpView, width: u16, height: u16) -> String {
        let mut screen = Terminal::new(TestBackend::new(width, height)).unwrap();
        screen.draw(|frame| crate::tui::overlay::render(view, frame)).unwrap();
        screen.backend().to_string()
    }

    fn press(view: &mut HelpView, keys: &str) -> Reply {
        keys.split(' ').filter_map(key::parse).map(|key| view.key(key)).last().unwrap()
    }

    #[test]
    fn a_reason_is_given_once_for_its_section() {
        let mut view = view();
        let screen = shown(&mut view, 90, 18);
        assert_eq!(screen.matches("not now: nothing is under review").count(), 1, "{screen}");
        assert!(screen.contains("Accept the hunk.") && screen.contains("Nothing is written yet."), "{screen}");
        press(&mut view, "r e j e c t");
        let found = shown(&mut view, 90, 18);
        assert!(found.contains("not now") && !found.contains("Accept"), "what is found has the reason too: {found}");
    }

    #[test]
    fn typing_searches_and_esc_shows_all_again_before_it_closes() {
        let mut view = view();
        assert_eq!(press(&mut view, "/ n e x t"), Reply::Stay);
        let screen = shown(&mut view, 90, 14);
        assert!(
            screen.contains("next hunk") && !screen.contains("Accept") && !screen.contains("EVERYWHERE"),
            "{screen}"
        );
        assert_eq!(press(&mut view, "z"), Reply::Stay);
        assert!(shown(&mut view, 90, 14).contains("nothing matches"));
        assert_eq!(press(&mut view, "Esc"), Reply::Stay);
        assert!(shown(&mut view, 90, 14).contains("EVERYWHERE"));
        assert_eq!(press(&mut view, "Esc"), Reply::Close);
        assert_eq!((press(&mut view, "F1"), press(&mut view, "?")), (Reply::Close, Reply::Close));
    }

    #[test]
    fn it_is_of_use_on_the_smallest_screen_and_safe_on_none() {
        let screen = shown(&mut view(), 40, 10);
        assert!(screen.contains("type to search") && screen.contains("Esc closes"), "{screen}");
        shown(&mut view(), 1, 1);
    }
}
