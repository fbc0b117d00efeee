//! The reply parser. It reads line by line as the reply arrives: each chunk costs time in proportion to its length,
//! and the result does not depend on the chunk boundaries.

pub(crate) mod code_block;
pub(crate) mod fence;
pub(crate) mod heading;
pub(crate) mod markers;
pub(crate) mod patch;
pub(crate) mod search_replace;
pub(crate) mod unified;

use crate::file_name;
use crate::format::{EditFormat, FormatChoice};
use crate::reply::{Edit, LineKind, ParsedReply};
use code_block::{CodeBlock, FenceRole};
use fence::Fence;
use heading::{Heading, HeadingKind};
use patch::PatchBlock;
use search_replace::SearchBlock;
use unified::{DiffBlock, End, FileHeader};

/// The events for a user interface while the reply arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// A line outside of all edits.
    Prose {
        /// Line number in the reply, 1-based.
        number: usize,
        /// The text without terminator.
        text: String,
    },
    /// An edit begins.
    EditStarted {
        /// The file name as written, if it is known already.
        path: Option<String>,
        /// The format.
        format: EditFormat,
    },
    /// A line of the edit.
    EditLine {
        /// Kept, removed or added, as far as is known yet.
        kind: LineKind,
        /// The text without marker and terminator.
        text: String,
    },
    /// The edit ends.
    EditEnded {
        /// `false` if the edit is cut off.
        complete: bool,
        /// First and last line in the reply, 1-based. A file section of a patch is one event for all its hunks.
        lines: (usize, usize),
    },
}

/// Collects finished edits and events.
#[derive(Debug, Default)]
pub(crate) struct ReplyBuilder {
    pub(crate) events: Vec<StreamEvent>,
    pub(crate) reply: ParsedReply,
}

impl ReplyBuilder {
    pub(crate) fn prose(&mut self, number: usize, line: &str) {
        self.events.push(StreamEvent::Prose { number, text: line.to_owned() });
    }

    pub(crate) fn started(&mut self, path: Option<&str>, format: EditFormat) {
        self.events.push(StreamEvent::EditStarted { path: path.map(str::to_owned), format });
    }

    pub(crate) fn line(&mut self, kind: LineKind, text: &str) {
        self.events.push(StreamEvent::EditLine { kind, text: text.to_owned() });
    }

    pub(crate) fn ended(&mut self, complete: bool, lines: (usize, usize)) {
        self.events.push(StreamEvent::EditEnded { complete, lines });
    }

    /// Ends an edit that was started, and keeps it.
    pub(crate) fn end(&mut self, edit: Edit) {
        self.ended(edit.complete, edit.reply_lines);
        self.reply.edits.push(edit);
    }
}

/// The element to which the next line belongs.
#[derive(Debug)]
enum State {
    Outside,
    Code(CodeBlock),
    Search(SearchBlock),
    Diff(DiffBlock),
    Patch(PatchBlock),
}

/// An incremental parser of one reply.
#[derive(Debug)]
pub struct EditStream {
    choice: FormatChoice,
    partial: String,
    /// 1-based number of the current line.
    number: usize,
    /// The two lines before the current one. Several blank lines count as one.
    before: [String; 2],
    /// Index of the heading for a block without its own heading.
    naming: Option<usize>,
    fence: Option<Fence>,
    /// Index of the heading above the open fence (or in its info string), until a block uses it.
    fence_heading: Option<usize>,
    state: State,
    sink: ReplyBuilder,
}

/// Parses a complete reply.
pub fn parse(reply: &str, choice: FormatChoice) -> ParsedReply {
    let mut stream = EditStream::new(choice);
    stream.push(reply);
    stream.finish()
}

impl EditStream {
    /// A parser for the given formats.
    pub fn new(choice: FormatChoice) -> Self {
        Self {
            choice,
            partial: String::new(),
            number: 0,
            before: Default::default(),
            naming: None,
            fence: None,
            fence_heading: None,
            state: State::Outside,
            sink: ReplyBuilder::default(),
        }
    }

    /// Reads the next chunk of the reply. A chunk may end anywhere.
    pub fn push(&mut self, chunk: &str) {
        let mut rest = chunk;
        while let Some((head, tail)) = rest.split_once('\n') {
            if self.partial.is_empty() {
                self.read(head);
            } else {
                self.partial.push_str(head);
                let line = std::mem::take(&mut self.partial);
                self.read(&line);
            }
            rest = tail;
        }
        self.partial.push_str(rest);
    }

    /// Returns the events since the last call.
    pub fn events(&mut self) -> Vec<StreamEvent> {
        std::mem::take(&mut self.sink.events)
    }

    /// The unfinished last line, which is in no event yet.
    pub fn partial_line(&self) -> &str {
        &self.partial
    }

