//! The definitions of the repository to choose from.

use std::sync::Arc;

use crossterm::event::KeyEvent;

use super::look::Look;
use super::{Overlay, Reply};
use crate::tui::key;
use crate::tui::widget::picker::{Items, Outcome, Picker, Symbols};
use crate::tui::widget::preview::Marked;
use rhumb_index::repo_map::{RepoMap, TagGraph};

/// The list while it is open.
#[derive(Debug)]
pub struct SymbolList {
    /// The list on the screen.
    pub picker: Picker,
    symbols: Arc<Symbols>,
}

impl Overlay {
    /// The definitions of the repository, in the order of the map where there is one.
    pub fn symbols(graph: &Arc<TagGraph>, map: Option<&RepoMap>) -> Self {
        Self::Symbols(SymbolList::new(graph, map))
    }
}

impl SymbolList {
    fn new(graph: &Arc<TagGraph>, map: Option<&RepoMap>) -> Self {
        let symbols = Arc::new(Symbols::new(Arc::clone(graph), map));
        let keys = [("Alt-a", "add the file"), ("Alt-e", "editor")];
        let picker = Picker::of("symbols: @ it in the message", Items::Symbols(Arc::clone(&symbols)));
        Self { picker: picker.with_preview().extra_keys(&keys), symbols }
    }

    /// Takes a key: Enter names the symbol in the message; others add its file or open it in the editor.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        let here = self.picker.selected().and_then(|at| self.symbols.get(at));
        match (key::name(key).as_str(), here) {
            ("Alt-a", Some(symbol)) => return Reply::Add(vec![symbol.path.to_owned()]),
            ("Alt-e", Some(symbol)) => return Reply::Edit(symbol.path.to_owned(), symbol.line),
            _ => {}
        }
        match self.picker.key(key) {
            Outcome::Open => Reply::Stay,
            Outcome::Cancelled => Reply::Close,
            Outcome::Picked(rows) => {
                let chosen = rows.first().and_then(|row| self.symbols.get(*row));
                chosen.map_or(Reply::Close, |symbol| Reply::Mention(symbol.name.to_owned()))
            }
        }
    }

    /// Where the definition under the cursor stands.
    pub fn look(&self) -> Option<Look> {
        let symbol = self.symbols.get(self.picker.selected()?)?;
        Some(Look::File(symbol.path.to_owned(), Some(Marked::line(symbol.line))))
    }
}
