//! Files that a message or an answer names and that are not in the chat: offered, added or left out, as the settings say. And what a
//! message names with an `@`.

mod offer;

use std::path::PathBuf;

use crate::context::{CODEBASE, KnownFiles, Mode, NamedBy, at_references, at_target, mentioned_paths, mentions};
use crate::effect::{Effect, Failure};
use crate::modes::architect::Plan;
use crate::question::Subject;
use crate::state::Session;
use crate::transcript::{Entry, Level};
use crate::turn::TurnStatus;
use crate::turn::events::is_streaming;
use rhumb_syntax::SymbolKind;
use rhumb_workspace::is_secret_name;

/// Most files that are added without a question: more of them come from a pasted log.
const MAX_ADDED: usize = 10;

/// Something to be found out about what was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MentionEffect {
    /// What the names behind an `@` mean.
    LookUp {
        /// The turn that waits for it.
        turn: u64,
        /// The names.
        names: Vec<String>,
        /// Files in the chat.
        chat: Vec<String>,
        /// Whether pages are read.
        reads_pages: bool,
    },
    /// How many tokens files have.
    Weigh {
        /// The number of the question that waits for it.
        number: u64,
        /// The files.
        paths: Vec<String>,
    },
}

/// What was found out.
#[derive(Debug, Clone)]
pub enum MentionResponse {
    /// What the names mean.
    LookedUp(LookedUp),
    /// The tokens of files; `None` for what cannot be read.
    Weighed {
        /// The number of the question.
        number: u64,
        /// The files with their tokens.
        tokens: Vec<(String, Option<usize>)>,
    },
}

/// What the names behind an `@` mean.
#[derive(Debug, Clone, Default)]
pub struct LookedUp {
    /// The turn that waits for it.
    pub turn: u64,
    /// Files for the chat.
    pub files: Vec<String>,
    /// What goes along with the message.
    pub attached: Vec<Attachment>,
    /// What could not be had, or not all of it.
    pub notes: Vec<Failure>,
}

/// A text that goes along with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// What it is, in a line.
    pub title: String,
    /// It, as the model sees it.
    pub text: String,
    /// The file that holds all of it, where the text is cut.
    pub whole: Option<PathBuf>,
}

/// A file that a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Its path.
    pub path: String,
    /// The symbol by which it is named, which it alone defines; `None` where it is named by its path.
    pub symbol: Option<String>,
}

/// Files that an answer names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedFiles {
    /// The files.
    pub files: Vec<NamedFile>,
    /// How the message was meant that it answers.
    pub mode: Mode,
    /// What the developer had asked for.
    pub request: String,
    /// The plan that names them and waits to be carried out.
    pub plan: Option<Plan>,
}

impl Session {
    /// Adds files that were named.
    pub(crate) fn add_named(&mut self, files: &[String], read_only: bool) -> Vec<Effect> {
        let effects = self.add_files(files, read_only);
        // Before the list of files is known they only wait; what was refused afterwards has been told.
        let is_in = |path: &&String| !self.repository.is_listed() || self.chat_files.contains(path);
        let names: Vec<&str> = files.iter().filter(is_in).map(String::as_str).collect();
        let how = if read_only { " for reference" } else { "" };
        let named = match names.as_slice() {
            [] => return effects,
            [first, .., last] if names.len() > MAX_ADDED => format!("{} files, {first} to {last}", names.len()),
            names => names.join(", "),
        };
        self.tell(Level::Info, format!("In the chat now{how}: {named}."), "");
        effects
    }

    /// Asks for the tokens of files, and then the developer about them.
    pub(crate) fn weigh(&mut self, subject: Subject) -> Vec<Effect> {
        let named = |files: &[NamedFile]| files.iter().map(|file| file.path.clone()).collect();
        let paths = match &subject {
            Subject::Mentioned { files } => named(files),
            Subject::RequestedFiles(wanted) => named(&wanted.files),
            Subject::Needed { files, .. } => files.clone(),
            _ => Vec::new(),
        };
        self.modes.waiting_mut().weighings += 1;
        let number = self.modes.waiting().weighings;
        self.modes.waiting_mut().weighing.push((number, subject));
        vec![Effect::Mention(MentionEffect::Weigh { number, paths })]
    }

    /// Something was found out about what was named.
    pub(crate) fn mention_found(&mut self, report: MentionResponse) -> Vec<Effect> {
        match report {
            MentionResponse::LookedUp(found) => self.looked_up(found),
            MentionResponse::Weighed { number, tokens } => {
                let at = self.modes.waiting().weighing.iter().position(|(waiting, _)| *waiting == number);
                match at.map(|at| self.modes.waiting_mut().weighing.remove(at).1) {
                    Some(Subject::Mentioned { files }) => self.ask_about_mentioned(files, &tokens),
                    Some(Subject::RequestedFiles(wanted)) => self.ask_about_wanted(wanted, &tokens),
                    Some(Subject::Needed { files, message }) => self.ask_about_needed(files, message, &tokens),
                    _ => {}
                }
                Vec::new()
            }
        }
    }

