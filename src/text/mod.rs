//! Pure text: lines and their endings, display widths, wrapping, and making control characters visible.

pub mod lines;
pub mod sanitize;
pub mod width;
pub mod wrap;
