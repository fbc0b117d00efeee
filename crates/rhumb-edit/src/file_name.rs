//! File names as models write them: in backticks, bold, as headings, in lists, with a colon behind.

/// Well-known names without a dot and without a slash.
pub(crate) const BARE: [&str; 14] = [
    "Makefile", "Dockerfile", "LICENSE", "README", "Gemfile", "Rakefile", "Procfile", "Vagrantfile", "Justfile",
    "justfile", "CHANGELOG", "Jenkinsfile", "BUILD", "WORKSPACE",
];

/// Words that announce a file name when a colon follows.
const LABELS: [&str; 12] = [
    "file", "path", "filename", "filepath", "file name", "file path", "new file", "updated file", "modified file",
    "in file", "in", "create",
];

/// Words before the name of a file that is shown in full.
const ANNOUNCERS: [&str; 16] = [
    "updated", "modified", "changed", "edited", "fixed", "corrected", "revised", "refactored", "improved", "rewritten",
    "new", "created", "added", "full", "complete", "final",
];

/// Extensions by which a word in a sentence is a file name and not, for example, a field access.
const EXTENSIONS: [&str; 62] = [
    "bash", "bat", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "csv", "cts", "dart", "env", "ex",
    "exs", "go", "gradle", "graphql", "h", "hpp", "hs", "htm", "html", "ini", "java", "js", "json", "jsx", "kt",
    "less", "lock", "lua", "md", "mdx", "mjs", "ml", "mts", "php", "pl", "proto", "ps1", "py", "pyi", "r", "rb", "rs",
    "rst", "scala", "scss", "sh", "sql", "svelte", "swift", "toml", "ts", "tsx", "txt", "vue", "yaml", "yml",
];

/// Extensions of shell scripts. A shell fence under such a name is a file; otherwise it has commands to run.
const SCRIPTS: [&str; 8] = ["sh", "bash", "zsh", "fish", "ps1", "bat", "cmd", "ksh"];

/// Maximum number of layers of decoration that are removed.
const MAX_LAYERS: usize = 16;

/// All readings of the line as a name: the line itself first, then with one layer of decoration less each.
pub(crate) fn readings(line: &str) -> Vec<&str> {
    let mut readings = vec![line];
    let mut name = line;
    while let Some(inner) = peeled(name).filter(|_| readings.len() <= MAX_LAYERS) {
        readings.push(inner);
        name = inner;
    }
    readings
}

/// The name without Markdown and without words like `File:`.
pub(crate) fn undecorated(line: &str) -> &str {
    readings(line).last().copied().unwrap_or(line)
}

/// Whether the line marks its name as a code span or with a label, so that spaces belong to the name.
pub(crate) fn is_marked(line: &str) -> bool {
    let layers = readings(line);
    let span = |layer: &&str| layer.len() > 2 && layer.starts_with('`') && layer.ends_with('`');
    let inner_ticks = undecorated(line).contains('`');
    !inner_ticks && layers.iter().any(|layer| span(layer) || labelled(layer).is_some())
}

/// The text without its outermost layer of decoration; `None` if it has none. Always shorter.
fn peeled(name: &str) -> Option<&str> {
    let trimmed = name.trim();
    if trimmed.len() < name.len() {
        return Some(trimmed);
    }
    let unquoted = |mark: char| name.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    let stars = name.trim_matches('*');
    let marks = if stars.len() < name.len() { stars } else { name.trim_matches('`') };
    list_item(name)
        .or_else(|| name.strip_prefix('#').map(|rest| rest.trim_start_matches('#')))
        .or_else(|| name.strip_suffix(':'))
        .or_else(|| (marks.len() < name.len()).then_some(marks))
        .or_else(|| unquoted('"').or_else(|| unquoted('\'')))
        .or_else(|| labelled(name))
        .or_else(|| announced(name))
        .or_else(|| linked(name))
        .or_else(|| commented(name))
        .or_else(|| remarked(name))
        .or_else(|| without_line_number(name))
}

/// The name before a line number: `a.py:7`, `a.py:7-9`, `a.py#L7`.
fn without_line_number(name: &str) -> Option<&str> {
    let (path, line) = name.rsplit_once(':').or_else(|| name.rsplit_once("#L"))?;
    let is_line_number = line.starts_with(|c: char| c.is_ascii_digit())
        && line.chars().all(|c| c.is_ascii_digit() || matches!(c, '-' | 'L' | ':'));
    (is_line_number && path.contains('.')).then_some(path)
}

/// Whether the line is a list item.
pub(crate) fn is_item(line: &str) -> bool {
    list_item(line.trim()).is_some()
}

/// The text after a bullet, a number (`1.`, `2)`) or a block quote sign.
fn list_item(name: &str) -> Option<&str> {
    let (mark, rest) = name.split_once(' ')?;
    let number = mark.strip_suffix(['.', ')']).unwrap_or_default();
    let numbered = !number.is_empty() && number.len() <= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    (numbered || ["-", "*", "+", "•", ">"].contains(&mark)).then_some(rest)
}

fn labelled(name: &str) -> Option<&str> {
    let (label, rest) = name.split_once(':')?;
    let label = label.trim_matches(|c: char| c == '*' || c.is_whitespace()).to_lowercase();
    LABELS.contains(&label.as_str()).then_some(rest)
}

