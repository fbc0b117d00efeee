//! When two lines mean the same though their characters differ, and how alike two lines are.

use std::borrow::Cow;

/// The longest line, in characters, whose likeness is computed in full.
const FULL_LENGTH: usize = 240;

/// A line without what models lose or change when they quote: indentation, runs of white space, typographic
/// punctuation.
pub(crate) fn canon(line: &str) -> Cow<'_, str> {
    let trimmed = line.trim();
    let is_plain =
        trimmed.is_ascii() && !trimmed.contains("  ") && !trimmed.contains(|c: char| c.is_whitespace() && c != ' ');
    if is_plain {
        return Cow::Borrowed(trimmed);
    }
    let mut out = String::with_capacity(trimmed.len());
    let mut space = false;
    for c in trimmed.chars() {
        if c.is_whitespace() {
            space = true;
            continue;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        match plain(c) {
            Some(plain) => out.push_str(plain),
            None => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// What programmers write for a character of typesetters.
fn plain(c: char) -> Option<&'static str> {
    match c {
        '\u{201c}' | '\u{201d}' | '\u{201e}' => Some("\""),
        '\u{2018}' | '\u{2019}' | '\u{201a}' => Some("'"),
        '\u{2010}'..='\u{2014}' | '\u{2212}' => Some("-"),
        '\u{2026}' => Some("..."),
        _ => None,
    }
}

/// Whether a line has characters of typesetters.
pub(super) fn is_typeset(line: &str) -> bool {
    !line.is_ascii() && line.chars().any(|c| plain(c).is_some())
}

/// A line with what programmers write in the place of such characters.
pub(super) fn straight(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        match plain(c) {
            Some(plain) => out.push_str(plain),
            None => out.push(c),
        }
    }
    out
}

/// What skipping a line of the file costs depends on what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineClass {
    Blank,
    /// A comment or part of a docstring.
    Comment,
    Code,
}

/// What can be said of a line by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traits {
    class: LineClass,
    /// The closer that lines below it wait for, and whether what it closes is a comment.
    opens: Option<(usize, bool)>,
    /// By closer: whether the line has it.
    closes: [bool; CLOSERS.len()],
}

/// What ends texts of several lines.
const CLOSERS: [&str; 3] = ["\"\"\"", "'''", "*/"];

impl Traits {
    /// Of a line without white space around it.
    pub(crate) fn of(text: &str) -> Self {
        if !text.contains(['"', '\'', '*']) {
            return Self { class: class_of(text), opens: None, closes: [false; CLOSERS.len()] };
        }
        let odd = |closer: &&str| text.matches(closer).count() % 2 == 1;
        let quotes = CLOSERS.iter().take(2).position(odd);
        let opens = quotes.map(|at| (at, CLOSERS.get(at).is_some_and(|closer| text.starts_with(closer))));
        let block = (text.starts_with("/*") && !text.contains("*/")).then_some((2, true));
        Self { class: class_of(text), opens: block.or(opens), closes: CLOSERS.map(|closer| text.contains(closer)) }
    }
}

/// Classifies the lines of a file, block comments and docstrings included.
pub(crate) fn classes<'t>(lines: impl Iterator<Item = &'t Traits>) -> Vec<LineClass> {
    let mut open: Option<(usize, bool)> = None;
    let class = |line: &Traits| {
        let Some((closer, comment)) = open else {
            open = line.opens;
            return line.class;
        };
        if line.closes.get(closer).is_some_and(|closes| *closes) {
            open = None;
        }
        match line.class {
            LineClass::Blank => LineClass::Blank,
            _ if comment => LineClass::Comment,
            _ => LineClass::Code,
        }
    };
    lines.map(class).collect()
}

/// What each of the lines of a text is.
pub(crate) fn classify(lines: &[&str]) -> Vec<LineClass> {
    let traits: Vec<Traits> = lines.iter().map(|line| Traits::of(line.trim())).collect();
    classes(traits.iter())
}

/// What a line is by itself.
pub(crate) fn class(line: &str) -> LineClass {
    class_of(line.trim())
}

