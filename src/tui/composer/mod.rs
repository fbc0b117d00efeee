//! The composer: an input of several lines with the editing keys of a shell and soft wrapping.

mod actions;
pub(super) mod completion;
pub(super) mod vi;

use ratatui_textarea::{CursorMove, DataCursor, ScreenCursor, TextArea, WrapMode};

use self::vi::{Buffer, Mode, Vi, ViOutcome};
use crate::tui::prelude::*;

pub use self::actions::InputHistory;
pub use self::completion::Completion;

/// A pasted text longer than this many lines slows typing down in a wrapped text area; it is folded into a chip.
const MAX_UNFOLDED_PASTE_LINES: usize = 30;

/// The space in the name of a chip (MEDIUM MATHEMATICAL SPACE). It looks like any other; typed or pasted it becomes a plain
/// one, so that nothing but a chip can read as a chip.
const CHIP_SPACE: char = '\u{205F}';

/// How the name of every chip begins.
const CHIP_OPENING: &str = "[paste\u{205F}";

/// One edit of the text area is at most this many of its undo steps: it removes the selection and inserts.
const MAX_UNDO_STEPS_PER_EDIT: usize = 3;

#[derive(Debug)]
pub struct Composer {
    area: TextArea<'static>,
    style: Style,
    selected: Style,
    /// Name and text of long pastes. The composer shows the name, such as `[paste 1: 200 lines]`; the message contains the text.
    /// The cursor does not stop inside a chip, and deleting a part of a chip deletes all of it. The entry of a chip that was
    /// opened or deleted stays, because undo brings the chip back. So the number of entries also numbers the next chip.
    chips: Vec<(String, String)>,
    vi: Option<Vi>,
    invitation: String,
    pub(in crate::tui) history: InputHistory,
}

/// The placeholder of an empty composer; `help` is the key of the help.
fn invitation(help: &str) -> String {
    let help = if help.is_empty() { String::new() } else { format!(" · {help} help") };
    format!("Ask or say what to change · / commands{help}")
}

impl Composer {
    pub fn new(theme: &Theme) -> Self {
        let mut composer = Self {
            area: TextArea::default(),
            style: theme.style(Role::Text),
            selected: selected(theme),
            chips: Vec::new(),
            vi: None,
            history: InputHistory::default(),
            invitation: invitation("F1"),
        };
        composer.reset(Vec::new());
        composer.area.set_placeholder_style(theme.style(Role::Muted));
        composer
    }

    fn reset(&mut self, lines: Vec<String>) {
        let placeholder = self.area.placeholder_style();
        self.area = TextArea::new(lines);
        if let Some(vi) = &mut self.vi {
            vi.restart();
        }
        self.area.set_wrap_mode(WrapMode::WordOrGlyph);
        self.area.set_style(self.style);
        self.area.set_cursor_line_style(Style::default());
        self.area.set_selection_style(self.selected);
        // The cursor of the terminal is there: two reversed styles would cancel each other out.
        self.area.set_cursor_style(Style::default());
        self.area.set_placeholder_text(self.invitation.as_str());
        if let Some(style) = placeholder {
            self.area.set_placeholder_style(style);
        }
        self.area.move_cursor(CursorMove::Bottom);
        self.area.move_cursor(CursorMove::End);
    }

