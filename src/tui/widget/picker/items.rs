//! What a picker lists: texts, or the definitions of the repository, which become texts only where somebody looks.

use std::fmt::Write as _;
use std::sync::Arc;

use rhumb_index::repo_map::{RepoMap, TagGraph};

/// The items of a picker. Copies share them.
#[derive(Debug, Clone)]
pub enum Items {
    /// Texts.
    Texts(Arc<Vec<String>>),
    /// Definitions.
    Symbols(Arc<Symbols>),
}

/// Every definition of the repository: the files in the order of the map, the definitions of a file by line.
#[derive(Debug)]
pub struct Symbols {
    graph: Arc<TagGraph>,
    /// File and place among its definitions.
    places: Vec<(u32, u32)>,
}

/// One definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolItem<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is: `function`.
    pub kind: &'static str,
    /// The file.
    pub path: &'a str,
    /// 1-based.
    pub line: usize,
}

impl Symbols {
    /// The definitions of a repository, with the map that ranks its files, where there is one.
    pub fn new(graph: Arc<TagGraph>, map: Option<&RepoMap>) -> Self {
        let index = Arc::clone(graph.index());
        let mut files: Vec<u32> = (0..u32::try_from(index.len()).unwrap_or(u32::MAX)).collect();
        if let Some(map) = map {
            let ranks = map.ranks(index.files(), |file| &file.path);
            files.sort_by_key(|file| ranks.get(*file as usize).copied().unwrap_or(u32::MAX));
        }
        let of = |file: u32| {
            let count = index.record(file).map_or(0, |record| record.definitions().len());
            (0..u32::try_from(count).unwrap_or(0)).map(move |at| (file, at))
        };
        Self { places: files.into_iter().flat_map(of).collect(), graph }
    }

    /// One of them.
    pub fn get(&self, at: usize) -> Option<SymbolItem<'_>> {
        let &(file, place) = self.places.get(at)?;
        let index = self.graph.index();
        let entry = index.definition(file, place)?;
        let (kind, line) = (entry.kind().as_str(), entry.line() as usize);
        Some(SymbolItem { name: entry.name(), kind, path: index.path(file), line })
    }
}

impl Items {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.len(),
            Self::Symbols(symbols) => symbols.places.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What an item is matched by, put into `room` if it is made for the moment; empty for one that is none.
    pub fn text<'a>(&'a self, at: usize, room: &'a mut String) -> &'a str {
        match self {
            Self::Texts(texts) => texts.get(at).map_or("", String::as_str),
            Self::Symbols(symbols) => {
                room.clear();
                if let Some(item) = symbols.get(at) {
                    let _ = write!(room, "{}  {}:{}", item.name, item.path, item.line);
                }
                room
            }
        }
    }

    /// What stands at the right of an item by itself.
    pub fn detail(&self, at: usize) -> &str {
        match self {
            Self::Texts(_) => "",
            Self::Symbols(symbols) => symbols.get(at).map_or("", |item| item.kind),
        }
    }
}
