//! Edits by the user in a proposal: a hunk, a whole file, or the file on disk in the external editor; and the choices for
//! edits without a location. The review may change while the editor is open, so the result is checked against the
//! current review. A text that no longer has a location is put into the composer and is never lost.

use rhumb_edit::Outcome;
use rhumb_edit::review::{CommentTarget, HunkId, PlaceError};

use super::Row;
use crate::tui::overlay::{CommentBox, CommentContext, Placement, PlacementAction, PlacementBox};
use crate::tui::prelude::*;
use rhumb_session::{TrialCommand, TrialHunks};

/// A text of the review to be edited in the external editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewDraft {
    /// Relative to the repository.
    pub path: String,
    pub text: String,
    /// 1-based.
    pub line: usize,
    pub part: DraftPart,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftPart {
    /// The added lines of a hunk, identified by its removed lines and its index.
    Hunk {
        removed: String,
        /// Index of the hunk in the file.
        number: usize,
    },
    /// The whole file with all hunks that are not rejected.
    File,
    /// The whole file, with conflict markers around an unplaced edit.
    Refused {
        /// The content of the file when the edit starts.
        now: Arc<str>,
        /// The quoted and the replacement text, which identify the edit.
        edit: (String, String),
    },
}

impl ReviewDraft {
    /// The file name for the editor, from which it detects the language.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("text")
    }
}

impl App {
    /// Handles actions that open something, write, or leave the review.
    pub(super) fn open_from_review(&mut self, action: Action) -> Option<Vec<Task>> {
        if action.is_decision() && self.review.guard.holds() {
            return Some(self.say("this has just changed: check it, then press the key again"));
        }
        // A write without accepted hunks reports the reason in full.
        let why_not =
            self.review_why_not(action).filter(|_| !matches!(action, Action::Write | Action::Undo | Action::Redo));
        if let Some(why) = why_not {
            return Some(self.say(why));
        }
        Some(match action {
            Action::EditHunk => self.edit_hunk(),
            Action::EditFile => self.edit_review_file(),
            Action::OpenFile => self.open_real_file(),
            Action::Comment => self.comment_here(),
            Action::CommentFile => {
                self.file_here().map_or_else(Vec::new, |file| self.open_comment(CommentTarget::File(file), ""))
            }
            Action::SendReview => self.show_feedback(),
            Action::Write => self.write_review(false),
            Action::WriteOther => self.write_review(true),
            Action::Reask => self.ask_for_refused(false),
            Action::ReaskAll => self.ask_for_refused(true),
            Action::Dismiss => self.refused_here().map_or_else(Vec::new, |index| self.put_away(index)),
            Action::TryHunks => run(self.session.try_hunks(TrialHunks::Proposed, TrialCommand::Tests)),
            Action::TryAccepted => run(self.session.try_hunks(TrialHunks::Accepted, TrialCommand::Tests)),
            Action::BisectHunks => run(self.session.bisect_hunks()),
            Action::Abandon => self.abandon_review(),
            _ => return None,
        })
    }

    pub(super) fn edit_hunk(&mut self) -> Vec<Task> {
        if let Some(index) = self.refused_here() {
            return self.open_refused(index);
        }
        let Some((id, line)) = self.line_here() else { return Vec::new() };
        let Some(file) = self.session.review().files.get(id.file) else { return Vec::new() };
        let Some((removed, text)) = file.texts_of(id.hunk).filter(|_| file.proposed.is_some()) else {
            return self.say("this hunk deletes the file, so there is no text to edit");
        };
        let line = line.saturating_sub(lines::split(&removed).len()) + 1;
        let part = DraftPart::Hunk { removed, number: id.hunk };
        open(ReviewDraft { path: file.path.clone(), text, line, part })
    }

