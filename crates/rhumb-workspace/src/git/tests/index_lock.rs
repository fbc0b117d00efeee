//! Commits whose process died, as far as it had come.

use super::*;

/// A repository in which the branch has moved to a second commit and the index has not, as after a kill.
struct Killed {
    fixture: Fixture,
    from: git2::Oid,
    to: git2::Oid,
}

const RECORD: &str = "rhumb-commit-dead01";

impl Killed {
    fn new() -> Self {
        let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("gone", "1")]);
        let from = fixture.tip().unwrap();
        fixture.put("a", "2");
        fixture.put("new", "1");
        fs::remove_file(fixture.dir.path().join("gone")).unwrap();
        let index = fs::read(fixture.git.path().join("index")).unwrap();
        fixture.commit(&["a", "new", "gone"]).unwrap();
        let to = fixture.tip().unwrap();
        fs::write(fixture.git.path().join("index"), index).unwrap();
        assert_eq!(fixture.staged("a").as_deref(), Some("1"), "the reverse of the commit is staged");
        // What the user has staged since.
        fixture.put("b", "mine");
        fixture.stage("b");
        Self { fixture, from, to }
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.fixture.git.path().join(name), text).unwrap();
    }

    fn record(&self) -> String {
        format!("{RECORD}\nfrom {}\nto {}\n", self.from, self.to)
    }

    /// The names of lock files and records.
    fn left(&self) -> Vec<String> {
        let mut left = Vec::new();
        for folder in ["", "refs/heads"] {
            let files = fs::read_dir(self.fixture.git.path().join(folder)).unwrap();
            let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
            left.extend(names.filter(|name| name.ends_with(".lock") || name.starts_with("rhumb-")));
        }
        left.sort();
        left
    }

    fn assert_followed(&self) {
        let git = &self.fixture;
        assert_eq!((git.staged("a").as_deref(), git.staged("new").as_deref()), (Some("2"), Some("1")));
        assert_eq!((git.staged("gone"), git.staged("b").as_deref()), (None, Some("mine")));
        assert_eq!(self.left(), [""; 0]);
    }
}

#[test]
fn where_the_branch_has_moved_the_index_follows() {
    let without_id = |killed: &Killed| format!("{RECORD}\nfrom {}\n", killed.from);
    for text in [Killed::record, without_id] {
        let killed = Killed::new();
        let text = text(&killed);
        killed.put(RECORD, &text);
        killed.put("index.lock", &text);
        killed.put(&format!("{RECORD}.index"), "cut sh");
        let done = killed.fixture.repo().finish_interrupted_commits();
        let [commit] = done.as_slice() else { panic!("{done:?}") };
        assert_eq!((commit.subject.as_str(), &commit.failed), ("Change things", &None));
        killed.assert_followed();
        assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
    }
}

#[test]
fn a_lock_that_somebody_removed_is_no_reason_to_leave_the_index_behind() {
    let killed = Killed::new();
    killed.put(RECORD, &killed.record());
    assert_eq!(killed.fixture.repo().finish_interrupted_commits().len(), 1);
    killed.assert_followed();
}

#[test]
fn the_next_commit_sees_to_an_interrupted_one() {
    let killed = Killed::new();
    killed.put(RECORD, &killed.record());
    killed.put("index.lock", &killed.record());
    killed.fixture.put("a", "3");
    killed.fixture.commit(&["a"]).unwrap();
    assert_eq!((killed.fixture.staged("a").as_deref(), killed.fixture.staged("gone")), (Some("3"), None));
    assert_eq!(killed.left(), [""; 0]);
}

#[test]
fn where_the_branch_has_not_moved_the_locks_go_and_nothing_else() {
    for (branch_lock, stays) in [(None, false), (Some(""), false), (Some("to"), false), (Some("another"), true)] {
        let killed = Killed::new();
        killed.fixture.git.reference("refs/heads/main", killed.from, true, "back").unwrap();
        killed.put(RECORD, &killed.record());
        killed.put("index.lock", RECORD);
        if let Some(text) = branch_lock {
            let text = if text == "to" { format!("{}\n", killed.to) } else { text.to_owned() };
            killed.put("refs/heads/main.lock", &text);
        }
        let index = fs::read(killed.fixture.git.path().join("index")).unwrap();
        assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
        assert_eq!(fs::read(killed.fixture.git.path().join("index")).unwrap(), index);
        assert_eq!(killed.left().as_slice(), if stays { &["main.lock"][..] } else { &[] }, "{branch_lock:?}");
    }
}

#[test]
fn the_lock_of_another_process_is_left_alone() {
    let killed = Killed::new();
    killed.put(RECORD, &killed.record());
    killed.put("index.lock", "");
    assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
    assert_eq!(killed.left(), ["index.lock", RECORD]);
    fs::remove_file(killed.fixture.git.path().join("index.lock")).unwrap();
    assert_eq!(killed.fixture.repo().finish_interrupted_commits().len(), 1);
    killed.assert_followed();

    // A process that lives holds its record.
    let killed = Killed::new();
    let repo = killed.fixture.repo();
    let held = repo.lock_index().unwrap();
    assert_eq!(killed.fixture.repo().finish_interrupted_commits(), []);
    assert!(matches!(killed.fixture.repo().lock_index(), Err(GitError::Locked { .. })));
    drop(held);
    assert_eq!(killed.left(), [""; 0]);
}

#[test]
fn a_record_that_says_nothing_goes_without_the_lock_of_another() {
    for text in ["", "\n", "rhumb", "\0\u{fffd}"] {
        let killed = Killed::new();
        killed.put(RECORD, text);
        killed.put("index.lock", "");
        assert_eq!(killed.fixture.repo().finish_interrupted_commits(), [], "{text:?}");
        assert_eq!(killed.left(), ["index.lock"], "{text:?}");
    }
}
