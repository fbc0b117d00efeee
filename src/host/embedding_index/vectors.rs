//! The vectors of a repository in memory, each with the place that it stands for.

use std::sync::Arc;

use rhumb_index::repo_map::MapIndex;
use rhumb_index::retrieval::{Hit, QuantizedVector, VectorIndex, diversified};

/// What the passages of a repository mean to one model.
#[derive(Debug, Default, PartialEq)]
pub struct PassageVectors {
    /// The identity of the model.
    pub identity: String,
    vectors: VectorIndex,
    /// By row.
    hits: Vec<Hit>,
    /// In path order, each with its rows.
    files: Vec<FileRows>,
}

#[derive(Debug, PartialEq)]
struct FileRows {
    path: Arc<str>,
    stamp: u64,
    rows: std::ops::Range<u32>,
}

impl PassageVectors {
    /// Nothing yet.
    pub(super) fn new(identity: &str) -> Self {
        Self { identity: identity.to_owned(), ..Self::default() }
    }

    /// How many passages have a vector.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// Adds the passages of a file, which comes after those before in path order. `stamp` changes whenever its content does; 0 says
    /// that it may have changed.
    pub(super) fn add(&mut self, path: &Arc<str>, stamp: u64, rows: impl IntoIterator<Item = (Hit, QuantizedVector)>) {
        let first = self.hits.len() as u32;
        for (hit, row) in rows {
            if self.vectors.is_empty() {
                self.vectors = VectorIndex::new(row.dims());
            }
            if self.vectors.push(&row).is_some() {
                self.hits.push(hit);
            }
        }
        self.files.push(FileRows { path: Arc::clone(path), stamp, rows: first..self.hits.len() as u32 });
    }

    /// The passages of a file that has not changed since; `None` where that is not certain.
    pub(super) fn unchanged(&self, path: &str, stamp: u64) -> Option<impl Iterator<Item = (Hit, QuantizedVector)>> {
        let at = self.files.binary_search_by(|file| file.path.as_ref().cmp(path)).ok()?;
        let file = self.files.get(at).filter(|file| stamp != 0 && file.stamp == stamp)?;
        Some(file.rows.clone().filter_map(|row| Some((self.hits.get(row as usize)?.clone(), self.vectors.row(row)?))))
    }

    /// The passages that are nearest to a vector, best first, those of one file kept from filling the list. Files that `index`
    /// does not have any more are left out.
    pub fn nearest(&self, vector: &[f32], most: usize, index: &MapIndex) -> Vec<Hit> {
        let near = self.vectors.nearest(vector, most).into_iter();
        let hit = |near: rhumb_index::retrieval::Neighbour| {
            let hit = self.hits.get(near.row as usize)?;
            Some(Hit { file: index.file_at(&hit.path)?, score: f64::from(near.score), ..hit.clone() })
        };
        diversified(near.filter_map(hit).collect())
    }
}
