//! Edits of the agent loop: located like those of an answer, on top of the proposal so far.

use super::CallResult;
use crate::host::{Host, propose};
use rhumb_agent::Action;
use rhumb_edit::{
    Edit, EditFormat, FileChange, Flag, FormatChoice, Outcome, ParsedReply, PendingChanges, Proposal, Status, Strategy,
    parse,
};
use rhumb_session::{AgentView, ToolOutcome};
use rhumb_text::count;
use rhumb_text::sanitize::visible_line;
use rhumb_workspace::{Root, is_secret_name, resolve_links};
use std::fmt::Write as _;
use std::sync::Arc;

impl Host {
    /// Locates the edits of a call.
    pub(super) fn edit(&self, action: &Action, view: &AgentView) -> CallResult {
        let edits = match action {
            Action::Edit { path, search, replace } => {
                let text = self.current_text(path, view);
                let whole = text.as_deref().and_then(|text| whole_lines(text, search, replace));
                let (search, replace) = whole.as_ref().map_or((search, replace), |(search, replace)| (search, replace));
                vec![Edit::replace(path, search, replace)]
            }
            Action::WriteFile { path, content } => vec![self.whole_file(path, content, view)],
            Action::DeleteFile { path } => vec![Edit::delete(path)],
            Action::ApplyPatch { patch } => parse(patch, FormatChoice::Only(EditFormat::Patch)).edits,
            _ => Vec::new(),
        };
        if edits.is_empty() {
            return CallResult::new(false, "The patch has no edits. It must be in the V4A format.");
        }
        let parsed = ParsedReply { edits, ..ParsedReply::default() };
        let pending = PendingChanges { files: view.pending.clone(), refused: Vec::new() };
        let survey = self.shared.survey.borrow().clone();
        let paths: Vec<String> = survey.iter().flat_map(|survey| &survey.files).map(|file| file.path.clone()).collect();
        let mut proposal = propose::propose_parsed(&pending, &self.shared.root, &paths, parsed);
        proposal.refuse_doubtful_names();
        if let Some(path) = secret_path(&proposal, &self.shared.root) {
            let path = visible_line(path);
            let text = format!(
                "{path} was not edited: files with such names hold keys or passwords. Ask the user to edit it."
            );
            return CallResult::new(false, &text);
        }
        let outcomes = [proposal.outcomes.as_slice(), &proposal.repeated].concat();
        let ok = outcomes.iter().all(|outcome| outcome.status == Status::Applied);
        let text = outcomes.iter().map(|outcome| outcome_text(outcome, &proposal)).collect::<Vec<_>>().join("\n");
        let lines: usize = outcomes.iter().map(|outcome| outcome.replacement.lines().count()).sum();
        let summary = if ok { count(lines, "line") } else { "refused".to_owned() };
        let outcome = ToolOutcome { proposal: Some(proposal), ..ToolOutcome::default() };
        CallResult { summary, outcome, ..CallResult::new(ok, text) }
    }
}

impl Host {
    /// The edit that writes a whole file. Its present text is quoted, so that a much shorter one is not taken for a fragment.
    fn whole_file(&self, path: &str, content: &str, view: &AgentView) -> Edit {
        match self.current_text(path, view).filter(|text| !text.trim().is_empty()) {
            Some(text) => Edit::replace(path, &text, content),
            None => Edit::write(path, content),
        }
    }

    /// The text of a file with all edits so far.
    fn current_text(&self, path: &str, view: &AgentView) -> Option<Arc<str>> {
        match view.pending.iter().find(|pending| pending.file.path == path) {
            Some(pending) => pending.file.proposed.clone(),
            None => rhumb_workspace::read(&self.shared.root, path).ok().map(|snapshot| snapshot.text),
        }
    }
}

