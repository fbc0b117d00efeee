//! Changes by the user: a whole file that the user edited, or an edit for which the user chose the location. Hunks that are not
//! touched keep their decisions.

use std::ops::Range;
use std::sync::Arc;

use rhumb_text::diff::{self, Hunk};
use rhumb_text::lines;

use super::file::{FileReview, Item, TextBuilder, accepted_lines, compose_items, with_line_endings_of};
use super::hunk::{Decision, ReviewHunk};
use super::marks::HunkMark;
use super::{HunkId, Review, Saved, Step};
use crate::locate::suggest;
use crate::outcome::{EditId, Flag, Outcome};
use crate::proposal::FileChange;

/// Why a text cannot be placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// The file has the same lines there.
    #[error("these lines say that already")]
    Same,
    /// Another hunk changes these lines.
    #[error("another hunk of the review changes these lines")]
    Taken,
    /// The file is new, deleted or renamed in this review, so that it has one hunk.
    #[error("the file is decided as a whole in this review")]
    Whole,
    /// The review is of another text of the file.
    #[error("the file has changed meanwhile")]
    Stale,
}

impl Review {
    /// The hunk of a file that replaces `removed` with `added`; number `number` if there are several.
    pub fn find(&self, path: &str, removed: &str, added: &str, number: usize) -> Option<HunkId> {
        let index = self.files.iter().position(|file| file.path == path)?;
        let file = self.files.get(index)?;
        let is_it = |hunk: usize| file.texts_of(hunk).is_some_and(|texts| texts == (removed.into(), added.into()));
        let hunk = Some(number).filter(|number| is_it(*number)).or_else(|| (0..file.hunks.len()).find(|at| is_it(*at)));
        hunk.map(|hunk| HunkId { file: index, hunk })
    }

    /// Makes `text` the new text of a file, which the user edited starting from [`FileReview::editable_text`].
    /// Hunks that the user did not touch stay as they are, changed ones are accepted. Returns `false` if nothing
    /// changes, or the file is deleted.
    pub fn edit_file(&mut self, file: usize, text: &str) -> bool {
        self.change_file(HunkId { file, hunk: 0 }, |file| file.rewrite_file(text), |changed| *changed).is_some()
    }

    /// Replaces the lines `range` (0-based) of a file with the text `now` by `text`, as a pending hunk. `refused`
    /// is the index of the refused edit that this resolves. Its lasting flags become marks of the hunk. Returns the
    /// first resulting hunk.
    ///
    /// # Errors
    /// The text cannot be placed there.
    pub fn place(
        &mut self,
        refused: Option<usize>,
        path: &str,
        now: &Arc<str>,
        range: Range<usize>,
        text: &str,
    ) -> Result<HunkId, PlaceError> {
        let before = (self.files.clone(), self.refused.clone());
        let refused_edit = refused.and_then(|index| self.refused.get(index));
        let mut marks = marks_by_hand(refused_edit);
        if !suggest::duplicate_lines(now, &range, text).is_empty() {
            marks.push(HunkMark::RepeatsLines);
        }
        let edits = refused_edit.map(|edit| edit.edits.clone()).unwrap_or_default();
        let from_edit = match self.files.iter().position(|file| file.path == path) {
            Some(index) => self
                .files
                .get_mut(index)
                .map_or(Err(PlaceError::Stale), |file| file.place(now, range, text, (&marks, &edits))),
            None => FileReview::from_edit(path, now, range, text, (&marks, &edits)).map(|file| {
                self.files.push(file);
                0
            }),
        };
        let hunk = from_edit?;
        if let Some(index) = refused.filter(|index| *index < self.refused.len()) {
            self.refused.remove(index);
        }
        let file = self.files.iter().position(|file| file.path == path).unwrap_or_default();
        let cursor = HunkId { file, hunk };
        self.record_step(Step { cursor, before: vec![Saved::All(before.0, before.1)] });
        Ok(cursor)
    }

