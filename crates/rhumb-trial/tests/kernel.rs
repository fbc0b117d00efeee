//! Trials on a real kernel. The program starts itself as the child of a trial, so it has no test harness.
//!
//! Where the kernel refuses namespaces, the tests that need them print that they were skipped.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rhumb_trial::{Change, FileIsolation, Network, RunOptions, Trial, TrialError, TrialResult, WriteIsolation};
use rhumb_workspace::Root;
use rhumb_workspace::process::{CommandLine, End, StopHandle};
use tempfile::TempDir;

/// A test, and whether it needs namespaces.
type Test = (&'static str, fn(), bool);

const TESTS: &[Test] = &[
    ("a_command_sees_the_changes_at_the_path_of_the_repository", sees_the_changes, true),
    ("no_command_changes_the_repository", no_command_changes_the_repository, true),
    ("what_a_command_changes_is_reported", changes_are_reported, true),
    ("the_next_run_starts_from_the_files_and_keeps_build_products", next_run_starts_afresh, true),
    ("links_modes_and_folders_are_restored", links_modes_and_folders_are_restored, true),
    ("credentials_cannot_be_read", credentials_cannot_be_read, true),
    ("nothing_outside_of_the_checkout_is_written", nothing_outside_is_written, true),
    ("the_terminals_of_the_user_cannot_be_reached", terminals_are_private, true),
    ("the_network_is_as_wide_as_requested", network_is_limited, true),
    ("all_processes_end_with_the_command", all_processes_end, true),
    ("inherited_descriptors_are_closed", inherited_descriptors_are_closed, true),
    ("a_fork_bomb_ends", a_fork_bomb_ends, true),
    ("a_killed_program_leaves_no_process_and_the_next_trial_cleans_up", a_kill_leaves_nothing, true),
    ("a_changed_file_makes_the_result_stale", a_changed_file_is_stale, true),
    ("awkward_paths_are_mounted", awkward_paths_are_mounted, true),
    ("a_linked_work_tree_protects_its_repository", linked_work_tree, true),
    ("limits_and_exit_codes_are_reported", exit_codes_are_reported, true),
    ("a_change_cannot_leave_the_checkout", a_change_cannot_leave, true),
    ("a_copy_protects_the_repository", a_copy_protects, false),
    ("a_trial_inside_of_the_repository_is_copied", a_trial_inside_of_the_repository_is_copied, false),
    ("a_large_repository_is_not_copied", a_large_repository_is_not_copied, false),
    ("the_start_does_not_depend_on_the_number_of_files", start_is_independent_of_size, true),
];

fn main() -> ExitCode {
    if let Some(code) = rhumb_trial::child() {
        return code;
    }
    let mut arguments = std::env::args().skip(1);
    if std::env::args().any(|argument| argument == "--run-and-wait") {
        return run_and_wait(&arguments.nth(1).unwrap());
    }
    let filter = arguments.find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let isolation = {
        let place = Place::new();
        place.trial().probe(Network::None)
    };
    let mounts = matches!(&isolation, Ok(isolation) if isolation.files == FileIsolation::Overlay);
    println!("isolation here: {isolation:?}");
    let (mut failed, mut skipped) = (0, 0);
    for (name, test, needs_mounts) in TESTS.iter().filter(|(name, ..)| name.contains(&filter)) {
        if *needs_mounts && !mounts {
            skipped += 1;
            println!("test {name} ... SKIPPED: this kernel does not allow the namespaces");
            continue;
        }
        let passed = std::panic::catch_unwind(test).is_ok();
        failed += usize::from(!passed);
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
    }
    println!("{failed} failed, {skipped} skipped");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A repository with a commit, an uncommitted change, an untracked and an ignored file; and a folder for trials.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        Self::named("repo")
    }

    fn named(name: &str) -> Self {
        let place = Self { folder: tempfile::Builder::new().prefix("rhumb-trial-").tempdir_in(base()).unwrap() };
        let repo = place.folder.path().join(name);
        fs::create_dir_all(repo.join("src")).unwrap();
        std::os::unix::fs::symlink(&repo, place.folder.path().join("link-to-repo")).unwrap();
        fs::write(repo.join("src/a.txt"), "one\n").unwrap();
        fs::write(repo.join("src/b.txt"), "two\n").unwrap();
        fs::write(repo.join(".gitignore"), "/build/\n").unwrap();
        git(&repo, &["init", "-q", "-b", "main"]);
        git(&repo, &["add", "-A"]);
        git(&repo, &["-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "-m", "first"]);
        fs::write(repo.join("src/a.txt"), "one, changed\n").unwrap();
        fs::write(repo.join("untracked.txt"), "new\n").unwrap();
        fs::create_dir_all(repo.join("build")).unwrap();
        fs::write(repo.join("build/product"), "built\n").unwrap();
        std::os::unix::fs::symlink("src/b.txt", repo.join("link")).unwrap();
        git(&repo, &["init", "-q", "--bare", "../remote.git"]);
        git(&repo, &["remote", "add", "origin", "../remote.git"]);
        place
    }

    fn repo(&self) -> PathBuf {
        let mut folders = fs::read_dir(self.folder.path()).unwrap().flatten().map(|entry| entry.path());
        folders.find(|path| path.join("src/a.txt").exists() && !path.is_symlink()).unwrap()
    }

    fn root(&self) -> Root {
        Root::at(&self.repo()).unwrap()
    }

    fn trials(&self) -> PathBuf {
        self.folder.path().join("state/trials")
    }

    fn trial(&self) -> Trial {
        Trial::new(&self.root(), &self.trials()).unwrap()
    }

    /// Everything about the files of the repository, its git data and the remote one.
    fn state(&self) -> BTreeMap<PathBuf, String> {
        let mut state = BTreeMap::new();
        for folder in [self.repo(), self.folder.path().join("remote.git")] {
            record(&folder, &mut state);
        }
        state
    }
}

/// A folder outside of `/tmp`, which is empty in a trial.
fn base() -> PathBuf {
    let target = std::env::current_exe().unwrap().parent().unwrap().join("trial-tests");
    fs::create_dir_all(&target).unwrap();
    target
}

fn record(path: &Path, state: &mut BTreeMap<PathBuf, String>) {
    let meta = fs::symlink_metadata(path).unwrap();
    let content = if meta.is_file() { fs::read(path).unwrap() } else { Vec::new() };
    // Reading a folder or a link changes its time of access alone.
    let facts = (meta.mode(), meta.ino(), meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ctime_nsec(), content);
    state.insert(path.to_owned(), format!("{facts:?}"));
    if meta.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            record(&entry.path(), state);
        }
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
}

fn options(line: &str) -> RunOptions {
    let mut options = RunOptions::new(CommandLine::Shell(line.to_owned()));
    options.time_limit = Some(Duration::from_secs(60));
    options
}

fn run_with(trial: &mut Trial, changes: &[Change], options: &RunOptions) -> TrialResult {
    trial.run(changes, options, &StopHandle::default(), &mut || Ok(None), &mut |_, _| {}).unwrap()
}

fn run(trial: &mut Trial, changes: &[Change], line: &str) -> TrialResult {
    run_with(trial, changes, &options(line))
}

fn said(result: &TrialResult) -> &str {
    result.outcome.output.text.trim_end()
}

fn code(result: &TrialResult) -> i32 {
    match result.outcome.end {
        End::Exit(code) => code,
        end => panic!("{end:?}: {}", result.outcome.output.text),
    }
}

fn sees_the_changes() {
    let place = Place::new();
    let changes = [
        Change::write("src/a.txt", b"proposed\n".to_vec()),
        Change::write("src/new/deep.txt", b"deep\n".to_vec()),
        Change::delete("src/b.txt"),
    ];
    let before = place.state();
    let mut trial = place.trial();
    let result =
        run(&mut trial, &changes, "pwd; cat src/a.txt src/new/deep.txt untracked.txt build/product; ls src; id -u");
    let uid = rustix_uid();
    let expected = format!("{}\nproposed\ndeep\nnew\nbuilt\na.txt\nnew\n{uid}", place.repo().display());
    assert_eq!(said(&result), expected);
    assert_eq!(result.changed, [], "the changes of the caller are not those of the command");
    assert_eq!(result.isolation.files, FileIsolation::Overlay);
    assert!(result.stale.is_empty());
    drop(trial);
    assert_eq!(place.state(), before);
    assert_eq!(fs::read_dir(place.trials()).unwrap().count(), 0, "nothing is left behind");
}

fn rustix_uid() -> String {
    let output = Command::new("id").arg("-u").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn no_command_changes_the_repository() {
    let place = Place::new();
    let repo = place.repo();
    let path = repo.display();
    let before = place.state();
    let mut trial = place.trial();
    for line in [
        "rm -rf . ./.[!.]* ; ls -A".to_owned(),
        "git -c safe.directory='*' reset --hard && git clean -fdx && cat src/a.txt".to_owned(),
        "git -c user.name=T -c user.email=t@example.com commit -qam x && git log --oneline | wc -l; git branch other"
            .to_owned(),
        "git push origin main; git push --mirror origin".to_owned(),
        format!("echo x > '{path}/src/a.txt'; echo y >> link; chmod 000 src/b.txt; touch -d 2001-01-01 untracked.txt"),
        format!(
            "echo x > '/proc/self/root{path}/src/a.txt'; echo x > '/proc/1/root{path}/src/b.txt'; ln -f src/a.txt hard"
        ),
        format!(
            "echo x > '{path}/../link-to-repo/src/a.txt'; mv src elsewhere; mkdir src; rmdir build; truncate -s 0 build/product"
        ),
        "umount \"$PWD\"; umount -l .; mount --bind /etc src; unshare -Urm umount -l \"$PWD\"; true".to_owned(),
    ] {
        let result = run(&mut trial, &[Change::write("src/b.txt", b"proposed\n".to_vec())], &line);
        assert_eq!(place.state(), before, "{line}: {}", result.outcome.output.text);
    }
}

fn changes_are_reported() {
    let place = Place::new();
    let mut trial = place.trial();
    let changes = [Change::write("src/a.txt", b"proposed\n".to_vec())];
    let line = "echo formatted > src/a.txt; rm src/b.txt; mkdir -p gen; echo g > gen/x.txt; echo ignored > build/more; echo z > .git/junk";
    let result = run(&mut trial, &changes, line);
    let text = |bytes: &Option<std::sync::Arc<[u8]>>| {
        bytes.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let show =
        |file: &rhumb_trial::ChangedFile| format!("{}: {:?} -> {:?}", file.path, text(&file.before), text(&file.after));
    let changed: Vec<String> = result.changed.iter().map(show).collect();
    assert_eq!(
        changed,
        [
            r#"gen/x.txt: None -> Some("g\n")"#,
            r#"src/a.txt: Some("proposed\n") -> Some("formatted\n")"#,
            r#"src/b.txt: Some("two\n") -> None"#,
        ]
    );
    let result = run(&mut trial, &[], "rm -rf src; mkdir src; echo c > src/c.txt");
    let paths: Vec<&str> = result.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["src/a.txt", "src/b.txt", "src/c.txt"]);
}

fn next_run_starts_afresh() {
    let place = Place::new();
    let mut trial = place.trial();
    run(
        &mut trial,
        &[Change::write("src/a.txt", b"first\n".to_vec())],
        "echo kept > build/cache; echo x > stray.txt; rm src/b.txt",
    );
    fs::write(place.repo().join("untracked.txt"), "changed by the user\n").unwrap();
    let newer = "test src/a.txt -nt build/cache && echo newer";
    let result =
        run(&mut trial, &[], &format!("cat src/a.txt src/b.txt untracked.txt build/cache; ls stray.txt; {newer}"));
    let said = said(&result);
    assert!(said.starts_with("one, changed\ntwo\nchanged by the user\nkept\n"), "{said}");
    assert!(said.contains("No such file"), "{said}");
    // A build tool that compares times must notice that the file is another one.
    assert!(said.ends_with("newer"), "{said}");
    let again = run(&mut trial, &[], newer);
    assert!(again.outcome.output.text.contains("newer"));
    fs::write(place.repo().join("src/a.txt"), "edited later\n").unwrap();
    let result = run(&mut trial, &[], "cat src/a.txt");
    assert_eq!(result.outcome.output.text, "edited later\n", "what an earlier run restored does not hide an edit");
}

fn links_modes_and_folders_are_restored() {
    let place = Place::new();
    let mut trial = place.trial();
    let show = "ls -lR --time-style=+ . | grep -v '^total'; cat src/a.txt src/b.txt";
    let original = run(&mut trial, &[], show).outcome.output.text;
    for line in [
        "ln -sf b.txt src/a.txt",
        "chmod 700 src/b.txt",
        "rm src/a.txt; mkdir src/a.txt; touch src/a.txt/x",
        "rm -rf src; echo x > src",
        "rm link",
        "head -c 5000000 /dev/zero > large",
        "rm -rf . ; ls -A",
    ] {
        run(&mut trial, &[], line);
        let again = run(&mut trial, &[], show);
        assert_eq!(
            (again.outcome.output.text, again.isolation.files),
            (original.clone(), FileIsolation::Overlay),
            "{line}"
        );
    }
}

fn credentials_cannot_be_read() {
    let place = Place::new();
    if place.folder.path().starts_with("/tmp") {
        // The home folder of this test would be missing in the trial.
        println!(
            "test credentials_cannot_be_read ... SKIPPED: the build folder is below /tmp, which is empty in a trial"
        );
        return;
    }
    let home = place.folder.path().join("home");
    for name in [".ssh/id_rsa", ".aws/credentials", ".config/rhumb/keys.toml", ".cargo/credentials.toml"] {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), "canary").unwrap();
    }
    for name in [".netrc", ".plain"] {
        fs::write(home.join(name), "canary").unwrap();
    }
    let own = place.folder.path().join("own-state");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("key"), "canary").unwrap();
    // The home folder is taken from the environment of this process, which has one thread here.
    let output = Command::new(std::env::current_exe().unwrap())
        .env("HOME", &home)
        .arg("--run-and-wait")
        .arg(format!(
            "{}\n{}\nfor f in .ssh/id_rsa .aws/credentials .config/rhumb/keys.toml .cargo/credentials.toml .netrc {}/key; do cat ~/$f $f; done; cat ~/.plain; echo x > ~/.plain; echo c > ~/.cargo/cached && cat ~/.cargo/cached",
            place.repo().display(),
            own.display(),
            own.display(),
        ))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.matches("canary").count(), 1, "{said}");
    assert!(said.contains("canaryc\n") || said.ends_with("c\n"), "a cache is writable: {said}");
    assert_eq!(fs::read_to_string(home.join(".plain")).unwrap(), "canary");
    assert!(!home.join(".cargo/cached").exists(), "what a command caches stays in the trial");
}

