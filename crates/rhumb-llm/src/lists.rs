//! Fetching the public lists of models. Only when the user asks for it, without a key, and from where the user says.

use std::time::Duration;

use tokio::time::timeout;
use url::Url;

use super::answer::{cause, seconds};
use super::clean::Mask;
use super::client::client;
use super::error::LlmError;
use crate::models::ListKind;

/// No list is larger, in bytes.
const MAX_LIST: usize = 32 * 1024 * 1024;
/// How long to wait for the connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Where a list is published.
pub fn list_url(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Litellm => {
            "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"
        }
        ListKind::OpenRouter => "https://openrouter.ai/api/v1/models",
        ListKind::ModelsDev => "https://models.dev/api.json",
    }
}

/// The address of a list for the eye and for files: no user, password or query.
pub fn shown_list_url(url: &str) -> String {
    let Ok(mut shown) = Url::parse(url) else { return url.split(['?', '@']).next().unwrap_or_default().to_owned() };
    shown.set_query(None);
    // Both fail only for addresses that have no place for them.
    shown.set_username("").ok();
    shown.set_password(None).ok();
    shown.to_string()
}

/// Fetches the text at an address within `patience`. It follows no redirects, and reads 32 MB at most.
///
/// # Errors
/// The address is none, nobody answers, or what comes is an error, too large, too slow or no text.
pub async fn fetch_list(url: &str, patience: Duration) -> Result<String, LlmError> {
    let invalid = |reason: String| LlmError::InvalidUrl { url: shown_list_url(url), reason };
    let address = Url::parse(url).map_err(|error| invalid(error.to_string()))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(invalid("it must begin with http:// or https://".into()));
    }
    let late = |_| LlmError::Idle { seconds: seconds(patience) };
    timeout(patience, read(&address)).await.map_err(late)?
}

async fn read(address: &Url) -> Result<String, LlmError> {
    let unreachable = |error: reqwest::Error| LlmError::Connect {
        url: shown_list_url(address.as_str()),
        cause: cause(&error.without_url(), &Mask::default()),
    };
    let client = client(CONNECT, address).map_err(unreachable)?;
    let mut response = client.get(address.clone()).send().await.map_err(unreachable)?;
    let status = response.status();
    if !status.is_success() {
        let message = format!("there is no list at {}", shown_list_url(address.as_str()));
        return Err(LlmError::Server { status: status.as_u16(), message, retry_after: None });
    }
    let mut body = Vec::new();
    while let Some(bytes) =
        response.chunk().await.map_err(|error| LlmError::Interrupted { cause: cause(&error, &Mask::default()) })?
    {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_LIST {
            return Err(LlmError::TooMuch { limit: MAX_LIST });
        }
    }
    String::from_utf8(body).map_err(|_| LlmError::Interrupted { cause: "it is not UTF-8 text".into() })
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::response::{IntoResponse as _, Redirect};
    use axum::routing::get;
    use tokio::net::TcpListener;

    use super::*;

    async fn serve() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let endless = || async {
            Body::from_stream(futures::stream::repeat(Ok::<_, std::convert::Infallible>(vec![b' '; 1 << 20])))
        };
        let app = Router::new()
            .route("/list", get(|| async { r#"{"data": []}"# }))
            .route("/moved", get(|| async { Redirect::temporary("/list").into_response() }))
            .route("/gone", get(|| async { StatusCode::NOT_FOUND }))
            .route("/endless", get(endless))
            .route("/bytes", get(|| async { vec![0xff, 0xfe] }))
            .route("/mute", get(|| async { std::future::pending::<&str>().await }));
        tokio::spawn(async move { axum::serve(listener, app).await });
        address
    }

    #[tokio::test]
    async fn a_list_is_fetched_and_whatever_else_comes_is_refused() {
        let address = serve().await;
        let long = Duration::from_secs(20);
        let ask = |path: &str| {
            let url = format!("{address}{path}");
            async move { fetch_list(&url, long).await }
        };
        assert_eq!(ask("/list").await.as_deref(), Ok(r#"{"data": []}"#));
        assert!(matches!(ask("/moved").await, Err(LlmError::Server { status: 307, .. })));
        assert!(matches!(ask("/gone").await, Err(LlmError::Server { status: 404, .. })));
        assert!(matches!(ask("/endless").await, Err(LlmError::TooMuch { .. })));
        assert!(matches!(ask("/bytes").await, Err(LlmError::Interrupted { .. })));
        let mute = fetch_list(&format!("{address}/mute"), Duration::from_millis(200)).await;
        assert!(matches!(mute, Err(LlmError::Idle { .. })));
        for url in ["file:///etc/passwd", "no address", "ftp://user:canary@127.0.0.1/"] {
            let error = fetch_list(url, long).await.unwrap_err();
            assert!(matches!(&error, LlmError::InvalidUrl { .. }) && !error.to_string().contains("canary"), "{error}");
        }
        let error = fetch_list("http://user:canary@127.0.0.1:1/x?key=canary", long).await.unwrap_err();
        assert!(matches!(&error, LlmError::Connect { .. }) && !error.to_string().contains("canary"), "{error}");
    }
}
