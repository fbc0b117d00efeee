//! The command line of `rhumb-bench`. The help texts are the manual of its flags.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, Parser, ValueEnum};
use rhumb::config::Overrides;
use serde::{Deserialize, Serialize};

use crate::context::CASE;
use crate::edits::defect_names;
use crate::questions::QUESTION;
use crate::rank::RANK_CASE;
use crate::refactor::Oracle;

/// Benchmarks of rhumb: how edits are applied, how good the repo map and the search are, how well models refactor and program.
#[derive(Debug, Parser)]
#[command(name = "rhumb-bench", version, about, max_term_width = 100)]
pub struct Args {
    /// The benchmark
    #[command(subcommand)]
    pub command: BenchCommand,
}

/// The benchmarks.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum BenchCommand {
    /// Measure what the repo map costs: without a store, with one, after a change, while typing
    Map(MapBenchArgs),
    /// Measure how much of what real commits changed the map shows, and what each signal contributes
    Context(ContextBenchArgs),
    /// Fit and measure the weights of the ranking of files and definitions
    #[command(subcommand)]
    Rank(RankCommand),
    /// Write cases for context: commits of a history with the request, the changed files and the changed definitions
    Mine(MineArgs),
    /// Measure how well the search answers questions about a repository
    Questions(QuestionBenchArgs),
    /// Measure how replies are applied: real changes, clean and with the defects that models produce
    Edits(EditsBenchArgs),
    /// Measure how lazy a model is, by methods that it has to move out of their class
    Refactor(RefactorBenchArgs),
    /// Measure how well a model programs, by exercises with tests
    Exercises(ExercisesBenchArgs),
    /// Compare two runs of refactor, of exercises or of the performance suite
    Compare(CompareBenchArgs),
    /// Perform one turn; started by the benchmarks with a model
    #[command(hide = true)]
    Turn {
        /// The turn as JSON
        #[arg(value_name = "FILE")]
        request: PathBuf,
    },
}

/// How figures are printed.
#[derive(Debug, Clone, ClapArgs)]
pub struct ReportArgs {
    /// The output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
    /// The same as --format json
    #[arg(long)]
    pub json: bool,
}

impl ReportArgs {
    /// Whether the output is JSON.
    pub fn is_json(&self) -> bool {
        self.json || self.format == ReportFormat::Json
    }
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ReportFormat {
    /// Tables
    Text,
    /// One JSON object
    Json,
}

/// `rhumb-bench map`
#[derive(Debug, Clone, ClapArgs)]
pub struct MapBenchArgs {
    /// Measure this folder instead of the repository of the current one
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Number of runs; each figure is their median
    #[arg(long, default_value = "3", value_name = "N")]
    pub runs: NonZeroUsize,
    #[command(flatten)]
    /// How the figures are printed.
    pub report: ReportArgs,
}

/// `rhumb-bench context`
#[derive(Debug, Clone, ClapArgs)]
pub struct ContextBenchArgs {
    /// The repository of the cases, with its whole history; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub git_dir: PathBuf,
    /// The cases, one JSON object a line
    #[arg(long, value_name = "FILE", help = lines_of("cases", CASE, "symbols and chat"))]
    pub cases: PathBuf,
    /// Run the first of each N cases
    #[arg(long, default_value = "1", value_name = "N")]
    pub stride: NonZeroUsize,
    /// Maximum tokens of a map; may be given more than once
    #[arg(long = "budget", default_values_t = [1024, 4096], value_name = "N")]
    pub budgets: Vec<usize>,
    /// Measure again without this signal; may be given more than once
    #[arg(long, value_name = "SIGNAL")]
    pub without: Vec<String>,
    #[command(flatten)]
    /// How the figures are printed.
    pub report: ReportArgs,
}

/// The steps of `rhumb-bench rank`.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum RankCommand {
    /// Rank each case and store the features of the candidates
    Features(RankFeaturesArgs),
    /// Fit the weights to the features, and measure them on repositories that they were not fitted on
    Fit(RankFitArgs),
    /// Count the tool calls that the passages in the first request of the agent loop save
    Calls(RankCallsArgs),
}

