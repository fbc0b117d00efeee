//! Snapshots of every screen, at each size for which the layout differs.
//!
//! A change on the screen causes a change in `tests/screens/snapshots`; `INSTA_UPDATE=always cargo test --test screens`
//! rewrites them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "screens/agent.rs"]
mod agent;
#[path = "support/attacks.rs"]
mod attacks;
#[path = "screens/chat.rs"]
mod chat;
#[path = "screens/citations.rs"]
mod citations;
#[path = "screens/codebase.rs"]
mod codebase;
#[path = "screens/connecting.rs"]
mod connecting;
#[path = "screens/cursor.rs"]
mod cursor;
#[path = "support/harness.rs"]
mod harness;
#[path = "screens/hostile.rs"]
mod hostile;
#[path = "screens/indexing.rs"]
mod indexing;
#[path = "screens/marks.rs"]
mod marks;
#[path = "screens/offers.rs"]
mod offers;
#[path = "screens/outside.rs"]
mod outside;
#[path = "screens/overlays.rs"]
mod overlays;
#[path = "screens/panes.rs"]
mod panes;
#[path = "screens/passages.rs"]
mod passages;
#[path = "screens/pictures.rs"]
mod pictures;
#[path = "screens/reading.rs"]
mod reading;
#[path = "screens/review_acts.rs"]
mod review_acts;
#[path = "screens/review_view.rs"]
mod review_view;
#[path = "screens/search.rs"]
mod search;
#[path = "screens/sessions.rs"]
mod sessions;
#[path = "screens/sizes.rs"]
mod sizes;
#[path = "screens/soak.rs"]
mod soak;
#[path = "screens/themes.rs"]
mod themes;

use harness::{Harness, Scene};
use std::sync::Arc;

use rhumb_session::{Level, Response, RunResponse};
use rhumb_workspace::process::{End, LiveOutput};

/// All panes, some panes, a single pane.
const SIZES: [(u16, u16); 3] = [(140, 40), (80, 24), (60, 18)];

/// An answer with one edit that can be placed and one that cannot.
const HALF_WRONG: &str = "\
A ship as long as the berth fits, too.

harbour/berth.py
```python
<<<<<<< SEARCH
        return ship.length < self.length
=======
        return ship.length <= self.length
>>>>>>> REPLACE
```

And the name is checked:

harbour/ship.py
```python
<<<<<<< SEARCH
    def __init__(self, name, length, draught):
        self.title = name
=======
    def __init__(self, name, length, draught):
        if not name:
            raise ValueError(\"a ship has a name\")
        self.title = name
>>>>>>> REPLACE
```
";

/// Runs a scene at each size and compares the screen.
#[track_caller]
fn snapshots(name: &str, play: impl Fn(u16, u16) -> Harness) {
    for (width, height) in SIZES {
        snapshot(&format!("{name}@{width}x{height}"), &play(width, height));
    }
}

#[track_caller]
fn snapshot(name: &str, harness: &Harness) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("screens/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, harness.screen()));
}

/// The demo, its first message sent, the reply in review.
fn review(width: u16, height: u16) -> Harness {
    let mut harness = Scene::demo().open(width, height);
    harness.keys("<Enter>").settle().keys("<Enter>");
    harness
}

#[test]
fn an_empty_chat_without_a_model_says_how_to_begin() {
    snapshots("empty", Harness::new);
}

#[test]
fn the_demo_waits_with_its_first_message() {
    snapshots("demo", |width, height| Scene::demo().open(width, height));
}

#[test]
fn the_picker_finds_files_by_a_few_letters() {
    snapshots("picker", |width, height| {
        let mut harness = Scene::demo().open(width, height);
        harness.keys("<Ctrl-p> type \"fore\" <Tab>");
        harness
    });
}

#[test]
fn the_map_opens_a_file_to_its_symbols() {
    snapshots("map", |width, height| {
        let mut harness = Scene::demo().open(width, height);
        harness.keys("<Alt-2> j <Enter> j");
        harness
    });
}

