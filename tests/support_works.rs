//! Tests of the test support: the terminal, the model server and the repositories.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // the checks for tests do not know helper functions

mod support;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use support::escapes::{Modes, Scanner, Sequence};
use support::pty::{Pty, key_bytes};
use support::repo::TestRepo;
use support::server::{ModelServer, Step};

fn shell(script: &str) -> Pty {
    Pty::spawn(Path::new("/bin/sh"), &["-c", script], Path::new("/"), &[("LIGHT", "on")], 60, 12)
}

// ------------------------------------------------------------------------------------------------------- terminal

#[test]
fn what_is_typed_is_shown_and_the_exit_status_comes_back() {
    let mut pty = shell("read line; echo \"got <$line>\"; exit 7");
    pty.type_text("ahoy");
    pty.key("Enter");
    pty.wait_for("got <ahoy>");
    assert_eq!(pty.wait_exit().exit_code(), 7);
    assert!(String::from_utf8(pty.raw()).unwrap().contains("got <ahoy>"));
}

#[test]
fn a_program_sees_the_size_and_hears_of_a_new_one() {
    let pty = shell("trap 'stty size; echo resized' WINCH; stty size; while :; do sleep 0.05; done");
    pty.wait_for("12 60");
    pty.resize(100, 30);
    pty.wait_for("30 100\nresized");
    assert_eq!(pty.screen().split('\n').count(), 30);
}

#[test]
fn the_environment_is_empty_but_for_what_is_fixed_or_given() {
    let mut pty = Pty::spawn(Path::new("/usr/bin/env"), &[], Path::new("/"), &[("LIGHT", "on")], 200, 50);
    pty.wait_exit();
    let screen = pty.screen();
    let home = format!("HOME={}", pty.home().display());
    for line in ["LIGHT=on", "TERM=xterm-256color", "COLORTERM=truecolor", "GIT_CONFIG_NOSYSTEM=1", &home] {
        assert!(screen.lines().any(|shown| shown == line), "{line} in\n{screen}");
    }
    for prefix in ["CARGO", "RHUMB_", "OPENAI_", "USER="] {
        assert!(!screen.lines().any(|shown| shown.starts_with(prefix)), "{prefix} in\n{screen}");
    }
}

#[test]
fn a_home_that_is_given_is_used_with_its_folders() {
    let home = tempfile::tempdir().unwrap();
    let given = home.path().to_str().unwrap();
    let script = ["-c", "echo $HOME; echo $XDG_CONFIG_HOME"];
    let mut pty = Pty::spawn(Path::new("/bin/sh"), &script, Path::new("/"), &[("HOME", given)], 200, 5);
    pty.wait_exit();
    assert_eq!(pty.screen().trim_end(), format!("{given}\n{given}/.config"));
}

#[test]
fn questions_to_the_terminal_are_answered() {
    let mut pty = shell(concat!(
        "stty raw -echo; printf 'ab\\033[6n\\033[?u\\033['; sleep 0.1; printf 'c'; ",
        "answer=$(dd bs=1 count=20 2>/dev/null | tr '\\033' '^'); stty sane; printf '\\r\\n%s\\n' \"$answer\"",
    ));
    pty.wait_for("^[1;3R^[?0u^[?62;22c");
    assert!(pty.wait_exit().success());
}

#[test]
fn modes_that_are_left_on_are_named() {
    let enter = "\\033[?1049h\\033[>1u\\033[?2004;1004h\\033[?1000h\\033[?25l";
    let leave = "\\033[?25h\\033[?1000l\\033[?1004;2004l\\033[<1u\\033[?1049l";
    let mut tidy = shell(&format!("printf '{enter}hello{leave}'"));
    tidy.wait_exit();
    assert_eq!(tidy.modes_restored(), Ok(()));

    let mut untidy = shell(&format!("printf '{enter}'; stty -echo"));
    untidy.wait_exit();
    let left = untidy.modes_restored().unwrap_err();
    for mode in ["alternate screen", "bracketed paste", "focus", "mouse clicks", "cursor", "keyboard flags"] {
        assert!(left.contains(mode), "{mode} in {left}");
    }
}

