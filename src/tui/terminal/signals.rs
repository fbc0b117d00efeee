//! The signals that the app answers: those that end it, and those that stop it and let it go on.

use std::io;

/// A signal that the app answers.
pub(in crate::tui) enum Signal {
    /// Leave; the number says which.
    Fatal(u8),
    /// Stop as Ctrl-Z does.
    Stop,
    /// The shell continued us after a stop that we did not see coming.
    Continued,
    /// The terminal has another size.
    Resized,
}

/// The signals as they come.
#[cfg(unix)]
pub(in crate::tui) struct Signals {
    fatal: [(tokio::signal::unix::Signal, u8); 4],
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
    pub(in crate::tui) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            fatal: [
                (signal(SignalKind::hangup())?, 1),
                (signal(SignalKind::interrupt())?, 2),
                (signal(SignalKind::quit())?, 3),
                (signal(SignalKind::terminate())?, 15),
            ],
            stop: signal(SignalKind::from_raw(signal_hook::consts::SIGTSTP))?,
            continued: signal(SignalKind::from_raw(signal_hook::consts::SIGCONT))?,
            resized: signal(SignalKind::window_change())?,
        })
    }

    /// The next one.
    pub(in crate::tui) async fn next(&mut self) -> Signal {
        let [hangup, interrupt, quit, terminate] = &mut self.fatal;
        tokio::select! {
            _ = hangup.0.recv() => Signal::Fatal(hangup.1),
            _ = interrupt.0.recv() => Signal::Fatal(interrupt.1),
            _ = quit.0.recv() => Signal::Fatal(quit.1),
            _ = terminate.0.recv() => Signal::Fatal(terminate.1),
            _ = self.stop.recv() => Signal::Stop,
            _ = self.continued.recv() => Signal::Continued,
            _ = self.resized.recv() => Signal::Resized,
        }
    }
}

/// The signals as they come.
#[cfg(not(unix))]
pub(in crate::tui) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Takes them from here on.
    ///
    /// # Errors
    /// The system does not let us.
    pub(in crate::tui) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// The next one.
    pub(in crate::tui) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Fatal(2),
            Err(_) => std::future::pending().await,
        }
    }
}
