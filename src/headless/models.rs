//! `rhumb models`: properties of models and their sources.

use crate::clock::today;
use crate::config::Settings;
use crate::error::{ErrorKind, UserError};
use crate::headless::args::ModelsArgs;
use crate::headless::index::blocked;
use crate::headless::{print, print_json, print_message, read_input};
use crate::host::catalog;
use crate::store::{model_lists, save_model_list};
use rhumb_llm::models::{Caching, Catalog, ListKind, Model, ModelList, Source, ThinkingControl, parse_list};
use rhumb_llm::{fetch_list, list_url, redacted_url};
use rhumb_text::width;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Maximum number of models for a query.
const MAX_FOUND: usize = 50;

/// Maximum number of suggested names without a match.
const MAX_NEAREST: usize = 5;

/// Prints the models that match a query. The exit code is 1 if none does, or if some of several lists could not be fetched.
///
/// # Errors
/// No list could be fetched or written, or standard output cannot be written.
pub fn models(settings: &Settings, args: &ModelsArgs) -> Result<u8, UserError> {
    let refreshes = args.refresh || args.from.is_some();
    if args.save.is_some() && !refreshes {
        return Err(UserError::new(
            ErrorKind::Usage,
            "--save writes a list that is fetched",
            "add --refresh or --from",
        ));
    }
    let code = if refreshes { refresh(args, settings.cache_folder.as_deref())? } else { 0 };
    if refreshes && args.query.is_none() && !args.json {
        return Ok(code);
    }
    let catalog = catalog(settings);
    let found = Found::in_catalog(&catalog, args.query.as_deref());
    if args.json {
        print_json(&found.as_json())?
    } else {
        found.print()?
    }
    Ok(if found.models.is_empty() { 1 } else { code })
}

/// The default lists: one has most providers, the other is of a provider that the first leaves out.
const DEFAULT_LISTS: [ListKind; 2] = [ListKind::Litellm, ListKind::OpenRouter];

const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// Fetches the lists of the flags and stores the valid ones. The exit code is 1 if some lists failed.
///
/// # Errors
/// No list could be fetched, or a list cannot be written. Older lists are kept.
fn refresh(args: &ModelsArgs, cache: Option<&Path>) -> Result<u8, UserError> {
    let origins = match &args.from {
        Some(from) => vec![ListKind::named(from).map_or_else(|| from.clone(), |kind| list_url(kind).to_owned())],
        None => DEFAULT_LISTS.map(|kind| list_url(kind).to_owned()).to_vec(),
    };
    let store = |origin| read_list(origin).and_then(|list| store_list(&list, origin, args, cache)).err();
    let mut errors: Vec<UserError> = origins.iter().filter_map(|origin| store(origin)).collect();
    // If all failed, the last error is returned and reported by the caller. Usually it is the only one.
    let last = if errors.len() == origins.len() { errors.pop() } else { None };
    errors.iter().for_each(|error| print_message(&error.to_string()));
    last.map_or(Ok(u8::from(!errors.is_empty())), Err)
}

fn is_address(origin: &str) -> bool {
    origin.starts_with("http://") || origin.starts_with("https://")
}

/// The kind of error of a malformed list: of the provider that sent it, or of the input.
fn error_kind_of(origin: &str) -> ErrorKind {
    if is_address(origin) { ErrorKind::Provider } else { ErrorKind::Usage }
}

fn read_list(origin: &str) -> Result<ModelList, UserError> {
    let text = if is_address(origin) { fetch(origin)? } else { read_input(Path::new(origin))? };
    let shown = if is_address(origin) { redacted_url(origin) } else { origin.to_owned() };
    parse_list(&text, &today(), &shown)
        .map_err(|error| UserError::new(error_kind_of(origin), format!("{shown} cannot be used: {error}"), ""))
}

fn fetch(url: &str) -> Result<String, UserError> {
    blocked(fetch_list(url, LIST_TIMEOUT))?.map_err(|error| {
        let hint = "earlier lists stay in use; --from takes another address, or a file";
        UserError::new(ErrorKind::Provider, format!("{}: {error}", redacted_url(url)), hint)
    })
}

