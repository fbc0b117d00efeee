//! Vectors of texts, kept so that no text is embedded twice: one database for each repository, below the user's cache folder.
//!
//! A vector is found by the hash of its text and the identity of the model that made it, so an edit, a branch or another worktree
//! costs only what is new, and vectors of two models never meet. They are written in batches, each whole or not at all: whoever
//! is killed loses one. Texts that nobody has asked for in a month are let go. The database also remembers where the user
//! agreed to send texts to.

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

/// The form of the database that this program writes; SQLite keeps the number for us.
const FORM: i64 = 1;
/// A larger database is not read through for damage when it is opened; damage then shows where it is met. In bytes.
const CHECKED: u64 = 16 * 1024 * 1024;
/// Its file.
const NAME: &str = "vectors.db";
/// Days after which a text that nobody asked for is let go.
const KEPT_DAYS: i64 = 30;
/// That a text was asked for is written down again after so many days: every time would be a write for each search.
const NOTED_DAYS: i64 = 7;

/// The tables of form 1. The days are whole ones since 1970.
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

/// A text, by its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextKey([u8; 16]);

impl TextKey {
    /// The key of a text.
    pub fn of(text: &str) -> Self {
        Self(xxh3_128(text.as_bytes()).to_be_bytes())
    }
}

/// What the database holds of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelVectors {
    /// The identity of the model.
    pub identity: String,
    /// Numbers of a vector.
    pub dims: usize,
    /// How many vectors there are.
    pub count: usize,
}

/// The vectors of one repository.
#[derive(Debug)]
pub struct VectorStore {
    path: PathBuf,
    database: Connection,
}

impl VectorStore {
    /// Opens the database in `folder`, or begins one. Where a damaged one has gone, if there was one: what it held is made anew.
    ///
    /// # Errors
    /// The folder or the database cannot be used, or a newer program has written it.
    pub fn open(folder: &Path) -> Result<(Self, Option<PathBuf>), VectorsError> {
        Self::open_checked(folder, CHECKED)
    }

    /// [`VectorStore::open`] after damage was met: the database is read through, however large it is.
    ///
    /// # Errors
    /// As there.
    pub fn reopen(folder: &Path) -> Result<(Self, Option<PathBuf>), VectorsError> {
        Self::open_checked(folder, u64::MAX)
    }

    /// Opens the database in `folder` if there is one; a damaged one stays where it is.
    ///
    /// # Errors
    /// As [`VectorStore::open`].
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, VectorsError> {
        if folder.join(NAME).exists() { Self::connect(folder, 0).map(Some) } else { Ok(None) }
    }

