//! The scores: the share of what a commit touched that a map shows, and how early a ranking lists its files.

use std::collections::{HashMap, HashSet};

use super::case::GoldSymbol;
use crate::figure::Mean;

/// Length of the part of a ranking that is scored.
const RANK_CUTOFF: usize = 10;

/// Recall, as means over cases.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MeanRecall {
    file: Mean,
    name: Mean,
    signature: Mean,
}

impl MeanRecall {
    /// Adds the recall of one map: of `files`, and of `symbols`, each with the text of its first line. Without symbols only the
    /// files count.
    pub(crate) fn add(&mut self, shown: &MapContents<'_>, files: &[&str], symbols: &[(&GoldSymbol, &str)]) {
        let count = |test: &dyn Fn(&GoldSymbol, &str) -> bool| {
            symbols.iter().filter(|(symbol, line)| test(symbol, line)).count()
        };
        self.file.add(share(files.iter().filter(|path| shown.has_file(path)).count(), files.len()));
        self.name.add(share(count(&|symbol, _| shown.has_name(&symbol.path, &symbol.name)), symbols.len()));
        self.signature.add(share(count(&|symbol, line| shown.has_line(&symbol.path, line)), symbols.len()));
    }

    /// The share of the files that the map names.
    pub fn file(&self) -> f64 {
        self.file.value()
    }

    /// The share of the definitions whose name the map shows under their file.
    pub fn name(&self) -> f64 {
        self.name.value()
    }

    /// The share of the definitions whose first line the map shows under their file.
    pub fn signature(&self) -> f64 {
        self.signature.value()
    }
}

fn share(hits: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| hits as f64 / of as f64)
}

/// The share of `gold` among the first ten of `ranked`; `None` if `gold` is empty.
pub(crate) fn recall_at_ten(ranked: &[&str], gold: &[&str]) -> Option<f64> {
    let first = &ranked[..ranked.len().min(RANK_CUTOFF)];
    share(gold.iter().filter(|path| first.contains(path)).count(), gold.len())
}

/// Normalized discounted cumulative gain at 10 with binary relevance (K. Järvelin and J. Kekäläinen, 2002); `None` if `gold` is
/// empty.
pub(crate) fn ndcg_at_ten(ranked: &[&str], gold: &[&str]) -> Option<f64> {
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let found: f64 = (0..ranked.len().min(RANK_CUTOFF)).filter(|&rank| gold.contains(&ranked[rank])).map(gain).sum();
    let best: f64 = (0..gold.len().min(RANK_CUTOFF)).map(gain).sum();
    (best > 0.0).then(|| found / best)
}

/// Number of characters of a line, without white space, that identify it in a map. The map cuts long lines.
const SIGNATURE_CHARS: usize = 32;

/// The text that a map shows for each file, by path.
#[derive(Debug, Default)]
pub(crate) struct MapContents<'p> {
    files: HashMap<&'p str, String>,
}

impl<'p> MapContents<'p> {
    /// Reads a map of files with these paths.
    pub(crate) fn read(text: &str, paths: &HashSet<&'p str>) -> Self {
        let mut files: HashMap<&'p str, String> = HashMap::new();
        let (mut folder, mut open): (Option<&str>, Option<&'p str>) = (None, None);
        for line in text.lines() {
            let indented = line.starts_with(' ');
            if !indented {
                folder = line.strip_suffix('/').filter(|_| !paths.contains(line));
            }
            let heading = match folder {
                Some(folder) if indented => heading(&format!("{folder}/{}", line.trim_start()), paths),
                None if !indented => heading(line, paths),
                _ => None,
            };
            let under = match heading {
                Some((path, rest)) => {
                    open = Some(path);
                    files.entry(path).or_default().push_str(&rest);
                    continue;
                }
                None if indented && folder.is_none() => open.and_then(|path| files.get_mut(path)),
                None => None,
            };
            if let Some(under) = under {
                under.push('\n');
                under.push_str(line);
            }
        }
        Self { files }
    }

    /// Whether the map names the file.
    pub(crate) fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether the map shows a name under the file, as a whole word.
    pub(crate) fn has_name(&self, path: &str, name: &str) -> bool {
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let alone =
            |text: &str, at: usize| !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word);
        let text = self.files.get(path).filter(|_| !name.is_empty());
        text.is_some_and(|text| text.match_indices(name).any(|(at, _)| alone(text, at)))
    }

