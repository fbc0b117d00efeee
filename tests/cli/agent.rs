//! `rhumb edit --agent` against scripted servers, in the five formats: the loop, its events, its limits and its troubles.

#![allow(clippy::print_stderr)] // skipped tests are reported

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::json as object;

use super::support::exercise::{greet_repo, greeted, script, steps};
use super::support::server::Request;
use super::support::wire::{Answer, Api, signature};
use super::*;

/// `rhumb edit --agent` against a server.
pub fn agent_command(repo: &TestRepo, server: &ModelServer, api: Api, flags: &[&str]) -> Command {
    let mut command = rhumb(&repo.path(), &["edit", "--agent", "-m", "Make the test pass", "--api", api.name()]);
    command.args(flags).args(["--base-url", &server.url(api)]);
    if !flags.contains(&"--model") {
        command.args(["--model", MODEL]);
    }
    command
}

/// What a run printed, with its events if it was asked for JSON.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
    pub events: Vec<Value>,
}

#[track_caller]
pub fn run_agent(command: Command) -> Ran {
    let (code, out, err) = run(command);
    let events = if out.starts_with('{') { out.lines().map(json).collect() } else { Vec::new() };
    Ran { code, out, err, events }
}

#[track_caller]
pub fn agent(repo: &TestRepo, server: &ModelServer, flags: &[&str]) -> Ran {
    run_agent(agent_command(repo, server, Api::Chat, flags))
}

impl Ran {
    pub fn of(&self, event: &str) -> Vec<&Value> {
        self.events.iter().filter(|each| each["event"] == event).collect()
    }

    /// The results in the order of the calls: whether each succeeded, and its text.
    pub fn results(&self) -> Vec<(bool, &str)> {
        let of = |call: &&Value| self.of("tool_result").into_iter().find(|result| result["id"] == call["id"]);
        let results = self.of("tool_call").into_iter().filter_map(|call| of(&call));
        results.map(|event| (event["ok"] == true, event["text"].as_str().unwrap_or_default())).collect()
    }
}

/// Whether commands run without a question here. Otherwise the caller is to skip.
pub fn runs_commands() -> bool {
    static IS_ISOLATED: OnceLock<bool> = OnceLock::new();
    let isolated = *IS_ISOLATED.get_or_init(|| {
        let (_, out, _) = run(rhumb(&harbour_repo().path(), &["try", "--json", "--", "true"]));
        let isolation = &json(&out)["isolation"];
        isolation["files"] == "overlay" && isolation["writes"] == "landlock" && isolation["network"] == "none"
    });
    if !isolated {
        eprintln!("SKIPPED: trials are not fully isolated here");
    }
    isolated
}

/// Settings of the user in a folder for `XDG_CONFIG_HOME`.
pub fn settings(toml: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("rhumb")).unwrap();
    fs::write(folder.path().join("rhumb/rhumb.toml"), toml).unwrap();
    folder
}

fn messages(request: &Request) -> Vec<Value> {
    let body = &request.body;
    let list = ["messages", "input", "contents"].iter().find_map(|name| body[*name].as_array());
    list.cloned().unwrap_or_default()
}

#[test]
fn a_task_is_solved_in_each_format_and_nothing_is_written_before_the_yes() {
    if !runs_commands() {
        return;
    }
    for api in Api::ALL {
        let repo = greet_repo();
        let server = ModelServer::start(steps(script()));
        let ran = run_agent(agent_command(&repo, &server, api, &[]));
        assert_eq!(ran.code, 0, "{} {}{}", api.name(), ran.out, ran.err);
        assert!(ran.out.contains("-    echo \"Hello $1\"\n+    echo \"Hello, $1!\"\n"), "{}", ran.out);
        assert!(ran.err.contains("step 3: ✗ run") && ran.err.contains("step 5: ✓ run"), "{}", ran.err);
        untouched(&repo);

        let server = ModelServer::start(steps(script()));
        let ran = run_agent(agent_command(&repo, &server, api, &["--yes", "--no-commit", "--json"]));
        assert_eq!(ran.code, 0, "{} {}", api.name(), ran.err);
        assert_eq!(repo.read("greet.sh"), greeted());
        assert_eq!(repo.git(&["status", "--porcelain"]), " M greet.sh\n");
        has_all_events(&ran);
        let requests = server.requests();
        assert_eq!(requests.len(), 6, "{}", api.name());
        results_follow_their_calls(api, &requests);
        thinking_comes_back(api, &requests);
    }
}