/// Runs a command in a trial, prints its output, and waits. The argument: root, hidden folder, command line.
fn run_and_wait(arguments: &str) -> ExitCode {
    let mut lines = arguments.splitn(3, '\n');
    let (root, hidden, line) = (lines.next().unwrap(), lines.next().unwrap(), lines.next().unwrap());
    let root = Root::at(Path::new(root)).unwrap();
    let trials = root.path().parent().unwrap().join("state/trials");
    let mut trial = Trial::new(&root, &trials).unwrap().hiding([PathBuf::from(hidden)]);
    let result = run(&mut trial, &[], line);
    print!("{}", result.outcome.output.text);
    ExitCode::SUCCESS
}

fn nothing_outside_is_written() {
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o777)).unwrap();
    fs::write(outside.join("file"), "safe\n").unwrap();
    let marker = format!("/tmp/rhumb-trial-{}", std::process::id());
    let at = outside.display();
    let line = format!(
        "echo x > {at}/file; echo x > {at}/new; rm {at}/file; ln -s {at}/file out; echo x > out; chmod 700 {at}; touch {at}; \
         echo tmp > {marker} && cat {marker}; echo n > /dev/null && echo null; echo x > /etc/rhumb-trial"
    );
    let result = run(&mut place.trial(), &[], &line);
    assert!(said(&result).contains("\ntmp\nnull"), "{}", said(&result));
    assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "safe\n");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert!(!Path::new(&marker).exists() && !Path::new("/etc/rhumb-trial").exists());
}

