//! What a request names in the repository: files by path, link, module or stack frame; definitions by name; types by their relatives.

use std::collections::BTreeMap;

use super::definitions::{Definitions, is_type};
use super::index::{IndexedDefinition, MapIndex};
use super::path;
use crate::lexical::{LineRange, Message, StackFrame};

/// Weight of a name that the caller gives, apart from the message.
const GIVEN: f64 = 2.0;
/// Maximum number of files that a path can mean. A path with more, such as `index.ts`, names none.
const MAX_PATH_MATCHES: usize = 6;
/// Folders whose files belong to a repository that has the rest of the path: a package that is installed, or a standard library.
const DEPENDENCY_FOLDERS: [&str; 4] = ["dist-packages", "node_modules", "rustc", "site-packages"];
/// Packages of Kotlin files of the platform.
const PLATFORM_PACKAGES: [&str; 7] = ["android", "androidx", "java", "javax", "kotlin", "kotlinx", "sun"];
/// Weight of a link to a path that the repository does not have: that of another repository, or of an older revision.
const OTHER_LINK: f64 = 0.3;
/// Weight of a file name without folders.
const BARE_FILE_NAME: f64 = 0.7;
/// Maximum number of definitions that a name can mean. More common names say nothing.
const MAX_NAMED: usize = 80;
/// The weight of a name is divided among its definitions by this power of their number.
const SHARING: f64 = 0.6;
/// Weight of a word that is no identifier as the name of a type, unless it has a capital.
const WORD_AS_TYPE: f64 = 0.5;
/// Weight of a name after a package in a dotted name: something that the package takes from its modules.
const FROM_PACKAGE: f64 = 0.7;
const MAX_FROM_PACKAGE: usize = 4;
/// Weight of a package that a dotted name mentions only for one of its names.
const PACKAGE: f64 = 0.4;
/// Weight of a subtype and of a base type of a named type, per level, and the maximum numbers of levels, subtypes and base types.
const SUBTYPE: f64 = 0.3;
const BASE_TYPE: f64 = 0.6;
const MAX_LEVELS: usize = 3;
const MAX_SUBTYPES: usize = 12;
const MAX_BASE_TYPES: usize = 4;
/// Weight of a word that is the name of the repository's package.
const PACKAGE_NAME: f64 = 0.1;
/// Lines around a linked line that belong to the same place.
const LINK_MARGIN: u32 = 3;

/// What a request names. Files are by number; definitions are by number in [`Definitions`].
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// By file: the weight of its path.
    pub(crate) paths: BTreeMap<u32, f64>,
    /// By file: the weight of the caller's paths.
    pub(crate) given: BTreeMap<u32, f64>,
    /// By file: the weight of links to it.
    pub(crate) links: BTreeMap<u32, f64>,
    /// By file: the weight of dotted names of its module.
    pub(crate) modules: BTreeMap<u32, f64>,
    /// By file: 1 divided by its depth in the stack.
    pub(crate) frames: BTreeMap<u32, f64>,
    /// The named definitions.
    pub(crate) definitions: BTreeMap<u32, NamedDefinition>,
    /// Types that the request names.
    pub(crate) types: BTreeMap<u32, f64>,
    /// Types that the request names, with their base types and subtypes.
    pub(crate) related_types: BTreeMap<u32, f64>,
    /// The weight of each name with definitions.
    pub(crate) names: BTreeMap<u32, f64>,
}

impl Named {
    /// Whether the request or the caller names the path of a file.
    pub(crate) fn has_path(&self, file: u32) -> bool {
        self.paths.contains_key(&file) || self.given.contains_key(&file)
    }

    /// Whether the request names no file and no definition.
    pub(crate) fn is_empty(&self) -> bool {
        let files = [&self.paths, &self.given, &self.links, &self.frames];
        files.iter().all(|files| files.is_empty()) && self.definitions.is_empty()
    }
}

/// How a request names a definition.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct NamedDefinition {
    /// As an identifier.
    pub(crate) identifier: f64,
    /// As another word.
    pub(crate) word: f64,
    /// In a stack frame: 1 divided by the depth.
    pub(crate) frame: f64,
    /// By a link to its lines.
    pub(crate) link: f64,
}

/// Finds what a request names.
pub(crate) struct Resolver<'r> {
    index: &'r MapIndex,
    definitions: &'r Definitions,
    named: Named,
}

