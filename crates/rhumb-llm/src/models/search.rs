//! Finding models by a part of their name, or by one that is misspelt.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::alias::ALIASES;
use super::catalog::Catalog;
use super::listing::Listing;
use super::name::{ModelName, version};
use super::provider::Provider;
use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, NamePart};

/// How alike two names are at least that may be one misspelt: 1 is equal.
const ALIKE: f64 = 0.6;

/// The share of the score of a perfect match that a match has at least. Below it the letters of the query are strewn over the
/// name, and a misspelt name (see [`Catalog::nearest`]) is the likelier reason.
const CLOSE: f64 = 0.65;

/// A model of the tables, with what it is ordered by.
struct Entry<'a> {
    name: String,
    listing: &'a Listing,
    /// It is no longer served.
    retired: bool,
}

impl Entry<'_> {
    /// What decides between models that match equally well: those that are still served, makers before sellers, newer ones,
    /// shorter names, the alphabet.
    fn order(&self) -> impl Ord + use<'_> {
        let place = Provider::place(&self.listing.provider);
        (self.retired, place, Reverse(version(&self.listing.base)), self.name.len(), &self.name)
    }
}

impl Catalog {
    /// The names of all models in the tables, by provider (makers first), those that are no longer served last.
    pub fn names(&self) -> Vec<String> {
        let mut entries = self.entries();
        entries.sort_by(|a, b| a.order().cmp(&b.order()));
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// Our short names, each with the model that it stands for now; those that stand for none are left out.
    pub fn short_names(&self) -> Vec<(String, String)> {
        let meant =
            |name: &'static str| Some((name.to_owned(), self.resolve(name))).filter(|(name, meant)| name != meant);
        ALIASES.iter().filter_map(|alias| meant(alias.name)).collect()
    }

    /// The names of at most `limit` models that match `query`, best first. Words are divided by spaces and must all match, their
    /// letters in order; letters that are strewn over the name do not match. Between equal matches those come first that are still
    /// served, makers before sellers, newer ones, shorter names.
    pub fn search(&self, query: &str, limit: usize) -> Vec<String> {
        let mut filter = FuzzyFilter::new(query);
        let perfect = filter.score(query).unwrap_or_default();
        let is_close = |score: u32| f64::from(score) >= f64::from(perfect) * CLOSE;
        let entries = self.entries();
        let mut found: Vec<(FuzzyMatch, &Entry)> = Vec::new();
        for entry in &entries {
            if filter.score(&entry.name).is_some_and(is_close) {
                found.extend(filter.matched(&entry.name, NamePart::LastPart).map(|matched| (matched, entry)));
            }
        }
        found.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.order().cmp(&other.order())));
        found.into_iter().take(limit).map(|(_, entry)| entry.name.clone()).collect()
    }

    /// The names of at most `limit` models that are spelt like `name`, the most alike first.
    pub fn nearest(&self, name: &str, limit: usize) -> Vec<String> {
        let parts = ModelName::of(name);
        let alike = |entry: &Entry| strsim::normalized_damerau_levenshtein(&parts.base, &entry.listing.base);
        let entries = self.entries();
        let mut found: Vec<(f64, &Entry)> = entries.iter().map(|entry| (alike(entry), entry)).collect();
        found.retain(|(alike, _)| *alike >= ALIKE);
        found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.order().cmp(&other.order())));
        found.into_iter().take(limit).map(|(_, entry)| entry.name.clone()).collect()
    }

    /// Every model once: as the strongest list has it.
    fn entries(&self) -> Vec<Entry<'_>> {
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        for (list, _) in self.lists() {
            for listing in &list.models {
                let name = listing.name();
                if seen.insert(name.to_ascii_lowercase()) {
                    let retired = listing.retires.as_ref().is_some_and(|day| *day <= list.date);
                    entries.push(Entry { name, listing, retired });
                }
            }
        }
        entries
    }
}
