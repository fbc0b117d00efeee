//! `rhumb models`: its output, its stored lists and its errors, with lists from files and from a local server.
#![allow(clippy::unwrap_used, clippy::panic)] // the checks for tests do not know helper functions

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

/// `rhumb models` for a user whose folders are all below `home`.
fn models(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rhumb"));
    command.env_clear().env("HOME", home).env("XDG_CACHE_HOME", home.join("cache")).current_dir(home);
    command.arg("models").args(args).output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A list of `count` models in the format of OpenRouter.
fn list(count: usize) -> String {
    let model = |number: usize| json!({"id": format!("maker/tide-{number}"), "context_length": 77_000});
    json!({"data": (1..=count).map(model).collect::<Vec<_>>()}).to_string()
}

fn home_with(file: &str, text: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join(file), text).unwrap();
    home
}

/// An address that answers one request with `body`.
fn serve(body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).unwrap();
    });
    format!("http://{address}/list.json")
}

#[test]
fn the_table_says_what_is_known_and_from_where() {
    let home = tempfile::tempdir().unwrap();
    let found = models(home.path(), &["gpt-4o"]);
    assert_eq!(code(&found), 0);
    let first = stdout(&found).lines().nth(1).unwrap().to_owned();
    for part in ["gpt-4o ", "128k", "16.4k", "2.5", "10", "images", "bundled"] {
        assert!(first.contains(part), "{part} is not in {first}");
    }
    assert!(stderr(&found).contains("bundled list litellm: "), "{}", stderr(&found));
    // Nothing was fetched, and nothing written.
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn json_is_for_programs() {
    let home = tempfile::tempdir().unwrap();
    let found = json_of(&models(home.path(), &["--json", "gpt-4o"]));
    let model = &found["models"][0];
    assert_eq!((&model["window"], &model["source"]), (&json!(128_000), &json!("bundled")));
    assert_eq!((&model["prices"]["input"], &model["caching"]), (&json!(2.5), &json!("by-prefix")));
    assert_eq!(found["lists"][0]["layer"], "bundled");
    assert!(found["lists"][0]["date"].as_str().unwrap().len() == 10);
    let all = json_of(&models(home.path(), &["--json"]));
    assert_eq!(all["models"].as_array().unwrap().len(), all["lists"][0]["models"].as_u64().unwrap() as usize);
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_ones() {
    let home = tempfile::tempdir().unwrap();
    let found = models(home.path(), &["gtp-4o"]);
    assert_eq!((code(&found), stdout(&found).as_str()), (1, ""));
    assert!(stderr(&found).contains("in no list") && stderr(&found).contains("openai/gpt-4o"), "{}", stderr(&found));
    let found = models(home.path(), &["--json", "claude-zebra-9x"]);
    assert_eq!((code(&found), &json_of(&found)["assumed"]["source"]), (1, &json!("family")));
}

#[test]
fn a_list_is_stored_and_used_until_a_valid_one_arrives() {
    let home = home_with("first.json", &list(4));
    let kept = models(home.path(), &["--from", "first.json"]);
    assert_eq!(code(&kept), 0, "{}", stderr(&kept));
    assert!(stderr(&kept).contains("openrouter: 4 models, as of 20") && stderr(&kept).contains("first.json"));
    let window = |name: &str| json_of(&models(home.path(), &["--json", name]))["models"][0]["window"].clone();
    assert_eq!(window("openrouter/maker/tide-3"), 77_000);

    // Too small, not a list, missing, no server: the stored list stays.
    std::fs::write(home.path().join("small.json"), list(1)).unwrap();
    std::fs::write(home.path().join("page.html"), "<html>").unwrap();
    for (from, status) in
        [("small.json", 2), ("page.html", 2), ("absent.json", 2), ("http://127.0.0.1:1/?key=canary", 4)]
    {
        let refused = models(home.path(), &["--from", from]);
        assert_eq!(code(&refused), status, "{from}: {}", stderr(&refused));
        assert!(!stderr(&refused).contains("canary"));
        assert_eq!(window("openrouter/maker/tide-3"), 77_000);
    }

    let page = serve("<html>sorry</html>".into());
    assert_eq!(code(&models(home.path(), &["--from", &page])), 4);
    let fetched = models(home.path(), &["--from", &serve(list(6)), "openrouter/maker/tide-6"]);
    assert_eq!(code(&fetched), 0, "{}", stderr(&fetched));
    assert!(stdout(&fetched).contains("refreshed") && stderr(&fetched).contains("openrouter: 6 models"));
}

#[test]
fn a_list_can_be_saved_in_the_format_of_the_bundled_one() {
    let home = home_with("list.json", &list(3));
    let saved = models(home.path(), &["--from", "list.json", "--save", "snapshot.tsv"]);
    assert_eq!(code(&saved), 0, "{}", stderr(&saved));
    assert!(!home.path().join("cache").exists());
    let text = std::fs::read_to_string(home.path().join("snapshot.tsv")).unwrap();
    assert!(text.starts_with("# rhumb-models-1\topenrouter\t20") && text.lines().count() == 4);
    // The saved list can be read again.
    assert_eq!(code(&models(home.path(), &["--from", "snapshot.tsv"])), 0);
    assert_eq!(code(&models(home.path(), &["--save", "x"])), 2);
}

#[test]
fn what_the_user_says_of_models_counts() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/rhumb");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "[models.\"gpt-4o\"]\nwindow = 64000\n\n[aliases]\nbest = \"openai/gpt-4o\"\n";
    std::fs::write(folder.join("rhumb.toml"), text).unwrap();
    let found = json_of(&models(home.path(), &["--json", "best"]));
    let model = &found["models"][0];
    assert_eq!((&model["name"], &model["window"]), (&json!("openai/gpt-4o"), &json!(64_000)));
    assert_eq!(model["source"], "user");
}
