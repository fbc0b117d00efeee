//! Whether the terminal's ground is light: it is asked (OSC 11), and its answer is picked out of the keys.
//!
//! crossterm knows no such answers: it reports `ESC ] 11;rgb:…` as the keys Alt-], 1, 1 and so on, whenever it comes. So
//! nothing waits for it, no key is lost, and a late answer, or none, does no harm. The other way to learn of a change,
//! mode 2031, is out of reach: its report makes crossterm hold back every key until a `u` or a `c`. The terminal is
//! asked again whenever it gets the focus instead.

use std::io::Write as _;
use std::time::Duration;

use crossterm::event::{Event, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use futures::StreamExt as _;
use tokio::time::{Instant, timeout_at};

/// The question. The end by BEL is understood by all, and cannot be cut in two.
const QUESTION: &[u8] = b"\x1b]11;?\x07";

/// The keys that an answer begins with, after Alt-].
const BEGINS: &str = "11;";

/// Longest answer, in characters.
const LONGEST: usize = 64;

/// How long keys are held that may be an answer. A terminal sends it in one piece.
const BURST: Duration = Duration::from_millis(50);

/// How long leaving waits for an answer that is due: the shell would take it for typing.
const PATIENCE: Duration = Duration::from_millis(150);

/// What the terminal was asked, and what it has said of its answer.
#[derive(Debug, Default)]
pub(super) struct Ground {
    /// When it was asked; `None` once it has answered.
    asked: Option<Instant>,
    /// Whether it was ever asked.
    ever: bool,
    /// Keys that may be an answer, and when the last of them came.
    held: Vec<Event>,
    since: Option<Instant>,
    /// Whether the key before was Esc: it may have been cut off from what follows.
    after_esc: bool,
}

/// What came in.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Heard {
    /// For the app.
    pub(super) events: Vec<Event>,
    /// The ground is light, or dark.
    pub(super) light: Option<bool>,
}

/// Whether a terminal can be asked. Some show the question, or have no colours to tell of.
pub(super) fn can_be_asked(env: impl Fn(&str) -> Option<String>) -> bool {
    let term = env("TERM").unwrap_or_default();
    let odd = ["linux", "dumb", "eterm", "emacs", "vt"].iter().any(|name| term.starts_with(name));
    cfg!(unix) && !term.is_empty() && !odd && env("STY").is_none()
}

impl Ground {
    /// Asks the terminal, unless it owes an answer: one that never answers is not asked again.
    pub(super) fn ask(&mut self) {
        if self.asked.is_some() {
            return;
        }
        let mut out = std::io::stdout();
        if out.write_all(QUESTION).and_then(|()| out.flush()).is_ok() {
            (self.asked, self.ever) = (Some(Instant::now()), true);
        }
    }

    /// Takes an event of the terminal: what is not the answer is for the app.
    pub(super) fn take(&mut self, event: Event) -> Heard {
        let Event::Key(key) = event else { return Heard { events: vec![event], light: None } };
        if !self.ever || key.kind == KeyEventKind::Release {
            return Heard { events: vec![event], light: None };
        }
        let after_esc = std::mem::replace(&mut self.after_esc, key.code == KeyCode::Esc);
        if self.held.is_empty() {
            return match is_start(key, after_esc) {
                true => self.hold(event),
                false => Heard { events: vec![event], light: None },
            };
        }
        let said = self.said();
        if !said.starts_with(BEGINS) {
            let fits = typed(key).is_some_and(|c| BEGINS.starts_with(&format!("{said}{c}")));
            return if fits { self.hold(event) } else { self.release(event) };
        }
        match typed(key) {
            // The second half of an end that was cut in two.
            Some('\\') if after_esc => self.answered(&said),
            Some(_) if said.len() < LONGEST && !after_esc => self.hold(event),
            None if is_end(key) => self.answered(&said),
            None if key.code == KeyCode::Esc && !after_esc => self.hold(event),
            // No answer looks like this; what it began with is nobody's typing.
            _ => {
                self.forget();
                Heard { events: vec![event], light: None }
            }
        }
    }

