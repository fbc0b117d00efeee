//! The files in the chat: adding them by path, glob or unique name, removing them, making them read-only.

use crate::{Effect, Level, Session, is_image_path, name_some};
use globset::GlobBuilder;
use rhumb_text::count;
use rhumb_workspace::is_secret_name;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a name of a file can be, as a hint.
pub(crate) const NAMES_HINT: &str =
    "Give a path, the end of exactly one path, a folder, or a pattern such as src/*.rs.";

/// A file in the chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatFile {
    /// Path under the root.
    pub path: String,
    /// Whether the model may edit it.
    pub read_only: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ChatFiles {
    /// In the order in which they were added. Shared with requests.
    files: Arc<Vec<ChatFile>>,
    /// The files that are in every chat: conventions, and those of the setting `read`.
    initial: Vec<String>,
    /// Names that were added before the repository was listed, and whether the files are read-only.
    waiting: Vec<(Vec<String>, bool)>,
}

impl ChatFiles {
    pub(crate) fn files(&self) -> &[ChatFile] {
        &self.files
    }

    /// The files, to be part of a request.
    pub(crate) fn shared(&self) -> Arc<Vec<ChatFile>> {
        Arc::clone(&self.files)
    }

    fn files_mut(&mut self) -> &mut Vec<ChatFile> {
        Arc::make_mut(&mut self.files)
    }

    pub(crate) fn is_initial(&self, path: &str) -> bool {
        self.initial.iter().any(|initial| initial == path)
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.iter().any(|file| file.path == path)
    }

    /// Adds a file, or changes whether it is read-only.
    pub(crate) fn add(&mut self, path: &str, read_only: bool) {
        match self.files_mut().iter_mut().find(|file| file.path == path) {
            Some(file) => file.read_only = read_only,
            None => self.files_mut().push(ChatFile { path: path.to_owned(), read_only }),
        }
    }

    /// Makes every file read-only. Returns the number of files that were editable.
    pub(crate) fn make_read_only(&mut self) -> usize {
        self.files_mut().iter_mut().filter(|file| !file.read_only).map(|file| file.read_only = true).count()
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.files_mut().retain(|file| file.path != path);
    }

    pub(crate) fn replace(&mut self, files: Vec<ChatFile>) -> Vec<ChatFile> {
        std::mem::replace(self.files_mut(), files)
    }

    pub(crate) fn set_initial(&mut self, paths: &[String]) {
        self.initial = paths.to_vec();
    }

    /// Whether files were added before the repository was listed.
    pub(crate) fn are_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes the names that were added before the repository was listed.
    pub(crate) fn take_waiting(&mut self) -> Vec<(Vec<String>, bool)> {
        std::mem::take(&mut self.waiting)
    }
}

impl Session {
    /// Adds the files that `names` refer to, or changes whether they are read-only. Before the repository is listed, the names wait.
    pub fn add_files(&mut self, names: &[String], read_only: bool) -> Vec<Effect> {
        if !self.repository.is_listed() {
            self.chat_files.waiting.push((names.to_vec(), read_only));
            return Vec::new();
        }
        let (mut added, mut effects) = (Vec::new(), Vec::new());
        for name in names {
            match self.resolve_name(name) {
                Ok(paths) => added.extend(paths),
                Err(_) if is_image_path(name) => effects.extend(self.add_image_file(name)),
                Err(reason) => self.report(Level::Error, reason, NAMES_HINT),
            }
        }
        added.iter().for_each(|path| self.chat_files.add(path, read_only));
        if !added.is_empty() {
            effects.extend(self.measure());
        }
        effects
    }

