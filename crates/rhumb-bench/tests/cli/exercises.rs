//! `rhumb-bench exercises`: a model programs, the solution is tested in a separate folder, and failures go back to the model.

use super::*;

const TIDES: &str = "def level(hour):\n    pass\n";
const GOOD: &str = "def level(hour):\n    return abs(12 - hour % 24)\n";
const BAD: &str = "def level(hour):\n    return 7\n";
const TESTS: &str = "import unittest\n\nfrom tides import level\n\n\nclass TidesTest(unittest.TestCase):\n    \
                     def test_secret_noon(self):\n        self.assertEqual(level(12), 0)\n";

/// A collection in the public layout: tides in Python where there is one, depth for the shell.
fn collection() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join("all").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let config = |solution: &str, test: &str| {
        format!(
            r#"{{"authors": [], "files": {{"solution": ["{solution}"], "test": ["{test}"], "example": [".meta/example"]}}}}"#
        )
    };
    let tides = "python/exercises/practice/tides";
    write(&format!("{tides}/.meta/config.json"), &config("tides.py", "tides_test.py"));
    write(&format!("{tides}/.meta/example"), GOOD);
    write(&format!("{tides}/.docs/instructions.md"), "# Instructions\n\nGive the level of the tide.\n");
    write(&format!("{tides}/tides.py"), TIDES);
    write(&format!("{tides}/tides_test.py"), TESTS);
    let depth = "sh/exercises/practice/depth";
    write(&format!("{depth}/.meta/config.json"), &config("depth.sh", "test/depth_test.sh"));
    write(&format!("{depth}/.meta/example"), "echo 4\n");
    write(&format!("{depth}/.docs/instructions.md"), "Print the depth of Vik.\n");
    write(&format!("{depth}/depth.sh"), "# to be written\n");
    write(
        &format!("{depth}/test/depth_test.sh"),
        "[ \"$(sh depth.sh)\" = 4 ] || { echo 'Vik has 4 metres'; exit 1; }\n",
    );
    folder
}

fn whole(path: &str, text: &str) -> String {
    format!("{path}\n```\n{text}```\n")
}

#[allow(clippy::print_stdout)] // a test that skips says so
fn has_python() -> bool {
    let has =
        std::process::Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        println!("skipped: there is no python3");
    }
    has
}

fn exercises(folder: &Path, flags: &[&str]) -> Command {
    super::bench(folder, &[&["exercises", "--from", "all", "--out", "run"], flags].concat())
}

fn results(folder: &Path) -> Vec<Value> {
    fs::read_to_string(folder.join("run/results.jsonl")).unwrap().lines().map(json).collect()
}

#[test]
fn the_output_of_the_tests_goes_to_the_second_try() {
    if !has_python() {
        return;
    }
    let folder = collection();
    // Changes of the model to the tests do not count.
    let cheat = whole("tides_test.py", "print('fine')\n");
    let server = ModelServer::start(vec![
        Step::reply(&(whole("tides.py", BAD) + &cheat)),
        Step::reply(&whole("tides.py", GOOD)),
    ]);
    let url = server.base_url();
    let flags = ["--language", "python", "--model", MODEL, "--base-url", &url];
    let (code, out, err) = run(exercises(folder.path(), &flags));
    assert_eq!(code, 0, "{out}{err}");
    assert!(err.contains("tests run code that a model wrote"), "{err}");
    for part in [
        "exercises: 1 of 1 tasks, test-model",
        "passed at the first try              0.0 %",
        "passed by try 2                    100.0 %",
    ] {
        assert!(out.contains(part), "no {part:?} in {out}");
    }
    let requests = server.requests();
    let (first, second) = (requests[0].body.to_string(), requests[1].body.to_string());
    assert!(first.contains("Give the level of the tide.") && first.contains("def level"), "{first}");
    assert!(!first.contains("secret_noon") && !first.contains("tides_test"), "the tests are shown: {first}");
    assert!(second.contains("secret_noon") && second.contains("7 != 0"), "{second}");
    assert!(second.contains("return 7"), "the file is not as the first try left it: {second}");
    let kept = fs::read_to_string(folder.path().join("run/files/python/tides/tides.py")).unwrap();
    assert_eq!(kept, GOOD);
    assert_eq!(fs::read_to_string(folder.path().join("all/python/exercises/practice/tides/tides.py")).unwrap(), TIDES);
}

#[test]
fn examples_pass_their_own_tests() {
    let folder = collection();
    let language = if has_python() { &[][..] } else { &["--language", "sh"] };
    let count = if language.is_empty() { 2 } else { 1 };
    let (code, out, err) = run(exercises(folder.path(), &[&["--recite", "--json"], language].concat()));
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(json(&out)["summary"]["passed"][0]["count"], count, "{out}");
    let (code, out, err) = run(exercises(folder.path(), &[&["--recite"], language].concat()));
    assert!(code == 0 && out.contains("oracle model example") && err.is_empty(), "{code} {out} {err}");
    assert_eq!(results(folder.path()).len(), count, "done twice");
}

#[test]
fn tests_that_fail_are_distinguished_from_tests_that_time_out() {
    let folder = collection();
    let slow = format!("sh={}", "sleep 60 & sleep 60; wait");
    let flags = ["--recite", "--only", "depth", "--tries", "1", "--test-time-limit", "1"];
    let (code, out, err) = run(exercises(folder.path(), &[&flags[..], &["--test", &slow]].concat()));
    assert_eq!(code, 0, "{out}{err}");
    let result = &results(folder.path())[0];
    assert_eq!((&result["tests_timed_out"], &result["passed"]), (&true.into(), &Value::Null), "{result}");
    fs::remove_dir_all(folder.path().join("run")).unwrap();
    let (code, out, err) =
        run(exercises(folder.path(), &[&flags[..5], &["--test", "sh=echo $SECRET_KEY; exit 3"]].concat()));
    assert_eq!(code, 0, "{out}{err}");
    let result = &results(folder.path())[0];
    assert_eq!(
        (&result["tests_timed_out"], &result["failed"]),
        (&false.into(), &serde_json::json!(["tests"])),
        "{result}"
    );
}

