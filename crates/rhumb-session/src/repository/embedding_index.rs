//! The index of meanings as the conversation sees it: how far it is, and the question that comes before texts leave the machine.

use std::time::Duration;

use crate::effect::{Effect, Failure};
use crate::question::{Choice, Question, Subject};
use crate::state::Session;
use crate::transcript::Level;
use rhumb_text::thousands;

/// What an index of embeddings of the repository would have to embed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexEstimate {
    /// Number of files that contain texts without a vector.
    pub files: usize,
    /// Number of these texts.
    pub texts: usize,
    /// Their tokens, estimated from above.
    pub tokens: usize,
}

/// What the user wants of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexEffect {
    /// Make it, or go on with it.
    Build {
        /// The user has agreed that texts are sent.
        agreed: bool,
    },
    /// The user has not agreed: do not ask again until they want it.
    Decline,
    /// Let it rest, or go on.
    Pause(bool),
    /// Stop it. What was embedded is kept.
    Cancel,
    /// Show how it is.
    Status,
    /// Delete it.
    Delete,
}

/// What happened to the index.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexResponse {
    /// So many files of so many are done.
    Progress {
        /// Files done.
        done: usize,
        /// All files.
        total: usize,
    },
    /// The server wants a pause.
    Waiting {
        /// How long.
        wait: Duration,
        /// Why.
        why: String,
    },
    /// It rests now, or goes on.
    Paused(bool),
    /// The user has to agree before texts are sent.
    Asks {
        /// To which machine.
        host: String,
        /// How much.
        estimate: IndexEstimate,
        /// Dollars, if the price is known.
        price: Option<f64>,
    },
    /// It is up to date.
    Ready {
        /// Passages that have a vector.
        texts: usize,
        /// How many of them were embedded now.
        embedded: usize,
        /// Something to know about it.
        note: Option<Failure>,
    },
    /// It was stopped.
    Cancelled,
    /// It was deleted.
    Deleted,
    /// Nothing runs, and there is nothing to say.
    Idle,
    /// It cannot be made.
    Failed(Failure),
}

/// How the index is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum IndexState {
    /// Nothing is made.
    #[default]
    Idle,
    /// It waits for the user's word.
    Asking,
    /// Files done, of so many, and why it waits if it does.
    Running(usize, usize, Option<String>),
    /// Files done, of so many.
    Paused(usize, usize),
    /// Up to date, with so many passages.
    Ready(usize),
}

impl IndexState {
    /// Whether it is under way, though it may rest.
    pub const fn is_made(&self) -> bool {
        matches!(self, Self::Running(..) | Self::Paused(..))
    }

    /// How it is in a few words, for the status line; `None` when there is nothing to watch.
    pub fn words(&self) -> Option<String> {
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
    /// `/index` with its word.
    pub(crate) fn index_command(&mut self, command: IndexEffect) -> Vec<Effect> {
        let told = match (command, &self.repository.index) {
            (IndexEffect::Pause(true), IndexState::Running(..)) => None,
            (IndexEffect::Pause(false), IndexState::Paused(..)) => None,
            (IndexEffect::Cancel, IndexState::Running(..) | IndexState::Paused(..)) => None,
            (IndexEffect::Pause(_) | IndexEffect::Cancel, _) => Some("No index is being made."),
            (IndexEffect::Build { .. }, IndexState::Running(..)) => Some("The index is being made already."),
            _ => None,
        };
        if let Some(told) = told {
            self.tell(Level::Info, told, "/index shows how it is.");
            return Vec::new();
        }
        // Going on with one that rests is what building it means.
        if let (IndexEffect::Build { .. }, IndexState::Paused(..)) = (command, &self.repository.index) {
            return vec![Effect::Index(IndexEffect::Pause(false))];
        }
        vec![Effect::Index(command)]
    }

    /// Something happened to the index.
    pub(crate) fn indexed(&mut self, report: IndexResponse) {
        match report {
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
                self.question(consent(&host, estimate, price));
            }
            IndexResponse::Ready { texts, embedded, note } => {
                let before = std::mem::replace(&mut self.repository.index, IndexState::Ready(texts));
                if let Some(note) = note {
                    self.tell_failure(Level::Warning, note);
                }
                // After an edit it is brought up to date without a word.
                if embedded > 0 && !self.repository.index_announced {
                    let text = format!("{} passages can be searched by meaning.", thousands(texts));
                    self.tell(Level::Info, text, "");
                }
                self.repository.index_announced |= before != IndexState::Idle || embedded > 0;
            }
            IndexResponse::Cancelled => {
                self.repository.index = IndexState::Idle;
                self.tell(Level::Info, "The index was stopped; what is done of it is kept.", "/index build goes on.");
            }
            IndexResponse::Deleted => {
                self.repository.index = IndexState::Idle;
                self.repository.index_announced = false;
                self.tell(Level::Info, "The index was deleted.", "/index build makes it anew.");
            }
            IndexResponse::Idle => self.repository.index = IndexState::Idle,
            IndexResponse::Failed(failure) => {
                self.repository.index = IndexState::Idle;
                self.tell_failure(Level::Warning, failure);
            }
        }
    }

