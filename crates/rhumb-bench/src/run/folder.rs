//! The folder of a run: `run.json` identifies the run, `results.jsonl` has one line for each finished task, and `lost.jsonl` one for
//! each cost without a result. A killed run can continue: a line that was not written completely is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::summary::TaskResult;

/// Identifies a run. Two parts of the same run have equal headers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The benchmark: `refactor` or `exercises`.
    pub bench: String,
    /// The folder of the tasks.
    pub tasks: PathBuf,
    /// A hash of the tasks.
    pub fingerprint: String,
    /// The flags of the model when the run was started. Their effect is in `settings`.
    pub flags: Vec<String>,
    /// Maximum number of tries for each task.
    pub tries: usize,
    /// The oracle model, if one is used.
    #[serde(rename = "recital")]
    pub oracle: Option<String>,
    /// Model, address, limits and other settings that influence results.
    #[serde(default)]
    pub settings: BTreeMap<String, String>,
}

/// The cost of a task without a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnfinishedCost {
    /// Why there is no result: `trouble`, `money` or `stopped`.
    pub why: String,
    /// The cost in US dollars; `None` if unknown.
    pub cost: Option<f64>,
}

/// Why a folder cannot be used for a run.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// A file cannot be read or written.
    #[error("cannot use {}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is malformed.
    #[error("{} is not a file of a run: {source}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The folder holds another run.
    #[error("{} holds another run: {what}", .path.display())]
    Other {
        /// The folder.
        path: PathBuf,
        /// The differences.
        what: String,
    },
    /// Another process uses the folder.
    #[error("{} is being run by {holder}", .path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
        /// The process.
        holder: String,
    },
}

/// The folder of a run, open for writing.
#[derive(Debug)]
pub struct RunFolder {
    /// The costs without a result so far.
    pub lost: Vec<UnfinishedCost>,
    folder: PathBuf,
    /// Locked while a line is written.
    writing: Mutex<()>,
    /// The lock file of the folder. The lock is released on drop and at the end of the process.
    _lock: File,
}

impl RunFolder {
    /// Opens the folder of a run, or creates it. Returns the results so far.
    ///
    /// # Errors
    /// The folder holds another run, is in use, or cannot be read or written.
    pub fn open(folder: &Path, header: &RunHeader) -> Result<(Self, Vec<TaskResult>), RunFolderError> {
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let lock = lock_folder(folder)?;
        let entries = last_of_each(repaired(&folder.join(LINES))?);
        let lost = repaired(&folder.join(LOST))?;
        match read_header(folder) {
            Ok(old) if differences(&old, header).is_empty() => {}
            // A run without results is replaced.
            Ok(old) if !entries.is_empty() => {
                let what = differences(&old, header).join(", ");
                return Err(RunFolderError::Other { path: folder.to_owned(), what });
            }
            Err(error) if !entries.is_empty() => return Err(error),
            _ => write_header(folder, header)?,
        }
        append(&folder.join(LINES), "")?;
        Ok((Self { lost, folder: folder.to_owned(), writing: Mutex::default(), _lock: lock }, entries))
    }

    /// Appends a result and syncs it to the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add(&self, entry: &TaskResult) -> Result<(), RunFolderError> {
        self.write(LINES, entry)
    }

    /// Appends a cost without a result and syncs it to the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_cost(&self, lost: &UnfinishedCost) -> Result<(), RunFolderError> {
        self.write(LOST, lost)
    }

    fn write(&self, name: &str, value: &impl Serialize) -> Result<(), RunFolderError> {
        let path = self.folder.join(name);
        let line = serde_json::to_string(value).map_err(io::Error::from).map_err(failed(&path))? + "\n";
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        append(&path, &line)
    }
}

/// Reads the header and the results of a run.
///
/// # Errors
/// A file cannot be read or is malformed.
pub fn read(folder: &Path) -> Result<(RunHeader, Vec<TaskResult>), RunFolderError> {
    let header = read_header(folder)?;
    let path = folder.join(LINES);
    let text = fs::read_to_string(&path).map_err(failed(&path))?;
    Ok((header, last_of_each(whole_lines(&path, &text)?)))
}

const HEAD: &str = "run.json";
const LINES: &str = "results.jsonl";
const LOST: &str = "lost.jsonl";
const LOCK: &str = "run.lock";

/// Locks the folder, so that no two processes do the same tasks, and writes the id of this process to the lock file.
fn lock_folder(folder: &Path) -> Result<File, RunFolderError> {
    let path = folder.join(LOCK);
    let open = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
    let mut lock = open.map_err(failed(&path))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            // On some systems a locked file cannot be read.
            let process = fs::read_to_string(&path).unwrap_or_default();
            let holder = match process.trim() {
                "" => "another process".to_owned(),
                number => format!("the process {number}"),
            };
            return Err(RunFolderError::Busy { path: folder.to_owned(), holder });
        }
        Err(TryLockError::Error(error)) => return Err(failed(&path)(error)),
    }
    let written = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
    written.map_err(failed(&path))?;
    Ok(lock)
}

fn append(path: &Path, line: &str) -> Result<(), RunFolderError> {
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()).and_then(|()| file.sync_data()));
    written.map_err(failed(path))
}

fn read_header(folder: &Path) -> Result<RunHeader, RunFolderError> {
    let path = folder.join(HEAD);
    let text = fs::read_to_string(&path).map_err(failed(&path))?;
    serde_json::from_str(&text).map_err(|source| RunFolderError::Json { path, source })
}

/// Writes the header. The file is renamed into place: a truncated header would make the folder unusable.
fn write_header(folder: &Path, header: &RunHeader) -> Result<(), RunFolderError> {
    let (head, new) = (folder.join(HEAD), folder.join("run.json.new"));
    let text = serde_json::to_string_pretty(header).map_err(io::Error::from).map_err(failed(&head))?;
    fs::write(&new, text + "\n").and_then(|()| fs::rename(&new, &head)).map_err(failed(&head))
}

