//! New files under names that may not be meant so: a title, a phrase, the name of another file without its folder. Such a file is
//! a question to the reviewer.

use super::format::EditFormat;
use super::heading::Heading;
use super::name;
use super::reply::Edit;
use super::resolve::PathIndex;
use rhumb_syntax::Language;
use rhumb_text::sanitize::visible_line;

/// Products, in lower case, whose names look like those of files.
const PRODUCTS: [&str; 22] = [
    "alpine.js",
    "angular.js",
    "backbone.js",
    "chart.js",
    "d3.js",
    "discord.js",
    "ember.js",
    "express.js",
    "knockout.js",
    "moment.js",
    "nest.js",
    "next.js",
    "node.js",
    "nuxt.js",
    "p5.js",
    "react.js",
    "socket.io",
    "solid.js",
    "svelte.js",
    "three.js",
    "vue.js",
    "asp.net",
];

/// Extensions of files beside those of the languages that are known.
const OTHER_EXTENSIONS: [&str; 21] = [
    "am",
    "bib",
    "csproj",
    "gemspec",
    "in",
    "ipynb",
    "j2",
    "jsonl",
    "mk",
    "patch",
    "plist",
    "prisma",
    "properties",
    "service",
    "sln",
    "sum",
    "svg",
    "tex",
    "tpl",
    "tsv",
    "xml",
];

/// Words, as titles have them, that announce an example.
const EXAMPLES: [&str; 5] = ["After", "Before", "Example", "Output", "Usage"];

/// Folders of programs and scripts, whose names have no extension.
const SCRIPT_FOLDERS: [&str; 6] = ["bin", "hooks", "sbin", "script", "scripts", "tools"];

/// Files that most projects have at their root, and often in folders as well.
const AT_ROOT: [&str; 24] = [
    ".dockerignore",
    ".editorconfig",
    ".env",
    ".env.example",
    ".gitattributes",
    ".gitignore",
    "CMakeLists.txt",
    "Cargo.toml",
    "Dockerfile",
    "LICENSE",
    "Makefile",
    "README",
    "README.md",
    "README.rst",
    "conftest.py",
    "docker-compose.yml",
    "go.mod",
    "package.json",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "tsconfig.json",
];

/// Files that folder after folder has.
const IN_EVERY_FOLDER: [&str; 12] = [
    "__init__.py",
    "__main__.py",
    "index.html",
    "index.js",
    "index.jsx",
    "index.ts",
    "index.tsx",
    "lib.rs",
    "main.go",
    "main.py",
    "main.rs",
    "mod.rs",
];

/// Why a file that an edit makes at `path` may not be meant; `None` where there is no reason to doubt it. A name that begins
/// with `./`, or a line that says `new file`, is meant as it is.
pub(super) fn doubt(edit: &Edit, heading: Option<&Heading>, path: &str, index: &PathIndex<'_>) -> Option<String> {
    let line = heading.map_or("", |heading| heading.line.as_str());
    let written =
        heading.map_or_else(|| edit.path.as_deref().unwrap_or_default(), |heading| name::undecorated(&heading.line));
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

/// Whether white space in the path is that of a phrase: no folder of that name is there, and nothing marks where the name begins
/// and ends.
fn is_phrase(line: &str, path: &str, index: &PathIndex<'_>) -> bool {
    let spaced = |path: &str| path.contains(char::is_whitespace);
    let usual = match path.rsplit_once('/') {
        Some((folder, _)) => index.has_folder(folder),
        None => index.paths().any(spaced),
    };
    spaced(path) && !name::is_marked(line) && !usual
}

/// Whether the name of a whole file may be that of a product, a function or a pair of words.
fn is_title(path: &str, index: &PathIndex<'_>) -> bool {
    let base = name::base(path);
    let extension = base.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, extension)| extension);
    // `Dockerfile.dev` as well.
    let stem = base.split('.').next().unwrap_or(base);
    let well_known = name::BARE.contains(&stem) || AT_ROOT.contains(&base) || base.starts_with('.');
    match (path.rsplit_once('/'), extension) {
        _ if well_known => false,
        (Some((folder, _)), None) => {
            let scripts = folder.starts_with('.') || SCRIPT_FOLDERS.contains(&name::base(folder));
            !scripts && !index.has_folder(folder)
        }
        (Some(_), Some(_)) => false,
        (None, None) => false,
        (None, Some(extension)) => {
            let product = PRODUCTS.contains(&path.to_lowercase().as_str());
            let known = || {
                name::knows_extension(path)
                    || OTHER_EXTENSIONS.contains(&extension)
                    || Language::for_path(path).is_some()
                    || index.paths().any(|known| known.rsplit_once('.').is_some_and(|(_, end)| end == extension))
            };
            product || EXAMPLES.contains(&stem) || !known()
        }
    }
}

/// The files of the same base name, where the new path seems to lack their folder or has one that is not there.
fn same_name_elsewhere(path: &str, index: &PathIndex<'_>) -> Vec<String> {
    let base = name::base(path);
    let usual = match path.split_once('/') {
        Some((first, _)) => index.has_folder(first) || AT_ROOT.contains(&base) || IN_EVERY_FOLDER.contains(&base),
        None => AT_ROOT.contains(&base),
    };
    if usual { Vec::new() } else { index.of_base(base) }
}
