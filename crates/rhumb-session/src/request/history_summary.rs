//! History summary: requests contain a summary instead of the beginning of a long conversation. The transcript keeps all messages. If a
//! summary fails or becomes obsolete, the messages are sent unchanged.

use crate::agent::messages;
use crate::context::{Prompt, SectionKind};
use crate::transcript::{self};
use crate::{Connection, Effect, Failure, Level, Session, Summarized};
use rhumb_llm::{Message, Role};
use rhumb_text::thousands;
use rhumb_tokens::estimate;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::sync::Arc;

/// The minimum number of tokens for a summary on request. The summary of a shorter history would hardly be shorter.
const MIN_COMPACTED_TOKENS: usize = 200;

/// A summary of the beginning of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HistorySummary {
    /// The number of messages that it replaces; 0 if there is no summary.
    covers: usize,
    messages: Vec<Message>,
}

impl HistorySummary {
    pub(crate) fn is_empty(&self) -> bool {
        self.covers == 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SummaryRun {
    /// The number of messages that it replaces.
    covers: usize,
    history: Arc<Vec<Message>>,
    /// Whether the user requested it and waits for it.
    is_requested: bool,
}

/// The cached history of the next request. A long conversation has megabytes, and the history is needed after each key, so it is
/// recomputed only after a change of the transcript or the summary.
#[derive(Debug, Clone, Default)]
struct HistoryCache {
    /// The revision of the transcript, and the messages that the summary covers.
    key: Option<(u64, usize)>,
    history: Arc<Vec<Message>>,
    shared: Arc<Vec<Message>>,
}

/// The history of requests: the summary and the cached messages.
#[derive(Debug, Default)]
pub struct History {
    summary: HistorySummary,
    running: Option<SummaryRun>,
    /// The number of messages of which a summary failed. The next attempt needs more.
    failed_at: usize,
    cache: RefCell<HistoryCache>,
}

impl History {
    /// The summary that takes the place of the first messages.
    pub(crate) fn summary(&self) -> &HistorySummary {
        &self.summary
    }

    pub(crate) fn is_summarizing(&self) -> bool {
        self.running.is_some()
    }

    /// Replaces the summary, for instance by that of a saved session. A summary that is being made is discarded.
    pub(crate) fn restore(&mut self, summary: HistorySummary) {
        *self = Self { summary, ..Self::default() };
    }
}

impl Session {
    /// The messages of the summary, and the number of messages that they replace.
    fn valid_summary(&self) -> (&[Message], usize) {
        let HistorySummary { covers, messages } = &self.history.summary;
        // A damaged session file may lack messages that the summary covers.
        let is_valid = transcript::history(&self.transcript).count() >= *covers;
        if is_valid { (messages, *covers) } else { (&[], 0) }
    }

    /// The messages that the next request contains as history.
    fn sent_messages(&self) -> impl Iterator<Item = (Role, &str)> + Clone {
        let (summary, covers) = self.valid_summary();
        summary.iter().map(role_and_text).chain(transcript::history(&self.transcript).skip(covers))
    }

    /// A copy of the messages that the next request contains as history.
    pub(crate) fn history_messages(&self) -> Vec<Message> {
        self.sent_messages().map(|(role, text)| Message::new(role, text)).collect()
    }

    /// The history in two parts: earlier turns, and texts that were shared since the last answer. The latter belong to the next message
    /// and are not summarised before the model has seen them.
    pub(crate) fn history_and_shared(&self) -> (Arc<Vec<Message>>, Arc<Vec<Message>>) {
        let key = (self.transcript.revision(), self.history.summary.covers);
        let mut cache = self.history.cache.borrow_mut();
        if cache.key != Some(key) {
            let mut history = self.history_messages();
            let shared = history.split_off(history.len() - self.unseen_shared());
            *cache = HistoryCache { key: Some(key), history: Arc::new(history), shared: Arc::new(shared) };
        }
        (Arc::clone(&cache.history), Arc::clone(&cache.shared))
    }

    /// The number of messages that were shared since the last answer and that no summary covers.
    fn unseen_shared(&self) -> usize {
        let all = transcript::history(&self.transcript).count();
        transcript::shared_since_answer(&self.transcript).min(all.saturating_sub(self.history.summary.covers))
    }

    /// The number of messages that can be summarised. Agent mode sends its turns at the end of the transcript with their calls and
    /// results, so a summary of them would repeat them.
    fn summarizable(&self) -> usize {
        let seen = transcript::history(&self.transcript).count() - self.unseen_shared();
        let start = messages::start(&self.transcript).unwrap_or(self.transcript.len());
        transcript::history(&self.transcript[..start]).count().min(seen)
    }

    /// The messages that a summary of the first `covers` messages replaces: an earlier summary, and later messages.
    fn messages_to_summarize(&self, covers: usize) -> impl Iterator<Item = (Role, &str)> {
        let (summary, covered) = self.valid_summary();
        self.sent_messages().take(summary.len() + covers.saturating_sub(covered))
    }

    /// The number of messages that `history` stands for; `None` if the conversation does not begin with it.
    fn covered_by(&self, history: &[Message]) -> Option<usize> {
        let (summary, covered) = self.valid_summary();
        let later = history.len().checked_sub(summary.len())?;
        let is_beginning = self.sent_messages().take(history.len()).eq(history.iter().map(role_and_text));
        is_beginning.then_some(covered + later)
    }

    /// Starts a summary if the history in the measured request exceeds its budget.
    pub(crate) fn summarize_if_long(&mut self, prompt: &Prompt) -> Vec<Effect> {
        let tokens = tokens_of_history(prompt);
        let tried = self.history.summary.covers.max(self.history.failed_at);
        if tokens <= prompt.plan.history || self.history.running.is_some() || self.summarizable() <= tried {
            return Vec::new();
        }
        self.summarize(prompt.plan.history, None)
    }

    /// Starts a summary. `compact` is set if the user requested it: instructions about what to keep.
    fn summarize(&mut self, limit: usize, compact: Option<String>) -> Vec<Effect> {
        let covers = self.summarizable();
        let history = self.messages_to_summarize(covers).map(|(role, text)| Message::new(role, text));
        let history = Arc::new(history.collect::<Vec<_>>());
        self.history.running =
            Some(SummaryRun { covers, history: Arc::clone(&history), is_requested: compact.is_some() });
        let (allowance, weak_model) = (self.allowance(), self.next_request.overrides.weak_model.clone());
        vec![Effect::Summarize { history, limit, allowance, weak_model, compact }]
    }

    /// Runs `/compact`. `keep` says what the summary must keep; it may be empty.
    pub(crate) fn compact(&mut self, keep: String) -> Vec<Effect> {
        if let Some((text, hint)) = self.compact_refusal() {
            self.report(Level::Info, text, hint);
            return Vec::new();
        }
        let limit = self.next_request.view.as_ref().map_or(usize::MAX, |view| view.prompt.plan.history);
        self.summarize(limit, Some(keep))
    }

    /// Text and hint that say why the history cannot be summarised now.
    fn compact_refusal(&self) -> Option<(String, &'static str)> {
        let covers = self.summarizable();
        // The last measured request may lack the newest answer.
        let tokens: usize = self.messages_to_summarize(covers).map(|(_, text)| estimate(text)).sum();
        let is_connected = matches!(self.model.connection(), Connection::Remote { model, .. } if !model.is_empty());
        let (text, hint) = if self.turns.is_running() {
            ("The model is still answering.", "Cancel the turn, then try again.")
        } else if covers == self.history.summary.covers && messages::start(&self.transcript).is_some() {
            (
                "There is nothing to summarise: the turns of the agent are sent with their tool calls and results.",
                "/clear excludes the conversation.",
            )
        } else if covers == 0 {
            ("There is nothing to summarise: the next request contains no earlier messages.", "")
        } else if covers == self.history.summary.covers {
            ("There is nothing to summarise: the summary contains all earlier messages already.", "")
        } else if !is_connected {
            (
                "No model is connected, so the conversation was not summarised.",
                "/servers looks for a model server on this machine; /clear excludes the conversation.",
            )
        } else if self.history.running.is_some() {
            ("The conversation is being summarised already.", "")
        } else if tokens < MIN_COMPACTED_TOKENS {
            let text = format!("The conversation has only about {tokens} tokens: a summary would save nothing.");
            return Some((text, "/clear excludes it from later requests."));
        } else {
            return None;
        };
        Some((text.to_owned(), hint))
    }

    /// Whether the user waits for a summary of the history.
    pub fn is_compacting(&self) -> bool {
        self.history.running.as_ref().is_some_and(|run| run.is_requested)
    }

    /// Cancels the summary that the user waits for; the history does not change.
    pub fn stop_compacting(&mut self) -> Option<Vec<Effect>> {
        self.history.running.take_if(|run| run.is_requested)?;
        self.hold_queue();
        self.report(Level::Info, "The summary was cancelled. The conversation is sent unchanged.", "");
        Some(vec![Effect::CancelSummary])
    }

    /// Handles the result of a summary of `history`, which is used if the conversation still begins with that.
    pub(crate) fn summary_ended(&mut self, history: &[Message], result: Result<Summarized, Failure>) -> Vec<Effect> {
        let run = self.history.running.take_if(|run| run.history.as_slice() == history);
        let is_requested = run.is_some_and(|run| run.is_requested);
        // The conversation may have been cleared, replaced or changed.
        let Some(covers) = self.covered_by(history) else { return Vec::new() };
        match result {
            Ok(Summarized { messages, before, after }) => {
                self.history.restore(HistorySummary { covers, messages });
                let (before, after) = (thousands(before), thousands(after));
                let (text, hint) = if is_requested {
                    (format!("The conversation is summarised: {before} tokens became {after}."), "")
                } else {
                    let text = "The beginning of the conversation is sent as a summary";
                    (format!("{text}: {before} tokens became {after}."), " history_tokens limits the history.")
                };
                self.report(
                    Level::Info,
                    text,
                    format!("The messages stay here; /view-prompt shows what is sent.{hint}"),
                );
                self.measure()
            }
            Err(failure) => {
                self.history.failed_at = covers;
                let text =
                    format!("The conversation could not be summarised, so all of it is sent: {}", failure.message);
                self.report(Level::Warning, text, failure.hint);
                Vec::new()
            }
        }
    }

    /// Discards a summary that covers the message at index `at`, because the message or its answer changes. Cancels one that is being
    /// made of it.
    pub(crate) fn forget_summary_of(&mut self, at: usize) -> Vec<Effect> {
        let before = transcript::history(&self.transcript[..at]).count();
        let cancelled = self.history.running.take_if(|run| run.covers > before);
        if self.history.summary.covers > before {
            self.forget_summary();
        }
        cancelled.map(|_| Effect::CancelSummary).into_iter().collect()
    }

    /// Discards the summary, and the one that is being made.
    pub(crate) fn forget_summary(&mut self) {
        self.history.restore(HistorySummary::default());
    }
}

fn role_and_text(message: &Message) -> (Role, &str) {
    (message.role, &message.content)
}

fn tokens_of_history(prompt: &Prompt) -> usize {
    let history = prompt.sections.iter().filter(|section| section.kind == SectionKind::History);
    history.map(|section| section.tokens).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{BudgetPlan, Mode, Section};
    use crate::*;
    use rhumb_llm::Role;
    use rhumb_llm::{Completion, Finish, StreamEvent};

    fn answered(session: &mut Session, turn: u64, question: &str, answer: &str) {
        session.send(question);
        end_turn(session, turn, answer, Finish::Stop);
    }

    fn end_turn(session: &mut Session, turn: u64, answer: &str, finish: Finish) {
        let event = AskEvent::Stream(StreamEvent::Text(answer.into()));
        session.handle(Response::Asked { turn, event });
        session.handle(Response::Ended { turn, result: Ok(Completion::new(finish, None)) });
    }

    /// A request whose history has `tokens` tokens, with a budget of 100.
    fn prompt(tokens: usize) -> Prompt {
        let history = Section {
            kind: SectionKind::History,
            title: "history".into(),
            role: Role::User,
            message: 0,
            tokens,
            text: String::new(),
            cached: false,
        };
        let plan = BudgetPlan { history: 100, ..BudgetPlan::default() };
        Prompt { sections: vec![history], plan, ..Prompt::default() }
    }

    #[test]
    fn shared_texts_are_not_summarised_before_the_model_has_seen_them() {
        let (mut session, _) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        let page = || Entry::Shared { title: "page".into(), text: "a long page".into(), whole: None };
        session.transcript.push(page());
        assert!(!measured(&mut session, 500).iter().any(|effect| matches!(effect, Effect::Summarize { .. })));
        let (_, effects) = session.send("look it up");
        let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(spec.history.is_empty() && spec.exchange[0].content == "a long page");
        session.cancel();
        answered(&mut session, 2, "look it up", "done");
        session.transcript.push(page());
        let summarized = measured(&mut session, 500).into_iter().filter_map(|effect| match effect {
            Effect::Summarize { history, .. } => Some(history.len()),
            _ => None,
        });
        assert_eq!(summarized.collect::<Vec<_>>(), [3], "without the page that the model has not seen");
    }

    fn measured(session: &mut Session, tokens: usize) -> Vec<Effect> {
        session.summarize_if_long(&prompt(tokens))
    }

    /// The history that is summarised.
    fn requested(session: &mut Session) -> Arc<Vec<Message>> {
        let effects = measured(session, 500);
        let [Effect::Summarize { history, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        history.clone()
    }

    fn talked() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        answered(&mut session, 1, "one", "first answer");
        answered(&mut session, 2, "two", "second answer");
        for _ in 0..2 {
            session.handle(Response::NotProposed(None));
        }
        session
    }

    fn summarized(messages: Vec<Message>) -> Summarized {
        Summarized { messages, before: 12_480, after: 940 }
    }

    /// A conversation that is long enough for `/compact`.
    fn long_talked() -> Session {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        let long = "The tide rises and falls with the moon. ".repeat(40);
        for (turn, question) in [(1, "one"), (2, "two")] {
            answered(&mut session, turn, question, &long);
            session.handle(Response::NotProposed(None));
        }
        session
    }

    fn compacted(session: &mut Session, line: &str) -> Vec<Effect> {
        session.command(parse_command(line).unwrap())
    }

    fn last_text(session: &Session) -> &str {
        let status = session.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Status(status) => Some(status.text.as_str()),
            _ => None,
        });
        status.unwrap_or_default()
    }

    #[test]
    fn compact_starts_a_summary_and_reports_what_it_saves() {
        let mut session = long_talked();
        let effects = compacted(&mut session, "/compact keep the API decisions");
        let [Effect::Summarize { history, compact, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((history.len(), compact.as_deref()), (4, Some("keep the API decisions")));
        assert!(session.is_compacting() && session.is_busy());
        assert!(compacted(&mut session, "/compact").is_empty());
        assert_eq!(last_text(&session), "The conversation is being summarised already.");
        let (sent, effects) = session.send("meanwhile");
        assert!(sent && effects.is_empty(), "the message is queued");
        assert!(session.next_queued().is_empty());
        let summary = summarized(vec![Message::new(Role::User, "summary")]);
        session.handle(Response::Summarized { history: history.clone(), result: Ok(summary) });
        assert_eq!(last_text(&session), "The conversation is summarised: 12,480 tokens became 940.");
        let effects = session.next_queued();
        let [Effect::Ask(spec)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(spec.history.as_slice(), [Message::new(Role::User, "summary")]);
    }

    #[test]
    fn compact_without_enough_history_sends_no_request() {
        let mut session = Session::start(Connection::Remote { model: "m".into(), host: "h".into() }).0;
        assert!(compacted(&mut session, "/compact").is_empty());
        assert!(last_text(&session).starts_with("There is nothing to summarise"), "{}", last_text(&session));
        let mut session = long_talked();
        let effects = compacted(&mut session, "/compact");
        let [Effect::Summarize { history, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        let summary = summarized(vec![Message::new(Role::User, "summary")]);
        session.handle(Response::Summarized { history: history.clone(), result: Ok(summary) });
        assert!(compacted(&mut session, "/compact").is_empty());
        assert!(last_text(&session).contains("contains all earlier messages already"), "{}", last_text(&session));
        let mut session = talked();
        assert!(compacted(&mut session, "/compact").is_empty());
        assert!(last_text(&session).starts_with("The conversation has only about"), "{}", last_text(&session));
        let mut session = long_talked();
        session.set_connection(Connection::Demo);
        assert!(compacted(&mut session, "/compact").is_empty());
        assert!(last_text(&session).starts_with("No model is connected"), "{}", last_text(&session));
    }

    #[test]
    fn compact_can_be_cancelled() {
        let mut session = long_talked();
        compacted(&mut session, "/compact");
        assert_eq!(session.stop_compacting(), Some(vec![Effect::CancelSummary]));
        assert!(!session.is_busy() && session.stop_compacting().is_none());
        assert_eq!(texts(&session).len(), 4);
        compacted(&mut session, "/compact");
        assert!(session.clear_history().contains(&Effect::CancelSummary));
    }

    fn texts(session: &Session) -> Vec<String> {
        session.history_messages().into_iter().map(|message| message.content).collect()
    }

    #[test]
    fn later_messages_follow_the_summary() {
        let mut session = talked();
        assert!(measured(&mut session, 100).is_empty(), "it is within its budget");
        let effects = measured(&mut session, 101);
        let [Effect::Summarize { history, limit: 100, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(measured(&mut session, 101).is_empty(), "one at a time");
        answered(&mut session, 3, "three", "third answer");
        let summary = vec![Message::new(Role::User, "summary"), Message::new(Role::Assistant, "Noted.")];
        session.handle(Response::Summarized { history: history.clone(), result: Ok(summarized(summary)) });
        assert_eq!(texts(&session), ["summary", "Noted.", "three", "third answer"]);
    }

    #[test]
    fn the_history_is_copied_only_after_a_change() {
        let mut session = talked();
        let first = session.request_spec(1).history;
        session.drafts.set_message("a key");
        assert!(Arc::ptr_eq(&session.request_spec(2).history, &first));
        let Some(Entry::User { text, .. }) = session.transcript.get_mut(0) else { panic!() };
        *text = "eno".into();
        assert_eq!(session.request_spec(3).history[0].content, "eno");
        answered(&mut session, 3, "three", "third answer");
        assert_eq!(*session.request_spec(4).history, session.history_messages());
        session.clear_history();
        assert!(session.request_spec(5).history.is_empty() && first.len() == 4);
    }

    #[test]
    fn a_failed_summary_keeps_the_history_and_is_not_repeated_at_once() {
        let mut session = talked();
        let history = requested(&mut session);
        let failure = Failure { message: "no network.".into(), hint: String::new() };
        session.handle(Response::Summarized { history, result: Err(failure) });
        assert_eq!(texts(&session).len(), 4);
        assert!(measured(&mut session, 500).is_empty());
        answered(&mut session, 3, "three", "third answer");
        assert_eq!(measured(&mut session, 500).len(), 1);
    }

    #[test]
    fn an_obsolete_summary_is_dropped() {
        let mut session = talked();
        let history = requested(&mut session);
        session.clear_history();
        answered(&mut session, 3, "three", "third answer");
        session.handle(Response::Summarized { history, result: Ok(summarized(vec![Message::new(Role::User, "old")])) });
        assert_eq!(texts(&session), ["three", "third answer"]);
    }

    #[test]
    fn retry_discards_a_summary_that_contains_the_answer() {
        let mut session = talked();
        let history = requested(&mut session);
        session.handle(Response::Summarized {
            history,
            result: Ok(summarized(vec![Message::new(Role::User, "summary")])),
        });
        session.retry();
        assert_eq!(texts(&session), ["one", "first answer"]);
        end_turn(&mut session, 3, "another answer", Finish::Stop);
        assert_eq!(texts(&session), ["one", "first answer", "two", "another answer"]);
    }

    #[test]
    fn continue_discards_a_summary_that_contains_the_answer() {
        let mut session = talked();
        session.send("three");
        end_turn(&mut session, 3, "third ", Finish::Length);
        assert_eq!(texts(&session).len(), 7, "a mark follows the incomplete answer");
        let history = requested(&mut session);
        session.handle(Response::Summarized {
            history,
            result: Ok(summarized(vec![Message::new(Role::User, "summary")])),
        });
        session.continue_answer();
        end_turn(&mut session, 4, "answer", Finish::Stop);
        answered(&mut session, 5, "four", "fourth answer");
        assert_eq!(texts(&session)[4..], ["three", "third answer", "four", "fourth answer"]);
    }

    #[test]
    fn retry_cancels_a_summary_that_is_being_made_of_the_answer() {
        let mut session = long_talked();
        let effects = compacted(&mut session, "/compact");
        let [Effect::Summarize { history, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        let effects = session.retry();
        assert!(matches!(effects.as_slice(), [Effect::CancelSummary, Effect::Ask(_)]), "{effects:?}");
        end_turn(&mut session, 3, "another answer", Finish::Stop);
        let summary = summarized(vec![Message::new(Role::User, "summary")]);
        session.handle(Response::Summarized { history: history.clone(), result: Ok(summary) });
        assert!(!session.is_compacting() && texts(&session)[3] == "another answer");
    }

    #[test]
    fn retry_keeps_a_summary_of_earlier_messages() {
        let mut session = talked();
        let history = requested(&mut session);
        session.handle(Response::Summarized {
            history,
            result: Ok(summarized(vec![Message::new(Role::User, "summary")])),
        });
        answered(&mut session, 3, "three", "third answer");
        session.retry();
        end_turn(&mut session, 4, "another answer", Finish::Stop);
        assert_eq!(texts(&session), ["summary", "three", "another answer"]);
    }

    #[test]
    fn a_summary_is_used_only_if_the_conversation_begins_with_what_it_covers() {
        let mut session = talked();
        let history = requested(&mut session);
        let Some(Entry::User { text, .. }) = session.transcript.get_mut(0) else { panic!() };
        *text = "eno".into();
        let summary = || Ok(summarized(vec![Message::new(Role::User, "summary")]));
        session.handle(Response::Summarized { history, result: summary() });
        assert_eq!(texts(&session), ["eno", "first answer", "two", "second answer"]);
        // The host summarises the history of a follow-up that is too long, which lacks the messages of the same request.
        let history = Arc::new(session.history_messages()[..2].to_vec());
        session.handle(Response::Summarized { history, result: summary() });
        assert_eq!(texts(&session), ["summary", "two", "second answer"]);
    }

    #[test]
    fn turns_of_the_agent_are_not_summarised() {
        let mut session = talked();
        session.send_in_mode("three", Mode::Agent);
        end_turn(&mut session, 3, "third answer", Finish::Stop);
        let history = requested(&mut session);
        assert_eq!(history.len(), 4);
        session.handle(Response::Summarized {
            history,
            result: Ok(summarized(vec![Message::new(Role::User, "summary")])),
        });
        assert!(measured(&mut session, 500).is_empty(), "the same messages are not summarised again");
        assert_eq!(texts(&session), ["summary", "three", "third answer"]);
        answered(&mut session, 4, "four", "fourth answer");
        assert_eq!(requested(&mut session).len(), 5, "a message in another mode ends the turns of the agent");
    }
}
