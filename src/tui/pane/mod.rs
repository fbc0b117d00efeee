//! The four panes: how each is drawn from the app.

mod answer;
pub mod chat;
mod citation_marks;
mod command_card;
pub mod context;
mod message;
mod reading_marks;
pub mod repo_map;
pub mod review;
pub(crate) mod stops;
mod transcript;
mod welcome;

pub(super) use command_card::look;
