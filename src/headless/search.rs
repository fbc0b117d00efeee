//! `rhumb search`: prints ranked passages, files or definitions for a question.

use std::io::{IsTerminal as _, stdout};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::config::{EmbeddingsSource, Settings};
use crate::error::{ErrorKind, UserError};
use crate::headless::args::{FormatArg, ModeArg, SearchArgs, UnitArg};
use crate::headless::index::{blocked, failed};
use crate::headless::survey::with_survey;
use crate::headless::{print, print_json, print_message, print_with_hint};
use crate::host::{
    IndexError, SearchMode, Survey, embedder, load_vectors, map_store, question_vector, search_survey,
    search_with_vector,
};
use rhumb_index::repo_map::{Contribution, TagGraph};
use rhumb_index::retrieval::{
    CodeLocation, CodeSearch, Hit, Passage, Passages, Question, Related, SearchWeights, SourceFiles, question_words,
};
use rhumb_tokens::counter_for_model;
use rhumb_workspace::Root;

/// Maximum lines of a passage in text output.
const FIRST_LINES: usize = 4;

/// Prints the results, best first, or all passages in the form for a model. The exit code is 1 without a result.
///
/// # Errors
/// Semantic search was requested and is not available, or for files or definitions; or standard output cannot be written.
pub fn search(root: &Root, settings: &Settings, args: &SearchArgs) -> Result<u8, UserError> {
    let asked = args.asked();
    if asked.trim().is_empty() {
        print_message("there is nothing to search for: the query is empty");
        return Ok(1);
    }
    let store = (!args.no_cache).then(|| map_store(settings, root)).flatten();
    with_survey(root, true, store.as_ref(), |survey| print_hits(root, settings, args, &asked, survey))
}

fn print_hits(
    root: &Root,
    settings: &Settings,
    args: &SearchArgs,
    asked: &str,
    survey: &Survey,
) -> Result<u8, UserError> {
    let question = Question::new(asked, args.limit.get());
    let weights = SearchWeights::of(&question);
    if args.unit != UnitArg::Passage {
        return ranked(args, &CodeSearch::new(&survey.graph, &question, &weights));
    }
    let hits = hits(root, settings, args.mode, survey, &question)?;
    if hits.is_empty() {
        print_message(nothing_found(asked));
        return Ok(1);
    }
    let read = |path: &str| rhumb_workspace::read(root, path).ok().map(|snapshot| snapshot.text);
    let sources = SourceFiles::new(&read);
    if args.context {
        let passages = as_context(&survey.graph, (asked, hits), &sources, args.tokens);
        match args.format {
            FormatArg::Text => print(&passages.render())?,
            FormatArg::Json => print_json(&context_json(&passages, args.tokens))?,
        }
        if passages.is_empty() {
            print_message("no passage fits so few tokens");
        }
        return Ok(u8::from(passages.is_empty()));
    }
    let reasons = args.explain.then(|| CodeSearch::new(&survey.graph, &question, &weights));
    for row in rows(hits, &sources) {
        let why = reasons.as_ref().map(|reasons| row.why(reasons));
        match args.format {
            FormatArg::Text => print(&row.text(why.as_ref(), stdout().is_terminal()))?,
            FormatArg::Json => print_json(&row.json(why.as_ref()))?,
        }
    }
    Ok(0)
}

/// Prints files or definitions, best first. The exit code is 1 without a result.
fn ranked(args: &SearchArgs, search: &CodeSearch<'_>) -> Result<u8, UserError> {
    if args.context || !matches!(args.mode, None | Some(ModeArg::Lexical)) {
        return Err(UserError::new(
            ErrorKind::Usage,
            "files and definitions are searched by words, and are not printed for a model",
            "leave out --unit, or leave out --context and --mode",
        ));
    }
    let mut count = 0;
    if args.unit == UnitArg::File {
        for hit in search.files() {
            let why = args.explain.then(|| search.file_contributions(hit.file));
            count += 1;
            match args.format {
                FormatArg::Text => print(&format!("{}\n{}", hit.path, why_text(why.as_deref())))?,
                FormatArg::Json => {
                    print_json(&with_why(json!({"path": &*hit.path, "score": hit.score}), why.as_deref()))?;
                }
            }
        }
    } else {
        for hit in search.symbols() {
            let definition = hit.definition.unwrap_or_default();
            let why = args.explain.then(|| search.symbol_contributions(hit.file, definition));
            count += 1;
            match args.format {
                FormatArg::Text => print(&format!("{}{}", hit_text(&hit), why_text(why.as_deref())))?,
                FormatArg::Json => print_json(&with_why(hit_json(&hit), why.as_deref()))?,
            }
        }
    }
    if count == 0 {
        print_message(nothing_found(&args.asked()));
    }
    Ok(u8::from(count == 0))
}

