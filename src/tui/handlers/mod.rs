//! The actions of each pane. `None` means that the pane does not handle the action.

mod commands;
mod overlays;
mod settings;

pub(crate) use self::commands::is_long_command;