#[test]
fn a_line_discipline_that_is_left_raw_is_named() {
    let raw = shell("stty raw -echo; printf ready; sleep 30");
    raw.wait_for("ready");
    assert_eq!(raw.line_mode_restored().unwrap_err(), "still off: lines, echo, signals");
    let cooked = shell("stty raw -echo; stty sane; printf ready; sleep 30");
    cooked.wait_for("ready");
    assert_eq!(cooked.line_mode_restored(), Ok(()));
}

#[test]
fn keyboard_flags_are_counted_for_each_screen() {
    let crossed = Modes::after(b"\x1b[>1u\x1b[?1049h\x1b[<1u\x1b[?1049l");
    assert_eq!(crossed.restored().unwrap_err(), "1 keyboard flags are still pushed on the main screen");
    assert_eq!(Modes::after(b"\x1b[>1u\x1b[>3u\x1b[<2u").restored(), Ok(()));
    // The echoed answer to a query is neither a push nor a pop.
    assert_eq!(Modes::after(b"\x1b[?0u\x1b[u").restored(), Ok(()));
}

#[test]
fn sequences_are_found_however_the_bytes_are_cut() {
    let mut scanner = Scanner::default();
    let bytes = b"a\x1b[1;31mred\x1b]0;ti\x07tle\x1b]8;;x\x1b\\\x1b7\x1b(B\x1b]cut\x1b[2J";
    let found: Vec<Sequence> = bytes.iter().filter_map(|byte| scanner.push(*byte)).collect();
    let text = |body: &str| Sequence::Text(body.into());
    let escape = |body: &str| Sequence::Escape(body.into());
    assert_eq!(
        found,
        [
            Sequence::Csi("1;31m".into()),
            text("]0;ti"),
            text("]8;;x"),
            escape("7"),
            escape("(B"),
            Sequence::Csi("2J".into()),
        ]
    );
}

#[test]
fn a_signal_reaches_the_program() {
    let mut pty = shell("trap 'echo caught; exit 3' TERM; echo ready; while :; do sleep 0.05; done");
    pty.wait_for("ready");
    pty.signal("TERM");
    assert_eq!(pty.wait_exit().exit_code(), 3);
    pty.wait_for("caught");
}

#[test]
#[should_panic(expected = "  | the last words")]
fn a_wait_in_vain_shows_the_screen() {
    shell("echo the last words").wait_for("never shown");
}

#[test]
fn keys_have_the_bytes_of_a_terminal() {
    for (name, bytes) in [
        ("a", "a"),
        ("-", "-"),
        ("é", "é"),
        ("Enter", "\r"),
        ("Alt-Enter", "\x1b\r"),
        ("Ctrl-c", "\x03"),
        ("Ctrl-Space", "\0"),
        ("Alt-x", "\x1bx"),
        ("Shift-g", "G"),
        ("Tab", "\t"),
        ("Shift-Tab", "\x1b[Z"),
        ("Backspace", "\x7f"),
        ("Up", "\x1b[A"),
        ("Ctrl-Right", "\x1b[1;5C"),
        ("PageDown", "\x1b[6~"),
        ("Shift-Delete", "\x1b[3;2~"),
        ("F1", "\x1bOP"),
        ("F12", "\x1b[24~"),
    ] {
        assert_eq!(String::from_utf8(key_bytes(name)).unwrap(), bytes, "{name}");
    }
}

// --------------------------------------------------------------------------------------------------------- server

/// Sends a chat request without any HTTP library and leaves the connection open.
fn ask(server: &ModelServer, message: &str) -> TcpStream {
    let body = format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"{message}"}}]}}"#);
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream
}