const CONNECT: &str = "bash -c 'exec 3<>/dev/tcp/127.0.0.1/PORT && head -c 5 <&3'";

fn terminals_are_private() {
    let place = Place::new();
    let result = run(&mut place.trial(), &[], "ls /dev/pts; exec 3<>/dev/ptmx && ls /dev/pts; echo x > /dev/tty");
    let said = said(&result);
    assert!(said.starts_with("ptmx\n0\nptmx\n") && code(&result) != 0, "{said}");
}

fn network_is_limited() {
    let place = Place::new();
    let mut trial = place.trial();
    for (network, reaches_host) in [(Network::None, false), (Network::Loopback, true), (Network::Full, true)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || {
            listener.set_nonblocking(true).unwrap();
            let until = Instant::now() + Duration::from_secs(10);
            while Instant::now() < until {
                match listener.accept() {
                    Ok((mut stream, _)) => {
                        stream.write_all(b"hello").unwrap();
                        return true;
                    }
                    Err(_) => std::thread::sleep(Duration::from_millis(5)),
                }
            }
            false
        });
        let connect = CONNECT.replace("PORT", &port.to_string());
        let own = "python3 -c \"import socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); \
                   socket.create_connection(s.getsockname()); print('own')\" 2>&1 | tail -1";
        let mut options = options(&format!("{connect}; echo; {own}; ls /sys/class/net"));
        options.network = network;
        let result = run_with(&mut trial, &[], &options);
        let text = said(&result);
        assert_eq!(text.contains("hello"), reaches_host, "{network:?}: {text} {:?}", result.isolation);
        if network == Network::None {
            assert!(!text.contains("\nown\n"), "{text}");
        } else {
            assert!(text.contains("\nown\n"), "{network:?}: {text} {:?}", result.isolation);
        }
        if !reaches_host {
            continue;
        }
        assert!(server.join().unwrap());
    }
    // Under `loopback` no other address is reachable.
    let mut options = options("bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'; ip route 2>/dev/null | grep -c default");
    options.network = Network::Loopback;
    assert!(said(&run_with(&mut trial, &[], &options)).contains("unreachable"));
}

