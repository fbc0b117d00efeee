//! `rhumb-bench refactor`: building tasks, running them with oracle models and model servers, grading, and comparing runs.

use std::path::PathBuf;
use std::process::{Child, Command as Process, Stdio};
use std::time::Instant;

use rhumb_bench::refactor::{Oracle, Task, Tasks};
use rhumb_edit::EditFormat;

use super::support::WAIT_TIMEOUT;
use super::*;

/// A folder with tasks.
struct TaskFolder {
    folder: tempfile::TempDir,
}

const ALL: [&str; 6] = ["Harbour.java", "harbour.cpp", "harbour.go", "harbour.py", "harbour.rs", "harbour.ts"];

impl TaskFolder {
    /// Builds the tasks of some samples, one each.
    fn new(samples: &[&str]) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.file("from")).unwrap();
        for name in samples {
            let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/refactor").join(name);
            fs::copy(sample, place.file("from").join(name)).unwrap();
        }
        let args = ["refactor", "build", "--from", "from", "--out", "tasks"];
        let (code, out, err) = run(bench(place.path(), &args));
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let count = samples.len();
        assert!(out.starts_with(&format!("{count} tasks from {count} of {count} files, in tasks\n")), "{out}");
        place
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn file(&self, path: &str) -> PathBuf {
        self.path().join(path)
    }

    /// `rhumb-bench refactor run` into the folder `out`.
    fn run(&self, out: &str, flags: &[&str]) -> Command {
        let args = ["refactor", "run", "--tasks", "tasks", "--out", out];
        bench(self.path(), &[&args[..], flags].concat())
    }

    /// `rhumb-bench refactor run` with a model server, where 100 input tokens cost a dollar.
    fn ask(&self, server: &ModelServer, flags: &[&str]) -> Command {
        self.ask_at("input_price = 10000.0\noutput_price = 0.0\n", server, flags)
    }

    /// `rhumb-bench refactor run` with a model server and these prices.
    fn ask_at(&self, prices: &str, server: &ModelServer, flags: &[&str]) -> Command {
        let home = self.file("config/rhumb");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("rhumb.toml"), format!("[models.{MODEL}]\n{prices}")).unwrap();
        let mut command = self.run("run", &["--model", MODEL, "--base-url", &server.base_url()]);
        command.args(flags).env("XDG_CONFIG_HOME", self.file("config"));
        command
    }

    fn tasks(&self) -> Vec<(Task, String)> {
        Tasks::read(&self.file("tasks")).unwrap().all
    }

    /// The replies of an oracle model to all tasks.
    fn answers(&self, how: Oracle) -> Vec<Step> {
        let reply = |(task, source): (Task, String)| how.reply(&task, &source, EditFormat::Diff).unwrap();
        self.tasks().into_iter().map(reply).map(|reply| Step::reply(&reply)).collect()
    }

    /// The lines of the results of the folder `run`.
    fn results(&self) -> Vec<Value> {
        self.lines("run/results.jsonl")
    }

    fn lines(&self, path: &str) -> Vec<Value> {
        fs::read_to_string(self.file(path)).unwrap_or_default().lines().map(json).collect()
    }

    /// The dollars spent without a result in the folder `run`.
    fn lost(&self) -> f64 {
        self.lines("run/lost.jsonl").iter().map(|line| line["cost"].as_f64().unwrap()).sum()
    }
}

