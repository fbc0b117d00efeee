//! Keys that a command of the user prints: `pass show …`, `op read …` and the like.

use crate::config::ConfigError;
use rhumb_text::sanitize;
use secrecy::SecretString;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Time limit of a command. Long enough for a person to unlock a password store in another window.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How long to wait for remaining output after the end of the command.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(200);

const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// Maximum length of an error message of the command, in characters.
const MAX_ERROR_CHARS: usize = 400;

/// Runs a command line without a shell. The first line of its output is the key.
///
/// # Errors
/// The command cannot be started, takes too long, fails, or prints no valid key. Error messages never contain its standard
/// output.
pub(super) fn key_printed_by(line: &str, patience: Duration) -> Result<SecretString, ConfigError> {
    let wrong = |message: String| ConfigError::KeyCommand { command: line.to_owned(), message };
    let words = shell_words::split(line).map_err(|error| wrong(error.to_string()))?;
    let (program, arguments) = words.split_first().ok_or_else(|| wrong("it is empty".into()))?;
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Not run in the repository, where a relative entry of PATH could name another program.
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

/// Reads a pipe to its end in a thread, so that the command is not blocked by a full pipe.
fn collected(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    if let Some(pipe) = pipe {
        std::thread::spawn(move || pass_on(pipe, &sender));
    }
    receiver
}

/// Sends the beginning of the output to the receiver and discards the rest.
fn pass_on(mut pipe: impl Read, sender: &Sender<Vec<u8>>) {
    let mut bytes = [0; 4096];
    let mut passed = 0;
    while let Ok(read @ 1..) = pipe.read(&mut bytes) {
        let new = bytes.get(..read.min(MAX_OUTPUT_BYTES - passed)).unwrap_or_default();
        passed += new.len();
        // The receiver may have been dropped.
        drop(sender.send(new.to_vec()));
    }
}

/// The output so far. The end of the pipe is not awaited, because a child of the command, such as an agent, may keep it open.
fn so_far(pipe: &Receiver<Vec<u8>>) -> Vec<u8> {
    let pieces = std::iter::from_fn(|| pipe.recv_timeout(OUTPUT_TIMEOUT).ok().filter(|piece| !piece.is_empty()));
    pieces.flatten().collect()
}

/// Waits for the end of the command; kills it at the time limit and returns `None`.
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
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The beginning of the error output, without control characters.
fn complaint(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text: String = text.trim().chars().take(MAX_ERROR_CHARS).collect();
    if text.is_empty() { text } else { format!(": {}", sanitize::visible(&text)) }
}
