//! The index of meanings: made in the background after each survey, where the settings name a model for it.
//!
//! Texts that would leave the machine wait until the user has agreed, once for each repository and server. Whatever is stopped goes
//! on from there: each batch is kept as it comes.

mod build;
mod control;
mod embedder;
mod error;
pub(super) mod search;
mod status;
#[cfg(test)]
mod tests;
mod vectors;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub use build::{IndexRequest, IndexStep, Indexed, estimate, index};
pub use control::IndexControl;
pub use embedder::{embedder, may_send, model_folder};
pub use error::IndexError;
pub use status::IndexStatus;
pub use vectors::Meaning;

use super::{Host, Survey, caught, lock, map_store};
use crate::config::{EmbeddingsSource, Settings};
use crate::store::vectors::VectorStore;
use rhumb_llm::embed::Embedder;
use rhumb_llm::models::{Catalog, Tokens};
use rhumb_session::{EffectKind, Failure, IndexEffect, IndexResponse, LookupResponse, Page, Response};
use rhumb_workspace::Root;

/// What the runner knows of the index.
#[derive(Default)]
pub(super) struct Indexing {
    /// ModelRole makes vectors, once it was opened.
    embedder: Mutex<Option<Arc<dyn Embedder>>>,
    meaning: Mutex<Option<Arc<Meaning>>>,
    /// The index that is being made.
    running: Mutex<Option<IndexControl>>,
    /// Something changed meanwhile.
    again: AtomicBool,
    /// The user does not want to be asked again, or has stopped it.
    declined: AtomicBool,
    /// A failure was told, and is not told again until something works.
    told: AtomicBool,
}

impl Indexing {
    /// The embedder and what is known by it; `None` before anything is.
    pub(super) fn ready(&self) -> Option<(Arc<dyn Embedder>, Arc<Meaning>)> {
        lock(&self.embedder).clone().zip(lock(&self.meaning).clone())
    }
}

impl Host {
    /// Carries out what the user wants of the index.
    pub(super) fn index_command(self, command: IndexEffect) {
        let indexing = &self.shared.indexing;
        let running = lock(&indexing.running).clone();
        match command {
            IndexEffect::Build { agreed } => {
                indexing.declined.store(false, Ordering::SeqCst);
                indexing.told.store(false, Ordering::SeqCst);
                if self.shared.outfit.settings.embeddings.source == EmbeddingsSource::Off {
                    return self.tell_index_failure(&IndexError::Off);
                }
                self.start_index(agreed);
            }
            IndexEffect::Decline => indexing.declined.store(true, Ordering::SeqCst),
            IndexEffect::Pause(pause) => {
                if let Some(control) = running {
                    control.pause(pause);
                    self.report_now(Response::Indexing(IndexResponse::Paused(pause)));
                }
            }
            IndexEffect::Cancel => {
                indexing.declined.store(true, Ordering::SeqCst);
                running.iter().for_each(IndexControl::cancel);
            }
            IndexEffect::Status => self.blocking(EffectKind::Index.failed(), Self::index_page),
            IndexEffect::Delete => self.blocking(EffectKind::Index.failed(), move |runner| {
                let indexing = &runner.shared.indexing;
                indexing.declined.store(true, Ordering::SeqCst);
                running.iter().for_each(IndexControl::cancel);
                *lock(&indexing.meaning) = None;
                let deleted = runner.index_folder().and_then(|folder| Ok(VectorStore::delete(&folder)?));
                Response::Indexing(match deleted {
                    Ok(_) => IndexResponse::Deleted,
                    Err(error) => IndexResponse::Failed(error.failure()),
                })
            }),
        }
    }

    /// Indexes what a survey has found anew, if anything is to be indexed at all.
    pub(super) fn index_again(&self) {
        let is_off = self.shared.outfit.settings.embeddings.source == EmbeddingsSource::Off;
        if !is_off && !self.shared.indexing.declined.load(Ordering::SeqCst) {
            self.clone().start_index(false);
        }
    }

