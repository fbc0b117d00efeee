//! Checks after a write and on request. Findings are sent to the model without a question a limited number of times, and offered after
//! that. Outputs of commands are always only offered.

use super::Purpose;
use super::suggested_commands::RUN_IN_TRIAL;
use crate::context::Mode;
use crate::request::chat_files::NAMES_HINT;
use crate::{
    CheckMode, Choice, Connection, CopyQuestion, Effect, Entry, JobOutcome, Level, PendingWrite, Question,
    RepeatedCheck, RequestSpec, Session, SharedText, Subject, TrialCommand, Turn, VerifyRequest, name_some,
};
use rhumb_edit::FileProposal;
use rhumb_text::count;
use std::sync::Arc;

/// Maximum number of files named in an output that are added to the chat with it.
const MAX_NAMED_FILES: usize = 3;

/// Maximum length of the title of findings in a question, in characters.
const MAX_TITLE_CHARS: usize = 160;

/// Appended to the output of a failed command that is sent for a fix.
const FIX: &str = "\n\nFix what makes this command fail, in the same edit format. If it is not the code that is wrong, say so and edit \
                   nothing.";

/// Appended to the output of a command that failed on the proposal.
const FIX_TRIAL: &str = "\n\nThe command ran on your edits so far, which are not written yet. Correct them, in the same edit format: edit the \
                         files as they are with your edits. If it is not the code that is wrong, say so and edit nothing.";

/// A write that is being checked. The findings are sent without a question only if no turn began in the meantime.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Verification {
    /// The number of turns at the time of the write.
    turns: u64,
    /// The request behind the write.
    request: String,
}

/// Findings of a check, or the output of a failed command, for the model to fix.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    found: SharedText,
    /// The files that the model needs for the fix.
    files: Vec<String>,
    /// The request that the findings belong to; empty without one.
    request: String,
    /// The check to repeat, if the user requested it.
    recheck: Option<RepeatedCheck>,
    /// The command of the trial that failed, which is repeated before anything is written.
    failed_trial: Option<TrialCommand>,
}

/// A question about a command or its output.
#[derive(Debug, Clone, PartialEq)]
pub enum ProcessSubject {
    /// Share this output? With the check to repeat, the user can also have the failure fixed.
    Share(SharedText, Option<RepeatedCheck>),
    /// Send these findings for a fix?
    Fix(Findings),
    /// Run this command, which the model suggests?
    Run(String),
    /// Review the files that a command changed in a trial?
    Changes(Vec<FileProposal>),
    /// Copy a large repository for a trial?
    Copy(Box<CopyQuestion>),
}

impl Session {
    /// Remembers the texts of files that are about to be written. A fix of an earlier write of the same request is compared with the
    /// texts before that write: otherwise the fault to fix would count as an old one.
    pub(crate) fn before_write(&mut self, writes: &[PendingWrite]) {
        let bases = &mut self.processes.bases;
        if self.proposals.retries().repairs == 0 {
            bases.clear();
        }
        for write in writes {
            if let Some(text) = &write.content {
                self.comment_watch.wrote(&write.path, text);
            }
            if bases.iter().all(|(known, _)| *known != write.path) {
                bases.push((write.path.clone(), write.expected.clone()));
            }
        }
    }

