//! A trial checkout: a private view of a repository in which a command runs, with changes applied that are not written. The repository
//! itself does not change.
//!
//! On Linux, [`Trial::run`] starts this program again as a child, which enters new namespaces (user, mount, PID, IPC and network) and
//! mounts an overlay over the repository **at the repository's own path**: nothing is copied, and absolute paths, virtual environments and
//! build caches work. All writes go to an upper layer in the state folder. Landlock then allows writes to the checkout, a private `/tmp` and
//! the caches of build tools only, and credentials are hidden. Where namespaces are not allowed, the command runs in a copy of the
//! repository, in whatever sandbox the system has. [`TrialResult::isolation`] says what was in force.
//!
//! The program must call [`child`] first in `main`, while it has a single thread.
//!
//! ```no_run
//! use rhumb_trial::{Change, RunOptions, Trial};
//! use rhumb_workspace::process::{CommandLine, StopHandle};
//!
//! let root = rhumb_workspace::Root::discover(".".as_ref())?;
//! let mut trial = Trial::new(&root, &std::env::temp_dir().join("trials"))?;
//! let changes = [Change::write("src/lib.rs", b"pub fn f() {}\n".to_vec())];
//! let options = RunOptions::new(CommandLine::Shell("cargo test".into()));
//! let result = trial.run(&changes, &options, &StopHandle::default(), &mut || Ok(None), &mut |_, _| {})?;
//! println!("{:?} in {:?}", result.outcome.end, result.isolation);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Limits
//!
//! A trial protects against mistakes and against code that was not read yet, not against an attack on the kernel. A command can read
//! everything that the user can read, except for the hidden files. Where a file system is mounted below the root, the repository is copied:
//! the kernel allows no overlay above it. The memory of all processes and the free space on the disk are measured, usually every tenth of a
//! second, so that a command can exceed its limits for that long.

mod changed;
#[cfg(unix)]
mod child;
mod copy;
mod credentials;
mod isolation;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod relay;
#[cfg(target_os = "linux")]
mod sandbox;
mod scratch;
#[cfg(unix)]
mod seatbelt;
mod spec;
#[cfg(target_os = "linux")]
mod usage;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use rhumb_workspace::Root;
use rhumb_workspace::process::{
    self, CommandLine, CommandOutcome, End, Environment, LiveOutput, OpenLogFile, ProcessError, RunRequest, SecretMask,
    StopHandle, Watch,
};

pub use changed::{ChangedFile, MAX_CHANGED_FILES};
pub use isolation::{FileIsolation, Isolation, NetworkIsolation, WriteIsolation};
pub use spec::Limits;

use scratch::{Scratch, private_folder};
use spec::Spec;

/// A file to write or delete before the command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path below the root, with `/`, without symbolic links.
    pub path: String,
    /// The content; `None` deletes the file.
    pub content: Option<Arc<[u8]>>,
    /// Whether a new file is executable. A file that exists keeps its mode.
    pub executable: bool,
}

impl Change {
    /// Writes a file.
    pub fn write(path: impl Into<String>, content: Vec<u8>) -> Self {
        Self { path: path.into(), content: Some(content.into()), executable: false }
    }

    /// Deletes a file.
    pub fn delete(path: impl Into<String>) -> Self {
        Self { path: path.into(), content: None, executable: false }
    }
}

/// What a command may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Nothing.
    #[default]
    None,
    /// Servers on this machine, by TCP on the loopback address.
    Loopback,
    /// Everything that the user can reach.
    Full,
}

impl Network {
    /// The names, as on the command line.
    pub const NAMES: [(&'static str, Self); 3] =
        [("none", Self::None), ("loopback", Self::Loopback), ("full", Self::Full)];

    /// The name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, network)| *network == self).map_or("none", |(name, _)| name)
    }
}

/// How a command runs.
#[derive(Debug)]
pub struct RunOptions {
    /// The command.
    pub line: CommandLine,
    /// What it may reach.
    pub network: Network,
    /// Time limit, or `None` for no limit.
    pub time_limit: Option<Duration>,
    /// Environment variables.
    pub environment: Environment,
    /// Secrets to mask in the output.
    pub masks: SecretMask,
    /// What the watcher of the output gets.
    pub watch: Watch,
    /// Whether the command is not run if the repository cannot be mounted, instead of running in a copy.
    pub must_mount: bool,
    /// What the command may use.
    pub limits: Limits,
}

impl RunOptions {
    /// Runs a command without network and time limit.
    pub fn new(line: CommandLine) -> Self {
        Self {
            line,
            network: Network::None,
            time_limit: None,
            environment: Environment::default(),
            masks: SecretMask::default(),
            watch: Watch::default(),
            must_mount: false,
            limits: Limits::default(),
        }
    }
}

/// The result of a command.
#[derive(Debug)]
pub struct TrialResult {
    /// How it ended, and its output.
    pub outcome: CommandOutcome,
    /// What isolated it.
    pub isolation: Isolation,
    /// The files that the command itself changed, without ignored ones; sorted, and at most [`MAX_CHANGED_FILES`].
    pub changed: Vec<ChangedFile>,
    /// Files of the repository that were modified, moved or deleted while the command ran, at most 20. What the command saw of them is
    /// undefined. Deleted files are noticed if git tracks them.
    pub stale: Vec<String>,
}

/// Why a trial did not run.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// A folder or file of the trial cannot be made.
    #[error("the trial checkout cannot use {}: {source}", path.display())]
    Scratch {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The repository must be copied, and is too large.
    #[error(
        "a trial needs a copy of the repository here ({reason}), and its size of {} exceeds the limit of {}",
        gigabytes(*bytes), gigabytes(*limit)
    )]
    TooLarge {
        /// Why it cannot be mounted.
        reason: String,
        /// Size of the repository.
        bytes: u64,
        /// Largest size that is copied.
        limit: u64,
    },
    /// The sandbox cannot be set up.
    #[error("the trial checkout cannot be set up: {0}")]
    Setup(String),
    /// The command cannot be started.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

