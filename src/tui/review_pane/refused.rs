//! Edits that were not placed, and hunks that lost their place: ask again, place manually, or dismiss.

use std::ops::Range;
use std::sync::Arc;

use rhumb_edit::Outcome;
use rhumb_edit::review::PlaceError;
use rhumb_session::{Effect, Level};
use rhumb_text::lines;

use super::Row;
use crate::tui::action::{Action, Pane};
use crate::tui::app::{App, Task, run};
use crate::tui::overlay::{Placement, PlacementAction, PlacementBox};
use crate::tui::previews::Preview;

impl App {
    pub(crate) fn open_refused(&mut self, index: usize) -> Vec<Task> {
        let Some(outcome) = self.session.review.refused.get(index).cloned() else { return Vec::new() };
        if outcome.path.is_empty() {
            return self.say("the edit names no file, so it cannot be placed; ask the model again");
        }
        let known = self.session.review.files.iter().find(|file| file.path == outcome.path);
        let now = known.and_then(|file| file.base.clone());
        let path = outcome.path.clone();
        let task = if now.is_none() { self.previews.want(&path) } else { None };
        let now = now.or_else(|| match self.previews.get(&path) {
            Some(Preview::Text(text)) => Some(Arc::clone(text)),
            Some(Preview::Reading | Preview::None(_)) | None => None,
        });
        self.overlays.show(PlacementBox::new(outcome, now));
        task.into_iter().collect()
    }

    /// Moves to an edit that has just lost its place, where `before` edits were unplaced: it must be settled before its
    /// file is written.
    pub(crate) fn go_to_lost_hunks(&mut self, before: usize) {
        let new = self.session.review.refused.len().saturating_sub(before);
        if new == 0 {
            return;
        }
        if self.focus == Pane::Review && self.overlays.is_empty() {
            self.go_to_refused(0);
            let hunks = if new == 1 { "a hunk" } else { "hunks" };
            let key = self.keys.first(Action::OpenHere);
            self.hint.set(format!("the file changed on disk: {hunks} lost the place; {key} settles it"));
        } else if let Row::Refused(index) | Row::RefusedText(index, _) = &mut self.review.at {
            // They came before what is under the cursor.
            *index += new;
        }
    }

    /// Sends the unplaced edit under the cursor, or all of them, back to the model.
    pub(super) fn ask_for_refused(&mut self, all: bool) -> Vec<Task> {
        let one = if all { None } else { self.refused_here() };
        if !all && one.is_none() {
            return Vec::new();
        }
        run(self.session.ask_for_refused(one))
    }

    pub(super) fn dismiss_refused(&mut self) -> Vec<Task> {
        let Some(index) = self.refused_here() else { return Vec::new() };
        self.put_away(index)
    }

    fn put_away(&mut self, index: usize) -> Vec<Task> {
        if !self.session.review.dismiss(index) {
            return Vec::new();
        }
        let told = match self.session.review.refused.len() {
            0 => "put away".to_owned(),
            left => format!("put away; still without a place: {left}"),
        };
        let undo = self.keys.first(Action::Undo);
        let told = format!("{told} · {undo} undoes it");
        self.say(&told)
    }

    /// Applies the choice for an unplaced edit, if it still exists.
    pub(super) fn placed(&mut self, placement_reply: Placement) -> Vec<Task> {
        let Placement { path, edit, now, confirmed_action } = placement_reply;
        let is_it =
            |outcome: &Outcome| outcome.path == path && (&outcome.quote, &outcome.replacement) == (&edit.0, &edit.1);
        let Some(index) = self.session.review.refused.iter().position(is_it) else {
            return self.say("the edit is no longer in the review");
        };
        match (confirmed_action, now) {
            (PlacementAction::Dismiss, _) => self.put_away(index),
            (PlacementAction::Ask, _) => run(self.session.ask_for_refused(Some(index))),
            (PlacementAction::Edit(place), Some(now)) => {
                let outcome = self.session.review.refused.get(index).cloned();
                outcome.map_or_else(Vec::new, |outcome| self.edit_refused(&outcome, &now, place))
            }
            (PlacementAction::Put(place), Some(now)) => {
                match self.session.review.place(Some(index), &path, &now, place, &edit.1) {
                    Ok(id) => {
                        self.go_to(id);
                        self.say("the edit is a hunk of the review now: accept or reject it")
                    }
                    Err(error) => {
                        let hint = "Choose another place, or place it with the editor.";
                        let text = format!("The edit of {path} was not placed: {error}.");
                        self.session.tell(Level::Warning, text, hint);
                        self.hint.set(format!("not placed: {error}"));
                        let is_stale = error == PlaceError::Stale;
                        is_stale.then(|| Task::Run(Effect::Reread(vec![path]))).into_iter().collect()
                    }
                }
            }
            (PlacementAction::Edit(_) | PlacementAction::Put(_), None) => Vec::new(),
        }
    }
}

/// The marks around the place of an edit in a text that the user changes by hand.
pub(super) const MARKS: [&str; 3] = ["<<<<<<< the file says", "||||||| the edit quotes", ">>>>>>> the edit proposes"];

/// A text with marks around these lines (0-based), with what an edit quotes and proposes beside them; the line (1-based) at which
/// they begin.
pub(super) fn with_markers(now: &str, place: Range<usize>, outcome: &Outcome) -> (String, usize) {
    let all = lines::split(now);
    let place = place.start.min(all.len())..place.end.min(all.len());
    let of = |range: Range<usize>| all.get(range).unwrap_or_default().concat();
    let (before, there, after) = (of(0..place.start), of(place.clone()), of(place.end..all.len()));
    let [file, quote, edit] = MARKS;
    let pieces = [
        ended(&before),
        format!("{file}\n"),
        ended(&there),
        format!("{quote}\n"),
        ended(&outcome.quote),
        "=======\n".to_owned(),
        ended(&outcome.replacement),
        format!("{edit}\n"),
        after,
    ];
    (pieces.concat(), place.start + 1)
}

/// Adds the missing newline at the end of a text.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
