//! `/init`: a first `AGENTS.md`, proposed as a new file.

use crate::effect::{Effect, Failure, RequestSpec};
use crate::repository::lookup::LookupEffect;
use crate::state::Session;
use crate::transcript::Level;

/// The file.
const AGENTS_FILE: &str = "AGENTS.md";

impl Session {
    /// `/init`: asks for the text of a first `AGENTS.md`.
    pub(crate) fn init(&mut self) -> Vec<Effect> {
        if self.turns.is_running() {
            self.report(Level::Warning, "The model is still answering.", "Esc cancels the turn; then /init again.");
            return Vec::new();
        }
        if self.proposals.review.files.iter().any(|file| file.path == AGENTS_FILE) {
            let text = format!("{AGENTS_FILE} is under review already.");
            self.report(Level::Warning, text, "Decide on it there first.");
            return Vec::new();
        }
        // The ranks are to be those of the repository, whatever is being written.
        let order = RequestSpec { draft: String::new(), ..self.request_spec(0) };
        vec![Effect::Lookup(LookupEffect::AgentsFile(Box::new(order)))]
    }

    /// Puts a first `AGENTS.md` under review, as a new file. Nothing is written before the user accepts it.
    pub(crate) fn propose_agents_file(&mut self, text: Result<String, Failure>) -> Vec<Effect> {
        let text = match text {
            Ok(text) => text,
            Err(failure) => {
                self.report_failure(Level::Warning, failure);
                return Vec::new();
            }
        };
        let hint =
            "Change it in the review, and write it there. It goes along with every request from the next start on.";
        self.report(Level::Info, format!("{AGENTS_FILE} is proposed as a new file."), hint);
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let reply = format!("*** Begin Patch\n*** Add File: {AGENTS_FILE}\n{lines}*** End Patch\n");
        self.propose_alone(reply, None, format!("Add {AGENTS_FILE}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Connection, LookupResponse, Response};

    #[test]
    fn a_first_agents_file_goes_through_review_as_a_new_file() {
        let (mut session, _) = Session::start(Connection::None);
        session.draft_changed("something else");
        let effects = session.command(Command::Init);
        let [Effect::Lookup(LookupEffect::AgentsFile(order))] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(order.draft, "");
        let text = Ok("# AGENTS.md\n\n- Test: `make test`\n".to_owned());
        let effects = session.handle(Response::LookedUp(LookupResponse::AgentsFile(text)));
        let [Effect::Propose { reply, request, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(reply.contains("*** Add File: AGENTS.md\n+# AGENTS.md\n+\n+- Test: `make test`\n"), "{reply}");
        assert_eq!(request, "Add AGENTS.md");
    }
}