fn all_processes_end() {
    let place = Place::new();
    let mark = format!("{}", 40_000 + std::process::id() % 10_000);
    let line =
        format!("setsid sleep {mark} & nohup sh -c 'setsid sleep {mark}' >/dev/null 2>&1 & sleep 0.2; echo started");
    let result = run(&mut place.trial(), &[], &line);
    assert_eq!(said(&result), "started");
    assert!(!is_running(&mark));
}

fn is_running(argument: &str) -> bool {
    let wanted = format!("sleep\0{argument}\0");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|entry| fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
}

fn inherited_descriptors_are_closed() {
    let place = Place::new();
    let before = place.state();
    // The shell passes its descriptor 9, a folder of the repository, to the program.
    let line = format!(
        "exec 9<{}/src; {} --run-and-wait \"$0\"",
        place.repo().display(),
        std::env::current_exe().unwrap().display()
    );
    let run = format!(
        "{}\n/nonexistent\necho x > /proc/self/fd/9/a.txt; ls /proc/self/fd/9/ && echo open",
        place.repo().display()
    );
    let output = Command::new("sh").args(["-c", &line, &run]).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("open"), "{output:?}");
    assert_eq!(place.state(), before);
}

fn a_fork_bomb_ends() {
    let place = Place::new();
    let mut options = options("bash -c ':(){ :|:& };:'; sleep 2; echo still here");
    options.time_limit = Some(Duration::from_secs(20));
    let result = run_with(&mut place.trial(), &[], &options);
    assert!(matches!(result.outcome.end, End::Exit(_) | End::TimeLimit | End::Signal(_)));
    // The machine can start processes again.
    assert!(Command::new("true").status().unwrap().success());
}

