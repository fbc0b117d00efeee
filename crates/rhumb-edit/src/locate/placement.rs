//! Turns an alignment into deleted and inserted lines: the position of each new line, and its indentation.

use std::collections::{BTreeMap, BTreeSet};

use super::normalize::{self, LineClass, normalize};
use crate::apply::document::View;
use crate::outcome::Strategy;
use crate::refusal::{Cause, Refusal};
use crate::reply::LineKind;

/// A hunk with its location in a view. Lines are 0-based.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Located {
    pub(crate) deletes: BTreeSet<usize>,
    /// New lines, by the line before which they are inserted.
    pub(crate) inserts: BTreeMap<usize, Vec<String>>,
    pub(crate) cost: f32,
    pub(crate) strategy: Strategy,
    pub(crate) confidence: f32,
    /// The file lines that the quote matched, ascending.
    pub(crate) matched: Vec<usize>,
    /// Whether every quoted line that is not blank matched a file line.
    pub(crate) complete: bool,
}

impl Located {
    /// The first and the last line that the hunk matches or changes.
    pub(crate) fn span(&self) -> Option<(usize, usize)> {
        let lines = || self.matched.iter().chain(&self.deletes).chain(self.inserts.keys()).copied();
        lines().min().zip(lines().max())
    }

    /// The same location `by` lines further down.
    pub(crate) fn shifted(&self, by: isize) -> Self {
        let line = |line: &usize| line.saturating_add_signed(by);
        Self {
            deletes: self.deletes.iter().map(line).collect(),
            inserts: self.inserts.iter().map(|(at, lines)| (line(at), lines.clone())).collect(),
            matched: self.matched.iter().map(line).collect(),
            ..self.clone()
        }
    }
}

/// A line of the hunk, and the file line that it matched.
pub(crate) struct MatchedLine<'a> {
    pub(crate) kind: LineKind,
    pub(crate) text: &'a str,
    pub(crate) at: Option<usize>,
}

/// Turns the matched lines into deletions and insertions. `diff` is set for formats in which kept lines begin with
/// a space.
pub(crate) fn build(
    view: &View<'_>,
    lines: &[MatchedLine<'_>],
    cost: f32,
    weight: f32,
    diff: bool,
) -> Result<Located, Refusal> {
    let pairs = lines.iter().filter_map(|line| Some((line.text, view.body(line.at?))));
    let added = lines.iter().enumerate().filter(|(index, _)| inserts(lines, *index));
    let added: Vec<&str> = added.map(|(_, line)| line.text).collect();
    let unmarked = diff && lacks_context_marks(view, lines);
    if !added.is_empty() && !unmarked && has_mixed_indentation(view, lines) {
        return Err(Cause::MixedIndentation.into());
    }
    let indent = match unmarked {
        true => IndentMap::default(),
        false => IndentMap::learn(pairs).or_by_habit(view.bodies(), &added),
    };
    if has_lost_indentation(view, lines) {
        return Err(Cause::LostIndentation.into());
    }
    let typeset = typographic(view, lines);
    let mut located = Located {
        deletes: BTreeSet::new(),
        inserts: BTreeMap::new(),
        cost,
        strategy: strategy(view, lines),
        confidence: (1.0 - cost / weight.max(1.0)).clamp(0.0, 1.0),
        matched: lines.iter().filter_map(|line| line.at).collect(),
        complete: lines
            .iter()
            .all(|line| line.kind == LineKind::Insert || line.at.is_some() || line.text.trim().is_empty()),
    };
    located.matched.sort_unstable();
    for (index, line) in lines.iter().enumerate() {
        match (line.kind, line.at) {
            (LineKind::Delete, Some(at)) => drop(located.deletes.insert(at)),
            (LineKind::Insert | LineKind::Keep, None) if inserts(lines, index) => {
                if skips_insertion_point(view, lines, index) {
                    return Err(Cause::SkipsInsertionPoint.into());
                }
                let Some(at) = position(lines, index) else {
                    return Err(Cause::NoAnchor.into());
                };
                let cut = unmarked && line.kind == LineKind::Keep && line.text.starts_with(' ');
                let text = if cut { format!(" {}", line.text) } else { indent.apply(line.text) };
                let text = if typeset { normalize::to_ascii(&text) } else { text };
                located.inserts.entry(at).or_default().push(text);
            }
            _ => {}
        }
    }
    Ok(located)
}

/// Whether some quoted lines have the indentation of the file and others do not. Tabs instead of spaces do not
/// count. Benchmark: without this check, 1 reply is applied wrongly and 9 fewer are refused (three seeds).
fn has_mixed_indentation(view: &View<'_>, lines: &[MatchedLine<'_>]) -> bool {
    let solid = |line: &&MatchedLine<'_>| !line.text.trim().is_empty();
    let pairs = lines.iter().filter(solid).filter_map(|line| Some((line.text, view.body(line.at?))));
    let (mut same, mut other) = (false, false);
    for (at, (quoted, found)) in pairs.enumerate() {
        // The first line often loses its indentation when a block is trimmed.
        if at == 0 && indentation(quoted).is_empty() {
            continue;
        }
        let (quoted, found) = (indentation(quoted), indentation(found));
        same |= quoted == found && !quoted.is_empty();
        other |= quoted != found && quoted.contains('\t') == found.contains('\t');
    }
    same && other
}

