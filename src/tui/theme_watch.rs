//! Follows the folder of the user's themes: what is saved there is worn at once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::theme::Themes;

/// How long changes are gathered: an editor saves in several steps.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// A running watch; it ends when the task that holds it is dropped.
pub(super) type Watch = Debouncer<RecommendedWatcher, RecommendedCache>;

/// Sends all themes whenever a file of `folder` has changed. Off the draw path: setting it up reads the disk. There is none
/// where the settings have no folder, or the system has no more watches to give: `/theme` still finds what there was at the start.
pub(super) fn follow(folder: PathBuf, tell: UnboundedSender<Themes>) -> JoinHandle<Option<Watch>> {
    tokio::task::spawn_blocking(move || watch(&folder, tell))
}

fn watch(folder: &Path, tell: UnboundedSender<Themes>) -> Option<Watch> {
    let own = folder.to_owned();
    let changed = move |result: DebounceEventResult| {
        // Without the events that were lost anything may have changed.
        let ours = result.map_or(true, |events| {
            events
                .iter()
                .filter(|event| !event.kind.is_access())
                .flat_map(|event| &event.paths)
                .any(|path| path.starts_with(&own))
        });
        if ours {
            // Nobody listens any more when the app is left.
            let _ = tell.send(Themes::read(&own));
        }
    };
    let mut watch = new_debouncer(DEBOUNCE, None, changed).ok()?;
    // The folder around it, so that it may come later.
    watch.watch(folder.parent()?, RecursiveMode::Recursive).ok()?;
    Some(watch)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_theme_that_comes_or_changes_is_told() {
        let config = tempfile::tempdir().unwrap();
        let folder = config.path().canonicalize().unwrap().join("themes");
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let _watch = watch(&folder, tell).unwrap();
        fs::create_dir(&folder).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut wait = |holds: &dyn Fn(&Themes) -> bool| {
            runtime.block_on(async {
                let wait = async { while !holds(&told.recv().await.unwrap()) {} };
                tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
            });
        };
        // Until the new folder is followed, its files do not speak.
        wait(&|_| true);
        fs::write(folder.join("mine.toml"), "inherits = \"nord\"\n").unwrap();
        wait(&|themes| themes.has("mine") && themes.faults().is_empty());
        fs::write(folder.join("mine.toml"), "inherits = \"nord\"\nx\n").unwrap();
        wait(&|themes| themes.faults().len() == 1);
    }
}
