//! Pure text: lines and their endings, display widths, wrapping, and making control characters visible.

pub mod lines;
