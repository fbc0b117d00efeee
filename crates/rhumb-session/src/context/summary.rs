//! Replaces the beginning of a long history by a summary.
//!
//! The end of the history is kept: whole turns, up to half of the limit. The rest is sent to a model in pieces that fit its
//! context window. A larger message is split between lines, so that nothing is left out even with a small window. The summaries
//! replace the beginning; if that is still too much, it is summarized again.
//!
//! A plan is made from a history, and applied when the summaries have arrived. If a summary is missing, or the beginning of the
//! history has changed in the meantime, the history is not changed.

use super::assemble::TOKENS_PER_MESSAGE;
use super::budget::Window;
use super::prompts::{Prompts, fill};
use rhumb_llm::{Message, Role};
use rhumb_tokens::TokenCounter;

/// Maximum number of times that a history is summarized until it fits.
const MAX_ROUNDS: usize = 3;

const MIN_PIECE_TOKENS: usize = 128;

const OVERHEAD_TOKENS: usize = 16;

const WORDS_PER_HUNDRED_TOKENS: usize = 75;

/// The inputs of summaries.
#[derive(Clone, Copy)]
pub struct SummaryInputs<'a> {
    /// Maximum tokens of the history.
    pub limit: usize,
    /// The context window of the model that writes the summary.
    pub window: Window,
    /// The prompts.
    pub prompts: &'a Prompts,
    /// The token counter of that model, or of a similar one.
    pub counter: &'a dyn TokenCounter,
    /// What the user wants to keep in the summary; may be empty.
    pub keep: &'a str,
}

/// The tokens of a history in a request.
pub fn history_tokens(history: &[Message], counter: &dyn TokenCounter) -> usize {
    history.iter().map(|message| counter.count(&message.content) + TOKENS_PER_MESSAGE).sum()
}

/// The plan of a summary: the requests, and how to apply the answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryPlan {
    /// The messages that are replaced by the summaries.
    head: Vec<Message>,
    requests: Vec<Vec<Message>>,
    lead: String,
    acknowledgement: String,
    /// The number of this round, 1-based. Each round summarizes the result of the previous one.
    round: usize,
}

/// The plan for a history above the limit; `None` if it is below, or if no request fits the context window.
pub fn summary(history: &[Message], inputs: &SummaryInputs<'_>) -> Option<SummaryPlan> {
    plan_round(history, inputs, 1)
}

impl SummaryPlan {
    /// The requests for the summaries of the pieces, oldest first. They are independent of each other.
    pub fn requests(&self) -> &[Vec<Message>] {
        &self.requests
    }

    /// The number of messages that are replaced.
    pub fn replaced_messages(&self) -> usize {
        self.head.len()
    }

    /// The history with the answers to [`SummaryPlan::requests`] in the place of its beginning. New messages at its end are
    /// kept.
    ///
    /// Returns `None` without changing the history if an answer is missing or empty, if the beginning of the history has changed
    /// since the plan was made, or if the summary is not shorter.
    pub fn applied(&self, history: &[Message], summaries: &[String]) -> Option<Vec<Message>> {
        let answered = summaries.len() == self.requests.len() && summaries.iter().all(|text| !text.trim().is_empty());
        let tail = history.strip_prefix(self.head.as_slice()).filter(|_| answered)?;
        let parts = std::iter::once(self.lead.as_str()).chain(summaries.iter().map(|text| text.trim()));
        let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        let before: usize = self.head.iter().map(|message| message.content.len()).sum();
        if text.len() + self.acknowledgement.len() >= before {
            return None;
        }
        let mut shortened = vec![Message::new(Role::User, text), Message::new(Role::Assistant, &self.acknowledgement)];
        shortened.extend_from_slice(tail);
        Some(shortened)
    }

    /// The plan for summarizing the result again; `None` if it is short enough or was summarized often enough.
    pub fn next_round(&self, applied: &[Message], inputs: &SummaryInputs<'_>) -> Option<Self> {
        if self.round >= MAX_ROUNDS { None } else { plan_round(applied, inputs, self.round + 1) }
    }
}

fn plan_round(history: &[Message], inputs: &SummaryInputs<'_>, round: usize) -> Option<SummaryPlan> {
    let tokens: Vec<usize> =
        history.iter().map(|message| inputs.counter.count(&message.content) + TOKENS_PER_MESSAGE).collect();
    if tokens.iter().sum::<usize>() <= inputs.limit {
        return None;
    }
    let head = &history[..tail_start(history, &tokens, inputs.limit / 2)];
    let prompt = instructions(inputs, 1);
    let max_tokens = inputs.window.max_input().checked_sub(inputs.counter.count(&prompt) + OVERHEAD_TOKENS)?;
    // Together the parts may have more tokens than separately.
    let pieces = pieces(head, max_tokens - max_tokens / 16, inputs.counter)?;
    let prompt = instructions(inputs, pieces.len());
    let request = |piece| vec![Message::new(Role::System, &prompt), Message::new(Role::User, piece)];
    Some(SummaryPlan {
        head: head.to_vec(),
        requests: pieces.into_iter().map(request).collect(),
        lead: inputs.prompts.text("summary-lead").to_owned(),
        acknowledgement: inputs.prompts.text("noted").to_owned(),
        round,
    })
}

