//! Tests of the journal: after a crash at any step all files are old or all are new, and writes can be undone.

use super::*;
use crate::fault::{FAULT_AFTER, Fault, IN_PLACE};
use crate::{FileWrite, Written, write};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};

/// A root with a journal next to it.
struct World {
    dir: tempfile::TempDir,
    root: Root,
    journal: Journal,
}

/// Content and mode of every file and folder.
type Picture = BTreeMap<String, (Vec<u8>, u32)>;

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        // In memory if possible: hundreds of writes are killed, and each of them syncs files.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        for (path, text) in files {
            let path = dir.path().join("root").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self::at(dir)
    }

    fn at(dir: tempfile::TempDir) -> Self {
        let (root, journal) = opened(dir.path());
        Self { dir, root, journal }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, writes: &[FileWrite]) -> Result<Written, WriteError> {
        write(&self.root, Some(&self.journal), writes, Some("change"))
    }

    fn undo(&self) -> Result<Vec<String>, WriteError> {
        undo(&self.root, &self.journal, Direction::Undo).map(|done| done.paths)
    }

    fn redo(&self) -> Result<Vec<String>, WriteError> {
        undo(&self.root, &self.journal, Direction::Redo).map(|done| done.paths)
    }

    /// Recovers unfinished writes like the next write would. Waits for the lock, which a child process of another
    /// test may hold for a moment.
    fn recover_write(&self) -> Vec<Recovered> {
        let locked = self.journal.lock().unwrap();
        recover_unfinished(&self.root, &locked)
    }

    fn stages(&self) -> Vec<String> {
        self.journal.entries().unwrap().iter().map(|entry| entry.state.to_string()).collect()
    }

    /// The temporary file of `name` in the newest record.
    fn temp_of(&self, name: &str) -> PathBuf {
        let newest = *self.journal.entries().unwrap().last().unwrap();
        let bytes = fs::read(self.journal.path(newest)).unwrap();
        // The record may be damaged or of another version.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (_, after) = text.split_once(&format!(r#""path":"{name}","temp":""#)).unwrap();
        self.path(after.split('"').next().unwrap())
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        let mut open = vec![self.root.path().to_owned()];
        while let Some(folder) = open.pop() {
            for path in files_in(&folder) {
                let meta = fs::symlink_metadata(&path).unwrap();
                let bytes = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                let name = path.strip_prefix(self.root.path()).unwrap().to_str().unwrap().to_owned();
                picture.insert(name, (bytes, meta.mode()));
                if meta.is_dir() {
                    open.push(path);
                }
            }
        }
        picture
    }
}

fn opened(dir: &Path) -> (Root, Journal) {
    let root = Root::at(&dir.join("root")).unwrap();
    let journal = Journal::new(&dir.join("state"), &root);
    (root, journal)
}

fn change(path: &str, old: Option<&str>, new: Option<&str>) -> FileWrite {
    FileWrite {
        path: path.to_owned(),
        expected: old.map(Into::into),
        content: new.map(str::to_owned),
        renamed_from: None,
    }
}

#[test]
fn a_write_is_undone_and_redone_byte_for_byte() {
    let world = World::new(&[("a", "one\r\n"), ("run.sh", "old"), ("gone", "bye")]);
    fs::write(world.path("b"), b"\xff\xfeb\0").unwrap();
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(world.path("gone"), fs::Permissions::from_mode(0o750)).unwrap();
    let old = world.picture();
    let renamed = FileWrite { renamed_from: Some("run.sh".into()), ..change("bin/go.sh", None, Some("new")) };
    let set = [
        change("a", Some("one\r\n"), Some("two\r\n")),
        change("b", Some("b"), Some("é")),
        change("gone", Some("bye"), None),
        renamed,
        change("run.sh", Some("old"), None),
        change("deep/er/new", None, Some("n")),
    ];
    world.write(&set).unwrap();
    let new = world.picture();
    assert_eq!(world.undo().unwrap(), ["a", "b", "gone", "bin/go.sh", "run.sh", "deep/er/new"]);
    assert_eq!(world.picture(), old);
    assert_eq!(world.redo().unwrap().len(), 6);
    assert_eq!(world.picture(), new);
    assert!(world.redo().unwrap().is_empty(), "there is nothing left to do again");
}

