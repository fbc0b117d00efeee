//! Processes: the developer's commands, their tests and linters, run beside the program and never in its way.
//!
//! A command has a process group of its own, reads the end of a file from its standard input, and writes both of its outputs to
//! one pipe. Its output is read as it comes, freed of what drives terminals, and held in bounded memory; the whole goes to a file up
//! to a limit. However a command ends (by itself, by a signal, by its time limit, because somebody stopped it), nothing of its group
//! is left running: who must outlive the command has to leave the group, as daemons do.
//!
//! Whether a command may run at all is not decided here.

mod capture;
mod command;
mod editor;
mod error;
mod group;
mod mask;
mod plain;
mod run;

#[cfg(test)]
#[cfg(unix)]
mod tests;

pub use capture::{KEPT_BYTES, Live, Output};
pub use command::{CommandLine, Environment, quoted};
pub use editor::{Sheet, named_editor};
pub use error::ProcessError;
pub use group::end_with_parent;
pub use mask::Masks;
pub use plain::Plain;
pub use run::{End, Ended, Keep, Order, Stop, run};
