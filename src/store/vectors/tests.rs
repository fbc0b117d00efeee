//! Tests of storing and finding vectors.

use super::*;
use std::fs;

fn row(numbers: &[f32]) -> QuantizedVector {
    QuantizedVector::new(numbers).unwrap()
}

fn key(text: &str) -> TextKey {
    TextKey::of(text)
}

fn opened(folder: &Path) -> VectorStore {
    let (store, aside) = VectorStore::open(folder).unwrap();
    assert_eq!(aside, None);
    store
}

#[test]
fn vectors_come_back_by_text_and_model() {
    let folder = tempfile::tempdir().unwrap();
    opened(folder.path()).save("a/1", &[(key("x"), row(&[1.0, 0.0])), (key("y"), row(&[0.0, 1.0]))]).unwrap();
    let mut store = opened(folder.path());
    let found = store.rows("a/1", &[key("y"), key("z"), key("x")]).unwrap();
    assert_eq!(found, [Some(row(&[0.0, 1.0])), None, Some(row(&[1.0, 0.0]))]);
    assert_eq!(store.rows("a/2", &[key("x")]).unwrap(), [None]);
    assert_eq!(store.models().unwrap(), [ModelVectors { identity: "a/1".into(), dims: 2, count: 2 }]);
}

#[test]
fn vectors_of_another_length_are_refused_and_nothing_of_their_batch_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = opened(folder.path());
    store.save("m", &[(key("x"), row(&[1.0, 0.0]))]).unwrap();
    let error = store.save("m", &[(key("y"), row(&[1.0, 2.0])), (key("z"), row(&[1.0]))]).unwrap_err();
    assert!(matches!(&error, VectorsError::Dims { known: 2, found: 1, .. }), "{error}");
    assert_eq!(store.rows("m", &[key("y")]).unwrap(), [None]);
    let error = opened(folder.path()).save("n", &[(key("y"), row(&[1.0, 2.0])), (key("z"), row(&[1.0]))]).unwrap_err();
    assert!(matches!(&error, VectorsError::Dims { known: 2, found: 1, .. }), "{error}");
}

#[test]
fn texts_that_nobody_asks_for_are_let_go_after_a_month() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = opened(folder.path());
    store.save_on("old", &[(key("x"), row(&[1.0]))], 100).unwrap();
    store.save_on("m", &[(key("x"), row(&[1.0])), (key("y"), row(&[1.0]))], 100).unwrap();
    assert_eq!(store.sweep_on(100 + MAX_UNUSED_DAYS).unwrap(), 0);
    store.rows_on("m", &[key("y")], 100 + MAX_UNUSED_DAYS).unwrap();
    assert_eq!(store.sweep_on(101 + MAX_UNUSED_DAYS).unwrap(), 2);
    assert_eq!(store.models().unwrap(), [ModelVectors { identity: "m".into(), dims: 1, count: 1 }]);
    assert!(store.rows("m", &[key("y")]).unwrap()[0].is_some());
}

#[test]
fn a_damaged_database_is_set_aside_and_told() {
    let folder = tempfile::tempdir().unwrap();
    opened(folder.path()).save("m", &[(key("x"), row(&[1.0]))]).unwrap();
    fs::write(VectorStore::path_in(folder.path()), vec![7; 8_192]).unwrap();
    let (mut store, aside) = VectorStore::open(folder.path()).unwrap();
    assert_eq!(fs::read(aside.unwrap()).unwrap()[0], 7);
    assert_eq!(store.rows("m", &[key("x")]).unwrap(), [None]);
    store.save("m", &[(key("x"), row(&[1.0]))]).unwrap();
}

#[test]
fn a_row_that_is_none_counts_as_absent() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = opened(folder.path());
    store.save("m", &[(key("x"), row(&[1.0, 1.0])), (key("y"), row(&[1.0, 1.0]))]).unwrap();
    store.database.connection.execute("UPDATE vectors SET row = x'00' WHERE text = ?", params![key("x").0]).unwrap();
    assert!(matches!(store.rows("m", &[key("x"), key("y")]).unwrap()[..], [None, Some(_)]));
}

#[test]
fn a_newer_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    opened(folder.path()).database.connection.pragma_update(None, "user_version", SCHEMA.version + 1).unwrap();
    assert!(matches!(VectorStore::open(folder.path()), Err(VectorsError::Database(DatabaseError::Newer { .. }))));
}

#[test]
fn what_was_agreed_to_is_remembered_until_all_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    assert!(VectorStore::open_existing(folder.path()).unwrap().is_none());
    opened(folder.path()).agree("https://api.example.com").unwrap();
    let store = VectorStore::open_existing(folder.path()).unwrap().unwrap();
    assert!(store.has_agreed("https://api.example.com").unwrap());
    assert!(!store.has_agreed("https://api.example.org").unwrap());
    assert!(VectorStore::delete(folder.path()).unwrap());
    assert!(!VectorStore::delete(folder.path()).unwrap());
    assert!(!opened(folder.path()).has_agreed("https://api.example.com").unwrap());
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let mut store = opened(folder.path());
    store.save("m", &[(key("x"), row(&[1.0]))]).unwrap();
    for file in fs::read_dir(folder.path()).unwrap().flatten() {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o077, 0, "{file:?}");
    }
    assert!(VectorStore::size_in(folder.path()) > 0);
}

#[test]
fn several_may_write_at_once() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..4u32 {
            let folder = folder.path();
            scope.spawn(move || {
                let mut store = opened(folder);
                for batch in 0..10u32 {
                    let own = (key(&format!("{writer} {batch}")), row(&[1.0, writer as f32]));
                    store.save("m", &[own, (key("shared"), row(&[1.0, 1.0]))]).unwrap();
                }
            });
        }
    });
    assert_eq!(opened(folder.path()).models().unwrap()[0].count, 41);
}
