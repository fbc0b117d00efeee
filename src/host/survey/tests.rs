use super::*;
use rhumb_index::repo_map::{MapRequest, Ranking, RepoMap};
use rhumb_tokens::counter_for_model;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

/// A plain folder of sources and a cache beside it.
struct SurveyFixture {
    _folder: tempfile::TempDir,
    root: Root,
    cache: PathBuf,
}

impl SurveyFixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (work, cache) = (folder.path().join("work"), folder.path().join("cache"));
        fs::create_dir_all(&work).unwrap();
        let scene = Self { root: Root::at(&work).unwrap(), cache, _folder: folder };
        files.iter().for_each(|(path, text)| scene.write(path, text));
        scene
    }

    /// Writes a file with an age of one hour: a file that has just changed is always read again.
    fn write(&self, path: &str, text: &str) {
        let place = self.root.path().join(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(&place, text).unwrap();
        let hour = Duration::from_secs(3_600) - Duration::from_millis(text.len() as u64);
        fs::File::options().write(true).open(&place).unwrap().set_modified(SystemTime::now() - hour).unwrap();
    }

    fn store(&self) -> MapStore {
        MapStore::new(&self.cache, self.root.path(), self.root.path())
    }

    fn survey(&self, before: Option<&Survey>, stored: bool) -> Survey {
        let store = stored.then(|| self.store());
        let start = SurveyStart {
            before,
            store: store.as_ref(),
            changed: None,
            with_terms: true,
            provisional: false,
            stop_reading: None,
        };
        survey(&self.root, start, &AtomicBool::new(false), &|_| {}).unwrap()
    }

    fn stored_files(&self, folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.store().folder().join(folder)).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn map(survey: &Survey) -> String {
    let request = MapRequest { budget: 2_000, message: "where is the gate opened".into(), ..MapRequest::default() };
    let ranking = Ranking::new(&survey.graph, &request, &Weights::default());
    RepoMap::of_ranking(ranking, &request, counter_for_model("gpt-4").as_ref()).text
}

const FILES: [(&str, &str); 3] = [
    ("src/gate.py", "class Gate:\n    def open(self):\n        return lift()\n"),
    ("src/lift.py", "def lift():\n    return 1\n"),
    ("notes.txt", "nothing\n"),
];

#[test]
fn a_second_survey_reads_nothing_and_gives_the_same_map() {
    let scene = SurveyFixture::new(&FILES);
    let first = scene.survey(None, true);
    assert_eq!((first.read, first.rebuilt), (3, false));
    first.save(&scene.store()).unwrap();
    let second = scene.survey(None, true);
    assert_eq!((second.read, second.bytes), (0, first.bytes));
    assert_eq!(map(&first), map(&second));
    assert_eq!(scene.survey(Some(&second), false).read, 0);
}

#[test]
fn stored_ranks_are_used_while_nothing_has_changed() {
    let scene = SurveyFixture::new(&FILES);
    let first = scene.survey(None, true);
    first.save(&scene.store()).unwrap();
    first.complete_ranks(&scene.store()).unwrap();
    let second = scene.survey(None, true);
    assert_eq!(second.graph.rank_lists(), GraphRanks::LISTS);
    assert_eq!(second.graph.ranks(), first.graph.ranks());
    assert_eq!((map(&second), second.graph.stats()), (map(&first), first.graph.stats()));
    // Another content, or another path of the same content, is another graph.
    scene.write("src/lift.py", "def lift():\n    return Gate\n");
    assert_eq!(scene.survey(None, true).graph.rank_lists(), 0);
    scene.write("src/lift.py", FILES[1].1);
    fs::rename(scene.root.path().join("notes.txt"), scene.root.path().join("README")).unwrap();
    let moved = scene.survey(None, true);
    assert_eq!(moved.graph.rank_lists(), 0);
    assert_eq!(map(&moved), map(&scene.survey(None, false)));
}

#[test]
fn only_what_changed_is_read_and_the_map_is_that_of_a_fresh_survey() {
    let scene = SurveyFixture::new(&FILES);
    scene.survey(None, true).save(&scene.store()).unwrap();
    scene.write("src/lift.py", "def lift():\n    return gate_height()\n\ndef gate_height():\n    return 2\n");
    scene.write("src/a_new.py", "def open_gate():\n    pass\n");
    fs::remove_file(scene.root.path().join("notes.txt")).unwrap();
    let changed = scene.survey(None, true);
    assert_eq!(changed.read, 2);
    assert_eq!(map(&changed), map(&scene.survey(None, false)));
    changed.save(&scene.store()).unwrap();
    assert_eq!(scene.survey(None, true).read, 0);
}

#[test]
fn a_content_that_was_known_is_not_parsed_again() {
    let scene = SurveyFixture::new(&FILES);
    scene.survey(None, true).save(&scene.store()).unwrap();
    let (other, back) = ("def lift():\n    return 'other branch'\n", FILES[1].1);
    scene.write("src/lift.py", other);
    scene.survey(None, true).save(&scene.store()).unwrap();
    let segments = scene.stored_files("segments").len();
    scene.write("src/lift.py", back);
    fs::rename(scene.root.path().join("src/gate.py"), scene.root.path().join("src/moved.py")).unwrap();
    let survey = scene.survey(None, true);
    survey.save(&scene.store()).unwrap();
    assert_eq!(scene.stored_files("segments").len(), segments, "nothing new was made");
    assert!(map(&survey).contains("src/moved.py"));
}

#[test]
fn a_damaged_store_is_made_anew() {
    let scene = SurveyFixture::new(&FILES);
    let first = scene.survey(None, true);
    first.save(&scene.store()).unwrap();
    for folder in ["segments", "trees"] {
        for path in scene.stored_files(folder) {
            let whole = fs::read(&path).unwrap();
            for damaged in [&whole[..whole.len() / 2], &b"not ours"[..], &[]] {
                fs::write(&path, damaged).unwrap();
                let survey = scene.survey(None, true);
                assert!(survey.rebuilt && survey.read == 3, "{}", path.display());
                assert_eq!(map(&survey), map(&first));
            }
            fs::remove_file(&path).unwrap();
        }
        scene.survey(None, true).save(&scene.store()).unwrap();
        assert!(!scene.survey(None, true).rebuilt);
    }
}

#[test]
fn a_store_that_cannot_be_written_is_told_and_does_no_harm() {
    let scene = SurveyFixture::new(&FILES);
    fs::write(&scene.cache, "a file where the folder should be").unwrap();
    let survey = scene.survey(None, true);
    let error = survey.save(&scene.store()).unwrap_err();
    assert!(error.to_string().contains("cache"), "{error}");
    assert_eq!(scene.survey(None, true).read, 3);
}

#[test]
fn many_small_changes_end_in_one_segment() {
    let scene = SurveyFixture::new(&FILES);
    let mut survey = scene.survey(None, false);
    for turn in 0..20 {
        scene.write("src/lift.py", &format!("def lift():\n    return {}\n", "1 + ".repeat(turn) + "1"));
        survey = scene.survey(Some(&survey), false);
        assert_eq!(survey.read, 1, "turn {turn}");
    }
    assert!(survey.segments.len() <= 9, "{}", survey.segments.len());
    assert_eq!(map(&survey), map(&scene.survey(None, false)));
}

#[test]
fn what_changed_just_now_is_looked_at_again() {
    let scene = SurveyFixture::new(&FILES);
    fs::write(scene.root.path().join("src/lift.py"), "def lift():\n    return 2\n").unwrap();
    let first = scene.survey(None, true);
    first.save(&scene.store()).unwrap();
    assert_eq!(scene.survey(None, true).read, 1, "its time may not tell another change");
}

#[test]
fn worktrees_of_a_repository_share_what_they_know() {
    let scene = SurveyFixture::new(&FILES);
    scene.survey(None, true).save(&scene.store()).unwrap();
    let other = MapStore::new(&scene.cache, scene.root.path(), Path::new("/somewhere/else"));
    assert_eq!(other.folder(), scene.store().folder());
    assert!(other.load(true).files.is_empty(), "but each has its own list of files");
}

#[test]
fn where_something_watches_only_what_changed_is_looked_at() {
    let scene = SurveyFixture::new(&FILES);
    let before = scene.survey(None, false);
    scene.write("src/lift.py", "def lift():\n    return 7777\n");
    scene.write("src/gate.py", "class Gate:\n    def closed(self):\n        return 1\n");
    let changed = DiskChanges {
        files: ["src/lift.py".to_owned(), "no/such.py".to_owned()].into(),
        listing: false,
        ..DiskChanges::default()
    };
    let start = SurveyStart { before: Some(&before), changed: Some(&changed), ..SurveyStart::default() };
    let after = survey(&scene.root, start, &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!((after.read, after.files.len()), (1, 3), "the other change was not told");
    fs::remove_file(scene.root.path().join("src/lift.py")).unwrap();
    let start = SurveyStart { before: Some(&after), ..start };
    assert_eq!(survey(&scene.root, start, &AtomicBool::new(false), &|_| {}).unwrap().files.len(), 2);
}

#[test]
fn a_large_repository_shows_a_guess_before_it_is_parsed() {
    let body = "    value = lift_gate(value)\n".repeat(2_500);
    let files: Vec<(String, String)> =
        (0..40).map(|n| (format!("src/f{n:02}.py"), format!("def lift_{n}(value):\n{body}"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let scene = SurveyFixture::new(&files);
    let guesses = std::sync::Mutex::new(Vec::new());
    let progress = |step: SurveyStep<'_>| {
        if let SurveyStep::Provisional(graph) = step {
            guesses.lock().unwrap().push(graph.stats().definitions);
        }
    };
    let start = SurveyStart { with_terms: true, provisional: true, ..SurveyStart::default() };
    let found = survey(&scene.root, start, &AtomicBool::new(false), &progress).unwrap();
    assert_eq!(*guesses.lock().unwrap(), [40, 40, 40, 40]);
    assert_eq!((found.segments.len(), found.read), (1, 40));
    assert_eq!(map(&found), map(&scene.survey(None, false)));
}

#[test]
fn where_nothing_changed_the_graph_stays() {
    let scene = SurveyFixture::new(&FILES);
    let before = scene.survey(None, false);
    assert!(Arc::ptr_eq(&before.graph, &scene.survey(Some(&before), false).graph));
    scene.write("src/lift.py", "def lift():\n    return 12345\n");
    assert!(!Arc::ptr_eq(&before.graph, &scene.survey(Some(&before), false).graph));
}

#[test]
fn a_segment_that_vanished_is_made_anew_with_its_words() {
    let scene = SurveyFixture::new(&FILES);
    scene.survey(None, true).save(&scene.store()).unwrap();
    let without = SurveyStart { store: Some(&scene.store()), ..SurveyStart::default() };
    // A survey without words and with a new file, while another process deletes the segments.
    scene.write("src/new.py", "def new_gate():\n    pass\n");
    let survey = survey(&scene.root, without, &AtomicBool::new(false), &|_| {}).unwrap();
    scene.stored_files("segments").iter().for_each(|path| fs::remove_file(path).unwrap());
    survey.save(&scene.store()).unwrap();
    let again = scene.survey(None, true);
    assert_eq!(again.read, 4);
    assert_eq!(map(&again), map(&scene.survey(None, false)));
}

#[test]
fn what_git_tracks_is_listed_though_its_rules_would_hide_it() {
    let scene = SurveyFixture::new(&FILES);
    scene.write("kept/out.py", "def out():\n    pass\n");
    rhumb_workspace::git::init(scene.root.path(), "You", "you@example.com", "Begin").unwrap();
    scene.write(".gitignore", "/*\n");
    scene.write(".rhumbignore", "kept/\n");
    scene.write("untracked.py", "def untracked():\n    pass\n");
    let root = Root::at(scene.root.path()).unwrap();
    let survey = survey(&root, SurveyStart::default(), &AtomicBool::new(false), &|_| {}).unwrap();
    let paths: Vec<&str> = survey.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["notes.txt", "src/gate.py", "src/lift.py"]);
}

#[test]
fn a_survey_can_be_cancelled() {
    let scene = SurveyFixture::new(&FILES);
    assert!(survey(&scene.root, SurveyStart::default(), &AtomicBool::new(true), &|_| {}).is_none());
}

#[test]
fn what_is_enough_leaves_files_out_until_they_are_wanted() {
    let texts: Vec<(String, String)> = (0..200)
        .map(|number| (format!("m{number:03}.py"), format!("def f{number}():\n    return {number}\n")))
        .collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let scene = SurveyFixture::new(&files);
    let enough = AtomicBool::new(false);
    let stop = |step: SurveyStep<'_>| {
        if matches!(step, SurveyStep::Reading(..)) {
            enough.store(true, Ordering::Relaxed);
        }
    };
    let start = SurveyStart { with_terms: true, stop_reading: Some(&enough), ..SurveyStart::default() };
    // One thread, so that the first part is read before the others begin.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let first = pool.install(|| survey(&scene.root, start, &AtomicBool::new(false), &stop)).unwrap();
    assert!((1..200).contains(&first.unread), "{}", first.unread);
    assert_eq!((first.files.len(), first.read + first.unread), (200, 200), "all are listed");
    let left = first.known.iter().find(|file| file.stamp == records::UNREAD).unwrap().path.clone();
    let had = first.known.iter().find(|file| file.stamp != records::UNREAD).unwrap().path.clone();
    // A file that was read is read again when it changes; a skipped file stays skipped.
    scene.write(&had, "def other():\n    return 'changed'\n");
    scene.write(&left, "def more():\n    return 'changed as well'\n");
    let again =
        survey(&scene.root, SurveyStart { before: Some(&first), ..start }, &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!((again.unread, again.read), (first.unread, 1));
    enough.store(false, Ordering::Relaxed);
    let whole =
        survey(&scene.root, SurveyStart { before: Some(&again), ..start }, &AtomicBool::new(false), &|_| {}).unwrap();
    assert_eq!((whole.unread, whole.read), (0, first.unread));
}
