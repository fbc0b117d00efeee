//! The scores: what part of what a commit touched a map shows, and how early the ranking has its files.
//! What a map shows of each file, read back from its text alone: nothing counts that the model does not see.

use super::case::GoldSymbol;
use crate::figure::Mean;
use std::collections::{HashMap, HashSet};

/// Places of a ranking that count.
const RANK_CUTOFF: usize = 10;

/// Recall, as means over cases.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MeanRecall {
    file: Mean,
    name: Mean,
    signature: Mean,
}

impl MeanRecall {
    /// Adds what a map shows of some files and of some definitions, each with its own line of the source. A case without
    /// definitions counts for the files alone.
    pub(crate) fn add(&mut self, shown: &MapContents<'_>, files: &[&str], symbols: &[(&GoldSymbol, &str)]) {
        let count = |test: &dyn Fn(&GoldSymbol, &str) -> bool| {
            symbols.iter().filter(|(symbol, line)| test(symbol, line)).count()
        };
        self.file.add(share(files.iter().filter(|path| shown.has_file(path)).count(), files.len()));
        self.name.add(share(count(&|symbol, _| shown.has_name(&symbol.path, &symbol.name)), symbols.len()));
        self.signature.add(share(count(&|symbol, line| shown.has_line(&symbol.path, line)), symbols.len()));
    }

    /// The part of the files that are named.
    pub fn file(&self) -> f64 {
        self.file.value()
    }

    /// The part of the definitions whose name stands under their file.
    pub fn name(&self) -> f64 {
        self.name.value()
    }

    /// The part of the definitions whose own line stands there.
    pub fn signature(&self) -> f64 {
        self.signature.value()
    }
}

fn share(hits: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| hits as f64 / of as f64)
}

/// The part of the gold that stands at the first ten places; none without gold.
pub(crate) fn recall_at_ten(ranked: &[&str], gold: &[&str]) -> Option<f64> {
    let first = &ranked[..ranked.len().min(RANK_CUTOFF)];
    share(gold.iter().filter(|path| first.contains(path)).count(), gold.len())
}

/// Normalised discounted cumulative gain of the first ten places, all gold worth the same; none without gold.
pub(crate) fn ndcg_at_ten(ranked: &[&str], gold: &[&str]) -> Option<f64> {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let found: f64 = (0..ranked.len().min(RANK_CUTOFF)).filter(|&place| gold.contains(&ranked[place])).map(gain).sum();
    let best: f64 = (0..gold.len().min(RANK_CUTOFF)).map(gain).sum();
    (best > 0.0).then(|| found / best)
}

/// Characters of a definition's own line, white space aside, by which it is known: the map cuts long lines.
const SIGNATURE_CHARS: usize = 32;

/// By path, the text that stands under it.
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

    /// Whether a name stands under the file, as a whole word.
    pub(crate) fn has_name(&self, path: &str, name: &str) -> bool {
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let alone =
            |text: &str, at: usize| !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word);
        let text = self.files.get(path).filter(|_| !name.is_empty());
        text.is_some_and(|text| text.match_indices(name).any(|(at, _)| alone(text, at)))
    }

    /// Whether a line of the source stands under the file, or the beginning of it.
    pub(crate) fn has_line(&self, path: &str, line: &str) -> bool {
        let telling: String = line.chars().filter(|c| !c.is_whitespace()).take(SIGNATURE_CHARS).collect();
        let squeezed = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
        !telling.is_empty() && self.files.get(path).is_some_and(|text| squeezed(text).contains(&telling))
    }
}

/// The path that a line begins with, up to its end or a colon, and what stands behind it.
fn heading<'p>(line: &str, paths: &HashSet<&'p str>) -> Option<(&'p str, String)> {
    let ends = line.match_indices(':').map(|(at, _)| at).chain([line.len()]);
    // The longest: a colon may be part of a path.
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
    fn files_stand_on_their_own_and_under_their_folder() {
        let shown = shown();
        for path in ["Cargo.toml", "src/lib.rs", "src/odd: name.rs", "src/area.rs", "src/last.rs"] {
            assert!(shown.has_file(path), "{path}");
        }
        assert!(!shown.has_file("src/none.rs") && !shown.has_file("src/odd"));
    }

    #[test]
    fn a_name_counts_under_its_own_file_and_whole() {
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
