//! The indentation of added lines, learnt from how the quoted lines are indented in the file.

use std::collections::BTreeMap;

/// Width of a tab where nothing tells.
const TAB: usize = 4;

/// Of so many lines with tabs one with spaces breaks the habit of the file.
const EXCEPTIONS: usize = 3;

/// From the reply's indentation to the file's.
#[derive(Debug, Default)]
pub(super) struct IndentMap {
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
    pub(super) fn learn<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
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
    pub(super) fn or_by_habit<'f>(mut self, file: impl Iterator<Item = &'f str>, added: &[&str]) -> Self {
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
