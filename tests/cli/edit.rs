//! `rhumb edit`: one turn without the app, against a server.

use super::*;

/// `rhumb edit` against a server.
#[track_caller]
pub fn edit(repo: &TestRepo, server: &ModelServer, flags: &[&str]) -> (i32, String, String) {
    let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it safe\n\nfor unknown names", "--file", "harbour.py"]);
    command.args(flags).args(["--base-url", &server.base_url(), "--model", MODEL]);
    run(command)
}

fn prose_and(edit: &str) -> String {
    format!("Unknown names get zero.\n\n{edit}Fair winds.\n")
}

#[test]
fn a_turn_is_streamed_written_and_committed() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&prose_and(&good()))]);
    let (code, out, err) = edit(&repo, &server, &["--yes"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Unknown names get zero.") && out.contains("Fair winds."), "{out}");
    assert_eq!(repo.read("harbour.py"), changed());
    assert_eq!(repo.subjects(), ["Change depth in harbour.py", "Start the harbour"]);
    untouched(&repo);
    let request = &server.requests()[0];
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    let body = request.body.to_string();
    assert!(body.contains("for unknown names") && body.contains("class Compass"), "{body}");
}

#[test]
fn a_turn_without_a_commit_leaves_the_change_in_the_work_tree() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let (code, _, err) = edit(&repo, &server, &["--yes", "--no-commit"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(repo.subjects(), ["Start the harbour"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), " M harbour.py\n");
}

#[test]
fn flags_before_the_command_are_honoured_or_refused() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let url = server.base_url();
    let edit = ["edit", "-m", "x", "--yes", "--base-url", &url, "--model", MODEL];
    for flag in [&["--theme", "rhumb-16"][..], &["--test-panic"]] {
        let (code, out, err) = run(rhumb(&repo.path(), &[flag, &edit].concat()));
        assert!(code == 2 && out.is_empty() && err.contains(flag[0]), "{flag:?}: {code} {out} {err}");
    }
    assert!(server.requests().is_empty());
    let (code, _, err) = run(rhumb(
        &repo.path(),
        &[&["--no-commit", "--file", "harbour.py", "--file", "./harbour.py"][..], &edit].concat(),
    ));
    assert_eq!(code, 0, "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
    assert_eq!(repo.subjects(), ["Start the harbour"], "a commit in spite of --no-commit");
    let body = server.requests()[0].body.to_string();
    assert_eq!(body.matches("return TABLE[name]").count(), 1, "{body}");

    let (code, out, err) = run(rhumb(&repo.path(), &["--file", "harbour.py", "map"]));
    assert!(code == 2 && out.is_empty() && err.contains("--file"), "{code} {out} {err}");
}

#[test]
fn names_count_from_the_current_folder() {
    let repo = harbour_repo();
    let charts = repo.path().join("charts");
    let reply = block("charts/compass.py", "        return depth(name)\n", "        return 0\n");
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let url = server.base_url();
    let args = ["edit", "-m", "x", "--yes", "--file", "compass.py", "--read", "../harbour.py"];
    let mut command = rhumb(&charts, &args);
    command.args(["--base-url", &url, "--model", MODEL]);
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{out} {err}");
    assert!(repo.read("charts/compass.py").contains("return 0"));
    let body = server.requests()[0].body.to_string();
    assert!(body.contains("charts/compass.py") && body.contains("return TABLE[name]"), "{body}");

    let (_, out, _) = run(rhumb(&charts, &["map", "--format", "json", "--chat-file", "compass.py"]));
    assert!(json(&out)["files"].as_array().unwrap().iter().all(|file| file["path"] != "charts/compass.py"), "{out}");

    let whole = repo.path().join("charts/../harbour.py");
    for name in ["../harbour.py", "harbour.py", whole.to_str().unwrap()] {
        let mut command = rhumb(&charts, &["apply", "--dry-run", "--json", "--file", name, "-"]);
        command.write_stdin(good());
        let (code, out, err) = run(command);
        assert_eq!(code, 0, "{name}: {err}");
        assert_eq!(json(&out)["hunks"][0]["flags"], serde_json::json!([]), "{name}: {out}");
    }
}

#[test]
fn without_a_yes_the_proposal_is_printed_and_nothing_is_written() {
    for flags in [&["--dry-run"][..], &["--dry-run", "--yes"], &[]] {
        let repo = harbour_repo();
        let server = ModelServer::start(vec![Step::reply(&prose_and(&good()))]);
        let (code, out, err) = edit(&repo, &server, flags);
        assert_eq!(code, 0, "{flags:?} {err}");
        assert!(out.contains("+    return TABLE.get(name, 0.0)"), "{out}");
        untouched(&repo);
        assert_eq!(repo.subjects(), ["Start the harbour"]);
    }
}

#[test]
fn edits_that_cannot_be_located_are_requested_again_and_the_rest_is_kept() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![
        Step::reply(&(good() + &without_a_place())),
        Step::reply(&block("harbour.py", "    metres = depth(name)\n", "    metres = round(depth(name))\n")),
    ]);
    let (code, out, err) = edit(&repo, &server, &["--yes", "--json"]);
    assert_eq!(code, 0, "{err}");
    let again: Vec<Value> = out.lines().map(json).filter(|event| event["event"] == "again").collect();
    assert_eq!((again.len(), &again[0]["round"], &again[0]["of"]), (1, &1.into(), &3.into()));
    let asked = server.requests()[1].last_message().to_owned();
    let text = again[0]["text"].as_str().unwrap();
    assert!(asked.strip_prefix(text).is_some_and(|reminder| reminder.starts_with("\n\n(Edits: ")), "{asked}");
    assert_eq!(repo.read("harbour.py"), changed().replace("= depth(name)", "= round(depth(name))"));
}

