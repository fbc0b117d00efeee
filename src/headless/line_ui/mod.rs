//! `rhumb --plain`: the conversation in lines, for screen readers, braille displays, dumb terminals, shells of editors, and scripts.
//!
//! Lines are only appended: nothing is overwritten, no escape sequence is sent, and every symbol is a word. The session and the
//! commands are those of the full screen; hunks are decided by number.

mod answer;
mod commands;
mod connect;
mod editor;
mod input;
mod line_writer;
mod locations;
mod pending_requests;
mod questions;
mod review;
mod review_commands;
mod review_text;
mod transcript_printer;

use super::error_kind;
use crate::error::ErrorKind;
use crate::host::{Host, HostMessage, SAVE_DELAY, StopCommandsOnDrop, is_writing};
use crate::signals::{EXIT_BY_SIGNAL, SIGINT, Signal, Signals};
use editor::EditTarget;
pub(super) use editor::edit_file_name;
use input::{InputQueue, StdinLine, StdinReader};
use line_writer::LineWriter;
use locations::Locations;
use pending_requests::{PendingRequests, Waiting};
use questions::QuestionState;
use review::ReviewState;
use rhumb_session::{
    AskEvent, Command, ConnectRequest, Connection, Effect, Notice, PersistenceResponse, RecordingState, Response,
    RunResponse, Session, SessionStart, SurveyState,
};
use rhumb_text::thousands;
use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use transcript_printer::CommandOutput;
use transcript_printer::TranscriptPrinter;
use transcript_printer::{detail, page, setting_lines};

/// Responses that are handled before the input is polled again.
const MAX_RESPONSES_PER_TURN: usize = 64;

/// Minimum number of files of a repository for which the progress of reading is printed.
const MIN_PROGRESS_FILES: usize = 2_000;

/// Number of lines about the progress of reading a repository.
const PROGRESS_STEPS: usize = 5;

/// Exit code after the output was closed, as after SIGHUP.
const EXIT_CLOSED: u8 = EXIT_BY_SIGNAL + 1;

/// The initial state of the line UI.
pub struct LineUiStart {
    /// The conversation.
    pub session: SessionStart,
    /// Why there is no full screen, if the user did not request the line UI.
    pub reason: Option<String>,
    /// Whether a write is committed.
    pub commits: bool,
    /// Properties of the terminal: name and value.
    pub terminal: Vec<(String, String)>,
}

/// Runs the line UI until the user leaves. The exit code is 0, or 128 + n after signal n; for a script it is that of the last
/// turn.
///
/// # Errors
/// Signals or the input cannot be listened to.
pub async fn run(start: LineUiStart, make_host: impl FnOnce(mpsc::Sender<HostMessage>) -> Host) -> io::Result<u8> {
    let mut signals = Signals::for_lines()?;
    let mut stdin = StdinReader::start()?;
    let mut running = StopCommandsOnDrop::default();
    let (responses, mut incoming) = mpsc::channel(256);
    let host = make_host(responses);
    running.arm(&host);
    let mut ui = LineUi::start(start, host);
    let mut save_at: Option<Instant> = None;
    let code = loop {
        ui.settle(&mut stdin);
        if let Some(code) = ui.exit_code {
            break code;
        }
        if let Some(target) = ui.to_edit.take() {
            ui.edit(target, &mut incoming, &mut signals).await;
            continue;
        }
        save_at = save_at.or(Some(Instant::now() + SAVE_DELAY));
        tokio::select! {
            biased;
            signal = signals.next() => match signal {
                Signal::Fatal(SIGINT) => ui.interrupt(),
                Signal::Fatal(number) => ui.leave(EXIT_BY_SIGNAL + number),
                Signal::Stop | Signal::Continued | Signal::Resized => {}
            },
            Some(message) = incoming.recv() => {
                ui.handle(message);
                for _ in 0..MAX_RESPONSES_PER_TURN {
                    let Ok(message) = incoming.try_recv() else { break };
                    ui.handle(message);
                }
            }
            input = stdin.next(), if stdin.is_reading() => ui.input(input),
            () = sleep_until(save_at.unwrap_or_else(Instant::now)), if ui.has_changes => {
                ui.host.save_changes(&mut ui.session);
                ui.has_changes = false;
                save_at = None;
            }
        }
    };
    ui.finish(&mut incoming).await;
    Ok(code)
}

