//! Tests of commits in real repositories.

use super::*;
use crate::ContentHash;
use git2::Repository;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

pub(crate) struct Fixture {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) git: Repository,
}

impl Fixture {
    pub(crate) fn unborn() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut options = git2::RepositoryInitOptions::new();
        options.initial_head("main");
        let git = Repository::init_opts(dir.path(), &options).unwrap();
        let mut config = git.config().unwrap();
        for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.com"), ("core.autocrlf", "false")] {
            config.set_str(key, value).unwrap();
        }
        // Overrides the settings of the machine.
        config.set_bool("commit.gpgsign", false).unwrap();
        Self { dir, git }
    }

    /// A repository with one commit of these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let fixture = Self::unborn();
        for (path, text) in files {
            fixture.put(path, text);
        }
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        fixture.commit(&paths).unwrap();
        fixture
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn stage(&self, path: &str) {
        let mut index = self.git.index().unwrap();
        index.read(true).unwrap();
        index.add_path(Path::new(path)).unwrap();
        index.write().unwrap();
    }

    fn set_extended_flag(&self, path: &str, flag: u16) {
        /// Flag of an entry that has extended flags.
        const EXTENDED: u16 = 1 << 14;
        let mut index = self.git.index().unwrap();
        index.read(true).unwrap();
        let mut entry = index.get_path(Path::new(path), 0).unwrap();
        entry.flags |= EXTENDED;
        entry.flags_extended |= flag;
        index.add(&entry).unwrap();
        index.write().unwrap();
    }

    pub(crate) fn repo(&self) -> Repo {
        let mut repo = Repo::open(self.dir.path()).unwrap().unwrap();
        repo.lock_timeout = Duration::ZERO;
        repo
    }

    pub(crate) fn commit(&self, paths: &[&str]) -> Result<Commit, GitError> {
        let paths: Vec<String> = paths.iter().map(|path| path.to_string()).collect();
        self.repo().commit_paths(&paths, "Change things\n")
    }

    /// Text of a file in HEAD.
    pub(crate) fn committed(&self, path: &str) -> Option<String> {
        let tree = self.git.head().unwrap().peel_to_tree().unwrap();
        let blob = tree.get_path(Path::new(path)).ok()?.to_object(&self.git).ok()?.peel_to_blob().ok()?;
        Some(String::from_utf8(blob.content().to_vec()).unwrap())
    }

    pub(crate) fn staged(&self, path: &str) -> Option<String> {
        let mut index = self.git.index().unwrap();
        index.read(true).unwrap();
        let id = index.get_path(Path::new(path), 0)?.id;
        Some(String::from_utf8(self.git.find_blob(id).unwrap().content().to_vec()).unwrap())
    }

    pub(crate) fn tip(&self) -> Option<git2::Oid> {
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
    assert_eq!(fixture.repo().head().unwrap(), Head::Unborn("main".into()));
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
fn the_lock_of_a_detached_head_is_the_one_of_the_linked_work_tree() {
    let fixture = Fixture::with(&[("a", "1")]);
    let other = tempfile::tempdir().unwrap();
    let place = other.path().join("linked");
    fixture.git.worktree("linked", &place, None).unwrap();
    fs::write(place.join("a"), "2").unwrap();
    let repo = Repo::open(&place).unwrap().unwrap();
    repo.inner.set_head_detached(fixture.tip().unwrap()).unwrap();
    let lock = fixture.git.path().join("worktrees/linked/HEAD.lock");
    fs::write(&lock, "").unwrap();
    let error = repo.commit_paths(&["a".into()], "Change a").unwrap_err();
    assert!(matches!(&error, GitError::Locked { lock: named, .. } if *named == lock), "{error}");
}

#[test]
fn a_detached_head_moves_and_no_branch_does() {
    let fixture = Fixture::with(&[("a", "1")]);
    let main = fixture.tip().unwrap();
    fixture.git.set_head_detached(main).unwrap();
    fixture.put("a", "2");
    let commit = fixture.commit(&["a"]).unwrap();
    assert_eq!(fixture.repo().head().unwrap(), Head::Detached(commit.short_id));
    assert_eq!(fixture.git.find_reference("refs/heads/main").unwrap().target(), Some(main));
}

#[test]
fn a_merge_in_progress_and_a_held_index_stop_the_commit() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "2");
    let tip = fixture.tip();
    let git = fixture.git.path();
    fs::write(git.join("MERGE_HEAD"), format!("{}\n", tip.unwrap())).unwrap();
    assert!(matches!(fixture.commit(&["a"]), Err(GitError::InProgress("merge"))));
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
fn nothing_to_commit_and_an_empty_message_are_errors() {
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
    assert_eq!(commit.ignored, ["x.log"]);
    assert_eq!(fixture.committed("x.log"), None);
}

