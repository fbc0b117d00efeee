//! What a larger budget would bring: the files and definitions that the next step of it would add to a map.

use std::collections::BTreeSet;

use super::build::{ENOUGH, RepoMap, by_file};
use super::fit::fit;
use super::plan::steps;
use super::render::Writer;
use rhumb_tokens::TokenCounter;

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::repo_map::{MapFile, MapRequest, RepoMap, symbol_choice};
    use rhumb_syntax::tag::{Definition, FileTags, SymbolKind};
    use rhumb_tokens::counter_for_model;

    fn build(budget: usize, pinned: &[String], banned: &[String]) -> RepoMap {
        let definition = |file: usize, number: usize| Definition {
            name: format!("moor_{file}_{number}"),
            kind: SymbolKind::Function,
            line: number as u32 + 1,
            end_line: 9,
            signature: format!("fn moor_{file}_{number}(ship: Ship) -> Berth"),
            container: None,
            doc: String::new(),
        };
        let file = |number: usize| MapFile {
            path: format!("src/berth_{number:02}.rs"),
            tags: Arc::new(FileTags {
                definitions: (0..4).map(|at| definition(number, at)).collect(),
                ..FileTags::default()
            }),
            digest: Arc::default(),
        };
        let files: Vec<MapFile> = (0..40).map(file).collect();
        let (pinned, banned) = (pinned.to_vec(), banned.to_vec());
        let request = MapRequest { budget, pinned, banned, ..MapRequest::default() };
        RepoMap::build(&files, &request, counter_for_model("gpt-4").as_ref())
    }

    #[test]
    fn what_is_foreseen_is_what_comes() {
        for (budget, step) in [(40, 64), (200, 128), (100_000, 512)] {
            let (map, larger) = (build(budget, &[], &[]), build(budget + step, &[], &[]));
            let counter = counter_for_model("gpt-4");
            let growth = map.foresee(step, counter.as_ref()).clone();
            let new = larger
                .files
                .iter()
                .filter(|file| file.shown && !map.files.iter().any(|other| other.path == file.path && other.shown));
            assert_eq!(new.map(|file| file.file).collect::<std::collections::BTreeSet<_>>(), growth.files);
            assert_eq!(map.foreseen(), Some(&growth));
        }
    }

    #[test]
    fn the_tokens_of_the_files_add_up_to_no_more_than_the_map() {
        for budget in [40, 200, 1_000] {
            let map = build(budget, &[], &[]);
            let sum: usize = map.files.iter().map(|file| file.tokens).sum();
            assert!(sum > 0 && sum <= map.tokens + 2, "{sum} of {}", map.tokens);
            assert!(map.files.iter().all(|file| file.shown == (file.tokens > 0)));
        }
    }

    #[test]
    fn a_pinned_symbol_brings_its_file_along_and_a_banned_one_stays_out() {
        let choice = symbol_choice("src/berth_37.rs", "moor_37_2");
        assert!(!build(60, &[], &[]).text.contains("moor_37_2"));
        let pinned = build(60, std::slice::from_ref(&choice), &[]);
        assert!(pinned.text.contains("berth_37") && pinned.text.contains("moor_37_2"), "{}", pinned.text);
        let place = pinned.place("src/berth_37.rs").unwrap();
        assert_eq!(pinned.symbols(place)[0].name, "moor_37_2", "first of its file");
        let banned = build(100_000, &[], &[choice]);
        assert!(banned.text.contains("moor_37_1") && !banned.text.contains("moor_37_2"));
        let place = banned.place("src/berth_37.rs").unwrap();
        assert_eq!(banned.symbols(place).last().unwrap().name, "moor_37_2", "it can be let back in");
    }

    #[test]
    fn letters_find_files_and_symbols_best_first() {
        let map = build(1_000, &[], &[]);
        let found = map.sift("moor_7_1", &|| false).unwrap();
        let first = &found.files[0];
        assert_eq!(&*map.files[first.place].path, "src/berth_07.rs");
        assert_eq!(map.symbols(first.place)[first.symbols[0]].name, "moor_7_1");
        assert_eq!(map.sift("berth_3", &|| false).unwrap().files[0].symbols.len(), 0, "by its path alone");
        assert_eq!(map.sift("nothing like it", &|| false).unwrap().total, (0, 0));
        assert!(map.sift("moor", &|| true).is_none(), "nobody waits for it any more");
    }

    #[test]
    fn a_rank_has_its_grounds() {
        let map = build(1_000, &[], &[]);
        let whence = map.whence(0, None);
        assert!(!whence.requested && !whence.grounds.is_empty(), "{whence:?}");
        assert!(map.whence(9_999, None).grounds.is_empty());
        assert_eq!(map.whence(0, Some(1)).grounds.len().max(1), 1);
    }
}
