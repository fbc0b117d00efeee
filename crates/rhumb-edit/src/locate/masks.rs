//! Lines that a model knows only with a mask in place of a key. Quoted to the letter they stand for the line of the file; any other
//! line with a mask would write it into the file, and is refused.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::outcome::Refusal;
use crate::reply::{Change, Edit, Hunk, QuotedLine};
use rhumb_text::secrets::{has_mask, masked};

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
        let known = known.ok_or_else(|| {
            Refusal::new(
                "masked: the edit has a line with a mask in place of a key, which is no line of the file; leave such lines as they are, \
                 or replace them by lines that need no key",
            )
        })?;
        let indent = line.len() - line.trim_start().len();
        Ok(format!("{}{}", line.get(..indent).unwrap_or_default(), known.trim_start()))
    }
}
