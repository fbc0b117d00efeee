//! Defects of the quoted lines: lines left out, dots in the place of lines, an extra blank line; a missing sign, a misspelt word,
//! other punctuation.

use std::ops::Range;

use fastrand::Rng;
use rhumb_edit::EditFormat;

use crate::edits::sample::{LineIndex, plain};
use crate::edits::sketch::{Block, Line, Mark, Sketch};

/// Extensions of files in which `#` opens a comment.
const HASHES: [&str; 9] = ["py", "rb", "sh", "toml", "yaml", "yml", "pl", "r", "jl"];
/// Extensions of files without comments.
const PROSE: [&str; 5] = ["md", "markdown", "json", "rst", "txt"];

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The sign that opens a comment in a file.
pub(crate) fn comment_sign(path: &str) -> Option<&'static str> {
    match extension(path) {
        other if PROSE.contains(&other) => None,
        other if HASHES.contains(&other) => Some("#"),
        _ => Some("//"),
    }
}

/// Which lines are only comment or docstring.
fn comments(path: &str, lines: &[String]) -> Vec<bool> {
    let Some(sign) = comment_sign(path) else { return vec![false; lines.len()] };
    let mut open: Option<&str> = None;
    let class = |line: &String| {
        let text = line.trim();
        if let Some(closer) = open {
            if text.contains(closer) {
                open = None;
            }
            return true;
        }
        if sign == "#" {
            let quotes = ["\"\"\"", "'''"].into_iter().find(|quotes| text.starts_with(quotes));
            if let Some(quotes) = quotes {
                if text.matches(quotes).count() == 1 {
                    open = Some(quotes);
                }
                return true;
            }
        } else if text.starts_with("/*") {
            if !text.contains("*/") {
                open = Some("*/");
            }
            return text.ends_with("*/") || !text.contains("*/");
        }
        text.starts_with(sign) && !text.starts_with("#!")
    };
    lines.iter().map(class).collect()
}

/// Whether the lines of a block can be left out and the position of changed lines stays clear: on both sides a quoted line is nearer
/// than any new line and differs from the new lines.
fn can_go(block: &Block, range: &Range<usize>) -> bool {
    let all = &block.lines;
    if all.get(range.clone()).is_none_or(|lines| lines.iter().any(|line| line.mark != Mark::Keep || line.at.is_none()))
    {
        return false;
    }
    let new: Vec<String> = block.changed().map(|line| plain(&line.text)).collect();
    let anchor = |line: Option<&Line>| {
        line.is_some_and(|line| match line.mark {
            Mark::Keep => line.at.is_some() && !new.contains(&plain(&line.text)),
            // The position of a removed line is the position of its replacement.
            Mark::Delete => true,
            Mark::Insert => false,
        })
    };
    let above = all.get(..range.start).unwrap_or_default().iter().rev().find(|line| line.is_solid());
    let below = all.get(range.end..).unwrap_or_default().iter().find(|line| line.is_solid());
    anchor(above) && anchor(below)
}

/// The longest runs of lines in a block for which `fits` is true and that can be left out.
fn runs(block: &Block, fits: impl Fn(&Line) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (nth, line) in block.lines.iter().enumerate() {
        match runs.last_mut() {
            _ if !fits(line) => {}
            Some(run) if run.end == nth => run.end += 1,
            _ => runs.push(nth..nth + 1),
        }
    }
    runs.retain(|run| can_go(block, run));
    runs
}

/// Leaves out some of the runs of lines for which `fits` is true, in a random block.
fn drop_runs(sketch: &mut Sketch, rng: &mut Rng, wider: usize, fits: impl Fn(&Sketch, &Line) -> bool) -> bool {
    let mut order: Vec<usize> = (0..sketch.blocks.len()).collect();
    rng.shuffle(&mut order);
    for nth in order {
        sketch.widen(nth, wider, wider);
        let Some(block) = sketch.blocks.get(nth) else { return false };
        let mut runs = runs(block, |line| fits(sketch, line));
        if runs.is_empty() {
            continue;
        }
        let only = rng.usize(..runs.len());
        if rng.bool() {
            runs = vec![runs.swap_remove(only)];
        }
        if let Some(block) = sketch.blocks.get_mut(nth) {
            runs.into_iter().rev().for_each(|run| drop(block.lines.drain(run)));
        }
        return true;
    }
    false
}

