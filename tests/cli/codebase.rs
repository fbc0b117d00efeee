//! `@codebase` without the app: the request, the context that a model may request, and the cost.

use super::*;

const QUESTION: &str = "@codebase how is the depth of a harbour reported?";

const BLOCK: &str = "More, please.\n\n```rhumb-search\nsymbol: bearing\nread: charts/compass.py:1-3\nread: .env:1-9\n\
                     read: ../outside.py:1-9\n```\n";

fn ask(repo: &TestRepo, server: &ModelServer, flags: &[&str]) -> (i32, String, String) {
    let mut command = rhumb(&repo.path(), &["ask", "-m", QUESTION]);
    command.args(flags).args(["--base-url", &server.base_url(), "--model", MODEL]);
    run(command)
}

/// All messages of a request as one text.
fn said(server: &ModelServer, request: usize) -> String {
    let messages = server.requests()[request].body["messages"].clone();
    let content = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    messages.as_array().unwrap().iter().map(content).collect::<Vec<_>>().join("\n\n")
}

#[test]
fn the_server_gets_the_passages_with_the_numbers_of_their_lines() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("In `harbour.py:5-7`.\n")]);
    let (code, out, err) = ask(&repo, &server, &["--json"]);
    assert_eq!(code, 0, "{err}");
    let sent = said(&server, 0);
    assert!(sent.contains("harbour.py:1-7\n1  def depth(name):\n2      return TABLE[name]\n"), "{sent}");
    assert!(!sent.contains("rhumb-search"), "nobody is there to be asked for more: {sent}");
    let events: Vec<Value> = out.lines().map(json).collect();
    let passages = events.iter().find(|event| event["event"] == "passages").unwrap();
    let all = passages["passages"].as_array().unwrap();
    assert!(all.iter().any(|passage| passage["path"] == "harbour.py" && passage["end_line"] == 7), "{passages}");
}

#[test]
fn a_file_in_the_chat_is_no_passage_as_well() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("Yes.\n")]);
    let (code, _, err) = ask(&repo, &server, &["--file", "harbour.py"]);
    assert_eq!(code, 0, "{err}");
    let sent = said(&server, 0);
    assert_eq!((sent.matches("def report(name):").count(), sent.contains("  def report")), (1, false), "{sent}");
}

#[test]
fn the_model_gets_more_as_often_as_it_may_and_nothing_that_is_not_listed() {
    let repo = harbour_repo();
    repo.file(".env", "TOKEN=canary\n");
    let server = ModelServer::start(vec![Step::reply(BLOCK), Step::reply(BLOCK), Step::reply(BLOCK), Step::reply("x")]);
    let (code, _, err) = ask(&repo, &server, &["--codebase-more", "always"]);
    assert_eq!((code, server.requests().len()), (0, 3), "{err}");
    assert!(said(&server, 0).contains("rhumb-search"));
    let round = said(&server, 1);
    assert!(round.contains("More, please.") && round.contains("def bearing(self, name)"), "{round}");
    assert!(
        round.contains(".env is not a readable file of the repository") && !round.contains("TOKEN=canary"),
        "{round}"
    );
    assert!(round.contains("../outside.py is not a readable file of the repository"), "{round}");
    let last = &server.requests()[2];
    assert!(!last.last_message().contains("symbol: name_of_a_definition"), "the last round offers no other");
    assert!(err.contains("asks for more of the repository, after 2 rounds"), "{err}");
}

#[test]
fn without_the_flag_the_model_gets_no_more() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(BLOCK)]);
    let (code, _, err) = ask(&repo, &server, &[]);
    assert_eq!((code, server.requests().len()), (0, 1));
    assert!(err.contains("asks for more of the repository, which codebase_more does not allow"), "{err}");
}

