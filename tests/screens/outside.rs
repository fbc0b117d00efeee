//! External input on the screen: a page, pictures, the clipboard, speech.

use rhumb_llm::Image;
use rhumb_session::{Clipboard, FetchEffect, FetchResponse, NewImage, Response, SharedPage};
use rhumb_web::NonPublicHost;

use super::harness::{Harness, Scene};
use super::{snapshot, snapshots};

fn fetched(harness: &mut Harness, report: FetchResponse) {
    harness.report(Response::Fetched(report));
}

/// The number of the last effect of the app.
fn number(harness: &Harness) -> u64 {
    match harness.fetches.last() {
        Some(FetchEffect::Page { number, .. } | FetchEffect::StartRecording { number }) => *number,
        other => panic!("{other:?}"),
    }
}

fn near_page(width: u16, height: u16) -> Harness {
    let mut harness = Harness::new(width, height);
    harness.keys("type \"/web http://localhost:8000/tides\" <Enter>");
    let host = NonPublicHost {
        host: "localhost".into(),
        port: 8000,
        addresses: vec!["127.0.0.1".parse().unwrap(), "::1".parse().unwrap()],
    };
    let report = FetchResponse::NonPublic { number: number(&harness), url: "http://localhost:8000/tides".into(), host };
    fetched(&mut harness, report);
    harness
}

#[test]
fn a_page_that_is_near_is_asked_about() {
    snapshots("web_question", near_page);
    let mut harness = near_page(140, 40);
    harness.keys("<Enter>");
    snapshot("web_question_in_full@140x40", &harness);
}

#[test]
fn a_page_is_seen_on_its_way_and_in_the_conversation() {
    let mut harness = near_page(80, 24);
    harness.keys("<Alt-y>");
    let number = number(&harness);
    fetched(&mut harness, FetchResponse::PageProgress { number, bytes: 120_000 });
    snapshot("web_on_its_way@80x24", &harness);
    let page = SharedPage {
        title: "Tides\u{1b}[2J — http://localhost:8000/tides".into(),
        text:
            "The developer had this web page read …\n\n```page\n# Spring tide\n\nHigh \u{1b}]0;owned\u{7} water.\n```\n"
                .into(),
        whole: Some("/state/outputs/tides.txt".into()),
        tokens: 1_234,
        note: None,
    };
    fetched(&mut harness, FetchResponse::Page { number, result: Ok(page) });
    harness.settle();
    assert_eq!(harness.control_characters(), Vec::<String>::new());
    snapshot("web_shared@80x24", &harness);
}

#[test]
fn a_picture_shows_with_its_tokens() {
    snapshots("picture", |width, height| {
        let mut harness = Scene::harbour().silent().open(width, height);
        let image =
            Image { name: "quay.png".into(), media_type: "image/png".into(), bytes: b"picture".as_slice().into() };
        let picture = NewImage { image, tokens: 765, size: Some((1_024, 1_024)) };
        fetched(&mut harness, FetchResponse::Image(Ok(picture)));
        harness.settle();
        harness
    });
}

#[test]
fn the_clipboard_fills_the_place_for_a_reply() {
    let mut harness = Harness::new(80, 24);
    harness.keys("<F4>");
    let found = Clipboard::Text("harbour/berth.py\nall of it\n".into());
    fetched(&mut harness, FetchResponse::Clipboard { name: None, found });
    snapshot("paste_filled@80x24", &harness);
}

#[test]
fn speaking_shows_how_loud_and_how_long() {
    snapshots("voice", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("type \"/voice\" <Enter>");
        let number = number(&harness);
        for step in 0..90u8 {
            let level = f32::from(step % 12) / 12.0;
            fetched(
                &mut harness,
                FetchResponse::RecordingProgress { number, level: Some(level), seconds: f32::from(step) / 8.0 },
            );
        }
        harness
    });
}