fn a_kill_leaves_nothing() {
    let place = Place::new();
    let before = place.state();
    let mark = format!("{}", 50_000 + std::process::id() % 10_000);
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg("--run-and-wait")
        .arg(format!(
            "{}\n/nonexistent\necho x > src/a.txt; setsid sleep {mark} & sleep {mark}",
            place.repo().display()
        ))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !is_running(&mark) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(is_running(&mark));
    child.kill().unwrap();
    child.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while is_running(&mark) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!is_running(&mark), "the kernel ends the namespace with its first process");
    assert_eq!(place.state(), before);
    assert_eq!(fs::read_dir(place.trials()).unwrap().count(), 1);
    drop(place.trial());
    assert_eq!(fs::read_dir(place.trials()).unwrap().count(), 0, "the next trial removes what was left");
}

fn a_changed_file_is_stale() {
    let place = Place::new();
    let repo = place.repo();
    let editor = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        fs::write(repo.join("src/b.txt"), "edited\n").unwrap();
    });
    let result = run(&mut place.trial(), &[], "sleep 1");
    editor.join().unwrap();
    assert_eq!(result.stale, ["src/b.txt"]);
}

fn awkward_paths_are_mounted() {
    for name in ["with space", "a,b:c", "back\\slash", "ümlaut", "dot.dir=x"] {
        let place = Place::named(name);
        let before = place.state();
        let result =
            run(&mut place.trial(), &[Change::write("src/a.txt", b"new\n".to_vec())], "cat src/a.txt; rm -rf src");
        assert_eq!(said(&result), "new", "{name}: {:?}", result.isolation);
        assert_eq!(result.isolation.files, FileIsolation::Overlay, "{name}");
        assert_eq!(place.state(), before);
    }
}

