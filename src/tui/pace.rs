//! When the next frame is due. What a user does shows at once: a key that waits is felt. What comes by itself shows at
//! most 60 times a second. Where nothing has changed there is no frame at all.

use std::time::Duration;

use tokio::time::Instant;

/// The shortest time between two frames that nobody asked for with a key: 60 frames a second are as many as one sees.
const FRAME: Duration = Duration::from_millis(16);

/// What waits to be drawn, and from when on it may be.
#[derive(Debug)]
pub(super) struct Pace {
    dirty: bool,
    next: Instant,
}

impl Pace {
    /// The first frame is due.
    pub(super) fn new(now: Instant) -> Self {
        Self { dirty: true, next: now }
    }

    /// Something has changed by itself: it shows with the next frame.
    pub(super) fn changed(&mut self) {
        self.dirty = true;
    }

    /// The user did something, whatever came of it: the next frame is due now.
    pub(super) fn answer(&mut self, now: Instant) {
        (self.dirty, self.next) = (true, self.next.min(now));
    }

    /// Whether a frame is to be drawn now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.dirty && now >= self.next
    }

    /// A frame was drawn.
    pub(super) fn drawn(&mut self, now: Instant) {
        (self.dirty, self.next) = (false, now + FRAME);
    }

    /// Whether something waits to be drawn.
    pub(super) fn is_waiting(&self) -> bool {
        self.dirty
    }

    /// The earliest time of the next frame.
    pub(super) fn next(&self) -> Instant {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_at_once_also_while_an_answer_streams() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.drawn(now);
        pace.changed();
        pace.answer(now + FRAME / 4);
        assert!(pace.is_due(now + FRAME / 4));
        pace.drawn(now + FRAME / 4);
        pace.changed();
        assert!(!pace.is_due(now + FRAME), "the stream goes on waiting for its turn");
        assert!(pace.is_due(now + FRAME / 4 + FRAME));
    }

    #[test]
    fn what_comes_by_itself_waits_for_the_next_frame() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.drawn(now);
        pace.changed();
        assert!(!pace.is_due(now + FRAME / 2) && pace.is_waiting());
        assert!(pace.is_due(pace.next()));
    }

    #[test]
    fn a_key_late_in_a_pause_is_due_at_once_and_does_not_put_the_frame_off() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        pace.drawn(now);
        pace.answer(now + FRAME * 9);
        assert_eq!(pace.next(), now + FRAME);
        assert!(pace.is_due(now + FRAME * 9));
    }

    #[test]
    fn nothing_is_drawn_where_nothing_has_changed() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        assert!(pace.is_due(now), "the first frame");
        pace.drawn(now);
        assert!(!pace.is_due(now + FRAME * 1_000));
    }
}
