//! Makes text from a server safe for display.

use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use url::Url;

/// Maximum number of characters of a server's text.
pub(crate) const MAX_SERVER_TEXT: usize = 300;
/// Minimum length in bytes of a key that is hidden. Shorter ones are placeholders and could occur in any text.
const MIN_KEY: usize = 4;
/// Minimum length in bytes of a header value that is hidden.
const MIN_VALUE: usize = 6;

/// Secrets of a connection that must not be displayed.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyMask {
    secrets: Vec<SecretString>,
}

impl KeyMask {
    /// Hides the key, the values of the user's headers, and the secrets in the URL.
    pub(crate) fn new(key: Option<&SecretString>, headers: &[(String, String)], url: &Url) -> Self {
        let key = key.map(|key| key.expose_secret().trim()).filter(|key| key.len() >= MIN_KEY);
        let values = headers.iter().map(|(_, value)| value.trim()).filter(|value| value.len() >= MIN_VALUE);
        // The token after "Bearer " may appear alone.
        let tokens = headers.iter().filter_map(|(_, value)| value.trim().rsplit_once(' ').map(|(_, token)| token));
        let tokens = tokens.filter(|token| token.len() >= MIN_VALUE);
        let mut secrets: Vec<Cow<'_, str>> = key.into_iter().chain(values).chain(tokens).map(Cow::from).collect();
        secrets.extend(url.password().map(Cow::from));
        let is_secret = |name: &str| ["key", "token", "secret"].iter().any(|word| name.to_lowercase().contains(word));
        secrets.extend(
            url.query_pairs().filter(|(name, value)| is_secret(name) && !value.is_empty()).map(|(_, value)| value),
        );
        // Longest first, since one secret may be part of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets: secrets.into_iter().map(|secret| SecretString::from(secret.into_owned())).collect() }
    }

    /// Like the function [`sanitize`], with secrets replaced.
    pub(crate) fn sanitize(&self, text: &str) -> String {
        sanitize(&self.masked(text))
    }

    /// Replaces each secret in `text` by a placeholder.
    pub(crate) fn masked(&self, text: &str) -> String {
        let hide = |text: String, secret: &SecretString| text.replace(secret.expose_secret(), "[key]");
        self.secrets.iter().fold(text.to_owned(), hide)
    }
}

/// Makes a text fit for one line: removes control, zero-width and direction characters, joins whitespace, and cuts
/// after 300 characters.
pub(crate) fn sanitize(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|c| !is_invisible(*c)));
        if line.len() > 4 * MAX_SERVER_TEXT {
            break;
        }
    }
    match line.char_indices().nth(MAX_SERVER_TEXT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// Zero-width and direction controls, and tag characters, which can hide whole sentences.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_server_text_is_cut() {
        assert_eq!(sanitize(&"wörd ".repeat(500)).chars().count(), MAX_SERVER_TEXT + 1);
    }

    #[test]
    fn key_and_headers_are_hidden_in_whatever_order() {
        let key = SecretString::from(" sk-canary ".to_owned());
        let headers = [("authorization".into(), "Bearer abc-secret".into()), ("x-on".into(), "1".into())];
        let url = Url::parse("https://u:pass-canary@h?api-version=2024&api_key=query-canary").unwrap();
        let mask = KeyMask::new(Some(&key), &headers, &url);
        assert_eq!(mask.sanitize("pass-canary query-canary 2024"), "[key] [key] 2024");
        assert_eq!(mask.sanitize("1 sk-canary, abc-secret\u{202e} Bearer abc-secret"), "1 [key], [key] [key]");
        assert!(!format!("{mask:?}").contains("canary"));
        assert_eq!(KeyMask::new(Some(&"k".to_owned().into()), &[], &url).sanitize("tokens"), "tokens");
    }
}
