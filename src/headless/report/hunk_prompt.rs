//! Asks about a proposal hunk by hunk on a terminal, with the letters of `git add -p`.

use super::{hunk_diff, syntax_faults, syntax_warning};
use crate::headless::line_ui::edit_file_name;
use crate::tui::{self, theme::ColorDepth};
use rhumb_edit::review::{Composed, Decision, FileReview, HunkId, HunkMark, Review, ReviewHunk};
use rhumb_edit::{FileChange, Flag};
use rhumb_text::{count, sanitize};
use rhumb_workspace::process::{EditorSession, named_editor};
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HunkAnswer {
    Accept,
    Reject,
    AcceptRest,
    RejectRest,
    Split,
    Edit,
    Next,
    Previous,
    GoTo,
    Quit,
    Help,
}

#[rustfmt::skip] // a table
const ANSWERS: [(HunkAnswer, &str, &str); 11] = [
    (HunkAnswer::Accept, "y", "accept this hunk"),
    (HunkAnswer::Reject, "n", "reject this hunk"),
    (HunkAnswer::AcceptRest, "a", "accept this hunk and all later undecided hunks of the file"),
    (HunkAnswer::RejectRest, "d", "reject this hunk and all later undecided hunks of the file"),
    (HunkAnswer::Split, "s", "split this hunk into smaller hunks"),
    (HunkAnswer::Edit, "e", "edit the lines that this hunk adds in your editor, and accept them"),
    (HunkAnswer::Next, "j", "leave this hunk undecided and show the next undecided hunk"),
    (HunkAnswer::Previous, "k", "leave this hunk undecided and show the previous undecided hunk"),
    (HunkAnswer::GoTo, "g", "go to a hunk by its number, such as g 3"),
    (HunkAnswer::Quit, "q", "quit and write nothing"),
    (HunkAnswer::Help, "?", "show this help"),
];

const BOLD: &str = "1";
const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";

/// Opens a text in the user's editor, given the path of its file. Returns the saved text or an error message.
type EditText<'e> = &'e dyn Fn(&str, &str) -> Result<String, String>;

/// Asks about each hunk on the terminal, and prints at the end what will be written. Returns `false` if the user quit: then nothing
/// may be written. `editor` is the editor of the settings.
#[must_use]
pub fn ask_each(review: &mut Review, root: &Path, editor: Option<&str>) -> bool {
    let edit = |path: &str, text: &str| edit_in_editor(root, editor, path, text);
    let color = tui::color_depth(|name| std::env::var(name).ok()) != ColorDepth::None;
    let color = color && io::stderr().is_terminal();
    let mut prompt =
        HunkPrompt { review, input: io::stdin().lock(), out: io::stderr(), color, edit: &edit, shown_file: None };
    // An error of the terminal counts as quitting.
    prompt.ask().unwrap_or(false)
}

/// Asks a question with the answers yes and no on the terminal. Returns `None` if the user quit. `help` describes the answers.
pub fn yes_or_no(question: &str, help: &str) -> Option<bool> {
    ask_yes_or_no(&mut io::stdin().lock(), &mut io::stderr(), question, help).ok().flatten()
}

fn ask_yes_or_no(
    input: &mut impl BufRead,
    out: &mut impl Write,
    question: &str,
    help: &str,
) -> io::Result<Option<bool>> {
    loop {
        let Some(answer) = read_answer(input, out, &format!("{question} [y,n,q,?]? "))? else { return Ok(None) };
        match answer.to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(true)),
            "n" | "no" => return Ok(Some(false)),
            "q" | "quit" => return Ok(None),
            _ => writeln!(out, "{help}")?,
        }
    }
}

/// Reads a line after a prompt. Returns `None` at the end of the input; an incomplete line is not an answer.
fn read_answer(input: &mut impl BufRead, out: &mut impl Write, prompt: &str) -> io::Result<Option<String>> {
    out.write_all(prompt.as_bytes())?;
    out.flush()?;
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    if line.pop() != Some(b'\n') {
        writeln!(out)?;
        return Ok(None);
    }
    Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
}