impl<'r> Resolver<'r> {
    /// Finds what `message` and the given files and names mean.
    pub(crate) fn resolve(
        index: &'r MapIndex,
        definitions: &'r Definitions,
        message: &Message,
        (files, names): (&[String], &[String]),
    ) -> Named {
        let mut resolver = Self { index, definitions, named: Named::default() };
        resolver.add_paths(&message.paths, files);
        resolver.add_links(&message.links);
        resolver.add_frames(&message.frames);
        for dotted in &message.dotted {
            resolver.add_dotted(dotted);
        }
        resolver.add_names(message, names);
        resolver.add_relatives();
        resolver.named
    }

    /// The files whose paths share the longest end with a mentioned path.
    fn files_at(&self, mentioned: &str) -> Vec<u32> {
        // The application marks a mentioned file with `@`.
        let mentioned = mentioned.trim_start_matches('@');
        let parts: Vec<&str> =
            mentioned.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".." | "~")).collect();
        let Some(name) = parts.last() else { return Vec::new() };
        let name = if name.ends_with(".pyc") { &name[..name.len() - 1] } else { name };
        let candidates = self.index.files_named(name);
        let (mut best, mut found) = (0, Vec::new());
        for &file in candidates {
            let own = self.index.path(file).rsplit('/').skip(1);
            let is_shared = |(own, part): &(&str, &&str)| own == *part || without_version(part) == Some(own);
            let shared = 1 + own.clone().zip(parts.iter().rev().skip(1)).take_while(is_shared).count();
            // A whole path is better than the end of a longer one.
            let rank = 2 * shared + usize::from(shared == own.count() + 1);
            if rank > best {
                (best, found) = (rank, Vec::new());
            }
            if rank == best {
                found.push(file);
            }
        }
        // The folders of a Kotlin file can be fewer than those of its package.
        let is_only_kotlin = name.ends_with(".kt") && candidates.len() == 1 && !PLATFORM_PACKAGES.contains(&parts[0]);
        let is_meant = names_own_file(&parts, best / 2, best % 2 == 1) || is_only_kotlin;
        if is_meant && found.len() <= MAX_PATH_MATCHES { found } else { Vec::new() }
    }

    fn add_paths(&mut self, paths: &[LineRange], given: &[String]) {
        for path in paths {
            let found = self.files_at(&path.path);
            let weight = if path.path.contains('/') { 1.0 } else { BARE_FILE_NAME };
            for &file in &found {
                raise(&mut self.named.paths, file, weight / found.len() as f64);
                if path.line > 0 {
                    self.link(file, path.line, path.line);
                }
            }
        }
        for path in given {
            let found = self.files_at(path);
            found.iter().for_each(|&file| raise(&mut self.named.given, file, 1.0 / found.len() as f64));
        }
    }

    fn add_links(&mut self, links: &[LineRange]) {
        for link in links {
            let Some(file) = self.index.file_at(&link.path) else {
                let found = self.files_at(&link.path);
                found.iter().for_each(|&file| raise(&mut self.named.links, file, OTHER_LINK / found.len() as f64));
                continue;
            };
            raise(&mut self.named.links, file, 1.0);
            if link.line > 0 {
                self.link(file, link.line, link.end_line.max(link.line));
            }
        }
    }

    /// Marks the innermost definitions at some lines.
    fn link(&mut self, file: u32, line: u32, end_line: u32) {
        for (at, entry) in self.definitions.of_file(file).zip(self.index.definitions(file)) {
            let touches =
                entry.line().saturating_sub(LINK_MARGIN) <= end_line && entry.end_line() + LINK_MARGIN >= line;
            if touches && !is_type(entry.kind()) {
                self.named.definitions.entry(at).or_default().link = 1.0;
            }
        }
    }

    fn add_frames(&mut self, frames: &[StackFrame]) {
        let mut depth = 0;
        for frame in frames {
            let found = self.files_at(&frame.path);
            let Some(&first) = found.first() else { continue };
            // A test that shows the error is not its place.
            if depth == 0 && self.index.kind(first).is_test {
                continue;
            }
            depth += 1;
            let weight = 1.0 / f64::from(depth);
            for &file in found.iter().take(2) {
                raise(&mut self.named.frames, file, weight / found.len() as f64);
                for at in self.definitions_at(file, frame) {
                    let held = &mut self.named.definitions.entry(at).or_default().frame;
                    *held = held.max(weight);
                }
            }
        }
    }

    /// The definitions of a file that a frame is in: those with the name of its function, in its container or at its line if there are
    /// several of the name; if none has the name, the functions around the line. A frame in a constructor can have the name of the type.
    fn definitions_at(&self, file: u32, frame: &StackFrame) -> Vec<u32> {
        let all = self.definitions.of_file(file).zip(self.index.definitions(file));
        let fits = |(at, entry): (u32, IndexedDefinition<'_>)| {
            let is_named = !frame.function.is_empty() && entry.name() == frame.function;
            let is_around = (entry.line()..=entry.end_line()).contains(&frame.line);
            let is_code = !is_type(entry.kind());
            let is_contained = is_named && entry.container() == Some(frame.container.as_str());
            let fit = (is_named && is_code, is_contained, is_around && is_code, is_around);
            (is_named || is_around && is_code).then_some((fit, at))
        };
        let fitting: Vec<_> = all.filter_map(fits).collect();
        let best = fitting.iter().map(|(fit, _)| *fit).max();
        fitting.into_iter().filter(|(fit, _)| Some(*fit) == best).map(|(_, at)| at).collect()
    }

    /// Adds a dotted name: the longest start that is a module, and the names that follow it.
    fn add_dotted(&mut self, parts: &[String]) {
        let Some((file, length)) =
            (1..=parts.len()).rev().find_map(|length| Some((self.module(&parts[..length])?, length)))
        else {
            return;
        };
        let rest = &parts[length..];
        let is_package = self.index.kind(file).is_entry;
        raise(&mut self.named.modules, file, if rest.is_empty() || !is_package { 1.0 } else { PACKAGE });
        let Some((folder, _)) = self.index.path(file).rsplit_once('/') else { return };
        for name in rest.iter().take(2).filter_map(|name| self.index.name_number(name)) {
            let below = |&definition: &u32| {
                let path = self.index.path(self.definitions.location(definition).0);
                let is_below = path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
                is_below && !self.is_peripheral(definition) && self.definitions.parent(definition).is_none()
            };
            let found: Vec<u32> = self.definitions.of_name(name).iter().copied().filter(below).collect();
            let weight = FROM_PACKAGE / found.len().max(1) as f64;
            for definition in found.into_iter().take(MAX_FROM_PACKAGE) {
                self.named.definitions.entry(definition).or_default().identifier += weight;
                if self.is_type(definition) {
                    raise(&mut self.named.types, definition, weight);
                }
            }
        }
    }

    /// The file of a module. A name without dots is one only at the root of the sources.
    fn module(&self, parts: &[String]) -> Option<u32> {
        let (last, folders) = parts.split_last()?;
        let fits = |file: &u32| {
            let path = self.index.path(*file);
            let mut own: Vec<&str> = path::folders(path).collect();
            if self.index.kind(*file).is_entry && path::stem(path) != last.as_str() {
                own.pop();
            }
            let shared =
                own.iter().rev().zip(folders.iter().rev()).take_while(|(own, part)| **own == part.as_str()).count();
            let is_at_root = |own: &[&str]| matches!(own, [] | ["src" | "lib"]);
            shared == folders.len() && (shared > 0 || is_at_root(&own))
        };
        let mut found = self.index.files_of_stem(last).filter(fits);
        found.next().filter(|_| folders.len() > 1 || found.next().is_none() || folders.is_empty())
    }

    fn is_peripheral(&self, definition: u32) -> bool {
        self.index.kind(self.definitions.location(definition).0).is_peripheral
    }

    fn is_type(&self, definition: u32) -> bool {
        let (file, at) = self.definitions.location(definition);
        self.index.definition(file, at).is_some_and(|entry| is_type(entry.kind()))
    }

    fn add_names(&mut self, message: &Message, given: &[String]) {
        let packages = self.index.packages();
        let factor = |name: &str| if packages.contains(name.to_lowercase().as_str()) { PACKAGE_NAME } else { 1.0 };
        let given = given.iter().map(|name| (name.as_str(), GIVEN, true));
        let identifiers = message.identifiers.iter().map(|(name, weight)| (name.as_str(), weight * factor(name), true));
        let words = message.words.iter().map(|(name, weight)| (name.as_str(), weight * factor(name), false));
        for (name, weight, is_identifier) in given.chain(identifiers).chain(words) {
            let Some(number) = self.index.name_number(name) else { continue };
            let all = self.definitions.of_name(number);
            let live: Vec<u32> = all.iter().copied().filter(|&definition| !self.is_peripheral(definition)).collect();
            let found = if live.is_empty() { all } else { &live };
            if found.is_empty() || found.len() > MAX_NAMED {
                continue;
            }
            let share = weight / (found.len() as f64).powf(SHARING);
            raise(&mut self.named.names, number, weight);
            for &definition in found {
                let entry = self.named.definitions.entry(definition).or_default();
                *if is_identifier { &mut entry.identifier } else { &mut entry.word } += share;
                if self.is_type(definition) {
                    let as_type = is_identifier || name.starts_with(char::is_uppercase);
                    raise(&mut self.named.types, definition, share * if as_type { 1.0 } else { WORD_AS_TYPE });
                }
            }
        }
    }

    /// Adds the subtypes of the named types, and their base types.
    fn add_relatives(&mut self) {
        self.named.related_types = self.named.types.clone();
        let mut front: Vec<(u32, f64)> = self.named.types.iter().map(|(&at, &weight)| (at, weight)).collect();
        for &(named, weight) in &front {
            if let Some(name) = self.name(named) {
                for &subtype in self.definitions.subtypes(name).iter().take(MAX_SUBTYPES) {
                    raise(&mut self.named.related_types, subtype, SUBTYPE * weight);
                }
            }
        }
        for _ in 0..MAX_LEVELS {
            let mut next = Vec::new();
            for (named, weight) in front {
                for &base in self.definitions.bases(named) {
                    let is_base = |at: &&u32| **at != named && !self.is_peripheral(**at) && self.is_type(**at);
                    let found: Vec<u32> = self.definitions.of_name(base).iter().filter(is_base).copied().collect();
                    let weight = BASE_TYPE * weight / found.len().max(1) as f64;
                    for at in found.iter().copied().filter(|_| found.len() <= MAX_BASE_TYPES) {
                        if weight > self.named.related_types.get(&at).copied().unwrap_or(0.0) {
                            self.named.related_types.insert(at, weight);
                            next.push((at, weight));
                        }
                    }
                }
            }
            front = next;
        }
    }

    fn name(&self, definition: u32) -> Option<u32> {
        let (file, at) = self.definitions.location(definition);
        self.index.definition(file, at).and_then(|entry| self.index.name_number(entry.name()))
    }
}

