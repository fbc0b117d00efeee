//! Vectors of texts, stored so that no text is embedded twice: one database for each repository in the cache folder.
//!
//! A vector is identified by the hash of its text and the identity of its model, so that an edit, a branch or another worktree
//! needs only new vectors, and vectors of different models are never mixed. Vectors are written in batches, each in one
//! transaction. Texts that were not used for a month are removed. The database also records to which servers the user agreed to
//! send texts.

#[cfg(test)]
mod tests;

use super::database::{Database, DatabaseError, Schema, milliseconds};
use rhumb_index::retrieval::QuantizedVector;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_128;

/// Days after which an unused text is removed.
const MAX_UNUSED_DAYS: i64 = 30;
/// Days after which the use of a text is recorded again, so that not every search writes.
const USE_INTERVAL_DAYS: i64 = 7;

/// The tables of schema version 1. Days are counted since 1970.
const TABLES: &str = "
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

const SCHEMA: Schema = Schema {
    file_name: "vectors.db",
    lock_name: "vectors.lock",
    version: 1,
    tables: TABLES,
    // A killed process loses nothing, a power failure only the last transactions.
    pragmas: "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;",
    max_checked_bytes: 16 * 1024 * 1024,
};

/// An error of the vector database. None of them loses more than the cost of computing vectors again.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// The database cannot be used.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A model gives vectors with other dimensions than before.
    #[error("{identity} now makes vectors with {found} dimensions; the stored ones have {known}")]
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
        matches!(self, Self::Database(error) if error.is_damage())
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Database(DatabaseError::Newer { .. }) => "Update rhumb, or delete that file: it can be made again.",
            Self::Dims { .. } => "rhumb index delete and rhumb index build make them again.",
            Self::Database(error) if error.is_damage() => "rhumb index build replaces it with a new one.",
            Self::Database(_) => "Check its free space and permissions.",
        }
    }
}

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
    database: Database,
}

impl VectorStore {
    /// Opens the database in `folder`, or creates it. A damaged one is moved aside; its new path is returned.
    ///
    /// # Errors
    /// The folder or the database cannot be used, or the database has a newer schema.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), VectorsError> {
        let (database, aside) = Database::open(&SCHEMA, folder)?;
        Ok((Self { database }, aside))
    }

    /// As [`VectorStore::open`], after damage was found: the database is checked completely, regardless of its size.
    ///
    /// # Errors
    /// As [`VectorStore::open`].
    pub fn reopen(folder: &Path) -> Result<(Self, Option<PathBuf>), VectorsError> {
        let (database, aside) = Database::reopen(&SCHEMA, folder)?;
        Ok((Self { database }, aside))
    }

    /// Opens the database in `folder` if there is one. A damaged one is not moved.
    ///
    /// # Errors
    /// As [`VectorStore::open`].
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, VectorsError> {
        Ok(Database::open_existing(&SCHEMA, folder)?.map(|database| Self { database }))
    }

    /// The path of the database in `folder`, even if it does not exist.
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join(SCHEMA.file_name)
    }

    /// The size of the database in `folder` in bytes.
    pub fn size_in(folder: &Path) -> u64 {
        SCHEMA.size(folder)
    }

    /// Deletes the database in `folder` with the recorded agreements. Returns `false` if it does not exist.
    ///
    /// # Errors
    /// One of its files cannot be deleted.
    pub fn delete(folder: &Path) -> Result<bool, VectorsError> {
        Ok(SCHEMA.delete(folder)?)
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
        self.database.run(|connection| {
            let transaction = connection.unchecked_transaction()?;
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
        })?;
        self.database.write(|transaction| {
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
        self.database.write(|transaction| {
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
        })?;
        Ok(())
    }

    /// Removes texts that were not used for a month, and returns their number.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn sweep(&mut self) -> Result<usize, VectorsError> {
        self.sweep_on(today())
    }

    fn sweep_on(&mut self, today: i64) -> Result<usize, VectorsError> {
        let removed = self.database.write(|transaction| {
            let removed =
                transaction.execute("DELETE FROM vectors WHERE seen < ?", params![today - MAX_UNUSED_DAYS])?;
            let unused = "DELETE FROM models WHERE number NOT IN (SELECT DISTINCT model FROM vectors)";
            transaction.execute(unused, []).map(|_| removed)
        })?;
        Ok(removed)
    }

    /// The models with their vectors, ordered by identity.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn models(&self) -> Result<Vec<ModelVectors>, VectorsError> {
        let read = |connection: &Connection| {
            let sql =
                "SELECT identity, dims, (SELECT count(*) FROM vectors WHERE model = number) FROM models ORDER BY 1";
            let mut select = connection.prepare(sql)?;
            let model = |row: &rusqlite::Row<'_>| {
                Ok(ModelVectors { identity: row.get(0)?, dims: length(row, 1)?, count: length(row, 2)? })
            };
            select.query_map([], model)?.collect::<rusqlite::Result<Vec<_>>>()
        };
        Ok(self.database.run(read)?)
    }

    /// Records that the user agreed to send texts of this repository to `place`.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn agree(&mut self, place: &str) -> Result<(), VectorsError> {
        let insert = "INSERT OR IGNORE INTO agreed (place) VALUES (?)";
        Ok(self.database.write(|transaction| transaction.execute(insert, params![place]).map(drop))?)
    }

    /// Whether the user agreed to send texts of this repository to `place`.
    ///
    /// # Errors
    /// A database operation fails.
    pub fn has_agreed(&self, place: &str) -> Result<bool, VectorsError> {
        let select = "SELECT 1 FROM agreed WHERE place = ?";
        Ok(self.database.run(|connection| connection.prepare(select)?.exists(params![place]))?)
    }

    /// The row id of a model, and the dimensions of its vectors.
    fn model(&self, identity: &str) -> Result<Option<(i64, usize)>, VectorsError> {
        let sql = "SELECT number, dims FROM models WHERE identity = ?";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, length(row, 1)?));
        Ok(self.database.run(|connection| connection.query_row(sql, params![identity], row).optional())?)
    }
}

fn length(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<usize> {
    row.get::<_, i64>(column).map(|number| usize::try_from(number).unwrap_or(0))
}

/// Days since 1970.
fn today() -> i64 {
    milliseconds() / 86_400_000
}
