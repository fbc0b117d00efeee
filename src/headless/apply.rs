//! `rhumb apply`: applies a model's reply to files, without the app.

use super::args::ApplyArgs;
use super::index::blocked;
use super::report::{as_diff, as_json, ask_each, outcome_line, warn_of_faults};
use super::trial::{TrialCommand, Tried, run_now};
use super::undo::{journal, may_go_unrecorded, report_recovered};
use super::{path_under, print_exactly, print_json, print_message, print_with_hint, read_input};
use crate::config::Settings;
use crate::error::{ErrorKind, UserError};
use crate::host::{RequestEnv, WriteOutcome, propose_alone, write};
use crate::signals::EXIT_BY_SIGNAL;
use rhumb_edit::review::{Decision, Review};
use rhumb_edit::{FormatChoice, Outcome, Proposal, Status};
use rhumb_llm::strip_thinking;
use rhumb_session::{ChatFile, PendingWrite, WriteSummary, Written, pending_writes};
use rhumb_text::count;
use rhumb_workspace::{Journal, ReadError, Root};
use serde_json::json;
use std::io::IsTerminal as _;
use std::sync::Arc;

/// Applies the reply; with `--try` only if its command succeeds. `settings` are needed only for `--try`. The exit code is 0 if all of it was
/// applied, 1 if some was refused, 2 without an edit.
///
/// # Errors
/// The reply cannot be read or has no edit, nothing may be written without `--yes`, or a file cannot be written.
pub fn apply(root: &Root, settings: Option<Settings>, args: &ApplyArgs) -> Result<u8, UserError> {
    let format = args.format.as_deref().unwrap_or("auto").parse();
    let format = format.map_err(|error| UserError::new(ErrorKind::Usage, error, ""))?;
    // The reasoning of a model is not part of its answer.
    let reply = strip_thinking(&read_input(&args.reply)?);
    let journal = journal(root);
    if !args.dry_run {
        report_recovered(root, journal.as_ref());
    }
    let env = RequestEnv::new(settings.unwrap_or_default());
    let trial =
        args.try_command.as_deref().map(|line| TrialCommand::of_flag(root, &env, line, args.try_network, args.json));
    let mut proposal = located(root, args, &reply, format);
    if proposal.outcomes.is_empty() {
        let hint = "It must hold search/replace blocks, a unified diff, whole files or a patch.";
        return Err(UserError::new(ErrorKind::Usage, "there is no edit in the reply", hint));
    }
    if args.yes {
        proposal.refuse_doubtful_names();
    }
    if args.atomic {
        all_or_none(&mut proposal);
    }
    let may_write = if args.dry_run { Ok(false) } else { permission(args) };
    let done = match may_write {
        Ok(true) => decide_and_write(root, journal.as_ref(), trial.as_ref(), args, &mut proposal),
        Ok(false) => Done::default(),
        Err(error) => {
            withdraw(&mut proposal, &[], &error.message);
            Done { failure: Some(error), ..Done::default() }
        }
    };
    print_result(args, &proposal, &done)?;
    let mut outcomes = proposal.outcomes.iter();
    if let Some(number) = done.tried.as_ref().and_then(|tried| tried.interrupted_by) {
        return Ok(EXIT_BY_SIGNAL + number);
    }
    match done.failure {
        Some(error) => Err(error),
        None => Ok(u8::from(done.rejected > 0 || outcomes.any(|outcome| outcome.status == Status::Refused))),
    }
}

fn located(root: &Root, args: &ApplyArgs, reply: &str, format: FormatChoice) -> Proposal {
    let chat_file = |name: &String| ChatFile { path: path_under(root, name), read_only: false };
    let chat: Vec<ChatFile> = args.files.iter().map(chat_file).collect();
    // Without `--file`, any file of the root may be changed.
    propose_alone(root, Some(&*chat).filter(|chat| !chat.is_empty()), reply, format)
}

