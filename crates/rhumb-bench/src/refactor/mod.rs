//! How lazy a model is: methods that do not use their instance are to be moved out of their class. The task is cutting and pasting,
//! and a body that comes back as a comment is found by counting syntax nodes.
//!
//! | module | contents |
//! |---|---|
//! | `syntax_tree` | walks over syntax trees; syntax nodes, counted as Python's `ast` counts them |
//! | `outline` | classes, methods and functions of a file, by language |
//! | `scan` | which methods of a file make a task |
//! | `task` | a task, and tasks as a folder |
//! | `grade` | the checks of a result |
//! | `oracle` | models that know the answer, and models that cheat; they prove the grader |
//! | `command` | `rhumb-bench refactor` |

pub(crate) mod command;
mod grade;
mod oracle;
mod outline;
mod scan;
mod syntax_tree;
mod task;
#[cfg(test)]
mod tests;

pub use grade::{Check, CheckResult, Grade, grade};
pub use oracle::Oracle;
pub use scan::{LeftOut, Scan, scan, scan_bytes};
pub use task::{Nodes, Task, TaskError, Tasks};
