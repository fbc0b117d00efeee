//! Tests of the review's actions beyond single decisions, by keys.

use crate::tui::prelude::*;
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::Event;
use rhumb_edit::review::HunkMark;
use rhumb_edit::{EditFormat, FileChange, FileProposal, Flag, Outcome, Proposal, Status};

use crate::clock::Clock;
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Editing, Task};
use crate::tui::overlay::{Confirm, SendBox, WriteBox};
use crate::tui::theme::{ColorDepth, Theme};
use rhumb_session::{CommitChoice, Connection, Effect, Entry, LookupResponse, Response, Session, Written};

const BASE: &str = "fn a() {}\nfn b() {}\nfn c() {}\nfn d() {}\nfn e() {}\n";
const PROPOSED: &str = "fn a1() {}\nfn b() {}\nfn c1() {}\nfn d() {}\nfn e1() {}\n";

fn file(path: &str) -> FileProposal {
    let (base, proposed) = (Some(Arc::from(BASE)), Some(Arc::from(PROPOSED)));
    FileProposal { path: path.into(), change: FileChange::Modify, base, proposed }
}

fn refused(quote: &str, replacement: &str) -> Outcome {
    Outcome {
        path: "b.rs".into(),
        format: EditFormat::Diff,
        status: Status::Refused,
        strategy: None,
        confidence: 0.0,
        lines: None,
        reason: "no match".into(),
        candidates: Vec::new(),
        nearest: Vec::new(),
        flags: Vec::new(),
        quote: quote.into(),
        replacement: replacement.into(),
        reply_lines: (1, 2),
        edits: Vec::new(),
    }
}

fn with(proposal: Proposal) -> App {
    let (session, effects) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
    let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
    app.review.guard.clock = Clock::still();
    app.handle_response(Response::Head("main".into()));
    app.handle_response(Response::Proposed { request: "do it".into(), proposal });
    app.focus = Pane::Review;
    app
}

fn app() -> App {
    with(Proposal { files: vec![file("a.rs")], ..Proposal::default() })
}

#[test]
fn accepting_all_leaves_what_tools_run_to_a_yes_of_its_own() {
    let mut proposal = Proposal { files: vec![file("Makefile"), file("a.rs")], ..Proposal::default() };
    let hunks = rhumb_text::diff::hunks(BASE, PROPOSED);
    let later = |hunk| rhumb_edit::HunkFlags { path: "Makefile".into(), hunk, flags: vec![Flag::RunsLater] };
    proposal.flags = hunks.into_iter().map(later).collect();
    let mut app = with(proposal);
    press(&mut app, "g y");
    assert_eq!((app.session.review().counts().accepted, app.session.review().counts().pending), (3, 3));
    assert!(app.hint.text().contains("Makefile must be accepted on its own"), "{}", app.hint.text());
    press(&mut app, "g g Y");
    assert_eq!(app.session.review().counts().accepted, 6, "{}", app.hint.text());
}

fn press(app: &mut App, keys: &str) -> Vec<Task> {
    keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
}

fn effects(tasks: Vec<Task>) -> Vec<Effect> {
    tasks.into_iter().filter_map(|task| if let Task::Run(effect) = task { Some(effect) } else { None }).collect()
}

fn written(tasks: Vec<Task>) -> (String, CommitChoice) {
    let found = effects(tasks).into_iter().find_map(|effect| match effect {
        Effect::Write { files, commit, .. } => Some((files[0].content.clone().unwrap_or_default(), commit.choice)),
        _ => None,
    });
    found.expect("something is written")
}

