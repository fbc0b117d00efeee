//! When the map moves.

use std::str::FromStr;

/// When the map is made anew. Whatever the mode, `/map-refresh` does it at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Refresh {
    /// With the draft, the chat, and every change on disk that the system tells of.
    #[default]
    Auto,
    /// The same, and the files are looked over before each request: for disks that tell of no change.
    Always,
    /// When the files of the chat change. In between the map stands still, so that providers can cache it.
    Files,
    /// Never by itself.
    Manual,
}

impl Refresh {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Always, Self::Files, Self::Manual];

    /// The name, as written in the settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Always => "always",
            Self::Files => "files",
            Self::Manual => "manual",
        }
    }

    /// Whether changes on disk are followed.
    pub fn follows_disk(self) -> bool {
        matches!(self, Self::Auto | Self::Always)
    }
}

impl FromStr for Refresh {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name.trim()).ok_or(())
    }
}
