//! Composes a request from the current files: chat files, the map ranked for the draft, history.

pub(super) mod counter;
pub(super) mod map_cache;
pub(super) mod request_env;

use super::attachments::image_refusal;
use super::codebase::current_passages;
use map_cache::MapCache;
use request_env::RequestEnv;
use rhumb_index::repo_map::{MapRequest, MapStyle, Refresh, TagGraph};
use rhumb_llm::Image;
use rhumb_llm::models::{Caching, Model};
use rhumb_session::context::{
    BudgetOverrides, BudgetPlan, ContextFile, ContextInputs, Mode, OfferedTools, Prompts, Window, fit, manual,
};
use rhumb_session::{ChatFile, CodebaseQuestion, ContextView, RequestSpec};
use rhumb_tokens::{TokenCounter, image_type};
use rhumb_workspace::Root;
use std::sync::Arc;

/// The manual may use one part in this many of the window.
const MANUAL_SHARE: usize = 3;

/// The parameters of [`compose`] in addition to the request.
#[derive(Clone, Copy)]
pub struct ComposeContext<'m> {
    /// The request environment.
    pub env: &'m RequestEnv,
    /// The model that receives the request.
    pub model: &'m Model,
    /// The context window that the request must fit.
    pub window: Window,
    /// The token counter of the model.
    pub counter: &'m dyn TokenCounter,
    /// The cache of the map.
    pub map_cache: &'m MapCache,
}

/// The source of the map.
#[derive(Debug, Clone, Copy)]
pub struct MapSource<'s> {
    /// The tag graph.
    pub graph: &'s Arc<TagGraph>,
    /// Files with uncommitted changes.
    pub edited: &'s [String],
    /// Whether the graph is provisional: its map is shown but not sent.
    pub provisional: bool,
}

/// Composes a request: reads the files of the chat, ranks the map, and fits all sections into the window.
pub fn compose(
    root: &Root,
    source: Option<MapSource<'_>>,
    spec: &RequestSpec,
    context: &ComposeContext<'_>,
) -> ContextView {
    let RequestEnv { settings, prompts, .. } = context.env;
    let ChatContents { files, images, unreadable } = match spec.mode {
        Mode::Help => ChatContents::from_manual(spec, context),
        _ => ChatContents::read(root, spec, context.model),
    };
    // A plan and the manual need no map.
    let is_mapless = matches!(spec.mode, Mode::Editor | Mode::Help);
    let source = source.filter(|_| !is_mapless);
    let map_tokens = if is_mapless { Some(0) } else { spec.map.tokens.or(settings.map_tokens) };
    let in_chat = |path: &str| files.iter().any(|file| file.path == path);
    let passages =
        source.map(|source| current_passages(root, source.graph, &spec.passages, &in_chat)).unwrap_or_default();
    let draft = draft_for(spec, passages.is_empty(), prompts);
    let has_chat_files = files.iter().any(|file| !file.read_only);
    let overrides =
        BudgetOverrides { map: map_tokens, passages: settings.codebase.tokens, history: settings.history_tokens };
    let tools = spec.tools.as_ref().map(rhumb_agent::definitions);
    let inputs = ContextInputs {
        task: context.env.task(spec, context.model),
        model: context.model,
        window: context.window,
        plan: BudgetPlan::of(context.window, has_chat_files, overrides),
        prompts,
        environment: &context.env.environment(),
        files: &files,
        images: &images,
        passages: &passages,
        related: &spec.related,
        history: &spec.history,
        exchange: &spec.exchange,
        draft: &draft,
        may_drop_history: spec.may_drop_history,
        send_secrets: settings.send_secrets,
        tools: tools.as_deref().map(|tools| OfferedTools { tools, as_text: spec.text_protocol }),
    };
    // The map is at the beginning of the cached prefix.
    let cached = settings.cache_prompts && context.model.capabilities.caching != Caching::None;
    let has_earlier = !spec.history.is_empty() || (spec.tools.is_some() && !spec.exchange.is_empty());
    let steady = cached && spec.map.refresh == Refresh::Auto && has_earlier;
    let mut map = None;
    let prompt = fit(&inputs, context.counter, &mut |budget| {
        let Some(source) = source else { return String::new() };
        let request = map_request(spec, &source, &files, budget);
        let made = context.map_cache.map(source.graph, source.provisional, spec, &request, steady, context.counter);
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

/// The draft, and for a question about the whole repository the prompts that belong to it.
fn draft_for(spec: &RequestSpec, is_nothing_found: bool, prompts: &Prompts) -> String {
    let lacks_passages = is_nothing_found && spec.codebase != CodebaseQuestion::No;
    let none = lacks_passages.then(|| prompts.text("passages-none"));
    let more = (spec.codebase == CodebaseQuestion::MayRequestMore).then(|| prompts.text("search-more"));
    let parts = [Some(spec.draft.as_str()), none, more].into_iter().flatten().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

#[derive(Default)]
struct ChatContents {
    files: Vec<ContextFile>,
    images: Vec<Image>,
    /// Files that cannot be sent, with the reason.
    unreadable: Vec<(String, String)>,
}

impl ChatContents {
    fn read(root: &Root, spec: &RequestSpec, model: &Model) -> Self {
        let mut contents = Self::default();
        for file in spec.files.iter() {
            match rhumb_workspace::read(root, &file.path) {
                Ok(snapshot) => {
                    let ChatFile { path, read_only } = file.clone();
                    contents.files.push(ContextFile { path, text: snapshot.text, read_only });
                }
                Err(error) => contents.add_image(root, &file.path, model, &error.to_string()),
            }
        }
        for picture in &spec.images {
            match image_refusal(&picture.bytes, model) {
                None => contents.images.push(picture.clone()),
                Some(reason) => contents.unreadable.push((picture.name.clone(), reason)),
            }
        }
        contents
    }

    /// The pages of the manual that answer a question, instead of files of the repository.
    fn from_manual(spec: &RequestSpec, context: &ComposeContext<'_>) -> Self {
        let page = |(path, text): (String, String)| ContextFile { path, text: text.into(), read_only: true };
        let pages = manual(&spec.draft, context.window.max_input() / MANUAL_SHARE, context.counter);
        Self { files: pages.into_iter().map(page).collect(), ..Self::default() }
    }

    /// Adds a file as an image if it is one. Otherwise it is unreadable for the given reason.
    fn add_image(&mut self, root: &Root, path: &str, model: &Model, reason: &str) {
        let bytes = rhumb_workspace::read_raw(root, path).unwrap_or_default();
        match image_type(&bytes) {
            Some(media_type) => match image_refusal(&bytes, model) {
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

/// The message that the map is ranked for. Between the steps of an agent loop there is no draft, and the map must not change.
fn topic(spec: &RequestSpec) -> &str {
    if spec.draft.is_empty() { &spec.topic } else { &spec.draft }
}

fn map_request(spec: &RequestSpec, source: &MapSource<'_>, files: &[ContextFile], budget: usize) -> MapRequest {
    MapRequest {
        chat_files: files.iter().map(|file| file.path.clone()).collect(),
        message: topic(spec).to_owned(),
        edited: source.edited.to_vec(),
        pinned: spec.map.pinned.iter().cloned().collect(),
        banned: spec.map.banned.iter().cloned().collect(),
        budget,
        style: MapStyle::Tree,
        ..MapRequest::default()
    }
}
