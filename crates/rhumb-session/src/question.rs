//! Questions that the program asks the developer: an approval that must not be guessed, answered by one key.
//!
//! A question never takes the focus by itself: somebody may be typing. It shows above the composer, and each of its choices is
//! taken with Alt and its letter, or after Enter on an empty composer with the letter alone.

use std::collections::VecDeque;

use super::codebase::MoreContextRequest;
use super::effect::Effect;
use super::modes::architect::Plan;
use super::notice::Notice;
use super::persistence::PersistenceQuestion;
use super::processes::verify::ProcessSubject;
use super::request::mentions::{NamedFile, RequestedFiles};
use super::state::Session;
use rhumb_edit::SyntaxFault;
use rhumb_text::count;
use rhumb_text::fuzzy::file_name;
use rhumb_web::NonPublicHost;

/// One answer that can be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Its letter.
    pub key: char,
    /// What it does, in a word or two.
    pub label: String,
}

impl Choice {
    /// A choice.
    pub fn new(key: char, label: impl Into<String>) -> Self {
        Self { key, label: label.into() }
    }
}

/// What a question is about, with what is needed to act on its answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// Reading a page whose way leads to machines that are not on the open internet.
    NonPublicPage {
        /// The page.
        url: String,
        /// The machines that it may come from, if the answer is yes.
        allowed: Vec<NonPublicHost>,
    },
    /// A command, or what one printed.
    Process(ProcessSubject),
    /// Files that the last message or the draft names.
    Mentioned {
        /// The files.
        files: Vec<NamedFile>,
    },
    /// Files that an answer names.
    RequestedFiles(RequestedFiles),
    /// Files that a task needs.
    Needed {
        /// The files.
        files: Vec<String>,
        /// The task.
        message: String,
    },
    /// What an answer asks for of the repository.
    More(MoreContextRequest),
    /// A plan, to be carried out or not.
    Plan(Plan),
    /// Sessions that are kept, and files that are written of them.
    Persistence(PersistenceQuestion),
    /// Whether texts of the repository may be sent to a server of embeddings.
    Index,
    /// Whether the user's own changes to files are committed before accepted hunks go into them.
    UncommittedChanges,
    /// Whether accepted hunks are written although they break the syntax of their files.
    BreaksSyntax(Vec<SyntaxFault>),
    /// Whether accepted hunks are written although the journal cannot record that.
    NotRecorded,
}

impl Subject {
    /// Whether the last answer raised it, so that another message settles it.
    pub(super) fn is_of_an_answer(&self) -> bool {
        matches!(self, Self::RequestedFiles(_) | Self::Needed { .. } | Self::Plan(_) | Self::More(_))
    }

    /// Whether it only offers something. An offer holds nothing up.
    pub fn is_offer(&self) -> bool {
        matches!(self, Self::Mentioned { .. } | Self::RequestedFiles(RequestedFiles { plan: None, .. }))
    }

    /// How urgent it is: questions with lower numbers are asked first.
    fn urgency(&self) -> u8 {
        match self {
            // The user has just asked for what waits for the answer.
            Self::UncommittedChanges
            | Self::BreaksSyntax(_)
            | Self::NotRecorded
            | Self::NonPublicPage { .. }
            | Self::Persistence(_) => 0,
            Self::Process(ProcessSubject::Fix(_) | ProcessSubject::Run(_)) => 1,
            Self::More(_)
            | Self::Needed { .. }
            | Self::Plan(_)
            | Self::RequestedFiles(RequestedFiles { plan: Some(_), .. }) => 2,
            Self::Process(ProcessSubject::Share(..)) => 3,
            Self::RequestedFiles(_) | Self::Mentioned { .. } => 4,
            Self::Index => 5,
        }
    }

    /// The question in a few words, for a list of questions that follow.
    pub fn summary(&self) -> String {
        let files = |files: &[NamedFile]| match files {
            [file] => format!("add {}?", file_name(&file.path)),
            files => format!("add {}?", count(files.len(), "file")),
        };
        match self {
            Self::UncommittedChanges => "commit your changes first?".into(),
            Self::BreaksSyntax(_) => "write what breaks the syntax?".into(),
            Self::NotRecorded => "write without a record?".into(),
            Self::NonPublicPage { .. } => "read the page?".into(),
            Self::Persistence(PersistenceQuestion::Fork(_)) => "fork the session?".into(),
            Self::Persistence(PersistenceQuestion::Replace(_)) => "replace the file?".into(),
            Self::Process(ProcessSubject::Fix(_)) => "send what failed?".into(),
            Self::Process(ProcessSubject::Run(line)) => format!("run {}?", line.lines().next().unwrap_or_default()),
            Self::Process(ProcessSubject::Share(shared, _)) => {
                format!("share the output of {}?", shared.title.lines().next().unwrap_or_default())
            }
            Self::More(_) => "look more up?".into(),
            Self::Needed { files, .. } => format!("add {}?", count(files.len(), "file")),
            Self::Plan(_) => "carry the plan out?".into(),
            Self::RequestedFiles(RequestedFiles { files: wanted, .. }) => files(wanted),
            Self::Mentioned { files: mentioned } => files(mentioned),
            Self::Index => "build the index?".into(),
        }
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What it is about.
    pub subject: Subject,
    /// The question, on one line.
    pub title: String,
    /// What one has to know to answer it; may have several lines, or none.
    pub text: String,
    /// The answers; the first is the likeliest, the last the one that lets be.
    pub choices: Vec<Choice>,
}

impl Question {
    /// Whether that answer can do no harm, so that it counts also where the question is not read yet: the last, which lets things be.
    /// Of changes of the user's own every answer writes.
    pub fn is_harmless(&self, choice: char) -> bool {
        self.subject != Subject::UncommittedChanges && self.choices.last().is_some_and(|last| last.key == choice)
    }
}

/// The questions that wait for an answer. The first is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Questions(VecDeque<Question>);

impl Questions {
    /// The question that is asked.
    pub fn first(&self) -> Option<&Question> {
        self.0.front()
    }

