//! The message about findings of checks after the model's changes: the output, and the code to which it refers.

use super::excerpt::fence_for;
use rhumb_syntax::{Definition, Language};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Context lines above and below a location.
const CONTEXT_LINES: usize = 3;

/// Maximum number of locations in one file.
const MAX_LOCATIONS: usize = 8;

/// Maximum number of lines that are searched for locations.
const MAX_SEARCHED_LINES: usize = 5_000;

const MAX_SEARCHED_LINE_BYTES: usize = 2_000;

/// The finding of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finding {
    /// What was done and how it ended, as a sentence: ``"`cargo test` failed (exit code 101)."``
    pub title: String,
    /// The omitted output; may be empty.
    pub output: String,
    /// The code to which it refers: path and [`marked_outline`].
    pub outlines: Vec<(String, String)>,
}

/// The message about findings. `written` is set if the check followed a write; otherwise the user requested it.
pub fn findings(found: &[Finding], written: bool) -> String {
    let mut text = match (written, found.len()) {
        (true, 1) => "Your changes were written, and a check of the result found something.".to_owned(),
        (true, count) => format!("Your changes were written, and {count} checks of the result found something."),
        (false, 1) => "A check of the code as it is now found something.".to_owned(),
        (false, count) => format!("{count} checks of the code as it is now found something."),
    };
    for finding in found {
        let _ = write!(text, "\n\n{}", finding.title);
        if !finding.output.trim().is_empty() {
            let output = finding.output.trim_end_matches('\n');
            let fence = fence_for([output]);
            let _ = write!(text, " It printed:\n{fence}\n{output}\n{fence}");
        }
        for (path, outline) in &finding.outlines {
            let fence = fence_for([outline.as_str()]);
            let _ = write!(
                text,
                "\nIn {path} (█ marks the lines in question; the marks are not in the file):\n{fence}\n{outline}{fence}"
            );
        }
    }
    text.push_str("\n\nFix what is wrong, in the same edit format. The files are now as you see them above. ");
    text.push_str(match written {
        true => "If what was found has nothing to do with your changes, say so and edit nothing.",
        false => "If it is not the code that is wrong, say so and edit nothing.",
    });
    text
}

/// The lines (0-based) with context and the headers of the definitions around them. Lines in question begin with `█`, others
/// with `│`; `⋮` marks lines left out.
pub fn marked_outline(path: &str, text: &str, marked: &[usize]) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(1);
    let mut shown = vec![false; lines.len()];
    let mut show = |at: usize| shown.get_mut(at).into_iter().for_each(|line| *line = true);
    let definitions = Language::detect(path, text).map(|language| rhumb_syntax::tags(language, text).definitions);
    let marked: Vec<usize> = marked.iter().map(|at| *at.min(&last)).take(MAX_LOCATIONS).collect();
    for at in &marked {
        (at.saturating_sub(CONTEXT_LINES)..=(at + CONTEXT_LINES).min(last)).for_each(&mut show);
        enclosing(definitions.as_deref().unwrap_or_default(), *at).for_each(&mut show);
    }
    let mut outline = String::new();
    let mut gap = false;
    for (at, line) in lines.iter().enumerate() {
        if !shown.get(at).copied().unwrap_or_default() {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) {
            outline.push_str("⋮\n");
        }
        let mark = if marked.contains(&at) { '█' } else { '│' };
        let _ = writeln!(outline, "{mark}{line}");
    }
    if gap {
        outline.push_str("⋮\n");
    }
    outline
}

/// The first lines (0-based) of the definitions around a line.
fn enclosing(definitions: &[Definition], at: usize) -> impl Iterator<Item = usize> {
    let is_around = move |definition: &&Definition| {
        let (first, last) = (definition.line.saturating_sub(1) as usize, definition.end_line as usize);
        first <= at && at < last
    };
    definitions.iter().filter(is_around).map(|definition| definition.line.saturating_sub(1) as usize)
}

/// The lines (0-based, ascending) of `paths` to which an output refers, in the formats of compilers and test runners:
/// `path:12:3`, `path(12,3)`, `path", line 12`, `path line 12`. A path may be abbreviated, or have more folders in front.
pub fn referenced_lines<'p>(output: &str, paths: &'p [String]) -> BTreeMap<&'p str, Vec<usize>> {
    let mut referenced: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for line in output.lines().take(MAX_SEARCHED_LINES) {
        let line = line.get(..line.floor_char_boundary(MAX_SEARCHED_LINE_BYTES)).unwrap_or(line);
        for path in paths {
            let name = path.rsplit('/').next().unwrap_or(path);
            for (at, _) in line.match_indices(name) {
                let (before, after) =
                    (line.get(..at).unwrap_or_default(), line.get(at + name.len()..).unwrap_or_default());
                if is_end_of(path, name, before)
                    && let Some(number) = number_after(after)
                {
                    referenced.entry(path.as_str()).or_default().push(number.saturating_sub(1));
                }
            }
        }
    }
    for lines in referenced.values_mut() {
        lines.sort_unstable();
        lines.dedup();
    }
    referenced
}

