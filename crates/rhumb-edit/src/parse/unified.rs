//! Unified diffs as models write them, with their file headers. Line numbers in hunk headings are only hints.

use std::collections::BTreeSet;

use super::ReplyBuilder;
use super::fence::Fence;
use super::heading::{Heading, HeadingKind};
use super::markers;
use crate::file_name;
use crate::format::EditFormat;
use crate::locate::similarity::Probe;
use crate::reply::{Change, Edit, EditAction, Hunk, LineKind, QuotedLine};

/// The open diff, of one or more files.
#[derive(Debug)]
pub(crate) struct DiffBlock {
    file: FileHeader,
    /// Index of the heading that names the file, if no file header does.
    heading: Option<usize>,
    /// Whether the diff is in a fence. Without a fence the first line without a mark ends it.
    fenced: bool,
    hunk: Option<OpenHunk>,
    /// Whether the last line was a file header.
    headed: bool,
    /// The name of a `---` line below git's headers. A `+++` line has to follow.
    from: Option<String>,
    inner: InnerFence,
}

/// A fence of a document in the context of the diff, without the space that marks context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InnerFence {
    /// No such fence in this hunk.
    Unseen,
    Open,
    Closed,
}

#[derive(Debug)]
struct OpenHunk {
    lines: Vec<QuotedLine>,
    scope: Option<String>,
    line: Option<usize>,
    first: usize,
    /// The first line without a mark. It is context if the fence is closed, and prose if it never is.
    unmarked: Option<usize>,
    /// Indices of lines that are empty, without the space that marks context.
    bare: BTreeSet<usize>,
    /// Whether the last line may be the `---` line of a file header.
    maybe_header: bool,
    /// Whether an event has reported the start.
    started: bool,
    /// Number of lines that events have reported.
    shown: usize,
    end: EndMarks,
}

/// Positions of the `\ No newline at end of file` marks.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EndMarks {
    /// Number of lines before the mark of the old side.
    old: Option<usize>,
    /// Number of lines before the mark of the new side.
    new: Option<usize>,
}

impl EndMarks {
    /// Adds a `\ No newline at end of file` mark after these lines.
    pub(crate) fn mark(&mut self, lines: &[QuotedLine]) {
        let Some(last) = lines.last() else { return };
        if last.kind != LineKind::Insert {
            self.old = Some(lines.len());
        }
        if last.kind != LineKind::Delete {
            self.new = Some(lines.len());
        }
    }

    /// Whether the new text ends with a newline, if exactly one side of the hunk has the mark.
    pub(crate) fn final_newline(self, lines: &[QuotedLine]) -> Option<bool> {
        // A mark counts only if its side has no lines after it.
        let last = |at: &usize, without: LineKind| lines.iter().skip(*at).all(|line| line.kind == without);
        let old = self.old.filter(|at| last(at, LineKind::Insert));
        let new = self.new.filter(|at| last(at, LineKind::Delete));
        (old.is_some() != new.is_some()).then_some(old.is_some())
    }
}

impl DiffBlock {
    /// A diff that begins with a file header.
    pub(crate) fn with_header(file: FileHeader, headed: bool, fenced: bool) -> Self {
        Self { file, heading: None, fenced, hunk: None, headed, from: None, inner: InnerFence::Unseen }
    }

    pub(crate) fn without_header(path: Option<String>, heading: Option<usize>, fenced: bool) -> Self {
        let file = FileHeader::unnamed(path);
        Self { file, heading, fenced, hunk: None, headed: fenced, from: None, inner: InnerFence::Unseen }
    }

    /// The heading that names the file, or the name in the last file header.
    pub(crate) fn name(&self) -> (Option<usize>, Option<&str>) {
        (self.heading, self.file.path.as_deref())
    }

    /// Whether a fence line is context of a document without the space of context, and does not end the diff: it
    /// opens a fence in an open hunk, or closes it.
    pub(crate) fn takes_fence(&mut self, fence: &Fence) -> bool {
        let document = self.file.path.as_deref().is_some_and(markers::is_document);
        let opens = !fence.info.is_empty() && !fence.is_diff();
        self.inner = match (self.inner, fence.info.is_empty()) {
            (InnerFence::Open, true) => InnerFence::Closed,
            (InnerFence::Unseen | InnerFence::Closed, false) if document && opens && self.hunk.is_some() => {
                InnerFence::Open
            }
            _ => return false,
        };
        true
    }

