//! The steps of a search that a model helps with, each where the settings want it. What it fails at is left out and message: a search
//! without help is still a search.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::history_summary::answer;
use super::super::{ModelClient, RequestEnv};
use super::{PassageSource, SearchEvent, on_blocking_thread, searched};
use crate::config::CodebaseSettings;
use rhumb_index::retrieval::{Hit, Question, SearchPlan, hypothesis, rerank_list, reranked};
use rhumb_llm::Request;
use rhumb_llm::models::{Dollars, estimate};
use rhumb_llm::{Message, Role};
use rhumb_session::{Failure, SearchStep};
use rhumb_tokens::TokenCounter as _;

/// How long one step may take: somebody waits for the answer behind it.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);
/// Tokens that a step is expected to write at most, for the spending cap.
const EXPECTED_OUTPUT: u64 = 512;
/// Hits that the second guess is shown.
const SHOWN: usize = 5;

/// Whether any step is wanted.
pub fn is_wanted(settings: &CodebaseSettings) -> bool {
    settings.planning || settings.hyde || settings.rerank
}

/// ModelRole helps.
pub struct Assistant<'a> {
    /// Whom to ask.
    pub client: &'a ModelClient,
    /// The settings and our words.
    pub env: &'a RequestEnv,
    /// What may still be spent; `None` for as much as it takes.
    pub allowance: Option<Dollars>,
}

/// The help with one search.
pub(super) struct SearchHelp<'a> {
    assistant: Assistant<'a>,
    cancel: &'a CancellationToken,
    events: &'a mpsc::Sender<SearchEvent>,
    /// Whether the model failed to answer: it is not asked again for this search.
    is_off: bool,
    /// What could not be done.
    pub(super) notes: Vec<Failure>,
}

impl<'a> Assistant<'a> {
    pub(super) fn begin(self, cancel: &'a CancellationToken, events: &'a mpsc::Sender<SearchEvent>) -> SearchHelp<'a> {
        SearchHelp { assistant: self, cancel, events, is_off: false, notes: Vec::new() }
    }
}

impl SearchHelp<'_> {
    /// Adds what the model says to look for.
    pub(super) async fn plan(&mut self, question: &mut Question) {
        if !self.settings().planning {
            return;
        }
        let asked = self.message("search-plan", &question.text);
        let Some(reply) = self.ask(SearchStep::Planning, vec![asked]).await else { return };
        match SearchPlan::read(&reply) {
            Some(plan) => question.hints.extend(plan.hints()),
            None => self.note("The plan of the search could not be read, so it was searched without one."),
        }
    }

    /// Adds the words of code that the model makes up: once from the question alone, and once more from what that finds.
    pub(super) async fn hypothesize(&mut self, question: &mut Question, source: &Arc<PassageSource>) {
        if !self.settings().hyde {
            return;
        }
        let mut said = vec![self.message("search-guess", &question.text)];
        let Some(reply) = self.ask(SearchStep::Hypothesizing, said.clone()).await else { return };
        let Some(first) = hypothesis(&reply) else {
            return self.note("The guess at the code is empty, so it was searched without one.");
        };
        let guessed = Question { text: format!("{}\n{first}", question.text), ..question.clone() };
        let hits = searched(source, &guessed, &mut self.notes).await;
        let (source, asked) = (Arc::clone(source), question.text.clone());
        let shown = on_blocking_thread(move || {
            let best = hits.get(..SHOWN.min(hits.len())).unwrap_or_default();
            source.written(&source.answering(&asked, best).locations)
        });
        let shown = match shown.await {
            Ok(shown) => shown,
            Err(failure) => return self.notes.push(failure),
        };
        said.push(Message::new(Role::Assistant, reply));
        said.push(self.message("search-guess-again", &shown));
        let second = self.ask(SearchStep::HypothesizingAgain, said).await.and_then(|reply| hypothesis(&reply));
        question.text = format!("{}\n{}", question.text, second.unwrap_or(first));
    }

    /// Puts the hits in the order that the model says.
    pub(super) async fn rerank(&mut self, question: &str, hits: &mut Vec<Hit>) {
        let cards = rerank_list(hits);
        if !self.settings().rerank || cards.is_empty() {
            return;
        }
        let asked = self.message("search-order", &format!("{question}\n\n{cards}"));
        let Some(reply) = self.ask(SearchStep::Reranking, vec![asked]).await else { return };
        match reranked(&reply, hits) {
            Some(ordered) => *hits = ordered,
            None => self.note("The order of the files could not be read, so that of the search counts."),
        }
    }

    fn settings(&self) -> &CodebaseSettings {
        &self.assistant.env.settings.codebase
    }

    /// One of our prompts and what it is about, as one message: some servers want turns to alternate.
    fn message(&self, prompt: &str, about: &str) -> Message {
        Message::new(Role::User, format!("{}\n\n{about}", self.assistant.env.prompts.text(prompt)))
    }

    fn note(&mut self, message: &str) {
        self.notes.push(Failure { message: message.into(), hint: String::new() });
    }

    /// Asks the model; nothing where it gives no answer, which is message.
    async fn ask(&mut self, step: SearchStep, said: Vec<Message>) -> Option<String> {
        if self.is_off {
            return None;
        }
        let Assistant { client, env, allowance } = &self.assistant;
        let counter = env.counter(&client.facts);
        let tokens = said.iter().map(|message| counter.count(&message.content)).sum();
        let cost = estimate(&client.facts, tokens as u64, EXPECTED_OUTPUT);
        if allowance.zip(cost).is_some_and(|(left, cost)| cost > left) {
            self.is_off = true;
            self.note("The search goes without help, which would pass the spending cap.");
            return None;
        }
        // Nobody waits any more when this fails.
        self.events.send(SearchEvent::Status(step)).await.ok();
        let request = Request { model: client.model.clone(), messages: said, tokens, ..Request::default() };
        let answered = timeout(STEP_TIMEOUT, answer(client, request, self.cancel)).await;
        let (result, spent) = match answered {
            Ok((text, spent)) => (text.map_err(|error| Failure::from(&error).message), spent),
            Err(_) => (Err(format!("it took more than {} seconds.", STEP_TIMEOUT.as_secs())), None),
        };
        if let Some(spent) = spent {
            let paid = client.facts.prices.map(|prices| prices.cost(spent.tokens)).unwrap_or_default();
            self.assistant.allowance = self.assistant.allowance.map(|left| left.over(paid));
            self.events.send(SearchEvent::Spent(spent)).await.ok();
        }
        result
            .map_err(|why| {
                self.is_off = true;
                self.note(&format!("The search goes without the help of a model: {why}"));
            })
            .ok()
    }
}
