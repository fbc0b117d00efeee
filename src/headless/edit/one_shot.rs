//! The front end of one request: performs the effects of the session, prints events, and answers questions.

use super::out::{Out, prompt_json};
use super::out::{UNREADABLE, cause, incomplete, user_error};
use super::{EditArgs, print, print_json};
use crate::error::{ErrorKind, UserError};
use crate::headless::event::{FileEvent, HunkEvent, TurnEvent};
use crate::headless::report::{as_diff, ask_each, is_editing, outcome_line, warn_of_faults, yes_or_no};
use crate::headless::trial::TrialCommand;
use crate::headless::undo::may_go_unrecorded;
use crate::headless::{print_message, print_with_hint};
use crate::host::{Host, HostMessage, ModelClient, unsendable};
use crate::signals::{EXIT_BY_SIGNAL, SIGINT, Signal, Signals};
use rhumb_edit::review::{Decision, Review};
use rhumb_edit::{Proposal, Status};
use rhumb_llm::{Completion, StreamEvent};
use rhumb_session::{
    AgentEnd, AskError, AskEvent, CodebaseResponse, Committed, Effect, Entry, GitEffect, GitResponse, Level,
    MentionEffect, PendingWrite, ProcessSubject, RequestSpec, Response, RunResponse, Session, Subject, SurveyState,
    ToolState, ToolUse, WriteSummary, Written, name_some, pending_writes,
};
use rhumb_text::sanitize;
use rhumb_workspace::Root;
use rhumb_workspace::process::quoted;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What the front end of one request works with.
pub(super) struct OneShotSetup<'a> {
    pub(super) args: &'a EditArgs,
    pub(super) root: &'a Root,
    /// A session in which nothing was sent.
    pub(super) session: Session,
    pub(super) host: Host,
    pub(super) client: ModelClient,
    /// The messages of the host.
    pub(super) reports: mpsc::Receiver<HostMessage>,
    pub(super) signals: Signals,
    pub(super) out: Out,
    /// The command of `--try`: hunks are written only if it succeeds in a trial checkout.
    pub(super) trial: Option<Arc<TrialCommand>>,
}

pub(super) struct OneShot<'a> {
    args: &'a EditArgs,
    root: &'a Root,
    session: Session,
    host: Host,
    client: ModelClient,
    reports: mpsc::Receiver<HostMessage>,
    signals: Signals,
    out: Out,
    /// The request that is printed and not sent.
    shown: Option<Box<RequestSpec>>,
    trial: Option<Arc<TrialCommand>>,
    has_surveyed: bool,
    /// The number of printed entries of the transcript.
    printed: usize,
    /// The model that answers: that of `client`, or the editor model.
    model: String,
    answer: StreamingAnswer,
    /// Whether two parts of an answer were joined inside an edit and may not fit.
    has_doubtful_seam: bool,
    /// Whether the current response reports a failed or incomplete answer.
    has_failed: bool,
    /// The newest proposal, until it is decided on.
    proposal: Option<Proposal>,
    asked: WriteQuestion,
    /// The last write, whose commit is awaited.
    uncommitted: Option<(Written, WriteSummary)>,
    agent: AgentProgress,
    outcome: OneShotOutcome,
}

/// What was printed of an agent loop.
#[derive(Default)]
struct AgentProgress {
    /// The number of calls whose event was printed, and the numbers of those whose result was printed.
    calls: usize,
    results: BTreeSet<usize>,
    step: usize,
    /// Whether its proposal was not decided on yet.
    is_undecided: bool,
}

#[derive(Default)]
struct StreamingAnswer {
    text: String,
    /// Whether the spending cap ended it.
    capped: bool,
}

/// Details that a question of the session about a write has only in its text.
#[derive(Default)]
struct WriteQuestion {
    own_changes: Vec<String>,
    unrecorded: String,
}

/// The result of the request so far.
#[derive(Default)]
struct OneShotOutcome {
    /// The exit code, unless there is an error.
    code: u8,
    error: Option<UserError>,
    /// The exit code, if the command exits at once.
    leaving: Option<u8>,
    /// All files written, and the last commit.
    written: Written,
    /// Whether the last check of written files failed.
    check_failed: bool,
    stopped_by: Option<u8>,
}

