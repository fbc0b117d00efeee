//! Converts the body of a response to a page: its kind, its encoding and its text.

use std::sync::Arc;

use encoding_rs::{Encoding, UTF_8};

use super::error::WebError;
use super::markdown::{Converted, to_markdown};
use rhumb_tokens::image_type;

/// A response.
#[derive(Debug, Clone)]
pub(super) struct RawResponse {
    /// The address, for display.
    pub(super) url: String,
    /// The content type; empty without the header.
    pub(super) content_type: String,
    /// The decompressed body.
    pub(super) bytes: Vec<u8>,
}

/// A fetched page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// A text.
    Page(Page),
    /// An image of a type that models accept.
    Image(Image),
}

/// The text of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The final address, after redirects.
    pub url: String,
    /// The title; empty without one.
    pub title: String,
    /// The text, converted to Markdown if it was HTML, without invisible and control characters.
    pub text: String,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The final address.
    pub url: String,
    /// The media type: `image/png` and the like.
    pub media_type: &'static str,
    /// The bytes of the file.
    pub bytes: Arc<[u8]>,
}

/// The kind of a body, which decides how it is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyKind {
    Html,
    Text,
    Binary,
    /// The content type does not say it.
    Unknown,
}

/// Converts a response to a page. An image is recognized by its bytes, whatever the content type.
///
/// # Errors
/// The response is not a text, or has no text.
pub(super) fn read_body(raw: RawResponse) -> Result<Fetched, WebError> {
    let RawResponse { url, content_type, bytes } = raw;
    if let Some(media_type) = image_type(&bytes) {
        return Ok(Fetched::Image(Image { url, media_type, bytes: bytes.into() }));
    }
    let not_text = |kind: &str| WebError::NotText { url: url.clone(), kind: kind.to_owned() };
    if bytes.starts_with(b"%PDF-") {
        return Err(not_text("a PDF document"));
    }
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let body_kind = match kind_of(&essence) {
        BodyKind::Unknown if bytes.contains(&0) || std::str::from_utf8(&bytes).is_err() => BodyKind::Binary,
        BodyKind::Unknown if looks_like_html(&bytes) => BodyKind::Html,
        BodyKind::Unknown => BodyKind::Text,
        kind => kind,
    };
    let text = decoded(&bytes, &content_type);
    let Converted { title, text } = match body_kind {
        BodyKind::Binary if essence.is_empty() => return Err(not_text("a binary file")),
        BodyKind::Binary => return Err(not_text(&essence)),
        BodyKind::Html => {
            to_markdown(text, &url).map_err(|reason| WebError::Unreadable { url: url.clone(), reason })?
        }
        BodyKind::Text | BodyKind::Unknown => Converted { title: String::new(), text },
    };
    let (title, text) = (without_hidden(&title), without_hidden(&text));
    if text.trim().is_empty() {
        return Err(WebError::Empty { url });
    }
    Ok(Fetched::Page(Page { url, title, text }))
}

fn kind_of(essence: &str) -> BodyKind {
    match essence {
        "text/html" | "application/xhtml+xml" => BodyKind::Html,
        "" | "application/octet-stream" | "binary/octet-stream" => BodyKind::Unknown,
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/toml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/x-ndjson"
        | "application/x-sh"
        | "application/graphql" => BodyKind::Text,
        other if other.starts_with("text/") || other.ends_with("+json") || other.ends_with("+xml") => BodyKind::Text,
        _ => BodyKind::Binary,
    }
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(256)).unwrap_or_default();
    let start = String::from_utf8_lossy(start).trim_start().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

/// Removes characters that are not visible: control characters, direction overrides, tags and zero-width spaces. They could
/// hide text from the user that the model reads.
fn without_hidden(text: &str) -> String {
    let hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{206f}' | '\u{202a}'..='\u{202e}' | '\u{feff}')
            || matches!(c, '\u{e0000}'..='\u{e0fff}' | '\u{fff9}'..='\u{fffb}')
            || (c.is_control() && !matches!(c, '\n' | '\t'))
    };
    text.replace("\r\n", "\n").chars().filter(|c| !hidden(*c)).collect()
}

