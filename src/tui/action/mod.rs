//! The actions that keys are bound to. One table is the source of the key map, the command bar, the palette, the help,
//! `docs/keys.md` and the table of keys in the README.

mod keymap;
mod table;

pub use self::keymap::{Binding, KeyMap, KeyProblem, KeySequence, key_notes};
pub use self::table::{ACTIONS, Action};

/// The part of the screen that has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pane {
    /// Transcript and composer.
    Chat,
    /// The ranked repo map.
    Map,
    /// The parts of the next request.
    Context,
    /// The hunks of the proposal.
    Review,
}

impl Pane {
    /// Every pane, in the order that Tab follows.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Map, Self::Context, Self::Review];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Map => "repo map",
            Self::Context => "context",
            Self::Review => "review",
        }
    }
}

/// Where a binding applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Everywhere.
    Global,
    /// In one pane while it has the focus.
    Pane(Pane),
    /// In the panes with lists (map, context and review), and while reading in the chat.
    Lists,
    /// In the chat while the transcript is read.
    Reading,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct ActionInfo {
    /// The action.
    pub action: Action,
    /// Its stable name.
    pub name: &'static str,
    /// Where its keys apply.
    pub scope: Scope,
    /// Its keys; a sequence is written with a space between (`g y`).
    pub keys: &'static [&'static str],
    /// One or two words for the command bar.
    pub title: &'static str,
    /// Whether the command bar omits it: the help lists it.
    pub is_rare: bool,
    /// A sentence for the help.
    pub help: &'static str,
}

impl Action {
    /// Whether it decides on hunks.
    pub fn is_decision(self) -> bool {
        use Action::{Accept, AcceptAll, AcceptFile, Pend, Reject, RejectAll, RejectFile, Toggle};
        matches!(self, Accept | Reject | Toggle | Pend | AcceptFile | RejectFile | AcceptAll | RejectAll)
    }

    /// Its row in the table.
    pub fn info(self) -> &'static ActionInfo {
        // The table has one row for each variant, in the same order.
        &ACTIONS[self as usize]
    }
}
