//! The options with which a conversation starts.

use crate::connect::ModelState;
use crate::{
    ChatFile, Command, ConnectRequest, Connection, Effect, Level, LookupEffect, ModeRules, Session, SessionSelector,
};
use rhumb_index::repo_map::Refresh;
use rhumb_llm::models::{Dollars, Model};
use std::path::PathBuf;
use std::sync::Arc;

/// The options with which a conversation starts.
#[derive(Debug, Default)]
pub struct SessionStart {
    /// The connected model.
    pub connection: Connection,
    /// The name of the root, for display.
    pub root: String,
    /// The root, which is the working directory of the editor.
    pub folder: PathBuf,
    /// The editor of the settings.
    pub editor: Option<String>,
    /// A draft that the front end puts into its input.
    pub draft: String,
    /// Names of editable files in the chat.
    pub files: Vec<String>,
    /// Names of read-only files in the chat.
    pub read: Vec<String>,
    /// Files in the chat that are known to exist.
    pub chat_files: Vec<ChatFile>,
    /// The editor model that was chosen on the command line.
    pub editor_model: Option<String>,
    /// When the repo map is recomputed.
    pub map_refresh: Refresh,
    /// Maximum number of automatic retries for edits that could not be located.
    pub edit_rounds: usize,
    /// Maximum number of automatic repairs after failed checks.
    pub verify_rounds: usize,
    /// Whether the model may suggest commands.
    pub suggest_commands: bool,
    /// Whether writes are committed.
    pub auto_commit: bool,
    /// The settings of modes and mentioned files.
    pub rules: ModeRules,
    /// The maximum cost of the session.
    pub spending_cap: Option<Dollars>,
    /// The facts about the connected model.
    pub facts: Option<Arc<Model>>,
    /// Why no model is connected although one was named: a sentence without its full stop.
    pub missing_model: Option<String>,
    /// The provider and the model that were named although no model is connected; `None` if the front end does not offer to connect
    /// one at the start.
    pub connect: Option<ConnectRequest>,
    /// A saved session to resume.
    pub resume: Option<SessionSelector>,
    /// The command line that resumes the session later; empty if the session is not saved.
    pub resume_command: String,
    /// Warnings to show first: text and hint.
    pub warnings: Vec<(String, String)>,
    /// Whether to watch files for comments for the model.
    pub watch: bool,
}

impl SessionStart {
    /// Creates the session. Returns the first effects.
    pub fn begin(&self) -> (Session, Vec<Effect>) {
        let (mut session, mut effects) = Session::start(self.connection.clone());
        session.proposals.set_max_retries(self.edit_rounds);
        session.processes.max_rounds = self.verify_rounds;
        session.processes.suggestions = self.suggest_commands;
        session.proposals.set_commits(self.auto_commit);
        *session.modes.rules_mut() = self.rules;
        session.spending.set_cap(self.spending_cap);
        session.chat_files.set_initial(&self.read);
        let at_start = self.connect.clone().unwrap_or_default();
        session.model =
            ModelState::new(self.connection.clone(), self.facts.clone(), self.missing_model.clone(), at_start);
        self.chat_files.iter().for_each(|file| session.chat_files.add(&file.path, file.read_only));
        session.next_request.overrides_mut().editor_model.clone_from(&self.editor_model);
        if let Some(request) = &self.connect {
            session.ask_to_connect(request.clone());
        }
        for (text, hint) in &self.warnings {
            session.report(Level::Warning, text, hint);
        }
        effects.push(Effect::Lookup(LookupEffect::Commands));
        effects.extend(session.start_saving(self.resume.clone()));
        effects.extend(session.set_map_refresh(self.map_refresh));
        if self.watch {
            effects.extend(session.command(Command::Watch(Some(true))));
        }
        for (files, read_only) in [(&self.files, false), (&self.read, true)] {
            if !files.is_empty() {
                effects.extend(session.add_files(files, read_only));
            }
        }
        (session, effects)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_without_a_model_names_the_missing_key() {
        let missing_model = Some("gpt-5 needs OPENAI_API_KEY, which is not set".to_owned());
        let (mut session, _) = SessionStart { missing_model, ..SessionStart::default() }.begin();
        session.send("hello");
        let last = format!("{:?}", session.transcript.last());
        assert!(last.contains("gpt-5 needs OPENAI_API_KEY, which is not set, so the message was not sent."), "{last}");
    }

    #[test]
    fn warnings_come_first_and_a_saved_session_is_opened_before_anything_is_saved() {
        let start = SessionStart {
            warnings: vec![("The theme is gone.".into(), "Choose another.".into())],
            resume: Some(SessionSelector::Newest),
            watch: true,
            ..SessionStart::default()
        };
        let (session, effects) = start.begin();
        let first = format!("{:?}", session.transcript.first());
        assert!(first.contains("The theme is gone."), "{first}");
        let names: Vec<String> = effects.iter().map(|effect| format!("{effect:?}")).collect();
        let at = |what: &str| names.iter().position(|name| name.starts_with(what));
        assert!(at("Survey") < at("Persist(Open(Some(Newest)))"), "{names:?}");
        assert!(session.proposals.commits().off, "nothing is committed by default");
    }
}