/// `rhumb-bench rank features`
#[derive(Debug, Clone, ClapArgs)]
pub struct RankFeaturesArgs {
    /// A folder with one git directory for each repository of the cases: owner+name/repo
    #[arg(long, value_name = "DIR")]
    pub mirrors: PathBuf,
    /// The cases, one JSON object a line; may be given more than once
    #[arg(long, value_name = "FILE", required = true, help = lines_of("cases", RANK_CASE, "strict"))]
    pub cases: Vec<PathBuf>,
    /// The folder for the features. A repository is skipped if the folder has its features for these cases and weights
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Use the first of each N cases of a repository
    #[arg(long, default_value = "1", value_name = "N")]
    pub stride: NonZeroUsize,
}

/// `rhumb-bench rank calls`
#[derive(Debug, Clone, ClapArgs)]
pub struct RankCallsArgs {
    /// A folder with one git directory for each repository of the cases: owner+name/repo
    #[arg(long, value_name = "DIR")]
    pub mirrors: PathBuf,
    /// The cases, as for `rank features`; may be given more than once
    #[arg(long, value_name = "FILE", required = true)]
    pub cases: Vec<PathBuf>,
    /// Budget of the passages in tokens
    #[arg(long, default_value = "16384", value_name = "N")]
    pub tokens: usize,
    /// Use the first of each N cases of a repository
    #[arg(long, default_value = "1", value_name = "N")]
    pub stride: NonZeroUsize,
}

/// `rhumb-bench rank fit`
#[derive(Debug, Clone, ClapArgs)]
pub struct RankFitArgs {
    /// The folder with the features
    #[arg(long, value_name = "DIR")]
    pub features: PathBuf,
    /// Number of groups of repositories; each is measured with weights from the others
    #[arg(long, default_value = "8", value_name = "N")]
    pub folds: NonZeroUsize,
    /// Fit without the features of this name or label; may be given more than once
    #[arg(long, value_name = "FEATURE")]
    pub without: Vec<String>,
    /// Measure the weights of this program instead of fitted ones
    #[arg(long)]
    pub current: bool,
    /// Fit the weights to all cases and replace those in this Rust source
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Replace only this table; may be given more than once
    #[arg(long, value_name = "TABLE", requires = "table")]
    pub only: Vec<WeightTable>,
}

/// A table of weights of the ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WeightTable {
    /// Of files
    Files,
    /// Of definitions, in the list of all
    Symbols,
    /// Of definitions, among those of a file that is needed
    SymbolsInFile,
}

impl WeightTable {
    /// All tables.
    pub const ALL: [Self; 3] = [Self::Files, Self::Symbols, Self::SymbolsInFile];

    /// The first sentence of its documentation.
    pub fn subject(self) -> &'static str {
        match self {
            Self::Files => "The weights of [`FileFeature`](super::FileFeature).",
            Self::Symbols => "The weights of [`SymbolFeature`](super::SymbolFeature) in the list of all definitions.",
            Self::SymbolsInFile => {
                "The weights of [`SymbolFeature`](super::SymbolFeature) among the definitions of a file that is needed."
            }
        }
    }
}

/// `rhumb-bench mine`
#[derive(Debug, Clone, ClapArgs)]
pub struct MineArgs {
    /// The repository, with its whole history; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub git_dir: PathBuf,
    /// The name of the repository in the cases, such as OWNER/NAME [default: the name of its folder]
    #[arg(long, value_name = "NAME")]
    pub repo: Option<String>,
    /// Write the cases to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Maximum number of cases
    #[arg(long, default_value = "40", value_name = "N")]
    pub limit: NonZeroUsize,
    /// The same seed gives the same cases
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
}

/// `rhumb-bench questions`
#[derive(Debug, Clone, ClapArgs)]
pub struct QuestionBenchArgs {
    /// The repository of the questions, with its history; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub git_dir: PathBuf,
    /// The commit to search
    #[arg(long, default_value = "HEAD", value_name = "REV")]
    pub revision: String,
    /// Search only this folder; paths in the questions are still relative to the root of the repository
    #[arg(long, default_value = "", value_name = "DIR")]
    pub folder: String,
    /// The questions, one JSON object a line
    #[arg(long, value_name = "FILE", help = lines_of("questions", QUESTION, "lines, secondary and category"))]
    pub cases: PathBuf,
    #[command(flatten)]
    /// How the figures are printed.
    pub report: ReportArgs,
}