#[test]
fn a_comment_is_written_changed_and_removed() {
    let mut app = app();
    press(&mut app, "c w h y Alt-Enter n o t Enter");
    let comments = |app: &App| app.session.review().comments().map(|(_, text)| text.to_owned()).collect::<Vec<_>>();
    assert_eq!(comments(&app), ["why\nnot"]);
    press(&mut app, "c ! Esc");
    assert!(!app.overlays.is_empty(), "the change would be lost");
    press(&mut app, "Esc");
    assert_eq!((comments(&app), app.overlays.is_empty()), (vec!["why\nnot".to_owned()], true));
    press(&mut app, "c Ctrl-u Backspace Ctrl-u Enter");
    assert_eq!(comments(&app), [""; 0]);
    press(&mut app, "u");
    assert_eq!(comments(&app), ["why\nnot"]);
    press(&mut app, "C o k Enter");
    assert_eq!(app.session.review().files[0].comment, "ok");
}

#[test]
fn a_comment_whose_hunk_is_gone_goes_into_the_composer() {
    let mut app = app();
    press(&mut app, "c h m");
    let other = FileProposal { proposed: Some(BASE.replace("fn a()", "fn x()").into()), ..file("a.rs") };
    app.handle_response(Response::Proposed {
        request: "do it".into(),
        proposal: Proposal { files: vec![other], ..Proposal::default() },
    });
    press(&mut app, "Enter");
    assert_eq!(app.composer.text(), "a.rs, line 1: hm");
}

#[test]
fn what_is_sent_is_shown_first_and_what_was_accepted_stays() {
    let mut app = app();
    assert!(press(&mut app, "m").is_empty() && app.overlays.is_empty());
    assert!(app.hint.text().contains("there is no rejected hunk"), "{}", app.hint.text());
    press(&mut app, "y n c h m Enter m");
    assert!(app.overlays.is_top::<SendBox>(), "{:?}", app.overlays);
    let sent = effects(press(&mut app, "y"));
    let asked = sent.iter().find_map(|effect| if let Effect::Ask(order) = effect { Some(&order.draft) } else { None });
    let text = asked.expect("a request");
    assert!(text.contains("- a.rs: 1 accepted, not written yet; 1 rejected; 1 not decided"), "{text}");
    assert!(text.contains("a.rs, line 5 (not decided):") && text.contains("\nhm\n"), "{text}");
    assert!(matches!(app.session.transcript()[0], Entry::User { .. }));
    assert_eq!(app.session.review().counts().accepted, 1);
}

#[test]
fn what_is_to_be_sent_can_be_changed_in_the_composer() {
    let mut app = app();
    press(&mut app, "n m e");
    assert!(app.composer.text().starts_with("This is what became of your changes."));
    assert_eq!((app.focus, app.overlays.is_empty()), (Pane::Chat, true));
}

#[test]
fn what_was_noted_on_a_written_hunk_is_not_forgotten() {
    let mut app = app();
    press(&mut app, "c d o c s Enter g y w");
    app.handle_response(Response::Wrote(Written { paths: vec!["a.rs".into()], ..Written::default() }));
    assert!(app.session.review().is_empty());
    let text = app.session.feedback().expect("something to tell");
    assert!(text.contains("a.rs, line 1 (accepted and written):") && text.contains("docs"), "{text}");
}

#[test]
fn a_write_asks_what_becomes_of_the_hunks_that_wait() {
    for (keys, wanted) in [("y", "fn a1() {}\nfn b() {}\nfn c() {}"), ("r", "fn a1() {}\nfn b() {}\nfn c() {}")] {
        let mut app = app();
        assert!(press(&mut app, "y w").is_empty());
        assert!(app.overlays.is_top::<WriteBox>(), "{:?}", app.overlays);
        let (text, commit) = written(press(&mut app, keys));
        assert!(text.starts_with(wanted), "{text}");
        assert_eq!(commit, CommitChoice::Commit);
        assert_eq!(app.session.review().counts().rejected, if keys == "r" { 2 } else { 0 });
    }
    let mut app = app();
    assert_eq!(written(press(&mut app, "g y w")).1, CommitChoice::BySetting, "nothing waits, so nothing is asked");
}

#[test]
fn the_other_way_to_write_is_without_the_commit() {
    let mut app = app();
    assert_eq!(written(press(&mut app, "g y W")).1, CommitChoice::NoCommit);
    let mut app = self::app();
    assert_eq!(written(press(&mut app, "y W c y")).1, CommitChoice::Commit, "c changes it back");
    let mut app = self::app();
    app.session.set_auto_commit(false);
    assert_eq!(written(press(&mut app, "g y W")).1, CommitChoice::Commit);
}

