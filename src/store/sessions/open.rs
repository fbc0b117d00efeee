//! Opens the database: creates it if it is missing, moves a damaged one aside, and refuses one with a newer schema.

use std::path::{Path, PathBuf};

use rusqlite::TransactionBehavior;

use super::error::SessionsError;
use super::{SessionStore, now};
use crate::store::database::{check, connection, form, make_folder, move_aside, private_file};

/// The schema version, stored as `user_version`.
const SCHEMA_VERSION: i64 = 1;

/// Maximum size in bytes of a database that is checked completely when it is opened. Damage in a larger one is found when it is
/// read.
const MAX_CHECKED_BYTES: u64 = 64 * 1024 * 1024;

/// The name of the file.
const FILE_NAME: &str = "sessions.db";

/// The tables of schema version 1.
const SCHEMA: &str = "
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

impl SessionStore {
    /// Opens the database in `folder`, or creates it. A damaged one is moved aside; its new path is returned.
    ///
    /// # Errors
    /// The folder or the database cannot be used, or the database has a newer schema.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), SessionsError> {
        Self::open_checked(folder, MAX_CHECKED_BYTES)
    }

    /// As [`SessionStore::open`], after damage was found: the database is checked completely, whatever its size.
    ///
    /// # Errors
    /// As [`SessionStore::open`].
    pub fn reopen(folder: &Path) -> Result<(Self, Option<PathBuf>), SessionsError> {
        Self::open_checked(folder, u64::MAX)
    }

    fn open_checked(folder: &Path, checked: u64) -> Result<(Self, Option<PathBuf>), SessionsError> {
        let unusable = |(path, source)| SessionsError::Folder { path, source };
        make_folder(folder).map_err(|source| unusable((folder.to_owned(), source)))?;
        // If two threads found the same damage, the second would move the new database of the first.
        let gate = folder.join("opening.lock");
        let at_gate = |source| SessionsError::Folder { path: gate.clone(), source };
        let lock = private_file(&gate).map_err(at_gate)?;
        lock.lock().map_err(at_gate)?;
        match Self::connect(folder, checked) {
            Err(error) if error.is_damage() => {
                let aside = move_aside(folder, FILE_NAME, now()).map_err(unusable)?;
                Ok((Self::connect(folder, checked)?, Some(aside)))
            }
            opened => Ok((opened?, None)),
        }
    }

    /// Opens the database in `folder` if there is one.
    ///
    /// # Errors
    /// As [`SessionStore::open`]. A damaged database is not moved.
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, SessionsError> {
        if folder.join(FILE_NAME).exists() { Self::connect(folder, 0).map(Some) } else { Ok(None) }
    }

    fn connect(folder: &Path, checked: u64) -> Result<Self, SessionsError> {
        let path = folder.join(FILE_NAME);
        let io = |source| SessionsError::Folder { path: path.clone(), source };
        // SQLite gives its other files the same permissions.
        let size = private_file(&path).and_then(|file| file.metadata()).map_err(io)?.len();
        let sql = |source| SessionsError::Database { path: path.clone(), source };
        let database = connection(&path).map_err(sql)?;
        let found = form(&database).map_err(sql)?;
        if found > SCHEMA_VERSION {
            return Err(SessionsError::Newer { path, found, known: SCHEMA_VERSION });
        }
        let mut store = Self { folder: folder.to_owned(), path, database };
        store.prepare().map_err(|source| store.failed(source))?;
        if size < checked {
            check(&store.database).map_err(|source| store.failed(source))?;
        }
        Ok(store)
    }

    /// Configures a connection and creates missing tables.
    fn prepare(&mut self) -> rusqlite::Result<()> {
        // A killed process loses nothing, a power failure only the last transactions.
        self.database.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;",
        )?;
        if form(&self.database)? == SCHEMA_VERSION {
            return Ok(());
        }
        let transaction = self.database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have created them meanwhile.
        if form(&transaction)? == 0 {
            transaction.execute_batch(SCHEMA)?;
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
        }
        transaction.commit()
    }
}
