//! Tests of checks with temporary files and commands.

use super::*;
use crate::config::Settings;
use crate::host::CachedCounter;
use std::collections::BTreeMap;
use std::fs;

struct TestRepository {
    folder: tempfile::TempDir,
    settings: Settings,
    reported_missing: Mutex<BTreeSet<String>>,
}

impl TestRepository {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder, settings: Settings::default(), reported_missing: Mutex::default() }
    }

    fn check(&self, request: &VerifyRequest) -> JobOutcome {
        let root = Root::at(self.folder.path()).unwrap();
        let env = RequestEnv::new(self.settings.clone());
        let counter = CachedCounter::for_model("m");
        let mut context = CheckContext {
            root: &root,
            env: &env,
            counter: &counter,
            budget: 500,
            stop: &StopHandle::default(),
            on_event: &mut |_| {},
            reported_missing: &self.reported_missing,
        };
        check(&mut context, request)
    }

    fn written(&self, paths: &[&str]) -> JobOutcome {
        let files = paths.iter().map(|path| ((*path).to_owned(), None)).collect();
        self.check(&VerifyRequest {
            files,
            lint: CheckMode::FromSettings,
            test: CheckMode::FromSettings,
            ..VerifyRequest::default()
        })
    }
}

fn text(outcome: &JobOutcome) -> &str {
    outcome.shared.as_ref().map_or("", |shared| shared.text.as_str())
}

#[test]
fn what_does_not_parse_is_found_in_every_language_without_a_command() {
    let broken = [
        ("a.py", "def f():\n    return (1\n\n\ndef g():\n    pass\n"),
        ("b.rs", "fn main() {\n    let x = ;\n}\n"),
        ("c.json", "{\"a\": [1, 2}\n"),
        ("d.go", "package main\n\nfunc main( {\n}\n"),
        ("sub/e.ts", "export function f(: number {\n}\n"),
    ];
    for (path, source) in broken {
        let repository = TestRepository::new(&[(path, source)]);
        let outcome = repository.written(&[path]);
        assert!(outcome.failed && text(&outcome).contains(&format!("{path} does not parse")), "{path}: {outcome:?}");
        assert!(text(&outcome).contains('█') && outcome.files == [path]);
    }
    let repository = TestRepository::new(&[("a.py", "x = 1\n"), ("b.txt", "(((")]);
    let outcome = repository.written(&["a.py", "b.txt", "gone.py"]);
    assert!(!outcome.failed && outcome.checks == ["the syntax of 1 file"], "{outcome:?}");
}

#[test]
fn faults_that_were_there_before_are_not_the_writes() {
    let source = "def f(:\n    pass\n";
    let repository = TestRepository::new(&[("a.py", source)]);
    let files = vec![("a.py".to_owned(), Some(Arc::from(source)))];
    assert!(!repository.check(&VerifyRequest { files, lint: CheckMode::On, ..VerifyRequest::default() }).failed);
}

#[test]
fn a_linter_gets_the_files_of_its_language_and_its_places_are_shown() {
    let mut repository =
        TestRepository::new(&[("src/a b.py", "def f():\n    x = 1\n    return x\n"), ("c.rs", "fn main() {}\n")]);
    let lint = "sh -c 'for file; do echo \"$file:2:1: F841 unused\"; done; exit 1' lint";
    repository.settings.linters =
        BTreeMap::from([("python".to_owned(), lint.to_owned()), ("go".into(), "exit 9 #".into())]);
    let outcome = repository.written(&["src/a b.py", "c.rs"]);
    let text = text(&outcome);
    assert!(text.contains("src/a b.py:2:1: F841 unused") && !text.contains("c.rs"), "{text}");
    assert!(text.contains("│def f():\n█    x = 1\n│    return x\n"), "{text}");
    assert_eq!(outcome.files, ["src/a b.py"]);
}

#[test]
fn tests_run_when_the_settings_say_so_and_what_they_print_is_trimmed() {
    let mut repository = TestRepository::new(&[("a.py", "x = 1\n")]);
    repository.settings.test_cmd = Some("seq 1 5000; echo 'FAILED here'; exit 3".into());
    assert!(!repository.written(&["a.py"]).failed, "test is off");
    repository.settings.test = true;
    let outcome = repository.written(&["a.py"]);
    let text = text(&outcome);
    assert!(
        text.contains("failed (exit code 3)") && text.contains("FAILED here") && text.contains("left out"),
        "{text}"
    );
    assert!(!text.contains("\n2500\n") && outcome.files == ["a.py"], "{outcome:?}");
    let line = Some("true".to_owned());
    let passed =
        repository.check(&VerifyRequest { test: CheckMode::On, test_command: line, ..VerifyRequest::default() });
    assert_eq!((passed.failed, passed.checks), (false, vec!["`true`".to_owned()]));
}

#[test]
fn a_test_that_never_ends_is_told_by_name() {
    let mut repository = TestRepository::new(&[]);
    repository.settings.command_timeout = std::time::Duration::from_millis(300);
    let request = VerifyRequest {
        test: CheckMode::On,
        test_command: Some("echo begun; sleep 600".into()),
        ..VerifyRequest::default()
    };
    let outcome = repository.check(&request);
    assert!(outcome.failed && text(&outcome).contains("`echo begun; sleep 600` did not end within"), "{outcome:?}");
    assert!(text(&outcome).contains("\nbegun\n"));
}

#[test]
fn a_linter_that_is_not_installed_is_named_once_and_finds_nothing() {
    let mut repository = TestRepository::new(&[("a.py", "x = 1\n")]);
    repository.settings.linters = BTreeMap::from([("python".to_owned(), "no-such-linter-of-ours".to_owned())]);
    let first = repository.written(&["a.py"]);
    assert!(!first.failed && first.notes[0].message.contains("no-such-linter-of-ours"), "{first:?}");
    assert!(repository.written(&["a.py"]).notes.is_empty());
    repository.settings.linters = BTreeMap::from([("python".to_owned(), "exit 127 #".to_owned())]);
    assert!(repository.written(&["a.py"]).failed, "a program of that exit code is not absent");
}

#[test]
fn no_command_runs_that_nobody_named() {
    let mut repository = TestRepository::new(&[("a.py", "x = 1\n"), ("Makefile", "test:\n\ttouch ran\n")]);
    repository.settings.test = true;
    let outcome =
        repository.check(&VerifyRequest { test: CheckMode::On, lint: CheckMode::On, ..VerifyRequest::default() });
    assert!(outcome.failed && outcome.notes[0].hint.contains("/test make test"), "{outcome:?}");
    let again = repository.check(&VerifyRequest { test: CheckMode::On, ..VerifyRequest::default() });
    assert_eq!(again.notes.len(), 1, "who asks for tests again is told again");
    assert!(!repository.folder.path().join("ran").exists());
}

#[test]
fn the_test_command_is_that_of_the_first_tool() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(usual_tests(folder.path()), None);
    for (file, command) in [("package.json", "npm test"), ("pnpm-lock.yaml", "pnpm test"), ("go.mod", "go test ./...")]
    {
        std::fs::write(folder.path().join(file), "").unwrap();
        assert_eq!(usual_tests(folder.path()), Some(command));
    }
}
