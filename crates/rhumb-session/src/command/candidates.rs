//! What can stand where something is being typed, best first. Lists are bounded, and what is large is narrowed down from what the
//! letters before left of it.

use std::sync::Arc;

use super::completion_target::{Place, Slot};
use super::filter::{Key, best, passes, sift};
use super::{Argument, COMMANDS, INDEX_WORDS};
use crate::SessionLine;
use crate::context::{CODEBASE, PassagePlace};
use crate::{Entry, Session, origin};
use rhumb_edit::EditFormat;
use rhumb_index::repo_map::{Refresh, RepoMap, TagGraph};
use rhumb_text::fuzzy::{FuzzyFilter, NameMatch, NamePart};

/// As many can be chosen from.
const MOST: usize = 50;

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
    /// The map, and the rank of each path in it.
    map: Option<Arc<RepoMap>>,
    path_ranks: Vec<u32>,
    /// What is defined, and the rank in the map of each file of it.
    graph: Option<Arc<TagGraph>>,
    file_ranks: Vec<u32>,
    /// The files that passed the query before, by position.
    narrowed: Narrowed,
    /// The names of definitions that passed the query before, by number.
    names: Narrowed,
}

/// Positions that passed a query: a longer query can only leave fewer.
#[derive(Debug, Default)]
struct Narrowed(Option<(String, Vec<usize>)>);

impl Narrowed {
    /// The positions to look at for a query, of `all`.
    fn among(&mut self, typed: &str, all: usize) -> Vec<usize> {
        match self.0.take() {
            Some((before, left)) if typed.starts_with(before.as_str()) => left,
            _ => (0..all).collect(),
        }
    }

