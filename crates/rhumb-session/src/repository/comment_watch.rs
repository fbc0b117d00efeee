//! Comments for the model in files, as they are saved.

use std::collections::{BTreeMap, BTreeSet};

use crate::context::{AiComment, CommentKind, FoundComment, Mode, comment_request, found_comments};
use crate::effect::{Effect, Failure};
use crate::state::Session;
use crate::transcript::Level;
use rhumb_text::count;

/// What is known of the comments in files.
#[derive(Debug, Default)]
pub struct CommentWatch {
    on: bool,
    /// The comments of each file as it was last saved.
    known: BTreeMap<String, Vec<FoundComment>>,
    /// Files of which this program wrote all: what was said is quoted in them, and nothing is asked for.
    exported: BTreeSet<String>,
}

impl CommentWatch {
    /// That file was written by this program, all of it.
    pub(crate) fn pass_over(&mut self, path: &str) {
        self.exported.insert(path.to_owned());
    }

    /// What is about to be written into a file by this program is no word of the developer's.
    pub(crate) fn wrote(&mut self, path: &str, text: &str) {
        let found = if self.on { found_comments(path, text) } else { Vec::new() };
        if !found.is_empty() {
            self.known.insert(path.to_owned(), found);
        }
    }

    /// Whether comments are followed.
    pub fn is_on(&self) -> bool {
        self.on
    }
}

impl Session {
    /// Follows comments from now on, or no more; without a word, the other of what is.
    pub(crate) fn watch(&mut self, on: Option<bool>) -> Vec<Effect> {
        self.comment_watch.on = on.unwrap_or(!self.comment_watch.on);
        self.comment_watch.known.clear();
        if !self.comment_watch.on {
            let left_out = match self.drop_queued_comments() {
                0 => String::new(),
                waited => format!(" {} that waited for the model will not be sent.", count(waited, "message")),
            };
            self.tell(Level::Info, format!("Comments in files are not followed any more.{left_out}"), "");
            return vec![Effect::WatchComments(false), Effect::Follow(self.next_request.map().refresh.follows_disk())];
        }
        vec![Effect::WatchComments(true)]
    }

    /// Comments are followed from here on, or cannot be.
    pub(crate) fn watches(&mut self, result: Result<(), Failure>) {
        match result {
            Ok(()) if self.comment_watch.on => {
                let text = "Comments that end in AI! (do it) or AI? (answer it) are followed when their file is saved.";
                self.tell(Level::Info, text, "/watch off ends that.");
            }
            Ok(()) => {}
            Err(failure) => {
                self.comment_watch.on = false;
                self.tell_failure(Level::Error, failure);
            }
        }
    }

    /// A file was saved, and these comments for the model are in it. New ones that want something become a message, which waits
    /// while the model answers.
    pub(crate) fn commented(&mut self, path: &str, found: &[FoundComment]) -> Vec<Effect> {
        if !self.comment_watch.on || self.comment_watch.exported.contains(path) {
            return Vec::new();
        }
        let before = match found.is_empty() {
            true => self.comment_watch.known.remove(path),
            false => self.comment_watch.known.insert(path.to_owned(), found.to_vec()),
        };
        let mut before: Vec<AiComment> = before.unwrap_or_default().into_iter().map(|found| found.comment).collect();
        // Lines move; the same words twice in a file are two comments.
        let mut is_new = |found: &&FoundComment| {
            let known = before.iter().position(|known| same(known, &found.comment));
            known.map(|at| before.swap_remove(at)).is_none()
        };
        let wanted: Vec<&FoundComment> =
            found.iter().filter(&mut is_new).filter(|found| found.comment.kind != CommentKind::Note).collect();
        let mut effects = if found.is_empty() { Vec::new() } else { self.add_commented(path) };
        if !wanted.is_empty() {
            effects.extend(self.order_comments(path, &wanted));
        }
        effects
    }

    /// Takes a file into the chat whose comments are for the model.
    fn add_commented(&mut self, path: &str) -> Vec<Effect> {
        if self.chat_files.files().iter().any(|file| file.path == path && !file.read_only) {
            return Vec::new();
        }
        self.chat_files.remove(path);
        self.chat_files.add(path, false);
        self.measure()
    }