fn class_of(text: &str) -> LineClass {
    const COMMENTS: [&str; 6] = ["//", "/*", "*", "<!--", "--", "\"\"\""];
    const DIRECTIVES: [&str; 7] = ["include", "define", "if", "endif", "else", "pragma", "undef"];
    if text.is_empty() {
        return LineClass::Blank;
    }
    if let Some(rest) = text.strip_prefix('#') {
        let directive = DIRECTIVES.iter().any(|word| rest.starts_with(word)) || rest.starts_with('[');
        return if directive { LineClass::Code } else { LineClass::Comment };
    }
    let comment = COMMENTS.iter().any(|start| text.starts_with(start)) || text.starts_with("'''");
    if comment { LineClass::Comment } else { LineClass::Code }
}

/// How many letters and digits there are in a line.
pub(super) fn letters(line: &str) -> usize {
    line.chars().filter(|c| c.is_alphanumeric()).count()
}

/// Whether a line says something: brackets, dashes and the like stand everywhere.
pub(super) fn is_telling(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).nth(2).is_some()
}

/// Whether two lines differ by a slip of the pen: one misspelt word at most, no number and no operator. Lines that
/// differ by a number, an operator or several words are two lines, however many characters they share.
pub(super) fn is_slip(quoted: &str, found: &str) -> bool {
    if !operators(quoted).eq(operators(found)) {
        return false;
    }
    let words = |line: &str| -> Vec<String> {
        let words = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let (quoted, found) = (words(quoted), words(found));
    if quoted.len() != found.len() {
        return quoted.concat() == found.concat();
    }
    let mut differing = quoted.iter().zip(&found).filter(|(one, other)| one != other);
    match (differing.next(), differing.next()) {
        (None, _) => true,
        (Some((one, other)), None) => is_misspelt(one, other),
        _ => false,
    }
}

/// The digits of a text.
pub(super) fn digits(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(char::is_ascii_digit)
}

/// Whether one word is the other one misspelt: letters are dropped, doubled or swapped, or another one stands in a part
/// of it that is long enough. `get` is no misspelt `set`, and `clampMax` no `clampMin`.
pub(super) fn is_misspelt(one: &str, other: &str) -> bool {
    let (probe, chars): (_, Vec<char>) = (Probe::new(one), other.chars().collect());
    let longer = probe.chars.len().max(chars.len());
    let common = probe.places.as_ref().map_or(0, |places| places.common(probe.chars.len(), &chars));
    if !digits(one).eq(digits(other)) || longer - common > MOST_SLIPS || common * 2 <= longer {
        return false;
    }
    let head = probe.chars.iter().zip(&chars).take_while(|(one, other)| one == other).count();
    let (one, other) = (probe.chars.get(head..).unwrap_or_default(), chars.get(head..).unwrap_or_default());
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    let (mine, theirs) = (one.get(..one.len() - tail), other.get(..other.len() - tail));
    let (mine, theirs) = (mine.unwrap_or_default(), theirs.unwrap_or_default());
    if mine.iter().flat_map(|c| c.to_lowercase()).eq(theirs.iter().flat_map(|c| c.to_lowercase())) {
        return true;
    }
    let swapped = mine.len() == 2 && mine.iter().eq(theirs.iter().rev());
    let dropped = mine.is_empty() || theirs.is_empty();
    let in_long_part = || {
        let before = probe.chars.iter().take(head).rev().take_while(|c| **c != '_');
        let before = before.scan(false, |ended, c| (!std::mem::replace(ended, c.is_uppercase())).then_some(())).count();
        let after = one.iter().skip(one.len() - tail).take_while(|c| **c != '_' && !c.is_uppercase()).count();
        before > 0 && before + mine.len().max(theirs.len()) + after >= LONG_PART
    };
    head > 0 && (dropped || swapped || in_long_part())
}

/// In shorter parts of a word another letter makes another word.
const LONG_PART: usize = 5;

/// The signs of a line that say what is done with its words. A hyphen within a word is none.
fn operators(line: &str) -> impl Iterator<Item = char> + '_ {
    const SIGNS: &str = "<>=!+-*/%&|^~";
    let inner = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    let is_hyphen = move |at: usize| {
        let (before, after) = line.split_at_checked(at).unwrap_or_default();
        inner(before.chars().next_back()) && inner(after.chars().nth(1))
    };
    let signs = line.char_indices().filter(move |(at, c)| SIGNS.contains(*c) && !(*c == '-' && is_hyphen(*at)));
    signs.map(|(_, c)| c)
}

