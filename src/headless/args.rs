//! The flags of the commands without the app. Their help texts are the manual.

use clap::{Args as ClapArgs, ValueEnum, ValueHint};
use clap_complete::Shell;
use rhumb_session::context::Mode;
use rhumb_session::{ContextRequestPolicy, RunPolicy};
use rhumb_trial::Network;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Styles of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StyleArg {
    /// Signatures nested under their containers
    Tree,
    /// File, kind, symbol with signature
    Outline,
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    /// Exactly what the model sees
    Text,
    /// One JSON object
    Json,
}

/// `rhumb map`
#[derive(Debug, Clone, ClapArgs)]
pub struct MapArgs {
    /// Maximum number of tokens of the map [default: --map-tokens, else 4096]
    #[arg(long, value_name = "N")]
    pub tokens: Option<usize>,
    /// A file in the chat: it is not shown, and what it references ranks higher
    #[arg(long = "chat-file", value_name = "FILE")]
    pub chat_files: Vec<String>,
    /// The message that the map is for; names in it rank higher
    #[arg(long, default_value = "", value_name = "TEXT")]
    pub message: String,
    /// A file that ranks higher
    #[arg(long = "mention-file", value_name = "FILE")]
    pub mention_files: Vec<String>,
    /// An identifier that ranks higher
    #[arg(long = "mention-ident", value_name = "NAME")]
    pub mention_idents: Vec<String>,
    /// A file that comes first, regardless of the message
    #[arg(long = "pin", value_name = "FILE")]
    pub pins: Vec<String>,
    /// A file that is never shown
    #[arg(long = "ban", value_name = "FILE")]
    pub bans: Vec<String>,
    /// Style of the map
    #[arg(long, value_enum, default_value = "tree")]
    pub style: StyleArg,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
    /// In JSON, list the references that raised the rank of each file and symbol
    #[arg(long)]
    pub explain: bool,
    /// Read every file again, and store nothing for the next run
    #[arg(long)]
    pub no_cache: bool,
    /// Print counts and times of the phases to standard error
    #[arg(long)]
    pub stats: bool,
    /// The model whose tokens are counted; empty for none (set by the global flag of the same name)
    #[arg(skip)]
    pub model: String,
}

/// `rhumb search`
#[derive(Debug, Clone, ClapArgs)]
pub struct SearchArgs {
    /// A question, a name, or a path
    #[arg(value_name = "WORDS")]
    pub words: Vec<String>,
    /// The same as WORDS
    #[arg(long, value_name = "TEXT", required_unless_present = "words", conflicts_with = "words")]
    pub query: Option<String>,
    /// What is listed
    #[arg(long, value_enum, default_value = "passage")]
    pub unit: UnitArg,
    /// Maximum number of results
    #[arg(long, default_value = "10", value_name = "K")]
    pub limit: NonZeroUsize,
    /// Search mode, for passages [default: hybrid if a model for it is available, else lexical]
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
    /// Explain the rank of each result; for passages that of the file, and the matching words
    #[arg(long)]
    pub explain: bool,
    /// Print the passages as they are sent to a model
    #[arg(long)]
    pub context: bool,
    /// Maximum number of tokens with --context
    #[arg(long, default_value_t = 8192, requires = "context", value_name = "N")]
    pub tokens: usize,
    /// Read and parse every file again, and store nothing
    #[arg(long)]
    pub no_cache: bool,
}

/// What a search lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum UnitArg {
    /// Passages: definitions, parts of long ones, and lines outside of all definitions
    #[default]
    Passage,
    /// Files
    File,
    /// Functions, types and other definitions, in one list
    Symbol,
}

/// Search modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModeArg {
    /// By words
    Lexical,
    /// By meaning
    Semantic,
    /// By both
    Hybrid,
}

/// `rhumb index`
#[derive(Debug, Clone, ClapArgs)]
pub struct IndexArgs {
    /// Print one JSON object
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do with the index; shows it if absent
    #[command(subcommand)]
    pub command: Option<IndexCommandArg>,
}

