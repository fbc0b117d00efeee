//! Writing the chosen symbols as text: files in path order, symbols in line order, and a mark where some are left out.

use super::outline::Outline;
use super::request::{MapFile, MapStyle};
use crate::syntax::tag::{Definition, SymbolKind};

/// Widest line of a symbol, in characters. Paths are never cut: they must stay usable.
const WIDEST: usize = 100;
/// Deepest nesting that is indented.
const DEEPEST: usize = 8;
/// The mark for symbols left out.
const GAP: &str = "⋮";

/// A choice for the map: a file as a bare path, or one of its definitions (by index in its tags).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) file: u32,
    pub(crate) definition: Option<u32>,
}

/// Writes choices in one style. Outlines of files are made when first needed and kept.
pub(crate) struct Writer<'r, 'a> {
    files: &'r [&'a MapFile],
    style: MapStyle,
    outlines: Vec<Option<Outline>>,
}

impl<'r, 'a> Writer<'r, 'a> {
    pub(crate) fn new(files: &'r [&'a MapFile], style: MapStyle) -> Self {
        Self { files, style, outlines: files.iter().map(|_| None).collect() }
    }

    /// The text of `choices`, which may be in any order and repeat themselves.
    pub(crate) fn text(&mut self, choices: &[Choice]) -> String {
        let mut placed: Vec<(u32, Option<u32>)> = Vec::with_capacity(choices.len());
        for choice in choices {
            placed.push((choice.file, choice.definition.and_then(|index| self.position(choice.file, index))));
        }
        placed.sort_unstable();
        placed.dedup();
        let mut text = String::new();
        for group in placed.chunk_by(|a, b| a.0 == b.0) {
            let file = group[0].0 as usize;
            let positions: Vec<u32> = group.iter().filter_map(|(_, position)| *position).collect();
            push_clean(&mut text, &self.files[file].path, usize::MAX);
            text.push_str(if positions.is_empty() { "\n" } else { ":\n" });
            if let Some(outline) = self.outlines[file].as_ref().filter(|_| !positions.is_empty()) {
                let definitions = &self.files[file].tags.definitions;
                match self.style {
                    MapStyle::Tree => Tree { definitions, outline, text: &mut text }.write(positions),
                    MapStyle::Outline => write_by_kind(&mut text, definitions, outline, &positions),
                }
            }
        }
        text
    }

    fn position(&mut self, file: u32, definition: u32) -> Option<u32> {
        let tags = &self.files.get(file as usize)?.tags;
        let outline = self.outlines.get_mut(file as usize)?.get_or_insert_with(|| Outline::new(tags));
        outline.position.get(definition as usize).copied()
    }
}

/// One file in the tree style.
struct Tree<'t> {
    definitions: &'t [Definition],
    outline: &'t Outline,
    text: &'t mut String,
}

impl<'t> Tree<'t> {
    fn write(&mut self, mut positions: Vec<u32>) {
        self.add_containers(&mut positions);
        let mut before: Option<u32> = None;
        let mut open: Option<&str> = None;
        for &position in &positions {
            let definition = self.at(position);
            let stray =
                if self.outline.parent[position as usize].is_none() { definition.container.as_deref() } else { None };
            let depth = self.outline.depth[position as usize] as usize + usize::from(stray.is_some());
            if before.is_some_and(|before| position > before + 1) {
                let gap_depth = if stray.is_some() && stray != open { 0 } else { depth };
                self.line(gap_depth, GAP);
            }
            match stray {
                Some(container) if open != Some(container) => {
                    self.line(0, container);
                    open = Some(container);
                }
                None if depth == 0 => open = Some(definition.name.as_str()),
                _ => {}
            }
            self.line(depth, header(definition));
            before = Some(position);
        }
    }

    /// A symbol is shown below its containers, chosen or not.
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

    fn at(&self, position: u32) -> &'t Definition {
        &self.definitions[self.outline.order[position as usize] as usize]
    }

    fn line(&mut self, depth: usize, content: &str) {
        push_line(self.text, 1 + depth, content);
    }
}

/// One file in the outline style: kinds in a fixed order, members after the name of their container.
fn write_by_kind(text: &mut String, definitions: &[Definition], outline: &Outline, positions: &[u32]) {
    let mut by_kind: Vec<(SymbolKind, &Definition)> = positions
        .iter()
        .map(|&position| &definitions[outline.order[position as usize] as usize])
        .map(|definition| (definition.kind, definition))
        .collect();
    by_kind.sort_by_key(|(kind, _)| *kind);
    for group in by_kind.chunk_by(|a, b| a.0 == b.0) {
        push_line(text, 1, group[0].0.as_str());
        for (_, definition) in group {
            match &definition.container {
                Some(container) => push_line(text, 2, &format!("{container}: {}", header(definition))),
                None => push_line(text, 2, header(definition)),
            }
        }
    }
}

/// What a definition shows: its signature, or its name where it has none.
fn header(definition: &Definition) -> &str {
    let signature = definition.signature.trim();
    if signature.is_empty() { &definition.name } else { signature }
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
