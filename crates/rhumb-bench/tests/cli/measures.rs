//! The benchmarks without a model, on a small repository.

use super::*;

/// A repository with a change to `depth`, and a case file for that change outside of it.
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
    let args = ["context", "--git-dir", git_dir.to_str().unwrap(), "--cases", &file, "--without", "request"];
    let (code, out, err) = run(bench(here, &args));
    assert_eq!((code, err.as_str()), (0, ""));
    for part in ["M1 1024", "M2 4096", "R@10", "nDCG@10", "\nall ", "\nwithout request ", "1.000/1.000/1.000"] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let (_, out, _) = run(bench(here, &[&args[..], &["--budget", "256", "--json"]].concat()));
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
    let args = ["edits", "--git-dir", git_dir.to_str().unwrap(), "--cases", "20"];
    let more = ["--inflexible", "--failures", failures.to_str().unwrap()];
    let (_, out, err) = run(bench(here, &[&args[..], &more].concat()));
    assert!(err.contains("1 suitable change instead of 240"), "{err}");
    for part in ["WRONG", "\nudiff       clean", "\nall         all", "99th percentile", "exact matching:"] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let rows = |line: &str| out.lines().filter(|other| other.starts_with(line)).count();
    assert_eq!((rows("udiff       clean"), rows("all         all")), (2, 2), "both runs have all rows: {out}");
    let (_, out, _) = run(bench(here, &[&args[..], &["--json", "--inflexible"]].concat()));
    let report = json(&out);
    for (key, row) in [("groups", "kind"), ("defects", "defect")] {
        let keys = |value: &Value| {
            let rows = value[key].as_array().unwrap().iter();
            rows.map(|entry| format!("{} {} {}", entry["format"], entry[row], entry["cases"])).collect::<Vec<_>>()
        };
        assert!(!keys(&report).is_empty());
        assert_eq!(keys(&report), keys(&report["to_the_letter"]));
    }
    assert_eq!(report["failed_to_the_letter"], report["to_the_letter"]["failed"]);
    let (_, out, _) = run(bench(here, &[&args[..], &["--json", "--format", "udiff"]].concat()));
    let report = json(&out);
    let clean = report["groups"].as_array().unwrap().iter().find(|group| group["kind"] == "clean").unwrap();
    assert_eq!((&clean["format"], &clean["cases"], &clean["right"]), (&"all".into(), &4.into(), &4.into()), "{out}");
    assert!(repo.git(&["status", "--porcelain"]).is_empty());

    let corpus = workspace().join("tests/edit_formats");
    let (code, out, err) = run(bench(here, &["edits", "--corpus", corpus.to_str().unwrap(), "--json"]));
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (code, _, err) = run(bench(here, &["edits", "--corpus", here.to_str().unwrap()]));
    assert!(code == 2 && err.contains("there is no case"), "{err}");
    let (code, _, err) = run(bench(here, &[&args[..], &["--format", "xml"]].concat()));
    assert!(code == 2 && err.contains("there is no format \"xml\""), "{err}");
    let corpus = corpus.to_str().unwrap();
    for from in [&args[..], &["edits", "--corpus", corpus]] {
        let (code, out, err) = run(bench(here, &[from, &["--defect", "nonsense"]].concat()));
        assert!(code == 2 && out.is_empty() && err.contains("no defect \"nonsense\""), "{err}");
        assert!(err.contains("name-dot") && err.contains("outside-root"), "{err}");
    }
    let (_, help, _) = run(bench(here, &["edits", "--help"]));
    assert!(help.contains("name-dot") && help.contains("outside-root"), "{help}");
}