/// Whether the folders in front of a name match those of the path.
fn is_end_of(path: &str, name: &str, before: &str) -> bool {
    let word = before.rsplit(|c: char| !(c.is_alphanumeric() || "/\\._-+@".contains(c))).next().unwrap_or_default();
    let word = word.replace('\\', "/");
    let folders = path.strip_suffix(name).unwrap_or_default();
    word.is_empty()
        || word.ends_with(folders) && !folders.is_empty()
        || (word.ends_with('/') && folders.ends_with(&word))
        || word == "./"
}

fn number_after(text: &str) -> Option<usize> {
    let rest = text.trim_start_matches(['"', '\'', '`', ')', ']']);
    let in_words = rest.trim_start_matches([',', ':', ' ']);
    let in_words = in_words.strip_prefix("line ").or_else(|| in_words.strip_prefix("on line "));
    let rest = in_words.or_else(|| rest.strip_prefix([':', '(', '[']))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).take(9).collect();
    digits.parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LAMP: &str = "class Lamp:\n    def __init__(self):\n        self.on = 0\n        self.a = 1\n        self.b = 2\n        \
        self.c = 3\n        self.d = 4\n        self.e = (5\n\n    def off(self):\n        self.on = 0\n        self.a = 0\n        self.b = 0\n        self.c = 0\n        self.d = 0\n";

    #[test]
    fn a_line_is_shown_with_those_around_it_and_the_definitions_that_it_is_in() {
        let outline = marked_outline("lamp.py", &LAMP.replace("(5", "5"), &[7]);
        let lines: Vec<&str> = outline.lines().collect();
        assert_eq!(lines[..3], ["│class Lamp:", "│    def __init__(self):", "⋮"], "{outline}");
        assert!(outline.contains("█        self.e = 5\n") && outline.ends_with("⋮\n"), "{outline}");
        assert_eq!(marked_outline("a.txt", "one\ntwo", &[40]), "│one\n█two\n");
        assert_eq!(marked_outline("a.txt", "", &[3]), "");
    }

    #[test]
    fn locations_are_found_as_tools_write_them() {
        let paths = ["src/tide.py".to_owned(), "src/lamp.rs".to_owned()];
        for (output, line) in [
            ("src/tide.py:12:3: E999", 11),
            ("  --> src/tide.py:7", 6),
            ("  File \"/home/me/x/src/tide.py\", line 3, in f", 2),
            ("tide.py(9,2): error", 8),
            ("./src/tide.py:4", 3),
            ("src\\tide.py:5", 4),
            ("at f (src/tide.py:6:1)", 5),
            ("src/tide.py: line 8: syntax error", 7),
        ] {
            assert_eq!(referenced_lines(output, &paths), BTreeMap::from([("src/tide.py", vec![line])]), "{output}");
        }
        for output in ["src/tide.py", "other/tide.py:3", "xtide.py:3", "src/tide.pyc:3", "src/tide.py:0", "tide.py:x"] {
            assert_eq!(referenced_lines(output, &paths), BTreeMap::new(), "{output}");
        }
    }

    #[test]
    fn the_message_has_the_output_and_the_places_in_fences_that_hold() {
        let finding = Finding {
            title: "`make` failed (exit code 2).".into(),
            output: "```\nboom\n".into(),
            outlines: vec![("a.py".into(), "█x\n".into())],
        };
        let text = findings(std::slice::from_ref(&finding), true);
        assert!(text.contains("`make` failed (exit code 2). It printed:\n````\n```\nboom\n````\nIn a.py"), "{text}");
        assert!(text.contains(":\n```\n█x\n```"), "{text}");
        let asked = findings(&[finding], false);
        assert!(!asked.contains("Your changes") && asked.contains("boom"), "{asked}");
    }

    proptest! {
        #[test]
        fn any_output_and_text_is_accepted(
            output in "(src/)?(tide|ü)[.]py[:( \"]{0,2}(line )?[0-9]{0,12}[\n:)a-z]{0,9}",
            text in "(class A:\n|    def f[(]self[)]:\n|        x = 1\n|\n|ü){0,30}",
            marked in prop::collection::vec(0usize..50, 0..6),
        ) {
            referenced_lines(&output, &["src/tide.py".to_owned(), "ü.py".to_owned()]);
            let outline = marked_outline("a.py", &text, &marked);
            let known = |line: &str| line == "⋮" || text.lines().any(|own| line.get(3..) == Some(own));
            prop_assert!(outline.lines().all(known), "{}", outline);
        }
    }
}
