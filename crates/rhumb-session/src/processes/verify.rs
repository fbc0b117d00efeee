//! What follows a check: what was found goes back to the model by itself a limited number of times, or is offered; and the outputs of
//! commands, which are only ever offered.

use std::sync::Arc;

use super::{Outcome, Purpose, RepeatedCheck, SharedText, VerifyRequest, When};
use crate::connect::Connection;
use crate::context::Mode;
use crate::effect::{Effect, PendingWrite, RequestSpec};
use crate::proposal::write::few;
use crate::question::{Choice, Question, Subject};
use crate::state::Session;
use crate::transcript::{Entry, Level};
use crate::turn::Turn;
use rhumb_text::count;

/// Files that an output names and that come into the chat with it, at most.
const MOST_BROUGHT: usize = 3;

/// Characters of what was found that the question about it shows.
const TITLE: usize = 160;

/// What the output of a failed command ends with when it is sent for a fix.
const FIX: &str = "\n\nFix what makes this command fail, in the same edit format. If it is not the code that is wrong, say so and edit \
                   nothing.";

/// A write that is being checked: what came of it goes back by itself only if nothing else was begun meanwhile.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verification {
    /// Turns until then.
    turns: u64,
    /// The request behind it.
    request: String,
}

/// A question about a command or its output.
#[derive(Debug, Clone, PartialEq)]
pub enum ProcessSubject {
    /// Share this output? Of a command of the developer's that failed, or have the model fix it?
    Share(SharedText, Option<RepeatedCheck>),
    /// Have the model fix this, found in these files, which belongs to this request?
    Mend {
        /// What was found.
        found: SharedText,
        /// The files.
        files: Vec<String>,
        /// The request; empty for none.
        request: String,
        /// The check that found it, where the developer asked for it.
        recheck: Option<RepeatedCheck>,
    },
    /// Run what the model suggests?
    Run(String),
}

impl Session {
    /// Remembers the files that are about to be written as they are. What mends an earlier write of the same request is held
    /// against the files as they were before that one: else the fault that it shall mend would be one that was there before.
    pub(crate) fn before_write(&mut self, orders: &[PendingWrite]) {
        let bases = &mut self.processes.bases;
        if self.proposals.retries().verified == 0 {
            bases.clear();
        }
        for order in orders {
            if let Some(text) = &order.content {
                self.comment_watch.wrote(&order.path, text);
            }
            if bases.iter().all(|(known, _)| *known != order.path) {
                bases.push((order.path.clone(), order.expected.clone()));
            }
        }
    }

    /// Has what was written checked, as the settings say.
    pub(crate) fn check_written(&mut self, paths: &[String]) -> Vec<Effect> {
        let bases = self.processes.bases.clone();
        // What was found before is not known of the files as they are now.
        self.questions.withdraw(|subject| matches!(subject, Subject::Process(ProcessSubject::Mend { .. })));
        let base = |path: &String| bases.iter().find(|(known, _)| known == path).and_then(|(_, base)| base.clone());
        let mut files: Vec<_> = paths.iter().map(|path| (path.clone(), base(path))).collect();
        if self.proposals.retries().verified > 0 {
            // A file that the mending left alone may still be the one at fault.
            files.extend(bases.iter().filter(|(path, _)| !paths.contains(path)).cloned());
        }
        for path in paths {
            if !self.processes.written.contains(path) {
                self.processes.written.push(path.clone());
            }
        }
        let written = Verification { turns: self.turns.count(), request: self.proposals.request().to_owned() };
        let mut check = VerifyRequest { files, lint: When::AsSet, test: When::AsSet, ..VerifyRequest::default() };
        if let Some(recheck) = self.proposals.retries().recheck.clone() {
            let (round, of) =
                (self.proposals.retries().verified, self.processes.rounds.max(self.proposals.retries().verified));
            let text = recheck.with_verb(["runs", "run"]);
            self.report(Level::Info, format!("{text} again after round {round} of {of}."), "");
            if recheck.test {
                check.test = When::Now;
            }
            if recheck.lint {
                check.lint = When::Now;
            }
            check.again = recheck.line;
        }
        self.begin_check(Purpose::Verify(written), check)
    }

    /// Runs the tests.
    pub fn test(&mut self, line: Option<String>) -> Vec<Effect> {
        // Where the output points at these, they are shown to the model.
        let files = self.in_question().into_iter().map(|path| (path, None)).collect();
        let recheck = RepeatedCheck { test: line.is_none(), line: line.clone(), lint: false };
        let check = VerifyRequest { files, test: When::Now, test_line: line, ..VerifyRequest::default() };
        self.begin_check(Purpose::Check(recheck), check)
    }

