//! The chat: reading and searching in the transcript, the composer with the keys of vi, and completion with descriptions.

use std::sync::Arc;

use rhumb::config::ComposerKeys;
use rhumb_session::context::Mode;
use rhumb_session::{Answer, AnswerState, Entry, Response, RunResponse};
use rhumb_workspace::process::End;

use super::harness::{Harness, Scene};
use super::{HALF_WRONG, snapshot};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (200, 60)];

const TOUR: &str = "\
## What I found

The check is in `fits`, see [the docs](https://docs.example.org/berth) and harbour/berth.py:13. It

1. takes the ship's length,
   - as a number
   - and only that
2. compares it with `<`.

- [x] read it
- [ ] mend it

> A ship as long as the berth fits, too.

| what | where | since |
|:--|--:|:-:|
| fits | berth.py | the first commit of the repository, which nobody remembers |
| moor | berth.py | v2 |

```python
def fits(self, ship: Ship) -> bool: return ship.length < self.length  # and a long comment that has to be carried over to the next line
```

<details>Not HTML here</details>

---
Done.
";

fn shown(name: &str, play: impl Fn(u16, u16) -> Harness) {
    for (width, height) in SIZES {
        let harness = play(width, height);
        assert!(harness.control_characters().is_empty());
        snapshot(&format!("chat-{name}@{width}x{height}"), &harness);
    }
}

/// A conversation of two turns, the second of which proposes edits.
fn talk(width: u16, height: u16) -> Harness {
    let mut harness = Scene::harbour().replying(HALF_WRONG).chat(&["harbour/berth.py"]).open(width, height);
    let reasoning = "It is in fits.\nThat is all.".to_owned();
    let answer =
        Answer { text: TOUR.into(), reasoning, state: AnswerState::Complete, edits: Vec::new(), thinking: Vec::new() };
    let user = Entry::User { text: "what does it check?".into(), mode: Mode::Code, answered: true };
    harness.app.session.extend_transcript([user, Entry::Answer(answer)]);
    harness.keys("type \"mend it\" <Enter>").settle();
    harness
}

#[test]
fn markdown_of_every_kind_has_its_look() {
    shown("markdown", |width, height| {
        let mut harness = Scene::harbour().replying(TOUR).open(width, height);
        harness.keys("type \"what does it check?\" <Enter>").settle().keys("<Alt-PageUp>");
        harness
    });
}

#[test]
fn the_reader_stands_on_a_block() {
    shown("reading", |width, height| {
        let mut harness = talk(width, height);
        harness.keys("<Alt-r> g g ] j j j");
        harness
    });
}

#[test]
fn a_search_shows_where_it_is() {
    shown("search", |width, height| {
        let mut harness = talk(width, height);
        harness.keys("<Alt-/> type \"berth\"");
        harness
    });
}

#[test]
fn an_edit_shows_what_was_decided_on_it() {
    shown("cards", |width, height| {
        let mut harness = talk(width, height);
        harness.keys("<Alt-4> y <Alt-1>");
        harness
    });
}

#[test]
fn what_is_new_below_is_told_at_the_edge_of_the_composer() {
    let mut harness = Scene::harbour().silent().open(80, 24);
    harness.keys("type \"go\" <Enter>").settle();
    harness.stream(&"line\n\n".repeat(40)).keys("<PageUp>").stream(&"more\n\n".repeat(6));
    harness.draw();
    assert!(harness.screen().contains("↓ 12 new lines"), "{}", harness.screen());
    harness.keys("<Alt-End>");
    assert!(!harness.screen().contains("new lines"));
}

#[test]
fn a_message_that_is_asked_again_says_what_will_be_left_out() {
    shown("again", |width, height| {
        let mut harness = talk(width, height);
        harness.keys("<Alt-r> g g e");
        harness
    });
}

#[test]
fn the_keys_of_vi_show_their_mode() {
    shown("vi", |width, height| {
        let mut harness = Scene::harbour().open(width, height);
        harness.app.display.composer_keys = ComposerKeys::Vi;
        harness.keys("type \"let equal lengths fit\" <Esc> b v b");
        harness
    });
}

#[test]
fn what_is_offered_is_shown_beside_it() {
    shown("preview", |width, height| {
        let mut harness = Scene::harbour().open(width, height);
        harness.keys("type \"see @bert\"").settle();
        harness.draw();
        harness
    });
    let mut harness = Scene::harbour().open(200, 60);
    harness.keys("type \"/arch\"").settle();
    harness.draw();
    snapshot("chat-preview-command@200x60", &harness);
}

/// A command that printed lines 1 to `lines` and failed.
fn ran(harness: &mut Harness, run: u64, line: &str, lines: usize) {
    let output: String = (1..=lines).map(|n| format!("{line} says {n}\n")).collect();
    harness.report(Response::Ran(RunResponse::Started { job: run, run, line: line.into() }));
    let end = RunResponse::Ended { run, end: Ok(End::Exit(1)), output: Arc::from(output), seconds: 2 };
    harness.report(Response::Ran(end));
}

#[test]
fn a_long_output_shows_its_beginning_and_its_end_and_the_key_for_the_rest() {
    let mut harness = Scene::harbour().silent().open(80, 40);
    ran(&mut harness, 1, "pytest", 18);
    let screen = harness.screen();
    for line in ["pytest says 3", "… 8 more lines (F6)", "pytest says 12", "pytest says 18", "exit code 1 · 2 s"] {
        assert!(screen.contains(line), "{line}:\n{screen}");
    }
    assert!(!screen.contains("pytest says 4 ") && !screen.contains("pytest says 11"), "{screen}");
    harness.keys("<F6>");
    assert!(harness.screen().contains("pytest says 11"), "{}", harness.screen());
}

#[test]
fn the_log_opens_at_the_output_that_was_asked_for() {
    let mut harness = Scene::harbour().silent().open(80, 40);
    ran(&mut harness, 1, "first", 3);
    ran(&mut harness, 2, "second", 3);
    let card = harness.find("first says 2").unwrap();
    harness.click(card);
    assert!(harness.screen().contains("log 1 of 2"), "{}", harness.screen());
    harness.keys("<Esc> <F6>");
    assert!(harness.screen().contains("log 2 of 2"), "{}", harness.screen());
    harness.keys("<Esc> <Alt-r> <Up> <F6>");
    assert!(harness.screen().contains("log 1 of 2"), "{}", harness.screen());
}
