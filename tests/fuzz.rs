//! Hostile replies: those of `tests/edit_formats` and their files, damaged in every way that comes to mind, read in every
//! format, cut anywhere. Whatever comes in, the laws below hold.
//!
//! A run of the test suite tries a bounded number of cases. `RHUMB_FUZZ_CASES=200000 cargo test --test fuzz` tries more,
//! each time others; a failure is shrunk and printed as the mutations that lead to it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use std::{env, fs};

use proptest::prelude::{Just, ProptestConfig, any, prop, prop_oneof, proptest};
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use rhumb::edit::{
    Change, EditFormat, EditStream, FileChange, FileProposal, Files, FormatChoice, LineKind, Outcome, ParsedReply,
    Proposal, Status, Strategy as How, parse, propose,
};

type Tree = BTreeMap<String, String>;

struct Shelf<'a>(&'a Tree);

/// A reply, the files that it is about, and the format that it is in.
struct Sample {
    name: String,
    format: FormatChoice,
    reply: String,
    files: Tree,
}

static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(samples);

fn samples() -> Vec<Sample> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edit_formats");
    let mut folders: Vec<_> = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("case.json").exists());
    folders.sort();
    let sample = |folder: &Path| {
        let facts: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("case.json")).unwrap()).unwrap();
        let mut files = Tree::new();
        read_tree(&folder.join("before"), "", &mut files);
        Sample {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            format: facts["format"].as_str().unwrap().parse().unwrap(),
            reply: fs::read_to_string(folder.join("reply.md")).unwrap(),
            files,
        }
    };
    folders.iter().map(|folder| sample(folder)).collect()
}

fn read_tree(folder: &Path, inside: &str, files: &mut Tree) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let name = format!("{inside}{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            read_tree(&path, &format!("{name}/"), files);
        } else {
            files.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
        }
    }
}

impl Files for Shelf<'_> {
    fn paths(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Result<Option<String>, String> {
        Ok(self.0.get(path).cloned())
    }

    fn in_chat(&self, _path: &str) -> bool {
        true
    }

    fn root(&self) -> Option<String> {
        Some("/home/me/harbour".to_owned())
    }
}

