//! The full-screen app: terminal events and reports in, frames out.

mod act;
pub mod action;
pub mod app;
mod coloring;
mod composer;
mod desk;
mod editor;
pub mod hits;
pub mod key;
mod layout;
mod overlay;
mod pace;
mod pane;
pub mod picture;
pub mod preview;
mod reading;
mod run;
mod selection;
mod start;
mod status;
mod terminal;
pub mod theme;
mod update;
pub mod view;
pub mod widget;

pub use coloring::Job;
pub use picture::portrait::{Scene, portrait};
pub use run::{Left, run};
pub use start::Start;
pub use terminal::{color_depth, facts, light_ground};
