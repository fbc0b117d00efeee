//! Which of the models is asked.

/// Which of the models is asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ModelRole {
    /// The one of the conversation.
    #[default]
    Main,
    /// The one that turns a plan into edits: that of this name, if the developer chose one in this session, else what the settings
    /// or the table of models say.
    Editor(Option<String>),
}
