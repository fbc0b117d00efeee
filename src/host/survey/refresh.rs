//! Keeps the survey up to date: at the start, on request, and when files change. Also finds comments for the model in saved files.

use super::{Survey, SurveyStart, SurveyStep, survey};
use crate::host::persistence::map_store;
use crate::host::{Host, caught, lock};
use rhumb_session::context::found_comments;
use rhumb_session::{EffectKind, Failure, Response};
use rhumb_workspace::git::{Head, Repo};
use rhumb_workspace::{DiskChanges, Root, RootKind, Watch};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum size in bytes of a file that is searched for comments.
const MAX_BYTES: u64 = 1 << 20;

/// Maximum number of files saved at once that are searched. A checkout changes more, but not by hand.
const MAX_FILES: usize = 64;

impl Host {
    /// Stops reading files early, until [`Self::read_on`].
    pub(crate) fn stop_reading(&self) {
        self.shared.survey_state.stop_reading.store(true, Ordering::Relaxed);
    }

    /// Reads the skipped files.
    pub(crate) fn read_on(self) {
        self.shared.survey_state.stop_reading.store(false, Ordering::Relaxed);
        self.start_survey();
    }

    /// Surveys the repository in the background, and cancels a running survey.
    pub(crate) fn start_survey(self) {
        let cancel = Arc::new(AtomicBool::new(false));
        std::mem::replace(&mut *lock(&self.shared.survey_state.cancel), Arc::clone(&cancel))
            .store(true, Ordering::Relaxed);
        self.shared.survey_state.surveys.fetch_add(1, Ordering::SeqCst);
        tokio::task::spawn_blocking(move || {
            let result = caught(|| self.survey(&cancel));
            let running = self.shared.survey_state.surveys.fetch_sub(1, Ordering::SeqCst) - 1;
            match result {
                Ok(Some(note)) => self.respond_now(Response::Surveyed { note }),
                Ok(None) => return,
                Err(failure) => return self.respond_now(Response::Surveyed { note: Some(failure) }),
            }
            // Files may have changed meanwhile.
            if running == 0 && !lock(&self.shared.survey_state.changed).is_empty() {
                self.start_survey();
            }
        });
    }

    /// Surveys the repository. Returns a note about it, or `None` if cancelled.
    pub(crate) fn survey(&self, cancel: &AtomicBool) -> Option<Option<Failure>> {
        if let Some(head) = head_line(&self.shared.root) {
            self.respond_now(Response::Head(head));
        }
        let before = self.shared.survey.borrow().clone();
        let changed = std::mem::take(&mut *lock(&self.shared.survey_state.changed));
        let store = map_store(&self.shared.env.settings, &self.shared.root);
        let start = SurveyStart {
            before: before.as_deref(),
            store: store.as_ref(),
            changed: Some(&changed),
            with_terms: true,
            provisional: before.is_none() && self.shared.prepares,
            stop_reading: Some(&self.shared.survey_state.stop_reading),
        };
        // Progress is only reported if the survey takes long.
        let is_long = before
            .as_ref()
            .is_none_or(|before| before.unread > 0 && !self.shared.survey_state.stop_reading.load(Ordering::Relaxed));
        let progress = |step: SurveyStep<'_>| self.report_progress(step, is_long);
        let Some(survey) = survey(&self.shared.root, start, cancel, &progress) else {
            // The next survey needs these changes.
            lock(&self.shared.survey_state.changed).merge(changed);
            return None;
        };
        let survey = Arc::new(survey);
        let note =
            missing_root(&self.shared.root, before.as_deref()).or_else(|| survey_note(&survey, before.as_deref()));
        self.respond_now(Response::Unread { unread: survey.unread, total: survey.files.len() });
        self.shared.survey.send_replace(Some(Arc::clone(&survey)));
        *lock(&self.shared.survey_state.sketch) = None;
        if self.shared.prepares {
            self.update_index();
        }
        self.respond_now(Response::Symbols(Arc::clone(&survey.graph)));
        let watched = self.follow_files(&survey);
        if let Some(store) = store {
            // An error is ignored: the next process makes everything again.
            if self.shared.prepares {
                tokio::task::spawn_blocking(move || {
                    let _ = survey.save(&store);
                    let _ = survey.complete_ranks(&store);
                });
            } else {
                drop(survey.save(&store));
            }
        }
        Some(note.or(watched))
    }