    fn put(&mut self, typed: &str, passed: Vec<usize>) {
        self.0 = Some((typed.to_owned(), passed));
    }
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
                let usage = session.lookups.commands.named(&place.own).map(|own| own.arguments.to_lowercase());
                let takes_files = usage.is_some_and(|usage| usage.contains("file") || usage.contains("path"));
                if takes_files { self.files(&place.typed, session, quoted) } else { Vec::new() }
            }
            Slot::Argument(info, number) => match info.takes {
                Argument::Files => self.files(&place.typed, session, quoted),
                Argument::Shell if number > 0 => in_folder(&place.typed, session),
                Argument::Git if number > 0 => self.files(&place.typed, session, quoted),
                Argument::Paths if number == 0 => in_folder(&place.typed, session),
                Argument::ChatFiles => {
                    let files = session.chat_files.files().iter().map(|file| (file.path.clone(), String::new()));
                    matched(&place.typed, &files.collect::<Vec<_>>(), NamePart::Path, quoted)
                }
                takes if number == 0 => {
                    matched(&place.typed, &arguments(takes, info.name, session), NamePart::LastPart, str::to_owned)
                }
                _ => Vec::new(),
            },
        }
    }

    /// Takes note of the files, the map and the symbols as they are now.
    fn take(&mut self, session: &Session) {
        let map = session.next_request.view().and_then(|view| view.map.clone());
        let is_same = |one: Option<*const ()>, other: Option<*const ()>| one == other;
        let is_new_map = !is_same(pointer(self.map.as_ref()), pointer(map.as_ref()));
        let is_new_graph = !is_same(pointer(self.graph.as_ref()), pointer(session.repository.symbols()));
        let are_new_paths = !Arc::ptr_eq(&self.paths, session.repository.paths());
        if are_new_paths {
            self.paths = Arc::clone(session.repository.paths());
            self.folders = folders(&self.paths);
            self.narrowed = Narrowed::default();
        }
        if is_new_graph {
            self.graph = session.repository.symbols().cloned();
            self.names = Narrowed::default();
        }
        if is_new_map || are_new_paths {
            self.path_ranks = map.as_ref().map_or_else(Vec::new, |map| map.ranks(&self.paths, |path| path));
        }
        if is_new_map || is_new_graph {
            let files = self.graph.as_ref().map_or(&[][..], |graph| graph.index().files());
            self.file_ranks = map.as_ref().map_or_else(Vec::new, |map| map.ranks(files, |file| &file.path));
        }
        self.map = map;
    }

    /// The files of the repository that match.
    fn files(&mut self, typed: &str, session: &Session, put: impl Fn(&str) -> String) -> Vec<Candidate> {
        self.files_by_rank(typed, session, put).into_iter().map(|(_, candidate)| candidate).collect()
    }

    fn files_by_rank(&mut self, typed: &str, session: &Session, put: impl Fn(&str) -> String) -> Vec<(Key, Candidate)> {
        self.take(session);
        if typed.contains(['*', '?', '[']) {
            return Vec::new();
        }
        let name = |at: usize| self.paths.get(at).map_or("", String::as_str);
        let rank = |at: usize| self.path_ranks.get(at).copied().unwrap_or(u32::MAX);
        let passed = match typed {
            // What the map puts first is likeliest.
            "" => self
                .map
                .iter()
                .flat_map(|map| &map.files)
                .take(MOST)
                .filter_map(|file| self.position(&file.path))
                .collect(),
            _ => sift(typed, self.narrowed.among(typed, self.paths.len()).into_iter(), name),
        };
        let passed =
            if passed.is_empty() && typed.is_empty() { (0..self.paths.len().min(MOST)).collect() } else { passed };
        let found = best(typed, &passed, MOST, NamePart::Path, (name, rank));
        let files =
            found.into_iter().map(|key| (key, candidate(typed, name(key.2), NamePart::Path, "", put(name(key.2)))));
        let files = files.collect();
        if !typed.is_empty() {
            self.narrowed.put(typed, passed);
        }
        files
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.paths.binary_search_by(|known| known.as_str().cmp(path)).ok()
    }

    /// What can be named with `@`: files, folders, symbols, the diff, an address.
    fn mentions(&mut self, typed: &str, session: &Session) -> Vec<Candidate> {
        let mut found = self.files_by_rank(typed, session, mentioned);
        let passed = sift(typed, 0..self.folders.len(), |at| &self.folders[at]);
        let most = if typed.is_empty() { 5 } else { 10 };
        let folders = best(typed, &passed, most, NamePart::Path, (|at| self.folders[at].as_str(), |_| u32::MAX));
        let folders = folders.into_iter().map(|key| {
            let folder = &self.folders[key.2];
            (key, Candidate { goes_on: true, ..candidate(typed, folder, NamePart::Path, "folder", mentioned(folder)) })
        });
        if typed.is_empty() {
            found.truncate(MOST / 2);
            found.extend(folders);
        } else {
            found.extend(folders);
            found.extend(self.symbols(typed));
            // A stable sort: of a file and a symbol that match equally well and have the same rank, the file comes first.
            found.sort_by_key(|((matched, rank, _), _)| (*matched, *rank));
        }
        let mut found: Vec<Candidate> = found.into_iter().map(|(_, candidate)| candidate).collect();
        let words = [
            (CODEBASE, "the passages of the whole repository that answer the message"),
            ("diff", "what is not committed"),
            ("https://", "a web page"),
        ];
        let words = words.map(|(word, help)| Candidate {
            goes_on: word.ends_with('/'),
            ..candidate(typed, word, NamePart::FirstWord, help, format!("@{word}"))
        });
        let words = words.into_iter().filter(|word| typed.is_empty() || word.is_near);
        // Behind the names that begin with what was typed, before those that only have its letters.
        let at =
            if typed.is_empty() { found.len() } else { found.iter().take_while(|candidate| candidate.is_near).count() };
        found.splice(at..at, words);
        found.truncate(MOST);
        found
    }

    /// The symbols of the repository that match, each name once, at the definition whose file the map ranks first.
    fn symbols(&mut self, typed: &str) -> Vec<(Key, Candidate)> {
        let Some(graph) = self.graph.clone() else { return Vec::new() };
        let index = graph.index();
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let name = |at: usize| index.name(number(at));
        let among = self.names.among(typed, index.names()).into_iter();
        let passed: Vec<usize> =
            among.filter(|at| passes(typed, name(*at)) && !graph.defining_files(number(*at)).is_empty()).collect();
        let file_rank = |file: &u32| self.file_ranks.get(*file as usize).copied().unwrap_or(u32::MAX);
        let first = |at: usize| graph.defining_files(number(at)).iter().min_by_key(|file| (file_rank(file), **file));
        let rank = |at: usize| first(at).map_or(u32::MAX, file_rank);
        let found = best(typed, &passed, MOST, NamePart::Symbol, (name, rank));
        let symbol = |key: Key| {
            let (name, file) = (name(key.2), *first(key.2)?);
            let line = index.definitions(file).find(|entry| entry.name() == name)?.line();
            let place = format!("{}:{line}", index.path(file));
            Some((key, candidate(typed, name, NamePart::Symbol, &place, format!("@{name}"))))
        };
        let symbols = found.into_iter().filter_map(symbol).collect();
        self.names.put(typed, passed);
        symbols
    }
}

/// The address of what is shared, to tell whether it is the same.
fn pointer<T>(shared: Option<&Arc<T>>) -> Option<*const ()> {
    shared.map(|shared| Arc::as_ptr(shared).cast())
}

