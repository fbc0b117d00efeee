//! Puts a request together: chunks in the order in which they are sent, each with its tokens.
//!
//! The order is the one that caches best. A server keeps the beginning of a request for as long as it stays the same, so what
//! changes least comes first:
//!
//! - **instructions and example**: the same for a whole conversation;
//! - **read-only files**: change when the user takes one in or out;
//! - **repo map**: with the refresh modes `files` and `manual` it stands still with the files of the chat. In `auto` it
//!   follows each message; behind the history it would then cost the server's cache nothing, but in the other modes the
//!   history, which grows with every turn, would push it out of the cache each time. The history is a few thousand tokens at
//!   most, so the map stands before it, and whoever wants the cache lets it stand still;
//! - **passages** of the repository that `@codebase` found: they stand still while questions follow each other, and more of them are
//!   added behind. Behind the history, which grows with every turn, they would be read anew each time, and they are larger;
//! - **history**: grows at its end, and its beginning is folded rarely;
//! - **files that may be edited**: change with every answer that is written;
//! - **what was said since**: the rounds about edits that found no place. The files have not changed meanwhile, so that a
//!   round costs what is new in it; then the message, and the reminder.
//!
//! Roles alternate: what is put before the model's eyes is followed by a short acknowledgement, and a model without a
//! system role gets its instructions in the same way.

use std::sync::Arc;

use super::budget::{BudgetPlan, Window};
use super::chunk::{Chunk, ChunkKind};
use super::fence::fence_for;
use super::instructions::{Instructions, as_turns, instructions};
use super::mode::{Surroundings, Task};
use super::passages::{ContextPassage, SentPassage, all_written, sent};
use super::prompt::{Prompt, PromptSecret};
use super::prompts::Prompts;
use rhumb_index::retrieval::{Related, related_text};
use rhumb_llm::models::{Caching, Model, Reminder};
use rhumb_llm::{Image, Message, Role};
use rhumb_text::sanitize;
use rhumb_text::secrets::{Secret, masked, secrets};
use rhumb_tokens::{ImageCost, TokenCounter};

/// Tokens that a chat API adds to every message for its role and borders (OpenAI's published figure for its models; for
/// others the calibration takes in the difference).
pub(super) const TOKENS_PER_MESSAGE: usize = 4;

/// Tokens with which every answer is begun (OpenAI's figure).
const TOKENS_OF_ANSWER: usize = 3;

/// A file whose text is part of the request.
#[derive(Debug, Clone)]
pub struct ContextFile {
    /// Path under the root.
    pub path: String,
    /// Its text as read for this request.
    pub text: Arc<str>,
    /// Whether the model may edit it.
    pub read_only: bool,
}

/// Everything that a request is made from, the repo map aside.
#[derive(Debug, Clone, Copy)]
pub struct ContextInputs<'a> {
    /// What the model is asked for.
    pub task: Task,
    /// The model.
    pub model: &'a Model,
    /// The window of the model, or a smaller one that turned out to hold.
    pub window: Window,
    /// How that window is shared out.
    pub plan: BudgetPlan,
    /// Our words.
    pub prompts: &'a Prompts,
    /// Where the developer sits.
    pub surroundings: &'a Surroundings,
    /// Files in the chat, both kinds, in the order they were added.
    pub files: &'a [ContextFile],
    /// Pictures in the chat.
    pub images: &'a [Image],
    /// Passages of the repository, those that are worth most first.
    pub passages: &'a [ContextPassage],
    /// What is one reference away from those of the message.
    pub related: &'a [Related],
    /// Earlier turns, oldest first.
    pub history: &'a [Message],
    /// What was said of this request before, oldest first: the request and the answers that had to be mended.
    pub exchange: &'a [Message],
    /// The message about to be sent.
    pub draft: &'a str,
    /// Whether the oldest turns may be left out if nothing else helps. It is told as [`super::Trimmed::History`].
    pub may_forget: bool,
    /// Whether keys that stand in a text are sent as they are. Else masks stand in their place.
    pub send_secrets: bool,
}

