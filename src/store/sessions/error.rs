//! What can go wrong with the sessions' database. None of it touches the user's files.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::store::database::{code, is_damage};

/// Why sessions cannot be kept or found.
#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// The folder or a lock in it cannot be made.
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
    /// There is no such session.
    #[error("there is no session {number}")]
    Gone {
        /// Its number.
        number: i64,
    },
}

impl SessionsError {
    /// Whether the database is damaged, or no database at all.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Database { source, .. } if is_damage(source))
    }

    /// Whether another process holds the database and trying again is all that is needed.
    pub fn is_busy(&self) -> bool {
        let Self::Database { source, .. } = self else { return false };
        matches!(code(source), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Newer { .. } => "The file stays as it is. Update rhumb to keep sessions here again.",
            Self::Gone { .. } => "rhumb sessions lists those that there are.",
            Self::Folder { .. } | Self::Database { .. } => {
                "Check the space and the permissions there; sessions = false in rhumb.toml keeps nothing."
            }
        }
    }
}
