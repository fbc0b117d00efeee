//! `rhumb index` and semantic search: with a local model, with a server, consent, and a killed process.

use std::time::Duration;

use super::support::embedding_server::{EmbeddingServer, ServerBehavior};
use super::support::tiny_model;
use super::*;

/// A repository with functions of the same meaning in other words, and a cache folder.
struct Place {
    repo: TestRepo,
    cache: tempfile::TempDir,
}

fn function(name: &str, word: &str) -> String {
    format!("def {name}():\n    answer = {word}('the tide is high')\n    return publish(answer)\n\n\n")
}

impl Place {
    fn new() -> Self {
        let repo = TestRepo::new();
        repo.file("net.py", &(function("send", "backoff") + &function("open_it", "sluice")))
            .file("plan.py", &function("plot", "atlas"))
            .file(".env", "TOKEN=canary-of-the-environment\n")
            .commit("Start");
        Self { repo, cache: tempfile::tempdir().unwrap() }
    }

    fn rhumb(&self, settings: &[(&str, &str)], args: &[&str]) -> Command {
        let mut command = rhumb(&self.repo.path(), args);
        command.env("XDG_CACHE_HOME", self.cache.path()).envs(settings.iter().copied());
        command
    }

    fn run(&self, settings: &[(&str, &str)], args: &[&str]) -> (i32, String, String) {
        run(self.rhumb(settings, args))
    }

    /// The first symbol that a semantic search finds.
    fn nearest(&self, settings: &[(&str, &str)], query: &str) -> String {
        let args = ["search", "--mode", "semantic", "--format", "json", "--query", query];
        let (code, out, err) = self.run(settings, &args);
        assert_eq!(code, 0, "{out}{err}");
        json(out.lines().next().unwrap())["symbol"].as_str().unwrap().to_owned()
    }
}

fn local(folder: &Path) -> Vec<(&str, &str)> {
    vec![("RHUMB_EMBEDDINGS", "local"), ("RHUMB_EMBEDDINGS_MODEL", folder.to_str().unwrap())]
}

fn remote(url: &str) -> Vec<(&str, &str)> {
    vec![("RHUMB_EMBEDDINGS", "remote"), ("RHUMB_EMBEDDINGS_MODEL", "tiny"), ("RHUMB_EMBEDDINGS_URL", url)]
}

#[test]
fn a_model_on_this_machine_finds_what_means_the_same() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    tiny_model::write(folder.path(), 0);
    let settings = local(folder.path());
    let (code, out, err) = place.run(&settings, &["index", "build", "--json"]);
    assert_eq!((code, json(&out)["embedded"].as_u64()), (0, Some(3)), "{out}{err}");
    assert_eq!(place.nearest(&settings, "retry"), "send");
    assert_eq!(place.nearest(&settings, "the door"), "open_it");
    // A changed file is embedded at the next search.
    place.repo.file("plan.py", &function("plot", "decode"));
    assert_eq!(place.nearest(&settings, "parse"), "plot");
    let (_, out, _) = place.run(&settings, &["index", "--json"]);
    let status = json(&out);
    assert_eq!(
        (status["kept"][0]["vectors"].as_u64(), status["kept"][0]["dims"].as_u64()),
        (Some(4), Some(4)),
        "{out}"
    );
    assert!(status["words_bytes"].as_u64().unwrap() > 0, "{out}");
    assert!(status["bytes"].as_u64().unwrap() > 0 && Path::new(status["path"].as_str().unwrap()).exists(), "{out}");
    // Another model does not use these vectors.
    tiny_model::write(folder.path(), 1);
    let (_, out, err) = place.run(&settings, &["index", "build", "--json"]);
    assert_eq!(json(&out)["embedded"].as_u64(), Some(3), "{out}{err}");
    let (code, out, _) = place.run(&settings, &["index", "delete"]);
    assert!(code == 0 && !Path::new(status["path"].as_str().unwrap()).exists(), "{out}");
    assert!(!Path::new(status["folder"].as_str().unwrap()).exists(), "{out}");
    let (code, out, _) = place.run(&settings, &["index", "delete"]);
    assert!(code == 0 && out.contains("nothing to delete"), "{out}");
}

