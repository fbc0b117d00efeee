//! The full-screen app: terminal events and reports in, frames out.

mod act;
pub mod action;
pub mod app;
mod coloring;
mod completing;
mod composer;
mod desk;
mod dropped;
mod editor;
mod ground;
pub mod hits;
pub mod key;
mod layout;
mod notify;
mod overlay;
mod pane;
pub mod picture;
pub mod preview;
mod reading;
mod run;
mod signals;
mod start;
mod status;
mod terminal;
pub mod theme;
mod theme_watch;
mod update;
mod vi;
pub mod view;
pub mod wardrobe;
pub mod widget;

pub use coloring::Job;
pub use run::run;
pub use start::Start;
pub use terminal::{color_depth, facts, light_ground};
