//! How lazy a model is: methods that need nothing of their instance are to be moved out of their class, which is cutting and
//! pasting for whoever does not tire. A body that comes back as a comment is caught by counting syntax nodes.
//!
//! ```text
//! tree, count   walks over syntax trees; syntax nodes, counted as Python's `ast` counts them
//! outline       classes, methods and functions of a file, by language        calls: who calls a method
//! lineage       what types of a file inherit from each other
//! scan          which methods of a file make a task        task: one of them, and tasks as a folder
//! grade         what became of a task
//! recital       models that know the answer, and ones that cheat: they prove the grader
//! ```

mod calls;
mod count;
mod grade;
mod lineage;
mod outline;
mod recital;
mod scan;
mod task;
#[cfg(test)]
mod tests;
mod tree;

pub use grade::{Check, Grade, Verdict, grade};
pub use recital::Recital;
pub use scan::{LeftOut, Scan, scan, scan_bytes};
pub use task::{Nodes, Task, TaskError, Tasks};
