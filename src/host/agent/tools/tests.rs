use super::*;
use crate::host::{SurveyStart, survey};
use proptest::prelude::*;
use rhumb_edit::FileProposal;
use rhumb_tokens::counter_for_model;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::OnceLock;

const GATE: &str = "//! Gates.\n\npub struct Gate {\n    open: bool,\n}\n\nimpl Gate {\n    /// Opens it.\n    pub fn open(&mut self) {\n        self.open = true;\n    }\n}\n";
const LOCK: &str = "use crate::gate::Gate;\n\nfn fill(gate: &mut Gate) {\n    gate.open();\n    gate.open();\n}\n";
const TIDE: &str = "class Tide:\n    \"\"\"A tide.\"\"\"\n\n    def level(self, hour):\n        return high_water(hour)\n\n\ndef high_water(hour):\n    return hour * 2\n";
const TEST: &str = "from tide import high_water\n\n\ndef test_high_water():\n    assert high_water(1) == 2\n";

/// A repository with a proposal.
struct Fixture {
    dir: tempfile::TempDir,
    root: Root,
    paths: Vec<String>,
    pending: Vec<PendingFile>,
    survey: Option<Survey>,
    counter: Arc<dyn TokenCounter>,
}

impl Fixture {
    /// Not indexed yet.
    fn bare(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let inside = dir.path().join("in");
        for (path, text) in files {
            let place = inside.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }
        fs::create_dir_all(&inside).unwrap();
        let root = Root::at(&inside).unwrap();
        let listing = rhumb_workspace::files(&root, &AtomicBool::new(false), &mut |_| {});
        let paths = listing.files.into_iter().map(|file| file.path).collect();
        Self { dir, root, paths, pending: Vec::new(), survey: None, counter: counter_for_model("") }
    }

    fn indexed(files: &[(&str, &str)]) -> Self {
        let mut fixture = Self::bare(files);
        let start = SurveyStart { with_terms: true, ..SurveyStart::default() };
        fixture.survey = survey(&fixture.root, start, &AtomicBool::new(false), &|_| {});
        fixture
    }

    fn harbour() -> Self {
        Self::indexed(&[
            (".gitignore", "/build/\n"),
            ("build/made.rs", "fn made() {}\n"),
            ("src/gate.rs", GATE),
            ("src/lock.rs", LOCK),
            ("py/tide.py", TIDE),
            ("py/tests/test_tide.py", TEST),
        ])
    }

    fn proposing(mut self, path: &str, change: FileChange, proposed: Option<&str>) -> Self {
        let base = rhumb_workspace::read(&self.root, path).ok().map(|snapshot| snapshot.text);
        let file = FileProposal { path: path.to_owned(), change, base, proposed: proposed.map(Arc::from) };
        self.pending.push(PendingFile { file, commented: Vec::new() });
        self
    }

    fn view(&self) -> RepositoryView<'_> {
        RepositoryView {
            root: &self.root,
            paths: &self.paths,
            pending: &self.pending,
            survey: self.survey.as_ref(),
            masks: true,
            counter: self.counter.as_ref(),
        }
    }

    fn perform(&self, action: &Action) -> Result<ToolText, String> {
        perform(action, &self.view(), &AtomicBool::new(false))
    }

    fn text(&self, action: &Action) -> String {
        self.perform(action).unwrap().text
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.lines(path, None, None)
    }

    fn lines(&self, path: &str, start_line: Option<usize>, end_line: Option<usize>) -> Result<String, String> {
        let action = Action::ReadFile { path: path.to_owned(), start_line, end_line };
        self.perform(&action).map(|result| result.text)
    }

    fn list(&self, pattern: Option<&str>) -> Result<String, String> {
        self.perform(&Action::ListFiles { pattern: pattern.map(str::to_owned) }).map(|result| result.text)
    }
}

fn grep(pattern: &str, path: Option<&str>) -> Action {
    Action::Grep { pattern: pattern.to_owned(), path: path.map(str::to_owned), ignore_case: false }
}

fn definition(symbol: &str) -> Action {
    Action::Definition { symbol: symbol.to_owned(), path: None }
}

fn references(symbol: &str) -> Action {
    Action::References { symbol: symbol.to_owned(), path: None }
}