    /// The answer to the question whether texts may be sent.
    pub(crate) fn answer_on_index(&mut self, key: char) -> Vec<Effect> {
        self.repository.index = IndexState::Idle;
        match key {
            'y' => vec![Effect::Index(IndexEffect::Build { agreed: true })],
            _ => {
                self.tell(
                    Level::Info,
                    "Nothing is sent: passages are searched by words alone.",
                    "/index build asks again.",
                );
                vec![Effect::Index(IndexEffect::Decline)]
            }
        }
    }
}

/// What would leave the machine, in words.
pub fn consent_text(host: &str, estimate: IndexEstimate, price: Option<f64>) -> String {
    let IndexEstimate { files, texts, tokens } = estimate;
    let cost = match price {
        Some(dollars) => format!("about ${dollars:.4}"),
        None => "a price that is not known here".to_owned(),
    };
    format!(
        "{} passages of {} files, about {} tokens, would be sent to {host}, for {cost}. Later edits and your questions would be \
         sent too. Files that are ignored or look as if they held secrets are not.",
        thousands(texts),
        thousands(files),
        thousands(tokens)
    )
}

fn consent(host: &str, estimate: IndexEstimate, price: Option<f64>) -> Question {
    Question {
        subject: Subject::Index,
        title: format!("Send code of this repository to {host}, to search it by meaning?"),
        text: consent_text(host, estimate, price),
        choices: vec![Choice::new('y', "send"), Choice::new('n', "not")],
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
    fn nothing_is_sent_before_the_user_has_agreed_and_the_question_says_what_would_be() {
        let mut session = session();
        session.indexed(asks());
        let question = session.questions.first().unwrap();
        for part in ["12 files", "3,400 passages", "560,000 tokens", "$0.0112", "api.example.com"] {
            assert!(question.text.contains(part), "{part}: {}", question.text);
        }
        // Asked again while it waits, it is still one question.
        session.indexed(asks());
        assert_eq!(session.answer('y'), [Effect::Index(IndexEffect::Build { agreed: true })]);
        assert!(session.questions.is_empty());
        session.indexed(asks());
        assert_eq!(session.answer('n'), [Effect::Index(IndexEffect::Decline)]);
        assert_eq!(session.repository.index, IndexState::Idle);
    }

    #[test]
    fn it_can_be_paused_gone_on_with_and_stopped_while_it_is_made() {
        let mut session = session();
        assert!(session.index_command(IndexEffect::Pause(true)).is_empty());
        session.indexed(IndexResponse::Progress { done: 34, total: 100 });
        assert_eq!(session.repository.index.words().as_deref(), Some("index 34 %"));
        assert_eq!(session.index_command(IndexEffect::Pause(true)), [Effect::Index(IndexEffect::Pause(true))]);
        session.indexed(IndexResponse::Paused(true));
        // What was under way when it was paused does not wake it.
        session.indexed(IndexResponse::Progress { done: 35, total: 100 });
        assert_eq!(session.repository.index.words().as_deref(), Some("index paused at 34 %"));
        let build = IndexEffect::Build { agreed: false };
        assert_eq!(session.index_command(build), [Effect::Index(IndexEffect::Pause(false))]);
        session.indexed(IndexResponse::Paused(false));
        assert!(session.index_command(build).is_empty());
        session.indexed(IndexResponse::Waiting { wait: Duration::from_secs(7), why: "rate limited".into() });
        assert_eq!(session.repository.index.words().as_deref(), Some("index waits: 7 s, rate limited"));
        assert_eq!(session.index_command(IndexEffect::Cancel), [Effect::Index(IndexEffect::Cancel)]);
        session.indexed(IndexResponse::Cancelled);
        assert_eq!((session.repository.index.words(), &session.repository.index), (None, &IndexState::Idle));
    }

    #[test]
    fn an_index_that_is_brought_up_to_date_says_nothing_more() {
        let mut session = session();
        let ready = |embedded| IndexResponse::Ready { texts: 1_200, embedded, note: None };
        session.indexed(ready(1_200));
        assert_eq!(session.transcript.len(), 1);
        session.indexed(ready(3));
        session.indexed(ready(0));
        assert_eq!((session.transcript.len(), &session.repository.index), (1, &IndexState::Ready(1_200)));
    }
}
