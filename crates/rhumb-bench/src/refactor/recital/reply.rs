//! A change of a file, written as a model writes it.

use std::ops::Range;

use rhumb::context::fence_for;
use rhumb_text::diff::{Hunk, hunks};
use rhumb_edit::EditFormat;
use rhumb_text::diff::{Hunk, hunks};
use rhumb_text::lines;

/// Lines that are quoted around a change at least.
const CONTEXT: usize = 3;

/// A place that is quoted, and the changes in it.
struct Place {
    base: Range<usize>,
    hunks: Vec<Hunk>,
}

/// The reply that makes `after` out of `before`; spoilt, it quotes what is not there.
pub(super) fn reply(file: &str, before: &str, after: &str, format: EditFormat, spoilt: bool) -> String {
    let (old, new) = (split(before), split(after));
    let body = match format {
        EditFormat::Whole if spoilt => return "The method is a function of its own now.\n".to_owned(),
        EditFormat::Whole => return format!("{file}\n{}", fenced("", after)),
        _ => places(&old, &hunks(before, after)),
    };
    let marked = |place: &Place| marked(place, &old, &new, spoilt);
    match format {
        EditFormat::Udiff => {
            let blocks: String = body.iter().map(|place| format!("@@ ... @@\n{}", marked(place))).collect();
            fenced("diff", &format!("--- {file}\n+++ {file}\n{blocks}"))
        }
        EditFormat::Patch => {
            let blocks: String = body.iter().map(|place| format!("@@\n{}", marked(place))).collect();
            fenced("", &format!("*** Begin Patch\n*** Update File: {file}\n{blocks}*** End Patch\n"))
        }
        EditFormat::DiffFenced => {
            body.iter().map(|place| fenced("", &format!("{file}\n{}", search(&marked(place))))).collect()
        }
        _ => body.iter().map(|place| format!("{file}\n{}\n", fenced("", &search(&marked(place))))).collect(),
    }
}

fn split(text: &str) -> Vec<&str> {
    lines::split(text).into_iter().map(|line| line.trim_end_matches(['\n', '\r'])).collect()
}

fn fenced(info: &str, text: &str) -> String {
    let fence = fence_for(text.lines());
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{info}\n{text}{end}{fence}\n")
}

/// Places that mean one spot each: more lines are quoted until there is no other like them.
fn places(old: &[&str], hunks: &[Hunk]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for hunk in hunks {
        let mut margin = CONTEXT;
        let quoted = loop {
            let range = hunk.base.start.saturating_sub(margin)..(hunk.base.end + margin).min(old.len());
            if range.len() == old.len() || is_unique(old, &range) {
                break range;
            }
            margin += CONTEXT;
        };
        match places.last_mut().filter(|last| last.base.end >= quoted.start) {
            Some(last) => {
                last.base = last.base.start.min(quoted.start)..last.base.end.max(quoted.end);
                last.hunks.push(hunk.clone());
            }
            None => places.push(Place { base: quoted, hunks: vec![hunk.clone()] }),
        }
    }
    places
}

fn is_unique(old: &[&str], range: &Range<usize>) -> bool {
    let wanted = old.get(range.clone()).unwrap_or_default();
    !wanted.is_empty() && old.windows(wanted.len()).filter(|lines| *lines == wanted).count() == 1
}

/// The lines of a place, each with its mark.
fn marked(place: &Place, old: &[&str], new: &[&str], spoilt: bool) -> String {
    let mut text = String::new();
    let mut line = |mark: char, line: &str| {
        let quoted = spoilt && mark != '+';
        let line = if quoted { line.chars().rev().collect() } else { line.to_owned() };
        text.push(mark);
        text.push_str(&line);
        text.push('\n');
    };
    let mut at = place.base.start;
    for hunk in &place.hunks {
        old.get(at..hunk.base.start).unwrap_or_default().iter().for_each(|same| line(' ', same));
        old.get(hunk.base.clone()).unwrap_or_default().iter().for_each(|gone| line('-', gone));
        new.get(hunk.proposed.clone()).unwrap_or_default().iter().for_each(|come| line('+', come));
        at = hunk.base.end;
    }
    old.get(at..place.base.end).unwrap_or_default().iter().for_each(|same| line(' ', same));
    text
}

/// A search block of marked lines.
fn search(marked: &str) -> String {
    let side = |without: char| {
        let lines = marked.lines().filter(move |line| !line.starts_with(without));
        lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect::<String>()
    };
    format!("<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", side('+'), side('-'))
}
