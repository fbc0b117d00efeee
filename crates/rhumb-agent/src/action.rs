//! What a tool call asks for, once its arguments are parsed.

use serde::{Deserialize, Serialize};

/// The action of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Read a file, or the result of an earlier call (`result:3`).
    ReadFile {
        /// The path under the root, or `result:N` with the number of an earlier call.
        path: String,
        /// The first line, 1-based; `None` for the beginning.
        start_line: Option<usize>,
        /// The last line, 1-based and inclusive; `None` for the end.
        end_line: Option<usize>,
    },
    /// List the files whose paths match a glob.
    ListFiles {
        /// The glob, such as `src/**/*.rs`; `None` for all files.
        pattern: Option<String>,
    },
    /// Search the repository for code about something, with the program's own ranking.
    Search {
        /// The words of the question.
        query: String,
    },
    /// Search file contents for a regular expression.
    Grep {
        /// The regular expression.
        pattern: String,
        /// A folder, a file, or a glob to which the search is limited.
        path: Option<String>,
        /// Whether case is ignored.
        ignore_case: bool,
    },
    /// Show the definitions of a file or a folder, or those that matter most for a query.
    Outline {
        /// A file or a folder.
        path: Option<String>,
        /// The words of the question.
        query: Option<String>,
    },
    /// Show the definition of a symbol.
    Definition {
        /// The name of the symbol, perhaps qualified (`Class.method`, `module::function`).
        symbol: String,
        /// A file or folder to which the search is limited.
        path: Option<String>,
    },
    /// Show where a symbol is used.
    References {
        /// The name of the symbol.
        symbol: String,
        /// A file or folder to which the search is limited.
        path: Option<String>,
    },
    /// Replace a part of a file.
    Edit {
        /// The path.
        path: String,
        /// The lines to replace. Empty for a new file.
        search: String,
        /// The new lines.
        replace: String,
    },
    /// Apply a patch in the V4A format.
    ApplyPatch {
        /// The patch, with `*** Begin Patch` and `*** End Patch`.
        patch: String,
    },
    /// Write a whole file.
    WriteFile {
        /// The path.
        path: String,
        /// The content.
        content: String,
    },
    /// Delete a file.
    DeleteFile {
        /// The path.
        path: String,
    },
    /// Run a command in a trial checkout with the proposal so far.
    Run {
        /// The command line, for a shell.
        command: String,
        /// Whether the command needs the network.
        network: bool,
        /// The maximum time in seconds; `None` for the default.
        timeout: Option<u64>,
    },
    /// Show a checklist to the user. Replaces the last one.
    Plan {
        /// The items.
        items: Vec<PlanItem>,
    },
    /// Ask the user a question.
    AskUser {
        /// The question.
        question: String,
        /// Possible answers; may be empty.
        options: Vec<String>,
    },
    /// Read a page of the web.
    FetchUrl {
        /// The address.
        url: String,
    },
    /// Give a question about the repository to another model, which can only read, and get its answer.
    Task {
        /// The question, with all that is needed to answer it.
        prompt: String,
    },
}

/// An item of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanItem {
    /// What is to be done, one line.
    pub text: String,
    /// Its state.
    pub state: PlanState,
}

/// The state of an item of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl Action {
    /// The name of the tool.
    pub fn tool(&self) -> &'static str {
        match self {
            Self::ReadFile { .. } => "read_file",
            Self::ListFiles { .. } => "list_files",
            Self::Search { .. } => "search",
            Self::Grep { .. } => "grep",
            Self::Outline { .. } => "outline",
            Self::Definition { .. } => "definition",
            Self::References { .. } => "references",
            Self::Edit { .. } => "edit",
            Self::ApplyPatch { .. } => "apply_patch",
            Self::WriteFile { .. } => "write_file",
            Self::DeleteFile { .. } => "delete_file",
            Self::Run { .. } => "run",
            Self::Plan { .. } => "plan",
            Self::AskUser { .. } => "ask_user",
            Self::FetchUrl { .. } => "fetch_url",
            Self::Task { .. } => "task",
        }
    }

    /// Whether it only reads the repository and the proposal, so that it can run in parallel with others like it.
    pub fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::ReadFile { .. }
                | Self::ListFiles { .. }
                | Self::Search { .. }
                | Self::Grep { .. }
                | Self::Outline { .. }
                | Self::Definition { .. }
                | Self::References { .. }
                | Self::Task { .. }
        )
    }

    /// Whether it changes the proposal.
    pub fn is_edit(&self) -> bool {
        matches!(self, Self::Edit { .. } | Self::ApplyPatch { .. } | Self::WriteFile { .. } | Self::DeleteFile { .. })
    }

    /// What it does, as one line for a list of steps: `src/gate.rs 1-200`, without the name of the tool.
    pub fn summary(&self) -> String {
        match self {
            Self::ReadFile { path, start_line: None, end_line: None } | Self::DeleteFile { path } => path.clone(),
            Self::ReadFile { path, start_line, end_line } => {
                let end = end_line.map_or_else(|| "end".to_owned(), |line| line.to_string());
                format!("{path} {}-{end}", start_line.unwrap_or(1))
            }
            Self::ListFiles { pattern } => pattern.clone().unwrap_or_default(),
            Self::Search { query } => first_line(query),
            Self::Grep { pattern, path: None, .. } => first_line(pattern),
            Self::Grep { pattern, path: Some(path), .. } => format!("{} in {path}", first_line(pattern)),
            Self::Outline { path, query } => {
                [path.clone(), query.as_deref().map(first_line)].into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            Self::Definition { symbol, path: None } | Self::References { symbol, path: None } => symbol.clone(),
            Self::Definition { symbol, path: Some(path) } | Self::References { symbol, path: Some(path) } => {
                format!("{symbol} in {path}")
            }
            Self::Edit { path, .. } | Self::WriteFile { path, .. } => path.clone(),
            Self::ApplyPatch { patch } => {
                let named = patch.lines().filter_map(|line| {
                    ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
                        .iter()
                        .find_map(|mark| line.strip_prefix(mark))
                });
                named.map(str::trim).collect::<Vec<_>>().join(", ")
            }
            Self::Run { command, .. } => first_line(command),
            Self::Plan { items } => {
                let done = items.iter().filter(|item| item.state == PlanState::Completed).count();
                format!("{done} of {} done", items.len())
            }
            Self::AskUser { question, .. } => first_line(question),
            Self::FetchUrl { url } => url.clone(),
            Self::Task { prompt } => first_line(prompt),
        }
    }
}

/// The first line of a text, with an ellipsis if there are more.
fn first_line(text: &str) -> String {
    let text = text.trim();
    match text.split_once('\n') {
        Some((first, _)) => format!("{} …", first.trim_end()),
        None => text.to_owned(),
    }
}