#[test]
fn cases_that_cannot_be_run_are_a_usage_error() {
    let (repo, folder, file) = harbour_case();
    let path = repo.path();
    let fails = |cases: &str, more: &[&str]| {
        let args = ["context", "--git-dir", path.to_str().unwrap(), "--cases", cases];
        let (code, out, err) = run(bench(folder.path(), &[&args[..], more].concat()));
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        err
    };
    let err = fails(&file, &["--without", "luck"]);
    assert!(err.contains("no signal \"luck\"") && err.contains("request, history, graph, imports"), "{err}");
    let broken = folder.path().join("broken.jsonl");
    let case = fs::read_to_string(&file).unwrap();
    fs::write(&broken, format!("{case}not a case\n")).unwrap();
    let err = fails(broken.to_str().unwrap(), &[]);
    assert!(err.contains("line 2 is not a case") && err.contains("\"parent\": \"HEAD~1\""), "{err}");
    // Help texts are wrapped.
    let help = |command: &str| run(super::bench(&path, &[command, "--help"])).1.split_whitespace().collect::<String>();
    assert!(help("context").contains("\"parent\":\"HEAD~1\""), "{}", help("context"));
    assert!(help("questions").contains("\"relevant\":[{"), "{}", help("questions"));
    let parent = repo.git(&["rev-parse", "HEAD~1"]);
    fs::write(&broken, case.replace(parent.trim(), &"0123".repeat(10))).unwrap();
    let err = fails(broken.to_str().unwrap(), &[]);
    assert!(err.contains("case lenient: the repository has no commit 0123"), "{err}");
    assert!(fails(folder.path().join("none").to_str().unwrap(), &[]).contains("cannot read"));
}

#[test]
fn a_slower_run_of_the_performance_suite_is_reported_by_figure_and_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, figures: &[(&str, f64)]| {
        let mut text = "{\"program\":\"rhumb 1\",\"system\":\"linux x86_64\",\"threads\":2}\n".to_owned();
        for (figure, value) in figures {
            text += &format!(
                "{{\"suite\":\"frames\",\"name\":\"{figure}\",\"unit\":\"ms\",\"value\":{value},\"budget\":5}}\n"
            );
        }
        fs::write(folder.path().join(name), text).unwrap();
    };
    write("old", &[("typing", 1.0), ("paging", 2.0), ("gone", 1.0)]);
    write("slow", &[("typing", 1.2), ("paging", 2.1)]);
    write("other", &[("else", 1.0)]);
    let compare = |a: &str, b: &str, more: &[&str]| run(bench(folder.path(), &[&["compare", a, b], more].concat()));
    let (code, out, _) = compare("old", "slow", &[]);
    let line = |what: &str| out.lines().find(|line| line.contains(what)).unwrap_or_default().to_owned();
    assert_eq!(code, 1, "{out}");
    assert!(line("typing").ends_with("1.20  WORSE") && line("paging").ends_with("1.05"), "{out}");
    assert!(line("gone").ends_with("gone") && out.contains("1 worse by more than 10 %"), "{out}");
    let (code, out, _) = compare("old", "old", &["--json"]);
    let value: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(code == 0 && value["worse"] == 0 && value["figures"][0]["verdict"] == "same", "{out}");
    let (code, _, err) = compare("old", "other", &[]);
    assert!(code == 2 && err.contains("no figure in common"), "{err}");
    fs::write(folder.path().join("other"), "{}").unwrap();
    let (code, _, err) = compare("old", "other", &[]);
    assert!(code == 2 && err.contains("other is not a run of the performance suite: line 1"), "{err}");
}

#[test]
fn a_map_without_files_has_no_ratio() {
    let folder = tempfile::tempdir().unwrap();
    let figures = |more: &[&str]| {
        let (code, out, err) = run(bench(folder.path(), &[&["map", "--runs", "1"], more].concat()));
        assert_eq!(code, 0, "{err}");
        json(&out)["figures"].as_array().unwrap().clone()
    };
    let names = |figures: &[Value]| figures.iter().map(|figure| figure["name"].to_string()).collect::<Vec<_>>();
    let ratio = "\"cold-over-floor\"".to_owned();
    let nothing = figures(&["--json"]);
    assert!(!names(&nothing).contains(&ratio) && names(&nothing).contains(&"\"files\"".to_owned()), "{nothing:?}");
    fs::write(folder.path().join("a.py"), "def a():\n    pass\n").unwrap();
    assert!(names(&figures(&["--format", "json"])).contains(&ratio));
    let (code, out, err) = run(bench(folder.path(), &["map", "--runs", "0"]));
    assert!(code == 2 && out.is_empty() && err.contains("--runs"), "{err}");
    let (_, help, _) = run(bench(folder.path(), &["map", "--help"]));
    assert!(!help.contains("what the model sees"), "{help}");
}
