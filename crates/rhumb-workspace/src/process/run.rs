//! Runs a command until it ends or is stopped. Blocks the calling thread.

use super::capture::Capture;
use super::group::{self, Leader};
use super::{CommandLine, Environment, LiveOutput, Output, ProcessError, SecretMask};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often to check for the end of the command and for a stop request while there is no output.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Minimum time between two calls of the watcher.
const MIN_WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// Maximum time between two calls of the watcher, so that a displayed duration is updated.
const MAX_WATCH_INTERVAL: Duration = Duration::from_secs(1);

/// How long to wait for remaining output after the command has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// How long a command may take to end after SIGTERM before it is killed.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens the file for an output that is too long for memory. `Ok(None)` if no file is wanted.
pub type OpenLogFile<'k> = &'k mut dyn FnMut() -> io::Result<Option<(PathBuf, File)>>;

/// A command to run.
#[derive(Debug, Clone)]
pub struct RunRequest<'o> {
    /// The command line.
    pub line: &'o CommandLine,
    /// The working directory.
    pub folder: &'o Path,
    /// Time limit, or `None` for no limit.
    pub time_limit: Option<Duration>,
    /// Environment variables.
    pub environment: &'o Environment,
    /// Secrets to mask in the output.
    pub masks: &'o SecretMask,
}

/// Stops a command from another thread. Clones refer to the same command.
#[derive(Debug, Clone, Default)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// Requests the end of the command.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Returns whether the end was requested.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns the flag itself, for a signal handler to set.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum End {
    /// It exited with this code.
    Exit(i32),
    /// It was killed by this signal, which was not sent by [`run`].
    Signal(i32),
    /// It exceeded its time limit.
    TimeLimit,
    /// It was stopped with a [`StopHandle`].
    Stopped,
    /// It tried to use the terminal, which is not allowed.
    WantedTerminal,
}

impl End {
    /// Returns whether the command exited with code 0.
    pub fn is_success(self) -> bool {
        self == Self::Exit(0)
    }
}

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutcome {
    /// How it ended.
    pub end: End,
    /// Its output.
    pub output: Output,
    /// How long it ran.
    pub took: Duration,
    /// Whether it left processes in its group, which were terminated.
    pub left_running: bool,
}

/// What the watcher of a command gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Watch {
    /// Recent output a few times a second: if there is more than a person can read, earlier output is skipped.
    #[default]
    Recent,
    /// All output, as it arrives. The file with the whole output is not limited then.
    All,
}

/// Runs a command until it ends or is stopped. `watch` is called with new output and the time since the start.
///
/// # Errors
/// The command cannot be started or waited for.
pub fn run(
    request: &RunRequest<'_>,
    stop: &StopHandle,
    keep: OpenLogFile<'_>,
    watch: &mut dyn FnMut(LiveOutput, Duration),
) -> Result<CommandOutcome, ProcessError> {
    run_watched(request, stop, Watch::Recent, keep, watch)
}

/// As [`run`], with a choice of what `watch` gets.
///
/// # Errors
/// As [`run`].
pub fn run_watched(
    request: &RunRequest<'_>,
    stop: &StopHandle,
    which: Watch,
    keep: OpenLogFile<'_>,
    watch: &mut dyn FnMut(LiveOutput, Duration),
) -> Result<CommandOutcome, ProcessError> {
    let program = || request.line.program().to_owned();
    let (child, pipe) = start(request)?;
    let mut running = Running {
        child,
        chunks: chunks_of(pipe),
        capture: Capture::new(request.masks, which, keep),
        which,
        started: Instant::now(),
        told: Instant::now(),
        open: true,
    };
    let end = running.follow(request.time_limit, stop, watch);
    let (status, left_running) =
        running.conclude().map_err(|source| ProcessError::Wait { program: program(), source })?;
    if which == Watch::All {
        watch(running.capture.live(), running.started.elapsed());
    }
    Ok(CommandOutcome {
        end: end.unwrap_or_else(|| end_of(status)),
        took: running.started.elapsed(),
        output: running.capture.finish(),
        left_running,
    })
}

