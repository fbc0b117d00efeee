//! `rhumb models --refresh`: fetches, checks and stores public lists of models.

use std::path::Path;
use std::time::Duration;

use crate::clock::today;
use crate::error::{ErrorKind, UserError};
use crate::headless::args::ModelsArgs;
use crate::headless::{complain, read_input};
use crate::store::{model_lists, save_model_list};
use rhumb_llm::models::{Catalog, ListKind, ModelList, parse_list};
use rhumb_llm::{fetch_list, list_url, redacted_url};

/// The default lists: one has most providers, the other is of a provider that the first leaves out.
const USUAL: [ListKind; 2] = [ListKind::Litellm, ListKind::OpenRouter];

/// Timeout of a list.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fetches the lists of the flags and stores the valid ones. The exit code is 1 if some lists failed.
///
/// # Errors
/// No list could be fetched, or a list cannot be written. Older lists are kept.
pub(super) fn refresh(args: &ModelsArgs, cache: Option<&Path>) -> Result<u8, UserError> {
    let origins = match &args.from {
        Some(from) => vec![ListKind::named(from).map_or_else(|| from.clone(), |kind| list_url(kind).to_owned())],
        None => USUAL.map(|kind| list_url(kind).to_owned()).to_vec(),
    };
    let mut errors = Vec::new();
    for origin in &origins {
        match taken(origin).and_then(|list| settle(&list, origin, args, cache)) {
            Ok(()) => {}
            Err(error) => errors.push(error),
        }
    }
    if errors.len() == origins.len() {
        // The last error is returned and reported by the caller. Usually it is the only one.
        let last = errors.pop();
        errors.iter().for_each(|error| complain(&error.to_string()));
        return last.map_or(Ok(0), Err);
    }
    errors.iter().for_each(|error| complain(&error.to_string()));
    Ok(u8::from(!errors.is_empty()))
}

fn is_address(origin: &str) -> bool {
    origin.starts_with("http://") || origin.starts_with("https://")
}

/// The source of a list, without private parts.
fn shown(origin: &str) -> String {
    if is_address(origin) { redacted_url(origin) } else { origin.to_owned() }
}

/// The kind of error of a malformed list: of the provider that sent it, or of the input.
fn blame(origin: &str) -> ErrorKind {
    if is_address(origin) { ErrorKind::Provider } else { ErrorKind::Usage }
}

/// Reads a list from an address or a file.
fn taken(origin: &str) -> Result<ModelList, UserError> {
    let text = if is_address(origin) { fetched(origin)? } else { read_input(Path::new(origin))? };
    let shown = shown(origin);
    parse_list(&text, &today(), &shown)
        .map_err(|error| UserError::new(blame(origin), format!("{shown} is of no use: {error}"), ""))
}

fn fetched(url: &str) -> Result<String, UserError> {
    let machine = |error: std::io::Error| UserError::new(ErrorKind::Machine, error, "");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(machine)?;
    runtime.block_on(fetch_list(url, PATIENCE)).map_err(|error| {
        let hint = "the lists that were there stay in use; --from takes another address, or a file";
        UserError::new(ErrorKind::Provider, format!("{}: {error}", redacted_url(url)), hint)
    })
}

/// Stores a list, or writes it to the file of the user, unless it is much smaller than the list that it would replace.
fn settle(list: &ModelList, origin: &str, args: &ModelsArgs, cache: Option<&Path>) -> Result<(), UserError> {
    if let Some(path) = &args.save {
        let failed =
            |error| UserError::new(ErrorKind::Machine, format!("cannot write {}: {error}", path.display()), "");
        std::fs::write(path, list.encode()).map_err(failed)?;
        complain(&format!("{}: {} models, written to {}", list.kind.name(), list.models.len(), path.display()));
        return Ok(());
    }
    let no_home = || UserError::new(ErrorKind::Machine, "there is no folder to keep the list in", "set XDG_CACHE_HOME");
    let cache = cache.ok_or_else(no_home)?;
    let catalog = Catalog::bundled().with_lists(model_lists(cache));
    let older = catalog.lists().map(|(older, _)| older).find(|older| older.kind == list.kind);
    if let Some(older) = older.filter(|older| !list.may_replace(older)) {
        let (new, old) = (list.models.len(), older.models.len());
        let message = format!("{} has {new} models where there were {old}: it is not used", list.source);
        return Err(UserError::new(blame(origin), message, ""));
    }
    let hint = "the cache folder is that of XDG_CACHE_HOME, or ~/.cache";
    save_model_list(cache, list).map_err(|error| UserError::new(ErrorKind::Machine, error, hint))?;
    complain(&format!("{}: {} models, as of {}, from {}", list.kind.name(), list.models.len(), list.date, list.source));
    Ok(())
}
