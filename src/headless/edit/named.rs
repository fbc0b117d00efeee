//! What a message names with an `@`, for the commands without the app: files come into the chat, texts go along.

use crate::context::{KnownFiles, ats, mentioned_paths, mentions};
use crate::headless::advise;
use crate::session::runner::{LookUp, Outfit, Survey};
use crate::session::{ChatFile, Failure, SharedPage, few};
use rhumb_llm::models::Model;
use rhumb_workspace::Root;
use rhumb_workspace::process::quoted;

/// The message with the texts that it names behind it. Files that it names are added to `files`; what cannot be had is told.
pub(super) fn with_named(
    root: &Root,
    outfit: &Outfit,
    (survey, model): (&Survey, &Model),
    files: &mut Vec<ChatFile>,
    message: String,
) -> String {
    let names: Vec<String> = ats(&message).into_iter().map(|at| at.name).collect();
    if names.is_empty() {
        tell_unsent(&message, survey, files);
        return message;
    }
    let look_up = LookUp {
        root,
        outfit,
        survey,
        counter: &outfit.counter(model),
        window: outfit.window(model).max_input(),
        page: &no_page,
    };
    let chat: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let found = look_up.find(&names, &chat);
    found.notes.iter().for_each(|note| advise(&note.message, &note.hint));
    let new = found.files.into_iter().filter(|path| !chat.contains(path));
    files.extend(new.map(|path| ChatFile { path, read_only: false }));
    let texts = found.attached.into_iter().map(|attached| attached.text);
    std::iter::once(message).chain(texts).collect::<Vec<_>>().join("\n\n")
}

/// Says which files the message speaks of that do not go along: nobody can be asked here, as the app does.
fn tell_unsent(message: &str, survey: &Survey, files: &[ChatFile]) {
    let paths: Vec<String> = survey.files.iter().map(|file| file.path.clone()).collect();
    let chat: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let known = KnownFiles { paths: &paths, chat: &chat, symbol: &|_| None };
    let unsent: Vec<String> =
        mentioned_paths(&mentions(message, &known)).into_iter().filter(|path| !chat.contains(path)).collect();
    if let Some(first) = unsent.first() {
        let text = format!("The request mentions {}; the model sees only what the repo map shows of it.", few(&unsent));
        advise(&text, &format!("Add it with --file {}, or write @{first} in the request.", quoted(first)));
    }
}

/// Nobody can be asked here whether a page may be read.
fn no_page(address: &str) -> Result<SharedPage, Failure> {
    let message = format!("{address} is not read without the app.");
    Err(Failure { message, hint: "Read it in the app with /web, or pass its text with --with-output.".into() })
}