pub(crate) fn drop_comments(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let comments = comments(&sketch.path, &sketch.base);
    let comment = |line: &Line| line.at.and_then(|at| comments.get(at)).copied().unwrap_or_default();
    let wider = rng.usize(..7);
    drop_runs(sketch, rng, wider, |_, line| comment(line))
}

pub(crate) fn drop_blanks(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let wider = rng.usize(..5);
    drop_runs(sketch, rng, wider, |_, line| !line.is_solid())
}

/// Leaves out one or two lines of code within the quote.
pub(crate) fn skip_code(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let comments = comments(&sketch.path, &sketch.base);
    let nth = rng.usize(..sketch.blocks.len().max(1));
    let wider = rng.usize(1..6);
    sketch.widen(nth, wider, wider);
    let Some(block) = sketch.blocks.get_mut(nth) else { return false };
    let code = |line: &Line| line.is_solid() && line.at.is_some_and(|at| comments.get(at) == Some(&false));
    let count = rng.usize(1..3);
    let window = |start: usize| start..start + count;
    let starts = (0..block.lines.len()).filter(|start| {
        block.lines.get(window(*start)).is_some_and(|lines| lines.iter().all(code)) && can_go(block, &window(*start))
    });
    let starts: Vec<usize> = starts.collect();
    let Some(start) = rng.choice(starts) else { return false };
    block.lines.drain(window(start));
    true
}

/// Replaces three or more context lines by dots.
pub(crate) fn elide_dots(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let nth = rng.usize(..sketch.blocks.len().max(1));
    sketch.widen(nth, 8, 8);
    let sign = comment_sign(&sketch.path);
    let Some(block) = sketch.blocks.get(nth) else { return false };
    let mut windows: Vec<Range<usize>> = Vec::new();
    for start in 0..block.lines.len() {
        windows.extend((start + 3..start + 8).map(|end| start..end).filter(|window| can_go(block, window)));
    }
    let Some(window) = rng.choice(windows) else { return false };
    let first = block.lines.get(window.start).map(|line| line.text.clone()).unwrap_or_default();
    let margin = first.get(..first.len() - first.trim_start().len()).unwrap_or_default();
    let dots = match (rng.usize(..3), sign) {
        (0, _) | (_, None) => "...".to_owned(),
        (1, Some(sign)) => format!("{margin}{sign} ..."),
        (_, Some(sign)) => format!("{margin}{sign} ... existing code ..."),
    };
    if sketch.base.iter().any(|line| line.trim() == dots.trim()) {
        return false;
    }
    if let Some(block) = sketch.blocks.get_mut(nth) {
        block.lines.splice(window, [Line::unfounded(&dots)]);
    }
    true
}

/// Adds a blank line at an end of a block where the file has none.
pub(crate) fn extra_blank(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let at_start = rng.bool();
    if sketch.format == EditFormat::Whole {
        let mut text = sketch.whole_text();
        let edge = if at_start { 0 } else { text.len() };
        let beside = if at_start { text.first() } else { text.last() };
        if beside.is_none_or(|line| line.trim().is_empty()) {
            return false;
        }
        text.insert(edge, String::new());
        sketch.whole = Some(text);
        return true;
    }
    let nth = rng.usize(..sketch.blocks.len().max(1));
    let Some(block) = sketch.blocks.get_mut(nth) else { return false };
    let (first, end) = block.range();
    let outer = if at_start { first.checked_sub(1) } else { Some(end) };
    let inner = if at_start { block.lines.first() } else { block.lines.last() };
    let blank = |line: Option<&String>| line.is_some_and(|line| line.trim().is_empty());
    if blank(outer.and_then(|at| sketch.base.get(at))) || inner.is_none_or(|line| !line.is_solid()) {
        return false;
    }
    let edge = if at_start { 0 } else { block.lines.len() };
    block.lines.insert(edge, Line::unfounded(""));
    true
}

