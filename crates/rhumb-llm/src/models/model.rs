//! One model: its limits, its price, what it can do, and how it is best spoken to.

use serde::{Deserialize, Serialize};

use rhumb_edit::EditFormat;

use super::price::Prices;

/// The window assumed for a model that we do not know, in tokens. Small enough that most servers take it.
pub const DEFAULT_WINDOW: usize = 32_768;

/// The wire format that a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Api {
    /// OpenAI's chat completions, which most servers speak.
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
    /// Every format, in the order in which help lists them.
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

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|api| api.name() == name)
    }
}

/// How a model's prompt cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Caching {
    /// It has none that we know of.
    #[default]
    None,
    /// Equal beginnings of requests are found by the server itself.
    ByPrefix,
    /// The request marks the places up to which it is to be kept (Anthropic's `cache_control`).
    Marked,
}

/// How the amount of thinking before an answer is set, if it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThinkingControl {
    /// It cannot.
    #[default]
    None,
    /// By a word: low, medium, high and the like.
    Effort,
    /// By a number of tokens.
    Budget,
    /// By either.
    Both,
}

/// Where the rules of the edit format are repeated, for models that forget what stood at the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reminder {
    /// Nowhere.
    None,
    /// At the end of the last user message.
    #[default]
    User,
    /// As a system message of its own after the last user message.
    System,
}

/// Where the limits of a model come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Source {
    /// The user's settings.
    User,
    /// A list that the user had fetched.
    Refreshed,
    /// The list that comes with the program.
    Bundled,
    /// What models of such a name are like as a rule.
    Family,
    /// Nothing: they are what most servers take.
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

/// What a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Messages may have the system role.
    pub system_role: bool,
    /// It takes images.
    pub images: bool,
    /// An answer that was cut off can be gone on with by sending its beginning as the last message.
    pub prefill: bool,
    /// It takes a sampling temperature.
    pub temperature: bool,
    /// How its prompt cache is used.
    pub caching: Caching,
    /// How its thinking is set.
    pub thinking: ThinkingControl,
}

impl Default for Capabilities {
    /// What any server can be trusted with.
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

/// A model and all that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Its name as the user writes it, provider included where one is: `anthropic/claude-sonnet-4-5`.
    pub name: String,
    /// Input and output together, in tokens. Where a vendor limits the input apart from the output, this is the limit of the
    /// input, so that a request within it fits in either case.
    pub window: usize,
    /// The most tokens of an answer, if that is known.
    pub max_output: Option<usize>,
    /// False when the model is in no table: the limits are then an assumption, which warns and does not forbid.
    pub known: bool,
    /// Where the limits come from.
    pub source: Source,
    /// What it costs, if that is known.
    pub prices: Option<Prices>,
    /// The day from which on its maker or server has it no longer, as the lists say: `2026-11-30`.
    pub retires: Option<String>,
    /// It is served by [`Api::Responses`] alone.
    pub responses_only: bool,
    /// What it can do.
    pub capabilities: Capabilities,
    /// The format in which it writes edits best.
    pub edit_format: EditFormat,
    /// Where it is reminded of that format.
    pub reminder: Reminder,
    /// It tends to leave code out ("rest unchanged") and is told not to.
    pub lazy: bool,
    /// It tends to do more than was asked and is told not to.
    pub overeager: bool,
    /// The model for summaries; the model itself if none is named.
    pub weak: Option<String>,
    /// The model that writes the edits in architect mode; the model itself if none is named.
    pub editor: Option<String>,
}

impl Model {
    /// A model of which nothing but its name is known.
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
