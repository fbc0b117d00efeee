//! Similar lines: how similar they are, and whether the difference is a typo or another statement.

use super::normalize::{self, LineClass};

/// Maximum length in characters of a line that is compared in full. Bounds the time of a comparison: with 2,400
/// instead, the slowest reply of the benchmark takes five times as long, and no result changes.
const MAX_COMPARED_CHARS: usize = 240;

/// Whether two lines differ by a typo: at most one misspelt word, and no number and no operator. Lines that differ
/// by a number, an operator or several words are different lines, however similar they are. Benchmark: without this
/// check, 5 replies are applied wrongly (three seeds).
pub(crate) fn is_typo(quoted: &str, found: &str) -> bool {
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
        (Some((one, other)), None) => is_misspelling(one, other),
        _ => false,
    }
}

/// The digits of a text.
pub(crate) fn digits(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().filter(char::is_ascii_digit)
}

/// Whether one word is a misspelling of the other: letters are dropped, doubled or swapped, or a letter differs in
/// a long part of the word. `get` is not a misspelling of `set`, and `clampMax` not of `clampMin`. Benchmark: if no
/// word is a misspelling, 194 more replies are refused.
pub(crate) fn is_misspelling(one: &str, other: &str) -> bool {
    let (probe, chars): (_, Vec<char>) = (Probe::new(one), other.chars().collect());
    let longer = probe.chars.len().max(chars.len());
    let common = probe.positions.as_ref().map_or(0, |positions| positions.common(probe.chars.len(), &chars));
    if !digits(one).eq(digits(other)) || longer - common > MAX_TYPO_CHARS || common * 2 <= longer {
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
        before > 0 && before + mine.len().max(theirs.len()) + after >= MIN_LONG_PART_CHARS
    };
    head > 0 && (dropped || swapped || in_long_part())
}

/// Minimum length of a part of a word (`snake_case`, `camelCase`) in which a different letter is a typo. In a
/// shorter part it makes another word. Benchmark: changes no reply; see `a_typo_is_in_one_word_and_not_in_a_number`.
const MIN_LONG_PART_CHARS: usize = 5;

/// The operators of a line. A hyphen within a word is not an operator.
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

/// Maximum number of wrong characters of a misspelt word. Benchmark: 1 or 4 instead changes no reply; see
/// `other_names_and_numbers_are_other_things`.
const MAX_TYPO_CHARS: usize = 2;

/// A line prepared for comparison with many others.
pub(crate) struct Probe {
    chars: Vec<char>,
    counts: [u16; 64],
    positions: Option<CharPositions>,
}

/// The positions of each character of a short line, as bits.
struct CharPositions {
    ascii: [u128; 128],
    others: Vec<(char, u128)>,
}

impl CharPositions {
    /// `None` for a line with more characters than bits.
    fn new(chars: &[char]) -> Option<Self> {
        let mut positions = Self { ascii: [0; 128], others: Vec::new() };
        for (at, c) in chars.iter().enumerate() {
            let bit = 1u128.checked_shl(u32::try_from(at).ok()?)?;
            match positions.ascii.get_mut(*c as usize) {
                Some(bits) => *bits |= bit,
                None => positions.others.push((*c, bit)),
            }
        }
        Some(positions)
    }

    fn of(&self, c: char) -> u128 {
        let others = || self.others.iter().filter(|(other, _)| *other == c).map(|(_, bit)| bit).sum();
        self.ascii.get(c as usize).copied().unwrap_or_else(others)
    }

    /// The length of the longest common subsequence, an upper bound of the characters in common runs. Bit-parallel
    /// algorithm of Hyyrö, "Bit-parallel LCS-length computation revisited" (2004).
    fn common(&self, length: usize, theirs: &[char]) -> usize {
        let mut open = u128::MAX;
        for c in theirs {
            let matched = open & self.of(*c);
            open = open.wrapping_add(matched) | (open & !matched);
        }
        let unused = u128::MAX.checked_shl(u32::try_from(length).unwrap_or(u32::MAX)).unwrap_or(0);
        (!open & !unused).count_ones() as usize
    }
}