    /// Reports the progress of a survey; numbers only of a long one.
    fn report_progress(&self, step: SurveyStep<'_>, is_long: bool) {
        match step {
            SurveyStep::Listed(files) => {
                let paths = files.iter().map(|file| file.path.clone()).collect();
                self.respond_now(Response::Listed(Arc::new(paths)));
            }
            SurveyStep::Provisional(graph) => {
                *lock(&self.shared.survey_state.sketch) = Some(graph);
                self.respond_now(Response::ProvisionalMap);
            }
            // Progress is dropped if the channel is full.
            SurveyStep::Listing(done) if is_long => {
                self.responder.try_send(Response::SurveyProgress { done, total: 0 });
            }
            SurveyStep::Reading(done, total) if is_long => {
                self.responder.try_send(Response::SurveyProgress { done, total });
            }
            SurveyStep::Listing(_) | SurveyStep::Reading(..) => {}
        }
    }

    /// Starts or stops following changes on disk.
    pub(crate) fn follow(self, follow: bool) {
        // Watching thousands of folders takes time.
        tokio::task::spawn_blocking(move || {
            if !follow {
                *lock(&self.shared.survey_state.watch) = None;
            } else if let Err(failure) = self.start_watch() {
                self.respond_now(Response::Failed { effect: EffectKind::WatchFiles, failure });
            }
        });
    }

    /// Starts to follow changes on disk, unless they are followed already.
    pub(super) fn start_watch(&self) -> Result<(), Failure> {
        let handle = tokio::runtime::Handle::current();
        let host = self.clone();
        let on_change = move |changed: DiskChanges| {
            // The thread of the watch is outside of the runtime.
            let _entered = handle.enter();
            host.find_comments(&changed.saved);
            host.clone().survey_changes(changed);
        };
        {
            let mut watch = lock(&self.shared.survey_state.watch);
            if watch.is_some() {
                return Ok(());
            }
            *watch = Some(Watch::start(&self.shared.root, on_change).map_err(|error| not_followed(&error))?);
        }
        let survey = self.shared.survey.borrow().clone();
        survey.and_then(|survey| self.follow_files(&survey)).map_or(Ok(()), Err)
    }

    /// Surveys changes of listed files.
    fn survey_changes(self, changed: DiskChanges) {
        let matters = match &*self.shared.survey.borrow() {
            Some(survey) => {
                let listed =
                    |path: &String| survey.files.binary_search_by(|file| file.path.as_str().cmp(path.as_str())).is_ok();
                changed.listing || changed.files.iter().any(listed)
            }
            None => true,
        };
        if matters {
            lock(&self.shared.survey_state.changed).merge(changed);
            // A running survey is not cancelled; otherwise permanent changes would prevent any result.
            if self.shared.survey_state.surveys.load(Ordering::SeqCst) == 0 {
                self.start_survey();
            }
        }
    }

    /// Watches the folders of the surveyed files, if changes are followed.
    fn follow_files(&self, survey: &Survey) -> Option<Failure> {
        let mut watch = lock(&self.shared.survey_state.watch);
        let files = survey.files.iter().map(|file| file.path.as_str());
        let error = watch.as_mut()?.follow(&self.shared.root, files).err()?;
        // An incomplete watch would miss changes.
        *watch = None;
        Some(not_followed(&error))
    }