/// Whether lines are added to a quote in which all lines lost their indentation, while the file indents them
/// differently. Lines that replace removed ones take their indentation. Benchmark: without this check, no reply
/// changes; see `lines_added_to_a_quote_without_any_indentation_are_refused`.
fn has_lost_indentation(view: &View<'_>, lines: &[MatchedLine<'_>]) -> bool {
    let solid = || lines.iter().filter(|line| !line.text.trim().is_empty());
    let depths = solid().filter_map(|line| Some(indentation(view.body(line.at?))));
    let depths: BTreeSet<&str> = depths.collect();
    let flat = solid().all(|line| line.kind != LineKind::Delete && indentation(line.text).is_empty());
    flat && depths.len() > 1 && !depths.contains("") && solid().any(|line| line.kind == LineKind::Insert)
}

/// Whether the quote has typographic punctuation where the file has ASCII, and the file has no typographic
/// punctuation at all. Benchmark: without this check, 1 reply less is applied wrongly (three seeds), because its change
/// adds a typographic character; see `typographic_quotes_are_not_added_to_a_file_of_plain_ones`.
fn typographic(view: &View<'_>, lines: &[MatchedLine<'_>]) -> bool {
    let differs = |line: &MatchedLine<'_>| normalize::has_typography(line.text) && line.at.is_some();
    lines.iter().any(differs) && !view.bodies().any(normalize::has_typography)
}

/// Whether the kept lines of a diff lack the space that marks them, so that a space of their indentation was taken
/// for it: every line with another indentation is one space short, and no removed line is. If the added lines are
/// as deep as the shortened lines, and none as deep as those of the file, the whole hunk was moved to the left
/// instead. Benchmark: without this check, no reply changes; see
/// `kept_lines_of_a_diff_may_lack_the_blank_that_marks_them`.
fn lacks_context_marks(view: &View<'_>, lines: &[MatchedLine<'_>]) -> bool {
    let (mut short, mut full) = (BTreeSet::new(), BTreeSet::new());
    for line in lines.iter().filter(|line| !line.text.trim().is_empty()) {
        let Some(at) = line.at else { continue };
        let (quoted, found) = (indentation(line.text), indentation(view.body(at)));
        if quoted == found {
            continue;
        }
        if line.kind != LineKind::Keep || found.strip_prefix(' ') != Some(quoted) {
            return false;
        }
        short.insert(quoted);
        full.insert(found);
    }
    let added = lines.iter().filter(|line| line.kind == LineKind::Insert && !line.text.trim().is_empty());
    let depths: Vec<&str> = added.map(|line| indentation(line.text)).collect();
    let among = |known: &BTreeSet<&str>| depths.iter().any(|depth| known.contains(depth));
    !short.is_empty() && (among(&full) || !among(&short))
}

