//! Saves and loads sessions on a separate thread, so that a slow disk delays no frame. The thread performs effects in order, so
//! that a read sees everything that was saved before it. Also exports sessions and reads files of commands.

use super::responses::Responder;
use super::{Host, Shared, caught, lock};
use crate::clock;
use crate::config::Settings;
use crate::store::MapStore;
use crate::store::sessions::{Found, Live, SessionStore, SessionsError, sessions_folder};
use rhumb_edit::FileChange;
use rhumb_edit::review::FileReview;
use rhumb_session::{
    Failure, PersistenceEffect, PersistenceResponse, Response, SavedSession, SessionLine, SessionSelector, TextFile,
    UnfinishedWork, UnsavedChanges, last_messages,
};
use rhumb_workspace::{FileWrite, Root, git};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::oneshot;

/// How often a change is tried while other processes lock the database. Each attempt waits for seconds.
const MAX_ATTEMPTS: usize = 3;

/// Maximum size of a file of commands, in bytes.
const MAX_COMMANDS_BYTES: usize = 256 * 1024;

/// The store of a root's map; `None` without a cache folder.
pub fn map_store(settings: &Settings, root: &Root) -> Option<MapStore> {
    let cache = settings.cache_folder.as_deref()?;
    let repository = git::common_folder(root.path());
    Some(MapStore::new(cache, repository.as_deref().unwrap_or(root.path()), root.path()))
}

/// The session thread, which starts with the first effect.
#[derive(Debug, Default)]
pub(super) struct SessionThread {
    jobs: Mutex<Option<Sender<SessionJob>>>,
}

#[derive(Debug)]
enum SessionJob {
    Perform(PersistenceEffect, Responder),
    /// Close the database, and confirm.
    Finish(oneshot::Sender<()>),
}

impl Host {
    pub(super) fn persist(&self, effect: PersistenceEffect) {
        match effect {
            PersistenceEffect::Write(file) => self.clone().blocking(failed, move |host| host.write_text(file)),
            PersistenceEffect::Read(path) => self.clone().blocking(failed, move |host| host.read_commands(path)),
            effect => self.send_job(SessionJob::Perform(effect, self.responder.clone())),
        }
    }

    /// Waits until everything is saved. Later effects are not performed.
    pub async fn finish_persistence(&self) {
        if lock(&self.shared.session_thread.jobs).is_none() {
            return;
        }
        let (done, finished) = oneshot::channel();
        self.send_job(SessionJob::Finish(done));
        // Fails only when the thread has ended already.
        let _ = finished.await;
    }

    fn send_job(&self, job: SessionJob) {
        let mut jobs = lock(&self.shared.session_thread.jobs);
        let sender = jobs.get_or_insert_with(|| self.start_session_thread());
        if sender.send(job).is_err() {
            *jobs = None;
        }
    }

    fn start_session_thread(&self) -> Sender<SessionJob> {
        let (sender, jobs) = mpsc::channel();
        let settings = &self.shared.env.settings;
        let writer = SessionWriter {
            shared: Arc::downgrade(&self.shared),
            responder: self.shared.background.clone(),
            root: self.shared.root.clone(),
            state: settings.state_folder.clone().filter(|_| settings.sessions),
            store: None,
            is_off: false,
            current: None,
            parent: None,
            next: None,
        };
        let started = std::thread::Builder::new().name("sessions".into()).spawn(move || writer.run(&jobs));
        if let Err(error) = started {
            let failure = Failure { message: format!("Sessions are not saved: {error}."), hint: String::new() };
            // Not `respond_now`: this may be the thread that receives the responses.
            self.responder.try_send(persisted(PersistenceResponse::Off(Some(failure))));
        }
        sender
    }

    fn write_text(&self, mut file: TextFile) -> Response {
        if file.path.ends_with('-') {
            file.path = format!("{}{}.md", file.path, clock::today());
        }
        let root = &self.shared.root;
        let exists = rhumb_workspace::path_is_taken(root, &file.path);
        // A path that leaves the repository counts as taken too. Then the write below fails and gives the reason.
        if exists && !file.overwrite && rhumb_workspace::read_raw(root, &file.path).is_ok() {
            return persisted(PersistenceResponse::Exists(file));
        }
        let TextFile { path, text, what, .. } = file;
        let read = || rhumb_workspace::read(root, &path).ok().map(|snapshot| snapshot.text);
        let expected = exists.then(read).flatten();
        let write = FileWrite { path: path.clone(), expected, content: Some(text), renamed_from: None };
        // Not in the journal: /undo is for edits of models.
        match rhumb_workspace::write(root, None, &[write], None) {
            Ok(_) => persisted(PersistenceResponse::Written { path, what }),
            Err(error) => {
                let message = format!("{path} was not written: {}.", error.to_string().trim_end_matches('.'));
                failed(Failure { message, hint: "Name another file in the repository.".into() })
            }
        }
    }

