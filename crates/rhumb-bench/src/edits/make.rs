//! Makes cases from samples and defects. The same seed gives the same cases.

use fastrand::Rng;
use rhumb_edit::EditFormat::{self, Diff, Patch, Udiff, Whole};
use rhumb_edit::FormatChoice;
use rhumb_syntax::Language;

use crate::edits::case::{Case, Expect};
use crate::edits::defects::{DEFECTS, Defect, Layer};
use crate::edits::sample::{Fit, LineIndex, Sample, blocks, numbers, scope};
use crate::edits::sketch::{Fencing, Head, Line, Sketch, Wrap, render};

/// The edit formats that cases are made in.
pub const FORMATS: [EditFormat; 4] = [Udiff, Diff, Whole, Patch];

/// Maximum number of samples that are tried for one case.
const MAX_ATTEMPTS: usize = 150;

const BEFORE: [&str; 6] = [
    "",
    "Here is the change.\n\n",
    "I looked at how this is used; it is a small change:\n\n",
    "Sure. First the reason: the old code did too much.\n\n1. It is simpler now.\n2. Nothing else depends on it.\n\n",
    "The change:\n\n",
    "",
];
const AFTER: [&str; 4] = ["", "\nThat should do it.\n", "\nLet me know if you want tests for it, too.\n", ""];

/// The kinds of cases in a run: of each ten, two have no defect, four have one, two have several, and two must be refused.
const KINDS: [Kind; 10] = [
    Kind::Clean,
    Kind::One,
    Kind::Hopeless,
    Kind::One,
    Kind::Several,
    Kind::Clean,
    Kind::One,
    Kind::Hopeless,
    Kind::One,
    Kind::Several,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Clean,
    One,
    Several,
    Hopeless,
}

/// Up to `count` cases of a format; fewer if no sample has a line where the defects fit.
pub fn cases(samples: &[Sample], format: EditFormat, count: usize, seed: u64) -> Vec<Case> {
    let own = FORMATS.iter().position(|known| *known == format).unwrap_or_default() as u64;
    let single: Vec<&Defect> = fitting(format).filter(|defect| defect.layer != Layer::Hopeless).collect();
    let hopeless: Vec<&Defect> = fitting(format).filter(|defect| defect.layer == Layer::Hopeless).collect();
    let (mut ones, mut refusals) = (single.iter().cycle(), hopeless.iter().cycle());
    let mut cases = Vec::with_capacity(count);
    for nth in 0..count {
        let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9).wrapping_add(nth as u64 * 8 + own));
        let kind = KINDS.get(nth % KINDS.len()).copied().unwrap_or(Kind::Clean);
        let defects: Vec<&Defect> = match kind {
            Kind::Clean => Vec::new(),
            Kind::One => ones.next().into_iter().copied().collect(),
            Kind::Hopeless => {
                refusals.next().map(|defect| with_harmless(defect, &single, &mut rng)).unwrap_or_default()
            }
            Kind::Several => several(&single, &mut rng),
        };
        cases.extend(case(samples, format, &defects, nth, &mut rng));
    }
    cases
}

fn fitting(format: EditFormat) -> impl Iterator<Item = &'static Defect> {
    DEFECTS.iter().filter(move |defect| defect.formats.contains(&format))
}

/// Two or three defects of different layers, lowest layer first.
fn several(all: &[&'static Defect], rng: &mut Rng) -> Vec<&'static Defect> {
    let wanted = rng.usize(2..4);
    let mut chosen: Vec<&Defect> = Vec::new();
    let mut order = all.to_vec();
    rng.shuffle(&mut order);
    for defect in order {
        if chosen.len() < wanted && chosen.iter().all(|other| other.layer != defect.layer) {
            chosen.push(defect);
        }
    }
    chosen.sort_by_key(|defect| defect.layer);
    chosen
}

/// An unanswerable defect, half of the time together with one that would be harmless alone.
fn with_harmless(hopeless: &'static Defect, all: &[&'static Defect], rng: &mut Rng) -> Vec<&'static Defect> {
    let harmless = all.iter().filter(|defect| (Layer::Lines..=Layer::Margin).contains(&defect.layer));
    let harmless: Vec<&Defect> = harmless.copied().filter(|defect| defect.expect == Expect::Apply).collect();
    let also = rng.choice(harmless).filter(|_| rng.bool() && hopeless.formats.len() != 1);
    also.into_iter().chain([hopeless]).collect()
}