    /// Reads a line. Returns `false` if it is not part of the diff.
    pub(crate) fn read(&mut self, line: &str, number: usize, sink: &mut ReplyBuilder) -> bool {
        if line.starts_with("@@") {
            self.close(number.saturating_sub(1), true, sink);
            self.hunk = Some(OpenHunk::new(number, markers::heading_scope(line), markers::heading_line(line)));
            return true;
        }
        if self.file_header(line, number, sink) {
            return true;
        }
        if markers::git_header(line) {
            self.git_header(line, number, sink);
            return true;
        }
        let marked = line.starts_with(['+', '-', ' ']);
        if self.hunk.is_none() {
            // Right after the header a hunk may begin without its heading.
            if !self.headed || (!marked && !line.is_empty()) {
                return self.fenced;
            }
            if line.trim().is_empty() {
                return true;
            }
            self.hunk = Some(OpenHunk::new(number, None, None));
        }
        if !marked && !line.is_empty() && !line.starts_with('\\') && !self.fenced {
            return false;
        }
        let (path, hunk) = (self.file.path.as_deref(), self.hunk.as_mut());
        if let Some(hunk) = hunk {
            hunk.read(line, path, sink);
        }
        true
    }

    /// Reads one of git's extended headers.
    fn git_header(&mut self, line: &str, number: usize, sink: &mut ReplyBuilder) {
        self.close(number.saturating_sub(1), true, sink);
        match FileHeader::of_git(line, number) {
            Some(next) => {
                self.file.settle(End::Closed, number.saturating_sub(1), sink);
                (self.file, self.heading, self.headed) = (next, None, false);
            }
            None => self.file.note(line),
        }
    }

    /// Reads a `+++ path` line below `--- path`, which looked like a removed line.
    fn file_header(&mut self, line: &str, number: usize, sink: &mut ReplyBuilder) -> bool {
        if self.hunk.is_none() && !self.headed {
            return self.plain_header(line, number);
        }
        let Some(hunk) = self.hunk.as_mut().filter(|hunk| hunk.maybe_header) else {
            return false;
        };
        let Some(to) = markers::header_path(line, "+++") else {
            return false;
        };
        let removed = hunk.lines.last().map(|line| line.text.as_str()).unwrap_or_default();
        let from = format!("-{removed}");
        let bare = |path: &str, side: &str| path.strip_prefix(side).unwrap_or(path).to_owned();
        let same = |from: &str| bare(from, "a/") == bare(to, "b/");
        if !is_header_name(to) && !markers::header_path(&from, "---").is_some_and(same) {
            return false;
        }
        let from = hunk.lines.pop().map(|line| line.text).unwrap_or_default();
        let from = from.strip_prefix("--").unwrap_or(&from).trim().split('\t').next().unwrap_or_default().to_owned();
        self.close(number.saturating_sub(2), true, sink);
        self.file.settle(End::Closed, number.saturating_sub(2), sink);
        self.begin_reply(&from, to, number);
        true
    }

    /// Reads a file header while no hunk is open, so that it cannot be a removed line.
    fn plain_header(&mut self, line: &str, number: usize) -> bool {
        if let (Some(from), Some(to)) = (self.from.take(), markers::header_path(line, "+++")) {
            self.begin_reply(&from, to, number);
            return true;
        }
        self.from = markers::header_path(line, "---").filter(|from| is_header_name(from)).map(str::to_owned);
        self.from.is_some()
    }

    fn begin_reply(&mut self, from: &str, to: &str, number: usize) {
        self.file.name(from, to, number);
        self.heading = None;
        self.headed = true;
    }

