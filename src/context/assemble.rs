//! The next request as a value: its parts, in the order in which they are sent, each with its tokens.
//!
//! The order is the one that caches best: what changes least comes first (instructions, read-only files, map), then the
//! history, then the chat files and the draft. aider sends its chunks in the same order.

use std::sync::Arc;

use super::budget::Window;
use super::fence::fence_for;
use super::message::{Message, Role};
use super::prompt;
use crate::edit::EditFormat;
use crate::tokens::TokenCounter;

/// Tokens that a chat API adds to every message for its role and borders (OpenAI's published figure for its models).
const TOKENS_PER_MESSAGE: usize = 4;

/// What a part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartKind {
    /// Standing instructions and the rules of the edit format.
    System,
    /// A file for reference.
    ReadOnlyFile(String),
    /// The ranked repo map.
    RepoMap,
    /// Earlier turns.
    History,
    /// A file that may be edited.
    ChatFile(String),
    /// The message about to be sent.
    Draft,
}

/// One part of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// What to call it on the screen.
    pub title: String,
    /// Tokens, by the counter that [`assemble`] was given.
    pub tokens: usize,
    /// Its text as sent.
    pub text: String,
}

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

/// Everything that a request is made from.
#[derive(Debug, Clone)]
pub struct ContextInputs<'a> {
    /// The format that the model shall write edits in.
    pub edit_format: EditFormat,
    /// Text of the repo map; empty for none.
    pub map: &'a str,
    /// Files in the chat, both kinds, in the order they were added.
    pub files: &'a [ContextFile],
    /// Earlier turns, oldest first.
    pub history: &'a [Message],
    /// The message about to be sent.
    pub draft: &'a str,
    /// The window of the model.
    pub window: Window,
}

/// A request as it will be sent, and what it is made of.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Tokens of the whole.
    pub tokens: usize,
    /// Whether [`Prompt::tokens`] and those of the parts are exact for this model or an estimate.
    pub exact: bool,
    /// The window it has to fit.
    pub window: Window,
}

impl Prompt {
    /// Tokens that are too many for the window; 0 if it fits.
    pub fn excess(&self) -> usize {
        self.tokens.saturating_sub(self.window.max_input())
    }

    /// The request as one text for a chat window in a browser.
    pub fn as_text(&self) -> String {
        let told =
            self.messages.iter().filter(|message| message.role != Role::Assistant || message.content != prompt::NOTED);
        told.map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n")
    }
}

/// Puts the request together.
pub fn assemble(inputs: &ContextInputs<'_>, counter: &dyn TokenCounter) -> Prompt {
    let mut desk = Desk { counter, parts: Vec::new(), messages: Vec::new() };
    let fence = fence_for(inputs.files.iter().map(|file| &*file.text));
    desk.system(prompt::system(inputs.edit_format, &fence));
    desk.files(inputs.files, true, prompt::READ_ONLY, &fence);
    if !inputs.map.is_empty() {
        let text = format!("{}\n\n{}", prompt::MAP, inputs.map);
        desk.part(PartKind::RepoMap, "repo map", &text);
        desk.shown(text);
    }
    desk.history(inputs.history);
    desk.files(inputs.files, false, prompt::CHAT_FILES, &fence);
    desk.part(PartKind::Draft, "draft", inputs.draft);
    desk.messages.push(Message::new(Role::User, inputs.draft));
    // What is billed are the messages: parts are counted by themselves, and a border may save or cost a token.
    let content: usize = desk.messages.iter().map(|message| counter.count(&message.content)).sum();
    Prompt {
        tokens: content + desk.messages.len() * TOKENS_PER_MESSAGE,
        parts: desk.parts,
        messages: desk.messages,
        exact: counter.exact(),
        window: inputs.window,
    }
}

/// The request while it is being put together.
struct Desk<'a> {
    counter: &'a dyn TokenCounter,
    parts: Vec<Part>,
    messages: Vec<Message>,
}

