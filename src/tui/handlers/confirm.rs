//! Confirmations of commands that lose or change much, and of leaving while work is running. Each question describes the
//! effect, what is kept, and how to undo it.

use rhumb_session::context::Mode;
use rhumb_session::{Command, Effect, Entry, LookupEffect, LookupResponse, Response, name_some};
use rhumb_text::count;
use rhumb_workspace::Direction;

use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Task, run};
use crate::tui::overlay::{Confirm, ConfirmedAction, ConnectBox};

impl App {
    /// Runs a command, after a confirmation if it loses data.
    pub(crate) fn run_user_command(&mut self, command: Command) -> Vec<Task> {
        // The question names its subject, which is read from the disk.
        match command {
            Command::Undo => return run(vec![Effect::Lookup(LookupEffect::LastWrite(Direction::Undo))]),
            Command::Redo => return run(vec![Effect::Lookup(LookupEffect::LastWrite(Direction::Redo))]),
            _ => {}
        }
        match self.confirmation_for(&command) {
            Some(question) => {
                self.overlays.push(question);
                Vec::new()
            }
            None => self.command(command),
        }
    }

    /// Asks before the last write is undone or redone, as soon as the effect is known. Without such a write, asks nothing.
    pub(crate) fn confirm_undo(&mut self, report: &Response) -> Vec<Task> {
        let Response::LookedUp(LookupResponse::LastWrite(direction, preview)) = report else { return Vec::new() };
        let (command, verb) = match direction {
            Direction::Undo => (Command::Undo, "undo"),
            Direction::Redo => (Command::Redo, "redo"),
        };
        let Some(preview) = preview else { return self.command(command) };
        if !self.overlays.is_empty() {
            return self.say(format!("nothing was changed: close what is open, then run /{verb} again"));
        }
        let (files, names) = (count(preview.paths.len(), "file"), name_some(&preview.paths));
        let text = [
            match direction {
                Direction::Undo => format!("The text from before the last write comes back in {files}: {names}."),
                Direction::Redo => format!("What was undone last is written again to {files}: {names}."),
            },
            preview.commit_text(),
            "If a file was changed since then, nothing is changed.".to_owned(),
        ];
        let title = format!("{verb} the last write?");
        let question = Confirm::new(&title, text).way(
            'y',
            &format!("{verb} it in {files}"),
            ConfirmedAction::Run(Box::new(command)),
        );
        self.overlays.show(question);
        Vec::new()
    }

    /// Whether a key that is not an answer belongs to the composer: a question opened while the user was typing.
    pub(crate) fn typing_continues(&self) -> bool {
        let is_over_composer = self.focus == Pane::Chat && !self.chat.is_reading() && self.overlays.len() <= 1;
        is_over_composer
            && (self.overlays.is_top::<Confirm>() || self.overlays.top_as().is_some_and(ConnectBox::leaves_typing))
    }

    /// Runs a confirmed action.
    pub(crate) fn confirmed(&mut self, confirmed_action: ConfirmedAction) -> Vec<Task> {
        match confirmed_action {
            ConfirmedAction::Abandon => {
                self.session.abandon_review();
                Vec::new()
            }
            ConfirmedAction::Run(command) => self.command(*command),
            ConfirmedAction::Quit => vec![Task::Quit],
            ConfirmedAction::DeleteSession(number) => run(self.session.delete_session(number)),
            ConfirmedAction::Keep(name, value) => self.keep_setting(name, value),
        }
    }

    pub(crate) fn confirm_abandoning(&mut self) {
        let review = self.session.review();
        let counts = review.counts();
        let what = format!("{} of {}", count(counts.total(), "hunk"), count(review.files.len(), "file"));
        let decided = format!(
            "{} accepted and not written, {} rejected, {} pending.",
            counts.accepted, counts.rejected, counts.pending
        );
        let conflicts = review.conflicts();
        let homeless = review.refused.len() - conflicts;
        let without = [(conflicts, "conflict", ""), (homeless, "edit", " without a place")];
        let without = without.into_iter().filter(|(number, ..)| *number > 0);
        let without: Vec<String> = without.map(|(number, what, how)| count(number, what) + how).collect();
        let also =
            if without.is_empty() { String::new() } else { format!(" Also abandoned: {}.", without.join(" and ")) };
        let text = [
            format!("The review of {what} is abandoned: {decided}{also}"),
            "Nothing is written. The answer stays in the chat, and /review finds its edits again. The decisions are lost.".to_owned(),
        ];
        let question = Confirm::new("abandon the review?", text)
            .way('y', &format!("abandon {what}"), ConfirmedAction::Abandon)
            .stay("keeps it");
        self.overlays.push(question);
    }

