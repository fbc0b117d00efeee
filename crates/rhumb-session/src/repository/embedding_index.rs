//! The embedding index: its progress, and the question before texts are sent to a server.

use crate::{Choice, Effect, Failure, Level, Question, Session, Subject};
use rhumb_text::thousands;
use std::time::Duration;

/// The texts of the repository that lack an embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexEstimate {
    /// Number of files that contain such texts.
    pub files: usize,
    /// Number of these texts.
    pub texts: usize,
    /// An upper bound of their tokens.
    pub tokens: usize,
}

/// See [`Effect::Index`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexEffect {
    /// Build the index, or continue.
    Build {
        /// Whether the user agreed that texts are sent to a server.
        agreed: bool,
    },
    /// The user refused: do not ask again until the user builds the index.
    Decline,
    /// Pause or resume.
    Pause(bool),
    /// Stop. Existing embeddings are kept.
    Cancel,
    /// Show the status.
    Status,
    /// Delete the index.
    Delete,
}

/// The result of an [`IndexEffect`], or its progress.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexResponse {
    /// Progress.
    Progress {
        /// Files done.
        done: usize,
        /// All files.
        total: usize,
    },
    /// The server requires a wait.
    Waiting {
        /// The duration.
        wait: Duration,
        /// The reason.
        why: String,
    },
    /// It was paused or resumed.
    Paused(bool),
    /// The user has to agree before texts are sent.
    Asks {
        /// The host of the server.
        host: String,
        /// The texts.
        estimate: IndexEstimate,
        /// The cost in dollars, if the price is known.
        price: Option<f64>,
    },
    /// It is up to date.
    Ready {
        /// The number of passages with an embedding.
        texts: usize,
        /// The number of passages that were embedded by this update.
        embedded: usize,
        /// A warning.
        note: Option<Failure>,
    },
    /// It was stopped.
    Cancelled,
    /// It was deleted.
    Deleted,
    /// The index is not being built.
    Idle,
    /// It cannot be built.
    Failed(Failure),
}

/// The state of the index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum IndexState {
    /// It is not being built.
    #[default]
    Idle,
    /// The user has to agree.
    Asking,
    /// The number of files done and of all files, and the reason of a wait.
    Running(usize, usize, Option<String>),
    /// The number of files done and of all files.
    Paused(usize, usize),
    /// Up to date, with this number of passages.
    Ready(usize),
}

impl IndexState {
    /// Whether it is being built or paused.
    pub const fn is_building(&self) -> bool {
        matches!(self, Self::Running(..) | Self::Paused(..))
    }

    /// The progress, for the status line; `None` if it is not being built.
    pub fn progress(&self) -> Option<String> {
        let percent = |done: usize, total: usize| done.min(total) * 100 / total.max(1);
        match self {
            Self::Idle | Self::Asking | Self::Ready(_) => None,
            Self::Running(done, total, None) => Some(format!("index {} %", percent(*done, *total))),
            Self::Running(_, _, Some(why)) => Some(format!("index waits: {why}")),
            Self::Paused(done, total) => Some(format!("index paused at {} %", percent(*done, *total))),
        }
    }
}

impl Session {
    pub(crate) fn index_command(&mut self, command: IndexEffect) -> Vec<Effect> {
        let state = &self.repository.index;
        let refusal = match command {
            IndexEffect::Pause(true) if !matches!(state, IndexState::Running(..)) => "No index is being built.",
            IndexEffect::Pause(false) if !matches!(state, IndexState::Paused(..)) => "No index is paused.",
            IndexEffect::Cancel if !state.is_building() => "No index is being built.",
            IndexEffect::Build { .. } if matches!(state, IndexState::Running(..)) => {
                "The index is being built already."
            }
            // Building a paused index resumes it.
            IndexEffect::Build { .. } if matches!(state, IndexState::Paused(..)) => {
                return vec![Effect::Index(IndexEffect::Pause(false))];
            }
            IndexEffect::Build { .. }
            | IndexEffect::Pause(_)
            | IndexEffect::Cancel
            | IndexEffect::Decline
            | IndexEffect::Status
            | IndexEffect::Delete => return vec![Effect::Index(command)],
        };
        self.report(Level::Info, refusal, "/index shows its status.");
        Vec::new()
    }

    pub(crate) fn handle_index(&mut self, response: IndexResponse) {
        match response {
            IndexResponse::Progress { done, total } => {
                if !matches!(self.repository.index, IndexState::Paused(..)) {
                    self.repository.index = IndexState::Running(done, total, None);
                }
            }
            IndexResponse::Waiting { wait, why } => {
                if let IndexState::Running(done, total, _) = self.repository.index {
                    let why = format!("{} s, {why}", wait.as_secs().max(1));
                    self.repository.index = IndexState::Running(done, total, Some(why));
                }
            }
            IndexResponse::Paused(pause) => match self.repository.index {
                IndexState::Running(done, total, _) if pause => self.repository.index = IndexState::Paused(done, total),
                IndexState::Paused(done, total) if !pause => {
                    self.repository.index = IndexState::Running(done, total, None)
                }
                _ => {}
            },
            IndexResponse::Asks { host, estimate, price } => {
                self.repository.index = IndexState::Asking;
                self.questions.withdraw(|subject| *subject == Subject::Index);
                self.question(consent_question(&host, estimate, price));
            }
            IndexResponse::Ready { texts, embedded, note } => {
                let before = std::mem::replace(&mut self.repository.index, IndexState::Ready(texts));
                if let Some(note) = note {
                    self.report_failure(Level::Warning, note);
                }
                // Later updates are not reported.
                if embedded > 0 && !self.repository.index_announced {
                    let text = format!("{} passages can be searched by meaning.", thousands(texts));
                    self.report(Level::Info, text, "");
                }
                self.repository.index_announced |= before != IndexState::Idle || embedded > 0;
            }
            IndexResponse::Cancelled => {
                self.repository.index = IndexState::Idle;
                self.report(Level::Info, "The index was stopped; finished parts are kept.", "/index build continues.");
            }
            IndexResponse::Deleted => {
                self.repository.index = IndexState::Idle;
                self.repository.index_announced = false;
                self.report(Level::Info, "The index was deleted.", "/index build builds it again.");
            }
            IndexResponse::Idle => self.repository.index = IndexState::Idle,
            IndexResponse::Failed(failure) => {
                self.repository.index = IndexState::Idle;
                self.report_failure(Level::Warning, failure);
            }
        }
    }

