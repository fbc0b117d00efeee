//! The mounts of a trial. They exist in the mount namespace of the child alone.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount, mount_change, move_mount,
    open_tree,
};

use crate::Network;
use crate::child::{Failed, existing, failed};
use crate::scratch::{GIT_LAYER, private_folder};
use crate::spec::Spec;

/// Folders that the trial replaces by empty ones, in memory: files of other programs, and sockets by which a command could leave the trial.
pub(crate) const PRIVATE: [(&str, &CStrMode); 4] =
    [("/tmp", STICKY), ("/var/tmp", STICKY), ("/dev/shm", STICKY), ("/run", PLAIN)];
type CStrMode = std::ffi::CStr;
const STICKY: &CStrMode = c"mode=1777";
const PLAIN: &CStrMode = c"mode=755";

/// What of `/run` stays visible: programs and libraries of NixOS, and with a network its name servers.
const KEPT_OF_RUN: [&str; 4] = ["/run/current-system", "/run/wrappers", "/run/opengl-driver", "/run/booted-system"];
const NAME_SERVERS: [&str; 3] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];

/// The sockets outside of the root, with a path, on which programs of this machine listen (proc_pid_net(5)). A network namespace does not
/// cut a command off from them: that of a container service or of a password manager would let it act outside of the trial.
pub(crate) fn listening_sockets(root: &Path) -> Vec<PathBuf> {
    const LISTENS: &str = "00010000";
    let sockets = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // The columns: number, references, protocol, flags, type, state, inode, and the path.
    let path = |line: &str| {
        let mut columns = line.splitn(8, ' ').filter(|column| !column.is_empty());
        let listens = columns.nth(3) == Some(LISTENS);
        let at = line.find(" /").filter(|_| listens)?;
        Some(PathBuf::from(line.get(at + 1..)?)).filter(|path| !path.starts_with(root) && path.exists())
    };
    let mut paths: Vec<PathBuf> = sockets.lines().filter_map(path).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Mounts the checkout over the root, and hides what a command must not see or reach: among others these sockets. Returns the folders
/// outside of the root in which a command may write, since what it writes there stays in the trial.
pub(crate) fn mount_all(spec: &Spec, sockets: &[PathBuf]) -> Result<Vec<PathBuf>, Failed> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(failed("the mounts cannot be made private"))?;
    // All sources are opened before the first mount hides any of them.
    let checkout = overlay(&spec.root, &spec.scratch.join("upper"), &spec.scratch.join("work"))
        .map_err(|error| overlay_refused(&spec.root, &error))?;
    let mut attached = vec![(checkout, spec.root.clone())];
    let git = spec.git.iter().map(|folder| (folder, GIT_LAYER.map(str::to_owned)));
    let caches =
        (0..).zip(&spec.caches).map(|(number, folder)| (folder, [format!("upper-{number}"), format!("work-{number}")]));
    for (folder, layers) in git.chain(caches) {
        let Some((real, true)) = existing(folder) else { continue };
        if attached.iter().any(|(_, at)| real.starts_with(at)) {
            continue;
        }
        let [upper, work] = layers.map(|name| spec.scratch.join(name));
        for made in [&upper, &work] {
            private_folder(made).map_err(failed(made.display()))?;
        }
        match overlay(&real, &upper, &work) {
            // It must not contain its own layers.
            Ok(mounted) if !spec.scratch.starts_with(&real) => attached.push((mounted, real)),
            // A cache that cannot be mounted is read-only. Without git's data, git would fail.
            _ if spec.git.as_ref() == Some(folder) => {
                return Err(format!("git's data in {} cannot be mounted", real.display()));
            }
            _ => {}
        }
    }
    // A folder that contains another one is mounted first, so that it does not hide the other one.
    attached.sort_by_key(|(_, at)| at.components().count());
    let writable = attached.iter().map(|(_, at)| at.clone()).filter(|at| *at != spec.root).collect();
    let kept = KEPT_OF_RUN.iter().chain(NAME_SERVERS.iter().filter(|_| spec.network == Network::Full));
    for folder in kept.map(Path::new).filter(|folder| folder.exists()) {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
        attached.extend(open_tree(CWD, folder, flags).ok().map(|tree| (tree, folder.to_owned())));
    }
    let blank = blank_file(spec)?;
    let hidden: Vec<(PathBuf, bool)> = spec.hidden.iter().chain(sockets).filter_map(|path| existing(path)).collect();
    let folder_of_home = spec.home.clone();
    for (folder, options) in PRIVATE.iter().filter(|(folder, _)| Path::new(folder).is_dir()) {
        mount("tmpfs", *folder, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, *options)
            .map_err(failed(format!("{folder} cannot be made private")))?;
    }
    private_terminals().map_err(failed("/dev/pts cannot be made private"))?;
    // Only below a private folder can one of these be missing.
    for folder in attached.iter().map(|(_, at)| at).chain(&folder_of_home) {
        if is_in_private(folder) {
            fs::create_dir_all(folder).map_err(failed(folder.display()))?;
        }
    }
    for (mounted, at) in &attached {
        attach(mounted, at).map_err(failed(format!("{} cannot be mounted", at.display())))?;
    }
    for (path, is_folder) in hidden.iter().filter(|(path, _)| path.exists() && !spec.root.starts_with(path)) {
        let hide = || -> io::Result<()> {
            if *is_folder {
                mount(
                    "tmpfs",
                    path,
                    "tmpfs",
                    MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY,
                    c"mode=000",
                )?;
                return Ok(());
            }
            let flags =
                OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
            attach(&open_tree(&blank, "", flags)?, path)
        };
        match hide() {
            // A program may have removed its socket meanwhile.
            Err(_) if !path.exists() => {}
            result => result.map_err(failed(format!("{} cannot be hidden", path.display())))?,
        }
    }
    Ok(writable)
}

