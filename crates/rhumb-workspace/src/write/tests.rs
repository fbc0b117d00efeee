//! Tests of atomic writes.

use super::*;
use crate::fault::{FAULT_AFTER, Fault, IN_PLACE};
use crate::snapshot::read;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

fn write(root: &Root, writes: &[FileWrite]) -> Result<Written, WriteError> {
    super::write(root, None, writes, None)
}

fn root_with(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let root = Root::at(dir.path()).unwrap();
    (dir, root)
}

fn change(path: &str, old: Option<&str>, new: Option<&str>) -> FileWrite {
    FileWrite {
        path: path.to_owned(),
        expected: old.map(Into::into),
        content: new.map(str::to_owned),
        renamed_from: None,
    }
}

/// Content and mode of every file and folder under the root.
fn picture(root: &Root) -> BTreeMap<String, (String, u32)> {
    let mut picture = BTreeMap::new();
    let mut open = vec![root.path().to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = fs::symlink_metadata(&path).unwrap();
            let text = if meta.is_file() { fs::read_to_string(&path).unwrap() } else { String::new() };
            picture.insert(path.to_string_lossy().into_owned(), (text, meta.mode()));
            if meta.is_dir() {
                open.push(path);
            }
        }
    }
    picture
}

#[test]
fn a_set_of_changes_is_written_and_reported() {
    let (_dir, root) = root_with(&[("a.rs", "old\r\n"), ("gone.rs", "bye")]);
    let writes = [
        change("a.rs", Some("old\r\n"), Some("new\r\n")),
        change("gone.rs", Some("bye"), None),
        change("new/deep/b.rs", None, Some("b")),
        change("new/c.rs", None, Some("")),
    ];
    let written = write(&root, &writes).unwrap();
    assert_eq!(read(&root, "a.rs").unwrap().text.as_ref(), "new\r\n");
    assert!(!root.path().join("gone.rs").exists());
    assert_eq!(read(&root, "new/deep/b.rs").unwrap().hash, written.files[2].hash.unwrap());
    assert_eq!((written.files[1].hash, written.bytes), (None, 6));
}

#[test]
fn one_stale_file_stops_the_whole_set() {
    let (_dir, root) = root_with(&[("a", "1"), ("b", "2 and more")]);
    let before = picture(&root);
    let sets = [
        vec![change("a", Some("1"), Some("x")), change("b", Some("2"), Some("y"))],
        vec![change("a", Some("1"), Some("x")), change("b", None, Some("y"))],
        vec![change("n/n", None, Some("x")), change("c", Some("3"), Some("y"))],
    ];
    for set in sets {
        let error = write(&root, &set).unwrap_err();
        assert!(matches!(error, WriteError::Stale { .. }), "{error}");
        assert_eq!(picture(&root), before);
    }
}

#[test]
fn a_failure_at_any_step_leaves_everything_as_it_was() {
    let (_dir, root) = root_with(&[("a", "1"), ("b", "2"), ("owned", "l"), ("gone", "g")]);
    IN_PLACE.with(|kept| kept.set(Some("owned")));
    fs::set_permissions(root.path().join("b"), fs::Permissions::from_mode(0o750)).unwrap();
    let before = picture(&root);
    let writes = [
        change("a", Some("1"), Some("one")),
        change("x/y/new", None, Some("new")),
        change("owned", Some("l"), Some("a longer text")),
        change("gone", Some("g"), None),
        change("b", Some("2"), Some("two")),
    ];
    for step in 0.. {
        FAULT_AFTER.with(|left| left.set(Some((step, Fault::Full))));
        let outcome = write(&root, &writes);
        let reached = FAULT_AFTER.with(|left| left.take()).is_none();
        let is_synced_only = outcome.as_ref().is_ok_and(|written| written.sync_warning.is_some());
        if !reached || is_synced_only {
            assert_eq!(outcome.unwrap().sync_warning.is_some(), reached);
            assert!(step > 12, "the sweep saw only {step} steps");
            break;
        }
        assert!(matches!(outcome, Err(WriteError::NoSpace { .. })), "step {step}: {outcome:?}");
        assert_eq!(picture(&root), before, "step {step}");
    }
    assert!(!picture(&root).keys().any(|name| name.ends_with(TEMP_SUFFIX)));
}