    /// Opens the whole file under the cursor, with all hunks that are not rejected.
    pub(super) fn edit_review_file(&mut self) -> Vec<Task> {
        let Some(index) = self.file_here() else { return Vec::new() };
        let Some(file) = self.session.review().files.get(index) else { return Vec::new() };
        let Some(text) = file.editable_text() else {
            return self.say("this change deletes the file, so there is no text to edit");
        };
        let line = self.line_here().map_or(1, |(id, _)| file.hunk_line_in_edited(id.hunk));
        open(ReviewDraft { path: file.path.clone(), text, line, part: DraftPart::File })
    }

    /// Opens the file on disk, at the line under the cursor.
    pub(super) fn open_real_file(&mut self) -> Vec<Task> {
        let review = self.session.review();
        let target = match self.review_item() {
            Some(ReviewItem::Refused(index)) => review.refused.get(index).map(|outcome| {
                let line = outcome.candidates.first().map(|candidate| candidate.line);
                (outcome.path.clone(), line.or(outcome.nearest.first().map(|near| near.line)).unwrap_or(1))
            }),
            Some(ReviewItem::File(index)) => review.files.get(index).map(|file| (file.name_on_disk().to_owned(), 1)),
            Some(ReviewItem::Hunk(id) | ReviewItem::Line(id, _)) => {
                let line = self.line_here().map_or(0, |(_, line)| line);
                let place = review.hunk(id).map(|item| item.hunk.base.clone()).unwrap_or_default();
                let line = place.start + line.min(place.len().saturating_sub(1)) + 1;
                review.files.get(id.file).map(|file| (file.name_on_disk().to_owned(), line))
            }
            None => None,
        };
        match target.filter(|(path, _)| !path.is_empty()) {
            Some((path, line)) => vec![Task::Edit(Editing::File { path, line })],
            None => self.say("there is no file here"),
        }
    }

    pub(crate) fn review_edited(&mut self, draft: &ReviewDraft, text: &str) -> Vec<Task> {
        if text == draft.text {
            return self.say("nothing was changed");
        }
        if text.trim().is_empty() {
            return self.say("the editor returned an empty text, so nothing was changed");
        }
        match &draft.part {
            DraftPart::Hunk { removed, number } => self.hunk_edited(draft, removed, *number, text),
            DraftPart::File => self.file_edited(draft, text),
            DraftPart::Refused { now, edit } => self.place_edited(draft, now, edit, text),
        }
    }

    fn hunk_edited(&mut self, draft: &ReviewDraft, removed: &str, number: usize, text: &str) -> Vec<Task> {
        let Some(id) = self.session.review().find(&draft.path, removed, &draft.text, number) else {
            return self.keep_text(draft, text, "the hunk is no longer under review");
        };
        if self.session.review_mut().edit(id, text) {
            self.go_to(id);
            return self.say("the hunk is accepted with your text");
        }
        self.say("nothing was changed")
    }

    fn file_edited(&mut self, draft: &ReviewDraft, text: &str) -> Vec<Task> {
        let review = self.session.review_mut();
        let index = review.files.iter().position(|file| file.path == draft.path);
        let whole = index.and_then(|index| review.files.get(index)?.editable_text());
        let Some(index) = index.filter(|_| whole.as_deref() == Some(draft.text.as_str())) else {
            return self.keep_text(draft, text, "the reviewed text of the file has changed meanwhile");
        };
        let before = review.files.get(index).map(rhumb_edit::review::FileReview::counts).unwrap_or_default();
        if !review.edit_file(index, text) {
            return self.say("nothing was changed");
        }
        let after = review.files.get(index).map(rhumb_edit::review::FileReview::counts).unwrap_or_default();
        self.go_to(HunkId { file: index, hunk: 0 });
        let hunks = |count: usize| if count == 1 { "hunk" } else { "hunks" };
        let total = after.total();
        let mut message = format!("{total} {} now, {} accepted", hunks(total), after.accepted);
        if after.rejected > before.rejected {
            let gone = after.rejected - before.rejected;
            message += &format!("; {gone} {} that you took back rejected", hunks(gone));
        }
        self.say(message)
    }