/// Stores a list, or writes it to the file of the user, unless it is much smaller than the list that it would replace.
fn store_list(list: &ModelList, origin: &str, args: &ModelsArgs, cache: Option<&Path>) -> Result<(), UserError> {
    if let Some(path) = &args.save {
        let failed =
            |error| UserError::new(ErrorKind::Machine, format!("cannot write {}: {error}", path.display()), "");
        std::fs::write(path, list.encode()).map_err(failed)?;
        print_message(&format!("{}: {} models, written to {}", list.kind.name(), list.models.len(), path.display()));
        return Ok(());
    }
    let no_home = || UserError::new(ErrorKind::Machine, "there is no cache folder for the list", "set XDG_CACHE_HOME");
    let cache = cache.ok_or_else(no_home)?;
    let catalog = Catalog::bundled().with_lists(model_lists(cache));
    let older = catalog.lists().map(|(older, _)| older).find(|older| older.kind == list.kind);
    if let Some(older) = older.filter(|older| !list.may_replace(older)) {
        let (new, old) = (list.models.len(), older.models.len());
        let message = format!("{} has {new} models, {old} before: it is not used", list.source);
        return Err(UserError::new(error_kind_of(origin), message, ""));
    }
    let hint = "the cache folder is that of XDG_CACHE_HOME, or ~/.cache";
    save_model_list(cache, list).map_err(|error| UserError::new(ErrorKind::Machine, error, hint))?;
    print_message(&format!(
        "{}: {} models, as of {}, from {}",
        list.kind.name(),
        list.models.len(),
        list.date,
        list.source
    ));
    Ok(())
}

struct Found<'a> {
    catalog: &'a Catalog,
    models: Vec<Model>,
    /// The resolved name, if it is in no list.
    assumed: Option<Model>,
    nearest: Vec<String>,
}

impl<'a> Found<'a> {
    fn in_catalog(catalog: &'a Catalog, query: Option<&str>) -> Self {
        let found = |names: Vec<String>| names.iter().map(|name| catalog.find(name)).collect::<Vec<Model>>();
        let Some(query) = query else {
            return Self { catalog, models: found(catalog.names()), assumed: None, nearest: Vec::new() };
        };
        let meant = catalog.find(query);
        let mut models = found(catalog.search(query, MAX_FOUND));
        if meant.known {
            models.retain(|model| !model.name.eq_ignore_ascii_case(&meant.name));
            models.insert(0, meant);
            return Self { catalog, models, assumed: None, nearest: Vec::new() };
        }
        let nearest = if models.is_empty() { catalog.nearest(query, MAX_NEAREST) } else { Vec::new() };
        Self { catalog, models, assumed: Some(meant), nearest }
    }

    fn print(&self) -> Result<(), UserError> {
        match &self.assumed {
            Some(model) if self.models.is_empty() => print_message(&unknown(model, &self.nearest)),
            Some(model) => print_message(&format!("no model is called {}; these are like it", model.name)),
            None => {}
        }
        if !self.models.is_empty() {
            print(&table(&self.models))?;
        }
        for (list, source) in self.catalog.lists() {
            let (kind, count) = (list.kind.name(), list.models.len());
            print_message(&format!(
                "{} list {kind}: {count} models, as of {}, from {}",
                source.name(),
                list.date,
                list.source
            ));
        }
        Ok(())
    }

    fn as_json(&self) -> Value {
        let lists = self.catalog.lists().map(|(list, source)| {
            json!({
                "kind": list.kind.name(),
                "layer": source.name(),
                "date": list.date,
                "source": list.source,
                "models": list.models.len(),
            })
        });
        json!({
            "lists": lists.collect::<Vec<_>>(),
            "models": self.models.iter().map(model_json).collect::<Vec<_>>(),
            "assumed": self.assumed.as_ref().map(model_json),
            "nearest": self.nearest,
        })
    }
}

