//! The message that returns refused edits to the model: which, why, and the text of the file there.

use super::fence::fence_for;
use rhumb_edit::{Excerpt, Flag, Outcome, Status};
use std::fmt::Write as _;

/// Number of quoted lines of a refused edit, which identify it.
const MAX_QUOTED_LINES: usize = 12;

/// The message about edits to try again; `None` if there are none.
pub fn refusals(outcomes: &[Outcome]) -> Option<String> {
    let open: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.is_open()).collect();
    if open.is_empty() {
        return None;
    }
    let located = outcomes.iter().filter(|outcome| outcome.status == Status::Applied).count();
    let mut text = match open.len() {
        1 => "1 edit of your answer found no place and was left out.".to_owned(),
        count => format!("{count} edits of your answer found no place and were left out."),
    };
    match located {
        0 => {}
        1 => text.push_str(KEPT_ONE),
        count => {
            let _ = write!(
                text,
                " The other {count} found theirs and are kept: do not send them again, though the files do not show them yet."
            );
        }
    }
    let (forbidden, unlocated): (Vec<&Outcome>, Vec<&Outcome>) =
        open.into_iter().partition(|outcome| outcome.flags.contains(&Flag::OutsideRoot));
    text.push_str(&listed(&unlocated));
    if !unlocated.is_empty() {
        text.push_str("\n\nSend these edits again and no others, in the same format, each whole, quoting the lines of the file exactly as they are.");
    }
    if !forbidden.is_empty() {
        text.push_str(FORBIDDEN);
        text.push_str(&listed(&forbidden));
    }
    Some(text)
}

/// Whether the edits to try again, and the reasons, are the same as in `before`: another round would not help.
pub fn same_refusals(before: &[Outcome], outcomes: &[Outcome]) -> bool {
    fn refusal(outcome: &Outcome) -> [&str; 4] {
        [&outcome.path, &outcome.reason, &outcome.quote, &outcome.replacement]
    }
    let open = |outcome: &&Outcome| outcome.is_open();
    before.iter().filter(open).map(refusal).eq(outcomes.iter().filter(open).map(refusal))
}

/// A path that must not be written cannot be tried again, but the path may have been a mistake.
const FORBIDDEN: &str = "\n\nNothing may be written to these paths. Do not send their edits again, unless one was meant for another \
     file of the repository: then with the path of that file.";

const KEPT_ONE: &str =
    " The other one found its place and is kept: do not send it again, though the files do not show it yet.";

/// Each of these edits with its reason and the text of the file there.
pub(super) fn listed(open: &[&Outcome]) -> String {
    let mut text = String::new();
    open.iter().enumerate().for_each(|(index, outcome)| push_refusal(&mut text, index + 1, outcome));
    text
}

fn push_refusal(text: &mut String, number: usize, outcome: &Outcome) {
    let path = if outcome.path.is_empty() { "(no file name)" } else { &outcome.path };
    let _ = write!(text, "\n\n{number}. {path}: {}", outcome.reason.trim());
    let meant = if outcome.quote.trim().is_empty() { &outcome.replacement } else { &outcome.quote };
    let cut = meant.lines().count() > MAX_QUOTED_LINES;
    let meant = meant.lines().take(MAX_QUOTED_LINES).collect::<Vec<_>>().join("\n");
    if !meant.trim().is_empty() {
        push_quoted(text, if cut { "It begins with these lines:" } else { "It is about these lines:" }, &meant);
    }
    for Excerpt { line, text: lines, with_edits } in &outcome.nearest {
        let last = line + lines.lines().count().max(1) - 1;
        let what = if *with_edits { ", with the edits that are kept, are" } else { " really are" };
        push_quoted(text, &format!("Lines {line} to {last} of {path}{what}:"), lines);
    }
}