fn outline(path: Option<&str>, query: Option<&str>) -> Action {
    Action::Outline { path: path.map(str::to_owned), query: query.map(str::to_owned) }
}

fn search(query: &str) -> Action {
    Action::Search { query: query.to_owned() }
}

#[test]
fn lines_have_numbers_and_the_last_line_states_the_size() {
    let fixture = Fixture::harbour();
    let text = fixture.read("src/lock.rs").unwrap();
    assert!(text.starts_with("1\tuse crate::gate::Gate;\n2\t\n3\tfn fill"), "{text}");
    assert!(text.ends_with("6\t}\n[6 lines]\n"), "{text}");
    let range = fixture.lines("./src//lock.rs", Some(3), Some(4)).unwrap();
    assert_eq!(range, "3\tfn fill(gate: &mut Gate) {\n4\t    gate.open();\n[lines 3-4 of 6 lines]\n");
    let inside = fixture.root.path().join("src/lock.rs");
    assert_eq!(fixture.read(inside.to_str().unwrap()).unwrap(), text);
    assert!(fixture.lines("src/lock.rs", Some(7), None).unwrap_err().contains("there are 6 lines"));
    assert!(fixture.lines("src/lock.rs", Some(4), Some(2)).unwrap_err().contains("empty"));
    assert!(fixture.lines("src/lock.rs", Some(5), Some(usize::MAX)).unwrap().contains("lines 5-6 of 6"));
}

#[test]
fn a_huge_file_is_cut_and_the_result_says_how_to_read_on() {
    let many: String = (1..=5_000).map(|number| format!("{number}\n")).collect();
    let fixture = Fixture::bare(&[
        ("many.txt", &many),
        ("wide.txt", &"ä".repeat(300_000)),
        ("wide_many.txt", &format!("{}\n", "x".repeat(1_000)).repeat(100)),
    ]);
    let text = fixture.read("many.txt").unwrap();
    assert!(
        text.ends_with("[lines 1-500 of 5000 lines; read on with start_line 501]\n"),
        "{}",
        &text[text.len() - 90..]
    );
    let wide = fixture.read("wide.txt").unwrap();
    assert!(wide.len() < 2_100 && wide.contains("…\n[1 line]"), "{wide}");
    let text = fixture.read("wide_many.txt").unwrap();
    assert!(text.len() < 21_000 && text.contains("read on with start_line 20"), "{}", &text[text.len() - 90..]);
    fs::File::create(fixture.root.path().join("huge")).unwrap().set_len(1 << 30).unwrap();
    assert!(fixture.read("huge").unwrap_err().contains("too large"));
}

#[test]
fn the_proposal_precedes_the_disk() {
    let fixture = Fixture::harbour()
        .proposing("src/lock.rs", FileChange::Modify, Some("fn drain() {}\n"))
        .proposing("src/new.rs", FileChange::Create, Some("fn fresh() {\n    high_water(3);\n}\n"))
        .proposing("src/gate.rs", FileChange::Delete, None)
        .proposing("py/flood.py", FileChange::Rename { from: "py/tide.py".into() }, Some(TIDE));
    assert_eq!(fixture.read("src/lock.rs").unwrap(), "1\tfn drain() {}\n[1 line, with the changes of the proposal]\n");
    for gone in ["src/gate.rs", "py/tide.py"] {
        assert!(fixture.read(gone).unwrap_err().contains("does not exist"), "{gone}");
    }
    assert_eq!(
        fixture.list(Some("**/*.{rs,py}")).unwrap(),
        "py/flood.py\npy/tests/test_tide.py\nsrc/lock.rs\nsrc/new.rs\n"
    );
    let found = fixture.text(&grep("Gate|drain|fresh|class", None));
    assert_eq!(found.lines().count(), 4, "{found}");
    assert!(found.contains("src/lock.rs:1: fn drain() {}") && found.contains("py/flood.py:1: class Tide:"), "{found}");
    assert!(fixture.text(&outline(Some("src/lock.rs"), None)).starts_with("1  fn drain()"));
    assert!(fixture.text(&definition("fresh")).starts_with("src/new.rs:1-3\n1\tfn fresh() {\n"));
    assert!(fixture.perform(&definition("Gate")).unwrap_err().contains("No definition of Gate"));
    assert!(fixture.text(&references("high_water")).contains("src/new.rs:2: high_water(3);  [in fresh]"));
    assert!(
        fixture
            .text(&search("where is the tide high"))
            .contains("Ranked without the changes of the proposal: src/lock.rs")
    );
    assert!(fixture.text(&outline(Some("src"), None)).contains("Shown without the changes of the proposal"));
}

