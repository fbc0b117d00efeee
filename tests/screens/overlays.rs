//! Overlays in their main states, at each size for which their layout differs.

use super::harness::{Harness, Scene};
use super::{review, snapshot};
use rhumb::config::setting;
use rhumb_session::SessionLine;
use rhumb_session::{LookupResponse, ModelRole, ModelRow, PersistenceResponse, Response, SettingRow, Speaker};

const SIZES: [(u16, u16); 3] = [(80, 24), (120, 35), (200, 60)];

#[track_caller]
fn snapshots(name: &str, play: impl Fn(u16, u16) -> Harness) {
    for (width, height) in SIZES {
        snapshot(&format!("over-{name}@{width}x{height}"), &play(width, height));
    }
}

/// On the smallest screen the key that closes the overlay is visible.
#[track_caller]
fn usable_when_small(keys: &str, expected: &[&str]) {
    let mut harness = Scene::demo().open(40, 10);
    harness.keys(keys).settle();
    for part in expected {
        assert!(harness.screen().contains(part), "{part} after {keys} in\n{}", harness.screen());
    }
    harness.keys("<Esc> <Esc> <Esc>");
    assert!(harness.app.overlays.is_empty(), "Esc leaves {keys}\n{}", harness.screen());
}

#[test]
fn every_overlay_is_of_use_on_the_smallest_screen() {
    usable_when_small("<F1>", &["type to search", "Esc closes"]);
    usable_when_small("<Alt-x>", &["what to do", "Esc close"]);
    usable_when_small("<Ctrl-p>", &["add files", "Esc close"]);
    usable_when_small("<Ctrl-t>", &["symbols", "Esc close"]);
    usable_when_small("<F6>", &["log", "Esc closes"]);
    usable_when_small("<F5>", &["Esc closes"]);
}

#[test]
fn files_are_picked_with_a_look_at_them() {
    snapshots("files", |width, height| {
        let mut harness = Scene::demo().open(width, height);
        harness.keys("<Ctrl-p> type \"fore\"").settle();
        harness
    });
}

#[test]
fn symbols_are_found_and_shown_where_they_are_defined() {
    snapshots("symbols", |width, height| {
        let mut harness = Scene::demo().open(width, height);
        harness.keys("<Ctrl-t> type \"height\"").settle();
        harness
    });
    let mut harness = Scene::demo().open(120, 35);
    harness.keys("<Ctrl-c> <Ctrl-t> type \"height\"").settle().keys("<Enter>");
    assert!(harness.app.composer.text().starts_with('@'), "{}", harness.app.composer.text());
    let before = harness.app.session.files().len();
    harness.keys("<Ctrl-t> <Down> <Alt-a>").settle();
    assert!(harness.app.overlays.is_empty() && harness.app.session.files().len() >= before);
}

#[test]
fn the_help_begins_with_what_can_be_done_now() {
    snapshots("help", |width, height| {
        let mut harness = review(width, height);
        harness.keys("?");
        harness
    });
    snapshots("help-search", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("<F1> type \"accept\"");
        harness
    });
}

#[test]
fn the_palette_shows_what_cannot_be_done_last_and_asks_for_arguments_in_place() {
    snapshots("palette", |width, height| {
        let mut harness = Scene::demo().open(width, height);
        harness.keys("<Alt-x> type \"accept\"");
        harness
    });
    snapshots("palette-arguments", |width, height| {
        let mut harness = Scene::demo().open(width, height);
        harness.keys("<Alt-x> type \"map-tokens\" <Enter>");
        harness
    });
}

fn line(number: i64, name: &str, opening: &str) -> SessionLine {
    SessionLine {
        number,
        parent: None,
        name: name.into(),
        opening: opening.into(),
        messages: number as usize,
        begun: "2026-11-20 09:00".into(),
        changed: format!("2026-11-2{number} 10:30"),
        live: false,
    }
}

fn sessions(width: u16, height: u16) -> Harness {
    let mut harness = Scene::harbour().open(width, height);
    harness.settle();
    let lines = vec![
        line(3, "", "Why does a ship that is too long moor all the same?"),
        line(2, "berths", "Let berths be reserved"),
    ];
    harness.report(Response::Persisted(PersistenceResponse::Listed(String::new(), lines))).settle();
    let said = vec![
        (Speaker::You, "Why does a ship that is too long moor all the same?".to_owned()),
        (
            Speaker::Model,
            "Because `fits` compares with `<` only.\n\nA ship as long as the berth is refused.".to_owned(),
        ),
    ];
    harness.report(Response::Persisted(PersistenceResponse::Peeked(3, said)));
    harness
}

