//! A model server behind HTTP, for all wire formats.

use super::answer::{AnswerReader, AnswerSource, cause, error_text, seconds};
use super::classify::{Refusal, classify, without_tools};
use super::discovery::ids;
use super::endpoint::{Endpoint, is_loopback, parse_url, redact};
use super::error::LlmError;
use super::format::{Format, RequestContext, context_for, format_of};
use super::provider::{Completion, Provider, Request, StreamEvent};
use super::quirks::Quirks;
use super::retry::{AttemptState, NextStep, RetryPolicy, asked_wait, chance, next_step};
use super::sanitize::KeyMask;
use crate::models::Api;
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use rhumb_text::secrets::masked;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;
use url::Url;

const KEY_HEADERS: [&str; 4] = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];

const MAX_MODEL_LIST_BYTES: usize = 4 * 1024 * 1024;

/// A model server. Its key is sent to the address of its endpoint only, and redirects are not followed.
pub struct HttpProvider {
    name: String,
    api: Api,
    format: &'static dyn Format,
    base: Url,
    key: Option<SecretString>,
    /// Where a key was looked for, if the server requires one and there is none.
    missing_key: Option<String>,
    headers: Vec<(String, String)>,
    extra: Map<String, Value>,
    mask: KeyMask,
    send_secrets: bool,
    timeouts: Timeouts,
    retry: RetryPolicy,
    /// What was learned about each model.
    quirks: Mutex<HashMap<String, Quirks>>,
    client: OnceLock<reqwest::Client>,
}

impl fmt::Debug for HttpProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpProvider")
            .field("api", &self.api)
            .field("base", &redact(&self.base))
            .field("has_key", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

/// A failed attempt.
struct Failure {
    error: LlmError,
    /// Something of the answer was forwarded already.
    started: bool,
}

impl HttpProvider {
    /// Creates a client for `endpoint` without contacting it. An empty key counts as no key.
    ///
    /// # Errors
    /// The base URL is invalid.
    pub fn new(endpoint: &Endpoint) -> Result<Self, LlmError> {
        let base = parse_url(&endpoint.base_url)?;
        let host = base.host_str().unwrap_or_default().to_owned();
        Ok(Self {
            name: if endpoint.provider.is_empty() { host } else { endpoint.provider.clone() },
            api: endpoint.api,
            format: format_of(endpoint.api),
            mask: KeyMask::new(endpoint.key.as_ref(), &endpoint.headers, &base),
            base,
            key: endpoint.key.clone().filter(|key| !key.expose_secret().trim().is_empty()),
            missing_key: endpoint.missing_key.clone(),
            headers: endpoint.headers.clone(),
            extra: endpoint.extra.clone(),
            send_secrets: endpoint.send_secrets,
            timeouts: Timeouts::default(),
            retry: RetryPolicy::default(),
            quirks: Mutex::default(),
            client: OnceLock::new(),
        })
    }

    /// Replaces the timeouts.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Replaces the retry policy.
    #[must_use]
    pub fn with_retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// Returns whether the key would be sent unencrypted to another machine.
    pub fn sends_key_in_clear(&self) -> bool {
        self.key.is_some() && self.base.scheme() == "http" && !is_loopback(&self.base)
    }

    async fn answer(&self, request: &Request, events: &mpsc::Sender<StreamEvent>) -> Result<Completion, LlmError> {
        let mut made = 0;
        loop {
            let mut failure = match self.attempt(request, events).await {
                Ok(completion) => return Ok(completion),
                Err(failure) => failure,
            };
            if !failure.started && self.learn(&failure.error, request) {
                continue;
            }
            if !failure.started && !request.tools.is_empty() {
                failure.error = without_tools(failure.error);
            }
            made += 1;
            let facts = AttemptState {
                retry: self.retry,
                made,
                started: failure.started,
                chance: chance(),
                ..AttemptState::default()
            };
            let NextStep::Retry { wait } = next_step(Err(&failure.error), &facts) else { return Err(failure.error) };
            let retrying = StreamEvent::Retrying { attempt: made + 1, wait, reason: failure.error.to_string() };
            events.send(retrying).await.map_err(|_| LlmError::Cancelled)?;
            tokio::time::sleep(wait).await;
        }
    }

    /// Learns from an error message. Returns whether the request should be sent again in another form. Each quirk is
    /// learned once, so this ends.
    fn learn(&self, error: &LlmError, request: &Request) -> bool {
        // Some chat templates fail with status 500 if they do not support a role.
        let (LlmError::BadRequest { message, .. } | LlmError::Server { status: 500, message, .. }) = error else {
            return false;
        };
        let mut quirks = self.quirks();
        let known = quirks.entry(request.model.clone()).or_default();
        let Some(next) = known.after(message, request) else { return false };
        *known = next;
        true
    }

    fn quirks(&self) -> MutexGuard<'_, HashMap<String, Quirks>> {
        self.quirks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn attempt(&self, request: &Request, events: &mpsc::Sender<StreamEvent>) -> Result<Completion, Failure> {
        let by = Instant::now() + self.timeouts.first_byte;
        let unstarted = |error| Failure { error, started: false };
        let url = self.format.url(&self.base, &request.model);
        let shown = redact(&url);
        let response = self.send(url, request, by).await.map_err(unstarted)?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(unstarted(self.refused(response, &shown).await));
        }
        let origin = AnswerSource { format: self.format, url: &shown, mask: &self.mask, timeouts: self.timeouts };
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
            Err(_) => Err(LlmError::Idle(seconds(self.timeouts.first_byte))),
        }
    }

    /// Encodes the body with the quirks of the model and the user's additional fields.
    fn body(&self, request: &Request) -> Value {
        let quirks = {
            let mut quirks = self.quirks();
            let quirks = quirks.entry(request.model.clone()).or_default();
            if self.api == Api::Ollama {
                quirks.context = Some(context_for(request, quirks.context));
            }
            quirks.clone()
        };
        let host = self.base.host_str().unwrap_or_default();
        let mut body = self.format.body(&RequestContext { request, quirks: &quirks, host });
        self.without_secrets(&mut body);
        for extra in [&self.extra, &request.extra] {
            lay_over(&mut body, extra);
        }
        body
    }

    /// Returns the headers of the format, those of the user, and the key. If the user sets a key header without a
    /// value, it carries the key.
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

    /// Creates the client when it is first needed, since reading certificates would delay the start of the program.
    fn client(&self) -> Result<&reqwest::Client, LlmError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client(self.timeouts.connect, &self.base)
            .map_err(|error| LlmError::Connect { url: redact(&self.base), cause: cause(&error, &self.mask) })?;
        Ok(self.client.get_or_init(|| made))
    }
}