    /// The names behind an `@` are looked up: the turn that waits for them goes out.
    fn looked_up(&mut self, mut found: LookedUp) -> Vec<Effect> {
        if self.turns.current().is_none_or(|turn| turn.number != found.turn) {
            return Vec::new();
        }
        for note in found.notes {
            self.tell_failure(Level::Warning, note);
        }
        // What is there for reference stays so.
        found.files.retain(|path| !self.is_in_chat(path));
        let mut effects = if found.files.is_empty() { Vec::new() } else { self.add_named(&found.files, false) };
        // What the conversation holds already is not sent twice.
        let said = self.history_messages();
        let is_new = |attachment: &Attachment| said.iter().all(|message| message.content != attachment.text);
        let fresh: Vec<Attachment> = found.attached.into_iter().filter(is_new).collect();
        effects.extend(self.ask_turn(&fresh));
        let at = self.transcript.iter().rposition(is_streaming).unwrap_or(self.transcript.len());
        let shared = fresh.into_iter().map(|Attachment { title, text, whole }| Entry::Shared { title, text, whole });
        self.transcript.insert_all(at, shared);
        if let Some(turn) = self.turns.current_mut() {
            turn.status = TurnStatus::Waiting;
        }
        effects
    }

    /// The names behind an `@` in the running turn's message that may mean something.
    pub(crate) fn names_to_look_up(&self) -> Vec<String> {
        let Some(turn) = self.turns.current().filter(|turn| !matches!(turn.mode, Mode::Editor | Mode::Help)) else {
            return Vec::new();
        };
        // What is to be searched for is known by now.
        let names = at_references(&turn.message).into_iter().map(|at| at.name).filter(|name| name != CODEBASE);
        names.filter(|name| self.may_mean_something(name)).collect()
    }

    /// Whether a name behind an `@` may mean something. While the repository is being read, nobody knows.
    fn may_mean_something(&self, name: &str) -> bool {
        !self.repository.is_listed()
            || at_target(name, self.repository.paths(), &|symbol| self.may_be_symbol(symbol)).is_some()
    }

    fn may_be_symbol(&self, name: &str) -> bool {
        self.repository.symbols().is_none_or(|graph| {
            graph.index().name_number(name).is_some_and(|number| !graph.defining_files(number).is_empty())
        })
    }

    /// The message with blanks in the place of what is named with an `@`.
    fn without_ats(&self, message: &str) -> String {
        let mut shown = message.to_owned();
        for at in at_references(message).into_iter().filter(|at| self.may_mean_something(&at.name)) {
            let blank = " ".repeat(at.range.len());
            shown.replace_range(at.range, &blank);
        }
        shown
    }

    /// The files that a text names and that may be offered. Files that look like they hold secrets never are: whoever wants to
    /// send one has to say so with /add.
    fn files_mentioned(&self, text: &str, with_symbols: bool) -> Vec<NamedFile> {
        let chat: Vec<String> = self.chat_files.files().iter().map(|file| file.path.clone()).collect();
        let symbol = |name: &str| if with_symbols { self.only_definer(name) } else { None };
        let known = KnownFiles { paths: self.repository.paths(), chat: &chat, symbol: &symbol };
        let mut files: Vec<NamedFile> = Vec::new();
        for mention in mentions(text, &known) {
            let symbol = text.get(mention.range).filter(|_| mention.by == NamedBy::Symbol).map(str::to_owned);
            match files.iter_mut().find(|file| file.path == mention.path) {
                // A file that is named by its path as well is named so.
                Some(file) => file.symbol = file.symbol.take().filter(|_| symbol.is_some()),
                None => files.push(NamedFile { path: mention.path, symbol }),
            }
        }
        files.retain(|file| !is_secret_name(&file.path) && !self.modes.waiting().declined.contains(&file.path));
        files
    }

    /// The files that a message names without an `@`, and that are not in the chat.
    pub fn files_mentioned_outside_chat(&self, message: &str) -> Vec<String> {
        self.files_mentioned(&self.without_ats(message), false).into_iter().map(|file| file.path).collect()
    }

    /// The files that a text names, those of the chat included.
    pub(crate) fn files_named(&self, text: &str) -> Vec<String> {
        let known = KnownFiles { paths: self.repository.paths(), chat: &[], symbol: &|_| None };
        let mut files = mentioned_paths(&mentions(text, &known));
        files.retain(|path| !is_secret_name(path));
        files
    }

    /// The only file whose code defines a symbol of that name. Keys of data and headings of documents are no symbols of code.
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

    /// Whether a turn runs, which is told.
    pub(crate) fn is_answering(&mut self) -> bool {
        if self.turns.is_running() {
            self.tell(Level::Warning, "The model is still answering.", "Cancel the turn, then answer again.");
        }
        self.turns.is_running()
    }
}

/// Files with their tokens, one a line.
pub(crate) fn listed(tokens: &[(String, Option<usize>)], note: impl Fn(&str) -> String) -> String {
    let line = |(path, tokens): &(String, Option<usize>)| match tokens {
        Some(tokens) => format!("{path}  {tokens} tokens{}", note(path)),
        None => format!("{path}  cannot be read{}", note(path)),
    };
    tokens.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