#[test]
fn files_outside_the_root_and_in_git_are_refused_by_every_tool() {
    let fixture = Fixture::bare(&[("a.rs", "secret\n"), (".git/HEAD", "secret\n"), (".git/config", "secret\n")]);
    fs::write(fixture.dir.path().join("out"), "secret\n").unwrap();
    symlink(fixture.dir.path().join("out"), fixture.root.path().join("leak")).unwrap();
    symlink(fixture.dir.path(), fixture.root.path().join("up")).unwrap();
    symlink(".git", fixture.root.path().join("git")).unwrap();
    let absolute = fixture.dir.path().join("out").display().to_string();
    let beside = format!("{}2/out", fixture.root.path().display());
    let paths = ["../out", "a/../../out", "/etc/passwd", "leak", "up/out", ".git/config", "git/config", "~/x", "a\0b"];
    for path in paths.into_iter().chain([absolute.as_str(), beside.as_str(), "..", "/"]) {
        let some = || Some(path.to_owned());
        assert!(fixture.read(path).is_err(), "{path:?}");
        for action in [
            grep("secret", Some(path)),
            outline(Some(path), None),
            Action::Definition { symbol: "x".into(), path: some() },
            Action::References { symbol: "x".into(), path: some() },
            Action::ListFiles { pattern: some() },
        ] {
            let result = fixture.perform(&action);
            assert!(result.is_err(), "{action:?} {result:?}");
        }
    }
    assert!(fixture.text(&grep("secret", None)).starts_with("a.rs:1: secret\n[1 matching line in 1 file"));
    assert!(fixture.text(&grep("secret", Some("../*"))).starts_with("No match in 0 files"));
}

#[test]
fn ignored_files_are_read_by_name_and_secret_ones_are_not() {
    let mut fixture = Fixture::harbour();
    assert!(fixture.read("build/made.rs").unwrap().starts_with("1\tfn made() {}\n"));
    assert!(fixture.text(&grep("made", Some("build/made.rs"))).starts_with("build/made.rs:1: fn made() {}\n"));
    assert!(fixture.text(&grep("made", None)).starts_with("No match in"));
    for name in [".env", "py/id_rsa"] {
        fs::write(fixture.root.path().join(name), "made\n").unwrap();
        assert!(fixture.read(name).unwrap_err().contains("keys or passwords"), "{name}");
        fixture.paths.push(name.to_owned());
    }
    fixture.paths.sort();
    symlink(".env", fixture.root.path().join("plain")).unwrap();
    assert!(fixture.read("plain").unwrap_err().contains("keys or passwords"));
    assert!(fixture.text(&grep("made", None)).contains("2 files not searched"));
    assert!(fixture.perform(&grep("made", Some(".env"))).unwrap_err().contains("keys or passwords"));
}

#[test]
fn a_misspelt_path_gets_similar_ones_and_a_folder_its_entries() {
    let fixture = Fixture::harbour();
    for path in ["lock.rs", "source/Lock.rs", "src/lokc.rs"] {
        assert!(fixture.read(path).unwrap_err().contains("Did you mean src/lock.rs?"), "{path}");
    }
    assert!(fixture.read("zzzzzzzz").unwrap_err().contains("list_files"));
    assert_eq!(fixture.read("py/").unwrap(), "tests/ (1 file)\n  test_tide.py\ntide.py\n");
    assert!(fixture.read("build").unwrap_err().contains("without listed files"));
    fs::write(fixture.root.path().join("a.bin"), b"\x7fELF\0\0").unwrap();
    assert!(fixture.read("a.bin").unwrap_err().contains("binary"));
    fs::write(fixture.root.path().join("none"), b"").unwrap();
    assert_eq!(fixture.read("none").unwrap(), "[empty]\n");
}

