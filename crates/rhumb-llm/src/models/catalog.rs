//! The catalogue of models: lookup by name, search, and suggestions for misspelt names.
//!
//! Sources, strongest first: the user's settings ([`ModelOverride`]), fetched lists (newest first), the list of this
//! crate, family defaults, and general defaults. The lists provide facts: limits, prices and capabilities. How a
//! model is best prompted is defined per family by this crate.

use super::cost::Prices;
use super::family::{ALIASES, FamilyDefaults, alias_named, family_defaults};
use super::lists::{ListKind, Listing, ModelList};
use super::model::{Caching, Model, ModelOverride, Source, ThinkingControl};
use super::name::{ModelName, gpt_version, matches_pattern, version};
use super::name::{PriceSource, ProviderInfo};
use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, NamePart};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// The model list of this crate. `rhumb models --refresh --save FILE` writes a new one.
const SNAPSHOT: &str = include_str!("snapshot.tsv");

/// Decoded at the first lookup, not at program start.
static BUNDLED: LazyLock<ModelList> = LazyLock::new(|| {
    // A test checks that it can be decoded. Without it only the families are known.
    ModelList::decode(SNAPSHOT).unwrap_or_else(|| ModelList::new(ListKind::Litellm, "", "", Vec::new()))
});

/// Maximum length of a chain of aliases.
const MAX_ALIASES: usize = 8;

/// All known models.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Fetched lists, newest first.
    refreshed: Vec<Arc<ModelList>>,
    /// The user's settings, by model name or pattern.
    overrides: BTreeMap<String, ModelOverride>,
    /// The user's aliases.
    aliases: BTreeMap<String, String>,
}

impl Catalog {
    /// Returns the catalogue with the list of this crate only.
    pub fn bundled() -> Self {
        Self::default()
    }

    /// Adds fetched lists. The newest takes precedence; equally old ones have the order of [`ListKind::ALL`].
    #[must_use]
    pub fn with_lists(mut self, lists: Vec<ModelList>) -> Self {
        let rank = |kind| ListKind::ALL.iter().position(|known| *known == kind);
        self.refreshed = lists.into_iter().map(Arc::new).collect();
        self.refreshed.sort_by(|a, b| b.date.cmp(&a.date).then(rank(a.kind).cmp(&rank(b.kind))));
        self
    }

    /// Adds the user's settings by model name (or pattern with `*`), and aliases.
    #[must_use]
    pub fn with_user(mut self, overrides: BTreeMap<String, ModelOverride>, aliases: BTreeMap<String, String>) -> Self {
        self.overrides = overrides;
        self.aliases = aliases;
        self
    }

    /// Returns all lists with their kind of source, strongest first.
    pub fn lists(&self) -> impl Iterator<Item = (&ModelList, Source)> {
        let refreshed = self.refreshed.iter().map(|list| (list.as_ref(), Source::Refreshed));
        refreshed.chain(std::iter::once((&*BUNDLED, Source::Bundled)))
    }

