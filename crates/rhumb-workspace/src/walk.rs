//! Lists the files under a root.

use super::ignore_rules::Rules;
use super::root::{Root, RootKind, has_work_tree};
use super::write::is_temp_name;
use crate::resolve::relative;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::xxh3_64;

/// After this many files progress is reported and `cancel` is checked.
const PROGRESS_EVERY_FILES: usize = 256;

/// A listed file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEntry {
    /// Path relative to the root, with `/`. It may contain control characters: escape it before display.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Modification time: seconds and nanoseconds since 1970, or zero if unknown.
    pub modified: (i64, u32),
    /// Changes whenever the content changes: a hash of size, times and inode. 0 if the file was changed so recently
    /// that another change could go unnoticed.
    pub stamp: u64,
    /// Whether the name suggests that the file contains secrets. See [`is_secret_name`].
    pub secret: bool,
}

/// The files under a root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Regular files that no ignore rule hides, sorted by path.
    pub files: Vec<FileEntry>,
    /// Entries that could not be listed, sorted: names that are not UTF-8 (invalid bytes as `\xNN`) and unreadable
    /// folders.
    pub skipped: Vec<String>,
    /// Rule files such as `.gitignore` that were not read, sorted: links, special files, too large or unreadable
    /// files. They hide nothing.
    pub unread_rules: Vec<String>,
    /// Nested repositories such as submodules, sorted. As in git, their files are not listed.
    pub nested: Vec<String>,
    /// Whether the walk was cancelled before its end.
    pub cancelled: bool,
}

/// Lists the files under `root`.
///
/// Honours `.gitignore`, git's exclude files, `.ignore`, `.rhumbignore` and the patterns of [`Root::ignoring`].
/// Hidden files are listed, symbolic links are not followed, and `.git` is never entered. A bare repository has no
/// files. `progress` is called with the number of files found so far. Setting `cancel` ends the walk.
pub fn files(root: &Root, cancel: &AtomicBool, progress: &mut dyn FnMut(usize)) -> Listing {
    let mut listing = Listing::default();
    if root.kind() == RootKind::Bare {
        return listing;
    }
    let since = SystemTime::now();
    let mut skipped = BTreeSet::new();
    let mut walk = Walk::new(root, true);
    listing.cancelled = !walk.run(cancel, &mut |found| match found {
        Found::File(entry) => {
            match relative(root, &entry.path()) {
                Some(path) => listing.files.push(file_entry(path, entry, since)),
                None => _ = skipped.insert(shown(root, &entry.path())),
            }
            if listing.files.len() % PROGRESS_EVERY_FILES == 1 {
                progress(listing.files.len());
            }
        }
        Found::Unreadable(folder) => _ = skipped.insert(shown(root, folder)),
    });
    listing.files.sort();
    listing.skipped = skipped.into_iter().collect();
    listing.unread_rules = walk.rules.unread().map(|file| shown(root, file)).collect();
    listing.nested = walk.nested.into_iter().collect();
    progress(listing.files.len());
    listing
}

/// Returns those of the `tracked` files (relative paths) that [`files`] omits because of git's ignore rules, which do
/// not apply to tracked files. Files hidden by `.ignore` or `.rhumbignore` are not returned. Sorted by path.
pub fn ignored_but_tracked(root: &Root, tracked: &BTreeSet<String>, cancel: &AtomicBool) -> Vec<FileEntry> {
    let is_file = |path: &String| std::fs::symlink_metadata(root.path().join(path)).is_ok_and(|meta| meta.is_file());
    let wanted: BTreeSet<&str> = tracked.iter().filter(|path| is_file(path)).map(String::as_str).collect();
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    let since = SystemTime::now();
    let folders = wanted.iter().flat_map(|path| Path::new(path).ancestors().skip(1));
    let mut walk = Walk::new(root, false);
    walk.only = Some(folders.map(|folder| root.path().join(folder)).collect());
    walk.run(cancel, &mut |entry| {
        let Found::File(entry) = entry else { return };
        if let Some(path) = relative(root, &entry.path()).filter(|path| wanted.contains(path.as_str())) {
            found.push(file_entry(path, entry, since));
        }
    });
    found.sort();
    found
}

