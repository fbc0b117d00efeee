//! Headings: the lines above blocks and fences that may name a file. No file is looked at here.

use super::fence::Fence;
use super::markers;
use crate::file_name;

/// The form of a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadingKind {
    /// A path on its own line. It may name a new file.
    Path,
    /// A sentence. If it names no file, an earlier heading counts.
    Prose,
    /// It may be a file name; the existing files decide. If there is no such file, the edit is refused.
    Uncertain,
}

/// The line above a fence or a block, or the first line inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The line as written, with decoration and white space.
    pub line: String,
    /// The form of the line.
    pub kind: HeadingKind,
    /// The name that the line seems to give, or that an earlier heading gave.
    pub path: Option<String>,
    /// Words and code spans of the line that may be file names.
    pub mentions: Vec<String>,
    /// Index of the heading that counts if this one names no file, in
    /// [`ParsedReply::headings`](crate::ParsedReply::headings).
    pub earlier: Option<usize>,
}

impl Heading {
    /// Reads a line. `None` if it is blank or part of a format.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let kind = kind(line)?;
        // Too long for a file name.
        let line = if line.len() > MAX_HEADING_BYTES { "" } else { line };
        let mentions = match kind {
            HeadingKind::Path => Vec::new(),
            HeadingKind::Prose | HeadingKind::Uncertain => mentions(line),
        };
        let mut heading = Self { line: line.to_owned(), kind, path: None, mentions, earlier: None };
        heading.path = if kind == HeadingKind::Prose {
            let mut files = heading.mentions.iter().filter(|mention| heading.is_file(mention));
            files.next().filter(|_| files.next().is_none()).cloned()
        } else {
            Some(file_name::undecorated(line).to_owned())
        };
        Some(heading)
    }

    /// Whether a mention is very likely a file, even if there is no such file.
    pub(crate) fn is_file(&self, mention: &str) -> bool {
        let word = file_name::is_word_path(mention) && !mention.contains(' ');
        let span = || self.line.contains(&format!("`{mention}`"));
        word && (file_name::knows_extension(mention) || (mention.contains('/') && span()))
            || (file_name::knows_extension(mention) && span())
    }

    /// A heading for a name from a line that has nothing but a name.
    pub(crate) fn named(path: &str) -> Self {
        Self {
            line: path.to_owned(),
            kind: HeadingKind::Path,
            path: Some(path.to_owned()),
            mentions: Vec::new(),
            earlier: None,
        }
    }

    /// The heading for the blocks below a line of prose: a title, or a path on its own line. A list item is not a
    /// heading.
    pub(crate) fn of_section(line: &str) -> Option<Self> {
        let title = line.starts_with('#');
        let heading = Self::read(line).filter(|_| !file_name::is_item(line))?;
        match heading.kind {
            HeadingKind::Path => Some(heading),
            HeadingKind::Prose if title => Some(heading),
            HeadingKind::Uncertain if title => Some(Self { kind: HeadingKind::Prose, path: None, ..heading }),
            HeadingKind::Prose | HeadingKind::Uncertain => None,
        }
    }

    /// The same line as an optional name: it counts only if such a file exists.
    pub(crate) fn optional(&self) -> Self {
        Self { kind: HeadingKind::Prose, path: None, mentions: Vec::new(), ..self.clone() }
    }

    /// Whether the line is a sentence that mentions no file and is not about one.
    pub(crate) fn names_nothing(&self) -> bool {
        const WORDS: [&str; 8] = ["class", "code", "content", "contents", "file", "module", "script", "version"];
        let line = self.line.to_lowercase();
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        self.kind == HeadingKind::Prose && self.mentions.is_empty() && !words.any(|word| WORDS.contains(&word))
    }

    /// Whether the line announces an example or the output of a program.
    pub(crate) fn illustrates(&self) -> bool {
        const WORDS: [&str; 12] = [
            "example", "examples", "instance", "usage", "output", "prints", "printed", "result", "results", "error",
            "traceback", "run",
        ];
        let lower = self.line.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        self.kind == HeadingKind::Prose && words.any(|word| WORDS.contains(&word))
    }
}

/// Maximum length of a heading in bytes.
const MAX_HEADING_BYTES: usize = 1024;
/// Maximum number of mentions of a line.
const MAX_MENTIONS: usize = 32;

/// Words that begin a sentence and not a path.
const OPENERS: [&str; 55] = [
    "add", "adjust", "after", "again", "also", "and", "apply", "at", "before", "but", "change", "create", "define",
    "delete", "edit", "extend", "finally", "fix", "for", "from", "handle", "here", "here's", "i'll", "implement",
    "import", "in", "insert", "inside", "let's", "make", "modify", "move", "next", "now", "or", "patch", "please",
    "put", "remove", "rename", "replace", "rewrite", "see", "the", "then", "there", "this", "to", "update", "use",
    "we", "within", "write", "you",
];

