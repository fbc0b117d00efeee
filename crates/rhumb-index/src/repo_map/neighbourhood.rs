//! The proximity of files to those that a request is about, along references and imports in both directions.
//!
//! A change often also affects the users of its subject and what the subject uses. The graph is therefore undirected: a random walk with
//! restart (Tong, Faloutsos and Pan, 2006) starts at the leaders and returns to them often.

use rayon::prelude::*;

use super::pagerank::{CsrGraph, PageRank, pagerank};

/// Maximum number of definers of a name that connects files, unless an import selects one of them.
const MAX_DEFINERS: usize = 6;
/// Weights of a reference to a long compound name and of an import, relative to a reference to another name.
const COMPOUND_WEIGHT: f64 = 2.0;
const IMPORT_WEIGHT: f64 = 2.0;
/// The random walk: a low damping, so that indirect neighbours hardly count.
const WALK: PageRank = PageRank { damping: 0.6, tolerance: 0.0, iterations: 12 };

/// The names and files that a file uses.
#[derive(Debug, Clone, Default)]
pub struct FileUses {
    /// Names, each with the number of references.
    pub names: Vec<(u32, u32)>,
    /// Imported files, sorted.
    pub imports: Vec<u32>,
}

/// The undirected graph of files that use each other.
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
    files: usize,
    arcs: CsrGraph,
}

impl Neighbourhood {
    /// `uses` returns what a file uses, `definers` the sorted files that define a name, `compound` whether a name is long and
    /// compound.
    pub fn new<'d>(
        files: usize,
        uses: impl Fn(u32) -> FileUses + Sync,
        definers: impl Fn(u32) -> &'d [u32] + Sync,
        compound: impl Fn(u32) -> bool + Sync,
    ) -> Self {
        let row = |from: u32| {
            let uses = uses(from);
            let import = IMPORT_WEIGHT / (uses.imports.len() as f64).sqrt().max(1.0);
            let mut row: Vec<(u32, f64)> = uses.imports.iter().map(|&to| (to, import)).collect();
            for &(name, count) in &uses.names {
                let weight = f64::from(count).sqrt() * if compound(name) { COMPOUND_WEIGHT } else { 1.0 };
                let targets = referenced_files(definers(name), from, &uses.imports);
                row.extend(targets.iter().map(|&to| (to, weight / targets.len() as f64)));
            }
            merged(row)
        };
        let rows: Vec<Vec<(u32, f64)>> = (0..files as u32).into_par_iter().map(row).collect();
        let links =
            || (0u32..).zip(&rows).flat_map(|(from, row)| row.iter().map(move |&(to, weight)| (from, to, weight)));
        let both: Vec<(u32, u32, f64)> = links().chain(links().map(|(from, to, weight)| (to, from, weight))).collect();
        Self { files, arcs: CsrGraph::new(files, &both) }
    }

    /// By file, from 0 to 1: its proximity to `leaders`, files with their shares. The restart mass of a leader itself is subtracted,
    /// so that it counts only by its proximity to the others.
    pub fn near(&self, leaders: &[(u32, f64)]) -> Vec<f64> {
        let mut start = vec![0.0; self.files];
        for &(file, share) in leaders {
            if let Some(cell) = start.get_mut(file as usize) {
                *cell += share.max(0.0);
            }
        }
        let total: f64 = start.iter().sum();
        if total <= 0.0 {
            return start;
        }
        let ranks = pagerank(&start, WALK, |from, to| self.arcs.spread(from, to));
        let home = (1.0 - WALK.damping) / total;
        let mut near: Vec<f64> = ranks.iter().zip(&start).map(|(rank, own)| (rank - home * own).max(0.0)).collect();
        let highest = near.iter().copied().fold(0.0, f64::max);
        if highest > 0.0 {
            near.iter_mut().for_each(|rank| *rank = (*rank / highest).sqrt());
        }
        near
    }
}