    /// The edits that are complete so far.
    pub fn finished_edits(&self) -> &[Edit] {
        &self.sink.reply.edits
    }

    /// Ends the reply.
    pub fn finish(self) -> ParsedReply {
        self.finish_with_events().0
    }

    /// Ends the reply. Also returns the events since the last call of [`Self::events`].
    pub fn finish_with_events(mut self) -> (ParsedReply, Vec<StreamEvent>) {
        // A last line without a newline may have been cut.
        let cut = !self.partial.is_empty();
        if cut {
            let line = std::mem::take(&mut self.partial);
            self.read(self.cut_marker(&line).unwrap_or(&line));
        }
        match std::mem::replace(&mut self.state, State::Outside) {
            State::Outside => {}
            State::Code(block) => block.finish(false, cut, self.number, &mut self.sink),
            State::Search(block) => block.abandon(self.number, &mut self.sink),
            State::Diff(block) => block.finish(End::Stopped { cut }, self.number, &mut self.sink),
            State::Patch(block) => block.finish(false, self.number, &mut self.sink),
        }
        let ReplyBuilder { events, mut reply } = self.sink;
        reply.choice = self.choice;
        reply.edits.sort_by_key(|edit| edit.reply_lines.0);
        reply.refuse_unnamed();
        if self.choice == FormatChoice::Auto {
            reply.drop_illustrations();
        }
        (reply, events)
    }

