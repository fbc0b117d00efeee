//! What can go wrong with a model, sorted by what the user can do about it.

use std::time::Duration;

use super::retry::LONGEST_WAIT;

/// A request to a model failed. No text of these errors holds the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LlmError {
    /// The base address is no usable address.
    #[error("{url:?} is not a usable address: {reason}")]
    InvalidUrl {
        /// The address as given, without a password.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection: refused, unknown host, a proxy that is not there.
    #[error("cannot connect to {url}: {cause}")]
    Connect {
        /// The address.
        url: String,
        /// The innermost cause.
        cause: String,
    },
    /// No program on this machine accepts connections at the address. Unlike a remote server it does not come back by itself.
    #[error("nothing listens on {address}")]
    NothingListens {
        /// Host and port.
        address: String,
    },
    /// Whoever answers there proves not to be that server, or does not speak TLS.
    #[error("no secure connection to {url}: {cause}")]
    Insecure {
        /// The address.
        url: String,
        /// What is wrong with the certificate or the handshake.
        cause: String,
    },
    /// The proxy on the way wants a name and a password, or others.
    #[error("the proxy requires a user name and a password (status 407): {message}")]
    Proxy {
        /// The proxy's words.
        message: String,
    },
    /// The key is missing, wrong, or not allowed to do this.
    #[error("the server refused the key (status {status}): {message}")]
    Auth {
        /// HTTP status.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// The provider needs a key and there is none. Nothing was sent.
    #[error("there is no key for {provider}, so nothing was sent: {looked}")]
    MissingKey {
        /// The provider.
        provider: String,
        /// Where it was looked for, in words.
        looked: String,
    },
    /// The key holds characters that cannot be sent.
    #[error("the key for this provider holds characters that cannot be sent")]
    UnusableKey,
    /// The account has no credit left; waiting does not help.
    #[error("the account is out of credit or quota: {message}")]
    Quota {
        /// The server's words.
        message: String,
    },
    /// Too many requests.
    #[error("rate limited by the server{}: {message}", asked(*.retry_after))]
    RateLimited {
        /// How long the server wants us to wait, if it said so.
        retry_after: Option<Duration>,
        /// The server's words.
        message: String,
    },
    /// The request does not fit the model's context window.
    #[error("the request is too long for the model: {message}")]
    Overflow {
        /// The server's words.
        message: String,
        /// Tokens of the request, if the server said so.
        sent: Option<usize>,
        /// Tokens that it takes, if the server said so.
        limit: Option<usize>,
    },
    /// The model or the address does not exist.
    #[error("not found at {url}: {message}")]
    NotFound {
        /// The address.
        url: String,
        /// The server's words.
        message: String,
    },
    /// The server does not accept the request as it is.
    #[error("the server rejected the request (status {status}): {message}")]
    BadRequest {
        /// HTTP status, or the one that fits if the refusal came within a stream.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// The server failed or is overloaded.
    #[error("the server failed (status {status}){}: {message}", asked(*.retry_after))]
    Server {
        /// HTTP status, or the one that fits if the failure came within a stream.
        status: u16,
        /// The server's words.
        message: String,
        /// How long the server wants us to wait, if it said so.
        retry_after: Option<Duration>,
    },
    /// The stream ended without a finish reason: the answer is incomplete.
    #[error("the answer ended before it was complete: {cause}")]
    Interrupted {
        /// What is known of the reason.
        cause: String,
    },
    /// Nothing came for a while.
    #[error("no data from the server for {seconds} s")]
    Idle {
        /// How long, in seconds.
        seconds: u64,
    },
    /// What came is no answer of the API that was expected there.
    #[error("{url} does not answer like a chat API: {snippet}")]
    NotAnApi {
        /// The address.
        url: String,
        /// How the answer begins.
        snippet: String,
    },
    /// The answer is larger than anything sensible.
    #[error("the answer is larger than {limit} bytes and was stopped")]
    TooMuch {
        /// The limit in bytes.
        limit: usize,
    },
    /// The user stopped it.
    #[error("cancelled")]
    Cancelled,
}

impl LlmError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        if self.retry_after().is_some_and(|wait| wait > LONGEST_WAIT) {
            return "rhumb waits for a minute at most: send again when that time is over, or choose another model.";
        }
        match self {
            Self::InvalidUrl { .. } => "Set the base address to something like https://api.example.com/v1.",
            Self::Connect { .. } => "Check that the server runs and that the address and the network are right.",
            Self::NothingListens { .. } => {
                "Start the server (for example `ollama serve`), or choose another model with --model or /model."
            }
            Self::Insecure { .. } => {
                "If the server speaks plain HTTP, write http:// in its address; if its certificate is self-signed, add it to \
                 the certificates that the system trusts."
            }
            Self::Proxy { .. } => {
                "Put them into the proxy's address, HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT, or add the server's host to \
                 NO_PROXY."
            }
            Self::Auth { .. } => "Check the key for this provider, and that it may use this model.",
            Self::MissingKey { .. } => {
                "Set the variable, or add the entry with key = \"…\" to the file (mode 600); or choose another model: \
                 ollama/NAME needs no key."
            }
            Self::UnusableKey => "Copy the key again, without line breaks or quotes.",
            Self::Quota { .. } => "Add credit or raise the limit with the provider, or choose another model.",
            Self::RateLimited { .. } => "Wait a little and send again, or choose another model.",
            Self::Overflow { .. } => "Drop files from the chat or clear the history, then send again.",
            Self::NotFound { .. } => {
                "Check the model's name, and that the base address ends as the server wants (often /v1)."
            }
            Self::BadRequest { .. } => "Check the model's name and settings.",
            Self::Server { .. } => "This is on the server's side; send again in a moment.",
            Self::Interrupted { .. } => "The answer is incomplete, and edits in it are not applied; send again.",
            Self::Idle { .. } => "Send again; for a slow model, raise timeout in rhumb.toml (seconds).",
            Self::NotAnApi { .. } => "Check the base address; it must be the one of the API, not of a web page.",
            Self::TooMuch { .. } => "Ask for less at a time.",
            Self::Cancelled => "Send again when you are ready.",
        }
    }

    /// How long the server wants us to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Server { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}

/// The wait that the server asks for, if it says so.
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
    format!("; it asks for a wait of {wait}")
}
