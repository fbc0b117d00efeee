//! What can be typed on the command line. The help texts here are the manual of the flags.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

use crate::headless::{ApplyArgs, EditArgs, MapArgs};

/// A full-screen terminal pair programmer: ranked repo map, metered context, and a review of every hunk before a byte is
/// written.
#[derive(Debug, Parser)]
#[command(name = "rhumb", version, about, max_term_width = 100)]
pub struct Args {
    /// Work in this folder instead of the repository of the current one
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Add this file to the chat from the start; repeat for more
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<String>,
    #[command(flatten)]
    /// Model and display.
    pub provider: ProviderArgs,
    /// Panic after the first frame, to test that the terminal comes back
    #[arg(long, hide = true)]
    pub test_panic: bool,
    #[command(subcommand)]
    /// What to do; the app when absent.
    pub command: Option<Command>,
}

/// Flags about the model. The key comes from RHUMB_API_KEY, OPENAI_API_KEY or a file, never from a flag.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct ProviderArgs {
    /// Root of an OpenAI-compatible API, such as http://127.0.0.1:11434/v1 [env: RHUMB_BASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// Model to ask [env: RHUMB_MODEL]
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// How the model writes edits: diff, diff-fenced, udiff, whole or patch [default: diff]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub edit_format: Option<String>,
    /// Tokens for the repo map
    #[arg(long, global = true, value_name = "N")]
    pub map_tokens: Option<usize>,
    /// Colours: rhumb-dark, rhumb-light, rhumb-16 or high-contrast
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Do not commit what is written
    #[arg(long)]
    pub no_commit: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the app on a sample repository with recorded replies: no key, no network
    Demo {
        /// Words a second of the recorded replies
        #[arg(long, default_value_t = 40, value_name = "WORDS")]
        speed: u32,
    },
    /// Print the ranked repo map
    Map(MapArgs),
    /// Apply a model's reply to files
    Apply(ApplyArgs),
    /// One turn without the app: ask for a change, review it, write it
    Edit(EditArgs),
}
