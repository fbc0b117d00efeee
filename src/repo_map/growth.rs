//! What a larger budget would bring: the files and definitions that the next step of it would add to a map.

use std::collections::BTreeSet;

use super::build::{ENOUGH, RepoMap, by_file};
use super::fit::fit;
use super::plan::steps;
use super::render::Writer;
use crate::tokens::TokenCounter;

/// What some more tokens would add to a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Growth {
    /// The tokens.
    pub step: usize,
    /// The files that would be named and are not, by number.
    pub files: BTreeSet<u32>,
    /// Definitions that would be shown and are not.
    pub symbols: usize,
}

impl RepoMap {
    /// Finds out what `step` more tokens would add, by making that map; the first answer stands. It takes as long as the map
    /// did, its ranking aside.
    pub fn foresee(&self, step: usize, counter: &dyn TokenCounter) -> &Growth {
        self.growth.get_or_init(|| self.grown(step, counter))
    }

    /// What was found out by [`RepoMap::foresee`]; `None` if nobody has asked.
    pub fn foreseen(&self) -> Option<&Growth> {
        self.growth.get()
    }

    fn grown(&self, step: usize, counter: &dyn TokenCounter) -> Growth {
        let budget = self.budget.saturating_add(step);
        let order: Vec<u32> = self.files.iter().map(|file| file.file).collect();
        let choices = steps(&self.ranking, &order, self.ranking.gains(), budget.saturating_mul(ENOUGH));
        let fitted = fit(&mut Writer::new(self.ranking.index(), self.style), &choices, budget, counter);
        let larger = by_file(&fitted.choices);
        let distinct = |chosen: &[u32]| chosen.iter().collect::<BTreeSet<_>>().len();
        let count = |chosen: &std::collections::HashMap<u32, Vec<u32>>| -> usize {
            chosen.values().map(|definitions| distinct(definitions)).sum()
        };
        let files = larger.keys().copied().filter(|file| !self.chosen.contains_key(file)).collect();
        Growth { step, files, symbols: count(&larger).saturating_sub(count(&self.chosen)) }
    }
}
