//! A corpus of replies, one folder each: `case.json`, `before/`, `reply.md`, and `after/` unless nothing may change.
//! Trees are compared byte for byte. The examples of the shared benchmark have the same layout and run too if they
//! exist.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::Path;

use rhumb_edit::{Files, FormatChoice, Status, parse, propose};

type Tree = BTreeMap<String, Vec<u8>>;

struct Disk {
    tree: Tree,
    root: String,
}

impl Files for Disk {
    fn paths(&self) -> Vec<String> {
        self.tree.paths()
    }

    fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        self.tree.read(path)
    }

    fn root(&self) -> Option<String> {
        Some(self.root.clone())
    }
}

fn read_tree(dir: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_str().unwrap().replace('\\', "/");
                tree.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    tree
}

fn shown(tree: &Tree) -> String {
    tree.iter().map(|(path, bytes)| format!("=== {path}\n{:?}\n", String::from_utf8_lossy(bytes))).collect()
}

/// Runs one case. Returns the error, if any.
fn run(case: &Path) -> Result<(), String> {
    let facts: serde_json::Value = serde_json::from_slice(&std::fs::read(case.join("case.json")).unwrap()).unwrap();
    let choice: FormatChoice = facts["format"].as_str().unwrap().parse().unwrap();
    let reply = String::from_utf8(std::fs::read(case.join("reply.md")).unwrap()).unwrap();
    let before = read_tree(&case.join("before"));
    let after = if case.join("after").is_dir() { read_tree(&case.join("after")) } else { before.clone() };
    let disk = Disk { tree: before.clone(), root: "/home/me/harbour".to_owned() };
    for choice in [choice, FormatChoice::Auto] {
        let proposal = propose(&parse(&reply, choice), &disk);
        let mut found = before.clone();
        proposal.write_to(&mut found);
        let all = proposal.outcomes.iter().all(|outcome| outcome.status == Status::Applied);
        let exit = if proposal.outcomes.is_empty() { 2 } else { i64::from(!all) };
        if found != after {
            let (found, after) = (shown(&found), shown(&after));
            return Err(format!("as {choice}:\n--- wanted\n{after}--- found\n{found}{:#?}", proposal.outcomes));
        }
        if Some(exit) != facts["exit"].as_i64() {
            return Err(format!("as {choice}: exit {exit}\n{:#?}", proposal.outcomes));
        }
        for outcome in proposal.outcomes.iter().filter(|outcome| outcome.status == Status::Refused) {
            assert!(!outcome.reason.is_empty(), "a refusal without a reason");
            if let Some(reason) = facts["reason"].as_str()
                && !outcome.reason.contains(reason)
            {
                return Err(format!("the reason does not say `{reason}`: {}", outcome.reason));
            }
        }
    }
    Ok(())
}

fn run_all(corpus: &Path) -> usize {
    let mut cases: Vec<_> = std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|case| case.join("case.json").exists());
    cases.sort();
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| run(case).err().map(|why| format!("##### {}\n{why}", case.file_name().unwrap().display())))
        .collect();
    assert!(failures.is_empty(), "{} of {} cases fail\n{}", failures.len(), cases.len(), failures.join("\n"));
    cases.len()
}

#[test]
fn every_case_of_our_corpus_ends_as_it_says() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edit_formats");
    assert!(run_all(&corpus) >= 20);
}

#[test]
fn every_case_of_the_shared_examples_ends_as_it_says() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/bench/edits/examples");
    if corpus.is_dir() {
        run_all(&corpus);
    } else {
        println!("skipped: the shared examples are not here");
    }
}
