//! Here documents of Perl. What they hold is text, often of another language, whose parsing takes longer than that of the
//! program around them; the tags of a file need none of it.

use std::borrow::Cow;

/// The source with the lines of its here documents blanked: as many bytes, the same positions.
pub(super) fn blanked(source: &str) -> Cow<'_, str> {
    if !source.contains("<<") {
        return Cow::Borrowed(source);
    }
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        out.push_str(line);
        at += 1;
        for name in openings(line) {
            let rest = lines.get(at..).unwrap_or_default();
            let Some(length) = rest.iter().position(|line| line.trim() == name) else { continue };
            rest.iter()
                .take(length)
                .for_each(|line| out.extend(line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' })));
            out.extend(rest.get(length).copied());
            at += length + 1;
        }
    }
    Cow::Owned(out)
}

/// The names behind the `<<` of a line: `<<EOF`, `<<"EOF"`, `<<~'EOF'`. A comment opens nothing.
fn openings(line: &str) -> impl Iterator<Item = &str> {
    let line = if line.trim_start().starts_with('#') { "" } else { line };
    line.match_indices("<<").filter_map(move |(at, sign)| {
        let rest = line.get(at + sign.len()..)?;
        let rest = rest.strip_prefix('~').unwrap_or(rest);
        let quoted = rest.strip_prefix(['"', '\'']);
        let name = quoted.unwrap_or(rest);
        let end = name.find(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).unwrap_or(name.len());
        let (name, after) = name.split_at(end);
        let closed = quoted.is_none() || after.starts_with(['"', '\'']);
        (closed && name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn here_documents_become_blanks() {
        let source = "$code.=<<___;\n mov\t$a, é\n___\nf(<<\"A\", <<~'B');\nx\nA\n y\n  B\nsub g {}\n";
        let fit = "$code.=<<___;\n           \n___\nf(<<\"A\", <<~'B');\n \nA\n  \n  B\nsub g {}\n";
        assert_eq!(blanked(source), fit);
    }

    #[test]
    fn shifts_and_comments_open_nothing() {
        for source in ["1 << 2;\nx\n", "$a <<FOO;\nx\n", "# <<A\nx\nA\n", "<<\"A;\nx\nA\n"] {
            assert_eq!(blanked(source), source);
        }
    }

    proptest! {
        #[test]
        fn positions_stay(source in "(<<|<<~|\"|'|A|B|\n|é| |;){0,40}") {
            let fit = blanked(&source);
            prop_assert_eq!(fit.len(), source.len());
            prop_assert!(fit.bytes().zip(source.bytes()).all(|(a, b)| a == b || (a == b' ' && b != b'\n')));
        }
    }
}
