//! From a reply to a proposal: parses the edits and finds their places in the files as they are now.

use crate::edit::{self, Files, FormatChoice, Proposal};
use crate::session::ChatFile;
use crate::workspace::{self, ReadError, Root};

/// The files of a root as the edit room wants to see them.
struct OnDisk<'a> {
    root: &'a Root,
    paths: &'a [String],
    chat: &'a [ChatFile],
}

impl Files for OnDisk<'_> {
    fn paths(&self) -> Vec<String> {
        self.paths.to_vec()
    }

    fn read(&self, path: &str) -> Result<Option<String>, String> {
        match workspace::read(self.root, path) {
            Ok(snapshot) => Ok(Some(snapshot.text.to_string())),
            Err(ReadError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn in_chat(&self, path: &str) -> bool {
        self.chat.iter().any(|file| file.path == path && !file.read_only)
    }

    fn is_ignored(&self, path: &str) -> bool {
        // What is listed is tracked, if a rule fits it; while nothing is listed nobody knows.
        !self.paths.is_empty()
            && self.paths.binary_search_by(|known| known.as_str().cmp(path)).is_err()
            && workspace::is_ignored(self.root, path)
    }

    fn root(&self) -> Option<String> {
        Some(self.root.path().display().to_string())
    }
}

/// Finds the edits of the replies to one request, oldest first, and their places, and what a reviewer should know of them. `paths` are all files of the root, sorted.
pub fn propose(root: &Root, paths: &[String], chat: &[ChatFile], replies: &[String], format: FormatChoice) -> Proposal {
    let parsed: Vec<_> = replies.iter().map(|reply| edit::parse(reply, format)).collect();
    let files = OnDisk { root, paths, chat };
    let mut proposal = edit::propose_all(&parsed, &files);
    edit::flag(&mut proposal, &files);
    proposal
}