enum Next {
    /// The question about this hunk; `None` ends the questions.
    Ask(Option<HunkId>),
    /// Nothing is written.
    Quit,
}

struct HunkPrompt<'a, R, W> {
    review: &'a mut Review,
    input: R,
    out: W,
    color: bool,
    edit: EditText<'a>,
    shown_file: Option<usize>,
}

impl<R: BufRead, W: Write> HunkPrompt<'_, R, W> {
    /// Returns `false` if the user quit.
    fn ask(&mut self) -> io::Result<bool> {
        let mut next = self.review.ids().next();
        loop {
            while let Some(id) = next {
                match self.ask_about(id)? {
                    Next::Ask(id) => next = id,
                    Next::Quit => return Ok(false),
                }
            }
            let summary = summary(self.review);
            self.say(&summary)?;
            let faults = syntax_faults(self.review);
            let Some(first) = faults.first() else { return Ok(true) };
            faults.iter().try_for_each(|fault| self.warn(&syntax_warning(fault)))?;
            let help = "y - write it anyway\nn - go back to that hunk\nq - quit and write nothing";
            match ask_yes_or_no(&mut self.input, &mut self.out, "Write it anyway", help)? {
                Some(true) => return Ok(true),
                Some(false) => next = self.review.hunk_at_fault(first),
                None => return Ok(false),
            }
        }
    }

    /// Shows a hunk and asks until an answer decides the next step.
    fn ask_about(&mut self, id: HunkId) -> io::Result<Next> {
        self.show(id)?;
        loop {
            let prompt = self.prompt(id);
            let prompt = self.painted(BOLD, &prompt);
            let Some(answer) = read_answer(&mut self.input, &mut self.out, &prompt)? else { return Ok(Next::Quit) };
            if let Some(next) = self.apply(id, &answer)? {
                return Ok(next);
            }
        }
    }

    /// Applies an answer. Returns `None` if the question must be repeated.
    fn apply(&mut self, id: HunkId, line: &str) -> io::Result<Option<Next>> {
        let line = line.to_ascii_lowercase();
        let (word, rest) = match line.strip_prefix('g') {
            Some(number) => ("g", number.trim()),
            None => (line.as_str(), ""),
        };
        let letter = match word {
            "yes" => "y",
            "no" => "n",
            "quit" => "q",
            word => word,
        };
        let answer =
            ANSWERS.iter().find(|(_, other, _)| *other == letter).map_or(HunkAnswer::Help, |(answer, ..)| *answer);
        match answer {
            HunkAnswer::Accept | HunkAnswer::Reject => {
                let is_accepted = answer == HunkAnswer::Accept;
                self.review.decide(id, if is_accepted { Decision::Accepted } else { Decision::Rejected });
                Ok(Some(Next::Ask(self.review.next_pending(id))))
            }
            HunkAnswer::AcceptRest | HunkAnswer::RejectRest => {
                let is_accepted = answer == HunkAnswer::AcceptRest;
                let decision = if is_accepted { Decision::Accepted } else { Decision::Rejected };
                self.review.decide_to_end_of_file(id, decision);
                Ok(Some(Next::Ask(self.review.next_pending(id))))
            }
            HunkAnswer::Split => match self.review.split(id) {
                0 | 1 => self.say("This hunk cannot be split.").map(|()| None),
                parts => self.say(&format!("Split into {parts} hunks.")).map(|()| Some(Next::Ask(Some(id)))),
            },
            HunkAnswer::Edit => self.edit(id),
            HunkAnswer::Next | HunkAnswer::Previous => {
                let is_next = answer == HunkAnswer::Next;
                let other = if is_next { self.review.next_pending(id) } else { self.review.previous_pending(id) };
                match other.filter(|other| *other != id) {
                    Some(other) => Ok(Some(Next::Ask(Some(other)))),
                    None => self.say("There is no other undecided hunk.").map(|()| None),
                }
            }
            HunkAnswer::GoTo => match rest.parse().ok().and_then(|number| self.review.hunk_numbered(number)) {
                Some(id) => Ok(Some(Next::Ask(Some(id)))),
                None => {
                    let total = self.review.counts().total();
                    self.say(&format!("Hunks are numbered from 1 to {total}: g 1 shows the first.")).map(|()| None)
                }
            },
            HunkAnswer::Quit => Ok(Some(Next::Quit)),
            HunkAnswer::Help => {
                let lines: Vec<String> = ANSWERS.iter().map(|(_, letter, help)| format!("{letter} - {help}")).collect();
                self.say(&lines.join("\n")).map(|()| None)
            }
        }
    }

    fn edit(&mut self, id: HunkId) -> io::Result<Option<Next>> {
        let file = self.review.files.get(id.file).filter(|file| file.proposed.is_some());
        let Some((path, added)) = file.and_then(|file| Some((file.path.clone(), file.texts_of(id.hunk)?.1))) else {
            return self.say("The file is deleted, so there is nothing to edit.").map(|()| None);
        };
        match (self.edit)(&path, &added) {
            Ok(text) if self.review.edit(id, &text) => Ok(Some(Next::Ask(self.review.next_pending(id)))),
            Ok(_) => self.say("The text was not changed.").map(|()| None),
            Err(error) => self.say(&error).map(|()| None),
        }
    }

    /// The question about a hunk: its number, its file, and the letters that apply.
    fn prompt(&self, id: HunkId) -> String {
        let Some(file) = self.review.files.get(id.file) else { return String::new() };
        let (number, total) = (self.review.number_of(id).unwrap_or_default(), self.review.counts().total());
        let decision = match self.review.decision(id) {
            Decision::Pending => "",
            Decision::Accepted => ", accepted so far",
            Decision::Rejected => ", rejected so far",
        };
        let verb = match file.change {
            FileChange::Modify => "accept this hunk",
            FileChange::Create => "create this file",
            FileChange::Delete => "delete this file",
            FileChange::Rename { .. } => "rename this file",
        };
        let can_split = self.review.clone().split(id) > 1;
        let has_other = self.review.next_pending(id).is_some_and(|other| other != id);
        let is_offered = |answer: HunkAnswer| match answer {
            HunkAnswer::Split => can_split,
            HunkAnswer::Edit => file.proposed.is_some(),
            HunkAnswer::Next | HunkAnswer::Previous => has_other,
            HunkAnswer::GoTo => total > 1,
            HunkAnswer::Accept | HunkAnswer::Reject | HunkAnswer::AcceptRest | HunkAnswer::RejectRest => true,
            HunkAnswer::Quit | HunkAnswer::Help => true,
        };
        let offered = ANSWERS.iter().filter(|(answer, ..)| is_offered(*answer));
        let letters: Vec<&str> = offered.map(|(_, letter, _)| *letter).collect();
        let title = file.title();
        format!("({number}/{total}{decision}) {}: {verb} [{}]? ", sanitize::visible_line(&title), letters.join(","))
    }

    /// Shows a hunk as a diff, and its marks. The file names are shown above the first hunk of a file.
    fn show(&mut self, id: HunkId) -> io::Result<()> {
        let (Some(file), Some(hunk)) = (self.review.files.get(id.file), self.review.hunk(id)) else { return Ok(()) };
        let diff = hunk_diff(file, id.hunk);
        let notes = notes(hunk);
        let body = diff.lines().position(|line| line.starts_with("@@"));
        let is_new_file = self.shown_file.replace(id.file) != Some(id.file);
        let mut text = String::new();
        for (at, line) in diff.lines().enumerate() {
            let is_header = body.is_none_or(|body| at < body);
            if is_header && body.is_some() && !is_new_file {
                continue;
            }
            let style = match line.chars().next() {
                _ if is_header => BOLD,
                Some('@') => CYAN,
                Some('-') => RED,
                Some('+') => GREEN,
                _ => "",
            };
            text.push_str(&self.painted(style, line));
            text.push('\n');
        }
        self.out.write_all(text.as_bytes())?;
        notes.iter().try_for_each(|note| self.warn(note))
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", sanitize::visible(text))
    }

    fn warn(&mut self, text: &str) -> io::Result<()> {
        let text = self.painted(YELLOW, &sanitize::visible(text));
        writeln!(self.out, "{text}")
    }

    fn painted(&self, style: &str, text: &str) -> String {
        if self.color && !style.is_empty() { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The marks of a hunk, in lines.
fn notes(hunk: &ReviewHunk) -> Vec<String> {
    let others = hunk.marks.iter().filter(|mark| **mark != HunkMark::Flag(Flag::SyntaxError));
    let others: Vec<String> = others.map(HunkMark::describe).collect();
    let note = (!others.is_empty()).then(|| format!("note: {}", others.join("; ")));
    let warning = "warning: this hunk breaks the syntax of the file (syntax-error)";
    note.into_iter().chain(hunk.breaks_syntax().then(|| warning.to_owned())).collect()
}

/// The changes that will be written, and those that are rejected.
fn summary(review: &Review) -> String {
    let counts = review.counts();
    let written: Vec<String> = review.files.iter().filter_map(|file| Some(format!("  {}", change(file)?))).collect();
    let rejected = |file: &FileReview| {
        let rejected = file.counts().rejected;
        (rejected > 0).then(|| format!("  {}: {}", file.title(), count(rejected, "hunk")))
    };
    let rejected: Vec<String> = review.files.iter().filter_map(rejected).collect();
    if written.is_empty() {
        return "No hunk is accepted, so nothing is written.".to_owned();
    }
    let mut lines = vec![format!("Writing {} of {}:", counts.accepted, count(counts.total(), "hunk"))];
    lines.extend(written);
    if !rejected.is_empty() {
        lines.push("Rejected and not written:".to_owned());
        lines.extend(rejected);
    }
    lines.join("\n")
}

/// The effect of a write on a file; `None` if it does not change.
fn change(file: &FileReview) -> Option<String> {
    let path = file.title();
    let hunks = count(file.counts().accepted, "hunk");
    match (file.composed(), &file.change) {
        (Composed::Untouched, _) => None,
        (Composed::Deleted, _) => Some(format!("{path}: deleted")),
        (Composed::Text(_), FileChange::Create) => Some(format!("{path}: new file")),
        (Composed::Text(_), FileChange::Rename { from }) => Some(format!("{path}: renamed from {from}")),
        (Composed::Text(_), _) => Some(format!("{path}: {hunks}")),
    }
}

/// Opens a part of the file at `path` in the user's editor.
fn edit_in_editor(root: &Path, editor: Option<&str>, path: &str, text: &str) -> Result<String, String> {
    let editor = named_editor(editor, |name| std::env::var(name).ok());
    let edit = EditorSession::for_text(&edit_file_name(path), text, 1, editor)
        .map_err(|error| format!("A temporary file for the text cannot be created: {error}."))?;
    let _guard = IgnoreInterrupts::begin();
    let status = edit.command(root).status();
    edit.result(status).map_err(|error| error.to_string())
}

/// While it lives, Ctrl-C does not end this process: the terminal sends it to the editor, too, which handles it.
struct IgnoreInterrupts;

#[cfg(unix)]
mod interrupts {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Arc, LazyLock};

    /// Whether Ctrl-C ends the process. A handler cannot be removed, so it is installed once and reads this flag.
    static END: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
        let end = Arc::new(AtomicBool::new(true));
        // If this fails, the signal keeps its default action.
        let _ = signal_hook::flag::register_conditional_default(signal_hook::consts::SIGINT, Arc::clone(&end));
        end
    });

    pub(super) fn set(end: bool) {
        END.store(end, Ordering::SeqCst);
    }

    pub(super) fn end() -> bool {
        END.load(Ordering::SeqCst)
    }
}