    fn place_edited(&mut self, draft: &ReviewDraft, now: &Arc<str>, edit: &(String, String), text: &str) -> Vec<Task> {
        if MARKS.iter().any(|mark| text.lines().any(|line| line.starts_with(mark))) {
            let message = "The conflict markers are still in the text, so it was not used.";
            self.session.report(Level::Warning, message, "Remove the markers. The text is in the composer.");
            return self.keep_text(draft, text, "the conflict markers are still in the text");
        }
        let review = self.session.review_mut();
        let is_it = |outcome: &Outcome| {
            outcome.path == draft.path && (&outcome.quote, &outcome.replacement) == (&edit.0, &edit.1)
        };
        let refused = review.refused.iter().position(is_it);
        let known = review.files.iter().find(|file| file.path == draft.path);
        if known.is_some_and(|file| file.editable_text().as_deref() != Some(&**now)) {
            return self.keep_text(draft, text, "the reviewed text of the file has changed meanwhile");
        }
        if !review.replace_file(refused, &draft.path, now, text) {
            return self.say("the file already says that");
        }
        let file = self.session.review().files.iter().position(|file| file.path == draft.path).unwrap_or_default();
        self.go_to(HunkId { file, hunk: 0 });
        self.say("the file is accepted with your text")
    }

    /// Puts a text that cannot be applied into the composer.
    fn keep_text(&mut self, draft: &ReviewDraft, text: &str, why: &str) -> Vec<Task> {
        let message = format!("Your text for {} was not used: {why}.", draft.path);
        self.keep_in_composer(message, &format!("{}:\n{text}", draft.path))
    }

    fn keep_in_composer(&mut self, message: String, text: &str) -> Vec<Task> {
        self.session.report(Level::Warning, message, "It is in the composer.");
        self.focus = Pane::Chat;
        self.typed(|app| app.composer.append(text))
    }

    /// Opens the whole file with conflict markers where an unplaced edit may belong.
    pub(super) fn edit_refused(&self, outcome: &Outcome, now: &Arc<str>, place: std::ops::Range<usize>) -> Vec<Task> {
        let known = self.session.review().files.iter().find(|file| file.path == outcome.path);
        let place = known
            .map_or(place.clone(), |file| file.base_line_in_edited(place.start)..file.base_line_in_edited(place.end));
        let now = known.and_then(rhumb_edit::review::FileReview::editable_text).map_or_else(|| now.clone(), Arc::from);
        let (text, line) = with_markers(&now, place, outcome);
        let edit = (outcome.quote.clone(), outcome.replacement.clone());
        open(ReviewDraft { path: outcome.path.clone(), text, line, part: DraftPart::Refused { now, edit } })
    }

    /// Checks the files under review, which may have changed while the terminal had no focus.
    pub(crate) fn recheck_files(&mut self) -> Vec<Task> {
        let files = self.session.review().files.iter().filter(|file| file.base.is_some());
        let paths: Vec<String> = files.map(|file| file.name_on_disk().to_owned()).collect();
        if paths.is_empty() || self.session.is_writing() { Vec::new() } else { vec![Task::Run(Effect::Reread(paths))] }
    }

    /// Checks a file under review that was open in the editor.
    pub(crate) fn recheck_file(&mut self, path: &str) -> Vec<Task> {
        let concerns = self.session.review().files.iter().any(|file| file.name_on_disk() == path);
        if concerns { vec![Task::Run(Effect::Reread(vec![path.to_owned()]))] } else { Vec::new() }
    }

    /// The hunk and the line under the cursor; removed lines count first.
    pub(super) fn line_here(&self) -> Option<(HunkId, usize)> {
        match self.review_item()? {
            ReviewItem::Hunk(id) => Some((id, 0)),
            ReviewItem::Line(id, line) => Some((id, line)),
            ReviewItem::File(_) | ReviewItem::Refused(_) => None,
        }
    }

