//! `rhumb --plain`: the whole conversation in lines, for screen readers, braille, dumb terminals, the shells of editors, and scripts.
//!
//! Lines are only ever added: nothing is drawn over, nothing moves, no escape sequence is sent, and every mark is a word. It is the
//! same session as that of the app, with the same commands; the review is decided by the numbers of its hunks.

mod answer;
mod asking;
mod commands;
mod connecting;
mod deciding;
mod desk;
mod editor;
mod errands;
mod help;
mod hunks;
mod input;
mod output;
mod phrases;
mod places;
mod signals;
mod told;
mod voice;
mod words;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::host::Host;
use desk::{Desk, Editing};
use editor::open;
pub(super) use editor::sheet_name;
use input::Keyboard;
use rhumb_session::{Connection, Effect, GitEffect, Level, Response, SessionStart};
use rhumb_workspace::process::{EditorSession, named_editor};
pub(super) use signals::{Signal, Signals};
use voice::Voice;

/// Reports taken in before the next look at what was typed.
const REPORTS_AT_ONCE: usize = 64;

/// How long leaving waits for a write that has begun.
const WRITE_PATIENCE: Duration = Duration::from_secs(60);

/// How long after a change it is kept: what a sudden end of the program may lose.
const KEEP: Duration = Duration::from_millis(250);

/// How long leaving waits until all is kept.
const KEEP_PATIENCE: Duration = Duration::from_secs(5);

/// What it starts with.
pub struct LineUiStart {
    /// The conversation.
    pub session: SessionStart,
    /// Why there is no screen, where nobody asked for that.
    pub reason: Option<String>,
    /// Whether a write is committed.
    pub commits: bool,
    /// What is known of the terminal: what, and how it is.
    pub terminal: Vec<(String, String)>,
}

/// Talks in lines until somebody leaves. The exit code is 0; 128 + n after signal n; and for a script that of its last turn.
///
/// # Errors
/// Signals or the input cannot be listened to.
pub async fn plain(start: LineUiStart, make_runner: impl FnOnce(mpsc::Sender<Response>) -> Host) -> io::Result<u8> {
    let mut signals = Signals::listen()?;
    let mut keyboard = Keyboard::new()?;
    let (reports, mut incoming) = mpsc::channel(256);
    let runner = make_runner(reports);
    let _commands = Commands(runner.clone());
    let mut desk = begin(&start, runner);
    let mut keep_at: Option<Instant> = None;
    let code = loop {
        desk.settle(&mut keyboard);
        if let Some(code) = desk.leaving {
            break code;
        }
        if let Some(what) = desk.to_edit.take() {
            desk.edit(what, &start, &mut incoming, &mut signals).await;
            continue;
        }
        keep_at = keep_at.or(Some(Instant::now() + KEEP));
        tokio::select! {
            biased;
            signal = signals.next() => match signal {
                Signal::Interrupt => desk.interrupt(),
                Signal::Fatal(number) => desk.leave(128 + number),
            },
            Some(report) = incoming.recv() => {
                desk.report(report);
                for _ in 0..REPORTS_AT_ONCE {
                    let Ok(report) = incoming.try_recv() else { break };
                    desk.report(report);
                }
            }
            input = keyboard.next(), if keyboard.is_reading() => desk.input(input),
            () = sleep_until(keep_at.unwrap_or_else(Instant::now)), if desk.has_changes => {
                desk.keep();
                keep_at = None;
            }
        }
    };
    desk.finish(&mut incoming).await;
    Ok(code)
}

/// Ends the commands that run when it is left, however it is left.
struct Commands(Host);

impl Drop for Commands {
    fn drop(&mut self) {
        self.0.end_commands();
    }
}

fn begin(start: &LineUiStart, runner: Host) -> Desk {
    let (session, effects) = start.session.begin();
    let is_typed = io::stdin().is_terminal();
    let mut desk = Desk::new(session, runner, Voice::new(Box::new(io::stdout()), !is_typed), is_typed);
    desk.terminal.clone_from(&start.terminal);
    desk.folder.clone_from(&start.session.folder);
    desk.resume_command.clone_from(&start.session.resume_command);
    desk.commits = start.commits;
    greet(&mut desk.voice, start);
    let draft = &start.session.draft;
    if !draft.is_empty() {
        desk.insert_into_draft(draft);
    }
    desk.perform(effects);
    desk
}

fn greet(voice: &mut Voice, start: &LineUiStart) {
    let reason = start.reason.iter().map(|reason| format!("{reason}, so this is the line mode (rhumb --plain)."));
    voice.lines(reason);
    let who = match &start.session.connection {
        Connection::None => "no model is connected".to_owned(),
        Connection::Demo => "the demo answers".to_owned(),
        Connection::Remote { model, host } if model.is_empty() => format!("no model is named at {host}"),
        Connection::Remote { model, host } => format!("{model} at {host} answers"),
    };
    voice.line(&format!("rhumb {} in lines. {}: {who}.", env!("CARGO_PKG_VERSION"), start.session.root));
    voice.line("hint: /help lists what can be typed, Ctrl-C stops, /quit leaves.");
}

