//! The layers of settings, in ascending precedence: the file of the user, the files of the repository from the root down to the
//! current folder, environment variables, and flags. Lists are concatenated.

use super::setting_table::{SETTINGS, Trust};
use super::settings_file::{Entry, Level, Origin, Problem, parse};
use super::trust::{Approvals, Proposed, is_foreign};
use super::value::{dotted, read, written};
use super::{ConfigError, Overrides, Paths, aider, conventions};
use rhumb_llm::Thinking;
use rhumb_session::SettingKind;
use rhumb_text::sanitize;
use rhumb_workspace::is_secret_name;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Value;

const FILE: &str = "rhumb.toml";

/// Maximum size of a settings file in bytes.
const MAX_FILE_BYTES: u64 = 256 * 1024;

/// The repository and the current folder.
#[derive(Debug, Clone, Copy)]
pub struct WorkingDirs<'a> {
    /// The root of the repository, with symbolic links resolved.
    pub root: &'a Path,
    /// The current folder.
    pub current: &'a Path,
}

/// The inputs of [`Settings::load`](super::Settings::load).
pub struct Sources<'a> {
    /// The flags.
    pub flags: Overrides,
    /// Reads an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// The folders of the user; `None` without a home folder.
    pub paths: Option<&'a Paths>,
    /// The repository whose files are read; `None` reads none.
    pub dirs: Option<WorkingDirs<'a>>,
}

/// The values of all settings, with their origins.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// The values by name, in ascending precedence.
    entries: BTreeMap<String, Vec<Entry>>,
    /// Values of the repository that are not approved, with their origins.
    pub unapproved: Vec<(Proposed, Origin)>,
    /// Messages, each with a hint.
    pub notes: Vec<(String, String)>,
    /// Remarks that are shown only with the settings: values in files of other programs that have no counterpart.
    pub remarks: Vec<String>,
    /// The settings files that were read.
    pub files: Vec<PathBuf>,
    /// Convention files, relative to the root.
    pub conventions: Vec<String>,
}

impl Layers {
    /// Reads all layers.
    ///
    /// # Errors
    /// The file of the user, a variable or a flag is wrong. Mistakes in files of the repository become notes instead, and these
    /// values are left out.
    pub fn read(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        let mut layers = Self::default();
        let mut problems = Vec::new();
        if let Some(paths) = sources.paths {
            layers.user(paths, &mut problems)?;
        }
        if !problems.is_empty() {
            return Err(ConfigError::Wrong(problems));
        }
        if let Some(dirs) = sources.dirs {
            let approvals = Approvals::read(sources.paths);
            let folders = folders(dirs);
            for folder in &folders {
                layers.repository(folder, dirs.root, &approvals, aider::FILE, aider_file);
                layers.repository(folder, dirs.root, &approvals, FILE, own_file);
            }
            layers.find_conventions(dirs.root, &folders);
        }
        layers.environment(sources.env)?;
        for (flag, name, text) in sources.flags.texts() {
            layers.set_from_text(name, &text, Origin::Flag(flag))?;
        }
        if let Some(dirs) = sources.dirs {
            layers.remove_missing_files(dirs.root);
        }
        Ok(layers)
    }

    /// Reads the file of the user, or its former name, and with lower precedence the file of aider in the home folder.
    fn user(&mut self, paths: &Paths, problems: &mut Vec<Problem>) -> Result<(), ConfigError> {
        let aider_path = paths.home.join(aider::FILE);
        if let Ok(Some(text)) = read_untrusted(&aider_path) {
            let (entries, remarks) = aider::parse(&aider_path.display().to_string(), &text, Level::User);
            entries.into_iter().for_each(|entry| self.push(entry));
            self.remarks.extend(remarks);
            self.files.push(aider_path);
        }
        let (new, old) = (paths.settings_file(), paths.config_file());
        let (path, text) = match (read_user_file(&new)?, read_user_file(&old)?) {
            (Some(text), None) => (new, text),
            (Some(text), Some(_)) => {
                let hint = format!("Move its settings to {}, and remove it.", new.display());
                self.notes.push((format!("{} is no longer read.", old.display()), hint));
                (new, text)
            }
            (None, Some(text)) => {
                let hint = format!("mv {} {}", old.display(), new.display());
                self.notes
                    .push((format!("Settings are read from {}, the former name of the file.", old.display()), hint));
                (old, text)
            }
            (None, None) => return Ok(()),
        };
        let (entries, mistakes) = parse(&path.display().to_string(), &text, Level::User);
        problems.extend(mistakes);
        entries.into_iter().for_each(|entry| self.push(entry));
        self.files.push(path);
        Ok(())
    }