/// The files that a reference may refer to: none if its own file defines the name, else the imported definers, else all definers if
/// they are few.
pub(crate) fn referenced_files(definers: &[u32], from: u32, imports: &[u32]) -> Vec<u32> {
    if definers.binary_search(&from).is_ok() {
        return Vec::new();
    }
    let imported: Vec<u32> = definers.iter().copied().filter(|file| imports.binary_search(file).is_ok()).collect();
    match imported.is_empty() {
        false => imported,
        true if definers.len() <= MAX_DEFINERS => definers.to_vec(),
        true => Vec::new(),
    }
}

/// Merges parallel edges, since the cost of a walk is linear in the number of edges.
fn merged(mut row: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    // A stable sort, so that the sums depend only on the order in the file.
    row.sort_by_key(|link| link.0);
    let sum = |same: &[(u32, f64)]| (same[0].0, same.iter().map(|link| link.1).sum());
    row.chunk_by(|a, b| a.0 == b.0).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The neighbourhood of files that reference names; name `i` is defined in `definers[i]`.
    fn neighbourhood(names: &[&[(u32, u32)]], imports: &[&[u32]], definers: &[&[u32]]) -> Neighbourhood {
        let uses =
            |file: u32| FileUses { names: names[file as usize].to_vec(), imports: imports[file as usize].to_vec() };
        Neighbourhood::new(names.len(), uses, |name| definers[name as usize], |_| false)
    }

    #[test]
    fn users_and_used_files_are_near() {
        // 0 uses 1, 2 uses 0, 3 is isolated.
        let near =
            neighbourhood(&[&[(0, 1)], &[], &[(1, 1)], &[]], &[&[], &[], &[], &[]], &[&[1], &[0]]).near(&[(0, 1.0)]);
        assert!(near[1] > 0.0 && near[1] == near[2], "{near:?}");
        assert!(near[3] < near[1] / 10.0, "{near:?}");
    }

    #[test]
    fn an_import_selects_a_definer() {
        let definers: &[&[u32]] = &[&[1, 2]];
        let near = neighbourhood(&[&[(0, 1)], &[], &[]], &[&[2], &[], &[]], definers).near(&[(0, 1.0)]);
        assert!(near[2] > 10.0 * near[1], "{near:?}");
    }

    #[test]
    fn a_name_with_many_definers_connects_no_files() {
        let all: Vec<u32> = (1..9).collect();
        let definers: &[&[u32]] = &[&all];
        let names: Vec<&[(u32, u32)]> = std::iter::once(&[(0, 3)][..]).chain(std::iter::repeat_n(&[][..], 8)).collect();
        let near = neighbourhood(&names, &[&[][..]; 9], definers).near(&[(0, 1.0)]);
        assert!(near[1..].iter().all(|rank| *rank < 0.2), "{near:?}");
    }

    #[test]
    fn without_leaders_the_proximity_is_zero() {
        let neighbourhood = neighbourhood(&[&[], &[]], &[&[1], &[]], &[]);
        assert_eq!(neighbourhood.near(&[]), [0.0, 0.0]);
        assert_eq!(neighbourhood.near(&[(7, 1.0)]), [0.0, 0.0]);
        assert!(Neighbourhood::default().near(&[(0, 1.0)]).is_empty());
    }

    proptest! {
        #[test]
        fn proximity_is_from_zero_to_one(
            names in prop::collection::vec(prop::collection::vec((0u32..4, 1u32..9), 0..4), 1..6),
            leaders in prop::collection::vec((0u32..8, 0.0f64..1.0), 0..4),
        ) {
            let files = names.len() as u32;
            let definers: Vec<Vec<u32>> = (0..4).map(|name| (0..files).filter(|file| file % 4 >= name).collect()).collect();
            let uses = |file: u32| FileUses { names: names[file as usize].clone(), imports: Vec::new() };
            let all = files as usize;
            let near = Neighbourhood::new(all, uses, |name| &definers[name as usize], |name| name == 0).near(&leaders);
            prop_assert!(near.iter().all(|rank| (0.0..=1.0).contains(rank)), "{:?}", near);
        }
    }
}
