//! Pure text: lines and their endings, display widths, wrapping, and making control characters visible.

pub mod lines;
mod number;
pub mod sanitize;
pub mod width;
pub mod wrap;

pub use number::{byte_size, thousands};