    /// Ends the diff. Lines without a mark count only if the fence is closed.
    pub(crate) fn finish(mut self, end: End, last: usize, sink: &mut ReplyBuilder) {
        if end != End::Closed
            && self.inner == InnerFence::Unseen
            && let Some(hunk) = self.hunk.as_mut()
        {
            hunk.lines.truncate(hunk.unmarked.unwrap_or(hunk.lines.len()));
            hunk.bare.retain(|at| *at < hunk.lines.len());
        }
        let complete = match end {
            End::Stopped { cut } => self.stop(cut, last, sink),
            End::Closed | End::Interrupted => true,
        };
        self.close(last, complete && self.inner != InnerFence::Open, sink);
        self.file.settle(end, last, sink);
    }

    /// The reply ends here. Returns whether the open hunk is complete. A header or a heading without lines becomes
    /// an incomplete edit.
    fn stop(&mut self, cut: bool, last: usize, sink: &mut ReplyBuilder) -> bool {
        if let Some(from) = self.cut_header() {
            self.close(last.saturating_sub(1), true, sink);
            self.file.settle(End::Closed, last.saturating_sub(1), sink);
            self.begin_reply(&from, &from, last.saturating_add(1));
        }
        let Some(hunk) = &self.hunk else { return true };
        if hunk.lines.len() == hunk.bare.len() {
            // Only the heading has arrived.
            let change = Change::Hunk(vec![Hunk::default()]);
            let lines = (hunk.first, last.max(hunk.first));
            if !hunk.started {
                sink.started(self.file.path.as_deref(), EditFormat::Udiff);
            }
            sink.end(self.file.edit(self.heading, change, lines, false));
            (self.hunk, self.file.has_pending_action) = (None, false);
            return false;
        }
        let changes = hunk.lines.iter().any(|line| line.kind != LineKind::Keep);
        let ends_in_context = hunk.lines.last().is_none_or(|line| line.kind == LineKind::Keep);
        changes && (!(cut && self.fenced) || ends_in_context)
    }

    /// The name in a last line that is the first half of a file header. Removes the line from the hunk.
    fn cut_header(&mut self) -> Option<String> {
        let hunk = self.hunk.as_mut().filter(|hunk| hunk.maybe_header)?;
        let line = format!("-{}", hunk.lines.last()?.text);
        let from = markers::header_path(&line, "---").filter(|from| is_header_name(from))?.to_owned();
        hunk.lines.pop();
        Some(from)
    }

    fn close(&mut self, last: usize, complete: bool, sink: &mut ReplyBuilder) {
        let Some(mut hunk) = self.hunk.take() else { return };
        self.inner = InnerFence::Unseen;
        // An empty line without the space of context more likely separates two hunks.
        while hunk.lines.len().checked_sub(1).is_some_and(|last| hunk.bare.contains(&last)) {
            hunk.bare.remove(&(hunk.lines.len() - 1));
            hunk.lines.pop();
        }
        let reply_lines = (hunk.first, last.max(hunk.first));
        hunk.show(hunk.lines.len(), self.file.path.as_deref(), sink);
        if hunk.lines.is_empty() {
            if hunk.started {
                sink.ended(complete, reply_lines);
            }
            return;
        }
        let final_newline = hunk.end.final_newline(&hunk.lines);
        let lines = without_common_lines(hunk.lines);
        let scopes = hunk.scope.into_iter().collect();
        let change = Change::Hunk(vec![Hunk { lines, scopes, line: hunk.line, final_newline }]);
        sink.end(self.file.edit(self.heading, change, reply_lines, complete));
        self.headed = false;
        self.file.has_pending_action = false;
    }
}

impl OpenHunk {
    fn new(first: usize, scope: Option<String>, line: Option<usize>) -> Self {
        Self {
            lines: Vec::new(),
            scope,
            line,
            first,
            unmarked: None,
            bare: BTreeSet::new(),
            maybe_header: false,
            started: false,
            shown: 0,
            end: EndMarks::default(),
        }
    }