    /// Looks these files over, or those that were written, or those of the chat.
    pub fn lint(&mut self, names: &[String]) -> Vec<Effect> {
        let mut paths = Vec::new();
        for name in names {
            match self.resolve_name(name) {
                Ok(found) => paths.extend(found),
                Err(reason) => self.report(Level::Error, reason, "/pick-file opens the file picker."),
            }
        }
        if paths.is_empty() && !names.is_empty() {
            return Vec::new();
        }
        if paths.is_empty() {
            paths = self.in_question();
        }
        let files = paths.into_iter().map(|path| (path, None::<Arc<str>>)).collect();
        let recheck = RepeatedCheck { lint: true, ..RepeatedCheck::default() };
        let check = VerifyRequest { files, lint: When::Now, ..VerifyRequest::default() };
        self.begin_check(Purpose::Check(recheck), check)
    }

    /// The files that checks are about where nobody names any: those that were written, else those of the chat.
    fn in_question(&self) -> Vec<String> {
        if !self.processes.written.is_empty() {
            return self.processes.written.clone();
        }
        self.chat_files.files().iter().filter(|file| !file.read_only).map(|file| file.path.clone()).collect()
    }

    /// The conversation is another from here on: what checks that run find does not go to the model by itself.
    pub(crate) fn set_checks_apart(&mut self) {
        self.turns.next_number();
    }

    /// Checks after a write are done.
    pub(crate) fn verified(&mut self, written: Verification, outcome: Outcome) -> Vec<Effect> {
        let Outcome { shared: Some(found), failed: true, stopped: false, files, .. } = outcome else {
            if !outcome.failed && !outcome.stopped {
                self.report_passed();
            }
            return Vec::new();
        };
        let is_free = !self.turns.is_running()
            && !self.proposals.is_writing()
            && self.turns.count() == written.turns
            && self.drafts.message().trim().is_empty()
            && self.proposals.review().is_empty()
            && matches!(self.model.connection(), Connection::Remote { .. });
        if !is_free || self.proposals.retries().verified >= self.processes.rounds {
            if self.proposals.retries().verified > 0 && self.proposals.retries().verified >= self.processes.rounds {
                let recheck = self.proposals.retries().recheck.clone().unwrap_or_default();
                let rounds = count(self.proposals.retries().verified, "round");
                let text = format!("{} after {rounds}.", recheck.with_verb(["still fails", "still fail"]));
                self.report(
                    Level::Warning,
                    text,
                    "Look at it yourself, or send it once more. verify_rounds sets the number.",
                );
            }
            self.offer_findings(found, files, (written.request, None));
            return Vec::new();
        }
        self.proposals.retries_mut().verified += 1;
        let (round, of) = (self.proposals.retries().verified, self.processes.rounds);
        self.send_findings(found.text, &files, written.request, (round, of))
    }

    /// Whether the model may be asked once more to repair what a check found.
    pub fn may_repair(&self) -> bool {
        self.proposals.retries().verified < self.processes.rounds
    }

    /// Says that the check which failed before passes now.
    fn report_passed(&mut self) {
        let Some(recheck) = self.proposals.retries_mut().recheck.take() else { return };
        let rounds = count(self.proposals.retries().verified.max(1), "round");
        self.report(Level::Info, format!("{} after {rounds}.", recheck.with_verb(["passes", "pass"])), "");
    }

    /// Sends what was found to the model as a message of the program.
    fn send_findings(
        &mut self,
        text: String,
        files: &[String],
        request: String,
        (round, of): (usize, usize),
    ) -> Vec<Effect> {
        self.bring_in(files);
        // What the developer is typing meanwhile stays in the composer.
        let order = RequestSpec { draft: text.clone(), mode: Mode::Code, ..self.next_request_spec() };
        self.transcript.push(Entry::FollowUp { text: text.clone(), round, of, answered: false });
        self.open_turn(Turn::follow_up(order.generation, text, request));
        vec![Effect::Ask(Box::new(order))]
    }

    /// Adds files to the chat that are to be fixed: the model has to see what it edits.
    fn bring_in(&mut self, files: &[String]) {
        for path in files {
            if !self.chat_files.contains(path) {
                self.chat_files.add(path, false);
                self.report(Level::Info, format!("{path} was added to the chat for the fix."), "");
            }
        }
    }

    /// What a check found that the developer asked for is offered; that nothing was found is told.
    pub(super) fn offer_findings_of_check(&mut self, outcome: Outcome, recheck: RepeatedCheck) {
        if outcome.stopped {
            return;
        }
        match outcome.shared.filter(|_| outcome.failed) {
            Some(found) => {
                // The model has to see what it is to fix.
                let files = if outcome.files.is_empty() { self.named_by(&found.text) } else { outcome.files };
                self.offer_findings(found, files, (self.proposals.request().to_owned(), Some(recheck)));
            }
            None if outcome.failed || !outcome.notes.is_empty() => {}
            None if outcome.checks.is_empty() => {
                let hint = "/lint FILE checks a file with a grammar. lint_cmd and linters in rhumb.toml name commands.";
                self.report(Level::Info, "There was nothing to check.", hint);
            }
            None => self.report(Level::Info, format!("Checks passed: {}.", outcome.checks.join(", ")), ""),
        }
    }