#[test]
fn the_context_lists_what_will_be_sent() {
    snapshots("context", |width, height| {
        let mut harness = Scene::demo().open(width, height);
        harness.keys("<Alt-3> j j j r").settle();
        harness
    });
}

#[test]
fn an_answer_streams_in_and_its_edits_show() {
    snapshots("streaming", |width, height| {
        let mut harness = Scene::harbour().silent().chat(&["harbour/berth.py"]).open(width, height);
        harness.keys("type \"let equal lengths fit\" <Enter>").settle();
        let (arrived, _) = HALF_WRONG.split_once("    self.title").unwrap();
        harness.stream(arrived);
        harness
    });
}

#[test]
fn what_the_model_thought_is_folded_and_opens() {
    snapshots("thoughts", |width, height| {
        let mut harness = Scene::harbour().silent().chat(&["harbour/berth.py"]).open(width, height);
        harness.keys("type \"does it fit?\" <Enter>").settle();
        harness.think("The berth has a length.\nThe ship has one, too, so they are compared.").stream("It fits.\n");
        harness
    });
    let mut harness = Scene::harbour().silent().open(80, 24);
    harness.keys("type \"does it fit?\" <Enter>").settle();
    harness.think("They are compared.");
    let folded = harness.screen();
    assert!(folded.contains("thinking … 1 line") && !folded.contains("They are compared"), "{folded}");
    let open = harness.keys("<Alt-t>").screen();
    assert!(open.contains("They are compared"), "{open}");
}

#[test]
fn a_turn_waits_for_its_first_word() {
    snapshots("waiting", |width, height| {
        let mut harness = Scene::harbour().silent().open(width, height);
        harness.keys("type \"let equal lengths fit\" <Enter>").settle();
        harness
    });
}

#[test]
fn a_review_opens_at_its_first_hunk() {
    snapshots("review", review);
}

#[test]
fn accepted_and_rejected_hunks_carry_their_marks() {
    snapshots("review_decided", |width, height| {
        let mut harness = review(width, height);
        harness.keys("y n [ [");
        harness
    });
}

#[test]
fn deciding_goes_on_to_the_next_pending_hunk() {
    snapshots("review_next", |width, height| {
        let mut harness = review(width, height);
        harness.keys("y y n");
        harness
    });
}

#[test]
fn an_edit_without_a_place_is_shown_with_its_reason() {
    snapshots("review_refused", |width, height| {
        let mut harness =
            Scene::harbour().replying(HALF_WRONG).chat(&["harbour/berth.py", "harbour/ship.py"]).open(width, height);
        harness.keys("type \"let equal lengths fit\" <Enter>").settle().keys("<Enter>");
        harness
    });
}

#[test]
fn a_write_tells_what_it_did() {
    snapshots("written", |width, height| {
        let mut harness = review(width, height);
        harness.keys("g y } } [ n w").settle();
        harness
    });
}

#[test]
fn a_write_of_some_hunks_keeps_the_others_under_review() {
    snapshots("written_in_part", |width, height| {
        let mut harness = review(width, height);
        harness.keys("y y n w y").settle();
        harness
    });
}

#[test]
fn a_context_over_the_window_says_so_and_is_not_sent() {
    snapshots("over_budget", |width, height| {
        let mut harness = Scene::demo().window(1_600).open(width, height);
        harness.keys("<Enter>").settle();
        harness
    });
}

#[test]
fn the_context_over_the_window_has_the_focus() {
    snapshots("over_budget_context", |width, height| {
        let mut harness = Scene::demo().window(1_600).open(width, height);
        harness.keys("<Alt-3>");
        harness
    });
}

#[test]
fn the_help_lists_keys_and_commands() {
    snapshots("help", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("<F1>");
        harness
    });
    snapshots("help_review", |width, height| {
        let mut harness = review(width, height);
        harness.keys("?");
        harness
    });
}