impl Desk<'_> {
    fn part(&mut self, kind: PartKind, title: &str, text: &str) {
        let tokens = if text.is_empty() { 0 } else { self.counter.count(text) };
        self.parts.push(Part { kind, title: title.to_owned(), tokens, text: text.to_owned() });
    }

    fn system(&mut self, text: String) {
        self.part(PartKind::System, "system", &text);
        self.messages.push(Message::new(Role::System, text));
    }

    /// Something put before the model's eyes, which it is taken to have noted: the turns then alternate, as some servers
    /// demand.
    fn shown(&mut self, text: String) {
        self.messages.push(Message::new(Role::User, text));
        self.messages.push(Message::new(Role::Assistant, prompt::NOTED));
    }

    fn files(&mut self, files: &[ContextFile], read_only: bool, heading: &str, fence: &str) {
        let mut text = String::new();
        for file in files.iter().filter(|file| file.read_only == read_only) {
            let newline = if file.text.is_empty() || file.text.ends_with('\n') { "" } else { "\n" };
            // The heading counts with the first file: without any there would be none.
            let lead = if text.is_empty() { heading } else { "" };
            let shown = format!("{lead}\n\n{}\n{fence}\n{}{newline}{fence}", file.path, file.text);
            let kind = if read_only { PartKind::ReadOnlyFile } else { PartKind::ChatFile };
            self.part(kind(file.path.clone()), &file.path, &shown);
            text.push_str(&shown);
        }
        if !text.is_empty() {
            self.shown(text);
        }
    }

    fn history(&mut self, history: &[Message]) {
        if history.is_empty() {
            return;
        }
        let text = history.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n");
        self.part(PartKind::History, "history", &text);
        self.messages.extend(history.iter().cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::prompt;

    /// One token a word.
    struct Words;

    impl TokenCounter for Words {
        fn count(&self, text: &str) -> usize {
            text.split_whitespace().count()
        }

        fn exact(&self) -> bool {
            true
        }
    }

    fn prompt(files: &[ContextFile], history: &[Message], map: &str) -> Prompt {
        let window = Window { tokens: 1_000, known: true };
        assemble(&ContextInputs { edit_format: EditFormat::Diff, map, files, history, draft: "do it", window }, &Words)
    }

    fn file(path: &str, text: &str, read_only: bool) -> ContextFile {
        ContextFile { path: path.into(), text: Arc::from(text), read_only }
    }

    #[test]
    fn parts_come_in_the_order_that_caches_best() {
        let files = [file("a.rs", "fn a() {}", false), file("doc.md", "words", true)];
        let history = [Message::new(Role::User, "hi"), Message::new(Role::Assistant, "hello")];
        let kinds: Vec<_> = prompt(&files, &history, "a.rs:\n").parts.into_iter().map(|part| part.title).collect();
        assert_eq!(kinds, ["system", "doc.md", "repo map", "history", "a.rs", "draft"]);
    }

    #[test]
    fn roles_alternate_after_the_system_message() {
        let history = [Message::new(Role::User, "hi"), Message::new(Role::Assistant, "hello")];
        let messages = prompt(&[file("a", "x", false), file("b", "y", true)], &history, "map").messages;
        for (index, message) in messages.iter().enumerate().skip(1) {
            let expected = if index % 2 == 1 { Role::User } else { Role::Assistant };
            assert_eq!(message.role, expected, "message {index}");
        }
    }

    #[test]
    fn the_total_is_what_the_messages_hold_and_their_borders() {
        let prompt = prompt(&[file("a", "one two", false), file("b", "three", true)], &[], "map");
        let content: usize = prompt.messages.iter().map(|message| Words.count(&message.content)).sum();
        assert_eq!(prompt.tokens, content + prompt.messages.len() * TOKENS_PER_MESSAGE);
    }

    #[test]
    fn every_word_but_our_own_acknowledgements_is_in_a_part() {
        let prompt = prompt(&[file("a", "one two", false), file("b", "three", true)], &[], "map");
        let parts: usize = prompt.parts.iter().map(|part| Words.count(&part.text)).sum();
        let noted = prompt.messages.iter().filter(|message| message.content == prompt::NOTED).count();
        let content: usize = prompt.messages.iter().map(|message| Words.count(&message.content)).sum();
        assert_eq!(parts, content - noted);
    }

    #[test]
    fn a_file_with_fences_gets_a_longer_fence() {
        let prompt = prompt(&[file("a.md", "```\ncode\n```\n", false)], &[], "");
        assert!(prompt.messages.iter().any(|message| message.content.contains("````\n```\ncode\n```\n````")));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let long = "word ".repeat(2_000);
        assert!(prompt(&[file("a", &long, false)], &[], "").excess() > 1_000);
        assert_eq!(prompt(&[], &[], "").excess(), 0);
    }
}
