//! The actions of the context pane.

use crate::context::{ChunkKind, Prompt, SentPassage};
use crate::session::{Command, PassageChoice};
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Editing, Task, run};
use crate::tui::overlay::{Overlay, Place};
use crate::tui::pane::context::{ContextRow, rows};

impl App {
    fn prompt(&self) -> Option<&Prompt> {
        self.session.view.as_ref().map(|view| &*view.prompt)
    }

    /// How many rows the pane has.
    pub(crate) fn context_rows(&self) -> usize {
        self.prompt().map_or(0, |prompt| rows(prompt, self.context_order, self.passages_open).len())
    }

    fn context_row(&self) -> Option<ContextRow> {
        rows(self.prompt()?, self.context_order, self.passages_open).get(self.context.selected()?).copied()
    }

    /// The place in the request of the chunk under the cursor, or of the one that what is there belongs to.
    pub(crate) fn context_place(&self) -> Option<usize> {
        match self.context_row()? {
            ContextRow::Chunk(place) => Some(place),
            ContextRow::Passage(_) => passages_chunk(self.prompt()?),
            ContextRow::Kind(..) => None,
        }
    }

    /// The passage under the cursor.
    pub(crate) fn context_passage(&self) -> Option<&SentPassage> {
        match self.context_row()? {
            ContextRow::Passage(place) => self.prompt()?.passages.get(place),
            _ => None,
        }
    }

    /// Whether the cursor is on the passages as a whole.
    fn on_passages(&self) -> bool {
        matches!(self.context_row(), Some(ContextRow::Chunk(place)) if self.prompt().and_then(passages_chunk) == Some(place))
    }

    /// The file under the cursor of the context pane, if it is one.
    fn context_file(&self) -> Option<String> {
        let part = self.prompt()?.chunks.get(self.context_place()?)?;
        part.kind.path().map(str::to_owned)
    }

    /// The title of the part under the cursor of the context pane.
    pub(crate) fn context_title(&self) -> Option<String> {
        title_of(self.prompt()?, self.context_row()?)
    }

    /// Keeps the cursor of the context pane on the part of that title: parts change their places with what they are.
    pub(crate) fn hold_context(&mut self, title: Option<&str>) {
        let Some(view) = &self.session.view else { return };
        let rows = rows(&view.prompt, self.context_order, self.passages_open);
        self.context.set_len(rows.len());
        let is_it = |row: &ContextRow| title_of(&view.prompt, *row).as_deref() == title;
        if title.is_some()
            && let Some(at) = rows.iter().position(is_it)
        {
            self.context.select(at);
        }
    }

