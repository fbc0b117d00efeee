//! Turns a reply into a proposal: parses the edits and locates them in the current files.

use rhumb_edit::{Files, Flag, FormatChoice, ParsedReply, PendingChanges, Proposal};
use rhumb_session::ChatFile;
use rhumb_workspace::{ReadError, Root};
use std::cell::OnceCell;
use std::sync::atomic::AtomicBool;

/// The files of a root, as [`rhumb_edit`] needs them.
struct DiskFile<'a> {
    root: &'a Root,
    listing: FileListing<'a>,
    /// The files of the chat; `None` if all files of the root count as such.
    chat: Option<&'a [ChatFile]>,
}

/// All files of the root, sorted.
enum FileListing<'a> {
    Given(&'a [String]),
    /// Listed when first needed.
    Lazy(OnceCell<Vec<String>>),
}

impl DiskFile<'_> {
    fn listed(&self) -> &[String] {
        match &self.listing {
            FileListing::Given(paths) => paths,
            FileListing::Lazy(paths) => paths.get_or_init(|| {
                let listing = rhumb_workspace::files(self.root, &AtomicBool::new(false), &mut |_| {});
                listing.files.into_iter().map(|file| file.path).collect()
            }),
        }
    }

    fn lists(&self, path: &str) -> bool {
        self.listed().binary_search_by(|known| known.as_str().cmp(path)).is_ok()
    }
}