fn push_quoted(text: &mut String, heading: &str, quoted: &str) {
    let fence = fence_for([quoted]);
    let _ = write!(text, "\n{heading}\n{fence}\n{quoted}\n{fence}");
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use rhumb_edit::{Files, FormatChoice};

    struct MemoryFiles(BTreeMap<&'static str, &'static str>);

    impl Files for MemoryFiles {
        fn paths(&self) -> Vec<String> {
            self.0.keys().map(|path| (*path).to_owned()).collect()
        }

        fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
            Ok(self.0.get(path).map(|text| (*text).to_owned()))
        }

        fn in_chat(&self, _: &str) -> bool {
            true
        }

        fn root(&self) -> Option<String> {
            None
        }
    }

    fn block(path: &str, search: &str, replace: &str) -> String {
        format!("{path}\n````\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n````\n\n")
    }

    fn outcomes(reply: &str, files: &[(&'static str, &'static str)]) -> Vec<Outcome> {
        rhumb_edit::propose(
            &rhumb_edit::parse(reply, FormatChoice::Auto),
            &MemoryFiles(files.iter().copied().collect()),
        )
        .outcomes
    }

    const LAMP: &str = "def light():\n    lamp.on(3)\n    door.unlock()\n    horn.sound()\n    return True\n";

    #[test]
    fn a_refused_edit_is_returned_with_the_reason_and_the_real_lines() {
        let wrong = "    lamp.on(3)\n    window.wash()\n    horn.sound()\n";
        let reply = block("a.py", wrong, "    pass\n") + &block("a.py", "    return True\n", "    return False\n");
        let text = refusals(&outcomes(&reply, &[("a.py", LAMP)])).unwrap();
        assert!(text.starts_with("1 edit of your answer found no place"), "{text}");
        assert!(text.contains("do not send it again") && text.contains("1. a.py: no match"), "{text}");
        assert!(text.contains("window.wash()") && text.contains("    door.unlock()\n    horn.sound()\n"), "{text}");
    }

    #[test]
    fn an_ambiguous_edit_is_returned_with_all_its_locations_and_fences_hold() {
        let markdown = "# A\n```\nsame\n```\n# B\nx\ny\nz\n1\n2\n3\n4\n```\nsame\n```\n";
        let text = refusals(&outcomes(&block("a.md", "same\n", "other\n"), &[("a.md", markdown)])).unwrap();
        assert_eq!(text.matches("really are:\n````\n").count(), 2, "{text}");
    }

    #[test]
    fn without_an_open_edit_there_is_no_message() {
        let placed = block("a.py", "    lamp.on(3)\n", "    lamp.on(4)\n");
        assert_eq!(refusals(&outcomes(&placed, &[("a.py", LAMP)])), None);
        assert_eq!(refusals(&[]), None);
    }

    #[test]
    fn refusals_are_the_same_only_with_the_same_edits_and_reasons() {
        let files = [("a.py", LAMP)];
        let placed = block("a.py", "    return True\n", "    return False\n");
        let wrong = block("a.py", "    window.wash()\n", "    pass\n");
        let before = outcomes(&(placed.clone() + &wrong), &files);
        assert!(same_refusals(&before, &before));
        assert!(same_refusals(&before, &outcomes(&wrong, &files)), "an edit with a place does not count");
        for other in [
            block("a.py", "    window.wash()\n", "    return\n"),
            block("a.py", "    window.clean()\n", "    pass\n"),
            block("b.py", "    window.wash()\n", "    pass\n"),
            wrong.clone() + &block("a.py", "    roof.mend()\n", "    pass\n"),
            placed,
        ] {
            assert!(!same_refusals(&before, &outcomes(&other, &files)), "{other}");
        }
        let twice = "def wash():\n    window.wash()\n\n\ndef dry():\n    window.wash()\n";
        assert!(!same_refusals(&before, &outcomes(&wrong, &[("a.py", twice)])), "the reason is another one");
    }

    #[test]
    fn an_edit_of_a_forbidden_path_is_not_asked_for_again() {
        let outside = block("../a.py", "x\n", "y\n");
        let text = refusals(&outcomes(&outside, &[("a.py", LAMP)])).unwrap();
        assert!(!text.contains("Send these edits again") && text.contains("Do not send their edits again"), "{text}");
        let both = outside + &block("a.py", "    window.wash()\n", "    pass\n");
        let text = refusals(&outcomes(&both, &[("a.py", LAMP)])).unwrap();
        let (asked, forbidden) = text.split_once("Nothing may be written").expect("both are told of");
        assert!(asked.contains("a.py: no match") && !asked.contains("../a.py"), "{text}");
        assert!(forbidden.contains("../a.py"), "{text}");
    }
}
