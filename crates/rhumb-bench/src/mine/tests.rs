//! Whole runs, on a small repository.

use std::fmt::Write as _;

use rhumb_workspace::git::{self, Repo};

use super::*;

const MESSAGES: [&str; 5] = [
    "Raise the tide again (#12)\n\nThe harbour was dry.\n\nSigned-off-by: Ada <ada@example.com>",
    "Bump the tide from 1.0 to 2.0",
    "Raise the tide once more",
    "Oops",
    "Lower the tide at night",
];

/// A repository with one commit for each message. All but the last change `tide_height` and its test, the last only the test.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        fs::create_dir_all(folder.path().join("tests")).unwrap();
        fs::write(folder.path().join(path), text).unwrap();
    };
    let tide = |height: usize| format!("/// Height.\npub fn tide_height() -> usize {{\n    {height}\n}}\n");
    write("tide.rs", &tide(0));
    write("tests/tide.rs", &tide(0));
    write("notes.md", "# Notes\n");
    (0..40).for_each(|n| write(&format!("buoy_{n}.rs"), &format!("pub fn light_{n}() {{}}\n")));
    git::init(folder.path(), "Ada", "ada@example.com", "Begin with the harbour").unwrap();
    let repo = Repo::open(folder.path()).unwrap().unwrap();
    for (at, message) in MESSAGES.iter().enumerate() {
        let mut paths = vec!["tests/tide.rs".to_owned(), "notes.md".to_owned()];
        let notes = (0..=at).fold(String::new(), |mut text, n| {
            let _ = writeln!(text, "note {n}");
            text
        });
        write("notes.md", &notes);
        write("tests/tide.rs", &tide(at + 1));
        if at + 1 < MESSAGES.len() {
            write("tide.rs", &tide(at + 1));
            paths.push("tide.rs".to_owned());
        }
        repo.commit_paths(&paths, message).unwrap();
    }
    folder
}

#[test]
fn suitable_commits_become_cases_newest_first() {
    let folder = repository();
    let cases = mine(folder.path(), "port/tide", 10, 1).unwrap();
    let queries: Vec<&str> = cases.iter().map(|case| case.query.as_str()).collect();
    assert_eq!(queries, ["Raise the tide once more", "Raise the tide again\n\nThe harbour was dry."]);
    let case = serde_json::json!(cases[1]);
    assert_eq!(case["gold"], serde_json::json!([{"path": "tide.rs", "changed_lines": 2}]));
    let symbol = serde_json::json!({
        "path": "tide.rs", "name": "tide_height", "kind": "function", "line": 2, "end": 4, "container": null, "top": "tide_height",
    });
    assert_eq!(
        (&case["symbols"], &case["gold_tests"]),
        (&serde_json::json!([symbol]), &serde_json::json!(["tests/tide.rs"]))
    );
    assert_eq!((&case["lang"], &case["chat"], &case["tree_files"]), (&"rust".into(), &"tide.rs".into(), &43.into()));
    assert_eq!((&case["mentions_file"], &case["mentions_symbol"]), (&true.into(), &false.into()));
    assert!(case["id"].as_str().unwrap().starts_with("tide-") && case["repo"] == "port/tide");
    assert_eq!(cases[0].parent.len(), 40);
    crate::context::cases(&format!("{case}\n")).unwrap();
}

#[test]
fn the_limit_is_kept_and_the_seed_repeats_the_cases() {
    let folder = repository();
    let one = mine(folder.path(), "tide", 1, 7).unwrap();
    assert_eq!((one.len(), &one), (1, &mine(folder.path(), "tide", 1, 7).unwrap()));
}

#[test]
fn a_history_without_suitable_commits_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    git::init(folder.path(), "Ada", "ada@example.com", "Begin with the harbour").unwrap();
    let error = mine(folder.path(), "tide", 5, 1).unwrap_err().to_string();
    assert!(error.ends_with("is suitable as a case"), "{error}");
    assert!(mine(&folder.path().join("none"), "tide", 5, 1).is_err());
}

#[test]
fn a_repository_is_named_after_its_folder() {
    for (path, expected) in [("/a/tide/.git", "tide"), ("/a/tide.git", "tide"), ("/a/tide", "tide")] {
        assert_eq!(folder_name(Path::new(path)), expected);
    }
}
