//! The plan of the house, enforced: every path that a source file names is held against the direction of the rooms.
//!
//! Text ← meaning ← world ← session ← face. A lower room never names a higher one, pure rooms never name a terminal, a
//! network, a file or a clock, and no file grows past a ceiling. The check reads tokens, not types: it knows `use`
//! trees, inline paths, `super`, and names brought in by an earlier `use`; it skips whatever is compiled for tests only.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

/// The most lines that a file may have, code for tests aside.
const LINE_CEILING: usize = 500;

/// The rooms of each layer, lowest first.
const LAYERS: [(&str, &[&str]); 5] = [
    ("text", &["text", "diff", "tokens", "error"]),
    ("meaning", &["syntax", "lexical", "repo_map", "edit", "models", "review", "context", "retrieval"]),
    ("world", &["clock", "version", "workspace", "git", "llm", "process", "store", "config", "web", "speech", "demo"]),
    ("session", &["session", "bench"]),
    ("face", &["tui", "headless", "cli", "main"]),
];
const MEANING: usize = 1;
const WORLD: usize = 2;
const FACE: usize = 4;

/// What each room of meaning may name within its own layer: two wings, and `context` above both.
const MEANING_MAY_NAME: [(&str, &[&str]); 8] = [
    ("syntax", &[]),
    ("lexical", &["syntax"]),
    ("repo_map", &["syntax", "lexical"]),
    ("retrieval", &["syntax", "lexical", "repo_map"]),
    ("edit", &["syntax"]),
    ("models", &["edit"]),
    ("review", &["syntax", "edit"]),
    ("context", &["syntax", "lexical", "repo_map", "retrieval", "edit", "models", "review"]),
];

/// Rooms of the world that the others may name: settings, and the types of a file as it was read.
const WORLD_SHARED: [&str; 2] = ["config", "workspace"];

const PURE_NEVER: [&str; 12] = [
    "ratatui",
    "crossterm",
    "tokio",
    "tokio_util",
    "reqwest",
    "git2",
    "std::fs",
    "std::env",
    "std::time::Instant",
    "std::time::SystemTime",
    "std::process",
    "std::net",
];
const FACE_NEVER: [&str; 2] = ["reqwest", "git2"];
const SESSION_NEVER: [&str; 3] = ["tokio", "reqwest", "git2"];

/// A rule broken at a line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Violation {
    path: String,
    /// 1-based.
    line: usize,
    text: String,
    why: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} — {}", self.path, self.line, self.text, self.why)
    }
}

/// Every violation in `files`, pairs of a path (`src/room/file.rs`) and its text, in order of path and line.
fn check(files: &[(&str, &str)]) -> Vec<Violation> {
    let sources: Vec<Source> = files.iter().map(|(path, text)| Source::read(path, text)).collect();
    let test_files: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test(&test_files)) {
        check_shape(source, &mut found);
        check_paths(source, &mut found);
    }
    found.sort_by(|a, b| (&a.path, a.line, &a.why).cmp(&(&b.path, b.line, &b.why)));
    found.dedup();
    found
}

// ---------------------------------------------------------------------------------------------------------- rules

/// The rules about a file as such: its opening line, its length, and that its room is on the plan.
fn check_shape(source: &Source, found: &mut Vec<Violation>) {
    let first = source.lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(0);
    let opening = source.lines.get(first).map_or("", |line| line.trim());
    if opening.strip_prefix("//!").is_none_or(|rest| rest.trim().is_empty()) {
        found.push(source.violation(first + 1, "a file opens with a `//!` line that says what it is".into()));
    }
    let count = source.code_lines();
    if count > LINE_CEILING {
        let why = format!("{count} lines outside tests; the ceiling is {LINE_CEILING}");
        found.push(source.violation(LINE_CEILING + 1, why));
    }
    if source.room() != "lib" && layer_of(source.room()).is_none() {
        let why = format!("the room `{}` is not on the plan: give it a layer in tests/architecture.rs", source.room());
        found.push(source.violation(1, why));
    }
}

/// The rules about what a file may name.
fn check_paths(source: &Source, found: &mut Vec<Violation>) {
    // `lib.rs` names every room, and nothing else.
    let Some(layer) = layer_of(source.room()) else { return };
    let names = source.names();
    let mut reported = BTreeSet::new();
    for path in &names.paths {
        let (resolved, by_import) = names.resolve(path);
        let Some((at, why)) = objection(source, layer, &resolved) else {
            continue;
        };
        // A name that was brought in by a `use` already reported is not reported at each place where it stands.
        if by_import.is_some_and(|import| objection(source, layer, &import).is_some()) {
            continue;
        }
        let line = resolved.get(at).map_or(1, |segment| segment.line);
        if reported.insert((line, why.clone())) {
            found.push(source.violation(line, why));
        }
    }
}

