//! Errors of the session database. None of them affects the user's files.

use std::io;
use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::store::database::{code, is_damage};

/// An error of the session database.
#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// The folder or a lock file cannot be created.
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
    /// There is no such session.
    #[error("there is no session {number}")]
    Gone {
        /// Its number.
        number: i64,
    },
}

impl SessionsError {
    /// Whether the database is damaged, or not a database.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Database { source, .. } if is_damage(source))
    }

    /// Whether another process has locked the database, so that the operation can be tried again.
    pub fn is_busy(&self) -> bool {
        let Self::Database { source, .. } = self else { return false };
        matches!(code(source), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// What to do next.
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