/// What is left out of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cuts {
    /// The reminder.
    pub(super) reminder: bool,
    /// All passages but so many; `None` for none of them.
    pub(super) passages: Option<usize>,
    /// What is related to the passages. It goes with the first of them that goes.
    pub(super) related: bool,
    /// So many messages at the beginning of the history.
    pub(super) head: usize,
}

/// Puts the request together, with everything in it, whether it fits or not. `map` is the text of the repo map; empty for
/// none.
pub fn assemble(inputs: &ContextInputs<'_>, map: &str, counter: &dyn TokenCounter) -> Prompt {
    assemble_cut(inputs, map, Cuts::default(), counter)
}

/// Puts the request together without what `cuts` names.
pub(super) fn assemble_cut(inputs: &ContextInputs<'_>, map: &str, cuts: Cuts, counter: &dyn TokenCounter) -> Prompt {
    let mut desk = Desk::new(inputs, counter);
    let fence = fence_for(inputs.files.iter().filter(|file| !file.read_only).map(|file| &*file.text));
    let mut told = instructions(&inputs.task, inputs.model, inputs.prompts, inputs.surroundings, &fence);
    let reminder = told.reminder.take().filter(|_| !cuts.reminder);
    desk.instructions(told);
    desk.mark_cached();
    let before = desk.messages.len();
    desk.read_only_files();
    if !map.is_empty() {
        let text = format!("{}\n\n{map}", inputs.prompts.text("map"));
        desk.shown(vec![(ChunkKind::RepoMap, "repo map", text)]);
    }
    desk.passages(cuts);
    desk.mark_cached_since(before);
    let before = desk.messages.len();
    desk.history(inputs.history.get(cuts.head..).unwrap_or_default());
    desk.mark_cached_since(before);
    let before = desk.messages.len();
    desk.chat_files(&fence);
    desk.mark_cached_since(before);
    desk.current(reminder);
    let tokens = desk.chunks.iter().map(|chunk| chunk.tokens).sum::<usize>() + TOKENS_OF_ANSWER;
    Prompt {
        tokens,
        chunks: desk.chunks,
        messages: desk.messages,
        passages: desk.passages,
        secrets: desk.secrets,
        error: desk.error,
        exact: counter.exact(),
        window: inputs.window,
        plan: inputs.plan,
        trimmed: Vec::new(),
        overfull: None,
    }
}

type Piece<'t> = (ChunkKind, &'t str, String);

/// The request while it is being put together.
struct Desk<'a> {
    inputs: &'a ContextInputs<'a>,
    counter: &'a dyn TokenCounter,
    chunks: Vec<Chunk>,
    messages: Vec<Message>,
    passages: Vec<SentPassage>,
    secrets: Vec<PromptSecret>,
    error: usize,
}