impl HttpProvider {
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// Replaces secrets in all strings of a body, unless the endpoint says to send them. Every body passes through
    /// here, including summaries, commit messages and passages to embed.
    pub(crate) fn without_secrets(&self, body: &mut Value) {
        if !self.send_secrets {
            mask_secrets(body, false);
        }
    }

    /// Posts a body and reads the whole response, of at most `most` bytes.
    pub(crate) async fn post(&self, url: Url, body: &Value, most: usize) -> Result<Value, LlmError> {
        let by = Instant::now() + self.timeouts.first_byte;
        let mut response = self.posted(url.clone(), body, by).await?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(self.refused(response, &redact(&url)).await);
        }
        let broken = |error: reqwest::Error| LlmError::Interrupted(cause(&error, &self.mask));
        let late = |_| LlmError::Idle(seconds(self.timeouts.idle));
        let mut bytes = Vec::new();
        while let Some(piece) = timeout(self.timeouts.idle, response.chunk()).await.map_err(late)?.map_err(broken)? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > most {
                return Err(LlmError::TooMuch(most));
            }
        }
        serde_json::from_slice(&bytes).map_err(|_| {
            let snippet = self.mask.sanitize(&String::from_utf8_lossy(&bytes));
            LlmError::NotAnApi { url: redact(&url), snippet }
        })
    }

    /// Returns the error for a response that does not have the expected format.
    pub(crate) fn not_an_api(&self, url: &Url, answer: &Value) -> LlmError {
        LlmError::NotAnApi { url: redact(url), snippet: self.mask.sanitize(&answer.to_string()) }
    }

    /// Requests the server's model list, without retries.
    async fn served(&self) -> Result<Vec<String>, LlmError> {
        let url = self.format.list_url(&self.base);
        let shown = redact(&url);
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
            if body.len() > MAX_MODEL_LIST_BYTES {
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
            // Dropping the future closes its connection.
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

/// Fields in which a server's own signatures and encrypted thinking go back. They must not change, and may contain the
/// form of a key by chance.
const OPAQUE_FIELDS: [&str; 4] = ["signature", "thoughtSignature", "thought_signature", "encrypted_content"];
/// Fields with the arguments of tool calls, whose names are the model's.
const ARGUMENT_FIELDS: [&str; 3] = ["input", "args", "arguments"];

/// Replaces secrets in all strings, except in opaque fields outside of arguments.
fn mask_secrets(value: &mut Value, in_arguments: bool) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = masked(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_secrets(item, in_arguments)),
        Value::Object(fields) => {
            for (name, field) in fields {
                // The input of the Responses API is an array.
                let in_arguments = in_arguments || (field.is_object() && ARGUMENT_FIELDS.contains(&name.as_str()));
                let is_opaque = field.is_string() && OPAQUE_FIELDS.contains(&name.as_str());
                if in_arguments || !is_opaque {
                    mask_secrets(field, in_arguments);
                }
            }
        }
        _ => {}
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

/// Sets the fields of `extra` in `body`. Objects are merged recursively, other values replaced.
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

/// Timeouts of a request. There is no limit on the duration of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Timeout of the connection.
    pub connect: Duration,
    /// Maximum time from the request to the first event of the answer.
    pub first_byte: Duration,
    /// Maximum time between two events of the answer. Keep-alive comments do not count.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        // Some models think for minutes without sending anything, and a local server may have to load its model
        // first.
        let patience = Duration::from_secs(300);
        Self { connect: Duration::from_secs(10), first_byte: patience, idle: patience }
    }
}

