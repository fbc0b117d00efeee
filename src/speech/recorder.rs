//! Runs the recording program: the configured one, or the first installed one of those that desktops come with.

use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::audio::Audio;
use super::error::SpeechError;
use rhumb_text::sanitize;

/// Maximum length of a recording in seconds.
pub const MAX_SECONDS: f32 = 600.0;
/// Maximum size in bytes; OpenAI accepts 25 MB in total.
const MAX_BYTES: usize = 24_500_000;
/// How long a recorder may take to end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of bytes that are read at once: an eighth of a second with the recorders below.
const READ_BYTES: usize = 4_096;
/// Maximum length of an error message of a recorder, in bytes.
const MAX_ERROR_BYTES: u64 = 400;

/// A command that writes audio until it is stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorder {
    /// The program.
    pub program: String,
    /// The arguments.
    pub arguments: Vec<String>,
}

/// The progress of a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordingProgress {
    /// The current level, from 0 to 1; `None` if unknown.
    pub level: Option<f32>,
    /// The length so far in seconds.
    pub seconds: f32,
}

/// The recording command: `configured`, or the first installed program. Speech recognition uses one channel with 16,000 samples
/// per second.
///
/// # Errors
/// There is no such program.
pub fn recorder(
    configured: Option<&str>,
    os: &str,
    is_installed: &dyn Fn(&str) -> bool,
) -> Result<Recorder, SpeechError> {
    if let Some(line) = configured {
        let bad = |reason: String| SpeechError::BadCommand { reason };
        let mut words = shell_words::split(line).map_err(|error| bad(error.to_string()))?.into_iter();
        let program = words.next().ok_or_else(|| bad("it is empty".into()))?;
        return Ok(Recorder { program, arguments: words.collect() });
    }
    let ffmpeg = match os {
        "macos" => "-loglevel error -nostdin -f avfoundation -i :default -ac 1 -ar 16000 -f wav -",
        _ => "-loglevel error -nostdin -f pulse -i default -ac 1 -ar 16000 -f wav -",
    };
    let known = [
        ("arecord", "-q -t wav -f S16_LE -r 16000 -c 1"),
        ("rec", "-q -t wav -b 16 -e signed-integer -r 16000 -c 1 -"),
        ("sox", "-q -d -t wav -b 16 -e signed-integer -r 16000 -c 1 -"),
        ("ffmpeg", ffmpeg),
    ];
    let found = known.iter().find(|(program, _)| is_installed(program));
    let (program, arguments) = found.ok_or_else(|| SpeechError::NoRecorder {
        looked_for: known.iter().filter(|(name, _)| *name != "sox").map(|(name, _)| (*name).to_owned()).collect(),
    })?;
    let arguments = arguments.split(' ').map(str::to_owned).collect();
    Ok(Recorder { program: (*program).to_owned(), arguments })
}

/// Records until `stop`, the end of the recorder, or a limit. `progress` is called with it. Also returns the limit that
/// was reached, if any. Dropping the future ends the recorder.
///
/// # Errors
/// The recorder cannot be started, or recorded nothing.
pub async fn record(
    recorder: &Recorder,
    stop: &CancellationToken,
    progress: &(dyn Fn(RecordingProgress) + Sync),
) -> Result<(Audio, Option<String>), SpeechError> {
    let program = recorder.program.clone();
    let not_started = |cause: String| SpeechError::NotStarted { program: recorder.program.clone(), cause };
    let mut child = start(recorder).map_err(|error| not_started(error.to_string()))?;
    let mut out = child.stdout.take().ok_or_else(|| not_started("it has no output".into()))?;
    let error_output = tokio::spawn(error_output(child.stderr.take()));
    let (mut audio, started) = (Audio::default(), Instant::now());
    let limit = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        limit = read_output(&mut out, &mut audio, started, progress) => limit,
    };
    interrupt(&mut child);
    // Buffered audio belongs to the recording.
    let rest = async {
        let mut piece = [0; READ_BYTES];
        while let Ok(read @ 1..) = out.read(&mut piece).await {
            if audio.len() < MAX_BYTES {
                audio.push(piece.get(..read).unwrap_or_default());
            }
        }
    };
    timeout(STOP_TIMEOUT, rest).await.ok();
    if timeout(STOP_TIMEOUT, child.wait()).await.is_err() {
        child.kill().await.ok();
    }
    if audio.is_empty() {
        // Another process may have inherited the pipe.
        let message = timeout(STOP_TIMEOUT, error_output).await.ok().and_then(Result::ok).unwrap_or_default();
        return Err(SpeechError::Failed { program, message });
    }
    Ok((audio, limit))
}

/// Reads until the recorder ends or a limit is reached, which is returned.
async fn read_output(
    out: &mut (impl AsyncRead + Unpin),
    audio: &mut Audio,
    started: Instant,
    progress: &(dyn Fn(RecordingProgress) + Sync),
) -> Option<String> {
    let mut piece = [0; READ_BYTES];
    while let Ok(read @ 1..) = out.read(&mut piece).await {
        let level = audio.push(piece.get(..read).unwrap_or_default());
        let seconds = audio.seconds().unwrap_or_else(|| started.elapsed().as_secs_f32());
        progress(RecordingProgress { level, seconds });
        if seconds >= MAX_SECONDS {
            return Some(format!("{} minutes", MAX_SECONDS / 60.0));
        }
        if audio.len() + READ_BYTES > MAX_BYTES {
            return Some(format!("{:.1} MB", MAX_BYTES as f64 / 1e6));
        }
    }
    None
}