/// Whether a mentioned path, of which a file of the repository shares the last `shared` components or is the end (`is_whole`), means that
/// file. Otherwise it belongs to another repository.
fn names_own_file(parts: &[&str], shared: usize, is_whole: bool) -> bool {
    let folders = parts.len() - 1;
    let is_dependency = |&at: &usize| {
        let before = |n: usize| at.checked_sub(n).map_or("", |before| parts[before]);
        DEPENDENCY_FOLDERS.contains(&parts[at])
            || (before(1) == "lib" && parts[at].starts_with("python3"))
            || (before(1) == "node_modules" && parts[at].starts_with('@'))
            || (before(2) == "registry" && before(1) == "src" && parts[at].contains('.'))
    };
    let is_common = shared == 2 && matches!(parts[folders - 1], "src" | "lib");
    match (0..folders).rev().find(is_dependency) {
        Some(at) => {
            let rest = folders - at;
            // The first folder is the name of the package, which its own repository need not have.
            let is_below_package = is_whole && shared + 1 == rest && shared > 1 && !is_common;
            shared > rest || (shared == rest && (rest > 1 || is_whole)) || is_below_package
        }
        None => folders < 2 || is_whole || (shared > 1 && !is_common),
    }
}

/// The name of a package without its version: `tokio` for `tokio-1.38.0`.
fn without_version(folder: &str) -> Option<&str> {
    let (name, version) = folder.rsplit_once('-')?;
    version.starts_with(|c: char| c.is_ascii_digit()).then_some(name)
}

