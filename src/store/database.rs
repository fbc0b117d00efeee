//! The databases of the store: opening with a check for damage, private files, and transactions. A damaged database is moved aside
//! and replaced by a new one.

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long to wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const FILE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// An error of a database.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
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
    Sql {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
}

impl DatabaseError {
    /// Whether the database is damaged, or not a database.
    pub fn is_damage(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }

    /// Whether another process has locked the database, so that the operation can be tried again.
    pub fn is_busy(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sql { source: rusqlite::Error::SqliteFailure(error, _), .. } => Some(error.code),
            _ => None,
        }
    }
}

fn unusable((path, source): (PathBuf, io::Error)) -> DatabaseError {
    DatabaseError::Folder { path, source }
}

pub(super) struct Schema {
    pub(super) file_name: &'static str,
    /// The name of the lock file for opening and deleting.
    pub(super) lock_name: &'static str,
    /// The version, stored as `user_version`.
    pub(super) version: i64,
    /// The SQL that creates the tables.
    pub(super) tables: &'static str,
    /// The SQL that configures a connection.
    pub(super) pragmas: &'static str,
    /// Maximum size in bytes of a database that is checked completely when it is opened. Damage in a larger one is found when it is
    /// read.
    pub(super) max_checked_bytes: u64,
}

impl Schema {
    /// Locks the folder while the database is opened or deleted: if two threads found the same damage, the second would move the
    /// new database of the first.
    fn lock(&self, folder: &Path) -> Result<File, DatabaseError> {
        let path = folder.join(self.lock_name);
        let lock = private_file(&path).and_then(|file| file.lock().map(|()| file));
        lock.map_err(|source| unusable((path, source)))
    }

    /// Deletes the database in `folder`. Returns `false` if it does not exist.
    pub(super) fn delete(&self, folder: &Path) -> Result<bool, DatabaseError> {
        if !folder.join(self.file_name).exists() {
            return Ok(false);
        }
        let _lock = self.lock(folder)?;
        for path in self.files(folder) {
            ignore_missing(fs::remove_file(&path)).map_err(|source| unusable((path, source)))?;
        }
        Ok(true)
    }

    pub(super) fn size(&self, folder: &Path) -> u64 {
        self.files(folder).iter().map(|path| fs::metadata(path).map_or(0, |meta| meta.len())).sum()
    }

    fn files(&self, folder: &Path) -> [PathBuf; 3] {
        FILE_SUFFIXES.map(|suffix| folder.join(format!("{}{suffix}", self.file_name)))
    }

    /// Renames the damaged database with all its files. Nothing is deleted, because some of it may be recovered.
    fn move_aside(&self, folder: &Path) -> Result<PathBuf, DatabaseError> {
        // The date for the user, and the time so that the name is unique.
        let today =
            Connection::open_in_memory().and_then(|clock| clock.query_row("SELECT date('now')", [], |row| row.get(0)));
        let today = today.unwrap_or_else(|_| "undated".to_owned());
        let aside = format!("{}.damaged-{today}-{}", self.file_name, milliseconds());
        for (from, suffix) in self.files(folder).into_iter().zip(FILE_SUFFIXES) {
            let renamed = fs::rename(&from, folder.join(format!("{aside}{suffix}")));
            ignore_missing(renamed).map_err(|source| unusable((from, source)))?;
        }
        Ok(folder.join(aside))
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

#[derive(Debug)]
pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) connection: Connection,
}

impl Database {
    /// Opens the database in `folder`, or creates it. A damaged one is moved aside; its new path is returned.
    pub(super) fn open(schema: &Schema, folder: &Path) -> Result<(Self, Option<PathBuf>), DatabaseError> {
        Self::open_checked(schema, folder, schema.max_checked_bytes)
    }

    /// As [`Database::open`], after damage was found: the database is checked completely, regardless of its size.
    pub(super) fn reopen(schema: &Schema, folder: &Path) -> Result<(Self, Option<PathBuf>), DatabaseError> {
        Self::open_checked(schema, folder, u64::MAX)
    }

    /// Opens the database in `folder` if there is one. A damaged one is not moved.
    pub(super) fn open_existing(schema: &Schema, folder: &Path) -> Result<Option<Self>, DatabaseError> {
        folder.join(schema.file_name).exists().then(|| Self::connect(schema, folder, 0)).transpose()
    }

    fn open_checked(
        schema: &Schema,
        folder: &Path,
        max_checked_bytes: u64,
    ) -> Result<(Self, Option<PathBuf>), DatabaseError> {
        make_folder(folder).map_err(|source| unusable((folder.to_owned(), source)))?;
        let _lock = schema.lock(folder)?;
        match Self::connect(schema, folder, max_checked_bytes) {
            Err(error) if error.is_damage() => {
                let aside = schema.move_aside(folder)?;
                Ok((Self::connect(schema, folder, max_checked_bytes)?, Some(aside)))
            }
            opened => Ok((opened?, None)),
        }
    }

    fn connect(schema: &Schema, folder: &Path, max_checked_bytes: u64) -> Result<Self, DatabaseError> {
        let path = folder.join(schema.file_name);
        // SQLite gives its other files the same permissions.
        let size = private_file(&path).and_then(|file| file.metadata());
        let size = size.map_err(|source| unusable((path.clone(), source)))?.len();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)
            .and_then(|connection| connection.busy_timeout(BUSY_TIMEOUT).map(|()| connection))
            .map_err(|source| DatabaseError::Sql { path: path.clone(), source })?;
        let mut database = Self { path, connection };
        let found = version(&database.connection).map_err(|source| database.error(source))?;
        if found > schema.version {
            return Err(DatabaseError::Newer { path: database.path, found, known: schema.version });
        }
        prepare(&mut database.connection, schema).map_err(|source| database.error(source))?;
        if size < max_checked_bytes {
            database.run(check)?;
        }
        Ok(database)
    }

    fn error(&self, source: rusqlite::Error) -> DatabaseError {
        DatabaseError::Sql { path: self.path.clone(), source }
    }

    /// Runs statements outside of a transaction.
    pub(super) fn run<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, DatabaseError> {
        work(&self.connection).map_err(|source| self.error(source))
    }

    /// Runs `write` in one transaction. It waits for other writers at its start; upgrading a read transaction would fail instead.
    pub(super) fn write<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let result = transaction.and_then(|transaction| {
            let result = write(&transaction)?;
            transaction.commit().map(|()| result)
        });
        result.map_err(|source| self.error(source))
    }
}

/// Configures a connection and creates missing tables.
fn prepare(connection: &mut Connection, schema: &Schema) -> rusqlite::Result<()> {
    connection.execute_batch(schema.pragmas)?;
    if version(connection)? == schema.version {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have created them meanwhile.
    if version(&transaction)? == 0 {
        transaction.execute_batch(schema.tables)?;
        transaction.pragma_update(None, "user_version", schema.version)?;
    }
    transaction.commit()
}

/// The schema version of a database; 0 for a new one.
fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Checks the whole database for damage.
fn check(connection: &Connection) -> rusqlite::Result<()> {
    let result: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if result == "ok" {
        return Ok(());
    }
    let damage = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(damage, Some(result)))
}

/// Creates a folder that only the user can read, and its parents.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file that only the user can read, or creates it. Its content is kept.
pub(super) fn private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Milliseconds since 1970.
pub(super) fn milliseconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
