//! Directions of dependencies within the program that Cargo cannot enforce, because they lie within one crate.
//!
//! Cargo enforces the order of the crates, and clippy the purity of the engines (`clippy.toml` in each of their folders).

use std::path::{Path, PathBuf};

/// Folders, and paths that no source file below them may name. Test code is exempt.
const RULES: [(&str, &[&str]); 2] = [
    // The conversation is a state machine without I/O. The host performs its effects.
    (
        "src/session",
        &[
            "tokio::",
            "reqwest::",
            "git2::",
            "ratatui::",
            "crossterm::",
            "std::fs",
            "std::env",
            "crate::host",
            "crate::tui",
        ],
    ),
    // The full-screen front end leaves networks and repositories to the host.
    ("src/tui", &["reqwest::", "git2::", "crate::cli"]),
];

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            source_files(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The lines of a source file before its inline tests, without comments.
fn production_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]\nmod").unwrap_or(text.len());
    let lines = text[..end].lines().enumerate();
    lines.filter(|(_, line)| !line.trim_start().starts_with("//")).map(|(at, line)| (at + 1, line))
}

#[test]
fn the_parts_of_the_program_depend_on_each_other_in_one_direction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut violations = Vec::new();
    for (folder, forbidden) in RULES {
        let mut files = Vec::new();
        source_files(&root.join(folder), &mut files).unwrap();
        assert!(!files.is_empty(), "{folder} has source files");
        for path in files {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let is_test = name.contains("/tests/") || name.ends_with("tests.rs");
            if is_test {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for (line, code) in production_lines(&text) {
                let named = forbidden.iter().find(|path| code.contains(*path));
                violations.extend(named.map(|named| format!("{name}:{line} names {named}")));
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}
