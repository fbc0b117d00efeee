//! The signals that the app answers: those that end it, and those that stop it and let it go on.
//!
//! Every signal that would end the process and that can be caught without unsafe code is taken, because the terminal would stay raw
//! otherwise. SIGSEGV, SIGILL and SIGFPE cannot be taken like that, nor SIGKILL at all. SIGPIPE is ignored from the start, and SIGXFSZ
//! is taken there.

use std::io;

pub(crate) enum Signal {
    /// Exit because of the signal with this number.
    Fatal(u8),
    /// Stop like Ctrl-Z.
    Stop,
    /// The shell continued the process after a stop that was not noticed.
    Continued,
    Resized,
}

/// Signals that request an orderly exit.
#[cfg(unix)]
fn requests() -> Vec<i32> {
    use signal_hook::consts::*;
    let everywhere =
        [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU].into_iter();
    #[cfg(target_os = "linux")]
    let everywhere =
        everywhere.chain([libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT]).chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
    everywhere.collect()
}

/// Signals that tell of a fault of the program. It ends at once, as it would without us, but gives the terminal back before.
#[cfg(unix)]
const FAULTS: [i32; 4] = {
    use signal_hook::consts::*;
    [SIGABRT, SIGBUS, SIGSYS, SIGTRAP]
};

/// Answers [`FAULTS`] on a thread, since after a fault the event loop may never wait for a signal again. The handler itself only
/// wakes that thread. A fault of the code that is running ends the process before the thread runs if the system does not wait for it:
/// `abort` does not.
#[cfg(unix)]
fn answer_faults() -> io::Result<()> {
    let mut faults = signal_hook::iterator::Signals::new(FAULTS)?;
    let answer = move || {
        for signal in faults.forever() {
            super::give_back();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(answer).map(drop)
}

#[cfg(unix)]
pub(crate) struct Signals {
    requests: Vec<(tokio::signal::unix::Signal, u8)>,
    stop: tokio::signal::unix::Signal,
    continued: tokio::signal::unix::Signal,
    resized: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Takes them from here on.
    ///
    /// # Errors
    /// The system does not let us.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        answer_faults()?;
        let request = |number: i32| {
            let listening = signal(SignalKind::from_raw(number))?;
            Ok((listening, u8::try_from(number).unwrap_or_default()))
        };
        Ok(Self {
            requests: requests().into_iter().map(request).collect::<io::Result<_>>()?,
            stop: signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?,
            continued: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Signal {
        use std::future::poll_fn;
        use std::task::Poll;
        let requested = poll_fn(|context| {
            let mut all = self.requests.iter_mut();
            let came = all.find_map(|(signal, number)| signal.poll_recv(context).is_ready().then_some(*number));
            came.map_or(Poll::Pending, Poll::Ready)
        });
        tokio::select! {
            number = requested => Signal::Fatal(number),
            _ = self.stop.recv() => Signal::Stop,
            _ = self.continued.recv() => Signal::Continued,
            _ = self.resized.recv() => Signal::Resized,
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Takes them from here on.
    ///
    /// # Errors
    /// The system does not let us.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Fatal(2),
            Err(_) => std::future::pending().await,
        }
    }
}
