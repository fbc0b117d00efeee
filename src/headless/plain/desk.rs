//! The conversation in lines: what came in goes to the session, what is new is printed, and when nothing is under way the next line
//! is asked for.

use std::collections::VecDeque;
use std::path::PathBuf;

use super::asking::{Confirm, Expect, Pick};
use super::errands::Errands;
use super::hunks;
use super::input::{Gathering, Input, Keyboard};
use super::output::RunLines;
use super::phrases::{detail, page, setting_lines};
use super::places::Places;
use super::told::Told;
use super::voice::Voice;
use crate::error::ErrorKind;
use crate::headless::error_kind;
use crate::host::Host;
use rhumb_edit::review::HunkId;
use rhumb_session::{
    AskEvent, Command, ConnectRequest, Effect, Notice, PersistenceResponse, Question, Response, RunResponse, Session,
    Stage, SurveyState,
};
use rhumb_text::thousands;

/// What is to be opened in the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Editing {
    /// The draft of a message.
    Draft(String),
    /// What a hunk adds.
    Hunk(HunkId),
}

/// Files of a repository from which on it is told how far the reading is.
const MANY_FILES: usize = 2_000;

/// How often that is told.
const STEPS: usize = 5;

/// The conversation, and all that it needs here.
pub(super) struct Desk {
    pub(super) session: Session,
    pub(super) runner: Host,
    pub(super) voice: Voice,
    pub(super) told: Told,
    pub(super) errands: Errands,
    pub(super) gathering: Gathering,
    /// Lines that came in and were not taken yet.
    lines: VecDeque<String>,
    /// What the prompt that stands there asks for.
    expects: Expect,
    /// What has to be answered with yes or no.
    pub(super) confirm: Option<Confirm>,
    /// What can be chosen by a number.
    pub(super) pick: Option<Pick>,
    /// The question that was read out last.
    pub(super) read_out: Option<Question>,
    /// It was said that a question waits behind the review.
    pub(super) told_of_question: bool,
    /// Questions that were put off.
    pub(super) put_off: Vec<Question>,
    /// How many passages of an earlier question were told to go along.
    pub(super) told_passages: usize,
    /// The text that is gathered is a reply from elsewhere.
    pub(super) takes_reply: bool,
    /// The first question is asked before anything else.
    pub(super) asks_now: bool,
    /// Commands that were loaded from a file and have not run yet.
    commands: VecDeque<Command>,
    /// The review is left for later.
    pub(super) later: bool,
    /// The proposals that were read out.
    pub(super) seen_proposals: usize,
    /// The places that can be asked for by number.
    pub(super) places: Places,
    /// The hunk that was read out last.
    pub(super) cursor: Option<HunkId>,
    /// Unchanged lines around a hunk.
    pub(super) context: usize,
    /// A message that was not sent.
    pub(super) draft: Option<String>,
    /// A command that waits until the next request is measured.
    pub(super) held: Option<Command>,
    /// Why keys and servers are being looked for.
    pub(super) connect_request: Option<ConnectRequest>,
    pub(super) to_edit: Option<Editing>,
    /// What is known of the terminal, for doctor and reports.
    pub(super) terminal: Vec<(String, String)>,
    /// Whether a write is committed.
    pub(super) commits: bool,
    /// The root, for the editor to start in.
    pub(super) folder: PathBuf,
    /// The command line that resumes the session.
    pub(super) resume_command: String,
    /// Something may have changed that is to be kept.
    pub(super) has_changes: bool,
    runs: RunLines,
    /// How much of the reading of the repository was told.
    survey_step: usize,
    interrupted_once: bool,
    /// Whether somebody types; else lines come from a script.
    pub(super) is_typed: bool,
    /// What went wrong last, for the exit code of a script.
    pub(super) failed: Option<ErrorKind>,
    /// The exit code, once somebody leaves.
    pub(super) leaving: Option<u8>,
}

