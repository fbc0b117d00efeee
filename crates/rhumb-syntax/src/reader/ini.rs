//! Settings line by line: `[section]`, `key = value`, as in INI, `.properties`, `.env` and git's configuration.

use super::outline::{Entry, Outline};
use crate::tag::{FileTags, SymbolKind};

/// The tags of a file of settings.
pub(crate) fn tags(source: &str) -> FileTags {
    let mut outline = Outline::default();
    let (mut last, mut continued, mut doc) = (0, false, "");
    for (line, text) in (1u32..).zip(source.trim_start_matches('\u{feff}').lines()) {
        let body = text.trim();
        let is_continued = std::mem::replace(&mut continued, body.ends_with('\\'));
        if body.is_empty() {
            continue;
        }
        if body.starts_with(['#', ';', '!']) {
            doc = if doc.is_empty() { body.trim_start_matches(['#', ';', '!', ' ']) } else { doc };
            continue;
        }
        // What is indented or follows a backslash belongs to the value above.
        let is_new = !is_continued && (!text.starts_with([' ', '\t']) || text.contains('='));
        if is_new && let Some((depth, kind, name)) = entry(body) {
            outline.push(&Entry { depth, kind, name, signature: body, line, doc });
        }
        doc = "";
        last = line;
        outline.extend_to(line);
    }
    FileTags { definitions: outline.finish(last.max(1)), ..FileTags::default() }
}

fn entry(body: &str) -> Option<(usize, SymbolKind, &str)> {
    if let Some(section) = body.strip_prefix('[') {
        return Some((1, SymbolKind::Section, section.split_once(']')?.0.trim()));
    }
    let (key, _) = body.split_once(['=', ':'])?;
    let key = key.trim();
    let key = key.strip_prefix("export ").unwrap_or(key);
    (!key.contains(char::is_whitespace)).then_some((2, SymbolKind::Key, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_belong_to_their_section() {
        let source = "top=1\n[tide \"x\"]\n  ; metres\n  height = 1,\\\n  low=2\n\nlist =\n  a\n  b\n";
        let found = tags(source).definitions.into_iter();
        let found: Vec<_> = found.map(|found| (found.name, found.container, found.line, found.end_line)).collect();
        let section = Some("tide \"x\"".to_owned());
        let expected = [
            ("top".to_owned(), None, 1, 1),
            ("tide \"x\"".to_owned(), None, 2, 9),
            ("height".to_owned(), section.clone(), 4, 5),
            ("list".to_owned(), section, 7, 9),
        ];
        assert_eq!(found, expected);
    }
}
