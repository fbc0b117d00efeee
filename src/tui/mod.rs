//! The full-screen app: turns terminal events and reports into frames.

pub mod action;
mod app;
mod chat_pane;
mod coloring;
mod composer;
mod context_pane;
pub(crate) mod event_loop;
mod handlers;
mod hints;
pub mod key;
mod layout;
mod map_pane;
mod mouse;
mod notifications;
mod overlay;
mod prelude;
mod previews;
mod review_pane;
mod status_line;
mod svg;
mod terminal;
pub mod theme;
mod update;
pub mod view;
pub mod widget;

pub(crate) use self::app::Start;
pub(crate) use self::svg::{Scene, screenshot};
pub(crate) use self::terminal::{color_depth, facts, light_background};

pub use self::app::{App, Task};
pub use self::coloring::ColoringJob;
pub use self::svg::svg;
