//! After a crash: writes that their process did not live to finish are finished or taken back.
//!
//! A file counts as ours only while its content is one of the two in the record, or the half of each that an interrupted
//! rewrite leaves. A write is finished once one of its files is new; when none is, or when someone else has changed one
//! of them since, what is ours goes back to what it was before. So no set of files stays half new, and nobody's work is
//! lost. A write that had come to its last file is left as it is, whatever was changed since: only its end was not noted.
//!
//! A file that cannot be looked at is no changed file. As long as there is one, nothing of its write is touched: the record stays for
//! the next start.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::{Change, Entry, Held, Illegible, Journal, JournalError, LOOK_PATIENCE, Record, Stage, Version};
use crate::error::WriteError;
use crate::fault::fault;
use crate::resolve::Place;
use crate::root::Root;
use crate::snapshot::read_bytes;
use crate::write::{Planned, carry_out, mode, place};

/// What became of a write whose process had died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// The files of the write, relative to the root.
    pub paths: Vec<String>,
    /// What was done about it.
    pub outcome: Recovery,
    /// Those of the files that someone else has changed since. They were not touched.
    pub foreign: Vec<String>,
    /// The root that it was made in and that its paths are relative to, if that is one above or below.
    pub elsewhere: Option<PathBuf>,
    /// Whether it was to be followed by a commit.
    pub to_commit: bool,
    /// The id of the commit that was made of it: an undo of the write was interrupted, or a redo.
    pub commit: Option<String>,
    /// The folders that could not be synced, each with the reason, if there are any.
    pub not_synced: Option<String>,
}

/// What was done about an interrupted write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// All files hold the new content now.
    Finished,
    /// All files had been written before; nothing was left to do.
    Whole,
    /// All files hold the content from before.
    TakenBack,
    /// Neither could be done; the reason. It will be tried again.
    Failed(String),
    /// Its record is damaged, so that nothing was done; the paths are those that it seems to name. Where it was moved to.
    Damaged(PathBuf),
    /// It was made in a root above this one, where nothing is touched from here.
    Above,
    /// Another version of the program made the write, and its record was left alone. Where that is.
    OtherVersion(PathBuf),
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
    /// The temporary file, if the dead process left it.
    temp: Option<PathBuf>,
    stands: Stands,
}

/// Sees to the writes in `root` that their process did not live to finish, also to those that were made with a folder in it as
/// root. What was made with a folder above as root is told. A process that is writing is left alone.
pub fn recover(root: &Root, journal: &Journal) -> Vec<Recovered> {
    let mut told = match journal.has_open() {
        Ok(false) => Vec::new(),
        Ok(true) => with_lock(journal, |held| settle_unfinished(root, held)),
        Err(error) => vec![Recovered::failed(&error)],
    };
    for other in journal.open_neighbours() {
        let Ok(there) = Root::at(&other.root) else { continue };
        let is_below = there.path().starts_with(root.path());
        let seen = with_lock(&other, |held| if is_below { settle_unfinished(&there, held) } else { look_above(held) });
        told.extend(seen.into_iter().map(|write| Recovered { elsewhere: Some(other.root.clone()), ..write }));
    }
    told
}

