//! Reading in the transcript: its cursor, its search, and what can be done with what the cursor stands on.

use crossterm::event::{KeyCode, KeyEvent};

use crate::session::{Clip, Entry};
use crate::tui::action::{Action, Binding, Pane};
use crate::tui::app::{App, Editing, Task};
use crate::tui::overlay::Overlay;
use crate::tui::pane::stops::{EditCard, Stop, stops};
use crate::tui::reading::{NEWS, Search, Spot, is_path};
use crate::tui::widget::input::LineInput;
use crate::tui::widget::markdown::links_of;
use rhumb_edit::EditId;
use rhumb_edit::review::{EditRecord, HunkId};

impl App {
    /// Takes a key while the transcript is read or searched; `None` if it is for the composer.
    pub(crate) fn reading_key(&mut self, name: &str, key: KeyEvent) -> Option<Vec<Task>> {
        if self.reading.typing.is_some() {
            self.search_key(key);
            return Some(Vec::new());
        }
        if !self.reading.on {
            let starts = name == "Shift-Up" && self.composer.is_empty();
            return starts.then(|| self.act(Action::ReadTranscript));
        }
        let sequence =
            if self.pending_keys.is_empty() { name.to_owned() } else { format!("{} {name}", self.pending_keys) };
        self.pending_keys.clear();
        match self.keys.lookup_reading(&sequence) {
            Binding::Action(action) => Some(self.act(action)),
            Binding::Prefix => {
                self.hint = format!("{sequence} …");
                self.pending_keys = sequence;
                Some(Vec::new())
            }
            Binding::None => {
                // Somebody types: that is for the composer, and so is what comes next.
                self.stop_reading();
                None
            }
        }
    }

    /// Begins to read: at the end, or at the first stop in view if the reader has scrolled up.
    pub(crate) fn start_reading(&mut self) {
        if self.reading.on {
            return;
        }
        let Some(last) = self.session.transcript.len().checked_sub(1) else {
            self.hint = "there are no messages yet".into();
            return;
        };
        self.focus = Pane::Chat;
        self.reading.on = true;
        let in_view = self.reading.seen.first().filter(|_| self.chat.from_bottom > 0).map(|seen| seen.spot);
        self.go_to_spot(in_view.unwrap_or(Spot { entry: last, stop: usize::MAX }));
    }

    /// Gives the keys back to the composer. What is in view stays.
    pub(crate) fn stop_reading(&mut self) {
        (self.reading.on, self.reading.typing) = (false, None);
    }

    /// Puts the cursor on a spot, or the nearest one that there is, and has it shown.
    pub(super) fn go_to_spot(&mut self, spot: Spot) {
        self.reading.spot = self.sound(spot);
        self.reading.follow = true;
        if let Some(search) = &mut self.reading.search {
            search.nth = 0;
        }
    }

    /// The spot, or the nearest one before it that there is.
    fn sound(&self, spot: Spot) -> Spot {
        let entry = spot.entry.min(self.session.transcript.len().saturating_sub(1));
        let most = self.session.transcript.get(entry).map_or(0, |entry| stops(entry).len().saturating_sub(1));
        Spot { entry, stop: if entry < spot.entry { most } else { spot.stop.min(most) } }
    }

    /// What the cursor stands on.
    fn stop_at_cursor(&self) -> Option<Stop> {
        let spot = self.sound(self.reading.spot);
        stops(self.session.transcript.get(spot.entry)?).into_iter().nth(spot.stop)
    }

