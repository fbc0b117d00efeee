//! A light stem, so that a message and a name that use two forms of a word still meet.

/// Endings, longest first, that a word loses once; what stays must have three letters.
const ENDINGS: [&str; 9] = ["ations", "ation", "ings", "ing", "ers", "ed", "es", "er", "s"];

/// The stem of a word in lower case: without one of the usual endings, without the doubled consonant that an ending
/// leaves (`splitting`, `split`), and without a final `e`. It only has to treat a message and a name alike, not to be
/// right about English. Words that are not ASCII stay whole.
pub fn stemmed(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let cut = ENDINGS
        .iter()
        .filter(|ending| !(**ending == "s" && word.ends_with("ss")))
        .find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.len() >= 3));
    let stem = cut.unwrap_or(word);
    let stem = match stem.as_bytes() {
        [.., a, b] if a == b && stem.len() > 3 && cut.is_some() && !b"sl".contains(b) => &stem[..stem.len() - 1],
        _ => stem,
    };
    stem.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["cache", "caches", "cached", "caching"][..],
            &["match", "matches", "matched", "matching", "matcher"],
            &["split", "splits", "splitting", "splitter"],
            &["call", "calls", "called", "caller"],
        ] {
            assert!(forms.iter().all(|form| stemmed(form) == stemmed(forms[0])), "{forms:?}");
        }
        assert_eq!(stemmed("class"), "class");
        assert_eq!(stemmed("is"), "is");
        assert_eq!(stemmed("größer"), "größer");
    }

    proptest! {
        #[test]
        fn a_stem_is_the_beginning_of_its_word(word in "\\PC{0,12}") {
            prop_assert!(word.starts_with(stemmed(&word)));
            prop_assert!(word.is_empty() || !stemmed(&word).is_empty());
        }
    }
}
