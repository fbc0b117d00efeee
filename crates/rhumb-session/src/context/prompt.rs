//! A request as a value: what is sent, its sections, and what was left out.

use std::fmt::Write as _;

use super::budget::{BudgetPlan, Window};
use super::chunk::{Chunk, ChunkKind};
use super::passages::SentPassage;
use super::trim::{Overfull, Trimmed};
use rhumb_llm::Message;

/// A possible secret in a request.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PromptSecret {
    /// The section that contains it: an index into [`Prompt::chunks`].
    pub chunk: usize,
    /// The title of the section, such as the path of a file.
    pub place: String,
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
    pub chunks: Vec<Chunk>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The passages among the sections, in order.
    pub passages: Vec<SentPassage>,
    /// Possible secrets, in order. They are masked, unless the settings disable that.
    pub secrets: Vec<PromptSecret>,
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
    pub trimmed: Vec<Trimmed>,
    /// Why it cannot be sent: it is too large, and the user has to choose what to leave out.
    pub overfull: Option<Overfull>,
}

impl Prompt {
    /// The excess tokens; 0 if the request fits. Texts that were counted by samples count with their possible error.
    pub fn excess(&self) -> usize {
        (self.tokens + self.error).saturating_sub(self.window.max_input())
    }

    /// The request as one text for a chat in a browser.
    pub fn as_text(&self) -> String {
        let texts = self.chunks.iter().map(|chunk| chunk.text.trim_end_matches('\n')).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The request as readable text: each message under a line with its role, and each section under a line with its title,
    /// tokens and caching.
    pub fn render(&self) -> String {
        let about = if self.exact && self.error == 0 { "" } else { "about " };
        let (tokens, window) = (self.tokens, self.window.max_input());
        let mut text = format!("{} messages, {about}{tokens} of {window} tokens\n", self.messages.len());
        for trimmed in &self.trimmed {
            let _ = writeln!(text, "left out: {trimmed}");
        }
        for (at, message) in self.messages.iter().enumerate() {
            let _ = writeln!(text, "\n── {}", message.role.as_str());
            let chunks: Vec<&Chunk> = self.chunks.iter().filter(|chunk| chunk.message == at).collect();
            for chunk in &chunks {
                let _ = writeln!(text, "━━ {}", chunk.heading());
                // A conversation is one section of several messages.
                push_block(&mut text, if chunks.len() == 1 { &message.content } else { &chunk.text });
            }
            if chunks.is_empty() {
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
    pub fn told(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{}{line}: what looks like {} {}", self.place, article(self.kind), self.kind)
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

impl Chunk {
    /// What it is.
    pub fn label(&self) -> String {
        let kind = match &self.kind {
            ChunkKind::ReadOnlyFile(_) => " (read-only)",
            ChunkKind::ChatFile(_) => " (editable)",
            ChunkKind::Image(_) => " (picture)",
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
