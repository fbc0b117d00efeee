//! `rhumb undo` and `rhumb redo`, their journal, and the attributes that files keep when they are written.

use super::*;

/// A folder without a repository, with a state folder for the journal.
struct Folder {
    dir: tempfile::TempDir,
}

impl Folder {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("root")).unwrap();
        files.iter().for_each(|(path, bytes)| fs::write(dir.path().join("root").join(path), bytes).unwrap());
        Self { dir }
    }

    fn rhumb(&self, args: &[&str], input: &str) -> (i32, String, String) {
        let mut command = rhumb(&self.dir.path().join("root"), args);
        command.env("XDG_STATE_HOME", self.dir.path().join("state")).write_stdin(input);
        run(command)
    }

    fn read(&self, path: &str) -> Vec<u8> {
        fs::read(self.dir.path().join("root").join(path)).unwrap()
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        fs::write(self.dir.path().join("root").join(path), bytes).unwrap();
    }

    /// The only record of the journal.
    fn record(&self) -> std::path::PathBuf {
        let repo = fs::read_dir(self.dir.path().join("state/rhumb/journal")).unwrap();
        let repo = repo.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap();
        let mut records = fs::read_dir(repo).unwrap().map(|entry| entry.unwrap().path());
        records.find(|path| path.extension().is_some()).unwrap()
    }
}

#[test]
fn a_write_is_undone_and_done_again_without_git() {
    let folder = Folder::new(&[("a.py", b"one\r\ntwo\r\n"), ("b.py", b"1\n")]);
    let reply = block("a.py", "two\n", "2\n") + &block("n/new.py", "", "new\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &reply);
    assert_eq!((code, folder.read("a.py")), (0, b"one\r\n2\r\n".to_vec()), "{err}");
    let (code, out, err) = folder.rhumb(&["undo"], "");
    assert_eq!((code, &*out, &*err), (0, "", "rhumb: undid a.py, n/new.py.\n"));
    assert_eq!(folder.read("a.py"), b"one\r\ntwo\r\n");
    assert!(!folder.dir.path().join("root/n").exists());
    assert_eq!(folder.rhumb(&["undo"], "").0, 1, "there is nothing left to undo");
    let (code, _, err) = folder.rhumb(&["redo"], "");
    assert!(code == 0 && err.contains("redid a.py, n/new.py."), "{err}");
    assert_eq!(folder.read("n/new.py"), b"new\n");
    folder.write("a.py", b"mine");
    let (code, _, err) = folder.rhumb(&["undo"], "");
    assert!(code == 3 && err.contains("changed since") && err.contains("a.py"), "{code} {err}");
    assert_eq!((folder.read("a.py"), folder.read("n/new.py")), (b"mine".to_vec(), b"new\n".to_vec()));
}

/// A repository in which `rhumb edit` has written and committed a change.
struct Committed {
    repo: TestRepo,
    state: tempfile::TempDir,
}

impl Committed {
    fn new() -> Self {
        let committed = Self { repo: harbour_repo(), state: tempfile::tempdir().unwrap() };
        let server = ModelServer::start(vec![Step::reply(&good())]);
        let url = server.base_url();
        let args = ["edit", "-m", "Be lenient", "--yes", "--file", "harbour.py", "--base-url", &url, "--model", MODEL];
        let (code, _, err) = committed.rhumb(&args, "drop");
        assert_eq!(code, 0, "{err}");
        committed
    }

    fn rhumb(&self, args: &[&str], undo_commit: &str) -> (i32, String, String) {
        let mut command = rhumb(&self.repo.path(), args);
        command.env("XDG_STATE_HOME", self.state.path()).env("RHUMB_UNDO_COMMIT", undo_commit);
        run(command)
    }
}

#[test]
fn a_commit_that_is_head_and_not_pushed_is_dropped_and_restored() {
    let committed = Committed::new();
    let repo = &committed.repo;
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let mine = repo.read("charts/compass.py") + "# mine\n";
    repo.file("charts/compass.py", &mine);
    let (code, _, err) = committed.rhumb(&["undo"], "drop");
    assert!(code == 0 && err.contains("undid harbour.py. Dropped commit"), "{code} {err}");
    assert_eq!((repo.read("harbour.py"), repo.subjects()), (HARBOUR.to_owned(), vec!["Start the harbour".to_owned()]));
    assert_eq!(repo.git(&["status", "--porcelain"]), " M charts/compass.py\n");
    let (code, _, err) = committed.rhumb(&["redo"], "drop");
    assert!(code == 0 && err.contains("redid harbour.py. Restored commit"), "{code} {err}");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), commit);
    assert_eq!((repo.read("harbour.py"), repo.read("charts/compass.py")), (changed(), mine));
    assert_eq!(repo.git(&["status", "--porcelain"]), " M charts/compass.py\n");
}

