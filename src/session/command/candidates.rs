//! What can stand where something is being typed, best first. Lists are bounded, and what is large is narrowed down from what the
//! letters before left of it.

use std::sync::Arc;

use super::place::{Place, Slot};
use super::sieve::{begins, best, file_name, sift};
use super::{Argument, COMMANDS, INDEX_WORDS};
use crate::config::{EFFORTS, SETTINGS};
use crate::context::{CODEBASE, PassagePlace};
use crate::edit::EditFormat;
use crate::repo_map::Refresh;
use crate::session::{Entry, Session, origin};
use crate::store::sessions::SessionLine;

/// As many can be chosen from.
const MOST: usize = 50;

/// Files of the map whose symbols are looked through, best first.
const MAPPED: usize = 200;

/// What git is asked for most.
const GIT: [&str; 14] = [
    "status",
    "log --oneline -20",
    "diff",
    "show",
    "branch",
    "switch",
    "stash",
    "blame",
    "add",
    "restore",
    "fetch",
    "pull",
    "push",
    "tag",
];

/// A word that the caller adds, with what it means.
#[derive(Debug, Clone, Copy)]
pub struct Word<'w> {
    /// The word.
    pub name: &'w str,
    /// What it means.
    pub help: &'w str,
}

/// Something that can stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What is shown.
    pub label: String,
    /// What it means; may be empty.
    pub help: String,
    /// What takes the place of what was typed.
    pub insert: String,
    /// Whether it is only the beginning of more, as a folder is.
    pub goes_on: bool,
    /// Whether it begins with what was typed: then Enter may take it without a look.
    pub is_near: bool,
    /// Whether it is what was typed, be it by the end of its path.
    pub is_whole: bool,
    /// Whether nothing can follow it: the line can be carried out.
    pub ends_line: bool,
}

/// Finds candidates, and remembers what the last letters left.
#[derive(Debug, Default)]
pub struct Candidates {
    paths: Arc<Vec<String>>,
    folders: Vec<String>,
    /// A query and the files that pass it, by position.
    narrowed: Option<(String, Vec<usize>)>,
}

/// A word and what it means, still to be matched.
type Pair = (String, String);

