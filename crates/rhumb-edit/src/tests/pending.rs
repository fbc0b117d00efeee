//! Replies on top of pending changes. They may quote the files with or without these changes, and replace them.

use super::*;
use std::ops::Range;
use std::sync::Arc;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

fn change(change: FileChange, path: &str, base: Option<&str>, proposed: Option<&str>) -> FileProposal {
    FileProposal { path: path.into(), change, base: base.map(Arc::from), proposed: proposed.map(Arc::from) }
}

/// The proposal of `reply` while `pending` is under review. `commented` are the lines of hunks with a comment.
fn upon(stands: &str, commented: Option<Range<usize>>, reply: &str) -> Proposal {
    let file = change(FileChange::Modify, "src/a.x", Some(TEXT), Some(stands));
    let standing = PendingChanges {
        files: vec![PendingFile { file, commented: commented.into_iter().collect() }],
        refused: Vec::new(),
    };
    propose_all(&standing, &[parse(reply, FormatChoice::Auto)], &memory_files(&[("src/a.x", TEXT), ("src/b.x", TEXT)]))
}

fn text_of(proposal: &Proposal) -> &str {
    proposal.files.first().and_then(|file| file.proposed.as_deref()).unwrap_or_default()
}

#[test]
fn an_edit_replaces_the_pending_change_at_its_location() {
    let stands = TEXT.replace("four", "vier").replace("six", "sechs");
    // With and without the pending change.
    for quote in ["four\n", "three\nfour\nfive\n", "vier\n"] {
        let new = quote.replace("four", "quatre").replace("vier", "quatre");
        let proposal = upon(&stands, None, &block("src/a.x", quote, &new));
        assert_eq!(text_of(&proposal), TEXT.replace("four", "quatre").replace("six", "sechs"), "{quote}");
        assert_eq!(only(&proposal).status, Status::Applied);
    }
}

#[test]
fn a_pending_change_of_line_endings_is_kept() {
    let stands = TEXT.replace('\n', "\r\n");
    for line in ["one", "four", "seven"] {
        let edited = upon(&stands, None, &block("src/a.x", &format!("{line}\n"), "new\nlines\n"));
        assert_eq!(text_of(&edited), stands.replace(line, "new\r\nlines"));
    }
}

#[test]
fn a_pending_change_that_is_wider_than_the_edit_is_kept() {
    let stands = TEXT.replace("three\nfour\nfive\n", "3\n4\n5\n");
    let proposal = upon(&stands, None, &block("src/a.x", "four\n", "vier\n"));
    assert_eq!(only(&proposal).status, Status::Refused, "{:#?}", proposal.outcomes);
    assert!(only(&proposal).reason.contains("another edit that is kept"), "{}", only(&proposal).reason);
}

#[test]
fn edits_of_one_reply_do_not_replace_each_other() {
    let reply = block("src/a.x", "four\n", "vier\n") + &block("src/a.x", "three\nfour\nfive\n", "3\n4\n5\n");
    let proposal = upon(&TEXT.replace("one", "eins"), None, &reply);
    let refused: Vec<_> = proposal.outcomes.iter().map(|outcome| outcome.status == Status::Refused).collect();
    assert_eq!(refused, [false, true], "{:#?}", proposal.outcomes);
}

#[test]
fn pending_added_lines_stay_unless_they_have_a_comment() {
    let stands = TEXT.replace("four\n", "four\nfour and a half\n");
    let reply = block("src/a.x", "four\nfive\n", "four\n4.5\nfive\n");
    let both = upon(&stands, None, &reply);
    assert!(text_of(&both).contains("four and a half\n") && text_of(&both).contains("4.5\n"), "{}", text_of(&both));
    let instead = upon(&stands, Some(4..4), &reply);
    assert_eq!(text_of(&instead), TEXT.replace("four\n", "four\n4.5\n"));
}

#[test]
fn files_that_a_reply_does_not_touch_are_not_proposed_again() {
    let proposal = upon(&TEXT.replace("one", "eins"), None, &block("src/b.x", "two\n", "zwei\n"));
    let paths: Vec<&str> = proposal.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/b.x"]);
    assert_eq!(upon(&TEXT.replace("one", "eins"), None, "Nothing to do."), Proposal::default());
    let stands = TEXT.replace("one", "eins");
    let again = upon(&stands, None, &block("src/a.x", "one\n", "eins\n"));
    assert_eq!((again.outcomes.len(), text_of(&again)), (0, &*stands), "it stands already");
}