    /// Quits, after a confirmation if something would be lost or is running.
    pub(crate) fn leave(&mut self) -> Vec<Task> {
        let lines = self.losses_of_leaving();
        if lines.is_empty() {
            return vec![Task::Quit];
        }
        let question = Confirm::new("leave?", lines)
            .way('y', "leave", ConfirmedAction::Quit)
            .stay("stays")
            .again(self.keys.of(Action::Quit));
        self.overlays.push(question);
        Vec::new()
    }

    /// One sentence for each thing that would be lost or stopped.
    fn losses_of_leaving(&self) -> Vec<String> {
        let session = &self.session;
        let is_kept = session.is_saved();
        let mut lines = Vec::new();
        if session.turn().is_some() {
            let kept = if is_kept { "what has arrived is kept" } else { "what has arrived is lost" };
            lines.push(format!("The model is still answering: that stops, and {kept}."));
        }
        let running = session.processes().logs.iter().filter(|log| log.state == rhumb_session::RunState::Running);
        lines.extend(running.map(|log| format!("Still running, and stopped by leaving: {}", log.line.trim())));
        let counts = session.review().counts();
        let open = counts.pending + counts.accepted;
        if open > 0 {
            let what = match (counts.pending, counts.accepted) {
                (pending, 0) => format!("{} not decided", count(pending, "hunk")),
                (0, accepted) => format!("{} accepted and not written", count(accepted, "hunk")),
                (pending, accepted) => {
                    format!("{} not decided and {accepted} accepted and not written", count(pending, "hunk"))
                }
            };
            let kept = if is_kept { "kept with the session, for /resume" } else { "lost, as sessions are not kept" };
            lines.push(format!("{what}: {kept}."));
        }
        let waiting = session.queue().waiting().len();
        if waiting > 0 {
            lines.push(format!("{} not sent yet: lost.", count(waiting, "message")));
        }
        if !is_kept && !self.composer.text().trim().is_empty() {
            lines.push("What you are writing: lost, as sessions are not kept.".to_owned());
        }
        lines
    }

    /// The confirmation of a command. `None` if nothing would be lost.
    fn confirmation_for(&self, command: &Command) -> Option<Confirm> {
        let asked = |title: &str, text: Vec<String>, label: &str| {
            Some(Confirm::new(title, text).way('y', label, ConfirmedAction::Run(Box::new(command.clone()))))
        };
        let session = &self.session;
        match command {
            Command::Clear => {
                let said = self.messages_since_clear();
                let text = vec![
                    format!("{} and the answers to them will not be sent any more.", count(said, "message")),
                    "They stay on the screen and in the session; files stay in the chat.".to_owned(),
                ];
                if said == 0 { None } else { asked("clear the conversation?", text, "clear it") }
            }
            Command::Reset => {
                let (said, files) = (self.messages_since_clear(), session.files().len());
                let text = vec![
                    format!("{} and their answers will not be sent any more.", count(said, "message")),
                    format!("{} will be taken out of the chat. Nothing is changed on disk.", count(files, "file")),
                ];
                if said + files == 0 { None } else { asked("reset the chat?", text, "reset it") }
            }
            Command::Rewind(turn) => {
                let turns = self.messages();
                let number = turn.unwrap_or(turns.len());
                let at = *turns.get(number.checked_sub(1)?)?;
                // The session reports the reason itself.
                if session.is_busy() {
                    return None;
                }
                let out = turns.len() - number + 1;
                let way_back = if session.is_saved() {
                    "The session as it is stays as one of its own; /sessions finds it."
                } else {
                    "Sessions are not kept here, so there is no way back."
                };
                let text = vec![
                    format!("Back to before: {}", excerpt(session.transcript().get(at)?)),
                    format!(
                        "{} and all that came after leave the conversation. Files on disk stay as they are.",
                        count(out, "message")
                    ),
                    way_back.to_owned(),
                ];
                asked(&format!("rewind to turn {number}?"), text, "take it back into the composer")
            }
            _ => None,
        }
    }

    fn messages(&self) -> Vec<usize> {
        let entries = self.session.transcript().iter().enumerate();
        entries.filter_map(|(at, entry)| matches!(entry, Entry::User { .. }).then_some(at)).collect()
    }

    fn messages_since_clear(&self) -> usize {
        let since = self.session.transcript().iter().rev().take_while(|entry| **entry != Entry::Cleared);
        since.filter(|entry| matches!(entry, Entry::User { .. } | Entry::Shared { .. })).count()
    }
}

