//! What can be said in a review: one table for reading it and for the help.

use std::ops::Range;

use rhumb_edit::review::{CommentTarget, HunkId, Review};

/// One thing that can be said.
pub(super) struct WordInfo {
    /// How it is typed.
    pub(super) usage: &'static str,
    /// What it does.
    pub(super) help: &'static str,
}

const fn row(usage: &'static str, help: &'static str) -> WordInfo {
    WordInfo { usage, help }
}

/// Everything that can be said in a review.
#[rustfmt::skip] // a table
pub(super) const WORDS: &[WordInfo] = &[
    row("1,3-5", "accept these hunks"),
    row("accept HUNKS, or a file", "the same; accept 2 lines 1-3 accepts some lines of one, as lines 2 counts them"),
    row("all", "accept every hunk"),
    row("not HUNKS", "accept every hunk but these, and reject these"),
    row("reject HUNKS, or a file", "reject hunks; reject 2 lines 1-3 rejects some lines of one"),
    row("none", "reject every hunk"),
    row("pend HUNKS", "leave hunks undecided again"),
    row("show [HUNKS]", "read hunks; without a number, all of them"),
    row("next", "read the next undecided hunk; Enter alone does the same"),
    row("lines HUNK", "read a hunk with its lines counted"),
    row("split HUNK [at LINE]", "take a hunk apart into its smallest parts, or before one of its lines"),
    row("join HUNK", "make a hunk and the next one of its file one"),
    row("edit HUNK", "change what a hunk adds, in your editor"),
    row("comment HUNK [line N] TEXT", "note something for the model on a hunk, a line of it, or a file; without a text, take the note away"),
    row("undo", "take the last decision, split, change or comment back"),
    row("redo", "do again what was taken back"),
    row("refused", "read the edits that found no place, with the reason and the nearest lines"),
    row("send back", "send comments, rejected hunks and edits without a place to the model"),
    row("status", "say how many hunks are accepted, rejected and undecided"),
    row("write", "write the accepted hunks, and nothing else"),
    row("later", "leave the review as it is and go back to messages; /hunks returns"),
    row("abandon", "give the whole review up; nothing of it is written"),
    row("say MESSAGE", "send a message to the model; the review stays"),
    row("help", "list these words"),
];

/// What was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Word {
    Accept(Vec<HunkId>),
    AcceptLines(HunkId, Range<usize>),
    All,
    Not(Vec<HunkId>),
    Reject(Vec<HunkId>),
    RejectLines(HunkId, Range<usize>),
    None,
    Pend(Vec<HunkId>),
    Show(Vec<HunkId>),
    Next,
    Lines(HunkId),
    Split(HunkId, Option<usize>),
    Join(HunkId),
    Edit(HunkId),
    Comment(CommentTarget, String),
    Undo,
    Redo,
    Refused,
    SendBack,
    Status,
    Write,
    Later,
    Abandon,
    Say(String),
    Help,
}

/// Reads what was said of a review.
///
/// # Errors
/// It is none of the words, or names a hunk that there is not; in words.
pub(super) fn parse(line: &str, review: &Review) -> Result<Word, String> {
    let line = line.trim();
    if line.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Word::Accept(hunks(line, review)?));
    }
    let (name, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(name, rest)| (name, rest.trim()));
    let alone = |word: Word| if rest.is_empty() { Ok(word) } else { Err(format!("Nothing may follow {name}.")) };
    match name {
        "accept" => Ok(match lines_of(rest, review)? {
            Some((id, lines)) => Word::AcceptLines(id, lines),
            None => Word::Accept(hunks(rest, review)?),
        }),
        "reject" => Ok(match lines_of(rest, review)? {
            Some((id, lines)) => Word::RejectLines(id, lines),
            None => Word::Reject(hunks(rest, review)?),
        }),
        "all" => alone(Word::All),
        "none" => alone(Word::None),
        "not" => Ok(Word::Not(hunks(rest, review)?)),
        "pend" => Ok(Word::Pend(hunks(rest, review)?)),
        "show" if rest.is_empty() => Ok(Word::Show(review.ids().collect())),
        "show" => Ok(Word::Show(hunks(rest, review)?)),
        "" | "next" => alone(Word::Next),
        "lines" => Ok(Word::Lines(one(rest, review)?)),
        "split" => match rest.split_once(" at ") {
            Some((hunk, at)) => {
                let id = one(hunk, review)?;
                Ok(Word::Split(id, Some(lines(at, review, id)?.start)))
            }
            None => Ok(Word::Split(one(rest, review)?, None)),
        },
        "join" => Ok(Word::Join(one(rest, review)?)),
        "edit" => Ok(Word::Edit(one(rest, review)?)),
        "comment" => comment(rest, review),
        "undo" => alone(Word::Undo),
        "redo" => alone(Word::Redo),
        "refused" => alone(Word::Refused),
        "send" if rest == "back" => Ok(Word::SendBack),
        "send" => Err("Say send back; or say MESSAGE for a message of your own.".to_owned()),
        "status" => alone(Word::Status),
        "write" => alone(Word::Write),
        "later" => alone(Word::Later),
        "abandon" => alone(Word::Abandon),
        "say" if rest.is_empty() => Err("say needs a message: say MESSAGE.".to_owned()),
        "say" => Ok(Word::Say(rest.to_owned())),
        "help" => alone(Word::Help),
        _ => Err(format!("{name} is not a word of the review, so nothing was done; help lists the words.")),
    }
}