    /// Starts or stops the search for comments in saved files. The response is sent once it is active: files saved before the first
    /// survey may be missed.
    pub(crate) async fn watch_comments(self, watch: bool) {
        self.shared.comments.store(watch, Ordering::SeqCst);
        if !watch {
            return;
        }
        // Fails only when the host is dropped.
        let _ = self.shared.survey.subscribe().wait_for(Option::is_some).await;
        self.blocking(|failure| Response::Watching(Err(failure)), |host| Response::Watching(host.start_watch()));
    }

    /// Reports comments for the model in saved files, if enabled. Ignored files are not read.
    pub(super) fn find_comments(&self, saved: &BTreeSet<String>) {
        if saved.is_empty() || saved.len() > MAX_FILES || !self.shared.comments.load(Ordering::SeqCst) {
            return;
        }
        let (host, saved) = (self.clone(), saved.clone());
        tokio::task::spawn_blocking(move || saved.into_iter().for_each(|path| host.report_comments(path)));
    }

    fn report_comments(&self, path: String) {
        let root = &self.shared.root;
        let small = std::fs::symlink_metadata(root.path().join(&path))
            .is_ok_and(|file| file.is_file() && file.len() <= MAX_BYTES);
        if !small || rhumb_workspace::is_ignored(root, &path) || rhumb_workspace::is_secret_name(&path) {
            return;
        }
        // A file that cannot be read is reported when it is used.
        if let Ok(snapshot) = rhumb_workspace::read(root, &path) {
            let found = found_comments(&path, &snapshot.text);
            self.respond_now(Response::Comments { path, found });
        }
    }
}

fn not_followed(error: &rhumb_workspace::WatchError) -> Failure {
    Failure {
        message: format!("Changes on disk are not followed: {error}."),
        hint: "/map-refresh reads them, /map-refresh always does so before each request.".into(),
    }
}

/// The branch or commit of HEAD; `None` outside git or after an error.
pub(crate) fn head_line(root: &Root) -> Option<String> {
    if root.kind() != RootKind::Git {
        return None;
    }
    let repo = Repo::open(root.path()).ok()??;
    Some(match repo.head().ok()? {
        Head::Unborn(branch) => format!("{branch} (no commit yet)"),
        Head::Branch { name, .. } => name,
        Head::Detached(short_id) => format!("detached at {short_id}"),
    })
}

/// The failure if the root folder was removed.
fn missing_root(root: &Root, before: Option<&Survey>) -> Option<Failure> {
    let was_there = before.is_some_and(|before| !before.files.is_empty());
    (was_there && !root.path().is_dir()).then(|| Failure {
        message: format!("The folder {} is not there any more.", root.path().display()),
        hint: "Restore it, or start rhumb in the new folder. The session is saved.".into(),
    })
}

/// The failure about rule files that were not read.
pub fn unread_rules(files: &[String]) -> Failure {
    let first = files.first().map_or("", String::as_str);
    let (named, were, their) = match files.len() {
        0 | 1 => (first.to_owned(), "was", "its"),
        more => (format!("{first} and {} more", more - 1), "were", "their"),
    };
    Failure {
        message: format!(
            "{named} {were} not read, so {their} rules have no effect: a rule file must be a regular file of at most 1 MB."
        ),
        hint: "Replace it with a regular file.".into(),
    }
}

/// A note about the survey that did not apply to the last one.
fn survey_note(survey: &Survey, before: Option<&Survey>) -> Option<Failure> {
    if survey.bare {
        return before.is_none().then(|| {
            Failure::new("This is a bare repository without files.", "Start rhumb in a clone or a worktree of it.")
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
            message: format!("{} files were skipped because their names are not valid UTF-8.", survey.skipped),
            hint: "Rename them to use them here.".into(),
        });
    }
    if survey.heads_only && !before.is_some_and(|before| before.heads_only) {
        return Some(Failure {
            message: "This repository is very large: only names, paths and comments are indexed.".into(),
            hint: "rhumb --subtree-only in a subfolder indexes all words there.".into(),
        });
    }
    survey.rebuilt.then(|| Failure {
        message: "The stored index of this repository is damaged or from another version.".into(),
        hint: "It was made again. Nothing more to do.".into(),
    })
}
