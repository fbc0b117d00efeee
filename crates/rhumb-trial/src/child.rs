//! The child of a trial: sets up the checkout and the sandbox, and runs the command.
//!
//! With namespaces there are two processes. The first enters the namespaces, mounts, and applies the changes. The second is the first
//! process of the PID namespace: it gives up all rights and runs the command; when it ends, the kernel kills whatever the command left.
//! Without namespaces the first process does all of it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions};

use crate::isolation::{Isolation, WriteIsolation};
use crate::scratch::STATUS;
use crate::spec::{CHILD, INIT, Spec};
use crate::{Limits, Status};

/// Exit codes of a shell for a program that is not found, and for one that cannot be executed.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// Exit code of a child that could not set up the trial.
const NOT_SET_UP: u8 = 125;
/// What a shell adds to the number of the signal that ended a command.
const SIGNALLED: i32 = 128;

/// Why the trial could not be set up: what failed, and the error.
pub(crate) type Failed = String;

/// Adds to an error what failed.
pub(crate) fn failed<E: std::fmt::Display>(what: impl std::fmt::Display) -> impl FnOnce(E) -> Failed {
    move |error| format!("{what}: {error}")
}

/// Runs a stage of the trial if the first argument names one.
pub(crate) fn run(stage: &OsStr, spec: Option<&OsStr>) -> Option<ExitCode> {
    let is_init = stage == INIT;
    #[cfg(target_os = "linux")]
    if stage == crate::relay::RELAY {
        crate::relay::run();
        return Some(ExitCode::SUCCESS);
    }
    if !is_init && stage != CHILD {
        return None;
    }
    close_inherited();
    let Ok(spec) = read_spec(Path::new(spec.unwrap_or_default())) else { return Some(ExitCode::from(NOT_SET_UP)) };
    if is_init {
        return Some(ExitCode::from(init(&spec).unwrap_or(NOT_SET_UP)));
    }
    let Ok(mut report) = report_file(&spec) else { return Some(ExitCode::from(NOT_SET_UP)) };
    let result = if spec.is_mounted() { enter(&spec, &mut report) } else { run_in_copy(&spec, &mut report) };
    Some(ExitCode::from(result.unwrap_or_else(|status| {
        write_report(&report, &status);
        NOT_SET_UP
    })))
}

/// Closes what this program was started with, except the standard streams: an open folder leads past the mounts.
fn close_inherited() {
    #[cfg(target_os = "linux")]
    {
        let number = |entry: fs::DirEntry| entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let open: Vec<i32> = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten().filter_map(number).collect();
        // That of the listing is closed already.
        for number in open.into_iter().filter(|number| *number > 2) {
            nix::unistd::close(number).ok();
        }
    }
}

/// The specification: a file, or the standard input of the second process, which does not see the file.
fn read_spec(path: &Path) -> io::Result<Spec> {
    let bytes = if path == Path::new("-") { io::read_to_string(io::stdin())?.into_bytes() } else { fs::read(path)? };
    serde_json::from_slice(&bytes).map_err(io::Error::other)
}

fn write_report(mut file: &fs::File, status: &Status) {
    // If that fails, the parent reports that the command was not started.
    file.write_all(&serde_json::to_vec(status).unwrap_or_default()).ok();
}

/// Opens the file with the report for the parent. The sandbox would not allow it later.
fn report_file(spec: &Spec) -> Result<fs::File, Failed> {
    let opened = fs::OpenOptions::new().write(true).truncate(true).open(spec.scratch.join(STATUS));
    opened.map_err(failed("the report cannot be opened"))
}

impl From<Failed> for Status {
    fn from(reason: Failed) -> Self {
        Self::NotSetUp(reason)
    }
}

