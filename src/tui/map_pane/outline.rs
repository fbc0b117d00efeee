//! The map's text as the model gets it, in colours, with the file and the symbol of each line.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use ratatui::text::{Line, Span};
use rhumb_index::repo_map::RepoMap;
use rhumb_text::width;

use crate::tui::app::App;
use crate::tui::coloring::{Coloring, Language, colored};
use crate::tui::theme::Role;
use crate::tui::widget::list_window::ListWindow;
use crate::tui::widget::styled::StyledText;

/// Longest part of a line that is drawn, in bytes. A line may list many names after its path.
const MAX_LINE_BYTES: usize = 4_000;

/// The text of a map by lines.
#[derive(Debug, Default)]
pub struct MapText {
    map: Option<Arc<RepoMap>>,
    lines: Vec<TextLine>,
    pub window: ListWindow,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TextLine {
    bytes: Range<usize>,
    /// The index of the file. `None` for the name of a folder.
    place: Option<usize>,
    /// The length of the path at its beginning in bytes; 0 for the line of a symbol.
    named: usize,
    /// The bytes of the adjacent symbol lines, which are coloured together.
    block: Range<usize>,
}

impl MapText {
    pub fn new(map: Option<&Arc<RepoMap>>) -> Self {
        let mut text = Self::default();
        text.set_map(map);
        text
    }

    /// Replaces the map. The cursor stays on its line.
    pub fn set_map(&mut self, map: Option<&Arc<RepoMap>>) {
        self.map = map.map(Arc::clone);
        self.lines = map.map(|map| lines(map)).unwrap_or_default();
        self.window.set_len(self.lines.len());
    }

    /// The file and the symbol of the line under the cursor.
    pub fn target(&self) -> Option<(usize, Option<usize>)> {
        let line = self.lines.get(self.window.selected()?)?;
        let (map, place) = (self.map.as_ref()?, line.place?);
        if line.named > 0 {
            return Some((place, None));
        }
        let text = map.text.get(line.bytes.clone()).unwrap_or_default();
        // The line may be cut and shows the header instead of the signature, but both contain the name. Among several symbols of
        // that name, the position decides.
        let before = self.lines.get(..self.window.selected()?).unwrap_or_default().iter().rev();
        let before = before.take_while(|other| other.place == line.place && other.named == 0);
        let mut found: Vec<usize> = (0..map.symbols(place).len()).collect();
        found.retain(|at| map.symbols(place).get(*at).is_some_and(|symbol| has_word(text, &symbol.name)));
        found.sort_by_key(|at| map.symbols(place).get(*at).map(|symbol| (!symbol.shown, symbol.line)));
        let longest = found.iter().filter_map(|at| map.symbols(place).get(*at)).map(|symbol| symbol.name.len()).max();
        found.retain(|at| map.symbols(place).get(*at).map(|symbol| symbol.name.len()) == longest);
        let same = |other: &&TextLine| map.text.get(other.bytes.clone()) == Some(text);
        let nth = before.filter(same).count();
        Some((place, found.get(nth).or(found.last()).copied()))
    }

    pub fn select(&mut self, place: usize) {
        if let Some(at) = self.lines.iter().position(|line| line.place == Some(place)) {
            self.window.select(at);
        }
    }

    pub fn line(&self, at: usize, columns: usize, app: &App, coloring: &mut Coloring) -> Option<Line<'static>> {
        let (line, map) = (self.lines.get(at)?, self.map.as_ref()?);
        let text = map.text.get(line.bytes.clone())?;
        let text = text.get(..text.floor_char_boundary(MAX_LINE_BYTES)).unwrap_or(text);
        let theme = app.theme();
        let mut styled = StyledText::new();
        if line.named > 0 {
            let (name, rest) = text.split_at_checked(line.named).unwrap_or((text, ""));
            let role = if line.place.is_some() { Role::DiffHeader } else { Role::Muted };
            styled.push(name, theme.style(role));
            styled.push(rest, theme.style(Role::Muted));
        } else {
            let path = map.files.get(line.place?).map(|file| Arc::clone(&file.path))?;
            let block = map.text.get(line.block.clone())?;
            let number = block.get(..line.bytes.start.saturating_sub(line.block.start))?.matches('\n').count();
            let colors = coloring.get(Language::Path(&path), block);
            let spans = colors.as_ref().and_then(|colors| colors.get(number)).map_or(&[][..], Vec::as_slice);
            styled = colored(text, spans, theme);
        }
        Some(cut(&styled, columns, theme.style(Role::Muted)))
    }
}

/// The first line of a styled text, with a mark if it is cut.
pub fn cut(text: &StyledText, columns: usize, mark: ratatui::style::Style) -> Line<'static> {
    if text.columns() <= columns {
        return Line::from(text.spans(0..text.text().len()));
    }
    let mut line = text.hard_wrap(columns.saturating_sub(1).max(1)).into_iter().next().unwrap_or_default();
    line.push_span(Span::styled(width::ELLIPSIS, mark));
    line
}

/// Whether a text contains a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text.get(..at).and_then(|before| before.chars().next_back());
            let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
}

