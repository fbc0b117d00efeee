//! What a diff says of a file as a whole, before any of its hunks: its names, whether it is made, removed or moved.

use super::marker;
use crate::format::EditFormat;
use crate::locate::canon::Probe;
use crate::name;
use crate::reply::{Change, Edit, EditAction, Hunk};
use crate::stream::Sink;

const NOWHERE: &str = "/dev/null";
/// Two names this alike are one name with a slip of the pen.
const ALIKE: f32 = 0.9;

/// How a diff ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By its fence, or by a line that is no part of it.
    Closed,
    /// By another fence, its own still open.
    Interrupted,
    /// With the reply, perhaps within a line.
    Stopped {
        /// Whether the last line has no end.
        cut: bool,
    },
}

/// The file that the hunks of a diff are about.
#[derive(Debug)]
pub(crate) struct FileHeader {
    pub(crate) path: Option<String>,
    pub(crate) action: EditAction,
    /// 1-based number of its first line.
    first: usize,
    /// Whether it asks for something that no edit says yet.
    pub(super) owed: bool,
}

impl FileHeader {
    /// A file that only the text around the diff names, if anything.
    pub(crate) fn unsaid(path: Option<String>) -> Self {
        Self { path, action: EditAction::Modify, first: 0, owed: false }
    }

    /// `diff --git a/x b/x`.
    pub(crate) fn of_git(line: &str, number: usize) -> Option<Self> {
        let names = line.strip_prefix("diff --git ")?.trim();
        let (half, equal) = (names.len() / 2, |one: &str, other: &str| one.get(2..) == other.get(2..));
        let halves = names.get(..half).zip(names.get(half + 1..)).filter(|(one, other)| equal(one, other));
        let (_, to) = halves.or_else(|| names.split_once(" b/"))?;
        let to = to.strip_prefix("b/").unwrap_or(to);
        Some(Self { first: number, owed: true, ..Self::unsaid(Some(to.to_owned())) })
    }

    /// `--- from` and, on line `number`, `+++ to`.
    pub(crate) fn of_names(from: &str, to: &str, number: usize) -> Self {
        let mut header = Self::unsaid(None);
        header.name(from, to, number);
        header
    }

    /// Takes up the two names of the file. What git said of a move stands.
    pub(crate) fn name(&mut self, from: &str, to: &str, number: usize) {
        let moves = matches!(self.action, EditAction::Rename { .. });
        if !moves || !self.owed {
            (self.path, self.action) = paths(from, to);
        }
        self.first = if self.owed { self.first } else { number.saturating_sub(1) };
        self.owed = true;
    }

    /// Takes up one of the lines that git writes between `diff --git` and the names.
    pub(crate) fn note(&mut self, line: &str) {
        if let Some(from) = line.strip_prefix("rename from ") {
            self.path = Some(name::undecorated(from).to_owned());
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.action = EditAction::Rename { to: name::undecorated(to).to_owned() };
        } else if line.starts_with("new file mode") {
            self.action = EditAction::Create;
        } else if line.starts_with("deleted file mode") {
            self.action = EditAction::Delete;
        }
    }

    /// The file has no hunk, or no more of them: what it asks for without any becomes an edit.
    pub(super) fn settle(&mut self, end: End, last: usize, sink: &mut Sink) {
        if !std::mem::take(&mut self.owed) {
            return;
        }
        let stopped = matches!(end, End::Stopped { .. });
        let (change, complete) = match self.action {
            EditAction::Delete | EditAction::Rename { .. } => (Change::Nothing, end != End::Stopped { cut: true }),
            EditAction::Create => (Change::Whole(Vec::new()), !stopped),
            EditAction::Modify | EditAction::EitherName { .. } if stopped => {
                (Change::Hunk(vec![Hunk::default()]), false)
            }
            // A new mode, a binary file, or names without a change.
            EditAction::Modify | EditAction::EitherName { .. } => return,
        };
        sink.started(self.path.as_deref(), EditFormat::Udiff);
        sink.end(self.edit(None, change, (self.first, last.max(self.first)), complete));
    }

    /// An edit of this file.
    pub(crate) fn edit(
        &self,
        heading: Option<usize>,
        change: Change,
        reply_lines: (usize, usize),
        complete: bool,
    ) -> Edit {
        let (path, action) = (self.path.clone(), self.action.clone());
        Edit { path, heading, format: EditFormat::Udiff, action, change, reply_lines, complete }
    }
}

/// Whether git introduces a file with the line.
pub(crate) fn starts_file(line: &str) -> bool {
    line.starts_with("diff --git ") && marker::git_header(line)
}

/// The file that two names speak of, and what happens to it. Where they differ, the files decide which is meant, unless one is
/// only a shorter or misspelt form of the other, or says which version of the file it stands for.
fn paths(from: &str, to: &str) -> (Option<String>, EditAction) {
    let (from, to) = unversioned(name::undecorated(from), name::undecorated(to));
    let bare = |path: &str, side: &str, other: &str, other_side: &str| {
        let paired = other == NOWHERE || other.starts_with(other_side);
        path.strip_prefix(side).filter(|_| paired).unwrap_or(path).to_owned()
    };
    let some = |path: String| Some(path).filter(|path| !path.is_empty());
    match (from, to) {
        (NOWHERE, to) => (some(bare(to, "b/", NOWHERE, "a/")), EditAction::Create),
        (from, NOWHERE) => (some(bare(from, "a/", NOWHERE, "b/")), EditAction::Delete),
        (from, to) => {
            let (from, to) = (bare(from, "a/", to, "b/"), bare(to, "b/", from, "a/"));
            if from.is_empty() || to.is_empty() || is_part(&from, &to) || is_part(&to, &from) || alike(&from, &to) {
                (some(to), EditAction::Modify)
            } else {
                (Some(from), EditAction::EitherName { to })
            }
        }
    }
}

/// Two names without what says which is the older version and which the newer: `a.py.orig` and `a.py`, `old/a.py` and `new/a.py`.
/// They are left as they are where that does not make them one name.
fn unversioned<'a>(from: &'a str, to: &'a str) -> (&'a str, &'a str) {
    const SUFFIXES: [&str; 7] = [".orig", ".old", ".bak", "~", ".new", ".modified", ".updated"];
    const FOLDERS: [&str; 7] = ["old/", "original/", "orig/", "before/", "new/", "modified/", "after/"];
    let versions = |name: &'a str| {
        let suffixes = SUFFIXES.iter().filter_map(move |suffix| name.strip_suffix(suffix));
        let folders = FOLDERS.iter().filter_map(move |folder| name.strip_prefix(folder));
        suffixes.chain(folders).chain([name])
    };
    let same = versions(from).find(|name| versions(to).any(|other| other == *name));
    same.filter(|_| from != to && to != NOWHERE && from != NOWHERE).map_or((from, to), |name| (name, name))
}

/// Whether `path` ends with the whole parts of `tail`.
fn is_part(tail: &str, path: &str) -> bool {
    path.strip_suffix(tail).is_some_and(|head| head.is_empty() || head.ends_with(['/', '\\']))
}

fn alike(one: &str, other: &str) -> bool {
    Probe::new(one).likeness(other, ALIKE).is_some()
}
