//! The thread that keeps sessions, and what it holds: the database, the session that is open, and the one that may be next.

use std::path::{Path, PathBuf};
use std::sync::{PoisonError, Weak};

use tokio::sync::mpsc;

use super::super::Shared;
use super::kept;
use crate::store::sessions::{Found, Live, SessionStore, SessionsError, sessions_folder};
use rhumb_edit::FileChange;
use rhumb_edit::review::FileReview;
use rhumb_session::{
    Failure, PersistenceEffect, PersistenceResponse, Response, SavedSession, SessionSelector, UnfinishedWork,
    UnsavedChanges, last_messages,
};
use rhumb_workspace::Root;

/// How often a change is tried while other processes hold the database; each time waits for seconds.
const TRIES: usize = 3;

/// A session that this process has open.
type Held = (i64, Live);

pub(super) struct Desk {
    root: Root,
    /// The user's folder for state; `None` keeps nothing.
    state: Option<PathBuf>,
    shared: Weak<Shared>,
    reports: mpsc::Sender<Response>,
    store: Option<SessionStore>,
    /// Nothing is kept any more.
    is_off: bool,
    current: Option<Held>,
    /// The session that the next new one comes from.
    parent: Option<i64>,
    /// A session that was read, until it is entered or left.
    next: Option<Held>,
}

impl Desk {
    pub(super) fn new(
        root: Root,
        state: Option<PathBuf>,
        shared: Weak<Shared>,
        reports: mpsc::Sender<Response>,
    ) -> Self {
        Self { root, state, shared, reports, store: None, is_off: false, current: None, parent: None, next: None }
    }

    pub(super) fn carry_out(&mut self, order: PersistenceEffect) {
        match order {
            PersistenceEffect::Open(resume) => self.open(resume),
            PersistenceEffect::Save(change) => self.change(&change),
            PersistenceEffect::ConfirmResume => (self.current, self.parent) = (self.next.take(), None),
            PersistenceEffect::CancelResume => self.next = None,
            PersistenceEffect::Branch { from } => {
                self.parent = from.or(self.current.as_ref().map(|(number, _)| *number)).or(self.parent);
                self.current = None;
            }
            PersistenceEffect::List(query) => self.list(query),
            PersistenceEffect::Names => self.names(),
            PersistenceEffect::Peek(number) => self.peek(number),
            PersistenceEffect::Delete(number) => self.rearrange(number, |store| store.delete(number)),
            PersistenceEffect::Rename(number, name) => self.rearrange(number, |store| store.rename(number, &name)),
            PersistenceEffect::Resume { selector, fork } => {
                if let Err(failure) = self.resume(&selector, fork) {
                    self.report(PersistenceResponse::Failed(failure));
                }
            }
            // Others see to these.
            PersistenceEffect::Write(_) | PersistenceEffect::Read(_) => {}
        }
    }

    /// Closes the database, which puts all of it into one file, and lets others open the session.
    pub(super) fn close(&mut self) {
        self.store = None;
        self.let_go();
    }

    /// Lets others open the session.
    fn let_go(&mut self) {
        (self.current, self.next) = (None, None);
    }

    /// Keeps nothing any more, for that reason.
    pub(super) fn give_up(&mut self, failure: Option<Failure>) {
        self.let_go();
        (self.store, self.is_off) = (None, true);
        self.report(PersistenceResponse::Off(failure));
    }

    fn report(&self, report: PersistenceResponse) {
        // The face is gone when this fails; there is nobody left to tell.
        let _ = self.reports.blocking_send(kept(report));
    }

    fn open(&mut self, resume: Option<SessionSelector>) {
        if self.state.is_none() {
            // Whoever asks for an earlier session must hear why there is none.
            let told = resume.is_some().then(|| not_kept(true));
            return self.give_up(told);
        }
        let mut opened = self.store().and_then(|store| store.inputs());
        if opened.as_ref().is_err_and(SessionsError::is_damage) {
            opened = self.reopen().and_then(|_| self.store()?.inputs());
        }
        if resume.is_none() {
            self.tell_unfinished();
        }
        match opened {
            Ok(inputs) => self.report(PersistenceResponse::Opened(inputs)),
            Err(error) => return self.give_up(Some(unkept(&error))),
        }
        if let Some(wanted) = resume {
            self.carry_out(PersistenceEffect::Resume { selector: wanted, fork: false });
        }
    }