#[test]
fn permission_bits_changed_since_are_kept() {
    let world = World::new(&[("run.sh", "old")]);
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
    world.write(&[change("run.sh", Some("old"), Some("new"))]).unwrap();
    fs::set_permissions(world.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    world.undo().unwrap();
    assert_eq!(world.text("run.sh"), "old");
    assert_eq!(fs::metadata(world.path("run.sh")).unwrap().mode() & 0o777, 0o755);
}

#[test]
fn changes_of_several_writes_are_combined_by_file() {
    let world = World::new(&[("a", "1\r\n"), ("b", "1")]);
    world.write(&[change("a", Some("1\r\n"), Some("2\r\n"))]).unwrap();
    let newest = world.journal.newest();
    assert_eq!(newest, 1);
    assert!(world.journal.changes_after(newest).is_empty());
    world.write(&[change("a", Some("2\r\n"), Some("3\r\n")), change("c", None, Some("c"))]).unwrap();
    world.write(&[change("a", Some("3\r\n"), Some("4\r\n")), change("c", Some("c"), None)]).unwrap();
    world.write(&[change("b", Some("1"), Some("2"))]).unwrap();
    world.undo().unwrap();
    let told = world.journal.changes_after(newest);
    let (before, after) = (Some("2\r\n".to_owned()), Some("4\r\n".to_owned()));
    assert_eq!(told, [FileChange { path: "a".into(), before, after }]);
}

#[test]
fn writes_are_undone_in_reverse_order_and_a_new_write_clears_the_redo_list() {
    let world = World::new(&[("a", "1")]);
    world.write(&[change("a", Some("1"), Some("2"))]).unwrap();
    world.write(&[change("a", Some("2"), Some("3"))]).unwrap();
    world.write(&[change("b", None, Some("b"))]).unwrap();
    assert_eq!(world.undo().unwrap(), ["b"]);
    assert_eq!(world.undo().unwrap(), ["a"]);
    assert_eq!(world.text("a"), "2");
    assert_eq!(world.redo().unwrap(), ["a"]);
    assert_eq!(world.text("a"), "3");
    world.write(&[change("c", None, Some("c"))]).unwrap();
    assert!(world.redo().unwrap().is_empty());
    for expected in [["c"], ["a"], ["a"]] {
        assert_eq!(world.undo().unwrap(), expected);
    }
    assert!(world.undo().unwrap().is_empty());
    assert_eq!(world.text("a"), "1");
}

#[test]
fn changed_files_are_reported_and_nothing_is_undone() {
    let world = World::new(&[("a", "1"), ("b", "1"), ("c", "1")]);
    let set = ["a", "b", "c"].map(|path| change(path, Some("1"), Some("2")));
    world.write(&set).unwrap();
    fs::write(world.path("a"), "mine").unwrap();
    fs::remove_file(world.path("c")).unwrap();
    let error = world.undo().unwrap_err();
    assert!(matches!(&error, WriteError::ChangedSince(paths) if paths == &["a", "c"]), "{error}");
    assert_eq!((world.text("a"), world.text("b")), ("mine".into(), "2".into()));
    fs::write(world.path("a"), "2").unwrap();
    fs::write(world.path("c"), "2").unwrap();
    world.undo().unwrap();
    assert_eq!(world.text("c"), "1");
}

#[test]
fn the_journal_is_private_and_outside_of_the_root() {
    let world = World::new(&[("a", "1")]);
    world.write(&[change("a", Some("1"), Some("2"))]).unwrap();
    assert_eq!(world.picture().len(), 1);
    assert_eq!(fs::metadata(&world.journal.folder).unwrap().mode() & 0o777, 0o700);
    for file in files_in(&world.journal.folder) {
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn the_oldest_writes_are_removed() {
    let world = World::new(&[("a", "0")]);
    for n in 0..MAX_WRITES + 3 {
        world.write(&[change("a", Some(&n.to_string()), Some(&(n + 1).to_string()))]).unwrap();
    }
    let numbers: Vec<u64> = world.journal.entries().unwrap().iter().map(|entry| entry.number).collect();
    assert_eq!(numbers, (4..=MAX_WRITES as u64 + 3).collect::<Vec<_>>());
}

#[test]
fn the_journal_of_an_unused_root_is_removed() {
    let world = World::new(&[("a", "1")]);
    let all = world.journal.folder.parent().unwrap().to_owned();
    let long_ago = SystemTime::now() - MAX_UNUSED - Duration::from_secs(1);
    let rows = [("old", "lock", long_ago), ("young", "lock", SystemTime::now()), ("open", "lock", long_ago)];
    for (name, file, moment) in rows.into_iter().chain([("open", "0000000001.doing", long_ago)]) {
        fs::create_dir_all(all.join(name)).unwrap();
        fs::write(all.join(name).join(file), "").unwrap();
        File::options().write(true).open(all.join(name).join(file)).unwrap().set_modified(moment).unwrap();
    }
    world.write(&[change("a", Some("1"), Some("2"))]).unwrap();
    assert!(!all.join("old").exists());
    assert!(all.join("young").exists());
    assert!(all.join("open").exists(), "a write that has not come to its end is kept until someone is told");
}

#[test]
fn nothing_is_written_if_the_journal_cannot_record_it() {
    let world = World::new(&[("a", "1")]);
    fs::write(world.dir.path().join("state"), "a file").unwrap();
    let set = [change("a", Some("1"), Some("2"))];
    let refused =
        |result| matches!(result, Err(WriteError::NotRecorded(source)) if source.to_string().contains("state"));
    assert!(refused(world.write(&set).map(drop)));
    assert!(refused(crate::check_write(&world.root, Some(&world.journal), &set)));
    assert_eq!(world.text("a"), "1");
    assert!(matches!(world.write(&[change("a", Some("0"), Some("2"))]), Err(WriteError::Stale { .. })));
    write(&world.root, None, &set, None).unwrap();
    assert_eq!(world.text("a"), "2");
}

#[test]
fn checking_a_write_leaves_no_record() {
    let world = World::new(&[("a", "1")]);
    let set = [change("a", Some("1"), Some("2")), change("n/b", None, Some("2"))];
    let picture = world.picture();
    crate::check_write(&world.root, Some(&world.journal), &set).unwrap();
    assert!(world.stages().is_empty() && world.picture() == picture);
    assert!(recover(&world.root, &world.journal).is_empty());
}

#[test]
fn a_full_disk_at_any_step_leaves_the_files_old_or_new() {
    for step in 0.. {
        let world = World::new(&[("a", "1"), ("b", "1")]);
        let set = [change("a", Some("1"), Some("2")), change("n/b", None, Some("2"))];
        let old = world.picture();
        FAULT_AFTER.with(|fault| fault.set(Some((step, Fault::Full))));
        let outcome = world.write(&set);
        if FAULT_AFTER.with(|fault| fault.take()).is_some() {
            assert!(step > 15, "the sweep saw only {step} steps");
            break;
        }
        match outcome {
            Ok(written) => {
                assert_eq!((world.text("a"), world.text("n/b")), ("2".into(), "2".into()));
                // A missing end mark is found by the next recovery.
                let is_unfinished = world.stages() == ["doing"];
                assert!(!is_unfinished || written.journal_warning.is_some(), "step {step}");
                assert_eq!(recover(&world.root, &world.journal).len(), usize::from(is_unfinished), "step {step}");
                assert_eq!(world.undo().unwrap(), ["a", "n/b"], "step {step}");
            }
            Err(_) => {
                assert_eq!(world.picture(), old, "step {step}");
                assert!(world.stages().is_empty(), "step {step}");
            }
        }
    }
}

#[test]
fn leftovers_on_a_broken_disk_are_reported_and_removed_later() {
    let mut littered = false;
    for step in 0.. {
        let world = World::new(&[("a", "1"), ("b", "1")]);
        let set = [change("a", Some("1"), Some("2")), change("n/b", None, Some("2")), change("b", Some("1"), None)];
        let old = world.picture();
        FAULT_AFTER.with(|fault| fault.set(Some((step, Fault::Broken))));
        let outcome = world.write(&set);
        let reached = FAULT_AFTER.with(|fault| fault.take()).is_some_and(|(left, _)| left == 0);
        if !reached {
            assert!(step > 20, "the sweep saw only {step} steps");
            break;
        }
        let as_before = world.picture() == old;
        match &outcome {
            Ok(_) => assert_eq!((world.text("a"), world.text("n/b")), ("2".into(), "2".into())),
            Err(error) if error.needs_cleanup() => littered |= matches!(error, WriteError::Leftovers { .. }),
            Err(_) => assert!(as_before, "step {step}: {outcome:?}"),
        }
        let told = world.recover_write();
        // If marking failed, both directions are allowed.
        let picture = world.picture();
        let is_new = picture.keys().eq(["a", "n", "n/b"]) && world.text("a") == "2";
        assert!(picture == old || is_new, "step {step}: {outcome:?}, {told:?}, {picture:?}");
        assert!(outcome.is_err() || world.text("a") == "2", "step {step}");
        assert!(world.journal.entries().unwrap().iter().all(|entry| !entry.is_unfinished()), "step {step}");
    }
    assert!(littered);
}

#[test]
fn a_write_waits_for_another_process() {
    let world = World::new(&[("a", "1")]);
    let locked = world.journal.lock().unwrap();
    assert!(recover(&world.root, &world.journal).is_empty());
    let set = [change("a", Some("1"), Some("2"))];
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| world.write(&set));
        std::thread::sleep(LOCK_POLL_INTERVAL * 3);
        assert_eq!(world.text("a"), "1");
        drop(locked);
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(world.text("a"), "2");
}

/// Changes one byte of a file.
fn damage(path: &Path, at: usize, to: u8) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] = to;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_record_of_a_half_written_set_is_reported_and_kept() {
    let world = half_written();
    let path = world.journal.path(world.journal.entries().unwrap()[0]);
    damage(&path, fs::metadata(&path).unwrap().len() as usize - 1, b'x');
    let record = fs::read(&path).unwrap();
    let picture = world.picture();
    let told = recover(&world.root, &world.journal);
    let [Recovered { paths, outcome: Recovery::Damaged(kept), .. }] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&paths[..], fs::read(kept).unwrap()), (&["a".to_owned(), "b".to_owned()][..], record));
    assert_eq!(world.picture(), picture);
    assert!(recover(&world.root, &world.journal).is_empty(), "it is told once");
    // Its number is not reused, so another damaged record gets a different name.
    world.write(&[change("c", None, Some("c"))]).unwrap();
    assert_eq!(world.journal.newest(), 2);
    assert!(kept.exists());
}

