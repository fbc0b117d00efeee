//! What the session says of itself when asked: what the next request is made of, what lies in the chat.

use std::fmt::Write as _;

use crate::effect::Effect;
use crate::state::Session;
use crate::transcript::Level;
use rhumb_llm::models::{Dollars, Tokens};

impl Session {
    /// Says what the next request is made of, in tokens and, where the price is known, in dollars.
    pub fn tell_tokens(&mut self) {
        let Some(view) = &self.next_request.view else {
            return self.tell(Level::Info, "The next request is not measured yet.", "Ask again in a moment.");
        };
        let prompt = std::sync::Arc::clone(&view.prompt);
        let prices = self.model.facts().and_then(|facts| facts.prices);
        let cost =
            |tokens: usize| prices.map(|prices| prices.cost(Tokens { fresh: tokens as u64, ..Tokens::default() }));
        let about = if prompt.exact && prompt.error == 0 { "" } else { "about " };
        let mut text = format!("The next request has {about}{} tokens:", prompt.tokens);
        for chunk in &prompt.sections {
            let _ = write!(text, "\n{:>8}{}  {}", chunk.tokens, priced(cost(chunk.tokens)), chunk.title);
        }
        let _ = write!(text, "\n{:>8}{}  all of it", prompt.tokens, priced(cost(prompt.tokens)));
        let (tokens, window) = (prompt.tokens + prompt.error, prompt.window.max_input());
        let left = window.saturating_sub(tokens);
        let assumed = if prompt.window.known { "" } else { ", as is assumed" };
        let _ = write!(
            text,
            "\n{left:>8}{}  left of {window}{assumed}",
            if prices.is_some() { " ".repeat(10) } else { String::new() }
        );
        let hint = if tokens > window {
            "/drop takes files out, /clear the conversation, /map-tokens makes the map smaller."
        } else if prices.is_none() && self.model.facts().is_some() {
            "The price of this model is not known; [models.\"NAME\"] in rhumb.toml can say it."
        } else {
            "/view-prompt shows it as it will be sent."
        };
        self.tell(Level::Info, text, hint);
    }

    /// Makes every file of the chat read-only.
    pub(crate) fn make_all_read_only(&mut self) -> Vec<Effect> {
        let changed = self.chat_files.make_read_only();
        match changed {
            0 if self.chat_files.files().is_empty() => {
                self.tell(Level::Info, "There is no file in the chat.", "/add adds one.")
            }
            0 => self.tell(Level::Info, "Every file in the chat is read-only already.", "/add adds one to be changed."),
            1 => self.tell(Level::Info, "1 file is read-only now.", "/add NAME lets the model change it again."),
            many => {
                let text = format!("{many} files are read-only now.");
                self.tell(Level::Info, text, "/add NAME lets the model change one again.");
            }
        }
        if changed == 0 { Vec::new() } else { self.measure() }
    }
}

/// A price as a column of its own; blank where there is none to tell.
fn priced(cost: Option<Dollars>) -> String {
    cost.map_or_else(String::new, |cost| format!("  {:>8}", cost.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::context::{Prompt, Section, SectionKind, Window};
    use crate::*;
    use rhumb_llm::Role;
    use rhumb_llm::models::{Model, Prices};

    fn last(session: &Session) -> &StatusMessage {
        let notices = session.transcript.iter().rev();
        let mut told = notices.filter_map(|entry| match entry {
            Entry::Status(notice) => Some(notice),
            _ => None,
        });
        told.next().expect("a notice")
    }

    fn measured(prices: Option<Prices>) -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let title = "instructions".to_owned();
        let (kind, role, text) = (SectionKind::System, Role::System, String::new());
        let chunk = Section { kind, title, role, message: 0, tokens: 1_000, text, cached: false };
        let window = Window { tokens: 8_000, known: true };
        let prompt = Prompt { sections: vec![chunk], tokens: 1_000, exact: true, window, ..Prompt::default() };
        let (map, unreadable) = (None, Vec::new());
        session.next_request.view = Some(ContextView { map, provisional: false, prompt: Arc::new(prompt), unreadable });
        session.model.connect("m".into(), "h".into(), Arc::new(Model { prices, ..Model::unknown("m") }));
        session
    }

    #[test]
    fn the_parts_of_a_request_are_told_with_their_price() {
        let price = Prices { input: 2.0, output: 1.0, cache_read: 0.0, cache_write: 2.0, long: None };
        let mut session = measured(Some(price));
        session.tell_tokens();
        let told = &last(&session).text;
        assert!(told.contains("1000") && told.contains("instructions") && told.contains("$0.002"), "{told}");
    }

    #[test]
    fn a_price_that_is_not_known_is_not_made_up() {
        let mut session = measured(None);
        session.tell_tokens();
        let told = last(&session);
        assert!(!told.text.contains('$') && told.hint.contains("price"), "{told:?}");
    }

    #[test]
    fn all_files_become_read_only_at_once() {
        let mut session = measured(None);
        session.chat_files.add("a", false);
        session.chat_files.add("b", true);
        assert!(!session.command(parse_command("/read-only").unwrap()).is_empty());
        assert!(session.chat_files.files().iter().all(|file| file.read_only));
        assert_eq!(last(&session).text, "1 file is read-only now.");
        assert!(session.command(parse_command("/read-only").unwrap()).is_empty(), "there was nothing to change");
    }
}
