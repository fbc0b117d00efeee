//! A key that a command of the user prints: `pass show …`, `op read …` and the like.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use secrecy::SecretString;

use crate::config::ConfigError;
use rhumb_text::sanitize;

/// How long a command may take. Long enough for a person to unlock a store in another window.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// How often to look whether it has ended.
const POLL: Duration = Duration::from_millis(10);

/// How long what it has printed may still be on its way when it has ended.
const GRACE: Duration = Duration::from_millis(200);

/// Most that is read of what it prints, in bytes.
const MOST: usize = 64 * 1024;

/// Most that is told of what it complains, in characters.
const COMPLAINT: usize = 400;

/// Runs a command line, without a shell, and takes the first line that it prints as the key.
///
/// # Errors
/// It cannot be started, takes too long, fails, or prints nothing that could be a key. What it prints to standard output is in
/// no message.
pub(super) fn key_printed_by(line: &str, patience: Duration) -> Result<SecretString, ConfigError> {
    let wrong = |message: String| ConfigError::KeyCommand { command: line.to_owned(), message };
    let words = shell_words::split(line).map_err(|error| wrong(error.to_string()))?;
    let (program, arguments) = words.split_first().ok_or_else(|| wrong("it is empty".into()))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Not in the repository, where a relative entry of PATH could name a program of its own.
        .current_dir(std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(std::env::temp_dir))
        .spawn()
        .map_err(|error| wrong(format!("cannot start {program}: {error}")))?;
    let (out, err) = (collected(child.stdout.take()), collected(child.stderr.take()));
    let ended = wait(&mut child, patience).map_err(|error| wrong(error.to_string()))?;
    let Some(status) = ended else {
        return Err(wrong(format!("it took longer than {} s", patience.as_secs_f64())));
    };
    let out = so_far(&out);
    if !status.success() {
        return Err(wrong(format!("it failed ({status}){}", complaint(&so_far(&err)))));
    }
    let text = String::from_utf8(out).map_err(|_| wrong("it printed something that is no text".into()))?;
    let key = text.trim().lines().next().unwrap_or_default().trim();
    if key.is_empty() || key.chars().any(char::is_control) {
        return Err(wrong("it printed no key".into()));
    }
    Ok(SecretString::from(key))
}

/// Reads a pipe to its end on a thread of its own, so that no full pipe stops the command.
fn collected(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(pipe) = pipe {
        std::thread::spawn(move || pass_on(pipe, &sender));
    }
    receiver
}

/// Passes the beginning of what comes on, and reads the rest, too.
fn pass_on(mut pipe: impl Read, sender: &Sender<Vec<u8>>) {
    let mut bytes = [0; 4096];
    let mut passed = 0;
    while let Ok(read @ 1..) = pipe.read(&mut bytes) {
        let new = bytes.get(..read.min(MOST - passed)).unwrap_or_default();
        passed += new.len();
        // Nobody may be left to hear of it.
        drop(sender.send(new.to_vec()));
    }
}

/// What came of a pipe by now. Its end is not waited for: a child of the command, such as an agent that stays, may hold it open.
fn so_far(pipe: &Receiver<Vec<u8>>) -> Vec<u8> {
    let pieces = std::iter::from_fn(|| pipe.recv_timeout(GRACE).ok().filter(|piece| !piece.is_empty()));
    pieces.flatten().collect()
}

/// Waits for the end; `None` when patience ends first, and the command with it.
fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= patience {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

/// What the command said of its failure, harmless for the terminal and short.
fn complaint(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text: String = text.trim().chars().take(COMPLAINT).collect();
    if text.is_empty() { text } else { format!(": {}", sanitize::visible(&text)) }
}
