//! The beginning of a long conversation is sent as a summary; the whole of it stays to be read. Nothing is lost when a summary
//! fails, is overtaken, or the conversation is cleared: what was said goes out as it was.

use std::cell::RefCell;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::connect::Connection;
use crate::context::{Prompt, SectionKind};
use crate::effect::{Effect, Failure, Summarized};
use crate::state::Session;
use crate::transcript::{self, Level};
use rhumb_llm::{Message, Role};
use rhumb_text::thousands;
use rhumb_tokens::estimate;

/// A history with fewer tokens is not summarised on request: the summary would hardly be shorter.
const MIN_COMPACTED: usize = 200;

/// What stands for the beginning of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HistorySummary {
    /// How many messages of the conversation it stands for; 0 for none.
    covers: usize,
    messages: Vec<Message>,
}

impl HistorySummary {
    /// Whether there is no summary.
    pub(crate) fn is_empty(&self) -> bool {
        self.covers == 0
    }
}

/// A summary that is being made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SummaryRun {
    /// Messages of the conversation that went into it.
    covers: usize,
    /// What is to be folded, as it would be sent.
    history: Arc<Vec<Message>>,
    /// Whether the user asked for it and waits.
    is_asked: bool,
}

/// The history of the next request as it was computed last. A long conversation is megabytes, and the history is needed after each
/// key: it is computed again only when the transcript or the summary has changed.
#[derive(Debug, Clone, Default)]
struct HistoryCache {
    /// The revision of the transcript, and the messages that the summary covers.
    key: (u64, usize),
    history: Arc<Vec<Message>>,
    shared: Vec<Message>,
}

/// The summary of the beginning of the conversation, and what follows from it for requests.
#[derive(Debug, Default)]
pub struct History {
    summary: HistorySummary,
    /// The summary that is being made.
    running: Option<SummaryRun>,
    /// The last summary of this many messages failed. It is not tried again before there are more.
    failed_at: usize,
    cache: RefCell<Option<HistoryCache>>,
}

impl History {
    /// The summary that takes the place of the first messages.
    pub(crate) fn summary(&self) -> &HistorySummary {
        &self.summary
    }

    /// Whether a summary is being made.
    pub(crate) fn is_summarizing(&self) -> bool {
        self.running.is_some()
    }

    /// Replaces the summary by that of a saved session, or with the default by none, and forgets the one that is being made.
    pub(crate) fn restore(&mut self, summary: HistorySummary) {
        *self = Self { summary, ..Self::default() };
    }
}

impl Session {
    /// ModelRole spoke in the turns that the next request carries as history, and what was said.
    fn sent_messages(&self) -> impl Iterator<Item = (Role, &str)> + Clone {
        let covers = self.history.summary.covers;
        // A message that is asked again may have been in the summary.
        let is_folded = covers > 0 && transcript::said(&self.transcript).count() >= covers;
        let (summary, from) = if is_folded { (self.history.summary.messages.as_slice(), covers) } else { (&[][..], 0) };
        let summary = summary.iter().map(|message| (message.role, message.content.as_str()));
        summary.chain(transcript::said(&self.transcript).skip(from))
    }

    /// The turns that the next request carries as history.
    pub(crate) fn history_messages(&self) -> Vec<Message> {
        self.sent_messages().map(|(role, text)| Message::new(role, text)).collect()
    }

    /// The history in two parts: what was said, and what was shared since the last answer. The latter belongs to the next message,
    /// and is not summarised before the model has seen it.
    pub(crate) fn history_and_shared(&self) -> (Arc<Vec<Message>>, Vec<Message>) {
        let key = (self.transcript.revision(), self.history.summary.covers);
        let mut cache = self.history.cache.borrow_mut();
        let known = cache.take().filter(|known| known.key == key).unwrap_or_else(|| {
            let mut history = self.history_messages();
            let shared = history.split_off(history.len() - self.fresh());
            HistoryCache { key, history: Arc::new(history), shared }
        });
        let parts = (Arc::clone(&known.history), known.shared.clone());
        *cache = Some(known);
        parts
    }

