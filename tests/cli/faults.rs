//! Faults of the system: a full disk, missing permissions, folders and programs, and a closed standard output.

#![allow(clippy::print_stderr)] // skipped tests are reported

use std::process::{Command as Program, Stdio};

use super::*;

/// A repository with two large files, and a state folder.
struct Scene {
    repo: TestRepo,
    state: tempfile::TempDir,
}

const FILES: [&str; 2] = ["north.txt", "south.txt"];

/// A text of 40,000 bytes that begins with `first`.
fn long(first: &str) -> String {
    let lines: String = (0..2000).map(|line| format!("depth {line:05} fathoms\n")).collect();
    format!("{first}\n{}", &lines[..40_000])
}

/// A reply that changes both files.
fn both() -> String {
    FILES.map(|path| block(path, "old\ndepth 00000 fathoms\n", "new\ndepth 00000 fathoms\n")).concat()
}

impl Scene {
    fn new() -> Self {
        let repo = TestRepo::new();
        for path in FILES {
            repo.file(path, &long("old"));
        }
        repo.commit("Start");
        Self { repo, state: tempfile::tempdir().unwrap() }
    }

    /// Runs a shell line in which `"$0"` is rhumb and `"$@"` are `args`.
    fn shell(&self, script: &str, args: &[&str]) -> Command {
        let mut command = hermetic("sh", &self.repo.path());
        command.args(["-c", script, env!("CARGO_BIN_EXE_rhumb")]).args(args).env("XDG_STATE_HOME", self.state.path());
        command
    }

    /// Applies [`both`] in a shell.
    #[track_caller]
    fn apply(&self, script: &str, flags: &[&str]) -> (i32, String, String) {
        let mut command = self.shell(script, &[&["apply"], flags, &["-"]].concat());
        command.write_stdin(both());
        run(command)
    }

    fn texts(&self) -> [String; 2] {
        FILES.map(|path| self.repo.read(path))
    }