#[test]
fn a_record_of_another_version_is_reported_and_kept() {
    let world = half_written();
    let path = world.journal.path(world.journal.entries().unwrap()[0]);
    damage(&path, 7, b'2');
    for _ in 0..2 {
        let told = recover(&world.root, &world.journal);
        assert!(
            matches!(&told[..], [Recovered { outcome: Recovery::OtherVersion(at), .. }] if *at == path),
            "{told:?}"
        );
    }
    assert!(path.exists() && world.temp_of("b").exists());
}

#[test]
fn a_damaged_record_does_not_block_the_undo_of_earlier_writes() {
    let world = World::new(&[("a", "1")]);
    world.write(&[change("a", Some("1"), Some("2"))]).unwrap();
    world.write(&[change("b", None, Some("b"))]).unwrap();
    let path = world.journal.path(world.journal.entries().unwrap()[1]);
    damage(&path, fs::metadata(&path).unwrap().len() as usize - 1, b'x');
    let error = world.undo().unwrap_err();
    assert!(matches!(&error, WriteError::DamagedRecord(kept) if kept.exists()), "{error}");
    assert_eq!((world.text("a"), world.text("b")), ("2".into(), "b".into()));
    assert_eq!(world.undo().unwrap(), ["a"]);
    damage(&world.journal.path(world.journal.entries().unwrap()[0]), 7, b'2');
    assert!(matches!(world.redo(), Err(WriteError::NewerRecord(record)) if record.exists()));
}