    /// How many messages were shared since the last one that was answered, and are in no summary.
    fn fresh(&self) -> usize {
        let said = transcript::said(&self.transcript).count();
        transcript::fresh(&self.transcript).min(said.saturating_sub(self.history.summary.covers))
    }

    /// How many messages of the conversation may be summed up.
    fn summarizable(&self) -> usize {
        transcript::said(&self.transcript).count() - self.fresh()
    }

    /// Asks for a summary if the history in the measured request has more than its share.
    pub(crate) fn summarize_if_long(&mut self, prompt: &Prompt) -> Vec<Effect> {
        let tokens = tokens_of_history(prompt);
        if tokens <= prompt.plan.history
            || self.history.running.is_some()
            || self.summarizable() <= self.history.failed_at
        {
            return Vec::new();
        }
        self.summarize(prompt.plan.history, None)
    }

    /// Has the history summarised. `compact` is set where the user asked for it, to what the summary must keep.
    fn summarize(&mut self, limit: usize, compact: Option<String>) -> Vec<Effect> {
        let (covers, (history, _)) = (self.summarizable(), self.history_and_shared());
        self.history.running = Some(SummaryRun { covers, history: Arc::clone(&history), is_asked: compact.is_some() });
        let (allowance, weak_model) = (self.allowance(), self.next_request.choices.weak_model.clone());
        vec![Effect::Summarize { history, limit, allowance, weak_model, compact }]
    }

    /// Summarises the history now, because the user asks for it. `keep` says what the summary must keep; it may be empty.
    pub(crate) fn compact(&mut self, keep: String) -> Vec<Effect> {
        // The request as it was measured last may not have the newest answer.
        let tokens: usize = self.sent_messages().map(|(_, text)| estimate(text)).sum();
        let limit = self.next_request.view.as_ref().map_or(usize::MAX, |view| view.prompt.plan.history);
        let covers = self.summarizable();
        let (text, hint) = match self.model.connection() {
            _ if self.turns.is_running() => {
                ("The model is still answering.".to_owned(), "Cancel the turn, then try again.")
            }
            _ if covers == 0 => {
                ("There is nothing to summarise: the next request carries no earlier messages.".into(), "")
            }
            _ if covers == self.history.summary.covers => {
                ("There is nothing to summarise: the summary contains all earlier messages already.".into(), "")
            }
            Connection::Remote { model, .. } if !model.is_empty() => match tokens {
                _ if self.history.running.is_some() => ("The conversation is being summarised already.".into(), ""),
                0..MIN_COMPACTED => {
                    let text =
                        format!("The conversation has only about {tokens} tokens: a summary would save nothing.");
                    (text, "/clear leaves it out of later requests.")
                }
                _ => return self.summarize(limit, Some(keep)),
            },
            _ => {
                let text = "No model is connected, so the conversation was not summarised.".into();
                (text, "/servers looks for a model server on this machine; /clear leaves the conversation out.")
            }
        };
        self.tell(Level::Info, text, hint);
        Vec::new()
    }

    /// Whether the user waits for a summary of the history.
    pub fn is_compacting(&self) -> bool {
        self.history.running.as_ref().is_some_and(|folding| folding.is_asked)
    }

    /// Stops the summary that the user waits for; the history stays as it is.
    pub fn stop_compacting(&mut self) -> Option<Vec<Effect>> {
        self.history.running.take_if(|folding| folding.is_asked)?;
        self.hold_queue();
        self.tell(Level::Info, "The summary was cancelled. The conversation is sent as it was.", "");
        Some(vec![Effect::CancelSummary])
    }

