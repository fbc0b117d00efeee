//! The mouse: the clickable areas of the last frame, and the handlers of clicks, drags and the wheel.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use crate::tui::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// The frame of a pane, or a part without a row.
    Pane(Pane),
    /// A row of a pane, 0-based.
    Row(Pane, usize),
    Tab(Pane),
    Composer,
    Citation(usize, usize),
    Item(usize),
}

/// The clickable areas of the screen.
#[derive(Debug, Clone, Default)]
pub struct Hits(Vec<(Rect, Hit)>);

impl Hits {
    /// Adds an area. The last one wins where areas overlap.
    pub fn add(&mut self, area: Rect, hit: Hit) {
        self.0.push((area, hit));
    }

    pub fn at(&self, column: u16, row: u16) -> Option<(Rect, Hit)> {
        self.0.iter().rev().find(|(area, _)| area.contains(Position { x: column, y: row })).copied()
    }
}

/// A press in the chat. It becomes a click on release, or a selection if the pointer moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Press {
    /// Column and row.
    pub(super) at: (u16, u16),
    pub(super) hit: Hit,
    pub(super) is_double: bool,
}

/// A selection in the chat, by its first and last cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Selection {
    from: (u16, u16),
    to: (u16, u16),
    /// Whether the button was released. The text is copied after the next frame, because only a frame has the text between
    /// the cells.
    is_complete: bool,
}

