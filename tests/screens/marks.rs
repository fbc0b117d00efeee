//! Colour is never the only signal: states with different colours differ in their text, too.

use super::harness::{Harness, Scene};
use rhumb::tui::theme::ColorDepth;

/// Three hunks in two files, all of them on the screen.
const REPLY: &str = "\
harbour/berth.py
```python
<<<<<<< SEARCH
        return ship.length < self.length
=======
        return ship.length <= self.length
>>>>>>> REPLACE
```

harbour/berth.py
```python
<<<<<<< SEARCH
    def leave(self):
=======
    def leave(self) -> None:
>>>>>>> REPLACE
```

harbour/ship.py
```python
<<<<<<< SEARCH
        self.length = length
=======
        self.length = length
        self.draught = None
>>>>>>> REPLACE
```
";

fn review(depth: ColorDepth) -> Harness {
    let scene = Scene::harbour().replying(REPLY).depth(depth);
    let mut harness = scene.chat(&["harbour/berth.py", "harbour/ship.py"]).open(140, 60);
    harness.keys("type \"change it\" <Enter>").settle().keys("<Enter>");
    harness
}

#[test]
fn without_colours_no_cell_has_one() {
    let mut harness = review(ColorDepth::None);
    harness.keys("y n [");
    for y in 0..60 {
        for x in 0..140 {
            let style = harness.style_at(x, y);
            let plain = [None, Some(ratatui::style::Color::Reset)];
            assert!(plain.contains(&style.fg) && plain.contains(&style.bg), "{x},{y}: {style:?}");
        }
    }
}

#[test]
fn decisions_differ_in_words_and_marks() {
    let mut harness = review(ColorDepth::None);
    harness.keys("y n");
    // Each is shown in the review, and on the card of the edit in the chat.
    for heading in ["✓ accepted", "✗ rejected", "· pending"] {
        assert!(!harness.lines_with(heading).is_empty(), "{heading}\n{}", harness.screen());
    }
}

#[test]
fn added_and_removed_lines_differ_in_their_sign() {
    let harness = review(ColorDepth::None);
    for line in [
        "-         return ship.length < self.length",
        "+         return ship.length <= self.length",
        "+         self.draught = None",
    ] {
        assert_eq!(harness.lines_with(line).len(), 1, "{line}\n{}", harness.screen());
    }
}

#[test]
fn with_colours_added_and_removed_lines_differ_in_colour() {
    let harness = review(ColorDepth::True);
    let sign = |text: &str| {
        let (x, y) = harness.find(text).unwrap_or_else(|| panic!("{text}\n{}", harness.screen()));
        harness.style_at(x, y)
    };
    let (removed, added) = (sign("-         return"), sign("+         return"));
    assert_ne!(removed.fg, added.fg);
    assert_ne!(removed.bg, added.bg);
}

#[test]
fn the_focus_shows_in_the_frame_not_only_in_its_colour() {
    let mut harness = Scene::demo().depth(ColorDepth::None).open(140, 40);
    assert_eq!(harness.lines_with("┏").len(), 1);
    let chat = harness.find("┏").unwrap();
    harness.keys("<Alt-2>");
    assert_ne!(harness.find("┏").unwrap(), chat);
}

#[test]
fn the_hunk_under_the_cursor_has_a_mark() {
    let mut harness = review(ColorDepth::None);
    let first = harness.lines_with("▶");
    harness.keys("]");
    let second = harness.lines_with("▶");
    assert_eq!((first.len(), second.len()), (1, 1));
    assert_ne!(first, second);
}

#[test]
fn the_line_under_the_cursor_of_a_list_shows_without_colours() {
    let mut harness = Scene::demo().depth(ColorDepth::None).open(140, 40);
    for (pane, first, second) in [("<Alt-2>", "tidewatch/table.py", "README.md"), ("<Alt-3>", "§ system", "◇ repo map")]
    {
        harness.keys(pane);
        let style = |text: &str| harness.find(text).map(|(x, y)| harness.style_at(x, y));
        assert_ne!(style(first).unwrap(), style(second).unwrap(), "{pane}");
    }
}
