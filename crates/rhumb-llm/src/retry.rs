//! When to send a request again, and what else to do after a request has ended.

use crate::{Finish, LlmError};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime};

/// How often a request is sent again if it fails before any text arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of attempts, including the first one.
    pub tries: u32,
    /// Pause before the second attempt. It doubles for each further attempt.
    pub first_wait: Duration,
    /// Maximum pause. If the server requests a longer one, there is no further attempt.
    pub max_wait: Duration,
}

/// Maximum pause that is made without asking the user.
pub(crate) const MAX_WAIT: Duration = Duration::from_secs(60);

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { tries: 4, first_wait: Duration::from_secs(1), max_wait: MAX_WAIT }
    }
}

impl RetryPolicy {
    /// Returns the pause after failed attempt number `made` (1-based), or `None` if it was the last one.
    ///
    /// `asked` is the pause that the server requests. Otherwise the pause is between half and all of its nominal
    /// length, depending on `chance` (0 to 1), so that the attempts of many clients spread out.
    pub(crate) fn wait(&self, made: u32, asked: Option<Duration>, chance: f64) -> Option<Duration> {
        if made >= self.tries {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.max_wait).then_some(asked);
        }
        let doubled = 2u32.saturating_pow(made.saturating_sub(1));
        let nominal = self.first_wait.saturating_mul(doubled).min(self.max_wait);
        let half = nominal / 2;
        let spread = Duration::try_from_secs_f64(half.as_secs_f64() * chance.clamp(0.0, 1.0)).unwrap_or(half);
        Some(half.saturating_add(spread).min(self.max_wait))
    }
}

/// Returns a random number from 0 to 1. The seed of the standard library's hash maps is random enough for this.
pub(crate) fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    (random >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the pause that the server requests: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn asked_wait(header: impl Fn(&'static str) -> Option<String>, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = header("retry-after-ms").and_then(|text| pause(&text, 1000.0)) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    pause(&text, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(text.trim()).ok()?;
        Some(date.duration_since(now).unwrap_or(Duration::ZERO))
    })
}

/// Parses a pause in units of `1 / per_second` seconds. A number that is too large gives the maximum duration.
pub(crate) fn pause(number: &str, per_second: f64) -> Option<Duration> {
    let seconds = number.trim().parse::<f64>().ok()? / per_second;
    (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// Maximum number of times that a prompt is shortened.
pub const MAX_SHRINKS: u32 = 3;
/// Maximum number of times that an answer which reached its limit is continued.
pub const MAX_CONTINUES: u32 = 5;

/// What to do after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Send the same request again after a pause.
    Retry {
        /// The pause.
        wait: Duration,
    },
    /// Shorten the prompt and send it again.
    Shrink,
    /// Let the model continue the answer.
    Continue,
    /// Ask the user: send again, continue from what arrived, or stop.
    Ask,
    /// The turn is over.
    End,
}

/// What happened before the decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttemptState {
    /// The retry policy.
    pub retry: RetryPolicy,
    /// Number of failed attempts, including this one.
    pub made: u32,
    /// Whether a part of the answer has arrived.
    pub started: bool,
    /// How often the prompt was shortened.
    pub shrunk: u32,
    /// How often the answer was continued.
    pub continued: u32,
    /// A random number from 0 to 1, which spreads pauses.
    pub chance: f64,
}

impl Default for AttemptState {
    /// The first attempt, of which nothing has arrived.
    fn default() -> Self {
        Self { retry: RetryPolicy::default(), made: 1, started: false, shrunk: 0, continued: 0, chance: 0.5 }
    }
}

/// Decides what to do after a request has ended with `outcome`.
pub fn next_step(outcome: Result<&Finish, &LlmError>, facts: &AttemptState) -> NextStep {
    match outcome {
        Ok(Finish::Stop | Finish::ToolCalls | Finish::Filtered) => NextStep::End,
        Ok(Finish::Length) if facts.started && facts.continued < MAX_CONTINUES => NextStep::Continue,
        Ok(Finish::Length | Finish::Other(_)) => NextStep::Ask,
        Err(error) => after_error(error, facts),
    }
}

