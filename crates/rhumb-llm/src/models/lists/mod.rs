//! Public model lists, and the text format in which they are stored: one model per line, sorted, so that versions can
//! be compared with `diff`.

mod litellm;
mod models_dev;
mod openrouter;

use super::cost::{LongPrices, Prices};
use super::name::ModelName;
use serde_json::Value;
use std::fmt::Write as _;

/// First column of a stored list. Another value means another format.
const HEADER: &str = "# rhumb-models-1";

/// Maximum plausible context window in tokens.
const MAX_WINDOW: usize = 100_000_000;

/// Maximum plausible price in US dollars per million tokens.
const MAX_PRICE: f64 = 100_000.0;

/// The supported public lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// The price list of the litellm project.
    Litellm,
    /// The model list of `openrouter.ai`.
    OpenRouter,
    /// The list of `models.dev`.
    ModelsDev,
}

impl ListKind {
    /// All kinds, in the order of precedence for equally old lists.
    pub const ALL: [Self; 3] = [Self::Litellm, Self::ModelsDev, Self::OpenRouter];

    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Litellm => "litellm",
            Self::OpenRouter => "openrouter",
            Self::ModelsDev => "models-dev",
        }
    }

    /// Returns the kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Capabilities of a model according to a list. Everything that is not mentioned is false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ListedCapabilities {
    /// It accepts images.
    pub images: bool,
    /// It thinks before it answers.
    pub reasoning: bool,
    /// Thinking is set by a level.
    pub effort: bool,
    /// Thinking is set by a number of tokens.
    pub budget: bool,
    /// It continues a begun answer.
    pub prefill: bool,
    /// It has a prompt cache.
    pub caching: bool,
    /// It does not accept a temperature.
    pub fixed_sampling: bool,
    /// It does not accept system messages.
    pub no_system: bool,
    /// Only the Responses API serves it.
    pub responses_only: bool,
}

impl ListedCapabilities {
    /// The fields with their letters in a stored list.
    fn letters(&mut self) -> [(char, &mut bool); 9] {
        [
            ('v', &mut self.images),
            ('r', &mut self.reasoning),
            ('e', &mut self.effort),
            ('b', &mut self.budget),
            ('p', &mut self.prefill),
            ('c', &mut self.caching),
            ('t', &mut self.fixed_sampling),
            ('s', &mut self.no_system),
            ('R', &mut self.responses_only),
        ]
    }

    fn write(mut self) -> String {
        let letters: String = self.letters().into_iter().filter(|(_, is)| **is).map(|(letter, _)| letter).collect();
        if letters.is_empty() { "-".into() } else { letters }
    }

    fn read(text: &str) -> Option<Self> {
        let mut capabilities = Self::default();
        for letter in text.chars().filter(|letter| *letter != '-') {
            let mut letters = capabilities.letters();
            let (_, is) = letters.iter_mut().find(|(known, _)| *known == letter)?;
            **is = true;
        }
        Some(capabilities)
    }
}

/// A model in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Provider, by its name in this crate.
    pub provider: String,
    /// Id on the server.
    pub id: String,
    /// Maximum number of input tokens, or of input and output together if the list has no limit of the input.
    pub window: usize,
    /// Maximum number of output tokens.
    pub max_output: Option<usize>,
    /// Prices. Unknown if the list has none, or a zero price for a model that is not named free.
    pub prices: Option<Prices>,
    /// Capabilities.
    pub capabilities: ListedCapabilities,
    /// First day on which it is no longer available, such as `2026-11-30`.
    pub retires: Option<String>,
    /// Normalized id.
    pub(crate) key: String,
    /// Normalized id without a date.
    pub(crate) base: String,
}

impl Listing {
    /// Creates a model with limits only. Returns `None` if the window is implausible or a name is not printable
    /// ASCII.
    pub(crate) fn new(provider: &str, id: &str, window: u64, max_output: Option<u64>) -> Option<Self> {
        let window = usize::try_from(window).ok().filter(|window| (1..=MAX_WINDOW).contains(window))?;
        let is_plain_name =
            |text: &str| !text.is_empty() && text.len() <= 200 && text.chars().all(|c| c.is_ascii_graphic());
        (is_plain_name(provider) && is_plain_name(id)).then(|| {
            let name = ModelName::of(id);
            Self {
                provider: provider.to_owned(),
                id: id.to_owned(),
                window,
                max_output: max_output.and_then(|tokens| usize::try_from(tokens).ok()).filter(|tokens| *tokens > 0),
                prices: None,
                capabilities: ListedCapabilities::default(),
                retires: None,
                key: name.key,
                base: name.base,
            }
        })
    }

