//! A server for embeddings.

use super::{BatchLimit, EmbedError, Embedder, OnWait, TextKind};
use crate::endpoint::is_loopback;
use crate::models::Api;
use crate::retry::chance;
use crate::{AttemptState, EmbeddingsApi, Endpoint, HttpProvider, LlmError, NextStep, RetryPolicy, next_step};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::OnceLock;
use url::Url;

/// Size of a batch that all servers accept.
const BATCH: BatchLimit = BatchLimit { texts: 64, bytes: 128 * 1024 };
/// Maximum size of a response in bytes. 64 vectors of 8,192 numbers take 12 MB as text.
const MAX_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// How often a text that is too long for the model is halved.
const MAX_HALVINGS: u32 = 6;

/// An embeddings server.
#[derive(Debug)]
pub struct RemoteEmbedder {
    http: HttpProvider,
    retry: RetryPolicy,
    api: EmbeddingsApi,
    base: Url,
    model: String,
    asked_dims: Option<usize>,
    identity: String,
    /// Length of the vectors, known from the first one on.
    dims: OnceLock<usize>,
}

impl RemoteEmbedder {
    /// Creates a client for the model of `endpoint` without contacting it. `api` defaults to the API that the address
    /// suggests. `dims` requests shorter vectors.
    ///
    /// # Errors
    /// The URL is invalid, or its API has no embeddings.
    pub fn new(endpoint: &Endpoint, api: Option<EmbeddingsApi>, dims: Option<usize>) -> Result<Self, EmbedError> {
        let http = HttpProvider::new(endpoint)?;
        let base = http.base().clone();
        let host = base.host_str().unwrap_or_default().to_owned();
        let is_voyage = host == "api.voyageai.com";
        let api = match (api, endpoint.api) {
            (Some(api), _) => api,
            (None, _) if is_voyage => EmbeddingsApi::Voyage,
            (None, Api::Ollama) => EmbeddingsApi::Ollama,
            (None, Api::Anthropic | Api::Gemini) => return Err(EmbedError::NoEmbeddings(host)),
            (None, _) => EmbeddingsApi::OpenAi,
        };
        let asked = dims.map_or_else(|| "own".to_owned(), |dims| dims.to_string());
        let address = base.port().map_or(host.clone(), |port| format!("{host}:{port}"));
        Ok(Self {
            identity: format!("{address}/{}@{asked}", endpoint.model),
            http,
            retry: RetryPolicy::default(),
            api,
            base,
            model: endpoint.model.clone(),
            asked_dims: dims,
            dims: OnceLock::new(),
        })
    }

