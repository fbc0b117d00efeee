//! Commit messages: by a model, from the change; and without a model, from the changed files and symbols.

use super::budget::Window;
use super::excerpt::fence_for;
use super::prompts::{Prompts, fill};
use rhumb_llm::{Message, Role};
use rhumb_syntax::{Definition, Language, SymbolKind};
use rhumb_text::{count, diff, wrap};
use rhumb_tokens::TokenCounter;
use std::collections::BTreeSet;

/// Maximum length of the first line of a commit message in characters.
pub(super) const MAX_SUBJECT_CHARS: usize = 72;

/// Maximum tokens of the change, regardless of the window.
const MAX_CHANGE_TOKENS: usize = 16_384;

/// Maximum share of the request in the budget.
const REQUEST_DIVISOR: usize = 4;

const OVERHEAD_TOKENS: usize = 64;

/// Minimum budget of a change in tokens; with less no request is made.
const MIN_CHANGE_TOKENS: usize = 64;

const CUT_MARK: &str = "[… the rest is left out]\n";

/// The inputs of a request for a commit message.
#[derive(Clone, Copy)]
pub struct CommitMessageInputs<'a> {
    /// The request of the user; may be empty.
    pub request: &'a str,
    /// The change: for each file the path and its unified diff, or no diff if it must not be shown.
    pub change: &'a [(String, String)],
    /// The language of the message, if set.
    pub language: Option<&'a str>,
    /// The context window of the model.
    pub window: Window,
    /// The prompts.
    pub prompts: &'a Prompts,
    /// The token counter of the model.
    pub counter: &'a dyn TokenCounter,
}

/// The request for a commit message and its tokens; `None` if nothing of the change fits.
pub fn commit_request(inputs: &CommitMessageInputs<'_>) -> Option<(Vec<Message>, usize)> {
    let CommitMessageInputs { counter, prompts, .. } = inputs;
    let about = fill(prompts.text("commit"), &[("language", inputs.language)]);
    let budget = inputs.window.max_input().checked_sub(counter.count(&about) + OVERHEAD_TOKENS)?.min(MAX_CHANGE_TOKENS);
    if budget < MIN_CHANGE_TOKENS {
        return None;
    }
    let request = cut(inputs.request.trim(), budget / REQUEST_DIVISOR, *counter);
    let names = cut(&names(inputs.change), budget / REQUEST_DIVISOR, *counter);
    let left = budget.saturating_sub(counter.count(&request) + counter.count(&names));
    let diff = shared_out(inputs.change, left, *counter);
    let fence = fence_for([diff.as_str()]);
    let mut text = String::new();
    if !request.is_empty() {
        text.push_str(&format!("What was asked for:\n\n{request}\n\n"));
    }
    text.push_str(&format!("The files:\n\n{names}\nThe change:\n\n{fence}diff\n{diff}{fence}\n"));
    let tokens = counter.count(&about) + counter.count(&text) + OVERHEAD_TOKENS / 2;
    Some((vec![Message::new(Role::System, about), Message::new(Role::User, text)], tokens))
}

/// The message in an answer: its first meaningful line, without quotes and labels. `None` if it has no such line.
pub fn commit_message_in(answer: &str) -> Option<String> {
    let lines = answer.lines().map(plain).filter(|line| !line.is_empty() && !line.starts_with("```"));
    // Some models introduce the message.
    let mut lines = lines.filter(|line| !line.ends_with(':'));
    let line = lines.next()?;
    let line = unlabelled(&line);
    let bare = unquoted(unquoted(line).trim_start_matches(['#', '-', '>']));
    (!bare.is_empty()).then(|| shortened_subject(bare))
}

/// Cuts the first line of a commit message between words if it is too long.
pub fn shortened_subject(line: &str) -> String {
    let mut subject: String = line.chars().take(MAX_SUBJECT_CHARS).collect();
    if line.chars().count() > MAX_SUBJECT_CHARS {
        subject = line.chars().take(MAX_SUBJECT_CHARS - 1).collect();
        let cut = subject.rfind(' ').unwrap_or(subject.len());
        subject.truncate(cut);
        subject.push('…');
    }
    subject
}

/// The line without control characters and characters that hide or reverse text.
pub(super) fn plain(line: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let spaced = line.replace('\t', " ");
    spaced.chars().filter(|c| !hidden(*c)).collect::<String>().trim().to_owned()
}

