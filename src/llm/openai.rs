//! Every server that speaks the chat completions API: OpenAI itself, OpenRouter, DeepSeek, Groq, Ollama, LM Studio,
//! vLLM, llama.cpp and many more.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use url::{Host, Url};

use super::body::{BodyReader, cause, error_text, seconds};
use super::classify::{Refusal, classify};
use super::error::LlmError;
use super::event::{Completion, StreamEvent};
use super::provider::Provider;
use super::request::Request;
use super::retry::{RetryPolicy, asked_wait, chance};
use super::wire::{Dialect, body};

/// How long to wait for what. There is no limit on a whole answer: long answers are healthy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection.
    pub connect: Duration,
    /// From the request to the first event of the answer.
    pub first_byte: Duration,
    /// Between two events of the answer. Comments that only keep the connection open do not count.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), first_byte: Duration::from_secs(120), idle: Duration::from_secs(60) }
    }
}

/// A server that speaks the chat completions API. Its key is sent to this one address and nowhere else: redirects are
/// not followed.
pub struct OpenAi {
    name: String,
    endpoint: Url,
    /// The endpoint for the eye: no user, password or query.
    shown: String,
    key: Option<SecretString>,
    timeouts: Timeouts,
    retry: RetryPolicy,
    dialect: Mutex<Dialect>,
    client: OnceLock<reqwest::Client>,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("endpoint", &self.shown)
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

impl OpenAi {
    /// A server at `base_url`, such as `https://api.openai.com/v1`. An empty key is no key.
    pub fn new(base_url: &str, key: Option<SecretString>) -> Result<Self, LlmError> {
        let endpoint = endpoint(base_url)?;
        Ok(Self {
            name: endpoint.host_str().unwrap_or_default().to_owned(),
            shown: shown(&endpoint),
            endpoint,
            key: key.filter(|key| !key.expose_secret().trim().is_empty()),
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
        self.key.is_some() && self.endpoint.scheme() == "http" && !is_loopback(&self.endpoint)
    }

    fn secret(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.expose_secret().trim())
    }

    async fn answer(&self, request: &Request, events: &mpsc::Sender<StreamEvent>) -> Result<Completion, LlmError> {
        let mut made = 0;
        loop {
            let failure = match self.attempt(request, events).await {
                Ok(completion) => return Ok(completion),
                Err(failure) => failure,
            };
            if failure.started {
                return Err(failure.error);
            }
            if let LlmError::BadRequest { message, .. } = &failure.error
                && self.learn(message, request)
            {
                continue;
            }
            made += 1;
            let wait = self.retry.wait(made, failure.error.retry_after(), chance());
            let Some(wait) = wait.filter(|_| failure.error.is_passing()) else {
                return Err(failure.error);
            };
            let retrying = StreamEvent::Retrying { attempt: made + 1, wait, reason: failure.error.to_string() };
            events.send(retrying).await.map_err(|_| LlmError::Cancelled)?;
            tokio::time::sleep(wait).await;
        }
    }

    /// Whether the complaint teaches us to put the request differently. Ends by itself: each lesson is learned once.
    fn learn(&self, complaint: &str, request: &Request) -> bool {
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let next = dialect.after(complaint, request);
        *dialect = next.unwrap_or(*dialect);
        next.is_some()
    }

    async fn attempt(&self, request: &Request, events: &mpsc::Sender<StreamEvent>) -> Result<Completion, Failure> {
        let by = Instant::now() + self.timeouts.first_byte;
        let unstarted = |error| Failure { error, started: false };
        let response = self.send(request, by).await.map_err(unstarted)?;
        if response.status() != reqwest::StatusCode::OK {
            return Err(unstarted(self.refused(response).await));
        }
        let mut reader = BodyReader::new(&self.shown, self.secret(), self.timeouts, events);
        let outcome = reader.read(response, by).await;
        outcome.map_err(|error| Failure { error, started: reader.started })
    }

    async fn send(&self, request: &Request, by: Instant) -> Result<reqwest::Response, LlmError> {
        let dialect = *self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let mut post = self.client()?.post(self.endpoint.clone()).json(&body(request, dialect));
        post = post.header(ACCEPT, "text/event-stream, application/json");
        if let Some(key) = self.secret() {
            let mut value = HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| LlmError::UnusableKey)?;
            value.set_sensitive(true);
            post = post.header(AUTHORIZATION, value);
        }
        match timeout_at(by, post.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_connect() => {
                Err(LlmError::Connect { url: self.shown.clone(), cause: cause(&error, self.secret()) })
            }
            Ok(Err(error)) => Err(LlmError::Interrupted { cause: cause(&error, self.secret()) }),
            Err(_) => Err(LlmError::Idle { seconds: seconds(self.timeouts.first_byte) }),
        }
    }

