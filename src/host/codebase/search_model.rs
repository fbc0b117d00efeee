//! The optional steps of a codebase search that use a model. If a step fails, a note is added and the search continues without
//! it.

use super::{PassageSource, SearchEvent, search};
use crate::config::CodebaseSettings;
use crate::host::history_summary::answer;
use crate::host::{ModelClient, RequestEnv, on_blocking_thread};
use rhumb_index::retrieval::{Hit, Question, SearchPlan, hypothesis, rerank_list, reranked};
use rhumb_llm::models::Dollars;
use rhumb_llm::{Message, Role};
use rhumb_session::{Failure, SearchStep};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const STEP_TIMEOUT: Duration = Duration::from_secs(30);
/// Expected maximum output of a step in tokens, for the spending cap.
const EXPECTED_OUTPUT: u64 = 512;
/// Number of hits that the second hypothesis is based on.
const SHOWN_HITS: usize = 5;

/// Whether the settings enable any step.
pub fn is_enabled(settings: &CodebaseSettings) -> bool {
    settings.planning || settings.hyde || settings.rerank
}

/// The model that helps with searches.
pub struct Assistant<'a> {
    /// The model.
    pub client: &'a ModelClient,
    /// The request environment.
    pub env: &'a RequestEnv,
    /// Remaining budget of the spending cap; `None` without a cap.
    pub allowance: Option<Dollars>,
}

pub(super) struct SearchHelp<'a> {
    assistant: Assistant<'a>,
    cancel: &'a CancellationToken,
    events: &'a mpsc::Sender<SearchEvent>,
    /// Whether the model failed. It is not used again during this search.
    is_off: bool,
    pub(super) notes: Vec<Failure>,
}

impl<'a> Assistant<'a> {
    pub(super) fn begin(self, cancel: &'a CancellationToken, events: &'a mpsc::Sender<SearchEvent>) -> SearchHelp<'a> {
        SearchHelp { assistant: self, cancel, events, is_off: false, notes: Vec::new() }
    }
}

impl SearchHelp<'_> {
    pub(super) async fn plan(&mut self, question: &mut Question) {
        if !self.settings().planning {
            return;
        }
        let message = self.prompt("search-plan", &question.text);
        let Some(reply) = self.ask(SearchStep::Planning, vec![message]).await else { return };
        match SearchPlan::read(&reply) {
            Some(plan) => question.hints.extend(plan.hints()),
            None => self.note("The search plan of the model is invalid and was not used."),
        }
    }

    /// Adds hypothetical code by the model: first for the question alone, then with the hits of the first.
    pub(super) async fn hypothesize(&mut self, question: &mut Question, source: &Arc<PassageSource>) {
        if !self.settings().hyde {
            return;
        }
        let mut messages = vec![self.prompt("search-guess", &question.text)];
        let Some(reply) = self.ask(SearchStep::Hypothesizing, messages.clone()).await else { return };
        let Some(first) = hypothesis(&reply) else {
            return self.note("The hypothetical code of the model is empty and was not used.");
        };
        let extended = Question { code: first.clone(), ..question.clone() };
        let hits = search(source, &extended, &mut self.notes).await;
        let (source, asked) = (Arc::clone(source), question.text.clone());
        let shown = on_blocking_thread(move || {
            let best = hits.get(..SHOWN_HITS.min(hits.len())).unwrap_or_default();
            source.written(&source.passages_for_question(&asked, best).locations)
        });
        let shown = match shown.await {
            Ok(shown) => shown,
            Err(failure) => return self.notes.push(failure),
        };
        messages.push(Message::new(Role::Assistant, reply));
        messages.push(self.prompt("search-guess-again", &shown));
        let second = self.ask(SearchStep::HypothesizingAgain, messages).await.and_then(|reply| hypothesis(&reply));
        question.code = second.unwrap_or(first);
    }

    /// Orders the hits by relevance as rated by the model.
    pub(super) async fn rerank(&mut self, question: &str, hits: &mut Vec<Hit>) {
        let cards = rerank_list(hits);
        if !self.settings().rerank || cards.is_empty() {
            return;
        }
        let message = self.prompt("search-order", &format!("{question}\n\n{cards}"));
        let Some(reply) = self.ask(SearchStep::Reranking, vec![message]).await else { return };
        match reranked(&reply, hits) {
            Some(ordered) => *hits = ordered,
            None => self.note("The order of the model is invalid and was not used."),
        }
    }

    fn settings(&self) -> &CodebaseSettings {
        &self.assistant.env.settings.codebase
    }

    /// A prompt and its subject as one message, because some servers require alternating roles.
    fn prompt(&self, prompt: &str, about: &str) -> Message {
        Message::new(Role::User, format!("{}\n\n{about}", self.assistant.env.prompts.text(prompt)))
    }

    fn note(&mut self, message: &str) {
        self.notes.push(Failure { message: message.into(), hint: String::new() });
    }

    /// Asks the model. After an error, a note is added.
    async fn ask(&mut self, step: SearchStep, messages: Vec<Message>) -> Option<String> {
        if self.is_off {
            return None;
        }
        let Assistant { client, env, allowance } = &self.assistant;
        let request = client.request(messages, &env.counter(&client.facts));
        if client.exceeds(*allowance, &request, EXPECTED_OUTPUT) {
            self.is_off = true;
            self.note("The model did not help with the search, because that would exceed the spending cap.");
            return None;
        }
        // Fails only when the search was cancelled.
        self.events.send(SearchEvent::Status(step)).await.ok();
        let answer = timeout(STEP_TIMEOUT, answer(client, request, self.cancel)).await;
        let (result, spent) = match answer {
            Ok((text, spent)) => (text.map_err(|error| Failure::from(&error).message), spent),
            Err(_) => (Err(format!("it took more than {} seconds.", STEP_TIMEOUT.as_secs())), None),
        };
        if let Some(spent) = spent {
            client.pay(&mut self.assistant.allowance, &spent);
            self.events.send(SearchEvent::Spent(spent)).await.ok();
        }
        result
            .map_err(|why| {
                self.is_off = true;
                self.note(&format!("The model did not help with the search: {why}"));
            })
            .ok()
    }
}