#[test]
fn no_identity_names_the_two_commands() {
    let fixture = Fixture::unborn();
    let mut config = fixture.git.config().unwrap();
    config.remove("user.name").unwrap();
    config.remove("user.email").unwrap();
    fixture.put("a", "1");
    // Applies only if the machine has no identity configured.
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

/// Runs the git program, if it is installed, without the settings of the machine.
pub(crate) fn git_says(dir: &Path, args: &[&str]) -> Option<String> {
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
        // `diff-files` does not refresh the index: the recorded file times alone must show that nothing changed.
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

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn committed(repo: &Repo, prepared: PreparedCommit) -> Result<Commit, GitError> {
    repo.commit(prepared, &CommitOptions::new("Ours"))
}

#[test]
fn edits_after_the_preparation_are_not_committed() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1")]);
    fixture.put("a", "ours");
    let repo = fixture.repo();
    let prepared = repo.prepare(&paths(&["a"]), None).unwrap();
    fixture.put("a", "ours, and mine");
    fixture.put("b", "staged");
    fixture.stage("b");
    committed(&repo, prepared).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("ours"));
    assert_eq!(fs::read_to_string(fixture.dir.path().join("a")).unwrap(), "ours, and mine");
    assert_eq!(fixture.staged("b").as_deref(), Some("staged"));
    assert_eq!(repo.uncommitted_changes(&paths(&["a", "b"])).unwrap().whole, ["a", "b"]);
}

#[test]
fn content_staged_after_the_preparation_stays_staged() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "ours");
    let repo = fixture.repo();
    let prepared = repo.prepare(&paths(&["a"]), None).unwrap();
    fixture.put("a", "mine");
    fixture.stage("a");
    committed(&repo, prepared).unwrap();
    assert_eq!((fixture.committed("a").as_deref(), fixture.staged("a").as_deref()), (Some("ours"), Some("mine")));
}

#[test]
fn a_file_committed_meanwhile_is_not_overwritten() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1")]);
    fixture.put("a", "ours");
    fixture.put("b", "ours");
    let repo = fixture.repo();
    let prepared = repo.prepare(&paths(&["a", "b"]), None).unwrap();
    let alone = repo.prepare(&paths(&["a"]), None).unwrap();
    fixture.put("a", "ours and mine");
    fixture.commit(&["a"]).unwrap();
    let commit = committed(&repo, prepared).unwrap();
    assert_eq!(commit.already_committed, ["a"]);
    assert_eq!(fixture.committed("a").as_deref(), Some("ours and mine"));
    assert_eq!(fixture.committed("b").as_deref(), Some("ours"));
    assert!(matches!(committed(&repo, alone), Err(GitError::AlreadyCommitted(_))));
}

#[test]
fn nothing_is_committed_to_another_branch() {
    let fixture = Fixture::with(&[("a", "1")]);
    let tip = fixture.git.find_commit(fixture.tip().unwrap()).unwrap();
    fixture.git.branch("other", &tip, false).unwrap();
    fixture.put("a", "ours");
    let repo = fixture.repo();
    let prepared = repo.prepare(&paths(&["a"]), None).unwrap();
    fixture.git.set_head("refs/heads/other").unwrap();
    assert!(matches!(committed(&repo, prepared), Err(GitError::Moved)));
    assert_eq!(fixture.tip(), Some(tip.id()));
}