/// Creates an HTTP client. It follows no redirects and uses no proxy for this machine.
pub(crate) fn client(connect: Duration, url: &Url) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is installed already.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("rhumb/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(connect);
    if is_loopback(url) {
        builder = builder.no_proxy();
        if url.scheme() == "http" {
            // Does not read the system's certificates, which is slow and fails where there are none.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build()
}

/// Classifies a failed connection by what the user can do. Retrying helps neither with certificates nor with proxies.
pub(crate) fn unconnected(error: &reqwest::Error, url: &Url, mask: &KeyMask) -> LlmError {
    let told = cause(error, mask);
    if is_loopback(url) && is_refused(error) {
        let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        return LlmError::NothingListens(format!("{host}:{port}"));
    }
    if is_tls(error) {
        return LlmError::Insecure { url: redact(url), cause: told };
    }
    // A proxy that refuses a tunnel is only recognizable by the message.
    if told.contains("proxy authorization required") {
        return LlmError::Proxy(told);
    }
    LlmError::Connect { url: redact(url), cause: told }
}

/// Classifies a response that did not begin. A server that expects TLS answers plain HTTP with something that is not
/// HTTP, which a retry would not change, or closes the connection.
pub(crate) fn unanswered(error: &reqwest::Error, url: &Url, mask: &KeyMask) -> LlmError {
    let told = cause(error, mask);
    let perhaps = if url.scheme() == "http" { "; if it speaks TLS, its address begins with https://" } else { "" };
    if told.starts_with("invalid HTTP") {
        return LlmError::NotAnApi { url: redact(url), snippet: format!("the answer is not HTTP ({told}){perhaps}") };
    }
    let hung_up = told.starts_with("connection closed before message completed");
    LlmError::Interrupted(if hung_up { format!("{told}{perhaps}") } else { told })
}

/// Returns whether the connection was refused, so that no program listens on the port.
fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    error.downcast_ref().is_some_and(refused) || error.source().is_some_and(is_refused)
}

fn is_tls(error: &(dyn Error + 'static)) -> bool {
    // `io::Error::source` skips the wrapped error, so it is inspected separately.
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || wrapped.is_some_and(|inner| is_tls(inner)) || error.source().is_some_and(is_tls)
}
