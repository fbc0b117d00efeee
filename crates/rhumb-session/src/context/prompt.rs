//! A request as a value: what is sent, its sections, and what was left out.

use super::budget::{BudgetPlan, Window};
use super::chunks::SentChunk;
use rhumb_llm::{Message, Role, Tool};
use std::fmt::{self, Write as _};

/// The kind of a section, in the order in which sections are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionKind {
    /// Instructions, including the rules of the edit format.
    System,
    /// The definitions of the tools, or how calls of them are written.
    Tools,
    /// An example of a request and its answer in the edit format.
    Examples,
    /// A read-only file, by path.
    ReadOnlyFile(String),
    /// The ranked repo map.
    RepoMap,
    /// Passages of the repository.
    Passages,
    /// Earlier turns.
    History,
    /// An editable file, by path.
    ChatFile(String),
    /// An image, by name.
    Image(String),
    /// The message, and the exchange since the files were shown.
    Current,
    /// An answer of the agent loop, with its tool calls.
    Step,
    /// The result of a tool call, by the id of the call.
    ToolResult(String),
    /// A short reminder of the edit format.
    Reminder,
}

impl SectionKind {
    /// The kebab-case name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Tools => "tools",
            Self::Step => "step",
            Self::ToolResult(_) => "tool-result",
            Self::Examples => "examples",
            Self::ReadOnlyFile(_) => "read-only-file",
            Self::RepoMap => "repo-map",
            Self::Passages => "passages",
            Self::History => "history",
            Self::ChatFile(_) => "chat-file",
            Self::Image(_) => "image",
            Self::Current => "current",
            Self::Reminder => "reminder",
        }
    }

    /// The path of a file or the name of an image.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::ReadOnlyFile(path) | Self::ChatFile(path) | Self::Image(path) => Some(path),
            _ => None,
        }
    }
}

/// A section of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The kind.
    pub kind: SectionKind,
    /// The title for display.
    pub title: String,
    /// The role; of a conversation, the first role.
    pub role: Role,
    /// The first message of the section: an index into [`Prompt::messages`].
    pub message: usize,
    /// Tokens that it adds to the request, including the overhead of messages. The sections add up to
    /// [`Prompt::tokens`].
    pub tokens: usize,
    /// The text as sent; messages of a conversation are separated by blank lines. Empty for an image.
    pub text: String,
    /// Whether the request is cached up to the end of this section.
    pub cached: bool,
}

impl Section {
    /// The title, for a file or an image with its kind.
    pub fn label(&self) -> String {
        let kind = match &self.kind {
            SectionKind::ReadOnlyFile(_) => " (read-only)",
            SectionKind::ChatFile(_) => " (editable)",
            SectionKind::Image(_) => " (picture)",
            _ => "",
        };
        format!("{}{kind}", self.title)
    }

    /// The title, the tokens, and whether the request is cached up to the end of the section.
    pub fn heading(&self) -> String {
        let cached = if self.cached { " · kept by the server up to its end" } else { "" };
        format!("{} · {} tokens{cached}", self.label(), self.tokens)
    }
}

/// A possible secret in a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PromptSecret {
    /// The section that contains it: an index into [`Prompt::sections`].
    pub section: usize,
    /// The title of the section, such as the path of a file.
    pub title: String,
    /// The line of the file, 1-based; `None` if the section is not a file.
    pub line: Option<usize>,
    /// The kind of secret: `GitHub token`.
    pub kind: &'static str,
    /// Whether it is masked.
    pub masked: bool,
}

/// A request as it will be sent, with its sections.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// The sections, in order.
    pub sections: Vec<Section>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The passages among the sections, in order.
    pub passages: Vec<SentChunk>,
    /// Possible secrets, in order. They are masked, unless the settings disable that.
    pub secrets: Vec<PromptSecret>,
    /// The tools that are offered beside the messages.
    pub tools: Vec<Tool>,
    /// The tokens of the request.
    pub tokens: usize,
    /// The possible error of [`Prompt::tokens`] because large texts were counted by samples; 0 if none were.
    pub error: usize,
    /// Whether the count is exact for the model. Otherwise it is an estimate with another tokenizer.
    pub exact: bool,
    /// The context window.
    pub window: Window,
    /// The budgets of the context window.
    pub plan: BudgetPlan,
    /// What was left out, in order.
    pub omitted: Vec<Omission>,
    /// Why it cannot be sent: it is too large, and the user has to choose what to leave out.
    pub oversized: Option<OversizedRequest>,
}

