//! The request of `rhumb edit` and `rhumb ask`: the words of the command line, attached output, and the model.

use crate::error::{ErrorKind, UserError};
use crate::headless::args::EditArgs;
use crate::headless::{path_under, print_message, print_with_hint, read_bytes, read_input};
use crate::host::{ModelClient, RequestEnv, connect, facts, output_budget, shared_output};
use rhumb_llm::{LlmError, ScriptedProvider};
use rhumb_session::Entry;
use rhumb_text::sanitize;
use rhumb_workspace::Root;
use rhumb_workspace::process::quoted;
use std::sync::Arc;
use std::time::Duration;

/// Placeholder for the missing request in a suggested command line.
const PLACEHOLDER: &str = "WHAT TO DO";

impl EditArgs {
    /// Makes the words of `rhumb edit` or `rhumb ask` the request. If a flag gives the request, they are files of the chat.
    ///
    /// # Errors
    /// There is no such flag, and a word is the path of a file, so its meaning is ambiguous.
    pub fn take_words(&mut self, command: &str, root: &Root) -> Result<(), UserError> {
        let words = std::mem::take(&mut self.named);
        if self.message.is_some() || self.message_file.is_some() {
            self.files.extend(words);
            return Ok(());
        }
        let path = |word: &String| root.path().join(path_under(root, word));
        // Among other words, the name of a folder is part of the request, as in `add a test`.
        let is_path = |word: &String| if words.len() == 1 { path(word).exists() } else { path(word).is_file() };
        if words.iter().any(is_path) {
            let is_folder = words.iter().any(|word| words.len() == 1 && path(word).is_dir());
            return Err(ambiguous(command, &words, is_path, is_folder));
        }
        self.message = (!words.is_empty()).then(|| words.join(" "));
        Ok(())
    }
}

/// The error for words of which some are paths, with a command for each meaning.
fn ambiguous(command: &str, words: &[String], is_path: impl Fn(&String) -> bool, is_folder: bool) -> UserError {
    let (paths, others): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| is_path(word));
    let first = paths.first().map_or("", |path| path.as_str());
    let joined = |words: &[&String]| words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
    let request = if others.is_empty() { PLACEHOLDER.to_owned() } else { joined(&others) };
    let files: String = paths.iter().map(|path| format!(" {}", quoted(path))).collect();
    let all = joined(&words.iter().collect::<Vec<_>>());
    let as_words = format!("rhumb {command} -m {}", quoted(&all));
    let (as_files, what) = match paths.len() {
        // A folder can be added to the chat only by its name in the request.
        _ if is_folder => {
            let request = format!("{request} @{}/", first.trim_end_matches('/'));
            (format!("rhumb {command} {}", quoted(&request)), "the files of the folder are in the chat")
        }
        1 => (format!("rhumb {command} -m {}{files}", quoted(&request)), "the file is in the chat"),
        _ => (format!("rhumb {command} -m {}{files}", quoted(&request)), "the files are in the chat"),
    };
    let text =
        format!("{} exists: is it a file for the chat, or a word of the request?", sanitize::visible_line(first));
    let hint = format!("{as_files}\n      {what}\n    {as_words}\n      all words are the request");
    UserError::new(ErrorKind::Usage, text, hint)
}

/// The request as the flags give it.
///
/// # Errors
/// Its file cannot be read, or it is empty.
pub(super) fn request(args: &EditArgs) -> Result<String, UserError> {
    let message = match (&args.message, &args.message_file) {
        (Some(message), _) => message.clone(),
        (None, Some(file)) => read_input(file)?,
        (None, None) => String::new(),
    };
    if message.trim().is_empty() {
        let hint = "Say what to do: rhumb edit \"add a --json flag\", or rhumb ask \"where are retries decided?\".";
        return Err(UserError::new(ErrorKind::Usage, "the request is empty", hint));
    }
    Ok(message)
}

/// The model of the settings. Nothing is contacted yet.
///
/// # Errors
/// No provider is configured, its key is missing, or no model is named.
pub(super) fn provider(env: &RequestEnv) -> Result<ModelClient, UserError> {
    let client = connect(env)
        .map_err(|error| UserError::new(ErrorKind::Usage, &error, error.hint()))?
        .ok_or_else(|| unconfigured(env))?;
    check_ready(&client)?;
    if client.model.is_empty() {
        let hint = "Name one with --model NAME or RHUMB_MODEL.";
        return Err(UserError::new(ErrorKind::Usage, "no model is named", hint));
    }
    env.settings.notes().iter().chain(&client.notes).for_each(|(note, hint)| print_with_hint(note, hint));
    Ok(client)
}

/// Fails if no request could be sent to the model, before tokens are spent.
///
/// # Errors
/// The key is missing.
pub(super) fn check_ready(client: &ModelClient) -> Result<(), UserError> {
    let usage = |error: LlmError| UserError::new(ErrorKind::Usage, &error, error.hint());
    client.provider.ready().map_err(usage)
}

fn unconfigured(env: &RequestEnv) -> UserError {
    let named = env.settings.model.as_deref();
    let lacking = named.and_then(|model| env.settings.lacking(model));
    let text = lacking.unwrap_or_else(|| "no provider is configured".to_owned());
    let hint = "Set the key of a provider, such as ANTHROPIC_API_KEY or OPENAI_API_KEY; or name a server with --base-url and \
                --model, and put its key, if it needs one, into RHUMB_API_KEY. rhumb doctor shows what was found.";
    UserError::new(ErrorKind::Usage, text, hint)
}

/// The model of the settings without a provider, for a request that is shown and not sent.
pub(super) fn offline(env: &RequestEnv) -> ModelClient {
    let model = facts(env);
    let client = ModelClient::new(Arc::new(ScriptedProvider::new(Vec::new(), Duration::ZERO)), model.name.clone());
    ModelClient { facts: Arc::new(model), ..client }
}

/// The output that the flag names, as an entry that is sent with the request; `None` without the flag. The beginning and the
/// end of a long output are sent, and the whole is stored in a file.
///
/// # Errors
/// The output cannot be read.
pub(super) fn with_output(args: &EditArgs, env: &RequestEnv) -> Result<Option<Entry>, UserError> {
    let Some(file) = &args.with_output else { return Ok(None) };
    if file.as_os_str() == "-" && args.message_file.as_ref().is_some_and(|message| message == file) {
        let text = "the request and the output cannot both come from standard input";
        return Err(UserError::new(ErrorKind::Usage, text, "give the request with -m"));
    }
    // Output of programs need not be UTF-8.
    let text = String::from_utf8_lossy(&read_bytes(file)?).into_owned();
    let model = facts(env);
    let name = if file.as_os_str() == "-" { "output".into() } else { file.display().to_string() };
    let shared = shared_output(env, &name, &text, output_budget(env, &model), &env.counter(&model));
    if let Some(whole) = &shared.whole {
        print_message(&format!(
            "{} lines of {name} are left out; the whole output is in {}",
            shared.excerpt.omitted_lines,
            whole.display()
        ));
    }
    if let Some(note) = &shared.note {
        print_with_hint(&note.message, &note.hint);
    }
    let said = shared.excerpt.text.trim_end_matches('\n');
    let fence = rhumb_session::context::fence_for([said]);
    let text = format!("The output:\n{fence}\n{said}\n{fence}");
    Ok(Some(Entry::Shared { title: name, text, whole: shared.whole }))
}
