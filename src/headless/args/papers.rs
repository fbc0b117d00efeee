//! Flags of `completions`, `man` and `version`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueHint};
use clap_complete::Shell;

/// `rhumb completions`
#[derive(Debug, Clone, ClapArgs)]
pub struct CompletionsArgs {
    /// The shell that they are for
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// `rhumb man`
#[derive(Debug, Clone, ClapArgs)]
pub struct ManArgs {
    /// Write the page of the program and one for each command to this folder, instead of printing the first
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub dir: Option<PathBuf>,
}

/// `rhumb version`
#[derive(Debug, Clone, ClapArgs)]
pub struct VersionArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
