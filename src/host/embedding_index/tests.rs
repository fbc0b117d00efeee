//! Tests of building, stopping, resuming and updating an index.

use super::*;
use crate::host::{SurveyStart, survey};
use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use proptest::prelude::*;
use rhumb_llm::embed::{BatchLimit, EmbedError, OnWait, TextKind};
use rhumb_session::IndexEstimate;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

#[path = "../../../tests/support/tiny_model.rs"]
#[allow(dead_code)]
mod tiny_model;

/// An embedder of some words. It records its input, and fails after a given number of vectors.
struct Tiny {
    identity: String,
    given: Mutex<Vec<String>>,
    left: AtomicUsize,
}

impl Tiny {
    fn new(identity: &str) -> Self {
        Self { identity: identity.into(), given: Mutex::default(), left: AtomicUsize::new(usize::MAX) }
    }

    fn failing_after(texts: usize) -> Self {
        Self { left: AtomicUsize::new(texts), ..Self::new("tiny") }
    }

    fn given(&self) -> Vec<String> {
        std::mem::take(&mut *self.given.lock().unwrap())
    }
}

impl Embedder for Tiny {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn host(&self) -> Option<String> {
        None
    }

    fn batch(&self) -> BatchLimit {
        BatchLimit { texts: 2, bytes: usize::MAX }
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
        _: TextKind,
        _: OnWait<'a>,
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedError>> {
        let left = self.left.load(Ordering::SeqCst);
        if left < texts.len() {
            return ready(Err(EmbedError::NotBuilt)).boxed();
        }
        self.left.store(left - texts.len(), Ordering::SeqCst);
        self.given.lock().unwrap().extend(texts.iter().cloned());
        ready(Ok(texts.iter().map(|text| tiny_model::vector(text)).collect())).boxed()
    }
}

struct Place {
    files: tempfile::TempDir,
    store: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { files: tempfile::tempdir().unwrap(), store: tempfile::tempdir().unwrap() }
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let place = Self::new();
        files.iter().for_each(|(path, text)| place.write(path, text));
        place
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.files.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn root(&self) -> Root {
        Root::at(self.files.path()).unwrap()
    }

    /// The current survey. Files that were just written have no stamp yet, so a hash of the text is used.
    fn survey(&self, before: Option<&Survey>) -> Survey {
        let start = SurveyStart { before, with_terms: true, ..SurveyStart::default() };
        let mut survey = survey(&self.root(), start, &AtomicBool::new(false), &|_| {}).unwrap();
        for file in &mut survey.files {
            file.stamp = xxhash_rust::xxh3::xxh3_64(&fs::read(self.files.path().join(&file.path)).unwrap()) | 1;
        }
        survey
    }

