//! Actions in the transcript: the reading cursor, search, and what applies to the block under the cursor.

use rhumb_edit::EditId;
use rhumb_edit::review::{EditRecord, HunkId};
use rhumb_index::retrieval::{Citation, CitationTarget};
use rhumb_session::{is_command, parse_command};

use super::reading::{EditCard, NEW_LINES_ROW, Rerun, Stop, StopId, TranscriptSearch, is_path, stops, text_of};
use super::steps::OutputOf;
use super::tool_card::details;
use crate::tui::overlay::{LogView, Place, TextView};
use crate::tui::prelude::*;
use crate::tui::widget::markdown::links_of;

impl App {
    /// Handles a key while the transcript is read or searched. `None` if the key is for the composer.
    pub(crate) fn reading_key(&mut self, name: &str, key: KeyEvent) -> Option<Vec<Task>> {
        if self.chat.reading.typing.is_some() {
            self.search_key(key);
            return Some(Vec::new());
        }
        if !self.chat.reading.on {
            let starts = name == "Shift-Up" && self.composer.is_empty();
            return starts.then(|| self.act(Action::ReadTranscript));
        }
        let sequence = self.sequence.complete(name);
        match self.keys.lookup_reading(&sequence) {
            Binding::Action(action) => Some(self.act(action)),
            Binding::Prefix => {
                self.hint.set(format!("{sequence} …"));
                self.sequence.hold(sequence);
                Some(Vec::new())
            }
            Binding::None => {
                // This key and the following ones go to the composer.
                self.stop_reading();
                None
            }
        }
    }

    /// Starts reading at the end, or at the first visible stop if the transcript is scrolled up.
    pub(crate) fn start_reading(&mut self) {
        if self.chat.reading.on {
            return;
        }
        let Some(last) = self.session.transcript().len().checked_sub(1) else {
            return self.hint.set("there are no messages yet");
        };
        self.focus = Pane::Chat;
        self.chat.reading.on = true;
        let in_view = self.chat.reading.seen.first().filter(|_| self.chat.from_bottom > 0).map(|seen| seen.stop_id);
        self.go_to_stop(in_view.unwrap_or(StopId { entry: last, stop: usize::MAX }));
    }

    /// Returns the keys to the composer. The view does not move.
    pub(crate) fn stop_reading(&mut self) {
        (self.chat.reading.on, self.chat.reading.typing) = (false, None);
    }

    /// Moves the cursor to a stop, or the nearest one before it, and shows it.
    pub(super) fn go_to_stop(&mut self, stop_id: StopId) {
        self.chat.reading.stop_id = self.nearest_stop(stop_id);
        self.chat.reading.follow = true;
        if let Some(search) = &mut self.chat.reading.search {
            search.nth = 0;
        }
    }

    /// The stop, or the nearest visible one before it.
    fn nearest_stop(&self, stop_id: StopId) -> StopId {
        let entry = stop_id.entry.min(self.session.transcript().len().saturating_sub(1));
        let entry = self.visible_entry(entry, false).or(self.visible_entry(entry, true)).unwrap_or(entry);
        let most = self.session.transcript().get(entry).map_or(0, |entry| stops(entry).len().saturating_sub(1));
        StopId { entry, stop: if entry < stop_id.entry { most } else { stop_id.stop.min(most) } }
    }

    /// The first entry with lines from `from` on, in a direction.
    fn visible_entry(&self, from: usize, forward: bool) -> Option<usize> {
        let views = self.chat.entry_views(self.session.transcript());
        let is_visible = |at: &usize| views.get(*at).is_some_and(|view| !view.hidden);
        if forward { (from..views.len()).find(is_visible) } else { (0..=from).rev().find(is_visible) }
    }

    fn stop_at_cursor(&self) -> Option<Stop> {
        let stop_id = self.nearest_stop(self.chat.reading.stop_id);
        stops(self.session.transcript().get(stop_id.entry)?).into_iter().nth(stop_id.stop)
    }