    /// A summary of `history` is there, or is not. It is taken if the conversation still begins like that.
    pub(crate) fn summary_ended(&mut self, history: &[Message], result: Result<Summarized, Failure>) -> Vec<Effect> {
        let said = self.summarizable();
        let folding = self.history.running.take_if(|folding| folding.history.as_slice() == history);
        let is_asked = folding.as_ref().is_some_and(|folding| folding.is_asked);
        let covers = match folding {
            Some(folding) => folding.covers,
            None if self.history_and_shared().0.as_slice() == history => said,
            // It was cleared, or begun anew.
            None => return Vec::new(),
        };
        if covers > said {
            return Vec::new();
        }
        match result {
            Ok(Summarized { messages, before, after }) => {
                self.history.restore(HistorySummary { covers, messages });
                let (before, after) = (thousands(before), thousands(after));
                let (text, hint) = if is_asked {
                    (format!("The conversation is summarised: {before} tokens became {after}."), "")
                } else {
                    let text = "The beginning of the conversation is sent as a summary from now on";
                    (format!("{text}: {before} tokens became {after}."), " history_tokens limits the history.")
                };
                self.tell(Level::Info, text, format!("The messages stay here; /view-prompt shows what is sent.{hint}"));
                self.measure()
            }
            Err(failure) => {
                // Not again before there is more to sum up.
                self.history.failed_at = covers;
                let text =
                    format!("The conversation could not be summarised, so all of it is sent: {}", failure.message);
                self.tell(Level::Warning, text, failure.hint);
                Vec::new()
            }
        }
    }

    /// Forgets the summary, and the one that is being made.
    pub(crate) fn forget_summary(&mut self) {
        self.history.restore(HistorySummary::default());
    }
}

