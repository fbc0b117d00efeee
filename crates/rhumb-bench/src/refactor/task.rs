//! A task, and tasks as a folder: `tasks.jsonl` with one task on each line, and the sources in `files/`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

/// Numbers of syntax nodes of a task before the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    /// The method.
    pub method: usize,
    /// The class, including the method.
    pub class: usize,
    /// The parameter of the instance, which the function does not have.
    pub instance: usize,
    /// The instances in calls of the method in its class, which calls of the function do not have.
    pub calls: usize,
}

/// A method to move out of its class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The name, unique in a folder of tasks and valid as a folder name.
    pub id: String,
    /// The id of the language.
    pub language: String,
    /// The source file, relative to the scanned folder.
    pub origin: String,
    /// The name of the file that the model gets.
    pub file: String,
    /// The class.
    pub class: String,
    /// The method, and the function that replaces it.
    pub method: String,
    /// The class for the function, in a language that has functions only as static methods.
    pub home: Option<String>,
    /// The message to the model.
    pub instruction: String,
    /// The sizes that the grader compares with.
    pub nodes: Nodes,
}

/// The message to the model.
pub(crate) fn instruction(task: &Task) -> String {
    let Task { file, class, method, .. } = task;
    let place = match (&task.home, task.language.as_str()) {
        (Some(home), _) => format!("a static method of a new class `{home}` at the top level of the same file"),
        (None, "cpp") => "a separate function beside the class, in the same namespace of the same file".to_owned(),
        _ => "a separate function at the top level of the same file".to_owned(),
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

/// Why tasks cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// A file or folder cannot be read.
    #[error("cannot use {}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A line of `tasks.jsonl` is not a task.
    #[error("{}, line {line} is not a task: {source}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// 1-based.
        line: usize,
        /// The cause.
        source: serde_json::Error,
    },
    /// The id or the file name of a task is not a plain name.
    #[error("{}: the task {id:?} has an invalid file name", .path.display())]
    Name {
        /// The file.
        path: PathBuf,
        /// The id.
        id: String,
    },
    /// The folder has no task.
    #[error("{} has no task", .path.display())]
    None {
        /// The file.
        path: PathBuf,
    },
}

/// Tasks with their sources, in the order of `tasks.jsonl`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tasks {
    /// Each task with its source.
    pub all: Vec<(Task, String)>,
}

impl Tasks {
    /// Whether a file below `root` is the source of a task in a folder of tasks.
    pub fn hold(root: &Path, path: &str) -> bool {
        let mut above = Path::new(path).ancestors().skip(1);
        above.any(|folder| folder.ends_with(FILES) && root.join(folder).with_file_name(LIST).is_file())
    }

    /// Adds the tasks of one source. An id that is taken gets a number.
    pub fn add(&mut self, tasks: Vec<Task>, source: &str) {
        for mut task in tasks {
            let base: String = task.id.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
            // Some file systems ignore case.
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
    /// A file cannot be read, a line is not a task, a file name is invalid, or there is no task.
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

    /// Writes the tasks to a folder and creates it if it is missing. Files of other tasks in the folder are kept.
    ///
    /// # Errors
    /// A file cannot be written.
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

/// Whether a text is a file name without folders.
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
