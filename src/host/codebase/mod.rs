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
use super::history_summary::weak_line;
use super::{Host, IndexError, Survey, embedder, known_meaning, lock};
use crate::config::EmbeddingsSource;
pub(super) use passage_source::passages_now;
pub use passage_source::{Ground, Known};
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

/// What happens while passages are gathered.
#[derive(Debug, Clone, PartialEq)]
pub enum Gathering {
    /// What is being done now.
    Status(SearchStep),
    /// A model was asked, and that has its price.
    Spent(Spent),
}

/// The passages for what is sought. The `assistant` helps with a question where the settings want it; what it fails at is left out
/// and told in the notes.
pub async fn gathered(
    ground: Arc<Ground>,
    sought: &SearchGoal,
    assistant: Option<Assistant<'_>>,
    cancel: &CancellationToken,
    events: &mpsc::Sender<Gathering>,
) -> FoundPassages {
    let text = match sought {
        SearchGoal::Wants(wants) => return granted(ground, wants).await,
        SearchGoal::Question(text) => text.clone(),
    };
    let mut question = Question { near: ground.chat.clone(), ..Question::new(&text, HITS) };
    let mut helping = assistant.map(|assistant| assistant.begin(cancel, events));
    if let Some(helping) = &mut helping {
        helping.plan(&mut question).await;
        helping.hypothesize(&mut question, &ground).await;
    }
    // Nobody waits any more when this fails.
    events.send(Gathering::Status(SearchStep::Searching)).await.ok();
    let mut notes = Vec::new();
    let mut hits = searched(&ground, &question, &mut notes).await;
    if let Some(mut helping) = helping {
        helping.rerank(&text, &mut hits).await;
        notes.splice(0..0, helping.notes);
    }
    let found = apart(move || ground.answering(&text, &hits)).await.unwrap_or_else(failed);
    FoundPassages { notes: told_once([notes, found.notes].concat()), ..found }
}

/// What a model asked for, as far as it may have it.
async fn granted(ground: Arc<Ground>, wants: &[ContextRequest]) -> FoundPassages {
    let (mut notes, mut found) = (Vec::new(), Vec::new());
    for want in wants {
        let hits = match want {
            ContextRequest::Search(words) => searched(&ground, &Question::new(words, HITS_OF_WISH), &mut notes).await,
            ContextRequest::Symbol(_) | ContextRequest::Read { .. } => Vec::new(),
        };
        found.push((want.clone(), hits));
    }
    let found = apart(move || ground.wanted(&found)).await.unwrap_or_else(failed);
    FoundPassages { notes: told_once([notes, found.notes].concat()), ..found }
}

/// What a search finds, by meaning too where that is known. What fails is told in the notes, and then words alone count.
async fn searched(ground: &Arc<Ground>, question: &Question, notes: &mut Vec<Failure>) -> Vec<Hit> {
    let vector = match &ground.meaning {
        Some((embedder, _)) => question_vector(embedder.as_ref(), question).await.map_err(|error| {
            let message = format!("Searched by words alone: {error}");
            notes.push(Failure { message, hint: error.hint() });
        }),
        None => Err(()),
    };
    let (ground, question) = (Arc::clone(ground), question.clone());
    let hits = apart(move || ground.hits(&question, vector.ok().as_deref())).await;
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
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(move || super::caught(work)).await;
    // The thread fails only when the program is leaving.
    done.unwrap_or_else(|error| Err(Failure { message: format!("{error}."), hint: String::new() }))
}

fn failed(failure: Failure) -> FoundPassages {
    FoundPassages { notes: vec![failure], ..FoundPassages::default() }
}

impl Host {
    /// Searches for the turn of the order. It is the work of that turn: stopping the turn stops it.
    pub(super) fn search_codebase(self, order: CodebaseSearch) {
        let cancel = CancellationToken::new();
        std::mem::replace(&mut *lock(&self.shared.turn), cancel.clone()).cancel();
        tokio::spawn(async move {
            let turn = order.turn;
            let found = until(&cancel, self.found_for(order, &cancel)).await;
            self.report(Response::Codebase(CodebaseResponse::Found { turn, found })).await;
        });
    }

    async fn found_for(&self, order: CodebaseSearch, cancel: &CancellationToken) -> FoundPassages {
        let Some(survey) = self.surveyed().await else {
            let message = "The repository could not be read, so it was not searched.".into();
            return failed(Failure { message, hint: "/map-refresh reads it again.".into() });
        };
        let (turn, outfit) = (order.turn, &self.shared.outfit);
        let line = self.line();
        let model = line.as_ref().map_or_else(|| Arc::new(Model::unknown("")), |line| Arc::clone(&line.facts));
        let mut note = None;
        let meaning = match self.shared.indexing.ready() {
            None if !self.shared.prepares && outfit.settings.embeddings.source != EmbeddingsSource::Off => {
                self.known_meaning(&survey).await.map_err(|error| note = Some(error.failure())).ok()
            }
            ready => ready,
        };
        let ground = Ground {
            root: self.shared.root.clone(),
            survey,
            counter: self.counter(),
            meaning,
            chat: order.chat,
            kept: order.kept,
            turn,
            budget: outfit.passage_budget(&model),
        };
        // The key of another provider may have to be asked for.
        let weak = match line.filter(|_| is_wanted(&outfit.settings.codebase)) {
            Some(main) => {
                let (runner, chosen) = (self.clone(), order.weak_model);
                apart(move || weak_line(&runner.shared.outfit, chosen.as_deref(), &main)).await.ok()
            }
            None => None,
        };
        let assistant = weak.as_ref().map(|line| Assistant { line, outfit, allowance: order.allowance });
        let (events, mut arriving) = mpsc::channel(16);
        let tell = async {
            while let Some(event) = arriving.recv().await {
                self.report(match event {
                    Gathering::Status(step) => Response::Codebase(CodebaseResponse::Status { turn, step }),
                    Gathering::Spent(spent) => Response::Asked { turn, event: AskEvent::Spent(spent) },
                })
                .await;
            }
        };
        let gather = async {
            let found = gathered(Arc::new(ground), &order.goal, assistant, cancel, &events).await;
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
    async fn known_meaning(&self, survey: &Survey) -> Result<Known, IndexError> {
        let settings = &self.shared.outfit.settings;
        let embedder = embedder(settings)?.ok_or(IndexError::Off)?;
        let meaning = known_meaning(&self.shared.root, survey, settings, embedder.as_ref()).await?;
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
async fn until(cancel: &CancellationToken, work: impl Future<Output = FoundPassages>) -> FoundPassages {
    tokio::select! {
        () = cancel.cancelled() => FoundPassages::default(),
        found = work => found,
    }
}
