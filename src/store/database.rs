//! What all databases of the store have in common: files that only the user can read, waiting for other processes, and moving a
//! damaged one aside.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// What SQLite lays beside a database, and that itself.
const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// Makes a folder that only the user can read, with those above it.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens a file that only the user can read, and makes it where there is none. What stands in it stays.
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

/// A connection to the database at `path`, which must be there; other processes that write are waited for.
pub(super) fn connection(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(PATIENCE)?;
    Ok(database)
}

/// The form that the database is in, a number that SQLite keeps for us; 0 for a new one.
pub(super) fn form(database: &Connection) -> rusqlite::Result<i64> {
    database.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Reads the database through for damage.
pub(super) fn check(database: &Connection) -> rusqlite::Result<()> {
    let verdict: String = database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(());
    }
    let damage = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(damage, Some(verdict)))
}

/// Whether an error says that the file is damaged, or no database at all.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(code(error), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// What an error of SQLite is about.
pub(super) fn code(error: &rusqlite::Error) -> Option<ErrorCode> {
    match error {
        rusqlite::Error::SqliteFailure(error, _) => Some(error.code),
        _ => None,
    }
}

/// Gives the damaged database `name` a name of its own, with all that belongs to it. Nothing is deleted: some of it may be saved.
/// The error is with the file that it is about.
pub(super) fn move_aside(folder: &Path, name: &str, now: i64) -> Result<PathBuf, (PathBuf, io::Error)> {
    // The date as a person reads it, and the moment so that no name is given twice.
    let today =
        Connection::open_in_memory().and_then(|clock| clock.query_row("SELECT date('now')", [], |row| row.get(0)));
    let stamp = format!("{}-{now}", today.unwrap_or_else(|_| "undated".to_owned()));
    let aside = folder.join(format!("{name}.damaged-{stamp}"));
    for ending in BESIDE {
        let from = folder.join(format!("{name}{ending}"));
        let to = folder.join(format!("{name}.damaged-{stamp}{ending}"));
        match fs::rename(&from, &to) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err((from, source)),
            _ => {}
        }
    }
    Ok(aside)
}

/// Deletes the database `name` with all that belongs to it. The error is with the file that it is about.
pub(super) fn remove(folder: &Path, name: &str) -> Result<(), (PathBuf, io::Error)> {
    for ending in BESIDE {
        let path = folder.join(format!("{name}{ending}"));
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => return Err((path, source)),
            _ => {}
        }
    }
    Ok(())
}

/// Bytes on the disk of the database `name` with all that belongs to it.
pub(super) fn size(folder: &Path, name: &str) -> u64 {
    let file = |ending| fs::metadata(folder.join(format!("{name}{ending}"))).map_or(0, |meta| meta.len());
    BESIDE.iter().map(file).sum()
}
