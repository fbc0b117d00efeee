//! A repository that takes long to read.

use super::harness::Harness;
use rhumb_session::{Response, SurveyState};

#[test]
fn reading_is_stopped_by_esc_and_goes_on_when_asked() {
    let mut harness = Harness::new(140, 40);
    harness.report(Response::SurveyProgress { done: 1_234, total: 10_000 });
    assert!(harness.screen().contains("reading 1,234 of 10,000 files"), "{}", harness.screen());
    harness.keys("<Alt-2> <Esc>");
    assert!(!harness.screen().contains("reading stops"), "in another pane Esc leads back to the chat first");
    harness.keys("<Esc>");
    assert!(harness.screen().contains("reading stops"), "{}", harness.screen());
    harness
        .report(Response::Unread { unread: 8_000, total: 10_000 })
        .report(Response::Surveyed { note: None })
        .settle();
    for text in ["repo map · partial", "8000 of 10000 files are not indexed", "/map-refresh indexes the rest"] {
        assert!(harness.screen().contains(text), "{text}\n{}", harness.screen());
    }
    // The host reads the small repository completely.
    harness.keys("type \"/read-on\" <Enter>").settle();
    assert_eq!(harness.app.session.survey(), SurveyState::Done);
    assert!(!harness.screen().contains("partial"), "{}", harness.screen());
}
