//! Speech input: recorded by a program of the system, and transcribed by a model.
//!
//! The recorder is a program that writes audio to its output, so no audio library is linked, and the recording stays in memory.
//! It is sent only to the transcription endpoint of the settings, with the key of that endpoint.

mod audio;
mod error;
mod recorder;
mod transcribe;

pub use audio::Audio;
pub use error::SpeechError;
pub use recorder::{MAX_SECONDS, Recorder, RecordingProgress, record, recorder};
pub use transcribe::transcribe;
