//! Defects of what is quoted: lines left out, dots for lines, a blank line too many.

use std::ops::Range;

use fastrand::Rng;

use super::fit::plain;
use super::sketch::{Block, Line, Mark, Sketch};
use rhumb_edit::EditFormat;

/// Files in which `#` opens a comment.
const HASHES: [&str; 9] = ["py", "rb", "sh", "toml", "yaml", "yml", "pl", "r", "jl"];
/// Files in which nothing is a comment to us.
const PROSE: [&str; 5] = ["md", "markdown", "json", "rst", "txt"];

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The sign that opens a comment in a file; none in prose.
pub(super) fn comment_sign(path: &str) -> Option<&'static str> {
    match extension(path) {
        other if PROSE.contains(&other) => None,
        other if HASHES.contains(&other) => Some("#"),
        _ => Some("//"),
    }
}

/// Which lines are nothing but comment or docstring.
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

/// Whether the lines of a block can be left out without leaving open where changed lines belong: on both sides a
/// quoted line stands nearer than any new line, and is none of the new lines itself.
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
            // What takes the place of a removed line has its place.
            Mark::Delete => true,
            Mark::Insert => false,
        })
    };
    let above = all.get(..range.start).unwrap_or_default().iter().rev().find(|line| line.is_solid());
    let below = all.get(range.end..).unwrap_or_default().iter().find(|line| line.is_solid());
    anchor(above) && anchor(below)
}

/// The longest runs of lines in a block that `fits` is true of and that can go.
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

/// Leaves out some of the runs of a random block that `fits` is true of.
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

pub(super) fn drop_comments(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let comments = comments(&sketch.path, &sketch.base);
    let comment = |line: &Line| line.at.and_then(|at| comments.get(at)).copied().unwrap_or_default();
    let wider = rng.usize(..7);
    drop_runs(sketch, rng, wider, |_, line| comment(line))
}

pub(super) fn drop_blanks(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let wider = rng.usize(..5);
    drop_runs(sketch, rng, wider, |_, line| !line.is_solid())
}

/// One or two lines of code in the middle of what is quoted.
pub(super) fn skip_code(sketch: &mut Sketch, rng: &mut Rng) -> bool {
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

/// Dots for three or more lines that stay.
pub(super) fn elide_dots(sketch: &mut Sketch, rng: &mut Rng) -> bool {
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

/// A blank line more at an end of a block, where the file has none.
pub(super) fn extra_blank(sketch: &mut Sketch, rng: &mut Rng) -> bool {
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

#[cfg(test)]
mod tests {
    use super::super::defect::Put;
    use super::super::tests::{put, sketch};
    use super::*;

    fn quoted(sketch: &Sketch) -> Vec<&str> {
        sketch.blocks[0].lines.iter().filter(|line| line.is_quoted()).map(|line| line.text.trim()).collect()
    }

    #[test]
    fn lines_that_are_left_out_are_missing_from_the_quote_and_nothing_else() {
        let plain = sketch(EditFormat::Udiff);
        for (change, kept) in
            [(drop_comments as Put, "# The sea is flat at first."), (drop_blanks, ""), (skip_code, "")]
        {
            let changed = put(EditFormat::Udiff, change);
            assert!(changed.wanted() == plain.wanted() && changed.tree() == plain.tree());
            let wide = {
                let mut wide = plain.clone();
                wide.widen(0, 9, 9);
                wide
            };
            assert!(quoted(&changed).len() < quoted(&wide).len());
            // It stands where the change is, so that it must stay.
            assert!(kept.is_empty() || quoted(&changed).contains(&kept));
        }
        assert!(!quoted(&put(EditFormat::Udiff, drop_comments)).iter().any(|line| line.starts_with("\"\"\"")));
    }

    #[test]
    fn dots_stand_for_lines() {
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
            assert_ne!(super::super::render::render(&changed), super::super::render::render(&sketch(format)));
        }
    }

    #[test]
    fn comments_and_docstrings_are_told_from_code() {
        let lines: Vec<String> =
            ["\"\"\"One", "two.\"\"\"", "x = 1", "# no", "'''a'''"].into_iter().map(str::to_owned).collect();
        assert_eq!(comments("a.py", &lines), [true, true, false, true, true]);
        let lines: Vec<String> = ["/* a", "b */", "#include <x>", "// c", "x; // d"].map(str::to_owned).to_vec();
        assert_eq!(comments("a.c", &lines), [true, true, false, true, false]);
        assert_eq!(comments("a.md", &["# Title".to_owned()]), [false]);
    }
}
