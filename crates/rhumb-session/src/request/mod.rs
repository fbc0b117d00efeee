//! What goes out with a message and what that may cost: the files of the chat, what is named, the map, summaries, keys,
//! the model's settings, money; and what answers cite of it.

pub(super) mod chat_files;
pub(super) mod citations;
pub(super) mod history_summary;
pub(super) mod map_choices;
pub(super) mod mentions;
pub(super) mod overrides;
mod oversize;
mod secrets;
pub(super) mod spending;
mod token_report;