struct LineUi {
    session: Session,
    host: Host,
    out: LineWriter,
    transcript: TranscriptPrinter,
    command_output: CommandOutput,
    pending: PendingRequests,
    input: InputQueue,
    questions: QuestionState,
    review: ReviewState,
    locations: Locations,
    commands: CommandQueue,
    draft: Option<String>,
    /// The pending request for the editor.
    to_edit: Option<EditTarget>,
    /// The reason of the search for keys and servers that is running.
    connect_request: Option<ConnectRequest>,
    environment: LineUiEnvironment,
    announced: Announced,
    /// Whether a user types; otherwise, lines come from a script.
    is_interactive: bool,
    /// Whether something may have changed since the last save.
    has_changes: bool,
    /// The last error, for the exit code of a script.
    failed: Option<ErrorKind>,
    exit_code: Option<u8>,
}

/// Commands that have not run yet.
#[derive(Debug, Default)]
struct CommandQueue {
    loaded: VecDeque<Command>,
    /// A command that waits until the next request is measured.
    waiting: Option<Command>,
}

/// Fixed properties of this run.
#[derive(Debug)]
struct LineUiEnvironment {
    /// Properties of the terminal, for `/doctor` and reports.
    terminal: Vec<(String, String)>,
    /// The root, in which the editor starts.
    folder: PathBuf,
    editor: Option<String>,
    resume_command: String,
}

/// Progress that was printed.
#[derive(Debug, Default)]
struct Announced {
    /// The last step of reading the repository, up to [`PROGRESS_STEPS`].
    survey_step: usize,
    /// The number of passages of an earlier question that are sent again.
    kept_passages: usize,
}