    /// Reads the file `name` in a folder of the repository.
    fn repository(&mut self, folder: &Path, root: &Path, approvals: &Approvals, name: &str, parse: ParseUntrusted) {
        let path = folder.join(name);
        if self.files.contains(&path) {
            return; // The current folder is the folder of the user's settings.
        }
        let below = folder.strip_prefix(root).unwrap_or(Path::new(""));
        let within = below.join(name).display().to_string();
        let text = match read_untrusted(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return,
            Err(why) => return self.notes.push((format!("{within} is not read: {why}."), String::new())),
        };
        self.files.push(path.clone());
        let entries = parse(self, &within, &text);
        entries.into_iter().for_each(|entry| self.propose(entry, &path, below, approvals));
    }

    /// Accepts, refuses or defers a value of the repository.
    fn propose(&mut self, mut entry: Entry, file: &Path, below: &Path, approvals: &Approvals) {
        let Some(setting) = entry.setting() else { return };
        if setting.trust == Trust::User || names_a_key(&entry) {
            let (name, origin) = (dotted(&entry.name), &entry.origin);
            let note = format!("{name} at {origin} is not used: a repository may not set it.");
            return self.notes.push((note, "Set it in your own rhumb.toml if you want it.".into()));
        }
        let proposed = Proposed::of(file, &entry);
        let own = self.user_value(setting.name);
        let turns_on = own.is_some_and(is_off) && !is_off(&entry.value);
        if (setting.trust == Trust::Asks || turns_on) && !approvals.has(&proposed) {
            return self.unapproved.push((proposed, entry.origin));
        }
        if own == Some(&Value::Boolean(true)) && is_off(&entry.value) && setting.trust == Trust::Inert {
            let note = format!("{} at {}: it stays on, as in your own settings", dotted(&entry.name), entry.origin);
            return self.remarks.push(note);
        }
        if setting.kind == SettingKind::List {
            for reason in resolve_list(&mut entry.value, setting.name, below) {
                self.notes.push((format!("{} at {}: {reason}.", dotted(&entry.name), entry.origin), String::new()));
            }
        }
        self.push(entry);
    }

    fn user_value(&self, name: &str) -> Option<&Value> {
        Some(&self.entries.get(name)?.iter().rev().find(|entry| !is_foreign(entry))?.value)
    }

    fn find_conventions(&mut self, root: &Path, folders: &[PathBuf]) {
        let (found, long) = conventions::found(root, folders);
        self.conventions = found;
        for path in long {
            self.notes.push((
                format!("{path} is too long to be added to every chat."),
                format!("/read-only {path} adds it."),
            ));
        }
    }

    /// Removes entries of `read` that are not files of the repository. The user may list files that only some repositories have.
    fn remove_missing_files(&mut self, root: &Path) {
        for entry in self.entries.get_mut("read").into_iter().flatten() {
            let Value::Array(items) = &mut entry.value else { continue };
            let exists = |path: &str| {
                let real = file_below(root, &root.join(path)).filter(|_| !may_leave_root(path));
                // A file with secrets may be named explicitly, but not through a link with another name.
                real.is_some_and(|real| is_secret_name(path) || !is_secret_name(&real.to_string_lossy()))
            };
            let (present, missing) =
                std::mem::take(items).into_iter().partition(|item| item.as_str().is_some_and(exists));
            *items = present;
            for item in missing as Vec<Value> {
                self.remarks.push(format!("{}: {} is not a file of this repository", entry.origin, written(&item)));
            }
        }
    }