impl Prompt {
    /// The excess tokens; 0 if the request fits. Texts that were counted by samples count with their possible error.
    pub fn excess(&self) -> usize {
        (self.tokens + self.error).saturating_sub(self.window.max_input())
    }

    /// The request as one text for a chat in a browser.
    pub fn as_text(&self) -> String {
        let texts =
            self.sections.iter().map(|section| section.text.trim_end_matches('\n')).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The request as readable text: each message under a line with its role, and each section under a line with its title,
    /// tokens and caching.
    pub fn render(&self) -> String {
        let about = if self.exact && self.error == 0 { "" } else { "about " };
        let (tokens, window) = (self.tokens, self.window.max_input());
        let mut text = format!("{} messages, {about}{tokens} of {window} tokens\n", self.messages.len());
        for omitted in &self.omitted {
            let _ = writeln!(text, "left out: {omitted}");
        }
        for (at, message) in self.messages.iter().enumerate() {
            let _ = writeln!(text, "\n── {}", message.role.as_str());
            let sections: Vec<&Section> = self.sections.iter().filter(|section| section.message == at).collect();
            for section in &sections {
                let _ = writeln!(text, "━━ {}", section.heading());
                // A conversation is one section of several messages.
                let has_tools = !message.tool_calls.is_empty() || !message.tool_results.is_empty();
                let is_whole = sections.len() == 1 && !has_tools;
                push_block(&mut text, if is_whole { &message.content } else { &section.text });
            }
            if sections.is_empty() {
                push_block(&mut text, &message.content);
            }
            for image in &message.images {
                let _ = writeln!(text, "[{}: {}, {} bytes]", image.name, image.media_type, image.bytes.len());
            }
        }
        text
    }
}

impl PromptSecret {
    /// The kind and the location.
    pub fn description(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{}{line}: what looks like {} {}", self.title, article(self.kind), self.kind)
    }
}

fn article(noun: &str) -> &'static str {
    // The indefinite article as pronounced: an AWS key, an npm token, an xAI key.
    let spelled = ["npm", "xAI"].iter().any(|name| noun.starts_with(name));
    if spelled || noun.starts_with(['A', 'O', 'a']) { "an" } else { "a" }
}

fn push_block(text: &mut String, block: &str) {
    text.push_str(block);
    if !block.is_empty() && !block.ends_with('\n') {
        text.push('\n');
    }
}

/// A part that was left out of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Omission {
    /// The repo map got less than its budget.
    RepoMap {
        /// The budget in tokens.
        planned: usize,
        /// The tokens that it got.
        given: usize,
    },
    /// The worst passages.
    Passages {
        /// The number left out.
        left_out: usize,
        /// The total number.
        of: usize,
    },
    /// The reminder of the edit format.
    Reminder,
    /// The oldest messages of the history.
    History {
        /// The number left out.
        messages: usize,
        /// The tokens.
        tokens: usize,
    },
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepoMap { planned, given: 0 } => write!(f, "the repo map ({planned} tokens planned)"),
            Self::RepoMap { planned, given } => write!(f, "part of the repo map ({given} of {planned} tokens)"),
            Self::Passages { left_out, of } if left_out == of => write!(f, "all {of} passages of the repository"),
            Self::Passages { left_out, of } => write!(f, "{left_out} of {of} passages of the repository"),
            Self::Reminder => f.write_str("the reminder of the edit format"),
            Self::History { messages, tokens } => {
                write!(f, "the oldest {messages} messages of the history ({tokens} tokens)")
            }
        }
    }
}

/// A request that does not fit, after everything optional was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OversizedRequest {
    /// The excess tokens.
    pub excess: usize,
    /// The number of messages at the beginning of the history that have to be summarized or left out for the request to fit;
    /// all of them if even that does not suffice, 0 without a history.
    pub head: usize,
    /// Whether it fits without them. If not, a file has to be dropped.
    pub head_suffices: bool,
    /// The files that could be dropped, largest first.
    pub droppable_files: Vec<DroppableFile>,
}

/// A file that could be dropped from the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppableFile {
    /// The path, relative to the root.
    pub path: String,
    /// The tokens that this saves.
    pub tokens: usize,
}
