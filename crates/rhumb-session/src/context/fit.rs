//! Fits a request into the context window by leaving sections out in a fixed order, and reports what was left out.
//!
//! The repo map is reduced first, in steps down to nothing, because the user did not choose its content; then the reminder is
//! left out; then related definitions and passages, worst first; then the oldest turns, if the caller allows it. If the request
//! still does not fit, it is returned complete, with possible choices ([`Overfull`]).
//!
//! With fixed budgets, a larger window never sends less: each stage begins only when the previous one is exhausted, and no
//! stage returns space that another has freed.

use super::assemble::{ContextInputs, Cuts, TOKENS_PER_MESSAGE, assemble_cut};
use super::budget::MAP_STEP_TOKENS;
use super::chunk::ChunkKind;
use super::excerpt::longest;
use super::passages::{all_written, within};
use super::prompt::Prompt;
use super::trim::{Candidate, Overfull, Trimmed};
use rhumb_index::retrieval::related_text;
use rhumb_llm::{Message, Role};
use rhumb_tokens::TokenCounter;

/// Assembles a request that fits. `map` makes the repo map for a budget in tokens, including 0; it is called again with less if
/// the map exceeds the budget.
///
/// If the window is only assumed, the map and the reminder may be left out, but no turn and no file.
pub fn fit(inputs: &ContextInputs<'_>, counter: &dyn TokenCounter, map: &mut dyn FnMut(usize) -> String) -> Prompt {
    // Passages beyond their budget are not sent at all.
    let planned = within(inputs.passages, inputs.plan.passages, counter);
    let related = !has_room_for_related(inputs, planned, counter);
    let mut cuts = Cuts { passages: Some(planned), related, ..Cuts::default() };
    let bare = assemble_cut(inputs, "", cuts, counter);
    if bare.excess() == 0 {
        let mut prompt = with_map(inputs, counter, &bare, cuts, map);
        prompt.trimmed.extend(passages_left_out(inputs, planned));
        return prompt;
    }
    map(0);
    let mut trimmed = Vec::new();
    if inputs.plan.map > 0 {
        trimmed.push(Trimmed::RepoMap { planned: inputs.plan.map, given: 0 });
    }
    let reminded = bare.chunks.iter().any(|chunk| chunk.kind == ChunkKind::Reminder);
    let mut prompt = bare;
    if reminded {
        cuts.reminder = true;
        trimmed.push(Trimmed::Reminder);
        prompt = assemble_cut(inputs, "", cuts, counter);
    }
    if prompt.excess() > 0 && planned > 0 {
        cuts.related = true;
        let fitting = most_passages(inputs, cuts, planned, counter);
        cuts.passages = Some(fitting);
        prompt = assemble_cut(inputs, "", cuts, counter);
    }
    trimmed.extend(passages_left_out(inputs, cuts.passages.unwrap_or_default()));
    if prompt.excess() > 0 && inputs.window.known {
        let (head, suffices) = head_to_go(inputs, &prompt, counter);
        if head > 0 && inputs.may_forget && suffices {
            cuts.head = head;
            trimmed.push(Trimmed::History { messages: head, tokens: tokens_of(&inputs.history[..head], counter) });
            prompt = assemble_cut(inputs, "", cuts, counter);
        } else {
            prompt.overfull = Some(Overfull {
                excess: prompt.excess(),
                head,
                head_suffices: suffices,
                candidates: candidates(&prompt),
            });
        }
    }
    prompt.trimmed = trimmed;
    prompt
}

/// Whether related definitions fit in addition to all passages.
fn has_room_for_related(inputs: &ContextInputs<'_>, planned: usize, counter: &dyn TokenCounter) -> bool {
    let related = counter.count(&related_text(inputs.related));
    planned == inputs.passages.len() && counter.count(&all_written(inputs.passages)) + related <= inputs.plan.passages
}

/// The largest number of passages, up to `planned`, with which the request fits; 0 if it does not fit without any.
fn most_passages(inputs: &ContextInputs<'_>, cuts: Cuts, planned: usize, counter: &dyn TokenCounter) -> usize {
    let fits = |most| assemble_cut(inputs, "", Cuts { passages: Some(most), ..cuts }, counter).excess() == 0;
    longest(planned, fits)
}

fn passages_left_out(inputs: &ContextInputs<'_>, shown: usize) -> Option<Trimmed> {
    let of = inputs.passages.len();
    (shown < of).then(|| Trimmed::Passages { left_out: of - shown, of })
}

/// The request with the largest map that fits.
fn with_map(
    inputs: &ContextInputs<'_>,
    counter: &dyn TokenCounter,
    bare: &Prompt,
    cuts: Cuts,
    map: &mut dyn FnMut(usize) -> String,
) -> Prompt {
    let planned = inputs.plan.map;
    // The introduction of the map and the overhead of its messages.
    let frame = assemble_cut(inputs, "\n", cuts, counter).tokens.saturating_sub(bare.tokens);
    let room = inputs.window.max_input().saturating_sub(bare.tokens + bare.error + frame);
    let mut given = if room >= planned { planned } else { room / MAP_STEP_TOKENS * MAP_STEP_TOKENS };
    loop {
        let text = map(given);
        let mut prompt = assemble_cut(inputs, &text, cuts, counter);
        if prompt.excess() == 0 || given == 0 {
            // A map for budget 0 should be empty; otherwise it is left out.
            if prompt.excess() > 0 {
                prompt = assemble_cut(inputs, "", cuts, counter);
            }
            if given < planned {
                prompt.trimmed.push(Trimmed::RepoMap { planned, given });
            }
            return prompt;
        }
        given = given.saturating_sub(1) / MAP_STEP_TOKENS * MAP_STEP_TOKENS;
    }
}

/// The number of messages to drop at the beginning of the history, and whether that suffices. Whole turns are dropped, so that
/// the rest begins with a message of the user.
fn head_to_go(inputs: &ContextInputs<'_>, prompt: &Prompt, counter: &dyn TokenCounter) -> (usize, bool) {
    let history = inputs.history;
    let begins_turn = |at: &usize| history.get(*at).is_none_or(|message| message.role == Role::User);
    let ends = (1..=history.len()).filter(begins_turn);
    for head in ends {
        if tokens_of(&history[..head], counter) >= prompt.excess() {
            let cuts = Cuts { reminder: true, passages: Some(0), related: true, head };
            if assemble_cut(inputs, "", cuts, counter).excess() == 0 {
                return (head, true);
            }
        }
    }
    (history.len(), false)
}

/// A lower bound of the tokens of these messages.
fn tokens_of(messages: &[Message], counter: &dyn TokenCounter) -> usize {
    messages.iter().map(|message| counter.count(&message.content) + TOKENS_PER_MESSAGE).sum()
}

/// The files of a request, largest first.
fn candidates(prompt: &Prompt) -> Vec<Candidate> {
    let files = prompt.chunks.iter().filter(|chunk| chunk.kind.path().is_some());
    let mut files: Vec<Candidate> =
        files.map(|chunk| Candidate { path: chunk.title.clone(), tokens: chunk.tokens }).collect();
    files.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.path.cmp(&b.path)));
    files
}
