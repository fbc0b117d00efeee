//! Sets up the terminal for the app: raw mode, the alternate screen, bracketed paste, the mouse, the keyboard protocol of
//! kitty and the window title. All of it is restored when the app quits, panics, receives a signal or is suspended.
//!
//! The terminal is not queried here, because an answer may be late or missing. Terminals ignore unknown sequences.

pub(super) mod input;

use std::io::{IsTerminal as _, Stdout, Write as _};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{io, panic};

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen,
    SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use ratatui::backend::{CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;

use crate::tui::prelude::*;

/// The terminal of the app. It is never dropped: dropping writes to the terminal again and, if that fails, to standard error,
/// which is the same terminal, so that the program panics. [`Guard`] restores the terminal.
pub type Screen = ManuallyDrop<Terminal<Bounded>>;

pub struct Guard;

impl Guard {
    /// Initializes the terminal. A panic of this thread restores the terminal before its message is printed.
    ///
    /// # Errors
    ///
    /// Standard input or output is not a terminal, or the terminal cannot be set up.
    pub fn take() -> io::Result<(Self, Screen)> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(io::Error::other("standard input and output must be a terminal"));
        }
        let previous_hook = panic::take_hook();
        let drawing_thread = std::thread::current().id();
        panic::set_hook(Box::new(move |info| {
            // A panic of another thread is caught by that thread and reported in the app, which continues.
            if std::thread::current().id() == drawing_thread {
                give_back();
                previous_hook(info);
            }
        }));
        let guard = Self;
        enter()?;
        Ok((guard, ManuallyDrop::new(Terminal::new(Bounded::new(io::stdout()))?)))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether the app has the terminal. Nothing may be written there otherwise.
static TAKEN: AtomicBool = AtomicBool::new(false);
static MOUSE: AtomicBool = AtomicBool::new(false);
/// The title of the window, for when the terminal is taken again.
static TITLE: Mutex<String> = Mutex::new(String::new());

/// Reports clicks, drags and the wheel, with coordinates beyond column 223. Other moves of the pointer are not reported,
/// because each would cost a frame.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";

/// Pushes the window title on a stack, from which it is restored.
const KEEP_TITLE: &str = "\x1b[22;0t";
const OLD_TITLE: &str = "\x1b[23;0t";

/// The terminal reports changes of its colours (mode 2031).
const SCHEME_ON: &str = "\x1b[?2031h";
const SCHEME_OFF: &str = "\x1b[?2031l";

/// Sets up the terminal, also after a suspend.
pub fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    let mut out = io::stdout();
    if TAKEN.swap(true, Ordering::SeqCst) {
        // The terminal was not restored, since the program was stopped without notice. The stack must not contain the
        // flags twice.
        give_keys_back(&mut out);
    } else {
        queue!(out, Print(KEEP_TITLE))?;
    }
    queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange)?;
    if knows_sequences() {
        // Each screen has a separate stack, so the flags are set after the switch.
        let flags = KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES;
        queue!(out, PushKeyboardEnhancementFlags(flags), Print(SCHEME_ON))?;
    }
    if MOUSE.load(Ordering::SeqCst) {
        queue_mouse(&mut out, true)?;
    }
    let name = TITLE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !name.is_empty() {
        queue!(out, SetTitle(name))?;
    }
    execute!(out, Clear(ClearType::All), cursor::Hide)
}

/// Restores the terminal. It can be called twice, and from the panic hook; errors are ignored.
pub fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    // A panic may occur in the middle of a frame.
    let _ = queue!(out, EndSynchronizedUpdate);
    let _ = queue_mouse(&mut out, false);
    give_keys_back(&mut out);
    let _ = queue!(out, DisableFocusChange, DisableBracketedPaste, LeaveAlternateScreen, cursor::Show);
    // Without a stack of titles, an empty title lets the terminal choose.
    let _ = execute!(out, SetTitle(""), Print(OLD_TITLE));
    let _ = disable_raw_mode();
    let _ = out.flush();
}