    fn read_commands(&self, path: String) -> Response {
        let cause = match rhumb_workspace::read(&self.shared.root, &path) {
            Ok(snapshot) if snapshot.text.len() > MAX_COMMANDS_BYTES => "it is larger than 256 KiB".to_owned(),
            Ok(snapshot) => return persisted(PersistenceResponse::Commands { path, text: snapshot.text.to_string() }),
            Err(error) => error.to_string(),
        };
        let message = format!("{path} was not loaded: {}.", cause.trim_end_matches('.'));
        failed(Failure { message, hint: "The path is relative to the repository. /save writes such a file.".into() })
    }
}

fn persisted(response: PersistenceResponse) -> Response {
    Response::Persisted(response)
}

fn failed(failure: Failure) -> Response {
    persisted(PersistenceResponse::Failed(failure))
}

type OpenSession = (i64, Live);

struct SessionWriter {
    /// Weak, because the host owns the channel of this thread: with a strong reference, neither would ever be dropped.
    shared: Weak<Shared>,
    responder: Responder,
    root: Root,
    /// The state folder; `None` if sessions are not saved.
    state: Option<PathBuf>,
    store: Option<SessionStore>,
    /// Whether saving was turned off after an error.
    is_off: bool,
    current: Option<OpenSession>,
    /// The parent of the next new session.
    parent: Option<i64>,
    /// A session that was loaded and not yet entered.
    next: Option<OpenSession>,
}

impl SessionWriter {
    fn run(mut self, jobs: &Receiver<SessionJob>) {
        while let Ok(job) = jobs.recv() {
            match job {
                SessionJob::Perform(effect, responder) => {
                    let background = std::mem::replace(&mut self.responder, responder);
                    if let Err(failure) = caught(|| self.perform(effect)) {
                        self.turn_off(Some(failure));
                    }
                    // Ends the effect.
                    self.responder = background;
                }
                SessionJob::Finish(done) => {
                    // Closing merges the write-ahead log into the database.
                    self.store = None;
                    self.unlock_sessions();
                    let _ = done.send(());
                }
            }
        }
    }

    fn perform(&mut self, effect: PersistenceEffect) {
        match effect {
            PersistenceEffect::Open(resume) => self.open(resume),
            PersistenceEffect::Save(change) => self.change(&change),
            PersistenceEffect::ConfirmResume => (self.current, self.parent) = (self.next.take(), None),
            PersistenceEffect::CancelResume => self.next = None,
            PersistenceEffect::Branch { from } => {
                self.parent = from.or(self.current_number()).or(self.parent);
                self.current = None;
            }
            PersistenceEffect::List(query) => match self.other_sessions() {
                Ok(lines) => self.respond(PersistenceResponse::Listed(query, lines)),
                Err(failure) => self.respond(PersistenceResponse::Failed(failure)),
            },
            // Completion shows nothing after an error, and so does the preview below.
            PersistenceEffect::Names => {
                let lines = self.other_sessions().unwrap_or_default();
                self.respond(PersistenceResponse::Names(lines));
            }
            PersistenceEffect::Peek(number) => {
                let stored = self.ready().and_then(|store| store.load(number).map_err(|error| failure(&error)));
                let said = stored.ok().flatten().map(|stored| last_messages(&SavedSession::from(stored).transcript));
                self.respond(PersistenceResponse::Peeked(number, said.unwrap_or_default()));
            }
            PersistenceEffect::Delete(number) => self.modify(number, |store| store.delete(number)),
            PersistenceEffect::Rename(number, name) => self.modify(number, |store| store.rename(number, &name)),
            PersistenceEffect::Resume { selector: wanted, fork } => {
                if let Err(failure) = self.resume(&wanted, fork) {
                    self.respond(PersistenceResponse::Failed(failure));
                }
            }
            // Performed by the host itself.
            PersistenceEffect::Write(_) | PersistenceEffect::Read(_) => {}
        }
    }

    fn current_number(&self) -> Option<i64> {
        self.current.as_ref().map(|(number, _)| *number)
    }

    fn unlock_sessions(&mut self) {
        (self.current, self.next) = (None, None);
    }

