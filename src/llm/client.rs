//! The client for HTTP, and how patient it is.

use std::time::Duration;

use url::Url;

use super::address::is_loopback;

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