/// A write of two files that was killed after the first rename.
fn half_written() -> World {
    let world = World::new(&[("a", "1"), ("b", "1")]);
    world.write(&[change("a", Some("1"), Some("2")), change("b", Some("1"), Some("2"))]).unwrap();
    let entry = world.journal.entries().unwrap()[0];
    fs::rename(world.journal.path(entry), world.journal.path(JournalEntry { state: RecordState::Doing, ..entry }))
        .unwrap();
    fs::write(world.path("b"), "1").unwrap();
    fs::write(world.temp_of("b"), "2").unwrap();
    world
}

#[test]
fn a_half_written_set_is_finished() {
    let world = half_written();
    let told = recover(&world.root, &world.journal);
    let paths = vec!["a".to_owned(), "b".to_owned()];
    assert_eq!((told.len(), &told[0].paths, &told[0].outcome), (1, &paths, &Recovery::Finished));
    assert!(told[0].externally_changed.is_empty() && told[0].other_root.is_none() && told[0].to_commit);
    assert_eq!((world.text("a"), world.text("b")), ("2".into(), "2".into()));
    assert!(recover(&world.root, &world.journal).is_empty());
    world.undo().unwrap();
    assert_eq!((world.text("a"), world.text("b")), ("1".into(), "1".into()));
}

