//! Searching the repository for the passages of a conversation, in the app and in the commands without it.

mod passage_source;
mod search_model;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::embedding_index::search::question_vector;
use super::history_summary::weak_client;
use super::{Host, IndexError, Survey, embedder, load_vectors, lock};
use crate::config::EmbeddingsSource;
pub(super) use passage_source::passages_now;
pub use passage_source::{EmbeddingIndex, PassageSource};
use rhumb_index::retrieval::{ContextRequest, Hit, Question};
use rhumb_llm::models::Model;
use rhumb_session::{
    AskEvent, CodebaseResponse, CodebaseSearch, Failure, FoundPassages, Response, SearchGoal, SearchStep, Spent,
};
pub use search_model::{Assistant, is_wanted};

/// Passages that a search looks at before they are fitted to their budget.
const HITS: usize = 40;
/// Passages that one wish of a model searches for.
const HITS_OF_WISH: usize = 8;
/// How often is looked whether the reading of the repository has come to an end without a result.
const LOOK: Duration = Duration::from_millis(200);

/// What happens while passages are find_passages.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchEvent {
    /// What is being done now.
    Status(SearchStep),
    /// A model was asked, and that has its price.
    Spent(Spent),
}

/// The passages for what is sought. The `assistant` helps with a question where the settings want it; what it fails at is left out
/// and told in the notes.
pub async fn find_passages(
    source: Arc<PassageSource>,
    sought: &SearchGoal,
    assistant: Option<Assistant<'_>>,
    cancel: &CancellationToken,
    events: &mpsc::Sender<SearchEvent>,
) -> FoundPassages {
    let text = match sought {
        SearchGoal::Requests(wants) => return requested_passages(source, wants).await,
        SearchGoal::Question(text) => text.clone(),
    };
    let mut question = Question { near: source.chat.clone(), ..Question::new(&text, HITS) };
    let mut help = assistant.map(|assistant| assistant.begin(cancel, events));
    if let Some(help) = &mut help {
        help.plan(&mut question).await;
        help.hypothesize(&mut question, &source).await;
    }
    // Nobody waits any more when this fails.
    events.send(SearchEvent::Status(SearchStep::Searching)).await.ok();
    let mut notes = Vec::new();
    let mut hits = searched(&source, &question, &mut notes).await;
    if let Some(mut help) = help {
        help.rerank(&text, &mut hits).await;
        notes.splice(0..0, help.notes);
    }
    let found = on_blocking_thread(move || source.answering(&text, &hits)).await.unwrap_or_else(failed);
    FoundPassages { notes: told_once([notes, found.notes].concat()), ..found }
}

/// What a model asked for, as far as it may have it.
async fn requested_passages(source: Arc<PassageSource>, wants: &[ContextRequest]) -> FoundPassages {
    let (mut notes, mut found) = (Vec::new(), Vec::new());
    for want in wants {
        let hits = match want {
            ContextRequest::Search(words) => searched(&source, &Question::new(words, HITS_OF_WISH), &mut notes).await,
            ContextRequest::Symbol(_) | ContextRequest::Read { .. } => Vec::new(),
        };
        found.push((want.clone(), hits));
    }
    let found = on_blocking_thread(move || source.wanted(&found)).await.unwrap_or_else(failed);
    FoundPassages { notes: told_once([notes, found.notes].concat()), ..found }
}

/// What a search finds, by meaning too where that is known. What fails is told in the notes, and then words alone count.
async fn searched(source: &Arc<PassageSource>, question: &Question, notes: &mut Vec<Failure>) -> Vec<Hit> {
    let vector = match &source.meaning {
        Some((embedder, _)) => question_vector(embedder.as_ref(), question).await.map_err(|error| {
            let message = format!("Searched by words alone: {error}");
            notes.push(Failure { message, hint: error.hint() });
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

fn told_once(notes: Vec<Failure>) -> Vec<Failure> {
    let mut once: Vec<Failure> = Vec::new();
    for note in notes {
        if !once.contains(&note) {
            once.push(note);
        }
    }
    once
}

/// Runs `work` on a thread that may block.
async fn on_blocking_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(move || super::caught(work)).await;
    // The thread fails only when the program is leaving.
    done.unwrap_or_else(|error| Err(Failure { message: format!("{error}."), hint: String::new() }))
}

fn failed(failure: Failure) -> FoundPassages {
    FoundPassages { notes: vec![failure], ..FoundPassages::default() }
}

impl Host {
    /// Searches for the turn of the request. It is the work of that turn: stopping the turn stops it.
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
        let meaning = match self.shared.indexing.ready() {
            None if !self.shared.prepares && env.settings.embeddings.source != EmbeddingsSource::Off => {
                self.load_vectors(&survey).await.map_err(|error| note = Some(error.failure())).ok()
            }
            ready => ready,
        };
        let source = PassageSource {
            root: self.shared.root.clone(),
            survey,
            counter: self.counter(),
            meaning,
            chat: request.chat,
            kept: request.known,
            turn,
            budget: env.passage_budget(&model),
        };
        // The key of another provider may have to be asked for.
        let weak = match client.filter(|_| is_wanted(&env.settings.codebase)) {
            Some(main) => {
                let (host, chosen) = (self.clone(), request.weak_model);
                on_blocking_thread(move || weak_client(&host.shared.env, chosen.as_deref(), &main)).await.ok()
            }
            None => None,
        };
        let assistant = weak.as_ref().map(|client| Assistant { client, env, allowance: request.allowance });
        let (events, mut arriving) = mpsc::channel(16);
        let tell = async {
            while let Some(event) = arriving.recv().await {
                self.respond(match event {
                    SearchEvent::Status(step) => Response::Codebase(CodebaseResponse::Status { turn, step }),
                    SearchEvent::Spent(spent) => Response::Asked { turn, event: AskEvent::Spent(spent) },
                })
                .await;
            }
        };
        let gather = async {
            let found = find_passages(Arc::new(source), &request.goal, assistant, cancel, &events).await;
            drop(events);
            found
        };
        let (mut found, ()) = tokio::join!(gather, tell);
        found.notes.splice(
            0..0,
            note.map(|failure| Failure { message: format!("Searched by words alone: {}", failure.message), ..failure }),
        );
        found
    }

    /// The embeddings of the repository that an earlier run has kept.
    async fn load_vectors(&self, survey: &Survey) -> Result<EmbeddingIndex, IndexError> {
        let settings = &self.shared.env.settings;
        let embedder = embedder(settings)?.ok_or(IndexError::Off)?;
        let meaning = load_vectors(&self.shared.root, survey, settings, embedder.as_ref()).await?;
        Ok((embedder, Arc::new(meaning)))
    }

    /// The survey, as soon as it is there; `None` when no survey runs any more and none is there.
    async fn surveyed(&self) -> Option<Arc<Survey>> {
        let mut surveyed = self.shared.survey.subscribe();
        loop {
            if let Ok(Ok(_)) = tokio::time::timeout(LOOK, surveyed.wait_for(Option::is_some)).await {
                return self.shared.survey.borrow().clone();
            }
            if self.shared.surveys.load(Ordering::SeqCst) == 0 {
                return self.shared.survey.borrow().clone();
            }
        }
    }
}

/// What comes of `work`, or nothing as soon as it is not wanted any more.
async fn unless_cancelled(cancel: &CancellationToken, work: impl Future<Output = FoundPassages>) -> FoundPassages {
    tokio::select! {
        () = cancel.cancelled() => FoundPassages::default(),
        found = work => found,
    }
}
