//! Edits by the user in a proposal: a hunk, a whole file, or the file on disk in the external editor. The review may
//! change while the editor is open, so the result is checked against the current review. A text that no longer has a
//! place goes to the composer and is never lost.

use std::sync::Arc;

use rhumb_edit::Outcome;
use rhumb_edit::review::{CommentTarget, HunkId};
use rhumb_text::lines;

use super::refused::{MARKS, with_markers};
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Editing, ReviewItem, Task};
use crate::tui::overlay::{CommentBox, CommentContext, Overlay, ReviewBox};
use rhumb_session::{Effect, Level};

/// A text of the review that is changed in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewDraft {
    /// The file that it is of.
    pub path: String,
    /// The text that the editor begins with.
    pub text: String,
    /// The line to begin at, 1-based.
    pub line: usize,
    /// Which part of the file it is.
    pub part: DraftPart,
}

/// Which part of a file is changed in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DraftPart {
    /// The lines that a hunk adds: what it removes, and its number in the file.
    Hunk {
        /// The removed lines.
        removed: String,
        /// The number, from 0.
        number: usize,
    },
    /// All of it, as it would be if nothing more was rejected.
    File,
    /// All of it, with marks where an edit belongs that found no place.
    Refused {
        /// The text of the file until then.
        now: Arc<str>,
        /// What the edit quotes and what it puts there: by these it is found again.
        edit: (String, String),
    },
}

impl ReviewDraft {
    /// A name for the file that the editor opens, so that it knows the language.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("text")
    }
}