    /// Starts the checks that the settings require after a write, and repeats a failed check that the request is to fix. `test` is off
    /// if the hunks passed the tests in a trial.
    pub(crate) fn check_written(&mut self, paths: &[String], test: CheckMode) -> Vec<Effect> {
        // Earlier findings may not hold for the current files.
        self.questions.withdraw(|subject| matches!(subject, Subject::Process(ProcessSubject::Fix(_))));
        for path in paths {
            if !self.processes.written.contains(path) {
                self.processes.written.push(path.clone());
            }
        }
        let mut check = VerifyRequest {
            files: self.files_to_check(paths),
            lint: CheckMode::FromSettings,
            test,
            ..VerifyRequest::default()
        };
        if let Some(recheck) = self.proposals.retries().recheck.clone() {
            let round = self.proposals.retries().repairs;
            let max = self.processes.max_rounds.max(round);
            let text = recheck.with_verb("runs", "run");
            self.report(Level::Info, format!("{text} again after round {round} of {max}."), "");
            if recheck.test {
                check.test = CheckMode::On;
            }
            if recheck.lint {
                check.lint = CheckMode::On;
            }
            check.rerun = recheck.line;
        }
        let verification = Verification { turns: self.turns.count(), request: self.proposals.request().to_owned() };
        self.begin_check(Purpose::Verify(verification), check)
    }

    /// The written files with their texts before the request. After a fix also the other files of the request, because a file that
    /// the fix did not touch may still be faulty.
    fn files_to_check(&self, paths: &[String]) -> Vec<(String, Option<Arc<str>>)> {
        let bases = &self.processes.bases;
        let base = |path: &String| bases.iter().find(|(known, _)| known == path).and_then(|(_, base)| base.clone());
        let mut files: Vec<_> = paths.iter().map(|path| (path.clone(), base(path))).collect();
        if self.proposals.retries().repairs > 0 {
            files.extend(bases.iter().filter(|(path, _)| !paths.contains(path)).cloned());
        }
        files
    }

    /// Runs the tests, by this command or that of the settings.
    pub fn test(&mut self, command: Option<String>) -> Vec<Effect> {
        // The model gets the lines of these files that the output points at.
        let files = self.default_files().into_iter().map(|path| (path, None)).collect();
        let recheck = RepeatedCheck { test: command.is_none(), line: command.clone(), lint: false };
        let check = VerifyRequest { files, test: CheckMode::On, test_command: command, ..VerifyRequest::default() };
        self.begin_check(Purpose::Check(recheck), check)
    }

    /// Checks syntax and linters of these files, or of the default ones.
    pub fn lint(&mut self, names: &[String]) -> Vec<Effect> {
        let mut paths = Vec::new();
        for name in names {
            match self.resolve_name(name) {
                Ok(found) => paths.extend(found),
                Err(reason) => self.report(Level::Error, reason, NAMES_HINT),
            }
        }
        if paths.is_empty() {
            if !names.is_empty() {
                return Vec::new();
            }
            paths = self.default_files();
        }
        let files = paths.into_iter().map(|path| (path, None)).collect();
        let recheck = RepeatedCheck { lint: true, ..RepeatedCheck::default() };
        let check = VerifyRequest { files, lint: CheckMode::On, ..VerifyRequest::default() };
        self.begin_check(Purpose::Check(recheck), check)
    }

    /// The files of a check without names: those written in this session, or else the editable files of the chat.
    fn default_files(&self) -> Vec<String> {
        if !self.processes.written.is_empty() {
            return self.processes.written.clone();
        }
        self.chat_files.files().iter().filter(|file| !file.read_only).map(|file| file.path.clone()).collect()
    }

    /// Prevents the findings of running checks from being sent without a question, because the conversation changes.
    pub(crate) fn detach_checks(&mut self) {
        self.turns.next_number();
    }

    /// Handles the end of the checks after a write.
    pub(super) fn verification_done(&mut self, verification: Verification, outcome: JobOutcome) -> Vec<Effect> {
        let JobOutcome { shared: Some(found), failed: true, stopped: false, files, .. } = outcome else {
            if !outcome.failed && !outcome.stopped {
                self.report_passed();
            }
            return Vec::new();
        };
        let is_free =
            self.may_send_findings() && self.turns.count() == verification.turns && self.proposals.review().is_empty();
        let findings = Findings { found, files, request: verification.request, recheck: None, failed_trial: None };
        if is_free {
            return self.send_findings(findings);
        }
        if self.proposals.retries().repairs > 0 && !self.may_repair() {
            self.report_still_failing();
        }
        self.offer_findings(findings);
        Vec::new()
    }