/// Reads the metadata of a listed file again. Returns `None` if it is no longer a regular file.
pub fn refresh_entry(root: &Root, entry: &FileEntry) -> Option<FileEntry> {
    let since = SystemTime::now();
    let meta = std::fs::symlink_metadata(root.path().join(&entry.path)).ok().filter(std::fs::Metadata::is_file)?;
    Some(FileEntry { bytes: meta.len(), modified: modified(&meta), stamp: stamp(&meta, since), ..entry.clone() })
}

/// What a walk finds.
enum Found<'walk> {
    /// A regular file that is not hidden.
    File(&'walk DirEntry),
    /// A folder that cannot be listed.
    Unreadable(&'walk Path),
}

/// A walk through the folders under a root.
struct Walk<'root> {
    root: &'root Root,
    ignored: Gitignore,
    rules: Rules,
    /// Nested repositories found so far.
    nested: BTreeSet<String>,
    /// The folders to enter; `None` for all.
    only: Option<BTreeSet<PathBuf>>,
}

impl<'root> Walk<'root> {
    fn new(root: &'root Root, with_git: bool) -> Self {
        Self { root, ignored: ignored(root), rules: Rules::of(root, with_git), nested: BTreeSet::new(), only: None }
    }

    /// Calls `found` for each file. Returns `false` if cancelled.
    fn run(&mut self, cancel: &AtomicBool, found: &mut dyn FnMut(Found<'_>)) -> bool {
        // The last one is next, so that the rules of the folders above it are those that were entered last.
        let mut folders = vec![(self.root.path().to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            if cancel.load(Ordering::Relaxed) {
                return false;
            }
            let entries = fs::read_dir(&folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
            let Ok(entries) = entries else {
                found(Found::Unreadable(&folder));
                continue;
            };
            if depth > 0 && !self.enter(&folder, depth, &entries) {
                continue;
            }
            for entry in entries {
                let (path, kind) = (entry.path(), entry.file_type().ok());
                let is_folder = kind.is_some_and(|kind| kind.is_dir());
                let is_skipped = is_folder && self.only.as_ref().is_some_and(|only| !only.contains(&path));
                if is_skipped || self.hides(&path, depth + 1, is_folder) {
                    continue;
                }
                if is_folder {
                    folders.push((path, depth + 1));
                } else if kind.is_some_and(|kind| kind.is_file()) && !is_temp_name(&entry.file_name()) {
                    found(Found::File(&entry));
                }
            }
        }
        true
    }

    /// Enters a folder. Returns `false` if it is a nested repository.
    fn enter(&mut self, folder: &Path, depth: usize, entries: &[DirEntry]) -> bool {
        // The entries are at hand. Asking the system for each special file would take as long as the rest of the walk.
        let has = |name: &str| entries.iter().any(|entry| entry.file_name().eq_ignore_ascii_case(name));
        if self.root.kind() == RootKind::Git && has(".git") && has_work_tree(folder) {
            self.nested.insert(shown(self.root, folder));
            return false;
        }
        self.rules.enter(folder, depth, has);
        true
    }

    fn hides(&self, path: &Path, depth: usize, is_folder: bool) -> bool {
        path.file_name().is_some_and(|name| name == ".git")
            || self.root.excludes(path)
            || self.ignored.matched(path, is_folder).is_ignore()
            || self.rules.hide(path, depth, is_folder)
    }
}

/// The patterns of [`Root::ignoring`]. Invalid patterns have no effect.
fn ignored(root: &Root) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root.path());
    for pattern in root.ignored() {
        drop(builder.add_line(None, pattern));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn file_entry(path: String, entry: &DirEntry, since: SystemTime) -> FileEntry {
    let meta = entry.metadata().ok();
    let modified = meta.as_ref().map(modified).unwrap_or_default();
    let (bytes, stamp) = meta.map_or((0, 0), |meta| (meta.len(), stamp(&meta, since)));
    let secret = is_secret_name(&path);
    FileEntry { path, bytes, modified, stamp, secret }
}

/// The path below the root for display: invalid bytes as `\xNN`, control characters escaped.
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

/// A file modified less than this long before the listing may change again with the same modification time, because
/// file system clocks have a granularity of a few milliseconds.
const MTIME_GRANULARITY: Duration = Duration::from_millis(50);
/// The same for file systems that store whole seconds.
const COARSE_MTIME_GRANULARITY: Duration = Duration::from_secs(2);

/// Returns a hash of size, times and inode. 0 if the file was modified so shortly before `since`, or after it, that
/// another change could go unnoticed.
pub(crate) fn stamp(meta: &Metadata, since: SystemTime) -> u64 {
    let Ok(modified) = meta.modified() else { return 0 };
    let nanos = modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.subsec_nanos());
    let tick = if nanos == 0 { COARSE_MTIME_GRANULARITY } else { MTIME_GRANULARITY };
    if modified + tick >= since {
        return 0;
    }
    let seconds = modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut bytes = Vec::with_capacity(48);
    for number in [meta.len(), seconds, u64::from(nanos)].into_iter().chain(identity(meta)) {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    xxh3_64(&bytes).max(1)
}

/// Modification time in seconds and nanoseconds since 1970, or zero if unknown.
pub(crate) fn modified(meta: &Metadata) -> (i64, u32) {
    let since = meta.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    since.map_or((0, 0), |time| (i64::try_from(time.as_secs()).unwrap_or(i64::MAX), time.subsec_nanos()))
}

/// The last time at which the content, the name or the mode of a file or folder changed, or its modification time where the system
/// does not store it: seconds and nanoseconds since 1970.
pub fn last_change(meta: &Metadata) -> (i64, u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (meta.ctime(), u32::try_from(meta.ctime_nsec()).unwrap_or(0))
    }
    #[cfg(not(unix))]
    modified(meta)
}

/// Inode and change time. They tell a replaced file with an old modification time from the original.
#[cfg(unix)]
fn identity(meta: &Metadata) -> [u64; 3] {
    use std::os::unix::fs::MetadataExt;
    [meta.ino(), meta.ctime() as u64, meta.ctime_nsec() as u64]
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [u64; 3] {
    [0; 3]
}

/// File names that hold keys or passwords in well-known tools.
const SECRET_NAMES: &[&str] = &[
    ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".dockercfg",
    ".envrc", "credentials", "credentials.json", "service-account.json", "secrets.yml", "secrets.yaml", "secrets.json",
    "secrets.toml", "terraform.tfstate",
];

/// Endings of key stores and private keys.
const SECRET_ENDINGS: &[&str] =
    &[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".asc", ".gpg", ".tfvars", ".ovpn"];

const SSH_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// Endings of templates of environment files, which contain no secrets.
const TEMPLATE_ENDINGS: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// Returns whether the last component of `path` (with `/`) is a name that usually holds secrets. Public keys (`.pub`)
/// and environment templates (`.env.example`) are excluded.
pub fn is_secret_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    if name.ends_with(".pub") || TEMPLATE_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return false;
    }
    SECRET_NAMES.contains(&name.as_str())
        || name == ".env"
        || name.starts_with(".env.")
        || name.ends_with(".env")
        || SSH_KEYS.iter().any(|key| name.starts_with(key))
        || SECRET_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn ignore_files_apply_inside_and_outside_git() {
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
    fn special_rule_files_are_reported_and_not_opened() {
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
    fn rule_file_names_have_a_precedence_and_deeper_folders_win() {
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
    fn rules_above_the_root_and_of_the_main_work_tree_apply() {
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
    fn files_ignored_by_the_settings_are_not_listed() {
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
    fn names_that_are_not_utf8_are_listed_with_escapes() {
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

    #[test]
    fn stamps_of_different_versions_differ() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let later = SystemTime::now() + Duration::from_secs(10);
        fs::write(&path, "one").unwrap();
        let first = stamp(&fs::metadata(&path).unwrap(), later);
        assert_eq!(first, stamp(&fs::metadata(&path).unwrap(), later));
        fs::write(&path, "three").unwrap();
        assert_ne!(first, stamp(&fs::metadata(&path).unwrap(), later));
        assert_ne!(first, 0);
    }

    #[test]
    fn a_file_that_was_just_changed_has_no_stamp() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "one").unwrap();
        assert_eq!(stamp(&fs::metadata(&path).unwrap(), SystemTime::now()), 0);
    }

    #[test]
    fn names_of_secrets_are_recognized() {
        for path in [".env", "app/.env.local", "prod.env", "server.PEM", "home/id_rsa", "id_ed25519_work", ".netrc"] {
            assert!(is_secret_name(path), "{path}");
        }
    }

    #[test]
    fn ordinary_names_public_keys_and_templates_are_not_secret() {
        for path in ["src/main.rs", "id_rsa.pub", ".env.example", "environment.md", "keys.rs", "src/env.rs", ""] {
            assert!(!is_secret_name(path), "{path}");
        }
    }
}