    fn environment(&mut self, env: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        let var = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        // The variables of other programs have a lower precedence than RHUMB_BASE_URL.
        let shared = ["OPENAI_BASE_URL", "OPENAI_API_BASE"].into_iter().find_map(|name| Some((name, var(name)?)));
        if let Some((name, url)) = shared {
            self.set_from_text("base_url", &url, Origin::Variable(name.into()))?;
        }
        for setting in SETTINGS {
            if let Some(name) = setting.variable()
                && let Some(text) = var(&name)
            {
                self.set_from_text(setting.name, &text, Origin::Variable(name))?;
            }
        }
        Ok(())
    }

    /// Adds the value of a variable or flag. A malformed address is accepted here: the error is reported when it is used, and
    /// the app is useful without a provider.
    fn set_from_text(&mut self, name: &'static str, text: &str, origin: Origin) -> Result<(), ConfigError> {
        let kind = super::setting(name).map_or(SettingKind::Text, |setting| setting.kind);
        let kind = if kind == SettingKind::Url { SettingKind::Text } else { kind };
        if text.trim().is_empty() && kind == SettingKind::Text {
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

    /// Every effective entry: the last one of each setting, and all of a list.
    pub fn effective(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().flat_map(|entries| {
            let is_list = entries.last().is_some_and(|entry| entry.value.is_array());
            let from = if is_list { 0 } else { entries.len().saturating_sub(1) };
            entries.get(from..).unwrap_or_default()
        })
    }

    /// The effective entry of a setting.
    pub(super) fn top(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)?.last()
    }

    /// The origin of a value that is set. The name of a table entry is `keys.send`.
    pub fn origin(&self, name: &str) -> Option<&Origin> {
        Some(&self.top(name)?.origin)
    }

    /// The named tables of a setting, such as `[providers.NAME]`, by name.
    pub(super) fn tables<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        let named = move |name: &'a str| name.strip_prefix(kind)?.strip_prefix('.');
        self.entries.iter().filter_map(move |(name, entries)| Some((named(name)?, entries.last()?)))
    }

    /// The value of a setting, or its default in [`SETTINGS`]. The files of a list are concatenated, and named tables are collected.
    fn value(&self, name: &str) -> Option<Value> {
        let setting = super::setting(name)?;
        if setting.kind == SettingKind::Tables {
            let tables = self.tables(name).map(|(name, entry)| (name.to_owned(), entry.value.clone()));
            return Some(Value::Table(tables.collect()));
        }
        let values = self.entries.get(name).map(Vec::as_slice).unwrap_or_default();
        match (values.last(), setting.kind) {
            (None, _) => format!("default = {}", setting.default).parse::<toml::Table>().ok()?.remove("default"),
            (Some(_), SettingKind::List) => Some(Value::Array(
                values.iter().filter_map(|entry| entry.value.as_array()).flatten().cloned().collect(),
            )),
            (Some(entry), _) => Some(entry.value.clone()),
        }
    }

    /// The value of a setting as the type of its field; the default of the type if it is not set.
    pub(super) fn get<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        self.value(name).and_then(|value| value.try_into().ok()).unwrap_or_default()
    }

    /// The reasoning effort, if set.
    pub(super) fn thinking(&self) -> Option<Thinking> {
        match self.value("thinking")? {
            Value::Integer(tokens) => tokens.try_into().ok().map(Thinking::Budget),
            value => value.as_str().map(|effort| Thinking::Effort(effort.to_owned())),
        }
    }

    /// Whether the value of a setting comes from the repository.
    pub fn is_foreign(&self, name: &str) -> bool {
        self.top(name).is_some_and(is_foreign)
    }
}

/// Parses a settings file of the repository, adds notes about mistakes, and returns the entries.
type ParseUntrusted = fn(&mut Layers, &str, &str) -> Vec<Entry>;

fn own_file(layers: &mut Layers, within: &str, text: &str) -> Vec<Entry> {
    let (entries, problems) = parse(within, text, Level::Repository);
    let note = |problem: &Problem| (problem.to_string(), "The rest of the file is used.".to_owned());
    layers.notes.extend(problems.iter().map(note));
    entries
}

