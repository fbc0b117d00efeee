//! Fits a request into the context window by leaving sections out in a fixed order, and reports what was left out.
//!
//! The repo map is reduced first, in steps down to nothing, because the user did not choose its content; then the reminder is
//! left out; then related definitions and passages, worst first; then the oldest turns, if the caller allows it. If the request
//! still does not fit, it is returned complete, with the choices that are left ([`OversizedRequest`]).
//!
//! With fixed budgets, a larger window never sends less: each stage begins only when the previous one is exhausted, and no
//! stage returns space that another has freed.

use super::assemble::{ContextInputs, Cuts, TOKENS_PER_MESSAGE, assemble_cut};
use super::budget::MAP_STEP_TOKENS;
use super::chunks::{chunks_within, written_chunks};
use super::excerpt::largest_fitting;
use super::prompt::{DroppableFile, Omission, OversizedRequest, Prompt, SectionKind};
use rhumb_index::retrieval::related_text;
use rhumb_llm::{Message, Role};
use rhumb_tokens::TokenCounter;

/// Assembles a request that fits. `map` makes the repo map for a budget in tokens, including 0; it is called again with less if
/// the map exceeds the budget.
///
/// If the window is only assumed, the map and the reminder may be left out, but no turn and no file.
pub fn fit(inputs: &ContextInputs<'_>, counter: &dyn TokenCounter, map: &mut dyn FnMut(usize) -> String) -> Prompt {
    // Passages beyond their budget are not sent at all.
    let planned = chunks_within(inputs.passages, inputs.plan.passages, counter);
    let related = !related_fit(inputs, planned, counter);
    let mut cuts = Cuts { passages: Some(planned), related, ..Cuts::default() };
    let bare = assemble_cut(inputs, "", cuts, counter);
    if bare.excess() == 0 {
        let mut prompt = with_map(inputs, counter, &bare, cuts, map);
        prompt.omitted.extend(passages_left_out(inputs, planned));
        return prompt;
    }
    map(0);
    let mut omitted = Vec::new();
    if inputs.plan.map > 0 {
        omitted.push(Omission::RepoMap { planned: inputs.plan.map, given: 0 });
    }
    let has_reminder = bare.sections.iter().any(|section| section.kind == SectionKind::Reminder);
    let mut prompt = bare;
    if has_reminder {
        cuts.reminder = true;
        omitted.push(Omission::Reminder);
        prompt = assemble_cut(inputs, "", cuts, counter);
    }
    if prompt.excess() > 0 && planned > 0 {
        cuts.related = true;
        let fitting = max_passages(inputs, cuts, planned, counter);
        cuts.passages = Some(fitting);
        prompt = assemble_cut(inputs, "", cuts, counter);
    }
    omitted.extend(passages_left_out(inputs, cuts.passages.unwrap_or_default()));
    if prompt.excess() > 0 && inputs.window.known {
        let (head, suffices) = droppable_head(inputs, &prompt, counter);
        if head > 0 && inputs.may_drop_history && suffices {
            cuts.head = head;
            omitted.push(Omission::History { messages: head, tokens: tokens_of(&inputs.history[..head], counter) });
            prompt = assemble_cut(inputs, "", cuts, counter);
        } else {
            prompt.oversized = Some(OversizedRequest {
                excess: prompt.excess(),
                head,
                head_suffices: suffices,
                droppable_files: droppable_files(&prompt),
            });
        }
    }
    prompt.omitted = omitted;
    prompt
}

/// Whether related definitions fit in addition to all passages.
fn related_fit(inputs: &ContextInputs<'_>, planned: usize, counter: &dyn TokenCounter) -> bool {
    let related = counter.count(&related_text(inputs.related));
    planned == inputs.passages.len()
        && counter.count(&written_chunks(inputs.passages)) + related <= inputs.plan.passages
}

/// The largest number of passages, up to `planned`, with which the request fits; 0 if it does not fit without any.
fn max_passages(inputs: &ContextInputs<'_>, cuts: Cuts, planned: usize, counter: &dyn TokenCounter) -> usize {
    let fits = |count| assemble_cut(inputs, "", Cuts { passages: Some(count), ..cuts }, counter).excess() == 0;
    largest_fitting(planned, fits)
}

fn passages_left_out(inputs: &ContextInputs<'_>, shown: usize) -> Option<Omission> {
    let of = inputs.passages.len();
    (shown < of).then(|| Omission::Passages { left_out: of - shown, of })
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
    let overhead = assemble_cut(inputs, "\n", cuts, counter).tokens.saturating_sub(bare.tokens);
    let available = inputs.window.max_input().saturating_sub(bare.tokens + bare.error + overhead);
    let mut given = if available >= planned { planned } else { available / MAP_STEP_TOKENS * MAP_STEP_TOKENS };
    loop {
        let text = map(given);
        let mut prompt = assemble_cut(inputs, &text, cuts, counter);
        if prompt.excess() == 0 || given == 0 {
            // A map for budget 0 should be empty; otherwise it is left out.
            if prompt.excess() > 0 {
                prompt = assemble_cut(inputs, "", cuts, counter);
            }
            if given < planned {
                prompt.omitted.push(Omission::RepoMap { planned, given });
            }
            return prompt;
        }
        given = given.saturating_sub(1) / MAP_STEP_TOKENS * MAP_STEP_TOKENS;
    }
}

/// The number of messages to drop at the beginning of the history, and whether that suffices. Whole turns are dropped, so that
/// the rest begins with a message of the user.
fn droppable_head(inputs: &ContextInputs<'_>, prompt: &Prompt, counter: &dyn TokenCounter) -> (usize, bool) {
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
fn droppable_files(prompt: &Prompt) -> Vec<DroppableFile> {
    let files = prompt.sections.iter().filter(|section| section.kind.path().is_some());
    let mut files: Vec<DroppableFile> =
        files.map(|section| DroppableFile { path: section.title.clone(), tokens: section.tokens }).collect();
    files.sort_by(|a, b| b.tokens.cmp(&a.tokens).then_with(|| a.path.cmp(&b.path)));
    files
}
