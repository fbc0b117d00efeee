//! Persistence the survey up to date: at the start, when asked, and whenever the disk changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Survey, SurveyStart, SurveyStep, survey};
use crate::host::persistence::map_store;
use crate::host::{Host, caught, lock};
use rhumb_session::{EffectKind, Failure, Response};
use rhumb_workspace::git::{Head, Repo};
use rhumb_workspace::{DiskChanges, Root, RootKind, Watch};

impl Host {
    /// Lets what is read of the repository so far be enough, until [`Self::read_on`].
    pub(crate) fn stop_reading(&self) {
        self.shared.stop_reading.store(true, Ordering::Relaxed);
    }

    /// Reads what was left out.
    pub(crate) fn read_on(self) {
        self.shared.stop_reading.store(false, Ordering::Relaxed);
        self.start_survey();
    }

    /// Surveys the repository in the background. A newer survey replaces one that still runs.
    pub(crate) fn start_survey(self) {
        let cancel = Arc::new(AtomicBool::new(false));
        std::mem::replace(&mut *lock(&self.shared.survey_cancel), Arc::clone(&cancel)).store(true, Ordering::Relaxed);
        self.shared.surveys.fetch_add(1, Ordering::SeqCst);
        tokio::task::spawn_blocking(move || {
            let result = caught(|| self.survey(&cancel));
            let running = self.shared.surveys.fetch_sub(1, Ordering::SeqCst) - 1;
            match result {
                Ok(Some(note)) => self.respond_now(Response::Surveyed { note }),
                Ok(None) => return,
                Err(failure) => return self.respond_now(Response::Surveyed { note: Some(failure) }),
            }
            // What changed meanwhile waited for its turn.
            if running == 0 && !lock(&self.shared.changed).is_empty() {
                self.start_survey();
            }
        });
    }

    /// Surveys the repository; something to know about it, or `None` when a newer survey took over.
    pub(crate) fn survey(&self, cancel: &AtomicBool) -> Option<Option<Failure>> {
        if let Some(head) = head_line(&self.shared.root) {
            self.respond_now(Response::Head(head));
        }
        let before = self.shared.survey.borrow().clone();
        let changed = std::mem::take(&mut *lock(&self.shared.changed));
        let store = map_store(&self.shared.env.settings, &self.shared.root);
        let start = SurveyStart {
            before: before.as_deref(),
            store: store.as_ref(),
            changed: Some(&changed),
            with_terms: true,
            provisional: before.is_none() && self.shared.prepares,
            enough: Some(&self.shared.stop_reading),
        };
        // Numbers are told where there is something to wait for.
        let long =
            before.as_ref().is_none_or(|before| before.unread > 0 && !self.shared.stop_reading.load(Ordering::Relaxed));
        let progress = |step: SurveyStep<'_>| self.tell_progress(step, long);
        let Some(survey) = survey(&self.shared.root, start, cancel, &progress) else {
            // Whoever took over has to look at these as well.
            lock(&self.shared.changed).merge(changed);
            return None;
        };
        let survey = Arc::new(survey);
        let note = gone(&self.shared.root, before.as_deref()).or_else(|| survey_note(&survey, before.as_deref()));
        self.respond_now(Response::Unread { unread: survey.unread, total: survey.files.len() });
        self.shared.survey.send_replace(Some(Arc::clone(&survey)));
        *lock(&self.shared.sketch) = None;
        if self.shared.prepares {
            self.update_index();
        }
        self.respond_now(Response::Symbols(Arc::clone(&survey.graph)));
        let watched = self.follow_files(&survey);
        if let Some(store) = store {
            // What cannot be saved is computed again.
            if self.shared.prepares {
                tokio::task::spawn_blocking(move || drop(survey.save(&store)));
            } else {
                drop(survey.save(&store));
            }
        }
        Some(note.or(watched))
    }

    /// Tells how far a survey is; numbers only of a long one: others are too quick to read.
    fn tell_progress(&self, step: SurveyStep<'_>, long: bool) {
        match step {
            SurveyStep::Listed(files) => {
                let paths = files.iter().map(|file| file.path.clone()).collect();
                self.respond_now(Response::Listed(Arc::new(paths)));
            }
            SurveyStep::Provisional(graph) => {
                *lock(&self.shared.sketch) = Some(graph);
                self.respond_now(Response::ProvisionalMap);
            }
            // Progress that nobody has time for is not worth waiting.
            SurveyStep::Listing(done) if long => {
                self.responder.try_send(Response::SurveyProgress { done, total: 0 });
            }
            SurveyStep::Reading(done, total) if long => {
                self.responder.try_send(Response::SurveyProgress { done, total });
            }
            SurveyStep::Listing(_) | SurveyStep::Reading(..) => {}
        }
    }

    /// Follows changes on disk from now on, or no more.
    pub(crate) fn follow(self, follow: bool) {
        // Thousands of folders may be let go or taken up, which is nothing to wait for.
        tokio::task::spawn_blocking(move || {
            if !follow {
                *lock(&self.shared.watch) = None;
            } else if let Err(failure) = self.start_watch() {
                self.respond_now(Response::Failed { effect: EffectKind::WatchFiles, failure });
            }
        });
    }

