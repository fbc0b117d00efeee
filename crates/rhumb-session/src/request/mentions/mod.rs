//! Files and symbols that a message or an answer mentions, and names after an `@` in a message.

mod offer;
#[cfg(test)]
mod tests;

use crate::context::{CODEBASE, KnownFiles, Mode, NamedBy, at_references, at_target, mentioned_paths, mentions};
use crate::{Effect, Entry, Failure, Level, Session, TurnStatus};
use rhumb_syntax::SymbolKind;
use rhumb_workspace::is_secret_name;
use std::path::PathBuf;

pub(crate) use offer::FileOffers;
pub use offer::{FileQuestion, NamedFile, RequestedFiles};

/// The maximum number of files that are added without a question. A pasted log may mention more.
const MAX_ADDED: usize = 10;

/// See [`Effect::Mention`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionEffect {
    /// Look up names after an `@`.
    LookUp {
        /// The turn that waits for the result.
        turn: u64,
        /// The names.
        names: Vec<String>,
        /// Files in the chat.
        chat: Vec<String>,
        /// Whether pages are read.
        reads_pages: bool,
    },
    /// Count the tokens of files.
    CountTokens {
        /// The number of the question that waits for the result.
        number: u64,
        /// The files.
        paths: Vec<String>,
    },
}

/// The result of a [`MentionEffect`].
#[derive(Debug, Clone)]
pub enum MentionResponse {
    /// The meanings of the names.
    LookedUp(LookedUp),
    /// The tokens of files.
    TokensCounted {
        /// The number of the question.
        number: u64,
        /// Each file with its tokens; `None` if it cannot be read.
        tokens: Vec<(String, Option<usize>)>,
    },
}

/// The meanings of names after an `@`.
#[derive(Debug, Clone, Default)]
pub struct LookedUp {
    /// The turn that waits for the result.
    pub turn: u64,
    /// Files to add to the chat.
    pub files: Vec<String>,
    /// Texts that are sent with the message.
    pub attached: Vec<Attachment>,
    /// Names that could not be resolved, or not completely.
    pub notes: Vec<Failure>,
}

/// A text that is sent with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its title, one line.
    pub title: String,
    /// The text that is sent.
    pub text: String,
    /// The file that contains the whole text, if `text` is cut.
    pub whole: Option<PathBuf>,
}

impl Session {
    pub(crate) fn add_mentioned(&mut self, files: &[String], read_only: bool) -> Vec<Effect> {
        let effects = self.add_files(files, read_only);
        // Before the repository is listed, the files wait. Afterwards, refused ones have been reported.
        let is_in = |path: &&String| !self.repository.is_listed() || self.chat_files.contains(path);
        let names: Vec<&str> = files.iter().filter(is_in).map(String::as_str).collect();
        let how = if read_only { " (read-only)" } else { "" };
        let named = match names.as_slice() {
            [] => return effects,
            [first, .., last] if names.len() > MAX_ADDED => format!("{} files, {first} to {last}", names.len()),
            names => names.join(", "),
        };
        self.report(Level::Info, format!("Added to the chat{how}: {named}."), "");
        effects
    }

    pub(crate) fn handle_mentions(&mut self, response: MentionResponse) -> Vec<Effect> {
        match response {
            MentionResponse::LookedUp(found) => return self.names_looked_up(found),
            MentionResponse::TokensCounted { number, tokens } => {
                if let Some(question) = self.file_offers.take_counting(number) {
                    self.ask_about_files(question, &tokens);
                }
            }
        }
        Vec::new()
    }

    /// Sends the request of the turn that waits for names after an `@`.
    fn names_looked_up(&mut self, mut found: LookedUp) -> Vec<Effect> {
        if self.turns.current().is_none_or(|turn| turn.number != found.turn) {
            return Vec::new();
        }
        for note in found.notes {
            self.report_failure(Level::Warning, note);
        }
        // Read-only files stay read-only.
        found.files.retain(|path| !self.is_in_chat(path));
        let mut effects = if found.files.is_empty() { Vec::new() } else { self.add_mentioned(&found.files, false) };
        // A text that the history contains is not sent twice.
        let history = self.history_messages();
        let is_new = |attachment: &Attachment| history.iter().all(|message| message.content != attachment.text);
        let new: Vec<Attachment> = found.attached.into_iter().filter(is_new).collect();
        effects.extend(self.request_answer(&new));
        let at = self.transcript.iter().rposition(Entry::is_streaming).unwrap_or(self.transcript.len());
        let shared = new.into_iter().map(|Attachment { title, text, whole }| Entry::Shared { title, text, whole });
        self.transcript.insert_all(at, shared);
        if let Some(turn) = self.turns.current_mut() {
            turn.status = TurnStatus::Waiting;
        }
        effects
    }

