//! Watching for changes on disk: the folders of the files that matter, and no others, since the system has a limited number
//! of watches and a build folder can have thousands of folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, Event, EventKind, ModifyKind, RenameMode};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use super::gather::gathering_watcher;
use super::resolve::relative;
use super::root::Root;

/// Changes that come within this time of each other are told together.
const DEBOUNCE: Duration = Duration::from_millis(150);

/// What changed on disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// Files whose content changed, relative to the root.
    pub files: BTreeSet<String>,
    /// Whether there may be other files than before, or other rules about them.
    pub listing: bool,
    /// Files that were saved in any way, also by another one taking their place. Some may be gone.
    pub saved: BTreeSet<String>,
}

impl Changed {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && !self.listing
    }

    /// Takes in further changes.
    pub fn merge(&mut self, other: Self) {
        self.files.extend(other.files);
        self.listing |= other.listing;
        self.saved.extend(other.saved);
    }
}

/// Watches folders until it is dropped.
#[derive(Debug)]
pub struct Watch {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
}

impl Watch {
    /// Starts watching nothing yet. `on_change` is called from a thread of the watch.
    ///
    /// # Errors
    /// The system has no more watches to give, or none at all; the text says which.
    pub fn start(root: &Root, on_change: impl Fn(Changed) + Send + 'static) -> Result<Self, String> {
        let root = root.clone();
        let tell = move |events: Vec<notify::Result<Event>>| {
            let changed = meaning_of_all(&root, &events);
            if !changed.is_empty() {
                on_change(changed);
            }
        };
        let watcher = gathering_watcher(DEBOUNCE, tell).map_err(|error| error.to_string())?;
        Ok(Self { watcher, folders: BTreeSet::new() })
    }

    /// Watches the root and the folders of these files (relative to it), and those alone.
    ///
    /// # Errors
    /// A folder cannot be watched; the others are.
    pub fn follow<'p>(&mut self, root: &Root, files: impl Iterator<Item = &'p str>) -> Result<(), String> {
        let mut wanted = BTreeSet::from([root.path().to_owned()]);
        for file in files {
            let mut folder = Path::new(file).parent();
            // A folder whose folder is known is known with all above it.
            while let Some(path) = folder.filter(|path| wanted.insert(root.path().join(path))) {
                folder = path.parent();
            }
        }
        for gone in self.folders.difference(&wanted) {
            // It may not exist any more, and then there is nothing to end.
            let _ = self.watcher.unwatch(gone);
        }
        let mut failure = None;
        let mut watched = BTreeSet::new();
        for folder in wanted {
            let result = match self.folders.contains(&folder) {
                true => Ok(()),
                false => self.watcher.watch(&folder, RecursiveMode::NonRecursive),
            };
            match result {
                Ok(()) => drop(watched.insert(folder)),
                Err(error) => failure = Some(error.to_string()),
            }
        }
        self.folders = watched;
        failure.map_or(Ok(()), Err)
    }
}

/// What events that were told together mean for the listing of the root.
fn meaning_of_all(root: &Root, events: &[notify::Result<Event>]) -> Changed {
    let passing = passing(events);
    let mut changed = Changed::default();
    for event in events {
        changed.merge(match event {
            Ok(event) if event.need_rescan() => Changed { listing: true, ..Changed::default() },
            Ok(event) if event.paths.iter().all(|path| passing.contains(path.as_path())) => Changed::default(),
            Ok(event) => meaning(root, event.kind, &event.paths),
            // Events were lost: anything may have changed.
            Err(_) => Changed { listing: true, ..Changed::default() },
        });
    }
    changed
}

/// Files that came and went meanwhile, as those do that editors try a folder with or write to before they move them.
fn passing(events: &[notify::Result<Event>]) -> BTreeSet<&Path> {
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
                EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From)) => {
                    went.insert(path);
                }
                _ => {}
            }
            known.insert(path);
        }
    }
    came.intersection(&went).copied().collect()
}

/// What an event means for the listing of the root.
fn meaning(root: &Root, kind: EventKind, paths: &[PathBuf]) -> Changed {
    let mut changed = Changed::default();
    let writes = match kind {
        EventKind::Access(access) => matches!(access, AccessKind::Close(notify::event::AccessMode::Write)),
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Create(_) | EventKind::Remove(_) => {
            changed.listing = paths.iter().any(|path| !is_inside_git(root, path));
            // Many editors write beside a file and move that to its place.
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

/// Whether a file says which files are listed.
fn is_rule(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some(".gitignore" | ".ignore" | ".rhumbignore"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn what_happens_in_followed_folders_is_told() {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["src", "target", ".git"] {
            fs::create_dir(folder.path().join(inner)).unwrap();
        }
        fs::write(folder.path().join("src/a.rs"), "fn a() {}").unwrap();
        let root = Root::at(folder.path()).unwrap();
        let (tell, told) = mpsc::channel();
        let mut watch = Watch::start(&root, move |changed| drop(tell.send(changed))).unwrap();
        watch.follow(&root, ["src/a.rs"].into_iter()).unwrap();
        fs::write(folder.path().join("target/x.o"), "x").unwrap();
        fs::write(folder.path().join(".git/index"), "x").unwrap();
        fs::write(folder.path().join("src/a.rs"), "fn b() {}").unwrap();
        let patience = Duration::from_secs(20);
        let changed = told.recv_timeout(patience).unwrap();
        let saved = std::collections::BTreeSet::from(["src/a.rs".to_owned()]);
        assert_eq!(changed, Changed { files: saved.clone(), listing: false, saved });
        fs::write(folder.path().join("src/new.rs"), "").unwrap();
        assert!(told.recv_timeout(patience).unwrap().listing);
    }

    #[test]
    fn what_comes_and_goes_at_once_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path()).unwrap();
        let event = |kind: EventKind, path: &str| Ok(Event::new(kind).add_path(root.path().join(path)));
        let create = EventKind::Create(notify::event::CreateKind::File);
        let remove = EventKind::Remove(notify::event::RemoveKind::File);
        let moved = |mode| EventKind::Modify(ModifyKind::Name(mode));
        let trial = [event(create, "4913"), event(remove, "4913")];
        assert!(meaning_of_all(&root, &trial).is_empty());
        let of = |events: &[notify::Result<Event>]| meaning_of_all(&root, events);
        assert!(of(&[event(remove, "a"), event(create, "a")]).listing, "another file has its name");
        assert!(of(&[event(create, "a"), event(remove, "a"), event(create, "a")]).listing, "it is there");
        // Written aside and moved to its place.
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
        let of = |path: &str| meaning(&root, data, &[root.path().join(path)]);
        assert!(of("a/.gitignore").listing && of(".rhumbignore").listing);
        let saved = BTreeSet::from(["a/b.rs".to_owned()]);
        assert_eq!(of("a/b.rs"), Changed { files: saved.clone(), listing: false, saved });
        assert!(of(".git/HEAD").is_empty());
        assert!(meaning(&root, data, &[PathBuf::from("/elsewhere")]).is_empty());
    }
}
