//! `rhumb edit`: one turn without the app; in architect mode two, a plan and its edits.

pub(super) mod ask;
mod codebase;
mod commit;
mod named;
mod out;
mod request;
mod show_prompt;
mod unanswered;
mod verify;
mod with_output;

use std::cell::{Cell, RefCell};
use std::io::IsTerminal as _;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::args::EditArgs;
use super::event::{HunkEvent, TurnEvent};
use super::report::{as_diff, ask_each, outcome_line, warn_of_faults};
use super::survey::surveyed;
use super::undo::{journal_of, tell_recovered};
use super::{advise, complain, path_under, print};
use crate::config::{More, Settings};
use crate::context::{self, Mode};
use crate::error::{ErrorKind, UserError};
use crate::session::runner::{AskError, Asked, Line, Outfit, Question, Survey, ask, editor_line, map_store, propose};
use crate::session::{
    AskEvent, ChatFile, ContextOrder, ContextView, Failure, Outcome, WriteOrder, WriteSummary, Written, uncounted,
    write_orders,
};
use codebase::{Codebase, exchange};
use commit::Writing;
use named::with_named;
use out::Out;
pub use request::Words;
use request::{check_ready, provider, request};
use rhumb_edit::review::{Decision, Review};
use rhumb_edit::{FormatChoice, Proposal, Status};
use rhumb_llm::StreamEvent;
use rhumb_llm::models::{Dollars, Ledger};
use rhumb_llm::{Message, Role};
use rhumb_workspace::Root;
use show_prompt::{Sheet, show_prompt};
use unanswered::{ask_error, not_whole, why};
use verify::{Verifier, with_flags};
use with_output::with_output;

/// Runs the turn. The exit code is 0 when everything was applied, 1 when some was refused or there was no edit.
///
/// # Errors
/// No provider, a request that does not fit, an error of the provider, an incomplete reply, or a disk that refuses.
pub fn edit(root: &Root, settings: Settings, args: &EditArgs) -> Result<u8, UserError> {
    edit_with(root, settings, args, EditOptions::default())
}

/// What a program that calls [`edit_with`] decides beyond the settings and flags.
#[derive(Default)]
pub struct EditOptions {
    /// Answers instead of the model of the settings.
    pub client: Option<Line>,
    /// Parses every file anew and keeps nothing of the repository in the cache folder.
    pub no_cache: bool,
}

/// As [`edit`], with other options than the command has.
///
/// # Errors
/// As [`edit`].
pub fn edit_with(root: &Root, settings: Settings, args: &EditArgs, options: EditOptions) -> Result<u8, UserError> {
    let message = request(args)?;
    let (outfit, notes) = Outfit::of_user(with_flags(settings, args));
    notes.iter().for_each(|note| advise(&note.message, &note.hint));
    let asked = with_output(&message, args, &outfit)?;
    if args.show_prompt {
        return show_prompt(root, &outfit, args, (&message, asked));
    }
    let line = match options.client {
        Some(client) => client,
        None => provider(&outfit)?,
    };
    if outfit.settings.spending_cap.is_some() && line.facts.prices.is_none() {
        let Failure { message, hint } = uncounted(&line.facts.name);
        advise(&message, &hint);
    }
    if !args.dry_run {
        tell_recovered(root, journal_of(root, &outfit.settings).as_ref());
    }
    let store = if options.no_cache { None } else { map_store(&outfit.settings, root) };
    let survey = Arc::new(surveyed(root, true, store.as_ref()));
    let mut files = chat_files(root, args, &outfit.settings.reference_files());
    let asked = with_named(root, &outfit, (&survey, &line.facts), &mut files, asked);
    let out = Out::new(args.json, args.dry_run);
    let mode = args.mode();
    let (editor, note) = match mode {
        Mode::Architect => editor_line(&outfit, &line, args.editor_model.as_deref()),
        _ => (line.clone(), None),
    };
    if !args.plan_only {
        check_ready(&editor)?;
    }
    let mut codebase = Codebase::new(root, &outfit, &survey, &line.facts);
    (codebase.more, codebase.line) = (args.codebase_more.map(More::from), Some(&line));
    let mut desk = Desk {
        mode,
        codebase,
        root,
        outfit: &outfit,
        line: &line,
        survey: &survey,
        files: RefCell::new(files),
        out: &out,
        history: RefCell::default(),
        ledger: RefCell::default(),
        doubtful: Cell::new(false),
        cut_by_cap: Cell::new(false),
    };
    let reply = desk.answered(&message, &asked)?;
    let (asked, reply) = match mode {
        Mode::Architect if !args.plan_only => {
            (desk.line, desk.mode) = (&editor, Mode::Editor);
            out.asked(&editor.model, AskEvent::Editor { model: editor.model.clone(), note })?;
            let edits = desk.ask(&[], &reply)?;
            (reply, edits)
        }
        Mode::Code => (asked, reply),
        _ => {
            out.done(&Written::default())?;
            return Ok(0);
        }
    };
    let proposal = desk.mended(&asked, reply)?;
    let settling = Settling { settings: &outfit.settings, args, message: &message };
    let settled = desk.settle(&settling, proposal)?;
    desk.verified(&settling, settled)
}

