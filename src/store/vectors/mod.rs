//! Vectors of texts, stored so that no text is embedded twice: one database for each repository in the cache folder.
//!
//! A vector is identified by the hash of its text and the identity of its model, so that an edit, a branch or another worktree
//! needs only new vectors, and vectors of different models are never mixed. Vectors are written in batches, each in one
//! transaction. Texts that were not used for a month are removed. The database also records to which servers the user agreed to
//! send texts.

mod error;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use xxhash_rust::xxh3::xxh3_128;

pub use error::VectorsError;

use super::database::{self, check, connection, form, make_folder, move_aside, private_file};
use rhumb_index::retrieval::QuantizedVector;

/// The schema version, stored as `user_version`.
const SCHEMA_VERSION: i64 = 1;
/// Maximum size in bytes of a database that is checked completely when it is opened. Damage in a larger one is found when it is
/// read.
const MAX_CHECKED_BYTES: u64 = 16 * 1024 * 1024;
/// The name of the file.
const FILE_NAME: &str = "vectors.db";
/// Days after which an unused text is removed.
const MAX_UNUSED_DAYS: i64 = 30;
/// Days after which the use of a text is recorded again, so that not every search writes.
const USE_INTERVAL_DAYS: i64 = 7;

/// The tables of schema version 1. Days are counted since 1970.
const SCHEMA: &str = "
    CREATE TABLE models (
        number INTEGER PRIMARY KEY,
        identity TEXT NOT NULL UNIQUE,
        dims INTEGER NOT NULL
    );
    CREATE TABLE vectors (
        model INTEGER NOT NULL REFERENCES models (number) ON DELETE CASCADE,
        text BLOB NOT NULL,
        seen INTEGER NOT NULL,
        row BLOB NOT NULL,
        PRIMARY KEY (model, text)
    ) WITHOUT ROWID;
    CREATE TABLE agreed (
        place TEXT PRIMARY KEY
    ) WITHOUT ROWID;
";

/// The hash of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextKey([u8; 16]);

impl TextKey {
    /// The key of a text.
    pub fn of(text: &str) -> Self {
        Self(xxh3_128(text.as_bytes()).to_be_bytes())
    }
}

/// The vectors of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelVectors {
    /// The identity of the model.
    pub identity: String,
    /// The dimensions.
    pub dims: usize,
    /// The number of vectors.
    pub count: usize,
}

/// The vectors of one repository.
#[derive(Debug)]
pub struct VectorStore {
    path: PathBuf,
    database: Connection,
}

