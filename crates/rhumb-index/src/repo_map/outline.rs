//! The definitions of a file as an outline: in line order, each below the definition that contains it.

use super::index::Entry;

/// Open definitions looked through for a container: deeper nesting is not worth a quadratic search.
const DEEPEST: usize = 32;

/// The order and nesting of a file's definitions. Positions count in line order.
#[derive(Debug)]
pub(crate) struct Outline {
    /// Definition index (in the tags) at each position.
    pub(crate) order: Vec<u32>,
    /// Position of each definition, by index.
    pub(crate) position: Vec<u32>,
    /// Position of the containing definition, by position.
    pub(crate) parent: Vec<Option<u32>>,
    /// Number of containing definitions, by position.
    pub(crate) depth: Vec<u16>,
}

impl Outline {
    /// Orders and nests the definitions of a file. A container is the innermost definition around the line that has
    /// the container's name; the container of a method outside of its type's own lines has no position.
    pub(crate) fn new(definitions: &[Entry<'_>]) -> Self {
        let mut order: Vec<u32> = (0..definitions.len() as u32).collect();
        order.sort_by_key(|&index| {
            let entry = definitions[index as usize];
            (entry.line(), u32::MAX - entry.end_line())
        });
        let mut position = vec![0u32; order.len()];
        let mut parent: Vec<Option<u32>> = Vec::with_capacity(order.len());
        let mut depth: Vec<u16> = Vec::with_capacity(order.len());
        let mut open: Vec<u32> = Vec::new();
        for (at, &index) in (0u32..).zip(&order) {
            let entry = definitions[index as usize];
            position[index as usize] = at;
            let at_position = |at: u32| definitions[order[at as usize] as usize];
            while open.last().is_some_and(|&last| at_position(last).end_line() < entry.line()) {
                open.pop();
            }
            let container = entry.container().and_then(|name| {
                open.iter().rev().take(DEEPEST).copied().find(|&candidate| at_position(candidate).name() == name)
            });
            parent.push(container);
            depth.push(container.map_or(0, |container| depth[container as usize].saturating_add(1)));
            open.push(at);
        }
        Self { order, position, parent, depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo_map::{MapFile, MapIndex};
    use rhumb_syntax::tag::{Definition, FileTags, SymbolKind};

    fn definition(name: &str, line: u32, end_line: u32, container: Option<&str>) -> Definition {
        let container = container.map(str::to_owned);
        Definition {
            name: name.into(),
            kind: SymbolKind::Class,
            line,
            end_line,
            signature: String::new(),
            container,
            doc: String::new(),
        }
    }

    #[test]
    fn a_definition_lies_below_its_container() {
        let definitions = vec![
            definition("inner", 3, 4, Some("Outer")),
            definition("Outer", 1, 9, None),
            definition("deep", 4, 4, Some("inner")),
            definition("stray", 20, 21, Some("Outer")),
        ];
        let tags = FileTags { definitions, ..FileTags::default() }.into();
        let index = MapIndex::of(&[MapFile { tags, ..MapFile::default() }]);
        let outline = Outline::new(&index.definitions(0).collect::<Vec<_>>());
        assert_eq!(outline.order, [1, 0, 2, 3]);
        assert_eq!(outline.parent, [None, Some(0), Some(1), None]);
        assert_eq!(outline.depth, [0, 1, 2, 0]);
    }
}
