//! Notices to the front end: actions and texts that are not part of the transcript.
//!
//! A front end takes the notices after each call of the session ([`Session::take_notices`]) and shows each once. It may defer one,
//! for instance while a dialog with unsaved input is open.

use crate::{ClipboardText, Command, ConnectRequest, ModelRole, Page, Session, SessionLine, SettingRow};
use rhumb_edit::review::HunkId;
use rhumb_llm::LocalServer;
use std::collections::VecDeque;
use std::mem::discriminant;

/// Something that the front end shows or does once.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// Put a text on the clipboard.
    Copy(ClipboardText),
    /// The first question was caused by the user's last input and may be opened at once.
    AskNow,
    /// Show a diff.
    Diff(Page),
    /// Show a text of the program, such as the result of a check of the installation.
    Page(Page),
    /// Show settings, with a filter to begin with.
    Settings(Vec<SettingRow>, String),
    /// Let the user choose a model for a role, with a filter to begin with.
    ChooseModel(ModelRole, String),
    /// Let the user choose one of the model servers that were found.
    ChooseServer(Vec<LocalServer>),
    /// Let the user choose an earlier session, with a filter to begin with.
    ChooseSession(String, Vec<SessionLine>),
    /// Help the user to connect a model.
    Connect(ConnectRequest),
    /// A model is connected: a [`Notice::Connect`] that was not shown yet is obsolete.
    Connected,
    /// A message that was not answered becomes the draft again.
    ReturnDraft(String),
    /// Insert a text into the draft.
    Insert(String),
    /// Insert dictated words into the draft.
    InsertDictated(String),
    /// The text on the clipboard, for the dialog that takes pasted replies.
    PastedText(String),
    /// The clipboard contained an image, which is now in the chat: the dialog for pasted replies is not needed.
    PastedImage,
    /// Run a command that was loaded from a file.
    Run(Command),
    /// Move the review to a hunk.
    ShowHunk(HunkId),
}

impl Notice {
    /// Whether this notice takes the place of `other` if the front end has not shown that yet.
    pub fn replaces(&self, other: &Self) -> bool {
        let adds = matches!(self, Self::Copy(_) | Self::Insert(_) | Self::Run(_));
        (!adds && discriminant(self) == discriminant(other))
            || (*self == Self::Connected && matches!(other, Self::Connect(_)))
    }
}

/// The notices that the front end has not taken.
#[derive(Debug, Default)]
pub(super) struct Notices(VecDeque<Notice>);

impl Notices {
    /// Adds a notice, which replaces an older one of its kind.
    pub(super) fn push(&mut self, notice: Notice) {
        self.0.retain(|other| !notice.replaces(other));
        self.0.push_back(notice);
    }
}

impl Session {
    /// Takes all notices, oldest first.
    pub fn take_notices(&mut self) -> VecDeque<Notice> {
        std::mem::take(&mut self.notices.0)
    }

    /// The notices that the front end has not taken.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.notices.0.iter()
    }

    /// Withdraws a message that would become the draft again.
    pub fn forget_returned_draft(&mut self) {
        self.notices.0.retain(|notice| !matches!(notice, Notice::ReturnDraft(_)));
    }

    /// Makes a message the draft again.
    pub fn return_draft(&mut self, draft: String) {
        self.notices.push(Notice::ReturnDraft(draft));
    }

    /// Puts a text on the clipboard.
    pub fn copy(&mut self, text: ClipboardText) {
        self.notices.push(Notice::Copy(text));
    }
}
