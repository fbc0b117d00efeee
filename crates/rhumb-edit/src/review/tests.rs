//! Examples and laws of the review as a whole.

use crate::review::*;
use crate::{FileChange, FileProposal, Flag, Proposal};
use proptest::prelude::*;
use std::sync::Arc;

fn review(base: &str, proposed: &str) -> Review {
    let file = FileProposal {
        path: "a".into(),
        change: FileChange::Modify,
        base: Some(Arc::from(base)),
        proposed: Some(Arc::from(proposed)),
    };
    Review::new(Proposal { files: vec![file], ..Proposal::default() })
}

fn id(hunk: usize) -> HunkId {
    HunkId { file: 0, hunk }
}

fn text_of(review: &Review) -> Composed {
    review.files[0].composed()
}

#[test]
fn only_accepted_hunks_are_composed() {
    let mut review = review("a\nb\nc\n", "A\nb\nC\n");
    review.decide(id(0), Decision::Accepted);
    review.decide(id(1), Decision::Rejected);
    assert_eq!(text_of(&review), Composed::Text("A\nb\nc\n".into()));
}

#[test]
fn nothing_accepted_leaves_the_file_alone() {
    let mut review = review("a\n", "b\n");
    assert_eq!(text_of(&review), Composed::Untouched);
    review.decide_all(Decision::Rejected);
    assert_eq!(text_of(&review), Composed::Untouched);
}

#[test]
fn a_bulk_decision_is_one_undo_step() {
    let mut review = review("a\nb\nc\n", "A\nb\nC\n");
    assert_eq!(review.decide_all(Decision::Accepted), 2);
    review.undo();
    assert_eq!(review.counts().pending, 2);
    review.redo();
    assert_eq!(review.counts().accepted, 2);
}

#[test]
fn deciding_the_same_again_is_no_step() {
    let mut review = review("a\n", "b\n");
    review.decide(id(0), Decision::Accepted);
    assert_eq!(review.decide(id(0), Decision::Accepted), 0);
    review.undo();
    assert_eq!(review.counts().pending, 1);
}

#[test]
fn the_next_pending_hunk_wraps_round() {
    let mut review = review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    review.decide(id(1), Decision::Accepted);
    assert_eq!(review.next_pending(id(0)), Some(id(2)));
    assert_eq!(review.next_pending(id(2)), Some(id(0)));
}

#[test]
fn after_a_write_pending_hunks_remain_on_the_new_base() {
    let mut review = review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    review.decide(id(0), Decision::Accepted);
    review.decide(id(1), Decision::Rejected);
    review.settle("a");
    let file = &review.files[0];
    assert_eq!(file.base.as_deref(), Some("A\nb\nc\nd\ne\n"));
    assert_eq!(file.proposed.as_deref(), Some("A\nb\nc\nd\nE\n"));
    assert_eq!(review.counts(), Counts { pending: 1, ..Counts::default() });
}

#[test]
fn a_written_file_with_nothing_left_leaves_the_review() {
    let mut review = review("a\n", "b\n");
    review.decide_all(Decision::Accepted);
    review.settle("a");
    assert!(review.files.is_empty());
}

#[test]
fn a_deleted_file_is_one_decision() {
    let file =
        FileProposal { path: "a".into(), change: FileChange::Delete, base: Some(Arc::from("x\ny\n")), proposed: None };
    let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
    assert_eq!(review.counts().total(), 1);
    review.decide_all(Decision::Accepted);
    assert_eq!(text_of(&review), Composed::Deleted);
}

#[test]
fn an_empty_new_file_can_be_accepted() {
    let file = FileProposal { path: "a".into(), change: FileChange::Create, base: None, proposed: Some(Arc::from("")) };
    let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
    review.decide_all(Decision::Accepted);
    assert_eq!(text_of(&review), Composed::Text(String::new()));
}

