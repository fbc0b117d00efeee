//! Keys that this program knows, taken out of what commands print.

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_replaced_by_its_name_and_short_words_stay() {
        let masks = Masks::new([("A_KEY", "sk-12345678"), ("B_KEY", "sk-12345678-long"), ("C_KEY", "cat")]);
        assert_eq!(masks.masked("a sk-12345678 b sk-12345678-long cat"), "a [A_KEY] b [B_KEY] cat");
        assert!(matches!(masks.masked("nothing"), Cow::Borrowed(_)));
        assert!(!format!("{masks:?}").contains("1234"));
    }
}
