//! Trials: a command that runs in a trial checkout, on hunks that are not written.

use super::write::pending_writes;
use crate::processes::{Purpose, RunEffect};
use crate::{
    Bisection, CheckMode, Choice, Effect, Failure, JobOutcome, Level, Notice, PendingWrite, ProcessSubject, Question,
    Session, Subject, name_some,
};
use rhumb_edit::review::{Composed, Decision, FileReview, HunkId, Review};
use rhumb_edit::{FileChange, FileProposal, Proposal};
use rhumb_text::count;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The answer that runs the trial which a write lacks.
const RUN_TRIAL: char = 't';

/// The hunks that a trial applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TrialHunks {
    /// The accepted and the pending ones.
    #[default]
    Proposed,
    /// The accepted ones.
    Accepted,
}

impl TrialHunks {
    /// The adjective for these hunks.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Accepted => "accepted",
        }
    }
}

/// What a trial runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialCommand {
    /// The test command of the settings.
    Tests,
    /// A command line.
    Line(String),
}

impl TrialCommand {
    /// The command line, or the test command of the settings if there is none.
    pub(crate) fn or_tests(line: Option<String>) -> Self {
        line.map_or(Self::Tests, Self::Line)
    }
}

/// A command to run in a trial checkout.
#[derive(Debug, Clone)]
pub struct TrialRequest {
    /// The command.
    pub command: TrialCommand,
    /// The review, with the decisions that count: its accepted hunks are applied.
    pub review: Arc<Review>,
    /// Whether to search for the smallest set of these hunks without which the command succeeds.
    pub bisects: bool,
    /// Whether the user agreed to a copy of the repository that is larger than the limit of the settings.
    pub may_copy: bool,
}

impl PartialEq for TrialRequest {
    fn eq(&self, other: &Self) -> bool {
        let parts = |request: &Self| (request.command.clone(), request.bisects, request.may_copy);
        parts(self) == parts(other) && self.review.files == other.review.files
    }
}

impl TrialRequest {
    /// Runs a command on the accepted hunks of a review.
    pub(crate) fn new(command: TrialCommand, review: Review) -> Self {
        Self { command, review: Arc::new(review), bisects: false, may_copy: false }
    }

    /// The changes of a set of the hunks, as a write would make them.
    pub fn writes(&self, hunks: &[HunkId]) -> Vec<PendingWrite> {
        self.review.with_hunks(hunks).files.iter().flat_map(pending_writes).collect()
    }
}

/// Who started a trial. The failure of a trial that the program started is sent to the model without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StartedBy {
    User,
    Program,
}

/// A trial that runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunningTrial {
    hunks: TrialHunks,
    count: usize,
    state: u64,
    command: TrialCommand,
    started_by: StartedBy,
    turns: u64,
}

/// The last trial of the review.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedTrial {
    /// The command line.
    pub line: String,
    /// What was requested.
    command: TrialCommand,
    /// The hunks that it applied.
    pub hunks: TrialHunks,
    /// Their number.
    pub count: usize,
    /// Whether the command succeeded.
    pub passed: bool,
    /// What the command said about its tests, such as "212 passed"; may be empty.
    pub summary: String,
    /// Whether files of the repository changed while it ran, so that it may be wrong.
    pub is_stale: bool,
    /// Identifies the changes.
    state: u64,
    /// The revision of the review for which `is_current` was computed last.
    checked: Cell<(u64, bool)>,
}

impl FinishedTrial {
    /// The result as a sentence without its full stop: "`cargo test`: 212 passed, with 5 accepted hunks".
    pub fn text(&self) -> String {
        let how = match (self.summary.as_str(), self.passed) {
            ("", true) => "passed".to_owned(),
            ("", false) => "failed".to_owned(),
            (summary, true) => summary.to_owned(),
            (summary, false) => format!("failed ({summary})"),
        };
        let line = self.line.lines().next().unwrap_or_default();
        format!("`{line}`: {how}, with {}", count(self.count, &format!("{} hunk", self.hunks.name())))
    }
}

/// When trials run, and when checks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrialRules {
    /// Whether the test command runs in a trial when a proposal is complete.
    pub automatic: bool,
    /// Whether a commit needs a trial of exactly its hunks that passed.
    pub required: bool,
    /// When written files are checked.
    pub verify: VerifyTime,
}

/// When checks run, relative to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerifyTime {
    /// Before it, in a trial. The tests of hunks that passed them in a trial do not run again after the write.
    #[default]
    Before,
    /// After it.
    After,
    /// Never.
    Off,
}

/// The trials of a review.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    pub(crate) rules: TrialRules,
    last: Option<FinishedTrial>,
    /// The hunks that make the command of the last search fail.
    culprits: Vec<HunkId>,
    /// The state to which `culprits` belong.
    culprits_of: u64,
    /// Whether the user refused a copy of the repository. Trials that the program would start are left out then.
    copy_refused: bool,
}

/// A trial that needs a copy of the repository which is larger than the limit of the settings.
#[derive(Debug, Clone, PartialEq)]
pub struct TooLargeCopy {
    /// What was to run.
    pub trial: TrialRequest,
    /// Why it was not run: the reason for a copy, its size, and the limit.
    pub failure: Failure,
}