    /// Follows changes on disk from now on, if they are not followed yet.
    pub(super) fn start_watch(&self) -> Result<(), Failure> {
        let handle = tokio::runtime::Handle::current();
        let host = self.clone();
        let on_change = move |changed: DiskChanges| {
            // The watch has a thread of its own, which knows nothing of the runtime.
            let _entered = handle.enter();
            host.note_saved(&changed.saved);
            host.clone().note_change(changed);
        };
        {
            let mut watch = lock(&self.shared.watch);
            if watch.is_some() {
                return Ok(());
            }
            *watch = Some(Watch::start(&self.shared.root, on_change).map_err(|error| not_followed(&error))?);
        }
        let survey = self.shared.survey.borrow().clone();
        survey.and_then(|survey| self.follow_files(&survey)).map_or(Ok(()), Err)
    }

    /// Surveys what changed, if it is anything that is listed.
    fn note_change(self, changed: DiskChanges) {
        let matters = match &*self.shared.survey.borrow() {
            Some(survey) => {
                let listed =
                    |path: &String| survey.files.binary_search_by(|file| file.path.as_str().cmp(path.as_str())).is_ok();
                changed.listing || changed.files.iter().any(listed)
            }
            None => true,
        };
        if matters {
            lock(&self.shared.changed).merge(changed);
            // One that runs is not stopped for it: a disk that never rests must not keep every survey from its end.
            if self.shared.surveys.load(Ordering::SeqCst) == 0 {
                self.start_survey();
            }
        }
    }

    /// Watches the folders of the surveyed files, if changes are followed at all.
    fn follow_files(&self, survey: &Survey) -> Option<Failure> {
        let mut watch = lock(&self.shared.watch);
        let files = survey.files.iter().map(|file| file.path.as_str());
        let error = watch.as_mut()?.follow(&self.shared.root, files).err()?;
        // Half a watch is worse than none: one would rely on it.
        *watch = None;
        Some(not_followed(&error))
    }
}

fn not_followed(error: &rhumb_workspace::WatchError) -> Failure {
    Failure {
        message: format!("Changes on disk are not followed: {error}."),
        hint: "/map-refresh reads them, /map-refresh always does so before each request.".into(),
    }
}

/// The branch or commit that HEAD names; `None` outside git or where git cannot be read.
pub(crate) fn head_line(root: &Root) -> Option<String> {
    if root.kind() != RootKind::Git {
        return None;
    }
    let repo = Repo::open(root.path()).ok()??;
    Some(match repo.head().ok()? {
        Head::Unborn { branch } => format!("{branch} (no commit yet)"),
        Head::Branch { name, .. } => name,
        Head::Detached { short_id } => format!("detached at {short_id}"),
    })
}

/// That the folder itself is gone, if it was there before.
fn gone(root: &Root, before: Option<&Survey>) -> Option<Failure> {
    let was_there = before.is_some_and(|before| !before.files.is_empty());
    (was_there && !root.path().is_dir()).then(|| Failure {
        message: format!("The folder {} is not there any more.", root.path().display()),
        hint: "Put it back, or leave and start rhumb where the files are now; the session is kept.".into(),
    })
}

/// That rule files were refused: what they were to hide is listed.
pub fn unread_rules(files: &[String]) -> Failure {
    let first = files.first().map_or("", String::as_str);
    let (named, are, they) = match files.len() {
        0 | 1 => (first.to_owned(), "is", "it hides"),
        more => (format!("{first} and {} more", more - 1), "are", "they hide"),
    };
    Failure {
        message: format!("{named} {are} not read, so {they} nothing: no plain file, a link, or larger than 1 MB."),
        hint: "Put a plain file with the rules in its place.".into(),
    }
}

/// What to know about a survey that was not to be known of the one before.
fn survey_note(survey: &Survey, before: Option<&Survey>) -> Option<Failure> {
    if survey.bare {
        return before.is_none().then(|| Failure {
            message: "This is a bare repository: it has no files to work on.".into(),
            hint: "Start rhumb in a clone or a worktree of it.".into(),
        });
    }
    if survey.git_refused.is_some() && before.is_none_or(|before| before.git_refused.is_none()) {
        return survey.git_refused.clone();
    }
    let is_new = |rules: &&String| !before.is_some_and(|before| before.unread_rules.contains(rules));
    if survey.unread_rules.iter().any(|rules| is_new(&rules)) {
        return Some(unread_rules(&survey.unread_rules));
    }
    if survey.skipped > before.map_or(0, |before| before.skipped) {
        return Some(Failure {
            message: format!("{} file names are not valid UTF-8 and were left out.", survey.skipped),
            hint: "Rename them to work on them here.".into(),
        });
    }
    if survey.heads_only && !before.is_some_and(|before| before.heads_only) {
        return Some(Failure {
            message: "This is a very large repository: the map knows its names, paths and comments, no other words."
                .into(),
            hint: "Start rhumb --subtree-only in the folder that you work on, and it knows every word of it.".into(),
        });
    }
    survey.rebuilt.then(|| Failure {
        message: "What was kept of this repository is damaged or from another version.".into(),
        hint: "Everything was read again; there is nothing to do.".into(),
    })
}
