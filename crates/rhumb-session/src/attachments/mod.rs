//! What comes from outside into a message: web pages, pictures, speech.

mod dictation;
mod images;
mod page;

use super::effect::{Effect, Failure};
use super::state::Session;
use crate::notice::Notice;
use rhumb_llm::Image;
use rhumb_web::NearHost;

pub use dictation::{Recording, Stage};
pub use images::{NewImage, is_picture_path};
pub use page::{PageFetch, SharedPage};

/// Something to get.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchEffect {
    /// A page of the web.
    Page {
        /// The number of this order.
        number: u64,
        /// Its address, as typed.
        url: String,
        /// Machines off the open internet that it may come from.
        allowed: Vec<NearHost>,
    },
    /// Stop getting the page.
    StopPage,
    /// What is on the clipboard. With a name, only a picture is wanted, and called so.
    Clipboard {
        /// That name.
        name: Option<String>,
    },
    /// The picture in a file of this machine.
    Picture {
        /// The file, as typed or pasted.
        path: String,
        /// It was pasted: what is no picture is text after all.
        pasted: bool,
    },
    /// Record what is spoken.
    Record {
        /// The number of this order.
        number: u64,
    },
    /// Stop recording, and have it written down or throw it away. Stops the writing down, too.
    EndRecording {
        /// Whether it is written down.
        keep: bool,
    },
}

/// What was on the clipboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clipboard {
    /// A picture, or why it cannot be in the chat.
    Picture(Result<NewImage, Failure>),
    /// A text.
    Text(String),
    /// Nothing that can be read; why, as far as that is known.
    Nothing(Failure),
}

/// What came.
#[derive(Debug, Clone)]
pub enum FetchResponse {
    /// So many bytes of a page are there.
    PageProgress {
        /// The order.
        number: u64,
        /// Bytes so far.
        bytes: usize,
    },
    /// A page that is a text.
    Page {
        /// The order.
        number: u64,
        /// The page, or why there is none.
        result: Result<SharedPage, Failure>,
    },
    /// A page that is a picture.
    PageImage {
        /// The order.
        number: u64,
        /// The picture, or why it cannot be in the chat.
        result: Result<NewImage, Failure>,
    },
    /// The way to a page leads to a machine that nobody has allowed yet.
    Near {
        /// The order.
        number: u64,
        /// The address of the step that leads there.
        url: String,
        /// The machine.
        host: NearHost,
    },
    /// The clipboard was read.
    Clipboard {
        /// The name that was ordered.
        name: Option<String>,
        /// What was on it.
        found: Clipboard,
    },
    /// A picture of a file.
    Picture(Result<NewImage, Failure>),
    /// What was pasted is no picture: it is text.
    NotAnImage(String),
    /// It is being recorded.
    RecordingProgress {
        /// The order.
        number: u64,
        /// How loud it was since the last report, from 0 to 1; `None` where the recording does not tell.
        level: Option<f32>,
        /// Seconds so far.
        seconds: f32,
    },
    /// The recording ended and is being written down.
    Recorded {
        /// The order.
        number: u64,
        /// The limit at which it ended by itself, if so.
        limit: Option<String>,
    },
    /// What was spoken, or why that is not known.
    Spoken {
        /// The order.
        number: u64,
        /// The words.
        result: Result<String, Failure>,
    },
}

/// What came from outside, or is on its way.
#[derive(Debug, Default)]
pub struct Attachments {
    /// Pictures in the chat that are no files of the repository.
    pub pictures: Vec<Image>,
    /// The page that is being fetched.
    pub page: Option<PageFetch>,
    /// What is being recorded or written down.
    pub recording: Option<Recording>,
    /// Orders so far.
    orders: u64,
}

impl Attachments {
    fn next_number(&mut self) -> u64 {
        self.orders += 1;
        self.orders
    }

    /// Takes the picture of that name out of the chat; false if there is none.
    pub(super) fn drop_picture(&mut self, name: &str) -> bool {
        let before = self.pictures.len();
        self.pictures.retain(|picture| picture.name != name);
        self.pictures.len() < before
    }
}

impl Session {
    /// Takes in what came from outside.
    pub(super) fn fetched(&mut self, report: FetchResponse) -> Vec<Effect> {
        match report {
            FetchResponse::PageProgress { number, bytes } => self.page_progress(number, bytes),
            FetchResponse::Page { number, result } => return self.page_came(number, result),
            FetchResponse::PageImage { number, result } => {
                if self.page_ended(number) {
                    return self.picture_came(result);
                }
            }
            FetchResponse::Near { number, url, host } => self.ask_about_near_page(number, &url, host),
            FetchResponse::Clipboard { name, found } => return self.clipboard_read(name.is_some(), found),
            FetchResponse::Picture(result) => return self.picture_came(result),
            FetchResponse::NotAnImage(text) => self.notices.push(Notice::Insert(text)),
            FetchResponse::RecordingProgress { number, level, seconds } => self.heard(number, level, seconds),
            FetchResponse::Recorded { number, limit } => self.recorded(number, limit.as_deref()),
            FetchResponse::Spoken { number, result } => self.spoken(number, result),
        }
        Vec::new()
    }
}