    /// Stops saving, for the given reason.
    fn turn_off(&mut self, failure: Option<Failure>) {
        self.unlock_sessions();
        (self.store, self.is_off) = (None, true);
        self.respond(PersistenceResponse::Off(failure));
    }

    fn respond(&self, response: PersistenceResponse) {
        self.responder.send_blocking(persisted(response));
    }

    fn open(&mut self, resume: Option<SessionSelector>) {
        if self.state.is_none() {
            // The user learns why a session cannot be resumed.
            let failure = resume.is_some().then(|| sessions_off(true));
            return self.turn_off(failure);
        }
        let mut opened = self.store().and_then(|store| store.inputs());
        if opened.as_ref().is_err_and(SessionsError::is_damage) {
            opened = self.reopen().and_then(|_| self.store()?.inputs());
        }
        if resume.is_none() {
            self.report_unfinished();
        }
        match opened {
            Ok(inputs) => self.respond(PersistenceResponse::Opened(inputs)),
            Err(error) => return self.turn_off(Some(not_saved(&error))),
        }
        if let Some(wanted) = resume {
            self.perform(PersistenceEffect::Resume { selector: wanted, fork: false });
        }
    }

    /// Reports unfinished work in the latest session that no process has open. Errors are not reported at the start.
    fn report_unfinished(&mut self) {
        let Ok(store) = self.store() else { return };
        let lines = store.list("").unwrap_or_default();
        let Some(last) = lines.iter().find(|line| !line.live).map(|line| line.number) else { return };
        let Ok(stored) = store.parts(last, &SavedSession::UNFINISHED) else { return };
        let session = SavedSession::from(stored);
        let unfinished = UnfinishedWork::of(&session.review, &session.draft);
        if unfinished.is_anything() {
            self.respond(PersistenceResponse::UnfinishedWork(last, unfinished));
        }
    }

