//! Which models are available: servers on this machine, the model list of a server, and public model lists.

use super::answer::{cause, seconds};
use super::http::client;
use super::sanitize::{KeyMask, sanitize};
use crate::models::{Api, ListKind};
use crate::{LlmError, redacted_url};
use futures::future::join_all;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// Well-known local servers and their default ports.
pub const KNOWN_SERVERS: &[(&str, u16)] =
    &[("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)];

/// Values of `owned_by` that identify a server, in case it uses the port of another one.
const SIGNATURES: &[(&str, &str)] =
    &[("library", "Ollama"), ("organization_owner", "LM Studio"), ("llamacpp", "llama.cpp"), ("vllm", "vLLM")];

/// A local server that does not answer within this time is considered absent.
const LOCAL_TIMEOUT: Duration = Duration::from_millis(700);
/// Maximum size in bytes of a local server's model list.
const MAX_LOCAL_LIST_BYTES: usize = 1024 * 1024;

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// Name of the server software.
    pub name: String,
    /// The API to use. Ollama's own API is preferred, because its chat API truncates long prompts silently.
    pub api: Api,
    /// Base URL of the API.
    pub base_url: String,
    /// Ids of its models, in the order of the server.
    pub models: Vec<String>,
}

/// Returns the servers that answer on their default ports, in the order of [`KNOWN_SERVERS`].
pub async fn local_servers() -> Vec<LocalServer> {
    local_servers_at(KNOWN_SERVERS).await
}

/// Returns the servers that answer on these ports of this machine. They are queried in parallel, for at most 700 ms.
pub async fn local_servers_at(servers: &[(&str, u16)]) -> Vec<LocalServer> {
    let here = Url::parse("http://127.0.0.1").ok();
    let Some(client) = here.and_then(|here| client(LOCAL_TIMEOUT, &here).ok()) else { return Vec::new() };
    let asked = servers.iter().map(|&(name, port)| {
        let client = client.clone();
        async move { timeout(LOCAL_TIMEOUT, ask(&client, name, port)).await.ok().flatten() }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

async fn ask(client: &reqwest::Client, name: &str, port: u16) -> Option<LocalServer> {
    let base_url = format!("http://127.0.0.1:{port}/v1");
    let mut response = client.get(format!("{base_url}/models")).send().await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.ok()? {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_LOCAL_LIST_BYTES {
            return None;
        }
    }
    let (signature, models) = read_models(&serde_json::from_slice(&body).ok()?)?;
    let api = if signature == Some("Ollama") { Api::Ollama } else { Api::Chat };
    Some(LocalServer { name: signature.unwrap_or(name).to_owned(), api, base_url, models })
}

/// Returns the server software, if its models identify it, and the model ids.
fn read_models(list: &Value) -> Option<(Option<&'static str>, Vec<String>)> {
    let list = list.get("data")?.as_array()?;
    let owners = list.iter().filter_map(|model| model.get("owned_by").and_then(Value::as_str));
    let signed = |owner: &str| SIGNATURES.iter().find(|(signature, _)| *signature == owner).map(|(_, name)| *name);
    let ids = list.iter().filter_map(|model| model.get("id").and_then(Value::as_str));
    Some((owners.filter_map(signed).next(), ids.map(sanitize).collect()))
}

const MAX_PUBLIC_LIST_BYTES: usize = 32 * 1024 * 1024;
/// Timeout of the connection to the server of a public list.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The published URL of a list.
pub fn list_url(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Litellm => {
            "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"
        }
        ListKind::OpenRouter => "https://openrouter.ai/api/v1/models",
        ListKind::ModelsDev => "https://models.dev/api.json",
    }
}

/// Fetches the text at a URL within `timeout_after`. Sends no key and follows no redirects.
///
/// # Errors
/// The URL is invalid, the server does not answer or reports an error, or the text is larger than 32 MB, too slow or
/// not UTF-8.
pub async fn fetch_list(url: &str, timeout_after: Duration) -> Result<String, LlmError> {
    let invalid = |reason: String| LlmError::InvalidUrl { url: redacted_url(url), reason };
    let address = Url::parse(url).map_err(|error| invalid(error.to_string()))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(invalid("it must begin with http:// or https://".into()));
    }
    let late = |_| LlmError::Idle(seconds(timeout_after));
    timeout(timeout_after, read(&address)).await.map_err(late)?
}

async fn read(address: &Url) -> Result<String, LlmError> {
    let unreachable = |error: reqwest::Error| LlmError::Connect {
        url: redacted_url(address.as_str()),
        cause: cause(&error.without_url(), &KeyMask::default()),
    };
    let client = client(CONNECT_TIMEOUT, address).map_err(unreachable)?;
    let mut response = client.get(address.clone()).send().await.map_err(unreachable)?;
    let status = response.status();
    if !status.is_success() {
        let message = format!("there is no list at {}", redacted_url(address.as_str()));
        return Err(LlmError::Server { status: status.as_u16(), message, retry_after: None });
    }
    let mut body = Vec::new();
    while let Some(bytes) =
        response.chunk().await.map_err(|error| LlmError::Interrupted(cause(&error, &KeyMask::default())))?
    {
        body.extend_from_slice(&bytes);
        if body.len() > MAX_PUBLIC_LIST_BYTES {
            return Err(LlmError::TooMuch(MAX_PUBLIC_LIST_BYTES));
        }
    }
    String::from_utf8(body).map_err(|_| LlmError::Interrupted("it is not UTF-8 text".into()))
}

/// Returns the ids in a model list of any server.
pub(crate) fn ids(list: &Value) -> Option<Vec<String>> {
    let models = list.get("data").or_else(|| list.get("models"))?.as_array()?;
    let id = |model: &Value| {
        let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
        // Ids of Gemini are paths.
        Some(sanitize(name.strip_prefix("models/").unwrap_or(name)))
    };
    Some(models.iter().filter_map(id).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::http::StatusCode;
    use axum::response::{IntoResponse as _, Redirect};
    use axum::routing::get;
    use serde_json::json;
    use tokio::net::TcpListener;

    async fn serve(body: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = Router::new().route("/v1/models", get(move || async move { body }));
        tokio::spawn(async move { axum::serve(listener, app).await });
        port
    }

    #[tokio::test]
    async fn servers_that_answer_are_listed_with_their_models() {
        let llama = serve(r#"{"object":"list","data":[{"id":"tiny","owned_by":"llamacpp"},{"id":"big"}]}"#).await;
        let page = serve("<html>hello</html>").await;
        let other = serve(r#"{"data":[]}"#).await;
        let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mute = silent.local_addr().unwrap().port();
        let ollama = serve(r#"{"object":"list","data":[{"id":"tiny","owned_by":"library"}]}"#).await;
        let servers = [("A", llama), ("B", page), ("C", mute), ("D", other), ("E", 1), ("F", ollama)];
        let found = local_servers_at(&servers).await;
        let names: Vec<&str> = found.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["llama.cpp", "D", "Ollama"]);
        let apis: Vec<Api> = found.iter().map(|server| server.api).collect();
        assert_eq!(apis, [Api::Chat, Api::Chat, Api::Ollama]);
        assert_eq!(found[0].models, ["tiny", "big"]);
        assert_eq!(found[0].base_url, format!("http://127.0.0.1:{llama}/v1"));
    }

    async fn serve_lists() -> String {
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
    async fn a_list_is_fetched_and_other_responses_are_rejected() {
        let address = serve_lists().await;
        let long = Duration::from_secs(20);
        let ask = |path: &str| {
            let url = format!("{address}{path}");
            async move { fetch_list(&url, long).await }
        };
        assert_eq!(ask("/list").await.as_deref(), Ok(r#"{"data": []}"#));
        assert!(matches!(ask("/moved").await, Err(LlmError::Server { status: 307, .. })));
        assert!(matches!(ask("/gone").await, Err(LlmError::Server { status: 404, .. })));
        assert!(matches!(ask("/endless").await, Err(LlmError::TooMuch(_))));
        assert!(matches!(ask("/bytes").await, Err(LlmError::Interrupted(_))));
        let mute = fetch_list(&format!("{address}/mute"), Duration::from_millis(200)).await;
        assert!(matches!(mute, Err(LlmError::Idle(_))));
        for url in ["file:///etc/passwd", "no address", "ftp://user:canary@127.0.0.1/"] {
            let error = fetch_list(url, long).await.unwrap_err();
            assert!(matches!(&error, LlmError::InvalidUrl { .. }) && !error.to_string().contains("canary"), "{error}");
        }
        let error = fetch_list("http://user:canary@127.0.0.1:1/x?key=canary", long).await.unwrap_err();
        assert!(matches!(&error, LlmError::Connect { .. }) && !error.to_string().contains("canary"), "{error}");
    }

    #[test]
    fn lists_of_any_format_are_read() {
        assert_eq!(ids(&json!({"data": [{"id": "a"}, {"id": "b"}, {}]})), Some(vec!["a".into(), "b".into()]));
        assert_eq!(ids(&json!({"models": [{"name": "models/gemini-x"}]})), Some(vec!["gemini-x".into()]));
        assert_eq!(ids(&json!({"error": "no"})), None);
    }
}
