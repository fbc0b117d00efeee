//! After a crash: writes that their process did not live to finish are finished or taken back.
//!
//! A file counts as ours only while its content is one of the two in the record, or the half of each that an interrupted
//! rewrite leaves. A write is finished once one of its files is new; when none is, or when someone else has changed one
//! of them since, what is ours goes back to what it was before. So no set of files stays half new, and nobody's work is
//! lost.

use std::fs;

use super::{Change, Entry, Held, Journal, Record, Stage, Version};
use crate::workspace::error::WriteError;
use crate::workspace::fault::fault;
use crate::workspace::resolve::{Place, resolve};
use crate::workspace::root::Root;
use crate::workspace::snapshot::read_bytes;
use crate::workspace::write::{Planned, carry_out, mode};

/// What became of a write whose process had died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The files of the write, relative to the root.
    pub paths: Vec<String>,
    /// What was done about it.
    pub outcome: Recovery,
    /// Those of the files that someone else has changed since. They were not touched.
    pub foreign: Vec<String>,
}

/// What was done about an interrupted write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// All files hold the new content.
    Finished,
    /// All files hold the content from before.
    TakenBack,
    /// Neither could be done; the reason. It will be tried again.
    Failed(String),
}

/// How a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Before,
    After,
    /// An interrupted rewrite.
    Between,
    Foreign,
}

/// A file of a record as it is now.
struct Found<'a> {
    change: &'a Change,
    place: Option<Place>,
    now: Option<Version>,
    stands: Stands,
}

/// Sees to the writes in `root` that their process did not live to finish. Another process that is writing at this moment is
/// left alone.
pub fn recover(root: &Root, journal: &Journal) -> Vec<Recovered> {
    if !journal.entries().iter().any(|entry| entry.is_open()) {
        return Vec::new();
    }
    journal.try_hold().map(|held| settle_unfinished(root, &held)).unwrap_or_default()
}

/// Sees to every unfinished write.
pub(in crate::workspace) fn settle_unfinished(root: &Root, held: &Held<'_>) -> Vec<Recovered> {
    let open = held.entries().into_iter().filter(|entry| entry.is_open());
    open.filter_map(|entry| {
        let record = held.read(entry);
        if record.is_none() {
            // Nothing can be made of it, now or later.
            held.forget(entry);
        }
        Some(settle(root, held, entry, &record?))
    })
    .collect()
}

fn settle(root: &Root, held: &Held<'_>, entry: Entry, record: &Record) -> Recovered {
    let found: Vec<Found<'_>> = record.files.iter().map(|change| find(root, change)).collect();
    let wanted = wanted(entry.stage, &found);
    sweep(&found);
    let outcome = match bring(root, &found, wanted).map_err(|error| error.to_string()) {
        Ok(()) => {
            if wanted == Stands::Before {
                remove_folders(root, record);
            }
            let stage = if wanted == Stands::After { Stage::Done } else { Stage::Undone };
            let marked = held.mark(entry, stage).map_err(|error| error.to_string());
            let fine = if wanted == Stands::After { Recovery::Finished } else { Recovery::TakenBack };
            marked.map_or_else(Recovery::Failed, |_| fine)
        }
        Err(reason) => Recovery::Failed(reason),
    };
    let is_foreign = |found: &&Found<'_>| found.stands == Stands::Foreign;
    Recovered {
        paths: record.files.iter().map(|change| change.path.clone()).collect(),
        outcome,
        foreign: found.iter().filter(is_foreign).map(|found| found.change.path.clone()).collect(),
    }
}

/// Where all files go: on to where the write was headed once one of them is there, else back.
fn wanted(stage: Stage, found: &[Found<'_>]) -> Stands {
    let all = |stands: Stands| found.iter().all(|found| found.stands == stands);
    if found.iter().any(|found| found.stands == Stands::Foreign) {
        return Stands::Before;
    }
    match stage {
        Stage::Undoing if all(Stands::After) => Stands::After,
        Stage::Undoing => Stands::Before,
        _ if all(Stands::Before) => Stands::Before,
        _ => Stands::After,
    }
}

/// Looks at a file of a record.
fn find<'a>(root: &Root, change: &'a Change) -> Found<'a> {
    let foreign = |place| Found { change, place, now: None, stands: Stands::Foreign };
    let Ok(place) = resolve(root, &change.path) else { return foreign(None) };
    let now = match &place.found {
        None => None,
        Some(meta) if meta.is_file() && !place.is_link => match read_bytes(&place.target, u64::MAX) {
            Ok(bytes) => Some(Version::new(bytes, mode(meta))),
            Err(_) => return foreign(Some(place)),
        },
        Some(_) => return foreign(Some(place)),
    };
    let stands = stands(change, now.as_ref());
    Found { change, place: Some(place), now, stands }
}

fn stands(change: &Change, now: Option<&Version>) -> Stands {
    let is = |version: &Option<Version>| version.as_ref().map(|it| &it.bytes) == now.map(|it| &it.bytes);
    if is(&change.before) {
        return Stands::Before;
    }
    if is(&change.after) {
        return Stands::After;
    }
    match (&change.before, &change.after, now) {
        (Some(before), Some(after), Some(now))
            if is_between(&before.bytes, &after.bytes, &now.bytes)
                || is_between(&after.bytes, &before.bytes, &now.bytes) =>
        {
            Stands::Between
        }
        _ => Stands::Foreign,
    }
}

/// Whether `now` is what a rewrite of `old` with `new` leaves when it is interrupted: the new bytes up to a point, and
/// from there on the old ones, whose length is cut last.
fn is_between(old: &[u8], new: &[u8], now: &[u8]) -> bool {
    let written = now.iter().zip(new).take_while(|(one, other)| one == other).count();
    now.get(written..) == Some(old.get(written..).unwrap_or_default())
}

/// Removes the temporary files that the dead process left. Their names are its own.
fn sweep(found: &[Found<'_>]) {
    for found in found {
        let temp = found.place.as_ref().and_then(|place| Some(place.target.parent()?.join(&found.change.temp)));
        if let Some(temp) = temp.filter(|temp| temp.symlink_metadata().is_ok_and(|meta| meta.is_file())) {
            fs::remove_file(temp).ok();
        }
    }
}

/// Brings every file that is ours to where it is wanted.
fn bring(root: &Root, found: &[Found<'_>], wanted: Stands) -> Result<(), WriteError> {
    let mut planned = Vec::new();
    for found in found {
        let Some(place) = found.place.clone().filter(|_| !matches!(found.stands, Stands::Foreign)) else { continue };
        let after = if wanted == Stands::After { &found.change.after } else { &found.change.before };
        // Under the recorded name, so that the temporary file is found if the recovery dies as well.
        let change = Change { before: found.now.clone(), after: after.clone(), ..found.change.clone() };
        let path = change.path.clone();
        planned.push(Planned::new(path, place, change));
    }
    fault().map_err(|error| WriteError::from_io("the files", "bring back", 0, error))?;
    carry_out(root, &planned)
}

/// Removes the folders that a write had made, as far as they are empty.
pub(super) fn remove_folders(root: &Root, record: &Record) {
    for folder in record.folders.iter().rev() {
        let place = resolve(root, folder);
        if let Some(place) = place.ok().filter(|place| !place.is_link && place.found.is_some()) {
            fs::remove_dir(&place.target).ok();
        }
    }
}