fn with_refused() -> App {
    with(Proposal {
        outcomes: vec![refused("fn b()\n", "fn bee() {}\n"), refused("x\n", "y\n")],
        ..Proposal::default()
    })
}

#[test]
fn an_edit_without_a_place_is_put_in_by_hand() {
    let mut app = with_refused();
    let tasks = effects(press(&mut app, "e"));
    assert!(matches!(tasks.as_slice(), [Effect::Lookup(_)]), "its file is read: {tasks:?}");
    let text = Ok(Arc::from(BASE));
    app.handle_response(Response::LookedUp(LookupResponse::File { path: "b.rs".into(), text }));
    press(&mut app, "Enter");
    assert_eq!(app.session.review().refused.len(), 1);
    let file = &app.session.review().files[0];
    assert_eq!(file.proposed.as_deref(), Some(BASE.replace("fn b()", "fn bee()").as_str()));
    assert_eq!((file.hunks[0].marks.as_slice(), file.counts().pending), (&[HunkMark::ByHand][..], 1));
    press(&mut app, "u");
    assert_eq!((app.session.review().files.len(), app.session.review().refused.len()), (0, 2));
}

#[test]
fn an_edit_without_a_place_is_put_in_with_the_editor() {
    let mut app = with_refused();
    press(&mut app, "e");
    app.handle_response(Response::LookedUp(LookupResponse::File { path: "b.rs".into(), text: Ok(Arc::from(BASE)) }));
    let tasks = press(&mut app, "e");
    let Some(Task::Edit(what @ Editing::Review(draft))) = tasks.last() else { panic!("{tasks:?}") };
    assert_eq!(draft.line, 2);
    assert!(
        draft
            .text
            .contains("<<<<<<< the file says\nfn b() {}\n||||||| the edit quotes\nfn b()\n=======\nfn bee() {}\n")
    );
    app.edited(what, &draft.text.replace("fn c()", "fn see()"));
    assert!(
        app.session.review().files.is_empty() && app.composer.text().contains("fn see()"),
        "the marks are still there"
    );
    app.edited(what, &BASE.replace("fn b()", "fn bee()"));
    assert_eq!((app.session.review().counts().accepted, app.session.review().refused.len()), (1, 1));
}

#[test]
fn the_keys_for_the_next_hunk_stop_at_edits_without_a_place() {
    let mut app = with(Proposal {
        files: vec![file("a.rs")],
        outcomes: vec![refused("fn x()\n", "fn y() {}\n"), refused("x\n", "y\n")],
        ..Proposal::default()
    });
    press(&mut app, "g g");
    let mut after = |key: &str| {
        press(&mut app, key);
        app.lay_out_review(None);
        app.refused_here()
    };
    assert_eq!([after("]"), after("]"), after("["), after("[")], [Some(1), None, Some(1), Some(0)]);
}

#[test]
fn edits_without_a_place_are_asked_for_again_or_put_away() {
    let mut app = with_refused();
    let asked = |tasks: Vec<Task>| {
        let order = effects(tasks).into_iter().find_map(|effect| match effect {
            Effect::Ask(order) => Some(order.draft),
            _ => None,
        });
        order.expect("a request")
    };
    let one = asked(press(&mut app, "r"));
    assert!(one.starts_with("1 edit") && one.contains("fn b()") && !one.contains("2. "), "{one}");
    let mut app = with_refused();
    assert!(asked(press(&mut app, "R")).starts_with("2 edits"));
    let mut app = with_refused();
    press(&mut app, "d");
    assert_eq!(
        (app.session.review().refused.len(), app.hint.text()),
        (1, "put away; still without a location: 1 · u undoes it")
    );
    press(&mut app, "u");
    assert_eq!(app.session.review().refused.len(), 2);
}