/// The first file of a proposal with the name of a key or password file, or that links to one. An answer to an edit of it would quote its
/// text.
fn secret_path<'p>(proposal: &'p Proposal, root: &Root) -> Option<&'p str> {
    let outcomes = proposal.outcomes.iter().chain(&proposal.repeated).map(|outcome| outcome.path.as_str());
    let files = proposal.files.iter().flat_map(|file| {
        let source = match &file.change {
            FileChange::Rename { from } => Some(from.as_str()),
            _ => None,
        };
        [Some(file.path.as_str()), source].into_iter().flatten()
    });
    outcomes.chain(files).find(|path| is_secret_name(path) || is_secret_name(&resolve_links(root, path)))
}

/// An edit of a part of a line, as one of whole lines. `None` if the text to replace consists of whole lines, or is not in the file
/// exactly once.
fn whole_lines(text: &str, search: &str, replace: &str) -> Option<(String, String)> {
    let mut places = text.match_indices(search);
    let (start, _) = places.next().filter(|_| !search.is_empty())?;
    let end = start + search.len();
    let (before, after) = (text.get(..start)?, text.get(end..)?);
    let first = before.rfind('\n').map_or(0, |at| at + 1);
    let last = if search.ends_with('\n') { end } else { end + after.find('\n').unwrap_or(after.len()) };
    let (before, after) = (text.get(first..start)?, text.get(end..last)?);
    let is_part = !before.trim().is_empty() || !after.trim().is_empty();
    (is_part && places.next().is_none())
        .then(|| (format!("{before}{search}{after}"), format!("{before}{replace}{after}")))
}

/// The first and last line of the new text in the file with all edits so far, 1-based; `None` if it is not certain.
fn new_lines(outcome: &Outcome, proposal: &Proposal) -> Option<(usize, usize)> {
    let file = proposal.files.iter().find(|file| file.path == outcome.path)?;
    let lines: Vec<&str> = file.proposed.as_deref()?.lines().map(str::trim).collect();
    let new: Vec<&str> = outcome.replacement.lines().map(str::trim).collect();
    let mut places = lines.windows(new.len().max(1)).enumerate().filter(|(_, window)| *window == new.as_slice());
    let (at, _) = places.next()?;
    places.next().is_none().then(|| (at + 1, at + new.len()))
}