    /// All questions, the one that is asked first.
    pub fn iter(&self) -> impl Iterator<Item = &Question> {
        self.0.iter()
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no question.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a question waits.
    pub fn contains(&self, question: &Question) -> bool {
        self.0.contains(question)
    }

    /// Withdraws the questions about the subjects for which `is_obsolete` holds.
    pub(super) fn withdraw(&mut self, is_obsolete: impl Fn(&Subject) -> bool) {
        self.0.retain(|question| !is_obsolete(&question.subject));
    }

    /// The questions, for tests.
    #[cfg(any(test, feature = "test-support"))]
    pub(super) fn all_mut(&mut self) -> &mut VecDeque<Question> {
        &mut self.0
    }

    /// Puts a question before the others.
    pub(super) fn push_front(&mut self, question: Question) {
        self.0.push_front(question);
    }
}

impl Session {
    /// The questions that wait for an answer.
    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    /// Withdraws all questions: the front end ends and nobody will answer.
    pub fn withdraw_questions(&mut self) {
        self.questions.withdraw(|_| true);
    }

    /// Asks before everything else, in a box of its own: for what the user has just set off and waits for.
    pub(super) fn ask_now(&mut self, question: Question) {
        self.questions.withdraw(|subject| *subject == question.subject);
        self.questions.push_front(question);
        self.notices.push(Notice::AskNow);
    }

    /// Asks: the most urgent question comes first, and of equally urgent ones the oldest.
    pub(super) fn question(&mut self, question: Question) {
        if !self.questions.contains(&question) {
            let urgency = question.subject.urgency();
            let at = self.questions.iter().position(|other| other.subject.urgency() > urgency);
            self.questions.0.insert(at.unwrap_or(self.questions.len()), question);
        }
    }

    /// The questions behind the one that is asked, each in a few words: `then: add config.py?  run cargo test?`. Empty where none
    /// follows.
    pub fn questions_that_follow(&self) -> String {
        let others: Vec<String> = self.questions.iter().skip(1).map(|question| question.subject.summary()).collect();
        if others.is_empty() { String::new() } else { format!("then: {}", others.join("  ")) }
    }

    /// Puts a question that somebody reads before the others, so that an answer is one to it. False if it is not asked any more.
    pub fn put_first(&mut self, read: &Question) -> bool {
        let Some(at) = self.questions.iter().position(|question| question == read) else { return false };
        if let Some(question) = self.questions.0.remove(at) {
            self.questions.push_front(question);
        }
        true
    }

    /// Whether the first question has a choice with that letter.
    pub fn is_choice(&self, key: char) -> bool {
        self.questions.first().is_some_and(|question| question.choices.iter().any(|choice| choice.key == key))
    }

    /// Takes the choice with that letter for the first question; nothing if it has no such choice.
    pub fn answer(&mut self, key: char) -> Vec<Effect> {
        if !self.is_choice(key) {
            return Vec::new();
        }
        let Some(question) = self.questions.0.pop_front() else { return Vec::new() };
        match question.subject.clone() {
            Subject::NonPublicPage { url, allowed } => self.answer_non_public_page(&url, allowed, key),
            Subject::Process(subject) => self.answer_process(subject, key),
            Subject::Mentioned { files } => self.answer_mentioned(key, &files),
            Subject::RequestedFiles(wanted) => self.answer_wanted(key, question, wanted),
            Subject::Needed { files, message } => self.answer_needed(key, question, &files, &message),
            Subject::More(more) => self.answer_context_request(key, question, more),
            Subject::Plan(plan) => self.answer_plan(key, question, plan),
            Subject::Persistence(question) => self.answer_persistence(question, key),
            Subject::Index => self.answer_on_index(key),
            Subject::UncommittedChanges => self.answer_own_changes(key),
            Subject::BreaksSyntax(faults) => self.answer_syntax(key, faults),
            Subject::NotRecorded => self.answer_unrecorded(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;

    fn question(subject: Subject) -> Question {
        Question { title: format!("{subject:?}"), text: String::new(), choices: vec![Choice::new('n', "no")], subject }
    }

    #[test]
    fn the_urgent_question_comes_first_and_the_others_are_named() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let file = NamedFile { path: "src/config.py".into(), symbol: None };
        let mentioned = Subject::Mentioned { files: vec![file] };
        let run = Subject::Process(ProcessSubject::Run("cargo test".into()));
        session.question(question(Subject::Index));
        session.question(question(mentioned.clone()));
        assert_eq!(session.questions_that_follow(), "then: build the index?");
        session.question(question(run.clone()));
        session.ask_now(question(Subject::UncommittedChanges));
        let asked: Vec<&Subject> = session.questions.iter().map(|question| &question.subject).collect();
        assert_eq!(asked, [&Subject::UncommittedChanges, &run, &mentioned, &Subject::Index]);
        assert_eq!(session.questions_that_follow(), "then: run cargo test?  add config.py?  build the index?");
    }
}
