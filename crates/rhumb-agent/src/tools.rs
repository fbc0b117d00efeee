//! The tools as the model sees them, and the parsing of its calls.

use rhumb_llm::{Tool, ToolCall};
use serde_json::{Value, json};

use crate::action::{Action, PlanItem, PlanState};
use crate::arguments::{Arguments, integer, snake_case};
use crate::output::one_line;

/// Maximum length of a tool's name in a message, in characters.
const MAX_NAME: usize = 60;
/// Maximum length of a summary, in characters.
const MAX_SUMMARY: usize = 200;
/// Maximum length of the arguments of an invalid call where they are shown, in characters.
const MAX_RAW_ARGUMENTS: usize = 100;
/// Maximum number of items of a plan.
const MAX_PLAN_ITEMS: usize = 50;
/// Maximum number of answers to a question: one for each digit key. More are ignored.
pub const MAX_OPTIONS: usize = 9;

/// Which tools are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolSet {
    /// Tools that change the proposal.
    pub edits: bool,
    /// How patches are offered.
    pub patch: PatchTool,
    /// Whether commands can be run.
    pub run: bool,
    /// Whether the user can be asked.
    pub ask_user: bool,
    /// Whether pages can be fetched.
    pub fetch_url: bool,
    /// Whether a question can be given to another model.
    pub task: bool,
}

impl ToolSet {
    /// Every tool, with patches as a function.
    pub const ALL: Self =
        Self { edits: true, patch: PatchTool::Function, run: true, ask_user: true, fetch_url: true, task: true };
}

/// How `apply_patch` is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PatchTool {
    /// Not at all: the model knows search/replace better.
    #[default]
    None,
    /// As a function with the patch as its argument.
    Function,
    /// As the tool that is built into the API.
    BuiltIn,
}

/// Why a call cannot be performed. The text is the result that the model gets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// There is no such tool.
    #[error("there is no tool {name:?}; the tools are {known}")]
    UnknownTool {
        /// The name in the call.
        name: String,
        /// The names of the tools that are offered.
        known: String,
    },
    /// The arguments are not what the tool takes.
    #[error("{problem}. Arguments of {tool}: {expected}")]
    InvalidArguments {
        /// The tool.
        tool: &'static str,
        /// What is wrong.
        problem: String,
        /// The schema of the arguments, in short.
        expected: String,
    },
}

/// The definitions of the tools. Their JSON has about 1,250 tokens if all are offered.
pub fn definitions(set: &ToolSet) -> Vec<Tool> {
    let mut tools = all_tools();
    tools.retain(|tool| is_offered(&tool.name, set));
    for tool in &mut tools {
        tool.built_in = tool.name == "apply_patch" && set.patch == PatchTool::BuiltIn;
    }
    tools
}

fn is_offered(tool: &str, set: &ToolSet) -> bool {
    match tool {
        "edit" | "write_file" | "delete_file" | "plan" => set.edits,
        "apply_patch" => set.edits && set.patch != PatchTool::None,
        "run" => set.run,
        "ask_user" => set.ask_user,
        "fetch_url" => set.fetch_url,
        "task" => set.task,
        _ => true,
    }
}

fn all_tools() -> Vec<Tool> {
    let text = |description: &str| property("string", description);
    let path = || text("");
    let limit = || text("Only this file or folder");
    vec![
        tool(
            "read_file",
            "Read a file, with line numbers and with the edits made so far. Paths are relative to the repository root.",
            json!({
                "path": text("Or result:N, for more of result number N"),
                "start_line": property("integer", "1-based"),
                "end_line": property("integer", "Inclusive"),
            }),
            &["path"],
        ),
        tool(
            "list_files",
            "List files that are not ignored.",
            json!({ "pattern": text("Glob such as src/**/*.rs") }),
            &[],
        ),
        tool(
            "search",
            "Find code by meaning, best first. Use it when you do not know the exact words.",
            json!({ "query": text("What the code does, names that may occur") }),
            &["query"],
        ),
        tool(
            "grep",
            "Search file contents with a regular expression.",
            json!({ "pattern": path(), "path": text("File, folder or glob"), "ignore_case": property("boolean", "") }),
            &["pattern"],
        ),
        tool(
            "outline",
            "Show the definitions in a file or folder, or those most relevant to a query, without their bodies.",
            json!({ "path": path(), "query": path() }),
            &[],
        ),
        tool(
            "definition",
            "Show where a symbol is defined, with its code.",
            json!({ "symbol": text("Name, may be qualified"), "path": limit() }),
            &["symbol"],
        ),
        tool("references", "List the uses of a symbol.", json!({ "symbol": path(), "path": limit() }), &["symbol"]),
        tool(
            "edit",
            "Replace lines of a file. The place is found by the text of `search`, and the edit is refused with a reason if it is not \
             certain. Nothing is written to disk before the user has reviewed it; reads and `run` see it at once.",
            json!({
                "path": path(),
                "search": text("The lines to replace, copied exactly, without line numbers, enough to be unique; empty for a new file"),
                "replace": text("The new lines"),
            }),
            &["path", "search", "replace"],
        ),
        tool(
            "apply_patch",
            "Edit several places or files with one patch, as `edit` does.",
            json!({
                "patch": text(
                    "*** Begin Patch\n*** Update File: PATH\n@@ class or function\n context\n-old\n+new\n*** End Patch; also *** Add \
                     File, *** Delete File"
                )
            }),
            &["patch"],
        ),
        tool(
            "write_file",
            "Create a file or replace all of it. Prefer `edit` for changes.",
            json!({ "path": path(), "content": path() }),
            &["path", "content"],
        ),
        tool("delete_file", "Delete a file.", json!({ "path": path() }), &["path"]),
        tool(
            "run",
            "Run a shell command in a private copy of the repository that has the edits made so far. Nothing that it does reaches the \
             user's files.",
            json!({
                "command": path(),
                "network": property("boolean", "Only if needed; the user may be asked"),
                "timeout": property("integer", "Seconds"),
            }),
            &["command"],
        ),
        tool(
            "plan",
            "Show the user your plan, for work of several steps. Replaces the last plan.",
            json!({
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "text": property("string", ""),
                            "state": { "type": "string", "enum": ["pending", "in_progress", "completed"] },
                        },
                        "required": ["text", "state"],
                        "additionalProperties": false,
                    },
                }
            }),
            &["items"],
        ),
        tool(
            "ask_user",
            "Ask the user, if only the user can know.",
            json!({ "question": path(), "options": { "type": "array", "items": { "type": "string" } } }),
            &["question"],
        ),
        tool("fetch_url", "Read a web page.", json!({ "url": path() }), &["url"]),
        tool(
            "task",
            "Give a question about the repository to another model that can only read. You get its answer alone.",
            json!({ "prompt": text("All it needs to know") }),
            &["prompt"],
        ),
    ]
}

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Tool {
    let mut parameters =
        json!({ "type": "object", "properties": null, "required": required, "additionalProperties": false });
    parameters["properties"] = properties;
    Tool { name: name.to_owned(), description: description.to_owned(), parameters, built_in: false }
}