fn start(recorder: &Recorder) -> std::io::Result<Child> {
    Command::new(&recorder.program)
        .args(&recorder.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Not run in the repository, where a relative entry of PATH could name another program.
        .current_dir(std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(std::env::temp_dir))
        .kill_on_drop(true)
        .spawn()
}

/// Asks the recorder to stop, so that it writes buffered audio. All recorders handle SIGTERM, and shells do not ignore it for
/// background processes as they do SIGINT.
#[cfg(unix)]
fn interrupt(child: &mut Child) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(id) = id {
        // It may have ended already.
        rustix::process::kill_process(id, rustix::process::Signal::TERM).ok();
    }
}

/// Stops the recorder.
#[cfg(not(unix))]
fn interrupt(child: &mut Child) {
    child.start_kill().ok();
}

/// The beginning of the error output in one line. All of it is read, so that a full pipe does not block the recorder.
async fn error_output(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut bytes = Vec::new();
    (&mut pipe).take(MAX_ERROR_BYTES).read_to_end(&mut bytes).await.ok();
    tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await.ok();
    let text = String::from_utf8_lossy(&bytes);
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    sanitize::visible_line(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_that_is_installed_records() {
        let with = |there: &[&str]| recorder(None, "linux", &|name| there.contains(&name)).map(|found| found.program);
        assert_eq!(with(&["ffmpeg", "arecord"]).as_deref(), Ok("arecord"));
        assert_eq!(with(&["ffmpeg", "rec", "sox"]).as_deref(), Ok("rec"));
        assert_eq!(with(&["ffmpeg"]).as_deref(), Ok("ffmpeg"));
        let error = with(&[]).unwrap_err();
        assert_eq!(error.to_string(), "no program that records audio is installed: looked for arecord, rec, ffmpeg");
        assert!(error.hint().contains("alsa-utils"));
        let own = recorder(Some("pw-record --format s16 '-'"), "linux", &|_| false).unwrap();
        assert_eq!((own.program.as_str(), own.arguments.join("|").as_str()), ("pw-record", "--format|s16|-"));
        for bad in ["", "a 'b"] {
            assert!(matches!(recorder(Some(bad), "linux", &|_| true), Err(SpeechError::BadCommand { .. })), "{bad}");
        }
    }

    #[cfg(unix)]
    mod processes {
        use std::sync::atomic::{AtomicUsize, Ordering};

        use super::*;

        const HEAD: &str = r"printf 'RIFF\377\377\377\177WAVEfmt \020\000\000\000\001\000\001\000\200\076\000\000\000\175\000\000\002\000\020\000data\377\377\377\177'";

        fn shell(script: &str) -> Recorder {
            Recorder { program: "sh".into(), arguments: vec!["-c".into(), script.into()] }
        }

        #[tokio::test]
        async fn a_recording_ends_when_it_is_stopped() {
            let script =
                format!("trap 'printf bye.; exit 0' TERM; {HEAD}; printf 12345678; while :; do sleep 0.05; done");
            let (stop, times) = (CancellationToken::new(), AtomicUsize::new(0));
            let progress = |_: RecordingProgress| {
                times.fetch_add(1, Ordering::SeqCst);
                stop.cancel();
            };
            let (audio, limit) = record(&shell(&script), &stop, &progress).await.unwrap();
            assert!(limit.is_none() && times.load(Ordering::SeqCst) > 0);
            let (name, file) = audio.into_file().unwrap();
            assert!(name == "speech.wav" && file.ends_with(b"bye."), "what came last belongs to it");
        }

        #[tokio::test]
        async fn a_recorder_that_ignores_the_signal_is_killed() {
            let script = format!("trap '' TERM; {HEAD}; printf 12345678; sleep 600");
            let stop = CancellationToken::new();
            let (audio, _) = record(&shell(&script), &stop, &|_| stop.cancel()).await.unwrap();
            assert!(!audio.is_empty());
        }

        #[tokio::test]
        async fn a_failed_recorder_is_reported_with_its_error_output() {
            let stop = CancellationToken::new();
            let fails = shell("echo 'no such device' >&2; exit 1");
            let error = record(&fails, &stop, &|_| {}).await.unwrap_err();
            assert_eq!(error.to_string(), "sh recorded nothing: no such device");
            let none = Recorder { program: "/nowhere/rec".into(), arguments: Vec::new() };
            assert!(matches!(record(&none, &stop, &|_| {}).await, Err(SpeechError::NotStarted { .. })));
        }

        #[tokio::test]
        async fn an_endless_recording_ends_at_its_limit() {
            let script = format!("{HEAD}; exec cat /dev/zero");
            let (_, limit) = record(&shell(&script), &CancellationToken::new(), &|_| {}).await.unwrap();
            assert_eq!(limit.as_deref(), Some("10 minutes"));
            let (audio, limit) =
                record(&shell("printf OggS; exec cat /dev/zero"), &CancellationToken::new(), &|_| {}).await.unwrap();
            assert!(limit.as_deref() == Some("24.5 MB") && audio.len() <= 25_000_000);
        }
    }
}