fn start(request: &RunRequest<'_>) -> Result<(Child, io::PipeReader), ProcessError> {
    let mut command = request.line.command()?;
    let failed = |source| ProcessError::Start { program: request.line.program().to_owned(), source };
    let (reader, writer) = io::pipe().map_err(failed)?;
    let second = writer.try_clone().map_err(failed)?;
    command.current_dir(request.folder).stdin(Stdio::null()).stdout(writer).stderr(second);
    request.environment.apply(&mut command);
    // Dropping the command closes our copies of the pipe's write end.
    let child = command.spawn().map_err(|error| {
        // The operating system reports a missing program and a missing folder with the same error.
        let gone = error.kind() == io::ErrorKind::NotFound && !request.folder.is_dir();
        if gone { ProcessError::NoFolder(request.folder.to_owned()) } else { failed(error) }
    })?;
    Ok((child, reader))
}

/// Reads the pipe on a thread. The thread ends with the pipe, or when the receiver is dropped.
fn chunks_of(pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(8);
    std::thread::spawn(move || pass_on(pipe, &sender));
    receiver
}

fn pass_on(mut pipe: impl Read, sender: &SyncSender<Vec<u8>>) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        match pipe.read(&mut bytes) {
            Ok(0) => return,
            Ok(read) => {
                if sender.send(bytes.get(..read).unwrap_or_default().to_vec()).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

struct Running<'k> {
    child: Child,
    chunks: Receiver<Vec<u8>>,
    capture: Capture<'k>,
    which: Watch,
    started: Instant,
    /// Time of the last call of the watcher.
    told: Instant,
    /// Whether more output can arrive.
    open: bool,
}

impl Running<'_> {
    /// Captures output until the command has ended. Returns the reason if it must be stopped.
    fn follow(
        &mut self,
        limit: Option<Duration>,
        stop: &StopHandle,
        watch: &mut dyn FnMut(LiveOutput, Duration),
    ) -> Option<End> {
        loop {
            let got = self.take(POLL_INTERVAL);
            let since = self.told.elapsed();
            if (got && (since >= MIN_WATCH_INTERVAL || self.which == Watch::All)) || since >= MAX_WATCH_INTERVAL {
                self.told = Instant::now();
                watch(self.capture.live(), self.started.elapsed());
            }
            if stop.is_stopped() {
                return Some(End::Stopped);
            }
            if limit.is_some_and(|limit| self.started.elapsed() >= limit) {
                return Some(End::TimeLimit);
            }
            match group::leader(&mut self.child) {
                Leader::Runs => {}
                Leader::WantsTerminal => return Some(End::WantedTerminal),
                Leader::Ended => {
                    self.drain(DRAIN_TIMEOUT);
                    watch(self.capture.live(), self.started.elapsed());
                    return None;
                }
            }
        }
    }

    /// Captures the next output, waiting at most for `timeout`. Returns whether there was any.
    fn take(&mut self, timeout: Duration) -> bool {
        if !self.open {
            std::thread::sleep(timeout);
            return false;
        }
        match self.chunks.recv_timeout(timeout) {
            Ok(chunk) => {
                self.capture.push(&chunk);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                self.open = false;
                false
            }
        }
    }

    /// Captures the remaining output until the pipe is closed, at most for `timeout`.
    fn drain(&mut self, timeout: Duration) {
        let until = Instant::now() + timeout;
        while self.open && Instant::now() < until {
            self.take(POLL_INTERVAL);
        }
    }

    /// Terminates the remaining processes of the group. Returns the exit status of the leader, and whether other
    /// processes were left.
    fn conclude(&mut self) -> io::Result<(ExitStatus, bool)> {
        let has_ended = |running: &mut Self| group::leader(&mut running.child) == Leader::Ended;
        let ended_alone = has_ended(self);
        if !ended_alone {
            group::terminate(&self.child);
            let until = Instant::now() + TERMINATE_TIMEOUT;
            while !has_ended(self) && Instant::now() < until {
                self.take(POLL_INTERVAL);
            }
            if !has_ended(self) {
                group::kill(&self.child);
                #[cfg(not(unix))]
                self.child.kill()?;
            }
        }
        let status = self.child.wait()?;
        let left = group::is_populated(&self.child);
        if left {
            group::terminate(&self.child);
            let until = Instant::now() + DRAIN_TIMEOUT;
            while group::is_populated(&self.child) && Instant::now() < until {
                self.take(POLL_INTERVAL);
            }
            group::kill(&self.child);
        }
        self.drain(DRAIN_TIMEOUT);
        Ok((status, left && ended_alone))
    }
}

#[cfg(unix)]
fn end_of(status: ExitStatus) -> End {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        (None, None) => End::Exit(-1),
    }
}

#[cfg(not(unix))]
fn end_of(status: ExitStatus) -> End {
    End::Exit(status.code().unwrap_or(-1))
}