#[test]
fn files_are_listed_by_glob_folder_or_as_a_tree() {
    let fixture = Fixture::harbour();
    let tree = ".gitignore\npy/ (2 files)\n  tests/ (1 file)\n  tide.py\nsrc/ (2 files)\n  gate.rs\n  lock.rs\n";
    for all in [None, Some(""), Some("."), Some("./"), fixture.root.path().to_str()] {
        assert_eq!(fixture.list(all).unwrap(), tree, "{all:?}");
    }
    assert_eq!(fixture.list(Some("*.py")).unwrap(), "py/tests/test_tide.py\npy/tide.py\n");
    assert_eq!(fixture.list(Some("py/*.py")).unwrap(), "py/tide.py\n");
    assert_eq!(fixture.list(Some("src/")).unwrap(), "src/gate.rs\nsrc/lock.rs\n");
    assert!(fixture.list(Some("*.go")).unwrap().starts_with("No listed file matches"));
    assert!(fixture.list(Some("a[")).unwrap_err().contains("glob"));
    assert!(fixture.list(Some("src/lokc.rs")).unwrap_err().contains("Did you mean src/lock.rs?"));
}

#[test]
fn a_long_list_ends_with_counts_and_can_be_read_whole() {
    let mut fixture = Fixture::bare(&[]);
    fixture.paths = (0..700).map(|number| format!("{}/f{number:03}", if number < 550 { "a" } else { "b" })).collect();
    let result = fixture.perform(&Action::ListFiles { pattern: Some("**".into()) }).unwrap();
    assert_eq!(result.text.lines().count(), 501);
    assert!(
        result.text.ends_with("a/f499\n[200 more files: b/ 150, a/ 50]\n"),
        "{}",
        &result.text[result.text.len() - 60..]
    );
    assert_eq!(result.rest.unwrap().lines().count(), 700);
}

#[test]
fn grep_shows_lines_by_file_and_limits_them_to_a_path() {
    let fixture = Fixture::harbour();
    let found = fixture.text(&grep(r"\bopen\b.*;$", None));
    let expected =
        "src/gate.rs:10:         self.open = true;\nsrc/lock.rs:4:     gate.open();\nsrc/lock.rs:5:     gate.open();\n";
    assert_eq!(found, format!("{expected}[3 matching lines in 2 files]\n"));
    assert!(fixture.text(&grep("open", Some("src/lock.rs"))).ends_with("[2 matching lines in 1 file]\n"));
    assert!(fixture.text(&grep("hour", Some("py/tests"))).starts_with("No match in 1 file"));
    assert!(fixture.text(&grep("hour", Some("*.py"))).contains("in 1 file]"));
    assert!(fixture.text(&grep("GATE", None)).starts_with("No match"));
    let action = Action::Grep { pattern: "GATE".into(), path: None, ignore_case: true };
    assert!(fixture.text(&action).contains("src/gate.rs:3: pub struct Gate {"));
    assert!(fixture.perform(&grep("x", Some("nowhere"))).unwrap_err().contains("does not exist"));
    let stopped = |action| perform(&action, &fixture.view(), &AtomicBool::new(true)).unwrap_err();
    assert!(stopped(grep("x", None)).contains("stopped") && stopped(references("open")).contains("stopped"));
}

#[test]
fn an_invalid_expression_is_searched_as_plain_text() {
    let fixture = Fixture::harbour();
    let found = fixture.text(&grep("open(", None));
    assert!(found.contains("src/gate.rs:9:") && found.contains("[Not a valid regular expression ("), "{found}");
    assert!(fixture.perform(&grep(r"(\w{1000}){1000}", None)).unwrap_err().contains("too large"));
    assert!(fixture.perform(&grep("", None)).is_err());
    let found = fixture.text(&grep(r"gate\.open\(\);\n\s+gate", None));
    assert!(found.starts_with("src/lock.rs:4:     gate.open();\n[1 matching line"), "{found}");
    for pattern in ["a*", "^", "$", "(?s).*", r"\z", "(?:)"] {
        let found = fixture.text(&grep(pattern, Some("src/gate.rs")));
        assert!(found.contains("matching line") || found.contains("No match"), "{pattern} {found}");
    }
}