    /// The first files of the repository that an output names.
    fn named_by(&self, output: &str) -> Vec<String> {
        let mut files = self.files_named(output);
        files.truncate(MOST_BROUGHT);
        files
    }

    fn offer_findings(
        &mut self,
        found: SharedText,
        files: Vec<String>,
        (request, recheck): (String, Option<RepeatedCheck>),
    ) {
        let short: String = found.title.lines().next().unwrap_or_default().chars().take(TITLE).collect();
        let new: Vec<String> = files
            .iter()
            .filter(|path| self.chat_files.files().iter().all(|file| file.path != **path))
            .cloned()
            .collect();
        let with = if new.is_empty() { String::new() } else { format!(", and {}", few(&new)) };
        let title = format!("{short} Send it to the model? ({}{with})", count(found.tokens, "token"));
        let choices = vec![
            Choice::new('y', "send it for a fix"),
            Choice::new('s', "add it to the next message"),
            Choice::new('n', "no"),
        ];
        let text = found.text.clone();
        let subject = Subject::Process(ProcessSubject::Mend { found, files, request, recheck });
        self.question(Question { subject, title, text, choices });
    }

    /// The output of a command is offered, if it has any. Of a failed command that the developer ran, a fix is offered too.
    pub(super) fn offer_output(&mut self, outcome: Outcome, recheck: Option<RepeatedCheck>) {
        let Some(shared) = outcome.shared else { return };
        let recheck = recheck.filter(|_| outcome.failed && !outcome.stopped);
        let title = format!("Share the output of {} with the model? ({})", shared.title, count(shared.tokens, "token"));
        let text = shared.text.clone();
        let mut choices = vec![Choice::new('y', "share it"), Choice::new('n', "no")];
        if recheck.is_some() {
            choices.insert(1, Choice::new('f', "send it for a fix"));
        }
        let subject = Subject::Process(ProcessSubject::Share(shared, recheck));
        self.question(Question { subject, title, text, choices });
    }

    /// Takes the answer to a question about a command.
    pub(crate) fn answer_process(&mut self, subject: ProcessSubject, key: char) -> Vec<Effect> {
        match (subject, key) {
            (ProcessSubject::Share(shared, recheck), 'y') => {
                self.processes.shared_check = recheck;
                self.share(shared)
            }
            (ProcessSubject::Share(mut shared, recheck), 'f') => {
                let files = self.named_by(&shared.text);
                shared.text.push_str(FIX);
                self.mend(shared, files, (self.proposals.request().to_owned(), recheck))
            }
            (ProcessSubject::Mend { found, recheck, .. }, 's') => {
                self.processes.shared_check = recheck.or_else(|| self.proposals.retries().recheck.clone());
                self.share(found)
            }
            (ProcessSubject::Mend { found, files, request, recheck }, 'y') => {
                self.mend(found, files, (request, recheck))
            }
            (ProcessSubject::Run(line), 'y') => self.run_suggested(line),
            _ => Vec::new(),
        }
    }

    fn mend(
        &mut self,
        found: SharedText,
        files: Vec<String>,
        (request, recheck): (String, Option<RepeatedCheck>),
    ) -> Vec<Effect> {
        if self.turns.is_running() || !self.model.is_connected() {
            let (text, hint) = match self.turns.current() {
                Some(_) => ("The model is still answering, so nothing was sent.", "Answer again when it is done."),
                None => {
                    ("No model is connected, so nothing was sent.", "Share it, and copy the prompt with /copy-context.")
                }
            };
            self.report(Level::Warning, text, hint);
            self.offer_findings(found, files, (request, recheck));
            return Vec::new();
        }
        if recheck.is_some() {
            // The fix of a check that the developer asked for is held against the files as they are now.
            let retries = self.proposals.retries_mut();
            (retries.verified, retries.recheck) = (0, recheck);
            self.processes.bases.clear();
        }
        self.proposals.retries_mut().verified += 1;
        let of = self.processes.rounds.max(self.proposals.retries().verified);
        self.send_findings(found.text, &files, request, (self.proposals.retries().verified, of))
    }

    /// Adds a text to what every later request carries.
    fn share(&mut self, shared: SharedText) -> Vec<Effect> {
        let SharedText { title, text, whole, .. } = shared;
        self.transcript.push(Entry::Shared { title, text, whole });
        self.measure()
    }
}
