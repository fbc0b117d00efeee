//! From a quote that has met its lines to deletions and insertions: where exactly each new line goes.
// FROM locate/indent.rs
// //! The indentation of added lines, learnt from how the quoted lines are indented in the file.

use std::collections::{BTreeMap, BTreeSet};

use super::normalize::{self, LineClass, normalize};
use super::similarity::Probe;
use crate::apply::document::View;
use crate::outcome::Strategy;
use crate::refusal::{Cause, Refusal};
use crate::reply::LineKind;

/// A hunk with its place in a view: lines 0-based.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Located {
    pub(crate) deletes: BTreeSet<usize>,
    /// New lines by the line before which they go.
    pub(crate) inserts: BTreeMap<usize, Vec<String>>,
    pub(crate) cost: f32,
    pub(crate) strategy: Strategy,
    pub(crate) confidence: f32,
    /// The file lines that the quote met, ascending.
    pub(crate) met: Vec<usize>,
    /// Whether every quoted line that says something met one.
    pub(crate) complete: bool,
}

impl Located {
    /// The first and the last line that it has to do with.
    pub(crate) fn span(&self) -> Option<(usize, usize)> {
        let lines = || self.met.iter().chain(&self.deletes).chain(self.inserts.keys()).copied();
        lines().min().zip(lines().max())
    }

    /// The same place `by` lines further down.
    pub(crate) fn shifted(&self, by: isize) -> Self {
        let line = |line: &usize| line.saturating_add_signed(by);
        Self {
            deletes: self.deletes.iter().map(line).collect(),
            inserts: self.inserts.iter().map(|(at, lines)| (line(at), lines.clone())).collect(),
            met: self.met.iter().map(line).collect(),
            ..self.clone()
        }
    }
}

/// One line of the hunk with what it met.
pub(crate) struct Met<'a> {
    pub(crate) kind: LineKind,
    pub(crate) text: &'a str,
    pub(crate) at: Option<usize>,
}

/// Turns the met lines into deletions and insertions. `diff` says that kept lines should have begun with a blank.
pub(crate) fn build(
    view: &View<'_>,
    lines: &[Met<'_>],
    cost: f32,
    weight: f32,
    diff: bool,
) -> Result<Located, Refusal> {
    let pairs = lines.iter().filter_map(|line| Some((line.text, view.body(line.at?))));
    let added = lines.iter().enumerate().filter(|(index, _)| inserts(lines, *index));
    let added: Vec<&str> = added.map(|(_, line)| line.text).collect();
    let unmarked = diff && unmarked(view, lines);
    if !added.is_empty() && !unmarked && unsteady(view, lines) {
        return Err(Cause::MixedIndentation.into());
    }
    let indent = match unmarked {
        true => IndentMap::default(),
        false => IndentMap::learn(pairs).or_by_habit(view.bodies(), &added),
    };
    if flattened(view, lines) {
        return Err(Cause::LostIndentation.into());
    }
    let typeset = typeset(view, lines);
    let mut located = Located {
        deletes: BTreeSet::new(),
        inserts: BTreeMap::new(),
        cost,
        strategy: strategy(view, lines),
        confidence: (1.0 - cost / weight.max(1.0)).clamp(0.0, 1.0),
        met: lines.iter().filter_map(|line| line.at).collect(),
        complete: lines
            .iter()
            .all(|line| line.kind == LineKind::Insert || line.at.is_some() || line.text.trim().is_empty()),
    };
    located.met.sort_unstable();
    for (index, line) in lines.iter().enumerate() {
        match (line.kind, line.at) {
            (LineKind::Delete, Some(at)) => drop(located.deletes.insert(at)),
            (LineKind::Insert | LineKind::Keep, None) if inserts(lines, index) => {
                if vague(view, lines, index) {
                    return Err(Cause::SkipsInsertionPoint.into());
                }
                let Some(at) = position(view, lines, index) else {
                    return Err(Cause::NoAnchor.into());
                };
                let cut = unmarked && line.kind == LineKind::Keep && line.text.starts_with(' ');
                let text = if cut { format!(" {}", line.text) } else { indent.apply(line.text) };
                let text = if typeset { normalize::straight(&text) } else { text };
                located.inserts.entry(at).or_default().push(text);
            }
            _ => {}
        }
    }
    Ok(located)
}

/// Whether the quote is indented like the file on some lines and otherwise on others, tabs for spaces aside.
fn unsteady(view: &View<'_>, lines: &[Met<'_>]) -> bool {
    let solid = |line: &&Met<'_>| !line.text.trim().is_empty();
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

/// Whether lines are added among quoted ones that all lost their indentation, and are indented in several ways in the file.
/// What takes the place of removed lines is as deep as those.
fn flattened(view: &View<'_>, lines: &[Met<'_>]) -> bool {
    let solid = || lines.iter().filter(|line| !line.text.trim().is_empty());
    let depths = solid().filter_map(|line| Some(indentation(view.body(line.at?))));
    let depths: BTreeSet<&str> = depths.collect();
    let flat = solid().all(|line| line.kind != LineKind::Delete && indentation(line.text).is_empty());
    flat && depths.len() > 1 && !depths.contains("") && solid().any(|line| line.kind == LineKind::Insert)
}

