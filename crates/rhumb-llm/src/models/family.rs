//! Model families: how their models are best prompted, the probable limits of unlisted models, and aliases.

use super::model::{Caching, Model, Reminder, Source, ThinkingControl};
use super::name::{ModelName, billions, matches_pattern};
use rhumb_edit::EditFormat;

/// Models below this number of billions of parameters rarely quote files exactly. They write whole files instead of
/// edits.
const MAX_SMALL_BILLIONS: f64 = 20.0;

/// Defaults of the models whose keys match `pattern`.
#[derive(Debug, Clone, Copy)]
struct Family {
    /// `*` matches any text.
    pattern: &'static str,
    /// Like [`Model::window`].
    window: usize,
    images: bool,
    prefill: bool,
    temperature: bool,
    system_role: bool,
    caching: Caching,
    thinking: ThinkingControl,
    format: EditFormat,
    reminder: Reminder,
    lazy: bool,
    overeager: bool,
    /// Patterns for the weak model: the newest match of the same provider is used.
    weak: &'static [&'static str],
    /// Patterns for the editor model. If empty, the model edits itself.
    editor: &'static [&'static str],
}

/// Defaults of an unknown family.
const GENERIC: Family = Family {
    pattern: "",
    // The smallest value that vendors call 128k.
    window: 128_000,
    images: false,
    prefill: false,
    temperature: true,
    system_role: true,
    caching: Caching::None,
    thinking: ThinkingControl::None,
    format: EditFormat::Diff,
    reminder: Reminder::User,
    lazy: false,
    overeager: false,
    weak: &[],
    editor: &[],
};

const GPT: Family = Family {
    window: 128_000,
    images: true,
    caching: Caching::ByPrefix,
    reminder: Reminder::System,
    weak: &["gpt-*-luna", "gpt-*-mini"],
    ..GENERIC
};

/// OpenAI models that think. They accept no temperature and need no reminder at the end.
const GPT_THINKING: Family =
    Family { window: 272_000, temperature: false, thinking: ThinkingControl::Effort, reminder: Reminder::User, ..GPT };

/// OpenAI's o-series, which is better at planning than at writing edits.
const O_SERIES: Family = Family { window: 200_000, editor: &["gpt-4-1"], ..GPT_THINKING };

const CLAUDE: Family = Family {
    window: 200_000,
    images: true,
    caching: Caching::Marked,
    thinking: ThinkingControl::Effort,
    overeager: true,
    weak: &["claude-*haiku*"],
    ..GENERIC
};

const GEMINI: Family = Family {
    window: 1_048_576,
    images: true,
    caching: Caching::ByPrefix,
    thinking: ThinkingControl::Effort,
    format: EditFormat::DiffFenced,
    overeager: true,
    weak: &["gemini-*-flash-lite", "gemini-*-flash"],
    ..GENERIC
};

const DEEPSEEK: Family = Family {
    caching: Caching::ByPrefix,
    prefill: true,
    reminder: Reminder::System,
    weak: &["deepseek-v-*-flash", "deepseek-chat"],
    ..GENERIC
};

/// Its thinking is part of the answer, so another model writes edits if possible.
const DEEPSEEK_THINKING: Family =
    Family { prefill: false, editor: &["deepseek-v-*-flash", "deepseek-chat"], ..DEEPSEEK };

const GROK: Family =
    Family { caching: Caching::ByPrefix, weak: &["grok-code-fast*", "grok-*-fast", "grok-*-mini"], ..GENERIC };

const MISTRAL: Family = Family { prefill: true, weak: &["mistral-small"], ..GENERIC };

