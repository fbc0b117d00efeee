//! Functions that all databases of the store share: private files, waiting for other processes, and moving a damaged database
//! aside.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long to wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The suffixes of the files of a SQLite database.
const FILE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

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

/// Connects to the existing database at `path`. Waits for other processes that write.
pub(super) fn connection(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(BUSY_TIMEOUT)?;
    Ok(database)
}

/// The schema version of the database (`user_version`); 0 for a new one.
pub(super) fn form(database: &Connection) -> rusqlite::Result<i64> {
    database.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Checks the whole database for damage.
pub(super) fn check(database: &Connection) -> rusqlite::Result<()> {
    let verdict: String = database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    let damage = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(damage, Some(verdict)))
}

/// Whether an error means that the file is damaged, or not a database.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(code(error), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// The error code of SQLite.
pub(super) fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    match error {
        rusqlite::Error::SqliteFailure(error, _) => Some(error.code),
        _ => None,
    }
}

/// Renames the damaged database `name` with all its files. Nothing is deleted, because some of it may be recovered. The error
/// includes the file.
pub(super) fn move_aside(folder: &Path, name: &str, now: i64) -> Result<PathBuf, (PathBuf, io::Error)> {
    // The date, and the time so that the name is unique.
    let today =
        Connection::open_in_memory().and_then(|clock| clock.query_row("SELECT date('now')", [], |row| row.get(0)));
    let stamp = format!("{}-{now}", today.unwrap_or_else(|_| "undated".to_owned()));
    let aside = folder.join(format!("{name}.damaged-{stamp}"));
    for ending in FILE_SUFFIXES {
        let from = folder.join(format!("{name}{ending}"));
        let to = folder.join(format!("{name}.damaged-{stamp}{ending}"));
        match fs::rename(&from, &to) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err((from, source)),
            _ => {}
        }
    }
    Ok(aside)
}

/// Deletes the database `name` with all its files. The error includes the file.
pub(super) fn remove(folder: &Path, name: &str) -> Result<(), (PathBuf, io::Error)> {
    for ending in FILE_SUFFIXES {
        let path = folder.join(format!("{name}{ending}"));
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err((path, source)),
            _ => {}
        }
    }
    Ok(())
}

/// The size of the database `name` with all its files, in bytes.
pub(super) fn size(folder: &Path, name: &str) -> u64 {
    let file = |ending| fs::metadata(folder.join(format!("{name}{ending}"))).map_or(0, |meta| meta.len());
    FILE_SUFFIXES.iter().map(file).sum()
}