/// Whether a line without a match is new: it is added, or it is quoted and missing (a forgotten plus sign).
fn inserts(lines: &[MatchedLine<'_>], index: usize) -> bool {
    let fresh = |line: Option<&MatchedLine<'_>>| {
        line.is_some_and(|line| match line.kind {
            LineKind::Insert => true,
            LineKind::Keep => line.at.is_none() && !line.text.trim().is_empty(),
            LineKind::Delete | LineKind::Gap => false,
        })
    };
    // A blank line between two new lines is new.
    let between = index.checked_sub(1).is_some_and(|before| fresh(lines.get(before))) && fresh(lines.get(index + 1));
    fresh(lines.get(index)) || between
}

/// The file line before which the new line `index` is inserted.
fn position(lines: &[MatchedLine<'_>], index: usize) -> Option<usize> {
    let (before, after) = lines.split_at_checked(index)?;
    let settled = |line: &&MatchedLine<'_>| line.kind == LineKind::Gap || line.at.is_some();
    let settled_not = |line: &&MatchedLine<'_>| !settled(line);
    let previous = before.iter().rev().find(settled);
    let next = after.iter().find(settled);
    let last = before.iter().rev().find_map(|line| line.at);
    let coming = after.iter().find_map(|line| line.at);
    let (Some(last), Some(previous)) = (last, previous) else {
        return coming.or(last.map(|at| at + 1));
    };
    if previous.kind == LineKind::Gap {
        return coming.or(Some(last + 1));
    }
    // If a diff has the new line above the old one, they change places.
    let unanswered = |line: &&MatchedLine<'_>| {
        let below = after.iter().skip_while(settled_not).skip_while(|line| line.kind == LineKind::Delete);
        line.kind == LineKind::Delete && below.take(1).all(|line| line.kind != LineKind::Insert)
    };
    if previous.kind == LineKind::Keep
        && let Some(next) = next.filter(unanswered)
    {
        return next.at;
    }
    let removed =
        before.iter().rev().skip_while(|line| !settled(line)).take_while(|line| line.kind == LineKind::Delete);
    let removed: Vec<usize> = removed.filter_map(|line| line.at).collect();
    let count =
        before.iter().rev().take_while(|line| !settled(line)).filter(|line| line.kind == LineKind::Insert).count();
    // If lines are kept between the removed ones, each new line replaces its own removed line.
    let run = count + after.iter().take_while(|line| line.kind == LineKind::Insert).count();
    let apart = removed.first().zip(removed.last()).is_some_and(|(high, low)| high - low >= removed.len());
    if apart && run == removed.len() {
        return removed.iter().rev().nth(count).map(|at| at + 1);
    }
    Some(last + 1)
}

/// Whether the quote skips code, or the comment of an item with an attribute, between the kept lines above and
/// below a new line. Its position is ambiguous then. Benchmark: without this check, 1 reply is applied
/// wrongly and 3 fewer are refused (three seeds).
fn skips_insertion_point(view: &View<'_>, lines: &[MatchedLine<'_>], index: usize) -> bool {
    let Some((before, after)) = lines.split_at_checked(index) else {
        return false;
    };
    let settled = |line: &&MatchedLine<'_>| line.kind == LineKind::Gap || line.at.is_some();
    let kept = |line: &&MatchedLine<'_>| line.kind == LineKind::Keep;
    let above = before.iter().rev().find(settled).filter(kept).and_then(|line| line.at);
    let below = after.iter().find(settled).filter(kept).and_then(|line| line.at);
    let between = above.zip(below).map(|(above, below)| above + 1..below).unwrap_or_default();
    // An attribute may be above or below the comment of its item.
    let attribute =
        insertion_run(lines, index).last().is_some_and(|line| line.text.trim_start().starts_with(['@', '#']));
    between.into_iter().any(|line| match view.class(line) {
        LineClass::Code => true,
        LineClass::Comment => attribute,
        LineClass::Blank => false,
    })
}

