//! `rhumb apply`: applies a reply from standard input to files.

use super::*;

/// `rhumb apply` of a reply on standard input.
#[track_caller]
fn apply(repo: &TestRepo, reply: &str, flags: &[&str]) -> (i32, String, String) {
    let mut command = rhumb(&repo.path(), &["apply"]);
    command.args(flags).arg("-").write_stdin(reply);
    run(command)
}

#[test]
fn a_reply_is_applied_whole_in_part_or_not_at_all() {
    let repo = harbour_repo();
    let (code, out, err) = apply(&repo, &good(), &["--yes"]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
    // `rhumb apply` makes no commit.
    assert_eq!(repo.subjects(), ["Start the harbour"]);

    let repo = harbour_repo();
    let (code, _, err) = apply(&repo, &(without_a_place() + &good()), &["--yes"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("refused"), "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
    assert_eq!(repo.git(&["status", "--porcelain"]), " M harbour.py\n", "something else was left behind");

    let repo = harbour_repo();
    let (code, _, err) = apply(&repo, &(without_a_place() + &good()), &["--yes", "--atomic"]);
    assert_eq!(code, 1, "{err}");
    untouched(&repo);
}

#[test]
fn rhumbs_own_settings_are_out_of_reach_wherever_the_root_is() {
    let repo = harbour_repo();
    let reply =
        ".config/rhumb/rhumb.toml\n```toml\n<<<<<<< SEARCH\n=======\nkey_command = \"date\"\n>>>>>>> REPLACE\n```\n";
    let mut command = rhumb(&repo.path(), &["apply", "--yes", "-"]);
    command.env("XDG_CONFIG_HOME", repo.path().join(".config")).write_stdin(reply);
    let (code, _, err) = run(command);
    assert!(code == 1 && err.contains("rhumb's own files"), "{code} {err}");
    assert!(!repo.path().join(".config").exists());
}

#[test]
fn the_diff_of_a_move_is_one_that_git_applies() {
    let repo = harbour_repo();
    let reply = "*** Begin Patch\n*** Update File: harbour.py\n*** Move to: port/harbour.py\n@@\n-import sys\n+import os\n*** End Patch\n";
    let text = repo.read("harbour.py");
    let first = text.lines().next().unwrap();
    let reply = reply.replace("import sys", first);
    let (code, diff, err) = apply(&repo, &reply, &["--dry-run"]);
    assert_eq!(code, 0, "{err}");
    assert!(diff.contains("rename from harbour.py\nrename to port/harbour.py\n"), "{diff}");
    repo.file("change.diff", &diff);
    repo.git(&["apply", "change.diff"]);
    assert_eq!(repo.read("port/harbour.py"), text.replacen(first, "import os", 1));
}

#[test]
fn bad_input_has_its_own_exit_code_and_changes_nothing() {
    let repo = harbour_repo();
    for (reply, flags) in [
        ("Just words.\n", &["--yes"][..]),
        ("", &["--yes"]),
        (&good(), &["--yes", "--edit-format", "telepathy"]),
        // There is no terminal for the question and no `--yes`.
        (&good(), &[]),
    ] {
        let (code, _, err) = apply(&repo, reply, flags);
        assert!(code == 2 && !err.is_empty(), "{flags:?}: {code} {err}");
        untouched(&repo);
    }
    let (code, _, err) = run(rhumb(&repo.path(), &["apply", "--yes", "no-such-reply.md"]));
    assert!(code == 2 && err.contains("no-such-reply.md"), "{err}");
    let mut command = rhumb(&repo.path(), &["apply", "--yes", "-"]);
    command.write_stdin(b"\xff\xfe not text".to_vec());
    assert_eq!(run(command).0, 2);
    untouched(&repo);
}

#[test]
fn json_tells_every_hunk_in_the_order_of_the_reply() {
    let repo = harbour_repo();
    let reply = without_a_place() + &good();
    let (code, out, _) = apply(&repo, &reply, &["--yes", "--json"]);
    assert_eq!(code, 1);
    let told = json(&out);
    let hunks = told["hunks"].as_array().unwrap();
    assert_eq!(hunks.len(), 2, "{out}");
    for hunk in hunks {
        for name in ["path", "format", "status", "strategy", "reason"] {
            assert!(hunk[name].is_string(), "{name}: {hunk}");
        }
        assert!(hunk["confidence"].is_number() && hunk["flags"].is_array(), "{hunk}");
        let candidates = hunk["candidates"].as_array().unwrap();
        assert!(candidates.iter().all(|place| keys(place) == ["line", "similarity"]), "{hunk}");
    }
    assert_eq!((&hunks[0]["status"], &hunks[1]["status"]), (&"refused".into(), &"applied".into()));
    assert!(!hunks[0]["reason"].as_str().unwrap().is_empty());
    assert_eq!(hunks[1]["strategy"], "exact");
    assert_eq!(hunks[1]["lines"], serde_json::json!([2, 2]));
    assert_eq!(told["files"], serde_json::json!([{"path": "harbour.py", "hunks": 1}]));
    assert_eq!(repo.read("harbour.py"), changed());

    // With --atomic the statuses agree with the disk.
    let repo = harbour_repo();
    let (_, out, _) = apply(&repo, &reply, &["--yes", "--json", "--atomic"]);
    let told = json(&out);
    assert!(told["hunks"].as_array().unwrap().iter().all(|hunk| hunk["status"] == "refused"), "{out}");
    untouched(&repo);
}

#[test]
fn a_dry_run_prints_a_diff_that_git_can_apply_and_writes_nothing() {
    let repo = harbour_repo();
    let (code, out, _) = apply(&repo, &good(), &["--dry-run"]);
    assert_eq!(code, 0);
    untouched(&repo);
    let patch = tempfile::NamedTempFile::new().unwrap();
    fs::write(patch.path(), &out).unwrap();
    repo.git(&["apply", patch.path().to_str().unwrap()]);
    assert_eq!(repo.read("harbour.py"), changed());
}

#[test]
fn a_reply_in_a_file_is_read_and_files_are_made() {
    let repo = harbour_repo();
    let folder = tempfile::tempdir().unwrap();
    let reply = folder.path().join("reply.md");
    fs::write(&reply, block("charts/log.py", "", "print('under way')\n")).unwrap();
    let (code, _, err) = run(rhumb(&repo.path(), &["apply", "--yes", reply.to_str().unwrap()]));
    assert_eq!(code, 0, "{err}");
    assert_eq!(repo.read("charts/log.py"), "print('under way')\n");
}

#[test]
fn crlf_a_mark_and_a_missing_newline_survive() {
    let repo = TestRepo::new();
    let dos = format!("\u{feff}{}", HARBOUR.replace('\n', "\r\n").trim_end());
    repo.file("harbour.py", &dos).commit("Start");
    let (code, _, err) = apply(&repo, &good(), &["--yes"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(repo.read("harbour.py"), dos.replace("TABLE[name]", "TABLE.get(name, 0.0)"));
}

#[test]
fn a_way_out_of_the_root_is_refused() {
    let repo = harbour_repo();
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("loot.py");
    std::os::unix::fs::symlink(outside.path(), repo.path().join("door")).unwrap();
    repo.commit("A link");
    let absolute = target.to_str().unwrap().to_owned();
    for path in ["../loot.py", "charts/../../loot.py", "door/loot.py", ".git/hooks/pre-commit", &absolute] {
        let (code, out, err) = apply(&repo, &block(path, "", "print('mine')\n"), &["--yes", "--json"]);
        assert_eq!(code, 1, "{path}: {out} {err}");
        assert_eq!(json(&out)["hunks"][0]["status"], "refused", "{path}: {out}");
        untouched(&repo);
    }
    assert!(!target.exists() && !repo.path().join("../loot.py").exists());
    assert!(!repo.has(".git/hooks/pre-commit"));
}

#[test]
fn only_the_named_files_are_in_the_chat() {
    let repo = harbour_repo();
    let (code, out, err) = apply(&repo, &good(), &["--yes", "--json", "--file", "notes.md"]);
    let told = json(&out);
    // Applied with a flag or refused, but never as if it were in the chat.
    let hunk = &told["hunks"][0];
    let marked = hunk["flags"].as_array().unwrap().contains(&"outside-chat".into());
    assert!(marked || hunk["status"] == "refused", "{code} {out} {err}");
}

#[test]
fn a_failed_write_has_its_exit_code_and_an_exact_report() {
    let repo = harbour_repo();
    // Latin-1 has no arrow.
    fs::write(repo.path().join("notes.md"), b"# Notes\n\nDas Boot f\xe4hrt \xfcber die See.\n").unwrap();
    let reply = good() + &block("notes.md", "# Notes\n", "# Notes \u{2192} log\n");
    let (code, out, err) = apply(&repo, &reply, &["--yes", "--json"]);
    assert!(code == 3 && err.contains("notes.md"), "{code} {err}");
    let told = json(&out);
    assert!(told["hunks"].as_array().unwrap().iter().all(|hunk| hunk["status"] == "refused"), "{out}");
    assert_eq!(told["files"], serde_json::json!([]));
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let (code, _, err) = edit(&repo, &server, &["--yes", "--file", "notes.md"]);
    assert!(code == 3 && err.contains("notes.md") && !err.contains("wrote"), "{code} {err}");
    assert_eq!(repo.read("harbour.py"), HARBOUR);
}

#[test]
fn a_new_file_of_a_doubtful_name_needs_consent() {
    let doubtful = block("compass.py", "", "class Compass:\n    pass\n");
    let repo = harbour_repo();
    let (code, out, err) = apply(&repo, &(doubtful.clone() + &good()), &["--yes", "--json"]);
    assert_eq!(code, 1, "{err}");
    let told = json(&out);
    let hunk = &told["hunks"][0];
    assert_eq!((&hunk["status"], &hunk["strategy"]), (&"refused".into(), &"".into()), "{out}");
    assert!(hunk["flags"].as_array().unwrap().contains(&"doubtful-name".into()), "{out}");
    assert!(hunk["reason"].as_str().unwrap().contains("`charts/compass.py`"), "{out}");
    assert_eq!(told["files"], serde_json::json!([{"path": "harbour.py", "hunks": 1}]));
    assert!(!repo.has("compass.py"));
    assert_eq!(repo.read("harbour.py"), changed());

    // A dry run shows the unchanged proposal and the flag.
    let repo = harbour_repo();
    let (code, out, err) = apply(&repo, &doubtful, &["--dry-run"]);
    assert!(code == 0 && out.contains("+class Compass:") && err.contains("[doubtful-name]"), "{out} {err}");

    let server = ModelServer::start(vec![Step::reply(&(doubtful.clone() + &good()))]);
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert!(code == 1 && err.contains("doubtful name"), "{code} {err}");
    assert!(!repo.has("compass.py"));

    // With an explicit name the file is created.
    let (code, _, err) = apply(&harbour_repo(), &doubtful.replace("compass.py", "./compass.py"), &["--yes"]);
    assert_eq!(code, 0, "{err}");
}
