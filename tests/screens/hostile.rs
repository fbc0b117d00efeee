//! Texts from outside that try to drive the terminal.

use super::harness::Scene;
use super::snapshot;

/// Escape sequences, a bell, a carriage return, C1 controls, a direction override and characters of no width.
const EVIL: &str = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\u{9b}1m\x08\r\u{202e}live\u{200b}\u{feff}";

fn evil_reply(path: &str) -> String {
    // What stands in a line of its own must not end it.
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
    assert_eq!(harness.app.session.review.counts().total(), 1, "{}", harness.screen());
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
    harness.fail(&format!("the server said {EVIL}"), EVIL);
    assert_eq!(harness.control_characters(), [""; 0]);
}
