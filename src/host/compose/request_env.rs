//! The environment of all requests: settings, model catalog, prompts and the calibration of token counts.

use crate::config::{Paths, Settings};
use crate::host::CachedCounter;
use crate::store::{CalibrationFile, model_lists};
use rhumb_edit::EditFormat;
use rhumb_llm::models::{Catalog, Model};
use rhumb_session::context::{BudgetOverrides, BudgetPlan, Mode, Prompts, Task, UserEnvironment, Window};
use rhumb_session::{Failure, RequestSpec};
use rhumb_tokens::Calibration;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The environment of all requests.
#[derive(Debug, Default)]
pub struct RequestEnv {
    /// The effective settings.
    pub settings: Settings,
    /// The model catalog.
    pub catalog: Catalog,
    /// The prompts.
    pub prompts: Prompts,
    /// The machine and shell of the user; `None` where requests must be the same on all machines.
    pub machine: Option<Machine>,
    /// The folder of the user's commands.
    pub commands: Option<PathBuf>,
    /// The user's settings file; `None` if none may be written.
    pub settings_file: Option<PathBuf>,
    calibration: Mutex<Calibration>,
    /// Input limits of servers that differ from the catalog, by the name of the model.
    limits: Mutex<HashMap<String, usize>>,
    calibration_file: Option<CalibrationFile>,
}

/// The machine of the user, as described to models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The operating system and processor, such as `linux x86_64`.
    pub platform: String,
    /// The name of the shell, such as `bash`.
    pub shell: Option<String>,
}

impl Machine {
    /// The current machine.
    pub fn this() -> Self {
        let shell = std::env::var("SHELL").ok();
        Self {
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            shell: shell.and_then(|path| path.rsplit('/').next().map(str::to_owned)).filter(|name| !name.is_empty()),
        }
    }
}

/// The model catalog of the user: the bundled lists, the fetched ones, and the models in the settings.
pub fn catalog(settings: &Settings) -> Catalog {
    let lists = settings.cache_folder.as_deref().map(model_lists);
    let known = Catalog::bundled().with_lists(lists.unwrap_or_default());
    known.with_user(settings.models.clone(), settings.aliases.clone())
}

impl RequestEnv {
    /// An environment with settings only.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// The complete environment of the user, with notes about possible mistakes in their prompts.
    pub fn of_user(settings: Settings) -> (Self, Vec<Failure>) {
        let (prompts, notes) = prompts(settings.prompts.as_deref());
        let catalog = catalog(&settings);
        let calibration_file = settings.state_folder.as_deref().map(CalibrationFile::new);
        let calibration = calibration_file.as_ref().map(CalibrationFile::read).unwrap_or_default();
        let paths = Paths::of_user();
        let env = Self {
            settings,
            catalog,
            prompts,
            machine: Some(Machine::this()),
            commands: paths.as_ref().map(Paths::commands_folder),
            settings_file: paths.as_ref().map(Paths::settings_file),
            calibration: Mutex::new(calibration),
            limits: Mutex::default(),
            calibration_file,
        };
        (env, notes)
    }

    /// The context window of a model: that of the settings, else of the catalog, else an assumed one; reduced to the limit that its
    /// server was found to have.
    pub fn window(&self, model: &Model) -> Window {
        let window = match self.settings.context_window {
            Some(tokens) => Window { tokens, known: true },
            None => Window::of(model),
        };
        let learnt = self.limits.lock().unwrap_or_else(PoisonError::into_inner).get(&model.name).copied();
        learnt.filter(|limit| *limit < window.max_input()).map_or(window, Window::holding)
    }

    /// Maximum number of tokens of passages in a request to a model.
    pub fn passage_budget(&self, model: &Model) -> usize {
        let overrides = BudgetOverrides { passages: self.settings.codebase.tokens, ..BudgetOverrides::default() };
        BudgetPlan::of(self.window(model), false, overrides).passages
    }

    /// Records the maximum number of input tokens of a model's server, by our count.
    pub fn learn_limit(&self, model: &Model, limit: usize) {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner).insert(model.name.clone(), limit);
    }

    /// The token counter for a model.
    pub fn counter(&self, model: &Model) -> CachedCounter {
        CachedCounter::calibrated(&model.name, self.factor(model))
    }

    /// The number of tokens that the provider of a model counts for one of ours.
    pub fn factor(&self, model: &Model) -> f64 {
        self.calibration().factor(&model.name)
    }

    /// Updates the calibration: the provider counted `reported` tokens, we counted `counted` with the given factor.
    pub fn learn(&self, model: &Model, counted: usize, factor: f64, reported: usize) {
        let learnt = {
            let mut calibration = self.calibration();
            calibration.learn(&model.name, (counted as f64 / factor) as usize, reported);
            calibration.clone()
        };
        if let Some(file) = &self.calibration_file {
            // An error is ignored: the calibration is only an optimization.
            file.write(&learnt).ok();
        }
    }

    /// The task of a request.
    pub fn task(&self, spec: &RequestSpec, model: &Model) -> Task {
        let format = self.edit_format(spec, model);
        Task {
            mode: spec.mode,
            mark_cache: self.settings.cache_prompts,
            shell_commands: spec.suggest,
            ..Task::code(format)
        }
    }

    fn edit_format(&self, spec: &RequestSpec, model: &Model) -> EditFormat {
        let editor_edit_format = self.settings.editor_edit_format;
        let edit_format = spec.overrides.edit_format.apply(self.settings.edit_format);
        match spec.mode {
            // The setting is for the main model. A known editor model has its own edit format.
            Mode::Editor => editor_edit_format.or(edit_format.filter(|_| !model.known)).unwrap_or(model.edit_format),
            _ => edit_format.unwrap_or(model.edit_format),
        }
    }

    /// The environment of the user, as described to models.
    pub fn environment(&self) -> UserEnvironment {
        let machine = self.machine.as_ref();
        UserEnvironment {
            platform: machine.map(|machine| machine.platform.clone()),
            shell: machine.and_then(|machine| machine.shell.clone()),
            language: self.settings.language.clone(),
            date: None,
            test: self.settings.test_cmd.clone(),
            lint: self.settings.lint_cmd.clone(),
        }
    }

    fn calibration(&self) -> std::sync::MutexGuard<'_, Calibration> {
        self.calibration.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum size of a prompt file in bytes.
