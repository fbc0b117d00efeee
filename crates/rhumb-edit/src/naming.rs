//! Determines the file of an edit, and whether the name of a new file is doubtful.
//!
//! A line above an edit that is the name of an existing file names that file, however odd it looks. Otherwise the
//! form of the line decides.

use std::collections::BTreeMap;

use rhumb_syntax::Language;
use rhumb_text::sanitize::visible_line;

use crate::file_name;
use crate::format::EditFormat;
use crate::parse::heading::{Heading, HeadingKind};
use crate::path_index::{PathIndex, Resolution};
use crate::refusal::{Cause, Refusal};
use crate::reply::{Edit, ParsedReply};

/// The file of an edit, according to its heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileRef {
    /// The path of an existing file.
    File(String),
    /// A name as written, to be resolved.
    Written(String),
    /// A sentence mentions one file under a title that names another.
    SentenceOrTitle {
        /// The file in the sentence.
        said: String,
        /// The file in the title.
        title: String,
        /// Whether no other edit is under the title.
        is_own: bool,
    },
    /// The line above the edit may be a file name but no such file exists, or it names several files.
    Unclear(String),
    /// The reply names no file.
    Unnamed,
}

/// The files that the headings of a reply name.
#[derive(Debug, Default)]
pub(crate) struct HeadingNames {
    /// By the heading itself.
    own: Vec<FileRef>,
    /// By the heading, or an earlier one that it refers to.
    carried: Vec<FileRef>,
    /// The headings that mention another file than the title above them.
    either: BTreeMap<usize, FileRef>,
}

impl HeadingNames {
    /// Resolves all headings. A heading refers to earlier ones only.
    pub(crate) fn new(parsed: &ParsedReply, index: &PathIndex<'_>) -> Self {
        let headings = &parsed.headings;
        let mut names = Self::default();
        for (at, heading) in headings.iter().enumerate() {
            let earlier = heading.earlier.and_then(|at| names.carried.get(at)).cloned();
            let earlier = earlier.unwrap_or(FileRef::Unnamed);
            let own = own(heading, &earlier, index);
            if let (HeadingKind::Prose, FileRef::Written(said), Some(title)) =
                (heading.kind, &own, title_of(heading, headings))
                && let FileRef::File(title_name) | FileRef::Written(title_name) = &earlier
                && title_name != said
            {
                let is_other = |edit: &&Edit| {
                    let own = edit.heading.filter(|own| *own != at);
                    let above = |own: usize| headings.get(own).and_then(|heading| heading.earlier);
                    own.is_some_and(|own| own == title || above(own) == Some(title))
                };
                let is_own = parsed.edits.iter().find(is_other).is_none();
                let (said, title) = (said.clone(), title_name.clone());
                names.either.insert(at, FileRef::SentenceOrTitle { said, title, is_own });
            }
            let carried = if own == FileRef::Unnamed { earlier } else { own.clone() };
            names.own.push(own);
            names.carried.push(carried);
        }
        names
    }

    /// The file of the edit. A whole file never uses the name of an earlier heading.
    pub(crate) fn of(&self, edit: &Edit) -> FileRef {
        let list = if edit.format == EditFormat::Whole { &self.own } else { &self.carried };
        match edit.heading {
            Some(at) if edit.format != EditFormat::Whole && self.either.contains_key(&at) => {
                self.either.get(&at).cloned().unwrap_or(FileRef::Unnamed)
            }
            Some(at) => list.get(at).cloned().unwrap_or(FileRef::Unnamed),
            None => edit.path.clone().map_or(FileRef::Unnamed, FileRef::Written),
        }
    }
}

/// The index of the title above a sentence, if that is a path on its own line.
fn title_of(heading: &Heading, headings: &[Heading]) -> Option<usize> {
    heading.earlier.filter(|at| headings.get(*at).is_some_and(|title| title.kind == HeadingKind::Path))
}

fn own(heading: &Heading, earlier: &FileRef, index: &PathIndex<'_>) -> FileRef {
    let exact = |reading: &&str| index.exact(reading);
    let readings = file_name::readings(&heading.line);
    // As in the header of a diff.
    let sided = |reading: &&str| ["a/", "b/"].iter().find_map(|side| index.exact(reading.strip_prefix(side)?));
    if let Some(path) = readings.iter().find_map(exact).or_else(|| readings.iter().find_map(sided)) {
        return FileRef::File(path);
    }
    let plain = file_name::undecorated(&heading.line);
    match heading.kind {
        HeadingKind::Path if is_doubtful_path(&heading.line, plain, index) => FileRef::Unclear(heading.line.clone()),
        HeadingKind::Path => heading.path.clone().map_or(FileRef::Unnamed, FileRef::Written),
        HeadingKind::Prose => mentioned(heading, earlier, index),
        HeadingKind::Uncertain => doubtful(heading, plain, index),
    }
}

/// `Pump class src/a.py`: not a file, but the last word is one. It may be a sentence or a new name.
fn is_doubtful_path(line: &str, plain: &str, index: &PathIndex<'_>) -> bool {
    let last = plain.rsplit_once(char::is_whitespace).filter(|(head, _)| !head.contains('/'));
    !file_name::is_marked(line) && last.is_some_and(|(_, word)| index.exact(word).is_some())
}