impl Desk {
    pub(super) fn new(session: Session, runner: Host, voice: Voice, is_typed: bool) -> Self {
        Self {
            session,
            runner,
            voice,
            told: Told::default(),
            errands: Errands::default(),
            gathering: Gathering::default(),
            lines: VecDeque::new(),
            expects: Expect::Message,
            confirm: None,
            pick: None,
            read_out: None,
            told_of_question: false,
            put_off: Vec::new(),
            told_passages: 0,
            takes_reply: false,
            asks_now: false,
            commands: VecDeque::new(),
            later: false,
            seen_proposals: 0,
            places: Places::default(),
            cursor: None,
            context: 2,
            draft: None,
            held: None,
            connect_request: None,
            to_edit: None,
            terminal: Vec::new(),
            commits: false,
            folder: PathBuf::new(),
            resume_command: String::new(),
            has_changes: false,
            runs: RunLines::default(),
            survey_step: 0,
            interrupted_once: false,
            is_typed,
            failed: None,
            leaving: None,
        }
    }

    /// Has effects carried out.
    pub(super) fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            self.errands.began(&effect);
            self.runner.execute(effect);
        }
    }

    /// Takes in a report of the runner.
    pub(super) fn report(&mut self, report: Response) {
        self.has_changes = true;
        self.tell_before(&report);
        self.errands.ended(&report);
        self.note_places(&report);
        let is_other = matches!(report, Response::Persisted(PersistenceResponse::Resumed { .. }));
        let has_written = matches!(report, Response::Wrote(_));
        let ended = match &report {
            Response::Ran(RunResponse::Ended { run, output, .. }) => Some((*run, std::sync::Arc::clone(output))),
            _ => None,
        };
        let effects = self.session.handle(report);
        if is_other {
            self.told.begin_at_last_message(&self.session);
            self.forget_citations();
        }
        if let Some((run, output)) = ended {
            self.tell_end_of_run(run, &output);
        }
        self.perform(effects);
        self.check_citations();
        self.tell();
        self.tell_citations();
        if has_written && !self.session.review().is_empty() {
            let left = hunks::summary(self.session.review());
            self.voice.line(&format!("Still under review, numbered anew: {left}"));
        }
    }

    /// Takes in a line.
    pub(super) fn input(&mut self, input: Input) {
        self.has_changes = true;
        match input {
            Input::Line(line) => {
                self.voice.heard(&line);
                self.interrupted_once = false;
                self.lines.push_back(line);
            }
            Input::NoText => {
                self.voice.heard("");
                self.voice.line("error: That line is not UTF-8 text, so it was not taken.");
                self.failed = Some(ErrorKind::Usage);
            }
            Input::End => self.end(),
        }
    }

    /// Does what can be done now, and asks for the next line when nothing is under way.
    pub(super) fn settle(&mut self, keyboard: &mut Keyboard) {
        while self.leaving.is_none() && self.to_edit.is_none() && self.step() {}
        if self.voice.is_gone() {
            // The terminal, or whoever reads the pipe, is gone: there is nobody left to ask.
            self.leaving = self.leaving.or(Some(128 + 1));
        }
        if self.leaving.is_some() || self.to_edit.is_some() || self.is_busy() {
            return;
        }
        self.ask();
        keyboard.want();
    }

    /// One thing that can be done; false if there is none.
    fn step(&mut self) -> bool {
        let effects = self.session.next_queued();
        self.perform(effects);
        self.show_notices();
        self.forget_questions();
        if self.is_busy() {
            return false;
        }
        if self.tell_connections() {
            return true;
        }
        if let Some(command) = self.held.take() {
            if self.must_wait(&command) {
                self.held = Some(command);
                return false;
            }
            self.command(command);
            return true;
        }
        if let Some(command) = self.commands.pop_front() {
            self.command(command);
            return true;
        }
        if self.reads_review() {
            return true;
        }
        match self.lines.pop_front() {
            Some(line) => {
                self.line(&line);
                true
            }
            None => false,
        }
    }

    /// Whether something is under way that the next line has to wait for.
    pub(super) fn is_busy(&self) -> bool {
        let session = &self.session;
        let recording = session.attachments().recording.as_ref();
        // A script names files at once; somebody who types need not wait for all the others.
        let is_listing = !self.is_typed && !session.is_listed() && session.survey() != SurveyState::Done;
        session.is_busy()
            || is_listing
            || session.commits().pending > 0
            || session.processes().is_running()
            || session.attachments().page.is_some()
            || recording.is_some_and(|recording| recording.stage == Stage::Writing)
            || self.errands.are_open()
            || self.held.as_ref().is_some_and(|command| self.must_wait(command))
    }

    /// Whether a command is about the next request, which is not measured as it is now.
    pub(super) fn must_wait(&self, command: &Command) -> bool {
        let is_measured = self.session.survey() == SurveyState::Done && self.errands.has_measured();
        matches!(command, Command::Map | Command::Tokens | Command::CopyContext | Command::Search(_)) && !is_measured
    }

    /// Prints what is new in the transcript.
    pub(super) fn tell(&mut self) {
        let lines = self.told.news(&self.session);
        self.voice.lines(lines);
    }

    /// Shows the prompt of what is asked for, after what has to be read first.
    fn ask(&mut self) {
        let expects = self.expectation();
        if self.voice.has_prompted() && self.expects == expects {
            return;
        }
        self.voice.broken_off();
        self.read_what_is_asked(expects);
        self.voice.prompt(&expects.prompt(self.session.input_mode()));
        self.expects = expects;
    }

    /// Shows the notices of the session: those about the draft first, and the others after the transcript.
    fn show_notices(&mut self) {
        let is_about_draft =
            |notice: &Notice| matches!(notice, Notice::ReturnDraft(_) | Notice::Insert(_) | Notice::InsertDictated(_));
        let (drafts, others): (Vec<_>, Vec<_>) = self.session.take_notices().into_iter().partition(is_about_draft);
        drafts.into_iter().for_each(|notice| self.show_notice(notice));
        self.tell();
        others.into_iter().for_each(|notice| self.show_notice(notice));
    }

    fn show_notice(&mut self, notice: Notice) {
        match notice {
            Notice::ReturnDraft(draft) => {
                self.draft = Some(draft);
                self.voice
                    .line("The message is kept as the draft: /send sends it, /draft reads it, /editor changes it.");
            }
            Notice::Insert(text) | Notice::InsertDictated(text) => self.insert_into_draft(&text),
            Notice::Settings(rows, query) => {
                self.voice.line("settings:");
                self.voice.lines(setting_lines(&rows, &query));
            }
            Notice::Page(found) => {
                self.voice.line(&format!("{}:", found.title));
                self.voice.line(&page(&found.text));
            }
            Notice::Diff(diff) => self.read(&diff.title, &diff.text),
            // The terminal is where the text is copied from.
            Notice::Copy(clip) => {
                self.read(&clip.what, &clip.text);
                let hint = super::phrases::in_words(&clip.hint);
                self.voice.lines((!hint.is_empty()).then(|| format!("hint: {hint}")));
            }
            Notice::ChooseServer(servers) => self.offer_servers(servers),
            Notice::ChooseModel(part, query) => self.offer_models(part, &query),
            Notice::ChooseSession(query, lines) => self.offer_sessions(&query, lines),
            Notice::Connect(request) => self.search_connections(request),
            Notice::AskNow => self.asks_now = true,
            Notice::Run(command) => self.commands.push_back(command),
            Notice::Connected | Notice::PastedText(_) | Notice::PastedImage => {}
        }
    }

    /// Prints a text as it is, with a word before and after it.
    pub(super) fn read(&mut self, title: &str, text: &str) {
        self.voice.line(&format!("{title}:"));
        self.voice.line(text.trim_end_matches('\n'));
        self.voice.line("end of text");
    }

    /// Appends a text to the draft.
    pub(super) fn insert_into_draft(&mut self, text: &str) {
        let draft = match self.draft.take() {
            Some(draft) => format!("{draft} {text}"),
            None => text.to_owned(),
        };
        self.voice.line(&format!("draft: {draft}"));
        self.voice.line("hint: /send sends it, /editor changes it, /discard drops it.");
        self.draft = Some(draft);
    }
}