impl VectorStore {
    /// Opens the database in `folder`, or creates it. A damaged one is moved aside; its new path is returned.
    ///
    /// # Errors
    /// The folder or the database cannot be used, or the database has a newer schema.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), VectorsError> {
        Self::open_checked(folder, MAX_CHECKED_BYTES)
    }

    /// As [`VectorStore::open`], after damage was found: the database is checked completely, whatever its size.
    ///
    /// # Errors
    /// As [`VectorStore::open`].
    pub fn reopen(folder: &Path) -> Result<(Self, Option<PathBuf>), VectorsError> {
        Self::open_checked(folder, u64::MAX)
    }

    /// Opens the database in `folder` if there is one. A damaged one is not moved.
    ///
    /// # Errors
    /// As [`VectorStore::open`].
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, VectorsError> {
        if folder.join(FILE_NAME).exists() { Self::connect(folder, 0).map(Some) } else { Ok(None) }
    }

    /// The path of the database in `folder`, even if it does not exist.
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join(FILE_NAME)
    }

    /// The size of the database in `folder` in bytes.
    pub fn size_in(folder: &Path) -> u64 {
        database::size(folder, FILE_NAME)
    }

    /// Deletes the database in `folder` with the recorded agreements; `false` if there is none.
    ///
    /// # Errors
    /// One of its files cannot be deleted.
    pub fn delete(folder: &Path) -> Result<bool, VectorsError> {
        if !folder.join(FILE_NAME).exists() {
            return Ok(false);
        }
        let _gate = gate(folder)?;
        database::remove(folder, FILE_NAME).map_err(unusable)?;
        Ok(true)
    }

    /// The stored vectors of these texts for a model, in order. Records that the texts were used.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn rows(&mut self, identity: &str, texts: &[TextKey]) -> Result<Vec<Option<QuantizedVector>>, VectorsError> {
        self.rows_on(identity, texts, today())
    }

    fn rows_on(
        &mut self,
        identity: &str,
        texts: &[TextKey],
        today: i64,
    ) -> Result<Vec<Option<QuantizedVector>>, VectorsError> {
        let Some((model, dims)) = self.model(identity)? else { return Ok(vec![None; texts.len()]) };
        let mut rows = Vec::with_capacity(texts.len());
        let mut stale = Vec::new();
        let mut read = || -> rusqlite::Result<()> {
            let transaction = self.database.unchecked_transaction()?;
            let mut select = transaction.prepare("SELECT row, seen FROM vectors WHERE model = ? AND text = ?")?;
            for text in texts {
                let found: Option<(Vec<u8>, i64)> =
                    select.query_row(params![model, text.0], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
                // A malformed row is embedded again.
                let row = found
                    .as_ref()
                    .and_then(|(bytes, _)| QuantizedVector::from_bytes(bytes))
                    .filter(|row| row.dims() == dims);
                if row.is_some() && found.is_some_and(|(_, seen)| seen <= today - USE_INTERVAL_DAYS) {
                    stale.push(*text);
                }
                rows.push(row);
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))?;
        self.write(|transaction| {
            let mut update = transaction.prepare("UPDATE vectors SET seen = ? WHERE model = ? AND text = ?")?;
            stale.iter().try_for_each(|text| update.execute(params![today, model, text.0]).map(drop))
        })?;
        Ok(rows)
    }

    /// Stores vectors of a model: all of them, or none on an error.
    ///
    /// # Errors
    /// The vectors have other dimensions than those of the model before, or a database operation fails.
    pub fn save(&mut self, identity: &str, rows: &[(TextKey, QuantizedVector)]) -> Result<(), VectorsError> {
        self.save_on(identity, rows, today())
    }

    fn save_on(&mut self, identity: &str, rows: &[(TextKey, QuantizedVector)], today: i64) -> Result<(), VectorsError> {
        let Some((_, first)) = rows.first() else { return Ok(()) };
        let known = self.model(identity)?.map_or(first.dims(), |(_, dims)| dims);
        if let Some((_, other)) = rows.iter().find(|(_, row)| row.dims() != known) {
            return Err(VectorsError::Dims { identity: identity.to_owned(), known, found: other.dims() });
        }
        self.write(|transaction| {
            transaction.execute(
                "INSERT OR IGNORE INTO models (identity, dims) VALUES (?, ?)",
                params![identity, known as i64],
            )?;
            // Another process may have stored vectors with other dimensions meanwhile. Then none of these are stored.
            let (model, dims): (i64, usize) = transaction.query_row(
                "SELECT number, dims FROM models WHERE identity = ?",
                params![identity],
                |row| Ok((row.get(0)?, length(row, 1)?)),
            )?;
            let mut insert =
                transaction.prepare("INSERT OR REPLACE INTO vectors (model, text, seen, row) VALUES (?, ?, ?, ?)")?;
            for (text, row) in rows.iter().filter(|(_, row)| row.dims() == dims) {
                insert.execute(params![model, text.0, today, row.to_bytes()])?;
            }
            Ok(())
        })
    }

    /// Removes texts that were not used for a month, and returns their number.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn sweep(&mut self) -> Result<usize, VectorsError> {
        self.sweep_on(today())
    }

    fn sweep_on(&mut self, today: i64) -> Result<usize, VectorsError> {
        let mut gone = 0;
        self.write(|transaction| {
            gone = transaction.execute("DELETE FROM vectors WHERE seen < ?", params![today - MAX_UNUSED_DAYS])?;
            let unused = "DELETE FROM models WHERE number NOT IN (SELECT DISTINCT model FROM vectors)";
            transaction.execute(unused, []).map(drop)
        })?;
        Ok(gone)
    }

    /// The models with their vectors, ordered by identity.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn models(&self) -> Result<Vec<ModelVectors>, VectorsError> {
        let read = || {
            let sql =
                "SELECT identity, dims, (SELECT count(*) FROM vectors WHERE model = number) FROM models ORDER BY 1";
            let mut select = self.database.prepare(sql)?;
            let model = |row: &rusqlite::Row<'_>| {
                Ok(ModelVectors { identity: row.get(0)?, dims: length(row, 1)?, count: length(row, 2)? })
            };
            select.query_map([], model)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Records that the user agreed to send texts of this repository to `place`.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn agree(&mut self, place: &str) -> Result<(), VectorsError> {
        self.write(|transaction| {
            transaction.execute("INSERT OR IGNORE INTO agreed (place) VALUES (?)", params![place]).map(drop)
        })
    }

    /// Whether the user agreed to send texts of this repository to `place`.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn has_agreed(&self, place: &str) -> Result<bool, VectorsError> {
        let read = || self.database.prepare("SELECT 1 FROM agreed WHERE place = ?")?.exists(params![place]);
        read().map_err(|source| self.failed(source))
    }

    /// The row id of a model, and the dimensions of its vectors.
    fn model(&self, identity: &str) -> Result<Option<(i64, usize)>, VectorsError> {
        let sql = "SELECT number, dims FROM models WHERE identity = ?";
        let found =
            self.database.query_row(sql, params![identity], |row| Ok((row.get(0)?, length(row, 1)?))).optional();
        found.map_err(|source| self.failed(source))
    }

    /// Performs `work` in one transaction.
    fn write(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>) -> Result<(), VectorsError> {
        let path = &self.path;
        let failed = |source| VectorsError::Database { path: path.clone(), source };
        let transaction = self.database.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        work(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    fn open_checked(folder: &Path, checked: u64) -> Result<(Self, Option<PathBuf>), VectorsError> {
        make_folder(folder).map_err(|source| unusable((folder.to_owned(), source)))?;
        let _gate = gate(folder)?;
        match Self::connect(folder, checked) {
            Err(error) if error.is_damage() => {
                let aside = move_aside(folder, FILE_NAME, seconds()).map_err(unusable)?;
                Ok((Self::connect(folder, checked)?, Some(aside)))
            }
            opened => Ok((opened?, None)),
        }
    }

    fn connect(folder: &Path, checked: u64) -> Result<Self, VectorsError> {
        let path = folder.join(FILE_NAME);
        // SQLite gives its other files the same permissions.
        let size = private_file(&path).and_then(|file| file.metadata());
        let size = size.map_err(|source| unusable((path.clone(), source)))?.len();
        let sql = |source| VectorsError::Database { path: path.clone(), source };
        let mut database = connection(&path).map_err(sql)?;
        let found = form(&database).map_err(sql)?;
        if found > SCHEMA_VERSION {
            return Err(VectorsError::Newer { path, found, known: SCHEMA_VERSION });
        }
        prepare(&mut database).map_err(sql)?;
        if size < checked {
            check(&database).map_err(sql)?;
        }
        Ok(Self { path, database })
    }

    fn failed(&self, source: rusqlite::Error) -> VectorsError {
        VectorsError::Database { path: self.path.clone(), source }
    }
}

/// Configures a connection and creates missing tables.
fn prepare(database: &mut Connection) -> rusqlite::Result<()> {
    // A killed process loses nothing, a power failure only the last transactions.
    database.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")?;
    if form(database)? == SCHEMA_VERSION {
        return Ok(());
    }
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have created them meanwhile.
    if form(&transaction)? == 0 {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    }
    transaction.commit()
}

/// Locked while the database is opened or deleted: if two threads found the same damage, the second would move the new database
/// of the first.
fn gate(folder: &Path) -> Result<std::fs::File, VectorsError> {
    let path = folder.join("vectors.lock");
    let lock = private_file(&path).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|source| unusable((path, source)))
}

/// A counting column.
fn length(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<usize> {
    row.get::<_, i64>(column).map(|number| usize::try_from(number).unwrap_or(0))
}

fn unusable((path, source): (PathBuf, std::io::Error)) -> VectorsError {
    VectorsError::Folder { path, source }
}

fn seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Days since 1970.
fn today() -> i64 {
    seconds() / 86_400
}
