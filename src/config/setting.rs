//! The table of settings: what there is, what it takes, and who may set it. The checks of files and variables, `rhumb config`, the
//! commented default file and the table of the README all come from here.

use super::codebase::More;
pub use super::kind::{EFFORTS, Kind, Trust};

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name in `rhumb.toml`.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What a repository may do with it.
    pub trust: Trust,
    /// The default as TOML; empty where there is none.
    pub default: &'static str,
    /// An example as TOML, where there is no default.
    pub example: &'static str,
    /// The flag that sets it, if there is one.
    pub flag: Option<&'static str>,
    /// What it is, as a sentence.
    pub help: &'static str,
}

impl Setting {
    /// The variable that sets it; `None` for tables.
    pub fn variable(&self) -> Option<String> {
        (self.kind != Kind::Tables).then(|| format!("RHUMB_{}", self.name.to_ascii_uppercase()))
    }

    const fn flag(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }
}

/// A setting with a default.
const fn set(name: &'static str, kind: Kind, trust: Trust, default: &'static str, help: &'static str) -> Setting {
    Setting { name, kind, trust, default, example: "", flag: None, help }
}

/// A setting without one.
const fn unset(name: &'static str, kind: Kind, trust: Trust, example: &'static str, help: &'static str) -> Setting {
    Setting { name, kind, trust, default: "", example, flag: None, help }
}

const ANY: u32 = u32::MAX;