/// One way to damage a text.
#[derive(Debug, Clone)]
enum Damage {
    DropLine(Index),
    DoubleLine(Index),
    SwapLines(Index, Index),
    MoveLine(Index, Index),
    Insert(Index, &'static str),
    Indent(Index, usize, &'static str),
    Dedent(Index, usize),
    Letter(Index, char),
    DropLetter(Index),
    Cut(Index),
    Behead(Index),
    Splice(Index, Index),
    Rename(&'static str),
    WindowsEnds,
    Unfenced,
}

/// Lines that mean something to one of the formats, or look as if they did.
const LINES: [&str; 50] = [
    "",
    "```",
    "```diff",
    "```python",
    "```sh",
    "````",
    "~~~",
    "  ```",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "<<<<<<< HEAD",
    ">>>>>>> main",
    "||||||| base",
    "--- a/src/pump.py",
    "+++ b/src/pump.py",
    "--- /dev/null",
    "+++ /dev/null",
    "---",
    "+++",
    "@@",
    "@@ -1,3 +1,4 @@ class Pump:",
    "@@ ... @@",
    "\\ No newline at end of file",
    "diff --git a/src/pump.py b/src/pump.py",
    "diff --git a/src/pump.py b/src/mast.py",
    "rename from src/pump.py",
    "rename to src/mast.py",
    "similarity index 90%",
    "deleted file mode 100644",
    "new file mode 100644",
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: src/pump.py",
    "*** Add File: src/mast.py",
    "*** Delete File: src/pump.py",
    "*** Move to: src/keel.py",
    "*** End of File",
    "src/pump.py",
    "../pump.py",
    ".git/config",
    "### `src/pump.py`",
    "Then change the pump:",
    "...",
    "# ... existing code ...",
    "-",
    "+",
    " ",
    "\u{feff}",
    "cat <<'EOF' > src/pump.py",
];

/// Names that must never be written to, and odd ones that may.
const NAMES: [&str; 18] = [
    "../pump.py",
    "/etc/passwd",
    "/home/me/harbour/../x.py",
    "/home/me/harbour/.git/hooks/pre-commit",
    ".git/config",
    ".GIT/config",
    ".git./config",
    "sub/.git/config",
    "sub/../../x.py",
    "..\\..\\x.py",
    "C:\\x.py",
    "~/x.py",
    "a\0b.py",
    "\u{202e}x.py",
    "src",
    "src/pump.py/x",
    "a dir/new file.py",
    "x/./y//z.py",
];

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    let indents = prop::sample::select(vec![" ", "    ", "\t", "+", "-", "> ", "\\"]);
    let letters = prop::sample::select(vec!['x', ' ', '\n', '\r', '\t', '`', '"', '…', 'é', '\0', '\u{feff}', '\u{c}']);
    prop_oneof![
        3 => at().prop_map(Damage::DropLine),
        2 => at().prop_map(Damage::DoubleLine),
        2 => (at(), at()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| Damage::MoveLine(a, b)),
        4 => (at(), prop::sample::select(LINES.to_vec())).prop_map(|(at, line)| Damage::Insert(at, line)),
        2 => (at(), 1..8usize, indents).prop_map(|(at, count, indent)| Damage::Indent(at, count, indent)),
        2 => (at(), 1..8usize).prop_map(|(at, count)| Damage::Dedent(at, count)),
        3 => (at(), letters).prop_map(|(at, letter)| Damage::Letter(at, letter)),
        2 => at().prop_map(Damage::DropLetter),
        1 => at().prop_map(Damage::Cut),
        1 => at().prop_map(Damage::Behead),
        2 => (at(), at()).prop_map(|(other, at)| Damage::Splice(other, at)),
        1 => prop::sample::select(NAMES.to_vec()).prop_map(Damage::Rename),
        1 => Just(Damage::WindowsEnds),
        1 => Just(Damage::Unfenced),
    ]
}

impl Damage {
    fn done_to(&self, text: &str, files: &Tree) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let count = lines.len();
        let place = |index: &Index| index.index(count);
        match self {
            Self::DropLine(at) => drop(lines.remove(place(at))),
            Self::DoubleLine(at) => lines.insert(place(at), lines[place(at)].clone()),
            Self::SwapLines(one, other) => lines.swap(place(one), place(other)),
            Self::MoveLine(from, to) => {
                let (from, to) = (place(from), place(to));
                let line = lines.remove(from);
                lines.insert(to, line);
            }
            Self::Insert(at, line) => lines.insert(place(at), (*line).to_owned()),
            Self::Indent(at, count, indent) => {
                lines.iter_mut().skip(place(at)).take(*count).for_each(|l| l.insert_str(0, indent));
            }
            Self::Dedent(at, count) => {
                let dedented = |line: &mut String| *line = line.trim_start().to_owned();
                lines.iter_mut().skip(place(at)).take(*count).for_each(dedented);
            }
            Self::Letter(at, letter) => {
                let at = boundary(text, at);
                return format!("{}{letter}{}", &text[..at], &text[at..]);
            }
            Self::DropLetter(at) => {
                let at = boundary(text, at);
                let mut tail = text[at..].chars();
                tail.next();
                return format!("{}{}", &text[..at], tail.as_str());
            }
            Self::Cut(at) => return text[..boundary(text, at)].to_owned(),
            Self::Behead(at) => return text[boundary(text, at)..].to_owned(),
            Self::Splice(other, at) => {
                let other: Vec<&str> = SAMPLES[other.index(SAMPLES.len())].reply.split('\n').collect();
                let at = place(at);
                lines.splice(at..at, other.iter().map(|line| (*line).to_owned()));
            }
            Self::Rename(name) => {
                return files.keys().fold(text.to_owned(), |text, path| text.replace(path.as_str(), name));
            }
            Self::WindowsEnds => return text.replace("\r\n", "\n").replace('\n', "\r\n"),
            Self::Unfenced => lines.retain(|line| !line.trim_start().starts_with("```")),
        }
        lines.join("\n")
    }
}

/// A place between two characters.
fn boundary(text: &str, at: &Index) -> usize {
    let at = at.index(text.len() + 1);
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// A reply that was damaged, the files as they may have become meanwhile, and places to cut the stream.
#[derive(Debug, Clone)]
struct Case {
    sample: Index,
    reply: Vec<Damage>,
    file: Vec<(Index, Damage)>,
    cuts: Vec<Index>,
}

fn case() -> impl Strategy<Value = Case> {
    let reply = prop::collection::vec(damage(), 0..7);
    let file = prop::collection::vec((any::<Index>(), damage()), 0..3);
    let cuts = prop::collection::vec(any::<Index>(), 0..6);
    (any::<Index>(), reply, file, cuts).prop_map(|(sample, reply, file, cuts)| Case { sample, reply, file, cuts })
}

impl Case {
    fn sample(&self) -> &'static Sample {
        &SAMPLES[self.sample.index(SAMPLES.len())]
    }

    fn texts(&self) -> (String, Tree) {
        let sample = self.sample();
        let reply = self.reply.iter().fold(sample.reply.clone(), |reply, damage| damage.done_to(&reply, &sample.files));
        let mut files = sample.files.clone();
        for (at, damage) in &self.file {
            let count = files.len();
            if let Some(text) = files.values_mut().nth(at.index(count.max(1))) {
                *text = damage.done_to(text, &sample.files);
            }
        }
        (reply, files)
    }
}

fn choices() -> impl Iterator<Item = FormatChoice> {
    EditFormat::ALL.into_iter().map(FormatChoice::Only).chain([FormatChoice::Auto])
}

fn cases() -> ProptestConfig {
    let cases = env::var("RHUMB_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_500);
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 5_000, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn no_reply_breaks_a_law(case in case()) {
        let (reply, files) = case.texts();
        for choice in choices() {
            let parsed = parse(&reply, choice);
            cuts_change_nothing(&reply, choice, &case.cuts, &parsed)?;
            let proposal = propose(&parsed, &Shelf(&files));
            laws(&parsed, &proposal, &files).map_err(|why| {
                TestCaseError::fail(format!("{why}\n{} as {choice}\n{reply}\n{proposal:#?}", case.sample().name))
            })?;
        }
    }
}

/// The events and the reply are the same in whatever pieces the text arrives.
fn cuts_change_nothing(
    reply: &str,
    choice: FormatChoice,
    cuts: &[Index],
    whole: &ParsedReply,
) -> Result<(), TestCaseError> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| boundary(reply, cut)).chain([0, reply.len()]).collect();
    places.sort_unstable();
    let (mut pieces, mut once) = (EditStream::new(choice), EditStream::new(choice));
    let mut events = Vec::new();
    for pair in places.windows(2) {
        pieces.push(&reply[pair[0]..pair[1]]);
        events.extend(pieces.events());
    }
    once.push(reply);
    prop_assert_eq!(once.events(), events);
    prop_assert_eq!(&pieces.finish(), whole);
    Ok(())
}