pub(super) fn mark(buffer: &mut Buffer, area: Rect, from: (u16, u16), to: (u16, u16), style: Style) -> String {
    let ((first, top), (last, bottom)) = if (from.1, from.0) <= (to.1, to.0) { (from, to) } else { (to, from) };
    let mut lines = Vec::new();
    for y in top.max(area.top())..=bottom.min(area.bottom().saturating_sub(1)) {
        let start = if y == top { first.max(area.left()) } else { area.left() };
        let end = if y == bottom { last.saturating_add(1).min(area.right()) } else { area.right() };
        let mut line = String::new();
        let mut x = start;
        while x < end {
            let Some(cell) = buffer.cell_mut((x, y)) else { break };
            line.push_str(cell.symbol());
            // The cell behind a wide character is part of it.
            let columns = u16::try_from(width::columns(cell.symbol())).unwrap_or(1).max(1);
            for column in x..x.saturating_add(columns) {
                if let Some(cell) = buffer.cell_mut((column, y)) {
                    cell.set_style(style);
                }
            }
            x = x.saturating_add(columns);
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

const DOUBLE_CLICK_TIMEOUT: Duration = Duration::from_millis(400);

/// Rows that the first wheel event of a frame scrolls, and the most that all wheel events of a frame scroll. Terminals send one, three or
/// nine events for one notch.
const FIRST_WHEEL_ROWS: usize = 3;
const MAX_WHEEL_ROWS: usize = 6;

#[derive(Debug, Default)]
pub(super) struct MouseState {
    hits: Hits,
    pub(super) held: Option<HeldBorder>,
    pressed: Option<Press>,
    selection: Option<Selection>,
    /// The text of the complete selection, to be copied.
    selected: Option<String>,
    /// The time, column and row of the last click.
    clicked: Option<(Duration, u16, u16)>,
    /// Wheel events since the last frame.
    wheel_events: usize,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct HeldBorder {
    name: &'static str,
    /// Cells between the pointer and the border when the button went down.
    offset: u16,
    moved: bool,
}

impl MouseState {
    pub(super) fn drawn(&mut self, cache: &ViewCache) {
        self.hits = cache.hits.clone();
        if self.selection.take_if(|selection| selection.is_complete).is_some() {
            self.selected = Some(cache.selected.clone());
        }
        self.wheel_events = 0;
    }

    /// The first and the last cell of the selection.
    pub(super) fn selection(&self) -> Option<((u16, u16), (u16, u16))> {
        self.selection.map(|selection| (selection.from, selection.to))
    }

    /// Whether a click at this time is the second of a double click.
    fn is_double(&mut self, now: Duration, column: u16, row: u16) -> bool {
        let first = self.clicked.take();
        let double =
            first.is_some_and(|(at, x, y)| (x, y) == (column, row) && now.saturating_sub(at) <= DOUBLE_CLICK_TIMEOUT);
        // A third click begins a new double click.
        self.clicked = (!double).then_some((now, column, row));
        double
    }

    /// Rows that one more wheel event scrolls.
    fn wheel_rows(&mut self) -> usize {
        self.wheel_events += 1;
        match self.wheel_events {
            1 => FIRST_WHEEL_ROWS,
            events if events > FIRST_WHEEL_ROWS && events <= MAX_WHEEL_ROWS => 1,
            _ => 0,
        }
    }
}

impl App {
    pub(crate) fn mouse(&mut self, event: MouseEvent) -> Vec<Task> {
        // Events that were sent before the mouse was returned to the terminal are ignored.
        if !self.display.mouse {
            return Vec::new();
        }
        let (column, row) = (event.column, event.row);
        match event.kind {
            MouseEventKind::ScrollDown => return self.wheel(column, row, true),
            MouseEventKind::ScrollUp => return self.wheel(column, row, false),
            MouseEventKind::Down(MouseButton::Left) => return self.click(column, row),
            MouseEventKind::Drag(MouseButton::Left) => self.drag(column, row),
            MouseEventKind::Up(MouseButton::Left) => return self.release(column, row),
            MouseEventKind::Down(_) | MouseEventKind::Up(_) | MouseEventKind::Drag(_) => {}
            MouseEventKind::Moved | MouseEventKind::ScrollLeft | MouseEventKind::ScrollRight => {}
        }
        Vec::new()
    }

    fn click(&mut self, column: u16, row: u16) -> Vec<Task> {
        self.mouse.held = None;
        (self.mouse.pressed, self.mouse.selection) = (None, None);
        let double = self.mouse.is_double(self.uptime.now, column, row);
        if !self.overlays.is_empty() {
            let Some((_, Hit::Item(item))) = self.mouse.hits.at(column, row) else { return Vec::new() };
            return self.click_in_overlay(item, double);
        }
        self.hint.clear();
        self.sequence.clear();
        self.sequence.interrupted = false;
        if let Some(border) = self.layout.places.border_at(column, row).cloned() {
            if double {
                self.layout.reset_border(&border);
                return Vec::new();
            }
            let offset = border.at.saturating_sub(border.along(column, row));
            self.mouse.held = Some(HeldBorder { name: border.name, offset, moved: false });
            return Vec::new();
        }
        match self.mouse.hits.at(column, row) {
            Some((_, hit @ (Hit::Pane(Pane::Chat) | Hit::Row(Pane::Chat, _) | Hit::Citation(..)))) => {
                self.focus = Pane::Chat;
                self.mouse.pressed = Some(Press { at: (column, row), hit, is_double: double });
            }
            Some((_, Hit::Tab(pane) | Hit::Pane(pane))) => self.focus = pane,
            Some((_, Hit::Row(pane, at))) => {
                self.focus = pane;
                return self.click_row(pane, at, double);
            }
            Some((area, Hit::Composer)) => {
                self.focus = Pane::Chat;
                self.stop_reading();
                self.composer.click(column.saturating_sub(area.x), row.saturating_sub(area.y));
            }
            Some((_, Hit::Item(_))) | None => {}
        }
        Vec::new()
    }

    /// Handles a click in the chat after the button was released at the same cell.
    fn click_pressed(&mut self, press: Press) -> Vec<Task> {
        match press.hit {
            Hit::Row(Pane::Chat, at) => self.click_in_chat(at, press.is_double),
            Hit::Citation(entry, at) => self.click_citation(entry, at),
            _ => Vec::new(),
        }
    }

    fn click_row(&mut self, pane: Pane, at: usize, double: bool) -> Vec<Task> {
        match pane {
            Pane::Chat => self.click_in_chat(at, double),
            Pane::Map => self.click_in_map(at, double),
            Pane::Context => self.click_in_context(at, double),
            Pane::Review => self.click_in_review(at, double),
        }
    }

    fn drag(&mut self, column: u16, row: u16) {
        let to = (column, row);
        if let Some(press) = self.mouse.pressed.filter(|press| press.at != to || self.mouse.selection.is_some()) {
            self.mouse.selection = Some(Selection { from: press.at, to, is_complete: false });
            return;
        }
        let Some(held) = &mut self.mouse.held else { return };
        let (name, offset) = (held.name, held.offset);
        let Some(border) = self.layout.places.borders.iter().find(|border| border.name == name) else { return };
        held.moved = true;
        let share = border.share(border.along(column, row).saturating_add(offset));
        self.layout.move_border(name, share);
    }

    /// Ends a drag. A border that was not moved was a click on the frame of a pane.
    fn release(&mut self, column: u16, row: u16) -> Vec<Task> {
        let (press, selection) = (self.mouse.pressed.take(), self.mouse.selection.take());
        if !self.overlays.is_empty() {
            self.mouse.held = None;
            return Vec::new();
        }
        if let Some(selection) = selection {
            self.mouse.selection = Some(Selection { to: (column, row), is_complete: true, ..selection });
            return Vec::new();
        }
        if let Some(press) = press.filter(|press| press.at == (column, row)) {
            return self.click_pressed(press);
        }
        let clicked = self.mouse.held.take().is_some_and(|held| !held.moved);
        if let Some(pane) = self.layout.places.pane_at(column, row).filter(|_| clicked) {
            self.focus = pane;
        }
        Vec::new()
    }

    /// Copies the text of a complete selection. To be called after each frame.
    pub(crate) fn copy_selection(&mut self) -> Vec<Task> {
        let Some(text) = self.mouse.selected.take().filter(|text| !text.trim().is_empty()) else { return Vec::new() };
        self.hint.set(format!("copied {}", count(text.lines().count(), "line")));
        vec![Task::Copy(ClipboardText { what: "The selected text".into(), text, hint: String::new() })]
    }

    fn wheel(&mut self, column: u16, row: u16, down: bool) -> Vec<Task> {
        let rows = isize::try_from(self.mouse.wheel_rows()).unwrap_or(0) * if down { 1 } else { -1 };
        if !self.overlays.is_empty() {
            return self.wheel_in_overlay(rows);
        }
        match self.layout.places.pane_at(column, row) {
            Some(Pane::Chat) => self.chat.scroll_up(-rows),
            Some(Pane::Map) => self.wheel_in_map(rows),
            Some(Pane::Context) => self.context.window.scroll(rows),
            Some(Pane::Review) => self.scroll_review(rows),
            None => {}
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notch_of_the_wheel_moves_about_the_same_however_many_events_it_sends() {
        for (events, rows) in [(1, 3), (3, 3), (6, 6), (9, 6), (100, 6)] {
            let mut mouse = MouseState::default();
            assert_eq!((0..events).map(|_| mouse.wheel_rows()).sum::<usize>(), rows, "{events} events");
            mouse.drawn(&ViewCache::default());
            assert_eq!(mouse.wheel_rows(), 3, "a new frame");
        }
    }

    #[test]
    fn two_clicks_on_one_place_are_a_double_click_if_they_are_quick() {
        let mut mouse = MouseState::default();
        assert!(!mouse.is_double(Duration::ZERO, 3, 4));
        assert!(mouse.is_double(Duration::ZERO, 3, 4));
        assert!(!mouse.is_double(Duration::ZERO, 3, 4), "a third one begins anew");
        assert!(!mouse.is_double(Duration::ZERO, 3, 5));
        assert!(!mouse.is_double(Duration::from_secs(1), 3, 5), "too late");
    }
}

#[cfg(test)]
mod selection_tests {
    use super::*;

    #[test]
    fn a_selection_is_the_text_between_two_cells_in_either_direction() {
        let mut buffer = Buffer::with_lines(["|one two  |", "|日本 six |", "|four     |"]);
        let area = Rect::new(1, 0, 9, 3);
        let mut select = |from, to| mark(&mut buffer, area, from, to, Style::default());
        assert_eq!(select((5, 0), (5, 2)), "two\n日本 six\nfour");
        assert_eq!(select((5, 2), (5, 0)), "two\n日本 six\nfour");
        assert_eq!(select((1, 1), (4, 1)), "日本");
        assert_eq!(select((0, 0), (90, 90)), "one two\n日本 six\nfour", "only what is in the area");
    }
}

#[cfg(test)]
mod mouse_tests {
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::tui::overlay::Confirm;
    use crate::tui::theme::{ColorDepth, Theme};
    use crate::tui::view::{self, ViewCache};
    use rhumb_session::{Connection, Entry, Level, Session};

    struct TestScreen {
        app: App,
        cache: ViewCache,
        screen: Terminal<TestBackend>,
    }

    impl TestScreen {
        fn new(width: u16, height: u16) -> Self {
            let (mut session, effects) = Session::start(Connection::None);
            session.extend_transcript((0..200).map(|number| {
                Entry::Status(rhumb_session::StatusMessage {
                    level: Level::Info,
                    text: format!("notice {number}"),
                    hint: String::new(),
                })
            }));
            let app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
            let mut test = Self {
                app,
                cache: ViewCache::default(),
                screen: Terminal::new(TestBackend::new(width, height)).unwrap(),
            };
            test.draw();
            test
        }

        fn draw(&mut self) {
            let (app, cache) = (&mut self.app, &mut self.cache);
            self.screen.draw(|frame| view::render(app, cache, frame)).unwrap();
        }

        fn event(&mut self, kind: MouseEventKind, column: u16, row: u16) {
            let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
            self.app.event(Event::Mouse(event));
        }

        fn click(&mut self, column: u16, row: u16) {
            self.event(MouseEventKind::Down(MouseButton::Left), column, row);
            self.event(MouseEventKind::Up(MouseButton::Left), column, row);
            self.draw();
        }

        fn place(&self, pane: Pane) -> Rect {
            self.app.layout.places.of(pane).unwrap()
        }
    }

    #[test]
    fn a_click_gives_a_pane_the_focus_and_a_tab_does_so_too() {
        let mut test = TestScreen::new(120, 35);
        for pane in [Pane::Map, Pane::Review, Pane::Context, Pane::Chat] {
            let area = test.place(pane);
            test.click(area.x + 3, area.y + 2);
            assert_eq!(test.app.focus, pane);
        }
        // The titles are part of borders that can be dragged.
        for pane in [Pane::Map, Pane::Review, Pane::Context, Pane::Chat] {
            let area = test.place(pane);
            test.click(area.x + 3, area.y);
            assert_eq!(test.app.focus, pane);
        }
        let mut test = TestScreen::new(60, 18);
        for (column, pane) in [(12, Pane::Map), (25, Pane::Context), (38, Pane::Review), (2, Pane::Chat)] {
            test.click(column, 0);
            assert_eq!(test.app.focus, pane);
        }
    }

    #[test]
    fn the_wheel_scrolls_what_is_under_the_pointer_and_the_focus_stays() {
        let mut test = TestScreen::new(120, 35);
        test.app.focus = Pane::Map;
        let chat = test.place(Pane::Chat);
        test.event(MouseEventKind::ScrollUp, chat.x + 5, chat.y + 5);
        assert_eq!((test.app.chat.from_bottom, test.app.focus), (3, Pane::Map));
        test.draw();
        for _ in 0..9 {
            test.event(MouseEventKind::ScrollUp, chat.x + 5, chat.y + 5);
        }
        assert_eq!(test.app.chat.from_bottom, 9, "nine events of one notch");
        test.draw();
        test.event(MouseEventKind::ScrollDown, chat.x + 5, chat.y + 5);
        assert_eq!(test.app.chat.from_bottom, 6);
        test.event(MouseEventKind::ScrollDown, 300, 300);
    }

    #[test]
    fn a_border_follows_the_pointer_and_is_to_be_kept_and_a_double_click_puts_it_back() {
        for beside in [0, 1] {
            let mut test = TestScreen::new(120, 35);
            let chat = test.place(Pane::Chat);
            let (edge, row) = (chat.right() - beside, 12);
            test.event(MouseEventKind::Down(MouseButton::Left), edge, row);
            for column in [edge - 4, edge - 9, 0] {
                test.event(MouseEventKind::Drag(MouseButton::Left), column, row);
                test.draw();
                let moved = test.place(Pane::Chat).right() - beside;
                assert!(moved == column || (column == 0 && moved < 30), "{moved} for {column}");
            }
            test.event(MouseEventKind::Drag(MouseButton::Left), edge - 20, row);
            test.event(MouseEventKind::Up(MouseButton::Left), edge - 20, row);
            test.event(MouseEventKind::Drag(MouseButton::Left), edge, row);
            test.draw();
            assert_eq!(
                test.place(Pane::Chat).right() - beside,
                edge - 20,
                "after the button was released nothing moves"
            );
            assert!(test.app.layout.take_changes().is_some_and(|kept| kept.borders.contains_key("columns-chat")));
            assert_eq!(test.app.focus, Pane::Chat, "a drag leaves the focus alone");
            test.click(edge - 20, row);
            test.click(edge - 20, row);
            assert_eq!(test.place(Pane::Chat), chat);
            assert!(test.app.layout.take_changes().is_some_and(|kept| kept.borders.is_empty()));
        }
    }

    #[test]
    fn a_click_in_the_composer_puts_the_cursor_there() {
        let mut test = TestScreen::new(120, 35);
        test.app.composer.set("hello\nharbour");
        test.app.focus = Pane::Map;
        test.draw();
        let chat = test.place(Pane::Chat);
        // Frame, two columns of the mark, the text.
        test.click(chat.x + 3 + 2, chat.bottom() - 3);
        assert_eq!(test.app.focus, Pane::Chat);
        test.app.event(Event::Key(KeyEvent::from(KeyCode::Char('X'))));
        assert_eq!(test.app.composer.text(), "heXllo\nharbour");
        test.draw();
        test.click(chat.right() - 3, chat.bottom() - 2);
        test.app.event(Event::Key(KeyEvent::from(KeyCode::Char('!'))));
        assert_eq!(test.app.composer.text(), "heXllo\nharbour!", "beyond the end of a line is its end");
    }

    #[test]
    fn a_click_beside_the_rows_moves_the_focus_alone() {
        let mut test = TestScreen::new(120, 35);
        let area = test.place(Pane::Context);
        // Nothing is measured yet, so no row is drawn.
        test.app.context.window = ListWindow::new(9);
        test.app.context.window.set_height(9);
        let kind = MouseEventKind::Down(MouseButton::Left);
        test.app.mouse(MouseEvent { kind, column: area.x + 3, row: area.y + 4, modifiers: KeyModifiers::NONE });
        assert_eq!((test.app.focus, test.app.context.window.selected()), (Pane::Context, Some(0)));
    }

    #[test]
    fn under_an_overlay_nothing_is_clicked_and_the_wheel_scrolls_the_overlay() {
        let mut test = TestScreen::new(120, 35);
        test.app.event(Event::Key(KeyEvent::from(KeyCode::F(1))));
        test.draw();
        let map = test.place(Pane::Map);
        test.click(map.x + 2, map.y + 2);
        test.event(MouseEventKind::ScrollDown, map.x + 2, map.y + 2);
        assert!(!test.app.overlays.is_empty() && test.app.focus == Pane::Chat);
        // The wheel does not answer a question.
        test.app.confirm_abandoning();
        test.event(MouseEventKind::ScrollDown, 60, 17);
        test.click(60, 17);
        assert!(test.app.overlays.is_top::<Confirm>());
    }

    const CARD: &str = "First.\n\na.py\n```\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n\nThen that.\n";

    #[test]
    fn a_drag_from_an_edit_selects_text_and_a_click_on_it_is_done_when_the_button_is_released() {
        let mut test = TestScreen::new(120, 35);
        let (text, reasoning, state) = (CARD.to_owned(), "hm".to_owned(), rhumb_session::AnswerState::Complete);
        let answer = rhumb_session::Answer { text, reasoning, state, edits: Vec::new(), thinking: Vec::new() };
        test.app.session.extend_transcript([Entry::Answer(answer)]);
        test.draw();
        let row_of = |test: &TestScreen, text: &str| {
            let row = |y: u16| (0..60).map(|x| test.screen.backend().buffer()[(x, y)].symbol()).collect::<String>();
            (0..35).find(|y| row(*y).contains(text)).unwrap()
        };
        let (card, end) = (row_of(&test, "✎ a.py"), row_of(&test, "Then that."));
        test.event(MouseEventKind::Down(MouseButton::Left), 3, card);
        assert!(test.app.hint.is_empty(), "nothing is opened yet");
        test.event(MouseEventKind::Drag(MouseButton::Left), 4, end);
        test.draw();
        // The pointer moves on before the button is released, without a frame in between.
        test.event(MouseEventKind::Up(MouseButton::Left), 7, end);
        assert_eq!(test.app.copy_selection(), [], "the text is not drawn yet");
        test.draw();
        let tasks = test.app.copy_selection();
        let copied = tasks.iter().find_map(|task| if let Task::Copy(clip) = task { Some(&clip.text) } else { None });
        assert!(
            copied.is_some_and(|text| text.starts_with("a.py  +1 −1") && text.ends_with("\nThen th")),
            "{copied:?}"
        );
        assert_eq!(test.app.hint.text(), "copied 3 lines");
        test.click(3, card);
        assert_eq!(test.app.hint.text(), "this edit is not under review");
        let thoughts = row_of(&test, "thought");
        test.event(MouseEventKind::Down(MouseButton::Left), 3, thoughts);
        test.event(MouseEventKind::Up(MouseButton::Left), 9, thoughts);
        test.draw();
        assert!(test.app.chat.reading.toggled.is_empty(), "released elsewhere");
        test.click(3, thoughts);
        assert!(!test.app.chat.reading.toggled.is_empty());
    }

    #[test]
    fn a_mouse_that_is_the_terminals_does_nothing() {
        let mut test = TestScreen::new(120, 35);
        test.app.toggle_mouse();
        assert!(test.app.hint.text().contains("selects text"), "{}", test.app.hint.text());
        let map = test.place(Pane::Map);
        test.click(map.x + 2, map.y + 2);
        test.event(MouseEventKind::ScrollUp, 5, 5);
        assert_eq!((test.app.focus, test.app.chat.from_bottom), (Pane::Chat, 0));
    }
}
