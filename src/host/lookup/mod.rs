//! Lookups for commands that only show something, and for completion. Each effect has exactly one response.

pub(super) mod doctor;
mod setting_rows;

use super::{Host, ModelClient, RequestEnv, connect_model, undo_preview};
use crate::config::{Entry, SETTINGS, Settings, command_files, write_setting, written};
use doctor::{checks_text, checkup, server_check, version};
use rhumb_llm::models::{Catalog, Model};
use rhumb_session::{
    ClipboardText, CustomCommands, EffectKind, Level, LookupEffect, LookupResponse, ModelRole, ModelRow, Page,
    Response, SettingKind,
};
use setting_rows::setting_rows;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Maximum time for the server to list its models.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum number of names in a folder for completion.
const MAX_NAMES: usize = 2_000;

/// Maximum length of an error in a bug report, in characters.
const MAX_ERROR_CHARS: usize = 300;

impl Host {
    pub(super) fn look_up(self, effect: LookupEffect) {
        match effect {
            LookupEffect::Models { choose } => {
                tokio::spawn(async move {
                    let served = self.served_models().await;
                    self.respond_with(move |host| LookupResponse::Models { rows: host.model_rows(&served), choose });
                });
            }
            LookupEffect::Doctor { terminal } => {
                tokio::spawn(async move {
                    let server = server_check(self.client().as_ref()).await;
                    self.respond_with(move |host| {
                        let mut checks = checkup(&host.shared.root, &host.shared.env, &terminal);
                        checks.push(server);
                        LookupResponse::Page(Page { title: "doctor".into(), text: checks_text(&checks) })
                    });
                });
            }
            LookupEffect::Model { role, name } => self.respond_with(move |host| host.model_message(role, &name)),
            LookupEffect::Settings { only, chosen } => {
                self.respond_with(move |host| {
                    let env = &host.shared.env;
                    let rows = setting_rows(&env.settings, env.settings_file.as_deref(), &chosen);
                    LookupResponse::Settings(rows, only.unwrap_or_default())
                });
            }
            LookupEffect::SaveSetting(name, value) => self.respond_with(move |host| {
                let result = match host.shared.env.settings_file.as_deref() {
                    Some(file) => write_setting(file, &name, value.as_deref())
                        .map(|(file, line)| format!("{}:{line}", file.display())),
                    None => Err("settings cannot be saved here".to_owned()),
                };
                LookupResponse::SettingSaved { name, result }
            }),
            LookupEffect::LastWrite(direction) => self.respond_with(move |host| {
                let shared = &host.shared;
                let settings = &shared.env.settings;
                let preview = undo_preview(&shared.root, host.journal().as_ref(), direction, settings);
                LookupResponse::LastWrite(direction, preview)
            }),
            LookupEffect::AgentsFile(effect) => self.propose_agents_file(*effect),
            LookupEffect::Trust => self.respond_with(|host| trust_page(&host.shared.env.settings)),
            LookupEffect::FaultReport { title, terminal, errors } => self.respond_with(move |host| {
                let text = bug_report(&host.shared.env.settings, &title, &terminal, &errors);
                let hint =
                    "Check it before you send it: it contains no code and no keys, but errors may contain file names."
                        .into();
                LookupResponse::Copied(ClipboardText { what: "The report".into(), text, hint })
            }),
            LookupEffect::Folder(folder) => self.respond_with(move |host| {
                let names = host.names_in(&folder);
                LookupResponse::Folder { folder, names }
            }),
            LookupEffect::File(path) => self.respond_with(move |host| {
                let text = rhumb_workspace::read(&host.shared.root, &path);
                LookupResponse::File { text: text.map(|file| file.text).map_err(|error| error.to_string()), path }
            }),
            LookupEffect::FilterMap { map, query } => {
                let number = self.shared.newest.filter.fetch_add(1, Ordering::SeqCst) + 1;
                self.respond_with(move |host| {
                    let found = map.0.filter(&query, &|| host.shared.newest.filter.load(Ordering::SeqCst) != number);
                    LookupResponse::MapFiltered { map, query, found }
                });
            }
            LookupEffect::ExplainRank { map, file, symbol } => self.respond_with(move |_| {
                let explanation = map.0.explain(file, symbol);
                LookupResponse::RankExplained { map, file, symbol, explanation }
            }),
            LookupEffect::Search(question) => {
                let number = self.shared.newest.search.fetch_add(1, Ordering::SeqCst) + 1;
                self.blocking(EffectKind::Lookup.failed(), move |host| {
                    // Outdated if the user has continued typing. The response contains its question.
                    let is_newest = host.shared.newest.search.load(Ordering::SeqCst) == number;
                    let hits = if is_newest { host.search_known(&question) } else { Some(Vec::new()) };
                    Response::LookedUp(LookupResponse::Found { question, hits })
                });
            }
            LookupEffect::Commands => self.respond_with(|host| {
                let (commands, problems) = command_files(host.shared.env.commands.as_deref(), host.shared.root.path());
                LookupResponse::Commands(CustomCommands::new(commands, problems))
            }),
        }
    }

