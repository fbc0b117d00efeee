//! Errors of requests to a model, classified by what the user can do about them.

use super::classify::needs_responses_api;
use super::retry::MAX_WAIT;
use std::time::Duration;

/// A request to a model failed. No message contains the key.
///
/// Causes are kept as sanitized text and not as error sources, because the errors of the transport can contain URLs
/// with secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The base URL cannot be used.
    #[error("{url:?} is not a usable address: {reason}")]
    InvalidUrl {
        /// The URL as given, without a password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The connection failed: refused, unknown host, or an unreachable proxy.
    #[error("cannot connect to {url}: {cause}")]
    Connect {
        /// The URL.
        url: String,
        /// The innermost error.
        cause: String,
    },
    /// No program on this machine listens on this host and port. Retrying does not help, unlike with a remote server.
    #[error("nothing listens on {0}")]
    NothingListens(String),
    /// The TLS handshake failed, or the certificate is not valid.
    #[error("no secure connection to {url}: {cause}")]
    Insecure {
        /// The URL.
        url: String,
        /// What is wrong with the certificate or the handshake.
        cause: String,
    },
    /// The proxy requires authentication, with this message.
    #[error("the proxy requires a user name and a password (status 407): {0}")]
    Proxy(String),
    /// The key is missing, invalid, or lacks a permission.
    #[error("the server refused the key (status {status}): {message}")]
    Auth {
        /// HTTP status.
        status: u16,
        /// The message of the server.
        message: String,
    },
    /// The provider requires a key and there is none. Nothing was sent.
    #[error("there is no key for {provider}, so nothing was sent: {looked}")]
    MissingKey {
        /// The provider.
        provider: String,
        /// Where the key was looked for.
        looked: String,
    },
    /// The key has characters that are not allowed in a header.
    #[error("the key for this provider holds characters that cannot be sent")]
    UnusableKey,
    /// The account has no credit left, by this message of the server. Waiting does not help.
    #[error("the account is out of credit or quota: {0}")]
    Quota(String),
    /// There were too many requests.
    #[error("rate limited by the server{}: {message}", asked(*.retry_after))]
    RateLimited {
        /// The pause that the server requests, if any.
        retry_after: Option<Duration>,
        /// The message of the server.
        message: String,
    },
    /// The request does not fit into the context window of the model.
    #[error("the request is too long for the model: {message}")]
    Overflow {
        /// The message of the server.
        message: String,
        /// Number of tokens of the request, if the server reports it.
        sent: Option<usize>,
        /// Maximum number of tokens, if the server reports it.
        limit: Option<usize>,
    },
    /// The model or the URL does not exist.
    #[error("not found at {url}: {message}")]
    NotFound {
        /// The URL.
        url: String,
        /// The message of the server.
        message: String,
    },
    /// The server rejected the request.
    #[error("the server rejected the request (status {status}): {message}")]
    BadRequest {
        /// HTTP status, or the equivalent one for an error inside a stream.
        status: u16,
        /// The message of the server.
        message: String,
    },
    /// The server or the model does not support tool calls, by this message. The same request without
    /// [`Request::tools`](crate::Request::tools) may succeed.
    #[error("tool calls are not supported: {message}")]
    NoTools {
        /// The message of the server.
        message: String,
    },
    /// The server failed or is overloaded.
    #[error("the server failed (status {status}){}: {message}", asked(*.retry_after))]
    Server {
        /// HTTP status, or the equivalent one for an error inside a stream.
        status: u16,
        /// The message of the server.
        message: String,
        /// The pause that the server requests, if any.
        retry_after: Option<Duration>,
    },
    /// The stream ended without a finish reason, so the answer is incomplete: the cause, as far as known.
    #[error("the answer ended before it was complete: {0}")]
    Interrupted(String),
    /// The server sent no data for this many seconds.
    #[error("no data from the server for {0} s")]
    Idle(u64),
    /// The response does not have the format of the API.
    #[error("{url} does not answer like a chat API: {snippet}")]
    NotAnApi {
        /// The URL.
        url: String,
        /// The beginning of the response.
        snippet: String,
    },
    /// The response exceeds this size limit in bytes.
    #[error("the answer is larger than {0} bytes and was stopped")]
    TooMuch(usize),
    /// The request was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl LlmError {
    /// What the user can do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        if self.retry_after().is_some_and(|wait| wait > MAX_WAIT) {
            return "rhumb waits for a minute at most: send again when that time is over, or choose another model.";
        }
        match self {
            Self::InvalidUrl { .. } => "Set the base address to something like https://api.example.com/v1.",
            Self::Connect { .. } => "Check that the server runs and that the address and the network are right.",
            Self::NothingListens(_) => {
                "Start the server (for example `ollama serve`), or choose another model with --model or /model."
            }
            Self::Insecure { .. } => {
                "If the server speaks plain HTTP, write http:// in its address; if its certificate is self-signed, add it to \
                 the certificates that the system trusts."
            }
            Self::Proxy(_) => {
                "Put them into the proxy's address, HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT, or add the server's host to \
                 NO_PROXY."
            }
            Self::Auth { .. } => "Check the key for this provider, and that it may use this model.",
            Self::MissingKey { .. } => {
                "Set the variable, or add the entry with key = \"…\" to the file (mode 600); or choose another model: \
                 ollama/NAME needs no key."
            }
            Self::UnusableKey => "Copy the key again, without line breaks or quotes.",
            Self::Quota(_) => "Add credit or raise the limit with the provider, or choose another model.",
            Self::RateLimited { .. } => "Wait a little and send again, or choose another model.",
            Self::Overflow { .. } => "Drop files from the chat or clear the history, then send again.",
            Self::BadRequest { message, .. } | Self::NotFound { message, .. } if needs_responses_api(message) => {
                "Set api = \"responses\" in rhumb.toml; below [providers.NAME] it applies to that provider only."
            }
            Self::NotFound { .. } => {
                "Check the model's name, and that the base address ends as the server expects (often /v1)."
            }
            Self::BadRequest { .. } => "Check the model's name and settings.",
            Self::NoTools { .. } => "Choose a model that supports tool calls; llama.cpp needs the option --jinja.",
            Self::Server { .. } => "This is on the server's side; send again in a moment.",
            Self::Interrupted(_) => "The answer is incomplete, and edits in it are not applied; send again.",
            Self::Idle(_) => "Send again; for a slow model, raise timeout in rhumb.toml (seconds).",
            Self::NotAnApi { .. } => "Check the base address; it must be the one of the API, not of a web page.",
            Self::TooMuch(_) => "Ask for less at a time.",
            Self::Cancelled => "Send again when you are ready.",
        }
    }

    /// The pause that the server requests.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// Describes the pause that the server requests.
fn asked(wait: Option<Duration>) -> String {
    let Some(wait) = wait.filter(|wait| !wait.is_zero()) else { return String::new() };
    let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
    let wait = match seconds {
        0..=120 => format!("{seconds} s"),
        121..=7_200 => format!("{} min", seconds.div_ceil(60)),
        7_201..=172_800 => format!("{} h", seconds.div_ceil(3_600)),
        172_801..=31_536_000 => format!("{} days", seconds.div_ceil(86_400)),
        _ => "more than a year".to_owned(),
    };
    format!("; it requests a pause of {wait}")
}
