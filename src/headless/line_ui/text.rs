//! Renders pages and lists without symbols and columns, for screen readers and scripts.

use rhumb_session::SettingRow;

/// The settings whose names contain `filter`, one per line.
pub(super) fn setting_lines(rows: &[SettingRow], filter: &str) -> Vec<String> {
    let line = |row: &SettingRow| {
        let value = if row.value.is_empty() { "not set" } else { &row.value };
        format!("{} = {value}, from {}. {}", row.name, row.origin, row.help)
    };
    let lines: Vec<String> = rows.iter().filter(|row| row.name.contains(filter)).map(line).collect();
    if lines.is_empty() { vec![format!("No setting has {filter} in its name.")] } else { lines }
}

/// A page of the program: symbols become words, and columns become commas.
pub(super) fn page(text: &str) -> String {
    text.lines().map(page_line).collect::<Vec<_>>().join("\n")
}

fn page_line(line: &str) -> String {
    let symbols = [("✓ ", "good: "), ("✗ ", "bad: "), ("· ", "lacking: "), ("→ ", "hint: ")];
    let start = line.trim_start();
    let symbol = symbols.into_iter().find_map(|(symbol, word)| Some((start.strip_prefix(symbol)?, word)));
    let text = symbol.map_or_else(|| line.to_owned(), |(rest, word)| format!("{word}{rest}"));
    let mut words = String::with_capacity(text.len());
    for part in text.split("  ").map(str::trim).filter(|part| !part.is_empty()) {
        if !words.is_empty() {
            words.push_str(if words.ends_with([':', ',', '.', ';']) { " " } else { ", " });
        }
        words.push_str(part);
    }
    words
}

/// A detail in a list, such as window and prices of a model, without dots and arrows.
pub(super) fn detail(text: &str) -> String {
    text.replace(" · ", ", ").replace("→ ", "for ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_a_page_are_words_and_its_columns_commas() {
        let text = "✓ version      rhumb 0.1.0\n· ctags        not found\n               → install it\n";
        assert_eq!(page(text), "good: version, rhumb 0.1.0\nlacking: ctags, not found\nhint: install it");
    }
}