#[test]
fn a_half_written_set_is_finished_from_a_root_above_and_reported_from_one_below() {
    let world = half_written();
    fs::create_dir_all(world.path("deep")).unwrap();
    let state = world.dir.path().join("state");
    let seen_from = |folder: &Path| {
        let root = Root::at(folder).unwrap();
        recover(&root, &Journal::new(&state, &root))
    };
    let picture = world.picture();
    let told = seen_from(&world.path("deep"));
    assert_eq!(
        (told.len(), &told[0].outcome, &told[0].paths[..]),
        (1, &Recovery::InParentRoot, &["a".into(), "b".into()][..])
    );
    assert_eq!((told[0].other_root.as_deref(), world.picture()), (Some(world.root.path()), picture));
    // A root that is neither above nor below sees nothing.
    fs::create_dir(world.dir.path().join("roots")).unwrap();
    assert!(seen_from(&world.dir.path().join("roots")).is_empty());
    let told = seen_from(world.dir.path());
    assert_eq!((&told[0].outcome, told[0].other_root.as_deref()), (&Recovery::Finished, Some(world.root.path())));
    assert_eq!((world.text("a"), world.text("b")), ("2".into(), "2".into()));
    assert!(seen_from(world.dir.path()).is_empty());
}

#[test]
fn a_half_written_set_is_rolled_back_except_for_an_externally_changed_file() {
    let world = half_written();
    fs::write(world.path("b"), "mine").unwrap();
    let told = world.write(&[change("c", None, Some("c"))]).unwrap().recovered;
    assert_eq!(told[0].outcome, Recovery::RolledBack);
    assert_eq!(told[0].externally_changed, ["b"]);
    assert_eq!((world.text("a"), world.text("b"), world.text("c")), ("1".into(), "mine".into(), "c".into()));
}

