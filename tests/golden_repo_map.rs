//! Compares the ranking with figures of aider's released repo map for twelve small trees. The figures are next to the repository in
//! some checkouts; without them the tests print that and pass.

// Clippy's exceptions for tests cover test functions only, not helper functions.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "all of this file is a test")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use rhumb_index::repo_map::{
    CsrGraph, History, MapFile, MapIndex, MapRequest, PageRank, Ranking, TagGraph, Weights, pagerank,
};
use rhumb_syntax::{Definition, FileTags, Reference, SymbolKind};
use serde_json::Value;

/// All cases as `(file name, content)`, those with a graph only.
fn cases() -> Vec<(String, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/golden/repomap");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: no golden figures at {}", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let json = paths.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = json.map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap())
    });
    read.filter(|(_, value)| value.get("nodes").is_some()).collect()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn pagerank_gives_the_converged_ranks() {
    for (name, case) in cases() {
        let nodes = strings(&case["nodes"]);
        let arcs: Vec<(u32, u32, f64)> = case["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edge| (edge[0].as_u64().unwrap() as u32, edge[1].as_u64().unwrap() as u32, edge[3].as_f64().unwrap()))
            .collect();
        let teleport: Vec<f64> = match &case["personalization"] {
            Value::Null => vec![1.0; nodes.len()],
            weights => nodes.iter().map(|node| weights[node].as_f64().unwrap_or(0.0)).collect(),
        };
        let arcs = CsrGraph::new(nodes.len(), &arcs);
        let ranks = pagerank(&teleport, PageRank::default(), |from, to| arcs.spread(from, to));
        let expected = case["pagerank_converged"].as_array().unwrap();
        assert_eq!(ranks.len(), expected.len(), "{name}");
        for ((node, rank), expected) in nodes.iter().zip(&ranks).zip(expected) {
            let expected = expected.as_f64().unwrap();
            assert!((rank - expected).abs() < 1e-9, "{name}: {node} has {rank}, not {expected}");
        }
    }
}

#[test]
fn the_plain_formula_ranks_files_and_definitions_as_aider_does() {
    let weights = Weights::plain();
    for (name, case) in cases().into_iter().filter(|(name, _)| name.ends_with(".plain.json")) {
        let files = files_of(&case["tags"]);
        let graph = Arc::new(TagGraph::new(Arc::new(MapIndex::of(&files)), &History::default(), &weights));
        let ranking = Ranking::new(&graph, &MapRequest::default(), &weights);
        let ours: BTreeMap<String, f64> =
            ranking.files_by_references().into_iter().map(|(path, rank)| (path.to_owned(), rank)).collect();
        let nodes = strings(&case["nodes"]);
        let theirs = nodes.iter().zip(case["pagerank"].as_array().unwrap());
        let theirs: BTreeMap<String, f64> =
            theirs.map(|(node, rank)| ((*node).to_owned(), rank.as_f64().unwrap())).collect();
        let by_file = spearman(&theirs, &ours);
        let ours: BTreeMap<String, f64> = ranking
            .symbols_by_references()
            .into_iter()
            .map(|(path, name, rank)| (format!("{path}\n{name}"), rank))
            .collect();
        // Names are given as text or as positions in the lists of the case.
        let text = |value: &Value, list: &str| -> String {
            let at = value.as_u64().and_then(|at| case[list].get(at as usize));
            at.unwrap_or(value).as_str().unwrap().to_owned()
        };
        let theirs: BTreeMap<String, f64> = case["ranked_definitions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                let (path, name) = (text(&entry[0], "nodes"), text(&entry[1], "idents"));
                (format!("{path}\n{name}"), entry[2].as_f64().unwrap())
            })
            .collect();
        let by_definition = spearman(&theirs, &ours);
        println!("{name}: files {by_file:.4}, definitions {by_definition:.4}");
        assert!(by_file >= 0.97, "{name}: files {by_file}");
        assert!(by_definition >= 0.96, "{name}: definitions {by_definition}");
    }
}

/// Golden tags as files: `defs` and `refs` hold `[line, name]`.
fn files_of(tags: &Value) -> Vec<MapFile> {
    let pairs = |value: &Value| -> Vec<(u32, String)> {
        let pair = |item: &Value| (item[0].as_i64().unwrap().max(0) as u32 + 1, item[1].as_str().unwrap().to_owned());
        value.as_array().unwrap().iter().map(pair).collect()
    };
    let file = |(path, tags): (&String, &Value)| {
        let definitions = pairs(&tags["defs"]).into_iter().map(|(line, name)| Definition {
            signature: name.clone(),
            name,
            kind: SymbolKind::Function,
            line,
            end_line: line,
            container: None,
            doc: String::new(),
        });
        let references = pairs(&tags["refs"]).into_iter().map(|(line, name)| Reference { name, line });
        let tags =
            FileTags { definitions: definitions.collect(), references: references.collect(), ..FileTags::default() };
        MapFile { path: path.clone(), tags: Arc::new(tags), ..MapFile::default() }
    };
    tags.as_object().unwrap().iter().map(file).collect()
}

/// Spearman's rank correlation over the keys of `theirs`; ties get the mean of their ranks.
fn spearman(theirs: &BTreeMap<String, f64>, ours: &BTreeMap<String, f64>) -> f64 {
    let a: Vec<f64> = theirs.values().copied().collect();
    let b: Vec<f64> = theirs.keys().map(|key| ours.get(key).copied().unwrap_or(0.0)).collect();
    pearson(&places(&a), &places(&b))
}

fn places(values: &[f64]) -> Vec<f64> {
    // Equal up to rounding, since the sums are computed in another order.
    let rounded: Vec<i64> = values.iter().map(|value| (value * 1e12).round() as i64).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&index| rounded[index]);
    let mut places = vec![0.0; values.len()];
    let mut start = 0;
    for run in order.chunk_by(|&a, &b| rounded[a] == rounded[b]) {
        let mean = start as f64 + (run.len() - 1) as f64 / 2.0;
        run.iter().for_each(|&index| places[index] = mean);
        start += run.len();
    }
    places
}

fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let product =
        |x: &[f64], y: &[f64], mx: f64, my: f64| -> f64 { x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum() };
    product(a, b, mean_a, mean_b) / (product(a, a, mean_a, mean_a) * product(b, b, mean_b, mean_b)).sqrt()
}
