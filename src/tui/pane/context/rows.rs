//! The rows of the context pane: the chunks of the next request in one of several orders.

use crate::context::{ChunkKind, Prompt};

/// How the chunks are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContextOrder {
    /// As they will be sent.
    #[default]
    AsSent,
    /// The largest first.
    BySize,
    /// By what they are, each kind with its sum.
    ByKind,
}

impl ContextOrder {
    /// The one that comes after it.
    pub fn next(self) -> Self {
        match self {
            Self::AsSent => Self::BySize,
            Self::BySize => Self::ByKind,
            Self::ByKind => Self::AsSent,
        }
    }

    /// What to call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::AsSent => "as sent",
            Self::BySize => "by size",
            Self::ByKind => "by kind",
        }
    }
}

/// One row of the context pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextRow {
    /// A chunk, by its place in the request.
    Chunk(usize),
    /// One of the passages of the repository, by its place among them.
    Passage(usize),
    /// The heading of a kind: how many chunks, and their tokens.
    Kind(&'static str, usize, usize),
}

/// The rows for a request; `open` if the passages of the repository stand below their chunk, one by one.
pub fn rows(prompt: &Prompt, order: ContextOrder, open: bool) -> Vec<ContextRow> {
    let is_passages = |row: &ContextRow| match row {
        ContextRow::Chunk(place) => prompt.chunks.get(*place).is_some_and(|chunk| chunk.kind == ChunkKind::Passages),
        _ => false,
    };
    let below = |row: &ContextRow| if open && is_passages(row) { 0..prompt.passages.len() } else { 0..0 };
    let with_below = |row: ContextRow| std::iter::once(row).chain(below(&row).map(ContextRow::Passage));
    chunks(prompt, order).into_iter().flat_map(with_below).collect()
}

fn chunks(prompt: &Prompt, order: ContextOrder) -> Vec<ContextRow> {
    let mut places: Vec<usize> = (0..prompt.chunks.len()).collect();
    let tokens = |place: &usize| prompt.chunks.get(*place).map_or(0, |chunk| chunk.tokens);
    match order {
        ContextOrder::AsSent => {}
        ContextOrder::BySize => places.sort_by_key(|place| std::cmp::Reverse(tokens(place))),
        ContextOrder::ByKind => return by_kind(prompt),
    }
    places.into_iter().map(ContextRow::Chunk).collect()
}

fn by_kind(prompt: &Prompt) -> Vec<ContextRow> {
    let mut kinds: Vec<(&'static str, Vec<usize>)> = Vec::new();
    for (place, chunk) in prompt.chunks.iter().enumerate() {
        let kind = kind(&chunk.kind);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, places)) => places.push(place),
            None => kinds.push((kind, vec![place])),
        }
    }
    let tokens = |place: &usize| prompt.chunks.get(*place).map_or(0, |chunk| chunk.tokens);
    let sum = |places: &[usize]| places.iter().map(tokens).sum::<usize>();
    kinds.sort_by_key(|(_, places)| std::cmp::Reverse(sum(places)));
    let row = |(kind, mut places): (&'static str, Vec<usize>)| {
        places.sort_by_key(|place| std::cmp::Reverse(tokens(place)));
        let heading = ContextRow::Kind(kind, places.len(), sum(&places));
        std::iter::once(heading).chain(places.into_iter().map(ContextRow::Chunk)).collect::<Vec<_>>()
    };
    kinds.into_iter().flat_map(row).collect()
}

/// What a chunk is, in the plural of the user's words.
fn kind(kind: &ChunkKind) -> &'static str {
    match kind {
        ChunkKind::System | ChunkKind::Examples | ChunkKind::Reminder => "instructions",
        ChunkKind::ReadOnlyFile(_) => "files for reference",
        ChunkKind::RepoMap => "repo map",
        ChunkKind::Passages => "passages",
        ChunkKind::History => "history",
        ChunkKind::ChatFile(_) => "files to edit",
        ChunkKind::Image(_) => "pictures",
        ChunkKind::Current => "this request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Chunk, PassagePlace, SentPassage};
    use rhumb_llm::Role;

    fn prompt() -> Prompt {
        let chunk = |kind: ChunkKind, tokens: usize| Chunk {
            title: kind.name().into(),
            kind,
            role: Role::User,
            message: 0,
            tokens,
            text: String::new(),
            cached: false,
        };
        let chunks = vec![
            chunk(ChunkKind::System, 10),
            chunk(ChunkKind::ChatFile("a".into()), 30),
            chunk(ChunkKind::ChatFile("b".into()), 50),
            chunk(ChunkKind::Reminder, 5),
        ];
        Prompt { chunks, ..Prompt::default() }
    }

    #[test]
    fn the_orders_show_every_chunk_once() {
        for order in [ContextOrder::AsSent, ContextOrder::BySize, ContextOrder::ByKind] {
            let mut places: Vec<usize> = rows(&prompt(), order, true)
                .into_iter()
                .filter_map(|row| match row {
                    ContextRow::Chunk(place) => Some(place),
                    _ => None,
                })
                .collect();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3], "{}", order.title());
        }
    }

    #[test]
    fn passages_stand_below_their_chunk_when_they_are_open() {
        let mut prompt = prompt();
        prompt.chunks[0].kind = ChunkKind::Passages;
        let place =
            |line| PassagePlace { path: "a".into(), line, end_line: line, anchor: None, turn: 1, rank: line, hash: 0 };
        prompt.passages = [1, 9].map(|line| SentPassage { place: place(line), tokens: 5 }).into();
        let open = rows(&prompt, ContextOrder::AsSent, true);
        let below = [ContextRow::Chunk(0), ContextRow::Passage(0), ContextRow::Passage(1), ContextRow::Chunk(1)];
        assert_eq!(open[..4], below);
        assert_eq!(rows(&prompt, ContextOrder::AsSent, false)[..2], [ContextRow::Chunk(0), ContextRow::Chunk(1)]);
        let last = rows(&prompt, ContextOrder::BySize, true);
        assert_eq!(last[2..5], [ContextRow::Chunk(0), ContextRow::Passage(0), ContextRow::Passage(1)]);
    }

    #[test]
    fn kinds_stand_with_their_sums_the_heaviest_first() {
        let rows = rows(&prompt(), ContextOrder::ByKind, false);
        assert_eq!(rows[0], ContextRow::Kind("files to edit", 2, 80));
        assert_eq!(rows[1], ContextRow::Chunk(2), "the larger one");
        assert_eq!(rows[3], ContextRow::Kind("instructions", 2, 15));
    }
}