    /// Takes the complete text of a file that the user edited starting from `now`: into its review, or into a new
    /// one in which every hunk is accepted. `refused` is the index of the refused edit that this resolves. Returns
    /// `false` if nothing changes.
    pub fn replace_file(&mut self, refused: Option<usize>, path: &str, now: &Arc<str>, text: &str) -> bool {
        let before = (self.files.clone(), self.refused.clone());
        let edits =
            refused.and_then(|index| self.refused.get(index)).map(|edit| edit.edits.clone()).unwrap_or_default();
        let changed = match self.files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.rewrite_file_for(text, &edits),
            None => {
                let text = Arc::from(with_line_endings_of(text, now, true));
                let mark = |_: &Hunk| vec![HunkMark::ByHand];
                let new = FileReview::new(path.into(), FileChange::Modify, Some(now.clone()), Some(text), mark);
                let new = new.map(|mut file| {
                    for item in &mut file.hunks {
                        item.decide(Decision::Accepted);
                        item.edits.clone_from(&edits);
                    }
                    file
                });
                let is_new = new.is_some();
                self.files.extend(new);
                is_new
            }
        };
        if changed {
            refused.filter(|index| *index < self.refused.len()).map(|index| self.refused.remove(index));
            let file = self.files.iter().position(|file| file.path == path).unwrap_or_default();
            self.record_step(Step { cursor: HunkId { file, hunk: 0 }, before: vec![Saved::All(before.0, before.1)] });
        }
        changed
    }

    /// Dismisses a refused edit. Returns `false` if there is none with that index.
    pub fn dismiss(&mut self, refused: usize) -> bool {
        if refused >= self.refused.len() {
            return false;
        }
        let before = Saved::All(self.files.clone(), self.refused.clone());
        self.refused.remove(refused);
        self.record_step(Step { cursor: HunkId::default(), before: vec![before] });
        true
    }
}

impl FileReview {
    /// The removed and the added lines of a hunk.
    pub fn texts_of(&self, hunk: usize) -> Option<(String, String)> {
        let range = &self.hunks.get(hunk)?.hunk;
        let (old, new) = self.split_texts();
        Some((old.get(range.base.clone())?.concat(), new.get(range.proposed.clone())?.concat()))
    }

    /// The text that the user edits: with all hunks that are not rejected. `None` if the file is deleted.
    pub fn editable_text(&self) -> Option<String> {
        match (&self.change, &self.proposed) {
            (FileChange::Delete, _) | (_, None) => None,
            (FileChange::Modify, Some(_)) => Some(self.with_hunk_ranges().0),
            (_, Some(proposed)) => Some(proposed.to_string()),
        }
    }

    /// The editable text, and the range of its lines for each hunk.
    fn with_hunk_ranges(&self) -> (String, Vec<Range<usize>>) {
        let (old, new) = self.split_texts();
        let mut text = TextBuilder::new(self.base.as_deref().unwrap_or_default());
        let (mut ranges, mut at) = (Vec::with_capacity(self.hunks.len()), 0);
        for item in &self.hunks {
            text.push(old.get(at..item.hunk.base.start).unwrap_or_default());
            let start = text.lines;
            text.push(&accepted_lines(item, &old, &new, &|decision| decision != Decision::Rejected));
            ranges.push(start..text.lines);
            at = item.hunk.base.end;
        }
        text.push(old.get(at..).unwrap_or_default());
        (text.text, ranges)
    }

    /// The line of [`FileReview::editable_text`] (1-based) of a hunk.
    pub fn hunk_line_in_edited(&self, hunk: usize) -> usize {
        let ranges = if self.is_divisible() { self.with_hunk_ranges().1 } else { Vec::new() };
        ranges.get(hunk).map_or(1, |range| range.start + 1)
    }

    /// The line of [`FileReview::editable_text`] (0-based) of a line of the base.
    pub fn base_line_in_edited(&self, base: usize) -> usize {
        let ranges = if self.is_divisible() { self.with_hunk_ranges().1 } else { Vec::new() };
        let pairs = ranges.iter().zip(&self.hunks).filter(|(_, item)| item.hunk.base.end <= base);
        let more: isize = pairs.map(|(range, item)| range.len() as isize - item.hunk.base.len() as isize).sum();
        base.checked_add_signed(more).unwrap_or_default()
    }

