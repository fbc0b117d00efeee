//! Offers of files that a message or an answer mentions.
//!
//! The session offers the files of a draft while the user types it, so that they can be added before it is sent. The offer stays
//! afterwards, and a file that is added then is part of the next request.

use super::{MAX_ADDED, listed};
use crate::context::{Mode, prose};
use crate::proposal::edit_retries::EditRetries;
use crate::{Choice, Effect, Entry, MentionEffect, MentionPolicy, Plan, Question, Session, Subject, Turn};
use rhumb_text::{count, rounded};
use std::collections::BTreeSet;

/// The maximum number of files in the title of a question. Its text lists all.
const MAX_IN_TITLE: usize = 2;

/// A file that a text mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Its path.
    pub path: String,
    /// The mentioned symbol, which only this file defines; `None` if the text mentions the path.
    pub symbol: Option<String>,
}

/// Files that an answer mentions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedFiles {
    /// The files.
    pub files: Vec<NamedFile>,
    /// The mode of the message that it answers.
    pub mode: Mode,
    /// The request of the user.
    pub request: String,
    /// The plan that mentions the files and waits to be carried out.
    pub plan: Option<Plan>,
}

/// A question about files to add to the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileQuestion {
    /// Files that the last message or the draft mentions.
    Mentioned(Vec<NamedFile>),
    /// Files that an answer mentions.
    Requested(RequestedFiles),
    /// Files that a task needs.
    Needed {
        /// The files.
        files: Vec<String>,
        /// The task.
        message: String,
    },
}

impl FileQuestion {
    /// Whether it is about the last answer. The next message withdraws it.
    pub(crate) fn is_about_answer(&self) -> bool {
        !matches!(self, Self::Mentioned(_))
    }

    /// Whether it only offers something. Queued messages do not wait for the answer to an offer.
    pub(crate) fn is_offer(&self) -> bool {
        match self {
            Self::Mentioned(_) => true,
            Self::Requested(requested) => requested.plan.is_none(),
            Self::Needed { .. } => false,
        }
    }

    fn paths(&self) -> Vec<String> {
        let paths = |files: &[NamedFile]| files.iter().map(|file| file.path.clone()).collect();
        match self {
            Self::Mentioned(files) => paths(files),
            Self::Requested(requested) => paths(&requested.files),
            Self::Needed { files, .. } => files.clone(),
        }
    }
}

/// Files that were mentioned, and questions about them that wait for token counts.
#[derive(Debug, Default)]
pub(crate) struct FileOffers {
    in_message: Vec<NamedFile>,
    in_draft: Vec<NamedFile>,
    /// Files that the user declined. They are not offered again in this session.
    declined: BTreeSet<String>,
    /// The questions that wait for the token counts of their files, each with its number.
    counting: Vec<(u64, FileQuestion)>,
    last_number: u64,
}

impl FileOffers {
    pub(crate) fn is_declined(&self, path: &str) -> bool {
        self.declined.contains(path)
    }

    /// The questions that wait for token counts.
    pub(crate) fn counting(&self) -> impl Iterator<Item = &FileQuestion> {
        self.counting.iter().map(|(_, question)| question)
    }

    pub(super) fn take_counting(&mut self, number: u64) -> Option<FileQuestion> {
        let at = self.counting.iter().position(|(other, _)| *other == number)?;
        Some(self.counting.remove(at).1)
    }

    pub(crate) fn withdraw(&mut self, is_obsolete: impl Fn(&FileQuestion) -> bool) {
        self.counting.retain(|(_, question)| !is_obsolete(question));
    }
}

impl Session {
    pub(crate) fn offer_drafted(&mut self) -> Vec<Effect> {
        let asks = self.modes.rules().mentions == MentionPolicy::Ask
            && !matches!(self.input_mode(), Mode::Help | Mode::Editor);
        self.file_offers.in_draft =
            if asks { self.files_mentioned(&self.without_ats(self.drafts.message()), true) } else { Vec::new() };
        self.offer_mentioned()
    }

    /// Adds or offers the files that a message mentions, as the settings say.
    pub(crate) fn handle_mentioned(&mut self, message: &str, mode: Mode) -> Vec<Effect> {
        self.file_offers.in_draft.clear();
        self.file_offers.in_message.clear();
        let mut effects = Vec::new();
        if mode != Mode::Help && self.modes.rules().mentions != MentionPolicy::Ignore {
            let files = self.files_mentioned(&self.without_ats(message), true);
            if self.modes.rules().mentions == MentionPolicy::Add && files.len() <= MAX_ADDED {
                effects = self.add_named_files(&files, false);
            } else {
                self.file_offers.in_message = files;
            }
        }
        effects.extend(self.offer_mentioned());
        effects
    }

