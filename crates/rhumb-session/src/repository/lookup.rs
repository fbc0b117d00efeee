//! What is looked up outside for commands that only show something, and for completion: models, settings, folders, commands of the
//! user's own. Every order is answered by exactly one report.

use std::sync::Arc;

use crate::command::custom::CustomCommands;
use crate::effect::{ClipboardText, Effect, Failure, RequestSpec};
use crate::notice::Notice;
use crate::proposal::undo::UndoPreview;
use crate::request::map_choices::MapIdentity;
use crate::state::Session;
use crate::transcript::Level;
use rhumb_index::repo_map::{Explanation, MapMatches};
use rhumb_index::retrieval::{Hit, Question};
use rhumb_workspace::Direction;

/// Which part of the work a model does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelUse {
    /// It answers.
    Main,
    /// It writes summaries and commit messages.
    Weak,
    /// It writes the edits of architect mode.
    Editor,
}

impl ModelUse {
    /// What it does, as the end of a sentence.
    pub fn work(self) -> &'static str {
        match self {
            Self::Main => "answers",
            Self::Weak => "writes summaries and commit messages",
            Self::Editor => "writes the edits of architect mode",
        }
    }
}

/// Something to look up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LookupEffect {
    /// The models that there are, for completion or to be chosen from.
    Models {
        /// What the one that is chosen shall do, and what to search for at first; `None` only takes note of the list.
        choose: Option<(ModelUse, String)>,
    },
    /// Whether a model can be asked for a part of the work, and what it is.
    Model {
        /// The part.
        part: ModelUse,
        /// The model, as it was typed.
        name: String,
    },
    /// The settings in force.
    Settings {
        /// A word that their names hold; all without one.
        only: Option<String>,
        /// What was chosen in this session, by setting.
        chosen: Vec<(String, String)>,
    },
    /// What an undo or a redo would do.
    LastWrite(Direction),
    /// The text of a first `AGENTS.md`; with the next request, for the ranks of the files.
    AgentsFile(Box<RequestSpec>),
    /// Write a setting to the user's own file: its name, and the value as TOML; without one, take it out.
    KeepSetting(String, Option<String>),
    /// What the repository's settings propose.
    Trust,
    /// Whether all that the program needs is there.
    Doctor {
        /// What the face knows of its terminal: what, and how it is.
        terminal: Vec<(String, String)>,
    },
    /// What a report of a fault should tell.
    FaultReport {
        /// Its title; may be empty.
        title: String,
        /// What the face knows of its terminal: what, and how it is.
        terminal: Vec<(String, String)>,
        /// The last errors, in words.
        errors: Vec<String>,
    },
    /// What lies in a folder, for completion: relative to the current one, with a slash at its end; empty for that itself.
    Folder(String),
    /// The commands that the user and the repository have as files.
    Commands,
    /// The text of a file under the root, for a look at it.
    File(String),
    /// Which files and symbols of a map a few letters mean. A newer one of these puts an end to it.
    Sift {
        /// The map.
        map: MapIdentity,
        /// The letters.
        query: String,
    },
    /// Why a file of a map, or a symbol of it, stands where it does.
    Whence {
        /// The map.
        map: MapIdentity,
        /// The place of the file.
        place: usize,
        /// The symbol, by its index.
        symbol: Option<usize>,
    },
    /// The passages that answer a question. A newer one of these puts an end to it.
    Search(Question),
}

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRow {
    /// What to type for it.
    pub name: String,
    /// Its window and prices, or what it is short for.
    pub detail: String,
    /// Whether there is a key for it, as far as is known.
    pub at_hand: bool,
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
    /// true or false.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A word for a reasoning effort, or a number of tokens.
    Thinking,
    /// A list of texts. Lists of several files are concatenated.
    List,
    /// A command line, run without a shell.
    Command,
    /// Named tables: `[providers.NAME]`.
    Tables,
}

