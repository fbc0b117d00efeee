//! Ignore rules: `.gitignore`, git's exclude files, `.ignore` and `.rhumbignore`.
//!
//! The files are read here and not by the `ignore` crate, because a cloned repository may contain anything under
//! these names, such as a link to an endless device or a pipe without a writer.

use super::root::{Root, RootKind};
use super::snapshot::read_bytes;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// File names in a folder, highest precedence first.
const NAMES: [&str; 3] = [".rhumbignore", ".ignore", GIT];
const GIT: &str = ".gitignore";
/// Maximum size of a rule file in bytes. Larger files are not read.
const MAX_RULE_FILE_BYTES: u64 = 1024 * 1024;

/// The rules that apply in a folder: its own and those of the folders above.
pub(crate) struct Rules {
    /// One stack per name in `NAMES`, lowest precedence first, with the depth of the folder of each rule file. Depth
    /// 0 is the root and everything above it.
    stacks: [Vec<(usize, Gitignore)>; 3],
    with_git: bool,
    /// Rule files that exist and were not read.
    unread: BTreeSet<PathBuf>,
}

impl Rules {
    /// Returns the rules that apply in the root. The rules of git are included only if `with_git` is set.
    pub(crate) fn of(root: &Root, with_git: bool) -> Self {
        let mut rules = Self { stacks: Default::default(), with_git, unread: BTreeSet::new() };
        // Outside of a repository, rules in parent folders belong to someone else.
        if root.kind() == RootKind::Git {
            let top = root.work_tree().unwrap_or(root.path());
            if with_git {
                let own = [gitconfig_excludes_path(), exclude_file(root, top)];
                own.into_iter().flatten().for_each(|file| rules.add(2, 0, &file, top, Links::Followed));
            }
            let above: Vec<&Path> = root.path().ancestors().skip(1).collect();
            above.into_iter().rev().for_each(|folder| rules.add_folder(folder, 0, Some(top), |_| true));
        }
        rules.add_folder(root.path(), 0, None, |_| true);
        rules
    }

    /// Enters `folder`, which is `depth` levels below the root, and leaves the folders that do not contain it. `has`
    /// tells whether the folder has an entry of a name, perhaps in other case.
    pub(crate) fn enter(&mut self, folder: &Path, depth: usize, has: impl Fn(&str) -> bool) {
        for stack in &mut self.stacks {
            while stack.last().is_some_and(|(at, _)| *at >= depth) {
                stack.pop();
            }
        }
        self.add_folder(folder, depth, None, has);
    }

    /// Returns whether the rules hide the absolute `path`, `depth` levels below the root. It must be in the folder
    /// that was entered, or in one above.
    pub(crate) fn hide(&self, path: &Path, depth: usize, is_folder: bool) -> bool {
        Self::verdict_of(&self.stacks, path, depth, is_folder)
    }

    fn verdict_of(stacks: &[Vec<(usize, Gitignore)>], path: &Path, depth: usize, is_folder: bool) -> bool {
        let verdict = |(_, rules): &(usize, Gitignore)| match rules.matched(path, is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let holding = |stack: &Vec<(usize, Gitignore)>| {
            stack.iter().rev().filter(|(at, _)| *at == 0 || *at < depth).find_map(verdict)
        };
        stacks.iter().find_map(holding).unwrap_or(false)
    }

    /// Rule files that were not read: symbolic links, special files, files that are too large or not readable.
    pub(crate) fn unread(&self) -> impl Iterator<Item = &Path> {
        self.unread.iter().map(PathBuf::as_path)
    }

    /// Adds the rules of one folder. Rule files above the work tree `top` belong to the user, and git does not read
    /// them.
    fn add_folder(&mut self, folder: &Path, depth: usize, top: Option<&Path>, has: impl Fn(&str) -> bool) {
        let is_ours = top.is_none_or(|top| folder.starts_with(top));
        let links = if is_ours { Links::Refused } else { Links::Followed };
        for (stack, name) in NAMES.into_iter().enumerate() {
            if has(name) && (name != GIT || (self.with_git && is_ours)) {
                self.add(stack, depth, &folder.join(name), folder, links);
            }
        }
    }

    fn add(&mut self, stack: usize, depth: usize, file: &Path, from: &Path, links: Links) {
        match text(file, links) {
            Ok(Some(text)) => {
                let rules = compiled(&text, from);
                if let Some(stack) = self.stacks.get_mut(stack).filter(|_| !rules.is_empty()) {
                    stack.push((depth, rules));
                }
            }
            Ok(None) => {}
            Err(_) => _ = self.unread.insert(file.to_owned()),
        }
    }
}

/// The ignore rules of git for a walk that enters each folder before its entries. Outside of a repository, the rules of `.ignore` and
/// `.rhumbignore`.
pub struct GitIgnore {
    root: PathBuf,
    rules: Rules,
    is_repository: bool,
}

impl GitIgnore {
    /// The rules that apply in the root.
    pub fn new(root: &Root) -> Self {
        let is_repository = root.kind() == RootKind::Git;
        Self { root: root.path().to_owned(), rules: Rules::of(root, true), is_repository }
    }

    /// Enters a folder (relative to the root), and leaves the folders that do not contain it.
    pub fn enter(&mut self, folder: &str) {
        if !folder.is_empty() {
            self.rules.enter(&self.root.join(folder), depth(folder), |_| true);
        }
    }

