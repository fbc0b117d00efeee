//! Look-ups for commands that show something, and for completion: models, settings, folders, custom commands. Each look-up has exactly
//! one response.

use crate::{
    ClipboardText, Connection, CustomCommands, Effect, Entry, Failure, Level, MapIdentity, ModelRole, Notice,
    RequestSpec, Session, UndoPreview,
};
use rhumb_index::repo_map::{Explanation, MapMatches};
use rhumb_index::retrieval::{Hit, Question};
use rhumb_workspace::Direction;
use std::sync::Arc;

/// See [`Effect::Lookup`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupEffect {
    /// The available models.
    Models {
        /// The role for which the user chooses a model, and the initial filter; `None` for completion.
        choose: Option<(ModelRole, String)>,
    },
    /// Whether a model is available for a role, and its facts.
    Model {
        /// The role.
        role: ModelRole,
        /// The model, as the user typed it.
        name: String,
    },
    /// The settings in force.
    Settings {
        /// A part of their names; `None` for all settings.
        only: Option<String>,
        /// The choices of this session: setting and value.
        chosen: Vec<(String, String)>,
    },
    /// A preview of an undo or a redo.
    LastWrite(Direction),
    /// A draft of `AGENTS.md`. The ranks of the files come from the next request.
    AgentsFile(Box<RequestSpec>),
    /// Write a setting to the settings file of the user: its name, and the value as TOML; without a value, remove it.
    SaveSetting(String, Option<String>),
    /// The settings that the repository proposes.
    Trust,
    /// A check of the installation.
    Doctor {
        /// Properties of the terminal: name and value.
        terminal: Vec<(String, String)>,
    },
    /// The text of a bug report.
    FaultReport {
        /// Its title; may be empty.
        title: String,
        /// Properties of the terminal: name and value.
        terminal: Vec<(String, String)>,
        /// The last error messages.
        errors: Vec<String>,
    },
    /// The content of a folder, for completion: a path relative to the current folder that ends with a slash, or an empty text.
    Folder(String),
    /// The custom commands of the user and the repository.
    Commands,
    /// The text of a file under the root.
    File(String),
    /// The files and symbols of a map that match a query. A newer query cancels an older one.
    FilterMap {
        /// The map.
        map: MapIdentity,
        /// The query.
        query: String,
    },
    /// An explanation of the rank of a file or a symbol.
    ExplainRank {
        /// The map.
        map: MapIdentity,
        /// The index of the file in the map.
        file: usize,
        /// The index of the symbol in the file.
        symbol: Option<usize>,
    },
    /// The passages that answer a question. A newer question cancels an older one.
    Search(Question),
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRow {
    /// The name to type.
    pub name: String,
    /// Its context window and prices, or the model for which it is an alias.
    pub detail: String,
    /// Whether a key for it is known.
    pub has_key: bool,
}

/// The type of the values of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// Any text.
    Text,
    /// An address.
    Url,
    /// A whole number in this range, inclusive.
    Whole(u32, u32),
    /// A number that is not negative.
    Number,
    /// `true` or `false`.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A reasoning effort or a number of tokens.
    Thinking,
    /// A list of texts. Lists of several files are concatenated.
    List,
    /// A command line, run without a shell.
    Command,
    /// Named tables: `[providers.NAME]`.
    Tables,
}

impl SettingKind {
    /// Describes valid values.
    pub fn expected(self) -> String {
        match self {
            Self::Text => "a text in quotes".into(),
            Self::Url => "an address in quotes, https://… or http://…".into(),
            Self::Whole(min, u32::MAX) => format!("a whole number from {min}"),
            Self::Whole(min, max) => format!("a whole number from {min} to {max}"),
            Self::Number => "a number from 0".into(),
            Self::Switch => "true or false".into(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Thinking => format!("one of {}, or a number of tokens", rhumb_llm::Thinking::EFFORTS.join(", ")),
            Self::List => "a list of texts: [\"…\", \"…\"]".into(),
            Self::Command => "a command line in quotes".into(),
            Self::Tables => "a table".into(),
        }
    }
}

/// A setting with the value in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// Its name. An entry of a table has a name like `keys.accept`.
    pub name: String,
    /// The type of its values.
    pub kind: SettingKind,
    /// The value as TOML; empty if it is not set.
    pub value: String,
    /// The source of the value: `default`, a file with its line, an environment variable, a flag, or `this session`.
    pub origin: String,
    /// The default as TOML; may be empty.
    pub default: String,
    /// Its description, a sentence.
    pub help: String,
    /// The settings file of the user, with the line of the setting or the line where it would be added; empty if there is no such file.
    pub location: String,
    /// Whether that file contains it.
    pub is_saved: bool,
}

/// A text to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// The text.
    pub text: String,
}

