//! A turn while it is asked and when it ends: what comes of the answer, and what becomes of the message.

use std::sync::Arc;

use super::continuation::{OFFER, OFFER_CUT};
use super::{Turn, TurnStatus};
use crate::context::{Omission, Prompt};
use crate::effect::{Effect, Failure};
use crate::state::Session;
use crate::state::is_silent;
use crate::transcript::{AnswerState, Entry, Level};
use rhumb_llm::models::{Model, Prices, Tokens};
use rhumb_llm::{Completion, LlmError, StreamEvent};

/// What happens while a request is asked.
#[derive(Debug, Clone)]
pub enum AskEvent {
    /// A request goes out.
    Sent {
        /// The request, without the part of the answer that a continuation repeats.
        prompt: Arc<Prompt>,
        /// Whether it asks the model to continue an answer that reached the output limit.
        continues: bool,
        /// The tokens of the whole request.
        tokens: usize,
        /// The prices of its tokens, if they are known.
        prices: Option<Prices>,
    },
    /// Something of the answer, or a wait before another try. The text of all parts of an answer, joined, is the answer.
    Stream(StreamEvent),
    /// The server takes less than was thought: the request is made shorter and sent again.
    Shrunk {
        /// How often it was so far.
        time: u32,
        /// How often it may be.
        of: u32,
        /// The most input tokens that it has from now on.
        limit: usize,
    },
    /// The answer reached the limit on output and is gone on with.
    Continuing {
        /// How often it was so far.
        time: u32,
        /// How often it may be.
        of: u32,
    },
    /// The answer was cut off within an edit, and nothing shows where its next part goes on.
    DoubtfulSeam,
    /// The server went on past what the spending cap pays for, and the answer was ended.
    PastTheCap,
    /// The answer is shorter than the model would have made it: the spending cap pays for no more.
    CutByCap,
    /// The editor model is asked.
    Editor {
        /// Its name.
        model: String,
        /// Why it is not the one that was named, if so.
        note: Option<Failure>,
    },
    /// A request was made and has its price, whether it came to an end or not.
    Spent(Spent),
}

/// Why a request has no answer, or no complete one.
#[derive(Debug, Clone, PartialEq)]
pub enum AskError {
    /// Nothing was sent.
    Unsent(Failure),
    /// Nothing was sent, because it does not fit the window of the model.
    TooLong(Failure),
    /// A file of the chat cannot be read, so nothing was sent.
    Unreadable(Failure),
    /// The provider failed.
    Provider(LlmError),
    /// The answer reached the limit on output, and the provider failed when it was to be gone on with.
    UnfinishedWork(LlmError),
}

impl AskError {
    /// Whether no request was sent.
    pub fn is_unsent(&self) -> bool {
        matches!(self, Self::Unsent(_) | Self::TooLong(_) | Self::Unreadable(_))
    }

    /// The error as a message with a hint.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Unsent(failure) | Self::TooLong(failure) | Self::Unreadable(failure) => failure.clone(),
            Self::Provider(error) => Failure::from(error),
            Self::UnfinishedWork(error) => {
                let Failure { message, hint } = Failure::from(error);
                Failure {
                    message: format!("The answer reached the output limit and could not be gone on with: {message}"),
                    hint,
                }
            }
        }
    }
}

/// What is to be paid for a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// Whose price it is.
    pub model: Arc<Model>,
    /// The tokens.
    pub tokens: Tokens,
    /// Whether the server did not say and this is our own count.
    pub estimated: bool,
}

impl Session {
    /// Takes in what happened while the turn of that number is asked.
    pub(crate) fn asked(&mut self, number: u64, event: AskEvent) {
        match event {
            AskEvent::Stream(event) => self.stream(number, event),
            AskEvent::Sent { prompt, continues: false, .. } => {
                self.tell_left_out(number, &prompt.omitted);
                self.tell_secrets(&prompt.secrets);
            }
            AskEvent::Sent { .. } => {}
            AskEvent::DoubtfulSeam => {
                let text = "The answer was cut off inside an edit, and its next part does not repeat the last line.";
                self.tell(Level::Warning, text, "Look closely at the hunk there before you accept it.");
            }
            AskEvent::PastTheCap => {
                let text = "The answer was stopped: the server exceeded what the spending cap allows.";
                self.tell(Level::Warning, text, "It does not keep to max_tokens. What came until then stands.");
            }
            AskEvent::CutByCap => {
                let text = "The answer was cut short: it reached the spending cap.";
                self.tell(Level::Warning, text, "Raise spending_cap in rhumb.toml. What came until then stands.");
            }
            AskEvent::Spent(spent) => self.spent(number, &spent),
            AskEvent::Editor { model, note } => self.editor_asked(number, &model, note),
            AskEvent::Shrunk { time, of, limit } => {
                let text = format!(
                    "The server takes less than was thought; the request is sent again with at most {limit} tokens."
                );
                self.tell(Level::Warning, text, format!("Try {time} of {of}; /tokens shows what is sent."));
            }
            AskEvent::Continuing { time, of } => {
                if let Some(turn) = self.turns.current.as_mut().filter(|turn| turn.number == number) {
                    turn.status = TurnStatus::Continuing { time, of };
                }
            }
        }
    }

