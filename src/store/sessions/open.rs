//! Opening the database: making it where there is none, moving a damaged one aside, and leaving one of the future alone.

use std::path::{Path, PathBuf};

use rusqlite::TransactionBehavior;

use super::error::SessionsError;
use super::{SessionStore, now};
use crate::store::database::{check, connection, form, make_folder, move_aside, private_file};

/// The form of the database that this program writes; SQLite keeps the number for us.
const FORM: i64 = 1;

/// A larger database is not read through for damage when it is opened; damage then shows where it is met. In bytes.
const CHECKED: u64 = 64 * 1024 * 1024;

/// Its file.
const NAME: &str = "sessions.db";

/// The tables of form 1.
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

impl SessionStore {
    /// Opens the database in `folder`, or begins one. Where a damaged one has gone, if there was one.
    ///
    /// # Errors
    /// The folder or the database cannot be used, or a newer program has written it.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), SessionsError> {
        Self::open_checked(folder, CHECKED)
    }

    /// [`SessionStore::open`] after damage was met: the database is read through, however large it is.
    ///
    /// # Errors
    /// As there.
    pub fn reopen(folder: &Path) -> Result<(Self, Option<PathBuf>), SessionsError> {
        Self::open_checked(folder, u64::MAX)
    }

    fn open_checked(folder: &Path, checked: u64) -> Result<(Self, Option<PathBuf>), SessionsError> {
        let unusable = |(path, source)| SessionsError::Folder { path, source };
        make_folder(folder).map_err(|source| unusable((folder.to_owned(), source)))?;
        // Two that find the same damage must not both move it: the second would take what the first has begun.
        let gate = folder.join("opening.lock");
        let at_gate = |source| SessionsError::Folder { path: gate.clone(), source };
        let lock = private_file(&gate).map_err(at_gate)?;
        lock.lock().map_err(at_gate)?;
        match Self::connect(folder, checked) {
            Err(error) if error.is_damage() => {
                let aside = move_aside(folder, NAME, now()).map_err(unusable)?;
                Ok((Self::connect(folder, checked)?, Some(aside)))
            }
            opened => Ok((opened?, None)),
        }
    }

    /// Opens the database in `folder` if there is one.
    ///
    /// # Errors
    /// As [`SessionStore::open`]; a damaged one stays where it is.
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, SessionsError> {
        if folder.join(NAME).exists() { Self::connect(folder, 0).map(Some) } else { Ok(None) }
    }

    fn connect(folder: &Path, checked: u64) -> Result<Self, SessionsError> {
        let path = folder.join(NAME);
        let io = |source| SessionsError::Folder { path: path.clone(), source };
        // SQLite gives the files beside it the same permissions.
        let size = private_file(&path).and_then(|file| file.metadata()).map_err(io)?.len();
        let sql = |source| SessionsError::Database { path: path.clone(), source };
        let database = connection(&path).map_err(sql)?;
        let found = form(&database).map_err(sql)?;
        if found > FORM {
            return Err(SessionsError::Newer { path, found, known: FORM });
        }
        let mut store = Self { folder: folder.to_owned(), path, database };
        store.prepare().map_err(|source| store.failed(source))?;
        if size < checked {
            check(&store.database).map_err(|source| store.failed(source))?;
        }
        Ok(store)
    }

    /// Sets what every connection needs, and makes the tables where there are none.
    fn prepare(&mut self) -> rusqlite::Result<()> {
        // A killed program loses nothing by this, and a power cut only the last moments.
        self.database.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;",
        )?;
        if form(&self.database)? == FORM {
            return Ok(());
        }
        let transaction = self.database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have been faster.
        if form(&transaction)? == 0 {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", FORM)?;
        }
        transaction.commit()
    }
}