    /// The names in the folder.
    fn names(&self) -> Vec<String> {
        names(&self.repo.path())
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn before() -> [String; 2] {
    [long("old"), long("old")]
}

fn after() -> [String; 2] {
    [long("new"), long("new")]
}

/// Whether a program exists and works with these arguments. If not, prints that the test is skipped.
pub fn works(program: &str, args: &[&str]) -> bool {
    let status = Program::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let works = status.is_ok_and(|status| status.success());
    if !works {
        eprintln!("skipped: {program} {args:?} does not work here");
    }
    works
}

/// The command that runs a shell in a mount namespace: as root, or with a user namespace.
fn mounts() -> Option<&'static str> {
    let tries = ["unshare -m", "unshare -rm"];
    let place = tempfile::tempdir().unwrap();
    let works = |unshare: &&str| {
        let script = format!("{unshare} mount -t tmpfs none \"$0\"");
        let status = Program::new("sh").args(["-c", &script]).arg(place.path()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    };
    let found = tries.into_iter().find(|unshare| works(unshare));
    if found.is_none() {
        eprintln!("skipped: no small file system can be mounted here");
    }
    found
}

#[test]
fn a_limit_on_the_size_of_files_leaves_all_old_or_all_new() {
    let mut seen = [false; 3];
    // In blocks of 512 or 1024 bytes, depending on the shell. SIGXFSZ must not end the program.
    for limit in [0, 1, 16, 40, 100, 1000] {
        let scene = Scene::new();
        let script = format!("ulimit -f {limit}; exec \"$0\" \"$@\"");
        let (mut code, _, mut err) = scene.apply(&script, &["--yes"]);
        let undoable = code == 0;
        // The journal record does not fit: the write is refused, and a smaller one succeeds.
        if err.contains("cannot be recorded") {
            assert_eq!((code, scene.texts()), (3, before()), "{limit}: {err}");
            (code, _, err) = scene.apply(&script, &["--yes", "--no-journal"]);
        }
        assert_eq!(scene.names(), [".git", "north.txt", "south.txt"], "{limit}: something was left behind");
        match code {
            0 => assert_eq!(scene.texts(), after(), "{limit}: {err}"),
            3 => {
                assert_eq!(scene.texts(), before(), "{limit}: {err}");
                assert!(
                    err.contains("north.txt (")
                        && err.contains("exceed the maximum file size")
                        && err.contains("ulimit"),
                    "{err}"
                );
            }
            _ => panic!("{limit}: {code} {err}"),
        }
        // A record that does not fit leaves no file.
        let undone = run(scene.shell("exec \"$0\" \"$@\"", &["undo"])).0;
        assert_eq!((undone == 0, scene.texts() == before()), (undoable, undoable || code == 3), "{limit}");
        seen = [seen[0] | (code == 3), seen[1] | (code == 0 && !undoable), seen[2] | undoable];
    }
    assert_eq!(seen, [true; 3], "refused, written only, and written with a record");
}

/// Runs rhumb on a small disk, once for each amount of free space (in KiB), and checks the result while the disk is
/// still full. After an `L` the files have hard links, which keep the old content, so that the write frees no space
/// for the commit.
const ON_A_FULL_DISK: &str = r#"
    disk="$RESULTS/disk"; mkdir "$disk"
    for left in $ROOM; do
        out="$RESULTS/$left"; mkdir "$out"
        mount -t tmpfs -o size=1m none "$disk" && cp -a . "$disk/repo" && cd "$disk/repo" || exit 77
        case $left in L*) ln north.txt south.txt "$disk" ;; esac
        free=$(df -k --output=avail . | tail -n 1)
        dd if=/dev/zero of="$disk/fill" bs=1k count=$((free - ${left#L})) 2>/dev/null
        "$0" "$@" >"$out/out" 2>"$out/err"; echo $? >"$out/code"
        cp north.txt south.txt "$out"
        git log --format=%s >"$out/log"; git show HEAD:south.txt | head -n 1 >"$out/head"
        git fsck --no-dangling >"$out/fsck" 2>&1; echo $? >"$out/sound"
        { ls -A; ls -A .git | grep lock; } >"$out/names"
        cd "$OLDPWD"; umount "$disk"
    done"#;

#[test]
fn a_disk_that_fills_up_at_any_point_leaves_all_old_or_all_new_and_git_whole() {
    let Some(unshare) = mounts() else { return };
    let scene = Scene::new();
    let amounts = |most: u32, step: usize| (0..=most).step_by(step);
    let linked = amounts(160, 8).map(|left| format!("L{left}"));
    let room: Vec<String> = amounts(160, 16).map(|left| left.to_string()).chain(linked).collect();
    let server = ModelServer::start(room.iter().map(|_| Step::reply(&both())).collect());
    let (results, url) = (tempfile::tempdir().unwrap(), server.base_url());
    let args = ["edit", "-m", "Sound anew", "--yes", "--file", FILES[0], "--file", FILES[1], "--base-url", &url];
    let mut command = scene.shell("exec $UNSHARE sh -c \"$SCRIPT\" \"$0\" \"$@\"", &args);
    command.args(["--model", MODEL]).env("UNSHARE", unshare).env("SCRIPT", ON_A_FULL_DISK);
    let (code, out, err) = run({
        command.env("ROOM", room.join(" ")).env("RESULTS", results.path());
        command
    });
    assert_eq!(code, 0, "{out}{err}");
    let mut seen = [false; 3];
    for left in &room {
        let said = |name: &str| fs::read_to_string(results.path().join(left).join(name)).unwrap();
        let (texts, err) = (FILES.map(said), said("err"));
        let committed = said("log") == "Update north.txt and south.txt\nStart\n";
        match said("code").trim() {
            "0" => assert_eq!(texts, after(), "{left}: {err}"),
            "3" => assert!(texts == before() && !committed && err.contains("no space left to write"), "{left}: {err}"),
            code => panic!("{left}: {code} {err}"),
        }
        let written = texts == after();
        assert_eq!(said("head"), if committed { "new\n" } else { "old\n" }, "{left}: {err}");
        assert!(committed || !written || err.contains("Not committed: "), "{left}: {err}");
        assert_eq!(said("sound").trim(), "0", "{left}: {}", said("fsck"));
        assert_eq!(said("names"), ".git\nnorth.txt\nsouth.txt\n", "{left}: something was left behind");
        seen = [seen[0] | !written, seen[1] | (written && !committed), seen[2] | committed];
    }
    assert_eq!(seen, [true; 3], "refused, written only, and committed");
}

#[test]
fn a_full_disk_under_the_state_folder_is_reported_before_anything_is_written() {
    let Some(unshare) = mounts() else { return };
    let scene = Scene::new();
    let script = "exec $UNSHARE sh -c 'mount -t tmpfs -o size=64k none \"$XDG_STATE_HOME\" || exit 77
        dd if=/dev/zero of=\"$XDG_STATE_HOME/fill\" bs=1k 2>/dev/null; exec \"$0\" \"$@\"' \"$0\" \"$@\"";
    let apply = |flags: &[&str]| {
        let mut command = scene.shell(script, &[&["apply", "--yes"], flags, &["-"]].concat());
        command.env("UNSHARE", unshare).write_stdin(both());
        run(command)
    };
    let (code, _, err) = apply(&[]);
    assert!(code == 3 && err.contains("cannot be recorded") && err.contains("Free space there"), "{code} {err}");
    assert_eq!((scene.texts(), scene.names().len()), (before(), 3));
    let (code, _, err) = apply(&["--no-journal"]);
    assert_eq!((code, scene.texts()), (0, after()), "{err}");
}

#[test]
fn what_may_not_be_written_is_marked_before_and_named_when_it_is_tried() {
    let scene = Scene::new();
    let path = scene.repo.path().join(FILES[1]);
    let path = path.to_str().unwrap();
    // Mode bits do not stop root, but an immutable file does.
    let is_root = rustix::process::geteuid().is_root();
    if is_root && !works("chattr", &["+i", path]) {
        return;
    }
    if !is_root {
        works("chmod", &["a-w", path]);
    }
    let plain = "exec \"$0\" \"$@\"";
    let (code, out, err) = scene.apply(plain, &["--dry-run", "--json"]);
    let (refused, told, said) = scene.apply(plain, &["--yes", "--json"]);
    works("chattr", &["-i", path]);
    let flags =
        |out: &str| json(out)["hunks"].as_array().unwrap().iter().map(|hunk| hunk["flags"].to_string()).collect();
    let marked: Vec<String> = flags(&out);
    assert!(
        code == 0 && !marked[0].contains("read-only") && marked[1].contains("read-only"),
        "{code} {marked:?} {err}"
    );
    assert!(refused == 3 && said.contains("south.txt") && said.contains("Nothing was written"), "{refused} {said}");
    assert!(said.contains(if is_root { "chattr -i" } else { "chmod u+w" }), "{said}");
    assert_eq!(json(&told)["files"], serde_json::json!([]));
    assert_eq!((scene.texts(), scene.names().len()), (before(), 3));
}

#[test]
fn a_folder_of_another_user_is_not_written() {
    let scene = Scene::new();
    // Root must switch to another user to be refused by mode bits.
    let as_nobody =
        if rustix::process::geteuid().is_root() { "setpriv --reuid=65534 --regid=65534 --clear-groups" } else { "" };
    if !as_nobody.is_empty() && !works("setpriv", &["--reuid=65534", "--regid=65534", "--clear-groups", "true"]) {
        return;
    }
    let reply = scene.state.path().join("reply.md");
    fs::write(&reply, both()).unwrap();
    for (folder, mode) in [(scene.state.path(), "755"), (&scene.repo.path(), "555")] {
        works("chmod", &[mode, folder.to_str().unwrap()]);
    }
    let look = format!("{as_nobody} \"$0\" version >/dev/null 2>&1");
    let reach = Program::new("sh").args(["-c", &look]).arg(env!("CARGO_BIN_EXE_rhumb")).status();
    if !reach.is_ok_and(|status| status.success()) {
        eprintln!("skipped: somebody else cannot run the program that is tested");
        return;
    }
    let script = format!("XDG_STATE_HOME=/nonexistent; export XDG_STATE_HOME; exec {as_nobody} \"$0\" \"$@\"");
    let tried = || run(scene.shell(&script, &["apply", "--yes", "--no-journal", reply.to_str().unwrap()]));
    let (code, _, err) = tried();
    for path in FILES {
        works("chmod", &["a+w", scene.repo.path().join(path).to_str().unwrap()]);
    }
    let (again, _, of_folder) = tried();
    works("chmod", &["755", scene.repo.path().to_str().unwrap()]);
    assert!(code == 3 && err.contains("no permission to write north.txt"), "{code} {err}");
    // If the files are writable, the folder is not, and the error names it.
    let folder = scene.repo.path().canonicalize().unwrap();
    assert!(again == 3 && of_folder.contains(&format!("in the folder {}", folder.display())), "{again} {of_folder}");
    assert!(of_folder.contains("permission on that folder"), "{of_folder}");
    assert_eq!((scene.texts(), scene.names().len()), (before(), 3));
}

#[test]
fn a_file_that_is_open_in_an_editor_is_flagged_before_and_reported_after() {
    let scene = Scene::new();
    scene.repo.file(".south.txt.swp", "b0VIM 9.1");
    let (code, out, err) = scene.apply("exec \"$0\" \"$@\"", &["--yes", "--json"]);
    let told = json(&out);
    let marks = |at: usize| told["hunks"][at]["flags"].to_string().contains("open-in-editor");
    assert!(code == 0 && !marks(0) && marks(1), "{code} {out} {err}");
    assert!(err.contains("Open in an editor: south.txt (.south.txt.swp).") && !err.contains("north.txt ("), "{err}");
    assert_eq!(scene.texts(), after());
}

#[test]
fn a_file_with_hard_links_is_flagged_becomes_a_separate_file_and_is_reported() {
    let scene = Scene::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path().join("other");
    let [_, south] = before();
    fs::hard_link(scene.repo.path().join("south.txt"), &other).unwrap();
    let (code, out, err) = scene.apply("exec \"$0\" \"$@\"", &["--yes", "--json"]);
    let told = json(&out);
    let marks = |at: usize| told["hunks"][at]["flags"].to_string().contains("hard-linked");
    assert!(code == 0 && !marks(0) && marks(1), "{code} {out} {err}");
    assert!(err.contains("south.txt had hard links, which keep the old content."), "{err}");
    assert_eq!((scene.texts(), fs::read_to_string(other).unwrap()), (after(), south));
}

#[test]
fn several_programs_that_write_one_file_at_once_lose_nothing() {
    let scene = Scene::new();
    let path = FILES[0];
    let replies: Vec<String> = (0..6)
        .map(|at| block(path, &format!("depth {at:05} fathoms\n"), &format!("depth {at:05} fathoms, sounded\n")))
        .collect();
    let running: Vec<_> = replies
        .iter()
        .map(|reply| {
            let mut command = scene.shell("exec \"$0\" \"$@\"", &["apply", "--yes", "-"]);
            command.write_stdin(reply.clone());
            std::thread::spawn(move || run(command))
        })
        .collect();
    let ended: Vec<_> = running.into_iter().map(|thread| thread.join().unwrap()).collect();
    let text = scene.repo.read(path);
    for (at, (code, _, err)) in ended.iter().enumerate() {
        let sounded = text.contains(&format!("depth {at:05} fathoms, sounded\n"));
        assert_eq!(sounded, *code == 0, "{at}: {code} {err}");
        assert!(
            sounded || (*code == 3 && (err.contains("changed on disk") || err.contains("is writing here"))),
            "{err}"
        );
    }
    assert!(ended.iter().any(|(code, ..)| *code == 0));
    assert_eq!(text.replace(", sounded", ""), long("old"));
}

#[test]
fn a_file_is_synced_before_it_is_moved_into_place() {
    if !works("strace", &["-o", "/dev/null", "true"]) {
        return;
    }
    let scene = Scene::new();
    let trace = scene.state.path().join("trace");
    let calls = "fsync,fdatasync,rename,renameat,renameat2";
    let script = format!("exec strace -f -y -e trace={calls} -o \"$XDG_STATE_HOME/trace\" \"$0\" \"$@\"");
    let (code, _, err) = scene.apply(&script, &["--yes"]);
    assert_eq!(code, 0, "{err}");
    let trace = fs::read_to_string(trace).unwrap();
    let lines: Vec<&str> = trace.lines().collect();
    // The first line from `from` on that holds all of `words`.
    let find = |from: usize, words: &[&str]| {
        let holds = |line: &&str| words.iter().all(|word| line.contains(word)) && line.contains("= 0");
        let found = lines.iter().skip(from).position(holds).map(|at| from + at);
        found.unwrap_or_else(|| panic!("no {words:?} from line {from} on:\n{trace}"))
    };
    let root = scene.repo.path();
    let folder = |path: &Path| format!("<{}>)", path.display());
    let record = find(0, &["fsync(", "/journal/", "/new-"]);
    let recorded = find(record, &["rename", ".doing\""]);
    let journal = scene.state.path().join("rhumb/journal");
    let kept = find(recorded, &["fsync(", &format!("<{}/", journal.canonicalize().unwrap().display())]);
    let first = find(0, &["rename", "\"north.txt\""]);
    for path in FILES {
        let moved = find(kept, &["rename", &format!("\"{path}\"")]);
        let temp = lines[moved].split('"').nth(1).unwrap();
        assert!(find(kept, &["fsync(", temp]) < first, "all are laid down before one is moved:\n{trace}");
        find(moved, &["fsync(", &folder(&root)]);
    }
    assert!(kept < first && find(first, &["rename", ".done\""]) > find(first, &["fsync(", &folder(&root)]), "{trace}");
}

/// A process dies while it writes three files. Then a command runs, and one of its system calls fails.
struct Refusals {
    place: tempfile::TempDir,
}

impl Refusals {
    /// A folder `saved` with a repository and its state, in which `killed` was done and died at its second move of a file.
    fn new(killed: Option<&str>) -> Self {
        let refusals = Self { place: tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap() };
        let edits = ["a", "src/b"].map(|path| block(path, "1\n", "2\n")).concat() + &block("n/new", "", "2\n");
        fs::write(refusals.place.path().join("reply.md"), edits).unwrap();
        let (write, kill) =
            ("\"$0\" apply --yes ../../reply.md", "strace -qq -f -e inject=renameat:signal=KILL:when=2");
        let (before, act) = match killed {
            Some("write") => (":", format!("{kill} {write}")),
            Some(_) => (write, format!("{kill} \"$0\" undo")),
            None => (":", ":".to_owned()),
        };
        let files = "mkdir -p live/root/src live/state && cd live/root && echo 1 >a && echo 1 >src/b";
        refusals.shell(&format!("{files} && {before} && {{ {act}; cd ../..; cp -a live saved; }}"));
        refusals
    }

    fn shell(&self, script: &str) -> String {
        let mut command = hermetic("sh", self.place.path());
        command.args(["-c", script, env!("CARGO_BIN_EXE_rhumb")]);
        command.env("XDG_STATE_HOME", self.place.path().join("live/state"));
        run(command).2
    }

    /// Runs `args` on a copy of the saved folder with these flags of strace. Returns the output.
    fn traced(&self, flags: &str, args: &str) -> String {
        let fresh = "rm -rf live && cp -a saved live && cd live/root";
        self.shell(&format!("{fresh} && strace -qq -f -y -o ../../trace {flags} \"$0\" {args} <../../reply.md"))
    }

    /// The calls of the first thread that touch the repository or the journal, each as strace injects an error into it.
    fn calls(&self, args: &str) -> Vec<(String, usize)> {
        self.traced("", args);
        let trace = fs::read_to_string(self.place.path().join("trace")).unwrap();
        let own = [self.place.path().join("live/root"), self.place.path().join("live/state/rhumb/journal")];
        let process = trace.split_whitespace().next().unwrap().to_owned();
        let mut counts = std::collections::BTreeMap::new();
        let mut calls = Vec::new();
        for line in trace.lines().filter_map(|line| line.strip_prefix(&process)) {
            let Some((name, rest)) = line.trim_start().split_once('(') else { continue };
            let count = counts.entry(name.to_owned()).or_insert(0);
            *count += 1;
            let is_own = own.iter().any(|path| rest.contains(path.to_str().unwrap()));
            // These errors do not occur in practice.
            if is_own && !["close", "lseek", "fcntl", "execve", "getcwd"].contains(&name) {
                calls.push((name.to_owned(), *count));
            }
        }
        calls
    }

    /// Whether all files are new, or `None` if only some are; and the other files.
    fn picture(&self) -> (Option<bool>, Vec<String>) {
        let root = self.place.path().join("live/root");
        let read = |path: &str| fs::read_to_string(root.join(path)).ok();
        let texts = ["a", "src/b", "n/new"].map(read);
        let is = |wanted: [Option<&str>; 3]| texts.each_ref().map(Option::as_deref) == wanted;
        let state = match (is([Some("2\n"); 3]), is([Some("1\n"), Some("1\n"), None])) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let mut others: Vec<String> = [root.clone(), root.join("src"), root.join("n")]
            .iter()
            .filter(|at| at.is_dir())
            .flat_map(|at| names(at))
            .collect();
        others.retain(|name| name.starts_with(".rhumb-"));
        let journal = self.place.path().join("live/state/rhumb/journal");
        let folders = if journal.is_dir() { names(&journal) } else { Vec::new() };
        let records = folders.iter().map(|name| journal.join(name)).filter(|at| at.is_dir()).flat_map(|at| names(&at));
        others.extend(records.filter(|name| name.ends_with("doing")));
        (state, others)
    }
}

/// Injects an error at each call of `args` in turn, once or from there on, and checks that a later start without
/// an error leaves all files old or all new. Each call gets one of the errors, with `RHUMB_SWEEP=all` all. Returns the number of runs.
fn refuse_each(killed: Option<&str>, args: &str) -> usize {
    let refusals = Refusals::new(killed);
    let calls = refusals.calls(args);
    assert!(calls.len() > 25, "{killed:?} {args}: only {calls:?}");
    let ways = [("EIO", ""), ("EACCES", ""), ("EIO", "+"), ("EACCES", "+")];
    let all = std::env::var("RHUMB_SWEEP").is_ok_and(|sweep| sweep == "all");
    let mut runs = 0;
    for (at, (call, count)) in calls.iter().enumerate() {
        for (error, more) in
            ways.iter().enumerate().filter(|(way, _)| all || at % ways.len() == *way).map(|(_, way)| way)
        {
            let said = refusals.traced(&format!("-e inject={call}:error={error}:when={count}{more}"), args);
            let (at_first, _) = refusals.picture();
            refusals.shell("cd live/root && \"$0\" apply --yes - </dev/null");
            let (picture, others) = refusals.picture();
            let at = format!("{killed:?} {args}, {error} at {call} {count}{more}:\n{said}");
            assert!(picture.is_some() && others.is_empty(), "{picture:?} {others:?} after {at_first:?}: {at}");
            assert!(!said.contains("changed on disk") && !said.contains("changed since"), "{at}");
            runs += 1;
        }
    }
    runs
}

#[test]
fn an_error_of_the_system_at_any_call_of_a_write_or_a_recovery_leaves_no_set_half_new_for_good() {
    if !works("strace", &["-o", "/dev/null", "-e", "inject=sync:error=EIO", "true"]) {
        return;
    }
    let recover = "apply --yes /dev/null";
    let runs = [(None, "apply --yes --atomic -"), (Some("write"), recover), (Some("undo"), recover)]
        .map(|(killed, args)| std::thread::spawn(move || refuse_each(killed, args)));
    let runs = runs.map(|thread| thread.join().unwrap());
    eprintln!("errors at calls of a write, and of the recovery of a write and of an undo: {runs:?}");
}

#[test]
fn a_commit_needs_no_git_program() {
    let repo = harbour_repo();
    let server = ModelServer::start(vec![Step::reply(&good())]);
    let args = ["edit", "-m", "Be lenient", "--yes", "--file", "harbour.py", "--base-url", &server.base_url()];
    let mut command = rhumb(&repo.path(), &args);
    command.args(["--model", MODEL]).env("PATH", "/nonexistent");
    let (code, _, err) = run(command);
    assert!(code == 0 && err.contains("Committed as"), "{code} {err}");
    assert_eq!((repo.read("harbour.py"), repo.subjects().len()), (changed(), 2));
    untouched(&repo);
}

#[test]
fn a_folder_that_is_missing_at_the_start_is_reported() {
    let scene = Scene::new();
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" \"$@\"";
    for args in [&["map"][..], &["apply", "--yes", "-"], &["undo"], &[]] {
        let (code, out, err) = run(scene.shell(script, args));
        let told = err.contains("the current folder cannot be opened") && err.contains("a folder that exists");
        assert!(code == 3 && out.is_empty() && told, "{args:?}: {code} {err}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_printed_changes_the_exit_code() {
    let scene = Scene::new();
    for args in [&["map"][..], &["apply", "--dry-run", "-"], &["search", "--query", "depth"]] {
        let mut command = scene.shell("exec \"$0\" \"$@\" >/dev/full", args);
        command.write_stdin(both());
        let (code, _, err) = run(command);
        assert!(code == 3 && err.contains("cannot print") && err.contains("No space left"), "{args:?}: {code} {err}");
    }
}

#[test]
fn a_proxy_that_requires_a_login_is_reported() {
    let repo = harbour_repo();
    let refusal = || Step::Status { code: 407, body: "who are you\n".into(), headers: Vec::new() };
    let proxy = ModelServer::start(vec![refusal()]);
    let through = format!("http://mira:sk-canary-0123456789@{}", proxy.address());
    let args = ["edit", "-m", "x", "--yes", "--file", "harbour.py", "--model", MODEL, "--base-url"];
    let ask = |url: &str| {
        let mut command = rhumb(&repo.path(), &args);
        command.arg(url).env("HTTP_PROXY", &through).env("HTTPS_PROXY", &through);
        run(command)
    };
    let (code, _, err) = ask("http://model.example/v1");
    assert!(
        code == 4 && err.contains("407") && err.contains("who are you") && err.contains("NO_PROXY"),
        "{code} {err}"
    );
    assert!(!err.contains("; try "), "{err}");
    untouched(&repo);
}

#[test]
fn an_event_of_a_megabyte_is_read() {
    let repo = harbour_repo();
    let long = format!("{}\n\n{}", "deep ".repeat(200_000), good());
    let server = ModelServer::start(vec![Step::Reply { chunks: vec![long], gap_ms: 0 }]);
    let (code, _, err) = edit(&repo, &server, &["--yes"]);
    assert_eq!((code, repo.read("harbour.py")), (0, changed()), "{err}");
}
