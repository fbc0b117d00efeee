//! Which files are in the chat: adding by path, glob or unique name; dropping; switching to read-only.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use globset::GlobBuilder;

use crate::attachments::is_image_path;
use crate::effect::Effect;
use crate::proposal::write::name_some;
use crate::state::Session;
use crate::transcript::Level;
use rhumb_text::count;
use rhumb_workspace::is_secret_name;

/// A file in the chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatFile {
    /// Path under the root.
    pub path: String,
    /// Whether the model may edit it.
    pub read_only: bool,
}

/// The files in the chat.
#[derive(Debug, Default)]
pub(crate) struct ChatFiles {
    /// In the order in which they were added.
    files: Vec<ChatFile>,
    /// The files that are in every chat: conventions, and those of the setting `read`.
    initial: Vec<String>,
    /// Names that were added before the repository was listed, and whether for reference only.
    early: Vec<(Vec<String>, bool)>,
}

impl ChatFiles {
    pub(crate) fn files(&self) -> &[ChatFile] {
        &self.files
    }

    pub(crate) fn is_initial(&self, path: &str) -> bool {
        self.initial.iter().any(|initial| initial == path)
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    /// Adds a file, or changes whether it is read-only.
    pub(crate) fn add(&mut self, path: &str, read_only: bool) {
        match self.files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.read_only = read_only,
            None => self.files.push(ChatFile { path: path.to_owned(), read_only }),
        }
    }

    /// Makes every file read-only. Returns the number of files that were editable.
    pub(crate) fn make_read_only(&mut self) -> usize {
        self.files.iter_mut().filter(|file| !file.read_only).map(|file| file.read_only = true).count()
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.files.retain(|file| file.path != path);
    }

    pub(crate) fn replace(&mut self, files: Vec<ChatFile>) -> Vec<ChatFile> {
        std::mem::replace(&mut self.files, files)
    }

    pub(crate) fn set_initial(&mut self, paths: &[String]) {
        self.initial = paths.to_vec();
    }

    /// Whether files were added before the repository was listed.
    pub(crate) fn are_waiting(&self) -> bool {
        !self.early.is_empty()
    }

    /// Takes the names that were added before the repository was listed.
    pub(crate) fn take_waiting(&mut self) -> Vec<(Vec<String>, bool)> {
        std::mem::take(&mut self.early)
    }
}

impl Session {
    /// Adds the files that `names` mean, or changes how they are in the chat. Before the files are listed, the names wait.
    pub fn add_files(&mut self, names: &[String], read_only: bool) -> Vec<Effect> {
        if !self.repository.is_listed() {
            self.chat_files.early.push((names.to_vec(), read_only));
            return Vec::new();
        }
        let (mut added, mut effects) = (Vec::new(), Vec::new());
        for name in names {
            match self.meant(name) {
                Ok(paths) => added.extend(paths),
                Err(_) if is_image_path(name) => effects.extend(self.add_image_file(name)),
                Err(reason) => self.tell(Level::Error, reason, "/pick-file opens the file picker."),
            }
        }
        for path in &added {
            match self.chat_files.files.iter_mut().find(|file| file.path == *path) {
                Some(file) => file.read_only = read_only,
                None => self.chat_files.files.push(ChatFile { path: path.clone(), read_only }),
            }
        }
        if !added.is_empty() {
            effects.extend(self.measure());
        }
        effects
    }

    /// Takes files out of the chat; when no name is given, all but those that every chat begins with.
    pub fn drop_files(&mut self, names: &[String]) -> Vec<Effect> {
        if names.is_empty() {
            let gone: Vec<String> = self.files_to_drop().into_iter().map(str::to_owned).collect();
            self.tell_dropped(&gone);
            self.take_all_out();
            return self.measure();
        }
        for name in names {
            if self.attachments.drop_image(name) {
                continue;
            }
            let chat = self.chat_files.files.iter().map(|file| file.path.as_str());
            match named(chat, name).as_slice() {
                [] => self.tell(Level::Error, format!("{name} is not in the chat."), "/ls lists what is."),
                [path] => self.chat_files.files.retain(|file| file.path != *path),
                several => {
                    let text = format!("{name} could be any of {}.", several.join(", "));
                    self.tell(Level::Error, text, "Name more of its path.");
                }
            }
        }
        self.measure()
    }

