//! Trials on a real kernel. The program starts itself as the child of a trial, so it has no test harness.
//!
//! Where the kernel refuses namespaces, the tests that need them print that they were skipped.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rhumb_trial::{Change, FileIsolation, Limits, Network, RunOptions, Trial, TrialError, TrialResult, WriteIsolation};
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
    ("deleted_files_keep_their_mode_and_new_folders_are_removed", deleted_files_and_new_folders_are_restored, true),
    ("what_was_changed_may_become_a_folder_or_a_link", changed_files_are_replaced_in_the_repository, true),
    ("tracked_files_that_are_ignored_are_restored", ignored_files_that_are_tracked, true),
    ("files_of_others_are_copied", files_of_others_are_copied, true),
    ("a_command_that_signals_its_group_ends_by_itself", signals_stay_in_the_trial, true),
    ("sockets_of_other_programs_cannot_be_reached", sockets_are_hidden, true),
    ("credentials_cannot_be_read", credentials_cannot_be_read, true),
    ("nothing_outside_of_the_checkout_is_written", nothing_outside_is_written, true),
    ("the_terminals_of_the_user_cannot_be_reached", terminals_are_private, true),
    ("the_network_is_as_wide_as_requested", network_is_limited, true),
    ("all_processes_end_with_the_command", all_processes_end, true),
    ("inherited_descriptors_are_closed", inherited_descriptors_are_closed, true),
    ("a_fork_bomb_ends", a_fork_bomb_ends, true),
    ("too_much_memory_ends_a_command", too_much_memory_ends_a_command, true),
    ("a_full_disk_ends_a_command", a_full_disk_ends_a_command, true),
    ("a_command_in_a_copy_has_the_same_limits", a_command_in_a_copy_is_limited, false),
    ("a_mount_below_the_repository_is_named_and_copied", a_mount_below_is_copied, true),
    ("a_killed_program_leaves_no_process_and_the_next_trial_cleans_up", a_kill_leaves_nothing, true),
    ("a_changed_file_makes_the_result_stale", a_changed_file_is_stale, true),
    ("moved_and_deleted_files_make_the_result_stale", moved_and_deleted_files_are_stale, true),
    ("awkward_paths_are_mounted", awkward_paths_are_mounted, true),
    ("a_linked_work_tree_protects_its_repository", linked_work_tree, true),
    ("a_work_tree_in_its_repository_protects_it", work_tree_in_its_repository, true),
    ("a_cache_that_cannot_be_mounted_is_read_only", cache_with_a_mount, true),
    ("a_large_file_is_not_reported_as_deleted", large_files_are_left_out, true),
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
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (name, test, needs_mounts) in TESTS.iter().filter(|(name, ..)| name.contains(&filter)) {
        if *needs_mounts && !mounts {
            skipped += 1;
            println!("test {name} ... SKIPPED: this kernel does not allow the namespaces");
            continue;
        }
        let is_ok = std::panic::catch_unwind(test).is_ok();
        *(if is_ok { &mut passed } else { &mut failed }) += 1;
        println!("test {name} ... {}", if is_ok { "ok" } else { "FAILED" });
    }
    let result = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {result}. {passed} passed; {failed} failed; {skipped} skipped");
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

fn deleted_files_and_new_folders_are_restored() {
    let place = Place::new();
    fs::set_permissions(place.repo().join("src/b.txt"), Permissions::from_mode(0o755)).unwrap();
    let mut trial = place.trial();
    let products = "mkdir -p build/deep new/build && touch build/deep/x";
    run(
        &mut trial,
        &[Change::delete("src/b.txt")],
        &format!("rm src/a.txt && mkdir new && echo x > new/file && {products}"),
    );
    let show = "stat -c '%a %n' src/a.txt src/b.txt; ls; ls build";
    let result = run(&mut trial, &[], show);
    assert_eq!(said(&result), "644 src/a.txt\n755 src/b.txt\nbuild\nlink\nsrc\nuntracked.txt\ndeep\nproduct");
    // A hunk may create the same folder, and the repository may have it later.
    let change = [Change::write("new/file", b"hunk\n".to_vec())];
    assert_eq!(said(&run(&mut trial, &change, "cat new/file")), "hunk");
    fs::create_dir(place.repo().join("new")).unwrap();
    fs::write(place.repo().join("new/other"), "").unwrap();
    assert_eq!(said(&run(&mut trial, &[], "ls new; ls build")), "other\ndeep\nproduct");
}

