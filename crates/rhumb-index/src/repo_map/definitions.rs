//! How the definitions of a repository contain and extend each other, by number.
//!
//! The definitions of all files are numbered in file order, and in source order within a file.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;
use rhumb_syntax::SymbolKind;

use super::index::MapIndex;

/// No definition.
pub(crate) const NONE: u32 = u32::MAX;

/// Maximum number of base types that are read from a header.
const MAX_BASES: usize = 20;
/// Maximum number of types of one name that a member may belong to if none is in its own file.
const MAX_OWNERS: usize = 3;

/// Words in the header of a type that are not base types. Sorted for binary search.
const HEADER_WORDS: [&str; 24] = [
    "abstract", "class", "const", "dyn", "enum", "extends", "final", "for", "impl", "implements", "in", "interface",
    "metaclass", "open", "out", "override", "permits", "private", "protected", "public", "static", "struct", "virtual",
    "where",
];

/// The definitions of an index.
#[derive(Debug, Default)]
pub(crate) struct Definitions {
    /// The first definition of each file, and the end.
    starts: Vec<u32>,
    /// By definition: the innermost definition around it, by number.
    parents: Vec<u32>,
    /// By definition: the outermost function around it, as an index in the file.
    outer: Vec<u32>,
    /// Definitions, grouped by name in the order of the names.
    by_name: Vec<u32>,
    /// The start of each name in `by_name`, and the end.
    name_starts: Vec<u32>,
    /// By definition: its name.
    names: Vec<u32>,
    /// Types with the names of their base types, by type.
    bases: HashMap<u32, Vec<u32>>,
    /// Types by the names of their base types.
    subtypes: HashMap<u32, Vec<u32>>,
}

/// What one file has.
struct FileDefinitions {
    /// The innermost definition around each, as an index in the file.
    parents: Vec<u32>,
    outer: Vec<u32>,
    names: Vec<u32>,
    /// Types, as an index in the file, with the names of their base types.
    bases: Vec<(u32, Vec<u32>)>,
}

impl FileDefinitions {
    fn new(index: &MapIndex, file: u32) -> Self {
        let entries: Vec<_> = index.definitions(file).collect();
        let names: Vec<u32> = index.defined(file).collect();
        let mut order: Vec<u32> = (0..entries.len() as u32).collect();
        let span = |at: u32| (entries[at as usize].line(), entries[at as usize].end_line());
        order.sort_by_key(|&at| (span(at).0, u32::MAX - span(at).1, at));
        let (mut parents, mut outer) = (vec![NONE; entries.len()], vec![NONE; entries.len()]);
        let mut open: Vec<u32> = Vec::new();
        for at in order {
            while open.last().is_some_and(|&last| span(last).1 < span(at).0) {
                open.pop();
            }
            if let Some(&parent) = open.last() {
                parents[at as usize] = parent;
                let around = outer[parent as usize];
                let is_inner = around != NONE || is_function(entries[parent as usize].kind());
                outer[at as usize] = if is_inner && around == NONE { parent } else { around };
            }
            open.push(at);
        }
        let types = (0u32..).zip(&entries).filter(|(_, entry)| is_type(entry.kind()));
        let bases = types.filter_map(|(at, entry)| {
            let bases: Vec<u32> =
                base_names(entry.signature(), entry.name()).filter_map(|name| index.name_number(name)).collect();
            (!bases.is_empty()).then_some((at, bases))
        });
        Self { parents, outer, bases: bases.collect(), names }
    }
}

impl Definitions {
    /// Reads the definitions of an index.
    pub(crate) fn new(index: &MapIndex) -> Self {
        let files: Vec<FileDefinitions> =
            (0..index.len() as u32).into_par_iter().map(|file| FileDefinitions::new(index, file)).collect();
        let mut all = Self::default();
        for file in files {
            let start = all.parents.len() as u32;
            all.starts.push(start);
            all.parents.extend(file.parents.iter().map(|&parent| if parent == NONE { NONE } else { start + parent }));
            all.outer.extend(file.outer);
            all.names.extend(file.names);
            for (at, bases) in file.bases {
                for &base in &bases {
                    all.subtypes.entry(base).or_default().push(start + at);
                }
                all.bases.insert(start + at, bases);
            }
        }
        all.starts.push(all.parents.len() as u32);
        all.group_by_name(index.names());
        all
    }

    fn group_by_name(&mut self, names: usize) {
        let mut starts = vec![0u32; names + 1];
        let known = |name: &u32| (*name as usize) < names;
        self.names.iter().filter(|name| known(name)).for_each(|&name| starts[name as usize + 1] += 1);
        for name in 0..names {
            starts[name + 1] += starts[name];
        }
        let mut next = starts.clone();
        self.by_name = vec![NONE; starts.last().map_or(0, |end| *end as usize)];
        for (definition, &name) in (0u32..).zip(&self.names).filter(|(_, name)| known(name)) {
            let slot = &mut next[name as usize];
            self.by_name[*slot as usize] = definition;
            *slot += 1;
        }
        self.name_starts = starts;
    }

    /// The definitions of a file.
    pub(crate) fn of_file(&self, file: u32) -> Range<u32> {
        let bound = |at: usize| self.starts.get(at).copied().unwrap_or(self.parents.len() as u32);
        bound(file as usize)..bound(file as usize + 1)
    }

    /// The file of a definition and its index there.
    pub(crate) fn location(&self, definition: u32) -> (u32, u32) {
        let file = self.starts.partition_point(|&start| start <= definition).saturating_sub(1);
        (file as u32, definition - self.starts.get(file).copied().unwrap_or(0))
    }