    /// When keys that are held are given back; `None` when there are none.
    pub(super) fn until(&self) -> Option<Instant> {
        self.since.map(|since| since + BURST)
    }

    /// Nothing more has come: the keys that were held, if somebody may have typed them.
    pub(super) fn give_up(&mut self) -> Vec<Event> {
        let broken = self.said().starts_with(BEGINS);
        let held = self.forget();
        if broken { Vec::new() } else { held }
    }

    /// Waits for an answer that is due, before somebody else gets the terminal. Gives what came instead.
    pub(super) async fn settle(&mut self, events: &mut EventStream) -> Heard {
        let mut all = Heard::default();
        let Some(limit) = self.asked.map(|asked| asked + PATIENCE) else { return all };
        while self.asked.is_some()
            && let Ok(Some(Ok(event))) = timeout_at(limit, events.next()).await
        {
            let heard = self.take(event);
            all.events.extend(heard.events);
            all.light = heard.light.or(all.light);
        }
        all
    }

    fn said(&self) -> String {
        let keys =
            self.held.iter().skip(1).filter_map(|event| if let Event::Key(key) = event { typed(*key) } else { None });
        keys.collect()
    }

    fn hold(&mut self, event: Event) -> Heard {
        self.held.push(event);
        self.since = Some(Instant::now());
        Heard::default()
    }

    fn release(&mut self, event: Event) -> Heard {
        let mut events = self.forget();
        events.push(event);
        Heard { events, light: None }
    }

    fn forget(&mut self) -> Vec<Event> {
        self.since = None;
        std::mem::take(&mut self.held)
    }

    fn answered(&mut self, said: &str) -> Heard {
        self.forget();
        self.asked = None;
        self.after_esc = false;
        Heard { events: Vec::new(), light: said.strip_prefix(BEGINS).and_then(is_light) }
    }
}

/// Whether an answer may begin with this key. Its first byte may have been taken for Esc.
fn is_start(key: KeyEvent, after_esc: bool) -> bool {
    key.code == KeyCode::Char(']')
        && (key.modifiers == KeyModifiers::ALT || (after_esc && key.modifiers == KeyModifiers::NONE))
}

/// Whether an answer ends with this key: BEL, or ESC and a backslash.
fn is_end(key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Char('g') => key.modifiers == KeyModifiers::CONTROL,
        KeyCode::Char('\\') => key.modifiers == KeyModifiers::ALT,
        _ => false,
    }
}

/// The character that was typed, without Ctrl and Alt.
fn typed(key: KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(c) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => Some(c),
        _ => None,
    }
}

/// Whether the colour of an answer, such as `rgb:ffff/ffff/dddd`, is light.
fn is_light(color: &str) -> Option<bool> {
    let (kind, channels) = color.split_once(':')?;
    let shares: Vec<f64> = channels.split('/').map(share).collect::<Option<_>>()?;
    match (kind, shares.as_slice()) {
        // Weighted as the eye does.
        ("rgb", [red, green, blue]) | ("rgba", [red, green, blue, _]) => {
            Some(0.25 * red + 0.625 * green + 0.125 * blue > 0.5)
        }
        _ => None,
    }
}