/// All families. The first one whose pattern matches a key is used. Patterns have the form of keys (see `name`):
/// digits are separated from letters.
const FAMILIES: &[Family] = &[
    Family { pattern: "gpt-oss*", thinking: ThinkingControl::Effort, ..GENERIC },
    Family {
        pattern: "gpt-3-5*",
        window: 16_385,
        images: false,
        caching: Caching::None,
        format: EditFormat::Whole,
        ..GPT
    },
    Family { pattern: "gpt-4-turbo*", format: EditFormat::Udiff, caching: Caching::None, lazy: true, ..GPT },
    Family {
        pattern: "gpt-4-1106*",
        format: EditFormat::Udiff,
        images: false,
        caching: Caching::None,
        lazy: true,
        ..GPT
    },
    Family { pattern: "gpt-4-0125*", images: false, caching: Caching::None, lazy: true, ..GPT },
    Family { pattern: "gpt-4-1*", window: 1_047_576, weak: &["gpt-4-1-mini"], ..GPT },
    Family { pattern: "gpt-4o*", lazy: true, weak: &["gpt-4o-mini"], ..GPT },
    Family { pattern: "chatgpt-4o*", lazy: true, ..GPT },
    Family { pattern: "gpt-4-32k*", window: 32_768, images: false, caching: Caching::None, ..GPT },
    Family { pattern: "gpt-4-5*", ..GPT },
    Family { pattern: "gpt-4*", window: 8_192, images: false, caching: Caching::None, ..GPT },
    Family { pattern: "gpt-audio*", images: false, ..GPT },
    Family { pattern: "gpt-*-chat*", window: 128_000, ..GPT_THINKING },
    Family { pattern: "gpt-*", ..GPT_THINKING },
    Family { pattern: "codex*", window: 200_000, ..GPT_THINKING },
    Family {
        pattern: "o-1-mini*",
        window: 128_000,
        images: false,
        system_role: false,
        thinking: ThinkingControl::None,
        ..O_SERIES
    },
    Family {
        pattern: "o-1-preview*",
        window: 128_000,
        images: false,
        system_role: false,
        thinking: ThinkingControl::None,
        ..O_SERIES
    },
    Family { pattern: "o-3-mini*", images: false, ..O_SERIES },
    Family { pattern: "o-1*", ..O_SERIES },
    Family { pattern: "o-3*", ..O_SERIES },
    Family { pattern: "o-4*", ..O_SERIES },
    // Claude 3 does not think, except for 3.7.
    Family { pattern: "claude-3-7*", thinking: ThinkingControl::Budget, prefill: true, ..CLAUDE },
    Family { pattern: "claude-3*", thinking: ThinkingControl::None, prefill: true, overeager: false, ..CLAUDE },
    Family { pattern: "claude-*4-5*", thinking: ThinkingControl::Budget, prefill: true, ..CLAUDE },
    Family { pattern: "claude-*4-1*", thinking: ThinkingControl::Budget, prefill: true, ..CLAUDE },
    Family { pattern: "claude-*-4", thinking: ThinkingControl::Budget, prefill: true, ..CLAUDE },
    Family { pattern: "claude-4-*", thinking: ThinkingControl::Budget, prefill: true, ..CLAUDE },
    Family {
        pattern: "claude-instant*",
        window: 100_000,
        images: false,
        format: EditFormat::Whole,
        overeager: false,
        ..CLAUDE
    },
    Family {
        pattern: "claude-2*",
        window: 100_000,
        images: false,
        format: EditFormat::Whole,
        overeager: false,
        ..CLAUDE
    },
    Family { pattern: "claude-*4-6*", window: 1_000_000, thinking: ThinkingControl::Both, ..CLAUDE },
    // Newer models have a window of a million tokens and a fixed temperature.
    Family { pattern: "claude*", window: 1_000_000, temperature: false, ..CLAUDE },
    Family {
        pattern: "gemini-1*",
        caching: Caching::None,
        thinking: ThinkingControl::None,
        overeager: false,
        ..GEMINI
    },
    Family { pattern: "gemini-2-0*", thinking: ThinkingControl::None, overeager: false, ..GEMINI },
    Family { pattern: "gemini-2-5*", thinking: ThinkingControl::Budget, ..GEMINI },
    Family { pattern: "gemini*", ..GEMINI },
    Family { pattern: "gemma*", images: true, system_role: false, format: EditFormat::Whole, ..GENERIC },
    Family { pattern: "deepseek*reasoner*", ..DEEPSEEK_THINKING },
    Family { pattern: "deepseek-r-1-distill*", caching: Caching::None, ..DEEPSEEK_THINKING },
    Family { pattern: "deepseek-r*", ..DEEPSEEK_THINKING },
    Family { pattern: "deepseek-coder-v-2*", ..DEEPSEEK },
    Family {
        pattern: "deepseek-coder-*b*",
        window: 16_384,
        caching: Caching::None,
        format: EditFormat::Whole,
        ..DEEPSEEK
    },
    Family { pattern: "deepseek-v-4*", window: 1_000_000, ..DEEPSEEK },
    Family { pattern: "deepseek*", ..DEEPSEEK },
    Family { pattern: "grok-3-mini*", thinking: ThinkingControl::Effort, ..GROK },
    Family { pattern: "grok-code*", window: 256_000, ..GROK },
    Family { pattern: "grok-2*", caching: Caching::None, ..GROK },
    Family { pattern: "grok-3*", ..GROK },
    Family { pattern: "grok*", window: 256_000, images: true, ..GROK },
    Family { pattern: "codestral*", format: EditFormat::Whole, ..MISTRAL },
    Family { pattern: "mistral-7b*", window: 32_768, format: EditFormat::Whole, ..MISTRAL },
    Family { pattern: "mixtral*", window: 32_768, format: EditFormat::Whole, ..MISTRAL },
    Family { pattern: "open-mi*", window: 32_768, format: EditFormat::Whole, ..MISTRAL },
    Family { pattern: "ministral*", format: EditFormat::Whole, ..MISTRAL },
    Family { pattern: "*stral*", ..MISTRAL },
    Family { pattern: "*xtral*", images: true, ..MISTRAL },
    Family { pattern: "qwen-3-coder*", window: 262_144, ..GENERIC },
    Family { pattern: "qwen-2-5-coder*", window: 32_768, ..GENERIC },
    Family { pattern: "qwen-*coder*", ..GENERIC },
    Family { pattern: "qwen-2*", window: 32_768, ..GENERIC },
    Family { pattern: "qwen-3*", ..GENERIC },
    Family { pattern: "qw*", window: 32_768, ..GENERIC },
    Family { pattern: "*llama-4*", window: 1_048_576, images: true, ..GENERIC },
    Family { pattern: "*llama-3-1*", ..GENERIC },
    Family { pattern: "*llama-3-2*", ..GENERIC },
    Family { pattern: "*llama-3-3*", ..GENERIC },
    Family { pattern: "*llama-v-3-*", ..GENERIC },
    Family { pattern: "*llama-3*", window: 8_192, format: EditFormat::Whole, ..GENERIC },
    Family { pattern: "*llama*", window: 4_096, format: EditFormat::Whole, ..GENERIC },
    Family { pattern: "kimi-k-2*", window: 262_144, caching: Caching::ByPrefix, ..GENERIC },
    Family { pattern: "kimi*", window: 262_144, images: true, caching: Caching::ByPrefix, ..GENERIC },
    Family { pattern: "glm-4-5*", caching: Caching::ByPrefix, ..GENERIC },
    Family { pattern: "glm*", window: 200_000, caching: Caching::ByPrefix, ..GENERIC },
    Family { pattern: "minimax*", window: 196_608, ..GENERIC },
    Family { pattern: "command*", format: EditFormat::Whole, ..GENERIC },
    Family { pattern: "phi*", window: 16_384, format: EditFormat::Whole, ..GENERIC },
    Family { pattern: "granite*", format: EditFormat::Whole, ..GENERIC },
    Family { pattern: "starcoder*", window: 16_384, format: EditFormat::Whole, ..GENERIC },
    Family { pattern: "yi-*", window: 16_384, format: EditFormat::Whole, ..GENERIC },
];