    /// The database, opened if necessary.
    fn store(&mut self) -> Result<&mut SessionStore, SessionsError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => {
                let (store, aside) = SessionStore::open(&self.folder())?;
                aside.into_iter().for_each(|aside| self.respond(PersistenceResponse::DatabaseReplaced(aside)));
                store
            }
        };
        Ok(self.store.insert(store))
    }

    /// The database, unless sessions are not saved.
    fn ready(&mut self) -> Result<&mut SessionStore, Failure> {
        if self.is_off || self.state.is_none() {
            return Err(sessions_off(self.state.is_none()));
        }
        self.store().map_err(|error| failure(&error))
    }

    /// Opens the database again after damage was found. Returns whether it was moved aside; the current session is not in the new
    /// one.
    fn reopen(&mut self) -> Result<bool, SessionsError> {
        self.store = None;
        let (store, aside) = SessionStore::reopen(&self.folder())?;
        self.store = Some(store);
        let is_new = aside.is_some();
        if let Some(aside) = aside {
            self.unlock_sessions();
            self.respond(PersistenceResponse::DatabaseReplaced(aside));
        }
        Ok(is_new)
    }

    fn folder(&self) -> PathBuf {
        sessions_folder(self.state.as_deref().unwrap_or(Path::new("")), self.root.path())
    }

    fn change(&mut self, change: &UnsavedChanges) {
        if self.is_off {
            return;
        }
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.try_change(change) {
                Ok(()) => return,
                Err(error) if error.is_busy() && attempts < MAX_ATTEMPTS => {}
                Err(error) if error.is_damage() && attempts < MAX_ATTEMPTS => match self.reopen() {
                    // The session sends its complete state after `DatabaseReplaced`.
                    Ok(true) => return,
                    Ok(false) => {}
                    Err(error) => return self.turn_off(Some(not_saved(&error))),
                },
                // Another process deleted the session. The session in memory is saved as a new one.
                Err(SessionsError::Gone(_)) => {
                    self.current = None;
                    return self.respond(PersistenceResponse::Deleted);
                }
                Err(error) => return self.turn_off(Some(not_saved(&error))),
            }
        }
    }

    fn try_change(&mut self, change: &UnsavedChanges) -> Result<(), SessionsError> {
        let provider = self.shared.upgrade().and_then(|shared| {
            let client = shared.client.read().unwrap_or_else(PoisonError::into_inner);
            client.as_ref().map(|client| Arc::clone(&client.provider))
        });
        let masked = |text: &str| provider.as_ref().map_or_else(|| text.to_owned(), |provider| provider.masked(text));
        let stored = change.stored(masked);
        let inputs: Vec<String> = change.inputs.iter().map(|text| masked(text)).collect();
        let parent = self.parent;
        let number = match self.current_number() {
            _ if !change.is_worth_saving => None,
            Some(number) => Some(number),
            None => {
                let (number, live) = self.store()?.begin(parent)?;
                self.current = Some((number, live));
                self.respond(PersistenceResponse::Numbered(number));
                Some(number)
            }
        };
        self.store()?.change(number, &stored, &inputs)
    }

    fn other_sessions(&mut self) -> Result<Vec<SessionLine>, Failure> {
        let current = self.current_number();
        let mut lines = self.ready()?.list("").map_err(|error| failure(&error))?;
        lines.retain(|line| Some(line.number) != current);
        Ok(lines)
    }

    /// Changes a session that is not open, and lists the sessions.
    fn modify(&mut self, number: i64, change: impl FnOnce(&mut SessionStore) -> Result<bool, SessionsError>) {
        match self.ready().and_then(|store| change(store).map_err(|error| failure(&error))) {
            Ok(true) => self.perform(PersistenceEffect::List(String::new())),
            Ok(false) => {
                let message = format!("Session {number} is open in another rhumb, or was deleted.");
                self.respond(PersistenceResponse::Failed(with_hint(message, "")));
            }
            Err(failure) => self.respond(PersistenceResponse::Failed(failure)),
        }
    }

    fn resume(&mut self, wanted: &SessionSelector, fork: bool) -> Result<(), Failure> {
        let current = self.current_number();
        let Some(number) = self.find(wanted, current)? else { return Ok(()) };
        if Some(number) == current {
            let message = format!("Session {number} is the current one.");
            return Err(with_hint(message, "/fork starts a new session with its content."));
        }
        let store = self.ready()?;
        let live = if fork { None } else { store.hold(number).map_err(|error| failure(&error))? };
        let stored = store.load(number).map_err(|error| failure(&error))?;
        let Some(stored) = stored else { return Err(failure(&SessionsError::Gone(number))) };
        let mut session = SavedSession::from(stored);
        if live.is_none() && !fork {
            let title = session.title().to_owned();
            self.respond(PersistenceResponse::OpenElsewhere { number, title });
            return Ok(());
        }
        session.stale = session.review.files.iter().flat_map(|file| stale(&self.root, file)).collect();
        self.next = live.map(|live| (number, live));
        self.respond(PersistenceResponse::Resumed { session: Box::new(session), fork });
        Ok(())
    }

    /// The number of the wanted session; `None` if a list of matches was sent instead.
    fn find(&mut self, wanted: &SessionSelector, current: Option<i64>) -> Result<Option<i64>, Failure> {
        let store = self.ready()?;
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
                self.respond(PersistenceResponse::Listed(word.clone(), lines));
                Ok(None)
            }
            (_, SessionSelector::Named(word)) => {
                Err(with_hint(format!("There is no session {word} in this repository."), "/sessions lists them."))
            }
            (_, SessionSelector::Newest) => {
                Err(with_hint("There is no earlier session in this repository.".into(), ""))
            }
        }
    }
}

/// The path of a file under review that has changed since, with its current text.
fn stale(root: &Root, file: &FileReview) -> Option<(String, Option<Arc<str>>)> {
    let from = match &file.change {
        FileChange::Rename { from } => from,
        _ => &file.path,
    };
    let now = rhumb_workspace::read(root, from).ok().map(|snapshot| snapshot.text);
    let taken = |path: &str| rhumb_workspace::path_is_taken(root, path);
    let is_stale = match &file.change {
        FileChange::Create => taken(&file.path),
        FileChange::Rename { .. } => now != file.base || taken(&file.path),
        FileChange::Modify | FileChange::Delete => now != file.base,
    };
    is_stale.then(|| (from.clone(), now))
}

fn with_hint(message: String, hint: &str) -> Failure {
    Failure { message, hint: hint.to_owned() }
}

/// Why there are no sessions. `by_choice`: the settings turn them off.
fn sessions_off(by_choice: bool) -> Failure {
    let hint = match by_choice {
        true => "sessions = true in your rhumb.toml turns them on at the next start.",
        false => "An earlier message gives the reason.",
    };
    with_hint("Sessions are not saved here.".into(), hint)
}

fn failure(error: &SessionsError) -> Failure {
    with_hint(format!("{error}.").replacen("there is", "There is", 1), error.hint())
}

fn not_saved(error: &SessionsError) -> Failure {
    with_hint(format!("This session is not saved: {error}."), error.hint())
}
