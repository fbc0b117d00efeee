//! The local store: data that is expensive to compute is cached between runs, and the user's own data is saved.
//!
//! Each repository has a folder in the cache folder, never in the work tree. It contains immutable segments of the index
//! (`segment_file`); for each root a tree (`tree_file`), which maps files to records; token counts of lines (`counts_file`);
//! the commit history (`history_file`); and the vectors of texts ([`vectors`]), a database. Files other than databases are
//! replaced atomically and have a checksum: a damaged or foreign file counts as missing, and its content is made again. Fetched
//! model lists (`model_lists`) are next to these folders. The state folder has calibrations of token counts
//! (`calibration_file`), the layout (`layout_file`), long outputs (`outputs`) and sessions ([`sessions`]), which cannot be made
//! again.

mod calibration_file;
mod counts_file;
mod database;
mod error;
mod history_file;
mod layout_file;
mod map_store;
mod model_lists;
mod outputs;
mod sealed;
mod segment_file;
pub mod sessions;
mod tree_file;
pub mod vectors;

pub use calibration_file::CalibrationFile;
pub use error::StoreError;
pub use layout_file::{ChosenLayout, LayoutFile, SavedLayout};
pub use map_store::{Loaded, MapStore};
pub use model_lists::{model_lists, save_model_list};
pub use outputs::{output_file, save_output};
pub use segment_file::{ContentKey, StoredSegment};
pub use tree_file::{KnownFile, Tree};
