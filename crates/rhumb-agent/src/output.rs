//! Cuts results of tools to a budget.

/// Which part of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The beginning.
    Head,
    /// The beginning and the end, since compilers print errors last.
    HeadAndTail,
}

/// A text that was cut to a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clipped {
    /// The text, with a line in place of what is missing.
    pub text: String,
    /// The number of missing lines.
    pub missing_lines: usize,
    /// The number of missing bytes.
    pub missing_bytes: usize,
}

/// Cuts a text to at most `max_bytes` bytes and `max_lines` lines, at line boundaries. `rest` says how to read what is missing.
pub fn clip(text: &str, _keep: Keep, _max_bytes: usize, _max_lines: usize, _rest: &str) -> Clipped {
    Clipped { text: text.to_owned(), missing_lines: 0, missing_bytes: 0 }
}