/// What every request of the turn is made with.
struct Desk<'a> {
    root: &'a Root,
    outfit: &'a Outfit,
    line: &'a Line,
    /// How the messages are meant.
    mode: Mode,
    survey: &'a Survey,
    files: RefCell<Vec<ChatFile>>,
    codebase: Codebase<'a>,
    out: &'a Out,
    /// What was said of requests whose edits are written.
    history: RefCell<Vec<Message>>,
    ledger: RefCell<Ledger>,
    /// Two parts of an answer were joined within an edit, and nothing shows that they belong there.
    doubtful: Cell<bool>,
    /// The spending cap cut the last answer off.
    cut_by_cap: Cell<bool>,
}

pub(super) fn chat_files(root: &Root, args: &EditArgs, reference: &[String]) -> Vec<ChatFile> {
    let file = |read_only: bool| move |name: &String| ChatFile { path: path_under(root, name), read_only };
    let mut files: Vec<ChatFile> = Vec::new();
    let always = reference.iter().map(|path| ChatFile { path: path.clone(), read_only: true });
    for file in args.files.iter().map(file(false)).chain(args.read.iter().map(file(true))).chain(always) {
        // Several names may mean one file, which is sent once.
        if files.iter().all(|other| other.path != file.path) {
            files.push(file);
        }
    }
    files
}