/// More calls than one answer can have.
const MAX_CALLS: usize = 1_000;

impl<'a> OneShot<'a> {
    pub(super) fn new(setup: OneShotSetup<'a>) -> Self {
        let OneShotSetup { args, root, session, host, client, reports, signals, out, trial } = setup;
        Self {
            args,
            root,
            printed: session.settled_entries(),
            session,
            host,
            model: client.model.clone(),
            client,
            reports,
            signals,
            out,
            shown: None,
            trial,
            has_surveyed: false,
            answer: StreamingAnswer::default(),
            has_doubtful_seam: false,
            has_failed: false,
            proposal: None,
            asked: WriteQuestion::default(),
            uncommitted: None,
            agent: AgentProgress { is_undecided: args.agent, ..AgentProgress::default() },
            outcome: OneShotOutcome::default(),
        }
    }

    /// Sends the message and runs until all work is done. Returns the exit code.
    ///
    /// # Errors
    /// The request could not be sent, there is no complete answer, nothing could be written, or standard output is closed.
    pub(super) async fn run(mut self, message: &str) -> Result<u8, UserError> {
        self.begin(message).await?;
        let result = self.follow_up().await;
        self.out.end_countdown();
        self.host.end_commands();
        match result {
            Err(error) => Err(error),
            Ok(()) if self.outcome.leaving.is_some() => Ok(self.outcome.leaving.unwrap_or_default()),
            Ok(()) => self.finish(),
        }
    }

    /// Reads the repository, then sends the message.
    async fn begin(&mut self, message: &str) -> Result<(), UserError> {
        self.perform(vec![Effect::Survey])?;
        while self.session.survey() != SurveyState::Done && self.outcome.leaving.is_none() {
            self.next().await?;
        }
        self.warn_of_unsent_files(message);
        let mode = self.args.mode();
        self.session.note_addresses(message);
        let (sent, effects) = self.session.send_in_mode(message, mode);
        if !sent {
            let notice = self.session.transcript().iter().rev().find_map(|entry| match entry {
                Entry::Status(notice) => Some((notice.text.clone(), notice.hint.clone())),
                _ => None,
            });
            let (text, hint) = notice.unwrap_or_default();
            return Err(UserError::new(ErrorKind::Usage, text, hint));
        }
        self.perform(effects)
    }

    /// Warns that files named without `@` are not sent. The app offers to add them.
    fn warn_of_unsent_files(&self, message: &str) {
        let unsent = self.session.files_mentioned_outside_chat(message);
        if let Some(first) = unsent.first() {
            let text = format!(
                "The request mentions {}; the model sees only what the repo map shows of it.",
                name_some(&unsent)
            );
            print_with_hint(&text, &format!("Add it with --file {}, or write @{first} in the request.", quoted(first)));
        }
    }

    async fn follow_up(&mut self) -> Result<(), UserError> {
        loop {
            self.settle().await?;
            if let Some(error) = self.outcome.error.take() {
                if self.agent.is_undecided {
                    self.print_agent_proposal()?;
                }
                return Err(error);
            }
            if self.outcome.leaving.is_some() {
                return Ok(());
            }
            if !self.session.questions().is_empty() {
                self.answer_question()?;
            } else if self.agent.is_undecided && self.session.agent_end().is_some() {
                self.agent.is_undecided = false;
                self.decide_agent().await?;
            } else if let Some(proposal) = self.proposal.take() {
                self.decide(proposal).await?;
            } else {
                return Ok(());
            }
        }
    }

    /// Handles responses until nothing is running, or the agent loop waits for the answer to a question.
    async fn settle(&mut self) -> Result<(), UserError> {
        let asks = |session: &Session| {
            session.questions().iter().any(|question| matches!(question.subject, Subject::Agent(_)))
        };
        while self.is_busy() && self.outcome.leaving.is_none() && self.shown.is_none() && !asks(&self.session) {
            self.next().await?;
        }
        Ok(())
    }

    fn is_busy(&self) -> bool {
        self.session.is_busy() || self.session.commits().pending > 0 || self.session.processes().is_running()
    }

