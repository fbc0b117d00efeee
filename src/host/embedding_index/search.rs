//! Searches the repository for passages: by words, by embeddings, or by both.

use super::{IndexError, PassageVectors};
use crate::host::{Host, Survey, lock};
use futures::FutureExt as _;
use rhumb_index::repo_map::TagGraph;
use rhumb_index::retrieval::{Hit, OVERFETCH, Question, SearchWeights, definitions_first, fused, search};
use rhumb_llm::embed::{Embedder, TextKind};
use std::sync::Arc;

/// How passages are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchMode {
    /// By words.
    #[default]
    Lexical,
    /// By embeddings.
    Semantic,
    /// By both.
    Hybrid,
}

/// Searches a surveyed repository by words. The best passages come first. Computes for milliseconds.
pub fn search_survey(survey: &Survey, question: &Question) -> Vec<Hit> {
    search_graph(&survey.graph, question)
}

/// As [`search_survey`], by embeddings or by both. `vector` is that of the question, by the same model as `vectors`.
pub fn search_with_vector(
    survey: &Survey,
    question: &Question,
    (vectors, vector): (&PassageVectors, &[f32]),
    mode: SearchMode,
) -> Vec<Hit> {
    search_graph_with_vector(&survey.graph, question, (vectors, vector), mode)
}

/// The vector of a question.
///
/// # Errors
/// The embedder fails.
pub async fn question_vector(embedder: &dyn Embedder, question: &Question) -> Result<Vec<f32>, IndexError> {
    // The hints of a model are closer to the answer than the question.
    let text = [&[question.text_with_code()], &question.hints[..]].concat().join("\n");
    let vectors = embedder.embed(&[text], TextKind::Query, &|_, _| {}).await?;
    Ok(vectors.into_iter().next().unwrap_or_default())
}

fn search_graph(graph: &Arc<TagGraph>, question: &Question) -> Vec<Hit> {
    search(graph, question, &SearchWeights::of(question))
}

fn search_graph_with_vector(
    graph: &Arc<TagGraph>,
    question: &Question,
    (vectors, vector): (&PassageVectors, &[f32]),
    mode: SearchMode,
) -> Vec<Hit> {
    if mode == SearchMode::Lexical {
        return search_graph(graph, question);
    }
    let limit = question.limit.saturating_mul(OVERFETCH);
    let mut by_vector = vectors.nearest(vector, limit, graph.index());
    if mode == SearchMode::Semantic {
        by_vector.truncate(question.limit);
        return by_vector;
    }
    let by_words = search_graph(graph, &Question { limit, ..question.clone() });
    let mut hits = fused(by_words, by_vector, question.shape(), limit);
    definitions_first(question, &mut hits);
    hits.truncate(question.limit);
    hits
}

impl Host {
    /// Searches the latest survey; `None` before the first one. Embeddings are used only if their model is local, because the
    /// search as you type must not send requests. Blocks for milliseconds.
    pub(crate) fn search_known(&self, question: &Question) -> Option<Vec<Hit>> {
        let known = self.known_graph()?;
        let (embedder, vectors) = self.shared.indexing.ready().unzip();
        // Only a local model returns at once.
        let vector = embedder.and_then(|embedder| question_vector(embedder.as_ref(), question).now_or_never()?.ok());
        Some(match vectors.zip(vector) {
            Some((vectors, vector)) => {
                search_graph_with_vector(&known, question, (&vectors, &vector), SearchMode::Hybrid)
            }
            None => search_graph(&known, question),
        })
    }

    fn known_graph(&self) -> Option<Arc<TagGraph>> {
        let survey = self.shared.survey.borrow().clone();
        survey.map(|survey| Arc::clone(&survey.graph)).or_else(|| lock(&self.shared.survey_state.sketch).clone())
    }
}
