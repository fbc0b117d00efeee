//! Replaces the beginning of a long history by a summary.
//!
//! The end of the history is kept: whole turns, up to half of the limit. The rest is sent to a model in pieces that fit its
//! context window. A larger message is split between lines, so that nothing is left out even with a small window. The summaries
//! replace the beginning; if that is still too much, it is summarized again.
//!
//! A plan is made from a history, and applied when the summaries have arrived. If a summary is missing, or the beginning of the
//! history has changed meanwhile, the history stays as it is.

use super::assemble::TOKENS_PER_MESSAGE;
use super::budget::Window;
use super::fill::fill;
use super::prompts::Prompts;
use rhumb_llm::{Message, Role};
use rhumb_tokens::TokenCounter;

/// Maximum number of times that a history is summarized until it fits.
const MAX_ROUNDS: usize = 3;

/// Minimum size of a piece in tokens.
const MIN_PIECE_TOKENS: usize = 128;

/// Tokens for the overhead of a request.
const OVERHEAD_TOKENS: usize = 16;

/// English words per hundred tokens.
const WORDS_PER_HUNDRED_TOKENS: usize = 75;

/// The inputs of summaries.
#[derive(Clone, Copy)]
pub struct Folding<'a> {
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
    noted: String,
    /// How often the history has been summarized, including this time.
    time: usize,
}

/// The plan for a history above the limit; `None` if it is below, or if no request fits the context window.
pub fn summary(history: &[Message], folding: &Folding<'_>) -> Option<SummaryPlan> {
    planned(history, folding, 1)
}

impl SummaryPlan {
    /// The requests for the summaries of the pieces, oldest first. They are independent of each other.
    pub fn requests(&self) -> &[Vec<Message>] {
        &self.requests
    }

    /// The number of messages that are replaced.
    pub fn folded(&self) -> usize {
        self.head.len()
    }

    /// The history with the answers to [`SummaryPlan::requests`] in the place of its beginning. New messages at its end are
    /// kept.
    ///
    /// `None`, and the history stays as it is, if an answer is missing or empty, if the beginning of the history has changed
    /// since the plan was made, or if the summary is not shorter.
    pub fn applied(&self, history: &[Message], summaries: &[String]) -> Option<Vec<Message>> {
        let answered = summaries.len() == self.requests.len() && summaries.iter().all(|text| !text.trim().is_empty());
        let tail = history.strip_prefix(self.head.as_slice()).filter(|_| answered)?;
        let parts = std::iter::once(self.lead.as_str()).chain(summaries.iter().map(|text| text.trim()));
        let text = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
        let before: usize = self.head.iter().map(|message| message.content.len()).sum();
        if text.len() + self.noted.len() >= before {
            return None;
        }
        let mut folded = vec![Message::new(Role::User, text), Message::new(Role::Assistant, &self.noted)];
        folded.extend_from_slice(tail);
        Some(folded)
    }

    /// The plan for summarizing the result again; `None` if it is short enough or was summarized often enough.
    pub fn again(&self, applied: &[Message], folding: &Folding<'_>) -> Option<Self> {
        if self.time >= MAX_ROUNDS { None } else { planned(applied, folding, self.time + 1) }
    }
}

fn planned(history: &[Message], folding: &Folding<'_>, time: usize) -> Option<SummaryPlan> {
    let tokens: Vec<usize> =
        history.iter().map(|message| folding.counter.count(&message.content) + TOKENS_PER_MESSAGE).collect();
    if tokens.iter().sum::<usize>() <= folding.limit {
        return None;
    }
    let head = &history[..tail_start(history, &tokens, folding.limit / 2)];
    let about = instructions(folding, 1);
    let room = folding.window.max_input().checked_sub(folding.counter.count(&about) + OVERHEAD_TOKENS)?;
    // Together the parts may have more tokens than separately.
    let pieces = pieces(head, room - room / 16, folding.counter)?;
    let about = instructions(folding, pieces.len());
    let request = |piece| vec![Message::new(Role::System, &about), Message::new(Role::User, piece)];
    Some(SummaryPlan {
        head: head.to_vec(),
        requests: pieces.into_iter().map(request).collect(),
        lead: folding.prompts.text("summary-lead").to_owned(),
        noted: folding.prompts.text("noted").to_owned(),
        time,
    })
}

