//! States of repositories. In each, the file is written, and it is committed or the reason against it is reported.

use super::*;
use crate::config::Settings;
use crate::host::commit::pending::CommitMessages;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs git in a folder, without the settings of the machine.
fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let names = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always"];
    let output = command.current_dir(folder).args(names).args(args).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {args:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository with `a`, `far/b` and a second branch, below `place`.
fn repository(place: &Path) -> PathBuf {
    let top = place.join("repo");
    fs::create_dir(&top).unwrap();
    git(&top, &["init", "--quiet", "--initial-branch=main"]);
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("commit.gpgsign", "false")] {
        git(&top, &["config", key, value]);
    }
    put(&top, "a", "1\n");
    put(&top, "far/b", "1\n");
    put(&top, "staged", "1\n");
    git(&top, &["add", "--all"]);
    git(&top, &["commit", "--quiet", "--message", "Start"]);
    git(&top, &["branch", "other"]);
    top
}

enum Expect {
    /// It is committed on HEAD.
    Commit,
    /// There is no commit and no note.
    Quiet,
    /// There is no commit, and this note is reported.
    Refused(&'static str),
}

/// Creates a state in an empty folder. Returns the working directory and the file to write.
type Make = fn(&Path) -> (PathBuf, &'static str);

const SITUATIONS: [(&str, Make, Expect); 26] = [
    ("a folder below the top", |place| (repository(place).join("far"), "far/b"), Expect::Commit),
    ("a linked worktree", linked, Expect::Commit),
    ("inside of a submodule", |place| (with_submodule(place).join("sub"), "a"), Expect::Commit),
    (
        "a file in a submodule",
        |place| (with_submodule(place), "sub/a"),
        Expect::Refused("belongs to another repository"),
    ),
    ("a sparse checkout", |place| (sparse(place), "a"), Expect::Commit),
    (
        "outside of a sparse checkout",
        |place| (sparse(place), "far/b"),
        Expect::Refused("sparse checkout leaves it out"),
    ),
    ("no repository", |place| (place.to_owned(), "a"), Expect::Quiet),
    ("a detached HEAD", detached, Expect::Commit),
    ("beside jj", beside_jj, Expect::Commit),
    ("a branch without commits", unborn, Expect::Commit),
    ("a merge", |place| (conflicted(place, &["merge", "other"]), "far/b"), Expect::Refused("a merge is in progress")),
    (
        "a rebase",
        |place| (conflicted(place, &["rebase", "other"]), "far/b"),
        Expect::Refused("a rebase is in progress"),
    ),
    ("a lock on the index", locked, Expect::Refused("index.lock")),
    ("a broken index", broken, Expect::Refused("index is damaged")),
    ("a bisection", bisecting, Expect::Refused("a bisect is in progress")),
    (
        "a cherry-pick",
        |place| (conflicted(place, &["cherry-pick", "other"]), "far/b"),
        Expect::Refused("a cherry-pick is"),
    ),
    ("a shallow clone", shallow, Expect::Commit),
    ("an index in two pieces", split_index, Expect::Refused("update-index --no-split-index")),
    ("names of SHA-256", sha256, Expect::Refused("Only the git program knows")),
    ("objects that are lost", without_objects, Expect::Refused("git cannot")),
    ("a .git without a HEAD", without_head, Expect::Refused("its HEAD is missing")),
    ("an empty .git", with_empty_git, Expect::Quiet),
    ("a linked worktree whose repository is gone", widowed, Expect::Refused("what it leads to is not there")),
    (
        "another encoding in git",
        |place| attributed(place, "working-tree-encoding=UTF-16"),
        Expect::Refused("re-encoded"),
    ),
    ("the encoding of git", |place| attributed(place, "working-tree-encoding=utf-8"), Expect::Commit),
    ("keywords that git folds", |place| attributed(place, "ident eol=crlf"), Expect::Commit),
];

fn linked(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    git(&top, &["worktree", "add", "--quiet", "../linked", "other"]);
    (place.join("linked"), "a")
}

fn without_head(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    fs::remove_file(top.join(".git/HEAD")).unwrap();
    (top, "a")
}

fn with_empty_git(place: &Path) -> (PathBuf, &'static str) {
    fs::create_dir(place.join(".git")).unwrap();
    (place.to_owned(), "a")
}

fn widowed(place: &Path) -> (PathBuf, &'static str) {
    let at = linked(place);
    fs::rename(place.join("repo"), place.join("moved")).unwrap();
    at
}

fn attributed(place: &Path, attributes: &str) -> (PathBuf, &'static str) {
    let top = repository(place);
    put(&top, ".gitattributes", &format!("a {attributes}\n"));
    git(&top, &["add", ".gitattributes"]);
    git(&top, &["commit", "--quiet", "--message", "Attributes"]);
    (top, "a")
}

fn with_submodule(place: &Path) -> PathBuf {
    let lent = place.join("lent");
    fs::create_dir(&lent).unwrap();
    let inner = repository(&lent);
    let top = repository(place);
    git(&top, &["submodule", "--quiet", "add", inner.to_str().unwrap(), "sub"]);
    git(&top, &["commit", "--quiet", "--message", "Add a submodule"]);
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("commit.gpgsign", "false")] {
        git(&top.join("sub"), &["config", key, value]);
    }
    top
}

fn sparse(place: &Path) -> PathBuf {
    let top = repository(place);
    put(&top, "near/c", "1\n");
    git(&top, &["add", "--all"]);
    git(&top, &["commit", "--quiet", "--message", "More"]);
    git(&top, &["sparse-checkout", "set", "--cone", "--no-sparse-index", "near"]);
    assert!(!top.join("far/b").exists());
    top
}

fn detached(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    git(&top, &["checkout", "--quiet", "--detach"]);
    (top, "a")
}

fn beside_jj(place: &Path) -> (PathBuf, &'static str) {
    let (top, file) = detached(place);
    put(&top, ".jj/repo/store/type", "git");
    put(&top, ".git/info/exclude", "/.jj/\n");
    (top, file)
}

fn unborn(place: &Path) -> (PathBuf, &'static str) {
    let top = place.join("new");
    fs::create_dir(&top).unwrap();
    git(&top, &["init", "--quiet"]);
    git(&top, &["config", "user.name", "Ada"]);
    git(&top, &["config", "user.email", "ada@example.com"]);
    git(&top, &["config", "commit.gpgsign", "false"]);
    (top, "a")
}

/// A repository in which `a` differs between the branches, and git stopped on it.
fn conflicted(place: &Path, args: &[&str]) -> PathBuf {
    let top = repository(place);
    for (branch, text) in [("other", "theirs\n"), ("main", "ours\n")] {
        git(&top, &["checkout", "--quiet", branch]);
        put(&top, "a", text);
        git(&top, &["commit", "--quiet", "--all", "--message", text]);
    }
    let stopped = Command::new("git")
        .current_dir(&top)
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_EDITOR", "true")
        .output()
        .unwrap();
    assert!(!stopped.status.success());
    top
}

fn locked(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    put(&top, ".git/index.lock", "");
    (top, "a")
}

fn broken(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    put(&top, ".git/index", "this is no index");
    (top, "a")
}

fn bisecting(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    git(&top, &["bisect", "start"]);
    (top, "a")
}

fn shallow(place: &Path) -> (PathBuf, &'static str) {
    let whole = repository(place);
    put(&whole, "a", "2\n");
    git(&whole, &["commit", "--quiet", "--all", "--message", "Second"]);
    let from = format!("file://{}", whole.display());
    git(place, &["clone", "--quiet", "--depth", "1", &from, "shallow"]);
    let top = place.join("shallow");
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("commit.gpgsign", "false")] {
        git(&top, &["config", key, value]);
    }
    assert!(top.join(".git/shallow").exists());
    (top, "a")
}