    fn index(&self, survey: &Survey, before: Option<&PassageVectors>, embedder: &Tiny) -> Result<Indexed, IndexError> {
        let root = self.root();
        let request = IndexRequest { root: &root, survey, before, embedder, folder: self.store.path(), embed: true };
        index(request, &IndexControl::default(), &|_| {}).now_or_never().unwrap()
    }
}

fn function(name: &str, word: &str) -> String {
    format!("fn {name}() {{\n    let answer = {word}(\"the tide is high\");\n    publish(answer);\n}}\n\n")
}

/// The nearest passages of each vector, with locations and scores.
fn seen(vectors: &PassageVectors, survey: &Survey) -> Vec<(usize, String, u32, u32, String)> {
    let index = survey.graph.index();
    let mut all = Vec::new();
    for (at, words) in tiny_model::MEANINGS.iter().enumerate() {
        for hit in vectors.nearest(&tiny_model::vector(words[0]), 1_000, index) {
            assert_eq!(index.path(hit.file), &*hit.path);
            all.push((at, hit.path.to_string(), hit.line, hit.end_line, format!("{:.4}", hit.score)));
        }
    }
    all
}

#[test]
fn what_means_the_same_is_found_without_a_word_in_common() {
    let place = Place::with(&[
        ("net.rs", &(function("send", "backoff") + &function("open_it", "sluice"))),
        ("map.rs", &function("plot", "atlas")),
    ]);
    let survey = place.survey(None);
    let made = place.index(&survey, None, &Tiny::new("tiny")).unwrap();
    let best = made.vectors.nearest(&tiny_model::vector("retry"), 3, survey.graph.index());
    assert_eq!((&*best[0].path, best[0].symbol.as_deref()), ("net.rs", Some("send")));
    assert!(best[0].score > 0.9 && best[1].score < 0.5, "{best:?}");
    assert_eq!((made.embedded, made.missing, made.vectors.len()), (3, 0, 3));
}

#[test]
fn secrets_and_ignored_files_are_never_given_to_an_embedder() {
    let place = Place::with(&[
        ("a.rs", &function("send", "backoff")),
        (".env", "API_TOKEN=canary-of-the-environment\n"),
        ("keys/server.pem", "canary of the private key, of some length\n"),
        ("deploy/id_rsa", "canary of the private key, of some length\n"),
        (".gitignore", "ignored.rs\n"),
        (".rhumbignore", "hidden.rs\n"),
        ("ignored.rs", &function("canary", "backoff")),
        ("hidden.rs", &function("canary", "backoff")),
    ]);
    let embedder = Tiny::new("tiny");
    let survey = place.survey(None);
    place.index(&survey, None, &embedder).unwrap();
    let given = embedder.given().concat();
    assert!(given.contains("backoff") && !given.contains("canary"), "{given}");
    let index = survey.graph.index();
    for path in [".env", "keys/server.pem", "deploy/id_rsa"] {
        let file = index.file_at(path).unwrap();
        assert!(index.record(file).is_none(), "the words of {path} are in the index");
    }
}

#[test]
fn a_tracked_secret_has_its_path_listed_and_no_word_of_it_known() {
    let place = Place::with(&[(".env", "API_TOKEN=zebracanary\n"), ("a.rs", &function("send", "backoff"))]);
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
        let done = std::process::Command::new("git").args(identity).args(args).current_dir(place.files.path()).output();
        assert!(done.unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "all"]);
    let survey = place.survey(None);
    assert!(survey.files.iter().any(|file| file.path == ".env" && file.secret));
    let question = rhumb_index::retrieval::Question::new("zebracanary", 10);
    assert!(crate::host::search_survey(&survey, &question).is_empty());
}

#[test]
fn only_what_is_new_is_embedded() {
    let place = Place::with(&[("a.rs", &(function("send", "backoff") + &function("gate_of", "gate")))]);
    let embedder = Tiny::new("tiny");
    let survey = place.survey(None);
    let first = place.index(&survey, None, &embedder).unwrap();
    assert_eq!(embedder.given().len(), 2);
    // Nothing has changed, in this process or another.
    assert_eq!(place.index(&survey, Some(&first.vectors), &embedder).unwrap().embedded, 0);
    assert_eq!(place.index(&survey, None, &embedder).unwrap().embedded, 0);
    place.write("a.rs", &(function("send", "backoff") + &function("gate_of", "door")));
    let survey = place.survey(Some(&survey));
    place.index(&survey, Some(&first.vectors), &embedder).unwrap();
    let given = embedder.given();
    assert!(given.len() == 1 && given[0].contains("door"), "{given:?}");
}

#[test]
fn vectors_of_two_models_never_meet() {
    let place = Place::with(&[("a.rs", &function("send", "backoff"))]);
    let (one, other) = (Tiny::new("one@1"), Tiny::new("one@2"));
    let survey = place.survey(None);
    let first = place.index(&survey, None, &one).unwrap();
    let second = place.index(&survey, Some(&first.vectors), &other).unwrap();
    assert_eq!((second.embedded, second.vectors.identity.as_str()), (1, "one@2"));
    assert_eq!(place.index(&survey, None, &one).unwrap().embedded, 0);
}

#[test]
fn what_was_embedded_before_a_failure_is_kept() {
    let functions: String = (0..9).map(|number| function(&format!("step_{number}"), "parse")).collect();
    let place = Place::with(&[("a.rs", &functions)]);
    let survey = place.survey(None);
    let failed = place.index(&survey, None, &Tiny::failing_after(5)).unwrap_err();
    assert!(matches!(failed, IndexError::Embed(EmbedError::NotBuilt)), "{failed}");
    let embedder = Tiny::new("tiny");
    let made = place.index(&survey, None, &embedder).unwrap();
    assert_eq!((made.embedded, made.vectors.len()), (5, 9));
}