fn property(kind: &str, description: &str) -> Value {
    if description.is_empty() { json!({ "type": kind }) } else { json!({ "type": kind, "description": description }) }
}

/// The schema of a tool's arguments in short: `path: string, start_line?: integer`.
pub(crate) fn short_schema(parameters: &Value) -> String {
    let required: Vec<&str> =
        parameters["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = parameters["properties"].as_object().into_iter().flatten().map(|(name, schema)| {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{name}{optional}: {}", short_type(schema))
    });
    fields.collect::<Vec<_>>().join(", ")
}

fn short_type(schema: &Value) -> String {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    match schema["type"].as_str() {
        Some("array") => format!("[{}]", short_type(&schema["items"])),
        Some("object") if schema["properties"].is_object() => format!("{{{}}}", short_schema(schema)),
        kind => kind.unwrap_or("any").to_owned(),
    }
}

/// The tool that a name means: exactly, with another case or separator, behind a prefix that models add, or by a name that it has
/// elsewhere.
fn resolve(name: &str) -> Option<&'static str> {
    // Some models leak a token of their template (`<|channel|>`) or a call number (`read_file:0`) into the name.
    let name = name.split("<|").next().unwrap_or_default().trim();
    let name = match name.rsplit_once(':') {
        Some((before, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => before,
        _ => name,
    };
    let name = ["functions.", "default_api.", "default_api:", "tools."]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    if name.len() > MAX_NAME {
        return None;
    }
    Some(match snake_case(name).as_str() {
        "read_file" | "read" | "view" | "view_file" | "cat" | "open_file" => "read_file",
        "list_files" | "glob" | "ls" | "list" | "list_dir" | "list_directory" | "find_files" => "list_files",
        "search" | "codebase_search" | "semantic_search" | "search_code" => "search",
        "grep" | "grep_search" | "ripgrep" | "rg" | "search_file_content" | "search_files" => "grep",
        "outline" | "document_symbols" | "list_symbols" | "file_outline" => "outline",
        "definition" | "definitions" | "go_to_definition" | "goto_definition" | "find_definition" => "definition",
        "references" | "find_references" | "get_references" => "references",
        "edit" | "edit_file" | "str_replace" | "replace" | "search_replace" | "replace_in_file" => "edit",
        "apply_patch" | "applypatch" | "patch" => "apply_patch",
        "write_file" | "write" | "create_file" | "write_to_file" => "write_file",
        "delete_file" | "delete" | "remove_file" | "rm" => "delete_file",
        "run" | "bash" | "sh" | "shell" | "execute" | "exec" | "exec_command" | "run_command" | "execute_command"
        | "run_shell_command" | "run_terminal_cmd" | "run_in_terminal" | "terminal" | "local_shell" => "run",
        "plan" | "update_plan" | "todo_write" | "todowrite" | "write_todos" | "todo" => "plan",
        "ask_user" | "ask" | "ask_question" | "ask_user_question" | "ask_followup_question" => "ask_user",
        "fetch_url" | "fetch" | "web_fetch" | "webfetch" | "open_url" => "fetch_url",
        "task" | "agent" | "subagent" | "sub_agent" | "new_task" => "task",
        _ => return None,
    })
}

/// Parses a call. Reads leniently what models confuse, as long as the meaning is certain: names of tools and arguments from other agents,
/// numbers and booleans as strings, arguments as a JSON string in a JSON string, raw line breaks in strings, and unknown arguments.
/// The paths are not checked.
///
/// ```
/// use rhumb_agent::{Action, PatchTool, ToolSet, parse_call};
/// use rhumb_llm::ToolCall;
///
/// let set = ToolSet { edits: true, patch: PatchTool::None, run: true, ask_user: false, fetch_url: false, task: false };
/// let call = ToolCall { name: "Bash".into(), arguments: r#"{"cmd": ["cargo", "test"]}"#.into(), ..ToolCall::default() };
/// assert_eq!(parse_call(&call, &set)?, Action::Run { command: "cargo test".into(), network: false, timeout: None });
///
/// let call = ToolCall { name: "read_file".into(), ..ToolCall::default() };
/// let error = parse_call(&call, &set).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "`path` is missing. Arguments of read_file: path: string, start_line?: integer, end_line?: integer"
/// );
/// # Ok::<(), rhumb_agent::CallError>(())
/// ```
///
/// # Errors
/// The tool is not offered, or the arguments are not valid.
pub fn parse_call(call: &ToolCall, set: &ToolSet) -> Result<Action, CallError> {
    let Some(tool) = resolve(&call.name).filter(|tool| is_offered(tool, set)) else {
        let known = definitions(set).into_iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ");
        return Err(CallError::UnknownTool { name: one_line(&call.name, MAX_NAME), known });
    };
    let action = parse_action(tool, &call.arguments).map_err(|problem| {
        let schema =
            all_tools().into_iter().find(|definition| definition.name == tool).map(|definition| definition.parameters);
        CallError::InvalidArguments { tool, problem, expected: short_schema(&schema.unwrap_or_default()) }
    })?;
    // Models that were trained on a patch command run it in the shell.
    match &action {
        Action::Run { command, .. } if is_offered("apply_patch", set) => {
            Ok(patch_of_command(command).map_or(action, |patch| Action::ApplyPatch { patch }))
        }
        _ => Ok(action),
    }
}

/// The name of the tool and one line for a list of steps, also for a call that is not valid: then the line is the start of the arguments.
pub fn describe(call: &ToolCall) -> (String, String) {
    match parse_call(call, &ToolSet::ALL) {
        Ok(action) => (action.tool().to_owned(), one_line(&action.summary(), MAX_SUMMARY)),
        Err(_) => {
            let name = resolve(&call.name).map_or_else(|| one_line(&call.name, MAX_NAME), str::to_owned);
            (name, one_line(&call.arguments, MAX_RAW_ARGUMENTS))
        }
    }
}

const PATH: &[&str] = &["path", "file_path", "filename", "file_name", "filepath", "file", "target_file"];
const FOLDER: &[&str] = &["path", "file_path", "file", "directory", "dir", "folder", "glob", "include"];
const SYMBOL: &[&str] = &["symbol", "name", "identifier", "symbol_name"];

fn parse_action(tool: &str, text: &str) -> Result<Action, String> {
    if tool == "apply_patch" && text.trim_start().starts_with(BEGIN_PATCH) {
        return checked_patch(text); // a freeform argument
    }
    let mut arguments = Arguments::parse(text)?;
    let arguments = &mut arguments;
    Ok(match tool {
        "read_file" => {
            let (start_line, end_line) = line_range(arguments)?;
            Action::ReadFile { path: arguments.filled(PATH)?, start_line, end_line }
        }
        "list_files" => Action::ListFiles { pattern: file_pattern(arguments)? },
        "search" => {
            Action::Search { query: arguments.filled(&["query", "q", "question", "text", "search_term", "pattern"])? }
        }
        "grep" => {
            let pattern = arguments.required(&["pattern", "regex", "query", "regexp", "search"])?;
            if pattern.is_empty() {
                return Err("`pattern` is empty".to_owned());
            }
            let ignore_case = arguments.boolean(&["ignore_case", "case_insensitive", "i"])?;
            Action::Grep { pattern, path: arguments.optional(FOLDER)?, ignore_case }
        }
        "outline" => {
            Action::Outline { path: arguments.optional(FOLDER)?, query: arguments.optional(&["query", "question"])? }
        }
        "definition" => Action::Definition { symbol: arguments.filled(SYMBOL)?, path: arguments.optional(FOLDER)? },
        "references" => Action::References { symbol: arguments.filled(SYMBOL)?, path: arguments.optional(FOLDER)? },
        "edit" => Action::Edit {
            path: arguments.filled(PATH)?,
            search: arguments.required(&["search", "old_string", "old_str", "old_text", "old"])?,
            replace: arguments.required(&["replace", "new_string", "new_str", "new_text", "new", "replacement"])?,
        },
        "apply_patch" => return patch_action(arguments),
        "write_file" => Action::WriteFile {
            path: arguments.filled(PATH)?,
            content: arguments.required(&["content", "contents", "text", "file_text"])?,
        },
        "delete_file" => Action::DeleteFile { path: arguments.filled(PATH)? },
        "run" => run_action(arguments)?,
        "plan" => Action::Plan { items: plan_items(arguments)? },
        "ask_user" => Action::AskUser {
            question: arguments.filled(&["question", "prompt", "message", "text"])?,
            options: arguments
                .list(&["options", "choices", "answers"])?
                .into_iter()
                .flatten()
                .filter_map(|option| item_text(&option, &["label", "text", "title", "value"]))
                .take(MAX_OPTIONS)
                .collect(),
        },
        "fetch_url" => Action::FetchUrl { url: arguments.filled(&["url", "uri", "link", "address"])? },
        _ => Action::Task {
            prompt: arguments.filled(&["prompt", "question", "task", "instructions", "query", "description"])?,
        },
    })
}

/// The first and last line. A start before the first line is the first line: the line numbers in the result show it.
fn line_range(arguments: &mut Arguments) -> Result<(Option<usize>, Option<usize>), String> {
    let mut start = arguments.integer(&["start_line", "offset", "start", "line_start", "from_line"])?;
    let mut end = arguments.integer(&["end_line", "end", "line_end", "to_line"])?;
    if let Some(limit) = arguments.integer(&["limit", "num_lines"])?.filter(|limit| *limit > 0 && end.is_none()) {
        end = Some(start.unwrap_or(1).max(1).saturating_add(limit - 1));
    }
    if let Some(range) = arguments.take(&["view_range", "line_range", "range"]) {
        let ends = range.as_array().filter(|ends| ends.len() == 2).ok_or("`view_range` must be two integers")?;
        start = start.or(integer(&ends[0]));
        end = end.or(integer(&ends[1]));
    }
    let start = start.map(|line| line.max(1));
    // Elsewhere -1 is the end of the file.
    let end = end.filter(|line| *line != -1);
    match end {
        Some(end) if end < 1 => Err("`end_line` is 1-based; leave it out to read to the end".to_owned()),
        Some(end) if start.is_some_and(|start| start > end) => {
            Err(format!("`start_line` {} is after `end_line` {end}", start.unwrap_or(1)))
        }
        _ => Ok((start.and_then(|line| usize::try_from(line).ok()), end.and_then(|line| usize::try_from(line).ok()))),
    }
}

/// The glob, from a glob, a folder, or a glob in a folder.
fn file_pattern(arguments: &mut Arguments) -> Result<Option<String>, String> {
    let pattern = arguments.optional(&["pattern", "glob", "glob_pattern", "include"])?;
    let folder = arguments.optional(&["path", "directory", "dir", "folder", "dir_path"])?;
    let folder = folder.as_deref().map(|folder| folder.trim_start_matches("./").trim_end_matches('/'));
    Ok(match (pattern, folder.filter(|folder| !matches!(*folder, "" | "."))) {
        (pattern, None) => pattern,
        (None, Some(folder)) if folder.contains(['*', '?', '[', '{']) => Some(folder.to_owned()),
        (None, Some(folder)) => Some(format!("{folder}/**")),
        (Some(pattern), Some(folder)) if pattern.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')) => {
            Some(pattern)
        }
        (Some(pattern), Some(folder)) => Some(format!("{folder}/{pattern}")),
    })
}

