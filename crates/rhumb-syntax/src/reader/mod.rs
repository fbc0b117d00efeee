//! Readers: tags of languages whose outline shows line by line, so that no grammar is needed.
//!
//! They cost a fraction of a parser, cannot be upset by hostile text, and say what a map wants to know of documents and
//! settings: sections and keys.

mod ini;
mod markdown;
mod outline;
mod style;
mod word;
mod yaml;

pub(super) use ini::tags as ini;
pub(super) use markdown::tags as markdown;
pub(super) use style::tags as style;
pub(super) use word::words;
pub(super) use yaml::tags as yaml;