fn give_keys_back(out: &mut Stdout) {
    if knows_sequences() {
        let _ = queue!(out, PopKeyboardEnhancementFlags, Print(SCHEME_OFF));
    }
}

/// Whether the terminal ignores unknown sequences. The Linux console prints some of them.
fn knows_sequences() -> bool {
    cfg!(unix) && !matches!(std::env::var("TERM").as_deref(), Err(_) | Ok("" | "dumb" | "linux"))
}

#[cfg(unix)]
fn queue_mouse(out: &mut Stdout, on: bool) -> io::Result<()> {
    queue!(out, Print(if on { MOUSE_ON } else { MOUSE_OFF }))
}

#[cfg(not(unix))]
fn queue_mouse(out: &mut Stdout, on: bool) -> io::Result<()> {
    use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
    if on { queue!(out, EnableMouseCapture) } else { queue!(out, DisableMouseCapture) }
}

/// Enables or disables mouse reports.
pub fn mouse(on: bool) -> io::Result<()> {
    if MOUSE.swap(on, Ordering::SeqCst) == on || !TAKEN.load(Ordering::SeqCst) {
        return Ok(());
    }
    let mut out = io::stdout();
    queue_mouse(&mut out, on)?;
    out.flush()
}

/// Draws a frame as a synchronized update, which the terminal shows at once if it supports that.
pub fn at_once(draw: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // The cursor is hidden, because a terminal without synchronized updates would show it moving. The frame shows it again.
    queue!(io::stdout(), BeginSynchronizedUpdate, cursor::Hide)?;
    let drawn = draw();
    // The update is ended even after an error: otherwise the terminal would show nothing more.
    execute!(io::stdout(), EndSynchronizedUpdate)?;
    drawn
}

/// Empties the screen, so that the next frame draws all of it.
///
/// `Terminal::clear` is not used: it queries the cursor position, and the event stream would consume the answer.
pub fn clear(screen: &mut Screen) -> io::Result<()> {
    let size = screen.size()?;
    screen.resize(Rect::new(0, 0, size.width, size.height))
}

/// Sets the title of the window, if it has changed.
pub fn title(text: &str) {
    let mut name = TITLE.lock().unwrap_or_else(PoisonError::into_inner);
    if *name != text {
        text.clone_into(&mut name);
        if TAKEN.load(Ordering::SeqCst) {
            let _ = execute!(io::stdout(), SetTitle(text));
        }
    }
}

/// Copies a text by the OSC 52 sequence, which also works over ssh.
pub fn copy_by_escape(text: &str) {
    if TAKEN.load(Ordering::SeqCst) {
        let _ = execute!(io::stdout(), CopyToClipboard::to_clipboard_from(text));
    }
}

/// Copies a text to the system's clipboard. Returns `false` without a clipboard. May block.
#[cfg(feature = "clipboard")]
pub fn copy_natively(text: &str) -> bool {
    // The X11 clipboard belongs to its owner: dropping the handle would empty it.
    static CLIPBOARD: Mutex<Option<arboard::Clipboard>> = Mutex::new(None);
    let mut held = CLIPBOARD.lock().unwrap_or_else(PoisonError::into_inner);
    if held.is_none() {
        *held = arboard::Clipboard::new().ok();
    }
    held.as_mut().is_some_and(|clipboard| clipboard.set_text(text).is_ok())
}

#[cfg(not(feature = "clipboard"))]
pub fn copy_natively(_: &str) -> bool {
    false
}

/// Stops this process like Ctrl-Z. Returns when the shell continues it.
#[cfg(unix)]
pub fn stop() {
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
}

#[cfg(not(unix))]
pub fn stop() {}

