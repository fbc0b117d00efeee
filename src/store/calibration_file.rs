//! Calibrations of token counts by provider, stored between runs.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::database::make_folder;
use rhumb_tokens::Calibration;

/// Maximum size of the file in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// The file in the state folder.
#[derive(Debug, Clone)]
pub struct CalibrationFile {
    path: PathBuf,
}

impl CalibrationFile {
    /// The file in the folder `state`.
    pub fn new(state: &Path) -> Self {
        Self { path: state.join("token-calibration.json") }
    }

    /// The stored calibrations; none if the file is missing or damaged.
    pub fn read(&self) -> Calibration {
        let small = self.path.metadata().is_ok_and(|metadata| metadata.len() <= MAX_BYTES);
        let text = small.then(|| std::fs::read_to_string(&self.path).ok()).flatten();
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Replaces the stored calibrations.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, calibration: &Calibration) -> std::io::Result<()> {
        let text = serde_json::to_string(calibration).map_err(std::io::Error::other)?;
        let folder = self.path.parent().unwrap_or(Path::new("."));
        make_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(&self.path).map_err(|error| error.error).map(drop)
    }
}
