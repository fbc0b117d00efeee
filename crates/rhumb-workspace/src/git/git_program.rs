//! Commits that libgit2 cannot make, because they are signed or hooks have to run. The git program makes them.
//!
//! The configuration of a repository can name programs, and its author may not be trusted. Therefore signing programs
//! are taken from the user's own configuration only, and everything else that git would run is disabled. Hooks run
//! only if the user wants them. No terminal is available: a passphrase prompt fails, and the failure is reported.

use super::commit::Names;
use super::error::{GitError, GitTask};
use super::repo::Repo;
use git2::{ConfigLevel, Index, Oid};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often to check whether the program has ended.
const POLL: Duration = Duration::from_millis(10);

/// Maximum number of bytes of its output that are kept. Earlier output is dropped.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Maximum number of lines of its output in an error message.
const MAX_ERROR_LINES: usize = 6;

/// Default signing programs of git, by setting.
const SIGNERS: [(&str, &str); 4] = [
    ("gpg.program", "gpg"),
    ("gpg.openpgp.program", "gpg"),
    ("gpg.x509.program", "gpgsm"),
    ("gpg.ssh.program", "ssh-keygen"),
];

/// Variables of git that identify the user's configuration and no repository.
const KEPT_VARIABLES: [&str; 4] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"];

impl Repo {
    /// Returns whether git's settings request signed commits.
    pub(crate) fn signs(&self) -> bool {
        self.inner.config().and_then(|config| config.get_bool("commit.gpgsign")).unwrap_or(false)
    }

    /// Creates a signed commit of a tree without moving a branch. No hook runs.
    pub(crate) fn sign_by_program(
        &self,
        timeout: Duration,
        names: &Names,
        message: &str,
        parent: Option<&git2::Commit<'_>>,
        tree: Oid,
    ) -> Result<Oid, GitError> {
        let git = GitCommand::new(self, message)?;
        let mut command = git.git(names);
        // Prevents a lazy fetch, for which git would run a program named by the repository. `GIT_NO_LAZY_FETCH` is
        // not known to older versions, but all versions check the allowed protocols in the environment first.
        command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_NO_REPLACE_OBJECTS", "1");
        command.args(["commit-tree", &tree.to_string(), "-S", "-F"]).arg(git.message());
        if let Some(parent) = parent {
            command.args(["-p", &parent.id().to_string()]);
        }
        let output = run(command, timeout, GitTask::Sign)?;
        Oid::from_str(output.trim()).map_err(GitError::when("read what git made"))
    }

    /// Lets the git program commit an index, with the hooks of the repository.
    pub(crate) fn commit_by_program(
        &self,
        timeout: Duration,
        names: &Names,
        message: &str,
        index: &Index,
    ) -> Result<Oid, GitError> {
        let git = GitCommand::new(self, message)?;
        self.write_index(index, &git.index())?;
        let mut command = git.git(names);
        command.env("GIT_INDEX_FILE", git.index());
        command.args(["commit", "--quiet", "--cleanup=verbatim", "--no-status", "-F"]).arg(git.message());
        let before = self.parent()?.map(|commit| commit.id());
        let ended = run(command, timeout, GitTask::CommitWithHooks);
        let made = self.parent()?.filter(|head| match &ended {
            Ok(_) => Some(head.id()) != before,
            // The commit exists even if a later hook failed or was stopped.
            Err(_) => head.parent_id(0).ok() == before,
        });
        made.map_or_else(|| ended.and(Err(GitError::NothingToCommit)), |head| Ok(head.id()))
    }

    /// Writes an index to a file. File times are copied from the real index, so that `git diff` in a hook is fast.
    fn write_index(&self, index: &Index, file: &Path) -> Result<(), GitError> {
        let failed = GitError::when("write an index");
        let real = self.inner.index().map_err(failed)?;
        let mut copy = Index::open(file).map_err(failed)?;
        for entry in index.iter() {
            let path = Path::new(std::str::from_utf8(&entry.path).unwrap_or_default());
            let known = real.get_path(path, 0).filter(|known| (known.id, known.mode) == (entry.id, entry.mode));
            copy.add(known.as_ref().unwrap_or(&entry)).map_err(failed)?;
        }
        copy.write().map_err(failed)
    }

