//! The user's own prompts: files in a folder that take the place of ours.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use rhumb_session::Failure;
use rhumb_session::context::Prompts;

/// A prompt has at most this many bytes; a larger file is something else.
const MAX_BYTES: u64 = 256 * 1024;

/// The prompts in force, with those of `folder` (each a file `NAME.md`) in their places, and what to tell about these. Without
/// a folder they are ours.
pub fn prompts(folder: Option<&Path>) -> (Prompts, Vec<Failure>) {
    let Some(folder) = folder else { return (Prompts::default(), Vec::new()) };
    let (texts, unread) = match files(folder) {
        Ok(read) => read,
        Err(error) => (BTreeMap::new(), vec![(folder.display().to_string(), error)]),
    };
    let (prompts, notes) = Prompts::with_overrides(&texts);
    let unread = unread.into_iter().map(|(what, error)| Failure {
        message: format!("The prompts in {what} cannot be read: {error}."),
        hint: "Ours are used instead.".into(),
    });
    let notes = notes.into_iter().map(|note| Failure {
        message: format!("{}: {note}.", folder.display()),
        hint: "The README lists the prompts and what may stand in them.".into(),
    });
    (prompts, unread.chain(notes).collect())
}

type Unread = Vec<(String, io::Error)>;

/// The texts of the folder by name, and the files that cannot be read.
fn files(folder: &Path) -> io::Result<(BTreeMap<String, String>, Unread)> {
    let (mut texts, mut unread) = (BTreeMap::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        match read(&path) {
            Ok(text) => _ = texts.insert(name, text),
            Err(error) => unread.push((path.display().to_string(), error)),
        }
    }
    unread.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((texts, unread))
}

fn read(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() || meta.len() > MAX_BYTES {
        return Err(io::Error::other("it is no text of at most 256 KiB"));
    }
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_folder_take_the_place_of_our_prompts() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("lazy.md"), "Write all of it.\n").unwrap();
        fs::write(folder.path().join("lasy.md"), "x").unwrap();
        fs::write(folder.path().join("notes.txt"), "not a prompt").unwrap();
        fs::write(folder.path().join("ask.md"), b"\xff").unwrap();
        let (prompts, notes) = prompts(Some(folder.path()));
        assert_eq!(prompts.text("lazy"), "Write all of it.");
        assert_eq!(prompts.text("ask"), Prompts::default().text("ask"));
        let told: Vec<&str> = notes.iter().map(|note| note.message.as_str()).collect();
        assert!(told.len() == 2 && told[0].contains("ask.md") && told[1].contains("`lasy`"), "{told:?}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_told_and_ours_are_used() {
        let (prompts, notes) = prompts(Some(Path::new("/nowhere/prompts")));
        assert_eq!((prompts, notes.len()), (Prompts::default(), 1));
    }
}
