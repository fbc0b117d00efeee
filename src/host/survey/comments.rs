//! Comments for the model in files that are saved.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use crate::host::Host;
use rhumb_session::Response;
use rhumb_session::context::found_comments;

/// Largest file that is looked through, in bytes: nobody writes comments into larger ones.
const MAX_BYTES: u64 = 1 << 20;

/// Most files of one burst that are looked through: a checkout changes thousands, and nobody saved those.
const MAX_FILES: usize = 64;

impl Host {
    /// Follows comments for the model from now on, or no more. That they are followed is reported when it is so: what is saved
    /// before the repository is known may be missed.
    pub(crate) async fn watch_comments(self, watch: bool) {
        self.shared.comments.store(watch, Ordering::SeqCst);
        if !watch {
            return;
        }
        // Dropped with the host alone.
        let _ = self.shared.survey.subscribe().wait_for(Option::is_some).await;
        self.blocking(|failure| Response::Watching(Err(failure)), |host| Response::Watching(host.start_watch()));
    }

    /// Reports the comments for the model in files that were saved, if they are followed. What is ignored is not read.
    pub(super) fn note_saved(&self, saved: &BTreeSet<String>) {
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
        // What cannot be read has nothing to say; it is told when somebody asks for it.
        if let Ok(snapshot) = rhumb_workspace::read(root, &path) {
            let found = found_comments(&path, &snapshot.text);
            self.respond_now(Response::Comments { path, found });
        }
    }
}