#[test]
fn a_change_with_equal_size_and_time_is_detected() {
    let (_dir, root) = root_with(&[("a", "1 of ours"), ("b", "2")]);
    let path = root.path().join("a");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::write(&path, "1 of mine").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
    let before = picture(&root);
    let writes = [change("b", Some("2"), Some("two")), change("a", Some("1 of ours"), Some("one"))];
    assert!(matches!(write(&root, &writes), Err(WriteError::Stale { path, .. }) if path == "a"));
    assert_eq!(picture(&root), before);
}

#[test]
fn modes_are_kept_and_new_files_are_not_executable() {
    let (_dir, root) = root_with(&[("run.sh", "1")]);
    let path = root.path().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o4755)).unwrap();
    write(&root, &[change("run.sh", Some("1"), Some("2")), change("new", None, Some("n"))]).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o4755);
    let new = fs::metadata(root.path().join("new")).unwrap().mode() & 0o777;
    assert_eq!((new & 0o600, new & 0o133), (0o600, 0));
}

#[test]
fn a_renamed_file_keeps_its_mode_and_its_form() {
    let (_dir, root) = root_with(&[("run.sh", "")]);
    let old = root.path().join("run.sh");
    fs::write(&old, b"\xff\xfeo\0l\0d\0\n\0").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let new = FileWrite { renamed_from: Some("run.sh".into()), ..change("go.sh", None, Some("né\n")) };
    write(&root, &[new, change("run.sh", Some("old\n"), None)]).unwrap();
    let path = root.path().join("go.sh");
    assert_eq!(fs::read(&path).unwrap(), b"\xff\xfen\0\xe9\0\n\0");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o755);
    assert!(!old.exists());
}

#[test]
fn a_file_keeps_its_encoding_and_its_mark() {
    let (_dir, root) = root_with(&[]);
    let cases: [(&[u8], &str, &str, &[u8]); 3] = [
        (b"\xef\xbb\xbfa\r\nb", "a\r\nb", "a\r\nc", b"\xef\xbb\xbfa\r\nc"),
        (b"\xfe\xff\0a", "a", "\u{e9}", b"\xfe\xff\0\xe9"),
        (b"Gr\xf6\xdfe der Stra\xdfe", "Größe der Straße", "Größe der Straßen", b"Gr\xf6\xdfe der Stra\xdfen"),
    ];
    for (old, text, new_text, new) in cases {
        let path = root.path().join("a");
        fs::write(&path, old).unwrap();
        assert_eq!(&*read(&root, "a").unwrap().text, text);
        let written = write(&root, &[change("a", Some(text), Some(new_text))]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), new);
        assert_eq!(written.files[0].hash, Some(ContentHash::of(new)));
        assert_eq!(written.bytes, new.len() as u64);
    }
}

#[test]
fn an_unmappable_character_stops_the_set_and_is_named() {
    let (_dir, root) = root_with(&[("b", "1")]);
    fs::write(root.path().join("a"), b"Gr\xf6\xdfe der Stra\xdfe\n").unwrap();
    let set =
        [change("b", Some("1"), Some("2")), change("a", Some("Größe der Straße\n"), Some("Größe der Straße\nA → B\n"))];
    let error = write(&root, &set).unwrap_err();
    let said = "a is in windows-1252, which does not have '→' (U+2192, line 2 of the new text)";
    assert_eq!(error.to_string(), said);
    assert!(error.hint().contains("convert a to UTF-8"), "{}", error.hint());
    assert_eq!(fs::read_to_string(root.path().join("b")).unwrap(), "1");
}

