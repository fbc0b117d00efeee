//! Colours on real screens: the roles at each colour depth, and the background, which a theme paints completely.

use ratatui::style::Color;
use rhumb::tui::theme::{ColorDepth, Role, Theme};

use super::harness::{Harness, Scene};

fn review(depth: ColorDepth) -> Harness {
    let mut harness = Scene::demo().depth(depth).open(140, 40);
    harness.keys("<Enter>").settle().keys("<Alt-4> y ]");
    harness
}

/// The colours on the screen.
fn colors(harness: &Harness) -> Vec<Color> {
    let cells = harness.buffer().content().iter();
    let mut colors: Vec<Color> =
        cells.flat_map(|cell| [cell.fg, cell.bg]).filter(|color| *color != Color::Reset).collect();
    colors.sort_by_key(|color| format!("{color:?}"));
    colors.dedup();
    colors
}

#[test]
fn a_screen_keeps_to_the_colours_that_the_terminal_has() {
    for depth in [ColorDepth::True, ColorDepth::Ansi256, ColorDepth::Ansi16, ColorDepth::None] {
        let mut harness = review(depth);
        for keys in [
            "<Esc>",
            "<Alt-2> <Enter>",
            "<Alt-3>",
            "<F1>",
            "<Esc> <Ctrl-p>",
            "<Esc> <Alt-1>",
            "type \"/theme\" <Enter>",
        ] {
            for color in colors(&harness) {
                let fits = match depth {
                    ColorDepth::True => true,
                    ColorDepth::Ansi256 => !matches!(color, Color::Rgb(..)),
                    ColorDepth::Ansi16 => !matches!(color, Color::Rgb(..) | Color::Indexed(_)),
                    ColorDepth::None => false,
                };
                assert!(fits, "{depth:?}, before {keys}: {color:?}");
            }
            harness.keys(keys).settle();
        }
        let expected = if depth == ColorDepth::None { 0 } else { 2 };
        assert!(colors(&harness).len() >= expected, "{depth:?}");
    }
}

#[test]
fn a_theme_that_paints_its_ground_leaves_no_cell_of_the_terminals() {
    for name in Theme::builtin_names() {
        let mut harness = review(ColorDepth::True);
        harness.keys(&format!("<Alt-1> type \"/theme {name}\" <Enter>"));
        assert_eq!(harness.app.theme().name, name);
        let paints = harness.app.theme().style(Role::Text).bg.is_some();
        for keys in ["<Alt-4>", "<Alt-2> <Enter>", "<Alt-3>", "<F1>", "<Esc> <F5>", "<Esc> <Ctrl-p>", "<Esc> <Alt-1>"] {
            harness.keys(keys).settle();
            let bare = harness.buffer().content().iter().filter(|cell| cell.bg == Color::Reset).count();
            assert!(!paints || bare == 0, "{name}, after {keys}: {bare} cells\n{}", harness.screen());
        }
    }
}