#[test]
fn lexical_and_semantic_search_are_fused_if_there_is_a_model() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    tiny_model::write(folder.path(), 0);
    let (_, out, err) =
        place.run(&local(folder.path()), &["search", "--format", "json", "--query", "where is the door to plot"]);
    let symbols: Vec<String> = out.lines().map(|line| json(line)["symbol"].as_str().unwrap_or("").to_owned()).collect();
    assert!(symbols.contains(&"open_it".to_owned()) && symbols.contains(&"plot".to_owned()), "{symbols:?}{err}");
}

#[test]
fn without_a_model_semantic_search_is_an_error_with_a_hint_and_lexical_search_works() {
    let place = Place::new();
    let (code, _, err) = place.run(&[], &["search", "--mode", "semantic", "--query", "retry"]);
    assert!(code == 2 && err.contains("rhumb index download"), "{code} {err}");
    let gone = [("RHUMB_EMBEDDINGS", "local"), ("RHUMB_EMBEDDINGS_MODEL", "/nonexistent/model")];
    let (code, out, err) = place.run(&gone, &["search", "--query", "backoff"]);
    assert!(code == 0 && out.contains("net.py"), "{out}{err}");
    assert!(err.contains("by words alone") && err.contains("/nonexistent/model"), "{err}");
    let (code, out, _) = place.run(&[], &["index"]);
    assert!(code == 0 && out.contains("by words alone"), "{out}");
}

/// The paths of the passages that a question finds, and the messages.
fn passages(place: &Place, settings: &[(&str, &str)], question: &str) -> (Vec<String>, String) {
    let server = ModelServer::start(vec![Step::reply("Yes.\n")]);
    let url = server.base_url();
    let args = ["ask", "--json", "-m", question, "--base-url", &url, "--model", MODEL];
    let (code, out, err) = place.run(settings, &args);
    assert_eq!(code, 0, "{out}{err}");
    let events: Vec<Value> = out.lines().map(json).collect();
    let found = events.iter().find(|event| event["event"] == "passages").unwrap();
    let path = |passage: &Value| passage["path"].as_str().unwrap().to_owned();
    (found["passages"].as_array().unwrap().iter().map(path).collect(), err)
}

#[test]
fn a_question_about_the_repository_is_searched_for_by_meaning_too() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    tiny_model::write(folder.path(), 0);
    assert!(passages(&place, &[], "@codebase a door?").0.is_empty(), "no file has that word");
    let (found, err) = passages(&place, &local(folder.path()), "@codebase a door?");
    assert!(found.contains(&"net.py".to_owned()), "{found:?} {err}");
}

