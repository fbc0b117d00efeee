//! The exercises below a folder.

use std::fs;
use std::path::Path;

use super::exercise::{Exercise, ExerciseError};

/// Folders within folders that are looked into: `LANG/exercises/practice/NAME` in a collection within a folder needs six.
const DEEPEST: usize = 8;

/// Folders of this name hold the exercises of the language whose folder they are in.
const EXERCISES: &str = "exercises";

/// The exercises below `folder`, by name. Links are not followed.
///
/// # Errors
/// A folder or an exercise cannot be read, or there is none.
pub fn exercises(folder: &Path) -> Result<Vec<Exercise>, ExerciseError> {
    let root = folder.canonicalize().map_err(|source| ExerciseError::File { path: folder.to_owned(), source })?;
    let mut found = Vec::new();
    look(&root, &root, 0, &mut found)?;
    if found.is_empty() {
        return Err(ExerciseError::None { path: folder.to_owned() });
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

fn look(root: &Path, folder: &Path, depth: usize, found: &mut Vec<Exercise>) -> Result<(), ExerciseError> {
    if folder.join(Exercise::CONFIG).is_file() {
        found.push(Exercise::read(folder, language(root, folder))?);
        return Ok(());
    }
    if depth == DEEPEST {
        return Ok(());
    }
    let failed = |source| ExerciseError::File { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !hidden && entry.file_type().map_err(failed)?.is_dir() {
            look(root, &entry.path(), depth + 1, found)?;
        }
    }
    Ok(())
}

/// The folder that `exercises` is in; without one the first below the root, or the one around the exercise.
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
    }

    const CONFIG: &str = r#"{"files": {"solution": ["a.py"], "test": ["a_test.py"], "example": [".meta/example.py"]}}"#;

    #[test]
    fn exercises_are_found_in_the_layout_of_collections_and_in_flat_folders() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        exercise(root, "python/exercises/practice/tides", CONFIG);
        exercise(root, "rust/exercises/practice/tides", CONFIG);
        exercise(root, "sh/flat", CONFIG);
        let ids = |at: &Path| exercises(at).unwrap().into_iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(ids(root), ["python/tides", "rust/tides", "sh/flat"]);
        assert_eq!(ids(&root.join("python")), ["python/tides"]);
        assert_eq!(ids(&root.join("sh/flat")), ["sh/flat"]);
        let first = exercises(root).unwrap().remove(0);
        assert_eq!(first.text, "Count tides.\n\nQuickly.\n\n");
        assert!(first.instruction().contains("Program this in a.py.") && first.again().contains("Mend the code."));
    }

    #[test]
    fn what_is_no_exercise_is_told() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(exercises(folder.path()), Err(ExerciseError::None { .. })));
        for (config, why) in [
            (CONFIG.replace("\"a.py\"", "\"../a.py\""), "leads out"),
            (CONFIG.replace("\"a.py\"", "\"/a.py\""), "leads out"),
            (CONFIG.replace("\"a_test.py\"", ""), "needs"),
            ("{}".to_owned(), "files"),
        ] {
            exercise(folder.path(), "python/bad", &config);
            let error = exercises(folder.path()).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("config.json"), "{error}");
        }
    }
}
