//! Resolves a host to the addresses that a connection may use, and classifies these: public internet, or reachable only from this
//! machine or its networks. A name is resolved once, and the connection goes to the checked addresses, so that the name cannot be
//! resolved differently in between (DNS rebinding).
//!
//! Sources of the classification: the IANA registries of special-purpose IPv4 and IPv6 addresses, and the documented addresses of the
//! metadata services of large clouds, which hand out credentials to local requests.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use url::{Host, Url};

use super::address::shown;
use super::error::WebError;

/// A host that is not on the public internet: its name, port and addresses. An approval is for exactly these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonPublicHost {
    /// The host name in lower case.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Its addresses that are not public.
    pub addresses: Vec<IpAddr>,
}

impl NonPublicHost {
    /// A description: `localhost:80 (127.0.0.1), which is this machine`.
    pub fn description(&self) -> String {
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let addresses = addresses.join(", ");
        let name = match self.host.trim_matches(['[', ']']) == addresses {
            true => format!("{}:{}", self.host, self.port),
            false => format!("{}:{} ({addresses})", self.host, self.port),
        };
        let scope = self.addresses.first().map_or(AddressScope::Reserved, |address| address_scope(*address));
        format!("{name}, which is {scope}")
    }
}

/// The addresses for a connection to `url`.
///
/// # Errors
/// The name cannot be resolved, or an address is neither public nor in `allowed`.
pub(super) async fn resolve(url: &Url, allowed: &[NonPublicHost]) -> Result<Vec<SocketAddr>, WebError> {
    let found = look_up(url).await?;
    let non_public: Vec<IpAddr> =
        found.iter().map(SocketAddr::ip).filter(|ip| address_scope(*ip) != AddressScope::Public).collect();
    if non_public.is_empty() {
        return Ok(found);
    }
    let host = NonPublicHost { host: host_of(url), port: port_of(url), addresses: non_public };
    let is_allowed = |ip: &IpAddr| {
        allowed.iter().any(|other| other.host == host.host && other.port == host.port && other.addresses.contains(ip))
    };
    if host.addresses.iter().all(is_allowed) { Ok(found) } else { Err(WebError::NonPublic { url: shown(url), host }) }
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

/// The scope of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressScope {
    /// The public internet.
    Public,
    /// This machine.
    Loopback,
    /// A private network, unique local addresses of IPv6 included.
    Private,
    /// Link-local addresses.
    LinkLocal,
    /// Shared address space of a provider (100.64.0.0/10).
    Shared,
    /// The metadata service of a cloud, which hands out credentials.
    Metadata,
    /// Multicast.
    Multicast,
    /// Unspecified addresses (0.0.0.0, ::), which usually mean this machine.
    Unspecified,
    /// Reserved for documentation, benchmarks or future use.
    Reserved,
}

impl fmt::Display for AddressScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "the open internet",
            Self::Loopback => "this machine",
            Self::Private => "a private network",
            Self::LinkLocal => "the local link",
            Self::Shared => "the network of a provider",
            Self::Metadata => "a cloud's metadata service (it hands out credentials)",
            Self::Multicast => "a multicast group",
            Self::Unspecified => "an unspecified address, usually of this machine",
            Self::Reserved => "a reserved range",
        })
    }
}

/// The scope of `address`. An IPv6 address that contains an IPv4 address is classified as that address.
pub fn address_scope(address: IpAddr) -> AddressScope {
    match address {
        IpAddr::V4(address) => scope_v4(address),
        IpAddr::V6(address) => scope_v6(address),
    }
}

fn scope_v4(address: Ipv4Addr) -> AddressScope {
    match address.octets() {
        // AWS, Azure, Google and most others; AWS's containers; Alibaba; Oracle.
        [169, 254, 169, 254] | [169, 254, 170, 2] | [100, 100, 100, 200] | [192, 0, 0, 192] => AddressScope::Metadata,
        [0, ..] => AddressScope::Unspecified,
        [127, ..] => AddressScope::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressScope::Private,
        [169, 254, ..] => AddressScope::LinkLocal,
        [100, 64..=127, ..] => AddressScope::Shared,
        [224..=239, ..] => AddressScope::Multicast,
        [192, 0, 0 | 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [192, 88, 99, _] => AddressScope::Reserved,
        [198, 18 | 19, ..] | [240..=255, ..] => AddressScope::Reserved,
        _ => AddressScope::Public,
    }
}

fn scope_v6(address: Ipv6Addr) -> AddressScope {
    if let Some(inner) = embedded(address) {
        return scope_v4(inner);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressScope::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressScope::Loopback,
        // AWS, and Google's for machines with IPv6 alone.
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254] => AddressScope::Metadata,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => AddressScope::Private,
        [0xfe80..=0xfebf, ..] => AddressScope::LinkLocal,
        [0xff00..=0xffff, ..] => AddressScope::Multicast,
        [0x2001, 0 | 0xdb8, ..] | [0x2001, 0x2 | 0x10..=0x2f, ..] | [0x3fff, ..] => AddressScope::Reserved,
        [0x2000..=0x3fff, ..] => AddressScope::Public,
        _ => AddressScope::Reserved,
    }
}

