//! What the child of a trial has to do, as a file in the scratch folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::credentials::credentials;
use crate::{Network, RunOptions, Trial};

/// First argument of the child that enters the namespaces, and of the one that becomes their first process.
pub(crate) const CHILD: &str = "__trial";
pub(crate) const INIT: &str = "__trial-init";

/// Limits of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum number of processes.
    pub processes: u64,
    /// Maximum size of a file, in bytes.
    pub file_bytes: u64,
    /// Maximum memory of all processes in bytes, files in `/tmp` included where they are in memory; 0 for no limit.
    pub memory_bytes: u64,
    /// Free space on the disk below which the command is stopped, in bytes. If there is less than twice as much at the start, the limit
    /// is half of that.
    pub min_free_bytes: u64,
}

impl Default for Limits {
    /// Three quarters of the memory of the machine or of its control group; 1 GiB of the disk stay free.
    fn default() -> Self {
        Self {
            processes: 4_096,
            file_bytes: 16 << 30,
            memory_bytes: machine_memory().map_or(0, |bytes| bytes / 4 * 3),
            min_free_bytes: 1 << 30,
        }
    }
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
    /// Folders outside of the root in which build tools write: each gets a private view. For the process that runs the command: those that
    /// have one.
    pub(crate) caches: Vec<PathBuf>,
    /// Git's data, if it is outside of the root.
    pub(crate) git: Option<PathBuf>,
    /// The changes: path, number of the file with the content (`None` deletes), and whether a new file is executable.
    pub(crate) changes: Vec<(String, Option<usize>, bool)>,
    /// Paths that an earlier run changed.
    pub(crate) touched: Vec<String>,
    /// Folders that an earlier run created, the deepest first.
    pub(crate) created: Vec<String>,
    pub(crate) limits: Limits,
}

impl Spec {
    pub(crate) fn new(trial: &Trial, checkout: &Path, line: Vec<String>, options: &RunOptions) -> Self {
        let root = trial.root.path().to_owned();
        let homes = homes();
        let mut hidden = credentials(&homes, |name| std::env::var_os(name));
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
            network: options.network,
            home: homes.into_iter().next(),
            hidden,
            caches,
            git,
            changes: Vec::new(),
            touched: trial.scratch.touched().to_vec(),
            created: trial.scratch.created().to_vec(),
            limits: options.limits,
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

/// The memory of the machine, or that of the container, in bytes.
fn machine_memory() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let total = total.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes << 10)?;
    // Only the group of a container has this file here. Without a limit its text is `max`.
    let of_container =
        std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    Some(of_container.map_or(total, |limit| total.min(limit)))
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