    pub(crate) fn refused_here(&self) -> Option<usize> {
        match self.review_item()? {
            ReviewItem::Refused(index) => Some(index),
            ReviewItem::Hunk(_) | ReviewItem::Line(..) | ReviewItem::File(_) => None,
        }
    }

    /// Opens a comment on the selected lines, or the line or hunk under the cursor.
    pub(super) fn comment_here(&mut self) -> Vec<Task> {
        let selected = self.selected_lines();
        let place = match (selected, self.review_item()) {
            (Some((id, lines)), _) => {
                let is_all = self.session.review().hunk(id).is_some_and(|item| lines.len() >= item.line_count());
                let place = if is_all { CommentTarget::Hunk(id) } else { CommentTarget::Line(id, lines.start) };
                let given = if lines.len() > 1 && !is_all { self.lines_named(id, lines) } else { String::new() };
                return self.open_comment(place, &given);
            }
            (None, Some(ReviewItem::Line(id, line))) => CommentTarget::Line(id, line),
            (None, Some(ReviewItem::Hunk(id))) => CommentTarget::Hunk(id),
            (None, Some(ReviewItem::File(file))) => CommentTarget::File(file),
            (None, Some(ReviewItem::Refused(_)) | None) => return Vec::new(),
        };
        self.open_comment(place, "")
    }

    fn open_comment(&mut self, place: CommentTarget, given: &str) -> Vec<Task> {
        let Some(target) = self.comment_context(place) else { return Vec::new() };
        let text = self.session.review().comment_on(place).unwrap_or_default().to_owned();
        let keys = [self.keys.of(Action::Send), self.keys.of(Action::Newline)];
        let comment = CommentBox::new(target, &text, given, self.theme(), keys);
        self.overlays.show(comment);
        Vec::new()
    }

    pub(super) fn take_comment(&mut self, target: &CommentContext, text: &str) -> Vec<Task> {
        let Some(place) = self.place_of(target) else {
            if text.trim().is_empty() {
                return Vec::new();
            }
            let message = format!("Your comment was not saved: {} is no longer under review.", target.name);
            return self.keep_in_composer(message, &format!("{}: {text}", target.name));
        };
        let was = self.session.review().comment_on(place).is_some();
        if !self.session.review_mut().comment(place, text) {
            return Vec::new();
        }
        let key = self.keys.first(Action::SendReview).to_owned();
        match (text.trim().is_empty(), was) {
            (true, _) => self.say("the comment is removed"),
            (false, true) => self.say("the comment is changed"),
            (false, false) => self.say(format!("comment saved; {key} sends the comments to the model")),
        }
    }

    fn comment_context(&self, place: CommentTarget) -> Option<CommentContext> {
        let review = self.session.review();
        let (file, id) = match place {
            CommentTarget::File(file) => (file, None),
            CommentTarget::Hunk(id) | CommentTarget::Line(id, _) => (id.file, Some(id)),
        };
        let file = review.files.get(file)?;
        let path = file.path.clone();
        let hunk = id.and_then(|id| file.texts_of(id.hunk)).unwrap_or_default();
        let (removed, added) = (lines::split(&hunk.0), lines::split(&hunk.1));
        let signed = |sign: char, line: &str| format!("{sign}{}", lines::body(line));
        let all = removed.iter().map(|line| signed('-', line)).chain(added.iter().map(|line| signed('+', line)));
        let quoted = match place {
            CommentTarget::File(_) => Vec::new(),
            CommentTarget::Hunk(_) => all.collect(),
            CommentTarget::Line(_, line) => all.skip(line).take(1).collect(),
        };
        let name = match place {
            CommentTarget::File(_) => path.clone(),
            CommentTarget::Hunk(id) => format!("{path}, {}", self.lines_named(id, 0..usize::MAX)),
            CommentTarget::Line(id, line) => format!("{path}, {}", self.lines_named(id, line..line + 1)),
        };
        Some(CommentContext { place, path, hunk, name, quoted })
    }

