//! Citations of an answer in a real terminal: links that are clicked, and citations without a target.

use super::{harbour_repo, open_sized, quit, send};
use crate::support::pty::Pty;
use crate::support::server::{ModelServer, Step};

const ANSWER: &str = "The depth is looked up in `harbour.py:5`.\n\nThe bearing is taken in charts/compass.py:1-3, \
                      and the tide in charts/tide.py:40.\n";

/// Presses and releases the left button where a text begins on the screen.
#[track_caller]
fn click(pty: &Pty, text: &str) {
    let screen = pty.screen();
    let found = screen.lines().zip(1..).find_map(|(line, row)| Some((line[..line.find(text)?].chars().count(), row)));
    let (column, row) = found.unwrap_or_else(|| panic!("no {text:?} on the screen:\n{screen}"));
    pty.type_text(&format!("\x1b[<0;{};{row}M\x1b[<0;{};{row}m", column + 3, column + 3));
}

#[test]
fn an_answer_with_two_good_citations_and_a_bad_one_opens_the_good_ones() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(ANSWER)]);
    let mut pty = open_sized(&repo.path(), Some(&server), &[], 120, 35);
    pty.wait_for("test-model @ 127.0.0.1");
    send(&pty, "@codebase where is the depth looked up?");
    let request = server.wait_for_requests(1).remove(0);
    let passage = "5      return TABLE[name]";
    let body = request.body.to_string();
    assert!(body.contains(passage), "the lines go along with their numbers: {body}");
    pty.wait_for("∷ passages");
    pty.wait_for("1 of 3 citations points nowhere: charts/tide.py:40 (no such");
    pty.wait_for("charts/tide.py:40⚠");
    click(&pty, "harbour.py:5");
    pty.wait_for("harbour.py:5 · 1 of 2");
    pty.wait_for("return TABLE[name]");
    pty.key("n");
    pty.wait_for("charts/compass.py:1 · 2 of 2");
    pty.key("Esc");
    click(&pty, "charts/tide.py:40");
    pty.wait_for("there is no file charts/tide.py");
    quit(&mut pty);
}

#[test]
fn a_search_finds_as_one_types_and_asks_about_what_it_found() {
    let repo = harbour_repo();
    let mut pty = open_sized(&repo.path(), None, &[], 120, 35);
    pty.wait_for("tokens");
    pty.key("Ctrl-s");
    pty.wait_for("search code");
    pty.type_text("depth of a chart");
    pty.wait_for("passages");
    pty.wait_for("harbour.py:1");
    pty.key("Alt-q");
    pty.wait_for("@codebase depth of a chart");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    pty.key("Ctrl-c");
    quit(&mut pty);
}
