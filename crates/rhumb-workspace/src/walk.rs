//! Which files there are.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, WalkBuilder};

use super::resolve::relative;
use super::root::{Root, RootKind, has_work_tree};
use super::rules::Rules;
use super::secret::is_secret_name;
use super::stamp::{modified, stamp};
use super::write::is_temp_name;

/// Progress is told after every so many files, and the wish to stop is looked at as often.
const PROGRESS_EVERY_FILES: usize = 256;

/// One file of the listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// Path relative to the root, with `/`. It may hold control characters; showing them is the screen's matter.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Seconds and nanoseconds of its last change, since 1970; zero where the system does not tell.
    pub modified: (i64, u32),
    /// Changes whenever the content does: made of size, times and identity. 0 when the file changed so lately that
    /// another change might not show.
    pub stamp: u64,
    /// The name is one under which secrets are kept, so it must not be added without asking.
    pub secret: bool,
}

/// The files under a root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Regular files that no ignore rule hides, sorted by path.
    pub files: Vec<FileEntry>,
    /// What could not be listed, sorted: names that are not UTF-8 (bad bytes as `\xNN`) and folders that cannot be
    /// read.
    pub skipped: Vec<String>,
    /// Rule files such as `.gitignore` that are links, no plain files, too large or not readable, sorted: they hide nothing.
    pub unread_rules: Vec<String>,
    /// Repositories inside the repository (submodules and the like), sorted. As for git, their files belong to them.
    pub nested: Vec<String>,
    /// The walk was stopped before its end.
    pub cancelled: bool,
}

/// Lists the files under `root`, honouring `.gitignore`, git's exclude files, `.ignore` and `.rhumbignore`, and what the root was told to
/// ignore. Hidden
/// files are listed, links are not followed, and `.git` is never entered. `progress` hears how many files were found so
/// far; setting `cancel` ends the walk early. A bare repository has no files.
pub fn files(root: &Root, cancel: &AtomicBool, progress: &mut dyn FnMut(usize)) -> Listing {
    let mut listing = Listing::default();
    if root.kind() == RootKind::Bare {
        return listing;
    }
    let walk = Walk::of(root, true);
    let mut skipped = BTreeSet::new();
    let since = SystemTime::now();
    for entry in walk.builder(root).build() {
        if cancel.load(Ordering::Relaxed) {
            listing.cancelled = true;
            break;
        }
        match entry {
            Ok(entry) => take(root, &entry, since, &mut listing.files, &mut skipped),
            Err(error) => skipped.extend(place_of(&error).map(|path| shown(root, path))),
        }
        if listing.files.len() % PROGRESS_EVERY_FILES == 1 {
            progress(listing.files.len());
        }
    }
    listing.files.sort();
    listing.skipped = skipped.into_iter().collect();
    let met = walk.met();
    listing.unread_rules = met.rules.unread().map(|file| shown(root, file)).collect();
    listing.nested = met.nested.iter().cloned().collect();
    drop(met);
    progress(listing.files.len());
    listing
}

/// The files among `tracked` (relative paths) that [`files`] left out because git's own ignore rules fit them: git ignores
/// nothing that it tracks. Those that `.ignore` or `.rhumbignore` hides stay hidden. Sorted by path.
pub fn ignored_but_tracked(root: &Root, tracked: &BTreeSet<String>, cancel: &AtomicBool) -> Vec<FileEntry> {
    let is_file = |path: &String| std::fs::symlink_metadata(root.path().join(path)).is_ok_and(|meta| meta.is_file());
    let wanted: BTreeSet<&str> = tracked.iter().filter(|path| is_file(path)).map(String::as_str).collect();
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    let since = SystemTime::now();
    for entry in Walk::of(root, false).builder(root).build().flatten() {
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        if relative(root, entry.path()).is_some_and(|path| wanted.contains(path.as_str())) {
            take(root, &entry, since, &mut found, &mut BTreeSet::new());
        }
    }
    found.sort();
    found
}

/// The entry of a listed file as it is now; `None` when it is gone or no file any more.
pub fn look_again(root: &Root, entry: &FileEntry) -> Option<FileEntry> {
    let since = SystemTime::now();
    let meta = std::fs::symlink_metadata(root.path().join(&entry.path)).ok().filter(std::fs::Metadata::is_file)?;
    Some(FileEntry { bytes: meta.len(), modified: modified(&meta), stamp: stamp(&meta, since), ..entry.clone() })
}

/// What a walk meets on its way.
#[derive(Clone)]
struct Walk(Arc<Mutex<Met>>);

struct Met {
    /// The rules where the walk is.
    rules: Rules,
    /// The nested repositories that it turned away from.
    nested: BTreeSet<String>,
}

impl Walk {
    fn of(root: &Root, with_git: bool) -> Self {
        Self(Arc::new(Mutex::new(Met { rules: Rules::of(root, with_git), nested: BTreeSet::new() })))
    }

