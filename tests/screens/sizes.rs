//! Every state at every size, with text of every width: frames stay intact, the focus is visible, nothing is drawn over an edge.

use super::harness::{Harness, Scene};
use super::{HALF_WRONG, review};
use ratatui::layout::Rect;
use rhumb::config::LayoutChoice;
use rhumb::tui::action::Pane;
use rhumb::tui::theme::ColorDepth;
use rhumb_session::{Level, Response};
use rhumb_text::width;

/// The smallest size, both sides of each threshold of the layout, and the largest size.
const SIZES: [(u16, u16); 13] = [
    (40, 10),
    (41, 11),
    (49, 16),
    (60, 18),
    (79, 23),
    (80, 24),
    (81, 33),
    (119, 34),
    (120, 35),
    (160, 48),
    (239, 60),
    (240, 60),
    (400, 120),
];

/// Wide, joined, combining and right-to-left characters, and flags.
const EVERY_WIDTH: &str = "港口の錨地 👨‍👩‍👧‍👦 🇯🇵🇩🇪 e\u{301}a\u{308}n\u{303} שלום עולם ｆｕｌｌ 한국어 👍🏽 ✈️ ไทย";

/// Resizes to all sizes, and checks each.
#[track_caller]
fn at_every_size(name: &str, harness: &mut Harness) {
    for (width, height) in SIZES {
        harness.resize(width, height);
        check(name, harness, width, height);
    }
}

#[track_caller]
fn check(name: &str, harness: &Harness, width: u16, height: u16) {
    let wrong = faults(harness, width, height);
    assert!(wrong.is_empty(), "{name} at {width}×{height}: {}\n{}", wrong.join("\n"), harness.screen());
}

fn faults(harness: &Harness, width: u16, height: u16) -> Vec<String> {
    let mut wrong = harness.control_characters();
    wrong.extend(wide_over_something(harness, width, height));
    let covered = !harness.app.overlays.is_empty();
    if harness.app.layout.places.panes.is_empty() {
        wrong.push("no pane is on the screen".into());
    }
    if !covered {
        let completing = harness.screen().contains('▌');
        for (pane, area) in &harness.app.layout.places.panes {
            wrong.extend(frame_faults(harness, *pane, *area, completing));
        }
        let marked = harness.app.layout.places.panes.iter().filter(|(_, area)| harness.cell(area.x, area.y) == "┏");
        let marked: Vec<Pane> = marked.map(|(pane, _)| *pane).collect();
        if marked != [harness.app.focus] {
            wrong.push(format!("the frame of the focus is not the one that stands out: {marked:?}"));
        }
    } else if !harness.screen().contains('╭') || !harness.screen().contains('╯') {
        wrong.push("the overlay has no frame".into());
    }
    let status = harness.screen().lines().last().unwrap_or_default().to_owned();
    if status.trim().is_empty() {
        wrong.push("the status line is empty".into());
    }
    wrong
}

/// Checks that no wide character shares its cells with another character.
fn wide_over_something(harness: &Harness, columns: u16, rows: u16) -> Vec<String> {
    let mut wrong = Vec::new();
    for y in 0..rows {
        for x in 0..columns {
            let symbol = harness.cell(x, y);
            let cells = u16::try_from(width::columns(symbol)).unwrap_or(0);
            if cells > 2 || (cells == 2 && (x + 1 >= columns || !matches!(harness.cell(x + 1, y), " " | ""))) {
                wrong.push(format!("{symbol:?} at {x},{y} takes {cells} cells that are not its own"));
            }
        }
    }
    wrong
}

/// Corners and sides of a pane.
fn frame_faults(harness: &Harness, pane: Pane, area: Rect, _completing: bool) -> Vec<String> {
    let (right, bottom) = (area.right() - 1, area.bottom() - 1);
    let mut wrong = Vec::new();
    let mut want = |x: u16, y: u16, any: [&str; 2]| {
        let found = harness.cell(x, y);
        if !any.contains(&found) {
            wrong.push(format!("{pane:?}: {found:?} in the frame at {x},{y}"));
        }
    };
    want(area.x, area.y, ["╭", "┏"]);
    want(right, area.y, ["╮", "┓"]);
    want(area.x, bottom, ["╰", "┗"]);
    want(right, bottom, ["╯", "┛"]);
    for y in area.y + 1..bottom {
        want(area.x, y, ["│", "┃"]);
        want(right, y, ["│", "┃"]);
    }
    wrong
}

const LAYOUTS: [LayoutChoice; 4] =
    [LayoutChoice::Auto, LayoutChoice::Columns, LayoutChoice::Rows, LayoutChoice::Single];

#[test]
fn every_pane_is_whole_at_every_size_in_every_layout() {
    let mut harness = review(120, 40);
    for layout in LAYOUTS {
        harness.app.display.layout = layout;
        for focus in ["<Alt-1>", "<Alt-2>", "<Alt-3>", "<Alt-4>"] {
            harness.keys(focus);
            at_every_size(&format!("{layout:?} {focus}"), &mut harness);
        }
    }
    harness.app.display.layout = LayoutChoice::Auto;
    harness.resize(160, 48).keys("<Alt-z>");
    for focus in ["<Alt-1>", "<Alt-2>", "<Alt-3>", "<Alt-4>"] {
        harness.keys(focus);
        at_every_size(&format!("zoomed {focus}"), &mut harness);
    }
}

