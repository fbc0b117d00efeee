//! Whole runs, on a repository of two commits.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use rhumb_workspace::git::{Checkout, Repo};

use super::*;

const TIDE: &str = "/// Height of the water.\npub fn tide_height(hour: u32) -> f64 {\n    0.0\n}\n";
const PORT: &str = "/// A harbour.\npub struct Harbour;\n\nimpl Harbour {\n    pub fn moor(&self) {}\n}\n";

/// A repository whose second commit changes `tide_height`, and the id of the first.
fn repository(folder: &Path) -> String {
    fs::write(folder.join("tide.rs"), TIDE).unwrap();
    fs::write(folder.join("port.rs"), PORT).unwrap();
    for n in 0..40 {
        // Some are smaller than the files of the case, and some larger: the size must not tell them.
        let lights: String = (0..n % 9 + 1).map(|light| format!("pub fn light_{n}_{light}() {{}}\n")).collect();
        fs::write(folder.join(format!("buoy_{n}.rs")), lights).unwrap();
    }
    rhumb_workspace::git::init(folder, "Ada", "ada@example.com", "Begin").unwrap();
    let repo = Repo::open(folder).unwrap().unwrap();
    let first = repo.history(&Default::default(), &AtomicBool::new(false)).unwrap().head;
    fs::write(folder.join("tide.rs"), TIDE.replace("0.0", "1.0")).unwrap();
    fs::write(folder.join("port.rs"), PORT.replace("{}", "{ todo() }")).unwrap();
    repo.commit_paths(&["tide.rs".to_owned(), "port.rs".to_owned()], "Raise the tide").unwrap();
    first
}

fn case(parent: &str) -> CommitCase {
    let line = format!(
        r#"{{"id": "tide", "parent": "{parent}", "query": "raise the tide in the harbour", "chat": "port.rs",
        "gold": [{{"path": "tide.rs"}}, {{"path": "port.rs"}}],
        "symbols": [{{"path": "tide.rs", "name": "tide_height", "line": 2}}, {{"path": "port.rs", "name": "moor", "line": 5}}]}}"#
    );
    cases(&line.replace('\n', " ")).unwrap().remove(0)
}

struct Run {
    lender: tempfile::TempDir,
    folders: [tempfile::TempDir; 2],
    parent: String,
}

impl Run {
    fn new() -> Self {
        let folder = || tempfile::tempdir().unwrap();
        let lender = folder();
        let parent = repository(lender.path());
        Self { lender, folders: [folder(), folder()], parent }
    }

    fn measure(&self, cases: &[CommitCase], budgets: &[usize], without: &[&str]) -> Result<Vec<Variant>, ContextError> {
        let checkout = Checkout::new(self.lender.path(), self.folders[0].path()).unwrap();
        let without: Vec<String> = without.iter().map(|signal| (*signal).to_owned()).collect();
        ContextBench::new(&checkout, self.folders[1].path(), budgets)?.run(cases, &without)
    }
}

#[test]
fn files_that_the_commit_changed_are_found() {
    let run = Run::new();
    let variants = run.measure(&[case(&run.parent)], &[1024], &["request"]).unwrap();
    let all = &variants[0];
    let recall: Vec<_> = all.recall().map(|cell| (cell.task.as_str(), cell.means.file(), cell.means.name())).collect();
    assert_eq!(recall, [("M1", 1.0, 1.0), ("M2", 1.0, 1.0)]);
    assert!(all.recall().all(|cell| cell.means.signature() == 1.0));
    assert_eq!((all.recall_at_ten(), all.ndcg_at_ten(), all.over), (1.0, 1.0, 0));
    assert_eq!(variants[1].without.as_deref(), Some("request"));
    assert!(variants[1].ndcg_at_ten() < 1.0, "without the request nothing tells the files from the buoys");
}

#[test]
fn a_small_budget_is_kept_and_shows_less() {
    let run = Run::new();
    let variants = run.measure(&[case(&run.parent)], &[4, 12, 40], &[]).unwrap();
    let seen: Vec<f64> = variants[0].recall().map(|cell| cell.means.signature()).collect();
    assert_eq!(variants[0].over, 0);
    assert!(seen[0] < 1.0 && seen[0] <= seen[2], "{seen:?}");
}

#[test]
fn a_case_with_one_file_says_nothing_of_others() {
    let run = Run::new();
    let mut single = case(&run.parent);
    single.gold.truncate(1);
    single.chat = "tide.rs".into();
    let variants = run.measure(&[single], &[256], &[]).unwrap();
    assert_eq!(variants[0].recall().map(|cell| cell.task.as_str()).collect::<Vec<_>>(), ["M1"]);
}

#[test]
fn a_case_from_another_repository_is_reported_by_name() {
    let run = Run::new();
    let error = |case: CommitCase| run.measure(&[case], &[256], &[]).unwrap_err().to_string();
    let none = "0123456789012345678901234567890123456789";
    assert_eq!(error(case(none)), format!("case tide: the repository has no commit {none}"));
}

#[test]
fn a_line_that_does_not_exist_is_reported() {
    let run = Run::new();
    let mut beyond = case(&run.parent);
    beyond.symbols[0].line = 99;
    let error = run.measure(&[beyond], &[256], &[]).unwrap_err().to_string();
    assert_eq!(error, "case tide: there is no line 99 in tide.rs");
}