/// The tokens of the history in a request.
fn tokens_of_history(prompt: &Prompt) -> usize {
    let history = prompt.sections.iter().filter(|chunk| chunk.kind == SectionKind::History);
    history.map(|chunk| chunk.tokens).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{BudgetPlan, Section};
    use crate::*;
    use rhumb_llm::Role;
    use rhumb_llm::{Completion, Finish, StreamEvent};

    fn answered(session: &mut Session, turn: u64, question: &str, answer: &str) {
        session.send(question);
        let event = AskEvent::Stream(StreamEvent::Text(answer.into()));
        session.handle(Response::Asked { turn, event });
        session.handle(Response::Ended { turn, result: Ok(Completion { finish: Finish::Stop, usage: None }) });
    }

    /// A request whose history has so many tokens of 100.
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
    fn what_was_shared_is_not_summed_up_before_the_model_has_seen_it() {
        let (mut session, _) = Session::start(Connection::Remote { model: "m".into(), host: "h".into() });
        let page = || Entry::Shared { title: "page".into(), text: "a long page".into(), whole: None };
        session.transcript.push(page());
        assert!(!measured(&mut session, 500).iter().any(|effect| matches!(effect, Effect::Summarize { .. })));
        let (_, effects) = session.send("look it up");
        let [Effect::Ask(order)] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(order.history.is_empty() && order.exchange[0].content == "a long page");
        session.cancel();
        answered(&mut session, 2, "look it up", "done");
        session.transcript.push(page());
        let folds = measured(&mut session, 500).into_iter().filter_map(|effect| match effect {
            Effect::Summarize { history, .. } => Some(history.len()),
            _ => None,
        });
        assert_eq!(folds.collect::<Vec<_>>(), [3], "the page that the model has seen, and not the newest");
    }

    fn measured(session: &mut Session, tokens: usize) -> Vec<Effect> {
        session.summarize_if_long(&prompt(tokens))
    }

    /// What a summary is asked of.
    fn asked(session: &mut Session) -> Arc<Vec<Message>> {
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

    /// A conversation that is worth a summary.
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
        let notice = session.transcript.iter().rev().find_map(|entry| match entry {
            Entry::Status(notice) => Some(notice.text.as_str()),
            _ => None,
        });
        notice.unwrap_or_default()
    }

    #[test]
    fn a_summary_that_is_asked_for_is_made_at_once_and_says_what_it_saves() {
        let mut session = long_talked();
        let effects = compacted(&mut session, "/compact keep the API decisions");
        let [Effect::Summarize { history, compact, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!((history.len(), compact.as_deref()), (4, Some("keep the API decisions")));
        assert!(session.is_compacting() && session.is_busy());
        assert!(compacted(&mut session, "/compact").is_empty());
        assert_eq!(last_text(&session), "The conversation is being summarised already.");
        let (sent, effects) = session.send("meanwhile");
        assert!(sent && effects.is_empty(), "what is sent meanwhile goes out with the summary");
        assert!(session.next_queued().is_empty());
        let summary = summarized(vec![Message::new(Role::User, "summary")]);
        session.handle(Response::Summarized { history: history.clone(), result: Ok(summary) });
        assert_eq!(last_text(&session), "The conversation is summarised: 12,480 tokens became 940.");
        let effects = session.next_queued();
        let [Effect::Ask(order)] = effects.as_slice() else { panic!("{effects:?}") };
        assert_eq!(order.history.as_slice(), [Message::new(Role::User, "summary")]);
    }

    #[test]
    fn where_there_is_nothing_to_summarise_that_is_told_and_nobody_is_asked() {
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
    fn a_summary_that_is_asked_for_can_be_cancelled() {
        let mut session = long_talked();
        compacted(&mut session, "/compact");
        assert_eq!(session.stop_compacting(), Some(vec![Effect::CancelSummary]));
        assert!(!session.is_busy() && session.stop_compacting().is_none());
        assert_eq!(said(&session).len(), 4);
        compacted(&mut session, "/compact");
        assert!(session.clear_history().contains(&Effect::CancelSummary));
    }

    fn said(session: &Session) -> Vec<String> {
        session.history_messages().into_iter().map(|message| message.content).collect()
    }

    #[test]
    fn a_long_history_is_folded_and_what_came_meanwhile_follows() {
        let mut session = talked();
        assert!(measured(&mut session, 100).is_empty(), "it is within its share");
        let effects = measured(&mut session, 101);
        let [Effect::Summarize { history, limit: 100, .. }] = effects.as_slice() else { panic!("{effects:?}") };
        assert!(measured(&mut session, 101).is_empty(), "one at a time");
        answered(&mut session, 3, "three", "third answer");
        let summary = vec![Message::new(Role::User, "summary"), Message::new(Role::Assistant, "Noted.")];
        session.handle(Response::Summarized { history: history.clone(), result: Ok(summarized(summary)) });
        assert_eq!(said(&session), ["summary", "Noted.", "three", "third answer"]);
    }

    #[test]
    fn the_history_is_copied_only_where_it_has_changed() {
        let mut session = talked();
        let first = session.order(1).history;
        session.drafts.set_message("a key");
        assert!(Arc::ptr_eq(&session.order(2).history, &first));
        let Some(Entry::User { text, .. }) = session.transcript.get_mut(0) else { panic!() };
        *text = "eno".into();
        assert_eq!(session.order(3).history[0].content, "eno");
        answered(&mut session, 3, "three", "third answer");
        assert_eq!(*session.order(4).history, session.history_messages());
        session.clear_history();
        assert!(session.order(5).history.is_empty() && first.len() == 4);
    }

    #[test]
    fn a_failure_leaves_the_history_and_is_not_repeated_at_once() {
        let mut session = talked();
        let history = asked(&mut session);
        let failure = Failure { message: "no network.".into(), hint: String::new() };
        session.handle(Response::Summarized { history, result: Err(failure) });
        assert_eq!(said(&session).len(), 4);
        assert!(measured(&mut session, 500).is_empty());
        answered(&mut session, 3, "three", "third answer");
        assert_eq!(measured(&mut session, 500).len(), 1);
    }

    #[test]
    fn a_summary_that_comes_too_late_is_dropped() {
        let mut session = talked();
        let history = asked(&mut session);
        session.clear_history();
        answered(&mut session, 3, "three", "third answer");
        session.handle(Response::Summarized { history, result: Ok(summarized(vec![Message::new(Role::User, "old")])) });
        assert_eq!(said(&session), ["three", "third answer"]);
    }

    #[test]
    fn a_message_asked_again_comes_out_of_a_summary_that_held_its_answer() {
        let mut session = talked();
        let history = asked(&mut session);
        session.handle(Response::Summarized {
            history,
            result: Ok(summarized(vec![Message::new(Role::User, "summary")])),
        });
        session.retry();
        assert_eq!(said(&session), ["one", "first answer"]);
    }
}