impl Desk {
    /// Hands over what has changed since it was last kept.
    fn keep(&mut self) {
        let order = self.session.kept_changes();
        order.into_iter().for_each(|order| self.runner.execute(Effect::Persist(order)));
        self.has_changes = false;
    }

    /// Leaves in order: a write that has begun is finished, everything is kept, and what is undecided is told.
    async fn finish(&mut self, incoming: &mut mpsc::Receiver<Response>) {
        self.voice.broken_off();
        if self.is_writing() {
            self.runner.execute(Effect::Git(GitEffect::Hurry));
            self.voice.line("finishing the write");
            let finished = async {
                while self.is_writing()
                    && let Some(report) = incoming.recv().await
                {
                    self.report(report);
                    // A commit may have come to be waited for.
                    self.runner.execute(Effect::Git(GitEffect::Hurry));
                }
            };
            let _ = tokio::time::timeout(WRITE_PATIENCE, finished).await;
        }
        self.keep();
        let runner = self.runner.clone();
        let mut is_kept = false;
        let drained = async {
            let finished = runner.finish_keeping();
            tokio::pin!(finished);
            loop {
                tokio::select! {
                    biased;
                    Some(report) = incoming.recv() => self.note_kept(report),
                    () = &mut finished => break,
                }
            }
            while let Ok(report) = incoming.try_recv() {
                self.note_kept(report);
            }
            is_kept = true;
        };
        let _ = tokio::time::timeout(KEEP_PATIENCE, drained).await;
        self.tell_farewell(is_kept);
    }

    /// Of what still comes, only what tells about keeping matters.
    fn note_kept(&mut self, report: Response) {
        if let Response::Persisted(report) = report {
            self.session.handle(Response::Persisted(report));
        }
    }

    fn is_writing(&self) -> bool {
        self.session.is_writing() || self.session.commits().pending > 0
    }

    /// Opens something in the editor, and takes what becomes of it.
    async fn edit(
        &mut self,
        what: Editing,
        start: &LineUiStart,
        incoming: &mut mpsc::Receiver<Response>,
        signals: &mut Signals,
    ) {
        let editor = named_editor(start.session.editor.as_deref(), |name| std::env::var(name).ok());
        let (name, text) = match &what {
            Editing::Draft(text) => ("message.md".to_owned(), text.clone()),
            Editing::Hunk(id) => match self.hunk_text(*id) {
                Some((path, text)) => (sheet_name(&path), text),
                None => return,
            },
        };
        let mut later = Vec::new();
        let result = match EditorSession::for_text(&name, &text, 1, editor) {
            Err(error) => Err(format!("The text cannot be put into a file for the editor: {error}.")),
            Ok(sheet) => {
                let status = match open(&sheet, &self.folder) {
                    Ok(child) => wait(child, incoming, signals, &mut later, &mut self.leaving).await,
                    Err(error) => Err(error),
                };
                sheet.result(status).map_err(|error| error.to_string())
            }
        };
        match (what, result) {
            (_, Err(reason)) => {
                let hint = "The setting editor names another one; so do VISUAL and EDITOR.";
                self.session.report(Level::Error, reason, hint);
            }
            (Editing::Hunk(id), Ok(text)) => self.hunk_edited(id, &text),
            (Editing::Draft(_), Ok(text)) if text.trim().is_empty() => self.voice.line("There is no text."),
            (Editing::Draft(_), Ok(text)) => {
                self.session.return_draft(text.trim_end_matches(['\n', '\r']).to_owned());
            }
        }
        later.into_iter().for_each(|report| self.report(report));
    }
}

/// Waits until the editor has ended. What arrives meanwhile waits: the terminal is the editor's.
async fn wait(
    mut child: tokio::process::Child,
    incoming: &mut mpsc::Receiver<Response>,
    signals: &mut Signals,
    later: &mut Vec<Response>,
    leaving: &mut Option<u8>,
) -> io::Result<std::process::ExitStatus> {
    loop {
        tokio::select! {
            status = child.wait() => return status,
            signal = signals.next() => match signal {
                // A key of the terminal that the editor has: it is for it.
                Signal::Interrupt | Signal::Fatal(3) => {}
                Signal::Fatal(number) => {
                    *leaving = Some(128 + number);
                    child.start_kill()?;
                    return child.wait().await;
                }
            },
            Some(report) = incoming.recv() => later.push(report),
        }
    }
}