    /// Returns the full name: `anthropic/claude-sonnet-4-5`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// Sets the prices, in US dollars per million tokens, if they are plausible. Cached tokens cost as much as
    /// uncached ones if the list has no price for them.
    pub(crate) fn set_prices(&mut self, rates: [Option<f64>; 4], long: Option<(u64, [Option<f64>; 4])>) {
        let free = ModelName::is_free(&self.id);
        self.prices = plausible_prices(rates, free).map(|[input, output, cache_read, cache_write]| {
            let long = long.and_then(|(above, rates)| {
                let [input, output, cache_read, cache_write] = plausible_prices(rates, free)?;
                Some(LongPrices { above, input, output, cache_read, cache_write })
            });
            Prices { input, output, cache_read, cache_write, long }
        });
    }

    fn write(&self, out: &mut String) {
        let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".into());
        let rates = |rates: [f64; 4]| rates.map(|rate| rate.to_string()).join(" ");
        let prices = self.prices.map(|p| rates([p.input, p.output, p.cache_read, p.cache_write]));
        let long = self.prices.and_then(|prices| prices.long);
        let long = long.map(|p| format!("{} {}", p.above, rates([p.input, p.output, p.cache_read, p.cache_write])));
        let columns = [
            self.provider.clone(),
            self.id.clone(),
            self.window.to_string(),
            or_dash(self.max_output.map(|tokens| tokens.to_string())),
            or_dash(prices),
            or_dash(long),
            self.capabilities.write(),
            or_dash(self.retires.clone()),
        ];
        let _ = writeln!(out, "{}", columns.join("\t"));
    }

    fn read(line: &str) -> Option<Self> {
        let mut columns = line.split('\t');
        let mut next = || columns.next();
        let (provider, id) = (next()?, next()?);
        let window = next()?.parse().ok()?;
        let max_output = next()?;
        let max_output = if max_output == "-" { None } else { Some(max_output.parse().ok()?) };
        let mut listing = Self::new(provider, id, window, max_output)?;
        let prices = next()?;
        if prices != "-" {
            let [input, output, cache_read, cache_write] = read_numbers(prices)?;
            listing.prices = Some(Prices { input, output, cache_read, cache_write, long: None });
        }
        let long = next()?;
        if long != "-" {
            let [above, input, output, cache_read, cache_write] = read_numbers(long)?;
            listing.prices.as_mut()?.long =
                Some(LongPrices { above: above as u64, input, output, cache_read, cache_write });
        }
        listing.capabilities = ListedCapabilities::read(next()?)?;
        let retires = next()?;
        if retires != "-" {
            listing.retires = Some(retires.to_owned()).filter(|day| is_day(day));
            listing.retires.as_ref()?;
        }
        next().is_none().then_some(listing)
    }
}

/// Returns whether a text is a date such as `2026-11-30`.
pub(crate) fn is_day(text: &str) -> bool {
    let digit_or_hyphen =
        |(at, byte): (usize, u8)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() };
    text.len() == 10 && text.bytes().enumerate().all(digit_or_hyphen)
}

fn read_numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let mut numbers = text.split(' ').map(|number| number.parse::<f64>().ok().filter(|number| *number >= 0.0));
    let mut read = [0.0; N];
    for slot in &mut read {
        *slot = numbers.next()??;
    }
    numbers.next().is_none().then_some(read)
}

/// Rounds the prices for input, output, cache reads and cache writes to a millionth of a dollar. Returns `None` if
/// they are not plausible.
fn plausible_prices([input, output, cache_read, cache_write]: [Option<f64>; 4], free: bool) -> Option<[f64; 4]> {
    let sane = |price: f64| (0.0..=MAX_PRICE).contains(&price).then_some((price * 1e6).round() / 1e6);
    let (input, output) = (sane(input?)?, sane(output?)?);
    if input == 0.0 && output == 0.0 && !free {
        return None;
    }
    let cached = |price: Option<f64>| price.and_then(sane).filter(|price| *price > 0.0).unwrap_or(input);
    Some([input, output, cached(cache_read), cached(cache_write)])
}

/// A list of models with its date and source.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelList {
    /// The public list that it was made from.
    pub kind: ListKind,
    /// Date of the list, such as `2026-11-20`.
    pub date: String,
    /// URL or file that it was read from.
    pub source: String,
    /// The models, sorted by provider and id, without duplicates.
    pub models: Vec<Listing>,
}

impl ModelList {
    /// Creates a list of models.
    pub fn new(kind: ListKind, date: &str, source: &str, mut models: Vec<Listing>) -> Self {
        models.sort_by(|a, b| (&a.provider, &a.id).cmp(&(&b.provider, &b.id)));
        models.dedup_by(|b, a| (&a.provider, &a.id) == (&b.provider, &b.id));
        let flat = |text: &str| text.replace(|c: char| c.is_control(), " ");
        Self { kind, date: flat(date), source: flat(source), models }
    }

