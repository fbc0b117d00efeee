//! File system watches on the folders that contain listed files.
//!
//! Other folders are not watched: the number of watches is limited, and a build folder can contain thousands of
//! folders.

use super::resolve::relative;
use super::root::Root;
use notify::event::{AccessKind, AccessMode, Event, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _, recommended_watcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Changes within this time of each other are reported together.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// Changes on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskChanges {
    /// Files whose content changed, relative to the root.
    pub files: BTreeSet<String>,
    /// Whether files may have appeared or disappeared, or ignore rules may have changed.
    pub listing: bool,
    /// Files that were saved in any way, including by a rename over them. Some may no longer exist.
    pub saved: BTreeSet<String>,
}

impl DiskChanges {
    /// Returns whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.listing
    }

    /// Adds the changes of `other`.
    pub fn merge(&mut self, other: Self) {
        self.files.extend(other.files);
        self.listing |= other.listing;
        self.saved.extend(other.saved);
    }
}

/// A folder cannot be watched.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct WatchError(#[from] notify::Error);

/// Watches folders until it is dropped.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
    /// The watched folders. The thread of the watch drops those that were removed or renamed.
    folders: Arc<Mutex<BTreeSet<PathBuf>>>,
}

impl Watch {
    /// Starts a watch without folders. `on_change` is called on the thread of the watch.
    ///
    /// # Errors
    /// The system provides no file watches, or no more of them.
    pub fn start(root: &Root, on_change: impl Fn(DiskChanges) + Send + 'static) -> Result<Self, WatchError> {
        let root = root.clone();
        let folders = Arc::new(Mutex::new(BTreeSet::<PathBuf>::new()));
        let watched = Arc::clone(&folders);
        let on_events = move |events: Vec<EventResult>| {
            // The removal of a folder ends its watch and those of the folders in it, even if a new folder has its
            // name.
            let gone = removed_paths(&events);
            let remains = |folder: &PathBuf| !folder.ancestors().any(|path| gone.contains(path));
            watched.lock().unwrap_or_else(PoisonError::into_inner).retain(remains);
            let changed = changes_of_events(&root, &events);
            if !changed.is_empty() {
                on_change(changed);
            }
        };
        let watcher = debounced_watcher(DEBOUNCE, on_events)?;
        Ok(Self { watcher, folders })
    }

    /// Watches the root and the folders of these files (relative to the root), and no other folders.
    ///
    /// # Errors
    /// A folder cannot be watched. The others are watched nevertheless.
    pub fn follow<'p>(&mut self, root: &Root, files: impl Iterator<Item = &'p str>) -> Result<(), WatchError> {
        let mut wanted = BTreeSet::from([root.path().to_owned()]);
        for file in files {
            let mut folder = Path::new(file).parent();
            // If a folder is in the set, all folders above it are in it too.
            while let Some(path) = folder.filter(|path| wanted.insert(root.path().join(path))) {
                folder = path.parent();
            }
        }
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        for gone in folders.difference(&wanted) {
            // Fails if the folder no longer exists, which ends the watch as well.
            let _ = self.watcher.unwatch(gone);
        }
        let mut failure = None;
        let mut watched = BTreeSet::new();
        for folder in wanted {
            let result = match folders.contains(&folder) {
                true => Ok(()),
                false => self.watcher.watch(&folder, RecursiveMode::NonRecursive),
            };
            match result {
                Ok(()) => drop(watched.insert(folder)),
                Err(error) => failure = Some(error),
            }
        }
        *folders = watched;
        failure.map_or(Ok(()), |error| Err(WatchError(error)))
    }
}

/// Combines the events of one group.
fn changes_of_events(root: &Root, events: &[EventResult]) -> DiskChanges {
    let transient_files = transient_files(events);
    let mut changed = DiskChanges::default();
    for event in events {
        changed.merge(match event {
            Ok(event) if event.need_rescan() => DiskChanges { listing: true, ..DiskChanges::default() },
            Ok(event) if event.paths.iter().all(|path| transient_files.contains(path.as_path())) => {
                DiskChanges::default()
            }
            Ok(event) => changes_of_event(root, event.kind, &event.paths),
            // Events were lost, so anything may have changed.
            Err(_) => DiskChanges { listing: true, ..DiskChanges::default() },
        });
    }
    changed
}

/// Files that were created and removed within one group of events. Editors create such files to test a folder, or
/// write to them before a rename.
fn transient_files(events: &[EventResult]) -> BTreeSet<&Path> {
    let (mut came, mut went) = (BTreeSet::new(), BTreeSet::new());
    let mut known = BTreeSet::new();
    for event in events.iter().flatten() {
        for path in event.paths.iter().map(PathBuf::as_path) {
            match event.kind {
                EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(RenameMode::To)) => {
                    if !known.contains(path) {
                        came.insert(path);
                    }
                    went.remove(path);
                }
                kind if is_removal(kind) => drop(went.insert(path)),
                _ => {}
            }
            known.insert(path);
        }
    }
    came.intersection(&went).copied().collect()
}

