//! The request of a turn: selects the model (main or editor), composes and sends the request, and keeps the prompt cache of the
//! provider warm afterwards.

use super::pings::{PING_EVERY, keep_warm};
use super::{AskParams, ask, llm_request};
use crate::host::history_summary::SummaryRequest;
use crate::host::{CachedCounter, Host, ModelClient, RequestEnv, connect_model, lock, on_blocking_thread};
use rhumb_index::repo_map::Refresh;
use rhumb_llm::Request;
use rhumb_session::context::SectionKind;
use rhumb_session::{AskEvent, ContextView, Failure, ModelRole, RequestSpec, Response};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Minimum change of the calibration factor that updates the meter.
const MIN_FACTOR_CHANGE: f64 = 0.005;

/// Minimum limit for a summary of the history.
const MIN_HISTORY_TOKENS: usize = 512;

impl Host {
    pub(crate) async fn ask(self, spec: RequestSpec, cancel: CancellationToken) {
        let turn = spec.generation;
        tokio::select! {
            () = cancel.cancelled() => return,
            () = self.wait_for_survey() => {}
        }
        let Some(turn_model) = self.turn_model(&spec).await else { return };
        let spec = Arc::new(spec);
        let TurnModel { client, counter, is_main, note } = turn_model.clone();
        if spec.role != ModelRole::Main {
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
            choices: &spec.overrides,
        };
        let (events, mut arriving) = mpsc::channel(64);
        let forward = async {
            while let Some(event) = arriving.recv().await {
                self.respond(Response::Asked { turn, event }).await;
            }
        };
        let answer = async {
            let answer = ask(&params, &cancel, &events).await;
            drop(events);
            answer
        };
        let factor = self.shared.env.factor(&client.facts);
        let (result, ()) = tokio::join!(answer, forward);
        if is_main && (self.shared.env.factor(&client.facts) - factor).abs() > MIN_FACTOR_CHANGE {
            self.set_counter(&client.facts);
        }
        self.respond(match result {
            Ok(answer) => {
                let request = llm_request(&client, &self.shared.env.settings, &spec.overrides, &answer.prompt);
                tokio::spawn(self.clone().keep_warm(turn, client.clone(), request, cancel));
                Response::Ended { turn, result: Ok(answer.completion) }
            }
            Err(error) => Response::Ended { turn, result: Err(error) },
        })
        .await;
    }

    /// Keeps the provider's cache of a request warm until the next turn, if the settings enable it.
    async fn keep_warm(self, turn: u64, client: ModelClient, request: Request, cancel: CancellationToken) {
        let (sender, mut spent) = mpsc::channel(1);
        let pings = keep_warm(&client, request, self.shared.env.settings.cache_pings, PING_EVERY, &cancel, sender);
        let forward = async {
            while let Some(spent) = spent.recv().await {
                self.respond(Response::Asked { turn, event: AskEvent::Spent(spent) }).await;
            }
        };
        tokio::join!(pings, forward);
    }

    /// Composes the request. If it is too long because of its history, the history is summarised; if that fails, the oldest turns
    /// are omitted.
    async fn compose_to_fit(
        self,
        spec: Arc<RequestSpec>,
        limit: Option<usize>,
        turn_model: TurnModel,
        cancel: CancellationToken,
    ) -> Result<ContextView, Failure> {
        let view = self.clone().compose_on_thread(Arc::clone(&spec), limit, turn_model.clone()).await?;
        let Some(over) = view.prompt.oversized.as_ref().filter(|over| over.head > 0 && over.head_suffices) else {
            return Ok(view);
        };
        let sections = view.prompt.sections.iter().filter(|section| section.kind == SectionKind::History);
        let history: usize = sections.map(|section| section.tokens).sum();
        let limit_of_history = history.saturating_sub(over.excess).max(MIN_HISTORY_TOKENS);
        let chosen = spec.overrides.weak_model.clone();
        let request = SummaryRequest { limit: limit_of_history, allowance: spec.allowance, chosen, compact: None };
        let summarized = self.summarized(&spec.history, &request, &cancel).await;
        let next = match &summarized {
            Ok(summarized) => {
                let history = Arc::new(summarized.messages.clone());
                RequestSpec { history, may_drop_history: true, ..(*spec).clone() }
            }
            Err(_) => RequestSpec { may_drop_history: true, ..(*spec).clone() },
        };
        self.respond(Response::Summarized { history: Arc::clone(&spec.history), result: summarized }).await;
        self.compose_on_thread(Arc::new(next), limit, turn_model).await
    }

