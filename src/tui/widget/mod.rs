//! Widgets of panes and overlays. They depend on text, styles and areas, not on the session.

pub(super) mod diff_lines;
pub(super) mod file_preview;
pub(super) mod input;
pub(super) mod list_window;
pub mod markdown;
pub(super) mod meter;
pub(super) mod picker;
pub(super) mod styled;

pub(super) use self::file_preview::Marked;
pub(super) use self::input::{LineInput, SecretInput};
pub(super) use self::list_window::ListWindow;
pub(super) use self::styled::{
    Lines, StyledText, cells, clipped, fill, hanging, list_row, mark_characters, marked, matches, place_cursor, spread,
    wrapped,
};