#[test]
fn the_perfect_oracle_passes_all_tasks_and_the_others_fail() {
    let place = TaskFolder::new(&ALL);
    let summary = |how: &str, format: &str| {
        let args = ["--recite", how, "--jobs", "2", "--json", "--edit-format", format];
        let (code, out, err) = run(place.run(&format!("{how}-{format}"), &args));
        assert_eq!(code, 0, "{err}");
        let report = json(&out);
        assert_eq!((&report["tasks"], &report["summary"]["done"]), (&6.into(), &6.into()), "{out}");
        report["summary"].clone()
    };
    for format in ["diff", "udiff", "whole", "patch"] {
        let perfect = summary("perfect", format);
        assert_eq!(perfect["passed"][0]["count"], 6, "{format}: {perfect}");
        for none in ["elided", "malformed", "syntax_errors", "exhausted", "timed_out"] {
            assert_eq!(perfect[none]["count"], 0, "{format} {none}: {perfect}");
        }
    }
    let none_passes = |how: &str| {
        let summary = summary(how, "diff");
        assert_eq!(summary["passed"][0]["count"], 0, "{summary}");
        summary
    };
    assert_eq!(none_passes("lazy")["elided"]["count"], 6);
    assert_eq!(none_passes("malformed")["malformed"]["count"], 6);
    let broken = none_passes("broken");
    assert_eq!((&broken["syntax_errors"]["count"], &broken["malformed"]["count"]), (&6.into(), &0.into()), "{broken}");
    assert_eq!(broken["failed"], serde_json::json!({"parses": 6}));
    assert_eq!(none_passes("copy")["failed"], serde_json::json!({"class-shrank": 6}));

    let (code, out, err) = run(bench(place.path(), &["compare", "lazy-diff", "copy-diff"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for part in ["A  refactor: 6 of 6 tasks, oracle model lazy", "bodies left out", "100.0 (61.0–100.0)", "-100.0"] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let (_, out, _) = run(bench(place.path(), &["compare", "lazy-diff", "perfect-diff", "--json"]));
    let comparison = &json(&out)["comparison"];
    assert_eq!((&comparison["common"], &comparison["p"]), (&6.into(), &0.03125.into()), "{out}");
    assert_eq!(comparison["only_b"].as_array().map(Vec::len), Some(6), "{out}");
}

#[test]
fn a_model_gets_the_file_and_at_the_next_try_the_failed_checks() {
    let place = TaskFolder::new(&["harbour.py"]);
    let (task, source) = place.tasks().remove(0);
    let perfect = Oracle::Perfect.text(&task, &source).unwrap();
    let server = ModelServer::start(place.answers(Oracle::Copy));
    server.push([Step::reply(&format!("harbour.py\n```python\n{perfect}```\n"))]);
    let (code, out, err) = run(place.ask(&server, &["--tries", "2"]));
    assert_eq!(code, 0, "{out}{err}");
    for part in [
        "refactor: 1 of 1 tasks, test-model",
        "passed at the first try              0.0 %",
        "passed by try 2                    100.0 %",
        "2.00 $ in all",
    ] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let requests = server.requests();
    let first = requests[0].last_message();
    assert!(first.contains(&task.instruction) && !first.contains("tried before"), "{first}");
    assert!(requests[0].body.to_string().contains("One line for some rows"), "the file is not in the request");
    let second = requests[1].last_message();
    assert!(second.contains("not so: the class is smaller by the method"), "{second}");
    let result = &place.results()[0];
    assert_eq!(
        (&result["passed"], &result["input"], &result["cost"]),
        (&2.into(), &200.into(), &2.0.into()),
        "{result}"
    );
    assert_eq!(fs::read_to_string(place.file(&format!("run/files/{}/harbour.py", task.id))).unwrap(), perfect);
}

#[test]
fn a_task_without_an_answer_stays_open() {
    let place = TaskFolder::new(&["harbour.py", "harbour.rs"]);
    let mut answers = place.answers(Oracle::Perfect);
    let second = answers.pop().unwrap();
    let server = ModelServer::start(answers);
    server.push([Step::error(401, "no such key")]);
    let (code, out, err) = run(place.ask(&server, &[]));
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.contains("refactor: 1 of 2 tasks") && err.contains("no such key"), "{out}{err}");
    server.push([second]);
    let (code, out, err) = run(place.ask(&server, &[]));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("refactor: 2 of 2 tasks"), "{out}");
    assert_eq!(server.requests().len(), 3, "a task was done twice");
    // With other flags it would be another run.
    let (code, out, err) = run(place.ask(&server, &["--edit-format", "whole"]));
    assert!(code == 2 && out.is_empty() && err.contains("its edit_format is diff, not whole"), "{code} {out} {err}");
    let mut command = place.ask(&server, &[]);
    command.env("RHUMB_MAP_TOKENS", "7");
    let (code, _, err) = run(command);
    assert!(code == 2 && err.contains("its map_tokens is unset, not 7"), "{code} {err}");
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn the_report_has_only_selected_tasks() {
    let place = TaskFolder::new(&["Harbour.java", "harbour.py"]);
    let ids: Vec<String> = place.tasks().into_iter().map(|(task, _)| task.id).collect();
    let recite = |only: &str| run(place.run("run", &["--recite", "perfect", "--only", only]));
    let (code, out, err) = recite(&ids[0]);
    assert!(code == 0 && out.contains("refactor: 1 of 1 tasks"), "{code} {out} {err}");
    let (code, out, err) = recite(&ids[1]);
    assert!(
        code == 0 && out.contains("refactor: 1 of 1 tasks") && err.contains("1 of 1: passed"),
        "{code} {out} {err}"
    );
    let (code, out, err) = run(place.run("other", &["--recite", "lazy", "--only", &ids[0]]));
    assert!(code == 0 && !out.contains("tokens") && !out.contains("price"), "{code} {out} {err}");
    let compare = |a: &str, b: &str| run(bench(place.path(), &["compare", a, b]));
    let (_, out, _) = compare("run", "other");
    for part in ["A  refactor: 1 of 2 tasks", "B  refactor: 1 of 1 tasks", "1 tasks are finished in both runs"] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    assert_eq!(run(place.run("third", &["--recite", "lazy", "--only", &ids[1]])).0, 0);
    let (code, _, err) = compare("other", "third");
    assert!(code == 2 && err.contains("no task is finished in both runs"), "{code} {err}");
    let (code, out, err) = recite("nonexisting");
    assert!(code == 2 && out.is_empty() && ids.iter().all(|id| err.contains(id.as_str())), "{code} {out} {err}");
    // Without an answer, results of other tasks do not make the run a success.
    fs::remove_dir_all(place.file("run")).unwrap();
    let answers = place.answers(Oracle::Perfect);
    let server = ModelServer::start(answers.into_iter().take(1).collect());
    assert_eq!(run(place.ask(&server, &["--only", &ids[0]])).0, 0);
    server.push([Step::error(401, "no such key")]);
    let (code, out, err) = run(place.ask(&server, &["--only", &ids[1]]));
    assert!(code == 1 && err.contains("no such key"), "{code} {out} {err}");
    assert!(out.contains("refactor: 0 of 1 tasks (") && !out.contains('%'), "{out}");
}

#[test]
fn a_run_ends_with_its_budget_and_continues_with_a_larger_one() {
    let place = TaskFolder::new(&["harbour.py", "harbour.rs"]);
    let server = ModelServer::start(place.answers(Oracle::Perfect));
    let (code, out, err) = run(place.ask(&server, &["--budget", "1"]));
    assert!(code == 2 && err.contains("the budget does not suffice"), "{code} {out} {err}");
    let done = place.results().len();
    assert!(done < 2 && server.requests().len() < 2, "{out}");
    let (code, out, err) = run(place.ask(&server, &["--budget", "10000"]));
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!((place.results().len(), server.requests().len()), (2, 2));
}

/// A thousand tokens of an answer cost a dollar.
const PAID_BY_OUTPUT: &str = "input_price = 0.0\noutput_price = 1000.0\n";

#[test]
fn an_answer_that_the_budget_cuts_off_is_not_a_result() {
    let place = TaskFolder::new(&["harbour.py"]);
    let good = place.answers(Oracle::Perfect);
    // One server keeps to the 500 tokens that are paid for, the other does not.
    let cut = Step::Cut { chunks: vec!["word ".to_owned(); 499], reason: "length".to_owned() };
    let endless = Step::Reply { chunks: vec!["several words ".to_owned(); 2000], gap_ms: 0 };
    for answer in [cut, endless] {
        let server = ModelServer::start([vec![answer], good.clone()].concat());
        let ask = |budget: &str| run(place.ask_at(PAID_BY_OUTPUT, &server, &["--budget", budget]));
        let (code, out, err) = ask("0.5");
        assert!(code == 2 && err.contains("the budget does not suffice"), "{code} {out} {err}");
        assert_eq!((place.results().len(), server.requests().len()), (0, 1), "{err}");
        assert_eq!(server.requests()[0].body["max_tokens"], 500);
        let lost = place.lost();
        assert!((0.45..0.6).contains(&lost), "{lost}");
        let (code, _, err) = ask("0.5");
        assert!(code == 2 && server.requests().len() == 1, "what is lost is spent: {code} {err}");
        let (code, out, err) = ask("10");
        assert!(code == 0 && place.results()[0]["passed"] == 1, "{code} {out} {err}");
        fs::remove_dir_all(place.file("run")).unwrap();
    }
}

#[test]
fn several_jobs_spend_no_more_than_the_budget() {
    let place = TaskFolder::new(&["harbour.py", "harbour.rs", "harbour.go"]);
    let endless = Step::Reply { chunks: vec!["several words ".to_owned(); 4000], gap_ms: 0 };
    let server = ModelServer::start(vec![endless; 6]);
    let (code, out, err) = run(place.ask_at(PAID_BY_OUTPUT, &server, &["--budget", "1.2", "--jobs", "3"]));
    assert!(code == 2 && err.contains("the budget does not suffice"), "{code} {out} {err}");
    assert!(server.requests()[0].body["max_tokens"].as_u64() <= Some(400));
    // An answer may exceed its limit by an eighth before it is stopped.
    let lost = place.lost();
    assert!((0.6..1.4).contains(&lost), "{lost}");
}

#[test]
fn a_turn_ends_at_the_time_limit() {
    let place = TaskFolder::new(&["harbour.py"]);
    let server = ModelServer::start(vec![Step::Hang]);
    let (code, out, err) = run(place.ask(&server, &["--time-limit", "1.5"]));
    assert_eq!(code, 0, "{out}{err}");
    let result = &place.results()[0];
    assert_eq!((&result["timed_out"], &result["passed"]), (&true.into(), &Value::Null), "{result}");
    assert!(result["cost"].as_f64() > Some(1.0), "the request was sent: {result}");
    server.wait_cancelled();
}

#[test]
fn a_request_that_does_not_fit_is_not_a_malformed_answer() {
    let place = TaskFolder::new(&["harbour.py"]);
    let overflow = "This model's maximum context length is 1000 tokens, however you requested 9000 tokens";
    let server = ModelServer::start(vec![Step::error(400, overflow); 8]);
    let (code, out, err) = run(place.ask(&server, &[]));
    assert_eq!(code, 0, "{out}{err}");
    let result = &place.results()[0];
    assert_eq!((&result["exhausted"], &result["malformed"]), (&true.into(), &0.into()), "{result}");
}

/// Waits until `happened` returns true.
#[track_caller]
fn wait_for(what: &str, happened: impl Fn() -> bool) {
    let since = Instant::now();
    while !happened() {
        assert!(since.elapsed() < WAIT_TIMEOUT, "{what} did not come");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Starts a run whose second task hangs, and waits until it does.
fn hanging(place: &TaskFolder, server: &ModelServer) -> Child {
    let like = place.ask(server, &[]);
    let mut command = Process::new(like.get_program());
    command.args(like.get_args()).current_dir(place.path()).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    server.wait_for_requests(2);
    wait_for("the first result", || place.results().len() == 1);
    child
}

#[test]
fn a_killed_run_leaves_no_process_and_continues() {
    let place = TaskFolder::new(&["harbour.py", "harbour.rs"]);
    let mut answers = place.answers(Oracle::Perfect);
    let second = answers.pop().unwrap();
    let server = ModelServer::start(answers);
    server.push([Step::Hang]);
    let mut child = hanging(&place, &server);
    child.kill().unwrap();
    child.wait().unwrap();
    if cfg!(target_os = "linux") {
        server.wait_cancelled();
    }
    server.push([second]);
    let (code, out, err) = run(place.ask(&server, &[]));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("refactor: 2 of 2 tasks") && out.contains("2 of 2 "), "{out}");
    assert_eq!(server.requests().len(), 3, "the first task was done twice");
}

#[test]
fn an_interrupted_run_stops_its_processes() {
    let place = TaskFolder::new(&["harbour.py", "harbour.rs"]);
    let mut answers = place.answers(Oracle::Perfect);
    answers.pop();
    let server = ModelServer::start(answers);
    server.push([Step::Hang]);
    let mut child = hanging(&place, &server);
    let sent = Process::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    server.wait_cancelled();
    assert_eq!(place.results().len(), 1);
}

#[test]
fn a_run_is_graded_again_from_its_files() {
    let place = TaskFolder::new(&["harbour.py"]);
    let (code, _, err) = run(place.run("run", &["--recite", "perfect"]));
    assert_eq!(code, 0, "{err}");
    let graded = || run(bench(place.path(), &["refactor", "grade", "run"])).1;
    assert!(graded().contains("100.0 %      1 of 1"), "{}", graded());
    let (task, source) = place.tasks().remove(0);
    fs::write(place.file(&format!("run/files/{}/harbour.py", task.id)), &source).unwrap();
    let text = graded();
    assert!(text.contains("not so: the function is at the top level: summarize is not there"), "{text}");
    assert!(text.contains("  failed: at-top") && text.contains("0.0 %      0 of 1"), "{text}");
}

#[test]
fn a_run_is_not_graded_by_other_tasks() {
    let place = TaskFolder::new(&["harbour.py", "harbour.rs"]);
    assert_eq!(run(place.run("run", &["--recite", "perfect"])).0, 0);
    let list = fs::read_to_string(place.file("tasks/tasks.jsonl")).unwrap();
    let with = |list: &str| {
        fs::write(place.file("tasks/tasks.jsonl"), list).unwrap();
        let graded = run(bench(place.path(), &["refactor", "grade", "run"]));
        (graded, run(place.run("run", &["--recite", "perfect"])))
    };
    let (graded, again) = with(&list);
    assert_eq!((graded.0, again.0), (0, 0));
    let nodes = list.replacen("\"method\":1", "\"method\":9", 1);
    assert_ne!(nodes, list);
    let first = list.lines().next().unwrap();
    for (changed, part) in [(nodes.as_str(), "were changed since the run"), (first, "gone: ")] {
        let (graded, again) = with(changed);
        assert!(graded.0 == 2 && graded.1.is_empty() && graded.2.contains(part), "{graded:?}");
        assert!(again.0 == 2 && again.2.contains("its tasks differ"), "{again:?}");
    }
}

#[test]
fn a_result_that_is_not_utf_8_is_graded_the_same_again() {
    let place = TaskFolder::new(&["harbour.py"]);
    assert_eq!(run(place.run("run", &["--recite", "perfect"])).0, 0);
    let path = place.file(&format!("run/files/{}/harbour.py", place.tasks()[0].0.id));
    let text = fs::read(&path).unwrap();
    fs::write(&path, [&text[..], b"# caf\xe9\n"].concat()).unwrap();
    let graded = || run(bench(place.path(), &["refactor", "grade", "run"]));
    assert!(graded().1.contains("100.0 %      1 of 1"), "{:?}", graded());
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let (code, _, err) = graded();
    assert!(code == 3 && err.contains("cannot read run/files"), "{code} {err}");
}

#[test]
fn a_report_is_written_to_a_file_next_to_the_run() {
    let place = TaskFolder::new(&["harbour.py"]);
    let (code, _, err) = run(place.run("results.json", &["--recite", "perfect"]));
    assert_eq!(code, 0, "{err}");
    let report = json(&fs::read_to_string(place.file("results.json")).unwrap());
    assert_eq!(report["summary"]["passed"][0]["count"], 1, "{report}");
    assert!(place.file("results/results.jsonl").is_file());
}

#[test]
fn a_folder_without_a_run_or_tasks_is_a_usage_error() {
    let place = TaskFolder::new(&["harbour.py"]);
    let fails = |args: &[&str], part: &str| {
        let (code, out, err) = run(bench(place.path(), args));
        assert!(matches!(code, 2 | 3) && out.is_empty() && err.contains(part), "{args:?}: {code} {out} {err}");
    };
    fails(&["refactor", "build", "--from", "tasks/none"], "tasks/none");
    fails(&["refactor", "run", "--tasks", "from", "--out", "x"], "tasks.jsonl");
    fails(&["refactor", "run", "--tasks", "tasks", "--out", "x"], "no provider is configured");
    fails(&["refactor", "run", "--tasks", "tasks", "--out", "x", "--recite", "lucky"], "malformed");
    fails(
        &["refactor", "run", "--tasks", "tasks", "--out", "x", "--recite", "lazy", "--budget", "1"],
        "--budget has no meaning",
    );
    let formats = "diff, diff-fenced, udiff, whole, patch";
    fails(&["refactor", "run", "--tasks", "tasks", "--out", "x", "--recite", "lazy", "--edit-format", "auto"], formats);
    fails(&["refactor", "grade", "from"], "run.json");
    fails(&["compare", "from", "from"], "run.json");
}

#[test]
fn a_build_without_tasks_reports_what_was_left_out() {
    let place = TaskFolder::new(&["harbour.py"]);
    fs::write(place.file("from/latin.py"), b"# caf\xe9\nclass A:\n    pass\n").unwrap();
    let build = |more: &[&str]| {
        let args = ["refactor", "build", "--from", "from", "--out", "other"];
        run(bench(place.path(), &[&args[..], more].concat()))
    };
    let (code, out, err) = build(&["--min-nodes", "9000"]);
    assert!(code == 2 && err.contains("no method that makes a task") && err.contains("fewer --min-nodes"), "{err}");
    assert!(
        out.starts_with("0 tasks from 0 of 2 files\n") && out.contains("1 files that cannot be read as UTF-8"),
        "{out}"
    );
    let (code, out, err) = build(&["--min-nodes", "1", "--exclude", "*.py", "--json"]);
    assert!(code == 2 && !err.contains("--min-nodes"), "{err}");
    assert_eq!((&json(&out)["tasks"], &json(&out)["out"]), (&0.into(), &Value::Null), "{out}");
    assert!(!place.file("other").exists());
    let (code, _, err) = build(&["--exclude", "a{"]);
    assert!(code == 2 && err.contains("--exclude") && err.contains("a{"), "{err}");
}

#[test]
fn tasks_and_excluded_files_are_not_sources() {
    let place = TaskFolder::new(&["harbour.py", "harbour.rs"]);
    let build = |from: &str, out: &str, more: &[&str]| {
        let args = ["refactor", "build", "--json", "--from", from, "--out", out];
        let (code, out, err) = run(bench(place.path(), &[&args[..], more].concat()));
        assert_eq!(code, 0, "{out}{err}");
        json(&out)["tasks"].as_u64().unwrap()
    };
    // The tasks of the two sources are in the same folder.
    assert_eq!((build(".", "again", &[]), build(".", "again", &[])), (2, 2));
    fs::remove_file(place.file("again/tasks.jsonl")).unwrap();
    assert_eq!(build(".", "again", &[]), 2);
    assert_eq!((build("from", "from", &[]), build("from", "from", &[])), (2, 2));
    for glob in ["**/harbour.py", "from/*.py", "from/h*bour.py"] {
        assert_eq!(build(".", "one", &["--exclude", glob]), 1, "{glob}");
    }
    fs::create_dir(place.file("from/tests")).unwrap();
    fs::copy(place.file("from/harbour.py"), place.file("from/tests/again.py")).unwrap();
    assert_eq!((build("from", "x", &[]), build("from", "x", &["--exclude", "tests/"])), (3, 2));
    assert_eq!(build("from", "x", &["--exclude", "*.py"]), 2, "a star does not match a slash");
}

#[test]
fn tasks_that_cannot_be_written_are_an_error() {
    let place = TaskFolder::new(&["harbour.py"]);
    fs::write(place.file("taken"), "").unwrap();
    let args = ["refactor", "build", "--from", "from", "--out", "taken/x"];
    let (code, out, err) = run(bench(place.path(), &args));
    assert!(code != 0 && out.is_empty() && err.contains("cannot write") && err.contains("--out"), "{code} {err}");
}
