//! Signals: Ctrl-C stops what runs, the others lead out in order.

use std::io;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// Leave; the number says which.
    Fatal(u8),
}

#[cfg(unix)]
pub(crate) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    fatal: [(tokio::signal::unix::Signal, u8); 3],
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system does not let us.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            fatal: [
                (signal(SignalKind::hangup())?, 1),
                (signal(SignalKind::quit())?, 3),
                (signal(SignalKind::terminate())?, 15),
            ],
        })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        let [hangup, quit, terminate] = &mut self.fatal;
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = hangup.0.recv() => Signal::Fatal(hangup.1),
            _ = quit.0.recv() => Signal::Fatal(quit.1),
            _ = terminate.0.recv() => Signal::Fatal(terminate.1),
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Listens from now on.
    ///
    /// # Errors
    /// The system does not let us.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt,
            Err(_) => std::future::pending().await,
        }
    }
}
