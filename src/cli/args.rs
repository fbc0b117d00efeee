//! The command line. The help texts are the manual of the flags.

use crate::headless::{
    ApplyArgs, AskArgs, CompletionsArgs, ConfigArgs, DoctorArgs, EditArgs, IndexArgs, ManArgs, MapArgs, ModelsArgs,
    SearchArgs, SessionsArgs, TrustArgs, TryArgs, VersionArgs,
};
use crate::tui::Scene;
use crate::version;
use clap::{Args as ClapArgs, Parser, Subcommand};
use rhumb_session::SessionSelector;
use std::path::PathBuf;

/// A full-screen terminal pair programmer: ranked repo map, metered context, and a review of every hunk before a byte is
/// written.
#[derive(Debug, Parser)]
#[command(name = "rhumb", version = version::line(), about, max_term_width = 100)]
pub struct Args {
    /// Work in this folder instead of the repository of the current one
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Work on the current folder alone, not on the repository around it
    #[arg(long, global = true, conflicts_with = "root")]
    pub subtree_only: bool,
    /// Files that exist open in the chat; other words are the draft of the first message, which is not sent yet
    #[arg(value_name = "FILE|WORDS")]
    pub named: Vec<String>,
    /// A file for the chat, which need not exist yet; repeat for more
    #[arg(long = "file", value_name = "FILE")]
    pub files: Vec<String>,
    /// Resume the session of this repository that changed last
    #[arg(long = "continue", conflicts_with = "resume")]
    pub go_on: bool,
    /// Resume the session with this number or name, or with these words in it
    #[arg(long, value_name = "SESSION")]
    pub resume: Option<String>,
    #[command(flatten)]
    /// Model and display.
    pub provider: ProviderArgs,
    /// Use lines instead of the full screen: for screen readers, braille displays, dumb terminals and scripts
    #[arg(long)]
    pub plain: bool,
    /// Panic after the first frame, to test that the terminal is restored
    #[arg(long, hide = true)]
    pub test_panic: bool,
    #[command(subcommand)]
    /// The command; the app if absent.
    pub command: Option<Command>,
}

/// Flags about the model. Keys come from the environment, files or a command of the user, never from a flag.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct ProviderArgs {
    /// Root of the server's API, such as http://127.0.0.1:11434/v1 [env: RHUMB_BASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub base_url: Option<String>,
    /// API of the server, if its address and the model do not determine it: chat, responses, anthropic, gemini or ollama
    /// [env: RHUMB_API]
    #[arg(long, global = true, value_name = "API")]
    pub api: Option<String>,
    /// Model to use, with its provider if the available keys do not determine it: anthropic/NAME [env: RHUMB_MODEL]
    #[arg(long, global = true, value_name = "NAME")]
    pub model: Option<String>,
    /// Format of the model's edits: diff, diff-fenced, udiff, whole or patch [default: the one that suits the model;
    /// `rhumb apply` detects it]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub edit_format: Option<String>,
    /// Tokens for the repo map; `rhumb map --tokens` overrides it
    #[arg(long, global = true, value_name = "N")]
    pub map_tokens: Option<usize>,
    /// Colours: a theme by its name, such as rhumb-light, nord or high-contrast; /theme in the app shows all
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Follow AI! and AI? comments in files as they are saved
    #[arg(long)]
    pub watch: bool,
    /// Do not commit what is written
    #[arg(long)]
    pub no_commit: bool,
}

/// Drawing a screen of the demo to a file.
#[derive(Debug, Clone, ClapArgs)]
pub struct PictureArgs {
    /// Draw a screen to this SVG file (- for standard output) instead of opening the app
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Which screen: start, chat, review, map, context or help
    #[arg(long, value_name = "NAME", default_value = "start", value_parser = scene, requires = "svg")]
    pub scene: Scene,
    /// Columns and rows of that screen
    #[arg(long, value_name = "WxH", default_value = "120x34", value_parser = size, requires = "svg")]
    pub size: (u16, u16),
}

