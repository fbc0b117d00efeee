//! Tests of requests, with a scripted provider.

use super::*;
use crate::host::CachedCounter;
use futures::FutureExt as _;
use rhumb_llm::Provider;
use rhumb_llm::models::{Capabilities, Model, Prices};
use rhumb_session::context::{OversizedRequest, Window};
use std::collections::VecDeque;

type Answer = (&'static str, Result<Finish, LlmError>);

/// Returns its answers in order and stores the requests.
struct Script {
    answers: Mutex<VecDeque<Answer>>,
    seen: Mutex<Vec<Request>>,
}

impl Provider for Script {
    fn name(&self) -> String {
        "script".into()
    }

    fn stream(
        &self,
        request: Request,
        _: CancellationToken,
        events: mpsc::Sender<StreamEvent>,
    ) -> BoxFuture<'_, Result<Completion, LlmError>> {
        async move {
            let (text, end) = self.answers.lock().unwrap().pop_front().expect("an answer is left");
            let output = text.len() as u64;
            let usage = Usage { input: request.tokens as u64, output, ..Usage::default() };
            self.seen.lock().unwrap().push(request);
            if !text.is_empty() {
                events.send(StreamEvent::Text(text.into())).await.map_err(|_| LlmError::Cancelled)?;
                events.send(StreamEvent::Usage(usage)).await.map_err(|_| LlmError::Cancelled)?;
            }
            end.map(|finish| Completion::new(finish, None))
        }
        .boxed()
    }
}

struct AskFixture {
    model: Model,
    answers: Vec<Answer>,
    allowance: Option<f64>,
    partial: &'static str,
    /// Minimum number of tokens of a request.
    least: usize,
}

impl Default for AskFixture {
    fn default() -> Self {
        Self { model: Model::unknown("m"), answers: Vec::new(), allowance: None, partial: "", least: 0 }
    }
}

struct Outcome {
    result: Result<Completion, AskError>,
    text: String,
    seen: Vec<Request>,
    limits: Vec<Option<usize>>,
    /// The recorded input limit of the model after the request, in tokens.
    takes: usize,
    /// Number of reports that the cap ended the answer.
    cut: usize,
}

/// A request of 1,000 tokens, or fewer if `limit` is smaller, but at least `least`.
fn view(limit: Option<usize>, least: usize) -> ContextView {
    let window = Window { tokens: 100_000, known: true };
    let messages = vec![Message::new(Role::User, "do it")];
    let tokens = limit.unwrap_or(1_000).max(least);
    let excess = tokens - limit.unwrap_or(tokens);
    let oversized = OversizedRequest { excess, head: 0, head_suffices: false, droppable_files: Vec::new() };
    let oversized = Some(oversized).filter(|oversized| oversized.excess > 0);
    let prompt = Prompt { messages, tokens, window, oversized, ..Prompt::default() };
    ContextView { map: None, provisional: false, prompt: Arc::new(prompt), unreadable: Vec::new() }
}

async fn play(scene: AskFixture) -> Outcome {
    let least = scene.least;
    let script = Arc::new(Script { answers: Mutex::new(scene.answers.into()), seen: Mutex::default() });
    let provider = Arc::clone(&script) as Arc<dyn Provider>;
    let client = ModelClient { facts: Arc::new(scene.model), ..ModelClient::new(provider, "m".into()) };
    let (env, counter, limits) = (RequestEnv::default(), CachedCounter::for_model("m"), Mutex::new(Vec::new()));
    let compose = |limit: Option<usize>| -> BoxFuture<'_, Result<ContextView, Failure>> {
        limits.lock().unwrap().push(limit);
        futures::future::ready(Ok(view(limit, least))).boxed()
    };
    let params = AskParams {
        client: &client,
        env: &env,
        compose: &compose,
        partial: scene.partial,
        counter: &counter,
        allowance: scene.allowance.map(Dollars::new),
        choices: &RequestOverrides::default(),
    };
    let (events, mut arriving) = mpsc::channel(64);
    let cancel = CancellationToken::new();
    let asked = async {
        let result = ask(&params, &cancel, &events).await;
        drop(events);
        result.map(|asked| asked.completion)
    };
    let listen = async {
        let (mut text, mut cut) = (String::new(), 0);
        while let Some(event) = arriving.recv().await {
            match event {
                AskEvent::Stream(StreamEvent::Text(piece)) => text.push_str(&piece),
                AskEvent::CutByCap => cut += 1,
                _ => {}
            }
        }
        (text, cut)
    };
    let (result, (text, cut)) = tokio::join!(asked, listen);
    let seen = script.seen.lock().unwrap().clone();
    let limits = limits.lock().unwrap().clone();
    let takes = env.window(&client.facts).max_input();
    Outcome { result, text, seen, limits, takes, cut }
}