    async fn refused(&self, response: reqwest::Response) -> LlmError {
        let status = response.status().as_u16();
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let retry_after = asked_wait(header, SystemTime::now());
        let body = error_text(response, self.timeouts.idle).await;
        classify(&Refusal { status, url: &self.shown, body: &body, retry_after, secret: self.secret() })
    }

    /// Made when first needed, because the start of the program must not wait for certificates.
    fn client(&self) -> Result<&reqwest::Client, LlmError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let made = client(self.timeouts.connect, &self.endpoint)
            .map_err(|error| LlmError::Connect { url: self.shown.clone(), cause: cause(&error, self.secret()) })?;
        Ok(self.client.get_or_init(|| made))
    }
}

impl Provider for OpenAi {
    fn name(&self) -> String {
        self.name.clone()
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

/// A client for this address. It follows no redirects, and reaches this very machine without a proxy.
pub(super) fn client(connect: Duration, url: &Url) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is installed already, which is as good.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("rhumb/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(connect);
    if is_loopback(url) {
        builder = builder.no_proxy();
        if url.scheme() == "http" {
            // Saves reading the system's certificates, which takes a while and fails where there are none.
            builder = builder.tls_certs_only([]);
        }
    }
    builder.build()
}

fn endpoint(base_url: &str) -> Result<Url, LlmError> {
    const TAIL: &str = "/chat/completions";
    let invalid = |reason: String| LlmError::InvalidUrl { url: without_password(base_url), reason };
    let mut url = Url::parse(base_url.trim()).map_err(|error| invalid(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it must begin with http:// or https://".into()));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(invalid("it names no host".into()));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let path = if path.ends_with(TAIL) { path } else { path + TAIL };
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // Both fail only for addresses without a host, which are refused earlier.
    url.set_username("").ok();
    url.set_password(None).ok();
    url.into()
}

/// An address that may not even parse, without what stands between `://` and `@`.
fn without_password(url: &str) -> String {
    let clean = super::classify::clean(url, None);
    match (clean.find("://"), clean.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}://{}", clean.get(..scheme).unwrap_or_default(), clean.get(at + 1..).unwrap_or_default())
        }
        (None, Some(at)) => clean.get(at + 1..).unwrap_or_default().to_owned(),
        _ => clean,
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_found_from_what_people_type() {
        for base in [
            "http://h:1/v1",
            "http://h:1/v1/",
            " http://h:1/v1// ",
            "http://h:1/v1/chat/completions",
            "http://h:1/v1#x",
        ] {
            assert_eq!(endpoint(base).unwrap().as_str(), "http://h:1/v1/chat/completions", "{base}");
        }
        let azure = endpoint("https://a.example/openai?api-version=1").unwrap();
        assert_eq!(azure.as_str(), "https://a.example/openai/chat/completions?api-version=1");
    }

    #[test]
    fn a_bad_address_is_refused_without_showing_a_password() {
        for base in ["", "api.example.com/v1", "ftp://user:canary@h/v1", "http://", "user:canary@h/v1"] {
            let error = OpenAi::new(base, None).unwrap_err();
            assert!(matches!(error, LlmError::InvalidUrl { .. }), "{base}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
        }
        assert_eq!(shown(&endpoint("https://u:canary@h/v1?key=canary").unwrap()), "https://h/v1/chat/completions");
    }

    #[test]
    fn a_key_in_clear_over_the_network_is_noticed() {
        let with_key = |base: &str| OpenAi::new(base, Some("k".to_owned().into())).unwrap().sends_key_in_clear();
        assert!(with_key("http://example.com/v1"));
        assert!(
            !with_key("https://example.com/v1") && !with_key("http://localhost:1/v1") && !with_key("http://[::1]/v1")
        );
    }

    #[test]
    fn debug_shows_no_key() {
        let server = OpenAi::new("http://h/v1", Some("sk-canary".to_owned().into())).unwrap();
        assert!(!format!("{server:?}").contains("canary"));
    }
}
