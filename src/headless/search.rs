//! `rhumb search`: ranked passages for a question on standard output.

use serde_json::{Value, json};

use super::args::{FormatArg, ModeArg, SearchArgs};
use super::index::{blocked, failed};
use super::survey::surveyed;
use super::{advise, print, print_json};
use crate::config::{EmbeddingsSource, Settings};
use crate::error::UserError;
use crate::retrieval::{Hit, Question};
use crate::session::runner::{
    IndexError, SearchMode, Survey, embedder, found, found_near, known_meaning, map_store, question_vector,
};
use crate::workspace::Root;

/// Prints the passages, best first. The exit code is 1 when nothing was found.
///
/// # Errors
/// Meaning was asked for and cannot be had, or standard output cannot be written.
pub fn search(root: &Root, settings: &Settings, args: &SearchArgs) -> Result<u8, UserError> {
    let store = (!args.no_cache).then(|| map_store(root)).flatten();
    let survey = surveyed(root, true, store.as_ref());
    let question = Question::new(&args.query, args.limit.get());
    let hits = hits(root, settings, args.mode, &survey, &question)?;
    for hit in &hits {
        match args.format {
            FormatArg::Text => print(&line(hit))?,
            FormatArg::Json => print_json(&as_json(hit))?,
        }
    }
    Ok(u8::from(hits.is_empty()))
}

/// The hits in the mode that was asked for. Where none was, meaning counts if it can be had, and words alone do with a word why.
fn hits(
    root: &Root,
    settings: &Settings,
    mode: Option<ModeArg>,
    survey: &Survey,
    question: &Question,
) -> Result<Vec<Hit>, UserError> {
    let is_off = settings.embeddings.source == EmbeddingsSource::Off;
    let wanted = match mode {
        Some(ModeArg::Lexical) => return Ok(found(survey, question)),
        None if is_off => return Ok(found(survey, question)),
        Some(ModeArg::Semantic) => SearchMode::Semantic,
        Some(ModeArg::Hybrid) | None => SearchMode::Hybrid,
    };
    match by_meaning(root, settings, wanted, survey, question)? {
        Ok(hits) => Ok(hits),
        Err(error) if mode.is_none() => {
            advise(&format!("searched by words alone: {error}"), &error.hint());
            Ok(found(survey, question))
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
        let meaning = known_meaning(root, survey, settings, embedder.as_ref()).await?;
        let vector = question_vector(embedder.as_ref(), question).await?;
        Ok(found_near(survey, question, (&meaning, &vector), mode))
    })
}

fn line(hit: &Hit) -> String {
    let what = if hit.signature.is_empty() { String::new() } else { format!("  {}", hit.signature) };
    format!("{}:{}-{}{what}\n", hit.path, hit.line, hit.end_line)
}

fn as_json(hit: &Hit) -> Value {
    json!({
        "path": &*hit.path,
        "start_line": hit.line,
        "end_line": hit.end_line,
        "symbol": hit.symbol,
        "kind": hit.kind.map(|kind| kind.as_str()),
        "container": hit.container,
        "score": hit.score,
    })
}