    /// Whether the rules ignore an entry (relative to the root) of the folder that was entered. An entry of an ignored folder is
    /// ignored, too; this asks about the entry alone. It does not matter whether the file is tracked.
    pub fn ignores(&self, path: &str, is_folder: bool) -> bool {
        let stacks = if self.is_repository { &self.rules.stacks[NAMES.len() - 1..] } else { &self.rules.stacks[..] };
        Rules::verdict_of(stacks, &self.root.join(path), depth(path), is_folder)
    }
}

/// How many levels a path is below the root.
fn depth(path: &str) -> usize {
    path.split('/').count()
}

/// How to treat a rule file that is a symbolic link.
#[derive(Clone, Copy, PartialEq)]
enum Links {
    Followed,
    /// Not followed, as git does with a `.gitignore`: the link could lead anywhere.
    Refused,
}

/// Returns the text of a rule file, or `None` if there is none.
fn text(file: &Path, links: Links) -> io::Result<Option<String>> {
    let read = match links {
        Links::Followed => file.canonicalize().and_then(|file| read_bytes(&file, MAX_RULE_FILE_BYTES + 1)),
        Links::Refused => read_bytes(file, MAX_RULE_FILE_BYTES + 1),
    };
    match read {
        Ok(bytes) if bytes.len() as u64 > MAX_RULE_FILE_BYTES => Err(io::Error::other("too large")),
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Compiles the rules. A line that is not a valid rule has no effect.
fn compiled(text: &str, from: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(from);
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
        drop(builder.add_line(None, line));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Git's exclude file of the repository. Linked work trees share one.
fn exclude_file(root: &Root, top: &Path) -> Option<PathBuf> {
    let folder = root.git_folder().map_or_else(|| top.join(".git"), Path::to_owned);
    let common = text(&folder.join("commondir"), Links::Refused).ok()?;
    let common = common.map_or_else(|| folder.clone(), |common| folder.join(common.trim()));
    Some(common.join("info/exclude"))
}

/// Returns whether the rules hide the file `path` (relative to the root), which need not exist.
///
/// As in git, rules in deeper folders take precedence, and nothing inside an ignored folder can be re-included. Unlike in git, it
/// does not matter whether the file is tracked.
pub fn is_ignored(root: &Root, path: &str) -> bool {
    is_matched(root, path, |rules| &rules.stacks)
}

/// Returns whether `.ignore` or `.rhumbignore` hide the file `path` (relative to the root), which need not exist.
pub fn is_hidden(root: &Root, path: &str) -> bool {
    is_matched(root, path, |rules| &rules.stacks[..NAMES.len() - 1])
}

fn is_matched(root: &Root, path: &str, stacks: impl Fn(&Rules) -> &[Vec<(usize, Gitignore)>]) -> bool {
    let below = Path::new(path);
    let mut parts: Vec<&Path> = below.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    parts.reverse();
    let mut rules = Rules::of(root, true);
    parts.iter().zip(1..).any(|(part, depth)| {
        let (at, is_folder) = (root.path().join(part), *part != below);
        if Rules::verdict_of(stacks(&rules), &at, depth, is_folder) {
            return true;
        }
        if is_folder {
            rules.enter(&at, depth, |_| true);
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_git_are_told_from_the_others_in_a_walk() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git")).unwrap();
        std::fs::create_dir_all(dir.path().join("web/deep")).unwrap();
        std::fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(dir.path().join(".gitignore"), "build/\n*.log\n").unwrap();
        std::fs::write(dir.path().join("web/.gitignore"), "!keep.log\n/dist\n").unwrap();
        std::fs::write(dir.path().join(".ignore"), "*.lock\n").unwrap();
        let root = Root::at(dir.path()).unwrap();
        let mut rules = GitIgnore::new(&root);
        assert!(rules.ignores("build", true) && !rules.ignores("build", false) && rules.ignores("a.log", false));
        assert!(!rules.ignores("a.lock", false) && is_hidden(&root, "a.lock") && !is_hidden(&root, "a.log"));
        rules.enter("web");
        rules.enter("web/deep");
        assert!(rules.ignores("web/deep/a.log", false) && !rules.ignores("web/deep/dist", true));
        assert!(rules.ignores("web/dist", true) && !rules.ignores("web/keep.log", false), "after a folder in it");
        assert!(!rules.ignores("dist", true) && rules.ignores("keep.log", false));
    }

    #[test]
    fn rules_apply_to_files_that_do_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("web")).unwrap();
        std::fs::write(dir.path().join(".gitignore"), "*.log\n/build/\n").unwrap();
        std::fs::write(dir.path().join("web/.gitignore"), "!keep.log\n/dist\n").unwrap();
        std::fs::write(dir.path().join(".rhumbignore"), "secret.txt\n").unwrap();
        let root = Root::at(dir.path()).unwrap();
        for path in ["a.log", "build/x/y.rs", "web/dist/a.js", "deep/down/secret.txt"] {
            assert!(is_ignored(&root, path), "{path}");
        }
        for path in ["a.rs", "web/keep.log", "web/src/build/x.rs", "dist/a.js"] {
            assert!(!is_ignored(&root, path), "{path}");
        }
    }
}
