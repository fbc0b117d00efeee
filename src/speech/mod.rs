//! What was spoken: recorded by a program of the system, and written down by a model.
//!
//! The recorder is a program that prints sound, so nothing of the sound system is linked in, and what is recorded stays in
//! memory. It goes to one place alone: the transcription endpoint that the settings name, with the key that belongs there.

mod error;
mod recorder;
mod sound;
mod transcribe;

pub use error::SpeechError;
pub use recorder::{Heard, MAX_SECONDS, Recorder, record, recorder};
pub use sound::Sound;
pub use transcribe::transcribe;
