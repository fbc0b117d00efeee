//! `rhumb map`: prints the ranked repo map.

use super::args::{FormatArg, MapArgs, StyleArg};
use super::survey::with_survey;
use super::{path_under, print, print_json, print_message};
use crate::clock::Stopwatch;
use crate::config::Settings;
use crate::error::UserError;
use crate::host::{Survey, map_store};
use crate::store::MapStore;
use rhumb_index::repo_map::{
    MapRequest, MapStyle, RankReference, RankedSymbol, Ranking, RepoMap, TopReferences, Weights,
};
use rhumb_tokens::LineCache;
use rhumb_workspace::Root;
use serde_json::{Value, json};

const DEFAULT_TOKENS: usize = 4096;

/// Prints the map. The exit code is 1 if it is empty.
///
/// # Errors
/// Standard output cannot be written.
pub fn map(root: &Root, settings: &Settings, args: &MapArgs) -> Result<u8, UserError> {
    let total = Stopwatch::start();
    let with_terms = !(args.message.trim().is_empty() && args.mention_idents.is_empty() && args.chat_files.is_empty());
    let store = (!args.no_cache).then(|| map_store(settings, root)).flatten();
    with_survey(root, with_terms, store.as_ref(), |survey| print_map(root, args, survey, store.as_ref(), &total))
}

fn print_map(
    root: &Root,
    args: &MapArgs,
    survey: &Survey,
    store: Option<&MapStore>,
    total: &Stopwatch,
) -> Result<u8, UserError> {
    let counter = LineCache::for_model(&args.model);
    counter.load(store.into_iter().flat_map(|store| store.line_counts(&counter.name())));
    let (request, weights) = (request(root, args, survey), Weights::default());
    let clock = Stopwatch::start();
    let ranking = Ranking::new(&survey.graph, &request, &weights);
    let rank = clock.ms();
    let map = RepoMap::of_ranking(ranking, &request, &counter);
    let times = Times { rank, fit: clock.ms() - rank, total: total.ms() };
    match args.format {
        FormatArg::Text => print(&map.text)?,
        FormatArg::Json => print_json(&as_json(&map, survey, &times, args.explain))?,
    }
    if let Some((store, lines)) = store.zip(counter.unsaved()) {
        // If this fails, the next run counts again. Problems with the folder were reported before.
        drop(store.save_line_counts(&counter.name(), &lines));
    }
    if args.stats {
        print_message(&stats_line(&map, survey, &times));
    }
    if survey.bare {
        print_message("this is a bare repository: it has no files to map");
    }
    Ok(u8::from(map.text.is_empty()))
}

/// Times of the phases after the survey, in milliseconds.
struct Times {
    rank: f64,
    /// Fitting; the first count loads the tokenizer.
    fit: f64,
    total: f64,
}

fn request(root: &Root, args: &MapArgs, survey: &Survey) -> MapRequest {
    let relative = |names: &[String]| names.iter().map(|name| path_under(root, name)).collect();
    MapRequest {
        chat_files: relative(&args.chat_files),
        mentioned_files: relative(&args.mention_files),
        mentioned_idents: args.mention_idents.clone(),
        message: args.message.clone(),
        pinned: relative(&args.pins),
        banned: relative(&args.bans),
        edited: survey.edited.clone(),
        budget: args.tokens.unwrap_or(DEFAULT_TOKENS),
        style: match args.style {
            StyleArg::Tree => MapStyle::Tree,
            StyleArg::Outline => MapStyle::Outline,
        },
    }
}

fn as_json(map: &RepoMap, survey: &Survey, times: &Times, explain: bool) -> Value {
    let shown: Vec<usize> = (0..map.files.len()).filter(|&place| map.files[place].shown).collect();
    let explanations = if explain { map.top_references(&shown) } else { Vec::new() };
    let files = shown.iter().enumerate().map(|(at, &place)| file_json(map, place, explanations.get(at)));
    json!({
        "text": map.text,
        "budget": map.budget,
        "tokens": map.tokens,
        "files": files.collect::<Vec<_>>(),
        "stats": {
            "files": map.stats.files,
            "bytes": survey.bytes,
            "heads_only": survey.heads_only,
            "tags": map.stats.definitions + map.stats.references,
            "definitions": map.stats.definitions,
            "references": map.stats.references,
            "ms": phases(survey, times),
        },
    })
}

/// Times in milliseconds, to a tenth.
fn phases(survey: &Survey, times: &Times) -> Value {
    let tenth = |ms: f64| (ms * 10.0).round() / 10.0;
    json!({
        "walk": tenth(survey.ms.walk),
        "load": tenth(survey.ms.load),
        "read": tenth(survey.ms.read),
        "parse": tenth(survey.ms.parse),
        "graph": tenth(survey.ms.graph),
        "rank": tenth(times.rank),
        "fit": tenth(times.fit),
        "total": tenth(times.total),
    })
}

fn file_json(map: &RepoMap, place: usize, explanation: Option<&TopReferences>) -> Value {
    let symbols = map.symbols(place).iter().enumerate().filter(|(_, symbol)| symbol.shown);
    let why = |at: usize| explanation.map(|explanation| explanation.symbols.get(at).map_or(&[][..], Vec::as_slice));
    let mut value = json!({
        "path": &*map.files[place].path,
        "rank": map.files[place].rank,
        "symbols": symbols.map(|(at, symbol)| symbol_json(symbol, why(at))).collect::<Vec<_>>(),
    });
    add_why(&mut value, explanation.map(|explanation| explanation.file.as_slice()));
    value
}

fn symbol_json(symbol: &RankedSymbol, why: Option<&[RankReference]>) -> Value {
    let mut value = json!({
        "name": symbol.name,
        "kind": symbol.kind.as_str(),
        "container": symbol.container,
        "line": symbol.line,
        "end_line": symbol.end_line,
        "signature": symbol.signature,
        "doc": symbol.doc,
        "rank": symbol.rank,
    });
    add_why(&mut value, why);
    value
}

fn add_why(value: &mut Value, why: Option<&[RankReference]>) {
    if let Some(why) = why {
        let reasons = why.iter().map(|why| json!({"from": why.from, "ident": why.ident, "weight": why.weight}));
        value["why"] = reasons.collect();
    }
}

fn stats_line(map: &RepoMap, survey: &Survey, times: &Times) -> String {
    let (stats, ms) = (&map.stats, &survey.ms);
    format!(
        "{} files, {} of them read, {} bytes, {} definitions, {} references; {} of {} tokens; walk {:.1} ms, load {:.1} ms, \
         read {:.1} ms, parse {:.1} ms, graph {:.1} ms, rank {:.1} ms, fit {:.1} ms, in all {:.1} ms{}",
        stats.files,
        survey.read,
        survey.bytes,
        stats.definitions,
        stats.references,
        map.tokens,
        map.budget,
        ms.walk,
        ms.load,
        ms.read,
        ms.parse,
        ms.graph,
        times.rank,
        times.fit,
        times.total,
        if survey.heads_only { "; so large that only names, paths and comments are known" } else { "" },
    )
}
