//! Records with a program: the configured one, or the first installed one of those that desktops come with.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rhumb_text::sanitize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::SpeechError;

pub const MAX_SECONDS: f32 = 600.0;
/// Maximum size in bytes; OpenAI accepts 25 MB in total.
const MAX_BYTES: usize = 24_500_000;
/// How long a recorder may take to end after SIGTERM.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of bytes that are read at once: an eighth of a second with the recorders below.
const READ_BYTES: usize = 4_096;
const MAX_ERROR_BYTES: u64 = 400;

/// A command that writes audio until it is stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorder {
    pub program: String,
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

/// The lowest level of the meter, in decibels below full scale.
const FLOOR_DB: f64 = -60.0;

/// The sample format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    U8,
    I16,
    I24,
    I32,
    F32,
}

impl Sample {
    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::I16 => 2,
            Self::I24 => 3,
            Self::I32 | Self::F32 => 4,
        }
    }

    /// The value between −1 and 1.
    fn value(self, bytes: &[u8]) -> f64 {
        match (self, bytes) {
            (Self::U8, [a]) => (f64::from(*a) - 128.0) / 128.0,
            (Self::I16, [a, b]) => f64::from(i16::from_le_bytes([*a, *b])) / 32_768.0,
            (Self::I24, [a, b, c]) => f64::from(i32::from_le_bytes([0, *a, *b, *c])) / 2_147_483_648.0,
            (Self::I32, [a, b, c, d]) => f64::from(i32::from_le_bytes([*a, *b, *c, *d])) / 2_147_483_648.0,
            (Self::F32, [a, b, c, d]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])).clamp(-1.0, 1.0),
            _ => 0.0,
        }
    }
}

/// The header of a WAV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Wave {
    sample: Sample,
    /// Bytes of a frame, of all channels.
    frame: usize,
    /// Frames per second.
    rate: u32,
    /// The offset of the audio data.
    data: usize,
}

/// A recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audio {
    bytes: Vec<u8>,
    wave: Option<Wave>,
    /// The offset up to which the level was measured.
    measured: usize,
}

impl Audio {
    /// Appends output of the recorder. Returns its level from 0 to 1 if it is audio in a WAV file.
    pub fn push(&mut self, bytes: &[u8]) -> Option<f32> {
        self.bytes.extend_from_slice(bytes);
        if self.wave.is_none() {
            self.wave = wave(&self.bytes);
            self.measured = self.wave?.data;
        }
        let Wave { sample, frame, .. } = self.wave?;
        let new = self.bytes.get(self.measured..).unwrap_or_default();
        let new = new.get(..new.len() / frame * frame).unwrap_or_default();
        if new.is_empty() {
            return None;
        }
        self.measured += new.len();
        Some(level(new, sample))
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was recorded: no byte, or only the header of a WAV file.
    pub fn is_empty(&self) -> bool {
        self.bytes.len() <= self.wave.map_or(0, |wave| wave.data + wave.frame)
    }

    /// The length in seconds, if known.
    pub fn seconds(&self) -> Option<f32> {
        let wave = self.wave?;
        let frames = self.bytes.len().saturating_sub(wave.data) / wave.frame;
        Some(frames as f32 / wave.rate as f32)
    }

    /// The recording as a file with a name for its format; `None` if the format is unknown. A stopped recorder cannot write the
    /// size into the header of a WAV file, so the header is corrected.
    pub fn into_file(mut self) -> Option<(&'static str, Vec<u8>)> {
        let Some(wave) = self.wave else { return Some((name_of(&self.bytes)?, self.bytes)) };
        let data_bytes = (self.bytes.len() - wave.data) / wave.frame * wave.frame;
        self.bytes.truncate(wave.data + data_bytes);
        let size = |bytes: usize| u32::try_from(bytes).unwrap_or(u32::MAX).to_le_bytes();
        let sizes = [(4, size(self.bytes.len() - 8)), (wave.data - 4, size(data_bytes))];
        for (at, number) in sizes {
            if let Some(field) = self.bytes.get_mut(at..at + 4) {
                field.copy_from_slice(&number);
            }
        }
        Some(("speech.wav", self.bytes))
    }
}

/// The level of samples: their root mean square in decibels, scaled from 0 at the lowest level to 1 at full scale.
fn level(bytes: &[u8], sample: Sample) -> f32 {
    let squares: f64 = bytes.chunks_exact(sample.bytes()).map(|bytes| sample.value(bytes).powi(2)).sum();
    let mean = (squares / (bytes.len() / sample.bytes()).max(1) as f64).sqrt();
    let decibels = 20.0 * mean.max(1e-9).log10();
    ((decibels - FLOOR_DB) / -FLOOR_DB).clamp(0.0, 1.0) as f32
}

/// The header of a WAV file, once it is complete.
fn wave(bytes: &[u8]) -> Option<Wave> {
    if bytes.get(..4)? != b"RIFF" || bytes.get(8..12)? != b"WAVE" {
        return None;
    }
    let (mut at, mut format) = (12usize, None);
    loop {
        let size = u32::from_le_bytes(bytes.get(at + 4..at + 8)?.try_into().ok()?) as usize;
        let body = at + 8;
        match bytes.get(at..at + 4)? {
            b"data" => {
                let (sample, frame, rate) = format?;
                return Some(Wave { sample, frame, rate, data: body });
            }
            b"fmt " => format = Some(sample_format(bytes.get(body..body + 16)?)?),
            _ => {}
        }
        // Chunks begin at even offsets.
        at = body.checked_add(size)?.checked_add(size % 2)?;
    }
}

/// The sample format, the bytes of a frame, and the frames per second.
fn sample_format(head: &[u8]) -> Option<(Sample, usize, u32)> {
    let [kind, _, channels, _, a, b, c, d, ..] = *head else { return None };
    let bits = *head.get(14)?;
    // 0xfffe (extensible) has the expected format for these widths.
    let sample = match (kind, bits) {
        (1 | 0xfe, 8) => Sample::U8,
        (1 | 0xfe, 16) => Sample::I16,
        (1 | 0xfe, 24) => Sample::I24,
        (1 | 0xfe, 32) => Sample::I32,
        (3, 32) => Sample::F32,
        _ => return None,
    };
    let rate = u32::from_le_bytes([a, b, c, d]);
    (channels > 0 && rate > 0).then(|| (sample, usize::from(channels) * sample.bytes(), rate))
}

/// The file name for this format, by which servers recognize it.
fn name_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'R', b'I', b'F', b'F', ..] => Some("speech.wav"),
        [b'O', b'g', b'g', b'S', ..] => Some("speech.ogg"),
        [b'f', b'L', b'a', b'C', ..] => Some("speech.flac"),
        [b'I', b'D', b'3', ..] | [0xff, 0xfb | 0xf3, ..] => Some("speech.mp3"),
        [0x1a, 0x45, 0xdf, 0xa3, ..] => Some("speech.webm"),
        [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some("speech.m4a"),
        _ => None,
    }
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
        use std::sync::atomic::AtomicUsize;
        use std::sync::atomic::Ordering;

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

