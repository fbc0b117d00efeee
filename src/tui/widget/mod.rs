//! Widgets of panes and overlays. They depend on text, styles and areas, not on the session.

pub mod completion;
pub mod diff_lines;
pub mod edit_state;
pub mod file_preview;
pub mod input;
pub mod list_window;
pub mod markdown;
pub mod meter;
pub mod picker;
pub mod styled;
