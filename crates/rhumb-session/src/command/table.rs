//! The table of slash commands: what each is called, takes and does. Parsing, completion, the help, the manual and the README
//! come from it.

use super::CommandInfo;

/// What the argument of a command is, for completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// Nothing.
    None,
    /// Files of the repository.
    Files,
    /// Files of the chat.
    ChatFiles,
    /// Files below the current folder, whatever they are.
    Paths,
    /// A message to the model.
    Message,
    /// A model.
    Model,
    /// An edit format.
    EditFormat,
    /// A word for how long to think.
    Effort,
    /// A number of tokens.
    Tokens,
    /// When the map is made anew.
    Refresh,
    /// A command line.
    Shell,
    /// The arguments of git.
    Git,
    /// An address.
    Url,
    /// A theme.
    Theme,
    /// An earlier session.
    Session,
    /// A turn of this session, by number.
    Turn,
    /// Any text.
    Text,
}

/// What a command is about: how the help groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What is sent.
    Files,
    /// How a message is meant, and what was said.
    Talk,
    /// ModelRole answers.
    Models,
    /// The repo map.
    Map,
    /// What was written, and its commits.
    Git,
    /// Commands, tests, pages.
    World,
    /// This session and earlier ones.
    Sessions,
    /// The program.
    Program,
}

impl Group {
    /// Every group, in the order in which the help lists them.
    pub const ALL: [Self; 8] =
        [Self::Talk, Self::Files, Self::Models, Self::Map, Self::Git, Self::World, Self::Sessions, Self::Program];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Files => "what is sent",
            Self::Talk => "the conversation",
            Self::Models => "models",
            Self::Map => "the repo map",
            Self::Git => "writes and commits",
            Self::World => "commands, tests, pages",
            Self::Sessions => "sessions",
            Self::Program => "the program",
        }
    }
}

/// A row: name, usage, kind of argument, help, example.
const fn row(
    group: Group,
    name: &'static str,
    arguments: &'static str,
    takes: Argument,
    help: &'static str,
    example: &'static str,
) -> CommandInfo {
    CommandInfo { name, arguments, takes, help, example, group }
}

use Argument as A;
use Group as G;

