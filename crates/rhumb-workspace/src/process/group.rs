//! The process group of a command: looking whether its leader still runs, and ending all of it.

use std::process::{Child, Command};

/// Has this process ended when the one that started it ends, however that comes to pass. Elsewhere than on Linux it goes on.
pub fn end_with_parent() {
    // Where the system refuses, we go on as everywhere else.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}

/// How the leader of a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    Runs,
    /// It was stopped because it wanted to read from the terminal, or to change it, which belongs to us.
    WantsTerminal,
    Ended,
}

#[cfg(unix)]
mod unix {
    use std::os::unix::process::CommandExt as _;

    use rustix::process::{
        Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, test_kill_process_group, waitid,
    };

    use super::{Child, Command, Leader};

    /// Gives the command a group of its own.
    pub(crate) fn own_group(command: &mut Command) {
        command.process_group(0);
    }

    fn pid(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    /// How the leader is. It is not reaped: as long as it is not, its number belongs to nobody else.
    pub(crate) fn leader(child: &mut Child) -> Leader {
        let Some(pid) = pid(child) else { return Leader::Ended };
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(pid), options) {
            Ok(None) => Leader::Runs,
            Ok(Some(status)) if status.stopped() => {
                let signal = status.stopping_signal();
                let terminal = [Signal::TTIN.as_raw(), Signal::TTOU.as_raw()];
                if signal.is_some_and(|signal| terminal.contains(&signal)) {
                    Leader::WantsTerminal
                } else {
                    Leader::Runs
                }
            }
            Ok(Some(_)) | Err(_) => Leader::Ended,
        }
    }

    /// Asks the group to end. One that is stopped has to go on to hear it.
    pub(crate) fn ask_to_end(child: &Child) {
        if let Some(pid) = pid(child) {
            // Before it leads its group there is only itself.
            let _ = kill_process_group(pid, Signal::TERM).or_else(|_| kill_process(pid, Signal::TERM));
            let _ = kill_process_group(pid, Signal::CONT);
        }
    }

    /// Ends the group.
    pub(crate) fn end(child: &Child) {
        if let Some(pid) = pid(child) {
            let _ = kill_process_group(pid, Signal::KILL).or_else(|_| kill_process(pid, Signal::KILL));
        }
    }

    /// Whether there is anybody left in the group, now that its leader has been reaped.
    pub(crate) fn is_populated(child: &Child) -> bool {
        pid(child).is_some_and(|pid| test_kill_process_group(pid).is_ok())
    }
}

#[cfg(not(unix))]
mod other {
    use super::{Child, Command, Leader};

    pub(crate) fn own_group(_: &mut Command) {}

    pub(crate) fn leader(child: &mut Child) -> Leader {
        if matches!(child.try_wait(), Ok(None)) { Leader::Runs } else { Leader::Ended }
    }

    pub(crate) fn ask_to_end(_: &Child) {}

    pub(crate) fn end(_: &Child) {}

    pub(crate) fn is_populated(_: &Child) -> bool {
        false
    }
}

#[cfg(not(unix))]
pub(super) use other::{ask_to_end, end, is_populated, leader, own_group};
#[cfg(unix)]
pub(super) use unix::{ask_to_end, end, is_populated, leader, own_group};