#[cfg(test)]
mod audio_tests {
    use super::*;
    use proptest::prelude::*;

    /// A WAV file as a recorder begins it: the sizes in the header are too large.
    fn head(channels: u8) -> Vec<u8> {
        let mut bytes = b"RIFF\xff\xff\xff\x7fWAVEfmt \x10\0\0\0\x01\0".to_vec();
        bytes.extend([channels, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0, 2 * channels, 0, 16, 0]);
        bytes.extend(b"LIST\x03\0\0\0abc\0data\xff\xff\xff\x7f");
        bytes
    }

    fn samples(value: i16, count: usize) -> Vec<u8> {
        std::iter::repeat_n(value.to_le_bytes(), count).flatten().collect()
    }

    #[test]
    fn the_level_follows_the_loudness() {
        let mut audio = Audio::default();
        assert_eq!(audio.push(&head(1)), None);
        assert!(audio.is_empty());
        assert_eq!(audio.push(&samples(0, 1_600)), Some(0.0));
        let quiet = audio.push(&samples(328, 1_600)).unwrap();
        assert!((quiet - 1.0 / 3.0).abs() < 0.01, "forty decibels below full scale: {quiet}");
        assert!(audio.push(&samples(-32_768, 1_600)).unwrap() > 0.99);
        assert_eq!(audio.seconds(), Some(0.3));
    }

    #[test]
    fn the_header_of_a_stopped_recording_is_corrected() {
        let mut audio = Audio::default();
        let mut all = head(2);
        all.extend(samples(5, 200));
        all.push(7);
        audio.push(&all);
        let (name, file) = audio.into_file().unwrap();
        assert_eq!(name, "speech.wav");
        assert_eq!(file.len(), head(2).len() + 400, "half a sample goes");
        assert_eq!(file[4..8], u32::try_from(file.len() - 8).unwrap().to_le_bytes());
        assert_eq!(file[head(2).len() - 4..head(2).len()], 400u32.to_le_bytes());
    }

    #[test]
    fn other_audio_formats_are_sent_unchanged_and_other_output_is_not() {
        for (bytes, name) in
            [(b"OggS..".as_slice(), "speech.ogg"), (b"fLaC", "speech.flac"), (b"....ftypM4A", "speech.m4a")]
        {
            let mut audio = Audio::default();
            assert_eq!(audio.push(bytes), None);
            assert_eq!(audio.into_file(), Some((name, bytes.to_vec())));
        }
        let mut audio = Audio::default();
        audio.push(b"usage: record");
        assert_eq!((audio.seconds(), audio.into_file()), (None, None));
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_make_the_same_file(values in prop::collection::vec(any::<i16>(), 1..300), size in 1usize..97) {
            let mut all = head(1);
            all.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            let mut audio = Audio::default();
            for piece in all.chunks(size) {
                if let Some(level) = audio.push(piece) {
                    prop_assert!((0.0..=1.0).contains(&level));
                }
            }
            let mut whole = Audio::default();
            whole.push(&all);
            prop_assert_eq!(audio.into_file(), whole.into_file());
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut audio = Audio::default();
            audio.push(&[b"RIFF....WAVEfmt ".as_slice(), &bytes].concat());
            audio.seconds();
            audio.into_file();
        }
    }
}
