//! Renders the chosen entries: files by folder in path order, lines of definitions in source order below their containers, and names
//! without a line.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rhumb_syntax::SymbolKind;

use super::index::{IndexedDefinition, MapIndex};
use super::path;
use super::request::MapStyle;

/// Maximum length of the line of a symbol, in characters. Paths are never cut, since they must stay usable.
const MAX_LINE_CHARS: usize = 80;
/// Maximum depth of indentation.
const MAX_INDENTED_DEPTH: usize = 8;
/// Prefix of the names without a line, below a file with lines.
const REST: &str = "⋮ ";

/// How much of a definition is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SymbolDetail {
    /// Its name, in a list of names.
    Name,
    /// A separate line.
    Line,
}

/// An entry of the map: the path of a file, or one of its definitions (by index).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MapEntry {
    pub(crate) file: u32,
    pub(crate) definition: Option<u32>,
    /// Has no meaning for a path.
    pub(crate) detail: SymbolDetail,
}

/// The chosen definitions of a file (by index), in any order. For repeated ones the higher detail counts.
pub(crate) type Chosen = Vec<(u32, SymbolDetail)>;

/// The files of a folder with their chosen definitions.
pub(crate) type FolderEntries = BTreeMap<u32, Chosen>;

/// Renders folders in one style. Each folder is independent of the others.
pub(crate) struct MapWriter<'r> {
    index: &'r MapIndex,
    style: MapStyle,
    /// By file, created at the first use.
    writers: HashMap<u32, FileWriter<'r>>,
}

impl<'r> MapWriter<'r> {
    pub(crate) fn new(index: &'r MapIndex, style: MapStyle) -> Self {
        Self { index, style, writers: HashMap::new() }
    }

    /// The folder of a file, without a final slash.
    pub(crate) fn folder(&self, file: u32) -> &'r str {
        self.index.path(file).rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Renders a folder. First the files without lines, below the name of the folder if there are several; then the files with lines,
    /// each with its whole path.
    pub(crate) fn page(&mut self, files: &FolderEntries) -> String {
        let together = self.is_together(files.iter().map(|(&file, chosen)| (file, chosen)));
        let mut text = String::new();
        if let Some(&first) = files.keys().next().filter(|_| together) {
            text.push_str(&self.heading(first));
        }
        for (&file, chosen) in files.iter().filter(|(_, chosen)| !has_lines(chosen)) {
            text.push_str(&self.part(file, chosen, together));
        }
        for (&file, chosen) in files.iter().filter(|(_, chosen)| has_lines(chosen)) {
            text.push_str(&self.part(file, chosen, together));
        }
        text
    }

    /// Whether the files without lines are listed below the name of their folder.
    pub(crate) fn is_together<'c>(&self, mut files: impl Iterator<Item = (u32, &'c Chosen)>) -> bool {
        let mut short = files.by_ref().filter(|(_, chosen)| !has_lines(chosen));
        let first = short.next();
        self.style == MapStyle::Tree
            && first.is_some_and(|(file, _)| !self.folder(file).is_empty())
            && short.next().is_some()
    }

    /// The name of the folder of a file, as a heading.
    pub(crate) fn heading(&self, file: u32) -> String {
        let mut text = String::new();
        push_clean(&mut text, self.folder(file), usize::MAX);
        text.push_str("/\n");
        text
    }

    /// Renders a file.
    pub(crate) fn part(&mut self, file: u32, chosen: &Chosen, together: bool) -> String {
        let (mut text, path) = (String::new(), self.index.path(file));
        let below = together && !has_lines(chosen);
        text.push_str(if below { "  " } else { "" });
        self.write_file(&mut text, if below { path::file_name(path) } else { path }, file, chosen);
        text
    }

    fn write_file(&mut self, text: &mut String, shown: &str, file: u32, chosen: &[(u32, SymbolDetail)]) {
        push_clean(text, shown, usize::MAX);
        if chosen.is_empty() {
            text.push('\n');
            return;
        }
        let writer = self.writers.entry(file).or_insert_with(|| FileWriter::new(self.index, file));
        let mut by_line: Vec<(u32, SymbolDetail)> =
            chosen.iter().filter_map(|&(index, detail)| Some((writer.position(index)?, detail))).collect();
        by_line.sort_unstable();
        let (mut lines, mut names) = (Vec::new(), Vec::new());
        for same in by_line.chunk_by(|a, b| a.0 == b.0) {
            // Sorted by detail within a position, so the last is the highest.
            match same[same.len() - 1] {
                (position, SymbolDetail::Line) => lines.push(position),
                (position, SymbolDetail::Name) => names.push(position),
            }
        }
        match self.style {
            MapStyle::Tree => writer.write_tree(text, lines, &names),
            MapStyle::Outline => writer.write_by_kind(text, &lines, &names),
        }
    }
}