/// Whether the reply has typographic quotes, dashes or dots where the file, which has none at all, has plain ones.
fn typeset(view: &View<'_>, lines: &[Met<'_>]) -> bool {
    let differs = |line: &Met<'_>| normalize::is_typeset(line.text) && line.at.is_some();
    lines.iter().any(differs) && !view.bodies().any(normalize::is_typeset)
}

/// Whether the kept lines of a diff came without the blank that marks them, so that one of their own was taken for it:
/// all that differ in indentation are one blank short, and no removed line is. Added lines that are as deep as the
/// shortened ones, and none as deep as the file's, tell of a hunk that was moved to the left as a whole.
fn unmarked(view: &View<'_>, lines: &[Met<'_>]) -> bool {
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

/// Whether a line without a place is new: added, or quoted but missing (a forgotten plus).
fn inserts(lines: &[Met<'_>], index: usize) -> bool {
    let fresh = |line: Option<&Met<'_>>| {
        line.is_some_and(|line| match line.kind {
            LineKind::Insert => true,
            LineKind::Keep => line.at.is_none() && !line.text.trim().is_empty(),
            LineKind::Delete | LineKind::Gap => false,
        })
    };
    // A blank line between two new ones belongs to them.
    let between = index.checked_sub(1).is_some_and(|before| fresh(lines.get(before))) && fresh(lines.get(index + 1));
    fresh(lines.get(index)) || between
}

/// The file line before which the new line `index` goes.
fn position(view: &View<'_>, lines: &[Met<'_>], index: usize) -> Option<usize> {
    let (before, after) = lines.split_at_checked(index)?;
    let settled = |line: &&Met<'_>| line.kind == LineKind::Gap || line.at.is_some();
    let settled_not = |line: &&Met<'_>| !settled(line);
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
    // A diff that puts the new line first and the old one below it: the two change places.
    let unanswered = |line: &&Met<'_>| {
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
    let placed =
        before.iter().rev().take_while(|line| !settled(line)).filter(|line| line.kind == LineKind::Insert).count();
    if removed.is_empty() {
        return Some(past_attached(view, run_around(lines, index), last, coming));
    }
    // Removed lines with file lines left standing between them: each new line takes the place of its own old one.
    let run = placed + after.iter().take_while(|line| line.kind == LineKind::Insert).count();
    let apart = removed.first().zip(removed.last()).is_some_and(|(high, low)| high - low >= removed.len());
    if apart && run == removed.len() {
        return removed.iter().rev().nth(placed).map(|at| at + 1);
    }
    Some(last + 1)
}

/// Whether code, or the comment of an attribute's item, stands between the kept lines above and below a new line, so
/// that its place is anyone's guess.
fn vague(view: &View<'_>, lines: &[Met<'_>], index: usize) -> bool {
    let Some((before, after)) = lines.split_at_checked(index) else {
        return false;
    };
    let settled = |line: &&Met<'_>| line.kind == LineKind::Gap || line.at.is_some();
    let kept = |line: &&Met<'_>| line.kind == LineKind::Keep;
    let above = before.iter().rev().find(settled).filter(kept).and_then(|line| line.at);
    let below = after.iter().find(settled).filter(kept).and_then(|line| line.at);
    let between = above.zip(below).map(|(above, below)| above + 1..below).unwrap_or_default();
    // An attribute may stand above or below the comment of its item.
    let attribute = run_around(lines, index).last().is_some_and(|line| line.text.trim_start().starts_with(['@', '#']));
    between.into_iter().any(|line| match view.class(line) {
        LineClass::Code => true,
        LineClass::Comment => attribute,
        LineClass::Blank => false,
    })
}

