//! A public list of models as facts: what each takes and costs. It is kept as text, one model a line, sorted, so that a newer
//! one can be compared with it by eye.

use std::fmt::Write as _;

use super::name::ModelName;
use super::price::{LongPrices, Prices};

/// The first word of a list as it is kept; another means another layout.
const MAGIC: &str = "# rhumb-models-1";

/// No window is larger, in tokens: a list that says so is wrong.
const MAX_WINDOW: usize = 100_000_000;

/// No model costs more, in US dollars per million tokens.
const MAX_PRICE: f64 = 100_000.0;

/// The public lists that we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListKind {
    /// The price list of the litellm project.
    Litellm,
    /// What `openrouter.ai` serves.
    OpenRouter,
    /// The list of `models.dev`.
    ModelsDev,
}

impl ListKind {
    /// Every kind, in the order in which they are believed when they are equally old.
    pub const ALL: [Self; 3] = [Self::Litellm, Self::ModelsDev, Self::OpenRouter];

    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Litellm => "litellm",
            Self::OpenRouter => "openrouter",
            Self::ModelsDev => "models-dev",
        }
    }

    /// The kind of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a list says that a model can do. Everything is false where it says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abilities {
    /// It takes images.
    pub images: bool,
    /// It thinks before it answers.
    pub reasoning: bool,
    /// How much is set by a word.
    pub effort: bool,
    /// How much is set by a number of tokens.
    pub budget: bool,
    /// It goes on with an answer that was begun for it.
    pub prefill: bool,
    /// It has a prompt cache.
    pub caching: bool,
    /// It takes no sampling temperature.
    pub fixed_sampling: bool,
    /// It takes no system messages.
    pub no_system: bool,
    /// It is served by the Responses API alone.
    pub responses_only: bool,
}

impl Abilities {
    /// Each with its letter in a kept list.
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
        let mut abilities = Self::default();
        for letter in text.chars().filter(|letter| *letter != '-') {
            let mut letters = abilities.letters();
            let (_, is) = letters.iter_mut().find(|(known, _)| *known == letter)?;
            **is = true;
        }
        Some(abilities)
    }
}

/// One model as a list has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// Who serves it, by our name.
    pub provider: String,
    /// Its id there.
    pub id: String,
    /// The most tokens of input, or of input and output together where the list has no limit of the input.
    pub window: usize,
    /// The most tokens of an answer.
    pub max_output: Option<usize>,
    /// What it costs. A list that says nothing, or "nothing" of a model that is not called free, leaves it unknown.
    pub prices: Option<Prices>,
    /// What it can do.
    pub abilities: Abilities,
    /// From this day on (`2026-11-30`) it is no longer served.
    pub retires: Option<String>,
    /// The id as it is compared.
    pub(super) key: String,
    /// The same without a date.
    pub(super) base: String,
}

impl Listing {
    /// A model of which the list says only its limits; `None` for one that cannot be: no window, or a name that would not
    /// survive being kept or shown.
    pub(super) fn new(provider: &str, id: &str, window: u64, max_output: Option<u64>) -> Option<Self> {
        let window = usize::try_from(window).ok().filter(|window| (1..=MAX_WINDOW).contains(window))?;
        let fits = |text: &str| !text.is_empty() && text.len() <= 200 && text.chars().all(|c| c.is_ascii_graphic());
        (fits(provider) && fits(id)).then(|| {
            let name = ModelName::of(id);
            Self {
                provider: provider.to_owned(),
                id: id.to_owned(),
                window,
                max_output: max_output.and_then(|tokens| usize::try_from(tokens).ok()).filter(|tokens| *tokens > 0),
                prices: None,
                abilities: Abilities::default(),
                retires: None,
                key: name.key,
                base: name.base,
            }
        })
    }

    /// Its full name: `anthropic/claude-sonnet-4-5`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }

