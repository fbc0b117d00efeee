//! What a write will do, asked before it is done: which files, how many hunks, what becomes of those that wait, and whether a commit
//! follows.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::page::{Page, Styled, choice};
use super::{Reply, ReviewReply};
use crate::session::{WritePlan, WritePreview};
use crate::tui::key;
use crate::tui::theme::{Role, Theme};
use rhumb_text::count;

/// The question.
#[derive(Debug)]
pub struct WriteBox {
    preview: WritePreview,
    /// Whether a commit follows.
    commit: bool,
    page: Page,
}

impl WriteBox {
    /// The question about a write; `commit` says whether one follows, where there is a repository.
    pub fn new(preview: WritePreview, commit: bool) -> Self {
        let commit = commit && preview.commits.is_some();
        Self { preview, commit, page: Page::default() }
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Reply {
        let name = key::name(key);
        let plan = |reject_rest| {
            let commit = self.preview.commits.map(|_| self.commit);
            Reply::Review(ReviewReply::Write(WritePlan { reject_rest, commit }))
        };
        match name.as_str() {
            "y" | "w" | "Enter" => plan(false),
            "r" if self.preview.pending > 0 => plan(true),
            "c" if self.preview.commits.is_some() => {
                self.commit = !self.commit;
                Reply::Stay
            }
            "Esc" | "q" | "n" => Reply::Close,
            name => {
                self.page.key(name);
                Reply::Stay
            }
        }
    }

    /// Draws it over `screen`.
    pub fn draw(&mut self, frame: &mut Frame<'_>, screen: Rect, theme: &Theme) {
        let WritePreview { accepted, pending, commits, .. } = self.preview;
        let (accepted, text) = (hunks(accepted), self.text());
        let mut choices = Vec::new();
        if pending > 0 {
            choices.push(choice("y", format!("write {accepted}, keep {pending} pending")));
            choices.push(choice("r", format!("write {accepted}, reject the {pending}")));
        } else {
            choices.push(choice("y", format!("write {accepted}")));
        }
        if commits.is_some() {
            choices.push(choice("c", if self.commit { "without a commit" } else { "with a commit" }));
        }
        choices.push(choice("Esc", "back"));
        self.page.draw(frame, screen, theme, ("write", 76), &text, &choices);
    }

    fn text(&self) -> Vec<Styled> {
        let WritePreview { files, accepted, pending, rejected, held, commits } = &self.preview;
        let mut first = format!("{} of {} will be written.", hunks(*accepted), count(files.len(), "file"));
        if *pending > 0 {
            first += &format!(" {} not decided.", if *pending == 1 { "1 is".into() } else { format!("{pending} are") });
        }
        if *rejected > 0 {
            first += &format!(" {rejected} rejected.");
        }
        let mut text = vec![(Role::Text, first), (Role::Text, String::new())];
        for (what, path, taken, all) in files {
            let part = if taken < all { format!("{taken} of {}", hunks(*all)) } else { hunks(*all) };
            let (mark, role) = match *what {
                "new" => ('+', Role::Added),
                "deleted" => ('-', Role::Removed),
                _ => ('~', Role::Text),
            };
            let part = if matches!(*what, "new" | "deleted") { (*what).to_owned() } else { format!("{what}, {part}") };
            text.push((role, format!("{mark} {path}  ({part})")));
        }
        for path in held {
            text.push((Role::Warning, format!("! {path}  (stays as it is: a conflict with the disk is open)")));
        }
        text.push((Role::Text, String::new()));
        text.push((Role::Muted, commit_line(*commits, self.commit, files.len())));
        text
    }
}

fn commit_line(commits: Option<bool>, commit: bool, files: usize) -> String {
    match commits {
        None => "There is no git repository, so there is no commit.".to_owned(),
        Some(_) if commit => format!("A commit of {} follows.", if files == 1 { "this file" } else { "these files" }),
        Some(_) => "No commit follows.".to_owned(),
    }
}

fn hunks(number: usize) -> String {
    count(number, "hunk")
}
