//! Text that was altered between the file, the model and this program: HTML entities, masked keys, and bytes that
//! were not UTF-8.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rhumb_text::secrets::{has_mask, masked};

use crate::locate::normalize::{self, LineClass};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Change, Edit, Hunk, QuotedLine};

/// The entities and their characters. The ampersand comes last, so that nothing is decoded twice.
const ENTITIES: [(&str, &str); 3] = [("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];

/// Extensions of files in which entities are usual.
const MARKUP: [&str; 11] = ["astro", "ejs", "erb", "htm", "html", "jsx", "svelte", "svg", "tsx", "vue", "xml"];

/// Tags that documentation never writes with entities.
const TAGS: [&str; 8] =
    ["&lt;p&gt;", "&lt;/", "&lt;br", "&lt;b&gt;", "&lt;li&gt;", "&lt;ul&gt;", "&lt;pre&gt;", "&lt;code&gt;"];

/// Whether the text of these edits is HTML-escaped: it has entities, and none of the characters that they
/// encode.
pub(crate) fn is_escaped(edits: &[Edit]) -> bool {
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

/// Whether the entities of the `added` lines are meant: the file is markup or has entities, or they are in comments
/// only, as in Javadoc.
pub(crate) fn entities_are_meant<'l>(path: &str, text: &str, added: impl Iterator<Item = &'l str>) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
    let tag = |line: &str| TAGS.iter().any(|tag| line.contains(tag));
    let mut escaped = added.filter(|line| has_entity(line));
    MARKUP.contains(&extension.as_str())
        || has_entity(text)
        || escaped.all(|line| normalize::class(line) == LineClass::Comment && !tag(line))
}

/// The hunk with decoded entities, if it has entities and none of their characters.
pub(crate) fn decoded(hunk: &Hunk) -> Option<Hunk> {
    let escaped =
        hunk.lines.iter().any(|line| has_entity(&line.text)) && !hunk.lines.iter().any(|line| has_raw(&line.text));
    let line = |line: &QuotedLine| QuotedLine { kind: line.kind, text: decode(&line.text) };
    escaped.then(|| Hunk { lines: hunk.lines.iter().map(line).collect(), ..hunk.clone() })
}

/// The text with decoded entities.
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

/// The edit with the lines of `base` in place of their masked form. A masked line that is not a line of `base` is
/// an error: the mask would be written into the file.
pub(crate) fn unmasked<'e>(edit: &'e Edit, base: &str) -> Result<Cow<'e, Edit>, Refusal> {
    let is_masked = match &edit.change {
        Change::Hunk(readings) => readings.iter().flat_map(|hunk| &hunk.lines).any(|line| has_mask(&line.text)),
        Change::Whole(lines) => lines.iter().any(|line| has_mask(line)),
        Change::Nothing => false,
    };
    if !is_masked {
        return Ok(Cow::Borrowed(edit));
    }
    let shown = MaskedLines::of(base);
    let change = match &edit.change {
        Change::Hunk(readings) => Change::Hunk(readings.iter().map(|hunk| shown.hunk(hunk)).collect::<Result<_, _>>()?),
        Change::Whole(lines) => Change::Whole(lines.iter().map(|line| shown.line(line)).collect::<Result<_, _>>()?),
        Change::Nothing => Change::Nothing,
    };
    Ok(Cow::Owned(Edit { change, ..edit.clone() }))
}

/// The lines of a file with a masked key, by their masked form without indentation.
struct MaskedLines<'t> {
    /// `None` where several lines have the same masked form.
    lines: BTreeMap<String, Option<&'t str>>,
}

impl<'t> MaskedLines<'t> {
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

/// Refuses an edit that adds U+FFFD: it has more of them than its quote, or than `base` if it replaces the whole
/// file. A file that has some can be edited around them.
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
        let meant = |path: &str, text: &str, added: &str| entities_are_meant(path, text, added.lines());
        assert!(
            meant("a/b.HTML", "", "&lt;") && meant("a.py", "x = '&lt;'", "&lt;") && !meant("a.py", "a < b", "c &lt; d")
        );
        assert!(
            meant("A.java", "", "   * A List&lt;B&gt;.") && !meant("A.java", "", "   * A List&lt;B&gt;.\na &lt; b")
        );
    }
}
