//! What can go wrong with the vectors' database. None of it loses more than the time, or the money, to embed again.

use std::io;
use std::path::PathBuf;

use crate::store::database::is_damage;

/// Why vectors cannot be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// The folder or a file in it cannot be used.
    #[error("{} cannot be used: {source}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A newer version of the program has changed the form of the database.
    #[error("{} was written by a newer rhumb (form {found}; this one knows {known})", path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its form.
        found: i64,
        /// The newest form that this program knows.
        known: i64,
    },
    /// The database refuses.
    #[error("{}: {source}", path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
    /// A model makes vectors of another form than before.
    #[error("{identity} now makes vectors of {found} numbers; those that are kept have {known}")]
    Dims {
        /// The identity of the model.
        identity: String,
        /// The numbers of a vector before.
        known: usize,
        /// The numbers of one now.
        found: usize,
    },
}

impl VectorsError {
    /// Whether the database is damaged, or no database at all.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Database { source, .. } if is_damage(source))
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "Update rhumb, or delete that file: it can be made again.",
            Self::Dims { .. } => "rhumb index delete, then rhumb index build makes them anew.",
            Self::Database { .. } if self.is_damage() => "rhumb index build sets it aside and begins a new one.",
            Self::Folder { .. } | Self::Database { .. } => "Check the space and the permissions there.",
        }
    }
}
