//! Settings changed while the app runs apply to the next request: edit format, effort, custom commands. Completion does not capture
//! other keys.

use super::{harbour_repo, open, quit, send, wait_for_draft};
use crate::support::server::{MODEL, ModelServer, Step};

#[test]
fn a_command_of_the_repository_is_completed_read_and_sent() {
    let repo = harbour_repo();
    let text = "---\ndescription: Explain a file\narguments: FILE\n---\nExplain $1 to a newcomer.\n";
    repo.file(".rhumb/commands/explain.md", text).commit("Explain");
    let server = ModelServer::start(vec![Step::reply("It knows depths.\n"), Step::reply("It knows bearings.\n")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("charts/compass.py");
    pty.type_text("/expl");
    pty.wait_for("/explain");
    pty.wait_for("of the repository");
    pty.key("Tab");
    pty.type_text("harb");
    pty.wait_for("▸ harbour.py");
    pty.key("Tab");
    pty.key("Enter");
    wait_for_draft(&pty, "Explain harbour.py to a newcomer.");
    assert!(server.requests().is_empty(), "it was sent unread");
    pty.key("Enter");
    pty.wait_for("It knows depths.");
    pty.wait_for("Your message mentions harbour.py (");
    pty.key("Alt-n");
    // A file that was read is sent at once.
    send(&pty, "/explain charts/compass.py");
    pty.wait_for("It knows bearings.");
    pty.wait_for("Your message mentions charts/compass.py (");
    pty.key("Alt-y");
    let sent = server.requests()[1].body.to_string();
    assert!(sent.contains("Explain charts/compass.py to a newcomer."), "{sent}");
    quit(&mut pty);
}

#[test]
fn what_is_chosen_travels_with_the_next_request() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("Nothing to do.\n")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("charts/compass.py");
    send(&pty, "/edit-format udiff");
    pty.wait_for("The edit format is udiff");
    send(&pty, "/reasoning-effort high");
    pty.wait_for("The reasoning effort is high.");
    send(&pty, "/settings thinking");
    pty.wait_for("this session");
    pty.key("Esc");
    send(&pty, "look around");
    pty.wait_for("Nothing to do.");
    let request = &server.requests()[0];
    assert_eq!(request.body["reasoning_effort"], "high", "{}", request.body);
    assert!(request.body.to_string().contains("@@"), "no word of unified diffs");
    quit(&mut pty);
}

#[test]
fn a_model_that_the_server_does_not_list_is_reported_and_used() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("Nothing to do.\n")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("charts/compass.py");
    let misspelt = format!("{MODEL}x");
    send(&pty, &format!("/model {misspelt}"));
    pty.wait_for(&format!("does not list {misspelt}."));
    pty.wait_for(&format!("Did you mean {MODEL}?"));
    send(&pty, "look around");
    pty.wait_for("Nothing to do.");
    assert_eq!(server.requests()[0].body["model"], misspelt.as_str());
    quit(&mut pty);
}

#[test]
fn completion_opens_and_closes_without_taking_a_key() {
    let repo = harbour_repo();
    let mut pty = open(&repo.path(), None, &[]);
    pty.wait_for("charts/compass.py");
    pty.type_text("/no");
    pty.key("Esc");
    pty.type_text("pe");
    pty.wait_for("unknown command");
    pty.key("Ctrl-c");
    pty.type_text("/ad");
    pty.wait_for("▸ /add");
    pty.key("Tab");
    pty.type_text("comp");
    pty.wait_for("▸ charts/compass.py");
    pty.key("Enter");
    wait_for_draft(&pty, "/add charts/compass.py");
    pty.key("Enter");
    pty.wait_for("✎ charts/compass.py");
    // There is no completion, so Tab moves the focus to the map.
    pty.key("Tab");
    pty.key("?");
    pty.wait_for("REPO MAP");
    pty.key("Esc");
    quit(&mut pty);
}
