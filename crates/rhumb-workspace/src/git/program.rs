//! Commits that libgit2 cannot make: those that are signed, and those with hooks. The git program makes them.
//!
//! The settings of a repository may name programs, and whoever made the repository chose them. So the programs that sign are
//! taken from the user's own settings alone, and everything else that git would run by itself is off; hooks run only where the
//! user wants them. There is nobody at a terminal: what has to ask for a passphrase there fails, and is told.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use git2::{ConfigLevel, Index, Oid};

use super::commit::Names;
use super::error::GitError;
use super::repo::Repo;

/// How often it is looked whether the program is done.
const POLL: Duration = Duration::from_millis(10);

/// Most of what it says that is kept, in bytes.
const MOST_SAID: usize = 64 * 1024;

/// Lines of it that are told.
const TOLD_LINES: usize = 6;

/// The programs that sign, as git calls them where nothing else is set.
const SIGNERS: [(&str, &str); 4] = [
    ("gpg.program", "gpg"),
    ("gpg.openpgp.program", "gpg"),
    ("gpg.x509.program", "gpgsm"),
    ("gpg.ssh.program", "ssh-keygen"),
];

/// Variables of git that lead nowhere else and say who the user is.
const KEPT: [&str; 4] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"];

impl Repo {
    /// Whether git's settings want commits signed.
    pub(super) fn signs(&self) -> bool {
        self.inner.config().and_then(|config| config.get_bool("commit.gpgsign")).unwrap_or(false)
    }

    /// Makes a signed commit of a tree, which no branch has yet. No hook runs.
    pub(super) fn sign_by_program(
        &self,
        patience: Duration,
        names: &Names,
        message: &str,
        parent: Option<&git2::Commit<'_>>,
        tree: Oid,
    ) -> Result<Oid, GitError> {
        let desk = Desk::new(self, message)?;
        let mut command = desk.git(names);
        // Nothing is to be fetched for this, and a program that the repository names would do it: an older git does not know
        // that nothing shall be fetched late, but every git knows which ways it may take, and asks the environment first.
        command.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_NO_REPLACE_OBJECTS", "1");
        command.args(["commit-tree", &tree.to_string(), "-S", "-F"]).arg(desk.message());
        if let Some(parent) = parent {
            command.args(["-p", &parent.id().to_string()]);
        }
        let said = run(command, patience, "sign the commit")?;
        Oid::from_str(said.trim()).map_err(GitError::when("read what git made"))
    }

    /// Has the git program commit an index that is on no disk yet, with the hooks of the repository.
    pub(super) fn commit_by_program(
        &self,
        patience: Duration,
        names: &Names,
        message: &str,
        index: &Index,
    ) -> Result<Oid, GitError> {
        let desk = Desk::new(self, message)?;
        self.lay_down(index, &desk.index())?;
        let mut command = desk.git(names);
        command.env("GIT_INDEX_FILE", desk.index());
        command.args(["commit", "--quiet", "--cleanup=verbatim", "--no-status", "-F"]).arg(desk.message());
        let before = self.parent()?.map(|commit| commit.id());
        run(command, patience, "commit with hooks")?;
        match self.parent()?.map(|commit| commit.id()) {
            Some(id) if Some(id) != before => Ok(id),
            _ => Err(GitError::NothingToCommit),
        }
    }

    /// Writes an index to a file. What the real index knows of the files on disk goes along: a hook that asks git what changed
    /// is answered quickly.
    fn lay_down(&self, index: &Index, file: &Path) -> Result<(), GitError> {
        let failed = GitError::when("write an index");
        let real = self.inner.index().map_err(failed)?;
        let mut laid = Index::open(file).map_err(failed)?;
        for entry in index.iter() {
            let path = Path::new(std::str::from_utf8(&entry.path).unwrap_or_default());
            let known = real.get_path(path, 0).filter(|known| (known.id, known.mode) == (entry.id, entry.mode));
            laid.add(known.as_ref().unwrap_or(&entry)).map_err(failed)?;
        }
        laid.write().map_err(failed)
    }

    /// The programs that sign, by the user's own settings and not by those of the repository.
    fn signers(&self) -> BTreeMap<&'static str, String> {
        let mut signers: BTreeMap<_, _> = SIGNERS.iter().map(|(key, name)| (*key, (*name).to_owned())).collect();
        // Without a key of its own, ssh asks a command for one.
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
        // The older name of the same setting.
        if looked.is_ok() && !is_set.contains(&"gpg.openpgp.program") {
            let gpg = signers.get("gpg.program").cloned().unwrap_or_default();
            signers.insert("gpg.openpgp.program", gpg);
        }
        signers
    }
}

/// A folder for what the program reads, gone with it.
struct Desk<'r> {
    repo: &'r Repo,
    folder: tempfile::TempDir,
}

impl<'r> Desk<'r> {
    fn new(repo: &'r Repo, message: &str) -> Result<Self, GitError> {
        let written = |source| GitError::Temporary { source };
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

    /// The git program at the top of the work tree, with nothing to read and nobody to ask.
    fn git(&self, names: &Names) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.repo.top).stdin(Stdio::null());
        // A variable that was meant for another repository must not lead there.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") && !KEPT.contains(&text.as_ref()) {
                command.env_remove(&name);
            }
        }
        command.env_remove("GPG_TTY").env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
        // Without a window to ask in, a passphrase must not be asked for on a terminal that shows the app.
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

/// Runs the program to its end; what it said on its output.
fn run(mut command: Command, patience: Duration, doing: &'static str) -> Result<String, GitError> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: a key pressed in the app must not reach it, and all of it can be ended.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|source| GitError::NoProgram { doing, source })?;
    let output = listen(child.stdout.take());
    let errors = listen(child.stderr.take());
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() < patience => std::thread::sleep(POLL),
            _ => {
                end(&mut child);
                return Err(GitError::Slow { doing, seconds: patience.as_secs() });
            }
        }
    };
    if status.success() {
        return Ok(output.all());
    }
    Err(GitError::Program { doing, said: last_lines(&errors.all()) })
}

/// Ends a program and what it started.
fn end(child: &mut Child) {
    #[cfg(unix)]
    drop(Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).stdin(Stdio::null()).status());
    // It may be gone already.
    drop(child.kill());
    drop(child.wait());
}

/// What a program says, collected on a thread of its own: what it leaves behind may hold the pipe open for ever.
struct Said {
    text: Arc<Mutex<Vec<u8>>>,
    thread: std::thread::JoinHandle<()>,
}

fn listen(pipe: Option<impl Read + Send + 'static>) -> Said {
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
            // The end says what went wrong.
            let extra = kept.len().saturating_sub(MOST_SAID);
            kept.drain(..extra);
        }
    });
    Said { text, thread }
}

impl Said {
    fn all(&self) -> String {
        let started = Instant::now();
        while !self.thread.is_finished() && started.elapsed() < Duration::from_millis(500) {
            std::thread::sleep(POLL);
        }
        String::from_utf8_lossy(&self.text.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

/// The last lines that say something.
fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(TOLD_LINES)..].join("; ")
}
