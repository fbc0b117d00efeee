//! Patches between `*** Begin Patch` and `*** End Patch` (V4A). A patch without the end marker is never applied.

use super::ReplyBuilder;
use super::fence::Fence;
use super::markers;
use super::unified::{EndMarks, without_common_lines};
use crate::file_name;
use crate::format::EditFormat;
use crate::reply::{Change, Edit, EditAction, Hunk, LineKind, QuotedLine};

/// The open patch.
#[derive(Debug)]
pub(crate) struct PatchBlock {
    path: Option<String>,
    action: EditAction,
    hunk: Hunk,
    /// Number of empty lines at the end of the hunk, without the space that marks context.
    bare: usize,
    end: EndMarks,
    /// Whether further `@@` lines belong to the heading of this hunk.
    heading: bool,
    /// Whether a fence of the file is open, in lines without their mark.
    inner: bool,
    first: usize,
    /// The first line of the file section.
    section: usize,
    /// Whether the file section has an edit yet.
    used: bool,
    /// The edits of this patch.
    edits: Vec<Edit>,
}

impl PatchBlock {
    pub(crate) fn new(first: usize) -> Self {
        let (path, action, hunk) = (None, EditAction::Modify, Hunk::default());
        Self {
            path,
            action,
            hunk,
            bare: 0,
            end: EndMarks::default(),
            heading: false,
            inner: false,
            first,
            section: first,
            used: true,
            edits: Vec::new(),
        }
    }

    /// Whether the line opens a file section.
    pub(crate) fn starts_file(line: &str) -> bool {
        section(line).is_some()
    }

    /// Whether a fence line without an info string closes a fence of the file, and not the fence around the patch.
    pub(crate) fn closes_inner(&mut self) -> bool {
        std::mem::take(&mut self.inner)
    }

    /// Reads a line. Returns `true` if it ends the patch.
    pub(crate) fn read(&mut self, line: &str, number: usize, sink: &mut ReplyBuilder) -> bool {
        if let Some((action, path)) = section(line) {
            self.close_file(number.saturating_sub(1), sink);
            self.path = Some(file_name::undecorated(path).to_owned());
            self.action = action;
            (self.first, self.section) = (number, number);
            (self.used, self.heading, self.inner) = (false, false, false);
            sink.started(self.path.as_deref(), EditFormat::Patch);
            return false;
        }
        if let Some(to) = line.strip_prefix("*** Move to:") {
            self.action = EditAction::Rename { to: file_name::undecorated(to).to_owned() };
            return false;
        }
        if line.starts_with("*** End Patch") {
            return true;
        }
        if line.starts_with("*** Begin Patch") || line.starts_with("*** End of File") || self.path.is_none() {
            return false;
        }
        if line.starts_with("@@") {
            self.heading(line, number);
            return false;
        }
        if line.starts_with("\\ No newline") {
            self.end.mark(&self.hunk.lines);
            return false;
        }
        self.inner |=
            Fence::read(line).is_some_and(|fence| !line.starts_with(' ') && !fence.is_tag() && !fence.info.is_empty());
        let (kind, text) = self.classified(line);
        self.heading = false;
        self.bare = if line.is_empty() && kind == LineKind::Keep { self.bare + 1 } else { 0 };
        sink.line(kind, text);
        self.hunk.lines.push(QuotedLine::new(kind, text));
        false
    }

    /// `@@ scope` lines may be stacked. Any other line between them begins a new hunk.
    fn heading(&mut self, line: &str, number: usize) {
        if !self.heading && !self.hunk.lines.is_empty() {
            self.close_hunk(number.saturating_sub(1));
        }
        if self.hunk.lines.is_empty() && !self.heading {
            self.first = if self.used { number } else { self.first };
        }
        self.hunk.scopes.extend(markers::heading_scope(line));
        self.heading = true;
    }

    fn classified<'a>(&self, line: &'a str) -> (LineKind, &'a str) {
        let (mark, rest) = line.split_at_checked(1).unwrap_or(("", line));
        match (mark, self.action == EditAction::Create) {
            ("+", _) => (LineKind::Insert, rest),
            // A new file has no context: a line without a plus sign is an added line too.
            (" ", true) => (LineKind::Insert, rest),
            (_, true) => (LineKind::Insert, line),
            ("-", false) => (LineKind::Delete, rest),
            (" ", false) => (LineKind::Keep, rest),
            (_, false) => (LineKind::Keep, line),
        }
    }

    fn close_hunk(&mut self, last: usize) {
        let (mut hunk, end) = (std::mem::take(&mut self.hunk), std::mem::take(&mut self.end));
        // An empty line without the space of context more likely separates two hunks.
        let bare = std::mem::take(&mut self.bare);
        hunk.lines.truncate(hunk.lines.len().saturating_sub(bare));
        if hunk.lines.is_empty() {
            return;
        }
        hunk.final_newline = end.final_newline(&hunk.lines);
        hunk.lines = without_common_lines(hunk.lines);
        self.push(Change::Hunk(vec![hunk]), last);
    }

    fn close_file(&mut self, last: usize, sink: &mut ReplyBuilder) {
        if self.path.is_none() {
            return;
        }
        if self.action == EditAction::Delete {
            (self.hunk, self.bare) = (Hunk::default(), 0);
            self.push(Change::Nothing, last);
        } else {
            self.close_hunk(last);
            if !self.used {
                let empty = if self.action == EditAction::Create { Change::Whole(Vec::new()) } else { Change::Nothing };
                self.push(empty, last);
            }
        }
        sink.ended(true, (self.section, last.max(self.section)));
        self.path = None;
    }

    fn push(&mut self, change: Change, last: usize) {
        self.used = true;
        self.edits.push(Edit {
            path: self.path.clone(),
            heading: None,
            format: EditFormat::Patch,
            action: self.action.clone(),
            change,
            reply_lines: (self.first, last.max(self.first)),
            complete: true,
        });
        self.first = last.saturating_add(1);
    }

    /// Ends the patch. Its edits are complete only if the end marker was there.
    pub(crate) fn finish(mut self, complete: bool, last: usize, sink: &mut ReplyBuilder) {
        self.close_file(last, sink);
        for edit in &mut self.edits {
            edit.complete = complete;
        }
        sink.reply.edits.append(&mut self.edits);
    }
}

/// The action and the path of a section line.
fn section(line: &str) -> Option<(EditAction, &str)> {
    let rest = line.strip_prefix("*** ")?;
    let sections =
        [("Update File:", EditAction::Modify), ("Add File:", EditAction::Create), ("Delete File:", EditAction::Delete)];
    sections.into_iter().find_map(|(word, action)| rest.strip_prefix(word).map(|path| (action, path)))
}