/// Whether a definition is chosen with a line.
fn has_lines(chosen: &Chosen) -> bool {
    chosen.iter().any(|choice| choice.1 == SymbolDetail::Line)
}

/// The definitions of a file in source order.
struct FileWriter<'t> {
    definitions: Vec<IndexedDefinition<'t>>,
    outline: DefinitionTree,
}

impl<'t> FileWriter<'t> {
    fn new(index: &'t MapIndex, file: u32) -> Self {
        let definitions: Vec<IndexedDefinition<'t>> = index.definitions(file).collect();
        Self { outline: DefinitionTree::new(&definitions), definitions }
    }

    fn position(&self, definition: u32) -> Option<u32> {
        self.outline.position.get(definition as usize).copied()
    }

    /// Lines below their containers, then the names without a line. If there are only names, they follow the path.
    fn write_tree(&self, text: &mut String, mut lines: Vec<u32>, names: &[u32]) {
        self.add_containers(&mut lines);
        if lines.is_empty() {
            self.write_names(text, ":", names, &lines);
            return;
        }
        text.push_str(":\n");
        let mut open: Option<&str> = None;
        for &position in &lines {
            let entry = self.at(position);
            // The type of a method may be defined elsewhere, or not at all.
            let top = self.outline.parent[position as usize].is_none();
            let outside = entry.container().filter(|_| top);
            match outside {
                Some(container) if open != Some(container) => {
                    push_line(text, 1, container);
                    open = Some(container);
                }
                None if top => open = Some(entry.name()),
                _ => {}
            }
            let depth = self.outline.depth[position as usize] as usize + usize::from(outside.is_some());
            push_line(text, 1 + depth, self.header(position));
        }
        self.write_names(text, REST, names, &lines);
    }

    /// Kinds in a fixed order, members after the name of their container.
    fn write_by_kind(&self, text: &mut String, lines: &[u32], names: &[u32]) {
        text.push_str(if lines.is_empty() && names.is_empty() { "\n" } else { ":\n" });
        let kind = |position: &u32| self.at(*position).kind();
        let kinds: BTreeSet<SymbolKind> = lines.iter().chain(names).map(kind).collect();
        for each in kinds {
            text.push_str("  ");
            text.push_str(each.as_str());
            let of_kind = |positions: &[u32]| -> Vec<u32> {
                positions.iter().copied().filter(|position| kind(position) == each).collect()
            };
            self.write_names(text, ":", &of_kind(names), lines);
            for position in of_kind(lines) {
                match self.at(position).container() {
                    Some(container) => push_line(text, 2, &format!("{container}: {}", self.header(position))),
                    None => push_line(text, 2, self.header(position)),
                }
            }
        }
    }

