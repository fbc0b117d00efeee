//! Throw-away git repositories, made by the `git` program with a fixed identity and date.

use std::path::{Path, PathBuf};
use std::process::Command;

/// When every commit was made, so that its id depends on its content alone.
const DATE: &str = "2026-03-01T12:00:00+00:00";

/// A repository in a temporary folder, removed when this is dropped.
pub struct TestRepo {
    folder: tempfile::TempDir,
}

impl TestRepo {
    /// A repository without commits, on branch `main`, with an identity of its own in its local settings.
    pub fn new() -> Self {
        let repo = Self { folder: tempfile::tempdir().expect("a folder for the repository") };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        for (name, value) in [
            ("user.name", "Mira Keel"),
            ("user.email", "mira@example.org"),
            ("commit.gpgsign", "false"),
            ("core.autocrlf", "false"),
        ] {
            repo.git(&["config", name, value]);
        }
        repo
    }

    /// A repository without an identity: a commit by the program under test must say what is missing.
    pub fn without_identity() -> Self {
        let repo = Self::new();
        repo.git(&["config", "--remove-section", "user"]);
        repo
    }

    /// The folder of the repository, as the system names it (no symbolic links in it).
    pub fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the repository's folder")
    }

    /// Writes a file, and the folders above it.
    pub fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("make folders");
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("write {}: {error}", path.display()));
        self
    }

    /// The text of a file.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap_or_else(|error| panic!("read {path}: {error}"))
    }

    /// Whether there is such a file.
    pub fn has(&self, path: &str) -> bool {
        self.folder.path().join(path).exists()
    }

    /// Commits everything in the folder.
    pub fn commit(&self, message: &str) -> &Self {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self
    }

    /// Runs git in the repository and gives what it printed.
    ///
    /// # Panics
    /// When git fails, with what it said.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        git(self.folder.path(), args)
    }

    /// The messages of all commits, newest first, one line each.
    pub fn subjects(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"]).lines().map(str::to_owned).collect()
    }
}

impl Default for TestRepo {
    fn default() -> Self {
        Self::new()
    }
}

#[track_caller]
fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(args);
    // A variable of the caller, or of a hook that runs the tests, must not lead git to another repository.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for (name, value) in [
        ("GIT_AUTHOR_NAME", "Mira Keel"),
        ("GIT_AUTHOR_EMAIL", "mira@example.org"),
        ("GIT_AUTHOR_DATE", DATE),
        ("GIT_COMMITTER_NAME", "Mira Keel"),
        ("GIT_COMMITTER_EMAIL", "mira@example.org"),
        ("GIT_COMMITTER_DATE", DATE),
    ] {
        command.env(name, value);
    }
    let output = command.output().expect("run git");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {}\n{said}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}
