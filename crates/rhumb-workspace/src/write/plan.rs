//! Checks before the first byte is written: whether every file is as the user reviewed it, and whether it may be
//! written.

use super::{TEMP_PREFIX, TEMP_SUFFIX};
use crate::encoding::UnmappableChar;
use crate::journal::{RecordedChange, Version};
use crate::resolve::{ResolveError, ResolvedPath, relative, resolve};
use crate::snapshot::read_bytes;
use crate::{FileWrite, Root, TextEncoding, WriteError};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::time::SystemTime;

/// A file that passed the checks.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) path: String,
    pub(crate) change: RecordedChange,
    /// Absolute path without symbolic links.
    pub(crate) target: PathBuf,
    /// The deepest folder above the target that exists.
    pub(crate) existing_ancestor: PathBuf,
    pub(crate) meta: Option<fs::Metadata>,
}

impl Planned {
    /// Creates the plan of a change at `resolved`. `path` is the name that the user knows.
    pub(crate) fn new(path: String, resolved: ResolvedPath, change: RecordedChange) -> Self {
        Self {
            path,
            change,
            target: resolved.target,
            existing_ancestor: resolved.existing_ancestor,
            meta: resolved.found,
        }
    }

    pub(crate) fn name(&self) -> &OsStr {
        self.target.file_name().unwrap_or_default()
    }

    pub(crate) fn before(&self) -> Option<&[u8]> {
        self.change.before.as_ref().map(|version| version.bytes.as_slice())
    }

    pub(crate) fn after(&self) -> Option<&[u8]> {
        self.change.after.as_ref().map(|version| version.bytes.as_slice())
    }

    /// Returns whether the file already has its new content. It is not touched then.
    pub(crate) fn is_done(&self) -> bool {
        self.before() == self.after()
    }

    pub(crate) fn new_bytes(&self) -> u64 {
        self.after().map_or(0, |bytes| bytes.len() as u64)
    }
}

/// Checks all of `writes` and stops at the first error.
pub(crate) fn plan(root: &Root, writes: &[FileWrite]) -> Result<Vec<Planned>, WriteError> {
    let mut targets = BTreeSet::new();
    let mut planned = Vec::with_capacity(writes.len());
    let mut encodings = Vec::with_capacity(writes.len());
    for (file, temp) in writes.iter().zip(temp_names()) {
        let (one, encoding) = plan_one(root, file, temp)?;
        if !targets.insert(one.target.clone()) {
            return Err(WriteError::Twice(file.path.clone()));
        }
        planned.push(one);
        encodings.push(encoding);
    }
    // A file cannot be a folder of another file in the same set.
    let below = |one: &Planned| one.target.ancestors().skip(1).any(|above| targets.contains(above));
    if let Some(one) = planned.iter().find(|one| below(one)) {
        return Err(WriteError::NotAFile(one.path.clone()));
    }
    for (at, file) in writes.iter().enumerate() {
        let after = after(file, at, &planned, &encodings)?;
        if let Some(one) = planned.get_mut(at) {
            one.change.after = after;
        }
    }
    Ok(planned)
}

/// Returns names for temporary files, unique to this process and moment.
fn temp_names() -> impl Iterator<Item = String> {
    let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let process = std::process::id();
    (0u32..).map(move |at| format!("{TEMP_PREFIX}{process:x}-{moment:x}-{at}{TEMP_SUFFIX}"))
}

/// Resolves a file and reads its present content and encoding. The new content is added later.
fn plan_one(root: &Root, file: &FileWrite, temp: String) -> Result<(Planned, TextEncoding), WriteError> {
    let path = file.path.clone();
    let resolved = resolve_target(root, &path)?;
    if resolved.found.is_none() && path.chars().any(char::is_control) {
        return Err(WriteError::Outside { path, reason: "the new name contains a control character" });
    }
    let (before, encoding) = before(file, &resolved)?.unzip();
    if resolved.is_link && file.content.is_none() {
        return Err(WriteError::Outside { path, reason: "it is a symbolic link, which is not deleted" });
    }
    let stored_at = relative(root, &resolved.target)
        .ok_or_else(|| WriteError::Outside { path: path.clone(), reason: "it leads to a name that is not UTF-8" })?;
    let change = RecordedChange { path: stored_at, temp, before, after: None };
    Ok((Planned::new(path, resolved, change), encoding.unwrap_or_default()))
}