#[test]
fn hunks_move_with_lines_that_came_above_and_keep_their_decision() {
    let mut review = review("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\nF\n");
    review.decide_all(Decision::Accepted);
    assert!(review.files[0].rebase("new\na\nb\nc\nd\ne\nf\n").is_empty());
    assert_eq!(text_of(&review), Composed::Text("new\na\nb\nc\nd\ne\nF\n".into()));
}

#[test]
fn a_hunk_whose_lines_changed_is_given_back() {
    let mut review = review("a\nb\nc\n", "a\nB\nc\n");
    assert_eq!(review.files[0].rebase("a\nmine\nc\n").len(), 1);
    assert!(review.files[0].hunks.is_empty());
}

#[test]
fn some_lines_of_a_hunk_can_be_taken() {
    let mut review = review("a\nb\nc\nd\n", "a\nB\nC\nd\n");
    // Lines of the hunk: -b -c +B +C
    assert_eq!(review.decide_lines(id(0), 0..1, Decision::Accepted), 1);
    assert_eq!(review.decide_lines(id(0), 2..3, Decision::Accepted), 1);
    assert_eq!(review.counts(), Counts { pending: 1, ..Counts::default() });
    assert_eq!(text_of(&review), Composed::Text("a\nc\nB\nd\n".into()));
    review.decide_lines(id(0), 0..4, Decision::Rejected);
    assert_eq!(review.counts().rejected, 1);
    assert_eq!(review.decide_lines(id(0), 3..9, Decision::Accepted), 1);
    assert_eq!(review.counts().accepted, 1);
    assert!(review.files[0].hunks[0].has_line_decisions());
}

#[test]
fn the_rest_of_a_partly_accepted_hunk_stays_after_a_write() {
    let mut review = review("a\nb\nc\nd\n", "a\nB\nC\nd\n");
    review.decide_lines(id(0), 0..1, Decision::Accepted);
    review.decide_lines(id(0), 2..3, Decision::Accepted);
    review.comment(CommentTarget::Line(id(0), 1), "why?");
    review.settle("a");
    assert_eq!(review.files[0].base.as_deref(), Some("a\nc\nB\nd\n"));
    assert_eq!(review.files[0].proposed.as_deref(), Some("a\nB\nC\nd\n"));
    assert_eq!(review.counts().pending, review.counts().total());
    assert_eq!(review.comments().map(|(_, text)| text).collect::<Vec<_>>(), ["why?"]);
}

#[test]
fn a_hunk_comes_apart_line_by_line_and_its_parts_are_decided_alone() {
    let mut review = review("let a = one();\nlet b = two();\n", "let a = one(1);\nlet b = two(2);\n");
    assert_eq!(review.split(id(0)), 2);
    review.decide(id(1), Decision::Accepted);
    assert_eq!(text_of(&review), Composed::Text("let a = one();\nlet b = two(2);\n".into()));
    assert!(review.join(id(0)));
    assert!(!review.join(id(0)));
}

#[test]
fn hunks_that_lie_apart_can_be_joined_and_taken_apart_again() {
    let mut review = review("a\nb\nc\n", "A\nb\nC\n");
    let before = review.files.clone();
    assert!(review.join(id(0)));
    assert_eq!(review.counts().total(), 1);
    review.decide_all(Decision::Accepted);
    assert_eq!(text_of(&review), Composed::Text("A\nb\nC\n".into()));
    review.undo();
    review.undo();
    assert_eq!(review.files, before);
    review.join(id(0));
    assert!(review.split_at(id(0), 3));
    assert_eq!(review.counts().total(), 2);
}

#[test]
fn an_edited_hunk_is_accepted_and_tells_what_was_proposed() {
    let mut review = review("a\r\nb\r\nc\r\nd\r\n", "a\r\nB\r\nc\r\nD\r\n");
    assert!(review.edit(id(0), "mine\nand more"));
    assert_eq!(review.counts(), Counts { pending: 1, accepted: 1, rejected: 0 });
    assert_eq!(review.files[0].hunks[0].original(), Some("B\r\n"));
    assert_eq!(text_of(&review), Composed::Text("a\r\nmine\r\nand more\r\nc\r\nd\r\n".into()));
    assert!(!review.edit(id(0), "mine\nand more\n"));
    review.decide_all(Decision::Accepted);
    assert_eq!(text_of(&review), Composed::Text("a\r\nmine\r\nand more\r\nc\r\nD\r\n".into()));
}

