//! Looking models up by name.
//!
//! Layers, from the strongest: what the user says ([`ModelOverride`]), lists that the user had fetched (the youngest first),
//! the list that comes with the program, what models of such a name are like as a rule, and what most servers take. The
//! lists give facts (limits, prices, what a model takes); how a model is best spoken to is our own judgement by family.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::alias;
use super::family::{Judged, judged};
use super::listing::{ListKind, Listing, ModelList};
use super::model::{Caching, Model, Source, ThinkingControl};
use super::name::{ModelName, fits, version};
use super::overrides::ModelOverride;
use super::price::Prices;
use super::provider::{Provider, Tariff};

/// The list that comes with the program, in the form in which lists are kept. `rhumb models --refresh --save FILE` writes one.
const SNAPSHOT: &str = include_str!("../snapshot.tsv");

/// Read when the first model is looked up, not when the program starts.
static BUNDLED: LazyLock<ModelList> = LazyLock::new(|| {
    // A test holds that it can be read; without it, families are all that is known.
    ModelList::decode(SNAPSHOT).unwrap_or_else(|| ModelList::new(ListKind::Litellm, "", "", Vec::new()))
});

/// How many aliases may lead to each other.
const MAX_ALIASES: usize = 8;

/// Every model that is known.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Lists that the user had fetched, the youngest first.
    refreshed: Vec<Arc<ModelList>>,
    /// By the name or pattern that the user wrote.
    overrides: BTreeMap<String, ModelOverride>,
    /// The user's short names.
    aliases: BTreeMap<String, String>,
}

impl Catalog {
    /// The table that comes with the program.
    pub fn bundled() -> Self {
        Self::default()
    }

    /// With lists that the user had fetched. The youngest wins; among equally old ones, the order of [`ListKind::ALL`].
    #[must_use]
    pub fn with_lists(mut self, lists: Vec<ModelList>) -> Self {
        let place = |kind| ListKind::ALL.iter().position(|known| *known == kind);
        self.refreshed = lists.into_iter().map(Arc::new).collect();
        self.refreshed.sort_by(|a, b| b.date.cmp(&a.date).then(place(a.kind).cmp(&place(b.kind))));
        self
    }

    /// With what the user says: tables by the name of a model (or a pattern, `*` standing for anything), and short names.
    #[must_use]
    pub fn with_user(mut self, overrides: BTreeMap<String, ModelOverride>, aliases: BTreeMap<String, String>) -> Self {
        self.overrides = overrides;
        self.aliases = aliases;
        self
    }

    /// The lists in force, the strongest first, with where their models come from.
    pub fn lists(&self) -> impl Iterator<Item = (&ModelList, Source)> {
        let refreshed = self.refreshed.iter().map(|list| (list.as_ref(), Source::Refreshed));
        refreshed.chain(std::iter::once((&*BUNDLED, Source::Bundled)))
    }

    /// The name that `name` stands for: the user's short names first, then ours (`sonnet` is the newest Sonnet in the table),
    /// else the name itself. With a provider before the slash, ours are looked up among its models alone.
    pub fn resolve(&self, name: &str) -> String {
        let mut name = name.trim();
        for _ in 0..MAX_ALIASES {
            let mut mine = self.aliases.iter();
            match mine.find(|(alias, _)| alias.eq_ignore_ascii_case(name)) {
                Some((_, meant)) if !meant.eq_ignore_ascii_case(name) => name = meant.trim(),
                _ => break,
            }
        }
        let parts = ModelName::of(name);
        let Some(alias) = alias::named(parts.id) else { return name.to_owned() };
        let provider = parts.provider.map_or(alias.provider, |provider| provider.name);
        self.newest(provider, alias.patterns).map_or_else(|| name.to_owned(), Listing::name)
    }

    /// What is known of the model of that name. Always an answer: a model in no table gets safe defaults and is not
    /// [`Model::known`].
    pub fn find(&self, name: &str) -> Model {
        self.known(&self.resolve(name))
    }