#[test]
fn a_commit_that_others_may_have_or_that_is_to_stay_is_reverted() {
    for (pushed, undo_commit) in [(true, "drop"), (false, "revert")] {
        let committed = Committed::new();
        let repo = &committed.repo;
        if pushed {
            repo.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        }
        let (code, _, err) = committed.rhumb(&["undo"], undo_commit);
        assert!(code == 0 && err.contains("undid harbour.py. Committed the revert as"), "{code} {err}");
        assert_eq!(repo.read("harbour.py"), HARBOUR);
        let subject = "Change depth in harbour.py";
        assert_eq!(repo.subjects(), [&format!("Revert \"{subject}\""), subject, "Start the harbour"]);
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        let (code, _, err) = committed.rhumb(&["--no-commit", "redo"], undo_commit);
        assert_eq!((code, &*err), (0, "rhumb: redid harbour.py.\n"));
        assert_eq!((repo.read("harbour.py"), repo.subjects().len()), (changed(), 3));
    }
}

#[test]
fn a_write_that_was_killed_is_finished_by_the_next_command_and_reported() {
    let folder = Folder::new(&[("a.py", b"1\n"), ("b.py", b"1\n")]);
    let reply = block("a.py", "1\n", "2\n") + &block("b.py", "1\n", "2\n");
    assert_eq!(folder.rhumb(&["apply", "--yes", "-"], &reply).0, 0);
    // The state after a process died behind the first file.
    let record = folder.record();
    fs::rename(&record, record.with_extension("doing")).unwrap();
    folder.write("b.py", b"1\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &block("a.py", "2\n", "3\n"));
    assert!(code == 0 && err.contains("An earlier write was interrupted and is finished now: a.py, b.py"), "{err}");
    assert_eq!((folder.read("a.py"), folder.read("b.py")), (b"3\n".to_vec(), b"2\n".to_vec()));
}

#[test]
fn commands_that_only_read_name_a_write_that_was_interrupted_and_leave_it() {
    let folder = Folder::new(&[("a.py", b"1\n"), ("b.py", b"1\n")]);
    let reply = block("a.py", "1\n", "2\n") + &block("b.py", "1\n", "2\n");
    assert_eq!(folder.rhumb(&["apply", "--yes", "-"], &reply).0, 0);
    let quiet = folder.rhumb(&["map"], "").2;
    assert!(!quiet.contains("interrupted"), "{quiet}");
    let record = folder.record();
    fs::rename(&record, record.with_extension("doing")).unwrap();
    folder.write("b.py", b"1\n");
    let commands = [
        &["map", "--format", "json"][..],
        &["search", "--format", "json", "1"],
        &["sessions", "--json"],
        &["doctor", "--json"],
        &["index", "--json"],
        &["apply", "--dry-run", "--json", "-"],
        &["ask", "-m", "why", "--show-prompt"],
    ];
    for args in commands {
        let (_, out, err) = folder.rhumb(args, &block("b.py", "1\n", "2\n"));
        let told = err.matches("an earlier write was interrupted: a.py, b.py").count();
        assert_eq!((told, err.contains("finishes or undoes it")), (1, true), "{args:?}: {err}");
        let is_json = args[0] != "ask";
        // A search prints one object per line.
        let parts: Vec<&str> = if args[0] == "search" { out.lines().collect() } else { vec![&out] };
        assert!(!is_json || parts.iter().all(|part| json(part).is_object()), "{args:?}: {out}");
    }
    assert_eq!(folder.read("b.py"), b"1\n");
    assert_eq!(folder.rhumb(&["apply", "--yes", "-"], &block("a.py", "2\n", "3\n")).0, 0);
    assert_eq!(folder.read("b.py"), b"2\n");
}

#[test]
fn without_a_journal_nothing_is_written_unless_a_flag_says_so() {
    let folder = Folder::new(&[("a.py", b"1\n")]);
    fs::write(folder.dir.path().join("state"), "no folder").unwrap();
    let reply = block("a.py", "1\n", "2\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &reply);
    assert!(code == 3 && err.contains("nothing was written: the write cannot be recorded"), "{code} {err}");
    assert!(err.contains("/state/") && err.contains("--no-journal"), "{err}");
    assert_eq!(folder.read("a.py"), b"1\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "--no-journal", "-"], &reply);
    assert_eq!((code, folder.read("a.py")), (0, b"2\n".to_vec()), "{err}");
}

#[test]
fn files_keep_their_encoding_and_what_does_not_fit_is_named() {
    let latin = b"# Gr\xf6\xdfe der Stra\xdfe\nx = 1\n";
    let folder = Folder::new(&[("latin.py", latin), ("wide.py", b"\xff\xfex\0=\x001\0\r\0\n\0")]);
    let reply = block("latin.py", "x = 1\n", "x = 'ä'\n") + &block("wide.py", "x=1\n", "x=2\n");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &reply);
    assert_eq!(code, 0, "{err}");
    assert_eq!(folder.read("latin.py"), b"# Gr\xf6\xdfe der Stra\xdfe\nx = '\xe4'\n");
    assert_eq!(folder.read("wide.py"), b"\xff\xfex\0=\x002\0\r\0\n\0");
    let (code, _, err) = folder.rhumb(&["apply", "--yes", "-"], &block("latin.py", "x = 'ä'\n", "x = '→'\n"));
    assert!(code == 3 && err.contains("latin.py is in windows-1252, which does not have '→'"), "{code} {err}");
    assert!(err.contains("convert latin.py to UTF-8"), "{err}");
}

/// A line that changes the title of a terminal window unless it is sanitized.
const TITLE: &str = "    return '\x1b]0;owned\x07'\n";

fn retitling() -> String {
    block("harbour.py", "    return TABLE[name]\n", TITLE)
}

#[test]
fn escapes_in_a_diff_reach_a_pipe_as_they_are() {
    let reply = retitling();
    let patched = HARBOUR.replace("    return TABLE[name]\n", TITLE);
    let server = ModelServer::start(vec![Step::reply(&reply)]);
    let (repo, url) = (harbour_repo(), server.base_url());
    fs::write(repo.path().join("reply.md"), &reply).unwrap();
    let edit = ["edit", "-m", "x", "--dry-run", "--base-url", &url, "--model", MODEL];
    for args in [&["apply", "--dry-run", "reply.md"][..], &edit] {
        let output = rhumb(&repo.path(), args).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        // In the diff, and before in the streamed answer.
        assert_eq!(out.matches(TITLE).count(), if args[0] == "edit" { 2 } else { 1 }, "{args:?}: {out:?}");
        let patch = tempfile::NamedTempFile::new().unwrap();
        fs::write(patch.path(), &out[out.find("diff --git").unwrap()..]).unwrap();
        repo.git(&["apply", patch.path().to_str().unwrap()]);
        assert_eq!(repo.read("harbour.py"), patched, "{args:?}");
        repo.git(&["checkout", "harbour.py"]);
        // Messages never contain escape sequences.
        assert!(!output.stderr.contains(&0x1b), "{args:?}");
    }
}

#[test]
fn escapes_are_shown_on_a_terminal_and_not_sent() {
    let server = ModelServer::start(vec![Step::reply(&retitling()), Step::reply(&retitling())]);
    let (repo, url) = (harbour_repo(), server.base_url());
    let odd = "od\u{202e}d.md";
    repo.file(odd, "one\n").file("reply.md", &retitling()).file("odd.md", &block(odd, "one\n", "two\n"));
    let model = ["-m", "x", "--base-url", &url, "--model", MODEL];
    let with_model = |flags: &[&'static str]| [&["edit"][..], flags, &model].concat();
    for (args, answer) in [
        (vec!["apply", "--dry-run", "reply.md"], ""),
        (with_model(&["--dry-run"]), ""),
        (with_model(&["--json", "--dry-run"]), ""),
        (vec!["apply", "odd.md"], "y\r"),
        (vec!["map"], ""),
    ] {
        let mut pty = Pty::spawn(Path::new(env!("CARGO_BIN_EXE_rhumb")), &args, &repo.path(), &[], 120, 60);
        pty.type_text(answer);
        assert_eq!(pty.wait_exit().exit_code(), 0, "{args:?}:\n{}", pty.screen());
        let sent = String::from_utf8_lossy(&pty.raw()).into_owned();
        assert!(!sent.contains("\x1b]0;") && !sent.contains('\u{202e}'), "{args:?}: {sent:?}");
        assert!(sent.contains("owned") || sent.contains("<U+202E>"), "{args:?}: {sent:?}");
    }
    assert_eq!(repo.read(odd), "two\n");
}
