//! What belongs to a file beside its bytes, and has to go over to the file that takes its place: owner, permissions,
//! extended attributes (access lists and security labels among them).

use std::fs::{File, Metadata};
use std::io;

/// The permissions of a temporary file that takes over those of another one …
pub(super) const PRIVATE: u32 = 0o600;
/// … and of a new file, less the umask.
pub(super) const NEW: u32 = 0o644;

/// Whether the file goes by more than one name (hard links), which may lie outside of the root.
#[cfg(unix)]
pub(crate) fn has_other_names(meta: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    meta.nlink() > 1
}

#[cfg(not(unix))]
pub(crate) fn has_other_names(_meta: &Metadata) -> bool {
    false
}

/// Gives `new` the owner, the permissions and the attributes of `old`, whose metadata is `meta`. False if the system does
/// not let us.
#[cfg(unix)]
pub(super) fn take_over(new: &File, old: Option<&File>, meta: &Metadata) -> io::Result<bool> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = new.metadata()?;
    let same = own.uid() == meta.uid() && own.gid() == meta.gid();
    if !same && fchown(new, Some(meta.uid()), Some(meta.gid())).is_err() {
        return Ok(false);
    }
    // After the owner, because a change of owner clears the set-id bits.
    new.set_permissions(meta.permissions())?;
    Ok(old.is_none_or(|old| take_attributes(new, old)))
}

#[cfg(not(unix))]
pub(super) fn take_over(_new: &File, _old: Option<&File>, _meta: &Metadata) -> io::Result<bool> {
    Ok(true)
}

/// Gives a file these permission bits.
#[cfg(unix)]
pub(super) fn take_mode(file: &File, mode: Option<u32>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    mode.map_or(Ok(()), |mode| file.set_permissions(std::fs::Permissions::from_mode(mode)))
}

#[cfg(not(unix))]
pub(super) fn take_mode(_file: &File, _mode: Option<u32>) -> io::Result<()> {
    Ok(())
}

/// Gives `new` the extended attributes of `old` that it does not have by itself. False if one cannot be given.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn take_attributes(new: &File, old: &File) -> bool {
    use rustix::fs::{XattrFlags, fgetxattr, fgetxattr_query, flistxattr, flistxattr_query, fsetxattr};
    use rustix::io::Errno;
    let value = |file: &File, name: &[u8]| {
        let mut value = vec![0; fgetxattr_query(file, name).ok()?];
        let length = fgetxattr(file, name, &mut *value).ok()?;
        value.truncate(length);
        Some(value)
    };
    // A file system without attributes has none to lose.
    let size = match flistxattr_query(old) {
        Ok(0) | Err(Errno::NOTSUP | Errno::NOSYS) => return true,
        Ok(size) => size,
        Err(_) => return false,
    };
    let mut names = vec![0; size];
    let Ok(length) = flistxattr(old, &mut *names) else { return false };
    names.truncate(length);
    names.split(|&byte| byte == 0).filter(|name| !name.is_empty()).all(|name| match value(old, name) {
        Some(wanted) => {
            value(new, name).as_ref() == Some(&wanted) || fsetxattr(new, name, &wanted, XattrFlags::empty()).is_ok()
        }
        None => false,
    })
}

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android", target_vendor = "apple"))))]
fn take_attributes(_new: &File, _old: &File) -> bool {
    true
}