    fn met(&self) -> MutexGuard<'_, Met> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The walker, which asks before it enters a folder. It reads no rule files of its own.
    fn builder(&self, root: &Root) -> WalkBuilder {
        let (walk, top, ignored) = (self.clone(), root.clone(), ignored(root));
        let mut builder = WalkBuilder::new(root.path());
        builder
            .standard_filters(false)
            .follow_links(false)
            .filter_entry(move |entry| entry.depth() == 0 || walk.wants(&top, &ignored, entry));
        builder
    }

    fn wants(&self, root: &Root, ignored: &Gitignore, entry: &DirEntry) -> bool {
        let (path, depth) = (entry.path(), entry.depth());
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if entry.file_name() == ".git" || root.keeps_out(path) || ignored.matched(path, is_folder).is_ignore() {
            return false;
        }
        let mut met = self.met();
        if met.rules.hide(path, depth, is_folder) {
            return false;
        }
        if is_folder {
            if root.kind() == RootKind::Git && has_work_tree(path) {
                met.nested.insert(shown(root, path));
                return false;
            }
            met.rules.enter(path, depth);
        }
        true
    }
}

/// What the settings hide. A pattern that is none hides nothing.
fn ignored(root: &Root) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root.path());
    for pattern in root.ignored() {
        drop(builder.add_line(None, pattern));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn take(root: &Root, entry: &DirEntry, since: SystemTime, files: &mut Vec<FileEntry>, skipped: &mut BTreeSet<String>) {
    if !entry.file_type().is_some_and(|kind| kind.is_file()) || is_temp_name(entry.file_name()) {
        return;
    }
    match relative(root, entry.path()) {
        Some(path) => {
            let meta = entry.metadata().ok();
            let modified = meta.as_ref().map(modified).unwrap_or_default();
            let (bytes, stamp) = meta.map_or((0, 0), |meta| (meta.len(), stamp(&meta, since)));
            let secret = is_secret_name(&path);
            files.push(FileEntry { path, bytes, modified, stamp, secret });
        }
        None => {
            skipped.insert(shown(root, entry.path()));
        }
    }
}

/// The path that a walk error is about; a faulty line in an ignore file is about none.
fn place_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, err } if err.is_io() => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => place_of(err),
        _ => None,
    }
}

/// The path below the root for the eye: bad bytes as `\xNN`, control characters escaped.
fn shown(root: &Root, path: &Path) -> String {
    let rest = path.strip_prefix(root.path()).unwrap_or(path);
    escaped(rest.as_os_str())
}

