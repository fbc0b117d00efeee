//! Tests by keys, and of the drawn overlay.

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Rect;

use super::*;
use crate::tui::theme::{ColorDepth, Role, Theme};

impl Picker {
    pub(crate) fn listed(&self) -> impl Iterator<Item = String> {
        self.ranking.matches.iter().map(|at| self.items.text(*at, &mut String::new()).to_owned())
    }
}

/// Presses keys written as words: `down`, `ctrl-n`, or letters to type.
fn press(picker: &mut Picker, keys: &str) -> PickerOutcome {
    let mut outcome = PickerOutcome::Open;
    for word in keys.split_whitespace() {
        let (modifiers, name) = match word.strip_prefix("ctrl-") {
            Some(rest) => (KeyModifiers::CONTROL, rest),
            None => (KeyModifiers::NONE, word),
        };
        let codes = match name {
            "down" => vec![KeyCode::Down],
            "up" => vec![KeyCode::Up],
            "pgdn" => vec![KeyCode::PageDown],
            "pgup" => vec![KeyCode::PageUp],
            "tab" => vec![KeyCode::Tab],
            "enter" => vec![KeyCode::Enter],
            "esc" => vec![KeyCode::Esc],
            "space" => vec![KeyCode::Char(' ')],
            "bs" => vec![KeyCode::Backspace],
            letters => letters.chars().map(KeyCode::Char).collect(),
        };
        for code in codes {
            outcome = picker.key(KeyEvent::new(code, modifiers));
            if let Some(ranked) = picker.take_job().and_then(RankJob::run) {
                assert!(picker.put(ranked));
            }
        }
    }
    outcome
}

fn ships() -> Picker {
    let names = ["src/hull/keel.rs", "src/hull/mod.rs", "src/rigging/mast.rs", "docs/keel-laying.md", "Makefile"];
    Picker::new("Files", names.map(String::from).to_vec()).paths()
}

fn listed(picker: &Picker) -> Vec<String> {
    picker.listed().collect()
}

#[test]
fn a_query_narrows_and_ranks() {
    let mut picker = ships();
    assert_eq!(picker.match_count(), 5);
    press(&mut picker, "keel");
    assert_eq!(listed(&picker), ["src/hull/keel.rs", "docs/keel-laying.md"]);
    press(&mut picker, "space md");
    assert_eq!(listed(&picker), ["docs/keel-laying.md"]);
    press(&mut picker, "ctrl-u");
    assert_eq!(picker.match_count(), 5);
    assert_eq!(listed(&picker)[0], "src/hull/keel.rs", "without a query the order is the one given");
}

#[test]
fn narrowing_gives_what_ranking_anew_gives() {
    for query in ["k", "kl", "src", "src !hull", "^src", "rs$", "M", "mak", "é", "hull mod"] {
        let mut typed = ships();
        for c in query.chars() {
            typed.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        }
        let mut whole = ships();
        whole.set_query(query);
        assert_eq!(listed(&typed), listed(&whole), "{query}");
    }
}

#[test]
fn the_selection_wraps_and_enter_chooses() {
    let mut picker = ships();
    assert_eq!(press(&mut picker, "up enter"), PickerOutcome::Picked(vec![4]));
    assert_eq!(press(&mut picker, "down down enter"), PickerOutcome::Picked(vec![1]));
    assert_eq!(press(&mut picker, "ctrl-p enter"), PickerOutcome::Picked(vec![0]));
    assert_eq!(press(&mut picker, "esc"), PickerOutcome::Cancelled);
}

#[test]
fn enter_with_nothing_to_choose_stays_open() {
    let mut picker = ships();
    assert_eq!(press(&mut picker, "zzz enter"), PickerOutcome::Open);
    assert_eq!(press(&mut Picker::new("Empty", Vec::new()), "down pgdn tab enter"), PickerOutcome::Open);
}

#[test]
fn marks_outlive_the_query() {
    let mut picker = ships().multiple();
    press(&mut picker, "mast tab ctrl-u tab");
    assert_eq!(press(&mut picker, "enter"), PickerOutcome::Picked(vec![0, 2]));
    press(&mut picker, "up tab");
    assert_eq!(press(&mut picker, "enter"), PickerOutcome::Picked(vec![2]), "a second Tab takes the mark away");
}

#[test]
fn only_a_multiple_picker_marks() {
    assert_eq!(press(&mut ships(), "tab tab enter"), PickerOutcome::Picked(vec![2]));
}

#[test]
fn pages_follow_the_height_of_the_list() {
    let mut picker = Picker::new("Many", (0..200).map(|at| format!("item {at}")).collect());
    picker.fit(Rect::new(0, 0, 80, 24));
    assert_eq!(press(&mut picker, "pgdn enter"), PickerOutcome::Picked(vec![15]));
    assert_eq!(press(&mut picker, "pgdn pgdn pgup enter"), PickerOutcome::Picked(vec![30]));
}

#[test]
fn a_hundred_thousand_items_are_ranked() {
    let mut picker =
        Picker::new("Many", (0..100_000).map(|at| format!("src/part_{}/file_{at}.rs", at % 97)).collect()).paths();
    press(&mut picker, "file_99999");
    assert_eq!(listed(&picker), ["src/part_89/file_99999.rs"]);
}