/// The subject of the question whether to copy a large repository.
#[derive(Debug, Clone, PartialEq)]
pub struct CopyQuestion {
    purpose: Purpose,
    trial: TrialRequest,
}

impl Session {
    /// Runs a command on hunks that are not written.
    pub fn try_hunks(&mut self, hunks: TrialHunks, command: TrialCommand) -> Vec<Effect> {
        self.start_trial(hunks, command, StartedBy::User, false)
    }

    /// Searches for the smallest set of hunks without which the command of the last trial succeeds.
    pub fn bisect_hunks(&mut self) -> Vec<Effect> {
        let Some(last) = self.proposals.trials.last.as_ref().filter(|last| !last.passed) else {
            let hint = "Run a command on the hunks first, with /try.";
            self.report(Level::Info, "No trial of these hunks has failed.", hint);
            return Vec::new();
        };
        let (command, hunks) = (last.command.clone(), last.hunks);
        self.start_trial(hunks, command, StartedBy::User, true)
    }

    fn start_trial(
        &mut self,
        hunks: TrialHunks,
        command: TrialCommand,
        started_by: StartedBy,
        bisects: bool,
    ) -> Vec<Effect> {
        let ids = self.hunks_of(hunks);
        if ids.is_empty() {
            let (text, hint) = match hunks {
                TrialHunks::Accepted => ("Nothing is accepted, so there is nothing to try.", "Accept hunks first."),
                TrialHunks::Proposed => {
                    ("Nothing is under review, so there is nothing to try.", "/test tests the files.")
                }
            };
            self.report(Level::Info, text, hint);
            return Vec::new();
        }
        if self.is_trying() {
            self.report(Level::Info, "A trial is running already.", "Esc stops it.");
            return Vec::new();
        }
        let review = self.proposals.review.with_hunks(&ids);
        let state = state_of(&review);
        let turns = self.turns.count();
        let running = RunningTrial { hunks, count: ids.len(), state, command: command.clone(), started_by, turns };
        let trial = TrialRequest { bisects, ..TrialRequest::new(command, review) };
        let job = self.new_job(if bisects { Purpose::Bisect(running) } else { Purpose::Trial(running) });
        vec![Effect::Run(RunEffect::Try { job, trial })]
    }

    /// Starts the trial that the settings require for a complete proposal, or that repeats one whose failure was sent to the model.
    pub(crate) fn try_proposal(&mut self) -> Vec<Effect> {
        let command = match &self.proposals.retries.failed_trial {
            Some(command) => command.clone(),
            None if self.proposals.trials.rules.automatic && !self.proposals.trials.copy_refused => TrialCommand::Tests,
            None => return Vec::new(),
        };
        if self.hunks_of(TrialHunks::Proposed).is_empty() {
            return Vec::new();
        }
        self.start_trial(TrialHunks::Proposed, command, StartedBy::Program, false)
    }

    fn hunks_of(&self, hunks: TrialHunks) -> Vec<HunkId> {
        let review = &self.proposals.review;
        let is_open = |id: &HunkId| review.files.get(id.file).is_some_and(|file| !review.has_conflict(&file.path));
        let is_tried = |id: &HunkId| match hunks {
            TrialHunks::Proposed => review.decision(*id) != Decision::Rejected,
            TrialHunks::Accepted => review.hunk(*id).is_some_and(|hunk| hunk.is_partly_accepted()),
        };
        review.ids().filter(|id| is_open(id) && is_tried(id)).collect()
    }

    /// The last trial, and whether its result holds: it applied exactly the hunks that it would apply now, to files that did not change.
    pub fn trial(&self) -> Option<(&FinishedTrial, bool)> {
        let last = self.proposals.trials.last.as_ref()?;
        let revision = self.proposals.review_revision();
        if last.checked.get().0 != revision {
            last.checked.set((revision, !last.is_stale && self.state_now(last.hunks) == last.state));
        }
        Some((last, last.checked.get().1))
    }

    /// The hunks that make a command fail, as found by [`Session::bisect_hunks`]; empty once the review has changed.
    pub fn culprits(&self) -> &[HunkId] {
        let trials = &self.proposals.trials;
        let holds = !trials.culprits.is_empty() && trials.culprits_of == state_of_files(&self.proposals.review);
        if holds { &trials.culprits } else { &[] }
    }

    /// Whether a trial runs.
    pub fn is_trying(&self) -> bool {
        self.processes.has_job(|purpose| matches!(purpose, Purpose::Trial(_) | Purpose::Bisect(_)))
    }

    /// The number of the repair that the review shows, and the maximum; `None` if nothing was repaired.
    pub fn repair_round(&self) -> Option<(usize, usize)> {
        let round = self.proposals.retries.repairs;
        let is_shown = round > 0 && !self.proposals.review.is_empty();
        is_shown.then_some((round, self.processes.max_rounds().max(round)))
    }