/// Number of bytes in which a page may declare its encoding, as in the HTML standard.
const PRESCAN_BYTES: usize = 1_024;

/// Decodes `bytes`. `content_type` is the value of the header.
fn decoded(bytes: &[u8], content_type: &str) -> String {
    let declared = declared_encoding(content_type).or_else(|| declared_encoding(&beginning(bytes)));
    // A byte order mark has the highest precedence, as in browsers.
    let (text, _, _) = declared.unwrap_or_else(|| detected_encoding(bytes)).decode(bytes);
    text.into_owned()
}

fn beginning(bytes: &[u8]) -> String {
    let bytes = bytes.get(..bytes.len().min(PRESCAN_BYTES)).unwrap_or_default();
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// The encoding after the first `charset=` or `encoding=` in a text.
fn declared_encoding(text: &str) -> Option<&'static Encoding> {
    let lower = text.to_ascii_lowercase();
    ["charset", "encoding"].iter().find_map(|word| {
        let (_, rest) = lower.split_once(word)?;
        let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(rest.len());
        Encoding::for_label(rest.get(..end)?.as_bytes())
    })
}

fn detected_encoding(bytes: &[u8]) -> &'static Encoding {
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

    fn read(content_type: &str, bytes: &[u8]) -> Result<Fetched, WebError> {
        let url = "https://example.com/x".to_owned();
        read_body(RawResponse { url, content_type: content_type.into(), bytes: bytes.to_vec() })
    }

    fn text(content_type: &str, bytes: &[u8]) -> String {
        match read(content_type, bytes) {
            Ok(Fetched::Page(page)) => page.text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_is_unchanged_and_html_becomes_markdown() {
        assert_eq!(text("text/plain", b"<b>a</b>\r\nb"), "<b>a</b>\nb");
        assert_eq!(text("application/json", b"{\"a\": 1}"), "{\"a\": 1}");
        assert_eq!(text("application/problem+json; charset=utf-8", b"{}"), "{}");
        assert_eq!(text("text/markdown", b"# A"), "# A");
        assert_eq!(text("text/html", b"<b>a</b>"), "**a**");
        assert_eq!(text("", b"<!DOCTYPE html><p>a"), "a");
        assert_eq!(text("application/octet-stream", b"fn main() {}"), "fn main() {}");
    }

    #[test]
    fn a_binary_file_is_refused_with_its_kind() {
        for (content_type, bytes, kind) in [
            ("application/pdf", b"%PDF-1.7".as_slice(), "a PDF document"),
            ("text/html", b"%PDF-1.7", "a PDF document"),
            ("application/zip", b"PK\x03\x04", "application/zip"),
            ("", b"\x7fELF\0\0", "a binary file"),
            ("video/mp4", b"x", "video/mp4"),
        ] {
            let error = read(content_type, bytes).unwrap_err();
            assert!(matches!(&error, WebError::NotText { kind: found, .. } if found == kind), "{error:?}");
        }
        assert!(matches!(read("text/html", b"<script>x</script>"), Err(WebError::Empty { .. })));
    }

    #[test]
    fn an_image_is_recognized_by_its_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0";
        let image = read("text/html", png).unwrap();
        assert!(matches!(image, Fetched::Image(Image { media_type: "image/png", .. })));
    }

    #[test]
    fn hidden_characters_are_removed() {
        assert_eq!(text("text/plain", "a\u{1b}[2Jb\u{202e}c\u{e0041}d\u{200b}e\tf\n".as_bytes()), "a[2Jbcde\tf\n");
    }

    #[test]
    fn the_encoding_is_that_of_the_header_the_page_or_detection() {
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
