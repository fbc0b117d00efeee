//! The table of settings: names, types, defaults, and who may set each. Checks of files and variables, `rhumb config`, the default
//! file and the table in `docs/settings.md` are made from it.

use self::Trust::{Asks, Inert, User};
use rhumb_session::SettingKind;
use rhumb_session::SettingKind::{Command, List, Number, OneOf, Switch, Tables, Text, Thinking, Url, Whole};

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The name in `rhumb.toml`.
    pub name: &'static str,
    /// The type of its values.
    pub kind: SettingKind,
    /// Whether a settings file in a repository may set it.
    pub trust: Trust,
    /// The default as TOML; empty without one.
    pub default: &'static str,
    /// An example as TOML; empty if there is a default.
    pub example: &'static str,
    /// The flag that sets it, if there is one.
    pub flag: Option<&'static str>,
    /// A description in one sentence.
    pub help: &'static str,
}

impl Setting {
    /// The environment variable that sets it; `None` for tables.
    pub fn variable(&self) -> Option<String> {
        (self.kind != SettingKind::Tables).then(|| format!("RHUMB_{}", self.name.to_ascii_uppercase()))
    }

    const fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }
}

const fn set(
    name: &'static str,
    kind: SettingKind,
    trust: Trust,
    default: &'static str,
    help: &'static str,
) -> Setting {
    Setting { name, kind, trust, default, example: "", flag: None, help }
}

/// A setting without a default.
const fn unset(
    name: &'static str,
    kind: SettingKind,
    trust: Trust,
    example: &'static str,
    help: &'static str,
) -> Setting {
    Setting { name, kind, trust, default: "", example, flag: None, help }
}

/// No upper limit of a whole number.
const ANY: u32 = u32::MAX;

