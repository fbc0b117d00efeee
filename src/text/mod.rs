//! Pure text: lines and their endings, display widths, wrapping, making control characters visible, and keys that stand in it.

mod day;
pub mod lines;
mod number;
pub mod sanitize;
pub mod secrets;
pub mod width;
pub mod wrap;

pub use day::day_of;
pub use number::{byte_size, thousands};