    /// The marker that the last line of a cut reply begins with. It becomes an incomplete edit, so that the missing
    /// text is reported.
    fn cut_marker(&self, line: &str) -> Option<&'static str> {
        const MARKERS: [&str; 2] = ["<<<<<<< SEARCH", "*** Begin Patch"];
        let outside = matches!(self.state, State::Outside) && line.len() >= 4;
        MARKERS.into_iter().find(|marker| outside && marker.starts_with(line.trim_end()))
    }

    fn read(&mut self, line: &str) {
        let line = line.trim_end_matches('\r');
        self.number += 1;
        self.state = match std::mem::replace(&mut self.state, State::Outside) {
            State::Outside => self.outside(line),
            State::Code(block) => self.code(block, line),
            State::Search(block) => self.search(block, line),
            State::Diff(block) => self.diff(block, line),
            State::Patch(block) => self.patch(block, line),
        };
        if line.trim().is_empty() && self.before[1].trim().is_empty() {
            return;
        }
        self.before.swap(0, 1);
        self.before[1].clear();
        self.before[1].push_str(line);
    }

    /// Begins an edit if the line starts one.
    fn start(&mut self, line: &str) -> Option<State> {
        if self.choice.reads_search()
            && let Some((width, tail)) = markers::search_start(line)
        {
            let format = self.name_block(tail);
            return Some(State::Search(SearchBlock::new(self.naming, format, width, self.number, &mut self.sink)));
        }
        if self.choice.reads(EditFormat::Patch)
            && (line.starts_with("*** Begin Patch") || PatchBlock::starts_file(line))
        {
            self.fence_heading = None;
            let mut block = PatchBlock::new(self.number);
            block.read(line, self.number, &mut self.sink);
            return Some(State::Patch(block));
        }
        if self.choice.reads(EditFormat::Udiff)
            && let Some(to) = markers::header_path(line, "+++")
            && let Some(from) = markers::header_path(&self.before[1], "---")
        {
            let header = FileHeader::of_names(from, to, self.number);
            return Some(State::Diff(DiffBlock::with_header(header, true, self.fence.is_some())));
        }
        if self.choice.reads(EditFormat::Udiff)
            && unified::starts_file(line)
            && let Some(header) = FileHeader::of_git(line, self.number)
        {
            return Some(State::Diff(DiffBlock::with_header(header, false, self.fence.is_some())));
        }
        None
    }

    fn outside(&mut self, line: &str) -> State {
        if let Some(state) = self.start(line) {
            return state;
        }
        if let Some(fence) = &self.fence {
            // Between a block and its closing fence no file is named. Below a name, the next fence opens.
            if fence.ended_by(line) && !self.path_above() {
                self.close_fence();
                return State::Outside;
            }
            if self.choice.reads(EditFormat::Udiff) && line.starts_with("@@") && fence.is_diff() {
                return self.bare_diff(line);
            }
        }
        if let Some(fence) = Fence::read(line).filter(|fence| self.may_open(fence)) {
            return self.open(fence);
        }
        let diffs_only = self.choice == FormatChoice::Only(EditFormat::Udiff);
        let numbered = self.choice.reads(EditFormat::Udiff) && line.starts_with("@@");
        if numbered && (diffs_only || self.path_above() || (self.fence.is_none() && markers::numbers_hunk(line))) {
            return self.bare_diff(line);
        }
        if self.fence.is_none()
            && let Some(heading) = Heading::of_section(line)
        {
            self.naming = Some(self.sink.reply.add_heading(heading, self.naming));
        }
        self.sink.prose(self.number, line);
        State::Outside
    }

    /// Begins a hunk without file headers. Its file is named above the fence, or before.
    fn bare_diff(&mut self, line: &str) -> State {
        if let Some(heading) = self.heading_above() {
            self.naming = Some(self.sink.reply.add_heading(heading, self.naming));
        } else if let Some(above) = self.fence_heading.take() {
            self.naming = Some(above);
        }
        let path = self.sink.reply.path_of(self.naming);
        let mut block = DiffBlock::without_header(path, self.naming, self.fence.is_some());
        block.read(line, self.number, &mut self.sink);
        State::Diff(block)
    }

    /// Sets the heading of a search block: after its marker, above it, above its fence, or an earlier one.
    fn name_block(&mut self, tail: &str) -> EditFormat {
        let above = self.fence_heading.take().or(self.naming);
        let near = self.heading_above();
        let inside = self.fence.is_some()
            && !self.before[1].trim().is_empty()
            && near.as_ref().is_some_and(|heading| heading.kind != HeadingKind::Prose);
        self.naming = near.map(|heading| self.sink.reply.add_heading(heading, above)).or(above);
        let own = Heading::read(tail).filter(|heading| heading.kind == HeadingKind::Path);
        match (own, inside) {
            (Some(own), _) => self.naming = Some(self.sink.reply.add_heading(own, self.naming)),
            (None, true) => return EditFormat::DiffFenced,
            (None, false) => {}
        }
        EditFormat::Diff
    }

    fn open(&mut self, fence: Fence) -> State {
        let whole_only = self.choice == FormatChoice::Only(EditFormat::Whole);
        let own = match file_name::in_info(&fence.info) {
            Some(path) => Some(Heading::named(&path)),
            None => self.heading_above(),
        };
        let kind = own.as_ref().map(|heading| heading.kind);
        let role = self.role(&fence, own.as_ref());
        // The line above an illustration need not be a name.
        let soft =
            role != FenceRole::File && kind != Some(HeadingKind::Path) && (fence.is_shell() || fence.is_output());
        let optional = own.as_ref().filter(|_| soft).map(Heading::optional);
        let mentions = own.as_ref().and_then(|heading| heading.path.clone());
        self.fence_heading = own.map(|heading| self.sink.reply.add_heading(heading, self.naming));
        let optional = optional.map(|heading| self.sink.reply.add_heading(heading, self.naming));
        let heading = optional.or(self.fence_heading);
        let diff = fence.is_diff() && self.choice.reads(EditFormat::Udiff);
        self.fence = Some(fence.clone());
        let path = mentions.filter(|_| whole_only || kind != Some(HeadingKind::Prose));
        if diff {
            return State::Diff(DiffBlock::without_header(path, heading, true));
        }
        State::Code(CodeBlock::new(fence, path, heading, role, self.number))
    }

    /// The role of a fence below that heading. Below a sentence it is usually an example, but in a reply of whole
    /// files it is a file.
    fn role(&self, fence: &Fence, heading: Option<&Heading>) -> FenceRole {
        if !self.choice.reads(EditFormat::Whole) {
            return FenceRole::Example;
        }
        let path =
            heading.filter(|heading| heading.kind == HeadingKind::Path).and_then(|heading| heading.path.as_deref());
        let script = path.is_some_and(file_name::is_script);
        let whole_only = self.choice == FormatChoice::Only(EditFormat::Whole) && !fence.is_output();
        if (path.is_some() || whole_only) && (!fence.is_shell() || script) {
            FenceRole::File
        } else if heading.is_some() {
            FenceRole::Maybe
        } else {
            FenceRole::Example
        }
    }

    /// Ends the open fence. Its heading counts for the following blocks, even if the fence had no edit.
    fn close_fence(&mut self) {
        let shell = self.fence.take().is_some_and(|fence| fence.is_shell());
        let Some(at) = self.fence_heading.take() else { return };
        let Some(heading) = self.sink.reply.headings.get(at).filter(|_| !shell) else {
            return;
        };
        self.naming = match heading.kind {
            HeadingKind::Path => Some(at),
            HeadingKind::Prose | HeadingKind::Uncertain => {
                let soft = heading.optional();
                Some(self.sink.reply.add_heading(soft, self.naming))
            }
        };
    }

    /// Ends the diff. Its file is that of the following blocks without a name.
    fn close_diff(&mut self, block: DiffBlock, end: End, last: usize) {
        match block.name() {
            (Some(heading), _) => self.naming = Some(heading),
            (None, Some(path)) => self.naming = Some(self.sink.reply.add_heading(Heading::named(path), None)),
            (None, None) => {}
        }
        self.fence_heading = None;
        block.finish(end, last, &mut self.sink);
    }

    fn code(&mut self, mut block: CodeBlock, line: &str) -> State {
        if block.was_closed_before(line, &mut self.sink) {
            self.close_fence();
            block.finish(true, false, self.number - 1, &mut self.sink);
            return self.outside(line);
        }
        // Only the first lines of a fence decide what it contains: a whole file may quote other formats further
        // down.
        if (block.undecided() || block.is_loose() || self.choice != FormatChoice::Auto)
            && let Some(state) = self.start(line)
        {
            if !block.undecided() && block.is_loose() {
                block.finish(false, true, self.number.saturating_sub(1), &mut self.sink);
            }
            return state;
        }
        let bare = block.undecided() && line.starts_with("@@") && self.choice.reads(EditFormat::Udiff);
        if bare && !block.is_whole_only(self.choice) {
            return self.bare_diff(line);
        }
        let is_next = |fence: &Fence| {
            (block.is_loose() && !fence.is_tag())
                || (block.is_interrupted_by(line) && self.path_above())
                || (block.may_be_interrupted_by(line) && self.path_between_blanks())
        };
        if let Some(fence) = Fence::read(line).filter(is_next) {
            block.finish(false, true, self.number.saturating_sub(1), &mut self.sink);
            return self.open(fence);
        }
        if block.read(line, &mut self.sink) {
            self.close_fence();
            block.finish(true, false, self.number, &mut self.sink);
            return State::Outside;
        }
        State::Code(block)
    }

    fn search(&mut self, mut block: SearchBlock, line: &str) -> State {
        if markers::search_start(line).is_some() {
            block.abandon(self.number.saturating_sub(1), &mut self.sink);
            return self.start(line).unwrap_or(State::Outside);
        }
        if block.read(line, self.number, &mut self.sink) { State::Outside } else { State::Search(block) }
    }

    fn diff(&mut self, mut block: DiffBlock, line: &str) -> State {
        let fence = Fence::read(line).filter(|fence| !line.starts_with(' ') && self.may_open(fence));
        let inner = fence.clone().filter(|fence| self.fence.is_some() && !fence.is_tag());
        if inner.is_some_and(|fence| block.takes_fence(&fence)) {
            block.read(line, self.number, &mut self.sink);
            return State::Diff(block);
        }
        let closes = |fence: &Fence| fence.closed_by(line) || (fence.is_tag() && fence.ended_by(line));
        if self.fence.as_ref().is_some_and(closes) {
            self.fence = None;
            self.close_diff(block, End::Closed, self.number);
            return State::Outside;
        }
        // An indented fence is context of a diff of a Markdown file.
        if let Some(fence) = fence {
            self.close_diff(block, End::Interrupted, self.number);
            return self.open(fence);
        }
        let other = markers::search_start(line).is_some() || line.starts_with("*** Begin Patch");
        if other && self.choice == FormatChoice::Auto {
            self.close_diff(block, End::Closed, self.number.saturating_sub(1));
            return self.start(line).unwrap_or(State::Outside);
        }
        if block.read(line, self.number, &mut self.sink) {
            return State::Diff(block);
        }
        self.close_diff(block, End::Closed, self.number.saturating_sub(1));
        self.outside(line)
    }

    fn patch(&mut self, mut block: PatchBlock, line: &str) -> State {
        let closes = self.fence.as_ref().is_some_and(|fence| fence.closed_by(line));
        if closes && !block.closes_inner() {
            self.fence = None;
            return State::Patch(block);
        }
        if block.read(line, self.number, &mut self.sink) {
            block.finish(true, self.number, &mut self.sink);
            return State::Outside;
        }
        State::Patch(block)
    }

    /// The heading on the line above, or above a blank line. `None` directly below a fence.
    fn heading_above(&self) -> Option<Heading> {
        let [far, near] = &self.before;
        if near.trim().is_empty() { Heading::read(far) } else { Heading::read(near) }
    }

    /// Whether the line may open that fence. Inside of a backtick fence a tag is text.
    fn may_open(&self, fence: &Fence) -> bool {
        !fence.is_tag() || self.fence.as_ref().is_none_or(Fence::is_tag)
    }

    /// Whether the line above is a path with a well-known extension, below a blank line.
    fn path_between_blanks(&self) -> bool {
        let [far, near] = &self.before;
        let path = Heading::read(near).filter(|heading| heading.kind == HeadingKind::Path && !file_name::is_item(near));
        far.trim().is_empty()
            && path.and_then(|heading| heading.path).is_some_and(|path| file_name::knows_extension(&path))
    }

    /// Whether the line above is a path.
    fn path_above(&self) -> bool {
        self.heading_above().is_some_and(|heading| heading.kind == HeadingKind::Path)
    }
}
