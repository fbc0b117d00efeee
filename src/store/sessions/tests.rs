use super::*;
use proptest::prelude::*;
use rhumb_session::SessionChange;
use std::collections::BTreeMap;
use std::fs;

fn open(folder: &Path) -> SessionStore {
    SessionStore::open(folder).unwrap().0
}

fn said(text: &str) -> SessionChange {
    SessionChange {
        opening: Some(text.into()),
        messages: 1,
        entries: vec![(0, text.into())],
        length: 1,
        ..SessionChange::default()
    }
}

#[test]
fn a_session_comes_back_after_the_program_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let (number, live) = store.begin(None).unwrap();
    store.change(Some(number), &said("hoist"), &["hoist".into()]).unwrap();
    let more = SessionChange { entries: vec![(1, "sails".into())], length: 2, messages: 1, ..SessionChange::default() };
    store.change(Some(number), &more, &["/ls".into(), "hoist".into()]).unwrap();
    drop((store, live));
    let mut store = open(folder.path());
    assert_eq!(store.load(number).unwrap().unwrap().entries, ["hoist", "sails"]);
    assert_eq!(store.inputs().unwrap(), ["/ls", "hoist"]);
    assert_eq!(store.load(number + 1).unwrap(), None);
}

#[test]
fn a_session_that_is_open_elsewhere_cannot_be_opened_or_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (open(folder.path()), open(folder.path()));
    let (number, live) = one.begin(None).unwrap();
    one.change(Some(number), &said("mine"), &[]).unwrap();
    assert!(two.hold(number).unwrap().is_none());
    assert!(two.list("").unwrap()[0].live);
    assert!(!two.delete(number).unwrap());
    drop(live);
    assert!(!two.list("").unwrap()[0].live);
    drop(two.hold(number).unwrap().unwrap());
    assert!(two.delete(number).unwrap());
    let gone = one.change(Some(number), &said("mine"), &[]).unwrap_err();
    assert!(matches!(gone, SessionsError::Gone(_)), "{gone}");
}

#[test]
fn sessions_are_found_by_number_name_words_and_date() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    for (text, name) in [("Split the parser", "parser"), ("Mend the Parser's tests", ""), ("hello", "greeting")] {
        let (number, _live) = store.begin(None).unwrap();
        store.change(Some(number), &SessionChange { name: Some(name.into()), ..said(text) }, &[]).unwrap();
    }
    let (_, _empty) = store.begin(None).unwrap();
    let numbers = |query: &str| store.list(query).unwrap().iter().map(|line| line.number).collect::<Vec<_>>();
    assert_eq!(numbers(""), [3, 2, 1], "what nothing was said in is left out");
    assert_eq!(numbers("parser"), [2, 1]);
    let date = store.list("").unwrap()[0].changed.clone();
    assert_eq!(numbers(&date).len(), 3);
    assert_eq!(store.find("Parser").unwrap(), Found::One(1), "a whole name wins over a word");
    assert_eq!(store.find("tests mend").unwrap(), Found::One(2));
    assert_eq!(store.find("3").unwrap(), Found::One(3));
    assert!(matches!(store.find("the").unwrap(), Found::Several(lines) if lines.len() == 2));
    assert_eq!((store.find("zebra").unwrap(), store.find("20").unwrap()), (Found::None, Found::None));
    assert_eq!((store.newest(None).unwrap(), store.newest(Some(3)).unwrap()), (Some(3), Some(2)));
}

#[test]
fn a_damaged_database_is_moved_aside_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let (number, live) = store.begin(None).unwrap();
    store.change(Some(number), &said(&"rope ".repeat(10_000)), &[]).unwrap();
    drop((store, live));
    let path = folder.path().join("sessions.db");
    let mut bytes = fs::read(&path).unwrap();
    let from = bytes.len() / 3;
    bytes[from..].fill(0x55);
    fs::write(&path, &bytes).unwrap();
    let (mut store, aside) = SessionStore::open(folder.path()).unwrap();
    let aside = aside.unwrap();
    assert_eq!(fs::read(&aside).unwrap(), bytes);
    assert!(aside.to_string_lossy().contains("sessions.db.damaged-20"), "{}", aside.display());
    assert_eq!(store.load(number).unwrap(), None);
    drop(store);
    fs::write(&path, "no database").unwrap();
    assert!(SessionStore::open(folder.path()).unwrap().1.is_some());
}

