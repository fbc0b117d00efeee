//! Writing the chosen symbols as text: files by folder in path order, the lines of definitions in source order below their
//! containers, and names alone where there was no room for a line.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::index::{Entry, MapIndex};
use super::outline::Outline;
use super::path;
use super::request::MapStyle;
use rhumb_syntax::tag::SymbolKind;

/// Widest line of a symbol, in characters. Paths are never cut: they must stay usable.
const WIDEST: usize = 80;
/// Deepest nesting that is indented.
const DEEPEST: usize = 8;
/// Comes before the names that have no line below a file that has lines.
const REST: &str = "⋮ ";

/// How much of a definition is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// Its name, beside others.
    Name,
    /// A line of its own.
    Line,
}

/// A choice for the map: a file as a bare path, or one of its definitions (by index).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) file: u32,
    pub(crate) definition: Option<u32>,
    /// Means nothing for a bare path.
    pub(crate) tier: Tier,
}

/// What is chosen of a file: definitions (by index), in any order and perhaps repeated, the highest tier of each counting.
pub(crate) type Chosen = Vec<(u32, Tier)>;

/// The files of one folder with what is chosen of each.
pub(crate) type Page = BTreeMap<u32, Chosen>;

/// Writes folders in one style. Each folder is a page of its own: what another shows changes nothing of it.
pub(crate) struct Writer<'r> {
    index: &'r MapIndex,
    style: MapStyle,
    /// Made when first needed.
    sheets: HashMap<u32, Sheet<'r>>,
}

impl<'r> Writer<'r> {
    pub(crate) fn new(index: &'r MapIndex, style: MapStyle) -> Self {
        Self { index, style, sheets: HashMap::new() }
    }

    /// The folder of a file, without a slash at its end.
    pub(crate) fn folder(&self, file: u32) -> &'r str {
        self.index.path(file).rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The files of one folder: those without lines below its name, where there are several, so that it is said once; then
    /// those with lines, each below its whole path.
    pub(crate) fn page(&mut self, files: &Page) -> String {
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

    /// Whether the files of a folder that have no lines stand below its name.
    pub(crate) fn is_together<'c>(&self, mut files: impl Iterator<Item = (u32, &'c Chosen)>) -> bool {
        let mut short = files.by_ref().filter(|(_, chosen)| !has_lines(chosen));
        let first = short.next();
        self.style == MapStyle::Tree
            && first.is_some_and(|(file, _)| !self.folder(file).is_empty())
            && short.next().is_some()
    }

    /// The name of the folder of a file, above its files.
    pub(crate) fn heading(&self, file: u32) -> String {
        let mut text = String::new();
        push_clean(&mut text, self.folder(file), usize::MAX);
        text.push_str("/\n");
        text
    }

    /// One file of a page.
    pub(crate) fn part(&mut self, file: u32, chosen: &Chosen, together: bool) -> String {
        let (mut text, path) = (String::new(), self.index.path(file));
        let below = together && !has_lines(chosen);
        text.push_str(if below { "  " } else { "" });
        self.write_file(&mut text, if below { path::file_name(path) } else { path }, file, chosen);
        text
    }

    fn write_file(&mut self, text: &mut String, shown: &str, file: u32, chosen: &[(u32, Tier)]) {
        push_clean(text, shown, usize::MAX);
        if chosen.is_empty() {
            text.push('\n');
            return;
        }
        let sheet = self.sheets.entry(file).or_insert_with(|| Sheet::new(self.index, file));
        let mut placed: Vec<(u32, Tier)> =
            chosen.iter().filter_map(|&(index, tier)| Some((sheet.position(index)?, tier))).collect();
        placed.sort_unstable();
        let (mut lines, mut names) = (Vec::new(), Vec::new());
        for same in placed.chunk_by(|a, b| a.0 == b.0) {
            // Sorted by tier within a position, so the last is the highest.
            match same[same.len() - 1] {
                (position, Tier::Line) => lines.push(position),
                (position, Tier::Name) => names.push(position),
            }
        }
        match self.style {
            MapStyle::Tree => sheet.write_tree(text, lines, &names),
            MapStyle::Outline => sheet.write_by_kind(text, &lines, &names),
        }
    }
}

/// Whether a line of a definition is chosen.
fn has_lines(chosen: &Chosen) -> bool {
    chosen.iter().any(|choice| choice.1 == Tier::Line)
}

/// One file with its definitions in source order.
struct Sheet<'t> {
    definitions: Vec<Entry<'t>>,
    outline: Outline,
}

impl<'t> Sheet<'t> {
    fn new(index: &'t MapIndex, file: u32) -> Self {
        let definitions: Vec<Entry<'t>> = index.definitions(file).collect();
        Self { outline: Outline::new(&definitions), definitions }
    }

    fn position(&self, definition: u32) -> Option<u32> {
        self.outline.position.get(definition as usize).copied()
    }

    /// Lines below their containers, then the names that have none. Names alone stand behind the path.
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
            // The type of a method may stand in another place, or have no definition of its own.
            let top = self.outline.parent[position as usize].is_none();
            let stray = entry.container().filter(|_| top);
            match stray {
                Some(container) if open != Some(container) => {
                    push_line(text, 1, container);
                    open = Some(container);
                }
                None if top => open = Some(entry.name()),
                _ => {}
            }
            let depth = self.outline.depth[position as usize] as usize + usize::from(stray.is_some());
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

    /// Ends a line with `before` and each of the names that no line has shown, once.
    fn write_names(&self, text: &mut String, before: &str, names: &[u32], lines: &[u32]) {
        let shown: BTreeSet<&str> = lines.iter().map(|&position| self.at(position).name()).collect();
        let mut said: BTreeSet<&str> = BTreeSet::new();
        let fresh = names.iter().map(|&position| self.at(position).name());
        let fresh: Vec<&str> = fresh.filter(|name| !shown.contains(name) && said.insert(name)).collect();
        let own_line = before == REST;
        if !fresh.is_empty() {
            text.push_str(if own_line { "  " } else { "" });
            text.push_str(before.trim_end());
            for name in &fresh {
                text.push(' ');
                push_clean(text, name, WIDEST);
            }
        }
        if !(own_line && fresh.is_empty()) {
            text.push('\n');
        }
    }

    /// A line is shown below its containers, chosen or not.
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

    fn at(&self, position: u32) -> Entry<'t> {
        self.definitions[self.outline.order[position as usize] as usize]
    }

    fn header(&self, position: u32) -> &'t str {
        self.at(position).header()
    }
}

/// One line of a symbol, `level` steps in.
fn push_line(text: &mut String, level: usize, content: &str) {
    let indent = 2 * level.min(DEEPEST);
    text.extend(std::iter::repeat_n(' ', indent));
    push_clean(text, content, WIDEST - indent);
    text.push('\n');
}

/// Appends `content` as part of one line, control characters as spaces, cut with a `…` to `widest` characters.
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