impl LineUi {
    fn start(start: LineUiStart, host: Host) -> Self {
        let (session, effects) = start.session.begin();
        let is_interactive = io::stdin().is_terminal();
        let mut ui = Self {
            session,
            host,
            out: LineWriter::new(Box::new(io::stdout()), !is_interactive),
            transcript: TranscriptPrinter::default(),
            command_output: CommandOutput::default(),
            pending: PendingRequests::default(),
            input: InputQueue::default(),
            questions: QuestionState::default(),
            review: ReviewState::new(start.commits),
            locations: Locations::default(),
            commands: CommandQueue::default(),
            draft: None,
            to_edit: None,
            connect_request: None,
            announced: Announced::default(),
            is_interactive,
            has_changes: false,
            failed: None,
            exit_code: None,
            environment: LineUiEnvironment {
                terminal: start.terminal,
                folder: start.session.folder,
                editor: start.session.editor,
                resume_command: start.session.resume_command,
            },
        };
        let reason = start.reason.map(|reason| format!("{reason}, so this is the line mode (rhumb --plain)."));
        ui.out.lines(reason);
        let model = match &start.session.connection {
            Connection::None => "no model is connected".to_owned(),
            Connection::Demo => "the demo answers".to_owned(),
            Connection::Remote { model, host } if model.is_empty() => format!("no model is named at {host}"),
            Connection::Remote { model, host } => format!("{model} at {host} answers"),
        };
        ui.out.line(&format!("rhumb {} in lines. {}: {model}.", env!("CARGO_PKG_VERSION"), start.session.root));
        ui.out.line("hint: /help lists what can be typed, Ctrl-C stops, /quit leaves.");
        if !start.session.draft.is_empty() {
            ui.insert_into_draft(&start.session.draft);
        }
        ui.perform(effects);
        ui
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let waiting = Waiting::from(&effect);
            let id = self.host.execute(effect);
            self.pending.begin(waiting, id);
        }
    }

    fn handle(&mut self, message: HostMessage) {
        let response = match message {
            HostMessage::Response(_, response) => *response,
            HostMessage::Finished(id) => return self.pending.finish(id),
        };
        self.has_changes = true;
        self.print_before(&response);
        self.print_lookup(&response);
        let is_resumed = matches!(response, Response::Persisted(PersistenceResponse::Resumed { .. }));
        let is_written = matches!(response, Response::Wrote(_));
        let ended = match &response {
            Response::Ran(RunResponse::Ended { run, output, .. }) => Some((*run, Arc::clone(output))),
            _ => None,
        };
        let effects = self.session.handle(response);
        if is_resumed {
            self.transcript.begin_at_last_message(&self.session);
            self.skip_citations();
        }
        if let Some((run, output)) = ended {
            self.print_end_of_run(run, &output);
        }
        self.perform(effects);
        self.check_citations();
        self.print_transcript();
        self.print_citations();
        if is_written && !self.session.review().is_empty() {
            let summary = review_text::summary(self.session.review());
            self.out.line(&format!("Still under review, with new numbers: {summary}"));
        }
    }

    fn input(&mut self, input: StdinLine) {
        self.has_changes = true;
        match input {
            StdinLine::Line(line) => {
                self.out.entered(&line);
                self.input.push(line);
            }
            StdinLine::Malformed => {
                self.out.entered("");
                self.out.line("error: That line is not UTF-8 text, so it was ignored.");
                self.failed = Some(ErrorKind::Usage);
            }
            StdinLine::End => {
                self.out.end_prompt();
                if self.input.cancel_multiline() {
                    self.out.line("warning: The last text was not ended, so it was ignored.");
                    self.failed = Some(ErrorKind::Usage);
                }
                let failed = self.failed.filter(|_| !self.is_interactive);
                self.leave(failed.map_or(0, ErrorKind::exit_code));
            }
        }
    }

    /// Processes lines and commands that do not have to wait, and requests the next line if nothing is running.
    fn settle(&mut self, stdin: &mut StdinReader) {
        while self.exit_code.is_none() && self.to_edit.is_none() && self.step() {}
        if self.out.is_closed() {
            self.exit_code = self.exit_code.or(Some(EXIT_CLOSED));
        }
        if self.exit_code.is_some() || self.to_edit.is_some() || self.is_busy() {
            return;
        }
        let prompt = self.next_prompt();
        let text = prompt.text(self.session.input_mode());
        if !self.out.is_at(&text) {
            self.out.end_prompt();
            self.print_before_prompt(prompt);
            self.out.prompt(text);
        }
        stdin.request();
    }

    /// Processes the next command or line. Returns `false` if the queue is empty, or if the command has to wait.
    fn step(&mut self) -> bool {
        let effects = self.session.next_queued();
        self.perform(effects);
        self.show_notices();
        self.forget_answered_questions();
        if self.is_busy() {
            return false;
        }
        if self.print_connections() {
            return true;
        }
        if let Some(command) = self.commands.waiting.take().or_else(|| self.commands.loaded.pop_front()) {
            self.command(command);
            return true;
        }
        if self.print_new_proposal() {
            return true;
        }
        match self.input.pop() {
            Some(line) => {
                self.line(&line);
                true
            }
            None => false,
        }
    }

    /// Whether something is running that the next line has to wait for.
    fn is_busy(&self) -> bool {
        let session = &self.session;
        let recording = session.attachments().recording.as_ref();
        // A script may name files at once, so it waits until all are listed.
        let is_listing = !self.is_interactive && !session.is_listed() && session.survey() != SurveyState::Done;
        session.is_busy()
            || is_listing
            || session.commits().pending > 0
            || session.processes().is_running()
            || session.attachments().page.is_some()
            || recording.is_some_and(|recording| recording.state == RecordingState::Transcribing)
            || !self.pending.is_empty()
            || self.commands.waiting.as_ref().is_some_and(|command| self.must_wait(command))
    }

    /// Whether a command is about the next request, and that request is not measured yet.
    fn must_wait(&self, command: &Command) -> bool {
        let is_measured = self.session.survey() == SurveyState::Done && self.pending.is_measured();
        matches!(command, Command::Map | Command::Tokens | Command::CopyContext | Command::Search(_)) && !is_measured
    }

    fn print_transcript(&mut self) {
        self.out.lines(self.transcript.new_lines(&self.session));
    }

    /// Shows the notices of the session: first those about the draft, then, after the transcript, the others.
    fn show_notices(&mut self) {
        let is_about_draft =
            |notice: &Notice| matches!(notice, Notice::ReturnDraft(_) | Notice::Insert(_) | Notice::InsertDictated(_));
        let (drafts, others): (Vec<_>, Vec<_>) = self.session.take_notices().into_iter().partition(is_about_draft);
        drafts.into_iter().for_each(|notice| self.show_notice(notice));
        self.print_transcript();
        others.into_iter().for_each(|notice| self.show_notice(notice));
    }

    fn show_notice(&mut self, notice: Notice) {
        match notice {
            Notice::ReturnDraft(draft) => {
                self.draft = Some(draft);
                self.out
                    .line("The message is kept as the draft: /send sends it, /draft prints it, /editor changes it.");
            }
            Notice::Insert(text) | Notice::InsertDictated(text) => self.insert_into_draft(&text),
            Notice::Settings(rows, filter) => {
                self.out.line("settings:");
                self.out.lines(setting_lines(&rows, &filter));
            }
            Notice::Page(shown) => {
                self.out.line(&format!("{}:", shown.title));
                self.out.line(&page(&shown.text));
            }
            Notice::Diff(diff) => self.print_text(&diff.title, &diff.text),
            // The message about the hunk names it.
            Notice::ShowHunk(_) => {}
            // The text is copied from the terminal.
            Notice::Copy(copied) => {
                self.print_text(&copied.what, &copied.text);
                self.out.lines((!copied.hint.is_empty()).then(|| format!("hint: {}", copied.hint)));
            }
            Notice::ChooseServer(servers) => self.list_servers(servers),
            Notice::ChooseModel(part, query) => self.list_models(part, &query),
            Notice::ChooseSession(query, lines) => self.list_sessions(&query, lines),
            Notice::Connect(request) => self.search_connections(request),
            Notice::AskNow => self.questions.ask_now(),
            Notice::Run(command) => self.commands.loaded.push_back(command),
            Notice::Connected | Notice::PastedText(_) | Notice::PastedImage => {}
        }
    }

    /// Prints a text unchanged, between a title and an end line.
    fn print_text(&mut self, title: &str, text: &str) {
        self.out.line(&format!("{title}:"));
        self.out.line(text.trim_end_matches('\n'));
        self.out.line("end of text");
    }

    fn insert_into_draft(&mut self, text: &str) {
        let draft = match self.draft.take() {
            Some(draft) => format!("{draft} {text}"),
            None => text.to_owned(),
        };
        self.out.line(&format!("draft: {draft}"));
        self.out.line("hint: /send sends it, /editor changes it, /discard discards it.");
        self.draft = Some(draft);
    }

    /// Prints what has no entry in the transcript.
    fn print_before(&mut self, response: &Response) {
        match response {
            Response::SurveyProgress { done, total } => self.print_survey_progress(*done, *total),
            Response::Surveyed { .. } if self.announced.survey_step > 0 => {
                self.announced.survey_step = 0;
                self.out.line("The repository is read.");
            }
            Response::Asked { event, .. } => self.print_asked(event),
            Response::Ran(RunResponse::Output { run, live, .. }) => {
                self.out.lines(self.command_output.new_lines(*run, live));
            }
            Response::Ended { result: Err(error), .. } => self.failed = Some(error_kind(error)),
            Response::Ended { result: Ok(completion), .. } => {
                self.failed = completion.finish.incomplete_reason().map(|_| ErrorKind::Incomplete);
            }
            Response::NotWritten { .. } => self.failed = Some(ErrorKind::Machine),
            Response::Connected { model, host, .. } => {
                self.out.line(&format!("{model} at {host} answers from now on."));
            }
            _ => {}
        }
    }

    fn print_survey_progress(&mut self, done: usize, total: usize) {
        if total < MIN_PROGRESS_FILES {
            return;
        }
        let step = done * PROGRESS_STEPS / total + 1;
        if step > self.announced.survey_step {
            self.announced.survey_step = step;
            self.out.line(&format!("reading the repository: {} of {} files", thousands(done), thousands(total)));
        }
    }

    fn print_asked(&mut self, event: &AskEvent) {
        match event {
            AskEvent::Sent { prompt, tokens, .. } => {
                let about = if prompt.exact { "" } else { "about " };
                self.out.line(&format!("asked: {about}{} tokens sent", thousands(*tokens)));
            }
            AskEvent::Spent(spent) => {
                let Some(prices) = spent.model.prices else { return };
                let about = if spent.estimated { "about " } else { "" };
                let (input, output) = (spent.tokens.input() as usize, spent.tokens.output as usize);
                let cost = prices.cost(spent.tokens);
                // The lines of the answer so far come first.
                self.print_transcript();
                self.out.line(&format!(
                    "cost: {about}{cost}, {} tokens in, {} out",
                    thousands(input),
                    thousands(output)
                ));
            }
            _ => {}
        }
    }

    fn print_end_of_run(&mut self, run: u64, output: &str) {
        let (lines, left_out) = self.command_output.rest(run, output);
        // The entry of the command comes first, if the command ended before it printed anything.
        self.print_transcript();
        self.out.lines(lines);
        let Some(log) = self.session.processes().logs().iter().find(|log| log.run == run) else { return };
        self.out.line(&format!("end of output: {}", detail(&log.state.words(log.seconds))));
        if left_out {
            self.out.line("hint: Some lines were not printed. /output prints all of them.");
        }
    }

    /// Handles Ctrl-C: stops the most urgent activity. If nothing is running, a second Ctrl-C exits.
    fn interrupt(&mut self) {
        self.out.end_prompt();
        let effects = if self.session.attachments().recording.is_some() {
            self.out.line("The recording is discarded.");
            self.session.stop_recording(false)
        } else if self.session.turn().is_some() {
            self.session.interrupt()
        } else if let Some(effects) = self.session.stop_compacting() {
            effects
        } else if let Some(effects) = self.session.stop_page() {
            effects
        } else if self.session.processes().is_running() {
            self.out.line("stopping the command");
            self.session.stop_command()
        } else if !self.pending.is_empty() || self.commands.waiting.is_some() {
            self.pending.clear();
            self.commands.waiting = None;
            self.out.line("The wait is cancelled.");
            Vec::new()
        } else if self.input.cancel_multiline() {
            self.out.line("The unfinished text was dropped.");
            Vec::new()
        } else if self.questions.cancel() {
            self.out.line("Nothing was done.");
            Vec::new()
        } else if self.input.interrupt() {
            self.leave(if self.is_interactive { 0 } else { EXIT_BY_SIGNAL + SIGINT });
            return;
        } else {
            self.out.line("Ctrl-C again leaves.");
            return;
        };
        // Lines that were entered ahead, or follow in a script, assumed another result.
        self.input.clear();
        self.perform(effects);
        self.print_transcript();
        if !self.is_interactive {
            self.leave(EXIT_BY_SIGNAL + SIGINT);
        }
    }

    fn leave(&mut self, code: u8) {
        self.exit_code = Some(code);
    }

    /// Finishes a write that has begun, saves everything, and prints what is pending.
    async fn finish(&mut self, incoming: &mut mpsc::Receiver<HostMessage>) {
        self.out.end_prompt();
        let host = self.host.clone();
        if is_writing(&self.session) {
            self.out.line("finishing the write");
            let handle = |message| {
                self.handle(message);
                is_writing(&self.session)
            };
            host.finish_write(incoming, handle).await;
        }
        let is_saved = host.finish_saving(&mut self.session, incoming).await;
        let counts = self.session.review().counts();
        // For a script, only pending decisions are printed.
        if self.is_interactive || counts.pending + counts.accepted > 0 {
            let farewell = self.session.farewell(is_saved, &self.environment.resume_command);
            self.out.lines(farewell.lines());
        }
    }
}
