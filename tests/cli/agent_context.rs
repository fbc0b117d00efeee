//! What a long agent loop sends: how much of it a server can take from its cache, and what is dropped to fit.

#![allow(clippy::print_stderr)] // the share is reported

use serde_json::json as object;

use super::agent::{agent_command, run_agent};
use super::support::exercise::{greet_repo, steps};
use super::support::wire::{Answer, Api};
use super::*;

/// A file of `lines` lines.
fn log(lines: usize) -> String {
    (1..=lines)
        .map(|line| format!("{line}: the pump on berth {} reported {} bar\n", line % 17, line * 31 % 97))
        .collect()
}

fn read(step: usize) -> Answer {
    Answer::calls([(
        "read_file",
        object!({"path": "log.txt", "start_line": step * 30 + 1, "end_line": step * 30 + 30}),
    )])
    .with_text(&format!("Part {step}."))
}

/// The blocks of a request to Anthropic in the order in which its cache sees them, each with whether it is marked.
fn blocks(body: &Value) -> Vec<(String, bool)> {
    let mut blocks: Vec<(String, bool)> = Vec::new();
    let mut push = |value: &Value, role: &str| {
        let mut value = value.clone();
        let mark = value.as_object_mut().and_then(|fields| fields.shift_remove("cache_control"));
        blocks.push((format!("{role}{value}"), mark.is_some()));
    };
    for tool in body["tools"].as_array().into_iter().flatten() {
        push(tool, "tool");
    }
    for block in body["system"].as_array().into_iter().flatten() {
        push(block, "system");
    }
    for message in body["messages"].as_array().into_iter().flatten() {
        for block in message["content"].as_array().into_iter().flatten() {
            push(block, message["role"].as_str().unwrap_or_default());
        }
    }
    blocks
}

#[test]
fn most_of_each_request_of_a_long_loop_comes_from_the_cache() {
    const STEPS: usize = 30;
    let repo = greet_repo();
    repo.file("log.txt", &log(1_000)).commit("Add a log");
    let mut script: Vec<Answer> = (0..STEPS).map(read).collect();
    script.push(Answer::text("Done."));
    let server = ModelServer::start(steps(script));
    // A model whose server caches up to marks.
    let flags = ["--json", "--max-steps", "50", "--model", "claude-sonnet-4-5"];
    let command = agent_command(&repo, &server, Api::Anthropic, &flags);
    let ran = run_agent(command);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let requests = server.requests();
    assert_eq!(requests.len(), STEPS + 1);
    // The prefixes that the server keeps: everything up to a mark.
    let mut kept: Vec<Vec<String>> = Vec::new();
    let (mut cached_of_all, mut all) = (0, 0);
    for (step, request) in requests.iter().enumerate() {
        let blocks = blocks(&request.body);
        let marks = blocks.iter().filter(|(_, marked)| *marked).count();
        assert!((1..=4).contains(&marks), "{marks} marks in request {step}");
        let texts: Vec<String> = blocks.iter().map(|(text, _)| text.clone()).collect();
        let size = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
        let cached =
            kept.iter().filter(|prefix| texts.starts_with(prefix)).map(|prefix| size(prefix)).max().unwrap_or(0);
        let whole = size(&texts);
        (cached_of_all, all) = (cached_of_all + cached, all + whole);
        assert!(step < 5 || cached * 100 > whole * 80, "request {step}: {cached} of {whole} bytes are cached");
        let marked = blocks.iter().enumerate().filter(|(_, (_, marked))| *marked);
        kept.extend(marked.map(|(at, _)| texts[..=at].to_vec()));
    }
    eprintln!("cached share of {STEPS} steps: {:.1} % of {all} bytes", 100.0 * cached_of_all as f64 / all as f64);
}

#[test]
fn each_request_of_a_loop_extends_the_one_before() {
    for (api, field) in
        [(Api::Chat, "messages"), (Api::Responses, "input"), (Api::Gemini, "contents"), (Api::Ollama, "messages")]
    {
        let repo = greet_repo();
        repo.file("log.txt", &log(1_000)).commit("Add a log");
        let mut script: Vec<Answer> = (0..8).map(read).collect();
        script.push(Answer::text("Done."));
        let server = ModelServer::start(steps(script));
        let mut command = agent_command(&repo, &server, api, &["--json"]);
        command.env("RHUMB_CONTEXT_WINDOW", "200000");
        let ran = run_agent(command);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let sent: Vec<Vec<Value>> = server
            .requests()
            .iter()
            .map(|request| request.body[field].as_array().cloned().unwrap_or_default())
            .collect();
        for (before, after) in sent.iter().zip(&sent[1..]) {
            let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
            assert!(
                same == before.len(),
                "{}: message {same} of {} changed:\n{}\n{}",
                api.name(),
                before.len(),
                before[same],
                after[same]
            );
            assert!(after.len() > before.len());
        }
    }
}

#[test]
fn old_results_become_a_line_when_the_window_is_small() {
    let repo = greet_repo();
    repo.file("log.txt", &log(2_000)).commit("Add a log");
    let read = |step: usize| {
        Answer::calls([(
            "read_file",
            object!({"path": "log.txt", "start_line": step * 60 + 1, "end_line": step * 60 + 60}),
        )])
    };
    let mut script: Vec<Answer> = (0..24).map(read).collect();
    script.push(Answer::text("Done."));
    let server = ModelServer::start(steps(script));
    let mut command = agent_command(&repo, &server, Api::Chat, &["--json"]);
    command.env("RHUMB_CONTEXT_WINDOW", "24000");
    let ran = run_agent(command);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.results().iter().all(|(ok, _)| *ok));
    let results = Api::Chat;
    let last = server.requests().last().cloned().unwrap();
    let tools: Vec<String> = last.body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(tools.len(), 24);
    assert!(tools[0].contains("dropped") && tools[0].lines().count() == 1 && tools[0].len() < 200, "{}", tools[0]);
    assert!(tools[0].contains("log.txt"), "{}", tools[0]);
    assert!(tools[23].contains("the pump on berth"), "{}", tools[23]);
    assert_eq!(results.last_results(&last).len(), 1);
    assert!(last.body.to_string().len() < 24_000 * 4, "{}", last.body.to_string().len());
}