/// The run of new lines that contains the line `index`.
fn insertion_run<'a, 'b>(lines: &'a [MatchedLine<'b>], index: usize) -> &'a [MatchedLine<'b>] {
    let from = (0..index).rev().take_while(|at| inserts(lines, *at)).last().unwrap_or(index);
    let to = (index..lines.len()).find(|at| !inserts(lines, *at)).unwrap_or(lines.len());
    lines.get(from..to).unwrap_or_default()
}

/// The strategy of the loosest match.
fn strategy(view: &View<'_>, lines: &[MatchedLine<'_>]) -> Strategy {
    let mut strategy = Strategy::Exact;
    let mut previous: Option<usize> = None;
    let mut gap = false;
    for line in lines {
        let step = match (line.kind, line.at) {
            (LineKind::Insert, _) => continue,
            (LineKind::Gap, _) => {
                gap = true;
                Strategy::Elision
            }
            (_, None) => {
                if line.text.trim().is_empty() {
                    Strategy::Whitespace
                } else {
                    Strategy::Fuzzy
                }
            }
            (_, Some(at)) => {
                let skipped = previous.is_some_and(|previous| at != previous + 1) && !gap;
                previous = Some(at);
                gap = false;
                if skipped { Strategy::Fuzzy } else { similarity(line.text, view.body(at)) }
            }
        };
        strategy = strategy.max(step);
    }
    strategy
}

fn similarity(quoted: &str, found: &str) -> Strategy {
    if quoted == found {
        Strategy::Exact
    } else if quoted.trim_end() == found.trim_end() {
        Strategy::Whitespace
    } else if quoted.trim() == found.trim() {
        Strategy::Indentation
    } else if normalize(quoted) == normalize(found) {
        Strategy::Whitespace
    } else {
        Strategy::Fuzzy
    }
}

/// Width of a tab in columns, unless the quote shows another one. Benchmark: 2 or 8 instead changes no reply.
const DEFAULT_TAB_WIDTH: usize = 4;

/// Maps the indentation of the reply to that of the file.
#[derive(Debug, Default)]
pub(crate) struct IndentMap {
    table: BTreeMap<String, String>,
    /// Columns for one tab, if one side has tabs and the other spaces.
    unit: usize,
    tabs: Tabs,
    identity: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Tabs {
    #[default]
    Same,
    /// The reply has spaces where the file has tabs.
    Lost,
    /// The reply has tabs where the file has spaces.
    Added,
}

/// The white space at the start of a line, no-break spaces included.
pub(crate) fn indentation(line: &str) -> &str {
    line.split_at(line.len() - line.trim_start_matches([' ', '\t', '\u{a0}']).len()).0
}

fn width(indent: &str) -> usize {
    indent.chars().map(|c| if c == '\t' { DEFAULT_TAB_WIDTH } else { 1 }).sum()
}

impl IndentMap {
    /// Learns the mapping from pairs of a quoted line and the file line that it matched.
    pub(crate) fn learn<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let solid = |line: &str| !line.trim().is_empty();
        let pairs: Vec<(&str, &str)> = pairs
            .into_iter()
            .filter(|(quoted, found)| solid(quoted) && solid(found))
            .map(|(quoted, found)| (indentation(quoted), indentation(found)))
            .collect();
        let table = by_majority(&pairs);
        let quoted_tabs = pairs.iter().any(|(quoted, _)| quoted.contains('\t'));
        let found_tabs = pairs.iter().any(|(_, found)| found.contains('\t'));
        let tabs = match (quoted_tabs, found_tabs) {
            (false, true) => Tabs::Lost,
            (true, false) => Tabs::Added,
            _ => Tabs::Same,
        };
        let units = pairs.iter().filter_map(|(quoted, found)| match tabs {
            Tabs::Same => None,
            Tabs::Lost => columns_per_tab(quoted, found),
            Tabs::Added => columns_per_tab(found, quoted),
        });
        let unit = units.min().unwrap_or(DEFAULT_TAB_WIDTH).max(1);
        let identity = table.iter().all(|(quoted, found)| quoted == found);
        Self { table, unit, tabs, identity }
    }

