//! Completion, the palette, commands from files, and information on request.

use super::harness::{Harness, Scene};
use super::snapshots;

/// The small repository with custom commands.
fn with_commands() -> Scene {
    let explain = "---\ndescription: Explain a file to a newcomer\narguments: FILE\n---\nExplain @$1 to a newcomer.\n";
    let scene = Scene::harbour().replying("A berth is a place at the quay.\n");
    scene
        .file(".rhumb/commands/explain.md", explain)
        .file(".rhumb/commands/git/wip.md", "Write down what is missing.\n")
}

#[test]
fn a_slash_and_a_few_letters_offer_commands() {
    snapshots("offers-commands", |width, height| {
        let mut harness = with_commands().open(width, height);
        harness.keys("type \"/\"").settle().keys("type \"ex\"");
        harness
    });
}

#[test]
fn an_at_sign_offers_files_folders_and_symbols() {
    snapshots("offers-files", |width, height| {
        let mut harness = Scene::harbour().open(width, height);
        harness.keys("type \"see @be\" <Down>").settle();
        harness
    });
}

#[test]
fn the_palette_lists_what_can_be_done_and_why_not() {
    snapshots("palette", |width, height| {
        let mut harness = Harness::new(width, height);
        harness.keys("<Alt-x> type \"accept all\"");
        harness
    });
}

#[test]
fn a_repositorys_command_is_read_before_it_is_sent() {
    let mut harness = with_commands().open(140, 40);
    harness.keys("type \"/\"").settle().keys("type \"explain harbour/ship.py\" <Enter>").settle();
    assert_eq!(harness.app.composer.text(), "Explain @harbour/ship.py to a newcomer.");
    assert!(harness.app.session.turn().is_none(), "nothing was sent");
    harness.keys("<Enter>").settle();
    assert!(harness.screen().contains("A berth is a place at the quay."), "{}", harness.screen());
    harness.keys("type \"/git:wip\" <Enter>").settle();
    assert_eq!(harness.app.composer.text(), "Write down what is missing.");
}

#[test]
fn commands_that_show_something_open_a_page() {
    let mut harness = with_commands().open(140, 40);
    for (command, shown) in [
        ("/map", "harbour/ship.py"),
        ("/settings edit-format", "editor_edit_format   (unset)"),
        ("/doctor", "✓ version"),
        ("/keys", "EVERYWHERE"),
        ("/help", "COMMANDS: MODELS"),
    ] {
        harness.keys(&format!("type \"{command}\" <Enter>")).settle();
        assert!(!harness.app.overlays.is_empty(), "{command}");
        // The last part is below the end of the screen.
        let mut seen = harness.screen().contains(shown);
        for _ in 0..20 {
            harness.keys("<PageDown>");
            seen |= harness.screen().contains(shown);
        }
        assert!(seen, "{command}: {}", harness.screen());
        harness.keys("<Esc>");
    }
    harness.keys("type \"/tokens\" <Enter>").settle();
    assert!(harness.screen().contains("in total"), "{}", harness.screen());
}

#[test]
fn a_report_of_a_fault_is_copied_and_shown() {
    let mut harness = with_commands().open(140, 40);
    harness.keys("type \"/add nowhere.py\" <Enter> type \"/report it broke\" <Enter>").settle();
    let [copied] = harness.copied.as_slice() else { panic!("{:?}", harness.copied) };
    assert!(copied.contains("it broke") && copied.contains("nowhere.py") && copied.contains("rhumb 0"), "{copied}");
}

#[test]
fn the_name_of_an_action_is_a_command_too() {
    let mut harness = Harness::new(140, 40);
    harness.keys("type \"/focus-map\" <Enter>");
    assert_eq!(harness.app.focus, rhumb::tui::action::Pane::Map);
    harness.keys("<Alt-1> type \"/fokus-map\" <Enter>");
    assert!(harness.screen().contains("Did you mean /focus-map?"), "{}", harness.screen());
}
