//! How the steps of the agent are arranged: which entries have no lines, which follow each other without an empty line, and the
//! steps of earlier loops, which are folded to one line.

use rhumb_agent::{Action, ToolSet, parse_call};
use rhumb_llm::ToolCall;
use rhumb_session::context::Mode;
use rhumb_session::{Answer, AnswerState, RunState};
use rhumb_workspace::process::End;

use crate::tui::prelude::*;

/// Steps at the end of an earlier loop that stay visible.
const KEPT_STEPS: usize = 3;

/// Minimum number of steps that are worth folding.
const MIN_FOLDED_STEPS: usize = 3;

/// The arrangement of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryView {
    /// Whether it has no lines.
    pub(super) hidden: bool,
    /// Whether an empty line follows it.
    pub(super) gap: bool,
    /// Whether it is the output of a command of the agent.
    pub(super) output: OutputOf,
    /// The number of steps after this message of the user that can be folded; 0 for none.
    pub(super) earlier_steps: usize,
}

impl Default for EntryView {
    fn default() -> Self {
        Self { hidden: false, gap: true, output: OutputOf::Nothing, earlier_steps: 0 }
    }
}

/// The card to which the output of a command belongs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum OutputOf {
    /// None: the command is not one of the agent.
    #[default]
    Nothing,
    /// The card above it.
    CardAbove,
    /// A card further up, so that the output must name the command.
    EarlierCard,
}

/// Whether the details of an entry are shown: all reasoning and folded steps with `all`, and the `toggled` ones contrary to that. A
/// card is open only if it is toggled.
pub(super) fn is_open(entry: &Entry, at: usize, all: bool, toggled: &BTreeSet<usize>) -> bool {
    (all && !matches!(entry, Entry::Tool(_))) != toggled.contains(&at)
}

/// The arrangement of all entries. `card_of` returns the card of the command whose output is the entry at an index.
pub(super) fn entry_views(
    entries: &[Entry],
    is_open: impl Fn(usize) -> bool,
    mut card_of: impl FnMut(usize) -> Option<usize>,
) -> Vec<EntryView> {
    let mut views = vec![EntryView::default(); entries.len()];
    for (at, entry) in entries.iter().enumerate() {
        let Some(view) = views.get_mut(at) else { break };
        match entry {
            Entry::Answer(answer) => view.hidden = is_silent(answer) && is_between_cards(entries, at),
            Entry::Ran(ran) => {
                let Some(card) = card_of(at) else { continue };
                let others = entries.get(card + 1..at).unwrap_or_default();
                let is_above = !others.iter().any(|entry| matches!(entry, Entry::Tool(_)));
                view.output = if is_above { OutputOf::CardAbove } else { OutputOf::EarlierCard };
                // The open card has the whole output.
                view.hidden = ran.state == RunState::Ended(End::Exit(0)) || is_open(card);
            }
            _ => {}
        }
    }
    fold_earlier_loops(entries, &mut views, &is_open);
    let mut is_before_card = false;
    for (view, entry) in views.iter_mut().zip(entries).rev().filter(|(view, _)| !view.hidden) {
        let is_card = matches!(entry, Entry::Tool(_)) || view.output != OutputOf::Nothing;
        view.gap = !(is_before_card && (is_card || matches!(entry, Entry::Answer(_))));
        is_before_card = is_card;
    }
    views
}

fn is_silent(answer: &Answer) -> bool {
    let is_cut = matches!(answer.state, AnswerState::Incomplete(_));
    !is_cut && answer.text.trim().is_empty() && answer.reasoning.is_empty()
}

fn is_between_cards(entries: &[Entry], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| entries.get(at));
    matches!(entries.get(at + 1), Some(Entry::Tool(_)))
        || matches!(before, Some(Entry::Tool(_) | Entry::Ran(_) | Entry::Steering { .. }))
}

/// Folds the steps of loops that a later message of the user follows, except the last ones of each.
fn fold_earlier_loops(entries: &[Entry], views: &mut [EntryView], is_open: &impl Fn(usize) -> bool) {
    let is_user = |entry: &Entry| matches!(entry, Entry::User { .. });
    let Some(last) = entries.iter().rposition(is_user) else { return };
    let mut start = 0;
    for end in (0..=last).filter(|at| entries.get(*at).is_some_and(is_user)) {
        let (message, loop_entries) = (start, entries.get(start..end).unwrap_or_default());
        start = end;
        if !matches!(loop_entries.first(), Some(Entry::User { mode: Mode::Agent, .. })) {
            continue;
        }
        let step = |entry: &Entry| if let Entry::Tool(tool) = entry { Some(tool.step) } else { None };
        let first = loop_entries.iter().find_map(step).unwrap_or(0);
        let kept = loop_entries.iter().rev().find_map(step).unwrap_or(0).saturating_sub(KEPT_STEPS - 1);
        let folded = kept.saturating_sub(first);
        if folded < MIN_FOLDED_STEPS {
            continue;
        }
        let Some(view) = views.get_mut(message) else { continue };
        view.earlier_steps = folded;
        if is_open(message) {
            continue;
        }
        let kept = loop_entries.iter().position(|entry| step(entry).is_some_and(|step| step >= kept)).unwrap_or(0);
        let is_answer = |entry: &Entry| matches!(entry, Entry::Answer(_));
        let kept = loop_entries.get(..kept).and_then(|before| before.iter().rposition(is_answer)).unwrap_or(kept);
        for (view, entry) in views.iter_mut().zip(entries).take(message + kept).skip(message) {
            view.hidden |= matches!(entry, Entry::Answer(_) | Entry::Tool(_)) || view.output != OutputOf::Nothing;
        }
    }
}

