//! `rhumb index`: shows, builds and deletes the embeddings of a repository, and downloads models.

use super::args::{IndexArgs, IndexCommandArg};
use super::report::is_yes;
use super::survey::surveyed;
use super::{print, print_json, print_message, print_with_hint};
use crate::config::Settings;
use crate::error::{ErrorKind, UserError};
use crate::host::{
    IndexControl, IndexError, IndexRequest, IndexStatus, IndexStep, Indexed, Survey, catalog, embedder,
    embedding_price, estimate, index, map_store, may_send, model_folder,
};
use crate::store::vectors::{ModelVectors, VectorStore};
use rhumb_llm::LlmError;
use rhumb_llm::embed::{self, Embedder, HubModel};
use rhumb_session::IndexEstimate;
use rhumb_session::consent_text;
use rhumb_text::{byte_size, sanitize, thousands};
use rhumb_workspace::Root;
use serde_json::{Value, json};
use std::io::{BufRead as _, Write as _};
use std::path::Path;
use std::sync::Mutex;

/// Runs a command of the index. The exit code is 1 if the user declined.
///
/// # Errors
/// The index or the model cannot be used, or standard output cannot be written.
pub fn index_command(root: &Root, settings: &Settings, args: &IndexArgs) -> Result<u8, UserError> {
    let result = match &args.command {
        None | Some(IndexCommandArg::Status) => Some(status(root, settings)?),
        Some(IndexCommandArg::Build { yes }) => build(root, settings, *yes)?,
        Some(IndexCommandArg::Delete) => Some(delete(settings, root)?),
        Some(IndexCommandArg::Download { name, yes }) => {
            let name = name.as_deref().unwrap_or_else(|| settings.embeddings.local_model());
            fetch_model(settings, name, *yes)?
        }
    };
    let Some(IndexResult { json, text }) = result else { return Ok(1) };
    if args.json {
        print_json(&json)?
    } else {
        print(&text)?
    }
    Ok(0)
}

/// The result of a command, in both forms.
struct IndexResult {
    json: Value,
    text: String,
}

fn status(root: &Root, settings: &Settings) -> Result<IndexResult, UserError> {
    let store = store_of(settings, root)?;
    let survey = surveyed(root, true, Some(&store));
    let embedder = embedder(settings).and_then(|embedder| embedder.ok_or(IndexError::Off));
    let embedder = embedder.as_ref().map(AsRef::as_ref);
    let status = IndexStatus::of(settings, &survey.graph, embedder, store.folder()).map_err(|error| failed(&error))?;
    Ok(IndexResult { json: status_json(&status), text: status.text() })
}

fn status_json(status: &IndexStatus) -> Value {
    let kept = |ModelVectors { identity, dims, count }: &ModelVectors| json!({"model": identity, "dims": dims, "vectors": count});
    json!({
        "files": status.files,
        "passages": status.passages,
        "folder": status.folder,
        "words_bytes": status.words_bytes,
        "model": status.model.as_ref().ok(),
        "problem": status.model.as_ref().err().map(|(why, _)| why),
        "host": status.host,
        "kept": status.models.iter().map(kept).collect::<Vec<_>>(),
        "path": status.path,
        "bytes": status.bytes,
    })
}