    /// The same for a name that is no short one.
    fn known(&self, full: &str) -> Model {
        let name = ModelName::of(full);
        let Judged { mut model, weak, editor } = judged(full, &name);
        let named = name.provider.map(|provider| provider.name);
        if name.provider.is_some_and(|provider| provider.tariff == Tariff::Free) {
            at_home(&mut model);
            self.correct(&mut model, &name);
            return model;
        }
        let listed = self.listed(&name);
        if let Some((listing, source)) = listed {
            lay(listing, source, &name, &mut model);
        } else if named == Some("openai") {
            model.responses_only = newer_api_alone(name.id);
        }
        if let Some(provider) = named.or(listed.map(|(listing, _)| listing.provider.as_str())) {
            let price = listed.and_then(|(listing, _)| listing.prices).map(|prices| prices.output);
            model.weak = self.kin(provider, weak, &name, price);
            model.editor = self.kin(provider, editor, &name, None);
        }
        if named.is_some() && ModelName::is_free(name.id) {
            model.prices = Some(Prices::default());
        }
        self.correct(&mut model, &name);
        model
    }

    /// What is known of the model that the server of `provider` knows as `id`: as [`Catalog::find`] with the provider before
    /// the id, if it is one that we know by name. An id is never a short name. What a server of another name charges, only the
    /// user can say.
    pub fn find_at(&self, provider: &str, id: &str) -> Model {
        match Provider::named(provider) {
            Some(provider) if !id.is_empty() && ModelName::of(id).provider != Some(provider) => {
                self.known(&format!("{}/{id}", provider.name))
            }
            None if !provider.is_empty() => {
                let mut model = Model { prices: None, ..self.known(id.trim()) };
                self.correct(&mut model, &ModelName::of(id.trim()));
                model
            }
            _ => self.known(id.trim()),
        }
    }

    /// The entry that a name means, and where it comes from: the same id at the same provider; else the same key, the same base,
    /// among the models of the provider that is named, or of all in their order, makers first.
    fn listed(&self, name: &ModelName) -> Option<(&Listing, Source)> {
        let exact = |listing: &Listing| listing.id.eq_ignore_ascii_case(name.id);
        let key = |listing: &Listing| listing.key == name.key;
        let base = |listing: &Listing| listing.base == name.base;
        let named = name.provider.map(|provider| provider.name);
        // Where a provider is named but does not list the model, the maker's limits are better than none.
        let scopes = named.map(Some).into_iter().chain([None]);
        scopes.into_iter().find_map(|scope| {
            self.best(scope, exact).or_else(|| self.best(scope, key)).or_else(|| self.best(scope, base))
        })
    }

    /// Of the first list that has any, the entry of the first provider; of several there, the one with the shortest id.
    fn best(&self, provider: Option<&str>, fits: impl Fn(&Listing) -> bool) -> Option<(&Listing, Source)> {
        self.lists().find_map(|(list, source)| {
            let of_provider = |listing: &&Listing| provider.is_none_or(|provider| listing.provider == provider);
            let fitting = list.models.iter().filter(of_provider).filter(|listing| fits(listing));
            let first = fitting.min_by_key(|listing| (Provider::place(&listing.provider), listing.id.len()));
            first.map(|listing| (listing, source))
        })
    }

    /// The newest model of a provider that fits the first of `patterns` that any fits; one that is still served, if there is one.
    fn newest(&self, provider: &str, patterns: &[&str]) -> Option<&Listing> {
        patterns.iter().find_map(|pattern| {
            self.lists().find_map(|(list, _)| {
                let of_provider = list.models.iter().filter(|listing| listing.provider == provider);
                let fitting = of_provider.filter(|listing| fits(pattern, &listing.base));
                fitting.max_by_key(|listing| {
                    let served = listing.retires.as_ref().is_none_or(|day| *day > list.date);
                    let latest = listing.id.ends_with("-latest");
                    (served, version(&listing.base), latest, std::cmp::Reverse(listing.id.len()))
                })
            })
        })
    }