#[test]
fn every_overlay_is_whole_at_every_size() {
    for keys in [
        "<F1>",
        "<Alt-4> ?",
        "<Ctrl-p>",
        "<Ctrl-p> type \"s\"",
        "<Alt-x>",
        "<F5>",
        "<F6>",
        "<F4>",
        "<Alt-3> j <Enter>",
        "<Alt-4> x",
        "<Alt-1> type \"/theme\" <Enter>",
    ] {
        let mut harness = review(120, 40);
        harness.keys("<Alt-1>").keys(keys);
        if harness.app.overlays.is_empty() {
            continue;
        }
        at_every_size(keys, &mut harness);
    }
}

#[test]
fn a_turn_is_whole_at_every_size_from_its_first_word_to_its_failure() {
    let mut harness = Scene::harbour().silent().open(120, 40);
    harness.keys("type \"Let a ship as long as the berth moor, and say why\"");
    at_every_size("a draft", &mut harness);
    harness.resize(120, 40).keys("<Enter>").settle();
    at_every_size("before the first word", &mut harness);
    harness.think("The berth is as long as the ship.\n\nSo what?").stream(HALF_WRONG);
    at_every_size("in the middle", &mut harness);
    harness.resize(120, 40).keys("type \"and then\" <Enter>");
    at_every_size("with a message that waits", &mut harness);
    harness.fail("the server has closed the connection before the answer was whole");
    at_every_size("failed", &mut harness);
    harness.tell(Level::Warning, "Something is not as it should be.", "Look at it.");
    at_every_size("told", &mut harness);
    harness.resize(120, 40).keys("type \"/he\"");
    at_every_size("completing", &mut harness);
}

#[test]
fn text_of_every_width_moves_no_frame() {
    let path = "港口/錨地_とても長い名前のファイル_👨‍👩‍👧‍👦.py";
    let code = format!("# {EVERY_WIDTH}\ndef 錨を下ろす(船):\n    return \"{EVERY_WIDTH}\"\n");
    let reply = format!(
        "# {EVERY_WIDTH}\n\n- {EVERY_WIDTH} {EVERY_WIDTH}\n\n| {EVERY_WIDTH} | b |\n|---|---|\n| c | {EVERY_WIDTH} |\n\n\
         {path}\n```python\n<<<<<<< SEARCH\n# {EVERY_WIDTH}\n=======\n# {EVERY_WIDTH} {EVERY_WIDTH}\n>>>>>>> REPLACE\n```\n\n\
         ```\n{EVERY_WIDTH}{EVERY_WIDTH}{EVERY_WIDTH}\n```\n"
    );
    let scene = Scene::harbour()
        .file(path, &code)
        .file("שלום.txt", EVERY_WIDTH)
        .file("🇯🇵/e\u{301}te\u{301}.md", &format!("# {EVERY_WIDTH}\n"))
        .chat(&[path, "שלום.txt"])
        .replying(&reply);
    let mut harness = scene.open(120, 40);
    harness.app.composer.set(EVERY_WIDTH);
    at_every_size("draft", &mut harness);
    harness.resize(120, 40).keys("<Enter>").settle();
    at_every_size("answer", &mut harness);
    assert_eq!(harness.app.session.review().counts().total(), 1, "{}", harness.screen());
    for keys in ["<Alt-2> j <Enter> j", "<Alt-3> j j j", "<Alt-4> y", "<Alt-z>"] {
        harness.resize(160, 48).keys(keys).settle();
        at_every_size(keys, &mut harness);
    }
    harness.resize(160, 48).keys("<Alt-z> <Alt-1> type \"@港\"");
    at_every_size("completing", &mut harness);
    for keys in ["<Ctrl-p>", "<Esc> <F5>", "<Esc> <Alt-x>", "<Esc> <F1>"] {
        harness.resize(160, 48).keys(keys);
        at_every_size(keys, &mut harness);
    }
    harness.resize(160, 48).keys("<Esc>");
    harness.report(Response::Head(EVERY_WIDTH.into()));
    harness.app.hint.set(EVERY_WIDTH.repeat(5));
    at_every_size("a hint", &mut harness);
}

#[test]
fn the_focus_shows_without_colour_and_with_few() {
    for depth in [ColorDepth::None, ColorDepth::Ansi16] {
        let mut harness = Scene::demo().depth(depth).open(120, 40);
        for focus in ["<Alt-1>", "<Alt-2>", "<Alt-3>", "<Alt-4>"] {
            harness.keys(focus);
            at_every_size(&format!("{depth:?} {focus}"), &mut harness);
            harness.resize(60, 18);
            let tabs = harness.screen().lines().next().unwrap_or_default().to_owned();
            let (x, _) = harness.find(&focus[5..6]).unwrap_or_else(|| panic!("no tab in {tabs}"));
            let style = harness.style_at(x, 0);
            assert!(style.add_modifier.contains(ratatui::style::Modifier::REVERSED), "{depth:?} {focus}: {style:?}");
        }
    }
}

#[test]
fn a_screen_that_is_too_small_says_how_large_it_must_be() {
    let mut harness = review(120, 40);
    for (width, height) in [(39, 10), (40, 9), (20, 5), (5, 2), (1, 1)] {
        harness.resize(width, height);
        assert!(harness.app.layout.places.panes.is_empty());
        let screen = harness.screen().replace('\n', " ");
        assert!(width < 20 || screen.contains("40×10"), "{screen}");
        harness.keys("j y <Tab>").click((0, 0));
    }
    at_every_size("again", &mut harness);
}
