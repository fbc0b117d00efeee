//! Oracle models: one with the correct answer and others with one fault each. They prove, without an API key, that the grader tells
//! them apart and that a whole run works.

use std::ops::Range;

use rhumb_edit::EditFormat;
use rhumb_session::context::fence_for;
use rhumb_text::diff::{Hunk, hunks};
use rhumb_text::lines;
use tree_sitter::Node;

use crate::refactor::outline::{Class, Method};
use crate::refactor::scan::{Call, ParsedFile, calls_of};
use crate::refactor::syntax_tree::{child, first_of, has_child, named};
use crate::refactor::task::Task;

/// A scripted model with an answer for each task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oracle {
    /// Does the task.
    Perfect,
    /// Replaces the body by a comment.
    Lazy,
    /// Keeps the method in the class as well.
    Copy,
    /// Adds an unbalanced bracket.
    Broken,
    /// Quotes lines that are not in the file.
    Malformed,
}

impl Oracle {
    /// All oracle models.
    pub const ALL: [Self; 5] = [Self::Perfect, Self::Lazy, Self::Copy, Self::Broken, Self::Malformed];

    /// The name of the flag value.
    pub fn name(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::Lazy => "lazy",
            Self::Copy => "copy",
            Self::Broken => "broken",
            Self::Malformed => "malformed",
        }
    }

    /// The file after the edits; `None` if the method shares its lines with other code.
    pub fn text(self, task: &Task, source: &str) -> Option<String> {
        moved(self, task, source)
    }

    /// The reply in an edit format.
    pub fn reply(self, task: &Task, source: &str, format: EditFormat) -> Option<String> {
        let text = self.text(task, source)?;
        Some(reply(&task.file, source, &text, format, self == Self::Malformed))
    }
}

/// A byte range of the source and its replacement.
type Replacement = (Range<usize>, String);

/// The file of a task after the edits.
pub(crate) fn moved(how: Oracle, task: &Task, source: &str) -> Option<String> {
    let reading = ParsedFile::of(&task.language, source)?;
    let outline = reading.outline();
    let class = outline.classes.iter().find(|class| class.name == task.class)?;
    let method = class.methods.iter().find(|method| method.name == task.method)?;
    let cut = lines_of(method.node, source)?;
    let lines = source.get(cut.clone())?;
    let indent = lines.len() - lines.trim_start_matches([' ', '\t']).len();
    let mut replacements = header(task, method, source);
    if how == Oracle::Lazy {
        replacements.push(elided(task, method.node, source)?);
    }
    let function = inserted(task, &dedented(&replaced(source, cut.clone(), replacements), indent));
    let mut replacements = Vec::new();
    let at = if task.language == "cpp" { line_start(source, outermost(class).start_byte()) } else { source.len() };
    let gap = if source.ends_with('\n') || at < source.len() { "" } else { "\n" };
    let blank = if task.language == "python" { "\n\n" } else { "\n" };
    replacements.push((
        at..at,
        if at < source.len() { format!("{function}{blank}") } else { format!("{gap}{blank}{function}") },
    ));
    if how != Oracle::Copy {
        replacements.push((with_blank(source, cut), String::new()));
        replacements.extend(calls(task, class, method, source));
    }
    let text = replaced(source, 0..source.len(), replacements);
    Some(if how == Oracle::Broken { text + ")\n" } else { text })
}

/// The lines of a definition with the comments and attributes directly above it; `None` if the lines have other code.
fn lines_of(node: Node<'_>, source: &str) -> Option<Range<usize>> {
    let mut first = node;
    while let Some(above) = first.prev_sibling() {
        let leads = above.is_extra() || above.kind() == "attribute_item";
        let alone = source.get(line_start(source, above.start_byte())..above.start_byte())?.trim().is_empty();
        if !leads || !alone || above.end_position().row + 1 < first.start_position().row {
            break;
        }
        first = above;
    }
    let start = line_start(source, first.start_byte());
    let line_end = source.get(node.end_byte()..)?.find('\n').map_or(source.len(), |at| node.end_byte() + at + 1);
    let rest = source.get(node.end_byte()..line_end)?;
    let alone = source.get(start..first.start_byte())?.trim().is_empty() && rest.trim().is_empty();
    alone.then_some(start..line_end)
}

