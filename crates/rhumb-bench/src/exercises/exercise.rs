//! An exercise with its files, and the exercises below a folder.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

/// A programming task with tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exercise {
    /// The language and the name of the folder: `python/bowling`.
    pub id: String,
    /// The name of the folder of the language.
    pub language: String,
    /// The folder.
    pub folder: PathBuf,
    /// The files that the model gets and may change, relative to the folder.
    pub solution: Vec<String>,
    /// The test files.
    pub tests: Vec<String>,
    /// The files of a correct solution, in the order of `solution`.
    pub example: Vec<String>,
    /// The instructions.
    pub text: String,
}

/// Why an exercise cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExerciseError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// `config.json` is malformed.
    #[error("{} does not describe an exercise: {why}", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The cause.
        why: String,
    },
    /// A folder next to exercises has no `config.json`.
    #[error("{} has no {}", .path.display(), Exercise::CONFIG)]
    NoConfig {
        /// The folder.
        path: PathBuf,
    },
}

/// `.meta/config.json`.
#[derive(Deserialize)]
struct Config {
    files: Files,
}

#[derive(Deserialize)]
struct Files {
    solution: Vec<String>,
    test: Vec<String>,
    #[serde(default)]
    example: Vec<String>,
    #[serde(default)]
    exemplar: Vec<String>,
}

/// The instruction files in `.docs/`, in reading order.
const DOCS: [&str; 3] = ["introduction.md", "instructions.md", "instructions.append.md"];

impl Exercise {
    /// The description of an exercise, relative to its folder.
    pub(crate) const CONFIG: &'static str = ".meta/config.json";

    /// Reads the exercise of a folder.
    ///
    /// # Errors
    /// The description is malformed, or a file that it names cannot be read as text.
    pub(crate) fn read(folder: &Path, language: String) -> Result<Self, ExerciseError> {
        let path = folder.join(Self::CONFIG);
        let bad = |why: String| ExerciseError::Config { path: path.clone(), why };
        let config: Config = serde_json::from_str(&text_of(&path)?).map_err(|error| bad(error.to_string()))?;
        let Files { solution, test: tests, example, exemplar } = config.files;
        let example = if example.is_empty() { exemplar } else { example };
        if solution.is_empty() || tests.is_empty() {
            return Err(bad("it needs files.solution and files.test".to_owned()));
        }
        if let Some(name) = [&solution, &tests, &example].into_iter().flatten().find(|name| !is_inside(name)) {
            return Err(bad(format!("{name:?} is outside of the exercise")));
        }
        let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut text = String::new();
        for doc in DOCS {
            match fs::read_to_string(folder.join(".docs").join(doc)) {
                Ok(part) => text.push_str(&format!("{}\n\n", part.trim())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(ExerciseError::File { path: folder.join(".docs").join(doc), source }),
            }
        }
        let id = format!("{language}/{name}");
        let exercise = Self { id, language, folder: folder.to_owned(), solution, tests, example, text };
        for name in exercise.solution.iter().chain(&exercise.tests).chain(&exercise.example) {
            exercise.file(name)?;
        }
        Ok(exercise)
    }

    /// The message for the first try.
    pub fn instruction(&self) -> String {
        format!(
            "{}Program this in {}. Keep the names and the parameters of what is there already: tests call them. Use nothing but \
             the standard library.",
            self.text,
            self.solution.join(" and ")
        )
    }

    /// The message after failed tests; the output of the tests is attached to it.
    pub fn again(&self) -> String {
        format!(
            "{}\n\nThis was tried before: {} is the result, and its tests fail with the output below. The tests are right. Mend \
             the code.",
            self.instruction(),
            self.solution.join(" and ")
        )
    }

    /// Reads a file of the exercise.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn file(&self, name: &str) -> Result<String, ExerciseError> {
        text_of(&self.folder.join(name))
    }

    /// The example as an answer: the names of the solution files with the text of the example files.
    ///
    /// # Errors
    /// A file of the example cannot be read.
    pub fn answer(&self) -> Result<Vec<(String, String)>, ExerciseError> {
        let pairs = self.solution.iter().zip(&self.example);
        pairs.map(|(solution, example)| Ok((solution.clone(), self.file(example)?))).collect()
    }
}

fn text_of(path: &Path) -> Result<String, ExerciseError> {
    fs::read_to_string(path).map_err(|source| ExerciseError::File { path: path.to_owned(), source })
}

/// Whether a relative path stays inside of the folder.
fn is_inside(name: &str) -> bool {
    !name.is_empty()
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Maximum depth of folders that are searched. `LANG/exercises/practice/NAME` in a collection within a folder needs six.
const MAX_FOLDER_DEPTH: usize = 8;

/// The folder with the exercises of a language, in the folder of that language.
const EXERCISES: &str = "exercises";

/// The exercises below a folder.
#[derive(Debug, Default)]
pub struct Collection {
    /// The exercises, sorted by name.
    pub exercises: Vec<Exercise>,
    /// Why other exercises are left out.
    pub left_out: Vec<ExerciseError>,
}

/// The kind of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderKind {
    /// An exercise, even if it cannot be read.
    Exercise,
    /// A folder with exercises somewhere below it.
    Exercises,
    /// Any other folder.
    Nothing,
}