/// `rhumb-bench edits`
#[derive(Debug, Clone, ClapArgs)]
pub struct EditsBenchArgs {
    /// A repository from which changes are taken; may be given more than once; nothing is written to it
    #[arg(long = "git-dir", value_name = "DIR", required_unless_present = "corpus")]
    pub git_dirs: Vec<PathBuf>,
    /// Run the cases of this folder instead, each a folder with case.json, before, reply.md and after
    #[arg(long, value_name = "DIR", conflicts_with_all = ["git_dirs", "cases", "seed", "formats"])]
    pub corpus: Option<PathBuf>,
    /// Number of cases of each edit format
    #[arg(long, default_value_t = 300, value_name = "N")]
    pub cases: usize,
    /// The same seed gives the same cases
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
    /// Edit formats of the replies: udiff, diff, whole, patch or all; may be given more than once
    #[arg(long = "format", default_value = "all", value_name = "FORMAT")]
    pub formats: Vec<String>,
    /// Only cases with this defect; may be given more than once
    #[arg(long = "defect", value_name = "NAME", help = defects())]
    pub defects: Vec<String>,
    /// Let the parser detect the edit format of each reply
    #[arg(long)]
    pub auto: bool,
    /// Run the cases again with exact matching only, and print the same tables for that
    #[arg(long)]
    pub inflexible: bool,
    /// Write each case with an unexpected result into this folder
    #[arg(long, value_name = "DIR")]
    pub failures: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rhumb-bench refactor`
#[derive(Debug, Clone, ClapArgs)]
pub struct RefactorBenchArgs {
    /// The step
    #[command(subcommand)]
    pub command: RefactorCommand,
}

/// The steps of the refactoring benchmark.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum RefactorCommand {
    /// Find methods that do not use their instance, in Python, Rust, TypeScript, Java, Go and C++, and make a task of each
    Build(BuildRefactorArgs),
    /// Have the model do the tasks; a stopped run continues
    Run(RunRefactorArgs),
    /// Grade the files of a run again
    Grade(GradeRefactorArgs),
}

/// `rhumb-bench refactor build`
#[derive(Debug, Clone, ClapArgs)]
pub struct BuildRefactorArgs {
    /// The folder with the source files; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// The folder for the tasks: tasks.jsonl, and the sources in files/
    #[arg(long, value_name = "DIR", default_value = "refactor-tasks")]
    pub out: PathBuf,
    /// Minimum number of syntax nodes of a method: nodes of ast in Python, else named nodes of tree-sitter without comments
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub min_nodes: usize,
    /// Exclude paths that match, relative to the folder: 'tests', '**/test_*.py'; may be given more than once
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rhumb-bench refactor run`
#[derive(Debug, Clone, ClapArgs)]
pub struct RunRefactorArgs {
    /// The folder that `build` wrote
    #[arg(long, value_name = "DIR")]
    pub tasks: PathBuf,
    /// Maximum number of tries for a task; from the second on the request names the checks that failed
    #[arg(long, default_value = "1", value_name = "N")]
    pub tries: NonZeroUsize,
    /// Use an oracle model instead of a real one: perfect, lazy, copy, broken or malformed. Proves the benchmark itself
    #[arg(long, value_name = "NAME", value_parser = oracle)]
    pub recite: Option<Oracle>,
    #[command(flatten)]
    /// Flags of the run.
    pub run: RunBenchArgs,
}

/// `rhumb-bench refactor grade`
#[derive(Debug, Clone, ClapArgs)]
pub struct GradeRefactorArgs {
    /// The folder of the run
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rhumb-bench exercises`
#[derive(Debug, Clone, ClapArgs)]
pub struct ExercisesBenchArgs {
    /// A folder with exercises, each with tests and a .meta/config.json, as in LANG/exercises/practice/NAME
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// Only exercises in this language, the name of a folder; may be given more than once
    #[arg(long = "language", value_name = "LANG")]
    pub languages: Vec<String>,
    /// Run the tests of a language with this command, as LANG=COMMAND; may be given more than once
    #[arg(long = "test", value_name = "LANG=COMMAND")]
    pub tests: Vec<String>,
    /// Maximum number of tries for an exercise; from the second on the model gets the output of the tests
    #[arg(long, default_value = "2", value_name = "N")]
    pub tries: NonZeroUsize,
    /// Time limit of the tests in seconds
    #[arg(long, default_value = "180", value_name = "SECONDS", value_parser = seconds)]
    pub test_time_limit: Duration,
    /// Use the example solution of each exercise instead of a model. Proves that the tests run here
    #[arg(long)]
    pub recite: bool,
    #[command(flatten)]
    /// Flags of the run.
    pub run: RunBenchArgs,
}

/// Flags of benchmarks with a model.
#[derive(Debug, Clone, ClapArgs)]
pub struct RunBenchArgs {
    #[command(flatten)]
    /// The model.
    pub model: ModelArgs,
    /// The folder of the run. An existing run is continued. With RESULTS.json the report is written to that file, and the folder is
    /// RESULTS
    #[arg(long, value_name = "DIR", default_value = "bench-run")]
    pub out: PathBuf,
    /// Number of tasks at a time
    #[arg(long, default_value = "1", value_name = "N")]
    pub jobs: NonZeroUsize,
    /// Time limit of a turn in seconds
    #[arg(long, default_value = "600", value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Duration,
    /// Maximum cost of the run in dollars, earlier parts included
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub budget: Option<f64>,
    /// Only tasks whose name contains this; may be given more than once
    #[arg(long = "only", value_name = "TEXT")]
    pub only: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Flags that choose the model. Keys come from the environment, files or a command of the user, never from a flag.
#[derive(Debug, Clone, Default, ClapArgs, Serialize, Deserialize)]
pub struct ModelArgs {
    /// Root of the server's API, such as http://127.0.0.1:11434/v1 [env: RHUMB_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// The API of the server, if it does not follow from the address and the model: chat, responses, anthropic, gemini or ollama
    /// [env: RHUMB_API]
    #[arg(long, value_name = "API")]
    pub api: Option<String>,
    /// The model, with its provider if that does not follow from the available keys: anthropic/NAME [env: RHUMB_MODEL]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// The edit format: diff, diff-fenced, udiff, whole or patch [default: what suits the model]
    #[arg(long, value_name = "FORMAT")]
    pub edit_format: Option<String>,
    /// Maximum tokens of the repo map
    #[arg(long, value_name = "N")]
    pub map_tokens: Option<usize>,
}

impl ModelArgs {
    /// The flags as they are typed.
    pub fn as_typed(&self) -> Vec<String> {
        let map_tokens = self.map_tokens.map(|tokens| tokens.to_string());
        let flags = [
            ("--base-url", &self.base_url),
            ("--api", &self.api),
            ("--model", &self.model),
            ("--edit-format", &self.edit_format),
            ("--map-tokens", &map_tokens),
        ];
        let given = flags.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value.clone()?]));
        given.flatten().collect()
    }

    /// The flags as settings that take precedence over those of files and the environment.
    pub fn overrides(&self) -> Overrides {
        Overrides {
            base_url: self.base_url.clone(),
            api: self.api.clone(),
            model: self.model.clone(),
            edit_format: self.edit_format.clone(),
            map_tokens: self.map_tokens,
            ..Overrides::default()
        }
    }
}

impl RunBenchArgs {
    /// The folder of the run.
    pub fn folder(&self) -> PathBuf {
        if self.report_file().is_some() { self.out.with_extension("") } else { self.out.clone() }
    }

    /// The file for the report, if `--out` names one.
    pub fn report_file(&self) -> Option<&Path> {
        Some(self.out.as_path()).filter(|out| out.extension().is_some_and(|ending| ending == "json"))
    }

    /// Whether a task is selected.
    pub fn selects(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| id.contains(part))
    }
}

/// `rhumb-bench compare`
#[derive(Debug, Clone, ClapArgs)]
pub struct CompareBenchArgs {
    /// The folder of a run, or a file of the performance suite
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The folder of another run over the same tasks, or a file of a newer run of the suite
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

fn lines_of(what: &str, example: &str, optional: &str) -> String {
    format!("The {what}, one JSON object on each line; {optional} are optional: {example}")
}

fn defects() -> String {
    format!(
        "Only cases with this defect; may be given more than once: {}",
        defect_names().collect::<Vec<_>>().join(", ")
    )
}

fn oracle(name: &str) -> Result<Oracle, String> {
    let found = Oracle::ALL.into_iter().find(|oracle| oracle.name() == name);
    found.ok_or_else(|| format!("one of {}", Oracle::ALL.map(Oracle::name).join(", ")))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).ok_or_else(|| "seconds above 0".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|dollars| *dollars > 0.0 && dollars.is_finite())
        .ok_or_else(|| "dollars above 0".to_owned())
}
