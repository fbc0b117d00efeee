//! A proposal: what a reply would do to the files, with the fate of each of its edits. Nothing is written here.
// FROM rounds.rs
// //! Edits that were refused and sent again: which of the newer ones stands for which of the older.
// FROM standing.rs
// //! What a reply is put upon: changes that earlier ones proposed, that are under review, and that no file has yet.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::altered_text;
use crate::apply::Draft;
use crate::apply::whole_file;
use crate::flags::HunkFlags;
use crate::naming::{self, Names};
use crate::outcome::{EditId, Flag, Landing, Outcome, Status, Strategy};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Edit, EditAction, ParsedReply};

/// The files that edits may touch.
pub trait Files {
    /// The paths under the root, relative, with `/`.
    fn paths(&self) -> Vec<String>;
    /// Whether there is something that is no folder under exactly this path, be it among `paths` or not: an ignored file, a
    /// link, a file of a repository in the repository. It need not be editable.
    fn stands(&self, path: &str) -> bool {
        self.paths().iter().any(|known| known == path)
    }
    /// The text of a file, a byte order mark included; `None` when there is no such file. The error says why it
    /// cannot be edited (binary, not UTF-8, too large).
    fn read(&self, path: &str) -> Result<Option<String>, String>;
    /// Whether the file is in the chat.
    fn in_chat(&self, path: &str) -> bool;
    /// Whether the rules of the repository ignore the file, there or not.
    fn is_ignored(&self, _path: &str) -> bool {
        false
    }
    /// What speaks against writing the file, there or not, as things stand: that it is read-only, that an editor holds it.
    fn cautions(&self, _path: &str) -> Vec<Flag> {
        Vec::new()
    }
    /// Where the bytes of a path are, under the root, if a link leads there by another name.
    fn stored_at(&self, _path: &str) -> Option<String> {
        None
    }
    /// Names of links that lead to the file at a path, there or not, as far as they are known.
    fn linked_as(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }
    /// The absolute path of the root, if names below it should be understood.
    fn root(&self) -> Option<String>;
}

/// What happens to a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileChange {
    /// It is new.
    Create,
    /// Its text changes.
    Modify,
    /// It goes.
    Delete,
    /// It moves, perhaps with changes.
    Rename {
        /// The path it has now.
        from: String,
    },
}

/// A file with its text before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProposal {
    /// The path under the root; the new one for a rename.
    pub path: String,
    /// What happens to it.
    pub change: FileChange,
    /// The text that the edits were located in; absent for a new file.
    pub base: Option<Arc<str>>,
    /// The text with all located edits; absent for a deleted file.
    pub proposed: Option<Arc<str>>,
}

/// The files that would change and what became of each edit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposal {
    /// By path, ascending; only files that change.
    pub files: Vec<FileProposal>,
    /// One for each edit, and for each fence that turned out to be one, in the order of the reply.
    pub outcomes: Vec<Outcome>,
    /// Edits that ask again for what an earlier one of these replies proposed. There is nothing to decide on them.
    pub repeated: Vec<Outcome>,
    /// The hunks that a reviewer should know more of, as [`flag`](crate::flag) finds them.
    pub flags: Vec<HunkFlags>,
    /// Where the bytes are of each file that a link leads to, by the name that the edits have for it.
    pub links: BTreeMap<String, String>,
}

impl Proposal {
    /// Refuses the files whose names may not be meant, with all that goes into them: for where nobody can accept each by itself.
    pub fn refuse_doubtful(&mut self) {
        let doubtful = |path: &str| self.outcomes.iter().any(|outcome| outcome.is_doubtful() && outcome.path == path);
        let (taken_out, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.files).into_iter().partition(|file| file.names().any(doubtful));
        self.files = kept;
        let applied = self.outcomes.iter_mut().filter(|outcome| outcome.status == Status::Applied);
        for outcome in applied.filter(|outcome| taken_out.iter().any(|file| file.has_name(&outcome.path))) {
            if !outcome.is_doubtful() {
                outcome.reason = "the file is not made, as its name is doubtful".into();
            }
            (outcome.status, outcome.strategy, outcome.confidence) = (Status::Refused, None, 0.0);
        }
    }
}

impl FileProposal {
    /// Whether the file has that name, or had it before it moved.
    pub fn has_name(&self, path: &str) -> bool {
        self.path == path || matches!(&self.change, FileChange::Rename { from } if from == path)
    }

