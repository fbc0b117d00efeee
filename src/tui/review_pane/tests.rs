//! Tests of the rows, the cursor keys, and the number of rows that are computed.

use std::sync::Arc;

use crossterm::event::Event;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rhumb_edit::FileChange;
use rhumb_edit::review::{CommentTarget, Decision, FileReview, HunkId};

use super::*;
use crate::tui::app::ReviewItem;
use crate::tui::theme::{ColorDepth, Theme};
use crate::tui::view;
use rhumb_session::{Connection, Session};

/// An app on a screen, with a review.
struct TestScreen {
    app: App,
    cache: ViewCache,
    screen: Terminal<TestBackend>,
}

fn file(path: &str, base: &str, proposed: &str) -> FileReview {
    let (base, proposed) = (Some(Arc::from(base)), Some(Arc::from(proposed)));
    FileReview::new(path.into(), FileChange::Modify, base, proposed, |_| Vec::new()).unwrap()
}

/// A file of `lines` lines, of which each tenth changes.
fn tenths(path: &str, lines: usize) -> FileReview {
    let base: String = (0..lines).map(|line| format!("line {line}\n")).collect();
    file(path, &base, &base.replace("0\n", "zero\n"))
}

impl TestScreen {
    fn new(files: Vec<FileReview>, width: u16, height: u16) -> Self {
        let (mut session, effects) = Session::start(Connection::None);
        session.review_mut().files = files;
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.focus = Pane::Review;
        let screen = Terminal::new(TestBackend::new(width, height)).unwrap();
        let mut test = Self { app, cache: ViewCache::default(), screen };
        test.draw();
        test
    }

    fn draw(&mut self) {
        let (app, cache) = (&mut self.app, &mut self.cache);
        self.screen.draw(|frame| view::render(app, cache, frame)).unwrap();
    }

    fn keys(&mut self, keys: &str) -> &mut Self {
        for key in keys.split(' ').filter_map(key::parse) {
            self.app.event(Event::Key(key));
            self.draw();
        }
        self
    }

    fn item(&self) -> ReviewItem {
        self.app.review_item().unwrap()
    }

    fn decisions(&self) -> String {
        let review = self.app.session.review();
        review.ids().map(|id| review.decision(id).mark()).collect()
    }

    fn shown(&self) -> String {
        self.screen.backend().to_string()
    }
}

fn hunk(file: usize, hunk: usize) -> HunkId {
    HunkId { file, hunk }
}

#[test]
fn the_heading_says_where_a_link_leads_however_narrow_it_is() {
    for width in [40, 100] {
        let linked = FileReview { stored_at: Some("Makefile".into()), ..tenths("notes.md", 12) };
        let test = TestScreen::new(vec![linked], width, 20);
        assert!(test.shown().contains("→ Makefile  0 of"), "{}", test.shown());
    }
}

#[test]
fn what_fits_is_shown_from_its_beginning() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 1)], 80, 24);
    test.app.review.offset = 50;
    test.draw();
    assert_eq!(test.app.review.offset, 0);
}

#[test]
fn the_cursor_goes_row_by_row_and_says_what_it_is_on() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 40)], 80, 24);
    assert_eq!(test.item(), ReviewItem::Hunk(hunk(0, 0)));
    assert_eq!(test.keys("j").item(), ReviewItem::Line(hunk(0, 0), 0));
    assert_eq!(test.keys("j").item(), ReviewItem::Line(hunk(0, 0), 1));
    assert_eq!(test.keys("j").item(), ReviewItem::Hunk(hunk(0, 0)), "a line below it");
    assert_eq!(test.keys("g g").item(), ReviewItem::File(0));
    assert_eq!(test.keys("] ]").item(), ReviewItem::Hunk(hunk(0, 1)));
    assert_eq!(test.keys("G").item(), ReviewItem::File(0), "the lines up to the end of the file");
    assert_eq!(test.keys("[").item(), ReviewItem::Hunk(hunk(0, 3)));
}

