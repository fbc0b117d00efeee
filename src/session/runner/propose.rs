//! From a reply to a proposal: parses the edits and finds their places in the files as they are now.

use crate::edit::{self, Files, FormatChoice, Proposal};
use crate::session::ChatFile;
use crate::syntax::{Language, error_count};
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

    fn root(&self) -> Option<String> {
        Some(self.root.path().display().to_string())
    }
}

/// Finds the edits of `reply` and their places. `paths` are all files of the root, sorted.
pub fn propose(root: &Root, paths: &[String], chat: &[ChatFile], reply: &str, format: FormatChoice) -> Proposal {
    let parsed = edit::parse(reply, format);
    let mut proposal = edit::propose(&parsed, &OnDisk { root, paths, chat });
    mark_broken_syntax(&mut proposal);
    proposal
}

/// Marks the edits of files that have more syntax errors after the proposal than before.
fn mark_broken_syntax(proposal: &mut Proposal) {
    for file in &proposal.files {
        let (Some(language), Some(proposed)) = (Language::for_path(&file.path), &file.proposed) else {
            continue;
        };
        let before = file.base.as_ref().map_or(0, |base| error_count(language, base));
        if error_count(language, proposed) > before {
            for outcome in proposal.outcomes.iter_mut().filter(|outcome| outcome.path == file.path) {
                outcome.flags.push(edit::Flag::SyntaxError);
            }
        }
    }
}