fn split_index(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    git(&top, &["update-index", "--split-index"]);
    (top, "a")
}

fn sha256(place: &Path) -> (PathBuf, &'static str) {
    let top = place.join("new");
    fs::create_dir(&top).unwrap();
    git(&top, &["init", "--quiet", "--object-format=sha256"]);
    put(&top, "a", "1\n");
    (top, "a")
}

fn without_objects(place: &Path) -> (PathBuf, &'static str) {
    let top = repository(place);
    fs::remove_dir_all(top.join(".git/objects")).unwrap();
    fs::create_dir(top.join(".git/objects")).unwrap();
    (top, "a")
}

/// Writes a line into the file, which may be new. Returns the committed text and the note.
fn written(name: &str, root: &Root, path: &str) -> (Option<String>, String) {
    let expected = fs::read_to_string(root.path().join(path)).ok();
    let content = expected.clone().unwrap_or_default() + "ours $Id: of ours $\n";
    let file = PendingWrite {
        path: path.into(),
        expected: expected.map(Into::into),
        content: Some(content.clone()),
        renamed_from: None,
    };
    let commit = CommitRequest { request: "Write".into(), ..CommitRequest::default() };
    let WriteOutcome::Written(written, pending) = write(root, None, &[file], Some(&commit)).unwrap() else {
        panic!("{name}: asked");
    };
    assert_eq!(fs::read_to_string(root.path().join(path)).unwrap(), content);
    let committed = pending.map(|pending| pending.commit(CommitMessages::default(), &Settings::default(), ""));
    let committed = committed.unwrap_or_default();
    let told = written.notes.iter().chain(&committed.notes).map(|note| format!("{} {}\n", note.message, note.hint));
    (committed.commit.map(|(id, _)| id), told.collect())
}

