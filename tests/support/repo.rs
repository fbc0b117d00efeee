//! Temporary git repositories, made by the `git` program with a fixed identity and date.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The date of every commit, so that its id depends on its content only.
const DATE: &str = "2026-03-01T12:00:00+00:00";

/// A repository in a temporary folder, removed on drop.
pub struct TestRepo {
    folder: tempfile::TempDir,
}

impl TestRepo {
    /// A repository without commits, on branch `main`, with an identity in its local settings.
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

    /// A repository without an identity: a commit must fail with an explanation.
    pub fn without_identity() -> Self {
        let repo = Self::new();
        repo.git(&["config", "--remove-section", "user"]);
        repo
    }

    /// The folder of the repository, without symbolic links.
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

    /// Whether the file exists.
    pub fn has(&self, path: &str) -> bool {
        self.folder.path().join(path).exists()
    }

    /// Commits everything in the folder.
    pub fn commit(&self, message: &str) -> &Self {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
        self
    }

    /// Runs git in the repository and returns its output.
    ///
    /// # Panics
    /// If git fails, with its output.
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
    // A variable of the caller, or of a hook that runs the tests, must not redirect git to another repository.
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

/// A small file for the tests of commands.
pub const HARBOUR: &str = "\
def depth(name):
    return TABLE[name]


def report(name):
    metres = depth(name)
    return f'{name}: {metres} m'
";

/// [`HARBOUR`] after the edit of these tests.
pub fn changed() -> String {
    HARBOUR.replace("TABLE[name]", "TABLE.get(name, 0.0)")
}

/// A repository with [`HARBOUR`] and two other files.
pub fn harbour_repo() -> TestRepo {
    let repo = TestRepo::new();
    repo.file("harbour.py", HARBOUR)
        .file(
            "charts/compass.py",
            "from harbour import depth\n\n\nclass Compass:\n    def bearing(self, name):\n        return depth(name)\n",
        )
        .file("notes.md", "# Notes\n")
        .commit("Start the harbour");
    repo
}