    /// Returns the signing programs of the user's configuration. The repository's configuration is ignored.
    fn signers(&self) -> BTreeMap<&'static str, String> {
        let mut signers: BTreeMap<_, _> = SIGNERS.iter().map(|(key, name)| (*key, (*name).to_owned())).collect();
        // Without a configured key, git would run a command to get one.
        signers.insert("gpg.ssh.defaultkeycommand", "false".to_owned());
        let Ok(config) = self.inner.config() else { return signers };
        let Ok(entries) = config.entries(Some("^gpg\\.")) else { return signers };
        let mut is_set = Vec::new();
        let looked = entries.for_each(|entry| {
            let own = matches!(
                entry.level(),
                ConfigLevel::ProgramData | ConfigLevel::System | ConfigLevel::XDG | ConfigLevel::Global
            );
            let (Ok(name), Ok(value)) = (entry.name(), entry.value()) else { return };
            if own && let Some((key, signer)) = signers.iter_mut().find(|(key, _)| **key == name) {
                value.clone_into(signer);
                is_set.push(*key);
            }
        });
        // `gpg.program` is the older name of this setting.
        if looked.is_ok() && !is_set.contains(&"gpg.openpgp.program") {
            let gpg = signers.get("gpg.program").cloned().unwrap_or_default();
            signers.insert("gpg.openpgp.program", gpg);
        }
        signers
    }
}

/// The git program with its input files in a temporary folder.
struct GitCommand<'r> {
    repo: &'r Repo,
    folder: tempfile::TempDir,
}

impl<'r> GitCommand<'r> {
    fn new(repo: &'r Repo, message: &str) -> Result<Self, GitError> {
        let written = |source| GitError::Temporary(source);
        let folder = tempfile::Builder::new().prefix("rhumb-commit-").tempdir().map_err(written)?;
        fs::create_dir(folder.path().join("none")).map_err(written)?;
        fs::write(folder.path().join("message"), message).map_err(written)?;
        Ok(Self { repo, folder })
    }

    fn message(&self) -> PathBuf {
        self.folder.path().join("message")
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    /// Returns the git command at the top of the work tree, without standard input and without prompts.
    fn git(&self, names: &Names) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.repo.top).stdin(Stdio::null());
        // A variable that refers to another repository must have no effect.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") && !KEPT_VARIABLES.contains(&text.as_ref()) {
                command.env_remove(&name);
            }
        }
        command.env_remove("GPG_TTY").env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
        // Without a graphical prompt, a passphrase must not be requested on the terminal, which shows the app.
        command.env("SSH_ASKPASS_REQUIRE", "force");
        if std::env::var_os("SSH_ASKPASS").is_none() {
            command.env("SSH_ASKPASS", "false");
        }
        for (who, name) in [("AUTHOR", &names.author), ("COMMITTER", &names.committer)] {
            command.env(format!("GIT_{who}_NAME"), String::from_utf8_lossy(name.name_bytes()).as_ref());
            command.env(format!("GIT_{who}_EMAIL"), String::from_utf8_lossy(name.email_bytes()).as_ref());
        }
        for setting in ["core.fsmonitor=false", "core.untrackedCache=false", "maintenance.auto=false", "gc.auto=0"] {
            command.args(["-c", setting]);
        }
        for (key, program) in self.repo.signers() {
            command.args(["-c", &format!("{key}={program}")]);
        }
        command
    }
}

fn run(mut command: Command, timeout: Duration, task: GitTask) -> Result<String, GitError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // In its own process group it does not receive keys pressed in the app, and can be terminated as a whole.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|source| GitError::NoProgram { task, source })?;
    let output = listen(child.stdout.take());
    let errors = listen(child.stderr.take());
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() < timeout => std::thread::sleep(POLL),
            _ => {
                end(&mut child);
                return Err(GitError::Slow { task, seconds: timeout.as_secs() });
            }
        }
    };
    if status.success() { Ok(output.all()) } else { Err(GitError::Program { task, output: last_lines(&errors.all()) }) }
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    drop(Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stdin(Stdio::null()).status());
    // It may have ended already.
    drop(child.kill());
    drop(child.wait());
}