    fn state_now(&self, hunks: TrialHunks) -> u64 {
        state_of(&self.proposals.review.with_hunks(&self.hunks_of(hunks)))
    }

    /// Whether the last trial of exactly the accepted hunks passed; `None` if there is none.
    fn accepted_passed(&self) -> Option<bool> {
        let last = self.proposals.trials.last.as_ref()?;
        let is_current = !last.is_stale && last.state == self.state_now(TrialHunks::Accepted);
        is_current.then_some(last.passed)
    }

    /// Whether the tests run after a write of the accepted hunks; `None` if nothing is checked.
    pub(super) fn tests_after_write(&self) -> Option<CheckMode> {
        let is_tested = self.accepted_passed() == Some(true)
            && self.proposals.trials.last.as_ref().is_some_and(|last| last.command == TrialCommand::Tests);
        match self.proposals.trials.rules.verify {
            VerifyTime::Before if is_tested => Some(CheckMode::Off),
            VerifyTime::Before | VerifyTime::After => Some(CheckMode::FromSettings),
            VerifyTime::Off => None,
        }
    }

    /// Asks before a write of hunks whose trial failed, or that need a trial. Returns whether it asked.
    pub(super) fn ask_about_trial(&mut self) -> bool {
        if self.proposals.commits.consent.untried {
            return false;
        }
        let commits = &self.proposals.commits;
        let commits = commits.choice.commits(!commits.off) && !self.repository.head().is_empty();
        let (title, text) = match self.accepted_passed() {
            Some(true) => return false,
            Some(false) => {
                let last = self.proposals.trials.last.as_ref().map(FinishedTrial::text).unwrap_or_default();
                ("The last trial of these hunks failed. Write them anyway?", format!("{last}."))
            }
            None if self.proposals.trials.rules.required && commits => {
                let text = "The setting commit_needs_trial is on, and no command has succeeded on exactly these hunks.";
                ("These hunks have no trial that passed. Write them anyway?", text.to_owned())
            }
            None => return false,
        };
        self.questions.withdraw(|subject| *subject == Subject::FailedTrial);
        self.ask_now(Question {
            subject: Subject::FailedTrial,
            title: title.to_owned(),
            text: format!("{text} Nothing is written before you answer."),
            choices: vec![
                Choice::new('y', "write anyway"),
                Choice::new(RUN_TRIAL, "run the trial on the accepted hunks"),
                Choice::new('n', "write nothing"),
            ],
        });
        true
    }

    /// Handles the answer to the question about a failed or missing trial.
    pub(crate) fn answer_trial(&mut self, key: char) -> Vec<Effect> {
        match key {
            'y' => {
                self.proposals.commits.consent.untried = true;
                self.continue_write()
            }
            RUN_TRIAL => {
                let last = self.proposals.trials.last.as_ref();
                let command = last.map_or(TrialCommand::Tests, |last| last.command.clone());
                self.try_hunks(TrialHunks::Accepted, command)
            }
            _ => Vec::new(),
        }
    }

    /// Asks whether to copy a repository that is larger than the limit of the settings.
    pub(crate) fn ask_about_copy(&mut self, purpose: Purpose, refused: TooLargeCopy) {
        let TooLargeCopy { trial, failure } = refused;
        let is_automatic = matches!(&purpose, Purpose::Trial(running) if running.started_by == StartedBy::Program);
        let copy = CopyQuestion { purpose, trial };
        self.questions.withdraw(|subject| matches!(subject, Subject::Process(ProcessSubject::Copy(_))));
        let question = Question {
            subject: Subject::Process(ProcessSubject::Copy(Box::new(copy))),
            title: "The repository is larger than the limit for copies. Copy it for trials?".to_owned(),
            text: format!("{} {} Nothing is copied before you answer.", failure.message, failure.hint),
            choices: vec![Choice::new('y', "copy it, in this session"), Choice::new('n', "run no trial")],
        };
        if is_automatic { self.question(question) } else { self.ask_now(question) }
    }

    /// Handles the answer to the question about a large copy.
    pub(crate) fn answer_copy(&mut self, copy: CopyQuestion, key: char) -> Vec<Effect> {
        self.proposals.trials.copy_refused = key != 'y';
        if key != 'y' {
            return Vec::new();
        }
        let job = self.new_job(copy.purpose);
        vec![Effect::Run(RunEffect::Try { job, trial: TrialRequest { may_copy: true, ..copy.trial } })]
    }

