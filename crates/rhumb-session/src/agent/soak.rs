//! Long random sequences of events around the agent loop, with a host that carries out each effect.

use super::*;
use crate::{
    AskEvent, CodebaseResponse, Command, Connection, Failure, FoundPassages, Response, Written, parse_command,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rhumb_edit::review::Decision;
use rhumb_edit::{FileChange, FileProposal, PendingFile};
use rhumb_llm::{Finish, Message, Role, StreamEvent};

/// An event; the numbers choose among what is possible.
#[derive(Debug, Clone)]
enum Event {
    /// The answer of a running request: text, and calls by their kind.
    Answer(bool, Vec<u8>),
    Cut,
    Fails(u8),
    /// A running call ends.
    Done(usize, bool),
    /// A call that does not run ends.
    Late(usize),
    NeedsApproval(usize),
    Message(u8),
    Interrupt,
    Cancel,
    Continue,
    Rewind(usize),
    Key(char),
    Decide(bool),
    Write,
    WriteEnds(bool),
    TimeUp,
    TakeOver,
    Result(usize, bool),
    Command(&'static str),
}

fn event() -> impl Strategy<Value = Event> {
    let commands = ["/clear", "/cap steps 3", "/cap steps off", "/cap tokens 1", "/cap tokens off", "/undo", "/rewind"];
    prop_oneof![
        12 => (any::<bool>(), prop::collection::vec(0_u8..12, 0..5)).prop_map(|(text, calls)| Event::Answer(text, calls)),
        20 => (0_usize..5, any::<bool>()).prop_map(|(at, ok)| Event::Done(at, ok)),
        1 => Just(Event::Cut),
        1 => (0_u8..4).prop_map(Event::Fails),
        1 => (0_usize..40).prop_map(Event::Late),
        1 => (0_usize..5).prop_map(Event::NeedsApproval),
        4 => (0_u8..6).prop_map(Event::Message),
        2 => Just(Event::Interrupt),
        1 => Just(Event::Cancel),
        3 => Just(Event::Continue),
        1 => (0_usize..6).prop_map(Event::Rewind),
        2 => prop::sample::select(vec!['y', 'n', '1', 'x']).prop_map(Event::Key),
        2 => any::<bool>().prop_map(Event::Decide),
        1 => Just(Event::Write),
        2 => any::<bool>().prop_map(Event::WriteEnds),
        1 => Just(Event::TimeUp),
        1 => Just(Event::TakeOver),
        2 => (1_usize..40, any::<bool>()).prop_map(|(number, pins)| Event::Result(number, pins)),
        1 => prop::sample::select(commands.to_vec()).prop_map(Event::Command),
    ]
}

/// A session, and a host that remembers what it was asked to do.
struct Soak {
    session: Session,
    /// The turn of the running request.
    asking: Option<u64>,
    /// The running calls, with the proposal that they see.
    running: Vec<(u64, usize, Vec<PendingFile>)>,
    writing: Option<Vec<String>>,
    calls: usize,
}

impl Soak {
    fn new() -> Self {
        let session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        Self { session, asking: None, running: Vec::new(), writing: None, calls: 0 }
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        let mut waiting: std::collections::VecDeque<Effect> = effects.into();
        while let Some(effect) = waiting.pop_front() {
            match effect {
                Effect::Cancel => {
                    self.asking = None;
                    self.running.clear();
                }
                Effect::Ask(spec) => {
                    assert!(self.asking.is_none() && self.running.is_empty(), "two turns at once");
                    self.asking = Some(spec.generation);
                    check_request(&spec);
                }
                Effect::Agent(AgentEffect::Perform { turn, calls, view }) => {
                    assert!(self.asking.is_none(), "calls run while a request runs");
                    self.running.extend(calls.into_iter().map(|call| (turn, call.number, view.pending.clone())));
                }
                Effect::Codebase(_) => {
                    if let Some(turn) = self.session.turn().map(|turn| turn.number) {
                        let found = CodebaseResponse::Found { turn, found: FoundPassages::default() };
                        waiting.extend(self.session.handle(Response::Codebase(found)));
                    }
                }
                Effect::Propose { .. } => waiting.extend(self.session.handle(Response::NotProposed(None))),
                Effect::Write { files, .. } => {
                    assert!(self.writing.is_none(), "two writes at once");
                    self.writing = Some(files.into_iter().map(|file| file.path).collect());
                }
                _ => {}
            }
        }
        if self.session.turn().is_none() {
            assert!(self.asking.is_none() && self.running.is_empty(), "something runs after the end");
        }
    }

    /// A call of a kind.
    fn call(&mut self, kind: u8) -> ToolCall {
        self.calls += 1;
        let (name, arguments) = match kind {
            0..=2 => ("read_file", format!(r#"{{"path":"{}.py"}}"#, self.calls % 7)),
            3 | 4 => ("edit", r#"{"path":"a.py","search":"1","replace":"2"}"#.to_owned()),
            5 => ("run", r#"{"command":"make test"}"#.to_owned()),
            6 => ("plan", r#"{"items":[{"text":"x","state":"pending"}]}"#.to_owned()),
            7 => ("ask_user", r#"{"question":"Which?","options":["a","b"]}"#.to_owned()),
            8 => ("fetch_url", r#"{"url":"https://example.com"}"#.to_owned()),
            9 => ("read_file", "{\"path".to_owned()),
            10 => ("fly", String::new()),
            _ => ("task", r#"{"prompt":"Where?"}"#.to_owned()),
        };
        // Some servers give all calls the same id.
        let id = if kind == 2 { "same".to_owned() } else { format!("c{}", self.calls) };
        ToolCall { id, name: name.to_owned(), arguments, ..ToolCall::default() }
    }

    fn end(&mut self, result: Result<Completion, AskError>) {
        let Some(turn) = self.asking.take() else { return };
        let effects = self.session.handle(Response::Ended { turn, result });
        self.perform(effects);
    }

    fn done(&mut self, turn: u64, number: usize, outcome: ToolOutcome) {
        let outcome = Box::new(outcome);
        let effects = self.session.handle(Response::Agent(AgentResponse::Done { turn, number, outcome }));
        self.perform(effects);
    }

    fn take_running(&mut self, at: usize) -> Option<(u64, usize, Vec<PendingFile>)> {
        let count = self.running.len();
        (count > 0).then(|| self.running.swap_remove(at % count))
    }

    #[allow(clippy::too_many_lines)] // one arm for each event
    fn step(&mut self, event: Event) {
        let effects = match event {
            Event::Answer(has_text, kinds) => {
                let Some(turn) = self.asking else { return };
                if has_text {
                    let event = AskEvent::Stream(StreamEvent::Text("So.".into()));
                    let effects = self.session.handle(Response::Asked { turn, event });
                    self.perform(effects);
                }
                let calls: Vec<ToolCall> = kinds.into_iter().map(|kind| self.call(kind)).collect();
                let finish = if calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
                return self.end(Ok(Completion { tool_calls: calls, ..Completion::new(finish, None) }));
            }
            Event::Cut => return self.end(Ok(Completion::new(Finish::Length, None))),
            Event::Fails(kind) => {
                return self.end(Err(match kind {
                    0 => AskError::Provider(LlmError::NoTools { message: "no".into() }),
                    1 => AskError::TooLong(Failure::new("too long", "")),
                    2 => AskError::Unsent(Failure::new("no money", "")),
                    _ => AskError::Provider(LlmError::Idle(9)),
                }));
            }
            Event::Done(at, ok) => {
                let Some((turn, number, pending)) = self.take_running(at) else { return };
                let proposed: Option<Arc<str>> = pending.first().and_then(|pending| pending.file.proposed.clone());
                let text = format!("{}{number}\n", proposed.as_deref().unwrap_or_default());
                let file = FileProposal {
                    path: "a.py".into(),
                    change: FileChange::Modify,
                    base: Some("0\n".into()),
                    proposed: Some(text.as_str().into()),
                };
                let edits = number.is_multiple_of(3) && ok;
                let proposal = edits.then(|| Proposal { files: vec![file], ..Proposal::default() });
                let run = number.is_multiple_of(4).then(|| ("make test".to_owned(), ok));
                let text = format!("result {}", number % 5);
                return self.done(
                    turn,
                    number,
                    ToolOutcome { ok, text, tokens: 900, proposal, run, ..ToolOutcome::default() },
                );
            }
            Event::Late(number) => {
                // The host does not answer for the user.
                let is_open =
                    |entry: &Entry| matches!(entry, Entry::Tool(tool) if tool.number == number && !tool.is_over());
                if self.session.transcript().iter().any(is_open) {
                    return;
                }
                let turn = self.session.turn().map_or(1, |turn| turn.number);
                return self.done(
                    turn,
                    number,
                    ToolOutcome { ok: true, text: "late".into(), ..ToolOutcome::default() },
                );
            }
            Event::NeedsApproval(at) => {
                let Some((turn, number, _)) = self.take_running(at) else { return };
                let (command, reason) = ("curl x".to_owned(), "It asks for the network.".to_owned());
                let response = AgentResponse::NeedsApproval { turn, number, command, reason };
                self.session.handle(Response::Agent(response))
            }
            Event::Message(0) => self.session.send("a message").1,
            Event::Message(1) => self.session.send_in_mode("change it", Mode::Code).1,
            Event::Message(_) => self.session.send_in_mode("see https://example.com", Mode::Agent).1,
            Event::Interrupt => self.session.interrupt(),
            Event::Cancel => self.session.cancel(),
            Event::Continue => self.session.command(Command::Continue),
            Event::Rewind(step) => match parse_command(&format!("/rewind step {step}")) {
                Ok(command) => self.session.command(command),
                Err(_) => Vec::new(),
            },
            Event::Key(_) if self.session.questions().is_empty() => return,
            Event::Key(key) => self.session.answer(key),
            Event::Decide(accepts) => {
                let decision = if accepts { Decision::Accepted } else { Decision::Rejected };
                self.session.review_mut().decide_all(decision);
                Vec::new()
            }
            Event::Write if self.writing.is_some() => Vec::new(),
            Event::Write => self.session.write_accepted(),
            Event::WriteEnds(ok) => match self.writing.take() {
                Some(paths) if ok => self.session.handle(Response::Wrote(Written { paths, ..Written::default() })),
                Some(_) => self
                    .session
                    .handle(Response::NotWritten { failure: Failure::new("disk full", ""), stale: Vec::new() }),
                None => Vec::new(),
            },
            Event::TimeUp => {
                let turn = self.session.turn().map_or(1, |turn| turn.number);
                self.session.handle(Response::Agent(AgentResponse::TimeUp { turn }))
            }
            Event::TakeOver => self.session.go_on_as_agent(),
            Event::Result(number, true) => self.session.pin_result(number),
            Event::Result(number, false) => self.session.toggle_result(number),
            Event::Command(line) => match parse_command(line) {
                Ok(command) => self.session.command(command),
                Err(_) => Vec::new(),
            },
        };
        self.perform(effects);
    }
}

/// Every answer with calls is followed by one message with a result for each, in order; no message of the user is empty; and the last
/// message is one of the user.
fn check_request(spec: &RequestSpec) {
    let mut messages: Vec<Message> = spec.history.iter().chain(spec.exchange.iter()).cloned().collect();
    if !spec.draft.is_empty() {
        messages.push(Message::new(Role::User, &spec.draft));
    }
    for (at, message) in messages.iter().enumerate() {
        let ids: Vec<&str> = message.tool_calls.iter().map(|call| call.id.as_str()).collect();
        let next = messages.get(at + 1);
        let results: Vec<&str> =
            next.into_iter().flat_map(|next| &next.tool_results).map(|result| result.id.as_str()).collect();
        assert_eq!(ids, results, "message {at} of {messages:#?}");
        if message.role == Role::User {
            let is_empty = message.content.trim().is_empty() && message.tool_results.is_empty();
            assert!(!is_empty, "message {at} is empty in {messages:#?}");
            assert!(message.tool_calls.is_empty());
        }
        assert!(message.tool_results.iter().all(|result| !result.content.is_empty()), "{message:?}");
    }
    assert_eq!(messages.last().map(|message| message.role), Some(Role::User), "{messages:#?}");
    assert!(messages.first().is_some_and(|message| message.tool_results.is_empty()), "a result without its call");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, rng_seed: RngSeed::Fixed(0), failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn thousands_of_events_keep_calls_and_results_together(events in prop::collection::vec(event(), 0..2_000)) {
        let mut soak = Soak::new();
        for event in events {
            soak.step(event);
        }
        // Whatever runs can be stopped.
        for _ in 0..3 {
            let effects = soak.session.interrupt();
            soak.perform(effects);
        }
        soak.step(Event::WriteEnds(true));
        let effects = soak.session.interrupt();
        soak.perform(effects);
        prop_assert!(soak.session.turn().is_none() && soak.asking.is_none() && soak.running.is_empty());
        prop_assert!(soak.session.transcript().iter().all(|entry| !matches!(entry, Entry::Tool(tool) if !tool.is_over())));
    }
}