/// Collects output on a thread, because a process that is left behind can hold the pipe open forever.
struct OutputReader {
    text: Arc<Mutex<Vec<u8>>>,
    thread: std::thread::JoinHandle<()>,
}

fn listen(pipe: Option<impl Read + Send + 'static>) -> OutputReader {
    let text = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&text);
    let thread = std::thread::spawn(move || {
        let Some(mut pipe) = pipe else { return };
        let mut piece = [0; 4096];
        while let Ok(count) = pipe.read(&mut piece) {
            if count == 0 {
                break;
            }
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(piece.get(..count).unwrap_or_default());
            // The end of the output has the error message.
            let extra = kept.len().saturating_sub(MAX_OUTPUT_BYTES);
            kept.drain(..extra);
        }
    });
    OutputReader { text, thread }
}

impl OutputReader {
    fn all(&self) -> String {
        let started = Instant::now();
        while !self.thread.is_finished() && started.elapsed() < Duration::from_millis(500) {
            std::thread::sleep(POLL);
        }
        String::from_utf8_lossy(&self.text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// Joins the last non-empty lines.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(MAX_ERROR_LINES)..].join("; ")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::git::tests::{Fixture, git_says};
    use crate::git::{Commit, CommitOptions, Head};

    /// Writes a hook or another executable script.
    fn script(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Returns whether git is installed. Tests without it are skipped with a message.
    fn has_git() -> bool {
        let found = std::process::Command::new("git").arg("--version").output().is_ok();
        if !found {
            eprintln!("skipped: there is no git program");
        }
        found
    }

    fn commit(fixture: &Fixture, paths: &[&str], hooks: bool) -> Result<Commit, GitError> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let repo = fixture.repo();
        repo.commit(repo.prepare(&paths, None)?, &CommitOptions { hooks, ..CommitOptions::new("Change things") })
    }

    fn tip_message(fixture: &Fixture) -> String {
        fixture.git.head().unwrap().peel_to_commit().unwrap().message().unwrap().to_owned()
    }

    #[test]
    fn hooks_see_only_the_committed_files() {
        if !has_git() {
            return;
        }
        let fixture = Fixture::with(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let hooks = fixture.git.path().join("hooks");
        let seen = fixture.dir.path().join(".git/seen");
        script(&hooks.join("pre-commit"), &format!("git diff --cached --name-only > {}", seen.display()));
        script(&hooks.join("commit-msg"), "echo 'Checked: yes' >> \"$1\"");
        fixture.put("a", "2");
        fixture.put("b", "staged");
        fixture.stage("b");
        fixture.put("c", "edited");
        commit(&fixture, &["a"], true).unwrap();
        assert_eq!(fs::read_to_string(seen).unwrap(), "a\n");
        assert_eq!(tip_message(&fixture), "Change things\nChecked: yes\n");
        assert_eq!(fixture.committed("a").as_deref(), Some("2"));
        assert_eq!(fixture.committed("b").as_deref(), Some("1"));
        assert_eq!(fixture.staged("b").as_deref(), Some("staged"));
        let status = git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap();
        assert_eq!(status, "M  b\n M c\n");
    }

    #[test]
    fn changes_made_by_a_hook_are_committed() {
        if !has_git() {
            return;
        }
        let fixture = Fixture::with(&[("a", "1")]);
        script(&fixture.git.path().join("hooks/pre-commit"), "echo formatted > a; git add a");
        fixture.put("a", "2");
        commit(&fixture, &["a"], true).unwrap();
        assert_eq!(fixture.committed("a").as_deref(), Some("formatted\n"));
        assert_eq!(git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap(), "");
    }

    #[test]
    fn a_failing_hook_is_quoted_and_nothing_is_committed() {
        if !has_git() {
            return;
        }
        let fixture = Fixture::with(&[("a", "1")]);
        let tip = fixture.tip();
        script(&fixture.git.path().join("hooks/pre-commit"), "echo 'line 3 is too long' >&2; exit 1");
        fixture.put("a", "2");
        let error = commit(&fixture, &["a"], true).unwrap_err();
        assert!(error.to_string().contains("line 3 is too long"), "{error}");
        assert_eq!(fixture.tip(), tip);
        assert_eq!(fs::read_to_string(fixture.dir.path().join("a")).unwrap(), "2");
        assert_eq!(git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap(), " M a\n");
        commit(&fixture, &["a"], false).unwrap();
    }

    #[test]
    fn a_hook_has_a_time_limit() {
        if !has_git() {
            return;
        }
        let fixture = Fixture::with(&[("a", "1")]);
        script(&fixture.git.path().join("hooks/pre-commit"), "sleep 600");
        fixture.put("a", "2");
        let repo = fixture.repo();
        let options = CommitOptions { hooks: true, timeout: Duration::from_millis(300), ..CommitOptions::new("Wait") };
        let error = repo.commit(repo.prepare(&["a".into()], None).unwrap(), &options).unwrap_err();
        assert!(matches!(error, GitError::Slow { .. }), "{error}");
    }

    #[test]
    fn a_commit_whose_program_ends_after_it_was_made_is_completed() {
        if !has_git() {
            return;
        }
        let fixture = Fixture::with(&[("a", "1")]);
        script(&fixture.git.path().join("hooks/post-commit"), "kill -KILL $PPID");
        fixture.put("a", "2");
        let made = commit(&fixture, &["a"], true).unwrap();
        assert_eq!((made.id, made.index_error), (fixture.tip().unwrap().to_string(), None));
        assert_eq!(fixture.committed("a").as_deref(), Some("2"));
        assert!(!fixture.git.path().join("index.lock").exists());
        assert_eq!(git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap(), "");
    }

    #[test]
    fn hooks_run_for_the_first_commit_and_on_a_detached_head() {
        if !has_git() {
            return;
        }
        let fixture = Fixture::unborn();
        fixture.put("a", "1");
        commit(&fixture, &["a"], true).unwrap();
        fixture.git.set_head_detached(fixture.tip().unwrap()).unwrap();
        fixture.put("a", "2");
        let made = commit(&fixture, &["a"], true).unwrap();
        assert_eq!(fixture.repo().head().unwrap(), Head::Detached(made.short_id));
    }

    /// A repository whose own settings request signed commits and name `program` as the signing program.
    fn signing(program: &Path) -> Fixture {
        let fixture = Fixture::with(&[("a", "1")]);
        let mut config = fixture.git.config().unwrap();
        config.set_bool("commit.gpgsign", true).unwrap();
        for key in ["gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"] {
            config.set_str(key, program.to_str().unwrap()).unwrap();
        }
        fixture.put("a", "2");
        fixture
    }

    #[test]
    fn a_signing_program_that_the_repository_names_does_not_run() {
        if !has_git() {
            return;
        }
        for format in ["openpgp", "ssh"] {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("evil");
            script(&program, &format!("touch {}/canary", folder.path().display()));
            let fixture = signing(&program);
            fixture.git.config().unwrap().set_str("gpg.format", format).unwrap();
            fixture.git.config().unwrap().set_str("core.fsmonitor", program.to_str().unwrap()).unwrap();
            // No machine has a key of this name, so signing fails.
            fixture.git.config().unwrap().set_str("user.signingkey", "0000DEAD0000BEEF!").unwrap();
            for hooks in [false, true] {
                let error = commit(&fixture, &["a"], hooks).unwrap_err();
                assert!(matches!(error, GitError::Program { .. }), "{error}");
                assert!(error.hint().contains("are written"), "{}", error.hint());
            }
            assert!(!folder.path().join("canary").exists(), "{format}");
            assert_eq!(fs::read_to_string(fixture.dir.path().join("a")).unwrap(), "2");
            assert_eq!(fixture.committed("a").as_deref(), Some("1"));
        }
    }

    #[test]
    fn a_commit_is_signed_where_settings_say_so() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        let made = std::process::Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key.to_str().unwrap()])
            .output();
        if !has_git() || !made.is_ok_and(|made| made.status.success()) {
            eprintln!("skipped: there is no ssh-keygen");
            return;
        }
        let fixture = Fixture::with(&[("a", "1")]);
        let mut config = fixture.git.config().unwrap();
        config.set_bool("commit.gpgsign", true).unwrap();
        config.set_str("gpg.format", "ssh").unwrap();
        config.set_str("user.signingkey", key.to_str().unwrap()).unwrap();
        script(&fixture.git.path().join("hooks/pre-commit"), "exit 1");
        fixture.put("a", "2");
        fixture.put("other", "mine");
        let parent = fixture.tip();
        commit(&fixture, &["a"], false).unwrap();
        let tip = fixture.git.head().unwrap().peel_to_commit().unwrap();
        let signature = tip.header_field_bytes("gpgsig").unwrap();
        assert!(signature.starts_with(b"-----BEGIN SSH SIGNATURE-----"));
        assert_eq!(tip.parent_id(0).ok(), parent);
        assert_eq!(tip.author().name().unwrap(), "Ada");
        assert_eq!(tip_message(&fixture), "Change things\n");
        assert_eq!(git_says(fixture.dir.path(), &["status", "--porcelain"]).unwrap(), "?? other\n");
        script(&fixture.git.path().join("hooks/pre-commit"), "exit 0");
        fixture.put("a", "3");
        commit(&fixture, &["a"], true).unwrap();
        assert!(fixture.git.head().unwrap().peel_to_commit().unwrap().header_field_bytes("gpgsig").is_ok());
    }

