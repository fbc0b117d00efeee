//! `rhumb edit`: one turn without the app.

use std::io::IsTerminal as _;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::args::EditArgs;
use super::report::{as_diff, ask_each, outcome_json, outcome_line};
use super::survey::surveyed;
use super::undo::tell_recovered;
use super::{advise, complain, path_under, print, print_json, read_input};
use crate::config::Settings;
use crate::context::{self, Message, Role};
use crate::edit::{self, FormatChoice, Proposal, Status};
use crate::error::{ErrorKind, UserError};
use crate::llm::{Completion, LlmError, StreamEvent};
use crate::repo_map::Refresh;
use crate::review::{Decision, Review};
use crate::session::runner::{
    CachedCounter, KeptMap, Line, MapSource, Survey, compose, connect, failure_of, llm_request, map_store, propose,
    unsendable, write,
};
use crate::session::{ChatFile, ContextOrder, WriteOrder, Written, commit_message, write_orders};
use crate::text::sanitize;
use crate::workspace::{Journal, Root};

/// Runs the turn. The exit code is 0 when everything was applied, 1 when some was refused or there was no edit.
///
/// # Errors
/// No provider, a request that does not fit, an error of the provider, an incomplete reply, or a disk that refuses.
pub fn edit(root: &Root, settings: &Settings, args: &EditArgs) -> Result<u8, UserError> {
    let message = request(args)?;
    let line = provider(settings)?;
    let journal = settings.state_folder.as_deref().map(|state| Journal::new(state, root));
    if !args.dry_run {
        tell_recovered(root, journal.as_ref());
    }
    let survey = surveyed(root, true, map_store(root).as_ref());
    let files = chat_files(root, args);
    let out = Out { json: args.json };
    let desk = Desk { root, settings, line: &line, survey: &survey, files: &files, out: &out };
    let reply = desk.ask(&[], &message)?;
    let proposal = desk.mended(&message, reply)?;
    settle(root, settings, journal.as_ref(), args, proposal, &message, &out)
}

/// What every request of the turn is made with.
struct Desk<'a> {
    root: &'a Root,
    settings: &'a Settings,
    line: &'a Line,
    survey: &'a Survey,
    files: &'a [ChatFile],
    out: &'a Out,
}

/// Where events go: text for people, or JSON lines.
struct Out {
    json: bool,
}

impl Out {
    /// Text of the answer as it arrives.
    fn text(&self, text: &str) -> Result<(), UserError> {
        if self.json { self.event("text", json!({"text": text})) } else { print(text) }
    }

    fn event(&self, kind: &str, fields: Value) -> Result<(), UserError> {
        if !self.json {
            return Ok(());
        }
        let mut event = json!({"event": kind});
        if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
            event.extend(fields);
        }
        print_json(&event)
    }

    fn diff(&self, diff: &str) -> Result<(), UserError> {
        if self.json { self.event("diff", json!({"text": diff})) } else { print(diff) }
    }

    fn nothing_written(&self) -> Result<(), UserError> {
        self.event("done", json!({"written": [], "commit": null}))
    }

    fn written(&self, written: &Written) -> Result<(), UserError> {
        self.event("done", json!({"written": written.paths, "commit": written.commit}))?;
        if !self.json {
            let commit = written.commit.as_ref().map_or_else(String::new, |commit| format!(", committed as {commit}"));
            let paths: Vec<_> = written.paths.iter().map(|path| sanitize::visible_line(path)).collect();
            complain(&format!("wrote {}{commit}", paths.join(", ")));
        }
        for note in written.notes.iter().chain(&written.not_undoable) {
            advise(&note.message, &note.hint);
        }
        Ok(())
    }
}

fn request(args: &EditArgs) -> Result<String, UserError> {
    let message = match (&args.message, &args.message_file) {
        (Some(message), _) => message.clone(),
        (None, Some(file)) => read_input(file)?,
        (None, None) => String::new(),
    };
    if message.trim().is_empty() {
        return Err(UserError::new(ErrorKind::Usage, "the request is empty", "say with -m what to change"));
    }
    Ok(message)
}

