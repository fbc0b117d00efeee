//! A turn of the app: its request goes out, what comes back is reported, and its cache is kept warm afterwards.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::editor::TurnModel;
use super::pings::{PING_EVERY, keep_warm};
use crate::host::history_summary::SummaryRequest;
use crate::host::{Host, ModelClient, AskParams, SURVEY_TIMEOUT, ask, caught, lock};
use rhumb_index::repo_map::Refresh;
use rhumb_session::context::{ChunkKind, Prompt};
use rhumb_session::{AskEvent, ContextView, Failure, ModelRole, RequestSpec, Response};

/// A change of what the provider counts for one of our tokens that moves the meters.
const WORTH_RECOUNTING: f64 = 0.005;

/// The history is summed up to no fewer tokens than this.
const MIN_HISTORY_TOKENS: usize = 512;

impl Host {
    pub(crate) async fn ask(self, spec: RequestSpec, cancel: CancellationToken) {
        let turn = spec.generation;
        let mut surveyed = self.shared.survey.subscribe();
        let ready = surveyed.wait_for(Option::is_some);
        tokio::select! {
            () = cancel.cancelled() => return,
            _ = tokio::time::timeout(SURVEY_TIMEOUT, ready) => {}
        }
        let Some(turn_model) = self.turn_model(&spec).await else { return };
        let spec = Arc::new(spec);
        let TurnModel { client, counter, is_main, note } = turn_model.clone();
        if spec.who != ModelRole::Main {
            let event = AskEvent::Editor { model: client.model.clone(), note };
            self.respond(Response::Asked { turn, event }).await;
        }
        let params = AskParams {
            client: &client,
            env: &self.shared.env,
            compose: &|limit| {
                Box::pin(self.clone().compose_to_fit(Arc::clone(&spec), limit, turn_model.clone(), cancel.clone()))
            },
            partial: &spec.partial,
            counter: &*counter,
            allowance: spec.allowance,
            choices: &spec.choices,
        };
        let (events, mut arriving) = mpsc::channel(64);
        let forward = async {
            while let Some(event) = arriving.recv().await {
                self.respond(Response::Asked { turn, event }).await;
            }
        };
        let asked = async {
            let asked = ask(&params, &cancel, &events).await;
            drop(events);
            asked
        };
        let factor = self.shared.env.factor(&client.facts);
        let (result, ()) = tokio::join!(asked, forward);
        if is_main && (self.shared.env.factor(&client.facts) - factor).abs() > WORTH_RECOUNTING {
            self.set_counter(&client.facts);
        }
        self.respond(match result {
            Ok(asked) => {
                tokio::spawn(self.clone().keep_warm(turn, client.clone(), asked.prompt, cancel));
                Response::Ended { turn, result: Ok(asked.completion) }
            }
            Err(error) => Response::Ended { turn, result: Err(error) },
        })
        .await;
    }

    /// Keeps the provider's cache of a request warm until the next turn, if the settings want that.
    async fn keep_warm(self, turn: u64, client: ModelClient, prompt: Arc<Prompt>, cancel: CancellationToken) {
        let (sender, mut spent) = mpsc::channel(1);
        let pings = keep_warm(&client, &prompt, self.shared.env.settings.cache_pings, PING_EVERY, &cancel, sender);
        let report = async {
            while let Some(spent) = spent.recv().await {
                self.respond(Response::Asked { turn, event: AskEvent::Spent(spent) }).await;
            }
        };
        tokio::join!(pings, report);
    }

    /// The request as it goes out. Where it is too large because of its history, that is summed up first, and only where no summary
    /// can be had are the oldest turns left out.
    async fn compose_to_fit(
        self,
        spec: Arc<RequestSpec>,
        limit: Option<usize>,
        turn_model: TurnModel,
        cancel: CancellationToken,
    ) -> Result<ContextView, Failure> {
        let view = self.clone().compose_on_thread(Arc::clone(&spec), limit, turn_model.clone()).await?;
        let Some(over) = view.prompt.overfull.as_ref().filter(|over| over.head > 0 && over.head_suffices) else {
            return Ok(view);
        };
        let chunks = view.prompt.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::History);
        let history: usize = chunks.map(|chunk| chunk.tokens).sum();
        let room = history.saturating_sub(over.excess).max(MIN_HISTORY_TOKENS);
        let chosen = spec.choices.weak_model.clone();
        let how = SummaryRequest { limit: room, allowance: spec.allowance, chosen, compact: None };
        let summarized = self.summarized(&spec.history, &how, &cancel).await;
        let next = match &summarized {
            Ok(summarized) => {
                let history = Arc::new(summarized.messages.clone());
                RequestSpec { history, may_forget: true, ..(*spec).clone() }
            }
            Err(_) => RequestSpec { may_forget: true, ..(*spec).clone() },
        };
        self.respond(Response::Summarized { history: Arc::clone(&spec.history), result: summarized }).await;
        self.compose_on_thread(Arc::new(next), limit, turn_model).await
    }

    /// The request as it goes out, put together on a thread that may block.
    async fn compose_on_thread(
        self,
        spec: Arc<RequestSpec>,
        limit: Option<usize>,
        TurnModel { client, counter, .. }: TurnModel,
    ) -> Result<ContextView, Failure> {
        let compose_on_thread = tokio::task::spawn_blocking(move || {
            caught(|| {
                if spec.map.refresh == Refresh::Always && limit.is_none() {
                    lock(&self.shared.changed).listing = true;
                    self.survey(&AtomicBool::new(false));
                }
                self.compose_for(&spec, false, limit, (&client.facts, &counter))
            })
        });
        // The thread fails only when the program is leaving.
        compose_on_thread.await.unwrap_or_else(|error| Err(Failure { message: error.to_string(), hint: String::new() }))
    }
}