/// The colour depth of the terminal, from the environment variables that terminals set.
pub fn color_depth(env: impl Fn(&str) -> Option<String>) -> ColorDepth {
    let var = |name: &str| env(name).unwrap_or_default();
    if !var("NO_COLOR").is_empty() || var("TERM") == "dumb" {
        return ColorDepth::None;
    }
    let term = var("TERM");
    if matches!(var("COLORTERM").as_str(), "truecolor" | "24bit") || term.contains("direct") {
        return ColorDepth::True;
    }
    // `screen` keeps the variables of the terminal around it, but has at most 256 colours.
    if var("STY").is_empty() && (has_true_color(&term) || says_true_color(var)) {
        return ColorDepth::True;
    }
    if term.contains("256color") { ColorDepth::Ansi256 } else { ColorDepth::Ansi16 }
}

/// Terminals with 24-bit colour, by name.
fn has_true_color(term: &str) -> bool {
    ["xterm-kitty", "xterm-ghostty", "ghostty", "alacritty", "wezterm", "foot", "contour", "rio"]
        .iter()
        .any(|known| term.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')))
}

/// Terminals with 24-bit colour that omit COLORTERM, by other variables.
fn says_true_color(var: impl Fn(&str) -> String) -> bool {
    let programs = ["iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "Tabby", "rio", "mintty", "WarpTerminal"];
    let marks = ["WT_SESSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "ALACRITTY_WINDOW_ID", "GHOSTTY_RESOURCES_DIR"];
    // Terminals of GNOME have it since version 0.36.
    let gnome = var("VTE_VERSION").parse::<u32>().is_ok_and(|version| version >= 3_600);
    // A TERM with few colours limits the program to these colours.
    let modest = !var("TERM").contains("256color") && var("TERM") != "xterm";
    !modest
        && (gnome || programs.contains(&var("TERM_PROGRAM").as_str()) || marks.iter().any(|mark| !var(mark).is_empty()))
}

/// Whether the terminal reports a light background in `COLORFGBG`, which several terminals set.
pub fn light_background(env: impl Fn(&str) -> Option<String>) -> bool {
    let background = env("COLORFGBG").and_then(|value| value.rsplit(';').next()?.parse::<u8>().ok());
    matches!(background, Some(7 | 9..=15))
}

/// Names and values of the terminal's properties, for doctor and fault reports.
pub fn facts(env: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let var = |name: &str| env(name).filter(|value| !value.is_empty());
    let mut facts = Vec::new();
    let program =
        [var("TERM_PROGRAM"), var("TERM_PROGRAM_VERSION")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let kind = var("TERM").unwrap_or_else(|| "TERM is not set".into());
    facts.push(("terminal", [kind, program].join(" ").trim().to_owned()));
    facts.push(("colours", color_depth(&env).name().to_owned()));
    let within = [("TMUX", "tmux"), ("STY", "screen"), ("ZELLIJ", "zellij"), ("SSH_CONNECTION", "ssh")];
    let within: Vec<&str> = within.into_iter().filter(|(name, _)| var(name).is_some()).map(|(_, what)| what).collect();
    if !within.is_empty() {
        facts.push(("within", within.join(", ")));
    }
    let desktop =
        var("WAYLAND_DISPLAY").or_else(|| var("DISPLAY")).is_some() || cfg!(any(windows, target_os = "macos"));
    let clipboard = if var("TERM").is_some_and(|term| term == "dumb") {
        "none: a dumb terminal takes no escape sequence, so that texts are printed to be copied"
    } else if cfg!(feature = "clipboard") && desktop {
        "the system's, and through the terminal (OSC 52)"
    } else {
        "through the terminal (OSC 52), where it allows that"
    };
    facts.push(("clipboard", clipboard.to_owned()));
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(var).unwrap_or_else(|| "not set".into());
    facts.push(("locale", locale));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Maximum columns and rows that are drawn; the rest of a larger terminal stays empty. Any program can set the size of a
/// terminal, and the cells of 65,535 columns and rows would need hundreds of gigabytes. An 8K screen with the smallest font
/// fits.
const MAX_SIZE: Size = Size { width: 2_000, height: 1_000 };

/// Standard output with a limited size.
pub struct Bounded(CrosstermBackend<Stdout>);

impl Bounded {
    pub(super) fn new(out: Stdout) -> Self {
        Self(CrosstermBackend::new(out))
    }
}

fn bounded(size: Size) -> Size {
    Size { width: size.width.min(MAX_SIZE.width), height: size.height.min(MAX_SIZE.height) }
}

impl Backend for Bounded {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        self.0.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.0.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, region: ratatui::backend::ClearType) -> io::Result<()> {
        self.0.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        self.0.size().map(bounded)
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        let size = self.0.window_size()?;
        Ok(WindowSize { columns_rows: bounded(size.columns_rows), ..size })
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(vars: &[(&str, &str)]) -> ColorDepth {
        color_depth(|name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_terminals_own_word_decides_the_depth() {
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), ColorDepth::True);
        assert_eq!(depth(&[("TERM", "xterm-256color")]), ColorDepth::Ansi256);
        assert_eq!(depth(&[("TERM", "linux")]), ColorDepth::Ansi16);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), ColorDepth::None);
    }

    #[test]
    fn terminals_that_leave_colorterm_out_are_known() {
        for (name, value) in [
            ("TERM_PROGRAM", "iTerm.app"),
            ("TERM_PROGRAM", "WezTerm"),
            ("TERM_PROGRAM", "ghostty"),
            ("TERM_PROGRAM", "vscode"),
            ("WT_SESSION", "{0}"),
            ("KITTY_WINDOW_ID", "1"),
            ("VTE_VERSION", "7600"),
        ] {
            assert_eq!(depth(&[("TERM", "xterm-256color"), (name, value)]), ColorDepth::True, "{name}={value}");
        }
        for term in ["xterm-kitty", "xterm-ghostty", "alacritty", "foot", "foot-extra", "xterm-direct"] {
            assert_eq!(depth(&[("TERM", term)]), ColorDepth::True, "{term}");
        }
        for (name, value) in [("TERM_PROGRAM", "Apple_Terminal"), ("VTE_VERSION", "3400"), ("VTE_VERSION", "x")] {
            assert_eq!(depth(&[("TERM", "xterm-256color"), (name, value)]), ColorDepth::Ansi256, "{name}={value}");
        }
        let within_screen = [("TERM", "screen-256color"), ("STY", "1.x"), ("KITTY_WINDOW_ID", "1")];
        assert_eq!(depth(&within_screen), ColorDepth::Ansi256);
        assert_eq!(depth(&[("TERM", "linux"), ("WT_SESSION", "1")]), ColorDepth::Ansi16);
        assert_eq!(depth(&[("TERM", "xterm-kitty"), ("NO_COLOR", "1")]), ColorDepth::None);
    }

    #[test]
    fn the_facts_name_terminal_colours_and_what_it_runs_in() {
        let vars = [("TERM", "xterm-256color"), ("TMUX", "/tmp/x"), ("LANG", "C.UTF-8")];
        let facts = facts(|name| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()));
        let of = |name: &str| facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        assert_eq!((of("terminal"), of("within")), (Some("xterm-256color"), Some("tmux")));
        assert_eq!((of("colours"), of("locale")), (Some("256"), Some("C.UTF-8")));
    }

    #[test]
    fn a_dumb_terminal_is_promised_no_clipboard() {
        let clipboard = |term: &str| {
            let facts = facts(|name| (name == "TERM").then(|| term.to_owned()));
            facts.into_iter().find_map(|(name, value)| (name == "clipboard").then_some(value)).unwrap()
        };
        assert!(clipboard("dumb").starts_with("none") && !clipboard("dumb").contains("OSC"));
        assert!(clipboard("xterm").contains("OSC 52"));
    }

    #[test]
    fn a_light_ground_is_recognised() {
        assert!(light_background(|_| Some("0;15".into())));
        assert!(!light_background(|_| Some("15;0".into())));
        assert!(!light_background(|_| None));
    }
}