impl Probe {
    pub(crate) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().take(MAX_COMPARED_CHARS * 20).collect();
        let mut counts = [0u16; 64];
        for c in &chars {
            if let Some(count) = counts.get_mut(bucket(*c)) {
                *count = count.saturating_add(1);
            }
        }
        Self { positions: CharPositions::new(&chars), chars, counts }
    }

    /// The similarity of the two lines, 0 to 1; `None` if it is below `minimum`.
    ///
    /// The measure of Ratcliff and Obershelp: twice the number of characters in common runs, divided by the number
    /// of all characters, the longest run first.
    pub(crate) fn similarity(&self, other: &str, minimum: f32) -> Option<f32> {
        let long = other.len() > self.chars.len().saturating_mul(8).saturating_add(8);
        if long || self.chars.is_empty() {
            return None;
        }
        let theirs: Vec<char> = other.chars().collect();
        let total = (self.chars.len() + theirs.len()) as f32;
        let shorter = self.chars.len().min(theirs.len()) as f32;
        if 2.0 * shorter / total < minimum || 2.0 * self.shared(&theirs) as f32 / total < minimum {
            return None;
        }
        let at_most = self.positions.as_ref().map(|positions| positions.common(self.chars.len(), &theirs));
        if at_most.is_some_and(|common| 2.0 * common as f32 / total < minimum) {
            return None;
        }
        let common = common_runs(&self.chars, &theirs);
        let ratio = 2.0 * common as f32 / total;
        (ratio >= minimum).then_some(ratio)
    }

    /// An upper bound of the number of common characters.
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

/// The number of characters in common runs. For very long lines only the common start and end count.
fn common_runs(a: &[char], b: &[char]) -> usize {
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(head..).unwrap_or_default(), b.get(head..).unwrap_or_default());
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (a.get(..a.len() - tail).unwrap_or_default(), b.get(..b.len() - tail).unwrap_or_default());
    if a.len().max(b.len()) > MAX_COMPARED_CHARS {
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

/// Keywords that are followed by the declared name.
const KEYWORDS: [&str; 15] = [
    "def", "class", "fn", "func", "function", "fun", "struct", "enum", "trait", "interface", "mod", "module",
    "namespace", "type", "sub",
];

/// Whether a quoted kept line may match a similar line of the file. The numbers must be equal. Declarations must
/// have the same name except for a typo; branches, headings and sections must be equal except for a typo. Benchmark:
/// without this check, no reply changes; see `kept_lines_of_another_number_or_name_are_another_place`.
pub(crate) fn may_match(quoted: &str, found: &str) -> bool {
    if !numbers(quoted).eq(numbers(found)) {
        return false;
    }
    match (name(quoted), name(found)) {
        (Some(one), Some(other)) => one == other || is_misspelling(one, other),
        (None, None) => !(is_label(quoted) && is_label(found)) || is_typo(quoted, found),
        _ => true,
    }
}

/// The digits of a line. `O`, `l` and `I` within a number count as the digits that they resemble.
fn numbers(line: &str) -> impl Iterator<Item = char> + '_ {
    let mut within = false;
    line.chars().filter_map(move |c| {
        let digit = match c {
            'O' | 'o' if within => Some('0'),
            'l' | 'I' if within => Some('1'),
            _ => Some(c).filter(char::is_ascii_digit),
        };
        within = digit.is_some();
        digit
    })
}

/// Whether a line of code declares something.
pub(crate) fn declares(line: &str) -> bool {
    name(line).is_some()
}

/// The name that a line of code declares.
fn name(line: &str) -> Option<&str> {
    if normalize::class(line) != LineClass::Code {
        return None;
    }
    let mut rest = line;
    // Words such as `pub`, `async` and `export default` may precede the keyword.
    loop {
        let (word, after) = first_word(rest)?;
        if KEYWORDS.contains(&word) {
            return first_word(past_receiver(after)).map(|(name, _)| name);
        }
        rest = after.strip_prefix(' ')?;
    }
}