/// A case with all of `defects`, from the first random sample in which they fit.
fn case(samples: &[Sample], format: EditFormat, defects: &[&Defect], nth: usize, rng: &mut Rng) -> Option<Case> {
    for _ in 0..MAX_ATTEMPTS {
        let sample = rng.choice(samples)?;
        let Some(mut sketch) = sketch(sample, format, rng) else { continue };
        let plain = render(&sketch);
        let stored = sketch.tree();
        let put = defects.iter().all(|defect| {
            sketch.expect = sketch.expect.max(defect.expect);
            (defect.put)(&mut sketch, rng)
        });
        let changes = defects.is_empty() || render(&sketch) != plain || sketch.tree() != stored;
        if put && changes && is_clear(&sketch) {
            return Some(finished(sketch, defects, nth));
        }
    }
    None
}

/// Whether the intended change is unambiguous. Cases that must be refused need not be.
fn is_clear(sketch: &Sketch) -> bool {
    if sketch.format == Whole {
        return sketch.expect == Expect::Refuse || is_plain_rewrite(sketch);
    }
    if sketch.expect == Expect::Refuse {
        return true;
    }
    let lookup = LineIndex::new(&sketch.base);
    (0..sketch.blocks.len()).all(|nth| {
        sketch.blocks.get(nth).is_some_and(|block| lookup.fit(block) == Fit::Clear) && !has_decoy(sketch, nth)
    })
}

/// Whether the other blocks create a second location that the quote of a block fits. It would be ambiguous whether the block refers to
/// the old file or to the result of the others.
fn has_decoy(sketch: &Sketch, nth: usize) -> bool {
    let mut others = sketch.clone();
    let Some(block) = sketch.blocks.get(nth) else { return false };
    if !block.counts || sketch.blocks.len() < 2 {
        return false;
    }
    others.blocks.remove(nth);
    let left = others.meant();
    let texts: Vec<String> = left.iter().map(|(_, text)| (*text).to_owned()).collect();
    let quoted: Vec<&Line> = block.lines.iter().filter(|line| line.is_quoted()).collect();
    let quote: Vec<&str> = quoted.iter().map(|line| line.text.as_str()).collect();
    let own = |start: &usize| {
        let window = left.get(*start..).unwrap_or_default();
        quoted.iter().zip(window).all(|(line, (at, _))| line.at.is_none() || line.at == *at)
    };
    !LineIndex::new(&texts).starts(&quote, true).iter().all(own)
}

/// Whether the intended text, sent as a whole file, cannot be taken for a defect: a fragment, lost trailing white space, or an extra
/// blank line.
fn is_plain_rewrite(sketch: &Sketch) -> bool {
    let trails = |text: &str| text.ends_with([' ', '\t']);
    let blank = |line: Option<&str>| line.is_some_and(|line| line.trim().is_empty());
    let meant = sketch.meant();
    let old = || sketch.base.iter().map(String::as_str);
    let new = || meant.iter().map(|(_, text)| *text);
    let tidies = old().any(trails) && !new().any(trails);
    let opens_blank = blank(new().next()) && !blank(old().next());
    meant.len() * 2 > sketch.base.len() && !tidies && !opens_blank
}

fn finished(sketch: Sketch, defects: &[&Defect], nth: usize) -> Case {
    let defects: Vec<String> = defects.iter().map(|defect| defect.name.to_owned()).collect();
    let named = if defects.is_empty() { "clean".to_owned() } else { defects.join("+") };
    Case {
        name: format!("{nth:05}-{}-{named}", sketch.format),
        format: FormatChoice::Only(sketch.format),
        defects,
        expect: sketch.expect,
        before: sketch.tree(),
        after: sketch.wanted(),
        reply: render(&sketch),
        origin: sketch.origin,
    }
}

