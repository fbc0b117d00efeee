//! What is told when there is no answer, or none that is whole: to the developer in words, to programs by the exit code.

use crate::error::{ErrorKind, UserError};
use crate::headless::event::FailedFor;
use crate::session::runner::AskError;
use rhumb_llm::{Completion, Finish, LlmError};

/// What to do about a file of the chat that cannot be read, where there is no chat to take it out of.
pub(super) const UNREADABLE: &str = "Correct or leave out that --file or --read (or read in rhumb.toml).";

/// What there was not enough of, or who failed, for programs.
pub(crate) fn why(error: &AskError) -> FailedFor {
    match error {
        AskError::TooLong(_) | AskError::Provider(LlmError::Overflow { .. }) => FailedFor::Window,
        AskError::Unsent(_) => FailedFor::Money,
        AskError::Unreadable(_) => FailedFor::File,
        AskError::Provider(_) | AskError::Unfinished(_) => FailedFor::Provider,
    }
}

/// The same for the developer.
pub(super) fn ask_error(error: &AskError) -> UserError {
    let kind = match error {
        AskError::Provider(LlmError::Interrupted { .. }) | AskError::Unfinished(_) => ErrorKind::Incomplete,
        AskError::Unreadable(_) | AskError::Provider(LlmError::MissingKey { .. }) => ErrorKind::Usage,
        AskError::Provider(_) | AskError::Unsent(_) | AskError::TooLong(_) => ErrorKind::Provider,
    };
    let failure = error.failure();
    let hint = if matches!(error, AskError::Unreadable(_)) { UNREADABLE.to_owned() } else { failure.hint };
    UserError::new(kind, failure.message, hint)
}

/// Why an answer that came to its end is no whole one, in a word for programs and in full; `left` is what that means for its edits,
/// `by_cap` whether the spending cap ended it.
pub(super) fn not_whole(
    completion: &Completion,
    reply: &str,
    left: &str,
    by_cap: bool,
) -> Option<(FailedFor, UserError)> {
    let (why, hint) = match completion.finish {
        Finish::Length if by_cap => (FailedFor::Money, "ask for less at once, or raise spending_cap"),
        Finish::Length => (FailedFor::Output, completion.finish.hint()),
        _ => (FailedFor::Provider, completion.finish.hint()),
    };
    let (text, hint) = match completion.finish.shortfall() {
        Some(reason) => (format!("the reply is incomplete{left}: {reason}"), hint),
        None if reply.trim().is_empty() => {
            ("the model gave an empty answer".to_owned(), "Send again, or ask in other words.")
        }
        None => return None,
    };
    Some((why, UserError::new(ErrorKind::Incomplete, text, hint)))
}
