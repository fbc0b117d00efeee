//! What the user chooses of a request while the app runs: how long to think, how edits are written, who does the small work. It
//! stands above the settings until the app is left.

use crate::connect::Connection;
use crate::connect::HOW_TO_CONNECT;
use crate::effect::Effect;
use crate::repository::lookup::{LookupEffect, ModelUse};
use crate::state::Session;
use crate::transcript::Level;
use rhumb_edit::EditFormat;
use rhumb_llm::Thinking;
use rhumb_llm::models::ThinkingControl;

/// One thing that the settings say, and that may be chosen otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Chosen<T> {
    /// As the settings say.
    #[default]
    AsSet,
    /// As the model has it by itself, whatever the settings say.
    ByModel,
    /// This.
    This(T),
}

impl<T: Clone> Chosen<T> {
    /// What counts, where the settings say `set`.
    pub fn over(&self, set: Option<T>) -> Option<T> {
        match self {
            Self::AsSet => set,
            Self::ByModel => None,
            Self::This(value) => Some(value.clone()),
        }
    }
}

impl<T> From<Option<T>> for Chosen<T> {
    /// A choice that was typed; none leaves it to the model.
    fn from(typed: Option<T>) -> Self {
        typed.map_or(Self::ByModel, Self::This)
    }
}

/// What was chosen so far.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choices {
    /// How long to think.
    pub thinking: Chosen<Thinking>,
    /// How the model writes edits.
    pub edit_format: Chosen<EditFormat>,
    /// ModelRole writes summaries and commit messages.
    pub weak_model: Option<String>,
}

impl Choices {
    /// Each choice by the name of its setting, as it would stand in `rhumb.toml`; `(by the model)` where it is left to that.
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let by_model = || "(by the model)".to_owned();
        let thinking = match &self.thinking {
            Chosen::AsSet => None,
            Chosen::ByModel => Some(by_model()),
            Chosen::This(Thinking::Effort(word)) => Some(format!("\"{word}\"")),
            Chosen::This(Thinking::Budget(tokens)) => Some(tokens.to_string()),
        };
        let format = match &self.edit_format {
            Chosen::AsSet => None,
            Chosen::ByModel => Some(by_model()),
            Chosen::This(format) => Some(format!("\"{format}\"")),
        };
        let weak = self.weak_model.as_ref().map(|name| format!("\"{name}\""));
        let all = [("thinking", thinking), ("edit_format", format), ("weak_model", weak)];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl Session {
    /// Thinks as long as that from now on; as the model does by itself without it.
    pub(crate) fn choose_thinking(&mut self, thinking: Option<Thinking>) -> Vec<Effect> {
        let text = match &thinking {
            None => "The model thinks as long as it does by itself.".to_owned(),
            Some(Thinking::Effort(word)) => format!("How long to think: {word}."),
            Some(Thinking::Budget(0)) => {
                "The model does not think before it answers, as far as it can leave that.".into()
            }
            Some(Thinking::Budget(tokens)) => format!("The model may think for {tokens} tokens."),
        };
        let cannot = |control: ThinkingControl| control == ThinkingControl::None;
        let facts = self.model.facts().filter(|facts| facts.known && thinking.is_some());
        let hint = match facts.filter(|facts| cannot(facts.capabilities.thinking)) {
            Some(facts) => format!("{} is not known to think; it may refuse the request.", facts.name),
            None => String::new(),
        };
        self.next_request.choices.thinking = thinking.into();
        self.tell(if hint.is_empty() { Level::Info } else { Level::Warning }, text, hint);
        self.measure()
    }

    /// Has edits written like that from now on; as suits the model without it.
    pub(crate) fn choose_edit_format(&mut self, format: Option<EditFormat>) -> Vec<Effect> {
        let text = match format {
            Some(format) => format!("The model is asked for edits in the format {format}."),
            None => "The model is asked for edits in the format that suits it.".to_owned(),
        };
        self.next_request.choices.edit_format = format.into();
        self.tell(Level::Info, text, "");
        self.measure()
    }

    /// Has another model do a part of the work from now on. Whether it can be asked is looked up, and told.
    pub fn choose_for(&mut self, part: ModelUse, name: String) -> Vec<Effect> {
        if part != ModelUse::Main && !matches!(self.model.connection(), Connection::Remote { .. }) {
            self.tell(Level::Warning, "No model is connected, so no other one can be chosen.", HOW_TO_CONNECT);
            return Vec::new();
        }
        match part {
            ModelUse::Main => return self.use_model(name),
            ModelUse::Weak => self.next_request.choices.weak_model = Some(name.clone()),
            ModelUse::Editor => self.model.set_editor(name.clone()),
        }
        vec![Effect::Lookup(LookupEffect::Model { part, name })]
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
    fn what_is_chosen_travels_with_the_next_request() {
        let mut session = session();
        typed(&mut session, "/reasoning-effort high");
        typed(&mut session, "/edit-format udiff");
        let (_, effects) = session.send("do it");
        let [Effect::Ask(order)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(order.choices.thinking.over(None), Some(Thinking::Effort("high".into())));
        assert_eq!(order.choices.edit_format.over(Some(EditFormat::Whole)), Some(EditFormat::Udiff));
    }

    #[test]
    fn a_command_without_a_word_leaves_it_to_the_model_whatever_the_settings_say() {
        let mut session = session();
        assert_eq!(session.next_request.choices.thinking.over(Some(Thinking::Budget(1))), Some(Thinking::Budget(1)));
        typed(&mut session, "/think-tokens");
        assert_eq!(session.next_request.choices.thinking.over(Some(Thinking::Budget(1))), None);
        assert_eq!(session.next_request.choices.lines(), [("thinking", "(by the model)".to_owned())]);
    }

    #[test]
    fn the_other_models_are_named_and_looked_up() {
        let mut session = session();
        let effects = typed(&mut session, "/weak-model haiku");
        assert_eq!(effects, [Effect::Lookup(LookupEffect::Model { part: ModelUse::Weak, name: "haiku".into() })]);
        typed(&mut session, "/editor-model mini");
        assert_eq!(session.editor_model(), Some("mini"));
        assert_eq!(session.order(1).choices.weak_model.as_deref(), Some("haiku"));
    }
}
