//! What the lists that lie over the panes ask for: a look at something, a line, a ranking; and what is chosen in them.

use crate::session::{KeepReport, Report};
use crate::tui::app::{App, Editing, Task, run};
use crate::tui::overlay::{LineBox, LineFor, Look, Overlay, Reply};
use crate::tui::widget::picker::{RankJob, Ranked};

impl App {
    /// Opens the definitions of the repository.
    pub(crate) fn open_symbols(&mut self) {
        match &self.session.symbols {
            Some(graph) => self.overlay = Some(Overlay::symbols(graph, self.ranked_map().map(AsRef::as_ref))),
            None => self.hint = "the repository is still being read".into(),
        }
    }

    /// Sees to it that what the cursor of a list is on can be looked at.
    pub(crate) fn want_look(&mut self) -> Vec<Task> {
        match self.overlay.as_ref().and_then(Overlay::look) {
            Some(Look::File(path, _)) => self.previews.want(&path).into_iter().collect(),
            Some(Look::Session(number)) if self.peeking != Some(number) => {
                self.peeking = Some(number);
                run(self.session.peek_session(number))
            }
            Some(Look::Session(_)) | None => Vec::new(),
        }
    }

    /// Takes in what was found out about earlier sessions.
    pub(crate) fn note_shelf(&mut self, report: &Report) {
        let Report::Kept(report) = report else { return };
        let all = self.overlay.iter_mut().chain(&mut self.under);
        let lists = all.filter_map(|overlay| match overlay {
            Overlay::Sessions(sessions) => Some(sessions),
            _ => None,
        });
        if let KeepReport::Peeked(number, said) = report {
            self.peeking = None;
            lists.for_each(|sessions| sessions.note(*number, said.clone()));
        } else if let KeepReport::Listed(_, lines) = report
            && lines.is_empty()
            && matches!(self.overlay, Some(Overlay::Sessions(_)))
        {
            self.overlay = self.under.pop();
        }
    }

    /// A ranking of the open list that is to be done away from the keyboard.
    pub fn take_rank_job(&mut self) -> Option<RankJob> {
        self.overlay.as_mut()?.take_job()
    }

    /// Takes in such a ranking.
    pub fn ranked(&mut self, ranked: Ranked) -> Vec<Task> {
        if let Some(overlay) = &mut self.overlay {
            overlay.put(ranked);
        }
        self.want_look()
    }

    /// Takes a click on a row of the overlay on top.
    pub fn click_in_overlay(&mut self, row: usize, double: bool) -> Vec<Task> {
        let Some(overlay) = &mut self.overlay else { return Vec::new() };
        let reply = overlay.click(row, double);
        let mut tasks = self.overlay_reply(reply);
        tasks.extend(self.want_look());
        tasks
    }

    /// Takes the wheel over the overlay on top, so many lines down.
    pub fn wheel_in_overlay(&mut self, by: isize) -> Vec<Task> {
        if let Some(overlay) = &mut self.overlay {
            overlay.wheel(by);
        }
        self.want_look()
    }

    /// Does what was chosen in a list.
    pub(crate) fn chosen_in_list(&mut self, reply: Reply) -> Vec<Task> {
        match reply {
            Reply::Mention(name) => {
                self.focus = crate::tui::action::Pane::Chat;
                self.typed(|app| app.composer.insert_words(&format!("@{name}")))
            }
            Reply::Copy(clip) => vec![Task::Copy(clip)],
            Reply::Fork(number) => run(self.session.fork_session(number)),
            Reply::AskFirst(question) => {
                self.open_over(Overlay::Confirm(*question));
                Vec::new()
            }
            Reply::AskLine(what, start) => {
                let line = self.line_for(what, &start);
                self.open_over(Overlay::Line(line));
                Vec::new()
            }
            Reply::ChangeSetting(row) => self.change_setting(&row),
            Reply::KeepSetting(row) => {
                self.keep_asked(&row);
                Vec::new()
            }
            Reply::ForgetSetting(row) => {
                self.forget_asked(&row);
                Vec::new()
            }
            Reply::Line(what, text) => self.line_typed(what, text),
            Reply::Show(places) => self.peek_at(places),
            Reply::AddFound(path, read_only) => self.add_found(path, read_only),
            Reply::Visit(path, line) => vec![Task::Edit(Editing::File { path, line })],
            Reply::AskCodebase(text) => self.ask_codebase(&text),
            _ => Vec::new(),
        }
    }

    fn line_for(&self, what: LineFor, start: &str) -> LineBox {
        match &what {
            LineFor::RenameSession(number) => {
                LineBox::new(&format!("a name for session {number}"), [], start, what).may_be_blank()
            }
            LineFor::Setting(name) => LineBox::new(&name.clone(), [], start, what),
            LineFor::Arguments(name) => LineBox::new(&name.clone(), [], start, what),
        }
    }

    fn line_typed(&mut self, what: LineFor, text: String) -> Vec<Task> {
        match what {
            LineFor::RenameSession(number) => run(self.session.rename_session(number, text)),
            LineFor::Setting(name) => self.setting_typed(&name, &text),
            LineFor::Arguments(name) => {
                self.overlay = None;
                self.under.clear();
                self.run_line(format!("{name} {text}").trim_end())
            }
        }
    }
}