    async fn next(&mut self) -> Result<(), UserError> {
        tokio::select! {
            biased;
            signal = self.signals.next() => match signal {
                Signal::Fatal(number) => self.interrupted(number),
                Signal::Stop | Signal::Continued | Signal::Resized => Ok(()),
            },
            Some(message) = self.reports.recv() => match message.into_response() {
                Some(response) => self.report(response),
                None => Ok(()),
            },
        }
    }

    /// Handles a signal: a write is finished, a commit is made without waiting for its message, checks are stopped, and in all other
    /// states the command exits.
    fn interrupted(&mut self, number: u8) -> Result<(), UserError> {
        if self.session.commits().pending > 0 {
            return self.perform(vec![Effect::Git(GitEffect::FlushPendingCommits)]);
        }
        let is_loop = self.session.is_agent_running();
        if (self.session.processes().is_running() && !is_loop) || self.session.is_writing() {
            self.outcome.stopped_by = Some(number);
            let effects = self.session.stop_command();
            return self.perform(effects);
        }
        self.outcome.leaving = Some(EXIT_BY_SIGNAL + number);
        Ok(())
    }

    /// Performs effects, except those that serve only panes, file watching and saved sessions.
    fn perform(&mut self, effects: Vec<Effect>) -> Result<(), UserError> {
        for effect in effects {
            match effect {
                Effect::Survey if self.has_surveyed => {}
                Effect::Survey => {
                    self.has_surveyed = true;
                    self.host.execute(Effect::Survey);
                }
                Effect::Ask(order) if self.args.show_prompt => self.shown = Some(order),
                Effect::Run(_) if self.outcome.stopped_by.is_some() && !self.session.processes().is_running() => {}
                Effect::Mention(MentionEffect::LookUp { .. })
                | Effect::Ask(_)
                | Effect::Cancel
                | Effect::Summarize { .. }
                | Effect::CancelSummary
                | Effect::Propose { .. }
                | Effect::Write { .. }
                | Effect::Codebase(_)
                | Effect::Git(_)
                | Effect::Agent(_)
                | Effect::Run(_) => {
                    self.host.execute(effect);
                }
                Effect::StopIndexing
                | Effect::ResumeIndexing
                | Effect::WatchFiles(_)
                | Effect::WatchComments(_)
                | Effect::Measure(_)
                | Effect::Undo(_)
                | Effect::Reread(_)
                | Effect::CopyPrompt(_)
                | Effect::FindServers
                | Effect::Connect { .. }
                | Effect::UseModel(_)
                | Effect::Connecting(_)
                | Effect::Notify(_)
                | Effect::Mention(_)
                | Effect::Lookup(_)
                | Effect::Index(_)
                | Effect::Persist(_)
                | Effect::Fetch(_) => {}
            }
        }
        Ok(())
    }

    fn report(&mut self, mut report: Response) -> Result<(), UserError> {
        self.has_failed = false;
        self.before(&mut report)?;
        let effects = self.session.handle(report);
        if self.session.is_agent_running() {
            // The loop sends the request in another form.
            self.outcome.error = None;
        }
        // The error of an answer was printed, or is the error of the command.
        self.print_entries(self.has_failed)?;
        self.print_tools()?;
        self.perform(effects)
    }

    /// Prints a response before the session handles it.
    fn before(&mut self, report: &mut Response) -> Result<(), UserError> {
        match report {
            Response::Asked { event, .. } => self.asked(event),
            Response::Ended { result, .. } => self.ended(result),
            Response::Proposed { proposal, .. } => {
                if self.args.yes {
                    proposal.refuse_doubtful_names();
                }
                self.proposal = Some(proposal.clone());
                Ok(())
            }
            Response::NotProposed(Some(failure)) | Response::NotWritten { failure, .. } => {
                let (message, hint) = (failure.message.clone(), failure.hint.clone());
                self.outcome.error = Some(UserError::new(ErrorKind::Machine, message, hint));
                Ok(())
            }
            Response::Wrote(written) => {
                let summary = WriteSummary::new(self.session.review(), &written.paths);
                self.wrote(written.clone(), summary)
            }
            Response::NotRecorded(cause) => {
                self.asked.unrecorded.clone_from(cause);
                Ok(())
            }
            Response::Git(GitResponse::UncommittedChanges(paths)) => {
                self.asked.own_changes.clone_from(paths);
                Ok(())
            }
            Response::Git(GitResponse::Committed(committed)) => self.committed(committed),
            Response::Ran(report) => self.ran(report),
            Response::Codebase(CodebaseResponse::Status { step, .. }) => {
                self.out.event(&TurnEvent::Status { text: step.to_string() })
            }
            Response::Codebase(CodebaseResponse::Found { found, .. }) => self.out.passages(&found.locations),
            _ => Ok(()),
        }
    }