    /// Handles the answer to the question whether texts may be sent.
    pub(crate) fn answer_index(&mut self, key: char) -> Vec<Effect> {
        self.repository.index = IndexState::Idle;
        match key {
            'y' => vec![Effect::Index(IndexEffect::Build { agreed: true })],
            _ => {
                self.report(
                    Level::Info,
                    "Nothing is sent: passages are searched by words only.",
                    "/index build asks again.",
                );
                vec![Effect::Index(IndexEffect::Decline)]
            }
        }
    }
}

/// Describes the texts that would be sent.
pub fn consent_text(host: &str, estimate: IndexEstimate, price: Option<f64>) -> String {
    let IndexEstimate { files, texts, tokens } = estimate;
    let cost = match price {
        Some(dollars) => format!("about ${dollars:.4}"),
        None => "an unknown price".to_owned(),
    };
    format!(
        "{} passages of {} files, about {} tokens, would be sent to {host}, for {cost}. Later edits and your questions would be \
         sent too. Ignored files and files that may contain secrets would not.",
        thousands(texts),
        thousands(files),
        thousands(tokens)
    )
}

fn consent_question(host: &str, estimate: IndexEstimate, price: Option<f64>) -> Question {
    Question {
        subject: Subject::Index,
        title: format!("Send code of this repository to {host}, to search it by meaning?"),
        text: consent_text(host, estimate, price),
        choices: vec![Choice::new('y', "send"), Choice::new('n', "do not send")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;

    fn session() -> Session {
        let mut session = Session::start(Connection::None).0;
        session.transcript.truncate(0);
        session
    }

    fn asks() -> IndexResponse {
        let estimate = IndexEstimate { files: 12, texts: 3_400, tokens: 560_000 };
        IndexResponse::Asks { host: "api.example.com".into(), estimate, price: Some(0.0112) }
    }

    #[test]
    fn the_question_says_what_would_be_sent() {
        let mut session = session();
        session.handle_index(asks());
        let question = session.questions.first().unwrap();
        for part in ["12 files", "3,400 passages", "560,000 tokens", "$0.0112", "api.example.com"] {
            assert!(question.text.contains(part), "{part}: {}", question.text);
        }
        // A second request replaces the question.
        session.handle_index(asks());
        assert_eq!(session.answer('y'), [Effect::Index(IndexEffect::Build { agreed: true })]);
        assert!(session.questions.is_empty());
        session.handle_index(asks());
        assert_eq!(session.answer('n'), [Effect::Index(IndexEffect::Decline)]);
        assert_eq!(session.repository.index, IndexState::Idle);
    }

    #[test]
    fn building_can_be_paused_resumed_and_stopped() {
        let mut session = session();
        assert!(session.index_command(IndexEffect::Pause(true)).is_empty());
        session.handle_index(IndexResponse::Progress { done: 34, total: 100 });
        assert_eq!(session.repository.index.progress().as_deref(), Some("index 34 %"));
        assert_eq!(session.index_command(IndexEffect::Pause(true)), [Effect::Index(IndexEffect::Pause(true))]);
        session.handle_index(IndexResponse::Paused(true));
        // A late progress report does not resume it.
        session.handle_index(IndexResponse::Progress { done: 35, total: 100 });
        assert_eq!(session.repository.index.progress().as_deref(), Some("index paused at 34 %"));
        let build = IndexEffect::Build { agreed: false };
        assert_eq!(session.index_command(build), [Effect::Index(IndexEffect::Pause(false))]);
        session.handle_index(IndexResponse::Paused(false));
        assert!(session.index_command(build).is_empty());
        session.handle_index(IndexResponse::Waiting { wait: Duration::from_secs(7), why: "rate limited".into() });
        assert_eq!(session.repository.index.progress().as_deref(), Some("index waits: 7 s, rate limited"));
        assert_eq!(session.index_command(IndexEffect::Cancel), [Effect::Index(IndexEffect::Cancel)]);
        session.handle_index(IndexResponse::Cancelled);
        assert_eq!((session.repository.index.progress(), &session.repository.index), (None, &IndexState::Idle));
    }

    #[test]
    fn only_the_first_update_is_reported() {
        let mut session = session();
        let ready = |embedded| IndexResponse::Ready { texts: 1_200, embedded, note: None };
        session.handle_index(ready(1_200));
        assert_eq!(session.transcript.len(), 1);
        session.handle_index(ready(3));
        session.handle_index(ready(0));
        assert_eq!((session.transcript.len(), &session.repository.index), (1, &IndexState::Ready(1_200)));
    }
}
