//! A task, and tasks as a folder: `tasks.jsonl`, one line each, and below `files/` the source of each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Syntax nodes of a task as it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// Of the method.
    pub method: usize,
    /// Of its class, the method with it.
    pub class: usize,
    /// Of the parameter that the instance comes in, which the function will not have.
    pub instance: usize,
    /// Of what stands before the name of the method wherever its class calls it, which calls of the function will not have.
    pub calls: usize,
}

/// A method that is to be moved out of its class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Names it among the tasks of a folder; fit to be the name of a folder.
    pub id: String,
    /// The id of its language.
    pub language: String,
    /// The file that it is from, below the folder that was scanned.
    pub origin: String,
    /// The name of the file that the model is given.
    pub file: String,
    /// The class.
    pub class: String,
    /// The method, and the function that it shall become.
    pub method: String,
    /// The class that the function shall be a static method of, in a language that has no other functions.
    pub home: Option<String>,
    /// What the model is told.
    pub instruction: String,
    /// What the grader compares with.
    pub nodes: Nodes,
}

/// What the model is told.
pub(crate) fn instruction(task: &Task) -> String {
    let Task { file, class, method, .. } = task;
    let place = match (&task.home, task.language.as_str()) {
        (Some(home), _) => format!("a static method of a new class `{home}` at the top level of the same file"),
        (None, "cpp") => "a function of its own beside the class, in the same namespace of the same file".to_owned(),
        _ => "a function of its own at the top level of the same file".to_owned(),
    };
    let calls = match task.language.as_str() {
        "python" | "rust" => format!("`self.{method}`"),
        "typescript" | "tsx" => format!("`this.{method}`"),
        _ => format!("the method `{method}`"),
    };
    format!(
        "Move the method `{method}` out of `{class}` in {file}: make it {place}, called `{method}` like the method.\n\
         It uses nothing of its instance, so its body need not change. Take the method out of `{class}`, and have every place \
         in the file that calls {calls} call the function instead. Change nothing else."
    )
}

/// Tasks cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// The disk mentions no.
    #[error("cannot use {}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The disk takes nothing.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line of `tasks.jsonl` is no task.
    #[error("{}, line {line}: this is no task: {source}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
    /// An id or the name of a file would lead out of the folder.
    #[error("{}: the task {id:?} has a name that is none of a file", .path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// The id.
        id: String,
    },
    /// There is no task.
    #[error("{} has no task", .path.display())]
    None {
        /// The file.
        path: PathBuf,
    },
}

/// Tasks with their sources, in the order of their folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Each with the source that it is about.
    pub all: Vec<(Task, String)>,
}

impl Tasks {
    /// Whether a file below `root` is the source of a task that was written there.
    pub fn hold(root: &Path, path: &str) -> bool {
        let mut above = Path::new(path).ancestors().skip(1);
        above.any(|folder| folder.ends_with(FILES) && root.join(folder).with_file_name(LIST).is_file())
    }

    /// Adds tasks about one source. Ids that are taken already get a number.
    pub fn add(&mut self, tasks: Vec<Task>, source: &str) {
        for mut task in tasks {
            let base: String = task.id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
            // Some disks do not tell capitals from small letters.
            let is_taken = |id: &String| self.all.iter().any(|(other, _)| other.id.eq_ignore_ascii_case(id));
            let numbered = (2..).map(|number| format!("{base}-{number}"));
            let free = std::iter::once(base.clone()).chain(numbered).find(|id| !is_taken(id));
            task.id = free.unwrap_or(base);
            self.all.push((task, source.to_owned()));
        }
    }

    /// Reads the tasks of a folder.
    ///
    /// # Errors
    /// A file cannot be read, a line is no task, a task names a file elsewhere, or there is none.
    pub fn read(folder: &Path) -> Result<Self, TaskError> {
        let path = folder.join(LIST);
        let lines = read(&path)?;
        let mut all = Vec::new();
        for (at, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let task: Task = serde_json::from_str(line).map_err(|source| TaskError::Line {
                path: path.clone(),
                line: at + 1,
                source,
            })?;
            if !is_name(&task.id) || !is_name(&task.file) {
                return Err(TaskError::Name { path, id: task.id });
            }
            let source = read(&folder.join(FILES).join(&task.id).join(&task.file))?;
            all.push((task, source));
        }
        if all.is_empty() { Err(TaskError::None { path }) } else { Ok(Self { all }) }
    }

    /// Writes the tasks to a folder, which is made if it is missing. Files of other tasks in it stay.
    ///
    /// # Errors
    /// The disk refuses.
    pub fn write(&self, folder: &Path) -> Result<(), TaskError> {
        let mut list = String::new();
        for (task, source) in &self.all {
            let of_task = folder.join(FILES).join(&task.id);
            fs::create_dir_all(&of_task).map_err(unwritten(&of_task))?;
            let file = of_task.join(&task.file);
            fs::write(&file, source).map_err(unwritten(&file))?;
            let line = serde_json::to_string(task).map_err(io::Error::from).map_err(unwritten(folder))?;
            list.push_str(&line);
            list.push('\n');
        }
        let path = folder.join(LIST);
        fs::create_dir_all(folder).map_err(unwritten(folder))?;
        fs::write(&path, list).map_err(unwritten(&path))
    }
}

const LIST: &str = "tasks.jsonl";
const FILES: &str = "files";

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether a text is the name of a file, and no way elsewhere.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains(['/', '\\', '\0']) && text != "." && text != ".."
}

fn read(path: &Path) -> Result<String, TaskError> {
    fs::read_to_string(path).map_err(failed(path))
}

fn unwritten(path: &Path) -> impl FnOnce(io::Error) -> TaskError {
    let path = path.to_owned();
    |source| TaskError::Write { path, source }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> TaskError {
    let path = path.to_owned();
    |source| TaskError::File { path, source }
}
