//! `rank calls`: how many tool calls the first request of the agent loop saves, because it has the passages of a search.
//!
//! A scripted agent has to see every definition that the change touched. Without passages it searches once and then reads the files in the
//! order of the hits; with them it reads only while something is missing. It gives up after a number of reads. No model is asked, so the
//! figures show what the passages are worth, not what a model makes of them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use rhumb::error::UserError;
use rhumb::host::{CachedCounter, Survey, SurveyStart, survey};
use rhumb_index::retrieval::{CodeSearch, Hit, Passages, Question, SearchWeights, SourceFiles};
use rhumb_workspace::Root;
use rhumb_workspace::git::Checkout;

use super::case::{GoldName, RankCase};
use super::features::cases_by_repository;
use super::machine;
use crate::args::RankCallsArgs;
use crate::{git_error, scratch_folder};

/// Hits that the tool `search` shows, and lines of each.
const SHOWN_HITS: usize = 10;
const SHOWN_LINES: u32 = 40;

/// Hits of the search for the passages.
const MAX_HITS: usize = 40;

/// Maximum number of reads.
const MAX_READS: usize = 10;

/// Lines of files that the agent has seen.
type Seen = Vec<(String, u32, u32)>;

/// The calls of a case.
struct Calls {
    without: usize,
    with: usize,
    /// Whether the passages show everything.
    needs_none: bool,
}

pub(super) fn command(args: &RankCallsArgs) -> Result<u8, UserError> {
    let mut all: Vec<Calls> = Vec::new();
    for (repository, cases) in cases_by_repository(&args.cases)? {
        let cases: Vec<RankCase> = cases.into_iter().step_by(args.stride.get()).collect();
        let git_dir = args.mirrors.join(repository.replace('/', "+")).join("repo");
        let measured = of_repository(&git_dir, &cases, args.tokens)?;
        report(&repository, &measured)?;
        all.extend(measured);
    }
    report("all", &all)?;
    Ok(0)
}

fn report(name: &str, calls: &[Calls]) -> Result<(), UserError> {
    if calls.is_empty() {
        return Ok(());
    }
    let mean = |of: fn(&Calls) -> usize| calls.iter().map(of).sum::<usize>() as f64 / calls.len() as f64;
    let none = calls.iter().filter(|calls| calls.needs_none).count() as f64 * 100.0 / calls.len() as f64;
    let (without, with) = (mean(|calls| calls.without), mean(|calls| calls.with));
    rhumb::headless::print(&format!(
        "{name}: {} cases, calls without passages {without:.2}, with {with:.2}; {none:.0} % need none\n",
        calls.len()
    ))
}

fn of_repository(git_dir: &std::path::Path, cases: &[RankCase], tokens: usize) -> Result<Vec<Calls>, UserError> {
    let folder = scratch_folder()?;
    let checkout = Checkout::new(git_dir, folder.path()).map_err(|error| git_error(&error, &error))?;
    let root = Root::at(checkout.folder()).map_err(machine)?;
    let mut all = Vec::new();
    for case in cases {
        if let Err(error) = checkout.to(&case.commit) {
            rhumb::headless::print_message(&format!("{}: {error}", case.id));
            continue;
        }
        let start = SurveyStart { with_terms: true, ..SurveyStart::default() };
        let survey = survey(&root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default();
        all.extend(of_case(case, &root, &survey, tokens));
    }
    Ok(all)
}

/// The calls of a case; `None` if the index has none of its definitions.
fn of_case(case: &RankCase, root: &Root, survey: &Survey, tokens: usize) -> Option<Calls> {
    let (question, everything) = (Question::new(&case.query, MAX_HITS), Question::new(&case.query, usize::MAX));
    let weights = SearchWeights::of(&question);
    let search = CodeSearch::new(&survey.graph, &question, &weights);
    let gold = if case.strict.is_empty() { &case.symbols } else { &case.strict };
    let wanted: Vec<(String, u32)> = places(gold, &CodeSearch::new(&survey.graph, &everything, &weights).symbols());
    if wanted.is_empty() {
        return None;
    }
    let hits = search.chunks();
    let mut files: Vec<String> = Vec::new();
    for hit in &hits {
        if !files.iter().any(|path| **path == *hit.path) {
            files.push(hit.path.to_string());
        }
    }
    let shown = hits.iter().take(SHOWN_HITS);
    let found: Seen =
        shown.map(|hit| (hit.path.to_string(), hit.line, hit.end_line.min(hit.line + SHOWN_LINES - 1))).collect();
    let read = |path: &str| rhumb_workspace::read(root, path).ok().map(|snapshot| snapshot.text);
    let mut passages = Passages::default();
    let counter = CachedCounter::for_model("gpt-4o");
    let sources = SourceFiles::new(&read);
    passages.gather(&survey.graph, (&case.query, hits.clone()), &sources, tokens, &counter);
    let seeded: Seen = passages
        .list()
        .iter()
        .flat_map(|passage| passage.lines.iter().map(|lines| (passage.path.to_string(), *lines.start(), *lines.end())))
        .collect();
    let with = reads(&wanted, &seeded, &files);
    Some(Calls { without: 1 + reads(&wanted, &found, &files), with, needs_none: with == 0 })
}

/// The first lines of these definitions, as far as they are indexed.
fn places(gold: &[GoldName], symbols: &[Hit]) -> Vec<(String, u32)> {
    let mut by_path: BTreeMap<&str, Vec<&Hit>> = BTreeMap::new();
    symbols.iter().for_each(|hit| by_path.entry(&hit.path).or_default().push(hit));
    let place = |name: &GoldName| {
        let last = name.name.rsplit('.').next().unwrap_or_default();
        let container = name.name.rsplit('.').nth(1);
        let is_it = |hit: &&&Hit| {
            let is_named = hit.symbol.as_deref() == Some(last);
            let is_inside = container.is_none() || hit.container.as_deref() == container;
            is_named && is_inside && (name.line == 0 || name.line == hit.line)
        };
        let hit = by_path.get(name.path.as_str())?.iter().find(is_it)?;
        Some((name.path.clone(), hit.line))
    };
    gold.iter().filter_map(place).collect()
}

/// How many files have to be read, in this order, until all wanted lines are seen; at most [`MAX_READS`].
fn reads(wanted: &[(String, u32)], seen: &Seen, files: &[String]) -> usize {
    let is_shown = |(path, line): &&(String, u32)| {
        seen.iter().any(|(shown, first, last)| shown == path && first <= line && line <= last)
    };
    let missing: Vec<&String> = wanted.iter().filter(|wanted| !is_shown(wanted)).map(|(path, _)| path).collect();
    let last = missing.iter().map(|path| files.iter().position(|file| file == *path).map_or(usize::MAX, |at| at + 1));
    last.max().unwrap_or(0).min(MAX_READS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_in_order_until_everything_was_seen() {
        let files: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        let wanted = [("c".to_owned(), 5), ("a".to_owned(), 9)];
        assert_eq!(reads(&wanted, &Vec::new(), &files), 3);
        assert_eq!(reads(&wanted, &vec![("c".to_owned(), 1, 5)], &files), 1);
        assert_eq!(reads(&wanted, &vec![("c".to_owned(), 1, 5), ("a".to_owned(), 9, 9)], &files), 0);
        assert_eq!(reads(&[("z".to_owned(), 1)], &Vec::new(), &files), MAX_READS);
    }
}