#[test]
fn nothing_is_written_through_a_hard_link() {
    let (dir, root) = root_with(&[("in/a", "old"), ("in/b", "old"), ("in/c", "old")]);
    let root = Root::at(&root.path().join("in")).unwrap();
    for (inside, outside) in [("a", "kept"), ("b", "sold")] {
        fs::hard_link(root.path().join(inside), dir.path().join(outside)).unwrap();
    }
    let outside = |name| fs::read_to_string(dir.path().join(name)).unwrap();
    let written =
        write(&root, &[change("a", Some("old"), Some("new")), change("c", Some("old"), Some("new"))]).unwrap();
    assert_eq!(written.files.iter().map(|file| file.had_hard_links).collect::<Vec<_>>(), [true, false]);
    assert_eq!((outside("kept"), fs::read_to_string(root.path().join("a")).unwrap()), ("old".into(), "new".into()));
    // If no new file can replace it, the write fails.
    IN_PLACE.with(|kept| kept.set(Some("b")));
    let before = picture(&root);
    let error =
        write(&root, &[change("c", Some("new"), Some("newer")), change("b", Some("old"), Some("new"))]).unwrap_err();
    assert!(matches!(&error, WriteError::Linked(path) if path == "b"), "{error}");
    assert_eq!((outside("sold"), picture(&root)), ("old".into(), before));
    // Deleting one name leaves the others.
    write(&root, &[change("b", Some("old"), None)]).unwrap();
    assert_eq!(outside("sold"), "old");
}

#[test]
fn a_link_inside_is_written_through_and_one_outside_is_refused() {
    let (dir, root) = root_with(&[("in/src/a", "1"), ("out", "secret")]);
    let root = Root::at(&root.path().join("in")).unwrap();
    symlink("src/a", root.path().join("link")).unwrap();
    symlink(dir.path(), root.path().join("up")).unwrap();
    let written = write(&root, &[change("link", Some("1"), Some("2"))]).unwrap();
    assert_eq!(written.files[0].stored_at, "src/a");
    assert!(fs::symlink_metadata(root.path().join("link")).unwrap().is_symlink());
    for path in ["up/out", "up/new", "../out", ".git/hooks/x", "up"] {
        let error = write(&root, &[change(path, None, Some("x"))]).unwrap_err();
        assert!(matches!(error, WriteError::Outside { .. }), "{path}: {error}");
    }
    assert!(matches!(write(&root, &[change("link", Some("2"), None)]), Err(WriteError::Outside { .. })));
    assert_eq!(fs::read_to_string(dir.path().join("out")).unwrap(), "secret");
}

#[test]
fn a_link_to_a_file_in_another_folder_is_written_through() {
    let (_dir, root) = root_with(&[("README.md", "1"), ("b/f", "1"), ("docs/x", ""), ("a/x", "")]);
    for (link, target) in [("docs/README.md", "../README.md"), ("a/l", "../b/f")] {
        symlink(target, root.path().join(link)).unwrap();
        let names = || picture(&root).into_keys().collect::<Vec<_>>();
        let before = names();
        write(&root, &[change(link, Some("1"), Some("2"))]).unwrap();
        assert_eq!(fs::read_to_string(root.path().join(link)).unwrap(), "2");
        assert!(fs::symlink_metadata(root.path().join(link)).unwrap().is_symlink());
        assert_eq!(names(), before, "no temporary file is left");
    }
}

#[test]
fn a_folder_that_becomes_a_link_before_the_move_is_not_followed() {
    let (_dir, root) = root_with(&[("in/src/a", "1"), ("out/a", "1")]);
    let root = Root::at(&root.path().join("in")).unwrap();
    let writes = [change("src/a", Some("1"), Some("2"))];
    let planned = plan(&root, &writes).unwrap();
    let mut progress = Progress::new(root.path());
    progress.stage(0, &planned[0]).unwrap();
    fs::rename(root.path().join("src"), root.path().join("moved")).unwrap();
    symlink("../out", root.path().join("src")).unwrap();
    assert!(matches!(progress.commit_file(0, &planned[0]), Err(WriteError::Stale { .. })));
    let RollbackFailures { not_restored, leftovers } = progress.roll_back(&planned);
    assert!(not_restored.is_empty() && leftovers.is_empty(), "{not_restored:?} {leftovers:?}");
    assert_eq!(fs::read_to_string(root.path().join("src/a")).unwrap(), "1");
}

