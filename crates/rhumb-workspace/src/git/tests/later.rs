//! What was taken is committed later: whatever happens in between is somebody's work.

use super::*;
use crate::ContentHash;

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn committed(repo: &Repo, taken: Taken) -> Result<Commit, GitError> {
    repo.commit(taken, &Manner::plain("Ours"))
}

#[test]
fn what_is_typed_after_it_was_taken_is_not_committed_and_stays() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1")]);
    fixture.put("a", "ours");
    let repo = fixture.repo();
    let taken = repo.take(&paths(&["a"]), None).unwrap();
    fixture.put("a", "ours, and mine");
    fixture.put("b", "staged");
    fixture.stage("b");
    committed(&repo, taken).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("ours"));
    assert_eq!(fs::read_to_string(fixture.dir.path().join("a")).unwrap(), "ours, and mine");
    assert_eq!(fixture.staged("b").as_deref(), Some("staged"));
    assert_eq!(repo.own_changes(&paths(&["a", "b"])).unwrap().whole, ["a", "b"]);
}

#[test]
fn what_is_staged_after_it_was_taken_stays_staged() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "ours");
    let repo = fixture.repo();
    let taken = repo.take(&paths(&["a"]), None).unwrap();
    fixture.put("a", "mine");
    fixture.stage("a");
    committed(&repo, taken).unwrap();
    assert_eq!((fixture.committed("a").as_deref(), fixture.staged("a").as_deref()), (Some("ours"), Some("mine")));
}

#[test]
fn a_file_that_the_user_committed_meanwhile_is_left_as_it_is() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1")]);
    fixture.put("a", "ours");
    fixture.put("b", "ours");
    let repo = fixture.repo();
    let taken = repo.take(&paths(&["a", "b"]), None).unwrap();
    let alone = repo.take(&paths(&["a"]), None).unwrap();
    fixture.put("a", "ours and mine");
    fixture.commit(&["a"]).unwrap();
    let commit = committed(&repo, taken).unwrap();
    assert_eq!(commit.overtaken, ["a"]);
    assert_eq!(fixture.committed("a").as_deref(), Some("ours and mine"));
    assert_eq!(fixture.committed("b").as_deref(), Some("ours"));
    assert!(matches!(committed(&repo, alone), Err(GitError::Overtaken { .. })));
}

#[test]
fn nothing_lands_on_a_branch_that_was_checked_out_meanwhile() {
    let fixture = Fixture::with(&[("a", "1")]);
    let tip = fixture.git.find_commit(fixture.tip().unwrap()).unwrap();
    fixture.git.branch("other", &tip, false).unwrap();
    fixture.put("a", "ours");
    let repo = fixture.repo();
    let taken = repo.take(&paths(&["a"]), None).unwrap();
    fixture.git.set_head("refs/heads/other").unwrap();
    assert!(matches!(committed(&repo, taken), Err(GitError::Moved)));
    assert_eq!(fixture.tip(), Some(tip.id()));
}

#[test]
fn the_users_own_changes_come_first_and_ours_on_top_of_them() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "mine");
    fixture.put("new", "mine");
    let repo = fixture.repo();
    let all = paths(&["a", "new"]);
    let own = repo.take(&all, None).unwrap();
    fixture.put("a", "mine and ours");
    fixture.put("new", "mine and ours");
    let ours = repo.take(&all, Some(&own)).unwrap();
    let texts: String = repo.patches(&ours, Some(&own)).unwrap().into_iter().map(|patch| patch.text).collect();
    assert!(texts.contains("-mine\n") && texts.contains("+mine and ours\n") && !texts.contains("\n-1\n"), "{texts}");
    committed(&repo, own).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("mine"));
    committed(&repo, ours).unwrap();
    assert_eq!(fixture.committed("new").as_deref(), Some("mine and ours"));
    assert!(repo.dirty_paths().unwrap().is_empty());
}