#[test]
fn restoring_the_text_of_the_file_changes_nothing() {
    let mut review = review("a\nb\n", "a\nB\n");
    review.edit(id(0), "b\n");
    assert_eq!(text_of(&review), Composed::Untouched);
}

#[test]
fn a_new_file_is_edited_as_a_whole_and_a_deleted_one_not() {
    let file = |change, base: Option<&str>, proposed: Option<&str>| {
        let file =
            FileProposal { path: "a".into(), change, base: base.map(Arc::from), proposed: proposed.map(Arc::from) };
        Review::new(Proposal { files: vec![file], ..Proposal::default() })
    };
    let mut new = file(FileChange::Create, None, Some("x\n"));
    assert!(new.edit(id(0), "y"));
    assert_eq!(text_of(&new), Composed::Text("y".into()));
    assert_eq!((new.split(id(0)), new.decide_lines(id(0), 0..1, Decision::Rejected)), (1, 0));
    assert!(!file(FileChange::Delete, Some("x\n"), None).edit(id(0), "y"));
}

#[test]
fn comments_are_listed_in_reading_order_and_go_when_emptied() {
    let mut review = review("a\nb\nc\n", "A\nb\nC\n");
    review.comment(CommentTarget::Line(id(1), 1), "third");
    review.comment(CommentTarget::Hunk(id(0)), "second");
    review.comment(CommentTarget::File(0), "first");
    assert!(!review.comment(CommentTarget::Line(id(1), 2), "no such line"));
    assert!(!review.comment(CommentTarget::File(0), "first\n"));
    let places: Vec<_> = review.comments().collect();
    let wanted = [
        (CommentTarget::File(0), "first"),
        (CommentTarget::Hunk(id(0)), "second"),
        (CommentTarget::Line(id(1), 1), "third"),
    ];
    assert_eq!(places, wanted);
    review.comment(CommentTarget::Hunk(id(0)), " ");
    assert_eq!(review.comments().count(), 2);
    review.undo();
    assert_eq!(review.comments().count(), 3);
}