fn changed_files_are_replaced_in_the_repository() {
    let place = Place::new();
    let mut trial = place.trial();
    let at = place.repo().join("dist");
    run(&mut trial, &[], "echo x > dist; echo y > src/a.txt");
    fs::create_dir(&at).unwrap();
    fs::write(at.join("page"), "").unwrap();
    assert_eq!(said(&run(&mut trial, &[], "ls dist; cat src/a.txt")), "page\none, changed");
    run(&mut trial, &[], "echo x > dist/page");
    fs::remove_dir_all(&at).unwrap();
    std::os::unix::fs::symlink("src", &at).unwrap();
    let result = run(&mut trial, &[], "readlink dist");
    assert_eq!((said(&result), result.isolation.files), ("src", FileIsolation::Overlay));
}

fn ignored_files_that_are_tracked() {
    let place = Place::new();
    let repo = place.repo();
    fs::create_dir_all(repo.join("vendor")).unwrap();
    fs::write(repo.join(".gitignore"), "/build/\nvendor/\n").unwrap();
    fs::write(repo.join(".ignore"), "*.lock\n").unwrap();
    fs::write(repo.join("vendor/kept"), "kept\n").unwrap();
    fs::write(repo.join("a.lock"), "locked\n").unwrap();
    git(&repo, &["add", "-f", "vendor/kept", "a.lock"]);
    let mut trial = place.trial();
    let result = run(&mut trial, &[], "echo x | tee vendor/kept a.lock vendor/product build/product");
    let paths: Vec<&str> = result.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["vendor/kept"], "what .ignore hides is not shown, but restored");
    let result = run(&mut trial, &[], "cat vendor/kept a.lock vendor/product build/product");
    assert_eq!(said(&result), "kept\nlocked\nx\nx");
}

fn files_of_others_are_copied() {
    let place = Place::new();
    let at = place.repo().join("src/b.txt");
    if std::os::unix::fs::chown(&at, Some(12_345), None).is_err() {
        println!("files_of_others_are_copied: SKIPPED: only root can give files away");
        return;
    }
    let mut trial = place.trial();
    let result = run(&mut trial, &[], "cat src/a.txt");
    assert_eq!(result.isolation.files, FileIsolation::Overlay);
    let result = run(&mut trial, &[Change::write("src/b.txt", b"hunk\n".to_vec())], "cat src/b.txt");
    assert_eq!((said(&result), result.isolation.files), ("hunk", FileIsolation::Copy));
    assert!(result.isolation.missing[0].contains("src/b.txt belongs to another user or group"), "{result:?}");
    let result = run(&mut trial, &[Change::write("src/a.txt", b"hunk\n".to_vec())], "cat src/a.txt src/b.txt");
    assert_eq!(
        (said(&result), result.isolation.files),
        ("hunk\ntwo", FileIsolation::Overlay),
        "the other files can be mounted"
    );
}

fn signals_stay_in_the_trial() {
    let place = Place::new();
    let mut trial = place.trial();
    let line = "trap 'echo trapped' TERM; trap 'kill 0; exit 7' EXIT; sleep 300 & exit 3";
    let result = run(&mut trial, &[], line);
    assert_eq!((code(&result), said(&result)), (7, "trapped"), "{result:?}");
}