    /// Says what was left out of a request. That the map got smaller shows in its pane; turns that are missing must be told.
    fn tell_left_out(&mut self, number: u64, left_out: &[Omission]) {
        let is_current = self.turns.current.as_ref().is_some_and(|turn| turn.number == number);
        for omission in left_out.iter().filter(|omission| is_current && matches!(omission, Omission::History { .. })) {
            let text = format!("Not sent, because it does not fit: {omission}.");
            self.tell(Level::Warning, text, "/clear begins anew; a model with a larger window takes more.");
        }
    }

    fn stream(&mut self, number: u64, event: StreamEvent) {
        let Some(turn) = self.turns.current.as_mut().filter(|turn| turn.number == number) else {
            return;
        };
        let Some(Entry::Answer(answer)) = self.transcript.rfind_mut(is_streaming) else {
            return;
        };
        match event {
            StreamEvent::Text(text) => {
                turn.push(&text);
                answer.text.push_str(&text);
            }
            StreamEvent::Reasoning(text) => {
                turn.status = TurnStatus::Thinking;
                answer.reasoning.push_str(&text);
            }
            StreamEvent::Retract => {
                turn.take_back();
                answer.reasoning.push_str(&std::mem::take(&mut answer.text));
            }
            StreamEvent::Usage(_) => {}
            StreamEvent::Retrying { attempt, wait, reason } => {
                turn.status = TurnStatus::Retrying { attempt, wait, reason };
            }
        }
    }

    pub(crate) fn ended(&mut self, number: u64, result: Result<Completion, AskError>) -> Vec<Effect> {
        let Some(turn) = self.turns.current.take_if(|turn| turn.number == number) else {
            return Vec::new();
        };
        match result {
            Ok(completion) => {
                let cut = completion.finish.incomplete_reason();
                let complete = cut.is_none();
                if let Some(reason) = &cut {
                    self.tell(Level::Warning, format!("The answer is incomplete: {reason}."), OFFER_CUT);
                }
                let reply = self.end_answer(cut);
                let mut effects = Vec::new();
                match reply {
                    Some(reply) => {
                        self.answered();
                        if complete {
                            if turn.mode.edits() {
                                self.suggest(&reply);
                            }
                            effects = self.concluded(reply, &turn);
                        }
                    }
                    None => {
                        self.give_back(&turn);
                        self.tell(
                            Level::Warning,
                            "The model gave an empty answer.",
                            "Send again, or ask in other words.",
                        );
                    }
                }
                effects.extend(self.measure());
                effects
            }
            Err(error) if error.is_unsent() => {
                self.hold_queue();
                self.end_answer(Some("not sent".into()));
                self.give_back(&turn);
                self.tell_failure(Level::Error, error.failure());
                self.measure()
            }
            Err(error) => {
                let failure = error.failure();
                self.hold_queue();
                if self.end_answer(Some("interrupted".into())).is_some() {
                    self.tell(Level::Error, failure.message, OFFER);
                } else {
                    // Sending again is the next thing to do.
                    self.give_back(&turn);
                    self.tell_failure(Level::Error, failure);
                }
                self.measure()
            }
        }
    }

    /// Gives the message of `turn` back to the composer, and leaves it and its answer out of later requests. The meter and a
    /// copied prompt count it as the draft again, unless something newer is being typed.
    pub(crate) fn give_back(&mut self, turn: &Turn) {
        if self.gives_plan_back(turn) || turn.message != turn.request {
            // Nobody typed it.
            return;
        }
        self.return_draft(self.as_typed(&turn.message, turn.mode));
        if self.drafts.message().is_empty() && turn.mode == self.modes.mode() {
            self.drafts.set_message(&turn.message);
        }
    }

    /// Closes the answer that streamed; `cut` says why it is not whole. Its text; an answer without a word leaves the
    /// transcript.
    pub(crate) fn end_answer(&mut self, cut: Option<String>) -> Option<String> {
        let at = self.transcript.iter().rposition(is_streaming)?;
        if is_silent(&self.transcript[at]) {
            self.transcript.remove(at);
            return None;
        }
        let Some(Entry::Answer(answer)) = self.transcript.get_mut(at) else { return None };
        answer.state = cut.map_or(AnswerState::Complete, AnswerState::Incomplete);
        Some(answer.text.clone())
    }

    /// The newest message was answered: it is history now.
    pub(crate) fn answered(&mut self) {
        if let Some(Entry::User { answered, .. } | Entry::Again { answered, .. }) =
            self.transcript.rfind_mut(Entry::is_asked)
        {
            *answered = true;
        }
    }
}

/// Whether an answer still arrives here.
pub(crate) fn is_streaming(entry: &Entry) -> bool {
    matches!(entry, Entry::Answer(answer) if answer.state == AnswerState::Streaming)
}