    async fn compose_on_thread(
        self,
        spec: Arc<RequestSpec>,
        limit: Option<usize>,
        TurnModel { client, counter, .. }: TurnModel,
    ) -> Result<ContextView, Failure> {
        on_blocking_thread(move || {
            if spec.map.refresh == Refresh::Always && limit.is_none() {
                lock(&self.shared.survey_state.changed).listing = true;
                self.survey(&AtomicBool::new(false));
            }
            self.compose_for(&spec, false, limit, (&client.facts, &counter))
        })
        .await
    }
}

#[derive(Clone)]
struct TurnModel {
    client: ModelClient,
    counter: Arc<CachedCounter>,
    is_main: bool,
    /// Why it is not the requested model.
    note: Option<Failure>,
}

impl Host {
    /// The model of a request; `None` without a connection.
    async fn turn_model(&self, spec: &RequestSpec) -> Option<TurnModel> {
        let main = self.client()?;
        if spec.role != ModelRole::Editor {
            return Some(TurnModel { client: main, counter: self.counter(), is_main: true, note: None });
        }
        let named = spec.overrides.editor_model.clone();
        let host = self.clone();
        // On a thread that may block: the user's key command may run.
        let found = tokio::task::spawn_blocking(move || {
            let (client, note) = editor_client(&host.shared.env, &main, named.as_deref());
            let is_main = client.model == main.model && client.facts.name == main.facts.name;
            let counter = if is_main { host.counter() } else { Arc::new(host.shared.env.counter(&client.facts)) };
            TurnModel { client, counter, is_main, note }
        });
        found.await.ok()
    }
}

/// The editor model: the one `named` in the session, else that of the settings, else the one that the model table suggests for the
/// main model, else the main model; with a note if the named one is not available.
pub fn editor_client(env: &RequestEnv, main: &ModelClient, named: Option<&str>) -> (ModelClient, Option<Failure>) {
    let named = named.filter(|name| !name.trim().is_empty());
    let Some(name) = named.or(env.settings.editor_model.as_deref()) else {
        return (suggested_editor(env, main).unwrap_or_else(|| main.clone()), None);
    };
    let other = if main.configured { connect_model(env, name) } else { Ok(None) };
    match other {
        Ok(Some(client)) => (client, None),
        // A server that was found on this machine, or chosen by address, has only its own models.
        Ok(None) => (ModelClient::unconfigured(&env.catalog, Arc::clone(&main.provider), name.to_owned()), None),
        Err(error) => {
            let message = format!("The editor model {name} is not available, so {} is used: {error}.", main.model);
            (main.clone(), Some(Failure { message, hint: error.hint() }))
        }
    }
}

/// The editor model that the table suggests. Not used with a custom server, which may not have it, or without its key.
fn suggested_editor(env: &RequestEnv, main: &ModelClient) -> Option<ModelClient> {
    let name = main.facts.editor.as_deref().filter(|_| main.configured && env.settings.base_url.is_none())?;
    connect_model(env, name).ok().flatten().filter(|client| client.notes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Settings, Sources};
    use crate::host::connect;

    fn env(vars: &[(&str, &str)]) -> RequestEnv {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let sources = Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None };
        RequestEnv::new(Settings::load(&sources).unwrap())
    }

    fn editor(vars: &[(&str, &str)], named: Option<&str>) -> (String, Option<Failure>) {
        let env = env(vars);
        let main = connect(&env).unwrap().unwrap();
        let (client, note) = editor_client(&env, &main, named);
        (client.model, note)
    }

    const SERVER: [(&str, &str); 2] = [("RHUMB_BASE_URL", "http://127.0.0.1:1/v1"), ("RHUMB_MODEL", "big")];

    #[test]
    fn the_session_names_the_editor_model_before_the_settings_and_these_before_the_table() {
        let set = [SERVER[0], SERVER[1], ("RHUMB_EDITOR_MODEL", "small")];
        assert_eq!(editor(&SERVER, None), ("big".into(), None));
        assert_eq!(editor(&set, None), ("small".into(), None));
        assert_eq!(editor(&set, Some("smaller")), ("smaller".into(), None));
        assert_eq!(editor(&set, Some(" ")), ("small".into(), None), "an empty name is none");
        let vendor = [("OPENAI_API_KEY", "k"), ("RHUMB_MODEL", "o3")];
        assert_eq!(editor(&vendor, None), ("gpt-4.1".into(), None));
    }

    #[test]
    fn an_unavailable_editor_model_is_reported_and_the_main_one_used() {
        let keys = [("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k"), ("RHUMB_MODEL", "o3")];
        let (model, note) = editor(&keys, Some("mystery"));
        let message = note.map(|note| note.message).unwrap_or_default();
        assert!(model == "o3" && message.contains("mystery is not available"), "{model}: {message}");
    }
}
