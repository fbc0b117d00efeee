//! The actions of the context pane.

use crate::context::Prompt;
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Editing, Task, run};
use crate::tui::overlay::Overlay;
use crate::tui::pane::context::{ContextRow, rows};

impl App {
    fn prompt(&self) -> Option<&Prompt> {
        self.session.view.as_ref().map(|view| &*view.prompt)
    }

    /// How many rows the pane has.
    pub(in crate::tui) fn context_rows(&self) -> usize {
        self.prompt().map_or(0, |prompt| rows(prompt, self.context_order).len())
    }

    /// The place in the request of the chunk under the cursor.
    pub(in crate::tui) fn context_place(&self) -> Option<usize> {
        match rows(self.prompt()?, self.context_order).get(self.context.selected()?)? {
            ContextRow::Chunk(place) => Some(*place),
            ContextRow::Kind(..) => None,
        }
    }

    /// The file under the cursor of the context pane, if it is one.
    fn context_file(&self) -> Option<String> {
        let part = self.prompt()?.chunks.get(self.context_place()?)?;
        part.kind.path().map(str::to_owned)
    }

    /// The title of the part under the cursor of the context pane.
    pub(in crate::tui) fn context_title(&self) -> Option<String> {
        Some(self.prompt()?.chunks.get(self.context_place()?)?.title.clone())
    }

    /// Keeps the cursor of the context pane on the part of that title: parts change their places with what they are.
    pub(in crate::tui) fn hold_context(&mut self, title: Option<&str>) {
        let Some(view) = &self.session.view else { return };
        let parts = &view.prompt.chunks;
        let rows = rows(&view.prompt, self.context_order);
        self.context.set_len(rows.len());
        let is_it = |row: &ContextRow| match row {
            ContextRow::Chunk(place) => parts.get(*place).map(|part| part.title.as_str()) == title,
            ContextRow::Kind(..) => false,
        };
        if title.is_some()
            && let Some(at) = rows.iter().position(is_it)
        {
            self.context.select(at);
        }
    }

    /// Why an action of the context pane would do nothing now.
    pub(in crate::tui) fn why_not_context(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::ContextAdd => None,
            _ if self.prompt().is_none() => Some("nothing is measured yet"),
            Action::ContextSort => None,
            Action::ContextDrop | Action::ContextReadOnly | Action::ContextEdit if self.context_file().is_none() => {
                Some("only files can be dropped, edited or made read-only; /clear empties the history")
            }
            Action::ContextView if self.context_place().is_none() => Some("the cursor is on no part of the request"),
            _ => None,
        }
    }

    pub(in crate::tui) fn act_on_context(&mut self, action: Action) -> Option<Vec<Task>> {
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
                let edit = |path| Task::Edit(Editing::File { path, line: 1 });
                return Some(self.context_file().map(edit).into_iter().collect());
            }
            Action::ContextSort => self.sort_context(),
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

    fn change_file(&mut self, action: Action) -> Vec<Task> {
        let Some(path) = self.context_file() else { return Vec::new() };
        run(match action {
            Action::ContextDrop => self.session.drop_files(&[path]),
            _ => self.session.toggle_read_only(&path),
        })
    }

    /// Shows the request as it will be sent, from one of its chunks on.
    pub(in crate::tui) fn view_prompt_at(&mut self, place: Option<usize>) {
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
