//! The lines that stand where file names stand, and what can be said of them before any file is looked at.

use super::fence::Fence;
use super::markers;
use crate::file_name;

/// What a heading looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A path alone on its line: it may name a new file.
    Path,
    /// A sentence. What it does not say an earlier heading says.
    Prose,
    /// It may be meant as a file name, but only the files can tell. If they do not, the edit is refused.
    Doubtful,
}

/// The line above a fence or a block, or the first one inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// As it was written, decoration and blanks included.
    pub line: String,
    /// What it looks like.
    pub shape: Shape,
    /// The name that it seems to give, or that an earlier heading gave.
    pub path: Option<String>,
    /// Words and code spans in it that may be file names.
    pub mentions: Vec<String>,
    /// Position of the heading that counts when this one says nothing, in the list of the reply.
    pub earlier: Option<usize>,
}

impl Heading {
    /// Reads a line; `None` when it is blank or belongs to the syntax of the reply.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let shape = shape(line)?;
        // No file need be looked for.
        let line = if line.len() > MAX_LINE { "" } else { line };
        let mentions = match shape {
            Shape::Path => Vec::new(),
            Shape::Prose | Shape::Doubtful => mentions(line),
        };
        let mut heading = Self { line: line.to_owned(), shape, path: None, mentions, earlier: None };
        heading.path = if shape == Shape::Prose {
            let mut files = heading.mentions.iter().filter(|mention| heading.is_file(mention));
            files.next().filter(|_| files.next().is_none()).cloned()
        } else {
            Some(file_name::undecorated(line).to_owned())
        };
        Some(heading)
    }

    /// Whether a mention could hardly be anything but a file, even if there is none.
    pub(crate) fn is_file(&self, mention: &str) -> bool {
        let word = file_name::is_word_path(mention) && !mention.contains(' ');
        let span = || self.line.contains(&format!("`{mention}`"));
        word && (file_name::knows_extension(mention) || (mention.contains('/') && span()))
            || (file_name::knows_extension(mention) && span())
    }

    /// A name that was given where only names stand.
    pub(crate) fn named(path: &str) -> Self {
        Self {
            line: path.to_owned(),
            shape: Shape::Path,
            path: Some(path.to_owned()),
            mentions: Vec::new(),
            earlier: None,
        }
    }

    /// What a line of prose says of the blocks that follow further down: a title or a path alone on its line counts,
    /// an item of a list does not.
    pub(crate) fn of_section(line: &str) -> Option<Self> {
        let title = line.starts_with('#');
        let heading = Self::read(line).filter(|_| !file_name::is_item(line))?;
        match heading.shape {
            Shape::Path => Some(heading),
            Shape::Prose if title => Some(heading),
            Shape::Doubtful if title => Some(Self { shape: Shape::Prose, path: None, ..heading }),
            Shape::Prose | Shape::Doubtful => None,
        }
    }

    /// The same line where it need not mean anything: it counts if it is the name of a file, and only then.
    pub(crate) fn softened(&self) -> Self {
        Self { shape: Shape::Prose, path: None, mentions: Vec::new(), ..self.clone() }
    }

    /// Whether the line is a sentence without anything that may be a file name, and not about a file either.
    pub(crate) fn names_nothing(&self) -> bool {
        const WORDS: [&str; 8] = ["class", "code", "content", "contents", "file", "module", "script", "version"];
        let line = self.line.to_lowercase();
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        self.shape == Shape::Prose && self.mentions.is_empty() && !words.any(|word| WORDS.contains(&word))
    }

    /// Whether the line announces an example or the output of a program.
    pub(crate) fn illustrates(&self) -> bool {
        const WORDS: [&str; 12] = [
            "example",
            "examples",
            "instance",
            "usage",
            "output",
            "prints",
            "printed",
            "result",
            "results",
            "error",
            "traceback",
            "run",
        ];
        let lower = self.line.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        self.shape == Shape::Prose && words.any(|word| WORDS.contains(&word))
    }
}

