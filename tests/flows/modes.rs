//! Modes and mentions: the architect mode, files that a model asks for, and names with `@`.

use super::{
    HARBOUR, KEY, REQUEST, SUBJECT, harbour_repo, harbour_with_first_hunk, open, quit, rhumb, search_replace, send,
    untouched,
};
use crate::support::pty::Pty;
use crate::support::server::{MODEL, ModelServer, Request, Step};

/// The models of the requests, in order.
fn models(requests: &[Request]) -> Vec<String> {
    requests.iter().map(|request| request.body["model"].as_str().unwrap_or_default().to_owned()).collect()
}

fn first_block() -> String {
    let whole = search_replace();
    whole[..whole.find("The report rounds").unwrap()].to_owned()
}

#[test]
fn a_plan_is_changed_and_the_editor_model_carries_it_out() {
    let repo = harbour_repo();
    // A long plan must not be collapsed to a chip like a long paste.
    let steps: String = (1..=40).map(|step| format!("Step {step}.\n")).collect();
    let plan = format!("{steps}Let depth use get with a default.");
    let server =
        ModelServer::start(vec![Step::reply(&plan), Step::reply(&first_block()), Step::reply("You are welcome.")]);
    let url = server.base_url();
    let env = [
        ("RHUMB_API_KEY", KEY),
        ("RHUMB_BASE_URL", url.as_str()),
        ("RHUMB_MODEL", MODEL),
        ("RHUMB_EDITOR_MODEL", "small-model"),
    ];
    let mut pty = Pty::spawn(&rhumb(), &["--file", "harbour.py"], &repo.path(), &env, 160, 48);
    pty.wait_for("❯");
    send(&pty, &format!("/architect {REQUEST}"));
    pty.wait_for("The plan is ready");
    pty.wait_for("Alt-e change it first");
    pty.key("Alt-e");
    pty.wait_until(|screen| screen.matches("Let depth use get with").count() == 2, "the plan in the composer");
    pty.wait_for("the plan, for the editor model");
    pty.type_text(" The default is 0.0.");
    pty.key("Enter");
    pty.wait_for("review · 1 pending");

    let requests = server.wait_for_requests(2);
    assert_eq!(models(&requests), [MODEL, "small-model"]);
    let editor = requests[1].body.to_string();
    let message = requests[1].last_message();
    assert!(message.starts_with("Step 1.\nStep 2.\n"), "{editor}");
    assert!(message.contains("get with a default. The default is 0.0."), "{editor}");
    assert!(!editor.contains(REQUEST) && editor.contains("def report(name)"), "{editor}");
    assert!(!editor.contains("bearing_to"), "a plan needs no map: {editor}");

    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 1");
    pty.key("w");
    pty.wait_for("Committed as");
    assert_eq!(repo.read("harbour.py"), harbour_with_first_hunk());
    untouched(&repo, &[SUBJECT, "Start the harbour"]);

    pty.key("Alt-1");
    send(&pty, "Thank you");
    pty.wait_for("You are welcome");
    let third = &server.wait_for_requests(3)[2];
    assert_eq!(third.body["model"], MODEL, "the mode was for one message");
    quit(&mut pty);
}