/// Largest repository that is copied, in bytes, unless the caller sets another limit.
pub const DEFAULT_MAX_COPY_BYTES: u64 = 2 << 30;

/// A size in gigabytes; in megabytes below one.
fn gigabytes(bytes: u64) -> String {
    match bytes as f64 / f64::from(1 << 30) {
        size if size < 1.0 => format!("{:.0} MB", (size * 1024.0).ceil()),
        size => format!("{size:.1} GB"),
    }
}

/// The trial checkout of a session. Build products survive from one run to the next, all else is undone. It is removed when it is dropped,
/// or, after a kill, by the next one that uses the same folder.
#[derive(Debug)]
pub struct Trial {
    root: Root,
    scratch: Scratch,
    /// Folders and files to hide in addition to the usual credentials.
    hidden: Vec<PathBuf>,
    /// Why the repository is never mounted.
    cannot_mount: Option<String>,
    /// The largest repository that is copied, in bytes.
    max_copy_bytes: u64,
}

impl Trial {
    /// Creates a trial checkout of a repository, and removes those that killed processes left in `folder`.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub fn new(root: &Root, folder: &Path) -> Result<Self, TrialError> {
        let scratch = Scratch::create(folder)?;
        let root = root.clone();
        // An overlay must not contain its own layers.
        let is_inside = std::fs::canonicalize(folder).is_ok_and(|folder| folder.starts_with(root.path()));
        let cannot_mount = is_inside.then(|| "the folder of the trial is inside of the repository".to_owned());
        Ok(Self { root, scratch, hidden: Vec::new(), cannot_mount, max_copy_bytes: DEFAULT_MAX_COPY_BYTES })
    }

    /// Hides these folders and files from commands, in addition to the usual credentials.
    #[must_use]
    pub fn hiding(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.hidden.extend(paths);
        self
    }

    /// Copies the repository, where it cannot be mounted, only if it has at most this many bytes, ignored files included. The default is
    /// [`DEFAULT_MAX_COPY_BYTES`].
    pub fn set_max_copy_bytes(&mut self, max_bytes: u64) {
        self.max_copy_bytes = max_bytes;
    }

    /// Copies the repository instead of mounting it, for the given reason.
    #[must_use]
    pub fn copying(mut self, reason: impl Into<String>) -> Self {
        self.cannot_mount = Some(reason.into());
        self
    }

    /// Finds out what isolates a command here, without a copy of the repository.
    ///
    /// # Errors
    /// The trial cannot be set up.
    pub fn probe(&mut self, network: Network) -> Result<Isolation, TrialError> {
        let options = RunOptions { network, ..RunOptions::new(CommandLine::Program(vec!["true".to_owned()])) };
        let status = |trial: &mut Self, checkout: &Path| {
            let started =
                trial.start(checkout, &[], &options, &StopHandle::default(), &mut || Ok(None), &mut |_, _| {});
            started.map(|(_, status)| status)
        };
        let reason = match self.cannot_mount.clone() {
            Some(reason) => reason,
            None => {
                let root = self.root.path().to_owned();
                match status(self, &root)? {
                    Status::Ran(isolation) => return Ok(isolation),
                    Status::NotMounted(reason) => reason,
                    Status::NotSetUp(reason) => return Err(TrialError::Setup(reason)),
                }
            }
        };
        // An empty folder, in place of the copy.
        let folder = self.scratch.folder().join("empty");
        private_folder(&folder).map_err(|source| TrialError::Scratch { path: folder.clone(), source })?;
        match status(self, &folder)? {
            Status::Ran(isolation) => {
                let size = gigabytes(copy::size(self.root.path(), &self.scratch.copy()));
                Ok(isolation.because(&format!("{reason}; the copy has {size}")))
            }
            Status::NotMounted(reason) | Status::NotSetUp(reason) => Err(TrialError::Setup(reason)),
        }
    }

    /// Runs a command on the files as they are now, with `changes` applied. `log` opens the file for an output that is too long for memory.
    /// `watch` is called with new output and the time since the start.
    ///
    /// # Errors
    /// The trial cannot be set up, or the command cannot be started. An error of the command itself is an outcome.
    pub fn run(
        &mut self,
        changes: &[Change],
        options: &RunOptions,
        stop: &StopHandle,
        log: OpenLogFile<'_>,
        watch: &mut dyn FnMut(LiveOutput, Duration),
    ) -> Result<TrialResult, TrialError> {
        self.scratch.begin_run(self.root.path());
        let reason = match self.cannot_mount.clone() {
            Some(reason) => reason,
            None => {
                let checkout = self.root.path().to_owned();
                let (outcome, status) = self.start(&checkout, changes, options, stop, &mut *log, watch)?;
                match status {
                    Status::Ran(isolation) => return Ok(self.result(outcome, isolation, changes)),
                    _ if stop.is_stopped() || outcome.end == End::TimeLimit => {
                        return Ok(self.result(outcome, Isolation::mounted(options.network), changes));
                    }
                    // The next run may have other changes, which can be mounted.
                    Status::NotMounted(reason) => reason,
                    Status::NotSetUp(reason) => return Err(TrialError::Setup(reason)),
                }
            }
        };
        if options.must_mount {
            return Err(TrialError::Setup(reason));
        }
        let checkout = self.scratch.copy();
        copy::refresh(&self.root, &checkout, &reason, self.max_copy_bytes)?;
        let (outcome, status) = self.start(&checkout, changes, options, stop, log, watch)?;
        match status {
            Status::Ran(isolation) => Ok(self.result(outcome, isolation.because(&reason), changes)),
            Status::NotMounted(reason) | Status::NotSetUp(reason) => Err(TrialError::Setup(reason)),
        }
    }

    /// Starts the child that sets up the checkout and runs the command in it.
    fn start(
        &mut self,
        checkout: &Path,
        changes: &[Change],
        options: &RunOptions,
        stop: &StopHandle,
        log: OpenLogFile<'_>,
        watch: &mut dyn FnMut(LiveOutput, Duration),
    ) -> Result<(CommandOutcome, Status), TrialError> {
        let line = match &options.line {
            CommandLine::Shell(line) if !line.trim().is_empty() => vec!["sh".to_owned(), "-c".to_owned(), line.clone()],
            CommandLine::Program(words) if !words.is_empty() => words.clone(),
            _ => return Err(ProcessError::Empty.into()),
        };
        let spec = Spec::new(self, checkout, line, options);
        let file = self.scratch.write_spec(&spec, changes)?;
        let line =
            CommandLine::Program(vec![program(), child_argument().to_owned(), file.to_string_lossy().into_owned()]);
        let request = RunRequest {
            line: &line,
            folder: self.root.path(),
            time_limit: options.time_limit,
            environment: &options.environment,
            masks: &options.masks,
        };
        let outcome = process::run_watched(&request, stop, options.watch, log, watch)?;
        let status = self.scratch.status();
        Ok((outcome, status))
    }

    fn result(&mut self, outcome: CommandOutcome, isolation: Isolation, changes: &[Change]) -> TrialResult {
        let changed = changed::collect(&self.root, &self.scratch, isolation.files, changes);
        let stale = changed::stale(&self.root, self.scratch.began());
        self.scratch.end_run(changes, &changed);
        TrialResult { outcome, isolation, changed: changed.files, stale }
    }

    /// Removes all that the trial has kept.
    pub fn clear(&mut self) {
        self.scratch.clear();
    }

    /// The number of bytes that the trial keeps on the disk.
    pub fn kept_bytes(&self) -> u64 {
        self.scratch.bytes()
    }
}

/// What the child reported.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) enum Status {
    /// The command was started.
    Ran(Isolation),
    /// This system does not allow the mounts or the namespaces, for this reason.
    NotMounted(String),
    /// Something else failed before the command was started.
    NotSetUp(String),
}

/// The path of this program. It stays valid when the file was replaced.
fn program() -> String {
    let linux = format!("/proc/{}/exe", std::process::id());
    let current = || std::env::current_exe().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    if cfg!(target_os = "linux") { linux } else { current() }
}

fn child_argument() -> &'static str {
    spec::CHILD
}

/// Runs as the child of a trial if this process was started as one. Returns its exit code, else `None`. Must be called before any thread
/// is started.
pub fn child() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let (stage, spec) = (arguments.next()?, arguments.next());
    #[cfg(unix)]
    return child::run(&stage, spec.as_deref());
    #[cfg(not(unix))]
    {
        let _ = (stage, spec);
        None
    }
}
