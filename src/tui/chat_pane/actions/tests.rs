//! Tests of reading in the transcript.

use crossterm::event::Event;

use super::*;
use crate::tui::theme::{ColorDepth, Theme};
use rhumb_session::context::Mode;
use rhumb_session::{Answer, AnswerState, Connection, Level, Session};

fn user(text: &str) -> Entry {
    Entry::User { text: text.into(), mode: Mode::Code, answered: true }
}

fn answer(text: &str, reasoning: &str) -> Entry {
    Entry::Answer(Answer {
        text: text.into(),
        reasoning: reasoning.into(),
        state: AnswerState::Complete,
        edits: Vec::new(),
        thinking: Vec::new(),
    })
}

fn app(entries: impl IntoIterator<Item = Entry>) -> App {
    let (mut session, effects) = Session::start(Connection::None);
    session.extend_transcript(entries);
    session.handle(rhumb_session::Response::Listed(std::sync::Arc::new(vec!["src/tide.rs".into(), "ebb.py".into()])));
    App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
}

fn talk() -> App {
    app([
        user("first"),
        answer("One.\n\n```sh\ncargo test\n```\n\nSee [the log](https://a.example), src/tide.rs:12.", "hm"),
        user("second"),
        Entry::status(Level::Info, "noted", ""),
    ])
}

fn press(app: &mut App, keys: &str) -> Vec<Task> {
    keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
}

fn copied(tasks: Vec<Task>) -> Option<String> {
    tasks.into_iter().find_map(|task| if let Task::Copy(clip) = task { Some(clip.text) } else { None })
}

fn at(app: &App) -> (usize, usize) {
    (app.chat.reading.stop_id.entry, app.chat.reading.stop_id.stop)
}

#[test]
fn the_cursor_goes_from_block_to_block_and_from_message_to_message() {
    let mut app = talk();
    press(&mut app, "Alt-r");
    assert_eq!(at(&app), (3, 0), "it begins at the end");
    press(&mut app, "k k");
    assert_eq!(at(&app), (1, 3), "the last block of the answer");
    press(&mut app, "[");
    assert_eq!(at(&app), (1, 0), "its beginning");
    press(&mut app, "[");
    assert_eq!(at(&app), (0, 0));
    press(&mut app, "] ]");
    assert_eq!(at(&app), (2, 0));
    press(&mut app, "g g j G k j j j");
    assert_eq!(at(&app), (3, 0), "it stops at the end");
}

#[test]
fn a_block_or_a_message_goes_to_the_clipboard() {
    let mut app = talk();
    press(&mut app, "Alt-r g g j j j");
    assert_eq!(copied(press(&mut app, "y")).as_deref(), Some("cargo test"));
    assert!(copied(press(&mut app, "Y")).is_some_and(|text| text.starts_with("One.\n\n```sh")));
    assert_eq!(copied(press(&mut app, "j Enter")).as_deref(), Some("https://a.example"));
}

#[test]
fn a_named_file_opens_at_its_line() {
    let mut app = talk();
    let tasks = press(&mut app, "Alt-r g g j j j j o");
    assert_eq!(tasks, [Task::Edit(Editing::File { path: "src/tide.rs".into(), line: 12 })]);
    let paths = ["src/tide.rs".to_owned(), "ebb.py".to_owned()];
    assert_eq!(named_place("  File \"./ebb.py\", line 3, in x", &paths), Some(("ebb.py".into(), 3)));
    assert_eq!(named_place("look at `tide.rs`.", &paths), Some(("src/tide.rs".into(), 1)));
    assert_eq!(named_place("nothing.here and ../x", &paths), None);
}

#[test]
fn typing_esc_and_i_give_the_keys_back() {
    for (keys, text) in [("Alt-r i", ""), ("Alt-r Esc", ""), ("Shift-Up x", "x")] {
        let mut app = talk();
        press(&mut app, keys);
        assert_eq!((app.chat.reading.on, app.composer.text().as_str()), (false, text), "{keys}");
    }
}