impl SettingKind {
    /// The type in words.
    pub fn expected(self) -> String {
        match self {
            Self::Text => "a text in quotes".into(),
            Self::Url => "an address in quotes, https://… or http://…".into(),
            Self::Whole(least, u32::MAX) => format!("a whole number from {least}"),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
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

/// A setting as it is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingRow {
    /// Its name; of an entry of a table, `keys.accept`.
    pub name: String,
    /// What it takes.
    pub kind: SettingKind,
    /// The value as TOML; empty where there is none.
    pub value: String,
    /// Where that comes from: `default`, a file with its line, a variable, a flag, `this session`.
    pub origin: String,
    /// The default as TOML; empty where there is none.
    pub default: String,
    /// What it is, as a sentence.
    pub help: String,
    /// The user's own file and the line where it stands or would stand; empty where nothing can be written.
    pub place: String,
    /// Whether it stands in that file.
    pub is_kept: bool,
}

/// A text to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// The text.
    pub text: String,
}

/// What was found.
#[derive(Debug, Clone)]
pub enum LookupResponse {
    /// The models, those first that can be asked at once.
    Models {
        /// All of them.
        rows: Vec<ModelRow>,
        /// As in the order.
        choose: Option<(ModelUse, String)>,
    },
    /// A word to say.
    Told {
        /// How much it matters.
        level: Level,
        /// What.
        text: String,
        /// What to do next.
        hint: String,
    },
    /// The text of a first `AGENTS.md`.
    AgentsFile(Result<String, Failure>),
    /// A text to read.
    Page(Page),
    /// Every setting, with what is in force, and a word to search for at first.
    Settings(Vec<SettingRow>, String),
    /// What an undo or a redo would do; `None` if there is no write for it. For the face alone.
    LastWrite(Direction, Option<UndoPreview>),
    /// A setting was written, there; or in words why not.
    Kept {
        /// Its name.
        name: String,
        /// Where: the file and the line.
        result: Result<String, String>,
    },
    /// A text for the clipboard, to be read too.
    Copied(ClipboardText),
    /// What lies in a folder: names, those of folders with a slash at the end.
    Folder {
        /// The folder, as in the order.
        folder: String,
        /// What lies in it.
        names: Vec<String>,
    },
    /// The commands of files.
    Commands(CustomCommands),
    /// The text of a file, for the face alone.
    File {
        /// The file, as in the order.
        path: String,
        /// Its text, or in words why there is none.
        text: Result<Arc<str>, String>,
    },
    /// What a few letters mean in a map; nothing if newer ones were typed meanwhile. For the face alone.
    Sifted {
        /// The map, as in the order.
        map: MapIdentity,
        /// The letters, as in the order.
        query: String,
        /// What they mean.
        found: Option<MapMatches>,
    },
    /// Why something stands in a map where it does. For the face alone.
    Whence {
        /// The map, as in the order.
        map: MapIdentity,
        /// The place of the file.
        place: usize,
        /// The symbol, by its index.
        symbol: Option<usize>,
        /// Why.
        whence: Explanation,
    },
    /// The passages that answer a question. For the face alone.
    Found {
        /// The question, as in the order.
        question: Question,
        /// The passages, best first; `None` while nothing is known of the repository.
        hits: Option<Vec<Hit>>,
    },
}

/// What was looked up, as far as completion and lists need it.
#[derive(Debug, Default)]
pub struct Known {
    /// The models; empty until somebody asked.
    pub models: Arc<Vec<ModelRow>>,
    /// The themes that there are; the face says.
    pub themes: Vec<String>,
    /// Name and description of each setting, for completion.
    pub setting_names: Vec<(String, String)>,
    /// The folder that was looked into last, and what lies in it.
    pub folder: Option<(String, Vec<String>)>,
    /// The commands of files.
    pub commands: CustomCommands,
}

/// As many errors go into a report.
const MOST_ERRORS: usize = 5;

impl Session {
    /// Something was looked up.
    pub(crate) fn looked(&mut self, report: LookupResponse) -> Vec<Effect> {
        match report {
            LookupResponse::Models { rows, choose } => {
                self.lookups.models = Arc::new(rows);
                if let Some((part, query)) = choose {
                    self.notices.push(Notice::ChooseModel(part, query));
                }
            }
            LookupResponse::Told { level, text, hint } => self.tell(level, text, hint),
            LookupResponse::AgentsFile(text) => return self.propose_agents_file(text),
            LookupResponse::Page(page) => self.notices.push(Notice::Page(page)),
            LookupResponse::Settings(rows, query) => self.notices.push(Notice::Settings(rows, query)),
            LookupResponse::Kept { name, result: Ok(at) } => {
                self.tell(
                    Level::Info,
                    format!("{name} is in {at} as you chose."),
                    "It counts at every start from now on.",
                );
            }
            LookupResponse::Kept { name, result: Err(why) } => {
                self.tell(Level::Error, format!("{name} was not kept: {why}."), "The file is as it was.");
            }
            LookupResponse::Copied(clip) => {
                self.notices.push(Notice::Page(Page { title: clip.what.clone(), text: clip.text.clone() }));
                self.copy(clip);
            }
            LookupResponse::Folder { folder, names } => self.lookups.folder = Some((folder, names)),
            LookupResponse::Commands(commands) => self.set_custom_commands(commands),
            LookupResponse::LastWrite(..)
            | LookupResponse::File { .. }
            | LookupResponse::Sifted { .. }
            | LookupResponse::Whence { .. }
            | LookupResponse::Found { .. } => {}
        }
        Vec::new()
    }

    /// Asks for what a report of a fault should tell.
    pub fn report_fault(&self, title: String, terminal: Vec<(String, String)>) -> Vec<Effect> {
        let notices = self.transcript.iter().rev().filter_map(|entry| match entry {
            crate::Entry::Status(notice) if notice.level == Level::Error => Some(notice.text.clone()),
            _ => None,
        });
        let mut errors: Vec<String> = notices.take(MOST_ERRORS).collect();
        errors.reverse();
        vec![Effect::Lookup(LookupEffect::FaultReport { title, terminal, errors })]
    }

    /// Asks for the settings in force, with what was chosen in this session.
    pub fn look_at_settings(&self, only: Option<String>) -> Vec<Effect> {
        let mut chosen: Vec<(String, String)> =
            self.next_request.choices().lines().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        if let crate::Connection::Remote { model, .. } = self.model.connection() {
            chosen.insert(0, ("model".into(), format!("\"{model}\"")));
        }
        if let Some(name) = self.model.editor() {
            chosen.push(("editor_model".into(), format!("\"{name}\"")));
        }
        if let Some(tokens) = self.next_request.map().tokens {
            chosen.push(("map_tokens".into(), tokens.to_string()));
        }
        chosen.push(("map_refresh".into(), format!("\"{}\"", self.next_request.map().refresh.as_str())));
        vec![Effect::Lookup(LookupEffect::Settings { only, chosen })]
    }

    /// Writes a setting to the user's own file.
    pub fn keep_setting(&self, name: String, value: Option<String>) -> Vec<Effect> {
        vec![Effect::Lookup(LookupEffect::KeepSetting(name, value))]
    }

    /// Lets a model be chosen for a part of the work.
    pub(crate) fn choose_model(&self, part: ModelUse, query: String) -> Vec<Effect> {
        vec![Effect::Lookup(LookupEffect::Models { choose: Some((part, query)) })]
    }
}