#[test]
fn an_edit_without_a_place_is_not_decided_and_comes_back_under_the_cursor() {
    let mut app = with(Proposal {
        files: vec![file("a.rs")],
        outcomes: vec![refused("fn x()\n", "fn y() {}\n"), refused("x\n", "y\n")],
        ..Proposal::default()
    });
    press(&mut app, "g g");
    app.lay_out_review(None);
    for key in ["y", "n", "Space", "Y"] {
        press(&mut app, key);
        assert!(app.hint.text().contains("this edit has no location yet"), "{key}: {}", app.hint.text());
        assert_eq!((app.refused_here(), app.session.review().counts().pending), (Some(0), 3), "{key}");
    }
    press(&mut app, "d ]");
    assert_eq!(app.refused_here(), None);
    press(&mut app, "u");
    app.lay_out_review(None);
    assert_eq!(app.refused_here(), Some(0), "what was put away is back, and there");
    assert!(app.hint.text().starts_with("taken back"), "{}", app.hint.text());
}

#[test]
fn more_that_is_proposed_leaves_the_cursor_where_it_is() {
    let mut app = with(Proposal { files: vec![file("a.rs"), file("c.rs")], ..Proposal::default() });
    press(&mut app, "} ]");
    let more = |outcomes| Proposal { files: vec![file("b.rs")], outcomes, ..Proposal::default() };
    app.handle_response(Response::Proposed { request: "do it".into(), proposal: more(vec![refused("x\n", "y\n")]) });
    let at = app.hunk_here().unwrap();
    assert_eq!((app.session.review().files[at.file].path.as_str(), at.hunk), ("c.rs", 1));
    press(&mut app, "g g");
    assert_eq!(app.refused_here(), Some(0));
    app.handle_response(Response::Proposed {
        request: "do it".into(),
        proposal: more(vec![refused("v\n", "w\n"), refused("x\n", "y\n")]),
    });
    assert_eq!(app.refused_here(), Some(1));
}

#[test]
fn what_loses_its_place_comes_first_and_under_the_cursor() {
    let mut app = with(Proposal {
        files: vec![file("a.rs")],
        outcomes: vec![refused("fn x()\n", "fn y() {}\n")],
        ..Proposal::default()
    });
    app.focus = Pane::Chat;
    app.go_to_refused(0);
    let changed = |name: &str, text: &str| Some(Arc::from(text.replace(name, "fn mine()").as_str()));
    app.handle_response(Response::Reread { path: "a.rs".into(), text: changed("fn a()", BASE) });
    app.lay_out_review(None);
    assert_eq!(app.refused_here(), Some(1), "who looks elsewhere finds the cursor where it was");
    app.focus = Pane::Review;
    app.handle_response(Response::Reread {
        path: "a.rs".into(),
        text: changed("fn c()", &BASE.replace("fn a()", "fn mine()")),
    });
    app.lay_out_review(None);
    assert_eq!(app.refused_here(), Some(0));
    let conflicts: Vec<bool> = app.session.review().refused.iter().map(Outcome::is_conflict).collect();
    assert_eq!((conflicts, app.session.review().conflicts()), (vec![true, true, false], 2));
    assert!(app.hint.text().contains("changed on disk"), "{}", app.hint.text());
}

#[test]
fn a_conflict_holds_its_file_back_and_no_other() {
    let mut app = with(Proposal { files: vec![file("a.rs"), file("b.rs")], ..Proposal::default() });
    press(&mut app, "g y");
    let mine = BASE.replace("fn a()", "fn mine()");
    app.handle_response(Response::Reread { path: "a.rs".into(), text: Some(mine.as_str().into()) });
    let effects = effects(press(&mut app, "w"));
    let [Effect::Write { files, .. }] = effects.as_slice() else { panic!("{effects:?}") };
    assert_eq!(files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["b.rs"]);
    app.handle_response(Response::Wrote(Written { paths: vec!["b.rs".into()], ..Written::default() }));
    app.review.guard.clock.advance(Duration::from_secs(1));
    app.open_refused(0);
    press(&mut app, "Enter y");
    assert!(app.session.review().refused.is_empty());
    let (text, _) = written(press(&mut app, "g y w"));
    assert_eq!(text, PROPOSED);
}

