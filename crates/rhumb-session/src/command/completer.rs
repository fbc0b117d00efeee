//! The completions for a target, best first. Lists are bounded. The result for a prefix is cached, because a longer query can match only
//! fewer names.

use super::INDEX_WORDS;
use crate::context::{CODEBASE, ChunkLocation};
use crate::{Argument, COMMANDS, CompletionKind, CompletionTarget, Entry, Session, SessionLine, origin};
use rhumb_edit::EditFormat;
use rhumb_index::repo_map::{Refresh, RepoMap, TagGraph};
use rhumb_text::fuzzy::{FuzzyFilter, FuzzyMatch, NameMatch, NamePart, file_name};
use std::sync::Arc;

/// Maximum number of completions of files, symbols and arguments.
const MAX_COMPLETIONS: usize = 50;

/// Maximum number of names that are ranked by fuzzy matching. Names that equal the query or begin with it are always found; a query that
/// matches more names is too short to rank the others well.
const MAX_FUZZY_RANKED: usize = 4_096;

/// Frequent arguments of git.
const GIT: [&str; 14] = [
    "status", "log --oneline -20", "diff", "show", "branch", "switch", "stash", "blame", "add", "restore", "fetch",
    "pull", "push", "tag",
];

/// A command of the front end that is not in the table.
#[derive(Debug, Clone, Copy)]
pub struct ExtraCommand<'w> {
    /// The name.
    pub name: &'w str,
    /// A description.
    pub help: &'w str,
}

/// A completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionItem {
    /// The text for display.
    pub label: String,
    /// A description; may be empty.
    pub help: String,
    /// The text that replaces what was typed.
    pub insert: String,
    /// Whether more can follow directly, as after a folder.
    pub is_partial: bool,
    /// Whether it begins with the typed text or equals it, so that Enter may accept it.
    pub is_literal_match: bool,
    /// Whether it was typed completely. The end of a path with the file name suffices.
    pub is_complete: bool,
    /// Whether the command takes no arguments, so that it can be executed.
    pub ends_line: bool,
}

/// Finds completions, and caches which names matched the last query.
#[derive(Debug, Default)]
pub struct Completer {
    paths: Arc<Vec<String>>,
    folders: Vec<String>,
    map: Option<Arc<RepoMap>>,
    path_ranks: Vec<u32>,
    graph: Option<Arc<TagGraph>>,
    /// The rank in the map of each file of the graph.
    file_ranks: Vec<u32>,
    matching_paths: LastMatches,
    matching_symbols: LastMatches,
}

/// The last query and the positions of the names that matched it.
#[derive(Debug, Default)]
struct LastMatches(Option<(String, Vec<usize>)>);

impl LastMatches {
    /// The positions that can match a query: those of the last query if the new one begins with it, else all `count`.
    fn possible(&mut self, query: &str, count: usize) -> Vec<usize> {
        match self.0.take() {
            Some((last, positions)) if query.starts_with(last.as_str()) => positions,
            _ => (0..count).collect(),
        }
    }

    fn set(&mut self, query: &str, positions: Vec<usize>) {
        self.0 = Some((query.to_owned(), positions));
    }
}

type Labelled = (String, String);

/// The match of a name, its rank in the map or its list, and its position. Sorts in the order in which completions are shown.
type RankedMatch = (FuzzyMatch, u32, usize);