#[cfg(target_os = "linux")]
#[test]
fn replacing_a_folder_by_a_link_repeatedly_lets_no_write_escape() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering};
    let (_dir, root) = root_with(&[("in/src/a", "0"), ("in/src/deep/b", "0"), ("out/a", "0"), ("out/deep/b", "0")]);
    let top = root.path().to_owned();
    let root = Root::at(&top.join("in")).unwrap();
    let outside = || picture(&Root::at(&top.join("out")).unwrap());
    let before = outside();
    let (folder, link) = (root.path().join("src"), root.path().join("link"));
    symlink("../out", &link).unwrap();
    let done = AtomicBool::new(false);
    let (mut written, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for n in 0..300 {
            let text = |path: &str| read(&root, path).ok().map(|it| it.text.to_string());
            let new = Some(n.to_string());
            let set =
                ["src/a", "src/deep/b", "src/new/c"].map(|path| change(path, text(path).as_deref(), new.as_deref()));
            match write(&root, &set) {
                Ok(_) => written += 1,
                Err(_) => refused += 1,
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(outside(), before, "{written} writes, {refused} refused");
    assert!(refused > 0, "the folder was never swapped in time");
}

#[cfg(target_os = "linux")]
#[test]
fn extended_attributes_are_copied_to_the_new_file() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let (_dir, root) = root_with(&[("a", "1")]);
    let path = root.path().join("a");
    if setxattr(&path, "user.origin", b"here", XattrFlags::empty()).is_err() {
        return; // A file system without them.
    }
    let inode = fs::metadata(&path).unwrap().ino();
    write(&root, &[change("a", Some("1"), Some("2"))]).unwrap();
    assert_ne!(fs::metadata(&path).unwrap().ino(), inode);
    let mut value = [0; 8];
    assert_eq!(getxattr(&path, "user.origin", &mut value).unwrap(), 4);
    assert_eq!(&value[..4], b"here");
}

#[test]
fn special_files_are_neither_written_nor_opened() {
    let (_dir, root) = root_with(&[("a", "1")]);
    let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    // Opening a pipe without a reader for writing would block forever.
    let made = |args: &[&str]| {
        std::process::Command::new(args[0])
            .args(&args[1..])
            .current_dir(root.path())
            .stderr(std::process::Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let mut names = vec!["socket"];
    names.extend(made(&["mkfifo", "pipe"]).then_some("pipe"));
    names.extend(made(&["mknod", "null", "c", "1", "3"]).then_some("null"));
    for name in names {
        for set in [change(name, None, Some("x")), change(name, Some(""), Some("x")), change(name, Some(""), None)] {
            assert!(matches!(write(&root, &[set]), Err(WriteError::NotAFile(_))), "{name}");
        }
    }
}

#[test]
fn changes_of_another_program_are_not_rolled_back() {
    let (_dir, root) = root_with(&[("a", "1")]);
    let writes = [change("a", Some("1"), Some("2"))];
    let planned = plan(&root, &writes).unwrap();
    let mut progress = Progress::new(root.path());
    progress.stage(0, &planned[0]).unwrap();
    progress.commit_file(0, &planned[0]).unwrap();
    fs::write(root.path().join("a"), "theirs").unwrap();
    assert_eq!(progress.roll_back(&planned).not_restored, ["a (another program wrote it meanwhile)"]);
    assert_eq!(fs::read_to_string(root.path().join("a")).unwrap(), "theirs");
}

#[test]
fn the_same_file_cannot_be_written_twice() {
    let (_dir, root) = root_with(&[("a", "1")]);
    let twice = [change("a", Some("1"), Some("2")), change("./a", Some("1"), Some("3"))];
    assert!(matches!(write(&root, &twice), Err(WriteError::Twice(_))));
    let nested = [change("x", None, Some("2")), change("x/y", None, Some("3"))];
    assert!(matches!(write(&root, &nested), Err(WriteError::NotAFile(_))));
    assert_eq!(fs::read_to_string(root.path().join("a")).unwrap(), "1");
}

#[test]
fn a_read_only_file_is_rejected_by_name() {
    let (_dir, root) = root_with(&[("a", "1")]);
    let path = root.path().join("a");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let is_writable = fs::OpenOptions::new().write(true).open(&path).is_ok();
    let written = write(&root, &[change("a", Some("1"), Some("2"))]);
    if is_writable {
        // The tests run as root.
        written.unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o444);
        assert_eq!(fs::read_to_string(&path).unwrap(), "2");
        return;
    }
    let error = written.unwrap_err();
    assert_eq!(error.to_string(), "a is read-only");
    assert!(error.hint().starts_with("Nothing was written. Make it writable (chmod u+w a)"));
}

#[test]
fn paths_that_are_not_files_are_rejected() {
    let (_dir, root) = root_with(&[("dir/a", "1")]);
    assert!(matches!(write(&root, &[change("dir", None, Some("x"))]), Err(WriteError::NotAFile(_))));
    assert!(matches!(write(&root, &[change("dir/a/b", None, Some("x"))]), Err(WriteError::NotAFile(_))));
    let escape = write(&root, &[change("dir/\x1b[31m", None, Some("x"))]);
    assert!(matches!(escape, Err(WriteError::Outside { .. })));
}

#[test]
fn an_unchanged_file_is_not_replaced() {
    let (_dir, root) = root_with(&[("a", "1")]);
    let inode = fs::metadata(root.path().join("a")).unwrap().ino();
    write(&root, &[change("a", Some("1"), Some("1")), change("never", None, None)]).unwrap();
    assert_eq!(fs::metadata(root.path().join("a")).unwrap().ino(), inode);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn writing_and_writing_back_is_the_identity(old in "\\PC{0,40}", new in "(\\PC|\r\n|\n){0,40}", fail in 0u32..12) {
        let (_dir, root) = root_with(&[("a", &old)]);
        let before = picture(&root);
        FAULT_AFTER.with(|left| left.set(Some((fail, Fault::Full))));
        let outcome = write(&root, &[change("a", Some(&old), Some(&new)), change("b", None, Some(&new))]);
        FAULT_AFTER.with(|left| left.set(None));
        if outcome.is_ok() {
            prop_assert_eq!(&fs::read_to_string(root.path().join("a")).unwrap(), &new);
            write(&root, &[change("a", Some(&new), Some(&old)), change("b", Some(&new), None)]).unwrap();
        }
        prop_assert_eq!(picture(&root), before);
    }
}

#[test]
fn disk_errors_are_reported_as_such() {
    let mut unsynced = 0;
    for step in 0.. {
        let (_dir, root) = root_with(&[("a", "1"), ("src/b", "1"), ("gone", "1")]);
        let set = [
            change("a", Some("1"), Some("2")),
            change("src/b", Some("1"), Some("2")),
            change("n/new", None, Some("2")),
            change("gone", Some("1"), None),
        ];
        FAULT_AFTER.with(|left| left.set(Some((step, Fault::Broken))));
        let outcome = write(&root, &set);
        FAULT_AFTER.with(|left| left.take());
        match outcome.map(|written| written.sync_warning) {
            Err(error) => assert!(error.to_string().contains("the disk is broken"), "step {step}: {error}"),
            // All files were written, and the folders that were not synced are reported.
            Ok(Some(why)) => {
                assert!(why.contains("src (the disk is broken)"), "step {step}: {why}");
                unsynced += 1;
            }
            Ok(None) => {
                assert!(step > 20 && unsynced == 3, "the sweep saw only {step} steps, {unsynced} of folders");
                return;
            }
        }
    }
}