fn after_error(error: &LlmError, facts: &AttemptState) -> NextStep {
    let again = || {
        let wait = facts.retry.wait(facts.made, error.retry_after(), facts.chance);
        wait.map_or(NextStep::Ask, |wait| NextStep::Retry { wait })
    };
    match error {
        LlmError::InvalidUrl { .. }
        | LlmError::Insecure { .. }
        | LlmError::Proxy(_)
        | LlmError::NothingListens(_)
        | LlmError::Auth { .. }
        | LlmError::MissingKey { .. }
        | LlmError::UnusableKey
        | LlmError::Quota(_)
        | LlmError::NotFound { .. }
        | LlmError::NoTools { .. }
        | LlmError::Cancelled => NextStep::End,
        // Part of an answer has arrived and can be kept.
        _ if facts.started => NextStep::Ask,
        LlmError::Overflow { .. } if facts.shrunk < MAX_SHRINKS => NextStep::Shrink,
        LlmError::Server { status: 501, .. }
        | LlmError::Overflow { .. }
        | LlmError::BadRequest { .. }
        | LlmError::NotAnApi { .. }
        | LlmError::TooMuch(_) => NextStep::End,
        // It may be a slow model, and another attempt would take as long.
        LlmError::Idle(_) => NextStep::Ask,
        LlmError::Connect { .. }
        | LlmError::RateLimited { .. }
        | LlmError::Server { .. }
        | LlmError::Interrupted(_) => again(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_double_up_to_the_cap_and_then_end() {
        let policy = RetryPolicy { tries: 4, first_wait: SECOND, max_wait: 3 * SECOND };
        let waits: Vec<_> = (1..=4).map(|made| policy.wait(made, None, 1.0)).collect();
        assert_eq!(waits, [Some(SECOND), Some(2 * SECOND), Some(3 * SECOND), None]);
        assert_eq!(policy.wait(1, None, 0.0), Some(SECOND / 2));
        assert_eq!(RetryPolicy { tries: 0, ..policy }.wait(1, None, 0.5), None);
        assert!(
            RetryPolicy { tries: u32::MAX, ..policy }
                .wait(u32::MAX - 1, None, f64::NAN)
                .is_none_or(|w| w <= 3 * SECOND)
        );
    }

    #[test]
    fn requested_pauses_are_kept_up_to_the_maximum() {
        let policy = RetryPolicy::default();
        assert_eq!(policy.wait(1, Some(7 * SECOND), 0.3), Some(7 * SECOND));
        assert_eq!(policy.wait(1, Some(86_400 * SECOND), 0.3), None);
        assert_eq!(policy.wait(4, Some(SECOND), 0.3), None);
    }

    #[test]
    fn all_ways_to_ask_for_a_pause_are_read() {
        let now = httpdate::parse_http_date("Fri, 20 Nov 2026 10:00:00 GMT").unwrap();
        let asked = |name: &'static str, value: &'static str| {
            asked_wait(|wanted| (wanted == name).then(|| value.to_owned()), now)
        };
        assert_eq!(asked("retry-after", " 2 "), Some(2 * SECOND));
        assert_eq!(asked("retry-after", "0.5"), Some(SECOND / 2));
        assert_eq!(asked("retry-after-ms", "1500"), Some(SECOND * 3 / 2));
        assert_eq!(asked("retry-after", "Fri, 20 Nov 2026 10:00:09 GMT"), Some(9 * SECOND));
        assert_eq!(asked("retry-after", "Fri, 20 Nov 2026 09:00:00 GMT"), Some(Duration::ZERO));
        for nonsense in ["-1", "-1e400", "soon", "NaN", "", " ", "0x10", "Fri, 99 Nov 2026 10:00:00 GMT"] {
            assert_eq!(asked("retry-after", nonsense), None, "{nonsense}");
            assert_eq!(asked("retry-after-ms", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn an_unrepresentable_pause_becomes_the_maximum() {
        let huge = ["1e30", "99999999999999999999", "18446744073709551615", "1e400", "Fri, 31 Dec 9999 23:59:59 GMT"];
        for text in huge {
            let asked = asked_wait(|name| (name == "retry-after").then(|| text.to_owned()), SystemTime::UNIX_EPOCH);
            assert!(asked.is_some_and(|wait| wait > Duration::from_secs(200_000_000_000)), "{text}: {asked:?}");
            assert_eq!(RetryPolicy::default().wait(1, asked, 0.5), None, "{text}");
        }
        let millis = asked_wait(|name| (name == "retry-after-ms").then(|| "1e300".to_owned()), SystemTime::UNIX_EPOCH);
        assert_eq!(millis, Some(Duration::MAX));
    }

    #[test]
    fn chances_are_between_0_and_1() {
        assert!((0..100).map(|_| chance()).all(|chance| (0.0..1.0).contains(&chance)));
    }

    #[test]
    fn every_outcome_has_its_next_step() {
        let s = String::new;
        let second = Duration::from_secs(1);
        let again = NextStep::Retry { wait: second };
        let limited = |seconds| LlmError::RateLimited { retry_after: Some(Duration::from_secs(seconds)), message: s() };
        let server = |status| LlmError::Server { status, message: s(), retry_after: None };
        // Columns: nothing has arrived, something has arrived, nothing has arrived and all attempts are used up.
        let errors = [
            (LlmError::InvalidUrl { url: s(), reason: s() }, NextStep::End, NextStep::End, NextStep::End),
            (LlmError::Connect { url: s(), cause: s() }, again, NextStep::Ask, NextStep::Ask),
            (LlmError::NothingListens(s()), NextStep::End, NextStep::End, NextStep::End),
            (LlmError::MissingKey { provider: s(), looked: s() }, NextStep::End, NextStep::End, NextStep::End),
            (LlmError::Insecure { url: s(), cause: s() }, NextStep::End, NextStep::End, NextStep::End),
            (LlmError::Proxy(s()), NextStep::End, NextStep::End, NextStep::End),
            (LlmError::Auth { status: 401, message: s() }, NextStep::End, NextStep::End, NextStep::End),
            (LlmError::UnusableKey, NextStep::End, NextStep::End, NextStep::End),
            (LlmError::Quota(s()), NextStep::End, NextStep::End, NextStep::End),
            (limited(7), NextStep::Retry { wait: 7 * second }, NextStep::Ask, NextStep::Ask),
            (limited(86_400), NextStep::Ask, NextStep::Ask, NextStep::Ask),
            (
                LlmError::Overflow { message: s(), sent: None, limit: None },
                NextStep::Shrink,
                NextStep::Ask,
                NextStep::End,
            ),
            (LlmError::NotFound { url: s(), message: s() }, NextStep::End, NextStep::End, NextStep::End),
            (LlmError::NoTools { message: s() }, NextStep::End, NextStep::End, NextStep::End),
            (LlmError::BadRequest { status: 400, message: s() }, NextStep::End, NextStep::Ask, NextStep::End),
            (server(500), again, NextStep::Ask, NextStep::Ask),
            (server(501), NextStep::End, NextStep::Ask, NextStep::End),
            (server(529), again, NextStep::Ask, NextStep::Ask),
            (LlmError::Interrupted(s()), again, NextStep::Ask, NextStep::Ask),
            (LlmError::Idle(9), NextStep::Ask, NextStep::Ask, NextStep::Ask),
            (LlmError::NotAnApi { url: s(), snippet: s() }, NextStep::End, NextStep::Ask, NextStep::End),
            (LlmError::TooMuch(9), NextStep::End, NextStep::Ask, NextStep::End),
            (LlmError::Cancelled, NextStep::End, NextStep::End, NextStep::End),
        ];
        let fresh = AttemptState { chance: 1.0, ..AttemptState::default() };
        let spent = AttemptState { made: fresh.retry.tries, shrunk: MAX_SHRINKS, continued: MAX_CONTINUES, ..fresh };
        let begun = |facts: AttemptState| AttemptState { started: true, ..facts };
        for (error, first, after_text, last) in errors {
            let step = |facts: AttemptState| next_step(Err(&error), &facts);
            assert_eq!((step(fresh), step(begun(fresh)), step(spent)), (first, after_text, last), "{error:?}");
        }
        let ends = [
            (Finish::Stop, NextStep::End, NextStep::End, NextStep::End),
            (Finish::Length, NextStep::Ask, NextStep::Continue, NextStep::Ask),
            (Finish::Filtered, NextStep::End, NextStep::End, NextStep::End),
            (Finish::Other("tool_calls".into()), NextStep::Ask, NextStep::Ask, NextStep::Ask),
        ];
        for (finish, first, after_text, last) in ends {
            let step = |facts: AttemptState| next_step(Ok(&finish), &facts);
            assert_eq!((step(fresh), step(begun(fresh)), step(begun(spent))), (first, after_text, last), "{finish:?}");
        }
    }
}
