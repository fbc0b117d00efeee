//! Calibrations of token counts by provider, stored between runs.

use super::{read_small_file, replace_file};
use rhumb_tokens::Calibration;
use std::path::{Path, PathBuf};

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
        let text = read_small_file(&self.path, MAX_BYTES);
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Replaces the stored calibrations.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn write(&self, calibration: &Calibration) -> std::io::Result<()> {
        replace_file(&self.path, &serde_json::to_string(calibration).map_err(std::io::Error::other)?)
    }
}