fn provider(settings: &Settings) -> Result<Line, UserError> {
    let hint = "Give --base-url and --model (or RHUMB_BASE_URL and RHUMB_MODEL); the key goes into RHUMB_API_KEY.";
    let line = connect(settings)
        .map_err(|error| UserError::new(ErrorKind::Usage, &error, error.hint()))?
        .ok_or_else(|| UserError::new(ErrorKind::Usage, "no provider is configured", hint))?;
    if line.model.is_empty() {
        let hint = "give --model NAME or set RHUMB_MODEL";
        return Err(UserError::new(ErrorKind::Usage, "no model is named", hint));
    }
    if let Some(warning) = line.warning {
        complain(warning);
    }
    if let Some((warning, hint)) = settings.key_warning() {
        advise(warning, hint);
    }
    Ok(line)
}

fn chat_files(root: &Root, args: &EditArgs) -> Vec<ChatFile> {
    let file = |read_only: bool| move |name: &String| ChatFile { path: path_under(root, name), read_only };
    let mut files: Vec<ChatFile> = Vec::new();
    for file in args.files.iter().map(file(false)).chain(args.read.iter().map(file(true))) {
        // Several names may mean one file, which is sent once.
        if files.iter().all(|other| other.path != file.path) {
            files.push(file);
        }
    }
    files
}

impl Desk<'_> {
    /// The proposal of a reply to `message`, after the model was asked again about what found no place, as often as the settings
    /// allow. A round that fails is told; what was found before it stands.
    fn mended(&self, message: &str, reply: String) -> Result<Proposal, UserError> {
        let paths: Vec<String> = self.survey.files.iter().map(|file| file.path.clone()).collect();
        let proposed = |replies: &[String]| propose(self.root, &paths, self.files, replies, FormatChoice::Auto);
        let mut said = vec![Message::new(Role::User, message), Message::new(Role::Assistant, &reply)];
        let mut replies = vec![reply];
        let mut proposal = proposed(&replies);
        let rounds = self.settings.edit_rounds;
        for round in 1..=rounds {
            let Some(refusals) = context::refusals(&proposal.outcomes) else {
                break;
            };
            self.out.event("again", json!({"round": round, "of": rounds, "text": refusals}))?;
            complain(&format!("edits found no place; asked again, {round} of {rounds}"));
            let reply = match self.ask(&said, &refusals) {
                Ok(reply) => reply,
                Err(error) => {
                    advise(&error.message, &error.hint);
                    break;
                }
            };
            said.extend([Message::new(Role::User, refusals), Message::new(Role::Assistant, &reply)]);
            if edit::parse(&reply, FormatChoice::Auto).edits.is_empty() {
                break;
            }
            replies.push(reply);
            proposal = proposed(&replies);
        }
        Ok(proposal)
    }

    /// Sends a message after what was `said` before it, and prints the answer as it streams; the whole reply.
    fn ask(&self, said: &[Message], message: &str) -> Result<String, UserError> {
        let Self { root, settings, line, survey, files, out } = *self;
        let order = ContextOrder {
            generation: 0,
            files: files.to_vec(),
            history: said.to_vec(),
            draft: message.to_owned(),
            map_tokens: None,
            map_refresh: Refresh::default(),
            map_refreshes: 0,
            pinned: Vec::new(),
            banned: Vec::new(),
        };
        let counter = CachedCounter::for_model(&line.model);
        let view = compose(
            root,
            Some(MapSource { graph: &survey.graph, edited: &survey.edited, provisional: false }),
            &order,
            settings,
            settings.window(&line.model),
            &counter,
            &KeptMap::default(),
        );
        if let Some(failure) = unsendable(&view) {
            let kind = if view.unreadable.is_empty() { ErrorKind::Provider } else { ErrorKind::Usage };
            return Err(UserError::new(kind, failure.message, failure.hint));
        }
        let prompt = &view.prompt;
        out.event("request", json!({"model": line.model, "tokens": prompt.tokens, "exact": prompt.exact}))?;
        let machine = |error: std::io::Error| UserError::new(ErrorKind::Machine, error, "");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(machine)?;
        let (reply, result) = runtime.block_on(stream(line, llm_request(&line.model, prompt), out))?;
        // What streamed may have ended in the middle of a line.
        if !out.json && !reply.is_empty() {
            print("\n")?;
        }
        let completion = result.map_err(|error| provider_error(&error))?;
        if let Some(reason) = completion.finish.shortfall() {
            let text = format!("the reply is incomplete, so nothing was applied: {reason}");
            return Err(UserError::new(ErrorKind::Incomplete, text, "ask for less at once, or raise the output limit"));
        }
        Ok(reply)
    }
}