/// The IPv4 address in an IPv6 address: mapped, compatible, translated (NAT64) or tunnelled (6to4).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => Some(v4(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[tokio::test]
    async fn a_non_public_address_is_used_only_if_exactly_it_was_allowed() {
        let target = url("http://127.0.0.1:8080/x");
        let Err(WebError::NonPublic { host, .. }) = resolve(&target, &[]).await else { panic!("not asked about") };
        assert_eq!(host.description(), "127.0.0.1:8080, which is this machine");
        let ok = resolve(&target, std::slice::from_ref(&host)).await.unwrap();
        assert_eq!(ok, ["127.0.0.1:8080".parse().unwrap()]);
        for other in ["http://127.0.0.1:8081/", "http://127.0.0.2:8080/", "http://[::1]:8080/", "http://10.0.0.1:8080/"]
        {
            assert!(
                matches!(resolve(&url(other), std::slice::from_ref(&host)).await, Err(WebError::NonPublic { .. })),
                "{other}"
            );
        }
    }

    #[tokio::test]
    async fn a_name_is_checked_by_its_addresses() {
        let Err(WebError::NonPublic { host, .. }) = resolve(&url("http://localhost:8080/"), &[]).await else {
            panic!("not asked")
        };
        assert!(
            host.description().starts_with("localhost:8080 (") && host.description().ends_with("this machine"),
            "{}",
            host.description()
        );
        let moved = NonPublicHost { addresses: vec!["10.0.0.9".parse().unwrap()], ..host };
        let again = resolve(&url("http://localhost:8080/"), &[moved]).await;
        assert!(matches!(again, Err(WebError::NonPublic { .. })), "a name with other addresses needs another approval");
        assert_eq!(resolve(&url("https://1.1.1.1/"), &[]).await.unwrap(), ["1.1.1.1:443".parse().unwrap()]);
    }

    #[test]
    fn only_addresses_of_the_open_internet_are_public() {
        let table = [
            (
                AddressScope::Public,
                "1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 192.167.1.1 100.63.0.1 100.128.0.1 11.0.0.1",
            ),
            (AddressScope::Public, "2606:4700::1111 2a00:1450:4001::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1"),
            (
                AddressScope::Loopback,
                "127.0.0.1 127.255.0.9 ::1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::",
            ),
            (
                AddressScope::Private,
                "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456::1 fec0::1 ::ffff:10.0.0.1",
            ),
            (AddressScope::Private, "64:ff9b:1::1"),
            (AddressScope::LinkLocal, "169.254.0.1 fe80::1 febf::1 ::ffff:169.254.1.1"),
            (AddressScope::Shared, "100.64.0.1 100.127.255.255"),
            (
                AddressScope::Metadata,
                "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 fd00:ec2::254 fd20:ce::254",
            ),
            (AddressScope::Metadata, "::ffff:169.254.169.254 64:ff9b::a9fe:a9fe"),
            (AddressScope::Multicast, "224.0.0.1 239.255.255.255 ff02::1"),
            (AddressScope::Unspecified, "0.0.0.0 0.1.2.3 :: ::ffff:0.0.0.0"),
            (
                AddressScope::Reserved,
                "192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 198.19.0.1 240.0.0.1 255.255.255.255",
            ),
            (AddressScope::Reserved, "2001:db8::1 2001::1 100::1 4000::1 3fff::1 5f00::1 192.88.99.1"),
        ];
        for (wanted, addresses) in table {
            for text in addresses.split(' ') {
                assert_eq!(address_scope(text.parse().unwrap()), wanted, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn an_ipv4_address_within_ipv6_has_the_same_scope(bits: u32) {
            let plain = Ipv4Addr::from(bits);
            prop_assert_eq!(address_scope(IpAddr::V6(plain.to_ipv6_mapped())), address_scope(IpAddr::V4(plain)));
        }

        #[test]
        fn addresses_that_the_standard_library_calls_private_are_not_public(bits: u32) {
            let plain = Ipv4Addr::from(bits);
            let near = plain.is_private() || plain.is_loopback() || plain.is_link_local() || plain.is_unspecified()
                || plain.is_multicast() || plain.is_broadcast() || plain.is_documentation();
            prop_assert!(!near || address_scope(IpAddr::V4(plain)) != AddressScope::Public);
        }
    }
}