    /// Replaces the offer of files that the last message and the draft mention.
    fn offer_mentioned(&mut self) -> Vec<Effect> {
        let mut files: Vec<NamedFile> = Vec::new();
        for file in self.file_offers.in_message.iter().chain(&self.file_offers.in_draft) {
            let is_open = !self.is_in_chat(&file.path) && !self.file_offers.is_declined(&file.path);
            if is_open && files.iter().all(|known| known.path != file.path) {
                files.push(file.clone());
            }
        }
        let is_empty = files.is_empty();
        let offer = FileQuestion::Mentioned(files);
        let is_asked = |question: &Question| matches!(&question.subject, Subject::Files(other) if *other == offer);
        if self.questions.iter().any(is_asked) || self.file_offers.counting().any(|other| *other == offer) {
            return Vec::new();
        }
        self.withdraw_mentioned();
        if is_empty { Vec::new() } else { self.count_tokens(offer) }
    }

    fn withdraw_mentioned(&mut self) {
        self.questions.withdraw(|subject| matches!(subject, Subject::Files(FileQuestion::Mentioned(_))));
        self.file_offers.withdraw(|question| matches!(question, FileQuestion::Mentioned(_)));
    }

    /// Withdraws the offer of files that the last message mentions, because the conversation was cleared.
    pub(crate) fn forget_mentioned(&mut self) {
        self.file_offers.in_message.clear();
        self.withdraw_mentioned();
    }

    /// Requests the token counts of files, and then asks the user about the files.
    pub(crate) fn count_tokens(&mut self, question: FileQuestion) -> Vec<Effect> {
        let paths = question.paths();
        self.file_offers.last_number += 1;
        let number = self.file_offers.last_number;
        self.file_offers.counting.push((number, question));
        vec![Effect::Mention(MentionEffect::CountTokens { number, paths })]
    }

    /// Asks the questions that wait for token counts, because counting failed.
    pub(crate) fn ask_without_token_counts(&mut self) {
        let numbers: Vec<u64> = self.file_offers.counting.iter().map(|(number, _)| *number).collect();
        for number in numbers {
            if let Some(question) = self.file_offers.take_counting(number) {
                let tokens: Vec<_> = question.paths().into_iter().map(|path| (path, None)).collect();
                self.ask_about_files(question, &tokens);
            }
        }
    }

    pub(super) fn ask_about_files(&mut self, question: FileQuestion, tokens: &[(String, Option<usize>)]) {
        match question {
            FileQuestion::Mentioned(files) => self.ask_about_mentioned(files, tokens),
            FileQuestion::Requested(requested) => self.ask_about_requested(requested, tokens),
            FileQuestion::Needed { files, message } => self.ask_about_needed(files, message, tokens),
        }
    }

    fn ask_about_mentioned(&mut self, files: Vec<NamedFile>, tokens: &[(String, Option<usize>)]) {
        let text = format!(
            "{}\n\nThe model sees only the repo map of a file that is not in the chat. A file that you add is part of the next request.",
            described(&files, tokens)
        );
        self.question(Question {
            title: title("Your message", &files, tokens),
            text,
            choices: vec![
                Choice::new('y', if files.len() == 1 { "add it" } else { "add them" }),
                Choice::new('r', "add read-only"),
                Choice::new('n', "no"),
            ],
            subject: Subject::Files(FileQuestion::Mentioned(files)),
        });
    }

    pub(crate) fn answer_files(&mut self, key: char, question: Question, files: FileQuestion) -> Vec<Effect> {
        match files {
            FileQuestion::Mentioned(files) => match key {
                'y' | 'r' => self.add_named_files(&files, key == 'r'),
                _ => {
                    self.decline(&files);
                    Vec::new()
                }
            },
            FileQuestion::Requested(requested) => self.answer_requested(key, question, requested),
            FileQuestion::Needed { files, message } => self.answer_needed(key, question, &files, &message),
        }
    }

    fn decline(&mut self, files: &[NamedFile]) {
        self.file_offers.declined.extend(files.iter().map(|file| file.path.clone()));
    }

    fn add_named_files(&mut self, files: &[NamedFile], read_only: bool) -> Vec<Effect> {
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        if paths.is_empty() { Vec::new() } else { self.add_mentioned(&paths, read_only) }
    }