    /// The current path of the file on disk, if it exists.
    pub fn name_on_disk(&self) -> &str {
        match &self.change {
            FileChange::Rename { from } => from,
            FileChange::Create | FileChange::Modify | FileChange::Delete => &self.path,
        }
    }

    /// Takes `text` as the new text of the file. New hunks belong to `edits`.
    fn rewrite_file_for(&mut self, text: &str, edits: &[EditId]) -> bool {
        let changed = self.rewrite_file(text);
        let is_new = |item: &&mut ReviewHunk| item.edits.is_empty() && item.original().is_some();
        self.hunks.iter_mut().filter(is_new).for_each(|item| item.edits.extend_from_slice(edits));
        changed
    }

    fn rewrite_file(&mut self, text: &str) -> bool {
        let Some(base) = self.base.clone().filter(|_| self.is_divisible()) else {
            return self.rewrite(0, text);
        };
        let (shown, ranges) = self.with_hunk_ranges();
        let text = with_line_endings_of(text, &base, true);
        let drift = diff::hunks(&shown, &text);
        if drift.is_empty() {
            return false;
        }
        let proposed = self.proposed.clone().unwrap_or_default();
        let (old, new) = (lines::split(&base), lines::split(&text));
        let mut left = self.items(&lines::split(&proposed)).into_iter();
        let (mut items, mut at): (Vec<Item<'_>>, usize) = (Vec::new(), 0);
        for group in groups(&ranges, &drift) {
            items.extend(left.by_ref().take(group.items.start - at));
            let touched = left.by_ref().take(group.items.len()).collect();
            at = group.items.end;
            let (base, own) = group.lines(&self.hunks, &ranges, &drift);
            items.extend(rewritten(touched, (&old, base), (&new, own)));
        }
        items.extend(left);
        let (proposed, hunks) = compose_items(&base, items);
        (self.proposed, self.hunks) = (Some(Arc::from(proposed)), hunks);
        true
    }

    /// Replaces these lines of the base, which has to be `now`. Returns the index of the first resulting hunk.
    fn place(&mut self, now: &str, range: Range<usize>, text: &str, from: Origin<'_>) -> Result<usize, PlaceError> {
        if !self.is_divisible() {
            return Err(PlaceError::Whole);
        }
        let Some(base) = self.base.clone().filter(|base| **base == *now) else { return Err(PlaceError::Stale) };
        let meets = |hunk: &Hunk| {
            let (own, other) = (&range, &hunk.base);
            own.start < other.end && other.start < own.end || own.start == other.start && own.end == other.end
        };
        if self.hunks.iter().any(|item| meets(&item.hunk)) {
            return Err(PlaceError::Taken);
        }
        let text = with_line_endings_of(text, &base, range.end >= lines::split(&base).len());
        let added = changes(&base, &range, &text, from);
        let first = added.first().map(|(item, _)| item.hunk.base.clone()).ok_or(PlaceError::Same)?;
        let proposed = self.proposed.clone().unwrap_or_default();
        let mut items = self.items(&lines::split(&proposed));
        items.extend(added);
        items.sort_by_key(|(item, _)| (item.hunk.base.start, item.hunk.base.end));
        let (proposed, hunks) = compose_items(&base, items);
        (self.proposed, self.hunks) = (Some(Arc::from(proposed)), hunks);
        Ok(self.hunks.iter().position(|item| item.hunk.base == first).unwrap_or_default())
    }

    /// The review of a file in which one text was placed.
    fn from_edit(
        path: &str,
        now: &Arc<str>,
        range: Range<usize>,
        text: &str,
        from: Origin<'_>,
    ) -> Result<Self, PlaceError> {
        let text = with_line_endings_of(text, now, range.end >= lines::split(now).len());
        let items = changes(now, &range, &text, from);
        if items.is_empty() {
            return Err(PlaceError::Same);
        }
        let (proposed, hunks) = compose_items(now, items);
        let (base, proposed) = (Some(now.clone()), Some(Arc::from(proposed)));
        let (path, comment) = (path.to_owned(), String::new());
        Ok(Self { path, stored_at: None, change: FileChange::Modify, base, proposed, hunks, comment })
    }
}

/// The marks of a hunk that the user placed: that, and the flags of the edit that do not depend on its location.
fn marks_by_hand(edit: Option<&Outcome>) -> Vec<HunkMark> {
    let lasting = |flag: &Flag| matches!(flag, Flag::RunsLater | Flag::NewAddress);
    let flags = edit.into_iter().flat_map(|edit| edit.flags.iter().copied()).filter(lasting);
    [HunkMark::ByHand].into_iter().chain(flags.map(HunkMark::Flag)).collect()
}

/// Marks and edits of a placed hunk.
type Origin<'a> = (&'a [HunkMark], &'a [EditId]);

/// The hunks that replace these lines of `base` with `text`.
fn changes<'t>(base: &str, range: &Range<usize>, text: &'t str, from: Origin<'_>) -> Vec<Item<'t>> {
    let old = lines::split(base);
    let range = range.start.min(old.len())..range.end.min(old.len());
    let new = lines::split(text);
    let hunks = diff::line_hunks(old.get(range.clone()).unwrap_or_default(), &new);
    let moved = |hunk: Hunk| {
        let added = new.get(hunk.proposed.clone()).unwrap_or_default().to_vec();
        let base = hunk.base.start + range.start..hunk.base.end + range.start;
        (ReviewHunk::new(Hunk { base, ..hunk }, from.0.to_vec()).made_by(from.1), added)
    };
    hunks.into_iter().map(moved).collect()
}

/// Changes of the user that touch the same hunks.
#[derive(Debug)]
struct Group {
    /// Indices of the changes.
    drift: Range<usize>,
    /// Indices of the hunks.
    items: Range<usize>,
}

/// The changes of the user in groups, in order. `ranges` are the ranges of the hunks in the text that the user
/// edited.
fn groups(ranges: &[Range<usize>], drift: &[Hunk]) -> Vec<Group> {
    let touches =
        |range: &Range<usize>, change: &Hunk| change.base.start <= range.end && change.base.end >= range.start;
    let mut groups: Vec<Group> = Vec::new();
    for (number, change) in drift.iter().enumerate() {
        let before = ranges.iter().take_while(|range| range.end < change.base.start).count();
        let start = ranges.iter().position(|range| touches(range, change)).unwrap_or(before);
        let count = ranges.iter().skip(start).take_while(|range| touches(range, change)).count();
        let items = start..start + count;
        match groups.last_mut().filter(|last| !items.is_empty() && items.start < last.items.end) {
            Some(last) => {
                last.drift.end = number + 1;
                last.items.end = last.items.end.max(items.end);
            }
            None => groups.push(Group { drift: number..number + 1, items }),
        }
    }
    groups
}

impl Group {
    /// The lines of the base and the lines of the user's text for this group.
    fn lines(&self, hunks: &[ReviewHunk], ranges: &[Range<usize>], drift: &[Hunk]) -> (Range<usize>, Range<usize>) {
        let changes = drift.get(self.drift.clone()).unwrap_or_default();
        let own = ranges.get(self.items.clone()).unwrap_or_default();
        let starts = changes.iter().map(|change| change.base.start).chain(own.iter().map(|range| range.start));
        let ends = changes.iter().map(|change| change.base.end).chain(own.iter().map(|range| range.end));
        let (start, end) = (starts.min().unwrap_or_default(), ends.max().unwrap_or_default());
        // The difference in lines between base and edited text, and between edited text and the user's text.
        let more = |until: usize| -> isize {
            let pairs = ranges.iter().zip(hunks).take(until);
            pairs.map(|(range, item)| range.len() as isize - item.hunk.base.len() as isize).sum()
        };
        let drifted = |until: usize| -> isize {
            drift.iter().take(until).map(|change| change.proposed.len() as isize - change.base.len() as isize).sum()
        };
        let at = |line: usize, by: isize| line.checked_add_signed(by).unwrap_or_default();
        let base = at(start, -more(self.items.start))..at(end, -more(self.items.end));
        (base, at(start, drifted(self.drift.start))..at(end, drifted(self.drift.end)))
    }
}

/// The accepted hunks that replace `touched` after the user edited these lines. If the user restored the lines of
/// the file, the hunks are kept and rejected.
fn rewritten<'t>(
    mut touched: Vec<Item<'t>>,
    (old, base): (&[&'t str], Range<usize>),
    (new, own): (&[&'t str], Range<usize>),
) -> Vec<Item<'t>> {
    let old = old.get(base.clone()).unwrap_or_default();
    let new = new.get(own).unwrap_or_default();
    let hunks = diff::line_hunks(old, new);
    if hunks.is_empty() {
        touched.iter_mut().for_each(|(item, _)| item.decide(Decision::Rejected));
        return touched;
    }
    let mut before = String::new();
    let (mut marks, mut notes): (Vec<HunkMark>, Vec<String>) = (Vec::new(), Vec::new());
    let mut edits: Vec<EditId> = Vec::new();
    for (item, added) in touched {
        before.push_str(&item.original().map_or_else(|| added.concat(), str::to_owned));
        marks.extend(item.marks.iter().filter(|mark| !marks.contains(mark)).cloned().collect::<Vec<_>>());
        edits.extend(item.edits.iter().filter(|edit| !edits.contains(edit)).copied().collect::<Vec<_>>());
        notes.extend(item.comments().map(|(_, text)| text.to_owned()));
    }
    let moved = |(number, hunk): (usize, Hunk)| {
        let added = new.get(hunk.proposed.clone()).unwrap_or_default().to_vec();
        let range = hunk.base.start + base.start..hunk.base.end + base.start;
        let mut item = ReviewHunk::new(Hunk { base: range, ..hunk }, marks.clone()).made_by(&edits);
        item.rewrite(if number == 0 { &before } else { "" }, added.len());
        if number == 0 {
            item.note(None, &notes.join("\n"));
        }
        (item, added)
    };
    hunks.into_iter().enumerate().map(moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::Composed;
    use proptest::prelude::*;

    fn review(base: &str, proposed: &str) -> Review {
        let mark = |_: &Hunk| vec![HunkMark::Located(crate::Strategy::Fuzzy, 93)];
        let (base, proposed) = (Some(Arc::from(base)), Some(Arc::from(proposed)));
        let file = FileReview::new("a".into(), FileChange::Modify, base, proposed, mark);
        Review { files: file.into_iter().collect(), ..Review::default() }
    }

    fn id(hunk: usize) -> HunkId {
        HunkId { file: 0, hunk }
    }

    fn decisions(review: &Review) -> Vec<Decision> {
        review.files[0].hunks.iter().map(ReviewHunk::decision).collect()
    }

    #[test]
    fn untouched_hunks_keep_their_decision_and_edited_ones_are_accepted() {
        let mut review = review("a\nb\nc\nd\ne\nf\ng\n", "A\nb\nC\nd\nE\nf\nG\n");
        review.decide(id(0), Decision::Rejected);
        review.decide(id(1), Decision::Accepted);
        assert_eq!(review.files[0].editable_text().unwrap(), "a\nb\nC\nd\nE\nf\nG\n");
        assert_eq!((review.files[0].hunk_line_in_edited(2), review.files[0].hunk_line_in_edited(3)), (5, 7));
        assert!(review.edit_file(0, "a\nb\nC\nd\nmine\nand\nf\nG\n"));
        use Decision::{Accepted, Pending, Rejected};
        assert_eq!(decisions(&review), [Rejected, Accepted, Accepted, Pending]);
        assert_eq!(review.files[0].hunks[2].original(), Some("E\n"));
        assert_eq!(review.files[0].hunks[2].marks, [HunkMark::Located(crate::Strategy::Fuzzy, 93)]);
        assert_eq!(review.files[0].composed(), Composed::Text("a\nb\nC\nd\nmine\nand\nf\ng\n".into()));
        review.undo();
        assert_eq!(decisions(&review), [Rejected, Accepted, Pending, Pending]);
        assert!(!review.edit_file(0, "a\nb\nC\nd\nE\nf\nG\n"), "nothing was changed");
    }

    #[test]
    fn a_hunk_that_the_user_reverts_is_rejected_and_a_new_change_is_a_new_hunk() {
        let mut review = review("a\nb\nc\nd\n", "A\nb\nc\nd\n");
        assert!(review.edit_file(0, "a\nb\nc\nmine\n"));
        assert_eq!(decisions(&review), [Decision::Rejected, Decision::Accepted]);
        assert_eq!(review.files[0].proposed.as_deref(), Some("A\nb\nc\nmine\n"));
    }

    #[test]
    fn the_user_places_an_edit_and_undoes_it() {
        let now: Arc<str> = Arc::from("a\nb\nc\nd\n");
        let mut review = review("a\nb\nc\nd\n", "A\nb\nc\nd\n");
        assert_eq!(review.place(None, "a", &now, 0..2, "x\n"), Err(PlaceError::Taken));
        assert_eq!(review.place(None, "a", &now, 1..2, "b\n"), Err(PlaceError::Same));
        assert_eq!(review.place(None, "a", &Arc::from("b\n"), 0..1, "x\n"), Err(PlaceError::Stale));
        assert_eq!(review.place(None, "a", &now, 2..4, "C\nd\n"), Ok(id(1)));
        assert_eq!(review.files[0].hunks[1].marks, [HunkMark::ByHand]);
        assert_eq!(review.place(None, "other", &now, 3..4, "D"), Ok(HunkId { file: 1, hunk: 0 }));
        assert_eq!(review.files[1].proposed.as_deref(), Some("a\nb\nc\nD"));
        assert_eq!(review.counts().pending, 3);
        review.undo();
        review.undo();
        assert_eq!((review.files.len(), review.counts().pending), (1, 1));
        review.redo();
        assert_eq!(review.counts().pending, 2);
    }

    #[test]
    fn a_hunk_is_found_by_its_lines() {
        let review = review("a\nb\na\n", "x\nb\nx\n");
        assert_eq!(review.find("a", "a\n", "x\n", 1), Some(id(1)));
        assert_eq!(review.find("a", "a\n", "x\n", 7), Some(id(0)));
        assert_eq!((review.find("a", "b\n", "x\n", 0), review.find("b", "a\n", "x\n", 0)), (None, None));
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec("[abcd]\n", 0..10).prop_map(|lines| lines.concat())
    }

    proptest! {
        #[test]
        fn the_file_becomes_what_the_user_wrote(
            base in text(), proposed in text(), own in text(), decided in prop::collection::vec(0usize..3, 8), split in any::<bool>(),
        ) {
            let mut review = review(&base, &proposed);
            prop_assume!(!review.files.is_empty());
            if split {
                review.split(id(0));
            }
            for (hunk, decision) in decided.into_iter().enumerate() {
                let decision = [Decision::Pending, Decision::Accepted, Decision::Rejected][decision];
                review.decide(id(hunk), decision);
            }
            let before = review.files.clone();
            let changed = review.edit_file(0, &own);
            prop_assert_eq!(review.files[0].editable_text().unwrap(), own);
            let (old, new) = review.files[0].split_texts();
            let mut at = (0, 0);
            for item in &review.files[0].hunks {
                prop_assert!(at.0 <= item.hunk.base.start && item.hunk.base.end <= old.len());
                prop_assert!(at.1 <= item.hunk.proposed.start && item.hunk.proposed.end <= new.len());
                prop_assert!(item.is_consistent());
                at = (item.hunk.base.end, item.hunk.proposed.end);
            }
            if changed {
                review.undo();
            }
            prop_assert_eq!(&review.files, &before);
        }
    }
}
