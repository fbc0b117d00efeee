//! The embedding index: built in the background after each survey if the settings name an embedding model.
//!
//! Texts are sent to a server only after the user has agreed, once for each repository and server. Each batch is saved, so that a
//! stopped build resumes after the last batch.

mod build;
pub(super) mod search;
mod status;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use build::{IndexRequest, IndexStep, Indexed, PassageVectors, estimate, index};
pub use status::IndexStatus;

use super::{Host, Survey, caught, lock, map_store};
use crate::config::{ConfigError, Consent, Embeddings, EmbeddingsSource, Settings};
use crate::store::vectors::{VectorStore, VectorsError};
use rhumb_llm::embed::{EmbedError, Embedder, RemoteEmbedder, static_embedder};
use rhumb_llm::models::{Catalog, Tokens};
use rhumb_session::{EffectKind, Failure, IndexEffect, IndexResponse, LookupResponse, Page, Response};
use rhumb_workspace::Root;

#[derive(Default)]
pub(super) struct Indexing {
    /// The embedder, once it was opened.
    embedder: Mutex<Option<Arc<dyn Embedder>>>,
    vectors: Mutex<Option<Arc<PassageVectors>>>,
    running: Mutex<Option<IndexControl>>,
    /// Whether to build again, because files changed during the build.
    again: AtomicBool,
    /// Whether the user declined or stopped the build.
    declined: AtomicBool,
    /// Whether a failure was reported. It is not reported again before a build succeeds.
    reported: AtomicBool,
}

impl Indexing {
    /// The embedder with its vectors; `None` before the first build.
    pub(super) fn ready(&self) -> Option<(Arc<dyn Embedder>, Arc<PassageVectors>)> {
        lock(&self.embedder).clone().zip(lock(&self.vectors).clone())
    }
}

impl Host {
    pub(super) fn index_effect(self, effect: IndexEffect) {
        let indexing = &self.shared.indexing;
        let running = lock(&indexing.running).clone();
        match effect {
            IndexEffect::Build { agreed } => {
                indexing.declined.store(false, Ordering::SeqCst);
                indexing.reported.store(false, Ordering::SeqCst);
                if self.shared.env.settings.embeddings.source == EmbeddingsSource::Off {
                    return self.report_index_failure(&IndexError::Off);
                }
                self.start_index(agreed);
            }
            IndexEffect::Decline => indexing.declined.store(true, Ordering::SeqCst),
            IndexEffect::Pause(pause) => {
                if let Some(control) = running {
                    control.pause(pause);
                    self.respond_now(Response::Indexing(IndexResponse::Paused(pause)));
                }
            }
            IndexEffect::Cancel => {
                indexing.declined.store(true, Ordering::SeqCst);
                running.iter().for_each(IndexControl::cancel);
            }
            IndexEffect::Status => self.blocking(EffectKind::Index.failed(), Self::index_page),
            IndexEffect::Delete => self.blocking(EffectKind::Index.failed(), move |host| {
                let indexing = &host.shared.indexing;
                indexing.declined.store(true, Ordering::SeqCst);
                running.iter().for_each(IndexControl::cancel);
                *lock(&indexing.vectors) = None;
                let deleted = host.index_folder().and_then(|folder| Ok(VectorStore::delete(&folder)?));
                Response::Indexing(match deleted {
                    Ok(_) => IndexResponse::Deleted,
                    Err(error) => IndexResponse::Failed(error.failure()),
                })
            }),
        }
    }

    /// Updates the index after a survey, unless it is off or declined.
    pub(super) fn update_index(&self) {
        let is_off = self.shared.env.settings.embeddings.source == EmbeddingsSource::Off;
        if !is_off && !self.shared.indexing.declined.load(Ordering::SeqCst) {
            self.clone().start_index(false);
        }
    }