/// Every command.
#[rustfmt::skip] // a table
pub const COMMANDS: &[CommandInfo] = &[
    row(G::Talk, "code", "[MESSAGE]", A::Message, "ask for changes: this message, or from now on", "/code rename the field in every caller"),
    row(G::Talk, "ask", "[MESSAGE]", A::Message, "ask without changes: this message, or from now on", "/ask where are retries decided?"),
    row(G::Talk, "codebase", "QUESTION", A::Message, "ask about the whole repository: matching passages are found and sent; @codebase in a message does the same", "/codebase where are paths resolved?"),
    row(G::Talk, "architect", "[MESSAGE]", A::Message, "plan first, then have the editor model write: this message, or from now on", "/architect split the parser in two"),
    row(G::Talk, "context", "[MESSAGE]", A::Message, "let the model name the files that a task needs: this message, or from now on", "/context add a --json flag"),
    row(G::Talk, "help", "[QUESTION]", A::Message, "show keys and commands, or ask the manual", "/help how do I undo a write?"),
    row(G::Talk, "continue", "", A::None, "continue an answer that was cut off", "/continue"),
    row(G::Talk, "retry", "", A::None, "ask the last message again", "/retry"),
    row(G::Talk, "rewind", "[TURN]", A::Turn, "make an earlier message the draft again, to change it and send it", "/rewind 2"),
    row(G::Talk, "compact", "[WORDS]", A::Text, "summarise the conversation so far, so that later requests carry less; WORDS say what the summary must keep", "/compact keep the API decisions"),
    row(G::Talk, "clear", "", A::None, "leave the conversation so far out of later requests", "/clear"),
    row(G::Talk, "reset", "", A::None, "clear the conversation and remove all files", "/reset"),
    row(G::Talk, "copy", "", A::None, "copy the last answer", "/copy"),
    row(G::Talk, "copy-context", "", A::None, "copy the whole prompt, to paste it into another chat", "/copy-context"),
    row(G::Talk, "paste", "[NAME]", A::Text, "take an image or a reply from the clipboard", "/paste"),
    row(G::Talk, "editor", "[TEXT]", A::Text, "write the message in $EDITOR", "/editor"),
    row(G::Talk, "voice", "", A::None, "speak the message", "/voice"),
    row(G::Talk, "review", "", A::None, "look for edits in the last answer again", "/review"),
    row(G::Files, "add", "FILE…", A::Files, "add files to the chat; the model may edit them (globs and folders allowed)", "/add src/cache.rs 'tests/*.rs'"),
    row(G::Files, "read-only", "[FILE…]", A::Files, "add files for reference; without a name, make all files of the chat read-only", "/read-only docs/api.md"),
    row(G::Files, "drop", "[FILE…]", A::ChatFiles, "remove files from the chat; without a name, all but those that every chat begins with", "/drop src/cache.rs"),
    row(G::Files, "passages", "[drop [PATH:LINE]]", A::Text, "list the passages that @codebase found, or drop them", "/passages drop src/cache.rs:40"),
    row(G::Files, "ls", "", A::None, "list the files in the chat", "/ls"),
    row(G::Files, "tokens", "", A::None, "show the parts of the next request, in tokens and dollars", "/tokens"),
    row(G::Models, "model", "[NAME]", A::Model, "switch to another model; without a name, choose one", "/model sonnet"),
    row(G::Models, "weak-model", "[NAME]", A::Model, "have another model write summaries and commit messages", "/weak-model haiku"),
    row(G::Models, "editor-model", "[NAME]", A::Model, "have another model write the edits of architect mode", "/editor-model haiku"),
    row(G::Models, "models", "[QUERY]", A::Text, "list models with window and prices", "/models gemini flash"),
    row(G::Models, "reasoning-effort", "[EFFORT]", A::Effort, "how long to think, as a word; without a word, the model's default", "/reasoning-effort high"),
    row(G::Models, "think-tokens", "[N]", A::Tokens, "how long to think, in tokens (8k, 0); without a number, the model's default", "/think-tokens 8k"),
    row(G::Models, "edit-format", "[FORMAT]", A::EditFormat, "how the model writes edits; without a word, the format that suits it", "/edit-format udiff"),
    row(G::Models, "connect", "[PROVIDER]", A::Text, "enter a key for a provider, or pick a model server on this machine", "/connect anthropic"),
    row(G::Models, "servers", "", A::None, "look for a model server on this machine", "/servers"),
    row(G::Models, "cost", "", A::None, "show what was spent", "/cost"),
    row(G::Files, "search", "[WORDS]", A::Text, "search the code by a question or a name", "/search where are retries decided"),
    row(G::Map, "map", "", A::None, "show the repo map as it will be sent", "/map"),
    row(G::Map, "map-tokens", "N|auto", A::Tokens, "set the budget of the repo map", "/map-tokens 2048"),
    row(G::Map, "map-refresh", "[MODE]", A::Refresh, "read the repository again; from now on auto, always, files or manual", "/map-refresh"),
    row(G::Map, "pin", "FILE…", A::Files, "pin files to the top of the map, or unpin them", "/pin src/lib.rs"),
    row(G::Map, "ban", "[FILE…]", A::Files, "ban files from the map, or allow them again; without a name, allow all", "/ban vendor/big.js"),
    row(G::Map, "index", "[WORD]", A::Text, "show the index for semantic search; build, pause, resume, cancel or delete it", "/index build"),
    row(G::Git, "undo", "", A::None, "undo the last write", "/undo"),
    row(G::Git, "redo", "", A::None, "redo the write that was undone last", "/redo"),
    row(G::Git, "diff", "", A::None, "show what was written since the last message", "/diff"),
    row(G::Git, "commit", "[MESSAGE]", A::Text, "commit what is uncommitted; without a message, the weak model writes one", "/commit"),
    row(G::Git, "git", "ARGUMENTS", A::Git, "run git and show its output; the output is not sent", "/git log --oneline -5"),
    row(G::World, "run", "COMMAND", A::Shell, "run a command and offer its output; !COMMAND is the same", "/run cargo check"),
    row(G::World, "test", "[COMMAND]", A::Shell, "run the tests and, if they fail, offer their output", "/test"),
    row(G::World, "lint", "[FILE…]", A::Files, "check files, and offer the findings to the model", "/lint src/cache.rs"),
    row(G::World, "web", "URL", A::Url, "read a web page into the chat", "/web https://docs.rs/tokio"),
    row(G::World, "watch", "[on|off]", A::Text, "follow AI! and AI? comments in files as they are saved", "/watch on"),
    row(G::Sessions, "sessions", "[QUERY]", A::Text, "list earlier sessions, to search and resume them", "/sessions"),
    row(G::Sessions, "resume", "[SESSION]", A::Session, "resume an earlier session; without a name, the last one", "/resume parser"),
    row(G::Sessions, "fork", "[TURN]", A::Turn, "start a new session from this one, up to a turn", "/fork 3"),
    row(G::Sessions, "rename", "NAME", A::Text, "name this session", "/rename parser split"),
    row(G::Sessions, "export", "[FILE]", A::Paths, "write this session as Markdown, or as JSON to a .json file", "/export talk.md"),
    row(G::Sessions, "save", "FILE", A::Paths, "write the files of the chat as commands to a file", "/save chat.rhumb"),
    row(G::Sessions, "load", "FILE", A::Paths, "run the commands of a file", "/load chat.rhumb"),
    row(G::Program, "init", "", A::None, "propose a first AGENTS.md from what is seen of the repository; no model is asked", "/init"),
    row(G::Program, "settings", "[NAME]", A::Text, "show the settings in force and where each comes from", "/settings model"),
    row(G::Program, "theme", "[NAME]", A::Theme, "change the colours", "/theme rhumb-light"),
    row(G::Program, "keys", "", A::None, "show every key", "/keys"),
    row(G::Program, "trust", "", A::None, "show the settings that this repository proposes", "/trust"),
    row(G::Program, "doctor", "", A::None, "check what rhumb needs on this machine", "/doctor"),
    row(G::Program, "report", "[TITLE]", A::Text, "copy a bug report, without keys or code", "/report the map is empty"),
    row(G::Program, "quit", "", A::None, "leave; so do :q, quit and exit alone", "/quit"),
];
