//! Whatever the user does between writes, undos and redos, their changes are not lost, and no commit of the app contains them.

use super::*;
use crate::config::Settings;
use crate::host::commit::pending::CommitMessages;
use git2::build::CheckoutBuilder;
use git2::{IndexAddOption, Repository};
use proptest::prelude::*;
use rhumb_workspace::Direction;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

const FILES: [&str; 3] = ["a", "b", "deep/c"];
const BRANCHES: [&str; 2] = ["refs/heads/main", "refs/heads/other"];

/// A step of the user or of the app. Files are indices into [`FILES`].
#[derive(Debug, Clone, Copy)]
enum Step {
    /// A line is accepted into a file, which may be new; the user's own changes are committed first or not at all.
    Write {
        file: usize,
        own_first: bool,
    },
    /// The deletion of a file is accepted.
    Delete {
        file: usize,
        own_first: bool,
    },
    /// A file is accepted under another name.
    Rename {
        from: usize,
        to: usize,
        own_first: bool,
    },
    /// The message of the last commit arrives.
    Message,
    Undo,
    Redo,
    UserEdits(usize),
    UserDeletes(usize),
    UserStages(usize),
    UserCommits,
    UserChecksOut(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let file = || 0..FILES.len();
    prop_oneof![
        6 => (file(), any::<bool>()).prop_map(|(file, own_first)| Step::Write { file, own_first }),
        1 => (file(), any::<bool>()).prop_map(|(file, own_first)| Step::Delete { file, own_first }),
        1 => (file(), file(), any::<bool>()).prop_map(|(from, to, own_first)| Step::Rename { from, to, own_first }),
        3 => Just(Step::Message),
        4 => Just(Step::Undo),
        3 => Just(Step::Redo),
        5 => file().prop_map(Step::UserEdits),
        1 => file().prop_map(Step::UserDeletes),
        2 => file().prop_map(Step::UserStages),
        2 => Just(Step::UserCommits),
        1 => (0..BRANCHES.len()).prop_map(Step::UserChecksOut),
    ]
}

/// The expected effect of a write: each file before and after.
type Done = Vec<(String, Option<String>, Option<String>)>;

struct World {
    /// Removed with it.
    _dir: tempfile::TempDir,
    root: Root,
    journal: Journal,
    git: Repository,
    settings: Settings,
    pending: Option<PendingCommits>,
    lines: usize,
    /// The commits that the user made.
    users: BTreeSet<git2::Oid>,
    /// Writes that can be undone, and those that can be redone.
    done: Vec<Done>,
    undone: Vec<Done>,
}

/// Everything that the user could lose.
#[derive(Debug, Clone, PartialEq)]
struct Picture {
    disk: BTreeMap<String, String>,
    index: BTreeMap<String, String>,
    tips: Vec<git2::Oid>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let top = dir.path().join("root");
        fs::create_dir_all(&top).unwrap();
        fs::write(top.join("a"), "first\n").unwrap();
        fs::write(top.join("b"), "first\n").unwrap();
        rhumb_workspace::git::init(&top, "Ada", "ada@example.com", "Start").unwrap();
        let git = Repository::open(&top).unwrap();
        git.config().unwrap().set_str("core.autocrlf", "false").unwrap();
        let tip = git.head().unwrap().target().unwrap();
        git.branch("other", &git.find_commit(tip).unwrap(), false).unwrap();
        let root = Root::at(&top).unwrap();
        let journal = Journal::new(&dir.path().join("state"), &root);
        Self {
            _dir: dir,
            root,
            journal,
            git,
            settings: Settings::default(),
            pending: None,
            lines: 0,
            users: BTreeSet::from([tip]),
            done: Vec::new(),
            undone: Vec::new(),
        }
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.path().join(path)).ok()
    }

    fn picture(&self) -> Picture {
        let disk = FILES.iter().filter_map(|path| Some(((*path).to_owned(), self.text(path)?))).collect();
        let mut index = self.git.index().unwrap();
        index.read(true).unwrap();
        let blob = |id| String::from_utf8(self.git.find_blob(id).unwrap().content().to_vec()).unwrap();
        let staged = index.iter().map(|entry| (String::from_utf8(entry.path.clone()).unwrap(), blob(entry.id)));
        let tips = BRANCHES.iter().map(|name| self.git.refname_to_id(name).unwrap()).collect();
        Picture { disk, index: staged.collect(), tips }
    }

    fn new_line(&mut self, whose: char) -> String {
        self.lines += 1;
        format!("{whose}{}\n", self.lines)
    }

    /// Every line in a commit that is reachable from a branch.
    fn committed_lines(&self) -> BTreeSet<String> {
        let mut walk = self.git.revwalk().unwrap();
        BRANCHES.iter().for_each(|name| walk.push_ref(name).unwrap());
        let mut lines = BTreeSet::new();
        walk.for_each(|id| lines.extend(self.lines_of(id.unwrap())));
        lines
    }

    /// Every line in the files of a commit.
    fn lines_of(&self, commit: git2::Oid) -> BTreeSet<String> {
        let tree = self.git.find_commit(commit).unwrap().tree().unwrap();
        let mut lines = BTreeSet::new();
        for entry in FILES.iter().filter_map(|path| tree.get_path(Path::new(path)).ok()) {
            let blob = self.git.find_blob(entry.id()).unwrap();
            lines.extend(std::str::from_utf8(blob.content()).unwrap().lines().map(str::to_owned));
        }
        lines
    }

    fn flush(&mut self) {
        if let Some(pending) = self.pending.take() {
            pending.commit(CommitMessages::default(), &self.settings, "m");
        }
    }

    fn accept(&mut self, files: &[PendingWrite], own_first: bool) {
        self.flush();
        let before: Vec<_> = files.iter().map(|file| self.text(&file.path)).collect();
        let own_changes = if own_first { OwnChanges::CommitFirst } else { OwnChanges::LeaveUncommitted };
        let commit = CommitRequest { request: "Ours".into(), own_changes, ..CommitRequest::default() };
        match write(&self.root, Some(&self.journal), files, Some(&commit)) {
            Ok(WriteOutcome::Written(_, pending)) => {
                self.pending = pending.map(|pending| *pending);
                let done = files.iter().zip(before);
                let done = done.map(|(file, before)| (file.path.clone(), before, self.text(&file.path)));
                self.done.push(done.collect());
                self.undone.clear();
            }
            Ok(other) => panic!("{other:?}"),
            // A folder may have that name.
            Err(_) => {}
        }
    }

    fn pending_write(&self, path: &str, content: Option<String>) -> PendingWrite {
        let expected = self.text(path).map(Into::into);
        PendingWrite { path: path.to_owned(), expected, content, renamed_from: None }
    }

    fn undo(&mut self, direction: Direction) {
        self.flush();
        let before = self.picture();
        let result = undo(&self.root, Some(&self.journal), direction, &self.settings);
        let (from, to) = match direction {
            Direction::Undo => (&mut self.done, &mut self.undone),
            Direction::Redo => (&mut self.undone, &mut self.done),
        };
        match result {
            Ok(written) if written.paths.is_empty() => assert!(from.is_empty(), "there was something to {direction:?}"),
            Ok(_) => {
                let files = from.pop().expect("something to take back");
                to.push(files.clone());
                for (path, old, new) in files {
                    let wanted = if direction == Direction::Undo { old } else { new };
                    assert_eq!(self.text(&path), wanted, "{path} after {direction:?}");
                }
            }
            Err(_) => assert_eq!(self.picture(), before, "refused, and something changed"),
        }
    }

    fn play(&mut self, step: Step) {
        match step {
            Step::Write { file, own_first } => {
                let content = self.text(FILES[file]).unwrap_or_default() + &self.new_line('r');
                let file = self.pending_write(FILES[file], Some(content));
                self.accept(&[file], own_first);
            }
            Step::Delete { file, own_first } if self.text(FILES[file]).is_some() => {
                let file = self.pending_write(FILES[file], None);
                self.accept(&[file], own_first);
            }
            Step::Rename { from, to, own_first }
                if self.text(FILES[from]).is_some() && self.text(FILES[to]).is_none() =>
            {
                let text = self.text(FILES[from]);
                let renamed =
                    PendingWrite { renamed_from: Some(FILES[from].into()), ..self.pending_write(FILES[to], text) };
                let gone = self.pending_write(FILES[from], None);
                self.accept(&[renamed, gone], own_first);
            }
            Step::Delete { .. } | Step::Rename { .. } => {}
            Step::Message => self.flush(),
            Step::Undo => self.undo(Direction::Undo),
            Step::Redo => self.undo(Direction::Redo),
            Step::UserEdits(file) => {
                let text = self.new_line('u') + &self.text(FILES[file]).unwrap_or_default();
                let path = self.root.path().join(FILES[file]);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Step::UserDeletes(file) => drop(fs::remove_file(self.root.path().join(FILES[file]))),
            Step::UserStages(file) => {
                let mut index = self.git.index().unwrap();
                index.read(true).unwrap();
                if self.text(FILES[file]).is_some() {
                    index.add_path(Path::new(FILES[file])).unwrap();
                } else if index.get_path(Path::new(FILES[file]), 0).is_some() {
                    index.remove_path(Path::new(FILES[file])).unwrap();
                }
                index.write().unwrap();
            }
            Step::UserCommits => self.user_commits(),
            Step::UserChecksOut(branch) => {
                let mut how = CheckoutBuilder::new();
                how.safe();
                let target = self.git.revparse_single(BRANCHES[branch]).unwrap();
                // Refused if it would overwrite changes, as in git.
                if self.git.checkout_tree(&target, Some(&mut how)).is_ok() {
                    self.git.set_head(BRANCHES[branch]).unwrap();
                }
            }
        }
    }

    fn user_commits(&mut self) {
        let mut index = self.git.index().unwrap();
        index.read(true).unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
        let tree = self.git.find_tree(index.write_tree().unwrap()).unwrap();
        let parent = self.git.head().unwrap().peel_to_commit().unwrap();
        let name = self.git.signature().unwrap();
        let id = self.git.commit(Some("HEAD"), &name, &name, "Mine", &tree, &[&parent]).unwrap();
        self.users.insert(id);
    }

    /// The invariants after a step of the app.
    fn check(&self, before: &Picture, step: Step) {
        let after = self.picture();
        let committed = self.committed_lines();
        let users = |text: &str| {
            let lines: Vec<String> = text.lines().filter(|line| line.starts_with('u')).map(str::to_owned).collect();
            lines
        };
        let all = |texts: &BTreeMap<String, String>| -> BTreeSet<String> {
            texts.values().flat_map(|text| users(text)).collect()
        };
        // A deletion that the user accepted is in the journal, from which it can be restored.
        let kept: BTreeSet<String> = self
            .done
            .iter()
            .chain(&self.undone)
            .flatten()
            .flat_map(|(_, before, after)| [before, after])
            .flatten()
            .flat_map(|text| users(text))
            .collect();
        let deletes = !matches!(step, Step::Write { .. } | Step::Message);
        for line in all(&before.disk).difference(&all(&after.disk)) {
            let saved = committed.contains(line) || (deletes && kept.contains(line));
            assert!(saved, "{line} was on disk before {step:?} and is lost");
        }
        // The commit of a moved file contains the user's uncommitted lines. After it is dropped, they are only on disk again.
        let dropped: BTreeSet<String> = before
            .tips
            .iter()
            .zip(&after.tips)
            .filter(|(old, new)| self.parent(**old) == Some(**new))
            .flat_map(|(old, _)| self.lines_of(*old))
            .filter(|line| all(&after.disk).contains(line))
            .collect();
        for line in all(&before.index) {
            let saved = [&all(&after.index), &committed, &dropped].iter().any(|lines| lines.contains(&line));
            assert!(saved, "{line} was staged before {step:?} and is lost");
        }
        for (old, new) in before.tips.iter().zip(&after.tips) {
            if matches!(step, Step::Undo) && self.parent(*old) == Some(*new) {
                self.check_dropped(*old, &committed, &kept);
                continue;
            }
            let follows = old == new || self.git.graph_descendant_of(*new, *old).unwrap();
            assert!(follows, "a branch moved back");
            self.check_commits(*old, *new);
        }
    }

    fn parent(&self, id: git2::Oid) -> Option<git2::Oid> {
        self.git.find_commit(id).unwrap().parent_id(0).ok()
    }

    /// A dropped commit was made by the app, and no line of the user was only in it.
    fn check_dropped(&self, id: git2::Oid, committed: &BTreeSet<String>, kept: &BTreeSet<String>) {
        let commit = self.git.find_commit(id).unwrap();
        let is_own_changes = commit.message().is_ok_and(|message| message.starts_with("Own changes to"));
        assert!(!self.users.contains(&id) && !is_own_changes, "a commit of the user's was dropped");
        for line in self.lines_of(id).iter().filter(|line| line.starts_with('u')) {
            assert!(committed.contains(line) || kept.contains(line), "{line} was only in the dropped commit");
        }
    }

    /// The commits of accepted lines contain no lines of the user, except for moves of whole files.
    fn check_commits(&self, old: git2::Oid, new: git2::Oid) {
        let mut walk = self.git.revwalk().unwrap();
        walk.push(new).unwrap();
        walk.hide(old).unwrap();
        for id in walk {
            let commit = self.git.find_commit(id.unwrap()).unwrap();
            if !is_accepted(&commit) {
                continue;
            }
            let (tree, parent) = (commit.tree().unwrap(), commit.parent(0).unwrap().tree().unwrap());
            let diff = self.git.diff_tree_to_tree(Some(&parent), Some(&tree), None).unwrap();
            let is_whole = |delta: git2::DiffDelta<'_>| delta.status() != git2::Delta::Modified;
            if diff.deltas().any(is_whole) {
                continue;
            }
            let look = |_: git2::DiffDelta<'_>, _: Option<git2::DiffHunk<'_>>, line: git2::DiffLine<'_>| {
                let text = String::from_utf8_lossy(line.content()).into_owned();
                let changed = matches!(line.origin(), '+' | '-');
                assert!(!(changed && text.starts_with('u')), "{text} went into a commit of ours");
                true
            };
            diff.print(git2::DiffFormat::Patch, look).unwrap();
        }
    }
}

/// Whether it is a commit of accepted hunks: their request is its body.
fn is_accepted(commit: &git2::Commit<'_>) -> bool {
    commit.message().is_ok_and(|message| message.contains("\n\nOurs\n"))
}

fn is_ours(step: Step) -> bool {
    matches!(
        step,
        Step::Write { .. } | Step::Delete { .. } | Step::Rename { .. } | Step::Message | Step::Undo | Step::Redo
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 400, ..ProptestConfig::default() })]
    #[test]
    fn nothing_of_the_users_is_lost(steps in proptest::collection::vec(step(), 1..20)) {
        let mut world = World::new();
        for step in steps {
            let before = world.picture();
            world.play(step);
            if is_ours(step) {
                world.check(&before, step);
            }
        }
    }
}
