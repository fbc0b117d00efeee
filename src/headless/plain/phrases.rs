//! Words of the program that are made for the screen, as they are said where there is none: no keys, no panes, a word for each mark.

use rhumb_session::SettingRow;

/// What names a key or a place on the screen, and what is typed here instead. The longer ones come first.
#[rustfmt::skip] // a table
const PHRASES: &[(&str, &str)] = &[
    ("the prompt can be copied and a reply pasted", "the prompt can be printed and a reply put in"),
    ("the context pane shows the request", "/tokens shows the request"),
    ("Esc cancels the turn", "Ctrl-C stops the turn"),
    ("Esc stops that", "Ctrl-C stops that"),
    ("It is in the composer again; Enter sends it", "It is the draft again; /send sends it"),
    ("is in the composer again", "is the draft again"),
    ("The plan is in the composer", "The plan is the draft now"),
    ("Enter sends it to the editor model", "/editor changes it, /send sends it to the editor model"),
    ("There is a message in the composer", "There is a draft already"),
    ("Send it or clear it; then Alt-e takes the plan there", "/send sends it, /discard drops it; then answer again"),
    ("back into the composer, to change it and send it again", "back as the draft: /editor changes it, /send sends it"),
    ("Enter sends it", "/send sends it"),
    ("y accepts a hunk, Y a file, gy everything", "1 accepts hunk 1, all accepts everything"),
    ("The review shows the reason and the nearest places", "In the review, refused shows the reason and the nearest places"),
    ("; the conflict is shown at the top of the review", "; refused tells of it"),
    ("; the conflicts are shown at the top of the review", "; refused tells of them"),
    ("; the top of the review shows what was lost", "; refused tells what was lost"),
    ("The conflicts stand at the top of the review", "In the review, refused reads the conflicts"),
    (" Tab completes it.", ""),
    ("Type more of its name;", "Type more of its name."),
    ("copy the last answer", "print the last answer as it came, to be copied"),
    ("copy the whole prompt, to paste it into another chat", "print the whole prompt, to paste it into another chat"),
    ("take an image or a reply from the clipboard", "take a reply that you put in, or with a name a picture of the clipboard"),
    ("copy a bug report", "print a bug report"),
];

/// A sentence of the program in the words of this mode.
pub(super) fn in_words(text: &str) -> String {
    PHRASES.iter().fold(text.to_owned(), |text, (screen, line)| text.replace(screen, line))
}

/// The settings whose names hold a word, a line for each.
pub(super) fn setting_lines(rows: &[SettingRow], word: &str) -> Vec<String> {
    let line = |row: &SettingRow| {
        let value = if row.value.is_empty() { "not set" } else { &row.value };
        format!("{} = {value}, from {}. {}", row.name, row.origin, row.help)
    };
    let lines: Vec<String> = rows.iter().filter(|row| row.name.contains(word)).map(line).collect();
    if lines.is_empty() { vec![format!("No setting has {word} in its name.")] } else { lines }
}

/// A page of the program: marks become words.
pub(super) fn page(text: &str) -> String {
    let line = |line: &str| {
        let marks = [("✓ ", "good: "), ("✗ ", "bad: "), ("· ", "lacking: "), ("→ ", "hint: ")];
        let start = line.trim_start();
        let mark = marks.into_iter().find_map(|(mark, word)| Some((start.strip_prefix(mark)?, word)));
        let text = mark.map_or_else(|| line.to_owned(), |(rest, word)| format!("{word}{rest}"));
        // Columns mean nothing to the ear.
        let mut words = String::with_capacity(text.len());
        for part in text.trim_end().split("  ").map(str::trim).filter(|part| !part.is_empty()) {
            if !words.is_empty() {
                words.push_str(if words.ends_with([':', ',', '.', ';']) { " " } else { ", " });
            }
            words.push_str(part);
        }
        words
    };
    in_words(&text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// A detail in a list, such as window and prices of a model: no dots between its parts, no arrow.
pub(super) fn detail(text: &str) -> String {
    text.replace(" · ", ", ").replace("→ ", "for ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The texts in the sources of the session, tests and comments aside.
    fn said() -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut files = vec![root.join("src/session"), root.join("src/host")];
        let mut said = Vec::new();
        while let Some(path) = files.pop() {
            if let Ok(folder) = path.read_dir() {
                files.extend(folder.map(|entry| entry.unwrap().path()));
                continue;
            }
            if path.to_string_lossy().contains("tests") {
                continue;
            }
            let source = std::fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]").next().unwrap_or_default();
            let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            // The line of a text that goes on ends with a backslash.
            let code = code.join("\n").replace("\\\"", "'");
            let code = code.split("\\\n").map(str::trim_start).collect::<String>();
            said.extend(code.split('"').skip(1).step_by(2).map(str::to_owned));
        }
        assert!(said.len() > 1_000, "the sources are read");
        said
    }

    #[test]
    fn nothing_that_the_session_says_names_a_key_or_a_place_of_the_screen() {
        let keys = ["Esc ", "Enter ", "Tab ", "Alt-", "Ctrl-P", "F1 ", "F2", "F3", "F4", "F5", "F6"];
        let places = ["composer", "context pane", "review pane", "top of the review"];
        let is_of_screen = |text: &String| keys.iter().chain(&places).any(|word| text.contains(word));
        let left: Vec<String> = said().iter().map(|text| in_words(text)).filter(is_of_screen).collect();
        assert_eq!(left, [""; 0]);
    }

    #[test]
    fn every_phrase_that_has_other_words_here_is_still_said() {
        let said = said();
        let is_dead = |phrase: &&str| said.iter().all(|text| !text.contains(phrase));
        let dead: Vec<&str> = PHRASES.iter().map(|(phrase, _)| *phrase).filter(is_dead).collect();
        assert_eq!(dead, [""; 0]);
    }

    #[test]
    fn marks_of_a_page_are_words_and_its_columns_commas() {
        let text = "✓ version      rhumb 0.1.0\n· ctags        not found\n               → install it\n";
        assert_eq!(page(text), "good: version, rhumb 0.1.0\nlacking: ctags, not found\nhint: install it");
    }
}
