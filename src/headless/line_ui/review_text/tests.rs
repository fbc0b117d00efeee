use std::sync::Arc;

use super::*;
use rhumb_edit::{FileProposal, Proposal};

/// A review of one modified, one new and one deleted file.
pub(crate) fn review() -> Review {
    let file = |path: &str, change, base: Option<&str>, proposed: Option<&str>| FileProposal {
        path: path.into(),
        change,
        base: base.map(Arc::from),
        proposed: proposed.map(Arc::from),
    };
    let files = vec![
        file("a.rs", FileChange::Modify, Some("1\n2\n3\n4\n5\n6\n"), Some("1\ntwo\n3\n4\n5\nfive\nsix\n")),
        file("b.rs", FileChange::Create, None, Some("new")),
        file("c.rs", FileChange::Delete, Some("old\n"), None),
    ];
    Review::new(Proposal { files, ..Proposal::default() })
}

fn id(file: usize, hunk: usize) -> HunkId {
    HunkId { file, hunk }
}

#[test]
fn a_heading_has_location_size_and_strategy() {
    let mut review = review();
    assert_eq!(summary(&review), "4 hunks in 3 files.");
    assert_eq!(
        heading(&review, id(0, 0)),
        "hunk 1 of 4, a.rs, line 2, replaces 1 line by 1, located exactly, undecided"
    );
    assert_eq!(heading(&review, id(1, 0)), "hunk 3 of 4, b.rs, a new file of 1 line, undecided");
    review.decide(id(2, 0), Decision::Rejected);
    assert_eq!(heading(&review, id(2, 0)), "hunk 4 of 4, c.rs, deletes the file of 1 line, rejected");
}

#[test]
fn the_lines_of_a_hunk_are_kept_removed_or_added() {
    let mut review = review();
    assert_eq!(body(&review, id(0, 0), 1, false), ["kept 1: 1", "removed 2: 2", "added 2: two", "kept 3: 3"]);
    assert_eq!(body(&review, id(1, 0), 3, false), ["added 1: new", "The file ends without a line end."]);
    review.decide_lines(id(0, 0), 1..2, Decision::Accepted);
    review.comment(CommentTarget::Line(id(0, 0), 1), "why?");
    let lines = body(&review, id(0, 0), 0, true);
    assert_eq!(lines[0], "line 1, removed 2 (undecided): 2");
    assert_eq!(lines[1..], ["line 2, added 2 (accepted): two", "comment on that line: why?"]);
}

#[test]
fn a_refused_edit_has_its_state() {
    use rhumb_edit::{Flag, Status};
    let edit = |flags: Vec<Flag>| {
        let outcome = serde_json::json!({
            "path": "a.rs", "format": "diff", "status": Status::Refused, "strategy": null, "confidence": 0.0, "lines": null,
            "reason": "why", "candidates": [], "nearest": [], "flags": flags, "quote": "", "replacement": "",
            "reply_lines": [1, 2],
        });
        serde_json::from_value::<Outcome>(outcome).unwrap()
    };
    let states = [
        (vec![], "no location"),
        (vec![Flag::AlreadyApplied], "already applied"),
        (vec![Flag::Incomplete], "incomplete"),
        (vec![Flag::Conflict], "conflict"),
    ];
    let mut review = review();
    for (at, (flags, state)) in states.into_iter().enumerate() {
        review.refused.push(edit(flags));
        let heading = &refused(&review.refused[at], at + 1, 4)[0];
        assert_eq!(*heading, format!("refused edit {} of 4, a.rs, {state}: why", at + 1));
    }
    assert_eq!(
        summary(&review),
        "4 hunks in 3 files, 1 edit: conflict, 1 edit: no location, 1 edit: incomplete, 1 edit: already applied (refused shows why)."
    );
}

#[test]
fn blank_lines_are_described() {
    assert_eq!([readable("\r\n"), readable("   \n"), readable(" x\n")], ["(empty line)", "(3 blanks)", " x"]);
}
