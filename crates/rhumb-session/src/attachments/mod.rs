//! Content that is added to the conversation from outside the repository: web pages, images and dictation.

mod dictation;
mod images;
mod page;

use crate::{Effect, Failure, Notice, Session};
use rhumb_llm::Image;
use rhumb_web::NonPublicHost;

pub use dictation::{Recording, RecordingState};
pub use images::{NewImage, is_image_path};
pub use page::{PageFetch, SharedPage};

/// An effect that fetches content.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchEffect {
    /// Fetch a web page.
    Page {
        /// The number of this effect.
        number: u64,
        /// The URL, as typed.
        url: String,
        /// The hosts in private networks that the user has allowed.
        allowed: Vec<NonPublicHost>,
    },
    /// Stop fetching the page.
    StopPage,
    /// Read the clipboard.
    Clipboard {
        /// The name for an image. With a name, text is refused.
        name: Option<String>,
    },
    /// Read an image file.
    Image {
        /// The file, as typed or pasted.
        path: String,
        /// Whether the path was pasted. If it is not an image, it is inserted as text.
        pasted: bool,
    },
    /// Record speech.
    StartRecording {
        /// The number of this effect.
        number: u64,
    },
    /// Stop recording, or stop transcribing.
    StopRecording {
        /// Whether the recording is transcribed. Otherwise it is discarded.
        transcribe: bool,
    },
}

/// The content of the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clipboard {
    /// An image, or why it cannot be added.
    Image(Result<NewImage, Failure>),
    /// A text.
    Text(String),
    /// Neither, with the reason.
    Nothing(Failure),
}

/// The result or progress of a [`FetchEffect`].
#[derive(Debug, Clone)]
pub enum FetchResponse {
    /// A page is being received.
    PageProgress {
        /// The number of the effect.
        number: u64,
        /// Bytes so far.
        bytes: usize,
    },
    /// A page was fetched as text.
    Page {
        /// The number of the effect.
        number: u64,
        /// The page, or the error.
        result: Result<SharedPage, Failure>,
    },
    /// The URL returned an image.
    PageImage {
        /// The number of the effect.
        number: u64,
        /// The image, or why it cannot be added.
        result: Result<NewImage, Failure>,
    },
    /// The URL or a redirect leads to a host in a private network that the user has not allowed.
    NonPublic {
        /// The number of the effect.
        number: u64,
        /// The URL of that step.
        url: String,
        /// The host.
        host: NonPublicHost,
    },
    /// The clipboard was read.
    Clipboard {
        /// The requested name for an image.
        name: Option<String>,
        /// The content.
        found: Clipboard,
    },
    /// An image file was read.
    Image(Result<NewImage, Failure>),
    /// A pasted path is not an image; contains the pasted text.
    NotAnImage(String),
    /// Speech is being recorded.
    RecordingProgress {
        /// The number of the effect.
        number: u64,
        /// The level since the last response, from 0 to 1; `None` if unknown.
        level: Option<f32>,
        /// Seconds so far.
        seconds: f32,
    },
    /// The recording ended and is being transcribed.
    RecordingEnded {
        /// The number of the effect.
        number: u64,
        /// The limit that ended it, if any.
        limit: Option<String>,
    },
    /// The recording was transcribed.
    Transcribed {
        /// The number of the effect.
        number: u64,
        /// The text, or the error.
        result: Result<String, Failure>,
    },
}

/// Content from outside the repository, and fetches in progress.
#[derive(Debug, Default)]
pub struct Attachments {
    /// Images in the chat that are not files of the repository.
    pub images: Vec<Image>,
    /// The page that is being fetched.
    pub page: Option<PageFetch>,
    /// The recording in progress.
    pub recording: Option<Recording>,
    last_number: u64,
}

impl Attachments {
    fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Removes an image from the chat. Returns `false` if there is none with that name.
    pub(super) fn drop_image(&mut self, name: &str) -> bool {
        let before = self.images.len();
        self.images.retain(|image| image.name != name);
        self.images.len() < before
    }
}

impl Session {
    pub(super) fn fetched(&mut self, response: FetchResponse) -> Vec<Effect> {
        match response {
            FetchResponse::PageProgress { number, bytes } => self.page_progress(number, bytes),
            FetchResponse::Page { number, result } => return self.page_fetched(number, result),
            FetchResponse::PageImage { number, result } => {
                if self.end_page_fetch(number) {
                    return self.image_fetched(result);
                }
            }
            FetchResponse::NonPublic { number, url, host } => self.ask_about_non_public_page(number, &url, host),
            FetchResponse::Clipboard { name, found } => return self.clipboard_read(name.is_some(), found),
            FetchResponse::Image(result) => return self.image_fetched(result),
            FetchResponse::NotAnImage(text) => self.notices.push(Notice::Insert(text)),
            FetchResponse::RecordingProgress { number, level, seconds } => {
                self.recording_progress(number, level, seconds)
            }
            FetchResponse::RecordingEnded { number, limit } => self.recording_ended(number, limit.as_deref()),
            FetchResponse::Transcribed { number, result } => self.transcribed(number, result),
        }
        Vec::new()
    }
}
