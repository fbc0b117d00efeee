//! Faults on demand: every step of a write asks here first, so that tests can fail or kill it at each of them.

use std::io;

/// Nothing ever happens here outside of tests.
#[cfg(not(test))]
pub(super) fn fault() -> io::Result<()> {
    Ok(())
}

/// What happens at a step.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The disk is full, once.
    Full,
    /// The disk refuses this and whatever comes after it.
    Broken,
    /// The process is killed.
    Kill,
}

#[cfg(test)]
thread_local! {
    /// How many steps may still succeed, and what happens then.
    pub(super) static FAULT_AFTER: std::cell::Cell<Option<(u32, Fault)>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
pub(super) fn fault() -> io::Result<()> {
    FAULT_AFTER.with(|fault| match fault.get() {
        Some((0, Fault::Full)) => {
            fault.set(None);
            Err(io::ErrorKind::StorageFull.into())
        }
        Some((0, Fault::Broken)) => Err(io::Error::other("the disk is broken")),
        Some((0, Fault::Kill)) => {
            signal_hook::low_level::raise(signal_hook::consts::SIGKILL)?;
            Ok(())
        }
        Some((n, kind)) => {
            fault.set(Some((n - 1, kind)));
            Ok(())
        }
        None => Ok(()),
    })
}
