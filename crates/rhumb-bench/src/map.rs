//! `rhumb-bench map`: the cost of the repo map of a repository: without a store, with one, after a change, and while a message is
//! typed. The baseline is reading, parsing and querying the same files in the same run.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rhumb::cli;
use rhumb::clock::Stopwatch;
use rhumb::error::UserError;
use rhumb::headless::{print, print_json};
use rhumb::host::{Survey, SurveyStart, SurveyStep, survey};
use rhumb::store::MapStore;
use rhumb_index::repo_map::{MapRequest, Ranking, RepoMap, TagGraph, Weights};
use rhumb_syntax::{Language, match_count};
use rhumb_tokens::LineCache;
use rhumb_workspace::{DiskChanges, Root};
use serde_json::json;

use crate::args::MapBenchArgs;
use crate::figure::{CpuWatch, Figure, Unit, median, peak_memory};
use crate::scratch_folder;

/// Budgets of maps, in tokens.
const SMALL_BUDGET: usize = 1_024;
const LARGE_BUDGET: usize = 8_192;

/// Successive drafts of a message while it is typed.
const DRAFTS: [&str; 6] = [
    "the cache",
    "the cache is stale after",
    "the cache is stale after a file was renamed",
    "the cache is stale after a file was renamed: invalidate",
    "the cache is stale after a file was renamed: invalidate the entry by its path",
    "the cache is stale after a file was renamed: invalidate the entry by its path and parse the header again",
];

/// Measures the map of a root. Each figure is the median of `runs` runs. `scratch` is an empty folder for the map store. A root
/// without files has no ratios.
pub fn measure(root: &Root, scratch: &std::path::Path, runs: NonZeroUsize) -> Vec<Figure> {
    let store = MapStore::new(scratch, root.path(), root.path());
    let bench = Bench { root, store: &store, runs: runs.get() };
    let mut figures = bench.cold();
    figures.extend(bench.warm());
    figures.extend(bench.in_session());
    let is_empty = figures.iter().any(|figure| figure.name == "files" && figure.value == 0.0);
    figures.retain(|figure| !is_empty || figure.unit != Unit::Ratio);
    figures
}

struct Bench<'b> {
    root: &'b Root,
    store: &'b MapStore,
    runs: usize,
}

