//! Approvals of values that settings files of repositories propose. Each value is identified by a hash of the file, the name
//! and the value, so that a changed value needs a new approval.

use super::paths::{private_folder, replace_file};
use super::settings_file::{Entry, Origin};
use super::value::{dotted, written};
use super::{ConfigError, Paths};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Minimum length of an abbreviated hash, in characters.
const MIN_HASH_CHARS: usize = 8;

/// Maximum size of the approvals file in bytes.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// A proposed value in the form that is shown and approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposed {
    /// SHA-256 of the other fields, in hexadecimal.
    pub hash: String,
    /// The absolute path of the file that proposes it.
    pub file: String,
    /// The setting, as a TOML key.
    pub name: String,
    /// The value as TOML, without control characters.
    pub value: String,
}

impl Proposed {
    pub(super) fn of(file: &Path, entry: &Entry) -> Self {
        let (file, name, value) = (file.display().to_string(), dotted(&entry.name), written(&entry.value));
        // Each part is prefixed with its length, so that different parts never give the same bytes.
        let whole: String = [&file, &name, &value].iter().map(|part| format!("{}:{part}", part.len())).collect();
        let hash = digest(&SHA256, whole.as_bytes()).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { hash, file, name, value }
    }

    /// The abbreviated hash.
    pub fn short(&self) -> &str {
        self.hash.get(..2 * MIN_HASH_CHARS).unwrap_or(&self.hash)
    }

    /// Whether `hash` is the hash or a sufficient prefix of it.
    pub fn is_named(&self, hash: &str) -> bool {
        hash.len() >= MIN_HASH_CHARS && self.hash.starts_with(&hash.to_ascii_lowercase())
    }
}

/// The approvals of this user, stored in the state folder.
#[derive(Debug, Clone, Default)]
pub struct Approvals {
    file: Option<PathBuf>,
    approved: Vec<Proposed>,
}

impl Approvals {
    /// Reads the approvals. An unreadable or damaged file approves nothing.
    pub fn read(paths: Option<&Paths>) -> Self {
        let file = paths.map(Paths::approvals_file);
        let small =
            |path: &&PathBuf| std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_FILE_BYTES);
        let text = file.as_ref().filter(small).and_then(|path| std::fs::read_to_string(path).ok());
        let approved = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { file, approved }
    }

    /// Whether this exact value is approved.
    pub fn has(&self, proposed: &Proposed) -> bool {
        self.approved.contains(proposed)
    }

    /// All approvals, in order.
    pub fn all(&self) -> &[Proposed] {
        &self.approved
    }

    /// Approves a value.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn approve(&mut self, proposed: Proposed) -> Result<(), ConfigError> {
        if !self.has(&proposed) {
            self.approved.push(proposed);
        }
        self.save()
    }

    /// Revokes every approval for which `is_meant` is true, and returns them.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn revoke(&mut self, is_meant: impl Fn(&Proposed) -> bool) -> Result<Vec<Proposed>, ConfigError> {
        let (gone, kept) = std::mem::take(&mut self.approved).into_iter().partition(|proposed| is_meant(proposed));
        self.approved = kept;
        self.save()?;
        Ok(gone)
    }

    /// Replaces the file by one that only its owner can read.
    fn save(&self) -> Result<(), ConfigError> {
        let unwritable = |path: &Path, cause| ConfigError::Unwritable { path: path.display().to_string(), cause };
        let Some(path) = &self.file else {
            let cause = std::io::Error::other("there is no home");
            return Err(unwritable(Path::new("the approvals"), cause));
        };
        let save = || {
            private_folder(path.parent().unwrap_or(path))?;
            replace_file(path, &serde_json::to_vec_pretty(&self.approved)?, None)
        };
        save().map_err(|cause| unwritable(path, cause))
    }
}

/// Whether an entry comes from a file of the repository.
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
