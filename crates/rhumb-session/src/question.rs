//! Questions to the user, each answered by one key.
//!
//! A question does not take the focus, because the user may be typing. Its choices are taken with Alt and a letter, or with the
//! letter alone after Enter on an empty input.

use crate::{
    AgentQuestion, Effect, FileQuestion, MoreContextRequest, NamedFile, Notice, PersistenceQuestion, Plan,
    ProcessSubject, RequestedFiles, Session,
};
use rhumb_edit::SyntaxFault;
use rhumb_text::count;
use rhumb_text::fuzzy::file_name;
use rhumb_web::NonPublicHost;
use std::collections::VecDeque;

/// A possible answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The key that takes it.
    pub key: char,
    /// Its short label.
    pub label: String,
}

impl Choice {
    /// Creates a choice.
    pub fn new(key: char, label: impl Into<String>) -> Self {
        Self { key, label: label.into() }
    }
}

/// The subject of a question, with the data needed to act on the answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Subject {
    /// Whether to read a page that leads to hosts that are not on the public internet.
    NonPublicPage {
        /// The page.
        url: String,
        /// The hosts that are allowed if the answer is yes.
        allowed: Vec<NonPublicHost>,
    },
    /// The agent loop: a question of the model, or whether a command may run.
    Agent(AgentQuestion),
    /// A command or its output.
    Process(ProcessSubject),
    /// Whether to add files to the chat.
    Files(FileQuestion),
    /// Whether to give the model more context of the repository.
    More(MoreContextRequest),
    /// Whether to carry out a plan.
    Plan(Plan),
    /// Saved sessions and exported files.
    Persistence(PersistenceQuestion),
    /// Whether texts of the repository may be sent to an embedding server.
    Index,
    /// Whether to commit the user's changes to files before accepted hunks are written to them.
    UncommittedChanges,
    /// Whether to write accepted hunks although they break the syntax of their files.
    BreaksSyntax(Vec<SyntaxFault>),
    /// Whether to write accepted hunks although their trial failed, or they have none.
    FailedTrial,
    /// Whether to write accepted hunks although the journal cannot record the write.
    NotRecorded,
}

impl Subject {
    /// Whether it is about the last answer. The next message withdraws it.
    pub(super) fn is_about_answer(&self) -> bool {
        match self {
            Self::Files(question) => question.is_about_answer(),
            subject => matches!(subject, Self::Plan(_) | Self::More(_)),
        }
    }

    /// Whether it only offers something. Queued messages do not wait for the answer to an offer.
    pub fn is_offer(&self) -> bool {
        matches!(self, Self::Files(question) if question.is_offer())
    }

    /// The urgency: questions with lower numbers are asked first.
    fn urgency(&self) -> u8 {
        match self {
            // An action that the user has just requested waits for the answer.
            Self::UncommittedChanges
            | Self::BreaksSyntax(_)
            | Self::NotRecorded
            | Self::FailedTrial
            | Self::NonPublicPage { .. }
            | Self::Persistence(_) => 0,
            Self::Agent(_)
            | Self::Process(ProcessSubject::Fix(_) | ProcessSubject::Run(_) | ProcessSubject::Copy(_)) => 1,
            Self::More(_)
            | Self::Plan(_)
            | Self::Files(
                FileQuestion::Needed { .. } | FileQuestion::Requested(RequestedFiles { plan: Some(_), .. }),
            ) => 2,
            Self::Process(ProcessSubject::Share(..) | ProcessSubject::Changes(_)) => 3,
            Self::Files(_) => 4,
            Self::Index => 5,
        }
    }

    /// A short form of the question, for a list.
    pub fn summary(&self) -> String {
        let files = |files: &[NamedFile]| match files {
            [file] => format!("add {}?", file_name(&file.path)),
            files => format!("add {}?", count(files.len(), "file")),
        };
        match self {
            Self::UncommittedChanges => "commit your changes first?".into(),
            Self::BreaksSyntax(_) => "write with syntax errors?".into(),
            Self::NotRecorded => "write without a record?".into(),
            Self::FailedTrial => "write although the trial failed?".into(),
            Self::NonPublicPage { .. } => "read the page?".into(),
            Self::Persistence(PersistenceQuestion::Fork(_)) => "fork the session?".into(),
            Self::Persistence(PersistenceQuestion::Replace(_)) => "replace the file?".into(),
            Self::Agent(AgentQuestion::Answer(..)) => "answer the model?".into(),
            Self::Agent(AgentQuestion::Fetch(..)) => "fetch a page?".into(),
            Self::Agent(AgentQuestion::Run(_, line)) => format!("run {}?", line.lines().next().unwrap_or_default()),
            Self::Process(ProcessSubject::Fix(_)) => "send the failures?".into(),
            Self::Process(ProcessSubject::Changes(_)) => "review what the command changed?".into(),
            Self::Process(ProcessSubject::Copy(_)) => "copy the repository?".into(),
            Self::Process(ProcessSubject::Run(line)) => format!("run {}?", line.lines().next().unwrap_or_default()),
            Self::Process(ProcessSubject::Share(shared, _)) => {
                format!("share the output of {}?", shared.title.lines().next().unwrap_or_default())
            }
            Self::More(_) => "give more context?".into(),
            Self::Files(FileQuestion::Needed { files, .. }) => format!("add {}?", count(files.len(), "file")),
            Self::Files(
                FileQuestion::Requested(RequestedFiles { files: named, .. }) | FileQuestion::Mentioned(named),
            ) => files(named),
            Self::Plan(_) => "carry out the plan?".into(),
            Self::Index => "build the index?".into(),
        }
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The subject.
    pub subject: Subject,
    /// The question, on one line.
    pub title: String,
    /// Details; may have several lines or be empty.
    pub text: String,
    /// The answers: the likeliest first, the one that changes nothing last.
    pub choices: Vec<Choice>,
}

impl Question {
    /// Whether an answer changes nothing and can be given before the question was read. That is the last choice, except for
    /// [`Subject::UncommittedChanges`], where each answer writes files.
    pub fn is_harmless(&self, choice: char) -> bool {
        self.subject != Subject::UncommittedChanges && self.choices.last().is_some_and(|last| last.key == choice)
    }
}

/// The questions that wait for an answer. The front end shows the first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Questions(VecDeque<Question>);

impl Questions {
    /// The question that is shown.
    pub fn first(&self) -> Option<&Question> {
        self.0.front()
    }

