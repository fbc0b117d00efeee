//! The layers of settings: the user's file, the repository's, those of the folders down to where the user stands, the environment,
//! and flags. The later wins; lists add up.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::Value;

use super::layer::{Entry, Level, Origin, Problem, parse};
use super::setting::{Kind, SETTINGS, Trust};
use super::trust::{Approvals, Proposed, is_foreign};
use super::value::{dotted, read, written};
use super::{ConfigError, Overrides, Paths, aider, conventions};
use rhumb_text::sanitize;
use rhumb_workspace::is_secret_name;

/// The name of a settings file, wherever it lies.
const FILE: &str = "rhumb.toml";

/// Most of a settings file that is read, in bytes.
const LARGEST: u64 = 256 * 1024;

/// Where the user works.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The root of the repository, without links.
    pub root: &'a Path,
    /// The folder that the user stands in.
    pub here: &'a Path,
}

/// Everything that settings are made of.
pub struct Sources<'a> {
    /// What flags say.
    pub flags: Overrides,
    /// Looks an environment variable up.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The user's folders; `None` where there is no home.
    pub paths: Option<&'a Paths>,
    /// Where the repository's own files are looked for; nowhere if `None`.
    pub place: Option<Place<'a>>,
}

/// What is said of each setting, and by whom.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// By name; of the values of one setting, the last counts.
    entries: BTreeMap<String, Vec<Entry>>,
    /// Values of the repository that count once they are approved, with their origin.
    pub waiting: Vec<(Proposed, Origin)>,
    /// What else to tell, and what to do about it.
    pub notes: Vec<(String, String)>,
    /// What is told only to who asks for the settings: what other programs' files say that has no meaning here.
    pub remarks: Vec<String>,
    /// The settings files that were read.
    pub files: Vec<PathBuf>,
    /// Files with conventions, relative to the root.
    pub conventions: Vec<String>,
}

impl Layers {
    /// Reads all of them.
    ///
    /// # Errors
    /// The user's own file, a variable or a flag is wrong: better told at the start than ignored. What is wrong in files of the
    /// repository is among the notes, and left out.
    pub fn read(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        let mut layers = Self::default();
        let mut problems = Vec::new();
        if let Some(paths) = sources.paths {
            layers.user(paths, &mut problems)?;
        }
        if !problems.is_empty() {
            return Err(ConfigError::Wrong { problems });
        }
        if let Some(place) = sources.place {
            let approvals = Approvals::read(sources.paths);
            let folders = folders(place);
            for folder in &folders {
                layers.repository(folder, place.root, &approvals, aider::FILE, aider_file);
                layers.repository(folder, place.root, &approvals, FILE, own_file);
            }
            layers.look_for_conventions(place.root, &folders);
        }
        layers.environment(sources.env)?;
        for (flag, name, text) in sources.flags.texts() {
            layers.said(name, &text, Origin::Flag(flag))?;
        }
        if let Some(place) = sources.place {
            layers.look_for_files(place.root);
        }
        Ok(layers)
    }

    /// The user's own file, or the one of before; and, below it, what another program's file says.
    fn user(&mut self, paths: &Paths, problems: &mut Vec<Problem>) -> Result<(), ConfigError> {
        let theirs = paths.home.join(aider::FILE);
        if let Ok(Some(text)) = foreign(&theirs) {
            let (entries, remarks) = aider::parse(&theirs.display().to_string(), &text, Level::User);
            entries.into_iter().for_each(|entry| self.push(entry));
            self.remarks.extend(remarks);
            self.files.push(theirs);
        }
        let (new, old) = (paths.settings_file(), paths.config_file());
        let (path, text) = match (readable(&new)?, readable(&old)?) {
            (Some(text), None) => (new, text),
            (Some(text), Some(_)) => {
                let hint = format!("Move what it says to {}, and remove it.", new.display());
                self.notes.push((format!("{} is no longer read.", old.display()), hint));
                (new, text)
            }
            (None, Some(text)) => {
                let hint = format!("mv {} {}", old.display(), new.display());
                self.notes.push((format!("Settings are read from {}, the name of before.", old.display()), hint));
                (old, text)
            }
            (None, None) => return Ok(()),
        };
        let (entries, wrong) = parse(&path.display().to_string(), &text, Level::User);
        problems.extend(wrong);
        entries.into_iter().for_each(|entry| self.push(entry));
        self.files.push(path);
        Ok(())
    }