/// Whether an editor that was opened for a hunk has the terminal.
pub(crate) fn is_editing() -> bool {
    #[cfg(unix)]
    return !interrupts::end();
    #[cfg(not(unix))]
    false
}

impl IgnoreInterrupts {
    fn begin() -> Self {
        #[cfg(unix)]
        interrupts::set(false);
        Self
    }
}

impl Drop for IgnoreInterrupts {
    fn drop(&mut self) {
        #[cfg(unix)]
        interrupts::set(true);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use rhumb_edit::{FileProposal, Proposal, Strategy};

    /// A review of a file with three hunks, the second of which can be split, and a file with one.
    fn file(path: &str, base: &str, proposed: &str) -> FileProposal {
        FileProposal {
            path: path.into(),
            change: FileChange::Modify,
            base: Some(Arc::from(base)),
            proposed: Some(Arc::from(proposed)),
        }
    }

    fn review() -> Review {
        let base = "1\n2\n3\n4\n5\nlet a = 1;\nlet b = 2;\n8\n9\n10\n11\n";
        let proposed = "one\n2\n3\n4\n5\nlet a = 10;\nlet b = 20;\n8\n9\n10\neleven\n";
        let files = vec![file("a.rs", base, proposed), file("b.rs", "x\n", "y\n")];
        Review::new(Proposal { files, ..Proposal::default() })
    }

    /// Answers the questions about a review. Returns whether it may be written, and the output.
    fn answered(review: &mut Review, answers: &str) -> (bool, String) {
        let mut out = Vec::new();
        let edit = |_: &str, text: &str| Ok(text.replace("10", "100"));
        let mut prompt = HunkPrompt {
            review,
            input: answers.as_bytes(),
            out: &mut out,
            color: false,
            edit: &edit,
            shown_file: None,
        };
        let done = prompt.ask().unwrap();
        (done, String::from_utf8(out).unwrap())
    }

    /// The decisions of all hunks, a letter each.
    fn decisions(review: &Review) -> String {
        let letter = |id| match review.decision(id) {
            Decision::Accepted => 'y',
            Decision::Rejected => 'n',
            Decision::Pending => '.',
        };
        review.ids().map(letter).collect()
    }

    #[test]
    fn each_letter_does_what_the_help_says() {
        for (answers, expected) in [
            ("y\nn\nY\nno\n", "ynyn"),
            ("a\nn\n", "yyyn"),
            ("n\na\ny\n", "nyyy"),
            ("d\ny\n", "nnny"),
            ("y\ns\ny\nn\nn\ny\n", "yynny"),
            ("y\ne\nn\nn\n", "yynn"),
            ("j\ny\nn\ny\nn\n", "nyny"),
            ("k\ny\nd\n", "nnny"),
            ("g 3\ny\nn\nd\ng2\n", "nnyn"),
        ] {
            let mut review = review();
            let (done, out) = answered(&mut review, answers);
            assert_eq!((done, decisions(&review).as_str()), (true, expected), "{answers:?}: {out}");
            assert!(out.contains("Writing "), "{out}");
        }
    }

    #[test]
    fn quitting_and_the_end_of_the_input_write_nothing() {
        for answers in ["q\n", "y\nq\n", "y\nQUIT\n", "", "y\n", "y\nn\ny\ny"] {
            let mut review = review();
            let (done, out) = answered(&mut review, answers);
            assert!(!done, "{answers:?}");
            assert!(!out.contains("Writing "), "{out}");
        }
    }

    #[test]
    fn an_unknown_answer_shows_the_help_and_decides_nothing() {
        for word in ["?", "", "x", "yy", "ya", "ok", "é", "\u{1b}[A"] {
            let mut review = review();
            let (_, out) = answered(&mut review, &format!("{word}\n"));
            assert!(out.contains("q - quit and write nothing"), "{word:?}: {out}");
            assert_eq!(decisions(&review), "....", "{word:?}");
        }
        let (_, out) = answered(&mut review(), "g 9\n");
        assert!(out.contains("numbered from 1 to 4"), "{out}");
    }

    #[test]
    fn a_hunk_is_shown_with_its_number_its_file_and_the_letters_that_apply() {
        let (_, out) = answered(&mut review(), "n\nn\nn\n");
        assert_eq!(out.matches("--- a/a.rs").count(), 1, "{out}");
        assert!(out.contains("@@") && out.contains("\n-1\n+one\n"), "{out}");
        assert!(out.contains("(1/4) a.rs: accept this hunk [y,n,a,d,e,j,k,g,q,?]? "), "{out}");
        assert!(out.contains("(2/4) a.rs: accept this hunk [y,n,a,d,s,e,j,k,g,q,?]? "), "{out}");
        assert!(out.contains("(4/4) b.rs: accept this hunk [y,n,a,d,e,g,q,?]? "), "the only undecided one: {out}");
    }

    #[test]
    fn the_summary_says_what_is_written_and_what_is_not() {
        let (_, out) = answered(&mut review(), "y\nn\ny\nn\n");
        let expected =
            "Writing 2 of 4 hunks:\n  a.rs: 2 hunks\nRejected and not written:\n  a.rs: 1 hunk\n  b.rs: 1 hunk\n";
        assert!(out.ends_with(expected), "{out}");
        let (_, out) = answered(&mut review(), "d\nd\n");
        assert!(out.ends_with("No hunk is accepted, so nothing is written.\n"), "{out}");
    }

    #[test]
    fn a_hunk_that_breaks_the_syntax_says_so_and_is_written_only_after_another_yes() {
        let (base, proposed) = ("x = 1\n\n\ny = 2\n\n\nz = 3\n", "x = 10\n\n\ny = (2\n\n\nz = 30\n");
        for (answers, done, expected) in
            [("a\ny\n", true, "yyy"), ("a\nq\n", false, "yyy"), ("a\n", false, "yyy"), ("a\nn\nn\n", true, "yny")]
        {
            let mut review = Review::new(Proposal { files: vec![file("a.py", base, proposed)], ..Proposal::default() });
            let (written, out) = answered(&mut review, answers);
            assert_eq!((written, decisions(&review).as_str()), (done, expected), "{answers:?}: {out}");
            assert!(out.contains("warning: a.py does not parse at line 4: y = (2"), "{out}");
        }
        let mut review = review();
        review.files[0].hunks[0].marks =
            vec![HunkMark::Located(Strategy::Fuzzy, 93), HunkMark::Flag(Flag::SyntaxError)];
        let (_, out) = answered(&mut review, "");
        let expected =
            "note: located by fuzzy 93 percent\nwarning: this hunk breaks the syntax of the file (syntax-error)\n";
        assert!(out.contains(expected), "{out}");
    }

    #[test]
    fn a_hunk_that_needs_confirmation_is_asked_about_separately() {
        let mut review = review();
        review.files[0].hunks[1].marks = vec![HunkMark::Flag(Flag::RunsLater)];
        let (_, out) = answered(&mut review, "a\nn\ny\n");
        assert_eq!(decisions(&review), "ynyy", "{out}");
    }

    #[test]
    fn a_deleted_file_is_neither_split_nor_edited_and_colour_is_for_terminals() {
        let (base, proposed) = (Some(Arc::from("old\n")), None);
        let file = FileProposal { path: "a".into(), change: FileChange::Delete, base, proposed };
        let mut review = Review::new(Proposal { files: vec![file], ..Proposal::default() });
        let (_, out) = answered(&mut review, "e\ns\ny\n");
        assert!(out.contains("(1/1) a: delete this file [y,n,a,d,q,?]? "), "{out}");
        assert!(out.contains("nothing to edit") && out.contains("cannot be split") && out.ends_with("  a: deleted\n"));
        assert!(!out.contains('\x1b'), "{out}");
        let mut out = Vec::new();
        let edit = |_: &str, text: &str| Ok(text.to_owned());
        let (mut review, input) = (super::tests::review(), "q\n".as_bytes());
        let (review, color) = (&mut review, true);
        HunkPrompt { review, input, out: &mut out, color, edit: &edit, shown_file: None }.ask().unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("\x1b[32m+one\x1b[0m") && out.contains("\x1b[31m-1\x1b[0m"), "{out}");
    }
}