/// The word at the start of a text, and the text after it.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The text after the receiver of a Go method: `func (s *Server) Stop()`.
fn past_receiver(text: &str) -> &str {
    let receiver = text.trim_start().strip_prefix('(').and_then(|inner| inner.split_once(')'));
    receiver.map_or(text, |(_, after)| after)
}

/// Whether a line labels the lines below it: a branch, a heading, a section of a settings file.
fn is_label(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("case ") || line.starts_with("## ") || line.starts_with("### ") || is_section(line)
}

fn is_section(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']') && !line.contains(',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_high_for_a_typo_and_none_for_unrelated_lines() {
        let probe = Probe::new("return self.reading.values()");
        assert!(probe.similarity("return self.readings.values()", 0.8).unwrap() > 0.95);
        assert_eq!(probe.similarity("for mark of marks {", 0.75), None);
        assert_eq!(Probe::new("abcd").similarity("bcde", 0.5), Some(0.75));
    }

    proptest::proptest! {
        #[test]
        fn common_runs_are_a_common_subsequence(a in "[a-cä]{0,130}", b in "[a-cä]{0,130}") {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            if let Some(positions) = CharPositions::new(&a) {
                let common = positions.common(a.len(), &b);
                proptest::prop_assert!(common_runs(&a, &b) <= common && common <= a.len().min(b.len()));
                proptest::prop_assert_eq!(positions.common(a.len(), &a), a.len());
            } else {
                proptest::prop_assert!(a.len() > 128);
            }
        }
    }

    #[test]
    fn a_typo_is_in_one_word_and_not_in_a_number() {
        assert!(is_typo("let raeding = self.read();", "let reading = self.read();"));
        assert!(is_typo("text())", "text)") && is_typo("on line", "online"));
        assert!(!is_typo("replace(a, finalName)", "replace(a, newName)"));
        for (quoted, found) in [("a < b", "a > b"), ("a + b", "a - b"), ("x == y", "x != y"), ("if ok {", "if !ok {")] {
            assert!(!is_typo(quoted, found), "{quoted}");
        }
        for (quoted, found) in [("set(a)", "get(a)"), ("clampMin(v)", "clampMax(v)"), ("unlock()", "lock()")] {
            assert!(!is_typo(quoted, found), "{quoted}");
        }
        assert!(is_typo("seperate_parts()", "separate_parts()") && is_typo("setRecieved()", "setReceived()"));
        assert!(is_typo("# reuse", "# re-use") && is_typo("a  <  b;", "a < b") && !is_typo("a-b", "a+b"));
        assert!(!is_typo("rev: v2.10.0", "rev: v2.4.0"));
        assert!(!is_typo("class SelectorList(ParselSelectorList, ref):", "class Selector(ParselSelector, ref):"));
    }

    #[test]
    fn other_names_and_numbers_are_other_things() {
        for (quoted, found) in [
            ("def test_add_2():", "def test_add_1():"),
            ("    image: postgres:14", "    image: postgres:15"),
            ("def set_item(self, key):", "def get_item(self, key):"),
            ("export function clampMin(v) {", "export function clampMax(v) {"),
            ("def is_open(x):", "def is_closed(x):"),
            ("func (s *Server) Start() error {", "func (s *Server) Stop() error {"),
            ("  case Kind.Alpha:", "  case Kind.Alphabet:"),
            ("## Install", "## Installation"),
            ("[server.alpha]", "[server.beta]"),
        ] {
            assert!(!may_match(quoted, found), "{quoted}");
        }
    }

    #[test]
    fn typos_and_other_signatures_match() {
        for (quoted, found) in [
            ("def set_itme(self, key):", "def set_item(self, key):"),
            ("pub async fn open(path: &str) -> File {", "pub async fn open(path: &Path) -> Result<File> {"),
            ("func (s *Server) Stop() {", "func (srv *Server) Stop() error {"),
            ("# The class of the boat", "# The kind of the boat"),
            ("let type_of = kind(a, b);", "let type_of = kind(a);"),
            ("## Instalation", "## Installation"),
            ("value_310O2 = compute(232);", "value_31002 = compute(232);"),
        ] {
            assert!(may_match(quoted, found), "{quoted}");
        }
    }
}
