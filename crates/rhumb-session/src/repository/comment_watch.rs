//! Comments for the model in files: a saved file with a new comment sends a message.

use crate::context::{AiComment, CommentKind, FoundComment, Mode, comment_request, found_comments};
use crate::{Effect, Failure, Level, Session};
use rhumb_text::count;
use std::collections::{BTreeMap, BTreeSet};

/// The comments for the model in files.
#[derive(Debug, Default)]
pub struct CommentWatch {
    is_on: bool,
    /// The comments of each file when it was last saved.
    known: BTreeMap<String, Vec<FoundComment>>,
    /// Files that this program exported. They quote the conversation, so their comments are ignored.
    exported: BTreeSet<String>,
}

impl CommentWatch {
    /// Ignores the comments of a file that this program exported.
    pub(crate) fn exclude(&mut self, path: &str) {
        self.exported.insert(path.to_owned());
    }

    /// Ignores the comments of a text that this program is about to write: they are not new comments of the user.
    pub(crate) fn wrote(&mut self, path: &str, text: &str) {
        let found = if self.is_on { found_comments(path, text) } else { Vec::new() };
        if !found.is_empty() {
            self.known.insert(path.to_owned(), found);
        }
    }

    /// Whether files are watched for comments.
    pub fn is_on(&self) -> bool {
        self.is_on
    }
}

impl Session {
    /// Turns the watch on or off; without an argument, toggles it.
    pub(crate) fn watch(&mut self, on: Option<bool>) -> Vec<Effect> {
        self.comment_watch.is_on = on.unwrap_or(!self.comment_watch.is_on);
        self.comment_watch.known.clear();
        if !self.comment_watch.is_on {
            let dropped = match self.drop_queued_comments() {
                0 => String::new(),
                queued => format!(" {} in the queue will not be sent.", count(queued, "message")),
            };
            self.report(Level::Info, format!("Comments in files are no longer watched.{dropped}"), "");
            return vec![
                Effect::WatchComments(false),
                Effect::WatchFiles(self.next_request.map().refresh.follows_disk()),
            ];
        }
        vec![Effect::WatchComments(true)]
    }

    pub(crate) fn handle_watch_result(&mut self, result: Result<(), Failure>) {
        match result {
            Ok(()) if self.comment_watch.is_on => {
                let text =
                    "When a file is saved, comments that end in AI! (do it) or AI? (answer it) are sent to the model.";
                self.report(Level::Info, text, "/watch off turns this off.");
            }
            Ok(()) => {}
            Err(failure) => {
                self.comment_watch.is_on = false;
                self.report_failure(Level::Error, failure);
            }
        }
    }

    /// Handles the comments of a saved file. New ones that ask for something are sent, or queued while the model answers.
    pub(crate) fn handle_comments(&mut self, path: &str, found: &[FoundComment]) -> Vec<Effect> {
        if !self.comment_watch.is_on || self.comment_watch.exported.contains(path) {
            return Vec::new();
        }
        let before = match found.is_empty() {
            true => self.comment_watch.known.remove(path),
            false => self.comment_watch.known.insert(path.to_owned(), found.to_vec()),
        };
        let mut before: Vec<AiComment> = before.unwrap_or_default().into_iter().map(|found| found.comment).collect();
        // Comments are compared without their lines, which move. Equal comments in a file are counted.
        let is_same = |one: &AiComment, other: &AiComment| one.kind == other.kind && one.text == other.text;
        let mut is_new = |found: &&FoundComment| {
            let known = before.iter().position(|known| is_same(known, &found.comment));
            known.map(|at| before.swap_remove(at)).is_none()
        };
        let requests: Vec<&FoundComment> =
            found.iter().filter(&mut is_new).filter(|found| found.comment.kind != CommentKind::Note).collect();
        let mut effects = if found.is_empty() { Vec::new() } else { self.add_commented(path) };
        if !requests.is_empty() {
            effects.extend(self.send_comments(path, &requests));
        }
        effects
    }

    fn add_commented(&mut self, path: &str) -> Vec<Effect> {
        if self.chat_files.files().iter().any(|file| file.path == path && !file.read_only) {
            return Vec::new();
        }
        self.chat_files.remove(path);
        self.chat_files.add(path, false);
        self.measure()
    }

    fn send_comments(&mut self, path: &str, requests: &[&FoundComment]) -> Vec<Effect> {
        let is_note = |found: &&FoundComment| found.comment.kind == CommentKind::Note;
        let known = self.comment_watch.known.iter();
        let notes: Vec<(&str, &FoundComment)> =
            known.flat_map(|(path, found)| found.iter().filter(is_note).map(|found| (path.as_str(), found))).collect();
        let requests: Vec<(&str, &FoundComment)> = requests.iter().map(|found| (path, *found)).collect();
        let asks_for_change = requests.iter().any(|(_, found)| found.comment.kind == CommentKind::Do);
        let text = comment_request(&requests, &notes);
        if !self.model.is_connected() {
            let text = format!("A comment in {path} is for the model, but no model is connected.");
            self.report(Level::Warning, text, "/servers looks for a model server on this machine.");
            return Vec::new();
        }
        self.enqueue_comments(text, if asks_for_change { Mode::Code } else { Mode::Ask });
        self.next_queued()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChatFile, Connection};
    use crate::{Command, PersistenceResponse, Response};

