//! Transcribes a recording with a server that has OpenAI's `/audio/transcriptions`.

use std::error::Error as _;
use std::net::IpAddr;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::{Host, Url};

use super::SpeechError;
use super::recorder::Audio;
use rhumb_llm::models::Api;
use rhumb_llm::{Endpoint, redacted_url};
use rhumb_text::sanitize;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the transcription: ten minutes of speech on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(300);
const MAX_RESPONSE_BYTES: usize = 1_000_000;
const MAX_ERROR_CHARS: usize = 300;
/// Headers that may contain a key.
const KEY_HEADERS: [&str; 4] = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];

/// Transcribes a recording. `language` is the spoken language, if known. Dropping the future cancels the request.
///
/// # Errors
/// The endpoint is malformed, the connection fails, or the server refuses.
pub async fn transcribe(endpoint: &Endpoint, audio: Audio, language: Option<&str>) -> Result<String, SpeechError> {
    let url = transcription_url(endpoint)?;
    let shown = redacted_url(url.as_str());
    let (name, file) = audio.into_file().ok_or(SpeechError::NotAudio { program: "the recorder".into() })?;
    let mut fields = vec![("model", endpoint.model.as_str()), ("response_format", "json")];
    fields.extend(language.map(|language| ("language", language)));
    let (kind, body) = form(&fields, name, &file);
    let connect = |error: reqwest::Error| SpeechError::Connect { url: shown.clone(), cause: cause(&error) };
    let client = client(&url).map_err(connect)?;
    let request = client.post(url).headers(headers(endpoint)?).header(CONTENT_TYPE, kind).body(body);
    let answer = async {
        let response = request.send().await.map_err(|error| match error.is_connect() {
            true => connect(error),
            false => SpeechError::NoAnswer { url: shown.clone(), cause: cause(&error) },
        })?;
        read(response, &shown).await
    };
    let late =
        |_| SpeechError::NoAnswer { url: shown.clone(), cause: format!("it took longer than {} s", TIMEOUT.as_secs()) };
    let (status, body) = tokio::time::timeout(TIMEOUT, answer).await.map_err(late)??;
    transcript(status, &body, &shown, endpoint.key.as_ref())
}

/// The status and the beginning of the body of a response.
async fn read(mut response: reqwest::Response, shown: &str) -> Result<(u16, Vec<u8>), SpeechError> {
    let (status, mut body) = (response.status().as_u16(), Vec::new());
    let broken = |error: reqwest::Error| SpeechError::NoAnswer { url: shown.to_owned(), cause: cause(&error) };
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_RESPONSE_BYTES {
            return Err(SpeechError::NoText { url: shown.to_owned() });
        }
    }
    Ok((status, body))
}

fn transcript(status: u16, body: &[u8], shown: &str, key: Option<&SecretString>) -> Result<String, SpeechError> {
    let json: Value = serde_json::from_slice(body).unwrap_or_default();
    if !(200..300).contains(&status) {
        let error = json.get("error").unwrap_or(&json);
        let message = error.get("message").or(json.get("detail")).unwrap_or(error).as_str().unwrap_or_default();
        // Some servers repeat a refused key.
        let hidden = match key.map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty()) {
            Some(key) => message.replace(key, "•••"),
            None => message.to_owned(),
        };
        let message = sanitize::visible_line(&hidden).chars().take(MAX_ERROR_CHARS).collect();
        return Err(SpeechError::Refused { url: shown.to_owned(), status, message });
    }
    let text = json.get("text").and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| SpeechError::NoText { url: shown.to_owned() })
}