#[test]
fn the_request_can_be_seen_without_being_sent() {
    let repo = harbour_repo();
    let shown = |flags: &[&str]| {
        let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it safe", "--file", "harbour.py", "--show-prompt"]);
        command.args(flags);
        run(command)
    };
    let (code, out, err) = shown(&[]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("── system\n━━ system · ") && out.contains("━━ harbour.py (editable) · "), "{out}");
    assert!(out.contains(&repo.read("harbour.py")) && out.contains("Make it safe"), "{out}");
    let (_, out, _) = shown(&["--json"]);
    let prompt = json(&out);
    let kinds: Vec<&str> =
        prompt["chunks"].as_array().unwrap().iter().map(|chunk| chunk["kind"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("system", "reminder"), "{kinds:?}");
}

#[test]
fn a_long_output_is_sent_shortened_and_stored_completely() {
    let (repo, home) = (harbour_repo(), tempfile::tempdir().unwrap());
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let log: String = (0..4_000).map(|number| format!("test depth_{number} ... ok\n")).collect();
    let mut command =
        rhumb(&repo.path(), &["--base-url", &server.base_url(), "--model", MODEL, "edit", "-m", "Make it pass"]);
    command
        .args(["--with-output", "-", "--yes", "--file", "harbour.py"])
        .env("HOME", home.path())
        .write_stdin(log.clone());
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{out} {err}");
    let requests = server.requests();
    let sent = requests[0].body["messages"].to_string();
    assert!(sent.contains("test depth_0 ... ok") && sent.contains("test depth_3999 ... ok"), "{sent}");
    assert!(!sent.contains("test depth_2000 "), "its middle is left out");
    let path = err.lines().find_map(|line| line.split_once("the whole output is in ")).unwrap().1;
    assert_eq!(fs::read_to_string(path).unwrap(), log);
    assert!(sent.contains(path), "{sent}");
    assert_eq!(repo.subjects()[0], "Change depth in harbour.py");
}

#[test]
fn the_users_prompts_replace_the_bundled_ones() {
    let repo = harbour_repo();
    let home = tempfile::tempdir().unwrap();
    let prompts = home.path().join("prompts");
    fs::create_dir_all(&prompts).unwrap();
    fs::write(prompts.join("code.md"), "Mind the {fence} and the tide.").unwrap();
    fs::write(prompts.join("coed.md"), "never sent").unwrap();
    fs::create_dir_all(home.path().join("rhumb")).unwrap();
    let setting = format!("prompts = {:?}\nlanguage = \"Frisian\"\n", prompts.display().to_string());
    fs::write(home.path().join("rhumb/config.toml"), setting).unwrap();
    let mut command = rhumb(&repo.path(), &["edit", "-m", "x", "--show-prompt"]);
    command.env("XDG_CONFIG_HOME", home.path());
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Mind the ``` and the tide.") && !out.contains("You are pairing"), "{out}");
    assert!(out.contains("- Answer in this language: Frisian\n"), "{out}");
    assert!(err.contains("`coed`") && err.contains("did you mean `code`?"), "{err}");
}

#[test]
fn an_image_in_the_chat_is_sent_to_a_model_that_accepts_images() {
    let repo = harbour_repo();
    let header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0";
    fs::write(repo.path().join("quay.png"), header).unwrap();
    let shown = |model: &str| {
        run(rhumb(&repo.path(), &["edit", "-m", "x", "--file", "quay.png", "--show-prompt", "--model", model]))
    };
    let (code, out, err) = shown("gpt-4o");
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("━━ quay.png (picture) · ") && out.contains("[quay.png: image/png, 29 bytes]"), "{out}");
    let (code, _, err) = shown("blind-model");
    assert!(code == 2 && err.contains("quay.png") && err.contains("accepts no images"), "{err}");
}

#[test]
fn a_dry_run_shows_the_very_request_that_it_sends() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good()); 2]);
    let (code, out, err) = edit(&repo, &server, &["--dry-run", "--json"]);
    assert_eq!(code, 0, "{err}");
    let shown = out.lines().map(json).find(|event| event["event"] == "prompt").unwrap();
    let sent = server.requests();
    let messages = sent[0].body["messages"].as_array().unwrap();
    assert_eq!(shown["messages"].as_array().unwrap().len(), messages.len());
    for (shown, sent) in shown["messages"].as_array().unwrap().iter().zip(messages) {
        assert_eq!((&shown["role"], &shown["content"]), (&sent["role"], &sent["content"]));
    }
    let (_, out, err) = edit(&repo, &server, &["--dry-run"]);
    let summary: Vec<&str> = err.lines().skip_while(|line| !line.contains(&format!("request to {MODEL}: "))).collect();
    assert!(summary[0].contains(" tokens, price unknown"), "{err}");
    assert!(summary.iter().any(|line| line.ends_with("  harbour.py (editable)")), "{err}");
    assert!(err.contains("--show-prompt") && !err.contains("def report(name)"), "the prompt itself is long: {err}");
    assert!(out.contains("+    return TABLE.get(name, 0.0)"), "{out}");
}

#[test]
fn a_model_that_never_learns_is_asked_as_often_as_is_configured() {
    // Each answer has a different fault.
    let wrong = |round: usize| without_a_place().replace("strict=True", &format!("strict={round}"));
    for (rounds, asked) in [("2", 3), ("0", 1)] {
        let repo = harbour_repo();
        let steps = (0..5).map(|round| Step::reply(&(wrong(round) + &good())));
        let server = ModelServer::start(steps.collect::<Vec<_>>());
        let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it safe", "--file", "harbour.py", "--yes"]);
        command.args(["--base-url", &server.base_url(), "--model", MODEL]).env("RHUMB_EDIT_ROUNDS", rounds);
        let (code, _, err) = run(command);
        assert_eq!((code, server.requests().len()), (1, asked), "{err}");
        assert_eq!(repo.read("harbour.py"), changed());
        assert_eq!(err.contains("asked again, round 2 of 2"), rounds == "2", "{err}");
    }
    let steps = (0..4).map(|round| Step::reply(&wrong(round)));
    let (repo, server) = (harbour_repo(), ModelServer::start(steps.collect::<Vec<_>>()));
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert_eq!((code, server.requests().len()), (1, 4), "{err}");
    untouched(&repo);
}

#[test]
fn a_model_that_repeats_itself_is_asked_once_more() {
    for reply in [without_a_place(), without_a_place() + &good()] {
        let (repo, server) = (harbour_repo(), ModelServer::start(vec![Step::reply(&reply); 4]));
        let (code, _, err) = edit(&repo, &server, &["--yes"]);
        assert_eq!((code, server.requests().len()), (1, 2), "{err}");
        assert!(err.contains("The last answer changed nothing about that, so the model is not asked again."), "{err}");
    }
}

#[test]
fn a_round_that_fails_leaves_what_was_found_before() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&(without_a_place() + &good())), Step::error(401, "no more")]);
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert!(code == 1 && err.contains("no more"), "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
}

#[test]
fn events_are_json_lines_alone() {
    let repo = harbour_repo();
    let first = prose_and(&(without_a_place() + &good()));
    let server = ModelServer::start(vec![Step::reply(&first), Step::reply("No.\n")]);
    let (code, out, err) = edit(&repo, &server, &["--yes", "--json"]);
    assert_eq!(code, 1, "{err}");
    let events: Vec<Value> = out.lines().map(json).collect();
    let of_kind = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    let text: String = of_kind("text").iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(text, first + "No.\n");
    let statuses: Vec<&Value> = of_kind("hunk").iter().map(|event| &event["status"]).collect();
    assert_eq!(statuses, ["refused", "applied"]);
    assert!(of_kind("usage")[0]["output"].is_u64(), "{out}");
    let done = events.last().unwrap();
    assert_eq!((&done["event"], &done["written"]), (&"done".into(), &serde_json::json!(["harbour.py"])));
    let head = repo.git(&["rev-parse", "HEAD"]);
    let commit = done["commit"].as_str().unwrap();
    assert!(commit.len() >= 7 && head.starts_with(commit), "{commit} {head}");
    assert_eq!(repo.read("harbour.py"), changed());
}

#[test]
fn each_failure_of_a_turn_has_its_exit_code() {
    let reply = prose_and(&good());
    let cut = reply.find("Fair").unwrap();
    let cut_off = Step::Cut { chunks: pieces(&reply[..cut]), reason: "length".into() };
    let part = |number| pieces(&format!("Part {number} says something that is new.\n"));
    let endless = (0..6).map(|number| Step::Cut { chunks: part(number), reason: "length".into() }).collect();
    let dropped = Step::Drop { chunks: pieces(&reply[..cut]) };
    let ended = |reason: &str| Step::Cut { chunks: pieces(&reply), reason: reason.into() };
    for (name, steps, code) in [
        ("no edit", vec![Step::reply("Nothing to change.\n")], 1),
        ("wrong key", vec![Step::error(401, &format!("the key {KEY} is wrong"))], 4),
        ("no such model", vec![Step::error(404, "no such model")], 4),
        // Retried once without the optional sections, since the server did not report the limit.
        ("too long", vec![Step::error(413, "too long"); 2], 4),
        ("a web page", vec![Step::Html], 4),
        ("broken off", vec![dropped], 5),
        ("an empty answer", vec![Step::reply("")], 5),
        ("filtered", vec![ended("content_filter")], 5),
        ("a tool", vec![ended("tool_calls")], 5),
        ("cut off", vec![cut_off.clone(), Step::error(400, "enough")], 5),
        ("cut off, and the same again", vec![cut_off; 2], 5),
        ("cut off for ever", endless, 5),
    ] {
        let repo = harbour_repo();
        let server = ModelServer::start(steps.clone());
        let (got, out, err) = edit(&repo, &server, &["--yes"]);
        assert_eq!(got, code, "{name}: {out} {err}");
        assert_eq!(server.requests().len(), steps.len(), "{name} was tried again");
        untouched(&repo);
        assert_eq!(repo.subjects(), ["Start the harbour"], "{name}");
    }
}

#[test]
fn the_end_of_an_answer_is_reported_with_a_hint() {
    let reply = prose_and(&good());
    let ended = |reason: &str| Step::Cut { chunks: pieces(&reply), reason: reason.into() };
    for (step, words) in [
        (Step::reply(""), &["empty answer", "in other words"][..]),
        (ended("content_filter"), &["so nothing of it was applied", "content filter", "in other words"]),
        (ended("tool_calls"), &["so nothing of it was applied", "called a tool", "another model"]),
        (Step::Drop { chunks: pieces(&reply) }, &["so nothing of it was applied"]),
    ] {
        let (repo, server) = (harbour_repo(), ModelServer::start(vec![step]));
        let (_, _, err) = edit(&repo, &server, &["--yes"]);
        assert!(words.iter().all(|word| err.contains(word)), "{words:?} {err}");
    }
    let (repo, server) = (harbour_repo(), ModelServer::start(vec![ended("content_filter"), Step::reply("")]));
    for (code, words) in [(5, "content filter"), (5, "empty answer")] {
        let mut command = rhumb(&repo.path(), &["ask", "-m", "Is it safe?"]);
        command.args(["--base-url", &server.base_url(), "--model", MODEL]);
        let (got, _, err) = run(command);
        assert!(got == code && err.contains(words) && !err.contains("applied"), "{got} {err}");
    }
}

#[test]
fn a_seam_that_nothing_shows_is_not_applied_unseen() {
    let reply = prose_and(&good());
    let at = reply.find("Fair").unwrap();
    let cut = reply[..at].rfind(">>>>>>> REPLACE").unwrap() - 4;
    let steps =
        |rest: String| vec![Step::Cut { chunks: pieces(&reply[..cut]), reason: "length".into() }, Step::reply(&rest)];
    let line = reply[..cut].rfind('\n').unwrap() + 1;
    let line = reply[..line - 1].rfind('\n').unwrap() + 1;
    for (rest, code) in [(&reply[line..], 0), (&reply[cut..], 5)] {
        let repo = harbour_repo();
        let server = ModelServer::start(steps(rest.to_owned()));
        let (got, out, err) = edit(&repo, &server, &["--yes"]);
        assert_eq!(got, code, "{out} {err}");
        assert_eq!(err.contains("does not repeat the last line"), code == 5, "{err}");
    }
}

#[test]
fn a_turn_that_cannot_begin_is_bad_input() {
    let repo = harbour_repo();
    let server = ModelServer::start(Vec::new());
    let url = server.base_url();
    for args in [
        &["edit", "-m", "x"][..],
        &["edit", "-m", "x", "--base-url", &url],
        &["edit", "-m", " ", "--base-url", &url, "--model", MODEL],
        &["edit", "--base-url", &url, "--model", MODEL],
        &["edit", "-m", "x", "--base-url", "no address", "--model", MODEL],
        &["edit", "-m", "x", "--base-url", &url, "--model", MODEL, "--file", "no-such.py"],
        &["edit", "-m", "x", "--base-url", &url, "--model", MODEL, "--file", "../outside.py"],
        &["edit", "-m", "x", "--base-url", &url, "--model", MODEL, "--edit-format", "telepathy"],
    ] {
        let (code, out, err) = run(rhumb(&repo.path(), args));
        assert!(code == 2 && !err.is_empty(), "{args:?}: {code} {out} {err}");
    }
    assert!(server.requests().is_empty());
    untouched(&repo);
}

#[test]
fn a_busy_server_is_retried_and_the_retry_is_reported() {
    let repo = harbour_repo();
    let busy = Step::Status { code: 429, body: "slow down".into(), headers: vec![("retry-after".into(), "0".into())] };
    let server = ModelServer::start(vec![busy, Step::reply(&good())]);
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("try 2 in 0 s"), "{err}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn without_a_terminal_a_wait_is_one_line_for_each_try() {
    let repo = harbour_repo();
    let busy = |seconds: &str| Step::Status {
        code: 429,
        body: "slow down".into(),
        headers: vec![("retry-after".into(), seconds.into())],
    };
    let server = ModelServer::start(vec![busy("2"), busy("1"), Step::reply(&good())]);
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert_eq!(code, 0, "{err}");
    let waits: Vec<&str> = err.lines().filter(|line| line.contains("; try ")).collect();
    assert!(waits.len() == 2 && waits[0].ends_with("try 2 in 2 s") && waits[1].ends_with("try 3 in 1 s"), "{err}");
}

#[test]
fn without_a_key_nothing_is_sent_and_the_sources_of_keys_are_named() {
    let repo = harbour_repo();
    // A request to a provider would go to this proxy.
    let proxy = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    proxy.set_nonblocking(true).unwrap();
    let local = ModelServer::start(vec![Step::reply("a plan")]);
    let url = local.base_url();
    let config = tempfile::tempdir().unwrap();
    let tried = |args: &[&str], input: &str| {
        let mut command = rhumb(&repo.path(), args);
        command.env_remove("RHUMB_API_KEY").env("HTTPS_PROXY", format!("http://{}", proxy.local_addr().unwrap()));
        command.env("XDG_CONFIG_HOME", config.path()).write_stdin(input);
        let (code, out, err) = run(command);
        assert_eq!(code, 2, "{args:?}: {out} {err}");
        assert!(proxy.accept().is_err(), "{args:?}: something was sent: {out} {err}");
        out + &err
    };
    let credentials = config.path().join("rhumb/credentials.toml").display().to_string();
    for args in [
        &["ask", "-m", "hi", "--model", "sonnet"][..],
        &["edit", "-m", "hi", "--model", "anthropic/claude-sonnet-4-5", "--yes"],
        &["edit", "-m", "hi", "--architect", "--model", "sonnet"],
    ] {
        let told = tried(args, "");
        assert!(told.contains("there is no key for anthropic, so nothing was sent"), "{told}");
        assert!(told.contains("ANTHROPIC_API_KEY is not set"), "{told}");
        assert!(told.contains(&credentials) && told.contains("[\"api.anthropic.com\"]"), "{told}");
        assert!(told.contains("\n  → Set the variable") && told.lines().count() == 2, "{told}");
    }
    let told = tried(&["ask", "hi", "--model", "gpt-5"], "");
    assert!(told.contains("gpt-5 needs OPENAI_API_KEY, which is not set"), "{told}");
    let told = tried(&["--plain", "--model", "sonnet"], "hi\n");
    assert!(told.contains("there is none, so the message was not sent.") && !told.contains("tokens sent"), "{told}");
    // No plan is requested if no model can write the edits.
    std::fs::create_dir_all(config.path().join("rhumb")).unwrap();
    std::fs::write(config.path().join("rhumb/rhumb.toml"), format!("[providers.box]\nbase_url = \"{url}\"\n")).unwrap();
    let told = tried(
        &["edit", "-m", "hi", "--architect", "--model", "box/m", "--editor-model", "anthropic/claude-sonnet-4-5"],
        "",
    );
    assert!(told.contains("there is no key for anthropic") && local.requests().is_empty(), "{told}");
}

#[test]
fn a_local_server_that_does_not_run_is_reported_at_once() {
    let repo = harbour_repo();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (code, _, err) =
        run(rhumb(&repo.path(), &["ask", "why?", "--base-url", &format!("http://{free}/v1"), "--model", MODEL]));
    assert_eq!(code, 4, "{err}");
    assert!(err.contains(&format!("nothing listens on {free}")) && err.contains("ollama serve"), "{err}");
    assert!(!err.contains("try 2"), "{err}");
}

#[test]
fn the_app_without_a_terminal_says_what_works_without_one() {
    let repo = harbour_repo();
    for args in [&[][..], &["demo"]] {
        let (code, out, err) = run(rhumb(&repo.path(), args));
        assert!(code == 3 && out.is_empty() && err.contains("rhumb map"), "{code} {out} {err}");
    }
}

#[test]
fn syntax_errors_are_sent_back_until_they_are_fixed_and_the_exit_code_tells_whether_they_are() {
    let broken = block("harbour.py", "    return TABLE[name]\n", "    return TABLE.get(name, 0.0\n");
    let mended = block("harbour.py", "    return TABLE.get(name, 0.0\n", "    return TABLE.get(name, 0.0)\n");
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&broken), Step::reply(&mended)]);
    let (code, out, err) = edit(&repo, &server, &["--yes", "--json"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
    let events: Vec<Value> = out.lines().map(json).collect();
    let checked: Vec<&Value> = events.iter().filter(|event| event["event"] == "checked").collect();
    assert_eq!((&checked[0]["failed"], &checked[1]["failed"]), (&true.into(), &false.into()), "{out}");
    assert!(events.iter().any(|event| event["event"] == "again" && event["round"] == 1), "{out}");
    let asked = server.requests()[1].body.to_string();
    assert!(asked.contains("does not parse any more") && asked.contains("for unknown names"), "{asked}");

    for (flag, code) in [("--no-lint", 0), ("--lint", 1)] {
        let repo = harbour_repo();
        let server = ModelServer::start(vec![Step::reply(&broken), Step::reply("I am out of ideas.")]);
        let ended = edit(&repo, &server, &["--yes", flag]);
        assert_eq!(ended.0, code, "{flag}: {}", ended.2);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_the_flag_to_correct() {
    let repo = harbour_repo();
    for more in [&[][..], &["--show-prompt"]] {
        let server = ModelServer::start(vec![Step::reply(&good())]);
        let (code, _, err) = edit(&repo, &server, &[&["--file", "harbor.py"], more].concat());
        assert!(code == 2 && server.requests().is_empty(), "{code} {err}");
        assert!(err.contains("harbor.py") && err.contains("--file or --read") && !err.contains("/drop"), "{err}");
    }
}

#[test]
fn a_fault_of_an_earlier_round_is_still_one_when_the_next_round_changes_something_else() {
    let broken = block("harbour.py", "    return TABLE[name]\n", "    return TABLE.get(name, 0.0\n");
    let beside =
        [block("harbour.py", "    return TABLE.get(name, 0.0\n", "    return TABLE.get(name, 1.0\n"), new_file()];
    for beside in beside {
        let repo = harbour_repo();
        let server =
            ModelServer::start(vec![Step::reply(&broken), Step::reply(&beside), Step::reply("I am out of ideas.")]);
        let (code, out, err) = edit(&repo, &server, &["--yes", "--json"]);
        let checked = out.lines().map(json).filter(|event| event["event"] == "checked");
        assert!(checked.clone().count() == 2 && checked.clone().all(|event| event["failed"] == true), "{out}{err}");
        assert_eq!((code, server.requests().len()), (1, 3), "{out}{err}");
    }
}

/// A reply that creates a file.
fn new_file() -> String {
    block("lights.py", "", "LIGHTS = 3\n")
}

#[cfg(unix)]
#[test]
fn a_check_that_a_signal_stopped_ends_with_the_code_of_that_signal() {
    for (name, expected) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let repo = harbour_repo();
        let server = ModelServer::start(vec![Step::reply(&good())]);
        let mut command =
            rhumb(&repo.path(), &["edit", "-m", "Make it safe", "--yes", "--test", "--file", "harbour.py"]);
        command.args(["--base-url", &server.base_url(), "--model", MODEL]);
        command.env("RHUMB_TEST_CMD", format!("kill -{name} $PPID; sleep 60"));
        let (code, _, err) = run(command);
        assert_eq!(code, expected, "{name}: {err}");
        assert!(err.contains("the checks were stopped") && repo.read("harbour.py") == changed(), "{name}: {err}");
    }
}

#[test]
fn own_changes_are_left_for_the_user_or_committed_first() {
    for (own_first, subjects) in [
        (false, vec!["Start the harbour"]),
        (true, vec!["Change depth in harbour.py", "Own changes to harbour.py", "Start the harbour"]),
    ] {
        let repo = harbour_repo();
        let mine = repo.read("harbour.py") + "\n# mine\n";
        repo.file("harbour.py", &mine);
        let server = ModelServer::start(vec![Step::reply(&good())]);
        let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it safe", "--file", "harbour.py", "--yes"]);
        command.args(["--base-url", &server.base_url(), "--model", MODEL]);
        if own_first {
            command.env("RHUMB_DIRTY_COMMITS", "yes");
        }
        let (code, _, err) = run(command);
        assert_eq!(code, 0, "{err}");
        assert_eq!(repo.subjects(), subjects);
        assert!(repo.read("harbour.py").contains("# mine") && repo.read("harbour.py").contains("TABLE.get"));
        assert_eq!(err.contains("uncommitted changes of yours"), !own_first, "{err}");
    }
}

#[test]
fn tests_run_when_the_flag_says_so_and_what_fails_is_repaired() {
    let second = block("harbour.py", "    return TABLE.get(name, 0.0)\n", "    return TABLE.get(name, 1.0)\n");
    let repo = harbour_repo();
    repo.file("test.sh", "echo 'expected one'; grep -q '1.0)' harbour.py\n").commit("tests");
    let server = ModelServer::start(vec![Step::reply(&good()), Step::reply(&second)]);
    let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it safe", "--yes", "--test", "--file", "harbour.py"]);
    command.args(["--base-url", &server.base_url(), "--model", MODEL]).env("RHUMB_TEST_CMD", "sh test.sh");
    let (code, _, err) = run(command);
    assert_eq!(code, 0, "{err}");
    assert!(repo.read("harbour.py").contains("1.0)") && err.contains("sh test.sh: exit code 0"), "{err}");
    let asked = server.requests()[1].body.to_string();
    assert!(asked.contains("`sh test.sh` failed (exit code 1)") && asked.contains("expected one"), "{asked}");

    let server = ModelServer::start(vec![Step::reply("nothing"), Step::reply("nothing")]);
    let (code, _, _) = edit(&repo, &server, &["--yes", "--test"]);
    assert_eq!((code, server.requests().len()), (1, 1), "nothing was written, so nothing is checked");
}

#[test]
fn the_weak_model_names_the_commit_of_a_turn_without_the_app() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good()), Step::reply("fix: look names up safely")]);
    let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it safe", "--file", "harbour.py", "--yes", "--json"]);
    command.args(["--base-url", &server.base_url(), "--model", MODEL]).env("RHUMB_WEAK_MODEL", MODEL);
    let (code, out, err) = run(command);
    assert_eq!(code, 0, "{err}");
    assert_eq!(repo.subjects(), ["fix: look names up safely", "Start the harbour"]);
    assert_eq!(out.lines().filter(|line| json(line)["event"] == "spent").count(), 2, "{out}");
}

#[test]
fn mentioned_files_are_sent_without_the_app_too() {
    let repo = harbour_repo();
    repo.file("charts/compass.py", "def north():\n    return 'up'\n").commit("Add a compass");
    repo.file("harbour.py", &(repo.read("harbour.py") + "\n# deep water\n"));
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let mut command =
        rhumb(&repo.path(), &["edit", "-m", "Make it safe, see @charts/ and @diff, and ask me@example.com"]);
    command.args(["--base-url", &server.base_url(), "--model", MODEL]);
    let (_, _, err) = run(command);
    let asked = server.requests()[0].body.to_string();
    assert!(asked.contains("return 'up'"), "the folder is in the chat: {asked}");
    assert!(asked.contains("+# deep water") && asked.contains("me@example.com"), "{asked} {err}");
}

#[test]
fn no_edit_writes_rhumbs_own_settings() {
    let repo = harbour_repo();
    let reply =
        ".config/rhumb/rhumb.toml\n```\n<<<<<<< SEARCH\n=======\nkey_command = \"date\"\n>>>>>>> REPLACE\n```\n";
    let server = ModelServer::start(vec![Step::reply(reply); 4]);
    let mut command = rhumb(&repo.path(), &["edit", "-m", "Make it mine", "--yes"]);
    command.args(["--base-url", &server.base_url(), "--model", MODEL]);
    command.env("XDG_CONFIG_HOME", repo.path().join(".config"));
    let (code, _, err) = run(command);
    assert!(code == 1 && err.contains("rhumb's own"), "{code} {err}");
    assert!(!repo.path().join(".config/rhumb").exists());
    untouched(&repo);
}

#[test]
fn with_yes_a_broken_file_is_written_and_named_on_standard_error() {
    let breaking = block("harbour.py", "    return TABLE[name]\n", "    return TABLE.get(name, 0.0\n");
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&breaking)]);
    let (_, out, err) = edit(&repo, &server, &["--yes", "--no-lint", "--json"]);
    assert!(err.contains("warning: harbour.py does not parse at line 2: return TABLE.get(name, 0.0"), "{err}");
    assert!(repo.read("harbour.py").contains("TABLE.get(name, 0.0\n"));
    let events: Vec<_> = out.lines().map(json).collect();
    let event = |name: &str| events.iter().find(|event| event["event"] == name).unwrap();
    assert!(event("hunk")["flags"].as_array().unwrap().contains(&"syntax-error".into()), "{out}");
    let written = event("written");
    assert_eq!(written["files"], serde_json::json!([{"path": "harbour.py", "hunks": 1}]));
    assert_eq!(written["not_written"], serde_json::json!([]));
}

#[test]
fn files_that_were_not_written_are_reported() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&(without_a_place() + &good())), Step::reply("No.")]);
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert_eq!(code, 1, "{err}");
    let told = err.lines().find(|line| line.contains("Wrote")).unwrap();
    assert!(told.starts_with("rhumb: Wrote 1 hunk: harbour.py. Committed as "), "{told}");
    assert!(told.ends_with(". Not written: 1 edit without a location (harbour.py)."), "{told}");
}
