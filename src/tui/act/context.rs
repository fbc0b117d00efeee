//! The actions of the context pane.

use crate::tui::action::Action;
use crate::tui::app::{App, Task, run};
use crate::tui::overlay::Overlay;

impl App {
    /// The file under the cursor of the context pane, if it is one.
    fn context_file(&self) -> Option<String> {
        let part = self.session.view.as_ref()?.prompt.chunks.get(self.context.selected()?)?;
        part.kind.path().map(str::to_owned)
    }

    /// The title of the part under the cursor of the context pane.
    pub(in crate::tui) fn context_title(&self) -> Option<String> {
        let view = self.session.view.as_ref()?;
        Some(view.prompt.chunks.get(self.context.selected()?)?.title.clone())
    }

    /// Keeps the cursor of the context pane on the part of that title: parts change their places with what they are.
    pub(in crate::tui) fn hold_context(&mut self, title: Option<&str>) {
        let Some(view) = &self.session.view else { return };
        let parts = &view.prompt.chunks;
        self.context.set_len(parts.len());
        if let Some(at) = parts.iter().position(|part| Some(part.title.as_str()) == title) {
            self.context.select(at);
        }
    }

    pub(in crate::tui) fn act_on_context(&mut self, action: Action) -> Option<Vec<Task>> {
        match action {
            Action::Down => self.context.step(1),
            Action::Up => self.context.step(-1),
            Action::PageDown => self.context.page_down(),
            Action::PageUp => self.context.page_up(),
            Action::Top => self.context.first(),
            Action::Bottom => self.context.last(),
            Action::ContextDrop | Action::ContextReadOnly => return Some(self.change_file(action)),
            Action::ContextView => self.view_part(),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn change_file(&mut self, action: Action) -> Vec<Task> {
        let Some(path) = self.context_file() else {
            self.hint = "only files can be dropped or made read-only; /clear empties the history".into();
            return Vec::new();
        };
        run(match action {
            Action::ContextDrop => self.session.drop_files(&[path]),
            _ => self.session.toggle_read_only(&path),
        })
    }

    fn view_part(&mut self) {
        let selected = self.context.selected();
        let part = selected.and_then(|at| self.session.view.as_ref()?.prompt.chunks.get(at));
        if let Some(part) = part {
            self.overlay = Some(Overlay::text(&format!("{} · {} tokens", part.title, part.tokens), &part.text));
        }
    }
}
