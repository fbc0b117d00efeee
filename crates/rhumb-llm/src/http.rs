//! A model behind HTTP, whatever format it speaks: one request at a time, repeated where that may help.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::address::{self, is_loopback, shown};
use super::answer::{AnswerReader, Origin, cause, error_text, seconds};
use super::classify::{Refusal, classify};
use super::clean::Mask;
use super::client::{Timeouts, client, unanswered, unconnected};
use super::dialect::Dialect;
use super::error::LlmError;
use super::event::{Completion, StreamEvent};
use super::format::{Ask, Format, context_for, format_of};
use super::policy::{Facts, Next, next_step};
use super::provider::Provider;
use super::request::Request;
use super::retry::{RetryPolicy, asked_wait, chance};
use super::served::ids;
use crate::Endpoint;
use crate::models::Api;
use rhumb_text::secrets::masked;

/// Headers that can carry a key.
const KEY_HEADERS: [&str; 4] = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];

/// No list of models is longer, in bytes.
const MAX_LIST: usize = 4 * 1024 * 1024;

/// A server that is asked over HTTP. Its key is sent to this one address and nowhere else: redirects are not followed.
pub struct HttpProvider {
    name: String,
    api: Api,
    format: &'static dyn Format,
    base: Url,
    key: Option<SecretString>,
    /// Where a key was looked for, if the server answers no request without one.
    missing_key: Option<String>,
    headers: Vec<(String, String)>,
    extra: Map<String, Value>,
    mask: Mask,
    send_secrets: bool,
    timeouts: Timeouts,
    retry: RetryPolicy,
    dialect: Mutex<Dialect>,
    client: OnceLock<reqwest::Client>,
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider")
            .field("api", &self.api)
            .field("base", &shown(&self.base))
            .field("has_key", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

/// A try that failed.
struct Failure {
    error: LlmError,
    /// Something of the answer has been passed on already.
    started: bool,
}

impl HttpProvider {
    /// The server of `endpoint`. An empty key is no key. Nothing is contacted yet.
    ///
    /// # Errors
    /// The address is none.
    pub fn new(endpoint: &Endpoint) -> Result<Self, LlmError> {
        let base = address::parse(&endpoint.base_url)?;
        let host = base.host_str().unwrap_or_default().to_owned();
        Ok(Self {
            name: if endpoint.provider.is_empty() { host } else { endpoint.provider.clone() },
            api: endpoint.api,
            format: format_of(endpoint.api),
            mask: Mask::new(endpoint.key.as_ref(), &endpoint.headers, &base),
            base,
            key: endpoint.key.clone().filter(|key| !key.expose_secret().trim().is_empty()),
            missing_key: endpoint.missing_key.clone(),
            headers: endpoint.headers.clone(),
            extra: endpoint.extra.clone(),
            send_secrets: endpoint.send_secrets,
            timeouts: Timeouts::default(),
            retry: RetryPolicy::default(),
            dialect: Mutex::default(),
            client: OnceLock::new(),
        })
    }

    /// With other time-outs.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// With another policy on retries.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Whether a key would travel unencrypted to another machine. Worth a warning.
    pub fn sends_key_in_clear(&self) -> bool {
        self.key.is_some() && self.base.scheme() == "http" && !is_loopback(&self.base)
    }

    async fn answer(&self, request: &Request, events: &mpsc::Sender<StreamEvent>) -> Result<Completion, LlmError> {
        let mut made = 0;
        loop {
            let failure = match self.attempt(request, events).await {
                Ok(completion) => return Ok(completion),
                Err(failure) => failure,
            };
            if !failure.started && self.learn(&failure.error, request) {
                continue;
            }
            made += 1;
            let facts =
                Facts { retry: self.retry, made, started: failure.started, chance: chance(), ..Facts::default() };
            let Next::Retry { wait } = next_step(Err(&failure.error), &facts) else {
                return Err(failure.error);
            };
            let retrying = StreamEvent::Retrying { attempt: made + 1, wait, reason: failure.error.to_string() };
            events.send(retrying).await.map_err(|_| LlmError::Cancelled)?;
            tokio::time::sleep(wait).await;
        }
    }

    /// Whether the complaint teaches us to put the request differently. Ends by itself: each lesson is learned once.
    fn learn(&self, error: &LlmError, request: &Request) -> bool {
        // Some templates of chats fail the whole server when they do not like a role.
        let (LlmError::BadRequest { message, .. } | LlmError::Server { status: 500, message, .. }) = error else {
            return false;
        };
        let mut dialect = self.dialect();
        let next = dialect.after(message, request);
        let learned = next.is_some();
        *dialect = next.unwrap_or_else(|| dialect.clone());
        learned
    }

    fn dialect(&self) -> MutexGuard<'_, Dialect> {
        self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn attempt(&self, request: &Request, events: &mpsc::Sender<StreamEvent>) -> Result<Completion, Failure> {
        let by = Instant::now() + self.timeouts.first_byte;
        let unstarted = |error| Failure { error, started: false };
        let url = self.format.url(&self.base, &request.model);
        let shown = shown(&url);
        let response = self.send(url, request, by).await.map_err(unstarted)?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(unstarted(self.refused(response, &shown).await));
        }
        let origin = Origin { format: self.format, url: &shown, mask: &self.mask, timeouts: self.timeouts };
        let mut reader = AnswerReader::new(origin, request, events);
        let outcome = reader.read(response, by).await;
        outcome.map_err(|error| Failure { error, started: reader.started })
    }

    async fn send(&self, url: Url, request: &Request, by: Instant) -> Result<reqwest::Response, LlmError> {
        self.posted(url, &self.body(request), by).await
    }

    async fn posted(&self, url: Url, body: &Value, by: Instant) -> Result<reqwest::Response, LlmError> {
        self.ready()?;
        let post = self.client()?.post(url.clone()).headers(self.headers()?).json(body);
        match timeout_at(by, post.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => Err(unconnected(&error, &url, &self.mask)),
            Ok(Err(error)) => Err(unanswered(&error, &url, &self.mask)),
            Err(_) => Err(LlmError::Idle { seconds: seconds(self.timeouts.first_byte) }),
        }
    }

    /// The body in the server's dialect, with the fields that the user wants laid over it.
    fn body(&self, request: &Request) -> Value {
        let dialect = {
            let mut dialect = self.dialect();
            if self.api == Api::Ollama {
                dialect.context = Some(context_for(request, dialect.context));
            }
            dialect.clone()
        };
        let host = self.base.host_str().unwrap_or_default();
        let mut body = self.format.body(&Ask { request, dialect: &dialect, host });
        self.without_secrets(&mut body);
        for extra in [&self.extra, &request.extra] {
            lay_over(&mut body, extra);
        }
        body
    }

    /// The format's own headers, the user's over them, and the key. A key header that the user gives has its own value,
    /// or the key if it is blank.
    fn headers(&self) -> Result<HeaderMap, LlmError> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        for (name, value) in self.format.headers() {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let own = self.headers.iter().find(|(name, _)| KEY_HEADERS.contains(&name.to_ascii_lowercase().as_str()));
        let azure = self.base.host_str().is_some_and(|host| host.ends_with(".azure.com"));
        let (name, prefix) = match own {
            Some((name, _)) if name.eq_ignore_ascii_case("authorization") => (name.as_str(), "Bearer "),
            Some((name, _)) => (name.as_str(), ""),
            None if azure => ("api-key", ""),
            None => self.format.key_header(),
        };
        if let Some(key) = &self.key {
            headers.insert(header_name(name)?, secret_value(&format!("{prefix}{}", key.expose_secret().trim()))?);
        }
        for (name, value) in self.headers.iter().filter(|(_, value)| !value.trim().is_empty()) {
            headers.insert(header_name(name)?, secret_value(value.trim())?);
        }
        Ok(headers)
    }

    async fn refused(&self, response: reqwest::Response, url: &str) -> LlmError {
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let retry_after = asked_wait(header, SystemTime::now());
        let body = error_text(response, self.timeouts.idle).await;
        classify(&Refusal { status, url, body: &body, retry_after, mask: &self.mask })
    }

    /// Made when first needed, because the start of the program must not wait for certificates.
    fn client(&self) -> Result<&reqwest::Client, LlmError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client(self.timeouts.connect, &self.base)
            .map_err(|error| LlmError::Connect { url: shown(&self.base), cause: cause(&error, &self.mask) })?;
        Ok(self.client.get_or_init(|| made))
    }
}