/// Builds the index. `None` if the user declined.
fn build(root: &Root, settings: &Settings, yes: bool) -> Result<Option<IndexResult>, UserError> {
    let store = store_of(settings, root)?;
    let opened = embedder(settings).and_then(|embedder| embedder.ok_or(IndexError::Off));
    let embedder = opened.map_err(|error| failed(&error))?;
    let survey = surveyed(root, true, Some(&store));
    let order = IndexRequest {
        root,
        survey: &survey,
        before: None,
        embedder: embedder.as_ref(),
        folder: store.folder(),
        embed: true,
    };
    if !is_agreed(settings, order, yes)? {
        return Ok(None);
    }
    let printed = Mutex::new(0);
    let progress = |step: IndexStep| match step {
        IndexStep::Files(done, total) => {
            let tenth = done * 10 / total.max(1);
            let mut printed = printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // Progress is printed only if it takes long.
            if tenth > *printed && total >= 500 {
                *printed = tenth;
                print_message(&format!("{} of {} files", thousands(done), thousands(total)));
            }
        }
        IndexStep::Waiting(wait, why) => print_message(&format!("waiting {} s: {why}", wait.as_secs().max(1))),
    };
    let made = blocked(index(order, &IndexControl::default(), &progress))?.map_err(|error| failed(&error))?;
    Ok(Some(built(&made, embedder.as_ref(), &survey)))
}

/// Whether texts may be sent to the embedder: always, by the flag, or after asking on the terminal.
fn is_agreed(settings: &Settings, order: IndexRequest<'_>, yes: bool) -> Result<bool, UserError> {
    let host = match may_send(settings, order.embedder, order.folder) {
        Err(IndexError::NotAgreed(host)) => host,
        allowed => return allowed.map(|()| true).map_err(|error| failed(&error)),
    };
    let known: IndexEstimate = estimate(order, &IndexControl::default()).map_err(|error| failed(&error))?;
    let model = settings.embeddings.model.as_deref().unwrap_or_default();
    let price = embedding_price(&catalog(settings), model, known.tokens);
    print_message(&consent_text(&host, known, price));
    if !yes && !confirmed("Send them?") {
        print_with_hint(
            "nothing was sent",
            "--yes agrees without a question; embeddings_consent in rhumb.toml does so everywhere",
        );
        return Ok(false);
    }
    let agreed = VectorStore::open(order.folder).and_then(|(mut store, _)| store.agree(&host));
    agreed.map_err(|error| failed(&error.into()))?;
    Ok(true)
}

fn built(made: &Indexed, embedder: &dyn Embedder, survey: &Survey) -> IndexResult {
    if let Some(aside) = &made.aside {
        print_with_hint(
            "the database of vectors was damaged and has been created again",
            &format!("the damaged one is in {}; it can be deleted", aside.display()),
        );
    }
    let (texts, files) = (made.vectors.len(), survey.files.len());
    let model = embedder.identity();
    let json = json!({"model": model, "files": files, "passages": texts, "embedded": made.embedded});
    let (texts, embedded) = (thousands(texts), thousands(made.embedded));
    IndexResult {
        json,
        text: format!("{texts} passages can be searched by meaning, {embedded} of them embedded now.\n"),
    }
}

/// Deletes the vectors, and the index that is shared with the map, which the next survey makes again.
fn delete(settings: &Settings, root: &Root) -> Result<IndexResult, UserError> {
    let store = store_of(settings, root)?;
    let folder = store.folder().display().to_string();
    // The database is deleted first, because another process may be writing to it.
    VectorStore::delete(store.folder()).map_err(|error| failed(&error.into()))?;
    let was_there = store.folder().exists();
    store.clear();
    if store.folder().exists() {
        return Err(UserError::new(ErrorKind::Machine, format!("{folder} could not be deleted"), "Delete it by hand."));
    }
    let text = match was_there {
        true => format!("{folder} is deleted.\n"),
        false => format!("There is nothing to delete: no {folder}.\n"),
    };
    Ok(IndexResult { json: json!({"folder": folder, "deleted": was_there}), text })
}

