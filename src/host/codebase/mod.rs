//! Searches the repository for passages of a conversation.

mod passage_source;
mod search_model;

use super::embedding_index::search::question_vector;
use super::history_summary::weak_client;
use super::{Host, IndexError, Survey, embedder, load_vectors, lock, on_blocking_thread};
use crate::config::EmbeddingsSource;
pub(super) use passage_source::current_passages;
pub use passage_source::{EmbeddingIndex, PassageSource};
use rhumb_index::retrieval::{ContextRequest, Hit, Question};
use rhumb_llm::models::Model;
use rhumb_session::{
    AskEvent, CodebaseResponse, CodebaseSearch, Failure, FoundPassages, Response, SearchGoal, SearchStep, Spent,
};
pub use search_model::{Assistant, is_enabled};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Number of hits of a search, before they are fitted to their budget.
const HITS: usize = 40;
const MODEL_SEARCH_HITS: usize = 8;
/// How often to check whether the survey ended without a result.
const POLL: Duration = Duration::from_millis(200);

/// Progress of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchEvent {
    /// The current step.
    Status(SearchStep),
    /// The cost of a request to the assistant.
    Spent(Spent),
}

/// Finds passages. The `assistant` performs the steps that the settings enable; its errors become notes.
pub async fn find_passages(
    source: Arc<PassageSource>,
    goal: &SearchGoal,
    assistant: Option<Assistant<'_>>,
    cancel: &CancellationToken,
    events: &mpsc::Sender<SearchEvent>,
) -> FoundPassages {
    let text = match goal {
        SearchGoal::Requests(wants) => return find_requested(source, wants).await,
        SearchGoal::Question(text) => text.clone(),
    };
    let mut question = Question::new(&text, HITS);
    let mut help = assistant.map(|assistant| assistant.begin(cancel, events));
    if let Some(help) = &mut help {
        help.plan(&mut question).await;
        help.hypothesize(&mut question, &source).await;
    }
    // Fails only when the search was cancelled.
    events.send(SearchEvent::Status(SearchStep::Searching)).await.ok();
    let mut notes = Vec::new();
    let mut hits = search(&source, &question, &mut notes).await;
    if let Some(mut help) = help {
        help.rerank(&text, &mut hits).await;
        notes.splice(0..0, help.notes);
    }
    let found = on_blocking_thread(move || source.passages_for_question(&text, &hits)).await.unwrap_or_else(failed);
    FoundPassages { notes: without_duplicates([notes, found.notes].concat()), ..found }
}

async fn find_requested(source: Arc<PassageSource>, wants: &[ContextRequest]) -> FoundPassages {
    let (mut notes, mut found) = (Vec::new(), Vec::new());
    for want in wants {
        let hits = match want {
            ContextRequest::Search(words) => {
                search(&source, &Question::new(words, MODEL_SEARCH_HITS), &mut notes).await
            }
            ContextRequest::Symbol(_) | ContextRequest::Read { .. } => Vec::new(),
        };
        found.push((want.clone(), hits));
    }
    let found = on_blocking_thread(move || source.passages_for_requests(&found)).await.unwrap_or_else(failed);
    FoundPassages { notes: without_duplicates([notes, found.notes].concat()), ..found }
}

/// Searches by words, and by embeddings if possible. An error of the latter becomes a note.
async fn search(source: &Arc<PassageSource>, question: &Question, notes: &mut Vec<Failure>) -> Vec<Hit> {
    let vector = match &source.index {
        Some((embedder, _)) => question_vector(embedder.as_ref(), question).await.map_err(|error| {
            notes.push(Failure::new(format!("The search was by words alone: {error}"), error.hint()));
        }),
        None => Err(()),
    };
    let (source, question) = (Arc::clone(source), question.clone());
    let hits = on_blocking_thread(move || source.hits(&question, vector.ok().as_deref())).await;
    hits.unwrap_or_else(|failure| {
        notes.push(failure);
        Vec::new()
    })
}

fn without_duplicates(notes: Vec<Failure>) -> Vec<Failure> {
    let mut once: Vec<Failure> = Vec::new();
    for note in notes {
        if !once.contains(&note) {
            once.push(note);
        }
    }
    once
}