fn has_all_events(ran: &Ran) {
    let steps: Vec<u64> = ran.of("step").iter().map(|event| event["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [1, 2, 3, 4, 5]);
    let succeeded: Vec<bool> = ran.results().into_iter().map(|(ok, _)| ok).collect();
    assert_eq!(succeeded, [true, true, true, false, true, true], "{}", ran.out);
    let results = ran.results();
    assert!(results[0].1.contains("echo \"Hello $1\"") && results[3].1.contains("FAIL: Hello, Ada"), "{results:?}");
    assert!(results[5].1.contains("PASS"), "{results:?}");
    let calls = ran.of("tool_call");
    assert_eq!(calls[0]["arguments"], object!({"path": "greet.sh"}));
    for call in calls {
        assert_eq!(keys(call), ["event", "id", "name", "arguments"]);
        let at = |kind: &str| {
            ran.events.iter().position(|event| event["event"] == kind && event["id"] == call["id"]).unwrap()
        };
        assert!(at("tool_call") < at("tool_result"), "{call}");
        let result = &ran.events[at("tool_result")];
        assert_eq!((&result["name"], &result["arguments"]), (&call["name"], &call["arguments"]));
        assert!(result["tokens"].as_u64().is_some_and(|tokens| tokens > 0) && result["ms"].is_u64(), "{result}");
    }
    assert_eq!(ran.of("proposal")[0]["files"], object!([{"path": "greet.sh", "hunks": 1}]));
    assert_eq!(ran.of("written")[0]["written"], object!(["greet.sh"]));
    assert_eq!(ran.events.last().unwrap()["event"], "done");
}

/// Each request has a result for each call of the answer before, in its order.
fn results_follow_their_calls(api: Api, requests: &[Request]) {
    for (at, answer) in script().iter().enumerate().filter(|(_, answer)| !answer.calls.is_empty()) {
        let results = api.last_results(&requests[at + 1]);
        let names: Vec<String> = match api {
            Api::Gemini | Api::Ollama => answer.calls.iter().map(|(name, _)| name.clone()).collect(),
            _ => (0..answer.calls.len()).map(|index| format!("call_{}_{index}", at + 1)).collect(),
        };
        let of: Vec<&String> = results.iter().map(|(of, _)| of).collect();
        assert_eq!(of, names.iter().collect::<Vec<_>>(), "{}: {:#?}", api.name(), messages(&requests[at + 1]).last());
        assert!(results.iter().all(|(_, text)| !text.is_empty()));
    }
}

/// What the model thought is in all later requests, as it was.
fn thinking_comes_back(api: Api, requests: &[Request]) {
    for (at, request) in requests.iter().enumerate().skip(1) {
        let sent = messages(request);
        let all = request.body.to_string();
        match api {
            Api::Anthropic => {
                let has_calls = |message: &&Value| message["content"].to_string().contains("\"tool_use\"");
                let answers: Vec<&Value> = sent.iter().filter(has_calls).collect();
                let block = |number: usize, text: &str| object!({"type": "thinking", "thinking": text, "signature": signature(number)});
                assert_eq!(answers[0]["content"][0], block(1, "Which files matter?"));
                assert!(at < 3 || answers[2]["content"][0] == block(3, "Is that all?"), "{answers:#?}");
            }
            Api::Gemini => {
                let has_calls = |message: &&Value| message["parts"].to_string().contains("\"functionCall\"");
                let answer = sent.iter().find(has_calls).unwrap();
                let parts: Vec<&Value> = answer["parts"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter(|part| part.get("functionCall").is_some())
                    .collect();
                assert_eq!(parts[0]["thoughtSignature"], signature(1));
                assert!(parts[1].get("thoughtSignature").is_none());
            }
            Api::Responses => assert!(all.contains(&format!("\"encrypted_content\":\"{}\"", signature(1))), "{all}"),
            Api::Chat => assert!(all.contains("\"reasoning_content\":\"Which files matter?\""), "{all}"),
            Api::Ollama => assert!(all.contains("\"thinking\":\"Which files matter?\""), "{all}"),
        }
    }
}

#[test]
fn broken_arguments_are_answered_with_what_the_tool_takes() {
    for api in [Api::Chat, Api::Responses, Api::Anthropic] {
        let repo = greet_repo();
        let broken = "{\"path\": \"greet.sh\", \"search\": \"    echo \\\"Hello $1\\\"\\n\", \"repl";
        let right = object!({"path": "greet.sh", "search": "echo \"Hello $1\"", "replace": "echo \"Hello, $1!\""});
        let server = ModelServer::start(steps([
            Answer::raw_call("edit", broken),
            Answer::calls([("edit", right)]),
            Answer::text("Done."),
        ]));
        let ran = run_agent(agent_command(&repo, &server, api, &["--yes", "--no-commit", "--json"]));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let results = ran.results();
        assert!(!results[0].0 && results[0].1.contains("Arguments of edit: path: string"), "{results:?}");
        assert!(results[1].0, "{results:?}");
        assert_eq!(repo.read("greet.sh"), greeted());
        // The broken call is part of the history in a form that the server accepts.
        let sent = server.requests()[1].body.to_string();
        assert!(sent.contains("repl"), "{sent}");
    }
}

#[test]
fn a_stream_that_never_ends_is_given_up_and_its_work_is_kept() {
    for api in [Api::Chat, Api::Anthropic, Api::Ollama] {
        let repo = greet_repo();
        let mut script = script();
        script.truncate(2);
        let mut steps = steps(script);
        steps.push(Step::Endless(
            Answer::calls([("read_file", object!({"path": "test.sh"}))]).with_text("Wait a moment"),
        ));
        let server = ModelServer::start(steps);
        let mut command = agent_command(&repo, &server, api, &["--yes"]);
        command.env("RHUMB_TIMEOUT", "1");
        let began = Instant::now();
        let ran = run_agent(command);
        assert!([4, 5].contains(&ran.code), "{} {}", ran.code, ran.err);
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        assert!(ran.out.contains("+    echo \"Hello, $1\"\n"), "the proposal is printed: {}", ran.out);
        untouched(&repo);
    }
}

/// A call as text.
fn as_text(name: &str, arguments: &[(&str, &str)]) -> Answer {
    let line = |(name, value): &(&str, &str)| match value.ends_with('\n') {
        true => format!("{name} <<END\n{value}END\n"),
        false => format!("{name}: {value}\n"),
    };
    let lines: String = arguments.iter().map(line).collect();
    Answer::text(&format!("Next:\n\n```tool\n{name}\n{lines}```\n"))
}

#[test]
fn a_server_that_rejects_tools_gets_the_whole_exercise_as_text() {
    if !runs_commands() {
        return;
    }
    for (api, complaint) in [
        (Api::Ollama, object!({"error": "registry.ollama.ai/library/tiny does not support tools"})),
        (
            Api::Chat,
            object!({"error": {"message": "tools are not supported: start the server with --jinja", "code": 500}}),
        ),
    ] {
        let repo = greet_repo();
        let code = if api == Api::Ollama { 400 } else { 500 };
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let mut all = vec![Step::Status { code, body: complaint.to_string(), headers }];
        let edit = |search: &str, replace: &str| {
            let (search, replace) = (format!("    echo \"{search}\"\n"), format!("    echo \"{replace}\"\n"));
            as_text("edit", &[("path", "greet.sh"), ("search", &search), ("replace", &replace)])
        };
        all.extend(steps([
            as_text("read_file", &[("path", "greet.sh")]),
            edit("Hello $1", "Hello, $1"),
            as_text("run", &[("command", "sh test.sh")]),
            edit("Hello, $1", "Hello, $1!"),
            as_text("run", &[("command", "sh test.sh")]),
            Answer::text("The test passes."),
        ]));
        let server = ModelServer::start(all);
        let ran = run_agent(agent_command(&repo, &server, api, &["--yes", "--no-commit", "--json"]));
        assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
        let succeeded: Vec<bool> = ran.results().into_iter().map(|(ok, _)| ok).collect();
        assert_eq!(succeeded, [true, true, false, true, true], "{}", ran.out);
        assert_eq!(repo.read("greet.sh"), greeted());
        let requests = server.requests();
        assert!(requests[0].body.get("tools").is_some());
        assert!(requests[1..].iter().all(|request| request.body.get("tools").is_none()));
        let last = requests.last().unwrap().body.to_string();
        assert!(last.contains("Result of run") && last.contains("Error from run"), "{last}");
    }
}

/// The highest resident size of a process so far, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// A command that is started, not waited for.
pub fn spawned(repo: &TestRepo, server: &ModelServer, flags: &[&str], env: &[(&str, &str)]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rhumb"));
    command.current_dir(repo.path()).env_clear();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"))
        .env("XDG_CACHE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"))
        .env("RHUMB_API_KEY", KEY)
        .envs(env.iter().copied());
    command.args(["edit", "--agent", "-m", "Make the test pass", "--api", "chat"]).args(flags);
    command.args(["--base-url", &server.base_url(), "--model", MODEL]);
    command
}

#[test]
#[cfg(target_os = "linux")]
fn five_hundred_calls_in_a_row_need_little_memory() {
    let repo = greet_repo();
    let lines: String = (1..=600).map(|number| format!("line {number} of a long file\n")).collect();
    repo.file("long.txt", &lines).commit("Add a long file");
    let read = |line: usize| {
        Answer::calls([("read_file", object!({"path": "long.txt", "start_line": line, "end_line": line}))])
    };
    let mut script: Vec<Answer> = (1..=500).map(read).collect();
    script.push(Answer::text("I have read it all."));
    let server = ModelServer::start(steps(script));
    let flags = ["--json", "--max-steps", "600", "--run", "none"];
    let mut command = spawned(&repo, &server, &flags, &[("RHUMB_CONTEXT_WINDOW", "200000")]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (mut peak, mut results, mut last) = (0, 0, String::new());
    for line in output.lines().map_while(Result::ok) {
        results += usize::from(line.contains("\"tool_result\"") && line.contains("\"ok\":true"));
        peak = peak.max(peak_memory(child.id()).unwrap_or_default());
        last = line;
    }
    assert_eq!(child.wait().unwrap().code(), Some(0), "{last}");
    assert_eq!((results, server.requests().len()), (500, 501));
    assert!(peak > 0 && peak < 400 << 20, "{} MiB", peak >> 20);
    eprintln!("500 calls: at most {} MiB", peak >> 20);
}

#[test]
fn the_same_call_again_and_again_is_stopped() {
    let repo = greet_repo();
    let read = || Answer::calls([("read_file", object!({"path": "greet.sh"}))]);
    let mut script = script();
    script.truncate(2);
    script.extend((0..20).map(|_| read()));
    let server = ModelServer::start(steps(script));
    let ran = agent(&repo, &server, &["--yes", "--json"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(ran.of("cap")[0]["text"].as_str().unwrap().contains("same call 3 times"), "{}", ran.out);
    assert!(ran.results().iter().any(|(_, text)| text.contains("one more repetition stops the loop")));
    assert!(ran.of("diff")[0]["text"].as_str().unwrap().contains("+    echo \"Hello, $1\"\n"), "{}", ran.out);
    assert!(ran.of("written").is_empty() && server.requests().len() == 5, "{}", server.requests().len());
    untouched(&repo);
}

#[test]
fn a_command_with_a_large_output_shows_its_ends_and_more_can_be_read() {
    if !runs_commands() {
        return;
    }
    let repo = greet_repo();
    let command = "echo BEGIN; yes 'a line of a log that goes on and on and on' | head -c 10000000; echo; echo THE END";
    let server = ModelServer::start(steps([
        Answer::calls([("run", object!({"command": command}))]),
        Answer::calls([("read_file", object!({"path": "result:1", "start_line": 5000, "end_line": 5002}))]),
        Answer::text("Done."),
    ]));
    let ran = agent(&repo, &server, &["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let results = ran.results();
    let (ok, text) = results[0];
    assert!(ok && text.len() < 30_000, "{} bytes", text.len());
    assert!(text.contains("BEGIN\n") && text.contains("THE END") && text.contains("result:1"), "{text}");
    assert!(results[1].0 && results[1].1.matches("a line of a log").count() == 3, "{:?}", results[1]);
    let sent = server.requests()[1].body.to_string();
    assert!(sent.len() < 200_000, "{} bytes", sent.len());
}

/// Settings with prices for the model of the tests, in dollars for a million tokens.
const PRICES: &str = "[models.test-model]\nwindow = 200000\ninput_price = 10.0\noutput_price = 10.0\n";

#[test]
fn each_cap_ends_the_loop_with_the_diff_and_nothing_written() {
    let home = settings(PRICES);
    let with_usage = || {
        let mut script = script();
        script.truncate(2);
        let read = |line: usize| Answer::calls([("read_file", object!({"path": "test.sh", "start_line": line}))]);
        script.extend((1..=4).map(read));
        script.into_iter().map(|answer| answer.with_usage(10_000, 100)).collect::<Vec<_>>()
    };
    for (flags, requests, cap) in [
        (&["--max-steps", "2"][..], 2, "cap of 2 steps"),
        // Each request costs about ten cents.
        (&["--budget", "0.35"], 4, "cap on cost"),
    ] {
        for json in [true, false] {
            let repo = greet_repo();
            let server = ModelServer::start(steps(with_usage()));
            let mut command = agent_command(&repo, &server, Api::Chat, flags);
            command.args(["--yes"]).env("XDG_CONFIG_HOME", home.path());
            if json {
                command.arg("--json");
            }
            let ran = run_agent(command);
            assert_eq!(ran.code, 5, "{flags:?} {}", ran.err);
            assert_eq!(server.requests().len(), requests, "{flags:?} {}", ran.out);
            assert!(ran.out.contains(cap) || ran.err.contains(cap), "{flags:?} {} {}", ran.out, ran.err);
            assert!(
                ran.out.contains("+    echo \\\"Hello, $1\\\"") || ran.out.contains("+    echo \"Hello, $1\""),
                "{}",
                ran.out
            );
            assert!(!json || (ran.of("cap").len() == 1 && ran.of("written").is_empty()), "{}", ran.out);
            untouched(&repo);
        }
    }
}

#[test]
fn a_loop_ends_when_its_time_is_over_also_within_a_command() {
    if !runs_commands() {
        return;
    }
    let repo = greet_repo();
    let mut script = script();
    script.truncate(2);
    script.push(Answer::calls([("run", object!({"command": "sleep 91"}))]));
    let server = ModelServer::start(steps(script));
    let began = Instant::now();
    let ran = agent(&repo, &server, &["--yes", "--json", "--timeout", "3"]);
    assert_eq!(ran.code, 5, "{}", ran.err);
    assert!(began.elapsed() < Duration::from_secs(12), "{:?}", began.elapsed());
    assert!(ran.of("cap")[0]["text"].as_str().unwrap().contains("cap of 3 s"), "{}", ran.out);
    assert!(ran.of("diff")[0]["text"].as_str().unwrap().contains("+    echo \"Hello, $1\"\n"), "{}", ran.out);
    untouched(&repo);
}

#[test]
fn without_commands_no_tool_for_them_is_offered() {
    for (api, flags) in [(Api::Chat, &["--run", "none"][..]), (Api::Gemini, &["--run", "none"]), (Api::Chat, &[])] {
        let repo = greet_repo();
        let server = ModelServer::start(steps([
            Answer::calls([("run", object!({"command": "touch here"}))]),
            Answer::text("Done."),
        ]));
        let ran = run_agent(agent_command(&repo, &server, api, &[flags, &["--json"]].concat()));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let tools = server.requests()[0].body["tools"].to_string();
        assert!(tools.contains("\"read_file\"") && tools.contains("\"edit\""), "{tools}");
        assert_eq!(tools.contains("\"run\""), flags.is_empty(), "{tools}");
        assert!(!tools.contains("ask_user"), "there is nobody to ask: {tools}");
        let (ok, text) = ran.results()[0];
        assert!(flags.is_empty() || (!ok && text.contains("no tool \"run\"")), "{text}");
    }
}

#[test]
fn the_result_is_written_if_the_command_of_try_succeeds() {
    if !runs_commands() {
        return;
    }
    let repo = greet_repo();
    let server = ModelServer::start(steps(script().into_iter().chain(script())));
    let ran = agent(&repo, &server, &["--yes", "--no-commit", "--json", "--try", "echo red; exit 9"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(ran.of("try")[0]["try"]["exit"], 9);
    assert!(ran.of("written").is_empty());
    untouched(&repo);
    let ran = agent(&repo, &server, &["--yes", "--no-commit", "--json", "--try", "sh test.sh"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!((&ran.of("try")[0]["try"]["exit"], &ran.of("try")[0]["try"]["output"]), (&0.into(), &"PASS\n".into()));
    assert_eq!(repo.read("greet.sh"), greeted());
}

pub fn is_running(mark: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()))
}

#[track_caller]
pub fn wait_until(holds: impl Fn() -> bool, what: &str) {
    let until = Instant::now() + support::WAIT_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < until, "waited for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupt_ends_the_loop_and_its_command() {
    if !runs_commands() {
        return;
    }
    let mark = format!("{}", 80_000 + std::process::id() % 5_000);
    let slow = Answer::calls([("run", object!({"command": format!("setsid sleep {mark} & sleep {mark}")}))]);
    for in_command in [true, false] {
        let repo = greet_repo();
        let mut script = script();
        script.truncate(2);
        let mut steps = steps(script);
        steps.push(if in_command { Step::Answer(slow.clone()) } else { Step::Hang });
        let server = ModelServer::start(steps);
        let state = tempfile::tempdir().unwrap();
        let env = [("XDG_STATE_HOME", state.path().to_str().unwrap())];
        let mut command = spawned(&repo, &server, &["--yes"], &env);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        server.wait_for_requests(3);
        if in_command {
            wait_until(|| is_running(&mark), "the command");
        }
        let began = Instant::now();
        assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{err}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        assert!(!is_running(&mark), "a process is left");
        let trials = fs::read_dir(state.path().join("rhumb/trials")).map_or(0, Iterator::count);
        assert_eq!(trials, 0, "a trial checkout is left");
        untouched(&repo);
    }
}
