//! Errors for the user of the command line: the message, a hint, and the exit code.

use std::fmt;

/// The kind of an error, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Bad input or usage: exit code 2.
    Usage,
    /// An error of this machine, such as I/O or git: exit code 3.
    Machine,
    /// An error of the provider, such as authentication, rate limit, context overflow or network: exit code 4.
    Provider,
    /// The reply was incomplete; nothing was applied. Exit code 5.
    Incomplete,
}

impl ErrorKind {
    /// The exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Machine => 3,
            Self::Provider => 4,
            Self::Incomplete => 5,
        }
    }
}

/// An error with a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserError {
    /// The kind.
    pub kind: ErrorKind,
    /// The failure and its subject.
    pub message: String,
    /// What to do next; may be empty.
    pub hint: String,
}

impl UserError {
    /// Creates an error.
    pub fn new(kind: ErrorKind, message: impl fmt::Display, hint: impl Into<String>) -> Self {
        Self { kind, message: message.to_string(), hint: hint.into() }
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message.trim_end_matches('.'))?;
        if !self.hint.is_empty() {
            write!(f, "\n  → {}", self.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for UserError {}
