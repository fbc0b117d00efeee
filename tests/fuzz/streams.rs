//! Answers of servers over a real connection: a stream of each wire format, damaged and cut anywhere.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use proptest::prelude::{Just, any, prop, prop_oneof, proptest};
use proptest::sample::Index;
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;
use proptest::{prop_assert, prop_assert_eq};
use rhumb_llm::Endpoint;
use rhumb_llm::models::Api;
use rhumb_llm::{Completion, HttpProvider, LlmError, Provider as _, Request, RetryPolicy, StreamEvent};
use rhumb_llm::{Message, Role, Tool};
use tokio_util::sync::CancellationToken;

use crate::cases;
use crate::damage::cut;

/// A whole answer in each format, in its pieces.
const STREAMS: [(Api, &[&str]); 5] = [
    (
        Api::Chat,
        &[
            ": PROCESSING\n\n",
            r#"data: {"choices":[{"delta":{"role":"assistant","content":null}}]}"#,
            r#"data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}"#,
            r#"data: {"choices":[{"delta":{"content":"Hé"},"finish_reason":null}]}"#,
            r#"data: {"choices":[{"delta":{"content":"llo 🚀"}}]}"#,
            r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            r#"data: {"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":2}}}"#,
            "data: [DONE]",
        ],
    ),
    (
        Api::Responses,
        &[
            "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}",
            r#"data: {"type":"response.reasoning_summary_text.delta","delta":"hm"}"#,
            r#"data: {"type":"response.output_text.delta","delta":"Hé"}"#,
            r#"data: {"type":"response.output_text.delta","delta":"llo"}"#,
            r#"data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":7,"output_tokens":3,"input_tokens_details":{"cached_tokens":2}}}}"#,
        ],
    ),
    (
        Api::Anthropic,
        &[
            r#"data: {"type":"message_start","message":{"usage":{"input_tokens":7,"cache_read_input_tokens":2,"cache_creation_input_tokens":1}}}"#,
            r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            "event: ping\ndata: {\"type\":\"ping\"}",
            r#"data: {"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#,
            r#"data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Héllo"}}"#,
            r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}"#,
            r#"data: {"type":"message_stop"}"#,
        ],
    ),
    (
        Api::Gemini,
        &[
            r#"data: {"candidates":[{"content":{"parts":[{"thought":true,"text":"hm"}]}}]}"#,
            r#"data: {"candidates":[{"content":{"parts":[{"text":"Hé"}]}}],"usageMetadata":{"promptTokenCount":7}}"#,
            r#"data: {"candidates":[{"content":{"parts":[{"text":"llo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3,"cachedContentTokenCount":2}}"#,
        ],
    ),
    (
        Api::Ollama,
        &[
            r#"{"message":{"role":"assistant","content":"Hé","thinking":"hm"},"done":false}"#,
            r#"{"message":{"content":"llo"},"done":false}"#,
            r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":7,"eval_count":3}"#,
        ],
    ),
];

/// A whole answer with two tool calls in each format.
const CALLS: [(Api, &str); 5] = [
    (Api::Chat, include_str!("../../crates/rhumb-llm/src/tests/streams/chat-tools.sse")),
    (Api::Responses, include_str!("../../crates/rhumb-llm/src/tests/streams/responses-tools.sse")),
    (Api::Anthropic, include_str!("../../crates/rhumb-llm/src/tests/streams/anthropic-tools.sse")),
    (Api::Gemini, include_str!("../../crates/rhumb-llm/src/tests/streams/gemini-tools.sse")),
    (Api::Ollama, include_str!("../../crates/rhumb-llm/src/tests/streams/ollama-tools.ndjson")),
];

/// Replacements for a value, or insertions between two pieces.
const ODD: [&str; 22] = [
    "null",
    "{}",
    "[]",
    "\"\"",
    "-1",
    "18446744073709551615",
    "1e999",
    "true",
    r#"{"error":{"message":"no","code":429}}"#,
    "data: {\"error\":\"\\u001b[2J\"}\n\n",
    "data: \n\n",
    "data\n\n",
    ":\n\n",
    "event: error\n",
    "id: \0\n",
    "retry: 99999999999999999999\n",
    "\r",
    "\u{feff}",
    "<html>",
    "\"<think>\"",
    "\"</think>\"",
    "[DONE]",
];