    fn read(&mut self, line: &str, path: Option<&str>, sink: &mut ReplyBuilder) {
        if line.starts_with('\\') {
            self.end.mark(&self.lines);
            return;
        }
        // The first half of a file header looks like a removed line. It is reported when the next line decides.
        self.show(self.lines.len(), path, sink);
        self.maybe_header = markers::header_path(line, "---").is_some();
        let (kind, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (LineKind::Insert, text),
            Some(("-", text)) => (LineKind::Delete, text),
            Some((" ", text)) => (LineKind::Keep, text),
            _ => (LineKind::Keep, line),
        };
        if !line.is_empty() && !line.starts_with(['+', '-', ' ']) && self.unmarked.is_none() {
            self.unmarked = Some(self.lines.len());
        }
        if line.is_empty() {
            self.bare.insert(self.lines.len());
        }
        self.lines.push(QuotedLine::new(kind, text));
        // Empty lines before the first line of the hunk may separate two hunks.
        if !self.maybe_header && (self.started || !line.is_empty()) {
            self.show(self.lines.len(), path, sink);
        }
    }

    /// Reports the lines before `end` that no event has reported.
    fn show(&mut self, end: usize, path: Option<&str>, sink: &mut ReplyBuilder) {
        if self.shown < end && !std::mem::replace(&mut self.started, true) {
            sink.started(path, EditFormat::Udiff);
        }
        for line in self.lines.get(self.shown..end).unwrap_or_default() {
            sink.line(line.kind, &line.text);
        }
        self.shown = self.shown.max(end);
    }
}

/// Lines common to a run of removed lines and the following run of added lines are kept.
pub(crate) fn without_common_lines(lines: Vec<QuotedLine>) -> Vec<QuotedLine> {
    use LineKind::{Delete, Insert};
    let kinds: Vec<LineKind> = lines.iter().map(|line| line.kind).collect();
    if !kinds.windows(4).any(|run| run == [Delete, Delete, Insert, Insert]) {
        return lines;
    }
    let side = |without| lines.iter().filter(move |l| l.kind != without).map(|l| l.text.as_str()).collect::<Vec<_>>();
    Hunk::between(&side(Insert), &side(Delete)).lines
}

fn is_header_name(path: &str) -> bool {
    path == "/dev/null" || Heading::read(path).is_some_and(|heading| heading.kind == HeadingKind::Path)
}

const DEV_NULL: &str = "/dev/null";
/// Minimum similarity of two names in a file header for which one of them is a typo.
const MIN_NAME_SIMILARITY: f32 = 0.9;

/// How a diff ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// By its fence, or by a line that is not part of it.
    Closed,
    /// By another fence, while its own is open.
    Interrupted,
    /// With the reply.
    Stopped {
        /// Whether the last line has no newline.
        cut: bool,
    },
}

/// The file that the hunks of a diff are about.
#[derive(Debug)]
pub(crate) struct FileHeader {
    pub(crate) path: Option<String>,
    pub(crate) action: EditAction,
    /// Its first line, 1-based.
    first: usize,
    /// Whether the header asks for a change that no edit has yet.
    pub(crate) has_pending_action: bool,
}

impl FileHeader {
    /// A file that only the text around the diff may name.
    pub(crate) fn unnamed(path: Option<String>) -> Self {
        Self { path, action: EditAction::Modify, first: 0, has_pending_action: false }
    }

    /// `diff --git a/x b/x`.
    pub(crate) fn of_git(line: &str, number: usize) -> Option<Self> {
        let names = line.strip_prefix("diff --git ")?.trim();
        let (half, equal) = (names.len() / 2, |one: &str, other: &str| one.get(2..) == other.get(2..));
        let halves = names.get(..half).zip(names.get(half + 1..)).filter(|(one, other)| equal(one, other));
        let (_, to) = halves.or_else(|| names.split_once(" b/"))?;
        let to = to.strip_prefix("b/").unwrap_or(to);
        Some(Self { first: number, has_pending_action: true, ..Self::unnamed(Some(to.to_owned())) })
    }

    /// `--- from` and, on line `number`, `+++ to`.
    pub(crate) fn of_names(from: &str, to: &str, number: usize) -> Self {
        let mut header = Self::unnamed(None);
        header.name(from, to, number);
        header
    }