fn excerpt(entry: &Entry) -> String {
    let Entry::User { text, mode, .. } = entry else { return String::new() };
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(100).collect();
    let more = if short.len() < text.trim_end().len() { " …" } else { "" };
    let mode = if *mode == Mode::Code { String::new() } else { format!("({}) ", mode.name()) };
    format!("{mode}{short}{more}")
}

#[cfg(test)]
mod tests {
    use crossterm::event::Event;

    use super::*;
    use crate::tui::key;
    use crate::tui::theme::{ColorDepth, Theme};
    use rhumb_session::{CommitPlan, UndoPreview};
    use rhumb_session::{Connection, Session};

    /// An app in which `/undo` was run and asks for confirmation.
    fn asked(write: Option<UndoPreview>) -> (App, Vec<Task>) {
        asked_by("/undo", Direction::Undo, write)
    }

    fn asked_by(command: &str, direction: Direction, write: Option<UndoPreview>) -> (App, Vec<Task>) {
        let (session, effects) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        let mut app = App::start(session, effects, Theme::plain(ColorDepth::None), "root".into()).0;
        app.event(Event::Paste(command.into()));
        let tasks = app.event(Event::Key(key::parse("Enter").unwrap()));
        let looks = |task: &Task| matches!(task, Task::Run(Effect::Lookup(LookupEffect::LastWrite(asked))) if *asked == direction);
        assert!(tasks.iter().any(looks), "{tasks:?}");
        let tasks = app.report(Response::LookedUp(LookupResponse::LastWrite(direction, write)));
        (app, tasks)
    }

    fn last_write() -> Option<UndoPreview> {
        let paths = ["a.rs", "b.rs", "c.rs", "d.rs", "e.rs"].map(str::to_owned).to_vec();
        let commit = CommitPlan::Drop("0123456789".into());
        Some(UndoPreview { direction: Direction::Undo, paths, subject: Some("Say hello".into()), commit })
    }

    #[test]
    fn redo_asks_as_undo_does() {
        let restore = CommitPlan::Restore("0123456789".into());
        let write = last_write().map(|write| UndoPreview { direction: Direction::Redo, commit: restore, ..write });
        let (mut app, _) = asked_by("/redo", Direction::Redo, write);
        let question = app.overlays.top_as::<Confirm>().expect("a question");
        let asked = format!("{question:?}");
        assert!(asked.contains("redo the last write?") && asked.contains("Commit 0123456 "), "{asked}");
        let tasks = app.event(Event::Key(key::parse("y").unwrap()));
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(Direction::Redo)))), "{tasks:?}");
    }

    #[test]
    fn undo_names_the_files_and_the_commit_before_it_is_done() {
        let (mut app, _) = asked(last_write());
        let question = app.overlays.top_as::<Confirm>().expect("a question");
        let asked = format!("{question:?}");
        assert!(asked.contains("5 files: a.rs, b.rs, c.rs and 2 more") && asked.contains("Say hello"), "{asked}");
        assert!(asked.contains("Commit 0123456") && asked.contains("is dropped from the branch"), "{asked}");
        let tasks = app.event(Event::Key(key::parse("y").unwrap()));
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(_)))), "{tasks:?}");
    }

    #[test]
    fn with_nothing_to_undo_nothing_is_asked() {
        let (app, tasks) = asked(None);
        assert!(app.overlays.is_empty());
        assert!(tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(_)))), "{tasks:?}");
    }

    #[test]
    fn who_types_on_says_no_and_loses_no_letter() {
        let (mut app, _) = asked(last_write());
        let mut tasks = Vec::new();
        for letter in "Add a mode".chars() {
            let name = if letter == ' ' { "Space".to_owned() } else { letter.to_string() };
            tasks.extend(app.event(Event::Key(key::parse(&name).unwrap())));
            assert!(letter != 'A' || app.hint.text().contains("closed unanswered"), "{}", app.hint.text());
        }
        assert_eq!((app.composer.text().as_str(), app.overlays.is_empty()), ("Add a mode", true));
        assert!(!tasks.iter().any(|task| matches!(task, Task::Run(Effect::Undo(_)))), "{tasks:?}");
        let (mut app, _) = asked(last_write());
        app.event(Event::Paste("a page".into()));
        assert_eq!((app.composer.text().as_str(), app.overlays.is_empty()), ("a page", true));
    }

    #[test]
    fn in_another_pane_a_letter_that_is_no_answer_does_nothing() {
        let (mut app, _) = asked(last_write());
        app.focus = Pane::Map;
        app.event(Event::Key(key::parse("A").unwrap()));
        assert!(!app.overlays.is_empty() && app.composer.is_empty());
    }
}