    /// Ends a line with `before` and each name that no line has shown, without duplicates.
    fn write_names(&self, text: &mut String, before: &str, names: &[u32], lines: &[u32]) {
        let shown: BTreeSet<&str> = lines.iter().map(|&position| self.at(position).name()).collect();
        let mut written: BTreeSet<&str> = BTreeSet::new();
        let fresh = names.iter().map(|&position| self.at(position).name());
        let fresh: Vec<&str> = fresh.filter(|name| !shown.contains(name) && written.insert(name)).collect();
        let own_line = before == REST;
        if !fresh.is_empty() {
            text.push_str(if own_line { "  " } else { "" });
            text.push_str(before.trim_end());
            for name in &fresh {
                text.push(' ');
                push_clean(text, name, MAX_LINE_CHARS);
            }
        }
        if !(own_line && fresh.is_empty()) {
            text.push('\n');
        }
    }

    /// Adds the containers of the chosen lines.
    fn add_containers(&self, positions: &mut Vec<u32>) {
        let mut containers: Vec<u32> = Vec::new();
        for &position in positions.iter() {
            let mut at = self.outline.parent[position as usize];
            while let Some(parent) = at {
                if containers.last() == Some(&parent) {
                    break;
                }
                containers.push(parent);
                at = self.outline.parent[parent as usize];
            }
        }
        positions.append(&mut containers);
        positions.sort_unstable();
        positions.dedup();
    }

    fn at(&self, position: u32) -> IndexedDefinition<'t> {
        self.definitions[self.outline.order[position as usize] as usize]
    }

    fn header(&self, position: u32) -> &'t str {
        self.at(position).header()
    }
}

/// Appends the line of a symbol at an indentation level.
fn push_line(text: &mut String, level: usize, content: &str) {
    let indent = 2 * level.min(MAX_INDENTED_DEPTH);
    text.extend(std::iter::repeat_n(' ', indent));
    push_clean(text, content, MAX_LINE_CHARS - indent);
    text.push('\n');
}

/// Appends `content`, with control characters as spaces, cut with a `…` to `widest` characters.
fn push_clean(text: &mut String, content: &str, widest: usize) {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    match content.char_indices().nth(widest) {
        None => text.extend(content.chars().map(clean)),
        Some(_) => {
            text.extend(content.chars().take(widest.saturating_sub(1)).map(clean));
            text.push('…');
        }
    }
}

/// Maximum number of open definitions that are searched for a container, which would otherwise take quadratic time.
const MAX_SEARCHED: usize = 32;

/// The order and nesting of a file's definitions. Positions are indices in line order.
#[derive(Debug)]
pub(crate) struct DefinitionTree {
    /// The index (in the tags) of the definition at each position.
    pub(crate) order: Vec<u32>,
    /// Position of each definition, by index.
    pub(crate) position: Vec<u32>,
    /// Position of the containing definition, by position.
    pub(crate) parent: Vec<Option<u32>>,
    /// Number of containing definitions, by position.
    pub(crate) depth: Vec<u16>,
}

impl DefinitionTree {
    /// Sorts and nests the definitions of a file. The container is the innermost definition around the line that has the container's
    /// name. A method outside of the lines of its type has no container here.
    pub(crate) fn new(definitions: &[IndexedDefinition<'_>]) -> Self {
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
                open.iter().rev().take(MAX_SEARCHED).copied().find(|&candidate| at_position(candidate).name() == name)
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
    use rhumb_syntax::{Definition, FileTags, SymbolKind};

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
    fn a_definition_is_below_its_container() {
        let definitions = vec![
            definition("inner", 3, 4, Some("Outer")),
            definition("Outer", 1, 9, None),
            definition("deep", 4, 4, Some("inner")),
            definition("outside", 20, 21, Some("Outer")),
        ];
        let tags = FileTags { definitions, ..FileTags::default() }.into();
        let index = MapIndex::of(&[MapFile { tags, ..MapFile::default() }]);
        let outline = DefinitionTree::new(&index.definitions(0).collect::<Vec<_>>());
        assert_eq!(outline.order, [1, 0, 2, 3]);
        assert_eq!(outline.parent, [None, Some(0), Some(1), None]);
        assert_eq!(outline.depth, [0, 1, 2, 0]);
    }
}
