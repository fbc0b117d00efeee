//! Which files are in the chat: adding by path, glob or unique name; dropping; switching to read-only.

use globset::Glob;

use super::effect::Effect;
use super::state::Session;
use super::transcript::Level;

/// A file in the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatFile {
    /// Path under the root.
    pub path: String,
    /// Whether the model may edit it.
    pub read_only: bool,
}

impl Session {
    /// Adds the files that `names` mean, or changes how they are in the chat.
    pub fn add_files(&mut self, names: &[String], read_only: bool) -> Vec<Effect> {
        let mut added = Vec::new();
        for name in names {
            match self.meant(name) {
                Ok(paths) => added.extend(paths),
                Err(reason) => self.tell(Level::Error, reason, "Ctrl-P opens the file picker."),
            }
        }
        for path in &added {
            match self.files.iter_mut().find(|file| file.path == *path) {
                Some(file) => file.read_only = read_only,
                None => self.files.push(ChatFile { path: path.clone(), read_only }),
            }
        }
        if added.is_empty() { Vec::new() } else { self.measure() }
    }

    /// Takes files out of the chat; all of them when no name is given.
    pub fn drop_files(&mut self, names: &[String]) -> Vec<Effect> {
        if names.is_empty() {
            self.files.clear();
            return self.measure();
        }
        for name in names {
            let before = self.files.len();
            self.files.retain(|file| file.path != *name && !file.path.ends_with(&format!("/{name}")));
            if self.files.len() == before {
                self.tell(Level::Error, format!("{name} is not in the chat."), "/ls lists what is.");
            }
        }
        self.measure()
    }

    /// Turns a file of the chat from editable to read-only, or back.
    pub fn toggle_read_only(&mut self, path: &str) -> Vec<Effect> {
        match self.files.iter_mut().find(|file| file.path == path) {
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
        let lines: Vec<String> = self.files.iter().map(line).collect();
        let text = if lines.is_empty() { "No file is in the chat.".to_owned() } else { lines.join("\n") };
        self.tell(Level::Info, text, "");
    }

    /// The paths that a name means: itself, a glob, or the end of exactly one path.
    fn meant(&self, name: &str) -> Result<Vec<String>, String> {
        let name = name.trim_start_matches("./");
        if self.paths.binary_search_by(|path| path.as_str().cmp(name)).is_ok() {
            return Ok(vec![name.to_owned()]);
        }
        if !self.listed {
            // The list of files is not there yet; reading the file will tell whether it exists.
            return Ok(vec![name.to_owned()]);
        }
        let folder = format!("{}/", name.trim_end_matches('/'));
        let found: Vec<String> = if name.contains(['*', '?', '[']) {
            let glob = Glob::new(name).map_err(|error| format!("{name} is no glob: {error}."))?.compile_matcher();
            self.paths.iter().filter(|path| glob.is_match(path.as_str())).cloned().collect()
        } else {
            self.paths.iter().filter(|path| path.starts_with(&folder)).cloned().collect()
        };
        if !found.is_empty() {
            return Ok(found);
        }
        let ending = format!("/{name}");
        let same: Vec<&String> = self.paths.iter().filter(|path| path.ends_with(&ending)).collect();
        match same.as_slice() {
            [] => Err(format!("No file of the repository is called {name}.")),
            [path] => Ok(vec![(*path).clone()]),
            several => {
                let names: Vec<&str> = several.iter().take(5).map(|path| path.as_str()).collect();
                Err(format!("{name} could be any of {}: {}.", several.len(), names.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::session::{Connection, Entry};

    fn session(paths: &[&str]) -> Session {
        let (mut session, _) = Session::start(Connection::None);
        session.listed = true;
        session.paths = Arc::new(paths.iter().map(|path| (*path).to_owned()).collect());
        session
    }

    fn add(session: &mut Session, name: &str) -> Vec<String> {
        session.add_files(&[name.to_owned()], false);
        session.files.iter().map(|file| file.path.clone()).collect()
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
            matches!(session.transcript.last(), Some(Entry::Notice(notice)) if notice.text.contains("a/mod.rs, b/mod.rs"))
        );
    }

    #[test]
    fn globs_and_folders_add_what_they_hold() {
        assert_eq!(add(&mut session(&["src/a.rs", "src/b.py", "x.rs"]), "src/*.rs"), ["src/a.rs"]);
        assert_eq!(add(&mut session(&["src/a.rs", "src/b.py", "x.rs"]), "src"), ["src/a.rs", "src/b.py"]);
    }

    #[test]
    fn adding_again_as_read_only_changes_the_file_in_place() {
        let mut session = session(&["a", "b"]);
        session.add_files(&["a".into(), "b".into()], false);
        session.add_files(&["a".into()], true);
        assert_eq!(session.files[0], ChatFile { path: "a".into(), read_only: true });
        assert_eq!(session.files.len(), 2);
    }
}
