//! The rows of a search: passages one by one, or below the files that they are in.

use rhumb_index::retrieval::Hit;

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// The name of a file.
    File {
        /// Its best passage.
        first: usize,
        /// How many follow.
        count: usize,
    },
    /// A passage.
    Hit(usize),
}

impl Row {
    /// The passage that it stands for: its own, or the best of its file.
    pub(super) fn hit(self) -> usize {
        match self {
            Self::File { first, .. } => first,
            Self::Hit(at) => at,
        }
    }
}

/// The passages as they come.
pub(super) fn flat(hits: &[Hit]) -> Vec<Row> {
    (0..hits.len()).map(Row::Hit).collect()
}

/// The passages below their files: the file of the best one first, and in a file the lines from above.
pub(super) fn in_files(hits: &[Hit]) -> Vec<Row> {
    let mut files: Vec<Vec<usize>> = Vec::new();
    for (at, hit) in hits.iter().enumerate() {
        let is_of = |file: &&mut Vec<usize>| {
            file.first().and_then(|first| hits.get(*first)).is_some_and(|first| first.path == hit.path)
        };
        match files.iter_mut().find(is_of) {
            Some(file) => file.push(at),
            None => files.push(vec![at]),
        }
    }
    let mut rows = Vec::with_capacity(hits.len() + files.len());
    for mut file in files {
        let Some(first) = file.first().copied() else { continue };
        rows.push(Row::File { first, count: file.len() });
        file.sort_by_key(|at| hits.get(*at).map(|hit| hit.line));
        rows.extend(file.into_iter().map(Row::Hit));
    }
    rows
}
