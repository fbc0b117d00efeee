//! The roles of a theme. A role is named by its meaning, not by its look.

macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// The meaning of a part of the screen. A theme maps each role to a style.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Role {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Role {
            /// Every role, in the order of declaration.
            pub const ALL: &'static [Role] = &[$(Role::$variant,)+];

            /// The name in theme files, `border.focused`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The role of that name, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}

roles! {
    /// Ordinary text.
    Text = "text",
    /// Secondary text: hints, times, URLs, line counts.
    Muted = "muted",
    /// Prominent parts: the prompt mark, the active tab.
    Accent = "accent",
    /// The frame of a pane without the focus.
    Border = "border",
    /// The frame of the pane with the focus.
    BorderFocused = "border.focused",
    /// The title of a pane or overlay.
    Title = "title",
    /// Background and text of an overlay.
    Overlay = "overlay",
    /// The status line at the bottom.
    Status = "status",
    /// A key in a hint: the `y` of "y accept".
    Key = "key",
    /// The chosen item of a list, or selected text.
    Selection = "selection",
    /// The line under the cursor.
    CursorLine = "cursor-line",
    /// Characters that matched a fuzzy query.
    Match = "match",
    /// A hit of a text search.
    Search = "search",
    /// A line number or another mark in the gutter.
    Gutter = "gutter",
    /// A mark that calls for attention without judging: "fuzzy 93 %", "new file".
    Badge = "badge",
    /// Something failed.
    Error = "error",
    /// Something may be wrong.
    Warning = "warning",
    /// Something succeeded.
    Success = "success",
    /// An added line of a diff.
    Added = "added",
    /// The added words of a changed line.
    AddedWord = "added.word",
    /// A removed line of a diff.
    Removed = "removed",
    /// The removed words of a changed line.
    RemovedWord = "removed.word",
    /// The header of a file or hunk in a diff.
    DiffHeader = "diff.header",
    /// The mark of an accepted hunk.
    HunkAccepted = "hunk.accepted",
    /// The mark of a rejected hunk.
    HunkRejected = "hunk.rejected",
    /// The mark of a hunk that waits for a decision.
    HunkPending = "hunk.pending",
    /// A gauge of a low value.
    MeterLow = "meter.low",
    /// A gauge that fills up.
    MeterMid = "meter.mid",
    /// A gauge that is nearly or over full.
    MeterHigh = "meter.high",
    /// The empty part of a gauge.
    MeterEmpty = "meter.empty",
    /// The user's name and mark in the transcript.
    User = "user",
    /// The model's name and mark in the transcript.
    Assistant = "assistant",
    /// Background of a code block.
    CodeBg = "code.bg",
    /// A heading in rendered Markdown.
    MarkdownHeading = "markdown.heading",
    /// The text of a link in rendered Markdown.
    MarkdownLink = "markdown.link",
    /// Inline code in rendered Markdown.
    MarkdownCode = "markdown.code",
    /// Emphasised text in rendered Markdown.
    MarkdownEmphasis = "markdown.emphasis",
    /// Strongly emphasised text in rendered Markdown.
    MarkdownStrong = "markdown.strong",
    /// The text of a block quote in rendered Markdown.
    MarkdownQuote = "markdown.quote",
    /// Bullets, numbers, rules and table lines in rendered Markdown.
    MarkdownMark = "markdown.mark",
}

/// The highlight classes of source code; a theme styles each as `syntax.<name>`.
pub const SYNTAX: [&str; 19] = [
    "keyword", "function", "type", "string", "number", "comment", "constant", "variable", "property", "operator",
    "punctuation", "attribute", "macro", "module", "tag", "label", "escape", "heading", "link",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_role() {
        for role in Role::ALL {
            assert_eq!(Role::from_name(role.name()), Some(*role));
        }
        assert_eq!(Role::from_name("borders"), None);
    }
}
