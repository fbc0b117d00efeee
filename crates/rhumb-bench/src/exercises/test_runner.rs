//! How the tests of an exercise are run, and whether a test ran.

use rhumb_workspace::process::quoted;

use super::exercise::{Exercise, ExerciseError};

/// The program that runs the tests of an exercise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestRunner {
    /// The test runner of the Python standard library.
    Unittest,
    /// For Python tests without a `TestCase`, which `unittest` does not find.
    Pytest,
    /// Rust.
    Cargo,
    /// Go.
    Go,
    /// Java.
    Gradle,
    /// C++, where building runs the tests.
    Cmake,
    /// JavaScript and TypeScript, with the test command of `package.json`.
    Npm,
    /// Shell, with bats files.
    Bats,
    /// Shell, with scripts that report by exit code only.
    Script(&'static str),
}

impl TestRunner {
    /// The test runner for an exercise; `None` for an unknown language.
    ///
    /// # Errors
    /// A test file cannot be read.
    pub fn of(exercise: &Exercise) -> Result<Option<Self>, ExerciseError> {
        let is_bats = exercise.tests.iter().any(|test| test.contains(".bats"));
        Ok(Some(match exercise.language.as_str() {
            "python" if needs_pytest(exercise)? => Self::Pytest,
            "python" => Self::Unittest,
            "rust" => Self::Cargo,
            "go" => Self::Go,
            "java" => Self::Gradle,
            "cpp" => Self::Cmake,
            "javascript" | "typescript" => Self::Npm,
            "bash" | "sh" if is_bats => Self::Bats,
            "bash" => Self::Script("bash"),
            "sh" => Self::Script("sh"),
            _ => return Ok(None),
        }))
    }

    /// The shell command that runs the tests in a folder with the exercise and its tests.
    pub fn line(self, exercise: &Exercise) -> String {
        let tests: Vec<String> = exercise.tests.iter().map(|test| quoted(test)).collect();
        let tests = tests.join(" ");
        match self {
            Self::Unittest => format!("python3 -m unittest {tests}"),
            Self::Pytest => format!("python3 -m pytest -q {tests}"),
            Self::Cargo => "cargo test -- --include-ignored".to_owned(),
            Self::Go => "go test ./...".to_owned(),
            Self::Gradle => "sh ./gradlew test".to_owned(),
            Self::Cmake => "cmake -DEXERCISM_RUN_ALL_TESTS=1 -B build -S . && cmake --build build".to_owned(),
            Self::Npm => "npm install --silent && npm test".to_owned(),
            Self::Bats => format!("BATS_RUN_SKIPPED=true bats {tests}"),
            Self::Script(shell) => format!("{shell} {tests}"),
        }
    }

    /// A shell command that succeeds if the runner is installed; `None` if it comes with its language.
    pub fn probe(self) -> Option<&'static str> {
        (self == Self::Pytest).then_some("python3 -m pytest --version")
    }

    /// Whether the output of a successful run shows that a test passed. Exit code 0 is not enough: a run without tests succeeds, and
    /// a solution may exit with 0 early. The closing line of the runner must be there, if its format is known.
    pub fn ran(self, output: &str) -> bool {
        match self {
            Self::Unittest => {
                let is_closed = output.lines().any(|line| line == "OK" || line.starts_with("OK ("));
                let skipped = output.lines().filter(|line| line.starts_with("OK (")).find_map(skipped).unwrap_or(0);
                is_closed && numbers(output, |line| line.strip_prefix("Ran ")).sum::<usize>() > skipped
            }
            Self::Pytest => numbers(output, |line| before(line, " passed")).sum::<usize>() > 0,
            Self::Cargo => numbers(output, |line| line.strip_prefix("test result: ok. ")).sum::<usize>() > 0,
            Self::Go => output.lines().any(|line| line.starts_with("ok  \t") && !line.contains("[no test")),
            Self::Gradle => output.contains("BUILD SUCCESSFUL") && !output.contains(":test NO-SOURCE"),
            Self::Cmake => !output.contains("No tests ran"),
            Self::Npm => npm(output),
            Self::Bats => output.lines().any(|line| line.starts_with("ok ") && !line.contains("# skip")),
            Self::Script(_) => true,
        }
    }
}