#[test]
fn a_pasted_reply_is_shown_before_it_is_taken() {
    snapshots("paste_empty", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("<F4>");
        harness
    });
    snapshots("paste", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("<F4>").paste(HALF_WRONG);
        harness
    });
}

#[test]
fn abandoning_a_review_is_asked_for() {
    snapshots("abandon", |width, height| {
        let mut harness = review(width, height);
        harness.keys("x");
        harness
    });
}

#[test]
fn the_prompt_is_shown_as_it_will_be_sent() {
    snapshots("prompt", |width, height| {
        let mut harness = Scene::harbour().chat(&["harbour/ship.py"]).open(width, height);
        harness.keys("type \"what is a ship?\"").settle().keys("<F5>");
        harness
    });
}

#[test]
fn a_small_terminal_says_what_it_needs() {
    snapshot("too_small@30x8", &Harness::new(30, 8));
    snapshot("smallest@40x10", &review(40, 10));
}

#[test]
fn notices_wrap_and_say_what_to_do() {
    snapshots("notices", |width, height| {
        let mut harness = Scene::harbour().silent().open(width, height);
        harness.keys("type \"/add nowhere.py\" <Enter> type \"/frobnicate\" <Enter> <Ctrl-c>");
        harness.keys("type \"let equal lengths fit\" <Enter>").settle();
        harness.fail("the connection to api.example.org was closed");
        harness.tell(Level::Warning, "harbour/ship.py was read again.", "").tell(
            Level::Info,
            "The prompt (about 812 tokens) is on the clipboard.",
            "Paste it.",
        );
        harness.settle();
        harness
    });
}

#[test]
fn a_message_without_a_model_is_kept() {
    snapshots("no_model", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("type \"let equal lengths fit\" <Enter>").settle();
        harness
    });
}

#[test]
fn a_hunk_that_is_not_on_the_screen_is_not_decided() {
    let mut harness = Scene::harbour().replying(HALF_WRONG).chat(&["harbour/berth.py", "harbour/ship.py"]).open(60, 10);
    harness.keys("type \"let equal lengths fit\" <Enter>").settle();
    harness.keys("<Enter> g g y");
    assert_eq!(harness.app.session.review().counts().pending, 1, "{}", harness.screen());
    harness.keys("] y");
    assert_eq!(harness.app.session.review().counts().accepted, 1, "{}", harness.screen());
}

#[test]
fn the_cursor_of_the_context_goes_with_its_file() {
    let mut harness = Scene::demo().open(140, 40);
    harness.keys("<Alt-3> j j j r").settle();
    assert!(harness.app.session.files()[0].read_only);
    harness.keys("r").settle();
    assert!(!harness.app.session.files()[0].read_only);
}

#[test]
fn a_message_that_was_not_answered_is_part_of_the_next_request_again() {
    let mut harness = Scene::harbour().silent().open(80, 24);
    harness.keys("type \"let equal lengths fit\" <Enter>").settle();
    harness.fail("no network").settle();
    let view = harness.app.session.view().unwrap();
    assert!(view.prompt.as_text().contains("let equal lengths fit"));
}

#[test]
fn a_second_write_writes_what_was_left() {
    let mut harness = review(140, 40);
    harness.keys("y y n w y").settle();
    let text = harness.file("tidewatch/forecast.py").unwrap();
    assert!(text.contains("from .cache import CACHE") && text.contains("raise ValueError"));
    assert!(!text.contains("CACHE.height"));
    harness.keys("g y w").settle();
    let text = harness.file("tidewatch/forecast.py").unwrap();
    assert!(text.contains("CACHE.height") && text.contains("raise ValueError"));
    assert!(!harness.app.reviewing(), "{}", harness.screen());
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let mut harness = review(140, 40);
    let mine = format!("# mine\n{}", harness.file("tidewatch/forecast.py").unwrap());
    harness.put("tidewatch/forecast.py", &mine);
    harness.keys("g y w").settle();
    assert_eq!(harness.file("tidewatch/forecast.py").unwrap(), mine);
    assert_eq!(harness.file("tidewatch/cache.py"), None, "all files or none");
    snapshot("stale@140x40", &harness);
    // The user decides about their own change.
    harness.keys("w").settle().keys("n").settle();
    let text = harness.file("tidewatch/forecast.py").unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("CACHE.height"));
}

