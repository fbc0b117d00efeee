//! Overlays of the review: comments, the write, the message to the model, edits without a location, conflicts.

use rhumb_session::Response;

use super::harness::scene::HARBOUR;
use super::harness::{Harness, Scene};
use super::snapshot;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 35)];

fn edit(path: &str, quote: &str, replacement: &str) -> String {
    format!("{path}\n```python\n<<<<<<< SEARCH\n{quote}\n=======\n{replacement}\n>>>>>>> REPLACE\n```\n\n")
}

fn fits() -> String {
    edit("harbour/berth.py", "        return ship.length < self.length", "        return ship.length <= self.length")
}

fn leaves() -> String {
    edit(
        "harbour/berth.py",
        "    def leave(self):\n        self.ship = None",
        "    def leave(self):\n        ship, self.ship = self.ship, None\n        return ship",
    )
}

fn lost() -> String {
    edit(
        "harbour/ship.py",
        "class Ship:\n    def __init__(self, name, length, draught):\n        self.title = name",
        "class Ship:\n    def __init__(self, name, length, draught=0):\n        self.title = name",
    )
}

/// The reply in the review, which has the focus.
fn reviewing(reply: &str, (width, height): (u16, u16)) -> Harness {
    let scene = Scene::harbour().replying(reply).chat(&["harbour/berth.py", "harbour/ship.py"]);
    let mut app = scene.open(width, height);
    app.keys("type \"Let a ship fit\" <Enter>").settle().keys("<Enter>");
    app
}

fn snapshots(name: &str, reply: &str, go: impl Fn(&mut Harness)) {
    for size in SIZES {
        let mut app = reviewing(reply, size);
        go(&mut app);
        snapshot(&format!("review-acts-{name}@{}x{}", size.0, size.1), &app);
    }
}

#[test]
fn a_comment_is_written_below_the_lines_that_it_is_about() {
    let text = "Say in the docstring that it gives the ship back, and what happens when the berth is empty.";
    snapshots("comment", &(fits() + &leaves()), |app| {
        app.keys(&format!("] c type \"{text}\""));
    });
}

#[test]
fn a_write_names_its_files_and_what_becomes_of_the_rest() {
    let new = edit("harbour/log.py", "", "LOG = []");
    snapshots("write", &(fits() + &leaves() + &new), |app| {
        app.keys("y } y w");
    });
}

#[test]
fn the_message_to_the_model_is_read_before_it_goes() {
    snapshots("send", &(fits() + &leaves()), |app| {
        app.keys("n c type \"why?\" <Enter> m");
    });
}

#[test]
fn an_edit_without_a_place_shows_where_it_may_belong() {
    snapshots("by-hand", &lost(), |app| {
        app.keys("e").settle();
    });
}

#[test]
fn a_conflict_shows_three_texts() {
    snapshots("conflict", &fits(), |app| {
        let berth = HARBOUR.iter().find(|(path, _)| *path == "harbour/berth.py").unwrap().1;
        let mine = berth.replace("return ship.length < self.length", "return ship.length < self.length - 2");
        app.put("harbour/berth.py", &mine);
        app.keys("y w").settle().keys("e").settle();
    });
}

#[test]
fn what_the_terminal_would_obey_is_shown_in_every_box() {
    let evil = "\x1b]0;x\x07\u{202e}evil";
    let mut app = reviewing(&(fits() + &lost().replace("draught=0", &format!("draught=0{evil}"))), (80, 24));
    app.report(Response::Head("main".into()));
    app.keys("n c").paste(evil).keys("Alt-Enter").paste(evil);
    assert_eq!(app.control_characters(), [""; 0], "the comment");
    app.keys("<Enter> m");
    assert!(app.screen().contains("to the model"), "{}", app.screen());
    assert_eq!(app.control_characters(), [""; 0], "the message");
}

#[test]
fn a_hunk_that_breaks_the_syntax_is_named_before_it_is_written() {
    let broken = edit(
        "harbour/berth.py",
        "        return ship.length < self.length",
        "        return (ship.length < self.length",
    );
    let mut app = reviewing(&(broken + &leaves()), (80, 24));
    app.keys("g y ] w").settle();
    let screen = app.screen();
    assert!(screen.contains("Write it anyway?") && screen.contains("harbour/berth.py does not parse"), "{screen}");
    snapshot("review-acts-breaks-syntax@80x24", &app);
    app.keys("g");
    assert!(
        app.screen().contains("▶ ✓ accepted  line 14") && app.screen().contains("return (ship"),
        "{}",
        app.screen()
    );
    assert!(!app.file("harbour/berth.py").unwrap().contains("return (ship"), "nothing is written");
    app.keys("w").settle().keys("y").settle();
    assert!(app.screen().contains("Wrote 2 hunks: harbour/berth.py."), "{}", app.screen());
}

/// An edit that is already in the file, one without a location, and an incomplete one.
fn of_each_kind() -> String {
    let applied = edit("harbour/ship.py", "        self.title = name", "        self.name = name");
    let cut =
        "harbour/berth.py\n```python\n<<<<<<< SEARCH\n    def leave(self):\n=======\n    def leave(self, ship):\n";
    fits() + &lost() + &applied + cut
}

#[test]
fn an_edit_has_the_same_state_on_its_card_in_the_review_and_in_the_footer_of_the_pane() {
    let mut app = reviewing_once(&of_each_kind(), (120, 45));
    let states = ["⚠ no location", "= already applied", "⚠ incomplete"];
    app.keys("g g");
    for state in states {
        let lines = app.lines_with(state);
        assert!(lines.len() >= 2, "on the card and in the review: {state}\n{}", app.screen());
    }
    let mut seen = Vec::new();
    for _ in 0..40 {
        let edge = app.lines_with("/3 · ✓").pop().unwrap_or_default();
        for state in ["no location 1/3", "already applied 2/3", "incomplete 3/3"] {
            if edge.contains(state) && !seen.contains(&state) {
                seen.push(state);
            }
        }
        app.keys("j");
    }
    assert_eq!(seen.len(), 3, "in the edge of the pane: {seen:?}\n{}", app.screen());
    app.keys("g g ] ] ]");
    app.keys("y w").settle();
    assert_eq!(app.lines_with("✓ written").len(), 1, "{}", app.screen());
    for state in states {
        assert!(app.lines_with(state).len() >= 2, "{state}\n{}", app.screen());
    }
}

#[test]
fn the_help_on_an_edit_without_a_place_lists_what_can_be_done_with_it() {
    let mut app = reviewing_once(&(fits() + &lost()), (120, 45));
    app.keys("g g ?");
    let screen = app.screen();
    for text in
        ["NOW, ON AN EDIT: NO LOCATION", "Place it by hand", "Ask the model again for this edit.", "Put it away."]
    {
        assert!(screen.contains(text), "{text}\n{screen}");
    }
    assert!(!screen.contains("not now"), "what works comes first\n{screen}");
}

/// The reply in the review, without another round for unplaced edits.
fn reviewing_once(reply: &str, (width, height): (u16, u16)) -> Harness {
    let scene = Scene::harbour().replying(reply).chat(&["harbour/berth.py", "harbour/ship.py"]);
    let mut app = scene.open(width, height);
    app.app.session.apply_setting("edit_rounds", &toml::Value::Integer(0));
    app.keys("type \"Let a ship fit\" <Enter>").settle().keys("<Enter>");
    app
}
