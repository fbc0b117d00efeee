//! The progress of the embedding index, and the actions during its build.

use std::time::Duration;

use super::harness::{Harness, Scene};
use super::snapshot;
use rhumb_session::{IndexEffect, IndexResponse, Response};

const PROGRESS: IndexResponse = IndexResponse::Progress { done: 34, total: 100 };

fn indexing(width: u16, height: u16, reports: impl IntoIterator<Item = IndexResponse>) -> Harness {
    let mut harness = Scene::demo().open(width, height);
    for report in reports {
        harness.report(Response::Indexing(report));
    }
    harness
}

fn status(harness: &Harness) -> String {
    harness.screen().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn the_status_line_says_how_far_it_is_and_why_it_waits() {
    for (width, height) in [(40, 10), (80, 24), (120, 35), (200, 60)] {
        let mut harness = indexing(width, height, [PROGRESS]);
        assert!(status(&harness).contains("index 34 %"), "{width}x{height}: {}", status(&harness));
        let why = "rate limited\u{1b}[2J, and that for longer than there is room".to_owned();
        harness.report(Response::Indexing(IndexResponse::Waiting { wait: Duration::from_secs(7), why }));
        assert!(status(&harness).contains("index waits"), "{width}x{height}: {}", status(&harness));
        assert_eq!(harness.control_characters(), Vec::<String>::new());
        harness.report(Response::Indexing(IndexResponse::Paused(true)));
        assert!(status(&harness).contains("index paused"), "{width}x{height}: {}", status(&harness));
        harness.report(Response::Indexing(IndexResponse::Ready { texts: 1_200, embedded: 0, note: None }));
        assert!(!status(&harness).contains("index"), "{width}x{height}: {}", status(&harness));
    }
    snapshot("index-status@80x24", &indexing(80, 24, [PROGRESS]));
    snapshot("index-paused@80x24", &indexing(80, 24, [PROGRESS, IndexResponse::Paused(true)]));
}

#[test]
fn the_palette_pauses_goes_on_and_stops_what_is_under_way_and_says_when_nothing_is() {
    let chosen = |reports: Vec<IndexResponse>, words: &str| {
        let mut harness = indexing(120, 35, reports);
        harness.app.composer.clear();
        harness.keys(&format!("<Alt-x> type \"{words}\""));
        let shown = harness.screen();
        harness.keys("<Enter>");
        (harness.indexed.clone(), shown)
    };
    let (wanted, shown) = chosen(Vec::new(), "pause-index");
    assert!(wanted.is_empty() && shown.contains("no index is being built"), "{wanted:?}\n{shown}");
    assert_eq!(chosen(vec![PROGRESS], "pause-index").0, [IndexEffect::Pause(true)]);
    assert_eq!(chosen(vec![PROGRESS, IndexResponse::Paused(true)], "pause-index").0, [IndexEffect::Pause(false)]);
    assert_eq!(chosen(vec![PROGRESS], "cancel-index").0, [IndexEffect::Cancel]);
    assert_eq!(chosen(Vec::new(), "build-index").0, [IndexEffect::Build { agreed: false }]);
}