/// Why `path` may not be named in `source`, and which of its segments says so.
fn objection(source: &Source, layer: usize, path: &[Segment]) -> Option<(usize, String)> {
    let room = source.room();
    if path.first()?.name == "crate" {
        let named = path.get(1)?.name.as_str();
        return room_objection(room, layer, named).map(|why| (1, why));
    }
    let (never, who): (&[&str], String) = if layer <= MEANING {
        (&PURE_NEVER, format!("`{room}` is a pure room: text and values in and out"))
    } else if layer == FACE {
        (&FACE_NEVER, format!("`{room}` is a face: networks and repositories are the world's"))
    } else if room == "session" && !source.joins_rooms() {
        (&SESSION_NEVER, "the conversation is a plain state machine; its runner joins it to the world".into())
    } else {
        return None;
    };
    let named = never.iter().find(|forbidden| names_item(path, forbidden))?;
    let last_segment = named.split("::").count().min(path.len()) - 1;
    Some((last_segment, format!("`{named}` is not for this file: {who}")))
}

/// Why `room`, in `layer`, may not name the room `named`.
fn room_objection(room: &str, layer: usize, named: &str) -> Option<String> {
    if named == "*" && layer < FACE {
        return Some("a glob of the crate's root names every room".into());
    }
    let other = layer_of(named)?;
    if named == room {
        return None;
    }
    if other > layer {
        return Some(format!(
            "`{room}` ({}) is below `{named}` ({}): a lower room never names a higher one",
            LAYERS[layer].0, LAYERS[other].0
        ));
    }
    if other < layer {
        return None;
    }
    if layer == MEANING {
        let allowed = MEANING_MAY_NAME.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, rooms)| *rooms);
        if !allowed.contains(&named) {
            return Some(format!("`{room}` does not stand on `{named}`"));
        }
    }
    if layer == WORLD && !WORLD_SHARED.contains(&named) {
        return Some(format!("`{room}` and `{named}` are both the world's: the session joins them"));
    }
    None
}

fn layer_of(room: &str) -> Option<usize> {
    LAYERS.iter().position(|(_, rooms)| rooms.contains(&room))
}

/// Whether `path` names the item `forbidden` or something in it; a glob may name anything where it stands.
fn names_item(path: &[Segment], forbidden: &str) -> bool {
    for (index, part) in forbidden.split("::").enumerate() {
        match path.get(index).map(|segment| segment.name.as_str()) {
            Some("*") => return true,
            Some(name) if name == part => {}
            // The whole of `std` under another root is still the same item.
            Some("core" | "alloc") if part == "std" => {}
            _ => return false,
        }
    }
    true
}

// --------------------------------------------------------------------------------------------------------- source

/// One source file, as tokens outside code that is compiled for tests only.
struct Source {
    path: String,
    lines: Vec<String>,
    tokens: Vec<Token>,
    /// 1-based lines, both ends included, that are compiled for tests only.
    test_lines: Vec<(usize, usize)>,
    /// Modules declared as `#[cfg(test)] mod name;`: their files are test code too.
    test_mods: Vec<String>,
    all_test: bool,
}

impl Source {
    fn read(path: &str, text: &str) -> Self {
        let mut source = Self {
            path: path.replace('\\', "/"),
            lines: text.lines().map(str::to_owned).collect(),
            tokens: Vec::new(),
            test_lines: Vec::new(),
            test_mods: Vec::new(),
            all_test: false,
        };
        source.take_tokens(&tokens(text));
        source
    }

    /// Keeps the tokens that are compiled outside tests, and remembers which lines and modules are not.
    fn take_tokens(&mut self, all: &[Token]) {
        let mut at = 0;
        while let Some(token) = all.get(at) {
            let inner = all.get(at + 1).is_some_and(|next| next.is("!"));
            let open = at + if inner { 2 } else { 1 };
            if !(token.is("#") && all.get(open).is_some_and(|next| next.is("["))) {
                self.tokens.push(token.clone());
                at += 1;
                continue;
            }
            let close = matching(all, open);
            if !is_test_only(all.get(open + 1..close).unwrap_or(&[])) {
                // Other attributes can name rooms and crates (`#[tokio::main]`), so they are read like code.
                self.tokens.extend(all.get(at..=close).unwrap_or(&[]).iter().cloned());
                at = close + 1;
            } else if inner {
                // Inner attributes come first in their scope; at the top of a file they hold for all of it.
                self.all_test |= self.tokens.is_empty();
                at = close + 1;
            } else {
                let end = item_end(all, close + 1);
                let item = all.get(close + 1..end).unwrap_or(&[]);
                let name = item.iter().position(|t| t.is("mod")).and_then(|index| item.get(index + 1));
                if let Some(name) = name.filter(|_| item.last().is_some_and(|t| t.is(";"))) {
                    self.test_mods.push(name.text.clone());
                }
                let last = all.get(end.saturating_sub(1)).map_or(token.line, |t| t.line);
                self.test_lines.push((token.line, last));
                at = end;
            }
        }
    }

