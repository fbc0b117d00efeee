//! Assembles a request: its sections in the order in which they are sent, each with its tokens.
//!
//! The order is chosen for prompt caching. A server caches a prefix of the request that stays the same, so sections that change
//! least come first:
//!
//! - **instructions and example**: constant during a conversation;
//! - **read-only files**: change when the user adds or drops one;
//! - **repo map**: with the refresh modes `files` and `manual` it changes only with the files of the chat. In `auto` it follows
//!   each message, which invalidates the cache of everything after it. If it came after the history, it would be cached in no
//!   mode, because the history grows with every turn;
//! - **passages** that `@codebase` found: new ones are added at the end, so a series of questions keeps the earlier ones. If they
//!   came after the history, they would be processed again for each turn, and they are larger than the history;
//! - **history**: grows at its end, and its beginning is summarized rarely;
//! - **editable files**: change with every applied answer;
//! - **exchange since**: rounds about edits that could not be located. The files have not changed, so a round costs only the new
//!   messages; then the message and the reminder.
//!
//! Roles alternate: material is followed by a short acknowledgement, and a model without a system role gets its instructions in
//! the same way.

use super::budget::{BudgetPlan, Window};
use super::chunks::{ContextChunk, sent_chunks, written_chunks};
use super::excerpt::fence_for;
use super::instructions::{Instructions, example_as_turns, instructions};
use super::mode::{Task, UserEnvironment};
use super::prompt::{Prompt, PromptSecret, Section, SectionKind};
use super::prompts::Prompts;
use rhumb_agent::protocol;
use rhumb_index::retrieval::{Related, related_text};
use rhumb_llm::models::{Caching, Model, Reminder};
use rhumb_llm::{Image, Message, Role, Tool, ToolResult};
use rhumb_text::sanitize;
use rhumb_text::secrets::{Secret, masked, secrets};
use rhumb_tokens::{ImageCost, TokenCounter};
use std::sync::Arc;

/// Tokens that a chat API adds to every message (OpenAI's published figure; calibration corrects it for other models).
pub(super) const TOKENS_PER_MESSAGE: usize = 4;

/// Tokens that start every answer (OpenAI's figure).
const TOKENS_PER_ANSWER: usize = 3;

/// Tokens that a tool call or a result adds in addition to its text: ids, names and marks (measured with OpenAI's models).
const TOKENS_PER_CALL: usize = 12;

/// The number of messages at the end of the agent loop that are marked for caching.
const MARKED_STEPS: usize = 2;

/// A file whose text is in the request.
#[derive(Debug, Clone)]
pub struct ContextFile {
    /// The path, relative to the root.
    pub path: String,
    /// The text, as read for this request.
    pub text: Arc<str>,
    /// Whether the model may edit the file.
    pub read_only: bool,
}

/// The inputs of a request, without the repo map.
#[derive(Debug, Clone, Copy)]
pub struct ContextInputs<'a> {
    /// The task of the model.
    pub task: Task,
    /// The model.
    pub model: &'a Model,
    /// The context window of the model, or a smaller one that was found to work.
    pub window: Window,
    /// The budgets of the context window.
    pub plan: BudgetPlan,
    /// The prompts.
    pub prompts: &'a Prompts,
    /// The environment of the user.
    pub environment: &'a UserEnvironment,
    /// Files in the chat, editable and read-only, in the order in which they were added.
    pub files: &'a [ContextFile],
    /// Images in the chat.
    pub images: &'a [Image],
    /// Passages of the repository, best first.
    pub passages: &'a [ContextChunk],
    /// Definitions that are one reference away from the passages of the message.
    pub related: &'a [Related],
    /// Earlier turns, oldest first.
    pub history: &'a [Message],
    /// The messages of this request so far, oldest first: the request, and answers with follow-ups.
    pub exchange: &'a [Message],
    /// The message to send.
    pub draft: &'a str,
    /// Whether the oldest turns may be left out if nothing else suffices. Reported as [`super::Omission::History`].
    pub may_drop_history: bool,
    /// Whether secrets are sent without masking.
    pub send_secrets: bool,
    /// The tools that the model may call.
    pub tools: Option<OfferedTools<'a>>,
}

