//! Replies of models: those of `tests/edit_formats`, damaged, parsed in every format, and cut anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::{any, prop, proptest};
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use rhumb_edit::{
    Change, EditFormat, EditStream, FileChange, FileProposal, Files, FormatChoice, HeadingKind, LineKind, Outcome,
    ParsedReply, Proposal, Status, Strategy as How, parse, propose,
};

use crate::cases;
use crate::damage::{Damage, boundary, damage};

pub type Tree = BTreeMap<String, String>;

pub struct TreeFiles<'a>(pub &'a Tree);

/// A reply, its files and its format.
pub struct Sample {
    name: String,
    format: FormatChoice,
    reply: String,
    pub files: Tree,
}

pub static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(samples);

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

impl Files for TreeFiles<'_> {
    fn paths(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        Ok(self.0.get(path).cloned())
    }

    fn root(&self) -> Option<String> {
        Some("/home/me/harbour".to_owned())
    }
}

/// A damaged reply, the files after possible changes, and positions at which the stream is cut.
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
        let paths: Vec<&str> = sample.files.keys().map(String::as_str).collect();
        let replies: Vec<&str> = SAMPLES.iter().map(|sample| sample.reply.as_str()).collect();
        let reply =
            self.reply.iter().fold(sample.reply.clone(), |reply, damage| damage.done_to(&reply, &paths, &replies));
        let mut files = sample.files.clone();
        for (at, damage) in &self.file {
            let count = files.len();
            if let Some(text) = files.values_mut().nth(at.index(count.max(1))) {
                *text = damage.done_to(text, &paths, &replies);
            }
        }
        (reply, files)
    }
}

fn choices() -> impl Iterator<Item = FormatChoice> {
    EditFormat::ALL.into_iter().map(FormatChoice::Only).chain([FormatChoice::Auto])
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn no_reply_breaks_a_law(case in case()) {
        let (reply, files) = case.texts();
        for choice in choices() {
            let parsed = parse(&reply, choice);
            cuts_change_nothing(&reply, choice, &case.cuts, &parsed)?;
            let proposal = propose(&parsed, &TreeFiles(&files));
            laws(&parsed, &proposal, &files).map_err(|why| {
                TestCaseError::fail(format!("{why}\n{} as {choice}\n{reply}\n{proposal:#?}", case.sample().name))
            })?;
        }
    }
}

/// The events and the parsed reply do not depend on the pieces in which the text arrives.
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

/// Invariants of every proposal.
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

/// Whether the edit should change the file.
fn changes(outcome: &Outcome) -> bool {
    outcome.status == Status::Applied && outcome.strategy != Some(How::Unchanged)
}

/// Checks that the path is below the root and not in `.git`.
fn stays_inside(path: &str) -> Result<(), TestCaseError> {
    let odd = |part: &str| {
        let plain = part.trim_end_matches(['.', ' ']);
        part.is_empty() || part == "." || part == ".." || plain.eq_ignore_ascii_case(".git")
    };
    let absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    prop_assert!(!absolute && !path.split('/').any(odd) && !path.chars().any(char::is_control), "{path:?}");
    Ok(())
}

/// Each edit of the reply has an outcome. Every other outcome belongs to a fence.
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

/// A file loses at most the lines that its applied edits remove, and gains at most those that they add. The last line may
/// change its end.
fn keeps_lines(parsed: &ParsedReply, proposal: &Proposal, file: &FileProposal) -> Result<(), TestCaseError> {
    let (Some(base), Some(proposed)) = (&file.base, &file.proposed) else { return Ok(()) };
    if base.trim().is_empty() {
        // Blank lines are replaced by the new content.
        return Ok(());
    }
    let (mut removed, mut brought) = (1, 1);
    for outcome in proposal.outcomes.iter().filter(|outcome| changes(outcome)) {
        let of = |edit: &&rhumb_edit::Edit| edit.reply_lines == outcome.reply_lines;
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

/// The number of lines of `one`, with terminators, that are not in `other`.
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

/// Without the refused edits the result is the same.
fn refusals_leave_no_trace(parsed: &ParsedReply, proposal: &Proposal, files: &Tree) -> Result<(), TestCaseError> {
    let whole = proposal.outcomes.len() == parsed.edits.len() && parsed.fences.is_empty();
    // All edits together decide whether a reply is escaped.
    let escaped = parsed.edits.iter().any(|edit| edit.replacement().contains('&') || edit.quote().contains('&'));
    let refused = |outcome: &Outcome| outcome.status == Status::Refused;
    // All edits under a title together decide which file a sentence below it means.
    let in_sentence =
        parsed.headings.iter().any(|heading| heading.kind == HeadingKind::Prose && heading.path.is_some());
    if !whole || escaped || in_sentence || !proposal.outcomes.iter().any(refused) {
        return Ok(());
    }
    let landed = parsed.edits.iter().zip(&proposal.outcomes).filter(|(_, outcome)| !refused(outcome));
    let rest = ParsedReply { edits: landed.map(|(edit, _)| edit.clone()).collect(), ..parsed.clone() };
    prop_assert_eq!(&propose(&rest, &TreeFiles(files)).files, &proposal.files, "a refused edit left a trace");
    Ok(())
}

/// If a reply is cut at any byte, every edit that had begun is in the result, complete or incomplete.
#[test]
fn edits_that_had_begun_before_the_cut_are_reported() {
    for sample in SAMPLES.iter() {
        let full = parse(&sample.reply, sample.format);
        for at in (0..sample.reply.len()).filter(|at| sample.reply.is_char_boundary(*at)) {
            let cut = &sample.reply[..at];
            // The line that was cut may have any meaning.
            let lines = cut.matches('\n').count();
            let parsed = parse(cut, sample.format);
            let begun = full.edits.iter().filter(|edit| edit.reply_lines.0 <= lines).count();
            let told = parsed.edits.len() + parsed.fences.len();
            let unfinished = parsed.edits.iter().any(|edit| !edit.complete);
            assert!(told >= begun || unfinished, "{} at {at}: {told} of {begun}\n{cut}", sample.name);
            let marked = |edit: &&rhumb_edit::Edit| !matches!(edit.format, EditFormat::Whole | EditFormat::Udiff);
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