    /// The file of that name in a folder of the repository.
    fn repository(&mut self, folder: &Path, root: &Path, approvals: &Approvals, name: &str, parse: ParseForeign) {
        let path = folder.join(name);
        if self.files.contains(&path) {
            return; // The user works in the folder of their own settings.
        }
        let within = folder.strip_prefix(root).unwrap_or(Path::new("")).join(name).display().to_string();
        let text = match foreign(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(why) => return self.notes.push((format!("{within} is not read: {why}."), String::new())),
        };
        self.files.push(path.clone());
        let entries = parse(self, &within, &text);
        let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
        entries.into_iter().for_each(|entry| self.offered(entry, &path, below, approvals));
    }

    /// A value of the repository: taken, refused, or kept waiting.
    pub(super) fn offered(&mut self, mut entry: Entry, file: &Path, below: &Path, approvals: &Approvals) {
        let Some(setting) = entry.setting() else { return };
        if setting.trust == Trust::User || names_a_key(&entry) {
            let (name, origin) = (dotted(&entry.name), &entry.origin);
            let note = format!("{name} at {origin} is not used: a repository may not say that.");
            return self.notes.push((note, "Set it in your own rhumb.toml if you want it.".into()));
        }
        let proposed = Proposed::of(file, &entry);
        let own = self.said_by_user(setting.name);
        let turns_on = own.is_some_and(is_off) && !is_off(&entry.value);
        if (setting.trust == Trust::Asks || turns_on) && !approvals.has(&proposed) {
            return self.waiting.push((proposed, entry.origin));
        }
        if own == Some(&Value::Boolean(true)) && is_off(&entry.value) && setting.trust == Trust::Inert {
            let note =
                format!("{} at {}: your own settings have it on, and that counts", dotted(&entry.name), entry.origin);
            return self.remarks.push(note);
        }
        if setting.kind == Kind::List {
            for why in settle(&mut entry.value, setting.name, below) {
                self.notes.push((format!("{} at {}: {why}.", dotted(&entry.name), entry.origin), String::new()));
            }
        }
        self.push(entry);
    }

    /// What the user's own file says of a setting.
    fn said_by_user(&self, name: &str) -> Option<&Value> {
        Some(&self.entries.get(name)?.iter().rev().find(|entry| !is_foreign(entry))?.value)
    }

    /// Notes which files with conventions there are.
    fn look_for_conventions(&mut self, root: &Path, folders: &[PathBuf]) {
        let (found, long) = conventions::found(root, folders);
        self.conventions = found;
        for path in long {
            self.notes.push((
                format!("{path} is too long to be read into every chat."),
                format!("/read-only {path} adds it."),
            ));
        }
    }

    /// Takes from `read` what is no file of the repository. The user may well name files that only some repositories have.
    fn look_for_files(&mut self, root: &Path) {
        for entry in self.entries.get_mut("read").into_iter().flatten() {
            let Value::Array(items) = &mut entry.value else { continue };
            let is_there = |path: &str| {
                let real = file_below(root, &root.join(path)).filter(|_| !leaves(path));
                // Who names a file with secrets may want it; a link with another name only hides that.
                real.is_some_and(|real| is_secret_name(path) || !is_secret_name(&real.to_string_lossy()))
            };
            let (there, gone) = std::mem::take(items).into_iter().partition(|item| item.as_str().is_some_and(is_there));
            *items = there;
            for item in gone as Vec<Value> {
                self.remarks.push(format!("{}: {} is no file of this repository", entry.origin, written(&item)));
            }
        }
    }

