//! Searching the repository for the passages that answer a question: by words, by meaning, or by both.

use std::sync::Arc;

use futures::FutureExt as _;

use super::{IndexError, PassageVectors};
use crate::host::{Host, Survey, lock};
use rhumb_index::repo_map::TagGraph;
use rhumb_index::retrieval::{Hit, OVERFETCH, Question, SearchWeights, definitions_first, fused, search};
use rhumb_llm::embed::{Embedder, TextKind};

/// How passages are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchMode {
    /// By words.
    #[default]
    Lexical,
    /// By meaning.
    Semantic,
    /// By both.
    Hybrid,
}

/// The passages of a surveyed repository that answer a question, best first, by words. The app and the commands without it search in
/// the same way. Takes milliseconds of the calling thread.
pub fn search_survey(survey: &Survey, question: &Question) -> Vec<Hit> {
    search_graph(&survey.graph, question)
}

/// The same by meaning, or by both: `vector` is that of the question, by the model that `meaning` is of.
pub fn search_with_vector(
    survey: &Survey,
    question: &Question,
    (meaning, vector): (&PassageVectors, &[f32]),
    mode: SearchMode,
) -> Vec<Hit> {
    search_graph_with_vector(&survey.graph, question, (meaning, vector), mode)
}

/// The vector of a question.
///
/// # Errors
/// The embedder fails.
pub async fn question_vector(embedder: &dyn Embedder, question: &Question) -> Result<Vec<f32>, IndexError> {
    // What a model guessed of the answer says more of it than the question does.
    let text = [std::slice::from_ref(&question.text), &question.hints].concat().join("\n");
    let vectors = embedder.embed(&[text], TextKind::Query, &|_, _| {}).await?;
    Ok(vectors.into_iter().next().unwrap_or_default())
}

fn search_graph(graph: &Arc<TagGraph>, question: &Question) -> Vec<Hit> {
    search(graph, question, &SearchWeights::default())
}

fn search_graph_with_vector(
    graph: &Arc<TagGraph>,
    question: &Question,
    (meaning, vector): (&PassageVectors, &[f32]),
    mode: SearchMode,
) -> Vec<Hit> {
    if mode == SearchMode::Lexical {
        return search_graph(graph, question);
    }
    let most = question.limit.saturating_mul(OVERFETCH);
    let mut by_meaning = meaning.nearest(vector, most, graph.index());
    if mode == SearchMode::Semantic {
        by_meaning.truncate(question.limit);
        return by_meaning;
    }
    let by_words = search_graph(graph, &Question { limit: most, ..question.clone() });
    let mut hits = fused(by_words, by_meaning, question.shape(), most);
    definitions_first(question, &mut hits);
    hits.truncate(question.limit);
    hits
}

impl Host {
    /// The passages that answer a question, by what is known of the repository now; `None` while nothing is. Their meaning counts
    /// where a model on this machine knows it, and no server is asked: this is for a question as it is typed. Blocks for
    /// milliseconds: never on the draw path.
    pub(crate) fn search_known(&self, question: &Question) -> Option<Vec<Hit>> {
        let known = self.known_graph()?;
        let (embedder, meaning) = self.shared.indexing.ready().unzip();
        // A model on this machine has answered at once; whoever has not is a server, which must not be asked for each letter.
        let vector = embedder.and_then(|embedder| question_vector(embedder.as_ref(), question).now_or_never()?.ok());
        Some(match meaning.zip(vector) {
            Some((meaning, vector)) => search_graph_with_vector(&known, question, (&meaning, &vector), SearchMode::Hybrid),
            None => search_graph(&known, question),
        })
    }

    fn known_graph(&self) -> Option<Arc<TagGraph>> {
        let survey = self.shared.survey.borrow().clone();
        survey.map(|survey| Arc::clone(&survey.graph)).or_else(|| lock(&self.shared.sketch).clone())
    }
}
