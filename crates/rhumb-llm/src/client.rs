//! The client for HTTP, and how patient it is.

use std::error::Error;
use std::io;
use std::time::Duration;

use url::Url;

use super::address::{is_loopback, shown};
use super::answer::cause;
use super::clean::Mask;
use super::error::LlmError;

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
        // Some models think for minutes without a sign of it, and a server on this machine may have to load one first.
        let patience = Duration::from_secs(300);
        Self { connect: Duration::from_secs(10), first_byte: patience, idle: patience }
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

/// Sorts a connection that did not come about by what the user can do about it: repeating helps against neither a certificate
/// nor a proxy.
pub(super) fn unconnected(error: &reqwest::Error, url: &Url, mask: &Mask) -> LlmError {
    let told = cause(error, mask);
    if is_loopback(url) && is_refused(error) {
        let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        return LlmError::NothingListens { address: format!("{host}:{port}") };
    }
    if is_tls(error) {
        return LlmError::Insecure { url: shown(url), cause: told };
    }
    // A proxy that refuses to make a tunnel is told in words only.
    if told.contains("proxy authorization required") {
        return LlmError::Proxy { message: told };
    }
    LlmError::Connect { url: shown(url), cause: told }
}

/// Sorts an answer that did not begin. A server that speaks TLS takes plain HTTP for nonsense: it says something that is no HTTP, which
/// does not change when it is asked again, or just hangs up, as a server that is ill does too.
pub(super) fn unanswered(error: &reqwest::Error, url: &Url, mask: &Mask) -> LlmError {
    let told = cause(error, mask);
    let perhaps = if url.scheme() == "http" { "; if it speaks TLS, its address begins with https://" } else { "" };
    if told.starts_with("invalid HTTP") {
        return LlmError::NotAnApi { url: shown(url), snippet: format!("the answer is not HTTP ({told}){perhaps}") };
    }
    let hung_up = told.starts_with("connection closed before message completed");
    LlmError::Interrupted { cause: if hung_up { format!("{told}{perhaps}") } else { told } }
}

/// Whether the system refused the connection: no program listens on that port.
fn is_refused(error: &(dyn Error + 'static)) -> bool {
    let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    error.downcast_ref().is_some_and(refused) || error.source().is_some_and(is_refused)
}

/// Whether TLS is behind the error.
fn is_tls(error: &(dyn Error + 'static)) -> bool {
    // An error of the system has the words of the one that it wraps, and not that one but its source below it.
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    error.is::<rustls::Error>() || wrapped.is_some_and(|inner| is_tls(inner)) || error.source().is_some_and(is_tls)
}
