//! How near each file is to those that a request is about, along references and imports in both directions.
//!
//! What a change touches besides its subject is what uses it and what it uses. So this graph has no direction: a walk
//! starts at the leaders, takes an arc at each step, and mostly goes home again soon (random walk with restart, Tong,
//! Faloutsos and Pan, 2006).

use rayon::prelude::*;

use super::rank::{Arcs, PageRank, pagerank};

/// Definers above which a name leads nowhere, unless an import tells which of them is meant.
const MOST_DEFINERS: usize = 6;
/// Worth of a reference to a long compound name, against one to a plain name, and of an import.
const COMPOUND: f64 = 2.0;
const IMPORT: f64 = 2.0;
/// Part of the walks that goes on at each step, and the steps: neighbours of neighbours hardly count.
const WALK: PageRank = PageRank { damping: 0.6, tolerance: 0.0, iterations: 12 };

/// What one file uses.
#[derive(Debug, Clone, Default)]
pub struct FileUses {
    /// Names with how often it references them.
    pub names: Vec<(u32, u32)>,
    /// Files that its imports mean, sorted.
    pub imports: Vec<u32>,
}

/// The files of a repository, with arcs between those that use each other.
#[derive(Debug, Clone, Default)]
pub struct Neighbourhood {
    files: usize,
    arcs: Arcs,
}

impl Neighbourhood {
    /// `uses` tells what a file uses; `definers` the files that define a name, sorted; `compound` whether the name is long
    /// and compound.
    pub fn new<'d>(
        files: usize,
        uses: impl Fn(u32) -> FileUses + Sync,
        definers: impl Fn(u32) -> &'d [u32] + Sync,
        compound: impl Fn(u32) -> bool + Sync,
    ) -> Self {
        let row = |from: u32| {
            let uses = uses(from);
            let import = IMPORT / (uses.imports.len() as f64).sqrt().max(1.0);
            let mut row: Vec<(u32, f64)> = uses.imports.iter().map(|&to| (to, import)).collect();
            for &(name, count) in &uses.names {
                let worth = f64::from(count).sqrt() * if compound(name) { COMPOUND } else { 1.0 };
                let meant = meant(definers(name), from, &uses.imports);
                row.extend(meant.iter().map(|&to| (to, worth / meant.len() as f64)));
            }
            merged(row)
        };
        let rows: Vec<Vec<(u32, f64)>> = (0..files as u32).into_par_iter().map(row).collect();
        let links =
            || (0u32..).zip(&rows).flat_map(|(from, row)| row.iter().map(move |&(to, worth)| (from, to, worth)));
        let both: Vec<(u32, u32, f64)> = links().chain(links().map(|(from, to, worth)| (to, from, worth))).collect();
        Self { files, arcs: Arcs::new(files, &both) }
    }

    /// By file, from 0 to 1: how near it is to `leaders`, files with their shares. What a leader has from being one is
    /// left out: it counts for what the other leaders say of it.
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

/// The files that a reference may mean, none if its own file defines the name: those that the file imports, or else all of
/// a few.
pub(crate) fn meant(definers: &[u32], from: u32, imports: &[u32]) -> Vec<u32> {
    if definers.binary_search(&from).is_ok() {
        return Vec::new();
    }
    let imported: Vec<u32> = definers.iter().copied().filter(|file| imports.binary_search(file).is_ok()).collect();
    match imported.is_empty() {
        false => imported,
        true if definers.len() <= MOST_DEFINERS => definers.to_vec(),
        true => Vec::new(),
    }
}

/// One arc for all parallel ones: a walk costs by the arc.
fn merged(mut row: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    // Stable, so that the sums depend on nothing but the order in the file.
    row.sort_by_key(|link| link.0);
    let sum = |same: &[(u32, f64)]| (same[0].0, same.iter().map(|link| link.1).sum());
    row.chunk_by(|a, b| a.0 == b.0).map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The neighbourhood of files that reference names; name `i` is defined by `definers[i]`.
    fn neighbourhood(names: &[&[(u32, u32)]], imports: &[&[u32]], definers: &[&[u32]]) -> Neighbourhood {
        let uses =
            |file: u32| FileUses { names: names[file as usize].to_vec(), imports: imports[file as usize].to_vec() };
        Neighbourhood::new(names.len(), uses, |name| definers[name as usize], |_| false)
    }

    #[test]
    fn users_and_used_are_both_near() {
        // 0 uses 1, 2 uses 0, 3 is alone.
        let near =
            neighbourhood(&[&[(0, 1)], &[], &[(1, 1)], &[]], &[&[], &[], &[], &[]], &[&[1], &[0]]).near(&[(0, 1.0)]);
        assert!(near[1] > 0.0 && near[1] == near[2], "{near:?}");
        assert!(near[3] < near[1] / 10.0, "{near:?}");
    }

    #[test]
    fn an_import_decides_between_definers() {
        let definers: &[&[u32]] = &[&[1, 2]];
        let near = neighbourhood(&[&[(0, 1)], &[], &[]], &[&[2], &[], &[]], definers).near(&[(0, 1.0)]);
        assert!(near[2] > 10.0 * near[1], "{near:?}");
    }

    #[test]
    fn a_name_that_everybody_defines_leads_nowhere() {
        let all: Vec<u32> = (1..9).collect();
        let definers: &[&[u32]] = &[&all];
        let names: Vec<&[(u32, u32)]> = std::iter::once(&[(0, 3)][..]).chain(std::iter::repeat_n(&[][..], 8)).collect();
        let near = neighbourhood(&names, &[&[][..]; 9], definers).near(&[(0, 1.0)]);
        assert!(near[1..].iter().all(|rank| *rank < 0.2), "{near:?}");
    }

    #[test]
    fn nobody_is_near_to_nobody() {
        let hood = neighbourhood(&[&[], &[]], &[&[1], &[]], &[]);
        assert_eq!(hood.near(&[]), [0.0, 0.0]);
        assert_eq!(hood.near(&[(7, 1.0)]), [0.0, 0.0]);
        assert!(Neighbourhood::default().near(&[(0, 1.0)]).is_empty());
    }

    proptest! {
        #[test]
        fn nearness_is_a_share(
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