/// A channel of one to four hexadecimal digits, as a share of its most.
fn share(digits: &str) -> Option<f64> {
    let value = u16::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+') && digits.len() <= 4)?;
    let most = 16f64.powi(i32::try_from(digits.len()).ok()?) - 1.0;
    Some(f64::from(value) / most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    /// What crossterm makes of these bytes, as far as they matter here.
    fn keys(bytes: &str) -> Vec<Event> {
        let mut events = Vec::new();
        let mut chars = bytes.chars();
        while let Some(c) = chars.next() {
            events.push(match c {
                '\x1b' => match chars.next() {
                    Some(c) => key(KeyCode::Char(c), KeyModifiers::ALT),
                    None => key(KeyCode::Esc, KeyModifiers::NONE),
                },
                '\x07' => key(KeyCode::Char('g'), KeyModifiers::CONTROL),
                c if c.is_uppercase() => key(KeyCode::Char(c), KeyModifiers::SHIFT),
                c => key(KeyCode::Char(c), KeyModifiers::NONE),
            });
        }
        events
    }

    fn asked() -> Ground {
        Ground { asked: Some(Instant::now()), ever: true, ..Ground::default() }
    }

    fn hear(ground: &mut Ground, events: Vec<Event>) -> Heard {
        let mut all = Heard::default();
        for event in events {
            let heard = ground.take(event);
            all.events.extend(heard.events);
            all.light = heard.light.or(all.light);
        }
        all
    }

    #[test]
    fn an_answer_is_picked_out_of_what_is_typed() {
        for (answer, light) in [
            ("\x1b]11;rgb:ffff/FFFF/dddd\x1b\\", Some(true)),
            ("\x1b]11;rgb:1e1e/1e1e/2e2e\x07", Some(false)),
            ("\x1b]11;rgb:ff/fa/f0\x07", Some(true)),
            ("\x1b]11;rgba:0/0/0/f\x07", Some(false)),
            ("\x1b]11;none of this\x07", None),
            ("\x1b]11;rgb:zz/0/0\x07", None),
        ] {
            let heard = hear(&mut asked(), keys(&format!("ab{answer}cd")));
            assert_eq!(heard, Heard { events: keys("abcd"), light }, "{answer:?}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_after_an_esc_is_known_too() {
        let mut events = vec![key(KeyCode::Esc, KeyModifiers::NONE)];
        events.extend(keys("]11;rgb:f/f/f"));
        events.push(key(KeyCode::Esc, KeyModifiers::NONE));
        events.extend(keys("\\x"));
        let heard = hear(&mut asked(), events);
        let left = [vec![key(KeyCode::Esc, KeyModifiers::NONE)], keys("x")].concat();
        assert_eq!(heard, Heard { events: left, light: Some(true) });
    }

    #[test]
    fn what_somebody_typed_is_given_back() {
        for text in ["\x1b]x", "\x1b]12;x", "\x1b]1\x1b\\", "]11;rgb:", "\x1b]\x1b]"] {
            let mut ground = asked();
            let mut heard = hear(&mut ground, keys(text));
            heard.events.extend(ground.give_up());
            assert_eq!(heard, Heard { events: keys(text), light: None }, "{text:?}");
        }
        let mut ground = asked();
        assert_eq!(hear(&mut ground, keys("\x1b]")), Heard::default());
        assert!(ground.until().is_some());
        assert_eq!(ground.give_up(), keys("\x1b]"));
        assert_eq!(
            (ground.until(), hear(&mut ground, keys("11;"))),
            (None, Heard { events: keys("11;"), light: None })
        );
    }

    #[test]
    fn an_answer_that_breaks_off_leaves_nothing_behind() {
        let mut ground = asked();
        assert_eq!(hear(&mut ground, keys("\x1b]11;rgb:ff")), Heard::default());
        assert_eq!(ground.give_up(), Vec::new());
        let mut ground = asked();
        let endless = format!("\x1b]11;{}", "f".repeat(200));
        let heard = hear(&mut ground, keys(&endless));
        assert!(heard.light.is_none() && heard.events.len() < 200);
    }

    #[test]
    fn who_was_not_asked_is_not_listened_to() {
        let text = "\x1b]11;rgb:f/f/f\x07";
        assert_eq!(hear(&mut Ground::default(), keys(text)).events, keys(text));
    }

    #[test]
    fn terminals_that_would_show_the_question_are_not_asked() {
        let can = |term: &str, sty: bool| {
            can_be_asked(|name| match name {
                "TERM" => Some(term.to_owned()),
                "STY" => sty.then(|| "1.pts".to_owned()),
                _ => None,
            })
        };
        assert!(can("xterm-256color", false) && can("tmux-256color", false) && can("foot", false));
        assert!(!can("linux", false) && !can("dumb", false) && !can("screen-256color", true) && !can("", false));
    }
}
