//! `rhumb search`: the lines of whole chunks, the reasons for the hits, and the passages in the form for a model.

use std::path::Path;

use serde_json::Value;

use super::support::pty::Pty;
use super::{TestRepo, harbour_repo, json, rhumb, run};

fn rows(args: &[&str]) -> Vec<Value> {
    let repo = harbour_repo();
    let args = [&["search", "--format", "json", "--no-cache"], args].concat();
    let (code, out, err) = run(rhumb(&repo.path(), &args));
    assert_eq!(code, 0, "{err}");
    out.lines().map(json).collect()
}

#[test]
fn a_hit_has_the_lines_of_its_chunk() {
    let rows = rows(&["--query", "report of the depth in metres"]);
    assert_eq!((&rows[0]["path"], &rows[0]["symbol"]), (&"harbour.py".into(), &"report".into()), "{rows:?}");
    assert_eq!((&rows[0]["start_line"], &rows[0]["end_line"]), (&5.into(), &7.into()));
    assert!(rows.iter().all(|row| row.get("why").is_none()));
}

#[test]
fn it_is_explained_what_speaks_for_a_hit() {
    let rows = rows(&["--query", "report of the depth in metres", "--explain"]);
    let why = rows[0]["why"].as_array().unwrap();
    assert!(why.iter().any(|why| why["ground"] == "words of the message in its text"), "{why:?}");
    assert!(why[0]["weight"].as_f64().unwrap().abs() >= why[why.len() - 1]["weight"].as_f64().unwrap().abs());
    assert!(rows[0]["words"].as_array().unwrap().contains(&"depth".into()), "{rows:?}");
}

#[test]
fn files_and_definitions_are_listed_for_a_whole_issue() {
    let issue = "The report of the depth is wrong\n\nTraceback (most recent call last):\n  File \"/srv/harbour.py\", line 6, in report\n    metres = depth(name)\nKeyError: 'x'\n";
    let files = rows(&["--unit", "file", "--query", issue, "--explain"]);
    assert_eq!(files[0]["path"], "harbour.py", "{files:?}");
    let why = files[0]["why"].as_array().unwrap();
    assert!(why.iter().any(|why| why["ground"] == "in a stack trace of the message"), "{why:?}");
    let symbols = rows(&["--unit", "symbol", "--query", issue]);
    assert_eq!((&symbols[0]["symbol"], &symbols[0]["path"]), (&"report".into(), &"harbour.py".into()), "{symbols:?}");
    assert!(symbols[0].get("container").is_none() && symbols[0]["start_line"].as_u64().unwrap() > 0);
    assert!(symbols.is_sorted_by(|a, b| a["score"].as_f64() >= b["score"].as_f64()));
}

/// Issues as users paste them: a stack trace, a link to lines with code, and prose alone.
const ISSUES: [(&str, &str); 3] = [
    (
        "trace",
        "tidewatch crashes for long periods\n\n### What happened\n\nI asked for two months:\n\n```\n$ tidewatch harbour --hours 1440\nTraceback (most recent call last):\n  File \"/usr/lib/python3.12/site-packages/tidewatch/cli.py\", line 43, in main\n    samples = forecast.heights(station, start, args.hours)\n  File \"/usr/lib/python3.12/site-packages/tidewatch/forecast.py\", line 24, in heights\n    raise ValueError(f\"hours must be 1 to {MAX_HOURS}\")\nValueError: hours must be 1 to 744\n```\n\n### Environment\n\n- OS: Debian 12\n- Python: 3.12.1\n",
    ),
    (
        "link",
        "An unknown station is not reported with its name\n\nSee https://github.com/example/tidewatch/blob/main/tidewatch/station.py#L60-L75 : `find` raises `UnknownStation`, and the message lists nothing.\n\n```python\nfrom tidewatch.station import find\n\nfind(\"harbor\")\n```\n",
    ),
    (
        "prose",
        "The chart is too narrow on wide terminals\n\nThe curve beneath the table always has the same width. It would be nice if drawing it used all columns.\n",
    ),
];

#[test]
fn whole_issues_are_ranked_and_explained_as_before() {
    let repo = TestRepo::new();
    for (path, text) in rhumb::demo::files() {
        repo.file(path, text);
    }
    repo.commit("The sample of the demo");
    for (name, issue) in ISSUES {
        let mut ranked = String::new();
        for unit in ["file", "symbol"] {
            let args = ["search", "--no-cache", "--unit", unit, "--limit", "3", "--explain", "--query", issue];
            let (code, out, err) = run(rhumb(&repo.path(), &args));
            assert_eq!(code, 0, "{err}");
            ranked.push_str(&format!("--unit {unit}\n{out}"));
        }
        insta::assert_snapshot!(format!("issue_{name}"), ranked);
    }
}

#[test]
fn files_are_not_searched_by_meaning() {
    let repo = harbour_repo();
    let args = ["search", "--unit", "file", "--mode", "semantic", "--query", "depth"];
    let (code, out, err) = run(rhumb(&repo.path(), &args));
    assert!(code == 2 && out.is_empty() && err.contains("leave out --unit"), "{code} {err}");
}

#[test]
fn a_query_without_searchable_words_is_an_error() {
    let repo = harbour_repo();
    for (query, told) in [("", "empty"), ("  ", "empty"), ("how is the", "every text has"), ("zzyzx", "nothing speaks")]
    {
        let (code, out, err) = run(rhumb(&repo.path(), &["search", "--query", query]));
        assert_eq!((code, out.as_str()), (1, ""), "{query}");
        assert!(err.contains(told), "{query}: {err}");
    }
}

#[test]
fn the_context_is_what_a_model_reads_within_its_budget() {
    let repo = harbour_repo();
    let context = |args: &[&str]| {
        let args = [&["search", "--context", "--query", "how is the depth reported"], args].concat();
        run(rhumb(&repo.path(), &args))
    };
    let (_, text, _) = context(&[]);
    assert!(text.contains("harbour.py:1-7\n") && text.contains("\n6      metres = depth(name)\n"), "{text}");
    let within = json(&context(&["--tokens", "60", "--format", "json"]).1);
    assert!(within["tokens"].as_u64().unwrap() <= 60, "{within}");
    let passages = within["passages"].as_array().unwrap();
    assert!(passages.iter().any(|passage| passage["path"] == "harbour.py"), "{within}");
    let (code, _, err) = context(&["--tokens", "3"]);
    assert!(code == 1 && err.contains("so few tokens"), "{err}");
}

#[test]
fn the_first_lines_are_shown_on_a_terminal_alone() {
    let repo = harbour_repo();
    let args = ["search", "--query", "report", "--no-cache"];
    assert!(!run(rhumb(&repo.path(), &args)).1.contains("metres"));
    let mut pty = Pty::spawn(Path::new(env!("CARGO_BIN_EXE_rhumb")), &args, &repo.path(), &[], 120, 40);
    assert_eq!(pty.wait_exit().exit_code(), 0, "{}", pty.screen());
    assert!(pty.screen().contains("6      metres = depth(name)"), "{}", pty.screen());
}