#[test]
fn one_prepared_commit_can_follow_another() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "mine");
    fixture.put("new", "mine");
    let repo = fixture.repo();
    let all = paths(&["a", "new"]);
    let own = repo.prepare(&all, None).unwrap();
    fixture.put("a", "mine and ours");
    fixture.put("new", "mine and ours");
    let ours = repo.prepare(&all, Some(&own)).unwrap();
    let texts: String = repo.patches(&ours, Some(&own)).unwrap().into_iter().map(|patch| patch.text).collect();
    assert!(texts.contains("-mine\n") && texts.contains("+mine and ours\n") && !texts.contains("\n-1\n"), "{texts}");
    committed(&repo, own).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("mine"));
    committed(&repo, ours).unwrap();
    assert_eq!(fixture.committed("new").as_deref(), Some("mine and ours"));
    assert!(repo.dirty_paths().unwrap().is_empty());
}

#[test]
fn a_path_that_cannot_be_committed_does_not_block_the_others() {
    let fixture = Fixture::with(&[("a", "1"), (".gitattributes", "*.bin filter=lfs\n")]);
    fixture.put("a", "2");
    fixture.put("x.bin", "2");
    let repo = fixture.repo();
    let commit = committed(&repo, repo.prepare(&paths(&["a", "x.bin"]), None).unwrap()).unwrap();
    assert!(commit.refused[0].contains("x.bin"), "{commit:?}");
    assert_eq!(fixture.committed("a").as_deref(), Some("2"));
}

#[test]
fn files_changed_since_the_write_are_refused() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")]);
    let written = |path: &str, text: &str| (path.to_owned(), Some(ContentHash::of(text.as_bytes())));
    let files = [written("a", "2"), written("b", "2"), written("c", "2"), ("d".to_owned(), None), written("e", "2")];
    fixture.put("a", "2");
    fixture.put("b", "2, and a line of theirs");
    fs::remove_file(fixture.dir.path().join("c")).unwrap();
    std::os::unix::fs::symlink("a", fixture.dir.path().join("e")).unwrap();
    let repo = fixture.repo();
    let prepared = repo.prepare_written(&files, None).unwrap();
    let refused: Vec<String> = prepared.refused.iter().map(ToString::to_string).collect();
    assert!(refused.len() == 4 && refused.iter().all(|it| it.contains("changed by another program")), "{refused:?}");
    let paths: Vec<String> = repo.texts(&prepared).into_iter().map(|file| file.path).collect();
    assert_eq!(paths, ["a"]);
    committed(&repo, prepared).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("2"));
    assert_eq!(fixture.committed("b").as_deref(), Some("1"));
}

#[test]
fn texts_detect_renames_and_omit_unchanged_files() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "same"), ("old", "moved"), ("bin", "1")]);
    fixture.put("a", "2");
    fixture.put("new", "moved");
    fs::write(fixture.dir.path().join("bin"), [0xff, 0xfe]).unwrap();
    fs::remove_file(fixture.dir.path().join("old")).unwrap();
    let repo = fixture.repo();
    let texts = repo.texts(&repo.prepare(&paths(&["a", "b", "bin", "new", "old"]), None).unwrap());
    let texts: Vec<_> = texts
        .iter()
        .map(|file| (file.path.as_str(), file.renamed_from.as_deref(), file.before.as_deref(), file.after.as_deref()))
        .collect();
    let expected = [
        ("a", None, Some("1"), Some("2")),
        ("bin", None, Some("1"), Some("")),
        ("new", Some("old"), Some("moved"), Some("moved")),
    ];
    assert_eq!(texts, expected);
}

#[test]
fn partly_staged_files_are_reported_separately() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("c", "1"), (".gitignore", "*.log\n")]);
    fixture.put("a", "2");
    fixture.stage("a");
    fixture.put("b", "2");
    fixture.stage("b");
    fixture.put("b", "3");
    fixture.put("d", "untracked");
    fixture.put("x.log", "ignored");
    let own = fixture.repo().uncommitted_changes(&paths(&["a", "b", "c", "d", "x.log"])).unwrap();
    assert_eq!((own.whole, own.partly_staged), (paths(&["a", "d"]), paths(&["b"])));
}

