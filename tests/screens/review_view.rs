//! The review pane in its main states, at the sizes of a small window, a medium window and a large screen.

use super::harness::{Harness, Scene};
use super::snapshot;
use rhumb::tui::theme::{ColorDepth, Role, Theme};
use rhumb_edit::review::{CommentTarget, HunkId};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (200, 60)];

/// Hunks in three files of two folders, a new file, and an edit without a location.
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
        self.ship = None
=======
    def leave(self) -> Ship:
        \"\"\"The ship that was here.\"\"\"
        ship, self.ship = self.ship, None
        return ship
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

harbour/ship.py
```python
<<<<<<< SEARCH
    def __init__(self, name, length, draught):
        self.title = name
=======
    def __init__(self, name, length, draught=0):
        self.title = name
>>>>>>> REPLACE
```

tests/test_leave.py
```python
<<<<<<< SEARCH
=======
from harbour.berth import Berth


def test_nobody_leaves_an_empty_berth():
    assert Berth(30).leave() is None
>>>>>>> REPLACE
```
";

fn review(width: u16, height: u16) -> Harness {
    let chat = ["harbour/berth.py", "harbour/ship.py"];
    let mut harness = Scene::harbour().replying(REPLY).chat(&chat).open(width, height);
    harness.keys("type \"let a ship leave\" <Enter>").settle().keys("<Enter>");
    harness
}

#[track_caller]
fn snapshots(name: &str, play: impl Fn(&mut Harness)) {
    for (width, height) in SIZES {
        let mut harness = review(width, height);
        play(&mut harness);
        snapshot(&format!("review-{name}@{width}x{height}"), &harness);
    }
}

#[test]
fn the_cursor_stands_on_a_line() {
    snapshots("line", |harness| _ = harness.keys("] j j"));
}

#[test]
fn lines_are_selected_and_decided_apart() {
    snapshots("selected", |harness| _ = harness.keys("] v j j j"));
    snapshots("lines-decided", |harness| _ = harness.keys("] v j j y"));
}

#[test]
fn decided_hunks_are_folded() {
    snapshots("folded", |harness| _ = harness.keys("y n"));
}

#[test]
fn the_files_are_listed() {
    snapshots("files", |harness| _ = harness.keys("y T"));
}

#[test]
fn base_and_proposed_stand_side_by_side() {
    snapshots("sides", |harness| _ = harness.keys("t ]"));
}

#[test]
fn a_search_is_typed_and_goes_on() {
    snapshots("search", |harness| _ = harness.keys("/ type \"ship\""));
    snapshots("found", |harness| _ = harness.keys("/ type \"ship\" <Enter> ; ;"));
}

#[test]
fn comments_stand_where_they_belong() {
    snapshots("comments", |harness| {
        let id = HunkId { file: 0, hunk: 0 };
        let review = harness.app.session.review_mut();
        review.comment(CommentTarget::File(0), "The rest of the file keeps its style.");
        review.comment(CommentTarget::Line(id, 1), "A berth of 30 takes a ship of 30?\nAsk the harbour master.");
        harness.keys("j k");
    });
}

#[test]
fn edits_grow_while_they_arrive() {
    for (width, height) in SIZES {
        let mut harness = Scene::harbour().silent().chat(&["harbour/berth.py"]).open(width, height);
        harness.keys("type \"let a ship leave\" <Enter>").settle();
        let (arrived, _) = REPLY.split_once("        return ship\n").unwrap();
        harness.stream(arrived).keys("<Alt-4>");
        snapshot(&format!("review-arriving@{width}x{height}"), &harness);
    }
}

#[test]
fn changed_words_and_found_words_have_their_own_ground() {
    let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
    let mut harness = review(120, 35);
    let (x, y) = harness.find("<= self.length").unwrap_or_else(|| panic!("{}", harness.screen()));
    assert_eq!(harness.style_at(x + 1, y).bg, theme.style(Role::AddedWord).bg, "the sign that came");
    assert_eq!(harness.style_at(x + 4, y).bg, theme.style(Role::Added).bg, "what stayed");
    harness.keys("i");
    assert_eq!(harness.style_at(x + 1, y).bg, theme.style(Role::Added).bg);
    harness.keys("/ type \"self.length\" <Enter>");
    let (x, y) = harness.find("self.length").unwrap();
    assert_eq!(harness.style_at(x, y).bg, theme.style(Role::Search).bg);
}

#[test]
fn selected_lines_differ_without_colour_too() {
    let chat = ["harbour/berth.py", "harbour/ship.py"];
    let mut harness = Scene::harbour().replying(REPLY).chat(&chat).depth(ColorDepth::None).open(120, 35);
    harness.keys("type \"let a ship leave\" <Enter>").settle().keys("<Enter> v j");
    assert_eq!((harness.lines_with("▶").len(), harness.lines_with("2 selected").len()), (1, 1), "{}", harness.screen());
}
