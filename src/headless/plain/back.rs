//! The message that goes back to the model about its proposal: what was refused, rejected and noted.

use std::fmt::Write as _;

use crate::context;
use crate::diff;
use crate::review::{Decision, FileReview, HunkId, Place, Review};
use crate::text::lines;

/// The message; `None` where nothing was noted, rejected or refused.
pub(super) fn message(review: &Review) -> Option<String> {
    let mut parts = Vec::new();
    parts.extend(comments(review));
    parts.extend(rejected(review));
    parts.extend(context::refusals(&review.refused));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn comments(review: &Review) -> Option<String> {
    let mut text = String::new();
    for (place, comment) in review.comments() {
        let _ = write!(text, "\n\n{}\n{comment}", heading(review, place));
    }
    (!text.is_empty()).then(|| format!("My comments on your changes, none of which is written yet:{text}"))
}

/// Where a comment stands, with the line that it is about.
fn heading(review: &Review, place: Place) -> String {
    let path = |file: usize| review.files.get(file).map_or("", |file| file.path.as_str());
    match place {
        Place::File(file) => format!("{}, the file as a whole:", path(file)),
        Place::Hunk(id) => format!("{}, {}:", path(id.file), lines_of(review, id)),
        Place::Line(id, line) => {
            let quoted = line_text(review, id, line).map_or_else(String::new, |text| format!("\n> {text}"));
            format!("{}, {}:{quoted}", path(id.file), lines_of(review, id))
        }
    }
}

fn lines_of(review: &Review, id: HunkId) -> String {
    let Some(item) = review.hunk(id) else { return String::new() };
    let base = &item.hunk.base;
    if base.is_empty() {
        format!("added after line {}", base.start)
    } else {
        format!("lines {} to {}", base.start + 1, base.end)
    }
}

fn line_text(review: &Review, id: HunkId, line: usize) -> Option<String> {
    let (file, item) = (review.files.get(id.file)?, review.hunk(id)?);
    let removed = item.hunk.base.len();
    let (sign, text, at) = if line < removed {
        ('-', file.base.as_deref(), item.hunk.base.start + line)
    } else {
        ('+', file.proposed.as_deref(), item.hunk.proposed.start + line - removed)
    };
    let text = lines::split(text.unwrap_or_default()).get(at).map(|line| lines::body(line).to_owned())?;
    Some(format!("{sign}{text}"))
}

/// The hunks that were rejected, each as a diff, so that nobody has to guess which they are.
fn rejected(review: &Review) -> Option<String> {
    let is_rejected = |id: &HunkId| review.decision(*id) == Decision::Rejected;
    let hunks: Vec<HunkId> = review.ids().filter(is_rejected).collect();
    let texts = hunks.iter().filter_map(|id| Some(diff_of(review.files.get(id.file)?, id.hunk)));
    let text = texts.collect::<String>();
    if text.is_empty() {
        return None;
    }
    let fence = if text.contains("```") { "````" } else { "```" };
    Some(format!("I do not want these changes of yours:\n\n{fence}diff\n{}\n{fence}", text.trim_end()))
}

fn diff_of(file: &FileReview, hunk: usize) -> String {
    let hunks: Vec<_> = file.hunks.iter().map(|hunk| hunk.hunk.clone()).collect();
    let (base, proposed) = (file.base.as_deref(), file.proposed.as_deref());
    let only = diff::apply(base.unwrap_or_default(), proposed.unwrap_or_default(), &hunks, |other| other == hunk);
    diff::unified(&file.path, base, proposed.map(|_| only.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::hunks::tests::review;
    use super::*;

    #[test]
    fn comments_and_rejections_go_back_with_what_they_are_about() {
        let mut review = review();
        assert_eq!(message(&review), None);
        let ids: Vec<HunkId> = review.ids().collect();
        review.comment(Place::Line(ids[0], 1), "say it in words");
        review.comment(Place::File(2), "keep it");
        review.decide(ids[3], Decision::Rejected);
        let text = message(&review).unwrap();
        assert!(text.contains("a.rs, lines 2 to 2:\n> +two\nsay it in words"), "{text}");
        assert!(text.contains("c.rs, the file as a whole:\nkeep it"), "{text}");
        assert!(text.contains("I do not want") && text.contains("-old"), "{text}");
    }
}
