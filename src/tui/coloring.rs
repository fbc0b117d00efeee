//! Syntax colours, computed off the draw path: a frame requests them, and draws plain text until they arrive.

use rhumb_syntax::{Highlight, Span, highlight, highlight_lang};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::tui::prelude::*;

/// The colours of a text: the spans of each line.
pub type Colors = Arc<Vec<Vec<Span>>>;

/// How the language of a text is determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language<'a> {
    Path(&'a str),
    Fence(&'a str),
}

/// A text to be coloured.
#[derive(Debug, Clone)]
pub struct ColoringJob {
    key: u64,
    by_path: bool,
    name: String,
    source: Arc<str>,
}

#[derive(Debug, Clone)]
pub struct Colored {
    key: u64,
    colors: Colors,
}

impl ColoringJob {
    /// Computes the colours. May take half a second; never call it while drawing.
    pub fn run(self) -> Colored {
        let colors =
            if self.by_path { highlight(&self.name, &self.source) } else { highlight_lang(&self.name, &self.source) };
        Colored { key: self.key, colors: Arc::new(colors) }
    }
}

/// Maximum number of coloured texts that are kept, without those that the newest frame used.
const CAPACITY: usize = 512;

/// The coloured and the requested texts. A frame requests colours while it is drawn; [`Self::take_wanted`] ends it.
///
/// Texts that a frame used are never dropped at its end, even beyond the capacity: otherwise, a screen that needs more
/// would request the same texts for ever.
#[derive(Debug, Default)]
pub struct Coloring {
    done: BTreeMap<u64, Known>,
    /// Keys that were requested and have not arrived.
    asked: BTreeSet<u64>,
    wanted: Vec<ColoringJob>,
    frame: u64,
}

#[derive(Debug)]
struct Known {
    colors: Colors,
    used: u64,
}

impl Coloring {
    /// The colours of a text. If they are missing, returns `None` and requests them.
    pub fn get(&mut self, language: Language<'_>, source: &str) -> Option<Colors> {
        let key = key(language, source);
        let known = self.known(key);
        if known.is_none() && self.asked.insert(key) {
            let (by_path, name) = language.parts();
            self.wanted.push(ColoringJob { key, by_path, name: name.to_owned(), source: Arc::from(source) });
        }
        known
    }

    fn known(&mut self, key: u64) -> Option<Colors> {
        let known = self.done.get_mut(&key)?;
        known.used = self.frame;
        Some(Arc::clone(&known.colors))
    }

    /// Whether the colours of `key` were requested and have not arrived.
    pub fn awaits(&self, key: u64) -> bool {
        self.asked.contains(&key)
    }

    /// Keeps the colours with these keys for this frame: lines that show them are on the screen or near it.
    pub fn touch(&mut self, keys: &[u64]) {
        for key in keys {
            self.known(*key);
        }
    }

    /// The requests since the last call. Ends the frame: the least recently used colours are dropped.
    pub fn take_wanted(&mut self) -> Vec<ColoringJob> {
        let excess = self.done.len().saturating_sub(CAPACITY);
        if excess > 0 {
            let idle = self.done.iter().filter(|(_, known)| known.used < self.frame);
            let mut idle: Vec<(u64, u64)> = idle.map(|(key, known)| (known.used, *key)).collect();
            idle.sort_unstable();
            for (_, key) in idle.into_iter().take(excess) {
                self.done.remove(&key);
            }
        }
        self.frame += 1;
        std::mem::take(&mut self.wanted)
    }

    /// Stores computed colours, as used by the next frame.
    pub fn put(&mut self, colored: Colored) {
        self.asked.remove(&colored.key);
        self.done.insert(colored.key, Known { colors: colored.colors, used: self.frame });
    }
}

impl<'a> Language<'a> {
    fn parts(self) -> (bool, &'a str) {
        match self {
            Self::Path(name) => (true, name),
            Self::Fence(name) => (false, name),
        }
    }
}

fn key(language: Language<'_>, source: &str) -> u64 {
    let (by_path, name) = language.parts();
    xxh3_64_with_seed(source.as_bytes(), xxh3_64_with_seed(name.as_bytes(), u64::from(by_path)))
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

/// A line in its colours, safe to draw.
pub fn colored(line: &str, spans: &[Span], theme: &Theme) -> StyledText {
    let (mut text, mut column) = (StyledText::new(), 0);
    for (piece, style) in pieces(line, spans, theme.style(Role::Text), theme) {
        let shown = sanitize::visible_from(piece, column);
        column += width::columns(&shown);
        text.push(&shown, style);
    }
    text
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

/// The code blocks of a text that is being rendered, and which colours its lines show.
#[derive(Debug)]
pub struct CodeBlocks<'a> {
    coloring: &'a mut Coloring,
    /// Whether missing colours are requested: only for lines on the screen or near it.
    ask: bool,
    /// Keys of the colours that the lines show.
    pub shown: Vec<u64>,
    pub missing: Vec<u64>,
}

impl<'a> CodeBlocks<'a> {
    pub fn new(coloring: &'a mut Coloring, ask: bool) -> Self {
        Self { coloring, ask, shown: Vec::new(), missing: Vec::new() }
    }

    /// The lines of a code block as styled pieces, for the Markdown renderer; empty while there are no colours.
    pub fn lines(&mut self, language: &str, code: &str, theme: &Theme) -> Vec<Vec<(String, Style)>> {
        if language.is_empty() {
            return Vec::new();
        }
        let language = Language::Fence(language);
        let key = key(language, code);
        let colors = if self.ask { self.coloring.get(language, code) } else { self.coloring.known(key) };
        let Some(colors) = colors else {
            self.missing.push(key);
            return Vec::new();
        };
        self.shown.push(key);
        let owned = |(text, style): (&str, Style)| (text.to_owned(), style);
        let line = |(line, spans): (&str, &Vec<Span>)| -> Vec<(String, Style)> {
            pieces(lines::body(line), spans, Style::default(), theme).into_iter().map(owned).collect()
        };
        lines::split(code).into_iter().zip(colors.iter()).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws a frame that uses the numbers as texts. Returns how many of them it requests.
    fn frame(coloring: &mut Coloring, numbers: std::ops::Range<usize>) -> usize {
        for number in numbers {
            coloring.get(Language::Fence("rust"), &number.to_string());
        }
        let wanted = coloring.take_wanted();
        let count = wanted.len();
        wanted.into_iter().for_each(|job| coloring.put(Colored { key: job.key, colors: Colors::default() }));
        count
    }

    #[test]
    fn a_screen_with_more_texts_than_are_kept_settles() {
        let mut coloring = Coloring::default();
        let all = CAPACITY * 3;
        assert_eq!(frame(&mut coloring, 0..all), all);
        assert_eq!(frame(&mut coloring, 0..all), 0);
        assert_eq!(frame(&mut coloring, 0..all), 0);
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let mut coloring = Coloring::default();
        frame(&mut coloring, 0..10);
        for start in (10..CAPACITY * 2).step_by(100) {
            frame(&mut coloring, 0..5);
            frame(&mut coloring, start..start + 100);
        }
        frame(&mut coloring, 0..0);
        frame(&mut coloring, 0..0);
        assert!(coloring.done.len() <= CAPACITY);
        assert_eq!(frame(&mut coloring, 0..5), 0, "used all the time");
        assert_eq!(frame(&mut coloring, 5..10), 5, "used long ago");
    }

    #[test]
    fn a_rendering_off_the_screen_asks_for_nothing() {
        let mut coloring = Coloring::default();
        let theme = Theme::plain(crate::tui::theme::ColorDepth::None);
        let mut blocks = CodeBlocks::new(&mut coloring, false);
        assert!(blocks.lines("rust", "fn a() {}", &theme).is_empty());
        assert_eq!((blocks.shown.len(), blocks.missing.len()), (0, 1));
        assert!(coloring.take_wanted().is_empty());
    }
}