    /// The path of the file as a module below the crate: `src/diff/hunk.rs` is `diff`, `hunk`.
    fn module(&self) -> Vec<String> {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let inside = inside.strip_suffix(".rs").unwrap_or(inside);
        let mut parts: Vec<String> = inside.split('/').map(str::to_owned).collect();
        if parts.last().is_some_and(|last| last == "mod") || matches!(inside, "lib" | "main") {
            parts.pop();
        }
        parts
    }

    fn room(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let first = inside.split('/').next().unwrap_or(inside);
        first.strip_suffix(".rs").unwrap_or(first)
    }

    /// Whether this file of the session is one of those that join it to the world.
    fn joins_rooms(&self) -> bool {
        self.path.split('/').skip(2).any(|part| {
            let name = part.strip_suffix(".rs").unwrap_or(part);
            name.starts_with("runner") || name.starts_with("write") || name == "survey"
        })
    }

    /// The files, or folders with a final `/`, of the modules that this file declares for tests only.
    fn test_modules(&self) -> Vec<String> {
        let module = self.module();
        let folder = ["src"].into_iter().chain(module.iter().map(String::as_str)).collect::<Vec<_>>().join("/");
        self.test_mods.iter().flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/")]).collect()
    }

    fn is_test(&self, test_files: &[String]) -> bool {
        let declared = |file: &String| self.path == *file || (file.ends_with('/') && self.path.starts_with(file));
        self.all_test || self.path.ends_with("/tests.rs") || test_files.iter().any(declared)
    }

    fn code_lines(&self) -> usize {
        let in_tests = |line: &usize| self.test_lines.iter().any(|(first, last)| (first..=last).contains(&line));
        (1..=self.lines.len()).filter(|line| !in_tests(line)).count()
    }

    fn violation(&self, line: usize, why: String) -> Violation {
        let text = self.lines.get(line.saturating_sub(1)).map_or("", |text| text.trim()).to_owned();
        Violation { path: self.path.clone(), line, text, why }
    }

    /// Every path that the file names, with the names that its `use` declarations bring in.
    fn names(&self) -> Names {
        let mut names = Names { paths: Vec::new(), imports: BTreeMap::new() };
        // Inline modules open at a brace and move `super` and `self`.
        let mut module = self.module();
        let mut open_modules: Vec<usize> = Vec::new();
        let mut depth = 0usize;
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            let next = self.tokens.get(at + 1);
            if token.is("use") && next.is_some_and(|next| !next.is("<")) {
                at = names.read_use(&self.tokens, at + 1, &module);
                continue;
            }
            if token.is("extern") && next.is_some_and(|next| next.is("crate")) {
                names.paths.extend(self.tokens.get(at + 2).map(|name| vec![name.segment()]));
                at += 3;
                continue;
            }
            if token.is("mod") && self.tokens.get(at + 2).is_some_and(|t| t.is("{")) {
                module.extend(next.map(|name| name.text.clone()));
                depth += 1;
                open_modules.push(depth);
                at += 3;
                continue;
            }
            match token.text.as_str() {
                "{" => depth += 1,
                "}" => {
                    if open_modules.last() == Some(&depth) {
                        open_modules.pop();
                        module.pop();
                    }
                    depth = depth.saturating_sub(1);
                }
                _ if token.is_name() && next.is_some_and(|next| next.is("::")) => {
                    at = names.read_inline(&self.tokens, at, &module);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        names
    }
}

/// The index just past the item that starts at `from`, its other attributes included.
fn item_end(tokens: &[Token], from: usize) -> usize {
    let mut at = from;
    while tokens.get(at).is_some_and(|token| token.is("#")) {
        at = matching(tokens, at + 1) + 1;
    }
    let word = |offset: usize| tokens.get(at + offset).map_or("", |token| token.text.as_str());
    let is_value = matches!(word(0), "use" | "static" | "type" | "let") || (word(0) == "const" && word(1) != "fn");
    let opens_item = is_value
        || matches!(
            word(0),
            "pub" | "mod" | "fn" | "impl" | "struct" | "enum" | "trait" | "unsafe" | "async" | "const" | "extern"
        )
        || word(0) == "macro_rules";
    // `pub use …;` and `pub const X: T = T { … };` end at the semicolon, not at the first brace.
    let to_semicolon = is_value
        || (word(0) == "pub"
            && tokens.iter().skip(at + 1).take(6).any(|t| matches!(t.text.as_str(), "use" | "static" | "const"))
            && !tokens.iter().skip(at + 1).take(7).any(|t| t.is("fn")));
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            ";" => return at + 1,
            "," if !opens_item => return at + 1,
            ")" | "]" | "}" => return at,
            "{" if !to_semicolon => return matching(tokens, at) + 1,
            "(" | "[" | "{" => at = matching(tokens, at),
            _ => {}
        }
        at += 1;
    }
    tokens.len()
}

