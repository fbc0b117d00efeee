//! Widgets of panes and overlays. They depend on text, styles and areas, not on the session.

pub(super) mod diff_lines;
pub(super) mod file_preview;
pub(super) mod input;
pub(super) mod list_window;
pub mod markdown;
pub(super) mod meter;
pub(super) mod picker;
pub(super) mod styled;
