//! Applies the edits of a reply to files in memory, one after another, and finds the file of each edit.

pub(crate) mod document;
pub(crate) mod file;
pub(crate) mod whole_file;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::altered_text;
use crate::format::{EditFormat, FormatChoice};
use crate::locate::similarity::Probe;
use crate::locate::suggest;
use crate::naming::{self, FileRef};
use crate::outcome::{AppliedEdit, Excerpt, Flag, Strategy};
use crate::path_index::{PathIndex, Resolution};
use crate::proposal::{FileChange, FileProposal, Files, Matching, PendingFile};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Change, Edit, EditAction, Hunk};
use file::{FileEdits, OpenFile};

/// Maximum number of files in which an edit is tried when its file name is ambiguous.
const MAX_TRIED_FILES: usize = 50;

/// Maximum number of excerpts in the refusal of an ambiguous edit.
const MAX_EXCERPTS: usize = 3;

/// Maximum number of files that a refusal lists.
const MAX_LISTED_FILES: usize = 5;

/// The result of an edit, with its file if that is known.
type EditResult = (Option<String>, Result<AppliedEdit, Refusal>);

/// The files that the edits have touched or read.
pub(crate) struct Draft<'a> {
    files: &'a dyn Files,
    matching: Matching,
    /// Whether the reply is HTML-escaped.
    escaped: bool,
    /// Whether the model was asked for whole files.
    asked_whole: bool,
    index: PathIndex<'a>,
    open: BTreeMap<String, OpenFile>,
    /// New path to old path of renamed files.
    moved: BTreeMap<String, String>,
    /// Files that were to be replaced and are kept, because their replacement was refused.
    kept: BTreeSet<String>,
    /// The number of edits tried so far.
    tried: usize,
    last_change: Option<usize>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(files: &'a dyn Files, matching: Matching) -> Self {
        let index = PathIndex::new(files);
        Self {
            files,
            matching,
            escaped: false,
            asked_whole: false,
            index,
            open: BTreeMap::new(),
            kept: BTreeSet::new(),
            moved: BTreeMap::new(),
            tried: 0,
            last_change: None,
        }
    }

    /// Applies pending changes of earlier replies. Changes of a file whose text differs from their base are left
    /// out.
    pub(crate) fn add_pending(&mut self, standing: &[PendingFile]) {
        for PendingFile { file, commented } in standing {
            let (own, to) = match &file.change {
                FileChange::Rename { from } => (from, Some(file.path.clone())),
                _ => (&file.path, None),
            };
            let now = self.files.read(own);
            if !now.is_ok_and(|now| now.as_deref() == file.base.as_deref()) {
                continue;
            }
            if let Some(to) = &to {
                self.moved.insert(to.clone(), own.clone());
            }
            self.open.insert(own.clone(), OpenFile::with_pending(file, to, commented.clone(), self.matching));
        }
    }

    /// Begins another reply: whether all of it is HTML-escaped, and the formats that it was parsed for.
    pub(crate) fn begin_reply(&mut self, escaped: bool, choice: FormatChoice) {
        self.escaped = escaped;
        self.asked_whole = choice == FormatChoice::Only(EditFormat::Whole);
        self.open.values_mut().for_each(|file| {
            file.escaped = escaped;
            file.edits.begin_reply();
        });
    }

    /// Whether a file that was to be deleted is kept.
    pub(crate) fn keeps(&self, path: &str) -> bool {
        self.kept.contains(path)
    }

    /// Whether an edit after the one numbered `at` (0-based) changed a file.
    pub(crate) fn changed_since(&self, at: usize) -> bool {
        self.last_change.is_some_and(|last| last > at)
    }

    /// The index of the existing files.
    pub(crate) fn index(&self) -> &PathIndex<'a> {
        &self.index
    }

    pub(crate) fn apply(&mut self, edit: &Edit, name: &FileRef) -> EditResult {
        let mut result = self.attempt(edit, name);
        match &mut result {
            (_, Ok(_)) => self.last_change = Some(self.tried),
            (Some(path), Err(refusal)) => refusal.nearest = self.nearest(path, edit, refusal),
            (None, Err(_)) => {}
        }
        self.tried += 1;
        result
    }

    /// Applies an ambiguous hunk at the line number of its heading, if the other numbers are right.
    pub(crate) fn break_tie(&mut self, edit: &Edit, name: &FileRef) -> Option<AppliedEdit> {
        let (path, guessed) = self.target(edit, name).ok()?;
        let edit = self.unmasked(edit, &path).ok()?;
        let Change::Hunk(readings) = &edit.change else { return None };
        let ([hunk], EditAction::Modify, false) = (readings.as_slice(), &edit.action, guessed) else { return None };
        self.open.get_mut(&path)?.edits.apply_by_number(hunk, is_diff(&edit))
    }

    /// The number of edits tried so far.
    pub(crate) fn tried(&self) -> usize {
        self.tried
    }

    /// Excerpts of the lines that a refusal is about.
    fn nearest(&self, path: &str, edit: &Edit, refusal: &Refusal) -> Vec<Excerpt> {
        let Some(file) = self.open.get(path).filter(|_| refusal.is_not_found() && !refusal.is(Flag::AlreadyApplied))
        else {
            return Vec::new();
        };
        let (text, quote) = (file.edits.compose(), edit.quote());
        let count = if refusal.is(Flag::Ambiguous) { MAX_EXCERPTS } else { 1 };
        let mut lines: Vec<usize> = refusal.candidates.iter().take(count).map(|candidate| candidate.line).collect();
        if lines.is_empty() {
            lines.extend(suggest::likely_line(&text, &quote));
        }
        let with_edits = !file.edits.untouched();
        let excerpt = |line| Excerpt { with_edits, ..suggest::excerpt(&text, line, quote.lines().count()) };
        lines.into_iter().map(excerpt).collect()
    }

    fn attempt(&mut self, edit: &Edit, name: &FileRef) -> EditResult {
        if !edit.complete {
            return (None, Err(Cause::Incomplete.into()));
        }
        if let EditAction::EitherName { to } = &edit.action {
            return self.attempt_either(edit, to);
        }
        if let Some((edit, name)) = self.unmoved(edit) {
            return self.attempt(&edit, &name);
        }
        let (path, guessed) = match self.target(edit, name) {
            Ok(found) => found,
            Err(refusal) => return (None, Err(refusal)),
        };
        let mut applied_edit = self.open_file(&path).and_then(|()| {
            let edit = self.unmasked(edit, &path)?;
            self.apply_located(&edit, &path, guessed)
        });
        if let (Ok(applied_edit), true) = (&mut applied_edit, guessed) {
            applied_edit.flags.push(Flag::PathGuessed);
        }
        (Some(path), applied_edit)
    }

    /// Applies an edit whose diff header has two names without a rename: to the one that exists, or to the one that
    /// takes the edit. If only the first exists, a rename may be meant, so that the new name is flagged.
    fn attempt_either(&mut self, edit: &Edit, to: &str) -> EditResult {
        let from = edit.path.clone().unwrap_or_default();
        let is_there = |name: &str| self.index.exact(name).is_some() || self.open.contains_key(name);
        let under = |path: &str, action| Edit { path: Some(path.to_owned()), action, ..edit.clone() };
        match (is_there(&from), is_there(to)) {
            (_, true) if !is_there(&from) => {
                self.attempt(&under(to, EditAction::Modify), &FileRef::Written(to.to_owned()))
            }
            (true, true) => {
                let edit = under(to, EditAction::Modify);
                match self.only_taker(&edit, &format!("{from}` or `{to}"), &[from, to.to_owned()]) {
                    Ok(path) => self.attempt(&Edit { path: Some(path.clone()), ..edit }, &FileRef::File(path)),
                    Err(refusal) => (None, Err(refusal)),
                }
            }
            (true, false) => {
                let action = EditAction::Rename { to: to.to_owned() };
                let (path, mut result) = self.attempt(&under(&from, action), &FileRef::Written(from.clone()));
                if let Ok(applied_edit) = &mut result {
                    applied_edit.flags.push(Flag::DoubtfulName);
                    applied_edit.note = format!(
                        "doubtful name: the header of the diff names `{from}` and `{to}` and does not say that the file moves; \
                         name one file, or write `rename from` and `rename to`"
                    );
                }
                (path, result)
            }
            (false, _) => self.attempt(&under(to, EditAction::Modify), &FileRef::Written(to.to_owned())),
        }
    }

    /// The edit with unmasked keys. Refuses edits with U+FFFD.
    fn unmasked<'e>(&self, edit: &'e Edit, path: &str) -> Result<Cow<'e, Edit>, Refusal> {
        let base = self.open.get(path).map_or("", |file| file.edits.document().base());
        altered_text::check(edit, base)?;
        altered_text::unmasked(edit, base)
    }

    /// The edit of a diff with two names, if the first one does not exist: only the second counts.
    fn unmoved(&self, edit: &Edit) -> Option<(Edit, FileRef)> {
        let EditAction::Rename { to } = edit.action.clone() else { return None };
        let from = edit.path.as_deref()?;
        let there = self.index.exact(from).is_some() || self.open.contains_key(from);
        let plain = edit.format == EditFormat::Udiff && edit.change != Change::Nothing && !there;
        plain.then(|| {
            (Edit { path: Some(to.clone()), action: EditAction::Modify, ..edit.clone() }, FileRef::Written(to))
        })
    }

    /// The file of an edit, and whether its name was guessed.
    fn target(&mut self, edit: &Edit, name: &FileRef) -> Result<(String, bool), Refusal> {
        let written = match name {
            FileRef::File(path) => path,
            FileRef::Written(written) => written,
            FileRef::SentenceOrTitle { said, title, is_own } => return self.either(edit, said, title, *is_own),
            FileRef::Unclear(line) => return Err(naming::unclear(line, &self.index)),
            FileRef::Unnamed => return self.unnamed(edit).map(|path| (path, true)),
        };
        let resolution = self.index.resolve(written)?;
        if creates(edit) {
            if let Resolution::Exact(path) = resolution {
                return Ok((path, false));
            }
            // A diff with added lines only does not create a file unless its header says so.
            let other = matches!(resolution, Resolution::Guessed(_) | Resolution::Several(_));
            if other && is_diff(edit) && edit.action != EditAction::Create {
                return Err(Cause::NoQuote.into());
            }
            let new = self.index.new_path(written)?;
            return Ok((new, false));
        }
        let whole = matches!(edit.change, Change::Whole(_));
        match resolution {
            Resolution::Exact(path) => Ok((path, false)),
            Resolution::Absent(path) if self.moved.contains_key(&path) => {
                Ok((self.moved.get(&path).cloned().unwrap_or(path), false))
            }
            Resolution::Absent(path) if self.open.get(&path).is_some_and(|file| !file.exists) => Ok((path, false)),
            Resolution::Guessed(path) if whole => self.guessed_whole(edit, written, path),
            Resolution::Guessed(path) => Ok((path, true)),
            Resolution::Several(paths) => self.only_taker(edit, written, &paths).map(|path| (path, true)),
            Resolution::Absent(_) if whole => self.new_whole(edit, written),
            Resolution::Absent(path) => {
                let similar = self.index.near(&path);
                Err(Cause::NoSuchFile { path, similar }.into())
            }
        }
    }

    /// The file of an edit below a sentence that mentions one file, under a title that names another: the file that
    /// the edit fits. If it fits both, the sentence takes precedence, unless no other edit is under the title.
    fn either(&mut self, edit: &Edit, said: &str, title: &str, is_own: bool) -> Result<(String, bool), Refusal> {
        let names = [said, title].map(|name| FileRef::Written(name.to_owned()));
        let there = [said, title].map(|name| match self.index.resolve(name) {
            Ok(Resolution::Exact(path) | Resolution::Guessed(path)) => Some(path),
            _ => None,
        });
        let [of_said, of_title] = match there {
            [Some(_), None] if creates(edit) => return self.target(edit, &names[1]),
            [Some(said), Some(title)] if said != title && !creates(edit) => [said, title],
            _ => return self.target(edit, &names[0]),
        };
        let takes = [&of_said, &of_title].map(|path| self.open_file(path).is_ok() && self.cost(path, edit).is_some());
        match takes {
            [false, true] => Ok((of_title, false)),
            [true, true] if is_own => {
                Err(Cause::TitleAndSentence { title: title.to_owned(), sentence: said.to_owned() }.into())
            }
            _ => self.target(edit, &names[0]),
        }
    }

    /// A whole file under an unknown name is a new file, unless the name is similar to that of an existing file.
    fn new_whole(&mut self, edit: &Edit, written: &str) -> Result<(String, bool), Refusal> {
        let path = self.index.new_path(written)?;
        let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
        let mut near = self.index.near(&path);
        near.retain(|known| {
            (folder(known) == folder(&path) && edit_distance_is_small(known, &path))
                || (self.open_file(known).is_ok() && self.cost(known, edit).is_some())
        });
        if near.is_empty() {
            return Ok((path, false));
        }
        Err(Cause::MisspeltNewFile { path, similar: near }.into())
    }

    /// A whole file replaces the only file with that base name if it is a version of it.
    fn guessed_whole(&mut self, edit: &Edit, written: &str, path: String) -> Result<(String, bool), Refusal> {
        let Change::Whole(lines) = &edit.change else {
            return Ok((path, true));
        };
        self.open_file(&path)?;
        let new: Vec<&str> = lines.iter().map(String::as_str).collect();
        let file = self.open.get(&path);
        let share = file.map_or(0.0, |file| whole_file::kept_share(&file.edits.document().bodies(), &new));
        // A path that ends with the full path of the file is better evidence than a base name.
        let full = path.contains('/') && written.ends_with(&format!("/{path}"));
        if share >= 0.5 || (full && share >= 0.15) {
            return Ok((path, true));
        }
        let bare = !written.trim_start_matches("./").contains('/');
        if bare {
            return Err(Cause::OtherFileOfThatName { name: written.to_owned(), path }.into());
        }
        let new = self.index.new_path(written)?;
        Ok((new, false))
    }

    /// The file of an edit without a name: the only file of the chat, or the only one that the edit fits.
    fn unnamed(&mut self, edit: &Edit) -> Result<String, Refusal> {
        if creates(edit) {
            return Err(Cause::NewFileWithoutName.into());
        }
        let chat: Vec<String> = self.index.paths().filter(|path| self.files.in_chat(path)).map(str::to_owned).collect();
        match chat.as_slice() {
            [] => Err(Cause::NoFileName.into()),
            [only] => Ok(only.clone()),
            several => self.only_taker(edit, "", several),
        }
    }

    /// The only one of several files that the edit fits.
    fn only_taker(&mut self, edit: &Edit, written: &str, paths: &[String]) -> Result<String, Refusal> {
        let refusal = || -> Refusal {
            let similar = paths.iter().take(MAX_LISTED_FILES).cloned().collect();
            match written {
                "" => Cause::SeveralChatFiles { similar }.into(),
                _ => Cause::AmbiguousFile { name: written.to_owned(), similar }.into(),
            }
        };
        if paths.len() > MAX_TRIED_FILES {
            return Err(refusal());
        }
        let mut takers: Vec<(f32, String)> = Vec::new();
        for path in paths {
            if self.open_file(path).is_ok()
                && let Some(cost) = self.cost(path, edit)
            {
                takers.push((cost, path.clone()));
            }
        }
        let exact = |(cost, _): &&(f32, String)| *cost == 0.0;
        if takers.iter().filter(exact).count() == 1 {
            takers.retain(|taker| exact(&taker));
        }
        match takers.as_slice() {
            [(_, only)] => Ok(only.clone()),
            _ => Err(refusal()),
        }
    }

    /// The cost of the edit in that file, if it fits.
    fn cost(&self, path: &str, edit: &Edit) -> Option<f32> {
        let file = self.open.get(path)?;
        match &edit.change {
            Change::Hunk(readings) => {
                let quoting = readings.iter().filter(|hunk| hunk.quotes());
                quoting.filter_map(|hunk| file.edits.cost(hunk, is_diff(edit))).min_by(f32::total_cmp)
            }
            Change::Whole(lines) => {
                let new: Vec<&str> = lines.iter().map(String::as_str).collect();
                let old = file.edits.document().bodies();
                let share = whole_file::kept_share(&old, &new);
                (share > 0.6 && !old.is_empty()).then_some(1.0 - share)
            }
            Change::Nothing => None,
        }
    }

    fn open_file(&mut self, path: &str) -> Result<(), Refusal> {
        if self.open.contains_key(path) {
            return Ok(());
        }
        let text = self
            .files
            .read(path)
            .map_err(|error| Cause::Unreadable { path: path.to_owned(), reason: error.to_string() })?;
        let exists = text.is_some();
        let edits = FileEdits::new(Arc::from(text.unwrap_or_default()), self.matching);
        self.open.insert(
            path.to_owned(),
            OpenFile {
                edits,
                exists,
                only_pending: false,
                deleted: false,
                moved_to: None,
                escaped: self.escaped,
                final_newline: None,
            },
        );
        Ok(())
    }

    fn apply_located(&mut self, edit: &Edit, path: &str, guessed: bool) -> Result<AppliedEdit, Refusal> {
        let destination = match &edit.action {
            EditAction::Rename { to } => Some(self.destination(to, path)?),
            _ => None,
        };
        let Some(file) = self.open.get_mut(path) else {
            return Err(Cause::Unreadable { path: path.to_owned(), reason: "it is not open".to_owned() }.into());
        };
        if file.only_pending && file.deleted && edit.action != EditAction::Delete {
            // The deletion is pending, so the file still exists.
            file.deleted = false;
            file.edits.reset();
        }
        if file.deleted {
            if !guessed && let Some(remade) = file.remake(&edit.change) {
                // Without its replacement the file is kept.
                file.deleted = false;
                match &remade {
                    Ok(_) => self.kept.remove(path),
                    Err(_) => self.kept.insert(path.to_owned()),
                };
                return remade;
            }
            return Err(Cause::DeletedEarlier { path: path.to_owned() }.into());
        }
        let mut applied_edit = match (&edit.action, &edit.change) {
            (EditAction::Delete, _) if guessed => Err(Cause::DeletedByPartOfName { path: path.to_owned() }.into()),
            (EditAction::Delete, change) => file.delete(path, change),
            (_, Change::Whole(lines)) => file.whole(path, lines, edit.action == EditAction::Create, self.asked_whole),
            (_, Change::Nothing) if destination.is_some() => Ok(AppliedEdit::new(Strategy::Renamed, "")),
            (_, Change::Nothing) => Ok(AppliedEdit::new(Strategy::Unchanged, "the edit asks for nothing")),
            (action, Change::Hunk(readings)) => file.hunk(path, readings, is_diff(edit), *action == EditAction::Create),
        };
        if let (Ok(applied_edit), Some(to)) = (&mut applied_edit, destination) {
            let first = self.moved.insert(to.clone(), path.to_owned()).is_none();
            file.moved_to = Some(to);
            if first && applied_edit.strategy == Strategy::Unchanged {
                *applied_edit = AppliedEdit { lines: applied_edit.lines, ..AppliedEdit::new(Strategy::Renamed, "") };
            }
        }
        file.only_pending &= applied_edit.is_err();
        applied_edit
    }

    /// The new path of a renamed file, which has to be free.
    fn destination(&self, to: &str, from: &str) -> Result<String, Refusal> {
        let path = self.index.new_path(to)?;
        let taken = self.index.contains(&path) || self.open.get(&path).is_some_and(|file| !file.edits.is_blank());
        let mine = self.moved.get(&path).is_none_or(|owner| owner == from);
        if taken || !mine { Err(Cause::FileExists { path }.into()) } else { Ok(path) }
    }

    /// The changed files by path, without those that have only pending changes.
    pub(crate) fn finish(self) -> Vec<FileProposal> {
        let mut files: Vec<FileProposal> = self
            .open
            .into_iter()
            .filter(|(_, file)| !file.only_pending)
            .filter_map(|(path, file)| file.proposal(path))
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files
    }
}

/// Whether the edit can only create a file.
fn creates(edit: &Edit) -> bool {
    let empty = |readings: &[Hunk]| readings.iter().all(|hunk| !hunk.quotes());
    edit.action == EditAction::Create || matches!(&edit.change, Change::Hunk(readings) if empty(readings))
}

/// Whether the format is a diff, in which models forget plus signs and hunk headings.
fn is_diff(edit: &Edit) -> bool {
    matches!(edit.format, EditFormat::Udiff | EditFormat::Patch)
}

/// Whether two paths differ by one or two letters.
fn edit_distance_is_small(a: &str, b: &str) -> bool {
    Probe::new(a).similarity(b, 0.9).is_some() && a.chars().count().abs_diff(b.chars().count()) <= 2
}