/// The start of the part that is kept: the earliest message of the user from which the history has at most `most` tokens; its
/// length if there is none.
fn tail_start(history: &[Message], tokens: &[usize], most: usize) -> usize {
    let mut start = history.len();
    let mut sum = 0;
    for (at, message) in history.iter().enumerate().rev() {
        sum += tokens[at];
        if sum > most {
            break;
        }
        if message.role == Role::User {
            start = at;
        }
    }
    start
}

/// Returns the prompt for a summary that is one of `of`. All summaries together should use a quarter of the limit.
fn instructions(folding: &Folding<'_>, of: usize) -> String {
    let words = (folding.limit / 4 * WORDS_PER_HUNDRED_TOKENS / 100 / of.max(1)).max(40).to_string();
    let text = fill(folding.prompts.text("summary"), &[("words", Some(&words))]);
    match folding.keep {
        "" => text,
        keep => format!("{}\n\nThe developer asks to keep this above all: {keep}", text.trim_end()),
    }
}

/// The messages as texts of at most `room` tokens. Each message is in one text, or in several adjacent ones if it is larger.
/// `None` if `room` is too small.
fn pieces(messages: &[Message], room: usize, counter: &dyn TokenCounter) -> Option<Vec<String>> {
    if room < MIN_PIECE_TOKENS {
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
        let room_of_part = room - counter.count(speaker) - 2;
        for part in parts(&told(message), room_of_part, counter) {
            let part = format!("{speaker}{part}\n\n");
            let tokens = counter.count(&part);
            match pieces.last_mut().filter(|_| tokens <= left) {
                Some(piece) => piece.push_str(&part),
                None => {
                    pieces.push(part);
                    left = room;
                }
            }
            left = left.saturating_sub(tokens);
        }
    }
    Some(pieces)
}

/// The text of a message, with the names of its images.
fn told(message: &Message) -> String {
    let images = message.images.iter().map(|image| format!("\n[picture: {}]", image.name));
    std::iter::once(message.content.clone()).chain(images).collect()
}

/// Splits a text into parts of at most `room` tokens, between lines, and within a line only if it is too long. The parts
/// concatenate to the text.
fn parts<'t>(text: &'t str, room: usize, counter: &dyn TokenCounter) -> Vec<&'t str> {
    if counter.count(text) <= room {
        return vec![text];
    }
    let mut parts = Vec::new();
    let (mut start, mut end, mut tokens) = (0, 0, 0);
    for line in text.split_inclusive('\n').flat_map(|line| short(line, room, counter)) {
        let more = counter.count(line);
        if tokens + more > room && end > start {
            parts.push(&text[start..end]);
            (start, tokens) = (end, 0);
        }
        end += line.len();
        tokens += more;
    }
    parts.push(&text[start..end]);
    parts
}