impl Files for DiskFile<'_> {
    fn paths(&self) -> Vec<String> {
        self.listed().to_vec()
    }

    fn exists(&self, path: &str) -> bool {
        rhumb_workspace::path_is_taken(self.root, path)
    }

    fn read(&self, path: &str) -> Result<Option<String>, rhumb_edit::ReadError> {
        match rhumb_workspace::read(self.root, path) {
            Ok(snapshot) => Ok(Some(snapshot.text.to_string())),
            Err(ReadError::NotFound(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn in_chat(&self, path: &str) -> bool {
        match self.chat {
            Some(chat) => chat.iter().any(|file| file.path == path && !file.read_only),
            None => rhumb_workspace::path_is_taken(self.root, path),
        }
    }

    fn is_ignored(&self, path: &str) -> bool {
        // A listed file is tracked even if an ignore rule matches. Without a listing that is unknown.
        rhumb_workspace::is_ignored(self.root, path) && !self.listed().is_empty() && !self.lists(path)
    }

    fn write_warnings(&self, path: &str) -> Vec<Flag> {
        let held = rhumb_workspace::editor_trace(self.root, path).map(|_| Flag::OpenInEditor);
        let read_only = (!rhumb_workspace::may_write(self.root, path)).then_some(Flag::ReadOnly);
        let linked = rhumb_workspace::has_hard_links(self.root, path).then_some(Flag::HardLinked);
        [held, read_only, linked].into_iter().flatten().collect()
    }

    fn stored_at(&self, path: &str) -> Option<String> {
        Some(rhumb_workspace::resolve_links(self.root, path)).filter(|stored| stored != path)
    }

    fn linked_from(&self, path: &str) -> Vec<String> {
        rhumb_workspace::symlink_aliases(self.root, path)
    }

    fn root(&self) -> Option<String> {
        Some(self.root.path().display().to_string())
    }
}

/// The proposal of the replies to one request, oldest first, on top of the pending changes from replies to other requests. `paths` are
/// all files of the root, sorted. Each reply has its number among the answers of the session; `None` for other replies.
pub(super) fn propose_upon(
    pending: &PendingChanges,
    root: &Root,
    paths: &[String],
    chat: &[ChatFile],
    replies: &[(Option<usize>, String)],
) -> Proposal {
    let files = DiskFile { root, listing: FileListing::Given(paths), chat: Some(chat) };
    let parsed = |(answer, reply): &(Option<usize>, String)| ParsedReply {
        answer: *answer,
        ..rhumb_edit::parse(reply, FormatChoice::Auto)
    };
    proposed(&files, pending, &replies.iter().map(parsed).collect::<Vec<_>>())
}

/// The proposal of one reply without a session. The files of the root are listed only if the names in the reply need it.
/// Without `chat`, all files count as files of the chat.
pub fn propose_alone(root: &Root, chat: Option<&[ChatFile]>, reply: &str, format: FormatChoice) -> Proposal {
    let listing = FileListing::Lazy(OnceCell::new());
    proposed(&DiskFile { root, listing, chat }, &PendingChanges::default(), &[rhumb_edit::parse(reply, format)])
}

/// The proposal of edits that are parsed already, on top of the pending changes. All files of the root count as files of the chat.
pub(super) fn propose_parsed(pending: &PendingChanges, root: &Root, paths: &[String], parsed: ParsedReply) -> Proposal {
    proposed(&DiskFile { root, listing: FileListing::Given(paths), chat: None }, pending, &[parsed])
}

fn proposed(files: &DiskFile<'_>, pending: &PendingChanges, parsed: &[ParsedReply]) -> Proposal {
    let mut proposal = rhumb_edit::propose_all(pending, parsed, files);
    rhumb_edit::add_flags(&mut proposal, files);
    proposal
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_edit::Status;
    use rhumb_edit::review::Review;
    use std::fs;
    use std::os::unix::fs::symlink;

    const BLOCK: &str = "```\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n```\n";

    /// A root that lists only `src/a.py`, with the same text in files that are not listed.
    fn root() -> (tempfile::TempDir, Root) {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("in");
        for path in ["src", "build", "nested/.git", "links"] {
            fs::create_dir_all(inside.join(path)).unwrap();
        }
        for path in ["src/a.py", "build/a.py", "nested/a.py"] {
            fs::write(inside.join(path), "one\ntwo\n").unwrap();
        }
        fs::write(inside.join(".gitignore"), "/build/\n").unwrap();
        fs::write(inside.join("nested/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(dir.path().join("out"), "one\ntwo\n").unwrap();
        symlink("../build/a.py", inside.join("links/b.py")).unwrap();
        symlink(dir.path().join("out"), inside.join("links/a.py")).unwrap();
        let root = Root::at(&inside).unwrap();
        (dir, root)
    }

    fn proposal_for(root: &Root, name: &str) -> Proposal {
        let reply = format!("{name}\n{BLOCK}");
        propose_upon(&PendingChanges::default(), root, &["src/a.py".to_owned()], &[], &[(None, reply)])
    }

    #[test]
    fn a_file_that_no_listing_has_is_edited_by_its_exact_name_and_no_other_file_instead() {
        let (_dir, root) = root();
        for name in ["build/a.py", "nested/a.py", "links/b.py", "./build/a.py", "`build/a.py`:"] {
            let proposal = proposal_for(&root, name);
            let bare = name.trim_matches(['`', ':']).trim_start_matches("./");
            assert_eq!(proposal.files.iter().map(|file| &*file.path).collect::<Vec<_>>(), [bare], "{proposal:?}");
            assert_eq!(proposal.outcomes[0].status, Status::Applied, "{name}");
            assert!(!proposal.outcomes[0].flags.contains(&Flag::PathGuessed), "{name}");
        }
    }

    #[test]
    fn a_link_out_of_the_root_is_refused_and_no_other_file_edited_instead() {
        let (_dir, root) = root();
        let proposal = proposal_for(&root, "links/a.py");
        assert!(proposal.files.is_empty(), "{proposal:?}");
        assert!(proposal.outcomes[0].reason.contains("link out of the root"), "{}", proposal.outcomes[0].reason);
    }

    #[test]
    fn accepting_all_leaves_what_links_lead_to_if_tools_run_it_and_what_moves_there() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path()).unwrap();
        fs::create_dir_all(dir.path().join(".github/workflows")).unwrap();
        for path in ["Makefile", ".github/workflows/ci.yml", "a.py", "plain.txt"] {
            fs::write(dir.path().join(path), "one\ntwo\n").unwrap();
        }
        symlink("Makefile", dir.path().join("notes.md")).unwrap();
        symlink(".github/workflows", dir.path().join("docs")).unwrap();
        let new = "docs/new.yml\n```\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```\n\n";
        let moved = "```diff\ndiff --git a/plain.txt b/justfile\nsimilarity index 100%\nrename from plain.txt\nrename to justfile\n```\n";
        let names = ["a.py", "notes.md", "docs/ci.yml"];
        let blocks: String = names.iter().map(|name| format!("{name}\n{BLOCK}\n")).collect();
        let review = |reply: String| {
            let proposal = propose_alone(&root, None, &reply, FormatChoice::Auto);
            let mut review = Review::new(proposal);
            review.accept_all();
            review
        };
        let linked = review(blocks + new);
        assert_eq!(linked.counts().accepted, 1, "{linked:?}");
        let waiting = ["notes.md → Makefile", "docs/ci.yml → .github/workflows/ci.yml"];
        assert_eq!(linked.files_awaiting_confirmation()[..2], waiting);
        assert_eq!(linked.files_awaiting_confirmation()[2], "docs/new.yml → .github/workflows/new.yml");
        // A file that tools run may be a link, and its target is edited.
        symlink("plain.txt", dir.path().join("GNUmakefile")).unwrap();
        fs::create_dir_all(dir.path().join("papers/deep")).unwrap();
        symlink("papers", dir.path().join(".husky")).unwrap();
        let new = "papers/deep/hook\n```\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```\n\n";
        let led = review(format!("plain.txt\n{BLOCK}\n{new}"));
        assert_eq!(led.files_awaiting_confirmation(), ["plain.txt", "papers/deep/hook"]);
        fs::remove_file(dir.path().join("GNUmakefile")).unwrap();
        let moved = review(moved.to_owned());
        assert_eq!(moved.files_awaiting_confirmation(), ["justfile"], "{moved:?}");
    }
}