    /// The name of some lines of a hunk (numbered with the removed lines first): their line numbers in the proposed text, or in
    /// the base text if all of them are removed.
    fn lines_named(&self, id: HunkId, wanted: std::ops::Range<usize>) -> String {
        let Some(item) = self.session.review().hunk(id) else { return String::new() };
        let (base, proposed) = (&item.hunk.base, &item.hunk.proposed);
        let removed = wanted.start.min(base.len())..wanted.end.min(base.len());
        let added = wanted.start.saturating_sub(base.len())..wanted.end.saturating_sub(base.len()).min(proposed.len());
        let (start, count, was) = if added.is_empty() {
            (base.start + removed.start, removed.len(), "old ")
        } else {
            (proposed.start + added.start, added.len(), "")
        };
        match count {
            0 | 1 => format!("{was}line {}", start + 1),
            _ => format!("{was}lines {}–{}", start + 1, start + count),
        }
    }

    /// The current target of a comment. `None` if it is gone.
    fn place_of(&self, target: &CommentContext) -> Option<CommentTarget> {
        let review = self.session.review();
        let (removed, added) = (&target.hunk.0, &target.hunk.1);
        let find = |id: HunkId| review.find(&target.path, removed, added, id.hunk);
        match target.place {
            CommentTarget::File(_) => {
                review.files.iter().position(|file| file.path == target.path).map(CommentTarget::File)
            }
            CommentTarget::Hunk(id) => find(id).map(CommentTarget::Hunk),
            CommentTarget::Line(id, line) => find(id).map(|id| CommentTarget::Line(id, line)),
        }
    }

    pub(crate) fn open_refused(&mut self, index: usize) -> Vec<Task> {
        let Some(outcome) = self.session.review().refused.get(index).cloned() else { return Vec::new() };
        if outcome.path.is_empty() {
            return self.say("the edit names no file, so it cannot be placed; ask the model again");
        }
        let known = self.session.review().files.iter().find(|file| file.path == outcome.path);
        let now = known.and_then(|file| file.base.clone());
        let path = outcome.path.clone();
        let task = if now.is_none() { self.previews.want(&path) } else { None };
        let now = now.or_else(|| match self.previews.get(&path) {
            Some(Preview::Text(text)) => Some(Arc::clone(text)),
            Some(Preview::Reading | Preview::None(_)) | None => None,
        });
        self.overlays.show(PlacementBox::new(outcome, now));
        task.into_iter().collect()
    }

    /// Moves to an edit that has just lost its location, where `before` edits were unplaced: it must be settled before its
    /// file is written.
    pub(crate) fn go_to_lost_hunks(&mut self, before: usize) {
        let new = self.session.review().refused.len().saturating_sub(before);
        if new == 0 {
            return;
        }
        if self.focus == Pane::Review && self.overlays.is_empty() {
            self.go_to_refused(0);
            let hunks = if new == 1 { "a hunk" } else { "hunks" };
            let key = self.keys.first(Action::OpenHere);
            self.hint.set(format!("the file changed on disk: {hunks} lost the place; {key} settles it"));
        } else if let Row::Refused(index) | Row::RefusedText(index, _) = &mut self.review.at {
            // The new edits were inserted before the item under the cursor.
            *index += new;
        }
    }

    /// Sends the unplaced edit under the cursor, or all of them, back to the model.
    pub(super) fn ask_for_refused(&mut self, all: bool) -> Vec<Task> {
        let one = if all { None } else { self.refused_here() };
        if !all && one.is_none() {
            return Vec::new();
        }
        run(self.session.ask_for_refused(one))
    }