    /// Removes files from the chat; without names, all but those that are in every chat.
    pub fn drop_files(&mut self, names: &[String]) -> Vec<Effect> {
        if names.is_empty() {
            let files: Vec<String> = self.files_to_drop().into_iter().map(str::to_owned).collect();
            self.report_dropped(&files);
            self.remove_all_files();
            return self.measure();
        }
        for name in names {
            if self.attachments.drop_image(name) {
                continue;
            }
            let chat = self.chat_files.files.iter().map(|file| file.path.as_str());
            match matching_paths(chat, name).as_slice() {
                [] => {
                    self.report(Level::Error, format!("{name} is not in the chat."), "/ls lists the files of the chat.")
                }
                [path] => self.chat_files.remove(path),
                several => {
                    let text = format!("{name} is ambiguous: {}.", several.join(", "));
                    self.report(Level::Error, text, "Give more of the path.");
                }
            }
        }
        self.measure()
    }

    /// Removes files and images, but not the files that are in every chat.
    pub(crate) fn remove_all_files(&mut self) {
        self.attachments.images.clear();
        let ChatFiles { files, initial, .. } = &mut self.chat_files;
        Arc::make_mut(files).retain(|file| file.read_only && initial.contains(&file.path));
    }

    /// Reports which files `/drop` removes.
    fn report_dropped(&mut self, files: &[String]) {
        let pictures = self.attachments.images.len();
        let mut what: Vec<String> = Vec::new();
        what.extend((!files.is_empty()).then(|| count(files.len(), "file")));
        what.extend((pictures > 0).then(|| count(pictures, "picture")));
        if what.is_empty() {
            self.report(Level::Info, "There is nothing to remove from the chat.", "/ls lists its files.");
            return;
        }
        let names = if files.is_empty() { String::new() } else { format!(": {}", name_some(files)) };
        let text = format!("Removed {} from the chat{names}.", what.join(" and "));
        self.report(Level::Info, text, "/add NAME adds one again.");
    }

    /// Makes an editable file read-only, or a read-only file editable.
    pub fn toggle_read_only(&mut self, path: &str) -> Vec<Effect> {
        let Some(file) = self.chat_files.files_mut().iter_mut().find(|file| file.path == path) else {
            return Vec::new();
        };
        file.read_only = !file.read_only;
        self.measure()
    }

    /// Lists the files in the chat.
    pub fn list_files(&mut self) {
        let line = |file: &ChatFile| format!("{}{}", file.path, if file.read_only { "  (read-only)" } else { "" });
        let mut lines: Vec<String> = self.chat_files.files.iter().map(line).collect();
        lines.extend(self.attachments.images.iter().map(|picture| format!("{}  (picture)", picture.name)));
        let text = if lines.is_empty() { "No file is in the chat.".to_owned() } else { lines.join("\n") };
        self.report(Level::Info, text, "");
    }

    pub(crate) fn make_all_read_only(&mut self) -> Vec<Effect> {
        let changed = self.chat_files.make_read_only();
        match changed {
            0 if self.chat_files.files().is_empty() => {
                self.report(Level::Info, "There is no file in the chat.", "/add adds one.")
            }
            0 => self.report(Level::Info, "Every file in the chat is read-only already.", "/add adds editable files."),
            1 => self.report(Level::Info, "1 file is read-only now.", "/add NAME makes it editable again."),
            _ => {
                let text = format!("{changed} files are read-only now.");
                self.report(Level::Info, text, "/add NAME makes one editable again.");
            }
        }
        if changed == 0 { Vec::new() } else { self.measure() }
    }

    /// The paths that a name refers to: a path, a glob, a folder, or the end of exactly one path. Globs and folders omit files with
    /// names of secret files.
    pub(crate) fn resolve_name(&mut self, name: &str) -> Result<Vec<String>, String> {
        let name = name.trim_start_matches("./");
        let paths = Arc::clone(self.repository.paths());
        if paths.binary_search_by(|path| path.as_str().cmp(name)).is_ok() {
            if is_secret_name(name) {
                let text = format!("{name} may contain secrets, and will be sent to the model.");
                self.report(Level::Warning, text, format!("/drop {name} removes it."));
            }
            return Ok(vec![name.to_owned()]);
        }
        let folder = format!("{}/", name.trim_end_matches('/'));
        let found: Vec<String> = if name.contains(['*', '?', '[']) {
            let glob = GlobBuilder::new(name).literal_separator(true).build();
            let glob = glob.map_err(|error| format!("{name} is not a valid glob: {error}."))?.compile_matcher();
            paths.iter().filter(|path| glob.is_match(path.as_str())).cloned().collect()
        } else {
            paths.iter().filter(|path| path.starts_with(&folder)).cloned().collect()
        };
        if !found.is_empty() {
            return Ok(self.without_secrets(found));
        }
        match matching_paths(paths.iter().map(String::as_str), name).as_slice() {
            [] => Err(format!("No file of the repository is called {name}.")),
            [path] => Ok(vec![path.clone()]),
            several => {
                let names = several.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
                Err(format!("{name} is ambiguous, {} files match: {names}.", several.len()))
            }
        }
    }

