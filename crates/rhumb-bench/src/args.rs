//! The command line of `rhumb-bench`. The help texts are the manual of its flags.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args as ClapArgs, Parser};
use serde::{Deserialize, Serialize};

use rhumb::config::Overrides;

use crate::edits::defect_names;
use crate::refactor::Oracle;
use crate::{CASE, QUESTION};

/// Benchmarks of rhumb: how edits are applied, how good the repo map and the search are, how well models refactor and program.
#[derive(Debug, Parser)]
#[command(name = "rhumb-bench", version, about, max_term_width = 100)]
pub struct Args {
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
    /// How lazy a model is: methods that it is to move out of their class, whole
    Refactor(RefactorBenchArgs),
    /// How well a model programs: exercises with tests
    Exercises(ExercisesBenchArgs),
    /// Two runs of refactor, of exercises or of the performance suite, side by side
    Compare(CompareBenchArgs),
    /// Perform one turn, as the benchmarks with a model start it in a process of its own
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
    /// For people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: ReportFormat,
    /// The same as --format json
    #[arg(long)]
    pub json: bool,
}

impl ReportArgs {
    /// Whether one JSON object is asked for.
    pub fn is_json(&self) -> bool {
        self.json || self.format == ReportFormat::Json
    }
}

/// For people or for programs.
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
    /// Each figure is the median of so many runs
    #[arg(long, default_value = "3", value_name = "N")]
    pub runs: NonZeroUsize,
    #[command(flatten)]
    /// How the figures are printed.
    pub report: ReportArgs,
}

/// `rhumb-bench context`
#[derive(Debug, Clone, ClapArgs)]
pub struct ContextBenchArgs {
    /// The repository that the cases are from, with its whole history; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub git_dir: PathBuf,
    /// The cases, one JSON object a line
    #[arg(long, value_name = "FILE", help = lines_of("cases", CASE, "symbols and chat"))]
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
    #[command(flatten)]
    /// How the figures are printed.
    pub report: ReportArgs,
}

/// `rhumb-bench questions`
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
    #[arg(long = "defect", value_name = "NAME", help = defects())]
    pub defects: Vec<String>,
    /// Have the format of each reply found out, instead of telling it
    #[arg(long)]
    pub auto: bool,
    /// Run the cases once more with quotes taken to the letter, and print the same tables for that
    #[arg(long)]
    pub inflexible: bool,
    /// Write each case that does not end as it should into this folder
    #[arg(long, value_name = "DIR")]
    pub failures: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rhumb-bench refactor`
#[derive(Debug, Clone, ClapArgs)]
pub struct RefactorBenchArgs {
    /// What to do
    #[command(subcommand)]
    pub command: RefactorCommand,
}

/// The steps of the refactoring benchmark.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum RefactorCommand {
    /// Find methods that need nothing of their instance, in Python, Rust, TypeScript, Java, Go and C++, and make a task of each
    Build(BuildRefactorArgs),
    /// Have the model do the tasks, with `rhumb edit`; one that was stopped goes on where it was
    Run(RunRefactorArgs),
    /// Grade the files of a run once more
    Grade(GradeRefactorArgs),
}

/// `rhumb-bench refactor build`
#[derive(Debug, Clone, ClapArgs)]
pub struct BuildRefactorArgs {
    /// The folder whose source files are looked through; nothing is written to it
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// Write the tasks here: tasks.jsonl, and the source of each below files/
    #[arg(long, value_name = "DIR", default_value = "refactor-tasks")]
    pub out: PathBuf,
    /// Fewest syntax nodes of a method: in Python those of its own ast, elsewhere named nodes of tree-sitter without comments
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub min_nodes: usize,
    /// Leave out what this matches, below the folder, as in 'tests' or '**/test_*.py'; may be given more than once
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rhumb-bench refactor run`
#[derive(Debug, Clone, ClapArgs)]
pub struct RunRefactorArgs {
    /// The tasks that `build` wrote
    #[arg(long, value_name = "DIR")]
    pub tasks: PathBuf,
    /// Most tries for a task; from the second on the model is told what is not as it should be
    #[arg(long, default_value = "1", value_name = "N")]
    pub tries: NonZeroUsize,
    /// Ask no model, but one that is made up: perfect, lazy, copy, broken or malformed. Proves the benchmark itself
    #[arg(long, value_name = "NAME", value_parser = recital)]
    pub recite: Option<Oracle>,
    #[command(flatten)]
    /// How it runs.
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
    /// A folder with exercises, each with its tests and a .meta/config.json, as in LANG/exercises/practice/NAME
    #[arg(long, value_name = "DIR")]
    pub from: PathBuf,
    /// Only exercises in this language, by the name of its folder; may be given more than once
    #[arg(long = "language", value_name = "LANG")]
    pub languages: Vec<String>,
    /// Run the tests of a language with this command, as LANG=COMMAND; may be given more than once
    #[arg(long = "test", value_name = "LANG=COMMAND")]
    pub tests: Vec<String>,
    /// Most tries for an exercise; from the second on the model is shown what the tests say
    #[arg(long, default_value = "2", value_name = "N")]
    pub tries: NonZeroUsize,
    /// Longest time that the tests may take, in seconds
    #[arg(long, default_value = "180", value_name = "SECONDS", value_parser = seconds)]
    pub test_time_limit: Duration,
    /// Ask no model, but give the example solution that comes with each exercise. Proves that the tests run here
    #[arg(long)]
    pub recite: bool,
    #[command(flatten)]
    /// How it runs.
    pub run: RunBenchArgs,
}