    fn environment(&mut self, env: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        let var = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        // The address that other programs share stands below the one that is meant for this one.
        let shared = ["OPENAI_BASE_URL", "OPENAI_API_BASE"].into_iter().find_map(|name| Some((name, var(name)?)));
        if let Some((name, url)) = shared {
            self.said("base_url", &url, Origin::Variable(name.into()))?;
        }
        for setting in SETTINGS {
            if let Some(name) = setting.variable()
                && let Some(text) = var(&name)
            {
                self.said(setting.name, &text, Origin::Variable(name))?;
            }
        }
        Ok(())
    }

    /// What a variable or a flag says. An address is taken as it is: whoever opens a connection to it tells what is wrong with
    /// it, and the app is of use without.
    fn said(&mut self, name: &'static str, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let kind = super::setting(name).map_or(Kind::Text, |setting| setting.kind);
        let kind = if kind == Kind::Url { Kind::Text } else { kind };
        if text.trim().is_empty() && kind == Kind::Text {
            self.push(Entry { name: name.into(), value: Value::String(String::new()), origin });
            return Ok(());
        }
        let value = read(kind, text).map_err(|message| ConfigError::BadValue {
            name: origin.to_string(),
            message: format!("{name}: {message}"),
        })?;
        self.push(Entry { name: name.into(), value, origin });
        Ok(())
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.entry(entry.name.clone()).or_default().push(entry);
    }

    /// Every entry that counts: the last of each setting, all of a list.
    pub fn effective(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().flat_map(|entries| {
            let is_list = entries.last().is_some_and(|entry| entry.value.is_array());
            let from = if is_list { 0 } else { entries.len().saturating_sub(1) };
            entries.get(from..).unwrap_or_default()
        })
    }

    /// The entry of a setting that counts.
    pub(super) fn top(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)?.last()
    }

    /// Where the value of a setting comes from, if somebody set it; of an entry of a table, its name with a dot (`keys.send`).
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        Some(&self.top(name)?.origin)
    }

    /// The tables of the user's own below `kind`, by name.
    pub(super) fn tables<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        let named = move |name: &'a str| name.strip_prefix(kind)?.strip_prefix('.');
        self.entries.iter().filter_map(move |(name, entries)| Some((named(name)?, entries.last()?)))
    }

    /// The value of a setting, or its default in [`SETTINGS`].
    fn value(&self, name: &str) -> Option<Value> {
        if let Some(entry) = self.top(name) {
            return Some(entry.value.clone());
        }
        let default = super::setting(name)?.default;
        format!("default = {default}").parse::<toml::Table>().ok()?.remove("default")
    }

    /// The value of a setting with a text.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.value(name)?.as_str().map(str::to_owned)
    }

    /// The value of a setting with a whole number, if it fits the type.
    pub(super) fn whole<N: TryFrom<i64>>(&self, name: &str) -> Option<N> {
        self.value(name)?.as_integer()?.try_into().ok()
    }

    /// The value of a setting with a number.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.as_float()
    }

    /// The value of a switch.
    pub(super) fn switch(&self, name: &str) -> bool {
        self.value(name).is_some_and(|value| value == Value::Boolean(true))
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let entries = self.entries.get(name).map(Vec::as_slice).unwrap_or_default();
        let items = entries.iter().filter_map(|entry| entry.value.as_array()).flatten();
        items.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Whether a setting has its value from the repository.
    pub fn is_foreign(&self, name: &str) -> bool {
        self.top(name).is_some_and(is_foreign)
    }
}

/// Reads the text of a repository's file, notes what is wrong with it, and gives what it says.
type ParseForeign = fn(&mut Layers, &str, &str) -> Vec<Entry>;

fn own_file(layers: &mut Layers, within: &str, text: &str) -> Vec<Entry> {
    let (entries, problems) = parse(within, text, Level::Repository);
    let told = |problem: &Problem| (problem.to_string(), "The rest of the file counts.".to_owned());
    layers.notes.extend(problems.iter().map(told));
    entries
}

fn aider_file(layers: &mut Layers, within: &str, text: &str) -> Vec<Entry> {
    let (entries, remarks) = aider::parse(within, text, Level::Repository);
    layers.remarks.extend(remarks.iter().map(|remark| sanitize::visible_line(remark).into_owned()));
    entries
}

