//! Benchmarks that anyone can run: what the program costs, and how good it is.

mod figure;
mod map;

pub use figure::{Figure, Unit, median};
pub use map::map;
