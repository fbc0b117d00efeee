//! The flags of `rhumb bench`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::FormatArg;

/// `rhumb bench`
#[derive(Debug, Clone, ClapArgs)]
pub struct BenchArgs {
    /// What is measured
    #[command(subcommand)]
    pub command: BenchCommand,
}

/// The benchmarks.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum BenchCommand {
    /// What the repo map costs here: cold, warm, after a change, while typing
    Map(MapBenchArgs),
    /// How much of what real commits changed the map shows, and what each signal is worth
    Context(ContextBenchArgs),
    /// How well the search answers questions about a repository
    Questions(QuestionBenchArgs),
    /// How well replies are applied: real changes, clean and with the defects that models produce
    Edits(EditsBenchArgs),
}

/// `rhumb bench map`
#[derive(Debug, Clone, ClapArgs)]
pub struct MapBenchArgs {
    /// Each figure is the median of so many runs
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub runs: usize,
    /// For people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
}

/// `rhumb bench context`
#[derive(Debug, Clone, ClapArgs)]
pub struct ContextBenchArgs {
    /// The repository that the cases are from, with its whole history; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub git_dir: PathBuf,
    /// The cases, one JSON object a line: id, parent, query, gold, symbols, chat
    #[arg(long, value_name = "FILE")]
    pub cases: PathBuf,
    /// Run the first of each N cases
    #[arg(long, default_value = "1", value_name = "N")]
    pub stride: NonZeroUsize,
    /// Most tokens of a map; may be given more than once
    #[arg(long = "budget", default_values_t = [1024, 4096], value_name = "N")]
    pub budgets: Vec<usize>,
    /// Measure once more without this signal; may be given more than once
    #[arg(long, value_name = "SIGNAL")]
    pub without: Vec<String>,
    /// For people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
}

/// `rhumb bench questions`
#[derive(Debug, Clone, ClapArgs)]
pub struct QuestionBenchArgs {
    /// The repository that is asked, with its history; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub git_dir: PathBuf,
    /// The commit that is asked
    #[arg(long, default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Ask this folder of it alone; the questions name paths from the root of the repository all the same
    #[arg(long, default_value = "", value_name = "DIR")]
    pub folder: String,
    /// The questions, one JSON object a line: query, relevant, secondary, category
    #[arg(long, value_name = "FILE")]
    pub cases: PathBuf,
    /// For people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
}

/// `rhumb bench edits`
#[derive(Debug, Clone, ClapArgs)]
pub struct EditsBenchArgs {
    /// A repository that changes are taken from; may be given more than once; nothing is written to it
    #[arg(long = "git-dir", value_name = "DIR", required_unless_present = "corpus")]
    pub git_dirs: Vec<PathBuf>,
    /// Run the cases of a folder instead, each a folder with case.json, before, reply.md and after
    #[arg(long, value_name = "DIR", conflicts_with_all = ["git_dirs", "cases", "seed", "formats"])]
    pub corpus: Option<PathBuf>,
    /// Make so many cases of each format
    #[arg(long, default_value_t = 300, value_name = "N")]
    pub cases: usize,
    /// The same seed gives the same cases
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
    /// Formats of the replies: udiff, diff, whole, patch or all; may be given more than once
    #[arg(long = "format", default_value = "all", value_name = "FORMAT")]
    pub formats: Vec<String>,
    /// Only cases that have this defect; may be given more than once
    #[arg(long = "defect", value_name = "NAME")]
    pub defects: Vec<String>,
    /// Have the format of each reply found out, instead of telling it
    #[arg(long)]
    pub auto: bool,
    /// Run the cases once more with quotes taken to the letter, and compare
    #[arg(long)]
    pub inflexible: bool,
    /// Write each case that does not end as it should into this folder
    #[arg(long, value_name = "DIR")]
    pub failures: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}