/// The address of transcriptions, derived from that of the chat.
fn transcription_url(endpoint: &Endpoint) -> Result<Url, SpeechError> {
    if !matches!(endpoint.api, Api::Chat | Api::Responses) {
        return Err(SpeechError::NoEndpoint { provider: endpoint.provider.clone() });
    }
    let bad = || SpeechError::BadAddress { url: redacted_url(&endpoint.base_url) };
    let mut url = Url::parse(endpoint.base_url.trim()).map_err(|_| bad())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(bad());
    }
    let path = url.path().trim_end_matches('/');
    let root = path.strip_suffix("/chat/completions").or(path.strip_suffix("/responses")).unwrap_or(path);
    let path =
        if root.ends_with("/audio/transcriptions") { root.to_owned() } else { format!("{root}/audio/transcriptions") };
    url.set_path(&path);
    url.set_fragment(None);
    Ok(url)
}

/// The configured headers, and the key in its header.
fn headers(endpoint: &Endpoint) -> Result<HeaderMap, SpeechError> {
    let mut headers = HeaderMap::new();
    let own =
        endpoint.headers.iter().find(|(name, _)| KEY_HEADERS.contains(&name.trim().to_ascii_lowercase().as_str()));
    let host = Url::parse(endpoint.base_url.trim()).ok().and_then(|url| url.host_str().map(str::to_owned));
    let azure = host.is_some_and(|host| host.ends_with(".azure.com"));
    let name = own.map_or(if azure { "api-key" } else { AUTHORIZATION.as_str() }, |(name, _)| name.trim());
    let key = endpoint.key.as_ref().map(|key| key.expose_secret().trim()).filter(|key| !key.is_empty());
    if let Some(key) = key {
        let prefix = if name.eq_ignore_ascii_case("authorization") { "Bearer " } else { "" };
        headers.insert(header_name(name)?, secret(&format!("{prefix}{key}"))?);
    }
    for (name, value) in endpoint.headers.iter().filter(|(_, value)| !value.trim().is_empty()) {
        headers.insert(header_name(name.trim())?, secret(value.trim())?);
    }
    // A content type that is configured for the chat does not apply here.
    headers.remove(CONTENT_TYPE);
    Ok(headers)
}

fn header_name(name: &str) -> Result<HeaderName, SpeechError> {
    name.parse().map_err(|_| SpeechError::BadKey)
}

fn secret(value: &str) -> Result<HeaderValue, SpeechError> {
    let mut value = HeaderValue::from_str(value).map_err(|_| SpeechError::BadKey)?;
    value.set_sensitive(true);
    Ok(value)
}

