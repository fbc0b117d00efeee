//! Commands of the agent loop, in the trial checkout with the proposal so far.

use super::CallResult;
use crate::host::verify::{CommandEvent, how};
use crate::host::{Host, changes_of, environment, masks};
use rhumb_agent::{Action, Keep};
use rhumb_session::{AgentView, Origin, PendingCall, PendingWrite, RunPolicy, ToolOutcome, pending_writes};
use rhumb_trial::{Network, RunOptions, Trial};
use rhumb_workspace::process::{CommandLine, StopHandle, matches_pattern};
use std::fmt::Write as _;
use std::time::Duration;

/// Maximum number of changed files that a result names.
const MAX_NAMED_FILES: usize = 10;

/// A command of the model.
pub(super) struct Command {
    pub(super) line: String,
    pub(super) network: bool,
    /// Seconds.
    pub(super) timeout: Option<u64>,
    pub(super) job: u64,
    /// Whether the user has allowed it.
    pub(super) is_approved: bool,
}

impl Command {
    /// The command of a call, if it is one.
    pub(super) fn of(call: &PendingCall) -> Option<Self> {
        let Action::Run { command, network, timeout } = &call.action else { return None };
        let (line, network, timeout) = (command.clone(), *network, *timeout);
        Some(Self { line, network, timeout, job: call.job, is_approved: call.is_approved })
    }
}

impl Host {
    /// Whether the settings allow a command in any trial checkout.
    fn is_allowed(&self, command: &Command) -> bool {
        let patterns = &self.shared.env.settings.allow;
        !command.network && patterns.iter().any(|pattern| matches_pattern(&command.line, pattern))
    }

    /// Why a command must be approved by the user; `None` if it may run.
    pub(super) fn needs_approval(&self, command: &Command, policy: RunPolicy) -> Option<String> {
        if policy == RunPolicy::All || self.is_allowed(command) {
            return None;
        }
        let mut reasons = Vec::new();
        if policy == RunPolicy::Ask {
            reasons.push("The setting agent_run asks about every command.".to_owned());
        }
        if command.network {
            reasons.push("It gets the whole network.".to_owned());
        }
        let network = self.network_of(command);
        match self.with_trial(|trial| trial.probe(network)).flatten() {
            Ok(isolation) if isolation.is_confined() || (command.network && isolation.missing.is_empty()) => {}
            Ok(isolation) => reasons.push(format!("The isolation is not complete: {}.", isolation.missing.join("; "))),
            Err(error) => reasons.push(format!("No trial checkout is possible here: {error}.")),
        }
        (!reasons.is_empty()).then(|| reasons.join(" "))
    }

    /// What a command may reach: nothing, servers of this machine if the settings allow it in trials, or everything if it asks.
    fn network_of(&self, command: &Command) -> Network {
        match (command.network, self.shared.env.settings.trial_network) {
            (true, _) => Network::Full,
            (false, Network::None) => Network::None,
            (false, _) => Network::Loopback,
        }
    }

    pub(super) fn run_in_trial(&self, command: &Command, view: &AgentView, stop: &StopHandle) -> CallResult {
        let result = self.with_trial(|trial| self.run_command_in(trial, command, view, stop));
        result
            .map_err(|error| error.to_string())
            .flatten()
            .unwrap_or_else(|reason| CallResult::new(false, format!("The command was not run: {reason}.")))
    }

    fn run_command_in(
        &self,
        trial: &mut Trial,
        command: &Command,
        view: &AgentView,
        stop: &StopHandle,
    ) -> Result<CallResult, String> {
        let env = &self.shared.env;
        let line = &command.line;
        let writes: Vec<PendingWrite> = view.review.files.iter().flat_map(pending_writes).collect();
        let changes = changes_of(&self.shared.root, &writes).map_err(|error| error.to_string())?;
        let limit = env.settings.command_timeout;
        let options = RunOptions {
            network: self.network_of(command),
            must_mount: !command.is_approved && view.run != RunPolicy::All && !self.is_allowed(command),
            time_limit: Some(command.timeout.map_or(limit, |seconds| Duration::from_secs(seconds).min(limit))),
            environment: environment(env, Origin::Model),
            masks: masks(env),
            ..RunOptions::new(CommandLine::Shell(line.clone()))
        };
        if command.is_approved {
            // The question named the size of the copy.
            trial.set_max_copy_bytes(u64::MAX);
        }
        let mut on_event = self.event_sender(command.job);
        on_event(CommandEvent::Began { line });
        let mut watch = |live, took: Duration| on_event(CommandEvent::Said { live, took });
        let result = trial.run(&changes, &options, stop, &mut || Ok(None), &mut watch);
        let ended = match &result {
            Ok(result) => Ok(&result.outcome),
            Err(error) => Err(rhumb_session::Failure::new(format!("{error}."), "")),
        };
        on_event(CommandEvent::Ended { result: ended });
        let result = result.map_err(|error| error.to_string())?;
        let ended = &result.outcome;
        let mut text = format!("The command {}.\n{}", how(ended.end, ended.took), ended.output.text);
        if !result.changed.is_empty() {
            let names: Vec<&str> = result.changed.iter().take(MAX_NAMED_FILES).map(|file| file.path.as_str()).collect();
            let more = if result.changed.len() > MAX_NAMED_FILES { " and others" } else { "" };
            let _ = write!(
                text,
                "\n[The command changed {}{more} in its copy. The proposal does not contain that.]",
                names.join(", ")
            );
        }
        if !result.stale.is_empty() {
            let _ = write!(text, "\n[{} changed on disk meanwhile.]", result.stale.join(", "));
        }
        let passed = ended.end.is_success();
        let summary = how(ended.end, ended.took);
        let outcome = ToolOutcome { run: Some((line.clone(), passed)), ..ToolOutcome::default() };
        Ok(CallResult { keep: Keep::HeadAndTail, summary, outcome, ..CallResult::new(passed, text) })
    }
}