/// Minimum length in bytes of a word that is misspelt.
const MIN_WORD_BYTES: usize = 5;
/// Minimum normalized Levenshtein similarity at which one line may be taken for another.
const MIN_SIMILARITY: f64 = 0.7;

/// Removes the plus sign of an added line. The line is not in the file, is similar to no line nearby, and has quoted lines on both
/// sides: at an end it could be context that has changed.
pub(crate) fn forget_plus(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let lookup = LineIndex::new(&sketch.base);
    let deleted = |at: usize| {
        let lines = sketch.blocks.iter().flat_map(|block| &block.lines);
        lines.into_iter().any(|line| line.mark == Mark::Delete && line.at == Some(at))
    };
    let alike_near = |line: &Line| {
        let at = line.at.unwrap_or_default();
        let near = (at.saturating_sub(4)..at + 4).filter(|near| !deleted(*near));
        let near = near.filter_map(|near| sketch.base.get(near));
        near.into_iter().any(|other| strsim::normalized_levenshtein(other.trim(), line.text.trim()) > MIN_SIMILARITY)
    };
    let mut lines = Vec::new();
    for (nth, block) in sketch.blocks.iter().enumerate().filter(|(_, block)| !block.blockwise) {
        let new = |line: &Line| line.mark == Mark::Insert && line.is_solid() && lookup.lines_of(&line.text).is_empty();
        let once =
            |line: &Line| block.lines.iter().filter(|other| plain(&other.text) == plain(&line.text)).count() == 1;
        let quoted = |line: &Line| line.is_quoted() && line.is_solid();
        let first = block.lines.iter().position(quoted).unwrap_or_default();
        let last = block.lines.iter().rposition(quoted).unwrap_or_default();
        let fits = block.lines.iter().enumerate().filter(|(_, line)| new(line) && once(line) && !alike_near(line));
        lines.extend(fits.map(|(at, _)| (nth, at)).filter(|(_, at)| first < *at && *at < last));
    }
    let Some((nth, at)) = rng.choice(lines.clone()) else { return false };
    // Sometimes of several lines in a row.
    let more = if rng.u8(..) < 64 { rng.usize(1..3) } else { 0 };
    for at in (at..=at + more).take_while(|at| lines.contains(&(nth, *at))) {
        if let Some(line) = sketch.blocks.get_mut(nth).and_then(|block| block.lines.get_mut(at)) {
            line.unsigned = true;
        }
    }
    true
}

pub(crate) fn typo_in_context(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    typo(sketch, rng, Mark::Keep)
}

pub(crate) fn typo_in_removed(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    typo(sketch, rng, Mark::Delete)
}

fn typo(sketch: &mut Sketch, rng: &mut Rng, mark: Mark) -> bool {
    let lookup = LineIndex::new(&sketch.base);
    let mut found = Vec::new();
    for (nth, block) in sketch.blocks.iter().enumerate() {
        let others = block.lines.iter().filter(|line| line.is_quoted() && line.is_solid()).count();
        let lines = block.lines.iter().enumerate();
        let lines = lines.filter(|(_, line)| line.mark == mark && line.at.is_some() && others > 1);
        for (at, line) in lines {
            found.extend(
                misspelt(&line.text, rng).filter(|text| lookup.lines_of(text).is_empty()).map(|t| (nth, at, t)),
            );
        }
    }
    let Some((nth, at, text)) = rng.choice(found) else { return false };
    let Some(line) = sketch.blocks.get_mut(nth).and_then(|block| block.lines.get_mut(at)) else { return false };
    line.text = text;
    true
}

/// The line with one misspelt word; `None` without a long word.
pub(crate) fn misspelt(line: &str, rng: &mut Rng) -> Option<String> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (start, c.is_ascii_alphabetic()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.extend((at - from >= MIN_WORD_BYTES).then_some(from..at));
                start = None;
            }
            _ => {}
        }
    }
    let word = rng.choice(words)?;
    let mut letters: Vec<char> = line.get(word.clone())?.chars().collect();
    let at = rng.usize(1..letters.len() - 2);
    match rng.usize(..3) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        _ => letters.insert(at, letters.get(at).copied()?),
    }
    let spelt = format!("{}{}{}", line.get(..word.start)?, String::from_iter(letters), line.get(word.end..)?);
    (spelt != line).then_some(spelt)
}