    fn put_away(&mut self, index: usize) -> Vec<Task> {
        if !self.session.review_mut().dismiss(index) {
            return Vec::new();
        }
        let message = match self.session.review().refused.len() {
            0 => "put away".to_owned(),
            left => format!("put away; still without a location: {left}"),
        };
        let undo = self.keys.first(Action::Undo);
        let message = format!("{message} · {undo} undoes it");
        self.say(message)
    }

    /// Applies the choice for an unplaced edit, if it still exists.
    pub(super) fn placed(&mut self, placement_reply: Placement) -> Vec<Task> {
        let Placement { path, edit, now, confirmed_action } = placement_reply;
        let is_it =
            |outcome: &Outcome| outcome.path == path && (&outcome.quote, &outcome.replacement) == (&edit.0, &edit.1);
        let Some(index) = self.session.review().refused.iter().position(is_it) else {
            return self.say("the edit is no longer in the review");
        };
        match (confirmed_action, now) {
            (PlacementAction::Dismiss, _) => self.put_away(index),
            (PlacementAction::Ask, _) => run(self.session.ask_for_refused(Some(index))),
            (PlacementAction::Edit(place), Some(now)) => {
                let outcome = self.session.review().refused.get(index).cloned();
                outcome.map_or_else(Vec::new, |outcome| self.edit_refused(&outcome, &now, place))
            }
            (PlacementAction::Put(place), Some(now)) => {
                match self.session.review_mut().place(Some(index), &path, &now, place, &edit.1) {
                    Ok(id) => {
                        self.go_to(id);
                        self.say("the edit is a hunk of the review now: accept or reject it")
                    }
                    Err(error) => {
                        let hint = "Choose another place, or place it with the editor.";
                        let text = format!("The edit of {path} was not placed: {error}.");
                        self.session.report(Level::Warning, text, hint);
                        self.hint.set(format!("not placed: {error}"));
                        let is_stale = error == PlaceError::Stale;
                        is_stale.then(|| Task::Run(Effect::Reread(vec![path]))).into_iter().collect()
                    }
                }
            }
            (PlacementAction::Edit(_) | PlacementAction::Put(_), None) => Vec::new(),
        }
    }
}

fn open(draft: ReviewDraft) -> Vec<Task> {
    vec![Task::Edit(Editing::Review(Box::new(draft)))]
}

/// The marks around the place of an edit in a text that the user changes by hand.
pub(super) const MARKS: [&str; 3] = ["<<<<<<< the file says", "||||||| the edit quotes", ">>>>>>> the edit proposes"];