impl Bench<'_> {
    /// A first map without a store, and the baseline.
    fn cold(&self) -> Vec<Figure> {
        let runs: Vec<(f64, f64)> = (0..self.runs)
            .map(|_| {
                self.store.clear();
                let (cpu, wall) = (CpuWatch::start(), Stopwatch::start());
                let survey = self.surveyed();
                drop(survey.save(self.store));
                ranked(&survey, "", SMALL_BUDGET);
                (cpu.ms(), wall.ms())
            })
            .collect();
        let memory = peak_memory();
        let guess = median((0..self.runs).map(|_| self.first_guess()).collect());
        let floor = median((0..self.runs).map(|_| self.floor()).collect());
        let (cpu, wall) =
            (median(runs.iter().map(|run| run.0).collect()), median(runs.iter().map(|run| run.1).collect()));
        vec![
            Figure::new("cold-cpu", "a first map, nothing kept", cpu, Unit::CpuMs),
            Figure::new("cold-wall", "the same by the clock", wall, Unit::WallMs),
            Figure::new("floor-cpu", "reading, parsing and querying the same files, nothing else", floor, Unit::CpuMs),
            Figure::new("cold-over-floor", "a first map over the floor", cpu / floor.max(1e-9), Unit::Ratio),
            Figure::new("cold-wall-over-cpu", "how well the threads share the work", wall / cpu.max(1e-9), Unit::Ratio),
            Figure::new("first-guess-cpu", "something to look at while parsing, nothing kept", guess, Unit::CpuMs),
            Figure::new("peak-memory", "most memory of this process so far", memory, Unit::Megabytes),
        ]
    }

    /// The provisional map that the app shows while it parses an unknown repository; 0 if the repository is parsed before a
    /// provisional map is made.
    fn first_guess(&self) -> f64 {
        let cpu = CpuWatch::start();
        let (spent, cancel) = (Mutex::new(0.0), AtomicBool::new(false));
        let progress = |step: SurveyStep<'_>| {
            if let SurveyStep::Provisional(graph) = step
                && !cancel.swap(true, Ordering::Relaxed)
            {
                drop(map_of(&graph, "", SMALL_BUDGET, &LineCache::for_model("gpt-4")));
                *spent.lock().unwrap_or_else(PoisonError::into_inner) = cpu.ms();
            }
        };
        survey(self.root, SurveyStart { provisional: true, ..SurveyStart::default() }, &cancel, &progress);
        spent.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// A map with a complete store.
    fn warm(&self) -> Vec<Figure> {
        let plain = self.measure(|| drop(ranked(&self.loaded(false), "", SMALL_BUDGET)));
        let request = self.measure(|| drop(ranked(&self.loaded(true), DRAFTS[2], SMALL_BUDGET)));
        vec![
            Figure::new("warm-cpu", "a map without a request, all files known", plain, Unit::CpuMs),
            Figure::new("warm-request-cpu", "a map for a request, all files known", request, Unit::CpuMs),
        ]
    }

    /// Maps of a running session.
    fn in_session(&self) -> Vec<Figure> {
        let survey = self.loaded(true);
        let memo = LineCache::for_model("");
        let make = |message: &str, budget: usize| map_for(&survey, message, budget, &memo);
        DRAFTS.iter().for_each(|draft| drop(make(draft, LARGE_BUDGET)));
        let mut turn = 0;
        let rerank = self.measure(|| {
            turn += 1;
            drop(make(DRAFTS[turn % DRAFTS.len()], SMALL_BUDGET));
        });
        let small = self.measure(|| drop(make(DRAFTS[0], SMALL_BUDGET)));
        let large = self.measure(|| drop(make(DRAFTS[0], LARGE_BUDGET)));
        let again = (0..self.runs).all(|_| make(DRAFTS[1], LARGE_BUDGET).text == make(DRAFTS[1], LARGE_BUDGET).text);
        let within = [SMALL_BUDGET, LARGE_BUDGET].iter().all(|budget| make(DRAFTS[1], *budget).tokens <= *budget);
        let fill = make("", SMALL_BUDGET).tokens as f64 / SMALL_BUDGET as f64;
        vec![
            Figure::new(
                "changed-file-cpu",
                "a new survey and graph after one file changed",
                self.changed(&survey),
                Unit::CpuMs,
            ),
            Figure::new("rerank-cpu", "a map for a changed draft", rerank, Unit::CpuMs),
            Figure::new("large-extra-cpu", "a map of 8,192 tokens instead of 1,024", large - small, Unit::CpuMs),
            Figure::new("fill", "part of a budget of 1,024 tokens that is used", fill, Unit::Share),
            Figure::new("within-budget", "1 if no map is over its budget", f64::from(u8::from(within)), Unit::Count),
            Figure::new(
                "same-map",
                "1 if the same request always gives the same map",
                f64::from(u8::from(again)),
                Unit::Count,
            ),
            Figure::new("files", "files of the map", survey.files.len() as f64, Unit::Count),
            Figure::new("definitions", "definitions in them", survey.graph.stats().definitions as f64, Unit::Count),
        ]
    }

    /// A survey after one file changed. The file is not written: it is removed from the previous survey and reported as changed.
    fn changed(&self, survey: &Survey) -> f64 {
        let index = survey.graph.index();
        let known = (0..index.len() as u32).filter(|&file| index.record(file).is_some());
        let known: Vec<u32> = known.collect();
        let Some(&middle) = known.get(known.len() / 2) else { return 0.0 };
        let path = index.path(middle);
        let before = survey.without(path);
        let changed = DiskChanges { files: [path.to_owned()].into(), listing: false, ..DiskChanges::default() };
        let start = SurveyStart {
            before: Some(&before),
            changed: Some(&changed),
            store: None,
            with_terms: true,
            provisional: false,
            stop_reading: None,
        };
        self.measure(|| drop(survey_of(self.root, start)))
    }

    fn surveyed(&self) -> Survey {
        survey_of(self.root, SurveyStart { with_terms: true, ..SurveyStart::default() })
    }

    fn loaded(&self, with_terms: bool) -> Survey {
        survey_of(self.root, SurveyStart { store: Some(self.store), with_terms, ..SurveyStart::default() })
    }

    /// The baseline: processor time of reading, parsing and querying every file.
    fn floor(&self) -> f64 {
        let files = rhumb_workspace::files(self.root, &AtomicBool::new(false), &mut |_| {}).files;
        let cpu = CpuWatch::start();
        let matches: usize = files
            .par_iter()
            .filter_map(|entry| {
                let language = Language::for_path(&entry.path)?;
                let bytes = std::fs::read(self.root.path().join(&entry.path)).ok()?;
                Some(match_count(language, std::str::from_utf8(&bytes).ok()?))
            })
            .sum();
        std::hint::black_box(matches);
        cpu.ms()
    }

    fn measure(&self, mut work: impl FnMut()) -> f64 {
        let run = |_| {
            let cpu = CpuWatch::start();
            work();
            cpu.ms()
        };
        median((0..self.runs * 3).map(run).collect())
    }
}

