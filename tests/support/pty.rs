//! A pseudo-terminal for the program under test, with an emulator of its screen.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};

use super::WAIT_TIMEOUT;
use super::escapes::{Modes, Scanner, Sequence};

/// A program in a pseudo-terminal. It is killed on drop.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    writer: Writer,
    child: Box<dyn Child + Send + Sync>,
    shared: Arc<Shared>,
    home: PathBuf,
    /// Keeps the temporary home folder alive; `None` if the test supplied one.
    _own_home: Option<tempfile::TempDir>,
}

type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    emulator: vt100::Parser,
    raw: Vec<u8>,
    /// The program and its children have closed the terminal.
    closed: bool,
}

impl Pty {
    /// Starts `bin` in a terminal of `cols` × `rows`.
    ///
    /// Of the caller's environment it gets `PATH` only. Its home folder, with the XDG folders below it, is a new
    /// empty folder, or the `HOME` in `env`. `env` takes precedence.
    pub fn spawn(bin: &Path, args: &[&str], cwd: &Path, env: &[(&str, &str)], cols: u16, rows: u16) -> Self {
        // Without this check the library would start the program in another folder.
        assert!(cwd.is_dir(), "no folder to start in: {}", cwd.display());
        let given_home = env.iter().find(|(name, _)| *name == "HOME").map(|(_, value)| PathBuf::from(value));
        let own_home = given_home.is_none().then(|| tempfile::tempdir().expect("a home folder"));
        let home = given_home.or_else(|| own_home.as_ref().map(|own| own.path().to_owned())).expect("a home folder");

        let pair = native_pty_system().openpty(size(cols, rows)).expect("a pseudo-terminal");
        let reader = pair.master.try_clone_reader().expect("the terminal's output");
        let writer: Writer = Arc::new(Mutex::new(pair.master.take_writer().expect("the terminal's input")));
        let command = command(bin, args, cwd, &home, env);
        let child = pair.slave.spawn_command(command).unwrap_or_else(|e| panic!("start {}: {e}", bin.display()));

        let emulator = vt100::Parser::new(cells(rows), cells(cols), 0);
        let state = State { emulator, raw: Vec::new(), closed: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let (reading, answers) = (Arc::clone(&shared), Arc::clone(&writer));
        thread::spawn(move || read_all(reader, &reading, &answers));
        Self { master: pair.master, writer, child, shared, home, _own_home: own_home }
    }

    /// The program's home folder: its settings and state are below it.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Types `text`.
    pub fn type_text(&self, text: &str) {
        send(&self.writer, text.as_bytes());
    }

    /// Pastes `text` the way a terminal does for a program that asked for bracketed paste.
    pub fn paste(&self, text: &str) {
        self.type_text(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Presses one key: a character, or a name such as `Enter`, `Esc`, `Up`, `F1`, with `Ctrl-`, `Alt-`, `Shift-` before.
    pub fn key(&self, name: &str) {
        send(&self.writer, &key_bytes(name));
        if name == "Esc" {
            // A pause distinguishes an ESC from the start of a sequence, as on any terminal.
            thread::sleep(Duration::from_millis(60));
        }
    }

    /// Resizes the terminal to `cols` × `rows` and notifies the program. The emulator has 1 to 1,000 columns and rows.
    pub fn resize(&self, cols: u16, rows: u16) {
        // The emulator is resized first, because the program may draw once it is notified.
        self.lock().emulator.set_size(cells(rows), cells(cols));
        self.master.resize(size(cols, rows)).expect("resize the terminal");
    }

    /// The screen as text: one line per row, without trailing spaces.
    pub fn screen(&self) -> String {
        self.lock().screen()
    }

    /// Every byte that the program sent.
    pub fn raw(&self) -> Vec<u8> {
        self.lock().raw.clone()
    }

    /// The number of bytes that the program has sent.
    pub fn sent(&self) -> usize {
        self.lock().raw.len()
    }

    /// Waits until the program has sent more than `bytes` bytes. Returns when that was noticed.
    ///
    /// # Panics
    /// After [`WAIT_TIMEOUT`], with the screen.
    #[track_caller]
    pub fn wait_sent(&self, bytes: usize) -> Instant {
        let limit = Instant::now() + WAIT_TIMEOUT;
        let mut state = self.lock();
        while state.raw.len() <= bytes {
            let left = limit.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !state.closed, "no answer; the screen:\n{}", framed(&state.screen()));
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        Instant::now()
    }

    /// Waits until the screen shows `text`.
    ///
    /// # Panics
    /// After [`WAIT_TIMEOUT`], or when the program has ended, with the screen.
    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(|screen| screen.contains(text), &format!("{text:?} on the screen"));
    }

    /// Waits until `holds` is true for the screen. `what` describes the condition.
    ///
    /// # Panics
    /// After [`WAIT_TIMEOUT`], or when the program has ended, with the screen.
    #[track_caller]
    pub fn wait_until(&self, holds: impl Fn(&str) -> bool, what: &str) {
        let limit = Instant::now() + WAIT_TIMEOUT;
        let mut state = self.lock();
        loop {
            let screen = state.screen();
            if holds(&screen) {
                return;
            }
            let left = limit.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                let why = if state.closed { "the program left" } else { "time is up" };
                drop(state);
                panic!("waited for {what}, but {why}; the screen:\n{}", framed(&screen));
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the program has ended and its output is read.
    ///
    /// # Panics
    /// After [`WAIT_TIMEOUT`], with the screen.
    #[track_caller]
    pub fn wait_exit(&mut self) -> ExitStatus {
        let limit = Instant::now() + WAIT_TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().expect("ask for the program's end") {
                self.drain();
                return status;
            }
            let late = Instant::now() > limit;
            assert!(!late, "the program does not end; the screen:\n{}", framed(&self.screen()));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the program has ended. If it asks `question`, `key` is pressed.
    ///
    /// # Panics
    /// Like [`Self::wait_exit`].
    #[track_caller]
    pub fn wait_exit_answering(&mut self, question: &str, key: &str) -> ExitStatus {
        let limit = Instant::now() + WAIT_TIMEOUT;
        while Instant::now() < limit && self.child.try_wait().expect("ask for the program's end").is_none() {
            if self.screen().contains(question) {
                self.key(key);
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.wait_exit()
    }

    /// Waits briefly for the end of the output. A process that the program left may keep it open.
    fn drain(&self) {
        let limit = Duration::from_secs(2);
        let waited = self.shared.changed.wait_timeout_while(self.lock(), limit, |state| !state.closed);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// The program's process id.
    pub fn process_id(&self) -> u32 {
        self.child.process_id().expect("the program's id")
    }

    /// Waits until the program is stopped, as Ctrl-Z stops a program.
    ///
    /// # Panics
    /// After [`WAIT_TIMEOUT`], with the screen.
    #[cfg(target_os = "linux")]
    #[track_caller]
    pub fn wait_stopped(&self) {
        let path = format!("/proc/{}/stat", self.process_id());
        // The state is the first field after the name, which is in brackets and may contain any character.
        let stopped = || {
            let stat = std::fs::read_to_string(&path).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
        };
        let limit = Instant::now() + WAIT_TIMEOUT;
        while !stopped() {
            assert!(Instant::now() < limit, "the program does not stop; the screen:\n{}", framed(&self.screen()));
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until the terminal is restored, while the program is still running.
    ///
    /// # Panics
    /// After [`WAIT_TIMEOUT`], with the modes that are not restored.
    #[track_caller]
    pub fn wait_restored(&self) {
        let limit = Instant::now() + WAIT_TIMEOUT;
        while let Err(left) = self.modes_restored().and_then(|()| self.line_mode_restored()) {
            assert!(Instant::now() < limit, "the terminal is not restored: {left}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal by its short name: `TERM`, `INT`, `HUP`, `TSTP`, `CONT` …
    pub fn signal(&self, name: &str) {
        let id = self.process_id();
        // The `kill` of the shell exists even if no such program is installed.
        let status = Command::new("sh").arg("-c").arg(format!("kill -{name} {id}")).status().expect("run sh");
        assert!(status.success(), "kill -{name} {id}: {status}");
    }

    /// Whether the program restored all terminal modes, according to its output.
    ///
    /// # Errors
    /// Names every mode that is still on.
    pub fn modes_restored(&self) -> Result<(), String> {
        Modes::after(&self.lock().raw).restored()
    }

    /// Whether the line discipline is as a shell expects it: canonical mode, echo and signals on.
    ///
    /// # Errors
    /// Names the settings that are off.
    pub fn line_mode_restored(&self) -> Result<(), String> {
        let flags = self.master.get_termios().ok_or("the terminal does not tell its settings")?.local_flags.bits();
        let wanted = [(libc::ICANON, "lines"), (libc::ECHO, "echo"), (libc::ISIG, "signals")];
        let off: Vec<&str> = wanted.iter().filter(|(flag, _)| flags & flag == 0).map(|(_, name)| *name).collect();
        if off.is_empty() { Ok(()) } else { Err(format!("still off: {}", off.join(", "))) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            // An error has no consequence, since the test is over.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl State {
    fn screen(&self) -> String {
        let screen = self.emulator.screen();
        let rows = screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }
}

fn size(cols: u16, rows: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

/// The columns or rows of the emulator, at most 1,000: more would take gigabytes of memory.
fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count.clamp(1, 1_000)).expect("a terminal of at least one cell")
}

fn framed(screen: &str) -> String {
    screen.lines().map(|line| format!("  | {line}\n")).collect()
}

fn command(bin: &Path, args: &[&str], cwd: &Path, home: &Path, env: &[(&str, &str)]) -> CommandBuilder {
    let mut command = CommandBuilder::new(bin);
    command.args(args);
    command.cwd(cwd);
    command.env_clear();
    let temporary = home.join("tmp");
    std::fs::create_dir_all(&temporary).expect("a folder for temporary files");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", home);
    command.env("TMPDIR", temporary);
    for (name, folder) in [
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_STATE_HOME", ".local/state"),
        ("XDG_CACHE_HOME", ".cache"),
        ("XDG_RUNTIME_DIR", ".run"),
    ] {
        command.env(name, home.join(folder));
    }
    let fixed = [
        ("TERM", "xterm-256color"),
        ("COLORTERM", "truecolor"),
        ("LANG", "C.UTF-8"),
        ("SHELL", "/bin/sh"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("NO_PROXY", "127.0.0.1,localhost"),
    ];
    for (name, value) in fixed.iter().chain(env) {
        command.env(name, value);
    }
    command
}

/// Reads the output to its end, shows it on the emulator, and answers queries like a terminal.
fn read_all(mut reader: Box<dyn Read + Send>, shared: &Shared, writer: &Writer) {
    let mut scanner = Scanner::default();
    let mut buffer = [0; 8192];
    // The end of a pseudo-terminal is an error on some systems.
    while let Ok(count @ 1..) = reader.read(&mut buffer) {
        let bytes = &buffer[..count];
        let mut answers = Vec::new();
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shown = 0;
        for (index, byte) in bytes.iter().enumerate() {
            let Some(Sequence::Csi(query)) = scanner.push(*byte) else {
                continue;
            };
            // The answer depends on all output before the query.
            state.emulator.process(&bytes[shown..=index]);
            shown = index + 1;
            answers.extend(answer(&query, state.emulator.screen().cursor_position()));
        }
        state.emulator.process(&bytes[shown..]);
        state.raw.extend_from_slice(bytes);
        drop(state);
        shared.changed.notify_all();
        if !answers.is_empty() {
            send(writer, answers.concat().as_bytes());
        }
    }
    shared.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
    shared.changed.notify_all();
}

/// The answer of a terminal to the control sequence `query`, with the cursor at (row, column), 0-based.
fn answer(query: &str, cursor: (u16, u16)) -> Option<String> {
    match query {
        "c" | "0c" => Some("\x1b[?62;22c".to_owned()),
        "5n" => Some("\x1b[0n".to_owned()),
        "6n" => Some(format!("\x1b[{};{}R", cursor.0 + 1, cursor.1 + 1)),
        "?u" => Some("\x1b[?0u".to_owned()),
        _ => None,
    }
}

/// Sends bytes to the program. If it has ended, the following wait fails.
fn send(writer: &Writer, bytes: &[u8]) {
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writer.write_all(bytes).and_then(|()| writer.flush());
}

/// The bytes that a terminal sends for a key, in the encoding of xterm.
pub fn key_bytes(name: &str) -> Vec<u8> {
    let (mut rest, mut shift, mut alt, mut ctrl) = (name, false, false, false);
    // The last character is never a modifier: `Ctrl--` is Ctrl and a minus.
    while let Some((modifier, key)) = rest.split_once('-').filter(|(_, key)| !key.is_empty()) {
        match modifier {
            "Shift" => shift = true,
            "Alt" => alt = true,
            "Ctrl" => ctrl = true,
            _ => break,
        }
        rest = key;
    }
    let modifiers = 1 + u8::from(shift) + 2 * u8::from(alt) + 4 * u8::from(ctrl);
    if let Some(sequence) = special_key(rest, modifiers) {
        return sequence.into_bytes();
    }
    let mut bytes = match rest {
        "Tab" if shift => b"\x1b[Z".to_vec(),
        "BackTab" => b"\x1b[Z".to_vec(),
        "Enter" => b"\r".to_vec(),
        "Tab" => b"\t".to_vec(),
        "Esc" => b"\x1b".to_vec(),
        "Backspace" => vec![if ctrl { 0x08 } else { 0x7f }],
        "Space" => vec![if ctrl { 0 } else { b' ' }],
        _ => {
            let mut chars = rest.chars();
            let (Some(c), None) = (chars.next(), chars.next()) else { panic!("no key is called {name:?}") };
            match c {
                _ if ctrl && c.is_ascii() => vec![(c.to_ascii_uppercase() as u8) & 0x1f],
                _ if shift => c.to_uppercase().to_string().into_bytes(),
                _ => c.to_string().into_bytes(),
            }
        }
    };
    if alt {
        bytes.insert(0, 0x1b);
    }
    bytes
}

/// The sequence of a special key. `modifiers` is xterm's number, 1 for none.
fn special_key(key: &str, modifiers: u8) -> Option<String> {
    let (number, last) = match key {
        "Up" => (1, 'A'),
        "Down" => (1, 'B'),
        "Right" => (1, 'C'),
        "Left" => (1, 'D'),
        "Home" => (1, 'H'),
        "End" => (1, 'F'),
        "F1" => (1, 'P'),
        "F2" => (1, 'Q'),
        "F3" => (1, 'R'),
        "F4" => (1, 'S'),
        "Insert" => (2, '~'),
        "Delete" => (3, '~'),
        "PageUp" => (5, '~'),
        "PageDown" => (6, '~'),
        "F5" => (15, '~'),
        "F6" => (17, '~'),
        "F7" => (18, '~'),
        "F8" => (19, '~'),
        "F9" => (20, '~'),
        "F10" => (21, '~'),
        "F11" => (23, '~'),
        "F12" => (24, '~'),
        _ => return None,
    };
    Some(match (number, modifiers) {
        (1, 1) if matches!(last, 'P'..='S') => format!("\x1bO{last}"),
        (1, 1) => format!("\x1b[{last}"),
        (_, 1) => format!("\x1b[{number}{last}"),
        _ => format!("\x1b[{number};{modifiers}{last}"),
    })
}
