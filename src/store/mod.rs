//! The local store: data that is expensive to compute is cached between runs, and the user's own data is saved.
//!
//! Each repository has a folder in the cache folder, never in the work tree. It contains immutable segments of the index
//! and for each root a tree, which maps files to records; token counts of lines and the commit history (all in `map_files`);
//! and the vectors of texts ([`vectors`]), a database. Files other than databases are
//! replaced atomically and have a checksum: a damaged or foreign file counts as missing, and its content is made again. Fetched
//! model lists are next to these folders. The state folder has calibrations of token counts and the layout (all in `state_files`),
//! long outputs (`outputs`) and sessions ([`sessions`]), which cannot be made again.

mod database;
mod map_files;
mod map_store;
mod outputs;
mod sealed;
pub mod sessions;
mod state_files;
pub mod vectors;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

pub use database::DatabaseError;
pub use map_files::{ContentKey, KnownFile, StoredSegment, Tree};
pub use map_store::{Loaded, MapStore};
pub use outputs::{output_file, save_output};
pub use state_files::{CalibrationFile, ChosenLayout, LayoutFile, SavedLayout, model_lists, save_model_list};

/// An error of the store. Each only costs time.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder of the store cannot be created or listed.
    #[error("the cache folder {} cannot be used: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of the store cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Replaces a file that only the user can read, and creates its folder.
fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    database::make_folder(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|error| error.error).map(drop)
}

/// Reads a text file of at most `max_bytes`; `None` if it is missing, larger or not readable.
fn read_small_file(path: &Path, max_bytes: u64) -> Option<String> {
    path.metadata().ok().filter(|metadata| metadata.is_file() && metadata.len() <= max_bytes)?;
    std::fs::read_to_string(path).ok()
}
