//! What the mouse does: a click gives the focus and chooses, a second one opens, the wheel scrolls what is under the pointer,
//! borders are dragged, and a drag in the chat selects text. What a click in the chat opens is opened when the button is released
//! where it went down, so that a drag may begin anywhere.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

use crate::session::Clip;
use crate::tui::action::Pane;
use crate::tui::app::{App, Task};
use crate::tui::desk::Held;
use crate::tui::hits::Hit;
use crate::tui::selection::{Press, Selection};
use rhumb_text::count;

impl App {
    /// Takes in an event of the mouse.
    pub(crate) fn mouse(&mut self, event: MouseEvent) -> Vec<Task> {
        // What was on its way when the mouse was given back to the terminal.
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
        self.desk.held = None;
        (self.desk.pressed, self.desk.selection) = (None, None);
        let double = self.desk.is_double(column, row);
        if self.overlay.is_some() {
            let Some((_, Hit::Item(item))) = self.hits.at(column, row) else { return Vec::new() };
            return self.click_in_overlay(item, double);
        }
        self.hint.clear();
        self.pending_keys.clear();
        self.interrupted_once = false;
        if let Some(border) = self.desk.places.border_at(column, row).cloned() {
            if double {
                self.reset_border(&border);
                return Vec::new();
            }
            let beside = border.at.saturating_sub(border.along(column, row));
            self.desk.held = Some(Held { name: border.name, beside, moved: false });
            return Vec::new();
        }
        match self.hits.at(column, row) {
            Some((_, Hit::Tab(pane))) => self.focus = pane,
            Some((_, hit @ (Hit::Pane(Pane::Chat) | Hit::Row(Pane::Chat, _) | Hit::Citation(..)))) => {
                self.focus = Pane::Chat;
                self.desk.pressed = Some(Press { at: (column, row), hit, is_double: double });
            }
            Some((area, Hit::Pane(pane))) => return self.click_in_pane(pane, area, (column, row), double),
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

    /// A click in the chat, now that the button was released where it went down.
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
        if let Some(press) = self.desk.pressed.filter(|press| press.at != to || self.desk.selection.is_some()) {
            let text = self.desk.selection.take().map(|selection| selection.text).unwrap_or_default();
            self.desk.selection = Some(Selection { from: press.at, to, text });
            return;
        }
        let Some(held) = &mut self.desk.held else { return };
        let (name, beside) = (held.name, held.beside);
        let Some(border) = self.desk.places.borders.iter().find(|border| border.name == name) else { return };
        held.moved = true;
        let share = border.share(border.along(column, row).saturating_add(beside));
        if self.desk.borders.get(name) != Some(&share) {
            self.move_border(name, share);
        }
    }

    /// Ends what the button began. A border that was not moved after all was a click on the frame of a pane.
    fn release(&mut self, column: u16, row: u16) -> Vec<Task> {
        let (press, selection) = (self.desk.pressed.take(), self.desk.selection.take());
        if self.overlay.is_some() {
            self.desk.held = None;
            return Vec::new();
        }
        if let Some(selection) = selection {
            return self.copy_selection(selection.text);
        }
        if let Some(press) = press.filter(|press| press.at == (column, row)) {
            return self.click_pressed(press);
        }
        let clicked = self.desk.held.take().is_some_and(|held| !held.moved);
        if let Some(pane) = self.desk.places.pane_at(column, row).filter(|_| clicked) {
            self.focus = pane;
        }
        Vec::new()
    }

    fn copy_selection(&mut self, text: String) -> Vec<Task> {
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.hint = format!("copied {}", count(text.lines().count(), "line"));
        vec![Task::Copy(Clip { what: "The selected text".into(), text, hint: String::new() })]
    }

    /// The wheel scrolls what is under the pointer, whatever has the focus.
    fn wheel(&mut self, column: u16, row: u16, down: bool) -> Vec<Task> {
        let rows = isize::try_from(self.desk.turn()).unwrap_or(0) * if down { 1 } else { -1 };
        if self.overlay.is_some() {
            return self.wheel_in_overlay(rows);
        }
        match self.desk.places.pane_at(column, row) {
            Some(Pane::Chat) => self.chat.from_bottom = self.chat.from_bottom.saturating_add_signed(-rows),
            Some(Pane::Map) => self.map.window.scroll(rows),
            Some(Pane::Context) => self.context.scroll(rows),
            Some(Pane::Review) => {
                self.scroll_review(rows);
            }
            None => {}
        }
        Vec::new()
    }
}

/// What a click means in each pane.
impl App {
    /// A click on a pane that has not said what stands there.
    fn click_in_pane(&mut self, pane: Pane, area: Rect, (column, row): (u16, u16), double: bool) -> Vec<Task> {
        let had_focus = self.focus == pane;
        self.focus = pane;
        let inside = column > area.x && column + 1 < area.right() && row > area.y && row + 1 < area.bottom();
        let line = usize::from(row.saturating_sub(area.y + 1));
        let window = match pane {
            Pane::Map => self.map.window,
            Pane::Context => self.context,
            Pane::Chat | Pane::Review => return Vec::new(),
        };
        let at = window.offset() + line;
        if !inside || !window.visible().contains(&at) {
            return Vec::new();
        }
        self.click_row(pane, at, double && had_focus)
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::session::{Connection, Entry, Level, Session};
    use crate::tui::overlay::Overlay;
    use crate::tui::theme::{ColorDepth, Theme};
    use crate::tui::view::{self, ViewCache};

    struct Stage {
        app: App,
        cache: ViewCache,
        screen: Terminal<TestBackend>,
    }

    impl Stage {
        fn new(width: u16, height: u16) -> Self {
            let (mut session, effects) = Session::start(Connection::None);
            session.transcript.extend((0..200).map(|number| {
                Entry::Notice(crate::session::Notice {
                    level: Level::Info,
                    text: format!("notice {number}"),
                    hint: String::new(),
                })
            }));
            let app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
            let mut stage = Self {
                app,
                cache: ViewCache::default(),
                screen: Terminal::new(TestBackend::new(width, height)).unwrap(),
            };
            stage.draw();
            stage
        }

        fn draw(&mut self) {
            let (app, cache) = (&mut self.app, &mut self.cache);
            self.screen.draw(|frame| view::draw(app, cache, frame)).unwrap();
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
            self.app.desk.places.of(pane).unwrap()
        }
    }

    #[test]
    fn a_click_gives_a_pane_the_focus_and_a_tab_does_so_too() {
        let mut stage = Stage::new(120, 35);
        for pane in [Pane::Map, Pane::Review, Pane::Context, Pane::Chat] {
            let area = stage.place(pane);
            stage.click(area.x + 3, area.y + 2);
            assert_eq!(stage.app.focus, pane);
        }
        // The titles stand in borders that can be dragged.
        for pane in [Pane::Map, Pane::Review, Pane::Context, Pane::Chat] {
            let area = stage.place(pane);
            stage.click(area.x + 3, area.y);
            assert_eq!(stage.app.focus, pane);
        }
        let mut stage = Stage::new(60, 18);
        for (column, pane) in [(12, Pane::Map), (25, Pane::Context), (38, Pane::Review), (2, Pane::Chat)] {
            stage.click(column, 0);
            assert_eq!(stage.app.focus, pane);
        }
    }

    #[test]
    fn the_wheel_scrolls_what_is_under_the_pointer_and_the_focus_stays() {
        let mut stage = Stage::new(120, 35);
        stage.app.focus = Pane::Map;
        let chat = stage.place(Pane::Chat);
        stage.event(MouseEventKind::ScrollUp, chat.x + 5, chat.y + 5);
        assert_eq!((stage.app.chat.from_bottom, stage.app.focus), (3, Pane::Map));
        stage.draw();
        for _ in 0..9 {
            stage.event(MouseEventKind::ScrollUp, chat.x + 5, chat.y + 5);
        }
        assert_eq!(stage.app.chat.from_bottom, 9, "nine events of one notch");
        stage.draw();
        stage.event(MouseEventKind::ScrollDown, chat.x + 5, chat.y + 5);
        assert_eq!(stage.app.chat.from_bottom, 6);
        stage.event(MouseEventKind::ScrollDown, 300, 300);
    }

    #[test]
    fn a_border_follows_the_pointer_and_is_to_be_kept_and_a_double_click_puts_it_back() {
        for beside in [0, 1] {
            let mut stage = Stage::new(120, 35);
            let chat = stage.place(Pane::Chat);
            let (edge, row) = (chat.right() - beside, 12);
            stage.event(MouseEventKind::Down(MouseButton::Left), edge, row);
            for column in [edge - 4, edge - 9, 0] {
                stage.event(MouseEventKind::Drag(MouseButton::Left), column, row);
                stage.draw();
                let moved = stage.place(Pane::Chat).right() - beside;
                assert!(moved == column || (column == 0 && moved < 30), "{moved} for {column}");
            }
            stage.event(MouseEventKind::Drag(MouseButton::Left), edge - 20, row);
            stage.event(MouseEventKind::Up(MouseButton::Left), edge - 20, row);
            stage.event(MouseEventKind::Drag(MouseButton::Left), edge, row);
            stage.draw();
            assert_eq!(
                stage.place(Pane::Chat).right() - beside,
                edge - 20,
                "after the button was released nothing moves"
            );
            assert!(stage.app.desk.take_moved().is_some_and(|kept| kept.borders.contains_key("columns-chat")));
            assert_eq!(stage.app.focus, Pane::Chat, "a drag leaves the focus alone");
            stage.click(edge - 20, row);
            stage.click(edge - 20, row);
            assert_eq!(stage.place(Pane::Chat), chat);
            assert!(stage.app.desk.take_moved().is_some_and(|kept| kept.borders.is_empty()));
        }
    }

    #[test]
    fn a_click_in_the_composer_puts_the_cursor_there() {
        let mut stage = Stage::new(120, 35);
        stage.app.composer.set("hello\nharbour");
        stage.app.focus = Pane::Map;
        stage.draw();
        let chat = stage.place(Pane::Chat);
        // Frame, two columns of the mark, the text.
        stage.click(chat.x + 3 + 2, chat.bottom() - 3);
        assert_eq!(stage.app.focus, Pane::Chat);
        stage.app.event(Event::Key(KeyEvent::from(KeyCode::Char('X'))));
        assert_eq!(stage.app.composer.text(), "heXllo\nharbour");
        stage.draw();
        stage.click(chat.right() - 3, chat.bottom() - 2);
        stage.app.event(Event::Key(KeyEvent::from(KeyCode::Char('!'))));
        assert_eq!(stage.app.composer.text(), "heXllo\nharbour!", "beyond the end of a line is its end");
    }

    #[test]
    fn under_an_overlay_nothing_is_clicked_and_the_wheel_scrolls_the_overlay() {
        let mut stage = Stage::new(120, 35);
        stage.app.event(Event::Key(KeyEvent::from(KeyCode::F(1))));
        stage.draw();
        let map = stage.place(Pane::Map);
        stage.click(map.x + 2, map.y + 2);
        stage.event(MouseEventKind::ScrollDown, map.x + 2, map.y + 2);
        assert!(stage.app.overlay.is_some() && stage.app.focus == Pane::Chat);
        // A question is not answered by a wheel.
        stage.app.ask_to_abandon();
        stage.event(MouseEventKind::ScrollDown, 60, 17);
        stage.click(60, 17);
        assert!(matches!(stage.app.overlay, Some(Overlay::Confirm(_))));
    }

    const CARD: &str = "First.\n\na.py\n```\n<<<<<<< SEARCH\nold\n=======\nnew\n>>>>>>> REPLACE\n```\n\nThen that.\n";

    #[test]
    fn a_drag_from_an_edit_selects_text_and_a_click_on_it_is_done_when_the_button_is_released() {
        let mut stage = Stage::new(120, 35);
        let (text, reasoning, state) = (CARD.to_owned(), "hm".to_owned(), crate::session::AnswerState::Complete);
        let answer = crate::session::Answer { text, reasoning, state, edits: Vec::new() };
        stage.app.session.transcript.push(Entry::Answer(answer));
        stage.draw();
        let row_of = |stage: &Stage, text: &str| {
            let row = |y: u16| (0..60).map(|x| stage.screen.backend().buffer()[(x, y)].symbol()).collect::<String>();
            (0..35).find(|y| row(*y).contains(text)).unwrap()
        };
        let (card, end) = (row_of(&stage, "✎ a.py"), row_of(&stage, "Then that."));
        stage.event(MouseEventKind::Down(MouseButton::Left), 3, card);
        assert!(stage.app.hint.is_empty(), "nothing is opened yet");
        stage.event(MouseEventKind::Drag(MouseButton::Left), 7, end);
        stage.draw();
        let up = MouseEvent {
            kind: MouseEventKind::Up(MouseButton::Left),
            column: 7,
            row: end,
            modifiers: KeyModifiers::NONE,
        };
        let tasks = stage.app.event(Event::Mouse(up));
        let copied = tasks.iter().find_map(|task| if let Task::Copy(clip) = task { Some(&clip.text) } else { None });
        assert!(
            copied.is_some_and(|text| text.starts_with("a.py  +1 −1") && text.ends_with("\nThen th")),
            "{copied:?}"
        );
        assert_eq!(stage.app.hint, "copied 3 lines");
        stage.click(3, card);
        assert_eq!(stage.app.hint, "this edit is not under review");
        let thoughts = row_of(&stage, "thought");
        stage.event(MouseEventKind::Down(MouseButton::Left), 3, thoughts);
        stage.event(MouseEventKind::Up(MouseButton::Left), 9, thoughts);
        stage.draw();
        assert!(stage.app.reading.turned.is_empty(), "released elsewhere");
        stage.click(3, thoughts);
        assert!(!stage.app.reading.turned.is_empty());
    }

    #[test]
    fn a_mouse_that_is_the_terminals_does_nothing() {
        let mut stage = Stage::new(120, 35);
        stage.app.toggle_mouse();
        assert!(stage.app.hint.contains("selects text"), "{}", stage.app.hint);
        let map = stage.place(Pane::Map);
        stage.click(map.x + 2, map.y + 2);
        stage.event(MouseEventKind::ScrollUp, 5, 5);
        assert_eq!((stage.app.focus, stage.app.chat.from_bottom), (Pane::Chat, 0));
    }
}