/// Enters the namespaces, mounts the checkout, applies the changes, and starts the second process.
#[cfg(target_os = "linux")]
fn enter(spec: &Spec, report: &mut fs::File) -> Result<u8, Status> {
    let contents = read_contents(spec)?;
    let lower = open_folder(&spec.root)?;
    if let Some(path) = of_other_owner(spec) {
        let reason = format!("{} belongs to another user or group", path.display());
        return Err(Status::NotMounted(reason));
    }
    let sockets =
        if spec.network == crate::Network::Full { Vec::new() } else { crate::mounts::listening_sockets(&spec.root) };
    let relay = match spec.network {
        crate::Network::Loopback => Some((crate::relay::listening_ports(), crate::relay::start()?)),
        _ => None,
    };
    crate::sandbox::enter_namespaces(spec.network).map_err(Status::NotMounted)?;
    die_with_parent();
    if spec.network == crate::Network::Loopback {
        crate::sandbox::start_loopback().map_err(Status::NotMounted)?;
    }
    let listeners = relay.as_ref().map_or_else(Vec::new, |(ports, _)| crate::relay::listen(ports));
    let writable = crate::mounts::mount_all(spec, &sockets).map_err(Status::NotMounted)?;
    std::env::set_current_dir(&spec.root).map_err(failed("the checkout cannot be entered"))?;
    let checkout = open_folder(&spec.root)?;
    apply(spec, &contents, &checkout, Some(&lower))?;
    // The second process cannot read the scratch folder. It gets the specification by its standard input, and reports there.
    let (changes, touched, created) = (Vec::new(), Vec::new(), Vec::new());
    let spec = Spec { changes, touched, created, caches: writable, git: None, ..spec.clone() };
    let input = serde_json::to_vec(&spec).map_err(failed("the specification"))?;
    let (mut ours, theirs) = UnixStream::pair().map_err(failed("a socket"))?;
    let mut command = Command::new("/proc/self/exe");
    command.args([INIT, "-"]).stdin(Stdio::from(OwnedFd::from(theirs)));
    let mut child = command.spawn().map_err(failed("the first process of the namespace cannot be started"))?;
    drop(command);
    ours.write_all(&input).and_then(|()| ours.shutdown(Shutdown::Write)).map_err(failed("the specification"))?;
    let mut text = String::new();
    io::BufReader::new(ours).read_line(&mut text).map_err(failed("the report"))?;
    report.write_all(text.as_bytes()).map_err(failed("the report"))?;
    // The command runs now, so an error is no reason to report again. Without the relay it reaches no server.
    if let Some((_, relay)) = &relay {
        crate::relay::serve(&listeners, relay, &child).ok();
    }
    let code = child.wait().ok().and_then(|ended| ended.code());
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(NOT_SET_UP))
}

/// The root, or a file or folder that the changes write to, if it belongs to another user or group. The namespace knows the numbers of the
/// user alone, and an overlay cannot copy a file with others (EOVERFLOW).
#[cfg(target_os = "linux")]
fn of_other_owner(spec: &Spec) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    let own = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    let is_of_other = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|meta| (meta.uid(), meta.gid()) != own);
    let below = |path: &String| Path::new(path).ancestors().map(|path| spec.root.join(path)).collect::<Vec<_>>();
    let written = spec.changes.iter().flat_map(|(path, ..)| below(path));
    std::iter::once(spec.root.clone()).chain(written).find(is_of_other)
}

#[cfg(not(target_os = "linux"))]
fn enter(_: &Spec, _: &mut fs::File) -> Result<u8, Status> {
    Err(Status::NotMounted("this system has no namespaces".to_owned()))
}

