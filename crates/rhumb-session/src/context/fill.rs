//! Placeholders in prompts: `{name}` is replaced by a value.

/// The values of placeholders: a name, and the value if known.
pub(super) type Values<'v> = [(&'static str, Option<&'v str>)];

/// The text with its placeholders replaced.
///
/// A line with a placeholder without a value is left out. Other words in braces are kept, and values are not searched for
/// placeholders.
pub(super) fn fill(text: &str, values: &Values<'_>) -> String {
    let mut filled = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if let Some(line) = fill_line(line, values) {
            filled.push_str(&line);
        }
    }
    filled
}

fn fill_line(line: &str, values: &Values<'_>) -> Option<String> {
    let mut filled = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, name, after)) = next(rest) {
        filled.push_str(before);
        match values.iter().find(|(known, _)| *known == name) {
            Some((_, value)) => filled.push_str((*value)?),
            None => filled.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

/// The names in braces in order, with repetitions.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, name, after) = next(rest)?;
        rest = after;
        Some(name)
    })
}

/// The next name in braces: the text before it, the name, and the text after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let inner = &text[open + 1..];
        let end = inner.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        if let Some(end) = end.filter(|&end| end > 0 && inner[end..].starts_with('}')) {
            return Some((&text[..open], &inner[..end], &inner[end + 1..]));
        }
        from = open + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_take_their_places_and_nothing_else_moves() {
        let values = [("fence", Some("````")), ("shell", None), ("test", Some("{fence}"))];
        assert_eq!(
            fill("{fence}rs\nfn a() {}\n- {shell}\n{test} {what}{", &values),
            "````rs\nfn a() {}\n{fence} {what}{"
        );
        assert_eq!(placeholders("{a}{b_c} { d } {E} {} {a}").collect::<Vec<_>>(), ["a", "b_c", "a"]);
    }

    proptest! {
        #[test]
        fn a_text_without_our_placeholders_stays_as_it_is(text in "[{}a-c_ \\né]{0,60}") {
            prop_assert_eq!(fill(&text, &[("fence", None)]), text);
        }
    }
}