fn read_to_end(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    // A broken connection may end in an error; the data before it counts.
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// The data of each event, in order; the frames of the transfer encoding are passed over.
fn data(response: &str) -> Vec<&str> {
    response.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
}

fn contents(events: &[&str]) -> String {
    let values = events.iter().filter_map(|event| serde_json::from_str::<serde_json::Value>(event).ok());
    values.filter_map(|value| Some(value["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect()
}

#[test]
fn a_reply_is_streamed_with_its_role_usage_and_end() {
    let server = ModelServer::start(vec![Step::Reply { chunks: vec!["Fair ".into(), "wind ⚓".into()], gap_ms: 5 }]);
    let response = read_to_end(ask(&server, "hello"));
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(response.contains("content-type: text/event-stream"), "{response}");
    let events = data(&response);
    assert!(events[0].contains(r#""role":"assistant""#), "{}", events[0]);
    assert_eq!(contents(&events), "Fair wind ⚓");
    assert!(events[events.len() - 2].contains(r#""completion_tokens":2"#));
    assert_eq!(events.last(), Some(&"[DONE]"));
    assert!(response.ends_with("0\r\n\r\n"), "a proper end of the transfer");
    assert!(!server.cancelled());

    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].last_message(), "hello");
    assert_eq!(requests[0].headers["authorization"], "Bearer k");
}

#[test]
fn steps_are_played_in_order_and_the_end_is_an_error() {
    let limited = Step::Status { code: 429, body: "slow".into(), headers: vec![("retry-after".into(), "1".into())] };
    let server = ModelServer::start(vec![limited, Step::Html]);
    server.push([Step::reply("a longer reply in pieces")]);
    let first = read_to_end(ask(&server, "1"));
    assert!(
        first.starts_with("HTTP/1.1 429") && first.contains("retry-after: 1") && first.ends_with("slow"),
        "{first}"
    );
    assert!(read_to_end(ask(&server, "2")).contains("<!DOCTYPE html>"));
    assert_eq!(contents(&data(&read_to_end(ask(&server, "3")))), "a longer reply in pieces");
    assert!(read_to_end(ask(&server, "4")).starts_with("HTTP/1.1 500"));
    assert_eq!(server.wait_for_requests(4)[3].last_message(), "4");
}

#[test]
fn a_dropped_reply_has_its_chunks_and_no_end() {
    let server = ModelServer::start(vec![Step::Drop { chunks: vec!["half a ".into(), "sent".into()] }]);
    let response = read_to_end(ask(&server, "hello"));
    assert_eq!(contents(&data(&response)), "half a sent");
    assert!(!response.contains("[DONE]") && !response.contains(r#""finish_reason":"stop""#));
    assert!(!response.ends_with("0\r\n\r\n"), "no proper end of the transfer");
}

#[test]
fn a_client_that_disconnects_is_noticed() {
    let endless = Step::Reply { chunks: vec!["word ".into(); 10_000], gap_ms: 10 };
    for step in [endless, Step::Hang] {
        let server = ModelServer::start(vec![step]);
        let stream = ask(&server, "hello");
        server.wait_for_requests(1);
        assert!(!server.cancelled());
        drop(stream);
        server.wait_cancelled();
    }
}

#[test]
fn the_models_are_listed() {
    let server = ModelServer::start(Vec::new());
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(stream, "GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let response = read_to_end(stream);
    assert!(response.contains(r#""id":"test-model""#), "{response}");
    assert!(server.requests().is_empty());
    assert!(server.base_url().starts_with("http://127.0.0.1:") && server.base_url().ends_with("/v1"));
}

// ----------------------------------------------------------------------------------------------------- repository

#[test]
fn repositories_made_alike_have_the_same_commits() {
    let make = || {
        let repo = TestRepo::new();
        repo.file("src/a.txt", "one\n").commit("Add a").file("src/a.txt", "two\n").commit("Change a");
        repo
    };
    let (one, two) = (make(), make());
    assert_eq!(one.git(&["rev-parse", "HEAD"]), two.git(&["rev-parse", "HEAD"]));
    assert_eq!(one.subjects(), ["Change a", "Add a"]);
    assert_eq!((one.read("src/a.txt").as_str(), one.has("b.txt")), ("two\n", false));
    assert_eq!(one.git(&["status", "--porcelain"]), "");
    assert_eq!(one.git(&["branch", "--show-current"]), "main\n");
}

#[test]
fn a_repository_can_be_without_an_identity() {
    let repo = TestRepo::without_identity();
    let settings = repo.git(&["config", "--local", "--list"]);
    assert!(!settings.contains("user."), "{settings}");
    repo.commit("Still possible for the test itself");
}