    /// Resolves an alias to a model name: the user's aliases first, then those of this crate (`sonnet` is the newest
    /// Sonnet in the lists). Other names are returned unchanged. With a provider before the slash, only models of
    /// that provider are considered.
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
        let Some(alias) = alias_named(parts.id) else { return name.to_owned() };
        let provider = parts.provider.map_or(alias.provider, |provider| provider.name);
        self.newest(provider, alias.patterns).map_or_else(|| name.to_owned(), Listing::name)
    }

    /// Returns what is known about the model `name`, which may be an alias. An unlisted model has default limits, and
    /// [`Model::known`] is false.
    pub fn find(&self, name: &str) -> Model {
        self.known(&self.resolve(name))
    }

    /// Like [`Catalog::find`], for a name that is not an alias.
    fn known(&self, full: &str) -> Model {
        let name = ModelName::of(full);
        let FamilyDefaults { mut model, weak, editor } = family_defaults(full, &name);
        let named = name.provider.map(|provider| provider.name);
        if name.provider.is_some_and(|provider| provider.price_source == PriceSource::Free) {
            set_local(&mut model);
            self.correct(&mut model, &name);
            return model;
        }
        let listed = self.listed(&name);
        if let Some((listing, source)) = listed {
            apply_listing(listing, source, &name, &mut model);
        } else if named == Some("openai") {
            model.responses_only = needs_responses_api(name.id);
        }
        if let Some(provider) = named.or(listed.map(|(listing, _)| listing.provider.as_str())) {
            let price = listed.and_then(|(listing, _)| listing.prices).map(|prices| prices.output);
            model.weak = self.related_model(provider, weak, &name, price);
            model.editor = self.related_model(provider, editor, &name, None);
            model.responses_only |= provider == "openai" && gpt_version(&name.base) >= Some(FIRST_WITHOUT_CHAT_TOOLS);
        }
        if named.is_some() && ModelName::is_free(name.id) {
            model.prices = Some(Prices::default());
        }
        self.correct(&mut model, &name);
        model
    }

    /// Returns what is known about the model `id` on the server of `provider`.
    ///
    /// `id` is never treated as an alias. The prices of an unknown provider are unknown unless the user has set them.
    pub fn find_at(&self, provider: &str, id: &str) -> Model {
        match ProviderInfo::named(provider) {
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

    /// Returns the listed model that a name refers to: with the same id at the same provider, or else with the same
    /// key, or the same base, first among the models of the named provider and then among all models, makers first.
    fn listed(&self, name: &ModelName) -> Option<(&Listing, Source)> {
        let exact = |listing: &Listing| listing.id.eq_ignore_ascii_case(name.id);
        let key = |listing: &Listing| listing.key == name.key;
        let base = |listing: &Listing| listing.base == name.base;
        let named = name.provider.map(|provider| provider.name);
        // If the named provider does not list the model, the limits of its maker are used.
        let scopes = named.map(Some).into_iter().chain([None]);
        scopes.into_iter().find_map(|scope| {
            self.best(scope, exact).or_else(|| self.best(scope, key)).or_else(|| self.best(scope, base))
        })
    }

    /// Returns the best match of the first list that has one: of the first provider, with the shortest id.
    fn best(&self, provider: Option<&str>, matches: impl Fn(&Listing) -> bool) -> Option<(&Listing, Source)> {
        self.lists().find_map(|(list, source)| {
            let of_provider = |listing: &&Listing| provider.is_none_or(|provider| listing.provider == provider);
            let fitting = list.models.iter().filter(of_provider).filter(|listing| matches(listing));
            let first = fitting.min_by_key(|listing| (ProviderInfo::position(&listing.provider), listing.id.len()));
            first.map(|listing| (listing, source))
        })
    }

    /// Returns the newest model of a provider that matches the first pattern with a match. Prefers models that are
    /// still available.
    fn newest(&self, provider: &str, patterns: &[&str]) -> Option<&Listing> {
        patterns.iter().find_map(|pattern| {
            self.lists().find_map(|(list, _)| {
                let of_provider = list.models.iter().filter(|listing| listing.provider == provider);
                let fitting = of_provider.filter(|listing| matches_pattern(pattern, &listing.base));
                fitting.max_by_key(|listing| {
                    let served = listing.retires.as_ref().is_none_or(|day| *day > list.date);
                    let latest = listing.id.ends_with("-latest");
                    (served, version(&listing.base), latest, std::cmp::Reverse(listing.id.len()))
                })
            })
        })
    }

    /// Returns the newest model of `patterns` at `provider`, with a provider prefix if `name` has one. `None` if it
    /// is the model itself, or if its output price is higher than `price`.
    fn related_model(&self, provider: &str, patterns: &[&str], name: &ModelName, price: Option<f64>) -> Option<String> {
        let listing = self.newest(provider, patterns).filter(|listing| listing.base != name.base)?;
        if listing.prices.zip(price).is_some_and(|(prices, price)| prices.output > price) {
            return None;
        }
        Some(if name.provider.is_some() { listing.name() } else { listing.id.clone() })
    }

    /// Applies the user's settings for a model: patterns first, then the name without provider, then the full name.
    fn correct(&self, model: &mut Model, name: &ModelName) {
        let rank = |written: &str| {
            if written.contains('*') {
                let whole = model.name.to_ascii_lowercase();
                let pattern = written.to_ascii_lowercase();
                return (matches_pattern(&pattern, &whole) || matches_pattern(&pattern, &name.id.to_ascii_lowercase()))
                    .then_some(0);
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

/// Adapts a model that runs on the user's machine. It costs nothing, and its window depends on how the server was
/// started.
fn set_local(model: &mut Model) {
    model.window = model.window.min(super::model::DEFAULT_WINDOW);
    model.prices = Some(Prices::default());
    model.capabilities.caching = Caching::ByPrefix;
}

/// From this version of GPT on, OpenAI rejects tools in the chat completions API.
const FIRST_WITHOUT_CHAT_TOOLS: (u32, u32) = (5, 4);

/// Returns whether an unlisted OpenAI model works only with the Responses API.
fn needs_responses_api(id: &str) -> bool {
    let id = id.to_ascii_lowercase();
    let is_pro = id.split('-').any(|word| word == "pro");
    is_pro || id.contains("codex") || id.contains("deep-research") || id.starts_with("computer-use")
}

/// Applies the facts of a list to the family defaults.
fn apply_listing(listing: &Listing, source: Source, name: &ModelName, model: &mut Model) {
    model.window = listing.window;
    model.max_output = listing.max_output;
    model.retires = listing.retires.clone();
    (model.known, model.source) = (true, source);
    let by_maker = ProviderInfo::is_maker(&listing.provider);
    let here = name.provider.map_or(by_maker, |provider| provider.name == listing.provider);
    let holds =
        here || (by_maker && name.provider.is_some_and(|provider| provider.price_source == PriceSource::ByMaker));
    model.prices = listing.prices.filter(|_| holds);
    let (says, can) = (listing.capabilities, &mut model.capabilities);
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

/// Returns how thinking is set. If the list only says that the model thinks, the family default is used.
fn thinking(listing: &Listing, family: ThinkingControl) -> ThinkingControl {
    let says = listing.capabilities;
    match (says.reasoning, says.effort, says.budget) {
        (false, ..) => ThinkingControl::None,
        (true, true, true) => ThinkingControl::Both,
        (true, true, false) => ThinkingControl::Effort,
        (true, false, true) => ThinkingControl::Budget,
        (true, false, false) => family,
    }
}

/// Minimum similarity of a suggestion for a misspelt name, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.6;

/// Minimum score of a search result relative to a perfect match. Below it the letters of the query are scattered over
/// the name.
const MIN_SCORE_SHARE: f64 = 0.65;

/// A listed model with its sort keys.
struct CatalogEntry<'a> {
    name: String,
    listing: &'a Listing,
    /// The model is no longer available.
    retired: bool,
}

impl CatalogEntry<'_> {
    /// Sort key of equally good matches: available models first, makers before resellers, newer before older, shorter
    /// before longer names, then alphabetical.
    fn order(&self) -> impl Ord + use<'_> {
        let rank = ProviderInfo::position(&self.listing.provider);
        (self.retired, rank, Reverse(version(&self.listing.base)), self.name.len(), &self.name)
    }
}

impl Catalog {
    /// Returns the names of all listed models, by provider (makers first). Models that are no longer available come
    /// last.
    pub fn names(&self) -> Vec<String> {
        let mut entries = self.entries();
        entries.sort_by(|a, b| a.order().cmp(&b.order()));
        entries.into_iter().map(|entry| entry.name).collect()
    }

    /// Returns the aliases of this crate with the models that they refer to now.
    pub fn short_names(&self) -> Vec<(String, String)> {
        let meant =
            |name: &'static str| Some((name.to_owned(), self.resolve(name))).filter(|(name, meant)| name != meant);
        ALIASES.iter().filter_map(|alias| meant(alias.name)).collect()
    }

    /// Returns at most `limit` names that match `query`, best first.
    ///
    /// All words of the query must match, as letters in order. Available models come first, then makers, newer
    /// models, and shorter names.
    pub fn search(&self, query: &str, limit: usize) -> Vec<String> {
        let mut filter = FuzzyFilter::new(query);
        let perfect = filter.score(query).unwrap_or_default();
        let is_close = |score: u32| f64::from(score) >= f64::from(perfect) * MIN_SCORE_SHARE;
        let entries = self.entries();
        let mut found: Vec<(FuzzyMatch, &CatalogEntry)> = Vec::new();
        for entry in &entries {
            if filter.score(&entry.name).is_some_and(is_close) {
                found.extend(filter.matched(&entry.name, NamePart::LastPart).map(|matched| (matched, entry)));
            }
        }
        found.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.order().cmp(&other.order())));
        found.into_iter().take(limit).map(|(_, entry)| entry.name.clone()).collect()
    }

    /// Returns at most `limit` names with a similar spelling, most similar first.
    pub fn nearest(&self, name: &str, limit: usize) -> Vec<String> {
        let parts = ModelName::of(name);
        let alike = |entry: &CatalogEntry| strsim::normalized_damerau_levenshtein(&parts.base, &entry.listing.base);
        let entries = self.entries();
        let mut found: Vec<(f64, &CatalogEntry)> = entries.iter().map(|entry| (alike(entry), entry)).collect();
        found.retain(|(alike, _)| *alike >= MIN_SIMILARITY);
        found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.order().cmp(&other.order())));
        found.into_iter().take(limit).map(|(_, entry)| entry.name.clone()).collect()
    }

    /// Returns every model once, from the strongest list that has it.
    fn entries(&self) -> Vec<CatalogEntry<'_>> {
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        for (list, _) in self.lists() {
            for listing in &list.models {
                let name = listing.name();
                if seen.insert(name.to_ascii_lowercase()) {
                    let retired = listing.retires.as_ref().is_some_and(|day| *day <= list.date);
                    entries.push(CatalogEntry { name, listing, retired });
                }
            }
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::{DEFAULT_WINDOW, Dollars, Tokens, parse_list};
    use rhumb_edit::EditFormat;

    fn find(name: &str) -> Model {
        Catalog::bundled().find(name)
    }

    fn user(overrides: &[(&str, &str)], aliases: &[(&str, &str)]) -> Catalog {
        let table = |(name, text): &(&str, &str)| ((*name).to_owned(), toml::from_str(text).unwrap());
        let alias = |(name, meant): &(&str, &str)| ((*name).to_owned(), (*meant).to_owned());
        Catalog::bundled().with_user(overrides.iter().map(table).collect(), aliases.iter().map(alias).collect())
    }

    fn refreshed(name: &str, window: usize, date: &str) -> ModelList {
        let text = format!(r#"{{"data": [{{"id": "{name}", "context_length": {window}}}]}}"#);
        parse_list(&text, date, "test").unwrap()
    }

    #[test]
    fn the_list_that_comes_with_the_program_can_be_read() {
        assert!(BUNDLED.models.len() > 300 && BUNDLED.date.starts_with("20") && !BUNDLED.source.is_empty());
        assert_eq!(ModelList::decode(SNAPSHOT).map(|list| list.encode()).as_deref(), Some(SNAPSHOT));
        let sorted = ModelList::new(BUNDLED.kind, "", "", BUNDLED.models.clone());
        assert_eq!(sorted.models, BUNDLED.models);
    }

    #[test]
    fn a_provider_prefix_does_not_hide_the_model() {
        let model = find("openai/gpt-4o-mini");
        assert_eq!((model.window, model.known), (128_000, true));
        assert!(!find("my-finetune").known);
    }

    #[test]
    fn facts_come_from_the_list_and_prompting_from_the_family() {
        let model = find("gpt-4o");
        assert_eq!((model.window, model.max_output, model.source), (128_000, Some(16_384), Source::Bundled));
        assert!(model.lazy && model.capabilities.images && model.capabilities.caching == Caching::ByPrefix);
        let million = Tokens { fresh: 1_000_000, ..Tokens::default() };
        assert_eq!(model.prices.map(|prices| prices.cost(million)), Some(Dollars::new(2.5)));
        let claude = find("claude-haiku-4-5");
        assert_eq!(claude.capabilities.caching, Caching::Marked);
        assert_eq!(claude.capabilities.thinking, ThinkingControl::Budget);
        assert!(claude.capabilities.prefill && !find("claude-opus-4-8").capabilities.prefill);
        assert!(find("gpt-5-pro").responses_only && !find("gpt-5").responses_only);
        assert_eq!(find("gpt-5").capabilities.thinking, ThinkingControl::Effort);
        assert!(!find("gpt-5").capabilities.temperature);
    }

    #[test]
    fn one_model_is_found_however_it_is_written() {
        let plain = find("claude-haiku-4-5");
        for name in [
            "anthropic/claude-haiku-4-5",
            "Claude-Haiku-4.5",
            "claude-haiku-4-5-20251001",
            "claude-haiku-4-5-20260101",
            "openrouter/anthropic/claude-haiku-4.5",
            "us.anthropic.claude-haiku-4-5-20251001-v1:0",
            "vertex_ai/claude-haiku-4-5@20251001",
        ] {
            let model = find(name);
            assert_eq!((model.window, model.known), (plain.window, true), "{name}");
        }
        assert_eq!(find("models/gemini-2.5-pro").window, find("gemini/gemini-2.5-pro").window);
    }

    #[test]
    fn prices_apply_only_to_the_provider_that_charges_them() {
        assert_eq!(find("openrouter/openai/gpt-4o").prices, find("gpt-4o").prices);
        assert_eq!(find("azure/gpt-4o").prices, find("gpt-4o").prices);
        assert_eq!(find("bedrock/anthropic.claude-haiku-4-5-20251001-v1:0").prices, None);
        assert_eq!(find("github_copilot/gpt-4o").prices, None);
        // Several providers offer it at different prices.
        assert_eq!(find("gpt-oss-120b").prices, None);
        assert!(find("groq/openai/gpt-oss-120b").prices.is_some());
        assert_eq!(find("openrouter/some/model:free").prices, Some(Prices::default()));
        assert_eq!(find("never-heard-of").prices, None);
    }

    #[test]
    fn a_model_on_the_users_machine_costs_nothing_and_its_window_is_assumed() {
        let model = find("ollama/qwen2.5-coder:14b");
        assert_eq!((model.window, model.known, model.prices), (32_768, false, Some(Prices::default())));
        assert_eq!(model.edit_format, EditFormat::Whole);
        assert_eq!(find("ollama/llama3").window, 8_192);
        assert_eq!(find("ollama/llama3.1:70b").window, DEFAULT_WINDOW);
        let catalog = user(&[("ollama/llama3.1:70b", "window = 65536")], &[]);
        let model = catalog.find("ollama/llama3.1:70b");
        assert_eq!((model.window, model.known, model.source), (65_536, true, Source::User));
    }

    #[test]
    fn a_model_is_found_by_its_id_on_the_server() {
        let catalog = Catalog::bundled();
        let name = |provider: &str, id: &str| catalog.find_at(provider, id).name;
        assert_eq!(name("groq", "openai/gpt-oss-120b"), "groq/openai/gpt-oss-120b");
        assert_eq!(name("openai", "gpt-4o"), "openai/gpt-4o");
        assert_eq!(name("openai", "openai/gpt-4o"), "openai/gpt-4o");
        assert_eq!(name("models.example.org", "gpt-4o"), "gpt-4o");
        assert_eq!(name("openai", ""), "");
        assert_eq!(name("models.example.org", "mini"), "mini");
        assert_eq!(catalog.find_at("Ollama", "tide:7b").prices, Some(Prices::default()));
        assert!(
            catalog.find_at("openai", "gpt-4.1").prices.is_some() && catalog.find_at("", "gpt-4.1").prices.is_some()
        );
        let own = catalog.find_at("127.0.0.1", "gpt-4.1");
        assert!(own.known && own.prices.is_none(), "who else charges what is not known");
    }

    #[test]
    fn aliases_refer_to_the_newest_available_model() {
        let catalog = Catalog::bundled();
        for (alias, beginning) in [
            ("sonnet", "anthropic/claude-sonnet-"),
            ("Opus", "anthropic/claude-opus-"),
            ("haiku", "anthropic/claude-haiku-"),
            ("4o", "openai/gpt-4o"),
            ("gpt5", "openai/gpt-5"),
            ("mini", "openai/gpt-5"),
            ("flash", "gemini/gemini-"),
            ("pro", "gemini/gemini-"),
            ("deepseek", "deepseek/deepseek-"),
            ("r1", "deepseek/deepseek-r"),
            ("grok", "xai/grok-4"),
            ("codestral", "mistral/codestral-latest"),
            ("anthropic/sonnet", "anthropic/claude-sonnet-"),
        ] {
            let name = catalog.resolve(alias);
            assert!(name.starts_with(beginning), "{alias} is {name}");
            assert!(catalog.find(alias).known && catalog.find(alias).name == name);
        }
        for alias in ALIASES {
            assert_ne!(catalog.resolve(alias.name), alias.name, "{} leads nowhere", alias.name);
        }
        assert_eq!(catalog.resolve("ollama/mini"), "ollama/mini");
        assert_eq!(catalog.resolve("gpt-4o"), "gpt-4o");
    }

    #[test]
    fn aliases_of_the_user_take_precedence_and_may_refer_to_others() {
        let aliases = [("sonnet", "openai/gpt-4o"), ("best", "opus"), ("a", "b"), ("b", "a")];
        let catalog = user(&[], &aliases);
        assert_eq!(catalog.resolve("sonnet"), "openai/gpt-4o");
        assert!(catalog.resolve("Best").starts_with("anthropic/claude-opus"));
        assert!(["a", "b"].contains(&catalog.resolve("a").as_str()));
    }

    #[test]
    fn a_weak_model_has_the_same_provider_and_spelling() {
        let weak = |name: &str| find(name).weak.unwrap_or_default();
        assert!(weak("claude-sonnet-4-5").starts_with("claude-haiku-"));
        assert!(weak("anthropic/claude-sonnet-4-5").starts_with("anthropic/claude-haiku-"));
        assert!(weak("gemini/gemini-2.5-pro").starts_with("gemini/gemini-"));
        assert_eq!(weak("gpt-4o"), "gpt-4o-mini");
        assert_eq!(find("o3").editor.as_deref(), Some("gpt-4.1"));
        assert_eq!((find("bedrock/claude-sonnet-4-5").weak, find("my-finetune").weak), (None, None));
        assert_eq!(find("gpt-4o").editor, None);
        // No model is its own weak model, and no weak model costs more than the model.
        assert_eq!((find("claude-haiku-5-5").weak, find("gpt-4.1-nano").weak), (None, None));
        let price = |name: &str| find(name).prices.map(|prices| prices.output);
        for (name, weak) in Catalog::bundled().names().iter().filter_map(|name| Some((name, find(name).weak?))) {
            let dearer = price(&weak).zip(price(name)).is_some_and(|(weak, price)| weak > price);
            assert!(!dearer && weak != *name, "{weak} is weaker than {name}?");
        }
    }

    #[test]
    fn more_exact_settings_of_the_user_take_precedence() {
        let catalog = user(
            &[
                ("gpt-4o", "window = 2000\nlazy = false"),
                ("openai/gpt-4o", "window = 3000"),
                ("*gpt*", "window = 1000\novereager = true"),
                ("mine", "window = 9\ninput_price = 1\noutput_price = 2"),
            ],
            &[],
        );
        let model = catalog.find("openai/gpt-4o");
        assert_eq!((model.window, model.lazy, model.overeager), (3_000, false, true));
        assert_eq!(catalog.find("gpt-4o-2024-08-06").window, 2_000);
        assert_eq!(catalog.find("azure/gpt-4o").window, 2_000);
        assert_eq!(catalog.find("gpt-4.1").window, 1_000);
        let mine = catalog.find("mine");
        assert_eq!((mine.known, mine.prices.map(|prices| prices.output)), (true, Some(2.0)));
    }

    #[test]
    fn the_newest_fetched_list_takes_precedence() {
        let newer = refreshed("openai/gpt-4o", 7_000, "2027-01-02");
        let older = ModelList { kind: ListKind::ModelsDev, ..refreshed("openai/gpt-4o", 5_000, "2027-01-01") };
        let catalog = Catalog::bundled().with_lists(vec![older, newer]);
        let model = catalog.find("openrouter/openai/gpt-4o");
        assert_eq!((model.window, model.source), (7_000, Source::Refreshed));
        assert_eq!(catalog.find("gpt-4o").source, Source::Bundled);
        assert_eq!(catalog.lists().map(|(_, source)| source).collect::<Vec<_>>()[2], Source::Bundled);
    }

    #[test]
    fn search_puts_what_matches_best_first() {
        let catalog = Catalog::bundled();
        let found = catalog.search("sonnet", 5);
        assert!(found[0].starts_with("anthropic/claude-sonnet-"), "{found:?}");
        assert_eq!(catalog.search("openai/gpt-4o-mini", 1), ["openai/gpt-4o-mini"]);
        assert!(catalog.search("gem flash lite", 3).iter().all(|name| name.contains("flash-lite")));
        assert!(catalog.search("zzzzqq", 3).is_empty());
        assert!(
            catalog.nearest("gtp-4o", 3).contains(&"openai/gpt-4o".to_owned()),
            "{:?}",
            catalog.nearest("gtp-4o", 3)
        );
        assert_eq!(catalog.names().len(), BUNDLED.models.len());
    }

    #[test]
    fn every_name_has_a_model() {
        for name in ["", "/", "a/", "openai/", "ft:", ":", "*", "models/", "ollama/", "....", "-", "ünïcödé/模型"]
        {
            assert!(find(name).window > 0, "{name}");
        }
    }

    #[test]
    fn some_models_need_the_responses_api() {
        let only = |model: &str| Catalog::bundled().find_at("openai", model).responses_only;
        for model in ["o1-pro", "gpt-5-codex", "gpt-5.1-codex-mini", "codex-mini-latest", "gpt-9-pro-2031-01-01"] {
            assert!(only(model), "{model}");
        }
        for model in ["gpt-5", "gpt-5.1", "o3", "gpt-4.1-mini", "gpt-4o-prototype", "gpt-oss-120b"] {
            assert!(!only(model), "{model}");
        }
        // Chat completions serves these without tools. Some are listed.
        for model in ["gpt-5.4", "gpt-5.4-mini", "gpt-5.6-sol", "gpt-6", "gpt-6.1-sol-2031-01-01"] {
            assert!(only(model), "{model}");
        }
        assert!(find("gpt-5.4").responses_only && !find("openrouter/openai/gpt-5.4").responses_only);
    }
}