/// The path, lines and header of a hit.
fn hit_text(hit: &Hit) -> String {
    let what = if hit.signature.is_empty() { String::new() } else { format!("  {}", hit.signature) };
    format!("{}:{}-{}{what}\n", hit.path, hit.line, hit.end_line)
}

fn hit_json(hit: &Hit) -> Value {
    let mut value = json!({
        "path": &*hit.path,
        "start_line": hit.line,
        "end_line": hit.end_line,
        "symbol": hit.symbol,
        "kind": hit.kind.map(|kind| kind.as_str()),
        "score": hit.score,
    });
    if let Some(container) = &hit.container {
        value["container"] = json!(container);
    }
    value
}

fn with_why(mut value: Value, why: Option<&[Contribution]>) -> Value {
    if let Some(why) = why {
        value["why"] =
            why.iter().map(|Contribution { label, weight }| json!({"ground": label, "weight": weight})).collect();
    }
    value
}

/// The contributions on one line; empty without an explanation.
fn why_text(why: Option<&[Contribution]>) -> String {
    let Some(why) = why else { return String::new() };
    let contributions: Vec<String> =
        why.iter().map(|Contribution { label, weight }| format!("{label} {weight:+.2}")).collect();
    format!("    {}\n", contributions.join("; "))
}

/// The hits in a mode. By default semantic search is included if it is available; otherwise the search is lexical and a message
/// reports the reason.
fn hits(
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
            print_with_hint(&format!("searched by words alone: {error}"), &error.hint());
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

/// The passages for the hits of a question, within a budget in tokens.
fn as_context(
    graph: &TagGraph,
    (question, hits): (&str, Vec<Hit>),
    sources: &SourceFiles<'_>,
    tokens: usize,
) -> Passages {
    let mut passages = Passages::default();
    passages.gather(graph, (question, hits), sources, tokens, &*counter_for_model(""));
    passages
}

fn context_json(passages: &Passages, budget: usize) -> Value {
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

fn nothing_found(query: &str) -> &'static str {
    if question_words(query).is_empty() {
        "the query has only words that every text has: name something that the code may speak of"
    } else {
        "nothing speaks of that"
    }
}

/// A hit with the lines of its chunk.
struct ResultRow {
    hit: Hit,
    /// The lines that are shown, with line numbers.
    lines: Vec<(u32, String)>,
}

/// The explanation of a hit.
struct Why {
    contributions: Vec<Contribution>,
    words: Vec<String>,
}

/// The hits, each extended to its chunk; of two in one chunk the better. Hits in unreadable files are not extended.
fn rows(hits: Vec<Hit>, sources: &SourceFiles<'_>) -> Vec<ResultRow> {
    let mut rows: Vec<ResultRow> = Vec::new();
    for mut hit in hits {
        let file = sources.file(&hit.path);
        let chunk = file.as_ref().and_then(|file| Some((file, file.chunk_at(&CodeLocation::from(&hit))?)));
        let mut lines = Vec::new();
        if let Some((file, chunk)) = chunk {
            (hit.line, hit.end_line) = (chunk.line, chunk.end_line);
            lines = chunk.shown.iter().cloned().flatten().map(|line| (line, file.line(line).to_owned())).collect();
        }
        let same = |row: &ResultRow| Arc::ptr_eq(&row.hit.path, &hit.path) && row.hit.line == hit.line;
        if !rows.iter().any(same) {
            rows.push(ResultRow { hit, lines });
        }
    }
    rows
}

impl ResultRow {
    fn why(&self, reasons: &CodeSearch<'_>) -> Why {
        let text: Vec<&str> = self.lines.iter().map(|(_, text)| text.as_str()).collect();
        Why { contributions: reasons.file_contributions(self.hit.file), words: reasons.words_in(&text.join("\n")) }
    }

    /// A line for the hit; in text output also its first lines.
    fn text(&self, why: Option<&Why>, for_person: bool) -> String {
        let mut text = hit_text(&self.hit);
        if let Some(why) = why {
            text += &format!("    words: {}\n", why.words.join(" "));
            text += &why_text(Some(&why.contributions)).replacen("    ", "    file: ", 1);
        }
        if for_person {
            let width = self.hit.end_line.max(1).ilog10() as usize + 5;
            let lines = self.lines.iter().take(FIRST_LINES);
            text.extend(lines.map(|(number, line)| format!("{number:>width$}  {line}").trim_end().to_owned() + "\n"));
        }
        text
    }

    fn json(&self, why: Option<&Why>) -> Value {
        let mut value = with_why(hit_json(&self.hit), why.map(|why| why.contributions.as_slice()));
        if let Some(why) = why {
            value["words"] = json!(why.words);
        }
        value
    }
}
