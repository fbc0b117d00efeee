//! A small task for an agent loop: a script with a fault, its test, and what the scripted model does about it.

use serde_json::json;

use super::repo::TestRepo;
use super::server::Step;
use super::wire::Answer;

/// A script with a fault, and its test.
pub const GREET: &str = "greet() {\n    echo \"Hello $1\"\n}\n";
pub const TEST: &str =
    ". ./greet.sh\nsaid=$(greet Ada)\ntest \"$said\" = 'Hello, Ada!' || { echo \"FAIL: $said\"; exit 1; }\necho PASS\n";

pub fn greet_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.file("greet.sh", GREET).file("test.sh", TEST).commit("Start");
    repo
}

/// [`GREET`] after the loop.
pub fn greeted() -> String {
    GREET.replace("Hello $1", "Hello, $1!")
}

/// Reads both files at once, makes a wrong edit, runs the test, makes the right edit, runs the test, and ends.
pub fn script() -> Vec<Answer> {
    let edit = |search: &str, replace: &str| {
        let (search, replace) = (format!("    echo \"{search}\"\n"), format!("    echo \"{replace}\"\n"));
        Answer::calls([("edit", json!({"path": "greet.sh", "search": search, "replace": replace}))])
    };
    let test = || Answer::calls([("run", json!({"command": "sh test.sh"}))]);
    vec![
        Answer::calls([("read_file", json!({"path": "greet.sh"})), ("read_file", json!({"path": "test.sh"}))])
            .with_text("I read both.")
            .with_thinking("Which files matter?"),
        edit("Hello $1", "Hello, $1"),
        test().with_thinking("Is that all?"),
        edit("Hello, $1", "Hello, $1!"),
        test(),
        Answer::text("The test passes."),
    ]
}

pub fn steps(answers: impl IntoIterator<Item = Answer>) -> Vec<Step> {
    answers.into_iter().map(Step::Answer).collect()
}
