//! Replies that passed through something that escapes markup: `&lt;` where the model wrote `<`.
// FROM locate/masks.rs
// //! Lines that a model knows only with a mask in place of a key. Quoted to the letter they stand for the line of the file; any other
// //! line with a mask would write it into the file, and is refused.
// FROM lost_text.rs
// //! Text that was lost on its way: bytes of a reply that were no UTF-8 have become U+FFFD, and would be written as that.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rhumb_text::secrets::{has_mask, masked};

use crate::locate::normalize::{self, LineClass};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Change, Edit, Hunk, QuotedLine};

/// The entities, and what they stand for. The ampersand comes last, so that nothing is decoded twice.
const ENTITIES: [(&str, &str); 3] = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];

/// Extensions of files that write entities themselves.
const MARKUP: [&str; 11] = ["astro", "ejs", "erb", "htm", "html", "jsx", "svelte", "svg", "tsx", "vue", "xml"];

/// Tags of documentation that nobody writes with entities.
const TAGS: [&str; 8] =
    ["&lt;p&gt;", "&lt;/", "&lt;br", "&lt;b&gt;", "&lt;li&gt;", "&lt;ul&gt;", "&lt;pre&gt;", "&lt;code&gt;"];

/// Whether all that these edits say is escaped: there are entities, and none of the characters that they stand for.
pub(crate) fn escapes(edits: &[Edit]) -> bool {
    let mut any = false;
    for edit in edits {
        let clean = match &edit.change {
            Change::Hunk(readings) => readings.iter().take(1).flat_map(|hunk| &hunk.lines).all(|line| {
                any |= has_entity(&line.text);
                !has_raw(&line.text)
            }),
            Change::Whole(lines) => lines.iter().all(|line| {
                any |= has_entity(line);
                !has_raw(line)
            }),
            Change::Nothing => true,
        };
        if !clean {
            return false;
        }
    }
    any
}

/// Whether the entities of `added` lines may well be meant: by the name of the file, because it has some, or because they
/// stand in comments alone, as in the documentation of Java.
pub(crate) fn may_be_meant<'l>(path: &str, text: &str, added: impl Iterator<Item = &'l str>) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let tag = |line: &str| TAGS.iter().any(|tag| line.contains(tag));
    let mut escaped = added.filter(|line| has_entity(line));
    MARKUP.contains(&extension.as_str())
        || has_entity(text)
        || escaped.all(|line| normalize::class(line) == LineClass::Comment && !tag(line))
}

/// The hunk with its entities read as characters, if it has any and none of the characters themselves.
pub(crate) fn decoded(hunk: &Hunk) -> Option<Hunk> {
    let escaped =
        hunk.lines.iter().any(|line| has_entity(&line.text)) && !hunk.lines.iter().any(|line| has_raw(&line.text));
    let line = |line: &QuotedLine| QuotedLine { kind: line.kind, text: decode(&line.text) };
    escaped.then(|| Hunk { lines: hunk.lines.iter().map(line).collect(), ..hunk.clone() })
}

/// The text with entities read as characters.
pub(crate) fn decode(text: &str) -> String {
    ENTITIES.iter().fold(text.to_owned(), |text, (entity, character)| text.replace(entity, character))
}

fn has_entity(text: &str) -> bool {
    ENTITIES.iter().any(|(entity, _)| text.contains(entity))
}

fn has_raw(text: &str) -> bool {
    let entity =
        |at: usize| text.get(at..).is_some_and(|rest| ENTITIES.iter().any(|(entity, _)| rest.starts_with(entity)));
    text.contains(['<', '>']) || text.match_indices('&').any(|(at, _)| !entity(at))
}