    fn respond_with(self, look: impl FnOnce(&Self) -> LookupResponse + Send + 'static) {
        self.blocking(EffectKind::Lookup.failed(), move |host| Response::LookedUp(look(host)));
    }

    /// The models that the connected server lists; none if it has no list or does not answer in time.
    pub(super) async fn served_models(&self) -> Vec<String> {
        let Some(client) = self.client() else { return Vec::new() };
        let listed = tokio::time::timeout(LIST_TIMEOUT, client.provider.models()).await;
        listed.map(Result::unwrap_or_default).unwrap_or_default()
    }

    /// The models to choose from: those that the server lists, aliases, and the catalog. Models with a key come first.
    fn model_rows(&self, served: &[String]) -> Vec<ModelRow> {
        let RequestEnv { settings, catalog, .. } = &self.shared.env;
        let is_elsewhere = self.client().is_some_and(|client| !client.configured) || settings.base_url.is_some();
        let mut keys = KeyLookup::new(settings);
        let mut rows = Vec::new();
        for name in served {
            let facts = catalog.find(name);
            rows.push(ModelRow { name: name.clone(), detail: detail(&facts), has_key: true });
        }
        for (alias, meant) in aliases(settings, catalog) {
            let has_key = !is_elsewhere && keys.has_key(&meant);
            rows.push(ModelRow { name: alias, detail: format!("→ {meant}"), has_key });
        }
        // A custom server has its own names.
        let named = if is_elsewhere { Vec::new() } else { catalog.names() };
        for name in named {
            let has_key = keys.has_key(&name);
            rows.push(ModelRow { detail: detail(&catalog.find(&name)), name, has_key });
        }
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert(row.name.clone()));
        rows.sort_by_key(|row| !row.has_key);
        rows
    }

    fn model_message(&self, role: ModelRole, name: &str) -> LookupResponse {
        let message = |level, text: String, hint: String| LookupResponse::Status { level, text, hint };
        let env = &self.shared.env;
        let work = role.work();
        let Some(main) = self.client() else {
            return message(Level::Warning, format!("{name} {work} once a model is connected."), String::new());
        };
        let client = if main.configured { connect_model(env, name).transpose() } else { None };
        match client {
            Some(Ok(client)) => match client.notes.first() {
                Some((note, hint)) => message(Level::Warning, note.clone(), hint.clone()),
                None => message(
                    Level::Info,
                    format!("{} {work} from now on ({}).", client.model, detail(&client.facts)),
                    String::new(),
                ),
            },
            Some(Err(error)) => message(Level::Error, format!("{error}."), error.hint()),
            None => {
                let ModelClient { model, .. } = main;
                let text = format!(
                    "{name} is not available: the connected server was found and not configured, so {model} {work}."
                );
                message(Level::Warning, text, "Configure the server with --base-url or in rhumb.toml.".into())
            }
        }
    }

    /// The sorted names in a folder; none if it is outside of the root.
    fn names_in(&self, folder: &str) -> Vec<String> {
        let outside = folder.starts_with(['/', '~', '\\']) || folder.split(['/', '\\']).any(|part| part == "..");
        if outside {
            return Vec::new();
        }
        let entries =
            std::fs::read_dir(self.shared.root.path().join(folder)).into_iter().flatten().filter_map(Result::ok);
        let name = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            let slash = if entry.file_type().ok()?.is_dir() { "/" } else { "" };
            (name != ".git").then(|| format!("{name}{slash}"))
        };
        let mut names: Vec<String> = entries.take(MAX_NAMES).filter_map(name).collect();
        names.sort();
        names
    }
}

/// A cache of which providers have a key.
struct KeyLookup<'s> {
    settings: &'s Settings,
    known: BTreeMap<String, bool>,
}

impl<'s> KeyLookup<'s> {
    fn new(settings: &'s Settings) -> Self {
        Self { settings, known: BTreeMap::new() }
    }

    fn has_key(&mut self, name: &str) -> bool {
        let provider = name.split_once('/').map_or(name, |(provider, _)| provider);
        let has_key = || {
            let endpoint = self.settings.endpoint_without_key(name).ok().flatten();
            endpoint.is_some_and(|endpoint| endpoint.key_source.is_some())
        };
        *self.known.entry(provider.to_owned()).or_insert_with(has_key)
    }
}

/// The aliases of the user and the built-in ones, with their models.
fn aliases(settings: &Settings, catalog: &Catalog) -> Vec<(String, String)> {
    let own = settings.aliases.iter().map(|(alias, meant)| (alias.clone(), meant.clone()));
    let ours = if settings.base_url.is_some() { Vec::new() } else { catalog.short_names() };
    own.chain(ours).collect()
}

