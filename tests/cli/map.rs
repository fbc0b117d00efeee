//! `rhumb map`: the repo map as text and as JSON.

use super::*;

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

/// Reasons have their fields and are sorted by weight.
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

#[cfg(unix)]
#[test]
fn a_pipe_in_gits_folder_is_reported_and_the_map_is_built_without_git() {
    for name in [".git/config", ".git/shallow", ".git/more"] {
        let repo = harbour_repo();
        repo.git(&["config", "include.path", "more"]);
        let path = repo.path().join(name);
        drop(std::fs::remove_file(&path));
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (code, out, err) = run(rhumb(&repo.path(), &["map"]));
        assert!(code == 0 && out.contains("def depth(name)"), "{code} {out}");
        assert!(err.contains(&format!("{name} is a named pipe, so the repository was not opened")), "{err}");
    }
}