/// Downloads a model. `None` if the user declined.
fn fetch_model(settings: &Settings, name: &str, yes: bool) -> Result<Option<IndexResult>, UserError> {
    let folder = model_folder(settings, name).map_err(|error| failed(&error))?;
    let model = blocked(embed::look_up(&settings.embeddings.hub, name))?.map_err(|error| failed(&error.into()))?;
    let HubModel { source, revision, licence, .. } = &model;
    let licence = licence.as_deref().unwrap_or("unknown");
    let size = byte_size(model.bytes());
    print_message(&format!("{size} from {source}, revision {revision}, licence {licence}, into {}", folder.display()));
    if !yes && !confirmed("Download it?") {
        print_message("nothing was downloaded");
        return Ok(None);
    }
    let mut tenth = 0;
    let mut progress = |done: u64, total: u64| {
        let now = done * 10 / total.max(1);
        if now > tenth {
            tenth = now;
            print_message(&format!("{} of {}", byte_size(done), byte_size(total)));
        }
    };
    blocked(embed::download(&model, &folder, &mut progress))?.map_err(|error| failed(&error.into()))?;
    // Reported now instead of at the first search.
    embed::static_embedder(name, &folder).map_err(|error| failed(&error.into()))?;
    Ok(Some(downloaded(settings, name, &folder)))
}

fn downloaded(settings: &Settings, name: &str, folder: &Path) -> IndexResult {
    let folder = folder.display().to_string();
    let is_usual = name == settings.embeddings.local_model();
    let setting = if is_usual { String::new() } else { format!(", with embeddings_model = \"{name}\"") };
    let path = sanitize::visible_line(&folder);
    let text = format!("{name} is in {path}.\nembeddings = \"local\" in rhumb.toml uses it{setting}.\n");
    IndexResult { json: json!({"model": name, "folder": folder}), text }
}

/// Asks on the terminal. An empty answer is a no.
fn confirmed(question: &str) -> bool {
    let mut err = std::io::stderr();
    let _ = err.write_all(format!("{question} [y/n] ").as_bytes()).and_then(|()| err.flush());
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok() && is_yes(&answer)
}

fn store_of(settings: &Settings, root: &Root) -> Result<crate::store::MapStore, UserError> {
    map_store(settings, root).ok_or_else(|| failed(&IndexError::NoHome))
}

pub(super) fn blocked<T>(work: impl Future<Output = T>) -> Result<T, UserError> {
    let machine = |error: std::io::Error| UserError::new(ErrorKind::Machine, error, "");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(machine)?;
    Ok(runtime.block_on(work))
}

/// Converts an error for the command line.
pub(super) fn failed(error: &IndexError) -> UserError {
    let kind = match error {
        IndexError::Embed(embed::EmbedError::Server(LlmError::MissingKey { .. })) => ErrorKind::Usage,
        IndexError::Embed(embed::EmbedError::Server(_)) => ErrorKind::Provider,
        IndexError::Store(_) | IndexError::NoHome => ErrorKind::Machine,
        _ => ErrorKind::Usage,
    };
    UserError::new(kind, error, error.hint())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deleting_reports_the_folder_and_whether_it_existed_as_json_too() {
        let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = Root::at(folder.path()).unwrap();
        let settings = Settings { cache_folder: Some(cache.path().to_owned()), ..Settings::default() };
        let index = store_of(&settings, &root).unwrap().folder().to_owned();
        std::fs::create_dir_all(&index).unwrap();
        for deleted in [true, false] {
            let IndexResult { json, text } = delete(&settings, &root).unwrap();
            assert_eq!(json, json!({"folder": index.display().to_string(), "deleted": deleted}));
            assert_eq!(text.contains("is deleted"), deleted, "{text}");
        }
    }

    #[test]
    fn a_download_reports_the_model_and_its_folder_as_json_too() {
        let settings = Settings::default();
        let usual = downloaded(&settings, settings.embeddings.local_model(), Path::new("/models/a"));
        assert!(usual.text.ends_with("in rhumb.toml uses it.\n"), "{}", usual.text);
        let IndexResult { json, text } = downloaded(&settings, "maker/other", Path::new("/models/b"));
        assert_eq!(json, json!({"model": "maker/other", "folder": "/models/b"}));
        assert!(text.ends_with("uses it, with embeddings_model = \"maker/other\".\n"), "{text}");
    }
}
