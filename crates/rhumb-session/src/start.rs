//! What a conversation starts with, whichever face it has, and its first state.

use std::path::PathBuf;
use std::sync::Arc;

use super::command::Command;
use super::connect::Connection;
use super::connect::{ConnectRequest, ModelState};
use super::effect::Effect;
use super::modes::ModeRules;
use super::persistence::SessionSelector;
use super::repository::lookup::LookupEffect;
use super::request::chat_files::ChatFile;
use super::state::Session;
use super::transcript::Level;
use rhumb_index::repo_map::Refresh;
use rhumb_llm::models::{Dollars, Model};

/// What a conversation starts with.
#[derive(Debug, Default)]
pub struct SessionStart {
    /// ModelRole answers.
    pub connection: Connection,
    /// The name of the root, as the face tells it.
    pub root: String,
    /// The root, for the editor to start in.
    pub folder: PathBuf,
    /// The editor, if the settings name one.
    pub editor: Option<String>,
    /// A first draft, for the face to put where drafts are.
    pub draft: String,
    /// Files in the chat from the start.
    pub files: Vec<String>,
    /// Files to read and not to change from the start.
    pub read: Vec<String>,
    /// Files in the chat whose paths are known to exist.
    pub chat_files: Vec<ChatFile>,
    /// The editor model, if one was chosen.
    pub editor_model: Option<String>,
    /// When the repo map is made anew.
    pub map_refresh: Refresh,
    /// How often edits that found no place go back to the model by themselves.
    pub edit_rounds: usize,
    /// How often what checks found goes back by itself.
    pub verify_rounds: usize,
    /// Whether commands that the model suggests are offered.
    pub suggest_commands: bool,
    /// Whether what is written is committed by itself.
    pub auto_commit: bool,
    /// What the settings say of modes, and of files that somebody names.
    pub rules: ModeRules,
    /// The most that may be spent in this session.
    pub spending_cap: Option<Dollars>,
    /// What is known of the model that answers.
    pub facts: Option<Arc<Model>>,
    /// Why nobody is connected although a model was named, as a sentence without its full stop.
    pub lacking: Option<String>,
    /// The provider and the model that were named although nobody is connected; `None` where the front end does not offer to connect
    /// one at the start.
    pub connect: Option<ConnectRequest>,
    /// An earlier session to go on with.
    pub resume: Option<SessionSelector>,
    /// The command line that resumes the session later; empty where it is not kept.
    pub resume_command: String,
    /// Notices to begin with: text and hint.
    pub notices: Vec<(String, String)>,
    /// Whether comments for the model in files are followed from the start.
    pub watch: bool,
}

impl SessionStart {
    /// The conversation before anybody said anything, and what it asks for.
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
        session.model = ModelState::new(self.connection.clone(), self.facts.clone(), self.lacking.clone(), at_start);
        self.chat_files.iter().for_each(|file| session.chat_files.add(&file.path, file.read_only));
        self.editor_model.iter().for_each(|name| session.model.set_editor(name.clone()));
        if let Some(request) = &self.connect {
            session.ask_to_connect(request.clone());
        }
        for (text, hint) in &self.notices {
            session.tell(Level::Warning, text, hint);
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
    fn a_model_that_lacks_its_key_is_named_when_nothing_can_be_sent() {
        let lacking = Some("gpt-5 needs OPENAI_API_KEY, which is not set".to_owned());
        let (mut session, _) = SessionStart { lacking, ..SessionStart::default() }.begin();
        session.send("hello");
        let told = format!("{:?}", session.transcript.last());
        assert!(told.contains("gpt-5 needs OPENAI_API_KEY, which is not set, so the message was not sent."), "{told}");
    }

    #[test]
    fn notices_come_first_and_an_earlier_session_is_opened_before_anything_is_kept() {
        let start = SessionStart {
            notices: vec![("The theme is gone.".into(), "Choose another.".into())],
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
        assert!(session.proposals.commits().off, "nothing is committed unless the start says so");
    }
}