#[test]
fn a_newer_proposal_keeps_what_was_said_of_the_hunks_it_shares() {
    let mut older = review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\ne\n");
    older.edit(id(0), "mine\n");
    older.comment(CommentTarget::Hunk(id(0)), "better");
    older.decide(id(1), Decision::Rejected);
    let replaced = older.merge(review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n"));
    assert_eq!(replaced, [""; 0]);
    assert_eq!(older.files[0].proposed.as_deref(), Some("mine\nb\nC\nd\nE\n"));
    assert_eq!(older.counts(), Counts { pending: 1, accepted: 1, rejected: 1 });
    assert_eq!(older.comments().count(), 1);
    // Another change in place of a rejected one replaces nothing.
    assert_eq!(older.merge(review("a\nb\nc\nd\ne\n", "a\nb\nX\nd\nE\n")), [""; 0]);
    assert_eq!(older.files[0].proposed.as_deref(), Some("mine\nb\nX\nd\nE\n"));
    assert_eq!(older.counts(), Counts { pending: 2, accepted: 1, rejected: 0 });
    let asked_anew = older.clone().merge(review("a\nb\nc\nd\ne\n", "yours\nb\nc\nd\ne\n"));
    assert_eq!(asked_anew, [""; 0], "it has a comment");
    older.comment(CommentTarget::Hunk(id(0)), "");
    assert_eq!(older.merge(review("a\nb\nc\nd\ne\n", "yours\nb\nc\nd\ne\n")), ["a"]);
    assert_eq!(older.counts(), Counts { pending: 3, accepted: 0, rejected: 0 });
}

#[test]
fn hunks_that_a_newer_proposal_does_not_touch_stay() {
    let mut older = review("a\nb\nc\nd\ne\nf\ng\n", "A\nb\nC\nd\nE\nf\ng\n");
    older.decide(id(1), Decision::Rejected);
    older.comment(CommentTarget::Hunk(id(2)), "why?");
    assert_eq!(older.merge(review("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\ne\nf\nG\n")), [""; 0]);
    assert_eq!(older.files[0].proposed.as_deref(), Some("A\nb\nC\nd\nE\nf\nG\n"));
    assert_eq!(older.counts(), Counts { pending: 3, accepted: 0, rejected: 1 });
    assert_eq!(older.comments().count(), 1);
}

#[test]
fn hunks_that_a_complete_proposal_does_not_have_are_taken_back() {
    let mut older = review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    older.decide(id(1), Decision::Rejected);
    older.merge_complete(review("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"));
    assert_eq!(older.files[0].proposed.as_deref(), Some("a\nb\nC\nd\nE\n"), "the rejected hunk stays");
    assert_eq!(older.counts(), Counts { pending: 1, accepted: 0, rejected: 1 });
}

#[test]
fn pending_changes_are_all_hunks_that_are_not_rejected() {
    let mut review = review("a\nb\nc\nd\ne\n", "A\nb\nC\nd\nE\n");
    review.decide(id(0), Decision::Rejected);
    review.decide(id(1), Decision::Accepted);
    review.comment(CommentTarget::Hunk(id(2)), "otherwise");
    let standing = review.pending_changes();
    assert_eq!(standing[0].file.proposed.as_deref(), Some("a\nb\nC\nd\nE\n"));
    assert_eq!(standing[0].commented, std::slice::from_ref(&(4..5)));
    review.decide_all(Decision::Rejected);
    assert_eq!(review.pending_changes(), []);
}

#[test]
fn a_rebase_takes_parts_and_edits_along() {
    let mut review = review("a\nb = 1\nc = 2\nd\n", "a\nb = 10\nc = 20\nd\n");
    review.split(id(0));
    review.edit(id(1), "c = 30\n");
    let before = review.files[0].hunks.clone();
    assert!(review.files[0].rebase("new\na\nb = 1\nc = 2\nd\n").is_empty());
    assert_eq!(text_of(&review), Composed::Text("new\na\nb = 1\nc = 30\nd\n".into()));
    assert_eq!(review.files[0].hunks.iter().map(said).collect::<Vec<_>>(), before.iter().map(said).collect::<Vec<_>>());
}

#[test]
fn accept_all_leaves_files_that_tools_run_to_be_confirmed() {
    let file = |path: &str| {
        let (base, proposed) = (Some(Arc::from("1\n2\n3\n")), Some(Arc::from("one\n2\nthree\n")));
        FileProposal { path: path.into(), change: FileChange::Modify, base, proposed }
    };
    let mut review = Review::new(Proposal { files: vec![file("Makefile"), file("a.rs")], ..Proposal::default() });
    for hunk in &mut review.files[0].hunks {
        hunk.marks = vec![HunkMark::Flag(Flag::RunsLater)];
    }
    assert_eq!(review.accept_all(), 2);
    assert_eq!((review.counts().accepted, review.files_awaiting_confirmation()), (2, vec!["Makefile".to_owned()]));
    let first = HunkId { file: 0, hunk: 0 };
    review.decide(first, Decision::Accepted);
    assert_eq!(review.accept_all(), 0, "the other still waits");
    assert_eq!(review.files_awaiting_confirmation(), ["Makefile"]);
    review.decide_file(0, Decision::Accepted);
    assert!(review.files_awaiting_confirmation().is_empty());
    review.undo();
    review.undo();
    review.undo();
    assert_eq!(review.counts().pending, 4);
}

#[test]
fn several_decisions_are_one_step() {
    let (base, proposed) = (Some(Arc::from("1\n2\n3\n")), Some(Arc::from("one\n2\nthree\n")));
    let file = FileProposal { path: "a".into(), change: FileChange::Modify, base, proposed };
    let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
    let ids: Vec<HunkId> = review.ids().collect();
    let wanted = [(ids[0], Decision::Accepted), (ids[1], Decision::Rejected)];
    assert_eq!(review.decide_each(wanted), 2);
    assert_eq!((review.decision(ids[0]), review.decision(ids[1])), (Decision::Accepted, Decision::Rejected));
    assert_eq!(review.decide_each(wanted), 0, "nothing changes");
    review.undo();
    assert_eq!(review.counts().pending, 2);
}

/// Everything in a hunk except its location.
fn said(item: &ReviewHunk) -> String {
    let decisions: Vec<_> = (0..item.line_count()).map(|line| item.line_decision(line)).collect();
    format!("{decisions:?} {:?} {:?}", item.original(), item.comments().collect::<Vec<_>>())
}

/// An action of the user.
#[derive(Debug, Clone)]
enum Act {
    Decide(usize, Decision),
    Lines(usize, usize, usize, Decision),
    All(Decision),
    Split(usize),
    SplitAt(usize, usize),
    SplitOut(usize, usize, usize),
    Join(usize),
    Edit(usize, String),
    Comment(usize, Option<usize>, String),
}

impl Act {
    /// Performs the action. Returns whether it changed something.
    fn run(&self, review: &mut Review) -> bool {
        match self {
            Self::Decide(hunk, decision) => review.decide(id(*hunk), *decision) > 0,
            Self::Lines(hunk, start, count, decision) => {
                review.decide_lines(id(*hunk), *start..start + count, *decision) > 0
            }
            Self::All(decision) => review.decide_all(*decision) > 0,
            Self::Split(hunk) => review.split(id(*hunk)) > 1,
            Self::SplitAt(hunk, line) => review.split_at(id(*hunk), *line),
            Self::SplitOut(hunk, start, count) => {
                let lines = *start..start + count;
                review.split_out(id(*hunk), &[lines]).is_some()
            }
            Self::Join(hunk) => review.join(id(*hunk)),
            Self::Edit(hunk, text) => review.edit(id(*hunk), text),
            Self::Comment(hunk, line, text) => {
                let place = line.map_or(CommentTarget::Hunk(id(*hunk)), |line| CommentTarget::Line(id(*hunk), line));
                review.comment(place, text)
            }
        }
    }
}

/// Texts with both line endings, some without a final newline.
fn text() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec("[abc]{0,3}(\n|\r\n)", 0..12);
    (lines, "[ab]{0,2}").prop_map(|(lines, tail)| lines.concat() + &tail)
}

