//! A request that may be too large for its model is held back once: nobody knows, so the developer decides.

use std::sync::Arc;

use crate::context::SectionKind;
use crate::state::Session;
use crate::transcript::Level;

impl Session {
    /// Whether a request does not fit a window that is only assumed, and the developer did not yet say to send it all the same.
    pub(crate) fn doubts_that_it_fits(&mut self, message: &str) -> bool {
        let prompt = self.next_request.view.as_ref().map(|view| Arc::clone(&view.prompt));
        let Some(prompt) = prompt.filter(|prompt| prompt.excess() > 0 && !prompt.window.known) else {
            return false;
        };
        // What went once does not have to be asked about each time that it grows a little.
        if prompt.tokens <= self.next_request.accepted_tokens + self.next_request.accepted_tokens / 4 {
            return false;
        }
        if self.next_request.held_back.take().is_some_and(|doubted| doubted == message) {
            self.next_request.accepted_tokens = prompt.tokens;
            return false;
        }
        self.next_request.held_back = Some(message.to_owned());
        let (tokens, window) = (prompt.tokens, prompt.window.max_input());
        let text =
            format!("Not sent yet: the request has {tokens} tokens, and {window} are assumed to fit this model.");
        let tokens_of = |is_wanted: fn(&SectionKind) -> bool| -> usize {
            prompt.sections.iter().filter(|chunk| is_wanted(&chunk.kind)).map(|chunk| chunk.tokens).sum()
        };
        let said = tokens_of(|kind| matches!(kind, SectionKind::Current));
        let files = tokens_of(|kind| matches!(kind, SectionKind::ChatFile(_) | SectionKind::ReadOnlyFile(_)));
        let large = if said > files {
            format!("your message is {said} of it: shorten it")
        } else {
            format!("the files in the chat are {files} of it: /drop takes them out")
        };
        let hint = format!(
            "Send it again to send it anyway; {large}. If the model accepts more, set context_window at the top of rhumb.toml."
        );
        self.tell(Level::Warning, text, hint);
        true
    }
}
