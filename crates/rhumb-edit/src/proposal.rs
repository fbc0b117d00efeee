//! Proposals: what the edits of a reply would change, and the outcome of each edit. Nothing is written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::altered_text;
use crate::apply::Draft;
use crate::apply::whole_file;
use crate::flags::HunkFlags;
use crate::naming::{self, HeadingNames};
use crate::outcome::{AppliedEdit, EditId, Flag, Outcome, Status, Strategy};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Edit, EditAction, ParsedReply};

/// Why a file cannot be edited, for example because it is binary. The text is part of the reason of a refusal.
pub type ReadError = Box<dyn std::error::Error + Send + Sync>;

/// The files that edits may change.
pub trait Files {
    /// The paths of the files under the root, relative, with `/`.
    fn paths(&self) -> Vec<String>;
    /// Whether anything except a folder has exactly this path, listed or not: an ignored file, a link, a file of a
    /// nested repository. It need not be editable.
    fn exists(&self, path: &str) -> bool {
        self.paths().iter().any(|known| known == path)
    }
    /// The text of a file, including a byte order mark; `None` if there is no such file. The error says why the
    /// file cannot be edited (binary, not UTF-8, too large).
    fn read(&self, path: &str) -> Result<Option<String>, ReadError>;
    /// Whether the user has handed the file to the model for editing. Edits of other files get [`Flag::OutsideChat`].
    fn in_chat(&self, _path: &str) -> bool {
        true
    }
    /// Whether the repository ignores the path, whether or not it exists.
    fn is_ignored(&self, _path: &str) -> bool {
        false
    }
    /// Flags that warn against writing the path, whether or not it exists: it is read-only, or open in an editor.
    fn write_warnings(&self, _path: &str) -> Vec<Flag> {
        Vec::new()
    }
    /// The path under the root that a link leads to, if the path is a link.
    fn stored_at(&self, _path: &str) -> Option<String> {
        None
    }
    /// Known links that lead to the path, whether or not it exists.
    fn linked_from(&self, _path: &str) -> Vec<String> {
        Vec::new()
    }
    /// The absolute path of the root. Names below it are understood if it is given.
    fn root(&self) -> Option<String> {
        None
    }
}

/// Files in memory, by path.
impl Files for BTreeMap<String, Vec<u8>> {
    fn paths(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Result<Option<String>, ReadError> {
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).map_err(|_| ReadError::from("it is not UTF-8"));
        self.get(path).map(text).transpose()
    }
}

/// The change of a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileChange {
    /// The file is new.
    Create,
    /// The text changes.
    Modify,
    /// The file is deleted.
    Delete,
    /// The file is renamed, perhaps with changes.
    Rename {
        /// The current path.
        from: String,
    },
}

/// A file with its text before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProposal {
    /// The path under the root; the new path of a renamed file.
    pub path: String,
    /// The change of the file as a whole.
    pub change: FileChange,
    /// The text in which the edits were located; `None` for a new file.
    pub base: Option<Arc<str>>,
    /// The text with all located edits; `None` for a deleted file.
    pub proposed: Option<Arc<str>>,
}

/// The proposed changes and the outcome of each edit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Proposal {
    /// The changed files, ascending by path.
    pub files: Vec<FileProposal>,
    /// The outcome of each edit, in the order of the reply. A fence that turned out to be a whole file has one too.
    pub outcomes: Vec<Outcome>,
    /// Edits that repeat what an earlier reply proposed. They need no decision.
    pub repeated: Vec<Outcome>,
    /// Hunks with flags for the reviewer, set by [`add_flags`](crate::add_flags).
    pub flags: Vec<HunkFlags>,
    /// For each file name that is a link, the path that it leads to.
    pub links: BTreeMap<String, String>,
}

impl Proposal {
    /// Writes all changes to files in memory.
    pub fn write_to(&self, files: &mut BTreeMap<String, Vec<u8>>) {
        for file in &self.files {
            match &file.change {
                FileChange::Delete => drop(files.remove(&file.path)),
                FileChange::Rename { from } => drop(files.remove(from)),
                FileChange::Create | FileChange::Modify => {}
            }
            if let Some(text) = &file.proposed {
                files.insert(file.path.clone(), text.as_bytes().to_vec());
            }
        }
    }