fn candidate(typed: &str, label: &str, name: NamePart, help: &str, insert: String) -> Candidate {
    Candidate {
        label: label.to_owned(),
        help: help.to_owned(),
        insert,
        goes_on: false,
        is_near: FuzzyFilter::literal(typed).name_match(label, name) != NameMatch::Fuzzy,
        // The name of a file is enough where its path can be told from it.
        is_whole: typed == label || (typed.contains('.') && label.ends_with(&format!("/{typed}"))),
        ends_line: false,
    }
}

/// The pairs that match, best first.
fn matched(typed: &str, pairs: &[Pair], name: NamePart, put: impl Fn(&str) -> String) -> Vec<Candidate> {
    best_of(typed, pairs, MOST, name, put)
}

/// The best `most` pairs that match.
fn best_of(typed: &str, pairs: &[Pair], most: usize, name: NamePart, put: impl Fn(&str) -> String) -> Vec<Candidate> {
    let passed = sift(typed, 0..pairs.len(), |at| &pairs[at].0);
    let found = best(typed, &passed, most, name, (|at| pairs[at].0.as_str(), |_| 0));
    let pair = |at: usize| pairs.get(at).map(|(label, help)| candidate(typed, label, name, help, put(label)));
    found.into_iter().filter_map(|(.., at)| pair(at)).collect()
}