/// Defaults for a model, and the patterns of its weak and editor models.
pub(crate) struct FamilyDefaults {
    pub model: Model,
    pub weak: &'static [&'static str],
    pub editor: &'static [&'static str],
}

/// Returns the defaults for a model name. A model without a family gets general defaults.
pub(crate) fn family_defaults(full: &str, name: &ModelName) -> FamilyDefaults {
    let model = Model::unknown(full);
    let plain = |key: &'_ str| key.strip_prefix("ft-").unwrap_or(key).to_owned();
    let (key, base) = (plain(&name.key), plain(&name.base));
    let is_small = billions(&key).is_some_and(|size| size < MAX_SMALL_BILLIONS);
    let is_match = |family: &&Family| matches_pattern(family.pattern, &key) || matches_pattern(family.pattern, &base);
    let Some(family) = FAMILIES.iter().find(is_match) else {
        let format = if is_small { EditFormat::Whole } else { model.edit_format };
        return FamilyDefaults { model: Model { edit_format: format, ..model }, weak: &[], editor: &[] };
    };
    let mut capabilities = model.capabilities;
    capabilities.images = family.images;
    capabilities.prefill = family.prefill;
    capabilities.temperature = family.temperature;
    capabilities.system_role = family.system_role;
    capabilities.caching = family.caching;
    capabilities.thinking = family.thinking;
    let model = Model {
        window: family.window,
        source: Source::Family,
        capabilities,
        edit_format: if is_small { EditFormat::Whole } else { family.format },
        reminder: family.reminder,
        lazy: family.lazy,
        overeager: family.overeager,
        ..model
    };
    FamilyDefaults { model, weak: family.weak, editor: family.editor }
}

/// A short name for the newest model of a family.
pub(crate) struct Alias {
    /// The short name.
    pub name: &'static str,
    /// The provider of the family.
    pub provider: &'static str,
    /// Patterns. The newest match of the first pattern with a match is used. `*` matches any text, and dates are
    /// ignored (see `name`).
    pub patterns: &'static [&'static str],
}

const fn alias(name: &'static str, provider: &'static str, patterns: &'static [&'static str]) -> Alias {
    Alias { name, provider, patterns }
}

