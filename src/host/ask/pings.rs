//! Persistence a provider's prompt cache warm while the developer thinks: the cached beginning of the last request is sent again just
//! before the provider would forget it, for an answer of one token. It costs the price of reading the cache.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::host::ModelClient;
use rhumb_llm::models::Caching;
use rhumb_llm::{Message, Role};
use rhumb_llm::{Request, StreamEvent, Usage};
use rhumb_session::Spent;
use rhumb_session::context::Prompt;

/// Anthropic keeps a prompt for five minutes after its last use; a little less is in time.
pub(super) const PING_EVERY: Duration = Duration::from_secs(5 * 60 - 5);

/// Pings, `most` times and `every` so often, until `cancel`. What each costs goes to `spent`. A ping that fails is the last.
pub(super) async fn keep_warm(
    client: &ModelClient,
    prompt: &Prompt,
    most: u32,
    every: Duration,
    cancel: &CancellationToken,
    spent: mpsc::Sender<Spent>,
) {
    let Some(request) = ping(client, prompt) else { return };
    for _ in 0..most {
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(every) => {}
        }
        let Some(usage) = sent(client, request.clone(), cancel).await else { return };
        let spent_now = Spent { model: Arc::clone(&client.facts), tokens: usage.tokens(), estimated: false };
        if spent.send(spent_now).await.is_err() {
            return;
        }
    }
}

/// The request that touches the cache: everything up to the last mark, and a word. `None` where nothing is marked.
fn ping(client: &ModelClient, prompt: &Prompt) -> Option<Request> {
    if client.facts.capabilities.caching != Caching::Marked {
        return None;
    }
    let last = prompt.messages.iter().rposition(|message| message.cached)?;
    let mut messages = prompt.messages.get(..=last)?.to_vec();
    messages.push(Message::new(Role::User, "Answer with one word: here."));
    Some(Request { model: client.model.clone(), messages, max_output_tokens: Some(1), ..Request::default() })
}

/// Sends it; the token counts, if it came through.
async fn sent(client: &ModelClient, request: Request, cancel: &CancellationToken) -> Option<Usage> {
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
    use rhumb_llm::{Completion, Finish, LlmError, Provider};
    use rhumb_session::context::Window;

    #[derive(Default)]
    struct Listening(Mutex<Vec<Request>>);

    impl Provider for Listening {
        fn name(&self) -> String {
            "listening".into()
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
                Ok(Completion { finish: Finish::Length, usage: Some(usage) })
            }
            .boxed()
        }
    }

    fn client(caching: Caching) -> (ModelClient, Arc<Listening>) {
        let provider = Arc::new(Listening::default());
        let capabilities = Capabilities { caching, ..Capabilities::default() };
        let facts = Arc::new(Model { capabilities, ..Model::unknown("m") });
        (ModelClient { facts, ..ModelClient::new(Arc::clone(&provider) as Arc<dyn Provider>, "m".into()) }, provider)
    }

    fn prompt() -> Prompt {
        let marked = Message { cached: true, ..Message::new(Role::User, "files") };
        let messages = vec![Message::new(Role::System, "rules"), marked, Message::new(Role::User, "do it")];
        let window = Window { tokens: 1_000, known: true };
        Prompt { messages, tokens: 9, exact: true, window, ..Prompt::default() }
    }

    #[tokio::test]
    async fn the_marked_beginning_is_sent_again_and_paid_for() {
        let (client, provider) = client(Caching::Marked);
        let (sender, mut spent) = mpsc::channel(8);
        keep_warm(&client, &prompt(), 2, Duration::from_millis(1), &CancellationToken::new(), sender).await;
        let sent = provider.0.lock().unwrap().clone();
        assert_eq!(sent.len(), 2);
        let said: Vec<&str> = sent[0].messages.iter().map(|message| message.content.as_str()).collect();
        assert_eq!(said[..2], ["rules", "files"]);
        assert_eq!((said.len(), sent[0].max_output_tokens), (3, Some(1)));
        assert_eq!(spent.recv().await.unwrap().tokens.cache_read, 90);
    }

    #[tokio::test]
    async fn a_new_turn_ends_it_and_other_caches_need_none() {
        let (sender, _spent) = mpsc::channel(8);
        let cancel = CancellationToken::new();
        cancel.cancel();
        let (marked, provider) = client(Caching::Marked);
        keep_warm(&marked, &prompt(), 2, Duration::from_secs(60), &cancel, sender.clone()).await;
        assert!(provider.0.lock().unwrap().is_empty());
        let (by_prefix, provider) = client(Caching::ByPrefix);
        keep_warm(&by_prefix, &prompt(), 2, Duration::from_millis(1), &CancellationToken::new(), sender).await;
        assert!(provider.0.lock().unwrap().is_empty());
    }
}