/// The line, or pieces with certainly at most `room` tokens: no tokenizer has more than two tokens per byte.
fn short<'t>(line: &'t str, room: usize, counter: &dyn TokenCounter) -> Vec<&'t str> {
    if counter.count(line) <= room {
        return vec![line];
    }
    let bytes = (room / 2).max(4);
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

    fn folding<'a>(prompts: &'a Prompts, limit: usize, tokens: usize, counter: &'a dyn TokenCounter) -> Folding<'a> {
        Folding { limit, window: Window { tokens, known: true }, prompts, counter, keep: "" }
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
        assert_eq!(summary(&history(&[("a", "b")]), &folding(&prompts, 100, 10_000, &Bytes)), None);
    }

    #[test]
    fn the_summary_takes_the_place_of_the_beginning() {
        let prompts = Prompts::default();
        let long = "x".repeat(300);
        let said = history(&[("first", &long), ("second", &long), ("third", "short")]);
        let plan = summary(&said, &folding(&prompts, 400, 10_000, &Bytes)).unwrap();
        assert_eq!((plan.folded(), plan.requests().len()), (4, 1));
        assert!(plan.requests()[0][1].content.starts_with("# The developer\nfirst\n\n# You\nxxx"));
        let mut grown = said;
        grown.extend(history(&[("fourth", "new")]));
        let folded = plan.applied(&grown, &["I asked for x.".into()]).unwrap();
        assert_eq!(folded[0].content, "What we have talked about so far, in short:\n\nI asked for x.");
        assert_eq!(folded[2..], grown[4..]);
    }

    #[test]
    fn what_the_developer_wants_to_keep_is_asked_for() {
        let prompts = Prompts::default();
        let said = history(&[("first", &"x".repeat(900)), ("second", "short")]);
        let keeping = Folding { keep: "the API decisions", ..folding(&prompts, 400, 10_000, &Bytes) };
        let asked = |folding: &Folding<'_>| summary(&said, folding).unwrap().requests()[0][0].content.clone();
        assert!(asked(&keeping).ends_with("above all: the API decisions"), "{}", asked(&keeping));
        assert!(!asked(&folding(&prompts, 400, 10_000, &Bytes)).contains("above all"));
    }

    #[test]
    fn without_an_answer_to_each_request_the_history_stays() {
        let prompts = Prompts::default();
        let long = "x".repeat(900);
        let said = history(&[("first", &long), ("second", "short")]);
        let plan = summary(&said, &folding(&prompts, 400, 10_000, &Bytes)).unwrap();
        for answers in [vec![], vec![String::new()], vec!["a".into(), "b".into()], vec!["y".repeat(2_000)]] {
            assert_eq!(plan.applied(&said, &answers), None);
        }
        assert_eq!(plan.applied(&said[2..], &["I asked.".into()]), None, "the beginning is another one");
    }

    #[test]
    fn a_summary_that_is_too_long_is_folded_again_and_not_for_ever() {
        let prompts = Prompts::default();
        let folding = folding(&prompts, 400, 10_000, &Bytes);
        let said = history(&[("first", &"x".repeat(4_000)), ("second", "short")]);
        let mut plan = summary(&said, &folding).unwrap();
        let mut now = said;
        let mut times = 1;
        loop {
            now = plan.applied(&now, &["y".repeat(3_000 - 700 * times)]).unwrap();
            let Some(next) = plan.again(&now, &folding) else { break };
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
                let folding = folding(&prompts, limit, tokens, counter);
                let Some(plan) = summary(&said, &folding) else { continue };
                let mut sent = String::new();
                for request in plan.requests() {
                    let size: usize = request.iter().map(|message| counter.count(&message.content) + 4).sum();
                    prop_assert!(size + 3 <= folding.window.max_input(), "{size}");
                    sent.push_str(&request[1].content);
                }
                let bare = |text: &str| text.replace("# The developer\n", "").replace("# You\n", "").replace('\n', "");
                let head: String = said[..plan.folded()].iter().map(|message| message.content.as_str()).collect();
                prop_assert_eq!(bare(&sent), bare(&head));
            }
        }

        #[test]
        fn the_tail_stays_word_for_word(said in long_history(), limit in 0usize..1_500) {
            let prompts = Prompts::default();
            let folding = folding(&prompts, limit, 3_000, &Bytes);
            let Some(plan) = summary(&said, &folding) else { return Ok(()) };
            let tail = &said[plan.folded()..];
            prop_assert!(tail.iter().map(|message| message.content.len() + 4).sum::<usize>() <= limit / 2);
            prop_assert!(tail.first().is_none_or(|first| first.role == Role::User));
            let answers = vec!["s".to_owned(); plan.requests().len()];
            if let Some(folded) = plan.applied(&said, &answers) {
                prop_assert_eq!(&folded[2..], tail);
            }
        }
    }
}