const MAX_PROMPT_BYTES: u64 = 256 * 1024;

/// The prompts, replaced by those in `folder` (files `NAME.md`), and notes about these.
fn prompts(folder: Option<&Path>) -> (Prompts, Vec<Failure>) {
    let Some(folder) = folder else { return (Prompts::default(), Vec::new()) };
    let (texts, unread) = match prompt_files(folder) {
        Ok(read) => read,
        Err(error) => (BTreeMap::new(), vec![(folder.display().to_string(), error)]),
    };
    let (prompts, notes) = Prompts::with_overrides(&texts);
    let unread = unread.into_iter().map(|(path, error)| Failure {
        message: format!("The prompts in {path} cannot be read: {error}."),
        hint: "The built-in prompts are used instead.".into(),
    });
    let notes = notes.into_iter().map(|note| Failure {
        message: format!("{}: {note}.", folder.display()),
        hint: "docs/prompts.md lists the prompts and their placeholders.".into(),
    });
    (prompts, unread.chain(notes).collect())
}

/// Files that cannot be read, each with its error.
type Unread = Vec<(String, io::Error)>;

/// The texts in a folder by name, and the files that cannot be read.
fn prompt_files(folder: &Path) -> io::Result<(BTreeMap<String, String>, Unread)> {
    let (mut texts, mut unread) = (BTreeMap::new(), Vec::new());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        match read_prompt(&path) {
            Ok(text) => _ = texts.insert(name, text),
            Err(error) => unread.push((path.display().to_string(), error)),
        }
    }
    unread.sort_by(|a, b| a.0.cmp(&b.0));
    Ok((texts, unread))
}

fn read_prompt(path: &Path) -> io::Result<String> {
    let meta = fs::metadata(path)?;
    if !meta.is_file() || meta.len() > MAX_PROMPT_BYTES {
        return Err(io::Error::other("it is not a file of at most 256 KiB"));
    }
    fs::read_to_string(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calibration_of_a_provider_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { state_folder: Some(folder.path().to_owned()), ..Settings::default() };
        let model = Model::unknown("m");
        let (env, _) = RequestEnv::of_user(settings.clone());
        env.learn(&model, 1_000, 1.0, 1_300);
        assert_eq!(env.factor(&model), 1.0, "one request is not enough");
        env.learn(&model, 1_000, 1.0, 1_300);
        env.learn(&model, 1_300, 1.3, 1_300);
        assert!((env.factor(&model) - 1.3).abs() < 0.01);
        use rhumb_tokens::TokenCounter as _;
        let text = "fn main() {}\n".repeat(100);
        let plain = CachedCounter::for_model("m").count(&text);
        let (next, _) = RequestEnv::of_user(settings);
        let counted = next.counter(&model).count(&text);
        assert!(counted > plain * 12 / 10 && counted < plain * 14 / 10, "{counted} for {plain}");
    }

    #[test]
    fn files_in_the_folder_replace_the_built_in_prompts() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("lazy.md"), "Write all of it.\n").unwrap();
        fs::write(folder.path().join("lasy.md"), "x").unwrap();
        fs::write(folder.path().join("notes.txt"), "not a prompt").unwrap();
        fs::write(folder.path().join("ask.md"), b"\xff").unwrap();
        let (prompts, notes) = prompts(Some(folder.path()));
        assert_eq!(prompts.text("lazy"), "Write all of it.");
        assert_eq!(prompts.text("ask"), Prompts::default().text("ask"));
        let messages: Vec<&str> = notes.iter().map(|note| note.message.as_str()).collect();
        assert!(
            messages.len() == 2 && messages[0].contains("ask.md") && messages[1].contains("`lasy`"),
            "{messages:?}"
        );
    }

    #[test]
    fn a_missing_folder_is_reported_and_the_built_in_prompts_are_used() {
        let (prompts, notes) = prompts(Some(Path::new("/nowhere/prompts")));
        assert_eq!((prompts, notes.len()), (Prompts::default(), 1));
    }
}