#[test]
fn earlier_sessions_are_shown_named_and_deleted_after_a_question() {
    snapshots("sessions", sessions);
    snapshots("sessions-delete", |width, height| {
        let mut harness = sessions(width, height);
        harness.keys("<Alt-d>");
        harness
    });
    snapshots("sessions-rename", |width, height| {
        let mut harness = sessions(width, height);
        harness.keys("<Alt-r> type \"too long\"");
        harness
    });
    let mut harness = sessions(80, 24);
    harness.keys("<Alt-d> <Enter>");
    assert!(harness.screen().contains("earlier sessions"), "Enter deletes nothing, and the list is back");
}

#[test]
fn models_stand_in_columns() {
    snapshots("models", |width, height| {
        let mut harness = Harness::new(width, height);
        let row = |name: &str, detail: &str, has_key| ModelRow { name: name.into(), detail: detail.into(), has_key };
        let rows = vec![
            row("anthropic/tide-large", "200k · $3 in, $15 out", true),
            row("openai/ebb-mini", "1.0M · $0.25 in, $2 out", false),
            row("fast", "→ openai/ebb-mini", true),
        ];
        harness.report(Response::LookedUp(LookupResponse::Models {
            rows,
            choose: Some((ModelRole::Main, String::new())),
        }));
        harness
    });
}

fn setting_row(name: &str, value: &str, origin: &str) -> SettingRow {
    let setting = setting(name).expect("a setting");
    SettingRow {
        name: name.into(),
        kind: setting.kind,
        value: value.into(),
        origin: origin.into(),
        default: setting.default.into(),
        help: setting.help.into(),
        location: "/home/mira/.config/rhumb/rhumb.toml:4".into(),
        is_saved: origin.contains(':'),
    }
}

fn settings(width: u16, height: u16) -> Harness {
    let mut harness = Harness::new(width, height);
    let rows = vec![
        setting_row("diff_view", "\"auto\"", "default"),
        setting_row("model", "\"tide-7b\"", "/home/mira/.config/rhumb/rhumb.toml:4"),
        setting_row("map_tokens", "1024", "RHUMB_MAP_TOKENS"),
        setting_row("test", "false", "default"),
        setting_row("timeout", "", "default"),
    ];
    harness.report(Response::LookedUp(LookupResponse::Settings(rows, String::new())));
    harness
}

#[test]
fn settings_show_value_origin_and_help_and_are_kept_after_a_question() {
    snapshots("settings", settings);
    snapshots("settings-changed", |width, height| {
        let mut harness = settings(width, height);
        harness.keys("<Enter>");
        harness
    });
    snapshots("settings-keep", |width, height| {
        let mut harness = settings(width, height);
        harness.keys("<Enter> <Ctrl-s>");
        harness
    });
}

#[test]
fn leaving_with_hunks_undecided_says_what_is_kept() {
    snapshots("leave", |width, height| {
        let mut harness = review(width, height);
        harness.keys("<Alt-4> y <Ctrl-q>");
        assert!(!harness.quit);
        harness
    });
    let mut harness = review(80, 24);
    harness.keys("<Ctrl-q> <Ctrl-q>");
    assert!(harness.quit, "pressed again, it leaves");
    let mut harness = Harness::new(80, 24);
    harness.keys("<Ctrl-q>");
    assert!(harness.quit, "with nothing to lose nothing is asked");
}

#[test]
fn commands_that_lose_much_are_asked_about() {
    let mut harness = review(80, 24);
    harness.keys("<Esc>").keys("type \"/clear\" <Enter>");
    assert!(harness.screen().contains("clear the conversation?"), "{}", harness.screen());
    harness.keys("<Enter>");
    assert!(harness.app.overlays.is_empty() && !harness.screen().contains("not sent any more"));
}

#[test]
fn the_first_start_has_a_card_that_goes_with_the_first_key() {
    snapshots("welcome", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.app.chat.welcome = true;
        harness.draw();
        harness
    });
    let mut harness = Harness::new(80, 24);
    harness.app.chat.welcome = true;
    harness.keys("x");
    assert!(!harness.screen().contains("Any key begins") && harness.app.composer.text() == "x");
}