    /// The name of the file, and the one that it had if it moved.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let from = if let FileChange::Rename { from } = &self.change { Some(from.as_str()) } else { None };
        [Some(self.path.as_str()), from].into_iter().flatten()
    }

    /// Whether it is one hunk to the reviewer: new, gone or moved.
    pub fn is_one_hunk(&self) -> bool {
        self.change != FileChange::Modify
    }
}

/// Whether a quote may differ from the file. Off shows what that is worth; there is no setting for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flexibility {
    /// Lines may be misspelt, left out, indented otherwise and so on, where the place is clear all the same.
    #[default]
    On,
    /// A quote must stand in the file to the letter.
    Off,
}

/// Locates every edit of a reply. An edit that was not found is tried once more after all the others: models do not
/// always send edits in the order in which they build on each other, and of several places that an edit fits the others
/// may have taken all but one.
pub fn propose(parsed: &ParsedReply, files: &dyn Files) -> Proposal {
    propose_with(parsed, files, Flexibility::On)
}

/// [`propose`], with the given flexibility.
pub fn propose_with(parsed: &ParsedReply, files: &dyn Files, flexibility: Flexibility) -> Proposal {
    propose_in_rounds(&Standing::default(), std::slice::from_ref(parsed), files, flexibility)
}

/// Locates the edits of several replies to one request, oldest first: each of the later ones mends what found no place in
/// those before it, and may quote the files as they were or as the edits before leave them. Refusals that a later reply does
/// not come back to stay. All of them are put upon what stands from replies before; files of which they change nothing are
/// not in the proposal. Where they have no edits, it is empty.
pub fn propose_all(standing: &Standing, replies: &[ParsedReply], files: &dyn Files) -> Proposal {
    propose_in_rounds(standing, replies, files, Flexibility::On)
}

fn propose_in_rounds(
    standing: &Standing,
    replies: &[ParsedReply],
    files: &dyn Files,
    flexibility: Flexibility,
) -> Proposal {
    let mut draft = Draft::new(files, flexibility);
    draft.stand_on(&standing.files);
    let mut outcomes: Vec<Outcome> = standing.refused.clone();
    let mut repeated: Vec<Outcome> = Vec::new();
    let mut any = false;
    for (round, parsed) in replies.iter().enumerate() {
        let mut newer = located(parsed, &mut draft, files);
        any |= !newer.is_empty();
        // What is sent twice has been told once.
        let is_told = |outcome: &Outcome| {
            let stands = || standing.files.iter().any(|standing| standing.file.has_name(&outcome.path));
            let again = outcome.flags.iter().any(|flag| matches!(flag, Flag::AlreadyApplied | Flag::Repeated));
            again && (round > 0 || stands())
        };
        repeated.extend(newer.extract_if(.., |outcome| is_told(outcome)));
        drop_answered(&mut outcomes, &newer);
        outcomes.extend(newer);
    }
    if !any {
        return Proposal::default();
    }
    Proposal { outcomes, repeated, files: draft.finish(), ..Proposal::default() }
}

/// Applies the edits of one reply to the draft; what became of each.
fn located(parsed: &ParsedReply, draft: &mut Draft<'_>, files: &dyn Files) -> Vec<Outcome> {
    let before = draft.tried();
    draft.take_up(altered_text::escapes(&parsed.edits), parsed.choice);
    let mut fates: BTreeMap<usize, (Option<String>, Result<Landing, Refusal>)> = BTreeMap::new();
    let names = Names::new(parsed, draft.index());
    let edits = naming::edits_of(&parsed.edits, &parsed.fences, &names, draft.index());
    for (at, (edit, name)) in edits.iter().enumerate() {
        fates.insert(at, draft.apply(edit, name));
    }
    for (at, (edit, name)) in edits.iter().enumerate() {
        let again = fates.get(&at).is_some_and(|(_, fate)| fate.as_ref().is_err_and(worth_another_try));
        if !again || !draft.changed_since(before + at) {
            continue;
        }
        if let (path, Ok(landing)) = draft.apply(edit, name) {
            fates.insert(at, (path, Ok(landing)));
        }
    }
    // When all others have a place.
    for ((edit, name), (_, fate)) in edits.iter().zip(fates.values_mut()) {
        if fate.as_ref().is_err_and(|refusal| refusal.is(Flag::Ambiguous))
            && let Some(landing) = draft.break_tie(edit, name)
        {
            *fate = Ok(landing);
        }
    }
    for ((edit, _), (path, fate)) in edits.iter().zip(fates.values_mut()) {
        let heading = edit.heading.and_then(|at| parsed.headings.get(at));
        if let (Some(path), Ok(landing)) = (&*path, &mut *fate)
            && landing.strategy == Strategy::Created
            && let Some(doubt) = naming::doubt(edit, heading, path, draft.index())
        {
            landing.flags.push(Flag::DoubtfulName);
            landing.note = doubt;
        }
        if edit.action == EditAction::Delete && fate.is_ok() && path.as_deref().is_some_and(|path| draft.keeps(path)) {
            *fate = Err(Cause::ReplacementRefused.into());
        }
    }
    let outcome = |((edit, _), (path, fate)): ((&Edit, _), _)| Outcome {
        edits: parsed.answer.map(|answer| EditId { answer, lines: edit.reply_lines }).into_iter().collect(),
        ..outcome(edit, path, fate, files)
    };
    edits.into_iter().zip(fates.into_values()).map(outcome).collect()
}