fn raise(weights: &mut BTreeMap<u32, f64>, at: u32, weight: f64) {
    let held = weights.entry(at).or_insert(0.0);
    *held = held.max(weight);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rhumb_syntax::{Language, tags};

    use super::*;
    use crate::lexical::Depth;
    use crate::repo_map::{Digest, MapFile};

    const FILES: [(&str, &str); 4] = [
        ("fleet/__init__.py", "from .boats import Boat\n"),
        (
            "fleet/boats.py",
            "class Hull:\n    def sink(self):\n        pass\n\n\nclass Boat(Hull):\n    def moor(self):\n        pass\n",
        ),
        ("fleet/core/ports.py", "def moor():\n    pass\n"),
        ("tests/test_boats.py", "def test_moor():\n    pass\n"),
    ];

    fn index(files: &[(&str, &str)]) -> MapIndex {
        let file = |&(path, text): &(&str, &str)| {
            let tags = tags(Language::for_path(path).unwrap(), text);
            let digest = Arc::new(Digest::new(text, &tags, Depth::Whole));
            MapFile { path: path.to_owned(), tags: Arc::new(tags), digest }
        };
        MapIndex::of(&files.iter().map(file).collect::<Vec<_>>())
    }

    fn named(text: &str) -> (MapIndex, Definitions, Named) {
        named_in(&FILES, text)
    }

    fn named_in(files: &[(&str, &str)], text: &str) -> (MapIndex, Definitions, Named) {
        let index = index(files);
        let definitions = Definitions::new(&index);
        let named = Resolver::resolve(&index, &definitions, &Message::new(text), (&[], &[]));
        (index, definitions, named)
    }

    /// The paths among `files` that a path in a message means.
    fn meant(files: &[&str], mentioned: &str) -> Vec<String> {
        let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
        let index = index(&files);
        let definitions = Definitions::new(&index);
        let resolver = Resolver { index: &index, definitions: &definitions, named: Named::default() };
        resolver.files_at(mentioned).into_iter().map(|file| index.path(file).to_owned()).collect()
    }

    /// The lines of the definitions that a frame is in.
    fn lines_of_frame(path: &str, text: &str, frame: &str) -> Vec<u32> {
        let (index, definitions, named) = named_in(&[(path, text)], &format!("It fails\n\n{frame}\n"));
        let framed = named.definitions.iter().filter(|(_, named)| named.frame > 0.0);
        framed
            .filter_map(|(&at, _)| index.definition(0, definitions.location(at).1))
            .map(|entry| entry.line())
            .collect()
    }

    fn paths(index: &MapIndex, files: &BTreeMap<u32, f64>) -> Vec<String> {
        files.keys().map(|&file| index.path(file).to_owned()).collect()
    }

    #[test]
    fn a_path_means_the_files_that_share_its_longest_end() {
        let (index, _, named) = named("see core/ports.py and boats.py, not /usr/lib/python3/site-packages/boats.py");
        assert_eq!(paths(&index, &named.paths), ["fleet/boats.py", "fleet/core/ports.py"]);
    }

    #[test]
    fn a_frame_names_its_file_and_function() {
        let text = "It fails\n\nTraceback (most recent call last):\n  File \"/srv/tests/test_boats.py\", line 1, in test_moor\n  File \"/srv/fleet/boats.py\", line 7, in moor\nValueError\n";
        let (index, definitions, named) = named(text);
        assert_eq!(paths(&index, &named.frames), ["fleet/boats.py", "tests/test_boats.py"]);
        let moor = named.definitions.iter().find(|(_, named)| named.frame == 1.0).unwrap();
        assert_eq!(definitions.location(*moor.0).0, 1);
    }

    #[test]
    fn a_path_of_a_dependency_means_a_file_only_if_the_repository_has_the_rest() {
        let files = [
            "src/lib.rs",
            "core/src/result.rs",
            "src/tide/core/common.py",
            "six.py",
            "tokio/src/net/tcp.rs",
            "lib/router/index.js",
            "bin/setup.py",
            "setup.py",
        ];
        for (mentioned, expected) in [
            ("/home/me/tide/src/lib.rs", &["src/lib.rs"][..]),
            ("/home/me/.cargo/registry/src/index.crates.io-6f17/tokio-1.0/src/lib.rs", &[]),
            ("/home/me/.cargo/registry/src/index.crates.io-6f17/tokio-1.0/src/net/tcp.rs", &["tokio/src/net/tcp.rs"]),
            ("/rustc/9fc6b4/library/core/src/result.rs", &[]),
            ("/app/other/src/result.rs", &[]),
            ("/app/core/src/result.rs", &["core/src/result.rs"]),
            ("/usr/lib/python3.9/site-packages/tide/core/common.py", &["src/tide/core/common.py"]),
            ("/usr/lib/python3.9/site-packages/other/core/common.py", &[]),
            ("/usr/lib/python3/dist-packages/six.py", &["six.py"]),
            ("/usr/lib/python3.9/core/common.py", &["src/tide/core/common.py"]),
            ("/usr/lib/python3.9/x/core/common.py", &[]),
            ("node_modules/router/lib/router/index.js", &["lib/router/index.js"]),
            ("/srv/app/setup.py", &["setup.py"]),
        ] {
            assert_eq!(meant(&files, mentioned), expected, "{mentioned}");
        }
        let vendored = ["web/node_modules/tide/src/index.js", "web/node_modules/gate.js", "src/index.js", "gate.js"];
        assert_eq!(meant(&vendored, "/app/node_modules/tide/src/index.js"), ["web/node_modules/tide/src/index.js"]);
        assert_eq!(meant(&vendored, "/app/web/node_modules/gate.js"), ["web/node_modules/gate.js"]);
    }

    #[test]
    fn a_mentioned_path_of_the_application_means_one_file() {
        let files = ["src/lib.rs", "a/src/lib.rs", "b/src/lib.rs", "src/main.rs"];
        assert_eq!(meant(&files, "@src/lib.rs"), ["src/lib.rs"]);
        let (index, _, named) = named_in(&files.map(|path| (path, "")), "look at @src/lib.rs");
        assert_eq!(paths(&index, &named.paths), ["src/lib.rs"]);
    }

    #[test]
    fn a_path_that_many_files_share_means_none() {
        let files: Vec<String> = (0..9).map(|n| format!("src/part{n}/index.ts")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        assert!(meant(&files, "index.ts").is_empty() && meant(&files[..6], "index.ts").len() == 6);
        assert_eq!(meant(&files, "part3/index.ts"), ["src/part3/index.ts"]);
    }

    #[test]
    fn a_file_of_kotlin_can_be_outside_of_the_folder_of_its_package() {
        let files = ["src/main/kotlin/Bar.kt", "a/Twice.kt", "b/Twice.kt"];
        assert_eq!(meant(&files, "com/foo/Bar.kt"), ["src/main/kotlin/Bar.kt"]);
        assert!(meant(&files, "kotlinx/coroutines/Bar.kt").is_empty() && meant(&files, "com/foo/Twice.kt").is_empty());
    }

    #[test]
    fn a_frame_is_in_the_definition_of_its_name_at_its_line() {
        let python = "class A:\n    def __init__(self):\n        pass\n\n\nclass B:\n    def __init__(self):\n        f = [x for x in y]\n";
        let frame = |line: u32, function: &str| format!("  File \"a.py\", line {line}, in {function}");
        assert_eq!(lines_of_frame("a.py", python, &frame(8, "__init__")), [7]);
        assert_eq!(lines_of_frame("a.py", python, &frame(99, "__init__")), [2, 7]);
        assert_eq!(lines_of_frame("a.py", python, "File a.py:99, in A.__init__(self)"), [2]);
        assert_eq!(lines_of_frame("a.py", python, &frame(8, "<listcomp>")), [7]);
        assert_eq!(lines_of_frame("a.py", python, &frame(8, "unknown")), [7]);
        let java = "class Port {\n    int depth = 1;\n    Port() {\n        open();\n    }\n}\n";
        assert_eq!(lines_of_frame("Port.java", java, "    at Port.<init>(Port.java:4)"), [3]);
        let script = "class Port {\n  constructor() {\n    open();\n  }\n}\n";
        assert_eq!(lines_of_frame("port.js", script, "    at new Port (port.js:3:5)"), [2]);
    }

    #[test]
    fn a_link_to_another_path_counts_less() {
        let weight = |path: &str| named(&format!("https://github.com/o/r/blob/main/{path}#L7")).2.links[&1];
        assert_eq!((weight("fleet/boats.py"), weight("other/fleet/boats.py")), (1.0, OTHER_LINK));
    }

    #[test]
    fn a_line_link_names_the_definition_there() {
        let (_, definitions, named) = named("https://github.com/o/r/blob/main/fleet/boats.py#L7");
        let linked: Vec<u32> = named
            .definitions
            .iter()
            .filter(|(_, named)| named.link > 0.0)
            .map(|entry| definitions.location(*entry.0).0)
            .collect();
        assert!(!linked.is_empty() && linked.iter().all(|file| *file == 1));
    }

    #[test]
    fn a_dotted_name_means_its_module_and_what_a_package_takes_from_below() {
        let (index, _, named) = named("fleet.core.ports.moor and `fleet.Boat`");
        assert_eq!(paths(&index, &named.modules), ["fleet/__init__.py", "fleet/core/ports.py"]);
        assert_eq!(named.modules[&0], PACKAGE);
    }

    #[test]
    fn relatives_of_a_named_type_count_less() {
        let (index, definitions, named) = named("`Boat` sinks");
        let weight = |name: &str| {
            let at = definitions.of_name(index.name_number(name).unwrap())[0];
            named.related_types.get(&at).copied().unwrap_or(0.0)
        };
        assert!(weight("Boat") > weight("Hull") && weight("Hull") > 0.0);
    }
}
