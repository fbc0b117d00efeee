//! The flags of the commands without the app. Their help texts are the manual.

use rhumb_session::ContextRequestPolicy;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use rhumb_session::context::Mode;

mod papers;

pub use papers::{CompletionsArgs, ManArgs, VersionArgs};

/// How a map is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StyleArg {
    /// Signatures nested under their containers
    Tree,
    /// File, kind, symbol with signature
    Outline,
}

/// For people or for programs.
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
    /// Most tokens that the map may have [default: --map-tokens, else 4096]
    #[arg(long, value_name = "N")]
    pub tokens: Option<usize>,
    /// A file in the chat: it is left out, and what it uses ranks higher
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
    /// A file that comes first, whatever the message says
    #[arg(long = "pin", value_name = "FILE")]
    pub pins: Vec<String>,
    /// A file that is never shown
    #[arg(long = "ban", value_name = "FILE")]
    pub bans: Vec<String>,
    /// How the map is written
    #[arg(long, value_enum, default_value = "tree")]
    pub style: StyleArg,
    /// For people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
    /// In JSON: say for each file and symbol what raised it
    #[arg(long)]
    pub explain: bool,
    /// Read every file anew, and keep nothing for the next run
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
    /// The same
    #[arg(long, value_name = "TEXT", required_unless_present = "words", conflicts_with = "words")]
    pub query: Option<String>,
    /// Most passages
    #[arg(long, default_value = "10", value_name = "K")]
    pub limit: NonZeroUsize,
    /// How to search [default: hybrid where there is a model for it, else lexical]
    #[arg(long, value_enum)]
    pub mode: Option<ModeArg>,
    /// For people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: FormatArg,
    /// Say for each passage what speaks for its file, and which words it has
    #[arg(long)]
    pub explain: bool,
    /// Print the passages as a model would read them
    #[arg(long)]
    pub context: bool,
    /// Most tokens of them
    #[arg(long, default_value_t = 8192, requires = "context", value_name = "N")]
    pub tokens: usize,
    /// Read and parse everything anew, and keep nothing
    #[arg(long)]
    pub no_cache: bool,
}

/// How passages are searched.
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
    /// What to do with it; show it when absent
    #[command(subcommand)]
    pub command: Option<IndexCommandArg>,
}

/// What can be done with the index of meanings.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum IndexCommandArg {
    /// Show files, passages, the model, and where the vectors are
    Status,
    /// Embed what has no vector yet; a server is sent texts only after you agreed
    Build {
        /// Agree that texts are sent to the server of the settings
        #[arg(long)]
        yes: bool,
    },
    /// Delete everything that is kept of the code of this repository, words and vectors, and what you agreed to
    Delete,
    /// Download a model for this machine, after its size was told
    Download {
        /// Its name at the hub, MAKER/MODEL [default: embeddings_model, else minishlab/potion-code-16M]
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
    /// A name, a short name, or parts of a name; every model when absent
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,
    /// Fetch the public lists of models anew; nothing else ever does
    #[arg(long)]
    pub refresh: bool,
    /// Take the list from here: litellm, openrouter, models-dev, an address, a file, or - for standard input
    #[arg(long, value_name = "X")]
    pub from: Option<String>,
    /// Write the list to this file, in the form in which one comes with the program, instead of keeping it
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
    /// Words of a name, a first message or a date; every session when absent
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// What to do with one of them
    #[command(subcommand)]
    pub command: Option<SessionsCommand>,
}

/// What can be done with a session.
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
    /// Delete a session for good
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
    /// A file of the chat: meant where the reply names none; others are changed all the same and flagged outside-chat
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<String>,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// Write nothing; say what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Apply all hunks or none
    #[arg(long)]
    pub atomic: bool,
    /// Write without the journal: nothing undoes the write, or finishes it after a crash
    #[arg(long)]
    pub no_journal: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Format of the reply, auto when absent (set by the global flag of the same name)
    #[arg(skip)]
    pub format: Option<String>,
}

/// How a question is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AskMode {
    /// As a question about the repository
    Ask,
    /// As a request for a plan
    Architect,
    /// As a task, answered with the files that it needs
    Context,
    /// As a question about rhumb, answered from its manual
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
    /// What is searched for.
    pub fn asked(&self) -> String {
        self.query.clone().unwrap_or_else(|| self.words.join(" "))
    }
}