    /// The message, with folded pastes in full.
    pub fn text(&self) -> String {
        let typed = self.area.lines().join("\n");
        let mut text = String::with_capacity(typed.len());
        let mut rest = typed.as_str();
        while let Some((before, from)) = rest.find(CHIP_OPENING).and_then(|at| rest.split_at_checked(at)) {
            text.push_str(before);
            let chip =
                self.chips.iter().find_map(|(name, paste)| Some((paste.as_str(), from.strip_prefix(name.as_str())?)));
            let plain = from.strip_prefix(CHIP_OPENING).map(|after| ("[paste ", after));
            let (piece, after) = chip.or(plain).unwrap_or((from, ""));
            text.push_str(piece);
            rest = after;
        }
        text + rest
    }

    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }

    /// Whether the first character begins a command.
    pub fn may_be_command(&self) -> bool {
        self.area.lines().first().is_some_and(|line| line.starts_with(['/', '!']))
    }

    pub fn has_chips(&self) -> bool {
        self.area.lines().iter().any(|line| line.contains(CHIP_OPENING))
    }

    pub fn set(&mut self, text: &str) {
        self.clear();
        self.paste(text);
    }

    /// Replaces the message with a text to be edited, which is not folded.
    pub fn open(&mut self, text: &str) {
        self.clear();
        self.area.insert_str(sanitize::visible(text).replace(CHIP_SPACE, " "));
    }

    pub fn clear(&mut self) {
        self.chips.clear();
        self.reset(Vec::new());
    }

    /// Pastes a text. Control characters are made visible, so that they do not drive the terminal.
    pub fn paste(&mut self, text: &str) {
        let text = sanitize::visible(&text.replace("\r\n", "\n").replace('\r', "\n")).into_owned();
        let count = lines::split(&text).len();
        if count <= MAX_UNFOLDED_PASTE_LINES {
            self.area.insert_str(text.replace(CHIP_SPACE, " "));
            return;
        }
        let chip = format!("[paste {}: {count} lines]", self.chips.len() + 1).replace(' ', "\u{205F}");
        self.area.insert_str(&chip);
        self.chips.push((chip, text));
    }

    /// Pastes a text after the message, on a new line.
    pub fn append(&mut self, text: &str) {
        jump(&mut self.area, usize::MAX);
        if !self.is_empty() {
            self.newline();
        }
        self.paste(text);
    }

    /// Inserts words at the cursor, after a space if a word ends there.
    pub fn insert_words(&mut self, words: &str) {
        let before = self.area.lines().join("\n").chars().take(self.position()).last();
        let space = if before.is_some_and(|c| !c.is_whitespace()) { " " } else { "" };
        self.paste(&format!("{space}{words}"));
    }

    /// The text before the cursor, with chips by name. `None` if the cursor is inside a word.
    pub fn before_cursor(&self) -> Option<String> {
        let DataCursor(row, column) = self.area.cursor();
        let line = self.area.lines().get(row)?;
        let at = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
        let (before, after) = line.split_at_checked(at)?;
        let above = self.area.lines().iter().take(row).flat_map(|line| [line.as_str(), "\n"]);
        let is_end = after.chars().next().is_none_or(char::is_whitespace);
        is_end.then(|| above.chain([before]).collect())
    }

    pub fn complete(&mut self, length: usize, text: &str) {
        let at = self.position();
        jump(&mut self.area, at.saturating_sub(length));
        self.area.delete_str(length.min(at));
        self.area.insert_str(text.replace(CHIP_SPACE, " "));
    }

    /// Sets the placeholder.
    pub fn ask_for(&mut self, what: &str) {
        what.clone_into(&mut self.invitation);
        self.area.set_placeholder_text(what);
    }

    /// Sets the default placeholder, which names the key of the help.
    pub fn invite(&mut self, help: &str) {
        self.ask_for(&invitation(help));
    }

    pub fn apply_theme(&mut self, theme: &Theme) {
        (self.style, self.selected) = (theme.style(Role::Text), selected(theme));
        self.area.set_style(self.style);
        self.area.set_selection_style(self.selected);
        self.area.set_placeholder_style(theme.style(Role::Muted));
    }

    pub fn newline(&mut self) {
        self.area.insert_newline();
    }

    pub fn input(&mut self, mut key: KeyEvent) {
        if self.vi.as_ref().is_some_and(|vi| vi.mode == Mode::Insert && !vi.is_typing()) {
            // The text before typing is an undo step.
            self.with_vi(key);
        }
        if key.code == KeyCode::Char(CHIP_SPACE) {
            key.code = KeyCode::Char(' ');
        }
        if self.chips.is_empty() {
            self.edit(key);
            return;
        }
        let (before, cursor) = (self.area.lines().to_vec(), self.position());
        self.edit(key);
        if before != self.area.lines() {
            self.remove_damaged(&before);
        }
        self.leave_chip(cursor);
    }

    pub fn set_vi(&mut self, on: bool) {
        if on != self.vi.is_some() {
            self.vi = on.then(Vi::default);
        }
    }

    /// The vi mode, and the letters of the incomplete command.
    pub fn vi_mode(&self) -> Option<(Mode, String)> {
        self.vi.as_ref().map(|vi| (vi.mode, vi.pending()))
    }

    pub fn be_normal(&mut self) {
        if let Some(vi) = &mut self.vi {
            vi.enter_normal_mode();
        }
    }

    pub fn with_vi(&mut self, key: KeyEvent) -> ViOutcome {
        let Some(mut vi) = self.vi.take() else { return ViOutcome::Other };
        let mut buffer = self.buffer();
        let outcome = vi.key(&mut buffer, key);
        if outcome == ViOutcome::Taken {
            if buffer.text().split('\n').ne(self.area.lines().iter().map(String::as_str)) {
                self.reset(buffer.text().split('\n').map(str::to_owned).collect());
            }
            jump(&mut self.area, buffer.position(buffer.cursor));
        }
        self.vi = Some(vi);
        outcome
    }

    fn buffer(&self) -> Buffer {
        Buffer::new(self.area.lines().join("\n"), self.position())
    }

    /// Replaces the chip at the cursor, or the only chip, with its text. Returns `false` if there is no such chip.
    pub fn open_chip(&mut self) -> bool {
        let text = self.area.lines().join("\n");
        let (at, places) = (self.position(), self.places(&text));
        let touched = places.iter().find(|place| place.start <= at && at <= place.end);
        let Some(place) = touched.or(places.first().filter(|_| places.len() == 1)).cloned() else { return false };
        let name: String = text.chars().skip(place.start).take(place.len()).collect();
        let Some((_, paste)) = self.chips.iter().find(|(known, _)| *known == name) else { return false };
        jump(&mut self.area, place.start);
        self.area.delete_str(place.len());
        self.area.insert_str(paste.trim_end_matches('\n').replace(CHIP_SPACE, " "));
        true
    }

    /// Two keys have the meaning of a shell instead of that of the text area: Ctrl-u deletes the line before the cursor, and
    /// Ctrl-_ (which terminals send as Ctrl-7) undoes.
    fn edit(&mut self, key: KeyEvent) {
        match key.code {
            KeyCode::Char('u') if key.modifiers == KeyModifiers::CONTROL => {
                self.area.delete_line_by_head();
            }
            KeyCode::Char('_' | '7') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                self.area.undo();
            }
            _ => {
                self.area.input(key);
            }
        }
    }

    /// The ranges of the chips in a text, in characters.
    fn places(&self, text: &str) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        for (name, _) in &self.chips {
            places.extend(text.match_indices(name.as_str()).map(|(at, _)| {
                let start = text.get(..at).map_or(0, |before| before.chars().count());
                start..start + name.chars().count()
            }));
        }
        places
    }

    /// If the last edit deleted a part of a chip, deletes the rest, so that no name without its paste remains. One undo
    /// restores the chip.
    fn remove_damaged(&mut self, before: &[String]) {
        let (old, new) = (before.join("\n"), self.area.lines().join("\n"));
        let places = self.places(&old);
        let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        let [edit, other] = edits(&old, &new);
        let whole = |chip: &Range<usize>, edit: &Range<usize>| {
            chip.end <= edit.start || edit.end <= chip.start || (edit.start <= chip.start && chip.end <= edit.end)
        };
        let damaged = places.into_iter().filter(|chip| !whole(chip, &edit) && !whole(chip, &other));
        let removed = damaged.fold(None, |removed: Option<Range<usize>>, chip| {
            let removed = removed.unwrap_or(edit.clone());
            Some(removed.start.min(chip.start)..removed.end.max(chip.end))
        });
        let Some(removed) = removed else { return };
        for _ in 0..MAX_UNDO_STEPS_PER_EDIT {
            if self.area.lines() != before {
                self.area.undo();
            }
        }
        if self.area.lines() != before {
            return;
        }
        let inserted: String = new.iter().take((edit.end + new.len()) - old.len()).skip(edit.start).collect();
        jump(&mut self.area, removed.start);
        self.area.delete_str(removed.len());
        self.area.insert_str(inserted);
    }

    /// Moves the cursor out of a chip, in the direction in which it moved from `last`.
    fn leave_chip(&mut self, last: usize) {
        let at = self.position();
        let places = self.places(&self.area.lines().join("\n"));
        if let Some(chip) = places.into_iter().find(|chip| chip.start < at && at < chip.end) {
            jump(&mut self.area, if last <= chip.start { chip.end } else { chip.start });
        }
    }

    /// The position of the cursor in characters.
    fn position(&self) -> usize {
        let DataCursor(row, column) = self.area.cursor();
        self.area.lines().iter().take(row).map(|line| line.chars().count() + 1).sum::<usize>() + column
    }

    /// Moves the cursor to a cell, relative to the top left corner of the drawn text.
    pub fn click(&mut self, column: u16, row: u16) {
        let (top, left) = self.area.scroll_offset();
        let cell = |offset: u16, at: u16| usize::from(offset.saturating_add(at));
        let before = self.position();
        let DataCursor(row, column) = self.area.screen_to_data(cell(top, row), cell(left, column));
        let [row, column] = [row, column].map(|number| u16::try_from(number).unwrap_or(u16::MAX));
        self.area.move_cursor(CursorMove::Jump(row, column));
        self.leave_chip(before);
    }

    /// The rows of the text at a width, between 1 and `most`.
    pub fn height(&self, width: u16, most: u16) -> u16 {
        let columns = usize::from(width.max(1));
        let rows: usize = self.area.lines().iter().map(|line| rhumb_text::width::columns(line) / columns + 1).sum();
        u16::try_from(rows).unwrap_or(most).clamp(1, most)
    }

    /// Draws the composer. Returns the number of rows hidden above. With the focus, the cursor of the terminal is placed at the
    /// insertion point, because input methods and screen readers follow it.
    pub fn draw(&self, frame: &mut Frame<'_>, area: Rect, focused: bool) -> u16 {
        let (cursor, (top, left)) = self.draw_text(frame, area, focused);
        if focused && !area.is_empty() {
            let within = |start: u16, at: usize, first: u16, length: u16| {
                let at = u16::try_from(at.saturating_sub(usize::from(first))).unwrap_or(u16::MAX);
                start.saturating_add(at.min(length - 1))
            };
            let x = within(area.x, cursor.col, left, area.width);
            frame.set_cursor_position((x, within(area.y, cursor.row, top, area.height)));
        }
        top
    }

    /// Draws the text. Returns the cursor, and the row and column at the top left.
    fn draw_text(&self, frame: &mut Frame<'_>, area: Rect, focused: bool) -> (ScreenCursor, (u16, u16)) {
        let selecting = self.vi.as_ref().filter(|vi| focused && vi.mode != Mode::Insert);
        let selection = selecting.and_then(|vi| {
            let buffer = self.buffer();
            let range = vi.selection(&buffer)?;
            Some([buffer.position(range.start), buffer.position(range.end)])
        });
        let (invitation, available) = (self.area.placeholder_text(), usize::from(area.width).saturating_sub(1));
        let is_cut = self.is_empty() && width::columns(invitation) > available;
        if selection.is_none() && !is_cut {
            frame.render_widget(&self.area, area);
            return (self.area.screen_cursor(), self.area.scroll_offset());
        }
        let mut shown = self.area.clone();
        if is_cut {
            shown.set_placeholder_text(width::clip(invitation, available));
        }
        if let Some([start, end]) = selection {
            jump(&mut shown, start);
            shown.start_selection();
            jump(&mut shown, end);
        }
        frame.render_widget(&shown, area);
        let offset = shown.scroll_offset();
        jump(&mut shown, self.position());
        (shown.screen_cursor(), offset)
    }
}