/// Paths that no longer name the file or folder that they named before.
fn removed_paths(events: &[EventResult]) -> BTreeSet<&Path> {
    let removals = events.iter().flatten().filter(|event| is_removal(event.kind));
    removals.flat_map(|event| event.paths.iter().map(PathBuf::as_path)).collect()
}

fn is_removal(kind: EventKind) -> bool {
    matches!(kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From)))
}

fn changes_of_event(root: &Root, kind: EventKind, paths: &[PathBuf]) -> DiskChanges {
    let mut changed = DiskChanges::default();
    let writes = match kind {
        EventKind::Access(access) => matches!(access, AccessKind::Close(AccessMode::Write)),
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Create(_) | EventKind::Remove(_) => {
            changed.listing = paths.iter().any(|path| !is_inside_git(root, path));
            // Many editors write a new file and rename it over the old one.
            let outside_git = paths.iter().filter(|path| !is_inside_git(root, path));
            changed.saved = outside_git.filter_map(|path| relative(root, path)).collect();
            return changed;
        }
        EventKind::Modify(ModifyKind::Metadata(_)) => false,
        _ => true,
    };
    for path in paths.iter().filter(|path| writes && !is_inside_git(root, path)) {
        match relative(root, path) {
            Some(path) if is_rule(&path) => changed.listing = true,
            Some(path) => {
                changed.saved.insert(path.clone());
                changed.files.insert(path);
            }
            None => {}
        }
    }
    changed
}

fn is_inside_git(root: &Root, path: &Path) -> bool {
    path.strip_prefix(root.path()).is_ok_and(|rest| rest.starts_with(".git"))
}

/// Returns whether the file contains ignore rules.
fn is_rule(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some(".gitignore" | ".ignore" | ".rhumbignore"))
}

/// Maximum time that events are held back if they keep coming.
const MAX_DELAY: Duration = Duration::from_secs(1);

type EventResult = notify::Result<Event>;

/// Creates a watcher that reports events in groups: `on_events` is called when no event has come for `pause`, or
/// after one second.
///
/// A save consists of several events, a checkout of thousands. The watcher needs no CPU time while nothing happens,
/// unlike crates that poll the clock. Watch paths with [`notify::Watcher::watch`]. Reads are not reported.
/// `on_events` is called on a thread that ends when the watcher is dropped.
///
/// # Errors
/// The system provides no file watches, or no thread can be started.
pub fn debounced_watcher(
    pause: Duration,
    on_events: impl Fn(Vec<EventResult>) + Send + 'static,
) -> notify::Result<RecommendedWatcher> {
    let (sender, receiver) = mpsc::channel();
    let watcher = recommended_watcher(move |event: EventResult| {
        if event.as_ref().map_or(true, |event| is_change(event.kind)) {
            // The receiving thread ends only after this closure is dropped.
            let _ = sender.send(event);
        }
    })?;
    let collect = move || {
        while let Some(events) = next_group(&receiver, pause) {
            on_events(events);
        }
    };
    thread::Builder::new().name("watch".into()).spawn(collect).map_err(notify::Error::io)?;
    Ok(watcher)
}

fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

