//! `rhumb edit` and `rhumb ask`: one request without the app.
//!
//! The session runs the request and its consequences as in the app. This front end prints events and answers the questions of the
//! session from the flags, or asks the user on the terminal.

mod one_shot;
mod out;
mod request;

use super::args::EditArgs;
use super::trial::TrialCommand;
use super::undo::{journal_of, report_recovered};
use super::{path_under, print, print_json, print_with_hint};
use crate::config::{EmbeddingsSource, Settings};
use crate::error::{ErrorKind, UserError};
use crate::host::{Host, ModelClient, RequestEnv, editor_client};
use crate::signals::Signals;
use rhumb_agent::Caps;
use rhumb_session::ContextRequestPolicy;
use rhumb_session::context::Mode;
use rhumb_session::{AgentRules, RunPolicy};
use rhumb_session::{ChatFile, Connection, Failure, MentionPolicy, ModeRules, Session, SessionStart, uncounted};
use rhumb_workspace::Root;
use std::time::Duration;
use tokio::sync::mpsc;

use one_shot::{OneShot, OneShotSetup};
use out::Out;
pub(in crate::headless) use out::error_kind;
use request::{check_ready, offline, provider, request, with_output};

/// Runs the request. The exit code is 0 when everything was applied, 1 when some edits were refused or there was no edit.
///
/// # Errors
/// No provider is configured, the request does not fit, the provider fails, the reply is incomplete, or a file cannot be written.
pub fn edit(root: &Root, settings: Settings, args: &EditArgs) -> Result<u8, UserError> {
    edit_with(root, settings, args, EditOptions::default())
}

/// The options of [`edit_with`] in addition to the settings and flags.
#[derive(Default)]
pub struct EditOptions {
    /// Answers instead of the model of the settings.
    pub client: Option<ModelClient>,
    /// Parses every file again and stores nothing of the repository in the cache folder.
    pub no_cache: bool,
}

/// As [`edit`], with options that the command does not have.
///
/// # Errors
/// As [`edit`].
pub fn edit_with(root: &Root, settings: Settings, args: &EditArgs, options: EditOptions) -> Result<u8, UserError> {
    let message = request(args)?;
    let settings = if options.no_cache { Settings { cache_folder: None, ..settings } } else { settings };
    let (env, notes) = RequestEnv::of_user(adjusted(settings, args));
    notes.iter().for_each(|note| print_with_hint(&note.message, &note.hint));
    let output = with_output(args, &env)?;
    let client = match options.client {
        _ if args.show_prompt => offline(&env),
        Some(client) => client,
        None => provider(&env)?,
    };
    if !args.show_prompt {
        check(root, &env, &client, args)?;
    }
    let trial =
        args.try_command.as_deref().map(|line| TrialCommand::of_flag(root, &env, line, args.try_network, args.json));
    let mut session = session(root, &env, &client, args);
    session.extend_transcript(output);
    let out = Out::new(args.json, args.dry_run);
    let machine = |error: std::io::Error| UserError::new(ErrorKind::Machine, error, "");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(machine)?;
    let result = runtime.block_on(async {
        let (sender, reports) = mpsc::channel(256);
        let host = Host::for_one_request(root.clone(), env, Some(client.clone()), sender);
        let signals = Signals::for_lines().map_err(machine)?;
        let one_shot = OneShot::new(OneShotSetup { args, root, session, host, client, reports, signals, out, trial });
        if args.show_prompt { one_shot.show_prompt(&message).await } else { one_shot.run(&message).await }
    });
    // Threads that read the terminal or the repository must not delay the exit.
    runtime.shutdown_background();
    result
}

fn adjusted(mut settings: Settings, args: &EditArgs) -> Settings {
    let choice = |yes: bool, no: bool, set: bool| (set || yes) && !no;
    settings.lint = choice(args.lint, args.no_lint, settings.lint);
    settings.test = choice(args.test, args.no_test, settings.test);
    if let Some(more) = args.codebase_more {
        settings.codebase.more = ContextRequestPolicy::from(more);
    }
    if args.show_prompt {
        // Nothing is sent, not even to a weak model or a server of embeddings.
        (settings.codebase.planning, settings.codebase.hyde, settings.codebase.rerank) = (false, false, false);
        if settings.embeddings.source == EmbeddingsSource::Remote {
            settings.embeddings.source = EmbeddingsSource::Off;
        }
    }
    settings
}

/// Checks what can be checked before anything is sent, and finishes an interrupted write.
fn check(root: &Root, env: &RequestEnv, client: &ModelClient, args: &EditArgs) -> Result<(), UserError> {
    if args.mode() == Mode::Architect && !args.plan_only {
        check_ready(&editor_client(env, client, args.editor_model.as_deref()).0)?;
    }
    if env.settings.spending_cap.is_some() && client.facts.prices.is_none() {
        let Failure { message, hint } = uncounted(&client.facts.name);
        print_with_hint(&message, &hint);
    }
    if !args.dry_run {
        report_recovered(root, journal_of(root, &env.settings).as_ref());
    }
    Ok(())
}

fn session(root: &Root, env: &RequestEnv, client: &ModelClient, args: &EditArgs) -> Session {
    let settings = &env.settings;
    // A request that is only shown need not name a model.
    let model = if client.model.is_empty() { "unnamed".to_owned() } else { client.model.clone() };
    let start = SessionStart {
        connection: Connection::Remote { model, host: client.provider.name() },
        edit_rounds: settings.edit_rounds,
        verify_rounds: settings.verify_rounds,
        auto_commit: settings.auto_commit,
        rules: ModeRules {
            mentions: MentionPolicy::Ignore,
            accept_plan: !args.plan_only,
            // Without a user, the answer to a question is no.
            more: if settings.codebase.more == ContextRequestPolicy::Always {
                ContextRequestPolicy::Always
            } else {
                ContextRequestPolicy::Never
            },
            more_rounds: settings.codebase.rounds,
            reads_pages: false,
        },
        agent_rules: agent_rules(settings, args),
        spending_cap: settings.spending_cap,
        facts: Some(client.facts.clone()),
        chat_files: chat_files(root, args, &settings.reference_files()),
        editor_model: args.editor_model.clone(),
        ..SessionStart::default()
    };
    start.begin().0
}

/// The rules of agent mode: those of the settings, and the flags. No question is answered.
fn agent_rules(settings: &Settings, args: &EditArgs) -> AgentRules {
    let rules = settings.agent_rules;
    // Without a user, "ask" means that only allowed commands run.
    let is_none = rules.run == RunPolicy::Ask && settings.allow.is_empty();
    let of_settings = if is_none { RunPolicy::None } else { rules.run };
    let caps = Caps {
        steps: args.max_steps.or(rules.caps.steps),
        dollars: args.budget.or(rules.caps.dollars),
        time: args.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).or(rules.caps.time),
        ..rules.caps
    };
    AgentRules { run: args.run.map_or(of_settings, RunPolicy::from), caps, asks: false, ..rules }
}

fn chat_files(root: &Root, args: &EditArgs, reference: &[String]) -> Vec<ChatFile> {
    let file = |read_only: bool| move |name: &String| ChatFile { path: path_under(root, name), read_only };
    let mut files: Vec<ChatFile> = Vec::new();
    let always = reference.iter().map(|path| ChatFile { path: path.clone(), read_only: true });
    for file in args.files.iter().map(file(false)).chain(args.read.iter().map(file(true))).chain(always) {
        // Different names of one file count once.
        if files.iter().all(|other| other.path != file.path) {
            files.push(file);
        }
    }
    files
}
