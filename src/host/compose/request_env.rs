//! What every request is made with, whoever it goes to: the settings, the models that are known, our words, and what was learnt of
//! how providers count.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::prompts::prompts;
use crate::config::{Paths, Settings};
use crate::host::CachedCounter;
use crate::store::{CalibrationFile, model_lists};
use rhumb_edit::EditFormat;
use rhumb_llm::models::{Catalog, Model};
use rhumb_session::context::{BudgetPlan, Mode, Prompts, Shares, Surroundings, Task, Window};
use rhumb_session::{Failure, RequestSpec};
use rhumb_tokens::Calibration;

/// What every request is made with.
#[derive(Debug, Default)]
pub struct RequestEnv {
    /// The settings in force.
    pub settings: Settings,
    /// The models that are known.
    pub catalog: Catalog,
    /// Our words.
    pub prompts: Prompts,
    /// The machine and shell that the developer sits at: `None` where that must not count, as in what is replayed the same
    /// anywhere.
    pub machine: Option<Machine>,
    /// Where the user's own commands lie as files.
    pub commands: Option<PathBuf>,
    /// The user's own file of settings; `None` where none may be written.
    pub settings_file: Option<PathBuf>,
    calibration: Mutex<Calibration>,
    /// The most input tokens that servers turned out to take, by the model's name.
    limits: Mutex<HashMap<String, usize>>,
    /// Where the calibration is kept.
    kept: Option<CalibrationFile>,
}

/// The machine that the developer sits at, as models are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The operating system and processor, as `linux x86_64`.
    pub platform: String,
    /// The shell's name, as `bash`.
    pub shell: Option<String>,
}

impl Machine {
    /// This one.
    pub fn this() -> Self {
        let shell = std::env::var("SHELL").ok();
        Self {
            platform: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            shell: shell.and_then(|path| path.rsplit('/').next().map(str::to_owned)).filter(|name| !name.is_empty()),
        }
    }
}

/// The models that are known to this user: those that come with the program, lists that were fetched, and what the settings say.
pub fn catalog(settings: &Settings) -> Catalog {
    let lists = settings.cache_folder.as_deref().map(model_lists);
    let known = Catalog::bundled().with_lists(lists.unwrap_or_default());
    known.with_user(settings.models.clone(), settings.aliases.clone())
}

impl RequestEnv {
    /// With nothing of the user's but their settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// With all that the user has: fetched lists, models of the settings, prompts of their own, and what was learnt before. What
    /// may not be meant like that is told.
    pub fn of_user(settings: Settings) -> (Self, Vec<Failure>) {
        let (prompts, notes) = prompts(settings.prompts.as_deref());
        let catalog = catalog(&settings);
        let kept = settings.state_folder.as_deref().map(CalibrationFile::new);
        let calibration = kept.as_ref().map(CalibrationFile::read).unwrap_or_default();
        let (calibration, machine) = (Mutex::new(calibration), Some(Machine::this()));
        let commands = Paths::of_user().map(|paths| paths.commands_folder());
        let settings_file = Paths::of_user().map(|paths| paths.settings_file());
        (
            Self { settings, catalog, prompts, machine, commands, settings_file, calibration, kept, ..Self::default() },
            notes,
        )
    }

    /// The window of a model: as configured, else as known, else assumed; less where its server turned out to take less.
    pub fn window(&self, model: &Model) -> Window {
        let window = match self.settings.context_window {
            Some(tokens) => Window { tokens, known: true },
            None => Window::of(model),
        };
        let learnt = self.limits.lock().unwrap_or_else(PoisonError::into_inner).get(&model.name).copied();
        learnt.filter(|limit| *limit < window.max_input()).map_or(window, Window::holding)
    }

    /// Most tokens that passages of the repository may have in a request to a model.
    pub fn passage_budget(&self, model: &Model) -> usize {
        let shares = Shares { passages: self.settings.codebase.tokens, ..Shares::default() };
        BudgetPlan::of(self.window(model), false, shares).passages
    }

    /// Learns that the server of a model takes no more than so many input tokens, by our count.
    pub fn learn_limit(&self, model: &Model, limit: usize) {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner).insert(model.name.clone(), limit);
    }

    /// What counts the tokens of a model.
    pub fn counter(&self, model: &Model) -> CachedCounter {
        CachedCounter::calibrated(&model.name, self.factor(model))
    }

    /// How many tokens the provider of a model counts for one of ours.
    pub fn factor(&self, model: &Model) -> f64 {
        self.calibration().factor(&model.name)
    }

    /// Learns that the provider of a model counted `reported` tokens where we counted `counted`, each of ours for `factor`.
    pub fn learn(&self, model: &Model, counted: usize, factor: f64, reported: usize) {
        let learnt = {
            let mut calibration = self.calibration();
            calibration.learn(&model.name, (counted as f64 / factor) as usize, reported);
            calibration.clone()
        };
        if let Some(kept) = &self.kept {
            // Not worth a word when it fails: it is learnt again.
            kept.write(&learnt).ok();
        }
    }

    /// What the model is asked for.
    pub fn task(&self, order: &RequestSpec, model: &Model) -> Task {
        let format = self.edit_format(order, model);
        let shell_commands = order.suggest;
        Task { mode: order.mode, mark_cache: self.settings.cache_prompts, shell_commands, ..Task::code(format) }
    }

    /// How the model writes edits.
    fn edit_format(&self, order: &RequestSpec, model: &Model) -> EditFormat {
        let editor_edit_format = self.settings.editor_edit_format;
        let edit_format = order.overrides.edit_format.apply(self.settings.edit_format);
        match order.mode {
            // What was set for one model says nothing of another that is known.
            Mode::Editor => editor_edit_format.or(edit_format.filter(|_| !model.known)).unwrap_or(model.edit_format),
            _ => edit_format.unwrap_or(model.edit_format),
        }
    }

    /// Where the developer sits.
    pub fn surroundings(&self) -> Surroundings {
        let machine = self.machine.as_ref();
        Surroundings {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_provider_counts_is_learnt_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { state_folder: Some(folder.path().to_owned()), ..Settings::default() };
        let model = Model::unknown("m");
        let (outfit, _) = RequestEnv::of_user(settings.clone());
        outfit.learn(&model, 1_000, 1.0, 1_300);
        assert_eq!(outfit.factor(&model), 1.0, "one request is not enough");
        outfit.learn(&model, 1_000, 1.0, 1_300);
        outfit.learn(&model, 1_300, 1.3, 1_300);
        assert!((outfit.factor(&model) - 1.3).abs() < 0.01);
        use rhumb_tokens::TokenCounter as _;
        let text = "fn main() {}\n".repeat(100);
        let plain = CachedCounter::for_model("m").count(&text);
        let (next, _) = RequestEnv::of_user(settings);
        let counted = next.counter(&model).count(&text);
        assert!(counted > plain * 12 / 10 && counted < plain * 14 / 10, "{counted} for {plain}");
    }
}
