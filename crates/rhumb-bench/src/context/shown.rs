//! What a map shows of each file, read back from its text alone: nothing counts that the model does not see.

use std::collections::{HashMap, HashSet};

/// Characters of a definition's own line, white space aside, by which it is known: the map cuts long lines.
const TELLING: usize = 32;

/// By path, the text that stands under it.
#[derive(Debug, Default)]
pub(super) struct Shown<'p> {
    files: HashMap<&'p str, String>,
}

impl<'p> Shown<'p> {
    /// Reads a map of files with these paths.
    pub(super) fn read(text: &str, paths: &HashSet<&'p str>) -> Self {
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
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether a name stands under the file, as a whole word.
    pub(super) fn has_name(&self, path: &str, name: &str) -> bool {
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let alone =
            |text: &str, at: usize| !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word);
        let text = self.files.get(path).filter(|_| !name.is_empty());
        text.is_some_and(|text| text.match_indices(name).any(|(at, _)| alone(text, at)))
    }

    /// Whether a line of the source stands under the file, or the beginning of it.
    pub(super) fn has_line(&self, path: &str, line: &str) -> bool {
        let telling: String = line.chars().filter(|c| !c.is_whitespace()).take(TELLING).collect();
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

    const MAP: &str = "Cargo.toml\nsrc/\n  lib.rs: start\n  odd: name.rs: stop\nsrc/area.rs:\n  pub struct Square {\n    pub fn total_area(&self, scale: f64, un…\n  ⋮ side\nsrc/last.rs\n";

    fn shown() -> Shown<'static> {
        let paths =
            ["Cargo.toml", "src/lib.rs", "src/odd: name.rs", "src/odd", "src/area.rs", "src/last.rs", "src/none.rs"];
        Shown::read(MAP, &paths.into_iter().collect())
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