    /// The actions of the transcript; `None` for those that it does not know.
    pub(crate) fn act_on_transcript(&mut self, action: Action) -> Option<Vec<Task>> {
        match action {
            Action::ReadTranscript if self.reading.on => self.stop_reading(),
            Action::ReadTranscript => self.start_reading(),
            Action::SearchTranscript => self.open_search(),
            Action::ScrollToEnd => self.chat.from_bottom = 0,
            Action::ScrollToStart => self.show_entry(Some(0)),
            Action::MessageBack => self.show_message(false),
            Action::MessageForward => self.show_message(true),
            Action::ToggleThoughts if self.reading.on && self.toggle_thoughts_here() => {}
            Action::ToggleThoughts => {
                self.reading.turned.clear();
                self.chat.thoughts = !self.chat.thoughts;
            }
            action if self.reading.on => return self.act_while_reading(action),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn act_while_reading(&mut self, action: Action) -> Option<Vec<Task>> {
        let spot = self.reading.spot;
        match action {
            Action::Down => self.step(true),
            Action::Up => self.step(false),
            Action::PageDown => self.chat.from_bottom = self.chat.from_bottom.saturating_sub(self.page),
            Action::PageUp => self.chat.from_bottom += self.page,
            Action::Top => self.go_to_spot(Spot::default()),
            Action::Bottom => self.go_to_spot(Spot { entry: usize::MAX, stop: usize::MAX }),
            Action::NextMessage => self.go_to_message(self.message_after(spot.entry)),
            Action::PreviousMessage if spot.stop > 0 => self.go_to_message(Some(spot.entry)),
            Action::PreviousMessage => self.go_to_message(self.message_before(spot.entry)),
            Action::SearchHere => self.open_search(),
            Action::NextMatch => self.next_match(true),
            Action::PreviousMatch => self.next_match(false),
            Action::NextLink => self.next_link(true),
            Action::PreviousLink => self.next_link(false),
            Action::CopyBlock => return Some(self.copy_block()),
            Action::CopyMessage => return Some(self.copy_message()),
            Action::Follow => return Some(self.follow()),
            Action::OpenPlace => return Some(self.open_place()),
            Action::EditAndRerun => return Some(self.edit_and_rerun(spot.entry)),
            Action::Escape if self.reading.search.is_some() => self.reading.search = None,
            Action::Escape | Action::BackToTyping | Action::Leave => self.stop_reading(),
            Action::FocusNext | Action::FocusPrevious => {
                self.stop_reading();
                return None;
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// One stop on; through one that is taller than the view, half a page at a time.
    fn step(&mut self, down: bool) {
        let (above, below) = self.reading.hidden();
        let (half, spot) = ((self.page / 2).max(1), self.reading.spot);
        if down && below > 0 && !self.reading.follow {
            self.chat.from_bottom = self.chat.from_bottom.saturating_sub(below.min(half));
            return;
        }
        if !down && above > 0 && !self.reading.follow {
            self.chat.from_bottom += above.min(half);
            return;
        }
        let count = self.session.transcript.get(spot.entry).map_or(0, |entry| stops(entry).len());
        self.go_to_spot(match (down, spot.stop) {
            (true, stop) if stop + 1 < count => Spot { stop: stop + 1, ..spot },
            (true, _) if spot.entry + 1 >= self.session.transcript.len() => spot,
            (true, _) => Spot { entry: spot.entry + 1, stop: 0 },
            (false, 0) if spot.entry == 0 => spot,
            (false, 0) => Spot { entry: spot.entry - 1, stop: usize::MAX },
            (false, stop) => Spot { stop: stop - 1, ..spot },
        });
    }

    fn is_message(&self, at: usize) -> bool {
        let entry = self.session.transcript.get(at);
        entry.is_some_and(|entry| !matches!(entry, Entry::Notice(_) | Entry::Cleared))
    }

    fn message_before(&self, entry: usize) -> Option<usize> {
        (0..entry.min(self.session.transcript.len())).rev().find(|at| self.is_message(*at))
    }

    fn message_after(&self, entry: usize) -> Option<usize> {
        (entry.saturating_add(1)..self.session.transcript.len()).find(|at| self.is_message(*at))
    }

    fn go_to_message(&mut self, entry: Option<usize>) {
        match entry {
            Some(entry) => {
                self.go_to_spot(Spot { entry, stop: 0 });
                self.reading.top = true;
            }
            None => self.hint = "there is no further message".into(),
        }
    }

    /// Scrolls to the message before the first one in view, or the one after it, without a cursor.
    fn show_message(&mut self, forward: bool) {
        let first = self.reading.seen.first().map(|seen| (seen.spot.entry, seen.spot.stop > 0 || seen.hidden.0 > 0));
        let (at, is_begun) =
            if self.reading.follow { (self.reading.spot.entry, false) } else { first.unwrap_or_default() };
        let to = match forward {
            true => self.message_after(at),
            false if is_begun && self.is_message(at) => Some(at),
            false => self.message_before(at),
        };
        if forward && to.is_none() {
            self.chat.from_bottom = 0;
            return;
        }
        self.show_entry(to);
    }

    fn show_entry(&mut self, entry: Option<usize>) {
        self.go_to_message(entry);
        // The view does not follow the end from now on.
        self.chat.from_bottom = self.chat.from_bottom.max(1);
    }

    fn toggle_thoughts_here(&mut self) -> bool {
        let entry = self.reading.spot.entry;
        let has =
            matches!(self.session.transcript.get(entry), Some(Entry::Answer(answer)) if !answer.reasoning.is_empty());
        if has {
            self.turn_thoughts(entry);
        }
        has
    }

    fn turn_thoughts(&mut self, entry: usize) {
        if !self.reading.turned.remove(&entry) {
            self.reading.turned.insert(entry);
        }
    }

    fn copy_block(&mut self) -> Vec<Task> {
        let Some(stop) = self.stop_at_cursor() else { return Vec::new() };
        self.copy(stop.noun(), stop.copied())
    }

    fn copy_message(&mut self) -> Vec<Task> {
        let entry = self.session.transcript.get(self.reading.spot.entry);
        let Some(text) = entry.map(crate::tui::pane::stops::text_of) else { return Vec::new() };
        self.copy("The message", text)
    }

    fn copy(&mut self, what: &str, text: String) -> Vec<Task> {
        if text.trim().is_empty() {
            self.hint = "there is nothing to copy here".into();
            return Vec::new();
        }
        let lines = text.lines().count();
        self.hint = format!("copied: {lines} {}", if lines == 1 { "line" } else { "lines" });
        vec![Task::Copy(Clip { what: what.to_owned(), text, hint: String::new() })]
    }

    /// Does what is nearest with what the cursor stands on.
    fn follow(&mut self) -> Vec<Task> {
        let entry = self.reading.spot.entry;
        if let Some(tasks) = self.follow_link() {
            return tasks;
        }
        match self.stop_at_cursor() {
            Some(Stop::Thoughts(_)) => self.turn_thoughts(entry),
            Some(Stop::Card(card)) => self.go_to_card(&card),
            Some(Stop::Block(block)) => match links_of(&block).into_iter().next() {
                // What a model writes is not opened in a browser unseen.
                Some(link) => return self.copy("The link", link),
                None => self.hint = "there is nothing to open here".into(),
            },
            Some(Stop::Message(_)) => return self.follow_message(entry),
            Some(Stop::Code(_)) | None => self.hint = "there is nothing to open here".into(),
        }
        Vec::new()
    }

    fn follow_message(&mut self, entry: usize) -> Vec<Task> {
        match self.session.transcript.get(entry) {
            Some(Entry::Ran(_)) => self.open_log_of(entry),
            Some(Entry::Shared { text, .. } | Entry::Again { text, .. } | Entry::User { text, .. })
                if text.lines().count() > 1 =>
            {
                let title = if let Some(Entry::Shared { title, .. }) = self.session.transcript.get(entry) {
                    title
                } else {
                    "the message"
                };
                self.overlay = Some(Overlay::text(title, text));
            }
            _ => self.hint = "there is nothing to open here".into(),
        }
        Vec::new()
    }

    /// Opens the log of the command under the cursor, else the newest.
    pub(crate) fn open_log(&mut self) {
        let logs = &self.session.processes.logs;
        let is_run = |entry: &usize| matches!(self.session.transcript.get(*entry), Some(Entry::Ran(_)));
        let under_cursor = Some(self.reading.spot.entry).filter(|_| self.reading.on && self.focus == Pane::Chat);
        let last_of_earlier_start =
            || (0..self.session.transcript.len()).rev().find(is_run).filter(|_| logs.is_empty());
        match under_cursor.filter(is_run).or_else(last_of_earlier_start) {
            Some(entry) => self.open_log_of(entry),
            None => self.overlay = Some(Overlay::logs(logs)),
        }
    }

    /// Opens the log of a command of the transcript. Of a command of an earlier start, the lines of its card are all that is kept.
    fn open_log_of(&mut self, entry: usize) {
        let Some(Entry::Ran(ran)) = self.session.transcript.get(entry) else { return };
        let logs = &self.session.processes.logs;
        let is_held = logs.iter().any(|log| log.run == ran.run && log.line == ran.line);
        self.overlay = Some(match is_held {
            true => Overlay::log_of(logs, ran.run),
            false => Overlay::text(&ran.line, &ran.excerpt(" that are not kept")),
        });
    }

    /// Goes to the hunks of an edit in the review.
    fn go_to_card(&mut self, card: &EditCard) {
        let review = &self.session.review;
        let Some(edit) = card.edit else {
            self.hint = "this edit is not under review".into();
            return;
        };
        let is_its_hunk = |id: &HunkId| review.hunk(*id).is_some_and(|hunk| hunk.edits.contains(&edit));
        let hunk = review.ids().find(is_its_hunk);
        let refused = review.refused.iter().position(|outcome| outcome.edits.contains(&edit));
        if hunk.is_none() && refused.is_none() {
            self.hint = match self.edit_record(edit).map(|record| self.session.edit_state(record)) {
                Some(state) => format!("this edit is no longer under review: {}", state.label()),
                None => "this edit is not under review".into(),
            };
            return;
        }
        self.stop_reading();
        self.focus = Pane::Review;
        match (hunk, refused) {
            (Some(hunk), _) => self.go_to_hunk(hunk),
            (None, Some(refused)) => self.go_to_refused(refused),
            (None, None) => {}
        }
    }

    /// The record of an edit.
    fn edit_record(&self, id: EditId) -> Option<&EditRecord> {
        let answers = self.session.transcript.iter().filter_map(|entry| match entry {
            Entry::Answer(answer) => Some(answer),
            _ => None,
        });
        answers.flat_map(|answer| &answer.edits).find(|record| record.id == id)
    }

    /// Opens the first file of the repository that the block names, at the line that stands with it.
    fn open_place(&mut self) -> Vec<Task> {
        let Some(stop) = self.stop_at_cursor() else { return Vec::new() };
        let place = match &stop {
            Stop::Card(EditCard { path: Some(path), .. }) => {
                let file = self.session.paths.iter().find(|known| is_path(known, path));
                file.map(|path| (path.clone(), self.line_in_review(&stop).unwrap_or(1)))
            }
            stop => named_place(stop.searched(), &self.session.paths),
        };
        match place {
            Some((path, line)) => vec![Task::Edit(Editing::File { path, line })],
            None => {
                self.hint = "this names no file of the repository".into();
                Vec::new()
            }
        }
    }

    /// The line (1-based) of an edit in its file as it is.
    fn line_in_review(&self, stop: &Stop) -> Option<usize> {
        let Stop::Card(EditCard { edit: Some(edit), .. }) = stop else { return None };
        let hunks = self.session.review.files.iter().flat_map(|file| &file.hunks);
        let hunk = hunks.into_iter().find(|hunk| hunk.edits.contains(edit))?;
        Some(hunk.hunk.base.start + 1)
    }

    fn open_search(&mut self) {
        self.start_reading();
        if self.reading.on {
            self.reading.typing = Some(LineInput::default());
        }
    }

    /// A key of the line where a search is typed. It finds while one types: upwards first, for what is looked for was said before.
    fn search_key(&mut self, key: KeyEvent) {
        let Some(typing) = &mut self.reading.typing else { return };
        match key.code {
            KeyCode::Enter => {
                self.reading.typing = None;
                if self.reading.search.is_none() {
                    self.hint = "no search is active".into();
                }
            }
            KeyCode::Esc => (self.reading.typing, self.reading.search) = (None, None),
            KeyCode::Down | KeyCode::Up => self.next_match(key.code == KeyCode::Down),
            _ => {
                if typing.key(key) {
                    let query = typing.text().to_owned();
                    self.search_for(&query);
                }
            }
        }
    }

    /// Takes a text that is pasted where a search is typed; false if none is.
    pub(crate) fn paste_into_search(&mut self, text: &str) -> bool {
        let Some(typing) = &mut self.reading.typing else { return false };
        typing.insert(text);
        let query = typing.text().to_owned();
        self.search_for(&query);
        true
    }

    fn search_for(&mut self, query: &str) {
        self.reading.search = Search::new(query, &self.session.transcript);
        let from = self.reading.spot;
        let Some(search) = &mut self.reading.search else { return };
        let here = Spot { stop: from.stop, ..from };
        match search.next(&self.session.transcript, here, false, true) {
            Some(spot) => self.show_match(spot),
            None => self.hint = format!("\"{}\" is nowhere", search.query),
        }
    }

    fn next_match(&mut self, forward: bool) {
        let Some(search) = &mut self.reading.search else {
            self.hint = "no search is active".into();
            return;
        };
        search.refresh(&self.session.transcript);
        match search.next(&self.session.transcript, self.reading.spot, forward, false) {
            Some(spot) => self.show_match(spot),
            None => self.hint = format!("\"{}\" is nowhere", search.query),
        }
    }

    fn show_match(&mut self, spot: Spot) {
        (self.reading.spot, self.reading.follow) = (spot, true);
        let entry = self.session.transcript.get(spot.entry);
        let is_open = self.chat.thoughts != self.reading.turned.contains(&spot.entry);
        let is_thought = entry.is_some_and(|entry| matches!(stops(entry).get(spot.stop), Some(Stop::Thoughts(_))));
        if is_thought && !is_open {
            self.turn_thoughts(spot.entry);
        }
    }

    /// A click on a row of the chat, as its number was noted when it was drawn.
    pub(crate) fn click_in_chat(&mut self, row: usize, double: bool) -> Vec<Task> {
        self.focus = Pane::Chat;
        if row == NEWS {
            self.stop_reading();
            self.chat.from_bottom = 0;
            return Vec::new();
        }
        let spot = self.sound(Spot::of_row(row));
        let entry = self.session.transcript.get(spot.entry);
        match entry.and_then(|entry| stops(entry).into_iter().nth(spot.stop)) {
            Some(Stop::Card(card)) => self.go_to_card(&card),
            Some(Stop::Thoughts(_)) => self.turn_thoughts(spot.entry),
            Some(_) if matches!(entry, Some(Entry::Ran(_))) => self.open_log_of(spot.entry),
            Some(_) if matches!(entry, Some(Entry::Again { .. } | Entry::Shared { .. })) => {
                return self.follow_message(spot.entry);
            }
            Some(_) if double || self.reading.on => {
                self.reading.on = true;
                self.reading.spot = spot;
            }
            _ => {}
        }
        Vec::new()
    }

    /// Keeps the cursor inside the transcript, which may have become shorter.
    pub(crate) fn settle_reading(&mut self) {
        let count = self.session.transcript.len();
        if count == 0 || self.focus != Pane::Chat {
            self.stop_reading();
        }
        if self.reading.spot.entry >= count {
            self.reading.spot = self.sound(self.reading.spot);
        }
        if self.composer.is_empty() || self.reading.rerun.as_ref().is_some_and(|rerun| rerun.entry >= count) {
            self.reading.rerun = None;
        }
        self.reading.turned.retain(|entry| *entry < count);
    }
}

/// The first file of the repository that a text names, and the line that stands with it: `a.rs:7`, `"a.py", line 7`.
fn named_place(text: &str, paths: &[String]) -> Option<(String, usize)> {
    let is_part = |c: char| c.is_alphanumeric() || "_-./+@~".contains(c);
    let words = text.split(|c: char| !is_part(c)).filter(|word| word.contains(['.', '/']));
    for word in words {
        let named = word.trim_end_matches(['.', '/']).trim_start_matches("./");
        let Some(path) = paths.iter().find(|path| is_path(path, named)) else { continue };
        let start = named.as_ptr() as usize - text.as_ptr() as usize + named.len();
        let after = text.get(start..).unwrap_or_default().trim_start_matches(['`', '"', '\'']);
        let after = after.strip_prefix(", line ").or(after.strip_prefix(':')).or(after.strip_prefix('('));
        let digits: String = after.unwrap_or_default().chars().take_while(char::is_ascii_digit).collect();
        return Some((path.clone(), digits.parse().unwrap_or(1).max(1)));
    }
    None
}

#[cfg(test)]
mod tests;