    /// The file of the database in `folder`, whether it is there or not.
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join(NAME)
    }

    /// Bytes on the disk of the database in `folder`.
    pub fn size_in(folder: &Path) -> u64 {
        database::size(folder, NAME)
    }

    /// Deletes the database in `folder` with what the user agreed to; `false` where there is none.
    ///
    /// # Errors
    /// One of its files cannot be deleted.
    pub fn delete(folder: &Path) -> Result<bool, VectorsError> {
        if !folder.join(NAME).exists() {
            return Ok(false);
        }
        let _gate = gate(folder)?;
        database::remove(folder, NAME).map_err(unusable)?;
        Ok(true)
    }

    /// What is known of these texts by that model, in their order, and notes that somebody asked for them.
    ///
    /// # Errors
    /// The database refuses.
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
                // A row that is none is embedded anew.
                let row = found
                    .as_ref()
                    .and_then(|(bytes, _)| QuantizedVector::from_bytes(bytes))
                    .filter(|row| row.dims() == dims);
                if row.is_some() && found.is_some_and(|(_, seen)| seen <= today - NOTED_DAYS) {
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

    /// Keeps vectors that a model made: all of them, or with an error none.
    ///
    /// # Errors
    /// They are not of as many numbers as those that the model made before, or the database refuses.
    pub fn keep(&mut self, identity: &str, rows: &[(TextKey, QuantizedVector)]) -> Result<(), VectorsError> {
        self.keep_on(identity, rows, today())
    }

    fn keep_on(&mut self, identity: &str, rows: &[(TextKey, QuantizedVector)], today: i64) -> Result<(), VectorsError> {
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
            // Another process may have been faster, with vectors of another form: then nothing of these is kept.
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

    /// Lets go of texts that nobody asked for in a month; how many.
    ///
    /// # Errors
    /// The database refuses.
    pub fn sweep(&mut self) -> Result<usize, VectorsError> {
        self.sweep_on(today())
    }

    fn sweep_on(&mut self, today: i64) -> Result<usize, VectorsError> {
        let mut gone = 0;
        self.write(|transaction| {
            gone = transaction.execute("DELETE FROM vectors WHERE seen < ?", params![today - KEPT_DAYS])?;
            let unused = "DELETE FROM models WHERE number NOT IN (SELECT DISTINCT model FROM vectors)";
            transaction.execute(unused, []).map(drop)
        })?;
        Ok(gone)
    }

    /// What there is of each model, in the order of their identities.
    ///
    /// # Errors
    /// The database refuses.
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

    /// Notes that the user agreed to send texts of this repository to `place`.
    ///
    /// # Errors
    /// The database refuses.
    pub fn agree(&mut self, place: &str) -> Result<(), VectorsError> {
        self.write(|transaction| {
            transaction.execute("INSERT OR IGNORE INTO agreed (place) VALUES (?)", params![place]).map(drop)
        })
    }

    /// Whether the user agreed to send texts of this repository to `place`.
    ///
    /// # Errors
    /// The database refuses.
    pub fn has_agreed(&self, place: &str) -> Result<bool, VectorsError> {
        let read = || self.database.prepare("SELECT 1 FROM agreed WHERE place = ?")?.exists(params![place]);
        read().map_err(|source| self.failed(source))
    }

    /// The number of a model, and the numbers of its vectors.
    fn model(&self, identity: &str) -> Result<Option<(i64, usize)>, VectorsError> {
        let sql = "SELECT number, dims FROM models WHERE identity = ?";
        let found =
            self.database.query_row(sql, params![identity], |row| Ok((row.get(0)?, length(row, 1)?))).optional();
        found.map_err(|source| self.failed(source))
    }

    /// Does all of `work` or nothing of it.
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
                let aside = move_aside(folder, NAME, seconds()).map_err(unusable)?;
                Ok((Self::connect(folder, checked)?, Some(aside)))
            }
            opened => Ok((opened?, None)),
        }
    }

    fn connect(folder: &Path, checked: u64) -> Result<Self, VectorsError> {
        let path = folder.join(NAME);
        // SQLite gives the files beside it the same permissions.
        let size = private_file(&path).and_then(|file| file.metadata());
        let size = size.map_err(|source| unusable((path.clone(), source)))?.len();
        let sql = |source| VectorsError::Database { path: path.clone(), source };
        let mut database = connection(&path).map_err(sql)?;
        let found = form(&database).map_err(sql)?;
        if found > FORM {
            return Err(VectorsError::Newer { path, found, known: FORM });
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

/// Sets what every connection needs, and makes the tables where there are none.
fn prepare(database: &mut Connection) -> rusqlite::Result<()> {
    // A killed program loses nothing by this, and a power cut only the last moments.
    database.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;")?;
    if form(database)? == FORM {
        return Ok(());
    }
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    if form(&transaction)? == 0 {
        transaction.execute_batch(TABLES)?;
        transaction.pragma_update(None, "user_version", FORM)?;
    }
    transaction.commit()
}

/// Held by whoever opens or deletes the database: two that find the same damage must not both move it, the second would take what
/// the first has begun.
fn gate(folder: &Path) -> Result<std::fs::File, VectorsError> {
    let path = folder.join("vectors.lock");
    let lock = private_file(&path).and_then(|file| file.lock().map(|()| file));
    lock.map_err(|source| unusable((path, source)))
}

/// A number of a row that counts something.
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

/// Whole days since 1970.
fn today() -> i64 {
    seconds() / 86_400
}