impl HttpProvider {
    /// The root of its API.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Puts masks in the place of keys in every text of a body, unless the settings want them sent. Whatever is sent passes here, what was
    /// put together elsewhere too: summaries, messages of commits, passages for an embedder.
    pub(super) fn without_secrets(&self, body: &mut Value) {
        if self.send_secrets {
            return;
        }
        match body {
            Value::String(text) => {
                if let Cow::Owned(masked) = masked(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.without_secrets(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.without_secrets(field)),
            _ => {}
        }
    }

    /// Posts one body and reads the whole answer, of `most` bytes at most; with the user's headers and key, to this server alone.
    pub(super) async fn post(&self, url: Url, body: &Value, most: usize) -> Result<Value, LlmError> {
        let by = Instant::now() + self.timeouts.first_byte;
        let mut response = self.posted(url.clone(), body, by).await?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(self.refused(response, &shown(&url)).await);
        }
        let broken = |error: reqwest::Error| LlmError::Interrupted { cause: cause(&error, &self.mask) };
        let late = |_| LlmError::Idle { seconds: seconds(self.timeouts.idle) };
        let mut bytes = Vec::new();
        while let Some(piece) = timeout(self.timeouts.idle, response.chunk()).await.map_err(late)?.map_err(broken)? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > most {
                return Err(LlmError::TooMuch { limit: most });
            }
        }
        serde_json::from_slice(&bytes).map_err(|_| {
            let snippet = self.mask.clean(&String::from_utf8_lossy(&bytes));
            LlmError::NotAnApi { url: shown(&url), snippet }
        })
    }