/// The window and prices of a model: `200k · $3 in, $15 out`.
fn detail(model: &Model) -> String {
    if !model.known {
        return "not in any table".into();
    }
    let window = match model.window {
        tokens @ 0..1_000 => tokens.to_string(),
        tokens @ 1_000..1_000_000 => format!("{}k", tokens / 1_000),
        tokens => format!("{:.1}M", tokens as f64 / 1e6),
    };
    let price =
        model.prices.map_or_else(String::new, |prices| format!(" · ${} in, ${} out", prices.input, prices.output));
    format!("{window}{price}")
}

fn trust_page(settings: &Settings) -> LookupResponse {
    let waiting = &settings.layers.unapproved;
    if waiting.is_empty() {
        let text = "No settings of this repository need approval.".into();
        return LookupResponse::Status { level: Level::Info, text, hint: String::new() };
    }
    let mut text = String::from(
        "This repository has settings that cost money, send data or run commands. They are not used without your approval.\n\n",
    );
    for (proposed, _) in waiting {
        let _ = writeln!(text, "{}  {}\n    {} = {}\n", proposed.short(), proposed.file, proposed.name, proposed.value);
    }
    text.push_str("To approve one, exit and run: rhumb trust --approve HASH\n");
    LookupResponse::Page(Page { title: "settings of the repository".into(), text })
}

/// The text of a bug report. It contains no code, no keys, and no texts of settings.
fn bug_report(settings: &Settings, title: &str, terminal: &[(String, String)], errors: &[String]) -> String {
    let mut text = format!("## {}\n\n", if title.is_empty() { "(what went wrong)" } else { title });
    let _ = writeln!(text, "What I did:\n\nWhat I expected:\n\nWhat happened instead:\n\n- {}", version());
    terminal.iter().for_each(|(name, value)| _ = writeln!(text, "- {name}: {value}"));
    let set: Vec<String> = settings.layers.effective().map(setting_summary).collect();
    if !set.is_empty() {
        let _ = writeln!(text, "\nSettings that are not the default:\n\n{}", set.join("\n"));
    }
    if !errors.is_empty() {
        text.push_str("\nThe last errors:\n\n");
        let home = std::env::home_dir().map(|home| home.display().to_string()).filter(|home| home.len() > 1);
        for error in errors {
            let short: String = error.chars().take(MAX_ERROR_CHARS).collect();
            let line = home.as_ref().map_or_else(|| short.clone(), |home| short.replace(home.as_str(), "~"));
            let _ = writeln!(text, "- {}", line.replace('\n', " "));
        }
    }
    text
}

/// A setting, with its value if that cannot contain private text.
fn setting_summary(entry: &Entry) -> String {
    let setting = SETTINGS.iter().find(|setting| setting.name == entry.name);
    let is_plain = |kind| {
        matches!(
            kind,
            SettingKind::Whole(..)
                | SettingKind::Number
                | SettingKind::Switch
                | SettingKind::OneOf(_)
                | SettingKind::Thinking
        )
    };
    let is_named = ["model", "weak_model", "editor_model", "theme"].contains(&entry.name.as_str());
    if is_named || setting.is_some_and(|setting| is_plain(setting.kind)) {
        return format!("- {} = {}", entry.name, written(&entry.shown()));
    }
    // Names in tables may be private.
    format!("- {} (set)", entry.name.split('.').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Sources};

    fn settings(vars: &[(&str, &str)]) -> Settings {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Settings::load(&Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None }).unwrap()
    }

    #[test]
    fn a_report_of_a_fault_holds_no_key_and_no_words_of_the_user() {
        let settings = settings(&[
            ("RHUMB_API_KEY", "sk-canary"),
            ("RHUMB_BASE_URL", "http://user:pass@10.0.0.7/v1"),
            ("RHUMB_TEST_CMD", "TOKEN=canary make test"),
            ("RHUMB_MAP_TOKENS", "1024"),
        ]);
        let terminal = [("TERM".to_owned(), "xterm".to_owned())];
        let text = bug_report(&settings, "it broke", &terminal, &["cannot read x\ny".into()]);
        assert!(!text.contains("canary") && !text.contains("10.0.0.7"), "{text}");
        for part in ["it broke", "map_tokens = 1024", "test_cmd (set)", "TERM: xterm", "cannot read x y", "rhumb 0"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn a_provider_with_a_key_is_found() {
        let settings = settings(&[("ANTHROPIC_API_KEY", "k")]);
        let mut keys = KeyLookup::new(&settings);
        assert!(keys.has_key("anthropic/claude-x") && !keys.has_key("groq/llama"));
    }
}