/// The lines of a map's text, each with its file.
fn lines(map: &RepoMap) -> Vec<TextLine> {
    let shown = map.files.iter().enumerate().filter(|(_, file)| file.shown);
    let places: HashMap<&str, usize> = shown.map(|(place, file)| (&*file.path, place)).collect();
    let mut lines: Vec<TextLine> = Vec::new();
    let (mut at, mut folder, mut current) = (0, None, None);
    for whole in map.text.split_inclusive('\n') {
        let text = whole.trim_end_matches('\n');
        let bytes = at..at + text.len();
        at += whole.len();
        let inner = text.strip_prefix("  ").unwrap_or(text);
        let indent = text.len() - inner.len();
        let below = folder.filter(|_| indent > 0).map(|folder: &str| format!("{folder}{inner}"));
        let named = match &below {
            Some(path) => {
                named(path, &places).map(|(place, length)| (place, length + indent - (path.len() - inner.len())))
            }
            None => named(text, &places),
        };
        let (place, named) = match named {
            Some((place, length)) => (Some(place), length),
            None if indent == 0 && text.ends_with('/') => (None, text.len()),
            None => (current, 0),
        };
        if indent == 0 {
            folder = (place.is_none()).then_some(text);
        }
        current = place;
        lines.push(TextLine { block: bytes.clone(), bytes, place, named });
    }
    join_blocks(&mut lines);
    lines
}

/// The file whose path begins a line, and the length of the path.
fn named(line: &str, places: &HashMap<&str, usize>) -> Option<(usize, usize)> {
    let ends = line.match_indices(':').map(|(at, _)| at).chain([line.len()]);
    ends.filter_map(|end| Some((*places.get(line.get(..end)?)?, end))).next()
}

/// Sets `block` of adjacent symbol lines to the bytes of all of them.
fn join_blocks(lines: &mut [TextLine]) {
    for block in lines.chunk_by_mut(|a, b| a.named == 0 && b.named == 0) {
        let Some((first, last)) = block.first().zip(block.last()).filter(|(first, _)| first.named == 0) else {
            continue;
        };
        let bytes = first.bytes.start..last.bytes.end;
        block.iter_mut().for_each(|line| line.block = bytes.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_index::repo_map::{MapFile, MapRequest};
    use rhumb_syntax::{Definition, FileTags, SymbolKind};
    use rhumb_tokens::counter_for_model;

    fn file(path: &str, names: &[&str]) -> MapFile {
        let definition = |(at, name): (usize, &&str)| Definition {
            name: (*name).into(),
            kind: SymbolKind::Function,
            line: at as u32 + 1,
            end_line: at as u32 + 9,
            signature: format!("fn {name}(ship: Ship)"),
            container: None,
            doc: String::new(),
        };
        let definitions = names.iter().enumerate().map(definition).collect();
        MapFile {
            path: path.into(),
            tags: Arc::new(FileTags { definitions, ..Default::default() }),
            digest: Arc::default(),
        }
    }

    fn map(budget: usize) -> Arc<RepoMap> {
        let files = [
            file("src/berth.rs", &["moor", "moor_all", "leave"]),
            file("src/empty.rs", &[]),
            file("src/void.rs", &[]),
            file("README.md", &[]),
        ];
        let request = MapRequest { budget, ..MapRequest::default() };
        Arc::new(RepoMap::build(&files, &request, counter_for_model("gpt-4").as_ref()))
    }

    fn told(text: &MapText, map: &RepoMap) -> Vec<String> {
        let mut text = MapText { map: text.map.clone(), lines: text.lines.clone(), window: text.window };
        (0..text.lines.len())
            .map(|at| {
                text.window.select(at);
                match text.target() {
                    None => "folder".into(),
                    Some((place, None)) => map.files[place].path.to_string(),
                    Some((place, Some(symbol))) => map.symbols(place)[symbol].name.clone(),
                }
            })
            .collect()
    }

    #[test]
    fn each_line_knows_what_it_tells_of() {
        let map = map(1_000);
        let text = MapText::new(Some(&map));
        let told = told(&text, &map);
        assert_eq!(told.len(), map.text.lines().count());
        for (line, told) in map.text.lines().zip(&told) {
            let name = told.rsplit('/').next().unwrap();
            assert!(line.contains(name) || told == "folder" && line.ends_with('/'), "{line:?} tells of {told}");
        }
        assert!(told.iter().any(|told| told == "moor") && told.iter().any(|told| told == "moor_all"), "{told:?}");
    }

    #[test]
    fn the_lines_of_symbols_of_a_file_are_coloured_together() {
        let map = map(1_000);
        let text = MapText::new(Some(&map));
        let symbols: Vec<&TextLine> = text.lines.iter().filter(|line| line.named == 0).collect();
        assert!(symbols.len() >= 2, "{}", map.text);
        assert!(symbols.iter().all(|line| line.block == symbols[0].block));
    }

    #[test]
    fn an_empty_map_has_no_lines() {
        let text = MapText::new(Some(&map(0)));
        assert!(text.lines.is_empty() && text.target().is_none());
    }
}