#[test]
fn the_row_under_the_cursor_is_always_on_the_screen() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 200), tenths("b.txt", 50)], 60, 14);
    for key in "j j Ctrl-d Ctrl-d ] ] j k PageUp } k k { G k k [ g g Ctrl-d y y n u F F".split(' ') {
        test.keys(key);
        let (start, _) = test.app.review.rows.place(test.app.review.number());
        assert!(test.app.review.window().contains(&start), "after {key}");
    }
}

#[test]
fn keys_pressed_before_a_frame_find_their_rows() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 60)], 80, 24);
    for key in ["y", "j", "j", "n"] {
        test.app.event(Event::Key(key::parse(key).unwrap()));
    }
    assert_eq!(test.decisions(), "✓✗····");
}

#[test]
fn lines_that_are_selected_are_decided_alone() {
    let mut test = TestScreen::new(vec![file("a", "x\none\ntwo\ny\n", "x\n1\n2\n3\ny\n")], 80, 24);
    test.keys("v");
    assert_eq!(test.app.selected_lines(), Some((hunk(0, 0), 0..1)));
    test.keys("j j");
    assert_eq!(test.app.selected_lines(), Some((hunk(0, 0), 0..3)));
    test.keys("j j j j");
    assert_eq!(test.app.selected_lines(), Some((hunk(0, 0), 0..5)), "it ends with the hunk");
    test.keys("k k k y");
    let item = test.app.session.review().hunk(hunk(0, 0)).unwrap();
    let said: Vec<Decision> = (0..5).map(|line| item.line_decision(line)).collect();
    let (yes, open) = (Decision::Accepted, Decision::Pending);
    assert_eq!(said, [yes, yes, open, open, open]);
    assert_eq!(test.app.selected_lines(), None);
    test.keys("u");
    assert_eq!(test.decisions(), "·");
    test.keys("v Esc");
    assert_eq!((test.app.selected_lines(), test.app.focus), (None, Pane::Review));
}

#[test]
fn lines_that_are_selected_become_a_hunk_of_their_own() {
    let base = "x\none = 1\ntwo = 2\nthree = 3\ny\n";
    let mut test = TestScreen::new(vec![file("a", base, "x\none = 10\ntwo = 20\nthree = 30\ny\n")], 80, 24);
    test.keys("v j k j Esc j v s");
    let lines = |test: &TestScreen| {
        test.app.session.review().files[0].hunks.iter().map(|item| item.hunk.clone()).collect::<Vec<_>>()
    };
    let of = |base, proposed| rhumb_text::diff::Hunk { base, proposed };
    assert_eq!(lines(&test), [of(1..3, 1..3), of(3..4, 3..4)], "{}", test.app.hint.text());
    assert_eq!(test.app.review.cursor, hunk(0, 1));
    assert_eq!((test.app.selected_lines(), test.decisions().as_str()), (None, "··"));
    test.keys("u g g ] v j s");
    assert_eq!(lines(&test), [of(1..3, 1..3), of(3..4, 3..4)]);
    test.keys("u v j j j j j s");
    assert_eq!((lines(&test).len(), test.app.hint.text()), (1, "these lines are the whole hunk"));
}

#[test]
fn side_by_side_a_row_of_two_lines_is_decided_in_one_step() {
    let mut test = TestScreen::new(vec![file("a", "x\none = 1\ntwo = 2\ny\n", "x\none = 10\ntwo = 20\ny\n")], 100, 24);
    test.keys("t v y");
    let item = test.app.session.review().hunk(hunk(0, 0)).unwrap();
    let said: String = (0..4).map(|line| item.line_decision(line).mark()).collect();
    assert_eq!(said, "✓·✓·");
    test.keys("u");
    assert!(!test.app.session.review().hunk(hunk(0, 0)).unwrap().has_line_decisions());
}

#[test]
fn a_hunk_is_split_at_the_cursor_and_joined_again() {
    let mut test = TestScreen::new(vec![file("a", "x\ny\n", "x\none\ntwo\nthree\ny\n")], 80, 24);
    test.keys("j j j s");
    assert_eq!(test.decisions().chars().count(), 2, "{}", test.app.hint.text());
    test.keys("g g ] S");
    assert_eq!(test.decisions().chars().count(), 1, "{}", test.app.hint.text());
    test.keys("S");
    assert_eq!(test.app.hint.text(), "no hunk follows in this file");
    let mut test = TestScreen::new(vec![file("a", "x\n", "x\ny\n")], 80, 24);
    test.keys("s");
    assert_eq!(test.app.hint.text(), "a single line cannot be split");
}

