//! A cache of files that are previewed without being in the chat. They are read off the draw path.

use rhumb_session::{LookupEffect, LookupResponse};

use crate::tui::prelude::*;

const MAX_FILES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    Reading,
    Text(Arc<str>),
    None(String),
}

#[derive(Debug, Default)]
pub struct Previews {
    known: BTreeMap<String, (Preview, u64)>,
    /// Counts requests; the oldest file is dropped first.
    clock: u64,
}

impl Previews {
    /// The state of a file. `None` if it was not requested.
    pub fn get(&self, path: &str) -> Option<&Preview> {
        self.known.get(path).map(|(preview, _)| preview)
    }

    /// Requests a file. Returns a task if it must be read.
    pub(super) fn want(&mut self, path: &str) -> Option<Task> {
        self.clock += 1;
        if let Some((_, used)) = self.known.get_mut(path) {
            *used = self.clock;
            return None;
        }
        if self.known.len() >= MAX_FILES {
            let oldest = self.known.iter().min_by_key(|(_, (_, used))| *used).map(|(path, _)| path.clone());
            oldest.map(|path| self.known.remove(&path));
        }
        self.known.insert(path.to_owned(), (Preview::Reading, self.clock));
        Some(Task::Run(Effect::Lookup(LookupEffect::File(path.to_owned()))))
    }

    /// Stores a file that was read. Changed files are read again.
    pub(super) fn note(&mut self, report: &Response) {
        if matches!(report, Response::Surveyed { .. }) {
            self.forget();
        }
        if let Response::LookedUp(LookupResponse::File { path, text }) = report
            && let Some((preview, _)) = self.known.get_mut(path)
        {
            *preview = match text {
                Ok(text) => Preview::Text(Arc::clone(text)),
                Err(reason) => Preview::None(reason.clone()),
            };
        }
    }

    fn forget(&mut self) {
        self.known.retain(|_, (preview, _)| *preview == Preview::Reading);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, text: &str) -> Response {
        Response::LookedUp(LookupResponse::File { path: path.into(), text: Ok(text.into()) })
    }

    #[test]
    fn a_file_is_read_once_and_again_after_it_may_have_changed() {
        let mut previews = Previews::default();
        assert!(previews.want("a").is_some() && previews.want("a").is_none());
        assert_eq!(previews.get("a"), Some(&Preview::Reading));
        previews.note(&read("a", "x"));
        assert_eq!(previews.get("a"), Some(&Preview::Text("x".into())));
        previews.forget();
        assert!(previews.get("a").is_none() && previews.want("a").is_some());
    }

    #[test]
    fn the_oldest_makes_room_and_what_nobody_wants_is_not_kept() {
        let mut previews = Previews::default();
        for number in 0..MAX_FILES + 5 {
            previews.want(&number.to_string());
        }
        assert!(previews.known.len() <= MAX_FILES && previews.get("0").is_none());
        previews.note(&read("elsewhere", "x"));
        assert!(previews.get("elsewhere").is_none());
    }
}
