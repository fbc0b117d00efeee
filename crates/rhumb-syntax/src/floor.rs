//! What tags cost with a plain query: parsing, and running the engine without looking at what it finds.

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, QueryCursor};

use super::language::Language;
use super::parse::parse_for_query;

/// Parses a source and runs the tags query over it; how many matches there are. A benchmark holds what the map costs
/// against it.
pub fn match_count(language: &'static Language, source: &str) -> usize {
    let (Ok(query), Some(tree)) = (language.whole_tag_query(), parse_for_query(language, source)) else { return 0 };
    let mut cursor = QueryCursor::new();
    let text = |node: Node<'_>| std::iter::once(source.as_bytes().get(node.byte_range()).unwrap_or_default());
    let mut matches = cursor.matches(query, tree.root_node(), text);
    let mut count = 0;
    while matches.next().is_some() {
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_a_match() {
        assert!(match_count(Language::by_name("rust").unwrap(), "fn f() {}\n") >= 1);
        assert_eq!(match_count(Language::by_name("rust").unwrap(), ""), 0);
    }
}
