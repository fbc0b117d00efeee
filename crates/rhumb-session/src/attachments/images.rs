//! Images in the chat that are not files of the repository: pasted, read from a path outside, or fetched.

use crate::{Clipboard, Effect, Failure, FetchEffect, Level, Notice, Session};
use rhumb_llm::Image;

const EXTENSIONS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
const MAX_PATH_BYTES: usize = 4_096;

/// An image for the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewImage {
    /// The image.
    pub image: Image,
    /// Its tokens in each request.
    pub tokens: usize,
    /// Width and height in pixels, if they are known.
    pub size: Option<(usize, usize)>,
}

/// Whether a text is certainly a single path of an image: absolute, below the home folder or the parent folder, or as terminals insert
/// dragged files.
pub fn is_image_path(text: &str) -> bool {
    let text = text.trim();
    let bare = text.trim_matches(['\'', '"']);
    let lower = bare.to_ascii_lowercase();
    let drive = bare.as_bytes().get(1..3) == Some(b":\\") && bare.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_absolute = ["/", "~/", "../", "file://"].iter().any(|start| bare.starts_with(start)) || drive;
    let is_single = text.len() <= MAX_PATH_BYTES && !text.contains(['\n', '\r', '\0']) && !bare.contains(['\'', '"']);
    is_single && is_absolute && EXTENSIONS.iter().any(|extension| lower.ends_with(extension))
}

impl Session {
    /// Adds an image file outside of the repository.
    pub(crate) fn add_image_file(&mut self, path: &str) -> Vec<Effect> {
        vec![Effect::Fetch(FetchEffect::Image { path: path.to_owned(), pasted: false })]
    }

    /// Reads the image if a pasted text looks like the path of one; `None` for other texts. The text is inserted later if the file
    /// is not an image.
    pub fn paste_image_path(&mut self, text: &str) -> Option<Vec<Effect>> {
        let path = text.to_owned();
        is_image_path(text).then(|| vec![Effect::Fetch(FetchEffect::Image { path, pasted: true })])
    }

    /// Reads the clipboard. With a name, only an image is accepted.
    pub fn paste_from_clipboard(&mut self, name: Option<String>) -> Vec<Effect> {
        vec![Effect::Fetch(FetchEffect::Clipboard { name })]
    }

    pub(super) fn clipboard_read(&mut self, only_image: bool, found: Clipboard) -> Vec<Effect> {
        match found {
            Clipboard::Image(result) => {
                self.notices.push(Notice::PastedImage);
                return self.image_fetched(result);
            }
            Clipboard::Text(_) if only_image => {
                let text = "There is no picture on the clipboard, but a text.";
                self.report(Level::Warning, text, "/paste without a name takes it.");
            }
            Clipboard::Text(text) => self.notices.push(Notice::PastedText(text)),
            Clipboard::Nothing(failure) if only_image => self.report_failure(Level::Warning, failure),
            Clipboard::Nothing(_) => {}
        }
        Vec::new()
    }

    pub(super) fn image_fetched(&mut self, result: Result<NewImage, Failure>) -> Vec<Effect> {
        let NewImage { mut image, tokens, size } = match result {
            Ok(image) => image,
            Err(failure) => {
                self.report_failure(Level::Error, failure);
                return Vec::new();
            }
        };
        if self.attachments.images.iter().any(|other| other.bytes == image.bytes) {
            self.report(Level::Info, format!("{} is in the chat already.", image.name), "");
            return Vec::new();
        }
        image.name = self.free_name(&image.name);
        let pixels = size.map_or_else(String::new, |(width, height)| format!("{width}×{height} pixels, "));
        let kilobytes = image.bytes.len().div_ceil(1_000);
        let text =
            format!("{} is in the chat: {pixels}{kilobytes} kB, about {tokens} tokens in each request.", image.name);
        self.report(Level::Info, text, format!("/drop {} takes it out.", image.name));
        self.attachments.images.push(image);
        self.measure()
    }

