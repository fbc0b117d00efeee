//! Models that know the answer, and ones that cheat each in its own way. They prove that the grader tells them apart, and that
//! a whole run works, without a key.

mod moved;
mod reply;

use super::task::Task;
use rhumb_edit::EditFormat;

/// A model that is made up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recital {
    /// Does as it is told.
    Perfect,
    /// Puts a comment in the place of the body.
    Lazy,
    /// Leaves the method in the class.
    Copy,
    /// Adds a bracket that nothing opens.
    Broken,
    /// Quotes lines that the file does not have.
    Malformed,
}

impl Recital {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Perfect, Self::Lazy, Self::Copy, Self::Broken, Self::Malformed];

    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::Lazy => "lazy",
            Self::Copy => "copy",
            Self::Broken => "broken",
            Self::Malformed => "malformed",
        }
    }

    /// The file as it would be after its edits; nothing where the method shares its lines with something else.
    pub fn text(self, task: &Task, source: &str) -> Option<String> {
        moved::moved(self, task, source)
    }

    /// What it answers, in an edit format.
    pub fn reply(self, task: &Task, source: &str, format: EditFormat) -> Option<String> {
        let text = self.text(task, source)?;
        Some(reply::reply(&task.file, source, &text, format, self == Self::Malformed))
    }
}
