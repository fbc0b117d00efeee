//! The lines that open and close a fence: backticks, tildes, or an HTML-like tag. Every edit format and both readers (a whole
//! reply and a stream) recognise fences here.

/// Tags that may stand in the place of backticks, as in `<source>python` … `</source>`. Models are told to use one of them
/// when a file holds backtick fences itself.
const TAGS: [&str; 5] = ["source", "code", "pre", "codeblock", "sourcecode"];

/// Maximum number of words behind the tag that opens a fence: a language and a path. More is text of an HTML element.
const MAX_INFO_WORDS: usize = 2;

/// An opened code fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: Mark,
    /// Bytes of white space before them. A deeper fence is code: the context line of a diff, a list item.
    indent: usize,
    /// What follows on the same line, trimmed.
    pub(crate) info: String,
}

/// What a fence is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// So many backticks or tildes.
    Run(char, usize),
    /// A tag of that name.
    Tag(&'static str),
}

impl Fence {
    /// Reads a line that opens a fence. A closing line of backticks or tildes looks the same, without an info string.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let text = line.trim_start();
        let (mark, info) = if text.starts_with('<') { opening_tag(text)? } else { run(text)? };
        Some(Self { mark, indent: line.len() - text.len(), info: info.trim().to_owned() })
    }

    /// Whether the line closes a fence of tags, whichever of them.
    pub(crate) fn is_closing_tag(line: &str) -> bool {
        let name = line.trim().strip_prefix("</").and_then(|rest| rest.strip_suffix('>'));
        name.is_some_and(|name| TAGS.contains(&name))
    }

    /// Whether it is a tag.
    pub(crate) fn is_tag(&self) -> bool {
        matches!(self.mark, Mark::Tag(_))
    }

    /// The line that opens it, and the one that closes it, as Markdown. A tag that is never closed is markup, and stays as it is.
    pub(crate) fn lines(&self, closed: bool) -> (String, String) {
        let (indent, info) = (" ".repeat(self.indent), &self.info);
        let marks: String = match self.mark {
            Mark::Run(mark, width) => std::iter::repeat_n(mark, width).collect(),
            Mark::Tag(name) if !closed => return (format!("{indent}<{name}>{info}"), String::new()),
            Mark::Tag(_) => "~~~~".to_owned(),
        };
        (format!("{indent}{marks}{info}"), format!("{indent}{marks}"))
    }

    /// The lines without the indentation of the fence, as in an item of a list, where each of them has it.
    pub(crate) fn dedented(&self, lines: Vec<String>) -> Vec<String> {
        let has_it = |line: &String| {
            let indent = line.get(..self.indent).is_some_and(|indent| indent.trim().is_empty());
            indent || line.trim().is_empty()
        };
        if self.indent == 0 || !lines.iter().all(has_it) {
            return lines;
        }
        lines.into_iter().map(|line| line.get(self.indent..).unwrap_or_default().to_owned()).collect()
    }

    /// Whether `line` closes this fence.
    pub(crate) fn closed_by(&self, line: &str) -> bool {
        match self.mark {
            Mark::Run(..) => Self::read(line).is_some_and(|f| self.as_strong(&f) && f.info.is_empty()),
            Mark::Tag(name) => {
                let text = line.trim_start();
                let closes = text.trim_end().strip_prefix("</").and_then(|rest| rest.strip_suffix('>')) == Some(name);
                closes && line.len() - text.len() <= self.indent
            }
        }
    }

    /// Whether `line` closes this fence after the last block in it: models that open a fence of one kind sometimes close it
    /// as one of the other.
    pub(crate) fn ended_by(&self, line: &str) -> bool {
        let other = match self.mark {
            Mark::Run(..) => Self::is_closing_tag(line),
            Mark::Tag(_) => Self::read(line).is_some_and(|f| !f.is_tag() && f.info.is_empty()),
        };
        other || self.closed_by(line)
    }

    /// Whether `line` opens another fence that this one cannot tell from itself.
    pub(crate) fn nested_by(&self, line: &str) -> bool {
        Self::read(line).is_some_and(|f| self.as_strong(&f) && (f.is_tag() || !f.info.is_empty()))
    }

    fn as_strong(&self, other: &Self) -> bool {
        let alike = match (self.mark, other.mark) {
            (Mark::Run(own, width), Mark::Run(mark, other)) => own == mark && other >= width,
            (own, mark) => own == mark,
        };
        alike && other.indent <= self.indent
    }

    /// The first word of the info string in lower case: the language.
    pub(crate) fn language(&self) -> String {
        let word = self.info.split([' ', ':', ',', '{']).next().unwrap_or_default();
        word.to_ascii_lowercase()
    }

    /// Whether the fence holds shell commands.
    pub(crate) fn is_shell(&self) -> bool {
        const SHELLS: [&str; 9] = ["bash", "sh", "shell", "console", "zsh", "fish", "powershell", "cmd", "terminal"];
        SHELLS.contains(&self.language().as_str())
    }

    /// Whether the fence is declared to hold what a program prints.
    pub(crate) fn is_output(&self) -> bool {
        ["output", "stdout", "stderr", "log", "traceback", "pycon"].contains(&self.language().as_str())
    }

    /// Whether the fence is declared to hold a diff.
    pub(crate) fn is_diff(&self) -> bool {
        ["diff", "udiff", "patch"].contains(&self.language().as_str())
    }

    /// Whether the fence is declared to hold a document, which may hold fences itself.
    pub(crate) fn is_document(&self) -> bool {
        ["markdown", "md", "mdx", "rst", "adoc", "asciidoc", "text", "txt"].contains(&self.language().as_str())
    }
}