/// The index of the card of a command of the agent, by the index of its output.
pub(super) fn card_of_output(entries: &[Entry], at: usize) -> Option<usize> {
    let Entry::Ran(ran) = entries.get(at)? else { return None };
    let before = entries.get(..at)?.iter().enumerate().rev();
    let of_step = before.take_while(|(_, entry)| matches!(entry, Entry::Tool(_) | Entry::Ran(_) | Entry::Status(_)));
    of_step.into_iter().find_map(|(at, entry)| match entry {
        Entry::Tool(tool) => match action_of(&tool.call)? {
            Action::Run { command, .. } if command == ran.line => Some(at),
            _ => None,
        },
        _ => None,
    })
}

/// What a call asks for; `None` if it is not valid.
pub(super) fn action_of(call: &ToolCall) -> Option<Action> {
    parse_call(call, &ToolSet::ALL).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::{CommandRun, ToolState, ToolUse};

    fn user(text: &str) -> Entry {
        Entry::User { text: text.into(), mode: Mode::Agent, answered: true }
    }

    fn answer(text: &str) -> Entry {
        let state = AnswerState::Complete;
        let (reasoning, edits, thinking) = (String::new(), Vec::new(), Vec::new());
        Entry::Answer(Answer { text: text.into(), reasoning, state, edits, thinking })
    }

    fn tool(step: usize, name: &str, arguments: &str) -> Entry {
        let call = ToolCall { name: name.into(), arguments: arguments.into(), ..ToolCall::default() };
        Entry::Tool(ToolUse {
            number: step,
            step,
            call,
            state: ToolState::Done,
            result: "one".into(),
            outcome: "1 line".into(),
            tokens: 3,
            ms: 0,
            is_dropped: false,
            is_pinned: false,
        })
    }

    fn ran(line: &str, state: RunState) -> Entry {
        let (head, tail) = (String::new(), "said".to_owned());
        Entry::Ran(CommandRun { run: 1, line: line.into(), state, seconds: 0, head, omitted: 0, tail })
    }

    fn views(entries: &[Entry], open: &[usize]) -> Vec<EntryView> {
        entry_views(entries, |at| open.contains(&at), |at| card_of_output(entries, at))
    }

    #[test]
    fn the_cards_of_a_step_follow_its_prose_without_empty_lines() {
        let entries =
            [user("go"), answer("First."), tool(1, "grep", "{}"), answer(""), tool(2, "grep", "{}"), answer("End.")];
        let views = views(&entries, &[]);
        assert_eq!(views.iter().map(|view| view.hidden).collect::<Vec<_>>(), [false, false, false, true, false, false]);
        assert_eq!(views.iter().map(|view| view.gap).collect::<Vec<_>>(), [true, false, false, true, true, true]);
    }

    #[test]
    fn the_output_of_a_command_belongs_to_its_card_and_goes_when_it_has_succeeded() {
        let failed = RunState::Ended(End::Exit(1));
        let run = || tool(1, "run", r#"{"command":"make"}"#);
        let entries = [run(), ran("make", failed), run(), tool(1, "grep", "{}"), ran("make", RunState::Running)];
        let all = views(&entries, &[]);
        assert_eq!([all[1].output, all[4].output], [OutputOf::CardAbove, OutputOf::EarlierCard]);
        assert!(!all[1].hidden && !all[4].hidden && !all[1].gap);
        assert!(views(&entries, &[0])[1].hidden, "the open card has the output");
        let entries = [run(), ran("make", RunState::Ended(End::Exit(0))), ran("ls", RunState::Ended(End::Exit(0)))];
        let all = views(&entries, &[]);
        assert!(all[1].hidden && !all[2].hidden && all[2].output == OutputOf::Nothing, "the user's own command stays");
    }

    #[test]
    fn the_steps_of_an_earlier_loop_are_folded_except_its_last_ones() {
        let mut entries = vec![user("go")];
        for step in 1..=10 {
            entries.extend([answer("I look."), tool(step, "grep", "{}")]);
        }
        entries.extend([answer("Done."), user("more")]);
        let folded = views(&entries, &[]);
        assert_eq!((folded[0].earlier_steps, folded[0].hidden), (7, false));
        assert!(folded[1..15].iter().all(|view| view.hidden) && folded[15..].iter().all(|view| !view.hidden));
        assert!(views(&entries, &[0]).iter().all(|view| !view.hidden));
        entries.pop();
        assert!(views(&entries, &[]).iter().all(|view| !view.hidden), "the last loop is shown");
    }
}
