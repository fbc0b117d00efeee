//! Pictures for the README and the docs: real screens, checked here so that they stay current.

use std::fs;
use std::path::Path;

use rhumb::tui::svg;

use super::harness::{Harness, Scene};

/// Compares the screen with `docs/pictures/NAME.svg`, or writes it there.
#[track_caller]
fn picture(name: &str, title: &str, harness: &Harness) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures").join(format!("{name}.svg"));
    let shown = svg(harness.buffer(), harness.app.theme(), title);
    if std::env::var_os("RHUMB_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, shown).unwrap();
    } else {
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(kept == shown, "{} is stale: RHUMB_BLESS=1 cargo test --test screens pictures", path.display());
    }
}

/// The demo after its first answer.
fn answered(width: u16, height: u16) -> Harness {
    let mut harness = Scene::demo().open(width, height);
    harness.keys("<Enter>").settle();
    harness
}

#[test]
fn the_first_screen() {
    picture("start", "rhumb: chat, repo map and context", &Scene::demo().open(120, 34));
}

#[test]
fn the_review_in_both_themes() {
    let mut harness = answered(140, 40);
    harness.keys("<Alt-4> y ]");
    picture("review", "rhumb: every hunk of an answer is reviewed before it is written", &harness);
    harness.keys("<Alt-1> type \"/theme rhumb-light\" <Enter> <Alt-4>");
    picture("review-light", "rhumb: the review in the light theme", &harness);
}

#[test]
fn the_map_and_the_help() {
    let mut harness = answered(120, 34);
    harness.keys("<Alt-2> <Enter>").settle();
    picture("map", "rhumb: files in the order of their rank, with their symbols", &harness);
    harness.keys("<F1>");
    picture("help", "rhumb: the keys of a pane", &harness);
}
