//! Faults on demand: every step of a write asks here first, so that tests can fail or kill it at each of them.

use std::ffi::OsStr;
use std::io;

/// Nothing ever happens here outside of tests.
#[cfg(not(test))]
pub(super) fn fault() -> io::Result<()> {
    Ok(())
}

/// Whether a new file may be given what belongs to the file of this name. Outside of tests the system alone decides.
#[cfg(not(test))]
pub(super) fn may_take_over(_name: &OsStr) -> bool {
    true
}

#[cfg(test)]
pub(super) fn may_take_over(name: &OsStr) -> bool {
    IN_PLACE.with(|kept| kept.get().is_none_or(|kept| name != kept))
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
    /// The name of a file that is to be rewritten in place.
    pub(super) static IN_PLACE: std::cell::Cell<Option<&'static str>> = const { std::cell::Cell::new(None) };
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