/// Commands of the semantic index.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum IndexCommandArg {
    /// Show files, passages, the model, and where the vectors are
    Status,
    /// Embed what has no vector yet; texts are sent to a server only after you agree
    Build {
        /// Agree that texts are sent to the server of the settings
        #[arg(long)]
        yes: bool,
    },
    /// Delete the index of this repository, words and vectors, and your agreement
    Delete,
    /// Download a model for this machine, after showing its size
    Download {
        /// Name at the hub, OWNER/MODEL [default: embeddings_model, else minishlab/potion-code-16M]
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

/// `rhumb models`
#[derive(Debug, Clone, ClapArgs)]
pub struct ModelsArgs {
    /// A name, a short name, or parts of a name; every model if absent
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,
    /// Fetch the public lists of models; no other command fetches them
    #[arg(long)]
    pub refresh: bool,
    /// Source of the list: litellm, openrouter, models-dev, an address, a file, or - for standard input
    #[arg(long, value_name = "X")]
    pub from: Option<String>,
    /// Write the list to this file, in the format of the bundled lists, instead of storing it
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rhumb sessions`
#[derive(Debug, Clone, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct SessionsArgs {
    /// Words of a name, a first message or a date; every session if absent
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// What to do with a session
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
}

/// Commands of a session.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum SessionsCommand {
    /// Print a session as Markdown
    Export {
        /// Its number or name
        #[arg(value_name = "SESSION")]
        session: String,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a session permanently
    Delete {
        /// Its number
        #[arg(value_name = "NUMBER")]
        number: i64,
    },
}

/// `rhumb apply`
#[derive(Debug, Clone, ClapArgs)]
pub struct ApplyArgs {
    /// File with the model's reply, or - for standard input
    #[arg(value_name = "REPLY")]
    pub reply: PathBuf,
    /// A file of the chat: used if the reply names no file; other files are changed, too, and flagged outside-chat
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<String>,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// Write nothing; print what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Apply all hunks or none
    #[arg(long)]
    pub atomic: bool,
    /// Write without the journal: the write cannot be undone, or finished after a crash
    #[arg(long)]
    pub no_journal: bool,
    /// Run this shell command in a trial checkout with the result, and write only if it succeeds
    #[arg(long = "try", value_name = "CMD", conflicts_with = "dry_run")]
    pub try_command: Option<String>,
    /// What the command of --try may reach [default: the setting try_network]
    #[arg(long, value_enum, value_name = "NETWORK", requires = "try_command")]
    pub try_network: Option<NetworkArg>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Format of the reply, auto if absent (set by the global flag of the same name)
    #[arg(skip)]
    pub format: Option<String>,
}

/// What a command in a trial checkout may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworkArg {
    /// Nothing
    None,
    /// Servers on this machine
    Loopback,
    /// Everything
    Full,
}

impl From<NetworkArg> for Network {
    fn from(arg: NetworkArg) -> Self {
        match arg {
            NetworkArg::None => Self::None,
            NetworkArg::Loopback => Self::Loopback,
            NetworkArg::Full => Self::Full,
        }
    }
}

/// `rhumb try`
#[derive(Debug, Clone, ClapArgs)]
pub struct TryArgs {
    /// Apply the edits of this reply first, all of which must be located: a file, or - for standard input
    #[arg(long, value_name = "FILE")]
    pub reply: Option<PathBuf>,
    /// What the command may reach [default: the setting try_network]
    #[arg(long, value_enum, value_name = "NETWORK")]
    pub network: Option<NetworkArg>,
    /// Time limit in seconds [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// Print afterwards what the command itself changed in files that are not ignored, as a unified diff
    #[arg(long)]
    pub diff: bool,
    /// Print one JSON object instead of the output of the command
    #[arg(long)]
    pub json: bool,
    /// The command and its arguments, after two dashes. It runs in the root of the repository. Its exit code is that of rhumb; 124 means that it exceeded the time limit,
    /// and 125 that it was not run
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Format of the reply, auto if absent (set by the global flag of the same name)
    #[arg(skip)]
    pub format: Option<String>,
}

/// The longest time limit in seconds: a year.
const MAX_SECONDS: f64 = 365.0 * 86_400.0;

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0 && *seconds <= MAX_SECONDS);
    seconds.ok_or_else(|| "a number of seconds, such as 60".to_owned())
}

fn dollars(text: &str) -> Result<f64, String> {
    let dollars = text.trim_start_matches('$').parse::<f64>().ok();
    dollars
        .filter(|dollars| dollars.is_finite() && *dollars > 0.0)
        .ok_or_else(|| "an amount in dollars, such as 1.50".to_owned())
}

/// `--run`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunArg {
    /// Those in a trial checkout that is completely isolated
    Sandboxed,
    /// All, in whatever trial checkout is possible
    All,
    /// None
    None,
}

impl From<RunArg> for RunPolicy {
    fn from(arg: RunArg) -> Self {
        match arg {
            RunArg::Sandboxed => Self::Sandboxed,
            RunArg::All => Self::All,
            RunArg::None => Self::None,
        }
    }
}

/// Modes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AskMode {
    /// A question about the repository
    Ask,
    /// A request for a plan
    Architect,
    /// A task, answered with the files that it needs
    Context,
    /// A question about rhumb, answered from its manual
    Help,
}

impl From<AskMode> for Mode {
    fn from(mode: AskMode) -> Self {
        match mode {
            AskMode::Ask => Self::Ask,
            AskMode::Architect => Self::Architect,
            AskMode::Context => Self::Context,
            AskMode::Help => Self::Help,
        }
    }
}

impl SearchArgs {
    /// The query.
    pub fn asked(&self) -> String {
        self.query.clone().unwrap_or_else(|| self.words.join(" "))
    }
}

/// `rhumb ask`
#[derive(Debug, Clone, ClapArgs)]
pub struct AskArgs {
    /// The question; other words are files then
    #[arg(short, long, value_name = "TEXT", required_unless_present_any = ["message_file", "named"])]
    pub message: Option<String>,
    /// A file with the question, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "message")]
    pub message_file: Option<PathBuf>,
    /// Output of a test run, or a log, to send with the question: a file, or - for standard input. If it is long, its beginning
    /// and end are sent, and the whole is stored in a file
    #[arg(long, value_name = "FILE")]
    pub with_output: Option<PathBuf>,
    /// The question, quoted or not; @FILE in it sends a file in full. With -m or --message-file: files to send in full
    #[arg(value_name = "WORDS")]
    pub named: Vec<String>,
    /// A file to send in full; repeat for more
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<String>,
    /// The same as --file
    #[arg(long = "read", value_name = "FILE")]
    pub read: Vec<String>,
    /// Mode of the question [default: ask]
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<AskMode>,
    /// Whether the model may request more of the repository after @codebase in the message [default: the settings; ask means never]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub codebase_more: Option<MoreArg>,
    /// Print the request as it would be sent, and send nothing; needs no provider
    #[arg(long)]
    pub show_prompt: bool,
    /// Print events as JSON lines
    #[arg(long)]
    pub json: bool,
}

impl From<AskArgs> for EditArgs {
    fn from(args: AskArgs) -> Self {
        let AskArgs { message, message_file, with_output, named, files, read, mode, codebase_more, show_prompt, json } =
            args;
        let mode = Some(mode.map_or(Mode::Ask, Mode::from));
        let edit = Self { message, message_file, with_output, named, files, read, mode, ..Self::default() };
        Self { codebase_more, show_prompt, json, plan_only: true, ..edit }
    }
}

/// `--codebase-more`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MoreArg {
    /// It may, up to the limit of the settings
    Always,
    /// It may not
    Never,
}

impl From<MoreArg> for ContextRequestPolicy {
    fn from(arg: MoreArg) -> Self {
        match arg {
            MoreArg::Always => Self::Always,
            MoreArg::Never => Self::Never,
        }
    }
}

/// `rhumb edit`
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct EditArgs {
    /// The request; other words are files then
    #[arg(short, long, value_name = "TEXT", required_unless_present_any = ["message_file", "named"])]
    pub message: Option<String>,
    /// A file with the request, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "message")]
    pub message_file: Option<PathBuf>,
    /// Output of a test run, or a log, to send with the request: a file, or - for standard input. If it is long, its beginning
    /// and end are sent, and the whole is stored in a file
    #[arg(long, value_name = "FILE")]
    pub with_output: Option<PathBuf>,
    /// The request, quoted or not; @FILE in it puts a file into the chat. With -m or --message-file: files in the chat
    #[arg(value_name = "WORDS")]
    pub named: Vec<String>,
    /// A file in the chat, which may be changed; repeat for more
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<String>,
    /// A file in the chat for reference
    #[arg(long = "read", value_name = "FILE")]
    pub read: Vec<String>,
    /// Mode of the request: code; architect, in which the editor model writes what the model plans; or ask, context or help,
    /// which change nothing [default: code]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// The same as --mode architect
    #[arg(long, conflicts_with = "mode")]
    pub architect: bool,
    /// Have the model work in steps: it reads, searches, edits and runs commands in a trial checkout until it is done
    #[arg(long, conflicts_with_all = ["mode", "architect", "show_prompt"])]
    pub agent: bool,
    /// With --agent: maximum number of steps [default: the setting agent_steps]
    #[arg(long, value_name = "N", requires = "agent")]
    pub max_steps: Option<usize>,
    /// With --agent: maximum cost in dollars [default: the setting agent_cost]
    #[arg(long, value_name = "DOLLARS", requires = "agent", value_parser = dollars)]
    pub budget: Option<f64>,
    /// With --agent: maximum time in seconds [default: the setting agent_time]
    #[arg(long, value_name = "SECONDS", requires = "agent", value_parser = seconds)]
    pub timeout: Option<f64>,
    /// With --agent: which commands of the model run: those in a completely isolated trial checkout, all, or none [default: the setting
    /// agent_run; with its value ask, those that match the setting allow]
    #[arg(long, value_enum, value_name = "WHICH", requires = "agent")]
    pub run: Option<RunArg>,
    /// Print the plan without executing it
    #[arg(skip)]
    pub plan_only: bool,
    /// Model that writes the edits of architect mode [env: RHUMB_EDITOR_MODEL]
    #[arg(long, value_name = "NAME")]
    pub editor_model: Option<String>,
    /// Whether the model may request more of the repository after @codebase in the message [default: the settings; ask means never]
    #[arg(long, value_enum, value_name = "WHEN")]
    pub codebase_more: Option<MoreArg>,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// Write nothing; summarise each request on standard error (--json prints all of it), and print the proposal as a unified
    /// diff
    #[arg(long)]
    pub dry_run: bool,
    /// Print the request as it would be sent, and send nothing; needs no provider
    #[arg(long)]
    pub show_prompt: bool,
    /// Commit what is written (the default in a git repository)
    #[arg(long, conflicts_with = "no_commit")]
    pub commit: bool,
    /// Do not commit what is written
    #[arg(long)]
    pub no_commit: bool,
    /// Write without the journal: the write cannot be undone, or finished after a crash
    #[arg(long)]
    pub no_journal: bool,
    /// Check the syntax of written files and run the linters of the settings (the default); findings are sent to the model
    #[arg(long, conflicts_with = "no_lint")]
    pub lint: bool,
    /// Do not check written files
    #[arg(long)]
    pub no_lint: bool,
    /// Run test_cmd after each write; failures are sent to the model
    #[arg(long, conflicts_with = "no_test")]
    pub test: bool,
    /// Do not run test_cmd
    #[arg(long)]
    pub no_test: bool,
    /// Run this shell command in a trial checkout with the result, and write only if it succeeds
    #[arg(long = "try", value_name = "CMD", conflicts_with = "dry_run")]
    pub try_command: Option<String>,
    /// What the command of --try may reach [default: the setting try_network]
    #[arg(long, value_enum, value_name = "NETWORK", requires = "try_command")]
    pub try_network: Option<NetworkArg>,
    /// Print events as JSON lines
    #[arg(long)]
    pub json: bool,
}

impl EditArgs {
    /// The mode of the request.
    pub fn mode(&self) -> Mode {
        let default = match (self.agent, self.architect) {
            (true, _) => Mode::Agent,
            (_, true) => Mode::Architect,
            _ => Mode::Code,
        };
        self.mode.unwrap_or(default)
    }

    /// Whether the flags request or forbid a commit.
    pub fn commit_choice(&self) -> Option<bool> {
        match (self.commit, self.no_commit) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

/// `rhumb config`
#[derive(Debug, Clone, ClapArgs)]
pub struct ConfigArgs {
    /// Print one JSON object
    #[arg(long, conflicts_with_all = ["default", "path"])]
    pub json: bool,
    /// Print a settings file with every default, commented out
    #[arg(long)]
    pub default: bool,
    /// Print the locations of settings files
    #[arg(long, conflicts_with = "default")]
    pub path: bool,
}

/// `rhumb doctor`
#[derive(Debug, Clone, ClapArgs)]
pub struct DoctorArgs {
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `rhumb trust`
#[derive(Debug, Clone, ClapArgs)]
pub struct TrustArgs {
    /// List all approvals, of every repository
    #[arg(long)]
    pub list: bool,
    /// Approve the proposed value with this hash, or its first eight characters; repeat for more
    #[arg(long, value_name = "HASH")]
    pub approve: Vec<String>,
    /// Revoke the approval of the value with this hash; repeat for more
    #[arg(long, value_name = "HASH")]
    pub revoke: Vec<String>,
    /// Revoke every approval
    #[arg(long)]
    pub revoke_all: bool,
}

/// `rhumb completions`
#[derive(Debug, Clone, ClapArgs)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// `rhumb man`
#[derive(Debug, Clone, ClapArgs)]
pub struct ManArgs {
    /// Write the page of the program and one for each command to this folder, instead of printing the program's page
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