fn line_start(source: &str, at: usize) -> usize {
    source.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// A range of lines, extended by the blank lines below it.
fn with_blank(source: &str, lines: Range<usize>) -> Range<usize> {
    let mut end = lines.end;
    for line in source.get(end..).unwrap_or_default().split_inclusive('\n').take_while(|line| line.trim().is_empty()) {
        end += line.len();
    }
    lines.start..end
}

/// The replacements that turn the head of a method into that of a function.
fn header(task: &Task, method: &Method<'_>, source: &str) -> Vec<Replacement> {
    let node = method.node;
    let name = child(node, "name").map_or(node.start_byte(), |name| name.start_byte());
    match task.language.as_str() {
        "python" | "rust" => {
            method.instance.map(|instance| (parameter(instance, source), String::new())).into_iter().collect()
        }
        "go" => method.instance.map(|receiver| (receiver.start_byte()..name, String::new())).into_iter().collect(),
        "java" => {
            let modifiers = named(node).into_iter().find(|part| part.kind() == "modifiers");
            let (at, text) = modifiers.map_or((node.start_byte(), "static "), |it| (it.end_byte(), " static"));
            vec![(at..at, text.to_owned())]
        }
        "cpp" => {
            let declarator = first_of(node, &["function_declarator"]);
            let parts = declarator.map(named).unwrap_or_default();
            let constant = parts.into_iter().filter(|part| part.kind() == "type_qualifier");
            constant.map(|part| (part.byte_range(), String::new())).collect()
        }
        _ => {
            let waits = if has_child(node, &["async"]) { "async " } else { "" };
            let star = if has_child(node, &["*"]) { "*" } else { "" };
            vec![(node.start_byte()..name, format!("{waits}function{star} "))]
        }
    }
}

/// A parameter with the comma after it, and with a `/` after that, which needs a parameter in front of it.
fn parameter(node: Node<'_>, source: &str) -> Range<usize> {
    let rest = source.get(node.end_byte()..).unwrap_or_default();
    let after = rest.trim_start();
    let Some(next) = after.strip_prefix(',').map(str::trim_start) else { return node.byte_range() };
    let slashed = next.strip_prefix('/').map(str::trim_start);
    let next = slashed.map_or(next, |rest| rest.strip_prefix(',').map_or(rest, str::trim_start));
    node.start_byte()..source.len() - next.len()
}

/// The replacement of the body by a comment.
fn elided(task: &Task, node: Node<'_>, source: &str) -> Option<Replacement> {
    let body = child(node, "body")?;
    let start = line_start(source, body.start_byte());
    let line = source.get(start..body.start_byte())?;
    let indent = line.get(..line.len() - line.trim_start().len())?;
    let text = match task.language.as_str() {
        "python" => format!("# ... existing code ...\n{indent}pass"),
        _ => format!("{{\n{indent}    // ... existing code ...\n{indent}}}"),
    };
    Some((body.byte_range(), text))
}

/// The function as it is inserted, in its class if it needs one.
fn inserted(task: &Task, function: &str) -> String {
    let Some(home) = &task.home else { return function.to_owned() };
    let lines = function.split_inclusive('\n');
    let inner: String =
        lines.map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("    {line}") }).collect();
    format!("final class {home} {{\n{inner}}}\n")
}

/// Lines with `indent` less indentation, as far as they have it.
fn dedented(lines: &str, indent: usize) -> String {
    let cut = |line: &str| {
        let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        line.get(blanks.min(indent)..).unwrap_or_default().to_owned()
    };
    let mut text: String = lines.split_inclusive('\n').map(cut).collect();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The class, or the template around it.
fn outermost<'t>(class: &Class<'t>) -> Node<'t> {
    let node = class.parts[0];
    node.parent().filter(|parent| parent.kind() == "template_declaration").unwrap_or(node)
}

/// The replacements that turn calls through an instance into calls of the function.
fn calls(task: &Task, class: &Class<'_>, method: &Method<'_>, source: &str) -> Vec<Replacement> {
    let prefix = task.home.as_ref().map(|home| format!("{home}.")).unwrap_or_default();
    let replacement = |call: Call<'_>| (call.whole.start_byte()..call.name.start_byte(), prefix.clone());
    calls_of(class, method, source).into_iter().map(replacement).collect()
}

/// A range of the source with replacements applied.
fn replaced(source: &str, part: Range<usize>, mut replacements: Vec<Replacement>) -> String {
    replacements.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut text, mut at) = (String::new(), part.start);
    for (range, new) in replacements {
        if range.start >= at {
            text.push_str(source.get(at..range.start).unwrap_or_default());
            text.push_str(&new);
            at = range.end;
        }
    }
    text.push_str(source.get(at..part.end).unwrap_or_default());
    text
}

