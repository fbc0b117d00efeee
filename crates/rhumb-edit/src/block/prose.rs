//! Telling prose from code, where a fence that is not closed, or not clearly so, leaves open which of them follows.

use super::fence::Fence;
use super::marker;
use crate::heading::{Heading, Shape};
use crate::name;

/// Minimum number of words of a sentence at the end of a file.
const MIN_WORDS: usize = 3;

/// Whether a line below a fence without a language is code in that fence, rather than the prose that follows a fence.
pub(super) fn is_code(line: &str) -> bool {
    let text = line.trim();
    let markup = text.starts_with("##") || text.starts_with(['*', '-', '<', '>', '|']) || Fence::read(line).is_some();
    // One word is enough here: a line of code seldom ends like a sentence.
    let sentence = is_sentence(line, 1);
    let names_file = || Heading::read(line).is_some_and(|heading| heading.shape == Shape::Path);
    let marks = || marker::opens_block(line) || line.starts_with("*** ") || line.starts_with("diff --git ");
    !text.is_empty() && !markup && !sentence && !marks() && !names_file()
}

/// Whether the last of these lines of a file is prose that follows the file.
pub(super) fn ends_in_prose(lines: &[String], path: &str) -> bool {
    let mut solid = lines.iter().rev().filter(|line| !line.trim().is_empty());
    let Some(last) = solid.next() else { return false };
    let data = [".yml", ".yaml", ".txt", ".csv"].iter().any(|extension| path.ends_with(extension));
    let item = || name::is_item(last) && !last.starts_with(' ') && is_worded(last, MIN_WORDS);
    is_sentence(last, MIN_WORDS) || (!data && item())
}

/// Whether a line at the margin reads like a sentence: it begins with a capital letter, has words alone, `least` of them or
/// more, and ends with a stop.
fn is_sentence(line: &str, least: usize) -> bool {
    let text = line.trim_end();
    text.starts_with(char::is_uppercase) && text.ends_with(['.', '!', '?', ':']) && is_worded(text, least)
}

/// Whether a line has nothing but words, `least` of them or more.
fn is_worded(line: &str, least: usize) -> bool {
    let is_word = |word: &&str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '/' | '.' | '_'))
    };
    let words: Vec<&str> = line.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).collect();
    words.len() >= least && words.iter().all(is_word) && !line.ends_with(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_after_a_file_is_told_from_the_end_of_the_file() {
        let ends = |text: &str, path: &str| ends_in_prose(&text.lines().map(str::to_owned).collect::<Vec<_>>(), path);
        for text in [
            "x = 1\n\nThis raises the port, so that nothing is in the way.\n",
            "x = 1\n\nNotes:\n- the port is raised\n- nothing else changes\n",
            "x = 1\n\nThe port is **9000** now.\n",
            "}\n\nLet me know if this works for you!\n",
            "}\n\nShould `main.rs` be changed as well?\n\n",
        ] {
            assert!(ends(text, "src/a.py"), "{text}");
        }
        for text in [
            "x = 1\n",
            "    return \"So it goes on.\"\n",
            "# That is the end of it.\n",
            "SELECT name FROM users;\n",
            "class Gate:\n",
            "RUN apt-get install git\n",
            "export default App\n",
            "</html>\n",
            "",
        ] {
            assert!(!ends(text, "src/a.py"), "{text}");
        }
        assert!(!ends("steps:\n- build all the things\n", "ci.yml"));
    }

    #[test]
    fn code_follows_a_fence_in_a_document_at_once() {
        for line in ["pip install harbour", "# install it", "x = 1", "    indented", "$ ls", "SELECT 1;"] {
            assert!(is_code(line), "{line}");
        }
        for line in [
            "",
            "Done.",
            "That is the document.",
            "Here is the rest:",
            "## More",
            "src/a.py",
            "**Changes**",
            "```python",
            "<<<<<<< SEARCH",
        ] {
            assert!(!is_code(line), "{line}");
        }
    }
}