/// Whether the tests are plain functions or classes, which `unittest` does not find.
fn needs_pytest(exercise: &Exercise) -> Result<bool, ExerciseError> {
    for test in &exercise.tests {
        let text = exercise.file(test)?;
        if !text.contains("TestCase") && (text.contains("def test") || text.contains("class Test")) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The numbers at the beginning of what `rest` gives for each line.
fn numbers<'s>(output: &'s str, rest: impl Fn(&'s str) -> Option<&'s str> + 's) -> impl Iterator<Item = usize> + 's {
    output.lines().filter_map(move |line| rest(line.trim())?.split_whitespace().next()?.parse().ok())
}

/// The last word before `mark` in a line.
fn before<'s>(line: &'s str, mark: &str) -> Option<&'s str> {
    line.split_once(mark).and_then(|(before, _)| before.split_whitespace().last())
}

/// `OK (skipped=3)`
fn skipped(line: &str) -> Option<usize> {
    let (_, rest) = line.split_once("skipped=")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Whether tests passed, by the counts of Jest, Vitest, Mocha and Node. Without a count the exit code decides.
fn npm(output: &str) -> bool {
    let count = |line: &str| -> Option<usize> {
        if line.starts_with("TestCommand") {
            return before(line, " passed").map_or(Some(0), |count| count.parse().ok());
        }
        let node = line.strip_prefix("# pass ").or(line.strip_prefix("ℹ pass "));
        before(line, " passing").or(node)?.parse().ok()
    };
    let passed: Vec<usize> = output.lines().map(str::trim).filter_map(count).collect();
    let is_none = output.contains("No tests found") || output.contains("No test files found");
    !is_none && (passed.is_empty() || passed.iter().any(|count| *count > 0))
}

/// A test file with all disabled tests enabled.
pub fn enabled(language: &str, text: &str) -> String {
    match language {
        "java" => text.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("@Disabled")).collect(),
        "javascript" | "typescript" => {
            let names = [("xtest(", "test("), ("xit(", "it("), ("xdescribe(", "describe("), ("test.skip(", "test(")];
            names.iter().fold(text.to_owned(), |text, (off, on)| text.replace(off, on))
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disabled_tests_are_enabled() {
        let java = "    @Disabled(\"Remove to run test\")\n    @Test\n    public void x() {}\n";
        assert_eq!(enabled("java", java), "    @Test\n    public void x() {}\n");
        assert_eq!(enabled("javascript", "xtest('a', f); xit('b')"), "test('a', f); it('b')");
        assert_eq!(enabled("python", "xtest("), "xtest(");
    }

    fn exercise(language: &str, folder: &std::path::Path, test: &str) -> Exercise {
        Exercise {
            id: format!("{language}/a"),
            language: language.into(),
            folder: folder.to_owned(),
            solution: vec!["a.sh".into()],
            tests: vec![test.into()],
            example: Vec::new(),
            text: String::new(),
        }
    }

    #[test]
    fn test_names_are_quoted_for_the_shell() {
        let exercise = exercise("sh", "a".as_ref(), "a test.sh");
        let runner = TestRunner::of(&exercise).unwrap().unwrap();
        assert_eq!(runner.line(&exercise), "sh 'a test.sh'");
        assert_eq!(TestRunner::of(&Exercise { language: "cobol".into(), ..exercise }).unwrap(), None);
    }

    #[test]
    fn python_tests_without_a_test_case_are_run_by_pytest() {
        let folder = tempfile::tempdir().unwrap();
        let exercise = exercise("python", folder.path(), "a_test.py");
        for (text, runner) in [
            ("def test_a():\n    assert a() == 1\n", TestRunner::Pytest),
            ("class TestA:\n    def test_a(self):\n        assert a() == 1\n", TestRunner::Pytest),
            ("class ATest(unittest.TestCase):\n    def test_a(self):\n        pass\n", TestRunner::Unittest),
        ] {
            std::fs::write(folder.path().join("a_test.py"), text).unwrap();
            assert_eq!(TestRunner::of(&exercise).unwrap(), Some(runner), "{text}");
        }
        std::fs::remove_file(folder.path().join("a_test.py")).unwrap();
        assert!(TestRunner::of(&exercise).is_err());
    }

    #[test]
    fn a_run_without_tests_is_detected() {
        use TestRunner::*;
        let cases: [(TestRunner, &[&str], &[&str]); 8] = [
            (
                Unittest,
                &["..\nRan 2 tests in 0.001s\n\nOK\n", "Ran 2 tests in 0.0s\n\nOK (skipped=1)\nprinted\n"],
                &[
                    "",
                    "Ran 0 tests in 0.000s\n\nOK\n",
                    "Ran 2 tests in 0.0s\n\nOK (skipped=2)\n",
                    "Ran 2 tests in 0.0s",
                ],
            ),
            (
                Pytest,
                &["..  [100%]\n2 passed, 1 skipped in 0.01s\n"],
                &["", "no tests ran in 0.0s", "2 skipped in 0.0s"],
            ),
            (
                Cargo,
                &["test result: ok. 0 passed; 0 failed;\ntest result: ok. 3 passed; 0 failed; 0 ignored\n"],
                &["", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured\n"],
            ),
            (
                Go,
                &["ok  \tleap\t0.002s\n"],
                &["", "?   \tleap\t[no test files]\n", "ok  \tleap\t0.0s [no tests to run]\n"],
            ),
            (
                Gradle,
                &["> Task :test\n\nBUILD SUCCESSFUL in 2s\n"],
                &["", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s"],
            ),
            (Cmake, &["", "All tests passed (3 assertions in 3 test cases)\n"], &["=====\nNo tests ran\n"]),
            (
                Npm,
                &[
                    "",
                    "TestCommand:       1 skipped, 3 passed, 4 total\n",
                    " TestCommand  3 passed (3)\n",
                    "  3 passing (2ms)\n",
                    "# pass 2\n",
                ],
                &[
                    "TestCommand:       3 skipped, 3 total\n",
                    "  0 passing (1ms)\n",
                    "ℹ pass 0\n",
                    "No tests found, exiting with code 0\n",
                ],
            ),
            (Bats, &["1..1\nok 1 depth\n"], &["", "1..0\n", "1..1\nok 1 depth # skip later\n"]),
        ];
        for (runner, some, none) in cases {
            some.iter().for_each(|output| assert!(runner.ran(output), "{runner:?}: {output}"));
            none.iter().for_each(|output| assert!(!runner.ran(output), "{runner:?}: {output}"));
        }
    }
}
