//! `rhumb apply`: a model's reply applied to files, without the app.

use std::io::IsTerminal as _;
use std::sync::atomic::AtomicBool;

use super::args::ApplyArgs;
use super::report::{as_diff, as_json, ask_each, outcome_line};
use super::{complain, print, print_json, read_input};
use crate::edit::{FormatChoice, Outcome, Proposal, Status};
use crate::error::{ErrorKind, UserError};
use crate::review::{Decision, Review};
use crate::session::runner::{propose, write};
use crate::session::{ChatFile, WriteOrder, write_orders};
use crate::workspace::{self, Root};

/// Applies the reply. The exit code is 0 when all of it was applied, 1 when some was refused, 2 without an edit.
///
/// # Errors
/// The reply cannot be read or holds no edit; nothing may be written without `--yes`; the disk refuses.
pub fn apply(root: &Root, args: &ApplyArgs) -> Result<u8, UserError> {
    let format = format_choice(args.format.as_deref())?;
    let reply = read_input(&args.reply)?;
    let mut proposal = located(root, args, &reply, format);
    if proposal.outcomes.is_empty() {
        let hint = "It must hold search/replace blocks, a unified diff, whole files or a patch.";
        return Err(UserError::new(ErrorKind::Usage, "there is no edit in the reply", hint));
    }
    if args.atomic {
        all_or_none(&mut proposal);
    }
    let may_write = if args.dry_run { Ok(false) } else { permission(args) };
    let done = match may_write {
        Ok(true) => decide_and_write(root, args, &mut proposal),
        Ok(false) => Done::default(),
        Err(error) => {
            withdraw(&mut proposal, |_| true, &error.message);
            Done { failure: Some(error), ..Done::default() }
        }
    };
    tell(args, &proposal, done.accepted)?;
    let mut outcomes = proposal.outcomes.iter();
    match done.failure {
        Some(error) => Err(error),
        None => Ok(u8::from(done.rejected > 0 || outcomes.any(|outcome| outcome.status == Status::Refused))),
    }
}

fn format_choice(name: Option<&str>) -> Result<FormatChoice, UserError> {
    name.unwrap_or("auto").parse().map_err(|error| UserError::new(ErrorKind::Usage, error, ""))
}

fn located(root: &Root, args: &ApplyArgs, reply: &str, format: FormatChoice) -> Proposal {
    let listing = workspace::files(root, &AtomicBool::new(false), &mut |_| {});
    let all: Vec<String> = listing.files.into_iter().map(|file| file.path).collect();
    // Without a name, any file of the root is meant.
    let named = if args.files.is_empty() { &all } else { &args.files };
    let chat: Vec<ChatFile> = named.iter().map(|path| ChatFile { path: path.clone(), read_only: false }).collect();
    propose(root, &all, &chat, reply, format)
}

/// Whether the files may be written: `--yes`, or somebody to ask.
fn permission(args: &ApplyArgs) -> Result<bool, UserError> {
    if args.yes || (std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && args.reply.as_os_str() != "-")
    {
        return Ok(true);
    }
    let hint = "Add --yes to write, or --dry-run to see what would be done.";
    Err(UserError::new(ErrorKind::Usage, "nothing was written: there is no terminal to ask on", hint))
}

/// With `--atomic`, one refusal withdraws all the rest.
fn all_or_none(proposal: &mut Proposal) {
    if proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused) {
        withdraw(proposal, |_| true, "not applied, because another hunk of the reply was refused (--atomic)");
    }
}

/// Turns applied outcomes into refused ones and takes their files out of the proposal.
fn withdraw(proposal: &mut Proposal, which: impl Fn(&Outcome) -> bool, reason: &str) {
    for outcome in proposal.outcomes.iter_mut().filter(|outcome| outcome.status == Status::Applied && which(outcome)) {
        outcome.status = Status::Refused;
        outcome.strategy = None;
        reason.clone_into(&mut outcome.reason);
    }
    proposal.files.clear();
}

/// What became of the hunks.
#[derive(Default)]
struct Done {
    accepted: usize,
    rejected: usize,
    failure: Option<UserError>,
}

/// Asks where there is somebody to ask, and writes.
fn decide_and_write(root: &Root, args: &ApplyArgs, proposal: &mut Proposal) -> Done {
    let mut review = Review::new(proposal.clone());
    if args.yes {
        review.decide_all(Decision::Accepted);
    } else {
        ask_each(&mut review);
    }
    mark_rejected(&review, proposal);
    let counts = review.counts();
    let done = Done { accepted: counts.accepted, rejected: counts.rejected, failure: None };
    let orders: Vec<WriteOrder> = review.files.iter().flat_map(write_orders).collect();
    if orders.is_empty() {
        return done;
    }
    match write(root, &orders, "", false) {
        Ok(_) => done,
        Err((failure, _)) => {
            withdraw(proposal, |_| true, &failure.message);
            Done {
                accepted: 0,
                failure: Some(UserError::new(ErrorKind::Machine, failure.message, failure.hint)),
                ..done
            }
        }
    }
}

/// Edits whose hunk the user rejected count as refused.
fn mark_rejected(review: &Review, proposal: &mut Proposal) {
    for file in &review.files {
        let all = file.counts().accepted == 0;
        let rejected = file.hunks.iter().filter(|hunk| hunk.decision == Decision::Rejected);
        let places: Vec<_> = rejected.map(|hunk| hunk.hunk.base.clone()).collect();
        // The lines of an outcome count from 1 and both belong to it; a hunk that only adds stands between two lines.
        let touched = |(first, last): (usize, usize)| {
            places.iter().any(|place| {
                let between = usize::from(place.is_empty());
                place.start < last + between && place.end + between >= first
            })
        };
        let applied = |outcome: &&mut Outcome| outcome.path == file.path && outcome.status == Status::Applied;
        for outcome in proposal.outcomes.iter_mut().filter(applied) {
            if all || outcome.lines.is_some_and(touched) {
                outcome.status = Status::Refused;
                outcome.reason = "rejected by the user".into();
            }
        }
    }
}

fn tell(args: &ApplyArgs, proposal: &Proposal, accepted: usize) -> Result<(), UserError> {
    if args.json {
        return print_json(&as_json(proposal));
    }
    for (index, outcome) in proposal.outcomes.iter().enumerate() {
        complain(&outcome_line(index + 1, outcome));
    }
    if args.dry_run {
        return print(&as_diff(proposal));
    }
    let noun = if accepted == 1 { "hunk" } else { "hunks" };
    complain(&format!("{accepted} {noun} written"));
    Ok(())
}
