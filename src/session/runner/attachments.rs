//! What a message names with an `@`: files and folders for the chat, definitions and the uncommitted diff as texts that go along. And
//! how many tokens files have.

use std::sync::Arc;

use super::{Runner, SURVEY_PATIENCE, Survey, caught, shared_output};
use crate::context::{AtMeaning, at_meaning, fence_for};
use crate::git::Repo;
use crate::repo_map::TagGraph;
use crate::session::{Attachment, Failure, LookedUp, MentionOrder, MentionReport, Report};
use crate::tokens::TokenCounter as _;
use crate::workspace::{self, is_secret_name};

/// A folder, or a text that goes along, may have this part of the model's window.
const SHARE: usize = 4;

/// Definitions of one name that are shown.
const MOST_DEFINITIONS: usize = 4;

impl Runner {
    /// Finds out what was asked about names and files.
    pub(super) fn mention(self, order: MentionOrder) {
        match order {
            MentionOrder::LookUp { turn, names, chat } => {
                tokio::spawn(async move {
                    let mut surveyed = self.shared.survey.subscribe();
                    let ready = surveyed.wait_for(Option::is_some);
                    // Without a survey nothing is found, which is told.
                    drop(tokio::time::timeout(SURVEY_PATIENCE, ready).await);
                    tokio::task::spawn_blocking(move || {
                        let found = caught(|| self.look_up(turn, &names, &chat)).unwrap_or_else(|failure| LookedUp {
                            turn,
                            notes: vec![failure],
                            ..LookedUp::default()
                        });
                        self.report_now(Report::Mention(MentionReport::LookedUp(found)));
                    });
                });
            }
            MentionOrder::Weigh { number, paths } => self.blocking(Report::Failed, move |runner| {
                let weigh = |path: String| {
                    let text = workspace::read(&runner.shared.root, &path).ok().map(|snapshot| snapshot.text);
                    let tokens = text.map(|text| runner.counter().count(&text));
                    (path, tokens)
                };
                let tokens = paths.into_iter().map(weigh).collect();
                Report::Mention(MentionReport::Weighed { number, tokens })
            }),
        }
    }

    fn look_up(&self, turn: u64, names: &[String], chat: &[String]) -> LookedUp {
        let mut found = LookedUp { turn, ..LookedUp::default() };
        let Some(survey) = self.shared.survey.borrow().clone() else {
            let message = "The repository is still being read, so names with @ are sent as they are.".into();
            found.notes.push(Failure { message, hint: "Send again when the map shows.".into() });
            return found;
        };
        let paths: Vec<String> = survey.files.iter().map(|file| file.path.clone()).collect();
        let index = survey.graph.index();
        let is_symbol =
            |name: &str| index.name_number(name).is_some_and(|name| !survey.graph.defining_files(name).is_empty());
        let mut done = Vec::new();
        for meaning in names.iter().filter_map(|name| at_meaning(name, &paths, &is_symbol)) {
            if done.contains(&meaning) {
                continue;
            }
            match &meaning {
                AtMeaning::File(path) => found.files.push(path.clone()),
                AtMeaning::Folder(folder) => self.folder(folder, &paths, chat, &mut found),
                AtMeaning::Symbol(name) => self.definitions(name, &survey, &mut found),
                AtMeaning::Diff => self.diff(&survey, &mut found),
                AtMeaning::Page(address) => self.page_along(address, &mut found),
            }
            done.push(meaning);
        }
        found
    }

    /// Tokens that a folder or a text that goes along may have.
    fn share_of_window(&self) -> usize {
        let window = self.line().map(|line| self.shared.outfit.window(&line.facts)).unwrap_or_default();
        window.max_input() / SHARE
    }

    /// The files of a folder, as many as have room.
    fn folder(&self, folder: &str, paths: &[String], chat: &[String], found: &mut LookedUp) {
        let start = format!("{folder}/");
        let inside = paths.iter().filter(|path| path.starts_with(&start));
        let new: Vec<&String> = inside.filter(|path| !is_secret_name(path) && !chat.contains(*path)).collect();
        let (limit, counter) = (self.share_of_window(), self.counter());
        let (mut tokens, mut added) = (0, 0);
        for path in &new {
            let Ok(snapshot) = workspace::read(&self.shared.root, path) else { continue };
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
    fn definitions(&self, name: &str, survey: &Survey, found: &mut LookedUp) {
        let places = places(name, &survey.graph);
        let mut budget = self.share_of_window();
        for (path, first, last) in places.iter().take(MOST_DEFINITIONS) {
            let Ok(snapshot) = workspace::read(&self.shared.root, path) else { continue };
            let lines: Vec<&str> = snapshot.text.lines().skip(first - 1).take(last + 1 - first).collect();
            let title = format!("{name} — {path}:{first}-{last}");
            let shared = shared_output(&self.shared.outfit, &title, &lines.join("\n"), budget, &*self.counter());
            budget = budget.saturating_sub(self.counter().count(&shared.excerpt.text));
            let text =
                fenced(&format!("`{name}`, as {path} defines it (lines {first}-{last}):"), &shared.excerpt.text, "");
            found.attached.push(Attachment { title, text, whole: shared.whole });
            found.notes.extend(shared.note);
        }
        if places.len() > MOST_DEFINITIONS {
            let message = format!("{name} is defined in {} places; {MOST_DEFINITIONS} of them go along.", places.len());
            found.notes.push(Failure { message, hint: "/add the file that you mean.".into() });
        }
    }

    /// What is not committed.
    fn diff(&self, survey: &Survey, found: &mut LookedUp) {
        let root = &self.shared.root;
        let listed = |path: &str| survey.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
        let is_wanted = |path: &str| !is_secret_name(path) && (listed(path) || !workspace::is_ignored(root, path));
        let told = |message: &str, hint: &str| Failure { message: message.into(), hint: hint.into() };
        let diff = match Repo::open(root.path()) {
            Ok(Some(repo)) => repo.uncommitted(&is_wanted),
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
                let shared = shared_output(&self.shared.outfit, what, &text, self.share_of_window(), &*self.counter());
                let text = fenced("What is not committed yet:", &shared.excerpt.text, "diff");
                found.attached.push(Attachment { title: what.into(), text, whole: shared.whole });
                found.notes.extend(shared.note);
            }
            Err(error) => found.notes.push(Failure { message: format!("{error}."), hint: error.hint() }),
        }
    }

    /// The page at an address.
    fn page_along(&self, address: &str, found: &mut LookedUp) {
        match tokio::runtime::Handle::current().block_on(self.page_for_message(address)) {
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
