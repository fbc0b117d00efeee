//! Runs a command to its end, whatever that end is. Blocks: it belongs on a thread that may.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use super::capture::Capture;
use super::group::{self, Leader};
use super::{CommandLine, Environment, Live, Masks, Output, ProcessError};

/// How often to look whether the command has ended or shall be ended, while it prints nothing.
const TICK: Duration = Duration::from_millis(20);

/// The shortest time between two looks of who watches.
const THROTTLE: Duration = Duration::from_millis(100);

/// Who watches is told at least this often, so that the time on the screen goes on.
const BEAT: Duration = Duration::from_secs(1);

/// How long what a command has printed may still be on its way when it has ended.
const GRACE: Duration = Duration::from_millis(200);

/// How long a command may take to end after it was asked to.
const PATIENCE: Duration = Duration::from_secs(2);

/// Opens the file for an output that is too long for memory; nothing where none is to be kept.
pub type Keep<'k> = &'k mut dyn FnMut() -> io::Result<Option<(PathBuf, File)>>;

/// Something to run.
#[derive(Debug, Clone)]
pub struct Order<'o> {
    /// What.
    pub line: &'o CommandLine,
    /// Where.
    pub folder: &'o Path,
    /// How long it may take; `None` for as long as it wants.
    pub time_limit: Option<Duration>,
    /// Its variables.
    pub environment: &'o Environment,
    /// What must not be seen of its output.
    pub masks: &'o Masks,
}

/// Ends a command from another thread. All clones are one.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for the end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Whether it was asked for.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The flag itself, for a signal handler to raise.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal, which was none of ours.
    Signal(i32),
    /// It took longer than it may.
    TimeLimit,
    /// Somebody stopped it.
    Stopped,
    /// It wanted something from the terminal, which it does not get.
    WantedTerminal,
}

impl End {
    /// Whether it did what it should.
    pub fn is_success(self) -> bool {
        self == Self::Exit(0)
    }
}

/// A command that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub end: End,
    /// What it printed.
    pub output: Output,
    /// How long it took.
    pub took: Duration,
    /// Whether it left something running in its group, which was ended.
    pub left_running: bool,
}

/// Runs a command until it ends or is ended. `watch` gets what it prints, and how long it has been running.
///
/// # Errors
/// It cannot be started.
pub fn run(
    order: &Order<'_>,
    stop: &Stop,
    keep: Keep<'_>,
    watch: &mut dyn FnMut(Live, Duration),
) -> Result<Ended, ProcessError> {
    let program = || order.line.program().to_owned();
    let (child, pipe) = start(order)?;
    let mut running = Running {
        child,
        chunks: chunks_of(pipe),
        capture: Capture::new(order.masks, keep),
        started: Instant::now(),
        told: Instant::now(),
        open: true,
    };
    let end = running.follow(order.time_limit, stop, watch);
    let (status, left_running) =
        running.conclude().map_err(|source| ProcessError::Follow { program: program(), source })?;
    Ok(Ended {
        end: end.unwrap_or_else(|| end_of(status)),
        took: running.started.elapsed(),
        output: running.capture.finish(),
        left_running,
    })
}

fn start(order: &Order<'_>) -> Result<(Child, io::PipeReader), ProcessError> {
    let mut command = order.line.command()?;
    let failed = |source| ProcessError::Start { program: order.line.program().to_owned(), source };
    let (reader, writer) = io::pipe().map_err(failed)?;
    let second = writer.try_clone().map_err(failed)?;
    command.current_dir(order.folder).stdin(Stdio::null()).stdout(writer).stderr(second);
    order.environment.apply(&mut command);
    // With the command our ends of the pipe that it writes to are closed.
    let child = command.spawn().map_err(|error| {
        // The system says the same of a program and of a folder that is not there.
        let gone = error.kind() == io::ErrorKind::NotFound && !order.folder.is_dir();
        if gone { ProcessError::NoFolder { folder: order.folder.to_owned() } } else { failed(error) }
    })?;
    Ok((child, reader))
}

/// Reads the pipe on a thread of its own. It ends with the pipe, or when nobody listens any more.
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

/// A command that runs.
struct Running<'k> {
    child: Child,
    chunks: Receiver<Vec<u8>>,
    capture: Capture<'k>,
    started: Instant,
    /// When who watches was told last.
    told: Instant,
    /// Whether more output can come.
    open: bool,
}

impl Running<'_> {
    /// Takes the output in until the command has ended; why it is to be ended, if it did not end by itself.
    fn follow(&mut self, limit: Option<Duration>, stop: &Stop, watch: &mut dyn FnMut(Live, Duration)) -> Option<End> {
        loop {
            let got = self.take(TICK);
            let since = self.told.elapsed();
            if (got && since >= THROTTLE) || since >= BEAT {
                self.told = Instant::now();
                watch(self.capture.live(), self.started.elapsed());
            }
            if stop.is_asked() {
                return Some(End::Stopped);
            }
            if limit.is_some_and(|limit| self.started.elapsed() >= limit) {
                return Some(End::TimeLimit);
            }
            match group::leader(&mut self.child) {
                Leader::Runs => {}
                Leader::WantsTerminal => return Some(End::WantedTerminal),
                Leader::Ended => {
                    self.drain(GRACE);
                    watch(self.capture.live(), self.started.elapsed());
                    return None;
                }
            }
        }
    }

    /// Takes in what comes within `patience`; whether anything came.
    fn take(&mut self, patience: Duration) -> bool {
        if !self.open {
            std::thread::sleep(patience);
            return false;
        }
        match self.chunks.recv_timeout(patience) {
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

    /// Takes in what is still on its way: until the pipe is closed, or for so long.
    fn drain(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.open && Instant::now() < until {
            self.take(TICK);
        }
    }

    /// Ends whatever is left of the group; how the leader ended, and whether there was anything left of others.
    fn conclude(&mut self) -> io::Result<(ExitStatus, bool)> {
        let ended = |running: &mut Self| group::leader(&mut running.child) == Leader::Ended;
        let by_itself = ended(self);
        if !by_itself {
            group::ask_to_end(&self.child);
            let until = Instant::now() + PATIENCE;
            while !ended(self) && Instant::now() < until {
                self.take(TICK);
            }
            if !ended(self) {
                group::end(&self.child);
                #[cfg(not(unix))]
                self.child.kill()?;
            }
        }
        let status = self.child.wait()?;
        let left = group::is_populated(&self.child);
        if left {
            group::ask_to_end(&self.child);
            let until = Instant::now() + GRACE;
            while group::is_populated(&self.child) && Instant::now() < until {
                self.take(TICK);
            }
            group::end(&self.child);
        }
        self.drain(GRACE);
        Ok((status, left && by_itself))
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
