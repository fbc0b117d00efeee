//! What a run enters of a task, whatever its kind.

use std::fs;
use std::path::{Path, PathBuf};

use super::run::Done;
use super::turn::{TurnReport, refused};
use crate::report::Entry;
use rhumb::error::{ErrorKind, UserError};

/// The folder as it can be found from elsewhere.
pub(super) fn whole_path(folder: &Path) -> Result<PathBuf, UserError> {
    folder.canonicalize().map_err(|error| {
        UserError::new(
            ErrorKind::Usage,
            format!("cannot use {}: {error}", folder.display()),
            "give a folder that is there",
        )
    })
}

/// Nothing has become of a task yet.
pub(super) fn new_entry(id: &str, language: &str) -> Entry {
    Entry { id: id.to_owned(), language: language.to_owned(), cost: Some(0.0), ..Entry::default() }
}

/// Enters what a turn came to. Gives an end where the turn says nothing of the model.
pub(super) fn take_turn(entry: &mut Entry, report: TurnReport, nth: usize) -> Option<Done> {
    entry.tries = nth;
    entry.models.extend(report.models);
    entry.malformed += report.malformed;
    entry.elided |= report.elided;
    entry.exhausted |= report.exhausted;
    entry.timed_out |= report.timed_out;
    entry.input += report.input;
    entry.output += report.output;
    entry.cost = entry.cost.zip(report.cost).map(|(sum, cost)| sum + cost);
    entry.seconds += report.seconds;
    if report.stopped {
        return Some(Done::Stopped(entry.cost));
    }
    if report.no_money {
        return Some(Done::NoMoney(entry.cost));
    }
    report.trouble.map(|why| Done::Trouble(format!("{}: {why}", entry.id), entry.cost))
}

/// Keeps what a file has become.
pub(super) fn keep(path: &Path, text: &str) -> Result<(), UserError> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).and_then(|()| fs::write(path, text)).map_err(|error| refused(path, &error))
}
