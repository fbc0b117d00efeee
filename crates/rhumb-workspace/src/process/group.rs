//! Process groups: the state of the leader, and the end of the whole group.

use std::process::{Child, Command};

/// Terminates this process when its parent process ends. Works on Linux only.
pub fn end_with_parent() {
    // A failure is ignored: the process then behaves as on other systems.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM));
}

/// State of the leader of the process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leader {
    Runs,
    /// Stopped because it tried to read from the terminal or to change its settings.
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

    pub(crate) fn own_group(command: &mut Command) {
        command.process_group(0);
    }

    fn pid(child: &Child) -> Option<Pid> {
        i32::try_from(child.id()).ok().and_then(Pid::from_raw)
    }

    /// Returns the state of the leader without reaping it, so that its process id is not reused.
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

    /// Sends SIGTERM to the group, and SIGCONT so that stopped processes receive it.
    pub(crate) fn terminate(child: &Child) {
        if let Some(pid) = pid(child) {
            // Until `setsid` has run, there is only the process itself.
            let _ = kill_process_group(pid, Signal::TERM).or_else(|_| kill_process(pid, Signal::TERM));
            let _ = kill_process_group(pid, Signal::CONT);
        }
    }

    pub(crate) fn kill(child: &Child) {
        if let Some(pid) = pid(child) {
            let _ = kill_process_group(pid, Signal::KILL).or_else(|_| kill_process(pid, Signal::KILL));
        }
    }

    /// Returns whether the group still has processes after its leader was reaped.
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

    pub(crate) fn terminate(_: &Child) {}

    pub(crate) fn kill(_: &Child) {}

    pub(crate) fn is_populated(_: &Child) -> bool {
        false
    }
}

#[cfg(not(unix))]
pub(crate) use other::{is_populated, kill, leader, own_group, terminate};
#[cfg(unix)]
pub(crate) use unix::{is_populated, kill, leader, own_group, terminate};