    /// The names after an `@` in the message of the running turn that may have a meaning.
    pub(crate) fn names_to_look_up(&self) -> Vec<String> {
        let Some(turn) = self.turns.current().filter(|turn| !matches!(turn.mode, Mode::Editor | Mode::Help)) else {
            return Vec::new();
        };
        let names = at_references(&turn.message).into_iter().map(|at| at.name).filter(|name| name != CODEBASE);
        names.filter(|name| self.may_have_meaning(name)).collect()
    }

    /// Whether a name after an `@` may have a meaning. Before the repository is listed, each name may.
    fn may_have_meaning(&self, name: &str) -> bool {
        !self.repository.is_listed()
            || at_target(name, self.repository.paths(), &|symbol| self.may_be_symbol(symbol)).is_some()
    }

    fn may_be_symbol(&self, name: &str) -> bool {
        self.repository.symbols().is_none_or(|graph| {
            graph.index().name_number(name).is_some_and(|number| !graph.defining_files(number).is_empty())
        })
    }

    /// Replaces names after an `@` by spaces.
    fn without_ats(&self, message: &str) -> String {
        let mut shown = message.to_owned();
        for at in at_references(message).into_iter().filter(|at| self.may_have_meaning(&at.name)) {
            let blank = " ".repeat(at.range.len());
            shown.replace_range(at.range, &blank);
        }
        shown
    }

    /// The files that a text mentions and that may be offered. Files with names of secret files are not: they must be added with /add.
    fn files_mentioned(&self, text: &str, with_symbols: bool) -> Vec<NamedFile> {
        let chat: Vec<String> = self.chat_files.files().iter().map(|file| file.path.clone()).collect();
        let symbol = |name: &str| if with_symbols { self.only_definer(name) } else { None };
        let known = KnownFiles { paths: self.repository.paths(), chat: &chat, symbol: &symbol };
        let mut files: Vec<NamedFile> = Vec::new();
        for mention in mentions(text, &known) {
            let symbol = text.get(mention.range).filter(|_| mention.by == NamedBy::Symbol).map(str::to_owned);
            match files.iter_mut().find(|file| file.path == mention.path) {
                // A path takes precedence over a symbol.
                Some(file) => file.symbol = file.symbol.take().filter(|_| symbol.is_some()),
                None => files.push(NamedFile { path: mention.path, symbol }),
            }
        }
        files.retain(|file| !is_secret_name(&file.path) && !self.file_offers.is_declined(&file.path));
        files
    }

    /// The files that a message mentions without an `@` and that are not in the chat.
    pub fn files_mentioned_outside_chat(&self, message: &str) -> Vec<String> {
        self.files_mentioned(&self.without_ats(message), false).into_iter().map(|file| file.path).collect()
    }

    /// The files that a text mentions, including those in the chat.
    pub(crate) fn files_named(&self, text: &str) -> Vec<String> {
        let known = KnownFiles { paths: self.repository.paths(), chat: &[], symbol: &|_| None };
        let mut files = mentioned_paths(&mentions(text, &known));
        files.retain(|path| !is_secret_name(path));
        files
    }

    /// The file that defines a symbol of code, if it is the only one. Keys of data and headings of documents are not symbols of code.
    fn only_definer(&self, name: &str) -> Option<String> {
        let graph = self.repository.symbols()?;
        let index = graph.index();
        let is_code = |kind: SymbolKind| {
            !matches!(kind, SymbolKind::Key | SymbolKind::Section | SymbolKind::Target | SymbolKind::Field)
        };
        let defines =
            |file: &&u32| index.definitions(**file).any(|entry| entry.name() == name && is_code(entry.kind()));
        let mut definers = graph.defining_files(index.name_number(name)?).iter().filter(defines);
        definers.next().filter(|_| definers.next().is_none()).map(|file| index.path(*file).to_owned())
    }

    pub(crate) fn is_in_chat(&self, path: &str) -> bool {
        self.chat_files.contains(path)
    }

    /// Whether a turn runs. If so, reports that.
    pub(crate) fn reject_if_answering(&mut self) -> bool {
        if self.turns.is_running() {
            self.report(Level::Warning, "The model is still answering.", "Cancel the turn, then answer again.");
        }
        self.turns.is_running()
    }
}

/// Lists files with their tokens, one per line.
pub(crate) fn listed(tokens: &[(String, Option<usize>)], note: impl Fn(&str) -> String) -> String {
    let line = |(path, tokens): &(String, Option<usize>)| match tokens {
        Some(tokens) => format!("{path}  {tokens} tokens{}", note(path)),
        None => format!("{path}  cannot be read{}", note(path)),
    };
    tokens.iter().map(line).collect::<Vec<_>>().join("\n")
}
