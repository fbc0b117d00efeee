//! Namespaces, rights and Landlock.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};
use nix::sched::{CloneFlags, unshare};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

use crate::Network;
use crate::child::{Failed, failed};
use crate::isolation::{Isolation, WriteIsolation};
use crate::spec::Spec;

/// The newest version of Landlock whose rights are requested. An older kernel enforces those that it knows.
const NEWEST: ABI = ABI::V6;
/// Files outside of the checkout that commands write to. None of them keeps anything.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];
/// Folders that are private in a mounted trial.
const PRIVATE: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/dev/pts"];
/// The highest number of a capability.
const LAST_CAPABILITY: u32 = 40;
/// The highest process id that a kernel accepts as the maximum of a namespace is at least this one.
const MIN_PID_MAX: u64 = 512;

/// Enters new namespaces, in which this process is root.
pub(crate) fn enter_namespaces(network: Network) -> Result<(), Failed> {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let mut flags = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    if network != Network::Full {
        flags |= CloneFlags::CLONE_NEWNET;
    }
    unshare(flags).map_err(failed("this system does not allow user namespaces"))?;
    map_ids(&format!("0 {uid} 1"), &format!("0 {gid} 1"))
}

fn map_ids(uids: &str, gids: &str) -> Result<(), Failed> {
    // In a nested namespace it is denied already.
    fs::write("/proc/self/setgroups", "deny").ok();
    fs::write("/proc/self/uid_map", uids).map_err(failed("the user cannot be mapped"))?;
    fs::write("/proc/self/gid_map", gids).map_err(failed("the group cannot be mapped"))
}

/// Limits the number of processes of this PID namespace, if the kernel can. Before Linux 6.14 the limit is that of the machine, and root
/// would change it.
pub(crate) fn limit_processes(most: u64) {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.trim().parse::<u32>().ok());
    if (numbers.next(), numbers.next()) < (Some(6), Some(14)) {
        return;
    }
    fs::write("/proc/sys/kernel/pid_max", most.max(MIN_PID_MAX).to_string()).ok();
}

/// Becomes the user again, without any capability.
pub(crate) fn drop_rights() -> Result<(), Failed> {
    let own = |file: &str| -> Result<String, Failed> {
        // Each line: id inside, id outside, number of ids.
        let text = fs::read_to_string(file).map_err(failed(file))?;
        Ok(text.split_whitespace().nth(1).unwrap_or("0").to_owned())
    };
    let (uid, gid) = (own("/proc/self/uid_map")?, own("/proc/self/gid_map")?);
    unshare(CloneFlags::CLONE_NEWUSER).map_err(failed("a nested user namespace"))?;
    map_ids(&format!("{uid} 0 1"), &format!("{gid} 0 1"))?;
    for number in 0..=LAST_CAPABILITY {
        if let Some(capability) = rustix::thread::CapabilitySet::from_bits(1 << number) {
            // One that the kernel does not know is not held.
            rustix::thread::remove_capability_from_bounding_set(capability).ok();
        }
    }
    rustix::thread::clear_ambient_capability_set().ok();
    rustix::thread::set_no_new_privs(true).map_err(failed("no_new_privs"))
}

/// Confines writes to the checkout, and where there is no network namespace also the network, as far as the kernel can.
pub(crate) fn confine(spec: &Spec, isolation: &mut Isolation) -> Result<(), Failed> {
    let mounted = spec.is_mounted();
    let confines_network = !mounted && spec.network != Network::Full;
    let error = failed::<landlock::RulesetError>;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .map_err(error("Landlock"))?
        .scope(Scope::from_all(NEWEST))
        .map_err(error("Landlock"))?;
    if confines_network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST)).map_err(error("Landlock"))?;
    }
    let mut rules = rules.create().map_err(error("Landlock"))?;
    let read = AccessFs::from_read(NEWEST);
    rules = allow(rules, Path::new("/"), read)?;
    let all = AccessFs::from_all(NEWEST);
    let mut writable: Vec<&Path> = vec![&spec.checkout];
    if mounted {
        writable.extend(PRIVATE.map(Path::new));
        writable.extend(spec.caches.iter().map(PathBuf::as_path));
    }
    for folder in writable {
        rules = allow(rules, folder, all)?;
    }
    for device in DEVICES {
        let access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        rules = allow(rules, Path::new(device), access)?;
    }
    let status = rules.restrict_self().map_err(error("Landlock"))?;
    let version = match status.landlock {
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            Some(kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(effective_abi as u32))
        }
        _ => None,
    };
    isolation.writes = version.map_or(WriteIsolation::None, WriteIsolation::Landlock);
    if version.is_none() {
        isolation
            .missing
            .push("writes outside of the checkout are not prevented: this kernel has no Landlock".to_owned());
    }
    if confines_network {
        let tcp_alone = version.is_some_and(|abi| abi >= ABI::V4 as u32);
        isolation.network.enforced = false;
        isolation.missing.push(
            if tcp_alone {
                "of the network only TCP is blocked, the loopback address included"
            } else {
                "the network is not blocked"
            }
            .to_owned(),
        );
    }
    Ok(())
}

/// Allows access below a path. One that does not exist is left out.
fn allow(rules: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, Failed> {
    let Ok(opened) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    rules.add_rule(PathBeneath::new(opened, access)).map_err(failed::<landlock::RulesetError>(path.display()))
}

/// Brings up the loopback interface of the network namespace, by a message to the kernel (rtnetlink(7)).
pub(crate) fn start_loopback() -> Result<(), Failed> {
    const NEW_LINK: u16 = 16;
    const REQUEST: u16 = 1;
    const ACKNOWLEDGE: u16 = 4;
    const UP: u32 = 1;
    const LOOPBACK: i32 = 1;
    let error = failed::<rustix::io::Errno>;
    let socket: OwnedFd = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)
        .map_err(error("the loopback interface"))?;
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes()); // length of the message
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend((REQUEST | ACKNOWLEDGE).to_ne_bytes());
    message.extend([0; 8]); // sequence number and sender
    message.extend([0; 4]); // address family, padding and device type
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes()); // flags
    message.extend(UP.to_ne_bytes()); // the flags to change
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))
        .map_err(error("the loopback interface"))?;
    let mut answer = [0u8; 64];
    let (_, length) = recv(&socket, &mut answer, RecvFlags::empty()).map_err(error("the loopback interface"))?;
    let code =
        answer.get(16..20).filter(|_| length >= 20).map_or(-1, |bytes| bytes.iter().map(|byte| i32::from(*byte)).sum());
    if code == 0 { Ok(()) } else { Err("the loopback interface cannot be started".to_owned()) }
}