    fn asked(&mut self, event: &AskEvent) -> Result<(), UserError> {
        match event {
            AskEvent::Stream(StreamEvent::Text(text)) => self.answer.text.push_str(text),
            AskEvent::Stream(StreamEvent::Retract) => self.answer.text.clear(),
            AskEvent::DoubtfulSeam => self.has_doubtful_seam = true,
            AskEvent::CutByCap | AskEvent::PastTheCap => self.answer.capped = true,
            AskEvent::Editor { model, .. } => self.model.clone_from(model),
            _ => {}
        }
        let facts = &self.client.facts;
        self.out.asked(&self.model, facts, event)
    }

    /// Handles the end of an answer. An error ends the request, unless there is a proposal already: then it is only printed.
    fn ended(&mut self, result: &Result<Completion, AskError>) -> Result<(), UserError> {
        self.out.end_countdown();
        let StreamingAnswer { text, capped } = std::mem::take(&mut self.answer);
        // The answer may have ended in the middle of a line.
        if !self.out.json && !text.is_empty() {
            print("\n")?;
        }
        let edits = self.session.turn().is_some_and(|turn| turn.mode.edits());
        let consequence = if edits { ", so nothing of it was applied" } else { "" };
        let failed = match result {
            Err(error) => Some((cause(error), user_error(error, !text.is_empty(), consequence))),
            Ok(completion) => incomplete(completion, &text, consequence, capped),
        };
        self.has_failed = failed.is_some();
        let Some((cause, error)) = failed else { return Ok(()) };
        self.out.event(&TurnEvent::Failed { why: cause })?;
        let follows = self.proposal.is_some() || !self.outcome.written.paths.is_empty();
        if follows {
            print_with_hint(&error.message, &error.hint);
        } else {
            self.outcome.error = Some(error);
        }
        Ok(())
    }

    fn print_entries(&mut self, without_notices: bool) -> Result<(), UserError> {
        let entries = self.session.transcript().get(self.printed..).unwrap_or_default();
        let mut again = Vec::new();
        for entry in entries {
            match entry {
                Entry::Status(notice) if without_notices || notice.level == Level::Info && self.out.json => {}
                Entry::Status(notice) => print_message(&notice.text),
                Entry::FollowUp { text, round, of, .. } => again.push((text.clone(), *round, *of)),
                _ => {}
            }
        }
        self.printed = self.session.settled_entries();
        for (text, round, of) in again {
            print_message(&format!("the model is asked again, round {round} of {of}"));
            let looks_up = self.session.turn().is_some_and(|turn| turn.asks_codebase());
            if !looks_up {
                self.out.event(&TurnEvent::Again { round, of, text })?;
            }
        }
        Ok(())
    }

