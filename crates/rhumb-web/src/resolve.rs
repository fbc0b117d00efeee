//! Resolves a host to the addresses that a connection may use. A name is resolved once, and the connection goes to the checked
//! addresses, so that the name cannot change its meaning in between (DNS rebinding).

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use super::address::shown;
use super::error::WebError;
use super::reach::{Reach, reach};

/// A machine that is not on the public internet: its name, port and addresses. An approval is for exactly these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearHost {
    /// The host name in lower case.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Its addresses that are not public.
    pub addresses: Vec<IpAddr>,
}

impl NearHost {
    /// A description: `localhost:80 (127.0.0.1), which is this machine`.
    pub fn place(&self) -> String {
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let addresses = addresses.join(", ");
        let name = match self.host.trim_matches(['[', ']']) == addresses {
            true => format!("{}:{}", self.host, self.port),
            false => format!("{}:{} ({addresses})", self.host, self.port),
        };
        let far = self.addresses.first().map_or(Reach::Reserved, |address| reach(*address));
        format!("{name}, which is {far}")
    }
}

/// The addresses for a connection to `url`.
///
/// # Errors
/// The name cannot be resolved, or an address is neither public nor in `allowed`.
pub(super) async fn resolve(url: &Url, allowed: &[NearHost]) -> Result<Vec<SocketAddr>, WebError> {
    let found = look_up(url).await?;
    let near: Vec<IpAddr> = found.iter().map(SocketAddr::ip).filter(|ip| reach(*ip) != Reach::Public).collect();
    if near.is_empty() {
        return Ok(found);
    }
    let host = NearHost { host: host_of(url), port: port_of(url), addresses: near };
    let is_allowed = |ip: &IpAddr| {
        allowed.iter().any(|other| other.host == host.host && other.port == host.port && other.addresses.contains(ip))
    };
    if host.addresses.iter().all(is_allowed) { Ok(found) } else { Err(WebError::Near { url: shown(url), host }) }
}

async fn look_up(url: &Url) -> Result<Vec<SocketAddr>, WebError> {
    let port = port_of(url);
    let name = match url.host() {
        Some(Host::Ipv4(ip)) => return Ok(vec![SocketAddr::new(ip.into(), port)]),
        Some(Host::Ipv6(ip)) => return Ok(vec![SocketAddr::new(ip.into(), port)]),
        Some(Host::Domain(name)) => name,
        None => "",
    };
    let unresolved = |cause: String| WebError::Unresolved { host: name.to_owned(), cause };
    let found = tokio::net::lookup_host((name, port)).await.map_err(|error| unresolved(error.to_string()))?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(unresolved("the name has no address".into())) } else { Ok(addresses) }
}

fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_ascii_lowercase()
}

fn port_of(url: &Url) -> u16 {
    url.port_or_known_default().unwrap_or(443)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[tokio::test]
    async fn a_near_address_is_used_only_where_exactly_it_was_allowed() {
        let target = url("http://127.0.0.1:8080/x");
        let Err(WebError::Near { host, .. }) = resolve(&target, &[]).await else { panic!("not asked about") };
        assert_eq!(host.place(), "127.0.0.1:8080, which is this machine");
        let ok = resolve(&target, std::slice::from_ref(&host)).await.unwrap();
        assert_eq!(ok, ["127.0.0.1:8080".parse().unwrap()]);
        for other in ["http://127.0.0.1:8081/", "http://127.0.0.2:8080/", "http://[::1]:8080/", "http://10.0.0.1:8080/"]
        {
            assert!(
                matches!(resolve(&url(other), std::slice::from_ref(&host)).await, Err(WebError::Near { .. })),
                "{other}"
            );
        }
    }

    #[tokio::test]
    async fn a_name_is_looked_at_by_its_addresses() {
        let Err(WebError::Near { host, .. }) = resolve(&url("http://localhost:8080/"), &[]).await else {
            panic!("not asked")
        };
        assert!(
            host.place().starts_with("localhost:8080 (") && host.place().ends_with("this machine"),
            "{}",
            host.place()
        );
        let moved = NearHost { addresses: vec!["10.0.0.9".parse().unwrap()], ..host };
        let again = resolve(&url("http://localhost:8080/"), &[moved]).await;
        assert!(
            matches!(again, Err(WebError::Near { .. })),
            "a name that means another machine now is asked about anew"
        );
        assert_eq!(resolve(&url("https://1.1.1.1/"), &[]).await.unwrap(), ["1.1.1.1:443".parse().unwrap()]);
    }
}