fn failed(failure: Failure) -> FoundPassages {
    FoundPassages { notes: vec![failure], ..FoundPassages::default() }
}

impl Host {
    /// Searches for a turn. Cancelling the turn cancels the search.
    pub(super) fn search_codebase(self, request: CodebaseSearch) {
        let cancel = CancellationToken::new();
        std::mem::replace(&mut *lock(&self.shared.turn), cancel.clone()).cancel();
        tokio::spawn(async move {
            let turn = request.turn;
            let found = unless_cancelled(&cancel, self.found_for(request, &cancel)).await;
            self.respond(Response::Codebase(CodebaseResponse::Found { turn, found })).await;
        });
    }

    async fn found_for(&self, request: CodebaseSearch, cancel: &CancellationToken) -> FoundPassages {
        let Some(survey) = self.surveyed().await else {
            let message = "The repository could not be read, so it was not searched.".into();
            return failed(Failure { message, hint: "/map-refresh reads it again.".into() });
        };
        let (turn, env) = (request.turn, &self.shared.env);
        let client = self.client();
        let model = client.as_ref().map_or_else(|| Arc::new(Model::unknown("")), |client| Arc::clone(&client.facts));
        let mut note = None;
        let index = match self.shared.indexing.ready() {
            None if !self.shared.prepares && env.settings.embeddings.source != EmbeddingsSource::Off => {
                self.load_embedding_index(&survey).await.map_err(|error| note = Some(error.failure())).ok()
            }
            ready => ready,
        };
        let source = PassageSource {
            root: self.shared.root.clone(),
            survey,
            counter: self.counter(),
            index,
            chat: request.chat,
            kept: request.known,
            turn,
            budget: env.passage_budget(&model),
        };
        let weak = match client.filter(|_| is_enabled(&env.settings.codebase)) {
            Some(main) => {
                let (host, chosen) = (self.clone(), request.weak_model);
                on_blocking_thread(move || weak_client(&host.shared.env, chosen.as_deref(), &main)).await.ok()
            }
            None => None,
        };
        let assistant = weak.as_ref().map(|client| Assistant { client, env, allowance: request.allowance });
        let (events, mut arriving) = mpsc::channel(16);
        let forward = async {
            while let Some(event) = arriving.recv().await {
                self.respond(match event {
                    SearchEvent::Status(step) => Response::Codebase(CodebaseResponse::Status { turn, step }),
                    SearchEvent::Spent(spent) => Response::Asked { turn, event: AskEvent::Spent(spent) },
                })
                .await;
            }
        };
        let find = async {
            let found = find_passages(Arc::new(source), &request.goal, assistant, cancel, &events).await;
            drop(events);
            found
        };
        let (mut found, ()) = tokio::join!(find, forward);
        found.notes.splice(
            0..0,
            note.map(|failure| Failure {
                message: format!("The search was by words alone: {}", failure.message),
                ..failure
            }),
        );
        found
    }

    /// The embedding index of an earlier run.
    async fn load_embedding_index(&self, survey: &Survey) -> Result<EmbeddingIndex, IndexError> {
        let settings = &self.shared.env.settings;
        let embedder = embedder(settings)?.ok_or(IndexError::Off)?;
        let vectors = load_vectors(&self.shared.root, survey, settings, embedder.as_ref()).await?;
        Ok((embedder, Arc::new(vectors)))
    }

    /// Waits for the survey; `None` if all surveys ended without a result.
    async fn surveyed(&self) -> Option<Arc<Survey>> {
        let mut surveyed = self.shared.survey.subscribe();
        loop {
            if let Ok(Ok(_)) = tokio::time::timeout(POLL, surveyed.wait_for(Option::is_some)).await {
                return self.shared.survey.borrow().clone();
            }
            if self.shared.survey_state.surveys.load(Ordering::SeqCst) == 0 {
                return self.shared.survey.borrow().clone();
            }
        }
    }
}

/// The result of `work`, or an empty one if it is cancelled.
async fn unless_cancelled(cancel: &CancellationToken, work: impl Future<Output = FoundPassages>) -> FoundPassages {
    tokio::select! {
        () = cancel.cancelled() => FoundPassages::default(),
        found = work => found,
    }
}