fn linked_work_tree() {
    let place = Place::new();
    let tree = place.folder.path().join("tree");
    git(&place.repo(), &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "side"]);
    let before = place.state();
    let root = Root::at(&tree).unwrap();
    let mut trial = Trial::new(&root, &place.trials()).unwrap();
    let line = "echo x > new.txt; git add -A && git -c user.name=T -c user.email=t@example.com commit -qm x && git log --oneline | wc -l";
    let result = run(&mut trial, &[], line);
    assert_eq!(said(&result), "2", "git works in the trial");
    assert_eq!(place.state(), before);
}

fn exit_codes_are_reported() {
    let place = Place::new();
    let mut trial = place.trial();
    assert_eq!(code(&run(&mut trial, &[], "exit 7")), 7);
    assert_eq!(code(&run(&mut trial, &[], "no-such-program-here")), 127);
    let program = RunOptions::new(CommandLine::Program(vec!["no-such-program".into()]));
    assert_eq!(code(&run_with(&mut trial, &[], &program)), 127);
    let program = RunOptions::new(CommandLine::Program(vec!["./src/a.txt".into()]));
    assert_eq!(code(&run_with(&mut trial, &[], &program)), 126);
    assert_eq!(code(&run(&mut trial, &[], "kill -9 $$")), 137);
    let mut slow = options("sleep 30");
    slow.time_limit = Some(Duration::from_millis(300));
    assert_eq!(run_with(&mut trial, &[], &slow).outcome.end, End::TimeLimit);
    let stop = StopHandle::default();
    stop.stop();
    let stopped = trial.run(&[], &options("sleep 30"), &stop, &mut || Ok(None), &mut |_, _| {}).unwrap();
    assert_eq!(stopped.outcome.end, End::Stopped);
    assert!(matches!(
        trial.run(&[], &options("  "), &StopHandle::default(), &mut || Ok(None), &mut |_, _| {}),
        Err(TrialError::Process(_))
    ));
}

fn a_change_cannot_leave() {
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, place.repo().join("way-out")).unwrap();
    for path in ["way-out/file", "../outside/file", "/etc/x", "src/../../outside/file", "", "src//x"] {
        let changes = [Change::write(path, b"x".to_vec())];
        let result =
            place.trial().run(&changes, &options("true"), &StopHandle::default(), &mut || Ok(None), &mut |_, _| {});
        assert!(result.is_err(), "{path}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{path}");
    }
}