#[test]
fn a_pasted_reply_goes_into_review() {
    snapshots("pasted_review", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("type \"let equal lengths fit\" <F4>").paste(HALF_WRONG);
        harness.keys("<Ctrl-d>").settle().keys("<Enter>");
        harness
    });
}

#[test]
fn the_prompt_goes_to_the_clipboard() {
    let mut harness = Harness::new(80, 24);
    harness.keys("type \"let equal lengths fit\" <F3>").settle();
    assert_eq!(harness.copied.len(), 1);
    assert!(harness.copied[0].contains("let equal lengths fit"));
    let view = harness.app.session.view().unwrap();
    assert!(view.prompt.as_text().contains("let equal lengths fit"), "the panes show it, too");
}

#[test]
fn a_hunk_that_lost_its_place_is_shown_where_nothing_can_be_accepted() {
    snapshots("stale_lost", |width, height| {
        let mut harness = review(width, height);
        let mine = harness.file("tidewatch/forecast.py").unwrap().replace("range(count)", "range(0, count)");
        harness.put("tidewatch/forecast.py", &mine);
        harness.keys("g y w").settle().keys("<Alt-4> g g");
        assert_eq!(harness.file("tidewatch/forecast.py").unwrap(), mine);
        harness
    });
}

/// The picture in the README is this screen. `RHUMB_BLESS=1 cargo test --test screens` rewrites it.
#[test]
fn the_readme_shows_a_real_screen() {
    let mut harness = review(120, 36);
    harness.keys("y n [");
    let picture = format!("```text\n{}\n```\n", harness.screen());
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let mut readme = std::fs::read_to_string(&path).unwrap();
    let (open, close) = ("<!-- screen -->\n", "<!-- /screen -->");
    let place = readme.find(open).unwrap() + open.len()..readme.find(close).unwrap();
    if std::env::var_os("RHUMB_BLESS").is_some() {
        readme.replace_range(place, &picture);
        std::fs::write(&path, readme).unwrap();
    } else {
        assert_eq!(&readme[place], picture, "stale: RHUMB_BLESS=1 cargo test --test screens");
    }
}

/// A run with a card and a log.
fn ran(harness: &mut Harness, run: u64, line: &str, said: &str) {
    let live = LiveOutput { text: said.into(), ..LiveOutput::default() };
    harness.report(Response::Ran(RunResponse::Started { job: run, run, line: line.into() }));
    harness.report(Response::Ran(RunResponse::Output { run, live, seconds: 12 }));
}

#[test]
fn commands_have_cards_and_their_logs_follow_the_end() {
    snapshots("commands", |width, height| {
        let mut harness = Scene::harbour().silent().open(width, height);
        ran(&mut harness, 1, "cargo check", "    Checking harbour v0.1.0\n    Finished in 2 s\n");
        let output = Arc::from("    Checking harbour v0.1.0\n    Finished in 2 s\n");
        harness.report(Response::Ran(RunResponse::Ended { run: 1, end: Ok(End::Exit(0)), output, seconds: 2 }));
        ran(&mut harness, 2, "pytest -q", &(1..50).map(|n| format!("test_{n} PASSED\n")).collect::<String>());
        harness
    });
    snapshots("log", |width, height| {
        let mut harness = Scene::harbour().silent().open(width, height);
        ran(&mut harness, 1, "cargo check", "    Checking harbour v0.1.0\n");
        harness.keys("<F6>");
        // A command that starts is selected while the end of the newest log is visible.
        ran(&mut harness, 2, "pytest -q", &(1..50).map(|n| format!("test_{n} PASSED\n")).collect::<String>());
        let live = LiveOutput { text: "\u{1b}]0;owned\u{7}\u{202e}last\n".into(), ..LiveOutput::default() };
        harness.report(Response::Ran(RunResponse::Output { run: 2, live, seconds: 13 }));
        harness
    });
}

