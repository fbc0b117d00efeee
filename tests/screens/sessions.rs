//! Earlier sessions, earlier inputs, and their questions.

use super::harness::{Harness, Scene};
use super::snapshots;
use rhumb_session::SessionLine;
use rhumb_session::{PersistenceResponse, Response, TextFile};

fn line(number: i64, name: &str, opening: &str) -> SessionLine {
    SessionLine {
        number,
        parent: None,
        name: name.into(),
        opening: opening.into(),
        messages: number as usize,
        begun: "2026-11-20 09:00".into(),
        changed: format!("2026-11-2{number} 10:30"),
        live: number == 2,
    }
}

fn listed(harness: &mut Harness, query: &str) {
    let lines = vec![
        line(3, "", "Why does a ship that is too long moor all the same? It should be told that it does not fit"),
        line(2, "berths", "Let berths be reserved"),
        line(1, "draught \u{1b}[31m", "Ships have a draught"),
    ];
    harness.report(Response::Persisted(PersistenceResponse::Listed(query.into(), lines)));
}

#[test]
fn earlier_sessions_can_be_searched() {
    snapshots("earlier-sessions", |width, height| {
        let mut harness = Scene::harbour().open(width, height);
        harness.settle();
        listed(&mut harness, "");
        harness
    });
    let mut harness = Scene::harbour().open(100, 30);
    harness.settle();
    listed(&mut harness, "berths");
    assert_eq!(harness.lines_with("berths — Let").len(), 1);
    assert!(harness.lines_with("draught").is_empty());
    assert!(harness.lines_with("11-22").len() == 1, "{}", harness.screen());
}

#[test]
fn what_was_typed_can_be_searched() {
    snapshots("earlier-inputs", |width, height| {
        let mut harness = Scene::harbour().open(width, height);
        let inputs = ["Let berths be reserved", "/add harbour/ship.py", "Two lines\nof one message"];
        harness.report(Response::Persisted(PersistenceResponse::Opened(inputs.map(String::from).to_vec())));
        harness.settle().keys("<Ctrl-r>");
        harness
    });
}

#[test]
fn a_session_that_is_open_elsewhere_asks_whether_to_fork_it() {
    snapshots("open-elsewhere", |width, height| {
        let mut harness = Scene::harbour().open(width, height);
        harness
            .settle()
            .report(Response::Persisted(PersistenceResponse::OpenElsewhere { number: 2, title: "berths".into() }));
        harness
    });
}

#[test]
fn a_file_that_is_there_is_asked_about() {
    let mut harness = Scene::harbour().open(100, 30);
    let (path, what) = ("talk.md".to_owned(), "The session".to_owned());
    let order = TextFile { path, text: "# talk\n".into(), what, overwrite: false };
    harness.settle().report(Response::Persisted(PersistenceResponse::Exists(order)));
    assert_eq!(harness.lines_with("talk.md already exists. Replace it?").len(), 1);
    harness.keys("<Alt-r>").settle();
    assert_eq!(harness.file("talk.md").as_deref(), Some("# talk\n"));
    assert!(harness.control_characters().is_empty());
}