fn sockets_are_hidden() {
    let place = Place::new();
    let (outside, inside) = (place.folder.path().join("agent.sock"), place.repo().join("own.sock"));
    let _listening = std::os::unix::net::UnixListener::bind(&outside).unwrap();
    let _own = std::os::unix::net::UnixListener::bind(&inside).unwrap();
    let connect = |path: &Path| {
        let script =
            format!("import socket; s=socket.socket(socket.AF_UNIX); s.connect({:?}); print(\"reached\")", path);
        format!("python3 -c '{script}' 2>&1 | tail -1")
    };
    let mut trial = place.trial();
    for path in [&outside, &inside] {
        let result = run(&mut trial, &[], &connect(path));
        assert!(!said(&result).contains("reached") && !said(&result).is_empty(), "{path:?}: {result:?}");
    }
    if place.folder.path().starts_with("/tmp") {
        println!(
            "sockets_are_hidden: SKIPPED in part: the folder of the socket is below /tmp, which is private in a trial"
        );
        return;
    }
    let mut full = options(&connect(&outside));
    full.network = Network::Full;
    assert_eq!(said(&run_with(&mut trial, &[], &full)), "reached");
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
    assert!(said.contains("canaryc\n") || said.contains("\nc\n"), "a cache is writable: {said}");
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
    println!("{:?}", result.isolation.missing);
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

/// Processes that together hold 360 MB for a minute.
const HOLD_MEMORY: &str =
    "for i in 1 2 3; do (head -c 120000000 /dev/zero; sleep 60) | tail -c 120000000 >/dev/null & done; wait";

/// Runs a command until a limit stops it.
fn stopped_output(trial: &mut Trial, line: &str, limits: Limits) -> String {
    let mut options = options(line);
    options.limits = limits;
    let start = Instant::now();
    let result = run_with(trial, &[], &options);
    assert_eq!(code(&result), 137, "{result:?}");
    assert!(start.elapsed() < Duration::from_secs(40), "it was stopped");
    said(&result).to_owned()
}

fn too_much_memory_ends_a_command() {
    let place = Place::new();
    let mut trial = place.trial();
    let limits = Limits { memory_bytes: 300 << 20, ..Limits::default() };
    let output = stopped_output(&mut trial, HOLD_MEMORY, limits);
    assert!(output.contains("more than the limit of 300 MB"), "{output}");
    // Files in the private temporary folders are in memory, too.
    let output = stopped_output(&mut trial, "head -c 400000000 /dev/zero > /tmp/file; sleep 60", limits);
    assert!(output.contains("more than the limit of 300 MB"), "{output}");
    let unnamed =
        "python3 -c \"import os,time; f=os.memfd_create('f'); os.posix_fallocate(f,0,400000000); time.sleep(60)\"";
    let output = stopped_output(&mut trial, unnamed, limits);
    assert!(output.contains("more than the limit of 300 MB"), "{output}");
    // Less is not stopped, and what the first command held is free again.
    let mut small = options("(head -c 120000000 /dev/zero; sleep 1) | tail -c 120000000 | wc -c");
    small.limits = limits;
    assert_eq!(said(&run_with(&mut trial, &[], &small)).trim(), "120000000");
}

/// Runs a command in a trial of this program in another mount namespace, after `mounts`, a shell script that gets `at` as `$1`.
fn run_after(mounts: &str, at: &Path, place: &Place, line: &str) -> String {
    let script = format!(r#"{mounts} && exec "$2" --run-and-wait "$3""#);
    let arguments = format!("{}\n/nonexistent\n{line}", place.repo().display());
    let result = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .args([at.as_os_str(), std::env::current_exe().unwrap().as_os_str()])
        .arg(arguments)
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr))
}

