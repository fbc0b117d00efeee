//! Reading a reply as it arrives: line by line, so that a chunk costs what the chunk is long and the result does not
//! depend on where the stream was cut.

use super::code::CodeBlock;
use super::format::{EditFormat, FormatChoice};
use super::marker::{self, Fence};
use super::name;
use super::reply::{Change, Edit, LineKind, ParsedReply};
use super::search_replace::SearchBlock;
use super::unified::DiffBlock;
use super::v4a::PatchBlock;

/// What the user interface may show while the reply arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamEvent {
    /// A line outside all edits, without its terminator.
    Prose(String),
    /// An edit begins.
    EditStarted {
        /// The file name as written, when it is known already.
        path: Option<String>,
        /// Its format.
        format: EditFormat,
    },
    /// A line of the edit.
    EditLine {
        /// Kept, removed or added, as far as can be said yet.
        kind: LineKind,
        /// Without marker and terminator.
        text: String,
    },
    /// The edit ends.
    EditEnded {
        /// False when it was cut off.
        complete: bool,
    },
}

/// Where finished edits and events go.
#[derive(Debug, Default)]
pub(super) struct Sink {
    pub(super) events: Vec<StreamEvent>,
    pub(super) reply: ParsedReply,
}

impl Sink {
    pub(super) fn started(&mut self, path: Option<&str>, format: EditFormat) {
        self.events.push(StreamEvent::EditStarted { path: path.map(str::to_owned), format });
    }

    pub(super) fn line(&mut self, kind: LineKind, text: &str) {
        self.events.push(StreamEvent::EditLine { kind, text: text.to_owned() });
    }

    pub(super) fn ended(&mut self, complete: bool) {
        self.events.push(StreamEvent::EditEnded { complete });
    }
}

/// What the line after this one belongs to.
#[derive(Debug)]
enum State {
    Outside,
    Code(CodeBlock),
    Search(SearchBlock),
    Diff(DiffBlock),
    Patch(PatchBlock),
}

/// An incremental reader of one reply.
#[derive(Debug)]
pub struct EditStream {
    choice: FormatChoice,
    partial: String,
    /// 1-based number of the line that is being read.
    number: usize,
    /// The two lines before it, whatever they belonged to.
    before: [String; 2],
    /// The file that a block without a name of its own belongs to.
    name: Option<String>,
    fence: Option<Fence>,
    state: State,
    sink: Sink,
}

/// Reads a whole reply.
pub fn parse(reply: &str, choice: FormatChoice) -> ParsedReply {
    let mut stream = EditStream::new(choice);
    stream.push(reply);
    stream.finish()
}

impl EditStream {
    /// A reader for the given formats.
    pub fn new(choice: FormatChoice) -> Self {
        Self {
            choice,
            partial: String::new(),
            number: 0,
            before: Default::default(),
            name: None,
            fence: None,
            state: State::Outside,
            sink: Sink::default(),
        }
    }

    /// Reads the next piece of the reply, cut anywhere.
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

    /// The events since the last call.
    pub fn events(&mut self) -> Vec<StreamEvent> {
        std::mem::take(&mut self.sink.events)
    }

    /// The unfinished last line, which no event has told of yet.
    pub fn partial_line(&self) -> &str {
        &self.partial
    }

    /// The edits read to the end so far.
    pub fn finished_edits(&self) -> &[Edit] {
        &self.sink.reply.edits
    }

    /// Ends the reply.
    pub fn finish(mut self) -> ParsedReply {
        // A last line without its newline, inside an open fence, may have been cut.
        let cut = !self.partial.is_empty();
        if cut {
            let line = std::mem::take(&mut self.partial);
            self.read(&line);
        }
        match std::mem::replace(&mut self.state, State::Outside) {
            State::Outside => {}
            State::Code(block) => block.finish(false, cut, self.number, &mut self.sink),
            State::Search(block) => block.abandon(self.number, &mut self.sink),
            State::Diff(block) => block.finish(false, cut, self.number, &mut self.sink),
            State::Patch(block) => block.finish(false, self.number, &mut self.sink),
        }
        let mut reply = self.sink.reply;
        reply.edits.sort_by_key(|edit| edit.reply_lines.0);
        keep_one_unnamed(&mut reply.edits);
        if self.choice == FormatChoice::Auto {
            drop_illustrations(&mut reply.edits);
        }
        reply
    }