    /// Why an action of the context pane would do nothing now.
    pub(crate) fn why_not_context(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::ContextAdd => None,
            _ if self.prompt().is_none() => Some("nothing is measured yet"),
            Action::ContextSort => None,
            Action::ContextDrop if self.on_passages() || self.context_passage().is_some() => None,
            Action::ContextEdit if self.context_passage().is_some() => None,
            Action::ContextDrop | Action::ContextReadOnly | Action::ContextEdit if self.context_file().is_none() => {
                Some("only files can be dropped, edited or made read-only; /clear empties the history")
            }
            Action::ContextView if self.context_place().is_none() => Some("the cursor is not on a part of the request"),
            _ => None,
        }
    }

    pub(crate) fn act_on_context(&mut self, action: Action) -> Option<Vec<Task>> {
        let own = action.info().is_some_and(|info| info.scope == crate::tui::action::Scope::Pane(Pane::Context));
        if let Some(why) = own.then(|| self.why_not_context(action)).flatten() {
            self.hint = why.into();
            return Some(Vec::new());
        }
        match action {
            Action::Down => self.step_in_context(1),
            Action::Up => self.step_in_context(-1),
            Action::PageDown => self.context.page_down(),
            Action::PageUp => self.context.page_up(),
            Action::Top => self.context.first(),
            Action::Bottom => self.context.last(),
            Action::ContextDrop | Action::ContextReadOnly => return Some(self.change_file(action)),
            Action::ContextEdit => {
                let passage = self.context_passage().map(|passage| &passage.place);
                let passage = passage.map(|place| (place.path.clone(), place.line as usize));
                let edit = |(path, line)| Task::Edit(Editing::File { path, line });
                let file = passage.or_else(|| Some((self.context_file()?, 1)));
                return Some(file.map(edit).into_iter().collect());
            }
            Action::ContextSort => self.sort_context(),
            Action::ContextView if self.on_passages() => self.fold_passages(),
            Action::ContextView if self.context_passage().is_some() => {
                return Some(self.peek_at(self.passage_places()));
            }
            Action::ContextView => self.view_prompt_at(self.context_place()),
            _ => return None,
        }
        if self.context.selected() == Some(0) && action == Action::Top && self.context_place().is_none() {
            self.context.step(1);
        }
        Some(Vec::new())
    }

    /// Moves the cursor; headings are passed over.
    fn step_in_context(&mut self, by: isize) {
        self.context.step(by);
        if self.context_place().is_none() {
            self.context.step(by);
        }
        if self.context_place().is_none() {
            self.context.step(-by);
        }
    }

    /// Lists the chunks in the next order; the cursor stays on its chunk.
    fn sort_context(&mut self) {
        let title = self.context_title();
        self.context_order = self.context_order.next();
        self.hold_context(title.as_deref());
        self.hint = format!("the parts of the request {}", self.context_order.title());
    }

    /// Lists the passages of the repository one by one, or as one row again.
    fn fold_passages(&mut self) {
        let title = self.context_title();
        self.passages_open = !self.passages_open;
        self.hold_context(title.as_deref());
    }

    /// The passages of the request, the one under the cursor first.
    fn passage_places(&self) -> Vec<Place> {
        let Some((prompt, ContextRow::Passage(here))) = self.prompt().zip(self.context_row()) else {
            return Vec::new();
        };
        let place = |passage: &SentPassage| Place {
            path: passage.place.path.clone(),
            line: Some(passage.place.line),
            end: Some(passage.place.end_line),
            name: passage.place.anchor.as_ref().map_or_else(String::new, |anchor| anchor.symbol.clone()),
        };
        let mut places: Vec<Place> = prompt.passages.iter().map(place).collect();
        places.rotate_left(here.min(prompt.passages.len()));
        places
    }

    fn change_file(&mut self, action: Action) -> Vec<Task> {
        if action == Action::ContextDrop && self.on_passages() {
            return self.command(Command::Passages(PassageChoice::DropAll));
        }
        if let Some(gone) = self.context_passage().map(|passage| passage.place.clone()) {
            return run(self.session.drop_passages(|place| place.is_same(&gone)));
        }
        let Some(path) = self.context_file() else { return Vec::new() };
        run(match action {
            Action::ContextDrop => self.session.drop_files(&[path]),
            _ => self.session.toggle_read_only(&path),
        })
    }

    /// Shows the request as it will be sent, from one of its chunks on.
    pub(crate) fn view_prompt_at(&mut self, place: Option<usize>) {
        if let Some(view) = &self.session.view {
            self.overlay = Some(Overlay::prompt(&view.prompt, place));
        }
    }

    /// A click on a row of the pane; the second one opens what is there.
    pub fn click_in_context(&mut self, row: usize, double: bool) -> Vec<Task> {
        self.focus = Pane::Context;
        self.context.select(row);
        if double { self.act_on_context(Action::ContextView).unwrap_or_default() } else { Vec::new() }
    }

    /// Turns the wheel over the pane.
    pub fn wheel_in_context(&mut self, by: isize) {
        self.context.scroll(by);
    }
}

/// The place of the passages of the repository in a request.
fn passages_chunk(prompt: &Prompt) -> Option<usize> {
    prompt.chunks.iter().position(|chunk| chunk.kind == ChunkKind::Passages)
}

/// What a row is about, to find it again.
fn title_of(prompt: &Prompt, row: ContextRow) -> Option<String> {
    match row {
        ContextRow::Chunk(place) => Some(prompt.chunks.get(place)?.title.clone()),
        ContextRow::Passage(place) => Some(prompt.passages.get(place)?.place.label()),
        ContextRow::Kind(..) => None,
    }
}