#[test]
fn a_key_decides_nothing_on_what_has_just_appeared() {
    let mut app = app();
    app.review.guard.clock.advance(Duration::from_secs(1));
    let proposal = Proposal { files: vec![file("other.rs")], ..Proposal::default() };
    let other = FileProposal { proposed: Some(BASE.replace("fn a()", "fn x()").into()), ..file("a.rs") };
    app.handle_response(Response::Proposed {
        request: "more".into(),
        proposal: Proposal { files: vec![other], ..proposal },
    });
    press(&mut app, "y");
    assert_eq!(app.session.review().counts().accepted, 0, "{}", app.hint.text());
    app.review.guard.clock.advance(Duration::from_millis(299));
    press(&mut app, "y");
    assert_eq!(app.session.review().counts().accepted, 0);
    app.review.guard.clock.advance(Duration::from_millis(1));
    press(&mut app, "y");
    assert_eq!(app.session.review().counts().accepted, 1);
}

#[test]
fn every_action_says_why_it_would_do_nothing() {
    let mut app = app();
    for (action, why) in [
        (Action::Undo, "there is nothing to undo"),
        (Action::Redo, "there is nothing to redo"),
        (Action::Write, "nothing is accepted"),
        (Action::SendReview, "there is no rejected hunk, comment or edit without a location to send"),
        (Action::Reask, "the cursor is not on an edit without a location"),
        (Action::ReaskAll, "every edit has a location"),
        (Action::Dismiss, "the cursor is not on an edit without a location"),
    ] {
        assert_eq!(app.review_why_not(action), Some(why), "{action:?}");
    }
    for action in [Action::EditHunk, Action::EditFile, Action::OpenFile, Action::Comment, Action::Accept] {
        assert_eq!(app.review_why_not(action), None, "{action:?}");
    }
    app.session.abandon_review();
    for action in [Action::EditHunk, Action::Accept, Action::WriteOther, Action::SendReview] {
        assert_eq!(app.review_why_not(action), Some("nothing is under review"), "{action:?}");
    }
    let mut app = with_refused();
    for (action, why) in [
        (Action::Accept, "there is no hunk to accept or reject"),
        (Action::Comment, "the edit has no location in the file yet"),
        (Action::EditFile, "the edit has no location in the file yet"),
    ] {
        assert_eq!(app.review_why_not(action), Some(why), "{action:?}");
    }
    app.session.set_connection(Connection::None);
    assert_eq!(app.review_why_not(Action::Reask), Some("no model is connected"));
}

#[test]
fn edits_without_a_place_and_conflicts_are_counted_and_named_before_they_are_lost() {
    let conflict = Outcome { flags: vec![Flag::Conflict], ..refused("x", "y") };
    let outcomes = vec![conflict, refused("p", "q")];
    let mut app = with(Proposal { files: vec![file("a.rs")], outcomes, ..Proposal::default() });
    assert_eq!(app.session.review().waiting(), 5);
    app.go_to_refused(0);
    app.lay_out_review(None);
    assert_eq!(app.review_why_not(Action::Accept), Some("resolve the conflict first, or put it away"));
    app.go_to_refused(1);
    app.lay_out_review(None);
    assert_eq!(
        app.review_why_not(Action::Accept),
        Some("this edit has no location yet: place it by hand, ask again, or put it away")
    );
    press(&mut app, "x");
    let question = app.overlays.top_as::<Confirm>().expect("a question");
    let asked = format!("{question:?}");
    assert!(asked.contains("Also abandoned: 1 conflict and 1 edit without a location."), "{asked}");
}

#[test]
fn coming_back_to_the_terminal_holds_the_review_against_the_disk() {
    let mut app = app();
    let tasks = effects(app.event(Event::FocusGained));
    assert_eq!(tasks, [Effect::Reread(vec!["a.rs".into()])]);
}
