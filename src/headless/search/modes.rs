//! The modes of `rhumb search`.

use crate::config::{EmbeddingsSource, Settings};
use crate::error::UserError;
use crate::headless::advise;
use crate::headless::args::ModeArg;
use crate::headless::index::{blocked, failed};
use crate::host::{
    IndexError, SearchMode, Survey, embedder, load_vectors, question_vector, search_survey, search_with_vector,
};
use rhumb_index::retrieval::{Hit, Question};
use rhumb_workspace::Root;

/// The hits in a mode. By default semantic search is included if it is available; otherwise the search is lexical and a message
/// says why.
pub(super) fn hits(
    root: &Root,
    settings: &Settings,
    mode: Option<ModeArg>,
    survey: &Survey,
    question: &Question,
) -> Result<Vec<Hit>, UserError> {
    let is_off = settings.embeddings.source == EmbeddingsSource::Off;
    let wanted = match mode {
        Some(ModeArg::Lexical) => return Ok(search_survey(survey, question)),
        None if is_off => return Ok(search_survey(survey, question)),
        Some(ModeArg::Semantic) => SearchMode::Semantic,
        Some(ModeArg::Hybrid) | None => SearchMode::Hybrid,
    };
    match by_meaning(root, settings, wanted, survey, question)? {
        Ok(hits) => Ok(hits),
        Err(error) if mode.is_none() => {
            advise(&format!("searched by words alone: {error}"), &error.hint());
            Ok(search_survey(survey, question))
        }
        Err(error) => Err(failed(&error)),
    }
}

fn by_meaning(
    root: &Root,
    settings: &Settings,
    mode: SearchMode,
    survey: &Survey,
    question: &Question,
) -> Result<Result<Vec<Hit>, IndexError>, UserError> {
    blocked(async {
        let embedder = embedder(settings)?.ok_or(IndexError::Off)?;
        let meaning = load_vectors(root, survey, settings, embedder.as_ref()).await?;
        let vector = question_vector(embedder.as_ref(), question).await?;
        Ok(search_with_vector(survey, question, (&meaning, &vector), mode))
    })
}