/// Whether a line is a word of the review, or an answer, and no message: where nothing is under review or asked, it must not go to a
/// model. In a script a number and a letter are such, too; somebody who types may answer the model with them.
pub(super) fn is_no_message(line: &str, in_script: bool) -> bool {
    let line = line.trim();
    let alone =
        ["all", "none", "next", "show", "undo", "redo", "refused", "status", "write", "later", "abandon", "send back"];
    let answers = ["y", "n", "yes", "no"];
    let is_numbers =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ' '));
    let verbs = ["accept", "reject", "not", "pend", "show", "lines", "split", "join", "edit"];
    let on_numbers = line.split_once(' ').is_some_and(|(verb, rest)| verbs.contains(&verb) && is_numbers(rest));
    alone.contains(&line) || on_numbers || (in_script && (answers.contains(&line) || is_numbers(line)))
}

/// The hunks that are named by numbers and ranges, with commas or spaces between them, or by the path of their file.
fn hunks(text: &str, review: &Review) -> Result<Vec<HunkId>, String> {
    let ids: Vec<HunkId> = review.ids().collect();
    if let Some(file) = file(text, review) {
        return Ok(ids.into_iter().filter(|id| id.file == file).collect());
    }
    let mut named = Vec::new();
    for part in text.split([',', ' ', '\t']).filter(|part| !part.is_empty()) {
        let range =
            numbers(part).ok_or_else(|| format!("{part} is not the number of a hunk. {}", there_are(ids.len())))?;
        let found = ids.get(range).ok_or_else(|| format!("There is no hunk {part}. {}", there_are(ids.len())))?;
        named.extend(found);
    }
    if named.is_empty() {
        return Err(format!("Which hunk? {}", there_are(ids.len())));
    }
    named.sort_unstable();
    named.dedup();
    Ok(named)
}

fn there_are(total: usize) -> String {
    match total {
        0 => "There are no hunks.".to_owned(),
        1 => "There is one hunk, number 1.".to_owned(),
        total => format!("Hunks are numbered from 1 to {total}."),
    }
}

fn file(text: &str, review: &Review) -> Option<usize> {
    review.files.iter().position(|file| file.path == text)
}

/// `3` or `3-5`, as a range from 0; `None` for anything else.
fn numbers(text: &str) -> Option<Range<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && first <= last).then(|| first - 1..last)
}

fn one(text: &str, review: &Review) -> Result<HunkId, String> {
    match hunks(text, review)?.as_slice() {
        [id] => Ok(*id),
        several => Err(format!("One hunk at a time; {text} names {}.", several.len())),
    }
}

/// Lines of a hunk, from 0.
fn lines(text: &str, review: &Review, id: HunkId) -> Result<Range<usize>, String> {
    let total = review.hunk(id).map_or(0, rhumb_edit::review::ReviewHunk::line_count);
    let found = numbers(text.trim()).filter(|range| range.end <= total);
    found.ok_or_else(|| {
        format!(
            "That hunk has no line {}: its lines are numbered from 1 to {total}, as the word lines shows.",
            text.trim()
        )
    })
}

/// `2 lines 1-3` or `2 line 1`; `None` where no lines are named.
fn lines_of(text: &str, review: &Review) -> Result<Option<(HunkId, Range<usize>)>, String> {
    let Some((hunk, range)) = text.split_once(" lines ").or_else(|| text.split_once(" line ")) else {
        return Ok(None);
    };
    let id = one(hunk, review)?;
    Ok(Some((id, lines(range, review, id)?)))
}