fn overflow(sent: Option<usize>, limit: Option<usize>) -> LlmError {
    LlmError::Overflow { message: String::new(), sent, limit }
}

/// A model that costs one dollar per thousand tokens of any kind.
fn priced() -> Model {
    let prices = Prices { input: 1_000.0, output: 1_000.0, cache_read: 1_000.0, cache_write: 1_000.0, long: None };
    Model { prices: Some(prices), ..Model::unknown("m") }
}

#[tokio::test]
async fn a_request_that_is_too_long_shrinks_three_times_at_most() {
    let outcome = play(AskFixture {
        answers: vec![
            ("", Err(overflow(Some(2_000), Some(1_000)))),
            ("", Err(overflow(None, None))),
            ("all", Ok(Finish::Stop)),
        ],
        ..AskFixture::default()
    })
    .await;
    assert!(outcome.result.is_ok());
    assert_eq!(outcome.limits, [None, Some(475), Some(354)]);
    assert!((354..=356).contains(&outcome.takes), "what proved to be enough is remembered");
    let answers = vec![("", Err(overflow(None, None))); 4];
    let outcome = play(AskFixture { answers, ..AskFixture::default() }).await;
    assert!(matches!(outcome.result, Err(AskError::Provider(LlmError::Overflow { .. }))));
    assert_eq!(outcome.seen.len(), 4);
    assert!(outcome.takes > 20_000, "and no guess that was not");
}

#[tokio::test]
async fn a_limit_that_is_guessed_does_not_keep_what_is_left_from_being_tried() {
    let answers = |refusal| vec![("", Err(refusal)), ("all", Ok(Finish::Stop))];
    let scene = |refusal| AskFixture { answers: answers(refusal), least: 900, ..AskFixture::default() };
    let outcome = play(scene(overflow(None, None))).await;
    assert!(outcome.result.is_ok() && outcome.seen[1].tokens == 900, "{:?}", outcome.result);
    assert!((900..=902).contains(&outcome.takes), "{}", outcome.takes);
    let outcome = play(scene(overflow(Some(2_000), Some(1_000)))).await;
    assert!(matches!(outcome.result, Err(AskError::Provider(LlmError::Overflow { .. }))), "the server named its limit");
    assert_eq!(outcome.seen.len(), 1);
}

#[tokio::test]
async fn what_has_begun_is_not_asked_for_again_in_another_way() {
    let answers = vec![("half", Err(overflow(None, None)))];
    let outcome = play(AskFixture { answers, ..AskFixture::default() }).await;
    assert!(matches!(outcome.result, Err(AskError::Provider(LlmError::Overflow { .. }))));
    assert_eq!((outcome.text.as_str(), outcome.seen.len()), ("half", 1));
}

#[tokio::test]
async fn an_answer_is_gone_on_with_by_prefill_or_by_asking() {
    let answers = || vec![("one two ", Ok(Finish::Length)), ("three", Ok(Finish::Stop))];
    let outcome = play(AskFixture { answers: answers(), ..AskFixture::default() }).await;
    assert_eq!((outcome.text.as_str(), outcome.seen[1].messages.len()), ("one two three", 3));
    let capabilities = Capabilities { prefill: true, ..Capabilities::default() };
    let model = Model { capabilities, ..Model::unknown("m") };
    let outcome = play(AskFixture { model, answers: answers(), ..AskFixture::default() }).await;
    let last = outcome.seen[1].messages.last().unwrap();
    assert_eq!(
        (outcome.text.as_str(), last.role, last.content.as_str()),
        ("one two three", Role::Assistant, "one two ")
    );
}

