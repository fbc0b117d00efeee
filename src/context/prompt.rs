//! A request as a value: what is sent, what it is made of, and what was left out of it.

use std::fmt::Write as _;

use super::budget::{BudgetPlan, Window};
use super::chunk::{Chunk, ChunkKind};
use super::passages::SentPassage;
use super::trim::{Overfull, Trimmed};
use rhumb_llm::Message;

/// Something in a request that looks like a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PromptSecret {
    /// The chunk that it stands in: an index into [`Prompt::chunks`].
    pub chunk: usize,
    /// What that chunk is called: the path of a file.
    pub place: String,
    /// The line of the file, 1-based; none where it is no file.
    pub line: Option<usize>,
    /// What it looks like: `GitHub token`.
    pub kind: &'static str,
    /// Whether a mask is sent in its place.
    pub masked: bool,
}

/// A request as it will be sent, and what it is made of.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// The chunks, in order.
    pub chunks: Vec<Chunk>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The passages of the repository among the chunks, in order.
    pub passages: Vec<SentPassage>,
    /// What looks like keys in it, in order. Masks stand in their place, unless the settings want them sent.
    pub secrets: Vec<PromptSecret>,
    /// Tokens of the whole.
    pub tokens: usize,
    /// By how many tokens [`Prompt::tokens`] may be off because large texts were counted by samples; 0 if none were.
    pub error: usize,
    /// Whether the count is by the model's own table. Else it is an estimate, by a neighbour's.
    pub exact: bool,
    /// The window it has to fit.
    pub window: Window,
    /// How the window was to be shared out.
    pub plan: BudgetPlan,
    /// What was left out to make it fit, in the order in which it went.
    pub trimmed: Vec<Trimmed>,
    /// What stands in the way of sending it: it is too large, and somebody has to choose what goes.
    pub overfull: Option<Overfull>,
}

impl Prompt {
    /// Tokens that are too many for the window; 0 if it fits. Where large texts were counted by samples, the request counts
    /// for the most that it may have.
    pub fn excess(&self) -> usize {
        (self.tokens + self.error).saturating_sub(self.window.max_input())
    }

    /// The request as one text for a chat window in a browser.
    pub fn as_text(&self) -> String {
        let texts = self.chunks.iter().map(|chunk| chunk.text.trim_end_matches('\n')).filter(|text| !text.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// The request as it is sent, to be read: every message below a line that says who speaks, and in it every chunk below a
    /// line that says what it is, its tokens, and whether the server keeps the request up to its end.
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
                // A conversation is one chunk of several messages, each of which follows by itself.
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
    /// What was found, and where.
    pub fn told(&self) -> String {
        let line = self.line.map_or_else(String::new, |line| format!(", line {line}"));
        format!("{}{line}: what looks like {} {}", self.place, article(self.kind), self.kind)
    }
}

fn article(noun: &str) -> &'static str {
    // As it is spoken: an AWS key, an npm token, an xAI key.
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

    /// What it is, its tokens, and whether the server keeps the request up to its end.
    pub fn heading(&self) -> String {
        let cached = if self.cached { " · kept by the server up to its end" } else { "" };
        format!("{} · {} tokens{cached}", self.label(), self.tokens)
    }
}
