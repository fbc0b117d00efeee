//! How the definitions of a repository contain and extend each other, by number.
//!
//! The definitions of all files are numbered in file order, and in source order within a file.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;
use rhumb_syntax::SymbolKind;

use super::index::{IndexedDefinition, MapIndex};

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
    /// By definition: the type that it is a member of, by number.
    owners: Vec<u32>,
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
    /// The names of the containers, where there is one.
    containers: Vec<u32>,
    /// Whether each is a type.
    is_type: Vec<bool>,
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
            // Only the lines of definitions are known. One that begins where another ends is in it if that is its container.
            let is_outside = |last: u32| {
                let (end, (start, inner_end)) = (span(last).1, span(at));
                let is_contained = entries[at as usize].container() == Some(entries[last as usize].name());
                end < start || end < inner_end || (end == start && !is_contained)
            };
            while open.last().is_some_and(|&last| is_outside(last)) {
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
        let bases = bases.collect();
        let container =
            |entry: &IndexedDefinition<'_>| entry.container().and_then(|name| index.name_number(name)).unwrap_or(NONE);
        let containers = entries.iter().map(container).collect();
        let is_type = entries.iter().map(|entry| is_type(entry.kind())).collect();
        Self { parents, outer, names, containers, is_type, bases }
    }
}

impl Definitions {
    /// Reads the definitions of an index.
    pub(crate) fn new(index: &MapIndex) -> Self {
        let files: Vec<FileDefinitions> =
            (0..index.len() as u32).into_par_iter().map(|file| FileDefinitions::new(index, file)).collect();
        let mut all = Self::default();
        let (mut containers, mut is_type) = (Vec::new(), Vec::new());
        for file in files {
            let start = all.parents.len() as u32;
            all.starts.push(start);
            all.parents.extend(file.parents.iter().map(|&parent| if parent == NONE { NONE } else { start + parent }));
            all.outer.extend(file.outer);
            all.names.extend(file.names);
            containers.extend(file.containers);
            is_type.extend(file.is_type);
            for (at, bases) in file.bases {
                for &base in &bases {
                    all.subtypes.entry(base).or_default().push(start + at);
                }
                all.bases.insert(start + at, bases);
            }
        }
        all.starts.push(all.parents.len() as u32);
        all.group_by_name(index.names());
        all.owners = all.owners(&containers, &is_type);
        all
    }

    /// The owners, given the name of the container of each definition and whether it is a type. A type in the same file comes first.
    fn owners(&self, containers: &[u32], is_type: &[bool]) -> Vec<u32> {
        let mut types: HashMap<u32, Vec<u32>> = HashMap::new();
        for (definition, &name) in (0u32..).zip(&self.names).filter(|(definition, _)| is_type[*definition as usize]) {
            types.entry(name).or_default().push(definition);
        }
        let of_file = |file: usize| {
            let (range, types) = (self.of_file(file as u32), &types);
            range.clone().map(move |definition| {
                let parent = self.parents[definition as usize];
                if parent != NONE && is_type[parent as usize] {
                    return parent;
                }
                let named = types.get(&containers[definition as usize]).map_or(&[][..], Vec::as_slice);
                let here = named.get(named.partition_point(|owner| *owner < range.start));
                let elsewhere = named.first().filter(|_| named.len() <= MAX_OWNERS);
                here.filter(|owner| range.contains(owner)).or(elsewhere).copied().unwrap_or(NONE)
            })
        };
        (0..self.starts.len() - 1).flat_map(of_file).collect()
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
    pub(crate) fn type_of(&self, definition: u32) -> Option<u32> {
        self.owners.get(definition as usize).copied().filter(|owner| *owner != NONE)
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

/// Whether a kind is a value, a module, or a part of a document or of data.
pub fn is_value(kind: SymbolKind) -> bool {
    use SymbolKind::{Constant, Field, Key, Module, Section, Selector, Variable};
    matches!(kind, Constant | Field | Key | Module | Section | Selector | Variable)
}

/// Whether a definition is a test among other code, by the usual names.
pub(crate) fn is_test(name: &str, container: Option<&str>) -> bool {
    let holds_tests = |name: &str| matches!(name, "tests" | "test");
    holds_tests(name) || container.is_some_and(holds_tests) || name.starts_with("test_")
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
        assert_eq!(all.type_of(at("moor")), Some(at("Boat")));
        let hull = index.name_number("Hull").unwrap();
        assert_eq!(all.subtypes(hull), [at("Boat")]);
        assert_eq!(all.location(all.of_name(hull)[0]), (1, 0));
        assert!(all.bases(at("Boat")).contains(&hull));
    }

    #[test]
    fn definitions_on_one_line_are_nested_only_in_their_container() {
        let text = "function a() {} function b() {}\nclass Boat { moor() {} row() {} }\nfunction outer() {\n} function last() {}\n";
        let index = index(&[("a.js", text)]);
        let all = Definitions::new(&index);
        let name = |at: u32| index.definition(0, at).unwrap().name();
        let parents: Vec<_> = all.of_file(0).map(|at| (name(at), all.parent(at).map(name))).collect();
        let in_boat = Some("Boat");
        assert_eq!(
            parents,
            [
                ("a", None),
                ("b", None),
                ("Boat", None),
                ("moor", in_boat),
                ("row", in_boat),
                ("outer", None),
                ("last", None)
            ]
        );
    }

    #[test]
    fn a_container_means_a_type_of_its_file_or_one_of_few() {
        let member = "impl Boat {\n    fn moor(&self) {}\n}\n";
        let own = format!("struct Boat;\n{member}");
        let files = [
            ("a.rs", member),
            ("b.rs", "struct Boat;\n"),
            ("c.rs", own.as_str()),
            ("d.rs", "struct Boat;\n"),
            ("e.rs", "struct Boat;\n"),
        ];
        let owner = |files: &[(&str, &str)], file: u32| {
            let index = index(files);
            let all = Definitions::new(&index);
            let moor = all
                .of_file(file)
                .find(|&at| index.definition(file, all.location(at).1).unwrap().name() == "moor")
                .unwrap();
            all.type_of(moor).map(|owner| all.location(owner).0)
        };
        assert_eq!((owner(&files, 0), owner(&files, 2)), (None, Some(2)));
        assert_eq!(owner(&files[..3], 0), Some(1));
    }

    #[test]
    fn a_member_of_an_impl_block_belongs_to_its_type() {
        let index = index(&[("a.rs", "pub struct Boat;\n\nimpl Boat {\n    fn moor(&self) {}\n}\n")]);
        let all = Definitions::new(&index);
        let moor = all.of_file(0).find(|&at| index.definition(0, at).unwrap().name() == "moor").unwrap();
        let owner = all.type_of(moor).unwrap();
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
