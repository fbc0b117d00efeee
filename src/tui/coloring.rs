//! Syntax colours, computed off the draw path: a frame asks, takes what is there, and draws plain text meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ratatui::style::Style;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::theme::{Role, Theme};
use crate::syntax::{Highlight, Span, highlight, highlight_lang};
use crate::text::lines;

/// Colours of a text: the spans of each line.
pub type Colors = Arc<Vec<Vec<Span>>>;

/// How the language of a text is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language<'a> {
    /// By the path of the file.
    Path(&'a str),
    /// By the word after a Markdown fence.
    Fence(&'a str),
}

/// A text to be coloured.
#[derive(Debug, Clone)]
pub struct Job {
    key: u64,
    by_path: bool,
    name: String,
    source: Arc<str>,
}

/// A text that was coloured.
#[derive(Debug, Clone)]
pub struct Colored {
    key: u64,
    colors: Colors,
}

impl Job {
    /// Does the work. May take half a second; never call it while drawing.
    pub fn run(self) -> Colored {
        let colors =
            if self.by_path { highlight(&self.name, &self.source) } else { highlight_lang(&self.name, &self.source) };
        Colored { key: self.key, colors: Arc::new(colors) }
    }
}

/// Texts kept at most; then all are dropped and computed again when they are seen.
const CAPACITY: usize = 512;

/// What is coloured, and what should be.
#[derive(Debug, Default)]
pub struct Coloring {
    done: HashMap<u64, Colors>,
    asked: HashSet<u64>,
    wanted: Vec<Job>,
    /// Grows whenever colours arrive, so that caches of plain lines can tell.
    pub epoch: u64,
}

impl Coloring {
    /// The colours of a text; `None`, and a note to compute them, if they are not there yet.
    pub fn get(&mut self, language: Language<'_>, source: &str) -> Option<Colors> {
        let (by_path, name) = match language {
            Language::Path(name) => (true, name),
            Language::Fence(name) => (false, name),
        };
        let key = xxh3_64_with_seed(source.as_bytes(), xxh3_64_with_seed(name.as_bytes(), u64::from(by_path)));
        if let Some(colors) = self.done.get(&key) {
            return Some(Arc::clone(colors));
        }
        if self.asked.insert(key) {
            self.wanted.push(Job { key, by_path, name: name.to_owned(), source: Arc::from(source) });
        }
        None
    }

    /// What was asked for since the last call.
    pub fn take_wanted(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.wanted)
    }

    /// Takes in finished work.
    pub fn put(&mut self, colored: Colored) {
        if self.done.len() >= CAPACITY {
            self.done.clear();
            self.asked.clear();
        }
        self.done.insert(colored.key, colored.colors);
        self.epoch += 1;
    }
}

/// A line cut into pieces with the style of each: `plain` where there is no colour.
pub fn pieces<'a>(line: &'a str, spans: &[Span], plain: Style, theme: &Theme) -> Vec<(&'a str, Style)> {
    let mut pieces = Vec::with_capacity(spans.len() * 2 + 1);
    let mut at = 0;
    for span in spans {
        let (Some(before), Some(colored)) = (line.get(at..span.start), line.get(span.start..span.end)) else {
            continue;
        };
        if !before.is_empty() {
            pieces.push((before, plain));
        }
        pieces.push((colored, plain.patch(style_of(span.highlight, theme))));
        at = span.end;
    }
    if let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        pieces.push((rest, plain));
    }
    pieces
}

/// The theme's style for a class of source text.
pub fn style_of(highlight: Highlight, theme: &Theme) -> Style {
    let name = match highlight {
        Highlight::Keyword => "keyword",
        Highlight::Function => "function",
        Highlight::Type => "type",
        Highlight::String => "string",
        Highlight::Number => "number",
        Highlight::Comment => "comment",
        Highlight::Constant => "constant",
        Highlight::Variable => "variable",
        Highlight::Property => "property",
        Highlight::Operator => "operator",
        Highlight::Punctuation => "punctuation",
        Highlight::Attribute => "attribute",
        Highlight::Macro => "macro",
        Highlight::Module => "module",
        Highlight::Tag => "tag",
        Highlight::Label => "label",
        Highlight::Escape => "escape",
        Highlight::Heading => "heading",
        Highlight::Link => "link",
        Highlight::Emphasis => return theme.style(Role::MarkdownEmphasis),
        Highlight::Inserted => return theme.style(Role::Added),
        Highlight::Deleted => return theme.style(Role::Removed),
    };
    theme.syntax(name)
}

/// The lines of a code block as styled pieces, for the Markdown renderer; empty while there are no colours.
pub fn code_lines(coloring: &mut Coloring, language: &str, code: &str, theme: &Theme) -> Vec<Vec<(String, Style)>> {
    if language.is_empty() {
        return Vec::new();
    }
    let Some(colors) = coloring.get(Language::Fence(language), code) else {
        return Vec::new();
    };
    let owned = |(text, style): (&str, Style)| (text.to_owned(), style);
    lines::split(code)
        .into_iter()
        .zip(colors.iter())
        .map(|(line, spans)| pieces(lines::body(line), spans, Style::default(), theme).into_iter().map(owned).collect())
        .collect()
}