    /// The newest model of `patterns` at `provider`, written as `name` is: with a provider or without. None if that is the
    /// model itself, or costs more for its output than `price`.
    fn kin(&self, provider: &str, patterns: &[&str], name: &ModelName, price: Option<f64>) -> Option<String> {
        let listing = self.newest(provider, patterns).filter(|listing| listing.base != name.base)?;
        if listing.prices.zip(price).is_some_and(|(prices, price)| prices.output > price) {
            return None;
        }
        Some(if name.provider.is_some() { listing.name() } else { listing.id.clone() })
    }

    /// Lays what the user says of the model over it: patterns first, then its name without a provider, then the whole name.
    fn correct(&self, model: &mut Model, name: &ModelName) {
        let rank = |written: &str| {
            if written.contains('*') {
                let whole = model.name.to_ascii_lowercase();
                let pattern = written.to_ascii_lowercase();
                return (fits(&pattern, &whole) || fits(&pattern, &name.id.to_ascii_lowercase())).then_some(0);
            }
            if written.eq_ignore_ascii_case(&model.name) {
                return Some(3);
            }
            let parts = ModelName::of(written);
            let same_provider = parts.provider.is_none() || parts.provider == name.provider;
            match () {
                () if same_provider && parts.key == name.key => Some(2),
                () if same_provider && parts.key == name.base => Some(1),
                () => None,
            }
        };
        let meant = self.overrides.iter().filter_map(|(written, says)| Some((rank(written)?, says)));
        let mut meant: Vec<(u8, &ModelOverride)> = meant.collect();
        meant.sort_by_key(|(rank, _)| *rank);
        meant.into_iter().for_each(|(_, says)| says.apply(model));
    }
}

/// A model that runs on the user's machine: it costs nothing, and its window is what the server was started with, which the
/// name does not tell.
fn at_home(model: &mut Model) {
    model.window = model.window.min(super::model::DEFAULT_WINDOW);
    model.prices = Some(Prices::default());
    model.capabilities.caching = Caching::ByPrefix;
}

/// Whether only the newer API of OpenAI serves a model well that no list has: it answers nothing, or an error, to the other one.
fn newer_api_alone(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    let is_pro = id.split('-').any(|word| word == "pro");
    is_pro || id.contains("codex") || id.contains("deep-research") || id.starts_with("computer-use")
}

/// Lays the facts of a list over what the family lets one expect.
fn lay(listing: &Listing, source: Source, name: &ModelName, model: &mut Model) {
    model.window = listing.window;
    model.max_output = listing.max_output;
    model.retires = listing.retires.clone();
    (model.known, model.source) = (true, source);
    let by_maker = Provider::is_maker(&listing.provider);
    let here = name.provider.map_or(by_maker, |provider| provider.name == listing.provider);
    let holds = here || (by_maker && name.provider.is_some_and(|provider| provider.tariff == Tariff::Makers));
    model.prices = listing.prices.filter(|_| holds);
    let (says, can) = (listing.abilities, &mut model.capabilities);
    model.responses_only = here && says.responses_only;
    can.images = says.images;
    can.prefill = says.prefill;
    can.temperature &= !says.fixed_sampling;
    can.system_role &= !says.no_system;
    can.thinking = thinking(listing, can.thinking);
    let cheaper = listing.prices.is_some_and(|prices| prices.cache_read < prices.input);
    if can.caching == Caching::None && (says.caching || cheaper) {
        can.caching = Caching::ByPrefix;
    }
}

/// How thinking is set, by what the list says of it; where it says only that there is some, the family's way.
fn thinking(listing: &Listing, family: ThinkingControl) -> ThinkingControl {
    let says = listing.abilities;
    match (says.reasoning, says.effort, says.budget) {
        (false, ..) => ThinkingControl::None,
        (true, true, true) => ThinkingControl::Both,
        (true, true, false) => ThinkingControl::Effort,
        (true, false, true) => ThinkingControl::Budget,
        (true, false, false) => family,
    }
}

#[cfg(test)]
mod tests;
