//! Flags for the reviewer of each hunk, in addition to how its edits were located. A flag refuses nothing.

pub(crate) mod auto_run;
mod hosts;
pub(crate) mod syntax;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use crate::elision::{self, Lines};
use crate::locate::normalize::{self, normalize};
use crate::outcome::{Flag, Status};
use crate::proposal::{FileProposal, Files, Proposal};
use auto_run::runs_later;

/// A hunk with flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HunkFlags {
    /// The file, as in [`FileProposal::path`].
    pub path: String,
    /// The hunk.
    pub hunk: Hunk,
    /// The flags, sorted.
    pub flags: Vec<Flag>,
}

/// Adds flags to every hunk of a proposal, and to the edits that made it. A refused edit gets the flags that do not
/// depend on its location. Each file is parsed at most twice.
pub fn add_flags(proposal: &mut Proposal, files: &dyn Files) {
    let named = proposal.files.iter().flat_map(FileProposal::names);
    proposal.links = named.filter_map(|name| Some((name.to_owned(), files.stored_at(name)?))).collect();
    proposal.flags = proposal.files.iter().flat_map(|file| flags_of(file, &proposal.links, files)).collect();
    for file in &proposal.files {
        let flagged = proposal.flags.iter().filter(|flagged| flagged.path == file.path);
        let is_one = file.is_one_hunk();
        for flagged in flagged {
            let behind = proposal.outcomes.iter_mut().filter(|outcome| {
                file.has_name(&outcome.path)
                    && if is_one { outcome.status == Status::Applied } else { outcome.may_have_made(&flagged.hunk) }
            });
            behind.for_each(|outcome| {
                outcome.flags.extend(&flagged.flags);
                outcome.flags.sort_unstable();
                outcome.flags.dedup();
            });
        }
    }
    for outcome in proposal.outcomes.iter_mut().filter(|outcome| outcome.status == Status::Refused) {
        outcome.flags.extend(flags_of_refused(&outcome.path, &outcome.replacement, files));
        outcome.flags.sort_unstable();
        outcome.flags.dedup();
    }
}

/// The flags of an edit without a location.
fn flags_of_refused(path: &str, replacement: &str, files: &dyn Files) -> Vec<Flag> {
    let mut flags = Vec::new();
    // Paths outside the root and protected paths are not read.
    if path.is_empty() || !files.exists(path) {
        return flags;
    }
    let leads = files.stored_at(path);
    if runs_later_by_any_name([path].into_iter().chain(leads.as_deref()), files) {
        flags.push(Flag::RunsLater);
    }
    let base = files.read(path).ok().flatten().unwrap_or_default();
    let lines = lines::split(replacement);
    if hosts::names_new_host(&hosts::hosts(&base).collect(), &lines, &(0..lines.len())) {
        flags.push(Flag::NewAddress);
    }
    flags
}

/// Whether tools run a file automatically under one of its names, or under the name of a link to it.
fn runs_later_by_any_name<'a>(mut names: impl Iterator<Item = &'a str>, files: &dyn Files) -> bool {
    names.any(|name| runs_later(name) || files.linked_from(name).iter().any(|link| runs_later(link)))
}

/// The flagged hunks of a file.
fn flags_of(file: &FileProposal, links: &BTreeMap<String, String>, files: &dyn Files) -> Vec<HunkFlags> {
    let base = file.base.as_deref().unwrap_or_default();
    let proposed = file.proposed.as_deref().unwrap_or_default();
    let mut of_file = Vec::new();
    // A new file cannot be a generated one.
    if file.base.is_some() && rhumb_syntax::is_generated(&file.path, base) {
        of_file.push(Flag::Generated);
    }
    // A link is written at its target, whatever its name is.
    let written = file.names().flat_map(|name| [Some(name), links.get(name).map(String::as_str)]).flatten();
    if [Some(&file.path), links.get(&file.path)].into_iter().flatten().any(|path| files.is_ignored(path)) {
        of_file.push(Flag::Ignored);
    }
    of_file.extend(files.write_warnings(&file.path));
    if runs_later_by_any_name(written, files) {
        of_file.push(Flag::RunsLater);
    }
    let hunks = diff::hunks(base, proposed);
    let going = hunks_with_new_hosts(base, proposed, &hunks);
    // Generated files need not have the syntax that their name suggests.
    let (elided, broken) = match file.proposed {
        Some(_) if !of_file.contains(&Flag::Generated) => (
            hunks_with_elisions(base, proposed, &hunks),
            syntax::hunks_with_new_errors(&file.path, file.base.as_deref(), proposed, &hunks),
        ),
        _ => (BTreeSet::new(), BTreeSet::new()),
    };
    let flags_at = |at: usize| {
        let own = [(&elided, Flag::Elision), (&broken, Flag::SyntaxError), (&going, Flag::NewAddress)];
        let own = own.into_iter().filter(|(hunks, _)| hunks.contains(&at)).map(|(_, flag)| flag);
        let mut flags: Vec<Flag> = of_file.iter().copied().chain(own).collect();
        flags.sort_unstable();
        flags
    };
    // A file that is only renamed, or is empty, is reviewed without a changed line.
    let whole = Hunk { base: 0..lines::split(base).len(), proposed: 0..lines::split(proposed).len() };
    let whole = (hunks.is_empty() && file.is_one_hunk()).then_some(whole);
    let flagged = hunks.into_iter().chain(whole).enumerate().map(|(at, hunk)| HunkFlags {
        path: file.path.clone(),
        hunk,
        flags: flags_at(at),
    });
    flagged.filter(|flagged| !flagged.flags.is_empty()).collect()
}

/// The hunks that add a new host.
fn hunks_with_new_hosts(base: &str, proposed: &str, hunks: &[Hunk]) -> BTreeSet<usize> {
    if !proposed.contains("://") {
        return BTreeSet::new();
    }
    let (known, lines) = (hosts::hosts(base).collect(), lines::split(proposed));
    let goes = |hunk: &Hunk| hosts::names_new_host(&known, &lines, &hunk.proposed);
    hunks.iter().enumerate().filter(|(_, hunk)| goes(hunk)).map(|(at, _)| at).collect()
}

/// The hunks that omit code.
fn hunks_with_elisions(base: &str, proposed: &str, hunks: &[Hunk]) -> BTreeSet<usize> {
    let bodies = |text| lines::split(text).into_iter().map(lines::body).collect::<Vec<&str>>();
    let (old, new) = (bodies(base), bodies(proposed));
    // A hunk that removes few lines can only omit code with a placeholder, which needs no classes.
    let large = hunks.iter().any(|hunk| hunk.base.len() >= elision::MIN_STUBBED_LINES);
    let classes = |lines| if large { normalize::classify(lines) } else { Vec::new() };
    let (old_classes, new_classes) = (classes(&old), classes(&new));
    let is_known = |line: &str| {
        let wanted = normalize(line);
        old.iter().any(|line| normalize(line) == wanted)
    };
    let leaves_out = |hunk: &Hunk| {
        let removed = Lines { bodies: slice(&old, &hunk.base), classes: slice(&old_classes, &hunk.base) };
        let added = Lines { bodies: slice(&new, &hunk.proposed), classes: slice(&new_classes, &hunk.proposed) };
        elision::leaves_out(&removed, &added, is_known)
    };
    hunks.iter().enumerate().filter(|(_, hunk)| leaves_out(hunk)).map(|(at, _)| at).collect()
}

pub(crate) fn slice<'t, T>(all: &'t [T], range: &Range<usize>) -> &'t [T] {
    all.get(range.clone()).unwrap_or_default()
}
