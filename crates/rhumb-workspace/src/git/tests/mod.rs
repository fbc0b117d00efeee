//! The promises of the room, on real repositories.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use git2::Repository;

use super::*;

mod by_git;
mod index_lock;
mod later;
mod special;

struct Fixture {
    dir: tempfile::TempDir,
    git: Repository,
}

impl Fixture {
    fn unborn() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut options = git2::RepositoryInitOptions::new();
        options.initial_head("main");
        let git = Repository::init_opts(dir.path(), &options).unwrap();
        let mut config = git.config().unwrap();
        for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("core.autocrlf", "false")] {
            config.set_str(key, value).unwrap();
        }
        // Whatever the machine's own settings want.
        config.set_bool("commit.gpgsign", false).unwrap();
        Self { dir, git }
    }

    /// With one commit that holds these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let fixture = Self::unborn();
        for (path, text) in files {
            fixture.put(path, text);
        }
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        fixture.commit(&paths).unwrap();
        fixture
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn stage(&self, path: &str) {
        let mut index = self.git.index().unwrap();
        index.read(true).unwrap();
        index.add_path(Path::new(path)).unwrap();
        index.write().unwrap();
    }

    fn repo(&self) -> Repo {
        let mut repo = Repo::open(self.dir.path()).unwrap().unwrap();
        repo.lock_patience = Duration::ZERO;
        repo
    }

    fn commit(&self, paths: &[&str]) -> Result<Commit, GitError> {
        let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
        self.repo().commit_paths(&paths, "Change things\n")
    }

    /// The text of a file in HEAD.
    fn committed(&self, path: &str) -> Option<String> {
        let tree = self.git.head().unwrap().peel_to_tree().unwrap();
        let blob = tree.get_path(Path::new(path)).ok()?.to_object(&self.git).ok()?.peel_to_blob().ok()?;
        Some(String::from_utf8(blob.content().to_vec()).unwrap())
    }

    fn staged(&self, path: &str) -> Option<String> {
        let mut index = self.git.index().unwrap();
        index.read(true).unwrap();
        let id = index.get_path(Path::new(path), 0)?.id;
        Some(String::from_utf8(self.git.find_blob(id).unwrap().content().to_vec()).unwrap())
    }

    fn tip(&self) -> Option<git2::Oid> {
        self.git.head().ok().and_then(|head| head.target())
    }
}

#[test]
fn outside_a_repository_there_is_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(Repo::open(dir.path()).unwrap().is_none());
    Repository::init_bare(dir.path()).unwrap();
    assert!(Repo::open(dir.path()).unwrap().is_none());
}

#[test]
fn the_first_commit_goes_on_the_unborn_branch() {
    let fixture = Fixture::unborn();
    assert_eq!(fixture.repo().head().unwrap(), Head::Unborn { branch: "main".into() });
    fixture.put("a.rs", "a");
    let commit = fixture.commit(&["a.rs"]).unwrap();
    assert_eq!(fixture.repo().head().unwrap(), Head::Branch { name: "main".into(), short_id: commit.short_id });
    assert!(fixture.repo().dirty_paths().unwrap().is_empty());
}

#[test]
fn only_the_named_paths_are_committed_and_the_rest_stays_as_it_was() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("c", "1"), ("d/e", "1")]);
    fixture.put("b", "staged");
    fixture.stage("b");
    fixture.put("b", "staged and edited");
    fixture.put("c", "edited");
    fixture.put("new", "untracked");
    fixture.put("a", "2");
    fs::remove_dir_all(fixture.dir.path().join("d")).unwrap();
    fixture.commit(&["a", "d/e"]).unwrap();

    assert_eq!(fixture.committed("a").as_deref(), Some("2"));
    assert_eq!(fixture.committed("d/e"), None);
    assert_eq!(fixture.committed("b").as_deref(), Some("1"));
    assert_eq!(fixture.staged("b").as_deref(), Some("staged"));
    assert_eq!(fixture.staged("c").as_deref(), Some("1"));
    let dirty: Vec<String> = fixture.repo().dirty_paths().unwrap().into_iter().collect();
    assert_eq!(dirty, ["b", "c", "new"]);
}