/// The first process of the PID namespace: gives up all rights, runs the command, and collects what ends.
#[cfg(target_os = "linux")]
fn init(spec: &Spec) -> Result<u8, Failed> {
    let set_up = || -> Result<Isolation, Failed> {
        crate::mounts::mount_proc()?;
        crate::sandbox::limit_processes(spec.limits.processes);
        crate::sandbox::drop_rights()?;
        limit_each(&spec.limits);
        let mut isolation = Isolation::mounted(spec.network);
        crate::sandbox::confine(spec, &mut isolation)?;
        die_with_parent();
        // A command that signals its own process group must not end the process that started this one.
        rustix::process::setsid().map_err(failed("a session"))?;
        Ok(isolation)
    };
    let status = set_up().map_or_else(Status::NotMounted, Status::Ran);
    let text = serde_json::to_string(&status).map_err(failed("the report"))? + "\n";
    rustix::io::write(io::stdin(), text.as_bytes()).map_err(failed("the report"))?;
    if !matches!(status, Status::Ran(_)) {
        return Ok(NOT_SET_UP);
    }
    Ok(run_command(&spec.line, Some(Path::new("/tmp")), spec))
}

#[cfg(not(target_os = "linux"))]
fn init(_: &Spec) -> Result<u8, Failed> {
    Err("this system has no namespaces".to_owned())
}

/// Applies the changes to the copy, and runs the command there.
fn run_in_copy(spec: &Spec, status: &mut fs::File) -> Result<u8, Status> {
    let contents = read_contents(spec)?;
    let checkout = open_folder(&spec.checkout)?;
    apply(spec, &contents, &checkout, None)?;
    std::env::set_current_dir(&spec.checkout).map_err(failed("the copy cannot be entered"))?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(failed("the command cannot be supervised"))?;
    limit_each(&spec.limits);
    let mut isolation = Isolation::copied(spec.network);
    #[cfg(target_os = "linux")]
    crate::sandbox::confine(spec, &mut isolation)?;
    let (mut line, mut temporary) = (spec.line.clone(), None);
    if crate::seatbelt::is_available() {
        let folder = spec.scratch.join("tmp");
        crate::scratch::private_folder(&folder).map_err(failed(folder.display()))?;
        line = crate::seatbelt::wrapped(spec, &folder);
        temporary = Some(folder);
        crate::seatbelt::record(spec.network, &mut isolation);
    } else if cfg!(not(target_os = "linux")) {
        isolation.network.enforced = false;
        isolation.missing.push("writes and the network are not confined: this system has no sandbox".to_owned());
    }
    if let Some(git) = spec.git.as_ref().filter(|_| isolation.writes == WriteIsolation::None) {
        let reason =
            format!("git's data is in {}, where nothing keeps a command in a copy from changing it", git.display());
        return Err(Status::NotSetUp(reason));
    }
    die_with_parent();
    #[cfg(target_os = "linux")]
    end_descendants_on_request().map_err(failed("signals cannot be handled"))?;
    write_report(status, &Status::Ran(isolation));
    let code = run_command(&line, temporary.as_deref(), spec);
    #[cfg(target_os = "linux")]
    end_descendants();
    Ok(code)
}

/// Runs the command until it has ended, and collects other processes that end meanwhile. Returns its exit code, as a shell would.
/// Temporary files go to `temporary`.
fn run_command(line: &[String], temporary: Option<&Path>, spec: &Spec) -> u8 {
    let Some((program, arguments)) = line.split_first() else { return NOT_FOUND };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.envs(temporary.map(|folder| ("TMPDIR", folder)));
    let child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            // As a shell reports it.
            let _ = writeln!(io::stderr(), "rhumb: {program}: {error}");
            return if exists(program) { NOT_EXECUTABLE } else { NOT_FOUND };
        }
    };
    // Where the use cannot be measured, it is not limited.
    #[cfg(target_os = "linux")]
    let exceeded = crate::usage::watch(&child, spec.limits, spec.is_mounted()).unwrap_or_default();
    #[cfg(not(target_os = "linux"))]
    let _ = spec;
    let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == leader => {
                #[cfg(target_os = "linux")]
                if let Some(reason) = exceeded.get() {
                    let _ = writeln!(io::stderr(), "rhumb: the command was stopped: {reason}");
                }
                let signal = status.terminating_signal().map(|signal| SIGNALLED + signal);
                let code = status.exit_status().or(signal).unwrap_or(i32::from(NOT_SET_UP));
                return u8::try_from(code).unwrap_or(u8::MAX);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return NOT_SET_UP,
        }
    }
}

