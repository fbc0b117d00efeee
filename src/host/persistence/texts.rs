//! Files that the user asks for: a session to read elsewhere, and commands to run again. They lie in the repository, and nothing there
//! is replaced that the user did not name twice.

use super::super::Host;
use super::{failed, kept};
use crate::clock;
use rhumb_session::{Failure, PersistenceResponse, Response, TextFile};
use rhumb_workspace::{FileWrite, ReadError};

/// Longest file of commands, in bytes.
const LONGEST: usize = 256 * 1024;

impl Host {
    pub(super) fn write_text(&self, mut order: TextFile) -> Response {
        if order.path.ends_with('-') {
            order.path = format!("{}{}.md", order.path, clock::today());
        }
        let root = &self.shared.root;
        let is_there = rhumb_workspace::path_is_taken(root, &order.path);
        if is_there && !order.overwrite {
            // A path that leaves the repository counts as taken too: then the write below says why.
            if rhumb_workspace::read_raw(root, &order.path).is_ok() {
                return kept(PersistenceResponse::Exists(order));
            }
        }
        let expected =
            if is_there { rhumb_workspace::read(root, &order.path).ok().map(|snapshot| snapshot.text) } else { None };
        let (path, content) = (order.path.clone(), Some(order.text));
        let file = FileWrite { path: order.path, expected, content, renamed_from: None };
        // Without the journal: /undo is about what models wrote.
        match rhumb_workspace::write(root, None, &[file], None) {
            Ok(_) => kept(PersistenceResponse::Written { path, what: order.what }),
            Err(error) => {
                let message = format!("{path} was not written: {}.", error.to_string().trim_end_matches('.'));
                failed(Failure { message, hint: "Name another file below the repository's folder.".into() })
            }
        }
    }

    pub(super) fn read_commands(&self, path: String) -> Response {
        let because = |cause: String| {
            let message = format!("{path} was not loaded: {}.", cause.trim_end_matches('.'));
            failed(Failure {
                message,
                hint: "It is looked for below the repository's folder; /save writes one.".into(),
            })
        };
        match rhumb_workspace::read(&self.shared.root, &path) {
            Ok(snapshot) if snapshot.text.len() > LONGEST => because("it is too long for a file of commands".into()),
            Ok(snapshot) => kept(PersistenceResponse::Commands { path, text: snapshot.text.to_string() }),
            Err(error) => because(ReadError::to_string(&error)),
        }
    }
}