#[test]
fn paths_are_relative_to_the_folder_that_was_opened() {
    let fixture = Fixture::with(&[("sub/a", "1"), ("top", "1")]);
    fixture.put("sub/a", "2");
    fixture.put("top", "2");
    let repo = Repo::open(&fixture.dir.path().join("sub")).unwrap().unwrap();
    assert_eq!(repo.dirty_paths().unwrap().into_iter().collect::<Vec<_>>(), ["a"]);
    repo.commit_paths(&["a".into()], "Change a").unwrap();
    assert_eq!(fixture.committed("sub/a").as_deref(), Some("2"));
    assert!(repo.commit_paths(&["../top".into()], "Climb").is_err());
}

#[test]
fn modes_links_and_file_to_folder_changes_are_recorded() {
    let fixture = Fixture::with(&[("run.sh", "1"), ("thing", "1")]);
    fs::set_permissions(fixture.dir.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("run.sh", fixture.dir.path().join("link")).unwrap();
    fs::remove_file(fixture.dir.path().join("thing")).unwrap();
    fixture.put("thing/inside", "1");
    fixture.commit(&["run.sh", "link", "thing/inside", "thing"]).unwrap();
    let tree = fixture.git.head().unwrap().peel_to_tree().unwrap();
    assert_eq!(tree.get_name("run.sh").unwrap().filemode(), 0o100_755);
    assert_eq!(tree.get_name("link").unwrap().filemode(), 0o120_000);
    assert_eq!(fixture.committed("thing/inside").as_deref(), Some("1"));
    assert!(fixture.repo().dirty_paths().unwrap().is_empty());
}

#[test]
fn a_detached_head_moves_and_no_branch_does() {
    let fixture = Fixture::with(&[("a", "1")]);
    let main = fixture.tip().unwrap();
    fixture.git.set_head_detached(main).unwrap();
    fixture.put("a", "2");
    let commit = fixture.commit(&["a"]).unwrap();
    assert_eq!(fixture.repo().head().unwrap(), Head::Detached { short_id: commit.short_id });
    assert_eq!(fixture.git.find_reference("refs/heads/main").unwrap().target(), Some(main));
}

#[test]
fn a_merge_in_progress_and_a_held_index_stop_the_commit() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "2");
    let tip = fixture.tip();
    let git = fixture.git.path();
    fs::write(git.join("MERGE_HEAD"), format!("{}\n", tip.unwrap())).unwrap();
    assert!(matches!(fixture.commit(&["a"]), Err(GitError::InProgress { operation: "merge" })));
    fs::remove_file(git.join("MERGE_HEAD")).unwrap();

    fs::write(git.join("index.lock"), "").unwrap();
    let error = fixture.commit(&["a"]).unwrap_err();
    assert!(error.to_string().contains("index.lock") && error.hint().contains("index.lock"), "{error}");
    fs::remove_file(git.join("index.lock")).unwrap();

    fs::write(git.join("refs/heads/main.lock"), "").unwrap();
    let error = fixture.commit(&["a"]).unwrap_err();
    assert!(error.to_string().contains("refs/heads/main.lock"), "{error}");
    assert_eq!(fixture.tip(), tip);
}

#[test]
fn nothing_to_commit_and_an_empty_message_are_said() {
    let fixture = Fixture::with(&[("a", "1")]);
    assert!(matches!(fixture.commit(&["a"]), Err(GitError::NothingToCommit)));
    assert!(matches!(fixture.commit(&["never-there"]), Err(GitError::NothingToCommit)));
    assert!(matches!(fixture.repo().commit_paths(&["a".into()], " \n"), Err(GitError::EmptyMessage)));
    assert!(matches!(Fixture::unborn().commit(&[]), Err(GitError::NothingToCommit)));
}

#[test]
fn an_ignored_new_file_is_left_out_and_named() {
    let fixture = Fixture::with(&[(".gitignore", "*.log\n"), ("a", "1")]);
    fixture.put("a", "2");
    fixture.put("x.log", "noise");
    let commit = fixture.commit(&["a", "x.log"]).unwrap();
    assert_eq!(commit.left_out, ["x.log"]);
    assert_eq!(fixture.committed("x.log"), None);
}

