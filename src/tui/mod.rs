//! The full-screen app: turns terminal events and reports into frames.

pub mod action;
pub mod app;
mod chat_pane;
mod coloring;
mod composer;
mod context_pane;
mod event_loop;
mod handlers;
mod hints;
pub mod key;
mod layout;
mod map_pane;
mod mouse;
mod overlay;
mod previews;
mod review_pane;
mod status_line;
pub mod svg;
mod terminal;
pub mod theme;
mod update;
pub mod view;
pub mod widget;

pub use self::app::Start;
pub use self::coloring::ColoringJob;
pub use self::event_loop::{AppExit, run};
pub use self::svg::{Scene, screenshot};
pub use self::terminal::{color_depth, facts, light_background};
