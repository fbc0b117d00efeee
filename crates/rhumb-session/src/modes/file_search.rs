//! Context mode: the model lists the files that a task needs. Each further request contains the text of the listed files and
//! requests the list again, until the list no longer changes. Then the user decides.

use crate::context::{Mode, prose};
use crate::request::mentions::listed;
use crate::transcript::{self};
use crate::{ChatFile, Choice, Effect, Entry, FileQuestion, Level, Question, RequestSpec, Session, Subject, Turn};
use rhumb_text::count;
use std::collections::BTreeSet;

/// The maximum number of requests for one task.
const MAX_ROUNDS: usize = 3;

/// The message to the model after it has named files.
const LIST_AGAIN: &str = "You see the files that you named in full now. Write the whole list once more, as before: leave out what is \
                          not needed after all, and add what is missing.";

/// The search for the files that a task needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileSearch {
    message: String,
    named: Vec<String>,
    /// Answers so far.
    round: usize,
}

impl FileSearch {
    pub(crate) fn new(message: &str) -> Self {
        Self { message: message.to_owned(), ..Self::default() }
    }

    /// The files of the last answer, which the next request contains.
    pub(crate) fn files(&self) -> Vec<ChatFile> {
        self.named.iter().map(|path| ChatFile { path: path.clone(), read_only: true }).collect()
    }
}

impl Session {
    /// Handles an answer that names files for a task: requests the list again, or asks the user.
    pub(super) fn handle_named_files(&mut self, reply: &str, turn: &Turn) -> Vec<Effect> {
        let Some(mut search) = self.modes.search.take() else { return Vec::new() };
        let in_prose = self.files_named(&prose(reply));
        // Some models write the list as a block of code.
        let named = if in_prose.is_empty() { self.files_named(reply) } else { in_prose };
        if named.is_empty() {
            let hint = "Rephrase the task, or add files with /add.";
            self.report(Level::Warning, "The answer names no file of the repository.", hint);
            return Vec::new();
        }
        search.round += 1;
        let is_unchanged = sorted(&named) == sorted(&search.named);
        let are_all_in_chat = named.iter().all(|path| self.is_in_chat(path));
        if is_unchanged || are_all_in_chat || search.round >= MAX_ROUNDS {
            return self.count_tokens(FileQuestion::Needed { files: named, message: search.message });
        }
        search.named = named;
        let round = search.round;
        self.modes.search = Some(search);
        self.request_list_again(round, &turn.request)
    }

    fn request_list_again(&mut self, round: usize, request: &str) -> Vec<Effect> {
        let number = self.turns.next_number();
        let mut spec = RequestSpec { draft: LIST_AGAIN.to_owned(), ..self.request_spec(number) };
        spec.split_exchange(transcript::exchange_len(&self.transcript));
        let spec = self.apply_mode(spec, Mode::Context);
        self.transcript.push(Entry::FollowUp {
            text: LIST_AGAIN.to_owned(),
            round,
            of: MAX_ROUNDS - 1,
            answered: false,
        });
        self.open_turn(Turn::follow_up(number, LIST_AGAIN.to_owned(), request.to_owned()).with_mode(Mode::Context));
        vec![Effect::Ask(Box::new(spec))]
    }

    /// Asks whether to add the files that a task needs. `tokens` has the tokens of each file; `None` if it cannot be read.
    pub(crate) fn ask_about_needed(&mut self, files: Vec<String>, message: String, tokens: &[(String, Option<usize>)]) {
        let all: usize = tokens.iter().filter_map(|(_, tokens)| *tokens).sum();
        let new = files.iter().filter(|path| !self.is_in_chat(path)).count();
        let missing = match new {
            0 => "all in the chat".to_owned(),
            new if new == files.len() => format!("{all} tokens"),
            new => format!("{new} of them not in the chat"),
        };
        let choices = match new {
            0 => vec![Choice::new('c', "ask for the change"), Choice::new('n', "leave it")],
            _ => vec![
                Choice::new('y', "add all"),
                Choice::new('r', "add read-only"),
                Choice::new('c', "add and ask for the change"),
                Choice::new('n', "none"),
            ],
        };
        self.question(Question {
            title: format!("The task needs {} ({missing}).", count(files.len(), "file")),
            text: listed(tokens, |path| if self.is_in_chat(path) { ", in the chat".into() } else { String::new() }),
            subject: Subject::Files(FileQuestion::Needed { files, message }),
            choices,
        });
    }

    pub(crate) fn answer_needed(
        &mut self,
        key: char,
        question: Question,
        files: &[String],
        message: &str,
    ) -> Vec<Effect> {
        match key {
            'c' if self.reject_if_answering() => {
                self.questions.push_front(question);
                Vec::new()
            }
            'y' | 'r' | 'c' => {
                let mut effects = self.add_mentioned(files, key == 'r');
                if key == 'c' {
                    effects.extend(self.begin_message(message, Mode::Code));
                }
                effects
            }
            _ => Vec::new(),
        }
    }
}

fn sorted(paths: &[String]) -> BTreeSet<&str> {
    paths.iter().map(String::as_str).collect()
}
