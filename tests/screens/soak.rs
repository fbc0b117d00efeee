//! Two thousand keys at random, at sizes at random: the app never panics, and no file changes unless `w` was pressed.

use super::harness::{Harness, Scene, character};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rhumb::tui::action::ACTIONS;
use rhumb::tui::key;

/// Keys in all, over the runs.
const KEYS: usize = 2_000;

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

    fn size(&mut self) -> (u16, u16) {
        let [width, height] = [(200, 1), (60, 1)].map(|(most, least)| least + self.roll(most));
        (u16::try_from(width).unwrap_or(1), u16::try_from(height).unwrap_or(1))
    }
}

/// Every key that means something, and a few that do not.
fn pool() -> Vec<KeyEvent> {
    let bound = ACTIONS.iter().flat_map(|info| info.keys).flat_map(|keys| keys.split(' '));
    let mut keys: Vec<KeyEvent> = bound.filter_map(key::parse).collect();
    keys.extend("abyn/漢é\u{301} ".chars().map(character));
    keys.push(KeyEvent::new(KeyCode::Media(crossterm::event::MediaKeyCode::Play), KeyModifiers::NONE));
    keys.extend(["Backspace", "Left", "Right", "F12", "Ctrl-Alt-x"].into_iter().filter_map(key::parse));
    // Looking for servers goes to the network of the machine; a search takes long and finds what happens to run.
    keys.retain(|key| key.code != KeyCode::F(2));
    keys
}

fn soak(seed: u64, mut harness: Harness, keys: usize, allowed: impl Fn(&KeyEvent) -> bool) -> Harness {
    let mut dice = Dice(seed);
    let pool: Vec<KeyEvent> = pool().into_iter().filter(allowed).collect();
    for step in 0..keys {
        match dice.roll(40) {
            0 | 1 => {
                let (width, height) = dice.size();
                harness.resize(width, height);
            }
            2 => drop(harness.paste(&"some\x1b[2J text\r\n".repeat(dice.roll(50)))),
            3 => drop(harness.keys("<Alt-4>")),
            4 if step % 5 == 0 => {
                let _ = harness.keys("<Esc> <Ctrl-c> <Alt-1>").paste("cache off-by-one").keys("<Enter>");
            }
            _ => harness.press(pool[dice.roll(pool.len())]),
        }
        if dice.roll(30) == 0 {
            harness.settle();
        } else {
            harness.catch_up();
        }
        assert!(harness.control_characters().is_empty(), "seed {seed}, step {step}");
    }
    harness.settle();
    harness
}

#[test]
fn random_keys_never_panic_and_never_write() {
    for seed in 1..=4 {
        let harness = Scene::demo().open(120, 40);
        let before = harness.files();
        let not_write = |key: &KeyEvent| key.code != KeyCode::Char('w');
        let harness = soak(seed, harness, KEYS / 5, not_write);
        assert_eq!(harness.files(), before, "seed {seed}");
    }
}

#[test]
fn random_keys_with_writes_never_panic() {
    soak(7, Scene::demo().open(80, 24), KEYS / 5, |_| true);
}