    /// Refuses new files with doubtful names, and all edits of them. For callers that cannot ask the user about
    /// each.
    pub fn refuse_doubtful_names(&mut self) {
        let doubtful =
            |path: &str| self.outcomes.iter().any(|outcome| outcome.has_doubtful_name() && outcome.path == path);
        let (taken_out, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.files).into_iter().partition(|file| file.names().any(doubtful));
        self.files = kept;
        let applied = self.outcomes.iter_mut().filter(|outcome| outcome.status == Status::Applied);
        for outcome in applied.filter(|outcome| taken_out.iter().any(|file| file.has_name(&outcome.path))) {
            if !outcome.has_doubtful_name() {
                outcome.reason = "the file is not made, as its name is doubtful".into();
            }
            (outcome.status, outcome.strategy, outcome.confidence) = (Status::Refused, None, 0.0);
        }
    }
}

impl FileProposal {
    /// Whether the file has this path, or had it before a rename.
    pub fn has_name(&self, path: &str) -> bool {
        self.path == path || matches!(&self.change, FileChange::Rename { from } if from == path)
    }

    /// The path of the file, and its old path if it is renamed.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let from = if let FileChange::Rename { from } = &self.change { Some(from.as_str()) } else { None };
        [Some(self.path.as_str()), from].into_iter().flatten()
    }

    /// Whether the file is reviewed as one hunk: it is new, deleted or renamed.
    pub fn is_one_hunk(&self) -> bool {
        self.change != FileChange::Modify
    }
}

/// How exactly a quote has to match the file. The benchmarks compare both; there is no setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// Lines may be misspelt, missing, or indented differently, if the location is certain.
    #[default]
    Lenient,
    /// A quote has to be in the file verbatim.
    Verbatim,
}

/// Locates the edits of a reply. An edit that is not found is tried again after all others: models do not always
/// order edits as they depend on each other, and other edits may take all but one of several possible locations.
pub fn propose(parsed: &ParsedReply, files: &dyn Files) -> Proposal {
    propose_with(parsed, files, Matching::Lenient)
}

/// As [`propose`], with the given matching.
pub fn propose_with(parsed: &ParsedReply, files: &dyn Files, matching: Matching) -> Proposal {
    propose_in_rounds(&PendingChanges::default(), std::slice::from_ref(parsed), files, matching)
}

/// Locates the edits of several replies to one request, oldest first. Later replies correct refused edits of
/// earlier ones, and may quote the files before or after the earlier edits. Refused edits that no later reply
/// corrects stay refused.
///
/// All replies are applied on top of `pending`. Files in which they change nothing are not in the proposal. The
/// proposal is empty if no reply has edits.
pub fn propose_all(standing: &PendingChanges, replies: &[ParsedReply], files: &dyn Files) -> Proposal {
    propose_in_rounds(standing, replies, files, Matching::Lenient)
}

fn propose_in_rounds(
    standing: &PendingChanges,
    replies: &[ParsedReply],
    files: &dyn Files,
    matching: Matching,
) -> Proposal {
    let mut draft = Draft::new(files, matching);
    draft.add_pending(&standing.files);
    let mut outcomes: Vec<Outcome> = standing.refused.clone();
    let mut repeated: Vec<Outcome> = Vec::new();
    let mut any = false;
    for (round, parsed) in replies.iter().enumerate() {
        let mut newer = located(parsed, &mut draft, files);
        any |= !newer.is_empty();
        // A repeated edit is not reported twice.
        let is_told = |outcome: &Outcome| {
            let stands = || standing.files.iter().any(|standing| standing.file.has_name(&outcome.path));
            let again = outcome.flags.iter().any(|flag| matches!(flag, Flag::AlreadyApplied | Flag::Repeated));
            again && (round > 0 || stands())
        };
        repeated.extend(newer.extract_if(.., |outcome| is_told(outcome)));
        drop_superseded(&mut outcomes, &newer);
        outcomes.extend(newer);
    }
    if !any {
        return Proposal::default();
    }
    Proposal { outcomes, repeated, files: draft.finish(), ..Proposal::default() }
}

