//! Resolves the mentions of a message (`@name`): files and folders are added to the chat; definitions, pages and the uncommitted
//! diff are attached as texts. Also counts the tokens of files.

use super::{Host, RequestEnv, Survey, caught, shared_output};
use rhumb_index::repo_map::TagGraph;
use rhumb_session::context::{AtTarget, at_target, fence_for};
use rhumb_session::{Attachment, EffectKind, Failure, LookedUp, MentionEffect, MentionResponse, Response, SharedPage};
use rhumb_text::sanitize::visible_line;
use rhumb_tokens::TokenCounter;
use rhumb_workspace::git::Repo;
use rhumb_workspace::{Root, is_secret_name};
use std::sync::Arc;

/// A folder or an attached text may use one part in this many of the model's window.
const WINDOW_SHARE: usize = 4;

/// Maximum number of definitions of one name that are attached.
const MAX_DEFINITIONS: usize = 4;

impl Host {
    pub(super) fn mention(self, effect: MentionEffect) {
        match effect {
            MentionEffect::LookUp { turn, names, chat, reads_pages } => {
                tokio::spawn(async move {
                    self.wait_for_survey().await;
                    tokio::task::spawn_blocking(move || {
                        let found = caught(|| self.resolve_mentions(turn, &names, &chat, reads_pages))
                            .unwrap_or_else(|failure| LookedUp { turn, notes: vec![failure], ..LookedUp::default() });
                        self.respond_now(Response::Mention(MentionResponse::LookedUp(found)));
                    });
                });
            }
            MentionEffect::CountTokens { number, paths } => self.blocking(EffectKind::Mention.failed(), move |host| {
                let weigh = |path: String| {
                    let text = rhumb_workspace::read(&host.shared.root, &path).ok().map(|snapshot| snapshot.text);
                    let tokens = text.map(|text| host.counter().count(&text));
                    (path, tokens)
                };
                let tokens = paths.into_iter().map(weigh).collect();
                Response::Mention(MentionResponse::TokensCounted { number, tokens })
            }),
        }
    }

    fn resolve_mentions(&self, turn: u64, names: &[String], chat: &[String], reads_pages: bool) -> LookedUp {
        let Some(survey) = self.shared.survey.borrow().clone() else {
            let message = "The repository is still being read, so names with @ were not resolved.".into();
            let notes = vec![Failure { message, hint: "Send the message again when the map is shown.".into() }];
            return LookedUp { turn, notes, ..LookedUp::default() };
        };
        let window = self.client().map(|client| self.shared.env.window(&client.facts)).unwrap_or_default();
        let lookup = MentionLookup {
            root: &self.shared.root,
            env: &self.shared.env,
            survey: &survey,
            counter: &*self.counter(),
            window: window.max_input(),
            page: &|address| match reads_pages {
                true => tokio::runtime::Handle::current().block_on(self.page_for_message(address)),
                false => Err(Failure {
                    message: format!("{address} is only read in the app."),
                    hint: "Read it there with /web, or pass its text with --with-output.".into(),
                }),
            },
        };
        LookedUp { turn, ..lookup.resolve(names, chat) }
    }
}

/// Resolves mentions.
pub struct MentionLookup<'a> {
    /// The root.
    pub root: &'a Root,
    /// The settings, and the folder for texts that are too long.
    pub env: &'a RequestEnv,
    /// The survey of the repository.
    pub survey: &'a Survey,
    /// The token counter of the model.
    pub counter: &'a dyn TokenCounter,
    /// The maximum number of input tokens of the model.
    pub window: usize,
    /// Reads a page.
    pub page: &'a dyn Fn(&str) -> Result<SharedPage, Failure>,
}

