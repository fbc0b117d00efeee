//! The local store: what costs time to make and can be made again, kept between runs.
//!
//! One folder for each repository below the user's cache folder, never in the work tree. It holds segments of the index
//! (`segment_file`), which never change once they are written, and for each root a tree (`tree_file`) that says which
//! record is whose; the tokens of lines that maps have shown (`counts_file`), and the commits of
//! the past (`history_file`); and the vectors of its texts ([`vectors`]), a database. Every other file is written beside its place
//! and moved there whole, and carries a checksum: a damaged or foreign one counts as absent, and what it held is made anew.
//! Beside those folders lie the lists of models that the user had
//! fetched (`model_lists`), as text; what was learnt of how providers count (`calibration_file`) is state of the user's,
//! and so are how the panes are arranged (`desk_file`), long outputs (`outputs`) and
//! sessions ([`sessions`]), which cannot be made again.

mod calibration_file;
mod counts_file;
mod database;
mod desk_file;
mod error;
mod history_file;
mod map_store;
mod model_lists;
mod outputs;
mod sealed;
mod segment_file;
pub mod sessions;
mod tree_file;
pub mod vectors;

pub use calibration_file::CalibrationFile;
pub use desk_file::{Arrangement, ChosenLayout, DeskFile};
pub use error::StoreError;
pub use map_store::{Loaded, MapStore};
pub use model_lists::{keep_model_list, model_lists};
pub use outputs::{keep_output, output_file};
pub use segment_file::{ContentKey, StoredSegment};
pub use tree_file::{KnownFile, Tree};