#[test]
fn a_path_that_cannot_be_committed_does_not_hold_up_the_others() {
    let fixture = Fixture::with(&[("a", "1"), (".gitattributes", "*.bin filter=lfs\n")]);
    fixture.put("a", "2");
    fixture.put("x.bin", "2");
    let repo = fixture.repo();
    let commit = committed(&repo, repo.take(&paths(&["a", "x.bin"]), None).unwrap()).unwrap();
    assert!(commit.refused[0].contains("x.bin"), "{commit:?}");
    assert_eq!(fixture.committed("a").as_deref(), Some("2"));
}

#[test]
fn what_somebody_else_wrote_since_is_not_taken_for_ours() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")]);
    let written = |path: &str, text: &str| (path.to_owned(), Some(ContentHash::of(text.as_bytes())));
    let files = [written("a", "2"), written("b", "2"), written("c", "2"), ("d".to_owned(), None), written("e", "2")];
    fixture.put("a", "2");
    fixture.put("b", "2, and a line of theirs");
    fs::remove_file(fixture.dir.path().join("c")).unwrap();
    std::os::unix::fs::symlink("a", fixture.dir.path().join("e")).unwrap();
    let repo = fixture.repo();
    let taken = repo.take_written(&files, None).unwrap();
    let refused: Vec<String> = taken.refused.iter().map(ToString::to_string).collect();
    assert!(refused.len() == 4 && refused.iter().all(|it| it.contains("changed by another program")), "{refused:?}");
    let paths: Vec<String> = repo.texts(&taken).into_iter().map(|file| file.path).collect();
    assert_eq!(paths, ["a"]);
    committed(&repo, taken).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("2"));
    assert_eq!(fixture.committed("b").as_deref(), Some("1"));
}

#[test]
fn the_texts_of_a_commit_name_renames_and_leave_out_what_stays() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "same"), ("old", "moved"), ("bin", "1")]);
    fixture.put("a", "2");
    fixture.put("new", "moved");
    fs::write(fixture.dir.path().join("bin"), [0xff, 0xfe]).unwrap();
    fs::remove_file(fixture.dir.path().join("old")).unwrap();
    let repo = fixture.repo();
    let texts = repo.texts(&repo.take(&paths(&["a", "b", "bin", "new", "old"]), None).unwrap());
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
fn a_partly_staged_file_is_told_apart() {
    let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("c", "1"), (".gitignore", "*.log\n")]);
    fixture.put("a", "2");
    fixture.stage("a");
    fixture.put("b", "2");
    fixture.stage("b");
    fixture.put("b", "3");
    fixture.put("d", "untracked");
    fixture.put("x.log", "ignored");
    let own = fixture.repo().own_changes(&paths(&["a", "b", "c", "d", "x.log"])).unwrap();
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
    committed(&repo, repo.take_staged().unwrap()).unwrap();
    assert_eq!(fixture.committed("a").as_deref(), Some("staged"));
    assert_eq!(fixture.committed("gone"), None);
    assert_eq!(fixture.committed("b").as_deref(), Some("1"));
    assert!(!repo.has_staged().unwrap());
    assert_eq!(repo.changed_tracked().unwrap(), ["a", "b"]);
}

#[test]
fn names_tell_of_the_program_where_that_is_wanted() {
    let fixture = Fixture::with(&[("a", "1")]);
    fixture.put("a", "2");
    let repo = fixture.repo();
    let manner = Manner { mark_author: true, mark_committer: true, ..Manner::plain("Marked") };
    let commit = repo.commit(repo.take(&paths(&["a"]), None).unwrap(), &manner).unwrap();
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
    let mut index = fixture.git.index().unwrap();
    index.read(true).unwrap();
    let mut entry = index.get_path(Path::new("far/b"), 0).unwrap();
    entry.flags |= 1 << 14;
    entry.flags_extended |= 1 << 14;
    index.add(&entry).unwrap();
    index.write().unwrap();
    fixture.put("far/b", "written all the same");
    let error = fixture.commit(&["far/b"]).unwrap_err();
    assert!(error.to_string().contains("sparse"), "{error}");
}