/// Whether files may be written: with `--yes`, or on a terminal.
fn permission(args: &ApplyArgs) -> Result<bool, UserError> {
    if args.yes || (std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && args.reply.as_os_str() != "-")
    {
        return Ok(true);
    }
    let hint = "Add --yes to write, or --dry-run to see what would be done.";
    Err(UserError::new(ErrorKind::Usage, "nothing was written: there is no terminal to ask on", hint))
}

/// With `--atomic`, one refused hunk withdraws all others.
fn all_or_none(proposal: &mut Proposal) {
    if proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused) {
        withdraw(proposal, &[], "not applied, because another hunk of the reply was refused (--atomic)");
    }
}

/// Marks applied outcomes as refused and removes their files from the proposal, except files in `kept`.
fn withdraw(proposal: &mut Proposal, kept: &[&str], reason: &str) {
    let withdrawn = |outcome: &&mut Outcome| outcome.status == Status::Applied && !kept.contains(&&*outcome.path);
    for outcome in proposal.outcomes.iter_mut().filter(withdrawn) {
        outcome.status = Status::Refused;
        outcome.strategy = None;
        reason.clone_into(&mut outcome.reason);
    }
    proposal.files.retain(|file| kept.contains(&&*file.path));
}

/// The result of applying hunks.
#[derive(Default)]
struct Done {
    accepted: usize,
    rejected: usize,
    /// The written and the refused changes, in words; empty if nothing was written.
    summary: String,
    /// The command of `--try`, if it was run.
    tried: Option<Tried>,
    failure: Option<UserError>,
}

fn decide_and_write(
    root: &Root,
    journal: Option<&Journal>,
    trial: Option<&Arc<TrialCommand>>,
    args: &ApplyArgs,
    proposal: &mut Proposal,
) -> Done {
    let mut review = Review::new(proposal.clone());
    if args.yes {
        review.decide_all(Decision::Accepted);
        warn_of_faults(&review);
    } else if !ask_each(&mut review, root.path(), None) {
        withdraw(proposal, &[], "not applied, because you quit");
        return Done::default();
    }
    let writes: Vec<PendingWrite> = review.files.iter().flat_map(pending_writes).collect();
    mark_rejected(&review, proposal);
    let counts = review.counts();
    let mut done = Done { accepted: counts.accepted, rejected: counts.rejected, ..Done::default() };
    if done.accepted == 0 || writes.is_empty() {
        return done;
    }
    match trial.map(|trial| blocked(run_now(trial, &writes)).flatten()) {
        Some(Ok(tried)) if !tried.succeeded() => {
            withdraw(proposal, &[], &format!("not applied, because {}", tried.reason()));
            return Done { tried: Some(tried), ..Done::default() };
        }
        Some(Err(failure)) => {
            withdraw(proposal, &[], &failure.message);
            return Done { failure: Some(failure), ..Done::default() };
        }
        Some(Ok(tried)) => done.tried = Some(tried),
        None => {}
    }
    match written(root, journal.filter(|_| !args.no_journal), args, &writes) {
        Ok(None) => {
            withdraw(proposal, &[], "not applied, because you quit");
            Done::default()
        }
        Ok(Some(written)) => {
            written.notes.iter().for_each(|note| print_with_hint(&note.message, &note.hint));
            let summary = WriteSummary::new(&review, &written.paths).text(&written, false);
            Done { summary, ..done }
        }
        Err(failure) => {
            let kept = still_written(root, &writes);
            withdraw(proposal, &kept, &failure.message);
            let accepted = review.files.iter().filter(|file| kept.contains(&&*file.path));
            Done { accepted: accepted.map(|file| file.counts().accepted).sum(), failure: Some(failure), ..done }
        }
    }
}

