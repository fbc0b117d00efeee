//! Pictures in the chat that are no files of the repository: pasted, named by a path elsewhere, or fetched.

use super::{Clipboard, FetchEffect};
use crate::effect::{Effect, Failure};
use crate::notice::Notice;
use crate::state::Session;
use crate::transcript::Level;
use rhumb_llm::Image;

/// What the names of pictures end in.
const ENDINGS: [&str; 5] = [".png", ".jpg", ".jpeg", ".gif", ".webp"];
/// Nothing longer is a path.
const LONGEST_PATH: usize = 4_096;

/// A picture for the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewImage {
    /// The picture.
    pub image: Image,
    /// What it costs in each request, in tokens.
    pub tokens: usize,
    /// Width and height in pixels, if they are known.
    pub size: Option<(usize, usize)>,
}

/// Whether a text is one path of a picture that can only be meant so: from the root, the home folder or the folder above, or
/// as terminals write what is dragged into them.
pub fn is_picture_path(text: &str) -> bool {
    let text = text.trim();
    let bare = text.trim_matches(['\'', '"']);
    let lower = bare.to_ascii_lowercase();
    let drive = bare.as_bytes().get(1..3) == Some(b":\\") && bare.starts_with(|c: char| c.is_ascii_alphabetic());
    let begins = ["/", "~/", "../", "file://"].iter().any(|start| bare.starts_with(start)) || drive;
    let one = text.len() <= LONGEST_PATH && !text.contains(['\n', '\r', '\0']) && !bare.contains(['\'', '"']);
    one && begins && ENDINGS.iter().any(|ending| lower.ends_with(ending))
}

impl Session {
    /// Adds the picture in a file that is not one of the repository.
    pub(crate) fn add_picture_file(&mut self, path: &str) -> Vec<Effect> {
        vec![Effect::Fetch(FetchEffect::Picture { path: path.to_owned(), pasted: false })]
    }

    /// Takes a pasted text if it is the path of a picture: whether there is one is looked up, and what is none comes back as
    /// text. `None` for any other text.
    pub fn take_pasted(&mut self, text: &str) -> Option<Vec<Effect>> {
        let path = text.to_owned();
        is_picture_path(text).then(|| vec![Effect::Fetch(FetchEffect::Picture { path, pasted: true })])
    }

    /// Looks what is on the clipboard. With a name only a picture will do.
    pub fn paste_from_clipboard(&mut self, name: Option<String>) -> Vec<Effect> {
        vec![Effect::Fetch(FetchEffect::Clipboard { name })]
    }

    pub(super) fn clipboard_read(&mut self, only_picture: bool, found: Clipboard) -> Vec<Effect> {
        match found {
            Clipboard::Picture(result) => {
                self.notices.push(Notice::PastedImage);
                return self.picture_came(result);
            }
            Clipboard::Text(_) if only_picture => {
                let text = "There is no picture on the clipboard, but a text.";
                self.report(Level::Warning, text, "/paste without a name takes it.");
            }
            Clipboard::Text(text) => self.notices.push(Notice::PastedText(text)),
            Clipboard::Nothing(failure) if only_picture => self.report_failure(Level::Warning, failure),
            Clipboard::Nothing(_) => {}
        }
        Vec::new()
    }

    pub(super) fn picture_came(&mut self, result: Result<NewImage, Failure>) -> Vec<Effect> {
        let NewImage { mut image, tokens, size } = match result {
            Ok(picture) => picture,
            Err(failure) => {
                self.report_failure(Level::Error, failure);
                return Vec::new();
            }
        };
        if self.attachments.pictures.iter().any(|other| other.bytes == image.bytes) {
            self.report(Level::Info, format!("{} is in the chat already.", image.name), "");
            return Vec::new();
        }
        image.name = self.free_name(&image.name);
        let pixels = size.map_or_else(String::new, |(width, height)| format!("{width}×{height} pixels, "));
        let kilobytes = image.bytes.len().div_ceil(1_000);
        let text =
            format!("{} is in the chat: {pixels}{kilobytes} kB, about {tokens} tokens in each request.", image.name);
        self.report(Level::Info, text, format!("/drop {} takes it out.", image.name));
        self.attachments.pictures.push(image);
        self.measure()
    }

    /// The name, or one like it that nothing in the chat has.
    fn free_name(&self, name: &str) -> String {
        let is_taken = |name: &str| {
            self.attachments.pictures.iter().any(|picture| picture.name == name) || self.chat_files.contains(name)
        };
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, "png"));
        let mut names = std::iter::once(name.to_owned()).chain((2..).map(|number| format!("{stem}-{number}.{ending}")));
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
        session.handle(Response::Fetched(FetchResponse::Picture(Ok(picture(name, bytes)))))
    }

    #[test]
    fn only_what_can_be_nothing_else_is_the_path_of_a_picture() {
        for text in [
            "/tmp/a.png",
            "'/tmp/a b.JPG' ",
            "~/shot.webp",
            "file:///tmp/a%20b.png",
            "C:\\x\\a.gif",
            "/tmp/a\\ b.png",
            "../a.png",
        ] {
            assert!(is_picture_path(text), "{text}");
        }
        for text in [
            "a.png",
            "see /tmp/a.png",
            "/tmp/a.txt",
            "/tmp/a.png\n/tmp/b.png",
            "",
            "'/a.png' '/b.png'",
            "https://x/a.png",
        ] {
            assert!(!is_picture_path(text), "{text}");
        }
    }

    #[test]
    fn a_picture_goes_with_each_request_until_it_is_dropped() {
        let (mut session, _) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        session.chat_files.add("quay.png", false);
        add(&mut session, "quay.png", b"1");
        add(&mut session, "quay.png", b"2");
        add(&mut session, "other.png", b"2");
        let names = |session: &Session| {
            session.attachments.pictures.iter().map(|picture| picture.name.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&session), "quay-2.png quay-3.png", "a name is free, and one picture comes once");
        let told = format!("{:?}", session.transcript);
        assert!(told.contains("1024×1024 pixels") && told.contains("about 765 tokens"), "{told}");
        let (_, effects) = session.send("look");
        assert!(matches!(effects.as_slice(), [Effect::Ask(order)] if order.pictures.len() == 2));
        session.drop_files(&["quay-2.png".into()]);
        assert_eq!(names(&session), "quay-3.png");
        session.drop_files(&[]);
        assert_eq!(names(&session), "");
    }

    #[test]
    fn a_path_outside_of_the_repository_is_looked_up_if_it_is_one_of_a_picture() {
        let (mut session, _) = Session::start(Connection::None);
        session.handle(Response::Listed(std::sync::Arc::default()));
        let effects = session.add_files(&["/tmp/a.png".into()], false);
        assert!(matches!(effects.as_slice(), [Effect::Fetch(FetchEffect::Picture { pasted: false, .. })]));
        assert!(session.add_files(&["/tmp/a.txt".into()], false).is_empty());
        assert!(session.take_pasted("hello").is_none());
        session.take_pasted("/tmp/a.png").unwrap();
        session.handle(Response::Fetched(FetchResponse::NotAnImage("/tmp/a.png".into())));
        assert_eq!(session.take_notices(), [Notice::Insert("/tmp/a.png".into())], "a path that is no image is text");
    }

    #[test]
    fn a_text_on_the_clipboard_is_for_the_place_of_replies() {
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