    /// If no quoted line is indented, the lines of the whole `file` decide between tabs and spaces for the `added`
    /// lines, unless it has both. Benchmark: where a file with a few spaces also decided, 10 replies were applied with
    /// other white space and 2 wrongly (three seeds).
    pub(crate) fn or_by_habit<'f>(mut self, file: impl Iterator<Item = &'f str>, added: &[&str]) -> Self {
        if self.table.keys().any(|indent| !indent.is_empty()) || !self.identity {
            return self;
        }
        let file: Vec<&str> = file.collect();
        // The lines of a block comment after the first are indented by one more column.
        let comment = |line: &&&str| line.trim_start().starts_with('*');
        let indents =
            |lines: &[&str], c: char| lines.iter().filter(|line| line.starts_with(c) && !comment(line)).count();
        let spaces = |lines: &[&str]| {
            let deep = lines.iter().map(|line| indentation(line)).filter(|indent| indent.starts_with("  "));
            deep.map(str::len).min()
        };
        let (tabs, blanks) = (indents(&file, '\t'), indents(&file, ' '));
        let (added_tabs, added_blanks) = (indents(added, '\t'), indents(added, ' '));
        if tabs == 0 && blanks > 0 && added_tabs > 0 && added_blanks == 0 {
            (self.tabs, self.unit) = (Tabs::Added, spaces(&file).unwrap_or(DEFAULT_TAB_WIDTH));
        } else if blanks == 0 && tabs > 0 && added_blanks > 0 && added_tabs == 0 {
            (self.tabs, self.unit) = (Tabs::Lost, spaces(added).unwrap_or(DEFAULT_TAB_WIDTH));
        } else {
            return self;
        }
        self.identity = false;
        self.table.insert(String::new(), String::new());
        self
    }

    /// The line with the indentation of the file.
    pub(crate) fn apply(&self, line: &str) -> String {
        if self.identity || line.trim().is_empty() {
            return line.to_owned();
        }
        let indent = indentation(line);
        let body = line.get(indent.len()..).unwrap_or_default();
        format!("{}{body}", self.indent(indent).replace('\u{a0}', " "))
    }

    fn indent(&self, quoted: &str) -> String {
        if let Some(found) = self.table.get(quoted) {
            return found.clone();
        }
        let near = |known: &&String| (width(known).abs_diff(width(quoted)), std::cmp::Reverse(width(known)));
        // The lines of a block comment are indented by one more column, which is no level of indentation.
        let regular = |known: &&String| {
            let found = self.table.get(*known).map_or("", String::as_str);
            self.tabs != Tabs::Lost || !found.contains(' ')
        };
        let nearest = self.table.keys().filter(regular).min_by_key(near);
        let Some(nearest) = nearest.or_else(|| self.table.keys().min_by_key(near)) else {
            return quoted.to_owned();
        };
        let found = self.table.get(nearest).cloned().unwrap_or_default();
        match self.tabs {
            Tabs::Lost => self.with_tabs(&found, width(quoted), width(nearest)),
            Tabs::Added => " ".repeat(self.unit * quoted.matches('\t').count()),
            Tabs::Same => {
                if let Some(deeper) = quoted.strip_prefix(nearest.as_str()) {
                    found + deeper
                } else if let Some(excess) = nearest.strip_prefix(quoted) {
                    let keep = found.len().saturating_sub(excess.chars().count());
                    found.get(..keep).unwrap_or_default().to_owned()
                } else {
                    quoted.to_owned()
                }
            }
        }
    }

    /// `found` with more or less indentation, by the difference of two widths in columns.
    fn with_tabs(&self, found: &str, quoted: usize, nearest: usize) -> String {
        if let Some(more) = quoted.checked_sub(nearest) {
            return format!("{found}{}{}", "\t".repeat(more / self.unit), " ".repeat(more % self.unit));
        }
        let fewer = nearest.saturating_sub(quoted).div_ceil(self.unit);
        found.get(..found.len().saturating_sub(fewer)).unwrap_or_default().to_owned()
    }
}

