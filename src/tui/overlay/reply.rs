//! What an overlay says to a key: whether it stays, and what the app shall do.

use crossterm::event::KeyEvent;

use super::{Confirm, Deed, LineFor, Place, ReviewReply};
use crate::session::{Clip, ModelUse, NewKey, SettingRow};
use rhumb_llm::models::Api;

/// What an overlay says to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// It stays.
    Stay,
    /// It closes.
    Close,
    /// Add these files to the chat.
    Add(Vec<String>),
    /// Connect to this server.
    Connect {
        /// What it speaks.
        api: Api,
        /// Root of its API.
        base_url: String,
        /// Model to ask for.
        model: String,
    },
    /// Check and store this key; the overlay stays.
    Key(NewKey),
    /// Look for keys and servers again; the overlay stays.
    SearchConnections,
    /// This reply was pasted.
    Pasted(String),
    /// Do this: somebody said yes to it.
    Confirmed(Deed),
    /// This key is no answer: it was meant for what is beneath.
    Typed(KeyEvent),
    /// The choice with this letter.
    Answer(char),
    /// The recording ends: it is written down, or thrown away.
    Spoken(bool),
    /// Put this on the clipboard; the overlay stays.
    Copy(Clip),
    /// Stop this run.
    StopRun(u64),
    /// Have this model do that part of the work.
    Model(ModelUse, String),
    /// Draw in these colours.
    Theme(String),
    /// Run this action, or with a slash before it this command.
    Run(String),
    /// Go on with the session of this number.
    Resume(i64),
    /// Type this again.
    Recall(String),
    /// Look at these places.
    Peek(Vec<Place>),
    /// Open this file of the repository in the editor, at the line (1-based).
    Edit(String, usize),
    /// Name this symbol in the message.
    Mention(String),
    /// Look at these places; the overlay comes back.
    Show(Vec<Place>),
    /// Add this file to the chat, for reference only or not; the overlay stays.
    AddFound(String, bool),
    /// Open this file at this line in the editor; the overlay stays.
    Visit(String, usize),
    /// Ask this about the whole repository: it goes into the message.
    AskCodebase(String),
    /// Begin a new session with what is in the one of this number.
    Fork(i64),
    /// Ask this before it is done; the overlay comes back.
    AskFirst(Box<Confirm>),
    /// Ask for a line, which begins so; the overlay comes back.
    AskLine(LineFor, String),
    /// This line was typed.
    Line(LineFor, String),
    /// Change this setting for this session.
    ChangeSetting(Box<SettingRow>),
    /// Keep this setting as it is now.
    KeepSetting(Box<SettingRow>),
    /// Take this setting out of the user's file.
    ForgetSetting(Box<SettingRow>),
    /// What was said in a box of the review.
    Review(ReviewReply),
}

impl Reply {
    /// Whether the overlay stays where it is, or below another one.
    pub fn stays(&self) -> bool {
        matches!(
            self,
            Self::Stay
                | Self::Copy(_)
                | Self::Key(_)
                | Self::SearchConnections
                | Self::Show(_)
                | Self::AddFound(..)
                | Self::Visit(..)
                | Self::AskFirst(_)
                | Self::AskLine(..)
                | Self::ChangeSetting(_)
                | Self::KeepSetting(_)
                | Self::ForgetSetting(_)
        )
    }
}