pub(crate) fn resolve_target(root: &Root, path: &str) -> Result<ResolvedPath, WriteError> {
    resolve(root, path).map_err(|refusal| match refusal {
        ResolveError::Outside(reason) => WriteError::Outside { path: path.to_owned(), reason },
        ResolveError::NotAFolder => WriteError::NotAFile(path.to_owned()),
        ResolveError::Io(source) => WriteError::from_io(path, "look at", 0, source),
    })
}

/// Returns the present content if it is the expected one and may be replaced.
fn before(file: &FileWrite, resolved: &ResolvedPath) -> Result<Option<(Version, TextEncoding)>, WriteError> {
    let path = file.path.clone();
    match (&resolved.found, &file.expected) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(WriteError::Stale { path, change: "it is gone" }),
        (Some(meta), _) if !meta.is_file() => Err(WriteError::NotAFile(path)),
        (Some(_), None) => Err(WriteError::Stale { path, change: "a file of this name has appeared" }),
        (Some(meta), Some(expected)) => {
            let bytes =
                read_bytes(&resolved.target, u64::MAX).map_err(|error| WriteError::from_io(&path, "read", 0, error))?;
            let stale = || WriteError::Stale { path: path.clone(), change: "its content is different" };
            let (text, encoding) = TextEncoding::decode(bytes.clone()).map_err(|_| stale())?;
            if text != **expected {
                return Err(stale());
            }
            may_replace(&path, resolved, meta)?;
            Ok(Some((Version::new(bytes, mode(meta)), encoding)))
        }
    }
}

/// Checks write permission. A rename needs permission on the folder only, but a read-only file must stay unchanged.
/// Opening the file for writing changes nothing and lets the operating system decide, which matters for root and for
/// access control lists.
pub(crate) fn may_replace(path: &str, resolved: &ResolvedPath, meta: &fs::Metadata) -> Result<(), WriteError> {
    let opened = OpenOptions::new().write(true).open(&resolved.target);
    opened.map(drop).map_err(|error| match WriteError::from_io(path, "write", 0, error) {
        WriteError::Denied { path, .. } if meta.permissions().readonly() => WriteError::ReadOnly(path),
        error => error,
    })
}

/// Encodes the new content, in the encoding of the file that it replaces or was renamed from.
fn after(
    file: &FileWrite,
    at: usize,
    planned: &[Planned],
    encodings: &[TextEncoding],
) -> Result<Option<Version>, WriteError> {
    let Some(text) = &file.content else { return Ok(None) };
    let is_new = planned.get(at).is_none_or(|one| one.change.before.is_none());
    let lender = file.renamed_from.as_ref().filter(|_| is_new);
    let lender = lender.and_then(|from| planned.iter().position(|one| one.path == *from)).unwrap_or(at);
    let mode = planned.get(lender).and_then(|one| one.change.before.as_ref()?.mode);
    let encoding = encodings.get(lender).copied().unwrap_or_default();
    let bytes = encoding.encode(text).map_err(|UnmappableChar { character, line }| WriteError::Unencodable {
        path: file.path.clone(),
        encoding,
        character,
        line,
    })?;
    Ok(Some(Version::new(bytes.into_owned(), mode)))
}

/// The permission bits of a file.
#[cfg(unix)]
pub(crate) fn mode(meta: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(meta.mode() & 0o7777)
}

#[cfg(not(unix))]
pub(crate) fn mode(_meta: &fs::Metadata) -> Option<u32> {
    None
}

/// Returns whether the operating system would allow a write of the file at `path` (relative to the root) now. The
/// file need not exist.
///
/// Returns `true` for a path that cannot be resolved: the write itself reports the reason.
#[cfg(unix)]
pub fn may_write(root: &Root, path: &str) -> bool {
    use rustix::fs::{Access, access};
    let Ok(resolved) = resolve(root, path) else { return true };
    // A temporary file is created next to the old one, so both the file and its folder must be writable. The
    // operating system decides, since mode bits do not cover access control lists, immutable files and read-only
    // mounts.
    let target = resolved.found.is_some().then_some(&resolved.target);
    target.into_iter().chain([&resolved.existing_ancestor]).all(|path| access(path, Access::WRITE_OK).is_ok())
}

