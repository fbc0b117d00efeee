//! Commits that are to be made of what was written: what goes into them is settled, their messages are not.

use std::time::Duration;

use crate::config::Settings;
use rhumb_session::context::shortened_subject;
use rhumb_session::{Committed, Failure, few};
use rhumb_workspace::git::{Commit, CommitOptions, GitError, PreparedCommit, Repo};
use rhumb_workspace::{Journal, PendingCommit, Root, is_secret_name};

/// How long signing a commit may take.
const SIGNING: Duration = Duration::from_secs(60);

/// Commits to be made.
#[derive(Debug)]
pub struct Pending {
    root: Root,
    /// The user's own changes, which come first.
    own: Option<Part>,
    /// What was accepted, or what else is to be committed.
    ours: Option<Part>,
    /// Whether a model wrote it.
    by_model: bool,
    notes: Vec<Failure>,
    /// Noted for the case that the process dies before.
    owed: Option<PendingCommit>,
    /// The write that was accepted, by its number in the journal.
    recorded: Option<(Journal, u64)>,
}

/// One commit to be made.
#[derive(Debug)]
struct Part {
    taken: PreparedCommit,
    /// The message where no model writes one.
    fallback: String,
    request: String,
}

/// What a message is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// What the developer asked for; may be empty.
    pub request: String,
    /// The files, each with its diff; without one where its name tells of secrets.
    pub change: Vec<(String, String)>,
}

/// The messages that a model wrote, as far as it did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    /// For the user's own changes.
    pub own: Option<String>,
    /// For what was accepted.
    pub ours: Option<String>,
}

impl Pending {
    /// Nothing to commit yet below `root`.
    pub(crate) fn new(root: &Root) -> Self {
        Self {
            root: root.clone(),
            own: None,
            ours: None,
            by_model: false,
            notes: Vec::new(),
            owed: None,
            recorded: None,
        }
    }

    /// First the user's own changes to these files.
    pub(crate) fn with_own(mut self, taken: PreparedCommit, paths: &[String]) -> Self {
        let fallback = shortened_subject(&format!("Own changes to {}", few(paths)));
        self.own = Some(Part { taken, fallback, request: String::new() });
        self
    }

    /// Then what was accepted for a request.
    pub(crate) fn with_accepted(mut self, taken: PreparedCommit, fallback: &str, request: &str) -> Self {
        self.by_model = true;
        self.ours = Some(Part { taken, fallback: fallback.to_owned(), request: request.to_owned() });
        self
    }

    /// What the user wants committed as it is.
    pub(super) fn with_users(mut self, taken: PreparedCommit, fallback: String) -> Self {
        self.ours = Some(Part { taken, fallback, request: String::new() });
        self
    }

    /// Something to tell with it.
    pub(crate) fn with_note(mut self, note: Option<Failure>) -> Self {
        self.notes.extend(note);
        self
    }

    /// That it is to be made is noted.
    pub(crate) fn with_owed(mut self, owed: Option<PendingCommit>) -> Self {
        self.owed = owed;
        self
    }

    /// The write that it is of, in the journal.
    pub(crate) fn with_record(mut self, recorded: Option<(Journal, u64)>) -> Self {
        self.recorded = recorded;
        self
    }

    pub(crate) fn own(&self) -> Option<&PreparedCommit> {
        self.own.as_ref().map(|part| &part.taken)
    }

    /// Whether there is a commit to be made.
    pub fn is_worth_a_message(&self) -> bool {
        [&self.own, &self.ours].into_iter().flatten().any(|part| !part.taken.is_empty())
    }

    /// What the message of the user's own changes is asked for.
    pub(super) fn own_wish(&self) -> Option<Wish> {
        self.wish_for(self.own.as_ref()?, None)
    }

    /// What the message of the rest is asked for.
    pub(crate) fn wish(&self) -> Option<Wish> {
        self.wish_for(self.ours.as_ref()?, self.own())
    }

    fn wish_for(&self, part: &Part, on: Option<&PreparedCommit>) -> Option<Wish> {
        let patches = Repo::open(self.root.path()).ok()??.patches(&part.taken, on).ok()?;
        let shown = |path: &str, text: String| if is_secret_name(path) { String::new() } else { text };
        let change = patches.into_iter().map(|patch| (patch.path.clone(), shown(&patch.path, patch.text)));
        let change: Vec<(String, String)> = change.collect();
        (!change.is_empty()).then(|| Wish { request: part.request.clone(), change })
    }