impl Desk<'_> {
    /// The answer to a message, with what that asks of the whole repository, and with more of it where the model may ask for that.
    fn answered(&self, message: &str, asked: &str) -> Result<String, UserError> {
        let chat: Vec<String> = self.files.borrow().iter().map(|file| file.path.clone()).collect();
        self.codebase.look_up(message, self.mode, &chat, self.out)?;
        let mut reply = self.ask(&[], asked)?;
        let mut said = exchange(asked, &reply).to_vec();
        while let Some(next) = self.codebase.more(&reply, &chat, self.out)? {
            reply = self.ask(&said, &next)?;
            said.extend(exchange(&next, &reply));
        }
        Ok(reply)
    }

    /// The proposal of a reply to `message`, after the model was asked again about what found no place, as often as the settings
    /// allow. A round that fails is told; what was found before it stands.
    fn mended(&self, message: &str, reply: String) -> Result<Proposal, UserError> {
        let paths: Vec<String> = self.survey.files.iter().map(|file| file.path.clone()).collect();
        let proposed =
            |replies: &[String]| propose(self.root, &paths, &self.files.borrow(), replies, FormatChoice::Auto);
        let mut said = vec![Message::new(Role::User, message), Message::new(Role::Assistant, &reply)];
        let mut replies = vec![reply];
        let mut proposal = proposed(&replies);
        let mut asked_about = Vec::new();
        let rounds = self.outfit.settings.edit_rounds;
        for round in 1..=rounds {
            let Some(refusals) = context::refusals(&proposal.outcomes) else {
                break;
            };
            if context::same_refusals(&asked_about, &proposal.outcomes) {
                complain(
                    "the last answer changed nothing about the edits without a place, so the model is not asked again",
                );
                break;
            }
            asked_about.clone_from(&proposal.outcomes);
            self.out.event(&TurnEvent::Again { round, of: rounds, text: refusals.clone() })?;
            complain(&format!("some edits could not be located; the model is asked again, {round} of {rounds}"));
            let reply = match self.ask(&said, &refusals) {
                Ok(reply) => reply,
                Err(error) => {
                    advise(&error.message, &error.hint);
                    break;
                }
            };
            said.extend([Message::new(Role::User, refusals), Message::new(Role::Assistant, &reply)]);
            if rhumb_edit::parse(&reply, FormatChoice::Auto).edits.is_empty() {
                break;
            }
            replies.push(reply);
            proposal = proposed(&replies);
        }
        self.history.borrow_mut().extend(said);
        Ok(proposal)
    }

    /// Sends a message after what was `said` before it, and prints the answer as it streams; the whole reply.
    fn ask(&self, said: &[Message], message: &str) -> Result<String, UserError> {
        let Self { root, outfit, line, survey, out, .. } = *self;
        let order = ContextOrder {
            files: self.files.borrow().clone(),
            history: Arc::new(self.history.borrow().clone()),
            mode: self.mode,
            exchange: said.to_vec(),
            draft: message.to_owned(),
            ..ContextOrder::default()
        };
        let order = self.codebase.with(order);
        let sheet = Sheet::new(root, outfit, survey, &line.facts);
        let compose = |limit: Option<usize>| -> BoxFuture<'_, Result<ContextView, Failure>> {
            let view = sheet.composed(&order, limit);
            let shown = out
                .prompt(&line.facts, &view.prompt)
                .map_err(|error| Failure { message: error.message, hint: error.hint });
            ready(shown.map(|()| view)).boxed()
        };
        let question = Question {
            line,
            outfit,
            compose: &compose,
            partial: "",
            counter: sheet.counter(),
            allowance: self.allowance(),
            choices: &order.choices,
        };
        let machine = |error: std::io::Error| UserError::new(ErrorKind::Machine, error, "");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(machine)?;
        let (reply, result) = runtime.block_on(self.asked(&question))?;
        // What streamed may have ended in the middle of a line.
        if !out.json && !reply.is_empty() {
            print("\n")?;
        }
        let completion = match result {
            Ok(asked) => asked.completion,
            Err(error) => {
                self.out.event(&TurnEvent::Failed { why: why(&error) })?;
                let mut error = ask_error(&error);
                if !reply.is_empty() {
                    error.message.truncate(error.message.trim_end_matches('.').len());
                    error.message.push_str("; the answer is incomplete");
                    error.message.push_str(self.left());
                }
                return Err(error);
            }
        };
        if let Some((why, error)) = not_whole(&completion, &reply, self.left(), self.cut_by_cap.get()) {
            self.out.event(&TurnEvent::Failed { why })?;
            return Err(error);
        }
        Ok(reply)
    }

    /// What to add to the news that an answer is not whole: its edits, if it was to have any, stay what they are.
    fn left(&self) -> &'static str {
        if self.mode.edits() { ", so nothing of it was applied" } else { "" }
    }

    async fn asked(&self, question: &Question<'_>) -> Result<Streamed, UserError> {
        self.cut_by_cap.set(false);
        let (events, mut arriving) = mpsc::channel(64);
        let cancel = CancellationToken::new();
        let print_all = async {
            let mut reply = String::new();
            while let Some(event) = arriving.recv().await {
                match &event {
                    AskEvent::Stream(StreamEvent::Text(text)) => reply.push_str(text),
                    AskEvent::Stream(StreamEvent::TakeBack) => reply.clear(),
                    AskEvent::DoubtfulSeam => self.doubtful.set(true),
                    AskEvent::CutByCap | AskEvent::PastTheCap => self.cut_by_cap.set(true),
                    AskEvent::Spent(spent) => {
                        self.ledger.borrow_mut().enter(1, &spent.model, spent.tokens);
                    }
                    _ => {}
                }
                self.out.asked(&question.line.model, event)?;
            }
            Ok::<String, UserError>(reply)
        };
        let asking = async {
            let result = ask(question, &cancel, &events).await;
            drop(events);
            result
        };
        let (result, reply) = tokio::join!(asking, print_all);
        self.out.end_countdown();
        Ok((reply?, result))
    }

    /// What may still be spent.
    fn allowance(&self) -> Option<Dollars> {
        let spent = |ledger: &RefCell<Ledger>| ledger.borrow().session().known;
        let cap = self.outfit.settings.spending_cap?;
        Some(cap.over(spent(&self.ledger)).over(spent(&self.codebase.ledger)))
    }
}

type Streamed = (String, Result<Asked, AskError>);

/// How proposals are decided on and written.
struct Settling<'s> {
    settings: &'s Settings,
    args: &'s EditArgs,
    /// The request, for the commit message.
    message: &'s str,
}

/// What became of a proposal: the exit code so far, and what was written.
struct Settled {
    code: u8,
    orders: Vec<WriteOrder>,
    written: Written,
}

impl Settled {
    fn nothing(code: u8) -> Self {
        Self { code, orders: Vec::new(), written: Written::default() }
    }
}