    /// Tells why there are no meanings, once.
    pub(super) fn tell_index_failure(&self, error: &IndexError) {
        if !self.shared.indexing.told.swap(true, Ordering::SeqCst) {
            self.report_now(Response::Indexing(IndexResponse::Failed(error.failure())));
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
            // The thread is ours alone, so whatever computes in between disturbs nobody.
            let made = caught(|| handle.block_on(self.make_index(agreed, &control)));
            *lock(&self.shared.indexing.running) = None;
            let again = self.shared.indexing.again.swap(false, Ordering::SeqCst);
            let is_fine = match made {
                Ok(Ok(report)) => {
                    let is_fine = matches!(report, Some(IndexResponse::Ready { .. }));
                    report.into_iter().for_each(|report| self.report_now(Response::Indexing(report)));
                    is_fine
                }
                Ok(Err(IndexError::Cancelled)) => {
                    self.report_now(Response::Indexing(IndexResponse::Cancelled));
                    false
                }
                Ok(Err(error)) => {
                    self.report_now(Response::Indexing(IndexResponse::Idle));
                    self.tell_index_failure(&error);
                    false
                }
                Err(failure) => {
                    self.report_now(Response::Indexing(IndexResponse::Failed(failure)));
                    false
                }
            };
            if again && is_fine {
                let _entered = handle.enter();
                self.start_index(false);
            }
        });
    }

    /// Makes the index of what is known of the repository now; what to tell of it. Nothing while nothing is known.
    async fn make_index(&self, agreed: bool, control: &IndexControl) -> Result<Option<IndexResponse>, IndexError> {
        let Some(survey) = self.shared.survey.borrow().clone() else { return Ok(None) };
        let indexing = &self.shared.indexing;
        let embedder = self.embedder()?;
        let folder = self.index_folder()?;
        let before = lock(&indexing.meaning).clone();
        let order = IndexRequest {
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
        match may_send(&self.shared.outfit.settings, embedder.as_ref(), &folder) {
            Err(IndexError::NotAgreed { host }) => {
                let estimate = estimate(order, control)?;
                let price = self.embedding_price(estimate.tokens);
                // Once asked is enough: what changes meanwhile waits for the answer.
                indexing.declined.store(true, Ordering::SeqCst);
                return Ok(Some(IndexResponse::Asks { host, estimate, price }));
            }
            allowed => allowed?,
        }
        let progress = |step| {
            let report = match step {
                IndexStep::Files(done, total) => IndexResponse::Progress { done, total },
                IndexStep::Waiting(wait, why) => IndexResponse::Waiting { wait, why },
            };
            // Progress that nobody has time for is not worth waiting.
            drop(self.reports.try_send(Response::Indexing(report)));
        };
        let Indexed { meaning, embedded, aside, .. } = index(order, control, &progress).await?;
        let texts = meaning.len();
        indexing.told.store(false, Ordering::SeqCst);
        *lock(&indexing.meaning) = Some(Arc::new(meaning));
        let note = aside.map(|aside| Failure {
            message: "The database of vectors was damaged and was made anew.".into(),
            hint: format!("What was there is in {}; it can be deleted.", aside.display()),
        });
        Ok(Some(IndexResponse::Ready { texts, embedded, note }))
    }

    /// How the index is, to be read.
    fn index_page(&self) -> Response {
        let Some(survey) = self.shared.survey.borrow().clone() else {
            let message = "The repository is still being read.".into();
            let failure = Failure { message, hint: "Ask again in a moment.".into() };
            return Response::Failed { effect: EffectKind::Index, failure };
        };
        let embedder = self.embedder();
        let settings = &self.shared.outfit.settings;
        let status = self
            .index_folder()
            .and_then(|folder| IndexStatus::of(settings, &survey.graph, embedder.as_ref().map(AsRef::as_ref), &folder));
        match status {
            Ok(status) => Response::LookedUp(LookupResponse::Page(Page { title: "index".into(), text: status.text() })),
            Err(error) => Response::Failed { effect: EffectKind::Index, failure: error.failure() },
        }
    }

    /// The embedder of the settings, opened once.
    fn embedder(&self) -> Result<Arc<dyn Embedder>, IndexError> {
        let mut known = lock(&self.shared.indexing.embedder);
        if let Some(embedder) = &*known {
            return Ok(Arc::clone(embedder));
        }
        let opened = embedder(&self.shared.outfit.settings)?.ok_or(IndexError::Off)?;
        Ok(Arc::clone(known.insert(opened)))
    }

    /// Where the vectors of this repository are kept.
    fn index_folder(&self) -> Result<PathBuf, IndexError> {
        let store = map_store(&self.shared.outfit.settings, &self.shared.root);
        Ok(store.ok_or(IndexError::NoHome)?.folder().to_owned())
    }

    fn embedding_price(&self, tokens: usize) -> Option<f64> {
        let outfit = &self.shared.outfit;
        embedding_price(&outfit.catalog, outfit.settings.embeddings.model.as_deref()?, tokens)
    }
}

/// Dollars that so many tokens cost with a model, if its price is known.
pub fn embedding_price(catalog: &Catalog, model: &str, tokens: usize) -> Option<f64> {
    let prices = catalog.find(&catalog.resolve(model)).prices?;
    Some(prices.cost(Tokens { fresh: tokens as u64, ..Tokens::default() }).as_f64())
}

/// The vectors of a surveyed repository as far as they are there, for a command that searches once: those of a model on this machine
/// are made where they are missing, a server is asked for none.
///
/// # Errors
/// The embedder or the store fails, the user has not agreed to the server, or there is nothing yet.
pub async fn known_meaning(
    root: &Root,
    survey: &Survey,
    settings: &Settings,
    embedder: &dyn Embedder,
) -> Result<Meaning, IndexError> {
    let folder = map_store(settings, root).ok_or(IndexError::NoHome)?.folder().to_owned();
    may_send(settings, embedder, &folder)?;
    let is_local = settings.embeddings.source == EmbeddingsSource::Local;
    let order = IndexRequest { root, survey, before: None, embedder, folder: &folder, embed: is_local };
    let indexed = index(order, &IndexControl::default(), &|_| {}).await?;
    if indexed.meaning.is_empty() && indexed.missing > 0 { Err(IndexError::NotBuilt) } else { Ok(indexed.meaning) }
}