    /// Prints tool calls and results that are new.
    fn print_tools(&mut self) -> Result<(), UserError> {
        let tools: Vec<ToolUse> = self
            .session
            .transcript()
            .iter()
            .rev()
            // All calls before the oldest one that is shown have ended.
            .filter_map(|entry| match entry {
                Entry::Tool(tool) => Some(tool),
                _ => None,
            })
            .take_while(|tool| !self.agent.results.contains(&tool.number) || tool.number + MAX_CALLS > self.agent.calls)
            .filter(|tool| !self.agent.results.contains(&tool.number))
            .cloned()
            .collect();
        for tool in tools.into_iter().rev() {
            let arguments =
                || serde_json::from_str(&tool.call.arguments).unwrap_or_else(|_| tool.call.arguments.clone().into());
            let (id, name) = (tool.call.id.clone(), tool.call.name.clone());
            if tool.number > self.agent.calls {
                self.agent.calls = tool.number;
                if tool.step != self.agent.step {
                    self.agent.step = tool.step;
                    self.out.event(&TurnEvent::Step { step: tool.step })?;
                }
                self.out.event(&TurnEvent::ToolCall { id: id.clone(), name: name.clone(), arguments: arguments() })?;
            }
            if !tool.is_over() {
                continue;
            }
            self.agent.results.insert(tool.number);
            let ok = tool.state == ToolState::Done;
            if !self.out.json {
                let (name, summary) = tool.description();
                let mark = if ok { "✓" } else { "✗" };
                let line = format!("step {}: {mark} {name} {summary}: {}", tool.step, tool.outcome);
                print_message(&sanitize::visible_line(&line));
            }
            let (tokens, ms, text) = (tool.tokens, tool.ms, tool.result.clone());
            self.out.event(&TurnEvent::ToolResult { id, name, arguments: arguments(), ok, tokens, ms, text })?;
            if tool.description().0 == "plan" && ok {
                let items = serde_json::to_value(self.session.agent_plan()).unwrap_or_default();
                self.out.event(&TurnEvent::Plan { items })?;
            }
        }
        Ok(())
    }

    /// The changes of the agent loop as a proposal.
    fn agent_proposal(&self) -> Proposal {
        let files = self.session.review().pending_changes().into_iter().map(|pending| pending.file).collect();
        Proposal { files, ..Proposal::default() }
    }

    /// Prints the proposal of an agent loop of which nothing is written.
    fn print_agent_proposal(&self) -> Result<(), UserError> {
        let proposal = self.agent_proposal();
        if proposal.files.is_empty() { Ok(()) } else { self.out.diff(&as_diff(&proposal)) }
    }

    /// Decides on the proposal of the agent loop, and writes what is accepted.
    async fn decide_agent(&mut self) -> Result<(), UserError> {
        // Edits in the last answer are in the review too.
        self.proposal = None;
        let review = self.session.review();
        let files = review.files.iter().map(|file| FileEvent { path: file.path.clone(), hunks: file.hunks.len() });
        let files: Vec<FileEvent> = files.collect();
        let is_empty = files.is_empty();
        self.out.event(&TurnEvent::Proposal { files })?;
        let end = self.session.agent_end().cloned();
        if let Some(AgentEnd::Stopped(stop)) = &end {
            self.out.event(&TurnEvent::Cap { text: stop.to_string() })?;
            self.outcome.code = ErrorKind::Incomplete.exit_code();
            return self.print_agent_proposal();
        }
        if end != Some(AgentEnd::Finished) {
            self.outcome.code = ErrorKind::Incomplete.exit_code();
            return self.print_agent_proposal();
        }
        if is_empty {
            return Ok(());
        }
        if self.args.dry_run || (!self.args.yes && !self.asks()) {
            return self.print_agent_proposal();
        }
        self.write_decided().await
    }

    fn answer_question(&mut self) -> Result<(), UserError> {
        let Some(question) = self.session.questions().first() else { return Ok(()) };
        let last = question.choices.last().map_or('n', |choice| choice.key);
        let key = match &question.subject {
            Subject::UncommittedChanges if !self.asks() => Some('n'),
            Subject::UncommittedChanges => {
                ask_about_own_changes(&self.asked.own_changes).map(|first| if first { 'y' } else { 'n' })
            }
            // The user was asked or warned when the hunks were decided.
            Subject::BreaksSyntax(_) => Some('y'),
            Subject::NotRecorded => may_go_unrecorded(&self.asked.unrecorded, self.asks())?.then_some('y'),
            Subject::Process(ProcessSubject::Fix(_)) if self.session.may_repair() => Some('y'),
            _ => Some(last),
        };
        match key {
            Some(key) => {
                let effects = self.session.answer(key);
                self.perform(effects)
            }
            None => {
                self.session.withdraw_questions();
                self.quit();
                Ok(())
            }
        }
    }

