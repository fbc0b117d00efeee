//! File names as models write them: in backticks, bold, as headings, with a colon behind.

/// Names of files that have neither a dot nor a slash.
const BARE: [&str; 14] = [
    "Makefile",
    "Dockerfile",
    "LICENSE",
    "README",
    "Gemfile",
    "Rakefile",
    "Procfile",
    "Vagrantfile",
    "Justfile",
    "justfile",
    "CHANGELOG",
    "Jenkinsfile",
    "BUILD",
    "WORKSPACE",
];

/// The name freed of Markdown and of words like `File:`.
pub(super) fn undecorated(line: &str) -> &str {
    let mut name = line.trim();
    loop {
        let before = name;
        name = name.trim_matches(|c: char| matches!(c, '`' | '*' | '"' | '\'') || c.is_whitespace());
        name = name.trim_start_matches('#').trim_start().trim_end_matches(':').trim_end();
        for label in ["File:", "file:", "Path:", "path:", "Filename:", "filename:", "filepath:"] {
            name = name.strip_prefix(label).unwrap_or(name);
        }
        if name == before {
            return name;
        }
    }
}

/// The file name that a line consists of, if it does.
pub(super) fn file_name(line: &str) -> Option<String> {
    let name = undecorated(line);
    let quoted = line.contains('`');
    is_path(name, quoted).then(|| name.to_owned())
}

/// The one file name that a sentence mentions in backticks.
pub(super) fn mentioned(line: &str) -> Option<String> {
    let mut found = line.split('`').skip(1).step_by(2).filter(|name| is_path(name.trim(), true));
    let name = found.next()?.trim().to_owned();
    found.all(|other| other.trim() == name).then_some(name)
}

/// The file name in the info string of a fence: alone, or behind the language.
pub(super) fn in_info(info: &str) -> Option<String> {
    let last = info.rsplit([' ', ':', '=']).next().unwrap_or_default().trim_matches(['"', '\'', '`', '{', '}']);
    let path = is_path(last, false) && (last.contains('/') || last.contains('.'));
    path.then(|| last.to_owned())
}

fn is_path(name: &str, spaces: bool) -> bool {
    if name.is_empty() || name.len() > 200 || name.ends_with('.') || name.ends_with('/') {
        return false;
    }
    if name.starts_with(['<', '=', '>', '(', '[', '{', '|', '@', '&', '+']) || name.contains("://") {
        return false;
    }
    if name.contains(['\n', ';', '(', ')', '=', '"', '`', '*']) || (!spaces && name.contains(char::is_whitespace)) {
        return false;
    }
    let shaped = name.contains('/') || name.contains('.') || name.contains('\\');
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    // In a back-quoted phrase only the last part may say that it is a file.
    let dotted = !spaces || !name.contains(' ') || last.contains('.');
    (shaped && dotted && name.chars().any(char::is_alphanumeric)) || BARE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_falls_off() {
        for line in ["src/a.py", "`src/a.py`", "**src/a.py**:", "### src/a.py", "#### `src/a.py`:", "File: src/a.py"] {
            assert_eq!(file_name(line).as_deref(), Some("src/a.py"), "{line}");
        }
        assert_eq!(file_name("Makefile").as_deref(), Some("Makefile"));
        assert_eq!(file_name("`my notes/read me.txt`").as_deref(), Some("my notes/read me.txt"));
    }

    #[test]
    fn prose_is_no_file_name() {
        for line in ["Done.", "Then:", "see src/a.py for more", "", "```", "foo();", "=======", "https://a.b/c"] {
            assert_eq!(file_name(line), None, "{line}");
        }
    }

    #[test]
    fn a_sentence_may_mention_one_file() {
        assert_eq!(mentioned("Now `src/a.py` becomes:").as_deref(), Some("src/a.py"));
        assert_eq!(mentioned("Both `a.py` and `b.py`"), None);
        assert_eq!(in_info("python:src/a.py").as_deref(), Some("src/a.py"));
        assert_eq!(in_info("rust"), None);
    }
}
