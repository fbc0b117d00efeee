//! What goes out with a message and what that may cost: the files of the chat, what is named, the map, summaries, keys,
//! the model's settings, money; and what answers cite of it.

pub(super) mod chat_files;
pub(super) mod choosing;
pub(super) mod citing;
mod doubt;
pub(super) mod folding;
pub(super) mod map_choices;
pub(super) mod mentions;
mod secrets;
pub(super) mod spending;
mod telling;