/// Writes without a commit; `None` if the user declines to write without a journal.
fn written(
    root: &Root,
    journal: Option<&Journal>,
    args: &ApplyArgs,
    writes: &[PendingWrite],
) -> Result<Option<Written>, UserError> {
    let outcome = write(root, journal, writes, None);
    match outcome.map_err(|(failure, _)| UserError::new(ErrorKind::Machine, failure.message, failure.hint))? {
        WriteOutcome::NotRecorded(cause) if may_go_unrecorded(&cause, !args.yes)? => written(root, None, args, writes),
        WriteOutcome::Written(written, _) => Ok(Some(written)),
        WriteOutcome::NotRecorded(_) | WriteOutcome::UncommittedChanges(_) => Ok(None),
    }
}

/// The files that were written, after a failed write: usually none, because a failed write is undone.
fn still_written<'a>(root: &Root, writes: &'a [PendingWrite]) -> Vec<&'a str> {
    let stands = |order: &&PendingWrite| match (rhumb_workspace::read(root, &order.path), &order.content) {
        (Ok(snapshot), Some(content)) => *snapshot.text == **content,
        (Err(ReadError::NotFound(_)), None) => true,
        _ => false,
    };
    writes.iter().filter(stands).map(|order| &*order.path).collect()
}

/// Marks edits as refused if the user rejected their hunk.
fn mark_rejected(review: &Review, proposal: &mut Proposal) {
    for file in &review.files {
        let all = file.counts().accepted == 0;
        let rejected = file.hunks.iter().filter(|hunk| hunk.decision() == Decision::Rejected);
        let rejected: Vec<_> = rejected.map(|hunk| &hunk.hunk).collect();
        let applied = |outcome: &&mut Outcome| outcome.path == file.path && outcome.status == Status::Applied;
        for outcome in proposal.outcomes.iter_mut().filter(applied) {
            if all || rejected.iter().any(|hunk| outcome.touches(hunk)) {
                outcome.status = Status::Refused;
                outcome.reason = "rejected by the user".into();
            }
        }
    }
}

fn print_result(args: &ApplyArgs, proposal: &Proposal, done: &Done) -> Result<(), UserError> {
    if args.json {
        let mut object = as_json(proposal);
        if let (Some(tried), Some(fields)) = (&done.tried, object.as_object_mut()) {
            fields.insert("try".to_owned(), json!(tried.event()));
        }
        return print_json(&object);
    }
    for (index, outcome) in proposal.outcomes.iter().enumerate() {
        print_message(&outcome_line(index + 1, outcome, proposal));
    }
    if args.dry_run {
        return print_exactly(&as_diff(proposal));
    }
    match done.summary.as_str() {
        "" => print_message(&format!("Wrote {}.", count(done.accepted, "hunk"))),
        summary => print_message(summary),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPLY: &str = "a.py\n```\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n```\n\n\
                         b.py\n```\n<<<<<<< SEARCH\none\n=======\ntwo\n>>>>>>> REPLACE\n```\n";

    #[test]
    fn after_a_failed_write_the_files_that_stand_are_told_as_written() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["a.py", "b.py"] {
            std::fs::write(dir.path().join(path), "one\n").unwrap();
        }
        let root = Root::at(dir.path()).unwrap();
        let mut proposal = propose_alone(&root, Some(&[]), REPLY, FormatChoice::Auto);
        assert_eq!(proposal.files.len(), 2, "{proposal:?}");
        let order = |path: &str, content: Option<&str>| PendingWrite {
            path: path.into(),
            expected: None,
            content: content.map(Into::into),
            renamed_from: None,
        };
        let writes = [order("a.py", Some("two\n")), order("b.py", Some("two\n")), order("gone.py", None)];
        std::fs::write(dir.path().join("a.py"), "two\n").unwrap();
        let kept = still_written(&root, &writes);
        assert_eq!(kept, ["a.py", "gone.py"]);
        withdraw(&mut proposal, &kept, "the disk is full");
        let told: Vec<_> = proposal.outcomes.iter().map(|it| (&*it.path, it.status, &*it.reason)).collect();
        assert_eq!(told[0].0, "a.py");
        assert_eq!(told[0].1, Status::Applied);
        assert_eq!(told[1], ("b.py", Status::Refused, "the disk is full"));
        assert_eq!(proposal.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), ["a.py"]);
    }
}