#[test]
fn many_and_long_matches_are_cut() {
    let long = format!("{}needle{}\n", "é".repeat(2_000), "x".repeat(2_000));
    let many = "needle\r\n".repeat(3_000);
    let large = "needles ".repeat(300_000);
    let files = [("a.txt", &*long), ("b.txt", &many), ("c.txt", "needle"), ("d.bin", "needle\0\0"), ("e.txt", &large)];
    let fixture = Fixture::bare(&files);
    let result = fixture.perform(&grep("needle$|needlex", None)).unwrap();
    let first = result.text.lines().next().unwrap();
    assert!(first.contains("needle") && first.len() < 330 && first.contains(": …é") && first.ends_with('…'), "{first}");
    assert!(
        result.text.contains("[200 of 3002 lines. Further ones by file:\nb.txt: 2801\nc.txt: 1\n]\n"),
        "{}",
        result.text
    );
    assert!(result.text.ends_with(
        "[3002 matching lines in 3 files; 1 file not searched: larger than 2 MB, or perhaps with keys or passwords]\n"
    ));
    assert!(fixture.text(&grep("needle", Some("e.txt"))).starts_with("e.txt:1: needles"));
    let rest = result.rest.unwrap();
    assert!(rest.lines().count() == 2_001 && rest.ends_with("… 1002 more\n"));
}

#[test]
fn definitions_are_found_in_python_and_rust() {
    let fixture = Fixture::harbour();
    let text = fixture.text(&definition("Gate.open"));
    assert!(
        text.starts_with("src/gate.rs:9-11 in Gate\n 8\t    /// Opens it.\n 9\t    pub fn open(&mut self) {\n"),
        "{text}"
    );
    let text = fixture.text(&definition("tide::high_water()"));
    assert_eq!(text, "py/tide.py:8-9\n8\tdef high_water(hour):\n9\t    return hour * 2\n");
    let text = fixture.text(&definition("Tide.level"));
    assert!(text.starts_with("py/tide.py:4-5 in Tide\n4\t    def level(self, hour):\n"), "{text}");
    let text = fixture.text(&definition("Lock.level"));
    assert!(text.starts_with("There is no Lock.level; these are definitions of level.\npy/tide.py:4-5"), "{text}");
    assert!(fixture.perform(&definition("high_watr")).unwrap_err().contains("Similar names: high_water"));
    let in_ignored = Action::Definition { symbol: "made".into(), path: Some("build/made.rs".into()) };
    assert!(fixture.text(&in_ignored).starts_with("build/made.rs:1\n1\tfn made() {}\n"));
    let action = Action::Definition { symbol: "open".into(), path: Some("py".into()) };
    assert!(fixture.perform(&action).unwrap_err().contains("found there"));
}

#[test]
fn code_comes_with_the_best_of_several_definitions_and_a_long_one_is_cut() {
    let body: String = (0..200).map(|number| format!("    x = {number}\n")).collect();
    let long = format!("def long():\n{body}");
    let fixture = Fixture::indexed(&[
        ("a/tests/test_x.py", "def one():\n    pass\n"),
        ("b/x.py", "def one():\n    pass\n"),
        ("c.py", &long),
    ]);
    let text = fixture.text(&definition("one"));
    assert!(text.starts_with("b/x.py:1-2\n1\tdef one():\n"), "{text}");
    assert!(text.ends_with("\n1 other definition:\na/tests/test_x.py:1-2  def one()\n"), "{text}");
    let text = fixture.text(&definition("long"));
    let wide = format!("function wide() {{\n{}}}\n", format!("  f('{}');\n", "x".repeat(300)).repeat(140));
    assert!(Fixture::bare(&[("w.js", &wide)]).text(&definition("wide")).len() < 21_000);
    assert!(text.lines().count() == 152 && text.ends_with("[51 more lines; read_file from line 151]\n"), "{text}");
}