/// The commands that match: those of the table, those of files, and last the other words.
fn commands(typed: &str, session: &Session, words: &[Word<'_>]) -> Vec<Candidate> {
    let table = COMMANDS.iter().map(|info| {
        let help =
            if info.arguments.is_empty() { info.help.into() } else { format!("{} — {}", info.arguments, info.help) };
        (info.name.to_owned(), help)
    });
    let own = session.lookups.commands.usable().map(|command| {
        let usage = if command.arguments.is_empty() { String::new() } else { format!("{} — ", command.arguments) };
        (command.name.clone(), format!("{usage}{} ({})", command.description, origin(command.source)))
    });
    // All of them, so that one can look through what there is.
    let all: Vec<Pair> = table.chain(own).collect();
    let mut found = best_of(typed, &all, all.len(), NamePart::FirstWord, |name| format!("/{name}"));
    if !typed.is_empty() {
        let pairs = words.iter().map(|word| (word.name.to_owned(), word.help.to_owned()));
        let more: Vec<Pair> = pairs.filter(|(name, _)| COMMANDS.iter().all(|info| info.name != name)).collect();
        // Those only look like it elsewhere: commands are what is typed here.
        found.extend(
            matched(typed, &more, NamePart::FirstWord, |name| format!("/{name}"))
                .into_iter()
                .filter(|word| word.is_near),
        );
        found.sort_by_key(|candidate| !candidate.is_near);
    }
    let ends = |name: &str| {
        let info = COMMANDS.iter().find(|info| info.name == name);
        info.map_or_else(|| session.lookups.commands.named(name).is_none(), |info| info.takes == Argument::None)
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
        Argument::Effort => words(rhumb_llm::Thinking::EFFORTS),
        Argument::Refresh => Refresh::ALL.iter().map(|mode| (mode.as_str().to_owned(), String::new())).collect(),
        Argument::Theme => session.lookups.themes.iter().map(|name| (name.clone(), String::new())).collect(),
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
        Argument::Text if command == "settings" => session.lookups.setting_names.clone(),
        _ => Vec::new(),
    }
}

/// The models that can be asked at once; all that are known where there is no key for any.
fn models(session: &Session) -> Vec<Pair> {
    let rows = &session.lookups.models;
    let is_any_at_hand = rows.iter().any(|row| row.has_key);
    let offered = rows.iter().filter(|row| row.has_key || !is_any_at_hand);
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
    session.persistence.earlier.iter().map(pair).collect()
}

/// What lies in the folder that is being typed, as far as it was looked up.
fn in_folder(typed: &str, session: &Session) -> Vec<Candidate> {
    let Some((folder, names)) = session.lookups.folder.as_ref().filter(|(folder, _)| folder == folder_of(typed)) else {
        return Vec::new();
    };
    let pairs: Vec<Pair> = names.iter().map(|name| (format!("{folder}{name}"), String::new())).collect();
    let mut found = matched(typed, &pairs, NamePart::Path, quoted);
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
    use super::super::completion_target::place;
    use super::*;
    use crate::tests::{graph_of, map_files};
    use crate::{Connection, ContextView};
    use rhumb_index::repo_map::MapRequest;

    fn session(paths: &[&str]) -> Session {
        let mut session = Session::start(Connection::None).0;
        session.repository.set_paths(Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()));
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

    /// A session that knows what its files define, and their map.
    fn mapped(files: &[(&str, &str)]) -> Session {
        let mut paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        paths.sort_unstable();
        let mut session = session(&paths);
        session.repository.set_symbols(graph_of(files));
        let counter = rhumb_tokens::counter_for_model("gpt-4");
        let request = MapRequest { budget: 1_000, ..MapRequest::default() };
        let map = RepoMap::build(&map_files(files), &request, counter.as_ref());
        let prompt = Arc::default();
        session.next_request.set_view(ContextView {
            map: Some(Arc::new(map)),
            provisional: false,
            prompt,
            unreadable: Vec::new(),
        });
        session
    }

    const FLASKISH: [(&str, &str); 6] = [
        (".github/ISSUE_TEMPLATE/config.yml", "blank_issues_enabled: false\n"),
        ("docs/config.md", "# Configuration\n"),
        ("src/app.py", "from config import Config\n\nclass App:\n    settings = Config()\n"),
        ("src/blueprints.py", "from config import Config\n\ndef record():\n    return Config()\n"),
        (
            "src/config.py",
            "class Config(dict):\n    def from_file(self):\n        return ConfigAttribute()\n\nclass ConfigAttribute:\n    pass\n",
        ),
        (
            "tests/test_config.py",
            "from config import Config\n\ndef test_config_from_file():\n    Config().from_file()\n",
        ),
    ];

    fn labels(session: &Session, before: &str) -> Vec<String> {
        found(session, before).into_iter().map(|candidate| candidate.label).collect()
    }

    #[test]
    fn the_name_that_was_typed_comes_first_and_the_map_decides_between_equal_names() {
        let session = mapped(&FLASKISH);
        assert_eq!(labels(&session, "see @Config")[..2], ["Config", "src/config.py"]);
        assert_eq!(labels(&session, "see @config")[..2], ["src/config.py", "Config"]);
        let all = labels(&session, "see @conf");
        let place = |label: &str| all.iter().position(|known| known == label).unwrap();
        assert!(place("ConfigAttribute") < place(".github/ISSUE_TEMPLATE/config.yml"), "{all:?}");
        assert!(place(".github/ISSUE_TEMPLATE/config.yml") < place("test_config_from_file"), "{all:?}");
        assert_eq!(labels(&session, "/add conf")[0], "src/config.py");
        let symbol = &found(&session, "see @Config")[0];
        assert_eq!(
            (symbol.help.as_str(), symbol.insert.as_str(), symbol.is_near),
            ("src/config.py:1", "@Config", true)
        );
    }

    #[test]
    fn a_definition_is_found_behind_any_number_of_others() {
        let texts: Vec<(String, String)> = (0..300)
            .map(|at| (format!("a/conf_{at:03}.py"), format!("def conf_step_{at}():\n    return c_o_n_f_{at}()\n")))
            .chain([("z/late.py".to_owned(), "class Conf:\n    pass\n".to_owned())])
            .collect();
        let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!(labels(&mapped(&files), "see @Conf")[0], "Conf");
        assert!(labels(&mapped(&files), "see @conf_step_299").contains(&"conf_step_299".to_owned()));
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
        session.chat_files.add("src/a.rs", false);
        session.set_setting_names(vec![("edit_format".into(), String::new()), ("model".into(), String::new())]);
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
        let row = |name: &str, has_key| crate::ModelRow { name: name.into(), detail: String::new(), has_key };
        session.lookups.models = Arc::new(vec![row("tide", true), row("tidal", false)]);
        assert_eq!(found(&session, "/model tid").len(), 1);
        session.lookups.models = Arc::new(vec![row("tidal", false)]);
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
        session.persistence.earlier = vec![line(7, "rigging"), line(3, "")];
        assert_eq!(first(&session, "/resume rig"), "rigging");
        assert_eq!(found(&session, "/resume ")[1].insert, "3");
        assert!(found(&session, "/resume ")[1].help.contains("hoist"));
    }

    #[test]
    fn a_folder_is_completed_bit_by_bit() {
        let mut session = session(&[]);
        session.lookups.folder = Some((String::new(), vec!["notes/".into(), "n.md".into()]));
        let notes = &found(&session, "/save no")[0];
        assert_eq!((notes.insert.as_str(), notes.goes_on), ("notes/", true));
        assert!(found(&session, "/save notes/x").is_empty(), "that folder was not looked into yet");
        session.lookups.folder = Some(("notes/".into(), vec!["x y.md".into()]));
        assert_eq!(first(&session, "/save notes/x"), "'notes/x y.md'");
    }

    #[test]
    fn folders_are_listed_once_each() {
        let paths: Vec<String> = ["a/b/c.rs", "a/b/d.rs", "a/e.rs", "f/g/h.rs"].map(str::to_owned).to_vec();
        assert_eq!(folders(&paths), ["a/", "a/b/", "f/", "f/g/"]);
    }
}