impl Candidates {
    /// What can stand at the place. `words` are names that count as commands besides those of the table.
    pub fn at(&mut self, place: &Place, session: &Session, words: &[Word<'_>]) -> Vec<Candidate> {
        match place.wanted {
            Slot::Command => commands(&place.typed, session, words),
            Slot::Mention => self.mentions(&place.typed, session),
            Slot::Own => {
                // What its file calls a file or a path is one.
                let usage = session.known.commands.named(&place.own).map(|own| own.arguments.to_lowercase());
                let takes_files = usage.is_some_and(|usage| usage.contains("file") || usage.contains("path"));
                if takes_files { self.files(&place.typed, session, quoted) } else { Vec::new() }
            }
            Slot::Argument(info, number) => match info.takes {
                Argument::Files => self.files(&place.typed, session, quoted),
                Argument::Shell if number > 0 => in_folder(&place.typed, session),
                Argument::Git if number > 0 => self.files(&place.typed, session, quoted),
                Argument::Paths if number == 0 => in_folder(&place.typed, session),
                Argument::ChatFiles => {
                    let files = session.files.iter().map(|file| (file.path.clone(), String::new()));
                    matched(&place.typed, &files.collect::<Vec<_>>(), quoted)
                }
                takes if number == 0 => matched(&place.typed, &arguments(takes, info.name, session), str::to_owned),
                _ => Vec::new(),
            },
        }
    }

    fn take_paths(&mut self, session: &Session) {
        if !Arc::ptr_eq(&self.paths, &session.paths) {
            self.paths = Arc::clone(&session.paths);
            self.folders = folders(&self.paths);
            self.narrowed = None;
        }
    }

    /// The files of the repository that match.
    fn files(&mut self, typed: &str, session: &Session, put: impl Fn(&str) -> String) -> Vec<Candidate> {
        self.take_paths(session);
        if typed.contains(['*', '?', '[']) {
            return Vec::new();
        }
        if typed.is_empty() {
            // What the map puts first is likeliest.
            let ranked = session.view.as_ref().and_then(|view| view.map.as_ref()).map_or(&[][..], |map| &map.files);
            let first: Vec<String> = ranked.iter().take(MOST).map(|file| file.path.to_string()).collect();
            let paths = if first.is_empty() { self.paths.iter().take(MOST).cloned().collect() } else { first };
            return paths.iter().map(|path| candidate(typed, path, "", put(path))).collect();
        }
        let name = |at: usize| self.paths.get(at).map_or("", String::as_str);
        let passed = match &self.narrowed {
            Some((before, left)) if typed.starts_with(before.as_str()) => sift(typed, left.iter().copied(), name),
            _ => sift(typed, 0..self.paths.len(), name),
        };
        let found = best(typed, &passed, MOST, name);
        let files = found.into_iter().map(|at| candidate(typed, name(at), "", put(name(at)))).collect();
        self.narrowed = Some((typed.to_owned(), passed));
        files
    }

    /// What can be named with `@`: files, folders, symbols of the map, the diff, an address.
    fn mentions(&mut self, typed: &str, session: &Session) -> Vec<Candidate> {
        let mut found = self.files(typed, session, mentioned);
        if typed.is_empty() {
            found.truncate(MOST / 2);
        }
        let passed = sift(typed, 0..self.folders.len(), |at| &self.folders[at]);
        for at in best(typed, &passed, if typed.is_empty() { 5 } else { 10 }, |at| &self.folders[at]) {
            let folder = &self.folders[at];
            found.push(Candidate { goes_on: true, ..candidate(typed, folder, "folder", mentioned(folder)) });
        }
        found.extend(symbols(typed, session));
        for (word, help) in [
            (CODEBASE, "the passages of the whole repository that answer the message"),
            ("diff", "what is not committed"),
            ("https://", "a web page"),
        ] {
            if sieve_word(typed, word) {
                found.push(Candidate {
                    goes_on: word.ends_with('/'),
                    ..candidate(typed, word, help, format!("@{word}"))
                });
            }
        }
        // Those whose own name begins with what was typed come first, be they files, folders or symbols.
        let rank = |candidate: &Candidate| (!begins(typed, file_name(&candidate.label)), !candidate.is_near);
        if !typed.is_empty() {
            found.sort_by_key(rank);
        }
        found.truncate(MOST);
        found
    }
}

fn sieve_word(typed: &str, word: &str) -> bool {
    typed.is_empty() || begins(typed, word)
}

fn candidate(typed: &str, name: &str, help: &str, insert: String) -> Candidate {
    Candidate {
        label: name.to_owned(),
        help: help.to_owned(),
        insert,
        goes_on: false,
        is_near: !typed.is_empty() && begins(typed, name),
        // The name of a file is enough where its path can be told from it.
        is_whole: typed == name || (typed.contains('.') && name.ends_with(&format!("/{typed}"))),
        ends_line: false,
    }
}

/// The pairs that match, best first.
fn matched(typed: &str, pairs: &[Pair], put: impl Fn(&str) -> String) -> Vec<Candidate> {
    best_of(typed, pairs, MOST, put)
}

/// The best `most` pairs that match.
fn best_of(typed: &str, pairs: &[Pair], most: usize, put: impl Fn(&str) -> String) -> Vec<Candidate> {
    let passed = sift(typed, 0..pairs.len(), |at| &pairs[at].0);
    let found = best(typed, &passed, most, |at| &pairs[at].0);
    let pair = |at: usize| pairs.get(at).map(|(name, help)| candidate(typed, name, help, put(name)));
    found.into_iter().filter_map(pair).collect()
}

/// The commands that match: those of the table, those of files, and last the other words.
fn commands(typed: &str, session: &Session, words: &[Word<'_>]) -> Vec<Candidate> {
    let table = COMMANDS.iter().map(|info| {
        let help =
            if info.arguments.is_empty() { info.help.into() } else { format!("{} — {}", info.arguments, info.help) };
        (info.name.to_owned(), help)
    });
    let own = session.known.commands.usable().map(|command| {
        let usage = if command.arguments.is_empty() { String::new() } else { format!("{} — ", command.arguments) };
        (command.name.clone(), format!("{usage}{} ({})", command.description, origin(command.level)))
    });
    // All of them, so that one can look through what there is.
    let all: Vec<Pair> = table.chain(own).collect();
    let mut found = best_of(typed, &all, all.len(), |name| format!("/{name}"));
    if !typed.is_empty() {
        let pairs = words.iter().map(|word| (word.name.to_owned(), word.help.to_owned()));
        let more: Vec<Pair> = pairs.filter(|(name, _)| COMMANDS.iter().all(|info| info.name != name)).collect();
        // Those only look like it elsewhere: commands are what is typed here.
        found.extend(matched(typed, &more, |name| format!("/{name}")).into_iter().filter(|word| word.is_near));
        found.sort_by_key(|candidate| !candidate.is_near);
    }
    let ends = |name: &str| {
        let info = COMMANDS.iter().find(|info| info.name == name);
        info.map_or_else(|| session.known.commands.named(name).is_none(), |info| info.takes == Argument::None)
    };
    for candidate in &mut found {
        candidate.ends_line = ends(&candidate.label);
        candidate.label.insert(0, '/');
    }
    found
}

/// The words that an argument can be.
fn arguments(takes: Argument, command: &str, session: &Session) -> Vec<Pair> {
    let words = |words: &[&str]| words.iter().map(|word| ((*word).to_owned(), String::new())).collect();
    match takes {
        Argument::Model => models(session),
        Argument::EditFormat => EditFormat::ALL.iter().map(|format| (format.to_string(), String::new())).collect(),
        Argument::Effort => words(EFFORTS),
        Argument::Refresh => Refresh::ALL.iter().map(|mode| (mode.as_str().to_owned(), String::new())).collect(),
        Argument::Theme => session.known.themes.iter().map(|name| (name.clone(), String::new())).collect(),
        Argument::Tokens if command == "map-tokens" => words(&["auto", "0", "1k", "2k", "4k", "8k", "16k"]),
        Argument::Tokens => words(&["0", "2k", "4k", "8k", "16k", "32k"]),
        Argument::Git => words(&GIT),
        Argument::Turn => turns(session),
        Argument::Session => sessions(session),
        Argument::Text if command == "passages" => {
            let all = ("drop".to_owned(), "all of them".to_owned());
            let place = |place: &PassagePlace| (format!("drop {}", place.label()), String::new());
            std::iter::once(all).chain(session.codebase.places.iter().map(place)).collect()
        }
        Argument::Text if command == "watch" => words(&["on", "off"]),
        Argument::Text if command == "index" => words(&INDEX_WORDS),
        Argument::Text if command == "settings" => {
            SETTINGS.iter().map(|setting| (setting.name.to_owned(), setting.help.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

/// The models that can be asked at once; all that are known where there is no key for any.
fn models(session: &Session) -> Vec<Pair> {
    let rows = &session.known.models;
    let is_any_at_hand = rows.iter().any(|row| row.at_hand);
    let offered = rows.iter().filter(|row| row.at_hand || !is_any_at_hand);
    offered.map(|row| (row.name.clone(), row.detail.clone())).collect()
}

/// The turns so far, the newest first: number and first line.
fn turns(session: &Session) -> Vec<Pair> {
    let asked = session.transcript.iter().filter_map(|entry| match entry {
        Entry::User { text, .. } => Some(text.lines().next().unwrap_or_default().to_owned()),
        _ => None,
    });
    let mut turns: Vec<Pair> =
        asked.zip(1..).map(|(line, number): (String, usize)| (number.to_string(), line)).collect();
    turns.reverse();
    turns
}

/// The sessions before this one, by their names, or by number where they have none.
fn sessions(session: &Session) -> Vec<Pair> {
    let pair = |line: &SessionLine| {
        let number = line.number.to_string();
        let called = if line.name.is_empty() { number.clone() } else { line.name.clone() };
        (called, format!("{number} · {} · {}", line.changed, line.title()))
    };
    session.keeping.earlier.iter().map(pair).collect()
}

/// What lies in the folder that is being typed, as far as it was looked up.
fn in_folder(typed: &str, session: &Session) -> Vec<Candidate> {
    let Some((folder, names)) = session.known.folder.as_ref().filter(|(folder, _)| folder == folder_of(typed)) else {
        return Vec::new();
    };
    let pairs: Vec<Pair> = names.iter().map(|name| (format!("{folder}{name}"), String::new())).collect();
    let mut found = matched(typed, &pairs, quoted);
    for candidate in found.iter_mut().filter(|candidate| candidate.label.ends_with('/')) {
        candidate.goes_on = true;
        candidate.insert.clone_from(&candidate.label);
    }
    found
}

/// The folder that a path being typed is in, with its slash; empty for the current one.
pub fn folder_of(typed: &str) -> &str {
    typed.rfind('/').and_then(|at| typed.get(..=at)).unwrap_or_default()
}

/// The symbols of the likeliest files of the map that match.
fn symbols(typed: &str, session: &Session) -> Vec<Candidate> {
    let Some(map) = session.view.as_ref().and_then(|view| view.map.as_ref()).filter(|_| !typed.is_empty()) else {
        return Vec::new();
    };
    let mut pairs: Vec<Pair> = Vec::new();
    for (place, file) in map.files.iter().enumerate().filter(|(_, file)| file.definitions > 0).take(MAPPED) {
        for symbol in map.symbols(place).iter().filter(|symbol| super::sieve::passes(typed, &symbol.name)) {
            if pairs.iter().all(|(name, _)| *name != symbol.name) {
                pairs.push((symbol.name.clone(), format!("{}:{}", file.path, symbol.line)));
            }
        }
    }
    matched(typed, &pairs, |name| format!("@{name}")).into_iter().take(MOST / 3).collect()
}

/// A name as an argument: quoted as in a shell, where it has to be.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || "/._-+@%,:=".contains(c));
    if is_plain { name.to_owned() } else { shell_words::quote(name).into_owned() }
}

/// A path as it is named in a message.
fn mentioned(path: &str) -> String {
    if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") }
}

/// The folders of a sorted list of files, each with a slash at its end.
fn folders(paths: &[String]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut before = "";
    for path in paths {
        let shared = path.bytes().zip(before.bytes()).take_while(|(one, two)| one == two).count();
        for (at, _) in path.match_indices('/').filter(|(at, _)| *at >= shared) {
            found.extend(path.get(..=at).map(str::to_owned));
        }
        before = path;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::place::place;
    use super::*;
    use crate::session::{ChatFile, Connection};

    fn session(paths: &[&str]) -> Session {
        let mut session = Session::start(Connection::None).0;
        session.paths = Arc::new(paths.iter().map(|path| (*path).to_owned()).collect());
        session.listed = true;
        session
    }

    fn found(session: &Session, before: &str) -> Vec<Candidate> {
        let word = Word { name: "focus-map", help: "Give the focus to the repo map." };
        Candidates::default().at(&place(before).unwrap(), session, &[word])
    }

    fn first(session: &Session, before: &str) -> String {
        found(session, before).first().map_or_else(String::new, |candidate| candidate.insert.clone())
    }

    #[test]
    fn a_few_letters_find_a_command() {
        let session = session(&[]);
        assert_eq!(found(&session, "/").len(), COMMANDS.len());
        assert_eq!(first(&session, "/cle"), "/clear");
        assert_eq!(first(&session, "/mref"), "/map-refresh");
        assert_eq!(first(&session, "/focus-m"), "/focus-map");
        assert!(found(&session, "/clear")[0].ends_line && !found(&session, "/add")[0].ends_line);
        assert!(found(&session, "/xq").is_empty());
    }

    #[test]
    fn files_are_completed_by_their_names_and_quoted() {
        let session = session(&["docs/my file.md", "src/cache.rs", "src/main.rs"]);
        assert_eq!(first(&session, "/add cach"), "src/cache.rs");
        assert_eq!(first(&session, "/add my"), "'docs/my file.md'");
        assert_eq!(first(&session, "look at @my"), "@\"docs/my file.md\"");
        assert_eq!(first(&session, "look at @src"), "@src/");
        assert!(found(&session, "/add src/*").is_empty(), "a glob is whole as it is");
    }

    #[test]
    fn more_letters_narrow_what_the_letters_before_left() {
        let session = session(&["a/bc.rs", "a/bd.rs", "x.rs"]);
        let mut candidates = Candidates::default();
        let mut count = |before: &str| candidates.at(&place(before).unwrap(), &session, &[]).len();
        assert_eq!((count("/add b"), count("/add bc"), count("/add x")), (2, 1, 1));
    }

    #[test]
    fn words_of_closed_sets_are_all_there() {
        let mut session = session(&[]);
        session.files = vec![ChatFile { path: "src/a.rs".into(), read_only: false }];
        assert_eq!(first(&session, "/drop a"), "src/a.rs");
        assert_eq!(found(&session, "/edit-format ").len(), EditFormat::ALL.len());
        assert_eq!(first(&session, "/edit-format ud"), "udiff");
        assert_eq!(first(&session, "/reasoning-effort hi"), "high");
        assert_eq!(first(&session, "/map-refresh man"), "manual");
        assert_eq!(first(&session, "/watch of"), "off");
        assert_eq!(first(&session, "/settings edit_f"), "edit_format");
        assert!(found(&session, "/edit-format diff whole").is_empty(), "it takes one word");
    }

    #[test]
    fn models_without_a_key_are_offered_only_where_there_is_no_other() {
        let mut session = session(&[]);
        let row = |name: &str, at_hand| crate::session::ModelRow { name: name.into(), detail: String::new(), at_hand };
        session.known.models = Arc::new(vec![row("tide", true), row("tidal", false)]);
        assert_eq!(found(&session, "/model tid").len(), 1);
        session.known.models = Arc::new(vec![row("tidal", false)]);
        assert_eq!(first(&session, "/model tid"), "tidal");
    }

    #[test]
    fn sessions_are_completed_by_name_or_number() {
        let mut session = session(&[]);
        let line = |number, name: &str| SessionLine {
            number,
            parent: None,
            name: name.into(),
            opening: "hoist".into(),
            messages: 1,
            begun: String::new(),
            changed: "2026-11-22 08:40".into(),
            live: false,
        };
        session.keeping.earlier = vec![line(7, "rigging"), line(3, "")];
        assert_eq!(first(&session, "/resume rig"), "rigging");
        assert_eq!(found(&session, "/resume ")[1].insert, "3");
        assert!(found(&session, "/resume ")[1].help.contains("hoist"));
    }

    #[test]
    fn a_folder_is_completed_bit_by_bit() {
        let mut session = session(&[]);
        session.known.folder = Some((String::new(), vec!["notes/".into(), "n.md".into()]));
        let notes = &found(&session, "/save no")[0];
        assert_eq!((notes.insert.as_str(), notes.goes_on), ("notes/", true));
        assert!(found(&session, "/save notes/x").is_empty(), "that folder was not looked into yet");
        session.known.folder = Some(("notes/".into(), vec!["x y.md".into()]));
        assert_eq!(first(&session, "/save notes/x"), "'notes/x y.md'");
    }

    #[test]
    fn folders_are_listed_once_each() {
        let paths: Vec<String> = ["a/b/c.rs", "a/b/d.rs", "a/e.rs", "f/g/h.rs"].map(str::to_owned).to_vec();
        assert_eq!(folders(&paths), ["a/", "a/b/", "f/", "f/g/"]);
    }
}
