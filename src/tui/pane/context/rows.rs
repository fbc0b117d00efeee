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
    /// The heading of a kind: how many chunks, and their tokens.
    Kind(&'static str, usize, usize),
}

/// The rows for a request.
pub fn rows(prompt: &Prompt, order: ContextOrder) -> Vec<ContextRow> {
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
    use crate::context::{Chunk, Role};

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
            let mut places: Vec<usize> = rows(&prompt(), order)
                .into_iter()
                .filter_map(|row| match row {
                    ContextRow::Chunk(place) => Some(place),
                    ContextRow::Kind(..) => None,
                })
                .collect();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3], "{}", order.title());
        }
    }

    #[test]
    fn kinds_stand_with_their_sums_the_heaviest_first() {
        let rows = rows(&prompt(), ContextOrder::ByKind);
        assert_eq!(rows[0], ContextRow::Kind("files to edit", 2, 80));
        assert_eq!(rows[1], ContextRow::Chunk(2), "the larger one");
        assert_eq!(rows[3], ContextRow::Kind("instructions", 2, 15));
    }
}
