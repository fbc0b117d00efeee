//! What to do after a request has ended, for better or worse. Pure: the clock and the dice are the caller's.

use std::time::Duration;

use super::error::LlmError;
use super::event::Finish;
use super::retry::RetryPolicy;

/// A prompt that is too long is made shorter so often.
pub const MAX_SHRINKS: u32 = 3;
/// An answer that was cut off at its limit is gone on with so often.
pub const MAX_CONTINUES: u32 = 5;

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Send the same request again after a pause.
    Retry {
        /// How long the pause is.
        wait: Duration,
    },
    /// Make the prompt shorter and send it again.
    Shrink,
    /// Have the model go on where it was cut off.
    Continue,
    /// Let the user choose: send again, go on from what has arrived, or leave it.
    Ask,
    /// The turn is over.
    End,
}

/// What has happened before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Facts {
    /// How often and how patiently to repeat.
    pub retry: RetryPolicy,
    /// Tries so far that failed, this one included.
    pub made: u32,
    /// Something of the answer has arrived.
    pub started: bool,
    /// How often the prompt was made shorter.
    pub shrunk: u32,
    /// How often the answer was gone on with.
    pub continued: u32,
    /// A random number from 0 to 1, which spreads pauses.
    pub chance: f64,
}

impl Default for Facts {
    /// A first try of which nothing arrived.
    fn default() -> Self {
        Self { retry: RetryPolicy::default(), made: 1, started: false, shrunk: 0, continued: 0, chance: 0.5 }
    }
}

/// The next step after a request that ended so.
pub fn next_step(outcome: Result<&Finish, &LlmError>, facts: &Facts) -> Next {
    match outcome {
        Ok(Finish::Stop | Finish::Filtered) => Next::End,
        Ok(Finish::Length) if facts.started && facts.continued < MAX_CONTINUES => Next::Continue,
        Ok(Finish::Length | Finish::Other(_)) => Next::Ask,
        Err(error) => after_error(error, facts),
    }
}

fn after_error(error: &LlmError, facts: &Facts) -> Next {
    let again = || {
        let wait = facts.retry.wait(facts.made, error.retry_after(), facts.chance);
        wait.map_or(Next::Ask, |wait| Next::Retry { wait })
    };
    match error {
        LlmError::InvalidUrl { .. }
        | LlmError::Insecure { .. }
        | LlmError::Proxy { .. }
        | LlmError::NothingListens { .. }
        | LlmError::Auth { .. }
        | LlmError::MissingKey { .. }
        | LlmError::UnusableKey
        | LlmError::Quota { .. }
        | LlmError::NotFound { .. }
        | LlmError::Cancelled => Next::End,
        // Whatever it was, part of an answer is there that can be kept.
        _ if facts.started => Next::Ask,
        LlmError::Overflow { .. } if facts.shrunk < MAX_SHRINKS => Next::Shrink,
        LlmError::Server { status: 501, .. }
        | LlmError::Overflow { .. }
        | LlmError::BadRequest { .. }
        | LlmError::NotAnApi { .. }
        | LlmError::TooMuch { .. } => Next::End,
        // It may be a slow model: another try would cost the same wait.
        LlmError::Idle { .. } => Next::Ask,
        LlmError::Connect { .. }
        | LlmError::RateLimited { .. }
        | LlmError::Server { .. }
        | LlmError::Interrupted { .. } => again(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_its_next_step() {
        let s = String::new;
        let second = Duration::from_secs(1);
        let again = Next::Retry { wait: second };
        let limited = |seconds| LlmError::RateLimited { retry_after: Some(Duration::from_secs(seconds)), message: s() };
        let server = |status| LlmError::Server { status, message: s(), retry_after: None };
        // In order: nothing has arrived, something has, nothing has and all tries are used up.
        let errors = [
            (LlmError::InvalidUrl { url: s(), reason: s() }, Next::End, Next::End, Next::End),
            (LlmError::Connect { url: s(), cause: s() }, again, Next::Ask, Next::Ask),
            (LlmError::NothingListens { address: s() }, Next::End, Next::End, Next::End),
            (LlmError::MissingKey { provider: s(), looked: s() }, Next::End, Next::End, Next::End),
            (LlmError::Insecure { url: s(), cause: s() }, Next::End, Next::End, Next::End),
            (LlmError::Proxy { message: s() }, Next::End, Next::End, Next::End),
            (LlmError::Auth { status: 401, message: s() }, Next::End, Next::End, Next::End),
            (LlmError::UnusableKey, Next::End, Next::End, Next::End),
            (LlmError::Quota { message: s() }, Next::End, Next::End, Next::End),
            (limited(7), Next::Retry { wait: 7 * second }, Next::Ask, Next::Ask),
            (limited(86_400), Next::Ask, Next::Ask, Next::Ask),
            (LlmError::Overflow { message: s(), sent: None, limit: None }, Next::Shrink, Next::Ask, Next::End),
            (LlmError::NotFound { url: s(), message: s() }, Next::End, Next::End, Next::End),
            (LlmError::BadRequest { status: 400, message: s() }, Next::End, Next::Ask, Next::End),
            (server(500), again, Next::Ask, Next::Ask),
            (server(501), Next::End, Next::Ask, Next::End),
            (server(529), again, Next::Ask, Next::Ask),
            (LlmError::Interrupted { cause: s() }, again, Next::Ask, Next::Ask),
            (LlmError::Idle { seconds: 9 }, Next::Ask, Next::Ask, Next::Ask),
            (LlmError::NotAnApi { url: s(), snippet: s() }, Next::End, Next::Ask, Next::End),
            (LlmError::TooMuch { limit: 9 }, Next::End, Next::Ask, Next::End),
            (LlmError::Cancelled, Next::End, Next::End, Next::End),
        ];
        let fresh = Facts { chance: 1.0, ..Facts::default() };
        let spent = Facts { made: fresh.retry.tries, shrunk: MAX_SHRINKS, continued: MAX_CONTINUES, ..fresh };
        let begun = |facts: Facts| Facts { started: true, ..facts };
        for (error, first, after_text, last) in errors {
            let step = |facts: Facts| next_step(Err(&error), &facts);
            assert_eq!((step(fresh), step(begun(fresh)), step(spent)), (first, after_text, last), "{error:?}");
        }
        let ends = [
            (Finish::Stop, Next::End, Next::End, Next::End),
            (Finish::Length, Next::Ask, Next::Continue, Next::Ask),
            (Finish::Filtered, Next::End, Next::End, Next::End),
            (Finish::Other("tool_calls".into()), Next::Ask, Next::Ask, Next::Ask),
        ];
        for (finish, first, after_text, last) in ends {
            let step = |facts: Facts| next_step(Ok(&finish), &facts);
            assert_eq!((step(fresh), step(begun(fresh)), step(begun(spent))), (first, after_text, last), "{finish:?}");
        }
    }
}