/// The line without a label such as `Commit message:`.
fn unlabelled(line: &str) -> &str {
    let label = |label: &str| {
        let head = line.get(..label.len())?;
        head.eq_ignore_ascii_case(label).then(|| line.get(label.len()..)).flatten()
    };
    ["commit message:", "**commit message:**", "message:", "subject:"]
        .iter()
        .find_map(|name| label(name))
        .unwrap_or(line)
}

/// The line without quotes around it.
fn unquoted(line: &str) -> &str {
    const PAIRS: [(char, char); 7] =
        [('"', '"'), ('\'', '\''), ('`', '`'), ('*', '*'), ('“', '”'), ('‘', '’'), ('«', '»')];
    let mut bare = line.trim();
    while let Some(inner) =
        PAIRS.iter().find_map(|(open, close)| bare.strip_prefix(*open)?.strip_suffix(*close)).map(str::trim)
    {
        bare = inner;
    }
    bare
}

/// The files with their numbers of added and removed lines.
fn names(change: &[(String, String)]) -> String {
    let counted = |text: &str, sign: char, header: &str| {
        text.lines().filter(|line| line.starts_with(sign) && !line.starts_with(header)).count()
    };
    let name = |(path, text): &(String, String)| {
        format!("{path} +{} -{}\n", counted(text, '+', "+++ "), counted(text, '-', "--- "))
    };
    change.iter().map(name).collect()
}

/// The diffs in at most `budget` tokens. Small diffs leave their unused share to large ones.
fn shared_out(change: &[(String, String)], budget: usize, counter: &dyn TokenCounter) -> String {
    let mut sizes: Vec<(usize, usize)> =
        change.iter().enumerate().map(|(at, (_, text))| (counter.count(text), at)).collect();
    sizes.sort_unstable();
    let mut given = vec![0; change.len()];
    let (mut left, mut files) = (budget, sizes.len());
    for (size, at) in sizes {
        given[at] = size.min(left / files.max(1));
        left -= given[at];
        files -= 1;
    }
    change.iter().zip(given).map(|((_, text), budget)| cut(text, budget, counter)).collect()
}

/// The text, or its first lines in at most `budget` tokens with a mark.
fn cut(text: &str, budget: usize, counter: &dyn TokenCounter) -> String {
    if text.is_empty() || counter.count(text) <= budget {
        return text.to_owned();
    }
    let Some(mut left) = budget.checked_sub(counter.count(CUT_MARK)) else { return String::new() };
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        let tokens = counter.count(line);
        if tokens > left {
            break;
        }
        left -= tokens;
        kept.push_str(line);
    }
    if !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    kept + CUT_MARK
}

/// Maximum number of symbols or files in a subject.
const MAX_NAMES: usize = 3;

/// Maximum length of the body in characters.
const MAX_BODY_CHARS: usize = 400;

/// A file before and after a change.
#[derive(Debug, Clone, Copy)]
pub struct ChangedFile<'a> {
    /// The path now, or before if the file was deleted.
    pub path: &'a str,
    /// The path before, if it was renamed.
    pub renamed_from: Option<&'a str>,
    /// The text before; `None` if there was no file.
    pub before: Option<&'a str>,
    /// The text now; `None` if it was deleted.
    pub after: Option<&'a str>,
}

/// The message for a commit of these files: a subject of at most 72 columns, and the first paragraph of the request as the
/// body.
pub fn change_message(files: &[ChangedFile<'_>], request: &str) -> String {
    let subject = subject(files);
    match body(request) {
        body if body.is_empty() => subject,
        body => format!("{subject}\n\n{body}"),
    }
}

fn body(request: &str) -> String {
    let lines = request.trim().lines().map(plain).take_while(|line| !line.is_empty());
    let paragraph: String = lines.collect::<Vec<_>>().join(" ").chars().take(MAX_BODY_CHARS).collect();
    let lines = wrap::wrap(&paragraph, MAX_SUBJECT_CHARS).into_iter().filter_map(|range| paragraph.get(range));
    lines.map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Delete,
    Rename,
    Change,
}

impl ChangedFile<'_> {
    fn kind(&self) -> Kind {
        match (self.renamed_from, self.before, self.after) {
            (Some(_), _, _) => Kind::Rename,
            (None, None, _) => Kind::Add,
            (None, Some(_), None) => Kind::Delete,
            (None, Some(_), Some(_)) => Kind::Change,
        }
    }

    /// The change of a file, with its path or its name.
    fn clause(&self, whole: bool) -> String {
        let path = shown(self.path, whole);
        match self.kind() {
            Kind::Add => format!("Add {path}"),
            Kind::Delete => format!("Delete {path}"),
            Kind::Rename => format!("Rename {} to {path}", shown(self.renamed_from.unwrap_or_default(), whole)),
            Kind::Change => format!("Change {path}"),
        }
    }
}

