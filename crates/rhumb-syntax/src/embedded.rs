//! Regions of another language within a file: scripts in HTML, expressions in templates.
//!
//! The tags query of the outer language captures the regions. Each is parsed separately, with the positions of the whole
//! file.

use crate::language::Language;
use std::collections::BTreeMap;
use tree_sitter::{Node, Range};

/// Maximum number of regions in a file.
const MAX_REGIONS: usize = 5_000;

/// The regions of a file by start byte.
#[derive(Default)]
pub(crate) struct Regions(BTreeMap<usize, Region>);

struct Region {
    range: Range,
    is_named: bool,
    /// `None` for data and for unknown languages.
    language: Option<&'static Language>,
}

impl Regions {
    /// Adds a region. `name` is the language that the file names, `default` the one that the query names. A region that is
    /// captured both ways keeps the name from the file.
    pub(crate) fn add(&mut self, node: Node<'_>, name: Option<&str>, default: Option<&str>) {
        let range = node.range();
        let known = self.0.get(&range.start_byte);
        if known.is_some_and(|known| known.is_named) || (known.is_none() && self.0.len() >= MAX_REGIONS) {
            return;
        }
        let language = name.map_or_else(|| default.and_then(Language::by_name), named);
        self.0.insert(range.start_byte, Region { range, is_named: name.is_some(), language });
    }

    /// The regions with a known language, in order.
    pub(crate) fn readable(self) -> impl Iterator<Item = (&'static Language, Range)> {
        self.0.into_values().filter_map(|region| Some((region.language?, region.range)))
    }
}

/// The language of a `lang` or `type` attribute: `ts`, `text/javascript`, `module`.
fn named(name: &str) -> Option<&'static Language> {
    let name = name.rsplit('/').next().unwrap_or(name);
    match name {
        // Data blocks
        "json" | "ld+json" | "importmap" => None,
        "module" | "babel" | "ecmascript" | "x-javascript" => Language::by_name("javascript"),
        _ => Language::by_name(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tags;

    fn found(language: &str, source: &str) -> Vec<String> {
        let tags = tags(Language::by_name(language).unwrap(), source);
        let defined = tags.definitions.into_iter().map(|found| format!("{} {}", found.name, found.line));
        defined.chain(tags.references.into_iter().map(|found| format!("{}:{}", found.name, found.line))).collect()
    }

    #[test]
    fn a_script_keeps_its_lines() {
        assert_eq!(found("html", "<p>é</p>\n<script>\nfunction f() { g() }\n</script>\n"), ["f 3", "g:3"]);
    }

    #[test]
    fn the_language_that_the_file_names_has_priority() {
        assert_eq!(found("html", "<script lang=\"ts\">type A = B</script>"), ["A 1", "B:1"]);
        assert_eq!(found("html", "<script type=\"application/json\">{\"a\": f()}</script>"), [""; 0]);
        assert_eq!(found("html", "<script type=\"text/unheard-of\">f()</script>"), [""; 0]);
    }

    #[test]
    fn unterminated_scripts_do_no_harm() {
        assert_eq!(found("html", "<script>f("), [""; 0]);
        found("vue", &"<script>".repeat(1_000));
    }
}