/// The start of the part that is kept: the earliest message of the user from which the history has at most `max` tokens; its
/// length if there is none.
fn tail_start(history: &[Message], tokens: &[usize], max: usize) -> usize {
    let mut start = history.len();
    let mut sum = 0;
    for (at, message) in history.iter().enumerate().rev() {
        sum += tokens[at];
        if sum > max {
            break;
        }
        if message.role == Role::User {
            start = at;
        }
    }
    start
}

/// Returns the prompt for a summary that is one of `of`. All summaries together should use a quarter of the limit.
fn instructions(inputs: &SummaryInputs<'_>, of: usize) -> String {
    let words = (inputs.limit / 4 * WORDS_PER_HUNDRED_TOKENS / 100 / of.max(1)).max(40).to_string();
    let text = fill(inputs.prompts.text("summary"), &[("words", Some(&words))]);
    match inputs.keep {
        "" => text,
        keep => format!("{}\n\nThe developer asks to keep this above all: {keep}", text.trim_end()),
    }
}

/// The messages as texts of at most `max_tokens` tokens. Each message is in one text, or in several adjacent ones if it is larger.
/// `None` if `max_tokens` is too small.
fn pieces(messages: &[Message], max_tokens: usize, counter: &dyn TokenCounter) -> Option<Vec<String>> {
    if max_tokens < MIN_PIECE_TOKENS {
        return None;
    }
    let mut pieces: Vec<String> = Vec::new();
    let mut left = 0;
    for message in messages {
        let speaker = match message.role {
            Role::User => "# The developer\n",
            Role::Assistant => "# You\n",
            Role::System => "# Instructions\n",
        };
        let max_part_tokens = max_tokens - counter.count(speaker) - 2;
        for part in parts(&text_with_images(message), max_part_tokens, counter) {
            let part = format!("{speaker}{part}\n\n");
            let tokens = counter.count(&part);
            match pieces.last_mut().filter(|_| tokens <= left) {
                Some(piece) => piece.push_str(&part),
                None => {
                    pieces.push(part);
                    left = max_tokens;
                }
            }
            left = left.saturating_sub(tokens);
        }
    }
    Some(pieces)
}

fn text_with_images(message: &Message) -> String {
    let images = message.images.iter().map(|image| format!("\n[picture: {}]", image.name));
    std::iter::once(message.content.clone()).chain(images).collect()
}

/// Splits a text into parts of at most `max_tokens` tokens, between lines, and within a line only if it is too long. The parts
/// concatenate to the text.
fn parts<'t>(text: &'t str, max_tokens: usize, counter: &dyn TokenCounter) -> Vec<&'t str> {
    if counter.count(text) <= max_tokens {
        return vec![text];
    }
    let mut parts = Vec::new();
    let (mut start, mut end, mut tokens) = (0, 0, 0);
    for line in text.split_inclusive('\n').flat_map(|line| split_line(line, max_tokens, counter)) {
        let more = counter.count(line);
        if tokens + more > max_tokens && end > start {
            parts.push(&text[start..end]);
            (start, tokens) = (end, 0);
        }
        end += line.len();
        tokens += more;
    }
    parts.push(&text[start..end]);
    parts
}

