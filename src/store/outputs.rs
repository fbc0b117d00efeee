//! Long outputs, stored completely: requests contain excerpts, and the whole can be opened.

use super::StoreError;
use super::database::make_folder;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum number of outputs; the oldest are deleted first.
const MAX_OUTPUTS: usize = 100;
/// Maximum size of all outputs in bytes. The newest is kept regardless of its size.
const MAX_TOTAL_BYTES: u64 = 256 * 1024 * 1024;

/// Stores a text in the state folder, in a file that only the user can read, and returns its path. `what` becomes part of the
/// name, as far as possible.
///
/// # Errors
/// The folder or the file cannot be written.
pub fn save_output(state: &Path, what: &str, text: &str) -> Result<PathBuf, StoreError> {
    let (path, mut file) = output_file(state, what)?;
    file.write_all(text.as_bytes()).map_err(|source| StoreError::Write { path: path.clone(), source })?;
    Ok(path)
}

/// Creates an empty file for a text that is written later, in the folder of [`save_output`].
///
/// # Errors
/// The folder or the file cannot be created.
pub fn output_file(state: &Path, what: &str) -> Result<(PathBuf, File), StoreError> {
    let folder = state.join("outputs");
    make_folder(&folder).map_err(|source| StoreError::Folder { path: folder.clone(), source })?;
    let letters = what.chars().map(|c| if c.is_alphanumeric() { c } else { '-' });
    let name: String = letters.take(40).chain(['-']).collect();
    let make = || {
        let file = tempfile::Builder::new().prefix(&name).suffix(".txt").tempfile_in(&folder)?;
        file.keep().map_err(|error| error.error)
    };
    let (file, path) = make().map_err(|source| StoreError::Write { path: folder.join(&name), source })?;
    drop_old(&folder, &path);
    Ok((path, file))
}

/// Deletes the oldest files beyond the limits. Files that cannot be deleted stay.
fn drop_old(folder: &Path, newest: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.path() != newest)
        .filter_map(|entry| {
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((metadata.modified().ok()?, metadata.len(), entry.path()))
        })
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    let mut bytes = 0;
    for (at, (_, size, path)) in files.into_iter().enumerate() {
        bytes += size;
        if at + 1 >= MAX_OUTPUTS || bytes > MAX_TOTAL_BYTES {
            fs::remove_file(path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_kept_whole_and_for_its_owner() {
        let state = tempfile::tempdir().unwrap();
        let text = "line\n".repeat(10_000);
        let path = save_output(state.path(), "cargo test ../../x", &text).unwrap();
        assert!(path.starts_with(state.path().join("outputs")), "{path:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o077, 0);
        }
        assert_ne!(save_output(state.path(), "cargo test ../../x", &text).unwrap(), path);
    }

    #[test]
    fn the_oldest_outputs_go() {
        let state = tempfile::tempdir().unwrap();
        for number in 0..MAX_OUTPUTS + 5 {
            save_output(state.path(), "run", &number.to_string()).unwrap();
        }
        assert_eq!(fs::read_dir(state.path().join("outputs")).unwrap().count(), MAX_OUTPUTS);
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_told() {
        let state = tempfile::tempdir().unwrap();
        fs::write(state.path().join("outputs"), "a file").unwrap();
        assert!(matches!(save_output(state.path(), "run", "x"), Err(StoreError::Folder { .. })));
    }
}
