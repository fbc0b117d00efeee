//! What the actions of each pane do. `None` means that the action is none of this pane's.

mod asking_first;
mod citing;
mod command;
mod connect;
mod context;
mod editing;
mod help;
mod hint_age;
mod layout;
mod line;
mod lists;
mod map;
mod mouse;
mod outside;
mod palette;
mod past;
mod reading;
mod rerun;
mod review;
mod searching;
mod settings;
mod showing;
mod typing;
mod waiting;

pub(crate) use command::is_long_command;
pub use hint_age::HintAge;
pub use past::Recall;
pub use review::edit::{DraftPart, ReviewDraft};
pub use review::why::Guard;
