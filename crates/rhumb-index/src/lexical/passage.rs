//! Passages: a file divided by its definitions. Words are counted per passage.

use rhumb_syntax::SymbolKind;

/// Maximum length of a passage, in lines. A longer function becomes several passages.
pub const MAX_PASSAGE_LINES: u32 = 60;

/// Lines of a file that belong together: a definition (or a part of it) without its inner definitions, or lines outside of all
/// definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The definition, as an index in the tags of the file.
    pub definition: Option<u32>,
    /// First line, 1-based. Comments and attributes directly above a definition are included.
    pub line: u32,
    /// Last line, 1-based and inclusive. Lines of inner definitions may be in between.
    pub end_line: u32,
    /// Number of terms.
    pub length: u32,
}

/// The lines of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// First line, 1-based.
    pub line: u32,
    /// Last line, 1-based and inclusive.
    pub end_line: u32,
    /// Whether lines belong to it: it is not a field or a value inside of another definition.
    pub owns_lines: bool,
}

impl Extent {
    /// The extent of a definition of this kind with these first and last lines (1-based). `is_inner` if it has a container.
    pub fn new(kind: SymbolKind, (line, end_line): (u32, u32), is_inner: bool) -> Self {
        Self { line, end_line, owns_lines: owns_lines(kind, is_inner) }
    }
}

/// For each line (0-based), the definition that it belongs to: the innermost one that owns lines, as an index into `definitions`.
/// Comments and attributes directly above a definition belong to it. Lines of definitions beyond the end are ignored.
pub fn owners(lines: &[&str], definitions: &[Extent]) -> Vec<Option<u32>> {
    let mut order: Vec<u32> =
        (0u32..).zip(definitions).filter(|(_, extent)| extent.owns_lines).map(|(index, _)| index).collect();
    let span = |index: u32| {
        let extent = &definitions[index as usize];
        (extent.line.max(1) as usize - 1, extent.end_line as usize)
    };
    order.sort_by_key(|&index| (span(index).0, usize::MAX - span(index).1, index));
    let mut owners: Vec<Option<u32>> = vec![None; lines.len()];
    let mut open: Vec<u32> = Vec::new();
    let mut next = order.iter().copied().peekable();
    for line in 0..lines.len() {
        while open.last().is_some_and(|&last| span(last).1 <= line) {
            open.pop();
        }
        let mut began = None;
        while let Some(index) = next.next_if(|&index| span(index).0 <= line) {
            open.push(index);
            began = Some(index);
        }
        owners[line] = open.last().copied();
        if began.is_some() {
            claim_above(lines, &mut owners, line, began);
        }
    }
    owners
}

/// Assigns the comments and attributes directly above `line` to the definition that starts there.
fn claim_above(lines: &[&str], owners: &mut [Option<u32>], line: usize, definition: Option<u32>) {
    let around = line.checked_sub(1).and_then(|above| owners.get(above).copied().flatten());
    for above in (0..line).rev().take(MAX_PASSAGE_LINES as usize) {
        if owners[above] != around || !is_comment_line(lines[above]) {
            return;
        }
        owners[above] = definition;
    }
}

/// Whether a line is a comment or an attribute in one of the usual notations.
pub fn is_comment_line(line: &str) -> bool {
    match line.trim_start().as_bytes() {
        [b'#' | b'*' | b'@' | b'%', ..] => true,
        start => [&b"//"[..], b"/*", b"--", b";;", b"\"\"\""].iter().any(|mark| start.starts_with(mark)),
    }
}

/// Fields, modules, and values inside of other definitions do not own lines.
fn owns_lines(kind: SymbolKind, is_inner: bool) -> bool {
    match kind {
        SymbolKind::Field => false,
        SymbolKind::Constant | SymbolKind::Variable => !is_inner,
        SymbolKind::Module => false,
        _ => true,
    }
}