    /// The name, with a number if the chat contains that name.
    fn free_name(&self, name: &str) -> String {
        let is_taken = |name: &str| {
            self.attachments.images.iter().any(|image| image.name == name) || self.chat_files.contains(name)
        };
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "png"));
        let mut names =
            std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{stem}-{number}.{extension}")));
        names.find(|name| !is_taken(name)).unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Connection, Entry, FetchResponse, Response};

    fn picture(name: &str, bytes: &[u8]) -> NewImage {
        let image = Image { name: name.into(), media_type: "image/png".into(), bytes: bytes.into() };
        NewImage { image, tokens: 765, size: Some((1_024, 1_024)) }
    }

    fn add(session: &mut Session, name: &str, bytes: &[u8]) -> Vec<Effect> {
        session.handle(Response::Fetched(FetchResponse::Image(Ok(picture(name, bytes)))))
    }

    #[test]
    fn only_certain_paths_are_image_paths() {
        for text in [
            "/tmp/a.png", "'/tmp/a b.JPG' ", "~/shot.webp", "file:///tmp/a%20b.png", "C:\\x\\a.gif", "/tmp/a\\ b.png",
            "../a.png",
        ] {
            assert!(is_image_path(text), "{text}");
        }
        for text in [
            "a.png", "see /tmp/a.png", "/tmp/a.txt", "/tmp/a.png\n/tmp/b.png", "", "'/a.png' '/b.png'",
            "https://x/a.png",
        ] {
            assert!(!is_image_path(text), "{text}");
        }
    }

    #[test]
    fn an_image_is_sent_with_each_request_until_it_is_dropped() {
        let (mut session, _) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        session.chat_files.add("quay.png", false);
        add(&mut session, "quay.png", b"1");
        add(&mut session, "quay.png", b"2");
        add(&mut session, "other.png", b"2");
        let names = |session: &Session| {
            session.attachments.images.iter().map(|picture| picture.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&session), "quay-2.png quay-3.png", "a name is free, and one picture comes once");
        let told = format!("{:?}", session.transcript);
        assert!(told.contains("1024×1024 pixels") && told.contains("about 765 tokens"), "{told}");
        let (_, effects) = session.send("look");
        assert!(matches!(effects.as_slice(), [Effect::Ask(order)] if order.images.len() == 2));
        session.drop_files(&["quay-2.png".into()]);
        assert_eq!(names(&session), "quay-3.png");
        session.drop_files(&[]);
        assert_eq!(names(&session), "");
    }

    #[test]
    fn an_image_path_outside_of_the_repository_is_read() {
        let (mut session, _) = Session::start(Connection::None);
        session.handle(Response::Listed(std::sync::Arc::default()));
        let effects = session.add_files(&["/tmp/a.png".into()], false);
        assert!(matches!(effects.as_slice(), [Effect::Fetch(FetchEffect::Image { pasted: false, .. })]));
        assert!(session.add_files(&["/tmp/a.txt".into()], false).is_empty());
        assert!(session.paste_image_path("hello").is_none());
        session.paste_image_path("/tmp/a.png").unwrap();
        session.handle(Response::Fetched(FetchResponse::NotAnImage("/tmp/a.png".into())));
        assert_eq!(session.take_notices(), [Notice::Insert("/tmp/a.png".into())], "a path that is no image is text");
    }

    #[test]
    fn text_on_the_clipboard_is_pasted_as_a_reply() {
        let (mut session, _) = Session::start(Connection::None);
        let text = |name: Option<&str>| {
            let found = Clipboard::Text("a reply".into());
            Response::Fetched(FetchResponse::Clipboard { name: name.map(str::to_owned), found })
        };
        session.handle(text(Some("x.png")));
        assert!(session.take_notices().is_empty());
        assert!(matches!(session.transcript.last(), Some(Entry::Status(notice)) if notice.text.contains("no picture")));
        session.handle(text(None));
        assert_eq!(session.take_notices(), [Notice::PastedText("a reply".into())]);
    }
}
