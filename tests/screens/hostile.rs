//! Untrusted texts that try to control the terminal.

use std::sync::Arc;

use rhumb_llm::LocalServer;
use rhumb_llm::models::Api;
use rhumb_session::{Level, LookupResponse, ModelRole, ModelRow, Response, RunResponse};
use rhumb_workspace::process::{End, LiveOutput};

use super::attacks::{self, ATTACKS, OVERWRITE};
use super::harness::{Harness, Scene};
use super::snapshot;

/// Escape sequences, a bell, a carriage return, C1 controls, a direction override and characters of no width.
const EVIL: &str = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u{9b}1m\x08\r\u{202e}live\u{200b}\u{feff}";

fn evil_reply(path: &str) -> String {
    // A text for a single line must not contain a line end.
    let line = EVIL.replace('\r', "");
    format!(
        "Here {EVIL} it is, `{EVIL}`:\n\n| {EVIL} |\n|---|\n| {EVIL} |\n\n{path}\n```python\n<<<<<<< SEARCH\nx = 1\n=======\n\
         x = 2 # {EVIL}\n>>>>>>> REPLACE\n```\n\nplain.py\n```\n<<<<<<< SEARCH\ny = 1 # {line}\n=======\ny = 2 # {line}\n\
         >>>>>>> REPLACE\n```\n\n{EVIL}.py\n```{EVIL}\n<<<<<<< SEARCH\nno such line {EVIL}\n=======\nother\n\
         >>>>>>> REPLACE\n```\n\nnew\x1b[2J.py\n```\n<<<<<<< SEARCH\n=======\n{EVIL}\n>>>>>>> REPLACE\n```\n"
    )
}

#[test]
fn nothing_from_outside_reaches_the_terminal_as_a_control_character() {
    let path = "a\x1b[31mb\x07.py";
    let scene = Scene::harbour()
        .file(path, &format!("\"\"\"{EVIL}\"\"\"\ndef f\x1b[2J(): pass\nx = 1\n# {EVIL}\n"))
        .file("b\u{202e}yp.exe", EVIL)
        .file("plain.py", &format!("# {EVIL}\ny = 1 # {}\n\t\t{EVIL}\n", EVIL.replace('\r', "")))
        .replying(&evil_reply(path))
        .chat(&[path]);
    let mut harness = scene.open(140, 40);
    let check = |harness: &super::Harness, step: &str| {
        assert_eq!(harness.control_characters(), [""; 0], "{step}");
        let screen = harness.screen();
        assert!(!screen.contains(['\u{202e}', '\u{200b}', '\u{feff}']), "{step}\n{screen}");
    };
    check(&harness, "open");
    for keys in ["<Ctrl-p> type \"a\"", "<Esc> <Alt-2> <Enter>", "<Alt-3> j j j <Enter>", "<Esc> <Alt-1>"] {
        harness.keys(keys).settle();
        check(&harness, keys);
    }
    harness.paste(EVIL).settle();
    check(&harness, "paste");
    harness.keys("<F5>");
    check(&harness, "prompt");
    harness.keys("<Esc> <F4>").paste(&evil_reply(path));
    check(&harness, "reply box");
    harness.keys("<Esc> <Enter>").settle();
    check(&harness, "answer");
    assert_eq!(harness.app.session.review().counts().total(), 1, "{}", harness.screen());
    snapshot("hostile@140x40", &harness);
    for keys in ["<Alt-4>", "G", "g g", "y", "n", "g y", "<Tab> <PageUp>", "<Alt-4> w"] {
        harness.keys(keys).settle();
        check(&harness, keys);
    }
    for (width, height) in [(80, 24), (60, 18), (40, 10), (30, 8)] {
        harness.resize(width, height);
        check(&harness, "resize");
    }
}

#[test]
fn an_answer_that_streams_cannot_drive_the_terminal() {
    let mut harness = Scene::harbour().silent().open(80, 24);
    harness.keys("type \"hi\" <Enter>").settle();
    for c in evil_reply("a.py").chars() {
        harness.stream(&c.to_string());
        assert_eq!(harness.control_characters(), [""; 0]);
    }
    harness.fail(&format!("the server said {EVIL}"));
    assert_eq!(harness.control_characters(), [""; 0]);
}

/// Checks that every cell contains a printable character with a limited number of combining marks.
#[track_caller]
fn check(harness: &Harness, step: &str) {
    for cell in harness.buffer().content() {
        let symbol = cell.symbol();
        assert!(!symbol.chars().any(attacks::is_forbidden), "{step}: {symbol:?}\n{}", harness.screen());
        assert!(symbol.chars().count() <= 10, "{step}: {symbol:?}");
    }
}