/// The outcome of an edit, for the model.
fn outcome_text(outcome: &Outcome, proposal: &Proposal) -> String {
    let path = &outcome.path;
    if outcome.status == Status::Refused {
        let mut text = format!("{path}: refused: {}.", outcome.reason.trim_end_matches('.'));
        for excerpt in &outcome.nearest {
            let _ =
                write!(text, "\nNearest lines, from line {}:\n{}", excerpt.line, excerpt.text.trim_end_matches('\n'));
        }
        return text;
    }
    let how = match outcome.strategy {
        Some(Strategy::Created) => "will be created".to_owned(),
        Some(Strategy::Deleted) => "will be deleted".to_owned(),
        Some(Strategy::Renamed) => "will be renamed".to_owned(),
        Some(Strategy::Whole) => "will be replaced as a whole".to_owned(),
        Some(Strategy::Unchanged) => "nothing changes: the file has this text already".to_owned(),
        strategy => {
            let place = match new_lines(outcome, proposal) {
                Some((first, last)) => format!("edited; the new text is lines {first}-{last}"),
                None => "edited".to_owned(),
            };
            match strategy {
                Some(Strategy::Exact) | None => place,
                Some(strategy) => format!("{place} ({strategy} match: check it)"),
            }
        }
    };
    let mut text = format!("{path}: {how}.");
    if !outcome.reason.is_empty() {
        let _ = write!(text, " {}.", outcome.reason.trim_end_matches('.'));
    }
    for (flag, warning) in [
        (Flag::SyntaxError, "The file does not parse any more with this edit."),
        (Flag::Generated, "The file is generated or vendored."),
        (Flag::Ignored, "The repository ignores this file."),
    ] {
        if outcome.flags.contains(&flag) {
            let _ = write!(text, " {warning}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_edit::review::Review;
    use rhumb_edit::{PendingFile, propose_all};
    use std::collections::BTreeMap;

    fn propose(pending: Vec<PendingFile>, edit: Edit) -> Proposal {
        let files = BTreeMap::from([("a.py".to_owned(), b"one\ntwo\nthree\n".to_vec())]);
        let pending = PendingChanges { files: pending, refused: Vec::new() };
        propose_all(&pending, &[ParsedReply { edits: vec![edit], ..ParsedReply::default() }], &files)
    }

    fn texts_of(proposal: &Proposal) -> String {
        proposal.outcomes.iter().chain(&proposal.repeated).map(|outcome| outcome_text(outcome, proposal)).collect()
    }

    #[test]
    fn an_edit_sees_those_before_it_and_names_the_lines_of_its_text() {
        let first = propose(Vec::new(), Edit::replace("a.py", "one", "zero\none"));
        assert_eq!(texts_of(&first), "a.py: edited; the new text is lines 1-2.");
        let second = propose(Review::new(first).pending_changes(), Edit::replace("a.py", "two\n", "2\n"));
        assert_eq!(second.files[0].proposed.as_deref(), Some("zero\none\n2\nthree\n"));
        assert_eq!(texts_of(&second), "a.py: edited; the new text is lines 3-3.");
    }

    #[test]
    fn an_edit_that_takes_another_back_proposes_the_base() {
        let first = propose(Vec::new(), Edit::replace("a.py", "two", "2"));
        let back = propose(Review::new(first).pending_changes(), Edit::replace("a.py", "2", "two"));
        assert!(back.files.is_empty(), "{back:?}");
        assert_eq!((back.outcomes[0].status, back.outcomes[0].strategy), (Status::Applied, Some(Strategy::Exact)));
    }

    #[test]
    fn an_edit_of_a_part_of_a_line_becomes_one_of_whole_lines() {
        let text = "let a = min(x, y);\r\n\tlet b = a;\nend";
        let edit = |search: &str, replace: &str| whole_lines(text, search, replace);
        let owned = |search: &str, replace: &str| Some((search.to_owned(), replace.to_owned()));
        assert_eq!(edit("min(x", "max(x"), owned("let a = min(x, y);\r", "let a = max(x, y);\r"));
        assert_eq!(
            edit(", y);\r\n\tlet b", ");\n\tlet c"),
            owned("let a = min(x, y);\r\n\tlet b = a;", "let a = min(x);\n\tlet c = a;")
        );
        assert_eq!(edit("en", "th"), owned("end", "thd"));
        assert_eq!(edit("= a;\n", "= b;\n"), owned("\tlet b = a;\n", "\tlet b = b;\n"));
        for whole in ["let b = a;", "\tlet b = a;\n", "end", "let", "nowhere", ""] {
            assert_eq!(edit(whole, "x"), None, "{whole:?}");
        }
    }

    #[test]
    fn files_are_written_created_and_deleted() {
        let whole = propose(Vec::new(), Edit::replace("a.py", "one\ntwo\nthree\n", "new\n"));
        assert_eq!(whole.files[0].proposed.as_deref(), Some("new\n"));
        let created = propose(Vec::new(), Edit::write("b/c.py", "x = 1\n"));
        assert!(texts_of(&created).starts_with("b/c.py: will be created."), "{}", texts_of(&created));
        let deleted = propose(Vec::new(), Edit::delete("a.py"));
        assert_eq!(deleted.files[0].proposed, None);
    }

    #[test]
    fn a_refused_edit_says_why_and_shows_the_nearest_lines() {
        let refused = propose(Vec::new(), Edit::replace("a.py", "twwo and more\n", "2\n"));
        let text = texts_of(&refused);
        assert!(text.starts_with("a.py: refused: "), "{text}");
        let outside = propose(Vec::new(), Edit::write("../x.py", "x\n"));
        assert!(texts_of(&outside).contains("refused"), "{}", texts_of(&outside));
    }
}