    /// An answer that is not of the API that was expected.
    pub(super) fn not_an_api(&self, url: &Url, answer: &Value) -> LlmError {
        LlmError::NotAnApi { url: shown(url), snippet: self.mask.clean(&answer.to_string()) }
    }

    /// The server's own list of its models. Asked once, with the key, and not again if that fails.
    async fn served(&self) -> Result<Vec<String>, LlmError> {
        let url = self.format.list_url(&self.base);
        let shown = shown(&url);
        self.ready()?;
        let connect = |error: reqwest::Error| unconnected(&error, &url, &self.mask);
        let response = self.client()?.get(url.clone()).headers(self.headers()?).send().await.map_err(connect)?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(self.refused(response, &shown).await);
        }
        let mut response = response;
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(connect)? {
            body.extend_from_slice(&bytes);
            if body.len() > MAX_LIST {
                return Ok(Vec::new());
            }
        }
        Ok(serde_json::from_slice(&body).ok().and_then(|list| ids(&list)).unwrap_or_default())
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn ready(&self) -> Result<(), LlmError> {
        match &self.missing_key {
            Some(looked) => Err(LlmError::MissingKey { provider: self.name(), looked: looked.clone() }),
            None => Ok(()),
        }
    }

    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, LlmError>> {
        self.served().boxed()
    }

    fn masked(&self, text: &str) -> String {
        self.mask.masked(text)
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
        events: mpsc::Sender<StreamEvent>,
    ) -> BoxFuture<'_, Result<Completion, LlmError>> {
        async move {
            // Whatever is dropped here closes its connection.
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(LlmError::Cancelled),
                () = events.closed() => Err(LlmError::Cancelled),
                outcome = self.answer(&request, &events) => outcome,
            }
        }
        .boxed()
    }
}

fn header_name(name: &str) -> Result<HeaderName, LlmError> {
    name.trim().parse().map_err(|_| LlmError::UnusableKey)
}

fn secret_value(value: &str) -> Result<HeaderValue, LlmError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| LlmError::UnusableKey)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Sets the fields of `extra` in `body`: objects within objects field by field, all else whole.
fn lay_over(body: &mut Value, extra: &Map<String, Value>) {
    let Some(fields) = body.as_object_mut() else { return };
    for (name, value) in extra {
        match (fields.get_mut(name), value) {
            (Some(old @ Value::Object(_)), Value::Object(new)) => lay_over(old, new),
            _ => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
}
