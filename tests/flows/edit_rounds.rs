//! Edits that cannot be located are sent back to the model, a limited number of times.

use super::{HARBOUR, REQUEST, harbour_repo, open, quit, search_replace, send, untouched};
use crate::support::server::{ModelServer, Step};

/// [`search_replace`] with a second block that quotes lines that are not in the file.
fn one_good_one_bad() -> String {
    one_good_one_bad_in("fathoms")
}

/// Like [`one_good_one_bad`], with this unit in the quoted lines.
fn one_good_one_bad_in(unit: &str) -> String {
    let wrong = format!("    metres = depth(name)\n    log.write(name)\n    print(name, metres, '{unit}')");
    search_replace().replacen("    return f'{name}: {metres} m'", &wrong, 1)
}

/// The second block of [`search_replace`] alone.
fn corrected() -> String {
    let whole = search_replace();
    whole[whole.find("The report rounds").unwrap()..].replace("fair winds", "calm seas")
}

#[test]
fn a_corrected_edit_joins_the_one_that_was_located() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&one_good_one_bad()), Step::reply(&corrected())]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.wait_until(|screen| !screen.contains("1 no location"), "nothing left without a location");

    let requests = server.wait_for_requests(2);
    let asked = requests[1].last_message();
    assert!(asked.contains("fathoms") && asked.contains("    return f'{name}: {metres} m'"), "{asked}");
    assert!(asked.contains("do not send it again"), "{asked}");
    let body = requests[1].body.to_string();
    assert!(body.contains(REQUEST) && body.contains("Unknown names get a depth of zero"), "{body}");

    pty.key("PageUp");
    pty.wait_for("asked again, 1 of 3");
    pty.key("PageDown");
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 2");
    pty.key("w");
    pty.wait_for("Wrote 2 hunks: ");
    let wanted = HARBOUR.replace("TABLE[name]", "TABLE.get(name, 0.0)").replace("{metres} m'", "{metres:.1f} metres'");
    assert_eq!(repo.read("harbour.py"), wanted);
    untouched(&repo, &["Change depth and report in harbour.py", "Start the harbour"]);
    quit(&mut pty);
}

#[test]
fn a_model_that_never_learns_is_asked_three_times_more() {
    let repo = harbour_repo();
    let units = ["fathoms", "cables", "leagues", "chains", "links", "poles"];
    let server = ModelServer::start(units.map(|unit| Step::reply(&one_good_one_bad_in(unit))).to_vec());
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("asked again, 3 of 3");
    pty.wait_for("1 pending · ✓ 0 · ✗ 0 · 1 no location");
    pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the last round");
    pty.key("Enter");
    pty.wait_for("no location: harbour.py");
    assert_eq!(server.requests().len(), 4);
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn a_model_that_repeats_itself_is_asked_once_more() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&one_good_one_bad()); 6]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("model is not asked again.");
    pty.wait_for("1 pending · ✓ 0 · ✗ 0 · 1 no location");
    pty.wait_until(|screen| !screen.contains("Esc cancels"), "the end of the round");
    assert_eq!(server.requests().len(), 2);
    pty.key("Enter");
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}