#[test]
fn a_run_continues_only_with_the_same_test_commands() {
    let folder = collection();
    let flags = ["--recite", "--only", "depth", "--tries", "1"];
    assert_eq!(run(exercises(folder.path(), &flags)).0, 0);
    for (other, part) in [
        (["--test", "sh=true"], "its test of sh is unset, not true"),
        (["--test-time-limit", "7"], "its test_time_limit is 180s, not 7s"),
    ] {
        let (code, out, err) = run(exercises(folder.path(), &[&flags[..], &other].concat()));
        assert!(code == 2 && out.is_empty() && err.contains(part), "{code} {out} {err}");
    }
    let (code, out, err) = run(exercises(folder.path(), &["--recite", "--language", "sh", "--language", "ruby"]));
    assert!(code == 2 && out.is_empty() && err.contains("available languages: python, sh"), "{code} {out} {err}");
}

#[test]
fn tests_see_no_secret() {
    let folder = collection();
    let flags = ["--recite", "--only", "depth", "--tries", "1", "--test", "sh=echo \"[$RHUMB_API_KEY]\"; false"];
    let (code, out, err) = run(exercises(folder.path(), &flags));
    assert_eq!(code, 0, "{out}{err}");
    let said = fs::read_to_string(folder.path().join("run/logs/sh_depth-1.tests.txt")).unwrap();
    assert_eq!(said, "[]\n");
}

#[test]
fn a_language_without_a_test_command_is_a_usage_error() {
    let folder = collection();
    fs::rename(folder.path().join("all/sh"), folder.path().join("all/cobol")).unwrap();
    let (code, out, err) = run(exercises(folder.path(), &["--recite"]));
    assert!(code == 2 && out.is_empty() && err.contains("--test cobol=COMMAND"), "{code} {out} {err}");
    let (code, out, err) =
        run(exercises(folder.path(), &["--recite", "--language", "cobol", "--test", "cobol=sh test/depth_test.sh"]));
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(results(folder.path())[0]["passed"], 1);
    let (code, _, err) = run(exercises(folder.path(), &["--test", "cobol"]));
    assert!(code == 2 && err.contains("expected LANG=COMMAND"), "{err}");
}

/// The exercise of tides with other tests and another example.
fn tides_with(tests: &str, example: &str) -> tempfile::TempDir {
    let folder = collection();
    let tides = folder.path().join("all/python/exercises/practice/tides");
    fs::write(tides.join("tides_test.py"), tests).unwrap();
    fs::write(tides.join(".meta/example"), example).unwrap();
    folder
}

#[test]
fn a_run_without_tests_passes_nothing() {
    if !has_python() {
        return;
    }
    for (tests, example) in [
        ("import unittest\n\n\nclass TidesTest(unittest.TestCase):\n    pass\n", GOOD),
        (TESTS, "import os\n\nos._exit(0)\n"),
    ] {
        let folder = tides_with(tests, example);
        let (code, out, err) = run(exercises(folder.path(), &["--recite", "--language", "python"]));
        assert_eq!(code, 0, "{out}{err}");
        let result = &results(folder.path())[0];
        assert_eq!((&result["passed"], &result["failed"]), (&Value::Null, &serde_json::json!(["tests"])), "{example}");
        let last = result["tries"].as_u64().unwrap();
        let said = fs::read_to_string(folder.path().join(format!("run/logs/python_tides-{last}.tests.txt"))).unwrap();
        assert!(said.contains("No test ran to its end.") || said.contains("NO TESTS RAN"), "{said}");
    }
}

#[test]
fn pytest_tests_are_run_by_pytest_or_left_out() {
    if !has_python() {
        return;
    }
    let tests = "from tides import level\n\n\ndef test_noon():\n    assert level(12) == 0\n";
    let has_pytest = std::process::Command::new("python3").args(["-m", "pytest", "--version"]).output();
    let has_pytest = has_pytest.is_ok_and(|output| output.status.success());
    for (example, passes) in [(GOOD, true), (BAD, false)] {
        let folder = tides_with(tests, example);
        let (code, out, err) = run(exercises(folder.path(), &["--recite", "--json"]));
        assert_eq!(code, 0, "{out}{err}");
        let results = results(folder.path());
        let tides = results.iter().find(|entry| entry["id"] == "python/tides");
        if has_pytest {
            assert_eq!(tides.unwrap()["passed"].is_u64(), passes, "{out}");
        } else {
            assert!(tides.is_none() && err.contains("left out: python/tides") && err.contains("pytest"), "{out}{err}");
            let (code, _, err) = run(exercises(folder.path(), &["--recite", "--language", "python"]));
            assert!(code == 2 && err.contains("no exercise") && err.contains("pytest"), "{code} {err}");
        }
    }
}

#[test]
fn an_exercise_that_cannot_be_read_does_not_stop_the_others() {
    let folder = collection();
    let all = folder.path().join("all");
    fs::write(all.join("python/exercises/practice/tides/tides.py"), b"# caf\xe9\n").unwrap();
    fs::create_dir_all(all.join("sh/exercises/practice/stray")).unwrap();
    let (code, out, err) = run(exercises(folder.path(), &["--recite"]));
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("1 of 1 tasks"), "{out}");
    assert!(err.contains("tides.py") && err.contains("stray has no .meta/config.json"), "{err}");
}