#[test]
fn a_file_that_the_answer_names_is_added_with_one_key_and_its_edits_are_kept() {
    let repo = harbour_repo();
    let reply = format!("charts/compass.py calls depth as well; I have to see it.\n\n{}", search_replace());
    let server = ModelServer::start(vec![Step::reply(&reply), Step::reply("It needs no change.")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    send(&pty, REQUEST);
    pty.wait_for("review · 2 pending");
    pty.wait_for("The answer mentions charts/compass.py (");
    pty.key("Alt-s");
    pty.wait_for("It needs no change.");
    pty.wait_for("✎ charts/compass.py");
    pty.wait_for("review · 2 pending");
    let second = &server.wait_for_requests(2)[1];
    assert!(second.last_message().contains("charts/compass.py is in the chat now"), "{}", second.last_message());
    assert!(second.body.to_string().contains("from harbour import depth"));
    pty.key("Enter");
    pty.type_text("gy");
    pty.wait_for("✓ 2");
    pty.key("w");
    pty.wait_for("Wrote 2 hunks: ");
    quit(&mut pty);
}

#[test]
fn a_file_that_the_draft_names_can_be_added_before_it_is_sent_and_holds_nothing_up() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("It turns."), Step::reply("It still does.")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("harbour.py");
    pty.type_text("explain (charts/compass.py:4)");
    pty.wait_for("? Your message mentions charts/compass.py (");
    pty.key("Alt-r");
    pty.wait_for("Added to the chat (read-only): charts/compass.py.");
    pty.key("Enter");
    pty.wait_for("It turns.");
    assert!(server.requests()[0].body.to_string().contains("from harbour import depth"));
    send(&pty, "and harbour.py?");
    pty.wait_for("It still does.");
    pty.wait_for("? Your message mentions harbour.py (");
    assert!(!server.requests()[1].body.to_string().contains("rising = half < 6"));
    quit(&mut pty);
    assert_eq!(repo.read("harbour.py"), HARBOUR);
}

#[test]
fn the_files_of_a_task_are_named_until_they_stand_and_then_approved() {
    let repo = harbour_repo();
    let list = "- harbour.py — depth has to change\n- charts/compass.py — it calls depth\n";
    let server = ModelServer::start(vec![Step::reply(list), Step::reply(list), Step::reply(&search_replace())]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("harbour.py");
    send(&pty, &format!("/context {REQUEST}"));
    pty.wait_for("The task needs 2 files");
    let requests = server.wait_for_requests(2);
    assert!(!requests[0].body.to_string().contains("rising = half < 6"), "only the map shows it");
    assert!(requests[1].body.to_string().contains("rising = half < 6"), "the second time it is shown");
    pty.key("Alt-c");
    pty.wait_for("review · 2 pending");
    let third = &server.wait_for_requests(3)[2];
    assert!(third.last_message().contains(REQUEST), "{}", third.last_message());
    quit(&mut pty);
    untouched(&repo, &["Start the harbour"]);
}

#[test]
fn mentioned_files_are_sent() {
    let repo = harbour_repo();
    repo.file("notes.md", "the tide is out\n");
    let server = ModelServer::start(vec![Step::reply("All fine.")]);
    let mut pty = open(&repo.path(), Some(&server), &[]);
    pty.wait_for("harbour.py");
    send(&pty, "review @diff and @bearing_to with @harbour.py for @nobody");
    pty.wait_for("All fine.");
    pty.wait_for("✎ harbour.py");
    let request = &server.requests()[0];
    let asked = request.last_message();
    assert!(asked.starts_with("review @diff and @bearing_to"), "{asked}");
    assert!(asked.contains("+the tide is out") && asked.contains("    return depth(name)"), "{asked}");
    assert!(asked.contains("charts/compass.py"), "{asked}");
    assert!(request.body.to_string().contains("rising = half < 6"));
    pty.wait_for("shared: the uncommitted diff");
    quit(&mut pty);
}

#[test]
fn a_question_about_the_program_is_answered_from_the_manual() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply("With /undo.")]);
    let mut pty = open(&repo.path(), Some(&server), &["--file", "harbour.py"]);
    pty.wait_for("✎ harbour.py");
    send(&pty, "/help how do I undo a write?");
    pty.wait_for("With /undo.");
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("rhumb manual: README.md"), "{body}");
    assert!(!body.contains("rising = half") && !body.contains("bearing_to"), "the code stays here: {body}");
    quit(&mut pty);
}

#[test]
fn of_a_large_folder_the_files_that_fit_are_added_to_the_chat() {
    let repo = harbour_repo();
    let depth = "DEPTH = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n".repeat(60);
    for number in 0..6 {
        repo.file(&format!("berths/b{number}.py"), &depth);
    }
    let server = ModelServer::start(vec![Step::reply("All fine.")]);
    let url = server.base_url();
    let env = [
        ("RHUMB_API_KEY", KEY),
        ("RHUMB_BASE_URL", url.as_str()),
        ("RHUMB_MODEL", MODEL),
        ("RHUMB_CONTEXT_WINDOW", "20000"),
    ];
    let mut pty = Pty::spawn(&rhumb(), &[], &repo.path(), &env, 160, 48);
    pty.wait_for("❯");
    send(&pty, "look at @berths/");
    pty.wait_for("All fine.");
    pty.wait_for("of 6 files of berths/ were added: a folder may use 4375 tokens");
    pty.wait_for("✎ berths/b0.py");
    assert!(!pty.screen().contains("✎ berths/b5.py"), "{}", pty.screen());
    quit(&mut pty);
}