#[test]
fn a_complete_write_without_an_end_mark_is_kept_even_if_files_changed_since() {
    let world = World::new(&[("a", "1"), ("b", "1"), ("gone", "1")]);
    let set = [
        change("a", Some("1"), Some("2")),
        change("b", Some("1"), Some("2")),
        change("n/new", None, Some("n")),
        change("gone", Some("1"), None),
    ];
    let set_open = || {
        let entry = world.journal.entries().unwrap()[0];
        fs::rename(world.journal.path(entry), world.journal.path(JournalEntry { state: RecordState::Doing, ..entry }))
            .unwrap();
    };
    world.write(&set).unwrap();
    set_open();
    assert_eq!(recover(&world.root, &world.journal)[0].outcome, Recovery::AlreadyComplete);
    set_open();
    fs::write(world.path("a"), "2, and a line of mine").unwrap();
    let picture = world.picture();
    let told = recover(&world.root, &world.journal);
    assert_eq!(
        (&told[0].outcome, &told[0].externally_changed[..]),
        (&Recovery::AlreadyComplete, &["a".to_owned()][..])
    );
    assert_eq!(world.picture(), picture);
    assert_eq!(world.stages(), ["done"]);
}

#[test]
fn a_rollback_continues_whatever_fails() {
    for step in 0.. {
        let world = half_written();
        fs::write(world.path("b"), "mine").unwrap();
        FAULT_AFTER.with(|fault| fault.set(Some((step, Fault::Full))));
        let first = world.recover_write();
        let failed = FAULT_AFTER.with(|fault| fault.take()).is_none();
        world.recover_write();
        assert_eq!((world.text("a"), world.text("b")), ("1".into(), "mine".into()), "step {step}: {first:?}");
        assert!(!world.picture().keys().any(|name| name.contains(".rhumb-")), "step {step}");
        if !failed {
            assert!(step > 8, "the sweep saw only {step} steps");
            return;
        }
    }
}

#[test]
fn an_unreadable_file_does_not_count_as_changed() {
    for step in 0.. {
        let world = half_written();
        let picture = world.picture();
        FAULT_AFTER.with(|fault| fault.set(Some((step, Fault::Broken))));
        let first = recover(&world.root, &world.journal);
        let was_reached = FAULT_AFTER.with(|fault| fault.take()).is_some_and(|(left, _)| left == 0);
        if !was_reached {
            assert!(step > 15, "the sweep saw only {step} steps");
            assert_eq!(first[0].outcome, Recovery::Finished);
            return;
        }
        // Whichever step failed, the failure is reported and recovery is tried again.
        if world.text("b") == "1" {
            assert!(matches!(&first[..], [Recovered { outcome: Recovery::Failed(why), .. }] if why.contains("broken")));
            assert!(first[0].externally_changed.is_empty() && world.text("a") == "2", "step {step}: {first:?}");
        }
        assert!(step > 3 || world.picture() == picture, "step {step}: {first:?}");
        world.recover_write();
        assert_eq!((world.text("a"), world.text("b")), ("2".into(), "2".into()), "step {step}: {first:?}");
        assert!(!world.picture().keys().any(|name| name.contains(".rhumb-")), "step {step}");
    }
}

