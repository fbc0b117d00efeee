//! Lines that open or close a fence: backticks, tildes, or an HTML-like tag.

/// Tags that models use instead of backticks, as in `<source>python` … `</source>`, for files that contain backtick
/// fences.
const TAGS: [&str; 5] = ["source", "code", "pre", "codeblock", "sourcecode"];

/// Maximum number of words after an opening tag: a language and a path. More words are the text of an HTML element.
const MAX_INFO_WORDS: usize = 2;

/// An open code fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: Mark,
    /// Indentation in bytes. A fence with more indentation is code: context of a diff, or a list item.
    indent: usize,
    /// The rest of the line, trimmed.
    pub(crate) info: String,
}

/// The kind of fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Backticks or tildes, and their number.
    Run(char, usize),
    /// A tag with that name.
    Tag(&'static str),
}

impl Fence {
    /// Reads a line that opens a fence. A line that closes backticks or tildes looks the same, without an info
    /// string.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let text = line.trim_start();
        let (mark, info) = if text.starts_with('<') { opening_tag(text)? } else { run(text)? };
        Some(Self { mark, indent: line.len() - text.len(), info: info.trim().to_owned() })
    }

    /// Whether the line is one of the closing tags.
    pub(crate) fn is_closing_tag(line: &str) -> bool {
        let name = line.trim().strip_prefix("</").and_then(|rest| rest.strip_suffix('>'));
        name.is_some_and(|name| TAGS.contains(&name))
    }

    /// Whether the fence is a tag.
    pub(crate) fn is_tag(&self) -> bool {
        matches!(self.mark, Mark::Tag(_))
    }

    /// The opening and the closing line as Markdown. A tag that is never closed is markup, and is not changed.
    pub(crate) fn lines(&self, closed: bool) -> (String, String) {
        let (indent, info) = (" ".repeat(self.indent), &self.info);
        let marks: String = match self.mark {
            Mark::Run(mark, width) => std::iter::repeat_n(mark, width).collect(),
            Mark::Tag(name) if !closed => return (format!("{indent}<{name}>{info}"), String::new()),
            Mark::Tag(_) => "~~~~".to_owned(),
        };
        (format!("{indent}{marks}{info}"), format!("{indent}{marks}"))
    }

    /// The lines without the indentation of the fence, as in a list item, if all of them have it.
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

    /// Whether `line` closes this fence after its last block. Models sometimes close a fence of one kind as the
    /// other kind.
    pub(crate) fn ended_by(&self, line: &str) -> bool {
        let other = match self.mark {
            Mark::Run(..) => Self::is_closing_tag(line),
            Mark::Tag(_) => Self::read(line).is_some_and(|f| !f.is_tag() && f.info.is_empty()),
        };
        other || self.closed_by(line)
    }

    /// Whether `line` opens a fence inside this one that is closed by the same line.
    pub(crate) fn nested_by(&self, line: &str) -> bool {
        Self::read(line).is_some_and(|f| self.as_strong(&f) && (f.is_tag() || !f.info.is_empty()))
    }

    fn as_strong(&self, other: &Self) -> bool {
        let similar = match (self.mark, other.mark) {
            (Mark::Run(own, width), Mark::Run(mark, other)) => own == mark && other >= width,
            (own, mark) => own == mark,
        };
        similar && other.indent <= self.indent
    }

    /// The language: the first word of the info string, in lower case.
    pub(crate) fn language(&self) -> String {
        let word = self.info.split([' ', ':', ',', '{']).next().unwrap_or_default();
        word.to_ascii_lowercase()
    }

    /// Whether the fence has shell commands.
    pub(crate) fn is_shell(&self) -> bool {
        const SHELLS: [&str; 9] = ["bash", "sh", "shell", "console", "zsh", "fish", "powershell", "cmd", "terminal"];
        SHELLS.contains(&self.language().as_str())
    }

    /// Whether the fence has the output of a program.
    pub(crate) fn is_output(&self) -> bool {
        ["output", "stdout", "stderr", "log", "traceback", "pycon"].contains(&self.language().as_str())
    }

    /// Whether the fence is marked as a diff.
    pub(crate) fn is_diff(&self) -> bool {
        ["diff", "udiff", "patch"].contains(&self.language().as_str())
    }

    /// Whether the fence is marked as a document, which may contain fences.
    pub(crate) fn is_document(&self) -> bool {
        ["markdown", "md", "mdx", "rst", "adoc", "asciidoc", "text", "txt"].contains(&self.language().as_str())
    }
}

/// Whether a line that begins with `partial` may become a tag that opens or closes a fence. For readers of a
/// stream.
pub fn may_begin_tag(partial: &str) -> bool {
    let text = partial.trim();
    let begins = |tag: String| tag.starts_with(text) || text.starts_with(&tag);
    text.starts_with('<') && TAGS.iter().any(|tag| begins(format!("<{tag}>")) || begins(format!("</{tag}>")))
}

/// At least three backticks or tildes, and the text after them.
fn run(text: &str) -> Option<(Mark, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let width = text.len() - info.len();
    // A code span on its own line is not a fence.
    (width >= 3 && !info.contains(mark)).then_some((Mark::Run(mark, width), info))
}

/// A tag, and the text after it.
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