/// A reply without defects, in a random style.
pub(crate) fn sketch(sample: &Sample, format: EditFormat, rng: &mut Rng) -> Option<Sketch> {
    let context = match format {
        Udiff => [0, 1, 2, 3, 3, 3, 4],
        Diff | EditFormat::DiffFenced => [0, 0, 1, 1, 2, 3, 4],
        Patch => [1, 2, 3, 3, 3, 3, 3],
        Whole => [3; 7],
    };
    let context = rng.choice(context).unwrap_or(3);
    let mut blocks = blocks(sample, context, rng.u8(..) > 40)?;
    let blockwise = match format {
        Udiff => rng.u8(..) < 64,
        Patch => rng.u8(..) < 24,
        _ => false,
    };
    let style = rng.usize(..5);
    for block in &mut blocks {
        block.blockwise = blockwise;
        block.head = match (format, style) {
            (Udiff, 0 | 1) => numbers(block, sample.before.len(), rng),
            (Udiff, 2) => Head::Bare,
            (Patch, 0 | 1) => scope(&sample.before, block).map_or(Head::Bare, Head::Scope),
            (Patch, _) => Head::Bare,
            _ => Head::Dots,
        };
    }
    let mut sketch = sample.sketch(format, wrap(&sample.path, format, rng));
    sketch.blocks = blocks;
    Some(sketch)
}

fn wrap(path: &str, format: EditFormat, rng: &mut Rng) -> Wrap {
    let language = Language::for_path(path).map_or("", |language| language.id);
    let fencing = match format {
        Udiff => Fencing::Closed("diff".to_owned()),
        Patch if rng.u8(..) < 160 => Fencing::None,
        Patch => Fencing::Closed(rng.choice(["", "patch", "diff"]).unwrap_or_default().to_owned()),
        _ => Fencing::Closed(language.to_owned()),
    };
    Wrap {
        name: Some(path.to_owned()),
        sided: format == Udiff && rng.u8(..) < 64,
        fencing,
        before: rng.choice(BEFORE).unwrap_or_default().to_owned(),
        after: rng.choice(AFTER).unwrap_or_default().to_owned(),
        one_fence: rng.u8(..) < 64,
        bare_blanks: false,
        crlf: false,
        cut: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::tests::samples;

    #[test]
    fn a_seed_always_gives_the_same_cases() {
        let samples = samples();
        for format in FORMATS {
            let made = |seed| cases(&samples, format, 40, seed);
            assert_eq!(made(7), made(7));
            assert_ne!(made(7), made(8));
        }
    }

    #[test]
    fn only_clean_cases_have_no_defects() {
        for case in cases(&samples(), EditFormat::Udiff, 200, 1) {
            assert_eq!(case.defects.is_empty(), case.name.ends_with("clean"), "{}", case.name);
            assert!(case.expect == Expect::Refuse || case.before != case.after, "{}", case.name);
        }
    }

    #[test]
    fn defects_that_are_combined_are_of_different_layers() {
        let all: Vec<&Defect> = fitting(EditFormat::Diff).filter(|defect| defect.layer != Layer::Hopeless).collect();
        let mut rng = Rng::with_seed(1);
        for _ in 0..100 {
            let chosen = several(&all, &mut rng);
            assert!((2..4).contains(&chosen.len()) && chosen.is_sorted_by(|a, b| a.layer < b.layer));
        }
    }

    #[test]
    fn a_quote_that_another_block_duplicates_is_not_used() {
        let sketched = |after: &str| {
            let mut sketch = crate::edits::tests::letters("abcxyzdef_ghi_jkl", after);
            sketch.blocks.iter_mut().for_each(|block| block.counts = true);
            sketch
        };
        assert!(is_clear(&sketched("abcxyzDef_ghi_jKl")));
        // After the first block `jkl` occurs twice.
        assert!(!is_clear(&sketched("abcxjklyzdef_ghi_jKl")));
    }

    #[test]
    fn a_whole_file_that_looks_defective_is_not_used() {
        let plain = |before: &str, after: &str| is_plain_rewrite(&crate::edits::tests::letters(before, after));
        assert!(plain("abcdef", "abcdeF"));
        assert!(!plain("abcdef", "af"), "a fragment");
        assert!(!plain("abcdef", " abcdef"), "a blank line at the start");
    }
}