    /// Handles an action in the transcript. `None` if the transcript has no such action.
    pub(crate) fn act_on_transcript(&mut self, action: Action) -> Option<Vec<Task>> {
        match action {
            Action::ReadTranscript if self.chat.reading.on => self.stop_reading(),
            Action::ReadTranscript => self.start_reading(),
            Action::SearchTranscript => self.open_search(),
            Action::ScrollToEnd => self.chat.from_bottom = 0,
            Action::ScrollToStart => self.show_entry(Some(0)),
            Action::MessageBack => self.show_message(false),
            Action::MessageForward => self.show_message(true),
            Action::ToggleThoughts if self.chat.reading.on && self.toggle_thoughts_here() => {}
            Action::ToggleThoughts => {
                self.chat.reading.toggled.clear();
                self.chat.thoughts = !self.chat.thoughts;
            }
            action if self.chat.reading.on => return self.act_while_reading(action),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn act_while_reading(&mut self, action: Action) -> Option<Vec<Task>> {
        let stop_id = self.chat.reading.stop_id;
        match action {
            Action::Down => self.step(true),
            Action::Up => self.step(false),
            Action::PageDown => self.chat.from_bottom = self.chat.from_bottom.saturating_sub(self.layout.page_rows()),
            Action::PageUp => self.chat.from_bottom += self.layout.page_rows(),
            Action::Top => self.go_to_stop(StopId::default()),
            Action::Bottom => self.go_to_stop(StopId { entry: usize::MAX, stop: usize::MAX }),
            Action::NextMessage => self.go_to_message(self.message_after(stop_id.entry)),
            Action::PreviousMessage if stop_id.stop > 0 => self.go_to_message(Some(stop_id.entry)),
            Action::PreviousMessage => self.go_to_message(self.message_before(stop_id.entry)),
            Action::SearchHere => self.open_search(),
            Action::NextMatch => self.next_match(true),
            Action::PreviousMatch => self.next_match(false),
            Action::NextLink => self.next_link(true),
            Action::PreviousLink => self.next_link(false),
            Action::CopyBlock => return Some(self.copy_block()),
            Action::CopyMessage => return Some(self.copy_message()),
            Action::Follow => return Some(self.follow()),
            Action::OpenPlace => return Some(self.open_place()),
            Action::EditAndRerun => return Some(self.edit_and_rerun(stop_id.entry)),
            Action::Escape if self.chat.reading.search.is_some() => self.chat.reading.search = None,
            Action::Escape | Action::BackToTyping | Action::Leave => self.stop_reading(),
            Action::FocusNext | Action::FocusPrevious => {
                self.stop_reading();
                return None;
            }
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Moves by one stop, or by half a page within a stop that is taller than the view.
    fn step(&mut self, down: bool) {
        let (above, below) = self.chat.reading.hidden();
        let (half, stop_id) = ((self.layout.page_rows() / 2).max(1), self.chat.reading.stop_id);
        if down && below > 0 && !self.chat.reading.follow {
            self.chat.from_bottom = self.chat.from_bottom.saturating_sub(below.min(half));
            return;
        }
        if !down && above > 0 && !self.chat.reading.follow {
            self.chat.from_bottom += above.min(half);
            return;
        }
        let count = self.session.transcript().get(stop_id.entry).map_or(0, |entry| stops(entry).len());
        self.go_to_stop(match (down, stop_id.stop) {
            (true, stop) if stop + 1 < count => StopId { stop: stop + 1, ..stop_id },
            (true, _) => match self.visible_entry(stop_id.entry + 1, true) {
                Some(entry) => StopId { entry, stop: 0 },
                None => stop_id,
            },
            (false, 0) => match stop_id.entry.checked_sub(1).and_then(|at| self.visible_entry(at, false)) {
                Some(entry) => StopId { entry, stop: usize::MAX },
                None => stop_id,
            },
            (false, stop) => StopId { stop: stop - 1, ..stop_id },
        });
    }

    /// The entries that are messages. The cards of the agent are not.
    fn visible_messages(&self) -> impl DoubleEndedIterator<Item = usize> {
        let entries = self.session.transcript();
        let views = self.chat.entry_views(entries).into_iter().enumerate();
        views
            .filter(|(at, view)| {
                let is_none =
                    matches!(entries.get(*at), Some(Entry::Status(_) | Entry::Cleared | Entry::Tool(_)) | None);
                !is_none && !view.hidden && view.output == OutputOf::Nothing
            })
            .map(|(at, _)| at)
    }

    fn message_before(&self, entry: usize) -> Option<usize> {
        self.visible_messages().rev().find(|at| *at < entry)
    }

    fn message_after(&self, entry: usize) -> Option<usize> {
        self.visible_messages().find(|at| *at > entry)
    }

    fn go_to_message(&mut self, entry: Option<usize>) {
        match entry {
            Some(entry) => {
                self.go_to_stop(StopId { entry, stop: 0 });
                self.chat.reading.top = true;
            }
            None => self.hint.set("there is no further message"),
        }
    }

    /// Scrolls to the message before or after the first visible one.
    fn show_message(&mut self, forward: bool) {
        let first =
            self.chat.reading.seen.first().map(|seen| (seen.stop_id.entry, seen.stop_id.stop > 0 || seen.hidden.0 > 0));
        let (at, is_begun) =
            if self.chat.reading.follow { (self.chat.reading.stop_id.entry, false) } else { first.unwrap_or_default() };
        let to = match forward {
            true => self.message_after(at),
            false if is_begun && self.visible_messages().any(|message| message == at) => Some(at),
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
        let entry = self.chat.reading.stop_id.entry;
        let has = match self.session.transcript().get(entry) {
            Some(Entry::Answer(answer)) => !answer.reasoning.is_empty(),
            Some(Entry::Tool(_)) => true,
            Some(Entry::User { .. }) => self.has_earlier_steps(entry),
            _ => false,
        };
        if has {
            self.toggle_thoughts_of(entry);
        }
        has
    }

    /// Whether steps after a message of the user can be folded.
    fn has_earlier_steps(&self, entry: usize) -> bool {
        let views = self.chat.entry_views(self.session.transcript());
        views.get(entry).is_some_and(|view| view.earlier_steps > 0)
    }

    fn toggle_thoughts_of(&mut self, entry: usize) {
        if !self.chat.reading.toggled.remove(&entry) {
            self.chat.reading.toggled.insert(entry);
        }
    }

    fn copy_block(&mut self) -> Vec<Task> {
        let Some(stop) = self.stop_at_cursor() else { return Vec::new() };
        self.copy(stop.noun(), stop.copied())
    }

    fn copy_message(&mut self) -> Vec<Task> {
        let entry = self.session.transcript().get(self.chat.reading.stop_id.entry);
        let Some(text) = entry.map(text_of) else { return Vec::new() };
        self.copy("The message", text)
    }

    fn copy(&mut self, what: &str, text: String) -> Vec<Task> {
        if text.trim().is_empty() {
            return self.say("there is nothing to copy here");
        }
        self.hint.set(format!("copied: {}", count(text.lines().count(), "line")));
        vec![Task::Copy(ClipboardText { what: what.to_owned(), text, hint: String::new() })]
    }

    /// Opens what is under the cursor: a link, reasoning, an edit or a log.
    fn follow(&mut self) -> Vec<Task> {
        let entry = self.chat.reading.stop_id.entry;
        if let Some(tasks) = self.follow_link() {
            return tasks;
        }
        match self.stop_at_cursor() {
            Some(Stop::Thoughts(_)) => self.toggle_thoughts_of(entry),
            Some(Stop::Card(card)) => self.go_to_card(&card),
            Some(Stop::Tool(..)) => self.open_result(entry),
            Some(Stop::Block(block)) => match links_of(&block).into_iter().next() {
                // A link from a model is not opened in a browser before the user has seen it.
                Some(link) => return self.copy("The link", link),
                None => self.hint.set("there is nothing to open here"),
            },
            Some(Stop::Message(_)) => return self.follow_message(entry),
            Some(Stop::Code(_)) | None => self.hint.set("there is nothing to open here"),
        }
        Vec::new()
    }

    /// Opens the whole call and the whole result of a tool in the viewer.
    fn open_result(&mut self, entry: usize) {
        if let Some(Entry::Tool(tool)) = self.session.transcript().get(entry) {
            let (title, text) = details(tool);
            self.overlays.show(TextView::new(&title, &text));
        }
    }

    fn follow_message(&mut self, entry: usize) -> Vec<Task> {
        match self.session.transcript().get(entry) {
            Some(Entry::Ran(_)) => self.open_log_of(entry),
            Some(Entry::Shared { text, .. } | Entry::FollowUp { text, .. } | Entry::User { text, .. })
                if text.lines().count() > 1 =>
            {
                let title = if let Some(Entry::Shared { title, .. }) = self.session.transcript().get(entry) {
                    title
                } else {
                    "the message"
                };
                self.overlays.show(TextView::new(title, text));
            }
            _ => self.hint.set("there is nothing to open here"),
        }
        Vec::new()
    }

    /// Opens the log of the command under the cursor, or the newest log.
    pub(crate) fn open_log(&mut self) {
        let logs = self.session.processes().logs();
        let is_run = |entry: &usize| matches!(self.session.transcript().get(*entry), Some(Entry::Ran(_)));
        let under_cursor =
            Some(self.chat.reading.stop_id.entry).filter(|_| self.chat.reading.on && self.focus == Pane::Chat);
        let last_of_earlier_start =
            || (0..self.session.transcript().len()).rev().find(is_run).filter(|_| logs.is_empty());
        match under_cursor.filter(is_run).or_else(last_of_earlier_start) {
            Some(entry) => self.open_log_of(entry),
            None => self.overlays.show(LogView::new(logs)),
        }
    }

    /// Opens the log of a command of the transcript. After a restart only its last lines are available.
    fn open_log_of(&mut self, entry: usize) {
        let Some(Entry::Ran(ran)) = self.session.transcript().get(entry) else { return };
        let logs = self.session.processes().logs();
        let is_held = logs.iter().any(|log| log.run == ran.run && log.line == ran.line);
        if is_held {
            self.overlays.show(LogView::new(logs).at_run(ran.run))
        } else {
            self.overlays.show(TextView::new(&ran.line, &ran.excerpt(" that are not kept")))
        }
    }

    fn go_to_card(&mut self, card: &EditCard) {
        let review = self.session.review();
        let Some(edit) = card.edit else {
            return self.hint.set("this edit is not under review");
        };
        let is_its_hunk = |id: &HunkId| review.hunk(*id).is_some_and(|hunk| hunk.edits.contains(&edit));
        let hunk = review.ids().find(is_its_hunk);
        let refused = review.refused.iter().position(|outcome| outcome.edits.contains(&edit));
        if hunk.is_none() && refused.is_none() {
            return self.hint.set(match self.edit_record(edit).map(|record| self.session.edit_state(record)) {
                Some(state) => format!("this edit is no longer under review: {}", state.label()),
                None => "this edit is not under review".to_owned(),
            });
        }
        self.stop_reading();
        self.focus = Pane::Review;
        match (hunk, refused) {
            (Some(hunk), _) => self.go_to(hunk),
            (None, Some(refused)) => self.go_to_refused(refused),
            (None, None) => {}
        }
    }

    fn edit_record(&self, id: EditId) -> Option<&EditRecord> {
        let answers = self.session.transcript().iter().filter_map(|entry| match entry {
            Entry::Answer(answer) => Some(answer),
            _ => None,
        });
        answers.flat_map(|answer| &answer.edits).find(|record| record.id == id)
    }

    /// Opens the first repository file that the block names, at its line.
    fn open_place(&mut self) -> Vec<Task> {
        let Some(stop) = self.stop_at_cursor() else { return Vec::new() };
        let place = match &stop {
            Stop::Card(EditCard { path: Some(path), .. }) => {
                let file = self.session.paths().iter().find(|known| is_path(known, path));
                file.map(|path| (path.clone(), self.line_in_review(&stop).unwrap_or(1)))
            }
            stop => named_place(stop.searched(), self.session.paths()),
        };
        match place {
            Some((path, line)) => vec![Task::Edit(Editing::File { path, line })],
            None => self.say("this names no file of the repository"),
        }
    }

    /// The line (1-based) of an edit in its base file.
    fn line_in_review(&self, stop: &Stop) -> Option<usize> {
        let Stop::Card(EditCard { edit: Some(edit), .. }) = stop else { return None };
        let hunks = self.session.review().files.iter().flat_map(|file| &file.hunks);
        let hunk = hunks.into_iter().find(|hunk| hunk.edits.contains(edit))?;
        Some(hunk.hunk.base.start + 1)
    }

    fn open_search(&mut self) {
        self.start_reading();
        if self.chat.reading.on {
            self.chat.reading.typing = Some(LineInput::default());
        }
    }

    /// Handles a key of the search prompt. The search starts upwards, towards earlier messages.
    fn search_key(&mut self, key: KeyEvent) {
        let Some(typing) = &mut self.chat.reading.typing else { return };
        match key.code {
            KeyCode::Enter => {
                self.chat.reading.typing = None;
                if self.chat.reading.search.is_none() {
                    self.hint.set("no search is active");
                }
            }
            KeyCode::Esc => (self.chat.reading.typing, self.chat.reading.search) = (None, None),
            KeyCode::Down | KeyCode::Up => self.next_match(key.code == KeyCode::Down),
            _ => {
                if typing.key(key) {
                    let query = typing.text().to_owned();
                    self.search_for(&query);
                }
            }
        }
    }

    /// Inserts pasted text into the search prompt. Returns false if that is not open.
    pub(crate) fn paste_into_search(&mut self, text: &str) -> bool {
        let Some(typing) = &mut self.chat.reading.typing else { return false };
        typing.insert(text);
        let query = typing.text().to_owned();
        self.search_for(&query);
        true
    }

    fn search_for(&mut self, query: &str) {
        self.chat.reading.search = TranscriptSearch::new(query, self.session.transcript());
        self.seek(false, true);
    }

    fn next_match(&mut self, forward: bool) {
        let Some(search) = &mut self.chat.reading.search else {
            return self.hint.set("no search is active");
        };
        search.refresh(self.session.transcript());
        self.seek(forward, false);
    }

    /// Goes to a match; with `here`, also to one in the stop under the cursor.
    fn seek(&mut self, forward: bool, here: bool) {
        let Some(search) = &mut self.chat.reading.search else { return };
        match search.next(self.session.transcript(), self.chat.reading.stop_id, forward, here) {
            Some(stop_id) => self.show_match(stop_id),
            None => self.hint.set(format!("\"{}\" is nowhere", search.query)),
        }
    }

    fn show_match(&mut self, stop_id: StopId) {
        (self.chat.reading.stop_id, self.chat.reading.follow) = (stop_id, true);
        self.unfold(stop_id);
    }

    /// Unfolds a stop that has a match: reasoning, a result, or the steps of an earlier loop.
    fn unfold(&mut self, stop_id: StopId) {
        let entries = self.session.transcript();
        let Some(entry) = entries.get(stop_id.entry) else { return };
        let is_hidden = self.chat.entry_views(entries).get(stop_id.entry).is_some_and(|view| view.hidden);
        let is_user = |entry: &Entry| matches!(entry, Entry::User { .. });
        let message = entries.get(..stop_id.entry).and_then(|before| before.iter().rposition(is_user));
        let folds = matches!(stops(entry).get(stop_id.stop), Some(Stop::Thoughts(_) | Stop::Tool(..)));
        let is_open = self.chat.is_open(entry, stop_id.entry);
        if let Some(message) = message.filter(|_| is_hidden) {
            self.toggle_thoughts_of(message);
        }
        if folds && !is_open {
            self.toggle_thoughts_of(stop_id.entry);
        }
    }

    /// Handles a click on a row of the chat, numbered as by [`StopId::row`].
    pub(crate) fn click_in_chat(&mut self, row: usize, double: bool) -> Vec<Task> {
        self.focus = Pane::Chat;
        if row == NEW_LINES_ROW {
            self.stop_reading();
            self.chat.from_bottom = 0;
            return Vec::new();
        }
        let stop_id = self.nearest_stop(StopId::of_row(row));
        let entry = self.session.transcript().get(stop_id.entry);
        match entry.and_then(|entry| stops(entry).into_iter().nth(stop_id.stop)) {
            Some(Stop::Card(card)) => self.go_to_card(&card),
            Some(Stop::Thoughts(_) | Stop::Tool(..)) => self.toggle_thoughts_of(stop_id.entry),
            Some(_) if self.has_earlier_steps(stop_id.entry) => self.toggle_thoughts_of(stop_id.entry),
            Some(_) if matches!(entry, Some(Entry::Ran(_))) => self.open_log_of(stop_id.entry),
            Some(_) if matches!(entry, Some(Entry::FollowUp { .. } | Entry::Shared { .. })) => {
                return self.follow_message(stop_id.entry);
            }
            Some(_) if double || self.chat.reading.on => {
                self.chat.reading.on = true;
                self.chat.reading.stop_id = stop_id;
            }
            _ => {}
        }
        Vec::new()
    }

    /// Keeps the cursor inside the transcript, which may have become shorter.
    pub(crate) fn settle_reading(&mut self) {
        let count = self.session.transcript().len();
        if count == 0 || self.focus != Pane::Chat {
            self.stop_reading();
        }
        if self.chat.reading.stop_id.entry >= count {
            self.chat.reading.stop_id = self.nearest_stop(self.chat.reading.stop_id);
        }
        if self.composer.is_empty() || self.chat.reading.rerun.as_ref().is_some_and(|rerun| rerun.entry >= count) {
            self.chat.reading.rerun = None;
        }
        self.chat.reading.toggled.retain(|entry| *entry < count);
    }

    /// Requests the files that new answers cite.
    pub(crate) fn update_citations(&mut self) -> Vec<Task> {
        run(self.chat.citing.update(self.session.transcript(), self.session.paths()))
    }

    fn cited_at(&self, stop_id: StopId) -> Vec<Citation> {
        let Some(entry) = self.session.transcript().get(stop_id.entry) else { return Vec::new() };
        if self.chat.citing.of(stop_id.entry).is_empty() {
            return Vec::new();
        }
        match stops(entry).into_iter().nth(stop_id.stop) {
            Some(Stop::Block(text) | Stop::Message(text)) => self.chat.citing.within(&text),
            Some(Stop::Code(code)) => self.chat.citing.within(&code.text),
            Some(Stop::Thoughts(_) | Stop::Card(_) | Stop::Tool(..)) | None => Vec::new(),
        }
    }

    pub(super) fn next_link(&mut self, forward: bool) {
        let stop_id = self.chat.reading.stop_id;
        let here = self.cited_at(stop_id);
        let beside = match (self.chat.reading.link_at(stop_id), forward) {
            (None, true) => Some(0),
            (None, false) => here.len().checked_sub(1),
            (Some(at), true) => Some(at + 1),
            (Some(at), false) => at.checked_sub(1),
        };
        if let Some((at, citation)) = beside.and_then(|at| Some((at, here.get(at)?.clone()))) {
            return self.go_to_link(stop_id, at, citation);
        }
        match self.stops_with_links(stop_id, forward).and_then(|(stop_id, cited)| {
            let at = if forward { 0 } else { cited.len().checked_sub(1)? };
            Some((stop_id, at, cited.get(at)?.clone()))
        }) {
            Some((stop_id, at, citation)) => self.go_to_link(stop_id, at, citation),
            None => self.hint.set(format!("there is no link {}", if forward { "further down" } else { "further up" })),
        }
    }

    /// The next stop in a direction that has citations.
    fn stops_with_links(&self, from: StopId, forward: bool) -> Option<(StopId, Vec<Citation>)> {
        let cites = |entry: &usize| !self.chat.citing.of(*entry).is_empty();
        let count = self.session.transcript().len();
        let entries: Vec<usize> = if forward {
            (from.entry..count).filter(cites).collect()
        } else {
            (0..count.min(from.entry + 1)).rev().filter(cites).collect()
        };
        entries.into_iter().find_map(|entry| {
            let all = self.session.transcript().get(entry).map_or(0, |entry| stops(entry).len());
            let mut spots: Vec<StopId> = (0..all).map(|stop| StopId { entry, stop }).collect();
            spots.retain(|stop_id| if forward { *stop_id > from } else { *stop_id < from });
            if !forward {
                spots.reverse();
            }
            let cited = spots.into_iter().map(|stop_id| (stop_id, self.cited_at(stop_id)));
            cited.into_iter().find(|(_, cited)| !cited.is_empty())
        })
    }

    fn go_to_link(&mut self, stop_id: StopId, at: usize, citation: Citation) {
        self.go_to_stop(stop_id);
        self.hint.set(match self.broken_link_hint(stop_id.entry, &citation) {
            Some(why) => why,
            None => format!("{} shows {}", self.keys.first(crate::tui::action::Action::Follow), citation.name()),
        });
        self.chat.reading.set_link(stop_id, at, citation);
    }

    /// Opens the link under the cursor, or the first link of the block. `None` without a link.
    pub(super) fn follow_link(&mut self) -> Option<Vec<Task>> {
        let stop_id = self.chat.reading.stop_id;
        let cited = self.cited_at(stop_id);
        let citation = cited.get(self.chat.reading.link_at(stop_id).unwrap_or(0))?;
        Some(self.open_citation(stop_id.entry, citation))
    }

    pub(crate) fn click_citation(&mut self, entry: usize, at: usize) -> Vec<Task> {
        match self.chat.citing.of(entry).get(at).cloned() {
            Some(citation) => self.open_citation(entry, &citation),
            None => Vec::new(),
        }
    }

    fn broken_link_hint(&self, entry: usize, citation: &Citation) -> Option<String> {
        match self.chat.citing.target(entry, citation) {
            CitationTarget::NoFile => Some(format!("there is no file {} in the repository", citation.path)),
            CitationTarget::Beyond(path, 1) => Some(format!("{path} has 1 line: there is no {}", citation.name())),
            CitationTarget::Beyond(path, lines) => {
                Some(format!("{path} has {lines} lines: there is no {}", citation.name()))
            }
            CitationTarget::Lines(_) | CitationTarget::Uncounted(_) => None,
        }
    }

    /// Shows the cited location, followed by the others that the answer cites.
    fn open_citation(&mut self, entry: usize, citation: &Citation) -> Vec<Task> {
        let mut places: Vec<Place> = self.places_of(entry, citation);
        let why = self.broken_link_hint(entry, citation);
        if places.is_empty() {
            return self.say(why.unwrap_or_default());
        }
        let all = self.chat.citing.of(entry).to_vec();
        let is_it = |other: &Citation| other.is_same(citation);
        let here = all.iter().position(is_it).map_or(0, |at| at + 1);
        let (before, behind) = all.split_at(here.min(all.len()));
        for other in behind.iter().chain(before).filter(|other| !is_it(other)) {
            if !self.chat.citing.target(entry, other).is_broken() {
                let mut more = self.places_of(entry, other);
                more.retain(|place| !places.contains(place));
                places.extend(more);
            }
        }
        let tasks = self.show_locations(places);
        self.hint.set(why.unwrap_or_default());
        tasks
    }

    /// The locations of a citation. For a line beyond the end of a file, its end.
    fn places_of(&self, entry: usize, citation: &Citation) -> Vec<Place> {
        let place = |path: &String| Place { end: Some(citation.last), ..Place::at(path, Some(citation.first), "") };
        match self.chat.citing.target(entry, citation) {
            CitationTarget::Lines(paths) | CitationTarget::Uncounted(paths) => paths.iter().map(place).collect(),
            CitationTarget::Beyond(path, lines) => {
                vec![Place::at(&path, Some(lines), &format!("no line {}, this is the end", citation.last))]
            }
            CitationTarget::NoFile => Vec::new(),
        }
    }

    /// Puts a message of the user into the composer. Later messages are dropped only when it is sent.
    pub(super) fn edit_and_rerun(&mut self, entry: usize) -> Vec<Task> {
        // For an answer, use the message that it answers.
        let at = (0..=entry.min(self.session.transcript().len().saturating_sub(1))).rev();
        let is_user = |at: &usize| matches!(self.session.transcript().get(*at), Some(Entry::User { .. }));
        let Some(entry) = at.into_iter().find(is_user) else {
            return self.say("this is not a message of yours");
        };
        let Some((turn, text)) = self.session.message_as_typed(entry) else { return Vec::new() };
        let kept = !self.composer.text().trim().is_empty();
        self.keep_draft();
        self.stop_reading();
        self.chat.reading.rerun = Some(Rerun { turn, entry });
        self.completion.is_suppressed = true;
        let tasks = self.typed(|app| app.composer.open(&text));
        // The title above the composer shows what sending drops.
        let [drops, back] = [Action::Interrupt, Action::HistoryBack].map(|action| self.keys.first(action));
        let kept = if kept { format!(" · {back} your draft") } else { String::new() };
        self.hint.set(format!("{drops} cancels{kept}"));
        tasks
    }

    /// The title that says what sending will drop, while a message is edited to be sent again.
    pub(crate) fn rerun_title(&self) -> Option<String> {
        let rerun = self.chat.reading.rerun.as_ref()?;
        let after = self.session.transcript().iter().skip(rerun.entry + 1);
        let lost = after.filter(|entry| !matches!(entry, Entry::Status(_) | Entry::Cleared)).count();
        let turn = rerun.turn;
        Some(match lost {
            0 => format!("turn {turn} again"),
            1 => format!("turn {turn} again: sending leaves out the 1 message after it"),
            lost => format!("turn {turn} again: sending leaves out the {lost} messages after it"),
        })
    }

    /// Drops the turn that is sent again and all later ones. `None` if that is not possible now.
    pub(crate) fn start_rerun(&mut self, text: &str) -> Option<Vec<Effect>> {
        // Other commands are not messages. Without a user who can answer, the session reports the error and the text
        // must stay.
        let goes_out = is_message(text) && *self.session.connection() != Connection::None;
        let Some(rerun) = self.chat.reading.rerun.clone().filter(|_| goes_out) else { return Some(Vec::new()) };
        if self.session.turn().is_some() {
            self.hint.set("the model is still answering");
            return None;
        }
        let effects = self.session.rewind(Some(rerun.turn));
        if self.session.transcript().iter().skip(rerun.entry).any(|entry| matches!(entry, Entry::User { .. })) {
            // The session has reported the reason.
            return None;
        }
        // The composer contains the edited message.
        self.session.forget_returned_draft();
        self.chat.reading.rerun = None;
        Some(effects)
    }
}

/// The first repository file that a text names, and its line: `a.rs:7`, `"a.py", line 7`.
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

/// Whether the text is sent to the model, with or without a mode prefix.
fn is_message(text: &str) -> bool {
    !is_command(text) || matches!(parse_command(text.trim()), Ok(Command::Mode { message, .. }) if !message.is_empty())
}

#[cfg(test)]
mod tests;
