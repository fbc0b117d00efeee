//! What the child of a trial has to do, as a file in the scratch folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::credentials::CREDENTIALS;
use crate::{Network, Trial};

/// First argument of the child that enters the namespaces, and of the one that becomes their first process.
pub(crate) const CHILD: &str = "__trial";
pub(crate) const INIT: &str = "__trial-init";

/// The largest amount of private memory of a process, as a share of the machine's memory.
const MEMORY_SHARE: u64 = 1;
/// Maximum number of processes.
const MAX_PROCESSES: u64 = 4_096;
/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 30;

/// Limits of a command.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) processes: u64,
    pub(crate) file_bytes: u64,
    /// Private memory of one process, in bytes; 0 for no limit.
    pub(crate) memory_bytes: u64,
}

/// The work of the child.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) root: PathBuf,
    /// The folder in which the command runs: the root itself if it is mounted, else the copy.
    pub(crate) checkout: PathBuf,
    pub(crate) scratch: PathBuf,
    pub(crate) line: Vec<String>,
    pub(crate) network: Network,
    pub(crate) home: Option<PathBuf>,
    /// Folders and files to hide.
    pub(crate) hidden: Vec<PathBuf>,
    /// Folders outside of the root in which build tools write: each gets a private view.
    pub(crate) caches: Vec<PathBuf>,
    /// Git's data, if it is outside of the root.
    pub(crate) git: Option<PathBuf>,
    /// The changes: path, number of the file with the content (`None` deletes), and whether a new file is executable.
    pub(crate) changes: Vec<(String, Option<usize>, bool)>,
    /// Paths that an earlier run changed.
    pub(crate) touched: Vec<String>,
    pub(crate) limits: Limits,
}

impl Spec {
    pub(crate) fn new(trial: &Trial, checkout: &Path, line: Vec<String>, network: Network) -> Self {
        let root = trial.root.path().to_owned();
        let homes = homes();
        let mut hidden: Vec<PathBuf> =
            homes.iter().flat_map(|home| CREDENTIALS.iter().map(|name| home.join(name))).collect();
        hidden.extend(trial.hidden.iter().cloned());
        let mut caches: Vec<PathBuf> =
            homes.iter().flat_map(|home| CACHES.iter().map(|name| home.join(name))).collect();
        caches.extend(CACHE_VARIABLES.iter().filter_map(std::env::var_os).map(PathBuf::from));
        caches.retain(|cache| cache.is_absolute() && !cache.starts_with(&root) && !root.starts_with(cache));
        let git = rhumb_workspace::git::common_folder(&root).filter(|git| !git.starts_with(&root));
        Self {
            checkout: checkout.to_owned(),
            scratch: trial.scratch.folder().to_owned(),
            line,
            network,
            home: homes.into_iter().next(),
            hidden,
            caches,
            git,
            changes: Vec::new(),
            touched: trial.scratch.touched().to_vec(),
            limits: Limits {
                processes: MAX_PROCESSES,
                file_bytes: MAX_FILE_BYTES,
                memory_bytes: machine_memory().map_or(0, |bytes| bytes * MEMORY_SHARE),
            },
            root,
        }
    }

    /// Whether the repository is mounted, and not copied.
    pub(crate) fn is_mounted(&self) -> bool {
        self.checkout == self.root
    }
}

/// The home folders: that of the environment, and that of the user's account.
fn homes() -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> =
        std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from).into_iter().collect();
    homes.extend(account_home().filter(|home| !homes.contains(home)));
    homes.retain(|home| home.is_absolute() && home != Path::new("/"));
    homes
}

/// The home folder of the user's account, by `/etc/passwd`.
fn account_home() -> Option<PathBuf> {
    #[cfg(unix)]
    {
        let uid = rustix::process::getuid().as_raw().to_string();
        let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
        let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let own = fields.into_iter().find(|fields| fields.get(2) == Some(&uid.as_str()))?;
        own.get(5).map(|home| PathBuf::from(OsString::from(home)))
    }
    #[cfg(not(unix))]
    None
}

/// The memory of the machine, in bytes.
fn machine_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// Folders of the home folder in which build tools keep what they have downloaded or built.
const CACHES: [&str; 14] = [
    ".cargo", ".cache", ".npm", ".yarn", ".pnpm-store", ".local/share/pnpm", "go", ".gradle", ".m2", ".ivy2", ".nuget",
    ".composer", ".bun", ".deno",
];

/// Variables that name such folders.
const CACHE_VARIABLES: [&str; 11] = [
    "CARGO_HOME", "CARGO_TARGET_DIR", "XDG_CACHE_HOME", "GOPATH", "GOCACHE", "GOMODCACHE", "GRADLE_USER_HOME",
    "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR", "CCACHE_DIR",
];