/// A multipart form: its content type and its body.
fn form(fields: &[(&str, &str)], name: &str, file: &[u8]) -> (String, Vec<u8>) {
    // Random, so that the recording cannot contain it.
    let border = format!("rhumb-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    let mut body = Vec::with_capacity(file.len() + 1_000);
    for (field, value) in fields {
        let value = value.replace(['\r', '\n'], " ");
        let part = format!("--{border}\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!(
        "--{border}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(file);
    body.extend_from_slice(format!("\r\n--{border}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={border}"), body)
}

/// A client that follows no redirects, so that the key is sent only to the endpoint, and uses no proxy for this machine.
fn client(url: &Url) -> Result<reqwest::Client, reqwest::Error> {
    // Fails if a provider is already installed, which has no consequence.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("rhumb/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT);
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        None => false,
    };
    if is_here {
        builder = builder.no_proxy();
    }
    if is_here && url.scheme() == "http" {
        // Not needed for http, and reading the system's certificates takes time and fails without any.
        builder = builder.tls_certs_only([]);
    }
    builder.build()
}

/// The innermost source of an error, which is the most specific.
fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    if error.source().is_some() { inner.to_string() } else { "no more is known".to_owned() }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::body::Bytes;
    use axum::extract::State;
    use axum::http::{HeaderMap, StatusCode};
    use axum::response::{IntoResponse as _, Response};
    use axum::routing::post;

    use super::*;

    type Seen = Arc<Mutex<Vec<(HeaderMap, Vec<u8>)>>>;

    async fn serve(status: u16, answer: &'static str) -> (String, Seen) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Seen::default());
        let reply = move |State(seen): State<Seen>, headers: HeaderMap, body: Bytes| async move {
            seen.lock().unwrap().push((headers, body.to_vec()));
            let status = StatusCode::from_u16(status).unwrap();
            let to = [("location", "/elsewhere"), ("content-type", "application/json")];
            let response: Response = (status, to, answer).into_response();
            response
        };
        let app = Router::new().route("/v1/audio/transcriptions", post(reply)).with_state(Arc::clone(&seen));
        tokio::spawn(async move { axum::serve(listener, app).await });
        (format!("http://{address}/v1"), seen)
    }

    fn endpoint(base_url: &str) -> Endpoint {
        let key = Some(SecretString::from("sk-canary"));
        Endpoint { key, ..Endpoint::without_key(Api::Chat, base_url, "whisper-1") }
    }

    fn audio() -> Audio {
        let mut audio = Audio::default();
        audio.push(b"OggS and what was spoken");
        audio
    }

    #[tokio::test]
    async fn a_recording_goes_as_a_form_and_comes_back_as_transcript() {
        let (url, seen) = serve(200, r#"{"text": "make it green"}"#).await;
        let words = transcribe(&endpoint(&url), audio(), Some("en")).await;
        assert_eq!(words.as_deref(), Ok("make it green"));
        let (headers, body) = seen.lock().unwrap()[0].clone();
        assert_eq!(headers["authorization"], "Bearer sk-canary");
        let border = headers["content-type"]
            .to_str()
            .unwrap()
            .strip_prefix("multipart/form-data; boundary=")
            .unwrap()
            .to_owned();
        let body = String::from_utf8(body).unwrap();
        for part in [
            "name=\"model\"\r\n\r\nwhisper-1\r\n",
            "name=\"language\"\r\n\r\nen\r\n",
            "filename=\"speech.ogg\"",
            "\r\n\r\nOggS and what was spoken\r\n",
        ] {
            assert!(body.contains(part), "{part:?} in {body}");
        }
        assert!(body.ends_with(&format!("--{border}--\r\n")));
    }

    #[tokio::test]
    async fn a_refusal_is_told_without_the_key() {
        for (status, answer, said) in [
            (401, r#"{"error": {"message": "bad key sk-canary"}}"#, "status 401): bad key •••"),
            (404, r#"{"detail": "no such model"}"#, "status 404): no such model"),
            (500, "<html>", "status 500)"),
            (307, "", "status 307)"),
            (200, "<html>", "does not answer like a transcription API"),
            (200, r#"{"words": 3}"#, "does not answer like a transcription API"),
        ] {
            let (url, seen) = serve(status, answer).await;
            let error = transcribe(&endpoint(&url), audio(), None).await.unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert!(!format!("{error:?}").contains("canary"), "{error:?}");
            assert_eq!(seen.lock().unwrap().len(), 1, "no redirect is followed");
        }
        let error = transcribe(&endpoint("http://127.0.0.1:1/v1"), audio(), None).await.unwrap_err();
        assert!(matches!(error, SpeechError::Connect { .. }), "{error:?}");
    }

    #[test]
    fn the_address_stands_beside_that_of_the_chat() {
        let of = |base: &str| transcription_url(&endpoint(base)).unwrap().to_string();
        assert_eq!(of("https://h/v1/"), "https://h/v1/audio/transcriptions");
        assert_eq!(of("https://h/v1/chat/completions?v=1"), "https://h/v1/audio/transcriptions?v=1");
        assert_eq!(of("https://h/v1/audio/transcriptions"), "https://h/v1/audio/transcriptions");
        let claude = Endpoint { api: Api::Anthropic, ..endpoint("https://h") };
        assert!(matches!(transcription_url(&claude), Err(SpeechError::NoEndpoint { .. })));
        assert!(matches!(transcription_url(&endpoint("no address")), Err(SpeechError::BadAddress { .. })));
    }
}
