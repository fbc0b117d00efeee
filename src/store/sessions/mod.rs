//! Saved sessions: one database for each root in the state folder, never in the work tree.
//!
//! A session is a row, each entry of its transcript is a row, and everything else is a named part. Entries and parts are texts
//! whose format is defined by the session. Each open session has a lock file next to the database, whose lock the system
//! releases when the process ends.

mod live;
mod rows;
#[cfg(test)]
mod tests;

use super::database::{Database, DatabaseError, Schema};
pub use live::Live;
pub use rows::Found;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// The tables of schema version 1.
const TABLES: &str = "
    CREATE TABLE sessions (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        parent INTEGER,
        name TEXT NOT NULL DEFAULT '',
        opening TEXT NOT NULL DEFAULT '',
        messages INTEGER NOT NULL DEFAULT 0,
        begun INTEGER NOT NULL,
        changed INTEGER NOT NULL
    );
    CREATE TABLE entries (
        session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session, place)
    ) WITHOUT ROWID;
    CREATE TABLE parts (
        session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (session, name)
    ) WITHOUT ROWID;
    CREATE TABLE inputs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        body TEXT NOT NULL,
        typed INTEGER NOT NULL
    );
";

const SCHEMA: Schema = Schema {
    file_name: "sessions.db",
    lock_name: "opening.lock",
    version: 1,
    tables: TABLES,
    // A killed process loses nothing, a power failure only the last transactions.
    pragmas: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;",
    max_checked_bytes: 64 * 1024 * 1024,
};

/// An error of the session database. None of them affects the user's files.
#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// There is no session with this number.
    #[error("there is no session {0}")]
    Gone(i64),
}

impl SessionsError {
    /// Whether the database is damaged, or not a database.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_damage())
    }

    /// Whether another process has locked the database, so that the operation can be tried again.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_busy())
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Database(DatabaseError::Newer { .. }) => {
                "The file is not changed. Update rhumb to save sessions here again."
            }
            Self::Gone(_) => "rhumb sessions lists all sessions.",
            Self::Database(_) => "Check its free space and permissions, or set sessions = false in rhumb.toml.",
        }
    }
}

/// The sessions of one root.
#[derive(Debug)]
pub struct SessionStore {
    folder: PathBuf,
    database: Database,
}

/// The folder of the sessions of a root in the `state` folder.
pub fn sessions_folder(state: &Path, root: &Path) -> PathBuf {
    let name = root.file_name().unwrap_or(OsStr::new("root")).to_string_lossy();
    let plain: String = name.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let hash = xxh3_64(root.as_os_str().as_encoded_bytes());
    state.join("sessions").join(format!("{plain}-{hash:016x}"))
}

impl SessionStore {
    /// Opens the database in `folder`, or creates it. A damaged one is moved aside; its new path is returned.
    ///
    /// # Errors
    /// The folder or the database cannot be used, or the database has a newer schema.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), SessionsError> {
        let (database, aside) = Database::open(&SCHEMA, folder)?;
        Ok((Self { folder: folder.to_owned(), database }, aside))
    }

    /// As [`SessionStore::open`], after damage was found: the database is checked completely, regardless of its size.
    ///
    /// # Errors
    /// As [`SessionStore::open`].
    pub fn reopen(folder: &Path) -> Result<(Self, Option<PathBuf>), SessionsError> {
        let (database, aside) = Database::reopen(&SCHEMA, folder)?;
        Ok((Self { folder: folder.to_owned(), database }, aside))
    }

    /// Opens the database in `folder` if there is one.
    ///
    /// # Errors
    /// As [`SessionStore::open`]. A damaged database is not moved.
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, SessionsError> {
        let database = Database::open_existing(&SCHEMA, folder)?;
        Ok(database.map(|database| Self { folder: folder.to_owned(), database }))
    }

    /// Locks a session for this process; `None` if another process has it open.
    ///
    /// # Errors
    /// The lock file cannot be created.
    pub fn hold(&self, number: i64) -> Result<Option<Live>, SessionsError> {
        Ok(Live::take(&self.folder, number)?)
    }

    /// Whether a process has the session open.
    pub fn is_live(&self, number: i64) -> bool {
        live::is_taken(&self.folder, number)
    }
}
