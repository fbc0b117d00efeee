//! The table of slash commands, from which parsing, completion, the help, `docs/commands.md` and `docs/command-summary.md` are made.

use super::{Arguments, INDEX_WORDS, index_command};
use crate::context::Mode;
use crate::{Command, CommandError, CommandInfo, IndexEffect, PassageCommand};
use rhumb_edit::EditFormat;
use rhumb_index::repo_map::Refresh;
use rhumb_llm::Thinking;

/// The kind of argument of a command, for completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// No argument.
    None,
    /// Files of the repository.
    Files,
    /// Files in the chat.
    ChatFiles,
    /// Files and folders below the current folder.
    Paths,
    /// A message to the model.
    Message,
    /// A model.
    Model,
    /// An edit format.
    EditFormat,
    /// A reasoning effort as a word.
    Effort,
    /// A number of tokens.
    Tokens,
    /// A refresh mode of the map.
    Refresh,
    /// A command line.
    Shell,
    /// The arguments of git.
    Git,
    /// A URL.
    Url,
    /// A theme.
    Theme,
    /// An earlier session.
    Session,
    /// The number of a turn of this session.
    Turn,
    /// Any other text.
    Text,
}

/// The subject of a command, by which the help groups commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The content of requests.
    Files,
    /// Modes and the history.
    Conversation,
    /// Models and their options.
    Models,
    /// The repo map.
    Map,
    /// Writes and commits.
    Git,
    /// Commands, tests and pages.
    Tools,
    /// This session and earlier ones.
    Sessions,
    /// The program.
    Program,
}

impl Group {
    /// All groups, in the order of the help.
    pub const ALL: [Self; 8] = [
        Self::Conversation,
        Self::Files,
        Self::Models,
        Self::Map,
        Self::Git,
        Self::Tools,
        Self::Sessions,
        Self::Program,
    ];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Files => "what is sent",
            Self::Conversation => "the conversation",
            Self::Models => "models",
            Self::Map => "the repo map",
            Self::Git => "writes and commits",
            Self::Tools => "commands, tests, pages",
            Self::Sessions => "sessions",
            Self::Program => "the program",
        }
    }
}

