//! `rhumb search --context`: the passages as a model reads them.

use serde_json::{Value, json};

use rhumb_index::repo_map::TagGraph;
use rhumb_index::retrieval::{Hit, Passage, Passages, Related, SourceFiles};
use rhumb_tokens::counter_for_model;

/// The passages for the hits of a question, within a budget in tokens.
pub(super) fn as_context(
    graph: &TagGraph,
    (question, hits): (&str, Vec<Hit>),
    sources: &SourceFiles<'_>,
    tokens: usize,
) -> Passages {
    let mut passages = Passages::default();
    passages.gather(graph, (question, hits), sources, tokens, &*counter_for_model(""));
    passages
}

/// The passages as JSON.
pub(super) fn context_json(passages: &Passages, budget: usize) -> Value {
    let passage = |passage: &Passage| {
        json!({
            "path": &*passage.path,
            "start_line": passage.line(),
            "end_line": passage.end_line(),
            "symbol": passage.symbol(),
            "container": passage.container(),
            "tokens": passage.tokens,
            "omitted_lines": passage.omitted,
        })
    };
    let related =
        |related: &Related| json!({"path": &*related.path, "line": related.line, "signature": related.signature});
    json!({
        "text": passages.render(),
        "budget": budget,
        "tokens": passages.tokens(),
        "passages": passages.list().iter().map(passage).collect::<Vec<_>>(),
        "related": passages.related().iter().map(related).collect::<Vec<_>>(),
    })
}