#[test]
fn shift_up_selects_where_something_is_written() {
    let mut app = talk();
    press(&mut app, "a Shift-Up");
    assert!(!app.chat.reading.on);
}

#[test]
fn thoughts_are_opened_one_by_one_or_all_at_once() {
    let mut app = talk();
    press(&mut app, "Alt-r g g j Enter");
    assert!(app.chat.reading.toggled.contains(&1));
    press(&mut app, "i Alt-t");
    assert!(app.chat.thoughts && app.chat.reading.toggled.is_empty());
}

#[test]
fn a_search_finds_while_it_is_typed_and_goes_on_by_key() {
    let mut app = talk();
    press(&mut app, "Alt-/ h m");
    assert_eq!(at(&app), (1, 0));
    assert!(app.chat.reading.toggled.contains(&1), "what is found must show");
    press(&mut app, "Backspace Backspace o n Enter");
    assert!(app.chat.reading.typing.is_none() && app.chat.reading.on);
    let first = at(&app);
    press(&mut app, "n");
    assert_ne!(at(&app), first);
    press(&mut app, "N Esc");
    assert!(at(&app) == first && app.chat.reading.search.is_none() && app.chat.reading.on);
    app.event(Event::Paste("second".into()));
    assert_eq!(app.composer.text(), "second");
}

#[test]
fn an_earlier_message_is_changed_and_the_conversation_goes_on_from_there() {
    let mut app = talk();
    app.session.set_connection(Connection::Remote { model: "m".into(), host: "h".into() });
    press(&mut app, "d r a f t Alt-r g g e");
    assert_eq!(app.composer.text(), "first");
    assert_eq!(app.session.persistence().inputs.last().map(String::as_str), Some("draft"), "nothing is lost");
    assert!(app.rerun_title().is_some_and(|words| words.contains("the 2 messages")), "{:?}", app.rerun_title());
    assert_eq!(app.session.transcript().len(), 4, "nothing is left out yet");
    press(&mut app, "! Enter");
    let said: Vec<&Entry> =
        app.session.transcript().iter().filter(|entry| matches!(entry, Entry::User { .. })).collect();
    assert!(matches!(said.as_slice(), [Entry::User { text, .. }] if text == "first!"), "{said:?}");
    assert!(app.composer.is_empty() && app.chat.reading.rerun.is_none());
}

#[test]
fn a_message_that_is_not_sent_again_after_all_leaves_everything_as_it_was() {
    let mut app = talk();
    press(&mut app, "Alt-r g g e Ctrl-c");
    assert!(app.chat.reading.rerun.is_none() && app.composer.is_empty());
    assert_eq!(app.session.transcript().len(), 4);
}

#[test]
fn a_draft_that_comes_back_does_not_sweep_away_what_is_written() {
    let mut app = talk();
    press(&mut app, "n e w");
    app.session.return_draft("old".into());
    press(&mut app, "!");
    assert_eq!(app.composer.text(), "new!");
    assert!(app.hint.text().contains("Alt-Up"), "{}", app.hint.text());
    press(&mut app, "Alt-Up");
    assert_eq!(app.composer.text(), "old");
}

#[test]
fn a_click_opens_thoughts_and_a_double_click_begins_to_read() {
    let mut app = talk();
    app.click_in_chat(StopId { entry: 1, stop: 0 }.row(), false);
    assert!(app.chat.reading.toggled.contains(&1) && !app.chat.reading.on);
    app.click_in_chat(StopId { entry: 1, stop: 1 }.row(), false);
    assert!(!app.chat.reading.on);
    app.click_in_chat(StopId { entry: 1, stop: 1 }.row(), true);
    assert_eq!((app.chat.reading.on, at(&app)), (true, (1, 1)));
    app.click_in_chat(StopId { entry: 99, stop: 9 }.row(), true);
    assert_eq!(at(&app), (3, 0));
}
