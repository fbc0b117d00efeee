//! Unified diffs as models write them: the counts and line numbers of the headings are not read at all.

use super::format::EditFormat;
use super::heading::{Heading, Shape};
use super::marker;
use super::name;
use super::reply::{Change, Edit, EditAction, Hunk, LineKind, QuotedLine};
use super::stream::Sink;

/// The diff of one file or several that is being read.
#[derive(Debug)]
pub(super) struct DiffBlock {
    path: Option<String>,
    /// The line that names the file, unless a file header does.
    heading: Option<usize>,
    action: EditAction,
    /// Whether the block stands in a fence; outside of one the first unmarked line ends it.
    fenced: bool,
    hunk: Option<OpenHunk>,
    /// Whether a file header was just read.
    headed: bool,
}

#[derive(Debug)]
struct OpenHunk {
    lines: Vec<QuotedLine>,
    scope: Option<String>,
    first: usize,
    /// The first line without a marker: context if the fence closes later, prose if it never does.
    unmarked: Option<usize>,
    /// The line before might be the `---` of a file header.
    maybe_header: bool,
    started: bool,
}

impl DiffBlock {
    pub(super) fn with_header(from: &str, to: &str, fenced: bool) -> Self {
        let (path, action) = paths(from, to);
        Self { path, heading: None, action, fenced, hunk: None, headed: true }
    }

    pub(super) fn without_header(path: Option<String>, heading: Option<usize>, fenced: bool) -> Self {
        Self { path, heading, action: EditAction::Modify, fenced, hunk: None, headed: fenced }
    }

    /// The line that names the file, or the name in the last file header.
    pub(super) fn name(&self) -> (Option<usize>, Option<&str>) {
        (self.heading, self.path.as_deref())
    }

    /// Reads a line; false when it does not belong to the diff any more.
    pub(super) fn read(&mut self, line: &str, number: usize, sink: &mut Sink) -> bool {
        if line.starts_with("@@") {
            self.close(number.saturating_sub(1), true, sink);
            self.hunk = Some(OpenHunk::new(number, marker::heading_scope(line)));
            return true;
        }
        if self.file_header(line, number, sink) {
            return true;
        }
        if marker::git_header(line) {
            self.close(number.saturating_sub(1), true, sink);
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
            self.hunk = Some(OpenHunk::new(number, None));
        }
        if !marked && !line.is_empty() && !line.starts_with('\\') && !self.fenced {
            return false;
        }
        let (path, hunk) = (self.path.as_deref(), self.hunk.as_mut());
        if let Some(hunk) = hunk {
            hunk.read(line, path, sink);
        }
        true
    }

    /// `+++ path` under a line that looked like a removal but was `--- path`.
    fn file_header(&mut self, line: &str, number: usize, sink: &mut Sink) -> bool {
        let Some(hunk) = self.hunk.as_mut().filter(|hunk| hunk.maybe_header) else {
            return false;
        };
        let Some(to) = marker::header_path(line, "+++") else {
            return false;
        };
        let removed = hunk.lines.last().map(|line| line.text.as_str()).unwrap_or_default();
        if !is_header_name(to) && marker::header_path(&format!("-{removed}"), "---") != Some(to) {
            return false;
        }
        let from = hunk.lines.pop().map(|line| line.text).unwrap_or_default();
        let from = from.strip_prefix("--").unwrap_or(&from).trim().split('\t').next().unwrap_or_default().to_owned();
        self.close(number.saturating_sub(2), true, sink);
        (self.path, self.action) = paths(&from, to);
        self.heading = None;
        self.headed = true;
        true
    }