pub(crate) const ALIASES: [Alias; 24] = [
    alias("sonnet", "anthropic", &["claude-*sonnet*"]),
    alias("opus", "anthropic", &["claude-*opus*"]),
    alias("haiku", "anthropic", &["claude-*haiku*"]),
    alias("claude", "anthropic", &["claude-*sonnet*"]),
    alias("gpt", "openai", &["gpt-*-sol", "gpt-*"]),
    alias("gpt5", "openai", &["gpt-5*"]),
    alias("4o", "openai", &["gpt-4o"]),
    alias("mini", "openai", &["gpt-*-mini"]),
    alias("nano", "openai", &["gpt-*-nano"]),
    alias("luna", "openai", &["gpt-*-luna"]),
    alias("terra", "openai", &["gpt-*-terra"]),
    alias("codex", "openai", &["gpt-*-codex"]),
    alias("gemini", "gemini", &["gemini-*-pro"]),
    alias("pro", "gemini", &["gemini-*-pro"]),
    alias("flash", "gemini", &["gemini-*-flash"]),
    alias("flash-lite", "gemini", &["gemini-*-flash-lite"]),
    alias("deepseek", "deepseek", &["deepseek-v-*-pro", "deepseek-chat"]),
    alias("r1", "deepseek", &["deepseek-r-1*", "deepseek-reasoner"]),
    alias("grok", "xai", &["grok-*"]),
    alias("codestral", "mistral", &["codestral"]),
    alias("devstral", "mistral", &["devstral*"]),
    alias("qwen", "dashscope", &["qwen-*-coder-plus", "qwen-*"]),
    alias("kimi", "moonshot", &["kimi-*"]),
    alias("glm", "zai", &["glm-*"]),
];

/// Returns the alias of this name, ignoring case.
pub(crate) fn alias_named(name: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.name.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> Model {
        family_defaults(name, &ModelName::of(name)).model
    }

    #[test]
    fn patterns_are_written_as_keys_are() {
        for family in FAMILIES {
            for part in family.pattern.split('*').chain(family.weak.iter().flat_map(|weak| weak.split('*'))) {
                let part = part.trim_matches('-');
                assert_eq!(ModelName::of(part).key, part, "{}", family.pattern);
            }
        }
    }

    #[test]
    fn no_family_is_unreachable() {
        for (at, family) in FAMILIES.iter().enumerate() {
            let like = family.pattern.replace('*', "");
            let first = FAMILIES.iter().position(|other| matches_pattern(other.pattern, &like));
            assert!(first.is_some_and(|first| first <= at), "{}", family.pattern);
            assert!(!FAMILIES[..at].iter().any(|other| other.pattern == family.pattern), "{} twice", family.pattern);
        }
    }

    #[test]
    fn unlisted_models_get_the_defaults_of_their_family() {
        let windows = [
            ("anthropic/claude-sonnet-9", 1_000_000),
            ("gpt-5.9-mini", 272_000),
            ("gpt-4.1-tiny", 1_047_576),
            ("qwen2.5-coder:32b", 32_768),
            ("deepseek-r1:70b", 128_000),
            ("llama3:8b", 8_192),
            ("Meta-Llama-3.1-70B-Instruct", 128_000),
            ("gemini-9-pro", 1_048_576),
            ("gpt-4-0125-preview", 128_000),
            ("gpt-4-0314", 8_192),
        ];
        for (name, window) in windows {
            let model = model(name);
            assert_eq!((model.window, model.known, model.source), (window, false, Source::Family), "{name}");
        }
        assert_eq!(model("my-finetune").source, Source::Assumed);
    }

    #[test]
    fn each_family_has_its_defaults() {
        assert_eq!(model("gpt-4-turbo").edit_format, EditFormat::Udiff);
        assert_eq!(model("gemini-2.5-pro").edit_format, EditFormat::DiffFenced);
        assert_eq!(model("qwen2.5-coder:7b").edit_format, EditFormat::Whole);
        assert_eq!(model("qwen2.5-coder:32b").edit_format, EditFormat::Diff);
        assert_eq!(model("my-model-7b").edit_format, EditFormat::Whole);
        assert!(model("gpt-4o").lazy && !model("gpt-5").lazy);
        assert!(model("claude-sonnet-4-5").overeager && !model("claude-3-5-sonnet").overeager);
        assert_eq!(model("gpt-4o").reminder, Reminder::System);
        assert!(!model("o1-mini").capabilities.system_role && !model("o3").capabilities.temperature);
        for name in ["claude-opus-4-1", "claude-opus-4-20250514", "claude-4-sonnet", "claude-3-7-sonnet-latest"] {
            assert_eq!(model(name).capabilities.thinking, ThinkingControl::Budget, "{name}");
        }
        assert!(model("claude-sonnet-4-6").capabilities.temperature && !model("claude-9").capabilities.temperature);
        assert_eq!(model("claude-opus-9").capabilities.caching, Caching::Marked);
        assert_eq!(model("ft:gpt-4o-mini:me::1").window, 128_000);
    }
}