    /// Reports once why there is no index.
    pub(super) fn report_index_failure(&self, error: &IndexError) {
        if !self.shared.indexing.reported.swap(true, Ordering::SeqCst) {
            self.respond_now(Response::Indexing(IndexResponse::Failed(error.failure())));
        }
    }

    fn start_index(self, agreed: bool) {
        let control = IndexControl::default();
        {
            let mut running = lock(&self.shared.indexing.running);
            if running.is_some() {
                self.shared.indexing.again.store(true, Ordering::SeqCst);
                return;
            }
            *running = Some(control.clone());
        }
        let handle = tokio::runtime::Handle::current();
        tokio::task::spawn_blocking(move || {
            // This thread is for the build alone, so it may also compute.
            let built = caught(|| handle.block_on(self.build_index(agreed, &control)));
            *lock(&self.shared.indexing.running) = None;
            let again = self.shared.indexing.again.swap(false, Ordering::SeqCst);
            let succeeded = match built {
                Ok(Ok(response)) => {
                    let succeeded = matches!(response, Some(IndexResponse::Ready { .. }));
                    response.into_iter().for_each(|response| self.respond_now(Response::Indexing(response)));
                    succeeded
                }
                Ok(Err(IndexError::Cancelled)) => {
                    self.respond_now(Response::Indexing(IndexResponse::Cancelled));
                    false
                }
                Ok(Err(error)) => {
                    self.respond_now(Response::Indexing(IndexResponse::Idle));
                    self.report_index_failure(&error);
                    false
                }
                Err(failure) => {
                    self.respond_now(Response::Indexing(IndexResponse::Failed(failure)));
                    false
                }
            };
            if again && succeeded {
                let _entered = handle.enter();
                self.start_index(false);
            }
        });
    }

    /// Builds the index, and returns its response; `None` before the first survey.
    async fn build_index(&self, agreed: bool, control: &IndexControl) -> Result<Option<IndexResponse>, IndexError> {
        let Some(survey) = self.shared.survey.borrow().clone() else { return Ok(None) };
        let indexing = &self.shared.indexing;
        let embedder = self.embedder()?;
        let folder = self.index_folder()?;
        let before = lock(&indexing.vectors).clone();
        let request = IndexRequest {
            root: &self.shared.root,
            survey: &survey,
            before: before.as_deref(),
            embedder: embedder.as_ref(),
            folder: &folder,
            embed: true,
        };
        if let (true, Some(host)) = (agreed, embedder.host()) {
            VectorStore::open(&folder)?.0.agree(&host)?;
        }
        match may_send(&self.shared.env.settings, embedder.as_ref(), &folder) {
            Err(IndexError::NotAgreed(host)) => {
                let estimate = estimate(request, control)?;
                let price = self.embedding_price(estimate.tokens);
                // Later surveys do not repeat the question.
                indexing.declined.store(true, Ordering::SeqCst);
                return Ok(Some(IndexResponse::Asks { host, estimate, price }));
            }
            allowed => allowed?,
        }
        let progress = |step| {
            let response = match step {
                IndexStep::Files(done, total) => IndexResponse::Progress { done, total },
                IndexStep::Waiting(wait, why) => IndexResponse::Waiting { wait, why },
            };
            // Progress is dropped if the channel is full.
            self.responder.try_send(Response::Indexing(response));
        };
        let Indexed { vectors, embedded, aside, .. } = index(request, control, &progress).await?;
        let texts = vectors.len();
        indexing.reported.store(false, Ordering::SeqCst);
        *lock(&indexing.vectors) = Some(Arc::new(vectors));
        let note = aside.map(|aside| Failure {
            message: "The database of vectors was damaged and was replaced by a new one.".into(),
            hint: format!("The damaged one is {}; it can be deleted.", aside.display()),
        });
        Ok(Some(IndexResponse::Ready { texts, embedded, note }))
    }