fn decision() -> impl Strategy<Value = Decision> {
    prop_oneof![Just(Decision::Pending), Just(Decision::Accepted), Just(Decision::Rejected)]
}

fn act() -> impl Strategy<Value = Act> {
    let hunk = 0usize..5;
    prop_oneof![
        (hunk.clone(), decision()).prop_map(|(hunk, decision)| Act::Decide(hunk, decision)),
        (hunk.clone(), 0usize..6, 0usize..4, decision()).prop_map(|(hunk, at, n, to)| Act::Lines(hunk, at, n, to)),
        decision().prop_map(Act::All),
        hunk.clone().prop_map(Act::Split),
        (hunk.clone(), 0usize..8).prop_map(|(hunk, line)| Act::SplitAt(hunk, line)),
        (hunk.clone(), 0usize..8, 0usize..4).prop_map(|(hunk, at, n)| Act::SplitOut(hunk, at, n)),
        hunk.clone().prop_map(Act::Join),
        (hunk.clone(), "([xyz]{0,2}\n){0,3}[x]{0,1}").prop_map(|(hunk, text)| Act::Edit(hunk, text)),
        (hunk, prop::option::of(0usize..6), "[uvw]{0,2}").prop_map(|(hunk, line, text)| Act::Comment(hunk, line, text)),
    ]
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    prop::collection::vec(act(), 0..12)
}