    /// Tells what waits in the session that changed last, other than those that are open somewhere. A session that cannot be read is not
    /// worth a word at the start.
    fn tell_unfinished(&mut self) {
        let Ok(store) = self.store() else { return };
        let lines = store.list("").unwrap_or_default();
        let Some(last) = lines.iter().find(|line| !line.live).map(|line| line.number) else { return };
        let Ok(stored) = store.parts(last, &SavedSession::UNFINISHED) else { return };
        let session = SavedSession::from(stored);
        let unfinished = UnfinishedWork::of(&session.review, &session.draft);
        if unfinished.is_anything() {
            self.report(PersistenceResponse::UnfinishedWork(last, unfinished));
        }
    }

    /// The database; opened if it is not.
    fn store(&mut self) -> Result<&mut SessionStore, SessionsError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => {
                let folder = self.folder();
                let (store, aside) = SessionStore::open(&folder)?;
                aside.into_iter().for_each(|aside| self.report(PersistenceResponse::DatabaseReplaced(aside)));
                store
            }
        };
        Ok(self.store.insert(store))
    }

    /// Opens the database anew after damage was met. Whether it had to be moved aside: nothing is kept of this session then.
    fn reopen(&mut self) -> Result<bool, SessionsError> {
        self.store = None;
        let (store, aside) = SessionStore::reopen(&self.folder())?;
        self.store = Some(store);
        let is_anew = aside.is_some();
        if let Some(aside) = aside {
            self.let_go();
            self.report(PersistenceResponse::DatabaseReplaced(aside));
        }
        Ok(is_anew)
    }

    fn folder(&self) -> PathBuf {
        sessions_folder(self.state.as_deref().unwrap_or(Path::new("")), self.root.path())
    }

    fn change(&mut self, change: &UnsavedChanges) {
        if self.is_off {
            return;
        }
        let mut tried = 0;
        loop {
            tried += 1;
            match self.try_change(change) {
                Ok(()) => return,
                Err(error) if error.is_busy() && tried < TRIES => {}
                Err(error) if error.is_damage() && tried < TRIES => match self.reopen() {
                    // All of this session is asked for then.
                    Ok(true) => return,
                    Ok(false) => {}
                    Err(error) => return self.give_up(Some(unkept(&error))),
                },
                // Somebody has deleted the session: what is left of it in memory becomes a new one.
                Err(SessionsError::Gone { .. }) => {
                    self.current = None;
                    return self.report(PersistenceResponse::Deleted);
                }
                Err(error) => return self.give_up(Some(unkept(&error))),
            }
        }
    }

    fn try_change(&mut self, change: &UnsavedChanges) -> Result<(), SessionsError> {
        let line = self.shared.upgrade().and_then(|shared| {
            shared.line.read().unwrap_or_else(PoisonError::into_inner).as_ref().map(|line| line.provider.clone())
        });
        let masked = |text: &str| line.as_ref().map_or_else(|| text.to_owned(), |line| line.masked(text));
        let (stored, inputs) = (change.stored(masked), change.inputs.iter().map(|text| masked(text)));
        let inputs: Vec<String> = inputs.collect();
        let (current, parent) = (self.current.as_ref().map(|(number, _)| *number), self.parent);
        let store = self.store()?;
        let number = match current {
            _ if !change.is_worth_saving => None,
            Some(number) => Some(number),
            None => {
                let (number, live) = store.begin(parent)?;
                self.current = Some((number, live));
                self.report(PersistenceResponse::Numbered(number));
                Some(number)
            }
        };
        self.store()?.change(number, &stored, &inputs)
    }

    fn list(&mut self, query: String) {
        if self.is_off || self.state.is_none() {
            return self.report(PersistenceResponse::Failed(not_kept(self.state.is_none())));
        }
        let current = self.current.as_ref().map(|(number, _)| *number);
        match self.store().and_then(|store| store.list("")) {
            Ok(mut lines) => {
                lines.retain(|line| Some(line.number) != current);
                self.report(PersistenceResponse::Listed(query, lines));
            }
            Err(error) => self.report(PersistenceResponse::Failed(failure(&error))),
        }
    }

    /// The other sessions, for completion: where there are none to be had, there is nothing to say.
    fn names(&mut self) {
        if self.is_off || self.state.is_none() {
            return self.report(PersistenceResponse::Names(Vec::new()));
        }
        let current = self.current.as_ref().map(|(number, _)| *number);
        let mut lines = self.store().and_then(|store| store.list("")).unwrap_or_default();
        lines.retain(|line| Some(line.number) != current);
        self.report(PersistenceResponse::Names(lines));
    }

    /// What was said last in a session. One that cannot be read shows nothing.
    fn peek(&mut self, number: i64) {
        if self.is_off || self.state.is_none() {
            return self.report(PersistenceResponse::Peeked(number, Vec::new()));
        }
        let stored = self.store().and_then(|store| store.load(number)).ok().flatten();
        let said = stored.map(SavedSession::from).map(|session| last_messages(&session.transcript));
        self.report(PersistenceResponse::Peeked(number, said.unwrap_or_default()));
    }

    /// Changes an earlier session, and lists those that there are then.
    fn rearrange(&mut self, number: i64, change: impl FnOnce(&mut SessionStore) -> Result<bool, SessionsError>) {
        if self.is_off || self.state.is_none() {
            return self.report(PersistenceResponse::Failed(not_kept(self.state.is_none())));
        }
        match self.store().and_then(change) {
            Ok(true) => self.list(String::new()),
            Ok(false) => {
                let why = format!("Session {number} is open in another rhumb, or gone.");
                self.report(PersistenceResponse::Failed(told(why, "")));
            }
            Err(error) => self.report(PersistenceResponse::Failed(failure(&error))),
        }
    }

    fn resume(&mut self, wanted: &SessionSelector, fork: bool) -> Result<(), Failure> {
        if self.is_off || self.state.is_none() {
            return Err(not_kept(self.state.is_none()));
        }
        let current = self.current.as_ref().map(|(number, _)| *number);
        let Some(number) = self.find(wanted, current)? else { return Ok(()) };
        if Some(number) == current {
            return Err(told(format!("Session {number} is this one."), "/fork begins another with what is in it."));
        }
        let store = self.store().map_err(|error| failure(&error))?;
        let live = if fork { None } else { store.hold(number).map_err(|error| failure(&error))? };
        let stored = store.load(number).map_err(|error| failure(&error))?;
        let Some(stored) = stored else { return Err(failure(&SessionsError::Gone { number })) };
        let mut session = SavedSession::from(stored);
        if live.is_none() && !fork {
            let title = session.title().to_owned();
            self.report(PersistenceResponse::OpenElsewhere { number, title });
            return Ok(());
        }
        session.stale = session.review.files.iter().flat_map(|file| stale(&self.root, file)).collect();
        self.next = live.map(|live| (number, live));
        self.report(PersistenceResponse::Resumed { session: Box::new(session), fork });
        Ok(())
    }

    /// The number of the session that is wanted; `None` where a list was shown instead.
    fn find(&mut self, wanted: &SessionSelector, current: Option<i64>) -> Result<Option<i64>, Failure> {
        let store = self.store().map_err(|error| failure(&error))?;
        let found = match wanted {
            SessionSelector::Newest => {
                let newest = store.newest(current).map_err(|error| failure(&error))?;
                newest.map_or(Found::None, Found::One)
            }
            SessionSelector::Named(word) => store.find(word).map_err(|error| failure(&error))?,
        };
        match (found, wanted) {
            (Found::One(number), _) => Ok(Some(number)),
            (Found::Several(lines), SessionSelector::Named(word)) => {
                self.report(PersistenceResponse::Listed(word.clone(), lines));
                Ok(None)
            }
            (_, SessionSelector::Named(word)) => Err(told(
                format!("There is no session {word} in this repository."),
                "/sessions lists those that there are.",
            )),
            (_, SessionSelector::Newest) => Err(told("There is no earlier session in this repository.".into(), "")),
        }
    }
}