impl MentionLookup<'_> {
    /// Resolves names without their `@`. `chat` are the files that are in the chat already.
    pub fn resolve(&self, names: &[String], chat: &[String]) -> LookedUp {
        let mut found = LookedUp::default();
        let paths: Vec<String> = self.survey.files.iter().map(|file| file.path.clone()).collect();
        let graph = &self.survey.graph;
        let is_symbol =
            |name: &str| graph.index().name_number(name).is_some_and(|name| !graph.defining_files(name).is_empty());
        let mut done = Vec::new();
        for meaning in names.iter().filter_map(|name| at_target(name, &paths, &is_symbol)) {
            if done.contains(&meaning) {
                continue;
            }
            match &meaning {
                AtTarget::File(path) => found.files.push(path.clone()),
                AtTarget::Folder(folder) => self.add_folder(folder, &paths, chat, &mut found),
                AtTarget::Symbol(name) => self.attach_definitions(name, &mut found),
                AtTarget::Diff => self.attach_diff(&mut found),
                // The search adds its results to the request itself.
                AtTarget::Codebase => {}
                AtTarget::Page(address) => self.attach_page(address, &mut found),
            }
            done.push(meaning);
        }
        found
    }

    fn max_tokens(&self) -> usize {
        self.window / WINDOW_SHARE
    }

    /// Adds files of a folder until they reach the limit of tokens.
    fn add_folder(&self, folder: &str, paths: &[String], chat: &[String], found: &mut LookedUp) {
        let start = format!("{folder}/");
        let inside = paths.iter().filter(|path| path.starts_with(&start));
        let new: Vec<&String> = inside.filter(|path| !is_secret_name(path) && !chat.contains(*path)).collect();
        let (limit, counter) = (self.max_tokens(), self.counter);
        let (mut tokens, mut added) = (0, 0);
        for path in &new {
            let Ok(snapshot) = rhumb_workspace::read(self.root, path) else { continue };
            tokens += counter.count(&snapshot.text);
            if tokens > limit {
                break;
            }
            found.files.push((*path).clone());
            added += 1;
        }
        if added < new.len() {
            found.notes.push(Failure::new(format!(
                    "Only {added} of {} files of {folder}/ were added: a folder may use {limit} tokens, a quarter of the window.",
                    new.len()
                ), "Name a smaller folder or single files. /add has no such limit."));
        }
    }

    fn attach_definitions(&self, name: &str, found: &mut LookedUp) {
        let locations = definition_locations(name, &self.survey.graph);
        let mut budget = self.max_tokens();
        for (path, first, last) in locations.iter().take(MAX_DEFINITIONS) {
            let Ok(snapshot) = rhumb_workspace::read(self.root, path) else { continue };
            let lines: Vec<&str> = snapshot.text.lines().skip(first - 1).take(last + 1 - first).collect();
            let title = format!("{name} — {path}:{first}-{last}");
            let shared = shared_output(self.env, &title, &lines.join("\n"), budget, self.counter);
            budget = budget.saturating_sub(self.counter.count(&shared.excerpt.text));
            // Text after a line break in a path could look like text of the user.
            let lead = format!("`{name}`, as {} defines it (lines {first}-{last}):", visible_line(path));
            let text = fenced(&lead, &shared.excerpt.text, "");
            found.attached.push(Attachment { title, text, whole: shared.whole });
            found.notes.extend(shared.note);
        }
        if locations.len() > MAX_DEFINITIONS {
            let message =
                format!("{name} has {} definitions; {MAX_DEFINITIONS} of them were attached.", locations.len());
            found.notes.push(Failure { message, hint: "Add the right file with /add.".into() });
        }
    }

    fn attach_diff(&self, found: &mut LookedUp) {
        let (root, survey) = (self.root, self.survey);
        let listed = |path: &str| survey.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        let is_wanted =
            |path: &str| !is_secret_name(path) && (listed(path) || !rhumb_workspace::is_ignored(root, path));
        let note = |message: &str, hint: &str| Failure { message: message.into(), hint: hint.into() };
        let diff = match Repo::open(root.path()) {
            Ok(Some(repo)) => repo.uncommitted_diff(&is_wanted),
            Ok(None) => return found.notes.push(note("@diff needs a git repository.", "git init creates one.")),
            Err(error) => Err(error),
        };
        match diff {
            Ok(text) if text.is_empty() => {
                found.notes.push(note("There are no uncommitted changes, so @diff is empty.", ""))
            }
            Ok(text) => {
                let what = "the uncommitted diff";
                let shared = shared_output(self.env, what, &text, self.max_tokens(), self.counter);
                let text = fenced("The uncommitted changes:", &shared.excerpt.text, "diff");
                found.attached.push(Attachment { title: what.into(), text, whole: shared.whole });
                found.notes.extend(shared.note);
            }
            Err(error) => found.notes.push(Failure { message: format!("{error}."), hint: error.hint() }),
        }
    }

    fn attach_page(&self, address: &str, found: &mut LookedUp) {
        match (self.page)(address) {
            Ok(page) => {
                found.attached.push(Attachment { title: page.title, text: page.text, whole: page.whole });
                found.notes.extend(page.note);
            }
            Err(failure) => found.notes.push(failure),
        }
    }
}

/// The definitions of a name: path, first and last line.
fn definition_locations(name: &str, graph: &Arc<TagGraph>) -> Vec<(String, usize, usize)> {
    let index = graph.index();
    let files = index.name_number(name).map(|number| graph.defining_files(number)).unwrap_or_default();
    let in_file = |file: &u32| {
        let path = index.path(*file).to_owned();
        let entries = index.definitions(*file).filter(|entry| entry.name() == name);
        entries
            .map(move |entry| (path.clone(), entry.line().max(1) as usize, entry.end_line().max(entry.line()) as usize))
    };
    files.iter().flat_map(in_file).collect()
}

fn fenced(lead: &str, text: &str, language: &str) -> String {
    let fence = fence_for([text]);
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    format!("{lead}\n\n{fence}{language}\n{text}{newline}{fence}")
}