/// What holds of every proposal.
fn laws(parsed: &ParsedReply, proposal: &Proposal, files: &Tree) -> Result<(), TestCaseError> {
    for file in &proposal.files {
        stays_inside(&file.path)?;
        prop_assert!(file.proposed.is_none() || file.base.as_deref() != file.proposed.as_deref() || moves(file));
        let from = match &file.change {
            FileChange::Rename { from } => from,
            _ => &file.path,
        };
        prop_assert_eq!(file.base.as_deref(), files.get(from).map(String::as_str), "the base is the file");
        let landed = |outcome: &&Outcome| outcome.path == *from || file.has_name(&outcome.path);
        let applied = proposal.outcomes.iter().filter(landed).filter(|outcome| changes(outcome)).count();
        prop_assert!(applied > 0, "{} changes without an edit", file.path);
        keeps_lines(parsed, proposal, file)?;
    }
    every_edit_has_an_outcome(parsed, proposal)?;
    for outcome in &proposal.outcomes {
        prop_assert!(outcome.status == Status::Applied || !outcome.reason.is_empty(), "refused without a reason");
    }
    refusals_leave_no_trace(parsed, proposal, files)
}

fn moves(file: &FileProposal) -> bool {
    matches!(file.change, FileChange::Rename { .. })
}

/// Whether the edit is meant to show in the file.
fn changes(outcome: &Outcome) -> bool {
    outcome.status == Status::Applied && outcome.strategy != Some(How::Unchanged)
}

/// The path is one below the root, and none of git's.
fn stays_inside(path: &str) -> Result<(), TestCaseError> {
    let odd = |part: &str| {
        let plain = part.trim_end_matches(['.', ' ']);
        part.is_empty() || part == "." || part == ".." || plain.eq_ignore_ascii_case(".git")
    };
    let absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    prop_assert!(!absolute && !path.split('/').any(odd) && !path.chars().any(char::is_control), "{path:?}");
    Ok(())
}

/// Each edit of the reply has an outcome, and each other outcome is that of a fence.
fn every_edit_has_an_outcome(parsed: &ParsedReply, proposal: &Proposal) -> Result<(), TestCaseError> {
    let mut told: Vec<(usize, usize)> = proposal.outcomes.iter().map(|outcome| outcome.reply_lines).collect();
    for edit in &parsed.edits {
        let at = told.iter().position(|lines| *lines == edit.reply_lines);
        prop_assert!(at.is_some(), "nothing is told of the edit in lines {:?}", edit.reply_lines);
        told.remove(at.unwrap());
    }
    let fences: BTreeSet<(usize, usize)> = parsed.fences.iter().map(|fence| fence.reply_lines).collect();
    prop_assert!(told.iter().all(|lines| fences.contains(lines)));
    Ok(())
}