    /// Whether the map shows a line of the source under the file, or its beginning.
    pub(crate) fn has_line(&self, path: &str, line: &str) -> bool {
        let telling: String = line.chars().filter(|c| !c.is_whitespace()).take(SIGNATURE_CHARS).collect();
        let squeezed = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
        !telling.is_empty() && self.files.get(path).is_some_and(|text| squeezed(text).contains(&telling))
    }
}

/// The path at the beginning of a line, up to a colon or the end of the line, and the rest of the line.
fn heading<'p>(line: &str, paths: &HashSet<&'p str>) -> Option<(&'p str, String)> {
    let ends = line.match_indices(':').map(|(at, _)| at).chain([line.len()]);
    // The longest match, because a path may contain a colon.
    ends.rev().find_map(|end| paths.get(&line[..end]).map(|path| (*path, line[end..].to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_the_first_ten_places() {
        let ranked: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        let ranked: Vec<&str> = ranked.iter().map(String::as_str).collect();
        assert_eq!(recall_at_ten(&ranked, &["0", "9", "10", "gone"]), Some(0.5));
        assert_eq!((recall_at_ten(&[], &["a"]), recall_at_ten(&ranked, &[])), (Some(0.0), None));
    }

    #[test]
    fn an_early_place_is_worth_more() {
        assert_eq!(ndcg_at_ten(&["a", "b", "c"], &["b", "a"]), Some(1.0));
        assert_eq!(ndcg_at_ten(&["x", "a"], &["a"]), Some(1.0 / 3f64.log2()));
        assert_eq!((ndcg_at_ten(&["x"], &["a"]), ndcg_at_ten(&["x"], &[])), (Some(0.0), None));
    }

    #[test]
    fn files_names_and_lines_are_counted_apart() {
        let paths = ["a.rs", "b.rs"];
        let shown = MapContents::read("a.rs:\n  pub fn area() {\n  ⋮ side\n", &paths.into_iter().collect());
        let symbol = |name: &str| GoldSymbol { path: "a.rs".into(), name: name.into(), line: 1 };
        let (area, side) = (symbol("area"), symbol("side"));
        let mut means = MeanRecall::default();
        means.add(&shown, &paths, &[(&area, "pub fn area() {"), (&side, "let side = 1;")]);
        assert_eq!((means.file(), means.name(), means.signature()), (0.5, 1.0, 0.5));
        means.add(&shown, &["a.rs"], &[]);
        assert_eq!((means.file(), means.name()), (0.75, 1.0), "a case without symbols says nothing of symbols");
    }

    const MAP: &str = "Cargo.toml\nsrc/\n  lib.rs: start\n  odd: name.rs: stop\nsrc/area.rs:\n  pub struct Square {\n    pub fn total_area(&self, scale: f64, un…\n  ⋮ side\nsrc/last.rs\n";

    fn shown() -> MapContents<'static> {
        let paths =
            ["Cargo.toml", "src/lib.rs", "src/odd: name.rs", "src/odd", "src/area.rs", "src/last.rs", "src/none.rs"];
        MapContents::read(MAP, &paths.into_iter().collect())
    }

    #[test]
    fn files_are_found_at_the_top_level_and_under_their_folder() {
        let shown = shown();
        for path in ["Cargo.toml", "src/lib.rs", "src/odd: name.rs", "src/area.rs", "src/last.rs"] {
            assert!(shown.has_file(path), "{path}");
        }
        assert!(!shown.has_file("src/none.rs") && !shown.has_file("src/odd"));
    }

    #[test]
    fn a_name_counts_as_a_whole_word_under_its_file() {
        let shown = shown();
        assert!(shown.has_name("src/lib.rs", "start") && shown.has_name("src/odd: name.rs", "stop"));
        assert!(shown.has_name("src/area.rs", "total_area") && shown.has_name("src/area.rs", "side"));
        assert!(!shown.has_name("src/area.rs", "area") && !shown.has_name("src/lib.rs", "stop"));
        assert!(!shown.has_name("src/last.rs", "side") && !shown.has_name("src/lib.rs", "lib"));
    }

    #[test]
    fn a_line_counts_however_it_is_indented_or_cut() {
        let shown = shown();
        assert!(shown.has_line("src/area.rs", "        pub fn total_area(&self, scale: f64, unit: Unit) -> f64 {"));
        assert!(shown.has_line("src/area.rs", "pub struct Square{"));
        assert!(!shown.has_line("src/area.rs", "    side: f64,") && !shown.has_line("src/area.rs", "  "));
        assert!(!shown.has_line("src/lib.rs", "pub fn start() {"));
    }
}