/// The question after an answer with these commands, one question for each.
fn suggesting(commands: &[&str], width: u16, height: u16) -> Harness {
    let blocks: String = commands.iter().map(|command| format!("```sh\n{command}\n```\n\n")).collect();
    let mut harness = Scene::harbour().replying(&blocks).open(width, height);
    harness.app.session.apply_setting("suggest_commands", &true.into());
    harness.keys("type \"go\" <Enter>").settle();
    assert_eq!(harness.app.session.questions().len(), commands.len());
    harness
}

#[test]
fn a_key_runs_no_command_that_is_not_on_the_screen() {
    for hides in ["<Alt-4>", "<Alt-2> <Alt-z>"] {
        let mut harness = suggesting(&["make first", "make second"], 60, 20);
        harness.keys(hides);
        assert!(!harness.screen().contains("Run it?"), "{}", harness.screen());
        harness.keys("<Alt-y>");
        assert!(harness.screen().contains("a question"), "{}", harness.screen());
        assert_eq!(harness.app.session.questions().len(), 2, "{hides}: it is shown first");
        // Esc and a letter that arrive together are handled as Esc.
        harness.keys("<Alt-y>");
        assert_eq!(harness.app.session.questions().len(), 2);
        harness.keys("y");
        assert_eq!(harness.app.session.questions().len(), 1);
    }
    // A key that is held down sends many events before the next frame.
    let mut harness = suggesting(&["make first", "make second", "make third"], 120, 35);
    for key in ["Alt-y", "Alt-y", "y", "y", "Alt-y"] {
        harness.take_event(crossterm::event::Event::Key(rhumb::tui::key::parse(key).unwrap()));
    }
    assert_eq!(harness.app.session.questions().len(), 2);
    harness.keys("n");
    assert_eq!(harness.app.session.questions().len(), 1, "the box is on the screen now");
}

#[test]
fn a_command_with_hidden_characters_is_read_in_full_first() {
    let command = format!("echo '{}'; touch hidden", "\u{202e}".repeat(96));
    let mut harness = suggesting(&[&command], 80, 24);
    assert!(harness.screen().contains("'<U+202E><U+202E>"), "{}", harness.screen());
    harness.keys("<Alt-y>");
    let screen = harness.screen();
    assert!(screen.contains("a question") && harness.app.session.questions().len() == 1, "{screen}");
}

#[test]
fn a_long_command_is_read_to_its_end_before_it_is_approved() {
    let lines: String = (0..60).map(|n| format!("echo {n} &&\n")).collect();
    let reply = format!("```sh\n{lines}echo '\u{202e}the end'\n```\n");
    let mut harness = Scene::harbour().replying(&reply).open(80, 24);
    harness.app.session.apply_setting("suggest_commands", &true.into());
    harness.keys("type \"go\" <Enter>").settle();
    harness.keys("<Alt-y> y");
    let screen = harness.screen();
    assert!(screen.contains("a question") && screen.contains("PageDown shows the rest"), "{screen}");
    assert!(harness.app.session.questions().len() == 1 && !screen.contains("the end"), "{screen}");
    for _ in 0..8 {
        harness.keys("<PageDown>");
    }
    let screen = harness.screen();
    assert!(screen.contains("<U+202E>the end") && screen.contains("Esc leaves"), "{screen}");
    harness.keys("n");
    assert!(harness.app.session.questions().is_empty() && !harness.app.session.processes().is_running());
}