/// The edit with the lines of `base` in place of those that quote them masked.
pub(crate) fn unmasked<'e>(edit: &'e Edit, base: &str) -> Result<Cow<'e, Edit>, Refusal> {
    let is_masked = match &edit.change {
        Change::Hunk(readings) => readings.iter().flat_map(|hunk| &hunk.lines).any(|line| has_mask(&line.text)),
        Change::Whole(lines) => lines.iter().any(|line| has_mask(line)),
        Change::Nothing => false,
    };
    if !is_masked {
        return Ok(Cow::Borrowed(edit));
    }
    let shown = Shown::of(base);
    let change = match &edit.change {
        Change::Hunk(readings) => Change::Hunk(readings.iter().map(|hunk| shown.hunk(hunk)).collect::<Result<_, _>>()?),
        Change::Whole(lines) => Change::Whole(lines.iter().map(|line| shown.line(line)).collect::<Result<_, _>>()?),
        Change::Nothing => Change::Nothing,
    };
    Ok(Cow::Owned(Edit { change, ..edit.clone() }))
}

/// The lines of a file that were sent masked, as they were sent, without their indentation.
struct Shown<'t> {
    /// None where several lines of the file look alike.
    lines: BTreeMap<String, Option<&'t str>>,
}

impl<'t> Shown<'t> {
    fn of(base: &'t str) -> Self {
        let mut lines = BTreeMap::new();
        for (shown, line) in masked(base).lines().zip(base.lines()).filter(|(shown, line)| shown != line) {
            let same = |known: &mut Option<&str>| *known = known.filter(|known| known.trim() == line.trim());
            lines.entry(shown.trim().to_owned()).and_modify(same).or_insert(Some(line));
        }
        Self { lines }
    }

    fn hunk(&self, hunk: &Hunk) -> Result<Hunk, Refusal> {
        let line = |line: &QuotedLine| Ok(QuotedLine { text: self.line(&line.text)?, ..line.clone() });
        Ok(Hunk { lines: hunk.lines.iter().map(line).collect::<Result<_, Refusal>>()?, ..hunk.clone() })
    }

    fn line(&self, line: &str) -> Result<String, Refusal> {
        if !has_mask(line) {
            return Ok(line.to_owned());
        }
        let known = self.lines.get(line.trim()).copied().flatten();
        let known = known.ok_or(Cause::MaskedLine)?;
        let indent = line.len() - line.trim_start().len();
        Ok(format!("{}{}", line.get(..indent).unwrap_or_default(), known.trim_start()))
    }
}

/// Refuses an edit that puts more of these marks into a file than it quotes, or than `base` has where it replaces all of it. A file
/// that has them can be edited around them.
pub(crate) fn check(edit: &Edit, base: &str) -> Result<(), Refusal> {
    let marks = |text: &str| text.matches(char::REPLACEMENT_CHARACTER).count();
    let adds = |hunk: &Hunk| marks(&hunk.replacement()) > marks(&hunk.quote());
    let is_damaged = match &edit.change {
        Change::Hunk(readings) => readings.iter().any(adds),
        Change::Whole(lines) => lines.iter().map(|line| marks(line)).sum::<usize>() > marks(base),
        Change::Nothing => false,
    };
    if is_damaged {
        return Err(Cause::ReplacementCharacter.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_are_read_once() {
        assert_eq!(decode("a &lt; b &amp;&amp; c &amp;lt;"), "a < b && c &lt;");
        assert!(has_raw("a & b") && has_raw("a &amp;& b") && !has_raw("a &amp; b"));
    }

    #[test]
    fn markup_comments_and_files_with_entities_keep_them() {
        let meant = |path: &str, text: &str, added: &str| may_be_meant(path, text, added.lines());
        assert!(
            meant("a/b.HTML", "", "&lt;") && meant("a.py", "x = '&lt;'", "&lt;") && !meant("a.py", "a < b", "c &lt; d")
        );
        assert!(
            meant("A.java", "", "   * A List&lt;B&gt;.") && !meant("A.java", "", "   * A List&lt;B&gt;.\na &lt; b")
        );
    }
}