#[test]
fn references_have_their_line_and_enclosing_definition() {
    let fixture = Fixture::harbour();
    let text = fixture.text(&references("Gate::open"));
    assert!(
        text.contains("src/lock.rs:4: gate.open();  [in fill]\nsrc/lock.rs:5: gate.open();  [in fill]\n"),
        "{text}"
    );
    let text = fixture.text(&references("high_water"));
    let (tide, test) = (text.find("py/tide.py:5: return high_water(hour)  [in Tide.level]"), text.find("py/tests"));
    assert!(tide.is_some() && tide < test, "code comes before tests: {text}");
    assert!(fixture.text(&references("fill")).starts_with("No reference to fill"));
    assert!(fixture.perform(&references("fil")).unwrap_err().contains("fill"));
    let action = Action::References { symbol: "high_water".into(), path: Some("py/tests".into()) };
    assert!(!fixture.text(&action).contains("py/tide.py"));
}

#[test]
fn further_references_are_counted_by_file() {
    let many = format!("from a import f\n\n\ndef g():\n{}", "    f()\n".repeat(150));
    let fixture = Fixture::indexed(&[("a.py", "def f():\n    pass\n"), ("b.py", &many), ("c.py", &many)]);
    let result = fixture.perform(&references("f")).unwrap();
    assert!(result.text.contains("lines. Further ones by file:\nc.py: 10"), "{}", result.text);
    assert!(result.rest.unwrap().lines().count() >= 300);
}

#[test]
fn lines_follow_the_proposal() {
    let moved = format!("import os\n\n\n{TIDE}");
    let fixture = Fixture::harbour().proposing("py/tide.py", FileChange::Modify, Some(&moved));
    assert!(fixture.text(&definition("high_water")).starts_with("py/tide.py:11-12\n"));
    assert!(fixture.text(&references("high_water")).contains("py/tide.py:8: return high_water(hour)"));
    let found = fixture.text(&search("high_water"));
    assert!(found.contains("11  def high_water(hour):"), "{found}");
}

#[test]
fn an_outline_nests_the_definitions_of_a_file_and_maps_folders_and_queries() {
    let fixture = Fixture::harbour();
    assert_eq!(
        fixture.text(&outline(Some("py/tide.py"), None)),
        "1-5  class Tide\n  4-5  def level(self, hour)\n8-9  def high_water(hour)\n"
    );
    let map = fixture.text(&outline(Some("src"), None));
    assert!(map.contains("src/gate.rs") && map.contains("pub fn open") && !map.contains("tide"), "{map}");
    let map = fixture.text(&outline(None, Some("high_water of the tide")));
    let (tide, gate) = (map.find("high_water"), map.find("src/gate.rs"));
    assert!(tide.is_some() && gate.is_none_or(|gate| Some(gate) > tide), "{map}");
    assert!(fixture.text(&outline(Some(".gitignore"), None)).contains("No definitions are known"));
}

#[test]
fn a_search_shows_code_with_its_place() {
    let fixture = Fixture::harbour();
    let found = fixture.text(&search("where is the gate opened"));
    assert!(found.contains("src/gate.rs:") && found.contains("pub fn open(&mut self) {"), "{found}");
    assert!(fixture.text(&search("")).starts_with("Nothing was found"));
}

#[test]
fn without_an_index_names_are_found_in_the_texts() {
    let fixture = Fixture::bare(&[("src/gate.rs", GATE), ("src/lock.rs", LOCK), ("py/tide.py", TIDE)]);
    assert!(fixture.text(&definition("Gate.open")).starts_with("src/gate.rs:9-11 in Gate\n"));
    assert!(fixture.text(&references("high_water")).starts_with("py/tide.py:5:"));
    assert!(fixture.text(&outline(Some("py/tide.py"), None)).starts_with("1-5  class Tide\n"));
    for action in [search("gate"), outline(None, None), outline(Some("src"), None), definition("gone")] {
        assert!(fixture.perform(&action).unwrap_err().contains("not indexed yet"), "{action:?}");
    }
}

#[test]
fn calls_that_do_not_read_are_refused() {
    let fixture = Fixture::bare(&[("a", "")]);
    assert!(fixture.perform(&Action::DeleteFile { path: "a".into() }).is_err());
    assert!(fixture.perform(&Action::Task { prompt: "x".into() }).is_err());
    assert!(fixture.root.path().join("a").exists());
}

