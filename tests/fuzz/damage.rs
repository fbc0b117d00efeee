//! Ways to damage a text, and text to insert.

use proptest::prelude::{Just, any, prop, prop_oneof};
use proptest::sample::Index;
use proptest::strategy::Strategy;

/// One way to damage a text.
#[derive(Debug, Clone)]
pub enum Damage {
    DropLine(Index),
    DoubleLine(Index),
    SwapLines(Index, Index),
    MoveLine(Index, Index),
    Insert(Index, &'static str),
    Indent(Index, usize, &'static str),
    Dedent(Index, usize),
    Letter(Index, char),
    DropLetter(Index),
    Cut(Index),
    Behead(Index),
    Splice(Index, Index),
    Rename(&'static str),
    WindowsEnds,
    Unfenced,
}

/// Lines with a meaning in an edit format, and similar ones.
pub const LINES: [&str; 50] = [
    "",
    "```",
    "```diff",
    "```python",
    "```sh",
    "````",
    "~~~",
    "  ```",
    "<<<<<<< SEARCH",
    "=======",
    ">>>>>>> REPLACE",
    "<<<<<<< HEAD",
    ">>>>>>> main",
    "||||||| base",
    "--- a/src/pump.py",
    "+++ b/src/pump.py",
    "--- /dev/null",
    "+++ /dev/null",
    "---",
    "+++",
    "@@",
    "@@ -1,3 +1,4 @@ class Pump:",
    "@@ ... @@",
    "\\ No newline at end of file",
    "diff --git a/src/pump.py b/src/pump.py",
    "diff --git a/src/pump.py b/src/mast.py",
    "rename from src/pump.py",
    "rename to src/mast.py",
    "similarity index 90%",
    "deleted file mode 100644",
    "new file mode 100644",
    "*** Begin Patch",
    "*** End Patch",
    "*** Update File: src/pump.py",
    "*** Add File: src/mast.py",
    "*** Delete File: src/pump.py",
    "*** Move to: src/keel.py",
    "*** End of File",
    "src/pump.py",
    "../pump.py",
    ".git/config",
    "### `src/pump.py`",
    "Then change the pump:",
    "...",
    "# ... existing code ...",
    "-",
    "+",
    " ",
    "\u{feff}",
    "cat <<'EOF' > src/pump.py",
];

/// Names that must never be written, and unusual ones that may.
pub const NAMES: [&str; 18] = [
    "../pump.py",
    "/etc/passwd",
    "/home/me/harbour/../x.py",
    "/home/me/harbour/.git/hooks/pre-commit",
    ".git/config",
    ".GIT/config",
    ".git./config",
    "sub/.git/config",
    "sub/../../x.py",
    "..\\..\\x.py",
    "C:\\x.py",
    "~/x.py",
    "a\0b.py",
    "\u{202e}x.py",
    "src",
    "src/pump.py/x",
    "a dir/new file.py",
    "x/./y//z.py",
];

pub fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    let indents = prop::sample::select(vec![" ", "    ", "\t", "+", "-", "> ", "\\"]);
    let letters = prop::sample::select(vec!['x', ' ', '\n', '\r', '\t', '`', '"', '…', 'é', '\0', '\u{feff}', '\u{c}']);
    prop_oneof![
        3 => at().prop_map(Damage::DropLine),
        2 => at().prop_map(Damage::DoubleLine),
        2 => (at(), at()).prop_map(|(a, b)| Damage::SwapLines(a, b)),
        1 => (at(), at()).prop_map(|(a, b)| Damage::MoveLine(a, b)),
        4 => (at(), prop::sample::select(LINES.to_vec())).prop_map(|(at, line)| Damage::Insert(at, line)),
        2 => (at(), 1..8usize, indents).prop_map(|(at, count, indent)| Damage::Indent(at, count, indent)),
        2 => (at(), 1..8usize).prop_map(|(at, count)| Damage::Dedent(at, count)),
        3 => (at(), letters).prop_map(|(at, letter)| Damage::Letter(at, letter)),
        2 => at().prop_map(Damage::DropLetter),
        1 => at().prop_map(Damage::Cut),
        1 => at().prop_map(Damage::Behead),
        2 => (at(), at()).prop_map(|(other, at)| Damage::Splice(other, at)),
        1 => prop::sample::select(NAMES.to_vec()).prop_map(Damage::Rename),
        1 => Just(Damage::WindowsEnds),
        1 => Just(Damage::Unfenced),
    ]
}

impl Damage {
    /// The damaged text. `paths` are names in it that may be changed, `others` texts from which a piece may be inserted.
    pub fn done_to(&self, text: &str, paths: &[&str], others: &[&str]) -> String {
        let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
        let count = lines.len();
        let place = |index: &Index| index.index(count);
        match self {
            Self::DropLine(at) => drop(lines.remove(place(at))),
            Self::DoubleLine(at) => lines.insert(place(at), lines[place(at)].clone()),
            Self::SwapLines(one, other) => lines.swap(place(one), place(other)),
            Self::MoveLine(from, to) => {
                let (from, to) = (place(from), place(to));
                let line = lines.remove(from);
                lines.insert(to, line);
            }
            Self::Insert(at, line) => lines.insert(place(at), (*line).to_owned()),
            Self::Indent(at, count, indent) => {
                lines.iter_mut().skip(place(at)).take(*count).for_each(|l| l.insert_str(0, indent));
            }
            Self::Dedent(at, count) => {
                let dedented = |line: &mut String| *line = line.trim_start().to_owned();
                lines.iter_mut().skip(place(at)).take(*count).for_each(dedented);
            }
            Self::Letter(at, letter) => {
                let at = boundary(text, at);
                return format!("{}{letter}{}", &text[..at], &text[at..]);
            }
            Self::DropLetter(at) => {
                let at = boundary(text, at);
                let mut tail = text[at..].chars();
                tail.next();
                return format!("{}{}", &text[..at], tail.as_str());
            }
            Self::Cut(at) => return text[..boundary(text, at)].to_owned(),
            Self::Behead(at) => return text[boundary(text, at)..].to_owned(),
            Self::Splice(other, at) => {
                if others.is_empty() {
                    return text.to_owned();
                }
                let other: Vec<&str> = others[other.index(others.len())].split('\n').collect();
                let at = place(at);
                lines.splice(at..at, other.iter().map(|line| (*line).to_owned()));
            }
            Self::Rename(name) => {
                return paths.iter().fold(text.to_owned(), |text, path| text.replace(path, name));
            }
            Self::WindowsEnds => return text.replace("\r\n", "\n").replace('\n', "\r\n"),
            Self::Unfenced => lines.retain(|line| !line.trim_start().starts_with("```")),
        }
        lines.join("\n")
    }
}

/// A position between two characters.
pub fn boundary(text: &str, at: &Index) -> usize {
    let at = at.index(text.len() + 1);
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The text after some damage.
pub fn damaged(text: &str, done: &[Damage], others: &[&str]) -> String {
    done.iter().fold(text.to_owned(), |text, damage| damage.done_to(&text, &[], others))
}

/// `text` in pieces that end at these positions.
pub fn cut<'t>(bytes: &'t [u8], cuts: &[Index]) -> Vec<&'t [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).chain([0, bytes.len()]).collect();
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).filter(|piece| !piece.is_empty()).collect()
}
