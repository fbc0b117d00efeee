//! The actions of each pane. `None` means that the pane does not handle the action.

mod command;
mod confirm;
mod help;
mod overlays;
mod palette;
mod settings;

pub(crate) use self::command::is_long_command;
