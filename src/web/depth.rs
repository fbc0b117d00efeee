//! How deep the elements of a page nest. Whoever walks a tree by calling itself needs to know before.

use std::collections::HashMap;

/// Elements that hold nothing, or end by themselves where the next of their kind begins.
const FLAT: [&str; 32] = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
    "meta", "param", "source", "track", "wbr", "p", "li", "dt", "dd", "option", "optgroup", "tr", "td", "th", "thead",
    "tbody", "tfoot", "rp", "rt",
];

/// At most how deep the elements of `html` nest, or a little more. It counts what is open by name; an end tag takes back only
/// what its own name opened, so that stray ones hide nothing.
pub(super) fn nesting(html: &str) -> usize {
    let mut open: HashMap<String, usize> = HashMap::new();
    let (mut depth, mut deepest) = (0usize, 0usize);
    for piece in html.split('<').skip(1) {
        let (ends, name) = match piece.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, piece),
        };
        let length = name.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).unwrap_or(name.len());
        let name = name.get(..length).unwrap_or_default().to_ascii_lowercase();
        if name.is_empty() || FLAT.contains(&name.as_str()) {
            continue;
        }
        let count = open.entry(name).or_default();
        if !ends {
            *count += 1;
            depth += 1;
            deepest = deepest.max(depth);
        } else if *count > 0 {
            *count -= 1;
            depth -= 1;
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_and_stray_end_tags_hide_none() {
        assert_eq!(nesting("<html><body><p>a<p>b<br><div>c</div><div>d</div></body></html>"), 3);
        assert_eq!(nesting(&"<div>".repeat(5_000)), 5_000);
        assert_eq!(nesting(&"<div></span>".repeat(5_000)), 5_000);
        assert_eq!(nesting("a < b, <, </, <!-- <b> -->"), 1);
    }
}