/// The mentions that are files or very likely mean one.
fn meant<'a>(heading: &'a Heading, index: &PathIndex<'_>) -> Vec<&'a String> {
    let sure = |mention: &&String| index.exact(mention).is_some() || heading.is_file(mention);
    heading.mentions.iter().filter(sure).collect()
}

fn mentioned(heading: &Heading, earlier: &FileRef, index: &PathIndex<'_>) -> FileRef {
    // A word of a name with spaces may be a name too.
    match index.spaced_in(&heading.line).as_slice() {
        [] => {}
        [only] => return FileRef::File(only.clone()),
        _ => return FileRef::Unclear(heading.line.clone()),
    }
    let meant = meant(heading, index);
    match meant.as_slice() {
        [] => FileRef::Unnamed,
        [only] => FileRef::Written((*only).clone()),
        several => {
            let same = |mention: &&String| match earlier {
                FileRef::File(path) | FileRef::Written(path) => {
                    path == *mention || index.exact(mention).as_ref() == Some(path)
                }
                FileRef::Unclear(_) | FileRef::Unnamed | FileRef::SentenceOrTitle { .. } => true,
            };
            if several.iter().any(same) { FileRef::Unnamed } else { FileRef::Unclear(heading.line.clone()) }
        }
    }
}

fn doubtful(heading: &Heading, plain: &str, index: &PathIndex<'_>) -> FileRef {
    if !plain.contains(char::is_whitespace)
        && matches!(index.resolve(plain), Ok(Resolution::Guessed(_) | Resolution::Several(_)))
    {
        return FileRef::Written(plain.to_owned());
    }
    if let [only] = index.spaced_in(&heading.line).as_slice() {
        return FileRef::File(only.clone());
    }
    let mut files = heading.mentions.iter().filter_map(|mention| index.exact(mention));
    match (files.next(), files.next()) {
        (Some(only), None) if meant(heading, index).len() == 1 => FileRef::File(only),
        _ => FileRef::Unclear(heading.line.clone()),
    }
}

/// The refusal of an edit under a line that names no file.
pub(crate) fn unclear(line: &str, index: &PathIndex<'_>) -> Refusal {
    if line.trim().is_empty() {
        return Cause::NoFileName.into();
    }
    let plain = file_name::undecorated(line);
    let may_be_new = !plain.contains(char::is_whitespace) && !plain.contains('/');
    let (line, similar) = (line.trim().chars().take(120).collect(), index.near(plain));
    Cause::UnclearFileName { line, plain: plain.to_owned(), may_be_new, similar }.into()
}

/// All edits with their files, in the order of the reply. A fence that is only a whole file if its heading names a
/// file is included if it does.
pub(crate) fn edits_of<'a>(
    edits: &'a [Edit],
    fences: &'a [Edit],
    names: &HeadingNames,
    index: &PathIndex<'_>,
) -> Vec<(&'a Edit, FileRef)> {
    let mut all: Vec<(&Edit, FileRef)> = edits.iter().map(|edit| (edit, names.of(edit))).collect();
    let other = |edit: &&Edit| edit.format != EditFormat::Whole;
    let located: Vec<String> = edits.iter().filter(other).filter_map(|edit| path_of(&names.of(edit), index)).collect();
    let only_whole = !edits.is_empty() && !edits.iter().any(|edit| other(&edit));
    for fence in fences {
        let name = names.of(fence);
        let counts = match &name {
            // If a file is edited in another format, a fence under its name is an illustration.
            FileRef::File(path) => !located.contains(path),
            FileRef::Unclear(_) => only_whole,
            // A fence below a sentence that mentions a file is usually an example.
            FileRef::Written(_) | FileRef::SentenceOrTitle { .. } | FileRef::Unnamed => false,
        };
        if counts {
            all.push((fence, name));
        }
    }
    all.sort_by_key(|(edit, _)| edit.reply_lines.0);
    all
}

fn path_of(name: &FileRef, index: &PathIndex<'_>) -> Option<String> {
    match name {
        FileRef::File(path) => Some(path.clone()),
        FileRef::Written(written) => match index.resolve(written) {
            Ok(Resolution::Exact(path) | Resolution::Guessed(path)) => Some(path),
            _ => None,
        },
        FileRef::Unclear(_) | FileRef::SentenceOrTitle { .. } | FileRef::Unnamed => None,
    }
}

/// Product names, in lower case, that look like file names.
const PRODUCTS: [&str; 22] = [
    "alpine.js", "angular.js", "backbone.js", "chart.js", "d3.js", "discord.js", "ember.js", "express.js",
    "knockout.js", "moment.js", "nest.js", "next.js", "node.js", "nuxt.js", "p5.js", "react.js", "socket.io",
    "solid.js", "svelte.js", "three.js", "vue.js", "asp.net",
];

