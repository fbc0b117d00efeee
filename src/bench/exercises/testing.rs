//! How tests are run.

use super::exercise::Exercise;
use crate::process::quoted;

/// The line for the shell that runs the tests of an exercise, in a folder with its files and its tests; nothing for a language
/// that is not known.
pub fn command(exercise: &Exercise) -> Option<String> {
    let tests: Vec<String> = exercise.tests.iter().map(|test| quoted(test)).collect();
    let tests = tests.join(" ");
    let line = match exercise.language.as_str() {
        // Which needs nothing installed; tests for pytest alone need `--test python='python3 -m pytest'`.
        "python" => format!("python3 -m unittest {tests}"),
        "rust" => "cargo test -- --include-ignored".to_owned(),
        "go" => "go test ./...".to_owned(),
        "java" => "sh ./gradlew test".to_owned(),
        // Building runs the tests.
        "cpp" => "cmake -DEXERCISM_RUN_ALL_TESTS=1 -B build -S . && cmake --build build".to_owned(),
        "javascript" | "typescript" => "npm install --silent && npm test".to_owned(),
        "bash" | "sh" if tests.contains(".bats") => format!("BATS_RUN_SKIPPED=true bats {tests}"),
        "bash" => format!("bash {tests}"),
        "sh" => format!("sh {tests}"),
        _ => return None,
    };
    Some(line)
}

/// A file of tests with those switched on that a collection keeps for later.
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
    fn tests_that_are_switched_off_are_switched_on() {
        let java = "    @Disabled(\"Remove to run test\")\n    @Test\n    public void x() {}\n";
        assert_eq!(enabled("java", java), "    @Test\n    public void x() {}\n");
        assert_eq!(enabled("javascript", "xtest('a', f); xit('b')"), "test('a', f); it('b')");
        assert_eq!(enabled("python", "xtest("), "xtest(");
    }

    #[test]
    fn names_of_tests_are_words_for_the_shell() {
        let exercise = Exercise {
            id: "sh/a".into(),
            language: "sh".into(),
            folder: "a".into(),
            solution: vec!["a.sh".into()],
            tests: vec!["a test.sh".into()],
            example: Vec::new(),
            text: String::new(),
        };
        assert_eq!(command(&exercise).as_deref(), Some("sh 'a test.sh'"));
        assert_eq!(command(&Exercise { language: "cobol".into(), ..exercise }), None);
    }
}