/// Words that paths rarely have between spaces.
const FUNCTION_WORDS: [&str; 26] = [
    "and", "as", "at", "are", "be", "becomes", "by", "for", "from", "gets", "has", "in", "into", "is", "like", "needs",
    "now", "or", "should", "that", "the", "then", "this", "to", "will", "with",
];

/// Words that are not file names when they are alone above an edit.
const CONNECTIVES: [&str; 33] = [
    "after", "again", "also", "and", "answer", "before", "change", "changes", "code", "diff", "edit", "edits",
    "example", "examples", "finally", "first", "fix", "here", "implementation", "last", "lastly", "next", "now",
    "output", "result", "second", "secondly", "solution", "summary", "then", "third", "update", "usage",
];

fn kind(line: &str) -> Option<HeadingKind> {
    if is_structure(line) {
        return None;
    }
    if line.len() > MAX_HEADING_BYTES {
        return Some(HeadingKind::Prose);
    }
    let text = file_name::undecorated(line);
    if !text.chars().any(char::is_alphanumeric) {
        return None;
    }
    Some(if !text.contains(char::is_whitespace) {
        word_kind(line, text)
    } else if file_name::is_marked(line) {
        if file_name::has_extension(text) { HeadingKind::Path } else { HeadingKind::Uncertain }
    } else {
        phrase_kind(text)
    })
}

/// Whether the line is part of a format.
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

fn word_kind(line: &str, word: &str) -> HeadingKind {
    let decorated = line.trim() != word;
    if word.ends_with(['.', ',', ';', '!', '?', '…']) || word.contains("://") {
        HeadingKind::Prose
    } else if file_name::is_word_path(word) {
        HeadingKind::Path
    } else if decorated && CONNECTIVES.contains(&word.to_lowercase().as_str()) {
        HeadingKind::Prose
    } else {
        HeadingKind::Uncertain
    }
}

/// The kind of several words without a mark where a name begins and ends.
fn phrase_kind(text: &str) -> HeadingKind {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let opened = words.first().is_some_and(|word| OPENERS.contains(&word.trim_end_matches(',')));
    let inner = words.split_last().map(|(_, inner)| inner).unwrap_or_default();
    let stopped = inner.iter().any(|word| word.ends_with([',', ';', ':', '?', '!', '.']));
    let ended = text.ends_with(['.', ',', ';', '!', '?', '…']);
    let path_like = words.iter().any(|word| word.contains('/') || file_name::knows_extension(word));
    // `Edit form.html` may be a file name as a whole; `Edit web/form.html` is not.
    if let ([_, only], true) = (words.as_slice(), opened)
        && !only.contains('/')
        && file_name::knows_extension(only)
        && !text.contains('`')
    {
        return HeadingKind::Uncertain;
    }
    if opened || stopped || ended || !path_like {
        return HeadingKind::Prose;
    }
    let function = words.iter().any(|word| FUNCTION_WORDS.contains(word));
    let spans = text.contains('`');
    let whole = file_name::knows_extension(text) || (text.contains('/') && file_name::has_extension(text));
    if whole && !function && !spans && text.len() <= 255 { HeadingKind::Path } else { HeadingKind::Uncertain }
}

/// The possible file names of a sentence: code spans, and words with a slash or an extension. In order, without
/// repetitions.
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

    fn kind_of(line: &str) -> Option<HeadingKind> {
        Heading::read(line).map(|heading| heading.kind)
    }

    #[test]
    fn a_path_alone_on_its_line_may_name_a_new_file() {
        for line in [
            "src/a.py", "Makefile", "`my notes/read me.txt`", "a dir/my file.py", "new dir/brand new.py",
            "app/(group)/page.tsx", "[slug].tsx", "+page.svelte", "@x.py", "a=b.py", "it's \"q\".py", "größe.py",
            ".gitignore", "./configure", "File: a dir/my file.py",
        ] {
            assert_eq!(kind_of(line), Some(HeadingKind::Path), "{line}");
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
            assert_eq!(kind_of(line), Some(HeadingKind::Prose), "{line}");
        }
        for line in ["", "  ", "```", "=======", ">>>>>>> REPLACE", "---", "}"] {
            assert_eq!(kind_of(line), None, "{line}");
        }
    }

    #[test]
    fn what_may_be_a_name_is_doubtful() {
        for line in ["configure", "Brewfile", "`my notes`", "### pump:", "my dir/some name", "File: my notes"] {
            assert_eq!(kind_of(line), Some(HeadingKind::Uncertain), "{line}");
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
