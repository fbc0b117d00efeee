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

#[test]
fn the_words_of_the_command_line_are_the_request() {
    for args in [
        &["ask", "where is the depth?"][..],
        &["ask", "where", "is", "the", "depth?"],
        &["edit", "where is", "the depth?"],
    ] {
        let repo = harbour_repo();
        let server = ModelServer::start(vec![Step::reply("In a table.")]);
        let (_, out, err) = asked(&repo, &server, args);
        let sent = server.requests()[0].last_message().to_owned();
        assert!(sent.starts_with("where is the depth?"), "{args:?}: {sent} {out} {err}");
    }
    // With -m, arguments are files, and `@` names a file within the message. A folder is not a file.
    for args in [
        &["ask", "-m", "why?", "charts/compass.py"][..],
        &["ask", "why", "does", "@charts/compass.py", "turn?"],
        &["ask", "what is in charts/compass.py?", "--read", "charts/compass.py"],
        &["ask", "what", "is", "in", "charts", "--file", "charts/compass.py"],
    ] {
        let repo = harbour_repo();
        let server = ModelServer::start(vec![Step::reply("To the north.")]);
        let (code, out, err) = asked(&repo, &server, args);
        let sent = server.requests()[0].body.to_string();
        assert!(code == 0 && sent.contains("return depth(name)"), "{args:?}: {sent} {out} {err}");
    }
}

#[test]
fn a_path_among_the_words_is_questioned_and_nothing_is_sent() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    for (args, commands) in [
        (
            &["edit", "charts/compass.py"][..],
            ["rhumb edit -m 'WHAT TO DO' charts/compass.py", "rhumb edit -m charts/compass.py\n"],
        ),
        (&["edit", "charts"], ["rhumb edit 'WHAT TO DO @charts/'", "rhumb edit -m charts\n"]),
        (
            &["ask", "what", "is", "notes.md", "for?"],
            ["rhumb ask -m 'what is for?' notes.md", "rhumb ask -m 'what is notes.md for?'"],
        ),
        (
            &["edit", "harbour.py", "notes.md"],
            ["rhumb edit -m 'WHAT TO DO' harbour.py notes.md", "rhumb edit -m 'harbour.py notes.md'"],
        ),
    ] {
        let (code, out, err) = asked(&repo, &server, args);
        assert_eq!(code, 2, "{args:?}: {out} {err}");
        assert!(commands.iter().all(|command| err.contains(command)), "{args:?}: {err}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn words_without_a_command_are_the_draft_of_the_app() {
    let repo = harbour_repo();
    let opened = |args: &[&str]| {
        let mut command = rhumb(&repo.path(), &["--plain"]);
        command.args(args).write_stdin("/draft\n/ls\n");
        run(command)
    };
    for (args, draft, file) in [
        (&["make it safe"][..], "make it safe", None),
        (&["make", "it", "safe"], "make it safe", None),
        (&["harbour.py", "make it safe"], "make it safe", Some("harbour.py")),
        (&["why does harbour.py", "sink"], "why does harbour.py sink", None),
        (&["why", "does", "harbour.py", "sink"], "why does harbour.py sink", Some("harbour.py")),
        (&["fix", "the", "charts"], "fix the charts", None),
    ] {
        let (code, out, err) = opened(args);
        assert!(code == 0 && err.is_empty(), "{args:?}: {out} {err}");
        assert!(out.contains(&format!("draft: {draft}\n")), "{args:?}: {out}");
        assert_eq!(out.contains("note: harbour.py"), file.is_some(), "{args:?}: {out}");
    }
    let (code, out, _) = opened(&["harbour.py", "notes.md"]);
    assert!(code == 0 && !out.contains("draft: "), "{out}");
    for (word, told) in [("modles", "did you mean rhumb models?"), ("harbor.py", "there is no file harbor.py")] {
        let (code, out, err) = opened(&[word]);
        assert!(code == 2 && out.is_empty() && err.contains(told), "{word}: {out} {err}");
    }
}
