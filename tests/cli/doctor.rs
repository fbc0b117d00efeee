//! `rhumb doctor`: its checks, what it reports about keys, and its exit code.

use super::*;

/// The checks of that name.
fn checks<'v>(value: &'v Value, name: &str) -> Vec<&'v Value> {
    let all = value["checks"].as_array().unwrap();
    all.iter().filter(|check| check["name"].as_str().is_some_and(|own| own.starts_with(name))).collect()
}

#[test]
fn a_server_that_does_not_answer_is_reported_with_a_hint() {
    let repo = harbour_repo();
    // Nothing listens on port 1.
    let command = rhumb(&repo.path(), &["doctor", "--json", "--base-url", "http://127.0.0.1:1/v1", "--model", "m"]);
    let (code, out, err) = run(command);
    assert_eq!(code, 1, "{err}");
    let value = json(&out);
    let server = checks(&value, "model server")[0];
    assert_eq!(server["health"], "bad", "{server}");
    assert!(!server["hint"].as_str().unwrap().is_empty(), "{server}");
    assert_eq!(checks(&value, "repository")[0]["health"], "good");
}

#[test]
fn keys_are_reported_by_their_source() {
    let repo = harbour_repo();
    let mut command = rhumb(&repo.path(), &["doctor", "--base-url", "http://127.0.0.1:1/v1"]);
    command.env("RHUMB_API_KEY", KEY);
    let (_, out, err) = run(command);
    assert!(out.contains("from RHUMB_API_KEY") && !out.contains(KEY) && !err.contains(KEY), "{out}{err}");
}

#[test]
fn a_provider_without_an_address_is_a_fault_only_where_there_is_a_key_for_it() {
    let repo = harbour_repo();
    let (_, out, err) = run(rhumb(&repo.path(), &["doctor", "--json"]));
    assert!(checks(&json(&out), "key: azure").is_empty(), "{out}{err}");
    let mut command = rhumb(&repo.path(), &["doctor", "--json"]);
    command.env("AZURE_OPENAI_API_KEY", KEY);
    let (code, out, err) = run(command);
    let value = json(&out);
    let azure = checks(&value, "key: azure")[0];
    assert!(code == 1 && azure["text"].as_str().unwrap().contains("needs an address"), "{out}{err}");
}