    fn without_secrets(&mut self, paths: Vec<String>) -> Vec<String> {
        let (secret, open): (Vec<String>, Vec<String>) = paths.into_iter().partition(|path| is_secret_name(path));
        if !secret.is_empty() {
            let text = format!("Not added, because they may contain secrets: {}.", secret.join(", "));
            self.report(Level::Warning, text, "To add a file anyway, give its full path.");
        }
        open
    }
}

/// The paths that a name refers to: the equal one, otherwise those that end with it.
fn matching_paths<'a>(paths: impl Iterator<Item = &'a str>, name: &str) -> Vec<String> {
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
            matches!(session.transcript.last(), Some(Entry::Status(status)) if status.text.contains("a/mod.rs, b/mod.rs"))
        );
    }

    #[test]
    fn globs_and_folders_add_their_files() {
        assert_eq!(add(&mut session(&["src/a.rs", "src/b.py", "x.rs"]), "src/*.rs"), ["src/a.rs"]);
        assert_eq!(add(&mut session(&["src/a.rs", "src/b.py", "x.rs"]), "src"), ["src/a.rs", "src/b.py"]);
    }

    #[test]
    fn dropping_a_file_keeps_others_with_the_same_name() {
        let mut session = session(&["lib.rs", "src/lib.rs"]);
        session.add_files(&["lib.rs".into(), "src/lib.rs".into()], false);
        session.drop_files(&["lib.rs".into()]);
        assert_eq!(session.chat_files.files.len(), 1);
        assert_eq!(session.chat_files.files[0].path, "src/lib.rs");
    }

    #[test]
    fn dropping_all_keeps_the_files_of_every_chat() {
        let mut session = session(&["AGENTS.md", "a.rs", "b.rs"]);
        session.chat_files.initial = vec!["AGENTS.md".into(), "b.rs".into()];
        session.add_files(&["AGENTS.md".into()], true);
        session.add_files(&["a.rs".into(), "b.rs".into()], false);
        session.drop_files(&[]);
        let last = format!("{:?}", session.transcript.last());
        assert!(last.contains("Removed 2 files from the chat: a.rs, b.rs."), "{last}");
        assert_eq!(
            session.chat_files.files(),
            [ChatFile { path: "AGENTS.md".into(), read_only: true }],
            "b.rs was made editable"
        );
    }

    #[test]
    fn a_glob_does_not_match_subfolders_or_secret_files() {
        let mut session = session(&[".env", "a.rs", "src/b.rs"]);
        assert_eq!(add(&mut session, "*"), ["a.rs"]);
        assert!(matches!(session.transcript.last(), Some(Entry::Status(status)) if status.text.contains(".env")));
        assert!(add(&mut session, ".env").contains(&".env".to_owned()), "an explicit name is added");
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

    #[test]
    fn read_only_without_names_changes_all_files() {
        let (mut session, _) = Session::start(Connection::None);
        session.chat_files.add("a", false);
        session.chat_files.add("b", true);
        assert!(!session.command(crate::Command::AllReadOnly).is_empty());
        assert!(session.chat_files.files().iter().all(|file| file.read_only));
        let last = format!("{:?}", session.transcript.last());
        assert!(last.contains("1 file is read-only now."), "{last}");
        assert!(session.command(crate::Command::AllReadOnly).is_empty(), "nothing changes");
    }
}
