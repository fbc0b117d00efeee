//! One exercise, and its files.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// Something for a model to program, and tests of that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exercise {
    /// Names it: its language and its folder, `python/bowling`.
    pub id: String,
    /// The name of the folder of its language.
    pub language: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Files that the model is given and may change, below the folder.
    pub solution: Vec<String>,
    /// Files of the tests.
    pub tests: Vec<String>,
    /// Files of a solution that passes, in the order of those that they stand for.
    pub example: Vec<String>,
    /// What is to be programmed.
    pub text: String,
}

/// Exercises cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExerciseError {
    /// The disk says no.
    #[error("cannot read {}: {source}", .path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// `config.json` is not what it should be.
    #[error("{} does not describe an exercise: {why}", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A folder beside exercises has no `config.json`.
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

/// Files below `.docs/` that say what is to be programmed, in the order of reading.
const DOCS: [&str; 3] = ["introduction.md", "instructions.md", "instructions.append.md"];

impl Exercise {
    /// Where an exercise is described, below its folder.
    pub(super) const CONFIG: &'static str = ".meta/config.json";

    /// Reads the exercise of a folder.
    ///
    /// # Errors
    /// A file that it needs cannot be read as text, or the description is not one.
    pub(super) fn read(folder: &Path, language: String) -> Result<Self, ExerciseError> {
        let path = folder.join(Self::CONFIG);
        let bad = |why: String| ExerciseError::Config { path: path.clone(), why };
        let config: Config = serde_json::from_str(&text_of(&path)?).map_err(|error| bad(error.to_string()))?;
        let Files { solution, test: tests, example, exemplar } = config.files;
        let example = if example.is_empty() { exemplar } else { example };
        if solution.is_empty() || tests.is_empty() {
            return Err(bad("it needs files.solution and files.test".to_owned()));
        }
        if let Some(name) = [&solution, &tests, &example].into_iter().flatten().find(|name| !is_inside(name)) {
            return Err(bad(format!("{name:?} leads out of the exercise")));
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

    /// What the model is told at its first try.
    pub fn instruction(&self) -> String {
        format!(
            "{}Program this in {}. Keep the names and the parameters of what is there already: tests call them. Use nothing but \
             the standard library.",
            self.text,
            self.solution.join(" and ")
        )
    }

    /// What the model is told when the tests failed; what they said goes along.
    pub fn again(&self) -> String {
        format!(
            "{}\n\nThis was tried before: {} is the result, and its tests fail with the output below. The tests are right. Mend \
             the code.",
            self.instruction(),
            self.solution.join(" and ")
        )
    }

    /// Reads one of its files.
    ///
    /// # Errors
    /// The disk says no.
    pub fn file(&self, name: &str) -> Result<String, ExerciseError> {
        text_of(&self.folder.join(name))
    }

    /// The example in the place of the solution: names of solution files with their text.
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

/// Whether a name stays below the folder that it counts from.
fn is_inside(name: &str) -> bool {
    !name.is_empty()
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}