#[tokio::test]
async fn an_answer_that_is_there_in_part_is_gone_on_with_at_once() {
    let scene = AskFixture { partial: "one two ", answers: vec![("three", Ok(Finish::Stop))], ..AskFixture::default() };
    let outcome = play(scene).await;
    assert_eq!((outcome.text.as_str(), outcome.seen[0].messages.len()), ("three", 3));
}

#[tokio::test]
async fn an_endless_answer_ends() {
    let answers = vec![("more ", Ok(Finish::Length)); 1 + MAX_CONTINUES as usize];
    let outcome = play(AskFixture { answers, ..AskFixture::default() }).await;
    assert_eq!((outcome.result.unwrap().finish, outcome.cut), (Finish::Length, 0));
}

#[tokio::test]
async fn an_answer_that_the_cap_cuts_off_is_told_from_one_that_is_as_long_as_it_may_be() {
    let cut = async |model: Model, answers: Vec<Answer>| {
        play(AskFixture { model, answers, allowance: Some(1.5), ..AskFixture::default() }).await.cut
    };
    let thinking_only = vec![("", Ok(Finish::Length))];
    assert_eq!(cut(priced(), thinking_only.clone()).await, 1);
    assert_eq!(cut(priced(), vec![("word", Ok(Finish::Length))]).await, 1);
    assert_eq!(cut(priced(), vec![("word", Ok(Finish::Stop))]).await, 0);
    // The maximum output of this model is below the limit of the cap.
    assert_eq!(cut(Model { max_output: Some(300), ..priced() }, thinking_only).await, 0);
}

#[tokio::test]
async fn the_output_limit_of_a_model_fits_into_its_window() {
    let limit = async |max_output, least| {
        let model = Model { max_output, ..Model::unknown("m") };
        let answers = vec![("word", Ok(Finish::Stop))];
        let sent = play(AskFixture { model, answers, least, ..AskFixture::default() }).await.seen.remove(0);
        (sent.max_output_tokens, sent.model_max_output)
    };
    assert_eq!(limit(None, 0).await, (None, None));
    assert_eq!(limit(Some(64_000), 0).await, (None, Some(64_000)));
    assert_eq!(limit(Some(64_000), 40_000).await, (None, Some(55_000)));
    assert_eq!(limit(Some(64_000), 80_000).await, (None, Some(16_384)), "the prompt leaves this free");
    assert_eq!(limit(Some(4_096), 80_000).await, (None, Some(4_096)));
}

#[tokio::test]
async fn no_request_passes_the_cap() {
    let answers = || vec![("word", Ok(Finish::Stop))];
    let asked = async |allowance| {
        play(AskFixture { model: priced(), answers: answers(), allowance: Some(allowance), ..AskFixture::default() })
            .await
    };
    for too_little in [0.0, 0.5, 1.2] {
        let outcome = asked(too_little).await;
        assert!(matches!(outcome.result, Err(AskError::Unsent(_))) && outcome.seen.is_empty(), "{too_little}");
    }
    assert_eq!(asked(1.5).await.seen[0].max_output_tokens, Some(500));
}

#[tokio::test]
async fn each_part_of_an_answer_counts_against_the_cap() {
    let answers = vec![("word", Ok(Finish::Length)), ("more", Ok(Finish::Stop))];
    let outcome = play(AskFixture { model: priced(), answers, allowance: Some(2.1), ..AskFixture::default() }).await;
    // The remaining allowance is less than the cost of a second request.
    assert_eq!((outcome.result.unwrap().finish, outcome.seen.len()), (Finish::Length, 1));
}