/// Every setting, in the order in which the default file lists them.
pub const SETTINGS: &[Setting] = &[
    unset(
        "model",
        Kind::Text,
        Trust::Asks,
        "\"anthropic/claude-sonnet-4-5\"",
        "The model to ask: NAME, or PROVIDER/NAME where the keys at hand do not tell whom.",
    )
    .flag("--model"),
    unset(
        "weak_model",
        Kind::Text,
        Trust::Asks,
        "\"gpt-5-mini\"",
        "The model for summaries; what suits the model if unset.",
    ),
    unset(
        "editor_model",
        Kind::Text,
        Trust::Asks,
        "\"gpt-5-mini\"",
        "The model that writes the edits in architect mode; what suits the model if unset.",
    ),
    unset(
        "base_url",
        Kind::Url,
        Trust::Asks,
        "\"http://127.0.0.1:11434/v1\"",
        "Root of one server's API, which is then asked for every model, by its whole name.",
    )
    .flag("--base-url"),
    unset(
        "api",
        Kind::OneOf(&["chat", "responses", "anthropic", "gemini", "ollama"]),
        Trust::Asks,
        "\"chat\"",
        "What the server speaks, where its address and the model do not tell.",
    )
    .flag("--api"),
    unset(
        "key_command",
        Kind::Command,
        Trust::User,
        "\"pass show llm\"",
        "Prints the key of base_url; for a provider of its own, it stands in [providers.NAME].",
    ),
    unset(
        "context_window",
        Kind::Whole(1, ANY),
        Trust::Asks,
        "32768",
        "Tokens that the model takes, where they are not known.",
    ),
    unset(
        "max_output_tokens",
        Kind::Whole(1, ANY),
        Trust::Asks,
        "8192",
        "Most tokens of one answer; the model's own limit if unset.",
    ),
    unset(
        "temperature",
        Kind::Number,
        Trust::Inert,
        "0.0",
        "How freely the model chooses its words; its own default if unset.",
    ),
    unset(
        "thinking",
        Kind::Thinking,
        Trust::Asks,
        "\"high\"",
        "How long the model thinks: a word or a number of tokens.",
    ),
    unset(
        "map_tokens",
        Kind::Whole(0, ANY),
        Trust::Inert,
        "4096",
        "Tokens for the repo map, 0 for none; a share of the window if unset.",
    )
    .flag("--map-tokens"),
    set(
        "map_refresh",
        Kind::OneOf(&["auto", "always", "files", "manual"]),
        Trust::Inert,
        "\"auto\"",
        "When the repo map is made anew.",
    ),
    unset(
        "edit_format",
        Kind::OneOf(&["diff", "diff-fenced", "udiff", "whole", "patch"]),
        Trust::Inert,
        "\"diff\"",
        "How the model writes edits; what suits the model if unset.",
    )
    .flag("--edit-format"),
    set(
        "edit_rounds",
        Kind::Whole(0, 20),
        Trust::Asks,
        "3",
        "How often edits that found no place go back to the model by themselves.",
    ),
    unset(
        "history_tokens",
        Kind::Whole(0, ANY),
        Trust::Inert,
        "4096",
        "Tokens of history before it is summed up; a share of the window if unset.",
    ),
    unset(
        "codebase_tokens",
        Kind::Whole(0, ANY),
        Trust::Inert,
        "8192",
        "Tokens of the passages that @codebase finds; a share of the window if unset.",
    ),
    set(
        "codebase_more",
        Kind::OneOf(More::WORDS),
        Trust::Asks,
        "\"ask\"",
        "What happens when the model asks for more of the repository after @codebase.",
    ),
    set(
        "codebase_rounds",
        Kind::Whole(0, 20),
        Trust::Asks,
        "2",
        "How often the model may ask for more for one question.",
    ),
    set(
        "codebase_planning",
        Kind::Switch,
        Trust::Asks,
        "false",
        "Have the weak model say what to look for before @codebase searches.",
    ),
    set(
        "codebase_hyde",
        Kind::Switch,
        Trust::Asks,
        "false",
        "Have the weak model guess twice at the code that answers, and search for that too.",
    ),
    set(
        "codebase_rerank",
        Kind::Switch,
        Trust::Asks,
        "false",
        "Have the weak model put the files that @codebase found in order.",
    ),
    set(
        "cache_prompts",
        Kind::Switch,
        Trust::Inert,
        "true",
        "Mark the parts of a request that the provider shall keep.",
    ),
    set(
        "cache_pings",
        Kind::Whole(0, 100),
        Trust::Asks,
        "0",
        "How many times to repeat a request so that its cache stays warm; each costs a little.",
    ),
    set(
        "secrets",
        Kind::OneOf(&["mask", "send"]),
        Trust::User,
        "\"mask\"",
        "What happens to keys in what is sent: mask replaces them, send leaves them as they are.",
    ),
    unset(
        "spending_cap",
        Kind::Number,
        Trust::User,
        "5.0",
        "Dollars that a session may cost; the request that would pass it is not sent.",
    ),
    unset("timeout", Kind::Whole(1, 86_400), Trust::Inert, "300", "Seconds to wait for a silent server."),
    unset(
        "language",
        Kind::Text,
        Trust::Inert,
        "\"German\"",
        "The language of answers; that of the question if unset.",
    ),
    unset(
        "prompts",
        Kind::Text,
        Trust::User,
        "\"~/.config/rhumb/prompts\"",
        "A folder whose files take the place of prompts of the same name.",
    ),
    set("read", Kind::List, Trust::Inert, "[]", "Files of the repository to read and not to change, in every chat."),
    set("ignore", Kind::List, Trust::Inert, "[]", "Files to leave out of the map and of every list, as in .gitignore."),
    set("conventions", Kind::Switch, Trust::Inert, "true", "Read AGENTS.md and CONVENTIONS.md into every chat."),
    unset("lint_cmd", Kind::Command, Trust::Asks, "\"cargo clippy\"", "The command that looks a change over."),
    unset("test_cmd", Kind::Command, Trust::Asks, "\"cargo test\"", "The command that tests a change."),
    set("auto_commit", Kind::Switch, Trust::Asks, "true", "Commit what was accepted after it is written.")
        .flag("--no-commit"),
    set(
        "dirty_commits",
        Kind::OneOf(&["ask", "yes", "no"]),
        Trust::Asks,
        "\"ask\"",
        "Commit your own changes to a file before accepted hunks go into it.",
    ),
    set(
        "undo_commit",
        Kind::OneOf(&["drop", "revert"]),
        Trust::Asks,
        "\"drop\"",
        "What /undo does with the commit of the write: drop it, if it is HEAD and not pushed, or always revert it.",
    ),
    set(
        "attribute_author",
        Kind::Switch,
        Trust::Inert,
        "false",
        "Add (rhumb) to the name of the author of its commits.",
    ),
    set(
        "attribute_committer",
        Kind::Switch,
        Trust::Inert,
        "false",
        "Add (rhumb) to the name of the committer of its commits.",
    ),
    set(
        "attribute_co_author",
        Kind::Switch,
        Trust::Inert,
        "true",
        "End messages of its commits with Co-authored-by and the name of the model.",
    ),
    set("commit_hooks", Kind::Switch, Trust::Asks, "false", "Run git's hooks when committing."),
    unset("commit_language", Kind::Text, Trust::Inert, "\"English\"", "The language of commit messages."),
    set("lint", Kind::Switch, Trust::Inert, "true", "Look over what was written: its syntax, and with lint_cmd."),
    set("test", Kind::Switch, Trust::Asks, "false", "Run test_cmd after each write."),
    set(
        "verify_rounds",
        Kind::Whole(0, 20),
        Trust::Asks,
        "3",
        "How often what lint and tests found goes back to the model for one request; 0 only offers it.",
    ),
    set("command_timeout", Kind::Whole(1, 86_400), Trust::Inert, "300", "Seconds that tests and linters may take."),
    set(
        "suggest_commands",
        Kind::Switch,
        Trust::Inert,
        "true",
        "Let the model suggest commands; each runs if you say so.",
    ),
    set(
        "mentions",
        Kind::OneOf(&["ask", "add", "ignore"]),
        Trust::Asks,
        "\"ask\"",
        "What to do when you or the model name a file that is not in the chat.",
    ),
    set(
        "accept_plan",
        Kind::Switch,
        Trust::Asks,
        "false",
        "In architect mode, have the plan carried out without a look at it.",
    ),
    unset(
        "editor_edit_format",
        Kind::OneOf(&["diff", "diff-fenced", "udiff", "whole", "patch"]),
        Trust::Inert,
        "\"diff\"",
        "How the editor model writes edits; what suits it if unset.",
    ),
    set(
        "embeddings",
        Kind::OneOf(&["off", "local", "remote"]),
        Trust::Asks,
        "\"off\"",
        "Search by meaning too: with a model on this machine, or at a server; see rhumb index.",
    ),
    unset(
        "embeddings_model",
        Kind::Text,
        Trust::Asks,
        "\"openai/text-embedding-3-small\"",
        "The model for that: a folder or a name that rhumb index download knows, or PROVIDER/NAME at a server.",
    ),
    unset(
        "embeddings_url",
        Kind::Url,
        Trust::Asks,
        "\"http://127.0.0.1:11434\"",
        "Root of the API of that server, if it is not the provider's own.",
    ),
    unset(
        "embeddings_api",
        Kind::OneOf(&["openai", "ollama", "voyage"]),
        Trust::Asks,
        "\"openai\"",
        "What that server speaks, where its address does not tell.",
    ),
    unset(
        "embeddings_dims",
        Kind::Whole(8, 8192),
        Trust::Asks,
        "512",
        "Numbers of a vector, for models that can make shorter ones; as many as the model makes if unset.",
    ),
    set(
        "embeddings_consent",
        Kind::OneOf(&["ask", "always", "never"]),
        Trust::User,
        "\"ask\"",
        "Whether texts of a repository may be sent to a server of embeddings; ask does so once for each repository.",
    ),
    set(
        "embeddings_hub",
        Kind::Url,
        Trust::User,
        "\"https://huggingface.co\"",
        "Where rhumb index download fetches models from.",
    ),
    set("watch", Kind::Switch, Trust::Asks, "false", "Follow AI! and AI? comments in files as they are saved."),
    set("sessions", Kind::Switch, Trust::User, "true", "Keep sessions, to resume them."),
    set(
        "notify",
        Kind::OneOf(&["none", "bell", "osc9", "osc777"]),
        Trust::Inert,
        "\"none\"",
        "How to tell that a turn has ended while you look elsewhere.",
    ),
    unset("notify_cmd", Kind::Command, Trust::User, "\"notify-send rhumb\"", "A command to run for that instead."),
    unset("editor", Kind::Command, Trust::User, "\"nvim\"", "The editor for messages; $VISUAL or $EDITOR if unset."),
    unset(
        "voice_cmd",
        Kind::Command,
        Trust::User,
        "\"arecord -q -f cd -t wav\"",
        "The command that records speech to its standard output; arecord, sox or ffmpeg if unset.",
    ),
    unset(
        "voice_model",
        Kind::Text,
        Trust::User,
        "\"openai/whisper-1\"",
        "The model that writes down what was spoken.",
    ),
    unset("voice_language", Kind::Text, Trust::User, "\"en\"", "The language that is spoken."),
    unset(
        "theme",
        Kind::Text,
        Trust::Inert,
        "\"rhumb-dark\"",
        "Colours: a theme by its name, of the program or of yours; by the background of the terminal if unset.",
    )
    .flag("--theme"),
    unset(
        "theme_light",
        Kind::Text,
        Trust::Inert,
        "\"rhumb-light\"",
        "The theme where the terminal's background is light.",
    ),
    unset(
        "theme_dark",
        Kind::Text,
        Trust::Inert,
        "\"rhumb-dark\"",
        "The theme where the terminal's background is dark.",
    ),
    set(
        "layout",
        Kind::OneOf(&["auto", "columns", "rows", "single"]),
        Trust::Inert,
        "\"auto\"",
        "Where the panes stand; auto goes by the size of the screen.",
    ),
    set("mouse", Kind::Switch, Trust::Inert, "true", "Whether clicks, the wheel and drags of pane borders count."),
    set("animations", Kind::Switch, Trust::Inert, "true", "Whether anything on the screen may move by itself."),
    set(
        "composer_keys",
        Kind::OneOf(&["emacs", "vi"]),
        Trust::User,
        "\"emacs\"",
        "The editing keys of the message that is written.",
    ),
    set(
        "diff_view",
        Kind::OneOf(&["auto", "unified", "side-by-side"]),
        Trust::Inert,
        "\"auto\"",
        "How the review shows a hunk; auto goes by the width of the pane.",
    ),
    set("diff_words", Kind::Switch, Trust::Inert, "true", "Whether the words that changed in a line are marked."),
    set("fold_decided", Kind::Switch, Trust::Inert, "true", "Whether hunks that are decided fold to one line."),
    unset(
        "keys",
        Kind::Tables,
        Trust::User,
        "accept = [\"y\", \"F9\"]",
        "Keys for actions, by the names that /keys shows; they replace the action's own.",
    ),
    unset(
        "linters",
        Kind::Tables,
        Trust::Asks,
        "python = \"ruff check\"",
        "The command that looks over the files of one language; their names are appended.",
    ),
    unset("aliases", Kind::Tables, Trust::Asks, "fast = \"groq/openai/gpt-oss-120b\"", "Short names for models."),
    unset(
        "providers",
        Kind::Tables,
        Trust::Asks,
        "base_url = \"http://10.0.0.7:8000/v1\"\napi = \"chat\"\nkey_env = \"BOX_API_KEY\"\nkey_command = \"pass show box\"\n\
         headers = { X-Team = \"tide\" }\nparams = { top_k = 20 }",
        "A server with a name, asked for NAME/model. Its key: a variable, a command, or credentials.toml.",
    ),
    unset(
        "models",
        Kind::Tables,
        Trust::Asks,
        "window = 65536",
        "What is known of a model, where the program's table is wrong or has none.",
    ),
];

