//! Replies that passed through something that escapes markup: `&lt;` where the model wrote `<`.

use crate::locate::canon::{self, LineClass};
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
        || escaped.all(|line| canon::class(line) == LineClass::Comment && !tag(line))
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