/// A review after some actions.
fn worked_on(base: &str, proposed: &str, acts: &[Act]) -> Review {
    let mut review = review(base, proposed);
    acts.iter().for_each(|act| {
        act.run(&mut review);
    });
    review
}

/// The text of the only file.
fn becomes(review: &Review, base: &str) -> String {
    match review.files.first().map(FileReview::composed) {
        Some(Composed::Text(text)) => text,
        _ => base.to_owned(),
    }
}

fn bodies(text: &str) -> Vec<&str> {
    rhumb_text::lines::split(text).into_iter().map(rhumb_text::lines::body).collect()
}

proptest! {
    #[test]
    fn all_accepted_is_the_proposed_text_and_all_rejected_the_base(base in text(), proposed in text(), acts in acts()) {
        let mut review = worked_on(&base, &proposed, &acts);
        let edited = acts.iter().any(|act| matches!(act, Act::Edit(..)));
        let wanted = review.files.first().and_then(|file| file.proposed.clone()).unwrap_or_else(|| Arc::from(&*base));
        prop_assert!(edited || *wanted == *proposed);
        review.decide_all(Decision::Accepted);
        prop_assert_eq!(becomes(&review, &base), &*wanted);
        review.decide_all(Decision::Rejected);
        prop_assert_eq!(becomes(&review, &base), base);
    }

    #[test]
    fn no_line_is_invented(base in text(), proposed in text(), acts in acts()) {
        let review = worked_on(&base, &proposed, &acts);
        let edits: Vec<&str> = acts.iter().filter_map(|act| if let Act::Edit(_, text) = act { Some(&**text) } else { None }).collect();
        let composed = becomes(&review, &base);
        for line in bodies(&composed) {
            let known = |text: &str| bodies(text).contains(&line);
            prop_assert!(known(&base) || known(&proposed) || edits.iter().any(|text| known(text)), "{line:?} in {composed:?}");
        }
    }

    #[test]
    fn undo_takes_each_step_back_and_redo_does_it_again(base in text(), proposed in text(), acts in acts()) {
        let mut review = review(&base, &proposed);
        let mut states = vec![review.files.clone()];
        for act in &acts {
            if act.run(&mut review) {
                states.push(review.files.clone());
            } else {
                prop_assert_eq!(&review.files, states.last().unwrap());
            }
        }
        for state in states.iter().rev().skip(1) {
            prop_assert!(review.undo().is_some());
            prop_assert_eq!(&review.files, state);
        }
        prop_assert!(review.undo().is_none());
        for state in states.iter().skip(1) {
            prop_assert!(review.redo().is_some());
            prop_assert_eq!(&review.files, state);
        }
        prop_assert!(review.redo().is_none());
    }

    #[test]
    fn the_order_of_decisions_does_not_matter(
        base in text(),
        proposed in text(),
        (acts, shuffled) in prop::collection::btree_map((0usize..4, 0usize..5), decision(), 0..12)
            .prop_map(|acts| acts.into_iter().collect::<Vec<_>>())
            .prop_flat_map(|acts| (Just(acts.clone()), Just(acts).prop_shuffle())),
    ) {
        let decided = |acts: &[((usize, usize), Decision)]| {
            let mut review = review(&base, &proposed);
            acts.iter().for_each(|((hunk, line), to)| {
                review.decide_lines(id(*hunk), *line..line + 1, *to);
            });
            review.files
        };
        prop_assert_eq!(decided(&acts), decided(&shuffled));
    }

    #[test]
    fn a_split_hunk_joined_again_is_the_same(base in text(), proposed in text(), acts in acts(), hunk in 0usize..4, line in 0usize..8) {
        let mut review = worked_on(&base, &proposed, &acts);
        let before = review.files.clone();
        if review.split_at(id(hunk), line) {
            prop_assert!(review.join(id(hunk)));
        }
        prop_assert_eq!(&review.files, &before);
        // Unchanged lines between joined hunks are in none of the parts.
        let touching = acts.iter().all(|act| !matches!(act, Act::Join(_)));
        for _ in 1..review.split(id(hunk)) {
            prop_assert!(review.join(id(hunk)));
        }
        prop_assert!(!touching || review.files == before);
    }

    #[test]
    fn decisions_on_all_lines_are_one_on_the_hunk(base in text(), proposed in text(), acts in acts(), hunk in 0usize..4, to in decision()) {
        let (mut one, mut other) = (worked_on(&base, &proposed, &acts), worked_on(&base, &proposed, &acts));
        one.decide(id(hunk), to);
        for line in 0..40 {
            other.decide_lines(id(hunk), line..line + 1, to);
        }
        let has_lines = one.hunk(id(hunk)).is_some_and(|item| item.line_count() > 0);
        prop_assert!(!has_lines || one.files == other.files);
    }

    #[test]
    fn a_rebase_changes_no_hunk_that_it_keeps(base in text(), proposed in text(), now in text(), acts in acts()) {
        let mut review = worked_on(&base, &proposed, &acts);
        if let Some(file) = review.files.first_mut() {
            let before = file.clone();
            let lost = file.rebase(&now);
            let lines = |file: &FileReview, item: &ReviewHunk| {
                let (old, new) = file.split_texts();
                (old[item.hunk.base.clone()].concat(), new[item.hunk.proposed.clone()].concat(), said(item))
            };
            let kept: Vec<_> = before.hunks.iter().filter(|item| !lost.contains(item)).map(|item| lines(&before, item)).collect();
            let now_kept: Vec<_> = file.hunks.iter().map(|item| lines(file, item)).collect();
            // A line without a terminator gets one when it is no longer the last line.
            let ended = |text: &str| text.ends_with('\n') || text.is_empty();
            if kept.iter().all(|(old, new, _)| ended(old) && ended(new)) {
                prop_assert_eq!(now_kept, kept);
            }
            prop_assert_eq!(file.base.as_deref(), Some(now.as_str()));
        }
    }

    #[test]
    fn a_rebase_onto_a_text_with_more_above_keeps_everything(base in text(), proposed in text(), acts in acts()) {
        let mut review = worked_on(&base, &proposed, &acts);
        let (head, wanted) = ("far\nabove\n\n", becomes(&review, &base));
        if let Some(file) = review.files.first_mut().filter(|file| file.hunks.iter().all(|item| item.hunk.base.start > 0)) {
            prop_assert!(file.rebase(&(head.to_owned() + &base)).is_empty());
            // The last line gets the most frequent line ending when it is no longer the last.
            let (all, wanted) = (becomes(&review, &(head.to_owned() + &base)), head.to_owned() + &wanted);
            prop_assert_eq!(bodies(&all), bodies(&wanted));
        }
    }

    #[test]
    fn a_rebase_onto_the_same_text_changes_nothing(base in text(), proposed in text(), acts in acts()) {
        let mut review = worked_on(&base, &proposed, &acts);
        let before = review.files.clone();
        if let Some(file) = review.files.first_mut() {
            prop_assert!(file.rebase(&base).is_empty());
        }
        prop_assert_eq!(review.files, before);
    }

    #[test]
    fn after_a_write_the_file_is_what_was_accepted_and_the_rest_is_left(base in text(), proposed in text(), acts in acts()) {
        let mut review = worked_on(&base, &proposed, &acts);
        let written = becomes(&review, &base);
        let all = review.files.first().map(|file| file.composed_where(|decision| decision != Decision::Rejected));
        let open = review.counts().pending;
        review.settle("a");
        if let Some(file) = review.files.first().filter(|_| written != base && open > 0) {
            prop_assert_eq!(file.base.as_deref(), Some(written.as_str()));
            let Some(Composed::Text(all)) = all else { return Ok(()) };
            // A last line without a terminator gets one if something was written after it.
            prop_assert_eq!(bodies(file.proposed.as_deref().unwrap_or_default()), bodies(&all));
        }
    }
}
