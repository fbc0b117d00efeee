//! `rhumb ask`, and `rhumb edit` in other modes than code.

use super::*;

fn asked(repo: &TestRepo, server: &ModelServer, args: &[&str]) -> (i32, String, String) {
    let mut command = rhumb(&repo.path(), args);
    command.args(["--file", "harbour.py", "--base-url", &server.base_url(), "--model", MODEL]);
    run(command)
}

#[test]
fn a_question_is_answered_and_nothing_changed() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let (code, out, err) = asked(&repo, &server, &["ask", "-m", "what is it?"]);
    assert!(code == 0 && out.contains("REPLACE"), "{code} {out} {err}");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let request = &server.requests()[0];
    assert!(request.body["messages"][0]["content"].as_str().unwrap().contains("Do not write edits"));
}

#[test]
fn a_plan_is_carried_out_by_the_editor_model() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("Give a default."), Step::reply(&good())]);
    let args = ["edit", "-m", "Make it safe", "--architect", "--editor-model", "small", "--yes"];
    let (code, out, err) = asked(&repo, &server, &args);
    assert_eq!(code, 0, "{out} {err}");
    assert!(out.contains("Give a default.") && err.contains("the plan goes to small"), "{out} {err}");
    assert_eq!(repo.read("harbour.py"), changed());
    assert_eq!(repo.subjects(), ["Change depth in harbour.py", "Start the harbour"]);
    let requests = server.requests();
    assert_eq!((&requests[0].body["model"], &requests[1].body["model"]), (&MODEL.into(), &"small".into()));
    let editor = requests[1].body.to_string();
    assert!(requests[1].last_message().contains("Give a default."), "{editor}");
    assert!(!editor.contains("Make it safe") && !editor.contains("class Compass"), "{editor}");
}

#[test]
fn modes_that_there_are_not_are_refused() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    for args in [
        &["edit", "-m", "x", "--mode", "editor"][..],
        &["edit", "-m", "x", "--mode", "ask", "--architect"],
        &["ask", "-m", "x", "--mode", "code"],
        &["ask"],
    ] {
        let (code, out, err) = asked(&repo, &server, args);
        assert!(code == 2 && out.is_empty() && !err.is_empty(), "{args:?}: {code} {out} {err}");
    }
    assert!(server.requests().is_empty());
}
