//! The address of a server: checked once, shown without what is secret in it.

use std::net::IpAddr;

use url::{Host, Url};

use super::clean::clean;
use super::error::LlmError;

/// The address that the user gave, if it is a usable one.
pub(super) fn parse(base_url: &str) -> Result<Url, LlmError> {
    let invalid = |reason: String| LlmError::InvalidUrl { url: without_password(base_url), reason };
    let mut url = Url::parse(base_url.trim()).map_err(|error| invalid(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("it must begin with http:// or https://".into()));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(invalid("it names no host".into()));
    }
    url.set_fragment(None);
    Ok(url)
}

/// The address for the eye: no user, password or query.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // Both fail only for addresses without a host, which are refused earlier.
    url.set_username("").ok();
    url.set_password(None).ok();
    url.into()
}

/// Whether it is on this very machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    }
}

/// An address that may not even parse, without what stands between `://` and `@`.
fn without_password(url: &str) -> String {
    let clean = clean(url);
    match (clean.find("://"), clean.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}://{}", clean.get(..scheme).unwrap_or_default(), clean.get(at + 1..).unwrap_or_default())
        }
        (None, Some(at)) => clean.get(at + 1..).unwrap_or_default().to_owned(),
        _ => clean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_address_is_refused_without_showing_a_password() {
        for base in ["", "api.example.com/v1", "ftp://user:canary@h/v1", "http://", "user:canary@h/v1"] {
            let error = parse(base).unwrap_err();
            assert!(matches!(error, LlmError::InvalidUrl { .. }), "{base}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
        }
        assert_eq!(shown(&parse(" https://u:canary@h/v1?key=canary#x").unwrap()), "https://h/v1");
    }

    #[test]
    fn this_machine_has_several_names() {
        let is_here = |base: &str| is_loopback(&parse(base).unwrap());
        assert!(is_here("http://localhost:1") && is_here("http://[::1]/v1") && is_here("http://127.0.0.2"));
        assert!(!is_here("http://localhost.example.com") && !is_here("http://10.0.0.1"));
    }
}