impl App {
    /// What opens something or goes beyond the review.
    pub(super) fn open_from_review(&mut self, action: Action) -> Option<Vec<Task>> {
        if self.is_guarded(action) {
            return Some(self.say("this has just changed: check it, then press the key again"));
        }
        // A write that has nothing to write says so at length.
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
            Action::CommentFile => self.comment_on_file(),
            Action::SendReview => self.show_feedback(),
            Action::Write => self.write_review(false),
            Action::WriteOther => self.write_review(true),
            Action::Reask => self.ask_for_refused(false),
            Action::ReaskAll => self.ask_for_refused(true),
            Action::Dismiss => self.dismiss_refused(),
            Action::Abandon => self.abandon_review(),
            _ => return None,
        })
    }

    /// Opens the lines that the hunk under the cursor adds.
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

    /// Opens the whole file under the cursor, as it would be if nothing more was rejected.
    pub(super) fn edit_review_file(&mut self) -> Vec<Task> {
        let Some(index) = self.review_file_here() else { return Vec::new() };
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

    /// Takes what the editor made of a text of the review.
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
            DraftPart::Refused { now, edit } => self.refused_edited(draft, now, edit, text),
        }
    }

    fn hunk_edited(&mut self, draft: &ReviewDraft, removed: &str, number: usize, text: &str) -> Vec<Task> {
        let Some(id) = self.session.review().find(&draft.path, removed, &draft.text, number) else {
            return self.keep_text(draft, text, "the hunk is no longer under review");
        };
        if self.session.review_mut().edit(id, text) {
            self.show_hunk(id);
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
        self.show_hunk(HunkId { file: index, hunk: 0 });
        let hunks = |count: usize| if count == 1 { "hunk" } else { "hunks" };
        let total = after.total();
        let mut told = format!("{total} {} now, {} accepted", hunks(total), after.accepted);
        if after.rejected > before.rejected {
            let gone = after.rejected - before.rejected;
            told += &format!("; {gone} {} that you took back rejected", hunks(gone));
        }
        self.say(&told)
    }

    fn refused_edited(
        &mut self,
        draft: &ReviewDraft,
        now: &Arc<str>,
        edit: &(String, String),
        text: &str,
    ) -> Vec<Task> {
        if MARKS.iter().any(|mark| text.lines().any(|line| line.starts_with(mark))) {
            let told = "The conflict markers are still in the text, so it was not used.";
            self.session.report(Level::Warning, told, "Remove the markers. The text is in the composer.");
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
        self.show_hunk(HunkId { file, hunk: 0 });
        self.say("the file is accepted with your text")
    }

    /// Puts a text that has no place any more into the composer, after what is there.
    fn keep_text(&mut self, draft: &ReviewDraft, text: &str, why: &str) -> Vec<Task> {
        let told = format!("Your text for {} was not used: {why}.", draft.path);
        self.session.report(Level::Warning, told, "It is in the composer.");
        self.focus = Pane::Chat;
        self.typed(|app| {
            if !app.composer.is_empty() {
                app.composer.newline();
            }
            app.composer.paste(&format!("{}:\n{text}", draft.path));
        })
    }

    /// A refused edit with marks around the place where it may belong, in the whole file.
    pub(super) fn edit_refused(&self, outcome: &Outcome, now: &Arc<str>, place: std::ops::Range<usize>) -> Vec<Task> {
        let known = self.session.review().files.iter().find(|file| file.path == outcome.path);
        let place = known
            .map_or(place.clone(), |file| file.base_line_in_edited(place.start)..file.base_line_in_edited(place.end));
        let now = known.and_then(rhumb_edit::review::FileReview::editable_text).map_or_else(|| now.clone(), Arc::from);
        let (text, line) = with_markers(&now, place, outcome);
        let edit = (outcome.quote.clone(), outcome.replacement.clone());
        open(ReviewDraft { path: outcome.path.clone(), text, line, part: DraftPart::Refused { now, edit } })
    }

    /// Whoever comes back may have changed files under review elsewhere.
    pub(crate) fn recheck_files(&mut self) -> Vec<Task> {
        let files = self.session.review().files.iter().filter(|file| file.base.is_some());
        let paths: Vec<String> = files.map(|file| file.name_on_disk().to_owned()).collect();
        if paths.is_empty() || self.session.is_writing() { Vec::new() } else { vec![Task::Run(Effect::Reread(paths))] }
    }

    /// A file was open in the editor: what is under review of it must be held against what it says now.
    pub(crate) fn recheck_file(&mut self, path: &str) -> Vec<Task> {
        let concerns = self.session.review().files.iter().any(|file| file.name_on_disk() == path);
        if concerns { vec![Task::Run(Effect::Reread(vec![path.to_owned()]))] } else { Vec::new() }
    }

    /// The hunk under the cursor, and the line of it (its removed lines first).
    pub(super) fn line_here(&self) -> Option<(HunkId, usize)> {
        match self.review_item()? {
            ReviewItem::Hunk(id) => Some((id, 0)),
            ReviewItem::Line(id, line) => Some((id, line)),
            ReviewItem::File(_) | ReviewItem::Refused(_) => None,
        }
    }

    /// The file under the cursor.
    pub(super) fn review_file_here(&self) -> Option<usize> {
        match self.review_item()? {
            ReviewItem::Hunk(id) | ReviewItem::Line(id, _) => Some(id.file),
            ReviewItem::File(index) => Some(index),
            ReviewItem::Refused(_) => None,
        }
    }

    /// The refused edit under the cursor.
    pub(crate) fn refused_here(&self) -> Option<usize> {
        match self.review_item()? {
            ReviewItem::Refused(index) => Some(index),
            ReviewItem::Hunk(_) | ReviewItem::Line(..) | ReviewItem::File(_) => None,
        }
    }

    /// Brings a hunk under the cursor.
    pub(super) fn show_hunk(&mut self, id: HunkId) {
        self.go_to(id);
    }

    /// A word in the status line.
    pub(crate) fn say(&mut self, words: &str) -> Vec<Task> {
        self.hint.set(words.to_owned());
        Vec::new()
    }
}

fn open(draft: ReviewDraft) -> Vec<Task> {
    vec![Task::Edit(Editing::Review(Box::new(draft)))]
}

impl App {
    /// Opens a box for a comment on the selected lines, the line or the hunk under the cursor.
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

    /// Opens a box for a comment on the file under the cursor.
    pub(super) fn comment_on_file(&mut self) -> Vec<Task> {
        self.review_file_here().map_or_else(Vec::new, |file| self.open_comment(CommentTarget::File(file), ""))
    }

    fn open_comment(&mut self, place: CommentTarget, given: &str) -> Vec<Task> {
        let Some(target) = self.comment_context(place) else { return Vec::new() };
        let text = self.session.review().comment_on(place).unwrap_or_default().to_owned();
        let keys = [self.keys.of(Action::Send), self.keys.of(Action::Newline)];
        let comment = CommentBox::new(target, &text, given, self.theme(), keys);
        self.overlays.show(Overlay::Review(ReviewBox::Comment(Box::new(comment))));
        Vec::new()
    }

    /// Notes a comment where it belongs, if that is still there.
    pub(super) fn take_comment(&mut self, target: &CommentContext, text: &str) -> Vec<Task> {
        let Some(place) = self.place_of(target) else {
            if text.trim().is_empty() {
                return Vec::new();
            }
            let told = format!("Your comment was not saved: {} is no longer under review.", target.name);
            self.session.report(Level::Warning, told, "It is in the composer.");
            self.focus = crate::tui::action::Pane::Chat;
            return self.typed(|app| {
                if !app.composer.is_empty() {
                    app.composer.newline();
                }
                app.composer.paste(&format!("{}: {text}", target.name));
            });
        };
        let was = self.session.review().comment_on(place).is_some();
        if !self.session.review_mut().comment(place, text) {
            return Vec::new();
        }
        let key = self.keys.first(Action::SendReview).to_owned();
        match (text.trim().is_empty(), was) {
            (true, _) => self.say("the comment is removed"),
            (false, true) => self.say("the comment is changed"),
            (false, false) => self.say(&format!("comment saved; {key} sends the comments to the model")),
        }
    }

    /// What a comment on that place is about.
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

    /// How lines of a hunk (its removed ones first) are called: by their numbers in the text as it will be, or as it was if all
    /// of them go.
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

    /// Where a comment belongs now; `None` if that is gone.
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
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::key;
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
        app.report(proposal("a\nb\nc\n", "A\nb\nC\n"));
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
            app.report(proposal("a\nb\nc\n", "other\nb\nc\n"));
            app.edited(&what, "mine\n");
            assert_eq!(app.composer.text(), "a thought\nsrc/a.rs:\nmine\n", "{keys}");
            // The new one, and the other of the old ones.
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
        app.report(Response::Reread { path: "src/a.rs".into(), text: Some("a\nb\nc\n".into()) });
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
        app.report(Response::Proposed { request: "do it".into(), proposal });
        app.focus = Pane::Review;
        for keys in ["e", "E"] {
            assert!(press(&mut app, keys).iter().all(|task| !matches!(task, Task::Edit(_))));
            assert!(app.hint.text().contains("this change deletes the file"), "{}", app.hint.text());
        }
    }
}
