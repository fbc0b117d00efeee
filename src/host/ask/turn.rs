//! A turn of the app: its request goes out, what comes back is reported, and its cache is kept warm afterwards.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::editor::TurnModel;
use super::pings::{PING_EVERY, keep_warm};
use crate::host::history_summary::SummaryRequest;
use crate::host::{Host, Line, Question, SURVEY_PATIENCE, ask, caught, lock};
use rhumb_index::repo_map::Refresh;
use rhumb_session::context::{ChunkKind, Prompt};
use rhumb_session::{AskEvent, ContextView, Failure, ModelRole, RequestSpec, Response};

/// A change of what the provider counts for one of our tokens that moves the meters.
const WORTH_RECOUNTING: f64 = 0.005;

/// The history is summed up to no fewer tokens than this.
const LEAST_HISTORY: usize = 512;

impl Host {
    pub(crate) async fn ask(self, order: RequestSpec, cancel: CancellationToken) {
        let turn = order.generation;
        let mut surveyed = self.shared.survey.subscribe();
        let ready = surveyed.wait_for(Option::is_some);
        tokio::select! {
            () = cancel.cancelled() => return,
            _ = tokio::time::timeout(SURVEY_PATIENCE, ready) => {}
        }
        let Some(addressee) = self.addressee(&order).await else { return };
        let order = Arc::new(order);
        let TurnModel { line, counter, is_main, note } = addressee.clone();
        if order.role != ModelRole::Main {
            let event = AskEvent::Editor { model: line.model.clone(), note };
            self.report(Response::Asked { turn, event }).await;
        }
        let question = Question {
            line: &line,
            outfit: &self.shared.outfit,
            compose: &|limit| {
                Box::pin(self.clone().fitted(Arc::clone(&order), limit, addressee.clone(), cancel.clone()))
            },
            partial: &order.partial,
            counter: &*counter,
            allowance: order.allowance,
            choices: &order.overrides,
        };
        let (events, mut arriving) = mpsc::channel(64);
        let forward = async {
            while let Some(event) = arriving.recv().await {
                self.report(Response::Asked { turn, event }).await;
            }
        };
        let asked = async {
            let asked = ask(&question, &cancel, &events).await;
            drop(events);
            asked
        };
        let factor = self.shared.outfit.factor(&line.facts);
        let (result, ()) = tokio::join!(asked, forward);
        if is_main && (self.shared.outfit.factor(&line.facts) - factor).abs() > WORTH_RECOUNTING {
            self.set_counter(&line.facts);
        }
        self.report(match result {
            Ok(asked) => {
                tokio::spawn(self.clone().keep_warm(turn, line.clone(), asked.prompt, cancel));
                Response::Ended { turn, result: Ok(asked.completion) }
            }
            Err(error) => Response::Ended { turn, result: Err(error) },
        })
        .await;
    }

    /// Keeps the provider's cache of a request warm until the next turn, if the settings want that.
    async fn keep_warm(self, turn: u64, line: Line, prompt: Arc<Prompt>, cancel: CancellationToken) {
        let (sender, mut spent) = mpsc::channel(1);
        let pings = keep_warm(&line, &prompt, self.shared.outfit.settings.cache_pings, PING_EVERY, &cancel, sender);
        let report = async {
            while let Some(spent) = spent.recv().await {
                self.report(Response::Asked { turn, event: AskEvent::Spent(spent) }).await;
            }
        };
        tokio::join!(pings, report);
    }

    /// The request as it goes out. Where it is too large because of its history, that is summed up first, and only where no summary
    /// can be had are the oldest turns left out.
    async fn fitted(
        self,
        order: Arc<RequestSpec>,
        limit: Option<usize>,
        addressee: TurnModel,
        cancel: CancellationToken,
    ) -> Result<ContextView, Failure> {
        let view = self.clone().composed(Arc::clone(&order), limit, addressee.clone()).await?;
        let Some(over) = view.prompt.overfull.as_ref().filter(|over| over.head > 0 && over.head_suffices) else {
            return Ok(view);
        };
        let chunks = view.prompt.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::History);
        let history: usize = chunks.map(|chunk| chunk.tokens).sum();
        let room = history.saturating_sub(over.excess).max(LEAST_HISTORY);
        let chosen = order.overrides.weak_model.clone();
        let how = SummaryRequest { limit: room, allowance: order.allowance, chosen, compact: None };
        let folded = self.folded(&order.history, &how, &cancel).await;
        let next = match &folded {
            Ok(summarized) => {
                let history = Arc::new(summarized.messages.clone());
                RequestSpec { history, may_forget: true, ..(*order).clone() }
            }
            Err(_) => RequestSpec { may_forget: true, ..(*order).clone() },
        };
        self.report(Response::Summarized { history: Arc::clone(&order.history), result: folded }).await;
        self.composed(Arc::new(next), limit, addressee).await
    }

    /// The request as it goes out, put together on a thread that may block.
    async fn composed(
        self,
        order: Arc<RequestSpec>,
        limit: Option<usize>,
        TurnModel { line, counter, .. }: TurnModel,
    ) -> Result<ContextView, Failure> {
        let composed = tokio::task::spawn_blocking(move || {
            caught(|| {
                if order.map.refresh == Refresh::Always && limit.is_none() {
                    lock(&self.shared.changed).listing = true;
                    self.survey(&AtomicBool::new(false));
                }
                self.compose_for(&order, false, limit, (&line.facts, &counter))
            })
        });
        // The thread fails only when the program is leaving.
        composed.await.unwrap_or_else(|error| Err(Failure { message: error.to_string(), hint: String::new() }))
    }
}
