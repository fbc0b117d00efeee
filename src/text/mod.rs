//! Pure text: lines and their endings, display widths, wrapping, and making control characters visible.

mod day;
pub mod lines;
mod number;
pub mod sanitize;
pub mod width;
pub mod wrap;

pub use day::day_of;
pub use number::{byte_size, thousands};