    /// Sets the two names of the file. A rename in git's headers has precedence.
    pub(crate) fn name(&mut self, from: &str, to: &str, number: usize) {
        let moves = matches!(self.action, EditAction::Rename { .. });
        if !moves || !self.has_pending_action {
            (self.path, self.action) = paths(from, to);
        }
        self.first = if self.has_pending_action { self.first } else { number.saturating_sub(1) };
        self.has_pending_action = true;
    }

    /// Reads one of the lines that git writes between `diff --git` and the names.
    pub(crate) fn note(&mut self, line: &str) {
        if let Some(from) = line.strip_prefix("rename from ") {
            self.path = Some(file_name::undecorated(from).to_owned());
        } else if let Some(to) = line.strip_prefix("rename to ") {
            self.action = EditAction::Rename { to: file_name::undecorated(to).to_owned() };
        } else if line.starts_with("new file mode") {
            self.action = EditAction::Create;
        } else if line.starts_with("deleted file mode") {
            self.action = EditAction::Delete;
        }
    }

    /// Ends the file. If it had no hunk, its header becomes an edit.
    pub(crate) fn settle(&mut self, end: End, last: usize, sink: &mut ReplyBuilder) {
        if !std::mem::take(&mut self.has_pending_action) {
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

/// Whether the line is git's first header of a file.
pub(crate) fn starts_file(line: &str) -> bool {
    line.starts_with("diff --git ") && markers::git_header(line)
}

/// The file of two names, and what happens to it. If the names differ, the existing files decide, unless one name
/// is a shorter or misspelt form of the other, or names another version of the file.
fn paths(from: &str, to: &str) -> (Option<String>, EditAction) {
    let (from, to) = unversioned(file_name::undecorated(from), file_name::undecorated(to));
    let bare = |path: &str, side: &str, other: &str, other_side: &str| {
        let paired = other == DEV_NULL || other.starts_with(other_side);
        path.strip_prefix(side).filter(|_| paired).unwrap_or(path).to_owned()
    };
    let some = |path: String| Some(path).filter(|path| !path.is_empty());
    match (from, to) {
        (DEV_NULL, to) => (some(bare(to, "b/", DEV_NULL, "a/")), EditAction::Create),
        (from, DEV_NULL) => (some(bare(from, "a/", DEV_NULL, "b/")), EditAction::Delete),
        (from, to) => {
            let (from, to) = (bare(from, "a/", to, "b/"), bare(to, "b/", from, "a/"));
            if from.is_empty() || to.is_empty() || is_part(&from, &to) || is_part(&to, &from) || similar(&from, &to) {
                (some(to), EditAction::Modify)
            } else {
                (Some(from), EditAction::EitherName { to })
            }
        }
    }
}

/// Two names without the parts that mark the older and the newer version: `a.py.orig` and `a.py`, `old/a.py` and
/// `new/a.py`. Unchanged if the names are not equal then.
fn unversioned<'a>(from: &'a str, to: &'a str) -> (&'a str, &'a str) {
    const SUFFIXES: [&str; 7] = [".orig", ".old", ".bak", "~", ".new", ".modified", ".updated"];
    const FOLDERS: [&str; 7] = ["old/", "original/", "orig/", "before/", "new/", "modified/", "after/"];
    let versions = |name: &'a str| {
        let suffixes = SUFFIXES.iter().filter_map(move |suffix| name.strip_suffix(suffix));
        let folders = FOLDERS.iter().filter_map(move |folder| name.strip_prefix(folder));
        suffixes.chain(folders).chain([name])
    };
    let same = versions(from).find(|name| versions(to).any(|other| other == *name));
    same.filter(|_| from != to && to != DEV_NULL && from != DEV_NULL).map_or((from, to), |name| (name, name))
}

/// Whether `path` ends with the whole parts of `tail`.
fn is_part(tail: &str, path: &str) -> bool {
    path.strip_suffix(tail).is_some_and(|head| head.is_empty() || head.ends_with(['/', '\\']))
}

fn similar(one: &str, other: &str) -> bool {
    Probe::new(one).similarity(other, MIN_NAME_SIMILARITY).is_some()
}