/// Lines longer than this (in bytes) are no headings: hardly a path is that long.
const MAX_LINE: usize = 1024;
/// So many mentions of one line are looked at.
const MAX_MENTIONS: usize = 32;

/// Words that open a sentence rather than a path.
const OPENERS: [&str; 55] = [
    "add",
    "adjust",
    "after",
    "again",
    "also",
    "and",
    "apply",
    "at",
    "before",
    "but",
    "change",
    "create",
    "define",
    "delete",
    "edit",
    "extend",
    "finally",
    "fix",
    "for",
    "from",
    "handle",
    "here",
    "here's",
    "i'll",
    "implement",
    "import",
    "in",
    "insert",
    "inside",
    "let's",
    "make",
    "modify",
    "move",
    "next",
    "now",
    "or",
    "patch",
    "please",
    "put",
    "remove",
    "rename",
    "replace",
    "rewrite",
    "see",
    "the",
    "then",
    "there",
    "this",
    "to",
    "update",
    "use",
    "we",
    "within",
    "write",
    "you",
];

/// Words that paths hardly ever contain between spaces.
const FUNCTION_WORDS: [&str; 26] = [
    "and", "as", "at", "are", "be", "becomes", "by", "for", "from", "gets", "has", "in", "into", "is", "like", "needs",
    "now", "or", "should", "that", "the", "then", "this", "to", "will", "with",
];

/// Words that stand alone above an edit and name no file.
const CONNECTIVES: [&str; 33] = [
    "after",
    "again",
    "also",
    "and",
    "answer",
    "before",
    "change",
    "changes",
    "code",
    "diff",
    "edit",
    "edits",
    "example",
    "examples",
    "finally",
    "first",
    "fix",
    "here",
    "implementation",
    "last",
    "lastly",
    "next",
    "now",
    "output",
    "result",
    "second",
    "secondly",
    "solution",
    "summary",
    "then",
    "third",
    "update",
    "usage",
];

fn shape(line: &str) -> Option<Shape> {
    if is_structure(line) {
        return None;
    }
    if line.len() > MAX_LINE {
        return Some(Shape::Prose);
    }
    let text = file_name::undecorated(line);
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    Some(if !text.contains(char::is_whitespace) {
        word_shape(line, text)
    } else if file_name::is_marked(line) {
        if file_name::has_extension(text) { Shape::Path } else { Shape::Doubtful }
    } else {
        phrase_shape(text)
    })
}

/// Whether the line has a meaning in one of the formats.
fn is_structure(line: &str) -> bool {
    line.trim().is_empty()
        || Fence::read(line).is_some()
        || Fence::is_closing_tag(line)
        || markers::search_start(line).is_some()
        || markers::divider(line).is_some()
        || markers::replace_end(line)
        || line.starts_with("@@")
        || line.starts_with("*** ")
        || line.starts_with("--- ")
        || line.starts_with("+++ ")
}

fn word_shape(line: &str, word: &str) -> Shape {
    let decorated = line.trim() != word;
    if word.ends_with(['.', ',', ';', '!', '?', '…']) || word.contains("://") {
        Shape::Prose
    } else if file_name::is_word_path(word) {
        Shape::Path
    } else if decorated && CONNECTIVES.contains(&word.to_lowercase().as_str()) {
        Shape::Prose
    } else {
        Shape::Doubtful
    }
}

