//! Unquoted paths with spaces, which are searched as they are.

use std::collections::HashSet;

use super::readings::Reading;
use super::{Mention, NamedBy};

/// The byte ranges of paths with spaces in the text.
pub(super) fn mentions(text: &str, read: &[Reading], paths: &[String]) -> Vec<Mention> {
    let words: HashSet<&str> = read.iter().map(|reading| reading.name.as_str()).collect();
    let mut found = Vec::new();
    for path in paths.iter().filter(|path| path.contains(' ')) {
        // Few texts contain the first word of such a path.
        let first = path.split(' ').next().unwrap_or(path);
        if !first.is_empty() && !words.contains(first) {
            continue;
        }
        let windows = path.replace('/', "\\");
        for written in [path.as_str(), windows.as_str()] {
            let places = text.match_indices(written).filter(|(at, _)| is_apart(text, *at, written.len()));
            found.extend(places.map(|(at, _)| Mention {
                range: at..at + written.len(),
                path: path.clone(),
                by: NamedBy::Path,
            }));
            if !path.contains('/') {
                break;
            }
        }
    }
    found
}

/// Whether the match is not part of a longer name.
fn is_apart(text: &str, start: usize, length: usize) -> bool {
    let (before, after) = (&text[..start], &text[start + length..]);
    let bare = before.strip_suffix("./").or_else(|| before.strip_suffix(".\\")).unwrap_or(before);
    let joins = |c: char| c.is_alphanumeric() || "_-/\\".contains(c);
    let ends = |rest: &str| {
        let mut rest = rest.chars();
        match rest.next() {
            // The end of a sentence, or another extension.
            Some('.') => !rest.next().is_some_and(char::is_alphanumeric),
            Some(c) => !joins(c),
            None => true,
        }
    };
    !bare.chars().next_back().is_some_and(joins) && ends(after)
}
