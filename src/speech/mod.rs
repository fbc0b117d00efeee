//! Speech input: recorded by a program of the system, and transcribed by a model.
//!
//! The recorder is a program that writes audio to its output, so no audio library is linked, and the recording stays in memory.
//! It is sent only to the transcription endpoint of the settings, with the key of that endpoint.

mod recorder;
mod transcribe;

pub use recorder::{RecordingProgress, record, recorder};
pub use transcribe::transcribe;

/// Why a message could not be recorded or transcribed. No error contains a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpeechError {
    #[error("no program that records audio is installed: looked for {}", .looked_for.join(", "))]
    NoRecorder { looked_for: Vec<String> },
    #[error("voice_cmd is not a command line: {reason}")]
    BadCommand { reason: String },
    #[error("cannot start {program}: {cause}")]
    NotStarted { program: String, cause: String },
    #[error("{program} recorded nothing{}", if .message.is_empty() { String::new() } else { format!(": {}", .message) })]
    Failed { program: String, message: String },
    #[error("the output of {program} is not in a supported audio format")]
    NotAudio { program: String },
    #[error("no transcription model is configured")]
    NoModel,
    #[error("{provider} has no transcription API")]
    NoEndpoint { provider: String },
    #[error("{url:?} is not the address of an API")]
    BadAddress {
        /// The address, without a password.
        url: String,
    },
    #[error("the key contains characters that cannot be sent")]
    BadKey,
    #[error("cannot connect to {url}: {cause}")]
    Connect {
        url: String,
        /// The innermost source.
        cause: String,
    },
    #[error("{url} did not answer: {cause}")]
    NoAnswer { url: String, cause: String },
    #[error("{url} refused the recording (status {status}){}", if .message.is_empty() { String::new() } else { format!(": {}", .message) })]
    Refused { url: String, status: u16, message: String },
    #[error("{url} does not answer like a transcription API")]
    NoText { url: String },
}

impl SpeechError {
    /// What to do next, as one sentence.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoRecorder { .. } => {
                "Install one of them (arecord is in alsa-utils, rec in sox), or set voice_cmd in rhumb.toml to a command that prints WAV."
            }
            Self::BadCommand { .. } | Self::NotStarted { .. } => "Check voice_cmd in rhumb.toml.",
            Self::Failed { .. } => "Check the microphone and its permissions.",
            Self::NotAudio { .. } => "voice_cmd must print WAV, Ogg, FLAC, MP3, M4A or WebM to its standard output.",
            Self::NoModel => {
                "Set one in rhumb.toml: voice_model = \"openai/whisper-1\"; the key of its provider is used."
            }
            Self::NoEndpoint { .. } => {
                "Set voice_model in rhumb.toml to another one: openai/whisper-1, groq/whisper-large-v3-turbo, or your own server."
            }
            Self::BadAddress { .. } => "Check base_url of the provider that voice_model names.",
            Self::BadKey => "Copy the key again, without line breaks or quotes.",
            Self::Connect { .. } | Self::NoAnswer { .. } => "Check the address and the network, then record again.",
            Self::Refused { status: 401 | 403, .. } => "Check the key of the provider that voice_model names.",
            Self::Refused { status: 404, .. } => "Check voice_model and whether its provider has a transcription API.",
            Self::Refused { status: 413, .. } => "Record shorter messages.",
            Self::Refused { .. } => "Check voice_model; if it is correct, try again in a moment.",
            Self::NoText { .. } => "Check voice_model and the address of its provider.",
        }
    }
}
