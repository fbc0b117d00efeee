//! The index: what the map keeps of every file, joined into flat tables.
//!
//! A file's part of it, its record, depends on nothing but its content. Records lie side by side in segments (`segment`),
//! which share the names that they use; a segment is a few arrays of integers and one text, so it is stored and loaded as
//! it is. An index is a list of paths with the record of each (`joined`): a file that changes adds a small segment and
//! leaves the large one alone.

mod builder;
mod joined;
mod segment;
mod sketch;

pub use builder::SegmentBuilder;
pub use joined::{IndexFile, MapIndex, RecordAt};
pub use segment::{Entry, Record, Segment, Uses};