/// The values of a file. A last line that was not written completely is removed from the file.
fn repaired<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunFolderError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(path)(error)),
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        let file = OpenOptions::new().write(true).open(path).map_err(failed(path))?;
        file.set_len(whole as u64).map_err(failed(path))?;
    }
    whole_lines(path, &text)
}

/// The values of all complete lines.
fn whole_lines<T: DeserializeOwned>(path: &Path, text: &str) -> Result<Vec<T>, RunFolderError> {
    let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n') && !line.trim().is_empty());
    let read =
        |line| serde_json::from_str(line).map_err(|source| RunFolderError::Json { path: path.to_owned(), source });
    lines.map(read).collect()
}

/// Keeps only the last result of each task.
fn last_of_each(all: Vec<TaskResult>) -> Vec<TaskResult> {
    let mut entries: Vec<TaskResult> = Vec::new();
    for entry in all {
        entries.retain(|other| other.id != entry.id);
        entries.push(entry);
    }
    entries
}

/// The differences between two headers in words; empty for two parts of the same run.
fn differences(old: &RunHeader, new: &RunHeader) -> Vec<String> {
    let differs = |name: &str, old: Option<&str>, new: Option<&str>| {
        let shown = |value: Option<&str>| value.unwrap_or("unset").to_owned();
        (old != new).then(|| format!("its {name} is {}, not {}", shown(old), shown(new)))
    };
    let (tries, new_tries) = (old.tries.to_string(), new.tries.to_string());
    let same_tasks = old.tasks == new.tasks && old.fingerprint == new.fingerprint;
    let mut all = vec![
        differs("benchmark", Some(&old.bench), Some(&new.bench)),
        (!same_tasks).then(|| "its tasks differ".to_owned()),
        differs("number of tries", Some(&tries), Some(&new_tries)),
        differs("oracle model", old.oracle.as_deref(), new.oracle.as_deref()),
    ];
    let names: BTreeSet<&String> = old.settings.keys().chain(new.settings.keys()).collect();
    let value = |header: &RunHeader, name: &String| header.settings.get(name).cloned();
    all.extend(names.into_iter().map(|name| differs(name, value(old, name).as_deref(), value(new, name).as_deref())));
    all.into_iter().flatten().collect()
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> RunFolderError {
    let path = path.to_owned();
    |source| RunFolderError::File { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> RunHeader {
        RunHeader {
            bench: "refactor".into(),
            tasks: "t".into(),
            fingerprint: "1".into(),
            flags: vec!["--model".into(), "m".into()],
            tries: 1,
            oracle: None,
            settings: [("model".to_owned(), "m".to_owned())].into(),
        }
    }

    fn entry(id: &str) -> TaskResult {
        TaskResult { id: id.into(), cost: Some(0.25), ..TaskResult::default() }
    }

    #[test]
    fn a_killed_run_continues() {
        let folder = tempfile::tempdir().unwrap();
        let (results, before) = RunFolder::open(folder.path(), &header()).unwrap();
        assert_eq!(before, []);
        results.add(&entry("a")).unwrap();
        results.add(&entry("b")).unwrap();
        drop(results);
        let path = folder.path().join(LINES);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();
        assert_eq!(read(folder.path()).unwrap().1, [entry("a")]);
        let (results, before) = RunFolder::open(folder.path(), &header()).unwrap();
        assert_eq!(before, [entry("a")]);
        results.add(&entry("b")).unwrap();
        assert_eq!(read(folder.path()).unwrap(), (header(), vec![entry("a"), entry("b")]));
        let lost = UnfinishedCost { why: "money".into(), cost: Some(0.5) };
        results.add_cost(&lost).unwrap();
        drop(results);
        let (results, before) = RunFolder::open(folder.path(), &header()).unwrap();
        assert_eq!((results.lost, before.len()), (vec![lost], 2));
    }

    #[test]
    fn two_processes_cannot_use_a_folder_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = RunFolder::open(folder.path(), &header()).unwrap();
        let error = RunFolder::open(folder.path(), &header()).unwrap_err();
        let process = format!("is being run by the process {}", std::process::id());
        assert!(error.to_string().ends_with(&process), "{error}");
        drop(first);
        assert!(RunFolder::open(folder.path(), &header()).is_ok());
    }

    #[test]
    fn results_of_another_run_are_not_mixed_in() {
        let folder = tempfile::tempdir().unwrap();
        RunFolder::open(folder.path(), &RunHeader { bench: "never begun".into(), ..header() }).unwrap();
        RunFolder::open(folder.path(), &header()).unwrap().0.add(&entry("a")).unwrap();
        let other = RunHeader { tries: 2, ..header() };
        let error = RunFolder::open(folder.path(), &other).unwrap_err();
        assert!(error.to_string().contains("its number of tries is 1, not 2"), "{error}");
        let settings = [("model".to_owned(), "n".to_owned()), ("map_tokens".to_owned(), "7".to_owned())].into();
        let error = RunFolder::open(folder.path(), &RunHeader { settings, ..header() }).unwrap_err();
        assert!(error.to_string().ends_with("its map_tokens is unset, not 7, its model is m, not n"), "{error}");
        // Other flags with the same settings are the same run.
        assert!(RunFolder::open(folder.path(), &RunHeader { flags: Vec::new(), ..header() }).is_ok());
        fs::write(folder.path().join(HEAD), "{").unwrap();
        assert!(matches!(RunFolder::open(folder.path(), &header()), Err(RunFolderError::Json { .. })));
    }
}
