//! The commands for scripts and harnesses: exit codes, JSON and files, as the contract has them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)] // the checks for tests do not know helper functions

#[path = "cli/codebase.rs"]
mod codebase;
#[path = "cli/doctor.rs"]
mod doctor;
#[path = "cli/edit.rs"]
mod edit;
#[path = "cli/modes.rs"]
mod modes;
#[path = "cli/plain.rs"]
mod plain;
#[path = "cli/settings.rs"]
mod settings;
mod support;

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use edit::edit;
use serde_json::Value;
use support::pty::Pty;
use support::repo::TestRepo;
use support::server::{MODEL, ModelServer, Step, pieces};

const KEY: &str = "sk-canary-0123456789";

const HARBOUR: &str = "\
def depth(name):
    return TABLE[name]


def report(name):
    metres = depth(name)
    return f'{name}: {metres} m'
";

/// A search/replace block.
fn block(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n```python\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n\n")
}

fn good() -> String {
    block("harbour.py", "    return TABLE[name]\n", "    return TABLE.get(name, 0.0)\n")
}

fn without_a_place() -> String {
    block("harbour.py", "    return lookup(ports, name, strict=True)\n", "    return None\n")
}

fn changed() -> String {
    HARBOUR.replace("TABLE[name]", "TABLE.get(name, 0.0)")
}

fn harbour_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.file("harbour.py", HARBOUR)
        .file(
            "charts/compass.py",
            "from harbour import depth\n\n\nclass Compass:\n    def bearing(self, name):\n        return depth(name)\n",
        )
        .file("notes.md", "# Notes\n")
        .commit("Start the harbour");
    repo
}

/// `rhumb` in `folder`, with nothing of the caller's environment.
fn rhumb(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rhumb"));
    command.current_dir(folder).args(args).env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("RHUMB_API_KEY", KEY);
    command
}

/// Runs it; the key must not be in what it prints, and standard output must be free of escapes.
#[track_caller]
fn run(mut command: Command) -> (i32, String, String) {
    let output: Output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    assert!(!out.contains(KEY) && !err.contains(KEY), "the key is printed:\n{out}\n{err}");
    assert!(!out.contains('\x1b') && !err.contains('\x1b'), "escapes without a terminal:\n{out}\n{err}");
    assert!(!err.contains("panicked"), "{err}");
    (output.status.code().unwrap_or(-1), out, err)
}

#[track_caller]
fn json(out: &str) -> Value {
    serde_json::from_str(out).unwrap_or_else(|error| panic!("{error} in {out}"))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

// ---------------------------------------------------------------------------------------------------------- bench

/// A repository with a change to `depth`, and a file outside of it with the case that the change makes.
fn harbour_case() -> (TestRepo, tempfile::TempDir, String) {
    let repo = harbour_repo();
    let parent = repo.git(&["rev-parse", "HEAD"]);
    repo.file("harbour.py", &changed()).commit("Be lenient with unknown harbours");
    let folder = tempfile::tempdir().unwrap();
    let case = serde_json::json!({
        "id": "lenient", "parent": parent.trim(), "query": "depth of unknown harbours",
        "gold": [{"path": "harbour.py"}, {"path": "charts/compass.py"}], "chat": "charts/compass.py",
        "symbols": [{"path": "harbour.py", "name": "depth", "line": 1}],
    });
    let file = folder.path().join("cases.jsonl");
    fs::write(&file, format!("{case}\n")).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (repo, folder, file)
}

#[test]
fn the_map_is_measured_on_commits() {
    let (repo, folder, file) = harbour_case();
    let (here, git_dir) = (folder.path(), repo.path().join(".git"));
    let args = ["bench", "context", "--git-dir", git_dir.to_str().unwrap(), "--cases", &file, "--without", "request"];
    let (code, out, err) = run(rhumb(here, &args));
    assert_eq!((code, err.as_str()), (0, ""));
    for part in ["M1 1024", "M2 4096", "R@10", "nDCG@10", "\nall ", "\nwithout request ", "1.000/1.000/1.000"] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let (_, out, _) = run(rhumb(here, &[&args[..], &["--budget", "256", "--format", "json"]].concat()));
    let report = json(&out);
    assert_eq!((report["cases"].as_u64(), report["variants"].as_array().map(Vec::len)), (Some(1), Some(2)), "{out}");
    let first = &report["variants"][0];
    assert_eq!((&first["without"], &first["over_budget"]), (&Value::Null, &Value::from(0)));
    assert_eq!(first["recall"].as_array().map(Vec::len), Some(2), "one budget, two tasks: {out}");
    assert!(repo.git(&["status", "--porcelain"]).is_empty());
}

#[test]
fn edits_are_measured_on_commits_and_on_a_corpus() {
    let (repo, folder, _) = harbour_case();
    let (here, git_dir) = (folder.path(), repo.path().join(".git"));
    let failures = folder.path().join("failures");
    let args = ["bench", "edits", "--git-dir", git_dir.to_str().unwrap(), "--cases", "20"];
    let more = ["--inflexible", "--failures", failures.to_str().unwrap()];
    let (_, out, err) = run(rhumb(here, &[&args[..], &more].concat()));
    assert!(err.contains("1 change of use instead of 240"), "{err}");
    for part in ["WRONG", "\nudiff       clean", "\nall         all", "99th percentile", "to the letter:"] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let (_, out, _) = run(rhumb(here, &[&args[..], &["--json", "--format", "udiff"]].concat()));
    let report = json(&out);
    let clean = report["groups"].as_array().unwrap().iter().find(|group| group["kind"] == "clean").unwrap();
    assert_eq!((&clean["format"], &clean["cases"], &clean["right"]), (&"all".into(), &4.into(), &4.into()), "{out}");
    assert!(repo.git(&["status", "--porcelain"]).is_empty());

    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edit_formats");
    let (code, out, err) = run(rhumb(here, &["bench", "edits", "--corpus", corpus.to_str().unwrap(), "--json"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (code, _, err) = run(rhumb(here, &["bench", "edits", "--corpus", here.to_str().unwrap()]));
    assert!(code == 2 && err.contains("there is no case"), "{err}");
    let (code, _, err) = run(rhumb(here, &[&args[..], &["--format", "xml"]].concat()));
    assert!(code == 2 && err.contains("there is no format \"xml\""), "{err}");
}

#[test]
fn cases_that_cannot_be_run_are_a_usage_error() {
    let (repo, folder, file) = harbour_case();
    let path = repo.path();
    let bench = |cases: &str, more: &[&str]| {
        let args = ["bench", "context", "--git-dir", path.to_str().unwrap(), "--cases", cases];
        let (code, out, err) = run(rhumb(folder.path(), &[&args[..], more].concat()));
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        err
    };
    let err = bench(&file, &["--without", "luck"]);
    assert!(err.contains("no signal \"luck\"") && err.contains("request, history, graph, imports"), "{err}");
    let broken = folder.path().join("broken.jsonl");
    let case = fs::read_to_string(&file).unwrap();
    fs::write(&broken, format!("{case}not a case\n")).unwrap();
    let err = bench(broken.to_str().unwrap(), &[]);
    assert!(err.contains("line 2 is not a case"), "{err}");
    let parent = repo.git(&["rev-parse", "HEAD~1"]);
    fs::write(&broken, case.replace(parent.trim(), &"0123".repeat(10))).unwrap();
    let err = bench(broken.to_str().unwrap(), &[]);
    assert!(err.contains("case lenient: the repository has no commit 0123"), "{err}");
    assert!(bench(folder.path().join("none").to_str().unwrap(), &[]).contains("cannot read"));
}

// ------------------------------------------------------------------------------------------------------------ map

#[test]
fn the_map_is_what_the_model_sees() {
    let repo = harbour_repo();
    let (code, out, err) = run(rhumb(&repo.path(), &["map"]));
    assert_eq!((code, err.as_str()), (0, ""));
    for part in ["harbour.py", "def depth(name)", "charts/compass.py", "class Compass"] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let (_, as_json, _) = run(rhumb(&repo.path(), &["map", "--format", "json"]));
    assert_eq!(json(&as_json)["text"].as_str(), Some(out.as_str()));
    let (code, _, err) = run(rhumb(&repo.path(), &["map", "--stats"]));
    assert!(code == 0 && err.contains("tokens") && err.contains("definitions"), "{err}");
}

#[test]
fn the_json_of_the_map_has_the_fields_of_the_contract() {
    let repo = harbour_repo();
    let (code, out, _) = run(rhumb(&repo.path(), &["map", "--format", "json", "--explain", "--message", "depth"]));
    assert_eq!(code, 0);
    let map = json(&out);
    assert_eq!(keys(&map), ["text", "budget", "tokens", "files", "stats"]);
    assert_eq!(map["budget"], 4096);
    assert!(map["tokens"].as_u64().is_some_and(|tokens| tokens > 0));
    for name in ["files", "bytes", "tags", "definitions", "references"] {
        assert!(map["stats"][name].is_u64(), "stats.{name}: {out}");
    }
    for name in ["walk", "read", "parse", "rank", "fit", "total"] {
        assert!(map["stats"]["ms"][name].is_number(), "stats.ms.{name}: {out}");
    }
    let files = map["files"].as_array().unwrap();
    let ranks: Vec<f64> = files.iter().map(|file| file["rank"].as_f64().unwrap()).collect();
    assert!(ranks.windows(2).all(|pair| pair[0] >= pair[1]), "{ranks:?}");
    for file in files {
        assert!(file["path"].is_string(), "{file}");
        check_reasons(file);
        for symbol in file["symbols"].as_array().unwrap() {
            for name in ["name", "kind", "signature"] {
                assert!(symbol[name].is_string(), "{name}: {symbol}");
            }
            let (line, end) = (symbol["line"].as_u64().unwrap(), symbol["end_line"].as_u64().unwrap());
            assert!(1 <= line && line <= end, "{symbol}");
            assert!(symbol["rank"].is_number(), "{symbol}");
            check_reasons(symbol);
        }
    }
    let depth = files.iter().flat_map(|file| file["symbols"].as_array().unwrap()).find(|it| it["name"] == "depth");
    let depth = depth.unwrap_or_else(|| panic!("no depth in {out}"));
    assert_eq!((&depth["line"], &depth["end_line"]), (&1.into(), &2.into()));
}

/// Reasons have their fields and stand heaviest first.
#[track_caller]
fn check_reasons(value: &Value) {
    let reasons = value["why"].as_array().unwrap_or_else(|| panic!("no reasons in {value}"));
    assert!(reasons.iter().all(|why| keys(why) == ["from", "ident", "weight"]), "{value}");
    let weights: Vec<f64> = reasons.iter().filter_map(|why| why["weight"].as_f64()).collect();
    assert!(weights.windows(2).all(|pair| pair[0] >= pair[1]), "{value}");
}

#[test]
fn the_budget_of_the_map_is_never_exceeded() {
    let repo = TestRepo::new();
    for number in 0..40 {
        let functions: String = (0..10)
            .map(|n| {
                format!("def work_{number}_{n}(alpha, beta):\n    return work_{}_{n}(beta)\n\n\n", (number + 1) % 40)
            })
            .collect();
        repo.file(&format!("src/part_{number}.py"), &functions);
    }
    let mut before = 0;
    for budget in [0, 1, 10, 50, 200, 1000, 5000] {
        for style in ["tree", "outline"] {
            let tokens = budget.to_string();
            let args = ["map", "--format", "json", "--tokens", &tokens, "--style", style];
            let (code, out, _) = run(rhumb(&repo.path(), &args));
            let map = json(&out);
            let (used, text) = (map["tokens"].as_u64().unwrap(), map["text"].as_str().unwrap());
            assert!(used <= budget, "{used} of {budget}");
            assert_eq!(map["budget"], budget);
            assert_eq!(code, i32::from(text.is_empty()), "{budget} {style}");
            assert_eq!(used == 0, text.is_empty(), "{used} tokens for {text:?}");
            if style == "tree" {
                assert!(used >= before, "a larger budget shows less");
                before = used;
            }
        }
    }
    assert!(before > 500, "{before} tokens used of 5000");
}

#[test]
fn chat_files_are_left_out_of_the_map_and_what_they_use_rises() {
    let repo = harbour_repo();
    let args = ["map", "--format", "json", "--chat-file", "charts/compass.py"];
    let (code, out, _) = run(rhumb(&repo.path(), &args));
    assert_eq!(code, 0);
    let map = json(&out);
    let paths: Vec<&str> = map["files"].as_array().unwrap().iter().filter_map(|file| file["path"].as_str()).collect();
    assert!(!paths.contains(&"charts/compass.py"), "{paths:?}");
    assert_eq!(paths.first(), Some(&"harbour.py"));
}

#[test]
fn the_root_can_be_named_and_a_wrong_one_is_bad_input() {
    let (repo, elsewhere) = (harbour_repo(), tempfile::tempdir().unwrap());
    let root = repo.path();
    let (code, out, _) = run(rhumb(elsewhere.path(), &["map", "--root", root.to_str().unwrap()]));
    assert!(code == 0 && out.contains("harbour.py"), "{out}");
    let (code, out, _) = run(rhumb(&repo.path().join("charts"), &["map"]));
    assert!(code == 0 && out.contains("charts/compass.py"), "{out}");
    let (code, out, err) = run(rhumb(elsewhere.path(), &["map"]));
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    for args in [&["map", "--root", "/no/such/folder"][..], &["map", "--tokens", "many"], &["mop"]] {
        let (code, out, err) = run(rhumb(elsewhere.path(), args));
        assert!(code == 2 && out.is_empty() && !err.is_empty(), "{args:?}: {code} {out} {err}");
    }
}

#[test]
fn the_budget_and_the_model_of_the_map_may_be_named_by_the_flags_for_all_commands() {
    let repo = harbour_repo();
    let map = |args: &[&str], model: &str| {
        let mut command = rhumb(&repo.path(), args);
        command.env("RHUMB_MODEL", model).args(["map", "--format", "json"]);
        command
    };
    let budget = |command| json(&run(command).1)["budget"].as_u64().unwrap();
    assert_eq!(budget(map(&["--map-tokens", "77"], "")), 77);
    let mut both = map(&["--map-tokens", "77"], "");
    both.args(["--tokens", "99"]);
    assert_eq!(budget(both), 99);
    assert_eq!(budget(map(&[], "")), 4096);

    let names: String = (0..40).map(|n| format!("def wassertiefenmessung_{n}(größe):\n    pass\n\n\n")).collect();
    repo.file("gauge.py", &names);
    let tokens = |command| json(&run(command).1)["tokens"].as_u64().unwrap();
    let unknown = tokens(map(&[], ""));
    assert_ne!(tokens(map(&["--model", "gpt-4"], "")), unknown, "--model does not choose the counter");
    assert_eq!(tokens(map(&["--model", "gpt-4"], "")), tokens(map(&[], "gpt-4")));
    assert_eq!(tokens(map(&["--model", "gpt-4o"], "gpt-4")), unknown, "the flag does not win");
}

// ---------------------------------------------------------------------------------------------------------- apply

/// `rhumb apply` of a reply on standard input.
#[track_caller]
fn apply(repo: &TestRepo, reply: &str, flags: &[&str]) -> (i32, String, String) {
    let mut command = rhumb(&repo.path(), &["apply"]);
    command.args(flags).arg("-").write_stdin(reply);
    run(command)
}

/// The work tree holds nothing but what was committed.
#[track_caller]
fn untouched(repo: &TestRepo) {
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_reply_is_applied_whole_in_part_or_not_at_all() {
    let repo = harbour_repo();
    let (code, out, err) = apply(&repo, &good(), &["--yes"]);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert_eq!(repo.read("harbour.py"), changed());
    // Applying commits nothing.
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
fn bad_input_has_its_own_exit_code_and_changes_nothing() {
    let repo = harbour_repo();
    for (reply, flags) in [
        ("Just words.\n", &["--yes"][..]),
        ("", &["--yes"]),
        (&good(), &["--yes", "--edit-format", "telepathy"]),
        // Nobody can be asked, and nobody said yes.
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

    // With --atomic the statuses agree with the disk, too.
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
    // Applied with a mark, or refused: but never as if it were in the chat.
    let hunk = &told["hunks"][0];
    let marked = hunk["flags"].as_array().unwrap().contains(&"outside-chat".into());
    assert!(marked || hunk["status"] == "refused", "{code} {out} {err}");
}

#[test]
fn a_write_that_fails_has_its_exit_code_and_is_told_as_it_is() {
    let repo = harbour_repo();
    // In Latin-1, which has no arrow.
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

// ----------------------------------------------------------------------------------------------------------- undo

/// A plain folder with a journal of its own.
struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        files.iter().for_each(|(path, bytes)| fs::write(dir.path().join("root").join(path), bytes).unwrap());
        Self { dir }
    }

    fn rhumb(&self, args: &[&str], input: &str) -> (i32, String, String) {
        let mut command = rhumb(&self.dir.path().join("root"), args);
        command.env("XDG_STATE_HOME", self.dir.path().join("state")).write_stdin(input);
        run(command)
    }

    fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.dir.path().join("root").join(path)).unwrap()
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        fs::write(self.dir.path().join("root").join(path), bytes).unwrap();
    }

    /// The one record of the journal.
    fn record(&self) -> std::path::PathBuf {
        let repo = fs::read_dir(self.dir.path().join("state/rhumb/journal")).unwrap();
        let repo = repo.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
        let mut records = fs::read_dir(repo).unwrap().map(|entry| entry.unwrap().path());
        records.find(|path| path.extension().is_some()).unwrap()
    }
}

#[test]
fn a_write_is_undone_and_done_again_without_git() {
    let folder = Folder::new(&[("a.py", b"one\r\ntwo\r\n"), ("b.py", b"1\n")]);
    let reply = block("a.py", "two\n", "2\n") + &block("n/new.py", "", "new\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &reply);
    assert_eq!((code, folder.read("a.py")), (0, b"one\r\n2\r\n".to_vec()), "{err}");
    let (code, out, err) = folder.rhumb(&["undo"], "");
    assert_eq!((code, &*out, &*err), (0, "", "rhumb: undid a.py, n/new.py\n"));
    assert_eq!(folder.read("a.py"), b"one\r\ntwo\r\n");
    assert!(!folder.dir.path().join("root/n").exists());
    assert_eq!(folder.rhumb(&["undo"], "").0, 1, "there is nothing left to undo");
    let (code, _, err) = folder.rhumb(&["redo"], "");
    assert!(code == 0 && err.contains("did again a.py, n/new.py"), "{err}");
    assert_eq!(folder.read("n/new.py"), b"new\n");
    folder.write("a.py", b"mine");
    let (code, _, err) = folder.rhumb(&["undo"], "");
    assert!(code == 3 && err.contains("changed since") && err.contains("a.py"), "{code} {err}");
    assert_eq!((folder.read("a.py"), folder.read("n/new.py")), (b"mine".to_vec(), b"new\n".to_vec()));
}

#[test]
fn a_committed_write_is_undone_by_a_commit_of_its_own() {
    let repo = harbour_repo();
    let state = tempfile::tempdir().unwrap();
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let with_state = |mut command: Command| {
        command.env("XDG_STATE_HOME", state.path());
        run(command)
    };
    let url = server.base_url();
    let args = ["edit", "-m", "Be lenient", "--yes", "--file", "harbour.py", "--base-url", &url, "--model", MODEL];
    let (code, _, err) = with_state(rhumb(&repo.path(), &args));
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = with_state(rhumb(&repo.path(), &["undo"]));
    assert!(code == 0 && err.contains("undid harbour.py, committed as"), "{code} {err}");
    assert_eq!(repo.read("harbour.py"), HARBOUR);
    assert_eq!(repo.subjects(), ["Undo: Be lenient", "Be lenient", "Start the harbour"]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    let (code, _, err) = with_state(rhumb(&repo.path(), &["--no-commit", "redo"]));
    assert_eq!((code, &*err), (0, "rhumb: did again harbour.py\n"));
    assert_eq!((repo.read("harbour.py"), repo.subjects().len()), (changed(), 3));
}

#[test]
fn a_write_that_was_killed_is_finished_by_the_next_command_and_told() {
    let folder = Folder::new(&[("a.py", b"1\n"), ("b.py", b"1\n")]);
    let reply = block("a.py", "1\n", "2\n") + &block("b.py", "1\n", "2\n");
    assert_eq!(folder.rhumb(&["apply", "--yes", "-"], &reply).0, 0);
    // As it is when the process dies after the first file.
    let record = folder.record();
    fs::rename(&record, record.with_extension("doing")).unwrap();
    folder.write("b.py", b"1\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &block("a.py", "2\n", "3\n"));
    assert!(code == 0 && err.contains("An earlier write was interrupted and is finished now: a.py, b.py"), "{err}");
    assert_eq!((folder.read("a.py"), folder.read("b.py")), (b"3\n".to_vec(), b"2\n".to_vec()));
}

#[test]
fn without_a_journal_files_are_written_and_it_is_told() {
    let folder = Folder::new(&[("a.py", b"1\n")]);
    fs::write(folder.dir.path().join("state"), "no folder").unwrap();
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &block("a.py", "1\n", "2\n"));
    assert!(code == 0 && err.contains("cannot be undone"), "{code} {err}");
    assert_eq!(folder.read("a.py"), b"2\n");
}

#[test]
fn files_keep_their_encoding_and_what_does_not_fit_is_named() {
    let latin = b"# Gr\xf6\xdfe der Stra\xdfe\nx = 1\n";
    let folder = Folder::new(&[("latin.py", latin), ("wide.py", b"\xff\xfex\0=\x001\0\r\0\n\0")]);
    let reply = block("latin.py", "x = 1\n", "x = 'ä'\n") + &block("wide.py", "x=1\n", "x=2\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &reply);
    assert_eq!(code, 0, "{err}");
    assert_eq!(folder.read("latin.py"), b"# Gr\xf6\xdfe der Stra\xdfe\nx = '\xe4'\n");
    assert_eq!(folder.read("wide.py"), b"\xff\xfex\0=\x002\0\r\0\n\0");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &block("latin.py", "x = 'ä'\n", "x = '→'\n"));
    assert!(code == 3 && err.contains("latin.py is in windows-1252, which does not have '→'"), "{code} {err}");
    assert!(err.contains("convert latin.py to UTF-8"), "{err}");
}

/// A line that retitles the window of a terminal, unless it is made visible.
const TITLE: &str = "    return '\x1b]0;owned\x07'\n";

fn retitling() -> String {
    block("harbour.py", "    return TABLE[name]\n", TITLE)
}

#[test]
fn escapes_in_a_diff_reach_a_pipe_as_they_are() {
    let reply = retitling();
    let patched = HARBOUR.replace("    return TABLE[name]\n", TITLE);
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let (repo, url) = (harbour_repo(), server.base_url());
    fs::write(repo.path().join("reply.md"), &reply).unwrap();
    let edit = ["edit", "-m", "x", "--dry-run", "--base-url", &url, "--model", MODEL];
    for args in [&["apply", "--dry-run", "reply.md"][..], &edit] {
        let output = rhumb(&repo.path(), args).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        // In the diff, and before that in the answer as it streamed.
        assert_eq!(out.matches(TITLE).count(), if args[0] == "edit" { 2 } else { 1 }, "{args:?}: {out:?}");
        let patch = tempfile::NamedTempFile::new().unwrap();
        fs::write(patch.path(), &out[out.find("diff --git").unwrap()..]).unwrap();
        repo.git(&["apply", patch.path().to_str().unwrap()]);
        assert_eq!(repo.read("harbour.py"), patched, "{args:?}");
        repo.git(&["checkout", "harbour.py"]);
        // Messages are for the eye and never hold escapes.
        assert!(!output.stderr.contains(&0x1b), "{args:?}");
    }
}

#[test]
fn escapes_are_shown_on_a_terminal_and_not_sent() {
    let server = ModelServer::start(vec![Step::reply(&retitling()), Step::reply(&retitling())]);
    let (repo, url) = (harbour_repo(), server.base_url());
    let odd = "od\u{202e}d.md";
    repo.file(odd, "one\n").file("reply.md", &retitling()).file("odd.md", &block(odd, "one\n", "two\n"));
    let model = ["-m", "x", "--base-url", &url, "--model", MODEL];
    let with_model = |flags: &[&'static str]| [&["edit"][..], flags, &model].concat();
    for (args, answer) in [
        (vec!["apply", "--dry-run", "reply.md"], ""),
        (with_model(&["--dry-run"]), ""),
        (with_model(&["--json", "--dry-run"]), ""),
        (vec!["apply", "odd.md"], "y\r"),
        (vec!["map"], ""),
    ] {
        let mut pty = Pty::spawn(Path::new(env!("CARGO_BIN_EXE_rhumb")), &args, &repo.path(), &[], 120, 60);
        pty.type_text(answer);
        assert_eq!(pty.wait_exit().exit_code(), 0, "{args:?}:\n{}", pty.screen());
        let sent = String::from_utf8_lossy(&pty.raw()).into_owned();
        assert!(!sent.contains("\x1b]0;") && !sent.contains('\u{202e}'), "{args:?}: {sent:?}");
        assert!(sent.contains("owned") || sent.contains("<U+202E>"), "{args:?}: {sent:?}");
    }
    assert_eq!(repo.read(odd), "two\n");
}