    fn asks(&self) -> bool {
        use std::io::IsTerminal as _;
        !self.args.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    fn quit(&mut self) {
        print_message("you quit, so nothing of this proposal is written");
        self.outcome.code = 1;
    }

    /// Decides on the newest proposal, and writes what is accepted.
    async fn decide(&mut self, proposal: Proposal) -> Result<(), UserError> {
        if self.args.yes && self.has_doubtful_seam {
            let text =
                "nothing was applied: two parts of the answer meet inside an edit, and it is uncertain that they fit";
            let hint = "Review the hunks without --yes, or ask for less at once.";
            return Err(UserError::new(ErrorKind::Incomplete, text, hint));
        }
        for (index, outcome) in proposal.outcomes.iter().enumerate() {
            self.out.event(&TurnEvent::Hunk(HunkEvent::new(outcome, &proposal)))?;
            if !self.out.json {
                print_message(&outcome_line(index + 1, outcome, &proposal));
            }
        }
        let refused = proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused);
        if refused || proposal.outcomes.is_empty() {
            self.outcome.code = 1;
        }
        if proposal.outcomes.is_empty() {
            return Ok(());
        }
        if self.args.dry_run || (!self.args.yes && !self.asks()) {
            return self.out.diff(&as_diff(&proposal));
        }
        self.write_decided().await
    }

    /// Has the hunks decided, and writes the accepted ones.
    async fn write_decided(&mut self) -> Result<(), UserError> {
        if !self.decide_hunks().await {
            self.quit();
            return Ok(());
        }
        let counts = self.session.review().counts();
        if counts.rejected > 0 || !self.session.review().has_accepted() {
            self.outcome.code = 1;
        }
        if !self.session.review().has_accepted() {
            return Ok(());
        }
        if !self.succeeds_in_trial().await? {
            return Ok(());
        }
        let effects =
            if self.args.no_journal { self.session.write_unrecorded() } else { self.session.write_accepted() };
        self.perform(effects)
    }

