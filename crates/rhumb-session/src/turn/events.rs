//! The events of a running turn and its end.

use super::continuation::{HINT_CUT, HINT_INTERRUPTED};
use crate::context::{Mode, Omission, Prompt};
use crate::{AnswerState, Effect, Entry, Failure, Level, Session, Turn, TurnStatus};
use rhumb_llm::models::{Model, Prices, Tokens};
use rhumb_llm::{Completion, LlmError, StreamEvent};
use std::sync::Arc;

/// An event of a running request.
#[derive(Debug, Clone)]
pub enum AskEvent {
    /// A request is sent.
    Sent {
        /// The request, without the partial answer that a continuation repeats.
        prompt: Arc<Prompt>,
        /// Whether it asks the model to continue an answer that reached the output limit.
        continues: bool,
        /// The tokens of the whole request.
        tokens: usize,
        /// The prices of its tokens, if they are known.
        prices: Option<Prices>,
    },
    /// A piece of the answer, or a wait before a retry. The concatenation of all pieces is the answer.
    Stream(StreamEvent),
    /// The context window of the server is smaller than assumed: the request is shortened and sent again.
    Shrunk {
        /// The 1-based number of the attempt.
        time: u32,
        /// The maximum number of attempts.
        of: u32,
        /// The new maximum of input tokens.
        limit: usize,
    },
    /// The answer reached the output limit and is continued.
    Continuing {
        /// The 1-based number of the continuation.
        time: u32,
        /// The maximum number of continuations.
        of: u32,
    },
    /// The answer was cut off inside an edit, and the continuation does not repeat its last line, so it may not fit.
    DoubtfulSeam,
    /// The server exceeded the output limit that the spending cap allows, and the answer was stopped.
    PastTheCap,
    /// The answer was cut off because the spending cap allows no more output.
    CutByCap,
    /// The request goes to the editor model.
    Editor {
        /// Its name.
        model: String,
        /// Why it is not the model that was chosen.
        note: Option<Failure>,
    },
    /// The cost of a request, completed or not.
    Spent(Spent),
}

/// Why a request has no complete answer.
#[derive(Debug, Clone, PartialEq)]
pub enum AskError {
    /// Nothing was sent.
    Unsent(Failure),
    /// Nothing was sent, because the request exceeds the context window.
    TooLong(Failure),
    /// Nothing was sent, because a file of the chat cannot be read.
    Unreadable(Failure),
    /// The provider failed.
    Provider(LlmError),
    /// The answer reached the output limit, and the provider failed when it was asked to continue.
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
                Failure::new(format!("The answer reached the output limit and could not be continued: {message}"), hint)
            }
        }
    }
}

/// The cost of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// The model.
    pub model: Arc<Model>,
    /// The tokens.
    pub tokens: Tokens,
    /// Whether the tokens were estimated because the server did not report them.
    pub estimated: bool,
}

impl Session {
    pub(crate) fn turn_event(&mut self, number: u64, event: AskEvent) {
        match event {
            AskEvent::Stream(event) => self.stream(number, event),
            AskEvent::Sent { prompt, continues: false, .. } => {
                self.report_trimmed(number, &prompt.omitted);
                self.report_secrets(&prompt.secrets);
            }
            AskEvent::Sent { .. } => {}
            AskEvent::DoubtfulSeam => {
                let text = "The answer was cut off inside an edit, and its next part does not repeat the last line.";
                self.report(Level::Warning, text, "Look closely at the hunk there before you accept it.");
            }
            AskEvent::PastTheCap => {
                let text = "The answer was stopped: the server exceeded what the spending cap allows.";
                self.report(Level::Warning, text, "It ignores max_tokens. The text that arrived is kept.");
            }
            AskEvent::CutByCap => {
                let text = "The answer was cut short: it reached the spending cap.";
                self.report(Level::Warning, text, "Raise spending_cap in rhumb.toml and /continue.");
            }
            AskEvent::Spent(spent) => self.spent(number, &spent),
            AskEvent::Editor { model, note } => self.editor_asked(number, &model, note),
            AskEvent::Shrunk { time, of, limit } => {
                let text = format!(
                    "The context window is smaller than assumed; the request is sent again with at most {limit} tokens."
                );
                self.report(
                    Level::Warning,
                    text,
                    format!("Attempt {time} of {of}; the context pane shows the request."),
                );
            }
            AskEvent::Continuing { time, of } => {
                if let Some(turn) = self.turns.current.as_mut().filter(|turn| turn.number == number) {
                    turn.status = TurnStatus::Continuing { time, of };
                }
            }
        }
    }

    /// Reports turns that were omitted from a request. The map pane shows a smaller map, so that is not reported.
    fn report_trimmed(&mut self, number: u64, trimmed: &[Omission]) {
        let is_current = self.turns.current.as_ref().is_some_and(|turn| turn.number == number);
        for part in trimmed.iter().filter(|part| is_current && matches!(part, Omission::History { .. })) {
            let text = format!("Not sent, because the request would exceed the context window: {part}.");
            self.report(
                Level::Warning,
                text,
                "/clear excludes the whole conversation; a model with a larger window takes more.",
            );
        }
    }

