//! When to try again, and how long to wait before.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::{Duration, SystemTime};

/// How often and how patiently a request is repeated that failed before any text came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// All tries, the first included.
    pub tries: u32,
    /// The pause before the second try, which doubles from then on.
    pub first_wait: Duration,
    /// The longest pause. A server that asks for a longer one is not waited for at all.
    pub longest_wait: Duration,
}

/// The longest pause that is made without asking the user.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { tries: 4, first_wait: Duration::from_secs(1), longest_wait: LONGEST_WAIT }
    }
}

impl RetryPolicy {
    /// The pause after the `made`-th failed try (1-based), or none if it was the last. `asked` is what the server
    /// wants; `chance` (0 to 1) spreads the pauses of many clients: a pause is between half and all of its nominal
    /// length.
    pub(super) fn wait(&self, made: u32, asked: Option<Duration>, chance: f64) -> Option<Duration> {
        if made >= self.tries {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.longest_wait).then_some(asked);
        }
        let doubled = 2u32.saturating_pow(made.saturating_sub(1));
        let nominal = self.first_wait.saturating_mul(doubled).min(self.longest_wait);
        let half = nominal / 2;
        let spread = Duration::try_from_secs_f64(half.as_secs_f64() * chance.clamp(0.0, 1.0)).unwrap_or(half);
        Some(half.saturating_add(spread).min(self.longest_wait))
    }
}

/// A number from 0 to 1 that differs from call to call. The standard library seeds its hash maps at random, which is
/// random enough to spread pauses.
pub(super) fn chance() -> f64 {
    let random = RandomState::new().build_hasher().finish();
    (random >> 11) as f64 / (1u64 << 53) as f64
}

/// The pause that a server asks for: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub(super) fn asked_wait(header: impl Fn(&'static str) -> Option<String>, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = header("retry-after-ms").and_then(|text| pause(&text, 1000.0)) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    pause(&text, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(text.trim()).ok()?;
        Some(date.duration_since(now).unwrap_or(Duration::ZERO))
    })
}

/// The pause that a number says, of which `per_second` make a second. A number that no duration can hold asks for the longest one,
/// not for none: such a server is not to be asked again at once.
pub(super) fn pause(number: &str, per_second: f64) -> Option<Duration> {
    let seconds = number.trim().parse::<f64>().ok()? / per_second;
    (seconds >= 0.0).then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_double_up_to_the_cap_and_then_end() {
        let policy = RetryPolicy { tries: 4, first_wait: SECOND, longest_wait: 3 * SECOND };
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
    fn the_server_is_waited_for_unless_it_asks_for_a_day() {
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
    fn a_pause_that_is_too_long_to_hold_is_the_longest_one() {
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
    fn chances_lie_between_0_and_1() {
        assert!((0..100).map(|_| chance()).all(|chance| (0.0..1.0).contains(&chance)));
    }
}
