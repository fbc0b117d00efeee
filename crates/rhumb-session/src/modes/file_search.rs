//! Context mode: the model names the files that a task needs, sees them in full, and names them again, until the list stands; then
//! the developer decides.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::context::{Mode, prose};
use crate::effect::{Effect, RequestSpec};
use crate::question::{Choice, Question, Subject};
use crate::request::chat_files::ChatFile;
use crate::request::mentions::listed;
use crate::state::Session;
use crate::transcript::{self, Entry, Level};
use crate::turn::Turn;
use rhumb_text::count;

/// So often the model is asked at most for one task.
const ROUNDS: usize = 3;

/// What the model is told when it has named files.
const ONCE_MORE: &str = "You see the files that you named in full now. Write the whole list once more, as before: leave out what is \
                         not needed after all, and add what is missing.";

/// The files that a task needs, as far as the model has named them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Search {
    /// The task.
    message: String,
    /// The files that the last answer named.
    named: Vec<String>,
    /// Answers so far.
    round: usize,
}

impl Search {
    /// For a task.
    pub(crate) fn new(message: &str) -> Self {
        Self { message: message.to_owned(), ..Self::default() }
    }

    /// The files that go along for the time being.
    pub(crate) fn files(&self) -> Vec<ChatFile> {
        self.named.iter().map(|path| ChatFile { path: path.clone(), read_only: true }).collect()
    }
}

impl Session {
    /// The model named files for a task.
    pub(super) fn named_for_task(&mut self, reply: &str, turn: &Turn) -> Vec<Effect> {
        let Some(mut search) = self.modes.waiting.search.take() else { return Vec::new() };
        let in_prose = self.files_named(&prose(reply));
        // Some models write the list as a block of code.
        let named = if in_prose.is_empty() { self.files_named(reply) } else { in_prose };
        if named.is_empty() {
            let hint = "Say the task in other words, or add files with /add.";
            self.tell(Level::Warning, "The answer names no file of the repository.", hint);
            return Vec::new();
        }
        search.round += 1;
        let as_before = sorted(&named) == sorted(&search.named);
        let all_seen = named.iter().all(|path| self.is_in_chat(path));
        if as_before || all_seen || search.round >= ROUNDS {
            return self.weigh(Subject::Needed { files: named, message: search.message });
        }
        search.named = named;
        let round = search.round;
        self.modes.waiting.search = Some(search);
        self.ask_for_list_again(round, &turn.request)
    }

    fn ask_for_list_again(&mut self, round: usize, request: &str) -> Vec<Effect> {
        let number = self.turns.next_number();
        let mut order = RequestSpec { draft: ONCE_MORE.to_owned(), ..self.order(number) };
        let earlier = order.history.len().saturating_sub(transcript::exchange(&self.transcript));
        order.exchange = Arc::make_mut(&mut order.history).split_off(earlier);
        let order = self.in_mode(order, Mode::Context);
        self.transcript.push(Entry::Again { text: ONCE_MORE.to_owned(), round, of: ROUNDS - 1, answered: false });
        self.begin(Turn::again(number, ONCE_MORE.to_owned(), request.to_owned()).in_mode(Mode::Context));
        vec![Effect::Ask(Box::new(order))]
    }

    /// Asks about the files that a task needs; `tokens` are those of each, as far as it can be read.
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
            subject: Subject::Needed { files, message },
            choices,
        });
    }

    /// What becomes of the files that a task needs.
    pub(crate) fn answer_needed(
        &mut self,
        key: char,
        question: Question,
        files: &[String],
        message: &str,
    ) -> Vec<Effect> {
        match key {
            'c' if self.is_answering() => {
                self.questions.push_front(question);
                Vec::new()
            }
            'y' | 'r' | 'c' => {
                let mut effects = self.add_named(files, key == 'r');
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
