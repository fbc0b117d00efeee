//! Keeps a provider's prompt cache warm between turns: the cached prefix of the last request is sent again shortly before it
//! expires, with an output limit of one token. This costs the price of a cache read.

use crate::host::ModelClient;
use rhumb_llm::models::Caching;
use rhumb_llm::{Message, Role};
use rhumb_llm::{Request, StreamEvent, Usage};
use rhumb_session::Spent;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Shortly before the expiry of Anthropic's cache, which is five minutes after its last use.
pub(super) const PING_EVERY: Duration = Duration::from_secs(5 * 60 - 5);

/// Sends up to `max_pings` pings for `request` at an interval, until `cancel` or the first error. The cost of each is sent to `spent`.
pub(super) async fn keep_warm(
    client: &ModelClient,
    request: Request,
    max_pings: u32,
    interval: Duration,
    cancel: &CancellationToken,
    spent: mpsc::Sender<Spent>,
) {
    let Some(ping) = ping(client, request) else { return };
    for _ in 0..max_pings {
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(interval) => {}
        }
        let Some(usage) = send_ping(client, ping.clone(), cancel).await else { return };
        let spent_now = Spent { model: Arc::clone(&client.facts), tokens: usage.tokens(), estimated: false };
        if spent.send(spent_now).await.is_err() {
            return;
        }
    }
}

/// The request that refreshes the cache of `request`: its messages up to the last cache mark, with its tools. `None` without a mark.
fn ping(client: &ModelClient, mut request: Request) -> Option<Request> {
    // Thinking needs more output tokens, and a request without it does not read the cache of one with it.
    if client.facts.capabilities.caching != Caching::Marked || request.thinking.is_some() {
        return None;
    }
    let last = request.messages.iter().rposition(|message| message.cached)?;
    request.messages.truncate(last + 1);
    request.messages.push(Message::new(Role::User, "Answer with one word: here."));
    Some(Request { max_output_tokens: Some(1), ..request })
}

async fn send_ping(client: &ModelClient, request: Request, cancel: &CancellationToken) -> Option<Usage> {
    let (sender, mut events) = mpsc::channel(16);
    let mut usage = None;
    let stream = client.provider.stream(request, cancel.clone(), sender);
    let listen = async {
        while let Some(event) = events.recv().await {
            if let StreamEvent::Usage(counts) = event {
                usage = Some(counts);
            }
        }
    };
    let (result, ()) = tokio::join!(stream, listen);
    result.ok().and(usage)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::FutureExt as _;
    use futures::future::BoxFuture;

    use super::*;
    use rhumb_llm::models::{Capabilities, Model};
    use rhumb_llm::{Completion, Finish, LlmError, Provider, Thinking, Tool};

    #[derive(Default)]
    struct RecordingProvider(Mutex<Vec<Request>>);

    impl Provider for RecordingProvider {
        fn name(&self) -> String {
            "recording".into()
        }

        fn stream(
            &self,
            request: Request,
            _: CancellationToken,
            events: mpsc::Sender<StreamEvent>,
        ) -> BoxFuture<'_, Result<Completion, LlmError>> {
            async move {
                self.0.lock().unwrap().push(request);
                let usage = Usage { input: 100, output: 1, cached: 90, ..Usage::default() };
                events.send(StreamEvent::Usage(usage)).await.map_err(|_| LlmError::Cancelled)?;
                Ok(Completion::new(Finish::Length, Some(usage)))
            }
            .boxed()
        }
    }

    fn client(caching: Caching) -> (ModelClient, Arc<RecordingProvider>) {
        let provider = Arc::new(RecordingProvider::default());
        let capabilities = Capabilities { caching, ..Capabilities::default() };
        let facts = Arc::new(Model { capabilities, ..Model::unknown("m") });
        (ModelClient { facts, ..ModelClient::new(Arc::clone(&provider) as Arc<dyn Provider>, "m".into()) }, provider)
    }

    fn request() -> Request {
        let marked = Message { cached: true, ..Message::new(Role::User, "files") };
        let messages = vec![Message::new(Role::System, "rules"), marked, Message::new(Role::User, "do it")];
        let parameters = serde_json::Value::Null;
        let tool = Tool { name: "grep".into(), description: String::new(), parameters, built_in: false };
        Request { model: "m".into(), messages, tokens: 9, tools: vec![tool], ..Request::default() }
    }

    #[tokio::test]
    async fn the_marked_prefix_is_sent_again_and_its_cost_reported() {
        let (client, provider) = client(Caching::Marked);
        let (sender, mut spent) = mpsc::channel(8);
        keep_warm(&client, request(), 2, Duration::from_millis(1), &CancellationToken::new(), sender).await;
        let sent = provider.0.lock().unwrap().clone();
        assert_eq!(sent.len(), 2);
        let said: Vec<&str> = sent[0].messages.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(said[..2], ["rules", "files"]);
        assert_eq!((said.len(), sent[0].max_output_tokens), (3, Some(1)));
        assert_eq!(sent[0].tools, request().tools, "the cache begins with the tools");
        assert_eq!(spent.recv().await.unwrap().tokens.cache_read, 90);
    }

    #[tokio::test]
    async fn no_ping_follows_a_request_with_thinking() {
        let (client, provider) = client(Caching::Marked);
        let (sender, _spent) = mpsc::channel(8);
        let request = Request { thinking: Some(Thinking::Effort("high".into())), ..request() };
        keep_warm(&client, request, 1, Duration::from_millis(1), &CancellationToken::new(), sender).await;
        assert!(provider.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn pings_end_with_a_new_turn_and_are_only_for_marked_caches() {
        let (sender, _spent) = mpsc::channel(8);
        let cancel = CancellationToken::new();
        cancel.cancel();
        let (marked, provider) = client(Caching::Marked);
        keep_warm(&marked, request(), 2, Duration::from_secs(60), &cancel, sender.clone()).await;
        assert!(provider.0.lock().unwrap().is_empty());
        let (by_prefix, provider) = client(Caching::ByPrefix);
        keep_warm(&by_prefix, request(), 2, Duration::from_millis(1), &CancellationToken::new(), sender).await;
        assert!(provider.0.lock().unwrap().is_empty());
    }
}