/// Whether a program exists. A folder of `PATH` that cannot be read does not make it exist, but spoils the error.
fn exists(program: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let in_path = || std::env::split_paths(&folders).any(|folder| folder.join(program).exists());
    if program.contains('/') { Path::new(program).exists() } else { in_path() }
}

/// Kills what the command left. Without a PID namespace, processes that left its group are adopted by this one.
#[cfg(target_os = "linux")]
fn end_descendants() {
    let own = std::process::id();
    for _ in 0..MAX_ROUNDS {
        let file = format!("/proc/self/task/{own}/children");
        let children = fs::read_to_string(file).unwrap_or_default();
        let pids: Vec<Pid> = children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect();
        if pids.is_empty() {
            return;
        }
        for pid in pids {
            rustix::process::kill_process(pid, Signal::KILL).ok();
            rustix::process::waitpid(Some(pid), WaitOptions::empty()).ok();
        }
    }
}

/// After a SIGTERM, ends the command. This process ends last, so that it can end every descendant.
#[cfg(target_os = "linux")]
fn end_descendants_on_request() -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([signal_hook::consts::SIGTERM])?;
    let handle = move || {
        for _ in signals.forever() {
            // The command got the signal, too. If it ends, this process ends the rest, and then itself.
            std::thread::sleep(TERMINATE_TIMEOUT);
            end_descendants();
        }
    };
    std::thread::Builder::new().spawn(handle).map(drop)
}

/// How long a command may take to end after SIGTERM. Shorter than the time after which this process is killed.
#[cfg(target_os = "linux")]
const TERMINATE_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(1);

/// How often the children are killed: killing one may leave its own children to this process.
#[cfg(target_os = "linux")]
const MAX_ROUNDS: usize = 1_000;

/// Ends this process when its parent ends. The kernel forgets that when the rights of the process change.
fn die_with_parent() {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).ok();
}

/// Sets the limits of each process of the command. A limit that cannot be set is not changed.
fn limit_each(limits: &Limits) {
    let set = |resource: Resource, most: u64| {
        let known = rustix::process::getrlimit(resource);
        let most = known.maximum.map_or(most, |maximum| maximum.min(most));
        rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).ok();
    };
    set(Resource::Nproc, limits.processes);
    set(Resource::Fsize, limits.file_bytes);
    set(Resource::Core, 0);
}

/// A change with its content, in memory: after the mounts, the files of the scratch folder may be hidden.
struct Content {
    path: String,
    bytes: Option<Vec<u8>>,
    executable: bool,
}

fn read_contents(spec: &Spec) -> Result<Vec<Content>, Failed> {
    let read = |(path, number, executable): &(String, Option<usize>, bool)| {
        let file = |number: &usize| spec.scratch.join("changes").join(number.to_string());
        let bytes = number.as_ref().map(|number| fs::read(file(number))).transpose().map_err(failed(path))?;
        Ok(Content { path: path.clone(), bytes, executable: *executable })
    };
    spec.changes.iter().map(read).collect()
}

fn open_folder(path: &Path) -> Result<OwnedFd, Failed> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(failed(path.display()))
}