fn escaped(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() { text.extend(c.escape_default()) } else { text.push(c) }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root::at(dir.path()).unwrap();
        (dir, root)
    }

    fn listed(root: &Root) -> Listing {
        files(root, &AtomicBool::new(false), &mut |_| {})
    }

    fn paths(listing: &Listing) -> Vec<&str> {
        listing.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn ignore_files_hold_inside_and_outside_git() {
        let rules = [(".gitignore", "*.log\n"), (".rhumbignore", "vendor/\n")];
        let sources = [("b.rs", "bb"), ("a/x.rs", ""), ("a/x.log", ""), ("vendor/v.rs", ""), (".hidden/h", "")];
        for git in [&[][..], &[(".git/HEAD", "ref: refs/heads/main\n")]] {
            let (_dir, root) = tree(&[&rules[..], &sources, git].concat());
            let listing = listed(&root);
            assert_eq!(paths(&listing), [".gitignore", ".hidden/h", ".rhumbignore", "a/x.rs", "b.rs"]);
            assert_eq!(listing.files[4].bytes, 2);
        }
    }

    #[test]
    fn rule_files_that_are_not_plain_are_told_and_not_opened() {
        let rules = [("a.rs", ""), ("x.log", ""), ("sub/b.rs", ""), ("sub/b.log", ""), ("big/c.rs", "")];
        let (_dir, root) =
            tree(&[&rules[..], &[(".git/info/x", ""), (".git/HEAD", ""), (".gitignore", "*.log")]].concat());
        let at = |path: &str| root.path().join(path);
        for name in [".ignore", "sub/.gitignore"] {
            std::os::unix::fs::symlink("/dev/zero", at(name)).unwrap();
        }
        for name in [".rhumbignore", ".git/info/exclude", "sub/.ignore"] {
            let kind = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, at(name), kind, rustix::fs::Mode::RUSR, 0).unwrap();
        }
        fs::write(at("big/.gitignore"), "c.rs\n".repeat(1 << 20)).unwrap();
        let listing = listed(&root);
        assert_eq!(paths(&listing), [".gitignore", "a.rs", "big/.gitignore", "big/c.rs", "sub/b.rs"]);
        let unread =
            [".git/info/exclude", ".ignore", ".rhumbignore", "big/.gitignore", "sub/.gitignore", "sub/.ignore"];
        assert_eq!(listing.unread_rules, unread);
        assert!(!super::super::is_ignored(&root, "sub/b.rs"));
        assert!(ignored_but_tracked(&root, &["sub/b.log".to_owned()].into(), &AtomicBool::new(false)).len() == 1);
    }

    #[test]
    fn the_strongest_rule_file_wins_and_in_it_the_deepest_folder() {
        let (_dir, root) = tree(&[
            (".git/HEAD", ""),
            (".git/info/exclude", "local.txt\n"),
            (".gitignore", "*.log\n/out\n"),
            (".ignore", "!seen.log\n"),
            (".rhumbignore", "vendor/\n"),
            ("a/.gitignore", "!kept.log\n"),
            ("a/.ignore", "*.tmp\n"),
            ("b/.gitignore", "*.md\n"),
        ]);
        let files =
            ["x.log", "seen.log", "a/kept.log", "a/b/x.tmp", "b/x.tmp", "c/x.md", "local.txt", "vendor/v", "a/out"];
        for file in files.iter().chain(&["out", "b/x.md"]) {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let listing = listed(&root);
        let shown = |path: &&str| !path.contains("ignore");
        let seen = ["a/kept.log", "a/out", "b/x.tmp", "c/x.md", "seen.log"];
        assert_eq!(paths(&listing).into_iter().filter(shown).collect::<Vec<_>>(), seen);
        for file in files {
            assert_eq!(super::super::is_ignored(&root, file), !seen.contains(&file), "{file}");
        }
    }

    #[test]
    fn a_folder_of_a_repository_has_the_rules_above_it_and_those_of_a_linked_work_tree() {
        let (dir, _) = tree(&[
            ("main/.git/info/exclude", "own.txt\n"),
            ("main/.git/worktrees/w/commondir", "../..\n"),
            ("w/.gitignore", "*.log\n/sub/gone\n"),
            ("w/sub/x.log", ""),
            ("w/sub/gone", ""),
            ("w/sub/own.txt", ""),
            ("w/sub/a.rs", ""),
            (".gitignore", "a.rs\n"),
        ]);
        let git = dir.path().join("main/.git/worktrees/w");
        fs::write(dir.path().join("w/.git"), format!("gitdir: {}\n", git.display())).unwrap();
        let root = Root::at(&dir.path().join("w/sub")).unwrap();
        assert_eq!(paths(&listed(&root)), ["a.rs"]);
    }

    #[test]
    fn what_the_settings_ignore_is_not_listed() {
        let (_dir, root) =
            tree(&[("a.rs", ""), ("dist/b.js", ""), ("deep/dist/c.js", ""), ("deep/x.tmp", ""), ("keep.tmp", "")]);
        let patterns = ["/dist", "*.tmp", "!keep.tmp", "[", ""].map(str::to_owned);
        assert_eq!(paths(&listed(&root.ignoring(&patterns))), ["a.rs", "deep/dist/c.js", "keep.tmp"]);
    }

    #[test]
    fn secrets_are_marked_and_links_are_not_followed() {
        let (_dir, root) = tree(&[(".env", "K=1"), ("a.rs", "")]);
        std::os::unix::fs::symlink(".", root.path().join("loop")).unwrap();
        let listing = listed(&root);
        assert_eq!(paths(&listing), [".env", "a.rs"]);
        assert_eq!(listing.files.iter().map(|file| file.secret).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn names_that_are_not_utf8_are_counted_with_escapes() {
        let (_dir, root) = tree(&[("a.rs", "")]);
        if fs::write(root.path().join(OsStr::from_bytes(b"caf\xe9\x1b")), "x").is_ok() {
            let listing = listed(&root);
            assert_eq!(paths(&listing), ["a.rs"]);
            assert_eq!(listing.skipped, ["caf\\xe9\\u{1b}"]);
        }
    }

    #[test]
    fn a_repository_inside_the_repository_is_named_and_not_entered() {
        let (_dir, root) = tree(&[(".git/HEAD", ""), ("a.rs", ""), ("sub/.git", "gitdir: x"), ("sub/b.rs", "")]);
        let listing = listed(&root);
        assert_eq!(paths(&listing), ["a.rs"]);
        assert_eq!(listing.nested, ["sub"]);
        let (_dir, plain) = tree(&[("one/.git/HEAD", ""), ("one/b.rs", "")]);
        assert_eq!(paths(&listed(&plain)), ["one/b.rs"]);
    }

    #[test]
    fn a_walk_can_be_stopped() {
        let (_dir, root) = tree(&[("a", "")]);
        let listing = files(&root, &AtomicBool::new(true), &mut |_| {});
        assert!(listing.cancelled && listing.files.is_empty());
    }
}