    /// Makes the commits, with the messages that are there; what `model` wrote is marked as the settings say.
    pub fn commit(self, messages: Messages, settings: &Settings, model: &str) -> Committed {
        // The note goes when this is over, whatever came of it: the user is told.
        let Self { root, own, ours, by_model, notes, owed: _owed, recorded } = self;
        let mut committed = Committed { notes, ..Committed::default() };
        let repo = match Repo::open(root.path()) {
            Ok(Some(repo)) => repo,
            Ok(None) => return committed,
            Err(error) => return refused(committed, &error),
        };
        if let Some(own) = own {
            let message = messages.own.unwrap_or(own.fallback);
            match repo.commit(own.taken, &manner(&message, settings, false)) {
                Ok(commit) => {
                    committed.own_commit = Some(commit.short_id.clone());
                    committed.notes.extend(told(&commit));
                }
                Err(error) => return refused(committed, &error),
            }
        }
        let Some(ours) = ours else { return committed };
        let mut message = messages.ours.unwrap_or(ours.fallback);
        if by_model {
            message += &trailer(settings, model);
        }
        match repo.commit(ours.taken, &manner(&message, settings, by_model)) {
            Ok(commit) => {
                committed.notes.extend(told(&commit));
                if let Some((journal, number)) = recorded {
                    journal.note_commit(number, &commit.id);
                }
                committed.commit = Some((commit.short_id, commit.subject));
                committed
            }
            Err(error) => refused(committed, &error),
        }
    }
}

/// How the settings want a commit made; `ours` for what the program itself put on disk.
pub(crate) fn manner<'a>(message: &'a str, settings: &Settings, ours: bool) -> CommitOptions<'a> {
    CommitOptions {
        message,
        mark_author: ours && settings.attribution.author,
        mark_committer: ours && settings.attribution.committer,
        hooks: settings.commit_hooks,
        timeout: if settings.commit_hooks { settings.command_timeout } else { SIGNING },
    }
}

/// What tells the model in a message, if the settings want that and one is known.
pub(crate) fn trailer(settings: &Settings, model: &str) -> String {
    let name: String = model.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>' | '(' | ')')).collect();
    if !settings.attribution.co_author || name.is_empty() {
        return String::new();
    }
    // No mail can be sent there: the domain is reserved.
    format!("\n\nCo-authored-by: rhumb ({name}) <noreply@rhumb.invalid>")
}

fn refused(mut committed: Committed, error: &GitError) -> Committed {
    committed.notes.push(not_committed(error));
    committed
}

/// A commit that was not made, in words.
pub(crate) fn not_committed(error: &GitError) -> Failure {
    let error_text = error.to_string();
    Failure { message: format!("Not committed: {}.", error_text.trim_end_matches('.')), hint: error.hint() }
}

/// What to know about a commit that was made.
pub(crate) fn told(commit: &Commit) -> Option<Failure> {
    let mut notes = Vec::new();
    if !commit.ignored.is_empty() {
        notes.push(format!("Not committed, because git ignores it: {}.", commit.ignored.join(", ")));
    }
    notes.extend(commit.refused.iter().map(|reason| format!("Not in the commit: {reason}.")));
    if !commit.already_committed.is_empty() {
        notes.push(format!(
            "Not in the commit, because another commit changed it meanwhile: {}.",
            commit.already_committed.join(", ")
        ));
    }
    if let Some(why) = &commit.index_error {
        notes.push(format!(
            "The commit was made, but git's index was not updated: {why}. The index stays locked, so that nothing is committed \
             with it. The next commit or start of rhumb updates it."
        ));
    }
    let hint = "What is not in the commit is on disk; commit it when you are ready.".to_owned();
    (!notes.is_empty()).then(|| Failure { message: notes.join(" "), hint })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trailer_names_the_model_and_nothing_that_could_break_it() {
        let settings = Settings::default();
        assert_eq!(trailer(&settings, "m-1"), "\n\nCo-authored-by: rhumb (m-1) <noreply@rhumb.invalid>");
        assert_eq!(trailer(&settings, "m\n<x@y>\u{1b}"), "\n\nCo-authored-by: rhumb (mx@y) <noreply@rhumb.invalid>");
        assert_eq!(trailer(&settings, ""), "");
        let mut off = settings;
        off.attribution.co_author = false;
        assert_eq!(trailer(&off, "m"), "");
    }
}