fn aider_file(layers: &mut Layers, within: &str, text: &str) -> Vec<Entry> {
    let (entries, remarks) = aider::parse(within, text, Level::Repository);
    layers.remarks.extend(remarks.iter().map(|remark| sanitize::visible_line(remark).into_owned()));
    entries
}

/// The root and all folders from there to the current one.
fn folders(dirs: WorkingDirs<'_>) -> Vec<PathBuf> {
    let below = dirs.current.strip_prefix(dirs.root).unwrap_or(Path::new(""));
    let mut folder = dirs.root.to_owned();
    let mut all = vec![folder.clone()];
    for part in below.components() {
        folder.push(part);
        all.push(folder.clone());
    }
    all
}

/// Whether a provider table names the source of its key.
fn names_a_key(entry: &Entry) -> bool {
    let table = entry.value.as_table().filter(|_| entry.name.starts_with("providers."));
    table.is_some_and(|table| table.contains_key("key_env") || table.contains_key("key_command"))
}

/// Makes the items of a list relative to the root. Returns why items were dropped: files outside of the root, or with secrets.
fn resolve_list(value: &mut Value, name: &str, below: &Path) -> Vec<String> {
    let Value::Array(items) = value else { return Vec::new() };
    let mut dropped = Vec::new();
    let below = below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    items.retain_mut(|item| {
        let Some(text) = item.as_str() else { return false };
        let why = match name {
            "read" if may_leave_root(text) => Some("is outside of the repository"),
            "read" if is_secret_name(text) => Some("probably contains secrets; only you can add it"),
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

/// Whether a value turns its setting off.
fn is_off(value: &Value) -> bool {
    match value {
        Value::Boolean(on) => !on,
        Value::Integer(count) => *count == 0,
        value => value.as_str() == Some("none"),
    }
}

/// Whether a path as written may be outside of the root.
fn may_leave_root(path: &str) -> bool {
    path.starts_with(['/', '~', '\\']) || path.split(['/', '\\']).any(|part| part == "..")
}

/// Converts a pattern of `.gitignore` from the folder `below` to the root.
fn glob_below(below: &str, pattern: &str) -> String {
    let (not, pattern) = pattern.strip_prefix('!').map_or(("", pattern), |rest| ("!", rest));
    let anchored = pattern.trim_end_matches('/').contains('/');
    let deep = if anchored { "" } else { "**/" };
    format!("{not}/{below}/{deep}{}", pattern.trim_start_matches('/'))
}

/// Resolves a path to a file below `root`; `None` if it is outside or not a file.
pub(super) fn file_below(root: &Path, path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().filter(|real| real.starts_with(root) && real.is_file())
}

/// The text of a file of the user; `None` if there is no such file.
fn read_user_file(path: &Path) -> Result<Option<String>, ConfigError> {
    match read_regular_file(path) {
        Ok(text) => Ok(Some(text)),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(ConfigError::Unreadable { path: path.display().to_string(), cause }),
    }
}

/// The text of a file of the user, which may be a symbolic link. Only regular files are read, because a pipe could block.
///
/// # Errors
/// The file is not a regular file, too large, not UTF-8, or cannot be read.
pub fn read_regular_file(path: &Path) -> std::io::Result<String> {
    check_regular(&fs::metadata(path)?)?;
    fs::read_to_string(path)
}

/// The text of an untrusted file: a regular file of limited size and not a symbolic link; `None` if there is no such file.
fn read_untrusted(path: &Path) -> Result<Option<String>, std::io::Error> {
    let meta = match fs::symlink_metadata(path) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        meta => meta?,
    };
    check_regular(&meta)?;
    fs::read_to_string(path).map(Some)
}

fn check_regular(meta: &fs::Metadata) -> std::io::Result<()> {
    if !meta.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    if meta.len() > MAX_FILE_BYTES {
        return Err(std::io::Error::other(format!("it is larger than {} KiB", MAX_FILE_BYTES / 1024)));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