/// Extensions of files, in addition to those of known languages.
const OTHER_EXTENSIONS: [&str; 21] = [
    "am", "bib", "csproj", "gemspec", "in", "ipynb", "j2", "jsonl", "mk", "patch", "plist", "prisma", "properties",
    "service", "sln", "sum", "svg", "tex", "tpl", "tsv", "xml",
];

/// Titles of examples.
const EXAMPLES: [&str; 5] = ["After", "Before", "Example", "Output", "Usage"];

/// Folders of programs and scripts, whose names have no extension.
const SCRIPT_FOLDERS: [&str; 6] = ["bin", "hooks", "sbin", "script", "scripts", "tools"];

/// Files that are usual at the root of a project, and in its folders.
const AT_ROOT: [&str; 24] = [
    ".dockerignore", ".editorconfig", ".env", ".env.example", ".gitattributes", ".gitignore", "CMakeLists.txt",
    "Cargo.toml", "Dockerfile", "LICENSE", "Makefile", "README", "README.md", "README.rst", "conftest.py",
    "docker-compose.yml", "go.mod", "package.json", "pyproject.toml", "requirements.txt", "setup.cfg", "setup.py",
    "tox.ini", "tsconfig.json",
];

/// File names that occur in many folders.
const IN_EVERY_FOLDER: [&str; 12] = [
    "__init__.py", "__main__.py", "index.html", "index.js", "index.jsx", "index.ts", "index.tsx", "lib.rs", "main.go",
    "main.py", "main.rs", "mod.rs",
];

/// Why the new file of an edit at `path` may not be meant; `None` if there is no doubt. A name that begins with
/// `./`, or a line with `new file`, is always meant.
pub(crate) fn doubtful_name_note(
    edit: &Edit,
    heading: Option<&Heading>,
    path: &str,
    index: &PathIndex<'_>,
) -> Option<String> {
    let line = heading.map_or("", |heading| heading.line.as_str());
    let written = heading
        .map_or_else(|| edit.path.as_deref().unwrap_or_default(), |heading| file_name::undecorated(&heading.line));
    if written.starts_with("./") || line.to_lowercase().contains("new file") {
        return None;
    }
    let shown = visible_line(path).into_owned();
    let explicit = format!("; if the file is meant, name it `./{shown}`");
    if heading.is_some() && is_phrase(line, path, index) {
        return Some(format!("doubtful name: `{shown}` reads like a phrase, not like a path{explicit}"));
    }
    if edit.format == EditFormat::Whole && heading.is_some() && is_title(path, index) {
        return Some(format!("doubtful name: `{shown}` may be a title and not the name of a new file{explicit}"));
    }
    let others = same_name_elsewhere(path, index);
    if others.is_empty() {
        return None;
    }
    let others: Vec<String> = others.iter().map(|path| format!("`{}`", visible_line(path))).collect();
    Some(format!("doubtful name: `{shown}` would be a new file, and there is {}{explicit}", others.join(", ")))
}

/// Whether the path has spaces because it is a phrase: it is not marked as a name, and no such folder exists.
fn is_phrase(line: &str, path: &str, index: &PathIndex<'_>) -> bool {
    let spaced = |path: &str| path.contains(char::is_whitespace);
    let usual = match path.rsplit_once('/') {
        Some((folder, _)) => index.has_folder(folder),
        None => index.paths().any(spaced),
    };
    spaced(path) && !file_name::is_marked(line) && !usual
}

/// Whether the name of a whole file may be that of a product, of a function, or two words with a slash.
fn is_title(path: &str, index: &PathIndex<'_>) -> bool {
    let base = file_name::base(path);
    let extension = base.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
    // Also `Dockerfile.dev`.
    let stem = base.split('.').next().unwrap_or(base);
    let well_known = file_name::BARE.contains(&stem) || AT_ROOT.contains(&base) || base.starts_with('.');
    match (path.rsplit_once('/'), extension) {
        _ if well_known => false,
        (Some((folder, _)), None) => {
            let scripts = folder.starts_with('.') || SCRIPT_FOLDERS.contains(&file_name::base(folder));
            !scripts && !index.has_folder(folder)
        }
        (Some(_), Some(_)) => false,
        (None, None) => false,
        (None, Some(extension)) => {
            let product = PRODUCTS.contains(&path.to_lowercase().as_str());
            let known = || {
                file_name::knows_extension(path)
                    || OTHER_EXTENSIONS.contains(&extension)
                    || Language::for_path(path).is_some()
                    || index.paths().any(|known| known.rsplit_once('.').is_some_and(|(_, end)| end == extension))
            };
            product || EXAMPLES.contains(&stem) || !known()
        }
    }
}

/// The files with the same base name, if the new path lacks their folder or has an unknown folder.
fn same_name_elsewhere(path: &str, index: &PathIndex<'_>) -> Vec<String> {
    let base = file_name::base(path);
    let usual = match path.split_once('/') {
        Some((first, _)) => index.has_folder(first) || AT_ROOT.contains(&base) || IN_EVERY_FOLDER.contains(&base),
        None => AT_ROOT.contains(&base),
    };
    if usual { Vec::new() } else { index.of_base(base) }
}
