//! Choices of this session that take precedence over the settings: reasoning, edit format, weak and editor model.

use crate::connect::HOW_TO_CONNECT;
use crate::{Connection, Effect, Level, LookupEffect, ModelRole, Session};
use rhumb_edit::EditFormat;
use rhumb_llm::Thinking;
use rhumb_llm::models::{Model, ThinkingControl};
use std::sync::Arc;

/// A value that may override a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Override<T> {
    /// The setting applies.
    #[default]
    Setting,
    /// The default of the model applies instead of the setting.
    ModelDefault,
    /// This value applies instead of the setting.
    Value(T),
}

impl<T: Clone> Override<T> {
    /// The value that applies if the setting is `setting`; `None` is the default of the model.
    pub fn apply(&self, setting: Option<T>) -> Option<T> {
        match self {
            Self::Setting => setting,
            Self::ModelDefault => None,
            Self::Value(value) => Some(value.clone()),
        }
    }
}

impl<T> From<Option<T>> for Override<T> {
    /// `None` chooses the default of the model.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::ModelDefault, Self::Value)
    }
}

/// The choices of this session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestOverrides {
    /// The reasoning effort.
    pub thinking: Override<Thinking>,
    /// The edit format.
    pub edit_format: Override<EditFormat>,
    /// The weak model, if one was chosen.
    pub weak_model: Option<String>,
    /// The editor model, if one was chosen.
    pub editor_model: Option<String>,
}

impl RequestOverrides {
    /// Each choice with the name of its setting and its value as TOML, or `(default of the model)`.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let model_default = || "(default of the model)".to_owned();
        let thinking = match &self.thinking {
            Override::Setting => None,
            Override::ModelDefault => Some(model_default()),
            Override::Value(Thinking::Effort(word)) => Some(format!("\"{word}\"")),
            Override::Value(Thinking::Budget(tokens)) => Some(tokens.to_string()),
        };
        let format = match &self.edit_format {
            Override::Setting => None,
            Override::ModelDefault => Some(model_default()),
            Override::Value(format) => Some(format!("\"{format}\"")),
        };
        let quoted = |name: &Option<String>| name.as_ref().map(|name| format!("\"{name}\""));
        let all = [
            ("thinking", thinking),
            ("edit_format", format),
            ("weak_model", quoted(&self.weak_model)),
            ("editor_model", quoted(&self.editor_model)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl Session {
    /// Sets the reasoning effort; `None` chooses the default of the model.
    pub(crate) fn choose_thinking(&mut self, thinking: Option<Thinking>) -> Vec<Effect> {
        let text = match &thinking {
            None => "The reasoning effort is the default of the model.".to_owned(),
            Some(Thinking::Effort(word)) => format!("The reasoning effort is {word}."),
            Some(Thinking::Budget(0)) => "The model does not reason before it answers, if it can be turned off.".into(),
            Some(Thinking::Budget(tokens)) => format!("The model may use {tokens} tokens for reasoning."),
        };
        let lacks_reasoning = |model: &&Arc<Model>| model.known && model.capabilities.thinking == ThinkingControl::None;
        let hint = match self.model.facts().filter(|_| thinking.is_some()).filter(lacks_reasoning) {
            Some(facts) => format!("{} is not known to reason; it may refuse the request.", facts.name),
            None => String::new(),
        };
        self.next_request.overrides.thinking = thinking.into();
        self.report(if hint.is_empty() { Level::Info } else { Level::Warning }, text, hint);
        self.measure()
    }

    /// Sets the edit format; `None` chooses the default of the model.
    pub(crate) fn choose_edit_format(&mut self, format: Option<EditFormat>) -> Vec<Effect> {
        let text = match format {
            Some(format) => format!("The edit format is {format}."),
            None => "The edit format is the default of the model.".to_owned(),
        };
        self.next_request.overrides.edit_format = format.into();
        self.report(Level::Info, text, "");
        self.measure()
    }

    /// Sets the model for a role. The response says whether it is available.
    pub fn choose_for(&mut self, role: ModelRole, name: String) -> Vec<Effect> {
        if role != ModelRole::Main && !matches!(self.model.connection(), Connection::Remote { .. }) {
            self.report(Level::Warning, "No model is connected, so no other one can be chosen.", HOW_TO_CONNECT);
            return Vec::new();
        }
        match role {
            ModelRole::Main => return self.use_model(name),
            ModelRole::Weak => self.next_request.overrides.weak_model = Some(name.clone()),
            ModelRole::Editor => self.next_request.overrides.editor_model = Some(name.clone()),
        }
        vec![Effect::Lookup(LookupEffect::Model { role, name })]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::*;

    fn session() -> Session {
        Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0
    }

    fn typed(session: &mut Session, line: &str) -> Vec<Effect> {
        session.command(parse_command(line).expect("a command"))
    }

    #[test]
    fn choices_are_part_of_the_next_request() {
        let mut session = session();
        typed(&mut session, "/reasoning-effort high");
        typed(&mut session, "/edit-format udiff");
        let (_, effects) = session.send("do it");
        let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(spec.overrides.thinking.apply(None), Some(Thinking::Effort("high".into())));
        assert_eq!(spec.overrides.edit_format.apply(Some(EditFormat::Whole)), Some(EditFormat::Udiff));
    }

    #[test]
    fn a_command_without_an_argument_chooses_the_default_of_the_model() {
        let mut session = session();
        assert_eq!(session.next_request.overrides.thinking.apply(Some(Thinking::Budget(1))), Some(Thinking::Budget(1)));
        typed(&mut session, "/think-tokens");
        assert_eq!(session.next_request.overrides.thinking.apply(Some(Thinking::Budget(1))), None);
        assert_eq!(session.next_request.overrides.settings(), [("thinking", "(default of the model)".to_owned())]);
    }

    #[test]
    fn weak_and_editor_model_are_set_and_looked_up() {
        let mut session = session();
        let effects = typed(&mut session, "/weak-model haiku");
        assert_eq!(effects, [Effect::Lookup(LookupEffect::Model { role: ModelRole::Weak, name: "haiku".into() })]);
        typed(&mut session, "/editor-model mini");
        assert_eq!(session.editor_model(), Some("mini"));
        assert_eq!(session.request_spec(1).overrides.weak_model.as_deref(), Some("haiku"));
    }
}
