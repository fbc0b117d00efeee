//! Messages for servers that want user and assistant to take turns.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::Ask;
use crate::dialect::Lesson;
use crate::{Image, Message, Role};

/// All that one side says before the other one speaks.
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) messages: Vec<&'a Message>,
}

/// The standing instructions, which stand before all else, and the turns. Instructions in the middle are said by the user,
/// as are all where the server knows no system role.
pub(super) fn turns<'a>(ask: &Ask<'a>) -> (Vec<&'a Message>, Vec<Turn<'a>>) {
    let messages = &ask.request.messages;
    let standing = if ask.dialect.knows(Lesson::NoSystem) {
        0
    } else {
        messages.iter().take_while(|message| message.role == Role::System).count()
    };
    let (standing, rest) = messages.split_at(standing);
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for message in rest.iter().filter(|message| !is_empty(message)) {
        let role = if message.role == Role::System { Role::User } else { message.role };
        match turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.messages.push(message),
            None => turns.push(Turn { role, messages: vec![message] }),
        }
    }
    (standing.iter().filter(|message| !is_empty(message)).collect(), turns)
}

/// Whether the answer's beginning is given, to be gone on with.
pub(super) fn is_begun(messages: &[Message]) -> bool {
    messages.last().is_some_and(|last| last.role == Role::Assistant)
}

/// The blanks at the end of a begun answer, which some servers do not take.
pub(super) fn blank_end(messages: &[Message]) -> &str {
    let begun = messages.last().filter(|last| last.role == Role::Assistant);
    begun.and_then(|last| last.content.get(last.content.trim_end().len()..)).unwrap_or_default()
}

/// The contents of messages as one text.
pub(super) fn joined(messages: &[&Message]) -> String {
    messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n\n")
}

/// The bytes of an image as text.
pub(super) fn base64(image: &Image) -> String {
    STANDARD.encode(&image.bytes)
}

/// An image as an address that holds it.
pub(super) fn as_url(image: &Image) -> String {
    format!("data:{};base64,{}", image.media_type, base64(image))
}

fn is_empty(message: &Message) -> bool {
    message.content.is_empty() && message.images.is_empty()
}
