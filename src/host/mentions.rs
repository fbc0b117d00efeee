//! What a message names with an `@`: files and folders for the chat, definitions and the uncommitted diff as texts that go along. And
//! how many tokens files have.

use std::sync::Arc;

use super::{Host, RequestEnv, SURVEY_PATIENCE, Survey, caught, shared_output};
use rhumb_index::repo_map::TagGraph;
use rhumb_session::context::{AtMeaning, at_meaning, fence_for};
use rhumb_session::{Attachment, EffectKind, Failure, LookedUp, MentionEffect, MentionResponse, Response, SharedPage};
use rhumb_text::sanitize::visible_line;
use rhumb_tokens::TokenCounter;
use rhumb_workspace::git::Repo;
use rhumb_workspace::{Root, is_secret_name};

/// A folder, or a text that goes along, may have this part of the model's window.
const SHARE: usize = 4;

/// Definitions of one name that are shown.
const MOST_DEFINITIONS: usize = 4;

impl Host {
    /// Finds out what was asked about names and files.
    pub(super) fn mention(self, order: MentionEffect) {
        match order {
            MentionEffect::LookUp { turn, names, chat, reads_pages } => {
                tokio::spawn(async move {
                    let mut surveyed = self.shared.survey.subscribe();
                    let ready = surveyed.wait_for(Option::is_some);
                    // Without a survey nothing is found, which is told.
                    drop(tokio::time::timeout(SURVEY_PATIENCE, ready).await);
                    tokio::task::spawn_blocking(move || {
                        let found = caught(|| self.look_up(turn, &names, &chat, reads_pages))
                            .unwrap_or_else(|failure| LookedUp { turn, notes: vec![failure], ..LookedUp::default() });
                        self.report_now(Response::Mention(MentionResponse::LookedUp(found)));
                    });
                });
            }
            MentionEffect::CountTokens { number, paths } => {
                self.blocking(EffectKind::Mention.failed(), move |runner| {
                    let weigh = |path: String| {
                        let text = rhumb_workspace::read(&runner.shared.root, &path).ok().map(|snapshot| snapshot.text);
                        let tokens = text.map(|text| runner.counter().count(&text));
                        (path, tokens)
                    };
                    let tokens = paths.into_iter().map(weigh).collect();
                    Response::Mention(MentionResponse::TokensCounted { number, tokens })
                })
            }
        }
    }

    fn look_up(&self, turn: u64, names: &[String], chat: &[String], reads_pages: bool) -> LookedUp {
        let Some(survey) = self.shared.survey.borrow().clone() else {
            let message = "The repository is still being read, so names with @ are sent as they are.".into();
            let notes = vec![Failure { message, hint: "Send again when the map shows.".into() }];
            return LookedUp { turn, notes, ..LookedUp::default() };
        };
        let window = self.line().map(|line| self.shared.outfit.window(&line.facts)).unwrap_or_default();
        let look_up = MentionLookup {
            root: &self.shared.root,
            outfit: &self.shared.outfit,
            survey: &survey,
            counter: &*self.counter(),
            window: window.max_input(),
            page: &|address| match reads_pages {
                true => tokio::runtime::Handle::current().block_on(self.page_for_message(address)),
                false => Err(Failure {
                    message: format!("{address} is not read without the app."),
                    hint: "Read it in the app with /web, or pass its text with --with-output.".into(),
                }),
            },
        };
        LookedUp { turn, ..look_up.find(names, chat) }
    }
}

/// What names are looked up in.
pub struct MentionLookup<'a> {
    /// The root.
    pub root: &'a Root,
    /// The settings, and where what is too long is kept.
    pub outfit: &'a RequestEnv,
    /// What is known of the repository.
    pub survey: &'a Survey,
    /// Counts for the model.
    pub counter: &'a dyn TokenCounter,
    /// Most input tokens that the model takes.
    pub window: usize,
    /// Reads a page.
    pub page: &'a dyn Fn(&str) -> Result<SharedPage, Failure>,
}

