//! What the rule files of a repository hide: `.gitignore`, git's exclude files, `.ignore` and `.rhumbignore`.
//!
//! They are read here and not by the crate that understands them, because a clone may bring anything under these names: a
//! link to a device without an end, or a pipe that nobody writes to.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};

use super::root::{Root, RootKind};
use super::snapshot::read_bytes;

/// The names in a folder, the strongest first.
const NAMES: [&str; 3] = [".rhumbignore", ".ignore", GIT];
const GIT: &str = ".gitignore";
/// A larger rule file is refused, in bytes: far above any that was written by hand.
const LARGEST: u64 = 1024 * 1024;

/// The rules that hold in a folder and in those above it.
pub(super) struct Rules {
    /// One pile for each name, weakest rules first. Each with the depth of its folder: 0 for the root and what lies above.
    piles: [Vec<(usize, Gitignore)>; 3],
    with_git: bool,
    /// Rule files that are there and were not read.
    unread: BTreeSet<PathBuf>,
}

impl Rules {
    /// The rules that hold in the root itself, those of git only `with_git`.
    pub(super) fn of(root: &Root, with_git: bool) -> Self {
        let mut rules = Self { piles: Default::default(), with_git, unread: BTreeSet::new() };
        // Outside a repository, rules in the folders above are someone else's.
        if root.kind() == RootKind::Git {
            let top = root.work_tree().unwrap_or(root.path());
            if with_git {
                let own = [gitconfig_excludes_path(), exclude_file(root, top)];
                own.into_iter().flatten().for_each(|file| rules.add(2, 0, &file, top, Links::Followed));
            }
            let above: Vec<&Path> = root.path().ancestors().skip(1).collect();
            above.into_iter().rev().for_each(|folder| rules.add_folder(folder, 0, Some(top)));
        }
        rules.add_folder(root.path(), 0, None);
        rules
    }

    /// Goes into `folder`, so many folders below the root, and out of those that it does not lie in.
    pub(super) fn enter(&mut self, folder: &Path, depth: usize) {
        for pile in &mut self.piles {
            while pile.last().is_some_and(|(at, _)| *at >= depth) {
                pile.pop();
            }
        }
        self.add_folder(folder, depth, None);
    }

    /// Whether the rules hide `path`, absolute, `depth` folders below the root. It must lie in the folder that was entered, or in
    /// one above.
    pub(super) fn hide(&self, path: &Path, depth: usize, is_folder: bool) -> bool {
        let verdict = |(_, rules): &(usize, Gitignore)| match rules.matched(path, is_folder) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        let holding = |pile: &Vec<(usize, Gitignore)>| {
            pile.iter().rev().filter(|(at, _)| *at == 0 || *at < depth).find_map(verdict)
        };
        self.piles.iter().find_map(holding).unwrap_or(false)
    }

    /// The rule files that were refused: no plain file, a link, too large, or not readable.
    pub(super) fn unread(&self) -> impl Iterator<Item = &Path> {
        self.unread.iter().map(PathBuf::as_path)
    }

    /// Adds the rules in one folder. What lies above the work tree `top` is the user's own, and none of git's business.
    fn add_folder(&mut self, folder: &Path, depth: usize, top: Option<&Path>) {
        let is_ours = top.is_none_or(|top| folder.starts_with(top));
        let links = if is_ours { Links::Refused } else { Links::Followed };
        for (pile, name) in NAMES.into_iter().enumerate() {
            if name != GIT || (self.with_git && is_ours) {
                self.add(pile, depth, &folder.join(name), folder, links);
            }
        }
    }

    fn add(&mut self, pile: usize, depth: usize, file: &Path, from: &Path, links: Links) {
        match text(file, links) {
            Ok(Some(text)) => {
                let rules = compiled(&text, from);
                if let Some(pile) = self.piles.get_mut(pile).filter(|_| !rules.is_empty()) {
                    pile.push((depth, rules));
                }
            }
            Ok(None) => {}
            Err(_) => _ = self.unread.insert(file.to_owned()),
        }
    }
}

/// What to do with a rule file that is a link.
#[derive(Clone, Copy, PartialEq)]
enum Links {
    Followed,
    /// As git does with a `.gitignore`: it could lead anywhere.
    Refused,
}

/// The text of a rule file; `None` where there is none.
fn text(file: &Path, links: Links) -> io::Result<Option<String>> {
    let read = match links {
        Links::Followed => file.canonicalize().and_then(|file| read_bytes(&file, LARGEST + 1)),
        Links::Refused => read_bytes(file, LARGEST + 1),
    };
    match read {
        Ok(bytes) if bytes.len() as u64 > LARGEST => Err(io::Error::other("too large")),
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A line that is no rule hides nothing.
fn compiled(text: &str, from: &Path) -> Gitignore {
    let mut builder = GitignoreBuilder::new(from);
    for line in text.strip_prefix('\u{feff}').unwrap_or(text).lines() {
        drop(builder.add_line(None, line));
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Git's own file for rules that are not shared; linked work trees have one together.
fn exclude_file(root: &Root, top: &Path) -> Option<PathBuf> {
    let folder = root.git_folder().map_or_else(|| top.join(".git"), Path::to_owned);
    let common = text(&folder.join("commondir"), Links::Refused).ok()?;
    let common = common.map_or_else(|| folder.clone(), |common| folder.join(common.trim()));
    Some(common.join("info/exclude"))
}