fn a_copy_protects() {
    let place = Place::new();
    let before = place.state();
    let mut trial = place.trial().copying("this is a test");
    let changes = [Change::write("src/a.txt", b"proposed\n".to_vec())];
    let line = format!(
        "cat src/a.txt; rm -rf src; echo n > new.txt; echo x > '{}/src/b.txt'; git log --oneline | wc -l",
        place.repo().display()
    );
    let result = run(&mut trial, &changes, &line);
    assert!(said(&result).starts_with("proposed\n"), "{}", said(&result));
    assert_eq!(result.isolation.files, FileIsolation::Copy);
    assert!(result.isolation.missing[0].contains("this is a test") && !result.isolation.is_complete());
    if result.isolation.writes != WriteIsolation::None {
        assert_eq!(place.state(), before);
    }
    let paths: Vec<&str> = result.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["new.txt", "src/a.txt", "src/b.txt"]);
    let again = run(&mut trial, &[], "cat src/a.txt; ls");
    assert!(said(&again).starts_with("one, changed\n") && !said(&again).contains("new.txt"), "{}", said(&again));
    let mark = format!("{}", 60_000 + std::process::id() % 5_000);
    run(&mut trial, &[], &format!("setsid sleep {mark} & sleep 0.2"));
    assert!(!is_running(&mark), "a process that left the group ends as well");
    for line in ["sleep 60", "trap '' TERM; sleep 60"] {
        let mut slow = options(&format!("setsid sleep {mark} & {line}"));
        slow.time_limit = Some(Duration::from_millis(300));
        assert_eq!(run_with(&mut trial, &[], &slow).outcome.end, End::TimeLimit);
        assert!(!is_running(&mark), "also after the time limit: {line}");
    }
}

fn a_trial_inside_of_the_repository_is_copied() {
    let place = Place::new();
    let mut trial = Trial::new(&place.root(), &place.repo().join("build/trials")).unwrap();
    let result = run(&mut trial, &[], "cat src/a.txt; rm -rf src");
    assert_eq!(said(&result), "one, changed");
    assert_eq!(result.isolation.files, FileIsolation::Copy);
    assert!(place.repo().join("src/a.txt").exists());
}

fn a_large_repository_is_not_copied() {
    let place = Place::new();
    fs::write(place.repo().join("large"), vec![0; 1 << 20]).unwrap();
    let mut trial = place.trial().copying("this is a test");
    trial.set_max_copy_bytes(100_000);
    let result = trial.run(&[], &options("true"), &StopHandle::default(), &mut || Ok(None), &mut |_, _| {});
    let Err(error @ TrialError::TooLarge { bytes, limit, .. }) = &result else { panic!("{result:?}") };
    assert!(*bytes > 1 << 20 && *limit == 100_000);
    assert!(error.to_string().ends_with("its size of 2 MB exceeds the limit of 1 MB"), "{error}");
    let isolation = trial.probe(Network::None).unwrap();
    assert!(isolation.missing[0].ends_with("; the copy has 2 MB"), "{:?}", isolation.missing);
}

/// Counts the system calls of a start instead of its time.
fn start_is_independent_of_size() {
    let place = Place::new();
    let count = || {
        let mut command = Command::new("strace");
        command.args(["-f", "-c", "-o", "/dev/stdout"]).arg(std::env::current_exe().unwrap()).arg("--run-and-wait");
        command.arg(format!("{}\n/nonexistent\ntrue", place.repo().display()));
        let output = command.output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let total = text.lines().find(|line| line.trim_end().ends_with("total"))?.to_owned();
        total.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).max()
    };
    let Some(small) = count() else {
        println!("    SKIPPED: strace is not installed");
        return;
    };
    for number in 0..300 {
        let folder = place.repo().join(format!("build/{number}"));
        fs::create_dir_all(&folder).unwrap();
        (0..10).for_each(|file| fs::write(folder.join(file.to_string()), "x").unwrap());
    }
    let large = count().unwrap();
    assert!(large < small + 300, "{small} system calls became {large} with 3,000 more files");
    let mut kept = String::new();
    fs::File::open("/proc/self/status").unwrap().read_to_string(&mut kept).unwrap();
}
