//! A case: a tree, a reply, and the expected tree. As a folder a case has `case.json`, `before/`, `reply.md`, and `after/` unless
//! nothing may change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rhumb_edit::{EditError, Files, FormatChoice};
use serde::Deserialize;
use serde_json::json;

use crate::edits::score::{CaseResult, written};

/// Files by path.
pub type Tree = BTreeMap<String, Vec<u8>>;

/// The expected result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expect {
    /// The whole reply is applied.
    Apply,
    /// The whole reply is applied, or doubtful edits are refused.
    Either,
    /// Edits are refused. Hunks of the reply that are correct may be applied.
    Refuse,
    /// Nothing is applied or refused: the reply has no edit.
    Nothing,
}

impl Expect {
    /// The name in `case.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Either => "either",
            Self::Refuse => "refuse",
            Self::Nothing => "nothing",
        }
    }

    /// The result with a name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Apply, Self::Either, Self::Refuse, Self::Nothing].into_iter().find(|expect| expect.name() == name)
    }
}

impl Case {
    /// The name of the edit format, or `auto`.
    pub fn format_name(&self) -> &'static str {
        match self.format {
            FormatChoice::Auto => "auto",
            FormatChoice::Only(format) => format.name(),
        }
    }
}

/// A reply and its expected result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The name, unique in a run.
    pub name: String,
    /// Where the text is from, for people.
    pub origin: String,
    /// The edit format in which the reply is parsed.
    pub format: FormatChoice,
    /// The names of its defects.
    pub defects: Vec<String>,
    /// The expected result of a case.
    pub expect: Expect,
    /// The files before.
    pub before: Tree,
    /// The expected files. Where edits are to be refused, with every change that may be applied.
    pub after: Tree,
    /// The reply.
    pub reply: String,
}

/// The files of a case, for `rhumb-edit`.
pub(crate) struct TreeFiles<'c> {
    pub(crate) tree: &'c Tree,
    pub(crate) root: &'c str,
}

impl Files for TreeFiles<'_> {
    fn paths(&self) -> Vec<String> {
        self.tree.paths()
    }

    fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        self.tree.read(path)
    }

    fn root(&self) -> Option<String> {
        Some(self.root.to_owned())
    }
}

/// Why a corpus cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// `case.json` is malformed.
    #[error("{} is not a case: {source}", .path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: serde_json::Error,
    },
    /// The edit format of the case does not exist.
    #[error("{}: {source}", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: EditError,
    },
    /// No folder has a `case.json`.
    #[error("there is no case in {}", .path.display())]
    None {
        /// The folder.
        path: PathBuf,
    },
}

/// `case.json`.
#[derive(Deserialize)]
struct Facts {
    format: String,
    expect: Option<String>,
    exit: Option<u8>,
    #[serde(default)]
    defects: Vec<String>,
    #[serde(default)]
    why: String,
}

/// Reads the cases below a folder, in the order of their names.
///
/// # Errors
/// The folder or a case in it cannot be read, or it contains no case.
pub fn read(folder: &Path) -> Result<Vec<Case>, CorpusError> {
    let mut folders = entries(folder)?;
    folders.retain(|path| path.join("case.json").is_file());
    if folders.is_empty() {
        return Err(CorpusError::None { path: folder.to_owned() });
    }
    folders.iter().map(|folder| case(folder)).collect()
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> CorpusError {
    let path = path.to_owned();
    |source| CorpusError::Read { path, source }
}

/// The entries of a folder, sorted by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, CorpusError> {
    let list = fs::read_dir(folder).map_err(failed(folder))?;
    let mut paths =
        list.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed(folder))?;
    paths.sort();
    Ok(paths)
}

fn case(folder: &Path) -> Result<Case, CorpusError> {
    let path = folder.join("case.json");
    let text = fs::read_to_string(&path).map_err(failed(&path))?;
    let facts: Facts =
        serde_json::from_str(&text).map_err(|source| CorpusError::Json { path: path.clone(), source })?;
    let format: FormatChoice = facts.format.parse().map_err(|source| CorpusError::Format { path, source })?;
    let reply = folder.join("reply.md");
    let reply = fs::read(&reply).map_err(failed(&reply))?;
    let before = tree(&folder.join("before"))?;
    let after = folder.join("after");
    let after = if after.is_dir() { tree(&after)? } else { before.clone() };
    let expect = match (facts.exit, facts.expect.as_deref().and_then(Expect::of_name)) {
        (Some(2), _) => Expect::Nothing,
        (_, Some(expect)) => expect,
        (Some(0), None) => Expect::Apply,
        (_, None) => Expect::Refuse,
    };
    Ok(Case {
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        origin: facts.why,
        format,
        defects: facts.defects,
        expect,
        before,
        after,
        reply: String::from_utf8_lossy(&reply).into_owned(),
    })
}

fn tree(folder: &Path) -> Result<Tree, CorpusError> {
    let mut tree = Tree::new();
    let mut open = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = open.pop() {
        for path in entries(&folder)? {
            let name = format!("{prefix}{}", path.file_name().unwrap_or_default().to_string_lossy());
            if path.is_dir() {
                open.push((path, format!("{name}/")));
            } else {
                tree.insert(name, fs::read(&path).map_err(failed(&path))?);
            }
        }
    }
    Ok(tree)
}

/// Writes a case and its result into a new folder below `folder`: the parts of a case, `found/` with the resulting tree, and
/// `outcomes.json`.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Path, case: &Case, run: &CaseResult) -> io::Result<()> {
    let folder = folder.join(format!("{}-{}", run.verdict.name(), case.name));
    let facts = json!({
        "format": case.format_name(), "expect": case.expect.name(), "exit": u8::from(case.expect == Expect::Refuse),
        "why": case.origin, "defects": case.defects, "verdict": run.verdict.name(),
    });
    let outcome = |outcome: &rhumb_edit::Outcome| {
        json!({
            "path": outcome.path, "status": outcome.status.name(), "lines": outcome.lines,
            "strategy": outcome.strategy.map(|strategy| strategy.name()), "reason": outcome.reason,
        })
    };
    let outcomes: Vec<_> = run.proposal.outcomes.iter().map(outcome).collect();
    for (name, tree) in
        [("before", &case.before), ("after", &case.after), ("found", &written(&case.before, &run.proposal))]
    {
        let kept = tree.iter().filter(|(path, _)| !path.split('/').any(|part| part == ".."));
        for (path, bytes) in kept {
            let path = folder.join(name).join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap_or(&folder))?;
            fs::write(path, bytes)?;
        }
    }
    fs::write(folder.join("reply.md"), &case.reply)?;
    fs::write(folder.join("outcomes.json"), format!("{:#}\n", json!(outcomes)))?;
    fs::write(folder.join("case.json"), format!("{facts:#}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::tests::samples;
    use crate::edits::{cases, run};
    use rhumb_edit::{EditFormat, Matching};

    #[test]
    fn a_case_that_is_written_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(read(folder.path()), Err(CorpusError::None { .. })));
        for case in cases(&samples(), EditFormat::Udiff, 30, 1) {
            write(folder.path(), &case, &run(&case, Matching::Lenient)).unwrap();
        }
        let cases = cases(&samples(), EditFormat::Udiff, 30, 1);
        let read = read(folder.path()).unwrap();
        assert_eq!(read.len(), cases.len());
        for case in &cases {
            let other = read.iter().find(|other| other.name.ends_with(&case.name)).unwrap();
            assert_eq!(
                (&other.before, &other.after, &other.reply, other.expect),
                (&case.before, &case.after, &case.reply, case.expect)
            );
        }
    }
}