/// Finds the exercises below `folder`. Exercises that cannot be read are left out. Symbolic links are not followed.
///
/// # Errors
/// The folder cannot be opened.
pub fn exercises(folder: &Path) -> Result<Collection, ExerciseError> {
    let root = folder.canonicalize().map_err(|source| ExerciseError::File { path: folder.to_owned(), source })?;
    let mut found = Collection::default();
    look(&root, &root, 0, &mut found);
    found.exercises.sort_by(|a, b| a.id.cmp(&b.id));
    found.left_out.sort_by_key(ToString::to_string);
    Ok(found)
}

fn look(root: &Path, folder: &Path, depth: usize, found: &mut Collection) -> FolderKind {
    if folder.join(Exercise::CONFIG).is_file() {
        match Exercise::read(folder, language(root, folder)) {
            Ok(exercise) => found.exercises.push(exercise),
            Err(error) => found.left_out.push(error),
        }
        return FolderKind::Exercise;
    }
    if depth == MAX_FOLDER_DEPTH {
        return FolderKind::Nothing;
    }
    let folders = match folders(folder) {
        Ok(folders) => folders,
        Err(source) => {
            found.left_out.push(ExerciseError::File { path: folder.to_owned(), source });
            return FolderKind::Nothing;
        }
    };
    let held: Vec<FolderKind> = folders.iter().map(|folder| look(root, folder, depth + 1, found)).collect();
    // A folder next to exercises is assumed to be one.
    if held.contains(&FolderKind::Exercise) {
        let strays = folders.into_iter().zip(&held).filter(|(_, held)| **held == FolderKind::Nothing);
        found.left_out.extend(strays.map(|(path, _)| ExerciseError::NoConfig { path }));
    }
    if held.iter().any(|held| *held != FolderKind::Nothing) { FolderKind::Exercises } else { FolderKind::Nothing }
}

/// The subfolders that are not hidden.
fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// The name of the folder that contains `exercises`; without one, of the first folder below the root, or of the parent folder.
fn language(root: &Path, exercise: &Path) -> String {
    let above = || exercise.ancestors().skip(1);
    let collection = above().find(|folder| folder.file_name().is_some_and(|name| name == EXERCISES));
    let below = |folder: &&Path| *folder != root && folder.starts_with(root);
    let first = || above().take_while(below).last().or(exercise.parent()).unwrap_or(root);
    let folder = collection.and_then(Path::parent).unwrap_or_else(first);
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exercise(root: &Path, path: &str, config: &str) {
        let folder = root.join(path);
        fs::create_dir_all(folder.join(".meta")).unwrap();
        fs::create_dir_all(folder.join(".docs")).unwrap();
        fs::write(folder.join(".meta/config.json"), config).unwrap();
        fs::write(folder.join(".docs/instructions.md"), "Count tides.\n").unwrap();
        fs::write(folder.join(".docs/instructions.append.md"), "Quickly.\n").unwrap();
        for file in ["a.py", "a_test.py", ".meta/example.py"] {
            fs::write(folder.join(file), "pass\n").unwrap();
        }
    }

    const CONFIG: &str = r#"{"files": {"solution": ["a.py"], "test": ["a_test.py"], "example": [".meta/example.py"]}}"#;

    #[test]
    fn exercises_are_found_in_the_layout_of_collections_and_in_flat_folders() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        exercise(root, "python/exercises/practice/tides", CONFIG);
        exercise(root, "rust/exercises/practice/tides", CONFIG);
        exercise(root, "sh/flat", CONFIG);
        let ids = |at: &Path| exercises(at).unwrap().exercises.into_iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(ids(root), ["python/tides", "rust/tides", "sh/flat"]);
        assert_eq!(ids(&root.join("python")), ["python/tides"]);
        assert_eq!(ids(&root.join("sh/flat")), ["sh/flat"]);
        let first = exercises(root).unwrap().exercises.remove(0);
        assert_eq!(first.text, "Count tides.\n\nQuickly.\n\n");
        assert!(first.instruction().contains("Program this in a.py.") && first.again().contains("Mend the code."));
    }

    #[test]
    fn malformed_exercises_are_left_out_with_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        assert!(exercises(&folder.path().join("gone")).is_err());
        let told = || {
            let found = exercises(folder.path()).unwrap();
            assert_eq!(found.exercises.len(), 1, "{found:?}");
            found.left_out.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        exercise(folder.path(), "python/good", CONFIG);
        assert_eq!(told(), Vec::<String>::new());
        for (config, why) in [
            (CONFIG.replace("\"a.py\"", "\"../a.py\""), "is outside"),
            (CONFIG.replace("\"a.py\"", "\"/a.py\""), "is outside"),
            (CONFIG.replace("\"a_test.py\"", ""), "needs"),
            ("{}".to_owned(), "files"),
        ] {
            exercise(folder.path(), "python/bad", &config);
            let told = told();
            assert!(told.len() == 1 && told[0].contains(why) && told[0].contains("config.json"), "{told:?}");
        }
        exercise(folder.path(), "python/bad", CONFIG);
        fs::write(folder.path().join("python/bad/a.py"), b"# caf\xe9\n").unwrap();
        assert!(told()[0].contains("bad/a.py") && told()[0].contains("UTF-8"), "{:?}", told());
        fs::remove_file(folder.path().join("python/bad/a.py")).unwrap();
        assert!(told()[0].contains("bad/a.py"), "{:?}", told());
        fs::remove_dir_all(folder.path().join("python/bad/.meta")).unwrap();
        assert!(told()[0].contains("bad has no .meta/config.json"), "{:?}", told());
    }
}
