//! URLs of pages: checked before a request, and displayed without secrets.

use url::Url;

use super::error::WebError;

/// Parses a typed address of a page. `example.com/x` means https, `localhost:3000` plain http.
///
/// # Errors
/// The text is not an address, has another scheme than http or https, or contains a user or password.
pub fn page_url(typed: &str) -> Result<Url, WebError> {
    let typed = typed.trim().trim_start_matches('@');
    let invalid = |reason: &str| WebError::InvalidUrl { url: shown_page_url(typed), reason: reason.to_owned() };
    if typed.is_empty() {
        return Err(invalid("it is empty"));
    }
    if typed.contains(char::is_whitespace) {
        return Err(invalid("there is a space in it"));
    }
    let whole = match has_scheme(typed) {
        true => typed.to_owned(),
        false if is_local_host(typed) => format!("http://{typed}"),
        false => format!("https://{typed}"),
    };
    let url = Url::parse(&whole).map_err(|error| invalid(&error.to_string()))?;
    checked(url)
}

/// Checks an address of a page.
///
/// # Errors
/// As [`page_url`].
pub(super) fn checked(mut url: Url) -> Result<Url, WebError> {
    let invalid = |url: &Url, reason: &str| WebError::InvalidUrl { url: shown(url), reason: reason.to_owned() };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(&url, "only http and https are fetched"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(invalid(&url, "it names no host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid(&url, "it holds a user or a password, and none is sent anywhere"));
    }
    url.set_fragment(None);
    Ok(url)
}

/// Whether a URL without a scheme names this machine, where servers rarely have certificates.
fn is_local_host(typed: &str) -> bool {
    let host = typed.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name == "[::1]" || name.starts_with("127.")
}

/// Whether a text begins with a scheme. `localhost:3000` and `example.com:8080/x` do not.
fn has_scheme(text: &str) -> bool {
    let Some((before, after)) = text.split_once(':') else { return false };
    let word = before.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-'));
    after.starts_with("//") || (word && before != "localhost" && !after.starts_with(|c: char| c.is_ascii_digit()))
}

/// The address for display, without user and password.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Both fail only for addresses that cannot have them.
    url.set_username("").ok();
    url.set_password(None).ok();
    url.into()
}

/// A typed address for display, without anything before an `@` in its host.
pub fn shown_page_url(typed: &str) -> String {
    if let Ok(url) = Url::parse(typed) {
        return shown(&url);
    }
    match (typed.find("://"), typed.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}://{}", typed.get(..scheme).unwrap_or_default(), typed.get(at + 1..).unwrap_or_default())
        }
        _ => typed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_becomes_a_url() {
        for (typed, wanted) in [
            ("https://docs.rs/tokio", "https://docs.rs/tokio"),
            (" docs.rs/tokio#spawn ", "https://docs.rs/tokio"),
            ("localhost:3000/x", "http://localhost:3000/x"),
            ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
            ("[::1]:8000/x", "http://[::1]:8000/x"),
            ("localhost.example.com", "https://localhost.example.com/"),
            ("@http://example.com", "http://example.com/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://2130706433/", "http://127.0.0.1/"),
        ] {
            assert_eq!(page_url(typed).unwrap().as_str(), wanted, "{typed}");
        }
    }

    #[test]
    fn other_schemes_and_passwords_are_refused_and_not_shown() {
        for typed in [
            "",
            "file:///etc/passwd",
            "ftp://example.com",
            "javascript:alert(1)",
            "http://",
            "https://a b",
            "data:text/html,x",
            "https://user:canary@example.com/",
            "https://canary@example.com/",
            "mailto:x@example.com",
            "http://user:canary@[/",
        ] {
            let error = page_url(typed).unwrap_err();
            assert!(matches!(error, WebError::InvalidUrl { .. }), "{typed}");
            assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
        }
    }
}