    /// Ends the block. `closed` says whether what follows proves that unmarked lines were part of it.
    pub(super) fn finish(mut self, closed: bool, cut: bool, last: usize, sink: &mut Sink) {
        let doubtful = cut && self.fenced;
        let whole = !doubtful
            || self.hunk.as_ref().and_then(|hunk| hunk.lines.last()).is_none_or(|line| line.kind == LineKind::Keep);
        if !closed && let Some(hunk) = self.hunk.as_mut() {
            let end = hunk.unmarked.unwrap_or(hunk.lines.len());
            hunk.lines.truncate(end);
        }
        self.close(last, whole, sink);
    }

    fn close(&mut self, last: usize, complete: bool, sink: &mut Sink) {
        let Some(mut hunk) = self.hunk.take() else { return };
        while hunk.lines.last().is_some_and(|line| line.kind == LineKind::Keep && line.text.is_empty()) {
            hunk.lines.pop();
        }
        if hunk.started {
            sink.ended(complete);
        }
        if hunk.lines.is_empty() {
            return;
        }
        let lines = normalised(hunk.lines);
        let scopes = hunk.scope.into_iter().collect();
        sink.reply.edits.push(Edit {
            path: self.path.clone(),
            heading: self.heading,
            format: EditFormat::Udiff,
            action: self.action.clone(),
            change: Change::Hunk(vec![Hunk { lines, scopes }]),
            reply_lines: (hunk.first, last.max(hunk.first)),
            complete,
        });
        self.headed = false;
    }
}

impl OpenHunk {
    fn new(first: usize, scope: Option<String>) -> Self {
        Self { lines: Vec::new(), scope, first, unmarked: None, maybe_header: false, started: false }
    }

    fn read(&mut self, line: &str, path: Option<&str>, sink: &mut Sink) {
        if line.starts_with('\\') {
            return;
        }
        if !self.started {
            self.started = true;
            sink.started(path, EditFormat::Udiff);
        }
        self.maybe_header = marker::header_path(line, "---").is_some();
        let (kind, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (LineKind::Insert, text),
            Some(("-", text)) => (LineKind::Delete, text),
            Some((" ", text)) => (LineKind::Keep, text),
            _ => (LineKind::Keep, line),
        };
        if !line.is_empty() && !line.starts_with(['+', '-', ' ']) && self.unmarked.is_none() {
            self.unmarked = Some(self.lines.len());
        }
        sink.line(kind, text);
        self.lines.push(QuotedLine::new(kind, text));
    }
}

/// A run of removals followed by a run of additions is a replaced block: what both sides share is kept.
pub(super) fn normalised(lines: Vec<QuotedLine>) -> Vec<QuotedLine> {
    use LineKind::{Delete, Insert};
    let kinds: Vec<LineKind> = lines.iter().map(|line| line.kind).collect();
    if !kinds.windows(4).any(|run| run == [Delete, Delete, Insert, Insert]) {
        return lines;
    }
    let side = |without| lines.iter().filter(move |l| l.kind != without).map(|l| l.text.as_str()).collect::<Vec<_>>();
    Hunk::between(&side(Insert), &side(Delete)).lines
}

fn is_header_name(path: &str) -> bool {
    path == "/dev/null" || Heading::read(path).is_some_and(|heading| heading.shape == Shape::Path)
}

/// The file a header speaks of, and what happens to it.
fn paths(from: &str, to: &str) -> (Option<String>, EditAction) {
    let (from, to) = (name::undecorated(from), name::undecorated(to));
    let bare = |path: &str, side: &str, other: &str, other_side: &str| {
        let paired = other == "/dev/null" || other.starts_with(other_side);
        path.strip_prefix(side).filter(|_| paired).unwrap_or(path).to_owned()
    };
    let some = |path: String| Some(path).filter(|path| !path.is_empty());
    match (from, to) {
        ("/dev/null", to) => (some(bare(to, "b/", "/dev/null", "a/")), EditAction::Create),
        (from, "/dev/null") => (some(bare(from, "a/", "/dev/null", "b/")), EditAction::Delete),
        (from, to) => (some(bare(to, "b/", from, "a/")), EditAction::Modify),
    }
}
