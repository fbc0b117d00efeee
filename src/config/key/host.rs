//! Matches entries of the credentials file with addresses.

use std::net::IpAddr;

use url::{Host, Url};

/// Whether the key of `entry` may be sent to `url`. An entry is a host (`api.example.com`), which means https on the default
/// port, or any port of this machine; a host with a port; or an origin (`http://10.0.0.7:8000`), which is the only way to send
/// a key unencrypted to another machine.
pub(super) fn belongs(entry: &str, url: &Url) -> bool {
    let entry = entry.trim();
    let spelt_out = entry.contains("://");
    let whole = if spelt_out { entry.to_owned() } else { format!("https://{entry}") };
    let Ok(named) = Url::parse(&whole) else { return false };
    if named.host().is_none() || named.host() != url.host() {
        return false;
    }
    if spelt_out {
        return named.scheme() == url.scheme() && named.port_or_known_default() == url.port_or_known_default();
    }
    // The default port of a scheme is not part of an address.
    let any_port = is_this_machine(url) && named.port().is_none();
    is_private(url) && (any_port || named.port_or_known_default() == url.port_or_known_default())
}

/// The shortest entry for an address that [`belongs`] accepts; `None` for an address without a host.
pub(super) fn entry_for(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(match url.port() {
        _ if !is_private(url) => url.origin().ascii_serialization(),
        // On this machine each port has its own entry.
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// Whether the connection is encrypted or stays on this machine.
pub(super) fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || is_this_machine(url)
}

fn is_this_machine(url: &Url) -> bool {
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
    fn the_entry_of_an_address_belongs_to_it() {
        for (url, entry) in [
            ("https://api.example.com/v1", "api.example.com"),
            ("https://api.example.com:8443/v1", "api.example.com:8443"),
            ("http://10.0.0.7:8000/v1", "http://10.0.0.7:8000"),
            ("http://127.0.0.1:8080/v1", "127.0.0.1:8080"),
            ("http://localhost/v1", "localhost"),
            ("http://[::1]:9/v1", "[::1]:9"),
        ] {
            let url = Url::parse(url).unwrap();
            assert_eq!(entry_for(&url).as_deref(), Some(entry));
            assert!(belongs(entry, &url), "{entry} {url}");
        }
    }

    #[test]
    fn a_key_belongs_to_one_host_only() {
        let fits = |entry: &str, url: &str| belongs(entry, &Url::parse(url).unwrap());
        for (entry, url) in [
            ("api.example.com", "https://api.example.com/v1"),
            ("API.example.com", "https://api.example.com:443/"),
            ("api.example.com:8443", "https://api.example.com:8443/v1"),
            ("http://10.0.0.7:8000", "http://10.0.0.7:8000/v1"),
            ("localhost", "http://localhost:8080/v1"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
            ("[::1]", "http://[::1]:9/v1"),
        ] {
            assert!(fits(entry, url), "{entry} {url}");
        }
        for (entry, url) in [
            ("api.example.com", "http://api.example.com/v1"),
            ("api.example.com", "https://api.example.com:8443/v1"),
            ("api.example.com", "https://api.example.com.evil.example/v1"),
            ("api.example.com", "https://api.example.com@evil.example/v1"),
            ("example.com", "https://api.example.com/v1"),
            ("http://10.0.0.7:8000", "https://10.0.0.7:8000/v1"),
            ("127.0.0.1:8080", "http://127.0.0.1:8081/v1"),
            ("", "https://api.example.com"),
        ] {
            assert!(!fits(entry, url), "{entry} {url}");
        }
    }
}