    fn stream(&mut self, number: u64, event: StreamEvent) {
        let Some(turn) = self.turns.current.as_mut().filter(|turn| turn.number == number) else { return };
        let Some(Entry::Answer(answer)) = self.transcript.rfind_mut(Entry::is_streaming) else { return };
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
                turn.retract();
                answer.reasoning.push_str(&std::mem::take(&mut answer.text));
            }
            StreamEvent::ToolCall { name, arguments, .. } => {
                let before = match &turn.status {
                    TurnStatus::Calling(tool, bytes) if *tool == name => *bytes,
                    _ => 0,
                };
                turn.status = TurnStatus::Calling(name, before + arguments.len());
            }
            StreamEvent::Usage(_) => {}
            StreamEvent::Retrying { attempt, wait, reason } => {
                turn.status = TurnStatus::Retrying { attempt, wait, reason };
            }
        }
    }

    pub(crate) fn turn_ended(&mut self, number: u64, result: Result<Completion, AskError>) -> Vec<Effect> {
        let Some(turn) = self.turns.current.take_if(|turn| turn.number == number) else { return Vec::new() };
        let (turn, result) = match result {
            Ok(completion) if turn.mode == Mode::Agent => return self.agent_answered(turn, &completion),
            Err(error) if turn.mode == Mode::Agent => match self.agent_failed(turn, &error) {
                Ok(effects) => return effects,
                Err(turn) => (*turn, Err(error)),
            },
            result => (turn, result),
        };
        let is_complete = matches!(&result, Ok(completion) if completion.finish.incomplete_reason().is_none());
        let mut effects = match result {
            Ok(completion) => self.turn_completed(&turn, &completion),
            Err(error) => {
                self.turn_failed(&turn, &error);
                Vec::new()
            }
        };
        if turn.becomes_agent && is_complete {
            effects.extend(self.take_over());
        }
        effects.extend(self.measure());
        effects
    }

    fn turn_completed(&mut self, turn: &Turn, completion: &Completion) -> Vec<Effect> {
        let cut = completion.finish.incomplete_reason();
        let is_complete = cut.is_none();
        if let Some(reason) = &cut {
            self.report(Level::Warning, format!("The answer is incomplete: {reason}."), HINT_CUT);
        }
        let Some(reply) = self.close_answer(cut) else {
            self.return_message(turn);
            self.report(Level::Warning, "The model gave an empty answer.", "Send again, or rephrase the message.");
            return Vec::new();
        };
        self.mark_answered();
        if !is_complete {
            return Vec::new();
        }
        let mut effects = if turn.mode.edits() { self.suggest(&reply) } else { Vec::new() };
        effects.extend(self.answer_completed(reply, turn));
        effects
    }

    fn turn_failed(&mut self, turn: &Turn, error: &AskError) {
        self.hold_queue();
        let failure = error.failure();
        let reason = if error.is_unsent() { "not sent" } else { "interrupted" };
        if self.close_answer(Some(reason.into())).is_some() && !error.is_unsent() {
            self.report(Level::Error, failure.message, HINT_INTERRUPTED);
        } else {
            self.return_message(turn);
            self.report_failure(Level::Error, failure);
        }
    }

    /// Returns the message of `turn` to the input. Later requests contain neither the message nor its answer. It becomes the draft of
    /// the next request too, unless there is a newer one.
    pub(crate) fn return_message(&mut self, turn: &Turn) {
        // A follow-up was not typed by the user.
        if self.return_plan(turn) || turn.message != turn.request {
            return;
        }
        self.return_draft(self.as_typed(&turn.message, turn.mode));
        if self.drafts.message().is_empty() && turn.mode == self.modes.mode() {
            self.drafts.set_message(&turn.message);
        }
    }

    /// Ends the streaming answer; `cut` says why it is incomplete. Returns its text. An empty answer is removed from the transcript.
    pub(crate) fn close_answer(&mut self, cut: Option<String>) -> Option<String> {
        let at = self.transcript.iter().rposition(Entry::is_streaming)?;
        if self.transcript[at].is_empty_answer() {
            self.transcript.remove(at);
            return None;
        }
        let Some(Entry::Answer(answer)) = self.transcript.get_mut(at) else { return None };
        answer.state = cut.map_or(AnswerState::Complete, AnswerState::Incomplete);
        Some(answer.text.clone())
    }

    /// Marks the newest message as answered, which makes it part of the history.
    pub(crate) fn mark_answered(&mut self) {
        if let Some(Entry::User { answered, .. } | Entry::FollowUp { answered, .. }) =
            self.transcript.rfind_mut(Entry::is_message)
        {
            *answered = true;
        }
    }
}
