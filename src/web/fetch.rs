//! The way to a page: hop by hop, each looked at before it is made, and no further than the limits.

use std::error::Error as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use tokio::time::timeout;
use url::Url;

use super::address::{checked, shown};
use super::body::{Fetched, Raw, read_body};
use super::error::WebError;
use super::resolve::{NearHost, resolve};

/// How far a fetch may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a page, after decompression.
    pub bytes: usize,
    /// For all of it.
    pub total: Duration,
    /// Without a byte.
    pub idle: Duration,
    /// Redirects that are followed.
    pub redirects: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 5_000_000, total: Duration::from_secs(30), idle: Duration::from_secs(10), redirects: 5 }
    }
}

/// Gets the page at `url`. Machines that are not on the open internet must be in `allowed`. `progress` is told the bytes so
/// far. Dropping the future ends it.
///
/// # Errors
/// The address may not be asked, nobody answers, or what comes is too large, too slow or no text.
pub async fn fetch_page(
    url: &Url,
    allowed: &[NearHost],
    limits: Limits,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Fetched, WebError> {
    let late = |_| WebError::Late { url: shown(url), seconds: limits.total.as_secs(), silent: false };
    let raw = timeout(limits.total, follow(url, allowed, limits, progress)).await.map_err(late)??;
    // Markdown is made on a thread that may take its time; it has a limit of its own.
    let address = raw.url.clone();
    let read = tokio::task::spawn_blocking(move || read_body(raw)).await;
    read.unwrap_or_else(|error| Err(WebError::Unreadable { url: address, reason: error.to_string() }))
}

async fn follow(
    url: &Url,
    allowed: &[NearHost],
    limits: Limits,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Raw, WebError> {
    let mut at = checked(url.clone())?;
    for _ in 0..=limits.redirects {
        let addresses = resolve(&at, allowed).await?;
        let response = ask(&at, addresses, limits).await?;
        match next(&at, &response)? {
            Some(next) => at = next,
            None => return read(&at, response, limits, progress).await,
        }
    }
    Err(WebError::Redirects { url: shown(url), limit: limits.redirects })
}

/// Where the answer sends on, if it does.
fn next(at: &Url, response: &reqwest::Response) -> Result<Option<Url>, WebError> {
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

async fn ask(url: &Url, addresses: Vec<SocketAddr>, limits: Limits) -> Result<reqwest::Response, WebError> {
    let unreachable = |error: reqwest::Error| {
        let (url, cause) = (shown(url), cause(&error));
        if error.is_connect() { WebError::Connect { url, cause } } else { WebError::Broken { url, cause } }
    };
    let client = client(url, addresses, limits).map_err(unreachable)?;
    let wanted = "text/html, text/markdown, text/plain, application/json;q=0.9, image/*;q=0.5, */*;q=0.1";
    let sent = timeout(limits.idle, client.get(url.clone()).header(ACCEPT, wanted).send()).await;
    let silent = |_| WebError::Late { url: shown(url), seconds: limits.idle.as_secs(), silent: true };
    sent.map_err(silent)?.map_err(unreachable)
}

/// A client for one hop: it can connect to these addresses and to nothing else, follows nothing and remembers nothing. No
/// proxy is used, which would look the name up itself.
fn client(url: &Url, addresses: Vec<SocketAddr>, limits: Limits) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is installed already, which is as good.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("rhumb/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .referer(false)
        .connect_timeout(limits.idle)
        .dns_resolver(Arc::new(Pinned(addresses)));
    if url.scheme() == "http" {
        // Saves reading the system's certificates, which takes a while and fails where there are none.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// Knows the addresses that were looked at, and looks up no other.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// Reads what comes, up to the limits.
async fn read(
    url: &Url,
    mut response: reqwest::Response,
    limits: Limits,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Raw, WebError> {
    let too_large = || WebError::TooLarge { url: shown(url), limit: limits.bytes };
    if response.content_length().is_some_and(|length| length > limits.bytes as u64) {
        return Err(too_large());
    }
    let header = response.headers().get(CONTENT_TYPE);
    let content_type = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default();
    let mut bytes = Vec::new();
    loop {
        let silent = |_| WebError::Late { url: shown(url), seconds: limits.idle.as_secs(), silent: true };
        let chunk = timeout(limits.idle, response.chunk()).await.map_err(silent)?;
        let broken = |error: reqwest::Error| WebError::Broken { url: shown(url), cause: cause(&error) };
        let Some(chunk) = chunk.map_err(broken)? else { break };
        if bytes.len() + chunk.len() > limits.bytes {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
        progress(bytes.len());
    }
    Ok(Raw { url: shown(url), content_type, bytes })
}

/// The innermost cause of an error, which says most.
fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    // A source of its own says nothing of the address; the outermost would repeat it.
    if error.source().is_some() { inner.to_string() } else { "no more is known".to_owned() }
}
