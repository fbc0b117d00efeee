//! Speech input: recorded by a program of the system, and transcribed by a model.
//!
//! The recorder is a program that writes audio to its output, so no audio library is linked, and the recording stays in memory.
//! It is sent only to the transcription endpoint of the settings, with the key of that endpoint.

mod error;
mod recorder;
mod sound;
mod transcribe;

pub use error::SpeechError;
pub use recorder::{Heard, MAX_SECONDS, Recorder, record, recorder};
pub use sound::Sound;
pub use transcribe::transcribe;
