//! Keys that this program knows, taken out of what commands print, in whatever pieces it comes.

use std::borrow::Cow;
use std::fmt;

/// The shortest text that is taken for a key: a shorter one would stand in ordinary words.
const SHORTEST: usize = 8;

/// Texts that must not be seen, and what stands for each. Its `Debug` shows none of them.
#[derive(Clone, Default)]
pub struct Masks {
    secrets: Vec<(String, String)>,
}

impl fmt::Debug for Masks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Masks").field("count", &self.secrets.len()).finish()
    }
}

impl Masks {
    /// For these secrets, each with its name.
    pub fn new<'s>(secrets: impl IntoIterator<Item = (&'s str, &'s str)>) -> Self {
        let long = secrets.into_iter().filter(|(_, secret)| secret.len() >= SHORTEST);
        let mut secrets: Vec<_> = long.map(|(name, secret)| (secret.to_owned(), format!("[{name}]"))).collect();
        // Where one is the beginning of another, the longer one is the one that is meant.
        secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// The text with the name of each secret in its place.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for (secret, name) in &self.secrets {
            if masked.contains(secret.as_str()) {
                masked = Cow::Owned(masked.replace(secret.as_str(), name));
            }
        }
        masked
    }

    /// Bytes of the longest secret; 0 for none.
    pub(super) fn longest(&self) -> usize {
        self.secrets.first().map_or(0, |(secret, _)| secret.len())
    }

    /// Where the text ends within a secret, the place at or after `from` where that begins. All that is missing may still come.
    fn open_end(&self, text: &str, from: usize) -> Option<usize> {
        let least = text.len().saturating_sub(self.longest().saturating_sub(1)).max(from);
        let tail = text.get(text.ceil_char_boundary(least)..)?;
        let mut places = tail.char_indices().map(|(at, _)| tail.get(at..).unwrap_or_default());
        let open = places
            .find(|rest| self.secrets.iter().any(|(secret, _)| secret.len() > rest.len() && secret.starts_with(rest)));
        open.map(|rest| text.len() - rest.len())
    }
}

/// Masks a text that comes in pieces: what may be the beginning of a secret waits for the next piece.
#[derive(Debug)]
pub(super) struct Sieve<'m> {
    masks: &'m Masks,
    held: String,
}

impl<'m> Sieve<'m> {
    pub(super) fn new(masks: &'m Masks) -> Self {
        Self { masks, held: String::new() }
    }

    /// The text so far that is certain, without secrets.
    pub(super) fn push(&mut self, piece: &str) -> String {
        if self.masks.secrets.is_empty() {
            return piece.to_owned();
        }
        let mut text = std::mem::take(&mut self.held);
        text.push_str(piece);
        let (mut out, mut at) = (String::with_capacity(text.len()), 0);
        // Where each secret stands next. A place is looked for anew only when it has been passed.
        let place =
            |secret: &str, from: usize| text.get(from..).and_then(|rest| rest.find(secret)).map(|found| from + found);
        let mut places: Vec<Option<usize>> = self.masks.secrets.iter().map(|(secret, _)| place(secret, 0)).collect();
        let mut open = self.masks.open_end(&text, 0);
        loop {
            // Of two at one place the first is the longer.
            let next = places.iter().enumerate().filter_map(|(which, place)| place.map(|place| (place, which))).min();
            let Some((found, which)) = next.filter(|(found, _)| open.is_none_or(|open| *found < open)) else { break };
            let Some((secret, name)) = self.masks.secrets.get(which) else { break };
            out.push_str(text.get(at..found).unwrap_or_default());
            out.push_str(name);
            at = found + secret.len();
            for (next, (secret, _)) in places.iter_mut().zip(&self.masks.secrets) {
                if next.is_some_and(|next| next < at) {
                    *next = place(secret, at);
                }
            }
            if open.is_some_and(|open| open < at) {
                open = self.masks.open_end(&text, at);
            }
        }
        out.push_str(text.get(at..open.unwrap_or(text.len())).unwrap_or_default());
        self.held = text.split_off(open.unwrap_or(text.len()));
        out
    }

    /// What waits, followed by this, as it may be shown.
    pub(super) fn ahead(&self, more: &str) -> String {
        self.masks.masked(&format!("{}{more}", self.held)).into_owned()
    }

    /// What waits, when nothing more will come.
    pub(super) fn finish(&mut self) -> String {
        let rest = self.ahead("");
        self.held.clear();
        rest
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_key_is_replaced_by_its_name_and_short_words_stay() {
        let masks = Masks::new([("A_KEY", "sk-12345678"), ("B_KEY", "sk-12345678-long"), ("C_KEY", "cat")]);
        assert_eq!(masks.masked("a sk-12345678 b sk-12345678-long cat"), "a [A_KEY] b [B_KEY] cat");
        assert!(matches!(masks.masked("nothing"), Cow::Borrowed(_)));
        assert!(!format!("{masks:?}").contains("1234"));
    }

    #[test]
    fn what_may_become_a_key_waits() {
        let masks = Masks::new([("A_KEY", "sk-12345678"), ("B_KEY", "sk-12345678-long")]);
        let mut sieve = Sieve::new(&masks);
        assert_eq!(sieve.push("a sk-1234"), "a ");
        assert_eq!((sieve.push("5678"), sieve.push("-lo")), (String::new(), String::new()));
        assert_eq!(sieve.push("st sk-12345678-long s"), "[A_KEY]-lost [B_KEY] ");
        assert_eq!(
            (sieve.push("o"), sieve.push(" sk-12345678"), sieve.finish()),
            ("so".into(), " ".into(), "[A_KEY]".into())
        );
    }

    proptest! {
        #[test]
        fn no_key_comes_out_however_the_text_is_cut(
            words in prop::collection::vec("sk-abcabc|sk-abcabcabc|ab|sk-|c\n|ü|abcabcab|x", 0..40),
            cuts in prop::collection::vec(0usize..400, 0..20),
        ) {
            let masks = Masks::new([("A", "sk-abcabc"), ("B", "sk-abcabcabc"), ("C", "abcabcab")]);
            let text = words.concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut.min(text.len()))).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let (mut sieve, mut whole) = (Sieve::new(&masks), Sieve::new(&masks));
            let mut out: String = cuts.windows(2).map(|pair| sieve.push(&text[pair[0]..pair[1]])).collect();
            out += &sieve.finish();
            for key in ["sk-abcabc", "abcabcab"] {
                prop_assert!(!out.contains(key), "{} in {}", key, out);
            }
            let all = whole.push(&text) + &whole.finish();
            prop_assert_eq!(out, all);
        }
    }
}