/// The tools of a request.
#[derive(Debug, Clone, Copy)]
pub struct OfferedTools<'a> {
    /// The tools.
    pub tools: &'a [Tool],
    /// Whether calls are written as text, because the model or its server has no tool calls.
    pub as_text: bool,
}

/// The sections that are left out of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cuts {
    pub(super) reminder: bool,
    /// The number of passages that are kept; `None` for all.
    pub(super) passages: Option<usize>,
    /// Definitions related to the passages. They are left out before the first passage.
    pub(super) related: bool,
    /// Number of messages left out at the beginning of the history.
    pub(super) head: usize,
}

/// Assembles the request without `cuts`, even if it does not fit. `map` is the text of the repo map; may be empty.
pub(super) fn assemble_cut(inputs: &ContextInputs<'_>, map: &str, cuts: Cuts, counter: &dyn TokenCounter) -> Prompt {
    let prompt = Prompt { exact: counter.exact(), window: inputs.window, plan: inputs.plan, ..Prompt::default() };
    let mut assembler = Assembler { inputs, counter, prompt };
    let fence = fence_for(inputs.files.iter().filter(|file| !file.read_only).map(|file| &*file.text));
    let mut instructions = instructions(&inputs.task, inputs.model, inputs.prompts, inputs.environment, &fence);
    let reminder = instructions.reminder.take().filter(|_| !cuts.reminder);
    assembler.instructions(instructions);
    let instructions_end = assembler.mark_cached_since(0);
    assembler.read_only_files();
    if !map.is_empty() {
        let text = format!("{}\n\n{map}", inputs.prompts.text("map"));
        assembler.material(vec![(SectionKind::RepoMap, "repo map", text)]);
    }
    assembler.passages(cuts);
    let material_end = assembler.mark_cached_since(instructions_end);
    assembler.conversation(SectionKind::History, "history", inputs.history.get(cuts.head..).unwrap_or_default());
    let history_end = assembler.mark_cached_since(material_end);
    assembler.chat_files(&fence);
    assembler.mark_cached_since(history_end);
    assembler.current(reminder);
    let mut prompt = assembler.prompt;
    prompt.tokens = prompt.sections.iter().map(|section| section.tokens).sum::<usize>() + TOKENS_PER_ANSWER;
    prompt
}

/// The kind, title and text of a section.
type Part<'t> = (SectionKind, &'t str, String);

struct Assembler<'a> {
    inputs: &'a ContextInputs<'a>,
    counter: &'a dyn TokenCounter,
    prompt: Prompt,
}