type Streamed = (String, Result<Completion, LlmError>);

async fn stream(line: &Line, request: crate::llm::Request, out: &Out) -> Result<Streamed, UserError> {
    let (events, mut arriving) = mpsc::channel(64);
    let cancel = CancellationToken::new();
    let print_all = async {
        let mut reply = String::new();
        while let Some(event) = arriving.recv().await {
            match event {
                StreamEvent::Text(text) => {
                    reply.push_str(&text);
                    out.text(&text)?;
                }
                StreamEvent::Reasoning(text) => out.event("reasoning", json!({"text": text}))?,
                StreamEvent::Usage(usage) => {
                    out.event("usage", json!({"input": usage.input, "output": usage.output, "cached": usage.cached}))?;
                }
                StreamEvent::Retrying { attempt, wait, reason } => {
                    complain(&format!("{reason}; try {attempt} in {:.0} s", wait.as_secs_f64().ceil()));
                }
            }
        }
        Ok::<String, UserError>(reply)
    };
    let (result, reply) = tokio::join!(line.provider.stream(request, cancel, events), print_all);
    Ok((reply?, result))
}

fn provider_error(error: &LlmError) -> UserError {
    let kind = if matches!(error, LlmError::Interrupted { .. }) { ErrorKind::Incomplete } else { ErrorKind::Provider };
    let failure = failure_of(error);
    UserError::new(kind, failure.message, failure.hint)
}

/// Decides on the proposal and writes what was accepted.
fn settle(
    root: &Root,
    settings: &Settings,
    journal: Option<&Journal>,
    args: &EditArgs,
    proposal: Proposal,
    message: &str,
    out: &Out,
) -> Result<u8, UserError> {
    for (index, outcome) in proposal.outcomes.iter().enumerate() {
        out.event("hunk", outcome_json(outcome))?;
        if !args.json {
            complain(&outcome_line(index + 1, outcome));
        }
    }
    if proposal.outcomes.is_empty() {
        out.nothing_written()?;
        return Ok(1);
    }
    let refused = proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused);
    let asks = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if args.dry_run || (!args.yes && !asks) {
        out.diff(&as_diff(&proposal))?;
        out.nothing_written()?;
        return Ok(u8::from(refused));
    }
    let (orders, rejected) = decided(proposal, args.yes);
    if orders.is_empty() {
        out.nothing_written()?;
        return Ok(1);
    }
    // Most failures leave everything as it was, but not all do: which, the message itself says.
    let message = settings.auto_commit.then(|| commit_message(message));
    let written = write(root, journal, &orders, message.as_deref())
        .map_err(|(failure, _)| UserError::new(ErrorKind::Machine, failure.message, failure.hint))?;
    out.written(&written)?;
    Ok(u8::from(refused || rejected))
}

/// What to write, by `--yes` or by asking, and whether something of the proposal was rejected.
fn decided(proposal: Proposal, yes: bool) -> (Vec<WriteOrder>, bool) {
    let mut review = Review::new(proposal);
    if yes {
        review.decide_all(Decision::Accepted);
    } else {
        ask_each(&mut review);
    }
    (review.files.iter().flat_map(write_orders).collect(), review.counts().rejected > 0)
}