fn survey_of(root: &Root, start: SurveyStart<'_>) -> Survey {
    survey(root, start, &AtomicBool::new(false), &|_| {}).unwrap_or_default()
}

fn ranked(survey: &Survey, message: &str, budget: usize) -> RepoMap {
    map_for(survey, message, budget, &LineCache::for_model(""))
}

fn map_for(survey: &Survey, message: &str, budget: usize, memo: &LineCache) -> RepoMap {
    map_of(&survey.graph, message, budget, memo)
}

fn map_of(graph: &Arc<TagGraph>, message: &str, budget: usize, memo: &LineCache) -> RepoMap {
    let request = MapRequest { message: message.to_owned(), budget, ..MapRequest::default() };
    RepoMap::of_ranking(Ranking::new(graph, &request, &Weights::default()), &request, memo)
}

/// Runs `rhumb-bench map`.
pub(crate) fn command(args: &MapBenchArgs) -> Result<u8, UserError> {
    let root = cli::find_root(args.root.as_ref())?;
    let scratch = scratch_folder()?;
    let figures = measure(&root, scratch.path(), args.runs);
    if args.report.is_json() {
        let entry = |figure: &Figure| json!({"name": figure.name, "value": figure.value, "unit": figure.unit.as_str()});
        print_json(&json!({"figures": figures.iter().map(entry).collect::<Vec<_>>()}))?;
    } else {
        print(&figures.iter().map(line).collect::<String>())?;
    }
    Ok(0)
}

fn line(figure: &Figure) -> String {
    let value = match figure.unit {
        Unit::Count => format!("{:.0}", figure.value),
        Unit::Ratio | Unit::Share => format!("{:.3}", figure.value),
        Unit::CpuMs | Unit::WallMs | Unit::Megabytes => format!("{:.1}", figure.value),
    };
    format!("{:<20} {value:>10} {:<7} {}\n", figure.name, figure.unit.as_str(), figure.meaning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_is_measured() {
        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for n in 0..30 {
            let text = format!("/// Cache {n}.\npub fn cache_{n}() {{\n    cache_{}();\n}}\n", (n + 7) % 30);
            std::fs::write(folder.path().join(format!("f{n}.rs")), text).unwrap();
        }
        let figures = measure(&Root::at(folder.path()).unwrap(), scratch.path(), NonZeroUsize::MIN);
        let value = |name: &str| figures.iter().find(|figure| figure.name == name).map(|figure| figure.value);
        assert_eq!((value("files"), value("definitions")), (Some(30.0), Some(30.0)));
        assert_eq!((value("within-budget"), value("same-map")), (Some(1.0), Some(1.0)));
        assert!(value("cold-cpu").unwrap() > 0.0 && value("cold-over-floor").unwrap() > 0.0);
        assert!(figures.iter().all(|figure| figure.value.is_finite()));
    }
}
