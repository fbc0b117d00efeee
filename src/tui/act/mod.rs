//! What the actions of each pane do. `None` means that the action is none of this pane's.

mod context;
mod map;
mod review;

pub(super) use map::MapRow;
