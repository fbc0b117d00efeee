//! What a repository's own settings propose and the user has approved: single values, each by a hash of the file, the name and
//! the value together, so that a value that changes is asked about again.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::layer::{Entry, Origin};
use super::value::{dotted, written};
use super::{ConfigError, Paths};

/// Fewest characters of a hash that name a value.
const SHORTEST: usize = 8;

/// A file of approvals larger than this is none of ours, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// A value that a repository proposes, as the user is shown it and approves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    /// SHA-256 of the other three, in hexadecimal.
    pub hash: String,
    /// The file that proposes it, whole path.
    pub file: String,
    /// The setting, as TOML writes its name.
    pub name: String,
    /// The value as TOML, which has no character that could drive a terminal.
    pub value: String,
}

impl Proposed {
    /// What an entry of a file proposes.
    pub(super) fn of(file: &Path, entry: &Entry) -> Self {
        let (file, name, value) = (file.display().to_string(), dotted(&entry.name), written(&entry.value));
        // Each part says how long it is, so that no two sets of parts look alike.
        let whole: String = [&file, &name, &value].iter().map(|part| format!("{}:{part}", part.len())).collect();
        let hash = digest(&SHA256, whole.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { hash, file, name, value }
    }

    /// The beginning of the hash that is enough to name the value.
    pub fn short(&self) -> &str {
        self.hash.get(..2 * SHORTEST).unwrap_or(&self.hash)
    }

    /// Whether `hash` is its hash or enough of the beginning.
    pub fn is_named(&self, hash: &str) -> bool {
        hash.len() >= SHORTEST && self.hash.starts_with(&hash.to_ascii_lowercase())
    }
}

/// The approved values of this user, kept in the state folder.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    file: Option<PathBuf>,
    approved: Vec<Proposed>,
}

impl Approvals {
    /// Reads them. A file that is not to be read, or that is damaged, approves nothing.
    pub fn read(paths: Option<&Paths>) -> Self {
        let file = paths.map(Paths::approvals_file);
        let small = |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= LARGEST);
        let text = file.as_ref().filter(small).and_then(|path| std::fs::read_to_string(path).ok());
        let approved = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { file, approved }
    }

    /// Whether exactly this value was approved.
    pub fn has(&self, proposed: &Proposed) -> bool {
        self.approved.contains(proposed)
    }

    /// All of them, in the order of their approval.
    pub fn all(&self) -> &[Proposed] {
        &self.approved
    }

    /// Approves a value.
    ///
    /// # Errors
    /// It cannot be kept.
    pub fn approve(&mut self, proposed: Proposed) -> Result<(), ConfigError> {
        if !self.has(&proposed) {
            self.approved.push(proposed);
        }
        self.save()
    }

    /// Takes back every approval that `is_meant`; those that there were.
    ///
    /// # Errors
    /// That cannot be kept.
    pub fn revoke(&mut self, is_meant: impl Fn(&Proposed) -> bool) -> Result<Vec<Proposed>, ConfigError> {
        let (gone, kept) = std::mem::take(&mut self.approved).into_iter().partition(|proposed| is_meant(proposed));
        self.approved = kept;
        self.save()?;
        Ok(gone)
    }

    /// Replaces the file by a new one that nobody else can read.
    fn save(&self) -> Result<(), ConfigError> {
        let unkept = |path: &Path, cause| ConfigError::Unkept { path: path.display().to_string(), cause };
        let Some(path) = &self.file else {
            let cause = std::io::Error::other("there is no home");
            return Err(unkept(Path::new("the approvals"), cause));
        };
        let save = || {
            let folder = path.parent().unwrap_or(path);
            private_folder(folder)?;
            let mut file = tempfile::Builder::new().prefix(".approved-").tempfile_in(folder)?;
            file.write_all(&serde_json::to_vec_pretty(&self.approved)?)?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        save().map_err(|cause| unkept(path, cause))
    }
}