impl Desk<'_> {
    /// Decides on the proposal and writes what was accepted.
    fn settle(&self, how: &Settling<'_>, mut proposal: Proposal) -> Result<Settled, UserError> {
        let (out, args) = (self.out, how.args);
        if args.yes && self.doubtful.get() {
            let text =
                "nothing was applied: two parts of the answer meet inside an edit, and it is uncertain that they fit";
            let hint = "Review the hunks without --yes, or ask for less at once.";
            return Err(UserError::new(ErrorKind::Incomplete, text, hint));
        }
        if args.yes {
            proposal.refuse_doubtful();
        }
        for (index, outcome) in proposal.outcomes.iter().enumerate() {
            out.event(&TurnEvent::Hunk(HunkEvent::new(outcome, &proposal)))?;
            if !args.json {
                complain(&outcome_line(index + 1, outcome, &proposal));
            }
        }
        if proposal.outcomes.is_empty() {
            return Ok(Settled::nothing(1));
        }
        let refused = proposal.outcomes.iter().any(|outcome| outcome.status == Status::Refused);
        let asks = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if args.dry_run || (!args.yes && !asks) {
            out.diff(&as_diff(&proposal))?;
            return Ok(Settled::nothing(u8::from(refused)));
        }
        let Some(review) = self.decided(proposal, args.yes) else { return Ok(quit()) };
        let orders: Vec<WriteOrder> = review.files.iter().flat_map(write_orders).collect();
        if orders.is_empty() {
            return Ok(Settled::nothing(1));
        }
        // Most failures leave everything as it was, but not all do: which, the message itself says.
        let writing = Writing {
            root: self.root,
            outfit: self.outfit,
            line: self.line,
            request: how.message,
            allowance: self.allowance(),
            yes: args.yes,
            no_journal: args.no_journal,
        };
        let written = writing.write(&orders, |event| out.asked(&self.line.model, event))?;
        let Some(written) = written else { return Ok(quit()) };
        out.written(&written, &WriteSummary::new(&review, &written.paths))?;
        let rejected = review.counts().rejected > 0;
        Ok(Settled { code: u8::from(refused || rejected), orders, written })
    }

    /// The review of a proposal, decided by `--yes` or by asking; `None` if the user quit.
    fn decided(&self, proposal: Proposal, yes: bool) -> Option<Review> {
        let mut review = Review::new(proposal);
        if yes {
            review.decide_all(Decision::Accepted);
            warn_of_faults(&review);
        } else if !ask_each(&mut review, self.root.path(), self.outfit.settings.editor.as_deref()) {
            return None;
        }
        Some(review)
    }

    /// Checks what was written, and has the model mend what is found, as often as the settings allow. The exit code: 1 as well if
    /// something is wrong in the end.
    fn verified(&self, how: &Settling<'_>, settled: Settled) -> Result<u8, UserError> {
        let mut all = Written::default();
        let code = self.repaired(how, settled, &mut all)?;
        all.paths.sort();
        all.paths.dedup();
        self.out.done(&all)?;
        Ok(code)
    }

    fn repaired(&self, how: &Settling<'_>, mut settled: Settled, all: &mut Written) -> Result<u8, UserError> {
        let verifier = Verifier::new(self.root, self.outfit, self.line, self.out);
        let (mut code, mut round) = (settled.code, 0);
        loop {
            let Written { paths, commit, .. } = std::mem::take(&mut settled.written);
            all.paths.extend(paths);
            all.commit = commit.or(all.commit.take());
            if settled.orders.is_empty() {
                // After the first round something is known to be wrong.
                return Ok(if round > 0 { still_wrong(code) } else { code });
            }
            let outcome = verifier.check(&settled.orders)?;
            if outcome.stopped {
                complain("the checks were stopped");
                return Ok(verifier.stopped());
            }
            if !outcome.failed {
                return Ok(code);
            }
            round += 1;
            let Some(next) = self.mending(how, outcome, round)? else { return Ok(still_wrong(code)) };
            settled = next;
            code = code.max(settled.code);
        }
    }

    /// Has the model mend what was found, and what it sends written; nothing if it is not asked any more, or cannot be.
    fn mending(&self, how: &Settling<'_>, outcome: Outcome, round: usize) -> Result<Option<Settled>, UserError> {
        let rounds = how.settings.verify_rounds;
        let Some(found) = outcome.shared.filter(|_| round <= rounds) else { return Ok(None) };
        self.out.event(&TurnEvent::Again { round, of: rounds, text: found.text.clone() })?;
        complain(&format!("{} The model is asked again, {round} of {rounds}", found.title));
        self.bring_in(&outcome.files);
        match self.ask(&[], &found.text) {
            Ok(reply) => self.settle(how, self.mended(&found.text, reply)?).map(Some),
            Err(error) => {
                advise(&error.message, &error.hint);
                Ok(None)
            }
        }
    }

    /// Brings files into the chat that are to be mended.
    fn bring_in(&self, paths: &[String]) {
        let mut files = self.files.borrow_mut();
        for path in paths {
            if files.iter().all(|file| file.path != *path) {
                files.push(ChatFile { path: path.clone(), read_only: false });
            }
        }
    }
}

/// The exit code when something is wrong in the end, which is told.
fn still_wrong(code: u8) -> u8 {
    complain("what was written still fails its checks");
    code.max(1)
}

/// The user quit: nothing is written.
fn quit() -> Settled {
    complain("you quit, so nothing of this proposal is written");
    Settled::nothing(1)
}
