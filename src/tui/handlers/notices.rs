//! Shows the notices of the session.

use rhumb_session::Notice;

use crate::tui::app::{App, Task};
use crate::tui::overlay::{ConnectBox, Menu, PasteBox, SectionView, SessionList, TextView};

impl App {
    /// Takes the notices of the session and shows those that can be shown now. The others wait: an open overlay may hold
    /// unsaved input, such as a pasted reply.
    pub(crate) fn show_notices(&mut self) -> Vec<Task> {
        let mut tasks = Vec::new();
        loop {
            for notice in self.session.take_notices() {
                self.waiting_notices.retain(|other| !notice.replaces(other));
                self.waiting_notices.push_back(notice);
            }
            for notice in std::mem::take(&mut self.waiting_notices) {
                match self.show_notice(notice) {
                    Ok(more) => tasks.extend(more),
                    Err(notice) => self.waiting_notices.push_back(notice),
                }
            }
            // A command that was run may have given notices of its own.
            if self.session.notices().next().is_none() {
                return tasks;
            }
        }
    }

    /// Shows a notice. Returns it if it must wait.
    fn show_notice(&mut self, notice: Notice) -> Result<Vec<Task>, Notice> {
        match notice {
            Notice::Copy(text) => return Ok(vec![Task::Copy(text)]),
            Notice::AskNow => self.open_question(),
            Notice::Connected => {}
            Notice::ReturnDraft(draft) => self.restore_draft(draft),
            Notice::Insert(text) => return Ok(self.typed(|app| app.composer.paste(&text))),
            Notice::InsertDictated(words) => return Ok(self.typed(|app| app.composer.insert_words(&words))),
            Notice::PastedText(text) => {
                // A text that was copied in the app is not a reply.
                if let Some(place) = self.overlays.top_as_mut::<PasteBox>()
                    && !self.history.has_copied(&text)
                {
                    place.fill(&text);
                }
            }
            Notice::PastedImage => {
                if self.overlays.top_as().is_some_and(PasteBox::is_untouched) {
                    self.overlays.close();
                }
            }
            Notice::Run(command) => return Ok(self.command(command)),
            Notice::ChooseSession(query, lines) => {
                if let Some(open) = self.overlays.top_as_mut::<SessionList>() {
                    open.set_lines(&lines);
                } else if self.overlays.is_empty() {
                    self.overlays.show(SessionList::new(&query, &lines));
                } else {
                    return Err(Notice::ChooseSession(query, lines));
                }
            }
            Notice::Connect(request) if self.overlays.is_empty() || self.overlays.is_top::<ConnectBox>() => {
                return Ok(self.open_connection(&request));
            }
            Notice::ChooseServer(_) if !self.overlays.is_empty() => {
                self.hint.set("Model servers were found; the list opens when this closes.".into());
                return Err(notice);
            }
            notice if !self.overlays.is_empty() => return Err(notice),
            notice => self.open_notice(notice),
        }
        Ok(Vec::new())
    }

    fn open_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Diff(page) => return self.overlays.show(SectionView::diff(&page.title, &page.text)),
            Notice::Page(page) => self.overlays.show(TextView::new(&page.title, &page.text).table()),
            Notice::Settings(rows, query) => self.show_settings(rows, &query),
            Notice::ChooseModel(part, query) => self.open_models(part, &query),
            Notice::ChooseServer(servers) => self.overlays.show(Menu::servers(&servers)),
            _ => return,
        }
        self.hint.clear();
        self.sequence.clear();
    }
}
