//! Classifies IP addresses: public internet, or reachable only from this machine or its networks.
//!
//! Sources: the IANA registries of special-purpose IPv4 and IPv6 addresses, and the documented addresses of the metadata
//! services of large clouds, which hand out credentials to local requests.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The scope of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
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

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Public => "the open internet",
            Self::Loopback => "this machine",
            Self::Private => "a private network",
            Self::LinkLocal => "the local link",
            Self::Shared => "the network of a provider",
            Self::Metadata => "a cloud's metadata service (it hands out credentials)",
            Self::Multicast => "a multicast group",
            Self::Unspecified => "no machine in particular, mostly this one",
            Self::Reserved => "a range that is reserved",
        })
    }
}

/// The scope of `address`. An IPv6 address that contains an IPv4 address is classified as that address.
pub fn reach(address: IpAddr) -> Reach {
    match address {
        IpAddr::V4(address) => reach_v4(address),
        IpAddr::V6(address) => reach_v6(address),
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        // AWS, Azure, Google and most others; AWS's containers; Alibaba; Oracle.
        [169, 254, 169, 254] | [169, 254, 170, 2] | [100, 100, 100, 200] | [192, 0, 0, 192] => Reach::Metadata,
        [0, ..] => Reach::Unspecified,
        [127, ..] => Reach::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Reach::Private,
        [169, 254, ..] => Reach::LinkLocal,
        [100, 64..=127, ..] => Reach::Shared,
        [224..=239, ..] => Reach::Multicast,
        [192, 0, 0 | 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [192, 88, 99, _] => Reach::Reserved,
        [198, 18 | 19, ..] | [240..=255, ..] => Reach::Reserved,
        _ => Reach::Public,
    }
}

fn reach_v6(address: Ipv6Addr) -> Reach {
    if let Some(inner) = embedded(address) {
        return reach_v4(inner);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reach::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => Reach::Loopback,
        // AWS, and Google's for machines with IPv6 alone.
        [0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x254] | [0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254] => Reach::Metadata,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] | [0x64, 0xff9b, 1, ..] => Reach::Private,
        [0xfe80..=0xfebf, ..] => Reach::LinkLocal,
        [0xff00..=0xffff, ..] => Reach::Multicast,
        [0x2001, 0 | 0xdb8, ..] | [0x2001, 0x2 | 0x10..=0x2f, ..] | [0x3fff, ..] => Reach::Reserved,
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Reserved,
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

    #[test]
    fn only_addresses_of_the_open_internet_are_public() {
        let table = [
            (
                Reach::Public,
                "1.1.1.1 8.8.8.8 93.184.216.34 172.15.0.1 172.32.0.1 192.167.1.1 100.63.0.1 100.128.0.1 11.0.0.1",
            ),
            (Reach::Public, "2606:4700::1111 2a00:1450:4001::1 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1"),
            (Reach::Loopback, "127.0.0.1 127.255.0.9 ::1 ::ffff:127.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::"),
            (
                Reach::Private,
                "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd12:3456::1 fec0::1 ::ffff:10.0.0.1",
            ),
            (Reach::Private, "64:ff9b:1::1"),
            (Reach::LinkLocal, "169.254.0.1 fe80::1 febf::1 ::ffff:169.254.1.1"),
            (Reach::Shared, "100.64.0.1 100.127.255.255"),
            (Reach::Metadata, "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 fd00:ec2::254 fd20:ce::254"),
            (Reach::Metadata, "::ffff:169.254.169.254 64:ff9b::a9fe:a9fe"),
            (Reach::Multicast, "224.0.0.1 239.255.255.255 ff02::1"),
            (Reach::Unspecified, "0.0.0.0 0.1.2.3 :: ::ffff:0.0.0.0"),
            (
                Reach::Reserved,
                "192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1 198.18.0.1 198.19.0.1 240.0.0.1 255.255.255.255",
            ),
            (Reach::Reserved, "2001:db8::1 2001::1 100::1 4000::1 3fff::1 5f00::1 192.88.99.1"),
        ];
        for (wanted, addresses) in table {
            for text in addresses.split(' ') {
                assert_eq!(reach(text.parse().unwrap()), wanted, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn an_address_in_other_clothes_reaches_as_far(bits: u32) {
            let plain = Ipv4Addr::from(bits);
            prop_assert_eq!(reach(IpAddr::V6(plain.to_ipv6_mapped())), reach(IpAddr::V4(plain)));
        }

        #[test]
        fn what_the_standard_library_calls_private_is_never_public(bits: u32) {
            let plain = Ipv4Addr::from(bits);
            let near = plain.is_private() || plain.is_loopback() || plain.is_link_local() || plain.is_unspecified()
                || plain.is_multicast() || plain.is_broadcast() || plain.is_documentation();
            prop_assert!(!near || reach(IpAddr::V4(plain)) != Reach::Public);
        }
    }
}