#[derive(Debug, Clone)]
enum Harm {
    Drop(Index),
    Double(Index),
    Swap(Index, Index),
    Insert(Index, &'static str),
    /// Replaces a value: the text after a colon up to a comma or brace.
    Value(Index, Index, &'static str),
    Byte(Index, u8),
    Cut(Index),
    Ends,
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = any::<Index>;
    let odd = || prop::sample::select(ODD.to_vec());
    prop_oneof![
        2 => at().prop_map(Harm::Drop),
        2 => at().prop_map(Harm::Double),
        1 => (at(), at()).prop_map(|(one, other)| Harm::Swap(one, other)),
        3 => (at(), odd()).prop_map(|(at, odd)| Harm::Insert(at, odd)),
        5 => (at(), at(), odd()).prop_map(|(piece, at, odd)| Harm::Value(piece, at, odd)),
        2 => (at(), any::<u8>()).prop_map(|(at, byte)| Harm::Byte(at, byte)),
        1 => at().prop_map(Harm::Cut),
        1 => Just(Harm::Ends),
    ]
}

/// The pieces of an answer, each with the terminator of its format, with some damage.
fn harmed(api: Api, stream: &[&str], harms: &[Harm]) -> Vec<u8> {
    let end = if api == Api::Ollama { "\n" } else { "\n\n" };
    let mut pieces: Vec<Vec<u8>> = stream.iter().map(|piece| format!("{piece}{end}").into_bytes()).collect();
    for harm in harms {
        let count = pieces.len();
        match harm {
            Harm::Drop(at) if count > 0 => drop(pieces.remove(at.index(count))),
            Harm::Double(at) if count > 0 => pieces.insert(at.index(count), pieces[at.index(count)].clone()),
            Harm::Swap(one, other) if count > 0 => pieces.swap(one.index(count), other.index(count)),
            Harm::Insert(at, odd) => pieces.insert(at.index(count + 1), odd.as_bytes().to_vec()),
            Harm::Value(piece, at, odd) if count > 0 => put_value(&mut pieces[piece.index(count)], at, odd),
            Harm::Byte(at, byte) => {
                let mut whole = pieces.concat();
                if !whole.is_empty() {
                    let at = at.index(whole.len());
                    whole[at] = *byte;
                }
                pieces = vec![whole];
            }
            Harm::Cut(at) => {
                let whole = pieces.concat();
                pieces = vec![whole[..at.index(whole.len() + 1)].to_vec()];
            }
            Harm::Ends => pieces = vec![String::from_utf8_lossy(&pieces.concat()).replace('\n', "\r\n").into_bytes()],
            _ => {}
        }
    }
    pieces.concat()
}

fn put_value(piece: &mut Vec<u8>, at: &Index, odd: &str) {
    let colons: Vec<usize> = (0..piece.len()).filter(|at| piece[*at] == b':').collect();
    if colons.is_empty() {
        return;
    }
    let colon = colons[at.index(colons.len())];
    let end = piece[colon..].iter().position(|byte| matches!(byte, b',' | b'}')).map_or(piece.len(), |at| colon + at);
    piece.splice(colon + 1..end, odd.bytes());
}

/// A server that answers each request with the next answer that it is given, in the pieces that it is given.
struct Server {
    answers: Sender<Vec<Vec<u8>>>,
    runtime: tokio::runtime::Runtime,
    providers: Vec<(Api, HttpProvider)>,
}

static SERVER: LazyLock<Mutex<Server>> = LazyLock::new(|| Mutex::new(Server::start()));

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (answers, wanted) = channel();
        thread::spawn(move || listener.incoming().flatten().for_each(|socket| answer(socket, &wanted)));
        let provider = |(api, _): &(Api, &[&str])| {
            let provider = HttpProvider::new(&Endpoint::without_key(*api, &base, "tiny")).unwrap();
            (*api, provider.with_retry(RetryPolicy { tries: 1, ..RetryPolicy::default() }))
        };
        let providers = STREAMS.iter().map(provider).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { answers, runtime, providers }
    }

    /// The result of an answer in these pieces.
    fn ask(&self, api: Api, pieces: Vec<Vec<u8>>) -> (Result<Completion, LlmError>, Vec<StreamEvent>) {
        self.answers.send(pieces).unwrap();
        let (_, provider) = self.providers.iter().find(|(known, _)| *known == api).unwrap();
        let (sender, mut receiver) = tokio::sync::mpsc::channel(4);
        let messages = vec![Message::new(Role::User, "Hi")];
        // Calls count only if tools are offered.
        let tools = ["read_file", "grep"].map(|name| Tool {
            name: name.into(),
            description: String::new(),
            parameters: serde_json::Value::Null,
            built_in: false,
        });
        let tools = tools.to_vec();
        let request = Request { model: "tiny".into(), messages, tools, ..Request::default() };
        let collect = async move {
            let mut events = Vec::new();
            while let Some(event) = receiver.recv().await {
                events.push(event);
            }
            events
        };
        let asked = provider.stream(request, CancellationToken::new(), sender);
        let both = async { tokio::join!(asked, collect) };
        let end = self.runtime.block_on(async { tokio::time::timeout(Duration::from_secs(60), both).await });
        end.unwrap_or_else(|_| panic!("no end of an answer in {}", api.name()))
    }
}

