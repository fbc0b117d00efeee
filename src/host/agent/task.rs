//! A question that the agent gives to another model, which can only read. Its answer alone returns to the loop.

use super::{CallResult, MAX_RESULT_BYTES, MAX_RESULT_LINES};
use crate::host::{Host, ModelClient, on_blocking_thread, weak_client};
use rhumb_agent::{Action, CallError, PatchTool, ToolSet, clip, definitions, parse_call};
use rhumb_llm::{Completion, Finish, LlmError, Message, Request, Role, StreamEvent, ToolCall, ToolResult, Usage};
use rhumb_session::{AgentView, AskEvent, Response, Spent};
use rhumb_text::count;
use rhumb_text::secrets::masked;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Maximum number of requests of a task.
const MAX_STEPS: usize = 12;

/// Maximum number of tokens of all results of a task.
const MAX_RESULT_TOKENS: usize = 60_000;

/// The tools of a task.
const TOOLS: ToolSet =
    ToolSet { edits: false, patch: PatchTool::None, run: false, ask_user: false, fetch_url: false, task: false };

/// Sends a request. Returns how the answer ended, its text, and its usage if the server reports that.
async fn answer(
    client: &ModelClient,
    request: Request,
    cancel: &CancellationToken,
) -> (Result<Completion, LlmError>, String, Option<Usage>) {
    let (sender, mut events) = mpsc::channel(64);
    let listen = async {
        let (mut text, mut usage) = (String::new(), None);
        while let Some(event) = events.recv().await {
            match event {
                StreamEvent::Text(piece) => text.push_str(&piece),
                StreamEvent::Retract => text.clear(),
                StreamEvent::Usage(counts) => usage = Some(counts),
                _ => {}
            }
        }
        (text, usage)
    };
    let (end, (text, usage)) = tokio::join!(client.provider.stream(request, cancel.clone(), sender), listen);
    (end, text, usage)
}

impl Host {
    /// Has the weak model answer a question about the repository.
    pub(super) async fn task(
        &self,
        turn: u64,
        prompt: &str,
        view: &Arc<AgentView>,
        cancel: &CancellationToken,
    ) -> CallResult {
        let Some(main) = self.client() else { return CallResult::new(false, "No model is connected.") };
        let (host, chosen) = (self.clone(), view.overrides.weak_model.clone());
        let client = match on_blocking_thread(move || weak_client(&host.shared.env, chosen.as_deref(), &main)).await {
            Ok(client) => client,
            Err(failure) => return CallResult::new(false, failure.message),
        };
        let tools = definitions(&TOOLS);
        let mut messages = vec![
            Message::new(Role::System, self.shared.env.prompts.text("agent-task")),
            Message::new(Role::User, prompt),
        ];
        let (mut left, mut calls_made, mut result_tokens) = (view.allowance, 0, 0);
        for step in 1..=MAX_STEPS {
            // The last request has to be answered without calls.
            let is_last = step == MAX_STEPS || result_tokens > MAX_RESULT_TOKENS;
            let request = Request {
                tools: if is_last { Vec::new() } else { tools.clone() },
                ..client.request(messages.clone(), &*self.counter())
            };
            if client.exceeds(left, &request, 1_024) {
                return CallResult::new(false, "The task would exceed the spending cap.");
            }
            let asked = request.tokens as u64;
            let (end, text, usage) = answer(&client, request, cancel).await;
            let output = rhumb_tokens::estimate(&text) as u64;
            let counted = rhumb_llm::models::Tokens { fresh: asked, output, ..Default::default() };
            let tokens = usage.map_or(counted, Usage::tokens);
            let spent = Spent { model: Arc::clone(&client.facts), tokens, estimated: usage.is_none() };
            client.pay(&mut left, &spent);
            self.respond(Response::Asked { turn, event: AskEvent::Spent(spent) }).await;
            let Completion { finish, tool_calls, thinking, .. } = match end {
                Ok(end) => end,
                Err(error) => return CallResult::new(false, format!("The task failed: {error}.")),
            };
            if finish != Finish::ToolCalls || is_last {
                let summary = format!("{}, {}", count(step, "step"), count(calls_made, "call"));
                return CallResult { summary, ..CallResult::new(!text.trim().is_empty(), text) };
            }
            calls_made += tool_calls.len();
            let results = self.task_results(&tool_calls, view).await;
            result_tokens += results.iter().map(|result| rhumb_tokens::estimate(&result.content)).sum::<usize>();
            messages.push(Message { tool_calls, thinking, ..Message::new(Role::Assistant, text) });
            messages.push(Message { tool_results: results, ..Message::new(Role::User, "") });
        }
        CallResult::new(false, "The task was not finished.")
    }

    async fn task_results(&self, calls: &[ToolCall], view: &Arc<AgentView>) -> Vec<ToolResult> {
        let perform = |call: &ToolCall| {
            let (host, view, call) = (self.clone(), Arc::clone(view), call.clone());
            async move {
                let action: Result<Action, CallError> = parse_call(&call, &TOOLS);
                let work = move || match action {
                    Ok(action) => {
                        let result = host.read(&action, &view, &AtomicBool::new(false));
                        (result.ok, host.task_result(&result))
                    }
                    Err(problem) => (false, problem.to_string()),
                };
                let (ok, content) = on_blocking_thread(work).await.unwrap_or_else(|failure| (false, failure.message));
                ToolResult { id: call.id, name: call.name, content, is_error: !ok, built_in: false }
            }
        };
        futures::future::join_all(calls.iter().map(perform)).await
    }

    /// The text of a result within its limits, without secrets. What is cut cannot be read by its number: only results of the loop have one.
    fn task_result(&self, result: &CallResult) -> String {
        let send_secrets = self.shared.env.settings.send_secrets;
        let text = if send_secrets { Cow::Borrowed(result.text.as_str()) } else { masked(&result.text) };
        clip(&text, result.keep, MAX_RESULT_BYTES, MAX_RESULT_LINES, "").text
    }
}