#[test]
fn nobody_decides_where_there_is_no_hunk() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 40)], 80, 24);
    test.keys("g g y");
    assert_eq!((test.decisions().as_str(), test.app.hint.text()), ("····", "this is the hunk: press the key again"));
    assert_eq!(test.keys("y").decisions(), "✓···");
}

#[test]
fn decided_hunks_fold_and_open_again() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 40)], 80, 40);
    test.keys("y n");
    assert_eq!(test.shown().matches("Enter shows").count(), 2, "{}", test.shown());
    test.keys("[ Enter");
    assert_eq!(test.shown().matches("Enter shows").count(), 1, "{}", test.shown());
    test.keys("f");
    assert_eq!(test.shown().matches("Enter shows").count(), 2);
    test.keys("F");
    assert_eq!(test.shown().matches("Enter shows").count(), 0);
    test.keys("F u");
    assert!(test.shown().contains("· pending") && test.shown().matches("Enter shows").count() == 1, "{}", test.shown());
}

#[test]
fn what_one_stays_on_does_not_fold() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 20)], 80, 40);
    test.keys("Space");
    assert!(test.shown().contains("✓ accepted") && test.shown().contains("line 0"), "{}", test.shown());
    assert_eq!(test.shown().matches("Enter shows").count(), 0);
}

#[test]
fn unchanged_lines_open_in_steps_and_at_once() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 100)], 80, 60);
    let before = test.app.review.rows.len();
    test.keys("] +");
    assert_eq!(test.app.review.rows.len(), before + 4, "three lines instead of a row that counts them, twice");
    test.keys("-");
    assert_eq!(test.app.review.rows.len(), before);
    let mut test =
        TestScreen::new(vec![file("a", &"x\n".repeat(100), &("x\n".repeat(50) + "y\n" + &"x\n".repeat(50)))], 80, 60);
    assert!(test.shown().contains("⋯ 47 unchanged lines"), "{}", test.shown());
    test.keys("g g j Enter");
    assert!(!test.shown().contains('⋯') && test.shown().contains(" 47   x"), "{}", test.shown());
    test.keys("] + G");
    assert!(test.shown().contains("⋯ 37 unchanged lines to the end"), "{}", test.shown());
    test.keys("+ + G");
    assert!(test.shown().contains("⋯ 17 unchanged lines"), "{}", test.shown());
}

#[test]
fn only_what_changed_is_made_anew() {
    let files: Vec<FileReview> = (0..50).map(|number| tenths(&format!("src/{number}.txt"), 100)).collect();
    let mut test = TestScreen::new(files, 160, 50);
    let made = |test: &TestScreen| test.app.review.rows.made;
    let first = made(&test);
    assert_eq!(first, 51, "each file, and what found no location");
    test.keys("j j ] ] } G g g Ctrl-d i / l i n e Enter ; ,");
    assert_eq!(made(&test), first, "moves make nothing anew");
    test.keys("] y");
    assert_eq!(made(&test), first + 1, "a decision folds one hunk: its file");
    test.keys("p");
    assert!(made(&test) <= first + 2);
    test.app.display.fold_decided = false;
    test.draw();
    let before = made(&test);
    test.keys("y n y");
    assert_eq!(made(&test), before, "where nothing folds, decisions change no rows");
}

#[test]
fn a_search_finds_folded_lines_and_opens_them() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 40)], 80, 24);
    test.keys("y y y y / 2 0");
    assert!(test.shown().contains("/20"), "{}", test.shown());
    test.keys("Enter");
    assert_eq!(test.item(), ReviewItem::Line(hunk(0, 2), 0));
    test.keys(";");
    assert!(test.app.hint.text().contains("1 of 1"), "{}", test.app.hint.text());
    test.keys("Esc");
    assert!(!test.app.review.search.is_on());
    test.keys("/ z z z Enter");
    assert_eq!(test.app.hint.text(), "zzz was not found in the review");
    test.keys("g g / z e r o Enter ; ; ; ;");
    assert_eq!(test.app.hint.text(), "1 of 4, wrapped around");
    test.keys(",");
    assert_eq!(test.app.hint.text(), "4 of 4, wrapped around");
}