/// Restores what earlier runs changed, and applies the changes. Every path is opened below the checkout without following links, so that
/// nothing outside of it can be written. Files that have the content already are not touched, for build tools that compare times.
fn apply(spec: &Spec, contents: &[Content], checkout: &OwnedFd, lower: Option<&OwnedFd>) -> Result<(), Failed> {
    if let Some(lower) = lower {
        for path in &spec.touched {
            let original = read_below(lower, path);
            let (bytes, mode) = original.as_ref().map_or((None, 0), |(bytes, mode)| (Some(bytes.as_slice()), *mode));
            set_content(checkout, path, bytes, Mode::from_raw_mode(mode)).map_err(failed(path))?;
        }
        for folder in &spec.created {
            remove_empty(checkout, folder);
        }
    }
    let umask = rustix::process::umask(Mode::empty());
    rustix::process::umask(umask);
    for Content { path, bytes, executable } in contents {
        let mode = Mode::from_raw_mode(if *executable { 0o777 } else { 0o666 }) & !umask;
        set_content(checkout, path, bytes.as_deref(), mode).map_err(failed(path))?;
    }
    Ok(())
}

/// Removes a folder if it is empty.
fn remove_empty(checkout: &OwnedFd, path: &str) {
    let Ok((folders, name)) = parts(path) else { return };
    let open = |at: OwnedFd, part: &&str| openat(&at, *part, FOLDER, Mode::empty()).ok();
    let Some(at) = checkout.try_clone().ok().and_then(|at| folders.iter().try_fold(at, open)) else { return };
    unlinkat(&at, name, AtFlags::REMOVEDIR).ok();
}

/// Splits a path into its folders and its name. Fails on a path that could lead out of the checkout.
fn parts(path: &str) -> io::Result<(Vec<&str>, &str)> {
    let mut folders: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| !part.is_empty() && *part != "." && *part != "..";
    let name = folders.pop().filter(is_plain);
    match name.filter(|_| folders.iter().all(is_plain)) {
        Some(name) => Ok((folders, name)),
        None => Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is not below the root")),
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The content and the mode of a file.
fn read_below(folder: &OwnedFd, path: &str) -> Option<(Vec<u8>, u32)> {
    let (folders, name) = parts(path).ok()?;
    let mut at = folder.try_clone().ok()?;
    for part in folders {
        at = openat(&at, part, FOLDER, Mode::empty()).ok()?;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = fs::File::from(openat(&at, name, flags, Mode::empty()).ok()?);
    let meta = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut &file, &mut bytes).ok()?;
    Some((bytes, std::os::unix::fs::MetadataExt::mode(&meta) & MODE))
}

/// The bits of a mode that can be set.
const MODE: u32 = 0o7777;

/// Gives a file this content, or deletes it. A file that does not exist gets this mode.
fn set_content(checkout: &OwnedFd, path: &str, bytes: Option<&[u8]>, mode: Mode) -> io::Result<()> {
    let (folders, name) = parts(path)?;
    let known = read_below(checkout, path);
    if bytes.is_some() && known.as_ref().map(|(bytes, _)| bytes.as_slice()) == bytes {
        return Ok(());
    }
    let mut at = checkout.try_clone()?;
    for part in folders {
        let opened = openat(&at, part, FOLDER, Mode::empty());
        at = match (opened, bytes) {
            (Ok(folder), _) => folder,
            (Err(rustix::io::Errno::NOENT), None) => return Ok(()),
            (Err(rustix::io::Errno::NOENT), Some(_)) => {
                mkdirat(&at, part, Mode::from_raw_mode(0o777))?;
                openat(&at, part, FOLDER, Mode::empty())?
            }
            (Err(error), _) => return Err(error.into()),
        };
    }
    let Some(bytes) = bytes else {
        return match unlinkat(at.as_fd(), name, AtFlags::empty()) {
            Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        };
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = fs::File::from(openat(&at, name, flags, mode)?);
    file.write_all(bytes)?;
    if known.is_none() {
        rustix::fs::fchmod(&file, mode)?;
    }
    Ok(())
}

/// The path without links, and whether it is a folder; `None` if it does not exist.
#[cfg(target_os = "linux")]
pub(crate) fn existing(path: &Path) -> Option<(PathBuf, bool)> {
    let real = fs::canonicalize(path).ok()?;
    let is_folder = real.is_dir();
    Some((real, is_folder))
}