#[tokio::test]
async fn what_is_free_passes_no_cap() {
    let model = Model { prices: Some(Prices::default()), ..Model::unknown("m") };
    let answers = vec![("word", Ok(Finish::Stop))];
    let outcome = play(AskFixture { model, answers, allowance: Some(0.0), ..AskFixture::default() }).await;
    assert_eq!((outcome.result.is_ok(), outcome.seen[0].max_output_tokens), (true, None));
}

/// Repeats a text until it is stopped, and ignores the output limit. It reports a usage at the start, like servers that report
/// the rest at the end.
struct Endless {
    pieces: usize,
}

impl Provider for Endless {
    fn name(&self) -> String {
        "endless".into()
    }

    fn stream(
        &self,
        request: Request,
        cancel: CancellationToken,
        events: mpsc::Sender<StreamEvent>,
    ) -> BoxFuture<'_, Result<Completion, LlmError>> {
        async move {
            let usage = Usage { input: request.tokens as u64, output: 1, ..Usage::default() };
            events.send(StreamEvent::Usage(usage)).await.map_err(|_| LlmError::Cancelled)?;
            for time in 0..self.pieces {
                if cancel.is_cancelled() {
                    return Err(LlmError::Cancelled);
                }
                let piece = "four".to_owned();
                let event = if time % 2 == 0 { StreamEvent::Text(piece) } else { StreamEvent::Reasoning(piece) };
                events.send(event).await.map_err(|_| LlmError::Cancelled)?;
            }
            Err(LlmError::UnusableKey)
        }
        .boxed()
    }
}

/// The events, the cost in dollars, and the result.
async fn endless(pieces: usize, allowance: f64) -> (Vec<AskEvent>, f64, Result<Completion, AskError>) {
    let client =
        ModelClient { facts: Arc::new(priced()), ..ModelClient::new(Arc::new(Endless { pieces }), "m".into()) };
    let (env, counter) = (RequestEnv::default(), CachedCounter::for_model("m"));
    let compose = |limit: Option<usize>| -> BoxFuture<'_, Result<ContextView, Failure>> {
        futures::future::ready(Ok(view(limit, 0))).boxed()
    };
    let params = AskParams {
        client: &client,
        env: &env,
        compose: &compose,
        partial: "",
        counter: &counter,
        allowance: Some(Dollars::new(allowance)),
        choices: &RequestOverrides::default(),
    };
    let (events, mut arriving) = mpsc::channel(8);
    let cancel = CancellationToken::new();
    let asked = async {
        let result = ask(&params, &cancel, &events).await;
        drop(events);
        result.map(|asked| asked.completion)
    };
    let listen = async {
        let mut all = Vec::new();
        while let Some(event) = arriving.recv().await {
            all.push(event);
        }
        all
    };
    let (result, all) = tokio::join!(asked, listen);
    let spent = |event: &AskEvent| match event {
        AskEvent::Spent(spent) => spent.model.prices.map(|prices| prices.cost(spent.tokens).as_f64()),
        _ => None,
    };
    let dollars = all.iter().filter_map(spent).sum();
    (all, dollars, result)
}

#[tokio::test]
async fn an_answer_that_goes_on_past_the_cap_is_ended_and_that_is_told() {
    // A thousand tokens for the request, 500 for the answer.
    let (events, dollars, result) = endless(1_000_000, 1.5).await;
    assert_eq!(result.unwrap().finish, Finish::Length);
    assert!(events.iter().any(|event| matches!(event, AskEvent::PastTheCap)));
    assert!((1.5..1.6).contains(&dollars), "{dollars}");
    let pieces = events.iter().filter(|event| matches!(event, AskEvent::Stream(StreamEvent::Text(_)))).count();
    assert!((250..300).contains(&pieces), "{pieces}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_costs_what_came_of_it() {
    let (events, dollars, result) = endless(400, 1.5).await;
    assert!(matches!(result, Err(AskError::Provider(LlmError::UnusableKey))), "{result:?}");
    assert!(!events.iter().any(|event| matches!(event, AskEvent::PastTheCap | AskEvent::CutByCap)));
    assert!((1.39..1.41).contains(&dollars), "the usage of the beginning is not the whole: {dollars}");
}
