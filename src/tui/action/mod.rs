//! The actions that keys are bound to. One table is the source of the key map, the command bar, the palette, the help,
//! `docs/keys.md` and the table of keys in the README.

mod keymap;

pub use self::keymap::KeyMap;
pub(crate) use self::keymap::{Binding, KeySequence, key_notes};

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

impl Scope {
    /// Where it is, as the end of a sentence.
    pub fn place(self) -> String {
        match self {
            Self::Global => "everywhere".to_owned(),
            Self::Lists => "in map, context and review".to_owned(),
            Self::Reading => "while reading the chat".to_owned(),
            Self::Pane(pane) => format!("in the {}", pane.title()),
        }
    }
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

macro_rules! actions {
    (@is_rare) => { false };
    (@is_rare rare) => { true };
    ($($(#[doc = $doc:literal])+ $variant:ident: $name:literal, $scope:expr, [$($key:literal),*], $title:literal $(, $rare:ident)?;)+) => {
        /// What a key means.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Action {
            $($(#[doc = $doc])+ $variant,)+
        }

        /// Every action with its name, scope, keys and title.
        pub const ACTIONS: &[ActionInfo] = &[
            $(ActionInfo {
                action: Action::$variant,
                name: $name,
                scope: $scope,
                keys: &[$($key),*],
                title: $title,
                is_rare: actions!(@is_rare $($rare)?),
                help: concat!($($doc),+),
            },)+
        ];
    };
}

const CHAT: Scope = Scope::Pane(Pane::Chat);
const READING: Scope = Scope::Reading;
const MAP: Scope = Scope::Pane(Pane::Map);
const CONTEXT: Scope = Scope::Pane(Pane::Context);
const REVIEW: Scope = Scope::Pane(Pane::Review);

actions! {
    /// Send the message, or run the slash command.
    Send: "send", CHAT, ["Enter", "Ctrl-Enter"], "send";
    /// Start a new line in the message.
    Newline: "newline", CHAT, ["Alt-Enter", "Ctrl-j", "Shift-Enter"], "new line";
    /// Scroll the transcript up by a page.
    ScrollUp: "scroll-up", CHAT, ["PageUp"], "scroll";
    /// Scroll the transcript down by a page.
    ScrollDown: "scroll-down", CHAT, ["PageDown"], "scroll";

    /// Send the oldest waiting message now.
    SendQueued: "send-queued", CHAT, ["Alt-s"], "send now";
    /// Move the newest waiting message back into the composer.
    TakeBackQueued: "take-back-queued", CHAT, ["Alt-q"], "take back";
    /// Have the agent go on with the last turn, or with the running one once its answer is complete.
    TakeOver: "take-over", CHAT, ["Alt-g"], "agent", rare;
    /// Put the previous input into the composer; Up does the same in an empty composer.
    HistoryBack: "history-back", CHAT, ["Alt-Up"], "earlier input", rare;
    /// Put the next input into the composer; Down does the same in an empty composer.
    HistoryForward: "history-forward", CHAT, ["Alt-Down"], "later input", rare;
    /// Search the earlier inputs, those of other sessions included.
    HistorySearch: "history-search", CHAT, ["Ctrl-r"], "search inputs", rare;

    /// Drop the passages that `@codebase` found, so that they are sent no more.
    DropPassages: "drop-passages", CHAT, ["Alt-p"], "drop passages";
    /// Unfold a paste, so that its text can be edited.
    OpenPaste: "open-paste", CHAT, ["Alt-o"], "open paste", rare;

    /// Show or hide the reasoning of the model and the earlier steps of the agent; while reading, that of the entry under the cursor, or
    /// the result of a tool.
    ToggleThoughts: "toggle-thoughts", CHAT, ["Alt-t"], "thoughts";
    /// Read the transcript with a cursor that moves from block to block; Shift-Up in an empty composer does the same.
    ReadTranscript: "read-transcript", CHAT, ["Alt-r"], "read";
    /// Search the transcript.
    SearchTranscript: "search-transcript", CHAT, ["Alt-/"], "search", rare;
    /// Scroll to the beginning of the transcript.
    ScrollToStart: "scroll-to-start", CHAT, ["Alt-Home"], "to the start", rare;
    /// Scroll to the end of the transcript and follow it.
    ScrollToEnd: "scroll-to-end", CHAT, ["Alt-End"], "to the end";
    /// Show the message before the one at the top.
    MessageBack: "message-back", CHAT, ["Alt-PageUp"], "earlier message", rare;
    /// Show the message after the one at the top.
    MessageForward: "message-forward", CHAT, ["Alt-PageDown"], "later message", rare;

    /// Copy the block under the cursor; code is copied without its fences.
    CopyBlock: "copy-block", READING, ["y"], "copy";
    /// Copy the whole message.
    CopyMessage: "copy-message", READING, ["Y"], "copy message";
    /// Open what is under the cursor: show a cited place or the result of a tool, unfold reasoning, go to the hunks of an edit, copy a
    /// link.
    Follow: "follow", READING, ["Enter", "Space"], "open";
    /// Go to the next cited place in the code.
    NextLink: "next-link", READING, ["l", "Right"], "next link";
    /// Go to the previous cited place in the code.
    PreviousLink: "previous-link", READING, ["h", "Left"], "previous link";
    /// Open the file that the block names in the editor, at its line.
    OpenPlace: "open-place", READING, ["o"], "editor";
    /// Edit a message of yours and send it again; the messages after it are dropped.
    EditAndRerun: "edit-and-rerun", READING, ["e"], "edit, ask again";
    /// Go to the next message.
    NextMessage: "next-message", READING, ["]", "}"], "next message";
    /// Go to the previous message.
    PreviousMessage: "previous-message", READING, ["[", "{"], "previous message";
    /// Search the transcript.
    SearchHere: "search-here", READING, ["/"], "search";
    /// Go to the next match of the search.
    NextMatch: "next-match", READING, ["n", ";"], "next match";
    /// Go to the previous match of the search.
    PreviousMatch: "previous-match", READING, ["N", ","], "previous match";
    /// Return to the composer; any key that is not bound here does the same.
    BackToTyping: "back-to-typing", READING, ["i"], "type", rare;

    /// Pick files to add to the chat.
    PickFile: "pick-file", Scope::Global, ["Ctrl-p"], "add files";
    /// Pick a symbol of the repository to name in the message, add its file, or open it in the editor.
    PickSymbol: "pick-symbol", Scope::Global, ["Ctrl-t"], "symbols", rare;
    /// Search the code by a question or a name, with a preview.
    SearchCode: "search-code", Scope::Global, ["Ctrl-s", "F8"], "search code", rare;
    /// Stop the running turn, else the running command; otherwise return to the chat. The agent pauses after its step first.
    Escape: "escape", Scope::Global, ["Esc"], "cancel";
    /// Stop the running turn, else the running command, else clear the composer; pressed twice, quit.
    Interrupt: "interrupt", Scope::Global, ["Ctrl-c"], "stop, leave", rare;
    /// Quit; asks first if something still runs or would be lost.
    Quit: "quit", Scope::Global, ["Ctrl-q"], "quit", rare;
    /// Go on to the next mode for messages: code, ask, architect, context, agent, and code again.
    NextMode: "next-mode", Scope::Global, ["Shift-Tab"], "mode", rare;
    /// Give the focus to the next pane.
    FocusNext: "focus-next", Scope::Global, ["Tab", "Ctrl-Down"], "next pane";
    /// Give the focus to the previous pane.
    FocusPrevious: "focus-previous", Scope::Global, ["Ctrl-Up"], "previous pane", rare;
    /// Give the focus to the chat.
    FocusChat: "focus-chat", Scope::Global, ["Alt-1"], "chat";
    /// Give the focus to the repo map.
    FocusMap: "focus-map", Scope::Global, ["Alt-2"], "map";
    /// Give the focus to the context.
    FocusContext: "focus-context", Scope::Global, ["Alt-3"], "context";
    /// Give the focus to the review.
    FocusReview: "focus-review", Scope::Global, ["Alt-4"], "review";
    /// Look for a model server on this machine.
    FindServers: "find-servers", Scope::Global, ["F2"], "find server";
    /// Copy the whole prompt, to paste it into another chat.
    CopyPrompt: "copy-prompt", Scope::Global, ["F3"], "copy prompt";
    /// Take a pasted reply into review.
    PasteReply: "paste-reply", Scope::Global, ["F4"], "paste reply";
    /// Show the request exactly as it will be sent.
    ViewPrompt: "view-prompt", Scope::Global, ["F5"], "view prompt";
    /// Show the output of commands.
    ViewLog: "view-log", Scope::Global, ["F6"], "log";
    /// Write the message in the editor.
    EditMessage: "edit-message", CHAT, ["Ctrl-o"], "editor", rare;
    /// List all actions and commands, and run one.
    Palette: "palette", Scope::Global, ["Alt-x", "F7"], "palette";
    /// Show keys and commands.
    Help: "help", Scope::Global, ["F1"], "help";
    /// Give the whole screen to the pane with the focus, or back to all.
    Zoom: "zoom", Scope::Global, ["Alt-z"], "zoom";
    /// Switch the layout of the panes: automatic, columns, rows, one at a time.
    Layout: "layout", Scope::Global, ["Alt-l"], "layout", rare;
    /// Make the pane with the focus larger.
    GrowPane: "grow-pane", Scope::Global, ["Alt-+", "Alt-="], "larger", rare;
    /// Make the pane with the focus smaller.
    ShrinkPane: "shrink-pane", Scope::Global, ["Alt--"], "smaller", rare;
    /// Move the borders of all panes back to their default places.
    ResetBorders: "reset-borders", Scope::Global, ["Alt-0"], "reset borders", rare;
    /// Use the mouse in the app, or leave it to the terminal.
    Mouse: "mouse", Scope::Global, ["Alt-m"], "mouse", rare;
    /// Stop reading the repository and use what has been read; Esc in the chat does the same.
    StopReading: "stop-reading", Scope::Global, [], "stop reading", rare;
    /// Read the files that were left out when reading was stopped.
    ReadOn: "read-on", Scope::Global, [], "read on";
    /// Build or update the index for semantic search.
    BuildIndex: "build-index", Scope::Global, [], "build index", rare;
    /// Pause the index build, or resume it.
    PauseIndex: "pause-index", Scope::Global, [], "pause index", rare;
    /// Stop the index build; finished parts are kept.
    CancelIndex: "cancel-index", Scope::Global, [], "stop index", rare;
    /// Redraw the screen.
    Redraw: "redraw", Scope::Global, ["Ctrl-l"], "redraw", rare;
    /// Suspend to the shell.
    Suspend: "suspend", Scope::Global, ["Ctrl-z"], "suspend", rare;

    /// Move down a line.
    Down: "down", Scope::Lists, ["j", "Down"], "down";
    /// Move up a line.
    Up: "up", Scope::Lists, ["k", "Up"], "up";
    /// Move down a page.
    PageDown: "page-down", Scope::Lists, ["PageDown", "Ctrl-d"], "page down";
    /// Move up a page.
    PageUp: "page-up", Scope::Lists, ["PageUp", "Ctrl-u"], "page up";
    /// Move to the first line.
    Top: "top", Scope::Lists, ["Home", "g g"], "top";
    /// Move to the last line.
    Bottom: "bottom", Scope::Lists, ["End", "G"], "bottom";
    /// Show keys and commands.
    HelpHere: "help-here", Scope::Lists, ["?"], "help";
    /// Give the whole screen to this pane, or back to all.
    ZoomHere: "zoom-here", Scope::Lists, ["z"], "zoom";
    /// Leave the pane for the chat.
    Leave: "leave", Scope::Lists, ["q"], "back to chat";

    /// Open or close the file under the cursor; on a symbol, show where it is defined.
    Expand: "expand", MAP, ["Enter", "Space", "l", "Right"], "open";
    /// Close the file under the cursor.
    Collapse: "collapse", MAP, ["h", "Left"], "close";
    /// Add the file under the cursor to the chat.
    MapAdd: "map-add", MAP, ["a"], "add";
    /// Add the file under the cursor for reference.
    MapReadOnly: "map-read-only", MAP, ["r"], "read-only";
    /// Pin the file or symbol under the cursor to the top of the map, or unpin it.
    MapPin: "map-pin", MAP, ["p"], "pin";
    /// Ban the file or symbol under the cursor from the map, or allow it again (`/ban` without a name allows all).
    MapBan: "map-ban", MAP, ["b"], "ban";
    /// Give the map more tokens.
    MapMore: "map-more", MAP, ["+", "="], "more tokens";
    /// Give the map fewer tokens.
    MapLess: "map-less", MAP, ["-"], "fewer";
    /// Search files and symbols of the map by a few letters.
    MapFilter: "map-filter", MAP, ["/"], "filter";
    /// Explain the rank of the file or symbol under the cursor.
    MapWhy: "map-why", MAP, ["w"], "why";
    /// Show the file under the cursor, or where the symbol under it is defined.
    MapPeek: "map-peek", MAP, ["v"], "show";
    /// Open the file under the cursor in the editor, at the symbol.
    MapEdit: "map-edit", MAP, ["o"], "editor";
    /// Show the map as the model gets it, or as a list of files.
    MapStyle: "map-style", MAP, ["t"], "as sent";
    /// Undo the last change to the map: a pin, a ban, or its budget.
    MapUndo: "map-undo", MAP, ["u"], "undo";
    /// Redo the change to the map that was undone.
    MapRedo: "map-redo", MAP, ["Ctrl-r"], "redo";

    /// Remove the file, the passage or all passages under the cursor from the chat; drop a result of a tool, or take it back.
    ContextDrop: "context-drop", CONTEXT, ["d", "Delete"], "drop";
    /// Switch the file under the cursor between editable and read-only.
    ContextReadOnly: "context-read-only", CONTEXT, ["r"], "read-only";
    /// Keep the result of a tool under the cursor in requests, or let it be dropped when they grow.
    ContextPin: "context-pin", CONTEXT, ["p"], "pin";
    /// Pick files to add to the chat.
    ContextAdd: "context-add", CONTEXT, ["a"], "add";
    /// Show the request as it will be sent, from the part under the cursor on; list the passages, or show one.
    ContextView: "context-view", CONTEXT, ["Enter"], "view";
    /// List the parts of the request as they are sent, by size, or by kind.
    ContextSort: "context-sort", CONTEXT, ["s"], "sort";
    /// Open the file under the cursor in the editor, or the passage at its first line.
    ContextEdit: "context-edit", CONTEXT, ["o"], "editor";

    /// Accept the hunk under the cursor and go to the next pending one.
    Accept: "accept", REVIEW, ["y"], "accept";
    /// Reject the hunk under the cursor and go to the next pending one.
    Reject: "reject", REVIEW, ["n"], "reject";
    /// Switch the hunk between accepted and rejected.
    Toggle: "toggle", REVIEW, ["Space"], "toggle";
    /// Make the hunk pending again.
    Pend: "pend", REVIEW, ["p"], "pending";
    /// Accept every hunk of this file.
    AcceptFile: "accept-file", REVIEW, ["Y"], "accept file";
    /// Reject every hunk of this file.
    RejectFile: "reject-file", REVIEW, ["N"], "reject file";
    /// Accept everything.
    AcceptAll: "accept-all", REVIEW, ["g y"], "accept all";
    /// Reject everything.
    RejectAll: "reject-all", REVIEW, ["g n"], "reject all";
    /// Go to the next hunk or edit without a location.
    NextHunk: "next-hunk", REVIEW, ["]"], "next hunk";
    /// Go to the previous hunk or edit without a location.
    PreviousHunk: "previous-hunk", REVIEW, ["["], "previous hunk";
    /// Go to the next file.
    NextFile: "next-file", REVIEW, ["}"], "next file";
    /// Go to the previous file.
    PreviousFile: "previous-file", REVIEW, ["{"], "previous file";
    /// Select lines of the hunk, to decide on those alone; a second press ends the selection.
    SelectLines: "select-lines", REVIEW, ["v"], "select lines";
    /// Split the hunk: at the selected lines, at the line under the cursor, or into its smallest parts.
    Split: "split", REVIEW, ["s"], "split";
    /// Join this hunk with the next one of the file.
    Join: "join", REVIEW, ["S"], "join";
    /// Unfold what is under the cursor, or show the unchanged lines there; place an edit by hand; otherwise go to the next hunk.
    OpenHere: "open-here", REVIEW, ["Enter", "l", "Right"], "open";
    /// Fold the hunk under the cursor to one line, or open it; on the heading of a file, all of its hunks.
    Fold: "fold", REVIEW, ["f", "h", "Left"], "fold";
    /// Fold all decided hunks, or unfold them all.
    FoldDecided: "fold-decided", REVIEW, ["F"], "fold decided";
    /// Show ten more unchanged lines around the hunk.
    MoreContext: "more-context", REVIEW, ["+", "="], "more lines";
    /// Show ten fewer unchanged lines around the hunk.
    LessContext: "less-context", REVIEW, ["-"], "fewer lines";
    /// Switch between a side-by-side and a unified diff.
    ToggleSides: "toggle-sides", REVIEW, ["t"], "side by side";
    /// Highlight the words that changed in a line, or stop that.
    ToggleWords: "toggle-words", REVIEW, ["i"], "words";
    /// Move the focus to the list of files; a second press hides it on a small screen.
    ToggleTree: "toggle-tree", REVIEW, ["T"], "files";
    /// Search in the review.
    Search: "search", REVIEW, ["/"], "search";
    /// Go to the next match of the search.
    NextReviewMatch: "next-review-match", REVIEW, [";"], "next match";
    /// Go to the previous match of the search.
    PreviousReviewMatch: "previous-review-match", REVIEW, [","], "previous match";
    /// Undo the last change to the review.
    Undo: "undo", REVIEW, ["u"], "undo";
    /// Redo the change to the review that was undone.
    Redo: "redo", REVIEW, ["Ctrl-r"], "redo";
    /// Edit the added lines of the hunk in the editor; an edit without a location is placed by hand.
    EditHunk: "edit-hunk", REVIEW, ["e"], "edit";
    /// Edit the whole file in the editor, with all hunks that are not rejected.
    EditFile: "edit-file", REVIEW, ["E"], "edit file", rare;
    /// Open the file on disk in the editor, at the line under the cursor.
    OpenFile: "open-file", REVIEW, ["o"], "open file", rare;
    /// Comment on the selected lines, the line or the hunk.
    Comment: "comment", REVIEW, ["c"], "comment";
    /// Comment on the file.
    CommentFile: "comment-file", REVIEW, ["C"], "comment file", rare;
    /// Show the message about comments, rejected hunks and edits without a location, and send it to the model.
    SendReview: "send-review", REVIEW, ["m"], "to the model";
    /// Send the edit without a location under the cursor back to the model.
    Reask: "re-ask", REVIEW, ["r"], "ask again";
    /// Send all edits without a location back to the model.
    ReaskAll: "re-ask-all", REVIEW, ["R"], "ask all again";
    /// Put away the edit without a location under the cursor.
    Dismiss: "dismiss", REVIEW, ["d", "Delete"], "put away";
    /// Run the test command on the accepted and pending hunks in a trial checkout; nothing is written.
    TryHunks: "try-hunks", REVIEW, ["b"], "try";
    /// Run the test command on the accepted hunks alone in a trial checkout; nothing is written.
    TryAccepted: "try-accepted", REVIEW, ["B"], "try accepted", rare;
    /// After a failed trial, find the smallest set of hunks without which it succeeds.
    BisectHunks: "bisect-hunks", REVIEW, ["g b"], "find what fails", rare;
    /// Write the accepted hunks, and only those, and commit them.
    Write: "write", REVIEW, ["w"], "write";
    /// Write without a commit, or with one if commits are off.
    WriteOther: "write-other-way", REVIEW, ["W"], "write without commit", rare;
    /// Abandon the whole review; nothing is written.
    Abandon: "abandon", REVIEW, ["x"], "abandon";
}
