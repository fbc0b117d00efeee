//! Words of the program that are made for the screen, as they are said where there is none: no keys, no panes, a word for each mark.

use crate::session::SettingRow;

/// What names a key or a place on the screen, and what is typed here instead. The longer ones come first.
#[rustfmt::skip] // a table
const PHRASES: &[(&str, &str)] = &[
    ("F3 copies the whole prompt for a chat window, F4 takes the pasted reply into review; F2 looks for a model server on this machine",
     "/copy-context prints the whole prompt for a chat window, /paste takes the reply into review; /servers looks for a model server on this machine"),
    ("copy the prompt with F3", "print the prompt with /copy-context"),
    ("then paste again with F4", "then /paste again"),
    ("then press F4 here", "then type /paste here and put it in"),
    ("the prompt can be copied and a reply pasted", "the prompt can be printed and a reply put in"),
    ("F2 looks for", "/servers looks for"),
    ("look again with F2", "look again with /servers"),
    ("F5 shows it as it will be sent", "/prompt prints it as it will be sent"),
    ("F5 shows what is sent", "/prompt prints what is sent"),
    ("the context pane shows what is left of it", "/tokens says what is left of it"),
    ("Ctrl-P opens the file picker", "/files WORD lists the files with that word in their path"),
    ("Esc cancels the turn", "Ctrl-C stops the turn"),
    ("Esc stops that", "Ctrl-C stops that"),
    ("It is in the composer again; Enter sends it", "It is the draft again; /send sends it"),
    ("is in the composer again", "is the draft again"),
    ("The plan is in the composer", "The plan is the draft now"),
    ("Enter sends it to the editor model", "/editor changes it, /send sends it to the editor model"),
    ("There is another message in the composer", "There is another draft already"),
    ("There is a message in the composer", "There is a draft already"),
    ("Send it or clear it; then Alt-e takes the plan there", "/send sends it, /discard drops it; then answer again"),
    ("back into the composer, to change it and send it again", "back as the draft: /editor changes it, /send sends it"),
    ("Enter sends it", "/send sends it"),
    ("y accepts a hunk, Y a file, gy everything", "1 accepts hunk 1, all accepts everything"),
    ("then write again with w", "then write again"),
    ("The review says why, with the nearest places where there are any", "In the review, refused says why, with the nearest places where there are any"),
    ("; it is shown at the top of the review", "; refused tells of it"),
    ("; they are shown at the top of the review", "; refused tells of them"),
    (" Tab completes it.", ""),
    ("Type more of its name;", "Type more of its name."),
    ("copy the last answer", "print the last answer as it came, to be copied"),
    ("copy the whole prompt, for a chat window elsewhere", "print the whole prompt, for a chat window elsewhere"),
    ("take an image or a reply from the clipboard", "take a reply that you put in, or with a name a picture of the clipboard"),
    ("copy what a report of a fault should tell", "print what a report of a fault should tell"),
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
    use super::*;

    #[test]
    fn hints_name_no_key_of_the_screen() {
        for hint in [
            "Esc cancels the turn; then send again.",
            "F3 copies the whole prompt for a chat window, F4 takes the pasted reply into review; F2 looks for a model \
             server on this machine; or start with --base-url and --model.",
            "It is in the composer again; Enter sends it.",
            "Type more of its name; Tab completes it.",
            "Try 1 of 3; the context pane shows what is left of it.",
        ] {
            let said = in_words(hint);
            for word in ["Esc", "F2", "F3", "F4", "Enter", "Tab", "pane", "composer"] {
                assert!(!said.contains(word), "{said}");
            }
        }
    }

    #[test]
    fn marks_of_a_page_are_words_and_its_columns_commas() {
        let text = "✓ version      rhumb 0.1.0\n· ctags        not found\n               → install it\n";
        assert_eq!(page(text), "good: version, rhumb 0.1.0\nlacking: ctags, not found\nhint: install it");
    }
}