#[test]
fn an_index_that_is_stopped_says_so_and_one_that_rests_goes_on() {
    let place = Place::with(&[("a.rs", &function("send", "backoff"))]);
    let (survey, root, embedder) = (place.survey(None), place.root(), Tiny::new("tiny"));
    let request = IndexRequest {
        root: &root,
        survey: &survey,
        before: None,
        embedder: &embedder,
        folder: place.store.path(),
        embed: true,
    };
    let control = IndexControl::default();
    control.pause(true);
    let mut resting = Box::pin(index(request, &control, &|_| {}));
    assert!(resting.as_mut().now_or_never().is_none());
    control.pause(false);
    assert_eq!(resting.as_mut().now_or_never().unwrap().unwrap().vectors.len(), 1);
    control.cancel();
    let stopped = index(request, &control, &|_| {}).now_or_never().unwrap();
    assert!(matches!(stopped, Err(IndexError::Cancelled)));
}

#[test]
fn a_database_that_is_damaged_under_way_is_set_aside_and_made_anew() {
    let place = Place::with(&[("a.rs", &function("send", "backoff"))]);
    let (survey, embedder) = (place.survey(None), Tiny::new("tiny"));
    place.index(&survey, None, &embedder).unwrap();
    fs::write(VectorStore::path_in(place.store.path()), vec![1; 10_000]).unwrap();
    let made = place.index(&survey, None, &embedder).unwrap();
    assert_eq!((made.embedded, made.vectors.len(), made.aside.is_some()), (1, 1, true));
}

#[test]
fn an_estimate_counts_what_is_new_and_embeds_nothing() {
    let place = Place::with(&[("a.rs", &function("send", "backoff")), ("b.rs", &function("look", "chart"))]);
    let (survey, root, embedder) = (place.survey(None), place.root(), Tiny::new("tiny"));
    let request = IndexRequest {
        root: &root,
        survey: &survey,
        before: None,
        embedder: &embedder,
        folder: place.store.path(),
        embed: true,
    };
    let all = estimate(request, &IndexControl::default()).unwrap();
    assert_eq!((all.files, all.texts), (2, 2));
    assert!(all.tokens > 20, "{all:?}");
    assert!(embedder.given().is_empty() && !VectorStore::path_in(place.store.path()).exists());
    place.index(&survey, None, &embedder).unwrap();
    assert_eq!(estimate(request, &IndexControl::default()).unwrap(), IndexEstimate::default());
}

/// A change of a file.
#[derive(Debug, Clone)]
enum Edit {
    Write(usize, Vec<usize>),
    Delete(usize),
    Move(usize, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    let functions = proptest::collection::vec(0usize..16, 0..4);
    prop_oneof![
        4 => (0usize..5, functions).prop_map(|(file, functions)| Edit::Write(file, functions)),
        1 => (0usize..5).prop_map(Edit::Delete),
        1 => (0usize..5, 0usize..5).prop_map(|(from, to)| Edit::Move(from, to)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_that_followed_every_edit_is_the_one_that_is_made_anew(edits in proptest::collection::vec(edit(), 1..12)) {
        let place = Place::with(&[("f0.rs", &function("first", "map"))]);
        let words: Vec<&str> = tiny_model::MEANINGS.iter().flat_map(|words| words.iter().copied()).collect();
        let path = |file: usize| format!("f{file}.rs");
        let embedder = Tiny::new("tiny");
        let mut survey = place.survey(None);
        let mut vectors = place.index(&survey, None, &embedder).unwrap().vectors;
        for edit in edits {
            match edit {
                Edit::Write(file, functions) => {
                    let text: String = functions.iter().map(|word| function(&format!("f_{word}"), words[*word])).collect();
                    place.write(&path(file), &text);
                }
                Edit::Delete(file) => drop(fs::remove_file(place.files.path().join(path(file)))),
                Edit::Move(from, to) => {
                    drop(fs::rename(place.files.path().join(path(from)), place.files.path().join(path(to))));
                }
            }
            survey = place.survey(Some(&survey));
            vectors = place.index(&survey, Some(&vectors), &embedder).unwrap().vectors;
        }
        let fresh = Place { files: place.files, store: tempfile::tempdir().unwrap() };
        let anew = fresh.survey(None);
        let made = fresh.index(&anew, None, &Tiny::new("tiny")).unwrap();
        prop_assert_eq!(seen(&vectors, &survey), seen(&made.vectors, &anew));
        // No text was ever embedded twice.
        let mut times = BTreeMap::new();
        embedder.given().into_iter().for_each(|text| *times.entry(text).or_insert(0) += 1);
        prop_assert!(times.values().all(|times| *times == 1), "{:?}", times);
    }
}
