//! What the session has for the eyes of the user, opened as soon as nothing else lies over the panes.

use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::overlay::Overlay;

impl App {
    /// Opens a question that the user's last key set off, or a text that was asked for. A question opens in the review alone,
    /// where that key was pressed: somebody who has gone on to type must not answer it by a letter. It stays above the
    /// composer then.
    pub(crate) fn open_what_waits(&mut self) {
        let asks = std::mem::take(&mut self.session.asks_now);
        // What is open must be what a letter answers: the next question may be whether to run a command.
        if let Some(Overlay::Ask(open)) = &self.overlay
            && !self.session.put_first(open.asked())
        {
            self.overlay = None;
            self.hint = "the open question is answered".into();
            return;
        }
        if self.overlay.is_some() {
            return;
        }
        if asks && self.focus == Pane::Review && self.pending_keys.is_empty() {
            self.overlay = self.session.questions.front().map(Overlay::question);
        } else if let Some((title, text)) = self.session.to_read.take() {
            self.overlay = Some(Overlay::changes(&title, &text));
        }
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::session::{Choice, Connection, NamedFile, ProcessSubject, Question, Session, SharedText, Subject};
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};
    use crate::tui::view::{self, ViewCache};
    use rhumb_edit::{FileChange, FileProposal, Proposal};

    fn app() -> App {
        let (session, effects) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0
    }

    fn press(app: &mut App, keys: &str) -> Vec<crate::tui::app::Task> {
        keys.split(' ').filter_map(key::parse).flat_map(|key| app.event(Event::Key(key))).collect()
    }

    fn question(subject: ProcessSubject, title: &str) -> Question {
        let choices = vec![Choice::new('y', "yes"), Choice::new('n', "no")];
        Question { subject: Subject::Process(subject), title: title.into(), text: String::new(), choices }
    }

    fn share(text: &str) -> Question {
        let shared = SharedText { title: text.into(), text: text.into(), tokens: 1, whole: None };
        question(ProcessSubject::Share(shared, None), text)
    }

    fn shown(app: &mut App, width: u16, height: u16) -> String {
        let mut cache = ViewCache::default();
        let mut screen = Terminal::new(TestBackend::new(width, height)).unwrap();
        screen.draw(|frame| view::draw(app, &mut cache, frame)).unwrap();
        app.drawn(&cache);
        screen.backend().to_string()
    }

    #[test]
    fn on_a_low_screen_a_question_takes_a_line_and_is_opened_before_it_is_answered() {
        let mut app = app();
        let names = "The answer mentions one.go, two.go and 2 more files (12k tokens), which is a long line.";
        app.session.questions.push_back(share(names));
        let low = shown(&mut app, 40, 12);
        assert_eq!(low.matches("opens it").count(), 1, "{low}");
        assert!(!low.contains("Alt-y"), "{low}");
        press(&mut app, "Alt-y");
        assert!(matches!(app.overlay, Some(Overlay::Ask(_))) && app.session.questions.len() == 1);
        app.overlay = None;
        let high = shown(&mut app, 40, 30);
        assert!(high.contains("Alt-y yes") && !high.contains("opens it"), "{high}");
        press(&mut app, "Alt-y");
        assert!(app.session.questions.is_empty());
    }

    #[test]
    fn the_questions_that_follow_are_named_at_any_width() {
        let mut app = app();
        let run = question(ProcessSubject::Run("cargo test".into()), "Run cargo test?");
        app.session.questions.extend([share("git diff"), run, share("notes")]);
        for (width, height, follow) in [
            (80, 24, "  then: run cargo test?  share the output of notes?"),
            (120, 35, "  then: run cargo test?  share the output of notes?"),
            (80, 12, "? git diff · Enter opens it · then: run cargo test?  share the output of"),
        ] {
            let screen = shown(&mut app, width, height);
            assert!(screen.contains(follow), "{screen}");
        }
    }

    #[test]
    fn an_offer_of_files_does_not_hide_the_review_from_enter() {
        let mut app = app();
        let file = NamedFile { path: "a.py".into(), symbol: None };
        let subject = Subject::Mentioned { files: vec![file] };
        let choices = vec![Choice::new('y', "add it"), Choice::new('n', "no")];
        let title = "Your message mentions a.py (7 tokens).".to_owned();
        app.session.questions.push_back(Question { subject, title, text: String::new(), choices });
        press(&mut app, "Enter");
        assert!(matches!(app.overlay, Some(Overlay::Ask(_))));
        press(&mut app, "Esc");
        let file = FileProposal {
            path: "a.py".into(),
            change: FileChange::Modify,
            base: Some("1\n".into()),
            proposed: Some("2\n".into()),
        };
        let proposal = Proposal { files: vec![file], ..Proposal::default() };
        app.report(crate::session::Report::Proposed { request: "do it".into(), proposal });
        press(&mut app, "Alt-1 Enter");
        assert!(app.overlay.is_none() && app.focus == Pane::Review);
    }

    #[test]
    fn a_question_takes_a_line_while_the_transcript_is_read() {
        let mut app = app();
        app.session.questions.push_back(share("Share it?"));
        assert!(shown(&mut app, 80, 24).contains("Alt-y yes"));
        app.session.send("what is it?");
        app.session.cancel();
        press(&mut app, "Alt-r");
        let read = shown(&mut app, 80, 24);
        assert!(read.contains("? Share it? · Alt-y opens it"), "{read}");
    }

    #[test]
    fn a_letter_answers_the_question_that_is_open_and_no_other() {
        let mut app = app();
        let run = question(ProcessSubject::Run("rm -r build".into()), "Run it?");
        app.session.questions.extend([share("old"), run.clone()]);
        press(&mut app, "Enter");
        // A newer one comes before it: the one that is read stays the one that is answered.
        app.session.questions.push_front(share("newer"));
        app.report(crate::session::Report::Head("main".into()));
        press(&mut app, "n");
        assert_eq!(app.session.questions, [share("newer"), run.clone()]);
        // The one that is read goes away: the next is not answered in its place.
        press(&mut app, "Enter");
        app.session.questions.pop_front();
        app.report(crate::session::Report::Head("main".into()));
        assert!(app.overlay.is_none());
        let tasks = press(&mut app, "y");
        assert!(!tasks.iter().any(|task| matches!(task, crate::tui::app::Task::Run(crate::session::Effect::Run(_)))));
        assert_eq!(app.session.questions, [run]);
    }
}
