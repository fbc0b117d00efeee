//! Converts the body of a response to a page: its kind and its text.

use std::sync::Arc;

use super::charset::decoded;
use super::error::WebError;
use super::markdown::{Converted, to_markdown};
use rhumb_tokens::image_type;

/// A response.
#[derive(Debug, Clone)]
pub(super) struct Raw {
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
    Picture(Picture),
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
pub struct Picture {
    /// The final address.
    pub url: String,
    /// The media type: `image/png` and the like.
    pub media_type: &'static str,
    /// The bytes of the file.
    pub bytes: Arc<[u8]>,
}

/// How the body of a content type is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Html,
    Text,
    Binary,
    /// Unknown.
    Unsaid,
}

/// Converts a response to a page. An image is recognized by its bytes, whatever the content type.
///
/// # Errors
/// The response is not a text, or has no text.
pub(super) fn read_body(raw: Raw) -> Result<Fetched, WebError> {
    let Raw { url, content_type, bytes } = raw;
    if let Some(media_type) = image_type(&bytes) {
        return Ok(Fetched::Picture(Picture { url, media_type, bytes: bytes.into() }));
    }
    let not_text = |kind: &str| WebError::NotText { url: url.clone(), kind: kind.to_owned() };
    if bytes.starts_with(b"%PDF-") {
        return Err(not_text("a PDF document"));
    }
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let form = match form_of(&essence) {
        Form::Unsaid if bytes.contains(&0) || std::str::from_utf8(&bytes).is_err() => Form::Binary,
        Form::Unsaid if looks_like_html(&bytes) => Form::Html,
        Form::Unsaid => Form::Text,
        form => form,
    };
    let text = decoded(&bytes, &content_type);
    let Converted { title, text } = match form {
        Form::Binary if essence.is_empty() => return Err(not_text("a binary file")),
        Form::Binary => return Err(not_text(&essence)),
        Form::Html => to_markdown(text, &url).map_err(|reason| WebError::Unreadable { url: url.clone(), reason })?,
        Form::Text | Form::Unsaid => Converted { title: String::new(), text },
    };
    let (title, text) = (harmless(&title), harmless(&text));
    if text.trim().is_empty() {
        return Err(WebError::Empty { url });
    }
    Ok(Fetched::Page(Page { url, title, text }))
}

fn form_of(essence: &str) -> Form {
    match essence {
        "text/html" | "application/xhtml+xml" => Form::Html,
        "" | "application/octet-stream" | "binary/octet-stream" => Form::Unsaid,
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/toml"
        | "application/yaml"
        | "application/x-yaml"
        | "application/x-ndjson"
        | "application/x-sh"
        | "application/graphql" => Form::Text,
        other if other.starts_with("text/") || other.ends_with("+json") || other.ends_with("+xml") => Form::Text,
        _ => Form::Binary,
    }
}

fn looks_like_html(bytes: &[u8]) -> bool {
    let start = bytes.get(..bytes.len().min(256)).unwrap_or_default();
    let start = String::from_utf8_lossy(start).trim_start().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

/// Removes characters that are not visible: control characters, direction overrides, tags and zero-width spaces. They could
/// hide text from the user that the model reads.
fn harmless(text: &str) -> String {
    let hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{206f}' | '\u{202a}'..='\u{202e}' | '\u{feff}')
            || matches!(c, '\u{e0000}'..='\u{e0fff}' | '\u{fff9}'..='\u{fffb}')
            || (c.is_control() && !matches!(c, '\n' | '\t'))
    };
    text.replace("\r\n", "\n").chars().filter(|c| !hidden(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content_type: &str, bytes: &[u8]) -> Result<Fetched, WebError> {
        let url = "https://example.com/x".to_owned();
        read_body(Raw { url, content_type: content_type.into(), bytes: bytes.to_vec() })
    }

    fn text(content_type: &str, bytes: &[u8]) -> String {
        match read(content_type, bytes) {
            Ok(Fetched::Page(page)) => page.text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_stays_as_it_is_and_html_becomes_markdown() {
        assert_eq!(text("text/plain", b"<b>a</b>\r\nb"), "<b>a</b>\nb");
        assert_eq!(text("application/json", b"{\"a\": 1}"), "{\"a\": 1}");
        assert_eq!(text("application/problem+json; charset=utf-8", b"{}"), "{}");
        assert_eq!(text("text/markdown", b"# A"), "# A");
        assert_eq!(text("text/html", b"<b>a</b>"), "**a**");
        assert_eq!(text("", b"<!DOCTYPE html><p>a"), "a");
        assert_eq!(text("application/octet-stream", b"fn main() {}"), "fn main() {}");
    }

    #[test]
    fn what_is_no_text_is_named() {
        for (content_type, bytes, kind) in [
            ("application/pdf", b"%PDF-1.7".as_slice(), "a PDF document"),
            ("text/html", b"%PDF-1.7", "a PDF document"),
            ("application/zip", b"PK\x03\x04", "application/zip"),
            ("", b"\x7fELF\0\0", "a binary file"),
            ("video/mp4", b"x", "video/mp4"),
        ] {
            let error = read(content_type, bytes).unwrap_err();
            assert!(matches!(&error, WebError::NotText { kind: said, .. } if said == kind), "{error:?}");
        }
        assert!(matches!(read("text/html", b"<script>x</script>"), Err(WebError::Empty { .. })));
    }

    #[test]
    fn a_picture_is_known_by_its_bytes() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0\x08\x02\0\0\0";
        let picture = read("text/html", png).unwrap();
        assert!(matches!(picture, Fetched::Picture(Picture { media_type: "image/png", .. })));
    }

    #[test]
    fn nothing_hidden_comes_through() {
        assert_eq!(text("text/plain", "a\u{1b}[2Jb\u{202e}c\u{e0041}d\u{200b}e\tf\n".as_bytes()), "a[2Jbcde\tf\n");
    }
}