    /// Handles the end of a trial.
    pub(crate) fn trial_done(
        &mut self,
        running: RunningTrial,
        outcome: JobOutcome,
        line: String,
        output: &str,
    ) -> Vec<Effect> {
        let was_run = !line.is_empty() && !outcome.stopped && (outcome.shared.is_some() || !outcome.failed);
        if !was_run {
            return Vec::new();
        }
        let RunningTrial { hunks, count, state, started_by, turns, command } = running;
        self.withdraw_failed_trial(&command);
        let passed = !outcome.failed;
        let checked = Cell::new((u64::MAX, false));
        let summary = test_summary(output);
        let result = FinishedTrial {
            line,
            command: command.clone(),
            hunks,
            count,
            passed,
            summary,
            is_stale: outcome.is_stale,
            state,
            checked,
        };
        self.report(if passed { Level::Info } else { Level::Warning }, format!("{}.", result.text()), "");
        // Tests leave files behind that are not worth a review.
        let is_leftover = |file: &FileProposal| command == TrialCommand::Tests && file.change == FileChange::Create;
        if !outcome.changed.iter().all(is_leftover) {
            self.offer_changes(&result.line, outcome.changed.clone());
        }
        self.proposals.trials.last = Some(result);
        if passed {
            self.proposals.retries.failed_trial.take_if(|failed| *failed == command);
            return Vec::new();
        }
        let is_expected = started_by == StartedBy::Program && turns == self.turns.count();
        let may_send = is_expected && self.may_send_findings();
        self.fix_trial(outcome, command, may_send)
    }

    /// Offers to review what a command changed in a trial, such as a formatter or a code generator.
    pub(crate) fn offer_changes(&mut self, line: &str, files: Vec<FileProposal>) {
        self.questions.withdraw(|subject| matches!(subject, Subject::Process(ProcessSubject::Changes(_))));
        if files.is_empty() {
            return;
        }
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let line = line.lines().next().unwrap_or_default();
        let title = format!("`{line}` changed {} in the trial. Review that as hunks?", name_some(&paths));
        let choices = vec![Choice::new('y', "review it"), Choice::new('n', "no")];
        let subject = Subject::Process(ProcessSubject::Changes(files));
        self.question(Question { subject, title, text: String::new(), choices });
    }

    /// Puts what a command changed in a trial under review, together with the hunks that the trial applied.
    pub(crate) fn review_changes(&mut self, mut files: Vec<FileProposal>) -> Vec<Effect> {
        for file in &mut files {
            // The command started from the text with the hunks. A write starts from the file.
            if let Some(known) = self.proposals.review.files.iter().find(|known| known.path == file.path) {
                file.base.clone_from(&known.base);
                if known.change == FileChange::Create {
                    file.change = FileChange::Create;
                }
            }
        }
        let request = self.proposals.request().to_owned();
        self.proposed(request, Proposal { files, ..Proposal::default() })
    }

    /// Handles the end of a search for the hunks that make a command fail.
    pub(crate) fn bisect_done(&mut self, outcome: &JobOutcome) {
        let culprits = match &outcome.bisection {
            None => return,
            Some(Bisection::Passes) => {
                let text = "The command succeeds with all of the hunks now, so none of them makes it fail.";
                self.report(Level::Info, text, "It may fail at random, or something else has changed.");
                return;
            }
            Some(Bisection::FailsWithoutHunks) => {
                let text = "The command fails without any of the hunks as well.";
                self.report(Level::Info, text, "They are not the cause.");
                return;
            }
            Some(Bisection::Culprits(culprits)) => culprits,
        };
        let review = &self.proposals.review;
        let name = |id: &HunkId| {
            let number = review.ids().position(|other| other == *id).map_or(0, |at| at + 1);
            let path = review.files.get(id.file).map_or("", |file| file.path.as_str());
            format!("{number} ({path})")
        };
        let names = culprits.iter().map(name).collect::<Vec<_>>().join(", ");
        let text = match culprits.len() {
            1 => format!("Hunk {names} makes the command fail: without it, the command succeeds."),
            _ => format!("Hunks {names} make the command fail: without them, it succeeds."),
        };
        self.proposals.trials.culprits_of = state_of_files(review);
        self.proposals.trials.culprits.clone_from(culprits);
        if let Some(first) = culprits.first() {
            self.notices.push(Notice::ShowHunk(*first));
        }
        self.report(Level::Warning, text, "The review marks it; reject it, or comment on it and send that.");
    }
}

/// A number for the changes of the accepted hunks of a review.
fn state_of(review: &Review) -> u64 {
    let mut hasher = DefaultHasher::new();
    for file in &review.files {
        if file.composed() != Composed::Untouched {
            (&file.path, &file.base).hash(&mut hasher);
            match file.composed() {
                Composed::Text(text) => text.hash(&mut hasher),
                Composed::Deleted | Composed::Untouched => file.hunks.len().hash(&mut hasher),
            }
        }
    }
    hasher.finish()
}

/// A number for the texts of a review, whatever the decisions.
fn state_of_files(review: &Review) -> u64 {
    let mut hasher = DefaultHasher::new();
    let part = |file: &FileReview| (file.path.clone(), file.proposed.clone(), file.hunks.len());
    review.files.iter().map(part).collect::<Vec<_>>().hash(&mut hasher);
    hasher.finish()
}