/// Replaces ASCII quotes, dashes and dots by typographic characters.
fn typeset(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in text.replace("...", "\u{2026}").replace(" - ", " \u{2013} ").chars() {
        let opens = before.is_whitespace() || matches!(before, '(' | '[' | '{' | '=' | ',');
        out.push(match (c, opens) {
            ('"', true) => '\u{201c}',
            ('"', false) => '\u{201d}',
            ('\'', true) => '\u{2018}',
            ('\'', false) => '\u{2019}',
            _ => c,
        });
        before = c;
    }
    out
}

/// Typographic quotes and dashes in the reply, plain ones in the file.
pub(crate) fn typography(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let mut any = false;
    for line in sketch.lines_mut().filter(|line| line.is_quoted()) {
        let text = typeset(&line.text);
        any |= text != line.text;
        line.text = text;
    }
    any
}

/// Typographic characters in the file, plain ones in the reply. Not where a quoted line equals a new one: which of them is the old
/// one would be ambiguous.
pub(crate) fn typography_in_file(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let lines = || sketch.blocks.iter().flat_map(|block| &block.lines);
    let twin = |new: &Line| lines().any(|line| line.is_quoted() && line.text == new.text && line.is_solid());
    if lines().filter(|line| line.mark == Mark::Insert).any(twin) {
        return false;
    }
    let quoted = |line: &&Line| line.is_quoted() && line.at.is_some();
    let lines = sketch.blocks.iter().flat_map(|block| &block.lines).filter(quoted).filter_map(|line| line.at);
    let mut any = false;
    for at in lines.collect::<Vec<_>>() {
        if let Some(line) = sketch.base.get_mut(at) {
            let text = typeset(line);
            any |= text != *line;
            *line = text;
        }
    }
    any
}