/// Adds conflict markers around these lines (0-based), with the quoted and proposed lines of an edit. Returns the text and
/// the line (1-based) of the first marker.
pub(super) fn with_markers(now: &str, place: Range<usize>, outcome: &Outcome) -> (String, usize) {
    let all = lines::split(now);
    let place = place.start.min(all.len())..place.end.min(all.len());
    let of = |range: Range<usize>| all.get(range).unwrap_or_default().concat();
    let (before, there, after) = (of(0..place.start), of(place.clone()), of(place.end..all.len()));
    let [file, quote, edit] = MARKS;
    let pieces = [
        ended(&before),
        format!("{file}\n"),
        ended(&there),
        format!("{quote}\n"),
        ended(&outcome.quote),
        "=======\n".to_owned(),
        ended(&outcome.replacement),
        format!("{edit}\n"),
        after,
    ];
    (pieces.concat(), place.start + 1)
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_edit::review::Counts;
    use rhumb_edit::{FileChange, FileProposal, Proposal};
    use rhumb_session::{Connection, Response, Session};

    fn proposal(base: &str, proposed: &str) -> Response {
        let (base, proposed) = (Some(Arc::from(base)), Some(Arc::from(proposed)));
        let file = FileProposal { path: "src/a.rs".into(), change: FileChange::Modify, base, proposed };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        Response::Proposed { request: "do it".into(), proposal }
    }

    fn app() -> App {
        let (session, effects) = Session::start(Connection::None);
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.handle_response(proposal("a\nb\nc\n", "A\nb\nC\n"));
        app.focus = Pane::Review;
        app
    }

    fn press(app: &mut App, keys: &str) -> Vec<Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    fn opened(tasks: &[Task]) -> Editing {
        let mut edits =
            tasks.iter().filter_map(|task| if let Task::Edit(what) = task { Some(what.clone()) } else { None });
        edits.next_back().expect("something opens in the editor")
    }

    #[test]
    fn a_hunk_is_edited_and_an_empty_or_unchanged_text_changes_nothing() {
        let mut app = app();
        let what = opened(&press(&mut app, "] e"));
        let Editing::Review(draft) = &what else { panic!("{what:?}") };
        assert_eq!((draft.text.as_str(), draft.file_name()), ("C\n", "a.rs"));
        for (text, told) in
            [("C\n", "nothing was changed"), (" \n", "the editor returned an empty text, so nothing was changed")]
        {
            app.edited(&what, text);
            assert_eq!((app.hint.text(), app.session.review().counts().pending), (told, 2));
        }
        app.edited(&what, "mine\nand more\n");
        assert_eq!(app.session.review().files[0].proposed.as_deref(), Some("A\nb\nmine\nand more\n"));
        assert_eq!(app.session.review().counts(), Counts { pending: 1, accepted: 1, rejected: 0 });
        press(&mut app, "u");
        assert_eq!(app.session.review().counts().pending, 2);
    }

    #[test]
    fn a_file_is_edited_as_a_whole() {
        let mut app = app();
        press(&mut app, "n");
        let what = opened(&press(&mut app, "E"));
        app.edited(&what, "a\nb\nC\nmore\n");
        assert_eq!(app.hint.text(), "2 hunks now, 1 accepted");
        assert_eq!(app.session.review().counts(), Counts { pending: 0, accepted: 1, rejected: 1 });
        press(&mut app, "u");
        assert_eq!(app.session.review().counts(), Counts { pending: 1, accepted: 0, rejected: 1 });
    }

    #[test]
    fn what_has_no_place_any_more_goes_into_the_composer() {
        for keys in ["e", "E"] {
            let mut app = app();
            app.composer.set("a thought");
            let what = opened(&press(&mut app, keys));
            app.handle_response(proposal("a\nb\nc\n", "other\nb\nc\n"));
            app.edited(&what, "mine\n");
            assert_eq!(app.composer.text(), "a thought\nsrc/a.rs:\nmine\n", "{keys}");
            // The new hunk, and the other old hunk.
            assert_eq!(app.session.review().counts().pending, 2);
        }
    }

    #[test]
    fn the_file_on_disk_opens_at_the_hunk_and_is_held_against_the_review_afterwards() {
        let mut app = app();
        let what = opened(&press(&mut app, "] o"));
        assert_eq!(what, Editing::File { path: "src/a.rs".into(), line: 3 });
        let tasks = app.edited(&what, "");
        assert_eq!(tasks, [Task::Run(Effect::Reread(vec!["src/a.rs".into()]))]);
        let notices = app.session.transcript().len();
        app.handle_response(Response::Reread { path: "src/a.rs".into(), text: Some("a\nb\nc\n".into()) });
        assert_eq!(
            (app.session.transcript().len(), app.session.review().counts().pending),
            (notices, 2),
            "it is as it was"
        );
    }

    #[test]
    fn a_file_that_is_to_go_has_no_text_to_edit() {
        let mut app = app();
        let file =
            FileProposal { path: "old".into(), change: FileChange::Delete, base: Some("x\n".into()), proposed: None };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        app.session.abandon_review();
        app.handle_response(Response::Proposed { request: "do it".into(), proposal });
        app.focus = Pane::Review;
        for keys in ["e", "E"] {
            assert!(press(&mut app, keys).iter().all(|task| !matches!(task, Task::Edit(_))));
            assert!(app.hint.text().contains("this change deletes the file"), "{}", app.hint.text());
        }
    }
}