/// `rhumb ask`
#[derive(Debug, Clone, ClapArgs)]
pub struct AskArgs {
    /// The question; the words that belong to no flag are files then
    #[arg(short, long, value_name = "TEXT", required_unless_present_any = ["message_file", "named"])]
    pub message: Option<String>,
    /// A file with the question, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "message")]
    pub message_file: Option<PathBuf>,
    /// What a test run or a log said, to go along with the question: a file, or - for standard input. Of a long one the beginning
    /// and the end are sent, and the whole is kept
    #[arg(long, value_name = "FILE")]
    pub with_output: Option<PathBuf>,
    /// The question, quoted or not; @FILE in it shows a file in full. With -m or --message-file: files to show in full
    #[arg(value_name = "WORDS")]
    pub named: Vec<String>,
    /// A file to show in full; repeat for more
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<String>,
    /// The same
    #[arg(long = "read", value_name = "FILE")]
    pub read: Vec<String>,
    /// How the question is meant [default: ask]
    #[arg(long, value_enum, value_name = "MODE")]
    pub mode: Option<AskMode>,
    /// Whether the model may look up more of the repository after @codebase in the message; by the settings, where ask is a no
    #[arg(long, value_enum, value_name = "WHEN")]
    pub codebase_more: Option<MoreArg>,
    /// Print the request as it would be sent, and send nothing; needs no provider
    #[arg(long)]
    pub show_prompt: bool,
    /// Print events as JSON lines
    #[arg(long)]
    pub json: bool,
}

/// `--codebase-more`
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MoreArg {
    /// It may, as often as the settings say
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
    /// The request; the words that belong to no flag are files then
    #[arg(short, long, value_name = "TEXT", required_unless_present_any = ["message_file", "named"])]
    pub message: Option<String>,
    /// A file with the request, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "message")]
    pub message_file: Option<PathBuf>,
    /// What a test run or a log said, to go along with the request: a file, or - for standard input. Of a long one the beginning
    /// and the end are sent, and the whole is kept
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
    /// How the request is meant: code; architect, where the editor model writes what the model has planned; or one of those that
    /// change nothing, ask, context and help [default: code]
    #[arg(long, value_name = "MODE")]
    pub mode: Option<Mode>,
    /// The same as --mode architect
    #[arg(long, conflicts_with = "mode")]
    pub architect: bool,
    /// Print the plan, and have nobody carry it out
    #[arg(skip)]
    pub plan_only: bool,
    /// Have this model write what was planned [env: RHUMB_EDITOR_MODEL]
    #[arg(long, value_name = "NAME")]
    pub editor_model: Option<String>,
    /// Whether the model may look up more of the repository after @codebase in the message; by the settings, where ask is a no
    #[arg(long, value_enum, value_name = "WHEN")]
    pub codebase_more: Option<MoreArg>,
    /// Write without asking
    #[arg(long)]
    pub yes: bool,
    /// Write nothing; sum up each request on standard error as it is sent (--json prints all of it), and print the proposal as a
    /// unified diff
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
    /// Write without the journal: nothing undoes the write, or finishes it after a crash
    #[arg(long)]
    pub no_journal: bool,
    /// Look over what is written, its syntax and with the linters of the settings (the default); what is found goes back to the model
    #[arg(long, conflicts_with = "no_lint")]
    pub lint: bool,
    /// Do not look it over
    #[arg(long)]
    pub no_lint: bool,
    /// Run test_cmd after each write; what fails goes back to the model
    #[arg(long, conflicts_with = "no_test")]
    pub test: bool,
    /// Do not run it
    #[arg(long)]
    pub no_test: bool,
    /// Print events as JSON lines
    #[arg(long)]
    pub json: bool,
}

impl EditArgs {
    /// How the request is meant.
    pub fn mode(&self) -> Mode {
        self.mode.unwrap_or(if self.architect { Mode::Architect } else { Mode::Code })
    }

    /// What the flags say of committing, if anything.
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
    /// Print where settings files are looked for
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
    /// List what was approved, in every repository
    #[arg(long)]
    pub list: bool,
    /// Approve the value of this repository with that hash, or the first eight characters of it; repeat for more
    #[arg(long, value_name = "HASH")]
    pub approve: Vec<String>,
    /// Take the approval of that value back; repeat for more
    #[arg(long, value_name = "HASH")]
    pub revoke: Vec<String>,
    /// Take every approval back
    #[arg(long)]
    pub revoke_all: bool,
}