    /// Offers or adds the files that an answer mentions. Returns `None` if there are none.
    pub(crate) fn offer_requested(&mut self, reply: &str, turn: &Turn, plan: Option<&Plan>) -> Option<Vec<Effect>> {
        if self.modes.rules().mentions == MentionPolicy::Ignore {
            return None;
        }
        // Symbols count only in answers without edits: a model that needs a file names it and stops. A model that writes edits
        // names symbols of files that it has.
        let with_symbols = turn.edits.is_empty() && turn.mode != Mode::Ask;
        let edited: Vec<&str> = turn.edits.iter().filter_map(|edit| edit.path.as_deref()).collect();
        let mut files = self.files_mentioned(&prose(reply), with_symbols);
        files.retain(|file| !edited.contains(&file.path.as_str()));
        if files.is_empty() {
            return None;
        }
        if self.modes.rules().mentions == MentionPolicy::Add && files.len() <= MAX_ADDED {
            let mut effects = self.add_named_files(&files, false);
            effects.extend(plan.cloned().map(|plan| self.offer_plan(plan)).unwrap_or_default());
            return Some(effects);
        }
        // Files that the message mentions too are offered once.
        self.file_offers.in_message.retain(|known| files.iter().all(|file| file.path != known.path));
        let mut effects = self.offer_mentioned();
        let (mode, request, plan) = (turn.mode, turn.request.clone(), plan.cloned());
        effects.extend(self.count_tokens(FileQuestion::Requested(RequestedFiles { files, mode, request, plan })));
        Some(effects)
    }

    fn ask_about_requested(&mut self, requested: RequestedFiles, tokens: &[(String, Option<usize>)]) {
        let files = &requested.files;
        let mut choices = vec![Choice::new('y', if files.len() == 1 { "add it" } else { "add them" })];
        if requested.plan.is_none() {
            choices.push(Choice::new('s', "add and continue"));
        }
        choices.push(Choice::new('n', "no"));
        let what = if requested.plan.is_some() { "The plan" } else { "The answer" };
        self.question(Question {
            title: title(what, files, tokens),
            text: described(files, tokens),
            subject: Subject::Files(FileQuestion::Requested(requested)),
            choices,
        });
    }

    /// Handles the answer to the offer of files that an answer mentions. A review of the same answer stays open.
    fn answer_requested(&mut self, key: char, question: Question, requested: RequestedFiles) -> Vec<Effect> {
        if key == 's' && self.reject_if_answering() {
            self.questions.push_front(question);
            return Vec::new();
        }
        let RequestedFiles { files, mode, request, plan } = requested;
        let mut effects = Vec::new();
        match key {
            'y' | 's' => effects.extend(self.add_named_files(&files, false)),
            _ => self.decline(&files),
        }
        if key == 's' {
            effects.extend(self.continue_with_files(&files, mode, request));
        }
        if let Some(plan) = plan {
            effects.extend(self.offer_plan(plan));
        }
        effects
    }

    /// Sends a message that says that the requested files are in the chat.
    fn continue_with_files(&mut self, files: &[NamedFile], mode: Mode, request: String) -> Vec<Effect> {
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        let text = match paths.as_slice() {
            [file] => format!("{file} is in the chat now. Go on."),
            files => format!("These files are in the chat now: {}. Go on.", files.join(", ")),
        };
        *self.proposals.retries_mut() = EditRetries::default();
        self.transcript.push(Entry::User { text: text.clone(), mode, answered: false });
        let turn = Turn::follow_up(self.turns.next_number(), text, request).with_mode(mode);
        self.begin_turn(turn)
    }
}

/// ``Your message mentions `Gate`, defined in src/gate.py (1.9k tokens).``
fn title(what: &str, files: &[NamedFile], tokens: &[(String, Option<usize>)]) -> String {
    let sum: usize = tokens.iter().filter_map(|(_, tokens)| *tokens).sum();
    let names: Vec<String> = files.iter().map(name).collect();
    let named = match names.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] if first.len() <= MAX_IN_TITLE => format!("{} and {last}", first.join(", ")),
        all => {
            let shown: Vec<&str> = all.iter().take(MAX_IN_TITLE).map(String::as_str).collect();
            format!("{} and {}", shown.join(", "), count(all.len().saturating_sub(MAX_IN_TITLE), "more file"))
        }
    };
    format!("{what} mentions {named} ({} tokens).", rounded(sum as u64))
}

/// ``  `Gate`, defined in src/gate.py``, or the path alone.
fn name(file: &NamedFile) -> String {
    match &file.symbol {
        Some(symbol) => format!("`{symbol}`, defined in {}", file.path),
        None => file.path.clone(),
    }
}

/// Lists the files with their tokens, one per line.
fn described(files: &[NamedFile], tokens: &[(String, Option<usize>)]) -> String {
    let note = |path: &str| {
        let symbol = files.iter().find(|file| file.path == path).and_then(|file| file.symbol.as_ref());
        symbol.map_or_else(String::new, |symbol| format!(", defines `{symbol}`"))
    };
    listed(tokens, note)
}