#[test]
fn the_files_of_an_unfinished_write_are_not_written_before_it_is_finished() {
    let world = half_written();
    // A path that is too long cannot be inspected.
    let entry = world.journal.entries().unwrap()[0];
    let record = fs::read(world.journal.path(entry)).unwrap();
    let mut unseen = record::decode(&record).unwrap();
    unseen.files[1].path = "b".repeat(300);
    let bytes = record::encode(None, &[], &unseen.files.iter().collect::<Vec<_>>());
    fs::write(world.journal.path(entry), bytes).unwrap();
    let error = world.write(&[change("a", Some("2"), Some("3"))]).unwrap_err();
    assert!(
        matches!(&error, WriteError::Unfinished { path, reason } if path == "a" && reason.contains("bbb")),
        "{error}"
    );
    let written = world.write(&[change("c", None, Some("c"))]).unwrap();
    assert!(matches!(written.recovered[0].outcome, Recovery::Failed(_)), "another file can be written");
    fs::write(world.journal.path(entry), record).unwrap();
    let written = world.write(&[change("b", Some("2"), Some("3"))]).unwrap();
    assert_eq!((&written.recovered[0].outcome, world.text("a")), (&Recovery::Finished, "2".into()));
}

#[test]
fn no_record_is_overwritten_if_the_journal_cannot_be_listed() {
    for step in 0..8 {
        let world = World::new(&[("a", "1"), ("b", "1")]);
        world.write(&[change("a", Some("1"), Some("2"))]).unwrap();
        FAULT_AFTER.with(|fault| fault.set(Some((step, Fault::Full))));
        world.write(&[change("b", Some("1"), Some("2"))]).ok();
        FAULT_AFTER.with(|fault| fault.take());
        world.recover_write();
        if world.text("b") == "2" && world.stages().len() == 2 {
            assert_eq!(world.undo().unwrap(), ["b"], "step {step}");
        }
        assert_eq!(world.undo().unwrap(), ["a"], "step {step}");
    }
}

#[test]
fn a_link_that_replaced_a_file_is_not_followed() {
    let world = half_written();
    fs::write(world.dir.path().join("out"), "1").unwrap();
    fs::remove_file(world.path("b")).unwrap();
    std::os::unix::fs::symlink(world.dir.path().join("out"), world.path("b")).unwrap();
    assert_eq!(recover(&world.root, &world.journal)[0].externally_changed, ["b"]);
    assert_eq!(fs::read_to_string(world.dir.path().join("out")).unwrap(), "1");
    assert_eq!(world.text("a"), "1");
}

/// Sets of files to write while the process is killed.
const SETS: [&str; 5] = ["modify", "create", "delete", "rename", "many"];

fn before_kill(set: &str) -> World {
    let world = match set {
        "modify" => World::new(&[("a", "one\ntwo\n")]),
        "create" => World::new(&[("a", "one\n")]),
        "delete" => World::new(&[("a", "one\n"), ("src/b", "b")]),
        "rename" => World::new(&[("src/run", "one\n")]),
        _ => World::new(&[("a", "1"), ("b", "a long text"), ("src/gone", "g"), ("c", "3")]),
    };
    if set == "rename" {
        fs::set_permissions(world.path("src/run"), fs::Permissions::from_mode(0o751)).unwrap();
    }
    if set == "many" {
        rewritten_in_place();
    }
    world
}

/// From now on `b` cannot be replaced by a new file.
fn rewritten_in_place() {
    IN_PLACE.with(|kept| kept.set(Some("b")));
}

fn writes(set: &str) -> Vec<FileWrite> {
    match set {
        "modify" => vec![change("a", Some("one\ntwo\n"), Some("one\n2\n"))],
        "create" => vec![change("x/y/new", None, Some("new")), change("x/z", None, Some("z"))],
        "delete" => vec![change("src/b", Some("b"), None)],
        "rename" => vec![
            FileWrite { renamed_from: Some("src/run".into()), ..change("bin/go", None, Some("two\n")) },
            change("src/run", Some("one\n"), None),
        ],
        _ => vec![
            change("a", Some("1"), Some("one")),
            change("b", Some("a long text"), Some("short")),
            change("n/new", None, Some("new")),
            change("src/gone", Some("g"), None),
            change("c", Some("3"), Some("three")),
        ],
    }
}