/// One connection, closed after its answer. Some answers are abandoned before their end.
fn answer(mut socket: TcpStream, wanted: &Receiver<Vec<Vec<u8>>>) {
    let mut request = Vec::new();
    let mut part = [0; 16 * 1024];
    loop {
        let read = socket.read(&mut part).unwrap_or(0);
        request.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&request).to_lowercase();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            body.len() >= length.unwrap_or(0)
        });
        if whole {
            break;
        }
        if read == 0 {
            return;
        }
    }
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut out = head.as_bytes().to_vec();
    for piece in wanted.recv().unwrap_or_default() {
        out.extend(format!("{:x}\r\n", piece.len()).into_bytes());
        out.extend(piece);
        out.extend(b"\r\n");
    }
    out.extend(b"0\r\n\r\n");
    let _ = socket.write_all(&out);
}

/// The text and the thinking, each joined, the last counts, and the name and the arguments of each call.
fn told(events: &[StreamEvent]) -> (String, String, Option<StreamEvent>, Vec<(String, String)>) {
    let (mut text, mut thinking, mut usage, mut calls) = (String::new(), String::new(), None, Vec::new());
    for event in events {
        match event {
            StreamEvent::Text(more) => text.push_str(more),
            StreamEvent::Reasoning(more) => thinking.push_str(more),
            StreamEvent::Retract => thinking.push_str(&std::mem::take(&mut text)),
            StreamEvent::Usage(counts) => {
                counts.tokens();
                usage = Some(event.clone());
            }
            StreamEvent::ToolCall { index, name, arguments } => {
                calls.resize(calls.len().max(index + 1), (String::new(), String::new()));
                calls[*index].0.clone_from(name);
                calls[*index].1.push_str(arguments);
            }
            StreamEvent::Retrying { .. } => {}
        }
    }
    (text, thinking, usage, calls)
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn an_answer_is_the_same_however_it_is_cut(
        which in any::<Index>(),
        harms in prop::collection::vec(harm(), 0..4),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        let (api, stream) = STREAMS[which.index(STREAMS.len())];
        let bytes = harmed(api, stream, &harms);
        let server = SERVER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (end, events) = server.ask(api, cut(&bytes, &[]).into_iter().map(<[u8]>::to_vec).collect());
        let (end_in_pieces, in_pieces) = server.ask(api, cut(&bytes, &cuts).into_iter().map(<[u8]>::to_vec).collect());
        let shown = || format!("{} said {:?}", api.name(), String::from_utf8_lossy(&bytes));
        prop_assert_eq!(told(&in_pieces), told(&events), "{}", shown());
        prop_assert_eq!(&end_in_pieces, &end, "{}", shown());
        if harms.is_empty() {
            let (text, thinking, ..) = told(&events);
            let is_whole = text.starts_with("Héllo") && thinking == "hm" && end.is_ok();
            prop_assert!(is_whole, "{}: {text:?} {thinking:?} {end:?}", shown());
        }
        fit_to_be_shown(&end).map_err(|why| TestCaseError::fail(format!("{why}\n{}", shown())))?;
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn calls_are_the_same_however_the_answer_is_cut(
        which in any::<Index>(),
        harms in prop::collection::vec(harm(), 0..4),
        cuts in prop::collection::vec(any::<Index>(), 0..8),
    ) {
        let (api, stream) = CALLS[which.index(CALLS.len())];
        let end = if api == Api::Ollama { "\n" } else { "\n\n" };
        let pieces: Vec<&str> = stream.split_terminator(end).collect();
        let bytes = harmed(api, &pieces, &harms);
        let server = SERVER.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (end, events) = server.ask(api, vec![bytes.clone()]);
        let (end_in_pieces, in_pieces) = server.ask(api, cut(&bytes, &cuts).into_iter().map(<[u8]>::to_vec).collect());
        let shown = || format!("{} said {:?}", api.name(), String::from_utf8_lossy(&bytes));
        prop_assert_eq!(told(&in_pieces), told(&events), "{}", shown());
        match (&end, &end_in_pieces) {
            (Ok(end), Ok(in_pieces)) => prop_assert_eq!(in_pieces, end, "{}", shown()),
            // The excerpts in errors end at different places.
            (Err(one), Err(other)) => {
                prop_assert_eq!(std::mem::discriminant(one), std::mem::discriminant(other), "{}", shown());
            }
            _ => prop_assert!(false, "{end:?} and {end_in_pieces:?}: {}", shown()),
        }
        let calls = end.as_ref().map(|end| end.tool_calls.as_slice()).unwrap_or_default();
        prop_assert!(calls.iter().all(|call| !call.id.is_empty() && !call.name.is_empty()), "{}", shown());
        if harms.is_empty() {
            let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
            prop_assert_eq!(names, ["read_file", "grep"], "{}", shown());
        }
        fit_to_be_shown(&end)
            .map_err(|why| TestCaseError::fail(format!("{why}\n{}", shown())))?;
    }
}

/// An error is short and has no control characters.
fn fit_to_be_shown(end: &Result<Completion, LlmError>) -> Result<(), TestCaseError> {
    let shown = end.as_ref().err().map(ToString::to_string).unwrap_or_default();
    prop_assert!(shown.len() < 2_000 && !shown.chars().any(char::is_control), "{shown:?}");
    Ok(())
}