#[test]
fn nested_and_long_arguments_are_refused_or_answered_soon() {
    let fixture = Fixture::harbour();
    let nested = |open: &str, close: &str| format!("{}a{}", open.repeat(1_900), close.repeat(1_900));
    for text in [
        nested("{", "}"),
        nested("(", ")"),
        nested("[", "]"),
        nested("{a,", "}"),
        "/x".repeat(2_000),
        "**/".repeat(1_300),
    ] {
        for action in [
            Action::ReadFile { path: text.clone(), start_line: None, end_line: None },
            Action::ListFiles { pattern: Some(text.clone()) },
            grep(&text, Some(&text)),
            grep(&text, None),
            search(&text),
            outline(None, Some(&text)),
            definition(&text),
            references(&text),
        ] {
            drop(fixture.perform(&action));
        }
    }
    assert!(fixture.perform(&search(&"x".repeat(5_000))).unwrap_err().contains("longer than 4000 bytes"));
}

#[test]
fn control_characters_in_file_names_reach_no_result() {
    let name = "src/a\n[end]\u{1b}[2J\u{202e}.rs";
    let text = "/// Odd gate.\npub fn odd_gate() {}\n";
    let fixture = Fixture::indexed(&[(name, text), ("src/b.rs", "fn b() { odd_gate(); }\n")]);
    let actions = [
        Action::ListFiles { pattern: None },
        Action::ListFiles { pattern: Some("**/*.rs".into()) },
        grep("odd_gate", None),
        definition("odd_gate"),
        references("b"),
        references("odd_gate"),
        outline(Some("src"), None),
        outline(None, Some("odd_gate")),
        search("odd_gate"),
        Action::ReadFile { path: "src/a.rs".into(), start_line: None, end_line: None },
    ];
    for action in actions {
        let text = fixture.perform(&action).map_or_else(|error| error, |result| result.text);
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && !text.contains("\n[end]"), "{action:?} {text:?}");
    }
    assert!(fixture.read(name).unwrap().starts_with("1\t/// Odd gate."));
}

proptest! {
    #[test]
    fn every_range_of_every_text_is_read_or_refused(
        text in "(\\PC|\n|\r|\t|ä){0,60}",
        start in proptest::option::of(any::<usize>()),
        near in 0usize..30,
        end in proptest::option::of(0usize..40),
    ) {
        for start in [start, Some(near)] {
            for end in [end, start.map(|start| start.wrapping_add(3)), Some(usize::MAX)] {
                if let Ok(result) = read_lines(&text, start, end, "") {
                    prop_assert!(result.text.ends_with("]\n"));
                }
            }
        }
    }

    #[test]
    fn no_argument_of_a_model_causes_a_panic(text in "(\\PC|[a-z.:/*?{}\\[\\]()#<~\n]){0,24}", more in "(src|py|/|[.]|[*]|\\PC){0,5}") {
        static FIXTURE: OnceLock<Fixture> = OnceLock::new();
        let fixture = FIXTURE.get_or_init(|| {
            Fixture::harbour()
                .proposing("src/lock.rs", FileChange::Modify, Some("fn drain() {}\n"))
                .proposing("src/gate.rs", FileChange::Delete, None)
        });
        let path = || Some(more.clone());
        for action in [
            Action::ReadFile { path: text.clone(), start_line: None, end_line: None },
            Action::ListFiles { pattern: Some(text.clone()) },
            grep(&text, Some(&more)),
            outline(Some(&text), Some(&more)),
            outline(Some(&more), Some(&text)),
            search(&text),
            Action::Definition { symbol: text.clone(), path: path() },
            Action::References { symbol: text.clone(), path: path() },
            Action::References { symbol: text.clone(), path: None },
        ] {
            drop(fixture.perform(&action));
        }
    }

    #[test]
    fn an_excerpt_is_short_and_contains_the_match(line in "(a|é|𝄞|\t){0,80}", at in 0usize..200, max in 16usize..60) {
        let at = line.floor_char_boundary(at.min(line.len()));
        let shown = excerpt(&line, at, max);
        prop_assert!(shown.len() <= max + 6);
        if let Some(c) = line.get(at..).and_then(|rest| rest.chars().next()) {
            prop_assert!(shown.contains(c));
        }
    }
}
