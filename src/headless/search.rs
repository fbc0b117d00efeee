//! `rhumb search`: ranked passages for a question on standard output.

use serde_json::{Value, json};

use super::args::{FormatArg, SearchArgs};
use super::survey::surveyed;
use super::{print, print_json};
use crate::error::UserError;
use crate::retrieval::{Hit, Question};
use crate::session::runner::{found, map_store};
use crate::workspace::Root;

/// Prints the passages, best first. The exit code is 1 when nothing was found.
///
/// # Errors
/// Standard output cannot be written.
pub fn search(root: &Root, args: &SearchArgs) -> Result<u8, UserError> {
    let store = (!args.no_cache).then(|| map_store(root)).flatten();
    let survey = surveyed(root, true, store.as_ref());
    let hits = found(&survey, &Question::new(&args.query, args.limit.get()));
    for hit in &hits {
        match args.format {
            FormatArg::Text => print(&line(hit))?,
            FormatArg::Json => print_json(&as_json(hit))?,
        }
    }
    Ok(u8::from(hits.is_empty()))
}

fn line(hit: &Hit) -> String {
    let what = if hit.signature.is_empty() { String::new() } else { format!("  {}", hit.signature) };
    format!("{}:{}-{}{what}\n", hit.path, hit.line, hit.end_line)
}

fn as_json(hit: &Hit) -> Value {
    json!({
        "path": &*hit.path,
        "start_line": hit.line,
        "end_line": hit.end_line,
        "symbol": hit.symbol,
        "kind": hit.kind.map(|kind| kind.as_str()),
        "container": hit.container,
        "score": hit.score,
    })
}
