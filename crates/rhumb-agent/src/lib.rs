//! The tools of an agent loop, without the loop: what a model may call, what a call means, and when to stop.
//!
//! An agent loop sends a request, performs the tool calls of the answer, appends the results and repeats, until the model answers without a
//! call. This crate has the parts of such a loop that need no repository, network or clock: it takes strings and returns values, so that
//! each part can be tested alone, and another program can use them with its own host.
//!
//! ```
//! use rhumb_agent::{Action, Guard, Keep, PatchTool, StepFacts, ToolSet, clip, definitions, parse_call};
//! use rhumb_llm::ToolCall;
//!
//! // The tools of the request.
//! let set = ToolSet { edits: true, patch: PatchTool::None, run: true, ask_user: false, fetch_url: false, task: false };
//! assert!(definitions(&set).iter().any(|tool| tool.name == "read_file"));
//!
//! // A call of the answer. Names that models know from other agents are understood.
//! let call = ToolCall {
//!     id: "call_1".into(),
//!     name: "read_file".into(),
//!     arguments: r#"{"file_path": "src/gate.rs", "offset": 1, "limit": 200}"#.into(),
//!     ..ToolCall::default()
//! };
//! let content = match parse_call(&call, &set) {
//!     Ok(action @ Action::ReadFile { .. }) => {
//!         assert_eq!(action.summary(), "src/gate.rs 1-200");
//!         let text = "line\n".repeat(10_000); // what the host reads
//!         clip(&text, Keep::Head, 50_000, 2_000, "read_file with start_line 2001").text
//!     }
//!     Ok(_) => String::new(),
//!     Err(error) => error.to_string(), // the result, so that the model can try again
//! };
//! assert!(content.ends_with("[… 8,000 lines, 40,000 bytes left out; to read them: read_file with start_line 2001 …]"));
//!
//! // The same step again and again stops the loop.
//! let mut guard = Guard::default();
//! let step = StepFacts { calls: vec![0x5eed], progressed: false }; // a hash of the call and its result
//! let stops = [guard.observe(&step), guard.observe(&step), guard.observe(&step)];
//! assert_eq!(stops[2].map(|stop| stop.to_string()).as_deref(), Some("the model made the same call 3 times and got the same result"));
//! ```
//!
//! | module | subject |
//! |---|---|
//! | [`tools`] | [`definitions`] for a [`ToolSet`]; [`parse_call`], which returns an [`Action`] or the error for the model; [`describe`] for display |
//! | [`action`] | [`Action`]: what a call asks for, its summary, whether it only reads |
//! | [`output`] | [`clip`] cuts a result to a budget; [`to_stub`] says which old results are dropped, [`stub`] what replaces them |
//! | [`guard`] | [`Guard`] stops loops that repeat themselves or read nothing new; [`Caps`] on steps, tokens, cost and time |
//! | [`protocol`] | calls as fenced text, for models without tool calls |
//!
//! # Limits
//!
//! - Paths are not checked: `..`, absolute paths and links are for the host to refuse. So are commands and addresses.
//! - Arguments are read leniently only where the meaning is certain. JSON that was cut is never completed.
//! - [`parse_call`] does not limit the size of a text. The client limits the size of an answer.
//! - [`Guard`] compares hashes. Results with a time or a random name in them are new each time; the caller should leave such parts out.
//! - [`protocol::calls`] reads what the model wrote. Results are only rendered, so markup in a file or in the output of a command is not a
//!   call, unless the model repeats it as one.

pub mod action;
mod arguments;
pub mod guard;
pub mod output;
pub mod protocol;
pub mod tools;

pub use action::{Action, PlanItem, PlanState};
pub use guard::{Caps, Guard, Spent, StepFacts, Stop};
pub use output::{Clipped, Keep, ResultSize, clip, stub, to_stub};
pub use tools::{CallError, MAX_OPTIONS, PatchTool, ToolSet, definitions, describe, parse_call};