    fn order_comments(&mut self, path: &str, wanted: &[&FoundComment]) -> Vec<Effect> {
        let noted = |found: &&FoundComment| found.comment.kind == CommentKind::Note;
        let known = self.comment_watch.known.iter();
        let noted: Vec<(&str, &FoundComment)> =
            known.flat_map(|(path, found)| found.iter().filter(noted).map(|found| (path.as_str(), found))).collect();
        let wanted: Vec<(&str, &FoundComment)> = wanted.iter().map(|found| (path, *found)).collect();
        let does = wanted.iter().any(|(_, found)| found.comment.kind == CommentKind::Do);
        let text = comment_request(&wanted, &noted);
        if !self.model.is_connected() {
            let text = format!("A comment in {path} is for the model, but no model is connected.");
            self.tell(Level::Warning, text, "/servers looks for a model server on this machine.");
            return Vec::new();
        }
        self.enqueue_comments(text, if does { Mode::Code } else { Mode::Ask });
        self.next_queued()
    }
}

fn same(one: &AiComment, other: &AiComment) -> bool {
    one.kind == other.kind && one.text == other.text
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

    fn asked(effects: &[Effect]) -> Option<(Mode, String)> {
        effects.iter().find_map(|effect| match effect {
            Effect::Ask(order) => Some((order.mode, order.draft.clone())),
            _ => None,
        })
    }

    #[test]
    fn what_the_program_writes_itself_asks_for_nothing() {
        let mut session = watching();
        let written = "# done\n# and now the rest AI!\nx = 1\n";
        session.comment_watch.wrote("a.py", written);
        assert_eq!(asked(&saved(&mut session, "a.py", written)), None);
        let theirs = format!("# name it AI!\n{written}");
        assert!(asked(&saved(&mut session, "a.py", &theirs)).is_some(), "the developer's own still counts");
        session.handle(Response::Persisted(PersistenceResponse::Written {
            path: "talk.md".into(),
            what: "The session".into(),
        }));
        assert_eq!(asked(&saved(&mut session, "talk.md", "<!-- say it AI! -->\n")), None);
    }

    #[test]
    fn a_comment_becomes_a_message_once() {
        let mut session = watching();
        let (mode, text) = asked(&saved(&mut session, "a.py", "# go AI!\n")).unwrap();
        assert!(mode == Mode::Code && text.contains("# go AI!"), "{text}");
        assert_eq!(session.chat_files.files(), [ChatFile { path: "a.py".into(), read_only: false }]);
        session.cancel();
        assert_eq!(asked(&saved(&mut session, "a.py", "x = 1\n# go AI!\n")), None, "it was asked for already");
        assert_eq!(session.modes.mode(), Mode::Code, "the mode of the developer stays");
        saved(&mut session, "a.py", "x = 1\n");
        assert!(asked(&saved(&mut session, "a.py", "# go AI!\n")).is_some(), "it was gone, and is new");
    }

    #[test]
    fn what_a_comment_names_with_an_at_is_not_fetched() {
        for source in [
            "# see @http://x.example/ AI!\n",
            "```\n~~~\n# @url https://x.example/ AI!\n",
            "# @diff AI!\n# `@https://x/\n",
        ] {
            let mut session = watching();
            let effects = saved(&mut session, "a.py", source);
            assert!(asked(&effects).is_some(), "{source}: {effects:?}");
            assert!(!effects.iter().any(|effect| matches!(effect, Effect::Mention(_))), "{source}: {effects:?}");
        }
        assert_eq!(asked(&watching().send("see @https://x.example/").1), None, "what is typed is looked up first");
    }

    #[test]
    fn a_question_is_answered_and_a_note_waits_for_it() {
        let mut session = watching();
        assert_eq!(asked(&saved(&mut session, "n.py", "# beware of tides AI\n")), None);
        assert_eq!(session.chat_files.files().len(), 1, "its file comes along");
        let (mode, text) = asked(&saved(&mut session, "q.py", "# why AI?\n")).unwrap();
        assert!(mode == Mode::Ask && text.contains("beware of tides") && text.contains("why"), "{text}");
    }

    #[test]
    fn comments_wait_while_the_model_answers() {
        let mut session = watching();
        session.send("first");
        assert_eq!(asked(&saved(&mut session, "a.py", "# go AI!\n")), None);
        assert_eq!(session.turns.queue().waiting().len(), 1);
    }

    #[test]
    fn what_is_not_followed_is_left_alone() {
        let mut session = watching();
        session.command(Command::Watch(None));
        assert_eq!(asked(&saved(&mut session, "a.py", "# go AI!\n")), None);
        assert!(session.chat_files.files().is_empty());
    }

    #[test]
    fn comments_that_wait_are_not_sent_when_they_are_not_followed_any_more() {
        let mut session = watching();
        session.send("first");
        saved(&mut session, "a.py", "# go AI!\n");
        session.send("second");
        session.command(Command::Watch(Some(false)));
        let waiting: Vec<&str> = session.turns.queue().waiting().iter().map(|queued| queued.text.as_str()).collect();
        assert_eq!(waiting, ["second"], "what was typed waits on");
    }
}
