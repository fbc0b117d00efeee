//! Connecting a model from within the app.

use crate::session::{Connection, NewKey};
use crate::tui::app::{App, Task, run};
use crate::tui::overlay::{ConnectBox, Overlay};

impl App {
    /// Opens the screen that connects a model, where the session asks for it. Another overlay may hold work, so the screen waits until
    /// that closes.
    pub(crate) fn offer_connection(&mut self) -> Vec<Task> {
        let is_free = matches!(self.overlay, None | Some(Overlay::Connect(_)));
        let Some(request) = self.session.connecting.request.take_if(|_| is_free) else { return Vec::new() };
        let connected = match &self.session.connection {
            Connection::Remote { model, .. } => Some(model.as_str()).filter(|model| !model.is_empty()),
            Connection::Demo | Connection::None => None,
        };
        self.pending_keys.clear();
        self.overlay = Some(Overlay::Connect(Box::new(ConnectBox::new(&request, connected))));
        run(self.session.search_connections())
    }

    /// Has a key checked and stored.
    pub(crate) fn enter_key(&mut self, key: NewKey) -> Vec<Task> {
        let tasks = run(self.session.enter_key(key));
        self.refresh_connecting();
        tasks
    }

    /// Looks for keys and servers again.
    pub(crate) fn search_connections(&mut self) -> Vec<Task> {
        let tasks = run(self.session.search_connections());
        self.refresh_connecting();
        tasks
    }

    /// Shows what was found. The screen closes when a model was just connected.
    pub(crate) fn note_connecting(&mut self, is_connected: bool) {
        self.refresh_connecting();
        if is_connected && matches!(self.overlay, Some(Overlay::Connect(_))) {
            self.overlay = self.under.pop();
            self.hint = match (&self.session.connection, self.composer.is_empty()) {
                (Connection::Remote { model, .. }, true) => format!("{model} is connected"),
                (Connection::Remote { model, .. }, false) => format!("{model} is connected; Enter sends your message"),
                _ => String::new(),
            };
        }
    }

    fn refresh_connecting(&mut self) {
        if let Some(Overlay::Connect(connect)) = &mut self.overlay {
            connect.refresh(&self.session.connecting);
        }
    }
}