/// An answer with every attack in prose, in code, in a table, a link and a heading, and in an edit.
fn hostile_reply() -> String {
    let mut reply = String::new();
    for (class, text) in ATTACKS {
        reply += &format!(
            "# {text}\n\n{class} **{text}** `{text}` [{text}](https://x.example/{text})\n\n| {text} |\n|---|\n| {text} |\n\n\
             > {text}\n\n- {text}\n\n"
        );
    }
    reply += &format!("```sh\n{}```\n\n", attacks::all("# "));
    reply
        + &format!(
            "plain.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\n{}x = 2\n>>>>>>> REPLACE\n```\n",
            attacks::all("# ")
        )
}

#[test]
fn no_attack_of_the_corpus_reaches_a_cell() {
    let mut scene = Scene::harbour()
        .file("plain.py", &format!("x = 1\n{}", attacks::all("# ")))
        .replying(&hostile_reply())
        .chat(&["plain.py"]);
    for (at, (_, text)) in ATTACKS.iter().enumerate() {
        let name = attacks::as_name(text);
        scene = scene.file(&format!("names/{at}{name}.py"), &format!("def f{at}(): pass  # {text}\n"));
    }
    let long = "very-".repeat(45);
    scene = scene.file(&format!("names/{long}.py"), &format!("def {}(): pass\n", "x".repeat(5_000)));
    let mut harness = scene.open(150, 44);
    check(&harness, "open");
    harness.report(Response::Head(ATTACKS.iter().map(|(_, text)| *text).collect()));
    check(&harness, "the name of a branch");
    for keys in [
        "<Ctrl-p> type \"names\"",
        "<Down> <Down> <PageDown>",
        "<Esc> <Alt-2> G",
        "<Enter> G",
        "<Alt-3> G",
        "<Esc> <Alt-1>",
    ] {
        harness.keys(keys).settle();
        check(&harness, keys);
    }
    harness.keys("<F5>");
    check(&harness, "the prompt");
    for _ in 0..12 {
        harness.keys("<PageDown>");
        check(&harness, "the prompt, further down");
    }
    harness.keys("<Esc> type \"go\" <Enter>").settle();
    check(&harness, "the answer");
    for _ in 0..30 {
        harness.keys("<PageUp>");
        check(&harness, "the answer, further up");
    }
    for keys in ["<Alt-4>", "j j j", "]", "y", "n", "G", "g g"] {
        harness.keys(keys).settle();
        check(&harness, keys);
    }
    for _ in 0..20 {
        harness.keys("<PageDown>");
        check(&harness, "the review");
    }
    for (width, height) in [(80, 24), (60, 18), (40, 10)] {
        harness.resize(width, height);
        check(&harness, "another size");
    }
}

#[test]
fn no_attack_reaches_a_cell_by_what_the_program_is_told() {
    for (class, text) in ATTACKS.iter().chain(&[("overwrite", OVERWRITE)]) {
        let mut harness = Scene::harbour().silent().open(120, 30);
        harness.tell(Level::Error, text, text);
        check(&harness, class);
        let run = |report| Response::Ran(report);
        harness.report(run(RunResponse::Started { job: 1, run: 1, line: (*text).into() }));
        let live = LiveOutput { text: format!("{text}\n"), open_line: (*text).into(), skipped: 0 };
        harness.report(run(RunResponse::Output { run: 1, live, seconds: 1 }));
        check(&harness, class);
        harness.keys("<F6>");
        check(&harness, class);
        harness.report(run(RunResponse::Ended { run: 1, end: Ok(End::Exit(1)), output: Arc::from(*text), seconds: 1 }));
        check(&harness, class);
        harness.keys("<Esc>").paste(&format!("/theme {}", text.replace('\r', " "))).keys("<Enter>");
        check(&harness, class);
        harness.keys("<Ctrl-c>").paste(text);
        check(&harness, class);
        harness.keys("<Ctrl-c> type \"hi\" <Enter>").settle();
        harness.think(text).stream(text).stream(&format!("\n\n{text}.py\n```{text}\n<<<<<<< SEARCH\n{text}\n"));
        check(&harness, class);
        harness.fail(text);
        check(&harness, class);
        let row = ModelRow { name: (*text).into(), detail: (*text).into(), has_key: true };
        harness.report(Response::LookedUp(LookupResponse::Models {
            rows: vec![row],
            choose: Some((ModelRole::Weak, String::new())),
        }));
        check(&harness, class);
        harness.keys("<Esc>");
        let models = vec![(*text).to_owned()];
        let server = LocalServer { name: (*text).into(), api: Api::Ollama, base_url: (*text).into(), models };
        harness.report(Response::Servers(vec![server]));
        check(&harness, class);
    }
}

#[test]
fn bytes_that_are_no_text_reach_no_cell() {
    let mut harness = Scene::harbour().file("bytes.py", "x = 1\n").replying("fine").open(120, 30);
    std::fs::write(harness.path().join("bytes.py"), attacks::BYTES).unwrap();
    harness.keys("type \"/add bytes.py\" <Enter>").settle();
    check(&harness, "added");
    harness.keys("<F5>");
    check(&harness, "the prompt");
    harness.keys("<Esc> <Alt-2> G <Enter>").settle();
    check(&harness, "the map");
}