/// Returns whether the file at `path` (relative to the root) is writable.
#[cfg(not(unix))]
pub fn may_write(root: &Root, path: &str) -> bool {
    let found = resolve(root, path).ok().and_then(|resolved| resolved.found);
    found.is_none_or(|meta| !meta.permissions().readonly())
}

/// Returns whether the file at `path` has other hard links, which keep the old content when it is written.
pub fn has_hard_links(root: &Root, path: &str) -> bool {
    let found = resolve(root, path).ok().and_then(|resolved| resolved.found);
    found.is_some_and(|meta| meta.is_file() && super::steps::is_hard_linked(&meta))
}

/// Returns the name of the lock or swap file of an editor next to the file at `path`, if there is one. The editor may
/// have unsaved changes, and saving them there would overwrite a write made here.
pub fn editor_trace(root: &Root, path: &str) -> Option<String> {
    let target = resolve(root, path).ok()?.target;
    let name = target.file_name()?.to_str()?;
    // The lock of Emacs is a dangling symbolic link.
    lock_names(name).into_iter().find(|trace| fs::symlink_metadata(target.with_file_name(trace)).is_ok())
}

/// Returns the names of the lock and swap files that editors create for `name`.
fn lock_names(name: &str) -> [String; 6] {
    // Vim and nano. Vim uses the second and third name if several instances edit the file, and adds no second dot to
    // a hidden name.
    let hidden = name.strip_prefix('.').unwrap_or(name);
    let [first, second, third] = ["swp", "swo", "swn"].map(|ending| format!(".{hidden}.{ending}"));
    // Emacs (lock and auto-save file) and Kate.
    [first, second, third, format!(".#{name}"), format!("#{name}#"), format!(".{name}.kate-swp")]
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn lock_and_swap_files_of_editors_are_detected() {
        let dir = tempfile::tempdir().unwrap();
        let (root, folder) = (Root::at(dir.path()).unwrap(), dir.path().join("src"));
        fs::create_dir(&folder).unwrap();
        for name in ["calc.py", ".env", "other.py"] {
            fs::write(folder.join(name), "1\n").unwrap();
        }
        symlink("src/calc.py", dir.path().join("link.py")).unwrap();
        assert_eq!(editor_trace(&root, "src/calc.py"), None);
        for trace in [".calc.py.swp", ".calc.py.swo", ".calc.py.swn", "#calc.py#", ".calc.py.kate-swp"] {
            fs::write(folder.join(trace), "").unwrap();
            assert_eq!(editor_trace(&root, "src/calc.py").as_deref(), Some(trace));
            // The swap file is next to the file itself, not next to a link to it.
            assert_eq!(editor_trace(&root, "link.py").as_deref(), Some(trace));
            assert_eq!(editor_trace(&root, "src/other.py"), None);
            fs::remove_file(folder.join(trace)).unwrap();
        }
        symlink("mira@harbour.4711:1764000000", folder.join(".#calc.py")).unwrap();
        assert_eq!(editor_trace(&root, "src/calc.py").as_deref(), Some(".#calc.py"));
        fs::write(folder.join(".env.swp"), "").unwrap();
        assert_eq!(editor_trace(&root, "src/.env").as_deref(), Some(".env.swp"));
        assert_eq!((editor_trace(&root, "../calc.py"), editor_trace(&root, "gone/calc.py")), (None, None));
    }

    #[test]
    fn missing_write_permission_is_known_in_advance() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path()).unwrap();
        fs::create_dir(dir.path().join("shut")).unwrap();
        for path in ["a", "shut/b"] {
            fs::write(dir.path().join(path), "1\n").unwrap();
            assert!(may_write(&root, path));
        }
        assert!(may_write(&root, "new/deep/c") && may_write(&root, "../out"));
        fs::set_permissions(dir.path().join("a"), fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(dir.path().join("shut"), fs::Permissions::from_mode(0o555)).unwrap();
        // Mode bits do not restrict root, which is why the operating system has to decide.
        let is_root = fs::OpenOptions::new().write(true).open(dir.path().join("a")).is_ok();
        for path in ["a", "shut/b", "shut/new"] {
            assert_eq!(may_write(&root, path), is_root, "{path}");
        }
        fs::set_permissions(dir.path().join("shut"), fs::Permissions::from_mode(0o755)).unwrap();
    }
}
