//! Keys in what is about to be sent: each is told once, when it is first seen.

use crate::context::PromptSecret;
use crate::state::Session;
use crate::transcript::Level;

/// So many are told one by one.
const MOST_TOLD: usize = 5;

impl Session {
    /// Says which keys stand in a request and what becomes of them, those aside that were told before.
    pub(crate) fn tell_secrets(&mut self, secrets: &[PromptSecret]) {
        let name = |secret: &PromptSecret| (secret.title.clone(), secret.line, secret.kind);
        let new: Vec<&PromptSecret> =
            secrets.iter().filter(|secret| self.next_request.reported_secrets.insert(name(secret))).collect();
        if new.is_empty() {
            return;
        }
        let mut told: Vec<String> = new.iter().take(MOST_TOLD).map(|secret| secret.told()).collect();
        if new.len() > MOST_TOLD {
            told.push(format!("and {} more", new.len() - MOST_TOLD));
        }
        let told = told.join("\n");
        let (text, hint) = if new.iter().all(|secret| secret.masked) {
            (
                "Masked in what is sent",
                "The model can take such a line out, and not change it. /drop takes a file out of the chat.",
            )
        } else {
            (
                "Sent as it stands, as your settings want it",
                "secrets = \"mask\" in your rhumb.toml puts a mask in its place.",
            )
        };
        self.tell(Level::Warning, format!("{text}:\n{told}"), hint);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::context::{Prompt, PromptSecret};
    use crate::*;
    use crate::{ContextView, Response};

    fn secret(place: &str, line: usize) -> PromptSecret {
        let place = place.to_owned();
        PromptSecret { section: 0, title: place, line: Some(line), kind: "GitHub token", masked: true }
    }

    fn warnings(session: &Session) -> Vec<&str> {
        let told = session.transcript.iter().filter_map(|entry| match entry {
            Entry::Status(notice) if notice.level == Level::Warning => Some(notice.text.as_str()),
            _ => None,
        });
        told.collect()
    }

    #[test]
    fn a_key_is_told_when_it_is_first_seen_and_not_again() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let see = |session: &mut Session, secrets: Vec<PromptSecret>| {
            let prompt = Arc::new(Prompt { secrets, ..Prompt::default() });
            let view = ContextView { map: None, provisional: false, prompt, unreadable: Vec::new() };
            let generation = session.next_request.generation;
            session.handle(Response::Measured { generation, view });
        };
        see(&mut session, vec![secret("config.py", 12)]);
        see(&mut session, vec![secret("config.py", 12)]);
        let told = "Masked in what is sent:\nconfig.py, line 12: what looks like a GitHub token";
        assert_eq!(warnings(&session), [told]);
        see(&mut session, (1..9).map(|line| secret("other.py", line)).collect());
        assert!(warnings(&session)[1].ends_with("\nand 3 more"), "{:?}", warnings(&session));
    }
}
