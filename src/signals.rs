//! Signals that the front ends handle: those that end the program and, for the full screen, those of job control and of
//! the terminal's size.

use std::io;

/// The number of the signal that Ctrl-C sends.
pub(crate) const SIGINT: u8 = 2;

/// The number of the signal that Ctrl-\ sends.
pub(crate) const SIGQUIT: u8 = 3;

/// The exit code after a signal is this plus the number of the signal, as in shells.
pub(crate) const EXIT_BY_SIGNAL: u8 = 128;

/// A signal. [`Signals::for_lines`] yields only [`Signal::Fatal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// A signal with this number, which asks the program to exit.
    Fatal(u8),
    /// Ctrl-Z: suspend the program.
    Stop,
    /// The shell continued the program after a stop.
    Continued,
    /// The terminal has another size.
    Resized,
}

/// Receives signals.
#[cfg(unix)]
pub(crate) struct Signals(Vec<(tokio::signal::unix::Signal, Signal)>);

#[cfg(unix)]
impl Signals {
    /// Listens for the signals by which users and the system end a command.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn for_lines() -> io::Result<Self> {
        use signal_hook::consts::*;
        Self::listen([SIGINT, SIGHUP, SIGQUIT, SIGTERM].map(fatal))
    }

    /// Listens for all signals that a full-screen program handles. Every signal is included that would end the process and can
    /// be caught without unsafe code, because otherwise the terminal would stay in raw mode. SIGSEGV, SIGILL, SIGFPE and SIGKILL
    /// cannot be caught this way. SIGPIPE is ignored from the start, and `main` handles SIGXFSZ.
    ///
    /// After a fault such as SIGABRT, `restore_terminal` runs before the process ends.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn for_screen(restore_terminal: fn()) -> io::Result<Self> {
        use signal_hook::consts::*;
        handle_faults(restore_terminal)?;
        let requests = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU];
        let requests = requests.into_iter();
        #[cfg(target_os = "linux")]
        let requests =
            requests.chain([libc::SIGIO, libc::SIGPWR, libc::SIGSTKFLT]).chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
        let others = [(SIGTSTP, Signal::Stop), (SIGCONT, Signal::Continued), (SIGWINCH, Signal::Resized)];
        Self::listen(requests.map(fatal).chain(others))
    }

    fn listen(signals: impl IntoIterator<Item = (i32, Signal)>) -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let listener = |(number, meaning)| Ok((signal(SignalKind::from_raw(number))?, meaning));
        signals.into_iter().map(listener).collect::<io::Result<_>>().map(Self)
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        use std::task::Poll;
        std::future::poll_fn(|context| {
            let mut listeners = self.0.iter_mut();
            let received =
                listeners.find_map(|(signal, meaning)| signal.poll_recv(context).is_ready().then_some(*meaning));
            received.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

#[cfg(unix)]
fn fatal(number: i32) -> (i32, Signal) {
    (number, Signal::Fatal(u8::try_from(number).unwrap_or_default()))
}

/// Restores the terminal after signals that report a fault of the program, and then ends it as the signal would. A thread does
/// this, because the event loop may be blocked. A fault in running code may end the process before the thread runs, unless the
/// system waits for it, as `abort` does not.
#[cfg(unix)]
fn handle_faults(restore_terminal: fn()) -> io::Result<()> {
    use signal_hook::consts::*;
    let mut faults = signal_hook::iterator::Signals::new([SIGABRT, SIGBUS, SIGSYS, SIGTRAP])?;
    let handle = move || {
        for signal in faults.forever() {
            restore_terminal();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(handle).map(drop)
}

/// Receives Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Listens for Ctrl-C.
    ///
    /// # Errors
    /// None.
    pub(crate) fn for_lines() -> io::Result<Self> {
        Ok(Self)
    }

    /// Listens for Ctrl-C.
    ///
    /// # Errors
    /// None.
    pub(crate) fn for_screen(_restore_terminal: fn()) -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Fatal(SIGINT),
            Err(_) => std::future::pending().await,
        }
    }
}
