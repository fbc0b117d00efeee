//! Saved sessions: one database for each root in the state folder, never in the work tree.
//!
//! A session is a row, each entry of its transcript is a row, and everything else is a named part. Entries and parts are texts
//! whose format is defined by the session. Each open session has a lock file next to the database, whose lock the system
//! releases when the process ends.

mod error;
mod list;
mod live;
mod open;
mod rows;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use xxhash_rust::xxh3::xxh3_64;

pub use error::SessionsError;
pub use list::Found;
pub use live::Live;

/// The sessions of one root.
#[derive(Debug)]
pub struct SessionStore {
    folder: PathBuf,
    path: PathBuf,
    database: Connection,
}

/// The folder of the sessions of a root in the `state` folder.
pub fn sessions_folder(state: &Path, root: &Path) -> PathBuf {
    let name = root.file_name().unwrap_or(OsStr::new("root")).to_string_lossy();
    let plain: String = name.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let hash = xxh3_64(root.as_os_str().as_encoded_bytes());
    state.join("sessions").join(format!("{plain}-{hash:016x}"))
}

impl SessionStore {
    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks a session for this process; `None` if another process has it open.
    ///
    /// # Errors
    /// The lock file cannot be created.
    pub fn hold(&self, number: i64) -> Result<Option<Live>, SessionsError> {
        Live::take(&self.folder, number)
    }

    /// Whether a process has the session open.
    pub fn is_live(&self, number: i64) -> bool {
        live::is_taken(&self.folder, number)
    }

    fn failed(&self, source: rusqlite::Error) -> SessionsError {
        SessionsError::Database { path: self.path.clone(), source }
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