/// Whether the beginning of a line may be that of a tag that opens or closes a fence.
pub fn may_begin_tag(partial: &str) -> bool {
    let text = partial.trim();
    let begins = |tag: String| tag.starts_with(text) || text.starts_with(&tag);
    text.starts_with('<') && TAGS.iter().any(|tag| begins(format!("<{tag}>")) || begins(format!("</{tag}>")))
}

/// Three backticks or tildes, or more, and what follows them.
fn run(text: &str) -> Option<(Mark, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let width = text.len() - info.len();
    // An inline code span on a line of its own is no fence.
    (width >= 3 && !info.contains(mark)).then_some((Mark::Run(mark, width), info))
}

/// A tag, and what is glued to it.
fn opening_tag(text: &str) -> Option<(Mark, &str)> {
    let (name, info) = text.strip_prefix('<')?.split_once('>')?;
    let name = TAGS.into_iter().find(|tag| *tag == name)?;
    let is_info = !info.contains(['<', '>']) && info.split_whitespace().count() <= MAX_INFO_WORDS;
    is_info.then_some((Mark::Tag(name), info))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_closes_with_at_least_its_own_width() {
        let fence = Fence::read("````markdown").unwrap();
        assert!(!fence.closed_by("```"));
        assert!(fence.closed_by("````  "));
        assert!(Fence::read("```inline```").is_none());
        assert_eq!(Fence::read("```python:src/a.py").unwrap().language(), "python");
    }

    #[test]
    fn a_tag_with_a_language_glued_to_it_is_a_fence() {
        for tag in TAGS {
            let fence = Fence::read(&format!("<{tag}>python")).unwrap();
            assert!(fence.is_tag() && fence.language() == "python");
            assert!(fence.closed_by(&format!("</{tag}>  ")));
            assert!(!fence.closed_by("```") && !fence.closed_by(&format!("<{tag}>")) && !fence.closed_by("</other>"));
            assert!(fence.nested_by(&format!("<{tag}>")) && !fence.nested_by("```python"));
            assert_eq!(fence.lines(true), ("~~~~python".to_owned(), "~~~~".to_owned()));
            assert_eq!(fence.lines(false).0, format!("<{tag}>python"));
            assert!(may_begin_tag(&format!("</{tag}")) && may_begin_tag("<") && !may_begin_tag("<div"));
        }
        assert!(!Fence::read("<code>").unwrap().closed_by("</pre>"));
        for line in [
            "<div>",
            "<code>x</code>",
            "<pre>usage: harbour serve PORT",
            "<source src=\"a.mp4\">",
            "<Source>",
            "</pre>",
        ] {
            assert!(Fence::read(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_fence_may_end_as_one_of_the_other_kind() {
        let (tag, run) = (Fence::read("<source>python").unwrap(), Fence::read("```python").unwrap());
        assert!(tag.ended_by("```") && tag.ended_by("</source>") && !tag.ended_by("```python"));
        assert!(run.ended_by("</source>") && run.ended_by("```") && !run.ended_by("<source>"));
    }

    #[test]
    fn lines_lose_the_indentation_of_their_fence_only_where_all_have_it() {
        let fence = Fence::read("   ```python").unwrap();
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(fence.dedented(lines(&["   def f():", "", "       pass"])), ["def f():", "", "    pass"]);
        let flush = lines(&["def f():", "    pass"]);
        assert_eq!(fence.dedented(flush.clone()), flush);
        assert_eq!(fence.dedented(lines(&["é", "  ü"])), ["é", "  ü"]);
    }
}