#[test]
fn a_database_of_a_newer_program_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    store.database.connection.execute_batch("PRAGMA user_version = 99; CREATE TABLE later (x);").unwrap();
    drop(store);
    let before = fs::read(folder.path().join("sessions.db")).unwrap();
    let error = SessionStore::open(folder.path()).unwrap_err();
    assert!(matches!(error, SessionsError::Database(DatabaseError::Newer { found: 99, .. })), "{error}");
    assert_eq!(fs::read(folder.path().join("sessions.db")).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let outside = tempfile::tempdir().unwrap();
    let folder = sessions_folder(outside.path(), Path::new("/home/mira/har bour"));
    let mut store = open(&folder);
    let (number, _live) = store.begin(None).unwrap();
    store.change(Some(number), &said("private"), &[]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn roots_of_one_name_have_folders_of_their_own() {
    let folder = |root: &str| sessions_folder(Path::new("/s"), Path::new(root));
    assert_ne!(folder("/a/harbour"), folder("/b/harbour"));
    assert!(folder("/a/harbour").starts_with("/s/sessions"));
}

#[derive(Debug, Clone)]
enum Step {
    Begin,
    Change(usize, Vec<(usize, String)>, usize, Vec<(usize, String)>, Option<String>),
    Delete(usize),
    Reopen,
}

const PARTS: [&str; 3] = ["files", "draft", "review"];

fn step() -> impl Strategy<Value = Step> {
    let entries = prop::collection::vec((0usize..6, "\\PC{0,9}"), 0..4);
    let parts = prop::collection::vec((0usize..3, "\\PC{0,5}"), 0..3);
    prop_oneof![
        2 => Just(Step::Begin),
        6 => (0usize..4, entries, 0usize..7, parts, prop::option::of("[a-z]{0,4}"))
            .prop_map(|(at, entries, length, parts, name)| Step::Change(at, entries, length, parts, name)),
        1 => (0usize..4).prop_map(Step::Delete),
        1 => Just(Step::Reopen),
    ]
}

/// The expected content of a session.
type Model = (String, BTreeMap<usize, String>, BTreeMap<String, String>);

fn change(model: &mut Model, change: &SessionChange) {
    if let Some(name) = &change.name {
        model.0.clone_from(name);
    }
    model.1.extend(change.entries.iter().cloned());
    model.1.retain(|place, _| *place < change.length);
    for (name, body) in &change.parts {
        model.2.insert((*name).to_owned(), body.clone());
    }
    model.2.retain(|_, body| !body.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn whatever_is_done_is_what_is_read_again(steps in prop::collection::vec(step(), 1..25)) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path());
        let mut models: Vec<(i64, Option<Model>)> = Vec::new();
        for step in steps {
            match step {
                Step::Begin => models.push((store.begin(None).unwrap().0, Some(Model::default()))),
                Step::Reopen => {
                    drop(store);
                    store = open(folder.path());
                }
                Step::Delete(at) => {
                    if let Some((number, model)) = models.get_mut(at) {
                        prop_assert_eq!(store.delete(*number).unwrap(), model.take().is_some());
                    }
                }
                Step::Change(at, entries, length, parts, name) => {
                    let parts = parts.into_iter().map(|(at, body)| (PARTS[at], body)).collect();
                    let order = SessionChange { name, entries, length, parts, ..SessionChange::default() };
                    let Some((number, model)) = models.get_mut(at) else { continue };
                    let done = store.change(Some(*number), &order, &[]);
                    prop_assert_eq!(done.is_ok(), model.is_some());
                    model.iter_mut().for_each(|model| change(model, &order));
                }
            }
            for (number, model) in &models {
                let stored = store.load(*number).unwrap().map(|stored| (stored.name, stored.entries, stored.parts));
                let model = model.clone().map(|model| (model.0, model.1.into_values().collect::<Vec<_>>(), model.2));
                prop_assert_eq!(stored, model);
            }
        }
    }
}
