//! The marks of a hunk in words, as they are said where there is no screen.

/// How marks begin that tell how a hunk was located.
const LOCATED: [&str; 5] = ["whitespace ", "indentation ", "elision ", "fuzzy ", "whole "];

/// Whether a mark tells how a hunk was located.
pub(crate) fn tells_how_located(mark: &str) -> bool {
    LOCATED.iter().any(|how| mark.starts_with(how))
}

/// A mark in words.
pub(crate) fn in_words(mark: &str) -> String {
    let words = match mark {
        "elision" => "leaves out code that it means to keep",
        "outside-chat" => "the file is not in the chat",
        "already-applied" => "the file says this already",
        "incomplete" => "the answer stopped within it",
        "ambiguous" => "it fits several places",
        "outside-root" => "outside of the repository",
        "repeated" => "sent twice",
        "syntax-error" => "breaks the syntax of the file",
        "path-guessed" => "the name of the file was guessed",
        "generated" => "the file is made by a tool",
        "ignored" => "git ignores the file",
        "open-in-editor" => "an editor holds the file",
        "read-only" => "the file cannot be written",
        "hard-linked" => "the file has other names (hard links), which keep the old content",
        "runs-later" => "tools run this file by themselves",
        "doubtful-name" => "the name may not be meant as that of a new file",
        "new-address" => "names an address that the file did not name",
        "repeats-lines" => "repeats lines that stand next to it",
        "by-hand" | "by hand" => "placed by hand",
        _ => "",
    };
    if !words.is_empty() {
        return words.to_owned();
    }
    match LOCATED.iter().find(|how| mark.starts_with(**how)) {
        Some(_) => format!("located by {}", mark.replace(" %", " percent")),
        None => mark.replace('-', " "),
    }
}
