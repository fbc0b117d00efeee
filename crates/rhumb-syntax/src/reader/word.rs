//! Words of a text that look like names of code.

/// Shortest and longest word that is taken for a name, in bytes.
const WORD_BYTES: std::ops::RangeInclusive<usize> = 3..=64;

/// The identifiers in `text`, in order: letters, digits and underscores that do not begin with a digit.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| WORD_BYTES.contains(&word.len()) && !word.starts_with(|c: char| c.is_numeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_and_numbers_part_words() {
        let found: Vec<&str> = words("tide::Table<u8>.high_water(12, 3rd, é_tude, x)").collect();
        assert_eq!(found, ["tide", "Table", "high_water", "é_tude"]);
    }
}