/// The index of the bracket that closes the one at `open`, or the last index.
fn matching(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

/// Whether an attribute (the tokens between its brackets) keeps its item out of every build but tests.
fn is_test_only(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().map(|token| token.text.as_str()).collect();
    match words.as_slice() {
        ["test"] | ["cfg", "(", "test", ")"] => true,
        ["cfg", "(", "all", "(", rest @ ..] => {
            // Only at the top of `all(…)`: `not(test)` inside it means the opposite.
            let mut depth = 0i32;
            rest.iter().any(|word| {
                match *word {
                    "(" => depth += 1,
                    ")" => depth -= 1,
                    _ => {}
                }
                depth == 0 && *word == "test"
            })
        }
        _ => false,
    }
}

// ---------------------------------------------------------------------------------------------------------- names

/// One name of a path and the 1-based line where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    name: String,
    line: usize,
}

/// The paths that a file names, from the crate's root (`crate`) or an outside crate, and what its imports stand for.
struct Names {
    paths: Vec<Vec<Segment>>,
    imports: BTreeMap<String, Vec<Segment>>,
}

impl Names {
    /// Reads the `use` tree at `at`; returns the index past its semicolon.
    fn read_use(&mut self, tokens: &[Token], at: usize, module: &[String]) -> usize {
        let end = (at..tokens.len()).find(|index| tokens[*index].is(";")).unwrap_or(tokens.len());
        self.read_tree(&tokens[at..end], &[], module);
        end + 1
    }

    /// Reads one branch of a `use` tree below `prefix`; returns how many tokens it took.
    fn read_tree(&mut self, tokens: &[Token], prefix: &[Segment], module: &[String]) -> usize {
        let mut path = prefix.to_vec();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token.text.as_str() {
                "::" => {}
                "," | "}" => break,
                "{" => {
                    at += 1;
                    while tokens.get(at).is_some_and(|token| !token.is("}")) {
                        at += self.read_tree(&tokens[at..], &path, module);
                        at += usize::from(tokens.get(at).is_some_and(|token| token.is(",")));
                    }
                    return at + 1;
                }
                "as" => {
                    let name = tokens.get(at + 1).map(|name| name.text.clone());
                    self.import(path, name, module);
                    return (at + 2).min(tokens.len());
                }
                _ => path.push(token.segment()),
            }
            at += 1;
        }
        self.import(path, None, module);
        at.max(1)
    }

    fn import(&mut self, mut path: Vec<Segment>, alias: Option<String>, module: &[String]) {
        // `a::{self}` names `a`.
        if path.len() > 1 && path.last().is_some_and(|last| last.name == "self") {
            path.pop();
        }
        let Some(last) = path.last().cloned() else { return };
        let path = rooted(path, module);
        if last.name != "*" {
            self.imports.insert(alias.unwrap_or(last.name), path.clone());
        }
        self.paths.push(path);
    }

    /// Reads the path that starts at `at` in running code; returns the index past it.
    fn read_inline(&mut self, tokens: &[Token], mut at: usize, module: &[String]) -> usize {
        let mut path = vec![tokens[at].segment()];
        while tokens.get(at + 1).is_some_and(|t| t.is("::")) && tokens.get(at + 2).is_some_and(Token::is_name) {
            path.push(tokens[at + 2].segment());
            at += 2;
        }
        self.paths.push(rooted(path, module));
        at + 1
    }

    /// The path with an imported first name replaced by what it stands for, and that import where there was one.
    fn resolve(&self, path: &[Segment]) -> (Vec<Segment>, Option<Vec<Segment>>) {
        let mut resolved = path.to_vec();
        let mut by_import = None;
        // Imports can build on one another; a handful of steps is more than any sane file needs, and ends a circle.
        for _ in 0..8 {
            let Some(first) = resolved.first().cloned() else { break };
            let Some(import) = self.imports.get(&first.name) else {
                break;
            };
            if import.first().is_none_or(|root| root.name == first.name) {
                break;
            }
            let rest = resolved.split_off(1);
            // The line is that of the place which names it, not of the import.
            resolved = import.iter().map(|part| Segment { name: part.name.clone(), line: first.line }).collect();
            by_import = Some(resolved.clone());
            resolved.extend(rest);
        }
        (resolved, by_import)
    }
}

