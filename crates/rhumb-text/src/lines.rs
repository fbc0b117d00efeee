//! Lines with their terminators: the unit that diffs and edits work on, so that untouched lines keep their bytes.

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineEnding {
    /// `\n`
    #[default]
    Lf,
    /// `\r\n`
    CrLf,
}

impl LineEnding {
    /// The terminator itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The ending that most lines of `text` have; LF for a text without line ends.
    pub fn dominant(text: &str) -> Self {
        let (mut lf, mut crlf) = (0usize, 0usize);
        for line in split(text) {
            if line.ends_with("\r\n") {
                crlf += 1;
            } else if line.ends_with('\n') {
                lf += 1;
            }
        }
        if crlf > lf { Self::CrLf } else { Self::Lf }
    }
}

/// The lines of `text`, each with its terminator. Only `\n` ends a line: form feeds, lone `\r` and the Unicode
/// separators are ordinary characters here, as they are for git. Joining the result gives `text` back.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A line without its terminator (`\n` or `\r\n`).
pub fn body(line: &str) -> &str {
    line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line)
}

/// Appends `line` to `text`. A last line of `text` without a terminator gets `ending` first, or two lines would become one.
pub fn push(text: &mut String, line: &str, ending: LineEnding) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(ending.as_str());
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_loses_nothing() {
        for text in ["", "a", "a\n", "a\r\nb\n\nc", "\x0c\nx\ry"] {
            assert_eq!(split(text).concat(), text);
        }
    }

    #[test]
    fn the_commonest_ending_wins() {
        assert_eq!(LineEnding::dominant("a\r\nb\r\nc\n"), LineEnding::CrLf);
        assert_eq!(LineEnding::dominant("no end"), LineEnding::Lf);
    }
}
