//! `rhumb index`: shows, builds and deletes the embeddings of a repository, and downloads models.

use super::args::{IndexArgs, IndexCommandArg};
use super::report::is_yes;
use super::survey::surveyed;
use super::{advise, complain, print, print_json};
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
use std::sync::Mutex;

/// Runs a command of the index. The exit code is 1 if the user declined.
///
/// # Errors
/// The index or the model cannot be used, or standard output cannot be written.
pub fn index_command(root: &Root, settings: &Settings, args: &IndexArgs) -> Result<u8, UserError> {
    match &args.command {
        None | Some(IndexCommandArg::Status) => status(root, settings, args.json),
        Some(IndexCommandArg::Build { yes }) => build(root, settings, *yes, args.json),
        Some(IndexCommandArg::Delete) => delete(settings, root),
        Some(IndexCommandArg::Download { name, yes }) => {
            let name = name.as_deref().unwrap_or_else(|| settings.embeddings.local_model());
            fetch_model(settings, name, *yes)
        }
    }
}

fn status(root: &Root, settings: &Settings, as_json: bool) -> Result<u8, UserError> {
    let store = store_of(settings, root)?;
    let survey = surveyed(root, true, Some(&store));
    let embedder = embedder(settings).and_then(|embedder| embedder.ok_or(IndexError::Off));
    let embedder = embedder.as_ref().map(AsRef::as_ref);
    let status = IndexStatus::of(settings, &survey.graph, embedder, store.folder()).map_err(|error| failed(&error))?;
    if as_json {
        print_json(&status_json(&status))?
    } else {
        print(&status.text())?
    }
    Ok(0)
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

fn build(root: &Root, settings: &Settings, yes: bool, as_json: bool) -> Result<u8, UserError> {
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
        return Ok(1);
    }
    let printed = Mutex::new(0);
    let progress = |step: IndexStep| match step {
        IndexStep::Files(done, total) => {
            let tenth = done * 10 / total.max(1);
            let mut printed = printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // Progress is printed only if it takes long.
            if tenth > *printed && total >= 500 {
                *printed = tenth;
                complain(&format!("{} of {} files", thousands(done), thousands(total)));
            }
        }
        IndexStep::Waiting(wait, why) => complain(&format!("waiting {} s: {why}", wait.as_secs().max(1))),
    };
    let made = blocked(index(order, &IndexControl::default(), &progress))?.map_err(|error| failed(&error))?;
    tell_built(&made, embedder.as_ref(), &survey, as_json)?;
    Ok(0)
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
    complain(&consent_text(&host, known, price));
    if !yes && !confirmed("Send them?") {
        advise(
            "nothing was sent",
            "--yes agrees without a question; embeddings_consent in rhumb.toml does so everywhere",
        );
        return Ok(false);
    }
    let agreed = VectorStore::open(order.folder).and_then(|(mut store, _)| store.agree(&host));
    agreed.map_err(|error| failed(&error.into()))?;
    Ok(true)
}

fn tell_built(made: &Indexed, embedder: &dyn Embedder, survey: &Survey, as_json: bool) -> Result<(), UserError> {
    if let Some(aside) = &made.aside {
        advise(
            "the database of vectors was damaged and has been created again",
            &format!("the damaged one is in {}; it can be deleted", aside.display()),
        );
    }
    let (texts, files) = (made.vectors.len(), survey.files.len());
    if as_json {
        let model = embedder.identity();
        return print_json(&json!({"model": model, "files": files, "passages": texts, "embedded": made.embedded}));
    }
    let (texts, embedded) = (thousands(texts), thousands(made.embedded));
    print(&format!("{texts} passages can be searched by meaning, {embedded} of them embedded now.\n"))
}

/// Deletes the vectors, and the index that is shared with the map, which the next survey makes again.
fn delete(settings: &Settings, root: &Root) -> Result<u8, UserError> {
    let store = store_of(settings, root)?;
    let folder = store.folder().display().to_string();
    // The database is deleted first, because another process may be writing to it.
    VectorStore::delete(store.folder()).map_err(|error| failed(&error.into()))?;
    let was_there = store.folder().exists();
    store.clear();
    if store.folder().exists() {
        return Err(UserError::new(ErrorKind::Machine, format!("{folder} could not be deleted"), "Delete it by hand."));
    }
    print(&if was_there {
        format!("{folder} is deleted.\n")
    } else {
        format!("There is nothing to delete: no {folder}.\n")
    })?;
    Ok(0)
}

fn fetch_model(settings: &Settings, name: &str, yes: bool) -> Result<u8, UserError> {
    let folder = model_folder(settings, name).map_err(|error| failed(&error))?;
    let model = blocked(embed::look_up(&settings.embeddings.hub, name))?.map_err(|error| failed(&error.into()))?;
    let HubModel { source, revision, licence, .. } = &model;
    let licence = licence.as_deref().unwrap_or("unknown");
    let size = byte_size(model.bytes());
    complain(&format!("{size} from {source}, revision {revision}, licence {licence}, into {}", folder.display()));
    if !yes && !confirmed("Download it?") {
        complain("nothing was downloaded");
        return Ok(1);
    }
    let mut tenth = 0;
    let mut progress = |done: u64, total: u64| {
        let now = done * 10 / total.max(1);
        if now > tenth {
            tenth = now;
            complain(&format!("{} of {}", byte_size(done), byte_size(total)));
        }
    };
    blocked(embed::download(&model, &folder, &mut progress))?.map_err(|error| failed(&error.into()))?;
    // Reported now instead of at the first search.
    embed::static_embedder(name, &folder).map_err(|error| failed(&error.into()))?;
    let path = sanitize::visible_line(&folder.display().to_string()).into_owned();
    print(&format!("{name} is in {path}.\nembeddings = \"local\" in rhumb.toml uses it"))?;
    let is_usual = name == settings.embeddings.local_model();
    print(&if is_usual { ".\n".to_owned() } else { format!(", with embeddings_model = \"{name}\".\n") })?;
    Ok(0)
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