/// `path` as seen from the crate's root: `self`, `super` and the library's own name replaced.
fn rooted(path: Vec<Segment>, module: &[String]) -> Vec<Segment> {
    let Some(first) = path.first().cloned() else {
        return path;
    };
    let here = |names: &[String]| -> Vec<Segment> {
        let names = ["crate".to_owned()].into_iter().chain(names.iter().cloned());
        names.map(|name| Segment { name, line: first.line }).collect()
    };
    match first.name.as_str() {
        "crate" | "rhumb" => here(&[]).into_iter().chain(path.into_iter().skip(1)).collect(),
        "self" => here(module).into_iter().chain(path.into_iter().skip(1)).collect(),
        "super" => {
            let ups = path.iter().take_while(|segment| segment.name == "super").count();
            let parent = module.get(..module.len().saturating_sub(ups)).unwrap_or(&[]);
            here(parent).into_iter().chain(path.into_iter().skip(ups)).collect()
        }
        _ => path,
    }
}

// --------------------------------------------------------------------------------------------------------- tokens

/// A name, a `::` or one character of punctuation; literals and comments are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    text: String,
    /// 1-based.
    line: usize,
}

impl Token {
    fn is(&self, text: &str) -> bool {
        self.text == text
    }

    fn is_name(&self) -> bool {
        self.text.starts_with(|c: char| c == '_' || c.is_alphabetic())
    }

    fn segment(&self) -> Segment {
        Segment { name: self.text.clone(), line: self.line }
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied();
        let start = at;
        if c == '/' && next == Some('/') {
            at = (at..chars.len()).find(|index| chars[*index] == '\n').unwrap_or(chars.len());
        } else if c == '/' && next == Some('*') {
            at = after_block_comment(&chars, at);
        } else if let Some(end) = after_string(&chars, at) {
            at = end;
        } else if c == '\'' {
            at = after_quote(&chars, at);
        } else if c == '_' || c.is_alphanumeric() {
            at = (at..chars.len()).find(|i| !(chars[*i] == '_' || chars[*i].is_alphanumeric())).unwrap_or(chars.len());
            if !c.is_ascii_digit() {
                found.push(Token { text: chars[start..at].iter().collect(), line });
            }
        } else if c == ':' && next == Some(':') {
            found.push(Token { text: "::".into(), line });
            at += 2;
        } else {
            if !c.is_whitespace() {
                found.push(Token { text: c.to_string(), line });
            }
            at += 1;
        }
        line += chars.get(start..at).unwrap_or(&[]).iter().filter(|c| **c == '\n').count();
    }
    found
}

fn after_block_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) => (at, depth) = (at + 2, depth.saturating_sub(1)),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

/// The index past the string literal at `at`, plain, raw, byte or C; `None` where there is none.
fn after_string(chars: &[char], at: usize) -> Option<usize> {
    let mut open = at;
    while matches!(chars.get(open), Some('r' | 'b' | 'c')) && open < at + 2 {
        open += 1;
    }
    let raw = chars.get(at..open)?.contains(&'r');
    let hashes = chars.get(open..)?.iter().take_while(|c| **c == '#').count();
    if chars.get(open + hashes) != Some(&'"') || (hashes > 0 && !raw) {
        return None;
    }
    let mut end = open + hashes + 1;
    while let Some(&c) = chars.get(end) {
        if c == '\\' && !raw {
            end += 2;
        } else if c == '"' && chars.get(end + 1..end + 1 + hashes).is_some_and(|tail| tail.iter().all(|c| *c == '#')) {
            return Some(end + 1 + hashes);
        } else {
            end += 1;
        }
    }
    Some(chars.len())
}

/// The index past the character literal or the lifetime at `at`.
fn after_quote(chars: &[char], at: usize) -> usize {
    if chars.get(at + 1) == Some(&'\\') {
        // The escaped character itself may be a quote.
        return (at + 3..chars.len()).find(|index| chars[*index] == '\'').map_or(chars.len(), |index| index + 1);
    }
    if chars.get(at + 2) == Some(&'\'') { at + 3 } else { at + 1 }
}

// ---------------------------------------------------------------------------------------------------------- tests