    /// Whether findings may be sent once more without a question.
    pub fn may_repair(&self) -> bool {
        self.proposals.retries().repairs < self.processes.max_rounds
    }

    /// Whether findings may be sent now without a question.
    pub(crate) fn may_send_findings(&self) -> bool {
        !self.turns.is_running()
            && !self.proposals.is_writing()
            && self.drafts.message().trim().is_empty()
            && matches!(self.model.connection(), Connection::Remote { .. })
            && self.may_repair()
    }

    /// Sends the failure of a trial to the model, or offers to. The trial is repeated when the answer has edits.
    pub(crate) fn fix_trial(&mut self, outcome: JobOutcome, command: TrialCommand, may_send: bool) -> Vec<Effect> {
        let Some(mut found) = outcome.shared else { return Vec::new() };
        let files = self.files_in_output(&found.text);
        found.text.push_str(FIX_TRIAL);
        let request = self.proposals.request().to_owned();
        let findings = Findings { found, files, request, recheck: None, failed_trial: Some(command) };
        if may_send {
            return self.send_findings(findings);
        }
        if self.proposals.retries().repairs > 0 && !self.may_repair() {
            self.report_still_failing();
        }
        self.offer_findings(findings);
        Vec::new()
    }

    /// Withdraws the question about an earlier failure of the command of a trial.
    pub(crate) fn withdraw_failed_trial(&mut self, command: &TrialCommand) {
        self.questions.withdraw(|subject| match subject {
            Subject::Process(ProcessSubject::Fix(findings)) => findings.failed_trial.as_ref() == Some(command),
            _ => false,
        });
    }

    fn report_still_failing(&mut self) {
        let retries = self.proposals.retries();
        let recheck = retries.recheck.clone().unwrap_or_default();
        let text = recheck.with_verb("still fails", "still fail");
        let text = format!("{text} after {}.", count(retries.repairs, "round"));
        self.report(Level::Warning, text, "Fix it yourself, or send it once more. verify_rounds sets the limit.");
    }

    /// Reports that the check which failed before passes now.
    fn report_passed(&mut self) {
        let Some(recheck) = self.proposals.retries_mut().recheck.take() else { return };
        let rounds = count(self.proposals.retries().repairs.max(1), "round");
        self.report(Level::Info, format!("{} after {rounds}.", recheck.with_verb("passes", "pass")), "");
    }

    /// Sends findings to the model as a message of the program, in the next round.
    fn send_findings(&mut self, findings: Findings) -> Vec<Effect> {
        let Findings { found: SharedText { text, .. }, files, request, failed_trial, .. } = findings;
        let retries = self.proposals.retries_mut();
        (retries.repairs, retries.failed_trial) = (retries.repairs + 1, failed_trial);
        let round = self.proposals.retries().repairs;
        let of = self.processes.max_rounds.max(round);
        for path in &files {
            // The model has to see what it edits.
            if !self.chat_files.contains(path) {
                self.chat_files.add(path, false);
                self.report(Level::Info, format!("{path} was added to the chat for the fix."), "");
            }
        }
        // The draft of the user stays in the composer.
        let spec = RequestSpec { draft: text.clone(), mode: Mode::Code, ..self.next_request_spec() };
        self.transcript.push(Entry::FollowUp { text: text.clone(), round, of, answered: false });
        self.open_turn(Turn::follow_up(spec.generation, text, request));
        vec![Effect::Ask(Box::new(spec))]
    }