fn scene(name: &str) -> Result<Scene, String> {
    let found = Scene::ALL.iter().find(|(known, _)| *known == name).map(|(_, scene)| *scene);
    found.ok_or_else(|| format!("the screens are {}", Scene::ALL.map(|(name, _)| name).join(", ")))
}

/// Limited to the sizes of real screens.
fn size(text: &str) -> Result<(u16, u16), String> {
    let parse = |side: &str| side.parse::<u16>().ok().filter(|side| (10..=500).contains(side));
    let sides = text.split_once(['x', '×']).and_then(|(width, height)| Some((parse(width)?, parse(height)?)));
    sides.ok_or_else(|| "columns and rows from 10 to 500, such as 120x34".to_owned())
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the app on a sample repository with recorded replies: no key, no network
    Demo {
        /// Words per second of the recorded replies
        #[arg(long, default_value_t = 40, value_name = "WORDS")]
        speed: u32,
        /// Colours: a theme by its name, such as rhumb-light, nord or high-contrast
        #[arg(long, value_name = "NAME")]
        theme: Option<String>,
        /// Use lines instead of the full screen
        #[arg(long)]
        plain: bool,
        #[command(flatten)]
        /// A picture instead of the app.
        picture: PictureArgs,
    },
    /// Print the ranked repo map
    Map(MapArgs),
    /// Find the passages of code that answer a question
    Search(SearchArgs),
    /// Show, build and delete the semantic index; download a model for it
    Index(IndexArgs),
    /// Apply a model's reply to files
    Apply(ApplyArgs),
    /// Ask a question without the app: print the answer and change nothing
    Ask(AskArgs),
    /// Run one turn without the app: request a change, review it, write it
    Edit(EditArgs),
    /// Run a command in a trial checkout, with a model's reply applied; nothing is written
    Try(TryArgs),
    /// Undo the last write, unless its files have changed since
    Undo,
    /// Redo the write that was undone last
    Redo,
    /// List the sessions of this repository; print or delete one
    Sessions(SessionsArgs),
    /// List models: window, prices, capabilities, and the source of each
    Models(ModelsArgs),
    /// Print every setting, its value, and its origin
    Config(ConfigArgs),
    /// Show, approve and revoke settings that a repository proposes
    Trust(TrustArgs),
    /// Check what the program needs on this machine: terminal, git, keys, folders, the model's server
    Doctor(DoctorArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(ManArgs),
    /// Print the build: version, commit, compiler, target, features
    Version(VersionArgs),
}

impl Command {
    /// Whether the command reads the repository without recovering interrupted writes.
    pub(super) fn only_reads(&self) -> bool {
        match self {
            Self::Map(_) | Self::Search(_) | Self::Index(_) | Self::Sessions(_) | Self::Doctor(_) => true,
            Self::Apply(apply) => apply.dry_run,
            Self::Edit(edit) => edit.dry_run || edit.show_prompt,
            Self::Ask(ask) => ask.show_prompt,
            Self::Try(_) => true,
            Self::Demo { .. } | Self::Undo | Self::Redo | Self::Models(_) | Self::Config(_) | Self::Trust(_) => false,
            Self::Completions(_) | Self::Man(_) | Self::Version(_) => false,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Demo { .. } => "demo",
            Self::Map(_) => "map",
            Self::Search(_) => "search",
            Self::Index(_) => "index",
            Self::Apply(_) => "apply",
            Self::Ask(_) => "ask",
            Self::Edit(_) => "edit",
            Self::Try(_) => "try",
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Sessions(_) => "sessions",
            Self::Models(_) => "models",
            Self::Config(_) => "config",
            Self::Trust(_) => "trust",
            Self::Doctor(_) => "doctor",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
            Self::Version(_) => "version",
        }
    }
}

impl Args {
    pub(super) fn wanted(&self) -> Option<SessionSelector> {
        self.resume.clone().map(SessionSelector::Named).or(self.go_on.then_some(SessionSelector::Newest))
    }

    /// The command line that resumes the session of this start.
    pub(super) fn resume_command(&self, plain: bool) -> String {
        let mut line = "rhumb".to_owned();
        if let Some(root) = self.root.as_ref().map(|root| root.to_string_lossy()) {
            line.push_str(&format!(" --root {}", shell_words::quote(&root)));
        }
        line.push_str(if self.subtree_only { " --subtree-only" } else { "" });
        line.push_str(if plain { " --plain" } else { "" });
        line + " --continue"
    }

    /// A flag of the app before a command that does not use it, and the name of the command. It is an error, because ignoring
    /// it would be misleading.
    pub(super) fn misplaced(&self) -> Option<(&'static str, &'static str)> {
        let command = self.command.as_ref()?;
        let takes_files = matches!(command, Command::Apply(_) | Command::Edit(_) | Command::Ask(_));
        let writes = matches!(command, Command::Apply(_) | Command::Edit(_));
        let takes_back = matches!(command, Command::Undo | Command::Redo);
        let is_config = matches!(command, Command::Config(_));
        let is_demo = matches!(command, Command::Demo { .. });
        let flags = [
            ("--file", !self.files.is_empty() && !takes_files),
            ("--theme", self.provider.theme.is_some() && !is_demo && !is_config),
            // Applying a reply never commits.
            ("--watch", self.provider.watch),
            ("--no-commit", self.provider.no_commit && !writes && !takes_back && !is_config),
            ("--continue", self.go_on),
            ("--resume", self.resume.is_some()),
            ("--plain", self.plain && !is_demo),
            ("--test-panic", self.test_panic),
        ];
        let (flag, _) = flags.into_iter().find(|(_, misplaced)| *misplaced)?;
        Some((flag, command.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misplaced(line: &str) -> Option<(&'static str, &'static str)> {
        Args::try_parse_from(line.split(' ')).unwrap().misplaced()
    }

    #[test]
    fn a_session_is_resumed_where_it_was_begun() {
        let line = |line: &str, plain| Args::try_parse_from(line.split(' ')).unwrap().resume_command(plain);
        assert_eq!(line("rhumb --model m a.rs", false), "rhumb --continue");
        assert_eq!(line("rhumb --subtree-only", true), "rhumb --subtree-only --plain --continue");
        assert_eq!(line("rhumb --root a&b", false), "rhumb --root 'a&b' --continue");
    }

    #[test]
    fn a_flag_before_a_command_is_honoured_or_refused() {
        for line in [
            "rhumb --file a --theme t --no-commit --test-panic",
            "rhumb --continue",
            "rhumb --resume parser --file a",
            "rhumb --theme t demo",
            "rhumb demo --theme t",
            "rhumb --plain --continue",
            "rhumb --plain demo",
            "rhumb demo --plain",
            "rhumb --file a --no-commit edit -m x",
            "rhumb --file a --no-commit apply -",
            "rhumb --no-commit undo",
            "rhumb --root . --model m --base-url u --map-tokens 1 --edit-format diff map",
        ] {
            assert_eq!(misplaced(line), None, "{line}");
        }
        assert_eq!(misplaced("rhumb a.rs b.rs"), None);
        let words = Args::try_parse_from(["rhumb", "a.rs", "map"]).unwrap();
        assert!(words.command.is_none() && words.named == ["a.rs", "map"], "a command comes first");
        assert_eq!(misplaced("rhumb --file a map"), Some(("--file", "map")));
        assert_eq!(misplaced("rhumb --continue sessions"), Some(("--continue", "sessions")));
        assert_eq!(misplaced("rhumb --resume 3 edit -m x"), Some(("--resume", "edit")));
        assert_eq!(misplaced("rhumb --file a demo"), Some(("--file", "demo")));
        assert_eq!(misplaced("rhumb --theme t edit -m x"), Some(("--theme", "edit")));
        assert_eq!(misplaced("rhumb --no-commit demo"), Some(("--no-commit", "demo")));
        assert_eq!(misplaced("rhumb --watch demo"), Some(("--watch", "demo")));
        assert_eq!(misplaced("rhumb --plain map"), Some(("--plain", "map")));
        assert_eq!(misplaced("rhumb --test-panic apply -"), Some(("--test-panic", "apply")));
    }
}
