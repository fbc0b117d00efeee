//! The commands of a review: a table for the parser and the help.

use rhumb_edit::review::{CommentTarget, HunkId, Review, ReviewHunk};
use std::ops::Range;

pub(super) struct ReviewCommandInfo {
    verb: Verb,
    /// The syntax, which begins with the name.
    pub(super) usage: &'static str,
    pub(super) help: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Accept,
    All,
    Not,
    Reject,
    None,
    Pend,
    Show,
    Next,
    Lines,
    Split,
    Join,
    Edit,
    Comment,
    Undo,
    Redo,
    Refused,
    Send,
    Status,
    Write,
    Later,
    Abandon,
    Say,
    Help,
}

const fn row(verb: Verb, usage: &'static str, help: &'static str) -> ReviewCommandInfo {
    ReviewCommandInfo { verb, usage, help }
}

#[rustfmt::skip] // a table
pub(super) const REVIEW_COMMANDS: &[ReviewCommandInfo] = &[
    row(Verb::Accept, "1,3-5", "accept these hunks"),
    row(Verb::Accept, "accept HUNKS, or a file", "the same; accept 2 lines 1-3 accepts some lines of a hunk, with the numbers that lines 2 shows"),
    row(Verb::All, "all", "accept every hunk"),
    row(Verb::Not, "not HUNKS", "reject these hunks and accept all others"),
    row(Verb::Reject, "reject HUNKS, or a file", "reject hunks; reject 2 lines 1-3 rejects some lines of a hunk"),
    row(Verb::None, "none", "reject every hunk"),
    row(Verb::Pend, "pend HUNKS", "make hunks undecided again"),
    row(Verb::Show, "show [HUNKS]", "print hunks; without a number, all of them"),
    row(Verb::Next, "next", "print the next undecided hunk; Enter alone does the same"),
    row(Verb::Lines, "lines HUNK", "print a hunk with line numbers"),
    row(Verb::Split, "split HUNK [at LINE]", "split a hunk into its smallest parts, or before one of its lines"),
    row(Verb::Join, "join HUNK", "join a hunk and the next one of its file"),
    row(Verb::Edit, "edit HUNK", "edit the lines that a hunk adds, in your editor"),
    row(Verb::Comment, "comment HUNK [line N] TEXT", "comment on a hunk, a line of it, or a file, for the model; without a text, remove the comment"),
    row(Verb::Undo, "undo", "undo the last decision, split, join, edit or comment"),
    row(Verb::Redo, "redo", "redo what was undone"),
    row(Verb::Refused, "refused", "print the edits that could not be located, with the reason and the nearest lines"),
    row(Verb::Send, "send back", "send comments, rejected hunks and refused edits to the model"),
    row(Verb::Status, "status", "print how many hunks are accepted, rejected and undecided"),
    row(Verb::Write, "write", "write the accepted hunks, and nothing else"),
    row(Verb::Later, "later", "leave the review as it is and return to messages; /hunks comes back"),
    row(Verb::Abandon, "abandon", "discard the whole review and write nothing of it"),
    row(Verb::Say, "say MESSAGE", "send a message to the model; the review stays"),
    row(Verb::Help, "help", "list these commands"),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReviewCommand {
    Accept(Vec<HunkId>),
    AcceptLines(HunkId, Range<usize>),
    AcceptAll,
    AcceptAllExcept(Vec<HunkId>),
    Reject(Vec<HunkId>),
    RejectLines(HunkId, Range<usize>),
    RejectAll,
    Pend(Vec<HunkId>),
    Show(Vec<HunkId>),
    ShowNext,
    ShowNumbered(HunkId),
    Split(HunkId, Option<usize>),
    Join(HunkId),
    Edit(HunkId),
    Comment(CommentTarget, String),
    Undo,
    Redo,
    ShowRefused,
    SendBack,
    Status,
    Write,
    Later,
    Abandon,
    Say(String),
    Help,
}

/// Parses a line as a command of a review.
///
/// # Errors
/// The command is unknown, or names a hunk or line that does not exist. The error is a message for the user.
pub(super) fn parse(line: &str, review: &Review) -> Result<ReviewCommand, String> {
    use ReviewCommand as Command;
    let line = line.trim();
    if line.is_empty() {
        return Ok(Command::ShowNext);
    }
    if line.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Command::Accept(hunks(line, review)?));
    }
    let (name, rest) = line.split_once(char::is_whitespace).map_or((line, ""), |(name, rest)| (name, rest.trim()));
    let info = REVIEW_COMMANDS.iter().find(|info| info.usage.split(' ').next() == Some(name));
    let Some(info) = info else {
        return Err(format!("There is no review command {name}, so nothing was done; help lists the commands."));
    };
    let alone =
        |command: Command| if rest.is_empty() { Ok(command) } else { Err(format!("{name} takes no arguments.")) };
    match info.verb {
        Verb::Accept => Ok(match hunk_lines(rest, review)? {
            Some((id, lines)) => Command::AcceptLines(id, lines),
            None => Command::Accept(hunks(rest, review)?),
        }),
        Verb::Reject => Ok(match hunk_lines(rest, review)? {
            Some((id, lines)) => Command::RejectLines(id, lines),
            None => Command::Reject(hunks(rest, review)?),
        }),
        Verb::All => alone(Command::AcceptAll),
        Verb::None => alone(Command::RejectAll),
        Verb::Not => Ok(Command::AcceptAllExcept(hunks(rest, review)?)),
        Verb::Pend => Ok(Command::Pend(hunks(rest, review)?)),
        Verb::Show if rest.is_empty() => Ok(Command::Show(review.ids().collect())),
        Verb::Show => Ok(Command::Show(hunks(rest, review)?)),
        Verb::Next => alone(Command::ShowNext),
        Verb::Lines => Ok(Command::ShowNumbered(one_hunk(rest, review)?)),
        Verb::Split => match rest.split_once(" at ") {
            Some((hunk, at)) => {
                let id = one_hunk(hunk, review)?;
                Ok(Command::Split(id, Some(line_range(at, review, id)?.start)))
            }
            None => Ok(Command::Split(one_hunk(rest, review)?, None)),
        },
        Verb::Join => Ok(Command::Join(one_hunk(rest, review)?)),
        Verb::Edit => Ok(Command::Edit(one_hunk(rest, review)?)),
        Verb::Comment => comment(rest, review),
        Verb::Undo => alone(Command::Undo),
        Verb::Redo => alone(Command::Redo),
        Verb::Refused => alone(Command::ShowRefused),
        Verb::Send if rest == "back" => Ok(Command::SendBack),
        Verb::Send => Err("Type send back, or say MESSAGE for another message.".to_owned()),
        Verb::Status => alone(Command::Status),
        Verb::Write => alone(Command::Write),
        Verb::Later => alone(Command::Later),
        Verb::Abandon => alone(Command::Abandon),
        Verb::Say if rest.is_empty() => Err("say needs a message: say MESSAGE.".to_owned()),
        Verb::Say => Ok(Command::Say(rest.to_owned())),
        Verb::Help => alone(Command::Help),
    }
}

