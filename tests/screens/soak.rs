//! A hundred thousand random keys, clicks and sizes: the app does not panic, the invariants of the screen hold, and files change
//! only by writes that were requested. `RHUMB_SOAK=N` presses N keys instead. A failure names the seed that repeats it.

use super::harness::{Harness, Scene, character};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use rhumb::tui::action::ACTIONS;
use rhumb::tui::key;
use rhumb_session::Level;

/// Events in all, over the runs.
const EVENTS: usize = 100_000;

/// Average number of events between two frames. Drawing takes most of the time, and errors are still found soon.
const EVENTS_A_FRAME: usize = 8;

/// A stream of numbers from a seed (xorshift64*).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let value = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(value).unwrap_or(0) % sides.max(1)
    }

    fn cell(&mut self, most: usize) -> u16 {
        u16::try_from(self.roll(most)).unwrap_or(1)
    }

    fn size(&mut self) -> (u16, u16) {
        // Sometimes much too small, rarely very large.
        match self.roll(12) {
            0 => (1 + self.cell(50), 1 + self.cell(14)),
            1 => (200 + self.cell(200), 60 + self.cell(60)),
            _ => (40 + self.cell(160), 10 + self.cell(50)),
        }
    }

    fn mouse(&mut self, (width, height): (u16, u16)) -> Event {
        let kind = match self.roll(7) {
            0 => MouseEventKind::ScrollDown,
            1 => MouseEventKind::ScrollUp,
            2 => MouseEventKind::Drag(MouseButton::Left),
            3 => MouseEventKind::Up(MouseButton::Left),
            4 => MouseEventKind::Down(MouseButton::Right),
            _ => MouseEventKind::Down(MouseButton::Left),
        };
        let (column, row) = (self.cell(usize::from(width) + 2), self.cell(usize::from(height) + 2));
        Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
    }
}

/// Every key with a binding, and a few without.
fn pool() -> Vec<KeyEvent> {
    let bound = ACTIONS.iter().flat_map(|info| info.keys).flat_map(|keys| keys.split(' '));
    let mut keys: Vec<KeyEvent> = bound.filter_map(key::parse).collect();
    keys.extend("abynzq/@漢é\u{301} ".chars().map(character));
    keys.push(KeyEvent::new(KeyCode::Media(crossterm::event::MediaKeyCode::Play), KeyModifiers::NONE));
    keys.extend(
        ["Backspace", "Left", "Right", "F12", "Ctrl-Alt-x", "Ctrl-w", "Alt-b"].into_iter().filter_map(key::parse),
    );
    // The search for servers uses the network of the machine, takes long, and depends on running servers.
    keys.retain(|key| key.code != KeyCode::F(2));
    keys
}

/// Presses keys, clicks, pastes and resizes.
fn soak(seed: u64, mut harness: Harness, events: usize, is_allowed: impl Fn(&KeyEvent) -> bool) -> Harness {
    let mut dice = Dice(seed);
    let pool: Vec<KeyEvent> = pool().into_iter().filter(is_allowed).collect();
    let before = harness.files();
    let mut screen = (120, 40);
    for step in 0..events {
        match dice.roll(60) {
            0 => {
                screen = dice.size();
                harness.resize_only(screen.0, screen.1);
            }
            1 => harness.take_event(Event::Paste("some\x1b[2J text\r\n".repeat(dice.roll(50)))),
            2 => harness.take_event(Event::Key(key::parse("Alt-4").expect("a key"))),
            3 if step % 5 == 0 => ask(&mut harness),
            4 => harness.app.session.report(Level::Warning, "the tide\u{1b}[31m turns\n".repeat(dice.roll(4)), ""),
            5..=9 => harness.take_event(dice.mouse(screen)),
            _ => harness.take_event(Event::Key(pool[dice.roll(pool.len())])),
        }
        if dice.roll(EVENTS_A_FRAME) == 0 {
            harness.frame();
            harness.color();
            assert!(harness.control_characters().is_empty(), "seed {seed}, step {step}");
            laws(&harness, seed, step);
        }
        match dice.roll(200) {
            0 => drop(harness.settle()),
            1..=40 => drop(harness.take_reports()),
            _ => {}
        }
    }
    harness.settle();
    unwritten(&harness, &before, seed);
    still_there(&mut harness, seed);
    harness
}

/// Sends the demo's message, whatever the app is doing.
fn ask(harness: &mut Harness) {
    let _ = harness.keys("<Esc> <Esc> <Ctrl-c> <Alt-1>").paste("cache off-by-one").keys("<Enter>");
}

/// The invariants of the app.
fn laws(harness: &Harness, seed: u64, step: usize) {
    let app = &harness.app;
    let review = app.session.review();
    let at = || format!("seed {seed}, step {step}\n{}", harness.screen());
    if !review.files.is_empty() {
        assert!(review.hunk(app.review.cursor).is_some(), "the cursor is on a hunk: {}", at());
    }
    assert_eq!(review.counts().total(), review.ids().count(), "{}", at());
}

/// Checks that only files of writes have changed.
fn unwritten(harness: &Harness, before: &std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>, seed: u64) {
    let (root, after) = (harness.path(), harness.files());
    for path in before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)) {
        let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        assert!(harness.written.contains(&name), "seed {seed}: {name} changed without a write");
    }
}

/// Checks that the app still accepts a message and can be quit.
fn still_there(harness: &mut Harness, seed: u64) {
    harness.resize_only(100, 30);
    let _ = harness.keys("<Esc> <Esc> <Esc> <Esc> <Esc> <Esc> <Alt-1> <Ctrl-c>");
    let _ = harness.keys("<Alt-1>").paste("still here");
    assert!(harness.app.composer.text().contains("still here"), "seed {seed}\n{}", harness.screen());
    harness.quit = false;
    harness.keys("<Ctrl-q>");
    assert!(harness.quit || !harness.app.overlays.is_empty(), "seed {seed}: it leaves, or asks\n{}", harness.screen());
}

fn events() -> usize {
    std::env::var("RHUMB_SOAK").ok().and_then(|number| number.parse().ok()).unwrap_or(EVENTS)
}

#[test]
fn random_events_never_panic_and_never_write_without_w() {
    for seed in 1..=4 {
        let not_write = |key: &KeyEvent| !matches!(key.code, KeyCode::Char('w' | 'W'));
        soak(seed, Scene::demo().sealed().open(120, 40), events() / 10, not_write);
    }
}

#[test]
fn random_events_with_writes_never_panic() {
    for seed in 5..=7 {
        soak(seed, Scene::demo().sealed().open(80, 24), events() / 10, |_| true);
    }
}

#[test]
fn random_events_over_odd_files_never_panic() {
    for seed in 8..=10 {
        let scene = Scene::harbour().silent().sealed();
        let scene = scene
            .file("a\u{1b}[31m 漢字 é\u{301}.rs", "fn f() {}\n")
            .file("deep/er/\u{202e}x.py", &"def f(): 1\n".repeat(99));
        soak(seed, scene.open(60, 18), events() / 10, |_| true);
    }
}