#[test]
fn what_is_staged_is_committed_as_it_is_staged() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("gone", "1")]);
    fixture.put("a", "staged");
    fixture.stage("a");
    fixture.put("a", "later");
    fixture.put("b", "not staged");
    let mut index = fixture.git.index().unwrap();
    index.read(true).unwrap();
    index.remove_path(Path::new("gone")).unwrap();
    index.write().unwrap();
    let repo = fixture.repo();
    assert!(repo.has_staged().unwrap());
    committed(&repo, repo.prepare_staged().unwrap()).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("staged"));
    assert_eq!(fixture.committed("gone"), None);
    assert_eq!(fixture.committed("b").as_deref(), Some("1"));
    assert!(!repo.has_staged().unwrap());
    assert_eq!(repo.modified_tracked().unwrap(), ["a", "b"]);
}

#[test]
fn names_are_marked_if_requested() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "2");
    let repo = fixture.repo();
    let options = CommitOptions { mark_author: true, mark_committer: true, ..CommitOptions::new("Marked") };
    let commit = repo.commit(repo.prepare(&paths(&["a"]), None).unwrap(), &options).unwrap();
    assert_eq!(commit.subject, "Marked");
    let tip = fixture.git.head().unwrap().peel_to_commit().unwrap();
    assert_eq!(tip.author().name().unwrap(), "Ada (rhumb)");
    assert_eq!(tip.committer().name().unwrap(), "Ada (rhumb)");
    assert_eq!(repo.subject_of_last_change("a").as_deref(), Some("Marked"));
    assert_eq!(repo.subject_of_last_change("never"), None);
}

#[test]
fn a_file_outside_of_a_sparse_checkout_is_left_out() {
    let fixture = Fixture::with(&[("a", "1"), ("far/b", "1")]);
    fixture.set_extended_flag("far/b", 1 << 14);
    fixture.put("far/b", "written all the same");
    let error = fixture.commit(&["far/b"]).unwrap_err();
    assert!(error.to_string().contains("sparse"), "{error}");
}

#[test]
fn files_that_a_sparse_checkout_omits_are_not_deleted() {
    let fixture = Fixture::with(&[("a", "1\n"), ("far/b", "1\n"), ("gone", "1\n")]);
    fixture.set_extended_flag("far/b", 1 << 14);
    fs::remove_dir_all(fixture.dir.path().join("far")).unwrap();
    fs::remove_file(fixture.dir.path().join("gone")).unwrap();
    let repo = fixture.repo();
    assert_eq!(repo.modified_tracked().unwrap(), ["gone"]);
    assert_eq!(repo.dirty_paths().unwrap().into_iter().collect::<Vec<_>>(), ["gone"]);
    assert_eq!(repo.uncommitted_changes(&paths(&["far/b", "gone"])).unwrap().whole, ["gone"]);
    let diff = repo.uncommitted_diff(&|_| true).unwrap();
    assert!(diff.contains("a/gone") && !diff.contains("far/b"), "{diff}");
}

#[test]
fn an_intent_to_add_is_committed_with_the_content_of_the_file() {
    let fixture = Fixture::with(&[("a", "1")]);
    // What `git add --intent-to-add new` leaves.
    fixture.put("new", "");
    fixture.stage("new");
    fixture.set_extended_flag("new", 1 << 13);
    fixture.put("new", "text");
    let repo = fixture.repo();
    assert!(!repo.has_staged().unwrap());
    assert!(repo.prepare_staged().unwrap().is_empty());
    let modified = repo.modified_tracked().unwrap();
    assert_eq!(modified, ["new"]);
    committed(&repo, repo.prepare(&modified, None).unwrap()).unwrap();
    assert_eq!(fixture.committed("new").as_deref(), Some("text"));
    assert!(repo.dirty_paths().unwrap().is_empty());
}