#[test]
fn a_write_is_committed_or_told_wherever_it_is() {
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("skipped: there is no git program");
        return;
    }
    for (name, make, expect) in SITUATIONS {
        let place = tempfile::tempdir().unwrap();
        let (folder, file) = make(place.path());
        let root = Root::discover(&folder).unwrap();
        let staged = root.path().join("staged").exists() && !matches!(expect, Expect::Refused(_));
        if staged {
            put(root.path(), "staged", "2\n");
            git(root.path(), &["add", "--sparse", "staged"]);
        }
        let (commit, told) = written(name, &root, file);
        match expect {
            Expect::Commit => {
                assert!(commit.is_some() && told.is_empty(), "{name}: {told}");
                let head = git(root.path(), &["show", "--format=%s", "--name-only", "HEAD"]);
                let subjects = [format!("Change {file}\n\n{file}\n"), format!("Add {file}\n\n{file}\n")];
                assert!(subjects.contains(&head), "{name}: {head}");
                let left = if staged { "M  staged\n" } else { "" };
                assert_eq!(git(root.path(), &["status", "--porcelain", "--ignore-submodules"]), left, "{name}");
            }
            Expect::Quiet => assert!(commit.is_none() && told.is_empty(), "{name}: {told}"),
            Expect::Refused(text) => assert!(commit.is_none() && told.contains(text), "{name}: {told}"),
        }
    }
}

#[test]
fn a_repository_of_somebody_else_is_told_with_what_makes_it_trusted() {
    let place = tempfile::tempdir().unwrap();
    let top = repository(place.path());
    let given = Command::new("chown").args(["-R", "65534:65534"]).arg(&top).status();
    let trusted = Command::new("git").args(["config", "--get-all", "safe.directory"]).output();
    if !given.is_ok_and(|status| status.success()) || trusted.is_ok_and(|output| !output.stdout.is_empty()) {
        eprintln!("skipped: no folder can be given away, or git trusts everybody's here");
        return;
    }
    let (commit, told) = written("somebody else's", &Root::discover(&top).unwrap(), "a");
    assert!(commit.is_none() && told.contains("belongs to another user") && told.contains("safe.directory"), "{told}");
}
