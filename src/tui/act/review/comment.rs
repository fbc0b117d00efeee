//! Comments on lines, hunks and files under review: they are kept with it and sent when the user says so.

use crate::session::Level;
use crate::tui::action::Action;
use crate::tui::app::{App, ReviewItem, Task};
use crate::tui::overlay::{CommentBox, CommentPlace, Overlay, ReviewBox};
use rhumb_edit::review::{CommentTarget, HunkId};
use rhumb_text::lines;

impl App {
    /// Opens a box for a comment on the selected lines, the line or the hunk under the cursor.
    pub(super) fn comment_here(&mut self) -> Vec<Task> {
        let selected = self.selected_lines();
        let place = match (selected, self.review_item()) {
            (Some((id, lines)), _) => {
                let is_all = self.session.review.hunk(id).is_some_and(|item| lines.len() >= item.line_count());
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
        let Some(target) = self.comment_place(place) else { return Vec::new() };
        let text = self.session.review.comment_on(place).unwrap_or_default().to_owned();
        let keys = [self.keys.of(Action::Send), self.keys.of(Action::Newline)];
        let comment = CommentBox::new(target, &text, given, &self.theme, keys);
        self.overlay = Some(Overlay::Review(ReviewBox::Comment(Box::new(comment))));
        Vec::new()
    }

    /// Notes a comment where it belongs, if that is still there.
    pub(super) fn take_comment(&mut self, target: &CommentPlace, text: &str) -> Vec<Task> {
        let Some(place) = self.place_of(target) else {
            if text.trim().is_empty() {
                return Vec::new();
            }
            let told = format!("Your comment was not saved: {} is no longer under review.", target.name);
            self.session.tell(Level::Warning, told, "It is in the composer.");
            self.focus = crate::tui::action::Pane::Chat;
            return self.typed(|app| {
                if !app.composer.is_empty() {
                    app.composer.newline();
                }
                app.composer.paste(&format!("{}: {text}", target.name));
            });
        };
        let was = self.session.review.comment_on(place).is_some();
        if !self.session.review.comment(place, text) {
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
    fn comment_place(&self, place: CommentTarget) -> Option<CommentPlace> {
        let review = &self.session.review;
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
        Some(CommentPlace { place, path, hunk, name, quoted })
    }

    /// How lines of a hunk (its removed ones first) are called: by their numbers in the text as it will be, or as it was if all
    /// of them go.
    fn lines_named(&self, id: HunkId, wanted: std::ops::Range<usize>) -> String {
        let Some(item) = self.session.review.hunk(id) else { return String::new() };
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
    fn place_of(&self, target: &CommentPlace) -> Option<CommentTarget> {
        let review = &self.session.review;
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
