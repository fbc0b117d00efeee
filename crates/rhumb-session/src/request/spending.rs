//! The cost of the session and its maximum, and the reports about the sections and tokens of a request.

use crate::context::PromptSecret;
use crate::{Failure, Level, Session, Spent};
use rhumb_llm::models::{CapCheck, Dollars, Ledger, Spend, Tokens, estimate};
use std::fmt::Write as _;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct Spending {
    ledger: Ledger,
    /// The maximum cost of the session.
    cap: Option<Dollars>,
    last: Option<Spent>,
}

impl Spending {
    /// Restores the cost of a saved session.
    pub(crate) fn resume(&mut self, ledger: Ledger) {
        (self.ledger, self.last) = (ledger, None);
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    pub(crate) fn last(&self) -> Option<&Spent> {
        self.last.as_ref()
    }

    pub(crate) fn cap(&self) -> Option<Dollars> {
        self.cap
    }

    pub(crate) fn set_cap(&mut self, cap: Option<Dollars>) {
        self.cap = cap;
    }
}

impl Session {
    /// Records the cost of a request.
    pub(crate) fn spent(&mut self, turn: u64, spent: &Spent) {
        let before = self.spending.ledger.session().unpriced;
        self.spending.ledger.record(turn, &spent.model, spent.tokens);
        self.spending.last = Some(spent.clone());
        if self.spending.cap.is_some() && before == 0 && self.spending.ledger.session().unpriced > 0 {
            self.report_failure(Level::Warning, uncounted(&spent.model.name));
        }
    }

    /// The remaining budget; `None` without a cap.
    pub(crate) fn allowance(&self) -> Option<Dollars> {
        self.spending.cap.map(|cap| cap.saturating_sub(self.spending.ledger.session().known))
    }

    /// The cost of the next request with an answer of `output` tokens; `None` if the price is unknown.
    pub fn next_cost(&self, output: u64) -> Option<Dollars> {
        let (view, facts) = self.next_request.view.as_ref().zip(self.model.facts())?;
        estimate(facts, view.prompt.tokens as u64, output)
    }

    /// The cost of `tokens` input tokens; `None` if the price is unknown.
    pub fn price_of(&self, tokens: u64) -> Option<Dollars> {
        estimate(self.model.facts()?, tokens, 0)
    }

    /// Whether the next request is known to exceed the cap.
    pub fn is_over_cap(&self) -> bool {
        self.spending.cap.is_some_and(|cap| {
            matches!(self.spending.ledger.check_cap(cap, self.next_cost(0)), CapCheck::Exceeds { .. })
        })
    }

    /// Reports the cost so far.
    pub fn report_cost(&mut self) {
        let all = self.spending.ledger.session();
        if all.requests == 0 {
            return self.report(Level::Info, "No request was sent yet.", "");
        }
        let turn = self.spending.ledger.turn(self.turns.count());
        let mut text = format!("This session: {}.", summary(all));
        if turn.requests > 0 {
            text.push_str(&format!(" The last turn: {}.", summary(turn)));
        }
        if let Some(last) = self.spending.last.as_ref().filter(|_| turn.requests > 1) {
            let mark = if last.estimated { "about " } else { "" };
            let spend = Spend::of_request(&last.model, last.tokens);
            text.push_str(&format!(" Its last request: {mark}{}.", summary(spend)));
        }
        let models = self.spending.ledger.models();
        if models.len() > 1 {
            for (model, spend) in models {
                text.push_str(&format!("\n{model}: {}.", summary(spend)));
            }
        }
        let hint = match self.spending.cap {
            Some(cap) => format!("The cap is {cap}; {} remain.", cap.saturating_sub(all.known)),
            None => "spending_cap in rhumb.toml sets a cap.".to_owned(),
        };
        self.report(Level::Info, text, hint);
    }
}

/// The warning about a model whose price is unknown, if there is a spending cap.
pub fn uncounted(model: &str) -> Failure {
    Failure {
        message: format!("The price of {model} is not known, so the spending cap does not include it."),
        hint: "Set its prices in [models.\"NAME\"] of rhumb.toml, or choose another model.".into(),
    }
}

/// `$0.12 for 3 requests, 12345 tokens in (81 % cached), 678 out`
fn summary(spend: Spend) -> String {
    let input = spend.tokens.input();
    let cached = match (spend.tokens.cache_read * 100).checked_div(input) {
        None | Some(0) => String::new(),
        Some(share) => format!(" ({share} % cached)"),
    };
    let requests = if spend.requests == 1 { "request" } else { "requests" };
    format!("{spend} for {} {requests}, {input} tokens in{cached}, {} out", spend.requests, spend.tokens.output)
}

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
        let mut lines: Vec<String> = new.iter().take(MAX_LISTED_SECRETS).map(|secret| secret.description()).collect();
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

    use super::*;
    use crate::*;
    use rhumb_llm::models::{Model, Prices, Tokens};

    fn spent(prices: Option<Prices>) -> Response {
        let model = Arc::new(Model { prices, ..Model::unknown("m") });
        let tokens = Tokens { fresh: 1_000, cache_read: 3_000, output: 500, ..Tokens::default() };
        Response::Asked { turn: 1, event: AskEvent::Spent(Spent { model, tokens, estimated: false }) }
    }

    fn session() -> Session {
        Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0
    }

    fn last_status(session: &Session) -> &StatusMessage {
        let status = session.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Status(status) => Some(status),
            _ => None,
        });
        status.expect("a status message")
    }

    const PRICES: Prices =
        Prices { input: 1_000.0, output: 2_000.0, cache_read: 100.0, cache_write: 1_000.0, long: None };

    #[test]
    fn cost_reports_the_cached_share() {
        let mut session = session();
        session.report_cost();
        assert_eq!(last_status(&session).text, "No request was sent yet.");
        session.send("x");
        session.handle(spent(Some(PRICES)));
        session.report_cost();
        let text = &last_status(&session).text;
        assert!(
            text.starts_with("This session: $2.30 for 1 request, 4000 tokens in (75 % cached), 500 out."),
            "{text}"
        );
    }

    #[test]
    fn the_next_request_is_limited_to_the_remaining_budget() {
        let mut session = session();
        session.spending.cap = Some(Dollars::new(5.0));
        session.send("x");
        session.handle(spent(Some(PRICES)));
        assert_eq!(session.request_spec(2).allowance, Some(Dollars::new(2.7)));
    }

    #[test]
    fn an_unknown_price_is_reported_once() {
        let mut session = session();
        session.spending.cap = Some(Dollars::new(5.0));
        session.send("x");
        session.handle(spent(None));
        session.handle(spent(None));
        let warnings = session
            .transcript
            .iter()
            .filter(|entry| matches!(entry, Entry::Status(status) if status.text.contains("not known")));
        assert_eq!(warnings.count(), 1);
    }
}

#[cfg(test)]
mod report_tests {
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