/// For each indentation of the reply, the one that most of its lines have in the file. A tie keeps the indentation.
fn by_majority(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<&str, BTreeMap<&str, usize>> = BTreeMap::new();
    for (quoted, found) in pairs {
        *counts.entry(quoted).or_default().entry(found).or_default() += 1;
    }
    let winner = |quoted: &str, found: BTreeMap<&str, usize>| {
        let best = found.into_iter().max_by_key(|(found, count)| (*count, *found == quoted));
        best.map(|(found, _)| (quoted.to_owned(), found.to_owned()))
    };
    counts.into_iter().filter_map(|(quoted, found)| winner(quoted, found)).collect()
}

/// The number of columns of `spaces` for each tab of `tabs`, if they divide evenly.
fn columns_per_tab(spaces: &str, tabs: &str) -> Option<usize> {
    let only_tabs = !tabs.is_empty() && tabs.chars().all(|c| c == '\t');
    let columns = width(spaces);
    (only_tabs && columns > 0 && columns.is_multiple_of(tabs.len())).then(|| columns / tabs.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dedented_reply_is_indented_again() {
        let map = IndentMap::learn([("def f():", "    def f():"), ("    x", "        x")]);
        assert_eq!(map.apply("    y"), "        y");
        assert_eq!(map.apply("        deeper"), "            deeper");
    }

    #[test]
    fn spaces_become_the_tabs_of_the_file() {
        let map = IndentMap::learn([("  a", "\ta"), ("    b", "\t\tb")]);
        assert_eq!(map.apply("      c"), "\t\t\tc");
        assert_eq!(map.apply("c"), "c");
    }

    #[test]
    fn block_comments_do_not_determine_the_indentation() {
        let map = IndentMap::learn([("    /**", "\t/**"), ("     * a", "\t * a")]);
        assert_eq!(map.apply("        b"), "\t\tb");
        assert_eq!(map.apply("         * b"), "\t\t * b");
    }

    #[test]
    fn tabs_become_the_spaces_of_the_file() {
        let map = IndentMap::learn([("\ta", "  a")]);
        assert_eq!(map.apply("\t\tb"), "    b");
    }

    #[test]
    fn the_file_decides_between_tabs_and_spaces_if_no_quoted_line_is_indented() {
        let map = IndentMap::learn([("a", "a")]).or_by_habit(["a", "  b", "    c"].into_iter(), &["x", "\ty"]);
        assert_eq!(map.apply("\ty"), "  y");
        let map = IndentMap::learn([("a", "a")]).or_by_habit(["a", "\tb"].into_iter(), &["x", "    y"]);
        assert_eq!(map.apply("        y"), "\t\ty");
        let map = IndentMap::learn([("a", "a")]).or_by_habit(["a", "\tb", "  c"].into_iter(), &["    y"]);
        assert_eq!(map.apply("    y"), "    y");
    }

    #[test]
    fn a_file_with_tabs_and_spaces_does_not_decide() {
        let file = ["a", "\tb", "\tc", "\td", "  e"];
        let map = IndentMap::learn([("a", "a")]).or_by_habit(file.into_iter(), &["x", "    y"]);
        assert_eq!(map.apply("    y"), "    y");
        let blanks = ["a", "  b", "  c", "  d", "\te"];
        let map = IndentMap::learn([("a", "a")]).or_by_habit(blanks.into_iter(), &["x", "\ty"]);
        assert_eq!(map.apply("\ty"), "\ty");
    }

    #[test]
    fn no_break_spaces_are_indentation() {
        let map = IndentMap::learn([("\u{a0}\u{a0}a", "  a")]);
        assert_eq!(map.apply("\u{a0}\u{a0}\u{a0}\u{a0}b"), "    b");
    }

    #[test]
    fn nothing_changes_where_the_quote_is_exact() {
        let map = IndentMap::learn([("  a", "  a")]);
        assert_eq!(map.apply("\t odd"), "\t odd");
    }
}