/// The new lines that are added together with the line `index`.
fn run_around<'a, 'b>(lines: &'a [Met<'b>], index: usize) -> &'a [Met<'b>] {
    let from = (0..index).rev().take_while(|at| inserts(lines, *at)).last().unwrap_or(index);
    let to = (index..lines.len()).find(|at| !inserts(lines, *at)).unwrap_or(lines.len());
    lines.get(from..to).unwrap_or_default()
}

/// Where new lines go after the kept line `last` when the quote leaves out blank lines or comments below it. They go
/// before a comment, as that belongs to what follows, and below a docstring. Among blank lines they join the side that
/// they resemble; a comment or an attribute at their end, or a blank line of their own, makes that the lower one.
fn past_attached(view: &View<'_>, run: &[Met<'_>], last: usize, coming: Option<usize>) -> usize {
    let Some(next) = coming.filter(|next| *next > last + 1) else {
        return past_docstring(view, last, coming);
    };
    let empty = |line: &str| line.trim().is_empty();
    let (first, end) = (run.first().map_or("", |line| line.text), run.last().map_or("", |line| line.text));
    let blanks = (last + 1..next).take_while(|line| empty(view.body(*line))).count();
    let below = if empty(end) {
        !empty(first)
    } else {
        let like = |line: &str, other: usize| {
            Probe::new(line.trim()).likeness(view.body(other).trim(), 0.0).unwrap_or_default()
        };
        !empty(first) && (attached(end) || like(end, next) > like(first, last))
    };
    if blanks > 0 && below { last + 1 + blanks } else { past_docstring(view, last, coming) }
}

/// Whether a line belongs to the one below it: a comment, an attribute, a decorator.
fn attached(line: &str) -> bool {
    let attribute = line.trim_start().starts_with(['@', '#']);
    attribute || normalize::class(line) == LineClass::Comment
}

/// Lines added after a heading go below a docstring that the quote left out.
fn past_docstring(view: &View<'_>, last: usize, next: Option<usize>) -> usize {
    let plain = last + 1;
    let text = view.body(plain).trim_start();
    let heading = view.body(last).trim_end().ends_with(':');
    let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| heading && text.starts_with(quotes)) else {
        return plain;
    };
    let mut line = plain;
    let mut count = 0;
    while line < view.len() {
        count += view.body(line).matches(quotes).count();
        line += 1;
        if count >= 2 {
            break;
        }
    }
    if next.is_some_and(|next| next < line) { plain } else { line }
}

/// The loosest thing that had to be forgiven.
fn strategy(view: &View<'_>, lines: &[Met<'_>]) -> Strategy {
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
                if skipped { Strategy::Fuzzy } else { likeness(line.text, view.body(at)) }
            }
        };
        strategy = strategy.max(step);
    }
    strategy
}

