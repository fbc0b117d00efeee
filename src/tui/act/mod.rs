//! What the actions of each pane do. `None` means that the action is none of this pane's.

mod asking_first;
mod citing;
mod command;
mod context;
mod editing;
mod help;
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
mod review_comment;
mod review_edit;
mod review_failed;
mod review_moves;
#[cfg(test)]
mod review_tests;
mod review_views;
mod review_why;
mod review_write;
mod searching;
mod settings;
mod showing;
mod typing;
mod waiting;

pub(crate) use command::is_long_command;
pub use past::Recall;
pub use review_edit::{DraftPart, ReviewDraft};
pub use review_why::Guard;