/// Writes `<`, `>` and `&` as entities. At least one quoted line must have one of them: in new lines alone the entities could be
/// intended.
pub(crate) fn entities(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let whole = sketch.format == EditFormat::Whole;
    let texts = |line: &String| ["&lt;", "&gt;", "&amp;"].iter().any(|entity| line.contains(entity));
    if sketch.base.iter().any(texts) || sketch.lines_mut().any(|line| texts(&line.text)) {
        return false;
    }
    let encoded = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let shows = |text: &str| text.contains(['&', '<', '>']);
    if whole {
        let kept = sketch.meant().iter().any(|(at, text)| at.is_some() && shows(text));
        sketch.whole = Some(sketch.whole_text().iter().map(|text| encoded(text)).collect());
        return kept;
    }
    let quoted = sketch.lines_mut().any(|line| line.is_quoted() && shows(&line.text));
    sketch.lines_mut().for_each(|line| line.text = encoded(&line.text));
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::defects::Inject;
    use crate::edits::sketch::render;
    use crate::edits::tests::{put, sketch};

    fn quoted(sketch: &Sketch) -> Vec<&str> {
        sketch.blocks[0].lines.iter().filter(|line| line.is_quoted()).map(|line| line.text.trim()).collect()
    }

    #[test]
    fn lines_that_are_left_out_are_missing_from_the_quote_and_nothing_else() {
        let plain = sketch(EditFormat::Udiff);
        for (change, kept) in
            [(drop_comments as Inject, "# The sea is flat at first."), (drop_blanks, ""), (skip_code, "")]
        {
            let changed = put(EditFormat::Udiff, change);
            assert!(changed.wanted() == plain.wanted() && changed.tree() == plain.tree());
            let wide = {
                let mut wide = plain.clone();
                wide.widen(0, 9, 9);
                wide
            };
            assert!(quoted(&changed).len() < quoted(&wide).len());
            // This comment is next to the change and must stay.
            assert!(kept.is_empty() || quoted(&changed).contains(&kept));
        }
        assert!(!quoted(&put(EditFormat::Udiff, drop_comments)).iter().any(|line| line.starts_with("\"\"\"")));
    }

    #[test]
    fn dots_replace_lines() {
        let changed = put(EditFormat::Diff, elide_dots);
        assert_eq!(quoted(&changed).iter().filter(|line| line.contains("...")).count(), 1);
        assert_eq!(changed.wanted(), sketch(EditFormat::Diff).wanted());
    }

    #[test]
    fn a_blank_line_is_added_at_an_end_alone() {
        for format in [EditFormat::Udiff, EditFormat::Whole] {
            let changed = put(format, |sketch, rng| {
                sketch.widen(0, 1, 0);
                extra_blank(sketch, rng)
            });
            assert_eq!(changed.wanted(), sketch(format).wanted());
            assert_ne!(crate::edits::sketch::render(&changed), crate::edits::sketch::render(&sketch(format)));
        }
    }

    #[test]
    fn comments_and_docstrings_are_distinguished_from_code() {
        let lines: Vec<String> =
            ["\"\"\"One", "two.\"\"\"", "x = 1", "# no", "'''a'''"].into_iter().map(str::to_owned).collect();
        assert_eq!(comments("a.py", &lines), [true, true, false, true, true]);
        let lines: Vec<String> = ["/* a", "b */", "#include <x>", "// c", "x; // d"].map(str::to_owned).to_vec();
        assert_eq!(comments("a.c", &lines), [true, true, false, true, false]);
        assert_eq!(comments("a.md", &["# Title".to_owned()]), [false]);
    }

    #[test]
    fn a_misspelt_word_is_nearly_the_word() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..50 {
            if let Some(text) = misspelt("x = current + 1", &mut rng) {
                assert!(text.starts_with("x = c") && text.ends_with("t + 1") && text.len().abs_diff(15) < 2, "{text}");
            }
        }
        assert_eq!(misspelt("a = bcd", &mut rng), None);
    }

    #[test]
    fn a_typo_is_in_one_line_of_its_kind() {
        for (put_in, mark) in [(typo_in_context as Inject, Mark::Keep), (typo_in_removed, Mark::Delete)] {
            let changed = put(EditFormat::Patch, put_in);
            let wrong: Vec<&Line> = changed.blocks[0].lines.iter().filter(|line| line.text != line.meant).collect();
            assert!(wrong.len() == 1 && wrong[0].mark == mark, "{wrong:?}");
            assert_eq!(changed.wanted(), sketch(EditFormat::Patch).wanted());
        }
    }

    #[test]
    fn a_missing_plus_makes_a_line_look_quoted() {
        let changed = put(EditFormat::Udiff, |sketch, rng| {
            sketch.blocks[0].lines.iter_mut().filter(|line| line.mark == Mark::Insert).for_each(|line| {
                line.text = "    wholly(different)".to_owned();
                line.meant.clone_from(&line.text);
            });
            forget_plus(sketch, rng)
        });
        assert!(render(&changed).contains("\n     wholly(different)\n"), "{}", render(&changed));
        assert!(
            String::from_utf8(changed.wanted()["src/tide.py"].clone()).unwrap().contains("    wholly(different)\n")
        );
    }

    #[test]
    fn typography_goes_both_ways() {
        assert_eq!(
            typeset("f(\"a\", 'b') - it's..."),
            "f(\u{201c}a\u{201d}, \u{2018}b\u{2019}) \u{2013} it\u{2019}s\u{2026}"
        );
        let reply = put(EditFormat::Diff, |sketch, rng| {
            sketch.widen(0, 9, 9);
            typography(sketch, rng)
        });
        assert!(render(&reply).contains('\u{201c}') && reply.tree() == sketch(EditFormat::Diff).tree());
        let file = put(EditFormat::Diff, |sketch, rng| {
            sketch.widen(0, 9, 9);
            typography_in_file(sketch, rng)
        });
        assert!(!render(&file).contains('\u{201c}') && file.tree() != sketch(EditFormat::Diff).tree());
    }

    #[test]
    fn entities_are_in_the_reply_alone() {
        let whole = put(EditFormat::Whole, entities);
        assert!(render(&whole).contains("-&gt;"));
        assert_eq!(whole.wanted(), sketch(EditFormat::Whole).wanted());
    }
}