/// Every setting, in the order of the default file. A default or example is TOML.
#[rustfmt::skip] // one row for each setting
pub const SETTINGS: &[Setting] = &[
    unset("model", Text, Asks, "\"anthropic/claude-sonnet-4-5\"", "The model: NAME, or PROVIDER/NAME if the available keys do not determine the provider.").flag("--model"),
    unset("weak_model", Text, Asks, "\"gpt-5-mini\"", "The model for summaries, commit messages, help with searches and sub-tasks of the agent; what suits the model if unset."),
    unset("editor_model", Text, Asks, "\"gpt-5-mini\"", "The model that writes the edits in architect mode; what suits the model if unset."),
    unset("base_url", Url, Asks, "\"http://127.0.0.1:11434/v1\"", "Root of the API of one server, which is then used for every model, by its whole name.").flag("--base-url"),
    unset("api", OneOf(&["chat", "responses", "anthropic", "gemini", "ollama"]), Asks, "\"chat\"", "The API of the server, if it does not follow from the address and the model.").flag("--api"),
    unset("key_command", Command, User, "\"pass show llm\"", "Prints the key of base_url; the key command of another provider belongs into [providers.NAME]."),
    unset("context_window", Whole(1, ANY), Asks, "32768", "Context window of the model in tokens, if it is not known."),
    unset("max_output_tokens", Whole(1, ANY), Asks, "8192", "Maximum tokens of an answer; the limit of the model if unset."),
    unset("temperature", Number, Inert, "0.0", "Sampling temperature; the default of the model if unset."),
    unset("thinking", Thinking, Asks, "\"high\"", "Reasoning effort: a word or a number of tokens."),
    unset("map_tokens", Whole(0, ANY), Inert, "4096", "Budget of the repo map in tokens, 0 for no map; a share of the context window if unset.").flag("--map-tokens"),
    set("map_refresh", OneOf(&["auto", "always", "files", "manual"]), Inert, "\"auto\"", "When the repo map is updated."),
    unset("edit_format", OneOf(&["diff", "diff-fenced", "udiff", "whole", "patch"]), Inert, "\"diff\"", "The edit format; what suits the model if unset.").flag("--edit-format"),
    set("edit_rounds", Whole(0, 20), Asks, "3", "How often edits without a location are sent back to the model automatically."),
    unset("history_tokens", Whole(0, ANY), Inert, "4096", "Tokens of history before it is summarized; a share of the context window if unset."),
    unset("codebase_tokens", Whole(0, ANY), Inert, "8192", "Budget of the passages that @codebase finds, in tokens; a share of the context window if unset."),
    set("codebase_more", OneOf(&["ask", "always", "never"]), Asks, "\"ask\"", "What happens when the model requests more of the repository after @codebase."),
    set("codebase_rounds", Whole(0, 20), Asks, "2", "How often the model may request more for one question."),
    set("codebase_planning", Switch, Asks, "false", "Let the weak model choose search terms before @codebase searches."),
    set("codebase_hyde", Switch, Asks, "false", "Let the weak model write two guesses at the code that answers, and search for them too."),
    set("codebase_rerank", Switch, Asks, "false", "Let the weak model rank the functions that @codebase found."),
    set("cache_prompts", Switch, Inert, "true", "Mark the parts of a request that the provider should cache."),
    set("cache_pings", Whole(0, 100), Asks, "0", "How often a request is repeated to keep its cache; each repetition costs a little."),
    set("secrets", OneOf(&["mask", "send"]), User, "\"mask\"", "What happens to secrets in requests: mask replaces them, send leaves them as they are."),
    unset("spending_cap", Number, User, "5.0", "Maximum cost of a session in dollars; a request that would exceed it is not sent."),
    unset("timeout", Whole(1, 86_400), Inert, "300", "Seconds without data from the server after which a request fails."),
    unset("language", Text, Inert, "\"German\"", "The language of answers; the language of the question if unset."),
    unset("prompts", Text, User, "\"~/.config/rhumb/prompts\"", "A folder with prompts that replace the built-in ones of the same name."),
    set("read", List, Inert, "[]", "Read-only files of the repository in every chat."),
    set("ignore", List, Inert, "[]", "Patterns of files to leave out of the map and of every list, as in .gitignore."),
    set("conventions", Switch, Inert, "true", "Add AGENTS.md and CONVENTIONS.md to every chat."),
    unset("lint_cmd", Command, Asks, "\"cargo clippy\"", "The command that lints a change."),
    unset("test_cmd", Command, Asks, "\"cargo test\"", "The command that tests a change."),
    set("auto_commit", Switch, Asks, "true", "Commit accepted changes after they are written.").flag("--no-commit"),
    set("dirty_commits", OneOf(&["ask", "yes", "no"]), Asks, "\"ask\"", "Commit your own changes to a file before accepted hunks are written to it."),
    set("undo_commit", OneOf(&["drop", "revert"]), Asks, "\"drop\"", "What /undo does with the commit of the write: drop it if it is HEAD and not pushed, or always revert it."),
    set("attribute_author", Switch, Inert, "false", "Add (rhumb) to the author name of its commits."),
    set("attribute_committer", Switch, Inert, "false", "Add (rhumb) to the committer name of its commits."),
    set("attribute_co_author", Switch, Inert, "true", "Add a Co-authored-by trailer with the name of the model to its commits."),
    set("commit_hooks", Switch, Asks, "false", "Run git hooks when committing."),
    unset("commit_language", Text, Inert, "\"English\"", "The language of commit messages."),
    set("lint", Switch, Inert, "true", "Check what was written: its syntax, and with lint_cmd."),
    set("test", Switch, Asks, "false", "Run test_cmd after each write."),
    set("verify_rounds", Whole(0, 20), Asks, "3", "How often findings of lint and tests are sent back to the model for one request; 0 only offers it."),
    set("verify", OneOf(&["before", "after", "off"]), Asks, "\"before\"", "When changes are checked: before (hunks tested in a trial are not tested again after the write), after, or off."),
    set("try", OneOf(&["manual", "auto"]), Asks, "\"manual\"", "When test_cmd runs on proposed hunks in a trial: on request, or when a proposal is complete."),
    set("try_network", OneOf(&["none", "loopback", "full"]), User, "\"none\"", "What a command in a trial may reach: nothing, servers on this machine, or everything."),
    set("try_copy_gb", Whole(0, 100_000), User, "2", "Largest repository in gigabytes that a trial copies without a question, where the system cannot mount it."),
    set("commit_needs_trial", Switch, Inert, "false", "Ask before a commit of hunks on which no command has succeeded in a trial."),
    set("command_timeout", Whole(1, 86_400), Inert, "300", "Time limit of tests and linters in seconds."),
    set("suggest_commands", Switch, Inert, "true", "Let the model suggest commands; each runs only if you confirm it."),
    set("allow", List, User, "[]", "Suggested commands that run in a trial without a question: patterns such as \"cargo test *\"."),
    set("agent_run", OneOf(&["sandboxed", "ask", "none"]), User, "\"sandboxed\"", "When the agent runs commands: without a question in an isolated trial, after a question, or never."),
    set("agent_steps", Whole(1, ANY), Asks, "100", "Maximum number of steps of the agent loop."),
    unset("agent_tokens", Whole(1, ANY), Asks, "2000000", "Maximum number of tokens of all requests and answers of the agent loop."),
    unset("agent_cost", Number, User, "2.0", "Maximum cost of the agent loop in dollars."),
    unset("agent_time", Whole(1, 86_400), Asks, "1800", "Maximum time of the agent loop in seconds."),
    set("agent_tools", OneOf(&["auto", "text"]), Inert, "\"auto\"", "How the agent calls tools: auto uses the calls of the API where it has them, text writes them in the answer."),
    set("mentions", OneOf(&["ask", "add", "ignore"]), Asks, "\"ask\"", "What happens when you or the model name a file that is not in the chat."),
    set("accept_plan", Switch, Asks, "false", "In architect mode, carry out the plan without showing it first."),
    unset("editor_edit_format", OneOf(&["diff", "diff-fenced", "udiff", "whole", "patch"]), Inert, "\"diff\"", "The edit format of the editor model; what suits it if unset."),
    set("embeddings", OneOf(&["off", "local", "remote"]), Asks, "\"off\"", "Search by meaning too: with a model on this machine, or at a server; see rhumb index."),
    unset("embeddings_model", Text, Asks, "\"openai/text-embedding-3-small\"", "The embedding model: a folder or a name for rhumb index download, or PROVIDER/NAME at a server."),
    unset("embeddings_url", Url, Asks, "\"http://127.0.0.1:11434\"", "Root of the API of the embedding server, if it is not that of the provider."),
    unset("embeddings_api", OneOf(&["openai", "ollama", "voyage"]), Asks, "\"openai\"", "The API of the embedding server, if it does not follow from its address."),
    unset("embeddings_dims", Whole(8, 8192), Asks, "512", "Dimensions of a vector, for models that support fewer; the default of the model if unset."),
    set("embeddings_consent", OneOf(&["ask", "always", "never"]), User, "\"ask\"", "Whether texts of a repository may be sent to an embedding server; ask asks once for each repository."),
    set("embeddings_hub", Url, User, "\"https://huggingface.co\"", "The server from which rhumb index download fetches models."),
    set("watch", Switch, Asks, "false", "Follow AI! and AI? comments in files as they are saved."),
    set("sessions", Switch, User, "true", "Save sessions, so that they can be resumed."),
    set("notify", OneOf(&["none", "bell", "osc9", "osc777"]), Inert, "\"none\"", "How the end of a turn is signalled while the terminal is not focused."),
    unset("notify_cmd", Command, User, "\"notify-send rhumb\"", "A command to run for that instead."),
    unset("editor", Command, User, "\"nvim\"", "The editor for messages; $VISUAL or $EDITOR if unset."),
    unset("voice_cmd", Command, User, "\"arecord -q -f cd -t wav\"", "The command that records speech to its standard output; arecord, sox or ffmpeg if unset."),
    unset("voice_model", Text, User, "\"openai/whisper-1\"", "The model that transcribes speech."),
    unset("voice_language", Text, User, "\"en\"", "The spoken language."),
    unset("theme", Text, Inert, "\"rhumb-dark\"", "The name of the theme, built-in or your own; by the background of the terminal if unset.").flag("--theme"),
    unset("theme_light", Text, Inert, "\"rhumb-light\"", "The theme for a terminal with a light background."),
    unset("theme_dark", Text, Inert, "\"rhumb-dark\"", "The theme for a terminal with a dark background."),
    set("layout", OneOf(&["auto", "columns", "rows", "single"]), Inert, "\"auto\"", "The arrangement of the panes; auto depends on the size of the screen."),
    set("mouse", Switch, Inert, "true", "Handle clicks, the wheel and dragging of pane borders."),
    set("animations", Switch, Inert, "true", "Allow animations."),
    set("composer_keys", OneOf(&["emacs", "vi"]), User, "\"emacs\"", "The editing keys of the composer."),
    set("diff_view", OneOf(&["auto", "unified", "side-by-side"]), Inert, "\"auto\"", "How the review shows a hunk; auto goes by the width of the pane."),
    set("diff_words", Switch, Inert, "true", "Highlight changed words within a line."),
    set("fold_decided", Switch, Inert, "true", "Fold decided hunks to one line."),
    unset("keys", Tables, User, "accept = [\"y\", \"F9\"]", "Keys for actions, by the names that /keys shows; they replace the default keys of the action."),
    unset("linters", Tables, Asks, "python = \"ruff check\"", "The linter for the files of one language; their names are appended."),
    unset("aliases", Tables, Asks, "fast = \"groq/openai/gpt-oss-120b\"", "Short names for models."),
    unset("providers", Tables, Asks, "base_url = \"http://10.0.0.7:8000/v1\"\napi = \"chat\"\nkey_env = \"BOX_API_KEY\"\nkey_command = \"pass show box\"\nheaders = { X-Team = \"tide\" }\nparams = { top_k = 20 }", "A server with a name, used for NAME/model. Its key comes from a variable, a command, or credentials.toml."),
    unset("models", Tables, Asks, "window = 65536", "Properties of a model that is missing or wrong in the built-in table."),
];