/// So many characters of a misspelt word are wrong at most.
const MOST_SLIPS: usize = 2;

/// A line prepared for comparing it with many others.
pub(crate) struct Probe {
    chars: Vec<char>,
    counts: [u16; 64],
    places: Option<Places>,
}

/// Where each character stands in a short line, as bits.
struct Places {
    ascii: [u128; 128],
    others: Vec<(char, u128)>,
}

impl Places {
    /// `None` for a line with more characters than bits.
    fn new(chars: &[char]) -> Option<Self> {
        let mut places = Self { ascii: [0; 128], others: Vec::new() };
        for (at, c) in chars.iter().enumerate() {
            let bit = 1u128.checked_shl(u32::try_from(at).ok()?)?;
            match places.ascii.get_mut(*c as usize) {
                Some(bits) => *bits |= bit,
                None => places.others.push((*c, bit)),
            }
        }
        Some(places)
    }

    fn of(&self, c: char) -> u128 {
        let others = || self.others.iter().filter(|(other, _)| *other == c).map(|(_, bit)| bit).sum();
        self.ascii.get(c as usize).copied().unwrap_or_else(others)
    }

    /// The length of the longest common subsequence, a bound of what common runs can hold. Bit-parallel, after Hyyrö, "Bit-
    /// parallel LCS-length computation revisited" (2004).
    fn common(&self, length: usize, theirs: &[char]) -> usize {
        let mut open = u128::MAX;
        for c in theirs {
            let met = open & self.of(*c);
            open = open.wrapping_add(met) | (open & !met);
        }
        let unused = u128::MAX.checked_shl(u32::try_from(length).unwrap_or(u32::MAX)).unwrap_or(0);
        (!open & !unused).count_ones() as usize
    }
}

impl Probe {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().take(FULL_LENGTH * 20).collect();
        let mut counts = [0u16; 64];
        for c in &chars {
            if let Some(count) = counts.get_mut(bucket(*c)) {
                *count = count.saturating_add(1);
            }
        }
        Self { places: Places::new(&chars), chars, counts }
    }

    /// How alike the two are, 0 to 1; `None` when less than `least`.
    ///
    /// The measure is that of Ratcliff and Obershelp: twice the characters in common runs over all characters, the
    /// longest run first.
    pub(crate) fn likeness(&self, other: &str, least: f32) -> Option<f32> {
        let long = other.len() > self.chars.len().saturating_mul(8).saturating_add(8);
        if long || self.chars.is_empty() {
            return None;
        }
        let theirs: Vec<char> = other.chars().collect();
        let total = (self.chars.len() + theirs.len()) as f32;
        let shorter = self.chars.len().min(theirs.len()) as f32;
        if 2.0 * shorter / total < least || 2.0 * self.shared(&theirs) as f32 / total < least {
            return None;
        }
        let at_most = self.places.as_ref().map(|places| places.common(self.chars.len(), &theirs));
        if at_most.is_some_and(|common| 2.0 * common as f32 / total < least) {
            return None;
        }
        let common = common_runs(&self.chars, &theirs);
        let ratio = 2.0 * common as f32 / total;
        (ratio >= least).then_some(ratio)
    }

    /// An upper bound of the common characters, order aside.
    fn shared(&self, theirs: &[char]) -> usize {
        let mut left = self.counts;
        let mut shared = 0;
        for c in theirs {
            if let Some(count) = left.get_mut(bucket(*c)).filter(|count| **count > 0) {
                *count -= 1;
                shared += 1;
            }
        }
        shared
    }
}

fn bucket(c: char) -> usize {
    (c as usize) & 63
}

