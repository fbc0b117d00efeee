//! What settings take, and who may set them.

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// An address.
    Url,
    /// A whole number between these two, both included.
    Whole(u32, u32),
    /// A number that is not negative.
    Number,
    /// true or false.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A word for an effort, or a number of tokens.
    Thinking,
    /// Several texts. What files nearer to where one works say is added to what others say.
    List,
    /// A command line, run without a shell.
    Command,
    /// Tables of the user's own, by name: `[providers.NAME]`.
    Tables,
}

impl Kind {
    /// What it takes, in words.
    pub fn expected(self) -> String {
        match self {
            Self::Text => "a text in quotes".into(),
            Self::Url => "an address in quotes, https://… or http://…".into(),
            Self::Whole(least, u32::MAX) => format!("a whole number from {least}"),
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Number => "a number from 0".into(),
            Self::Switch => "true or false".into(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Thinking => format!("one of {}, or a number of tokens", EFFORTS.join(", ")),
            Self::List => "a list of texts: [\"…\", \"…\"]".into(),
            Self::Command => "a command line in quotes".into(),
            Self::Tables => "a table".into(),
        }
    }
}

/// Words for how long a model thinks.
pub const EFFORTS: &[&str] = &["none", "minimal", "low", "medium", "high", "xhigh"];

/// What a repository's own file may do with a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Set it: the value is inert. What the user has turned off it turns on only with an approval, and no
    /// switch off that they have on.
    Inert,
    /// Propose it: it costs, sends, runs, or chooses who reads the code, so it counts once the user has approved exactly this value.
    Asks,
    /// Nothing: it is the user's alone.
    User,
}