/// Splits a line into pieces of at most `max_tokens` tokens. No tokenizer has more than two tokens per byte.
fn split_line<'t>(line: &'t str, max_tokens: usize, counter: &dyn TokenCounter) -> Vec<&'t str> {
    if counter.count(line) <= max_tokens {
        return vec![line];
    }
    let bytes = (max_tokens / 2).max(4);
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(bytes));
        pieces.push(piece);
        rest = more;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rhumb_tokens::counter_for_model;

    struct Bytes;

    impl TokenCounter for Bytes {
        fn count(&self, text: &str) -> usize {
            text.len()
        }

        fn exact(&self) -> bool {
            true
        }
    }

    fn inputs<'a>(
        prompts: &'a Prompts,
        limit: usize,
        tokens: usize,
        counter: &'a dyn TokenCounter,
    ) -> SummaryInputs<'a> {
        SummaryInputs { limit, window: Window { tokens, known: true }, prompts, counter, keep: "" }
    }

    fn history(turns: &[(&str, &str)]) -> Vec<Message> {
        let turn = |(question, answer): &(&str, &str)| {
            [Message::new(Role::User, *question), Message::new(Role::Assistant, *answer)]
        };
        turns.iter().flat_map(turn).collect()
    }

    #[test]
    fn a_history_within_the_limit_stays() {
        let prompts = Prompts::default();
        assert_eq!(summary(&history(&[("a", "b")]), &inputs(&prompts, 100, 10_000, &Bytes)), None);
    }

    #[test]
    fn the_summary_replaces_the_beginning() {
        let prompts = Prompts::default();
        let long = "x".repeat(300);
        let said = history(&[("first", &long), ("second", &long), ("third", "short")]);
        let plan = summary(&said, &inputs(&prompts, 400, 10_000, &Bytes)).unwrap();
        assert_eq!((plan.replaced_messages(), plan.requests().len()), (4, 1));
        assert!(plan.requests()[0][1].content.starts_with("# The developer\nfirst\n\n# You\nxxx"));
        let mut grown = said;
        grown.extend(history(&[("fourth", "new")]));
        let folded = plan.applied(&grown, &["I asked for x.".into()]).unwrap();
        assert_eq!(folded[0].content, "What we have talked about so far, in short:\n\nI asked for x.");
        assert_eq!(folded[2..], grown[4..]);
    }

    #[test]
    fn the_request_for_a_summary_names_what_to_keep() {
        let prompts = Prompts::default();
        let said = history(&[("first", &"x".repeat(900)), ("second", "short")]);
        let with_wish = SummaryInputs { keep: "the API decisions", ..inputs(&prompts, 400, 10_000, &Bytes) };
        let asked = |inputs: &SummaryInputs<'_>| summary(&said, inputs).unwrap().requests()[0][0].content.clone();
        assert!(asked(&with_wish).ends_with("above all: the API decisions"), "{}", asked(&with_wish));
        assert!(!asked(&inputs(&prompts, 400, 10_000, &Bytes)).contains("above all"));
    }

    #[test]
    fn without_an_answer_to_each_request_the_history_stays() {
        let prompts = Prompts::default();
        let long = "x".repeat(900);
        let said = history(&[("first", &long), ("second", "short")]);
        let plan = summary(&said, &inputs(&prompts, 400, 10_000, &Bytes)).unwrap();
        for answers in [vec![], vec![String::new()], vec!["a".into(), "b".into()], vec!["y".repeat(2_000)]] {
            assert_eq!(plan.applied(&said, &answers), None);
        }
        assert_eq!(plan.applied(&said[2..], &["I asked.".into()]), None, "the beginning is another one");
    }

    #[test]
    fn a_summary_that_is_too_long_is_summarized_again_up_to_a_limit() {
        let prompts = Prompts::default();
        let inputs = inputs(&prompts, 400, 10_000, &Bytes);
        let said = history(&[("first", &"x".repeat(4_000)), ("second", "short")]);
        let mut plan = summary(&said, &inputs).unwrap();
        let mut now = said;
        let mut times = 1;
        loop {
            now = plan.applied(&now, &["y".repeat(3_000 - 700 * times)]).unwrap();
            let Some(next) = plan.next_round(&now, &inputs) else { break };
            (plan, times) = (next, times + 1);
        }
        assert_eq!(times, MAX_ROUNDS);
        assert_eq!(now.last().unwrap().content, "short");
    }

    prop_compose! {
        fn long_history()(turns in prop::collection::vec(("[a-z \\n]{0,90}", "(\\PC|[a-z\\n]){0,400}"), 1..8)) -> Vec<Message> {
            let turns: Vec<_> = turns.iter().map(|(question, answer)| (question.as_str(), answer.as_str())).collect();
            history(&turns)
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_everything_fits(said in long_history(), limit in 0usize..1_500, tokens in 100usize..3_000) {
            let prompts = Prompts::default();
            let counter = counter_for_model("gpt-4o");
            for counter in [&Bytes as &dyn TokenCounter, &*counter] {
                let inputs = inputs(&prompts, limit, tokens, counter);
                let Some(plan) = summary(&said, &inputs) else { continue };
                let mut sent = String::new();
                for request in plan.requests() {
                    let size: usize = request.iter().map(|message| counter.count(&message.content) + 4).sum();
                    prop_assert!(size + 3 <= inputs.window.max_input(), "{size}");
                    sent.push_str(&request[1].content);
                }
                let bare = |text: &str| text.replace("# The developer\n", "").replace("# You\n", "").replace('\n', "");
                let head: String = said[..plan.replaced_messages()].iter().map(|message| message.content.as_str()).collect();
                prop_assert_eq!(bare(&sent), bare(&head));
            }
        }

        #[test]
        fn the_tail_stays_word_for_word(said in long_history(), limit in 0usize..1_500) {
            let prompts = Prompts::default();
            let inputs = inputs(&prompts, limit, 3_000, &Bytes);
            let Some(plan) = summary(&said, &inputs) else { return Ok(()) };
            let tail = &said[plan.replaced_messages()..];
            prop_assert!(tail.iter().map(|message| message.content.len() + 4).sum::<usize>() <= limit / 2);
            prop_assert!(tail.first().is_none_or(|first| first.role == Role::User));
            let answers = vec!["s".to_owned(); plan.requests().len()];
            if let Some(folded) = plan.applied(&said, &answers) {
                prop_assert_eq!(&folded[2..], tail);
            }
        }
    }
}