#[test]
fn pending_new_files_and_deletions_can_be_replaced() {
    let propose_upon = |file: FileProposal, reply: &str| {
        let standing = PendingChanges { files: vec![PendingFile { file, commented: Vec::new() }], refused: Vec::new() };
        propose_all(&standing, &[parse(reply, FormatChoice::Auto)], &memory_files(&[("src/a.x", TEXT)]))
    };
    let new = || change(FileChange::Create, "src/new.x", None, Some("alpha\nbeta\n"));
    let proposal = propose_upon(new(), &block("src/new.x", "", "gamma\n"));
    assert_eq!((text_of(&proposal), &proposal.files[0].change), ("gamma\n", &FileChange::Create));
    let proposal = propose_upon(new(), &block("src/new.x", "beta\n", "delta\n"));
    assert_eq!((text_of(&proposal), &proposal.files[0].change), ("alpha\ndelta\n", &FileChange::Create));
    let deleted = change(FileChange::Delete, "src/a.x", Some(TEXT), None);
    let proposal = propose_upon(deleted, &block("src/a.x", "two\n", "zwei\n"));
    assert_eq!(text_of(&proposal), TEXT.replace("two", "zwei"));
    let moved = change(FileChange::Rename { from: "src/a.x".into() }, "src/c.x", Some(TEXT), Some(TEXT));
    for name in ["src/a.x", "src/c.x"] {
        let proposal = propose_upon(moved.clone(), &block(name, "two\n", "zwei\n"));
        assert_eq!((text_of(&proposal), proposal.files[0].path.as_str()), (&*TEXT.replace("two", "zwei"), "src/c.x"));
    }
}

#[test]
fn pending_changes_of_another_base_text_are_ignored() {
    let file = change(FileChange::Modify, "src/a.x", Some("old\n"), Some("new\n"));
    let standing = PendingChanges { files: vec![PendingFile { file, commented: Vec::new() }], refused: Vec::new() };
    let reply = parse(&block("src/a.x", "two\n", "zwei\n"), FormatChoice::Auto);
    let proposal = propose_all(&standing, &[reply], &memory_files(&[("src/a.x", TEXT)]));
    assert_eq!(text_of(&proposal), TEXT.replace("two", "zwei"));
}

#[test]
fn a_refused_edit_stays_until_a_reply_corrects_it() {
    let files = memory_files(&[("src/a.x", TEXT), ("src/b.x", TEXT)]);
    let first = block("src/a.x", "no such alpha\n", "alpha\n") + &block("src/b.x", "no such beta\n", "beta\n");
    let refused = propose(&parse(&first, FormatChoice::Auto), &files).outcomes;
    let standing = PendingChanges { files: Vec::new(), refused };
    let reply = parse(&block("src/a.x", "three\n", "alpha\n"), FormatChoice::Auto);
    let proposal = propose_all(&standing, &[reply], &files);
    let open: Vec<&str> = proposal.outcomes.iter().filter(|one| one.is_open()).map(|one| &*one.path).collect();
    assert_eq!(open, ["src/b.x"]);
}

proptest! {
    #[test]
    fn an_edit_removes_only_pending_changes_at_its_location(
        changes in prop::collection::vec(0_u8..4, 12), at in 0_usize..12, before in 0_usize..3, after in 0_usize..3, proposed in any::<bool>(),
    ) {
        let old = |line: usize| format!("line {line} of the base\n");
        let lines_before_reply = |line: usize| match changes[line] {
            0 => format!("line {line} stands otherwise\n"),
            1 => format!("{}line {line} stands added\n", old(line)),
            _ => old(line),
        };
        let (base, stands): (String, String) = ((0..12).map(old).collect(), (0..12).map(lines_before_reply).collect());
        let (first, last) = (at.saturating_sub(before), (at + after).min(11));
        let quote = |line: usize| if proposed { lines_before_reply(line) } else { old(line) };
        let new = |line: usize| if line == at { "the new line\n".to_owned() } else { quote(line) };
        let (search, replace): (String, String) = ((first..=last).map(quote).collect(), (first..=last).map(new).collect());
        let file = change(FileChange::Modify, "src/a.x", Some(&base), Some(&stands));
        let standing = PendingChanges { files: vec![PendingFile { file, commented: Vec::new() }], refused: Vec::new() };
        let reply = parse(&block("src/a.x", &search, &replace), FormatChoice::Auto);
        let proposal = propose_all(&standing, &[reply], &memory_files(&[("src/a.x", &base)]));
        if only(&proposal).status == Status::Applied {
            let text = text_of(&proposal);
            prop_assert_eq!(text.matches("the new line\n").count(), 1, "{}", text);
            for line in (0..12).filter(|line| !(first..=last).contains(line)) {
                // Lines added just above are part of the change that the edit replaces.
                let wanted = if line + 1 == first { old(line) } else { lines_before_reply(line) };
                prop_assert!(changes[line] == 0 && line + 1 == first || text.contains(&wanted), "line {}:\n{}", line, text);
            }
        } else {
            // A refused edit changes nothing.
            prop_assert!(proposal.files.is_empty(), "{:?}", proposal.files);
        }
    }
}