#[test]
fn a_mark_without_a_question_or_without_a_provider_sends_nothing() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    let mut command = rhumb(&repo.path(), &["ask", "-m", "@codebase"]);
    command.args(["--base-url", &server.base_url(), "--model", MODEL]);
    let (code, out, err) = run(command);
    assert!(code == 2 && out.is_empty() && err.contains("The message has no question, only @codebase"), "{code} {err}");
    let (code, _, err) = run(rhumb(&repo.path(), &["ask", "-m", QUESTION]));
    assert!(code == 2 && err.contains("no provider is configured"), "{code} {err}");
    assert!(server.requests().is_empty());
    let (code, out, err) = run(rhumb(&repo.path(), &["ask", "--show-prompt", "-m", QUESTION]));
    assert!(code == 0 && out.contains("5  def report(name):"), "{code} {out} {err}");
}

#[test]
fn a_repository_with_no_files_is_asked_all_the_same() {
    let repo = TestRepo::new();
    let server = ModelServer::start(vec![Step::reply("There is nothing.\n")]);
    let (code, _, err) = ask(&repo, &server, &[]);
    assert_eq!(code, 0, "{err}");
    assert!(
        said(&server, 0).contains("no passage speaks of it") && err.contains("No passage of the repository"),
        "{err}"
    );
}

#[test]
fn a_model_that_helps_is_asked_first_and_its_failures_cost_nothing_but_help() {
    let repo = harbour_repo();
    let plan = "{\"identifiers\": [\"bearing\"], \"paths\": [], \"signature\": \"def bearing(self, name)\"}";
    let server = ModelServer::start(vec![Step::reply(plan), Step::reply("by heart"), Step::reply("Yes.\n")]);
    let mut command = rhumb(&repo.path(), &["ask", "--json", "-m", QUESTION]);
    command.args(["--base-url", &server.base_url(), "--model", MODEL]);
    command.env("RHUMB_CODEBASE_PLANNING", "true").env("RHUMB_CODEBASE_RERANK", "true");
    let (code, out, err) = run(command);
    assert_eq!((code, server.requests().len()), (0, 3), "{err}");
    assert!(said(&server, 0).contains("identifiers") && said(&server, 1).contains("1. "), "the plan, then the order");
    assert!(err.contains("order of the model is invalid"), "{err}");
    let events: Vec<Value> = out.lines().map(json).collect();
    assert_eq!(events.iter().filter(|event| event["event"] == "spent").count(), 3, "{out}");
    let refused = ModelServer::start(vec![Step::error(400, "no"), Step::reply("Yes.\n")]);
    let mut command = rhumb(&repo.path(), &["ask", "-m", QUESTION]);
    command.args(["--base-url", &refused.base_url(), "--model", MODEL]);
    command.env("RHUMB_CODEBASE_HYDE", "true").env("RHUMB_CODEBASE_RERANK", "true");
    let (code, _, err) = run(command);
    assert_eq!((code, refused.requests().len()), (0, 2), "{err}");
    assert!(err.contains("did not help with the search"), "{err}");
}

#[test]
fn the_order_of_the_model_decides_which_functions_come_first() {
    let repo = harbour_repo();
    let ask = |order: &str| {
        let server = ModelServer::start(vec![Step::reply(order), Step::reply("Yes.\n")]);
        let mut command = rhumb(&repo.path(), &["ask", "--json", "-m", QUESTION]);
        command.args(["--base-url", &server.base_url(), "--model", MODEL]).env("RHUMB_CODEBASE_RERANK", "true");
        let (code, out, err) = run(command);
        assert_eq!((code, server.requests().len()), (0, 2), "{err}");
        let events: Vec<Value> = out.lines().map(json).collect();
        let passages = events.iter().find(|event| event["event"] == "passages").unwrap()["passages"].clone();
        let line = |passage: &Value| format!("{}:{}", passage["path"].as_str().unwrap(), passage["line"]);
        let order: Vec<String> = passages.as_array().unwrap().iter().map(line).collect();
        (said(&server, 0), order)
    };
    let (list, usual) = ask("in any order");
    // An oracle that knows that the method in the other file matters most.
    let oracle = list.lines().find(|line| line.contains("charts/compass.py") && line.contains("bearing")).unwrap();
    assert!(list.contains("def bearing(self, name)") && list.contains("words of the message"), "{list}");
    assert!(!usual[0].starts_with("charts/compass.py"), "{usual:?}");
    let (_, asked) = ask(oracle.split('.').next().unwrap());
    assert!(asked[0].starts_with("charts/compass.py"), "{asked:?}");
}