fn worth_another_try(refusal: &Refusal) -> bool {
    refusal.is_not_found() && !refusal.is(Flag::AlreadyApplied)
}

fn outcome(edit: &Edit, path: Option<String>, fate: Result<Landing, Refusal>, files: &dyn Files) -> Outcome {
    let outside = path.as_deref().is_some_and(|path| !files.in_chat(path));
    let written = edit.path.clone().unwrap_or_default();
    let mut outcome = Outcome {
        path: path.unwrap_or(written),
        format: edit.format,
        status: Status::Refused,
        strategy: None,
        confidence: 0.0,
        lines: None,
        reason: String::new(),
        candidates: Vec::new(),
        nearest: Vec::new(),
        flags: Vec::new(),
        quote: edit.quote(),
        replacement: edit.replacement(),
        reply_lines: edit.reply_lines,
        edits: Vec::new(),
    };
    match fate {
        Ok(landing) => {
            outcome.status = Status::Applied;
            outcome.strategy = Some(landing.strategy);
            outcome.confidence = landing.confidence;
            outcome.lines = landing.lines;
            outcome.reason = landing.note;
            outcome.flags = landing.flags;
        }
        Err(refusal) => {
            outcome.flags = refusal.cause.flag().into_iter().collect();
            outcome.reason = refusal.cause.to_string();
            outcome.candidates = refusal.candidates;
            outcome.nearest = refusal.nearest;
        }
    }
    if outside {
        outcome.flags.push(Flag::OutsideChat);
    }
    outcome.flags.sort_unstable();
    outcome.flags.dedup();
    outcome
}

/// So much (0 to 1) an edit must share with an older one of another file name to be a new version of it.
const ALIKE: f32 = 0.5;

/// Drops from `older` the refusals that edits of `newer` are new versions of. Each new one stands for one old one at most.
pub(crate) fn drop_answered(older: &mut Vec<Outcome>, newer: &[Outcome]) {
    for new in newer {
        let open = older.iter().enumerate().filter(|(_, old)| old.status == Status::Refused);
        let alike = open.map(|(at, old)| (at, likeness(old, new))).filter(|(_, likeness)| *likeness > 0.0);
        if let Some((at, _)) = alike.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
            older.remove(at);
        }
    }
}

/// How much two edits have in common, 0 to 2: one more for the same file, since only what was refused should come again. 0
/// when it is too little.
fn likeness(old: &Outcome, new: &Outcome) -> f32 {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let shared = whole_file::kept_share(&old_lines, &new_lines).max(whole_file::kept_share(&new_lines, &old_lines));
    let shared = if old_lines.is_empty() || new_lines.is_empty() { 0.0 } else { shared };
    match old.path == new.path {
        true => 1.0 + shared,
        false if shared >= ALIKE => shared,
        false => 0.0,
    }
}

/// The lines of an edit, of both sides.
fn lines(outcome: &Outcome) -> Vec<&str> {
    outcome.quote.lines().chain(outcome.replacement.lines()).filter(|line| !line.trim().is_empty()).collect()
}

/// What stands from the replies before.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// The files with the changes that are not rejected.
    pub files: Vec<StandingFile>,
    /// Edits without a place that a reply may come back to.
    pub refused: Vec<Outcome>,
}

/// A file with changes that stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandingFile {
    /// Its texts. Where the file says something else than the base by now, nothing stands.
    pub file: FileProposal,
    /// The lines of the base (0-based) of the changes that the reviewer wants otherwise: an edit of that place is put there
    /// instead, and not beside.
    pub noted: Vec<Range<usize>>,
}