/// What is told of reports that leave nothing in the transcript.
impl Desk {
    fn tell_before(&mut self, report: &Response) {
        match report {
            Response::SurveyProgress { done, total } => self.tell_survey(*done, *total),
            Response::Surveyed { .. } if self.survey_step > 0 => {
                self.survey_step = 0;
                self.voice.line("The repository is read.");
            }
            Response::Asked { event, .. } => self.tell_asked(event),
            Response::Ran(RunResponse::Said { run, live, .. }) => {
                let lines = self.runs.said(*run, live);
                self.voice.lines(lines);
            }
            Response::Ended { result: Err(error), .. } => self.failed = Some(error_kind(error)),
            Response::Ended { result: Ok(completion), .. } => {
                self.failed = completion.finish.incomplete_reason().map(|_| ErrorKind::Incomplete);
            }
            Response::NotWritten { .. } => self.failed = Some(ErrorKind::Machine),
            Response::Connected { model, host, .. } => {
                self.voice.line(&format!("{model} at {host} answers from now on."))
            }
            _ => {}
        }
    }

    fn tell_survey(&mut self, done: usize, total: usize) {
        if total < MANY_FILES {
            return;
        }
        let step = done * STEPS / total + 1;
        if step > self.survey_step {
            self.survey_step = step;
            self.voice.line(&format!("reading the repository: {} of {} files", thousands(done), thousands(total)));
        }
    }