/// Several words without a mark that says where a name begins and ends.
fn phrase_shape(text: &str) -> Shape {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let opened = words.first().is_some_and(|word| OPENERS.contains(&word.trim_end_matches(',')));
    let inner = words.split_last().map(|(_, inner)| inner).unwrap_or_default();
    let stopped = inner.iter().any(|word| word.ends_with([',', ';', ':', '?', '!', '.']));
    let ended = text.ends_with(['.', ',', ';', '!', '?', '…']);
    let path_like = words.iter().any(|word| word.contains('/') || file_name::knows_extension(word));
    // `Edit form.html` may be the name of a file as a whole; `Edit web/form.html` is not.
    if let ([_, only], true) = (words.as_slice(), opened)
        && !only.contains('/')
        && file_name::knows_extension(only)
        && !text.contains('`')
    {
        return Shape::Doubtful;
    }
    if opened || stopped || ended || !path_like {
        return Shape::Prose;
    }
    let function = words.iter().any(|word| FUNCTION_WORDS.contains(word));
    let spans = text.contains('`');
    let whole = file_name::knows_extension(text) || (text.contains('/') && file_name::has_extension(text));
    if whole && !function && !spans && text.len() <= 255 { Shape::Path } else { Shape::Doubtful }
}

/// What a sentence mentions that may be a file: code spans, and words with a slash or an extension. In order, each once.
fn mentions(line: &str) -> Vec<String> {
    let mut mentions: Vec<String> = Vec::new();
    let mut note = |name: &str| {
        let new = !name.is_empty() && !mentions.iter().any(|known| known == name);
        if new && mentions.len() < MAX_MENTIONS {
            mentions.push(name.to_owned());
        }
    };
    let punctuation = |c: char| matches!(c, '*' | '"' | '\'' | ',' | ';' | ':' | '!' | '?' | '(' | ')');
    for (at, part) in line.split('`').enumerate() {
        if at % 2 == 1 {
            note(part.trim());
            continue;
        }
        let words = part.split_whitespace().map(|word| word.trim_matches(punctuation).trim_end_matches('.'));
        words.filter(|word| file_name::is_word_path(word)).for_each(&mut note);
    }
    mentions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_of(line: &str) -> Option<Shape> {
        Heading::read(line).map(|heading| heading.shape)
    }

    #[test]
    fn a_path_alone_on_its_line_may_name_a_new_file() {
        for line in [
            "src/a.py",
            "Makefile",
            "`my notes/read me.txt`",
            "a dir/my file.py",
            "new dir/brand new.py",
            "app/(group)/page.tsx",
            "[slug].tsx",
            "+page.svelte",
            "@x.py",
            "a=b.py",
            "it's \"q\".py",
            "größe.py",
            ".gitignore",
            "./configure",
            "File: a dir/my file.py",
        ] {
            assert_eq!(shape_of(line), Some(Shape::Path), "{line}");
        }
    }

    #[test]
    fn a_sentence_names_no_file_by_itself() {
        for line in [
            "Done.",
            "Then:",
            "**Changes**",
            "Then the second change:",
            "see src/a.py for more",
            "In src/a.py:",
            "foo();",
            "Step 2.1 follows",
            "https://a.b/c",
        ] {
            assert_eq!(shape_of(line), Some(Shape::Prose), "{line}");
        }
        for line in ["", "  ", "```", "=======", ">>>>>>> REPLACE", "---", "}"] {
            assert_eq!(shape_of(line), None, "{line}");
        }
    }

    #[test]
    fn what_may_be_a_name_is_doubtful() {
        for line in ["configure", "Brewfile", "`my notes`", "### pump:", "my dir/some name", "File: my notes"] {
            assert_eq!(shape_of(line), Some(Shape::Doubtful), "{line}");
        }
    }

    #[test]
    fn a_sentence_may_mention_files() {
        let mentioned = |line: &str| Heading::read(line).unwrap().mentions;
        assert_eq!(mentioned("Now `src/a.py` becomes:"), ["src/a.py"]);
        assert_eq!(mentioned("Now change src/a.py, please:"), ["src/a.py"]);
        assert_eq!(mentioned("Both `a.py` and `b.py`"), ["a.py", "b.py"]);
        let heading = Heading::read("Now read/write `self.rate` in `a/b`").unwrap();
        let files: Vec<&str> =
            heading.mentions.iter().filter(|mention| heading.is_file(mention)).map(String::as_str).collect();
        assert_eq!((heading.mentions.len(), files), (3, vec!["a/b"]));
    }
}
