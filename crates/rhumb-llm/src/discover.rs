//! Which model servers run on this machine. Asked when the user wants to connect a model, and at a start without one.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use super::clean::clean;
use super::client::client;
use crate::models::Api;

/// The usual servers and the ports that they listen on unless told otherwise.
pub const KNOWN_SERVERS: &[(&str, u16)] =
    &[("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000)];

/// How servers sign their models in `owned_by`, in case one listens on another's port.
const SIGNATURES: &[(&str, &str)] =
    &[("library", "Ollama"), ("organization_owner", "LM Studio"), ("llamacpp", "llama.cpp"), ("vllm", "vLLM")];

/// A server on this machine answers within this time or is not there.
const PATIENCE: Duration = Duration::from_millis(700);
/// No list of models is longer, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// A model server on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// The kind of server.
    pub name: String,
    /// What it is best asked in: Ollama in its own format, because it cuts long prompts in the chat API and says nothing.
    pub api: Api,
    /// The root of its API.
    pub base_url: String,
    /// Ids of the models it offers, in its order.
    pub models: Vec<String>,
}

/// The servers that answer on their usual ports, in the order of [`KNOWN_SERVERS`].
pub async fn local_servers() -> Vec<LocalServer> {
    local_servers_at(KNOWN_SERVERS).await
}

/// The servers that answer on these ports of this machine, asked all at once; takes 700 ms at most.
pub async fn local_servers_at(servers: &[(&str, u16)]) -> Vec<LocalServer> {
    let here = Url::parse("http://127.0.0.1").ok();
    let Some(client) = here.and_then(|here| client(PATIENCE, &here).ok()) else {
        return Vec::new();
    };
    let asked = servers.iter().map(|&(name, port)| {
        let client = client.clone();
        async move { timeout(PATIENCE, ask(&client, name, port)).await.ok().flatten() }
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
        if body.len() > MAX_BODY {
            return None;
        }
    }
    let (signature, models) = read_models(&serde_json::from_slice(&body).ok()?)?;
    let api = if signature == Some("Ollama") { Api::Ollama } else { Api::Chat };
    Some(LocalServer { name: signature.unwrap_or(name).to_owned(), api, base_url, models })
}

/// The server's kind, if its models are signed, and the model ids.
fn read_models(list: &Value) -> Option<(Option<&'static str>, Vec<String>)> {
    let list = list.get("data")?.as_array()?;
    let owners = list.iter().filter_map(|model| model.get("owned_by").and_then(Value::as_str));
    let signed = |owner: &str| SIGNATURES.iter().find(|(signature, _)| *signature == owner).map(|(_, name)| *name);
    let ids = list.iter().filter_map(|model| model.get("id").and_then(Value::as_str));
    Some((owners.filter_map(signed).next(), ids.map(clean).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, routing::get};
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
}
