//! Errors of the vector database. None of them loses more than the cost of computing vectors again.

use std::io;
use std::path::PathBuf;

use crate::store::database::is_damage;

/// An error of the vector database.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// The folder or a file in it cannot be used.
    #[error("{} cannot be used: {source}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The database has a newer schema.
    #[error("{} was written by a newer rhumb (form {found}; this one knows {known})", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The schema version of this program.
        known: i64,
    },
    /// A database operation failed.
    #[error("{}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// A model gives vectors with other dimensions than before.
    #[error("{identity} now makes vectors of {found} numbers; those that are kept have {known}")]
    Dims {
        /// The identity of the model.
        identity: String,
        /// The dimensions before.
        known: usize,
        /// The dimensions now.
        found: usize,
    },
}

impl VectorsError {
    /// Whether the database is damaged, or not a database.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Database { source, .. } if is_damage(source))
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "Update rhumb, or delete that file: it can be made again.",
            Self::Dims { .. } => "rhumb index delete, then rhumb index build makes them anew.",
            Self::Database { .. } if self.is_damage() => "rhumb index build sets it aside and begins a new one.",
            Self::Folder { .. } | Self::Database { .. } => "Check the space and the permissions there.",
        }
    }
}
