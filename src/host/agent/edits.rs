//! Edits of the agent loop: located like those of an answer, on top of the proposal so far.

use super::CallResult;
use crate::host::{Host, propose};
use rhumb_agent::Action;
use rhumb_edit::{Edit, EditFormat, Flag, FormatChoice, Outcome, ParsedReply, PendingChanges, Status, Strategy, parse};
use rhumb_session::{AgentView, ToolOutcome};
use rhumb_text::count;
use std::fmt::Write as _;

impl Host {
    /// Locates the edits of a call.
    pub(super) fn edit(&self, action: &Action, view: &AgentView) -> CallResult {
        let edits = match action {
            Action::Edit { path, search, replace } => vec![Edit::replace(path, search, replace)],
            Action::WriteFile { path, content } => vec![Edit::write(path, content)],
            Action::DeleteFile { path } => vec![Edit::delete(path)],
            Action::ApplyPatch { patch } => parse(patch, FormatChoice::Only(EditFormat::Patch)).edits,
            _ => Vec::new(),
        };
        if edits.is_empty() {
            return CallResult::new(false, "The patch has no edits. It must be in the V4A format.");
        }
        let parsed = ParsedReply { edits, ..ParsedReply::default() };
        let pending = PendingChanges { files: view.pending.clone(), refused: Vec::new() };
        let survey = self.shared.survey.borrow().clone();
        let paths: Vec<String> = survey.iter().flat_map(|survey| &survey.files).map(|file| file.path.clone()).collect();
        let mut proposal = propose::propose_parsed(&pending, &self.shared.root, &paths, parsed);
        proposal.refuse_doubtful_names();
        let outcomes = [proposal.outcomes.as_slice(), &proposal.repeated].concat();
        let ok = outcomes.iter().all(|outcome| outcome.status == Status::Applied);
        let text = outcomes.iter().map(told).collect::<Vec<_>>().join("\n");
        let lines: usize = outcomes.iter().map(|outcome| outcome.replacement.lines().count()).sum();
        let summary = if ok { count(lines, "line") } else { "refused".to_owned() };
        let outcome = ToolOutcome { proposal: Some(proposal), ..ToolOutcome::default() };
        CallResult { summary, outcome, ..CallResult::new(ok, text) }
    }
}

/// The outcome of an edit, for the model.
fn told(outcome: &Outcome) -> String {
    let path = &outcome.path;
    if outcome.status == Status::Refused {
        let mut text = format!("{path}: refused: {}.", outcome.reason.trim_end_matches('.'));
        for excerpt in &outcome.nearest {
            let _ =
                write!(text, "\nNearest lines, from line {}:\n{}", excerpt.line, excerpt.text.trim_end_matches('\n'));
        }
        return text;
    }
    let how = match outcome.strategy {
        Some(Strategy::Created) => "will be created".to_owned(),
        Some(Strategy::Deleted) => "will be deleted".to_owned(),
        Some(Strategy::Renamed) => "will be renamed".to_owned(),
        Some(Strategy::Whole) => "will be replaced as a whole".to_owned(),
        Some(Strategy::Unchanged) => "nothing changes: the file has this text already".to_owned(),
        strategy => {
            let place = match outcome.lines {
                Some((first, last)) if first == last => format!("edited at line {first} of the file on disk"),
                Some((first, last)) => format!("edited at lines {first}-{last} of the file on disk"),
                None => "edited".to_owned(),
            };
            match strategy {
                Some(Strategy::Exact) | None => place,
                Some(strategy) => format!("{place} ({strategy} match: check it)"),
            }
        }
    };
    let mut text = format!("{path}: {how}.");
    if !outcome.reason.is_empty() {
        let _ = write!(text, " {}.", outcome.reason.trim_end_matches('.'));
    }
    for (flag, warning) in [
        (Flag::SyntaxError, "The file does not parse any more with this edit."),
        (Flag::Generated, "The file is generated or vendored."),
        (Flag::Ignored, "The repository ignores this file."),
    ] {
        if outcome.flags.contains(&flag) {
            let _ = write!(text, " {warning}");
        }
    }
    text
}