/// Returns the next group of events, or `None` when the watcher is dropped.
fn next_group(receiver: &Receiver<EventResult>, pause: Duration) -> Option<Vec<EventResult>> {
    let mut events = vec![receiver.recv().ok()?];
    let begun = Instant::now();
    while begun.elapsed() < MAX_DELAY {
        match receiver.recv_timeout(pause) {
            Ok(event) => events.push(event),
            Err(_) => break,
        }
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::mpsc;

    #[test]
    fn changes_in_watched_folders_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["src", "target", ".git"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        fs::write(folder.path().join("src/a.rs"), "fn a() {}").unwrap();
        let root = Root::at(folder.path()).unwrap();
        let (tell, receiver) = mpsc::channel();
        let mut watch = Watch::start(&root, move |changed| drop(tell.send(changed))).unwrap();
        watch.follow(&root, ["src/a.rs"].into_iter()).unwrap();
        fs::write(folder.path().join("target/x.o"), "x").unwrap();
        fs::write(folder.path().join(".git/index"), "x").unwrap();
        fs::write(folder.path().join("src/a.rs"), "fn b() {}").unwrap();
        let patience = Duration::from_secs(20);
        let changed = receiver.recv_timeout(patience).unwrap();
        let saved = std::collections::BTreeSet::from(["src/a.rs".to_owned()]);
        assert_eq!(changed, DiskChanges { files: saved.clone(), listing: false, saved });
        fs::write(folder.path().join("src/new.rs"), "").unwrap();
        assert!(receiver.recv_timeout(patience).unwrap().listing);
    }

    #[test]
    fn a_folder_that_replaces_another_is_watched_again() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path()).unwrap();
        let (src, file) = (root.path().join("src"), "src/deep/a.rs");
        let put = |text: &str| {
            fs::create_dir_all(src.join("deep")).unwrap();
            fs::write(root.path().join(file), text).unwrap();
        };
        put("1");
        let (tell, receiver) = mpsc::channel();
        let mut watch = Watch::start(&root, move |changed| drop(tell.send(changed))).unwrap();
        watch.follow(&root, [file].into_iter()).unwrap();
        let next = || receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        let removals: [&dyn Fn(); 2] =
            [&|| fs::remove_dir_all(&src).unwrap(), &|| fs::rename(&src, root.path().join("old")).unwrap()];
        for remove in removals {
            remove();
            put("2");
            assert!(next().listing);
            watch.follow(&root, [file].into_iter()).unwrap();
            put("3");
            while !next().files.contains(file) {}
        }
    }

    #[test]
    fn transient_files_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path()).unwrap();
        let event = |kind: EventKind, path: &str| Ok(Event::new(kind).add_path(root.path().join(path)));
        let create = EventKind::Create(notify::event::CreateKind::File);
        let remove = EventKind::Remove(notify::event::RemoveKind::File);
        let moved = |mode| EventKind::Modify(ModifyKind::Name(mode));
        let trial = [event(create, "4913"), event(remove, "4913")];
        assert!(changes_of_events(&root, &trial).is_empty());
        let of = |events: &[EventResult]| changes_of_events(&root, events);
        assert!(of(&[event(remove, "a"), event(create, "a")]).listing, "another file has its name");
        assert!(of(&[event(create, "a"), event(remove, "a"), event(create, "a")]).listing, "it is there");
        // Written to a temporary file and renamed.
        let aside = [
            event(create, "a~"),
            event(moved(RenameMode::From), "a~"),
            event(moved(RenameMode::To), "a"),
            Ok(Event::new(moved(RenameMode::Both)).add_path(root.path().join("a~")).add_path(root.path().join("a"))),
        ];
        assert!(of(&aside).saved.contains("a") && of(&aside).listing);
        let lost = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        assert!(of(&[Ok(lost)]).listing);
    }

    #[test]
    fn rules_change_the_listing() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path()).unwrap();
        let data = EventKind::Modify(ModifyKind::Data(notify::event::DataChange::Any));
        let of = |path: &str| changes_of_event(&root, data, &[root.path().join(path)]);
        assert!(of("a/.gitignore").listing && of(".rhumbignore").listing);
        let saved = BTreeSet::from(["a/b.rs".to_owned()]);
        assert_eq!(of("a/b.rs"), DiskChanges { files: saved.clone(), listing: false, saved });
        assert!(of(".git/HEAD").is_empty());
        assert!(changes_of_event(&root, data, &[PathBuf::from("/elsewhere")]).is_empty());
    }

    #[test]
    fn events_are_grouped_and_reads_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "x").unwrap();
        let (tell, receiver) = mpsc::channel();
        let mut watcher = debounced_watcher(Duration::from_millis(300), move |events| drop(tell.send(events))).unwrap();
        watcher.watch(folder.path(), RecursiveMode::NonRecursive).unwrap();
        fs::read(folder.path().join("old")).unwrap();
        fs::write(folder.path().join("a"), "x").unwrap();
        fs::write(folder.path().join("b"), "x").unwrap();
        let events = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        let named = |name: &str| {
            let of = |event: &EventResult| event.as_ref().unwrap().paths.contains(&folder.path().join(name));
            events.iter().any(of)
        };
        assert!(named("a") && named("b") && !named("old"), "{events:?}");
        drop(watcher);
        assert!(receiver.recv().is_err(), "the thread has ended");
    }

    #[test]
    fn continuous_events_are_reported_after_the_maximum_delay() {
        let (sender, receiver) = mpsc::channel();
        let writer = thread::spawn(move || {
            while sender.send(Ok(Event::new(EventKind::Any))).is_ok() {
                thread::sleep(Duration::from_millis(1));
            }
        });
        assert!(next_group(&receiver, Duration::from_secs(20)).is_some_and(|events| !events.is_empty()));
        drop(receiver);
        writer.join().unwrap();
        let (sender, receiver) = mpsc::channel();
        drop(sender);
        assert!(next_group(&receiver, Duration::ZERO).is_none());
    }
}