/// What the output of a test runner says about the tests, such as "212 passed, 1 failed": the sums of the numbers before these words.
/// Empty if it says nothing.
fn test_summary(output: &str) -> String {
    let mut sums = [(["passed", "passing"], 0u64, false), (["failed", "failing"], 0, false)];
    for line in output.lines() {
        let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        for pair in words.windows(2) {
            let Ok(number) = pair[0].parse::<u32>() else { continue };
            for (names, sum, is_said) in &mut sums {
                if names.contains(&pair[1]) {
                    (*sum, *is_said) = (*sum + u64::from(number), true);
                }
            }
        }
    }
    let said =
        |(names, sum, is_said): &([&str; 2], u64, bool)| (*is_said && *sum > 0).then(|| format!("{sum} {}", names[0]));
    sums.iter().filter_map(said).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommitChoice, Connection, Response, RunResponse, SharedText, WritePlan};
    use rhumb_edit::review::HunkMark;

    const BASE: &str = "a\nb\nc\nd\ne\n";

    fn session() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        session.processes.set_max_rounds(2);
        session
    }

    fn propose(session: &mut Session, proposed: &str) -> Vec<Effect> {
        let file = FileProposal {
            path: "a.txt".into(),
            change: FileChange::Modify,
            base: Some(BASE.into()),
            proposed: Some(proposed.into()),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        session.handle(Response::Proposed { request: "Change it".into(), proposal })
    }

    fn hunk(number: usize) -> HunkId {
        HunkId { file: 0, hunk: number }
    }

    fn plan(commit: CommitChoice) -> WritePlan {
        WritePlan { commit, ..WritePlan::default() }
    }

    fn tried(effects: &[Effect]) -> (u64, TrialRequest) {
        let [Effect::Run(RunEffect::Try { job, trial })] = effects else { panic!("{effects:?}") };
        (*job, trial.clone())
    }

    fn line(line: &str) -> TrialCommand {
        TrialCommand::Line(line.to_owned())
    }

    /// Ends a trial. Returns the effects.
    fn end(session: &mut Session, job: u64, line: &str, failed: bool) -> Vec<Effect> {
        session.handle(Response::Ran(RunResponse::Started { job, run: job, line: line.into() }));
        let shared = SharedText { title: line.into(), text: "It says no.".into(), tokens: 3, whole: None };
        let outcome = JobOutcome { shared: Some(shared), failed, ..JobOutcome::default() };
        session.handle(Response::Ran(RunResponse::Done { job, outcome }))
    }

    fn written(request: &TrialRequest) -> Vec<Option<String>> {
        request.writes(&request.review.proposed_hunks()).into_iter().map(|write| write.content).collect()
    }

    #[test]
    fn a_trial_applies_the_hunks_that_a_write_would_write() {
        let mut session = session();
        assert!(session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests).is_empty(), "nothing is under review");
        propose(&mut session, "A\nb\nC\nd\nE\n");
        session.proposals.review.decide(hunk(0), Decision::Accepted);
        session.proposals.review.decide(hunk(1), Decision::Rejected);
        let effects = session.try_hunks(TrialHunks::Proposed, line("make"));
        let (job, request) = tried(&effects);
        assert_eq!((request.command.clone(), written(&request)), (line("make"), vec![Some("A\nb\nc\nd\nE\n".into())]));
        assert!(
            session.is_trying() && session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests).is_empty(),
            "one at a time"
        );
        end(&mut session, job, "make", false);
        let effects = session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests);
        assert_eq!(written(&tried(&effects).1), [Some("A\nb\nc\nd\ne\n".into())]);
    }

    #[test]
    fn a_result_holds_until_the_hunks_are_others() {
        let mut session = session();
        propose(&mut session, "A\nb\nC\nd\ne\n");
        let (job, _) = tried(&session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests));
        end(&mut session, job, "make", false);
        let (result, is_current) = session.trial().unwrap();
        assert_eq!((result.text().as_str(), is_current), ("`make`: passed, with 2 proposed hunks", true));
        session.proposals.review.decide(hunk(0), Decision::Accepted);
        assert!(session.trial().unwrap().1, "accepted and pending hunks are both applied");
        session.proposals.review.decide(hunk(0), Decision::Rejected);
        assert!(!session.trial().unwrap().1);
        session.proposals.review.undo();
        assert!(session.trial().unwrap().1);
    }

    #[test]
    fn hunks_whose_trial_failed_are_written_after_a_question() {
        let mut session = session();
        propose(&mut session, "A\nb\nC\nd\ne\n");
        session.proposals.review.decide_all(Decision::Accepted);
        let (job, _) = tried(&session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests));
        assert!(end(&mut session, job, "make", true).is_empty(), "the user asked for it, so the failure is offered");
        assert!(session.write_accepted().is_empty() && !session.proposals.is_writing());
        let question = session.questions.first().unwrap();
        assert_eq!(question.subject, Subject::FailedTrial);
        assert!(question.text.starts_with("`make`: failed, with 2 accepted hunks."), "{}", question.text);
        assert!(question.is_harmless('n'));
        tried(&session.answer('t'));
        assert!(session.write_accepted().is_empty());
        assert!(matches!(session.answer('y').as_slice(), [Effect::Write { .. }]));
    }

    #[test]
    fn a_later_trial_of_the_command_withdraws_the_question_about_its_failure() {
        let mut session = session();
        propose(&mut session, "A\nb\nC\nd\ne\n");
        let mut run = |line: Option<&str>, failed| {
            let (job, _) =
                tried(&session.try_hunks(TrialHunks::Proposed, TrialCommand::or_tests(line.map(str::to_owned))));
            end(&mut session, job, "make", failed);
            session.questions.iter().count()
        };
        assert_eq!(run(None, true), 1);
        assert_eq!(run(Some("make lint"), false), 1, "that is another command");
        assert_eq!(run(None, true), 1);
        assert_eq!(run(None, false), 0);
    }

    #[test]
    fn other_hunks_than_those_that_failed_are_written_without_a_question() {
        let mut session = session();
        propose(&mut session, "A\nb\nC\nd\ne\n");
        let (job, _) = tried(&session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests));
        end(&mut session, job, "make", true);
        session.proposals.review.decide(hunk(0), Decision::Accepted);
        session.proposals.review.decide(hunk(1), Decision::Rejected);
        assert!(matches!(session.write_accepted().as_slice(), [Effect::Write { .. }]));
    }

    #[test]
    fn a_commit_can_require_a_trial() {
        let mut session = session();
        session.proposals.set_trial_rules(TrialRules { required: true, ..TrialRules::default() });
        session.handle(Response::Head("main".into()));
        propose(&mut session, "A\nb\nc\nd\ne\n");
        session.proposals.review.decide_all(Decision::Accepted);
        assert!(session.write_accepted().is_empty());
        assert_eq!(session.questions.first().unwrap().subject, Subject::FailedTrial);
        let (job, _) = tried(&session.answer('t'));
        end(&mut session, job, "make", false);
        assert!(matches!(session.write_accepted().as_slice(), [Effect::Write { .. }]));
    }

    fn commit_choice(effects: &[Effect]) -> CommitChoice {
        let [Effect::Write { commit, .. }] = effects else { panic!("{effects:?}") };
        commit.choice
    }

    #[test]
    fn the_choice_about_the_commit_outlives_the_question_about_the_trial() {
        let mut session = session();
        propose(&mut session, "A\nb\nc\nd\ne\n");
        session.proposals.review.decide_all(Decision::Accepted);
        let (job, _) = tried(&session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests));
        end(&mut session, job, "make", true);
        assert!(session.write_planned(plan(CommitChoice::NoCommit)).is_empty());
        assert_eq!(commit_choice(&session.answer('y')), CommitChoice::NoCommit);
    }

    #[test]
    fn only_a_write_that_is_committed_requires_a_trial() {
        for (auto_commit, choice, asks) in [
            (true, CommitChoice::NoCommit, false),
            (true, CommitChoice::BySetting, true),
            (false, CommitChoice::BySetting, false),
            (false, CommitChoice::Commit, true),
        ] {
            let mut session = session();
            session.proposals.set_trial_rules(TrialRules { required: true, ..TrialRules::default() });
            session.proposals.set_commits(auto_commit);
            session.handle(Response::Head("main".into()));
            propose(&mut session, "A\nb\nc\nd\ne\n");
            session.proposals.review.decide_all(Decision::Accepted);
            let effects = session.write_planned(plan(choice));
            assert_eq!(effects.is_empty(), asks, "{auto_commit} {choice:?}");
            let effects = if asks { session.answer('y') } else { effects };
            assert_eq!(commit_choice(&effects), choice);
        }
    }

    #[test]
    fn a_consent_to_failed_hunks_ends_with_its_write() {
        let not_written = || Response::NotWritten { failure: Failure::new("disk full", ""), stale: Vec::new() };
        for response in [Response::BreaksSyntax(Vec::new()), Response::NotRecorded("full".into()), not_written()] {
            let mut session = session();
            propose(&mut session, "A\nb\nC\nd\ne\n");
            for hunk in [hunk(0), hunk(1)] {
                session.proposals.review.decide(hunk, Decision::Accepted);
                let (job, _) = tried(&session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests));
                end(&mut session, job, "make", true);
                assert!(session.write_accepted().is_empty(), "it asks after {response:?}");
                assert_eq!(session.questions.first().unwrap().subject, Subject::FailedTrial);
                commit_choice(&session.answer('y'));
                session.handle(response.clone());
                session.answer('n');
            }
        }
    }

    #[test]
    fn an_automatic_trial_sends_its_failures_until_the_rounds_are_used_up() {
        let mut session = session();
        session.proposals.set_trial_rules(TrialRules { automatic: true, ..TrialRules::default() });
        let (job, _) = tried(&propose(&mut session, "A\nb\nc\nd\ne\n"));
        let effects = end(&mut session, job, "make", true);
        let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(spec.draft.starts_with("It says no.") && spec.draft.contains("not written yet"), "{}", spec.draft);
        assert_eq!(session.repair_round(), Some((1, 2)));
        session.turns.cancel();
        let effects = propose(&mut session, "B\nb\nc\nd\ne\n");
        assert_eq!(session.proposals.review.files[0].hunks[0].marks, [HunkMark::Round(1)]);
        let (job, _) = tried(&effects);
        assert!(matches!(end(&mut session, job, "make", true).as_slice(), [Effect::Ask(_)]));
        session.turns.cancel();
        let (job, _) = tried(&propose(&mut session, "C\nb\nc\nd\ne\n"));
        assert!(end(&mut session, job, "make", true).is_empty(), "two rounds were used");
        assert_eq!(session.questions.len(), 1, "now it is offered");
    }

    #[test]
    fn a_draft_of_the_user_keeps_a_failure_from_being_sent() {
        let mut session = session();
        session.proposals.set_trial_rules(TrialRules { automatic: true, ..TrialRules::default() });
        let (job, _) = tried(&propose(&mut session, "A\nb\nc\nd\ne\n"));
        session.draft_changed("I am typing");
        assert!(end(&mut session, job, "make", true).is_empty());
        assert_eq!(session.questions.len(), 1);
    }

    #[test]
    fn hunks_that_passed_the_tests_are_not_tested_again_after_the_write() {
        for (verify, passed, checks) in [
            (VerifyTime::Before, true, Some(CheckMode::Off)),
            (VerifyTime::Before, false, Some(CheckMode::FromSettings)),
            (VerifyTime::After, true, Some(CheckMode::FromSettings)),
            (VerifyTime::Off, false, None),
        ] {
            let mut session = session();
            session.proposals.set_trial_rules(TrialRules { verify, ..TrialRules::default() });
            propose(&mut session, "A\nb\nc\nd\ne\n");
            session.proposals.review.decide_all(Decision::Accepted);
            if passed {
                let (job, _) = tried(&session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests));
                end(&mut session, job, "make", false);
            }
            session.write_accepted();
            let written = crate::Written { paths: vec!["a.txt".into()], ..crate::Written::default() };
            let effects = session.handle(Response::Wrote(written));
            let tests = effects.iter().find_map(|effect| match effect {
                Effect::Run(RunEffect::Check { check, .. }) => Some(check.test),
                _ => None,
            });
            assert_eq!(tests, checks, "{verify:?} {passed}");
        }
    }

    #[test]
    fn tests_that_are_repeated_from_a_question_count_as_tests() {
        let mut session = session();
        propose(&mut session, "A\nb\nc\nd\ne\n");
        session.proposals.review.decide_all(Decision::Accepted);
        let (job, _) = tried(&session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests));
        end(&mut session, job, "make test", true);
        assert_eq!(session.questions.len(), 1, "the failure is offered");
        assert!(session.write_accepted().is_empty());
        let (job, request) = tried(&session.answer('t'));
        assert_eq!(request.command, TrialCommand::Tests);
        end(&mut session, job, "make test", false);
        assert!(session.questions.is_empty(), "the failure holds no longer");
        session.write_accepted();
        assert_eq!(session.tests_after_write(), Some(CheckMode::Off));
    }

    #[test]
    fn a_result_on_files_that_changed_meanwhile_does_not_count() {
        let mut session = session();
        session.proposals.set_trial_rules(TrialRules { required: true, ..TrialRules::default() });
        session.handle(Response::Head("main".into()));
        propose(&mut session, "A\nb\nc\nd\ne\n");
        session.proposals.review.decide_all(Decision::Accepted);
        let (job, _) = tried(&session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests));
        session.handle(Response::Ran(RunResponse::Started { job, run: job, line: "make".into() }));
        let outcome = JobOutcome { is_stale: true, ..JobOutcome::default() };
        session.handle(Response::Ran(RunResponse::Done { job, outcome }));
        assert!(session.trial().is_some_and(|(last, holds)| last.passed && !holds));
        assert!(session.write_accepted().is_empty(), "the write asks for a trial");
    }

    #[test]
    fn hunks_with_which_the_command_succeeds_are_not_blamed() {
        let mut session = session();
        propose(&mut session, "A\nb\nc\nd\ne\n");
        let (job, _) = tried(&session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests));
        end(&mut session, job, "make", true);
        let (job, _) = tried(&session.bisect_hunks());
        let outcome = JobOutcome { bisection: Some(Bisection::Passes), ..JobOutcome::default() };
        session.handle(Response::Ran(RunResponse::Done { job, outcome }));
        assert!(session.culprits().is_empty());
    }

    #[test]
    fn a_failed_trial_is_repeated_until_its_own_command_passes() {
        let mut session = session();
        propose(&mut session, "A\nb\nc\nd\ne\n");
        let (job, _) = tried(&session.try_hunks(TrialHunks::Proposed, line("make test")));
        end(&mut session, job, "make test", true);
        session.answer('y');
        session.turns.cancel();
        let (job, _) = tried(&session.try_hunks(TrialHunks::Proposed, line("make lint")));
        end(&mut session, job, "make lint", false);
        let (_, request) = tried(&propose(&mut session, "B\nb\nc\nd\ne\n"));
        assert_eq!(request.command, line("make test"));
    }

    #[test]
    fn the_hunks_that_fail_are_marked_until_the_texts_change() {
        let mut session = session();
        propose(&mut session, "A\nb\nC\nd\ne\n");
        assert!(session.bisect_hunks().is_empty(), "no trial has failed");
        let (job, _) = tried(&session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests));
        end(&mut session, job, "make", true);
        let effects = session.bisect_hunks();
        let (job, request) = tried(&effects);
        assert!(request.bisects && request.command == TrialCommand::Tests);
        let outcome = JobOutcome { bisection: Some(Bisection::Culprits(vec![hunk(1)])), ..JobOutcome::default() };
        session.handle(Response::Ran(RunResponse::Done { job, outcome }));
        assert_eq!(session.culprits(), [hunk(1)]);
        assert!(format!("{:?}", session.transcript.last()).contains("Hunk 2 (a.txt) makes the command fail"));
        assert_eq!(session.take_notices().pop_back(), Some(Notice::ShowHunk(hunk(1))));
        session.proposals.review.decide(hunk(1), Decision::Rejected);
        assert_eq!(session.culprits(), [hunk(1)]);
        session.proposals.review.edit(hunk(1), "D\n");
        assert!(session.culprits().is_empty());
    }

    #[test]
    fn what_a_command_changed_can_be_reviewed_with_the_hunks() {
        let mut session = session();
        propose(&mut session, "A\nb\nc\nd\ne\n");
        session.proposals.review.decide_all(Decision::Accepted);
        let (job, _) = tried(&session.try_hunks(TrialHunks::Accepted, line("fmt")));
        session.handle(Response::Ran(RunResponse::Started { job, run: job, line: "fmt".into() }));
        let changed = |path: &str, change, base: Option<&str>, proposed: &str| FileProposal {
            path: path.into(),
            change,
            base: base.map(Into::into),
            proposed: Some(proposed.into()),
        };
        let files = vec![
            changed("a.txt", FileChange::Modify, Some("A\nb\nc\nd\ne\n"), "A\nb\nc\nd\nE\n"),
            changed("new.txt", FileChange::Create, None, "new\n"),
        ];
        let outcome = JobOutcome { changed: files, ..JobOutcome::default() };
        session.handle(Response::Ran(RunResponse::Done { job, outcome }));
        assert_eq!(
            session.questions.first().unwrap().title,
            "`fmt` changed a.txt, new.txt in the trial. Review that as hunks?"
        );
        session.answer('y');
        let review = &session.proposals.review;
        assert_eq!((review.files.len(), review.files[0].hunks.len()), (2, 2));
        assert_eq!(review.files[0].base.as_deref(), Some(BASE));
        assert_eq!(review.decision(hunk(0)), Decision::Accepted, "the hunk of the model keeps its decision");
        assert_eq!(review.decision(hunk(1)), Decision::Pending);
    }

    #[test]
    fn a_large_repository_is_copied_only_after_a_yes() {
        let refused = |session: &mut Session, effects: &[Effect]| {
            let (job, trial) = tried(effects);
            assert!(!trial.may_copy);
            let too_large = TooLargeCopy { trial, failure: Failure::new("5 GB are more than 2 GB.", "") };
            let outcome = JobOutcome { failed: true, too_large: Some(Box::new(too_large)), ..JobOutcome::default() };
            assert!(session.handle(Response::Ran(RunResponse::Done { job, outcome })).is_empty());
            let question = session.questions.first().unwrap();
            assert!(question.is_harmless('n') && question.text.starts_with("5 GB are more than 2 GB."));
        };
        let mut session = session();
        propose(&mut session, "A\nb\nc\nd\ne\n");
        let effects = session.try_hunks(TrialHunks::Proposed, line("make"));
        refused(&mut session, &effects);
        let (job, again) = tried(&session.answer('y'));
        assert!(again.may_copy && again.command == line("make") && session.is_trying());
        end(&mut session, job, "make", false);
        assert!(session.trial().unwrap().0.passed);

        session.proposals.trials.rules.automatic = true;
        let effects = propose(&mut session, "B\nb\nc\nd\ne\n");
        refused(&mut session, &effects);
        assert!(session.answer('n').is_empty() && !session.is_trying());
        assert!(propose(&mut session, "C\nb\nc\nd\ne\n").is_empty(), "the program does not ask again");
        let effects = session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests);
        refused(&mut session, &effects);
    }

    #[test]
    fn a_command_that_was_not_run_has_no_result() {
        let mut session = session();
        propose(&mut session, "A\nb\nc\nd\ne\n");
        let (job, _) = tried(&session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests));
        let outcome = JobOutcome { failed: true, ..JobOutcome::default() };
        session.handle(Response::Ran(RunResponse::Done { job, outcome }));
        assert!(session.trial().is_none() && session.questions.is_empty());
    }

    #[test]
    fn the_numbers_of_test_runners_are_added() {
        let cargo = "test result: ok. 12 passed; 0 failed; 1 ignored\n\ntest result: FAILED. 3 passed; 2 failed;\n";
        assert_eq!(test_summary(cargo), "15 passed, 2 failed");
        assert_eq!(test_summary("===== 212 passed in 3.2s ====="), "212 passed");
        assert_eq!(test_summary("  7 passing (20ms)\n  1 failing\n"), "7 passed, 1 failed");
        assert_eq!(test_summary("ok  \texample.com/pkg\t0.01s\n"), "");
    }
}
