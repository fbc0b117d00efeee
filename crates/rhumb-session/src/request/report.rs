//! Status messages about the next request: its parts with their tokens and cost, and the secrets in it.

use crate::context::PromptSecret;
use crate::{Level, Session};
use rhumb_llm::models::{Dollars, Tokens};
use std::fmt::Write as _;
use std::sync::Arc;

/// The maximum number of secrets that one status message lists.
const MAX_LISTED_SECRETS: usize = 5;

impl Session {
    /// Reports the parts of the next request with their tokens and, if the price is known, their cost.
    pub fn report_tokens(&mut self) {
        let Some(view) = &self.next_request.view else {
            return self.report(Level::Info, "The next request is not measured yet.", "Try again in a moment.");
        };
        let prompt = Arc::clone(&view.prompt);
        let prices = self.model.facts().and_then(|facts| facts.prices);
        let cost =
            |tokens: usize| prices.map(|prices| prices.cost(Tokens { fresh: tokens as u64, ..Tokens::default() }));
        let about = if prompt.exact && prompt.error == 0 { "" } else { "about " };
        let mut text = format!("The next request has {about}{} tokens:", prompt.tokens);
        for chunk in &prompt.sections {
            let _ = write!(text, "\n{:>8}{}  {}", chunk.tokens, priced(cost(chunk.tokens)), chunk.title);
        }
        let _ = write!(text, "\n{:>8}{}  in total", prompt.tokens, priced(cost(prompt.tokens)));
        let (tokens, window) = (prompt.tokens + prompt.error, prompt.window.max_input());
        let left = window.saturating_sub(tokens);
        let assumed = if prompt.window.known { "" } else { " (assumed)" };
        let _ = write!(
            text,
            "\n{left:>8}{}  free of {window}{assumed}",
            if prices.is_some() { " ".repeat(10) } else { String::new() }
        );
        let hint = if tokens > window {
            "/drop removes files, /clear the conversation; /map-tokens limits the map."
        } else if prices.is_none() && self.model.facts().is_some() {
            "The price of this model is unknown; set it in [models.\"NAME\"] of rhumb.toml."
        } else {
            "/view-prompt shows the request."
        };
        self.report(Level::Info, text, hint);
    }

    /// Reports secrets in a request, each once in a session, and whether they are masked.
    pub(crate) fn report_secrets(&mut self, secrets: &[PromptSecret]) {
        let key = |secret: &PromptSecret| (secret.title.clone(), secret.line, secret.kind);
        let new: Vec<&PromptSecret> =
            secrets.iter().filter(|secret| self.next_request.reported_secrets.insert(key(secret))).collect();
        if new.is_empty() {
            return;
        }
        let mut lines: Vec<String> = new.iter().take(MAX_LISTED_SECRETS).map(|secret| secret.told()).collect();
        if new.len() > MAX_LISTED_SECRETS {
            lines.push(format!("and {} more", new.len() - MAX_LISTED_SECRETS));
        }
        let (text, hint) = if new.iter().all(|secret| secret.masked) {
            (
                "Masked in what is sent",
                "The model can delete such a line, but not change it. /drop removes a file from the chat.",
            )
        } else {
            ("Sent unmasked, because of your settings", "secrets = \"mask\" in your rhumb.toml masks it.")
        };
        self.report(Level::Warning, format!("{text}:\n{}", lines.join("\n")), hint);
    }
}

/// Formats a cost as a column; empty if there is none.
fn priced(cost: Option<Dollars>) -> String {
    cost.map_or_else(String::new, |cost| format!("  {:>8}", cost.to_string()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::context::{Prompt, PromptSecret, Section, SectionKind, Window};
    use crate::*;
    use rhumb_llm::Role;
    use rhumb_llm::models::{Model, Prices};

    fn last(session: &Session) -> &StatusMessage {
        let entries = session.transcript.iter().rev();
        let mut messages = entries.filter_map(|entry| match entry {
            Entry::Status(status) => Some(status),
            _ => None,
        });
        messages.next().expect("a status message")
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
    fn tokens_reports_the_parts_of_a_request_with_their_cost() {
        let price = Prices { input: 2.0, output: 1.0, cache_read: 0.0, cache_write: 2.0, long: None };
        let mut session = measured(Some(price));
        session.report_tokens();
        let text = &last(&session).text;
        assert!(text.contains("1000") && text.contains("instructions") && text.contains("$0.002"), "{text}");
    }

    #[test]
    fn tokens_without_a_known_price_reports_no_cost() {
        let mut session = measured(None);
        session.report_tokens();
        let status = last(&session);
        assert!(!status.text.contains('$') && status.hint.contains("price"), "{status:?}");
    }

    fn secret(place: &str, line: usize) -> PromptSecret {
        let place = place.to_owned();
        PromptSecret { section: 0, title: place, line: Some(line), kind: "GitHub token", masked: true }
    }

    fn warnings(session: &Session) -> Vec<&str> {
        let warnings = session.transcript.iter().filter_map(|entry| match entry {
            Entry::Status(status) if status.level == Level::Warning => Some(status.text.as_str()),
            _ => None,
        });
        warnings.collect()
    }

    #[test]
    fn a_secret_is_reported_once() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let see = |session: &mut Session, secrets: Vec<PromptSecret>| {
            let prompt = Arc::new(Prompt { secrets, ..Prompt::default() });
            let view = ContextView { map: None, provisional: false, prompt, unreadable: Vec::new() };
            let generation = session.next_request.generation;
            session.handle(Response::Measured { generation, view });
        };
        see(&mut session, vec![secret("config.py", 12)]);
        see(&mut session, vec![secret("config.py", 12)]);
        let expected = "Masked in what is sent:\nconfig.py, line 12: what looks like a GitHub token";
        assert_eq!(warnings(&session), [expected]);
        see(&mut session, (1..9).map(|line| secret("other.py", line)).collect());
        assert!(warnings(&session)[1].ends_with("\nand 3 more"), "{:?}", warnings(&session));
    }
}