/// A file loses no more lines than the edits that landed in it remove, and gains no more than they bring. The last line may
/// change its end.
fn keeps_lines(parsed: &ParsedReply, proposal: &Proposal, file: &FileProposal) -> Result<(), TestCaseError> {
    let (Some(base), Some(proposed)) = (&file.base, &file.proposed) else { return Ok(()) };
    if base.trim().is_empty() {
        // Blank lines give way to what fills the file.
        return Ok(());
    }
    let (mut removed, mut brought) = (1, 1);
    for outcome in proposal.outcomes.iter().filter(|outcome| changes(outcome)) {
        let of = |edit: &&rhumb::edit::Edit| edit.reply_lines == outcome.reply_lines;
        for edit in parsed.edits.iter().chain(&parsed.fences).filter(of) {
            let Change::Hunk(readings) = &edit.change else { return Ok(()) };
            let most = |count: &dyn Fn(LineKind) -> bool| {
                let counts = readings.iter().map(|hunk| hunk.lines.iter().filter(|line| count(line.kind)).count());
                counts.max().unwrap_or_default()
            };
            removed += most(&|kind| kind == LineKind::Delete);
            // A quoted line may lack its plus sign.
            brought += most(&|kind| matches!(kind, LineKind::Insert | LineKind::Keep));
        }
    }
    let (lost, gained) = (missing(base, proposed), missing(proposed, base));
    prop_assert!(lost <= removed, "{}: {lost} lines are lost and {removed} removed", file.path);
    prop_assert!(gained <= brought, "{}: {gained} lines are new and {brought} added", file.path);
    Ok(())
}

/// How many lines of `one`, ends included, are not in `other`.
fn missing(one: &str, other: &str) -> usize {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    other.split_inclusive('\n').for_each(|line| *counts.entry(line).or_default() += 1);
    let mut missing = 0;
    for line in one.split_inclusive('\n') {
        match counts.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => missing += 1,
        }
    }
    missing
}

/// Without the edits that were refused the files become the same.
fn refusals_leave_no_trace(parsed: &ParsedReply, proposal: &Proposal, files: &Tree) -> Result<(), TestCaseError> {
    let whole = proposal.outcomes.len() == parsed.edits.len() && parsed.fences.is_empty();
    // Whether a reply is escaped is told from all of its edits.
    let escaped = parsed.edits.iter().any(|edit| edit.replacement().contains('&') || edit.quote().contains('&'));
    let refused = |outcome: &Outcome| outcome.status == Status::Refused;
    if !whole || escaped || !proposal.outcomes.iter().any(refused) {
        return Ok(());
    }
    let landed = parsed.edits.iter().zip(&proposal.outcomes).filter(|(_, outcome)| !refused(outcome));
    let rest = ParsedReply { edits: landed.map(|(edit, _)| edit.clone()).collect(), ..parsed.clone() };
    prop_assert_eq!(&propose(&rest, &Shelf(files)).files, &proposal.files, "a refused edit left a trace");
    Ok(())
}

/// Cut at any byte, a reply loses nothing that had begun without a word: it is there as an edit, finished or not.
#[test]
fn what_had_begun_before_the_cut_is_told() {
    for sample in SAMPLES.iter() {
        let full = parse(&sample.reply, sample.format);
        for at in (0..sample.reply.len()).filter(|at| sample.reply.is_char_boundary(*at)) {
            let cut = &sample.reply[..at];
            // A line that was cut may say anything.
            let lines = cut.matches('\n').count();
            let parsed = parse(cut, sample.format);
            let begun = full.edits.iter().filter(|edit| edit.reply_lines.0 <= lines).count();
            let told = parsed.edits.len() + parsed.fences.len();
            let unfinished = parsed.edits.iter().any(|edit| !edit.complete);
            assert!(told >= begun || unfinished, "{} at {at}: {told} of {begun}\n{cut}", sample.name);
            let marked = |edit: &&rhumb::edit::Edit| !matches!(edit.format, EditFormat::Whole | EditFormat::Udiff);
            for edit in parsed.edits.iter().filter(marked).filter(|edit| edit.complete) {
                let same =
                    full.edits.iter().any(|whole| whole.change == edit.change && whole.reply_lines == edit.reply_lines);
                assert!(same, "{} at {at}: half an edit is taken for a whole one\n{cut}", sample.name);
            }
        }
    }
}

/// One byte at a time or all at once.
#[test]
fn real_replies_are_read_alike_in_pieces_of_any_size() {
    for sample in SAMPLES.iter() {
        for choice in choices() {
            let whole = parse(&sample.reply, choice);
            let mut once = EditStream::new(choice);
            once.push(&sample.reply);
            let events = once.events();
            for size in [1, 2, 3, 7, 16, 61] {
                let mut stream = EditStream::new(choice);
                let mut told = Vec::new();
                for piece in pieces(&sample.reply, size) {
                    stream.push(piece);
                    told.extend(stream.events());
                }
                assert_eq!(told, events, "{} as {choice}", sample.name);
                assert_eq!(stream.finish(), whole, "{} as {choice}", sample.name);
            }
        }
    }
}

/// The text in pieces of about `size` bytes.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = (size..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let (head, tail) = rest.split_at(at);
        rest = tail;
        (!head.is_empty()).then_some(head)
    })
}