/// The message about a model that is in no list.
fn unknown(model: &Model, nearest: &[String]) -> String {
    let why = if model.source == Source::Family { "as models of such a name have" } else { "as most servers take it" };
    let mut text = format!("{} is in no list; a window of {} tokens would be assumed, {why}", model.name, model.window);
    if !nearest.is_empty() {
        let _ = write!(text, "\n  → did you mean {}?", nearest.join(", "));
    }
    text
}

fn table(models: &[Model]) -> String {
    let head = ["model", "window", "output", "$/M in", "$/M out", "$/M cached", "can", "known from"].map(str::to_owned);
    let rows: Vec<[String; 8]> = std::iter::once(head).chain(models.iter().map(row)).collect();
    let wide = |column: usize| rows.iter().map(|row| width::columns(&row[column])).max().unwrap_or(0);
    let widths: [usize; 8] = std::array::from_fn(wide);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (at, (cell, wide)) in row.iter().zip(widths).enumerate() {
            let gap = " ".repeat(wide.saturating_sub(width::columns(cell)));
            // Numbers are right-aligned.
            let _ = if (1..6).contains(&at) { write!(line, "{gap}{cell}  ") } else { write!(line, "{cell}{gap}  ") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if models.iter().any(|model| model.prices.is_some_and(|prices| prices.long.is_some())) {
        text.push_str("+ costs more for long requests; --json says from where on, and how much\n");
    }
    text
}

fn row(model: &Model) -> [String; 8] {
    let price = |price: Option<f64>| price.map_or_else(|| "?".into(), |price| price.to_string());
    let more = if model.prices.is_some_and(|prices| prices.long.is_some()) { "+" } else { "" };
    let known = match &model.retires {
        Some(day) => format!("{}, until {day}", model.source.name()),
        None => model.source.name().to_owned(),
    };
    [
        model.name.clone(),
        short(model.window),
        model.max_output.map_or_else(|| "?".into(), short),
        price(model.prices.map(|prices| prices.input)) + more,
        price(model.prices.map(|prices| prices.output)) + more,
        price(model.prices.map(|prices| prices.cache_read)) + more,
        abilities(model),
        known,
    ]
}

fn abilities(model: &Model) -> String {
    let can = model.capabilities;
    let words = [
        ("images", can.images),
        ("thinking", can.thinking != ThinkingControl::None),
        ("cache", can.caching != Caching::None),
        ("prefill", can.prefill),
    ];
    words.into_iter().filter(|(_, can)| *can).map(|(word, _)| word).collect::<Vec<_>>().join(" ")
}

/// Tokens with two or three digits: `8.2k`, `200k`, `1.05M`.
fn short(tokens: usize) -> String {
    let (value, unit) = match tokens {
        0..1_000 => return tokens.to_string(),
        1_000..1_000_000 => (tokens as f64 / 1e3, "k"),
        _ => (tokens as f64 / 1e6, "M"),
    };
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    let number = format!("{value:.digits$}");
    let number = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
    format!("{number}{unit}")
}

fn model_json(model: &Model) -> Value {
    let can = model.capabilities;
    json!({
        "name": model.name,
        "known": model.known,
        "source": model.source.name(),
        "window": model.window,
        "max_output": model.max_output,
        "prices": model.prices,
        "retires": model.retires,
        "images": can.images,
        "prefill": can.prefill,
        "temperature": can.temperature,
        "system_role": can.system_role,
        "caching": can.caching,
        "thinking": can.thinking,
        "responses_only": model.responses_only,
        "edit_format": model.edit_format.name(),
        "reminder": model.reminder,
        "lazy": model.lazy,
        "overeager": model.overeager,
        "weak": model.weak,
        "editor": model.editor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_short() {
        let shown = [512, 8_192, 32_768, 200_000, 272_000, 1_048_576, 1_000_000].map(short);
        assert_eq!(shown, ["512", "8.19k", "32.8k", "200k", "272k", "1.05M", "1M"]);
    }

    #[test]
    fn a_model_in_no_list_is_told_with_its_neighbours() {
        let text = unknown(&Model::unknown("gtp-5"), &["openai/gpt-5".into()]);
        assert!(text.contains("gtp-5 is in no list") && text.ends_with("did you mean openai/gpt-5?"), "{text}");
    }
}
