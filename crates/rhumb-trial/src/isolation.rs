//! What isolates a command of a trial.

use serde::{Deserialize, Serialize};

use crate::Network;

/// What isolated a command, and why it was not more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// How the repository is protected.
    pub files: FileIsolation,
    /// What confines writes.
    pub writes: WriteIsolation,
    /// What the command could reach.
    pub network: NetworkIsolation,
    /// What is missing, in words; empty if nothing is.
    pub missing: Vec<String>,
}

/// How the repository is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileIsolation {
    /// It is mounted, and writes go to a layer above it. Processes, credentials and sockets are isolated too.
    Overlay,
    /// The command runs in a copy.
    Copy,
}

impl FileIsolation {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Copy => "copy",
        }
    }
}

/// What confines the writes of a command to the checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WriteIsolation {
    /// Nothing.
    None,
    /// Landlock, with this version of its interface.
    Landlock(u32),
    /// The sandbox of macOS.
    Seatbelt,
}

impl WriteIsolation {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock(_) => "landlock",
            Self::Seatbelt => "seatbelt",
        }
    }
}

/// What a command could reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkIsolation {
    /// What it was meant to reach.
    pub wanted: Network,
    /// Whether nothing else was reachable.
    pub enforced: bool,
}

impl Isolation {
    /// The isolation by namespaces alone.
    pub(crate) fn mounted(network: Network) -> Self {
        let network = NetworkIsolation { wanted: network, enforced: true };
        Self { files: FileIsolation::Overlay, writes: WriteIsolation::None, network, missing: Vec::new() }
    }

    /// The isolation of a command in a copy, without any sandbox.
    pub(crate) fn copied(network: Network) -> Self {
        let network = NetworkIsolation { wanted: network, enforced: network == Network::Full };
        Self { files: FileIsolation::Copy, network, ..Self::mounted(network.wanted) }
    }

    /// Adds why the repository is copied.
    pub(crate) fn because(mut self, reason: &str) -> Self {
        self.missing.insert(0, format!("the repository is copied, and processes are not isolated, because {reason}"));
        self
    }

    /// Whether a command can do no harm: it can write to the checkout alone, and it reaches nothing.
    pub fn is_complete(&self) -> bool {
        self.is_confined() && self.network.wanted == Network::None
    }

    /// Whether a command can write to the checkout alone, and reaches only what was wanted.
    pub fn is_confined(&self) -> bool {
        self.files == FileIsolation::Overlay && self.writes != WriteIsolation::None && self.network.enforced
    }

    /// The network as in JSON: what the command could reach.
    pub fn reached_network(&self) -> Network {
        if self.network.enforced { self.network.wanted } else { Network::Full }
    }

    /// One line: "overlay, Landlock ABI 7, network none".
    pub fn summary(&self) -> String {
        let writes = match self.writes {
            WriteIsolation::None => "writes not confined".to_owned(),
            WriteIsolation::Landlock(abi) => format!("Landlock ABI {abi}"),
            WriteIsolation::Seatbelt => "sandbox-exec".to_owned(),
        };
        format!("{}, {writes}, network {}", self.files.name(), self.reached_network().name())
    }
}
