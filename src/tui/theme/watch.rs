//! Watches the folder of the user's themes: a saved theme is applied immediately.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use rhumb_workspace::debounced_watcher;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::Themes;

/// How long changes are gathered: an editor saves in several steps.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// A running watch; it ends when it is dropped.
pub(crate) struct Watch {
    _held: Arc<Mutex<Watched>>,
}

struct Watched {
    /// `None` during the setup.
    watch: Option<RecommendedWatcher>,
    /// The canonical parent folder of the themes, which is watched recursively.
    around: PathBuf,
    /// Other folders that links lead to.
    elsewhere: BTreeSet<PathBuf>,
}

/// Sends all themes whenever a file of `folder`, or the target of a link in it, has changed. The setup reads the disk,
/// so it runs off the draw path. Without a settings folder or free file watches nothing is watched, and `/theme` lists
/// the themes from the start.
pub(crate) fn follow(folder: PathBuf, tell: UnboundedSender<Themes>) -> JoinHandle<Option<Watch>> {
    tokio::task::spawn_blocking(move || watch(&folder, tell))
}

fn watch(folder: &Path, tell: UnboundedSender<Themes>) -> Option<Watch> {
    // The parent folder is watched, because the folder may be created later.
    let around = folder.parent()?.canonicalize().ok()?;
    let folder = around.join(folder.file_name()?);
    let held = Arc::new(Mutex::new(Watched { watch: None, around: around.clone(), elsewhere: BTreeSet::new() }));
    let watched: Weak<Mutex<Watched>> = Arc::downgrade(&held);
    let own = folder.clone();
    let changed = move |events: Vec<notify::Result<Event>>| {
        let places = places(&own);
        let ours = events.iter().any(|event| match event {
            Ok(event) if !event.need_rescan() => {
                event.paths.iter().any(|path| places.iter().any(|place| path.starts_with(place)))
            }
            // Events were lost, so anything may have changed.
            _ => true,
        });
        if ours && let Some(watched) = watched.upgrade() {
            // Links may be new. Their targets are watched before they are read.
            watched.lock().unwrap_or_else(PoisonError::into_inner).follow_links(&places);
            // The receiver is closed when the app exits.
            let _ = tell.send(Themes::read(&own));
        }
    };
    let mut watch = debounced_watcher(DEBOUNCE, changed).ok()?;
    watch.watch(&around, RecursiveMode::Recursive).ok()?;
    let mut watched = held.lock().unwrap_or_else(PoisonError::into_inner);
    watched.watch = Some(watch);
    watched.follow_links(&places(&folder));
    drop(watched);
    Some(Watch { _held: held })
}

/// The folder, and the canonical paths of the folder and its files, since a save through a link changes only its
/// target.
fn places(folder: &Path) -> BTreeSet<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let real = files.chain([folder.to_owned()]).filter_map(|path| path.canonicalize().ok());
    real.chain([folder.to_owned()]).collect()
}

impl Watched {
    fn follow_links(&mut self, places: &BTreeSet<PathBuf>) {
        let Some(watch) = &mut self.watch else { return };
        for place in places.iter().filter(|place| !place.starts_with(&self.around)) {
            let Some(folder) = (if place.is_dir() { Some(place.as_path()) } else { place.parent() }) else { continue };
            if !self.elsewhere.contains(folder) && watch.watch(folder, RecursiveMode::NonRecursive).is_ok() {
                self.elsewhere.insert(folder.to_owned());
            }
        }
    }
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
        // Changes in the new folder are not reported until it is watched.
        wait(&|_| true);
        fs::write(folder.join("mine.toml"), "inherits = \"nord\"\n").unwrap();
        wait(&|themes| themes.has("mine") && themes.faults().is_empty());
        fs::write(folder.join("mine.toml"), "inherits = \"nord\"\nx\n").unwrap();
        wait(&|themes| themes.faults().len() == 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_theme_that_a_link_leads_to_is_told_whether_the_link_was_there_or_comes() {
        let (config, dotfiles) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let folder = config.path().join("themes");
        fs::create_dir(&folder).unwrap();
        let target = |name: &str| dotfiles.path().join(name);
        let save = |name: &str, text: &str| {
            // Editors write the new text to another file and rename it over the old one.
            fs::write(target("new"), text).unwrap();
            fs::rename(target("new"), target(name)).unwrap();
        };
        save("mine", "inherits = \"nord\"\n");
        save("late", "inherits = \"nord\"\n");
        std::os::unix::fs::symlink(target("mine"), folder.join("mine.toml")).unwrap();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let _watch = watch(&folder, tell).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut wait = |holds: &dyn Fn(&Themes) -> bool| {
            runtime.block_on(async {
                let wait = async { while !holds(&told.recv().await.unwrap()) {} };
                tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
            });
        };
        save("mine", "inherits = \"nord\"\nx\n");
        wait(&|themes| themes.faults().len() == 1);
        std::os::unix::fs::symlink(target("late"), folder.join("late.toml")).unwrap();
        wait(&|themes| themes.has("late"));
        save("late", "inherits = \"nord\"\nx\n");
        wait(&|themes| themes.faults().len() == 2);
    }
}