    fn index_page(&self) -> Response {
        let Some(survey) = self.shared.survey.borrow().clone() else {
            let failure = Failure::new("The repository is still being read.", "Try again in a moment.");
            return Response::Failed { effect: EffectKind::Index, failure };
        };
        let embedder = self.embedder();
        let settings = &self.shared.env.settings;
        let status = self
            .index_folder()
            .and_then(|folder| IndexStatus::of(settings, &survey.graph, embedder.as_ref().map(AsRef::as_ref), &folder));
        match status {
            Ok(status) => Response::LookedUp(LookupResponse::Page(Page { title: "index".into(), text: status.text() })),
            Err(error) => Response::Failed { effect: EffectKind::Index, failure: error.failure() },
        }
    }

    /// The embedder of the settings, which is opened once.
    fn embedder(&self) -> Result<Arc<dyn Embedder>, IndexError> {
        let mut known = lock(&self.shared.indexing.embedder);
        if let Some(embedder) = &*known {
            return Ok(Arc::clone(embedder));
        }
        let opened = embedder(&self.shared.env.settings)?.ok_or(IndexError::Off)?;
        Ok(Arc::clone(known.insert(opened)))
    }

    /// The folder of this repository's vectors.
    fn index_folder(&self) -> Result<PathBuf, IndexError> {
        let store = map_store(&self.shared.env.settings, &self.shared.root);
        Ok(store.ok_or(IndexError::NoHome)?.folder().to_owned())
    }

    fn embedding_price(&self, tokens: usize) -> Option<f64> {
        let env = &self.shared.env;
        embedding_price(&env.catalog, env.settings.embeddings.model.as_deref()?, tokens)
    }
}

/// The price in dollars of that many tokens with a model, if it is known.
pub fn embedding_price(catalog: &Catalog, model: &str, tokens: usize) -> Option<f64> {
    let prices = catalog.find(&catalog.resolve(model)).prices?;
    Some(prices.cost(Tokens { fresh: tokens as u64, ..Tokens::default() }).as_f64())
}

/// The vectors of a surveyed repository, for a command that searches once. Missing ones are computed if the model is local; no
/// request is sent to a server.
///
/// # Errors
/// The embedder or the store fails, the user has not agreed to the server, or there are no vectors yet.
pub async fn load_vectors(
    root: &Root,
    survey: &Survey,
    settings: &Settings,
    embedder: &dyn Embedder,
) -> Result<PassageVectors, IndexError> {
    let folder = map_store(settings, root).ok_or(IndexError::NoHome)?.folder().to_owned();
    may_send(settings, embedder, &folder)?;
    let is_local = settings.embeddings.source == EmbeddingsSource::Local;
    let request = IndexRequest { root, survey, before: None, embedder, folder: &folder, embed: is_local };
    let indexed = index(request, &IndexControl::default(), &|_| {}).await?;
    if indexed.vectors.is_empty() && indexed.missing > 0 { Err(IndexError::NotBuilt) } else { Ok(indexed.vectors) }
}

/// The embedder of the settings; `None` if embeddings are off. A local model is loaded, which takes a moment. A server is not
/// contacted, but the user's key command may run.
///
/// # Errors
/// The model does not exist, or no server is configured.
pub fn embedder(settings: &Settings) -> Result<Option<Arc<dyn Embedder>>, IndexError> {
    let wanted = &settings.embeddings;
    match wanted.source {
        EmbeddingsSource::Off => Ok(None),
        EmbeddingsSource::Local => {
            let name = wanted.local_model();
            Ok(Some(static_embedder(name, &model_folder(settings, name)?)?))
        }
        EmbeddingsSource::Remote => {
            let endpoint = settings.embeddings_endpoint()?.ok_or(IndexError::NoServer)?;
            Ok(Some(Arc::new(RemoteEmbedder::new(&endpoint, wanted.api, wanted.dims)?)))
        }
    }
}

/// The folder of a local model, even if it does not exist.
///
/// # Errors
/// The name is not a path, and there is no cache folder.
pub fn model_folder(settings: &Settings, name: &str) -> Result<PathBuf, IndexError> {
    Embeddings::folder_of(name, settings.cache_folder.as_deref()).ok_or(IndexError::NoHome)
}

