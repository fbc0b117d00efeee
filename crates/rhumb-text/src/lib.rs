//! Text utilities without I/O: line diffs, fuzzy filters, terminal widths and wrapping, sanitising, masking of secrets.
//!
//! The functions take strings and return strings or ranges. They read no files, no clock and no environment; `clippy.toml`
//! of this crate enforces that.
//!
//! ```
//! let diff = rhumb_text::diff::unified("notes.txt", Some("one\ntwo\n"), Some("one\nthree\n"));
//! assert_eq!(
//!     diff,
//!     "diff --git a/notes.txt b/notes.txt\n--- a/notes.txt\n+++ b/notes.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
//! );
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`lines`] | lines with their terminators, the dominant line ending |
//! | [`diff`] | [`Hunk`](diff::Hunk)s between two texts, their partial application, unified diffs, word diffs |
//! | [`fuzzy`] | [`FuzzyFilter`](fuzzy::FuzzyFilter): which texts of a list match a query, and in which order; [`nearest`]: "did you mean" |
//! | [`width`], [`wrap`] | terminal columns of a text, clipping and wrapping between graphemes |
//! | [`sanitize`] | control, invisible and bidirectional characters as visible glyphs |
//! | [`secrets`] | API keys and private keys, found by their documented formats and masked |
//!
//! # Limits
//!
//! - Only `\n` ends a line. A lone `\r`, a form feed and the Unicode separators are ordinary characters, as in git.
//! - Widths follow the `unicode-width` crate. A terminal with other tables can differ for emoji and ambiguous characters.
//! - [`secrets`] recognises the key formats of about 50 services. It does not use entropy, so it misses passwords and keys
//!   without a documented format.

pub mod diff;
mod format;
pub mod fuzzy;
pub mod lines;
pub mod sanitize;
pub mod secrets;
pub mod width;
pub mod wrap;

pub use format::{byte_size, count, iso_date, rounded, thousands};
pub use fuzzy::nearest;