/// Characters in common runs. Between overlong lines only the common head and tail count.
fn common_runs(a: &[char], b: &[char]) -> usize {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(head..).unwrap_or_default(), b.get(head..).unwrap_or_default());
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(..a.len() - tail).unwrap_or_default(), b.get(..b.len() - tail).unwrap_or_default());
    if a.len().max(b.len()) > FULL_LENGTH {
        return head + tail;
    }
    let mut common = head + tail;
    let mut open = vec![(a, b)];
    while let Some((a, b)) = open.pop() {
        let (at, bt, length) = longest_run(a, b);
        if length == 0 {
            continue;
        }
        common += length;
        open.push((a.get(..at).unwrap_or_default(), b.get(..bt).unwrap_or_default()));
        open.push((a.get(at + length..).unwrap_or_default(), b.get(bt + length..).unwrap_or_default()));
    }
    common
}

/// Start in `a`, start in `b` and length of the longest common run.
fn longest_run(a: &[char], b: &[char]) -> (usize, usize, usize) {
    let mut best = (0, 0, 0);
    let mut runs = vec![0usize; b.len() + 1];
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = 0;
        for (j, (y, run)) in b.iter().zip(runs.iter_mut().skip(1)).enumerate() {
            let length = if x == y { diagonal + 1 } else { 0 };
            diagonal = std::mem::replace(run, length);
            if length > best.2 {
                best = (i + 1 - length, j + 1 - length, length);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typography_and_white_space_do_not_count() {
        assert_eq!(canon("  a \u{201c}b\u{201d}\t\u{2013}  c\u{2026} "), "a \"b\" - c...");
        assert_eq!(canon("\u{c}x"), "x");
    }

    #[test]
    fn likeness_is_high_for_a_typo_and_absent_for_strangers() {
        let probe = Probe::new("return self.reading.values()");
        assert!(probe.likeness("return self.readings.values()", 0.8).unwrap() > 0.95);
        assert_eq!(probe.likeness("for mark of marks {", 0.75), None);
        assert_eq!(Probe::new("abcd").likeness("bcde", 0.5), Some(0.75));
    }

    proptest::proptest! {
        #[test]
        fn common_runs_are_a_common_subsequence(a in "[a-cä]{0,130}", b in "[a-cä]{0,130}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            if let Some(places) = Places::new(&a) {
                let common = places.common(a.len(), &b);
                proptest::prop_assert!(common_runs(&a, &b) <= common && common <= a.len().min(b.len()));
                proptest::prop_assert_eq!(places.common(a.len(), &a), a.len());
            } else {
                proptest::prop_assert!(a.len() > 128);
            }
        }
    }

    #[test]
    fn a_slip_is_one_word_and_no_number() {
        assert!(is_slip("let raeding = self.read();", "let reading = self.read();"));
        assert!(is_slip("text())", "text)") && is_slip("on line", "online"));
        assert!(!is_slip("replace(a, finalName)", "replace(a, newName)"));
        for (quoted, found) in [("a < b", "a > b"), ("a + b", "a - b"), ("x == y", "x != y"), ("if ok {", "if !ok {")] {
            assert!(!is_slip(quoted, found), "{quoted}");
        }
        for (quoted, found) in [("set(a)", "get(a)"), ("clampMin(v)", "clampMax(v)"), ("unlock()", "lock()")] {
            assert!(!is_slip(quoted, found), "{quoted}");
        }
        assert!(is_slip("seperate_parts()", "separate_parts()") && is_slip("setRecieved()", "setReceived()"));
        assert!(is_slip("# reuse", "# re-use") && is_slip("a  <  b;", "a < b") && !is_slip("a-b", "a+b"));
        assert!(!is_slip("rev: v2.10.0", "rev: v2.4.0"));
        assert!(!is_slip("class SelectorList(ParselSelectorList, ref):", "class Selector(ParselSelector, ref):"));
    }

    #[test]
    fn docstrings_are_comments_and_assigned_strings_are_not() {
        use LineClass::{Blank, Code, Comment};
        let lines =
            ["def f():", "\"\"\"One", "", "two.\"\"\"", "x = \"\"\"", "text", "\"\"\"", "y = 1", "#include <a>"];
        let traits = lines.map(Traits::of);
        assert_eq!(classes(traits.iter()), [Code, Comment, Blank, Comment, Code, Code, Code, Code, Code]);
    }
}