/// The paths of a file under review that are not as they were, each with what it says now.
fn stale(root: &Root, file: &FileReview) -> Option<(String, Option<std::sync::Arc<str>>)> {
    let from = match &file.change {
        FileChange::Rename { from } => from,
        _ => &file.path,
    };
    let now = rhumb_workspace::read(root, from).ok().map(|snapshot| snapshot.text);
    // A file that is to be made must not be there; one that moves must find its new place free.
    let taken = |path: &str| rhumb_workspace::path_is_taken(root, path);
    let is_stale = match &file.change {
        FileChange::Create => taken(&file.path),
        FileChange::Rename { .. } => now != file.base || taken(&file.path),
        FileChange::Modify | FileChange::Delete => now != file.base,
    };
    is_stale.then(|| (from.clone(), now))
}

fn told(message: String, hint: &str) -> Failure {
    Failure { message, hint: hint.to_owned() }
}

/// Nothing is kept, and so nothing can be found.
fn not_kept(by_choice: bool) -> Failure {
    let hint = match by_choice {
        true => "sessions = true in your own rhumb.toml keeps them from the next start on.",
        false => "The reason was told when that began.",
    };
    told("Sessions are not kept here.".into(), hint)
}

fn failure(error: &SessionsError) -> Failure {
    told(format!("{error}.").replacen("there is", "There is", 1), error.hint())
}

fn unkept(error: &SessionsError) -> Failure {
    told(format!("This session is not kept: {error}."), error.hint())
}