/// The result of a [`LookupEffect`]. The front end uses some of them, and the session ignores those.
#[derive(Debug, Clone)]
pub enum LookupResponse {
    /// See [`LookupEffect::Models`].
    Models {
        /// The models, those with a key first.
        rows: Vec<ModelRow>,
        /// As in the effect.
        choose: Option<(ModelRole, String)>,
    },
    /// A status message.
    Status {
        /// Its level.
        level: Level,
        /// Its text.
        text: String,
        /// What to do next.
        hint: String,
    },
    /// See [`LookupEffect::AgentsFile`].
    AgentsFile(Result<String, Failure>),
    /// A text to show.
    Page(Page),
    /// All settings, and the initial filter.
    Settings(Vec<SettingRow>, String),
    /// See [`LookupEffect::LastWrite`]; `None` if there is nothing to undo or redo. For the front end.
    LastWrite(Direction, Option<UndoPreview>),
    /// See [`LookupEffect::SaveSetting`].
    SettingSaved {
        /// The name of the setting.
        name: String,
        /// The file and the line, or the reason of the failure.
        result: Result<String, String>,
    },
    /// A text to show and to copy to the clipboard.
    Copied(ClipboardText),
    /// See [`LookupEffect::Folder`].
    Folder {
        /// As in the effect.
        folder: String,
        /// The names in it. Names of folders end with a slash.
        names: Vec<String>,
    },
    /// The custom commands.
    Commands(CustomCommands),
    /// See [`LookupEffect::File`]. For the front end.
    File {
        /// As in the effect.
        path: String,
        /// Its text, or the reason of the failure.
        text: Result<Arc<str>, String>,
    },
    /// See [`LookupEffect::FilterMap`]. For the front end.
    MapFiltered {
        /// As in the effect.
        map: MapIdentity,
        /// As in the effect.
        query: String,
        /// The matches; `None` if a newer query cancelled this one.
        found: Option<MapMatches>,
    },
    /// See [`LookupEffect::ExplainRank`]. For the front end.
    RankExplained {
        /// As in the effect.
        map: MapIdentity,
        /// As in the effect.
        file: usize,
        /// As in the effect.
        symbol: Option<usize>,
        /// The explanation.
        explanation: Explanation,
    },
    /// See [`LookupEffect::Search`]. For the front end.
    Found {
        /// As in the effect.
        question: Question,
        /// The passages, best first; `None` before the repository is indexed.
        hits: Option<Vec<Hit>>,
    },
}

/// Results of look-ups that completion and lists use.
#[derive(Debug, Default)]
pub struct Lookups {
    /// The models; empty before the first look-up.
    pub models: Arc<Vec<ModelRow>>,
    /// The names of the themes, which the front end sets.
    pub themes: Vec<String>,
    /// Name and description of each setting, for completion.
    pub setting_names: Vec<(String, String)>,
    /// The last folder and its content.
    pub folder: Option<(String, Vec<String>)>,
    /// The custom commands.
    pub commands: CustomCommands,
}

/// The maximum number of error messages in a bug report.
const MAX_REPORTED_ERRORS: usize = 5;

impl Session {
    pub(crate) fn handle_lookup(&mut self, response: LookupResponse) -> Vec<Effect> {
        match response {
            LookupResponse::Models { rows, choose } => {
                self.lookups.models = Arc::new(rows);
                if let Some((role, query)) = choose {
                    self.notices.push(Notice::ChooseModel(role, query));
                }
            }
            LookupResponse::Status { level, text, hint } => self.report(level, text, hint),
            LookupResponse::AgentsFile(text) => return self.propose_agents_file(text),
            LookupResponse::Page(page) => self.notices.push(Notice::Page(page)),
            LookupResponse::Settings(rows, query) => self.notices.push(Notice::Settings(rows, query)),
            LookupResponse::SettingSaved { name, result: Ok(location) } => {
                let text = format!("{name} is saved in {location}.");
                self.report(Level::Info, text, "It applies to later sessions.");
            }
            LookupResponse::SettingSaved { name, result: Err(why) } => {
                self.report(Level::Error, format!("{name} was not saved: {why}."), "The file is unchanged.");
            }
            LookupResponse::Copied(copied) => {
                self.notices.push(Notice::Page(Page { title: copied.what.clone(), text: copied.text.clone() }));
                self.copy(copied);
            }
            LookupResponse::Folder { folder, names } => self.lookups.folder = Some((folder, names)),
            LookupResponse::Commands(commands) => self.set_custom_commands(commands),
            LookupResponse::LastWrite(..)
            | LookupResponse::File { .. }
            | LookupResponse::MapFiltered { .. }
            | LookupResponse::RankExplained { .. }
            | LookupResponse::Found { .. } => {}
        }
        Vec::new()
    }

    /// Creates a bug report with the last error messages.
    pub fn request_fault_report(&self, title: String, terminal: Vec<(String, String)>) -> Vec<Effect> {
        let messages = self.transcript.iter().rev().filter_map(|entry| match entry {
            Entry::Status(status) if status.level == Level::Error => Some(status.text.clone()),
            _ => None,
        });
        let mut errors: Vec<String> = messages.take(MAX_REPORTED_ERRORS).collect();
        errors.reverse();
        vec![Effect::Lookup(LookupEffect::FaultReport { title, terminal, errors })]
    }

    /// Shows the settings in force, including the choices of this session.
    pub fn request_settings(&self, only: Option<String>) -> Vec<Effect> {
        let mut chosen: Vec<(String, String)> = Vec::new();
        if let Connection::Remote { model, .. } = self.model.connection() {
            chosen.push(("model".into(), format!("\"{model}\"")));
        }
        let overrides = self.next_request.overrides().settings();
        chosen.extend(overrides.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if let Some(tokens) = self.next_request.map().tokens {
            chosen.push(("map_tokens".into(), tokens.to_string()));
        }
        chosen.push(("map_refresh".into(), format!("\"{}\"", self.next_request.map().refresh.as_str())));
        vec![Effect::Lookup(LookupEffect::Settings { only, chosen })]
    }

    /// Writes a setting to the settings file of the user, or removes it.
    pub fn save_setting(&self, name: String, value: Option<String>) -> Vec<Effect> {
        vec![Effect::Lookup(LookupEffect::SaveSetting(name, value))]
    }

    pub(crate) fn choose_model(&self, role: ModelRole, query: String) -> Vec<Effect> {
        vec![Effect::Lookup(LookupEffect::Models { choose: Some((role, query)) })]
    }
}
