//! Missing and incomplete answers: the error with its exit code for people, and the cause for programs.

use crate::error::{ErrorKind, UserError};
use crate::headless::event::FailedFor;
use rhumb_llm::{Completion, Finish, LlmError};
use rhumb_session::AskError;

/// The hint about a chat file that cannot be read.
pub(super) const UNREADABLE: &str = "Correct or leave out that --file or --read (or read in rhumb.toml).";

/// The kind of an error, which decides the exit code.
pub(in crate::headless) fn error_kind(error: &AskError) -> ErrorKind {
    match error {
        AskError::Provider(LlmError::Interrupted { .. }) | AskError::UnfinishedWork(_) => ErrorKind::Incomplete,
        AskError::Unreadable(_) | AskError::Provider(LlmError::MissingKey { .. }) => ErrorKind::Usage,
        AskError::Provider(_) | AskError::Unsent(_) | AskError::TooLong(_) => ErrorKind::Provider,
    }
}

pub(super) fn cause(error: &AskError) -> FailedFor {
    match error {
        AskError::TooLong(_) | AskError::Provider(LlmError::Overflow { .. }) => FailedFor::Window,
        AskError::Unsent(_) => FailedFor::Money,
        AskError::Unreadable(_) => FailedFor::File,
        AskError::Provider(_) | AskError::UnfinishedWork(_) => FailedFor::Provider,
    }
}

/// The error for people. `began`: a part of the answer has arrived. `consequence` describes the effect on its edits.
pub(super) fn user_error(error: &AskError, began: bool, consequence: &str) -> UserError {
    let failure = error.failure();
    let hint = if matches!(error, AskError::Unreadable(_)) { UNREADABLE.to_owned() } else { failure.hint };
    let mut message = failure.message;
    if began {
        message.truncate(message.trim_end_matches('.').len());
        message.push_str("; the answer is incomplete");
        message.push_str(consequence);
    }
    UserError::new(error_kind(error), message, hint)
}

/// The cause and the error of an answer that ended without an error of the provider, but is incomplete or empty. `capped`: the
/// spending cap ended it.
pub(super) fn incomplete(
    completion: &Completion,
    reply: &str,
    consequence: &str,
    capped: bool,
) -> Option<(FailedFor, UserError)> {
    let (cause, hint) = match completion.finish {
        Finish::Length if capped => (FailedFor::Money, "ask for less at once, or raise spending_cap"),
        Finish::Length => (FailedFor::Output, completion.finish.hint()),
        _ => (FailedFor::Provider, completion.finish.hint()),
    };
    let (text, hint) = match completion.finish.incomplete_reason() {
        Some(reason) => (format!("the reply is incomplete{consequence}: {reason}"), hint),
        None if reply.trim().is_empty() => {
            ("the model gave an empty answer".to_owned(), "Send again, or ask in other words.")
        }
        None => return None,
    };
    Some((cause, UserError::new(ErrorKind::Incomplete, text, hint)))
}
