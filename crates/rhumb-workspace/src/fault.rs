//! Fault injection for tests. Every step of a write calls [`fault`], which a test can make fail or kill the process.

use std::ffi::OsStr;
use std::io;

/// Does nothing outside of tests.
#[cfg(not(test))]
pub(crate) fn fault() -> io::Result<()> {
    Ok(())
}

/// Returns whether the metadata of the file `name` may be copied to a new file. Always true outside of tests.
#[cfg(not(test))]
pub(crate) fn may_copy_metadata(_name: &OsStr) -> bool {
    true
}

#[cfg(test)]
pub(crate) fn may_copy_metadata(name: &OsStr) -> bool {
    IN_PLACE.with(|kept| kept.get().is_none_or(|kept| name != kept))
}

#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The disk is full at this step only.
    Full,
    /// The disk fails at this step and at all later ones.
    Broken,
    /// The process is killed.
    Kill,
}

#[cfg(test)]
thread_local! {
    /// Name of a file that must be rewritten in place.
    pub(crate) static IN_PLACE: std::cell::Cell<Option<&'static str>> = const { std::cell::Cell::new(None) };
    /// Number of steps that succeed before the fault, and the fault.
    pub(crate) static FAULT_AFTER: std::cell::Cell<Option<(u32, Fault)>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
pub(crate) fn fault() -> io::Result<()> {
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
