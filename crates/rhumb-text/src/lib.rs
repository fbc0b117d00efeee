//! Pure text: lines and their endings, display widths, wrapping, making control characters visible, keys that stand in it, names
//! that are nearly right, and fuzzy filtering.

mod day;
pub mod diff;
pub mod fuzzy;
pub mod lines;
mod nearest;
mod number;
pub mod sanitize;
pub mod secrets;
pub mod width;
pub mod wrap;

pub use day::day_of;
pub use nearest::nearest;
pub use number::{byte_size, count, rounded, thousands};