    /// Takes out files and pictures, but not what every chat begins with.
    pub(crate) fn take_all_out(&mut self) {
        self.attachments.images.clear();
        let ChatFiles { files, initial, .. } = &mut self.chat_files;
        files.retain(|file| file.read_only && initial.contains(&file.path));
    }

    /// Says which files left the chat all at once, and how one comes back.
    fn tell_dropped(&mut self, gone: &[String]) {
        let pictures = self.attachments.images.len();
        let mut what: Vec<String> = Vec::new();
        what.extend((!gone.is_empty()).then(|| count(gone.len(), "file")));
        what.extend((pictures > 0).then(|| count(pictures, "picture")));
        if what.is_empty() {
            self.tell(Level::Info, "There is nothing to take out of the chat.", "/ls lists what is in it.");
            return;
        }
        let names = if gone.is_empty() { String::new() } else { format!(": {}", name_some(gone)) };
        let text = format!("Took {} out of the chat{names}.", what.join(" and "));
        self.tell(Level::Info, text, "/add and a name puts one back.");
    }

    /// Turns a file of the chat from editable to read-only, or back.
    pub fn toggle_read_only(&mut self, path: &str) -> Vec<Effect> {
        match self.chat_files.files.iter_mut().find(|file| file.path == path) {
            Some(file) => {
                file.read_only = !file.read_only;
                self.measure()
            }
            None => Vec::new(),
        }
    }

    /// Says which files are in the chat.
    pub fn list_files(&mut self) {
        let line = |file: &ChatFile| format!("{}{}", file.path, if file.read_only { "  (read-only)" } else { "" });
        let mut lines: Vec<String> = self.chat_files.files.iter().map(line).collect();
        lines.extend(self.attachments.images.iter().map(|picture| format!("{}  (picture)", picture.name)));
        let text = if lines.is_empty() { "No file is in the chat.".to_owned() } else { lines.join("\n") };
        self.tell(Level::Info, text, "");
    }

    /// The paths that a name means: itself, a glob, a folder, or the end of exactly one path. Globs and folders leave out
    /// files that look like they hold secrets: nobody named those.
    pub(crate) fn meant(&mut self, name: &str) -> Result<Vec<String>, String> {
        let name = name.trim_start_matches("./");
        let paths = Arc::clone(self.repository.paths());
        if paths.binary_search_by(|path| path.as_str().cmp(name)).is_ok() {
            if is_secret_name(name) {
                let text = format!("{name} looks like it holds secrets, and will be sent to the model.");
                self.tell(Level::Warning, text, format!("/drop {name} takes it out again."));
            }
            return Ok(vec![name.to_owned()]);
        }
        let folder = format!("{}/", name.trim_end_matches('/'));
        let found: Vec<String> = if name.contains(['*', '?', '[']) {
            let glob = GlobBuilder::new(name).literal_separator(true).build();
            let glob = glob.map_err(|error| format!("{name} is no glob: {error}."))?.compile_matcher();
            paths.iter().filter(|path| glob.is_match(path.as_str())).cloned().collect()
        } else {
            paths.iter().filter(|path| path.starts_with(&folder)).cloned().collect()
        };
        if !found.is_empty() {
            return Ok(self.without_secrets(found));
        }
        match named(paths.iter().map(String::as_str), name).as_slice() {
            [] => Err(format!("No file of the repository is called {name}.")),
            [path] => Ok(vec![path.clone()]),
            several => {
                let names = several.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
                Err(format!("{name} could be any of {}: {names}.", several.len()))
            }
        }
    }

    fn without_secrets(&mut self, paths: Vec<String>) -> Vec<String> {
        let (secret, open): (Vec<String>, Vec<String>) = paths.into_iter().partition(|path| is_secret_name(path));
        if !secret.is_empty() {
            let text = format!("Left out, because they look like they hold secrets: {}.", secret.join(", "));
            self.tell(Level::Warning, text, "Name a file in full to add it all the same.");
        }
        open
    }
}

