//! What the session has for the eyes of the user, opened as soon as nothing else lies over the panes.

use crate::tui::action::Pane;
use crate::tui::app::App;
use crate::tui::overlay::Overlay;

impl App {
    /// Opens a question that the user's last key set off, or a text that was asked for. A question opens in the review alone,
    /// where that key was pressed: somebody who has gone on to type must not answer it by a letter. It stays above the
    /// composer then.
    pub(in crate::tui) fn open_what_waits(&mut self) {
        let asks = std::mem::take(&mut self.session.asks_now);
        if self.overlay.is_some() {
            return;
        }
        if asks && self.focus == Pane::Review && self.pending_keys.is_empty() {
            self.overlay = self.session.questions.front().map(Overlay::question);
        } else if let Some((title, text)) = self.session.to_read.take() {
            self.overlay = Some(Overlay::text(&title, &text));
        }
    }
}