#[test]
fn if_semantic_search_fails_the_lexical_one_is_used_and_a_shown_prompt_sends_nothing() {
    let (place, server) = (Place::new(), EmbeddingServer::start());
    let url = server.url();
    let settings = remote(&url);
    let (code, out, err) = place.run(&settings, &["index", "build", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    let before = server.given().len();
    let (code, out, err) = place.run(&settings, &["ask", "--show-prompt", "-m", "@codebase where is backoff?"]);
    assert!(code == 0 && out.contains("backoff('the tide is high')"), "{out}{err}");
    assert_eq!(server.given().len(), before);
    server.behave(ServerBehavior { status: Some(400), ..ServerBehavior::default() });
    let (found, err) = passages(&place, &settings, "@codebase where is backoff?");
    assert!(found.contains(&"net.py".to_owned()) && err.contains("by words alone"), "{found:?} {err}");
}

#[test]
fn nothing_leaves_the_machine_before_the_user_has_agreed() {
    let (place, server) = (Place::new(), EmbeddingServer::start());
    // A remote host, reached through a proxy on this machine.
    let proxy = server.url();
    let mut settings = remote("http://embeddings.example/v1");
    settings.push(("http_proxy", &proxy));
    let (code, _, err) = place.run(&settings, &["index", "build"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("embeddings.example") && err.contains("3 passages of 2 files"), "{err}");
    let (code, _, err) = place.run(&settings, &["search", "--mode", "semantic", "--query", "retry"]);
    assert!(code == 2 && err.contains("rhumb index build"), "{code} {err}");
    let (code, out, err) = place.run(&settings, &["search", "--query", "backoff"]);
    assert!(code == 0 && out.contains("net.py") && err.contains("by words alone"), "{out}{err}");
    let mut never = settings.clone();
    never.push(("RHUMB_EMBEDDINGS_CONSENT", "never"));
    let (code, _, err) = place.run(&never, &["index", "build", "--yes"]);
    assert!(code == 2 && err.contains("never"), "{code} {err}");
    assert!(server.given().is_empty(), "{:?}", server.given());

    let (code, out, err) = place.run(&settings, &["index", "build", "--yes"]);
    assert_eq!(code, 0, "{out}{err}");
    assert_eq!(place.nearest(&settings, "retry"), "send");
    let sent = server.given().concat().concat();
    assert!(sent.contains("backoff") && !sent.contains("canary"), "{sent}");
    // Deleting the index revokes the consent.
    place.run(&settings, &["index", "delete"]);
    let before = server.given().len();
    let (code, _, err) = place.run(&settings, &["index", "build"]);
    assert_eq!((code, server.given().len()), (1, before), "{err}");
}

#[test]
fn an_index_that_was_killed_continues() {
    let (place, server) = (Place::new(), EmbeddingServer::start());
    let functions: String = (0..400).map(|number| function(&format!("step_{number}"), "parse")).collect();
    place.repo.file("long.py", &functions);
    server.behave(ServerBehavior { takes: Duration::from_millis(150), ..ServerBehavior::default() });
    let url = server.url();
    let settings = remote(&url);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rhumb"));
    command.current_dir(place.repo.path()).args(["index", "build"]).env_clear().envs(settings.iter().copied());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", "/nonexistent");
    command.env("XDG_CACHE_HOME", place.cache.path()).stderr(std::process::Stdio::null());
    let mut child = command.spawn().unwrap();
    server.wait_for(3);
    child.kill().unwrap();
    child.wait().unwrap();
    let before: usize = server.given().iter().map(Vec::len).sum();
    assert!(before < 403, "it was done before it was killed");
    server.behave(ServerBehavior::default());
    let (code, out, err) = place.run(&settings, &["index", "build", "--json"]);
    assert_eq!((code, json(&out)["passages"].as_u64()), (0, Some(403)), "{out}{err}");
    let all: Vec<String> = server.given().concat();
    // At most the batch in progress is sent twice.
    assert!(all.len() <= 403 + 64 && json(&out)["embedded"].as_u64().unwrap() < 403, "{} {out}", all.len());
    assert_eq!(place.nearest(&settings, "the door"), "open_it");
}

#[test]
fn a_failing_server_is_reported_with_its_message_and_the_consequence() {
    let (place, server) = (Place::new(), EmbeddingServer::start());
    let url = server.url();
    let settings = remote(&url);
    server.behave(ServerBehavior { status: Some(401), ..ServerBehavior::default() });
    let (code, _, err) = place.run(&settings, &["index", "build"]);
    assert!(code == 4 && err.contains("not today") && !err.contains(KEY), "{code} {err}");
    server.behave(ServerBehavior::default());
    assert_eq!(place.run(&settings, &["index", "build"]).0, 0);
    // The same name with vectors of another length: they are not mixed.
    place.repo.file("more.py", &function("more", "repeat"));
    server.behave(ServerBehavior { extra: 3, ..ServerBehavior::default() });
    let (code, _, err) = place.run(&settings, &["index", "build"]);
    assert!(code == 3 && err.contains("7 dimensions") && err.contains("rhumb index delete"), "{code} {err}");
    server.behave(ServerBehavior::default());
    assert_eq!(place.nearest(&settings, "again"), "send");
}
