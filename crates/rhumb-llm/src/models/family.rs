//! What models are like by family: our own judgement of how each is best spoken to, and what a model of such a name most
//! probably takes when no list has it.

use super::model::{Caching, Model, Reminder, Source, ThinkingControl};
use super::name::{ModelName, billions, fits};
use rhumb_edit::EditFormat;

/// Models below this size, in billions of parameters, mostly cannot quote a file well enough for edits: they write it whole.
const SMALL: f64 = 20.0;

/// What models whose key is as `pattern` has it have in common.
#[derive(Debug, Clone, Copy)]
struct Family {
    /// `*` stands for anything.
    pattern: &'static str,
    /// As [`Model::window`].
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
    /// Patterns of smaller models of the same provider: the newest that fits the first of them is the weak one.
    weak: &'static [&'static str],
    /// The same for the one that writes the edits in architect mode; empty: the model itself.
    editor: &'static [&'static str],
}

/// What nothing more is known of.
const PLAIN: Family = Family {
    pattern: "",
    // What 128k means differs; this is the least of it.
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
    ..PLAIN
};

/// Models of OpenAI that think: no temperature, and the rules are remembered without a system message at the end.
const GPT_THINKING: Family =
    Family { window: 272_000, temperature: false, thinking: ThinkingControl::Effort, reminder: Reminder::User, ..GPT };

/// Its models of letter and number: they plan better than they write edits.
const O_SERIES: Family = Family { window: 200_000, editor: &["gpt-4-1"], ..GPT_THINKING };

const CLAUDE: Family = Family {
    window: 200_000,
    images: true,
    caching: Caching::Marked,
    thinking: ThinkingControl::Effort,
    overeager: true,
    weak: &["claude-*haiku*"],
    ..PLAIN
};

const GEMINI: Family = Family {
    window: 1_048_576,
    images: true,
    caching: Caching::ByPrefix,
    thinking: ThinkingControl::Effort,
    format: EditFormat::DiffFenced,
    overeager: true,
    weak: &["gemini-*-flash-lite", "gemini-*-flash"],
    ..PLAIN
};

const DEEPSEEK: Family = Family {
    caching: Caching::ByPrefix,
    prefill: true,
    reminder: Reminder::System,
    weak: &["deepseek-v-*-flash", "deepseek-chat"],
    ..PLAIN
};

/// Thinking comes in its answer, so it is not asked to write edits when another can.
const DEEPSEEK_THINKING: Family =
    Family { prefill: false, editor: &["deepseek-v-*-flash", "deepseek-chat"], ..DEEPSEEK };

const GROK: Family =
    Family { caching: Caching::ByPrefix, weak: &["grok-code-fast*", "grok-*-fast", "grok-*-mini"], ..PLAIN };

const MISTRAL: Family = Family { prefill: true, weak: &["mistral-small"], ..PLAIN };

/// The families: the first whose pattern fits a key is the model's. Patterns are written as keys are (see `name`): digits apart
/// from letters.
const FAMILIES: &[Family] = &[
    Family { pattern: "gpt-oss*", thinking: ThinkingControl::Effort, ..PLAIN },
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
    // The third generation neither thinks (but for 3.7) nor does too much.
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
    // What is newer than all that takes a million, and sets its sampling itself.
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
    Family { pattern: "gemma*", images: true, system_role: false, format: EditFormat::Whole, ..PLAIN },
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
    Family { pattern: "qwen-3-coder*", window: 262_144, ..PLAIN },
    Family { pattern: "qwen-2-5-coder*", window: 32_768, ..PLAIN },
    Family { pattern: "qwen-*coder*", ..PLAIN },
    Family { pattern: "qwen-2*", window: 32_768, ..PLAIN },
    Family { pattern: "qwen-3*", ..PLAIN },
    Family { pattern: "qw*", window: 32_768, ..PLAIN },
    Family { pattern: "*llama-4*", window: 1_048_576, images: true, ..PLAIN },
    Family { pattern: "*llama-3-1*", ..PLAIN },
    Family { pattern: "*llama-3-2*", ..PLAIN },
    Family { pattern: "*llama-3-3*", ..PLAIN },
    Family { pattern: "*llama-v-3-*", ..PLAIN },
    Family { pattern: "*llama-3*", window: 8_192, format: EditFormat::Whole, ..PLAIN },
    Family { pattern: "*llama*", window: 4_096, format: EditFormat::Whole, ..PLAIN },
    Family { pattern: "kimi-k-2*", window: 262_144, caching: Caching::ByPrefix, ..PLAIN },
    Family { pattern: "kimi*", window: 262_144, images: true, caching: Caching::ByPrefix, ..PLAIN },
    Family { pattern: "glm-4-5*", caching: Caching::ByPrefix, ..PLAIN },
    Family { pattern: "glm*", window: 200_000, caching: Caching::ByPrefix, ..PLAIN },
    Family { pattern: "minimax*", window: 196_608, ..PLAIN },
    Family { pattern: "command*", format: EditFormat::Whole, ..PLAIN },
    Family { pattern: "phi*", window: 16_384, format: EditFormat::Whole, ..PLAIN },
    Family { pattern: "granite*", format: EditFormat::Whole, ..PLAIN },
    Family { pattern: "starcoder*", window: 16_384, format: EditFormat::Whole, ..PLAIN },
    Family { pattern: "yi-*", window: 16_384, format: EditFormat::Whole, ..PLAIN },
];

/// A model as its name lets one expect it, and the patterns of its weak and its editor model.
pub(super) struct Judged {
    pub model: Model,
    pub weak: &'static [&'static str],
    pub editor: &'static [&'static str],
}

/// What `name` is like, as far as the name tells. A model of no family is unknown altogether.
pub(super) fn judged(full: &str, name: &ModelName) -> Judged {
    let model = Model::unknown(full);
    let plain = |key: &'_ str| key.strip_prefix("ft-").unwrap_or(key).to_owned();
    let (key, base) = (plain(&name.key), plain(&name.base));
    let is_small = billions(&key).is_some_and(|size| size < SMALL);
    let fits = |family: &&Family| fits(family.pattern, &key) || fits(family.pattern, &base);
    let Some(family) = FAMILIES.iter().find(fits) else {
        let format = if is_small { EditFormat::Whole } else { model.edit_format };
        return Judged { model: Model { edit_format: format, ..model }, weak: &[], editor: &[] };
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
    Judged { model, weak: family.weak, editor: family.editor }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> Model {
        judged(name, &ModelName::of(name)).model
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
    fn no_family_hides_behind_another() {
        for (at, family) in FAMILIES.iter().enumerate() {
            let like = family.pattern.replace('*', "");
            let first = FAMILIES.iter().position(|other| fits(other.pattern, &like));
            assert!(first.is_some_and(|first| first <= at), "{}", family.pattern);
            assert!(!FAMILIES[..at].iter().any(|other| other.pattern == family.pattern), "{} twice", family.pattern);
        }
    }

    #[test]
    fn unknown_models_are_taken_for_their_kin() {
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
    fn each_family_is_spoken_to_in_its_way() {
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
