//! The tools of an agent loop, without the loop: what a model may call, what a call means, and when to stop.

pub mod action;
mod arguments;
pub mod guard;
pub mod output;
pub mod protocol;
pub mod tools;

pub use action::{Action, PlanItem, PlanState};
pub use guard::{Caps, Guard, Spent, StepFacts, Stop};
pub use output::{Clipped, Keep, ResultSize, clip, stub, to_stub};
pub use tools::{CallError, PatchTool, ToolSet, definitions, describe, parse_call};
