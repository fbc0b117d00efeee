//! Fetches a page: each redirect is checked before it is followed, and size and time are limited.

use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use tokio::time::timeout;
use url::Url;

use super::address::{checked, shown};
use super::body::{Fetched, RawResponse, read_body};
use super::error::WebError;
use super::resolve::{NonPublicHost, resolve};

/// The limits of a fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of a page after decompression, in bytes.
    pub bytes: usize,
    /// Time limit of the whole fetch.
    pub total: Duration,
    /// Time limit without data.
    pub idle: Duration,
    /// Maximum number of redirects.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 5_000_000, total: Duration::from_secs(30), idle: Duration::from_secs(10), redirects: 5 }
    }
}

/// Fetches the page at `url`. Hosts that are not on the public internet must be in `allowed`. `progress` is called with the
/// bytes so far. Dropping the future cancels the fetch.
///
/// # Errors
/// The address is not allowed, the connection fails, or the response is too large, too slow or not a text.
pub async fn fetch_page(
    url: &Url,
    allowed: &[NonPublicHost],
    limits: Limits,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Fetched, WebError> {
    let late = |_| WebError::Timeout { url: shown(url), seconds: limits.total.as_secs(), silent: false };
    let raw = timeout(limits.total, follow_redirects(url, allowed, limits, progress)).await.map_err(late)??;
    // The conversion to Markdown may block and has its own time limit.
    let address = raw.url.clone();
    let page = tokio::task::spawn_blocking(move || read_body(raw)).await;
    page.unwrap_or_else(|error| Err(WebError::Unreadable { url: address, reason: error.to_string() }))
}

async fn follow_redirects(
    url: &Url,
    allowed: &[NonPublicHost],
    limits: Limits,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<RawResponse, WebError> {
    let mut at = checked(url.clone())?;
    for _ in 0..=limits.redirects {
        let addresses = resolve(&at, allowed).await?;
        let response = send(&at, addresses, limits).await?;
        match redirect_target(&at, &response)? {
            Some(next) => at = next,
            None => return read_response(&at, response, limits, progress).await,
        }
    }
    Err(WebError::Redirects { url: shown(url), limit: limits.redirects })
}

/// The target of a redirect.
fn redirect_target(at: &Url, response: &reqwest::Response) -> Result<Option<Url>, WebError> {
    let status = response.status();
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return match status.is_success() {
            true => Ok(None),
            false => Err(WebError::Status { url: shown(at), status: status.as_u16() }),
        };
    }
    let bad = |reason: String| WebError::BadRedirect { url: shown(at), reason };
    let location = response.headers().get(LOCATION).ok_or_else(|| bad("it does not say where".into()))?;
    let location = String::from_utf8_lossy(location.as_bytes());
    let to = at.join(location.trim()).map_err(|error| bad(error.to_string()))?;
    let to = checked(to).map_err(|error| bad(error.to_string()))?;
    if at.scheme() == "https" && to.scheme() == "http" {
        return Err(WebError::Downgrade { url: shown(at), to: shown(&to) });
    }
    Ok(Some(to))
}

async fn send(url: &Url, addresses: Vec<SocketAddr>, limits: Limits) -> Result<reqwest::Response, WebError> {
    let unreachable = |error: reqwest::Error| {
        let (url, cause) = (shown(url), cause(&error));
        if error.is_connect() { WebError::Connect { url, cause } } else { WebError::Broken { url, cause } }
    };
    let client = client(url, addresses, limits).map_err(unreachable)?;
    let accept = "text/html, text/markdown, text/plain, application/json;q=0.9, image/*;q=0.5, */*;q=0.1";
    let sent = timeout(limits.idle, client.get(url.clone()).header(ACCEPT, accept).send()).await;
    let silent = |_| WebError::Timeout { url: shown(url), seconds: limits.idle.as_secs(), silent: true };
    sent.map_err(silent)?.map_err(unreachable)
}

/// A client for one request: it can connect only to these addresses, follows no redirects and has no cookies. No proxy is used,
/// because a proxy would resolve the name itself.
fn client(url: &Url, addresses: Vec<SocketAddr>, limits: Limits) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is already installed, which is fine.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("rhumb/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .connect_timeout(limits.idle)
        .dns_resolver(Arc::new(FixedAddresses(addresses)));
    if url.scheme() == "http" {
        // Not needed for http, and reading the system's certificates takes time and fails without any.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// Resolves the host to the checked addresses, and no other host.
struct FixedAddresses(Vec<SocketAddr>);

impl Resolve for FixedAddresses {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// Reads the body, up to the limits.
async fn read_response(
    url: &Url,
    mut response: reqwest::Response,
    limits: Limits,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<RawResponse, WebError> {
    let too_large = || WebError::TooLarge { url: shown(url), limit: limits.bytes };
    if response.content_length().is_some_and(|length| length > limits.bytes as u64) {
        return Err(too_large());
    }
    let header = response.headers().get(CONTENT_TYPE);
    let content_type = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default();
    let mut bytes = Vec::new();
    loop {
        let silent = |_| WebError::Timeout { url: shown(url), seconds: limits.idle.as_secs(), silent: true };
        let chunk = timeout(limits.idle, response.chunk()).await.map_err(silent)?;
        let broken = |error: reqwest::Error| WebError::Broken { url: shown(url), cause: cause(&error) };
        let Some(chunk) = chunk.map_err(broken)? else { break };
        if bytes.len() + chunk.len() > limits.bytes {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
        progress(bytes.len());
    }
    Ok(RawResponse { url: shown(url), content_type, bytes })
}

/// The innermost source of an error, which is the most specific.
fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    // The outermost error would repeat the address.
    if error.source().is_some() { inner.to_string() } else { "the cause is unknown".to_owned() }
}
