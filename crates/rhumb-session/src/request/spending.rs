//! The cost of the session, and its maximum.

use crate::{Failure, Level, Session, Spent};
use rhumb_llm::models::{CapCheck, Dollars, Ledger, Spend, estimate};

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
        self.spending.cap.map(|cap| cap.over(self.spending.ledger.session().known))
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
            Some(cap) => format!("The cap is {cap}; {} remain.", cap.over(all.known)),
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
