//! Decodes a page, by its header, its own declaration, or detection.

use encoding_rs::{Encoding, UTF_8};

/// Number of bytes in which a page may declare its encoding, as in the HTML standard.
const PRESCAN_BYTES: usize = 1_024;

/// Decodes `bytes`. `content_type` is the value of the header.
pub(super) fn decoded(bytes: &[u8], content_type: &str) -> String {
    let said = named_in(content_type).or_else(|| named_in(&beginning(bytes)));
    // A byte order mark has the highest precedence, as in browsers.
    let (text, _, _) = said.unwrap_or_else(|| guessed(bytes)).decode(bytes);
    text.into_owned()
}

fn beginning(bytes: &[u8]) -> String {
    let bytes = bytes.get(..bytes.len().min(PRESCAN_BYTES)).unwrap_or_default();
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// The encoding after the first `charset=` or `encoding=` in a text.
fn named_in(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    ["charset", "encoding"].iter().find_map(|word| {
        let (_, rest) = lower.split_once(word)?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(rest.len());
        Encoding::for_label(rest.get(..end)?.as_bytes())
    })
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    if std::str::from_utf8(bytes).is_ok() {
        return UTF_8;
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(bytes, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_the_page_and_the_bytes_say_what_the_characters_are() {
        let latin = b"<html><body>K\xfcste</body></html>".as_slice();
        assert!(decoded(latin, "text/html; charset=iso-8859-1").contains("Küste"));
        assert!(decoded(latin, "text/html; charset=\"windows-1252\"").contains("Küste"));
        let own = b"<html><head><meta charset='latin1'></head>K\xfcste".as_slice();
        assert!(decoded(own, "text/html").contains("Küste"));
        let old = b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>\xcf\xf0".as_slice();
        assert!(decoded(old, "").ends_with("Пр"));
        assert_eq!(decoded("Küste 海".as_bytes(), "text/plain"), "Küste 海");
        assert_eq!(decoded(b"\xff\xfeK\0\xfc\0", "text/plain; charset=utf-8"), "Kü", "the byte order mark wins");
        assert_eq!(decoded(b"a\xffb", "text/plain; charset=utf-8"), "a\u{fffd}b");
    }
}
