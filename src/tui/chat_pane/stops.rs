//! The stops of the reading cursor: a whole message, or a block of an answer. They are computed from the text alone, so
//! that keys work before the next frame.

use rhumb_edit::{EditId, LineKind};

use super::answer::AnswerView;
use crate::tui::widget::markdown::Code;
use rhumb_session::{AnswerState, Entry};

/// One place to stand on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A message that is one thing.
    Message(String),
    /// What the model thought before its answer.
    Thoughts(String),
    /// A block of prose, as Markdown.
    Block(String),
    /// A code block.
    Code(Code),
    /// An edit.
    Card(EditCard),
}

/// An edit as its card knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EditCard {
    /// The file as the model wrote it.
    pub(crate) path: Option<String>,
    /// Its lines, with what happens to each.
    pub(crate) lines: Vec<(LineKind, String)>,
    /// Which edit of the session it is, once the edits of the answer were looked for.
    pub(crate) edit: Option<EditId>,
}

impl EditCard {
    /// The edit as a diff without numbers.
    fn as_diff(&self) -> String {
        let mark = |kind| match kind {
            LineKind::Insert => '+',
            LineKind::Delete => '-',
            LineKind::Keep | LineKind::Gap => ' ',
        };
        let lines = self.lines.iter().map(|(kind, text)| format!("{}{text}\n", mark(*kind)));
        lines.collect()
    }
}

impl Stop {
    /// What it says, for the clipboard.
    pub(crate) fn copied(&self) -> String {
        match self {
            Self::Message(text) | Self::Thoughts(text) | Self::Block(text) => text.clone(),
            Self::Code(code) => code.text.clone(),
            Self::Card(card) => card.as_diff(),
        }
    }

    /// What of it can be seen, for a search.
    pub(crate) fn searched(&self) -> &str {
        match self {
            Self::Message(text) | Self::Thoughts(text) | Self::Block(text) => text,
            Self::Code(code) => &code.text,
            Self::Card(card) => card.path.as_deref().unwrap_or_default(),
        }
    }

    /// The stop's noun, as the subject of a sentence.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Self::Message(_) => "The message",
            Self::Thoughts(_) => "What the model thought",
            Self::Block(_) => "The block",
            Self::Code(_) => "The code",
            Self::Card(_) => "The edit",
        }
    }
}

/// The stops of an entry, in order; at least one.
pub(crate) fn stops(entry: &Entry) -> Vec<Stop> {
    let Entry::Answer(answer) = entry else { return vec![Stop::Message(text_of(entry))] };
    let mut view = AnswerView::default();
    view.update(&answer.text, answer.state != AnswerState::Streaming);
    view.settle(&answer.text, &answer.edits);
    let thoughts = (!answer.reasoning.is_empty()).then(|| Stop::Thoughts(answer.reasoning.clone()));
    let mut stops: Vec<Stop> = thoughts.into_iter().chain(view.stops()).collect();
    if stops.is_empty() {
        stops.push(Stop::Message(answer.text.clone()));
    }
    stops
}

/// All that an entry says.
pub(crate) fn text_of(entry: &Entry) -> String {
    let with = |first: &str, rest: &str| if rest.is_empty() { first.to_owned() } else { format!("{first}\n{rest}") };
    match entry {
        Entry::User { text, .. } | Entry::FollowUp { text, .. } | Entry::Shared { text, .. } => text.clone(),
        Entry::Answer(answer) => answer.text.clone(),
        Entry::Status(notice) => with(&notice.text, &notice.hint),
        Entry::Ran(ran) => with(&format!("$ {}", ran.line), &ran.excerpt("")),
        Entry::Cleared => "not sent from here up".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhumb_session::Answer;

    const ANSWER: &str = "First **this**.\n\n- one\n- two\n\n```sh\ncargo test\n```\n\na.py\n```python\n<<<<<<< SEARCH\nkept\nold = 1\n=======\nkept\nnew = 2\n>>>>>>> REPLACE\n```\n";

    fn answer(text: &str, reasoning: &str) -> Entry {
        let state = AnswerState::Complete;
        Entry::Answer(Answer { text: text.into(), reasoning: reasoning.into(), state, edits: Vec::new() })
    }

    #[test]
    fn an_answer_has_a_stop_for_each_of_its_parts() {
        let found = stops(&answer(ANSWER, "hm"));
        let names: Vec<&str> = found.iter().map(Stop::noun).collect();
        assert_eq!(names, ["What the model thought", "The block", "The block", "The code", "The edit"]);
        assert_eq!(found[3].copied(), "cargo test");
        assert_eq!(found[4].searched(), "a.py");
    }

    #[test]
    fn there_is_always_a_place_to_stand_on() {
        assert_eq!(stops(&answer("", "")).len(), 1);
        assert_eq!(stops(&Entry::Cleared).len(), 1);
    }
}
