//! Checks after a write of `rhumb edit`: syntax, linters and tests as the settings say, and what they find goes back to the model.

use std::cell::RefCell;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::Mutex;

use super::out::Out;
use crate::config::Settings;
use crate::error::UserError;
use crate::headless::args::EditArgs;
use crate::headless::event::TurnEvent;
use crate::headless::{advise, complain};
use crate::session::runner::{Bench, CommandEvent, Line, Outfit, check, output_budget};
use crate::session::{CheckOrder, Outcome, When, WriteOrder};
use rhumb_text::sanitize;
use rhumb_workspace::Root;
use rhumb_workspace::process::{End, Ended, Stop};

/// The exit code after a signal is this and its number, as shells have it.
#[cfg(unix)]
const BY_SIGNAL: usize = 128;
/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = 130;

/// What checks are done with.
pub(super) struct Verifier<'v> {
    pub(crate) root: &'v Root,
    pub(crate) outfit: &'v Outfit,
    pub(crate) line: &'v Line,
    pub(crate) out: &'v Out,
    stop: Stop,
    /// The files that were written for this request, as they were before its first write: a round that mends a fault of an
    /// earlier one must not find it to be an old one.
    bases: RefCell<Vec<(String, Option<Arc<str>>)>>,
    #[cfg(unix)]
    idle: Arc<std::sync::atomic::AtomicBool>,
    /// The signal that came, 0 for none.
    #[cfg(unix)]
    signal: Arc<std::sync::atomic::AtomicUsize>,
}

/// The settings with what the flags say of checks.
pub(super) fn with_flags(settings: Settings, args: &EditArgs) -> Settings {
    let choice = |yes: bool, no: bool, set: bool| (set || yes) && !no;
    let lint = choice(args.lint, args.no_lint, settings.lint);
    let test = choice(args.test, args.no_test, settings.test);
    Settings { lint, test, ..settings }
}

impl<'v> Verifier<'v> {
    /// Ready to check. From here on Ctrl-C ends a command before it ends us: the command's group does not hear it.
    pub(crate) fn new(root: &'v Root, outfit: &'v Outfit, line: &'v Line, out: &'v Out) -> Self {
        let (stop, bases) = (Stop::default(), RefCell::default());
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
            let idle = Arc::new(std::sync::atomic::AtomicBool::new(true));
            let came = Arc::new(std::sync::atomic::AtomicUsize::new(0));
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                // Where that is refused, the signal does what it always does.
                let first = signal_hook::flag::register_conditional_default(signal, Arc::clone(&idle));
                if first.is_ok() {
                    let number = usize::try_from(signal).unwrap_or_default();
                    let _ = signal_hook::flag::register_usize(signal, Arc::clone(&came), number);
                    let _ = signal_hook::flag::register(signal, stop.flag());
                }
            }
            Self { root, outfit, line, out, stop, bases, idle, signal: came }
        }
        #[cfg(not(unix))]
        Self { root, outfit, line, out, stop, bases }
    }

    /// The exit code where checks were stopped: by which signal, it says.
    #[cfg(unix)]
    pub(crate) fn stopped(&self) -> u8 {
        match self.signal.load(std::sync::atomic::Ordering::SeqCst) {
            0 => INTERRUPTED,
            number => u8::try_from(BY_SIGNAL + number).unwrap_or(INTERRUPTED),
        }
    }

    /// The exit code where checks were stopped.
    #[cfg(not(unix))]
    pub(crate) fn stopped(&self) -> u8 {
        INTERRUPTED
    }

    /// What this request wrote so far, these orders with it, each with what the file held before.
    fn written(&self, orders: &[WriteOrder]) -> Vec<(String, Option<Arc<str>>)> {
        let mut bases = self.bases.borrow_mut();
        for order in orders.iter().filter(|order| order.content.is_some()) {
            if bases.iter().all(|(known, _)| *known != order.path) {
                bases.push((order.path.clone(), order.expected.clone()));
            }
        }
        bases.clone()
    }

    /// Checks what was written, now and for the same request before.
    ///
    /// # Errors
    /// Standard output is closed.
    pub(crate) fn check(&self, orders: &[WriteOrder]) -> Result<Outcome, UserError> {
        let order =
            CheckOrder { files: self.written(orders), lint: When::AsSet, test: When::AsSet, ..CheckOrder::default() };
        let trouble: RefCell<Option<UserError>> = RefCell::default();
        let mut command = String::new();
        let mut tell = |event: CommandEvent<'_>| {
            if let Err(error) = self.tell(&event, &mut command) {
                trouble.borrow_mut().get_or_insert(error);
            }
        };
        let counter = self.outfit.counter(&self.line.facts);
        let mut bench = Bench {
            root: self.root,
            outfit: self.outfit,
            counter: &counter,
            budget: output_budget(self.outfit, &self.line.facts),
            stop: &self.stop,
            tell: &mut tell,
            told_absent: &Mutex::default(),
        };
        self.set_idle(false);
        let outcome = check(&mut bench, &order);
        self.set_idle(true);
        if let Some(error) = trouble.into_inner() {
            return Err(error);
        }
        outcome.notes.iter().for_each(|note| advise(&note.message, &note.hint));
        let text = outcome.shared.as_ref().map(|shared| shared.text.clone());
        let (failed, stopped) = (outcome.failed, outcome.stopped);
        self.out.event(&TurnEvent::Checked { failed, stopped, checks: outcome.checks.clone(), text })?;
        Ok(outcome)
    }

    #[cfg(unix)]
    fn set_idle(&self, idle: bool) {
        self.idle.store(idle, std::sync::atomic::Ordering::SeqCst);
    }

    #[cfg(not(unix))]
    fn set_idle(&self, _: bool) {}

    fn tell(&self, event: &CommandEvent<'_>, command: &mut String) -> Result<(), UserError> {
        match event {
            CommandEvent::Began { line } => {
                (*line).clone_into(command);
                if !self.out.json {
                    complain(&format!("$ {line}"));
                }
                self.out.event(&TurnEvent::CheckBegan { line: (*line).to_owned() })
            }
            CommandEvent::Said { live, .. } => {
                if !self.out.json {
                    // Nobody may be there to read it.
                    let _ = std::io::stderr().write_all(sanitize::visible(&live.text).as_bytes());
                }
                Ok(())
            }
            CommandEvent::Ended { result } => self.ended(command, result.as_ref().ok().copied()),
        }
    }

    fn ended(&self, command: &str, ended: Option<&Ended>) -> Result<(), UserError> {
        let Some(ended) = ended else { return Ok(()) };
        let words = match ended.end {
            End::Exit(code) => format!("exit code {code}"),
            End::Signal(number) => format!("signal {number}"),
            End::TimeLimit => "time limit".into(),
            End::Stopped => "stopped".into(),
            End::WantedTerminal => "wanted the terminal".into(),
        };
        if !self.out.json {
            complain(&format!("{command}: {words}, {} s", ended.took.as_secs()));
        }
        let exit = if let End::Exit(code) = ended.end { Some(code) } else { None };
        let (line, seconds) = (command.to_owned(), ended.took.as_secs_f64());
        self.out.event(&TurnEvent::CheckEnded { line, end: words, exit, seconds })
    }
}