/// Checks whether texts of the repository whose vectors are in `folder` may be sent to the embedder.
///
/// # Errors
/// The user has not agreed yet, or the settings forbid it.
pub fn may_send(settings: &Settings, embedder: &dyn Embedder, folder: &Path) -> Result<(), IndexError> {
    let Some(host) = embedder.host() else { return Ok(()) };
    match settings.embeddings.consent {
        Consent::Always => Ok(()),
        Consent::Never => Err(IndexError::Never(host)),
        Consent::Ask => {
            let store = VectorStore::open_existing(folder)?;
            let agreed = store.map(|store| store.has_agreed(&host)).transpose()?.unwrap_or(false);
            if agreed { Ok(()) } else { Err(IndexError::NotAgreed(host)) }
        }
    }
}

/// Cancels or pauses a build of the index. Checked between batches.
#[derive(Debug, Clone)]
pub struct IndexControl {
    cancel: CancellationToken,
    paused: watch::Sender<bool>,
}

impl Default for IndexControl {
    fn default() -> Self {
        Self { cancel: CancellationToken::new(), paused: watch::Sender::new(false) }
    }
}

impl IndexControl {
    /// Cancels the build. Saved batches are kept.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Whether the build was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Pauses the build before its next batch, or continues it.
    pub fn pause(&self, pause: bool) {
        self.paused.send_replace(pause);
    }

    async fn wait_while_paused(&self) -> Result<(), IndexError> {
        let mut paused = self.paused.subscribe();
        // Cannot fail, because the sender is alive.
        self.unless_cancelled(async { drop(paused.wait_for(|paused| !paused).await) }).await
    }

    async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, IndexError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(IndexError::Cancelled),
            done = work => Ok(done),
        }
    }
}

/// An error of the embedding index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The settings are ambiguous, or a key is not available.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The model or its server fails.
    #[error("{0}")]
    Embed(#[from] EmbedError),
    /// The database fails.
    #[error("{0}")]
    Store(#[from] VectorsError),
    /// Embeddings are off.
    #[error("embeddings are off")]
    Off,
    /// `remote` without a model or a server.
    #[error("embeddings = \"remote\" needs a model and a server")]
    NoServer,
    /// There is no cache folder.
    #[error("there is no home folder, so vectors cannot be saved")]
    NoHome,
    /// The user has not agreed to send texts to the server.
    #[error("texts of this repository may not be sent to {0} yet")]
    NotAgreed(String),
    /// The settings forbid to send texts.
    #[error("embeddings_consent = \"never\" forbids to send texts to {0}")]
    Never(String),
    /// There are no vectors yet.
    #[error("this repository has no embeddings yet")]
    NotBuilt,
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
}

impl IndexError {
    /// A remedy for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Config(error) => error.hint(),
            Self::Embed(error) => error.hint().to_owned(),
            Self::Store(error) => error.hint().to_owned(),
            Self::Off => "Set embeddings = \"local\" and run rhumb index download, or set embeddings = \"remote\" with \
                          embeddings_model."
                .into(),
            Self::NoServer => {
                "Set embeddings_model = \"PROVIDER/NAME\", such as openai/text-embedding-3-small or ollama/nomic-embed-text.".into()
            }
            Self::NoHome => "Set HOME.".into(),
            Self::NotAgreed(_) | Self::NotBuilt => {
                "rhumb index build, or /index build in the app, shows what would be sent and asks.".into()
            }
            Self::Never(_) => "Set it to \"ask\", or set embeddings = \"local\".".into(),
            Self::Cancelled => "The finished part is saved; the next build continues there.".into(),
        }
    }

    pub(crate) fn failure(&self) -> Failure {
        Failure { message: format!("{}.", self.to_string().trim_end_matches('.')), hint: self.hint() }
    }
}