    /// All questions, the one that is shown first.
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

    pub(super) fn withdraw(&mut self, is_obsolete: impl Fn(&Subject) -> bool) {
        self.0.retain(|question| !is_obsolete(&question.subject));
    }

    #[cfg(any(test, feature = "test-support"))]
    pub(super) fn all_mut(&mut self) -> &mut VecDeque<Question> {
        &mut self.0
    }

    pub(super) fn push_front(&mut self, question: Question) {
        self.0.push_front(question);
    }
}

impl Session {
    /// The questions that wait for an answer.
    pub fn questions(&self) -> &Questions {
        &self.questions
    }

    /// Withdraws all questions, because the front end ends.
    pub fn withdraw_questions(&mut self) {
        self.questions.withdraw(|_| true);
    }

    /// Asks a question before all others and lets the front end open it, because an action that the user requested waits for it.
    pub(super) fn ask_now(&mut self, question: Question) {
        self.questions.withdraw(|subject| *subject == question.subject);
        self.questions.push_front(question);
        self.notices.push(Notice::AskNow);
    }

    /// Asks a question. The most urgent question comes first, and of equally urgent ones the oldest.
    pub(super) fn question(&mut self, question: Question) {
        if !self.questions.contains(&question) {
            let urgency = question.subject.urgency();
            let at = self.questions.iter().position(|other| other.subject.urgency() > urgency);
            self.questions.0.insert(at.unwrap_or(self.questions.len()), question);
        }
    }

    /// Short forms of the questions after the first: `then: add config.py?  run cargo test?`. Empty if there are none.
    pub fn following_questions(&self) -> String {
        let others: Vec<String> = self.questions.iter().skip(1).map(|question| question.subject.summary()).collect();
        if others.is_empty() { String::new() } else { format!("then: {}", others.join("  ")) }
    }

    /// Moves a question that the user reads to the front, so that the next answer applies to it. Returns `false` if it was withdrawn.
    pub fn ask_first(&mut self, read: &Question) -> bool {
        let Some(at) = self.questions.iter().position(|question| question == read) else { return false };
        if let Some(question) = self.questions.0.remove(at) {
            self.questions.push_front(question);
        }
        true
    }

    /// Whether the first question has a choice with this key.
    pub fn is_choice(&self, key: char) -> bool {
        self.questions.first().is_some_and(|question| question.choices.iter().any(|choice| choice.key == key))
    }

    /// Answers the first question. Does nothing if it has no such choice.
    pub fn answer(&mut self, key: char) -> Vec<Effect> {
        if !self.is_choice(key) {
            return Vec::new();
        }
        let Some(question) = self.questions.0.pop_front() else { return Vec::new() };
        match question.subject.clone() {
            Subject::NonPublicPage { url, allowed } => self.answer_non_public_page(&url, allowed, key),
            Subject::Process(subject) => self.answer_process(subject, key),
            Subject::Agent(question) => self.answer_agent(question, key),
            Subject::Files(files) => self.answer_files(key, question, files),
            Subject::More(more) => self.answer_context_request(key, question, more),
            Subject::Plan(plan) => self.answer_plan(key, question, plan),
            Subject::Persistence(question) => self.answer_persistence(question, key),
            Subject::Index => self.answer_index(key),
            Subject::UncommittedChanges => self.answer_own_changes(key),
            Subject::BreaksSyntax(faults) => self.answer_syntax(key, faults),
            Subject::NotRecorded => self.answer_unrecorded(key),
            Subject::FailedTrial => self.answer_trial(key),
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
    fn questions_are_ordered_by_urgency() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let file = NamedFile { path: "src/config.py".into(), symbol: None };
        let mentioned = Subject::Files(FileQuestion::Mentioned(vec![file]));
        let run = Subject::Process(ProcessSubject::Run("cargo test".into()));
        session.question(question(Subject::Index));
        session.question(question(mentioned.clone()));
        assert_eq!(session.following_questions(), "then: build the index?");
        session.question(question(run.clone()));
        session.ask_now(question(Subject::UncommittedChanges));
        let asked: Vec<&Subject> = session.questions.iter().map(|question| &question.subject).collect();
        assert_eq!(asked, [&Subject::UncommittedChanges, &run, &mentioned, &Subject::Index]);
        assert_eq!(session.following_questions(), "then: run cargo test?  add config.py?  build the index?");
    }
}
