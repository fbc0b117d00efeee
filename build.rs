//! Passes properties of the build to `src/version.rs`: commit, compiler, target, profile and features.
//!
//! The script reads no clock and runs only `rustc --version`, so that the same sources build the same program; the date comes from
//! `SOURCE_DATE_EPOCH`. It reads the files of git instead of running it, because settings of a repository could name programs to
//! run. It runs again only if a file or variable below changes.
#![allow(clippy::print_stdout)] // how a build script speaks to cargo

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The value of an unknown property.
const UNKNOWN: &str = "unknown";

#[cfg_attr(test, allow(dead_code))] // the tests read this file for what is below
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=SOURCE_DATE_EPOCH");
    println!("cargo:rerun-if-env-changed=RHUMB_COMMIT");
    let profile = variable("PROFILE");
    tell("COMMIT", &commit(&profile));
    tell("EPOCH", &epoch(env::var("SOURCE_DATE_EPOCH").ok())?);
    tell("COMPILER", &compiler());
    tell("TARGET", &variable("TARGET"));
    tell("PROFILE", &profile);
    tell("FEATURES", &features(env::vars().map(|(name, _)| name)));
    Ok(())
}

fn tell(name: &str, value: &str) {
    println!("cargo:rustc-env=RHUMB_BUILD_{name}={value}");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| UNKNOWN.to_owned())
}

/// The commit of `RHUMB_COMMIT`, else the one that is checked out. Debug builds have none, because they would be compiled again, and
/// every test linked again, after each commit.
fn commit(profile: &str) -> String {
    if let Ok(said) = env::var("RHUMB_COMMIT")
        && !said.trim().is_empty()
    {
        return said.trim().to_owned();
    }
    if profile != "release" {
        return UNKNOWN.to_owned();
    }
    // An unpacked archive has no repository, and one around it does not count.
    let head = head(Path::new(&variable("CARGO_MANIFEST_DIR")));
    for path in head.iter().flat_map(|head| &head.watched) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    head.and_then(|head| head.commit).unwrap_or_else(|| UNKNOWN.to_owned())
}

/// What is checked out.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// Its hash; `None` before the first commit, and where refs are kept in a form that we do not read.
    pub commit: Option<String>,
    /// What changes when another commit is checked out or made. All of it exists: cargo takes a file that does not for changed.
    pub watched: Vec<PathBuf>,
}

/// What is checked out in `root`; `None` where that has no git folder.
pub fn head(root: &Path) -> Option<Head> {
    let folder = git_folder(root)?;
    let file = folder.join("HEAD");
    let said = fs::read_to_string(&file).ok()?;
    let Some(name) = said.trim().strip_prefix("ref: ") else {
        return Some(Head { commit: hash(&said), watched: vec![file] });
    };
    // A linked worktree has its own HEAD; branches are those of the repository.
    let common = match fs::read_to_string(folder.join("commondir")) {
        Ok(common) => folder.join(common.trim()),
        Err(_) => folder,
    };
    let loose = common.join(name);
    if let Ok(said) = fs::read_to_string(&loose) {
        return Some(Head { commit: hash(&said), watched: vec![file, loose] });
    }
    let packed = common.join("packed-refs");
    let commit = fs::read_to_string(&packed).ok().and_then(|refs| {
        let hashes = refs.lines().filter_map(|line| line.split_once(' ')).filter(|(_, of)| *of == name);
        hashes.filter_map(|(found, _)| hash(found)).next()
    });
    // The next commit makes the file of the branch.
    let watched = [file, packed, common.join("refs/heads")];
    Some(Head { commit, watched: watched.into_iter().filter(|path| path.exists()).collect() })
}

/// The git folder of a work tree, which a linked one and a submodule have elsewhere.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let entry = root.join(".git");
    if entry.is_dir() {
        return Some(entry);
    }
    let said = fs::read_to_string(&entry).ok()?;
    Some(root.join(said.trim().strip_prefix("gitdir: ")?))
}

fn hash(text: &str) -> Option<String> {
    let hash = text.trim();
    let is_hash = matches!(hash.len(), 40 | 64) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| hash.to_owned())
}

/// The value of `SOURCE_DATE_EPOCH` in seconds since 1970, if it is set. Its specification requires that a build fails if the value
/// is not a number.
pub fn epoch(said: Option<String>) -> Result<String, &'static str> {
    let Some(seconds) = said else { return Ok(UNKNOWN.to_owned()) };
    let number: u64 = seconds.trim().parse().map_err(|_| "SOURCE_DATE_EPOCH is not a number of seconds")?;
    Ok(number.to_string())
}

fn compiler() -> String {
    let output = Command::new(variable("RUSTC")).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if text.is_empty() { UNKNOWN.to_owned() } else { text }
}

/// The enabled features, sorted, from the variables that cargo sets.
pub fn features(variables: impl Iterator<Item = String>) -> String {
    let name = |variable: String| Some(variable.strip_prefix("CARGO_FEATURE_")?.to_lowercase().replace('_', "-"));
    let mut names: Vec<String> = variables.filter_map(name).filter(|name| name != "default").collect();
    names.sort();
    names.join(", ")
}
