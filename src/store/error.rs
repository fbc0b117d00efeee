//! What can go wrong with the store. None of it loses more than time.

use std::io;
use std::path::PathBuf;

/// Why something could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder of the store cannot be made or listed.
    #[error("the cache folder {} cannot be used: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the store cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