    /// Sets the prices, in US dollars per million tokens, if they can be believed. Cached tokens cost what others do where
    /// the list has no price, or none at all, for them.
    pub(super) fn set_prices(&mut self, rates: [Option<f64>; 4], long: Option<(u64, [Option<f64>; 4])>) {
        let free = ModelName::is_free(&self.id);
        self.prices = believable(rates, free).map(|[input, output, cache_read, cache_write]| {
            let long = long.and_then(|(above, rates)| {
                let [input, output, cache_read, cache_write] = believable(rates, free)?;
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
            self.abilities.write(),
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
        listing.abilities = Abilities::read(next()?)?;
        let retires = next()?;
        if retires != "-" {
            listing.retires = Some(retires.to_owned()).filter(|day| is_day(day));
            listing.retires.as_ref()?;
        }
        next().is_none().then_some(listing)
    }
}

/// Whether a text is a day: `2026-11-30`.
pub(super) fn is_day(text: &str) -> bool {
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

/// Prices for input, output, reading the cache and writing it, rounded to a millionth of a dollar for a million tokens.
fn believable([input, output, cache_read, cache_write]: [Option<f64>; 4], free: bool) -> Option<[f64; 4]> {
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
    /// Which of the public lists it was made from.
    pub kind: ListKind,
    /// The day on which it was taken: `2026-11-20`.
    pub date: String,
    /// Where it was taken from: an address, or a file.
    pub source: String,
    /// The models, sorted by provider and id, none twice.
    pub models: Vec<Listing>,
}

impl ModelList {
    /// A list of these models.
    pub fn new(kind: ListKind, date: &str, source: &str, mut models: Vec<Listing>) -> Self {
        models.sort_by(|a, b| (&a.provider, &a.id).cmp(&(&b.provider, &b.id)));
        models.dedup_by(|b, a| (&a.provider, &a.id) == (&b.provider, &b.id));
        let flat = |text: &str| text.replace(|c: char| c.is_control(), " ");
        Self { kind, date: flat(date), source: flat(source), models }
    }

    /// The list as it is kept.
    pub fn encode(&self) -> String {
        let (kind, count) = (self.kind.name(), self.models.len());
        let mut out = format!("{MAGIC}\t{kind}\t{}\t{}\t{count}\n", self.date, self.source);
        self.models.iter().for_each(|model| model.write(&mut out));
        out
    }

    /// Reads a list that was kept; `None` when any of it is damaged or of another layout.
    pub fn decode(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut header = lines.next()?.split('\t');
        if header.next()? != MAGIC {
            return None;
        }
        let kind = ListKind::named(header.next()?)?;
        let (date, source) = (header.next()?.to_owned(), header.next()?.to_owned());
        let count: usize = header.next()?.parse().ok()?;
        let models = lines.map(Listing::read).collect::<Option<Vec<Listing>>>()?;
        (models.len() == count).then_some(Self { kind, date, source, models })
    }

    /// Whether this may take the place of `older`: it has models, and not fewer than half as many.
    pub fn may_replace(&self, older: &Self) -> bool {
        !self.models.is_empty() && self.models.len() * 2 >= older.models.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample() -> ModelList {
        let mut rich = Listing::new("anthropic", "claude-x-1", 200_000, Some(64_000)).unwrap();
        let rates = [Some(3.0), Some(15.0), Some(0.3), Some(3.75)];
        rich.set_prices(rates, Some((200_000, rates.map(|rate| rate.map(|rate| rate * 2.0)))));
        rich.abilities = Abilities { images: true, prefill: true, responses_only: true, ..Abilities::default() };
        rich.retires = Some("2027-01-01".into());
        let plain = Listing::new("together", "org/Model-2.5", 32_768, None).unwrap();
        ModelList::new(ListKind::Litellm, "2026-11-20", "https://example.org/list.json", vec![plain, rich])
    }

    #[test]
    fn a_list_comes_back_as_it_was_kept() {
        let list = sample();
        assert_eq!(list.models[0].provider, "anthropic");
        assert_eq!(ModelList::decode(&list.encode()), Some(list));
    }

    #[test]
    fn a_damaged_list_is_none() {
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
    fn a_list_of_less_than_half_never_replaces_a_good_one() {
        let two = sample();
        let one = ModelList { models: two.models[..1].to_vec(), ..two.clone() };
        let none = ModelList { models: Vec::new(), ..two.clone() };
        assert!(one.may_replace(&two) && two.may_replace(&one) && two.may_replace(&none));
        assert!(!none.may_replace(&two) && !none.may_replace(&none));
    }

    #[test]
    fn prices_that_cannot_be_are_unknown() {
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
    fn a_name_that_could_drive_a_terminal_is_no_model() {
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
                listing.abilities.letters().into_iter().zip(can).for_each(|((_, is), can)| *is = can);
                Some(listing)
            },
        )
    }

    proptest! {
        #[test]
        fn whatever_is_listed_comes_back(listings in prop::collection::vec(any_listing(), 0..8)) {
            let list = ModelList::new(ListKind::ModelsDev, "2026-11-20", "a\tb\nc", listings.into_iter().flatten().collect());
            prop_assert_eq!(ModelList::decode(&list.encode()), Some(list));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC*", cut in 0usize..400) {
            let mut kept = sample().encode();
            // The last byte is a line end, which nothing hangs on.
            kept.truncate(cut % (kept.len() - 1));
            prop_assert_eq!(ModelList::decode(&text), None);
            prop_assert_eq!(ModelList::decode(&kept), None);
        }
    }
}