/// The fields of `[providers.NAME]`.
pub const PROVIDER_FIELDS: &[(&str, Kind)] = &[
    ("base_url", Kind::Url),
    ("api", Kind::OneOf(&["chat", "responses", "anthropic", "gemini", "ollama"])),
    ("key_env", Kind::Text),
    ("key_command", Kind::Command),
    ("headers", Kind::Tables),
    ("params", Kind::Tables),
];

/// The setting of that name.
pub fn setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_a_default_or_an_example_and_help_that_is_a_sentence() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(setting.default.is_empty() != setting.example.is_empty(), "{}", setting.name);
            assert!(setting.help.ends_with('.') && setting.help.len() < 120, "{}", setting.name);
            assert!(SETTINGS.iter().skip(at + 1).all(|other| other.name != setting.name), "{}", setting.name);
        }
    }

    #[test]
    fn what_runs_sends_or_costs_is_no_repositorys_to_set() {
        for name in
            ["base_url", "api", "model", "test_cmd", "lint_cmd", "providers", "thinking", "cache_pings", "aliases"]
        {
            assert_eq!(setting(name).unwrap().trust, Trust::Asks, "{name}");
        }
        for name in ["key_command", "spending_cap", "prompts"] {
            assert_eq!(setting(name).unwrap().trust, Trust::User, "{name}");
        }
    }
}