/// The path in `Updated src/a.py`.
fn announced(name: &str) -> Option<&str> {
    let (word, path) = name.split_once(' ')?;
    let plain = path.trim_matches(['`', '*']);
    let is_path = !plain.contains(char::is_whitespace) && is_word_path(plain);
    (is_path && ANNOUNCERS.contains(&word.to_lowercase().as_str())).then_some(path)
}

/// The text of a Markdown link.
fn linked(name: &str) -> Option<&str> {
    let (text, target) = name.strip_prefix('[')?.split_once("](")?;
    (target.ends_with(')') && !target.contains(' ')).then_some(text)
}

/// The text of a comment: the first line of a fence may name the file in a comment.
fn commented(name: &str) -> Option<&str> {
    let closed = |open: &str, close: &str| name.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    let comment = name.strip_prefix("// ").or_else(|| name.strip_prefix("-- "));
    comment.or_else(|| closed("<!-- ", " -->")).or_else(|| closed("/* ", " */"))
}

/// The path in `src/a.py (new file)`, if it has no spaces.
fn remarked(name: &str) -> Option<&str> {
    let (path, remark) = name.split_once(" (")?;
    let plain = path.trim_matches(['`', '*']);
    (remark.ends_with(')') && !plain.contains(char::is_whitespace) && is_word_path(plain)).then_some(path)
}

/// The name in the info string of a fence: alone, after the language, or in quotes.
pub(crate) fn in_info(info: &str) -> Option<String> {
    if let Some((_, rest)) = info.split_once("=\"")
        && let Some((quoted, _)) = rest.split_once('"')
        && has_extension(quoted)
    {
        return Some(quoted.to_owned());
    }
    if let Some((language, path)) = info.split_once(':')
        && !language.contains(' ')
        && path.contains(' ')
        && knows_extension(path)
    {
        return Some(path.trim().to_owned());
    }
    let last = info.rsplit([' ', ':', '=']).next().unwrap_or_default().trim_matches(['"', '\'', '`', '{', '}']);
    let path = is_word_path(last) && !last.starts_with(['{', '[']) && !BARE.contains(&last);
    path.then(|| last.to_owned())
}

/// Whether a word has the form of a path: a slash, an extension, or a well-known name.
pub(crate) fn is_word_path(word: &str) -> bool {
    if BARE.contains(&word) {
        return true;
    }
    let slashed = word.contains(['/', '\\']) && !word.ends_with(['/', '\\']);
    let formed = slashed || has_extension(word);
    let code = word.contains("://") || word.contains([';', '\n']) || (word.starts_with('<') && word.contains('>'));
    formed && !code && word.len() <= 255 && !word.ends_with('.') && word.chars().any(char::is_alphanumeric)
}

/// Whether the last part of the path has an extension like `.py`, or is a hidden file.
pub(crate) fn has_extension(path: &str) -> bool {
    let named = |extension: &str| {
        extension.len() <= 12
            && extension.chars().any(char::is_alphabetic)
            && extension.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '~'))
    };
    base(path).rsplit_once('.').is_some_and(|(_, extension)| named(extension))
}

/// Whether the extension is a well-known one.
pub(crate) fn knows_extension(path: &str) -> bool {
    let extension = base(path).rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.to_lowercase().as_str()))
}

/// Whether the path is that of a shell script.
pub(crate) fn is_script(path: &str) -> bool {
    let extension = base(path).rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| SCRIPTS.contains(&extension))
}

pub(crate) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoration_is_removed() {
        for line in [
            "src/a.py",
            "src/a.py  ",
            "`src/a.py`",
            "`src/a.py`:",
            "**src/a.py**",
            "**src/a.py**:",
            "**`src/a.py`**",
            "### src/a.py",
            "### 1. `src/a.py`",
            "1. `src/a.py`",
            "2) **src/a.py**:",
            "- src/a.py",
            "> src/a.py",
            "#### `src/a.py`:",
            "File: src/a.py",
            "**File:** `src/a.py`",
            "File path: src/a.py",
            "`src/a.py` (new file):",
            "### [src/a.py](src/a.py)",
            "// src/a.py",
            "# src/a.py",
            "<!-- src/a.py -->",
            "Updated src/a.py:",
            "### New `src/a.py`",
            "**Modified src/a.py**:",
        ] {
            assert_eq!(undecorated(line), "src/a.py", "{line}");
        }
        for name in [
            "app/(group)/page.tsx", "[slug].tsx", "+page.svelte", "@x.py", "a=b.py", "it's \"q\".py", "größe.py",
            "__init__.py",
        ] {
            assert_eq!(undecorated(name), name);
        }
    }

    #[test]
    fn the_line_as_it_stands_is_the_first_reading() {
        assert_eq!(readings("# a.py "), ["# a.py ", "# a.py", " a.py", "a.py"]);
        assert_eq!(readings("\"q\".py"), ["\"q\".py"]);
    }

    #[test]
    fn the_info_string_of_a_fence_may_name_a_file() {
        for (info, path) in [
            ("python:src/a.py", Some("src/a.py")),
            ("tsx app/(group)/page.tsx", Some("app/(group)/page.tsx")),
            ("python title=\"a dir/my file.py\"", Some("a dir/my file.py")),
            ("python:a dir/my file.py", Some("a dir/my file.py")),
            ("rust", None),
            ("python {1-3}", None),
            ("", None),
        ] {
            assert_eq!(in_info(info).as_deref(), path, "{info}");
        }
    }
}