    fn tell_asked(&mut self, event: &AskEvent) {
        match event {
            AskEvent::Sent { prompt, tokens, .. } => {
                let about = if prompt.exact { "" } else { "about " };
                self.voice.line(&format!("asked: {about}{} tokens sent", thousands(*tokens)));
            }
            AskEvent::Spent(spent) => {
                let Some(prices) = spent.model.prices else { return };
                let about = if spent.estimated { "about " } else { "" };
                let (input, output) = (spent.tokens.input() as usize, spent.tokens.output as usize);
                let cost = prices.cost(spent.tokens);
                let text = format!("cost: {about}{cost}, {} tokens in, {} out", thousands(input), thousands(output));
                // Between two lines of the answer, not in one.
                self.tell();
                self.voice.line(&text);
            }
            _ => {}
        }
    }

    fn tell_end_of_run(&mut self, run: u64, output: &str) {
        let (lines, left_out) = self.runs.ended(run, output);
        // First that it runs at all: some end before anything was printed.
        self.tell();
        self.voice.lines(lines);
        let Some(log) = self.session.processes().logs.iter().find(|log| log.run == run) else { return };
        let words = detail(&log.state.words(log.seconds));
        self.voice.line(&format!("end of output: {words}"));
        if left_out {
            self.voice.line("hint: Some lines were not printed. /output reads all of them.");
        }
    }
}

/// Leaving, and stopping what runs.
impl Desk {
    /// Ctrl-C: the most urgent thing first; leaving only when asked twice.
    pub(super) fn interrupt(&mut self) {
        let twice = std::mem::take(&mut self.interrupted_once);
        self.voice.broken_off();
        let effects = if self.session.attachments().recording.is_some() {
            self.voice.line("The recording was thrown away.");
            self.session.end_recording(false)
        } else if self.session.turn().is_some() {
            self.session.cancel()
        } else if let Some(effects) = self.session.stop_compacting() {
            effects
        } else if let Some(effects) = self.session.stop_page() {
            effects
        } else if self.session.processes().is_running() {
            self.voice.line("stopping the command");
            self.session.stop_command()
        } else if self.errands.are_open() || self.held.is_some() {
            self.errands.forget();
            self.held = None;
            self.voice.line("It is not waited for any more.");
            Vec::new()
        } else if self.gathering.drop_it() {
            self.takes_reply = false;
            self.voice.line("The unfinished text was dropped.");
            Vec::new()
        } else if self.confirm.take().is_some() || self.pick.take().is_some() {
            self.voice.line("Nothing was done.");
            Vec::new()
        } else if twice {
            self.leave(if self.is_typed { 0 } else { 128 + 2 });
            return;
        } else {
            self.interrupted_once = true;
            self.voice.line("Ctrl-C again leaves.");
            return;
        };
        // What was typed ahead, or comes next in a script, was meant for another end.
        self.lines.clear();
        self.perform(effects);
        self.tell();
        if !self.is_typed {
            self.leave(128 + 2);
        }
    }

    /// There are no more lines.
    fn end(&mut self) {
        self.voice.broken_off();
        if self.gathering.drop_it() {
            self.voice.line("warning: The last text was not ended, so it was not taken.");
            self.failed = Some(ErrorKind::Usage);
        }
        let failed = self.failed.filter(|_| !self.is_typed);
        self.leave(failed.map_or(0, ErrorKind::exit_code));
    }

    pub(super) fn leave(&mut self, code: u8) {
        self.leaving = Some(code);
    }

    /// Says what is kept and how to resume it; to a script only where something waits.
    pub(super) fn tell_farewell(&mut self, is_kept: bool) {
        let counts = self.session.review().counts();
        if self.is_typed || counts.pending + counts.accepted > 0 {
            let farewell = self.session.farewell(is_kept, &self.resume_command);
            self.voice.lines(farewell.lines().map(str::to_owned));
        }
    }
}