/// The operation that the killed child process carries out.
fn act(what: &str, set: &str, root: &Root, journal: &Journal) {
    match what {
        "write" => drop(write(root, Some(journal), &writes(set), None)),
        "undo" => drop(undo(root, journal, Direction::Undo)),
        "redo" => drop(undo(root, journal, Direction::Redo)),
        _ => drop(recover(root, journal)),
    }
}

/// Does nothing as an ordinary test. As a child process of another test it carries out an operation until it is
/// killed.
#[test]
fn the_child_that_is_killed() {
    let Ok(order) = std::env::var("TEST_KILL") else { return };
    let [what, set, step, dir] = order.split(',').collect::<Vec<_>>()[..] else { return };
    let (root, journal) = opened(Path::new(dir));
    if set == "many" {
        rewritten_in_place();
    }
    FAULT_AFTER.with(|fault| fault.set(Some((step.parse().unwrap(), Fault::Kill))));
    act(what, set, &root, &journal);
}

/// Returns whether a child process was killed at this step. It is not if the operation has fewer steps.
fn is_killed(world: &World, what: &str, set: &str, step: u32) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "journal::tests::the_child_that_is_killed", "--test-threads=1"])
        .env("TEST_KILL", format!("{what},{set},{step},{}", world.dir.path().display()))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.code().is_none_or(|code| code == 0), "{what} {set} {step}: {status}");
    status.code().is_none()
}

/// Kills a process at every step of operation `what` on set `set`. `prepare` creates the initial state.
fn sweep(what: &str, set: &str, prepare: impl Fn(&World)) {
    let done = before_kill(set);
    let old = done.picture();
    done.write(&writes(set)).unwrap();
    let new = done.picture();
    for step in 0.. {
        let world = before_kill(set);
        prepare(&world);
        let killed = is_killed(&world, what, set, step);
        recover(&world.root, &world.journal);
        let picture = world.picture();
        let at = format!("{what} {set}, killed at step {step}");
        assert!(picture == old || picture == new, "{at}: {picture:#?}");
        assert!(world.journal.entries().unwrap().iter().all(|entry| !entry.is_unfinished()), "{at}");
        if !killed {
            assert_eq!(picture == new, matches!(what, "write" | "redo"), "{at}");
            assert!(step > 3, "{at}: the sweep saw too few steps");
            return;
        }
        // The next operations work as usual.
        if picture == old {
            world.write(&writes(set)).unwrap();
            assert_eq!(world.picture(), new, "{at}");
        }
        assert!(!world.undo().unwrap().is_empty(), "{at}");
        assert_eq!(world.picture(), old, "{at}");
        assert!(!files_in(&world.journal.folder).iter().any(|path| path.to_string_lossy().contains("new-")), "{at}");
    }
}

#[test]
fn a_kill_at_any_step_of_a_write_leaves_all_old_or_all_new() {
    SETS.iter().for_each(|set| sweep("write", set, |_| {}));
}

#[test]
fn a_kill_at_any_step_of_undo_or_redo_leaves_all_old_or_all_new() {
    for set in SETS {
        let written = |world: &World| drop(world.write(&writes(set)).unwrap());
        sweep("undo", set, written);
        sweep("redo", set, |world| {
            written(world);
            world.undo().unwrap();
        });
    }
}

#[test]
fn a_kill_at_any_step_of_the_recovery_is_recovered_from() {
    // In the middle of a write, where files are renamed one after the other.
    for at in [33, 37] {
        for step in 0.. {
            let world = before_kill("many");
            assert!(is_killed(&world, "write", "many", at));
            let killed = is_killed(&world, "recover", "many", step);
            recover(&world.root, &world.journal);
            assert_eq!(world.text("c"), if world.text("a") == "1" { "3" } else { "three" }, "step {step}");
            assert!(!world.picture().keys().any(|name| name.contains(".rhumb-")), "step {step}");
            if !killed {
                assert!(step > 3, "the sweep saw too few steps");
                break;
            }
        }
    }
}