impl Completer {
    /// The completions for a target. `extra` are commands of the front end.
    pub fn completions(
        &mut self,
        target: &CompletionTarget,
        session: &Session,
        extra: &[ExtraCommand<'_>],
    ) -> Vec<CompletionItem> {
        match target.kind {
            CompletionKind::Command => commands(&target.typed, session, extra),
            CompletionKind::Mention => self.mentions(&target.typed, session),
            CompletionKind::CustomArgument => {
                // The usage in its file says whether it takes files.
                let usage =
                    session.lookups.commands.named(&target.command).map(|custom| custom.arguments.to_lowercase());
                let takes_files = usage.is_some_and(|usage| usage.contains("file") || usage.contains("path"));
                if takes_files { self.files(&target.typed, session, quoted) } else { Vec::new() }
            }
            CompletionKind::Argument(info, number) => match info.takes {
                Argument::Files => self.files(&target.typed, session, quoted),
                Argument::Shell if number > 0 => in_folder(&target.typed, session),
                Argument::Git if number > 0 => self.files(&target.typed, session, quoted),
                Argument::Paths if number == 0 => in_folder(&target.typed, session),
                Argument::ChatFiles => {
                    let files = session.chat_files.files().iter().map(|file| (file.path.clone(), String::new()));
                    matched(&target.typed, &files.collect::<Vec<_>>(), NamePart::Path, quoted)
                }
                takes if number == 0 => {
                    matched(&target.typed, &arguments(takes, info.name, session), NamePart::LastPart, str::to_owned)
                }
                _ => Vec::new(),
            },
        }
    }

    /// Updates the files, the map and the symbols.
    fn update(&mut self, session: &Session) {
        let map = session.next_request.view().and_then(|view| view.map.clone());
        let is_new_map = self.map.as_ref().map(Arc::as_ptr) != map.as_ref().map(Arc::as_ptr);
        let is_new_graph = self.graph.as_ref().map(Arc::as_ptr) != session.repository.symbols().map(Arc::as_ptr);
        let are_new_paths = !Arc::ptr_eq(&self.paths, session.repository.paths());
        if are_new_paths {
            self.paths = Arc::clone(session.repository.paths());
            self.folders = folders(&self.paths);
            self.matching_paths = LastMatches::default();
        }
        if is_new_graph {
            self.graph = session.repository.symbols().cloned();
            self.matching_symbols = LastMatches::default();
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

    /// The matching files of the repository. `put` makes the inserted text.
    fn files(&mut self, typed: &str, session: &Session, put: impl Fn(&str) -> String) -> Vec<CompletionItem> {
        self.files_by_rank(typed, session, put).into_iter().map(|(_, completion)| completion).collect()
    }

    fn files_by_rank(
        &mut self,
        typed: &str,
        session: &Session,
        put: impl Fn(&str) -> String,
    ) -> Vec<(RankedMatch, CompletionItem)> {
        self.update(session);
        if typed.contains(['*', '?', '[']) {
            return Vec::new();
        }
        let name = |at: usize| self.paths.get(at).map_or("", String::as_str);
        let rank = |at: usize| self.path_ranks.get(at).copied().unwrap_or(u32::MAX);
        let positions = match typed {
            // Without a query, the files at the top of the map are the most likely.
            "" => self
                .map
                .iter()
                .flat_map(|map| &map.files)
                .take(MAX_COMPLETIONS)
                .filter_map(|file| self.position(&file.path))
                .collect(),
            _ => matching(typed, self.matching_paths.possible(typed, self.paths.len()).into_iter(), name),
        };
        let positions = if positions.is_empty() && typed.is_empty() {
            (0..self.paths.len().min(MAX_COMPLETIONS)).collect()
        } else {
            positions
        };
        let found = best(typed, &positions, MAX_COMPLETIONS, NamePart::Path, (name, rank));
        let files =
            found.into_iter().map(|key| (key, completion(typed, name(key.2), NamePart::Path, "", put(name(key.2)))));
        let files = files.collect();
        if !typed.is_empty() {
            self.matching_paths.set(typed, positions);
        }
        files
    }

    fn position(&self, path: &str) -> Option<usize> {
        self.paths.binary_search_by(|known| known.as_str().cmp(path)).ok()
    }

    /// Completions after `@`: files, folders, symbols, the diff and URLs.
    fn mentions(&mut self, typed: &str, session: &Session) -> Vec<CompletionItem> {
        let mut found = self.files_by_rank(typed, session, mentioned);
        let positions = matching(typed, 0..self.folders.len(), |at| &self.folders[at]);
        let max_folders = if typed.is_empty() { 5 } else { 10 };
        let folders =
            best(typed, &positions, max_folders, NamePart::Path, (|at| self.folders[at].as_str(), |_| u32::MAX));
        let folders = folders.into_iter().map(|key| {
            let folder = &self.folders[key.2];
            (
                key,
                CompletionItem {
                    is_partial: true,
                    ..completion(typed, folder, NamePart::Path, "folder", mentioned(folder))
                },
            )
        });
        if typed.is_empty() {
            found.truncate(MAX_COMPLETIONS / 2);
            found.extend(folders);
        } else {
            found.extend(folders);
            found.extend(self.symbols(typed));
            // A stable sort: of a file and a symbol that match equally well and have the same rank, the file comes first.
            found.sort_by_key(|((matched, rank, _), _)| (*matched, *rank));
        }
        let mut found: Vec<CompletionItem> = found.into_iter().map(|(_, completion)| completion).collect();
        let words = [
            (CODEBASE, "the passages of the whole repository that answer the message"),
            ("diff", "what is not committed"),
            ("https://", "a web page"),
        ];
        let words = words.map(|(word, help)| CompletionItem {
            is_partial: word.ends_with('/'),
            ..completion(typed, word, NamePart::FirstWord, help, format!("@{word}"))
        });
        let words = words.into_iter().filter(|word| typed.is_empty() || word.is_literal_match);
        // After literal matches and before fuzzy ones.
        let at = if typed.is_empty() {
            found.len()
        } else {
            found.iter().take_while(|completion| completion.is_literal_match).count()
        };
        found.splice(at..at, words);
        found.truncate(MAX_COMPLETIONS);
        found
    }

    /// The matching symbols of the repository, each name once, at the definition whose file has the best rank in the map.
    fn symbols(&mut self, typed: &str) -> Vec<(RankedMatch, CompletionItem)> {
        let Some(graph) = self.graph.clone() else { return Vec::new() };
        let index = graph.index();
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let name = |at: usize| index.name(number(at));
        let among = self.matching_symbols.possible(typed, index.names()).into_iter();
        let positions: Vec<usize> = among
            .filter(|at| is_subsequence(typed, name(*at)) && !graph.defining_files(number(*at)).is_empty())
            .collect();
        let file_rank = |file: &u32| self.file_ranks.get(*file as usize).copied().unwrap_or(u32::MAX);
        let first = |at: usize| graph.defining_files(number(at)).iter().min_by_key(|file| (file_rank(file), **file));
        let rank = |at: usize| first(at).map_or(u32::MAX, file_rank);
        let found = best(typed, &positions, MAX_COMPLETIONS, NamePart::Symbol, (name, rank));
        let symbol = |key: RankedMatch| {
            let (name, file) = (name(key.2), *first(key.2)?);
            let line = index.definitions(file).find(|entry| entry.name() == name)?.line();
            let location = format!("{}:{line}", index.path(file));
            Some((key, completion(typed, name, NamePart::Symbol, &location, format!("@{name}"))))
        };
        let symbols = found.into_iter().filter_map(symbol).collect();
        self.matching_symbols.set(typed, positions);
        symbols
    }
}

fn completion(typed: &str, label: &str, name: NamePart, help: &str, insert: String) -> CompletionItem {
    CompletionItem {
        label: label.to_owned(),
        help: help.to_owned(),
        insert,
        is_partial: false,
        is_literal_match: FuzzyFilter::literal(typed).name_match(label, name) != NameMatch::Fuzzy,
        is_complete: typed == label || (typed.contains('.') && label.ends_with(&format!("/{typed}"))),
        ends_line: false,
    }
}

/// The matching items, best first.
fn matched(typed: &str, items: &[Labelled], name: NamePart, put: impl Fn(&str) -> String) -> Vec<CompletionItem> {
    best_of(typed, items, MAX_COMPLETIONS, name, put)
}

fn best_of(
    typed: &str,
    items: &[Labelled],
    max: usize,
    name: NamePart,
    put: impl Fn(&str) -> String,
) -> Vec<CompletionItem> {
    let positions = matching(typed, 0..items.len(), |at| &items[at].0);
    let found = best(typed, &positions, max, name, (|at| items[at].0.as_str(), |_| 0));
    let item = |at: usize| items.get(at).map(|(label, help)| completion(typed, label, name, help, put(label)));
    found.into_iter().filter_map(|(.., at)| item(at)).collect()
}

/// The matching commands: those of the table, custom commands, and then those of the front end.
fn commands(typed: &str, session: &Session, extra: &[ExtraCommand<'_>]) -> Vec<CompletionItem> {
    let table = COMMANDS.iter().map(|info| {
        let help =
            if info.arguments.is_empty() { info.help.into() } else { format!("{} — {}", info.arguments, info.help) };
        (info.name.to_owned(), help)
    });
    let custom = session.lookups.commands.usable().map(|command| {
        let usage = if command.arguments.is_empty() { String::new() } else { format!("{} — ", command.arguments) };
        (command.name.clone(), format!("{usage}{} ({})", command.description, origin(command.source)))
    });
    // The list is complete, so that the user can browse it.
    let all: Vec<Labelled> = table.chain(custom).collect();
    let mut found = best_of(typed, &all, all.len(), NamePart::FirstWord, |name| format!("/{name}"));
    if !typed.is_empty() {
        let extra = extra.iter().map(|command| (command.name.to_owned(), command.help.to_owned()));
        let more: Vec<Labelled> = extra.filter(|(name, _)| COMMANDS.iter().all(|info| info.name != name)).collect();
        found.extend(
            matched(typed, &more, NamePart::FirstWord, |name| format!("/{name}"))
                .into_iter()
                .filter(|command| command.is_literal_match),
        );
        found.sort_by_key(|completion| !completion.is_literal_match);
    }
    let ends = |name: &str| {
        let info = COMMANDS.iter().find(|info| info.name == name);
        info.map_or_else(|| session.lookups.commands.named(name).is_none(), |info| info.takes == Argument::None)
    };
    for completion in &mut found {
        completion.ends_line = ends(&completion.label);
        completion.label.insert(0, '/');
    }
    found
}

fn arguments(takes: Argument, command: &str, session: &Session) -> Vec<Labelled> {
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
            let location = |location: &ChunkLocation| (format!("drop {}", location.label()), String::new());
            std::iter::once(all).chain(session.codebase.locations.iter().map(location)).collect()
        }
        Argument::Text if command == "watch" => words(&["on", "off"]),
        Argument::Text if command == "index" => words(&INDEX_WORDS),
        Argument::Text if command == "settings" => session.lookups.setting_names.clone(),
        _ => Vec::new(),
    }
}

/// The models that can be used with the available keys; all known models if there are no keys.
fn models(session: &Session) -> Vec<Labelled> {
    let rows = &session.lookups.models;
    let is_any_available = rows.iter().any(|row| row.has_key);
    let offered = rows.iter().filter(|row| row.has_key || !is_any_available);
    offered.map(|row| (row.name.clone(), row.detail.clone())).collect()
}

/// The turns so far, the last one first: number and first line.
fn turns(session: &Session) -> Vec<Labelled> {
    let asked = session.transcript.iter().filter_map(|entry| match entry {
        Entry::User { text, .. } => Some(text.lines().next().unwrap_or_default().to_owned()),
        _ => None,
    });
    let mut turns: Vec<Labelled> =
        asked.zip(1..).map(|(line, number): (String, usize)| (number.to_string(), line)).collect();
    turns.reverse();
    turns
}

/// Earlier sessions by name, or by number if they have no name.
fn sessions(session: &Session) -> Vec<Labelled> {
    let pair = |line: &SessionLine| {
        let number = line.number.to_string();
        let label = if line.name.is_empty() { number.clone() } else { line.name.clone() };
        (label, format!("{number} · {} · {}", line.changed, line.title()))
    };
    session.persistence.earlier.iter().map(pair).collect()
}

/// The entries of the folder that is being typed, if it was looked up.
fn in_folder(typed: &str, session: &Session) -> Vec<CompletionItem> {
    let Some((folder, names)) = session.lookups.folder.as_ref().filter(|(folder, _)| folder == folder_of(typed)) else {
        return Vec::new();
    };
    let pairs: Vec<Labelled> = names.iter().map(|name| (format!("{folder}{name}"), String::new())).collect();
    let mut found = matched(typed, &pairs, NamePart::Path, quoted);
    for completion in found.iter_mut().filter(|completion| completion.label.ends_with('/')) {
        completion.is_partial = true;
        completion.insert.clone_from(&completion.label);
    }
    found
}

/// The folder part of a typed path, with its slash; empty for the current folder.
pub fn folder_of(typed: &str) -> &str {
    typed.rfind('/').and_then(|at| typed.get(..=at)).unwrap_or_default()
}

/// A name as an argument, quoted as in a shell if necessary.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || "/._-+@%,:=".contains(c));
    if is_plain { name.to_owned() } else { shell_words::quote(name).into_owned() }
}

/// A path as a reference in a message.
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

/// Whether the characters of `query` occur in `name` in the same order, in any case. Much cheaper than scoring.
fn is_subsequence(query: &str, name: &str) -> bool {
    if query.is_ascii() {
        let mut wanted = query.bytes().filter(|byte| *byte != b' ').map(|byte| byte.to_ascii_lowercase());
        let mut next = wanted.next();
        for byte in name.bytes() {
            match next {
                Some(want) if byte.to_ascii_lowercase() == want => next = wanted.next(),
                Some(_) => {}
                None => break,
            }
        }
        return next.is_none();
    }
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).filter(|c| *c != ' ').all(|want| letters.any(|letter| letter == want))
}