    /// Encodes the list for storage.
    pub fn encode(&self) -> String {
        let (kind, count) = (self.kind.name(), self.models.len());
        let mut out = format!("{HEADER}\t{kind}\t{}\t{}\t{count}\n", self.date, self.source);
        self.models.iter().for_each(|model| model.write(&mut out));
        out
    }

    /// Decodes a stored list. Returns `None` if it is damaged or has another format.
    pub fn decode(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut header = lines.next()?.split('\t');
        if header.next()? != HEADER {
            return None;
        }
        let kind = ListKind::named(header.next()?)?;
        let (date, source) = (header.next()?.to_owned(), header.next()?.to_owned());
        let count: usize = header.next()?.parse().ok()?;
        let models = lines.map(Listing::read).collect::<Option<Vec<Listing>>>()?;
        (models.len() == count).then_some(Self { kind, date, source, models })
    }

    /// Returns whether this list may replace `older`: it has at least half as many models, and at least one.
    pub fn may_replace(&self, older: &Self) -> bool {
        !self.models.is_empty() && self.models.len() * 2 >= older.models.len()
    }
}

/// Why a text cannot be read as a model list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// The text is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(String),
    /// The JSON does not have the format of a supported list.
    #[error("it is not a supported list (litellm, openrouter, models-dev)")]
    UnknownFormat,
    /// The list has no usable model.
    #[error("it has no model with text output and a known context window")]
    Empty,
}

/// Reads a public list that was fetched on `date` from `source`, or a stored list.
///
/// # Errors
/// The text is not a list, or has no usable models.
pub fn parse(text: &str, date: &str, source: &str) -> Result<ModelList, ListError> {
    if let Some(kept) = ModelList::decode(text) {
        return Ok(kept);
    }
    let list: Value = serde_json::from_str(text).map_err(|error| ListError::NotJson(error.to_string()))?;
    let (kind, models) = models(&list).ok_or(ListError::UnknownFormat)?;
    if models.is_empty() { Err(ListError::Empty) } else { Ok(ModelList::new(kind, date, source, models)) }
}

fn models(list: &Value) -> Option<(ListKind, Vec<Listing>)> {
    let object = list.as_object()?;
    if let Some(data) = object.get("data").and_then(Value::as_array) {
        return Some((ListKind::OpenRouter, openrouter::read(data)));
    }
    let has = |field: &str| object.values().any(|entry| entry.get(field).is_some());
    if has("litellm_provider") {
        return Some((ListKind::Litellm, litellm::read(object)));
    }
    has("models").then(|| (ListKind::ModelsDev, models_dev::read(object)))
}

/// Parses a number of tokens, which lists have as integers, floats and strings.
fn tokens(value: Option<&Value>) -> Option<u64> {
    number(value).filter(|number| *number >= 1.0).map(|number| number as u64)
}

/// Parses a number or a numeric string.
fn number(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
}

fn is_true(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool) == Some(true)
}

/// Returns whether the array has the string `word`, or `None` if there is no array.
fn lists_word(value: Option<&Value>, word: &str) -> Option<bool> {
    Some(value?.as_array()?.iter().any(|entry| entry.as_str() == Some(word)))
}

