//! Real changes of files, drawn from the history of repositories.

use std::collections::BTreeMap;

use fastrand::Rng;

use rhumb_syntax::Language;
use rhumb_workspace::git::{Revision, Revisions};

/// Lines that a file may have.
const MOST_LINES: usize = 5_000;
/// Lines that a change may take out and put in.
const MOST_CHANGED: usize = 160;
/// Bytes that a line may have: longer ones are generated.
const LONGEST: usize = 400;

/// A file before and after a change, with some files around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// Where it is from, for people.
    pub origin: String,
    /// The file, from the root, with `/`.
    pub path: String,
    /// Its lines before, without their terminators. Every line ends with a line feed.
    pub before: Vec<String>,
    /// Its lines after.
    pub after: Vec<String>,
    /// Other files of the tree by path.
    pub around: BTreeMap<String, String>,
}

impl Sample {
    /// A sample, unless the texts are not what replies are made from: equal, very long, changed nearly everywhere,
    /// with line ends other than line feeds, or full of the markers of replies.
    pub fn new(origin: &str, revision: Revision) -> Option<Self> {
        let (before, after) = (lines(&revision.before)?, lines(&revision.after)?);
        let changed = similar::capture_diff_slices(similar::Algorithm::Myers, &before, &after);
        let changed = changed.iter().filter(|op| op.tag() != similar::DiffTag::Equal);
        let changed: usize = changed.map(|op| op.old_range().len() + op.new_range().len()).sum();
        let small = changed <= MOST_CHANGED && changed * 2 <= before.len() + after.len();
        (changed > 0 && small).then(|| Self {
            origin: format!("{origin} {}", revision.commit.get(..10).unwrap_or_default()),
            path: revision.path,
            before,
            after,
            around: revision.around,
        })
    }
}

/// The lines of a plain text that ends with a line feed.
fn lines(text: &str) -> Option<Vec<String>> {
    let odd = |c: char| matches!(c, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{feff}' | '\u{2028}' | '\u{2029}');
    let marker = |line: &str| {
        let line = line.trim_start();
        ["<<<<<", ">>>>>", "*** Begin", "*** End", "*** Update", "*** Add", "*** Delete", "*** Move"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let body = text.strip_suffix('\n').filter(|body| !body.contains(odd) && !body.ends_with('\n'))?;
    let lines: Vec<String> = body.split('\n').map(str::to_owned).collect();
    let fits = lines.len() <= MOST_LINES && lines.iter().all(|line| line.len() <= LONGEST && !marker(line));
    fits.then_some(lines)
}

/// Draws up to `wanted` samples from a repository, at most one from each commit, from its whole history.
pub fn samples(origin: &str, revisions: &Revisions, wanted: usize, rng: &mut Rng) -> Vec<Sample> {
    let mut order: Vec<usize> = (0..revisions.len()).collect();
    rng.shuffle(&mut order);
    let mut found = Vec::new();
    for nth in order {
        if found.len() == wanted {
            break;
        }
        let mut paths = revisions.modified(nth);
        paths.retain(|path| Language::for_path(path).is_some());
        if paths.is_empty() {
            continue;
        }
        let path = paths.swap_remove(rng.usize(..paths.len()));
        found.extend(revisions.revision(nth, &path).and_then(|revision| Sample::new(origin, revision)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(before: &str, after: &str) -> Option<Sample> {
        let (before, after) = (before.to_owned(), after.to_owned());
        Sample::new("x", Revision { commit: "0".into(), path: "a.py".into(), before, after, around: BTreeMap::new() })
    }

    #[test]
    fn only_plain_texts_with_a_small_change_are_samples() {
        assert!(sample("a\nb\nc\n", "a\nB\nc\n").is_some());
        for (before, after) in [
            ("a\nb\n", "a\nb\n"),
            ("a\r\nb\n", "a\nb\n"),
            ("a\nb", "a\nc\n"),
            ("a\n<<<<<<< SEARCH\nb\nc\n", "a\n<<<<<<< SEARCH\nb\nd\n"),
            ("a\nb\nc\n", "d\ne\nf\n"),
        ] {
            assert_eq!(sample(before, after), None, "{before:?}");
        }
    }
}
