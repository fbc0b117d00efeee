//! A cache of files that are previewed without being in the chat. They are read off the draw path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::app::Task;
use rhumb_session::{Effect, LookupEffect, LookupResponse, Response};

/// Files that are cached at most.
const MAX_FILES: usize = 64;

/// The state of a file preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// It is being read.
    Reading,
    /// Its text.
    Text(Arc<str>),
    /// Why there is no preview, as a message.
    None(String),
}

/// The files that were read for a look at them, by path under the root.
#[derive(Debug, Default)]
pub struct Previews {
    known: BTreeMap<String, (Preview, u64)>,
    /// Counts the requests, so that the oldest is dropped first.
    clock: u64,
}

impl Previews {
    /// The state of a file. `None` if it was not requested.
    pub fn get(&self, path: &str) -> Option<&Preview> {
        self.known.get(path).map(|(preview, _)| preview)
    }

    /// Sees to it that a file can be looked at; a task if it must be read.
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

    /// Takes note of a report: a file that was read, or files that have changed and must be read again.
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

    /// Forgets what was read: the files may have changed.
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