/// Why the root cannot be mounted.
fn overlay_refused(root: &Path, error: &io::Error) -> Failed {
    // The kernel allows no overlay above a mount that the user namespace has inherited: it could uncover what the mount hides.
    match mount_below(root) {
        Some(mount) => format!("a file system is mounted below the repository, at {}", mount.display()),
        None => failed("the overlay cannot be mounted")(error),
    }
}

/// The first mount below a folder.
fn mount_below(folder: &Path) -> Option<PathBuf> {
    // Each line: id, parent, device, root, and the place, in which some characters are octal numbers (proc_pid_mountinfo(5)).
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let unescape = |text: &str| {
        [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
            .iter()
            .fold(text.to_owned(), |text, (code, character)| text.replace(code, character))
    };
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(|place| PathBuf::from(unescape(place)));
    places.into_iter().find(|place| place != folder && place.starts_with(folder))
}

/// Replaces the terminals. Through those of the user a command could print control sequences, and read what is typed.
fn private_terminals() -> io::Result<()> {
    let (folder, multiplexer) = (Path::new("/dev/pts"), Path::new("/dev/ptmx"));
    if !folder.is_dir() {
        return Ok(());
    }
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    mount("devpts", folder, "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options)?;
    if multiplexer.is_symlink() || !multiplexer.exists() {
        return Ok(());
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    attach(&open_tree(CWD, folder.join("ptmx"), flags)?, multiplexer)
}

fn is_in_private(path: &Path) -> bool {
    PRIVATE.iter().any(|(folder, _)| path.starts_with(folder))
}

/// A file without permissions, to be mounted over files that must not be read.
fn blank_file(spec: &Spec) -> Result<OwnedFd, Failed> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let path = spec.scratch.join("blank");
    let mut options = fs::OpenOptions::new();
    let file =
        options.write(true).create(true).truncate(true).mode(0o600).open(&path).map_err(failed("the blank file"))?;
    file.set_permissions(fs::Permissions::from_mode(0o000)).map_err(failed("the blank file"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).map_err(failed("the blank file"))?;
    Ok(file.into())
}

/// An overlay above a folder, not yet attached. The options are set one by one, so that no character in a path has a meaning.
fn overlay(lower: &Path, upper: &Path, work: &Path) -> io::Result<OwnedFd> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(&context, "source", "rhumb")?;
    // Kernels before 6.5 know the older name alone, in which a colon separates layers.
    if fsconfig_set_string(&context, "lowerdir+", lower).is_err() {
        use std::os::unix::ffi::OsStrExt as _;
        let mut escaped = Vec::new();
        for byte in lower.as_os_str().as_bytes() {
            if matches!(byte, b':' | b'\\') {
                escaped.push(b'\\');
            }
            escaped.push(*byte);
        }
        fsconfig_set_string(&context, "lowerdir", std::ffi::OsStr::from_bytes(&escaped))?;
    }
    fsconfig_set_string(&context, "upperdir", upper)?;
    fsconfig_set_string(&context, "workdir", work)?;
    fsconfig_set_flag(&context, "userxattr")?;
    fsconfig_create(&context)?;
    Ok(fsmount(
        &context,
        FsMountFlags::FSMOUNT_CLOEXEC,
        MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOSUID,
    )?)
}

fn attach(mounted: &OwnedFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(mounted, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Mounts the processes of the new namespace.
pub(crate) fn mount_proc() -> Result<(), Failed> {
    mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None::<&std::ffi::CStr>)
        .map_err(failed("/proc cannot be mounted"))
}