impl MentionLookup<'_> {
    /// What the names behind an `@` mean: files for the chat, and texts that go along. `chat` are the files that are in it already.
    pub fn find(&self, names: &[String], chat: &[String]) -> LookedUp {
        let mut found = LookedUp::default();
        let paths: Vec<String> = self.survey.files.iter().map(|file| file.path.clone()).collect();
        let graph = &self.survey.graph;
        let is_symbol =
            |name: &str| graph.index().name_number(name).is_some_and(|name| !graph.defining_files(name).is_empty());
        let mut done = Vec::new();
        for meaning in names.iter().filter_map(|name| at_meaning(name, &paths, &is_symbol)) {
            if done.contains(&meaning) {
                continue;
            }
            match &meaning {
                AtMeaning::File(path) => found.files.push(path.clone()),
                AtMeaning::Folder(folder) => self.folder(folder, &paths, chat, &mut found),
                AtMeaning::Symbol(name) => self.definitions(name, &mut found),
                AtMeaning::Diff => self.diff(&mut found),
                // What it finds is a chunk of its own.
                AtMeaning::Codebase => {}
                AtMeaning::Page(address) => self.page_along(address, &mut found),
            }
            done.push(meaning);
        }
        found
    }

    /// Tokens that a folder or a text that goes along may have.
    fn share_of_window(&self) -> usize {
        self.window / SHARE
    }

    /// The files of a folder, as many as have room.
    fn folder(&self, folder: &str, paths: &[String], chat: &[String], found: &mut LookedUp) {
        let start = format!("{folder}/");
        let inside = paths.iter().filter(|path| path.starts_with(&start));
        let new: Vec<&String> = inside.filter(|path| !is_secret_name(path) && !chat.contains(*path)).collect();
        let (limit, counter) = (self.share_of_window(), self.counter);
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
            found.notes.push(Failure {
                message: format!(
                    "Of {folder}/ {added} of {} files are in the chat: a folder may have {limit} tokens, a quarter of the window.",
                    new.len()
                ),
                hint: "Name a smaller folder or single files; /add takes all that is named.".into(),
            });
        }
    }

    /// The source of the definitions of a name.
    fn definitions(&self, name: &str, found: &mut LookedUp) {
        let places = places(name, &self.survey.graph);
        let mut budget = self.share_of_window();
        for (path, first, last) in places.iter().take(MOST_DEFINITIONS) {
            let Ok(snapshot) = rhumb_workspace::read(self.root, path) else { continue };
            let lines: Vec<&str> = snapshot.text.lines().skip(first - 1).take(last + 1 - first).collect();
            let title = format!("{name} — {path}:{first}-{last}");
            let shared = shared_output(self.outfit, &title, &lines.join("\n"), budget, self.counter);
            budget = budget.saturating_sub(self.counter.count(&shared.excerpt.text));
            // A path may have lines, and would then speak for the developer.
            let lead = format!("`{name}`, as {} defines it (lines {first}-{last}):", visible_line(path));
            let text = fenced(&lead, &shared.excerpt.text, "");
            found.attached.push(Attachment { title, text, whole: shared.whole });
            found.notes.extend(shared.note);
        }
        if places.len() > MOST_DEFINITIONS {
            let message = format!("{name} is defined in {} places; {MOST_DEFINITIONS} of them go along.", places.len());
            found.notes.push(Failure { message, hint: "/add the file that you mean.".into() });
        }
    }

    /// What is not committed.
    fn diff(&self, found: &mut LookedUp) {
        let (root, survey) = (self.root, self.survey);
        let listed = |path: &str| survey.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        let is_wanted =
            |path: &str| !is_secret_name(path) && (listed(path) || !rhumb_workspace::is_ignored(root, path));
        let told = |message: &str, hint: &str| Failure { message: message.into(), hint: hint.into() };
        let diff = match Repo::open(root.path()) {
            Ok(Some(repo)) => repo.uncommitted_diff(&is_wanted),
            Ok(None) => {
                return found.notes.push(told("There is no @diff outside of git.", "git init starts a repository."));
            }
            Err(error) => Err(error),
        };
        match diff {
            Ok(text) if text.is_empty() => {
                found.notes.push(told("There is nothing uncommitted, so @diff is empty.", ""))
            }
            Ok(text) => {
                let what = "the uncommitted diff";
                let shared = shared_output(self.outfit, what, &text, self.share_of_window(), self.counter);
                let text = fenced("What is not committed yet:", &shared.excerpt.text, "diff");
                found.attached.push(Attachment { title: what.into(), text, whole: shared.whole });
                found.notes.extend(shared.note);
            }
            Err(error) => found.notes.push(Failure { message: format!("{error}."), hint: error.hint() }),
        }
    }

    /// The page at an address.
    fn page_along(&self, address: &str, found: &mut LookedUp) {
        match (self.page)(address) {
            Ok(page) => {
                found.attached.push(Attachment { title: page.title, text: page.text, whole: page.whole });
                found.notes.extend(page.note);
            }
            Err(failure) => found.notes.push(failure),
        }
    }
}

/// Where a name is defined: path, first and last line.
fn places(name: &str, graph: &Arc<TagGraph>) -> Vec<(String, usize, usize)> {
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