    /// Whether the command of `--try` succeeds with the accepted hunks, or there is none.
    async fn succeeds_in_trial(&mut self) -> Result<bool, UserError> {
        let Some(trial) = &self.trial else { return Ok(true) };
        let writes: Vec<PendingWrite> = self.session.review().files.iter().flat_map(pending_writes).collect();
        let tried = trial.run(&writes, &mut self.signals).await?;
        self.out.event(&TurnEvent::Try { r#try: tried.event() })?;
        if tried.succeeded() {
            return Ok(true);
        }
        self.outcome.leaving = tried.interrupted_by.map(|number| EXIT_BY_SIGNAL + number);
        print_message(&format!("nothing of this proposal is written, because {}", tried.reason()));
        self.outcome.code = 1;
        Ok(false)
    }

    /// Decides each hunk, by `--yes` or by asking on the terminal. False if the user quit.
    async fn decide_hunks(&mut self) -> bool {
        if self.args.yes {
            self.session.review_mut().decide_all(Decision::Accepted);
            warn_of_faults(self.session.review());
            return true;
        }
        let mut review: Review = std::mem::take(self.session.review_mut());
        let folder = self.root.path().to_owned();
        let editor = self.host.editor();
        let asking = tokio::task::spawn_blocking(move || {
            let goes_on = ask_each(&mut review, &folder, editor.as_deref());
            (review, goes_on)
        });
        tokio::pin!(asking);
        loop {
            tokio::select! {
                asked = &mut asking => {
                    let Ok((review, goes_on)) = asked else { return false };
                    *self.session.review_mut() = review;
                    return goes_on;
                }
                signal = self.signals.next() => match signal {
                    // The editor has the terminal and handles Ctrl-C.
                    Signal::Fatal(SIGINT) if is_editing() => {}
                    Signal::Fatal(number) => {
                        self.outcome.leaving = Some(EXIT_BY_SIGNAL + number);
                        return false;
                    }
                    Signal::Stop | Signal::Continued | Signal::Resized => {}
                },
            }
        }
    }

    fn wrote(&mut self, written: Written, summary: WriteSummary) -> Result<(), UserError> {
        if written.commit_follows {
            self.uncommitted = Some((written, summary));
            return Ok(());
        }
        self.out.written(&written, &summary)?;
        self.add_written(written);
        Ok(())
    }

    fn committed(&mut self, committed: &Committed) -> Result<(), UserError> {
        let Some((mut written, summary)) = self.uncommitted.take() else { return Ok(()) };
        written.commit = committed.commit.as_ref().map(|(id, _)| id.clone());
        written.own_commit.clone_from(&committed.own_commit);
        self.out.written(&written, &summary)?;
        self.add_written(written);
        Ok(())
    }

    fn add_written(&mut self, written: Written) {
        let all = &mut self.outcome.written;
        all.paths.extend(written.paths);
        all.commit = written.commit.or(all.commit.take());
    }

    /// Prints the progress of the commands of a check.
    fn ran(&mut self, report: &RunResponse) -> Result<(), UserError> {
        match report {
            RunResponse::Started { line, .. } => {
                if !self.out.json {
                    print_message(&format!("$ {line}"));
                }
                // The events of a tool call say more.
                if self.session.is_agent_running() {
                    return Ok(());
                }
                self.out.event(&TurnEvent::CheckBegan { line: line.clone() })
            }
            RunResponse::Output { live, .. } => {
                if !self.out.json {
                    // Standard error may be closed, and the failure cannot be reported elsewhere.
                    let _ = std::io::stderr().write_all(sanitize::visible(&live.text).as_bytes());
                }
                Ok(())
            }
            // The session reports it.
            RunResponse::Note(_) => Ok(()),
            RunResponse::Ended { .. } if self.session.is_agent_running() => Ok(()),
            RunResponse::Ended { run, end, seconds, .. } => match end {
                Ok(end) => self.out.check_ended(self.session.line_of_run(*run), *end, *seconds),
                Err(_) => Ok(()),
            },
            RunResponse::Done { outcome, .. } => {
                self.outcome.check_failed = outcome.failed;
                let text = outcome.shared.as_ref().map(|shared| shared.text.clone());
                let event = TurnEvent::Checked {
                    failed: outcome.failed,
                    stopped: outcome.stopped,
                    checks: outcome.checks.clone(),
                    text,
                };
                if let Some(number) = self.outcome.stopped_by.filter(|_| outcome.stopped) {
                    print_message("the checks were stopped");
                    self.outcome.leaving = Some(EXIT_BY_SIGNAL + number);
                }
                self.out.event(&event)
            }
        }
    }

    fn finish(&mut self) -> Result<u8, UserError> {
        let OneShotOutcome { written, check_failed, code, .. } = &mut self.outcome;
        written.paths.sort();
        written.paths.dedup();
        self.out.done(written)?;
        if *check_failed {
            print_message("the written files still fail their checks");
            *code = (*code).max(1);
        }
        Ok(*code)
    }

    /// Prints the request to standard output and sends nothing. The exit code is 0, or 2 if the request could not be sent
    /// unchanged.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(super) async fn show_prompt(mut self, message: &str) -> Result<u8, UserError> {
        self.begin(message).await?;
        self.settle().await?;
        let Some(order) = self.shown.take() else { return Ok(ErrorKind::Usage.exit_code()) };
        let view = self.host.clone().composed_now(*order).await;
        if self.args.json {
            print_json(&prompt_json(&view.prompt))?
        } else {
            print(&view.prompt.render())?
        }
        let Some(failure) = unsendable(&view) else { return Ok(0) };
        let hint = if view.unreadable.is_empty() { &failure.hint } else { UNREADABLE };
        print_with_hint(&failure.message, hint);
        Ok(ErrorKind::Usage.exit_code())
    }
}

/// Asks on the terminal whether the user's own changes to these files are committed first; `None` if the user quit.
fn ask_about_own_changes(paths: &[String]) -> Option<bool> {
    let names: Vec<_> = paths.iter().map(|path| sanitize::visible_line(path)).collect();
    let question = format!("You have uncommitted changes in {}: commit them first", names.join(", "));
    let help = "y - commit your changes separately, then write and commit the hunks\n\
                n - write the hunks and leave the commit to you\n\
                q - quit and write nothing";
    yes_or_no(&question, help)
}