/// The paths that a name means: the one that is the name, else those that end in it.
fn named<'a>(paths: impl Iterator<Item = &'a str>, name: &str) -> Vec<String> {
    let ending = format!("/{name}");
    let mut ends = Vec::new();
    for path in paths {
        if path == name {
            return vec![path.to_owned()];
        }
        if path.ends_with(&ending) {
            ends.push(path.to_owned());
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, Entry};

    fn session(paths: &[&str]) -> Session {
        let (mut session, _) = Session::start(Connection::None);
        session.repository.set_paths(Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()));
        session
    }

    fn add(session: &mut Session, name: &str) -> Vec<String> {
        session.add_files(&[name.to_owned()], false);
        session.chat_files.files.iter().map(|file| file.path.clone()).collect()
    }

    #[test]
    fn a_unique_end_of_a_path_is_enough() {
        assert_eq!(add(&mut session(&["src/a.rs", "src/b.rs"]), "b.rs"), ["src/b.rs"]);
    }

    #[test]
    fn an_ambiguous_name_adds_nothing_and_lists_the_candidates() {
        let mut session = session(&["a/mod.rs", "b/mod.rs"]);
        assert!(add(&mut session, "mod.rs").is_empty());
        assert!(
            matches!(session.transcript.last(), Some(Entry::Status(notice)) if notice.text.contains("a/mod.rs, b/mod.rs"))
        );
    }

    #[test]
    fn globs_and_folders_add_what_they_hold() {
        assert_eq!(add(&mut session(&["src/a.rs", "src/b.py", "x.rs"]), "src/*.rs"), ["src/a.rs"]);
        assert_eq!(add(&mut session(&["src/a.rs", "src/b.py", "x.rs"]), "src"), ["src/a.rs", "src/b.py"]);
    }

    #[test]
    fn dropping_a_file_leaves_its_namesakes() {
        let mut session = session(&["lib.rs", "src/lib.rs"]);
        session.add_files(&["lib.rs".into(), "src/lib.rs".into()], false);
        session.drop_files(&["lib.rs".into()]);
        assert_eq!(session.chat_files.files.len(), 1);
        assert_eq!(session.chat_files.files[0].path, "src/lib.rs");
    }

    #[test]
    fn what_every_chat_begins_with_stays_when_all_is_dropped() {
        let mut session = session(&["AGENTS.md", "a.rs", "b.rs"]);
        session.chat_files.initial = vec!["AGENTS.md".into(), "b.rs".into()];
        session.add_files(&["AGENTS.md".into()], true);
        session.add_files(&["a.rs".into(), "b.rs".into()], false);
        session.drop_files(&[]);
        let told = format!("{:?}", session.transcript.last());
        assert!(told.contains("Took 2 files out of the chat: a.rs, b.rs."), "{told}");
        assert_eq!(
            session.chat_files.files,
            [ChatFile { path: "AGENTS.md".into(), read_only: true }],
            "b.rs was made editable"
        );
    }

    #[test]
    fn a_glob_stays_in_its_folder_and_leaves_secrets_out() {
        let mut session = session(&[".env", "a.rs", "src/b.rs"]);
        assert_eq!(add(&mut session, "*"), ["a.rs"]);
        assert!(matches!(session.transcript.last(), Some(Entry::Status(notice)) if notice.text.contains(".env")));
        assert!(add(&mut session, ".env").contains(&".env".to_owned()), "who names it gets it");
    }

    #[test]
    fn names_wait_until_the_files_are_listed() {
        let (mut session, _) = Session::start(Connection::None);
        session.add_files(&["b.rs".into()], false);
        assert!(session.chat_files.files.is_empty());
        session.handle(crate::Response::Listed(Arc::new(vec!["src/b.rs".into()])));
        assert_eq!(session.chat_files.files[0].path, "src/b.rs");
    }

    #[test]
    fn adding_again_as_read_only_changes_the_file_in_place() {
        let mut session = session(&["a", "b"]);
        session.add_files(&["a".into(), "b".into()], false);
        session.add_files(&["a".into()], true);
        assert_eq!(session.chat_files.files[0], ChatFile { path: "a".into(), read_only: true });
        assert_eq!(session.chat_files.files.len(), 2);
    }
}
