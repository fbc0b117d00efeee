//! Before the first byte: does every file stand as the user reviewed it, and may it be written?

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::path::PathBuf;

use super::FileWrite;
use crate::workspace::error::WriteError;
use crate::workspace::form::{TextForm, Unencodable};
use crate::workspace::resolve::{Place, Refusal, relative, resolve};
use crate::workspace::root::Root;
use crate::workspace::snapshot::{ContentHash, read_bytes};

/// What is on disk before the write.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) bytes: Vec<u8>,
    pub(super) form: TextForm,
    pub(super) meta: fs::Metadata,
}

/// One file that passed the check.
#[derive(Debug)]
pub(super) struct Planned<'a> {
    pub(super) path: String,
    pub(super) stored_at: String,
    /// Absolute, free of links.
    pub(super) target: PathBuf,
    /// The deepest folder above the target that exists already.
    pub(super) existing_folder: PathBuf,
    pub(super) before: Option<Before>,
    pub(super) content: Option<Cow<'a, [u8]>>,
    pub(super) new_hash: Option<ContentHash>,
    /// The permissions of a new file, where another one lends it its own.
    pub(super) permissions: Option<fs::Permissions>,
}

impl Planned<'_> {
    /// The file already is what it shall become; it is left untouched.
    pub(super) fn is_done(&self) -> bool {
        self.before.as_ref().map(|before| before.bytes.as_slice()) == self.content.as_deref()
    }

    /// Size of the new content in bytes.
    pub(super) fn new_bytes(&self) -> u64 {
        self.content.as_ref().map_or(0, |content| content.len() as u64)
    }
}

/// Checks all of `writes`; the first objection stops the set.
pub(super) fn plan<'a>(root: &Root, writes: &'a [FileWrite]) -> Result<Vec<Planned<'a>>, WriteError> {
    let mut targets = BTreeSet::new();
    let mut planned = Vec::with_capacity(writes.len());
    for file in writes {
        let one = plan_one(root, file)?;
        if !targets.insert(one.target.clone()) {
            return Err(WriteError::Twice { path: file.path.clone() });
        }
        planned.push(one);
    }
    for (at, file) in writes.iter().enumerate() {
        encode(&mut planned, at, file)?;
    }
    // A file cannot become the folder of another one in the same set.
    let below = |one: &Planned<'_>| one.target.ancestors().skip(1).any(|above| targets.contains(above));
    match planned.iter().find(|one| below(one)) {
        Some(one) => Err(WriteError::NotAFile { path: one.path.clone() }),
        None => Ok(planned),
    }
}

/// The place of a file and what stands there; its new bytes come later.
fn plan_one<'a>(root: &Root, file: &FileWrite) -> Result<Planned<'a>, WriteError> {
    let path = file.path.clone();
    let place = resolve(root, &path).map_err(|refusal| match refusal {
        Refusal::Outside(reason) => WriteError::Outside { path: path.clone(), reason },
        Refusal::NotAFolder => WriteError::NotAFile { path: path.clone() },
        Refusal::Io(source) => WriteError::from_io(&path, "look at", 0, source),
    })?;
    if place.found.is_none() && path.chars().any(char::is_control) {
        return Err(WriteError::Outside { path, reason: "the new name holds a control character" });
    }
    let before = before(file, &place)?;
    if place.is_link && file.content.is_none() {
        return Err(WriteError::Outside { path, reason: "it is a link, which is not deleted for you" });
    }
    let stored_at = relative(root, &place.target)
        .ok_or_else(|| WriteError::Outside { path: path.clone(), reason: "it leads to a name that is not UTF-8" })?;
    Ok(Planned {
        path,
        stored_at,
        target: place.target,
        existing_folder: place.existing_folder,
        before,
        content: None,
        new_hash: None,
        permissions: None,
    })
}

/// Gives a planned file its new bytes: in the form of the text that it replaces, or of the file that it was until now.
fn encode<'a>(planned: &mut [Planned<'a>], at: usize, file: &'a FileWrite) -> Result<(), WriteError> {
    let Some(text) = &file.content else { return Ok(()) };
    let source = file.renamed_from.as_ref().and_then(|from| planned.iter().find(|one| one.path == *from));
    let lender = source.and_then(|one| one.before.as_ref());
    let permissions = lender.map(|before| before.meta.permissions());
    let own = planned.get(at).and_then(|one| one.before.as_ref());
    let form = own.or(lender).map_or_else(TextForm::default, |before| before.form);
    let bytes = form.encode(text).map_err(|Unencodable { character, line }| WriteError::Unencodable {
        path: file.path.clone(),
        form,
        character,
        line,
    })?;
    if let Some(one) = planned.get_mut(at) {
        (one.new_hash, one.content, one.permissions) = (Some(ContentHash::of(&bytes)), Some(bytes), permissions);
    }
    Ok(())
}

/// The present content, provided that it is the expected one and may be replaced.
fn before(file: &FileWrite, place: &Place) -> Result<Option<Before>, WriteError> {
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
            if meta.permissions().readonly() {
                return Err(WriteError::ReadOnly { path });
            }
            // A move needs rights on the folder only; a file that refuses writing is meant to stay as it is. Opening
            // for writing changes nothing.
            OpenOptions::new()
                .write(true)
                .open(&place.target)
                .map_err(|error| WriteError::from_io(&path, "open", 0, error))?;
            Ok(Some(Before { bytes, form, meta: meta.clone() }))
        }
    }
}
