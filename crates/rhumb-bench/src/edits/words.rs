//! Defects of how lines are written: a forgotten sign, a misspelt word, other punctuation.

use fastrand::Rng;

use super::fit::{Lookup, plain};
use super::sketch::{Line, Mark, Sketch};
use rhumb_edit::EditFormat;

/// Words shorter than this are not misspelt.
const SHORTEST: usize = 5;
/// Lines this alike could be meant for each other.
const ALIKE: f64 = 0.7;

/// An added line without its plus sign. It is nowhere in the file and like no line near it, and quoted lines stand on both
/// sides of it: at an end it could as well be context that has changed meanwhile.
pub(super) fn forget_plus(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    let lookup = Lookup::new(&sketch.base);
    let deleted = |at: usize| {
        let lines = sketch.blocks.iter().flat_map(|block| &block.lines);
        lines.into_iter().any(|line| line.mark == Mark::Delete && line.at == Some(at))
    };
    let alike_near = |line: &Line| {
        let at = line.at.unwrap_or_default();
        let near = (at.saturating_sub(4)..at + 4).filter(|near| !deleted(*near));
        let near = near.filter_map(|near| sketch.base.get(near));
        near.into_iter().any(|other| strsim::normalized_levenshtein(other.trim(), line.text.trim()) > ALIKE)
    };
    let mut lines = Vec::new();
    for (nth, block) in sketch.blocks.iter().enumerate().filter(|(_, block)| !block.blockwise) {
        let new = |line: &Line| line.mark == Mark::Insert && line.is_solid() && lookup.places(&line.text).is_empty();
        let once =
            |line: &Line| block.lines.iter().filter(|other| plain(&other.text) == plain(&line.text)).count() == 1;
        let quoted = |line: &Line| line.is_quoted() && line.is_solid();
        let first = block.lines.iter().position(quoted).unwrap_or_default();
        let last = block.lines.iter().rposition(quoted).unwrap_or_default();
        let fits = block.lines.iter().enumerate().filter(|(_, line)| new(line) && once(line) && !alike_near(line));
        lines.extend(fits.map(|(at, _)| (nth, at)).filter(|(_, at)| first < *at && *at < last));
    }
    let Some((nth, at)) = rng.choice(lines.clone()) else { return false };
    // Now and then of several lines in a row.
    let more = if rng.u8(..) < 64 { rng.usize(1..3) } else { 0 };
    for at in (at..=at + more).take_while(|at| lines.contains(&(nth, *at))) {
        if let Some(line) = sketch.blocks.get_mut(nth).and_then(|block| block.lines.get_mut(at)) {
            line.unsigned = true;
        }
    }
    true
}

pub(super) fn typo_in_context(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    typo(sketch, rng, Mark::Keep)
}

pub(super) fn typo_in_removed(sketch: &mut Sketch, rng: &mut Rng) -> bool {
    typo(sketch, rng, Mark::Delete)
}

fn typo(sketch: &mut Sketch, rng: &mut Rng, mark: Mark) -> bool {
    let lookup = Lookup::new(&sketch.base);
    let mut found = Vec::new();
    for (nth, block) in sketch.blocks.iter().enumerate() {
        let others = block.lines.iter().filter(|line| line.is_quoted() && line.is_solid()).count();
        let lines = block.lines.iter().enumerate();
        let lines = lines.filter(|(_, line)| line.mark == mark && line.at.is_some() && others > 1);
        for (at, line) in lines {
            found.extend(misspelt(&line.text, rng).filter(|text| lookup.places(text).is_empty()).map(|t| (nth, at, t)));
        }
    }
    let Some((nth, at, text)) = rng.choice(found) else { return false };
    let Some(line) = sketch.blocks.get_mut(nth).and_then(|block| block.lines.get_mut(at)) else { return false };
    line.text = text;
    true
}

/// The line with one word misspelt; none without a long word.
pub(super) fn misspelt(line: &str, rng: &mut Rng) -> Option<String> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, c) in line.char_indices().chain([(line.len(), ' ')]) {
        match (start, c.is_ascii_alphabetic()) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.extend((at - from >= SHORTEST).then_some(from..at));
                start = None;
            }
            _ => {}
        }
    }
    let word = rng.choice(words)?;
    let mut letters: Vec<char> = line.get(word.clone())?.chars().collect();
    let at = rng.usize(1..letters.len() - 2);
    match rng.usize(..3) {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        _ => letters.insert(at, letters.get(at).copied()?),
    }
    let spelt = format!("{}{}{}", line.get(..word.start)?, String::from_iter(letters), line.get(word.end..)?);
    (spelt != line).then_some(spelt)
}

/// The punctuation of typesetters for that of programmers.
fn typeset(text: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in text.replace("...", "\u{2026}").replace(" - ", " \u{2013} ").chars() {
        let opens = before.is_whitespace() || matches!(before, '(' | '[' | '{' | '=' | ',');
        out.push(match (c, opens) {
            ('"', true) => '\u{201c}',
            ('"', false) => '\u{201d}',
            ('\'', true) => '\u{2018}',
            ('\'', false) => '\u{2019}',
            _ => c,
        });
        before = c;
    }
    out
}