fn run_action(arguments: &mut Arguments) -> Result<Action, String> {
    let command = match arguments.take(&["command", "cmd", "commands", "script", "command_line"]) {
        None => return Err("`command` is missing".to_owned()),
        Some(Value::String(command)) => command.trim().to_owned(),
        Some(Value::Array(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            match words.ok_or("`command` must be a string")?[..] {
                ["bash" | "sh" | "zsh", "-c" | "-lc", line] | [line] => line.trim().to_owned(),
                ref words => shell_words::join(words),
            }
        }
        Some(_) => return Err("`command` must be a string".to_owned()),
    };
    if command.is_empty() {
        return Err("`command` is empty".to_owned());
    }
    let command = match arguments.optional(&["workdir", "cwd", "working_directory", "dir_path"])? {
        Some(folder) if folder != "." => format!("cd {} && {command}", shell_words::quote(&folder)),
        _ => command,
    };
    let network = arguments.boolean(&["network"])?;
    let milliseconds = arguments.integer(&["timeout_ms"])?;
    let seconds = arguments.integer(&["timeout", "timeout_seconds", "timeout_secs", "timeout_sec"])?;
    let timeout = seconds.or(milliseconds.map(|time| time.saturating_add(999) / 1_000)).filter(|time| *time > 0);
    Ok(Action::Run { command, network, timeout: timeout.and_then(|time| u64::try_from(time).ok()) })
}

fn plan_items(arguments: &mut Arguments) -> Result<Vec<PlanItem>, String> {
    let items = arguments.list(&["items", "plan", "steps", "todos", "tasks"])?.ok_or("`items` is missing")?;
    if items.len() > MAX_PLAN_ITEMS {
        return Err(format!("a plan has at most {MAX_PLAN_ITEMS} items"));
    }
    items.into_iter().map(plan_item).collect()
}

fn plan_item(item: Value) -> Result<PlanItem, String> {
    let (text, state) = match item {
        Value::String(line) => checklist_item(&line),
        Value::Object(fields) => {
            let mut fields = Arguments::new(fields);
            let text = fields.filled(&["text", "content", "step", "title", "task", "description"])?;
            let state = match fields.optional(&["state", "status"])? {
                Some(state) => plan_state(&state)?,
                None if fields.boolean(&["completed", "done"])? => PlanState::Completed,
                None => PlanState::Pending,
            };
            (text, state)
        }
        _ => return Err("each of `items` must be an object".to_owned()),
    };
    Ok(PlanItem { text: one_line(&text, MAX_SUMMARY), state })
}

/// `- [x] text`
fn checklist_item(line: &str) -> (String, PlanState) {
    let text = line.trim().trim_start_matches(['-', '*']).trim_start();
    [("[x]", PlanState::Completed), ("[X]", PlanState::Completed), ("[ ]", PlanState::Pending)]
        .iter()
        .find_map(|(mark, state)| text.strip_prefix(mark).map(|text| (text.trim().to_owned(), *state)))
        .unwrap_or_else(|| (text.to_owned(), PlanState::Pending))
}

fn plan_state(state: &str) -> Result<PlanState, String> {
    match snake_case(state).as_str() {
        "pending" | "todo" | "open" | "not_started" => Ok(PlanState::Pending),
        "in_progress" | "doing" | "active" | "started" => Ok(PlanState::InProgress),
        "completed" | "complete" | "done" | "finished" => Ok(PlanState::Completed),
        _ => Err("`state` must be pending, in_progress or completed".to_owned()),
    }
}

/// The text of an item that is a string or an object with one.
fn item_text(item: &Value, names: &[&str]) -> Option<String> {
    let text = item.as_str().or_else(|| names.iter().find_map(|name| item.get(*name)?.as_str()))?;
    Some(one_line(text, MAX_SUMMARY)).filter(|text| !text.is_empty())
}

const BEGIN_PATCH: &str = "*** Begin Patch";
const END_PATCH: &str = "*** End Patch";

fn patch_action(arguments: &mut Arguments) -> Result<Action, String> {
    let operation = match arguments.take(&["operation"]) {
        Some(Value::Object(operation)) => Some(Arguments::new(operation)),
        Some(Value::String(operation)) => Some(Arguments::parse(&operation)?),
        Some(_) => return Err("`operation` must be an object".to_owned()),
        None => None,
    };
    match operation {
        Some(operation) => operation_patch(operation),
        None => checked_patch(&arguments.required(&["patch", "input", "diff", "patch_text", "text"])?),
    }
}

/// The patch for an operation of the tool that is built into the API: `{"type": "update_file", "path": …, "diff": …}`.
fn operation_patch(mut operation: Arguments) -> Result<Action, String> {
    let kind = operation.filled(&["type"])?;
    let path = operation.filled(PATH)?;
    if path.contains(['\n', '\r']) {
        return Err("`path` must be one line".to_owned());
    }
    let mut body = String::new();
    let head = match kind.as_str() {
        "delete_file" => "Delete",
        "create_file" => {
            let diff = operation.required(&["diff"])?;
            // Lines without the mark would be lost.
            let marked = diff.lines().all(|line| line.starts_with('+'));
            body.extend(diff.lines().flat_map(|line| [if marked { "" } else { "+" }, line, "\n"]));
            "Add"
        }
        "update_file" => {
            let diff = operation.required(&["diff"])?;
            if diff.lines().any(starts_file) {
                return Err("`diff` must be the change of one file".to_owned());
            }
            let lines = diff.lines().filter(|line| !line.starts_with(BEGIN_PATCH) && !line.starts_with(END_PATCH));
            body.extend(lines.flat_map(|line| [line, "\n"]));
            "Update"
        }
        _ => return Err("`type` must be create_file, update_file or delete_file".to_owned()),
    };
    Ok(Action::ApplyPatch { patch: format!("{BEGIN_PATCH}\n*** {head} File: {path}\n{body}{END_PATCH}\n") })
}

fn starts_file(line: &str) -> bool {
    ["*** Update File:", "*** Add File:", "*** Delete File:"].iter().any(|mark| line.starts_with(mark))
}

fn checked_patch(patch: &str) -> Result<Action, String> {
    if !patch.lines().any(starts_file) {
        return Err("the patch names no file; it must have lines such as `*** Update File: PATH`".to_owned());
    }
    Ok(Action::ApplyPatch { patch: complete_patch(patch) })
}

/// The patch from its begin mark to its end mark. Marks that are missing are added: the arguments are complete, so the patch is.
fn complete_patch(text: &str) -> String {
    let text = text.find(BEGIN_PATCH).map_or(text, |at| &text[at..]);
    let text = text.rfind("\n*** End Patch").map_or(text, |at| &text[..at]);
    let begin = if text.starts_with(BEGIN_PATCH) { "" } else { "*** Begin Patch\n" };
    let line_break = if text.ends_with('\n') { "" } else { "\n" };
    format!("{begin}{text}{line_break}{END_PATCH}\n")
}

/// The patch of a command that is `apply_patch` with an argument or a here-document, and nothing else.
fn patch_of_command(command: &str) -> Option<String> {
    let rest = command.strip_prefix("apply_patch")?;
    if let Some(heredoc) = rest.trim_start().strip_prefix("<<") {
        let (delimiter, text) = heredoc.split_once('\n')?;
        let delimiter = delimiter.trim_matches(['-', '\'', '"', ' ']);
        let patch = text.trim_end().strip_suffix(delimiter)?;
        return (!delimiter.is_empty() && patch.trim_end().ends_with(END_PATCH)).then(|| complete_patch(patch));
    }
    match &shell_words::split(rest).ok()?[..] {
        [patch] if patch.contains(BEGIN_PATCH) => Some(complete_patch(patch)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: ToolSet = ToolSet::ALL;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "c".to_owned(), name: name.to_owned(), arguments: arguments.to_owned(), ..ToolCall::default() }
    }

    fn parse(name: &str, arguments: &Value) -> Result<Action, CallError> {
        parse_call(&call(name, &arguments.to_string()), &ALL)
    }

    fn problem(name: &str, arguments: &Value) -> String {
        match parse(name, arguments) {
            Err(CallError::InvalidArguments { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }

    fn read(path: &str, start_line: Option<usize>, end_line: Option<usize>) -> Action {
        Action::ReadFile { path: path.to_owned(), start_line, end_line }
    }

    fn edit() -> Action {
        Action::Edit { path: "a.rs".to_owned(), search: "x\n".to_owned(), replace: String::new() }
    }

    fn run(command: &str) -> Action {
        Action::Run { command: command.to_owned(), network: false, timeout: None }
    }

    #[test]
    fn the_definitions_are_short() {
        let tools = definitions(&ALL);
        let json: usize = tools
            .iter()
            .map(|tool| {
                json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters})
                    .to_string()
                    .len()
            })
            .sum();
        assert!(json < 5_500, "{json} bytes");
        for tool in &tools {
            assert_eq!(
                (&tool.parameters["type"], &tool.parameters["additionalProperties"]),
                (&json!("object"), &json!(false))
            );
            for name in tool.parameters["required"].as_array().unwrap() {
                assert!(tool.parameters["properties"][name.as_str().unwrap()].is_object(), "{}", tool.name);
            }
        }
    }

    #[test]
    fn the_set_decides_which_tools_are_offered() {
        let names = |set: &ToolSet| definitions(set).into_iter().map(|tool| tool.name).collect::<Vec<_>>();
        let none = ToolSet {
            edits: false,
            patch: PatchTool::Function,
            run: false,
            ask_user: false,
            fetch_url: false,
            task: false,
        };
        assert_eq!(names(&none), ["read_file", "list_files", "search", "grep", "outline", "definition", "references"]);
        assert_eq!(names(&ALL).len(), 16);
        assert!(!names(&ToolSet { patch: PatchTool::None, ..ALL }).contains(&"apply_patch".to_owned()));
        let built_in = definitions(&ToolSet { patch: PatchTool::BuiltIn, ..ALL });
        let built_in: Vec<_> = built_in.iter().filter(|tool| tool.built_in).map(|tool| tool.name.as_str()).collect();
        assert_eq!(built_in, ["apply_patch"]);
        assert_eq!(
            parse_call(&call("run", r#"{"command":"ls"}"#), &none).unwrap_err().to_string(),
            "there is no tool \"run\"; the tools are read_file, list_files, search, grep, outline, definition, references"
        );
    }

    #[test]
    fn every_tool_parses_its_own_arguments() {
        let text = || "x".to_owned();
        let patch = "*** Begin Patch\n*** Delete File: x\n*** End Patch\n";
        let items = vec![PlanItem { text: text(), state: PlanState::InProgress }];
        let cases = [
            (json!({"path": "x"}), read("x", None, None)),
            (json!({"pattern": "x"}), Action::ListFiles { pattern: Some(text()) }),
            (json!({"query": "x"}), Action::Search { query: text() }),
            (
                json!({"pattern": "x", "ignore_case": true}),
                Action::Grep { pattern: text(), path: None, ignore_case: true },
            ),
            (json!({}), Action::Outline { path: None, query: None }),
            (json!({"symbol": "x", "path": "x"}), Action::Definition { symbol: text(), path: Some(text()) }),
            (json!({"symbol": "x"}), Action::References { symbol: text(), path: None }),
            (json!({"path": "a.rs", "search": "x\n", "replace": ""}), edit()),
            (json!({ "patch": patch }), Action::ApplyPatch { patch: patch.to_owned() }),
            (json!({"path": "x", "content": ""}), Action::WriteFile { path: text(), content: String::new() }),
            (json!({"path": "x"}), Action::DeleteFile { path: text() }),
            (
                json!({"command": "x", "network": true, "timeout": 5}),
                Action::Run { command: text(), network: true, timeout: Some(5) },
            ),
            (json!({"items": [{"text": "x", "state": "in_progress"}]}), Action::Plan { items }),
            (json!({"question": "x", "options": ["x"]}), Action::AskUser { question: text(), options: vec![text()] }),
            (json!({"url": "x"}), Action::FetchUrl { url: text() }),
            (json!({"prompt": "x"}), Action::Task { prompt: text() }),
        ];
        let tools = definitions(&ALL);
        assert_eq!(cases.len(), tools.len());
        for (tool, (arguments, action)) in tools.iter().zip(cases) {
            assert_eq!(parse(&tool.name, &arguments).as_ref(), Ok(&action));
            assert_eq!(action.tool(), tool.name);
        }
    }

    #[test]
    fn names_from_elsewhere_are_understood() {
        for (name, tool) in [
            ("Read", "read_file"),
            ("functions.read-file", "read_file"),
            ("functions.readFile:3", "read_file"),
            ("default_api.ls", "list_files"),
            ("Grep", "grep"),
            ("rg<|channel|>json", "grep"),
            ("delete", "delete_file"),
        ] {
            assert_eq!(resolve(name), Some(tool), "{name}");
        }
        for name in ["", "Read file now", "mcp__x", "read_files_and_more", ":", "<|"] {
            assert_eq!(resolve(name), None, "{name}");
        }
    }

    #[test]
    fn arguments_from_elsewhere_are_understood() {
        for arguments in [
            json!({"file_path": "a.rs", "old_string": "x\n", "new_string": ""}),
            json!({"filePath": "a.rs", "oldString": "x\n", "newString": "", "replaceAll": null}),
            json!({"filename": "a.rs", "old_str": "x\n", "new_str": ""}),
            json!({"file": " a.rs\n", "old_text": "x\n", "new_text": "", "explanation": [1]}),
        ] {
            assert_eq!(parse("str_replace", &arguments), Ok(edit()), "{arguments}");
            let in_a_string = Value::String(arguments.to_string());
            assert_eq!(parse("Edit", &in_a_string), Ok(edit()), "{arguments}");
        }
    }

    #[test]
    fn line_ranges_are_read_in_every_form() {
        let middle = read("a", Some(10), Some(19));
        for arguments in [
            json!({"path": "a", "start_line": 10, "end_line": 19}),
            json!({"path": "a", "start_line": "10", "end_line": 19.0}),
            json!({"path": "a", "offset": 10, "limit": 10}),
            json!({"path": "a", "view_range": [10, 19]}),
        ] {
            assert_eq!(parse("read_file", &arguments).as_ref(), Ok(&middle), "{arguments}");
        }
        assert_eq!(parse("read_file", &json!({"path": "a", "start_line": 0})), Ok(read("a", Some(1), None)));
        assert_eq!(parse("view", &json!({"path": "a", "view_range": [5, -1]})), Ok(read("a", Some(5), None)));
        assert_eq!(
            parse("read_file", &json!({"path": "a", "start_line": null, "end_line": ""})),
            Ok(read("a", None, None))
        );
        assert_eq!(
            problem("read_file", &json!({"path": "a", "start_line": 9, "end_line": 3})),
            "`start_line` 9 is after `end_line` 3"
        );
        assert!(problem("read_file", &json!({"path": "a", "end_line": 0})).contains("1-based"));
        assert_eq!(problem("read_file", &json!({"path": "a", "start_line": "x"})), "`start_line` must be an integer");
        for huge in [json!(i64::MAX), json!(u64::MAX), json!(1e300), json!(-1e300)] {
            let _ = parse("read_file", &json!({"path": "a", "offset": huge, "limit": huge}));
        }
    }

    #[test]
    fn a_folder_and_a_glob_are_one_pattern() {
        let pattern = |arguments: &Value| match parse("list_files", arguments) {
            Ok(Action::ListFiles { pattern }) => pattern.unwrap_or_default(),
            other => panic!("{other:?}"),
        };
        assert_eq!(pattern(&json!({"path": "./src/"})), "src/**");
        assert_eq!(pattern(&json!({"path": "."})), "");
        assert_eq!(pattern(&json!({"path": "src", "glob": "*.rs"})), "src/*.rs");
        assert_eq!(pattern(&json!({"path": "src", "pattern": "src/*.rs"})), "src/*.rs");
        assert_eq!(pattern(&json!({"path": "src/*.rs"})), "src/*.rs");
    }

    #[test]
    fn a_command_may_be_a_list_of_words() {
        assert_eq!(parse("run", &json!({"cmd": ["grep", "a b", "c"]})), Ok(run("grep 'a b' c")));
        assert_eq!(parse("shell", &json!({"command": ["bash", "-lc", "ls | wc"]})), Ok(run("ls | wc")));
        assert_eq!(parse("run", &json!({"command": ["ls -l"]})), Ok(run("ls -l")));
        assert_eq!(parse("run", &json!({"command": "ls", "workdir": "a b"})), Ok(run("cd 'a b' && ls")));
        let timeout = parse("run", &json!({"command": "ls", "timeout_ms": "1500", "network": "false"}));
        assert_eq!(timeout, Ok(Action::Run { command: "ls".to_owned(), network: false, timeout: Some(2) }));
        assert_eq!(problem("run", &json!({"command": [1]})), "`command` must be a string");
        assert_eq!(problem("run", &json!({"command": " "})), "`command` is empty");
    }

    #[test]
    fn plans_from_elsewhere_are_understood() {
        let expected = vec![
            PlanItem { text: "a".to_owned(), state: PlanState::Completed },
            PlanItem { text: "b".to_owned(), state: PlanState::Pending },
        ];
        for arguments in [
            json!({"plan": [{"step": "a", "status": "completed"}, {"step": "b", "status": "pending"}]}),
            json!({"todos": [{"content": "a", "status": "done", "id": "1"}, {"content": "b"}]}),
            json!({"items": "- [x] a\n- [ ] b\n"}),
            json!({"items": "[{\"text\": \"a\", \"state\": \"completed\"}, \"b\"]"}),
        ] {
            assert_eq!(parse("update_plan", &arguments), Ok(Action::Plan { items: expected.clone() }), "{arguments}");
        }
        assert!(problem("plan", &json!({"items": [{"text": "a", "state": "maybe"}]})).contains("in_progress"));
        assert!(problem("plan", &json!({"items": vec!["a"; 1_000]})).contains("at most"));
    }

    #[test]
    fn patches_get_the_marks_that_are_missing() {
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+it's\n*** End Patch\n";
        let expected = Ok(Action::ApplyPatch { patch: patch.to_owned() });
        let body = "*** Update File: a\n@@\n-x\n+it's";
        assert_eq!(parse("apply_patch", &json!({ "input": body })), expected);
        assert_eq!(parse("apply_patch", &json!({ "diff": format!("```\n{patch}```") })), expected);
        assert_eq!(parse_call(&call("apply_patch", patch), &ALL), expected);
        assert_eq!(parse("shell", &json!({ "command": ["apply_patch", patch] })), expected);
        assert_eq!(parse("shell", &json!({ "command": format!("apply_patch <<'EOF'\n{patch}EOF") })), expected);
        let script = ["bash", "-lc", &format!("apply_patch <<'EOF'\n{patch}EOF\n")];
        assert_eq!(parse("shell", &json!({ "command": script })), expected);
        let more = format!("apply_patch <<'EOF'\n{patch}EOF\ncargo test");
        assert_eq!(parse("shell", &json!({ "command": more })), Ok(run(&more)));
        assert!(problem("apply_patch", &json!({"patch": "--- a\n+++ b\n"})).contains("names no file"));
    }

    #[test]
    fn an_operation_of_the_built_in_tool_is_a_patch() {
        let patch = |operation: Value| match parse("apply_patch", &json!({ "operation": operation })) {
            Ok(Action::ApplyPatch { patch }) => patch,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            patch(json!({"type": "update_file", "path": "a", "diff": "@@ fn f\n-x\n+y"})),
            "*** Begin Patch\n*** Update File: a\n@@ fn f\n-x\n+y\n*** End Patch\n"
        );
        let added = "*** Begin Patch\n*** Add File: a\n+x\n+\n+y\n*** End Patch\n";
        assert_eq!(patch(json!({"type": "create_file", "path": "a", "diff": "+x\n+\n+y\n"})), added);
        assert_eq!(patch(json!({"type": "create_file", "path": "a", "diff": "x\n\ny"})), added);
        assert_eq!(
            patch(json!({"type": "delete_file", "path": "a"})),
            "*** Begin Patch\n*** Delete File: a\n*** End Patch\n"
        );
        let other = json!({"operation": {"type": "update_file", "path": "a", "diff": "*** Delete File: b\n"}});
        assert!(problem("apply_patch", &other).contains("one file"));
        let two_lines = json!({"operation": {"type": "delete_file", "path": "a\n*** Delete File: b"}});
        assert!(problem("apply_patch", &two_lines).contains("one line"));
    }

    #[test]
    fn errors_say_what_is_expected() {
        let error = parse("edit", &json!({"path": "a"})).unwrap_err().to_string();
        assert_eq!(error, "`search` is missing. Arguments of edit: path: string, search: string, replace: string");
        let error = parse("plan", &json!({})).unwrap_err().to_string();
        assert!(error.ends_with("items: [{text: string, state: pending|in_progress|completed}]"), "{error}");
        let error = parse_call(&call(&"x".repeat(1_000_000), ""), &ALL).unwrap_err().to_string();
        assert!(error.len() < 400);
        assert_eq!(problem("read_file", &json!({"path": {"a": 1}})), "`path` must be a string");
    }

    #[test]
    fn every_call_can_be_described() {
        assert_eq!(describe(&call("Bash", r#"{"cmd":"cargo\ntest"}"#)), ("run".to_owned(), "cargo …".to_owned()));
        assert_eq!(describe(&call("x\ny", "{\n")), ("x y".to_owned(), "{".to_owned()));
        assert_eq!(describe(&call("edit", &"é ".repeat(1_000_000))).1.chars().count(), MAX_RAW_ARGUMENTS);
    }

    proptest! {
        #[test]
        fn no_call_panics(name in "[a-z_.:<|]{0,12}", arguments in any::<String>()) {
            let _ = describe(&call(&name, &arguments));
        }

        #[test]
        fn no_arguments_panic(
            tool in 0_usize..16, fields in proptest::collection::vec((0_usize..12, any::<i64>(), any::<String>(), 0_usize..6), 0..6),
        ) {
            let names = [
                "path", "start_line", "end_line", "limit", "view_range", "pattern", "items", "command", "patch", "operation", "search",
                "timeout",
            ];
            let mut arguments = serde_json::Map::new();
            for (name, number, text, kind) in fields {
                let value = match kind {
                    0 => json!(number),
                    1 => json!(text),
                    2 => json!([number, text]),
                    3 => json!([number, number]),
                    4 => json!({"type": "update_file", "path": text, "diff": text}),
                    _ => json!([text]),
                };
                arguments.insert(names[name].to_owned(), value);
            }
            let _ = parse(&all_tools()[tool].name, &Value::Object(arguments));
        }

        #[test]
        fn a_created_file_keeps_every_line(text in "[ -~\n]{0,80}") {
            let action = parse("apply_patch", &json!({"operation": {"type": "create_file", "path": "a", "diff": text}}));
            let Ok(Action::ApplyPatch { patch }) = action else { panic!("{action:?}") };
            prop_assert_eq!(patch.lines().count(), 3 + text.lines().count());
        }
    }
}