    /// Number of commits. `RHUMB_SWEEP=all` makes a thousand.
    fn rounds() -> usize {
        if std::env::var("RHUMB_SWEEP").is_ok_and(|sweep| sweep == "all") { 1000 } else { 40 }
    }

    #[test]
    fn concurrent_git_processes_do_not_separate_branch_and_index() {
        if !has_git() {
            return;
        }
        let fixture = Fixture::with(&[("a", "0"), ("b", "0"), ("c", "0")]);
        let (stop, folder) = (std::sync::atomic::AtomicBool::new(false), fixture.dir.path());
        let git = |args: &[&str]| {
            // The lock may be held by another process.
            drop(std::process::Command::new("git").args(args).current_dir(folder).output());
        };
        let running = || !stop.load(std::sync::atomic::Ordering::SeqCst);
        let adds = |path: &str| {
            let mut round = 0;
            while running() {
                round += 1;
                fs::write(folder.join(path), format!("theirs {round}")).unwrap();
                git(&["add", path]);
            }
        };
        let (mut made, mut refused) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| adds("b"));
            scope.spawn(|| adds("c"));
            scope.spawn(|| {
                while running() {
                    git(&["status"]);
                }
            });
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                for round in 1..=rounds() {
                    fixture.put("a", &round.to_string());
                    let mut repo = fixture.repo();
                    repo.lock_timeout = Duration::from_secs(2);
                    let tip = fixture.tip();
                    match repo.commit_paths(&["a".into()], "Ours") {
                        Ok(commit) => {
                            assert_eq!((commit.index_error, fixture.tip() == tip), (None, false));
                            made += 1;
                        }
                        Err(GitError::Locked { .. }) => {
                            assert_eq!(fixture.tip(), tip);
                            refused += 1;
                        }
                        Err(error) => panic!("{error}"),
                    }
                    assert_eq!(fixture.staged("a"), fixture.committed("a"), "the reverse of commit {round} is staged");
                }
            }));
            stop.store(true, std::sync::atomic::Ordering::SeqCst);
            outcome.unwrap();
        });
        eprintln!("{made} commits beside git add and git status, none inconsistent; {refused} refused");
        assert!(made > 0);
    }
}