/// Typographic quotes and dashes in the quote where the file has plain ones.
pub(super) fn typography(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let mut any = false;
    for line in sketch.lines_mut().filter(|line| line.is_quoted()) {
        let text = typeset(&line.text);
        any |= text != line.text;
        line.text = text;
    }
    any
}

/// The other way round. Of a quoted line and a new one that read the same, nobody could tell which is the old one.
pub(super) fn typography_in_file(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let lines = || sketch.blocks.iter().flat_map(|block| &block.lines);
    let twin = |new: &Line| lines().any(|line| line.is_quoted() && line.text == new.text && line.is_solid());
    if lines().filter(|line| line.mark == Mark::Insert).any(twin) {
        return false;
    }
    let quoted = |line: &&Line| line.is_quoted() && line.at.is_some();
    let places = sketch.blocks.iter().flat_map(|block| &block.lines).filter(quoted).filter_map(|line| line.at);
    let mut any = false;
    for at in places.collect::<Vec<_>>() {
        if let Some(line) = sketch.base.get_mut(at) {
            let text = typeset(line);
            any |= text != *line;
            *line = text;
        }
    }
    any
}

/// `&lt;`, `&gt;` and `&amp;` for the characters, in lines of the file as well: of new ones alone nobody could tell that
/// the entities are not meant.
pub(super) fn entities(sketch: &mut Sketch, _rng: &mut Rng) -> bool {
    let whole = sketch.format == EditFormat::Whole;
    let texts = |line: &String| ["&lt;", "&gt;", "&amp;"].iter().any(|entity| line.contains(entity));
    if sketch.base.iter().any(texts) || sketch.lines_mut().any(|line| texts(&line.text)) {
        return false;
    }
    let encoded = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let shows = |text: &str| text.contains(['&', '<', '>']);
    if whole {
        let kept = sketch.meant().iter().any(|(at, text)| at.is_some() && shows(text));
        sketch.whole = Some(sketch.whole_text().iter().map(|text| encoded(text)).collect());
        return kept;
    }
    let quoted = sketch.lines_mut().any(|line| line.is_quoted() && shows(&line.text));
    sketch.lines_mut().for_each(|line| line.text = encoded(&line.text));
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::defect::Put;
    use super::super::render::render;
    use super::super::tests::{put, sketch};
    use super::*;

    #[test]
    fn a_misspelt_word_is_nearly_the_word() {
        let mut rng = Rng::with_seed(1);
        for _ in 0..50 {
            if let Some(text) = misspelt("x = current + 1", &mut rng) {
                assert!(text.starts_with("x = c") && text.ends_with("t + 1") && text.len().abs_diff(15) < 2, "{text}");
            }
        }
        assert_eq!(misspelt("a = bcd", &mut rng), None);
    }

    #[test]
    fn a_typo_stands_in_one_line_of_its_kind() {
        for (put_in, mark) in [(typo_in_context as Put, Mark::Keep), (typo_in_removed, Mark::Delete)] {
            let changed = put(EditFormat::Patch, put_in);
            let wrong: Vec<&Line> = changed.blocks[0].lines.iter().filter(|line| line.text != line.meant).collect();
            assert!(wrong.len() == 1 && wrong[0].mark == mark, "{wrong:?}");
            assert_eq!(changed.wanted(), sketch(EditFormat::Patch).wanted());
        }
    }

    #[test]
    fn a_forgotten_plus_leaves_a_line_that_seems_to_be_quoted() {
        let changed = put(EditFormat::Udiff, |sketch, rng| {
            sketch.blocks[0].lines.iter_mut().filter(|line| line.mark == Mark::Insert).for_each(|line| {
                line.text = "    wholly(different)".to_owned();
                line.meant.clone_from(&line.text);
            });
            forget_plus(sketch, rng)
        });
        assert!(render(&changed).contains("\n     wholly(different)\n"), "{}", render(&changed));
        assert!(
            String::from_utf8(changed.wanted()["src/tide.py"].clone()).unwrap().contains("    wholly(different)\n")
        );
    }

    #[test]
    fn typography_goes_both_ways() {
        assert_eq!(
            typeset("f(\"a\", 'b') - it's..."),
            "f(\u{201c}a\u{201d}, \u{2018}b\u{2019}) \u{2013} it\u{2019}s\u{2026}"
        );
        let reply = put(EditFormat::Diff, |sketch, rng| {
            sketch.widen(0, 9, 9);
            typography(sketch, rng)
        });
        assert!(render(&reply).contains('\u{201c}') && reply.tree() == sketch(EditFormat::Diff).tree());
        let file = put(EditFormat::Diff, |sketch, rng| {
            sketch.widen(0, 9, 9);
            typography_in_file(sketch, rng)
        });
        assert!(!render(&file).contains('\u{201c}') && file.tree() != sketch(EditFormat::Diff).tree());
    }

    #[test]
    fn entities_are_in_the_reply_alone() {
        let whole = put(EditFormat::Whole, entities);
        assert!(render(&whole).contains("-&gt;"));
        assert_eq!(whole.wanted(), sketch(EditFormat::Whole).wanted());
    }
}
