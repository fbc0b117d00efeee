//! Before the first byte: does every file stand as the user reviewed it, and may it be written?

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::time::SystemTime;

use super::{FileWrite, TEMP_PREFIX, TEMP_SUFFIX};
use crate::error::WriteError;
use crate::form::{TextForm, Unencodable};
use crate::journal::{Change, Version};
use crate::resolve::{Place, Refusal, relative, resolve};
use crate::root::Root;
use crate::snapshot::read_bytes;

/// One file that passed the check.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The path as asked for.
    pub(crate) path: String,
    pub(crate) change: Change,
    /// Absolute, free of links.
    pub(crate) target: PathBuf,
    /// The deepest folder above the target that exists already.
    pub(crate) existing_folder: PathBuf,
    /// Of the file that is there now.
    pub(crate) meta: Option<fs::Metadata>,
}

impl Planned {
    /// A change of what stands at `place`; `path` is what the user calls it.
    pub(crate) fn new(path: String, place: Place, change: Change) -> Self {
        Self { path, change, target: place.target, existing_folder: place.existing_folder, meta: place.found }
    }

    /// The name of the file in its folder.
    pub(super) fn name(&self) -> &OsStr {
        self.target.file_name().unwrap_or_default()
    }

    /// The content that is there now.
    pub(super) fn before(&self) -> Option<&[u8]> {
        self.change.before.as_ref().map(|version| version.bytes.as_slice())
    }

    /// The content that shall be there.
    pub(super) fn after(&self) -> Option<&[u8]> {
        self.change.after.as_ref().map(|version| version.bytes.as_slice())
    }

    /// The file already is what it shall become; it is left untouched.
    pub(super) fn is_done(&self) -> bool {
        self.before() == self.after()
    }

    /// Size of the new content in bytes.
    pub(super) fn new_bytes(&self) -> u64 {
        self.after().map_or(0, |bytes| bytes.len() as u64)
    }
}

/// Checks all of `writes`; the first objection stops the set.
pub(super) fn plan(root: &Root, writes: &[FileWrite]) -> Result<Vec<Planned>, WriteError> {
    let mut targets = BTreeSet::new();
    let mut planned = Vec::with_capacity(writes.len());
    let mut forms = Vec::with_capacity(writes.len());
    for (file, temp) in writes.iter().zip(temp_names()) {
        let (one, form) = plan_one(root, file, temp)?;
        if !targets.insert(one.target.clone()) {
            return Err(WriteError::Twice { path: file.path.clone() });
        }
        planned.push(one);
        forms.push(form);
    }
    // A file cannot become the folder of another one in the same set.
    let below = |one: &Planned| one.target.ancestors().skip(1).any(|above| targets.contains(above));
    if let Some(one) = planned.iter().find(|one| below(one)) {
        return Err(WriteError::NotAFile { path: one.path.clone() });
    }
    for (at, file) in writes.iter().enumerate() {
        let after = after(file, at, &planned, &forms)?;
        if let Some(one) = planned.get_mut(at) {
            one.change.after = after;
        }
    }
    Ok(planned)
}

/// Names for temporary files that no other process and no other moment gives.
fn temp_names() -> impl Iterator<Item = String> {
    let moment = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let process = std::process::id();
    (0u32..).map(move |at| format!("{TEMP_PREFIX}{process:x}-{moment:x}-{at}{TEMP_SUFFIX}"))
}

/// The place of a file, what stands there and in which form; what it becomes is not said yet.
fn plan_one(root: &Root, file: &FileWrite, temp: String) -> Result<(Planned, TextForm), WriteError> {
    let path = file.path.clone();
    let place = place(root, &path)?;
    if place.found.is_none() && path.chars().any(char::is_control) {
        return Err(WriteError::Outside { path, reason: "the new name holds a control character" });
    }
    let (before, form) = before(file, &place)?.unzip();
    if place.is_link && file.content.is_none() {
        return Err(WriteError::Outside { path, reason: "it is a link, which is not deleted for you" });
    }
    let stored_at = relative(root, &place.target)
        .ok_or_else(|| WriteError::Outside { path: path.clone(), reason: "it leads to a name that is not UTF-8" })?;
    let change = Change { path: stored_at, temp, before, after: None };
    Ok((Planned::new(path, place, change), form.unwrap_or_default()))
}

/// Where a path leads, or why it may not.
pub(crate) fn place(root: &Root, path: &str) -> Result<Place, WriteError> {
    resolve(root, path).map_err(|refusal| match refusal {
        Refusal::Outside(reason) => WriteError::Outside { path: path.to_owned(), reason },
        Refusal::NotAFolder => WriteError::NotAFile { path: path.to_owned() },
        Refusal::Io(source) => WriteError::from_io(path, "look at", 0, source),
    })
}

/// The present content, provided that it is the expected one and may be replaced.
fn before(file: &FileWrite, place: &Place) -> Result<Option<(Version, TextForm)>, WriteError> {
    let path = file.path.clone();
    match (&place.found, &file.expected) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(WriteError::Stale { path, change: "it is gone" }),
        (Some(meta), _) if !meta.is_file() => Err(WriteError::NotAFile { path }),
        (Some(_), None) => Err(WriteError::Stale { path, change: "a file of this name has appeared" }),
        (Some(meta), Some(expected)) => {
            let bytes =
                read_bytes(&place.target, u64::MAX).map_err(|error| WriteError::from_io(&path, "read", 0, error))?;
            let stale = || WriteError::Stale { path: path.clone(), change: "its content is different" };
            let (text, form) = TextForm::decode(bytes.clone()).map_err(|_| stale())?;
            if text != **expected {
                return Err(stale());
            }
            may_replace(&path, place, meta)?;
            Ok(Some((Version::new(bytes, mode(meta)), form)))
        }
    }
}

/// A move needs rights on the folder only; a file that refuses writing is meant to stay as it is. Opening for writing
/// changes nothing, and has the system decide: to root, or by an access list, a file may be writable whose bits say no.
pub(crate) fn may_replace(path: &str, place: &Place, meta: &fs::Metadata) -> Result<(), WriteError> {
    let opened = OpenOptions::new().write(true).open(&place.target);
    opened.map(drop).map_err(|error| match WriteError::from_io(path, "write", 0, error) {
        WriteError::Denied { path, .. } if meta.permissions().readonly() => WriteError::ReadOnly { path },
        error => error,
    })
}

/// What a file becomes: in the form of the text that it replaces, or of the file that it was until now.
fn after(file: &FileWrite, at: usize, planned: &[Planned], forms: &[TextForm]) -> Result<Option<Version>, WriteError> {
    let Some(text) = &file.content else { return Ok(None) };
    let is_new = planned.get(at).is_none_or(|one| one.change.before.is_none());
    let lender = file.renamed_from.as_ref().filter(|_| is_new);
    let lender = lender.and_then(|from| planned.iter().position(|one| one.path == *from)).unwrap_or(at);
    let mode = planned.get(lender).and_then(|one| one.change.before.as_ref()?.mode);
    let form = forms.get(lender).copied().unwrap_or_default();
    let bytes = form.encode(text).map_err(|Unencodable { character, line }| WriteError::Unencodable {
        path: file.path.clone(),
        form,
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