/// Whether a settings file in a repository may set a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It may set the value, which has no effect outside of the program. Turning on what the user turned off needs an approval, and a
    /// switch that the user turned on stays on.
    Inert,
    /// It may propose the value, which costs money, sends data, runs a program, or chooses who receives code. The value is used once the
    /// user has approved exactly this value.
    Asks,
    /// Nothing. Only the user may set the value.
    User,
}

/// The fields of `[providers.NAME]`.
pub const PROVIDER_FIELDS: &[(&str, SettingKind)] = &[
    ("base_url", SettingKind::Url),
    ("api", SettingKind::OneOf(&["chat", "responses", "anthropic", "gemini", "ollama"])),
    ("key_env", SettingKind::Text),
    ("key_command", SettingKind::Command),
    ("headers", SettingKind::Tables),
    ("params", SettingKind::Tables),
];

/// The setting with a name.
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_either_a_default_or_an_example_and_a_sentence_of_help() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(setting.default.is_empty() != setting.example.is_empty(), "{}", setting.name);
            assert!(setting.help.ends_with('.') && setting.help.len() < 120, "{}", setting.name);
            assert!(SETTINGS.iter().skip(at + 1).all(|other| other.name != setting.name), "{}", setting.name);
        }
    }

    #[test]
    fn a_repository_cannot_set_what_runs_sends_or_costs() {
        for name in
            ["base_url", "api", "model", "test_cmd", "lint_cmd", "providers", "thinking", "cache_pings", "aliases"]
        {
            assert_eq!(setting(name).unwrap().trust, Trust::Asks, "{name}");
        }
        for name in ["key_command", "spending_cap", "prompts", "allow", "try_network", "try_copy_gb"] {
            assert_eq!(setting(name).unwrap().trust, Trust::User, "{name}");
        }
    }
}
