//! Stops a command whose processes use too much memory or disk in all. The limits of the kernel (`setrlimit`) hold for one process
//! each, and control groups cannot be made without rights.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::process::Child;
use std::sync::{Arc, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::mounts::PRIVATE;
use crate::{Limits, gigabytes};

/// The shortest and the longest time between two measurements.
const MIN_INTERVAL: Duration = Duration::from_millis(100);
const MAX_INTERVAL: Duration = Duration::from_secs(1);
/// The time between two measurements, as a multiple of the time that one takes.
const INTERVAL_SHARE: u32 = 50;
/// The unit of `st_blocks` (stat(3type)), in bytes.
const BLOCK_BYTES: u64 = 512;

/// Watches the descendants of this process in a thread, and kills `command` when they exceed a limit. The result then has the reason.
/// `is_mounted`: the folders of temporary files are private ones, in memory.
pub(crate) fn watch(command: &Child, limits: Limits, is_mounted: bool) -> io::Result<Arc<OnceLock<String>>> {
    let leader = i32::try_from(command.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    // Unlike the number, it never names another process.
    let leader = pidfd_open(leader, PidfdFlags::empty())?;
    let min_free = free_bytes().map_or(0, |free| limits.min_free_bytes.min(free / 2));
    let reason = Arc::new(OnceLock::new());
    let found = Arc::clone(&reason);
    let measure = move || loop {
        let start = Instant::now();
        if let Some(excess) = excess(limits.memory_bytes, min_free, is_mounted) {
            found.set(excess).ok();
            pidfd_send_signal(leader.as_fd(), Signal::KILL).ok();
            return;
        }
        sleep((start.elapsed() * INTERVAL_SHARE).clamp(MIN_INTERVAL, MAX_INTERVAL));
    };
    std::thread::Builder::new().spawn(measure)?;
    Ok(reason)
}

/// What exceeds its limit, in words.
fn excess(max_memory: u64, min_free: u64, is_mounted: bool) -> Option<String> {
    let used = used_memory(max_memory, is_mounted);
    if max_memory > 0 && used > max_memory {
        let (used, limit) = (gigabytes(used), gigabytes(max_memory));
        return Some(format!(
            "its processes and temporary files take {used} of memory, more than the limit of {limit}"
        ));
    }
    let free = free_bytes().filter(|free| *free < min_free)?;
    Some(format!("the disk of the trial has only {} free", gigabytes(free)))
}

/// Free bytes on the disk of the checkout, which is the current folder.
fn free_bytes() -> Option<u64> {
    statvfs(".").ok().map(|stat| stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Memory of all descendants of this process and of their temporary files, in bytes.
fn used_memory(limit: u64, is_mounted: bool) -> u64 {
    let folders = PRIVATE.iter().filter(|_| is_mounted).filter_map(|(folder, _)| statvfs(*folder).ok());
    let named: u64 = folders.map(|stat| stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(stat.f_frsize)).sum();
    let processes = descendants();
    let files = named.saturating_add(unnamed_files(&processes));
    // Some of these files are also shared memory, and count once.
    let total = |memory: Memory| memory.private.saturating_add(memory.shared.max(files));
    let upper_bound = total(processes.iter().map(|(_, memory)| *memory).sum());
    if upper_bound <= limit {
        return upper_bound;
    }
    // Processes share pages after a fork. Their exact shares take the kernel longer to count.
    total(processes.iter().map(|(process, memory)| exact_memory(*process).unwrap_or(*memory)).sum())
}

/// Memory in bytes: what belongs to no file, swapped pages included, and what belongs to files in memory.
#[derive(Debug, Clone, Copy, Default)]
struct Memory {
    private: u64,
    shared: u64,
}

impl std::iter::Sum for Memory {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, memory| Self {
            private: sum.private.saturating_add(memory.private),
            shared: sum.shared.saturating_add(memory.shared),
        })
    }
}

/// Bytes of the files in memory that have no name (memfd_create(2)) and that these processes have open. Each counts once.
fn unnamed_files(processes: &[(u32, Memory)]) -> u64 {
    let mut sizes = BTreeMap::new();
    for (process, _) in processes {
        for entry in fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
            let target = fs::read_link(entry.path()).unwrap_or_default();
            if !target.as_os_str().as_bytes().starts_with(b"/memfd:") {
                continue;
            }
            if let Ok(meta) = fs::metadata(entry.path()) {
                sizes.insert((meta.dev(), meta.ino()), meta.blocks().saturating_mul(BLOCK_BYTES));
            }
        }
    }
    sizes.into_values().sum()
}

/// All descendants of this process, with their memory (proc_pid_status(5)).
fn descendants() -> Vec<(u32, Memory)> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut children: HashMap<u32, Vec<(u32, Memory)>> = HashMap::new();
    for number in numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        let Some(fields) = fields(number, "status") else { continue };
        let bytes = |name: &str| fields.get(name).map_or(0, |kilobytes| kilobytes << 10);
        let memory = Memory { private: bytes("RssAnon") + bytes("VmSwap"), shared: bytes("RssShmem") };
        let parent = fields.get("PPid").and_then(|parent| u32::try_from(*parent).ok()).unwrap_or(0);
        children.entry(parent).or_default().push((number, memory));
    }
    let (mut found, mut open) = (Vec::new(), vec![std::process::id()]);
    while let Some(parent) = open.pop() {
        // Each list is taken once, so that numbers that were used again while they were read make no cycle.
        let own = children.remove(&parent).unwrap_or_default();
        open.extend(own.iter().map(|(number, _)| number));
        found.extend(own);
    }
    found
}

/// The memory of a process: of pages that several processes share, its share (proc_pid_smaps(5)).
fn exact_memory(process: u32) -> Option<Memory> {
    let fields = fields(process, "smaps_rollup")?;
    let bytes = |name: &str| fields.get(name).map(|kilobytes| kilobytes << 10);
    Some(Memory { private: bytes("Pss_Anon")? + bytes("SwapPss").unwrap_or(0), shared: bytes("Pss_Shmem")? })
}

/// The fields of a file of a process that are numbers. Each line: name, colon, number. The name of a process may be invalid UTF-8.
fn fields(process: u32, file: &str) -> Option<HashMap<String, u64>> {
    let bytes = fs::read(format!("/proc/{process}/{file}")).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_owned(), value.split_whitespace().next()?.parse().ok()?))
    };
    Some(text.lines().filter_map(field).collect())
}