/// The root and the folders below it down to where the user stands.
fn folders(place: Place<'_>) -> Vec<PathBuf> {
    let below = place.here.strip_prefix(place.root).unwrap_or(Path::new(""));
    let mut folder = place.root.to_owned();
    let mut all = vec![folder.clone()];
    for part in below.components() {
        folder.push(part);
        all.push(folder.clone());
    }
    all
}

/// Whether a provider of the repository says where its key comes from.
fn names_a_key(entry: &Entry) -> bool {
    let table = entry.value.as_table().filter(|_| entry.name.starts_with("providers."));
    table.is_some_and(|table| table.contains_key("key_env") || table.contains_key("key_command"))
}

/// Makes the items of a list relative to the root, drops files to read that are not in it or that are nobody's to send unasked,
/// and says which.
fn settle(value: &mut Value, name: &str, below: &Path) -> Vec<String> {
    let Value::Array(items) = value else { return Vec::new() };
    let mut dropped = Vec::new();
    let below = below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    items.retain_mut(|item| {
        let Some(text) = item.as_str() else { return false };
        let why = match name {
            "read" if leaves(text) => Some("is outside of the repository"),
            "read" if is_secret_name(text) => Some("looks like it holds secrets; only you can add it"),
            _ => None,
        };
        if let Some(why) = why {
            dropped.push(format!("{} {why}", written(item)));
            return false;
        }
        if !below.is_empty() {
            *item = Value::String(if name == "read" { format!("{below}/{text}") } else { glob_below(&below, text) });
        }
        true
    });
    dropped
}

/// Whether a value turns off what it is the setting of.
fn is_off(value: &Value) -> bool {
    match value {
        Value::Boolean(on) => !on,
        Value::Integer(count) => *count == 0,
        value => value.as_str() == Some("none"),
    }
}

/// Whether a path is written as one that may lie outside of the root.
fn leaves(path: &str) -> bool {
    path.starts_with(['/', '~', '\\']) || path.split(['/', '\\']).any(|part| part == "..")
}

/// A pattern of `.gitignore`, written in the folder `below`, as it is written at the root.
fn glob_below(below: &str, pattern: &str) -> String {
    let (not, pattern) = pattern.strip_prefix('!').map_or(("", pattern), |rest| ("!", rest));
    let anchored = pattern.trim_end_matches('/').contains('/');
    let deep = if anchored { "" } else { "**/" };
    format!("{not}/{below}/{deep}{}", pattern.trim_start_matches('/'))
}

/// The file that `path` is or leads to, if it lies below `root`: a link may lead to another file of the repository, as when two
/// tools want two names, and nowhere else.
pub(super) fn file_below(root: &Path, path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|real| real.starts_with(root) && real.is_file())
}

/// The text of the user's file; `None` when there is none.
fn readable(path: &Path) -> Result<Option<String>, ConfigError> {
    match plain_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(ConfigError::Unreadable { path: path.display().to_string(), cause }),
    }
}

/// The text of a file that the user keeps, often as a link into a folder of their own: a plain file of sensible size. A pipe
/// would be waited for without an end.
///
/// # Errors
/// It is something else, too large, not UTF-8, or cannot be read.
pub fn plain_text(path: &Path) -> std::io::Result<String> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() {
        return Err(std::io::Error::other("it is no plain file"));
    }
    if meta.len() > LARGEST {
        return Err(std::io::Error::other(format!("it is larger than {} KiB", LARGEST / 1024)));
    }
    fs::read_to_string(path)
}

/// The text of a file that anybody may have written: a plain file of sensible size and no link, which could lead anywhere.
pub(super) fn foreign(path: &Path) -> Result<Option<String>, String> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error.to_string()),
    };
    if !meta.is_file() {
        return Err("it is no plain file".into());
    }
    if meta.len() > LARGEST {
        return Err(format!("it is larger than {} KiB", LARGEST / 1024));
    }
    fs::read_to_string(path).map(Some).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