/// How a benchmark with a model runs.
#[derive(Debug, Clone, ClapArgs)]
pub struct RunBenchArgs {
    #[command(flatten)]
    /// The model.
    pub model: ModelArgs,
    /// The folder of the run: what was run, results, files and events. A run that is there already goes on. RESULTS.json writes
    /// the report to that file, and the run to the folder RESULTS beside it
    #[arg(long, value_name = "DIR", default_value = "bench-run")]
    pub out: PathBuf,
    /// Do so many tasks at a time
    #[arg(long, default_value = "1", value_name = "N")]
    pub jobs: NonZeroUsize,
    /// Longest time that a turn of the model may take, in seconds
    #[arg(long, default_value = "600", value_name = "SECONDS", value_parser = seconds)]
    pub time_limit: Duration,
    /// Begin no task when the run has cost so many dollars; one that is being done may cost what is left
    #[arg(long, value_name = "DOLLARS", value_parser = dollars)]
    pub budget: Option<f64>,
    /// Only tasks with this in their name; may be given more than once
    #[arg(long = "only", value_name = "TEXT")]
    pub only: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Flags that say which model is used, and how. Keys come from the environment, files or a command of the user, never from a flag.
#[derive(Debug, Clone, Default, ClapArgs, Serialize, Deserialize)]
pub struct ModelArgs {
    /// Root of the server's API, such as http://127.0.0.1:11434/v1 [env: RHUMB_BASE_URL]
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// What the server speaks, where its address and the model do not tell: chat, responses, anthropic, gemini or ollama
    /// [env: RHUMB_API]
    #[arg(long, value_name = "API")]
    pub api: Option<String>,
    /// Model to use, with its provider where the keys at hand do not tell: anthropic/NAME [env: RHUMB_MODEL]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// How the model writes edits: diff, diff-fenced, udiff, whole or patch; what suits the model if not given
    #[arg(long, value_name = "FORMAT")]
    pub edit_format: Option<String>,
    /// Tokens for the repo map
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

    /// The same as settings that take precedence over those of files and the environment.
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

    /// The file that the report is written to.
    pub fn report_file(&self) -> Option<&Path> {
        Some(self.out.as_path()).filter(|out| out.extension().is_some_and(|ending| ending == "json"))
    }

    /// Whether a task of that name is to be done.
    pub fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| id.contains(part))
    }
}

/// `rhumb-bench compare`
#[derive(Debug, Clone, ClapArgs)]
pub struct CompareBenchArgs {
    /// The folder of a run; the file of a run of the performance suite
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// The folder of another run over the same tasks; the file of a newer run of the suite
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

fn lines_of(what: &str, example: &str, optional: &str) -> String {
    format!("The {what}, one JSON object a line, of which {optional} may be missing: {example}")
}

fn defects() -> String {
    format!(
        "Only cases that have this defect; may be given more than once: {}",
        defect_names().collect::<Vec<_>>().join(", ")
    )
}

fn recital(name: &str) -> Result<Oracle, String> {
    let found = Oracle::ALL.into_iter().find(|recital| recital.name() == name);
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