/// What `look` sees in a journal that has the record of an unfinished write. A process that holds it is writing at this moment.
fn with_lock(journal: &Journal, look: impl FnOnce(&Held<'_>) -> Vec<Recovered>) -> Vec<Recovered> {
    match journal.hold_within(LOOK_PATIENCE) {
        Ok(held) => look(&held),
        Err(JournalError::Busy) => Vec::new(),
        Err(error) => vec![Recovered::failed(&error)],
    }
}

/// The unfinished writes that [`recover`] would see to or tell of: their root and their files, which are not named where the record
/// cannot be read. For those who only read: nothing is touched. A write that is under way is not among them.
pub fn unfinished(journal: &Journal) -> Vec<(PathBuf, Vec<String>)> {
    let neighbours = journal.open_neighbours().into_iter();
    let all = std::iter::once(journal.clone()).chain(neighbours);
    let named = all.flat_map(|journal| {
        let is_open = journal.has_open().unwrap_or(false);
        // Its writer holds the lock as long as it lives. Where the lock cannot be tried, it is told.
        let is_left = is_open && !matches!(journal.try_hold(), Err(JournalError::Busy));
        let entries = if is_left { journal.entries().unwrap_or_default() } else { Vec::new() };
        let open = entries.into_iter().filter(|entry| entry.is_open());
        let paths = |record: Record| record.files.into_iter().map(|change| change.path).collect();
        let named = open.map(|entry| (journal.root.clone(), journal.read(entry).map(paths).unwrap_or_default()));
        named.collect::<Vec<_>>()
    });
    named.collect()
}

/// Names the unfinished writes of a root above.
fn look_above(held: &Held<'_>) -> Vec<Recovered> {
    let open = held.entries().unwrap_or_default().into_iter().filter(|entry| entry.is_open());
    let records = open.filter_map(|entry| held.read(entry).ok());
    let named = records.map(|record| Recovered {
        paths: record.files.into_iter().map(|change| change.path).collect(),
        ..Recovered::new(Recovery::Above)
    });
    named.collect()
}

impl Recovered {
    fn new(outcome: Recovery) -> Self {
        Self {
            paths: Vec::new(),
            outcome,
            foreign: Vec::new(),
            elsewhere: None,
            to_commit: false,
            commit: None,
            not_synced: None,
        }
    }

    /// Not even the record can be looked at.
    fn failed(error: &JournalError) -> Self {
        Self::new(Recovery::Failed(error.to_string()))
    }
}

/// Sees to every unfinished write.
pub(crate) fn settle_unfinished(root: &Root, held: &Held<'_>) -> Vec<Recovered> {
    let entries = match held.entries() {
        Ok(entries) => entries,
        Err(error) => return vec![Recovered::failed(&error)],
    };
    let seen = entries.into_iter().filter(|entry| entry.is_open()).map(|entry| match held.read(entry) {
        Ok(record) => settle(root, held, entry, &record),
        Err(why) => illegible(held, entry, why),
    });
    seen.collect()
}

/// Nothing can be made of the record. What it was of may be half written all the same, so it is told and kept.
fn illegible(held: &Held<'_>, entry: Entry, why: Illegible) -> Recovered {
    let (paths, outcome) = match why {
        Illegible::Damaged { paths } => {
            let aside = held.set_aside(entry).map_err(|error| error.to_string());
            (paths, aside.map_or_else(Recovery::Failed, Recovery::Damaged))
        }
        Illegible::OtherVersion => (Vec::new(), Recovery::OtherVersion(held.path(entry))),
        Illegible::Unreadable(error) => {
            (Vec::new(), Recovery::Failed(format!("{}: {error}", held.path(entry).display())))
        }
    };
    Recovered { paths, ..Recovered::new(outcome) }
}

fn settle(root: &Root, held: &Held<'_>, entry: Entry, record: &Record) -> Recovered {
    let found: Result<Vec<Found<'_>>, WriteError> = record.files.iter().map(|change| find(root, change)).collect();
    let (foreign, outcome) = match found {
        Ok(found) => {
            let foreign = found.iter().filter(|found| found.stands == Stands::Foreign);
            let outcome = settled(root, held, (entry, record), &found, wanted(entry.stage, &found));
            (foreign.map(|found| found.change.path.clone()).collect(), outcome)
        }
        Err(error) => (Vec::new(), Err(error)),
    };
    let (outcome, not_synced) = outcome.unwrap_or_else(|error| (Recovery::Failed(error.to_string()), None));
    Recovered {
        paths: record.files.iter().map(|change| change.path.clone()).collect(),
        foreign,
        to_commit: record.message.is_some(),
        commit: held.journal.commit_of(entry.number),
        not_synced,
        ..Recovered::new(outcome)
    }
}

/// Brings all files to where they are wanted, and notes the end of it.
fn settled(
    root: &Root,
    held: &Held<'_>,
    (mut entry, record): (Entry, &Record),
    found: &[Found<'_>],
    wanted: Stands,
) -> Result<(Recovery, Option<String>), WriteError> {
    let nothing_to_do = found.iter().all(|found| [wanted, Stands::Foreign].contains(&found.stands));
    if wanted == Stands::Before && entry.stage == Stage::Doing && !nothing_to_do {
        // Whoever comes next if this fails goes the same way: the temporary files that tell it are gone then.
        entry = held.mark(entry, Stage::Undoing)?;
    }
    sweep(found)?;
    let not_synced = bring(root, found, wanted)?;
    if wanted == Stands::After {
        held.mark(entry, Stage::Done)?;
        return Ok((if nothing_to_do { Recovery::Whole } else { Recovery::Finished }, not_synced));
    }
    remove_folders(root, record)?;
    held.mark(entry, Stage::Undone)?;
    Ok((Recovery::TakenBack, not_synced))
}

/// Where all files go: on to where the write was headed once one of them is there, else back.
fn wanted(stage: Stage, found: &[Found<'_>]) -> Stands {
    let is_foreign = |found: &&Found<'_>| found.stands == Stands::Foreign;
    let all = |stands: Stands| found.iter().filter(|found| !is_foreign(found)).all(|found| found.stands == stands);
    let has_foreign = found.iter().any(|found| is_foreign(&found));
    // A temporary file is moved to its place: one that is still there was not. So without one, a file that somebody has
    // changed since had been written before.
    let is_whole = || all(Stands::After) && !found.iter().any(|found| found.temp.is_some());
    match stage {
        _ if all(Stands::Before) => Stands::Before,
        Stage::Undoing if all(Stands::After) && !has_foreign => Stands::After,
        Stage::Undoing => Stands::Before,
        _ if has_foreign && !is_whole() => Stands::Before,
        _ => Stands::After,
    }
}

/// Looks at a file of a record. An error is no answer: the file may be ours all the same.
fn find<'a>(root: &Root, change: &'a Change) -> Result<Found<'a>, WriteError> {
    let temp = temp(root, change)?;
    let foreign = |place, temp| Found { change, place, now: None, temp, stands: Stands::Foreign };
    let Some(place) = recorded_place(root, &change.path)? else { return Ok(foreign(None, temp)) };
    let now = match &place.found {
        None => None,
        Some(meta) if meta.is_file() && !place.is_link => {
            let bytes = fault().and_then(|()| read_bytes(&place.target, u64::MAX));
            let bytes = bytes.map_err(|error| WriteError::from_io(&change.path, "read", 0, error))?;
            Some(Version::new(bytes, mode(meta)))
        }
        Some(_) => return Ok(foreign(Some(place), temp)),
    };
    let stands = stands(change, now.as_ref());
    Ok(Found { change, place: Some(place), now, temp, stands })
}

/// Where the path of a record leads; `None` if a folder on the way gave way to a file, or to a link.
pub(super) fn recorded_place(root: &Root, path: &str) -> Result<Option<Place>, WriteError> {
    fault().map_err(|error| WriteError::from_io(path, "look at", 0, error))?;
    match place(root, path) {
        Ok(place) => Ok(Some(place)),
        Err(WriteError::NotAFile { .. } | WriteError::Outside { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The temporary file of a change, if it is there. Whatever has taken the place of the file itself does not matter.
fn temp(root: &Root, change: &Change) -> Result<Option<PathBuf>, WriteError> {
    let folder = change.path.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
    let place = recorded_place(root, &(folder + &change.temp))?;
    let is_file = |place: &Place| !place.is_link && place.found.as_ref().is_some_and(fs::Metadata::is_file);
    Ok(place.filter(is_file).map(|place| place.target))
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
fn sweep(found: &[Found<'_>]) -> Result<(), WriteError> {
    for found in found {
        let Some(temp) = &found.temp else { continue };
        let removed = fault().and_then(|()| fs::remove_file(temp));
        removed.map_err(|error| WriteError::from_io(&found.change.path, "clean up beside", 0, error))?;
    }
    Ok(())
}

/// Brings every file that is ours to where it is wanted.
fn bring(root: &Root, found: &[Found<'_>], wanted: Stands) -> Result<Option<String>, WriteError> {
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
pub(super) fn remove_folders(root: &Root, record: &Record) -> Result<(), WriteError> {
    for folder in record.folders.iter().rev() {
        let place = recorded_place(root, folder)?;
        let is_folder = |place: &Place| !place.is_link && place.found.as_ref().is_some_and(fs::Metadata::is_dir);
        let Some(place) = place.filter(is_folder) else { continue };
        match fault().and_then(|()| fs::remove_dir(&place.target)) {
            // Somebody else has put something into it.
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            outcome => outcome.map_err(|error| WriteError::from_io(folder, "remove", 0, error))?,
        }
    }
    Ok(())
}