/// Applies the edits of one reply to the draft. Returns their outcomes.
fn located(parsed: &ParsedReply, draft: &mut Draft<'_>, files: &dyn Files) -> Vec<Outcome> {
    let before = draft.tried();
    draft.begin_reply(altered_text::is_escaped(&parsed.edits), parsed.choice);
    let mut results: BTreeMap<usize, (Option<String>, Result<AppliedEdit, Refusal>)> = BTreeMap::new();
    let names = HeadingNames::new(parsed, draft.index());
    let edits = naming::edits_of(&parsed.edits, &parsed.fences, &names, draft.index());
    for (at, (edit, name)) in edits.iter().enumerate() {
        results.insert(at, draft.apply(edit, name));
    }
    for (at, (edit, name)) in edits.iter().enumerate() {
        let again = results.get(&at).is_some_and(|(_, result)| result.as_ref().is_err_and(is_retryable));
        if !again || !draft.changed_since(before + at) {
            continue;
        }
        if let (path, Ok(applied_edit)) = draft.apply(edit, name) {
            results.insert(at, (path, Ok(applied_edit)));
        }
    }
    // After all other edits have a location.
    for ((edit, name), (_, result)) in edits.iter().zip(results.values_mut()) {
        if result.as_ref().is_err_and(|refusal| refusal.is(Flag::Ambiguous))
            && let Some(applied_edit) = draft.break_tie(edit, name)
        {
            *result = Ok(applied_edit);
        }
    }
    for ((edit, _), (path, result)) in edits.iter().zip(results.values_mut()) {
        let heading = edit.heading.and_then(|at| parsed.headings.get(at));
        if let (Some(path), Ok(applied_edit)) = (&*path, &mut *result)
            && applied_edit.strategy == Strategy::Created
            && let Some(doubt) = naming::doubtful_name_note(edit, heading, path, draft.index())
        {
            applied_edit.flags.push(Flag::DoubtfulName);
            applied_edit.note = doubt;
        }
        if edit.action == EditAction::Delete && result.is_ok() && path.as_deref().is_some_and(|path| draft.keeps(path))
        {
            *result = Err(Cause::ReplacementRefused.into());
        }
    }
    let outcome = |((edit, _), (path, result)): ((&Edit, _), _)| Outcome {
        edits: parsed.answer.map(|answer| EditId { answer, lines: edit.reply_lines }).into_iter().collect(),
        ..outcome(edit, path, result, files)
    };
    edits.into_iter().zip(results.into_values()).map(outcome).collect()
}

fn is_retryable(refusal: &Refusal) -> bool {
    refusal.is_not_found() && !refusal.is(Flag::AlreadyApplied)
}

fn outcome(edit: &Edit, path: Option<String>, result: Result<AppliedEdit, Refusal>, files: &dyn Files) -> Outcome {
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
    match result {
        Ok(applied_edit) => {
            outcome.status = Status::Applied;
            outcome.strategy = Some(applied_edit.strategy);
            outcome.confidence = applied_edit.confidence;
            outcome.lines = applied_edit.lines;
            outcome.reason = applied_edit.note;
            outcome.flags = applied_edit.flags;
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

/// Minimum share of common lines (0 to 1) for which an edit of another file name is a new version of a refused one.
const MIN_SHARED_LINES: f32 = 0.5;

/// Removes from `older` the refused edits that edits of `newer` are new versions of, one for each at most.
pub(crate) fn drop_superseded(older: &mut Vec<Outcome>, newer: &[Outcome]) {
    for new in newer {
        let open = older.iter().enumerate().filter(|(_, old)| old.status == Status::Refused);
        let similar = open.map(|(at, old)| (at, similarity(old, new))).filter(|(_, similarity)| *similarity > 0.0);
        if let Some((at, _)) = similar.max_by(|(_, one), (_, other)| one.total_cmp(other)) {
            older.remove(at);
        }
    }
}

/// The similarity of two edits: their share of common lines, and 1 more for the same file. 0 if it is too low.
fn similarity(old: &Outcome, new: &Outcome) -> f32 {
    let (old_lines, new_lines) = (lines(old), lines(new));
    let shared = whole_file::kept_share(&old_lines, &new_lines).max(whole_file::kept_share(&new_lines, &old_lines));
    let shared = if old_lines.is_empty() || new_lines.is_empty() { 0.0 } else { shared };
    match old.path == new.path {
        true => 1.0 + shared,
        false if shared >= MIN_SHARED_LINES => shared,
        false => 0.0,
    }
}

/// The lines of both sides of an edit.
fn lines(outcome: &Outcome) -> Vec<&str> {
    outcome.quote.lines().chain(outcome.replacement.lines()).filter(|line| !line.trim().is_empty()).collect()
}

/// Changes of earlier replies that are not written yet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PendingChanges {
    /// The files with all changes that are not rejected.
    pub files: Vec<PendingFile>,
    /// Refused edits that a reply may correct.
    pub refused: Vec<Outcome>,
}

/// A file with pending changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingFile {
    /// Its texts. If the file has another base text by now, the changes are ignored.
    pub file: FileProposal,
    /// The lines of the base (0-based) with changes on which the reviewer commented. An edit at such a location
    /// replaces the change.
    pub commented: Vec<Range<usize>>,
}