#[test]
fn no_identity_names_the_two_commands() {
    let fixture = Fixture::unborn();
    let mut config = fixture.git.config().unwrap();
    config.remove("user.name").unwrap();
    config.remove("user.email").unwrap();
    fixture.put("a", "1");
    // Holds only where the machine itself has no identity set.
    if fixture.git.author_from_env().is_err() {
        let error = fixture.commit(&["a"]).unwrap_err();
        assert!(matches!(error, GitError::NoIdentity), "{error}");
        assert!(error.hint().contains("user.name") && error.hint().contains("user.email"));
    }
}

#[test]
fn no_program_of_the_repository_is_run() {
    let fixture = Fixture::with(&[("a", "1"), (".gitattributes", "*.bin filter=evil\n")]);
    let canary = fixture.dir.path().join(".git/canary");
    let command = format!("touch {}", canary.display());
    let mut config = fixture.git.config().unwrap();
    for key in ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "diff.external", "core.pager"] {
        config.set_str(key, &command).unwrap();
    }
    for hook in ["pre-commit", "commit-msg", "post-commit", "post-index-change"] {
        let path = fixture.git.path().join("hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{command}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fixture.put("a", "2");
    fixture.put("x.bin", "2");
    fixture.repo().dirty_paths().unwrap();
    fixture.commit(&["a"]).unwrap();
    assert!(matches!(fixture.commit(&["x.bin"]), Err(GitError::Filtered { .. })));
    assert!(!canary.exists());
}

#[test]
fn a_repository_inside_is_left_alone() {
    let fixture = Fixture::with(&[("a", "1")]);
    Repository::init(fixture.dir.path().join("sub")).unwrap();
    fixture.put("sub/b", "1");
    assert!(matches!(fixture.commit(&["sub/b"]), Err(GitError::Path { .. })));
    assert!(matches!(fixture.commit(&[".git/config"]), Err(GitError::Path { .. })));
}

#[test]
fn line_endings_go_through_the_attributes() {
    let fixture = Fixture::with(&[(".gitattributes", "*.txt text eol=crlf\n"), ("a", "1")]);
    fixture.put("n.txt", "one\r\ntwo\r\n");
    fixture.commit(&["n.txt"]).unwrap();
    assert_eq!(fixture.committed("n.txt").as_deref(), Some("one\ntwo\n"));
    assert!(fixture.repo().dirty_paths().unwrap().is_empty());
}

/// Runs the git program, if there is one, free of the machine's own settings.
fn git_says(dir: &Path, args: &[&str]) -> Option<String> {
    let mut git = std::process::Command::new("git");
    git.current_dir(dir).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = git.output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn the_git_program_agrees_with_what_was_made() {
    let fixture = Fixture::with(&[("a", "1"), ("d/b", "1"), ("c", "1")]);
    let dir = fixture.dir.path();
    fixture.put("a", "two");
    fixture.put("new/x", "x");
    fixture.put("c", "staged");
    fixture.stage("c");
    fs::remove_file(dir.join("d/b")).unwrap();
    fixture.commit(&["a", "new/x", "d/b"]).unwrap();
    if let Some(problems) = git_says(dir, &["fsck", "--strict", "--no-progress", "--no-dangling"]) {
        assert_eq!(problems, "");
        // Without a refresh: the recorded file times alone must tell that nothing changed.
        assert_eq!(git_says(dir, &["diff-files", "--name-only"]).unwrap(), "");
        assert_eq!(git_says(dir, &["status", "--porcelain"]).unwrap(), "M  c\n");
    }
}

#[test]
fn a_linked_work_tree_commits_on_its_own_branch() {
    let fixture = Fixture::with(&[("a", "1")]);
    let main = fixture.tip();
    let other = tempfile::tempdir().unwrap();
    let place = other.path().join("linked");
    fixture.git.worktree("linked", &place, None).unwrap();
    fs::write(place.join("a"), "2").unwrap();
    let repo = Repo::open(&place).unwrap().unwrap();
    let commit = repo.commit_paths(&["a".into()], "Change a").unwrap();
    assert_eq!(repo.head().unwrap(), Head::Branch { name: "linked".into(), short_id: commit.short_id });
    assert_eq!(fixture.tip(), main);
}