fn a_full_disk_ends_a_command() {
    let place = Place::new();
    fs::create_dir_all(place.trials()).unwrap();
    let line = "head -c 50000000 /dev/zero > build/large; sleep 30; echo survived";
    let start = Instant::now();
    let output = run_after(r#"mount -t tmpfs -o size=64m none "$1""#, &place.trials(), &place, line);
    if output.contains("overlay cannot be mounted") {
        println!("a_full_disk_ends_a_command: SKIPPED: this kernel allows no overlay in memory");
        return;
    }
    assert!(output.contains("rhumb: the command was stopped: the disk of the trial has only"), "{output}");
    assert!(!output.contains("survived") && start.elapsed() < Duration::from_secs(20), "{output}");
}

fn a_command_in_a_copy_is_limited() {
    let place = Place::new();
    let mut trial = place.trial().copying("this is a test");
    let limits = Limits { memory_bytes: 300 << 20, ..Limits::default() };
    let output = stopped_output(&mut trial, HOLD_MEMORY, limits);
    assert!(output.contains("more than the limit of 300 MB"), "{output}");
}

fn a_mount_below_is_copied() {
    let place = Place::new();
    let volume = place.repo().join("build/volume with space");
    fs::create_dir_all(&volume).unwrap();
    let line = "cat 'build/volume with space/file'; echo new > 'build/volume with space/file'";
    let output = run_after(r#"mount -t tmpfs none "$1" && echo inside > "$1/file""#, &volume, &place, line);
    assert!(output.contains("inside"), "{output}");
    let reason = format!("a file system is mounted below the repository, at {}", volume.display());
    assert!(output.contains(&reason), "{output}");
}

/// The work tree of a bare repository may be inside of it.
fn work_tree_in_its_repository() {
    let place = Place::new();
    let bare = place.folder.path().join("project.git");
    let clone = [place.repo(), bare.clone()].map(|path| path.to_string_lossy().into_owned());
    git(place.folder.path(), &["clone", "-q", "--bare", &clone[0], &clone[1]]);
    git(&bare, &["worktree", "add", "-q", "-b", "one", "one"]);
    git(&bare, &["worktree", "add", "-q", "-b", "two", "two"]);
    let mut before = BTreeMap::new();
    record(&bare, &mut before);
    let root = Root::at(&bare.join("one")).unwrap();
    let mut trial = Trial::new(&root, &place.trials()).unwrap();
    let line = "git -c user.name=T -c user.email=t@example.com commit -q --allow-empty -m no && git log --oneline | wc -l; \
                echo x > ../two/new; mkdir -p ../hooks; echo x > ../hooks/post-checkout; ls";
    let result = run(&mut trial, &[], line);
    assert_eq!(result.isolation.files, FileIsolation::Overlay, "{result:?}");
    assert!(said(&result).starts_with("2\n") && said(&result).contains("src"), "{}", said(&result));
    let mut after = BTreeMap::new();
    record(&bare, &mut after);
    assert_eq!(before, after);
}

/// A cache that cannot be mounted must not be written.
fn cache_with_a_mount() {
    let place = Place::new();
    let home = place.folder.path().join("home");
    let inner = home.join(".cache/inner");
    fs::create_dir_all(&inner).unwrap();
    let mounts = format!(r#"mount -t tmpfs none "$1" && export HOME='{}'"#, home.display());
    let output =
        run_after(&mounts, &inner, &place, "echo x > ~/.cache/escaped; echo y > ~/.cache/inner/escaped; ls ~/.cache");
    assert!(output.contains("inner"), "{output}");
    assert!(!home.join(".cache/escaped").exists(), "{output}");
    assert_eq!(fs::read_dir(&inner).unwrap().count(), 0);
}

/// A file that is too large to be compared is not reported as deleted.
fn large_files_are_left_out() {
    let place = Place::new();
    let mut trial = place.trial();
    let result = run(&mut trial, &[], "head -c 5000000 /dev/zero > src/a.txt; echo x >> src/b.txt");
    let changed: Vec<&str> = result.changed.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["src/b.txt"]);
    assert_eq!(said(&run(&mut trial, &[], "wc -c < src/a.txt")), "13");
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

fn moved_and_deleted_files_are_stale() {
    let place = Place::new();
    let repo = place.repo();
    fs::create_dir_all(repo.join("deep/er")).unwrap();
    fs::write(repo.join("deep/er/c.txt"), "three\n").unwrap();
    fs::write(repo.join("missing.txt"), "four\n").unwrap();
    git(&repo, &["add", "deep", "missing.txt"]);
    // What was gone before is no change.
    fs::remove_file(repo.join("missing.txt")).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let editor = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        fs::rename(repo.join("src/b.txt"), repo.join("src/moved.txt")).unwrap();
        fs::remove_dir_all(repo.join("deep/er")).unwrap();
    });
    let result = run(&mut place.trial(), &[], "sleep 1");
    editor.join().unwrap();
    assert_eq!(result.stale, ["deep/er/c.txt", "src/b.txt", "src/moved.txt"]);
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
    assert_eq!(said(&run(&mut trial, &[], "git log --oneline | wc -l")), "1", "but what it did is not kept");
    git(
        &tree,
        &["-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "-q", "--allow-empty", "-m", "later"],
    );
    assert_eq!(said(&run(&mut trial, &[], "git log --format=%s -1")), "later");
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