    /// Handles the end of a check that the user requested: offers its findings, or reports that it passed.
    pub(super) fn check_done(&mut self, outcome: JobOutcome, recheck: RepeatedCheck) {
        if outcome.stopped {
            return;
        }
        match outcome.shared.filter(|_| outcome.failed) {
            Some(found) => {
                let files = if outcome.files.is_empty() { self.files_in_output(&found.text) } else { outcome.files };
                let request = self.proposals.request().to_owned();
                self.offer_findings(Findings { found, files, request, recheck: Some(recheck), failed_trial: None });
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
    fn files_in_output(&self, output: &str) -> Vec<String> {
        let mut files = self.files_named(output);
        files.truncate(MAX_NAMED_FILES);
        files
    }

    fn offer_findings(&mut self, findings: Findings) {
        let found = &findings.found;
        let short: String = found.title.lines().next().unwrap_or_default().chars().take(MAX_TITLE_CHARS).collect();
        let new: Vec<String> = findings.files.iter().filter(|path| !self.chat_files.contains(path)).cloned().collect();
        let with = if new.is_empty() { String::new() } else { format!(", and {}", name_some(&new)) };
        let title = format!("{short} Send it to the model? ({}{with})", count(found.tokens, "token"));
        let choices = vec![
            Choice::new('y', "send it for a fix"),
            Choice::new('s', "add it to the next message"),
            Choice::new('n', "no"),
        ];
        let text = found.text.clone();
        self.question(Question { subject: Subject::Process(ProcessSubject::Fix(findings)), title, text, choices });
    }

    /// Offers to share the output of a command, if there is any, and to have a failure of the user's own command fixed.
    pub(super) fn offer_output(&mut self, outcome: JobOutcome, recheck: Option<RepeatedCheck>) {
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

    /// Handles the answer to a question about a command.
    pub(crate) fn answer_process(&mut self, subject: ProcessSubject, key: char) -> Vec<Effect> {
        match (subject, key) {
            (ProcessSubject::Share(shared, recheck), 'y') => {
                self.processes.shared_check = recheck;
                self.share(shared)
            }
            (ProcessSubject::Share(mut found, recheck), 'f') => {
                let files = self.files_in_output(&found.text);
                found.text.push_str(FIX);
                let request = self.proposals.request().to_owned();
                self.send_for_fix(Findings { found, files, request, recheck, failed_trial: None })
            }
            (ProcessSubject::Fix(findings), 's') => {
                self.processes.shared_check = findings.recheck.or_else(|| self.proposals.retries().recheck.clone());
                self.share(findings.found)
            }
            (ProcessSubject::Fix(findings), 'y') => self.send_for_fix(findings),
            (ProcessSubject::Changes(files), 'y') => self.review_changes(files),
            (ProcessSubject::Copy(copy), key) => self.answer_copy(*copy, key),
            (ProcessSubject::Run(line), 'y') => self.run_suggested(line),
            (ProcessSubject::Run(line), RUN_IN_TRIAL) => self.try_suggested(line),
            _ => Vec::new(),
        }
    }

    /// Sends findings that the user agreed to send. Offers them again if nothing can be sent now.
    fn send_for_fix(&mut self, findings: Findings) -> Vec<Effect> {
        if self.turns.is_running() || !self.model.is_connected() {
            let (text, hint) = if self.turns.is_running() {
                ("The model is still answering, so nothing was sent.", "Answer again when it is done.")
            } else {
                ("No model is connected, so nothing was sent.", "Share it, and copy the prompt with /copy-context.")
            };
            self.report(Level::Warning, text, hint);
            self.offer_findings(findings);
            return Vec::new();
        }
        if findings.recheck.is_some() {
            // The fix of a check that the user requested is compared with the current files.
            let retries = self.proposals.retries_mut();
            (retries.repairs, retries.recheck) = (0, findings.recheck.clone());
            self.processes.bases.clear();
        }
        self.send_findings(findings)
    }

    /// Adds a text to the history that later requests contain.
    fn share(&mut self, shared: SharedText) -> Vec<Effect> {
        let SharedText { title, text, whole, .. } = shared;
        self.transcript.push(Entry::Shared { title, text, whole });
        self.measure()
    }
}
