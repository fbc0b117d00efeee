//! Events of the file system that come close together are told together: a save is several of them, a checkout thousands. While
//! nothing happens nothing runs: crates that do this look at the clock many times a second.

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, Event, EventKind};
use notify::{RecommendedWatcher, recommended_watcher};

/// The longest that events are held back, however many follow.
const LONGEST: Duration = Duration::from_secs(1);

/// An event, or why there are none.
type Told = notify::Result<Event>;

/// A watcher that watches nothing yet. `tell` is called from a thread of its own, with what came until nothing more did for `pause`.
/// It ends when the watcher is dropped. That something was only read is not told.
///
/// # Errors
/// The system has no watches or no threads to give.
pub fn gathering_watcher(
    pause: Duration,
    tell: impl Fn(Vec<Told>) + Send + 'static,
) -> notify::Result<RecommendedWatcher> {
    let (sender, told) = mpsc::channel();
    let watcher = recommended_watcher(move |event: Told| {
        if event.as_ref().map_or(true, |event| is_change(event.kind)) {
            // The thread below ends only after this one.
            let _ = sender.send(event);
        }
    })?;
    let gather = move || {
        while let Some(events) = next(&told, pause) {
            tell(events);
        }
    };
    thread::Builder::new().name("watch".into()).spawn(gather).map_err(notify::Error::io)?;
    Ok(watcher)
}

fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// The events of the next group; nothing when no more can come.
fn next(told: &Receiver<Told>, pause: Duration) -> Option<Vec<Told>> {
    let mut events = vec![told.recv().ok()?];
    let begun = Instant::now();
    while begun.elapsed() < LONGEST {
        match told.recv_timeout(pause) {
            Ok(event) => events.push(event),
            Err(_) => break,
        }
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use notify::{RecursiveMode, Watcher as _};

    use super::*;

    #[test]
    fn what_comes_together_is_told_together_and_reading_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "x").unwrap();
        let (tell, told) = mpsc::channel();
        let mut watcher = gathering_watcher(Duration::from_millis(300), move |events| drop(tell.send(events))).unwrap();
        watcher.watch(folder.path(), RecursiveMode::NonRecursive).unwrap();
        fs::read(folder.path().join("old")).unwrap();
        fs::write(folder.path().join("a"), "x").unwrap();
        fs::write(folder.path().join("b"), "x").unwrap();
        let events = told.recv_timeout(Duration::from_secs(20)).unwrap();
        let named = |name: &str| {
            let of = |event: &Told| event.as_ref().unwrap().paths.contains(&folder.path().join(name));
            events.iter().any(of)
        };
        assert!(named("a") && named("b") && !named("old"), "{events:?}");
        drop(watcher);
        assert!(told.recv().is_err(), "the thread has ended");
    }

    #[test]
    fn what_never_pauses_is_told_all_the_same() {
        let (sender, told) = mpsc::channel();
        let writer = thread::spawn(move || {
            while sender.send(Ok(Event::new(EventKind::Any))).is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(next(&told, Duration::from_secs(20)).is_some_and(|events| !events.is_empty()));
        drop(told);
        writer.join().unwrap();
        let (sender, told) = mpsc::channel();
        drop(sender);
        assert!(next(&told, Duration::ZERO).is_none());
    }
}
