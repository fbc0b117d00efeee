//! Whom a request goes to: the model of the conversation, or the one that carries plans out.

use std::sync::Arc;

use crate::host::{CachedCounter, Host, Line, RequestEnv, connect_model};
use rhumb_session::{Failure, ModelRole, RequestSpec};

/// ModelRole is asked, and what counts for them.
#[derive(Clone)]
pub(super) struct TurnModel {
    pub(crate) line: Line,
    pub(crate) counter: Arc<CachedCounter>,
    /// Whether it is the model of the conversation.
    pub(super) is_main: bool,
    /// Why it is not the model that was named, if so.
    pub(crate) note: Option<Failure>,
}

impl Host {
    /// Whom an order is for; nobody when there is no connection.
    pub(super) async fn addressee(&self, order: &RequestSpec) -> Option<TurnModel> {
        let main = self.line()?;
        if order.role != ModelRole::Editor {
            return Some(TurnModel { line: main, counter: self.counter(), is_main: true, note: None });
        }
        let named = order.overrides.editor_model.clone();
        let runner = self.clone();
        // The key of another provider may have to be asked for.
        let found = tokio::task::spawn_blocking(move || {
            let (line, note) = editor_line(&runner.shared.outfit, &main, named.as_deref());
            let is_main = line.model == main.model && line.facts.name == main.facts.name;
            let counter = if is_main { runner.counter() } else { Arc::new(runner.shared.outfit.counter(&line.facts)) };
            TurnModel { line, counter, is_main, note }
        });
        found.await.ok()
    }
}

/// The line to the model that carries plans out: the one `named` in the session, else that of the settings, else the one that the
/// table tells to suit the main model, else the main model. And why it is not the one that was named, if so.
pub fn editor_line(outfit: &RequestEnv, main: &Line, named: Option<&str>) -> (Line, Option<Failure>) {
    let named = named.filter(|name| !name.trim().is_empty());
    let Some(name) = named.or(outfit.settings.editor_model.as_deref()) else {
        return (suiting(outfit, main).unwrap_or_else(|| main.clone()), None);
    };
    let other = if main.configured { connect_model(outfit, name) } else { Ok(None) };
    match other {
        Ok(Some(line)) => (line, None),
        // A server that was found on the machine, or chosen by hand, is asked for its own models.
        Ok(None) => (Line::new(Arc::clone(&main.provider), name.to_owned()), None),
        Err(error) => {
            let message = format!("The editor model {name} cannot be asked, so {} is: {error}.", main.model);
            (main.clone(), Some(Failure { message, hint: error.hint() }))
        }
    }
}

/// The editor model that the table names. A server of the user's own need not have it, and without its key it would only fail.
fn suiting(outfit: &RequestEnv, main: &Line) -> Option<Line> {
    let name = main.facts.editor.as_deref().filter(|_| main.configured && outfit.settings.base_url.is_none())?;
    connect_model(outfit, name).ok().flatten().filter(|line| line.notes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, Settings, Sources};
    use crate::host::connect;

    fn outfit(vars: &[(&str, &str)]) -> RequestEnv {
        let env = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let sources = Sources { flags: Overrides::default(), env: &env, paths: None, dirs: None };
        RequestEnv::new(Settings::load(&sources).unwrap())
    }

    fn editor(vars: &[(&str, &str)], named: Option<&str>) -> (String, Option<Failure>) {
        let outfit = outfit(vars);
        let main = connect(&outfit).unwrap().unwrap();
        let (line, note) = editor_line(&outfit, &main, named);
        (line.model, note)
    }

    const SERVER: [(&str, &str); 2] = [("RHUMB_BASE_URL", "http://127.0.0.1:1/v1"), ("RHUMB_MODEL", "big")];

    #[test]
    fn the_session_names_the_editor_model_before_the_settings_and_these_before_the_table() {
        let set = [SERVER[0], SERVER[1], ("RHUMB_EDITOR_MODEL", "small")];
        assert_eq!(editor(&SERVER, None), ("big".into(), None));
        assert_eq!(editor(&set, None), ("small".into(), None));
        assert_eq!(editor(&set, Some("smaller")), ("smaller".into(), None));
        assert_eq!(editor(&set, Some(" ")), ("small".into(), None), "an empty name is none");
        let vendor = [("OPENAI_API_KEY", "k"), ("RHUMB_MODEL", "o3")];
        assert_eq!(editor(&vendor, None), ("gpt-4.1".into(), None));
    }

    #[test]
    fn a_model_that_cannot_be_asked_is_told_and_the_main_one_asked() {
        let keys = [("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k"), ("RHUMB_MODEL", "o3")];
        let (model, note) = editor(&keys, Some("mystery"));
        let told = note.map(|note| note.message).unwrap_or_default();
        assert!(model == "o3" && told.contains("mystery cannot be asked"), "{model}: {told}");
    }
}
