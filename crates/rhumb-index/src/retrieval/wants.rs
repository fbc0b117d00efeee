//! What a model asks for when the passages it was given do not suffice: a small block at the end of its answer, read strictly.

/// The info string of the block.
pub const WANTS_FENCE: &str = "rhumb-search";

/// Most lines of a block that count.
const MOST: usize = 6;
/// Most characters of what is searched for.
const MOST_WORDS: usize = 300;
/// Most lines that one wish reads.
const MOST_LINES: u32 = 400;

/// One thing that a model wants to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    /// What speaks of these words.
    Search(String),
    /// The definitions of this name.
    Symbol(String),
    /// These lines of a file, both 1-based and inclusive.
    Read {
        /// Path under the root.
        path: String,
        /// First line.
        line: u32,
        /// Last line.
        end_line: u32,
    },
}

/// What the model asks for at the end of its answer; empty where it answers. What stands behind the block, or is no line of it,
/// makes it no block: better one round too few than one for a text that only speaks of the form.
pub fn wants(reply: &str) -> Vec<Want> {
    let Some(block) = last_block(reply) else { return Vec::new() };
    let lines = block.into_iter().map(str::trim).filter(|line| !line.is_empty());
    let Some(mut wants) = lines.map(want).collect::<Option<Vec<Want>>>() else { return Vec::new() };
    let mut seen: Vec<Want> = Vec::new();
    wants.retain(|want| {
        !seen.contains(want) && {
            seen.push(want.clone());
            true
        }
    });
    wants.truncate(MOST);
    wants
}

/// The inside of the block that a reply ends in. A block that the model forgot to close ends with the reply.
fn last_block(reply: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = reply.lines().map(str::trim_end).collect();
    let is_fence = |line: &str| line.starts_with("```");
    let opens = |line: &&str| is_fence(line) && line.trim_start_matches('`').trim() == WANTS_FENCE;
    let inside = lines.get(lines.iter().rposition(opens)? + 1..)?;
    let end = inside.iter().position(|line| is_fence(line)).unwrap_or(inside.len());
    let (block, behind) = inside.split_at(end);
    behind.iter().all(|line| line.trim_matches('`').trim().is_empty()).then(|| block.to_vec())
}

fn want(line: &str) -> Option<Want> {
    let (kind, what) = line.trim_start_matches(['-', '*', ' ']).split_once(':')?;
    let what = what.trim().trim_matches(['`', '"']).trim();
    if what.is_empty() {
        return None;
    }
    match kind.trim() {
        "search" => Some(Want::Search(what.chars().take(MOST_WORDS).collect())),
        "symbol" if !what.contains(char::is_whitespace) => Some(Want::Symbol(what.trim_end_matches("()").to_owned())),
        "read" => read(what),
        _ => None,
    }
}

/// `path:10-80`, `path:10`, or `path` for its beginning.
fn read(what: &str) -> Option<Want> {
    let numbers = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some((first.trim().parse::<u32>().ok()?, last.trim().parse::<u32>().ok()?))
    };
    let (path, (line, end_line)) = match what.rsplit_once(':') {
        Some((path, lines)) if lines.starts_with(|c: char| c.is_ascii_digit()) => (path, numbers(lines)?),
        _ => (what, (1, MOST_LINES)),
    };
    let path = path.trim().trim_start_matches("./");
    if path.is_empty() || line == 0 || end_line < line {
        return None;
    }
    let end_line = end_line.min(line.saturating_add(MOST_LINES - 1));
    Some(Want::Read { path: path.to_owned(), line, end_line })
}

impl std::fmt::Display for Want {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Search(words) => write!(f, "search: {words}"),
            Self::Symbol(name) => write!(f, "symbol: {name}"),
            Self::Read { path, line, end_line } => write!(f, "read: {path}:{line}-{end_line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_block_at_the_end_of_an_answer_is_read() {
        let reply = "I need more.\n\n```rhumb-search\nsearch: how ships moor\nsymbol: Berth.moor()\nread: ./a.py:10-80\n\
                     read: a.py:7\n```\n";
        let expected = [
            Want::Search("how ships moor".into()),
            Want::Symbol("Berth.moor".into()),
            Want::Read { path: "a.py".into(), line: 10, end_line: 80 },
            Want::Read { path: "a.py".into(), line: 7, end_line: 7 },
        ];
        assert_eq!(wants(reply), expected);
        assert_eq!(wants("```rhumb-search\nsearch: x"), [Want::Search("x".into())], "not closed");
        assert_eq!(wants("````rhumb-search\n- symbol: `x`\n- symbol: x\n````"), [Want::Symbol("x".into())], "once");
    }

    #[test]
    fn what_is_no_block_at_the_end_asks_for_nothing() {
        for reply in [
            "",
            "No block.",
            "```rhumb-search\n```",
            "```rhumb-search\nsearch:\n```",
            "```rhumb-search\nsearch: x\nrun: rm -rf /\n```",
            "```rhumb-search\nsearch: x\n```\nAnd so the answer is 7.",
            "```text\nsearch: x\n```",
            "Say ```rhumb-search in a line.\nsearch: x",
            "```rhumb-search\nread: a.py:0-3\n```",
            "```rhumb-search\nread: a.py:9-3\n```",
            "```rhumb-search\nread: a.py:99999999999\n```",
            "```rhumb-search\nsymbol: two words\n```",
        ] {
            assert_eq!(wants(reply), [], "{reply}");
        }
    }

    #[test]
    fn wishes_are_bounded() {
        let many: String = (0..40).map(|n| format!("search: {n} {}\n", "x".repeat(2_000))).collect();
        let wishes = wants(&format!("```rhumb-search\n{many}```"));
        assert_eq!(wishes.len(), MOST);
        assert!(wishes.iter().all(|want| want.to_string().len() <= MOST_WORDS + 8));
        let all = wants("```rhumb-search\nread: a.py:1-4000000000\n```");
        assert_eq!(all, [Want::Read { path: "a.py".into(), line: 1, end_line: MOST_LINES }]);
    }

    proptest! {
        #[test]
        fn junk_is_no_wish_and_no_panic(junk in "(\\PC|\n|`{3,4}|rhumb-search|search: |read: |symbol: |:[0-9]{1,3}-?){0,30}") {
            for want in wants(&junk) {
                prop_assert_eq!(wants(&format!("```rhumb-search\n{want}\n```")), [want]);
            }
        }
    }
}