/// The style of selected text, which is visible without colours.
fn selected(theme: &Theme) -> Style {
    let style = theme.style(Role::Selection);
    if style == Style::default() { style.add_modifier(Modifier::REVERSED) } else { style }
}

/// Moves the cursor to a position in characters.
fn jump(area: &mut TextArea<'_>, position: usize) {
    let mut column = position;
    let mut row = 0;
    for line in area.lines() {
        let length = line.chars().count();
        if column <= length {
            break;
        }
        column -= length + 1;
        row += 1;
    }
    let [row, column] = [row, column].map(|number| u16::try_from(number).unwrap_or(u16::MAX));
    area.move_cursor(CursorMove::Jump(row, column));
}

/// The range of `old` that an edit replaced, placed as late and as early as the texts allow: with two equal letters it
/// is ambiguous which one was removed.
fn edits(old: &[char], new: &[char]) -> [Range<usize>; 2] {
    let most = old.len().min(new.len());
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    [head..old.len() - tail.min(most - head), head.min(most - tail)..old.len() - tail]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tui::theme::ColorDepth;

    fn composer() -> Composer {
        Composer::new(&Theme::plain(ColorDepth::None))
    }

    #[test]
    fn an_invitation_without_room_is_cut_with_a_mark() {
        for (columns, end) in [(20, "Ask or say what to…"), (60, "F1 help")] {
            let mut screen = ratatui::Terminal::new(ratatui::backend::TestBackend::new(columns, 1)).unwrap();
            screen.draw(|frame| _ = composer().draw(frame, frame.area(), true)).unwrap();
            let line: String = screen.backend().buffer().content().iter().map(|cell| cell.symbol()).collect();
            assert!(line.trim_end().ends_with(end), "{line:?}");
        }
    }

    #[test]
    fn the_cursor_of_the_terminal_stands_where_the_next_letter_goes() {
        let at = |composer: &Composer, columns, rows, focused| {
            let mut screen = ratatui::Terminal::new(ratatui::backend::TestBackend::new(columns, rows)).unwrap();
            screen.draw(|frame| _ = composer.draw(frame, frame.area(), focused)).unwrap();
            let backend = screen.backend();
            backend.cursor_visible().then(|| (backend.cursor_position().x, backend.cursor_position().y))
        };
        let mut composer = composer();
        assert_eq!(at(&composer, 20, 3, true), Some((0, 0)));
        composer.paste("berth 日\nsea");
        assert_eq!(at(&composer, 20, 3, true), Some((3, 1)));
        assert_eq!(at(&composer, 20, 3, false), None, "not without the focus");
        assert_eq!(at(&composer, 20, 1, true), Some((3, 0)), "the first line is scrolled away");
        press(&mut composer, "Up End");
        assert_eq!(at(&composer, 20, 3, true), Some((8, 0)), "a wide letter has two columns");
        composer.set("one two three");
        assert_eq!(at(&composer, 8, 3, true), Some((5, 1)), "behind what is wrapped");
    }

    #[test]
    fn rows_that_are_hidden_above_are_counted() {
        let mut screen = ratatui::Terminal::new(ratatui::backend::TestBackend::new(20, 2)).unwrap();
        let mut composer = composer();
        composer.paste("a\nb\nc\nd");
        let mut above = 0;
        screen.draw(|frame| above = composer.draw(frame, frame.area(), true)).unwrap();
        assert_eq!(above, 2);
    }

    fn press(composer: &mut Composer, keys: &str) {
        keys.split(' ').filter_map(crate::tui::key::parse).for_each(|key| composer.input(key));
    }

    /// The text area as it looks.
    fn seen(composer: &Composer) -> String {
        composer.area.lines().join("\n").replace(CHIP_SPACE, " ")
    }

    #[test]
    fn a_long_paste_is_a_chip_on_the_screen_and_whole_in_the_message() {
        let mut composer = composer();
        composer.paste("see: ");
        let paste = "line\n".repeat(100);
        composer.paste(&paste);
        assert_eq!(seen(&composer), "see: [paste 1: 100 lines]");
        assert_eq!(composer.text(), format!("see: {paste}"));
    }

    #[test]
    fn a_chip_goes_as_a_whole_and_one_undo_brings_it_back() {
        let paste = "line\n".repeat(100);
        for keys in ["Backspace", "Ctrl-w", "Alt-Backspace", "Left Delete", "Left Alt-d", "Left x Backspace Delete"] {
            let mut composer = composer();
            composer.paste("see: ");
            composer.paste(&paste);
            press(&mut composer, keys);
            assert_eq!(composer.text(), "see: ", "{keys}");
            press(&mut composer, "Ctrl-_");
            assert_eq!(composer.text(), format!("see: {paste}"), "{keys}");
        }
    }

    #[test]
    fn ctrl_u_takes_the_line_before_the_cursor_as_in_a_shell() {
        let mut composer = composer();
        composer.paste("one\ntwo three");
        press(&mut composer, "Alt-b Ctrl-u");
        assert_eq!(composer.text(), "one\nthree");
        press(&mut composer, "Ctrl-7");
        assert_eq!(composer.text(), "one\ntwo three");
    }

    #[test]
    fn what_is_typed_beside_a_chip_leaves_it_whole() {
        let mut composer = composer();
        let paste = "line\n".repeat(100);
        composer.paste(&paste);
        press(&mut composer, "] Left Left [ [ Home [");
        assert_eq!(seen(&composer), "[[[[paste 1: 100 lines]]");
        assert_eq!(composer.text(), format!("[[[{paste}]"));
    }

    #[test]
    fn the_cursor_does_not_stop_inside_a_chip() {
        let mut composer = composer();
        composer.paste(&"line\n".repeat(100));
        press(&mut composer, "Left a");
        assert_eq!(seen(&composer), "a[paste 1: 100 lines]");
        press(&mut composer, "Right b");
        assert_eq!(seen(&composer), "a[paste 1: 100 lines]b");
    }

    #[test]
    fn a_paste_that_quotes_a_chip_stays_as_it_is() {
        let mut composer = composer();
        let quoting = format!("{}[paste 2: 40 lines]\n[paste\u{205F}2:\u{205F}40\u{205F}lines]\n", "a\n".repeat(40));
        let second = "b\n".repeat(40);
        composer.paste(&quoting);
        composer.paste(&second);
        assert_eq!(composer.text(), format!("{quoting}{second}"));
    }

    #[test]
    fn a_paste_after_an_opened_chip_gets_a_new_name() {
        let [a, b, c] = ["a\n", "b\n", "c\n"].map(|line| line.repeat(40));
        let mut composer = composer();
        composer.paste(&a);
        composer.paste(&b);
        press(&mut composer, "Home");
        assert!(composer.open_chip());
        composer.paste(&c);
        assert_eq!(composer.text(), format!("{}{c}{b}", a.trim_end()));
    }

    #[test]
    fn undo_brings_an_opened_chip_back_with_its_text() {
        let mut composer = composer();
        let paste = "line\n".repeat(100);
        composer.paste(&paste);
        assert!(composer.open_chip());
        press(&mut composer, "Ctrl-_ Ctrl-_");
        assert_eq!((seen(&composer).as_str(), composer.text()), ("[paste 1: 100 lines]", paste));
    }

    #[test]
    fn a_text_is_appended_after_the_message_wherever_the_cursor_is() {
        let mut composer = composer();
        composer.paste("one\ntwo");
        press(&mut composer, "Up Home");
        composer.append("three");
        assert_eq!(composer.text(), "one\ntwo\nthree");
    }

    #[test]
    fn the_name_of_a_chip_cannot_be_typed_or_pasted() {
        let mut composer = composer();
        composer.paste(&"b\n".repeat(40));
        let chip = composer.area.lines().join("");
        composer.clear();
        composer.paste(&"c\n".repeat(40));
        composer.paste(&chip);
        chip.chars().for_each(|c| composer.input(KeyEvent::from(KeyCode::Char(c))));
        let named = "[paste 1: 40 lines]";
        assert_eq!(composer.text(), format!("{}{named}{named}", "c\n".repeat(40)));
    }

    proptest! {
        #[test]
        fn no_key_leaves_a_part_of_a_chip(keys in prop::collection::vec(0..KEYS.len(), 0..40)) {
            let mut composer = composer();
            composer.paste("ab ");
            composer.paste(&"b\n".repeat(40));
            composer.paste("c d\ne");
            composer.paste(&"c\n".repeat(40));
            for index in keys {
                press(&mut composer, KEYS[index]);
                let text = composer.area.lines().join("\n");
                let rest = composer.chips.iter().fold(text, |text, (name, _)| text.replace(name.as_str(), ""));
                prop_assert!(!rest.contains(CHIP_SPACE), "{} left {rest:?}", KEYS[index]);
            }
        }
    }

    const KEYS: [&str; 20] = [
        "Left", "Right", "Up", "Down", "Home", "End", "Backspace", "Delete", "Ctrl-w", "Alt-d", "Ctrl-k", "Ctrl-u",
        "Ctrl-_", "Ctrl-r", "Ctrl-y", "Enter", "x", "[", "Alt-b", "Ctrl-j",
    ];

    #[test]
    fn a_paste_cannot_drive_the_terminal() {
        let mut composer = composer();
        composer.paste("a\x1b]0;title\x07b\r\nc");
        assert!(!composer.text().contains('\x1b'));
        assert_eq!(composer.text().lines().count(), 2);
    }
}