    /// The definitions of a name.
    pub(crate) fn of_name(&self, name: u32) -> &[u32] {
        let bounds = self.name_starts.get(name as usize).zip(self.name_starts.get(name as usize + 1));
        bounds.and_then(|(&start, &end)| self.by_name.get(start as usize..end as usize)).unwrap_or_default()
    }

    /// The innermost definition around a definition.
    pub(crate) fn parent(&self, definition: u32) -> Option<u32> {
        self.parents.get(definition as usize).copied().filter(|parent| *parent != NONE)
    }

    /// By definition of a file: the outermost function around it, as an index in the file, or [`NONE`].
    pub(crate) fn outer(&self, file: u32) -> &[u32] {
        let range = self.of_file(file);
        self.outer.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    /// The names of the base types of a type.
    pub(crate) fn bases(&self, definition: u32) -> &[u32] {
        self.bases.get(&definition).map_or(&[], Vec::as_slice)
    }

    /// The types that name a type as their base.
    pub(crate) fn subtypes(&self, name: u32) -> &[u32] {
        self.subtypes.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The type that a definition is a member of: the type around it, or the one that its container names, such as that of an `impl`
    /// block.
    pub(crate) fn type_of(&self, index: &MapIndex, definition: u32) -> Option<u32> {
        let kind = |definition: u32| {
            let (file, at) = self.location(definition);
            index.definition(file, at).map(|entry| entry.kind())
        };
        let is_type = |definition: &u32| kind(*definition).is_some_and(is_type);
        if let Some(parent) = self.parent(definition).filter(is_type) {
            return Some(parent);
        }
        let (file, at) = self.location(definition);
        let container = index.definition(file, at)?.container()?;
        let types: Vec<u32> = self.of_name(index.name_number(container)?).iter().copied().filter(is_type).collect();
        let here = types.iter().copied().find(|&owner| self.location(owner).0 == file);
        here.or_else(|| types.first().copied().filter(|_| types.len() <= MAX_OWNERS))
    }
}

/// Whether a kind is a function, method or macro.
pub(crate) fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Macro)
}

/// Whether a kind is a type with members.
pub(crate) fn is_type(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Class | SymbolKind::Struct | SymbolKind::Enum | SymbolKind::Interface | SymbolKind::Type)
}

/// The names after the name of a type in its header: those of its base types, in any language.
fn base_names<'s>(signature: &'s str, name: &'s str) -> impl Iterator<Item = &'s str> {
    let words = signature.split(|c: char| !(c == '_' || c.is_alphanumeric()));
    let after = words.skip_while(move |word| *word != name).skip(1);
    after.filter(|word| word.len() > 1 && HEADER_WORDS.binary_search(word).is_err()).take(MAX_BASES)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rhumb_syntax::{Language, tags};

    use super::*;
    use crate::lexical::Depth;
    use crate::repo_map::{Digest, MapFile};

    fn index(files: &[(&str, &str)]) -> MapIndex {
        let file = |&(path, text): &(&str, &str)| {
            let tags = tags(Language::for_path(path).unwrap(), text);
            let digest = Arc::new(Digest::new(text, &tags, Depth::Whole));
            MapFile { path: path.to_owned(), tags: Arc::new(tags), digest }
        };
        MapIndex::of(&files.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn definitions_know_what_is_around_them() {
        let source = "class Boat(Hull, Sail):\n    def moor(self):\n        def knot():\n            pass\n        return knot\n\n\ndef row():\n    pass\n";
        let index = index(&[("a.py", source), ("b.py", "class Hull:\n    pass\n")]);
        let all = Definitions::new(&index);
        let names: Vec<&str> = index.definitions(0).map(|entry| entry.name()).collect();
        let at = |name: &str| names.iter().position(|known| *known == name).unwrap() as u32;
        assert_eq!(all.parent(at("moor")), Some(at("Boat")));
        assert_eq!((all.outer(0)[at("knot") as usize], all.outer(0)[at("moor") as usize]), (at("moor"), NONE));
        assert_eq!(all.parent(at("row")), None);
        assert_eq!(all.type_of(&index, at("moor")), Some(at("Boat")));
        let hull = index.name_number("Hull").unwrap();
        assert_eq!(all.subtypes(hull), [at("Boat")]);
        assert_eq!(all.location(all.of_name(hull)[0]), (1, 0));
        assert!(all.bases(at("Boat")).contains(&hull));
    }

    #[test]
    fn a_member_of_an_impl_block_belongs_to_its_type() {
        let index = index(&[("a.rs", "pub struct Boat;\n\nimpl Boat {\n    fn moor(&self) {}\n}\n")]);
        let all = Definitions::new(&index);
        let moor = all.of_file(0).find(|&at| index.definition(0, at).unwrap().name() == "moor").unwrap();
        let owner = all.type_of(&index, moor).unwrap();
        assert_eq!(index.definition(0, owner).unwrap().name(), "Boat");
    }

    #[test]
    fn base_types_are_the_names_after_the_name() {
        let of = |signature: &'static str, name: &'static str| base_names(signature, name).collect::<Vec<_>>();
        assert_eq!(of("class Boat extends Hull implements Sail, Oar", "Boat"), ["Hull", "Sail", "Oar"]);
        assert_eq!(of("class Boat : public Hull", "Boat"), ["Hull"]);
        assert_eq!(of("class a(Hull)", "a"), ["Hull"]);
        assert!(of("pub struct Boat", "Boat").is_empty());
        assert!(HEADER_WORDS.is_sorted());
    }
}