/// Makes a folder that is for its owner alone, and those above it.
pub(super) fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether the entry is of a repository's file.
pub(super) fn is_foreign(entry: &Entry) -> bool {
    matches!(entry.origin, Origin::File { level: super::Level::Repository, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Level;

    fn entry(name: &str, value: &str) -> Entry {
        let origin = Origin::File { level: Level::Repository, path: "rhumb.toml".into(), line: 1 };
        Entry { name: name.into(), value: value.into(), origin }
    }

    fn paths(folder: &Path) -> Paths {
        Paths { home: folder.into(), config: folder.join("c"), cache: folder.join("k"), state: folder.join("s/rhumb") }
    }

    #[test]
    fn a_hash_is_of_file_name_and_value_together() {
        let hash = |file: &str, name: &str, value: &str| Proposed::of(Path::new(file), &entry(name, value)).hash;
        let first = hash("/a", "test_cmd", "make");
        assert_eq!((first.len(), &first), (64, &hash("/a", "test_cmd", "make")));
        for other in [hash("/b", "test_cmd", "make"), hash("/a", "lint_cmd", "make"), hash("/a", "test_cmd", "make ")] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn what_is_shown_cannot_drive_a_terminal() {
        let proposed = Proposed::of(Path::new("/a"), &entry("test_cmd", "make\u{1b}[2J\r\n\u{202e}x"));
        assert_eq!(proposed.value, r#""make\u001B[2J\u000D\u000A\u202Ex""#);
        let proposed = Proposed::of(Path::new("/a"), &entry("linters.a\n0123456789abcdef  /b\n    x\u{1b}[2J", "make"));
        assert_eq!(proposed.name, r#"linters."a\u000A0123456789abcdef  /b\u000A    x\u001B[2J""#);
        let proposed = Proposed::of(Path::new("/a"), &entry("models.gpt-4.1", "x"));
        assert_eq!(proposed.name, r#"models."gpt-4.1""#);
    }

    #[test]
    fn approvals_are_kept_for_their_owner_alone_and_can_be_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let (one, other) = (entry("test_cmd", "make"), entry("test_cmd", "rm -rf ~"));
        let (one, other) = (Proposed::of(Path::new("/a"), &one), Proposed::of(Path::new("/a"), &other));
        let mut approvals = Approvals::read(Some(&paths));
        assert!(!approvals.has(&one));
        approvals.approve(one.clone()).unwrap();
        let mut again = Approvals::read(Some(&paths));
        assert!(again.has(&one) && !again.has(&other));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&paths.approvals_file()), mode(&paths.state)), (0o600, 0o700));
        }
        assert_eq!(again.revoke(|proposed| proposed.is_named(one.short())).unwrap(), std::slice::from_ref(&one));
        assert!(!Approvals::read(Some(&paths)).has(&one));
    }

    #[test]
    fn a_damaged_file_and_a_forged_hash_approve_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let proposed = Proposed::of(Path::new("/a"), &entry("test_cmd", "make"));
        std::fs::create_dir_all(&paths.state).unwrap();
        std::fs::write(paths.approvals_file(), "[{]").unwrap();
        assert!(Approvals::read(Some(&paths)).all().is_empty());
        let forged = Proposed { value: "\"rm\"".into(), ..proposed.clone() };
        std::fs::write(paths.approvals_file(), serde_json::to_vec(&[forged]).unwrap()).unwrap();
        assert!(!Approvals::read(Some(&paths)).has(&proposed));
    }

    #[test]
    fn a_hash_is_named_by_enough_of_its_beginning() {
        let proposed = Proposed::of(Path::new("/a"), &entry("test_cmd", "make"));
        assert!(proposed.is_named(&proposed.hash) && proposed.is_named(&proposed.short().to_uppercase()));
        assert!(!proposed.is_named("") && !proposed.is_named(&proposed.hash[..4]));
    }
}