/// The positions `among` whose names match, first those whose last part matches.
fn matching<'n>(query: &str, among: impl Iterator<Item = usize>, name: impl Fn(usize) -> &'n str) -> Vec<usize> {
    let (mut by_last_part, mut by_path) = (Vec::new(), Vec::new());
    for at in among {
        let whole = name(at);
        if is_subsequence(query, file_name(whole)) {
            by_last_part.push(at);
        } else if is_subsequence(query, whole) {
            by_path.push(at);
        }
    }
    by_last_part.append(&mut by_path);
    by_last_part
}

/// The best `max` of the matching positions `among`, best first. `text` and `rank` return the name of a position and the rank that
/// decides between equal matches.
fn best<'n>(
    query: &str,
    among: &[usize],
    max: usize,
    name: NamePart,
    (text, rank): (impl Fn(usize) -> &'n str, impl Fn(usize) -> u32),
) -> Vec<RankedMatch> {
    let mut filter = FuzzyFilter::literal(query);
    let mut found: Vec<RankedMatch> = Vec::new();
    let mut scored = 0;
    for at in among.iter().copied() {
        let named = filter.name_match(text(at), name);
        if named == NameMatch::Fuzzy {
            scored += 1;
            if scored > MAX_FUZZY_RANKED {
                continue;
            }
        }
        found.extend(filter.matched_with_name(text(at), name, named).map(|matched| (matched, rank(at), at)));
    }
    if found.len() > max {
        found.select_nth_unstable(max);
        found.truncate(max);
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::completion_target::completion_target;
    use super::*;
    use crate::tests::{graph_of, map_files};
    use crate::{Connection, ContextView};
    use rhumb_index::repo_map::MapRequest;

    fn session(paths: &[&str]) -> Session {
        let mut session = Session::start(Connection::None).0;
        session.repository.set_paths(Arc::new(paths.iter().map(|path| (*path).to_owned()).collect()));
        session
    }

    fn found(session: &Session, before: &str) -> Vec<CompletionItem> {
        let extra = ExtraCommand { name: "focus-map", help: "Give the focus to the repo map." };
        Completer::default().completions(&completion_target(before).unwrap(), session, &[extra])
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

    /// A session with indexed files and their map.
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
        let position = |label: &str| all.iter().position(|known| known == label).unwrap();
        assert!(position("ConfigAttribute") < position(".github/ISSUE_TEMPLATE/config.yml"), "{all:?}");
        assert!(position(".github/ISSUE_TEMPLATE/config.yml") < position("test_config_from_file"), "{all:?}");
        assert_eq!(labels(&session, "/add conf")[0], "src/config.py");
        let symbol = &found(&session, "see @Config")[0];
        assert_eq!(
            (symbol.help.as_str(), symbol.insert.as_str(), symbol.is_literal_match),
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
        let mut completer = Completer::default();
        let mut count = |before: &str| completer.completions(&completion_target(before).unwrap(), &session, &[]).len();
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
        assert_eq!((notes.insert.as_str(), notes.is_partial), ("notes/", true));
        assert!(found(&session, "/save notes/x").is_empty(), "that folder was not looked into yet");
        session.lookups.folder = Some(("notes/".into(), vec!["x y.md".into()]));
        assert_eq!(first(&session, "/save notes/x"), "'notes/x y.md'");
    }

    #[test]
    fn folders_are_listed_once_each() {
        let paths: Vec<String> = ["a/b/c.rs", "a/b/d.rs", "a/e.rs", "f/g/h.rs"].map(str::to_owned).to_vec();
        assert_eq!(folders(&paths), ["a/", "a/b/", "f/", "f/g/"]);
    }

    fn best_paths(query: &str, names: &[String]) -> Vec<usize> {
        let among = matching(query, 0..names.len(), |at| names[at].as_str());
        let found = best(query, &among, 8, NamePart::Path, (|at| names[at].as_str(), |at| at as u32));
        found.into_iter().map(|(.., at)| at).collect()
    }

    #[test]
    fn letters_in_their_order_pass() {
        assert!(
            is_subsequence("clr", "clear")
                && is_subsequence("CLR", "clear")
                && is_subsequence("", "x")
                && is_subsequence("äö", "ÄxÖ")
        );
        assert!(!is_subsequence("rlc", "clear") && !is_subsequence("clearx", "clear"));
    }

    #[test]
    fn a_name_that_begins_so_comes_first() {
        let names = ["src/undo_list.rs", "do.rs", "docs/undo.md"].map(str::to_owned);
        assert_eq!(best_paths("do", &names)[0], 1);
    }

    #[test]
    fn a_hundred_thousand_files_leave_a_few() {
        let names: Vec<String> = (0..100_000).map(|at| format!("module_{}/part_{}.rs", at % 300, at)).collect();
        assert_eq!(best_paths("part_99999", &names), [99_999]);
    }

    #[test]
    fn a_name_is_found_behind_any_number_of_others_that_only_have_its_letters() {
        let mut names: Vec<String> = (0..10_000).map(|at| format!("c/o_n_f_i_g_{at}.py")).collect();
        names.push("z/config.py".into());
        assert_eq!(best_paths("config", &names)[0], 10_000);
    }

    proptest! {
        #[test]
        fn what_contains_the_query_is_subsequence(before in ".{0,10}", query in "[a-zA-Z/._-]{0,8}", after in ".{0,10}") {
            let name = format!("{before}{query}{after}");
            prop_assert!(is_subsequence(&query, &name));
        }
    }
}
