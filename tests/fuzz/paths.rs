//! File names as models write them: nothing outside of the root or inside of `.git` is read or written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::{any, prop, prop_oneof, proptest};
use proptest::strategy::Strategy;
use proptest::{prop_assert, prop_assert_eq};
use rhumb_workspace::{FileWrite, Root, read, resolve_links, write};

use crate::cases;
use crate::damage::NAMES;

const FILES: [(&str, &str); 5] = [
    ("root/src/a.rs", "a"),
    ("root/.git/HEAD", "secret"),
    ("root/.git/config", "secret"),
    ("out", "secret"),
    ("a.rs", "secret"),
];

/// The targets of links in the root, and their names.
#[cfg(unix)]
const LINKS: [(&str, &str); 6] =
    [("..", "leak"), ("gone-away", "gone"), ("loop", "loop"), ("src", "inner"), (".git/config", "c"), ("../out", "o")];

const PARTS: [&str; 30] = [
    "..",
    ".",
    "",
    "/",
    "\\",
    "~",
    "src",
    "a.rs",
    "leak",
    "gone",
    "loop",
    "inner",
    ".git",
    ".GIT",
    ".git.",
    ".git ",
    "GIT~1",
    ".g\u{200c}it",
    ".git::$INDEX_ALLOCATION",
    "config",
    "hooks",
    "C:",
    "CON",
    "NUL.txt",
    "a\0b",
    "new folder",
    "x\n",
    "\u{202e}x",
    "...",
    " ",
];

fn name() -> impl Strategy<Value = String> {
    let part = prop_oneof![6 => prop::sample::select(PARTS.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,6}"];
    let joined = (prop::collection::vec(part, 1..6), prop::sample::select(vec!["/", "/", "/", "//", "\\"]))
        .prop_map(|(parts, between)| parts.join(between));
    prop_oneof![8 => joined, 1 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned), 1 => any::<String>()]
}

/// All files below a folder with their bytes or link targets, except the plain files of the root.
fn outside(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![top.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let inside = path.strip_prefix(top.join("root")).is_ok_and(|below| !below.starts_with(".git"));
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                folders.push(path);
            } else if !inside {
                found.insert(path.clone(), fs::read(&path).unwrap_or_default());
            } else if meta.is_symlink() {
                found.insert(path.clone(), fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes());
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn no_name_reads_or_writes_anything_outside(names in prop::collection::vec(name(), 1..6), delete in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("root/.git/hooks")).unwrap();
        fs::create_dir_all(top.join("root/src")).unwrap();
        for (path, text) in FILES {
            fs::write(top.join(path), text).unwrap();
        }
        #[cfg(unix)]
        for (to, link) in LINKS {
            std::os::unix::fs::symlink(to, top.join("root").join(link)).unwrap();
        }
        let root = Root::at(&top.join("root")).unwrap();
        let before = outside(&top);
        for name in &names {
            if let Ok(found) = read(&root, name) {
                prop_assert!(!found.text.contains("secret"), "{name:?} was read");
            }
            let stored = resolve_links(&root, name);
            prop_assert!(stored == *name || !stored.split('/').any(|part| part == ".."), "{name:?} is {stored:?}");
            let expected = read(&root, name).ok().map(|found| found.text);
            let content = (!delete).then(|| "written".to_owned());
            let change = FileWrite { path: name.clone(), expected, content, renamed_from: None };
            let _ = write(&root, None, &[change], None);
        }
        prop_assert_eq!(outside(&top), before, "{:?}", names);
    }
}
