//! What the actions of each pane do. `None` means that the action is none of this pane's.

mod command;
mod confirm;
mod help;
mod overlays;
mod palette;
mod settings;

pub(crate) use self::command::is_long_command;