/// Whether a line is a command of a review or an answer to a question, and so must not be sent to a model if there is neither. In
/// a script, numbers and letters are answers, too; users at a terminal may send them as messages.
pub(super) fn is_answer(line: &str, in_script: bool) -> bool {
    let line = line.trim();
    let commands =
        ["all", "none", "next", "show", "undo", "redo", "refused", "status", "write", "later", "abandon", "send back"];
    let answers = ["y", "n", "yes", "no"];
    let is_numbers =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '-' | ' '));
    let verbs = ["accept", "reject", "not", "pend", "show", "lines", "split", "join", "edit"];
    let has_numbers = line.split_once(' ').is_some_and(|(verb, rest)| verbs.contains(&verb) && is_numbers(rest));
    commands.contains(&line) || has_numbers || (in_script && (answers.contains(&line) || is_numbers(line)))
}

/// The hunks with these numbers and ranges, which are separated by commas or spaces; or those of the file with that path.
fn hunks(text: &str, review: &Review) -> Result<Vec<HunkId>, String> {
    if let Some(file) = review.file_index(text) {
        return Ok(review.ids().filter(|id| id.file == file).collect());
    }
    let ids: Vec<HunkId> = review.ids().collect();
    let mut found = Vec::new();
    for part in text.split([',', ' ', '\t']).filter(|part| !part.is_empty()) {
        let range =
            parse_range(part).ok_or_else(|| format!("{part} is not the number of a hunk. {}", numbering(ids.len())))?;
        let hunks = ids.get(range).ok_or_else(|| format!("There is no hunk {part}. {}", numbering(ids.len())))?;
        found.extend(hunks);
    }
    if found.is_empty() {
        return Err(format!("Which hunk? {}", numbering(ids.len())));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn numbering(total: usize) -> String {
    match total {
        0 => "There are no hunks.".to_owned(),
        1 => "There is one hunk, number 1.".to_owned(),
        total => format!("Hunks are numbered from 1 to {total}."),
    }
}

/// Parses `3` or `3-5` as a 0-based range.
fn parse_range(text: &str) -> Option<Range<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
    (first >= 1 && first <= last).then(|| first - 1..last)
}

fn one_hunk(text: &str, review: &Review) -> Result<HunkId, String> {
    match hunks(text, review)?.as_slice() {
        [id] => Ok(*id),
        several => Err(format!("Name one hunk; {text} names {}.", several.len())),
    }
}

/// Parses lines of a hunk as a 0-based range.
fn line_range(text: &str, review: &Review, id: HunkId) -> Result<Range<usize>, String> {
    let text = text.trim();
    let total = review.hunk(id).map_or(0, ReviewHunk::line_count);
    parse_range(text).filter(|range| range.end <= total).ok_or_else(|| {
        format!(
            "That hunk has no line {text}: its lines are numbered from 1 to {total}, and the command lines shows them."
        )
    })
}

/// Parses `2 lines 1-3` or `2 line 1`; `None` if no lines are named.
fn hunk_lines(text: &str, review: &Review) -> Result<Option<(HunkId, Range<usize>)>, String> {
    let Some((hunk, range)) = text.split_once(" lines ").or_else(|| text.split_once(" line ")) else { return Ok(None) };
    let id = one_hunk(hunk, review)?;
    Ok(Some((id, line_range(range, review, id)?)))
}

fn comment(rest: &str, review: &Review) -> Result<ReviewCommand, String> {
    let (target, text) =
        rest.split_once(char::is_whitespace).map_or((rest, ""), |(target, text)| (target, text.trim()));
    let comment = |target, text: &str| Ok(ReviewCommand::Comment(target, text.to_owned()));
    if let Some(file) = review.file_index(target) {
        return comment(CommentTarget::File(file), text);
    }
    let id = one_hunk(target, review)?;
    let Some(after) = text.strip_prefix("line ").map(str::trim_start) else {
        return comment(CommentTarget::Hunk(id), text);
    };
    let (number, of_line) = after.split_once(char::is_whitespace).unwrap_or((after, ""));
    match line_range(number, review, id) {
        Ok(range) => comment(CommentTarget::Line(id, range.start), of_line.trim()),
        // A comment may begin with the word `line`.
        Err(_) if number.parse::<usize>().is_err() => comment(CommentTarget::Hunk(id), &format!("line {after}")),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::review_text::tests::review;
    use super::*;

    fn id(file: usize, hunk: usize) -> HunkId {
        HunkId { file, hunk }
    }

    #[test]
    fn hunks_are_named_by_numbers_ranges_and_files() {
        let review = review();
        let all: Vec<HunkId> = review.ids().collect();
        assert_eq!(all.len(), 4);
        assert_eq!(parse("1,3-4", &review), Ok(ReviewCommand::Accept(vec![all[0], all[2], all[3]])));
        assert_eq!(parse("2 2 1", &review), Ok(ReviewCommand::Accept(vec![all[0], all[1]])));
        assert_eq!(parse("reject a.rs", &review), Ok(ReviewCommand::Reject(all[..2].to_vec())));
        assert_eq!(parse("show", &review), Ok(ReviewCommand::Show(all)));
        assert_eq!(parse("  ", &review), Ok(ReviewCommand::ShowNext));
    }

    #[test]
    fn a_hunk_or_line_that_does_not_exist_is_an_error() {
        let review = review();
        for line in
            ["5", "0", "1-9", "3-1", "2x", "not", "reject", "accept 1 lines 9", "edit 1,2", "all 1", "yes", "send"]
        {
            assert!(parse(line, &review).is_err(), "{line}");
        }
        assert_eq!(parse("7", &review), Err("There is no hunk 7. Hunks are numbered from 1 to 4.".into()));
    }

    #[test]
    fn lines_and_comments_belong_to_a_hunk() {
        let review = review();
        assert_eq!(parse("accept 1 lines 1-2", &review), Ok(ReviewCommand::AcceptLines(id(0, 0), 0..2)));
        assert_eq!(parse("split 2 at 2", &review), Ok(ReviewCommand::Split(id(0, 1), Some(1))));
        let comment = |line: &str| match parse(line, &review) {
            Ok(ReviewCommand::Comment(place, text)) => (place, text),
            other => panic!("{other:?}"),
        };
        assert_eq!(comment("comment 1 why  so?"), (CommentTarget::Hunk(id(0, 0)), "why  so?".into()));
        assert_eq!(comment("comment 1 line 2 no"), (CommentTarget::Line(id(0, 0), 1), "no".into()));
        assert_eq!(comment("comment 1 line by line"), (CommentTarget::Hunk(id(0, 0)), "line by line".into()));
        assert_eq!(comment("comment c.rs keep it"), (CommentTarget::File(2), "keep it".into()));
        assert_eq!(comment("comment 1"), (CommentTarget::Hunk(id(0, 0)), String::new()));
    }

    #[test]
    fn a_word_of_the_review_is_answer() {
        for line in ["all", "write", "send back", "reject 2", "not 1,3-4"] {
            assert!(is_answer(line, false), "{line}");
        }
        for line in ["1", "yes", "2,3"] {
            assert_eq!((is_answer(line, false), is_answer(line, true)), (false, true), "{line}");
        }
        for line in ["write a test", "not now", "all of them", "show me the code", "edit it"] {
            assert!(!is_answer(line, true), "{line}");
        }
    }

    #[test]
    fn every_command_of_the_table_is_parsed() {
        let review = review();
        for info in REVIEW_COMMANDS {
            let name = info.usage.split([' ', ',']).next().unwrap_or_default();
            let error = parse(name, &review).err().unwrap_or_default();
            assert!(!error.contains("There is no review command"), "{name}: {error}");
        }
        assert!(parse("merge", &review).is_err_and(|error| error.contains("There is no review command")));
    }
}
