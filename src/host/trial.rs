//! Trial checkouts: what they apply, what they hide, and what they cannot prevent.

use super::write::file_writes;
use super::{Host, lock};
use crate::config::{Paths, Settings};
use rhumb_session::{Failure, PendingWrite};
use rhumb_trial::{Change, Isolation, Trial, TrialError};
use rhumb_workspace::{FilePreview, Root, WriteError, preview_write};
use std::path::PathBuf;

/// The executable bits of a mode.
const EXECUTABLE: u32 = 0o111;

/// The folders of a trial.
#[derive(Debug, Clone)]
pub struct TrialSetup {
    folder: PathBuf,
    hidden: Vec<PathBuf>,
    max_copy_bytes: u64,
}

impl TrialSetup {
    /// The folders of the settings. Without a state folder, trials are kept in the folder for temporary files.
    pub fn new(settings: &Settings) -> Self {
        let state = settings.state_folder.clone();
        let folder = state.clone().unwrap_or_else(|| std::env::temp_dir().join("rhumb")).join("trials");
        let own = Paths::of_user().map(|paths| paths.own()).unwrap_or_default();
        let hidden = own.into_iter().chain(state).collect();
        Self { folder, hidden, max_copy_bytes: settings.trial_max_copy_bytes }
    }

    /// Creates a trial checkout of a repository.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn open(&self, root: &Root) -> Result<Trial, TrialError> {
        let mut trial = Trial::new(root, &self.folder)?.hiding(self.hidden.iter().cloned());
        trial.set_max_copy_bytes(self.max_copy_bytes);
        Ok(trial)
    }
}

impl Host {
    /// Uses the trial checkout of the session, which the first use creates. Waits for another use.
    ///
    /// # Errors
    /// The trial checkout cannot be created.
    pub(super) fn with_trial<T>(&self, work: impl FnOnce(&mut Trial) -> T) -> Result<T, TrialError> {
        let mut shared = lock(&self.shared.trial);
        let trial = match shared.take() {
            Some(trial) => trial,
            None => TrialSetup::new(&self.shared.env.settings).open(&self.shared.root)?,
        };
        Ok(work(shared.insert(trial)))
    }
}

/// What to do about a trial that did not run.
pub fn trial_hint(error: &TrialError) -> &'static str {
    match error {
        TrialError::Scratch { .. } => "Check the permissions and the free space of the state folder.",
        TrialError::TooLarge { .. } => "The setting try_copy_gb sets the limit.",
        TrialError::Setup(_) => "rhumb doctor shows what this machine allows.",
        TrialError::Process(error) => error.hint(),
    }
}

/// The changes that a write would make, with the bytes that it would write.
///
/// # Errors
/// The files cannot be written: see [`rhumb_workspace::write`].
pub fn changes_of(root: &Root, writes: &[PendingWrite]) -> Result<Vec<Change>, WriteError> {
    let change = |file: FilePreview| Change {
        path: file.path,
        content: file.content.map(Into::into),
        executable: file.mode.is_some_and(|mode| mode & EXECUTABLE != 0),
    };
    Ok(preview_write(root, &file_writes(writes))?.into_iter().map(change).collect())
}

/// What is missing from the isolation of a trial, for the user.
pub fn isolation_notes(isolation: &Isolation) -> Vec<Failure> {
    let note = |missing: &String| {
        let message = format!("The trial is not fully isolated: {missing}.");
        Failure::new(message, "rhumb doctor shows what this machine allows.")
    };
    isolation.missing.iter().map(note).collect()
}