/// Parses a date. The time after it is ignored.
fn day(value: Option<&Value>) -> Option<String> {
    value?.as_str()?.get(..10).filter(|text| is_day(text)).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample() -> ModelList {
        let mut rich = Listing::new("anthropic", "claude-x-1", 200_000, Some(64_000)).unwrap();
        let rates = [Some(3.0), Some(15.0), Some(0.3), Some(3.75)];
        rich.set_prices(rates, Some((200_000, rates.map(|rate| rate.map(|rate| rate * 2.0)))));
        rich.capabilities =
            ListedCapabilities { images: true, prefill: true, responses_only: true, ..ListedCapabilities::default() };
        rich.retires = Some("2027-01-01".into());
        let plain = Listing::new("together", "org/Model-2.5", 32_768, None).unwrap();
        ModelList::new(ListKind::Litellm, "2026-11-20", "https://example.org/list.json", vec![plain, rich])
    }

    #[test]
    fn a_list_round_trips() {
        let list = sample();
        assert_eq!(list.models[0].provider, "anthropic");
        assert_eq!(ModelList::decode(&list.encode()), Some(list));
    }

    #[test]
    fn a_damaged_list_is_rejected() {
        let text = sample().encode();
        for damaged in [
            String::new(),
            text.replace("models-1", "models-2"),
            text.replace("200000\t64000", "200000\tmany"),
            text.replace("\tv", "\t?"),
            text[..text.len() - 20].to_owned(),
        ] {
            assert_eq!(ModelList::decode(&damaged), None, "{damaged}");
        }
    }

    #[test]
    fn a_much_shorter_list_does_not_replace_another() {
        let two = sample();
        let one = ModelList { models: two.models[..1].to_vec(), ..two.clone() };
        let none = ModelList { models: Vec::new(), ..two.clone() };
        assert!(one.may_replace(&two) && two.may_replace(&one) && two.may_replace(&none));
        assert!(!none.may_replace(&two) && !none.may_replace(&none));
    }

    #[test]
    fn implausible_prices_are_unknown() {
        let mut listing = Listing::new("p", "m", 1_000, None).unwrap();
        for rates in [[Some(-1.0), Some(-1.0)], [Some(0.0), Some(0.0)], [Some(1.0), None], [Some(f64::NAN), Some(1.0)]]
        {
            listing.set_prices([rates[0], rates[1], None, None], None);
            assert_eq!(listing.prices, None, "{rates:?}");
        }
        let mut free = Listing::new("openrouter", "org/m:free", 1_000, None).unwrap();
        free.set_prices([Some(0.0), Some(0.0), None, None], None);
        assert_eq!(free.prices, Some(Prices::default()));
        listing.set_prices([Some(0.28), Some(0.42), Some(0.028), Some(0.0)], None);
        assert_eq!(listing.prices.map(|prices| prices.cache_write), Some(0.28));
    }

    #[test]
    fn names_with_control_characters_are_rejected() {
        for id in ["", "a\tb", "a\x1b[2J", "a b", "\u{202e}a"] {
            assert!(Listing::new("openai", id, 1_000, None).is_none(), "{id:?}");
        }
        assert!(Listing::new("openai", "m", 0, None).is_none());
    }

    fn any_listing() -> impl Strategy<Value = Option<Listing>> {
        let price = || prop::option::of(prop_oneof![Just(0.0), 0.0f64..200.0, Just(-1.0), Just(f64::INFINITY)]);
        let rates = || [price(), price(), price(), price()];
        let long = prop::option::of((1u64..1_000_000, rates()));
        let limits = (0u64..200_000_000, prop::option::of(0u64..200_000));
        ("[a-z]{1,8}", "\\PC{1,12}|[a-z/.:-]{1,12}", limits, rates(), long, any::<[bool; 9]>()).prop_map(
            |(provider, id, (window, output), rates, long, can)| {
                let mut listing = Listing::new(&provider, &id, window, output)?;
                listing.set_prices(rates, long);
                listing.capabilities.letters().into_iter().zip(can).for_each(|((_, is), can)| *is = can);
                Some(listing)
            },
        )
    }

    proptest! {
        #[test]
        fn arbitrary_listings_round_trip(listings in prop::collection::vec(any_listing(), 0..8)) {
            let list = ModelList::new(ListKind::ModelsDev, "2026-11-20", "a\tb\nc", listings.into_iter().flatten().collect());
            prop_assert_eq!(ModelList::decode(&list.encode()), Some(list));
        }

        #[test]
        fn arbitrary_text_does_not_panic(text in "\\PC*", cut in 0usize..400) {
            let mut kept = sample().encode();
            // The newline at the end is optional.
            kept.truncate(cut % (kept.len() - 1));
            prop_assert_eq!(ModelList::decode(&text), None);
            prop_assert_eq!(ModelList::decode(&kept), None);
        }
    }

    #[test]
    fn other_texts_are_rejected() {
        assert!(matches!(parse("<html>", "", ""), Err(ListError::NotJson(_))));
        for text in ["[]", "{}", "3", r#"{"a": {"b": 1}}"#] {
            assert_eq!(parse(text, "", ""), Err(ListError::UnknownFormat), "{text}");
        }
        for text in [r#"{"data": []}"#, r#"{"a": {"litellm_provider": "openai"}}"#, r#"{"a": {"models": {}}}"#] {
            assert_eq!(parse(text, "", ""), Err(ListError::Empty), "{text}");
        }
    }

    #[test]
    fn a_stored_list_can_be_parsed() {
        let text = r#"{"data": [{"id": "a/b", "context_length": 1000}]}"#;
        let list = parse(text, "2026-11-20", "x").unwrap();
        assert_eq!(parse(&list.encode(), "another day", "elsewhere"), Ok(list));
    }

    #[test]
    fn dates_are_recognized() {
        for (text, is) in
            [("2026-11-30", true), ("2026-11-30T00:00:00Z", true), ("when it is old", false), ("2026", false)]
        {
            assert_eq!(day(Some(&Value::from(text))).is_some(), is, "{text}");
        }
    }
}
