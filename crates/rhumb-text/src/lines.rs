//! Lines with their terminators. Diffs and edits work on them, so that untouched lines keep their bytes.

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
    /// The line terminator.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }

    /// The ending of most lines of `text`; LF for a text without line terminators.
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

/// The lines of `text`, each with its terminator. Only `\n` ends a line: form feeds, lone `\r` and the Unicode separators
/// are ordinary characters, as in git. The concatenated lines equal `text`.
pub fn split(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A line without its terminator (`\n` or `\r\n`).
pub fn body(line: &str) -> &str {
    line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line)
}

/// Appends `line` to `text`. If `text` does not end with a terminator, `ending` is inserted first.
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
    fn split_lines_join_to_the_text() {
        for text in ["", "a", "a\n", "a\r\nb\n\nc", "\x0c\nx\ry"] {
            assert_eq!(split(text).concat(), text);
        }
    }

    #[test]
    fn the_most_frequent_ending_is_dominant() {
        assert_eq!(LineEnding::dominant("a\r\nb\r\nc\n"), LineEnding::CrLf);
        assert_eq!(LineEnding::dominant("no end"), LineEnding::Lf);
    }
}