/// Every Rust file below `folder`, as (path relative to `root`, text).
fn rust_files(root: &Path, folder: &Path, into: &mut Vec<(String, String)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            rust_files(root, &path, into)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            into.push((name, std::fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

#[test]
fn the_rooms_keep_their_direction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    rust_files(root, &root.join("src"), &mut files).unwrap();
    assert!(!files.is_empty(), "no source files below {}", root.display());
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let lines: Vec<String> = check(&files).iter().map(Violation::to_string).collect();
    assert!(lines.is_empty(), "{} violations:\n{}", lines.len(), lines.join("\n"));
}

#[cfg(test)]
mod planted {
    use super::*;

    /// Plants `body` below a good opening line (so its first line is line 2) and gives the violations as `line: why`.
    fn plant(path: &str, body: &str) -> Vec<(usize, String)> {
        let text = format!("//! A planted file.\n{body}");
        check(&[(path, &text)]).into_iter().map(|violation| (violation.line, violation.why)).collect()
    }

    fn lines(path: &str, body: &str) -> Vec<usize> {
        plant(path, body).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_violation_shows_its_file_line_and_reason() {
        let found = check(&[("src/diff/x.rs", "//! Lines.\nuse std::fmt;\nuse crate::tui::App;\n")]);
        let shown: Vec<String> = found.iter().map(Violation::to_string).collect();
        assert_eq!(
            shown,
            [
                "src/diff/x.rs:3: use crate::tui::App; — `diff` (text) is below `tui` (face): a lower room never names a higher one"
            ]
        );
    }

    #[test]
    fn no_layer_names_a_higher_one() {
        for (low, (_, low_rooms)) in LAYERS.iter().enumerate() {
            for (high, (_, high_rooms)) in LAYERS.iter().enumerate() {
                for (room, other) in low_rooms.iter().flat_map(|room| high_rooms.iter().map(move |other| (room, other)))
                {
                    let found = lines(&format!("src/{room}/x.rs"), &format!("use crate::{other}::Thing;\n"));
                    if low < high {
                        assert_eq!(found, [2], "{room} named {other}");
                    } else if low > high {
                        assert_eq!(found, [0usize; 0], "{room} may name {other}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_wings_of_meaning_do_not_name_each_other() {
        let bad = [
            ("syntax", "lexical"),
            ("syntax", "edit"),
            ("lexical", "repo_map"),
            ("repo_map", "retrieval"),
            ("repo_map", "edit"),
            ("retrieval", "context"),
            ("retrieval", "review"),
            ("edit", "review"),
            ("edit", "repo_map"),
            ("review", "lexical"),
            ("review", "retrieval"),
            ("review", "context"),
        ];
        for (room, other) in bad {
            let found = lines(&format!("src/{room}/mod.rs"), &format!("use crate::{other}::Thing;"));
            assert_eq!(found, [2], "{room} named {other}");
        }
        let good = [("repo_map", "lexical"), ("retrieval", "repo_map"), ("review", "edit"), ("edit", "syntax")];
        for (room, other) in good.into_iter().chain([("context", "review"), ("context", "retrieval")]) {
            let found = lines(&format!("src/{room}/mod.rs"), &format!("use crate::{other}::Thing;"));
            assert_eq!(found, [0usize; 0], "{room} may name {other}");
        }
    }

    #[test]
    fn rooms_of_the_world_are_joined_by_the_session_alone() {
        assert_eq!(lines("src/git/repo.rs", "use rhumb_llm::Role;"), [2]);
        assert_eq!(lines("src/workspace/root.rs", "fn f() { rhumb_workspace::git::open(); }"), [2]);
        assert_eq!(lines("src/demo/mod.rs", "use rhumb_workspace::Root;\nuse crate::config::Paths;"), [0usize; 0]);
        assert_eq!(lines("src/session/runner.rs", "use crate::{git, llm, workspace};"), [0usize; 0]);
    }

    #[test]
    fn pure_rooms_name_nothing_of_the_outside() {
        for name in PURE_NEVER {
            for room in ["text", "tokens", "edit", "context"] {
                let path = format!("src/{room}/x.rs");
                assert_eq!(lines(&path, &format!("use {name};")), [2], "use {name}");
                assert_eq!(lines(&path, &format!("\nfn f() {{\n    {name}::thing();\n}}")), [4], "inline {name}");
            }
        }
        assert_eq!(lines("src/git/x.rs", "use std::fs;\nuse git2::Repository;"), [0usize; 0]);
        assert_eq!(lines("src/text/x.rs", "use std::time::Duration;\nuse std::{fmt, path::Path};"), [0usize; 0]);
    }

    #[test]
    fn an_outside_name_is_found_however_it_is_brought_in() {
        assert_eq!(lines("src/edit/x.rs", "use std::{\n    fmt,\n    fs::{self, File},\n};"), [4]);
        assert_eq!(lines("src/edit/x.rs", "use std::time::{Duration, Instant};"), [2]);
        assert_eq!(lines("src/edit/x.rs", "use std::time;\nfn f() { time::Instant::now(); }"), [3]);
        assert_eq!(lines("src/edit/x.rs", "use std as base;\nfn f() { base::env::vars(); }"), [3]);
        assert_eq!(lines("src/edit/x.rs", "use std::time::*;"), [2]);
        assert_eq!(lines("src/edit/x.rs", "use ::tokio::sync::mpsc;"), [2]);
        assert_eq!(lines("src/edit/x.rs", "extern crate git2;"), [2]);
        assert_eq!(lines("src/edit/x.rs", "#[tokio::main]\nasync fn f() {}"), [2]);
        // Brought in once and used twice is one violation.
        assert_eq!(lines("src/edit/x.rs", "use std::fs;\nfn f() { fs::read(fs::canonicalize()); }"), [2]);
    }

    #[test]
    fn faces_leave_networks_and_repositories_to_the_world() {
        for path in ["src/tui/app.rs", "src/cli/mod.rs", "src/headless.rs", "src/main.rs"] {
            assert_eq!(lines(path, "use tokio::sync::mpsc;\nuse git2::Repository;\nuse reqwest::Client;"), [3, 4]);
        }
    }

    #[test]
    fn only_the_runner_and_its_kin_join_the_session_to_the_world() {
        let body = "use tokio::sync::mpsc;\nfn f() { reqwest::get(); git2::open(); }";
        assert_eq!(lines("src/session/turn/mod.rs", body), [2, 3, 3]);
        for file in ["runner.rs", "runner_turn.rs", "runner/llm.rs", "survey.rs", "write.rs", "write_journal.rs"] {
            assert_eq!(lines(&format!("src/session/{file}"), body), [0usize; 0], "{file}");
        }
    }

    #[test]
    fn grouped_and_multi_line_uses_are_read_leaf_by_leaf() {
        assert_eq!(lines("src/review/x.rs", "use crate::{edit, tui::x};"), [2]);
        let body = "use crate::{\n    edit::{self, Outcome},\n    session::Turn,\n    diff::Hunk,\n    tui::{\n        App,\n        View as V,\n    },\n};\n";
        assert_eq!(lines("src/review/x.rs", body), [4, 6]);
        assert_eq!(lines("src/review/x.rs", "use crate::*;"), [2]);
        assert_eq!(lines("src/review/x.rs", "pub(crate) use crate::{edit::*, diff::{hunk::*, line}};"), [0usize; 0]);
    }

    #[test]
    fn inline_and_relative_paths_are_read_too() {
        assert_eq!(lines("src/diff/x.rs", "fn f(app: &crate::tui::App) {}"), [2]);
        assert_eq!(lines("src/diff/x.rs", "use super::super::tui::App;"), [2]);
        assert_eq!(lines("src/diff/mod.rs", "use super::tui::App;"), [2]);
        assert_eq!(lines("src/diff/mod.rs", "mod inner {\n    use super::tui::App;\n}\nuse super::tui::App;"), [5]);
        assert_eq!(lines("src/diff/x.rs", "macro_rules! m { () => { $crate::session::go() } }"), [2]);
        assert_eq!(lines("src/llm/x.rs", "fn f() -> rhumb::tui::App {}"), [2]);
        assert_eq!(lines("src/diff/x.rs", "use super::tui::App;\nuse self::session::Turn;"), [0usize; 0]);
    }

    #[test]
    fn comments_strings_and_characters_name_nothing() {
        let body = concat!(
            "/* use crate::tui; /* nested */ std::fs::read */\n",
            "/// See [`crate::tui::App`].\n",
            "const A: &str = \"crate::tui::App \\\" std::fs::read\";\n",
            "const B: &str = r#\"use tokio::main; \"crate::tui::x\" \"#;\n",
            "const C: (char, u8) = ('\"', b'\\'');\n",
            "fn f<'a>(x: &'a str) -> impl Sized + use<'a> {}\n",
            "const D: &str = \"std::env::var\";\n",
        );
        assert_eq!(plant("src/text/x.rs", body), []);
    }

    #[test]
    fn lines_are_counted_through_literals_that_span_several() {
        assert_eq!(lines("src/text/x.rs", "const A: &str = \"one\ntwo \\\nthree\";\n/* a\nb */\nuse git2::Oid;"), [7]);
    }

    #[test]
    fn code_for_tests_is_not_reported() {
        let tests = "#[cfg(test)]\nmod tests {\n    use std::fs;\n    use crate::tui::App;\n    fn f() { let x = [1; 2]; }\n}\n";
        assert_eq!(plant("src/edit/x.rs", tests), []);
        assert_eq!(lines("src/edit/x.rs", &format!("{tests}use tokio::io;")), [8]);
        assert_eq!(plant("src/edit/x.rs", "#[cfg(test)]\n#[allow(unused)]\npub use std::fs::{self, File};\n"), []);
        assert_eq!(lines("src/edit/x.rs", "#[cfg(test)]\nuse std::fs;\nuse std::env;\n"), [4]);
        assert_eq!(lines("src/edit/x.rs", "#[cfg(test)]\nconst A: B = B { x: 1 };\nuse std::env;\n"), [4]);
        assert_eq!(
            lines("src/edit/x.rs", "#[cfg(test)]\nfn f(a: u8, b: u8) -> [u8; 2] { std::fs::x() }\nuse std::env;"),
            [4]
        );
        assert_eq!(
            lines("src/edit/x.rs", "struct A {\n    #[cfg(test)]\n    a: std::fs::File,\n    b: std::fs::File,\n}"),
            [5]
        );
        assert_eq!(plant("src/edit/x.rs", "#[cfg(all(test, unix))]\nmod tests { use std::fs; }"), []);
        assert_eq!(plant("src/edit/tests.rs", "use std::fs;"), []);
        assert_eq!(check(&[("src/edit/x.rs", "#![cfg(test)]\nuse std::fs;\n")]), []);
    }

    #[test]
    fn code_that_is_also_built_without_tests_is_reported() {
        assert_eq!(lines("src/edit/x.rs", "#[cfg(not(test))]\nuse std::fs;"), [3]);
        assert_eq!(lines("src/edit/x.rs", "#[cfg(any(test, unix))]\nuse std::fs;"), [3]);
        assert_eq!(lines("src/edit/x.rs", "#[cfg(all(unix, not(test)))]\nuse std::fs;"), [3]);
    }

    #[test]
    fn a_module_declared_for_tests_is_test_code_wherever_its_file_is() {
        let parent = "//! A room.\n#[cfg(test)]\nmod cases;\nmod real;\n";
        let bad = "//! A file.\nuse std::fs;\n";
        let files = [
            ("src/edit/mod.rs", parent),
            ("src/edit/cases.rs", bad),
            ("src/edit/cases/more.rs", bad),
            ("src/edit/real.rs", bad),
        ];
        let found: Vec<String> = check(&files).into_iter().map(|violation| violation.path).collect();
        assert_eq!(found, ["src/edit/real.rs"]);
    }

    #[test]
    fn a_file_past_the_ceiling_is_reported_and_its_tests_do_not_count() {
        let full = "const A: u8 = 0;\n".repeat(LINE_CEILING - 1);
        assert_eq!(plant("src/diff/x.rs", &full), []);
        let tests = format!("{full}#[cfg(test)]\nmod tests {{\n{full}}}\n");
        assert_eq!(plant("src/diff/x.rs", &tests), []);
        let found = plant("src/diff/x.rs", &format!("{full}const B: u8 = 0;\n"));
        assert_eq!(found, [(501, "501 lines outside tests; the ceiling is 500".to_owned())]);
    }

    #[test]
    fn a_file_without_an_opening_line_is_reported() {
        for text in ["", "fn main() {}\n", "// A plain comment.\n", "//!\nfn f() {}\n", "use std::fmt;\n//! Late.\n"] {
            let found: Vec<usize> = check(&[("src/main.rs", text)]).iter().map(|violation| violation.line).collect();
            assert_eq!(found, [1], "{text:?}");
        }
        assert_eq!(check(&[("src/main.rs", "\n//! The program.\nfn main() {}\n")]), []);
    }

    #[test]
    fn a_room_that_is_not_on_the_plan_is_reported() {
        let found = plant("src/util/mod.rs", "fn f() {}");
        assert_eq!(found.len(), 1);
        assert!(found[0].1.contains("`util` is not on the plan"), "{}", found[0].1);
        assert_eq!(plant("src/lib.rs", "pub mod util;"), []);
    }

    #[test]
    fn broken_source_is_read_without_a_panic() {
        for text in
            ["use crate::{", "#[cfg(test)]", "#[", "#", "use", "mod x {", "\"", "r#\"", "'", "'\\", "/*", "}}}", "a::"]
        {
            check(&[("src/diff/x.rs", text)]);
        }
    }
}
