//! Puts the next request together from what is on disk now: chat files, the map ranked for the draft, history.

pub(super) mod counter;
pub(super) mod map_cache;
mod prompts;
pub(super) mod request_env;

use std::sync::Arc;

use super::attachments::picture_refusal;
use super::codebase::passages_now;
use map_cache::MapCache;
use request_env::RequestEnv;
use rhumb_index::repo_map::{MapRequest, MapStyle, Refresh, TagGraph};
use rhumb_llm::Image;
use rhumb_llm::models::{Caching, Model};
use rhumb_session::context::{BudgetPlan, ContextFile, ContextInputs, Mode, Prompts, Shares, Window, fit, manual};
use rhumb_session::{ChatFile, ContextView, RequestSpec};
use rhumb_tokens::{TokenCounter, image_type};
use rhumb_workspace::Root;

/// The manual may have this part of the window.
const MANUAL_SHARE: usize = 3;

/// What a request is put together with.
#[derive(Clone, Copy)]
pub struct Means<'m> {
    /// What every request is made with.
    pub outfit: &'m RequestEnv,
    /// Whom it goes to.
    pub model: &'m Model,
    /// What it has to fit.
    pub window: Window,
    /// What counts its tokens.
    pub counter: &'m dyn TokenCounter,
    /// The map as it stands.
    pub kept: &'m MapCache,
}

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

/// Reads the files of the chat, ranks the map, and puts the request together so that it fits the window.
pub fn compose(root: &Root, source: Option<MapSource<'_>>, order: &RequestSpec, means: &Means<'_>) -> ContextView {
    let RequestEnv { settings, prompts, .. } = means.outfit;
    let Desk { files, images, unreadable } = match order.mode {
        Mode::Help => Desk::with_manual(order, means),
        _ => Desk::laid(root, order, means.model),
    };
    // A plan says all there is to know, and so does the manual.
    let is_mapless = matches!(order.mode, Mode::Editor | Mode::Help);
    let source = source.filter(|_| !is_mapless);
    let map_tokens = if is_mapless { Some(0) } else { order.map.tokens.or(settings.map_tokens) };
    let in_chat = |path: &str| files.iter().any(|file| file.path == path);
    let passages = source.map(|source| passages_now(root, source.graph, &order.passages, &in_chat)).unwrap_or_default();
    let draft = draft_for(order, passages.is_empty(), prompts);
    let has_chat_files = files.iter().any(|file| !file.read_only);
    let shares = Shares { map: map_tokens, passages: settings.codebase.tokens, history: settings.history_tokens };
    let inputs = ContextInputs {
        task: means.outfit.task(order, means.model),
        model: means.model,
        window: means.window,
        plan: BudgetPlan::of(means.window, has_chat_files, shares),
        prompts,
        surroundings: &means.outfit.surroundings(),
        files: &files,
        images: &images,
        passages: &passages,
        related: &order.related,
        history: &order.history,
        exchange: &order.exchange,
        draft: &draft,
        may_forget: order.may_forget,
        send_secrets: settings.send_secrets,
    };
    // What a server keeps of a conversation begins with the map.
    let cached = settings.cache_prompts && means.model.capabilities.caching != Caching::None;
    let steady = cached && order.map.refresh == Refresh::Auto && !order.history.is_empty();
    let mut map = None;
    let prompt = fit(&inputs, means.counter, &mut |budget| {
        let Some(source) = source else { return String::new() };
        let request = map_request(order, &source, &files, budget);
        let made = means.kept.map(source.graph, source.provisional, order, &request, steady, means.counter);
        let text = made.text.clone();
        map = Some(made);
        text
    });
    ContextView {
        map,
        provisional: source.is_some_and(|source| source.provisional),
        prompt: Arc::new(prompt),
        unreadable,
    }
}

/// The message with what the model is told along with it, where it asks the whole repository.
fn draft_for(order: &RequestSpec, is_nothing_found: bool, prompts: &Prompts) -> String {
    let none = order.codebase.filter(|_| is_nothing_found).map(|_| prompts.text("passages-none"));
    let more = order.codebase.filter(|may_want| *may_want).map(|_| prompts.text("search-more"));
    let parts = [Some(order.draft.as_str()), none, more].into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

/// What the files of the chat hold now.
#[derive(Default)]
struct Desk {
    files: Vec<ContextFile>,
    images: Vec<Image>,
    /// Files that cannot be sent, and why.
    unreadable: Vec<(String, String)>,
}

impl Desk {
    fn laid(root: &Root, order: &RequestSpec, model: &Model) -> Self {
        let mut desk = Self::default();
        for file in order.files.iter() {
            match rhumb_workspace::read(root, &file.path) {
                Ok(snapshot) => {
                    let ChatFile { path, read_only } = file.clone();
                    desk.files.push(ContextFile { path, text: snapshot.text, read_only });
                }
                Err(error) => desk.lay_picture(root, &file.path, model, &error.to_string()),
            }
        }
        for picture in &order.pictures {
            match picture_refusal(&picture.bytes, model) {
                None => desk.images.push(picture.clone()),
                Some(reason) => desk.unreadable.push((picture.name.clone(), reason)),
            }
        }
        desk
    }

    /// What the manual says of a question, instead of the repository's files.
    fn with_manual(order: &RequestSpec, means: &Means<'_>) -> Self {
        let page = |(path, text): (String, String)| ContextFile { path, text: text.into(), read_only: true };
        let pages = manual(&order.draft, means.window.max_input() / MANUAL_SHARE, means.counter);
        Self { files: pages.into_iter().map(page).collect(), ..Self::default() }
    }

    /// Adds a file that is no text for the `reason`, if it is a picture.
    fn lay_picture(&mut self, root: &Root, path: &str, model: &Model, reason: &str) {
        let bytes = rhumb_workspace::read_raw(root, path).unwrap_or_default();
        match image_type(&bytes) {
            Some(media_type) => match picture_refusal(&bytes, model) {
                None => {
                    let (name, media_type) = (path.to_owned(), media_type.to_owned());
                    self.images.push(Image { name, media_type, bytes: bytes.into() });
                }
                Some(reason) => self.unreadable.push((path.to_owned(), reason)),
            },
            None => self.unreadable.push((path.to_owned(), reason.to_owned())),
        }
    }
}

fn map_request(order: &RequestSpec, source: &MapSource<'_>, files: &[ContextFile], budget: usize) -> MapRequest {
    MapRequest {
        chat_files: files.iter().map(|file| file.path.clone()).collect(),
        message: order.draft.clone(),
        edited: source.edited.to_vec(),
        pinned: order.map.pinned.iter().cloned().collect(),
        banned: order.map.banned.iter().cloned().collect(),
        budget,
        style: MapStyle::Tree,
        ..MapRequest::default()
    }
}