    /// Replaces the retry policy.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    fn url(&self) -> Url {
        let path = self.base.path().trim_end_matches('/');
        let tails: &[&str] = &["/embeddings", "/api/embed", "/chat/completions", "/api/chat"];
        let root = tails.iter().find_map(|tail| path.strip_suffix(tail)).unwrap_or(path);
        let path = match self.api {
            EmbeddingsApi::Ollama => {
                let root = root.strip_suffix("/v1").or_else(|| root.strip_suffix("/api")).unwrap_or(root);
                format!("{root}/api/embed")
            }
            EmbeddingsApi::OpenAi | EmbeddingsApi::Voyage => format!("{root}/embeddings"),
        };
        let mut url = self.base.clone();
        url.set_path(&path);
        url
    }

    fn body(&self, texts: &[String], kind: TextKind) -> Value {
        let mut body = json!({"model": self.model, "input": texts});
        let (dims, purpose) = match self.api {
            EmbeddingsApi::OpenAi => ("dimensions", None),
            EmbeddingsApi::Ollama => ("dimensions", None),
            EmbeddingsApi::Voyage => {
                ("output_dimension", Some(if kind == TextKind::Query { "query" } else { "document" }))
            }
        };
        if let (Some(wanted), Some(body)) = (self.asked_dims, body.as_object_mut()) {
            body.insert(dims.to_owned(), json!(wanted));
        }
        if let (Some(purpose), Some(body)) = (purpose, body.as_object_mut()) {
            body.insert("input_type".to_owned(), json!(purpose));
        }
        self.http.without_secrets(&mut body);
        body
    }

    /// Sends a request, with retries.
    async fn request(
        &self,
        texts: &[String],
        kind: TextKind,
        on_wait: OnWait<'_>,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut made = 0;
        loop {
            let error = match self.http.post(self.url(), &self.body(texts, kind), MAX_RESPONSE_BYTES).await {
                Ok(answer) => return self.vectors(&answer, texts.len()),
                Err(error) => error,
            };
            made += 1;
            let facts = AttemptState { retry: self.retry, made, chance: chance(), ..AttemptState::default() };
            let NextStep::Retry { wait } = next_step(Err(&error), &facts) else { return Err(error.into()) };
            on_wait(wait, &error.to_string());
            tokio::time::sleep(wait).await;
        }
    }

    /// Like [`Self::request`]. If the request is too large, it is split: first the batch, then a single text.
    async fn embed_or_split(
        &self,
        texts: &[String],
        kind: TextKind,
        on_wait: OnWait<'_>,
        halved: u32,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        match self.request(texts, kind, on_wait).await {
            Err(EmbedError::Server(LlmError::Overflow { .. })) if texts.len() > 1 => {
                let (some, others) = texts.split_at(texts.len() / 2);
                let mut all = Box::pin(self.embed_or_split(some, kind, on_wait, halved)).await?;
                all.extend(Box::pin(self.embed_or_split(others, kind, on_wait, halved)).await?);
                Ok(all)
            }
            Err(EmbedError::Server(LlmError::Overflow { .. })) if halved < MAX_HALVINGS => {
                let text = texts.first().map_or("", String::as_str);
                let half = [text.get(..text.floor_char_boundary(text.len() / 2)).unwrap_or_default().to_owned()];
                Box::pin(self.embed_or_split(&half, kind, on_wait, halved + 1)).await
            }
            outcome => outcome,
        }
    }

    /// Returns the vectors of a response, in the order of the texts.
    fn vectors(&self, answer: &Value, texts: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let who = || self.identity.clone();
        let list = match self.api {
            EmbeddingsApi::Ollama => answer.get("embeddings"),
            EmbeddingsApi::OpenAi | EmbeddingsApi::Voyage => answer.get("data"),
        };
        let list = list.and_then(Value::as_array).ok_or_else(|| self.http.not_an_api(&self.url(), answer))?;
        if list.len() != texts {
            return Err(EmbedError::Count { who: who(), texts, found: list.len() });
        }
        let mut vectors = vec![Vec::new(); texts];
        for (at, entry) in list.iter().enumerate() {
            // Servers may use another order and then send indices.
            let index =
                entry.get("index").and_then(Value::as_u64).map_or(Some(at), |index| usize::try_from(index).ok());
            let numbers = entry.get("embedding").unwrap_or(entry).as_array();
            let numbers: Option<Vec<f32>> =
                numbers.map(|list| list.iter().map(|n| n.as_f64().map_or(f32::NAN, |n| n as f32)).collect());
            let numbers = numbers.filter(|numbers| !numbers.is_empty());
            let numbers = numbers.ok_or_else(|| self.http.not_an_api(&self.url(), answer))?;
            if numbers.iter().any(|number| !number.is_finite()) {
                return Err(EmbedError::NotFinite(who()));
            }
            let known = *self.dims.get_or_init(|| numbers.len());
            if known != numbers.len() {
                return Err(EmbedError::Dims { who: who(), known, found: numbers.len() });
            }
            if let Some(cell) = index.and_then(|index| vectors.get_mut(index)) {
                *cell = numbers;
            }
        }
        let found = vectors.iter().filter(|vector| !vector.is_empty()).count();
        if found == texts { Ok(vectors) } else { Err(EmbedError::Count { who: who(), texts, found }) }
    }
}

impl Embedder for RemoteEmbedder {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn host(&self) -> Option<String> {
        let host = self.base.host_str().unwrap_or_default();
        let named = || self.base.port().map_or(host.to_owned(), |port| format!("{host}:{port}"));
        (!is_loopback(&self.base)).then(named)
    }

    fn batch(&self) -> BatchLimit {
        BATCH
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        kind: TextKind,
        on_wait: OnWait<'a>,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in super::batches(texts, BATCH) {
                vectors.extend(self.embed_or_split(texts.get(batch).unwrap_or_default(), kind, on_wait, 0).await?);
            }
            Ok(vectors)
        }
        .boxed()
    }
}