#[test]
fn many_items_are_ranked_elsewhere_and_only_the_newest_query_counts() {
    let items = (0..20_000).map(|at| format!("file_{at}")).collect();
    let mut picker = Picker::new("Many", items);
    let key = |c: char| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE);
    "file_1".chars().for_each(|c| drop(picker.key(key(c))));
    let late = picker.take_job().unwrap();
    picker.key(key('9'));
    assert!(late.run().is_none(), "nobody wants that any more");
    assert_eq!(picker.match_count(), 20_000, "what was listed stays until then");
    let ranked = picker.take_job().unwrap().run().unwrap();
    assert!(picker.put(ranked.clone()) && picker.match_count() < 20_000);
    let mut other = Picker::new("Other", vec!["x".into()]);
    assert!(!other.put(ranked), "it is for another list");
}

#[test]
fn enter_never_chooses_from_the_list_of_an_earlier_query() {
    let items = (0..20_000).map(|at| format!("file_{at}")).collect();
    let mut picker = Picker::new("Many", items);
    "19999".chars().for_each(|c| drop(picker.key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE))));
    let picked = picker.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE));
    assert_eq!(picked, PickerOutcome::Picked(vec![19_999]));
}

#[test]
fn hits_are_found_in_text_that_is_not_ascii() {
    let mut picker = Picker::new("Ports", vec!["Århus — østhavn".into(), "e\u{301}tat".into()]);
    press(&mut picker, "havn");
    assert_eq!(listed(&picker), ["Århus — østhavn"]);
    assert_eq!(picker.ranking.highlights(&["Århus — østhavn"]), [vec![11, 12, 13, 14]]);
}

fn drawn(picker: &Picker, columns: u16, lines: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
    let draw = |frame: &mut ratatui::Frame<'_>| {
        picker.draw(frame, frame.area(), &mut crate::tui::mouse::Hits::default(), &theme);
    };
    terminal.draw(draw).unwrap();
    terminal
}

#[test]
fn the_overlay_shows_query_items_marks_and_keys() {
    let mut picker = ships().multiple().details(vec!["12 kB".into(), String::new(), String::new(), "1 kB".into()]);
    press(&mut picker, "keel tab");
    assert_snapshot!(drawn(&picker, 50, 14).backend(), @r#"
    "                                                  "
    "                                                  "
    "  ╭ Files ─────────────────── 1 marked, 2 of 5 ╮  "
    "  │› keel                                      │  "
    "  │  ✓ src/hull/keel.rs                  12 kB │  "
    "  │▸   docs/keel-laying.md                1 kB │  "
    "  │                                            │  "
    "  │                                            │  "
    "  │                                            │  "
    "  │                                            │  "
    "  │  Enter choose  Esc close  Tab mark  ↑↓ move│  "
    "  ╰────────────────────────────────────────────╯  "
    "                                                  "
    "                                                  "
    "#);
}

#[test]
fn the_selection_spans_the_whole_row() {
    let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
    let terminal = drawn(&ships().multiple(), 60, 14);
    let selected = theme.style(Role::Selection).bg;
    let cells = &terminal.backend().buffer().content;
    assert_eq!(cells.iter().filter(|cell| Some(cell.bg) == selected).count(), 60 - 2 * 2 - 2);
}

#[test]
fn long_paths_keep_their_end_and_their_hits() {
    let mut picker = Picker::new("Files", vec!["a/very/long/way/down/into/the/hold/keel.rs".into()]).paths();
    press(&mut picker, "keel");
    let terminal = drawn(&picker, 34, 10);
    assert_snapshot!(terminal.backend(), @r#"
    "╭ Files ───────────────── 1 of 1 ╮"
    "│› keel                          │"
    "│▸ …y/down/into/the/hold/keel.rs │"
    "│                                │"
    "│                                │"
    "│                                │"
    "│                                │"
    "│                                │"
    "│  Enter choose  Esc close       │"
    "╰────────────────────────────────╯"
    "#);
    let theme = Theme::builtin("rhumb-dark", ColorDepth::True).unwrap();
    let hit = theme.style(Role::Match).fg;
    let buffer = terminal.backend().buffer();
    let hits: String = buffer.content.iter().filter(|cell| Some(cell.fg) == hit).map(|cell| cell.symbol()).collect();
    assert!(hits.contains("keel"), "{hits}");
}

#[test]
fn a_query_longer_than_the_line_shows_its_end() {
    let mut picker = ships();
    picker.paste(&"0123456789".repeat(6));
    let mut terminal = drawn(&picker, 30, 10);
    let at = terminal.get_cursor_position().unwrap();
    let buffer = terminal.backend().buffer();
    assert_eq!(buffer[(at.x - 1, at.y)].symbol(), "9");
    assert_eq!(buffer[(at.x, at.y)].symbol(), " ");
}

#[test]
fn any_screen_is_large_enough_not_to_panic() {
    for (columns, lines) in [(1, 1), (3, 2), (8, 4), (12, 5), (200, 3), (5, 60)] {
        drawn(&ships(), columns, lines);
    }
}

#[test]
fn a_long_list_keeps_its_cursor_and_marks_when_its_items_change() {
    let names = |first: usize| (first..9_000).map(|number| format!("file{number}")).collect();
    let mut before = Picker::new("Files", names(100)).multiple();
    press(&mut before, "file4 down tab down");
    let mut after = Picker::new("Files", names(0)).multiple();
    after.carry_over(&before);
    let ranked = after.take_job().and_then(RankJob::run).expect("a long list is ranked as a job");
    assert!(after.put(ranked));
    let text = |picker: &Picker, item: usize| picker.items.text(item, &mut String::new()).to_owned();
    assert_eq!(text(&after, after.selected().unwrap()), text(&before, before.selected().unwrap()));
    let marks = |picker: &Picker| picker.marked.iter().map(|item| text(picker, *item)).collect::<Vec<_>>();
    assert_eq!((marks(&after), marks(&after).len()), (marks(&before), 1));
}