/// Minimum number of context lines around a change.
const CONTEXT: usize = 3;

/// A quoted range of lines and the changes in it.
struct QuotedRange {
    base: Range<usize>,
    hunks: Vec<Hunk>,
}

/// The reply that turns `before` into `after`. If `spoilt`, it quotes lines that are not in the file.
pub(crate) fn reply(file: &str, before: &str, after: &str, format: EditFormat, spoilt: bool) -> String {
    let (old, new) = (split(before), split(after));
    let body = match format {
        EditFormat::Whole if spoilt => return "The method is now a function.\n".to_owned(),
        EditFormat::Whole => return format!("{file}\n{}", fenced("", after)),
        _ => quoted_ranges(&old, &hunks(before, after)),
    };
    let marked = |range: &QuotedRange| marked(range, &old, &new, spoilt);
    match format {
        EditFormat::Udiff => {
            let blocks: String = body.iter().map(|range| format!("@@ ... @@\n{}", marked(range))).collect();
            fenced("diff", &format!("--- {file}\n+++ {file}\n{blocks}"))
        }
        EditFormat::Patch => {
            let blocks: String = body.iter().map(|range| format!("@@\n{}", marked(range))).collect();
            fenced("", &format!("*** Begin Patch\n*** Update File: {file}\n{blocks}*** End Patch\n"))
        }
        EditFormat::DiffFenced => {
            body.iter().map(|range| fenced("", &format!("{file}\n{}", search(&marked(range))))).collect()
        }
        _ => body.iter().map(|range| format!("{file}\n{}\n", fenced("", &search(&marked(range))))).collect(),
    }
}

fn split(text: &str) -> Vec<&str> {
    lines::split(text).into_iter().map(|line| line.trim_end_matches(['\n', '\r'])).collect()
}

fn fenced(info: &str, text: &str) -> String {
    let fence = fence_for(text.lines());
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{text}{end}{fence}\n")
}

/// The ranges to quote. Each is extended until its lines occur only once.
fn quoted_ranges(old: &[&str], hunks: &[Hunk]) -> Vec<QuotedRange> {
    let mut quoted_ranges: Vec<QuotedRange> = Vec::new();
    for hunk in hunks {
        let mut margin = CONTEXT;
        let quoted = loop {
            let range = hunk.base.start.saturating_sub(margin)..(hunk.base.end + margin).min(old.len());
            if range.len() == old.len() || is_unique(old, &range) {
                break range;
            }
            margin += CONTEXT;
        };
        match quoted_ranges.last_mut().filter(|last| last.base.end >= quoted.start) {
            Some(last) => {
                last.base = last.base.start.min(quoted.start)..last.base.end.max(quoted.end);
                last.hunks.push(hunk.clone());
            }
            None => quoted_ranges.push(QuotedRange { base: quoted, hunks: vec![hunk.clone()] }),
        }
    }
    quoted_ranges
}

fn is_unique(old: &[&str], range: &Range<usize>) -> bool {
    let wanted = old.get(range.clone()).unwrap_or_default();
    !wanted.is_empty() && old.windows(wanted.len()).filter(|lines| *lines == wanted).count() == 1
}

/// The lines of a range, each with its sign.
fn marked(range: &QuotedRange, old: &[&str], new: &[&str], spoilt: bool) -> String {
    let mut text = String::new();
    let mut line = |mark: char, line: &str| {
        let quoted = spoilt && mark != '+';
        let line = if quoted { line.chars().rev().collect() } else { line.to_owned() };
        text.push(mark);
        text.push_str(&line);
        text.push('\n');
    };
    let mut at = range.base.start;
    for hunk in &range.hunks {
        old.get(at..hunk.base.start).unwrap_or_default().iter().for_each(|same| line(' ', same));
        old.get(hunk.base.clone()).unwrap_or_default().iter().for_each(|gone| line('-', gone));
        new.get(hunk.proposed.clone()).unwrap_or_default().iter().for_each(|come| line('+', come));
        at = hunk.base.end;
    }
    old.get(at..range.base.end).unwrap_or_default().iter().for_each(|same| line(' ', same));
    text
}

/// A search/replace block of signed lines.
fn search(marked: &str) -> String {
    let side = |without: char| {
        let lines = marked.lines().filter(move |line| !line.starts_with(without));
        lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect::<String>()
    };
    format!("<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", side('+'), side('-'))
}
