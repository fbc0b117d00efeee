//! Writing and committing what was accepted, without the app.

use std::io::IsTerminal as _;

use tokio_util::sync::CancellationToken;

use crate::error::{ErrorKind, UserError};
use crate::headless::report::yes_or_no;
use crate::headless::undo::{journal_of, may_go_unrecorded};
use crate::session::runner::{Line, Messages, Outfit, Pending, WriteOutcome, message_line, messages, write};
use crate::session::{AskEvent, CommitOrder, WriteOrder, Written};
use rhumb_llm::models::Dollars;
use rhumb_text::sanitize;
use rhumb_workspace::Root;

/// What a write without the app is done with.
pub(crate) struct Writing<'a> {
    pub(crate) root: &'a Root,
    pub(crate) outfit: &'a Outfit,
    /// Who wrote what is accepted.
    pub(crate) line: &'a Line,
    /// What was asked for.
    pub(crate) request: &'a str,
    /// What may still be spent.
    pub(super) allowance: Option<Dollars>,
    /// Whether nobody is to be asked anything.
    pub(crate) yes: bool,
    /// Whether the journal is left out.
    pub(crate) no_journal: bool,
}

impl Writing<'_> {
    /// Writes, and commits if the settings want that; `None` if the user quit, and nothing is written. What is paid for a message
    /// goes to `tell`.
    ///
    /// # Errors
    /// Nothing was written, or not all could be put back: the error says which.
    pub(crate) fn write(
        &self,
        orders: &[WriteOrder],
        tell: impl Fn(AskEvent) -> Result<(), UserError>,
    ) -> Result<Option<Written>, UserError> {
        let settings = &self.outfit.settings;
        let mut journal = journal_of(self.root, settings).filter(|_| !self.no_journal);
        let mut order = CommitOrder {
            weak_model: None,
            wanted: None,
            request: self.request.to_owned(),
            own_changes: settings.dirty_commits.or_else(|| (!self.asks()).then_some(false)),
            allowance: self.allowance,
        };
        let machine = |(failure, _): (crate::session::Failure, Vec<String>)| {
            UserError::new(ErrorKind::Machine, failure.message, failure.hint)
        };
        loop {
            let wanted = settings.auto_commit.then_some(&order);
            match write(self.root, journal.as_ref(), orders, wanted).map_err(machine)? {
                WriteOutcome::UncommittedChanges(paths) => match ask_about(&paths) {
                    None => return Ok(None),
                    answer => order.own_changes = answer,
                },
                WriteOutcome::NotRecorded(cause) => match may_go_unrecorded(&cause, self.asks())? {
                    true => journal = None,
                    false => return Ok(None),
                },
                WriteOutcome::Written(written, None) => return Ok(Some(written)),
                WriteOutcome::Written(written, Some(pending)) => return self.commit(written, *pending, tell).map(Some),
            }
        }
    }

    fn asks(&self) -> bool {
        !self.yes && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    fn commit(
        &self,
        mut written: Written,
        pending: Pending,
        tell: impl Fn(AskEvent) -> Result<(), UserError>,
    ) -> Result<Written, UserError> {
        let worth = pending.is_worth_a_message();
        let line = worth.then(|| message_line(self.outfit, None, Some(self.line))).flatten();
        let mut told = Ok(());
        let mut texts = Messages::default();
        if let Some(line) = line {
            let (came, spent) = self.asked(&line, &pending);
            texts = came;
            // The commit is made whatever becomes of the output.
            told = spent.into_iter().try_for_each(|spent| tell(AskEvent::Spent(spent)));
        }
        let committed = pending.commit(texts, &self.outfit.settings, &self.line.model);
        told?;
        written.commit = committed.commit.map(|(id, _)| id);
        written.own_commit = committed.own_commit;
        written.notes.extend(committed.notes);
        Ok(written)
    }

    /// The messages; whoever presses Ctrl-C does not wait for them, and the commit is made all the same.
    fn asked(&self, line: &Line, pending: &Pending) -> (Messages, Vec<crate::session::Spent>) {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
            return Default::default();
        };
        runtime.block_on(async {
            let cancel = CancellationToken::new();
            let interrupted = async {
                // Where signals cannot be heard there is nothing to hurry for.
                if tokio::signal::ctrl_c().await.is_ok() {
                    cancel.cancel();
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                asked = messages(self.outfit, line, pending, self.allowance, &cancel) => asked,
                () = interrupted => Default::default(),
            }
        })
    }
}

/// Asks on the terminal whether the user's own changes to these files are committed first; `None` if the user quit.
fn ask_about(paths: &[String]) -> Option<bool> {
    let names: Vec<_> = paths.iter().map(|path| sanitize::visible_line(path)).collect();
    let question = format!("You have uncommitted changes in {}: commit them first", names.join(", "));
    let help = "y - commit your changes by themselves, then write and commit the hunks\n\
                n - write the hunks and leave the commit to you\n\
                q - quit and write nothing";
    yes_or_no(&question, help)
}