impl<'a> Desk<'a> {
    fn new(inputs: &'a ContextInputs<'a>, counter: &'a dyn TokenCounter) -> Self {
        let (chunks, messages, passages, secrets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { inputs, counter, chunks, messages, passages, secrets, error: 0 }
    }

    /// A text of the next chunk as it is sent: keys in it are noted, and masked.
    fn cleaned(&mut self, text: String, title: &str) -> String {
        let found = secrets(&text);
        if found.is_empty() {
            return text;
        }
        let (chunk, is_masked) = (self.chunks.len(), !self.inputs.send_secrets);
        let noted = |Secret { kind, .. }: Secret| PromptSecret {
            chunk,
            place: title.to_owned(),
            line: None,
            kind,
            masked: is_masked,
        };
        self.secrets.extend(found.into_iter().map(noted));
        if is_masked { masked(&text).into_owned() } else { text }
    }

    /// Notes in which lines of a file the keys stand that were just found in its chunk.
    fn number_secrets(&mut self, before: usize, file: &ContextFile) {
        let lines = self.secrets.iter_mut().skip(before).zip(secrets(&file.text));
        lines.for_each(|(noted, found)| noted.line = Some(found.line));
    }

    /// Adds a chunk of so many tokens to the message that comes next.
    fn chunk(&mut self, kind: ChunkKind, title: &str, role: Role, tokens: usize, text: String) {
        let (title, message) = (title.to_owned(), self.messages.len());
        self.chunks.push(Chunk { kind, title, role, message, tokens, text, cached: false });
    }

    fn count(&mut self, text: &str) -> usize {
        let count = self.counter.measure(text);
        self.error += count.error;
        count.tokens
    }

    /// A message of one or more chunks, which follow each other without anything between. Words can join at a border, so
    /// that a chunk counts for what the message grows by.
    fn message(&mut self, role: Role, pieces: Vec<Piece<'_>>) {
        let mut content = String::new();
        let mut counted = 0;
        let mut border = TOKENS_PER_MESSAGE;
        for (kind, title, text) in pieces {
            let text = self.cleaned(text, title);
            content.push_str(&text);
            let now = self.count(&content);
            self.chunk(kind, title, role, now.saturating_sub(counted) + border, text);
            counted = now.max(counted);
            border = 0;
        }
        self.messages.push(Message::new(role, content));
    }

    /// Something put before the model's eyes, which it is taken to have noted: the turns then alternate, as some servers
    /// demand.
    fn shown(&mut self, pieces: Vec<Piece<'_>>) {
        let first = self.chunks.len();
        self.message(Role::User, pieces);
        self.noted(first);
    }

    /// The acknowledgement; its tokens count with the chunk at `first`.
    fn noted(&mut self, first: usize) {
        let noted = self.inputs.prompts.text("noted");
        let tokens = self.count(noted) + TOKENS_PER_MESSAGE;
        if let Some(chunk) = self.chunks.get_mut(first) {
            chunk.tokens += tokens;
        }
        self.messages.push(Message::new(Role::Assistant, noted));
    }

    fn instructions(&mut self, told: Instructions) {
        let turns = as_turns(self.inputs.model);
        let mut pieces = vec![(ChunkKind::System, "system", told.system)];
        if let Some(example) = told.example.as_ref().filter(|_| !turns) {
            let lead =
                if told.example_lead.is_empty() { String::new() } else { format!("\n\n{}\n\n", told.example_lead) };
            pieces.push((ChunkKind::Examples, "example", format!("{lead}{}", example.answer)));
        }
        if self.inputs.model.capabilities.system_role {
            self.message(Role::System, pieces);
        } else {
            self.shown(pieces);
        }
        if let Some(example) = told.example.filter(|_| turns) {
            let said = [
                Message::new(Role::User, example.request),
                Message::new(Role::Assistant, example.answer),
                Message::new(Role::User, told.example_end),
                Message::new(Role::Assistant, self.inputs.prompts.text("noted")),
            ];
            self.said(ChunkKind::Examples, "example", &said);
        }
    }

    /// Messages as they were said, as one chunk.
    fn said(&mut self, kind: ChunkKind, title: &str, said: &[Message]) {
        let clean = |message: &Message| {
            let content = self.cleaned(message.content.clone(), title);
            Message { content, ..message.clone() }
        };
        let said: Vec<Message> = said.iter().map(clean).collect();
        let Some(first) = said.first() else { return };
        let text = said.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
        let tokens = said.iter().map(|message| self.count(&message.content) + TOKENS_PER_MESSAGE).sum();
        self.chunk(kind, title, first.role, tokens, text);
        self.messages.extend(said);
    }

    fn history(&mut self, history: &[Message]) {
        self.said(ChunkKind::History, "history", history);
    }

    /// So many of the passages, or all with what is related to them. That stands last: it belongs to one message alone.
    fn passages(&mut self, cuts: Cuts) {
        let (passages, related) = (self.inputs.passages, self.inputs.related);
        let shown = passages.get(..cuts.passages.unwrap_or(passages.len()).min(passages.len())).unwrap_or_default();
        if !shown.is_empty() {
            let mut text = format!("{}\n\n{}", self.inputs.prompts.text("passages"), all_written(shown));
            if shown.len() == passages.len() && !related.is_empty() && !cuts.related {
                text.push_str(&related_text(related));
            }
            self.shown(vec![(ChunkKind::Passages, "passages", text)]);
            self.passages = sent(shown, self.counter);
        }
    }

    fn read_only_files(&mut self) {
        let files = self.inputs.files.iter().filter(|file| file.read_only);
        let texts: Vec<Shown<'_>> =
            files.map(|file| Shown { file, fence: fence_for([&*file.text]), kind: ChunkKind::ReadOnlyFile }).collect();
        self.files(&texts, self.inputs.prompts.text("read-only"), &[]);
    }

    fn chat_files(&mut self, fence: &str) {
        let files = self.inputs.files.iter().filter(|file| !file.read_only);
        let texts: Vec<Shown<'_>> =
            files.map(|file| Shown { file, fence: fence.to_owned(), kind: ChunkKind::ChatFile }).collect();
        let lead = if self.inputs.task.mode.edits() { "chat-files" } else { "shown-files" };
        self.files(&texts, self.inputs.prompts.text(lead), self.inputs.images);
    }

    /// Files and pictures as one message, each a chunk. A file ends with blank lines and the next begins with its path,
    /// where no word reaches across: files count for themselves, so that one that changes is counted alone.
    fn files(&mut self, files: &[Shown<'_>], lead: &str, images: &[Image]) {
        if files.is_empty() && images.is_empty() {
            return;
        }
        let first = self.chunks.len();
        let mut content = String::with_capacity(files.iter().map(|shown| shown.file.text.len() + 128).sum());
        // The words before the files count with the first of them: without any they would not be there.
        let mut lead = if files.is_empty() || lead.is_empty() { String::new() } else { format!("{lead}\n\n") };
        let mut border = TOKENS_PER_MESSAGE;
        for shown in files {
            let before = self.secrets.len();
            let text = self.cleaned(shown.text(&std::mem::take(&mut lead)), &shown.file.path);
            if self.secrets.len() > before {
                self.number_secrets(before, shown.file);
            }
            content.push_str(&text);
            let tokens = self.count(&text) + std::mem::take(&mut border);
            self.chunk((shown.kind)(shown.file.path.clone()), &shown.file.path, Role::User, tokens, text);
        }
        let cost = ImageCost::for_model(&self.inputs.model.name);
        for image in images {
            let tokens = cost.tokens(&image.bytes) + std::mem::take(&mut border);
            self.chunk(ChunkKind::Image(image.name.clone()), &image.name, Role::User, tokens, String::new());
        }
        self.messages.push(Message { images: images.to_vec(), ..Message::new(Role::User, content) });
        self.noted(first);
    }

    /// What was said of this request, the message, and the reminder.
    fn current(&mut self, reminder: Option<String>) {
        if !self.inputs.exchange.is_empty() {
            self.said(ChunkKind::Current, "this request so far", self.inputs.exchange);
        }
        let draft = (ChunkKind::Current, "draft", self.inputs.draft.to_owned());
        let model = self.inputs.model;
        let own_message = model.reminder == Reminder::System && model.capabilities.system_role;
        match reminder {
            Some(reminder) if own_message => {
                self.message(Role::User, vec![draft]);
                self.message(Role::System, vec![(ChunkKind::Reminder, "reminder", reminder)]);
            }
            Some(reminder) => {
                let reminder = (ChunkKind::Reminder, "reminder", format!("\n\n{reminder}"));
                self.message(Role::User, vec![draft, reminder]);
            }
            None => self.message(Role::User, vec![draft]),
        }
    }

    /// Marks the last message so far: the server keeps the request up to here.
    fn mark_cached(&mut self) {
        if !self.inputs.task.mark_cache || self.inputs.model.capabilities.caching != Caching::Marked {
            return;
        }
        if let (Some(message), Some(chunk)) = (self.messages.last_mut(), self.chunks.last_mut()) {
            (message.cached, chunk.cached) = (true, true);
        }
    }

    /// Marks the last message so far if there is any since `before`.
    fn mark_cached_since(&mut self, before: usize) {
        if self.messages.len() > before {
            self.mark_cached();
        }
    }
}

/// A file as it is shown.
struct Shown<'a> {
    file: &'a ContextFile,
    fence: String,
    kind: fn(String) -> ChunkKind,
}

impl Shown<'_> {
    fn text(&self, lead: &str) -> String {
        let Self { file, fence, .. } = self;
        let newline = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
        [lead, &sanitize::visible_line(&file.path), "\n", fence, "\n", &file.text, newline, fence, "\n\n"].concat()
    }
}