fn likeness(quoted: &str, found: &str) -> Strategy {
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

/// Width of a tab where nothing tells.
const TAB: usize = 4;

/// Of so many lines with tabs one with spaces breaks the habit of the file.
const EXCEPTIONS: usize = 3;

/// From the reply's indentation to the file's.
#[derive(Debug, Default)]
pub(crate) struct IndentMap {
    table: BTreeMap<String, String>,
    /// Columns that stand for one tab, when one side has tabs and the other spaces.
    unit: usize,
    tabs: Tabs,
    identity: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Tabs {
    #[default]
    Alike,
    /// The reply has spaces where the file has tabs.
    Lost,
    /// The reply has tabs where the file has spaces.
    Invented,
}

/// The white space at the start of a line; typesetters have a blank of their own.
pub(crate) fn indentation(line: &str) -> &str {
    line.split_at(line.len() - line.trim_start_matches([' ', '\t', '\u{a0}']).len()).0
}

fn width(indent: &str) -> usize {
    indent.chars().map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

impl IndentMap {
    /// Learns from pairs of a quoted line and the line of the file that it stands for.
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
            (true, false) => Tabs::Invented,
            _ => Tabs::Alike,
        };
        let units = pairs.iter().filter_map(|(quoted, found)| match tabs {
            Tabs::Alike => None,
            Tabs::Lost => columns_per_tab(quoted, found),
            Tabs::Invented => columns_per_tab(found, quoted),
        });
        let unit = units.min().unwrap_or(TAB).max(1);
        let identity = table.iter().all(|(quoted, found)| quoted == found);
        Self { table, unit, tabs, identity }
    }

    /// When no quoted line is indented, the habit of the whole file decides between tabs and spaces. `file` are its
    /// lines, `added` the lines to come.
    pub(crate) fn or_by_habit<'f>(mut self, file: impl Iterator<Item = &'f str>, added: &[&str]) -> Self {
        if self.table.keys().any(|indent| !indent.is_empty()) || !self.identity {
            return self;
        }
        let file: Vec<&str> = file.collect();
        // The second and later lines of a block comment stand one column further in.
        let comment = |line: &&&str| line.trim_start().starts_with('*');
        let indents =
            |lines: &[&str], c: char| lines.iter().filter(|line| line.starts_with(c) && !comment(line)).count();
        let spaces = |lines: &[&str]| {
            let deep = lines.iter().map(|line| indentation(line)).filter(|indent| indent.starts_with("  "));
            deep.map(str::len).min()
        };
        let (tabs, blanks) = (indents(&file, '\t'), indents(&file, ' '));
        let (added_tabs, added_blanks) = (indents(added, '\t'), indents(added, ' '));
        // In a file of tabs a continued line or an example may be indented otherwise.
        let of_tabs = tabs > 0 && blanks * EXCEPTIONS <= tabs;
        if tabs == 0 && blanks > 0 && added_tabs > 0 && added_blanks == 0 {
            (self.tabs, self.unit) = (Tabs::Invented, spaces(&file).unwrap_or(TAB));
        } else if of_tabs && added_blanks > 0 && added_tabs == 0 {
            (self.tabs, self.unit) = (Tabs::Lost, spaces(added).unwrap_or(TAB));
        } else {
            return self;
        }
        self.identity = false;
        self.table.insert(String::new(), String::new());
        self
    }

    /// The line as it belongs into the file.
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
        // The lines of a block comment stand a column further in, which is no depth to count from.
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
            Tabs::Invented => " ".repeat(self.unit * quoted.matches('\t').count()),
            Tabs::Alike => {
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

    /// `found`, made deeper or shallower by the difference of two widths in columns.
    fn with_tabs(&self, found: &str, quoted: usize, nearest: usize) -> String {
        if let Some(more) = quoted.checked_sub(nearest) {
            return format!("{found}{}{}", "\t".repeat(more / self.unit), " ".repeat(more % self.unit));
        }
        let fewer = nearest.saturating_sub(quoted).div_ceil(self.unit);
        found.get(..found.len().saturating_sub(fewer)).unwrap_or_default().to_owned()
    }
}

/// For each indentation of the reply the one that most of its lines have in the file; unchanged if as many have that.
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

/// How many columns of `spaces` one tab of `tabs` stands for, when the two fit.
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
    fn comments_do_not_tell_how_deep_a_line_is() {
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
    fn the_habit_of_the_file_decides_where_no_quote_does() {
        let map = IndentMap::learn([("a", "a")]).or_by_habit(["a", "  b", "    c"].into_iter(), &["x", "\ty"]);
        assert_eq!(map.apply("\ty"), "  y");
        let map = IndentMap::learn([("a", "a")]).or_by_habit(["a", "\tb"].into_iter(), &["x", "    y"]);
        assert_eq!(map.apply("        y"), "\t\ty");
        let map = IndentMap::learn([("a", "a")]).or_by_habit(["a", "\tb", "  c"].into_iter(), &["    y"]);
        assert_eq!(map.apply("    y"), "    y");
    }

    #[test]
    fn a_continued_line_is_no_habit() {
        let file = ["a", "\tb", "\tc", "\td", "  e"];
        let map = IndentMap::learn([("a", "a")]).or_by_habit(file.into_iter(), &["x", "    y"]);
        assert_eq!(map.apply("    y"), "\ty");
        let blanks = ["a", "  b", "  c", "  d", "\te"];
        let map = IndentMap::learn([("a", "a")]).or_by_habit(blanks.into_iter(), &["x", "\ty"]);
        assert_eq!(map.apply("\ty"), "\ty");
    }

    #[test]
    fn the_blanks_of_typesetters_are_indentation() {
        let map = IndentMap::learn([("\u{a0}\u{a0}a", "  a")]);
        assert_eq!(map.apply("\u{a0}\u{a0}\u{a0}\u{a0}b"), "    b");
    }

    #[test]
    fn nothing_changes_where_the_quote_is_exact() {
        let map = IndentMap::learn([("  a", "  a")]);
        assert_eq!(map.apply("\t odd"), "\t odd");
    }
}
