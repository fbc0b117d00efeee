//! One block of a reply in each of the formats: what it quotes, what it puts there, and where it ends.

pub(super) mod code;
pub(super) mod entity;
pub(super) mod fence;
pub(super) mod file_header;
pub(super) mod marker;
mod prose;
pub(super) mod search_replace;
pub(super) mod unified;
pub(super) mod v4a;
