//! The commit history of a repository, as the map needs it.

use std::path::Path;

use super::error::StoreError;
use super::sealed::{self, Sealed};
use rhumb_index::repo_map::{History, PastCommit};

const KIND: u32 = 4;
/// The fields of a commit: the end of its subject, the number of its paths, and compared entries.
const COMMIT_WORDS: usize = 3;

/// Writes a history to `path`: the ends of all texts as words; ids, subjects and paths as text.
pub(super) fn write(path: &Path, history: &History) -> Result<(), StoreError> {
    let (mut text, mut words) = (history.head.clone(), Vec::new());
    let end = |text: &String| u32::try_from(text.len()).unwrap_or(u32::MAX);
    words.push(end(&text));
    for commit in &history.commits {
        text.push_str(&commit.id);
        words.push(end(&text));
        text.push_str(&commit.subject);
        words.extend([end(&text), u32::try_from(commit.paths.len()).unwrap_or(u32::MAX), commit.compared]);
        for path in &commit.paths {
            text.push_str(path);
            words.push(end(&text));
        }
    }
    sealed::write(path, KIND, [bytemuck::cast_slice(&words), text.as_bytes(), &[], &[]])
        .map_err(|source| StoreError::Write { path: path.to_owned(), source })
}

/// Reads the history at `path`; empty if the file is missing or damaged.
pub(super) fn read(path: &Path) -> History {
    let Some(mut file) = Sealed::open(path, KIND) else { return History::default() };
    let parts = file.words(0).zip(file.text(1));
    parts.and_then(|(words, text)| decoded(&words, &text)).unwrap_or_default()
}

fn decoded(words: &[u32], text: &str) -> Option<History> {
    let (mut rest, mut start) = (words, 0);
    let mut piece = |end: u32| {
        let piece = text.get(start..end as usize)?.to_owned();
        start = end as usize;
        Some(piece)
    };
    let (&head, tail) = rest.split_first()?;
    let mut history = History { head: piece(head)?, commits: Vec::new() };
    rest = tail;
    while let Some((&id, tail)) = rest.split_first() {
        let ([subject, paths, compared], tail) = tail.split_first_chunk::<COMMIT_WORDS>()?;
        let (ends, tail) = tail.split_at_checked(*paths as usize)?;
        let (id, subject) = (piece(id)?, piece(*subject)?);
        let paths = ends.iter().map(|&end| piece(end)).collect::<Option<Vec<String>>>()?;
        history.commits.push(PastCommit { id, subject, paths, compared: *compared });
        rest = tail;
    }
    Some(history)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_history_comes_back(commits in prop::collection::vec(("[a-f0-9]{0,8}", "\\PC{0,12}", prop::collection::vec("[a-z/é]{0,6}", 0..4), any::<u32>()), 0..6)) {
            let commit = |(id, subject, paths, compared)| PastCommit { id, subject, paths, compared };
            let history = History { head: "abc".into(), commits: commits.into_iter().map(commit).collect() };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("history");
            write(&path, &history).unwrap();
            prop_assert_eq!(read(&path), history);
        }
    }
}