fn subject(files: &[ChangedFile<'_>]) -> String {
    let shorter = || match files {
        [only] => fitting(1, |_, whole| only.clause(whole)),
        _ => None,
    };
    let counted = || shortened_subject(&format!("Update {}", count(files.len(), "file")));
    named_subject(files).or_else(shorter).unwrap_or_else(counted)
}

/// The subject with names of symbols and files; `None` if it is too long.
fn named_subject(files: &[ChangedFile<'_>]) -> Option<String> {
    let (changed, others): (Vec<&ChangedFile<'_>>, Vec<_>) = files.iter().partition(|file| file.kind() == Kind::Change);
    match (changed.as_slice(), others.as_slice()) {
        ([], []) => None,
        ([], [only]) => fitting(1, |_, whole| only.clause(whole)),
        ([only], []) => change_of(only),
        (changed, [only]) => fitting(1, |_, whole| {
            let rest = match changed {
                [one] => shown(one.path, whole).to_owned(),
                many => format!("{} other files", many.len()),
            };
            format!("{} and update {rest}", only.clause(whole))
        }),
        _ => change_of_several(files),
    }
}

fn change_of(file: &ChangedFile<'_>) -> Option<String> {
    let symbols = Symbols::of(file);
    let (verb, of, names) = match (symbols.changed.is_empty(), symbols.added.is_empty(), symbols.removed.is_empty()) {
        (true, true, true) => return fitting(1, |_, whole| file.clause(whole)),
        (true, false, true) => ("Add", "to", symbols.added),
        (true, true, false) => ("Remove", "from", symbols.removed),
        _ => ("Change", "in", symbols.all()),
    };
    fitting(names.len(), |most, whole| format!("{verb} {} {of} {}", list(&names, most), shown(file.path, whole)))
}

fn change_of_several(files: &[ChangedFile<'_>]) -> Option<String> {
    let first = files.first().map(ChangedFile::kind);
    let verb = match first.filter(|first| files.iter().all(|file| file.kind() == *first)) {
        Some(Kind::Add) => "Add",
        Some(Kind::Delete) => "Delete",
        Some(Kind::Rename) => "Rename",
        _ => "Update",
    };
    let names = |whole: bool| -> Vec<String> { files.iter().map(|file| shown(file.path, whole).to_owned()).collect() };
    let mut symbols: Vec<String> = Vec::new();
    for file in files.iter().filter(|file| file.kind() == Kind::Change) {
        let new = Symbols::of(file).all().into_iter().filter(|name| !symbols.contains(name));
        symbols.extend(new.collect::<Vec<_>>());
    }
    match symbols.as_slice() {
        [only] if verb == "Update" => {
            let of = |most: usize, whole: bool| format!("Change {only} in {}", list(&names(whole), most));
            fitting(files.len(), of)
        }
        _ if files.len() == 2 => fitting(2, |most, whole| format!("{verb} {}", list(&names(whole), most))),
        symbols => {
            let folder = common_folder(files);
            let place = if folder.is_empty() { String::new() } else { format!(" in {folder}") };
            let items = if symbols.is_empty() { names(false) } else { symbols.to_vec() };
            fitting(items.len(), |most, _| format!("{verb} {} files{place}: {}", files.len(), list(&items, most)))
        }
    }
}

/// The longest subject of `make` that fits: with as many names as possible, then with whole paths.
fn fitting(names: usize, make: impl Fn(usize, bool) -> String) -> Option<String> {
    let most = names.clamp(1, MAX_NAMES);
    let tries = (1..=most).rev().flat_map(|most| [(most, true), (most, false)]);
    let mut made = tries.map(|(most, whole)| plain(&make(most, whole)));
    made.find(|subject| subject.chars().count() <= MAX_SUBJECT_CHARS)
}

/// The first names, and the number of the others.
fn list(names: &[String], most: usize) -> String {
    let (named, left) = names.split_at(most.min(names.len()));
    match (named, left.len()) {
        ([only], 0) => only.clone(),
        ([before @ .., last], 0) => format!("{} and {last}", before.join(", ")),
        (named, left) => format!("{} and {left} more", named.join(", ")),
    }
}

/// A path or its last part.
fn shown(path: &str, whole: bool) -> &str {
    if whole { path } else { path.rsplit('/').next().unwrap_or(path) }
}

/// The common folder of the files; empty for the root.
fn common_folder(files: &[ChangedFile<'_>]) -> String {
    let folder = |path: &str| -> Vec<String> {
        let mut parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        parts.pop();
        parts
    };
    let mut common = files.first().map(|file| folder(file.path)).unwrap_or_default();
    for file in files {
        let same = common.iter().zip(folder(file.path)).take_while(|(a, b)| **a == *b).count();
        common.truncate(same);
    }
    common.join("/")
}

/// The symbols that a change touches, in the order of the file.
#[derive(Debug, Default)]
struct Symbols {
    added: Vec<String>,
    removed: Vec<String>,
    changed: Vec<String>,
}

impl Symbols {
    fn of(file: &ChangedFile<'_>) -> Self {
        let (before, after) = (file.before.unwrap_or_default(), file.after.unwrap_or_default());
        let Some(language) = Language::detect(file.path, after) else { return Self::default() };
        let separator = if matches!(language.id, "rust" | "cpp") { "::" } else { "." };
        let defined = |text: &str| -> Vec<Definition> {
            let all = rhumb_syntax::tags(language, text).definitions;
            all.into_iter().filter(|definition| is_named(definition.kind)).collect()
        };
        let (old, new) = (defined(before), defined(after));
        let name = |definition: &Definition| match (&definition.container, definition.kind) {
            (Some(container), SymbolKind::Method) => format!("{container}{separator}{}", definition.name),
            _ => definition.name.clone(),
        };
        let names = |all: &[Definition]| all.iter().map(name).collect::<BTreeSet<String>>();
        let (old_names, new_names) = (names(&old), names(&new));
        let mut symbols = Self::default();
        for hunk in diff::hunks(before, after) {
            let touched_now = hunk.proposed.filter_map(|line| innermost(&new, line)).map(name);
            let touched_before = hunk.base.filter_map(|line| innermost(&old, line)).map(name);
            for name in touched_now.chain(touched_before) {
                let list = match (old_names.contains(&name), new_names.contains(&name)) {
                    (false, _) => &mut symbols.added,
                    (true, false) => &mut symbols.removed,
                    (true, true) => &mut symbols.changed,
                };
                if !list.contains(&name) {
                    list.push(name);
                }
            }
        }
        // For a new or deleted member, the name of its class suffices.
        let says_more = |name: &String, of: &[String]| {
            let inner = format!("{name}{separator}");
            !of.iter().any(|other| other.starts_with(&inner))
        };
        for list in [&mut symbols.added, &mut symbols.removed, &mut symbols.changed] {
            let all = list.clone();
            list.retain(|name| says_more(name, &all));
        }
        symbols
    }

    fn all(self) -> Vec<String> {
        [self.changed, self.added, self.removed].concat()
    }
}

fn is_named(kind: SymbolKind) -> bool {
    use SymbolKind as Kind;
    !matches!(kind, Kind::Field | Kind::Key | Kind::Section | Kind::Selector | Kind::Module)
}

/// The innermost definition that contains a line (0-based).
fn innermost(definitions: &[Definition], line: usize) -> Option<&Definition> {
    let holding = definitions.iter().filter(|definition| {
        let (first, last) = (definition.line as usize, definition.end_line as usize);
        (first..=last).contains(&(line + 1))
    });
    holding.min_by_key(|definition| definition.end_line - definition.line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use rhumb_tokens::counter_for_model;

    #[test]
    fn decoration_around_a_commit_message_is_removed() {
        for answer in [
            "fix(harbour): treat unknown names as depth zero",
            "\n\"fix(harbour): treat unknown names as depth zero\"\n",
            "```\nfix(harbour): treat unknown names as depth zero\n```",
            "```text\n`fix(harbour): treat unknown names as depth zero`\n```\nThat says it.",
            "Commit message: fix(harbour): treat unknown names as depth zero",
            "Here is the message:\n\n**fix(harbour): treat unknown names as depth zero**",
            "“fix(harbour): treat unknown names\u{202e} as\u{1b} depth zero”",
            "# fix(harbour): treat unknown names as depth zero",
        ] {
            let message = commit_message_in(answer);
            assert_eq!(message.as_deref(), Some("fix(harbour): treat unknown names as depth zero"), "{answer}");
        }
        for answer in ["", " \n\t", "```\n```", "\"\"", "Message:"] {
            assert_eq!(commit_message_in(answer), None, "{answer}");
        }
        assert_eq!(commit_message_in("say \"no\" twice").as_deref(), Some("say \"no\" twice"));
    }

    fn request(change: &[(String, String)], tokens: usize) -> Option<(String, usize)> {
        let counter = counter_for_model("gpt-4o");
        let inputs = CommitMessageInputs {
            request: "Make it safe",
            change,
            language: None,
            window: Window { tokens, known: true },
            prompts: &Prompts::default(),
            counter: &*counter,
        };
        let (messages, tokens) = commit_request(&inputs)?;
        assert!(messages[0].content.contains("72 characters") && !messages[0].content.contains("{language}"));
        let counted: usize = messages.iter().map(|message| counter.count(&message.content)).sum();
        assert!(counted <= tokens);
        Some((messages[1].content.clone(), tokens))
    }

    fn change(path: &str, lines: usize) -> (String, String) {
        let body: String = (0..lines).map(|n| format!("+let number_{n} = {n};\n")).collect();
        (path.to_owned(), format!("--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{lines} @@\n{body}"))
    }

    #[test]
    fn the_whole_change_goes_along_where_it_fits() {
        let (text, _) = request(&[change("a.rs", 3), change("b.rs", 1)], 8_192).unwrap();
        assert!(text.contains("Make it safe") && text.contains("a.rs +3 -0") && text.contains("+let number_2 = 2;"));
        assert!(!text.contains(CUT_MARK));
    }

    #[test]
    fn a_large_file_does_not_displace_a_small_one() {
        let (text, tokens) = request(&[change("big.rs", 4_000), change("small.rs", 2)], 2_048).unwrap();
        assert!(tokens <= 2_048 * 7 / 8, "{tokens}");
        assert!(text.contains("b/small.rs\n@@ -0,0 +1,2 @@\n+let number_0 = 0;\n+let number_1 = 1;"), "{text}");
        assert!(text.contains("number_10 ") && text.contains(CUT_MARK) && text.contains("big.rs +4000 -0"));
        assert!(request(&[change("big.rs", 4_000)], 64).is_none());
    }

    const CONFIG: &str =
        "import os\n\n\ndef load_config(path):\n    return open(path)\n\n\ndef save(path):\n    pass\n";

    fn changed<'a>(path: &'a str, before: &'a str, after: &'a str) -> ChangedFile<'a> {
        ChangedFile { path, renamed_from: None, before: Some(before), after: Some(after) }
    }

    fn subject_of(files: &[ChangedFile<'_>]) -> String {
        let subject = change_message(files, "");
        assert!(subject.chars().count() <= MAX_SUBJECT_CHARS, "{subject}");
        subject
    }

    #[test]
    fn a_changed_file_is_named_with_the_symbols_that_the_hunks_touch() {
        let one = CONFIG.replace("open(path)", "open(path, 'r')");
        assert_eq!(subject_of(&[changed("config.py", CONFIG, &one)]), "Change load_config in config.py");
        let two = one.replace("pass", "return None");
        assert_eq!(subject_of(&[changed("config.py", CONFIG, &two)]), "Change load_config and save in config.py");
        let added = format!("{CONFIG}\n\ndef check(path):\n    return path\n");
        assert_eq!(subject_of(&[changed("config.py", CONFIG, &added)]), "Add check to config.py");
        assert_eq!(subject_of(&[changed("config.py", &added, CONFIG)]), "Remove check from config.py");
        let import = CONFIG.replace("import os", "import sys");
        assert_eq!(subject_of(&[changed("config.py", CONFIG, &import)]), "Change config.py");
        assert_eq!(subject_of(&[changed("notes", "a\n", "b\n")]), "Change notes");
    }

    #[test]
    fn a_method_is_named_with_its_type() {
        let before = "struct Config;\n\nimpl Config {\n    fn load(&self) -> u8 {\n        1\n    }\n}\n";
        let after = before.replace("1\n", "2\n");
        assert_eq!(subject_of(&[changed("src/config.rs", before, &after)]), "Change Config::load in src/config.rs");
    }

    #[test]
    fn new_deleted_and_renamed_files_have_their_own_verbs() {
        let new = ChangedFile { path: "helpers.py", renamed_from: None, before: None, after: Some("x = 1\n") };
        let gone = ChangedFile { path: "old.py", renamed_from: None, before: Some("x = 1\n"), after: None };
        let moved = ChangedFile { path: "b.py", renamed_from: Some("a.py"), before: Some(""), after: Some("") };
        let other = changed("config.py", CONFIG, "import sys\n");
        assert_eq!(subject_of(&[new]), "Add helpers.py");
        assert_eq!(subject_of(&[gone]), "Delete old.py");
        assert_eq!(subject_of(&[moved]), "Rename a.py to b.py");
        assert_eq!(subject_of(&[moved, other]), "Rename a.py to b.py and update config.py");
        assert_eq!(subject_of(&[other, new, changed("c", "1\n", "2\n")]), "Add helpers.py and update 2 other files");
        assert_eq!(subject_of(&[new, gone]), "Update helpers.py and old.py");
    }

    #[test]
    fn several_files_are_counted_in_their_folder() {
        let app = "def run():\n    return 1\n";
        let cli = "def main():\n    return 1\n";
        let (new_app, new_cli) = (app.replace('1', "2"), cli.replace('1', "2"));
        let files = [
            changed("src/flask/app.py", app, &new_app),
            changed("src/flask/cli.py", cli, &new_cli),
            changed("src/flask/data/x.txt", "a\n", "b\n"),
        ];
        assert_eq!(subject_of(&files), "Update 3 files in src/flask: run and main");
        let same = [changed("a.py", app, &new_app), changed("b.py", app, &new_app)];
        assert_eq!(subject_of(&same), "Change run in a.py and b.py");
        let plain = [changed("a", "1\n", "2\n"), changed("b", "1\n", "2\n"), changed("c/d", "1\n", "2\n")];
        assert_eq!(subject_of(&plain), "Update 3 files: a, b and d");
    }

    #[test]
    fn long_names_are_left_out_and_not_cut() {
        let path = format!("{}/config.py", "a_rather_long_folder/".repeat(4).trim_end_matches('/'));
        let after = CONFIG.replace("open(path)", "1").replace("pass", "2");
        assert_eq!(subject_of(&[changed(&path, CONFIG, &after)]), "Change load_config and save in config.py");
        let long = CONFIG.replace("load_config", &"load".repeat(12));
        let after = long.replace("open(path)", "1").replace("pass", "2");
        let subject = subject_of(&[changed("config.py", &long, &after)]);
        assert_eq!(subject, "Change config.py");
        let path = "config".repeat(20);
        assert_eq!(subject_of(&[changed(&path, "a\n", "b\n")]), "Update 1 file");
    }

    #[test]
    fn the_first_paragraph_of_the_request_is_the_body() {
        let files = [changed("notes", "a\n", "b\n")];
        let request = format!("BREAK\u{1b} it,\n{}\n\nand more", "please ".repeat(15));
        let message = change_message(&files, &request);
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!((lines[0], lines[1]), ("Change notes", ""));
        assert!(lines[2].starts_with("BREAK it, please please") && lines.len() == 4, "{message}");
        assert!(lines.iter().all(|line| line.chars().count() <= MAX_SUBJECT_CHARS) && !message.contains("and more"));
    }

    proptest! {
        #[test]
        fn a_message_is_one_short_line_whatever_the_answer(answer in "\\PC{0,40}[\n\r\t\"'`#: a-z\u{1b}\u{202e}]{0,200}") {
            if let Some(message) = commit_message_in(&answer) {
                prop_assert!(!message.is_empty() && message.chars().count() <= MAX_SUBJECT_CHARS, "{message:?}");
                prop_assert!(!message.chars().any(char::is_control), "{message:?}");
            }
        }

        #[test]
        fn no_change_is_too_much_for_its_window(files in 1usize..40, lines in 0usize..200, tokens in 600usize..4_000) {
            let change: Vec<_> = (0..files).map(|n| change(&format!("src/file_{n}.rs"), lines)).collect();
            if let Some((_, asked)) = request(&change, tokens) {
                prop_assert!(asked <= Window { tokens, known: true }.max_input(), "{asked}");
            }
        }
    }
}