    fn watching() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let effects = session.command(Command::Watch(Some(true)));
        assert_eq!(effects, [Effect::WatchComments(true)]);
        session
    }

    fn saved(session: &mut Session, path: &str, source: &str) -> Vec<Effect> {
        session.handle(Response::Comments { path: path.into(), found: found_comments(path, source) })
    }

    fn sent(effects: &[Effect]) -> Option<(Mode, String)> {
        effects.iter().find_map(|effect| match effect {
            Effect::Ask(spec) => Some((spec.mode, spec.draft.clone())),
            _ => None,
        })
    }

    #[test]
    fn comments_in_written_and_exported_texts_are_ignored() {
        let mut session = watching();
        let written = "# done\n# and now the rest AI!\nx = 1\n";
        session.comment_watch.wrote("a.py", written);
        assert_eq!(sent(&saved(&mut session, "a.py", written)), None);
        let theirs = format!("# name it AI!\n{written}");
        assert!(sent(&saved(&mut session, "a.py", &theirs)).is_some(), "a comment of the user is sent");
        session.handle(Response::Persisted(PersistenceResponse::Written {
            path: "talk.md".into(),
            what: "The session".into(),
        }));
        assert_eq!(sent(&saved(&mut session, "talk.md", "<!-- say it AI! -->\n")), None);
    }

    #[test]
    fn a_comment_is_sent_once() {
        let mut session = watching();
        let (mode, text) = sent(&saved(&mut session, "a.py", "# go AI!\n")).unwrap();
        assert!(mode == Mode::Code && text.contains("# go AI!"), "{text}");
        assert_eq!(session.chat_files.files(), [ChatFile { path: "a.py".into(), read_only: false }]);
        session.cancel();
        assert_eq!(sent(&saved(&mut session, "a.py", "x = 1\n# go AI!\n")), None, "it was sent already");
        assert_eq!(session.modes.mode(), Mode::Code, "the mode of the session does not change");
        saved(&mut session, "a.py", "x = 1\n");
        assert!(sent(&saved(&mut session, "a.py", "# go AI!\n")).is_some(), "it was removed and added again");
    }

    #[test]
    fn names_after_an_at_in_a_comment_are_not_looked_up() {
        for source in [
            "# see @http://x.example/ AI!\n",
            "```\n~~~\n# @url https://x.example/ AI!\n",
            "# @diff AI!\n# `@https://x/\n",
        ] {
            let mut session = watching();
            let effects = saved(&mut session, "a.py", source);
            assert!(sent(&effects).is_some(), "{source}: {effects:?}");
            assert!(!effects.iter().any(|effect| matches!(effect, Effect::Mention(_))), "{source}: {effects:?}");
        }
        assert_eq!(sent(&watching().send("see @https://x.example/").1), None, "names in a typed message are looked up");
    }

    #[test]
    fn a_note_is_sent_with_the_next_question() {
        let mut session = watching();
        assert_eq!(sent(&saved(&mut session, "n.py", "# beware of tides AI\n")), None);
        assert_eq!(session.chat_files.files().len(), 1, "its file is added");
        let (mode, text) = sent(&saved(&mut session, "q.py", "# why AI?\n")).unwrap();
        assert!(mode == Mode::Ask && text.contains("beware of tides") && text.contains("why"), "{text}");
    }

    #[test]
    fn comments_are_queued_while_the_model_answers() {
        let mut session = watching();
        session.send("first");
        assert_eq!(sent(&saved(&mut session, "a.py", "# go AI!\n")), None);
        assert_eq!(session.turns.queue().waiting().len(), 1);
    }

    #[test]
    fn comments_are_ignored_when_the_watch_is_off() {
        let mut session = watching();
        session.command(Command::Watch(None));
        assert_eq!(sent(&saved(&mut session, "a.py", "# go AI!\n")), None);
        assert!(session.chat_files.files().is_empty());
    }

    #[test]
    fn turning_the_watch_off_removes_queued_comments() {
        let mut session = watching();
        session.send("first");
        saved(&mut session, "a.py", "# go AI!\n");
        session.send("second");
        session.command(Command::Watch(Some(false)));
        let waiting: Vec<&str> = session.turns.queue().waiting().iter().map(|queued| queued.text.as_str()).collect();
        assert_eq!(waiting, ["second"], "typed messages stay queued");
    }
}