#[test]
fn a_click_puts_the_cursor_there_and_twice_opens() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 40), tenths("b.txt", 40)], 80, 24);
    let number = test.app.review.rows.locate(Row::Hunk { id: hunk(0, 1), folded: false });
    test.app.click_in_review(number, false);
    assert_eq!(test.item(), ReviewItem::Hunk(hunk(0, 1)));
    test.keys("y [");
    let number = test.app.review.rows.locate(Row::Hunk { id: hunk(0, 1), folded: true });
    test.app.click_in_review(number, true);
    assert_eq!(test.app.review.at, Row::Hunk { id: hunk(0, 1), folded: false });
    test.app.scroll_review(1_000);
    assert!(matches!(
        test.item(),
        ReviewItem::Line(HunkId { file: 1, .. }, _) | ReviewItem::Hunk(HunkId { file: 1, .. }) | ReviewItem::File(1)
    ));
}

#[test]
fn comments_stand_below_what_they_are_about() {
    let mut test = TestScreen::new(vec![tenths("a.txt", 20)], 80, 40);
    let review = test.app.session.review_mut();
    review.comment(CommentTarget::File(0), "of the file");
    review.comment(CommentTarget::Hunk(hunk(0, 0)), "of the hunk");
    review.comment(CommentTarget::Line(hunk(0, 0), 1), "of the line");
    test.draw();
    let shown = test.shown();
    let place = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}\n{shown}"));
    assert!(place("a.txt") < place("✎ of the file") && place("✎ of the file") < place("· pending"));
    assert!(place("· pending") < place("✎ of the hunk") && place("line zero") < place("✎ of the line"));
    test.keys("g g j j j j j j");
    assert_eq!(test.item(), ReviewItem::Line(hunk(0, 0), 1), "{shown}");
}

#[test]
fn the_list_of_files_leads_there() {
    let files = vec![tenths("src/a.txt", 20), tenths("src/b.txt", 20), tenths("c.txt", 20)];
    let mut test = TestScreen::new(files, 80, 24);
    assert!(!test.shown().contains("src/ "));
    test.keys("T j j");
    assert_eq!(test.item(), ReviewItem::Hunk(hunk(2, 0)), "{}", test.shown());
    assert!(test.shown().contains("· src/"), "{}", test.shown());
    test.keys("Enter j");
    assert_eq!(test.item(), ReviewItem::Line(hunk(2, 0), 0));
    assert!(!test.shown().contains("· src/"), "{}", test.shown());
}

#[test]
fn what_is_left_out_of_a_long_line_is_told_where_it_ends() {
    // Independent of the wrapping.
    let letters = |test: &TestScreen| test.shown().chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let long = format!("x = '{}'{}; hidden()\n", "a".repeat(1_980), " ".repeat(200));
    let mut test = TestScreen::new(vec![file("a.py", "", &long)], 200, 60);
    for keys in ["Alt-z", "|"] {
        let shown = letters(test.keys(keys));
        assert!(!shown.contains("hidden") && shown.contains("bytesmorearenotshown"), "{keys}: {}", test.shown());
    }
    let mut test = TestScreen::new(vec![file("a.py", "", &("b".repeat(2_000) + "\n"))], 200, 60);
    assert!(!letters(test.keys("Alt-z")).contains("notshown"));
}

#[test]
fn of_a_minified_file_what_changed_is_shown_and_marked() {
    let long = |middle: &str| format!("{}{middle}{}\n", "let a=1;".repeat(2_000), "let z=2;".repeat(2_000));
    let mut test = TestScreen::new(vec![file("a.min.js", &long("before();"), &long("after();"))], 160, 60);
    for keys in ["Alt-z", "|"] {
        let shown: String = test.keys(keys).shown().split_whitespace().collect();
        assert!(shown.contains("before()") && shown.contains("after()"), "{keys}: {}", test.shown());
    }
    test.keys("/ a f t e r ( Enter");
    assert!(test.shown().contains("1 of 1"), "{}", test.shown());
}
