//! Puts the next request together from what is on disk now: chat files, the map ranked for the draft, history.

use std::sync::Arc;

use super::kept::KeptMap;
use crate::config::Settings;
use crate::context::{ContextFile, ContextInputs, Window, assemble, map_budget};
use crate::repo_map::{MapRequest, MapStyle, TagGraph};
use crate::session::{ContextOrder, ContextView};
use crate::tokens::TokenCounter;
use crate::workspace::{self, Root};

/// The map is shrunk in this many steps before a request counts as too large.
const SHRINK_STEPS: usize = 3;

/// What the map is made from.
#[derive(Debug, Clone, Copy)]
pub struct MapSource<'s> {
    /// The files with their tags.
    pub graph: &'s Arc<TagGraph>,
    /// Files with changes that are not committed.
    pub edited: &'s [String],
    /// Whether the graph is a first guess, to be shown and not sent.
    pub provisional: bool,
}

/// Reads the files of the chat, ranks the map, and assembles the request.
pub fn compose(
    root: &Root,
    source: Option<MapSource<'_>>,
    order: &ContextOrder,
    settings: &Settings,
    window: Window,
    counter: &dyn TokenCounter,
    kept: &KeptMap,
) -> ContextView {
    let (files, unreadable) = read_files(root, order);
    let has_chat_files = files.iter().any(|file| !file.read_only);
    let mut budget = order.map_tokens.or(settings.map_tokens).unwrap_or_else(|| map_budget(window, has_chat_files));
    let inputs = ContextInputs {
        edit_format: settings.edit_format,
        map: "",
        files: &files,
        history: &order.history,
        draft: &order.draft,
        window,
    };
    let Some(source) = source else {
        return ContextView { map: None, provisional: false, prompt: Arc::new(assemble(&inputs, counter)), unreadable };
    };
    let mut step = 0;
    loop {
        let request = map_request(order, &source, &files, budget);
        let map = kept.map(source.graph, source.provisional, order, &request, counter);
        let prompt = assemble(&ContextInputs { map: &map.text, ..inputs.clone() }, counter);
        if prompt.excess() == 0 || budget == 0 {
            return ContextView {
                map: Some(map),
                provisional: source.provisional,
                prompt: Arc::new(prompt),
                unreadable,
            };
        }
        // The map gives way before anything that the user put there.
        step += 1;
        budget = if step == SHRINK_STEPS { 0 } else { budget.saturating_sub(prompt.excess()) };
    }
}

fn read_files(root: &Root, order: &ContextOrder) -> (Vec<ContextFile>, Vec<(String, String)>) {
    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    for file in &order.files {
        match workspace::read(root, &file.path) {
            Ok(snapshot) => {
                files.push(ContextFile { path: file.path.clone(), text: snapshot.text, read_only: file.read_only });
            }
            Err(error) => unreadable.push((file.path.clone(), error.to_string())),
        }
    }
    (files, unreadable)
}

fn map_request(order: &ContextOrder, source: &MapSource<'_>, files: &[ContextFile], budget: usize) -> MapRequest {
    MapRequest {
        chat_files: files.iter().map(|file| file.path.clone()).collect(),
        message: order.draft.clone(),
        edited: source.edited.to_vec(),
        pinned: order.pinned.clone(),
        banned: order.banned.clone(),
        budget,
        style: MapStyle::Tree,
        ..MapRequest::default()
    }
}