/// A row: group, name, usage, kind of argument, help, example, parser.
const fn row(
    group: Group,
    name: &'static str,
    arguments: &'static str,
    takes: Argument,
    help: &'static str,
    example: &'static str,
    parse: fn(&Arguments<'_>) -> Result<Command, CommandError>,
) -> CommandInfo {
    CommandInfo { name, arguments, takes, help, example, group, parse }
}

use Argument as A;
use Group as G;

/// All commands.
#[rustfmt::skip] // one row for each command
pub const COMMANDS: &[CommandInfo] = &[
    row(G::Conversation, "code", "[MESSAGE]", A::Message, "ask for changes: this message, or from now on", "/code rename the field in every caller", |args| Ok(args.mode(Mode::Code))),
    row(G::Conversation, "ask", "[MESSAGE]", A::Message, "ask without changes: this message, or from now on", "/ask where are retries decided?", |args| Ok(args.mode(Mode::Ask))),
    row(G::Conversation, "codebase", "QUESTION", A::Message, "ask about the whole repository: matching passages are found and sent; @codebase in a message does the same", "/codebase where are paths resolved?", |args| Ok(Command::Codebase(args.required()?))),
    row(G::Conversation, "architect", "[MESSAGE]", A::Message, "plan first, then have the editor model write: this message, or from now on", "/architect split the parser in two", |args| Ok(args.mode(Mode::Architect))),
    row(G::Conversation, "context", "[MESSAGE]", A::Message, "let the model name the files that a task needs: this message, or from now on", "/context add a --json flag", |args| Ok(args.mode(Mode::Context))),
    row(G::Conversation, "agent", "[MESSAGE]", A::Message, "let the model read, edit and run commands until it is done, then review: this message, or from now on", "/agent make the failing test pass", |args| Ok(args.mode(Mode::Agent))),
    row(G::Conversation, "take-over", "", A::None, "have the agent go on with the last turn, or with the running one when it is complete", "/take-over", |_| Ok(Command::TakeOver)),
    row(G::Conversation, "cap", "[NAME VALUE|off]", A::Text, "show the caps of the agent loop, or set one: steps, tokens, cost or time", "/cap steps 50", |args| Ok(Command::Cap(args.cap()?))),
    row(G::Conversation, "help", "[QUESTION]", A::Message, "show keys and commands, or ask the manual", "/help how do I undo a write?", |args| Ok(if args.text.is_empty() { Command::Help } else { args.mode(Mode::Help) })),
    row(G::Conversation, "continue", "", A::None, "continue an answer that was cut off", "/continue", |_| Ok(Command::Continue)),
    row(G::Conversation, "retry", "", A::None, "ask the last message again", "/retry", |_| Ok(Command::Retry)),
    row(G::Conversation, "rewind", "[TURN|step N]", A::Turn, "make an earlier message the draft again; with step N, return to the state after that step of the agent", "/rewind 2", |args| args.rewind()),
    row(G::Conversation, "compact", "[WORDS]", A::Text, "summarise the conversation so far, so that later requests carry less; WORDS say what the summary must keep", "/compact keep the API decisions", |args| Ok(Command::Compact(args.text.into()))),
    row(G::Conversation, "clear", "", A::None, "leave the conversation so far out of later requests", "/clear", |_| Ok(Command::Clear)),
    row(G::Conversation, "reset", "", A::None, "clear the conversation and remove all files", "/reset", |_| Ok(Command::Reset)),
    row(G::Conversation, "copy", "", A::None, "copy the last answer", "/copy", |_| Ok(Command::Copy)),
    row(G::Conversation, "copy-context", "", A::None, "copy the whole prompt, to paste it into another chat", "/copy-context", |_| Ok(Command::CopyContext)),
    row(G::Conversation, "paste", "[NAME]", A::Text, "take an image or a reply from the clipboard", "/paste", |args| Ok(Command::Paste(args.optional()))),
    row(G::Conversation, "editor", "[TEXT]", A::Text, "write the message in $EDITOR", "/editor", |args| Ok(Command::Editor(args.text.into()))),
    row(G::Conversation, "voice", "", A::None, "speak the message", "/voice", |_| Ok(Command::Voice)),
    row(G::Conversation, "review", "", A::None, "look for edits in the last answer again", "/review", |_| Ok(Command::Review)),
    row(G::Files, "add", "FILE…", A::Files, "add files to the chat; the model may edit them (globs and folders allowed)", "/add src/cache.rs 'tests/*.rs'", |args| Ok(Command::Add { names: args.required_words()?, read_only: false })),
    row(G::Files, "read-only", "[FILE…]", A::Files, "add files for reference; without a name, make all files of the chat read-only", "/read-only docs/api.md", |args| Ok(if args.text.is_empty() { Command::AllReadOnly } else { Command::Add { names: args.required_words()?, read_only: true } })),
    row(G::Files, "drop", "[FILE…]", A::ChatFiles, "remove files from the chat; without a name, all but those that every chat begins with", "/drop src/cache.rs", |args| Ok(Command::Drop(args.words()?))),
    row(G::Files, "passages", "[drop [PATH:LINE]]", A::Text, "list the passages that @codebase found, or drop them", "/passages drop src/cache.rs:40", |args| Ok(Command::Passages(PassageCommand::parse(args.text).ok_or_else(|| args.error(format!("not {}", args.text)))?))),
    row(G::Files, "ls", "", A::None, "list the files in the chat", "/ls", |_| Ok(Command::List)),
    row(G::Files, "tokens", "", A::None, "show the parts of the next request, in tokens and dollars", "/tokens", |_| Ok(Command::Tokens)),
    row(G::Models, "model", "[NAME]", A::Model, "switch to another model; without a name, choose one", "/model sonnet", |args| Ok(Command::Model(args.optional()))),
    row(G::Models, "weak-model", "[NAME]", A::Model, "have another model write summaries and commit messages", "/weak-model haiku", |args| Ok(Command::WeakModel(args.optional()))),
    row(G::Models, "editor-model", "[NAME]", A::Model, "have another model write the edits of architect mode", "/editor-model haiku", |args| Ok(Command::EditorModel(args.optional()))),
    row(G::Models, "models", "[QUERY]", A::Text, "list models with window and prices", "/models gemini flash", |args| Ok(Command::Models(args.text.into()))),
    row(G::Models, "reasoning-effort", "[EFFORT]", A::Effort, "how long to think; with no argument, the model's default", "/reasoning-effort high", |args| Ok(Command::Effort(args.optional_of(Thinking::EFFORTS, |word| Thinking::EFFORTS.contains(&word).then(|| word.into()))?))),
    row(G::Models, "think-tokens", "[N]", A::Tokens, "how long to think, in tokens (8k, 0); without a number, the model's default", "/think-tokens 8k", |args| Ok(Command::ThinkTokens(args.tokens()?))),
    row(G::Models, "edit-format", "[FORMAT]", A::EditFormat, "how the model writes edits; with no argument, the format that suits it", "/edit-format udiff", |args| Ok(Command::EditFormat(args.optional_of(EditFormat::ALL, |word| word.parse().ok())?))),
    row(G::Models, "connect", "[PROVIDER]", A::Text, "enter a key for a provider, or pick a model server on this machine", "/connect anthropic", |args| Ok(Command::Connect(args.optional()))),
    row(G::Models, "servers", "", A::None, "look for a model server on this machine", "/servers", |_| Ok(Command::Servers)),
    row(G::Models, "cost", "", A::None, "show what was spent", "/cost", |_| Ok(Command::Cost)),
    row(G::Files, "search", "[WORDS]", A::Text, "search the code by a question or a name", "/search where are retries decided", |args| Ok(Command::Search(args.text.into()))),
    row(G::Map, "map", "", A::None, "show the repo map as it will be sent", "/map", |_| Ok(Command::Map)),
    row(G::Map, "map-tokens", "N|auto", A::Tokens, "set the budget of the repo map", "/map-tokens 2048", |args| Ok(Command::MapTokens(if args.text == "auto" { None } else { Some(args.tokens()?.ok_or_else(|| args.error(""))? as usize) }))),
    row(G::Map, "map-refresh", "[MODE]", A::Refresh, "read the repository again; from now on auto, always, files or manual", "/map-refresh", |args| Ok(Command::MapRefresh(args.optional_of(Refresh::ALL.map(Refresh::as_str), |word| word.parse().ok())?))),
    row(G::Map, "pin", "FILE…", A::Files, "pin files to the top of the map, or unpin them", "/pin src/lib.rs", |args| Ok(Command::Pin(args.required_words()?))),
    row(G::Map, "ban", "[FILE…]", A::Files, "ban files from the map, or allow them again; without a name, allow all", "/ban vendor/big.js", |args| Ok(Command::Ban(args.words()?))),
    row(G::Map, "index", "[WORD]", A::Text, "show the index for semantic search; build, pause, resume, cancel or delete it", "/index build", |args| Ok(Command::Index(args.optional_of(INDEX_WORDS, index_command)?.unwrap_or(IndexEffect::Status)))),
    row(G::Git, "undo", "", A::None, "undo the last write", "/undo", |_| Ok(Command::Undo)),
    row(G::Git, "redo", "", A::None, "redo the write that was undone last", "/redo", |_| Ok(Command::Redo)),
    row(G::Git, "diff", "", A::None, "show what was written since the last message", "/diff", |_| Ok(Command::Diff)),
    row(G::Git, "commit", "[MESSAGE]", A::Text, "commit what is uncommitted; without a message, the weak model writes one", "/commit", |args| Ok(Command::Commit(args.optional()))),
    row(G::Git, "git", "ARGUMENTS", A::Git, "run git and show its output; the output is not sent", "/git log --oneline -5", |args| Ok(Command::Git(args.required_words()?))),
    row(G::Tools, "run", "COMMAND", A::Shell, "run a command and offer its output; !COMMAND is the same", "/run cargo check", |args| Ok(Command::Run(args.required()?))),
    row(G::Tools, "test", "[COMMAND]", A::Shell, "run the tests and, if they fail, offer their output", "/test", |args| Ok(Command::Test(args.optional()))),
    row(G::Tools, "try", "[COMMAND]", A::Shell, "run a command, or the tests, on the hunks under review in a trial checkout; the repository does not change", "/try cargo test", |args| Ok(Command::Try(args.optional()))),
    row(G::Tools, "lint", "[FILE…]", A::Files, "check files, and offer the findings to the model", "/lint src/cache.rs", |args| Ok(Command::Lint(args.words()?))),
    row(G::Tools, "web", "URL", A::Url, "read a web page into the chat", "/web https://docs.rs/tokio", |args| Ok(Command::Web(args.required()?))),
    row(G::Tools, "watch", "[on|off]", A::Text, "follow AI! and AI? comments in files as they are saved", "/watch on", |args| Ok(Command::Watch(args.optional_of(["on", "off"], |word| [("on", true), ("off", false)].into_iter().find(|(name, _)| *name == word).map(|(_, on)| on))?))),
    row(G::Sessions, "sessions", "[QUERY]", A::Text, "list earlier sessions, to search and resume them", "/sessions", |args| Ok(Command::Sessions(args.text.into()))),
    row(G::Sessions, "resume", "[SESSION]", A::Session, "resume an earlier session; without a name, the last one", "/resume parser", |args| Ok(Command::Resume(args.optional()))),
    row(G::Sessions, "fork", "[TURN]", A::Turn, "start a new session from this one, up to a turn", "/fork 3", |args| Ok(Command::Fork(args.turn()?))),
    row(G::Sessions, "rename", "NAME", A::Text, "name this session", "/rename parser split", |args| Ok(Command::Rename(args.required()?))),
    row(G::Sessions, "export", "[FILE]", A::Paths, "write this session as Markdown, or as JSON to a .json file", "/export talk.md", |args| Ok(Command::Export(args.optional()))),
    row(G::Sessions, "save", "FILE", A::Paths, "write the files of the chat as commands to a file", "/save chat.rhumb", |args| Ok(Command::Save(args.required()?))),
    row(G::Sessions, "load", "FILE", A::Paths, "run the commands of a file", "/load chat.rhumb", |args| Ok(Command::Load(args.required()?))),
    row(G::Program, "init", "", A::None, "propose a first AGENTS.md from what is seen of the repository; no request is sent", "/init", |_| Ok(Command::Init)),
    row(G::Program, "settings", "[NAME]", A::Text, "show the settings in force and where each comes from", "/settings model", |args| Ok(Command::Settings(args.optional()))),
    row(G::Program, "theme", "[NAME]", A::Theme, "change the colours", "/theme rhumb-light", |args| Ok(Command::Theme(args.optional()))),
    row(G::Program, "keys", "", A::None, "show every key", "/keys", |_| Ok(Command::Keys)),
    row(G::Program, "trust", "", A::None, "show the settings that this repository proposes", "/trust", |_| Ok(Command::Trust)),
    row(G::Program, "doctor", "", A::None, "check what rhumb needs on this machine", "/doctor", |_| Ok(Command::Doctor)),
    row(G::Program, "report", "[TITLE]", A::Text, "copy a bug report, without keys or code", "/report the map is empty", |args| Ok(Command::Report(args.text.into()))),
    row(G::Program, "quit", "", A::None, "leave; so do :q, quit and exit alone", "/quit", |_| Ok(Command::Quit)),
];