fn comment(rest: &str, review: &Review) -> Result<Word, String> {
    let (target, text) =
        rest.split_once(char::is_whitespace).map_or((rest, ""), |(target, text)| (target, text.trim()));
    if let Some(file) = file(target, review) {
        return Ok(Word::Comment(CommentTarget::File(file), text.to_owned()));
    }
    let id = one(target, review)?;
    let Some(after) = text.strip_prefix("line ").map(str::trim_start) else {
        return Ok(Word::Comment(CommentTarget::Hunk(id), text.to_owned()));
    };
    let (number, text) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    match lines(number, review, id) {
        Ok(range) => Ok(Word::Comment(CommentTarget::Line(id, range.start), text.trim().to_owned())),
        // A comment may begin with that word.
        Err(_) if number.parse::<usize>().is_err() => {
            Ok(Word::Comment(CommentTarget::Hunk(id), format!("line {after}")))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::hunks::tests::review;
    use super::*;

    fn id(file: usize, hunk: usize) -> HunkId {
        HunkId { file, hunk }
    }

    #[test]
    fn hunks_are_named_by_numbers_ranges_and_files() {
        let review = review();
        let all: Vec<HunkId> = review.ids().collect();
        assert_eq!(all.len(), 4);
        assert_eq!(parse("1,3-4", &review), Ok(Word::Accept(vec![all[0], all[2], all[3]])));
        assert_eq!(parse("2 2 1", &review), Ok(Word::Accept(vec![all[0], all[1]])));
        assert_eq!(parse("reject a.rs", &review), Ok(Word::Reject(all[..2].to_vec())));
        assert_eq!(parse("show", &review), Ok(Word::Show(all)));
        assert_eq!(parse("  ", &review), Ok(Word::Next));
    }

    #[test]
    fn what_there_is_not_is_told_and_nothing_is_done() {
        let review = review();
        for line in
            ["5", "0", "1-9", "3-1", "2x", "not", "reject", "accept 1 lines 9", "edit 1,2", "all 1", "yes", "send"]
        {
            assert!(parse(line, &review).is_err(), "{line}");
        }
        assert_eq!(parse("7", &review), Err("There is no hunk 7. Hunks are numbered from 1 to 4.".into()));
    }

    #[test]
    fn lines_and_comments_are_of_a_hunk() {
        let review = review();
        assert_eq!(parse("accept 1 lines 1-2", &review), Ok(Word::AcceptLines(id(0, 0), 0..2)));
        assert_eq!(parse("split 2 at 2", &review), Ok(Word::Split(id(0, 1), Some(1))));
        let comment = |line: &str| match parse(line, &review) {
            Ok(Word::Comment(place, text)) => (place, text),
            other => panic!("{other:?}"),
        };
        assert_eq!(comment("comment 1 why  so?"), (CommentTarget::Hunk(id(0, 0)), "why  so?".into()));
        assert_eq!(comment("comment 1 line 2 no"), (CommentTarget::Line(id(0, 0), 1), "no".into()));
        assert_eq!(comment("comment 1 line by line"), (CommentTarget::Hunk(id(0, 0)), "line by line".into()));
        assert_eq!(comment("comment c.rs keep it"), (CommentTarget::File(2), "keep it".into()));
        assert_eq!(comment("comment 1"), (CommentTarget::Hunk(id(0, 0)), String::new()));
    }

    #[test]
    fn a_word_of_the_review_is_no_message() {
        for line in ["all", "write", "send back", "reject 2", "not 1,3-4"] {
            assert!(is_no_message(line, false), "{line}");
        }
        for line in ["1", "yes", "2,3"] {
            assert_eq!((is_no_message(line, false), is_no_message(line, true)), (false, true), "{line}");
        }
        for line in ["write a test", "not now", "all of them", "show me the code", "edit it"] {
            assert!(!is_no_message(line, true), "{line}");
        }
    }

    #[test]
    fn every_word_of_the_table_is_understood() {
        let review = review();
        for info in WORDS {
            let word = info.usage.split([' ', ',']).next().unwrap_or_default();
            let told = parse(word, &review).err().unwrap_or_default();
            assert!(!told.contains("is no word"), "{word}: {told}");
        }
    }
}