impl Assembler<'_> {
    /// The text of the next section, ready to send: secrets in it are recorded and masked.
    fn masked(&mut self, text: String, title: &str) -> String {
        let found = secrets(&text);
        if found.is_empty() {
            return text;
        }
        let (section, is_masked) = (self.prompt.sections.len(), !self.inputs.send_secrets);
        let record = |Secret { kind, .. }: Secret| PromptSecret {
            section,
            title: title.to_owned(),
            line: None,
            kind,
            masked: is_masked,
        };
        self.prompt.secrets.extend(found.into_iter().map(record));
        if is_masked { masked(&text).into_owned() } else { text }
    }

    /// Records the lines of a file in which the last secrets were found.
    fn number_secrets(&mut self, before: usize, file: &ContextFile) {
        let lines = self.prompt.secrets.iter_mut().skip(before).zip(secrets(&file.text));
        lines.for_each(|(secret, found)| secret.line = Some(found.line));
    }

    fn section(&mut self, kind: SectionKind, title: &str, role: Role, tokens: usize, text: String) {
        let (title, message) = (title.to_owned(), self.prompt.messages.len());
        self.prompt.sections.push(Section { kind, title, role, message, tokens, text, cached: false });
    }

    fn count(&mut self, text: &str) -> usize {
        let count = self.counter.measure(text);
        self.prompt.error += count.error;
        count.tokens
    }

    /// A message of one or more adjacent sections. Tokens can span a border, so a section counts for the growth of the message.
    fn message(&mut self, role: Role, parts: Vec<Part<'_>>) {
        let mut content = String::new();
        let mut counted = 0;
        let mut border = TOKENS_PER_MESSAGE;
        for (kind, title, text) in parts {
            let text = self.masked(text, title);
            content.push_str(&text);
            let now = self.count(&content);
            self.section(kind, title, role, now.saturating_sub(counted) + border, text);
            counted = now.max(counted);
            border = 0;
        }
        self.prompt.messages.push(Message::new(role, content));
    }

    /// Material with an acknowledgement, because some servers require that roles alternate.
    fn material(&mut self, parts: Vec<Part<'_>>) {
        let first = self.prompt.sections.len();
        self.message(Role::User, parts);
        self.acknowledgement(first);
    }

    /// The acknowledgement; its tokens count for the section `first`.
    fn acknowledgement(&mut self, first: usize) {
        let text = self.inputs.prompts.text("noted");
        let tokens = self.count(text) + TOKENS_PER_MESSAGE;
        if let Some(section) = self.prompt.sections.get_mut(first) {
            section.tokens += tokens;
        }
        self.prompt.messages.push(Message::new(Role::Assistant, text));
    }

    fn instructions(&mut self, instructions: Instructions) {
        let turns = example_as_turns(self.inputs.model);
        let mut parts = vec![(SectionKind::System, "system", instructions.system)];
        if let Some(offered) = self.inputs.tools.filter(|offered| offered.as_text) {
            parts.push((SectionKind::Tools, "tools", format!("\n\n{}", protocol::instructions(offered.tools))));
        }
        if let Some(example) = instructions.example.as_ref().filter(|_| !turns) {
            let lead = if instructions.example_lead.is_empty() {
                String::new()
            } else {
                format!("\n\n{}\n\n", instructions.example_lead)
            };
            parts.push((SectionKind::Examples, "example", format!("{lead}{}", example.answer)));
        }
        if self.inputs.model.capabilities.system_role {
            self.message(Role::System, parts);
        } else {
            self.material(parts);
        }
        if let Some(offered) = self.inputs.tools.filter(|offered| !offered.as_text) {
            self.tools(offered.tools);
        }
        if let Some(example) = instructions.example.filter(|_| turns) {
            let messages = [
                Message::new(Role::User, example.request),
                Message::new(Role::Assistant, example.answer),
                Message::new(Role::User, instructions.example_end),
                Message::new(Role::Assistant, self.inputs.prompts.text("noted")),
            ];
            self.conversation(SectionKind::Examples, "example", &messages);
        }
    }

    /// The definitions of the tools. They are sent beside the messages, and belong to the instructions.
    fn tools(&mut self, tools: &[Tool]) {
        let define = |tool: &Tool| {
            let Tool { name, description, parameters, .. } = tool;
            serde_json::json!({ "name": name, "description": description, "parameters": parameters }).to_string()
        };
        let text = tools.iter().map(define).collect::<Vec<_>>().join("\n");
        let tokens = self.count(&text) + TOKENS_PER_CALL * tools.len();
        let (kind, title, message) = (SectionKind::Tools, "tools".to_owned(), 0);
        let section = Section { kind, title, role: Role::System, message, tokens, text, cached: false };
        self.prompt.sections.push(section);
        self.prompt.tools = tools.to_vec();
    }

    /// Messages of the conversation, as one section.
    fn conversation(&mut self, kind: SectionKind, title: &str, messages: &[Message]) {
        let masked = |message: &Message| {
            let content = self.masked(message.content.clone(), title);
            Message { content, ..message.clone() }
        };
        let messages: Vec<Message> = messages.iter().map(masked).collect();
        let Some(first) = messages.first() else { return };
        let text = messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
        let tokens = messages.iter().map(|message| self.count(&message.content) + TOKENS_PER_MESSAGE).sum();
        self.section(kind, title, first.role, tokens, text);
        self.prompt.messages.extend(messages);
    }

    /// The first passages, or all of them with related definitions, which come last because they belong to one message only.
    fn passages(&mut self, cuts: Cuts) {
        let (passages, related) = (self.inputs.passages, self.inputs.related);
        let shown = passages.get(..cuts.passages.unwrap_or(passages.len()).min(passages.len())).unwrap_or_default();
        if !shown.is_empty() {
            let mut text = format!("{}\n\n{}", self.inputs.prompts.text("passages"), written_chunks(shown));
            if shown.len() == passages.len() && !related.is_empty() && !cuts.related {
                text.push_str(&related_text(related));
            }
            self.material(vec![(SectionKind::Passages, "passages", text)]);
            self.prompt.passages = sent_chunks(shown, self.counter);
        }
    }

    fn read_only_files(&mut self) {
        let files = self.inputs.files.iter().filter(|file| file.read_only);
        let texts: Vec<SentFile<'_>> = files
            .map(|file| SentFile { file, fence: fence_for([&*file.text]), kind: SectionKind::ReadOnlyFile })
            .collect();
        self.files(&texts, self.inputs.prompts.text("read-only"), &[]);
    }

    fn chat_files(&mut self, fence: &str) {
        let files = self.inputs.files.iter().filter(|file| !file.read_only);
        let texts: Vec<SentFile<'_>> =
            files.map(|file| SentFile { file, fence: fence.to_owned(), kind: SectionKind::ChatFile }).collect();
        let lead = if self.inputs.task.mode.edits() { "chat-files" } else { "shown-files" };
        self.files(&texts, self.inputs.prompts.text(lead), self.inputs.images);
    }

    /// Files and images as one message, each a section. A file ends with a blank line and the next begins with its path, so no
    /// token spans a border, and each file can be counted alone.
    fn files(&mut self, files: &[SentFile<'_>], lead: &str, images: &[Image]) {
        if files.is_empty() && images.is_empty() {
            return;
        }
        let first = self.prompt.sections.len();
        let mut content = String::with_capacity(files.iter().map(|sent| sent.file.text.len() + 128).sum());
        // The introduction counts for the first file, because it is only sent with files.
        let mut lead = if files.is_empty() || lead.is_empty() { String::new() } else { format!("{lead}\n\n") };
        let mut border = TOKENS_PER_MESSAGE;
        for sent in files {
            let before = self.prompt.secrets.len();
            let text = self.masked(sent.text(&std::mem::take(&mut lead)), &sent.file.path);
            if self.prompt.secrets.len() > before {
                self.number_secrets(before, sent.file);
            }
            content.push_str(&text);
            let tokens = self.count(&text) + std::mem::take(&mut border);
            self.section((sent.kind)(sent.file.path.clone()), &sent.file.path, Role::User, tokens, text);
        }
        let cost = ImageCost::for_model(&self.inputs.model.name);
        for image in images {
            let tokens = cost.tokens(&image.bytes) + std::mem::take(&mut border);
            self.section(SectionKind::Image(image.name.clone()), &image.name, Role::User, tokens, String::new());
        }
        self.prompt.messages.push(Message { images: images.to_vec(), ..Message::new(Role::User, content) });
        self.acknowledgement(first);
    }

    /// The exchange about this request, the message, and the reminder.
    fn current(&mut self, reminder: Option<String>) {
        if self.inputs.tools.is_some() {
            self.agent_exchange();
            // Between two steps of the agent loop the user has said nothing.
            if self.inputs.draft.is_empty() && !self.inputs.exchange.is_empty() {
                return;
            }
        } else if !self.inputs.exchange.is_empty() {
            self.conversation(SectionKind::Current, "this request so far", self.inputs.exchange);
        }
        let draft = (SectionKind::Current, "draft", self.inputs.draft.to_owned());
        if self.inputs.tools.is_some() {
            // The next step of the loop repeats this message.
            let before = self.prompt.messages.len();
            self.message(Role::User, vec![draft]);
            self.mark_cached_since(before);
            return;
        }
        let model = self.inputs.model;
        let separate = model.reminder == Reminder::System && model.capabilities.system_role;
        match reminder {
            Some(reminder) if separate => {
                self.message(Role::User, vec![draft]);
                self.message(Role::System, vec![(SectionKind::Reminder, "reminder", reminder)]);
            }
            Some(reminder) => {
                let reminder = (SectionKind::Reminder, "reminder", format!("\n\n{reminder}"));
                self.message(Role::User, vec![draft, reminder]);
            }
            None => self.message(Role::User, vec![draft]),
        }
    }

    /// The messages of the agent loop so far: a section for each message of the user, each answer and each result.
    ///
    /// The last two messages of the user are marked for caching: this request stores the prefix up to the last one, and finds
    /// the prefix that the request before it has stored.
    fn agent_exchange(&mut self) {
        let text_protocol = self.inputs.tools.is_some_and(|tools| tools.as_text);
        let mut step = 0;
        for message in self.inputs.exchange {
            let mut sent = Message { tool_results: Vec::new(), content: String::new(), ..message.clone() };
            let mut border = TOKENS_PER_MESSAGE;
            for result in &message.tool_results {
                let title = format!("result of {}", result.name);
                let content = self.masked(result.content.clone(), &title);
                let tokens = self.count(&content) + std::mem::take(&mut border) + TOKENS_PER_CALL;
                self.section(SectionKind::ToolResult(result.id.clone()), &title, Role::User, tokens, content.clone());
                sent.tool_results.push(ToolResult { content, ..result.clone() });
            }
            let (kind, title) = match message.role {
                Role::Assistant => {
                    step += 1;
                    (SectionKind::Step, format!("step {step}"))
                }
                _ => (SectionKind::Current, "message".to_owned()),
            };
            if !message.content.is_empty() || !message.tool_calls.is_empty() {
                for call in &mut sent.tool_calls {
                    call.arguments = self.masked(std::mem::take(&mut call.arguments), &title);
                }
                let calls: Vec<String> =
                    sent.tool_calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
                sent.content = self.masked(message.content.clone(), &title);
                let text = [vec![sent.content.clone()], calls].concat().join("\n");
                let text = text.trim_start_matches('\n').to_owned();
                let overhead = std::mem::take(&mut border) + TOKENS_PER_CALL * message.tool_calls.len();
                let tokens = self.count(&text) + overhead;
                self.section(kind, &title, message.role, tokens, text);
            }
            self.prompt.messages.push(if text_protocol { as_text(sent) } else { sent });
        }
        let wants_marks = self.inputs.task.mark_cache && self.inputs.model.capabilities.caching == Caching::Marked;
        let ends: Vec<usize> = (0..self.prompt.messages.len())
            .rev()
            .take(self.inputs.exchange.len())
            .filter(|at| self.prompt.messages.get(*at).is_some_and(|message| message.role == Role::User))
            .take(MARKED_STEPS)
            .collect();
        for at in ends.into_iter().filter(|_| wants_marks) {
            if let Some(message) = self.prompt.messages.get_mut(at) {
                message.cached = true;
            }
            if let Some(section) = self.prompt.sections.iter_mut().rfind(|section| section.message == at) {
                section.cached = true;
            }
        }
    }

    /// Marks the last message for caching if a message was added after the first `before`. Returns the number of messages.
    fn mark_cached_since(&mut self, before: usize) -> usize {
        let count = self.prompt.messages.len();
        let wants_marks = self.inputs.task.mark_cache && self.inputs.model.capabilities.caching == Caching::Marked;
        if wants_marks
            && count > before
            && let (Some(message), Some(section)) = (self.prompt.messages.last_mut(), self.prompt.sections.last_mut())
        {
            (message.cached, section.cached) = (true, true);
        }
        count
    }
}

/// A message whose calls and results are written as text.
fn as_text(message: Message) -> Message {
    let calls = message.tool_calls.iter().map(|call| {
        let arguments =
            serde_json::from_str(&call.arguments).unwrap_or_else(|_| serde_json::Value::String(call.arguments.clone()));
        protocol::render_call(&call.name, &arguments)
    });
    let results = (!message.tool_results.is_empty()).then(|| protocol::results(&message.tool_results));
    let parts = results.into_iter().chain([message.content.clone()]).chain(calls).filter(|part| !part.is_empty());
    let content = parts.collect::<Vec<_>>().join("\n\n");
    Message { content, tool_calls: Vec::new(), tool_results: Vec::new(), thinking: Vec::new(), ..message }
}

struct SentFile<'a> {
    file: &'a ContextFile,
    fence: String,
    kind: fn(String) -> SectionKind,
}

impl SentFile<'_> {
    fn text(&self, lead: &str) -> String {
        let Self { file, fence, .. } = self;
        let newline = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
        [lead, &sanitize::visible_line(&file.path), "\n", fence, "\n", &file.text, newline, fence, "\n\n"].concat()
    }
}
