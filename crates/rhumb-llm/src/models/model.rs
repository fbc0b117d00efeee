//! A model: its limits, prices and capabilities, how it is best prompted, and the user's settings for it.

use super::cost::Prices;
use rhumb_edit::EditFormat;
use serde::{Deserialize, Deserializer, Serialize};

/// Context window in tokens that is assumed for an unknown model. Most servers accept it.
pub const DEFAULT_WINDOW: usize = 32_768;

/// The wire format of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Api {
    /// OpenAI's chat completions, which most servers support.
    #[default]
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `streamGenerateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl Api {
    /// All formats, in the order of help texts.
    pub const ALL: [Self; 5] = [Self::Chat, Self::Responses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// Returns the format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }
}

/// How the prompt cache of a model is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caching {
    /// There is no known cache.
    #[default]
    None,
    /// The server recognizes equal prefixes of requests.
    ByPrefix,
    /// The request marks what to cache (Anthropic's `cache_control`).
    Marked,
}

/// How the amount of thinking is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingControl {
    /// It cannot be set.
    #[default]
    None,
    /// By a level: low, medium, high or another one.
    Effort,
    /// By a number of tokens.
    Budget,
    /// By a level or a number of tokens.
    Both,
}

/// Where the rules of the edit format are repeated, for models that forget the beginning of a long prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reminder {
    /// Nowhere.
    None,
    /// At the end of the last user message.
    #[default]
    User,
    /// In a system message after the last user message.
    System,
}

/// Where the limits of a model come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Source {
    /// The user's settings.
    User,
    /// A list that was fetched.
    Refreshed,
    /// The list of this crate.
    Bundled,
    /// Defaults of the model's family.
    Family,
    /// General defaults.
    #[default]
    Assumed,
}

impl Source {
    /// The stable kebab-case name.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Refreshed => "refreshed",
            Self::Bundled => "bundled",
            Self::Family => "family",
            Self::Assumed => "assumed",
        }
    }
}

/// What a model supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether it accepts system messages.
    pub system_role: bool,
    /// Whether it accepts images.
    pub images: bool,
    /// Whether it continues an answer whose beginning is the last message.
    pub prefill: bool,
    /// Whether it accepts a sampling temperature.
    pub temperature: bool,
    /// How its prompt cache is used.
    pub caching: Caching,
    /// How its thinking is set.
    pub thinking: ThinkingControl,
}

impl Default for Capabilities {
    /// What every server supports.
    fn default() -> Self {
        Self {
            system_role: true,
            images: false,
            prefill: false,
            temperature: true,
            caching: Caching::default(),
            thinking: ThinkingControl::default(),
        }
    }
}

/// A model and what is known about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Name as the user writes it, with the provider if there is one: `anthropic/claude-sonnet-4-5`.
    pub name: String,
    /// Context window in tokens, for input and output together. If the vendor limits the input separately, this is
    /// the limit of the input, so that a request within it is accepted in either case.
    pub window: usize,
    /// Maximum number of output tokens, if known.
    pub max_output: Option<usize>,
    /// Whether the limits are known. Otherwise they are an assumption, which may cause a warning but never an error.
    pub known: bool,
    /// Where the limits come from.
    pub source: Source,
    /// Prices, if known.
    pub prices: Option<Prices>,
    /// First day on which the model is no longer available, such as `2026-11-30`.
    pub retires: Option<String>,
    /// Whether only [`Api::Responses`] serves it, or serves it with tools.
    pub responses_only: bool,
    /// What it supports.
    pub capabilities: Capabilities,
    /// The edit format in which it makes the fewest errors.
    pub edit_format: EditFormat,
    /// Where the rules of the edit format are repeated.
    pub reminder: Reminder,
    /// Whether it tends to omit code ("rest unchanged"), so that the prompt forbids it.
    pub lazy: bool,
    /// Whether it tends to do more than requested, so that the prompt forbids it.
    pub overeager: bool,
    /// The model for summaries. `None` for the model itself.
    pub weak: Option<String>,
    /// The model that writes the edits in architect mode. `None` for the model itself.
    pub editor: Option<String>,
}

impl Model {
    /// Creates a model of which only the name is known.
    pub fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            window: DEFAULT_WINDOW,
            max_output: None,
            known: false,
            source: Source::Assumed,
            prices: None,
            retires: None,
            responses_only: false,
            capabilities: Capabilities::default(),
            edit_format: EditFormat::Diff,
            reminder: Reminder::default(),
            lazy: false,
            overeager: false,
            weak: None,
            editor: None,
        }
    }
}

/// The user's settings for a model. Absent fields keep the values of the lists.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelOverride {
    /// Context window in tokens, for input and output together.
    pub window: Option<usize>,
    /// Maximum number of output tokens.
    pub max_output: Option<usize>,
    /// US dollars per million input tokens. Prices that are set here apply to long requests too.
    #[serde(deserialize_with = "price")]
    pub input_price: Option<f64>,
    /// US dollars per million output tokens.
    #[serde(deserialize_with = "price")]
    pub output_price: Option<f64>,
    /// US dollars per million tokens read from the cache. Defaults to the input price.
    #[serde(deserialize_with = "price")]
    pub cache_read_price: Option<f64>,
    /// US dollars per million tokens written to the cache. Defaults to the input price.
    #[serde(deserialize_with = "price")]
    pub cache_write_price: Option<f64>,
    /// Whether it accepts images.
    pub images: Option<bool>,
    /// Whether it continues a begun answer.
    pub prefill: Option<bool>,
    /// Whether it accepts a sampling temperature.
    pub temperature: Option<bool>,
    /// Whether it accepts system messages.
    pub system_role: Option<bool>,
    /// How its prompt cache is used: `none`, `by-prefix` or `marked`.
    pub caching: Option<Caching>,
    /// How its thinking is set: `none`, `effort`, `budget` or `both`.
    pub thinking: Option<ThinkingControl>,
    /// Its edit format: `diff`, `diff-fenced`, `udiff`, `whole` or `patch`.
    #[serde(deserialize_with = "edit_format")]
    pub edit_format: Option<EditFormat>,
    /// Where the rules of the edit format are repeated: `none`, `user` or `system`.
    pub reminder: Option<Reminder>,
    /// Whether the prompt forbids omitting code.
    pub lazy: Option<bool>,
    /// Whether the prompt forbids doing more than requested.
    pub overeager: Option<bool>,
    /// The model for summaries.
    pub weak: Option<String>,
    /// The model that writes the edits in architect mode.
    pub editor: Option<String>,
}

impl ModelOverride {
    /// Names of all fields, in the order of the documentation.
    pub const FIELDS: [&str; 18] = [
        "window", "max_output", "input_price", "output_price", "cache_read_price", "cache_write_price", "images",
        "prefill", "temperature", "system_role", "caching", "thinking", "edit_format", "reminder", "lazy", "overeager",
        "weak", "editor",
    ];

    /// Applies the settings to `model`.
    pub fn apply(&self, model: &mut Model) {
        if let Some(window) = self.window {
            (model.window, model.known, model.source) = (window, true, Source::User);
        }
        set(&mut model.max_output, self.max_output.map(Some));
        model.prices = self.prices(model.prices);
        let can = &mut model.capabilities;
        set(&mut can.images, self.images);
        set(&mut can.prefill, self.prefill);
        set(&mut can.temperature, self.temperature);
        set(&mut can.system_role, self.system_role);
        set(&mut can.caching, self.caching);
        set(&mut can.thinking, self.thinking);
        set(&mut model.edit_format, self.edit_format);
        set(&mut model.reminder, self.reminder);
        set(&mut model.lazy, self.lazy);
        set(&mut model.overeager, self.overeager);
        set(&mut model.weak, self.weak.clone().map(Some));
        set(&mut model.editor, self.editor.clone().map(Some));
    }

    /// Returns the resulting prices, or `None` if the input or output price is unknown.
    fn prices(&self, known: Option<Prices>) -> Option<Prices> {
        if [self.input_price, self.output_price, self.cache_read_price, self.cache_write_price] == [None; 4] {
            return known;
        }
        let input = self.input_price.or(known.map(|prices| prices.input))?;
        let output = self.output_price.or(known.map(|prices| prices.output))?;
        // A listed cache price applies only together with the listed input price.
        let table = known.filter(|_| self.input_price.is_none());
        Some(Prices {
            input,
            output,
            cache_read: self.cache_read_price.or(table.map(|prices| prices.cache_read)).unwrap_or(input),
            cache_write: self.cache_write_price.or(table.map(|prices| prices.cache_write)).unwrap_or(input),
            long: None,
        })
    }
}

fn set<T>(under: &mut T, over: Option<T>) {
    if let Some(over) = over {
        *under = over;
    }
}

/// Rejects negative prices, which would hide spending.
fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    match Option::<f64>::deserialize(deserializer)? {
        Some(price) if !price.is_finite() || price < 0.0 => {
            Err(serde::de::Error::custom(format!("expected a price from 0, found {price}")))
        }
        price => Ok(price),
    }
}

fn edit_format<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EditFormat>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| name.parse().map_err(serde::de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ModelOverride {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn settings_override_the_lists() {
        let mut model = Model { max_output: Some(4_096), lazy: true, ..Model::unknown("m") };
        read("window = 65536\nedit_format = \"udiff\"\nthinking = \"both\"\nreminder = \"none\"\nweak = \"small\"\n")
            .apply(&mut model);
        assert_eq!((model.window, model.known, model.source), (65_536, true, Source::User));
        assert_eq!((model.max_output, model.lazy), (Some(4_096), true));
        assert_eq!((model.edit_format, model.reminder), (EditFormat::Udiff, Reminder::None));
        assert_eq!(model.capabilities.thinking, ThinkingControl::Both);
        assert_eq!(model.weak.as_deref(), Some("small"));
    }

    #[test]
    fn prices_need_input_and_output() {
        let mut model = Model::unknown("m");
        read("input_price = 1.0\n").apply(&mut model);
        assert_eq!(model.prices, None);
        read("input_price = 1.0\noutput_price = 2\ncache_read_price = 0.1\n").apply(&mut model);
        let whole = Prices { input: 1.0, output: 2.0, cache_read: 0.1, cache_write: 1.0, long: None };
        assert_eq!(model.prices, Some(whole));
        read("output_price = 3.0").apply(&mut model);
        assert_eq!(model.prices, Some(Prices { output: 3.0, ..whole }));
    }

    #[test]
    fn unknown_fields_and_values_are_errors() {
        for (text, told) in [
            ("windw = 1", "windw"),
            ("output_price = -1.0", "from 0"),
            ("input_price = nan", "NaN"),
            ("edit_format = \"xml\"", "xml"),
            ("caching = \"yes\"", "yes"),
        ] {
            let error = toml::from_str::<ModelOverride>(text).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn the_list_of_fields_is_complete() {
        let error = toml::from_str::<ModelOverride>("zzz = 1").unwrap_err().to_string();
        let listed: Vec<String> = ModelOverride::FIELDS.iter().map(|field| format!("`{field}`")).collect();
        assert!(error.contains(&listed.join(", ")), "{error}");
    }
}