    fn read(&mut self, line: &str) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.number += 1;
        self.state = match std::mem::replace(&mut self.state, State::Outside) {
            State::Outside => self.outside(line),
            State::Code(block) => self.code(block, line),
            State::Search(block) => self.search(block, line),
            State::Diff(block) => self.diff(block, line),
            State::Patch(block) => self.patch(block, line),
        };
        self.before.swap(0, 1);
        self.before[1].clear();
        self.before[1].push_str(line);
    }

    /// The line that starts an edit, wherever it stands; `None` when it starts none.
    fn start(&mut self, line: &str) -> Option<State> {
        if self.choice.reads_search()
            && let Some((width, tail)) = marker::search_start(line)
        {
            let own = name::file_name(tail);
            let fenced = own.is_none() && self.fence.is_some() && name::file_name(&self.before[1]).is_some();
            self.name = own.or_else(|| self.name_above()).or(self.name.take());
            let format = if fenced { EditFormat::DiffFenced } else { EditFormat::Diff };
            return Some(State::Search(SearchBlock::new(
                self.name.clone(),
                format,
                width,
                self.number,
                &mut self.sink,
            )));
        }
        if self.choice.reads(EditFormat::Patch)
            && (line.starts_with("*** Begin Patch") || PatchBlock::starts_file(line))
        {
            let mut block = PatchBlock::new(self.number);
            block.read(line, self.number, &mut self.sink);
            return Some(State::Patch(block));
        }
        if self.choice.reads(EditFormat::Udiff)
            && let Some(to) = marker::header_path(line, "+++")
            && let Some(from) = marker::header_path(&self.before[1], "---")
        {
            return Some(State::Diff(DiffBlock::with_header(from, to, self.fence.is_some())));
        }
        None
    }

    fn outside(&mut self, line: &str) -> State {
        if let Some(state) = self.start(line) {
            return state;
        }
        if let Some(fence) = &self.fence {
            if fence.closed_by(line) {
                self.fence = None;
                return State::Outside;
            }
            if self.choice.reads(EditFormat::Udiff) && line.starts_with("@@") && fence.is_diff() {
                return self.bare_diff(line);
            }
        }
        if let Some(fence) = Fence::read(line) {
            return self.open(fence);
        }
        if self.choice.reads(EditFormat::Udiff) && line.starts_with("@@") && self.name_above().is_some() {
            return self.bare_diff(line);
        }
        self.sink.events.push(StreamEvent::Prose(line.to_owned()));
        State::Outside
    }

    /// A hunk without file headers: the name above the fence, or the last one.
    fn bare_diff(&mut self, line: &str) -> State {
        let mut block =
            DiffBlock::without_header(self.name_above().or_else(|| self.name.clone()), self.fence.is_some());
        block.read(line, self.number, &mut self.sink);
        State::Diff(block)
    }

    fn open(&mut self, fence: Fence) -> State {
        let above = self.name_above();
        let written = name::in_info(&fence.info).or(above);
        let shell = fence.is_shell();
        let diff = fence.is_diff() && self.choice.reads(EditFormat::Udiff);
        let whole_only = self.choice == FormatChoice::Only(EditFormat::Whole);
        let path = match (whole_only, written) {
            (_, Some(path)) => Some(path),
            (true, None) => name::mentioned(&self.before[1]),
            (false, None) => None,
        };
        if path.is_some() && !shell {
            self.name.clone_from(&path);
        }
        self.fence = Some(fence.clone());
        if diff {
            return State::Diff(DiffBlock::without_header(path, true));
        }
        let whole = !shell && self.choice.reads(EditFormat::Whole) && (path.is_some() || whole_only);
        State::Code(CodeBlock::new(fence, path, whole, self.number))
    }

    fn code(&mut self, mut block: CodeBlock, line: &str) -> State {
        // Only the head of a fence says what it holds: a complete file may well quote other formats further down.
        if (block.undecided() || self.choice != FormatChoice::Auto)
            && let Some(state) = self.start(line)
        {
            return state;
        }
        let bare = block.undecided() && line.starts_with("@@") && self.choice.reads(EditFormat::Udiff);
        if bare && !block.is_whole_only(self.choice) {
            return self.bare_diff(line);
        }
        if block.read(line, &mut self.sink) {
            self.fence = None;
            block.finish(true, false, self.number, &mut self.sink);
            return State::Outside;
        }
        State::Code(block)
    }

    fn search(&mut self, mut block: SearchBlock, line: &str) -> State {
        if marker::search_start(line).is_some() {
            block.abandon(self.number.saturating_sub(1), &mut self.sink);
            return self.start(line).unwrap_or(State::Outside);
        }
        if block.read(line, self.number, &mut self.sink) { State::Outside } else { State::Search(block) }
    }

    fn diff(&mut self, mut block: DiffBlock, line: &str) -> State {
        let closes = self.fence.as_ref().is_some_and(|fence| fence.closed_by(line));
        if closes {
            self.fence = None;
            block.finish(true, false, self.number, &mut self.sink);
            return State::Outside;
        }
        // An indented fence is context of a diff of a Markdown file.
        if let Some(fence) = Fence::read(line).filter(|_| !line.starts_with(' ')) {
            block.finish(false, false, self.number, &mut self.sink);
            return self.open(fence);
        }
        let other = marker::search_start(line).is_some() || line.starts_with("*** Begin Patch");
        if other && self.choice == FormatChoice::Auto {
            block.finish(true, false, self.number.saturating_sub(1), &mut self.sink);
            return self.start(line).unwrap_or(State::Outside);
        }
        if block.read(line, self.number, &mut self.sink) {
            return State::Diff(block);
        }
        block.finish(true, false, self.number.saturating_sub(1), &mut self.sink);
        self.outside(line)
    }

    fn patch(&mut self, mut block: PatchBlock, line: &str) -> State {
        let closes = self.fence.as_ref().is_some_and(|fence| fence.closed_by(line));
        if closes {
            self.fence = None;
            return State::Patch(block);
        }
        if block.read(line, self.number, &mut self.sink) {
            block.finish(true, self.number, &mut self.sink);
            return State::Outside;
        }
        State::Patch(block)
    }

    /// The file name on one of the two lines above, skipping a fence or one blank line.
    fn name_above(&self) -> Option<String> {
        let [far, near] = &self.before;
        if let Some(name) = name::file_name(near) {
            return Some(name);
        }
        if let Some(fence) = Fence::read(near) {
            return name::in_info(&fence.info).or_else(|| name::file_name(far)).or_else(|| name::mentioned(far));
        }
        if near.trim().is_empty() {
            return name::file_name(far);
        }
        // Only search blocks may take a name from a sentence; a fence after a sentence is usually an example.
        None
    }
}

/// Where a reply edits a file by search block or diff, a plain fence under the same name only illustrates.
fn drop_illustrations(edits: &mut Vec<Edit>) {
    let whole = |edit: &Edit| edit.format == EditFormat::Whole;
    let edited: Vec<Option<String>> = edits.iter().filter(|edit| !whole(edit)).map(|edit| edit.path.clone()).collect();
    edits.retain(|edit| !whole(edit) || !edited.contains(&edit.path));
}

/// A whole file without a name counts only when it is the only whole file of the reply.
fn keep_one_unnamed(edits: &mut Vec<Edit>) {
    let whole = edits.iter().filter(|edit| matches!(edit.change, Change::Whole(_))).count();
    if whole > 1 {
        edits.retain(|edit| edit.path.is_some() || !matches!(edit.change, Change::Whole(_)));
    }
}
